"""The floors of the house, and what must stay outside of each: the invariants of ARCHITECTURE.md."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest

from tests.source_code import (
    REPOSITORY,
    Module,
    Reference,
    Rule,
    called_name,
    last_name,
    read_modules,
    references,
    resolve,
    synthetic_modules,
    walk,
)

FLOORS = (
    {"types", "errors", "identifiers"},
    {"ports", "language"},
    {"rules", "prompts"},
    {"store", "parsers", "providers", "fetching"},
    {"flows"},
    {"worker", "config"},
    {"runtime"},
    {"doors", "client"},
)
FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}
SEEN_FROM_DOORS = {"runtime", "config", "types", "errors"}
ENTRANCES = {
    ("wenyuan", "wenyuan.client.library"),
    ("wenyuan.doors.cli.serving", "wenyuan.doors.http.server"),
    ("wenyuan.doors.cli.serving_agents", "wenyuan.doors.mcp.stdio"),
    ("wenyuan.doors.http.mcp_endpoint", "wenyuan.doors.mcp.http"),
    ("wenyuan.doors.http.bots_endpoint", "wenyuan.doors.bots.service"),
}
"""Where one door opens another: the command line starts the servers, and one server carries another's messages.

The package itself shows the client as it shows the library."""

PURE = {"language", "rules"}
IMPURE_MODULES = {
    *("apsw", "asyncio", "fileinput", "glob", "http", "httpx2", "io", "logging", "mmap", "multiprocessing", "os"),
    *("pathlib", "random", "secrets", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "tempfile"),
    *("time", "urllib.request", "uuid", "wenyuan.identifiers"),
}
IMPURE_CALLS = {"open", "print", "input", "breakpoint", "now", "today", "utcnow", "import_module", "__import__"}
IMPURE_ATTRIBUTES = {"stdin", "stdout", "stderr", "argv"}

# What SQL begins with, in a form that no sentence for people has.
SQL = re.compile(
    r"""\s*(?:
      SELECT\s | select\s.+\sfrom\s
    | (?:WHERE|HAVING|ORDER\ BY|GROUP\ BY|JOIN|LEFT\ JOIN|INNER\ JOIN|CROSS\ JOIN|UNION|UNION\ ALL)\s
    | (?:BEGIN|BEGIN\ IMMEDIATE|BEGIN\ EXCLUSIVE|COMMIT|ROLLBACK|VACUUM|SAVEPOINT\ \w+|PRAGMA\ \w+);?\s*$
    | (?i:
        insert\s+(?:or\s+\w+\s+)?into\s | update\s+\w+\s+set\s | delete\s+from\s
      | with\s+(?:recursive\s+)?\w+[^.]*\sas\s*\(
      | (?:create|drop|alter)\s+(?:unique\s+|virtual\s+|temp\s+|temporary\s+)?(?:table|index|view|trigger)\s
      | pragma\s+\w+\s*[=(;] | attach\s+database\s
      )
    )""",
    re.DOTALL | re.VERBOSE,
)

HEAVY = (
    "apsw",
    "fastapi",
    "httpcore2",
    "httpx2",
    "lxml",
    "numpy",
    "onnx",
    "onnxruntime",
    "opencc",
    "pydantic",
    "rjieba",
    "simsimd",
    "starlette",
    "tokenizers",
    "uvicorn",
    "watchfiles",
)


def imports_point_down(modules: Sequence[Module]) -> Iterator[str]:
    known = {module.name: module for module in modules}
    # The nouns are one module in a few files.
    packages = {module.top for module in modules if module.is_package or len(module.parts) > 1} - {"types"}
    for module in modules:
        if module.top and module.top not in FLOOR_OF:
            yield module.breach(1, f"{module.top!r} stands on no floor; put it on one in ARCHITECTURE.md and here")
            continue
        for reference in references(module):
            other = resolve(reference, known)
            if other and (why := _why_forbidden(module, other, packages)):
                yield module.breach(reference.line, f"{module.name} refers to {other.name}: {why}")


def _why_forbidden(module: Module, other: Module, packages: set[str]) -> str:
    if other.top == "":
        return "no such part, and the package root is the way in for callers alone"
    if module.top in ("", "doors"):
        same_door = module.top == other.top and module.parts[1:2] == other.parts[1:2]
        known = same_door or other.top in SEEN_FROM_DOORS or (module.name, other.name) in ENTRANCES
        return "" if known else f"a door knows {', '.join(sorted(SEEN_FROM_DOORS))} and nothing else"
    if module.top == other.top or other.top not in FLOOR_OF:
        return ""
    here, there = FLOOR_OF[module.top], FLOOR_OF[other.top]
    if there > here:
        return f"imports point down only, and {other.top!r} is above {module.top!r}"
    strangers = there == here and packages & {module.top, other.top}
    return "packages on one floor are strangers" if strangers else ""


def no_late_imports(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for reference in references(module):
            ours = reference.target.partition(".")[0] == "wenyuan"
            if ours and reference.in_function and reference.is_import:
                yield module.breach(
                    reference.line, f"{reference.target} is imported inside a function; import it above"
                )


def no_import_cycles(modules: Sequence[Module]) -> Iterator[str]:
    known = {module.name: module for module in modules}
    graph = {
        module.name: {
            other.name
            for reference in references(module)
            if reference.is_import and (other := resolve(reference, known)) and other is not module
        }
        for module in modules
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        cycle: list[str] = error.args[1]
        yield known[cycle[0]].breach(1, f"an import cycle: {' <- '.join(cycle)}")


def sql_stays_in_the_store(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        if module.top != "store":
            for line, text in _strings(module.tree):
                if SQL.match(text):
                    yield module.breach(line, f"SQL outside of the store: {text.strip()[:40]!r}")


def one_sqlite_library(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for reference in references(module):
            library = reference.target.partition(".")[0]
            if library == "sqlite3":
                yield module.breach(
                    reference.line, "two SQLite libraries in one process lose rows; use the store's apsw"
                )
            elif library == "apsw" and module.top != "store":
                yield module.breach(reference.line, "apsw is the store's alone")


def language_and_rules_do_no_io(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        if module.top not in PURE:
            continue
        for reference in references(module):
            if reference.is_import and _is_impure(reference):
                yield module.breach(reference.line, f"{module.top} does no I/O, and {reference.target} is a way to it")
        for node, _ in walk(module.tree):
            if isinstance(node, ast.Call) and called_name(node) in IMPURE_CALLS:
                yield module.breach(node.lineno, f"{module.top} does no I/O and reads no clock: {called_name(node)}()")
            elif isinstance(node, ast.Attribute) and node.attr in IMPURE_ATTRIBUTES and last_name(node.value) == "sys":
                yield module.breach(node.lineno, f"{module.top} does no I/O: sys.{node.attr}")


def _is_impure(reference: Reference) -> bool:
    return any(f"{reference.target}.".startswith(f"{name}.") for name in IMPURE_MODULES)


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every string constant and every constant piece of an f-string, but no docstrings."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


RULES: tuple[Rule, ...] = (
    imports_point_down,
    no_late_imports,
    no_import_cycles,
    sql_stays_in_the_store,
    one_sqlite_library,
    language_and_rules_do_no_io,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_its_rule(rule: Rule) -> None:
    assert list(rule(read_modules())) == []


def _late(statement: str) -> str:
    return f"def work():\n    {statement}\n"


BREACHES: tuple[tuple[Rule, Mapping[str, str], str], ...] = (
    (
        imports_point_down,
        {"store/queue.py": "import wenyuan.flows.ingest", "flows/ingest.py": ""},
        "store/queue.py:1: ",
    ),
    (imports_point_down, {"store/queue.py": "\nfrom wenyuan import runtime", "runtime.py": ""}, "store/queue.py:2: "),
    (imports_point_down, {"language/a.py": "from ..rules import b", "rules/b.py": ""}, "language/a.py:1: "),
    (imports_point_down, {"language/a.py": "from wenyuan.ports import Parser", "ports.py": ""}, "language/a.py:1: "),
    (imports_point_down, {"flows/a.py": "X = 'wenyuan.worker:Worker'", "worker.py": ""}, "flows/a.py:1: "),
    (imports_point_down, {"flows/a.py": "from wenyuan import VERSION", "__init__.py": ""}, "flows/a.py:1: "),
    (imports_point_down, {"doors/cli/a.py": "import wenyuan.store.queue", "store/queue.py": ""}, "doors/cli/a.py:1: "),
    (
        imports_point_down,
        {"doors/cli/a.py": "import wenyuan.doors.http.b", "doors/http/b.py": ""},
        "doors/cli/a.py:1: ",
    ),
    (
        imports_point_down,
        {"doors/http/a.py": "import wenyuan.doors.cli.serving", "doors/cli/serving.py": ""},
        "doors/http/a.py:1: ",
    ),
    (imports_point_down, {"__init__.py": "from wenyuan.store import queue", "store/queue.py": ""}, "__init__.py:1: "),
    (imports_point_down, {"services/a.py": ""}, "services/a.py:1: "),
    (imports_point_down, {"database.py": ""}, "database.py:1: "),
    (no_late_imports, {"flows/a.py": _late("import wenyuan.store.queue")}, "flows/a.py:2: "),
    (no_late_imports, {"flows/a.py": _late("from ..store import queue")}, "flows/a.py:2: "),
    (no_late_imports, {"flows/a.py": _late("importlib.import_module('wenyuan.store')")}, "flows/a.py:2: "),
    (no_late_imports, {"flows/a.py": f"class A:\n    async {_late('    import wenyuan')}"}, "flows/a.py:3: "),
    (no_late_imports, {"__init__.py": _late("import wenyuan.runtime")}, "__init__.py:2: "),
    (no_import_cycles, {"store/a.py": "from wenyuan.store import b", "store/b.py": "from . import a"}, "store/"),
    (no_import_cycles, {"store/__init__.py": "from .a import X", "store/a.py": "from . import Y"}, "store/"),
    (sql_stays_in_the_store, {"flows/a.py": "X = 'SELECT 1'"}, "flows/a.py:1: "),
    (sql_stays_in_the_store, {"flows/a.py": "X = '''\n  insert into jobs values (1)'''"}, "flows/a.py:1: "),
    (
        sql_stays_in_the_store,
        {"worker.py": "X = f'UPDATE {table} SET state = 1'\nY = 'update jobs set a=1'"},
        "worker.py:2: ",
    ),
    (sql_stays_in_the_store, {"runtime.py": "X = 'WITH live AS (SELECT id FROM chunks) SELECT 1'"}, "runtime.py:1: "),
    (
        sql_stays_in_the_store,
        {"runtime.py": "X = f'select {names} from chunks '\nY = 'pragma user_version;'"},
        "runtime.py:2: ",
    ),
    (sql_stays_in_the_store, {"doors/cli/a.py": "run('BEGIN IMMEDIATE')"}, "doors/cli/a.py:1: "),
    (sql_stays_in_the_store, {"rules/a.py": "X = 'create virtual table words using fts5(body)'"}, "rules/a.py:1: "),
    (one_sqlite_library, {"store/a.py": "import sqlite3"}, "store/a.py:1: "),
    (one_sqlite_library, {"store/a.py": _late("from sqlite3 import connect")}, "store/a.py:2: "),
    (one_sqlite_library, {"flows/a.py": "import apsw.ext"}, "flows/a.py:1: "),
    (language_and_rules_do_no_io, {"language/a.py": "import os.path"}, "language/a.py:1: "),
    (language_and_rules_do_no_io, {"rules/a.py": "from urllib.request import urlopen"}, "rules/a.py:1: "),
    (language_and_rules_do_no_io, {"rules/a.py": _late("from time import monotonic")}, "rules/a.py:2: "),
    (language_and_rules_do_no_io, {"rules/a.py": "from wenyuan.identifiers import new_id"}, "rules/a.py:1: "),
    (language_and_rules_do_no_io, {"language/a.py": _late("return open('words')")}, "language/a.py:2: "),
    (language_and_rules_do_no_io, {"language/a.py": _late("return datetime.date.today()")}, "language/a.py:2: "),
    (language_and_rules_do_no_io, {"language/a.py": _late("sys.stdout.write('x')")}, "language/a.py:2: "),
)


@pytest.mark.parametrize(("rule", "files", "place"), BREACHES)
def test_a_breach_is_found_where_it_is(rule: Rule, files: Mapping[str, str], place: str) -> None:
    breaches = list(rule(synthetic_modules(files)))
    assert len(breaches) == 1
    assert breaches[0].startswith(place)


BLAMELESS: tuple[tuple[Rule, Mapping[str, str]], ...] = (
    (imports_point_down, {"flows/a.py": "import numpy\nfrom wenyuan.store import queue", "store/queue.py": ""}),
    (imports_point_down, {"errors.py": "from wenyuan.types import Problem", "types.py": ""}),
    (
        imports_point_down,
        {"doors/cli/a.py": "from . import b\nimport wenyuan.config", "doors/cli/b.py": "", "config.py": ""},
    ),
    (imports_point_down, {"parsers/a.py": "X = 'wenyuan.toml'\nY = 'wenyuan.parsers.b:B'", "parsers/b.py": ""}),
    (no_late_imports, {"store/a.py": _late("import numpy")}),
    (
        no_late_imports,
        {"__init__.py": "def __getattr__(name):\n    from wenyuan.runtime import Library\n    return Library"},
    ),
    (no_import_cycles, {"store/a.py": "from . import b, c", "store/b.py": "from . import c", "store/c.py": ""}),
    (sql_stays_in_the_store, {"store/a.py": "X = 'SELECT 1'"}),
    (sql_stays_in_the_store, {"rules/a.py": '"""SELECT is told of here."""\nX = "Select a file from the list"'}),
    (sql_stays_in_the_store, {"worker.py": "X = 'Update documents, set by set'\nY = 'With care'\nZ = 'BEGINNING'"}),
    (one_sqlite_library, {"store/a.py": "import apsw"}),
    (language_and_rules_do_no_io, {"language/a.py": "import re\nimport datetime\nfrom urllib.parse import urlsplit"}),
    (language_and_rules_do_no_io, {"store/a.py": "import os"}),
)


@pytest.mark.parametrize(("rule", "files"), BLAMELESS)
def test_what_is_allowed_is_not_blamed(rule: Rule, files: Mapping[str, str]) -> None:
    assert list(rule(synthetic_modules(files))) == []


# --- Starting up ---------------------------------------------------------------------------------


def _heavy_libraries_loaded_by(module: str) -> set[str]:
    program = f"import importlib, sys; importlib.import_module({module!r}); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.fail(f"{module} cannot be imported: {run.stderr.strip().splitlines()[-1]}", pytrace=False)
    return set(HEAVY) & set(run.stdout.split())


@pytest.mark.parametrize("module", ["wenyuan", "wenyuan.doors.cli.__main__"])
def test_starting_up_loads_nothing_heavy(module: str) -> None:
    assert _heavy_libraries_loaded_by(module) == set()


def test_a_heavy_library_would_be_noticed() -> None:
    assert "numpy" in _heavy_libraries_loaded_by("wenyuan.ports")


# --- The map -------------------------------------------------------------------------------------


def _mapped_files(document: str) -> set[str]:
    """The files and folders in the tree of the map: a folder's name ends with a slash.

    A folder with nothing below it on the map stands for everything in it.
    """
    tree = document.partition("\nsrc/wenyuan/\n")[2].partition("```")[0]
    folders: list[tuple[int, str]] = []
    mapped: set[str] = set()
    for line in tree.splitlines():
        indent, name = len(line) - len(line.lstrip()), line.split()[0] if line.strip() else ""
        folders = [(depth, folder) for depth, folder in folders if depth < indent]
        parent = "".join(folder for _, folder in folders)
        mapped.discard(parent)
        if name.endswith("/"):
            folders.append((indent, name))
        if name.endswith(("/", ".py")):
            mapped.add(parent + name)
    return mapped


def _shown_by(mapped: set[str], path: str) -> str:
    """What on the map stands for a file: itself, or the folder it lies in."""
    return next((name for name in mapped if name.endswith("/") and path.startswith(name)), path)


def test_the_map_shows_every_file_and_no_other() -> None:
    drawn = _mapped_files((REPOSITORY / "docs" / "reference" / "map.md").read_text(encoding="utf-8"))
    built = {_shown_by(drawn, module.path) for module in read_modules() if not module.is_package}
    drawn -= {name for name in drawn if name.endswith("migrations/")}
    differences = {"not on the map": sorted(built - drawn), "only on the map": sorted(drawn - built)}
    assert differences == {"not on the map": [], "only on the map": []}


def test_the_map_is_read_folder_by_folder() -> None:
    lines = (
        "src/wenyuan/",
        "  types.py  nouns",
        "  store/    words",
        "    queue.py  jobs",
        "  doors/",
        "    cli/  lines",
    )
    mapped = _mapped_files("\n".join(("# Map", "```text", *lines, "```")))
    assert mapped == {"types.py", "store/queue.py", "doors/cli/"}
    assert _shown_by(mapped, "doors/cli/deep/file.py") == "doors/cli/"
    assert _shown_by(mapped, "store/other.py") == "store/other.py"
