"""Models of fastembed, with networks made here: the package is real, and nothing is downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.rerank.cross_encoder import TextCrossEncoder
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from tests.providers.embedder_contract import EmbedderContract
from tests.providers.reranker_contract import PASSAGES, QUESTION, RerankerContract
from wenyuan.errors import ConfigurationInvalid, DimensionMismatch, ProviderUnavailable
from wenyuan.ports import Embedder, Reranker
from wenyuan.providers.fastembed_models import FastembedEmbedder, FastembedReranker, create_embedder
from wenyuan.providers.settings import ModelSettings

EMBEDDER, JUDGE = "tests/embedder", "tests/judge"
DIMENSIONS = 16
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer and two networks: a table of vectors, and a count of the words that both texts have."""
    folder = tmp_path_factory.mktemp("models")
    words = [
        word.strip(".?,") for text in (QUESTION, *PASSAGES) for word in text.encode("utf-8", "replace").decode().split()
    ]
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys([*SPECIAL, *words, *letters]))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    settings = {"model_max_length": 512, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    onnx.save(_embedder_network(len(vocabulary)), folder / "embedder.onnx")
    onnx.save(_judge_network(len(vocabulary)), folder / "judge.onnx")
    TextEmbedding.add_custom_model(
        EMBEDDER, PoolingType.MEAN, True, ModelSource(hf="none/none"), DIMENSIONS, "embedder.onnx"
    )
    TextCrossEncoder.add_custom_model(JUDGE, ModelSource(hf="none/none"), "judge.onnx")
    return folder


def _inputs() -> list[Any]:
    return [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]


def _model(nodes: list[Any], outputs: list[Any], constants: list[Any]) -> Any:
    graph = helper.make_graph(nodes, "made-for-tests", _inputs(), outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _embedder_network(words: int) -> Any:
    """A vector for each word, by its number."""
    table = np.random.default_rng(7).normal(size=(words, DIMENSIONS)).astype(np.float32)
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", DIMENSIONS])
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    return _model([node], [output], [numpy_helper.from_array(table, "table")])


def _judge_network(words: int) -> Any:
    """For each pair how many of the words of one stand in the other as well."""
    constants = [
        numpy_helper.from_array(np.array(words, np.int64), "depth"),
        numpy_helper.from_array(np.array([0.0, 1.0], np.float32), "values"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "middle"),
        numpy_helper.from_array(np.array(1.0, np.float32), "one"),
    ]
    nodes = [
        helper.make_node("OneHot", ["input_ids", "depth", "values"], ["hot"], axis=-1),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Unsqueeze", ["first", "last"], ["of_first"]),
        helper.make_node("Unsqueeze", ["second", "last"], ["of_second"]),
        helper.make_node("Mul", ["hot", "of_first"], ["hot_first"]),
        helper.make_node("Mul", ["hot", "of_second"], ["hot_second"]),
        helper.make_node("ReduceMax", ["hot_first"], ["in_first"], axes=[1], keepdims=0),
        helper.make_node("ReduceMax", ["hot_second"], ["in_second"], axes=[1], keepdims=0),
        helper.make_node("Mul", ["in_first", "in_second"], ["in_both"]),
        helper.make_node("ReduceSum", ["in_both", "middle"], ["logits"], keepdims=1),
    ]
    return _model(nodes, [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])], constants)


def described(folder: Path, kind: str, **changes: Any) -> ModelSettings:
    model = EMBEDDER if kind == "embedding" else JUDGE
    values: dict[str, Any] = {
        "types": (kind,),
        "dimensions": DIMENSIONS if kind == "embedding" else 0,
        "options": {"specific_model_path": str(folder)},
        **changes,
    }
    return ModelSettings(kind, "fastembed", values.pop("model", model), **values)


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, folder: Path, tmp_path: Path) -> Embedder:
        return FastembedEmbedder(described(folder, "embedding"), tmp_path, lambda _: None)


class TestReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, folder: Path, tmp_path: Path) -> Reranker:
        return FastembedReranker(described(folder, "rerank"), tmp_path, lambda _: None)


def test_prefixes_are_put_before_texts(folder: Path, tmp_path: Path) -> None:
    settings = described(folder, "embedding", query_prefix="ferry ", passage_prefix="pier ")
    prefixed = FastembedEmbedder(settings, tmp_path, lambda _: None)
    plain = FastembedEmbedder(described(folder, "embedding"), tmp_path, lambda _: None)
    for side, text in (("query", "ferry leaves"), ("passage", "pier leaves")):
        assert np.allclose(prefixed.embed(["leaves"], side, 60.0), plain.embed([text], side, 60.0))  # type: ignore[arg-type]


def test_a_model_is_loaded_once_and_tells_so(folder: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    embedder = create_embedder(described(folder, "embedding"), tmp_path, messages.append)
    assert messages == []
    for _ in range(2):
        embedder.embed(["a"], "query", 60.0)
    assert len(messages) == 1
    assert EMBEDDER in messages[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "nobody/knows-this"},
        {"options": {"specific_model_path": "/nowhere", "local_files_only": True}},
        {"options": {"unheard_of": 1, "local_files_only": True}},
    ],
)
def test_a_model_that_cannot_be_loaded_is_unavailable(folder: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    embedder = FastembedEmbedder(described(folder, "embedding", **changes), tmp_path, lambda _: None)
    with pytest.raises(ProviderUnavailable, match="could not be loaded"):
        embedder.embed(["a"], "query", 60.0)


def test_dimensions_are_stated_and_are_those_of_the_model(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid, match=r"models\.embedding\.dimensions "):
        create_embedder(described(folder, "embedding", dimensions=0), tmp_path, lambda _: None)
    embedder = create_embedder(described(folder, "embedding", dimensions=3), tmp_path, lambda _: None)
    with pytest.raises(DimensionMismatch):
        embedder.embed(["a"], "query", 60.0)
