"""`wenyuan models`: what embeds, writes and reranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from wenyuan.doors.cli.output import Column, Part, one_line
from wenyuan.doors.cli.session import OK, Given, Session

if TYPE_CHECKING:
    from wenyuan.runtime.model_registry import ModelView, PresetView
    from wenyuan.runtime.model_trials import ModelTest

commands = App(name="models", help="Models: what embeds documents, writes answers and reranks, here or at a provider.")

ModelTypeName = Literal["embedding", "chat", "rerank"]
RoleName = Literal["answer", "task", "embedding", "rerank"]

MODEL_AT_FAULT = 5


@commands.command(name="list")
def show_all(*, session: Given) -> int:
    """List the models with what each does; calls none of them."""
    with session.open() as library:
        models, roles = library.model_registry.list(), library.model_registry.roles()
    session.show({"models": models, "roles": roles}, lambda: _show(session, models))
    return OK


@commands.command
def presets(*, session: Given) -> int:
    """List the providers that need no more than a model's name, and where each expects its key."""
    with session.open() as library:
        known = library.model_registry.presets()
    session.show(known, lambda: _show_presets(session, known))
    return OK


@commands.command
def add(
    name: str,
    /,
    *,
    model: str = "",
    preset: str | None = None,
    type_: Annotated[list[ModelTypeName] | None, Parameter(name="--type")] = None,
    protocol: str | None = None,
    base_url: str | None = None,
    key: str | None = None,
    dimensions: int | None = None,
    context_tokens: int | None = None,
    max_output_tokens: int | None = None,
    tools: Annotated[bool | None, Parameter(negative="--no-tools")] = None,
    json_schema: Annotated[bool | None, Parameter(negative="--no-json-schema")] = None,
    role: list[RoleName] | None = None,
    session: Given,
) -> int:
    """Add a model to wenyuan.toml, the rest of which stays as it is.

    The first model that writes gets the role `answer`, the first that reranks the role `rerank`. Other settings, such
    as prefixes and limits, are written into its table there.

    Parameters
    ----------
    name
        What to call it here.
    model
        The provider's name of the model.
    preset
        Its provider, which fills what is not said; `wenyuan models presets` lists them.
    type_
        What it is for: embedding, chat or rerank; may be given several times.
    protocol
        How it is spoken to, such as openai-compatible or anthropic.
    base_url
        Where it is, such as http://127.0.0.1:11434/v1.
    key
        Where its key stands: env:NAME, file:PATH or keyring:SERVICE/NAME. Never the key itself.
    dimensions
        How long its vectors are; else it is asked.
    context_tokens
        How much a model that writes takes in and gives out together.
    max_output_tokens
        How long its answers may be.
    tools
        Whether it can call tools.
    json_schema
        Whether it can be held to a JSON Schema.
    role
        What it is to do: answer, task, embedding (of new knowledge bases) or rerank; may be given several times.
    """
    given: dict[str, Any] = {
        "preset": preset,
        "types": type_,
        "protocol": protocol,
        "model": model,
        "base_url": base_url,
        "key": key,
        "dimensions": dimensions,
        "context_tokens": context_tokens,
        "max_output_tokens": max_output_tokens,
        "tools": tools,
        "json_schema": json_schema,
    }
    values = {name: value for name, value in given.items() if value is not None}
    with session.open(create=True) as library:
        added = library.model_registry.add(name, values, role)
        file = library.path / "wenyuan.toml"
    session.show(added, lambda: _show_added(session, added, str(file), asked="dimensions" not in values))
    return OK


@commands.command
def assign(role: RoleName, name: str = "", /, *, session: Given) -> int:
    """Give a role to a model, or to none where no model is named.

    Parameters
    ----------
    role
        What is to be done: answer, task, embedding (of new knowledge bases) or rerank.
    name
        The model that is to do it.
    """
    with session.open() as library:
        roles = library.model_registry.assign(role, name)
    session.show(roles, lambda: _show_assigned(session, role, name))
    return OK


@commands.command
def remove(name: str, /, *, session: Given) -> int:
    """Take a model out of wenyuan.toml that no knowledge base uses.

    Parameters
    ----------
    name
        What it is called here.
    """
    with session.open() as library:
        library.model_registry.remove(name)
    session.show({"removed": name}, lambda: session.out.line(session.say("models.removed", name=one_line(name))))
    return OK


@commands.command
def test(*names: str, session: Given) -> int:
    """Call models once each, and say what came of it and what to do where one does not answer.

    Ends with exit code 5 where one does not.

    Parameters
    ----------
    names
        The models to call; else all.
    """
    tests: list[ModelTest] = []
    with session.open() as library:
        for name in names or library.models.names():
            made = library.model_registry.test(name)
            tests += made
            if not session.json:
                for one in made:
                    _show_test(session, one)
    session.show(tests, lambda: None if tests else session.out.line(session.say("models.none")))
    return OK if all(one.ok for one in tests) else MODEL_AT_FAULT


def _show(session: Session, models: Sequence[ModelView]) -> None:
    say, separator = session.say, session.say("list.separator")
    columns = [
        Column(say("column.name"), whole=True),
        Column(say("models.column.types")),
        Column(say("models.column.model")),
        Column(say("models.column.roles")),
        Column(say("models.column.used")),
        Column(say("models.column.endpoint")),
    ]
    rows: list[Sequence[Part]] = []
    for one in models:
        types = separator.join(say(f"models.type.{kind}") for kind in one.types)
        roles = separator.join(say(f"models.role.{role}") for role in one.roles)
        used, endpoint = separator.join(one.used_by), one.base_url or say("models.here")
        rows.append([one_line(one.name), types, one.model, roles, used, endpoint])
    session.out.table(columns, rows)
    session.show_problems([(one.name, one.problem) for one in models if one.problem is not None])


def _show_presets(session: Session, known: Sequence[PresetView]) -> None:
    say = session.say
    columns = [
        Column(say("models.column.preset"), whole=True),
        Column(say("models.column.types")),
        Column(say("models.column.endpoint")),
        Column(say("models.column.key"), whole=True),
    ]
    rows: list[Sequence[Part]] = []
    for one in known:
        types = say("list.separator").join(say(f"models.type.{kind}") for kind in one.base_urls)
        rows.append([one.name, types, " ".join(dict.fromkeys(one.base_urls.values())), one.key])
    session.out.table(columns, rows)


def _show_added(session: Session, added: ModelView, file: str, *, asked: bool) -> None:
    say, out = session.say, session.out
    out.line(say("models.added", name=one_line(added.name), file=file), whole=True)
    if asked and added.dimensions:
        out.line(say("models.dimensions", n=added.dimensions))
    if added.roles:
        roles = say("list.separator").join(say(f"models.role.{role}") for role in added.roles)
        out.line(say("models.given", name=one_line(added.name), roles=roles))
    if added.problem is not None:
        session.show_problem(added.problem, out)
    out.line(say("models.restart"))
    out.line(say("models.try"), session.command(f"models test {added.name}"), whole=True)


def _show_assigned(session: Session, role: str, name: str) -> None:
    worded = session.say(f"models.role.{role}")
    if name:
        session.out.line(session.say("models.given", name=one_line(name), roles=worded))
    else:
        session.out.line(session.say("models.taken", role=worded))


def _show_test(session: Session, test: ModelTest) -> None:
    say, out = session.say, session.out
    if test.problem is not None:
        worded = say(f"models.type.{test.type}")
        out.line((say("models.test.failed", name=one_line(test.name), type=worded), "bold red"))
        out.line((f"error[{test.problem.code}]: ", "bold red"), session.worded(test.problem).message, indent=2)
        out.line((say("hint"), "bold"), say(f"models.advice.{test.advice}"), indent=2)
    else:
        out.line(_worked(session, test))
    where = say("models.test.where", protocol=test.protocol, endpoint=test.endpoint, model=test.model)
    out.line((where, "dim"), indent=2, whole=True)


def _worked(session: Session, test: ModelTest) -> str:
    say, name, ms = session.say, one_line(test.name), f"{test.milliseconds:.0f}"
    if test.type == "embedding":
        return say("models.test.embedding", name=name, dimensions=test.dimensions, ms=ms)
    if test.type == "rerank":
        good, bad = test.scores
        key = "models.test.rerank" if good > bad else "models.test.rerank-odd"
        return say(key, name=name, good=f"{good:.3g}", bad=f"{bad:.3g}", ms=ms)
    if test.first_piece_ms is None:
        return say("models.test.silent", name=name, n=test.output_tokens or 0)
    return say("models.test.chat", name=name, first=f"{test.first_piece_ms:.0f}", ms=ms)
