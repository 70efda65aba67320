"""The program as people run it: real processes, a real library, real pipes, terminals and signals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from tests.program import PROGRAM, Ended, environment, run, run_here
from wenyuan.doors.cli.__main__ import main

HEAVY = {"apsw", "httpx2", "lxml", "numpy", "onnx", "onnxruntime", "opencc", "rjieba", "simsimd", "tokenizers"}
BOX_OR_ESCAPE = re.compile("[\x1b\u2500-\u259f]")

MEETING = """# 周会

## 2026年4月14日

参会：林砚秋、周牧。

决定：屏幕改用 PPR-9087，五月起供货。
"""
RELEASE = """# Release 0.9.1

Fixed: the gateway no longer stores a reading twice when its clock goes back.
"""


class House:
    """A folder of documents, one of them broken, and the library they were added to."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "notes"
        self.path = root / "library"
        self.meeting = self.folder / "周会 2026-04-14.md"
        (self.folder / "releases").mkdir(parents=True)
        self.meeting.write_text(MEETING, encoding="utf-8")
        (self.folder / "releases" / "0.9.1.md").write_text(RELEASE, encoding="utf-8")
        (self.folder / "broken.json").write_text('{"readings": [1, 2', encoding="utf-8")
        (self.folder / "song.mp3").write_bytes(b"ID3")
        (self.folder / ".draft.md").write_text("hidden", encoding="utf-8")
        self.added = run("add", self.folder, "--library", self.path)

    def run(self, *arguments: str | Path, **more: str) -> Ended:
        return run_here("--library", self.path, *arguments, **more)

    def json(self, *arguments: str | Path, exit_code: int = 0) -> Any:
        done = self.run(*arguments, "--json")
        assert done.returncode == exit_code, (done.stdout, done.stderr)
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("house"))


# --- Adding --------------------------------------------------------------------------------------


def test_adding_ends_with_what_came_of_it(house: House) -> None:
    assert house.added.returncode == 4
    assert 'Knowledge base "default": 2 added.' in house.added.stdout
    assert "1 .mp3" in house.added.stdout
    assert "1 file failed:" in house.added.stdout
    assert re.search(rf"{house.folder}/broken.json\n +error\[file-malformed\]: .+\n +hint: Open it", house.added.stdout)
    assert f"Next: wenyuan --library {house.path} ask" in house.added.stdout


def test_adding_again_changes_nothing_and_tries_the_failed_again(house: House) -> None:
    summary = house.json("add", house.folder, exit_code=4)
    assert summary["counts"] == {"added": 0, "updated": 0, "unchanged": 2, "retried": 0}
    assert [one["problem"]["code"] for one in summary["failed"]] == ["file-malformed"]
    assert {one["outcome"] for one in summary["files"]} == {"unchanged", "retried"}


def test_what_is_known_of_files_can_be_given(tmp_path: Path) -> None:
    library = ("--library", tmp_path / "library")
    file = tmp_path / "note.txt"
    file.write_text("本站水位正常。", "utf-8")
    assert run_here(*library, "add", file, "--meta", "date=2031-05-06", "--meta", "author = 林砚秋").returncode == 0
    shown = json.loads(run_here(*library, "--json", "docs", "show", "note.txt").stdout)
    assert shown["latest"]["metadata"] == {"date": "2031-05-06", "author": "林砚秋"}
    refused = run_here(*library, "add", file, "--meta", "date")
    assert (refused.returncode, "--meta" in refused.stderr) == (2, True)


def test_where_names_repeat_documents_are_listed_by_their_paths(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "note.txt").write_text("本站水位正常。", "utf-8")
    library = ("--library", tmp_path / "library")
    run_here(*library, "add", tmp_path / "one")
    assert str(tmp_path) not in run_here(*library, "docs", "list").stdout
    assert str(tmp_path / "one") in run_here(*library, "docs", "list", "--paths").stdout.replace("\n", "")
    run_here(*library, "add", tmp_path / "two")
    listed = run_here(*library, "docs", "list").stdout
    assert all(str(tmp_path / folder / "note.txt") in listed for folder in ("one", "two"))


def test_a_dictionary_and_synonyms_are_kept_and_documents_read_again(tmp_path: Path) -> None:
    library = ("--library", tmp_path / "library")
    note = tmp_path / "note.txt"
    note.write_text("报名了转换体验课。", "utf-8")
    run_here(*library, "add", note)
    added = run_here(*library, "kb", "dictionary", "default", "add", "转换体验课", "水文站")
    assert (added.returncode, added.stdout) == (0, "1 document read again.\n")
    assert run_here(*library, "kb", "dictionary", "default", "list").stdout == "转换体验课\n水文站\n"
    later = run_here(*library, "kb", "dictionary", "default", "remove", "水文站", "--no-wait")
    assert "1 document to read again: wenyuan" in later.stdout
    assert "1 document read by older rules" in run_here(*library, "kb", "show", "default").stdout
    refreshed = json.loads(run_here(*library, "--json", "kb", "refresh-aliases").stdout)
    assert (refreshed["queued"], refreshed["behind"]) == (1, 0)
    assert "No document needs" in run_here(*library, "kb", "refresh-aliases", "default").stdout
    everything = run_here(*library, "--json", "kb", "refresh-aliases", "default", "--all", "--path", tmp_path)
    assert json.loads(everything.stdout)["queued"] == 1
    assert (
        run_here(*library, "kb", "synonyms", "default", "add", "AI=人工智能", "a=b=c").stdout == "AI=人工智能\na=b=c\n"
    )
    assert run_here(*library, "kb", "synonyms", "default", "remove", "a=b=c").stdout == "AI=人工智能\n"
    assert json.loads(run_here(*library, "--json", "kb", "synonyms", "default", "list").stdout) == {
        "synonyms": [["AI", "人工智能"]]
    }
    for refused in (("dictionary", "default", "add"), ("synonyms", "default", "add", "alone")):
        assert run_here(*library, "kb", *refused).returncode == 2
    assert run_here(*library, "check").returncode == 0


def test_adding_without_waiting_leaves_the_work_to_the_worker(house: House, tmp_path: Path) -> None:
    note = tmp_path / "later.md"
    note.write_text("# Later\n\nThe quince jelly sets at last.\n", encoding="utf-8")
    added = house.run("add", note, "--no-wait")
    assert (added.returncode, "worker --drain" in added.stdout) == (0, True)
    assert house.json("search", "quince")["hits"] == []
    worked = run("worker", "--drain", "--json", "--library", house.path)
    assert json.loads(worked.stdout) == {"jobs": 1, "failed": 0}
    assert [hit["passage"]["document_name"] for hit in house.json("search", "quince")["hits"]] == ["later.md"]
    deleted = house.run("docs", "delete", "later.md")
    assert (deleted.returncode, deleted.stdout) == (
        0,
        "Deleted later.md from the library; your own file is untouched.\n",
    )
    assert house.json("search", "quince")["hits"] == []


# --- What each command says ----------------------------------------------------------------------

SPOKEN: Sequence[tuple[Sequence[str], str]] = (
    (("search", "四月十四号的决定"), r"(?s)1  周会 2026-04-14\.md  line.*#1.*rev_\w+\.\d+\n.*PPR-9087.*explain trace_"),
    (("search", "gateway", "--arm", "keyword"), r"keyword: keyword #1"),
    (
        ("ask", "0-9-1 修好了什么？"),
        r"(?s)gateway .* \[1\]\n.*\[1\] 0\.9\.1\.md:3 .*/releases/0\.9\.1\.md:3  rev_\w{26}\.0\n.*Grounded",
    ),
    (("explain", "2026年4月14日 PPR-9087"), r"(?s)date: 2026年4月14日 → 2026-04-14.*stage.*keyword.*Final hits.*\[?1"),
    (("kb", "list"), r"default +active .*ready 2"),
    (("kb", "show", "default"), r"embedding model: keyword search alone"),
    (("docs", "list"), r"doc_\w{26}  broken\.json .*failed .*file-malformed: .*is not valid JSON"),
    (("docs", "show", "0.9.1.md"), r"(?s)name: 0\.9\.1\.md\n.*searchable: yes"),
    (("docs", "show", "broken.json"), r"(?s)state: failed.*error\[file-malformed\].*hint: "),
    (("docs", "chunks", "0.9.1.md"), r"(?s)no\..*\n +0  lines 1–3  yes .*Fixed: the gateway"),
    (("docs", "chunks", "0.9.1.md", "--text"), r"(?s)rev_\w{26}\.0  .*Fixed: the gateway"),
    (("jobs", "list"), r"job_\w{26}  read +failed"),
    (("check",), r"."),
    (("doctor",), r"."),
)


@pytest.mark.parametrize(
    ("arguments", "expected"), SPOKEN, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_a_command_tells_people(house: House, arguments: Sequence[str], expected: str) -> None:
    done = house.run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(expected, done.stdout), done.stdout
    assert not BOX_OR_ESCAPE.search(done.stdout)


def test_a_command_tells_programs(house: House) -> None:
    found = house.json("search", "四月十四号的决定")
    hit = found["hits"][0]
    assert (hit["passage"]["document_name"], hit["match_type"], hit["ranks"]["structured"]) == (
        house.meeting.name,
        "hybrid",
        1,
    )
    trace = house.json("explain", found["trace_id"])
    assert (trace["id"], trace["hits"][0]["chunk"]) == (found["trace_id"], hit["passage"]["chunk_id"])
    place = house.json("docs", "open", hit["passage"]["chunk_id"])
    assert place["passage"] == hit["passage"]["chunk"]["text"]
    answer = house.json("ask", "四月十四号决定了什么？")
    assert answer["citations"][0]["source"] == str(house.meeting)
    listed = house.json("docs", "list")
    assert {view["document"]["name"]: view["latest"]["state"] for view in listed} == {
        "broken.json": "failed",
        house.meeting.name: "ready",
        "0.9.1.md": "ready",
    }
    assert house.json("docs", "show", "broken.json")["jobs"][0]["state"] == "failed"
    assert house.json("kb", "list")[0]["knowledge_base"]["name"] == "default"
    assert house.json("preview", house.meeting)["chunk_count"] >= 1


def test_a_passage_is_shown_where_it_stands(house: House) -> None:
    chunk_id = house.json("search", "PPR-9087")["hits"][0]["passage"]["chunk_id"]
    opened = house.run("docs", "open", chunk_id)
    assert re.search(rf"{re.escape(str(house.meeting))}:\d+\n", opened.stdout)
    assert "屏幕改用 PPR-9087" in opened.stdout


def test_an_empty_result_says_why_and_what_next(house: House) -> None:
    done = house.run("search", "zeppelin")
    assert done.returncode == 0
    assert re.search(r"zeppelin.*Try other words", done.stdout)
    assert "Why empty: no-match\n" in house.run("explain", "zeppelin").stdout


def test_a_preview_stores_nothing(house: House) -> None:
    done = house.run("preview", house.meeting, "--columns", "80")
    assert re.search(r"(?s)周会 2026-04-14\.md  text/markdown.*about 80 columns.*参会：林砚秋", done.stdout)
    assert len(house.json("docs", "list")) == 3


def test_a_knowledge_base_lives_and_dies(house: House) -> None:
    made = house.json("kb", "create", "side", "--embedding-model", "none", "--chunk-columns", "400", "--tag", "a")
    assert (made["embedding_model"], made["chunking"], made["tags"]) == (
        "",
        {"target_columns": 400, "overlap_columns": 0},
        ["a"],
    )
    assert house.run("kb", "archive", "side").stdout.startswith('Archived "side": it is kept as it is')
    assert house.run("kb", "unarchive", "side").stdout == '"side" is back and will be searched.\n'
    assert house.run("kb", "delete", "side").stdout == 'Deleted "side"; your own files are untouched.\n'
    assert [view["knowledge_base"]["name"] for view in house.json("kb", "list")] == ["default"]


def test_a_document_is_switched_off_and_on(house: House) -> None:
    assert house.run("docs", "disable", "0.9.1.md").returncode == 0
    assert house.json("search", "gateway")["hits"] == []
    assert house.run("docs", "enable", "0.9.1.md").returncode == 0
    assert len(house.json("search", "gateway")["hits"]) == 1


def test_a_failed_document_is_tried_again(house: House) -> None:
    again = house.run("docs", "retry", "broken.json")
    assert again.returncode == 4
    assert "error[file-malformed]" in again.stdout


# --- Errors --------------------------------------------------------------------------------------

WRONG: Sequence[tuple[Sequence[str], int, str, str]] = (
    (("serch", "x"), 2, "usage", "wenyuan --help"),
    (("search",), 2, "usage", "wenyuan search --help"),
    (("search", "x", "--top-k", "many"), 2, "usage", "wenyuan search --help"),
    (("search", "x", "--arm", "magic"), 2, "usage", "wenyuan search --help"),
    (("search", " "), 2, "empty-question", "Write a few words"),
    (("search", "x", "--top-k", "0"), 2, "invalid-value", "Give a value that fits"),
    (("search", "x", "--kb", "nowhere"), 2, "kb-not-found", "wenyuan kb create nowhere"),
    (("ask", "x", "--document", "nothing.md"), 2, "document-not-found", "wenyuan docs list"),
    (("add", "nowhere/at/all"), 2, "path-not-found", "Check the spelling"),
    (("explain", "trace_0"), 2, "trace-not-found", "Every search prints its trace id"),
    (("kb", "create", "default"), 2, "kb-exists", "Choose another name"),
    (("kb", "create", "x", "--embedding-model", "none", "--overlap", "-1"), 2, "invalid-value", "Give a value"),
    (("kb", "create", "x", "--embedding-model", "unheard-of"), 3, "model-not-configured", "wenyuan models add"),
    (("kb", "delete", "default"), 2, "kb-default-protected", "wenyuan docs delete"),
    (("docs", "open", "rev_0.0"), 2, "citation-not-found", "ask again"),
    (("docs", "retry", "0.9.1.md"), 2, "nothing-to-retry", "wenyuan docs show 0.9.1.md"),
    (("jobs", "show", "job_0"), 2, "job-not-found", "wenyuan jobs list"),
)


@pytest.mark.parametrize(("arguments", "exit_code", "code", "hint"), WRONG)
def test_an_error_says_what_to_do(house: House, arguments: Sequence[str], exit_code: int, code: str, hint: str) -> None:
    done = house.run(*arguments)
    assert (done.returncode, done.stdout) == (exit_code, "")
    assert re.fullmatch(rf"error\[{code}\]: .+\nhint: .*{re.escape(hint)}.*\n", done.stderr), done.stderr


@pytest.mark.parametrize("arguments", [("search",), ("search", "x", "--kb", "nowhere")])
def test_an_error_is_json_where_json_was_asked_for(house: House, arguments: Sequence[str]) -> None:
    error = house.json(*arguments, exit_code=2)["error"]
    assert set(error) == {"code", "message", "hint"}


@pytest.mark.parametrize("arguments", [("search", "x"), ("docs", "list"), ("preview", "x")])
def test_a_library_is_made_by_init_and_add_alone(tmp_path: Path, arguments: Sequence[str]) -> None:
    missing = tmp_path / "nowhere"
    done = run_here(*arguments, WENYUAN_LIBRARY=str(missing))
    assert done.returncode == 6
    assert f"error[library-not-found]: There is no library at {missing}." in done.stderr
    assert f"wenyuan init {missing}" in done.stderr
    assert not missing.exists()


def test_the_doctor_says_that_there_is_no_library_and_makes_none(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    done = run_here("doctor", WENYUAN_LIBRARY=str(missing))
    assert (done.returncode, done.stderr) == (3, "")
    assert f"error[library-not-found]: There is no library at {missing}." in done.stdout
    assert f"wenyuan init {missing}" in done.stdout
    assert "ok[sqlite]" in done.stdout
    assert not missing.exists()


def test_init_makes_a_library_once(tmp_path: Path) -> None:
    assert f"Made a library in {tmp_path}/new" in run("init", tmp_path / "new").stdout
    assert f"There is already a library in {tmp_path}/new" in run("init", tmp_path / "new").stdout
    (tmp_path / "holiday.jpg").write_bytes(b"")
    assert run("init", tmp_path).returncode == 6


def test_a_wrong_setting_is_named(house: House) -> None:
    done = run("kb", "list", "--library", house.path, WENYUAN_SEARCH_TOP_K="many")
    assert (done.returncode, done.stdout) == (3, "")
    assert "error[configuration-invalid]" in done.stderr
    assert "WENYUAN_SEARCH_TOP_K" in done.stderr


# --- Languages -----------------------------------------------------------------------------------


def test_it_speaks_chinese(house: House) -> None:
    listed = house.run("docs", "list", WENYUAN_LANG="zh")
    assert re.search(r"broken\.json +失败 .*broken\.json 不是有效的 JSON：", listed.stdout)
    wrong = run("search", "x", "--kb", "nowhere", "--library", house.path, LANG="zh_CN.UTF-8")
    assert re.fullmatch(
        r"error\[kb-not-found\]: 没有名为 'nowhere' 的知识库。\n提示：`wenyuan kb list`.+\n", wrong.stderr
    )


# --- Pipes and terminals -------------------------------------------------------------------------


def test_a_reader_who_has_seen_enough_ends_it_quietly(house: House) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        [*PROGRAM, "--library", str(house.path), "docs", "list"],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    os.close(writing)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (141, b"")


def on_a_terminal(*arguments: str | Path) -> str:
    """What a command writes to a terminal, both streams."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=end,
        stdout=end,
        stderr=end,
        env=environment(TERM="xterm-256color", COLUMNS="120"),
    )
    os.close(end)
    written = b""
    try:
        while piece := os.read(terminal, 65536):
            written += piece
    except OSError:
        pass  # Linux reports the closed end of a terminal as an error.
    process.wait()
    os.close(terminal)
    return written.decode()


def test_a_terminal_shows_what_matched(house: House) -> None:
    assert re.search(r"\x1b\[1;4mPPR-9087\x1b\[0m", on_a_terminal("--library", house.path, "search", "PPR-9087"))


def test_a_terminal_shows_progress_while_files_are_read(house: House, tmp_path: Path) -> None:
    shown = on_a_terminal("--library", tmp_path / "library", "add", house.folder)
    assert "Reading files" in shown
    assert "3/3" in shown


def test_a_documents_escape_sequences_never_reach_the_terminal(tmp_path: Path) -> None:
    note = tmp_path / "trap.txt"
    note.write_text("A periscope \x1b]0;owned\x07 and \x1b[31mred\n", encoding="utf-8")
    library = tmp_path / "library"
    assert run("add", note, "--library", library).returncode in (0, 4)
    shown = on_a_terminal("--library", library, "search", "periscope")
    assert "\x1b]0;owned" not in shown
    assert "\x1b[31mred" not in shown


# --- Starting ------------------------------------------------------------------------------------


def test_the_installed_program_is_this_one() -> None:
    (script,) = entry_points(group="console_scripts", name="wenyuan")
    assert script.load() is main


@pytest.mark.parametrize("arguments", [("--help",), ("add", "--help"), ("kb", "create", "--help"), ("--version",), ()])
def test_help_loads_nothing_heavy(arguments: Sequence[str]) -> None:
    program = f"import sys; from wenyuan.doors.cli.__main__ import main; main({list(arguments)}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "cyclopts" in done.stdout.split()
    assert HEAVY & set(done.stdout.split()) == set()


def test_a_question_may_begin_with_a_hyphen(house: House) -> None:
    done = house.run("--json", "search", "--", "--gateway")
    assert json.loads(done.stdout)["question"] == "--gateway"
    assert house.run("search", "--gateway").returncode == 2


# --- Interrupting --------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [("--filter", "dep=\udcff"), ("--kb", "\udcff"), ("--document", "\udcff")])
def test_bytes_that_are_no_text_are_refused(house: House, option: tuple[str, str]) -> None:
    done = house.run("search", "gateway", *option)
    assert done.returncode == 2
    assert "half of a character" in done.stderr


def test_what_may_answer_is_shown_where_nothing_clearly_does(house: House) -> None:
    shown = house.run("ask", "Who designed the gateway, and for whom?").stdout
    assert shown.startswith(
        "Nothing in the documents clearly answers this. The closest passages: 0.9.1.md › Release 0.9.1"
    )
    assert "Fixed: the gateway no longer stores a reading twice" in shown
    shown = house.run("ask", "What became of PPR-9807?").stdout
    assert shown.startswith("PPR-9807 stands nowhere in the documents.")
    assert "0.9.1.md" not in shown


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    # Much is to be read of each and little is found in it: they have arrived long before they are read.
    nothing = "<p></p>" * 30_000
    for number in range(FILES):
        (folder / f"{number:04}.html").write_text(f"<h1>Plum {number}</h1>{nothing}<p>Ripe.</p>", encoding="utf-8")
    return folder


FILES = 80


def started(*arguments: str | Path, until: str) -> subprocess.Popen[str]:
    """A running command that has said `until` on its standard error, with a process group of its own."""
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if until in line:
            return process
    pytest.fail(f"it ended without saying {until!r}")


def test_ctrl_c_loses_nothing(many: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    process = started("add", many, "--library", library, until="reading files:")
    # A terminal sends Ctrl-C to every process in its foreground, the reader's as well.
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate()
    assert (process.returncode, output) == (130, "")
    left = re.search(r"left to do: (\d+) files? to read", errors)
    assert left is not None, errors
    assert 0 < int(left[1]) <= FILES
    assert "Traceback" not in errors
    assert f"wenyuan --library {library} worker --drain" in errors
    assert json.loads(run("worker", "--drain", "--library", library, "--json").stdout) == {
        "jobs": int(left[1]),
        "failed": 0,
    }
    views = json.loads(run("docs", "list", "--library", library, "--json").stdout)
    assert [view["latest"]["state"] for view in views] == ["ready"] * FILES


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_ends_when_it_is_asked_to(house: House, number: signal.Signals) -> None:
    process = started("worker", "--library", house.path, until="Ctrl-C stops it")
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Nothing is lost" in errors
