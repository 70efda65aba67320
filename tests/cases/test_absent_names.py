"""A name of a function or an option that stands nowhere is missing; one that is written otherwise is not."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf

FILES = {
    "asyncio.md": "asyncio.TaskGroup.create_task(coro) starts a task in the group. asyncio.gather waits for several.",
    "os.md": "os.path.join 把路径的各部分接在一起。os.path.exists 判断路径是否存在。",
    "git.md": "git push --dry-run shows what would be sent. `--force-with-lease` 更安全。",
    "errors.md": "ERR_CONNECTION_RESET 表示连接被重置；ERR_NAME_NOT_RESOLVED means that the name is unknown.",
    "history.md": "RunnableWithMessageHistory 为对话保留历史。",
    "node.md": "We run node js 20, and the message bus is written in words only: retry policy store.",
    "connect.md": "Call connect() first, then send().",
    "release.md": "报告.pdf 与 notes.txt 在 example.com 上。",
}

MISSING = {
    "asyncio.TaskGroupX 的用法": "asyncio.TaskGroupX",
    "what does os.pathx.join do?": "os.pathx.join",
    "asyncio.TaskGroup.create_task_all": "asyncio.TaskGroup.create_task_all",
    "git push --dry-runx 是什么意思": "--dry-runx",
    "when does ERR_CONNECTION_RESETX happen": "ERR_CONNECTION_RESETX",
    "RunnableWithMessageHistoryPlus 怎么用": "RunnableWithMessageHistoryPlus",
    "how does disconnectx() work": "disconnectx",
}
THERE = [
    "asyncio.TaskGroup.create_task 的用法",
    "what does TaskGroup.create_task do?",
    "path.join 怎么用",
    "os.path.joins",
    "git push --dry-run 是什么意思",
    "the --force-with-lease option",
    "err_connection_reset",
    "ErrConnectionReset 是什么",
    "runnable_with_message_history",
    "Node.js 的版本",
    "RetryPolicyStore",
    "how does connect() work",
    "os.path.join and os.pathx.join",
    "what is in notes.docx",
    "who runs www.example.org",
]


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill("absent names", FILES)


@pytest.mark.parametrize(("question", "name"), MISSING.items())
def test_a_name_that_stands_nowhere_is_missing(shelf: Shelf, question: str, name: str) -> None:
    grounding = shelf.search(question).grounding
    assert grounding.missing == (name,)
    assert grounding.verdict == "unlikely"


@pytest.mark.parametrize("question", THERE)
def test_a_name_that_is_there_in_some_writing_is_not(shelf: Shelf, question: str) -> None:
    assert shelf.search(question).grounding.missing == ()
