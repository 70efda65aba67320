"""`wenyuan chat` and what sessions show: streamed, stopped by Ctrl-C, kept, judged, exported, in both languages."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.chat_server import Reply
from tests.program import environment, run_here
from tests.runtime.conversing import Talking, conversing

QUESTION = "屏幕改用什么？"
ANSWER = Reply("屏幕改用 PPR-9087 [1]。价格是 300 元 [1]。颜色不明 [7]。")


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talking]:
    with conversing(tmp_path_factory.mktemp("chat")) as talking:
        yield talking


def chat(talking: Talking, monkeypatch: pytest.MonkeyPatch, typed: str, *options: str, **more: str) -> str:
    """What is written when so much is typed."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    ended = run_here("--library", talking.library.path, *options, **more)
    assert ended.returncode == 0, ended.stderr
    assert ("path-not-found" in ended.stderr) == ("nowhere" in typed)
    return ended.stdout


def session_of(talking: Talking) -> str:
    return talking.library.sessions.list()[0].id


def test_a_conversation_is_streamed_checked_and_kept(
    talking: Talking, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "库存.csv").write_text("品名,数量\n螺丝,40\n", "utf-8")
    talking.script(ANSWER)
    typed = (
        f"{QUESTION}\n/sources\n/files {tmp_path / '库存.csv'}\n/files {tmp_path / 'nowhere.csv'}\n"
        "/kb default\n/again\n/nope\n/help\n/quit\nnever asked\n"
    )
    told = chat(talking, monkeypatch, typed, "chat", LANG="zh_CN.UTF-8")
    assert told.startswith("屏幕改用 PPR-9087 [1]。价格是 300 元 [1]。颜色不明。")
    assert "[1] 周会.md" in told
    assert "所引来源中没有：“价格是 300 元 [1]。”（缺少：300）" in told
    assert "模型引用了不存在的来源 [7]" in told
    assert "库存.csv" in told
    assert "查询：default。" in told
    assert "没有命令 /nope" in told
    session = session_of(talking)
    turns = run_here("--library", talking.library.path, "sessions", "turns", session).stdout
    assert "replaced by 3" in turns
    assert "never asked" not in turns
    judged = run_here(
        "--library", talking.library.path, "sessions", "judge", session, "4", "up", "good", "--case", "mine"
    )
    assert "Added to the set mine" in judged.stdout
    assert f"> {QUESTION}" in run_here("--library", talking.library.path, "sessions", "export", session).stdout
    wrong = run_here("--library", talking.library.path, "sessions", "judge", session, "1", "up")
    assert (wrong.returncode, "turn-not-found" in wrong.stderr) == (2, True)


def test_a_program_sends_questions_and_gets_documents(talking: Talking, monkeypatch: pytest.MonkeyPatch) -> None:
    talking.script(ANSWER)
    told = chat(talking, monkeypatch, f"{QUESTION}\n", "--json", "chat")
    message = json.loads(told)
    assert (message["finish_reason"], message["turn"], message["invented"]) == ("stop", 2, ["[7]"])
    talking.script(ANSWER)
    asked = run_here("--library", talking.library.path, "ask", QUESTION)
    assert "Written by scripted-1." in asked.stdout
    assert "Grounded: unlikely." in asked.stdout


def test_a_trace_tells_which_models_were_asked(talking: Talking) -> None:
    talking.script(Reply(tool_calls=(("knowledge_base_search", '{"query": "体检"}'),)), ANSWER, Reply("你好！"))
    traces = [[*talking.library.converse(question)][-1].trace_id for question in (QUESTION, "你好")]
    looked_up, chatted = (run_here("--library", talking.library.path, "explain", trace).stdout for trace in traces)
    assert "answer: writer (scripted-1)" in looked_up
    assert "2: knowledge_base_search 体检" in looked_up
    assert "answer: writer (scripted-1)" in chatted


def test_an_error_is_told_and_the_conversation_goes_on(talking: Talking, monkeypatch: pytest.MonkeyPatch) -> None:
    talking.script(Reply("屏幕改用 PPR-9087 [1]。还有别的事情。", breaks_after=3), ANSWER)
    told = chat(talking, monkeypatch, f"{QUESTION}\n{QUESTION}\n", "chat")
    assert told.count("屏幕改用 PPR-9087 [1]。价格") == 1
    turns = talking.library.turns.page(session_of(talking)).turns
    reasons = [turn.answer["finish_reason"] for turn in turns if turn.answer is not None]
    assert reasons == ["interrupted", "stop"]


def test_ctrl_c_stops_an_answer_and_keeps_what_was_said(talking: Talking) -> None:
    talking.script(Reply("屏幕改用 PPR-9087 [1]。还有别的事情要说，一件一件说来。", hangs_after=4))
    talking.server.spoken.clear()
    command = [sys.executable, "-m", "wenyuan.doors.cli", "--library", str(talking.library.path), "chat"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{QUESTION}\n".encode())
        process.stdin.flush()
        said = process.stdout.read(3).decode()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Stopped; what was said is kept." in output.decode()
    with wy.open(talking.library.path, environment={}) as library:
        kept = library.turns.page(library.sessions.list()[0].id).turns[1]
    assert kept.answer is not None
    assert kept.answer["finish_reason"] == "stopped"
    assert kept.text.startswith(said)
