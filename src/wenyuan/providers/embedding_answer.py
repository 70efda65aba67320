"""What an embeddings endpoint answers, checked before anything is made of it."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wenyuan.errors import DimensionMismatch, ProviderAnswerInvalid
from wenyuan.ports import Vectors


def read_vectors(body: bytes, count: int, dimensions: int, provider: str) -> Vectors:
    """Return the unit vectors of an answer in the order of the inputs, float32, shape (count, dimensions).

    Takes vectors as lists of numbers or as base64 of little-endian float32. Raises
    `ProviderAnswerInvalid` and `DimensionMismatch`.
    """
    vectors = np.empty((count, dimensions), np.float64)
    for position, embedding in _ordered(_items(body, count, provider), provider):
        values = _values(embedding, provider)
        if len(values) != dimensions:
            raise DimensionMismatch(provider=provider, actual=len(values), expected=dimensions)
        vectors[position] = values
    if not np.isfinite(vectors).all():
        raise ProviderAnswerInvalid(provider=provider, reason="a vector holds a value that is not a finite number")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise ProviderAnswerInvalid(provider=provider, reason="a vector has no length to divide by")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit


def _items(body: bytes, count: int, provider: str) -> list[dict[str, Any]]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ProviderAnswerInvalid(provider=provider, reason="it is not a JSON object")
    items = _listed(answer)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ProviderAnswerInvalid(provider=provider, reason="it has no list of embeddings named data")
    if len(items) != count:
        raise ProviderAnswerInvalid(provider=provider, reason=f"{len(items)} embeddings for {count} texts")
    return items


def _listed(answer: dict[str, Any]) -> Any:
    """The embeddings of an answer, as OpenAI lists them; Cohere's are lists by the type of their numbers."""
    embeddings = answer.get("embeddings")
    if isinstance(embeddings, dict) and isinstance(embeddings.get("float"), list):
        return [{"embedding": values} for values in embeddings["float"]]
    return answer.get("data")


def _ordered(items: list[dict[str, Any]], provider: str) -> list[tuple[int, Any]]:
    """Return (position, embedding) pairs; `index` tells the position where the items have one."""
    expected = list(range(len(items)))
    stated = [item.get("index") for item in items]
    positions = [position for position in stated if type(position) is int]
    if all(position is None for position in stated):
        positions = expected
    elif sorted(positions) != expected:
        raise ProviderAnswerInvalid(provider=provider, reason="its indexes do not number the texts")
    return [(position, item.get("embedding")) for position, item in zip(positions, items, strict=True)]


def _values(embedding: Any, provider: str) -> NDArray[np.floating[Any]]:
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
        except (binascii.Error, ValueError) as error:
            raise ProviderAnswerInvalid(provider=provider, reason="an embedding is not base64 of floats") from error
    if isinstance(embedding, list) and all(type(value) in (int, float) for value in embedding):
        try:
            return np.array(embedding, np.float64)
        except OverflowError as error:
            raise ProviderAnswerInvalid(provider=provider, reason="an embedding holds a number too large") from error
    raise ProviderAnswerInvalid(provider=provider, reason="an embedding is neither numbers nor base64")
