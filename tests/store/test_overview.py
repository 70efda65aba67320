"""What is asked at a glance, on both databases: sign-ins, pages of traces, failures, statistics."""

from __future__ import annotations

from tests.store.library_builder import LibraryBuilder
from wenyuan.errors import ProviderTimeout
from wenyuan.store import chunks, failures, job_changes, journal, knowledge_bases, queue, sign_ins, statistics
from wenyuan.store.database import LibraryDatabase
from wenyuan.types import LOCAL_PRINCIPAL

_PROBLEM = ProviderTimeout(provider="test", seconds=1).problem("embedding", 1)


def test_sign_ins_end_with_time_with_their_key_and_where_there_are_too_many(database: LibraryDatabase) -> None:
    with database.write() as tx:
        for number in range(4):
            sign_ins.add(tx, f"token {number}", "key 1", tx.now + 1_000_000)
            tx.run(
                "UPDATE sign_ins SET created_at = :at WHERE token_sha256 = :t", {"at": number, "t": f"token {number}"}
            )
        sign_ins.add(tx, "over", "key 2", tx.now)
        sign_ins.add(tx, "other", "key 3", tx.now + 1_000_000)
    with database.write() as tx:
        assert sign_ins.key_of(tx, "token 0", tx.now) == "key 1"
        assert sign_ins.key_of(tx, "over", tx.now) is None
        assert sign_ins.key_of(tx, "nothing", tx.now) is None
        sign_ins.forget_expired(tx)
        sign_ins.keep_newest(tx, "key 1", 2)
        assert tx.all("SELECT token_sha256 FROM sign_ins ORDER BY token_sha256") == [
            ("other",),
            ("token 2",),
            ("token 3",),
        ]
        sign_ins.remove(tx, "token 3")
        sign_ins.remove_of_key(tx, "key 3")
        assert tx.all("SELECT token_sha256 FROM sign_ins") == [("token 2",)]


def test_traces_come_in_pages_also_those_of_one_moment(database: LibraryDatabase) -> None:
    moments = [10, 20, 20, 20, 30]
    with database.traces.write() as tx:
        for number, at in enumerate(moments):
            journal.keep_trace(tx, f"trace_{number}", LOCAL_PRINCIPAL, "?", None, {"number": number})
            tx.run("UPDATE traces SET created_at = :at WHERE id = :id", {"at": at, "id": f"trace_{number}"})
    seen: list[int] = []
    before: tuple[int, str] | None = None
    with database.traces.read() as tx:
        while page := journal.trace_page(tx, LOCAL_PRINCIPAL, before, 2):
            seen += [body["number"] for _, _, body in page]
            before = page[-1][:2]
        assert journal.trace_page(tx, "someone else", None, 2) == []
    assert seen == [4, 3, 2, 1, 0]


def test_failures_are_told_until_they_are_put_right_or_what_they_were_about_is_gone(library: LibraryBuilder) -> None:
    database, base, other = library.database, library.knowledge_base(), library.knowledge_base("other")
    added = [library.add(one, f"{number}.md") for number, one in enumerate((base, base, other))]
    for one in added:
        library.enqueue("ingest", one.revision_id, one.document.knowledge_base_id)
    for _ in added:
        (lease,) = queue.claim(database, "one", 600_000, ("ingest",))
        with database.write() as tx:
            queue.fail(tx, lease, _PROBLEM)

    def told(bases: list[str] | None = None) -> set[str]:
        with database.read() as tx:
            found = failures.recent(tx, LOCAL_PRINCIPAL, 10, bases)
        assert all(one.job.problem == _PROBLEM for one in found)
        return {one.document for one in found}

    assert told() == {"0.md", "1.md", "2.md"}
    assert told([other.id]) == {"2.md"}
    assert told([]) == set()
    library.enqueue("ingest", added[0].revision_id, base.id)
    assert told() == {"1.md", "2.md"}
    with database.write() as tx:
        tx.run("UPDATE documents SET deleted_at = :now WHERE id = :id", {"now": tx.now, "id": added[1].document.id})
    assert told() == {"2.md"}
    with database.read() as reading:
        changed = job_changes.since(reading, LOCAL_PRINCIPAL, 0, 10)
    assert {one.document_id for one in changed} == {one.document.id for one in added}


def test_statistics_count_what_is_served(library: LibraryBuilder) -> None:
    base = library.knowledge_base()
    with library.database.read() as tx:
        assert (statistics.served(tx, base.id), statistics.last_added(tx, base.id)) == ([], None)
    staged = library.published(base, "a.md", "first", "second")
    library.add(base, "pending.md")
    with library.database.read() as tx:
        (only,) = statistics.served(tx, base.id)
        assert (only.documents, only.passages, only.characters) == (1, 2, len("first\n\nsecond"))
        assert statistics.last_added(tx, base.id) is not None
        assert statistics.last_activity(tx, base.id) >= knowledge_bases.by_id(tx, base.id).updated_at
        assert chunks.bounds(tx, staged.revision_id) == [(0, 5, 0), (7, 13, 1)]
