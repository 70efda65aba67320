"""`doctor` starts where the library does not, and says everything that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

import wenyuan as wy
from tests.program import run_here
from wenyuan.runtime.doctor import examine
from wenyuan.runtime.upkeep import Finding


def _library(folder: Path) -> Path:
    with wy.open(folder / "library", environment={}) as library:
        library.add_text("words", "note.md", wait=False)
    return folder / "library"


def _wrong(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in findings if one.severity == "error"]


def test_everything_that_is_wrong_with_the_settings_is_told_at_once(tmp_path: Path) -> None:
    home = _library(tmp_path)
    file = home / "wenyuan.toml"
    file.write_text(
        'x = 1\n[search]\ntop_k = "many"\nembed_seconds = 3\n[serach]\na = 1\n[models.m]\nprotocol = "p"\n', "utf-8"
    )
    findings = examine(home, {"WENYUAN_WORKER_THREADS": "none", "WENYUAN_LIMITS_FILE_BYTES": "9"})
    told = [message for code, message in _wrong(findings) if code == "configuration-invalid"]
    assert [message.split(" ")[2] for message in told] == ["x", "search.top_k", "serach", "models.m", "worker.threads"]
    assert "WENYUAN_WORKER_THREADS" in told[-1]
    # What is right is used, and everything else is looked at.
    settings = " ".join(one.message for one in findings if one.code == "settings")
    assert "embed_seconds = 3.0 (from wenyuan.toml)" in settings
    assert any(one.code == "jobs" and "1 queued" in one.message for one in findings)


@pytest.mark.parametrize("content", [b"[search\n", b"\xff\xfe\x00", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_told(tmp_path: Path, content: bytes) -> None:
    home = _library(tmp_path)
    (home / "wenyuan.toml").write_bytes(content)
    findings = examine(home, {})
    ((code, message),) = _wrong(findings)
    assert code == "configuration-invalid"
    assert str(home / "wenyuan.toml") in message
    assert {"program", "sqlite", "folder", "disk-space", "jobs", "traces"} <= {one.code for one in findings}


def test_a_library_that_cannot_be_opened_is_no_reason_to_say_nothing(tmp_path: Path) -> None:
    home = _library(tmp_path)
    connection = apsw.Connection(str(home / "wenyuan.db"))
    connection.execute("INSERT INTO schema_migrations VALUES (9999, 'of tomorrow', 'ab', 0)")
    connection.close()
    newer = examine(home, {})
    (home / "wenyuan.db").write_bytes(b"no database" * 1000)
    damaged = examine(home, {})
    nothing = examine(tmp_path / "nothing", {})
    assert [code for findings in (newer, damaged, nothing) for code, _ in _wrong(findings)] == [
        "library-newer",
        "not-a-library",
        "library-not-found",
    ]
    for findings in (newer, damaged, nothing):
        assert {"program", "sqlite", "memory-limit"} <= {one.code for one in findings}
    assert not (tmp_path / "nothing").exists()


def test_the_command_starts_with_broken_settings_and_other_commands_do_not(tmp_path: Path) -> None:
    home = _library(tmp_path)
    (home / "wenyuan.toml").write_text("[search]\ntop_k = 0\n[worker]\nthread = 2\n", "utf-8")
    ended = run_here("--library", home, "--json", "doctor")
    findings = json.loads(ended.stdout)
    assert ended.returncode == 3
    wrong = [one["message"] for one in findings if one["severity"] == "error"]
    assert len(wrong) == 2
    assert "search.top_k" in wrong[0]
    assert "worker.thread" in wrong[1]
    assert run_here("--library", home, "docs", "list").returncode == 3
