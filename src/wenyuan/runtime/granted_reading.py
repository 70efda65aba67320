"""Documents as a person reads them: pages as pictures, places of a text, and how they would be cut otherwise."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.errors import CitationNotFound
from wenyuan.runtime.access import Grants
from wenyuan.runtime.chunk_previews import ChunkPreview
from wenyuan.runtime.document_contents import FoundInDocument
from wenyuan.runtime.documents import PlacePicture
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig


@dataclass(frozen=True, slots=True)
class GrantedReading:
    library: Library
    grants: Grants

    def page(self, document_id: str, page: int, scale: float) -> PlacePicture:
        """A page as a picture, from 1. Raises `DocumentNotFound`, and what `Documents.page` raises."""
        return self.library.documents.page(self._document(document_id), page, scale)

    def cited_page(self, document_id: str, citation: str, scale: float, page: int | None) -> PlacePicture:
        """The page a cited passage of this document begins on, or another one, with what of it stands there lit.

        Raises `CitationNotFound`, and what `Documents.picture` raises.
        """
        document = self._document(document_id)
        self.grants.check_citation(citation)
        if self.library.documents.open(citation).document.id != document:
            raise CitationNotFound(citation=citation)
        return self.library.documents.picture(citation, scale, page)

    def find(self, document_id: str, text: str, start: int, limit: int) -> FoundInDocument:
        return self.library.contents.find(self._document(document_id), text, start, limit)

    def preview_chunking(self, document_id: str, chunking: ChunkingConfig) -> ChunkPreview:
        return self.library.chunk_previews.preview(self._document(document_id), chunking)

    def _document(self, document_id: str) -> str:
        self.grants.require("read")
        return self.grants.document(document_id).document.id
