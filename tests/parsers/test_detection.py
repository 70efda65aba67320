from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from wenyuan.errors import FileBinary, FileEmpty, UnsupportedType
from wenyuan.parsers.detection import detect, type_by_name
from wenyuan.parsers.reading import read_file

OFFICE = "application/vnd.openxmlformats-officedocument"
ODT = "application/vnd.oasis.opendocument.text"
PAGE = "<!DOCTYPE html>\n<html><body><p>正文</p></body></html>"


def detected(folder: Path, name: str, content: bytes | str) -> tuple[str, list[str]]:
    path = folder / "stored"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    found = detect(path, name)
    return found.media_type, [notice.code for notice in found.notices]


def archive(*members: str, first: tuple[str, str] | None = None) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as file:
        if first:
            file.writestr(zipfile.ZipInfo(first[0]), first[1])
        for member in members:
            file.writestr(member, "x" * 5000)
    return output.getvalue()


def entry(name: str) -> bytes:
    encoded = name.encode("utf-16-le")
    return encoded.ljust(64, b"\0") + (len(encoded) + 2).to_bytes(2, "little") + bytes(62)


def ole(stream: str) -> bytes:
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    header[30:32] = (9).to_bytes(2, "little")
    header[48:52] = (2).to_bytes(4, "little")
    return bytes(header) + bytes(2 * 512) + entry(stream).ljust(512, b"\0")


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("a.txt", "文字", "text/plain"),
        ("README", "文字", "text/plain"),
        ("a.md", "<html> is an element", "text/markdown"),
        ("A.MARKDOWN", "x", "text/markdown"),
        ("a.html", "<p>x", "text/html"),
        ("a.json", '{"a": 1}', "application/json"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "application/x-ndjson"),
        ("a.jsonl", '{"a": 1}', "application/x-ndjson"),
        ("unnamed", ' {"key": 1}', "application/json"),
        ("unnamed", '{"key": 1}\n{"key": 2}', "application/x-ndjson"),
        ("unnamed", PAGE, "text/html"),
        ("unnamed", "<?xml version='1.0'?>\n<!-- c -->\n<HTML>", "text/html"),
        ("unnamed", "[1] 参考文献", "text/plain"),
        ("unnamed", "#!/usr/bin/env python3\nx = 1", "text/x-python"),
        ("unnamed", "#!/bin/sh\necho", "text/x-shell"),
        ("a.csv", "a,b", "text/csv"),
        ("a.tsv", "a\tb", "text/tab-separated-values"),
        ("a.py", "x = 1", "text/x-python"),
        ("a.YML", "x: 1", "text/x-yaml"),
        ("a.toml", "x = 1", "text/x-toml"),
        ("a.xml", "<a/>", "text/x-xml"),
        ("Dockerfile", "FROM scratch", "text/x-dockerfile"),
        ("a.txt", "MZ is a country code, BM another; ID3 a tag.", "text/plain"),
        ("a.txt", "中文".encode("utf-16-le"), "text/plain"),
        ("a.txt", b"a stray zero\0 in a text", "text/plain"),
        ("unnamed", "Return-Path: <a@b>\nReceived: by x\n\ty\nSubject: z\n\nbody", "message/rfc822"),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
        ("a.pdf", b"junk\n%PDF-1.7\n", "application/pdf"),
        ("a.md", "How it begins:\n%PDF-1.7\n", "text/markdown"),
        ("a.msg", ole("__properties_version1.0").replace(bytes(9), b"%PDF-1.7\n", 1), "application/vnd.ms-outlook"),
        ("a.docx", archive("word/document.xml"), f"{OFFICE}.wordprocessingml.document"),
        ("a.xlsx", archive("xl/workbook.xml"), f"{OFFICE}.spreadsheetml.sheet"),
        ("a.odt", archive(first=("mimetype", ODT)), ODT),
        ("a.epub", archive("x", first=("mimetype", "application/epub+zip")), "application/epub+zip"),
        ("a.zip", archive("a.txt"), "application/zip"),
        ("broken.docx", archive("word/document.xml")[:900], f"{OFFICE}.wordprocessingml.document"),
        ("a.doc", ole("WordDocument"), "application/msword"),
        ("a.xlsx", ole("EncryptedPackage"), "application/x-ole-encrypted"),
        ("a.doc", ole("Unknown"), "application/msword"),
        ("unnamed", ole("Unknown"), "application/x-ole-storage"),
        ("a.msg", ole("__properties_version1.0"), "application/vnd.ms-outlook"),
        ("a.xls", ole("Book"), "application/vnd.ms-excel"),
        ("a.docm", archive("word/document.xml"), f"{OFFICE}.wordprocessingml.document"),
        ("a.xltm", archive("[Content_Types].xml", "xl/book1.xml"), f"{OFFICE}.spreadsheetml.sheet"),
        ("a.pptm", archive("PPT/presentation.xml"), f"{OFFICE}.presentationml.presentation"),
        ("a.xlsb", archive("xl/workbook.bin"), "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
        ("a.ods", archive("content.xml", first=("x", "")) , "application/vnd.oasis.opendocument.spreadsheet"),
        ("unnamed", archive("a.txt", "OFD.xml"), "application/ofd"),
        ("a.ipynb", '{"cells": [{"cell_type": "code"}], "nbformat": 4}', "application/x-ipynb+json"),
        ("unnamed", '{"cells": [{"cell_type": "code"}], "nbformat": 4}', "application/x-ipynb+json"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n你好\n", "application/x-subrip"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", "text/vtt"),
        ("unnamed", "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", "text/vtt"),
        ("a.mbox", "From a@b Fri Jan  5 10:00:00 2024\nSubject: x\n\nbody", "application/mbox"),
        ("Inbox", "From a@b Fri Jan  5 10:00:00 2024\nSubject: x\n\nbody", "application/mbox"),
        ("a.eml", "From: a@b\nSubject: x\n\nbody", "message/rfc822"),
        ("a.eml", "From: a@b\nSubject: x\n\nbody".encode("utf-16"), "message/rfc822"),
        ("a.mht", "From: <Saved by Blink>\nSubject: x\n\nbody", "message/rfc822"),
        ("unnamed", "From: a@b\nTo: c@d\nSubject: x\n\nbody", "message/rfc822"),
        ("letter.txt", "From: a@b\nTo: c@d\nSubject: x\n\nbody", "text/plain"),
        ("a.rtf", r"{\rtf1 x}", "application/rtf"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(20), "image/png"),
        ("a.exe", b"MZ\x90\0" + bytes(60), "application/vnd.microsoft.portable-executable"),
        ("a.out", b"\x7fELF" + bytes(60), "application/x-executable"),
    ],
)  # fmt: skip
def test_types_are_recognised(tmp_path: Path, name: str, content: bytes | str, media_type: str) -> None:
    assert detected(tmp_path, name, content) == (media_type, [])


@pytest.mark.parametrize("name", ["report.pdf", "report.docx", "notes.txt", "data.csv", "data.json"])
def test_a_page_under_another_name_is_read_as_a_page(tmp_path: Path, name: str) -> None:
    assert detected(tmp_path, name, PAGE) == ("text/html", ["type-contradicts-name"])


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("a.docx", b"%PDF-1.7\n", "application/pdf"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(20), "image/png"),
        ("a.doc", r"{\rtf1 x}", "application/rtf"),
        ("a.doc", archive("word/document.xml"), f"{OFFICE}.wordprocessingml.document"),
        ("a.xlsx", archive("word/document.xml"), f"{OFFICE}.wordprocessingml.document"),
        ("a.xls", "<html><table>", "text/html"),
        ("a.xls", "a\tb\n1\t2", "text/plain"),
        ("a.txt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", "text/vtt"),
        ("a.txt", "1\n00:00:01,000 --> 00:00:02,000\n你好\n", "application/x-subrip"),
        ("a.srt", "no times at all", "text/plain"),
        ("a.txt", "Return-Path: <a@b>\nReceived: by x\n\ty\nSubject: z\n\nbody", "message/rfc822"),
        ("a.ipynb", "not a notebook", "text/plain"),
        ("a.xlsx", ole("WordDocument"), "application/msword"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_told(tmp_path: Path, name: str, content: bytes | str, media_type: str) -> None:
    assert detected(tmp_path, name, content) == (media_type, ["type-contradicts-name"])


def test_text_under_the_name_of_a_picture(tmp_path: Path) -> None:
    assert detected(tmp_path, "scan.png", "只是文字") == ("text/plain", ["type-contradicts-name"])


def test_files_without_a_name_are_what_their_content_says() -> None:
    files = [path for path in (Path(__file__).parent.parent / "fixtures" / "files").iterdir() if path.suffix != ".md"]
    assert len(files) > 10
    for path in files:
        found = detect(path, path.name)
        assert found.notices == (), path.name
        assert detect(path, "unnamed").media_type == found.media_type, path.name
        assert found.media_type not in ("application/zip", "application/x-ole-storage", "text/plain"), path.name


def test_nothing_and_noise(tmp_path: Path) -> None:
    with pytest.raises(FileEmpty):
        detected(tmp_path, "a.txt", b"")
    for content in (bytes(1000), bytes(range(256)) * 8, b"text, then " + bytes(range(32)) * 20):
        with pytest.raises(FileBinary):
            detected(tmp_path, "a.txt", content)


def test_what_is_not_read_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.psd"
    path.write_bytes(b"8BPS\0\1" + bytes(20))
    with pytest.raises(UnsupportedType, match=r"a\.psd looks like a Photoshop picture \(image/vnd.adobe.photoshop\)"):
        list(read_file(path, "a.psd"))


def test_type_by_name_knows_only_text() -> None:
    assert type_by_name("x.pdf") == ""
    assert type_by_name("CMakeLists.txt") == "text/x-cmake"
