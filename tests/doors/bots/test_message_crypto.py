"""Encrypted messages are what the platforms publish, and what other implementations make."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doors.bots.simulators import AES_KEY, SECRET, TOKEN, FeishuSimulator, WeComSimulator
from wenyuan.doors.bots.message_crypto import MessageCrypto, decrypt_with_passphrase

PUBLISHED = "fsi1xnbH4yQh0+PJxcOdhhK6TDXkjMyhEPA7xB2TGz6b+g7xyAbEkRxN/3cNXW9qdqjnoVzEtpbhnFyq6SVHyA=="


def test_what_the_platform_publishes_is_read() -> None:
    crypto = MessageCrypto(TOKEN, AES_KEY, "ww1436e0e65a779aee")
    assert crypto.is_signed("012bc692d0a58dd4b10f8dfe5c4ac00ae211ebeb", "1476416373", "47744683", PUBLISHED)
    assert crypto.decrypt(PUBLISHED) == b"1288432023552776189"
    with pytest.raises(ValueError, match="another receiver"):
        MessageCrypto(TOKEN, AES_KEY, "").decrypt(PUBLISHED)


@given(st.binary(max_size=100))
def test_another_implementation_reads_what_is_written_and_the_other_way_round(text: bytes) -> None:
    crypto, other = MessageCrypto(TOKEN, AES_KEY, "them"), WeComSimulator("", "them")
    assert crypto.decrypt(other.encrypt(text)) == text
    assert other.decrypt(crypto.encrypt(b'{"a": "%s"}' % base64.b64encode(text))) == {
        "a": base64.b64encode(text).decode()
    }
    assert len(base64.b64decode(crypto.encrypt(text))) % 32 == 0


def decrypt_of_wecom(encrypted: str) -> bytes:
    return MessageCrypto(TOKEN, AES_KEY, "").decrypt(encrypted)


def decrypt_of_feishu(encrypted: str) -> bytes:
    return decrypt_with_passphrase(SECRET, encrypted)


@given(st.binary(max_size=31), st.sampled_from([decrypt_of_wecom, decrypt_of_feishu]))
def test_rubbish_is_refused_and_nothing_else_happens(data: bytes, decrypt: Callable[[str], bytes]) -> None:
    with pytest.raises(ValueError, match=r"it|padding"):
        decrypt(base64.b64encode(data).decode())


def test_a_message_of_feishu_is_read() -> None:
    encrypted = json.loads(FeishuSimulator("").encrypt({"text": "你好"}))["encrypt"]
    assert json.loads(decrypt_with_passphrase(SECRET, encrypted)) == {"text": "你好"}


@pytest.mark.parametrize("key", ["", "short", "水" * 43, AES_KEY + "AAAA"])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"base64|43"):
        MessageCrypto(TOKEN, key, "")
