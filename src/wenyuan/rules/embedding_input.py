"""What is embedded for a chunk: its text, below what it needs to be understood alone, and its sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from wenyuan.rules.sentences import telling_sentences

Sized = TypeVar("Sized")

MOST_SENTENCES = 16


def embedding_input(heading_path: Sequence[str], context: str, text: str) -> str:
    """The text to embed: headings, context and passage, a line each.

    A heading that the passage itself begins with is not repeated. The input depends on nothing but
    the passage's own document, not on where the document lies, so that copies share their vectors.
    """
    if heading_path and text.lstrip("# ").startswith(heading_path[-1]):
        heading_path = heading_path[:-1]
    return "\n".join(part for part in (" > ".join(heading_path), context, text) if part)


def sentence_inputs(heading_path: Sequence[str], text: str, most: int = MOST_SENTENCES) -> list[str]:
    """What of a passage is embedded besides: each of its sentences below the headings; nothing where there is but one.

    A sentence rarely repeats what it is about. Of many several go together, so that there are never more than `most`.
    """
    said = [text[start:end] for start, end in telling_sentences(text)]
    together = -(-len(said) // most)
    if together > 1:
        said = ["\n".join(said[at : at + together]) for at in range(0, len(said), together)]
    return [embedding_input(heading_path, "", one) for one in said] if len(said) > 1 else []


def input_hash(text: str) -> bytes:
    """16 bytes that stand for an embedded text (BLAKE2b, RFC 7693)."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def batches(
    items: Iterable[tuple[Sized, int]],
    max_items: int,
    max_characters: int,
    counted: Callable[[Sized], int] = lambda _: 1,
) -> Iterator[list[Sized]]:
    """Group (item, characters) into batches of at most so many items and characters; an item may count for several.

    An item that is too long by itself gets a batch of its own.
    """
    batch: list[Sized] = []
    size = characters = 0
    for item, length in items:
        count = counted(item)
        if batch and (size + count > max_items or characters + length > max_characters):
            yield batch
            batch, size, characters = [], 0, 0
        batch.append(item)
        size += count
        characters += length
    if batch:
        yield batch
