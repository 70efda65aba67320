"""Which addresses name a page, and which machines may be asked for one."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.errors import AddressInvalid, AddressRefused
from wenyuan.fetching.addresses import is_page, joined, normalised, why_private
from wenyuan.fetching.connections import permitted_addresses


@pytest.mark.parametrize(
    ("written", "identity"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://EXAMPLE.org:443/A#part", "https://example.org/A"),
        ("http://example.org:80/", "http://example.org/"),
        ("http://example.org:8080/a?b=c", "http://example.org:8080/a?b=c"),
        ("https://例子.测试/路径?问=答", "https://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF%E5%BE%84?%E9%97%AE=%E7%AD%94"),
        ("  http://[::1]:81/x  ", "http://[::1]:81/x"),
        ("http://a.b/c/../d", "http://a.b/d"),
    ],
)
def test_a_page_has_one_address(written: str, identity: str) -> None:
    assert normalised(written) == identity
    assert normalised(identity) == identity
    assert is_page(written)


@pytest.mark.parametrize(
    "written",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "http:///path",
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://exam ple.org/",
        "http://example.org:99999/",
        "http://example.org:0/",
        "http://exa\nmple.org/",
        "http://",
        "https://example.org/" + "a" * 5000,
    ],
)
def test_what_is_no_address_of_a_page_is_refused(written: str) -> None:
    with pytest.raises(AddressInvalid) as refused:
        normalised(written)
    assert "secret" not in str(refused.value)


def test_where_a_redirect_leads_is_read_like_any_address() -> None:
    assert joined("https://a.b/c/d", "../e") == "https://a.b/e"
    assert joined("https://a.b/c", "//other.org/x") == "https://other.org/x"
    for location in ("file:///etc/passwd", "http://user:secret@a.b/", "gopher://a.b/"):
        with pytest.raises(AddressInvalid):
            joined("https://a.b/c", location)


PRIVATE = """
    127.0.0.1 127.255.255.254 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
    100.100.100.200 192.0.0.192 198.18.0.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16
    ::1 :: fe80::1 fc00::1 fd00:ec2::254 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1
    2002:7f00:1:: 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 2001:db8::1
""".split()
PUBLIC = "8.8.8.8 1.1.1.1 93.184.216.34 2606:4700::1111 2a00:1450:4001:800::200e ::ffff:8.8.8.8".split()


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_known(address: str) -> None:
    assert why_private(ipaddress.ip_address(address)) != ""


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_not_blamed(address: str) -> None:
    assert why_private(ipaddress.ip_address(address)) == ""


@given(st.ip_addresses(v=4))
def test_an_address_within_another_is_judged_too(inner: ipaddress.IPv4Address) -> None:
    if why_private(inner):
        mapped = ipaddress.ip_address(f"::ffff:{inner}")
        sixtofour = ipaddress.IPv6Address(0x2002 << 112 | int(inner) << 80)
        nat64 = ipaddress.IPv6Address(int(ipaddress.ip_address("64:ff9b::")) | int(inner))
        assert all(why_private(one) for one in (mapped, sixtofour, nat64))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost", "::1", "::ffff:127.0.0.1", "0"],
)
def test_however_a_host_is_written_its_address_decides(host: str) -> None:
    with pytest.raises(AddressRefused):
        permitted_addresses(host, 80, allow_private=False)
    assert permitted_addresses(host, 80, allow_private=True) != []
