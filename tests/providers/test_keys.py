"""Where keys may stand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from wenyuan.errors import KeyMissing
from wenyuan.providers.keys import resolve_key


class Drawer(KeyringBackend):
    """A keyring in memory; one that is locked gives nothing."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.is_locked:
            raise KeyringLocked
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def drawer() -> Iterator[Drawer]:
    before = keyring.get_keyring()
    drawer = Drawer()
    keyring.set_keyring(drawer)
    yield drawer
    keyring.set_keyring(before)


def test_a_key_is_taken_out_of_the_keyring(drawer: Drawer) -> None:
    keyring.set_password("wenyuan/models", "deepseek", "sk-secret-1\n")
    key = resolve_key("keyring:wenyuan/models/deepseek", "m")
    assert key is not None
    assert key.removed_from("it is sk-secret-1") == "it is ***"
    assert drawer.kept


@pytest.mark.parametrize(
    "reference", ["keyring:wenyuan/other", "keyring:other/deepseek", "keyring:deepseek", "keyring:"]
)
def test_a_key_that_is_not_in_it_is_missing(drawer: Drawer, reference: str) -> None:
    keyring.set_password("wenyuan", "deepseek", "sk-secret-1")
    assert drawer.kept
    with pytest.raises(KeyMissing, match=reference):
        resolve_key(reference, "m")


def test_a_keyring_that_is_locked_gives_none(drawer: Drawer) -> None:
    keyring.set_password("wenyuan", "deepseek", "sk-secret-1")
    drawer.is_locked = True
    with pytest.raises(KeyMissing):
        resolve_key("keyring:wenyuan/deepseek", "m")


def test_without_the_package_it_is_said_what_to_install() -> None:
    program = (
        "import sys\n"
        "sys.meta_path[:] = [\n"
        "    type('Hidden', (), {'find_spec': staticmethod(lambda name, path=None, target=None, inner=inner:\n"
        "        None if name.split('.')[0] == 'keyring' else inner.find_spec(name, path, target))})()\n"
        "    for inner in sys.meta_path\n"
        "]\n"
        "from wenyuan.errors import PackageMissing\n"
        "from wenyuan.providers.keys import resolve_key\n"
        "try:\n"
        "    resolve_key('keyring:a/b', 'm')\n"
        "except PackageMissing as error:\n"
        "    print(error.message, error.advice)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "keyring, which is not installed" in run.stdout
    assert "wenyuan[keyring]" in run.stdout
