"""Spreadsheets and mail as people use them: added, found, and followed back to their cells and paragraphs."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from tests.program import Ended, run_here

FILES = Path(__file__).parent.parent / "fixtures" / "files"


class Desk:
    def __init__(self, root: Path) -> None:
        self.path = root / "library"
        self.root = root

    def run(self, *arguments: str | Path) -> Ended:
        return run_here("--library", self.path, *arguments)

    def found(self, question: str) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = json.loads(self.run("--json", "search", question).stdout)["hits"]
        return hits


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.run("init")
    return made


def test_a_row_is_found_and_leads_to_its_cells(desk: Desk) -> None:
    assert desk.run("add", FILES / "report.xlsx").returncode == 0
    passage = desk.found("SKU-9007")[0]["passage"]
    assert passage["chunk"]["anchor"] == {
        "kind": "cells", "first": 3, "last": 9, "name": "Inventory", "columns": [3, 6], "boxes": [],
    }  # fmt: skip
    assert "Inventory!C3:F9" in desk.run("search", "SKU-9007").stdout
    opened = desk.run("docs", "open", passage["chunk_id"]).stdout
    assert ["SKU-9007", "Gadget", "|", "blue", "21", "$8.75"] in [line.split() for line in opened.splitlines()]
    assert "销售报表!A1:O19" in desk.run("search", "各部门季度销售额").stdout


def test_a_locked_workbook_is_opened_with_its_password(desk: Desk) -> None:
    locked = FILES / "protected.xlsx"
    refused = desk.run("add", locked)
    assert "file-encrypted" in refused.stdout + refused.stderr
    password = desk.root / "password.txt"
    password.write_text("密码secret\n", "utf-8")
    assert desk.run("docs", "retry", "protected.xlsx", "--password-file", password).returncode == 0
    assert desk.run("add", locked, "--password-file", password).returncode == 0
    assert desk.found("远处的备注")[0]["passage"]["document_name"] == "protected.xlsx"


def test_a_message_is_found_by_its_sender_and_what_it_carries(desk: Desk) -> None:
    message = EmailMessage()
    message["From"] = "张三 <zhang@example.com>"
    message["Subject"] = "报销通知"
    message["Date"] = "Fri, 5 Jan 2024 10:00:00 +0800"
    message.set_content("请于九月三十日前提交报销单。")
    message.add_attachment((FILES / "book.ods").read_bytes(), maintype="application", subtype="x", filename="附件.ods")
    path = desk.root / "letter.eml"
    path.write_bytes(message.as_bytes())
    assert desk.run("add", path).returncode == 0
    first = desk.found("zhang@example.com 报销")[0]["passage"]
    assert (first["document_name"], first["chunk"]["anchor"]["kind"]) == ("letter.eml", "paragraph")
    assert desk.found("远处的备注")[0]["passage"]["document_name"] == "letter.eml › 附件.ods"
