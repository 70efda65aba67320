"""Models: which there are, what they do, and whether they answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from wenyuan.doors.http.answers import ModelList, ModelTests, PresetList, Roles
from wenyuan.doors.http.bodies import Body, Name
from wenyuan.doors.http.call import Caller
from wenyuan.runtime.granted_models import GrantedModels
from wenyuan.runtime.model_registry import ModelView, Role

router = APIRouter(tags=["models"])

ModelTypeName = Literal["embedding", "chat", "rerank"]


class NewModel(Body):
    """A model as its table in wenyuan.toml describes it; what is null is left to the preset, or to its default.

    `key` is where the key stands: `env:WENYUAN_…`, `keyring:wenyuan/…`, or the usual variable of the preset.
    """

    name: Name
    model: Annotated[str, Field(max_length=300, examples=["qwen3:8b"])] = ""
    types: Annotated[list[ModelTypeName], Field(min_length=1, max_length=3)] | None = None
    preset: Annotated[str, Field(max_length=100, examples=["ollama"])] | None = None
    protocol: Annotated[str, Field(max_length=100)] | None = None
    base_url: Annotated[str, Field(max_length=2000)] | None = None
    key: Annotated[str, Field(max_length=1000)] | None = None
    dimensions: Annotated[int, Field(ge=1, le=100_000)] | None = None
    context_tokens: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    tools: bool | None = None
    json_schema: bool | None = None
    query_prefix: Annotated[str, Field(max_length=1000)] | None = None
    passage_prefix: Annotated[str, Field(max_length=1000)] | None = None
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    concurrency: Annotated[int, Field(ge=0, le=10_000)] | None = None
    roles: Annotated[list[Role], Field(max_length=4)] | None = Field(
        None, description="Which roles it gets; null for those that it fits and nobody has."
    )

    def values(self) -> dict[str, Any]:
        return {key: value for key, value in self.model_dump(exclude={"name", "roles"}).items() if value is not None}


class RoleHolder(Body):
    model: Annotated[str, Field(max_length=200, description="The name of a model; empty for none.")]


@router.get("/models", response_model=ModelList)
async def list_models(call: Caller) -> Response:
    """List the models that are configured, and which of them has each role."""
    return await call.reply(lambda library: ModelList(*library.models.list()))


@router.get("/model-presets", response_model=PresetList)
async def list_presets(call: Caller) -> Response:
    """List the providers that are known, with the types of models they have."""
    return await call.reply(lambda library: PresetList(library.models.presets()))


@router.post("/models", response_model=ModelView, status_code=201)
async def add_model(call: Caller, body: NewModel) -> Response:
    """Add a model; it is written to wenyuan.toml. One that embeds is asked for its dimensions where they are not said.

    Needs admin for all knowledge bases.
    """

    def add(models: GrantedModels) -> tuple[int, str, ModelView]:
        made = models.add(body.name, body.values(), body.roles)
        return 201, "", made

    return await call.create(body, lambda library: add(library.models))


@router.delete("/models/{model:path}", status_code=204)
async def remove_model(call: Caller, model: str) -> Response:
    """Take a model out that no knowledge base uses. Needs admin for all knowledge bases."""
    await call.ask(lambda library: library.models.remove(model))
    return Response(status_code=204)


@router.post("/models/{model:path}/test", response_model=ModelTests)
async def test_model(call: Caller, model: str) -> Response:
    """Call a model once for each of its types, to see whether it answers. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: ModelTests(library.models.test(model)))


@router.put("/model-roles/{role}", response_model=Roles)
async def assign_role(call: Caller, role: Role, body: RoleHolder) -> Response:
    """Give a role to a model, or to none. Needs admin for all knowledge bases."""
    return await call.reply(lambda library: Roles(library.models.assign(role, body.model)))
