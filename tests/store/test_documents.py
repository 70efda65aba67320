"""Documents and revisions: what is served, what is replaced, and what is out of sight."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.store.library_builder import Added, LibraryBuilder
from wenyuan.errors import DocumentAmbiguous, DocumentNotFound, FileMalformed, WenyuanError
from wenyuan.store import documents, knowledge_bases
from wenyuan.store.documents import DocumentRecord
from wenyuan.types import LOCAL_PRINCIPAL, ChunkingConfig, Facts, Notice


def _record(library: LibraryBuilder, added: Added) -> DocumentRecord:
    with library.database.read() as tx:
        return documents.find(tx, LOCAL_PRINCIPAL, added.document.id)


def _changes(library: LibraryBuilder, added: Added) -> list[str]:
    with library.database.read() as tx:
        rows = tx.all("SELECT kind FROM changes WHERE document_id = :id ORDER BY number", {"id": added.document.id})
    return [str(row[0]) for row in rows]


# --- Publishing ----------------------------------------------------------------------------------


def test_a_document_serves_nothing_until_it_is_published(library: LibraryBuilder) -> None:
    staged = library.stage(library.add(library.knowledge_base(), "/a.md"), "first", "second")
    before = _record(library, staged)
    assert (before.document.serving_revision_id, before.latest.state) == (None, "processing")
    assert library.publish(staged) == []
    after = _record(library, staged)
    assert (after.document.serving_revision_id, after.latest.state) == (staged.revision_id, "ready")
    assert (after.latest.chunk_count, after.latest.text_length) == (2, len("first\n\nsecond"))
    assert after.latest.published_at is not None
    assert _changes(library, staged) == ["published"]


def test_what_a_reader_found_out_is_kept(library: LibraryBuilder) -> None:
    added = library.add(library.knowledge_base(), "/a.md")
    facts = Facts("text/markdown", "gb18030", "标题", "zh", {"author": "砚秋", "tags": ["a", "b"], "year": 2026})
    notices = (Notice("odd", "一处存疑"), Notice("long", "very long"))
    with library.database.write() as tx:
        documents.publish(tx, added.revision_id, facts, notices, 3, 100)
    latest = _record(library, added).latest
    found = Facts(latest.media_type, latest.encoding, latest.title, latest.language, latest.metadata)
    assert (found, latest.notices) == (facts, notices)


def test_a_new_revision_replaces_the_old_one_when_it_is_published_and_not_before(library: LibraryBuilder) -> None:
    first = library.published(library.knowledge_base(), "/a.md", "old words")
    second = library.stage(library.revise(first.document, b"new"), "new words")
    meanwhile = _record(library, first)
    assert (meanwhile.document.serving_revision_id, meanwhile.latest.id) == (first.revision_id, second.revision_id)
    assert (meanwhile.latest.number, meanwhile.latest.state) == (2, "processing")
    assert library.publish(second) == [first.revision_id]
    assert _record(library, first).document.serving_revision_id == second.revision_id


def test_publishing_supersedes_what_never_came_to_anything_too(library: LibraryBuilder) -> None:
    first = library.published(library.knowledge_base(), "/a.md", "one")
    failed = library.revise(first.document, b"two")
    with library.database.write() as tx:
        documents.set_state(tx, failed.revision_id, "failed", "reading")
    third = library.stage(library.revise(first.document, b"three"), "three")
    assert sorted(library.publish(third)) == [first.revision_id, failed.revision_id]
    fourth = library.stage(library.revise(first.document, b"four"), "four")
    assert library.publish(fourth) == [third.revision_id]


def test_a_late_older_revision_never_replaces_a_newer_one(library: LibraryBuilder) -> None:
    old = library.stage(library.add(library.knowledge_base(), "/a.md"), "old words")
    new = library.stage(library.revise(old.document, b"new"), "new words")
    assert library.publish(new) == [old.revision_id]
    assert library.publish(old) == [old.revision_id]
    record = _record(library, new)
    assert (record.document.serving_revision_id, record.latest.id) == (new.revision_id, new.revision_id)
    assert _changes(library, new) == ["published"]


def test_a_revision_that_is_finished_after_its_document_was_deleted_serves_nothing(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    late = library.stage(library.add(knowledge_base, "/a.md"), "late words")
    with library.database.write() as tx:
        documents.hide(tx, late.document.id, knowledge_base.id)
    assert library.publish(late) == [late.revision_id]
    with library.database.read() as tx:
        assert tx.all("SELECT serving_revision_id FROM documents") == [(None,)]
    assert _changes(library, late) == ["deleted"]


def test_a_ready_revision_stays_ready_whatever_a_late_worker_says(library: LibraryBuilder) -> None:
    ready = library.published(library.knowledge_base(), "/a.md", "words")
    problem = FileMalformed(name="a.md", format="Markdown", reason="late").problem("reading", 2)
    with library.database.write() as tx:
        documents.set_state(tx, ready.revision_id, "failed", "reading", problem)
    assert (_record(library, ready).latest.state, _record(library, ready).latest.problem) == ("ready", None)


def test_why_a_revision_failed_is_kept_until_it_is_tried_again(library: LibraryBuilder) -> None:
    added = library.add(library.knowledge_base(), "/a.md")
    problem = FileMalformed(name="a.md", format="Markdown", reason="so").problem("reading", 2)
    with library.database.write() as tx:
        documents.set_state(tx, added.revision_id, "failed", "reading", problem)
    failed = _record(library, added).latest
    assert (failed.state, failed.stage, failed.problem) == ("failed", "reading", problem)
    with library.database.write() as tx:
        documents.set_state(tx, added.revision_id, "pending", "queued")
    assert _record(library, added).latest.problem is None


def test_a_revision_keeps_the_chunking_it_was_added_under(library: LibraryBuilder) -> None:
    first = library.add(library.knowledge_base(), "/a.md")
    blob = library.blobs.stage_bytes(b"new", "a.md", 100)
    with library.database.write() as tx:
        library.blobs.keep(tx, [blob])
        documents.add_revision(tx, "rev_x", first.document, blob.sha256, blob.size, ChunkingConfig(300, 30))
        found = documents.revision(tx, "rev_x")
        assert documents.revision(tx, "none") is None
        assert sorted(documents.unfinished_revisions(tx, first.document.id)) == [first.revision_id, "rev_x"]
    assert found is not None
    assert (found[1].number, found[2]) == (2, ChunkingConfig(300, 30))


def test_two_revisions_cannot_have_the_same_number(library: LibraryBuilder) -> None:
    added = library.add(library.knowledge_base(), "/a.md")
    library.revise(added.document, b"second")
    with pytest.raises(WenyuanError, match=r"(?i)unique"), library.database.write() as tx:
        tx.run("UPDATE revisions SET number = 1")


# --- Switching and hiding ------------------------------------------------------------------------


def test_switching_is_a_change_a_search_notices(library: LibraryBuilder) -> None:
    added = library.published(library.knowledge_base(), "/a.md", "words")
    with library.database.write() as tx:
        documents.switch(tx, added.document, enabled=False)
    assert not _record(library, added).document.enabled
    with library.database.write() as tx:
        documents.switch(tx, added.document, enabled=True)
    assert _record(library, added).document.enabled
    assert _changes(library, added) == ["published", "disabled", "enabled"]


def test_a_hidden_document_is_gone_from_everyones_sight(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    first = library.published(knowledge_base, "/a.md", "words")
    second = library.revise(first.document, b"second")
    with library.database.write() as tx:
        hidden = documents.hide(tx, first.document.id, knowledge_base.id)
    assert sorted(hidden) == [first.revision_id, second.revision_id]
    with library.database.read() as tx:
        for reference in (first.document.id, "/a.md", "a.md"):
            with pytest.raises(DocumentNotFound):
                documents.find(tx, LOCAL_PRINCIPAL, reference)
        assert documents.find_by_source(tx, knowledge_base.id, "/a.md") is None
        assert documents.listed(tx, knowledge_base.id) == []
        assert documents.revision(tx, second.revision_id) is None


def test_a_source_may_come_back_after_it_was_deleted(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    first = library.published(knowledge_base, "/a.md", "words")
    with pytest.raises(WenyuanError, match=r"(?i)unique"):
        library.add(knowledge_base, "/a.md")
    with library.database.write() as tx:
        documents.hide(tx, first.document.id, knowledge_base.id)
    again = library.published(knowledge_base, "/a.md", "words")
    with library.database.read() as tx:
        found = documents.find_by_source(tx, knowledge_base.id, "/a.md")
    assert found is not None
    assert found.document.id == again.document.id


# --- Finding -------------------------------------------------------------------------------------


def test_a_document_is_found_by_id_source_or_a_name_that_is_its_own(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    one = library.add(knowledge_base, "/x/report.md")
    other = library.add(knowledge_base, "/y/report.md")
    single = library.add(knowledge_base, "/y/minutes.md")
    with library.database.read() as tx:

        def find(reference: str) -> str:
            return documents.find(tx, LOCAL_PRINCIPAL, reference).document.id

        assert [find(one.document.id), find("/y/report.md"), find("minutes.md")] == [
            one.document.id,
            other.document.id,
            single.document.id,
        ]
        for reference in ("none", ""):
            with pytest.raises(DocumentNotFound):
                find(reference)
        with pytest.raises(DocumentAmbiguous):
            find("report.md")
        with pytest.raises(DocumentNotFound):
            documents.find(tx, "someone else", one.document.id)


def test_a_source_outranks_a_name(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    library.add(knowledge_base, "/x/text:notes")
    library.add(knowledge_base, "/y/text:notes")
    by_source = library.add(knowledge_base, "text:notes")
    with library.database.read() as tx:
        assert documents.find(tx, LOCAL_PRINCIPAL, "text:notes").document.id == by_source.document.id


def test_documents_are_listed_page_by_page(library: LibraryBuilder) -> None:
    knowledge_base, other = library.knowledge_base(), library.knowledge_base("other")
    added = [library.add(knowledge_base, f"/{number}.md").document.id for number in range(7)]
    library.add(other, "/elsewhere.md")
    listed: list[str] = []
    with library.database.read() as tx:
        while page := documents.listed(tx, knowledge_base.id, listed[-1] if listed else "", 3):
            listed += [record.document.id for record in page]
    assert listed == added


# --- Knowledge bases as documents see them -------------------------------------------------------


def test_documents_are_counted_by_how_they_stand(library: LibraryBuilder) -> None:
    knowledge_base = library.knowledge_base()
    ready = library.published(knowledge_base, "/ready.md", "words")
    library.revise(ready.document, b"an update that is pending")
    off = library.published(knowledge_base, "/off.md", "words")
    blocked = library.published(knowledge_base, "/blocked.md", "words")
    hidden = library.published(knowledge_base, "/hidden.md", "words")
    library.add(knowledge_base, "/pending.md")
    failed = library.add(knowledge_base, "/failed.md")
    with library.database.write() as tx:
        documents.set_state(tx, failed.revision_id, "failed")
        documents.switch(tx, off.document, enabled=False)
        tx.run("UPDATE documents SET blocked_reason = 'policy' WHERE id = :id", {"id": blocked.document.id})
        documents.hide(tx, hidden.document.id, knowledge_base.id)
    with library.database.read() as tx:
        counts = knowledge_bases.document_counts(tx, knowledge_base.id)
    assert counts == {"ready": 1, "disabled": 1, "blocked": 1, "pending": 1, "failed": 1}


def test_the_document_given_is_the_document_kept(library: LibraryBuilder) -> None:
    added = library.add(library.knowledge_base(), "/文档/说明 1.md")
    kept = _record(library, added).document
    assert kept == replace(added.document, created_at=kept.created_at, updated_at=kept.updated_at)
    assert kept.created_at > 0
