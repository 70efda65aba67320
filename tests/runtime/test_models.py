"""The models of a library: their roles, what may be chosen for what, and how wenyuan.toml is changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import wenyuan as wy
from tests.chat_server import ChatServer, Reply, chatting
from tests.embedding_server import DIMENSIONS, EmbeddingServer, serving
from tests.rerank_server import RerankServer, reranking
from wenyuan.errors import (
    ConfigurationInvalid,
    InvalidValue,
    KeyMissing,
    LibraryReadOnly,
    ModelExists,
    ModelInUse,
    ModelNotConfigured,
    ModelUnsuitable,
    ProviderPaused,
    ProviderUnavailable,
    RequestError,
    WenyuanError,
)
from wenyuan.providers.settings import BUILT_IN_MODEL
from wenyuan.runtime.library import Library
from wenyuan.types import GenerationRequest, Message

WORDS_ALONE = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}
HELLO = GenerationRequest((Message("user", "hello"),))


@pytest.fixture(scope="module")
def writing() -> Iterator[ChatServer]:
    with chatting(Reply("ready")) as server:
        yield server


@pytest.fixture(scope="module")
def embedding() -> Iterator[EmbeddingServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def judging() -> Iterator[RerankServer]:
    with reranking() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "library").mkdir()
    return tmp_path / "library"


def opened(home: Path, settings: str | None = None) -> Library:
    if settings is not None:
        (home / "wenyuan.toml").write_text(settings, "utf-8")
    return wy.open(home, environment=WORDS_ALONE)


# --- Roles -----------------------------------------------------------------------------------------


def test_without_a_role_nobody_writes(home: Path) -> None:
    with opened(home) as library:
        assert library.models.for_role("answer") is None
        assert library.models.generator_for("answer") is None
        assert library.models.generator_for("task") is None


def test_small_tasks_fall_to_the_model_that_answers(home: Path, writing: ChatServer) -> None:
    with opened(home, writing.settings()) as library:
        assert library.models.for_role("task") == "writer"
        generator = library.models.generator_for("task")
        assert generator is library.models.generator_for("answer")
        assert generator is not None
        assert generator.profile.name == "writer"
    own = writing.settings() + writing.described("small")
    with opened(home, own.replace("[roles]\n", '[roles]\ntask = "small"\n')) as library:
        assert library.models.for_role("task") == "small"


def test_the_role_of_embedding_is_that_of_new_knowledge_bases(home: Path, embedding: EmbeddingServer) -> None:
    settings = embedding.settings("e").replace("[defaults]\nembedding_model", "[roles]\nembedding")
    with opened(home, settings) as library:
        assert library.settings.defaults.embedding_model == "e"
        assert library.knowledge_bases.create("papers").embedding_model == "e"


def test_roles_may_come_from_the_environment(home: Path, writing: ChatServer) -> None:
    (home / "wenyuan.toml").write_text(writing.described("other"), "utf-8")
    with wy.open(home, environment={**WORDS_ALONE, "WENYUAN_ROLES_ANSWER": "other"}) as library:
        assert library.models.for_role("answer") == "other"


def test_only_models_that_embed_can_be_chosen_for_a_knowledge_base(home: Path, writing: ChatServer) -> None:
    with opened(home, writing.settings()) as library:
        with pytest.raises(
            ModelUnsuitable, match="'writer' is not one for embedding: it is there for writing"
        ) as caught:
            library.knowledge_bases.create("papers", embedding_model="writer")
        assert BUILT_IN_MODEL in caught.value.advice
        with pytest.raises(ModelNotConfigured):
            library.knowledge_bases.create("papers", embedding_model="nobody")
        with pytest.raises(ModelUnsuitable):
            library.models.generator(BUILT_IN_MODEL)
        with pytest.raises(ModelUnsuitable):
            library.models.reranker("writer")


def test_a_model_may_be_of_several_types(home: Path, writing: ChatServer) -> None:
    described = writing.described("both").replace('["chat"]', '["chat", "embedding"]') + "dimensions = 3\n"
    with opened(home, described) as library:
        assert library.models.generator("both").profile.model == library.models.embedder("both").identity.model
        assert library.models.names("rerank") == []


def test_a_provider_that_is_down_is_left_alone_by_questions(home: Path) -> None:
    settings = '[models.gone]\ntypes = ["chat"]\nprotocol = "anthropic"\nmodel = "m"\nbase_url = "http://127.0.0.1:1"\n'
    with opened(home, settings) as library:
        generator = library.models.generator("gone")
        for _ in range(5):
            with pytest.raises(ProviderUnavailable):
                list(generator.generate(HELLO, 0.01))
        with pytest.raises(ProviderPaused):
            list(generator.generate(HELLO, 10.0))


# --- Changing what is configured -------------------------------------------------------------------

WRITTEN = """# What we use.
[search]
top_k = 5   # not more

[models."old/one"]   # kept
protocol = "openai-compatible"
model = "one"
base_url = "http://127.0.0.1:1/v1"
dimensions = 3

# The end.
"""


def test_a_model_is_added_and_everything_else_stays(home: Path, writing: ChatServer) -> None:
    with opened(home, WRITTEN) as library:
        values = {"types": ["chat"], "protocol": "openai-compatible", "model": "m", "base_url": writing.base_url}
        view = library.model_registry.add("new one", values)
        assert (view.name, view.types, view.roles, view.problem) == ("new one", ("chat",), ("answer", "task"), None)
        # It can be used at once.
        assert list(library.models.generator("new one").generate(HELLO, 10.0))
    text = (home / "wenyuan.toml").read_text("utf-8")
    assert all(line in text for line in WRITTEN.splitlines())
    with opened(home) as library:
        assert library.models.for_role("answer") == "new one"
        library.model_registry.remove("new one")
        assert library.models.for_role("answer") is None
    left = (home / "wenyuan.toml").read_text("utf-8")
    assert "new one" not in left
    assert all(line in left for line in WRITTEN.splitlines())


def test_a_file_with_windows_line_ends_and_its_own_mode_keeps_both(home: Path) -> None:
    (home / "wenyuan.toml").write_bytes(WRITTEN.replace("\n", "\r\n").encode())
    (home / "wenyuan.toml").chmod(0o600)
    with opened(home) as library:
        library.model_registry.add("w", {"preset": "ollama", "types": ["chat"], "model": "m"})
    assert (home / "wenyuan.toml").read_bytes().count(b"\r\n") >= WRITTEN.count("\n")
    assert (home / "wenyuan.toml").stat().st_mode & 0o777 == 0o600


def test_a_preset_fills_what_is_not_said(home: Path) -> None:
    with opened(home) as library:
        view = library.model_registry.add("ds", {"preset": "deepseek", "model": "deepseek-chat"})
        assert (view.types, view.protocol, view.base_url, view.key, view.tools) == (
            ("chat",),
            "openai-compatible",
            "https://api.deepseek.com/v1",
            "env:DEEPSEEK_API_KEY",
            True,
        )
        assert view.problem is not None
        assert view.problem.code == "key-missing"
    assert (home / "wenyuan.toml").read_text("utf-8").splitlines()[:3] == [
        "[models.ds]",
        'preset = "deepseek"',
        'model = "deepseek-chat"',
    ]


def test_the_key_of_a_preset_goes_to_no_other_address(home: Path) -> None:
    values = {"preset": "openai", "types": ["chat"], "model": "m"}
    with opened(home) as library:
        own = library.model_registry.add("gateway", {**values, "base_url": "http://gateway.example/v1"})
        assert (own.key, own.protocol) == ("", "openai-compatible")
        assert library.model_registry.add("direct", values).key == "env:OPENAI_API_KEY"


def test_the_dimensions_are_asked_for(home: Path, embedding: EmbeddingServer) -> None:
    values = {"protocol": "openai-compatible", "model": "characters", "base_url": embedding.base_url}
    with opened(home) as library:
        assert library.model_registry.add("e", values).dimensions == DIMENSIONS
        assert library.model_registry.test("e")[0].dimensions == DIMENSIONS
        with pytest.raises(ConfigurationInvalid, match=r"models\.f\.dimensions .*could not be asked"):
            library.model_registry.add("f", {**values, "base_url": "http://127.0.0.1:1/v1"})
        assert library.models.names("embedding") == [BUILT_IN_MODEL, "e"]


REFUSED: list[tuple[str, dict[str, object], type[WenyuanError]]] = [
    ("x", {"protocol": "openai-compatible", "model": "m", "types": ["video"]}, ConfigurationInvalid),
    ("x", {"protocol": "openai-compatible", "model": "m", "types": []}, ConfigurationInvalid),
    ("x", {"protocol": "openai-compatible", "model": "m", "types": ["chat", "chat"]}, ConfigurationInvalid),
    ("x", {"preset": "nobody", "model": "m"}, ConfigurationInvalid),
    ("x", {"preset": "qwen", "model": "m"}, ConfigurationInvalid),
    ("x", {"preset": "qwen", "model": "m", "types": ["chat", "rerank"]}, ConfigurationInvalid),
    ("x", {"preset": "qwen", "model": "m", "types": [["chat"]]}, ConfigurationInvalid),
    ("x", {"preset": "deepseek", "model": "m", "types": ["embedding"]}, ConfigurationInvalid),
    ("x", {"model": "m", "types": ["chat"]}, ConfigurationInvalid),
    ("x", {"preset": "deepseek", "model": "m", "key": "sk-secret-4711"}, ConfigurationInvalid),
    ("x", {"preset": "deepseek", "model": "m", "colour": "red"}, ConfigurationInvalid),
    ("x", {"preset": "deepseek", "model": "m", "context_tokens": 0}, ConfigurationInvalid),
    ("", {"preset": "deepseek", "model": "m"}, InvalidValue),
    (" x", {"preset": "deepseek", "model": "m"}, InvalidValue),
    ("x\n", {"preset": "deepseek", "model": "m"}, InvalidValue),
    ("old/one", {"preset": "deepseek", "model": "m"}, ModelExists),
    (BUILT_IN_MODEL, {"preset": "deepseek", "model": "m"}, ModelExists),
]


@pytest.mark.parametrize(("name", "values", "kind"), REFUSED)
def test_what_cannot_be_meant_changes_nothing(
    home: Path, name: str, values: dict[str, object], kind: type[WenyuanError]
) -> None:
    with opened(home, WRITTEN) as library:
        with pytest.raises(kind) as caught:
            library.model_registry.add(name, values)
        assert "sk-secret" not in str(caught.value)
        assert library.models.names() == [BUILT_IN_MODEL, "old/one"]
    assert (home / "wenyuan.toml").read_text("utf-8") == WRITTEN


def test_a_role_goes_to_a_model_that_can_fill_it(home: Path, writing: ChatServer) -> None:
    with opened(home, WRITTEN + writing.described("writer")) as library:
        assert library.model_registry.assign("answer", "writer")["answer"] == "writer"
        with pytest.raises(ModelUnsuitable):
            library.model_registry.assign("rerank", "writer")
        with pytest.raises(ModelNotConfigured):
            library.model_registry.assign("task", "nobody")
        values = {"preset": "ollama", "types": ["chat"], "model": "m"}
        with pytest.raises(InvalidValue):
            library.model_registry.add("other", values, ["rerank"])
        assert library.model_registry.assign("answer", "") == {
            "answer": "",
            "task": "",
            "embedding": "",
            "rerank": "",
        }
    with opened(home) as library:
        assert library.models.generator_for("answer") is None


def test_what_is_used_stays(home: Path) -> None:
    with opened(home, WRITTEN) as library:
        library.knowledge_bases.create("papers", embedding_model="old/one")
        (view,) = [one for one in library.model_registry.list() if one.name == "old/one"]
        assert view.used_by == ("papers",)
        with pytest.raises(ModelInUse, match="papers"):
            library.model_registry.remove("old/one")
        with pytest.raises(InvalidValue):
            library.model_registry.remove(BUILT_IN_MODEL)
        with pytest.raises(ModelNotConfigured):
            library.model_registry.remove("nobody")
    assert (home / "wenyuan.toml").read_text("utf-8") == WRITTEN


def test_a_model_that_reranks_is_used_by_the_next_search(home: Path, judging: RerankServer) -> None:
    with opened(home) as library:
        library.add_text("The pump is checked every spring.", "a.txt")
        assert library.search("pump").rerank.finish_reason == "fallback-no-config"  # type: ignore[union-attr]
        values = {"types": ["rerank"], "protocol": "tei", "model": "m", "base_url": judging.base_url("tei")}
        assert library.model_registry.add("judge", values).roles == ("rerank",)
        assert library.search("pump").rerank.finish_reason == "applied"  # type: ignore[union-attr]
        library.model_registry.remove("judge")
        assert library.search("pump").rerank.finish_reason == "fallback-no-config"  # type: ignore[union-attr]


def test_a_file_that_cannot_be_written_stays_as_it_was(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(13, "Permission denied")

    with opened(home, WRITTEN) as library:
        monkeypatch.setattr("wenyuan.runtime.model_file.os.fsync", full)
        with pytest.raises(LibraryReadOnly, match="Permission denied"):
            library.model_registry.add("x", {"preset": "ollama", "types": ["chat"], "model": "m"})
        assert library.models.names() == [BUILT_IN_MODEL, "old/one"]
    assert (home / "wenyuan.toml").read_text("utf-8") == WRITTEN
    assert [path.name for path in home.iterdir() if path.name.startswith(".wenyuan")] == []


def test_a_file_that_was_broken_meanwhile_is_not_touched(home: Path) -> None:
    with opened(home, WRITTEN) as library:
        (home / "wenyuan.toml").write_text("[models\n", "utf-8")
        with pytest.raises(ConfigurationInvalid):
            library.model_registry.add("x", {"preset": "ollama", "types": ["chat"], "model": "m"})
    assert (home / "wenyuan.toml").read_text("utf-8") == "[models\n"


# --- Testing ---------------------------------------------------------------------------------------


def test_each_type_is_called_once_and_tells_what_it_is(
    home: Path, writing: ChatServer, embedding: EmbeddingServer, judging: RerankServer
) -> None:
    settings = writing.settings() + embedding.settings("e") + judging.settings().replace("[roles]", "[other]")
    with opened(home, settings.partition("[other]")[0] + "[search]\n" + settings.partition("[search]\n")[2]) as library:
        (chat,) = library.model_registry.test("writer")
        (vectors,) = library.model_registry.test("e")
        (scores,) = library.model_registry.test("judge")
    assert (chat.ok, chat.said, chat.input_tokens, chat.output_tokens) == (True, "ready", 12, 7)
    assert chat.first_piece_ms is not None
    assert (vectors.ok, vectors.dimensions) == (True, DIMENSIONS)
    assert scores.ok
    assert scores.scores[0] > scores.scores[1]


@pytest.mark.parametrize(
    ("reply", "code", "advice"),
    [
        (Reply(status=401, body=b"no"), "provider-refused", "check-key"),
        (Reply(status=404, body=b"no"), "provider-refused", "check-address"),
        (Reply(status=400, body=b"no such model"), "provider-refused", "check-model"),
        (Reply(status=200, text="x", reason="?", breaks_after=0), "provider-unavailable", "start-server"),
    ],
)
def test_what_fails_is_told_with_what_to_do(home: Path, reply: Reply, code: str, advice: str) -> None:
    with chatting(reply) as server, opened(home, server.settings()) as library:
        (test,) = library.model_registry.test("writer", timeout=2.0)
    assert (test.ok, test.advice) == (False, advice)
    assert test.problem is not None
    assert test.problem.code == code


def test_a_key_that_is_missing_is_told_without_a_call(home: Path, writing: ChatServer) -> None:
    writing.requests.clear()
    with opened(home, writing.settings(more='key = "env:NO_SUCH_KEY_4711"')) as library:
        (test,) = library.model_registry.test("writer")
        assert (test.advice, library.model_registry.show("writer").problem is not None) == ("set-key", True)
        with pytest.raises(KeyMissing):
            library.models.check_usable("writer")
        with pytest.raises(RequestError, match="writer"):
            library.model_registry.add("writer", {})
    assert writing.requests == []
