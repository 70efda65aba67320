"""The tools: what an agent may call, with which arguments, and what it is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from wenyuan.runtime.documents import DocumentView
from wenyuan.runtime.granted import GrantedLibrary, Question, Received, Retrieved

Arguments = TypeVar("Arguments", bound=BaseModel)

_MOST_PASSAGES, _MOST_DOCUMENTS, _MOST_CHARACTERS = 50, 200, 100_000
Name = Annotated[str, Field(min_length=1, max_length=1000)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchArguments(_Arguments):
    question: str = Field(min_length=1, max_length=4000, description="In the words of a person, Chinese or English.")
    knowledge_bases: list[Name] | None = Field(None, max_length=1000, description="Names or ids; all, if not given.")
    documents: list[Name] | None = Field(None, max_length=1000, description="Ids of documents to look into alone.")
    filters: dict[str, Any] | None = Field(
        None, description='Fields of documents and what they must be: {"author": ["Wang"], "year": {"from": 2020}}.'
    )
    top_k: int = Field(8, ge=1, le=_MOST_PASSAGES, description="How many passages at most.")


class NoArguments(_Arguments):
    pass


class ListArguments(_Arguments):
    knowledge_base: Name | None = Field(None, description="Name or id; the default one, if not given.")
    cursor: str = Field("", max_length=100, description="`next_cursor` of the page before.")
    limit: int = Field(50, ge=1, le=_MOST_DOCUMENTS)


class ReadArguments(_Arguments):
    document: Name = Field(description="Id of the document.")
    start: int = Field(
        0, ge=0, le=1 << 40, description="Offset of the first character; `next_start` of the page before."
    )
    limit: int = Field(20_000, ge=1, le=_MOST_CHARACTERS, description="How many characters at most.")


class AddArguments(_Arguments):
    name: Name = Field(description="A name of your own; the same name again replaces what it held.")
    text: str = Field(min_length=1)
    knowledge_base: Name | None = Field(None, description="Name or id; the default one, if not given.")
    title: str = Field("", max_length=1000)
    metadata: dict[str, Any] | None = Field(None, description="Fields to search by.")


class DeleteArguments(_Arguments):
    document: Name = Field(description="Id of the document.")


@dataclass(frozen=True, slots=True)
class KnowledgeBaseLine:
    id: str
    name: str
    description: str
    is_default: bool
    searchable_documents: int


@dataclass(frozen=True, slots=True)
class KnowledgeBaseLines:
    knowledge_bases: tuple[KnowledgeBaseLine, ...]


@dataclass(frozen=True, slots=True)
class DocumentLine:
    id: str
    name: str
    source: str
    knowledge_base: str
    media_type: str
    state: str
    searchable: bool


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """`next_cursor` is given again to get the next page, and null at the end."""

    documents: tuple[DocumentLine, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class TextPage:
    """Part of a document's text; `next_start` is null where it ends."""

    document_id: str
    name: str
    start: int
    length: int
    text: str
    next_start: int | None


@dataclass(frozen=True, slots=True)
class Deleted:
    document_id: str


@dataclass(frozen=True, slots=True)
class LibraryTool(Generic[Arguments]):
    """One tool. `writes` says that it changes the library, and `destroys` that something is lost by it."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type
    call: Callable[[GrantedLibrary, Arguments], object]
    writes: bool = False
    destroys: bool = False

    def described(self) -> Tool:
        """As clients are told of it."""
        annotations = ToolAnnotations(
            title=self.title,
            read_only_hint=not self.writes,
            destructive_hint=self.destroys,
            idempotent_hint=True,
            open_world_hint=False,
        )
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            output_schema=TypeAdapter(self.result).json_schema(mode="serialization"),
            annotations=annotations,
        )

    def run(self, library: GrantedLibrary, given: dict[str, Any]) -> Any:
        """The result as JSON. Raises `pydantic.ValidationError`, and what the library raises."""
        result = self.call(library, self.arguments.model_validate(given))
        return TypeAdapter[Any](self.result).dump_python(result, mode="json")


def document_line(view: DocumentView) -> DocumentLine:
    document = view.document
    return DocumentLine(
        document.id,
        document.name,
        document.source,
        view.knowledge_base,
        view.latest.media_type or "",
        view.latest.state,
        view.searchable,
    )


def _search(library: GrantedLibrary, given: SearchArguments) -> Retrieved:
    asked = Question(given.question, given.knowledge_bases, given.documents, given.filters, top_k=given.top_k)
    return library.retrieve(asked)


def _list_bases(library: GrantedLibrary, _: NoArguments) -> KnowledgeBaseLines:
    lines = [
        KnowledgeBaseLine(base.id, base.name, base.description, base.is_default, one.searchable)
        for one in library.knowledge_bases()
        for base in (one.knowledge_base,)
    ]
    return KnowledgeBaseLines(tuple(lines))


def _list_documents(library: GrantedLibrary, given: ListArguments) -> DocumentLines:
    found = library.documents(
        given.knowledge_base, given.cursor, given.limit, state="", failed=False, blocked=False, disabled=False
    )
    following = found[-1].document.id if len(found) == given.limit else None
    return DocumentLines(tuple(map(document_line, found)), following)


def _read(library: GrantedLibrary, given: ReadArguments) -> TextPage:
    name = library.document(given.document).document.name
    part = library.document_text(given.document, given.start, given.limit)
    following = part.end if part.end < part.length and part.text else None
    return TextPage(part.document_id, name, part.start, part.length, part.text, following)


def _add(library: GrantedLibrary, given: AddArguments) -> Received:
    return library.add_text(given.text, given.name, kb=given.knowledge_base, title=given.title, metadata=given.metadata)


def _delete(library: GrantedLibrary, given: DeleteArguments) -> Deleted:
    library.delete_document(given.document)
    return Deleted(given.document)


READING: tuple[LibraryTool[Any], ...] = (
    LibraryTool(
        "knowledge_base_search",
        "Search the knowledge bases",
        "Find the passages of documents that answer a question: by dates, versions, codes and names, by words, and by "
        "meaning. Each passage has its text, its document, and its place there; cite these. Where `why_empty` is set, "
        "nothing was found, and `explanation` says what to do next: do not answer from memory as if it had been.",
        SearchArguments,
        Retrieved,
        _search,
    ),
    LibraryTool(
        "list_knowledge_bases",
        "List the knowledge bases",
        "List the knowledge bases that can be searched, with what they hold.",
        NoArguments,
        KnowledgeBaseLines,
        _list_bases,
    ),
    LibraryTool(
        "list_documents",
        "List documents",
        "List the documents of a knowledge base, the oldest first, in pages.",
        ListArguments,
        DocumentLines,
        _list_documents,
    ),
    LibraryTool(
        "read_document",
        "Read a document",
        "Read the text of a document, in pages; for what stands around a passage that was found.",
        ReadArguments,
        TextPage,
        _read,
    ),
)
WRITING: tuple[LibraryTool[Any], ...] = (
    LibraryTool(
        "add_text",
        "Add a text",
        "Add a text to a knowledge base under a name of your own. It is found a moment later, when it has been read.",
        AddArguments,
        Received,
        _add,
        writes=True,
        destroys=True,
    ),
    LibraryTool(
        "delete_document",
        "Delete a document",
        "Delete a document, which is found no more. This cannot be undone.",
        DeleteArguments,
        Deleted,
        _delete,
        writes=True,
        destroys=True,
    ),
)
