"""`doctor` names what is wrong around a library, and calls nobody to find out."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.errors import ProviderTimeout
from wenyuan.flows.embed import fingerprint
from wenyuan.providers.e5 import weights
from wenyuan.runtime.library import Library
from wenyuan.runtime.upkeep import Finding
from wenyuan.store import indexes, queue

_REMOTE = """
[models.remote]
protocol = "openai-compatible"
model = "m"
base_url = "http://127.0.0.1:1/v1"
dimensions = 8
key = "env:WENYUAN_TEST_KEY"
"""


def _opened(folder: Path, settings: str = "") -> Library:
    home = folder / "library"
    home.mkdir(exist_ok=True)
    (home / "wenyuan.toml").write_text(settings, "utf-8")
    return wy.open(home, environment={})


def _told(library: Library, code: str) -> list[Finding]:
    return [finding for finding in library.doctor() if finding.code == code]


def test_a_doctor_finds_nothing_wrong_where_nothing_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WENYUAN_TEST_KEY", "secret-8f2e")
    with _opened(tmp_path, _REMOTE) as library:
        findings = library.doctor()
    assert [finding for finding in findings if finding.severity == "error"] == []
    told = " ".join(finding.message for finding in findings)
    for expected in (
        "Python 3.",
        "SQLite 3.",
        "with FTS5",
        "apsw 3.",
        "numpy 2.",
        "multilingual-e5-small",
        "env:WENYUAN_TEST_KEY",
    ):
        assert expected in told
    assert "secret-8f2e" not in told
    assert str(tmp_path / "library") in told


def test_every_setting_is_shown_with_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WENYUAN_SEARCH_TOP_K", "5")
    home = tmp_path / "library"
    home.mkdir()
    (home / "wenyuan.toml").write_text("[limits]\nfile_bytes = 1000\n", "utf-8")
    with wy.open(home) as library:
        told = " ".join(finding.message for finding in _told(library, "settings"))
    assert "file_bytes = 1000 (from wenyuan.toml)" in told
    assert "top_k = 5 (from WENYUAN_SEARCH_TOP_K)" in told
    assert "parse_seconds = 120.0," in told


def test_a_key_that_is_missing_matters_where_its_model_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WENYUAN_TEST_KEY", raising=False)
    with _opened(tmp_path, _REMOTE) as library:
        assert [finding.severity for finding in _told(library, "key-missing")] == ["warning"]
        library.knowledge_bases.create("papers", embedding_model="remote")
        assert [finding.severity for finding in _told(library, "key-missing")] == ["error"]


def test_a_model_that_was_taken_out_of_the_settings_is_missed(tmp_path: Path) -> None:
    with _opened(tmp_path, _REMOTE) as library:
        library.knowledge_bases.create("papers", embedding_model="remote")
    with _opened(tmp_path) as library:
        missed = _told(library, "model-not-configured")
    assert [finding.severity for finding in missed] == ["error"]
    assert missed[0].message.startswith("papers: ")


def test_vectors_of_another_model_are_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WENYUAN_TEST_KEY", "secret")
    with _opened(tmp_path, _REMOTE) as library:
        base = library.knowledge_bases.create("papers", embedding_model="remote")
        identity = library.models.embedder("remote").identity
        with library._database.write() as tx:
            indexes.ensure_active(tx, "gen_x", base.id, "vector", fingerprint(identity), {"model": "remote"}, 8)
        assert _told(library, "index-incompatible") == []
    with _opened(tmp_path, _REMOTE.replace('model = "m"', 'model = "n"')) as library:
        assert [finding.severity for finding in _told(library, "index-incompatible")] == ["error"]


def test_weights_that_are_not_installed_are_missed_before_they_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _opened(tmp_path) as library:
        assert _told(library, "built-in-model-missing") == []
        monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
        assert [finding.severity for finding in _told(library, "built-in-model-missing")] == ["error"]


def test_nothing_is_converted_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with _opened(tmp_path) as library:
        (model,) = _told(library, "model")
    assert "will be made ready" in model.message
    assert not (tmp_path / "cache").exists()


def test_work_that_waits_and_files_that_failed_are_counted(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text("words", "utf-8")
    bad.write_bytes(b"")
    with _opened(tmp_path, "[defaults]\nembedding_model = ''\n") as library:
        assert [finding.severity for finding in _told(library, "jobs")] == ["ok"]
        library.add(good, bad)
        assert [finding.severity for finding in _told(library, "jobs")] == ["ok"]
        library.add_text("more words", "more", wait=False)
        (lease,) = queue.claim(library._database, "slow", 60_000, ("ingest",))
        assert _told(library, "jobs")[0].message == "Jobs: 0 queued, 1 running, 0 waiting. At work: slow."
        with library._database.write() as tx:
            queue.wait(tx, lease, ProviderTimeout(provider="x", seconds=1).problem(), 60_000)
        (jobs,) = _told(library, "jobs")
        (failed,) = _told(library, "documents-failed")
    assert (jobs.severity, jobs.message) == ("warning", "Jobs: 0 queued, 0 running, 1 waiting.")
    assert (failed.severity, failed.message) == ("warning", "1 documents of default could not be read.")


@pytest.mark.parametrize(("free", "severity"), [(1 << 40, "ok"), (500 << 20, "warning"), (1 << 20, "error")])
def test_a_disk_that_is_nearly_full_is_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, severity: str
) -> None:
    with _opened(tmp_path) as library:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage(free))
        assert [finding.severity for finding in _told(library, "disk-space")] == [severity]


@dataclass
class _Usage:
    free: int


def test_a_memory_limit_the_machine_cannot_keep_is_pointed_out(tmp_path: Path) -> None:
    with _opened(tmp_path, f"[limits]\nparse_memory_bytes = {1 << 50}\n") as library:
        assert [finding.severity for finding in _told(library, "memory-limit")] == ["warning"]
