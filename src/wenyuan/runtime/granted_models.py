"""The models of a library as one caller may see and change them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wenyuan.errors import ConfigurationInvalid
from wenyuan.providers.presets import PRESETS
from wenyuan.providers.settings import Role
from wenyuan.runtime.access import Grants
from wenyuan.runtime.library import Library
from wenyuan.runtime.model_registry import ModelView, PresetView
from wenyuan.runtime.model_trials import ModelTest

_OWN_VARIABLES = "env:WENYUAN_"
_OWN_KEYRING = "keyring:wenyuan/"
# They say where the library is, for which the address of a database may hold its password.
_NO_KEYS = frozenset({"env:WENYUAN_LIBRARY", "env:WENYUAN_BLOBS"})


@dataclass(frozen=True, slots=True)
class GrantedModels:
    """Everyone who may read sees the models; only who administers the whole library changes or calls them."""

    library: Library
    grants: Grants

    def list(self) -> tuple[builtins.list[ModelView], dict[Role, str]]:
        """The models, and which of them has each role."""
        self.grants.require("read")
        registry = self.library.model_registry
        return registry.list(), registry.roles()

    def presets(self) -> builtins.list[PresetView]:
        self.grants.require("read")
        return self.library.model_registry.presets()

    def add(self, name: str, values: Mapping[str, Any], roles: Sequence[Role] | None) -> ModelView:
        """As `ModelRegistry.add`; a key can be named only where it is meant for that: see `_check_key`."""
        self.grants.require_all()
        _check_key(name, values)
        return self.library.model_registry.add(name, values, roles)

    def assign(self, role: Role, name: str) -> dict[Role, str]:
        self.grants.require_all()
        return self.library.model_registry.assign(role, name)

    def remove(self, name: str) -> None:
        self.grants.require_all()
        self.library.model_registry.remove(name)

    def test(self, name: str) -> builtins.list[ModelTest]:
        self.grants.require_all()
        return self.library.model_registry.test(name)


def _check_key(name: str, values: Mapping[str, Any]) -> None:
    """Who is not on this machine must not have any file or variable of it sent to an address of their choice.

    A provider's own key goes to that provider; any other address is sent only what was set aside for Wenyuan.
    """
    key = str(values.get("key", ""))
    preset = PRESETS.get(str(values.get("preset", "")))
    goes_home = preset is not None and key == preset.key and "base_url" not in values
    is_own = key.startswith((_OWN_VARIABLES, _OWN_KEYRING)) and key.strip() not in _NO_KEYS
    if key and not goes_home and not is_own:
        reason = f"from elsewhere only {_OWN_VARIABLES}… and {_OWN_KEYRING}… can be named, or the key of a preset"
        raise ConfigurationInvalid(setting=f"models.{name}.key", source="what was given", reason=reason)
