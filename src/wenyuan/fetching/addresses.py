"""Addresses of pages in one form, and which machines may be asked for them.

A server that fetches what others name can be sent into its own network: to a router, a database, or
the address at which clouds hand out credentials (OWASP: server-side request forgery). What counts is
not how a host is written but which machine is connected to, so that is what is judged.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from wenyuan.errors import AddressInvalid

LONGEST_ADDRESS = 4000

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_DEFAULT_PORTS = {"http": 80, "https": 443}

# What the IANA registries of special-purpose addresses hold (RFC 6890), and multicast. Python's own notion of it
# has changed from version to version.
_NOT_PUBLIC: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "an address of no machine"),
    ("10.0.0.0/8", "a private address"),
    ("100.64.0.0/10", "an address within a provider's network"),
    ("127.0.0.0/8", "a loopback address"),
    ("169.254.0.0/16", "a link-local address, as clouds use for metadata"),
    ("172.16.0.0/12", "a private address"),
    ("192.0.0.0/24", "a reserved address"),
    ("192.0.2.0/24", "a reserved address"),
    ("192.88.99.0/24", "a reserved address"),
    ("192.168.0.0/16", "a private address"),
    ("198.18.0.0/15", "a reserved address"),
    ("198.51.100.0/24", "a reserved address"),
    ("203.0.113.0/24", "a reserved address"),
    ("224.0.0.0/4", "a multicast address"),
    ("240.0.0.0/4", "a reserved address"),
    # Public by its number, but it is where Azure's machines ask about themselves.
    ("168.63.129.16/32", "a cloud's metadata address"),
    ("::1/128", "a loopback address"),
    ("fc00::/7", "a private address"),
    ("fe80::/10", "a link-local address"),
    ("ff00::/8", "a multicast address"),
    ("2001::/23", "a reserved address"),
    ("2001:db8::/32", "a reserved address"),
    ("3fff::/20", "a reserved address"),
)
_NETWORKS = tuple((ipaddress.ip_network(network), reason) for network, reason in _NOT_PUBLIC)
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_page(text: str) -> bool:
    """Whether what a person names is the address of a page rather than a path."""
    return text.lstrip()[:8].lower().startswith(("http://", "https://"))


def normalised(address: str) -> str:
    """The address as it identifies a page: escaped, in ASCII, without default port and fragment.

    Raises `AddressInvalid`: for anything but http and https, and for a user or password in it.
    """
    # Loading httpx2 takes longer than a program that fetches nothing may wait for.
    import httpx2

    text = address.strip()
    if len(text) > LONGEST_ADDRESS:
        raise AddressInvalid(address=f"{text[:80]}…", reason=f"the longest is {LONGEST_ADDRESS} characters")
    shown = _without_user(text)
    try:
        url = httpx2.URL(text)
        host = url.raw_host.decode("ascii")
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise AddressInvalid(address=shown, reason="it is no address of a page") from error
    if url.scheme not in _DEFAULT_PORTS:
        raise AddressInvalid(address=shown, reason="only http and https are fetched")
    if url.userinfo:
        raise AddressInvalid(address=shown, reason="a user or a password in it would be stored and shown")
    if not host or "%" in host or (url.port is not None and not 0 < url.port < 65536):
        raise AddressInvalid(address=shown, reason="it names no host")
    name = f"[{host}]" if ":" in host else host.lower()
    port = "" if url.port in (None, _DEFAULT_PORTS[url.scheme]) else f":{url.port}"
    return f"{url.scheme}://{name}{port}{url.raw_path.decode('ascii')}"


def joined(address: str, location: str) -> str:
    """Where a redirect leads. Raises `AddressInvalid` like `normalised`."""
    import httpx2

    try:
        return normalised(str(httpx2.URL(address).join(location)))
    except httpx2.InvalidURL as error:
        raise AddressInvalid(address=_without_user(location), reason="it is no address of a page") from error


def why_private(address: IPAddress) -> str:
    """What kind of address it is that no page of the public internet has; empty for a public one.

    Where an IPv6 address only carries an IPv4 address (IPv4-mapped, 6to4, NAT64), that one is judged.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = _carried(address)
        if inner is not None:
            return why_private(inner)
    for network, reason in _NETWORKS:
        if address in network:
            return reason
    return "a reserved address" if address.version == 6 and address not in _GLOBAL_UNICAST else ""


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _without_user(text: str) -> str:
    """An address to be shown; what may be a password is left out."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return text.rpartition("@")[2][:80]
    return text.replace(parts.netloc, parts.netloc.rpartition("@")[2], 1) if "@" in parts.netloc else text
