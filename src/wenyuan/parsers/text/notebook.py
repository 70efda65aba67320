"""Jupyter notebooks (nbformat 4, and 3 before it): each cell at its number, code with what it printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from wenyuan.errors import FileMalformed, FileOverLimit
from wenyuan.parsers.source_file import opened
from wenyuan.parsers.text.decoding import decoded_bytes, without_controls
from wenyuan.parsers.text.lines import LineReader
from wenyuan.parsers.text.markdown import MarkdownScanner
from wenyuan.parsers.text.markdown_lines import heading_level, underline_level
from wenyuan.types import Anchor, Block, Facts, Notice, ReadEvent

MEDIA_TYPE = "application/x-ipynb+json"
_LARGEST = 100_000_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LONGEST_OUTPUT = 20_000
_TEXT_OUTPUTS = ("text/plain", "text/markdown", "text/latex")


class NotebookParser:
    """Reads a notebook; pictures in it are counted and left out."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield its cells. Raises `FileMalformed`, `FileOverLimit`."""
        with opened(path) as file:
            raw = file.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise FileOverLimit(name=name, what=f"a notebook of more than {_LARGEST // 1_000_000} MB")
        notebook = _parsed(raw, name)
        del raw
        metadata = notebook.get("metadata")
        given_title = _text(metadata.get("title")).strip() if isinstance(metadata, dict) else ""
        cells = _cells(notebook)
        quality: dict[str, Any] = {"cells": len(cells)}
        yield Facts(MEDIA_TYPE, "utf-8", given_title, quality=quality)
        reading = _Reading()
        for number, cell in enumerate(cells, 1):
            yield from reading.cell(number, cell)
        if reading.pictures:
            quality["pictures"] = reading.pictures
            yield Notice("pictures-skipped", f"Pictures that its code made were not read: {reading.pictures}.")
        yield Facts(MEDIA_TYPE, "utf-8", given_title or reading.title, quality=quality)


class _Reading:
    """What goes from one cell to the next: the headings above it."""

    def __init__(self) -> None:
        self.title = ""
        self.pictures = 0
        self._headings: list[tuple[int, str]] = []

    def cell(self, number: int, cell: dict[str, Any]) -> Iterator[Block]:
        kind = cell.get("cell_type")
        source = without_controls(_text(cell.get("source", cell.get("input"))))
        if kind in ("markdown", "heading"):
            if kind == "heading":
                source = f"{'#' * min(max(_whole(cell.get('level')), 1), 6)} {source}"
            yield from self._markdown(number, source)
        elif source.strip():
            yield self._block(number, "code" if kind == "code" else "raw", source.rstrip("\n"))
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            text = self._output(output) if isinstance(output, dict) else ""
            if text:
                yield self._block(number, "output", text)

    def _markdown(self, number: int, source: str) -> Iterator[Block]:
        scanner = MarkdownScanner(LineReader(source.split("\n")))
        for block in scanner.blocks():
            if block.kind == "heading":
                self._enter(block)
            yield replace(block, anchor=Anchor("cell", number, number, "markdown"), heading_path=self._path)
        self.title = self.title or scanner.title

    def _enter(self, heading: Block) -> None:
        """A heading stands above all that follows, in later cells too, until one of its level or above."""
        lines = heading.text.split("\n")
        level = heading_level(lines[0]) or underline_level(lines[-1]) or 1
        self._headings = [found for found in self._headings if found[0] < level]
        self._headings.append((level, heading.heading_path[-1]))

    @property
    def _path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)

    def _block(self, number: int, part: str, text: str) -> Block:
        return Block("code", text, Anchor("cell", number, number, part), self._path)

    def _output(self, output: dict[str, Any]) -> str:
        """The text of what a cell printed, showed or failed with."""
        kind = output.get("output_type")
        if kind == "error" or "ename" in output:
            text = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
        elif kind == "stream":
            text = _text(output.get("text"))
        else:
            data = output.get("data") if isinstance(output.get("data"), dict) else output
            shown = {str(key): value for key, value in (data or {}).items()}
            self.pictures += any(key.startswith("image/") or key in ("png", "jpeg", "svg") for key in shown)
            text = next((_text(shown[key]) for key in (*_TEXT_OUTPUTS, "text") if key in shown), "")
            if text.startswith("<") and text.rstrip().endswith(">") and len(shown) > 1:
                # What Python says of an object that shows itself better: `<Figure size 640x480 with 1 Axes>`.
                text = ""
        return without_controls(_COLOURS.sub("", text)).strip("\n")[:_LONGEST_OUTPUT]


def _parsed(raw: bytes, name: str) -> dict[str, Any]:
    text, _ = decoded_bytes(raw)
    try:
        notebook = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise FileMalformed(name=name, format="a Jupyter notebook", reason=str(error)) from error
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise FileMalformed(name=name, format="a Jupyter notebook", reason="it has no cells")
    return notebook


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    sheets = notebook.get("worksheets")
    first = sheets[0] if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict) else {}
    cells = notebook.get("cells", first.get("cells"))
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _text(value: Any) -> str:
    """A text that may be written as a list of its lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 1
