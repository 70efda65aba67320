"""Numbers as tables, with the machine they were measured on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata


def machine() -> str:
    """The machine, its load and the versions that matter."""
    processor = platform.processor() or platform.machine()
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), processor
    )
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("apsw", "numpy", "simsimd", "onnxruntime"))
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, load {load} at the start; Python {platform.python_version()}, {versions}"


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readlines()
    except OSError:
        return []


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table below its title."""
    lines = [f"### {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join([*lines, ""])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def milliseconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return (time.perf_counter() - began) * 1000


def median_and_p95(samples: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(samples)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
