"""Settings: read once, typed, ranged, unknown keys refused with their source."""

from __future__ import annotations

from pathlib import Path

import pytest

from wenyuan.config import Settings, load_settings
from wenyuan.errors import ConfigurationInvalid
from wenyuan.providers.settings import BUILT_IN_MODEL


def written(folder: Path, text: str) -> Path:
    (folder / "wenyuan.toml").write_text(text, "utf-8")
    return folder


def test_without_a_file_everything_has_a_default(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    assert settings == Settings(models=settings.models)
    assert settings.defaults.embedding_model == BUILT_IN_MODEL
    assert list(settings.models) == [BUILT_IN_MODEL]


def test_the_file_is_read_and_the_environment_outranks_it(tmp_path: Path) -> None:
    home = written(tmp_path, "[search]\ntop_k = 5\nembed_seconds = 2\n[defaults]\nembedding_model = ''\n")
    settings = load_settings(home, {"WENYUAN_SEARCH_TOP_K": "12", "WENYUAN_LIBRARY": "/elsewhere"})
    assert settings.search.top_k == 12
    assert settings.search.embed_seconds == 2.0
    assert settings.defaults.embedding_model == ""


@pytest.mark.parametrize(("text", "is_on"), [("true", True), ("1", True), ("False", False), ("0", False)])
def test_a_switch_is_true_or_false_in_the_environment_too(tmp_path: Path, text: str, is_on: bool) -> None:
    home = written(tmp_path, "[fetch]\nuse_proxies = true\n")
    settings = load_settings(home, {"WENYUAN_FETCH_ALLOW_PRIVATE": text})
    assert (settings.fetch.allow_private, settings.fetch.use_proxies) == (is_on, True)


def test_a_model_is_described_by_a_table(tmp_path: Path) -> None:
    home = written(
        tmp_path,
        '[models."local/bge"]\nprotocol = "openai-compatible"\nmodel = "bge-m3"\nbase_url = "http://127.0.0.1:11434/v1"\n'
        'dimensions = 1024\nkey = "env:BGE_KEY"\n',
    )
    model = load_settings(home, {}).models["local/bge"]
    assert (model.name, model.model, model.dimensions, model.key) == ("local/bge", "bge-m3", 1024, "env:BGE_KEY")


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("[serach]\ntop_k = 5", "serach"),
        ("[search]\ntopk = 5", "search.topk"),
        ("[search]\ntop_k = 'many'", "search.top_k"),
        ("[search]\ntop_k = true", "search.top_k"),
        ("[search]\ntop_k = -1", "search.top_k"),
        ("[search]\nembed_seconds = inf", "search.embed_seconds"),
        ("[limits]\nfile_bytes = 0", "limits.file_bytes"),
        ("[fetch]\nallow_private = 2", "fetch.allow_private"),
        ("[fetch]\nallow_private = 'yes please'", "fetch.allow_private"),
        ("[defaults]\nembedding_model = 3", "defaults.embedding_model"),
        ("search = 5", "search"),
        ("[models.x]\nprotocoll = 'built-in'", "models.x.protocoll"),
        ("[models.x]\nprotocol = 'built-in'", "models.x"),
        ("[models.x]\nprotocol = 'a'\nmodel = 'b'\ndimensions = 'c'", "models.x"),
        ("[models]\nx = 'built-in'", "models.x"),
        ("[search\ntop_k = 5", "file"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(tmp_path: Path, text: str, setting: str) -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        load_settings(written(tmp_path, text), {})
    assert caught.value.details["setting"] == setting
    assert str(tmp_path) in caught.value.message


def test_a_wrong_environment_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        load_settings(tmp_path, {"WENYUAN_SEARCH_TOP_K": "lots"})
    assert "WENYUAN_SEARCH_TOP_K" in caught.value.message


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wenyuan.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationInvalid):
        load_settings(tmp_path, {})


@pytest.mark.parametrize(
    "text", ["models = 3", "[search]\ntop_k = 3.9", "[worker]\nlease_seconds = 0", "[search]\ntop_k = inf"]
)
def test_more_that_makes_no_sense(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationInvalid):
        load_settings(written(tmp_path, text), {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('preset = "nobody"', "preset must be one of"),
        ('preset = "qwen"\nmodel = "m"', "types must say which of"),
        ('preset = "qwen"\nmodel = "m"\ntypes = ["image"]', "has models for"),
        ('preset = "qwen"\nmodel = "m"\ntypes = [["chat"]]', "types must be a list"),
        ('preset = "qwen"\nmodel = "m"\ntypes = "chat"', "types must be a list"),
        ('types = ["chat"]\nmodel = "m"', "protocol must be given"),
    ],
)
def test_a_preset_that_cannot_be_meant_is_told(tmp_path: Path, text: str, reason: str) -> None:
    home = written(tmp_path, f"[models.x]\n{text}\n")
    with pytest.raises(ConfigurationInvalid, match=rf"models\.x .*{reason}"):
        load_settings(home, {})


def test_the_role_of_embedding_outranks_the_default_that_says_the_same(tmp_path: Path) -> None:
    home = written(tmp_path, "[roles]\nembedding = 'mine'\n[defaults]\nembedding_model = 'other'\n")
    assert load_settings(home, {}).defaults.embedding_model == "mine"
    assert load_settings(home, {"WENYUAN_ROLES_EMBEDDING": "third"}).defaults.embedding_model == "third"
