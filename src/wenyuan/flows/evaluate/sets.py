"""Evaluation sets and corpora, read from the files a user keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wenyuan.errors import EvaluationSetInvalid, FileUnreadable, PathNotFound
from wenyuan.flows.given import TextToAdd
from wenyuan.rules.evaluation.case_rows import SetFile
from wenyuan.rules.evaluation.cases import EvaluationSet
from wenyuan.rules.evaluation.json_lines_sets import read_json_lines_set
from wenyuan.rules.evaluation.packs import (
    WithoutSources,
    corpus_documents,
    read_pack_set,
    read_without_sources,
    without_sources,
)
from wenyuan.rules.evaluation.trec import read_judgements, read_trec_set
from wenyuan.rules.evaluation.yaml_sets import read_yaml_set

NO_SOURCE_FILE = "nosource.json"
NO_SOURCE_SUFFIX = "-nosource"

_LARGEST_TEXT = 64 * 1024 * 1024
_LONGEST_LINE = 16 * 1024 * 1024
# Research publishes judgements in a file or in a folder of splits.
_JUDGEMENTS = ("qrels.tsv", "qrels.txt", "qrels/test.tsv", "qrels/dev.tsv")


def read_set(path: Path, qrels: Path | None = None) -> EvaluationSet:
    """The set in a file or pack folder, by the kind of its name.

    `*.yaml` and `*.yml`, `*.jsonl`, a folder that is a pack, the `nosource.json` in one; anything else
    is TREC topics, whose judgements are in `qrels`. Raises `PathNotFound`, `FileUnreadable` or
    `EvaluationSetInvalid`.
    """
    if not path.exists():
        raise PathNotFound(path=path)
    if path.is_dir():
        name = pack_name(path)
        queries = read_lines(path / "queries.jsonl")
        judged = read_judgements(read_lines(_judgements(path)), str(_judgements(path)))
        return read_pack_set(queries, judged, str(path / "queries.jsonl"), name, name)
    if path.name == NO_SOURCE_FILE:
        return _set_without_sources(path)
    if path.suffix in (".yaml", ".yml"):
        return read_yaml_set(read_text(path), str(path), path.stem)
    if path.suffix == ".jsonl":
        return read_json_lines_set(read_lines(path), str(path), path.stem)
    if qrels is None:
        reason = "topics need their judgements, given as `--qrels FILE`; other sets end in .yaml or .jsonl"
        raise EvaluationSetInvalid(path=path, line=1, reason=reason)
    return read_trec_set(read_text(path), read_lines(qrels), str(path), str(qrels), path.stem)


def pack_name(folder: Path) -> str:
    """The name of a pack, of its set and of the knowledge base that it is imported into."""
    return folder.resolve().name


def read_corpus(folder: Path, removed: frozenset[str] = frozenset()) -> Iterator[TextToAdd]:
    """A pack's documents, one at a time, without those removed. Raises as `read_set` does."""
    path = folder / "corpus.jsonl"
    for one in corpus_documents(read_lines(path), str(path)):
        if one.id not in removed:
            yield TextToAdd(one.text, one.id, one.title, one.metadata)


def read_removal(folder: Path) -> WithoutSources | None:
    """What `nosource.json` in a pack says, where there is one."""
    path = folder / NO_SOURCE_FILE
    return read_without_sources(read_text(path), str(path)) if path.exists() else None


def read_text(path: Path) -> str:
    """A whole text file in UTF-8, of a size that a person could have written."""
    try:
        size = path.stat().st_size
        if size > _LARGEST_TEXT:
            SetFile(str(path)).refuse(1, f"it has {size:,} bytes, and may have {_LARGEST_TEXT:,}")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise EvaluationSetInvalid(path=path, line=line, reason="it is not UTF-8") from error
    except FileNotFoundError as error:
        raise PathNotFound(path=path) from error
    except OSError as error:
        raise FileUnreadable(path=path, reason=error.strerror or error) from error


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a text file in UTF-8, of any size."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    SetFile(str(path)).refuse(number, f"it is longer than {_LONGEST_LINE:,} characters")
                yield line
    except UnicodeDecodeError as error:
        raise EvaluationSetInvalid(path=path, line=number + 1, reason="it is not UTF-8") from error
    except FileNotFoundError as error:
        raise PathNotFound(path=path) from error
    except OSError as error:
        raise FileUnreadable(path=path, reason=error.strerror or error) from error


def _set_without_sources(path: Path) -> EvaluationSet:
    folder = path.resolve().parent
    name = pack_name(folder) + NO_SOURCE_SUFFIX
    queries = folder / "queries.jsonl"
    judged = read_judgements(read_lines(_judgements(folder)), str(_judgements(folder)))
    gone = read_without_sources(read_text(path), str(path))
    return without_sources(read_lines(queries), judged, str(queries), name, name, gone)


def _judgements(folder: Path) -> Path:
    return next((folder / name for name in _JUDGEMENTS if (folder / name).exists()), folder / _JUDGEMENTS[0])
