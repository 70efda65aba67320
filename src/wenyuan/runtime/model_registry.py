"""The models of a library as people manage them: listed, added, tried, given roles, taken out."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from wenyuan.config import Settings, load_settings
from wenyuan.errors import (
    ConfigurationError,
    ConfigurationInvalid,
    DimensionMismatch,
    InvalidValue,
    KeyMissing,
    ModelExists,
    ModelInUse,
    ProviderError,
)
from wenyuan.providers.presets import PRESETS, with_preset
from wenyuan.providers.registry import create_embedder
from wenyuan.providers.replies import address_fault
from wenyuan.providers.settings import BUILT_IN_MODEL, ROLE_TYPES, ModelSettings, ModelType
from wenyuan.providers.settings import Role as Role
from wenyuan.runtime.model_file import add_model, remove_model, set_roles
from wenyuan.runtime.model_trials import TEST_SECONDS, ModelTest, try_model
from wenyuan.runtime.models import Models, cache_directory
from wenyuan.store import knowledge_bases
from wenyuan.store.database import Database
from wenyuan.types import KnowledgeBase, Problem, Scope

_LONGEST_NAME = 100
_GIVEN_BY_ITSELF: tuple[Role, ...] = ("answer", "rerank")
"""Roles that the first model takes which can fill them."""


@dataclass(frozen=True, slots=True)
class ModelView:
    """A configured model. `key` is where its key stands, never the key; `dimensions` of 0 means that the model decides.

    `used_by` are the knowledge bases that embed with it; a `problem` keeps it from being called at all.
    """

    name: str
    types: tuple[ModelType, ...]
    preset: str
    protocol: str
    model: str
    base_url: str
    key: str
    dimensions: int
    context_tokens: int
    max_output_tokens: int
    tools: bool
    json_schema: bool
    roles: tuple[Role, ...]
    used_by: tuple[str, ...]
    is_default: bool
    is_built_in: bool
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class PresetView:
    """What is known of a provider: the types of models it has, each with its base URL, and the usual key reference."""

    name: str
    base_urls: Mapping[str, str]
    key: str


class ModelRegistry:
    """The models of the library in a folder. Changes are written to its settings, and hold in this process at once."""

    def __init__(
        self, folder: Path, database: Database, principal: str, models: Models, environment: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._database = database
        self._principal = principal
        self._models = models
        self._environment = environment

    def list(self) -> builtins.list[ModelView]:
        """Every model, by name."""
        described, users = self._models.described(), self._users()
        return [self._view(name, described[name], users) for name in sorted(described)]

    def show(self, name: str) -> ModelView:
        """One model. Raises `ModelNotConfigured`."""
        return self._view(name, self._models.description(name), self._users())

    def roles(self) -> dict[Role, str]:
        """Which model has each role; empty where none has."""
        return {role: self._models.for_role(role) or "" for role in ROLE_TYPES}

    def embedding_problem(self, base: KnowledgeBase) -> Problem | None:
        """What keeps the documents of a knowledge base from being embedded, found out without a call."""
        return self._problem(base.embedding_model) if base.embedding_model else None

    def presets(self) -> builtins.list[PresetView]:
        """The providers that are known."""
        return [
            PresetView(name, {kind: at.base_url for kind, at in preset.connections.items()}, preset.key)
            for name, preset in sorted(PRESETS.items())
        ]

    def add(self, name: str, values: Mapping[str, Any], roles: Sequence[Role] | None = None) -> ModelView:
        """Describe a model by the settings of its table; one that embeds is asked for its dimensions, if need be.

        Roles that are not given go to it where nobody has them: to answer, or to rerank. Raises `ModelExists`,
        `InvalidValue`, `ConfigurationInvalid` where the settings cannot be meant or the model that is asked does not
        answer, and what `add_model` raises.
        """
        self._check_name(name)
        settings = self._described(name, values)
        if "embedding" in settings.types and settings.protocol != "built-in" and not settings.dimensions:
            values = {**values, "dimensions": _dimensions(settings)}
        given = self._roles_for(name, settings, roles)
        self._apply(add_model(self._folder, name, values, given))
        return self.show(name)

    def assign(self, role: Role, name: str) -> dict[Role, str]:
        """Give a role to a model, or to none, and return who has which.

        Raises `ModelNotConfigured`, `ModelUnsuitable`, and what `set_roles` raises.
        """
        if name:
            self._models.check(name, ROLE_TYPES[role])
        self._apply(set_roles(self._folder, {role: name}))
        return self.roles()

    def remove(self, name: str) -> None:
        """Take a model out, with its roles. Raises `ModelNotConfigured`, and `ModelInUse` for one that embeds."""
        self._models.description(name)
        if name == BUILT_IN_MODEL:
            raise InvalidValue(what="The model to take out", value=name, reason="it comes with the program")
        if users := self._users().get(name):
            raise ModelInUse(model=name, users=", ".join(users))
        gone: dict[Role, str] = {role: "" for role in ROLE_TYPES if self._models.role(role) == name}
        if "embedding" in gone:
            raise ModelInUse(model=name, users="every new knowledge base")
        self._apply(remove_model(self._folder, name, gone))

    def test(self, name: str, timeout: float = TEST_SECONDS) -> builtins.list[ModelTest]:
        """Call a model once for each of its types. Raises `ModelNotConfigured`."""
        return try_model(self._models, name, timeout)

    def _check_name(self, name: str) -> None:
        if name in self._models.described():
            raise ModelExists(model=name)
        if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            reason = f"it must be 1 to {_LONGEST_NAME} visible characters"
            raise InvalidValue(what="The name of a model", value=name, reason=reason)

    def _described(self, name: str, values: Mapping[str, Any]) -> ModelSettings:
        known = {item.name for item in fields(ModelSettings)} - {"name"}
        unknown = next((key for key in values if key not in known), None)
        if unknown is not None:
            raise ConfigurationInvalid(
                setting=f"models.{name}.{unknown}", source="what was given", reason="there is no such setting"
            )
        try:
            complete = {"model": "", **with_preset(values)}
            if not complete.get("protocol"):
                raise ValueError("a preset, or protocol and base_url, must be given")
            settings = ModelSettings(name=name, **complete)
            if settings.base_url and (fault := address_fault(settings.base_url)):
                raise ValueError(f"base_url cannot be used: {fault}")
        except (TypeError, ValueError) as error:
            raise ConfigurationInvalid(setting=f"models.{name}", source="what was given", reason=str(error)) from error
        return settings

    def _roles_for(self, name: str, settings: ModelSettings, roles: Sequence[Role] | None) -> dict[Role, str]:
        if roles is not None:
            for role in roles:
                if ROLE_TYPES[role] not in settings.types:
                    reason = f"the model is not of the type {ROLE_TYPES[role]}"
                    raise InvalidValue(what="The role", value=role, reason=reason)
            return dict.fromkeys(roles, name)
        free = (role for role in _GIVEN_BY_ITSELF if not self._models.role(role))
        return {role: name for role in free if ROLE_TYPES[role] in settings.types}

    def _apply(self, _: Settings) -> None:
        self._models.configure(load_settings(self._folder, self._environment))

    def _users(self) -> dict[str, tuple[str, ...]]:
        """The names of the knowledge bases that embed with each model."""
        with self._database.read() as tx:
            bases = knowledge_bases.permitted(tx, Scope(self._principal))
        users: dict[str, tuple[str, ...]] = {}
        for base in bases:
            if base.embedding_model:
                users[base.embedding_model] = (*users.get(base.embedding_model, ()), base.name)
        return users

    def _view(self, name: str, settings: ModelSettings, users: Mapping[str, tuple[str, ...]]) -> ModelView:
        roles = tuple(role for role in ROLE_TYPES if self._models.for_role(role) == name)
        return ModelView(
            name=name,
            types=settings.types,
            preset=settings.preset,
            protocol=settings.protocol,
            model=settings.model,
            base_url=settings.base_url,
            key=settings.key,
            dimensions=settings.dimensions,
            context_tokens=settings.context_tokens,
            max_output_tokens=settings.max_output_tokens,
            tools=settings.tools,
            json_schema=settings.json_schema,
            roles=roles,
            used_by=users.get(name, ()),
            is_default="embedding" in roles,
            is_built_in=name == BUILT_IN_MODEL,
            problem=self._problem(name),
        )

    def _problem(self, name: str) -> Problem | None:
        try:
            self._models.check_usable(name)
        except ConfigurationError as error:
            return error.problem()
        return None


def _dimensions(settings: ModelSettings) -> int:
    """How long a model's vectors are, which it is asked for. Raises `ConfigurationInvalid` where it does not say."""
    asked = replace(settings, dimensions=1)
    try:
        create_embedder(settings.name, asked, cache_directory()).embed(["a"], "passage", TEST_SECONDS)
    except DimensionMismatch as error:
        return int(error.details["actual"])
    except (ProviderError, KeyMissing) as error:
        reason = f"they were not given, and the model could not be asked for them: {error.message.rstrip('.')}"
        setting = f"models.{settings.name}.dimensions"
        raise ConfigurationInvalid(setting=setting, source="what was given", reason=reason) from error
    return 1
