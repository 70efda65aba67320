"""The package's source as the rules see it: parsed modules, and what each of them refers to."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "src" / "wenyuan"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One source file. `parts` is its dotted name without the package's own: ("store", "queue")."""

    path: str
    parts: tuple[str, ...]
    is_package: bool
    tree: ast.Module
    line_count: int

    @property
    def name(self) -> str:
        return ".".join(("wenyuan", *self.parts))

    @property
    def top(self) -> str:
        """The package or module directly under `wenyuan` that this belongs to; empty for the root."""
        return self.parts[0] if self.parts else ""

    def breach(self, line: int, why: str) -> str:
        return f"{self.path}:{line}: {why}"


Rule = Callable[[Sequence[Module]], Iterator[str]]
"""Yields one `file:line: why` for each place that breaks it."""


@dataclass(frozen=True)
class Reference:
    """A dotted name that a module imports, or names in a string for something to import later."""

    line: int
    target: str
    in_function: bool = False
    is_import: bool = True


def parse(path: str, source: str) -> Module:
    file = Path(path)
    is_package = file.name == "__init__.py"
    parts = file.parent.parts if is_package else file.with_suffix("").parts
    return Module(path, parts, is_package, ast.parse(source, path), source.count("\n"))


@cache
def read_modules(root: Path = PACKAGE) -> tuple[Module, ...]:
    """Every module under `root`, its paths relative to it; parsed once, as each rule looks at all of them."""
    files = sorted(root.rglob("*.py"))
    return tuple(parse(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")) for file in files)


def synthetic_modules(files: Mapping[str, str]) -> list[Module]:
    """Modules that exist only to break a rule."""
    return [parse(path, source) for path, source in files.items()]


def references(module: Module) -> Iterator[Reference]:
    for node, function in walk(module.tree):
        # The package's own lazy attributes (PEP 562) are asked for by name, not hidden.
        inside = function is not None and (module.top != "" or function.name != "__getattr__")
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Reference(node.lineno, alias.name, inside)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_base(module, node)
            for alias in node.names:
                yield Reference(node.lineno, f"{base}.{alias.name}", inside)
        elif isinstance(node, ast.Call) and called_name(node) in ("import_module", "__import__"):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield Reference(node.lineno, argument.value, inside)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            lazy = re.fullmatch(r"(wenyuan(?:\.\w+)+)(?::[\w.]+)?", node.value)
            if lazy:
                yield Reference(node.lineno, lazy[1], inside, is_import=False)


def resolve(reference: Reference, modules: Mapping[str, Module]) -> Module | None:
    """The module of ours that a reference means, if it means one."""
    if not reference.is_import:
        return modules.get(reference.target)
    name = reference.target
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return modules.get(name)


def walk(tree: ast.AST, function: FunctionNode | None = None) -> Iterator[tuple[ast.AST, FunctionNode | None]]:
    """Every node below `tree`, with the outermost function that it stands in."""
    for node in ast.iter_child_nodes(tree):
        yield node, function
        if function is None and isinstance(node, FunctionNode):
            yield from walk(node, node)
        else:
            yield from walk(node, function)


def called_name(call: ast.Call) -> str:
    """The last name of what is called: `open` for `open(...)`, `now` for `datetime.now(...)`."""
    return last_name(call.func)


def last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _absolute_base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = ("wenyuan", *module.parts) if module.is_package else ("wenyuan", *module.parts[:-1])
    kept = package[: len(package) - (node.level - 1)]
    return ".".join((*kept, node.module) if node.module else kept)
