"""Files inside of files, passwords, doubtful files and places, as people type them."""

from __future__ import annotations

import getpass
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.archive_files import PASSWORD, locked_zip, written, zip_of
from tests.program import PROGRAM, Ended, environment, run_here


class Desk:
    def __init__(self, root: Path) -> None:
        self.path = root / "library"
        self.root = root

    def run(self, *arguments: str | Path, **more: str) -> Ended:
        return run_here("--library", self.path, *arguments, **more)

    def json(self, *arguments: str | Path) -> Any:
        return json.loads(self.run("--json", *arguments).stdout)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.run("init")
    return made


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    path = tmp_path / "password.txt"
    path.write_text(f"{PASSWORD}\nnever read\n", "utf-8")
    return path


def test_documents_are_listed_below_what_they_lie_in(desk: Desk) -> None:
    inner = zip_of({"b.md": "# B\n\nThe heron."})
    added = desk.run(
        "add",
        written(desk.root / "a.zip", {"z.md": "# Z", "inner.zip": inner}),
        written(desk.root / "c.zip", {"y": "Y"}),
    )
    assert added.returncode == 0
    names = [" ".join(line.split("  ")[1:3]).strip() for line in desk.run("docs", "list").stdout.splitlines()[1:]]
    ordered = [name.removesuffix(" ready").strip() for name in names if name]
    of_first = ["a.zip", "a.zip › inner.zip", "a.zip › inner.zip › b.md", "a.zip › z.md"]
    assert ordered in ([*of_first, "c.zip", "c.zip › y"], ["c.zip", "c.zip › y", *of_first])
    shown = desk.run("docs", "show", "a.zip › inner.zip").stdout
    assert "inside of: a.zip" in shown
    assert "holds: a.zip › inner.zip › b.md" in shown
    (view,) = [one for one in desk.json("docs", "list") if one["document"]["name"] == "a.zip › z.md"]
    assert view["lies_in"][0][1] == "a.zip"


def test_a_password_comes_from_a_file_a_pipe_or_a_prompt(
    desk: Desk, password_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk.root / "locked.zip"
    path.write_bytes(locked_zip())
    failed = desk.run("add", path)
    assert failed.returncode == 4
    assert "error[file-encrypted]" in failed.stdout
    assert "--password-file" in failed.stdout
    assert "有密码保护" in desk.run("docs", "show", "locked.zip", WENYUAN_LANG="zh").stdout
    retried = desk.run("docs", "retry", "locked.zip", "--password-file", password_file)
    assert retried.returncode == 0
    assert "locked.zip › secret.md" in desk.run("docs", "list").stdout
    assert PASSWORD not in json.dumps(desk.json("docs", "show", "locked.zip"), ensure_ascii=False)
    session = desk.json("sessions", "create")["id"]
    attached = desk.run("sessions", "attach", session, path, "--password-file", password_file)
    assert (attached.returncode, "locked.zip › secret.md" in attached.stdout) == (0, True)
    asked: list[str] = []

    def answered(prompt: str) -> str:
        asked.append(prompt)
        return PASSWORD

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(getpass, "getpass", answered)
    assert desk.json("preview", path, "--password-file", "-")["members"] == ["secret.md"]
    assert asked == ["Password of the file: "]


def test_a_password_may_come_through_a_pipe(desk: Desk) -> None:
    path = desk.root / "locked.zip"
    path.write_bytes(locked_zip())
    command = [*PROGRAM, "--library", str(desk.path), "add", str(path), "--password-file", "-"]
    ended = subprocess.run(
        command, input=PASSWORD + "\n", capture_output=True, text=True, env=environment(), check=False
    )
    assert ended.returncode == 0


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe\xff\n", b"x" * 2000])
def test_a_password_file_that_holds_none_is_refused(desk: Desk, content: bytes) -> None:
    (desk.root / "p.txt").write_bytes(content)
    (desk.root / "a.txt").write_text("a", "utf-8")
    ended = desk.run("add", desk.root / "a.txt", "--password-file", desk.root / "p.txt")
    assert ended.returncode == 2
    assert desk.run("add", desk.root / "a.txt", "--password-file", desk.root / "none").returncode == 2


def test_a_backup_says_that_it_holds_passwords(desk: Desk, password_file: Path) -> None:
    path = desk.root / "locked.zip"
    path.write_bytes(locked_zip())
    desk.run("add", path, "--password-file", password_file)
    assert "passwords of 1 file," in desk.run("backup", desk.root / "copy.tar").stdout


def test_doubtful_files_are_listed_and_say_why(desk: Desk) -> None:
    (desk.root / "good.txt").write_text("水位正常，仪器已校准。", "utf-8")
    (desk.root / "bad.txt").write_text("水位\ue001\ue002\ue003" * 20, "utf-8")
    desk.run("add", desk.root / "good.txt", desk.root / "bad.txt")
    listed = desk.run("docs", "list", "--doubtful").stdout
    assert "bad.txt" in listed
    assert "good.txt" not in listed
    shown = desk.run("docs", "show", "bad.txt").stdout
    assert "read as: 100 characters · 60 private to a font" in shown
    assert "look at this: 60 of 100 characters are private to a font" in shown
    assert "请查看" in desk.run("docs", "show", "bad.txt", WENYUAN_LANG="zh").stdout
    view = desk.json("docs", "show", "bad.txt")
    assert view["latest"]["quality"]["private_characters"] == 60
    assert [doubt["code"] for doubt in view["doubts"]] == ["characters-private"]
    assert "document may not have been read well" in desk.run("docs", "list").stdout


def test_a_preview_shows_blocks_doubts_and_files_inside(desk: Desk) -> None:
    path = desk.root / "a.md"
    path.write_text("# 周会\n\n预算三十万。\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "utf-8")
    shown = desk.run("preview", path, "--blocks").stdout
    assert "heading  line 1" in shown
    assert "paragraph  line 3 · 周会" in shown
    blocks = desk.json("preview", path, "--blocks")["first_blocks"]
    assert [block["kind"] for block in blocks][:2] == ["heading", "paragraph"]
    assert desk.json("preview", path)["first_blocks"] == []
    assert "3 files inside would become documents" not in shown
    archive = written(desk.root / "a.zip", {"x.md": "# X", "y.md": "# Y"})
    assert "2 files inside would become documents:\n  x.md\n  y.md" in desk.run("preview", archive).stdout


def test_a_place_is_shown_with_lines_or_cells(desk: Desk) -> None:
    (desk.root / "stock.csv").write_text("code,name\nPPR-9087,印刷纸\n", "utf-8")
    (desk.root / "a.txt").write_text("one\ntwo PPR-9088\nthree\n", "utf-8")
    desk.run("add", desk.root / "stock.csv", desk.root / "a.txt")

    def cited(question: str) -> str:
        return str(desk.json("search", question)["hits"][0]["passage"]["chunk_id"])

    assert "code      name\nPPR-9087  印刷纸" in desk.run("docs", "open", cited("PPR-9087")).stdout
    assert "2  two PPR-9088" in desk.run("docs", "open", cited("PPR-9088")).stdout
    refused = desk.run("docs", "open", cited("PPR-9088"), "--image", desk.root / "x.png")
    assert (refused.returncode, "place-has-no-picture" in refused.stderr) == (2, True)
