"""Documents over HTTP: taken in whole or not at all, listed, shown, changed, and their bytes given back."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

import wenyuan as wy
from tests.doors.http.running import KEYWORD_ONLY, MEETING, Server, running

DOCUMENTS = "/knowledge-bases/default/documents"


def upload(server: Server, content: bytes, sent_as: str = "notes.md", /, **fields: str) -> httpx2.Response:
    return server.client.post(f"{DOCUMENTS}/upload", files={"file": (sent_as, content)}, data=fields)


def received(answer: httpx2.Response, status: int = 202) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def incoming(server: Server) -> list[str]:
    return [path.name for path in (server.library.path / "blobs" / "incoming").iterdir()]


# --- Taken in ------------------------------------------------------------------------------------


def test_an_upload_becomes_a_document_that_is_found(server: Server) -> None:
    answer = upload(server, MEETING.encode(), "周会.md", title="周会纪要", metadata='{"author": "林砚秋"}')
    body = received(answer)
    assert body["outcome"] == "added"
    assert answer.headers["location"] == f"/api/v1/documents/{body['document_id']}"
    server.settle()
    view = server.client.get(answer.headers["location"].removeprefix("/api/v1")).json()
    assert (view["document"]["name"], view["latest"]["state"], view["searchable"]) == ("周会.md", "ready", True)
    assert (view["latest"]["title"], view["latest"]["metadata"]["author"]) == ("周会纪要", "林砚秋")
    found = server.client.post("/search", json={"question": "PPR-9087", "filters": {"author": "林砚秋"}}).json()
    assert [hit["passage"]["document_id"] for hit in found["hits"]] == [body["document_id"]]


def test_the_same_name_again_replaces_what_it_held(server: Server) -> None:
    first = received(upload(server, b"one", "again.txt"))
    assert received(upload(server, b"one", "again.txt"))["outcome"] == "unchanged"
    second = received(upload(server, b"two", "again.txt"))
    assert (second["outcome"], second["document_id"]) == ("updated", first["document_id"])


def test_a_name_may_be_given_and_else_is_the_files_own(server: Server) -> None:
    assert received(upload(server, b"x1", r"C:\Users\me\plan.txt"))["source"] == "upload:plan.txt"
    assert received(upload(server, b"x2", "plan.txt", name="2026/plan.txt"))["source"] == "upload:2026/plan.txt"


def test_a_large_upload_is_streamed_and_whole(server: Server) -> None:
    content = b"".join(b"%07d\n" % number for number in range(1_000_000))
    body = received(upload(server, content, "numbers.txt"))
    original = server.client.get(f"/documents/{body['document_id']}/original")
    assert hashlib.sha256(original.content).digest() == hashlib.sha256(content).digest()
    assert incoming(server) == []
    server.client.delete(f"/documents/{body['document_id']}")


@pytest.mark.parametrize(
    ("content_type", "body", "where"),
    [
        ("multipart/form-data", b"", "Content-Type"),
        ("application/json", b"{}", "Content-Type"),
        ("multipart/form-data; boundary=b", b"no form", "body"),
        ("multipart/form-data; boundary=b", b"--b--\r\n", "file"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n',
            "name",
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n'
            b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n',
            "other",
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n'
            b'--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n[1]\r\n--b--\r\n',
            "metadata",
        ),
    ],
)
def test_a_form_that_is_none_leaves_nothing(server: Server, content_type: str, body: bytes, where: str) -> None:
    before = len(server.client.get(DOCUMENTS).json()["documents"])
    answer = server.client.post(f"{DOCUMENTS}/upload", content=body, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["code"]) == (422, "request-invalid")
    assert f"({where})" in answer.json()["detail"]
    assert len(server.client.get(DOCUMENTS).json()["documents"]) == before
    assert incoming(server) == []


def test_an_upload_that_breaks_off_leaves_nothing(server: Server) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    connection = httpx2.Client(base_url=server.url, timeout=5)
    before = len(server.client.get(DOCUMENTS).json()["documents"])

    def pieces() -> Any:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\n' + b"x" * 100_000
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        connection.post(
            f"/api/v1{DOCUMENTS}/upload",
            content=pieces(),
            headers={"Content-Type": "multipart/form-data; boundary=b", "Host": f"{host}:{port}"},
        )
    connection.close()
    assert len(server.client.get(DOCUMENTS).json()["documents"]) == before


def test_texts_and_pages_are_taken_in(server: Server) -> None:
    body = received(server.client.post(f"{DOCUMENTS}/text", json={"name": "备忘.md", "text": "体检在五月。"}))
    server.settle()
    text = server.client.get(f"/documents/{body['document_id']}/text", params={"start": 1, "limit": 3}).json()
    assert (text["text"], text["start"], text["end"], text["length"]) == ("检在五", 1, 4, 6)
    page = server.client.post(f"{DOCUMENTS}/url", json={"url": "http://127.0.0.1:9/x"})
    assert received(page)["source"].startswith("src_")
    assert server.client.post(f"{DOCUMENTS}/url", json={"url": "ftp://x/"}).json()["code"] == "address-invalid"


def test_the_same_key_again_does_nothing_twice(server: Server) -> None:
    headers = {"Idempotency-Key": "add-memo"}
    first = server.client.post(f"{DOCUMENTS}/text", json={"name": "memo", "text": "a"}, headers=headers)
    again = server.client.post(f"{DOCUMENTS}/text", json={"name": "memo", "text": "a"}, headers=headers)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["location"] == first.headers["location"]
    other = server.client.post(f"{DOCUMENTS}/text", json={"name": "memo", "text": "b"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "repeat-differs")
    sent = {"headers": {"Idempotency-Key": "add-file"}, "files": {"file": ("f.txt", b"one")}}
    first = server.client.post(f"{DOCUMENTS}/upload", **sent)  # type: ignore[arg-type]
    assert server.client.post(f"{DOCUMENTS}/upload", **sent).json() == first.json()  # type: ignore[arg-type]
    sent["files"] = {"file": ("f.txt", b"two")}
    assert server.client.post(f"{DOCUMENTS}/upload", **sent).json()["code"] == "repeat-differs"  # type: ignore[arg-type]


def test_a_key_that_is_too_long_is_refused_and_not_cut(server: Server) -> None:
    headers = {"Idempotency-Key": "x" * 256}
    answer = server.client.post(f"{DOCUMENTS}/text", json={"name": "memo", "text": "a"}, headers=headers)
    assert (answer.status_code, "(Idempotency-Key)" in answer.json()["detail"]) == (422, True)


def test_a_failed_creation_may_be_made_again_under_its_key(server: Server) -> None:
    headers = {"Idempotency-Key": "make-later"}
    sent = {"json": {"name": "later", "text": "a"}, "headers": headers}
    path = "/knowledge-bases/later/documents/text"
    assert server.client.post(path, **sent).status_code == 404  # type: ignore[arg-type]
    server.library.knowledge_bases.create("later")
    assert server.client.post(path, **sent).status_code == 202  # type: ignore[arg-type]


# --- Listed and shown ----------------------------------------------------------------------------


def test_documents_are_listed_in_pages(server: Server) -> None:
    server.library.knowledge_bases.create("pages")
    added = [server.library.add_text(f"text {n}", f"{n}.md", kb="pages", wait=False) for n in range(5)]
    ids = [str(one.document_id) for one in added]
    seen: list[str] = []
    cursor = ""
    while True:
        page = server.client.get("/knowledge-bases/pages/documents", params={"limit": 2, "cursor": cursor}).json()
        seen += [view["document"]["id"] for view in page["documents"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(ids)
    server.client.post(f"/documents/{ids[0]}/disable")
    listed = server.client.get("/knowledge-bases/pages/documents", params={"disabled": True}).json()["documents"]
    assert [view["document"]["id"] for view in listed] == [ids[0]]
    assert server.client.get("/knowledge-bases/pages/documents", params={"state": "gone"}).status_code == 422


def test_a_document_has_a_tag_that_changes_with_it(server: Server) -> None:
    document = server.add("tagged.md", "tagged")
    first = server.client.get(f"/documents/{document}")
    tag = first.headers["etag"]
    again = server.client.get(f"/documents/{document}", headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    server.client.post(f"/documents/{document}/disable")
    changed = server.client.get(f"/documents/{document}", headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["availability"]) == (200, "disabled")


@pytest.mark.parametrize(
    ("wanted", "status", "content"),
    [
        ("bytes=0-3", 206, b"0123"),
        ("bytes=5-", 206, b"56789"),
        ("bytes=-2", 206, b"89"),
        ("bytes=8-100", 206, b"89"),
        ("bytes=0-1,4-5", 200, b"0123456789"),
        ("bytes=5-2", 200, b"0123456789"),
        ("lines=1-2", 200, b"0123456789"),
        ("bytes=10-", 416, None),
        ("bytes=-0", 416, None),
    ],
)
def test_a_range_of_the_bytes_is_given(server: Server, wanted: str, status: int, content: bytes | None) -> None:
    document = server.add("digits.txt", "0123456789")
    answer = server.client.get(f"/documents/{document}/original", headers={"Range": wanted})
    assert answer.status_code == status
    if content is None:
        assert (answer.json()["code"], answer.headers["content-range"]) == ("range-invalid", "bytes */10")
    else:
        assert answer.content == content
        assert answer.headers["content-disposition"] == 'attachment; filename="digits.txt"'


def test_a_range_of_another_version_is_not_given(server: Server) -> None:
    document = server.add("versions.txt", "0123456789")
    headers = {"Range": "bytes=0-1", "If-Range": '"another"'}
    assert server.client.get(f"/documents/{document}/original", headers=headers).content == b"0123456789"


def test_a_place_is_where_its_citation_leads(server: Server) -> None:
    server.add("place.md", "# 地点\n\n会议在江川路四号举行。")
    found = server.client.post("/retrieve", json={"question": "江川路四号"}).json()
    place = server.client.get(f"/citations/{found['passages'][0]['citation']}").json()
    assert "江川路四号" in place["passage"]
    assert server.client.get("/citations/nothing.0").json()["code"] == "citation-not-found"


# --- Changed -------------------------------------------------------------------------------------


def test_a_document_and_its_passages_are_switched(server: Server) -> None:
    document = server.add("switch.md", "独一无二的句子甲。")

    def is_found() -> bool:
        return bool(server.client.post("/search", json={"question": "独一无二的句子甲"}).json()["hits"])

    assert is_found()
    assert server.client.post(f"/documents/{document}/disable").json()["searchable"] is False
    assert not is_found()
    server.client.post(f"/documents/{document}/enable")
    assert server.client.post(f"/documents/{document}/chunks/0/disable").json() == {"passages": 1}
    assert not is_found()
    chunks = server.client.get(f"/documents/{document}/chunks").json()
    assert [one["enabled"] for one in chunks["passages"]] == [False]
    server.client.post(f"/documents/{document}/chunks/0/enable")
    assert is_found()
    assert server.client.post(f"/documents/{document}/chunks/7/enable").json()["code"] == "passage-not-found"


def test_a_failed_document_is_retried(server: Server) -> None:
    broken = received(upload(server, b'{"a": [1, 2', "broken.json"))["document_id"]
    server.settle()
    view = server.client.get(f"/documents/{broken}").json()
    assert view["latest"]["problem"]["code"] == "file-malformed"
    retried = server.client.post(f"/documents/{broken}/retry")
    assert (retried.status_code, retried.json()["latest"]["state"]) == (202, "pending")


def test_a_locked_file_is_read_with_its_password(server: Server) -> None:
    content = Path(__file__).parents[2].joinpath("fixtures", "files", "pdf-password.pdf").read_bytes()
    document = received(upload(server, content, "locked.pdf"))["document_id"]
    server.settle()
    assert server.client.get(f"/documents/{document}").json()["latest"]["problem"]["code"] == "file-encrypted"
    answer = server.client.post(f"/documents/{document}/retry", json={"password": "secret"})
    assert "secret" not in answer.text
    received(answer)
    server.settle()
    view = server.client.get(f"/documents/{document}")
    assert view.json()["searchable"]
    assert "secret" not in view.text


def test_what_waits_is_cancelled_and_retried(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment=KEYWORD_ONLY) as library, running(library) as idle:
        document = received(upload(idle, b"waits"))["document_id"]
        assert idle.client.post(f"/documents/{document}/cancel").json()["latest"]["state"] == "cancelled"
        assert idle.client.post(f"/documents/{document}/cancel").json()["code"] == "nothing-to-cancel"
        assert idle.client.post(f"/documents/{document}/retry").json()["latest"]["state"] == "pending"
        assert idle.client.post(f"/documents/{document}/retry").json()["code"] == "nothing-to-retry"


def test_a_document_moves_and_is_deleted(server: Server) -> None:
    server.library.knowledge_bases.create("target")
    document = server.add("mover.md", "搬家的文档")
    moving = server.client.post(f"/documents/{document}/move", json={"knowledge_base": "target"})
    assert (moving.status_code, moving.json()["moving_to"]) == (202, "target")
    server.settle()
    assert server.client.get(f"/documents/{document}").json()["knowledge_base"] == "target"
    assert server.client.delete(f"/documents/{document}").status_code == 204
    gone = server.client.get(f"/documents/{document}")
    assert (gone.status_code, gone.json()["code"]) == (404, "document-not-found")
    assert gone.headers["content-type"] == "application/problem+json"


def test_a_document_is_named_by_its_id_alone(server: Server) -> None:
    server.add("named.md", "a name")
    assert server.client.get("/documents/named.md").status_code == 404
    assert server.client.get("/documents/text:named.md").status_code == 404


def test_sentences_are_in_the_language_that_is_preferred(server: Server) -> None:
    chinese = server.client.get("/documents/none", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}).json()
    assert chinese["detail"] == "没有文档 'none'。"
    english = server.client.get("/documents/none", headers={"Accept-Language": "en-GB,zh;q=0.5"}).json()
    assert english["detail"] == "There is no document 'none'."
    assert json.dumps(english["code"]) == json.dumps(chinese["code"])
