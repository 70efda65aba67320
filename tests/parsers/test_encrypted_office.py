"""Documents behind a password, locked by another program than the one that opens them here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parsers.compound_file import compound_file
from wenyuan.errors import FileEncrypted, FileMalformed, PasswordWrong
from wenyuan.parsers.office.block_cipher import decrypted_blocks, decrypted_chain
from wenyuan.parsers.office.ole_storage import opened_storage
from wenyuan.parsers.reading import read_file
from wenyuan.types import Block

FILES = Path(__file__).parent.parent / "fixtures" / "files"
PASSWORD = "密码secret"


def texts(path: Path, password: str = "") -> list[str]:
    return [event.text for event in read_file(path, path.name, password=password) if isinstance(event, Block)]


@pytest.mark.parametrize("name", ["protected.xlsx", "protected-2007.xlsx"])
def test_the_right_password_opens_a_document_and_no_other(name: str) -> None:
    assert texts(FILES / name, PASSWORD) == texts(FILES / "book.xlsx")
    with pytest.raises(FileEncrypted):
        texts(FILES / name)
    with pytest.raises(PasswordWrong):
        texts(FILES / name, "secret")


def test_a_workbook_that_is_only_to_be_read_needs_no_password() -> None:
    assert texts(FILES / "protected-for-reading.xlsx") == texts(FILES / "book.xlsx")


@pytest.mark.parametrize(
    ("key", "locked"),
    [
        (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (32, "8ea2b7ca516745bfeafc49904b496089"),
    ],
)
def test_the_cipher_is_that_of_the_standard(key: int, locked: str) -> None:
    """FIPS 197, appendix C."""
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert decrypted_blocks(bytes(range(key)), bytes.fromhex(locked) * 3) == plain * 3


def test_chained_blocks() -> None:
    """NIST SP 800-38A, F.2.2."""
    locked = bytes.fromhex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    assert decrypted_chain(key, bytes(range(16)), locked) == plain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'spinCount="100000"', b'spinCount="999999999"'),
        (b'cipherAlgorithm="AES"', b'cipherAlgorithm="DES"'),
        (b'hashAlgorithm="SHA512"', b'hashAlgorithm="MD2"'),
        (b'blockSize="16"', b'blockSize="99"'),
        (b"<keyData", b"<keyDat"),
        (b"\x04\x00\x04\x00", b"\x09\x00\x09\x00"),
    ],
)
def test_locks_of_an_unknown_kind_are_told(tmp_path: Path, old: bytes, new: bytes) -> None:
    with opened_storage(FILES / "protected.xlsx", "protected.xlsx", "workbook") as storage:
        streams = {name: storage.read(name) for name in ("EncryptionInfo", "EncryptedPackage")}
    assert old in streams["EncryptionInfo"]
    streams["EncryptionInfo"] = streams["EncryptionInfo"].replace(old, new)
    path = tmp_path / "a.xlsx"
    path.write_bytes(compound_file(streams))
    with pytest.raises(FileMalformed, match="unknown kind"):
        texts(path, PASSWORD)
