"""Evaluation sets and prompts that people keep in a library go into its backups and come back with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import wenyuan as wy
from wenyuan.runtime.backups import restore
from wenyuan.store.own_files import own_file

KEYWORD_ONLY = {"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}


@pytest.mark.parametrize("target", ["kept", "kept.tar"])
def test_they_come_back_as_they_were(tmp_path: Path, target: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not of the library", "utf-8")
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library:
        library.add_text("体检每年一次。", "体检.md")
        library.evaluation_sets.add_case("回归 one", "体检", expect=["体检.md"])
        (library.path / "prompts").mkdir()
        (library.path / "prompts" / "answer-tools.zh.txt").write_text("只用资料回答。", "utf-8")
        (library.path / "prompts" / "link.txt").symlink_to(secret)
        library.backup(tmp_path / target)
        # Again: what is there already is no reason to refuse it.
        library.backup(tmp_path / target)
    restore(tmp_path / target, tmp_path / "restored")
    with wy.open(tmp_path / "restored", environment=KEYWORD_ONLY) as restored:
        (case,) = restored.evaluation_sets.cases("回归 one")
        assert case.query == "体检"
        prompts = {path.name: path.read_text("utf-8") for path in (restored.path / "prompts").iterdir()}
        assert prompts == {"answer-tools.zh.txt": "只用资料回答。"}
        assert restored.check() == []


@pytest.mark.parametrize(
    "name",
    ["evaluation-../x", "evaluation-", "evaluation-zz", "evaluation-6", "evaluation/61", "other-61", "prompts-61/61"]
    + [f"evaluation-{file.encode().hex()}" for file in ("../x", "..", ".x", "a/b", "a\0b", "/x")],
)
def test_no_name_in_a_backup_leads_elsewhere(name: str) -> None:
    assert own_file(name) is None
    assert own_file(f"evaluation-{'回归 one.yaml'.encode().hex()}") == "evaluation/回归 one.yaml"
