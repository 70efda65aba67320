"""A file that was made ready by the child arrives as it is, and nothing that the child could make up does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import ParserOutputTooLarge
from wenyuan.flows.prepare import prepare
from wenyuan.flows.prepared import Ending, Instructions, Prepared, Receiver
from wenyuan.flows.reading import Reading, cut
from wenyuan.language.postings import read_chunk
from wenyuan.language.vocabulary import EMPTY, Vocabulary
from wenyuan.parsers.wire import WireError, decode_message, encode_made
from wenyuan.rules.chunking import Chunker, Fed
from wenyuan.rules.embedding_input import embedding_input, input_hash
from wenyuan.types import Anchor, Block, Chunk, ChunkingConfig, Facts, Member, Notice, Posting, ReadEvent, TableRows

NO_LIMIT = 1 << 30
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
BLOCKS = st.builds(
    Block,
    st.sampled_from(["heading", "paragraph", "list", "table", "code"]),
    st.one_of(TEXT, st.just("水位。2026年3月8日，PPR-9087 正常。" * 9), st.just(" \n ")),
    st.builds(Anchor, st.sampled_from(["lines", "page"]), st.integers(1, 5), st.integers(5, 9), TEXT),
    st.lists(TEXT, max_size=2).map(tuple),
    st.sampled_from(["", "| 站 | 水位 |"]),
    st.sampled_from(["\n\n", "\n", "", " "]),
)


def instructions(target: int = 60, overlap: int = 0, title: str = "", vocabulary: Vocabulary = EMPTY) -> Instructions:
    return Instructions("水位 2026-03-08.md", title, ChunkingConfig(target, overlap), vocabulary)


def sent(events: Iterable[ReadEvent], how: Instructions) -> list[Any]:
    """What leaves the child, as it arrives, through the very bytes."""
    arguments = json.loads(json.dumps(how.encoded()))
    return [decode_message(encode_made(value)).value for value in prepare(events, arguments)]  # type: ignore[union-attr]


def received(values: Iterable[Any], most_bytes: int = NO_LIMIT) -> list[Prepared | Ending | Member | TableRows]:
    receiver = Receiver("a.md", most_bytes)
    return [receiver(value) for value in values]


def chunks_of(made: Sequence[Prepared | Ending | Member | TableRows]) -> list[tuple[Chunk, bytes]]:
    return [chunk for one in made if isinstance(one, Prepared) for chunk in one.chunks]


@given(st.lists(BLOCKS, max_size=12), st.integers(16, 200), st.booleans(), st.sampled_from(["", "日报"]))
def test_what_arrives_is_what_cutting_and_reading_give(
    blocks: list[Block], target: int, overlaps: bool, title: str
) -> None:
    how = instructions(target, target // 4 if overlaps else 0, title)
    made = received(sent([Facts("text/plain", "utf-8", language="zh"), Notice("n", "m"), *blocks], how))
    reading = Reading(facts=Facts("text/plain", "utf-8", language="zh"))
    pieces = [one for one in cut(blocks, Chunker(how.chunking), reading, title) if isinstance(one, Fed)]
    text = "".join(piece.text for piece in pieces)
    expected = [chunk for piece in pieces for chunk in piece.chunks]
    assert "".join(one.text for one in made if isinstance(one, Prepared)) == text
    assert [chunk for chunk, _ in chunks_of(made)] == expected
    assert [text[chunk.start : chunk.end] for chunk in expected] == [chunk.text for chunk, _ in chunks_of(made)]
    hashes = [input_hash(embedding_input(one.heading_path, one.context, one.text)) for one in expected]
    assert [digest for _, digest in chunks_of(made)] == hashes
    read = [read_chunk(how.name, chunk) for chunk in expected]
    assert [posting for one in made if isinstance(one, Prepared) for posting in one.postings] == [
        one for one, _ in read
    ]
    assert [key for one in made if isinstance(one, Prepared) for key in one.keys] == [
        k for _, keys in read for k in keys
    ]
    assert made[-1] == Ending(reading.whole(), (Notice("n", "m"),))
    assert reading.whole().quality["characters"] == len(text)


def test_a_long_file_comes_in_batches_that_need_little_of_what_came_before() -> None:
    blocks = (
        Block("paragraph", f"第{n}段。" + "水位正常，仪器已校准。" * 20, Anchor("lines", n, n)) for n in range(1, 4000)
    )
    made = received(sent(blocks, instructions(400, 100)))
    batches = [one for one in made if isinstance(one, Prepared)]
    assert len(batches) > 3
    assert max(len(one.chunks) for one in batches) <= 520
    assert [chunk.seq for chunk, _ in chunks_of(made)] == list(range(len(chunks_of(made))))


def test_a_language_is_recognised_where_the_file_names_none() -> None:
    made = received(
        sent([Facts("text/plain"), Block("paragraph", "水位正常。", Anchor("lines", 1, 1))], instructions())
    )
    assert made[-1] == Ending(Facts("text/plain", language="zh", quality={"characters": 5}), ())


def test_files_inside_of_a_file_arrive_whole_and_in_their_places() -> None:
    members = [Member("a/b.txt", b"one", "text/plain", is_last=False), Member("a/b.txt", b"two", "text/plain")]
    block = Block("paragraph", "水位正常。", Anchor("lines", 1, 1))
    made = received(sent([Facts("text/plain"), *members, block], instructions()))
    assert [one for one in made if isinstance(one, Member)] == members


@pytest.mark.parametrize(
    "piece",
    [
        *(["member"], ["member", "a", "!!", "", True], ["member", "a", "YQ==", "", 1], ["member", "a", "YQ==", ""]),
        *(["member", 1, "YQ==", "", True], ["member", "a", None, "", True]),
    ],
)
def test_what_is_no_file_inside_is_refused(piece: list[Any]) -> None:
    with pytest.raises(WireError):
        Receiver("a.zip", NO_LIMIT)(piece)


def test_more_files_inside_than_were_agreed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wenyuan.flows.prepared._MOST_MEMBER_BYTES", 10)
    receiver = Receiver("a.zip", NO_LIMIT)
    receiver(["member", "a", "YWFh", "", False])
    receiver(["member", "a", "YWFh", "", True])
    with pytest.raises(WireError):
        receiver(["member", "b", "YWFh", "", True])


def test_terms_of_the_vocabulary_are_read() -> None:
    block = Block("paragraph", "报名转换体验课", Anchor("lines", 1, 1))
    vocabulary = Vocabulary(("转换体验课",))
    (posting,) = (p for one in received(sent([block], instructions(vocabulary=vocabulary)))[:1] for p in postings(one))
    assert posting == read_chunk(instructions().name, chunk_of(block), vocabulary)[0]
    assert posting != read_chunk(instructions().name, chunk_of(block))[0]


def postings(made: Prepared | Ending | Member | TableRows) -> Sequence[Posting]:
    return made.postings if isinstance(made, Prepared) else ()


def chunk_of(block: Block) -> Chunk:
    return Chunk(0, block.text, 0, len(block.text), block.anchor)


def test_a_text_over_the_limit_is_refused() -> None:
    values = sent([Block("paragraph", "水" * 1000, Anchor("lines", 1, 1))], instructions())
    assert received(values, 3000)
    with pytest.raises(ParserOutputTooLarge):
        received(values, 2999)


ROW = [0, 4, "lines", 1, 1, "", [], 0, 0, "a b", "", 0]
PARTS = ("text", "settled", "heads", "contexts", "rows", "keys")
NO_PARTS: tuple[Any, ...] = (None, {})
KEY = [0, "date", "2026", "body", 1, 2]


def batch(**changed: Any) -> list[Any]:
    parts = {
        "text": "水位正常",
        "settled": 4,
        "heads": [[["标题"], "name", "heading"]],
        "contexts": [""],
        "rows": [ROW],
        "keys": [KEY],
    }
    return ["batch", *{**parts, **changed}.values()]


def with_item(row: list[Any], position: int, value: Any) -> list[Any]:
    return [*row[:position], value, *row[position + 1 :]]


def test_the_batch_that_is_spoilt_below_is_good() -> None:
    (made,) = received([batch()])
    assert isinstance(made, Prepared)
    assert made.chunks[0][0] == Chunk(0, "水位正常", 0, 4, Anchor("lines", 1, 1), ("标题",))
    assert len(made.keys) == len(made.postings) == 1


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1, "batch", [], ["batch"], ["what", 1], batch()[:-1], [*batch(), 1]),
        *(batch(**{name: wrong}) for name in PARTS for wrong in NO_PARTS),
        *(batch(rows=[with_item(ROW, position, None)]) for position in range(len(ROW))),
        *(batch(rows=[with_item(ROW, position, -1)]) for position in (0, 1, 3, 4, 7, 8, 11)),
        *(batch(rows=[with_item(ROW, position, 1 << 60)]) for position in (0, 1, 3, 4, 7, 8, 11)),
        *(batch(rows=[with_item(ROW, position, True)]) for position in (0, 1, 3, 4, 7, 8, 11)),
        *(batch(rows=[with_item(ROW, 1, end)]) for end in (0, 5)),
        *(batch(rows=[with_item(ROW, 2, "nowhere")]), batch(rows=[1]), batch(rows=[[]])),
        *(batch(keys=[with_item(KEY, position, None)]) for position in range(len(KEY))),
        *(batch(keys=[with_item(KEY, position, -1)]) for position in (0, 4, 5)),
        *(batch(keys=[with_item(KEY, position, "what")]) for position in (1, 3)),
        *(batch(keys=[with_item(KEY, 0, 1)]), batch(keys=[with_item(KEY, 5, 1 << 60)]), batch(keys=[1])),
        *(batch(heads=[head]) for head in (1, [], [["a"], "b"], [["a"], "b", 1], [[1], "b", "c"], ["a", 1, "c"])),
        *(batch(contexts=[1]), batch(settled=-1), batch(settled=5)),
        *(["end"], ["end", 1], ["end", ["notice", "a", "b"]], ["end", ["facts", "a", "b", "c", "d", [], {}]]),
        *(["end", ["facts", "a", "b", "c", "d", {}, {}], ["what"]], ["end", ["facts", "a", "b", "c", "d", {}, {}], 1]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_was_not_agreed_is_refused(value: Any) -> None:
    with pytest.raises(WireError):
        received([value])


def test_a_chunk_may_not_reach_into_text_that_was_given_up() -> None:
    assert received([batch(settled=2), batch(rows=[with_item(with_item(ROW, 0, 2), 1, 8)], settled=8)])
    with pytest.raises(WireError):
        received([batch(settled=2), batch(rows=[with_item(with_item(ROW, 0, 1), 1, 8)], settled=8)])


def test_text_that_no_chunk_ever_uses_up_is_refused() -> None:
    with pytest.raises(WireError):
        received([batch(text="水" * (1 << 24), rows=[], keys=[], settled=0), batch(rows=[], keys=[], settled=0)])
