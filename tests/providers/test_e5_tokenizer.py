"""Our tokenizer against the reference implementation of the same algorithm, over the same vocabulary."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as ReferenceTokenizer
from tokenizers import models, pre_tokenizers, processors

from wenyuan.providers.e5.convert import converted_folder
from wenyuan.providers.e5.tokenizer import Tokenizer, write_tables
from wenyuan.providers.e5.weights import Weights, find_weights, open_weights

SENTENCES = [
    "《战国无双3》是由光荣和ω-force开发的战国无双系列的正统第三续作。",
    "在歐洲，梵語的學術研究，由德國學者陸特和漢斯雷頓開創。",
    "The Normans (Norman: Nourmands; French: Normands) were the people who gave their name to Normandy.",
    "os.path.join(path, *paths) 智能地拼接一个或多个路径部分。",
    "価格は１２３円（税込）です。ﬁne ﬂuﬀ ①②③ ㎏ ﷺ",
    "naïve café — e\u0301 \u200b zero width, tabs\tand\nlines   and   spaces ",
    "𠀀𠀁 rare, 😀👩‍👩‍👧‍👦 common, \ue000\ue001\ue002 private",
    "",
    " ",
    "▁▁ already marked",
]


@pytest.fixture(scope="module")
def weights() -> Weights:
    return open_weights(find_weights())


@pytest.fixture(scope="module")
def tokenizer(cache_directory: Path) -> Tokenizer:
    return Tokenizer(converted_folder(cache_directory, lambda _: None))


@pytest.fixture(scope="module")
def reference(weights: Weights) -> ReferenceTokenizer:
    pieces = list(zip(weights.pieces, weights.scores.tolist(), strict=True))
    reference = ReferenceTokenizer(models.Unigram(pieces, unk_id=weights.special.unknown))
    reference.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    reference.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", weights.special.begin), ("</s>", weights.special.end)]
    )
    return reference


def _expected(reference: ReferenceTokenizer, weights: Weights, text: str) -> list[int]:
    normal = unicodedata.normalize("NFC", text).translate(weights.normalisation)
    ids: list[int] = reference.encode(re.sub(" {2,}", " ", normal)).ids
    return ids


@pytest.mark.parametrize("text", SENTENCES[:-3])
def test_sentences_are_cut_like_the_reference_cuts_them(
    tokenizer: Tokenizer, reference: ReferenceTokenizer, weights: Weights, text: str
) -> None:
    assert tokenizer.encode("passage: " + text, 512) == _expected(reference, weights, "passage: " + text)


CHARACTERS = "，。的一是abcé１ﬁ😀\ue000"
WORDS = st.sampled_from([word for sentence in SENTENCES for word in sentence.split()] + list(CHARACTERS))
TEXTS = st.lists(WORDS | st.text(st.characters(exclude_characters="▁<"), max_size=8), max_size=12)


@settings(max_examples=300)
@given(words=TEXTS, space=st.sampled_from(["", " ", "  "]))
def test_any_text_is_cut_like_the_reference_cuts_it(
    tokenizer: Tokenizer, reference: ReferenceTokenizer, weights: Weights, words: list[str], space: str
) -> None:
    text = "query: " + space.join(words)
    encodable = text.encode("utf-8", "replace").decode()
    assert tokenizer.encode(encodable, 10_000) == _expected(reference, weights, encodable)


def test_names_of_special_tokens_in_a_text_are_text(tokenizer: Tokenizer, weights: Weights) -> None:
    special = {weights.special.begin, weights.special.end, weights.special.padding, len(weights.pieces) - 1}
    ids = tokenizer.encode("<s>struck</s> <mask> <pad>", 512)
    assert special.isdisjoint(ids[1:-1])
    assert (ids[0], ids[-1]) == (weights.special.begin, weights.special.end)


@given(text=st.sampled_from(["word ", "长", "\ue000", "😀 "]), limit=st.integers(2, 512))
def test_no_more_than_the_limit_is_returned(tokenizer: Tokenizer, text: str, limit: int) -> None:
    complete = tokenizer.encode(text * 600, 10_000)
    ids = tokenizer.encode(text * 600, limit)
    assert len(ids) == min(limit, len(complete))
    assert ids[:-1] == complete[: len(ids) - 1]
    assert ids[-1] == complete[-1]


@given(
    st.dictionaries(st.text(st.sampled_from("▁abc文"), min_size=1, max_size=4), st.integers(-20, -1), min_size=1),
    st.text(st.sampled_from("abc文 x"), max_size=20),
)
def test_a_word_is_cut_where_the_sum_of_scores_is_greatest(
    tmp_path_factory: pytest.TempPathFactory, vocabulary: dict[str, int], text: str
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    pieces = ["<s>", "</s>", "<unk>", *vocabulary]
    scores = np.array([0, 0, 0, *vocabulary.values()], np.float32)
    write_tables(folder, pieces, scores, {}, special={0, 1, 2}, begin=0, end=1, unknown=2)
    ids = Tokenizer(folder).encode(text, 512)[1:-1]
    unknown_score = float(scores.min()) - 10
    words = ["▁" + word for word in re.sub(" {2,}", " ", text).removeprefix(" ").split(" ")]
    known = [piece for piece in ids if piece != 2]
    # A run of unknown characters is one piece, so they are counted by what the known ones leave.
    unknown_characters = len("".join(words)) - sum(len(pieces[piece]) for piece in known)
    found = float(scores[known].sum()) + unknown_characters * unknown_score
    assert found == pytest.approx(sum(_best_score(word, vocabulary, unknown_score) for word in words))


def _best_score(word: str, vocabulary: dict[str, int], unknown_score: float) -> float:
    """The greatest sum of scores of all ways to cut a word, found by trying every way."""
    best = [0.0]
    for end in range(1, len(word) + 1):
        ways = [best[end - 1] + unknown_score]
        ways += [best[start] + vocabulary[word[start:end]] for start in range(end) if word[start:end] in vocabulary]
        best.append(max(ways))
    return best[-1]
