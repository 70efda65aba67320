"""`wenyuan models`: what embeds, writes and reranks is listed, added, tried and taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chat_server import ChatServer, Reply, chatting
from tests.program import run_here
from tests.rerank_server import RerankServer, reranking


@pytest.fixture(scope="module")
def writing() -> Iterator[ChatServer]:
    with chatting(Reply("ready")) as server:
        yield server


@pytest.fixture(scope="module")
def judging() -> Iterator[RerankServer]:
    with reranking() as server:
        yield server


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "library"
    assert run_here("init", path).returncode == 0
    return path


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("untouched") / "library"
    assert run_here("init", path).returncode == 0
    return path


def adding(library: Path, name: str, *more: str) -> str:
    done = run_here("--library", library, "models", "add", name, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_model_is_added_listed_tried_and_taken_out(library: Path, writing: ChatServer) -> None:
    where = ("--protocol", "openai-compatible", "--base-url", writing.base_url, "--model", "scripted-1")
    added = adding(library, "writer", *where, "--type", "chat", "--tools", "--context-tokens", "16000")
    assert "answers, small tasks" in added
    assert "models test writer" in added
    text = (library / "wenyuan.toml").read_text("utf-8")
    assert "tools = true" in text
    assert "context_tokens = 16000" in text
    listed = run_here("--library", library, "models", "list").stdout
    assert all(word in listed for word in ("writer", "writing", "scripted-1", "answers", writing.base_url, "built-in"))
    tried = run_here("--library", library, "models", "test", "writer")
    assert (tried.returncode, "writer: works for writing" in tried.stdout) == (0, True)
    removed = run_here("--library", library, "models", "remove", "writer")
    assert (removed.returncode, removed.stdout) == (0, "writer is taken out.\n")
    assert "writer" not in run_here("--library", library, "models", "list").stdout


def test_what_is_listed_and_tried_is_told_to_programs(library: Path, judging: RerankServer) -> None:
    where = ("--protocol", "cohere", "--base-url", judging.base_url("cohere"), "--model", "judge-1")
    adding(library, "judge", *where, "--type", "rerank")
    listed = json.loads(run_here("--library", library, "models", "list", "--json").stdout)
    assert listed["roles"]["rerank"] == "judge"
    assert [one["types"] for one in listed["models"] if one["name"] == "judge"] == [["rerank"]]
    (test,) = json.loads(run_here("--library", library, "models", "test", "judge", "--json").stdout)
    assert (test["ok"], test["type"], len(test["scores"])) == (True, "rerank", 2)


def test_a_search_that_was_reranked_is_explained(library: Path, judging: RerankServer) -> None:
    where = ("--protocol", "tei", "--base-url", judging.base_url("tei"), "--model", "judge-1")
    adding(library, "judge", *where, "--type", "rerank")
    (library.parent / "pumps.txt").write_text("The pump is checked every spring.", "utf-8")
    assert run_here("--library", library, "add", library.parent / "pumps.txt").returncode == 0
    explained = run_here("--library", library, "explain", "when is the pump checked").stdout
    assert "Reranking: 1 passage by judge" in explained
    assert f"tei · judge-1 · {judging.base_url('tei')}/rerank" in explained
    judging.instead = lambda _server, _passages: (404, b"")
    searched = run_here("--library", library, "search", "when is the pump checked", WENYUAN_LANG="zh")
    judging.instead = lambda _server, _passages: None
    assert "没有重排" in searched.stdout + searched.stderr


def test_a_model_that_does_not_work_says_what_to_do(library: Path) -> None:
    adding(library, "ds", "--preset", "deepseek", "--model", "deepseek-chat")
    for language, words in (("en", "Put the key where `key` says"), ("zh", "把密钥放到")):
        tried = run_here("--library", library, "models", "test", "ds", WENYUAN_LANG=language)
        assert tried.returncode == 5
        assert "error[key-missing]" in tried.stdout
        assert "env:DEEPSEEK_API_KEY" in tried.stdout
        assert words in tried.stdout
    doctor = run_here("--library", library, "doctor")
    assert (doctor.returncode, "DEEPSEEK_API_KEY" in doctor.stdout) == (3, True)


def test_that_documents_cannot_be_embedded_is_said_before_they_are_read(library: Path) -> None:
    described = ("--preset", "openai", "--type", "embedding", "--model", "m", "--dimensions", "8")
    adding(library, "e", *described)
    assert run_here("--library", library, "kb", "create", "papers", "--embedding-model", "e").returncode == 0
    (library.parent / "a.txt").write_text("A pump.", "utf-8")
    added = run_here("--library", library, "add", "--no-wait", "--kb", "papers", library.parent / "a.txt")
    assert added.returncode == 0
    assert added.stderr.startswith('note: What is added to "papers" will be found by its words alone')
    assert "error[key-missing]" in added.stderr
    other = run_here("--library", library, "add", "--no-wait", library.parent / "a.txt")
    assert "by its words alone" not in other.stderr


def test_a_role_is_given_and_taken(library: Path, writing: ChatServer) -> None:
    for name in ("one", "two"):
        where = ("--protocol", "anthropic", "--base-url", writing.base_url, "--model", "m", "--type", "chat")
        adding(library, name, *where)
    given = run_here("--library", library, "models", "assign", "task", "two")
    assert (given.returncode, given.stdout) == (0, "two has the role: small tasks.\n")
    taken = run_here("--library", library, "models", "assign", "answer", "--json")
    assert json.loads(taken.stdout) == {"answer": "", "task": "two", "embedding": "", "rerank": ""}
    refused = run_here("--library", library, "models", "assign", "rerank", "two")
    assert (refused.returncode, "error[model-unsuitable]" in refused.stderr) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("add", "x", "--preset", "nobody"), 3, "configuration-invalid"),
        (("add", "x", "--preset", "openai", "--model", "m"), 3, "configuration-invalid"),
        (("add", "x", "--preset", "deepseek", "--model", "m", "--key", "sk-secret-4711"), 3, "configuration-invalid"),
        (("add", "x", "--preset", "deepseek", "--type", "video"), 2, "usage"),
        (("add", "built-in/multilingual-e5-small", "--preset", "deepseek"), 2, "model-exists"),
        (("remove", "built-in/multilingual-e5-small"), 2, "invalid-value"),
        (("remove", "nobody"), 3, "model-not-configured"),
        (("test", "nobody"), 3, "model-not-configured"),
        (("assign", "answer", "nobody"), 3, "model-not-configured"),
    ],
)
def test_what_cannot_be_is_refused(untouched: Path, arguments: tuple[str, ...], exit_code: int, code: str) -> None:
    refused = run_here("--library", untouched, "models", *arguments)
    assert (refused.returncode, f"error[{code}]" in refused.stderr) == (exit_code, True), refused.stderr
    assert "sk-secret" not in refused.stderr
    assert not (untouched / "wenyuan.toml").exists()


def test_the_providers_that_are_known_are_listed(untouched: Path) -> None:
    listed = run_here("--library", untouched, "models", "presets").stdout
    for name in ("openai", "anthropic", "ollama", "deepseek", "qwen", "siliconflow", "zhipu", "moonshot", "jina"):
        assert f"\n{name} " in listed
