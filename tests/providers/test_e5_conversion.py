"""Conversion: complete or absent, whatever happens while it runs."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.providers.test_e5_embedder import QUESTIONS
from wenyuan.errors import BuiltInModelMissing
from wenyuan.providers.e5 import convert, files, weights
from wenyuan.providers.e5.convert import converted_folder
from wenyuan.providers.e5.model import E5Embedder
from wenyuan.providers.e5.tokenizer import TABLE_FILES

CONVERTED_FILES = {*TABLE_FILES, convert.GRAPH_FILE, convert.WORDS_FILE, convert.POSITIONS_FILE}

CONVERSION = """
import sys
from pathlib import Path
from wenyuan.providers.e5.convert import converted_folder

def report(message):
    print(message, flush=True)
    if {pause!r} in message:
        sys.stdin.readline()

print("begin", flush=True)
print("folder", converted_folder(Path(sys.argv[1]), report), flush=True)
"""


def _start(cache_directory: Path, pause: str) -> subprocess.Popen[str]:
    """Start a conversion in a process of its own that stops after the message that holds `pause`."""
    command = [sys.executable, "-c", CONVERSION.format(pause=pause), str(cache_directory)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _read_until(process: subprocess.Popen[str], part: str) -> None:
    assert process.stdout is not None
    assert any(part in line for line in iter(process.stdout.readline, ""))


@pytest.fixture
def converted(cache_directory: Path, tmp_path: Path) -> Path:
    """A copy of the converted model in a cache of its own; the copy may be damaged."""
    original = converted_folder(cache_directory, lambda _: None)
    return Path(shutil.copytree(original, tmp_path / original.name))


def test_a_conversion_that_is_killed_leaves_nothing_half_written(tmp_path: Path) -> None:
    with _start(tmp_path, "network") as process:
        _read_until(process, "network")
        assert list(tmp_path.glob("*.partial"))
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert [path.suffix for path in tmp_path.iterdir() if path.is_dir()] == [".partial"]
    folder = converted_folder(tmp_path, lambda _: None)
    assert files.is_complete(folder, convert.WEIGHTS_IDENTITY)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [folder]


def test_of_two_processes_one_converts_and_both_get_the_model(tmp_path: Path) -> None:
    with _start(tmp_path, "network") as first:
        _read_until(first, "network")
        with _start(tmp_path, "nothing") as second:
            _read_until(second, "begin")
            output, _ = first.communicate("go on\n")
            waited, _ = second.communicate()
    assert first.returncode == second.returncode == 0
    assert output.splitlines()[-1] == waited.splitlines()[-1]
    assert len(waited.splitlines()) == 1
    assert files.is_complete(Path(waited.split()[-1]), convert.WEIGHTS_IDENTITY)


def test_a_complete_model_is_not_converted_again(converted: Path) -> None:
    messages: list[str] = []
    assert converted_folder(converted.parent, messages.append) == converted
    assert messages == []


def _flip_a_byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))


def _cut_short(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)


@pytest.mark.parametrize("damage", [_flip_a_byte, _cut_short, Path.unlink])
def test_damage_to_any_file_is_noticed(converted: Path, damage: Callable[[Path], None]) -> None:
    assert {path.name for path in converted.iterdir()} == {*CONVERTED_FILES, files.MANIFEST}
    for name in CONVERTED_FILES:
        kept = (converted / name).read_bytes()
        damage(converted / name)
        assert not files.is_complete(converted, convert.WEIGHTS_IDENTITY), name
        (converted / name).write_bytes(kept)
    assert files.is_complete(converted, convert.WEIGHTS_IDENTITY)


UNUSABLE_MANIFESTS = [
    *("", "[]", "{}", '{"version": "1"}', "not json", '{"version": "2", "sha256": {"a": ""}}'),
    *('{"version": "1", "sha256": {}}', '{"version": "1", "sha256": ["a"]}', '{"version": "1", "sha256": {"b": ""}}'),
]


@pytest.mark.parametrize("manifest", UNUSABLE_MANIFESTS)
def test_a_manifest_that_makes_no_sense_is_not_believed(tmp_path: Path, manifest: str) -> None:
    folder = tmp_path / "model"
    files.write_folder(folder, "1", lambda partial: _write(partial / "a", "kept"))
    assert files.is_complete(folder, "1")
    (folder / files.MANIFEST).write_text(manifest, encoding="utf-8")
    assert not files.is_complete(folder, "1")


def test_a_damaged_model_is_made_anew_and_gives_the_same_vectors(converted: Path, cache_directory: Path) -> None:
    _flip_a_byte(converted / convert.GRAPH_FILE)
    messages: list[str] = []
    renewed = E5Embedder(converted.parent, on_progress=messages.append)
    kept = E5Embedder(cache_directory)
    assert np.array_equal(renewed.embed(QUESTIONS, "query", 60.0), kept.embed(QUESTIONS, "query", 60.0))
    assert messages
    assert files.is_complete(converted, convert.WEIGHTS_IDENTITY)


def test_conversion_is_the_same_every_time_and_tells_of_itself(tmp_path: Path, cache_directory: Path) -> None:
    before = converted_folder(cache_directory, lambda _: None)
    messages: list[str] = []
    again = converted_folder(tmp_path, messages.append)
    assert "once on this machine" in messages[0]
    assert messages[-1].endswith("is ready")
    assert (before / files.MANIFEST).read_bytes() == (again / files.MANIFEST).read_bytes()


def test_weights_that_are_damaged_are_not_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / weights.FILE_NAME
    shutil.copyfile(weights.find_weights(), damaged)
    _flip_a_byte(damaged)
    monkeypatch.setattr(convert, "find_weights", lambda: damaged)
    cache = tmp_path / "cache"
    with pytest.raises(BuiltInModelMissing, match="is not the expected file"):
        converted_folder(cache, lambda _: None)
    assert [path for path in cache.iterdir() if path.is_dir()] == []


def test_a_conversion_that_fails_leaves_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    files.write_folder(folder, "1", lambda partial: _write(partial / "a", "kept"))

    def fail(partial: Path) -> None:
        _write(partial / "a", "new")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        files.write_folder(folder, "2", fail)
    assert list(tmp_path.iterdir()) == [folder]
    assert (folder / "a").read_text() == "kept"
    assert files.is_complete(folder, "1")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def test_a_disk_that_takes_no_more_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from wenyuan.errors import WenyuanError\n"
        "from wenyuan.providers.e5.convert import converted_folder\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9_000_000, 9_000_000))\n"
        "try:\n"
        "    converted_folder(Path(sys.argv[1]), lambda _: None)\n"
        "except WenyuanError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "cannot be written: File too large" in run.stdout
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BuiltInModelMissing, match="cannot be written"):
        converted_folder(tmp_path / "file" / "cache", lambda _: None)


def test_a_lock_that_is_held_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "_PATIENCE_SECONDS", 0.0)
    # Two descriptors exclude each other whether or not they are in one process.
    with files.locked(tmp_path / f"{convert._FOLDER}.lock", 0.0), pytest.raises(BuiltInModelMissing, match="another"):
        converted_folder(tmp_path, lambda _: None)
