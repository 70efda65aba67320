"""How a document would be cut otherwise, found out from its stored file; nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass

from wenyuan.config import Settings
from wenyuan.errors import FileVanished
from wenyuan.flows.preview import Converting, preview
from wenyuan.runtime.file_readers import reader_for
from wenyuan.runtime.knowledge_bases import checked_chunking
from wenyuan.runtime.remote_readers import remote_readers
from wenyuan.store import documents, file_passwords
from wenyuan.store.blobs import BlobDirectory
from wenyuan.store.database import Database
from wenyuan.types import Chunk, ChunkingConfig


@dataclass(frozen=True, slots=True)
class ChunkPreview:
    """How many passages there would be and how long they are, in characters; `samples` are spread over the document.

    `chunk_count_now` is how many there are as it is cut now.
    """

    document_id: str
    chunking: ChunkingConfig
    chunk_count: int
    chunk_count_now: int
    text_length: int
    shortest: int
    longest: int
    mean: float
    samples: tuple[Chunk, ...]


class ChunkPreviews:
    def __init__(self, database: Database, blobs: BlobDirectory, principal: str, settings: Settings) -> None:
        self._database = database
        self._blobs = blobs
        self._principal = principal
        self._settings = settings

    def preview(self, document_id: str, config: ChunkingConfig) -> ChunkPreview:
        """Read a document's newest file and cut it, by the code that would do it.

        Raises `InvalidValue`, `DocumentNotFound`, `FileVanished`, or `DocumentError` for the file.
        """
        chunking = checked_chunking(config)
        with self._database.read() as tx:
            record = documents.find(tx, self._principal, document_id)
            password = file_passwords.of(tx, record.document.id)
        path = self._blobs.path(record.latest.blob_sha256).absolute()
        if not path.is_file():
            raise FileVanished(path=path)
        converter_for = remote_readers(self._settings)
        converting = Converting(converter_for, self._blobs) if converter_for is not None else None
        with reader_for(self._settings) as reader:
            found = preview(reader, path, chunking, password, 0, converting, record.document.name)
        return ChunkPreview(
            record.document.id,
            chunking,
            found.chunk_count,
            record.latest.chunk_count,
            found.text_length,
            found.shortest,
            found.longest,
            round(found.mean, 1),
            found.samples,
        )
