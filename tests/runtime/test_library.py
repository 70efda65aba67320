"""A library as its user sees it: adding, changing, finding, deleting, and what is said when it cannot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from tests.waiting import until
from wenyuan.errors import (
    CitationNotFound,
    DiskFull,
    DocumentAmbiguous,
    DocumentNotFound,
    InvalidValue,
    NothingToCancel,
    NothingToRetry,
)
from wenyuan.flows.receive import FILES_AT_ONCE, Received
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig
from wenyuan.worker import Worker


@pytest.fixture
def library(tmp_path: Path, server: EmbeddingServer) -> Iterator[Library]:
    # One job at a time, so that the calls to the model can be counted: two may ask for the same text at once.
    with opened(tmp_path, server.settings() + "[worker]\nthreads = 1\n") as one:
        yield one


def opened(folder: Path, settings: str) -> Library:
    home = folder / "library"
    home.mkdir(exist_ok=True)
    (home / "wenyuan.toml").write_text(settings, "utf-8")
    return wy.open(home, environment={})


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / "notes" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def names(library: Library, question: str) -> list[str]:
    return [hit.passage.document_name for hit in library.search(question).hits]


def test_what_was_added_is_found_by_words_and_by_meaning(library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, "体检.md", "# 福利\n\n公司每年安排一次健康体检，费用由公司承担。\n\n## 休假\n\n年假十天。")
    written(tmp_path, "水位.md", "水文站今日水位正常。")
    library.add(path.parent)
    hit = library.search("健康体检").hits[0]
    assert hit.passage.document_name == "体检.md"
    assert hit.match_type == "hybrid"
    assert set(hit.hit_modes) == {"keyword", "vector"}
    assert hit.passage.chunk.heading_path == ("福利",)
    assert [hit.passage.chunk.text[span.start : span.end] for span in hit.highlights] == ["健康体检"]
    lines = path.read_text("utf-8").split("\n")[hit.passage.chunk.anchor.first - 1 : hit.passage.chunk.anchor.last]
    assert "公司每年安排一次健康体检，费用由公司承担。" in lines


def test_a_citation_opens_the_place_and_survives_a_change(library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, "手册.md", "# 报销\n\n差旅每天补贴八十元。")
    library.add(path)
    cited = library.search("差旅补贴").hits[0].passage.chunk_id
    place = library.documents.open(cited)
    assert "差旅每天补贴八十元。" in place.passage
    assert not place.changed_since
    written(tmp_path, "手册.md", "# 报销\n\n差旅每天补贴一百元。")
    assert library.add(path).received[0].outcome == "updated"
    assert library.documents.open(cited).changed_since
    assert "八十" in library.documents.open(cited).passage
    texts = [hit.passage.chunk.text for hit in library.search("差旅补贴").hits]
    assert any("一百" in text for text in texts)
    assert not any("八十" in text for text in texts)
    assert library.check() == []


def test_a_citation_to_nowhere_is_an_error(library: Library) -> None:
    for citation in ("", "nonsense", "rev_1.0", "rev_1.x"):
        with pytest.raises(CitationNotFound):
            library.documents.open(citation)


def test_the_same_bytes_again_are_no_work(library: Library, server: EmbeddingServer, tmp_path: Path) -> None:
    path = written(tmp_path, "a/kustomization.yaml", "resources:\n  - deployment.yaml\n")
    written(tmp_path, "b/kustomization.yaml", "resources:\n  - deployment.yaml\n")
    before = len(server.inputs)
    library.add(tmp_path / "notes")
    assert len(server.inputs) - before == 1, "equal texts share their vector"
    assert [one.outcome for one in library.add(tmp_path / "notes").received] == ["unchanged", "unchanged"]
    assert len(server.inputs) - before == 1
    library.documents.delete(str(path))
    library.drain()
    assert [hit.passage.source for hit in library.search("deployment.yaml").hits] == [
        str(tmp_path / "notes" / "b" / "kustomization.yaml")
    ]
    assert library.check() == []


def test_a_deleted_document_is_gone_at_once_and_leaves_nothing(library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, "秘密.md", "琥珀项目的预算是三十万。")
    library.add(path)
    cited = library.search("琥珀").hits[0].passage.chunk_id
    library.documents.delete("秘密.md")
    assert names(library, "琥珀") == []
    with pytest.raises(DocumentNotFound):
        library.documents.show("秘密.md")
    with pytest.raises(CitationNotFound):
        library.documents.open(cited)
    library.drain()
    with library._database.read() as tx:
        left = {
            table: tx.all(f"SELECT count(*) FROM {table}")[0][0]
            for table in (
                "documents",
                "revisions",
                "revision_text",
                "chunks",
                "keys",
                "vectors",
                "vector_codes",
                "blobs",
            )
        }
    assert left == dict.fromkeys(left, 0)
    assert list((library.path / "blobs").glob("??/*")) == []
    assert library.check() == []


def test_a_switched_off_document_is_not_found_until_switched_on(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    library.documents.switch("水位.md", enabled=False)
    result = library.search("水位")
    assert (result.hits, result.why_empty) == ((), "all-disabled")
    library.documents.switch("水位.md", enabled=True)
    assert names(library, "水位") == ["水位.md"]


def test_keyword_search_answers_before_the_vectors_and_says_so(library: Library, tmp_path: Path) -> None:
    for number in range(3):
        written(tmp_path, f"{number}.md", f"第{number}号水文站水位正常。")
    library.add(tmp_path / "notes", wait=False)
    assert library.search("水位").why_empty == "none-ready"
    library.drain(max_jobs=3)
    result = library.search("水位")
    assert len(result.hits) == 3
    assert {hit.match_type for hit in result.hits} == {"keyword"}
    assert result.degraded == ("embed: index-missing",)
    library.drain(max_jobs=1)
    assert library.search("水位").degraded == ("vector-partial: 1 of 3 documents",)
    library.drain()
    assert library.search("水位").degraded == ()


def test_a_model_that_fails_is_named_and_keyword_search_goes_on(
    library: Library, server: EmbeddingServer, tmp_path: Path
) -> None:
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    server.before_answer = lambda _: (401, {}, b'{"error": {"message": "no such key"}}')
    result = library.search("水位")
    assert result.degraded == ("embed: failed-provider",)
    assert [hit.hit_modes for hit in result.hits] == [("structured", "keyword")]
    assert library.ask("水文站今日水位正常").citations[0].document_name == "水位.md"


def test_failed_vectors_leave_the_document_ready_and_can_be_retried(
    library: Library, server: EmbeddingServer, tmp_path: Path
) -> None:
    server.before_answer = lambda _: (400, {}, b'{"error": {"message": "bad model"}}')
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    view = library.documents.show("水位.md")
    assert (view.latest.state, view.searchable, view.semantic.state) == ("ready", True, "failed")
    assert view.semantic.problem is not None
    assert view.semantic.problem.code == "provider-refused"
    server.before_answer = lambda _: None
    library.documents.retry("水位.md")
    library.drain()
    assert library.documents.show("水位.md").semantic.state == "ready"
    with pytest.raises(NothingToRetry):
        library.documents.retry("水位.md")


def test_a_rate_limit_is_waited_for_where_everyone_can_see_it(
    library: Library, server: EmbeddingServer, tmp_path: Path
) -> None:
    server.before_answer = lambda _: (429, {"Retry-After": "3600"}, b"{}")
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    waiting = library.jobs.progress().waiting
    assert [job.problem.code for job in waiting if job.problem] == ["rate-limited"]
    assert waiting[0].run_after - waiting[0].created_at > 3_000_000
    shown = library.documents.show("水位.md")
    assert shown.waiting is not None
    assert shown.semantic.state == "pending"
    library.jobs.cancel(waiting[0].id)
    assert library.jobs.show(waiting[0].id).state == "cancelled"
    assert names(library, "水位") == ["水位.md"]


def test_another_model_of_the_same_size_is_noticed(library: Library, server: EmbeddingServer, tmp_path: Path) -> None:
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    library.close()
    settings = server.settings().replace('model = "characters"', 'model = "other-characters"')
    with opened(tmp_path, settings) as changed:
        result = changed.search("水位")
        assert result.degraded == ("embed: index-incompatible",)
        assert [hit.hit_modes for hit in result.hits] == [("structured", "keyword")]
    with opened(tmp_path, server.settings()) as again:
        assert again.search("水位").degraded == ()


def test_there_is_nothing_to_cancel_where_nothing_is_being_done(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path, "水位.md", "正常"))
    with pytest.raises(NothingToCancel):
        library.documents.cancel("水位.md")
    assert library.documents.show("水位.md").latest.state == "ready"


def test_a_cancelled_document_can_be_taken_up_again(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"), wait=False)
    assert library.documents.cancel("水位.md").latest.state == "cancelled"
    library.drain()
    assert library.search("水位").why_empty == "none-ready"
    library.documents.retry("水位.md")
    library.drain()
    assert names(library, "水位") == ["水位.md"]


def test_an_empty_result_says_why(library: Library, tmp_path: Path) -> None:
    assert library.search("水位").why_empty == "kb-empty"
    library.knowledge_bases.create("归档")
    library.knowledge_bases.archive("归档")
    assert library.search("水位", kb="归档").why_empty == "kb-archived"
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    assert library.search("水位", kb=()).why_empty == "kb-unbound"
    result = library.search("zyzzyva", arms=("keyword",))
    assert result.why_empty == "no-match"
    assert "zyzzyva (0)" in result.explanation


def test_knowledge_bases_are_searched_alone_or_together(library: Library, tmp_path: Path) -> None:
    library.knowledge_bases.create("研发", chunking=ChunkingConfig(200, 0))
    library.add(written(tmp_path, "a.md", "水位正常，设备良好。"))
    library.add(written(tmp_path, "b.md", "水位偏高，需要复测。"), kb="研发")
    assert sorted(names(library, "水位")) == ["a.md", "b.md"]
    assert [hit.passage.document_name for hit in library.search("水位", kb="研发").hits] == ["b.md"]
    assert [hit.passage.document_name for hit in library.search("水位", documents=["a.md"]).hits] == ["a.md"]
    library.knowledge_bases.delete("研发")
    assert names(library, "水位") == ["a.md"]
    library.drain()
    assert library.check() == []


def test_a_trace_tells_what_happened_and_holds_no_text(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常，密语琥珀。"))
    result = library.search("水位 2026年4月14日")
    trace = library.trace(result.trace_id)
    assert [stage["name"] for stage in trace["stages"]][:2] == ["scope", "read"]
    assert trace["counters"]["keyword_hits_raw"] == 1
    assert trace["counters"]["vector_hits"] == 1
    assert trace["plan"]["dates"][0]["first"] == "2026-04-14"
    assert trace["hits"][0]["ranks"] == {"keyword": 1, "vector": 1}
    assert "琥珀" not in str(trace)


def test_a_preview_is_what_indexing_does_and_writes_nothing(library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, "手册.md", "# 一\n\n" + "甲乙丙丁。" * 300 + "\n\n# 二\n\n戊己庚辛。")
    before = sorted(path.stat().st_mtime_ns for path in library.path.rglob("*.db"))
    shown = library.preview(path)
    assert sorted(path.stat().st_mtime_ns for path in library.path.rglob("*.db")) == before
    library.add(path)
    stored = library.documents.chunks("手册.md")
    assert shown.chunk_count == len(stored)
    assert list(shown.samples) == stored[: len(shown.samples)]
    assert library.preview(path, ChunkingConfig(100, 0)).chunk_count > shown.chunk_count


def test_an_answer_quotes_and_cites_the_lines(library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, "手册.md", "# 福利\n\n公司每年十月安排健康体检。\n体检费用由公司承担。\n")
    library.add(path)
    answer = library.ask("体检费用由谁承担？")
    assert answer.finish_reason == "extractive"
    cited = next(one for one in answer.citations if "费用" in one.quote)
    assert path.read_text("utf-8").split("\n")[cited.anchor.first - 1] == cited.quote
    assert f"[{cited.number}]" in answer.text
    nothing = library.ask("2019-01-01 发生了什么？")
    assert nothing.citations == ()
    assert nothing.finish_reason == "fallback"
    assert "2019-01-01" in nothing.text


def test_a_text_can_be_added_and_replaced_by_name(library: Library) -> None:
    assert library.add_text("水位正常。", "今日").outcome == "added"
    assert library.add_text("水位偏高。", "今日").outcome == "updated"
    assert [hit.passage.chunk.text for hit in library.search("水位").hits] == ["水位偏高。"]


def test_a_year_in_a_question_does_not_outrank_what_is_asked(library: Library, tmp_path: Path) -> None:
    for number in range(1, 13):
        written(tmp_path, f"2026-{number:02}-03 观测.md", f"第{number}次观测记录，水位正常。")
    written(tmp_path, "财务.md", "2026年的预算是三十万元。")
    library.add(tmp_path / "notes")
    assert names(library, "2026年的预算是多少？")[0] == "财务.md"
    assert names(library, "2026年4月3日的观测")[0] == "2026-04-03 观测.md"


def test_cancelled_vectors_can_be_retried(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"), wait=False)
    library.drain(max_jobs=1)
    embedding = next(job for job in library.jobs.list() if job.kind == "embed")
    library.jobs.cancel(embedding.id)
    view = library.documents.show("水位.md")
    assert (view.searchable, view.semantic.state) == (True, "failed")
    library.documents.retry("水位.md")
    library.drain()
    assert library.documents.show("水位.md").semantic.state == "ready"


def test_a_name_in_two_knowledge_bases_is_not_guessed(library: Library, tmp_path: Path) -> None:
    path = written(tmp_path, "水位.md", "水文站今日水位正常。")
    library.knowledge_bases.create("副本")
    library.add(path)
    library.add(path, kb="副本")
    with pytest.raises(DocumentAmbiguous):
        library.documents.delete(str(path))
    assert len(library.documents.list()) == len(library.documents.list(kb="副本")) == 1


def test_excluded_words_are_excluded_from_every_list(library: Library, tmp_path: Path) -> None:
    written(tmp_path, "2026-04-14.md", "水位超过阈值。")
    written(tmp_path, "其他.md", "2026-04-14 水位正常。")
    library.add(tmp_path / "notes")
    assert set(names(library, "2026-04-14 水位")) == {"2026-04-14.md", "其他.md"}
    assert names(library, "2026-04-14 水位 -阈值") == ["其他.md"]


def test_a_trace_tells_what_was_made_of_the_search(library: Library, tmp_path: Path) -> None:
    library.add(written(tmp_path, "手册.md", "公司每年十月安排健康体检。"))
    answer = library.ask("健康体检")
    made = library.trace(answer.search.trace_id)["answer"]
    assert made["grounded"] == "likely"
    assert [one["chunk"] for one in made["citations"]] == [one.chunk_id for one in answer.citations]


def test_a_provider_may_ask_for_any_delay(library: Library, server: EmbeddingServer, tmp_path: Path) -> None:
    server.before_answer = lambda _: (429, {"Retry-After": "1" + "0" * 30}, b"{}")
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    waiting = library.jobs.progress().waiting
    assert [job.attempts for job in waiting] == [0]
    assert waiting[0].run_after - waiting[0].created_at < 2 * 86_400_000


def test_names_of_files_and_questions_may_be_in_no_encoding(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for raw in ("健康.txt".encode("gb18030"), b"\xff\xfe\xff.txt"):
        (folder / os.fsdecode(raw)).write_text("今日水位正常。", "utf-8")
    assert [one.outcome for one in library.add(folder).received] == ["added", "added"]
    assert "健康.txt" in {view.document.name for view in library.documents.list()}
    assert library.search("水位\udcff").hits


def test_lines_of_a_page_are_not_counted_where_they_were_rewritten(library: Library, tmp_path: Path) -> None:
    path = written(
        tmp_path, "a.html", "<html><body>\n<p>水文站说明</p>\n\n<p>体检费用由\n公司承担。</p>\n</body></html>"
    )
    library.add(path)
    cited = library.ask("体检费用由谁承担").citations[0]
    lines = path.read_text("utf-8").split("\n")
    place = "\n".join(lines[cited.anchor.first - 1 : cited.anchor.last])
    assert "体检费用" in place


def test_a_document_is_named_by_a_path_from_the_current_folder(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(written(tmp_path, "水位.md", "水文站今日水位正常。"))
    monkeypatch.chdir(tmp_path)
    assert library.documents.show("notes/水位.md").latest.state == "ready"


def test_a_bound_of_no_jobs_is_refused(library: Library) -> None:
    for bound in (0, -3):
        with pytest.raises(InvalidValue):
            library.drain(max_jobs=bound)


def test_the_first_files_are_found_while_others_are_taken_in(library: Library, tmp_path: Path) -> None:
    for number in range(FILES_AT_ONCE + 8):
        path = written(tmp_path, f"{number:03}.md", f"第{number}号水文站的记录。")
    taken: list[Received] = []

    def found_already(one: Received) -> None:
        taken.append(one)
        if len(taken) > FILES_AT_ONCE:
            until(lambda: "000.md" in names(library, "水文站的记录"))

    report = library.add(path.parent, on_received=found_already)
    assert [one.outcome for one in report.received] == ["added"] * (FILES_AT_ONCE + 8)
    assert {view.latest.state for view in library.documents.list(limit=100)} == {"ready"}


def test_who_gives_up_while_files_are_taken_in_leaves_work_for_the_next(library: Library, tmp_path: Path) -> None:
    for number in range(FILES_AT_ONCE + 8):
        path = written(tmp_path, f"{number:03}.md", f"第{number}号水文站的记录。")
    taken: list[Received] = []

    def give_up(one: Received) -> None:
        taken.append(one)
        if len(taken) > FILES_AT_ONCE:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add(path.parent, on_received=give_up)
    library.drain()
    # What a transaction took in is there, whether anyone was told or not.
    assert len(library.documents.list(limit=100)) >= FILES_AT_ONCE
    assert {view.latest.state for view in library.documents.list(limit=100)} == {"ready"}
    assert not library.check()


def test_a_worker_that_fails_meanwhile_is_told_when_all_is_taken_in(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(FILES_AT_ONCE + 8):
        path = written(tmp_path, f"{number:03}.md", f"第{number}号水文站的记录。")
    taken: list[Received] = []

    def full(*_: object, **__: object) -> None:
        raise DiskFull(path="library", reason="no space")

    monkeypatch.setattr(Worker, "drain_until", full)
    with pytest.raises(DiskFull):
        library.add(path.parent, on_received=taken.append)
    assert len(taken) == FILES_AT_ONCE + 8
