"""Keys and grants: who a key is, what it may see, and requests that are done once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wenyuan as wy
from wenyuan.errors import (
    InvalidValue,
    KeyRefused,
    KeyRequired,
    KnowledgeBaseNotFound,
    RepeatDiffers,
    RepeatTooEarly,
    WenyuanError,
)
from wenyuan.runtime.access import OWNER, Caller
from wenyuan.runtime.granted import GrantedLibrary, Question
from wenyuan.runtime.library import Library
from wenyuan.runtime.repeats import Outcome, Repeats

NAMES = ("甲", "乙", "丙")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    path = tmp_path_factory.mktemp("access") / "library"
    with wy.open(path, environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}) as one:
        for name in NAMES:
            one.knowledge_bases.create(name)
            one.add_text(f"体检通知 {name}", f"{name}.md", kb=name, wait=False)
        one.drain()
        yield one


def test_the_owner_needs_no_key_until_there_is_one(tmp_path: Path) -> None:
    with wy.open(tmp_path / "library", environment={"WENYUAN_DEFAULTS_EMBEDDING_MODEL": ""}) as library:
        keys = library.access_keys
        assert keys.caller(None, needs_key=False) == OWNER
        with pytest.raises(KeyRequired):
            keys.caller(None, needs_key=True)
        made = keys.create("one", scopes=("admin",))
        assert keys.have_admin()
        keys.revoke(made.key.id)
        assert not keys.have_admin()
        # That the last key is gone opens nothing.
        with pytest.raises(KeyRequired):
            keys.caller(None, needs_key=False)
        with pytest.raises(KeyRefused):
            keys.caller(made.secret, needs_key=False)


def test_a_grant_is_of_the_knowledge_base_and_not_of_its_name(library: Library) -> None:
    library.knowledge_bases.create("fleeting")
    made = library.access_keys.create("of fleeting", kb=["fleeting"])
    granted = GrantedLibrary(library, library.access_keys.caller(made.secret, needs_key=True))
    assert granted.knowledge_base("fleeting").knowledge_base.name == "fleeting"
    library.knowledge_bases.delete("fleeting")
    library.knowledge_bases.create("fleeting")
    with pytest.raises(KnowledgeBaseNotFound):
        granted.knowledge_base("fleeting")
    assert granted.search(Question("体检")).hits == ()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(granted=st.sets(st.sampled_from(NAMES)), asked=st.none() | st.sets(st.sampled_from(NAMES), min_size=1))
def test_a_search_finds_in_what_is_granted_and_asked_for(
    library: Library, granted: set[str], asked: set[str] | None
) -> None:
    ids = {library.knowledge_bases.find(name).id: name for name in NAMES}
    caller = Caller("key_x", "x", frozenset({"read"}), frozenset(one for one, name in ids.items() if name in granted))
    view = GrantedLibrary(library, caller)
    question = Question("体检通知", kb=None if asked is None else sorted(asked))
    if asked is not None and not asked <= granted:
        with pytest.raises(KnowledgeBaseNotFound):
            view.search(question)
        return
    found = {ids[hit.passage.knowledge_base_id] for hit in view.search(question).hits}
    assert found == (granted if asked is None else asked)
    assert {one.knowledge_base.name for one in view.knowledge_bases()} == granted


@pytest.mark.parametrize(
    "given_",
    [{"name": " x"}, {"name": "x", "scopes": ()}, {"name": "x", "scopes": ("all",)}, {"name": "x", "days": -1}],
)
def test_a_key_that_makes_no_sense_is_refused(library: Library, given_: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        library.access_keys.create(**given_)  # type: ignore[arg-type]


# --- Done once -----------------------------------------------------------------------------------


def test_what_is_repeated_is_answered_as_it_was_at_first(library: Library) -> None:
    done: list[int] = []

    def do() -> Outcome:
        done.append(1)
        return Outcome(201, "/there", f"{len(done)}")

    first = library.repeats.once("key", "once", b"request", do)
    assert library.repeats.once("key", "once", b"request", do) == first
    assert len(done) == 1
    with pytest.raises(RepeatDiffers):
        library.repeats.once("key", "once", b"another", do)
    assert library.repeats.once("other key", "once", b"request", do).body == "2"


def test_what_failed_may_be_asked_for_again_and_what_is_being_done_not(library: Library) -> None:
    def fail() -> Outcome:
        with pytest.raises(RepeatTooEarly):
            library.repeats.once("key", "again", b"request", lambda: Outcome(200, "", ""))
        raise WenyuanError(reason="it broke")

    with pytest.raises(WenyuanError):
        library.repeats.once("key", "again", b"request", fail)
    assert library.repeats.once("key", "again", b"request", lambda: Outcome(200, "", "x")).body == "x"


def test_what_a_process_left_undone_is_done_by_the_next(library: Library) -> None:
    repeats = Repeats(library._database)
    repeats._begin("key", "left", "digest of nothing")
    before = Repeats(library._database)
    with pytest.raises(RepeatDiffers):
        before.once("key", "left", b"another", lambda: Outcome(200, "", ""))
    repeats._begin("key", "cut", hashlib.sha256(b"request").hexdigest())
    assert before.once("key", "cut", b"request", lambda: Outcome(200, "", "done")).body == "done"
