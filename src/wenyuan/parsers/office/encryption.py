"""How Office locks a document with a password ([MS-OFFCRYPTO]): agile (2010 and later) and standard (2007)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wenyuan.parsers.office.block_cipher import BLOCK, decrypted_blocks, decrypted_chain

if TYPE_CHECKING:
    from lxml.etree import _Element

_AGILE, _STANDARD = (4, 4), 2
_SEGMENT = 4096
_MOST_SPINS = 2_000_000
_STANDARD_SPINS = 50_000
_HASHES = {"SHA1": "sha1", "SHA-1": "sha1", "SHA256": "sha256", "SHA384": "sha384", "SHA512": "sha512"}
_KEY_BYTES = (16, 24, 32)
# What is mixed into the hash for each purpose (2.3.4.13).
_VERIFIER_INPUT = bytes.fromhex("fea7d2763b4b9e79")
_VERIFIER_VALUE = bytes.fromhex("d7aa0f6d3061344e")
_KEY_VALUE = bytes.fromhex("146e0be7abacd0d6")


class UnknownEncryption(ValueError):
    """The document is locked in a way that is not understood, or what describes it is damaged."""


def unlocked(information: bytes, package: bytes, password: str) -> bytes | None:
    """The document in `package`, or None if that is not the password. Raises `UnknownEncryption`."""
    try:
        versions = struct.unpack_from("<HH", information)
        lock = _agile(information[8:]) if versions == _AGILE else _standard(information, versions)
        key = lock(password)
        if key is None:
            return None
        size = int.from_bytes(package[:8], "little")
        data = package[8 : 8 + (len(package) - 8) // BLOCK * BLOCK]
        return key(data)[:size]
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise UnknownEncryption(str(error)) from error


Decrypt = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class _Parameters:
    """What an element of the agile description says of a key."""

    salt: bytes
    block: int
    key_bytes: int
    algorithm: str
    hash_bytes: int

    @classmethod
    def of(cls, element: _Element) -> _Parameters:
        if element.get("cipherAlgorithm") != "AES" or element.get("cipherChaining") != "ChainingModeCBC":
            raise UnknownEncryption("another cipher than AES in CBC mode")
        found = cls(
            base64.b64decode(element.get("saltValue", "")),
            int(element.get("blockSize", "")),
            int(element.get("keyBits", "")) // 8,
            _HASHES[element.get("hashAlgorithm", "")],
            int(element.get("hashSize", "")),
        )
        if found.block != BLOCK or found.key_bytes not in _KEY_BYTES:
            raise UnknownEncryption("keys or blocks of unknown size")
        return found

    def hashed(self, data: bytes) -> bytes:
        return hashlib.new(self.algorithm, data).digest()


def _agile(description: bytes) -> Callable[[str], Decrypt | None]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(description, parser)
    except etree.XMLSyntaxError as error:
        raise UnknownEncryption(error.msg or "its description is damaged") from error
    data_element, key_element = root.find("{*}keyData"), root.find(".//{*}encryptedKey")
    if data_element is None or key_element is None:
        raise UnknownEncryption("no key that a password opens")
    whole, locked = _Parameters.of(data_element), _Parameters.of(key_element)
    spins = int(key_element.get("spinCount", ""))
    if not 0 <= spins <= _MOST_SPINS:
        raise UnknownEncryption(f"a password that is hashed {spins} times")
    verifier, value, key = (
        base64.b64decode(key_element.get(name, ""))
        for name in ("encryptedVerifierHashInput", "encryptedVerifierHashValue", "encryptedKeyValue")
    )

    def opened(password: str) -> Decrypt | None:
        spun = _spun(locked.algorithm, locked.salt, password, spins)

        def part(purpose: bytes, data: bytes) -> bytes:
            derived = locked.hashed(spun + purpose)[: locked.key_bytes].ljust(locked.key_bytes, b"\x36")
            return decrypted_chain(derived, locked.salt.ljust(BLOCK, b"\x36")[:BLOCK], data)

        expected = part(_VERIFIER_VALUE, value)[: locked.hash_bytes]
        if not hmac.compare_digest(locked.hashed(part(_VERIFIER_INPUT, verifier)[: len(locked.salt)]), expected):
            return None
        secret = part(_KEY_VALUE, key)[: whole.key_bytes]
        return lambda data: _segments(data, secret, whole)

    return opened


def _segments(data: bytes, key: bytes, whole: _Parameters) -> bytes:
    """The document: each 4,096 bytes are chained to a vector of their own. All blocks are decrypted in one go."""
    import numpy as np

    vectors = [
        whole.hashed(whole.salt + struct.pack("<I", number))[:BLOCK] for number in range(-(-len(data) // _SEGMENT))
    ]
    before = bytearray(b"\0" * BLOCK + data)[: len(data)]
    for number, vector in enumerate(vectors):
        before[number * _SEGMENT : number * _SEGMENT + BLOCK] = vector
    plain = np.frombuffer(decrypted_blocks(key, data), np.uint8)
    return (plain ^ np.frombuffer(bytes(before), np.uint8)).tobytes()


def _standard(information: bytes, versions: tuple[int, ...]) -> Callable[[str], Decrypt | None]:
    if versions[1] != _STANDARD:
        raise UnknownEncryption(f"version {versions[0]}.{versions[1]} of encryption")
    header_size = int.from_bytes(information[8:12], "little")
    key_bytes = int.from_bytes(information[28:32], "little") // 8 or 16
    if key_bytes not in _KEY_BYTES:
        raise UnknownEncryption("keys of unknown size")
    verifier = information[12 + header_size :]
    salt, locked, value = verifier[4:20], verifier[20:36], verifier[40:72]

    def opened(password: str) -> Decrypt | None:
        final = hashlib.sha1(_spun("sha1", salt, password, _STANDARD_SPINS) + bytes(4)).digest()
        halves = (
            hashlib.sha1(
                bytes(left ^ right for left, right in zip(final.ljust(64, b"\0"), bytes([pad]) * 64, strict=True))
            )
            for pad in (0x36, 0x5C)
        )
        key = b"".join(half.digest() for half in halves)[:key_bytes]
        expected = decrypted_blocks(key, value)[:20]
        if not hmac.compare_digest(hashlib.sha1(decrypted_blocks(key, locked)).digest(), expected):
            return None
        return lambda data: decrypted_blocks(key, data)

    return opened


def _spun(algorithm: str, salt: bytes, password: str, spins: int) -> bytes:
    """The password hashed over and over, so that guessing it takes long."""
    found = hashlib.new(algorithm, salt + password.encode("utf-16-le")).digest()
    make = getattr(hashlib, algorithm)
    for number in range(spins):
        found = make(number.to_bytes(4, "little") + found).digest()
    return found
