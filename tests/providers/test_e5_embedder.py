"""The built-in model itself, converted and run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.providers.embedder_contract import EmbedderContract
from wenyuan.errors import BuiltInModelMissing, ConfigurationInvalid, ProviderTimeout
from wenyuan.ports import Embedder, Vectors
from wenyuan.providers.e5 import centring, weights
from wenyuan.providers.e5.model import DIMENSIONS, PREFIXES, E5Embedder, create
from wenyuan.providers.settings import BUILT_IN_MODEL, ModelSettings

SETTINGS = ModelSettings(BUILT_IN_MODEL, "built-in", "multilingual-e5-small")

QUESTIONS = [
    *("什么时候可以去图书馆？", "When may I go to the library?"),
    *("怎样备份数据库？", "How do I back up a database?"),
]
ANSWERS = [
    *("图书馆每天九点开门。", "The library opens at nine every day."),
    *("备份数据库用这个命令。", "This command makes a copy of the database."),
]


@pytest.fixture(scope="module")
def loaded(cache_directory: Path) -> E5Embedder:
    embedder = E5Embedder(cache_directory)
    embedder.prepare()
    return embedder


class TestContract(EmbedderContract):
    @pytest.fixture
    def embedder(self, loaded: E5Embedder) -> Embedder:
        return loaded


def _similarities(embedder: E5Embedder, questions: Sequence[str], answers: Sequence[str]) -> Vectors:
    return embedder.embed(questions, "query", 60.0) @ embedder.embed(answers, "passage", 60.0).T


def test_answers_are_nearer_than_other_passages_in_both_languages(loaded: E5Embedder) -> None:
    similarities = _similarities(loaded, QUESTIONS, ANSWERS)
    for subject in (slice(0, 2), slice(2, 4)):
        other = slice(2, 4) if subject.start == 0 else slice(0, 2)
        assert similarities[subject, subject].min() > similarities[subject, other].max()


def test_the_floor_stands_between_answers_and_the_rest(loaded: E5Embedder) -> None:
    floor = loaded.similarity_floor
    assert floor is not None
    similarities = _similarities(loaded, QUESTIONS, ANSWERS)
    assert similarities.diagonal().min() > floor
    assert similarities[:2, 2:].max() < floor
    assert similarities[2:, :2].max() < floor


def test_the_two_sides_are_embedded_differently(loaded: E5Embedder) -> None:
    query, passage = (loaded.embed(["机器学习"], side, 60.0) for side in ("query", "passage"))
    assert not np.array_equal(query, passage)


def test_only_the_first_tokens_reach_the_vector(loaded: E5Embedder) -> None:
    start = "词" * 2_000
    same, longer, other = loaded.embed([start, start + "尾巴", "头" + start], "passage", 60.0)
    assert np.array_equal(same, longer)
    assert not np.array_equal(same, other)


def test_a_vector_is_the_models_own_without_its_languages_mean(loaded: E5Embedder) -> None:
    for text in ("机器学习", "machine learning"):
        own = loaded.embed_uncentred([text], "query")[0]
        moved = own - centring.mean_of(text, "query")
        assert loaded.embed([text], "query", 60.0)[0] == pytest.approx(moved / np.linalg.norm(moved), abs=1e-6)


def test_the_means_fit_the_model_and_are_one_per_language_and_side() -> None:
    chinese, english, other = (centring.mean_of(text, "query") for text in ("中文", "English", "Ελληνικά"))
    assert chinese.shape == english.shape == (DIMENSIONS,)
    assert other == pytest.approx((chinese + english) / 2, abs=1e-6)
    assert not np.array_equal(chinese, centring.mean_of("中文", "passage"))
    for mean in (chinese, english):
        assert 0.5 < float(np.linalg.norm(mean)) < 1.0


def test_texts_get_the_mean_of_the_same_language_as_ever() -> None:
    """Vectors that are stored were centred by this rule: whoever changes it gives it another name in `centring`."""
    assert "language-of-1" in centring.means_identity()
    expected = {
        "zh": ["机器学习", "機器學習", "配置 PostgreSQL 的备份", "os.path.join 的用法"],
        "en": ["machine learning", "Der Zug fährt", "the term 数据 means data, in a longer sentence about it"],
        "other": ["機械学習とは何ですか", "기계 학습", "машинное обучение", "2026-01-02", ""],
    }
    for language, texts in expected.items():
        for text in texts:
            sample = {"zh": "中文", "en": "English", "other": "Ελληνικά"}[language]
            assert np.array_equal(centring.mean_of(text, "passage"), centring.mean_of(sample, "passage")), text


def test_its_identity_needs_neither_weights_nor_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "a_package_that_is_not_installed")
    identity = E5Embedder(tmp_path / "nowhere").identity
    assert identity.dimensions == DIMENSIONS
    assert (identity.query_prefix, identity.passage_prefix) == (PREFIXES["query"], PREFIXES["passage"])
    assert weights.SHA256 in identity.weights
    assert identity.means
    assert not (tmp_path / "nowhere").exists()


def test_other_means_make_another_model(cache_directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = E5Embedder(cache_directory).identity
    np.save(tmp_path / "means.npy", np.zeros((2, 2, DIMENSIONS), np.float32))
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    centring.means_identity.cache_clear()
    try:
        after = E5Embedder(cache_directory).identity
    finally:
        monkeypatch.undo()
        centring.means_identity.cache_clear()
    assert dataclasses.replace(after, means=before.means) == before
    assert after.means != before.means


def test_a_deadline_ends_a_batch(loaded: E5Embedder) -> None:
    with pytest.raises(ProviderTimeout):
        loaded.embed(["词" * 500] * 200, "passage", 0.05)


def test_without_its_weights_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "a_package_that_is_not_installed")
    with pytest.raises(BuiltInModelMissing, match="a_package_that_is_not_installed") as caught:
        E5Embedder(tmp_path).embed(["text"], "passage", 60.0)
    assert "OpenAI-compatible" in caught.value.advice


def test_another_built_in_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid, match="multilingual-e5-small"):
        create(dataclasses.replace(SETTINGS, model="another"), tmp_path, lambda _: None)


def test_the_settings_reach_the_embedder(tmp_path: Path) -> None:
    settings = dataclasses.replace(SETTINGS, max_batch_texts=3, max_batch_characters=99)
    embedder = create(settings, tmp_path, lambda _: None)
    assert (embedder.max_batch_texts, embedder.max_batch_characters) == (3, 99)


def test_more_threads_give_the_same_vectors(loaded: E5Embedder, cache_directory: Path) -> None:
    texts = ["长" * 300, "machine learning " * 40]
    two = E5Embedder(cache_directory, threads=2).embed(texts, "passage", 60.0)
    assert loaded.embed(texts, "passage", 60.0) == pytest.approx(two, abs=1e-3)
