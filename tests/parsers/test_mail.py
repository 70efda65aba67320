"""Messages as they are sent, and as they should not be."""

from __future__ import annotations

import base64
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenyuan.parsers.mail.headers import decoded_words
from wenyuan.parsers.mail.message import MailReading
from wenyuan.parsers.mail.text import unflowed
from wenyuan.parsers.reading import read_file
from wenyuan.types import Anchor, Block, Facts, Member, Notice, ReadEvent

FILES = Path(__file__).parent.parent / "fixtures" / "files"
PNG = b"\x89PNG\r\n\x1a\n"
SUBJECT = "关于第三季度报销流程的通知（请务必在九月三十日之前提交所有材料）"


def read(folder: Path, content: bytes | str, name: str = "a.eml") -> list[ReadEvent]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_file(path, name))


def texts(events: list[ReadEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Block)]


def facts(events: list[ReadEvent]) -> Facts:
    return [event for event in events if isinstance(event, Facts)][-1]


def codes(events: list[ReadEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, Notice)]


def letter() -> EmailMessage:
    message = EmailMessage()
    message["From"] = "张三 <zhang@example.com>"
    message["To"] = '"李, 四" <li@example.com>, wang@example.org'
    message["Subject"] = SUBJECT
    message["Date"] = "Fri, 5 Jan 2024 10:00:00 +0800"
    message.set_content("各位同事：\n\n请于九月三十日前提交报销单。\n\n> 发票怎么办？\n\n-- \n张三\n")
    message.add_alternative("<html><body><h1>通知</h1><p>网页版</p></body></html>", subtype="html")
    return message


@pytest.mark.proves("eml", "text", "anchors", "metadata")
def test_a_letter_with_attachments_and_a_message_in_it(tmp_path: Path) -> None:
    message = letter()
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="报销说明（第三版）.pdf")
    message.add_attachment("a,b\n1,2\n", subtype="csv", filename="data.csv")
    inner = EmailMessage()
    inner["From"] = "boss@example.com"
    inner["Subject"] = "原文"
    inner.set_content("这是被转发的原文。")
    message.add_attachment(inner)
    events = read(tmp_path, message.as_bytes(policy=SMTP))
    assert texts(events) == [
        f"From: 张三 <zhang@example.com>\nTo: 李, 四 <li@example.com>, wang@example.org\nSubject: {SUBJECT}\n"
        "Date: 2024-01-05 10:00:00+08:00\nAttachments: 报销说明（第三版）.pdf, data.csv",
        "各位同事：",
        "请于九月三十日前提交报销单。",
        "> 发票怎么办？",
        "-- \n张三",
        "From: boss@example.com\nSubject: 原文",
        "这是被转发的原文。",
    ]
    blocks = [event for event in events if isinstance(event, Block)]
    assert [block.anchor for block in blocks] == [Anchor("paragraph", number, number) for number in range(1, 8)]
    assert [block.heading_path for block in blocks] == [()] * 5 + [("原文",)] * 2
    assert facts(events).title == SUBJECT
    assert facts(events).metadata == {
        "from": "张三 <zhang@example.com>",
        "to": "李, 四 <li@example.com>, wang@example.org",
        "date": "2024-01-05T10:00:00+08:00",
        "subject": SUBJECT,
    }
    assert [event for event in events if isinstance(event, Member)] == [
        Member("报销说明（第三版）.pdf", b"%PDF-1.4", "application/pdf"),
        Member("data.csv", b"a,b\r\n1,2\r\n", "text/csv"),
    ]


@pytest.mark.proves("eml", "text", file="utf16.eml")
def test_a_message_that_is_utf16_as_a_whole() -> None:
    events = list(read_file(FILES / "utf16.eml", "utf16.eml"))
    assert facts(events).title == "Test Email"
    assert facts(events).metadata["date"] == "2022-12-16T17:04:16-05:00"
    assert "This is a test email to use for unit tests." in texts(events)


@pytest.mark.parametrize(("declared", "codec"), [("gb2312", "gb18030"), ("gbk", "gb18030"), ("", "gb18030")])
def test_chinese_that_is_more_than_its_charset(tmp_path: Path, declared: str, codec: str) -> None:
    head = f"From: a@b.cn\nSubject: x\nContent-Type: text/plain{f'; charset={declared}' if declared else ''}\n"
    body = "朱镕基总理的讲话稿，㐂𠮷。今天天气很好，我们去公园散步。"
    assert texts(read(tmp_path, head.encode() + b"\n" + body.encode(codec)))[1] == body


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("=?gb2312?B?1cXI/Q==?=", "张三"),
        ("=?GB2312?Q?=B9=D8=D3=DA?= =?gb2312?B?1tw=?=", "关于周"),
        ("=?utf-8?B?5Lit5Q==?= =?utf-8?B?m70=?=", "中国"),
        ("Re: =?utf-8?q?caf=C3=A9_noir?= (fwd)", "Re: café noir (fwd)"),
        ("=?utf-8?B?5Lit5Zu9?=直接相连", "中国直接相连"),
        ("=?utf-8*zh-CN?B?5Lit5Zu9?=", "中国"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?utf-8?B?5Lit5Zu9", "=?utf-8?B?5Lit5Zu9"),
        ("=?nonsense?B?5Lit5Zu9?=", "中国"),
        ("=?utf-8?B?5Lit5Zu?=", "中\ufffd"),
        ("a  plain\n one", "a plain one"),
        ("=??= =?x?y?z?=", "=??= =?x?y?z?="),
    ],
)
def test_encoded_words(raw: str, shown: str) -> None:
    assert decoded_words(raw) == shown


def test_headers_that_are_not_encoded_at_all(tmp_path: Path) -> None:
    events = read(tmp_path, "From: 王五 <w@x.cn>\nSubject: 未编码的主题很长很长\n\n正文也是一样的".encode("gbk"))
    assert facts(events).metadata == {"from": "王五 <w@x.cn>", "subject": "未编码的主题很长很长"}


@pytest.mark.parametrize(
    "header",
    [
        "attachment; filename*=UTF-8''%E6%8A%A5%E5%91%8A.pdf",
        "attachment; filename*0*=gb2312''%B1%A8; filename*1*=%B8%E6.pdf",
        'attachment; filename="=?utf-8?B?5oql5ZGKLnBkZg==?="',
        'attachment; filename="报告.pdf"',
        'attachment; filename="C:\\\\temp\\\\报告.pdf"',
    ],
)
def test_names_of_attachments(tmp_path: Path, header: str) -> None:
    content = f"From: a@b\nContent-Type: application/pdf\nContent-Disposition: {header}\n\n%PDF"
    assert [event.path for event in read(tmp_path, content) if isinstance(event, Member)] == ["报告.pdf"]


@pytest.mark.parametrize(
    ("plain", "page", "shown"),
    [
        ("正文", "<p>网页</p>", "正文"),
        ("", "<p>网页</p>", "网页"),
        (" \n", "<p>网页</p>", "网页"),
        ("See the web version.", f"<p>{'long text ' * 100}</p>", ("long text " * 100).strip()),
    ],
)
def test_the_plain_text_unless_there_is_none(tmp_path: Path, plain: str, page: str, shown: str) -> None:
    message = EmailMessage()
    message["From"] = "a@b"
    message.set_content(plain)
    message.add_alternative(page, subtype="html")
    assert texts(read(tmp_path, message.as_bytes()))[1:] == [shown]


@pytest.mark.proves("eml", "tables", "headings")
def test_a_page_as_text_keeps_its_structure(tmp_path: Path) -> None:
    content = (
        "From: a@b\nContent-Type: text/html\n\n<meta charset=gbk><h1>标题</h1><p>你好，世界。</p>"
        "<table><tr><th>甲</th><th>乙</th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    found = [event for event in read(tmp_path, content.encode("gbk")) if isinstance(event, Block)]
    assert [(block.kind, block.text) for block in found[1:]] == [
        ("heading", "标题"), ("paragraph", "你好，世界。"), ("table", "| 甲 | 乙 |"), ("table", "| 1 | 2 |"),
    ]  # fmt: skip
    assert {block.anchor.kind for block in found} == {"paragraph"}
    assert found[-1].heading_path == ("标题",)


def test_flowed_text_is_whole_again() -> None:
    source = "A long \nline \nhere.\n> quoted \n> text\n>> deeper\n-- \nme\n  two\nend "
    assert unflowed(source) == "A long line here.\n> quoted text\n>> deeper\n-- \nme\n two\nend "
    assert unflowed("国 \n家", delete_space=True) == "国家"


def test_pictures_in_a_text_are_no_attachments_unless_they_show_something(tmp_path: Path) -> None:
    parts = [("text/html", "", "<p>文</p><img src=cid:a>")]
    parts += [
        ("image/png", name, base64.b64encode(PNG + bytes(size)).decode()) for name, size in (("s", 100), ("b", 20_000))
    ]
    body = "".join(
        f"--x\nContent-Type: {kind}; name={name}.png\n"
        f"{'Content-Transfer-Encoding: base64' if name else 'X-A: b'}\n\n{content}\n"
        for kind, name, content in parts
    ).replace("; name=.png", "")
    events = read(tmp_path, f"From: a@b\nTo: c@d\nContent-Type: multipart/related; boundary=x\n\n{body}--x--\n")
    assert [event.path for event in events if isinstance(event, Member)] == ["b.png"]
    assert facts(events).quality == {"attachments": 1, "small_pictures": 1}


def test_a_page_saved_by_a_browser(tmp_path: Path) -> None:
    content = (
        "From: <Saved by Blink>\nSnapshot-Content-Location: https://example.com/\nSubject: =?utf-8?Q?=E9=A1=B5?=\n"
        'MIME-Version: 1.0\nContent-Type: multipart/related; type="text/html"; boundary="--=_x"\n\n'
        "----=_x\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
        "<h1>=E6=A0=87</h1><p>a=\nb</p>\n"
        "----=_x\nContent-Type: text/css\n\np {}\n----=_x--\n"
    )
    events = read(tmp_path, content, "page.mhtml")
    assert texts(events) == ["标", "ab"]
    assert facts(events).title == "页"
    assert not [event for event in events if isinstance(event, Member)]


@pytest.mark.proves("eml", "limits")
def test_fifteen_hundred_messages_in_one_another(tmp_path: Path) -> None:
    content = b"From: x@y\nSubject: bottom\n\nbottom"
    for level in range(1500):
        content = b"From: x@y\nSubject: %d\nContent-Type: message/rfc822\n\n" % level + content
    events = read(tmp_path, content)
    assert len(texts(events)) == 11
    assert codes(events) == ["nested-too-deep"]


def test_parts_in_parts_without_end(tmp_path: Path) -> None:
    content = b"Content-Type: text/plain\n\nbottom"
    for level in range(1500):
        edge = b"b%d" % level
        content = b"Content-Type: multipart/mixed; boundary=%s\n\n--%s\n%s\n--%s--\n" % (edge, edge, content, edge)
    assert codes(read(tmp_path, b"From: q@q\n" + content)) == ["nested-too-deep"]


def test_a_hundred_thousand_parts_and_headers(tmp_path: Path) -> None:
    many = b"From: q@q\nContent-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\nword\n" * 100_000
    assert len(texts(read(tmp_path, many))) <= 10_002
    heads = b"From: q@q\n" + b"X-A: b\n" * 300_000 + b"\nbody"
    assert texts(read(tmp_path, heads))[0] == "From: q@q"


@pytest.mark.parametrize(
    "content",
    [
        "From: a@b\nContent-Type: multipart/mixed; boundary=x\n\nno boundary at all",
        "From: a@b\nContent-Type: multipart/mixed\n\n--x\n\ntext\n",
        "From: a@b\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nnever closed",
        "From: a@b\nContent-Type: nonsense\n\nbody",
        "From: a@b\nContent-Transfer-Encoding: base64\n\n!!!YWJj!",
        "From: a@b\nDate: not a date\nContent-Type: text/plain; charset=nonsense\n\nbody",
    ],
)
def test_what_is_broken_is_read_as_far_as_it_goes(tmp_path: Path, content: str) -> None:
    found = read(tmp_path, content)
    assert texts(found)[0] == "From: a@b"
    assert "date" not in facts(found).metadata


def test_what_only_outlook_reads_is_told(tmp_path: Path) -> None:
    content = (
        "From: a@b\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\ntext\n--x\n"
        "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64\n\neJ8+\n--x--\n"
    )
    assert codes(read(tmp_path, content)) == ["winmail-dat"]


def test_a_message_taken_out_of_a_mailbox(tmp_path: Path) -> None:
    content = "\nFrom a@b Fri Jan  5 10:00:00 2024\nFrom: a@b\nSubject: one\n\nbody\n"
    events = read(tmp_path, content)
    assert (facts(events).media_type, facts(events).title) == ("message/rfc822", "one")
    assert texts(events) == ["From: a@b\nSubject: one", "body"]


@pytest.mark.proves("mbox", "text", "anchors")
def test_a_mailbox(tmp_path: Path) -> None:
    second = "From: b@c\nSubject: 二\n\nline\n\n>From here on it is text\nFrom: no separator\n\nFrom time to time\n"
    attached = letter()
    attached.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf")
    first = attached.as_bytes().replace(b"\nFrom ", b"\n>From ")
    box = b"From a@b Fri Jan  5 10:00:00 2024\n" + first + b"\n\nFrom b@c Sat Jan  6 10:00:00 2024\n" + second.encode()
    events = read(tmp_path, box, "mail.mbox")
    blocks = [event for event in events if isinstance(event, Block)]
    assert {block.anchor for block in blocks} == {Anchor("message", 1, 1), Anchor("message", 2, 2)}
    assert [block.text for block in blocks if block.anchor.first == 2] == [
        "From: b@c\nSubject: 二", "line", "From here on it is text\nFrom: no separator", "From time to time",
    ]  # fmt: skip
    assert {block.heading_path for block in blocks} == {(SUBJECT,), ("二",)}
    assert [event.path for event in events if isinstance(event, Member)] == ["1/a.pdf"]
    assert facts(events).quality == {"messages": 2, "attachments": 1}


WORDS = st.text(st.sampled_from("abc 字典，。éß𠮷-"), min_size=1, max_size=40).map(str.strip).filter(bool)


@settings(max_examples=60)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=4), st.binary(min_size=1, max_size=200), WORDS)
def test_random_messages_come_back(subject: str, paragraphs: list[str], attached: bytes, name: str) -> None:
    message = EmailMessage()
    message["From"] = "测试 <a@example.com>"
    message["Subject"] = subject
    message.set_content("\n\n".join(paragraphs))
    message.add_attachment(attached, maintype="application", subtype="octet-stream", filename=f"{name}.bin")
    reading = MailReading(message.as_bytes())
    assert reading.envelope.subject == " ".join(subject.split())
    assert [block.text for block in reading.blocks()][1:] == paragraphs
    assert [(member.path, member.data) for member in reading.members()] == [(f"{name}.bin", attached)]


@given(st.binary(max_size=300))
def test_any_bytes_are_read_as_a_message_somehow(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.eml"
    path.write_bytes(b"From: a@b\nContent-Type: multipart/mixed; boundary=x\n--x\n" + content)
    assert list(read_file(path, "any.eml", "message/rfc822"))
