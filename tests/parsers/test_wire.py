from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan import errors
from wenyuan.parsers.wire import (
    Done,
    Made,
    Request,
    WireError,
    decode_message,
    decode_request,
    encode_done,
    encode_error,
    encode_events,
    encode_made,
    encode_request,
)
from wenyuan.types import ANCHOR_KINDS, Anchor, Block, BlockKind, Box, Facts, Member, Notice, ReadEvent

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ANCHORS = st.builds(
    Anchor,
    st.sampled_from(ANCHOR_KINDS),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    TEXT,
    st.none() | st.tuples(st.integers(1, 1 << 14), st.integers(1, 1 << 14)),
    st.lists(st.builds(Box, *[st.integers(0, 10**6)] * 5), max_size=3).map(tuple),
)
BLOCKS = st.builds(
    Block, st.sampled_from(get_args(BlockKind)), TEXT, ANCHORS, st.lists(TEXT, max_size=3).map(tuple), TEXT, TEXT
)
FACTS = st.builds(Facts, TEXT, TEXT, TEXT, TEXT, *[st.dictionaries(TEXT, JSON, max_size=3)] * 2)
MEMBERS = st.builds(Member, TEXT, st.binary(max_size=20), TEXT, st.booleans())
EVENTS = st.lists(st.one_of(BLOCKS, FACTS, MEMBERS, st.builds(Notice, TEXT, TEXT)), max_size=5)


@given(EVENTS)
def test_events_arrive_as_they_left(events: list[ReadEvent]) -> None:
    line = encode_events(events)
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert decode_message(line) == events


@given(st.text(st.characters(categories=["Cs", "Lo"]), max_size=10))
def test_lone_surrogates_do_not_stop_a_document(text: str) -> None:
    (event,) = decode_message(encode_events([Notice("x", text)]))  # type: ignore[misc]
    assert isinstance(event, Notice)
    event.message.encode()
    kept = [character for character in text if not "\ud800" <= character <= "\udfff"]
    assert [character for character in event.message if character != "\ufffd" and character < "\U00010000"] == [
        character for character in kept if character < "\U00010000"
    ]


def test_done_and_requests_arrive() -> None:
    assert isinstance(decode_message(encode_done()), Done)
    for request in (
        Request("/a/\udcff.txt", "文.txt"),
        Request("/a", "a", "text/plain", "m:f", ["x", 1, {"y": None}], "密码 p"),
    ):
        assert decode_request(encode_request(request)) == request


@given(JSON)
def test_what_a_stage_made_arrives(value: object) -> None:
    assert decode_message(encode_made(value)) == Made(value)


@pytest.mark.parametrize("escape", [rb"\ud800", rb"\uDFFF", rb"\\\\\udBaB"])
def test_half_a_character_is_refused(escape: bytes) -> None:
    with pytest.raises(WireError):
        decode_message(b'["made", "' + escape + b'"]')


@pytest.mark.parametrize("text", ["\\ud800", "\\\\uDFFF", "\\u0041"])
def test_what_only_looks_like_an_escape_arrives(text: str) -> None:
    assert decode_message(encode_made(text)) == Made(text)


def test_what_is_no_number_arrives_as_text() -> None:
    assert decode_message(b'["made", [NaN, -Infinity]]') == Made(["NaN", "-Infinity"])


@pytest.mark.parametrize("kind", errors.DocumentError.__subclasses__())
def test_every_document_error_arrives_as_itself(kind: type[errors.DocumentError]) -> None:
    sent = kind(name="n", path="p", reason="r", size=3, limit=4, seconds="1", media_type="m", format="f")
    received = decode_message(encode_error(sent))
    assert type(received) is kind
    assert isinstance(received, errors.DocumentError)
    assert (received.message, received.advice) == (sent.message, sent.advice)


GOOD_BLOCK = ["paragraph", "text", "lines", 1, 1, "", [], [], "", ""]


@pytest.mark.parametrize(
    "message",
    [
        *(None, 1, [], ["events"], ["events", 1], ["what"], {"events": []}, ["done", 1], ["error", "no-such-code", {}]),
        *(["error", "parser-crashed"], ["error", 1, {}], ["error", "kb-exists", {}], ["events", [1]], ["events", [[]]]),
        *(["events", [["notice", 1, "x"]]], ["events", [["facts", "a", "b", "c", "d", [], {}]]], ["events", [[["x"]]]]),
        *(["events", [[*GOOD_BLOCK[:index], None, *GOOD_BLOCK[index + 1 :]]]] for index in range(10)),
        *(["events", [[*GOOD_BLOCK[:2], "nowhere", *GOOD_BLOCK[3:]]]], ["events", [[*GOOD_BLOCK[:7], [1], "", ""]]]),
        *(
            ["events", [[*GOOD_BLOCK[:6], wrong, *GOOD_BLOCK[7:]]]]
            for wrong in ([1], [1, 2, 3], [0, 0, 1, -1, 1, 1, 1])
        ),
        *(["events", [[*GOOD_BLOCK[:6], wrong, *GOOD_BLOCK[7:]]]] for wrong in ([1, "2"], [0.5, 2], [True, True])),
        *(["events", [[*GOOD_BLOCK, "more"]]], ["events", [[*GOOD_BLOCK[:3], True, 1, "", [], [], "", ""]]]),
    ],
)
def test_what_was_not_agreed_is_refused(message: Any) -> None:
    assert decode_message(json.dumps(["events", [GOOD_BLOCK]]).encode())
    with pytest.raises(WireError):
        decode_message(json.dumps(message).encode())


@given(st.binary(max_size=40))
def test_noise_is_refused(line: bytes) -> None:
    with pytest.raises(WireError):
        decode_message(b"[" + line)
