"""One version, code or compound name in many writings: each writing finds all of them before any neighbour."""

from __future__ import annotations

import pytest

from tests.cases.conftest import Fill
from tests.cases.shelves import Shelf, assert_first, name_of

TOPICS = (
    "the boiler", "the crane", "a ferry", "our garden", "their harvest", "an island", "the jury", "a kettle",
    "this lamp",
    "one mirror", "the needle", "an orchard",
)  # fmt: skip

VERSION = (
    "0.1.0",
    "0_1_0",
    "0-1-0",
    "v0.1.0",
    "V0.1.0",
    "v0_1_0",
    "version 0.1.0",
    "版本0.1.0",
    "版本號：0.1.0",
    "v０.１.０",
)
VERSION_NEIGHBOURS = ("0.10.0", "0.1.1", "0.0.1", "1.0.0", "0.1.00", "10.1.0", "v0.1", "0.01.0", "0-1-1", "0_10_0")

CODE = ("PPR-9087", "ppr9087", "PPR 9087", "PPR_9087", "ppr_9087", "Ppr-9087", "ＰＰＲ－９０８７", "PPR–9087",
        "PPR9087型",
        "“PPR-9087”")  # fmt: skip
CODE_NEIGHBOURS = ("PPR-908", "PPR-90870", "PPR-9078", "PRP-9087", "PPR-19087", "PP-9087", "9087", "PPR")

NAME = ("RunnableWithMessageHistory", "runnable_with_message_history", "runnable-with-message-history",
        "runnableWithMessageHistory", "RUNNABLE_WITH_MESSAGE_HISTORY", "Runnable_With_Message_History",
        "langchain.RunnableWithMessageHistory", "RunnableWithMessageHistory()", "`RunnableWithMessageHistory`",
        "使用RunnableWithMessageHistory类")  # fmt: skip
NAME_NEIGHBOURS = ("RunnableWithHistory", "RunnableMessage", "MessageHistory", "ChatMessageHistory",
                   "RunnableWithFallbacks",
                   "message_history_store")  # fmt: skip

ASKED = {
    "version": ("0.1.0", "0-1-0", "0_1_0", "v0.1.0", "V0.1.0", "version 0.1.0", "版本0.1.0", "版本 0.1.0",
                "０.１.０", "0.1.0 的发布说明", "升級到0.1.0", "what is new in v0.1.0?"),
    "code": ("PPR-9087", "ppr9087", "PPR 9087", "ppr_9087", "PPR_9087", "ppr 9087", "ＰＰＲ９０８７", "PPR\u20109087",
             "PPR-9087 的型號", "泵PPR9087怎么换", "who ordered ppr-9087?"),
    "name": ("RunnableWithMessageHistory", "runnable_with_message_history", "runnable-with-message-history",
             "runnablewithmessagehistory", "RUNNABLE_WITH_MESSAGE_HISTORY", "runnableWithMessageHistory",
             "runnable with message history", "RunnableWithMessageHistory 怎么用", "使用RunnableWithMessageHistory",
             "ＲｕｎｎａｂｌｅＷｉｔｈＭｅｓｓａｇｅＨｉｓｔｏｒｙ"),
}  # fmt: skip
WRITINGS = {
    "version": (VERSION, VERSION_NEIGHBOURS),
    "code": (CODE, CODE_NEIGHBOURS),
    "name": (NAME, NAME_NEIGHBOURS),
}


def files() -> dict[str, str]:
    made = {}
    for kind, (same, others) in WRITINGS.items():
        for label, writings in (("same", same), ("other", others)):
            for number, writing in enumerate(writings):
                made[f"{kind} {label} {TOPICS[number].split()[1]}.txt"] = f"About {TOPICS[number]}: {writing} 。"
    return made


@pytest.fixture(scope="module")
def shelf(fill: Fill) -> Shelf:
    return fill("writings", files())


def expected(kind: str) -> list[str]:
    return [name for name in files() if name.startswith(f"{kind} same ")]


@pytest.mark.parametrize(("kind", "question"), [(kind, asked) for kind, many in ASKED.items() for asked in many])
def test_every_writing_finds_every_writing(shelf: Shelf, kind: str, question: str) -> None:
    assert_first(shelf, question, expected(kind))


@pytest.mark.parametrize(
    ("kind", "question"),
    [("version", "0-1-0"), ("version", "版本0.1.0"), ("code", "PPR_9087"), ("code", "ppr 9087")],
)
def test_only_the_writings_of_it_are_exact(shelf: Shelf, kind: str, question: str) -> None:
    exact = [name_of(hit) for hit in shelf.search(question).hits if hit.exactness != "none"]
    assert sorted(exact) == sorted(expected(kind))


IDENTIFIERS = {
    "one": "def get_user_name_by_id(user): ...",
    "two": "class HTTPServer2 answers requests",
    "three": "const errorHandlingMiddleware = 1",
    "four": "MAX_RETRY_COUNT is five",
    "five": "use torch.nn.functional.softmax here",
    "six": "kubectl get pods --all-namespaces",
    "seven": "调用getAccessToken接口获取令牌",
    "eight": "環境變數 DATABASE_URL 未設定",
    "nine": "组件 el-date-picker 不显示",
    "ten": "配置项spring.datasource.url写错了",
    "eleven": "send mail to zhang.san@example.com",
    "twelve": "the file lies in /etc/nginx/conf.d/default.conf",
    "thirteen": "tar -xzf unpacks an archive",
    "fourteen": "访问 https://docs.example.org/guide/install 查看",
    "user": "the name of a user and the id by which to get it",
    "token": "access is granted by token",
    "date": "please pick a date",
    "mail": "mail san zhang an example",
}

IDENTIFIERS_ASKED = {
    "one": ("get_user_name_by_id", "getUserNameById", "GetUserNameById", "get-user-name-by-id", "GET_USER_NAME_BY_ID"),
    "two": ("HTTPServer2", "http_server2", "httpserver2", "http-server-2"),
    "three": ("errorHandlingMiddleware", "error_handling_middleware", "error handling middleware", "ErrorHandling"),
    "four": ("MAX_RETRY_COUNT", "maxRetryCount", "max retry count", "最大重试 max_retry_count"),
    "five": ("torch.nn.functional.softmax", "nn.functional", "softmax", "functional.softmax怎么用"),
    "six": ("--all-namespaces", "kubectl --all-namespaces", "all namespaces"),
    "seven": ("getAccessToken", "get_access_token", "getAccessToken接口", "接口getAccessToken返回什么"),
    "eight": ("DATABASE_URL", "database_url", "databaseUrl", "环境变量DATABASE_URL"),
    "nine": ("el-date-picker", "elDatePicker", "ElDatePicker", "el_date_picker 组件"),
    "ten": ("spring.datasource.url", "datasource.url", "spring.datasource.url写在哪里"),
    "eleven": ("zhang.san@example.com", "zhang.san", "ZHANG.SAN@EXAMPLE.COM"),
    "twelve": ("/etc/nginx/conf.d/default.conf", "default.conf", "nginx/conf.d", "nginx配置default.conf在哪"),
    "thirteen": ("tar -xzf", "-xzf", "tar -x"),
    "fourteen": ("https://docs.example.org/guide/install", "docs.example.org", "guide/install"),
}  # fmt: skip


@pytest.fixture(scope="module")
def code(fill: Fill) -> Shelf:
    return fill("identifiers", {f"{name}.txt": line for name, line in IDENTIFIERS.items()})


@pytest.mark.parametrize(
    ("name", "question"),
    [(name, asked) for name, many in IDENTIFIERS_ASKED.items() for asked in many],
)
def test_a_name_in_code_finds_its_line_first(code: Shelf, name: str, question: str) -> None:
    assert_first(code, question, [f"{name}.txt"])
