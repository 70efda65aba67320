"""Messages under AES-256 in CBC mode, in the two ways that chat platforms use."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import struct

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

_AES_BLOCK, _WECOM_BLOCK = 16, 32
_RANDOM, _LENGTH = 16, 4


class MessageCrypto:
    """Messages of WeCom: random bytes, the length, the message, its receiver, padded to blocks of 32 bytes.

    See https://developer.work.weixin.qq.com/document/path/101033. Raises `ValueError` for a key that is none.
    """

    def __init__(self, token: str, encoding_aes_key: str, receiver: str) -> None:
        self._token = token
        self._receiver = receiver.encode()
        self._key = _decoded(encoding_aes_key + "=")
        if len(self._key) != 32:
            raise ValueError("an EncodingAESKey has 43 characters")

    def signature(self, timestamp: str, nonce: str, encrypted: str) -> str:
        """SHA-1 over the four, sorted and joined, in hexadecimal digits."""
        return hashlib.sha1("".join(sorted((self._token, timestamp, nonce, encrypted))).encode()).hexdigest()

    def is_signed(self, signature: str, timestamp: str, nonce: str, encrypted: str) -> bool:
        return hmac.compare_digest(self.signature(timestamp, nonce, encrypted).encode(), signature.encode())

    def decrypt(self, encrypted: str) -> bytes:
        """The message. Raises `ValueError` for what was not encrypted so, or for another receiver."""
        text = _unpadded(_decrypted(self._key, self._key[:_AES_BLOCK], _decoded(encrypted)), _WECOM_BLOCK)
        if len(text) < _RANDOM + _LENGTH:
            raise ValueError("it is too short")
        (length,) = struct.unpack(">I", text[_RANDOM : _RANDOM + _LENGTH])
        rest = text[_RANDOM + _LENGTH :]
        if length > len(rest) or rest[length:] != self._receiver:
            raise ValueError("it is for another receiver")
        return rest[:length]

    def encrypt(self, message: bytes) -> str:
        text = os.urandom(_RANDOM) + struct.pack(">I", len(message)) + message + self._receiver
        return base64.b64encode(_encrypted(self._key, self._key[:_AES_BLOCK], _padded(text, _WECOM_BLOCK))).decode()


def decrypt_with_passphrase(passphrase: str, encrypted: str) -> bytes:
    """A message of Feishu: under the SHA-256 of a passphrase, its first 16 bytes being the initialization vector.

    See https://open.feishu.cn/document/server-docs/event-subscription-guide. Raises `ValueError`.
    """
    data = _decoded(encrypted)
    if len(data) < 2 * _AES_BLOCK:
        raise ValueError("it is too short")
    key = hashlib.sha256(passphrase.encode()).digest()
    return _unpadded(_decrypted(key, data[:_AES_BLOCK], data[_AES_BLOCK:]), _AES_BLOCK)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("it is not base64") from error


def _decrypted(key: bytes, vector: bytes, data: bytes) -> bytes:
    if not data or len(data) % _AES_BLOCK:
        raise ValueError("it does not consist of whole blocks")
    cipher = Cipher(AES(key), CBC(vector)).decryptor()
    return cipher.update(data) + cipher.finalize()


def _encrypted(key: bytes, vector: bytes, data: bytes) -> bytes:
    cipher = Cipher(AES(key), CBC(vector)).encryptor()
    return cipher.update(data) + cipher.finalize()


def _padded(data: bytes, block: int) -> bytes:
    """PKCS #7 (RFC 5652, 6.3)."""
    missing = block - len(data) % block
    return data + bytes([missing]) * missing


def _unpadded(data: bytes, block: int) -> bytes:
    missing = data[-1]
    if not 1 <= missing <= block or data[-missing:] != bytes([missing]) * missing:
        raise ValueError("its padding is wrong")
    return data[:-missing]
