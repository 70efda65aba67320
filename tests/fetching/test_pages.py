"""Fetching a page from a real server: conditions, redirects, limits, and where it must not lead."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from unittest import mock

import pytest

from tests.web_server import Answer, WebServer
from wenyuan.errors import AddressInvalid, AddressRefused, FileTooLarge, PageUnavailable, PageUnusable
from wenyuan.fetching.pages import FetchRules, Page, Validators, fetch

PRIVATE = FetchRules(seconds=20, allow_private=True)


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer().running() as running:
        yield running


def fetched(address: str, known: Validators | None = None, rules: FetchRules = PRIVATE) -> Page[bytes]:
    return fetch(address, known or Validators(), rules, b"".join)


def test_a_page_comes_with_what_is_said_of_it(server: WebServer) -> None:
    headers = {
        "Content-Type": 'Text/HTML; Charset="GBK"',
        "ETag": '"1"',
        "Last-Modified": "Tue, 14 Apr 2026 08:00:00 GMT",
    }
    server.pages["/a"] = Answer("你好".encode("gbk"), headers=headers)
    page = fetched(server.url("/a"))
    assert (page.status, page.kept, page.address) == (200, "你好".encode("gbk"), server.url("/a"))
    assert (page.media_type, page.charset) == ("text/html", "gbk")
    assert page.validators == Validators('"1"', "Tue, 14 Apr 2026 08:00:00 GMT")


def test_what_is_known_makes_the_question_conditional(server: WebServer) -> None:
    server.pages["/c"] = Answer(status=304)
    page = fetched(server.url("/c"), Validators('W/"x"', "Tue, 14 Apr 2026 08:00:00 GMT"))
    assert (page.status, page.kept) == (304, None)
    _, headers = server.asked[-1]
    assert (headers["if-none-match"], headers["if-modified-since"]) == ('W/"x"', "Tue, 14 Apr 2026 08:00:00 GMT")
    server.pages["/d"] = Answer(b"x")
    fetched(server.url("/d"))
    assert "if-none-match" not in server.asked[-1][1]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server: WebServer, status: int) -> None:
    server.pages["/from"] = Answer(status=status, headers={"Location": "to?x=1"})
    server.pages["/to?x=1"] = Answer(b"there")
    page = fetched(server.url("/from"))
    assert (page.kept, page.address) == (b"there", server.url("/to?x=1"))


def test_five_redirects_are_enough(server: WebServer) -> None:
    for number in range(6):
        server.pages[f"/hop{number}"] = Answer(status=302, headers={"Location": f"/hop{number + 1}"})
    server.pages["/hop6"] = Answer(b"end")
    assert fetched(server.url("/hop1")).kept == b"end"
    with pytest.raises(PageUnusable):
        fetched(server.url("/hop0"))
    server.pages["/round"] = Answer(status=302, headers={"Location": "/round"})
    with pytest.raises(PageUnusable):
        fetched(server.url("/round"))


def test_a_body_is_unpacked(server: WebServer) -> None:
    for name, packed in (("gzip", gzip.compress(b"text" * 99)), ("deflate", zlib.compress(b"text" * 99))):
        server.pages["/packed"] = Answer(packed, headers={"Content-Encoding": name})
        assert fetched(server.url("/packed")).kept == b"text" * 99
    server.pages["/packed"] = Answer(gzip.compress(b"text" * 99)[:-20], headers={"Content-Encoding": "gzip"})
    with pytest.raises(PageUnusable):
        fetched(server.url("/packed"))
    for encoding in ("br", "gzip, gzip"):
        server.pages["/packed"] = Answer(b"x", headers={"Content-Encoding": encoding})
        with pytest.raises(PageUnusable):
            fetched(server.url("/packed"))


def test_a_small_page_that_unpacks_to_a_huge_one_comes_in_small_pieces(server: WebServer) -> None:
    server.pages["/bomb"] = Answer(gzip.compress(bytes(50 << 20)), headers={"Content-Encoding": "gzip"})
    largest = 0

    def keep(pieces: Iterator[bytes]) -> int:
        nonlocal largest
        total = 0
        for piece in pieces:
            largest = max(largest, len(piece))
            total += len(piece)
            if total > 1 << 20:
                raise FileTooLarge(name="bomb", size=total, limit=1 << 20)
        return total

    with pytest.raises(FileTooLarge):
        fetch(server.url("/bomb"), Validators(), PRIVATE, keep)
    assert 0 < largest <= 1 << 18


def test_an_endless_page_is_left_when_it_is_too_large(server: WebServer) -> None:
    ended = threading.Event()

    def endless(write: Callable[[bytes], None]) -> None:
        try:
            while True:
                write(b"x" * 65536)
        finally:
            ended.set()

    server.pages["/endless"] = Answer(stream=endless)

    def keep(pieces: Iterator[bytes]) -> None:
        total = 0
        for piece in pieces:
            total += len(piece)
            if total > 1 << 20:
                raise FileTooLarge(name="endless", size=total, limit=1 << 20)

    with pytest.raises(FileTooLarge):
        fetch(server.url("/endless"), Validators(), PRIVATE, keep)
    assert ended.wait(20)


def test_who_sends_a_little_again_and_again_meets_the_deadline(server: WebServer) -> None:
    enough = threading.Event()

    def drip(write: Callable[[bytes], None]) -> None:
        while not enough.wait(0.05):
            write(b"x")

    server.pages["/drip"] = Answer(stream=drip)
    try:
        with pytest.raises(PageUnavailable):
            fetched(server.url("/drip"), rules=FetchRules(seconds=0.5, allow_private=True))
    finally:
        enough.set()


def test_who_never_answers_meets_it_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(PageUnavailable):
            fetched(address, rules=FetchRules(seconds=0.3, allow_private=True))


def test_nobody_there_is_worth_another_try() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    with pytest.raises(PageUnavailable):
        fetched(f"http://127.0.0.1:{port}/")


def test_what_is_no_http_is_unusable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(PageUnusable):
            fetched(f"http://127.0.0.1:{server.getsockname()[1]}/")
        thread.join()


# --- Where it must not lead --------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_private_address_is_not_asked(server: WebServer, host: str) -> None:
    server.pages["/secret"] = Answer(b"secret")
    with pytest.raises(AddressRefused):
        fetched(server.url("/secret", host), rules=FetchRules(seconds=20))
    assert "/secret" not in [path for path, _ in server.asked]


def _resolving(answers: dict[str, list[str]], connections: list[str]) -> mock._patch[object]:
    """A name server that says what it is told, once for each time it is asked; the last answer stays."""
    true_answer = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *args: object, **options: object) -> object:
        if host in answers:
            known = answers[host]
            address = known.pop(0) if len(known) > 1 else known[0]
            connections.append(address)
            return true_answer(address, port, type=socket.SOCK_STREAM)
        return true_answer(host, port, *args, **options)  # type: ignore[arg-type]

    return mock.patch.object(socket, "getaddrinfo", getaddrinfo)


def test_a_redirect_into_the_private_network_is_refused(server: WebServer) -> None:
    """The first host is allowed: only its name is known here, and this test takes its address for public."""
    server.pages["/secret"] = Answer(b"secret")
    server.pages["/out"] = Answer(status=302, headers={"Location": server.url("/secret", "localhost")})
    public = mock.patch(
        "wenyuan.fetching.connections.why_private", lambda one: "" if str(one) == "127.0.0.2" else "a private address"
    )
    with public, _resolving({"public.example": ["127.0.0.2"]}, []), WebServer("127.0.0.2").running() as outside:
        outside.pages = server.pages
        with pytest.raises(AddressRefused):
            fetched(outside.url("/out", "public.example"), rules=FetchRules(seconds=20))
        assert [path for path, _ in outside.asked] == ["/out"]
    assert "/secret" not in [path for path, _ in server.asked]


def test_a_redirect_to_another_protocol_is_refused(server: WebServer) -> None:
    for location in ("file:///etc/passwd", "ftp://127.0.0.1/", "http://user:pw@127.0.0.1/"):
        server.pages["/away"] = Answer(status=302, headers={"Location": location})
        with pytest.raises(AddressInvalid):
            fetched(server.url("/away"))


def test_a_name_is_resolved_once_and_that_very_address_is_connected_to(server: WebServer) -> None:
    """A name server that answers another address the second time (DNS rebinding) is not asked a second time."""
    server.pages["/bound"] = Answer(b"bound")
    connections: list[str] = []
    with _resolving({"rebinding.example": ["127.0.0.1", "192.0.2.1"]}, connections):
        assert fetched(server.url("/bound", "rebinding.example")).kept == b"bound"
    assert connections == ["127.0.0.1"]


def test_one_private_address_among_several_is_enough_to_refuse(server: WebServer) -> None:
    with _resolving({"mixed.example": ["10.0.0.1"]}, []), pytest.raises(AddressRefused):
        fetched(server.url("/", "mixed.example"), rules=FetchRules(seconds=20))


# --- Proxies -----------------------------------------------------------------------------------------


def test_proxies_of_the_environment_are_used_only_if_that_is_set(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WebServer().running() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url(""))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        server.pages["/direct"] = Answer(b"direct")
        assert fetched(server.url("/direct")).kept == b"direct"
        assert proxy.asked == []
        address = server.url("/direct")
        proxy.pages[address] = Answer(b"by proxy")
        assert fetched(address, rules=FetchRules(20, allow_private=True, use_proxies=True)).kept == b"by proxy"
        with pytest.raises(AddressRefused):
            fetched(address, rules=FetchRules(20, use_proxies=True))
