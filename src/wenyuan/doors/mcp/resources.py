"""Documents as resources: each has an address, and its text is what is read there."""

from __future__ import annotations

from mcp_types import ListResourcesResult, ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from wenyuan.errors import RequestInvalid
from wenyuan.runtime.granted import GrantedLibrary

_ADDRESS = "wenyuan://documents/"
_PAGE = 100
_MOST_CHARACTERS = 1_000_000
_TYPE = "text/plain"

TEMPLATE = ResourceTemplate(
    uri_template=f"{_ADDRESS}{{document}}",
    name="document",
    title="Document",
    description="The text of a document, by its id.",
    mime_type=_TYPE,
)


def list_resources(library: GrantedLibrary, cursor: str | None) -> ListResourcesResult:
    """One page of documents, knowledge base after knowledge base.

    A cursor names the knowledge base it stands in and the document it stands behind. Raises `RequestInvalid`.
    """
    bases = [one.knowledge_base for one in library.knowledge_bases()]
    base_id, _, after = (cursor or "").partition("/")
    ids = [one.id for one in bases]
    if cursor and base_id not in ids:
        raise RequestInvalid(where="cursor", reason="it is not one that was given")
    resources: list[Resource] = []
    for base in bases[ids.index(base_id) if cursor else 0 :]:
        wanted = _PAGE - len(resources)
        found = library.documents(base.id, after, wanted, state="", failed=False, blocked=False, disabled=False)
        after = ""
        resources += [
            Resource(
                uri=_ADDRESS + one.document.id,
                name=one.document.name,
                description=f"In {base.name}: {one.document.source}",
                mime_type=_TYPE,
            )
            for one in found
        ]
        if len(found) == wanted:
            return ListResourcesResult(resources=resources, next_cursor=f"{base.id}/{found[-1].document.id}")
    return ListResourcesResult(resources=resources)


def read_resource(library: GrantedLibrary, address: str) -> ReadResourceResult:
    """The text at an address, as far as it may be read at once. Raises `RequestInvalid` or `DocumentNotFound`."""
    if not address.startswith(_ADDRESS):
        raise RequestInvalid(where="uri", reason=f"it must begin with {_ADDRESS}")
    part = library.document_text(address.removeprefix(_ADDRESS), 0, _MOST_CHARACTERS)
    text = part.text if part.end == part.length else f"{part.text}\n[{part.length - part.end} more characters]"
    return ReadResourceResult(contents=[TextResourceContents(uri=address, mime_type=_TYPE, text=text)])
