"""The demo: a small company's shared folder is added, searched and asked, offline and without any key.

`make demo` runs it. WENYUAN_LANG=zh tells it in Chinese.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import wenyuan as wy

EXAMPLES = Path(__file__).resolve().parent
FOLDER = EXAMPLES / "library"
LIBRARY = Path("demo-library")
MARK = LIBRARY / "wenyuan.toml"
MARK_TEXT = "# Made by examples/demo.py, which removes this folder when it runs again.\n"
CHINESE = next(
    (os.environ[name] for name in ("WENYUAN_LANG", "LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), ""
).startswith("zh")

# The date in Chinese numerals, the version and the two-character word are found by exact search: they must be right.
MUST_BE_RIGHT = 3


def say(english: str, chinese: str) -> None:
    print(chinese if CHINESE else english, flush=True)


def heading(english: str, chinese: str) -> None:
    text = chinese if CHINESE else english
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def run(*arguments: str) -> int:
    """Run one command of the program as a person would, and show it first."""
    shown = " ".join(f'"{word}"' if " " in word else word for word in arguments)
    print(f"$ wenyuan --library {LIBRARY} {shown}", flush=True)
    program = [sys.executable, "-m", "wenyuan.doors.cli", "--library", str(LIBRARY), *arguments]
    return subprocess.run(program, check=False).returncode


def start_afresh() -> None:
    if LIBRARY.exists():
        if not MARK.exists() or MARK.read_text("utf-8") != MARK_TEXT:
            say(
                f"{LIBRARY} was not made by the demo, so it is left alone. Run the demo in another folder.",
                f"{LIBRARY} 不是演示程序建立的，因此不会动它。请换一个文件夹运行演示。",
            )
            sys.exit(2)
        shutil.rmtree(LIBRARY)
    LIBRARY.mkdir()
    MARK.write_text(MARK_TEXT, encoding="utf-8")


def is_met(question: Mapping[str, Any], answer: Any, library: Any) -> bool:
    """Whether the first citation names the right document and shows the right words, or nothing was answered."""
    if question.get("expect") == "nothing":
        return not answer.citations
    if not answer.citations:
        return False
    first = answer.citations[0]
    shown = first.quote + library.documents.open(first.chunk_id).passage
    return first.source == str(FOLDER / question["expect_document"]) and question["expect_text"] in shown


def lines_of(citation: Any) -> str:
    first, last = citation.anchor.first, citation.anchor.last
    return str(first) if first == last else f"{first}-{last}"


def show(number: int, question: Mapping[str, Any], answer: Any, met: bool) -> None:
    heading(f"{number}. {question['ask']}", f"{number}. {question['ask']}")
    print(f"   ({question['why_zh' if CHINESE else 'why']})\n")
    for line in answer.text.splitlines():
        print(f"   {line}".rstrip())
    for citation in answer.citations:
        print(f"   [{citation.number}] {os.path.relpath(citation.source)}:{lines_of(citation)}")
    say(
        f"   {'✓ as expected' if met else '✗ not what was expected'}",
        f"   {'✓ 符合预期' if met else '✗ 与预期不符'}",
    )


def main() -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    start_afresh()
    heading("A shared folder of 36 files, in Chinese and English, is added", "添加一个共享文件夹：36 个中英文文件")
    say(
        "Each file can be found by its words as soon as it is read; then its passages are embedded, and it can be\n"
        "found by its meaning. One file is broken on purpose, and one hidden draft must stay out.",
        "文件一读完就能用词语检索；随后生成段落的向量，就能按意思检索。\n其中一个文件是故意损坏的，还有一份隐藏的草稿必须排除在外。",
    )
    added = run("add", os.path.relpath(FOLDER))
    if added not in (0, 4):
        return added

    heading("Five questions", "五个问题")
    questions = tomllib.loads((EXAMPLES / "questions.toml").read_text("utf-8"))["question"]
    verdicts = []
    with wy.open(LIBRARY, create=False) as library:
        for number, question in enumerate(questions, start=1):
            answer = library.ask(question["ask"])
            verdicts.append(is_met(question, answer, library))
            show(number, question, answer, verdicts[-1])
            if number == 1:
                trace = answer.search.trace_id

    heading("How the first answer was found", "第一个答案是怎样找到的")
    run("explain", trace)

    heading("What to type next", "接下来可以试试")
    program = os.path.relpath(Path(sys.executable).with_name("wenyuan"))
    for example in ('search "E-1042"', 'ask "What are quiet_from and quiet_until set to?"', "docs list", "--help"):
        print(f"  {program} --library {LIBRARY} {example}")
    right = sum(verdicts)
    say(f"\n{right} of {len(verdicts)} answers were as expected.", f"\n{len(verdicts)} 个回答中有 {right} 个符合预期。")
    return 0 if all(verdicts[:MUST_BE_RIGHT]) else 1


if __name__ == "__main__":
    sys.exit(main())
