"""`wenyuan eval` as people and pipelines run it: what is printed, what is written, and how it ends."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.evaluation.conftest import DOCUMENTS, keyword_only
from wenyuan.doors.cli.__main__ import main

SET = """
- id: meeting
  query: PPR-9087 什么时候供货
  expect: 周会.md
  tags: [codes]
- id: warranty
  query: How long is the warranty?
  expect: faq.md
- id: absent
  query: Quarterly dividends of the shareholders
  expect: nothing
"""


class House:
    """A library with documents, and a set of questions to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "library"
        self.set = self.write("set.yaml", SET)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        return {**kept, "LANG": "C.UTF-8", "WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}

    def run(self, *arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        command = ["--library", str(self.path), "eval", *map(str, arguments)]
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with (
            mock.patch.dict(os.environ, {**self.environment, **more}, clear=True),
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
        ):
            exit_code = main(command)
        output, errors = (_written(stream) for stream in streams)
        return subprocess.CompletedProcess(command, exit_code, output, errors)

    def json(self, *arguments: str | Path, exit_code: int = 0) -> Any:
        done = self.run(*arguments, "--json")
        assert done.returncode == exit_code, (done.stdout, done.stderr)
        return json.loads(done.stdout)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path)
    with keyword_only(made.path) as library:
        for name, text in DOCUMENTS.items():
            library.add(made.write(f"notes/{name}", text), wait=False)
        library.drain()
    return made


def test_a_run_prints_its_figures_and_the_next_one_what_changed(house: House) -> None:
    first = house.run("run", house.set)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("set: 3 of 3 questions passed\n")
    assert "nDCG@10" in first.stdout
    assert "Compared with" not in first.stdout
    second = house.run("run", house.set)
    assert "3 questions, 0 worse, 0 better\nNothing changed." in second.stdout
    listed = house.run("report").stdout.splitlines()
    assert len(listed) == 3
    shown = house.run("report", "last").stdout
    assert shown == second.stdout.split("\n\nCompared")[0] + "\n"


def test_a_question_that_is_no_longer_answered_fails_the_run(house: House) -> None:
    house.run("run", house.set)
    house.write("notes/faq.md", "# Questions\n\nNone.\n")
    with keyword_only(house.path) as library:
        library.add(house.root / "notes" / "faq.md")
        library.documents.switch("faq.md", enabled=False)
    done = house.run("run", house.set)
    assert done.returncode == 7
    assert "Not passed (1 of 1)\nwarranty  How long is the warranty?\n    expected: faq.md (not in the library)" in (
        done.stdout
    )
    assert done.stdout.endswith("Not good enough:\n  warranty passed before and fails now\n")
    assert "Worse (1 of 1)\nwarranty  How long is the warranty?\n    at 1 → not found" in done.stdout
    # Compared with itself nothing is lost; compared with nothing, neither.
    assert house.run("run", house.set).returncode == 0
    assert house.run("run", house.set, "--against", "none").returncode == 0
    first = house.json("report")[-1]["id"]
    assert house.run("run", house.set, "--against", first).returncode == 7
    assert house.run("run", house.set, "--against", first, "--fail-on", "significant").returncode == 0
    found = house.json("diff", first)
    assert [change["id"] for change in found["worse"]] == ["warranty"]
    assert "warranty" in house.run("diff", first, "last").stdout


def test_a_measure_below_its_threshold_fails_the_run(house: House) -> None:
    below = house.json("run", house.set, "--fail-below", "ndcg=1", "--fail-below", "precision=0.5", exit_code=7)
    assert [(one["kind"], one["subject"], one["bound"]) for one in below["failures"]] == [
        ("below", "precision@10", 0.5)
    ]
    assert house.run("run", house.set, "--fail-below", "ndcg[codes]=1").returncode == 0
    refused = house.run("run", house.set, "--fail-below", "map=1")
    assert (refused.returncode, "error[invalid-value]" in refused.stderr) == (2, True)
    assert len(house.json("report")) == 2


def test_every_result_is_written_where_it_was_asked_for(house: House) -> None:
    out, trec, qrels = (house.root / name for name in ("out.jsonl", "run.txt", "qrels.txt"))
    told = house.json("run", house.set, "--out", out, "--trec-run", trec, "--trec-qrels", qrels)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert rows == told["run"]["cases"]
    assert trec.read_text("utf-8").splitlines()[0].split()[:4] == ["meeting", "Q0", "周会.md", "1"]
    assert qrels.read_text("utf-8") == "meeting 0 周会.md 1\nwarranty 0 faq.md 1\n"
    refused = house.run("run", house.set, "--out", house.root / "no" / "folder")
    assert (refused.returncode, "error[file-unreadable]" in refused.stderr) == (4, True)


def test_a_set_grows_from_searches(house: House) -> None:
    with keyword_only(house.path) as library:
        result = library.search("Delivery by bicycle")
    new = house.root / "new.yaml"
    done = house.run("add", new, "--trace", result.trace_id, "--expect", result.hits[0].passage.chunk_id)
    assert (done.returncode, done.stdout[:15]) == (0, "Added the case ")
    assert house.run("add", new, "logs", "--expect", "1.0.1.md", "--tag", "logs", "--id", "logs").returncode == 0
    missing = house.run("add", new, "logs")
    assert (missing.returncode, "error[expectation-missing]" in missing.stderr) == (2, True)
    told = house.json("add", new, "x", "--expect", "nothing", "--filter", "year=2020..2024")
    assert told["filters"] == {"year": {"from": "2020", "to": "2024"}}
    assert house.json("run", new)["run"]["record"]["summary"]["passed"] == 3


def test_a_pack_is_imported_and_run(house: House) -> None:
    house.write(
        "pack/corpus.jsonl", '{"id": "a", "text": "The otter swims."}\n{"id": "b", "text": "The crane flies."}\n'
    )
    house.write("pack/queries.jsonl", '{"id": "1", "text": "who swims"}\n')
    house.write("pack/qrels.tsv", "qid\tdocid\trel\n1\ta\t1\n")
    pack = house.root / "pack"
    early = house.run("run", pack)
    assert (early.returncode, "error[pack-not-imported]" in early.stderr) == (2, True)
    done = house.run("import", pack)
    assert 'Knowledge base "pack": 2 added.' in done.stdout
    assert f"eval run {pack}" in done.stdout
    assert house.json("import", pack)[0]["counts"] == {"unchanged": 2}
    assert house.json("run", pack)["run"]["cases"][0]["ranked"][0] == "a"


def test_a_mistake_in_a_set_is_told_with_file_and_line_in_both_languages(house: House) -> None:
    wrong = house.write("wrong.yaml", "- query: a\n  expct: b\n")
    told = house.json("run", wrong, exit_code=2)
    assert told["error"]["code"] == "evaluation-set-invalid"
    assert f"{wrong}, line 2" in told["error"]["message"]
    assert f"{wrong} 第 2 行" in house.run("run", wrong, WENYUAN_LANG="zh").stderr


def test_everything_is_said_in_chinese(house: House) -> None:
    house.write("set.yaml", SET + "- {id: lost, query: warranty, expect: 没有.md}\n")
    done = house.run("run", house.set, WENYUAN_LANG="zh")
    assert done.stdout.startswith("set：4 个问题通过 3 个\n")
    for words in ("未通过（显示 1 个中的 1 个）", "没有答案的问题", "不在资料库里", "各列表的表现"):
        assert words in done.stdout
    assert "变差 0 个" in house.run("run", house.set, WENYUAN_LANG="zh").stdout


def test_on_a_terminal_a_bar_shows_how_far_it_is(house: House) -> None:
    command = [sys.executable, "-m", "wenyuan.doors.cli", "--library", str(house.path), "eval", "run", str(house.set)]
    ours, theirs = pty.openpty()
    environment = {**house.environment, "TERM": "xterm", "COLUMNS": "100"}
    with os.fdopen(ours, "rb") as terminal:
        running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        shown = b""
        # Linux ends the reading of a terminal that nobody writes to any more with an error.
        with contextlib.suppress(OSError):
            while piece := terminal.read1():
                shown += piece
        output, _ = running.communicate(timeout=60)
    assert b"Asking" in shown
    assert b"100%" in shown
    assert b"3 of 3 questions passed" in output


def test_runs_are_forgotten(house: House) -> None:
    assert "There are no runs yet." in house.run("report").stdout
    run = house.json("run", house.set)["run"]["record"]["id"]
    assert house.run("delete", run).stdout == f"Forgot the run {run}.\n"
    assert house.json("report") == []
    assert house.run("report", run).returncode == 2


def test_interrupted_it_tells_what_it_keeps(house: House) -> None:
    rows = "".join(
        json.dumps({"id": f"{n}", "query": f"gateway {n}", "expect": "faq.md"}) + "\n" for n in range(20_000)
    )
    many, out = house.write("many.jsonl", rows), house.root / "out.jsonl"
    command = [sys.executable, "-m", "wenyuan.doors.cli", "--library", str(house.path), "eval", "run", str(many)]
    running = subprocess.Popen(
        [*command, "--out", str(out)],
        env=house.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not out.exists() or not out.stat().st_size:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    kept = house.json("report")
    assert [run["complete"] for run in kept] == [False]
    assert f"They are kept as the incomplete run {kept[0]['id']}." in errors
    finished = len(out.read_text("utf-8").splitlines())
    assert 0 < finished < 20_000
    assert kept[0]["summary"]["cases"] == finished
