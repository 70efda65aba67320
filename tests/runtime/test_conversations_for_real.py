"""A conversation with a real, tiny language model: its form is what it is to be, whatever the model makes up."""

from __future__ import annotations

from pathlib import Path

import pytest

import wenyuan as wy
from tests.providers.test_real_servers import llama as llama
from tests.runtime.conversing import message_of

SETTINGS = """
[defaults]
embedding_model = ""

[roles]
answer = "smollm2"

[answer]
rounds = 1

[models.smollm2]
types = ["chat"]
protocol = "openai-compatible"
model = "smollm2"
base_url = "{url}"
context_tokens = 2048
max_output_tokens = 24
tools = false
"""


PROMPT = "version: short\n\nAnswer from the documents and cite them like [1].\n"


@pytest.fixture
def home(llama: str, tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    (folder / "prompts").mkdir(parents=True)
    (folder / "wenyuan.toml").write_text(SETTINGS.format(url=llama), "utf-8")
    # A library's own prompt, which is shorter than the program's: so tiny a model reads slowly.
    (folder / "prompts" / "answer-action.en.txt").write_text(PROMPT, "utf-8")
    return folder


def test_a_real_model_answers_in_a_session(home: Path) -> None:
    with wy.open(home, environment={}) as library:
        library.add_text("The gateway stores each reading once, for 30 days.\n", "gateway.md")
        session = library.sessions.create()
        message = message_of(library.converse("How long does the gateway store readings?", session=session.id))
        turns = library.turns.page(session.id).turns
        trace = library.trace(turns[1].trace_id)["answer"]
    assert message["finish_reason"] in ("stop", "length")
    assert message["usage"]["input_tokens"] > 50
    assert message["usage"]["output_tokens"] > 0
    assert message["model"]
    assert all(f"[{one.number}]" in message["text"] for one in message["citations"])
    assert turns[1].text == message["text"]
    assert trace["model_calls"][0]["first_ms"] > 0
    assert trace["prompt"].startswith("answer-action.en@short#")
