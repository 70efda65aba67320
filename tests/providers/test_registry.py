"""From the settings of a model to its adapter, built in or installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wenyuan.errors import ConfigurationInvalid
from wenyuan.providers.e5.model import E5Embedder
from wenyuan.providers.embeddings import EmbeddingService
from wenyuan.providers.presets import PRESETS
from wenyuan.providers.registry import PROTOCOLS, create_embedder, create_generator, create_reranker
from wenyuan.providers.settings import BUILT_IN_MODEL, ModelSettings, ModelType

BUILT_IN = ModelSettings(BUILT_IN_MODEL, "built-in", "multilingual-e5-small")
REMOTE = ModelSettings("a/b", "openai-compatible", "b", base_url="http://127.0.0.1:1/v1", dimensions=3)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with an entry point, installed where Python looks; tells with a file when it is loaded."""
    (tmp_path / "another_provider.py").write_text(
        "from pathlib import Path\n"
        "Path(__file__).with_suffix('.loaded').touch()\n"
        "def create(settings, cache_directory, on_progress):\n"
        "    on_progress('made')\n"
        "    return settings, cache_directory\n"
    )
    information = tmp_path / "another_provider-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: another-provider\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[wenyuan.providers]\nanother = another_provider:create\nbuilt-in = another_provider:create\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "another_provider", raising=False)
    return tmp_path


@pytest.mark.parametrize(("settings", "kind"), [(BUILT_IN, E5Embedder), (REMOTE, EmbeddingService)])
def test_a_protocol_names_its_adapter(settings: ModelSettings, kind: type, tmp_path: Path) -> None:
    embedder = create_embedder(settings.name, settings, tmp_path)
    assert type(embedder) is kind
    assert embedder.identity.model == settings.model
    assert list(tmp_path.iterdir()) == []


def test_an_installed_adapter_is_loaded_when_it_is_named(installed: Path) -> None:
    create_embedder(REMOTE.name, REMOTE, installed)
    assert not (installed / "another_provider.loaded").exists()
    settings = ModelSettings("x", "another", "y")
    messages: list[str] = []
    made: object = create_embedder("x", settings, installed, messages.append)
    assert made == (settings, installed)
    assert messages == ["made"]


@pytest.mark.usefixtures("installed")
def test_an_installed_adapter_does_not_replace_one_of_ours(tmp_path: Path) -> None:
    assert isinstance(create_embedder(BUILT_IN.name, BUILT_IN, tmp_path), E5Embedder)


@pytest.mark.usefixtures("installed")
def test_a_protocol_that_nobody_speaks_is_told_with_those_that_are_spoken(tmp_path: Path) -> None:
    settings = ModelSettings("x", "unheard-of", "y")
    with pytest.raises(
        ConfigurationInvalid,
        match=r"models\.x\.protocol .*another, built-in, cohere, fastembed, jina, openai-compatible, voyage",
    ):
        create_embedder("x", settings, tmp_path)


@pytest.mark.parametrize(
    ("create", "kind", "protocol"),
    [
        *((create_embedder, "embedding", protocol) for protocol in PROTOCOLS["embedding"]),
        *((create_generator, "chat", protocol) for protocol in PROTOCOLS["chat"]),
        *((create_reranker, "rerank", protocol) for protocol in PROTOCOLS["rerank"]),
    ],
)
def test_every_protocol_of_ours_has_an_adapter_to_load(
    create: Callable[..., object], kind: ModelType, protocol: str, tmp_path: Path
) -> None:
    model, dimensions = ("multilingual-e5-small", 0) if protocol == "built-in" else ("m", 3)
    settings = ModelSettings("n", protocol, model, "http://127.0.0.1:1", types=(kind,), dimensions=dimensions)
    assert create("n", settings, tmp_path) is not None
    assert list(tmp_path.iterdir()) == []


def test_every_preset_names_protocols_that_are_spoken() -> None:
    for name, preset in PRESETS.items():
        for kind, connection in preset.connections.items():
            assert connection.protocol in PROTOCOLS[kind], name


@pytest.mark.parametrize(
    ("create", "protocol"),
    [(create_embedder, "anthropic"), (create_generator, "built-in"), (create_generator, "tei"), (create_reranker, "x")],
)
def test_a_protocol_is_one_for_its_type_of_model(create: Callable[..., object], protocol: str, tmp_path: Path) -> None:
    settings = ModelSettings("x", protocol, "y", "http://127.0.0.1:1", types=("chat", "embedding", "rerank"))
    with pytest.raises(ConfigurationInvalid, match=r"models\.x\.protocol .*openai-compatible"):
        create("x", settings, tmp_path)


def test_making_a_model_loads_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from wenyuan.providers.registry import create_embedder, create_generator, create_reranker\n"
        "from wenyuan.providers.settings import ModelSettings\n"
        "create_embedder('a', ModelSettings('a', 'built-in', 'multilingual-e5-small'), Path(sys.argv[1]))\n"
        "create_embedder('b', ModelSettings('b', 'openai-compatible', 'b', base_url='http://h', dimensions=1),"
        " Path(sys.argv[1])).identity\n"
        "writer = ModelSettings('c', 'anthropic', 'c', base_url='http://h', types=('chat',))\n"
        "create_generator('c', writer, Path(sys.argv[1])).profile\n"
        "judge = ModelSettings('d', 'tei', 'd', base_url='http://h', types=('rerank',))\n"
        "create_reranker('d', judge, Path(sys.argv[1])).profile\n"
        "print(*sorted({'httpx2', 'httpcore2', 'fastembed', 'onnx', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
