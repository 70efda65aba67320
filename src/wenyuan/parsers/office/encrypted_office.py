"""Office documents behind a password: a compound file that holds the encrypted package ([MS-OFFCRYPTO])."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

from wenyuan.errors import FileEncrypted, FileOverLimit, PasswordWrong, UnsupportedType
from wenyuan.parsers.detection import detect
from wenyuan.parsers.office.encryption import UnknownEncryption, unlocked
from wenyuan.parsers.office.ole_storage import OleStorage, opened_storage
from wenyuan.parsers.passwords import given_password
from wenyuan.parsers.registry import parser_for
from wenyuan.types import ReadEvent

_FORMAT = "protected Office document"
_PASSWORD_OF_ALL = "VelvetSweatshop"
_LARGEST = (1 << 24) - 1
"""Bytes: what is unlocked is read from a temporary file, and a process that reads may write no larger one."""


class EncryptedOfficeParser:
    """Unlocks a document with the password that was given, and reads it as what it then is."""

    def read(self, path: Path, name: str) -> Iterator[ReadEvent]:
        """Yield what is in it.

        Raises `FileEncrypted`, `PasswordWrong`, `FileMalformed`, `FileOverLimit`, and what its reader raises.
        """
        with opened_storage(path, name, _FORMAT) as storage:
            content = _unlocked(storage, name)
        if len(content) > _LARGEST:
            raise FileOverLimit(name=name, what=f"a protected document of {len(content):,} bytes")
        with NamedTemporaryFile(prefix="unlocked-") as file:
            file.write(content)
            file.flush()
            inner = Path(file.name)
            detected = detect(inner, name)
            parser = parser_for(detected.media_type)
            if parser is None or isinstance(parser, EncryptedOfficeParser):
                raise UnsupportedType(name=name, media_type=detected.description)
            yield from parser.read(inner, name)


def _unlocked(storage: OleStorage, name: str) -> bytes:
    password = given_password.get()
    information, package = storage.read("EncryptionInfo"), storage.read("EncryptedPackage")
    try:
        content = unlocked(information, package, password or _PASSWORD_OF_ALL)
    except UnknownEncryption as error:
        raise storage.malformed(f"its lock is of an unknown kind ({error})") from error
    if content is None:
        raise (PasswordWrong if password else FileEncrypted)(name=name)
    return content
