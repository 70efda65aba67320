"""How the source is written: names, sizes, errors, and what it must not mention."""

from __future__ import annotations

import ast
import re
import subprocess
import warnings
from collections.abc import Iterator, Mapping, Sequence

import pytest

from tests.source_code import (
    REPOSITORY,
    FunctionNode,
    Module,
    Rule,
    called_name,
    last_name,
    read_modules,
    synthetic_modules,
)
from wenyuan import errors

EMPTY_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "misc", "miscellaneous"}
CATCH_ALLS = {"Exception", "BaseException"}
LONG_FILE, LONGEST_FILE, LONGEST_FUNCTION = 400, 500, 60
# One entry after the other, each of a few lines: the tree of errors is one thing however many there are.
CATALOGUES = {"errors.py"}

# Addresses that mean something on one machine or in one company only.
LOCAL_PLACES = re.compile(
    r"(?<![\w.~:/}-])/(?:home|root|work|Users)/\w"
    r"|https?://(?:10\.\d|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|[\w.-]+\.(?:internal|intranet|corp|lan|local)\b)"
)


def names_say_something(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        classes = [(node.lineno, node.name) for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
        for line, name in [(1, module.parts[-1] if module.parts else ""), *classes]:
            words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
            for word in words:
                if word.lower() in EMPTY_NAMES:
                    yield module.breach(line, f"{name!r} says nothing: name what it does instead of {word!r}")


def one_catch_all(modules: Sequence[Module]) -> Iterator[str]:
    """Only the worker may swallow what it does not know: it buries a job and takes the next."""
    allowed = 0
    for module in modules:
        for line, what in _swallowed(module.tree):
            if module.path == "worker.py" and what != "everything":
                allowed += 1
            if module.path != "worker.py" or what == "everything" or allowed > 1:
                yield module.breach(line, f"{what} is swallowed here; name the errors that are expected")
    if not allowed:
        yield "worker.py:1: the worker's catch-all is missing: an unknown error must cost one job, not the worker"


def _swallowed(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            reraised = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if node.type is None:
                yield node.lineno, "everything"
            elif not reraised and (what := _catch_all(node.type)):
                yield node.lineno, what
        elif isinstance(node, ast.Call) and called_name(node) == "suppress":
            yield from ((node.lineno, what) for argument in node.args if (what := _catch_all(argument)))


def _catch_all(kinds: ast.expr) -> str:
    members = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return next((name for member in members if (name := last_name(member)) in CATCH_ALLS), "")


def files_have_one_reason(modules: Sequence[Module], limit: int = LONGEST_FILE) -> Iterator[str]:
    for module in modules:
        if module.line_count > limit and module.path not in CATALOGUES:
            yield module.breach(1, f"{module.line_count} lines, more than {limit}: is it one thing?")


def functions_fit_a_screen(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, FunctionNode) and (length := _length(node)) > LONGEST_FUNCTION:
                yield module.breach(node.lineno, f"{node.name} has {length} lines, more than {LONGEST_FUNCTION}")


def _length(function: FunctionNode) -> int:
    """Lines of a function without its decorators and docstring."""
    documentation = ast.get_docstring(function, clean=False)
    first = function.body[0]
    documented = (first.end_lineno or first.lineno) - first.lineno + 1 if documentation is not None else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - documented


RULES: tuple[Rule, ...] = (names_say_something, one_catch_all, files_have_one_reason, functions_fit_a_screen)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_source_keeps_its_rule(rule: Rule) -> None:
    assert list(rule(read_modules())) == []


def test_long_files_are_pointed_out() -> None:
    for breach in files_have_one_reason(read_modules(), LONG_FILE):
        warnings.warn(breach, stacklevel=1)
    assert list(files_have_one_reason(synthetic_modules({"a.py": "\n" * 401}), LONG_FILE)) != []


def _handler(caught: str, ending: str = "pass") -> str:
    return f"try:\n    work()\nexcept{caught}:\n    {ending}\n"


WORKER = {"worker.py": _handler(" Exception")}

BREACHES: tuple[tuple[Rule, Mapping[str, str], str], ...] = (
    (names_say_something, {"store/utils.py": ""}, "store/utils.py:1: "),
    (names_say_something, {"helpers/__init__.py": ""}, "helpers/__init__.py:1: "),
    (names_say_something, {"store/text_common.py": ""}, "store/text_common.py:1: "),
    (names_say_something, {"store/a.py": "\nclass SQLManager: ..."}, "store/a.py:2: "),
    (names_say_something, {"store/a.py": "def f():\n    class _JobHelper: ..."}, "store/a.py:2: "),
    (one_catch_all, {**WORKER, "flows/a.py": _handler(" Exception")}, "flows/a.py:3: "),
    (one_catch_all, {**WORKER, "flows/a.py": _handler(" (ValueError, BaseException)")}, "flows/a.py:3: "),
    (
        one_catch_all,
        {**WORKER, "flows/a.py": _handler(" builtins.Exception as error", "raise X() from error")},
        "flows/a.py:3: ",
    ),
    (one_catch_all, {**WORKER, "flows/a.py": _handler("")}, "flows/a.py:3: "),
    (one_catch_all, {**WORKER, "flows/a.py": "with contextlib.suppress(Exception):\n    work()"}, "flows/a.py:1: "),
    (one_catch_all, {"worker.py": _handler(" Exception") + _handler(" BaseException")}, "worker.py:7: "),
    (one_catch_all, {"worker.py": ""}, "worker.py:1: "),
    (files_have_one_reason, {"store/a.py": "\n" * 501}, "store/a.py:1: "),
    (functions_fit_a_screen, {"store/a.py": "\ndef f():\n" + "    pass\n" * 60}, "store/a.py:2: "),
    (
        functions_fit_a_screen,
        {"store/a.py": "class A:\n    async def f():\n" + "        pass\n" * 60},
        "store/a.py:2: ",
    ),
)


@pytest.mark.parametrize(("rule", "files", "place"), BREACHES)
def test_a_breach_is_found_where_it_is(rule: Rule, files: Mapping[str, str], place: str) -> None:
    breaches = list(rule(synthetic_modules(files)))
    assert len(breaches) == 1
    assert breaches[0].startswith(place)


BLAMELESS: tuple[tuple[Rule, Mapping[str, str]], ...] = (
    (names_say_something, {"store/commons.py": "class Helped: ...\nclass Miscount: ..."}),
    (one_catch_all, {**WORKER, "store/a.py": _handler(" BaseException", "raise"), "flows/a.py": _handler(" OSError")}),
    (
        functions_fit_a_screen,
        {"a.py": "def f():\n" + '    """Told\n' + "    at\n" * 60 + '    length."""\n' + "    pass\n" * 59},
    ),
)


@pytest.mark.parametrize(("rule", "files"), BLAMELESS)
def test_what_is_allowed_is_not_blamed(rule: Rule, files: Mapping[str, str]) -> None:
    assert list(rule(synthetic_modules(files))) == []


# --- Errors --------------------------------------------------------------------------------------


def _family(kind: type[errors.WenyuanError]) -> Iterator[type[errors.WenyuanError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


def _wordless(root: type[errors.WenyuanError]) -> Iterator[str]:
    """Each way in which an error fails to say its own code, sentence and hint."""
    seen: dict[str, str] = {}
    for kind in _family(root):
        own = vars(kind)
        if not kind.__subclasses__():
            yield from (
                f"{kind.__name__} has no {part} of its own" for part in ("code", "sentence", "hint") if part not in own
            )
        if "code" not in own:
            continue
        if kind.code in seen:
            yield f"{kind.__name__} has the code of {seen[kind.code]}: {kind.code}"
        seen[kind.code] = kind.__name__
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.code):
            yield f"{kind.__name__} has a code that is not words and hyphens: {kind.code}"
        yield from (
            f"{kind.__name__} ends without a full stop: {text}"
            for text in (kind.sentence, kind.hint)
            if text[-1:] != "."
        )


def test_every_error_speaks_for_itself() -> None:
    assert list(_wordless(errors.WenyuanError)) == []


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        ({"sentence": "It broke.", "hint": "Mend it."}, "no code"),
        ({"code": "broken", "hint": "Mend it."}, "no sentence"),
        ({"code": "broken", "sentence": "It broke."}, "no hint"),
        ({"code": "taken", "sentence": "It broke.", "hint": "Mend it."}, "has the code of Taken"),
        ({"code": "Broken!", "sentence": "It broke.", "hint": "Mend it."}, "not words and hyphens"),
        ({"code": "broken", "sentence": "It broke", "hint": "Mend it."}, "without a full stop"),
    ],
)
def test_a_wordless_error_is_found(own: dict[str, str], complaint: str) -> None:
    # A family of its own, so that these classes never join the real one.
    root = type("Root", (), {"code": "root", "sentence": "All.", "hint": "None."})
    kinds = [
        type("Taken", (root,), {"code": "taken", "sentence": "Taken.", "hint": "Ask."}),
        type("Broken", (root,), own),
    ]
    complaints = list(_wordless(root))
    assert [kind.__name__ for kind in kinds] == ["Taken", "Broken"]
    assert len(complaints) == 1
    assert complaint in complaints[0]


# --- What a public repository must not mention ---------------------------------------------------


def _local_places(text: str) -> list[tuple[int, str]]:
    return [
        (number, found[0]) for number, line in enumerate(text.split("\n"), 1) for found in LOCAL_PLACES.finditer(line)
    ]


def test_no_file_names_a_place_on_one_machine() -> None:
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    found: list[str] = []
    for name in filter(None, run.stdout.split("\0")):
        path = REPOSITORY / name
        if path.is_file():
            text = path.read_bytes().decode("utf-8", errors="replace")
            found += [f"{name}:{line}: {place}" for line, place in _local_places(text)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["see /home" + "/ada/notes", "open('/work" + "/x')", "http:" + "//10.0.0.7:80/", "https:" + "//mirror.corp/simple"],
)
def test_a_local_place_is_found(text: str) -> None:
    assert [line for line, _ in _local_places(f"\n{text}\n")] == [2]


@pytest.mark.parametrize(
    "text", ["https://example.org/home/page", "version 10.0.0.7", "~/work/notes", "http://127.0.0.1:8000/"]
)
def test_a_public_place_is_not_blamed(text: str) -> None:
    assert _local_places(text) == []
