"""`wenyuan docs` and the policies of `wenyuan kb`, as people type them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.program import Ended, run, run_here


class Desk:
    """A library with a few documents, and the command line aimed at it."""

    def __init__(self, root: Path) -> None:
        self.path = root / "library"
        self.folder = root / "notes"
        self.folder.mkdir()
        for name, text in {
            "周会.md": "# 周会\n\n预算三十万，编号 PPR-9087。",
            "bad.json": "{",
            "t.csv": "a,b\n1,2",
        }.items():
            (self.folder / name).write_text(text, "utf-8")

    def run(self, *arguments: str | Path, **more: str) -> Ended:
        return run_here("--library", self.path, *arguments, **more)

    def json(self, *arguments: str | Path) -> Any:
        return json.loads(self.run("--json", *arguments).stdout)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.run("init")
    return made


def test_a_policy_is_given_when_a_knowledge_base_is_made_and_changed_later(desk: Desk) -> None:
    made = desk.json("kb", "create", "side", "--types", "md,text/html", "--max-file-size", "1.5MB")["policy"]
    assert (made["types"], made["max_file_bytes"], made["duplicates"]) == (["md", "text/html"], 3 << 19, "keep")
    changed = ("kb", "set", "side", "--types", "any", "--max-file-size", "none", "--max-documents", "7")
    policy = desk.json(*changed, "--duplicates", "skip", "--forbid-types", "exe")["knowledge_base"]["policy"]
    assert policy == {
        "types": [],
        "forbidden_types": ["exe"],
        "max_file_bytes": None,
        "max_documents": 7,
        "duplicates": "skip",
    }
    shown = desk.run("kb", "show", "side").stdout
    assert re.search(r"does not take: exe\ndocuments at most: 7\nsame bytes under another path: skipped", shown)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--max-file-size", "big"), ("--max-file-size", "-1"), ("--max-documents", "many"), ("--max-documents", "0"),
     ("--types", "a b"), ("--duplicates", "both")],
)  # fmt: skip
def test_a_policy_that_makes_no_sense_is_refused(desk: Desk, option: str, value: str) -> None:
    assert desk.run("kb", "set", "default", option, value).returncode == 2


def test_what_a_policy_keeps_out_is_told_with_what_to_do(desk: Desk) -> None:
    desk.run("kb", "set", "default", "--forbid-types", "csv")
    added = desk.run("add", desk.folder / "周会.md", desk.folder / "t.csv")
    assert added.returncode == 0
    assert "1 added, 1 blocked" in added.stdout
    assert re.search(
        r"1 file kept, but found by no search:\n.*t\.csv\n +error\[blocked-type\]: .+\n +hint: ", added.stdout
    )
    listed = desk.run("docs", "list", "--blocked").stdout
    assert re.search(r"t\.csv +blocked ", listed)
    assert "周会" not in listed
    shown = desk.run("docs", "show", "t.csv", WENYUAN_LANG="zh").stdout
    assert "已阻止（规定：类型）" in shown
    assert "error[blocked-type]: 知识库 'default' 不接收 t.csv 这类文件" in shown
    changed = desk.run("kb", "set", "default", "--forbid-types", "any")
    assert "1 document may be found; what was never read waits: " in changed.stdout


def test_a_full_knowledge_base_takes_no_more(desk: Desk) -> None:
    desk.run("kb", "set", "default", "--max-documents", "1")
    added = desk.run("add", desk.folder / "周会.md", desk.folder / "t.csv")
    assert (added.returncode, "error[kb-full]" in added.stdout) == (4, True)


def test_what_a_knowledge_base_is_for_is_said_and_shown(desk: Desk) -> None:
    desk.run("add", desk.folder)
    desk.run("kb", "set", "default", "--persona", "A librarian.", "--scenario", "Readers ask at the desk.")
    desk.run("kb", "set", "default", "--description", "All notes.")
    shown = desk.run("kb", "show", "default").stdout
    assert "persona: A librarian.\nscenario: Readers ask at the desk.\n" in shown
    assert "description: All notes.\n" in shown


def test_documents_are_listed_by_how_they_stand_and_page_by_page(desk: Desk) -> None:
    desk.run("add", desk.folder)
    assert [view["document"]["name"] for view in desk.json("docs", "list", "--failed")] == ["bad.json"]
    assert [view["document"]["name"] for view in desk.json("docs", "list", "--state", "failed")] == ["bad.json"]
    assert desk.run("docs", "list", "--disabled").stdout == "No document stands like that.\n"
    first = desk.run("docs", "list", "--limit", "2").stdout
    after = re.search(r"More: wenyuan .* docs list --limit 2 --after (doc_\w+)", first)
    assert after is not None
    assert len(desk.json("docs", "list", "--after", after[1])) == 1
    first = desk.run("docs", "list", "--kb", "default", "--state", "ready", "--paths", "--limit", "1").stdout
    assert re.search(r"docs list --kb default --state ready --paths --limit 1 --after doc_\w+", first)
    assert "More" not in desk.run("docs", "list", "--limit", "3").stdout


def test_all_that_failed_is_retried(desk: Desk) -> None:
    desk.run("add", desk.folder)
    done = desk.run("docs", "retry", "--failed")
    assert (done.returncode, "1 document put back to work." in done.stdout) == (4, True)
    assert "error[file-malformed]" in done.stdout
    desk.run("docs", "delete", "bad.json")
    assert desk.run("docs", "retry", "--failed").stdout == "Nothing has failed.\n"
    assert desk.run("docs", "retry").returncode == desk.run("docs", "retry", "x", "--failed").returncode == 2


def test_passages_are_switched_off_and_on(desk: Desk) -> None:
    desk.run("add", desk.folder / "周会.md")
    off = desk.run("docs", "disable-chunk", "周会.md", "0")
    assert off.stdout == "Passage 0 of 周会.md will not be found any more (1 passage with these words).\n"
    assert desk.json("search", "PPR-9087")["hits"] == []
    assert [one["enabled"] for one in desk.json("docs", "chunks", "周会.md")] == [False]
    assert re.search(r"\n +0  lines? 1.* no  ", desk.run("docs", "chunks", "周会.md").stdout)
    assert "passages switched off: 1" in desk.run("docs", "show", "周会.md").stdout
    on = desk.run("docs", "enable-chunk", "周会.md", "0", WENYUAN_LANG="zh")
    assert on.stdout == "周会.md 的第 0 个段落可再被检索（相同文字的段落共 1 个）。\n"
    assert len(desk.json("search", "PPR-9087")["hits"]) == 1
    gone = desk.run("docs", "disable-chunk", "周会.md", "9")
    assert (gone.returncode, "error[passage-not-found]: 周会.md has no passage 9." in gone.stderr) == (2, True)


def test_documents_move_and_are_deleted_together(desk: Desk) -> None:
    desk.run("kb", "create", "side")
    desk.run("add", desk.folder / "周会.md", desk.folder / "t.csv")
    queued = desk.run("docs", "move", "周会.md", "t.csv", "--to", "side", "--no-wait")
    assert '周会.md is moving to "side", and is found in "default" until it is ready there.' in queued.stdout
    assert re.search(r"周会\.md +ready; update: moving to \"side\" · queued", desk.run("docs", "list").stdout)
    desk.run("worker", "--drain")
    assert desk.run("docs", "list").stdout.startswith("No documents here yet.")
    assert desk.json("search", "PPR-9087", "--kb", "side")["hits"]
    assert desk.run("docs", "move", "周会.md", "--to", "default").stdout == '周会.md is in "default".\n'
    refused = desk.run("docs", "move", "周会.md", "--to", "nowhere")
    assert (refused.returncode, "kb-not-found" in refused.stderr) == (2, True)
    assert desk.run("docs", "delete", "周会.md", "t.csv").stdout.count("\n") == 2
    assert desk.json("docs", "list") == desk.json("docs", "list", "--kb", "side") == []


def test_an_archived_knowledge_base_says_how_it_comes_back(desk: Desk) -> None:
    desk.run("kb", "create", "side")
    desk.run("add", desk.folder / "周会.md", "--kb", "side")
    desk.run("kb", "archive", "side")
    refused = desk.run("add", desk.folder / "t.csv", "--kb", "side")
    assert (refused.returncode, "`wenyuan kb unarchive side`" in refused.stderr) == (2, True)
    assert "kb unarchive" in desk.run("search", "PPR-9087", "--kb", "side").stdout
    assert desk.run("kb", "unarchive", "side").stdout == '"side" is back and will be searched.\n'
    assert desk.json("search", "PPR-9087")["hits"]


def test_the_real_program_moves_a_document_in_chinese(desk: Desk) -> None:
    run("--library", desk.path, "kb", "create", "财务")
    run("--library", desk.path, "add", desk.folder / "周会.md")
    moved = run("--library", desk.path, "docs", "move", "周会.md", "--to", "财务", WENYUAN_LANG="zh")
    assert (moved.returncode, moved.stdout, moved.stderr) == (0, "周会.md 已在“财务”中。\n", "")
