"""How much text recognition a file may use: pages, time, memory; and what people are told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wenyuan.config import load_settings
from wenyuan.errors import ConfigurationInvalid, NeedsOcr, ParserCrashed, ParserTimeout
from wenyuan.parsers.pictures.recognition import (
    RECOGNISER_BYTES,
    SECONDS_PER_PAGE,
    ReadingSettings,
    Recognition,
    is_installed,
)
from wenyuan.parsers.pictures.recognition_notices import named_pages, scan_notices
from wenyuan.parsers.sandbox import ReadLimits, SandboxedReader
from wenyuan.parsers.wire import PageBegun, Request, decode_message, encode_page_begun

FILES = Path(__file__).parent.parent / "fixtures" / "files"
SCAN = FILES / "picture-scan-skewed.jpg"


# --- In this process --------------------------------------------------------------------------------


def test_each_page_gives_more_time_until_they_are_used_up() -> None:
    given: list[None] = []
    recognition = Recognition(ReadingSettings("fast", ocr_pages=2), lambda: given.append(None))
    assert recognition.for_a_page() is recognition.for_a_page() is not None
    assert recognition.is_used_up
    assert recognition.for_a_page() is None
    assert len(given) == 2


def test_nothing_is_recognised_where_it_is_switched_off() -> None:
    recognition = Recognition(ReadingSettings("off"), lambda: pytest.fail("no time is needed"))
    assert is_installed()
    assert not recognition.is_available
    assert recognition.for_a_page() is None


def test_people_are_told_which_pages_were_recognised() -> None:
    recognition = Recognition()
    assert list(scan_notices(recognition)) == []
    recognition.recognised_pages += [3, 4, 5, 9]
    recognition.doubtful_pages += [4]
    recognition.left_out_pages += [11, 12]
    recognised, doubtful, left_out = scan_notices(recognition)
    assert (recognised.code, doubtful.code, left_out.code) == (
        "page-recognised",
        "recognition-doubtful",
        "pages-not-recognised",
    )
    assert recognised.message == "The text of pages 3–5 and 9 was recognised from a picture."
    assert "page 4" in doubtful.message
    assert "pages 11–12 left out" in left_out.message


def test_pages_are_named_briefly() -> None:
    assert named_pages([1]) == "page 1"
    assert named_pages([1, 3, 4, 8]) == "pages 1, 3–4 and 8"
    assert named_pages(range(1, 900)) == "pages 1–899"
    assert named_pages(range(1, 900, 2)).endswith("39 and others")


# --- In the child process ---------------------------------------------------------------------------


LIMITS_STAGE = """
import resource

def limits(events, arguments):
    yield [*resource.getrlimit(resource.RLIMIT_CPU)[:1], *resource.getrlimit(resource.RLIMIT_AS)]
    text = "".join(getattr(event, "text", "") for event in events)
    yield [*resource.getrlimit(resource.RLIMIT_CPU)[:1], *resource.getrlimit(resource.RLIMIT_AS)]
    yield text
"""


def test_a_page_gets_its_own_time_and_the_recogniser_its_own_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "limits_stage.py").write_text(LIMITS_STAGE, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # Less memory than the recogniser takes.
    limits = ReadLimits(parse_memory_bytes=400 << 20)
    with SandboxedReader(limits) as reader:
        request = Request(str(SCAN), "scan.jpg", stage="limits_stage:limits")
        before, after, text = reader.make(request, lambda value: value)
    assert text.startswith("员工手册")
    assert before[1:] == [400 << 20, (400 << 20) + RECOGNISER_BYTES]
    assert after[1:] == [(400 << 20) + RECOGNISER_BYTES] * 2
    assert after[0] == pytest.approx(before[0] + SECONDS_PER_PAGE, abs=1)


def test_the_child_is_told_that_nothing_is_to_be_recognised() -> None:
    with SandboxedReader(ReadLimits(), ReadingSettings("off")) as reader, pytest.raises(NeedsOcr):
        list(reader.read(SCAN, "scan.jpg"))


ENDLESS_PAGES = """
import os, sys, time
sys.stdin.readline()
line = {line!r}
for _ in range({count}):
    os.write(1, line)
time.sleep(60)
"""


@pytest.mark.parametrize(("count", "error"), [(2, ParserTimeout), (3, ParserCrashed)])
def test_a_child_gets_no_time_for_more_pages_than_there_may_be(
    count: int, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "wenyuan" / "parsers"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "child.py").write_text(ENDLESS_PAGES.format(line=encode_page_begun(), count=count), "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("wenyuan.parsers.sandbox.SECONDS_PER_PAGE", 0.1)
    limits, settings = ReadLimits(parse_seconds=2), ReadingSettings(ocr_pages=2)
    with SandboxedReader(limits, settings) as reader, pytest.raises(error):
        list(reader.read(SCAN, "scan.jpg"))


def test_a_page_travels() -> None:
    assert isinstance(decode_message(encode_page_begun()), PageBegun)


# --- Settings ---------------------------------------------------------------------------------------


def test_recognition_is_a_setting(tmp_path: Path) -> None:
    assert load_settings(tmp_path, {}).reading == ReadingSettings("auto", 1000)
    assert load_settings(tmp_path, {"WENYUAN_READING_OCR": "off"}).reading.ocr == "off"
    (tmp_path / "wenyuan.toml").write_text('[reading]\nocr = "sometimes"\n', "utf-8")
    with pytest.raises(ConfigurationInvalid, match="auto, fast, off"):
        load_settings(tmp_path, {})
