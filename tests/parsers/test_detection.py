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


def ole(stream: str) -> bytes:
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    header[30:32] = (9).to_bytes(2, "little")
    header[48:52] = (2).to_bytes(4, "little")
    return bytes(header) + bytes(2 * 512) + stream.encode("utf-16-le").ljust(512, b"\0")


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
        ("a.docx", archive("word/document.xml"), f"{OFFICE}.wordprocessingml.document"),
        ("a.xlsx", archive("xl/workbook.xml"), f"{OFFICE}.spreadsheetml.sheet"),
        ("a.odt", archive(first=("mimetype", ODT)), ODT),
        ("a.epub", archive("x", first=("mimetype", "application/epub+zip")), "application/epub+zip"),
        ("a.zip", archive("a.txt"), "application/zip"),
        ("broken.docx", archive("word/document.xml")[:900], "application/zip"),
        ("a.doc", ole("WordDocument"), "application/msword"),
        ("a.xlsx", ole("EncryptedPackage"), "application/x-ole-encrypted"),
        ("a.doc", ole("Unknown"), "application/x-ole-storage"),
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


def test_text_under_the_name_of_a_picture(tmp_path: Path) -> None:
    assert detected(tmp_path, "scan.png", "只是文字") == ("text/plain", ["type-contradicts-name"])


def test_nothing_and_noise(tmp_path: Path) -> None:
    with pytest.raises(FileEmpty):
        detected(tmp_path, "a.txt", b"")
    for content in (bytes(1000), bytes(range(256)) * 8, b"text, then " + bytes(range(32)) * 20):
        with pytest.raises(FileBinary):
            detected(tmp_path, "a.txt", content)


def test_what_is_not_read_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7")
    with pytest.raises(UnsupportedType, match=r"a\.pdf looks like a PDF document \(application/pdf\)"):
        list(read_file(path, "a.pdf"))


def test_type_by_name_knows_only_text() -> None:
    assert type_by_name("x.pdf") == ""
    assert type_by_name("CMakeLists.txt") == "text/x-cmake"
