"""Which machines a model may be: any but those at which a cloud tells the machine itself its secrets.

Whoever administers a library names the addresses of models, also over HTTP; what such an address answers may come back
in an error. A server in a cloud can read its own credentials at addresses that are link-local or fixed, so that these
are no models unless the settings of this machine say so (OWASP: server-side request forgery).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator

from wenyuan.errors import ConfigurationInvalid

_REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            "169.254.0.0/16",
            "fe80::/10",
            # The same of Azure, Alibaba Cloud, Oracle Cloud and, in IPv6, of Amazon and Google.
            "168.63.129.16/32",
            "100.100.100.200/32",
            "192.0.0.192/32",
            "fd00:ec2::254/128",
            "fd20:ce::254/128",
        ),
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def hands_out_credentials(address: str) -> bool:
    """Whether a cloud may answer at an IP address with secrets of the machine that asks."""
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip.ipv4_mapped or ip.sixtofour
        ip = embedded or ip
    return any(ip in network for network in _REFUSED)


def judged_addresses(host: str, port: int, model: str) -> Iterator[str]:
    """The addresses of a host. Raises `ConfigurationInvalid` at one where clouds hand out credentials."""
    import httpcore2

    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(str(error)) from error
    for address in dict.fromkeys(str(one[4][0]) for one in found):
        if hands_out_credentials(address):
            raise ConfigurationInvalid(
                setting=f"models.{model}.base_url",
                source="the settings",
                reason=f"{host} is at {address}, where clouds hand out credentials; `link_local = true` in the model's "
                "table of wenyuan.toml allows it",
            )
        yield address
