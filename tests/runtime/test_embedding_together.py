"""Short documents share calls to the model, and none of them pays for what is wrong with another."""

from __future__ import annotations

import wenyuan as wy
from tests.embedding_server import EmbeddingServer
from wenyuan.runtime.library import Library

NOTES = 40
BATCH = 32


def add_notes(library: Library, count: int = NOTES) -> None:
    library.add_texts(
        (wy.TextToAdd(f"第{number}号泵每{number + 2}天检修一次。", f"{number}.txt") for number in range(count)),
        wait=False,
    )


def semantic_states(library: Library) -> dict[str, str]:
    return {view.document.name: view.semantic.state for view in library.documents.list()}


def test_short_documents_share_calls(library: Library, server: EmbeddingServer) -> None:
    add_notes(library)
    library.drain()
    assert set(semantic_states(library).values()) == {"ready"}
    assert len(server.inputs) == NOTES
    assert server.calls == -(-NOTES // BATCH)


def test_a_long_document_is_taken_alone(library: Library, server: EmbeddingServer) -> None:
    long = "\n\n".join(f"第{number}节。" + "水位计每两年校准一次。" * 40 for number in range(160))
    library.add_texts([wy.TextToAdd("短的一句话。", "a.txt"), wy.TextToAdd(long, "b.txt")], wait=False)
    seen: list[int] = []
    server.before_answer = lambda texts: seen.append(len(texts))
    library.drain()
    assert set(semantic_states(library).values()) == {"ready"}
    assert seen[0] == 1


def test_a_text_that_the_model_refuses_fails_alone(library: Library, server: EmbeddingServer) -> None:
    def refuse(texts: list[str]) -> tuple[int, dict[str, str], bytes] | None:
        return (400, {}, b'{"error": {"message": "I will not"}}') if any("第7号" in text for text in texts) else None

    server.before_answer = refuse
    add_notes(library)
    library.drain()
    states = semantic_states(library)
    assert states.pop("7.txt") == "failed"
    assert set(states.values()) == {"ready"}


def test_what_is_deleted_or_cancelled_meanwhile_is_left_out(library: Library, server: EmbeddingServer) -> None:
    add_notes(library)
    done = False

    def meddle(_: list[str]) -> None:
        nonlocal done
        if not done:
            done = True
            library.documents.delete("3.txt")
            library.documents.cancel("5.txt")

    server.before_answer = meddle
    library.drain()
    states = semantic_states(library)
    assert "3.txt" not in states
    assert states.pop("5.txt") == "failed"
    assert set(states.values()) == {"ready"}
