"""Vectors for texts of one's own, by the embedding models of a library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wenyuan.errors import InvalidValue
from wenyuan.ports import Vectors
from wenyuan.rules.embedding_input import batches
from wenyuan.runtime.access import Grants
from wenyuan.runtime.library import Library
from wenyuan.types import Side


@dataclass(frozen=True, slots=True)
class GrantedEmbeddings:
    """What a caller with the scope read may have embedded. What is embedded is kept nowhere."""

    library: Library
    grants: Grants

    def models(self) -> list[str]:
        """The names of the embedding models there are."""
        self.grants.require("read")
        return self.library.models.names("embedding")

    def embed(self, model: str, texts: Sequence[str], side: Side, dimensions: int | None) -> Vectors:
        """Return one unit-length row per text, of which there is at least one.

        `dimensions` are those that are expected. Raises `InvalidValue` where the model has others,
        `ModelNotConfigured`, or what a model raises that cannot be used.
        """
        self.grants.require("read")
        models = self.library.models
        embedder = models.embedder(model)
        has = embedder.identity.dimensions
        if dimensions is not None and dimensions != has:
            raise InvalidValue(what="The dimensions", value=dimensions, reason=f"the model {model} has {has}")
        sized = ((text, len(text)) for text in texts)
        in_batches = batches(sized, embedder.max_batch_texts, embedder.max_batch_characters)
        return np.concatenate([embedder.embed(batch, side, models.call_seconds(model)) for batch in in_batches])
