from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenyuan.errors import EncodingUnknown, FileUnreadable, FileVanished
from wenyuan.parsers.text.decoding import Encoding, TolerantDecoder, decoded_pieces, recognise_encoding

SIMPLIFIED = "第三章 退货规则：自签收之日起七日内可申请无理由退货。\n"
TRADITIONAL = "中文合約轉換體驗課問題：請於簽收後七日內提出申請，逾期恕不受理。\n"
JAPANESE = "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n"
KOREAN = "모든 국민은 법 앞에 평등하다. 누구든지 성별에 의하여 차별을 받지 아니한다.\n"
FRENCH = "Les élèves français étudient où ils peuvent ; le café est très bon.\n"


def read(tmp_path: Path, content: bytes, declared: str = "") -> tuple[str, Encoding]:
    path = tmp_path / "file"
    path.write_bytes(content)
    encoding = recognise_encoding(path, "file.txt", declared)
    return "".join(decoded_pieces(path, encoding)), encoding


@pytest.mark.parametrize(
    ("text", "codec", "recognised"),
    [
        (SIMPLIFIED, "utf-8", "utf-8"),
        (SIMPLIFIED, "gb2312", "gb18030"),
        (SIMPLIFIED, "gbk", "gb18030"),
        ("生僻字：𠮷野家、㐂、䶮，都要保留。\n", "gb18030", "gb18030"),
        ("ASCII header line.\n" * 300 + SIMPLIFIED, "gb18030", "gb18030"),
        ("ASCII header line.\n" * 60_000 + SIMPLIFIED, "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5hkscs"),
        (TRADITIONAL, "gbk", "gb18030"),
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "cp949", "cp949"),
        (FRENCH, "cp1252", "cp1252"),
        ("It’s “quoted” – text…\n", "cp1252", "cp1252"),
        ("Plain ASCII.\n", "ascii", "utf-8"),
        (SIMPLIFIED, "utf-16-le", "utf-16-le"),
        (SIMPLIFIED, "utf-16-be", "utf-16-be"),
        ("Plain ASCII.\n", "utf-16-le", "utf-16-le"),
        (SIMPLIFIED, "utf-16", "utf-16-le"),
        (SIMPLIFIED, "utf-8-sig", "utf-8"),
        (SIMPLIFIED, "utf-32", "utf-32-le"),
    ],
)
def test_texts_are_read_in_their_own_encoding(tmp_path: Path, text: str, codec: str, recognised: str) -> None:
    got, encoding = read(tmp_path, text.encode(codec))
    assert got == text
    assert (encoding.codec, encoding.notices) == (recognised, ())


def test_a_text_cut_short_has_one_replacement_and_a_notice(tmp_path: Path) -> None:
    content = SIMPLIFIED.encode()[:-2]
    got, encoding = read(tmp_path, content)
    assert got == SIMPLIFIED[:-2] + "\ufffd"
    (notice,) = encoding.notices
    assert notice.code == "cut-inside-character"
    assert f"byte offset {len(content) - 2}" in notice.message


@pytest.mark.parametrize("codec", ["utf-8", "gb18030"])
def test_a_bad_byte_is_named_with_its_offset(tmp_path: Path, codec: str) -> None:
    before = "正常的中文内容，后面有一个坏字节：".encode(codec)
    got, encoding = read(tmp_path, before + b"\xff" + "结尾没有问题。".encode(codec))
    assert got == "正常的中文内容，后面有一个坏字节：\ufffd结尾没有问题。"
    assert encoding.codec == codec
    (notice,) = encoding.notices
    assert notice.code == "undecodable-bytes"
    assert f"byte offset {len(before)}" in notice.message


@pytest.mark.parametrize("length", [100, 2_500, 25_000, 600_000])
@pytest.mark.parametrize("beyond_ascii", ["the keeper’s log ", "Zoë lit it ", "船 ", "pages 3–5 "])
@pytest.mark.parametrize("stray", [b"\xff", b"\x80", b"\xe2\x80", b"\xf0\x9f\x8e", b"\xc3"])
def test_a_stray_byte_in_english_utf8_is_one_replacement(
    tmp_path: Path, stray: bytes, beyond_ascii: str, length: int
) -> None:
    words = "the ferry leaves at nine " * (length // 25)
    got, encoding = read(tmp_path, (beyond_ascii + words).encode() + stray + b" the end")
    assert got == beyond_ascii + words + "\ufffd the end"
    assert encoding.codec == "utf-8"
    (notice,) = encoding.notices
    assert notice.code == "undecodable-bytes"
    assert f"byte offset {len((beyond_ascii + words).encode())};" in notice.message


def test_more_stray_bytes_than_right_characters_are_no_utf8(tmp_path: Path) -> None:
    words = b"the ferry leaves at nine " * 100
    assert read(tmp_path, "’ ".encode() + words + b"\xff \x81 "[:2])[1].codec == "utf-8"
    with pytest.raises(EncodingUnknown):
        read(tmp_path, "’ ".encode() + words + b"\xff \x81 ")
    with pytest.raises(EncodingUnknown):
        read(tmp_path, "’ ".encode() + words[:20] + b"\xff ")
    with pytest.raises(EncodingUnknown):
        read(tmp_path, "’ ".encode() + words + b"\xff" + b"\0" * 400)


@pytest.mark.parametrize("codec", ["gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "cp1252"])
def test_a_few_words_of_another_encoding_in_english_are_not_taken_for_utf8(tmp_path: Path, codec: str) -> None:
    said = {"gb18030": SIMPLIFIED, "big5hkscs": TRADITIONAL, "cp949": KOREAN, "cp1252": FRENCH}.get(codec, JAPANESE)
    text = "the ferry leaves at nine \n" * 100 + said
    got, encoding = read(tmp_path, text.encode(codec))
    assert (got, encoding.codec, encoding.notices) == (text, codec, ())


def test_a_declaration_counts_if_it_decodes(tmp_path: Path) -> None:
    short = "资料".encode("gbk")
    assert read(tmp_path, short, "gb2312")[0] == "资料"
    assert read(tmp_path, "資料".encode("big5"), "big5")[0] == "資料"
    # A page that says GBK and is valid UTF-8 is UTF-8.
    assert read(tmp_path, SIMPLIFIED.encode(), "gbk")[0] == SIMPLIFIED
    # A declaration that is no text encoding, or none at all, is no evidence.
    for nonsense in ("hex", "utf-7", "unicode_escape", "no-such", "\0", "x" * 100):
        assert read(tmp_path, SIMPLIFIED.encode("gbk"), nonsense)[0] == SIMPLIFIED


def test_noise_is_not_text(tmp_path: Path) -> None:
    for seed in range(20):
        noise = bytes((seed * 7919 + number * number * 104729) >> 3 & 0xFF for number in range(2000))
        with pytest.raises(EncodingUnknown):
            read(tmp_path, noise)


def test_newlines_and_control_characters(tmp_path: Path) -> None:
    got, _ = read(tmp_path, b"one\r\ntwo\rthree\nfour\0\x07\x1b[0m\tfive\x0csix\r")
    assert got == "one\ntwo\nthree\nfour[0m\tfive six\n"


def test_a_newline_across_pieces_is_one(tmp_path: Path) -> None:
    content = b"x" * ((1 << 18) - 1) + b"\r\n" + b"y"
    assert read(tmp_path, content)[0].count("\n") == 1


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileVanished):
        recognise_encoding(tmp_path / "gone", "gone")
    with pytest.raises(FileUnreadable):
        recognise_encoding(tmp_path, "folder")


@given(
    st.text(st.sampled_from("a1字𠮷é。"), max_size=30),
    st.sampled_from(["utf-8", "gb18030", "utf-16-le"]),
    st.lists(st.integers(1, 5), max_size=60),
    st.binary(max_size=3),
)
def test_decoding_does_not_depend_on_the_pieces(text: str, codec: str, sizes: list[int], junk: bytes) -> None:
    data = text.encode(codec) + junk + text.encode(codec)
    whole, pieces = TolerantDecoder(codec), TolerantDecoder(codec)
    expected = whole.decode(data, final=True)
    got = ""
    rest = data
    for size in sizes:
        got += pieces.decode(rest[:size])
        rest = rest[size:]
    got += pieces.decode(rest, final=True)
    assert got == expected
    assert (pieces.faults, pieces.first_fault, pieces.cut_at) == (whole.faults, whole.first_fault, whole.cut_at)


@given(st.binary(max_size=300))
@settings(max_examples=50)
def test_any_bytes_are_text_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any"
        path.write_bytes(content)
        try:
            encoding = recognise_encoding(path, "any")
        except EncodingUnknown:
            return
        text = "".join(decoded_pieces(path, encoding))
        assert "\0" not in text
        assert "\r" not in text


def test_many_bad_bytes_in_a_large_text_cost_little(tmp_path: Path) -> None:
    """One bad byte in forty: every one is counted, and the text around it kept."""
    line = "正常的中文内容，足够长。".encode() + b"\xff\n"
    got, encoding = read(tmp_path, line * 30_000)
    assert got.count("\ufffd") == 30_000
    assert encoding.notices[0].message.startswith("30000 bytes are not valid utf-8, the first at byte offset 36;")
