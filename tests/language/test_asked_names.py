"""Names that only one thing can have are told from words, addresses and files, and known in every writing."""

from __future__ import annotations

import datetime
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenyuan.language.folding import fold
from wenyuan.language.postings import read_chunk
from wenyuan.language.questions.asked_names import asked_names
from wenyuan.language.questions.reading import read_question
from wenyuan.types import Anchor, Chunk

NAMES = {
    "asyncio.TaskGroupX 的用法": ["asyncio.TaskGroupX"],
    "what does os.pathx.join return?": ["os.pathx.join"],
    "std::movex 是什么": ["std::movex"],
    "怎么用 wraps_async": ["wraps_async"],
    "when is ERR_CONNECTION_RESETX raised": ["ERR_CONNECTION_RESETX"],
    "RunnableWithHistory 怎么用": ["RunnableWithHistory"],
    "how does connectx() work": ["connectx"],
    "git 的 --dry-runx 选项": ["--dry-runx"],
    "tar --excludex 与 --verbosex": ["--excludex", "--verbosex"],
}
NO_NAMES = [
    "What is the leave policy?",
    "年假怎么申请",
    "where is example.com hosted",
    "打开 report.final.pdf",
    "docker-compose.yml 里写什么",
    "e.g. a Ph.D. of the U.S.A.",
    "state-of-the-art co-workers",
    "GitHub 和 WeChat 的账号",
    "the file(s) and a_b",
    "write to john_smith@mail_host.org about http://host/some_page",
    "version 3.11.2 of 2026-04-14",
    "不用 -- 横线的 选项",
]


@pytest.mark.parametrize(("question", "names"), NAMES.items())
def test_names_are_seen(question: str, names: list[str]) -> None:
    assert [name.text for name in asked_names(question)] == names


@pytest.mark.parametrize("question", NO_NAMES)
def test_what_is_no_name_is_left_alone(question: str) -> None:
    assert asked_names(question) == []


WRITINGS = [
    ("asyncio.TaskGroup.create_task", "asyncio.TaskGroup.create_task(coro)"),
    ("asyncio.TaskGroup.create_task", "In asyncio, a TaskGroup has create-task."),
    ("create_task", "createTask"),
    ("RunnableWithHistory", "runnable_with_history"),
    ("RunnableWithHistory", "两个 runnable-with-history"),
    ("task_groups_open", "task_group_opens"),
    ("--dry-run", "git push --dry-run"),
    ("--dry-run", "the dry_run of a push"),
    ("--recursive", "it is recursive"),
    ("connect()", "先 connect，再 send"),
]


def looked_up(question: str, text: str) -> tuple[Counter[str], set[str]]:
    """What the index holds of a text, and what a question looks up."""
    plan = read_question(question, datetime.date(2026, 4, 20))
    posting, _ = read_chunk("x", Chunk(0, text, 0, len(text), Anchor("lines", 1, 1)))
    tokens = f"{posting.name} {posting.heading} {posting.body} {posting.alias}".split()
    return Counter(tokens), {*plan.tokens, *plan.aliases}


@pytest.mark.parametrize(("name", "text"), WRITINGS)
def test_other_writings_are_known(name: str, text: str) -> None:
    (asked,) = asked_names(f"{name} ?")
    frequency, tokens = looked_up(name, text)
    assert not asked.is_unknown(frequency, tokens) or asked.is_written_in(fold(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("asyncio.TaskGroup.create_task_all", "asyncio.TaskGroup.create_task for all"),
        ("os.pathx.join", "os.path.join"),
        ("re.unfindall", "re.findall"),
        ("RunnableWithHistories2x", "RunnableWithHistory"),
        ("--no-verifyx", "--no-verify"),
        ("connectx()", "connect(), connected"),
    ],
)
def test_a_neighbour_is_not_taken_for_it(name: str, text: str) -> None:
    (asked,) = asked_names(f"{name} ?")
    frequency, tokens = looked_up(name, text)
    assert asked.is_unknown(frequency, tokens)
    assert not asked.is_written_in(fold(text))


def test_words_side_by_side_write_a_name() -> None:
    (asked,) = asked_names("NodeJSRuntime 的版本")
    assert asked.is_written_in(fold("the Node.js runtime"))
    assert not asked.is_written_in(fold("the runtime of Node.js"))


def test_a_token_that_was_not_looked_up_tells_nothing() -> None:
    (asked,) = asked_names("wraps_async")
    assert not asked.is_unknown(Counter(), frozenset())


@given(st.text(alphabet="aB.:_-()x1 用", max_size=80))
def test_any_question_is_read(question: str) -> None:
    for name in asked_names(question):
        assert name.parts
        assert name.text.strip("-") in question


def test_a_long_question_is_read_in_linear_time() -> None:
    started = time.process_time()
    asked_names("a.b_c::d() --e-f " * 240)
    asked_names("aB" * 2000)
    assert time.process_time() - started < 1.0
