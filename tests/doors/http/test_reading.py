"""Documents as people read them over HTTP: pictures of pages, places of a text, previews, and deeds done to many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.doors.http.running import Server

FILES = Path(__file__).parents[2] / "fixtures" / "files"
PNG = b"\x89PNG\r\n\x1a\n"
EXAMPLES = Path(__file__).parents[3] / "src" / "wenyuan" / "runtime" / "example_documents"


def upload(server: Server, path: Path, kb: str = "default") -> str:
    with path.open("rb") as file:
        answer = server.client.post(f"/knowledge-bases/{kb}/documents/upload", files={"file": (path.name, file)})
    server.settle()
    document: str = answer.json()["document_id"]
    return document


@pytest.fixture(scope="module")
def pdf(server: Server) -> str:
    return upload(server, EXAMPLES / "warranty-and-calibration.pdf")


def cited(server: Server, document: str, question: str) -> str:
    asked = {"question": question, "documents": [document]}
    citation: str = server.client.post("/retrieve", json=asked).json()["passages"][0]["citation"]
    return citation


# --- Pictures ------------------------------------------------------------------------------------


def test_a_page_is_shown_and_a_passage_lit_on_it(server: Server, pdf: str) -> None:
    path = f"/documents/{pdf}/picture"
    plain = server.client.get(path, params={"page": 2, "scale": 1})
    assert (plain.status_code, plain.headers["content-type"]) == (200, "image/png")
    assert plain.content.startswith(PNG)
    citation = cited(server, pdf, "error of calibration in hPa")
    lit = server.client.get(path, params={"citation": citation, "scale": 1})
    assert lit.headers["x-page"] == "2"
    assert lit.content.startswith(PNG)
    assert lit.content != plain.content
    # On the other page nothing of it stands.
    first = server.client.get(path, params={"page": 1, "scale": 1})
    assert server.client.get(path, params={"page": 1, "citation": citation, "scale": 1}).content == first.content


def test_a_picture_that_is_known_is_not_sent_again(server: Server, pdf: str) -> None:
    path = f"/documents/{pdf}/picture?page=1&scale=1"
    tag = server.client.get(path).headers["etag"]
    assert server.client.get(path, headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({}, 422, "request-invalid"),
        ({"page": 0}, 422, "request-invalid"),
        ({"page": 99}, 422, "file-malformed"),
        ({"page": 1, "scale": 9}, 422, "request-invalid"),
        ({"citation": "nothing.1"}, 404, "citation-not-found"),
    ],
)
def test_what_is_no_page_is_told(server: Server, pdf: str, query: dict[str, Any], status: int, code: str) -> None:
    answer = server.client.get(f"/documents/{pdf}/picture", params=query)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_text_has_no_pages(server: Server) -> None:
    document = server.add("plain.md", "no pages here")
    answer = server.client.get(f"/documents/{document}/picture", params={"page": 1})
    assert (answer.status_code, answer.json()["code"]) == (422, "place-has-no-picture")


# --- Finding -------------------------------------------------------------------------------------


def test_a_text_is_found_where_it_stands(server: Server) -> None:
    text = "# 周会\n\n屏幕改用 PPR-9087。\n\n## 之后\n\nThe screen  PPR-9087 arrives; ppr-9087 is in stock.\n"
    document = server.add("places.md", text)
    whole = server.client.get(f"/documents/{document}/text").json()["text"]
    found = server.client.get(f"/documents/{document}/find", params={"text": "ppr-9087"}).json()
    assert [whole[one["start"] : one["end"]] for one in found["found"]] == ["PPR-9087", "PPR-9087", "ppr-9087"]
    assert found["next_start"] is None
    chunks = server.client.get(f"/documents/{document}/chunks").json()["passages"]
    for one in found["found"]:
        assert whole[one["start"] - len(one["before"]) : one["end"] + len(one["after"])] == (
            one["before"] + one["text"] + one["after"]
        )
        holding = chunks[one["passage"]]["chunk"]
        assert holding["start"] <= one["start"] < holding["end"]
    spaced = server.client.get(f"/documents/{document}/find", params={"text": "screen PPR-9087"}).json()
    assert len(spaced["found"]) == 1


def test_finding_goes_on_where_a_page_of_places_ended(server: Server) -> None:
    document = server.add("many.md", "word " * 25)
    seen, start = [], 0
    while start is not None:
        asked: dict[str, Any] = {"text": "word", "limit": 10, "start": start}
        page = server.client.get(f"/documents/{document}/find", params=asked).json()
        seen += [one["start"] for one in page["found"]]
        start = page["next_start"]
    assert seen == list(range(0, 125, 5))


@pytest.mark.parametrize("text", [".*", "(a+)+$", "\\", "   "])
def test_what_is_looked_for_is_text_and_no_pattern(server: Server, text: str) -> None:
    document = server.add("pattern.md", "a" * 5000)
    assert server.client.get(f"/documents/{document}/find", params={"text": text}).json()["found"] == []


# --- Cut otherwise -------------------------------------------------------------------------------


def test_a_preview_is_what_a_rebuild_would_make(server: Server) -> None:
    text = "".join(f"# Part {n}\n\n" + f"Sentence {n} about gateways. " * 20 + "\n\n" for n in range(8))
    document = server.add("long.md", text)
    cut = {"target_columns": 200, "overlap_columns": 0}
    seen = server.client.post(f"/documents/{document}/preview-chunking", json=cut).json()
    assert seen["chunk_count"] > seen["chunk_count_now"] > 1
    assert seen["shortest"] <= seen["mean"] <= seen["longest"]
    assert all(len(one["text"]) <= seen["longest"] for one in seen["samples"])
    asked = {"name": "finer", "embedding_model": "", "chunking": cut}
    server.client.post("/knowledge-bases", json=asked)
    again = server.add("long.md", text, "finer")
    assert server.client.get(f"/documents/{again}").json()["latest"]["chunk_count"] == seen["chunk_count"]
    refused = server.client.post(f"/documents/{document}/preview-chunking", json={**cut, "overlap_columns": 150})
    assert refused.json()["code"] == "invalid-value"


# --- Many at once --------------------------------------------------------------------------------


def test_many_are_changed_each_by_itself(server: Server) -> None:
    server.client.post("/knowledge-bases", json={"name": "shelf", "embedding_model": ""})
    ids = [server.add(f"bulk {n}.md", f"bulk text {n}") for n in range(3)]

    def done(action: str, **more: Any) -> list[str]:
        answer = server.client.post("/documents/bulk", json={"ids": [*ids, "nothing"], "action": action, **more})
        assert answer.status_code == 200
        assert [one["id"] for one in answer.json()["outcomes"]] == [*ids, "nothing"]
        return [one["outcome"] for one in answer.json()["outcomes"]]

    assert done("disable") == ["done", "done", "done", "refused"]
    assert [server.client.get(f"/documents/{one}").json()["availability"] for one in ids] == ["disabled"] * 3
    assert done("enable") == ["done", "done", "done", "refused"]
    assert done("retry") == ["refused"] * 4
    assert done("move", to="shelf") == ["done", "done", "done", "refused"]
    server.settle()
    assert len(server.client.get("/knowledge-bases/shelf/documents").json()["documents"]) == 3
    assert done("delete") == ["done", "done", "done", "refused"]
    assert done("delete") == ["refused"] * 4


@pytest.mark.parametrize(
    "body",
    [
        {"ids": [], "action": "enable"},
        {"ids": ["x"] * 501, "action": "enable"},
        {"ids": ["x"], "action": "erase"},
        {"ids": ["x"], "action": "move"},
        {"ids": ["x"], "action": "enable", "to": "default"},
    ],
)
def test_what_is_no_deed_is_refused_as_a_whole(server: Server, body: Any) -> None:
    assert server.client.post("/documents/bulk", json=body).status_code == 422


# --- Told in Chinese -----------------------------------------------------------------------------


def test_what_went_wrong_is_told_in_the_language_that_is_asked_for(server: Server) -> None:
    sent = {"file": ("broken.pdf", b"%PDF-1.7\nand nothing more")}
    document = server.client.post("/knowledge-bases/default/documents/upload", files=sent).json()["document_id"]
    server.settle()
    path = f"/documents/{document}"
    english = server.client.get(path).json()["latest"]["problem"]
    chinese = server.client.get(path, headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}).json()["latest"][
        "problem"
    ]
    assert english["code"] == chinese["code"] == "file-malformed"
    assert english["message"].isascii()
    assert "broken.pdf" in chinese["message"]
    assert not chinese["message"].isascii()
    assert not chinese["hint"].isascii()
    headers = {"Accept-Language": "zh"}
    listed = server.client.get("/problems", headers=headers).json()["problems"]
    (mine,) = [one for one in listed if one["document_id"] == document]
    assert mine["job"]["problem"]["message"] == chinese["message"]
    with server.client.stream("GET", "/jobs/events", params={"after": 0}, headers=headers) as stream:
        line = next(one for one in stream.iter_lines() if one.startswith("data: ") and document in one)
    assert chinese["message"] in line
