"""`/v1`: models, chat completions and embeddings."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic_core import to_json

from wenyuan.doors.http.call import JSON, Call
from wenyuan.doors.http.following import Following
from wenyuan.doors.http.openai.asked import check_length, check_possible, history_of, question_of
from wenyuan.doors.http.openai.bodies import MOST_INPUTS, ChatCompletion, Embeddings
from wenyuan.doors.http.openai.call import OpenAICaller
from wenyuan.doors.http.openai.chores import chore_answer
from wenyuan.doors.http.openai.completions import Completion
from wenyuan.doors.http.openai.cutting import estimated_tokens
from wenyuan.doors.http.openai.models import bases_of, model_of, models_of
from wenyuan.doors.http.openai.problems import PREFIX, error_body
from wenyuan.doors.http.streams import EventStream, with_signs_of_life
from wenyuan.errors import OpenAIModelNotFound, RequestInvalid, WenyuanError
from wenyuan.runtime.granted import GrantedLibrary, Question
from wenyuan.runtime.running_answers import RunningAnswer

router = APIRouter(prefix=PREFIX, tags=["openai"], include_in_schema=False)

_DONE = b"data: [DONE]\n\n"


@router.get("/models")
async def list_models(call: OpenAICaller) -> Response:
    """Every knowledge base, all of them together, and the embedding models."""
    return await call.reply(lambda library: {"object": "list", "data": [_model(*one) for one in models_of(library)]})


@router.get("/models/{model:path}")
async def get_model(call: OpenAICaller, model: str) -> Response:
    return await call.reply(lambda library: _model(*model_of(library, model)))


def _model(name: str, made: int) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": made, "owned_by": "wenyuan"}


# --- Chat completions ------------------------------------------------------------------------------


@router.post("/chat/completions")
async def complete_chat(call: OpenAICaller, body: ChatCompletion) -> Response:
    """Answer the last message from the knowledge bases that the model stands for."""
    check_possible(body)
    completion, question = Completion(body), question_of(body)
    chore = chore_answer(question)
    if chore is not None:
        return await _without_search(call, completion, chore)
    check_length(question)
    following = Following(await call.ask(lambda library: _begun(call, library, body, question)))
    is_streamed = False
    try:
        # What cannot be asked at all is refused with a status of its own.
        await following.begun(call.until_left)
        is_streamed = bool(body.stream)
        if is_streamed:
            events = with_signs_of_life(_chunks(call, completion, following), call.house.settings.heartbeat_seconds)
            return EventStream(call.house, events)
        steps = await following.all_steps(call.until_left)
        return Response(await call.go_on(lambda _: call.json(completion.whole(steps))), 200, media_type=JSON)
    finally:
        if not is_streamed:
            following.leave()


def _begun(call: Call, library: GrantedLibrary, body: ChatCompletion, question: str) -> RunningAnswer:
    within = body.wenyuan
    asked = Question(
        question,
        bases_of(library, body.model),
        within.documents,
        within.filters,
        top_k=within.top_k,
        history=history_of(body.messages),
    )
    return call.house.answers.begin(library.caller.key_id, lambda stopped: library.chat(asked, within.prefer, stopped))


async def _without_search(call: Call, completion: Completion, text: str) -> Response:
    model = completion.body.model
    if not completion.body.stream:
        return await call.reply(lambda library: (bases_of(library, model), completion.plain(text))[1])
    await call.ask(lambda library: bases_of(library, model))

    async def chunks() -> AsyncIterator[bytes]:
        for chunk in completion.plain_chunks(text):
            yield _event(chunk)
        yield _DONE

    return EventStream(call.house, chunks())


async def _chunks(call: Call, completion: Completion, following: Following) -> AsyncIterator[bytes]:
    cutting, seq = completion.cutting(), 0
    try:
        yield _event(completion.first_chunk())
        while True:
            told = await following.after(seq)
            for step in told.steps:
                text = cutting.feed(step.data["text"]) if step.name == "assistant.delta" else ""
                if text:
                    yield _event(completion.text_chunk(text))
            seq += len(told.steps)
            if told.is_over and not following.running.after(seq).steps:
                break
        steps = following.steps()
    except WenyuanError as error:
        yield _event(error_body(error, call.house.worded, call.request.headers.get("accept-language", "")))
        return
    finally:
        following.leave()
    rest = cutting.end()
    if rest:
        yield _event(completion.text_chunk(rest))
    for chunk in completion.last_chunks(steps, cutting):
        yield _event(chunk)
    yield _DONE


def _event(data: Any) -> bytes:
    return b"data: %s\n\n" % to_json(data)


# --- Embeddings ------------------------------------------------------------------------------------


@router.post("/embeddings")
async def embed(call: OpenAICaller, body: Embeddings) -> Response:
    """A vector for each text, as the model makes them for passages, or for questions if `input_type` says so."""
    texts = _texts(body)
    data = await call.wait_for_model(lambda library: _embedded(library, body, texts))
    return Response(data, media_type=JSON)


def _texts(body: Embeddings) -> list[str]:
    given: Sequence[Any] = [body.input] if isinstance(body.input, str) else body.input
    if not 1 <= len(given) <= MOST_INPUTS:
        raise RequestInvalid(where="input", reason=f"1 to {MOST_INPUTS} texts are expected")
    if any(not isinstance(one, str) for one in given):
        raise RequestInvalid(where="input", reason="tokens of another model's tokenizer cannot be read; send texts")
    if any(not one for one in given):
        raise RequestInvalid(where="input", reason="a text is empty")
    return list(given)


def _embedded(library: GrantedLibrary, body: Embeddings, texts: Sequence[str]) -> bytes:
    if body.model not in library.embeddings.models():
        raise OpenAIModelNotFound(model=body.model)
    vectors = library.embeddings.embed(body.model, texts, body.input_type, body.dimensions)
    tokens = sum(map(estimated_tokens, texts))
    data = [
        {"object": "embedding", "index": number, "embedding": _encoded(vector, body.encoding_format)}
        for number, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return to_json({"object": "list", "data": data, "model": body.model, "usage": usage})


def _encoded(vector: np.ndarray[Any, Any], encoding: str) -> str | list[float]:
    """Its numbers, or their bytes as float32 in little-endian order, in base64."""
    if encoding == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    numbers: list[float] = vector.tolist()
    return numbers
