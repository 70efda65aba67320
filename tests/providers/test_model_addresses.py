"""A model is at no address where clouds hand out credentials, unless this machine's settings say so."""

from __future__ import annotations

import pytest

from tests.chat_server import MODEL, Reply, chatting
from wenyuan.errors import ConfigurationInvalid, ProviderUnavailable
from wenyuan.providers.model_addresses import hands_out_credentials
from wenyuan.providers.openai_chat import OpenAIChat
from wenyuan.providers.settings import ModelSettings
from wenyuan.types import GenerationRequest, Message

HELLO = GenerationRequest((Message("user", "hello"),))


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.170.2",
        "fe80::1%eth0",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
    ],
)
def test_addresses_of_credentials_are_known_in_every_writing(address: str) -> None:
    assert hands_out_credentials(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.5", "192.168.1.2", "fd00::1", "8.8.8.8"])
def test_machines_of_ones_own_network_may_be_models(address: str) -> None:
    assert not hands_out_credentials(address)


@pytest.mark.parametrize("host", ["169.254.169.254", "[::ffff:a9fe:a9fe]", "0xa9fea9fe", "2852039166"])
def test_they_are_not_called_however_they_are_written(host: str) -> None:
    settings = ModelSettings("writer", "openai-compatible", MODEL, base_url=f"http://{host}/v1", types=("chat",))
    with pytest.raises(ConfigurationInvalid, match="link_local") as failure:
        next(OpenAIChat(settings).generate(HELLO, 30.0, lambda: False))
    assert failure.value.details["setting"] == "models.writer.base_url"


def test_a_host_without_an_address_is_unavailable() -> None:
    settings = ModelSettings("writer", "openai-compatible", MODEL, base_url="http://none.invalid/v1", types=("chat",))
    with pytest.raises(ProviderUnavailable, match="ConnectError"):
        next(OpenAIChat(settings).generate(HELLO, 0.2))


def test_settings_may_say_that_one_is_meant() -> None:
    with chatting(Reply("hello")) as server:
        settings = ModelSettings(
            "writer", "openai-compatible", MODEL, base_url=server.base_url, types=("chat",), link_local=True
        )
        assert len(list(OpenAIChat(settings).generate(HELLO, 30.0))) > 1
