"""A knowledge base leaves a library as a file and comes into another whole, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wenyuan as wy
from tests.embedding_server import serving
from tests.program import run_here
from tests.small_disks import disk, fill
from tests.store.processes import answer, doomed_process, import_until_half
from wenyuan.errors import ArchiveInvalid, DiskFull, KnowledgeBaseExists, PathNotFound, WenyuanError
from wenyuan.runtime.library import Library
from wenyuan.store.archives import ArchiveReader, ArchiveWriter
from wenyuan.types import ChunkingConfig

_PLAIN = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
_QUESTIONS = ("苍鹭在哪里过冬", "PPR-9803", "which lake", "转换体验课", "2026-04-12")
_SECTIONS = "\n\n".join(
    f"## Heron {n} 苍鹭\n\nOn 2026-04-{n + 10} heron {n} was ringed at post PPR-98{n:02d}. 苍鹭{n}号在湖边过冬。"
    for n in range(6)
)

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of a knowledge base in which documents stand in every way they may, beside its library."""
    folder = tmp_path_factory.mktemp("exported")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "herons.md").write_text(f"---\nauthor: Li\ntags: [birds]\n---\n# Herons\n\n{_SECTIONS}\n", "utf-8")
    (notes / "off.md").write_text("# 苍鹭\n\nSwitched off.\n", "utf-8")
    (notes / "empty.md").write_bytes(b"")
    (notes / "changed.json").write_text('{"lake": "North"}', "utf-8")
    (notes / "replaced.md").write_text("old words\n", "utf-8")
    (notes / "stations.csv").write_text("station,depth\nNorth,0.1\nSouth,0.2\n", "utf-8")
    with wy.open(folder / "library", environment={}) as library:
        bases = library.knowledge_bases
        bases.create(
            "birds",
            description="Herons and others",
            chunking=ChunkingConfig(120, 0),
            tags=("bird", "鸟"),
            persona="short",
            scenario="field",
        )
        bases.add_terms("birds", ["转换体验课"])
        bases.add_synonyms("birds", [["苍鹭", "heron"]])
        library.add(notes, kb="birds", metadata={"season": "2026"})
        library.add_text("转换体验课在二楼。", "course.md", kb="birds", title="Course")
        library.documents.switch("off.md", enabled=False)
        library.documents.switch_passage("herons.md", 2, enabled=False)
        (notes / "changed.json").write_bytes(b"\x00\x01 no JSON any more")
        (notes / "replaced.md").write_text("new words about the lake\n", "utf-8")
        library.add(notes, kb="birds")
        library.documents.delete(library.add_text("deleted words", "deleted.md", kb="birds").document_id or "")
        questions = folder / "questions.yaml"
        questions.write_text("cases:\n  - query: PPR-9803\n    expect: herons.md\n", "utf-8")
        library.evaluation.run(questions, kb=["birds"])
        library.add_text("unread words", "unread.md", kb="birds", wait=False)
        bases.export("birds", folder / "birds.wenyuan")
    return folder / "birds.wenyuan"


def _members(path: Path) -> Members:
    with path.open("rb") as file:
        return {one.name: b"".join(one.pieces()) for one in ArchiveReader(file, lambda why: ArchiveInvalid(reason=why))}


def _content(path: Path) -> Members:
    """What is in an archive, without where it comes from and what it is called."""
    members = _members(path)
    del members["archive.json"]
    base = json.loads(members["knowledge-base.json"])
    members["knowledge-base.json"] = json.dumps({**base, "name": ""}).encode()
    return members


def _found(library: Library, kb: str) -> list[list[tuple[str, str]]]:
    return [
        [(hit.passage.document_name, hit.passage.chunk.text) for hit in library.search(question, kb=kb).hits]
        for question in _QUESTIONS
    ]


# --- There and back -------------------------------------------------------------------------------


def test_what_is_imported_is_found_as_it_was_without_reading_or_embedding(exported: Path, tmp_path: Path) -> None:
    with wy.open(exported.parent / "library") as library:
        expected = _found(library, "birds")
        answers = [library.ask(question, kb="birds").text for question in _QUESTIONS]
    with wy.open(tmp_path / "other") as library:
        made = library.knowledge_bases.import_(exported, name="fowl")
        assert (made.documents, made.files, made.runs, made.to_embed, made.to_read) == (8, 9, 1, 0, 1)
        assert made.vectors == made.chunks > 7
        assert [job.kind for job in library.jobs.list(only_live=True)] == ["ingest"]
        assert _found(library, "fowl") == expected
        assert [library.ask(question, kb="fowl").text for question in _QUESTIONS] == answers
        assert library.check(deep=True) == []
        _stands_as_before(library)
        library.drain()
        assert library.search("unread words", kb="fowl").hits != ()
        assert library.check(deep=True) == []


def _stands_as_before(library: Library) -> None:
    view, documents = library.knowledge_bases.show("fowl"), library.documents
    base = view.knowledge_base
    assert (base.description, base.persona, base.scenario, base.tags) == (
        "Herons and others",
        "short",
        "field",
        ("bird", "鸟"),
    )
    assert base.chunking == ChunkingConfig(120, 0)
    assert (view.vocabulary.terms, view.vocabulary.synonyms) == (("转换体验课",), (("苍鹭", "heron"),))
    assert not documents.show("off.md").document.enabled
    assert documents.show("empty.md").latest.problem is not None
    changed = documents.show("changed.json")
    assert (changed.latest.state, changed.updating, changed.searchable) == ("failed", True, True)
    assert documents.show("herons.md").latest.metadata["author"] == "Li"
    assert documents.show("course.md").latest.given.title == "Course"
    assert documents.original("replaced.md") == b"new words about the lake\n"
    assert len(library.search("heron", kb="fowl", filters={"tag": "birds"}).hits) > 0
    assert len(library.search("heron", kb="fowl", filters={"season": "2026"}).hits) > 0
    assert [run.set_name for run in library.evaluation.runs()] == ["questions"]


def test_a_passage_that_stands_twice_comes_in(tmp_path: Path) -> None:
    text = "The heron stands still. It waits for a fish. Then it strikes."
    with wy.open(tmp_path / "library", environment={}) as library:
        for name in ("one.txt", "two.txt"):
            library.add_text(text, name)
        library.knowledge_bases.export("default", tmp_path / "twice.wenyuan")
        made = library.knowledge_bases.import_(tmp_path / "twice.wenyuan", name="again")
        assert (made.documents, made.to_embed) == (2, 0)


def test_exporting_again_gives_the_same(exported: Path, tmp_path: Path) -> None:
    with wy.open(tmp_path / "other") as library:
        library.knowledge_bases.import_(exported, name="fowl")
        library.knowledge_bases.export("fowl", tmp_path / "again.wenyuan")
        expected = _content(exported)
        # Runs are those of a knowledge base's own name.
        del expected["runs/000001.jsonl"]
        assert _content(tmp_path / "again.wenyuan") == expected
        library.knowledge_bases.import_(tmp_path / "again.wenyuan", name="birds")
        library.knowledge_bases.export("birds", tmp_path / "back.wenyuan")
        assert _content(tmp_path / "back.wenyuan") == _content(exported)


_TEXTS = st.text(
    st.sampled_from('苍鹭在湖边过冬abc PPR-19802026年4月1日\n\n# |*"\\𠀀é\u2028'), min_size=1, max_size=400
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.from_regex(r"[a-c]{1,3}\.(md|txt|json|csv)", fullmatch=True), _TEXTS, max_size=4))
def test_any_texts_come_back_the_same(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]) -> None:
    folder = tmp_path_factory.mktemp("texts")
    with wy.open(folder / "one", environment=_PLAIN) as library:
        for name, text in texts.items():
            library.add_text(text, name, metadata={"words": text[:40]}, wait=False)
        library.drain()
        library.knowledge_bases.export("default", folder / "one.wenyuan")
    with wy.open(folder / "two", environment=_PLAIN) as library:
        library.knowledge_bases.import_(folder / "one.wenyuan", name="two")
        assert library.check(deep=True) == []
        library.knowledge_bases.export("two", folder / "two.wenyuan")
    assert _content(folder / "two.wenyuan") == _content(folder / "one.wenyuan")


def test_where_another_model_is_used_words_are_found_at_once_and_vectors_follow(exported: Path, tmp_path: Path) -> None:
    home = tmp_path / "other"
    home.mkdir()
    with serving() as server:
        (home / "wenyuan.toml").write_text(server.settings(), "utf-8")
        with wy.open(home) as library:
            made = library.knowledge_bases.import_(exported, with_vectors=False)
            assert (made.vectors, made.to_embed) == (0, 6)
            assert library.search("PPR-9803", kb="birds").hits[0].passage.document_name == "herons.md"
            assert library.check(deep=True) == []
            library.drain()
            assert library.documents.show("herons.md").semantic.state == "ready"
            assert library.check(deep=True) == []


def test_a_model_that_is_not_configured_is_known_by_what_it_makes(exported: Path, tmp_path: Path) -> None:
    def rename(members: Members) -> None:
        _edit_page(members, "knowledge-base.json", lambda base: base.update(embedding_model="another name"))

    with wy.open(tmp_path / "other") as library:
        made = library.knowledge_bases.import_(_rebuilt(exported, tmp_path / "x", rename))
        assert made.knowledge_base.embedding_model == "built-in/multilingual-e5-small"
        assert made.vectors == made.chunks


def test_a_file_that_the_library_has_lost_is_told(exported: Path, tmp_path: Path) -> None:
    with wy.open(tmp_path / "one", environment=_PLAIN) as library:
        library.add_text("words that stay", "lost.md")
        sha256 = library.documents.show("lost.md").latest.blob_sha256
        (tmp_path / "one" / "blobs" / sha256[:2] / sha256[2:]).unlink()
        made = library.knowledge_bases.export("default", tmp_path / "x.wenyuan")
        assert made.missing == (sha256,)
    with wy.open(tmp_path / "two", environment=_PLAIN) as library:
        library.knowledge_bases.import_(tmp_path / "x.wenyuan", name="two")
        assert library.search("words that stay", kb="two").hits != ()
        assert [notice.code for notice in library.documents.show("lost.md").latest.notices] == ["blob-missing"]
        assert library.check(deep=True) == []
    assert exported.exists()


# --- All or nothing -------------------------------------------------------------------------------


def test_nothing_is_seen_before_all_is_there(exported: Path, tmp_path: Path) -> None:
    with wy.open(tmp_path / "other") as library:
        seen: list[tuple[int, int]] = []

        def watch(done: int, total: int) -> None:
            seen.append((done, total))
            assert [view.knowledge_base.name for view in library.knowledge_bases.all()] == ["default"]
            assert library.search("PPR-9803").hits == ()
            assert [one for one in library.check(deep=True) if one.severity == "error"] == []
            assert [(job.kind, job.state) for job in library.jobs.list()] == [("import", "running")]
            # A worker that comes by leaves it alone.
            library.drain()

        library.knowledge_bases.import_(exported, watch=watch)
        assert len(seen) > 10
        assert [job.state for job in library.jobs.list() if job.kind == "import"] == ["done"]


def _remains(library: Library) -> dict[str, int]:
    counts = {}
    with library._database.read() as tx:
        for table in ("documents", "revisions", "chunks", "revision_text", "keys", "document_fields", "vectors",
                      "vector_codes", "blobs", "disabled_passages", "revision_indexes"):  # fmt: skip
            row = tx.first(f"SELECT count(*) FROM {table}")
            counts[table] = row[0] if row is not None else 0
    return counts


def _nothing_remains(library: Library) -> None:
    assert [view.knowledge_base.name for view in library.knowledge_bases.all()] == ["default"]
    library.drain()
    assert library.jobs.list(only_live=True) == []
    assert {table: count for table, count in _remains(library).items() if count} == {}
    assert library.check(deep=True) == []
    assert list((library.path / "blobs" / "incoming").iterdir()) == []


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_a_killed_import_leaves_nothing_and_can_be_done_again(exported: Path, tmp_path: Path, share: float) -> None:
    home = tmp_path / "other"
    with wy.open(home):
        pass
    with doomed_process(import_until_half, home, exported) as pipe:
        while True:
            done, total = answer(pipe)
            if done >= share * total - 8192:
                break
            pipe.send("on")
    with wy.open(home) as library:
        for left in (home / "blobs" / "incoming").iterdir():
            left.unlink()
        _nothing_remains(library)
        library.knowledge_bases.import_(exported)
        library.drain()
        assert library.check(deep=True) == []


def test_a_name_that_is_taken_is_refused_at_once_or_at_the_end(exported: Path, tmp_path: Path) -> None:
    with wy.open(tmp_path / "other") as library:
        with pytest.raises(KnowledgeBaseExists):
            library.knowledge_bases.import_(exported, name="default")
        made: list[object] = []

        def watch(_done: int, _total: int) -> None:
            if not made:
                made.append(library.knowledge_bases.create("birds", embedding_model=""))

        with pytest.raises(KnowledgeBaseExists):
            library.knowledge_bases.import_(exported, watch=watch)
        library.knowledge_bases.delete("birds")
        _nothing_remains(library)


def test_a_full_disk_is_named_and_nothing_is_kept(tmp_path: Path) -> None:
    with wy.open(tmp_path / "one", environment=_PLAIN) as library:
        for number in range(4):
            library.add_text(f"number {number}\n\n" + "some words here. " * 20_000, f"{number}.txt", wait=False)
        library.drain()
        library.knowledge_bases.export("default", tmp_path / "x.wenyuan")
    with disk(tmp_path / "disk", 8) as small, wy.open(small / "two", environment=_PLAIN) as library:
        fill(small / "filler", leaving=2 << 20)
        with pytest.raises(DiskFull):
            library.knowledge_bases.import_(tmp_path / "x.wenyuan", name="two")
        (small / "filler").unlink()
        _nothing_remains(library)
        library.knowledge_bases.import_(tmp_path / "x.wenyuan", name="two")
        fill(small / "filler", leaving=100_000)
        with pytest.raises(DiskFull):
            library.knowledge_bases.export("two", small / "y.wenyuan")
        assert list(small.glob("y.wenyuan*")) == []


# --- What only someone hostile writes -------------------------------------------------------------


def _rebuilt(archive: Path, target: Path, change: Callable[[Members], None]) -> Path:
    """Another archive with sums and a manifest that are right for what it holds."""
    members = _members(archive)
    with archive.open("rb") as file:
        reader = ArchiveReader(file, lambda why: ArchiveInvalid(reason=why))
        for member in reader:
            member.sha256()
    manifest = dict(reader.manifest)
    members["<manifest>"] = json.dumps(manifest).encode()
    change(members)
    told = json.loads(members.pop("<manifest>"))
    with target.open("wb+") as file:
        writer = ArchiveWriter(file, 0)
        for name, content in members.items():
            writer.add(name, content)
        writer.close({name: value for name, value in told.items() if name != "sums"})
    return target


def _edit_page(members: Members, name: str, edit: Callable[[dict[str, object]], None]) -> None:
    page = json.loads(members[name])
    edit(page)
    members[name] = json.dumps(page).encode()


def _edit_line(kind: str, edit: Callable[[dict[str, object]], object], which: int = 0) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        name = f"{kind}/000001.jsonl"
        lines = members[name].splitlines()
        value = json.loads(lines[which])
        edit(value)
        lines[which] = json.dumps(value).encode()
        members[name] = b"\n".join(lines) + b"\n"

    return change


def _put(kind: str, **values: object) -> Callable[[Members], None]:
    return _edit_line(kind, lambda value: value.update(values))


def _put_in_revision(**values: object) -> Callable[[Members], None]:
    def edit(value: dict[str, object]) -> None:
        revisions = value["revisions"]
        assert isinstance(revisions, list)
        revisions[0].update(values)

    return _edit_line("documents", edit)


def _base(**values: object) -> Callable[[Members], None]:
    return lambda members: _edit_page(members, "knowledge-base.json", lambda base: base.update(values))


def _deep(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


def _raw(name: str, content: bytes) -> Callable[[Members], None]:
    return lambda members: members.update({name: content})


def _drop(prefix: str) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        for name in [name for name in members if name.startswith(prefix)][:1]:
            del members[name]

    return change


def _last_first(members: Members) -> None:
    chunks = members.pop("chunks/000001.jsonl")
    rest = dict(members)
    members.clear()
    for name, content in rest.items():
        if name.startswith("documents/"):
            members["chunks/000001.jsonl"] = chunks
        members[name] = content


def _vector_of(change: Callable[[bytes], bytes]) -> Callable[[Members], None]:
    return lambda members: members.update({"vectors/000001.float16": change(members["vectors/000001.float16"])})


def _sentences(change: Callable[[bytes], bytes]) -> Callable[[Members], None]:
    return lambda members: members.update({"sentences/000001.codes": change(members["sentences/000001.codes"])})


def _counts(**values: int) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        manifest = json.loads(members["<manifest>"])
        manifest["counts"].update(values)
        members["<manifest>"] = json.dumps(manifest).encode()

    return change


def _double_line(kind: str) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        name = f"{kind}/000001.jsonl"
        members[name] = members[name].splitlines()[0] + b"\n" + members[name]

    return change


HOSTILE: dict[str, Callable[[Members], None]] = {
    "another program's": _raw("archive.json", b'{"format": "photos", "version": 1}'),
    "of tomorrow": _raw("archive.json", b'{"format": "wenyuan-knowledge-base", "version": 4}'),
    "no object": _raw("archive.json", b"[]"),
    "no settings": _drop("knowledge-base.json"),
    "settings too large": _raw("knowledge-base.json", b" " * (2 << 20) + b"{}"),
    "settings too deep": _raw("knowledge-base.json", b"[" * 200_000),
    "a name of nothing": _base(name=" "),
    "a name that is no text": _base(name=5),
    "a name that steers a terminal": _base(name="a\x1b[31m"),
    "a name with half a character": _raw("knowledge-base.json", b'{"name": "\\ud800"}'),
    "terms that are none": _base(terms=["", "a"]),
    "synonyms that are none": _base(synonyms=[["a"]]),
    "a chunking of nothing": _base(chunking={"target_columns": 0, "overlap_columns": 0}),
    "a policy of nonsense": _base(policy={"duplicates": "burn"}),
    "another fingerprint": lambda members: _edit_page(
        members, "knowledge-base.json", lambda base: _dict(base["vectors"]).update(fingerprint="ab" * 32)
    ),
    "a model of no dimensions": lambda members: _edit_page(
        members, "knowledge-base.json", lambda base: base.update(vectors=_with_dimensions(base["vectors"], 0))
    ),
    "an unknown part": _raw("programs/000001.jsonl", b"{}\n"),
    "a part that leads elsewhere": _raw("files/../../../etc/passwd", b"x"),
    "a file of other bytes": _raw(f"files/{'ab' * 32}", b"x"),
    "a file of no document": _raw("files/2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", b"x"),
    "a file is missing": _drop("files/"),
    "documents are missing": _drop("documents/"),
    "texts are missing": _drop("texts/"),
    "chunks are missing": _drop("chunks/"),
    "tables are missing": _drop("tables/"),
    "rows of a table out of order": _put("tables", start=5),
    "the same rows twice": _double_line("tables"),
    "rows of another document": _put("tables", document=999),
    "rows that are none": _put("tables", rows=[[1, 1, "", [{}]]]),
    "rows wider than their table": _put("tables", rows=[[1, 1, "", [1, 2, 3]]]),
    "nothing that is said of a table": _put("tables", about={}),
    "chunks before their documents": _last_first,
    "a line that is no JSON": _raw("documents/000001.jsonl", b"{nonsense}\n"),
    "a line without end": _raw("documents/000001.jsonl", b"{}"),
    "a line of nothing": _raw("documents/000001.jsonl", b"\n"),
    "a line of numbers without end": _raw("documents/000001.jsonl", b"1" * 10_000 + b"\n"),
    "a line that is no number": _raw("documents/000001.jsonl", b"NaN\n"),
    "the same document twice": _double_line("documents"),
    "the same chunk twice": _double_line("chunks"),
    "the same text twice": _double_line("texts"),
    "a document of no number": _put("documents", number=0),
    "a document of a fraction": _put("documents", number=1.5),
    "a document of true": _put("documents", number=True),
    "a document with a huge number": _put("documents", created_at=1 << 70),
    "a document without revisions": _put("documents", revisions=[]),
    "a document with many revisions": _edit_line("documents", lambda value: value.update(revisions=[{}] * 1000)),
    "a source that is too long": _put("documents", source="x" * 100_000),
    "digests that are none": _put("documents", disabled=["zz"]),
    "a state that is none": _put_in_revision(state="served"),
    "a digest that leads elsewhere": _put_in_revision(sha256="../" * 21 + "a"),
    "metadata that is too deep": _put_in_revision(metadata=_deep(100)),
    "metadata that is a list": _put_in_revision(metadata=[1]),
    "a chunk too many is promised": _put_in_revision(chunk_count=99),
    "a longer text is promised": _put_in_revision(text_length=1),
    "a text at another place": _put("texts", start=7),
    "a text of another document": _put("texts", document=999),
    "a chunk of other words": _put("chunks", text="苍白"),
    "a chunk at another place": _put("chunks", start=1),
    "a chunk beyond the end": _put("chunks", end=1 << 40),
    "a chunk out of order": _put("chunks", seq=5),
    "a chunk of nothing": _put("chunks", text="", start=0, end=0),
    "a chunk of a failed document": _put("chunks", document=3),
    "an anchor that is none": _put("chunks", anchor={"kind": "moon", "first": 1, "last": 1, "name": ""}),
    "headings that are none": _put("chunks", headings=[1]),
    "vectors cut short": _vector_of(lambda content: content[:-1]),
    "vectors of nothing": _raw("vectors/000001.float16", b""),
    "a vector of another text": _vector_of(lambda content: b"\x00" * 16 + content[16:]),
    "a vector of zeros": _vector_of(lambda content: content[:16] + bytes(768) + content[784:]),
    "a vector without end": _vector_of(lambda content: content[:16] + b"\x00\x7c" * 384 + content[784:]),
    "sentences cut short": _sentences(lambda content: content[:-1]),
    "sentences of another text": _sentences(lambda content: b"\x00" * 16 + content[16:]),
    "sentences of another size": _sentences(lambda content: content[:16] + b"\x01\x00\x00\x00x"),
    "more sentences are promised than there are": _sentences(lambda content: content[:16] + b"\xff" * 4 + content[20:]),
    "more is counted": _counts(chunks=99),
    "less is counted": _counts(runs=0),
    "a run that is none": _raw("runs/000001.jsonl", b'{"set_name": "x"}\n'),
    "a run of other figures": _edit_line("runs", lambda value: _dict(value["summary"]).update(cases="many")),
    "a run of other measures": _edit_line("runs", lambda it: _overall(it).update(measures=[1])),
}  # fmt: skip


def _dict(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def _overall(run: dict[str, object]) -> dict[str, object]:
    return _dict(_dict(run["summary"])["overall"])


def _with_dimensions(vectors: object, dimensions: int) -> dict[str, object]:
    known = _dict(vectors)
    return {**known, "identity": {**_dict(known["identity"]), "dimensions": dimensions}}


@pytest.mark.parametrize(("version", "lacks"), [(1, ["sentences", "tables"]), (2, ["sentences"])])
def test_an_archive_of_an_earlier_version_is_taken_in(
    exported: Path, tmp_path: Path, version: int, lacks: list[str]
) -> None:
    def earlier(members: Members) -> None:
        _edit_page(members, "archive.json", lambda header: header.update(version=version))
        told = json.loads(members["<manifest>"])
        counts = {kind: count for kind, count in told["counts"].items() if kind not in lacks}
        members["<manifest>"] = json.dumps({**told, "counts": counts, "version": version}).encode()
        for name in [name for name in members if name.partition("/")[0] in lacks]:
            del members[name]

    archive = _rebuilt(exported, tmp_path / "x.wenyuan", earlier)
    with wy.open(tmp_path / "library") as library:
        assert library.knowledge_bases.import_(archive).documents == 8
        assert library.check() == []


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_not_as_it_should_be_is_refused_and_leaves_nothing(exported: Path, tmp_path: Path, what: str) -> None:
    archive = _rebuilt(exported, tmp_path / "x.wenyuan", HOSTILE[what])
    with wy.open(tmp_path / "library") as library:
        with pytest.raises(ArchiveInvalid) as refused:
            library.knowledge_bases.import_(archive)
        assert len(refused.value.message) < 1000
        _nothing_remains(library)


def test_what_nobody_changed_is_taken(exported: Path, tmp_path: Path) -> None:
    archive = _rebuilt(exported, tmp_path / "x.wenyuan", _base())
    with wy.open(tmp_path / "library") as library:
        assert library.knowledge_bases.import_(archive).documents == 8


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 0.8, 0.97])
def test_a_file_that_was_cut_or_changed_is_refused(exported: Path, tmp_path: Path, share: float) -> None:
    content = bytearray(exported.read_bytes())
    place = int(len(content) * share)
    (tmp_path / "cut").write_bytes(content[:place])
    # A byte of a file, not of the space between two.
    while not content[place]:
        place -= 1
    content[place] ^= 0x40
    (tmp_path / "changed").write_bytes(content)
    with wy.open(tmp_path / "library") as library:
        for name in ("cut", "changed"):
            with pytest.raises(WenyuanError) as refused:
                library.knowledge_bases.import_(tmp_path / name)
            assert refused.value.code == "archive-invalid"
        with pytest.raises(PathNotFound):
            library.knowledge_bases.import_(tmp_path / "none")
        _nothing_remains(library)


# --- The command ----------------------------------------------------------------------------------


def test_the_commands_speak_to_people_and_to_programs(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Herons\n\n苍鹭在湖边过冬。\n", "utf-8")
    assert run_here("--library", tmp_path / "one", "add", tmp_path / "note.md").returncode == 0
    told = run_here("--library", tmp_path / "one", "kb", "export", "default", tmp_path / "x.wenyuan")
    assert told.returncode == 0
    assert "Exported 1 document with 1 passage" in told.stdout
    taken = run_here("--library", tmp_path / "two", "--json", "kb", "import", tmp_path / "x.wenyuan", "--as", "birds")
    assert json.loads(taken.stdout)["documents"] == 1
    assert "苍鹭在湖边过冬" in run_here("--library", tmp_path / "two", "search", "--kb", "birds", "苍鹭").stdout
    again = run_here(
        "--library", tmp_path / "two", "kb", "import", tmp_path / "x.wenyuan", "--as", "birds", LANG="zh_CN.UTF-8"
    )
    assert again.returncode == 2
    assert "已有名为" in again.stderr
    (tmp_path / "x.wenyuan").write_bytes(b"nonsense")
    broken = run_here(
        "--library", tmp_path / "two", "kb", "import", tmp_path / "x.wenyuan", "--as", "c", LANG="zh_CN.UTF-8"
    )
    assert broken.returncode == 4
    assert "不能导入" in broken.stderr
