"""What files can do to the process that reads them, and that it stays there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.waiting import until
from wenyuan import errors
from wenyuan.parsers import sandbox
from wenyuan.parsers.idle_children import IdleChildren
from wenyuan.parsers.sandbox import Child, ReadLimits, SandboxedReader, read_document
from wenyuan.parsers.wire import Request, WireError
from wenyuan.types import Block, Facts, Notice, ReadEvent

HOSTILE_PARSER = """
import os, signal, sys, time
from wenyuan.types import Anchor, Block, Notice

class Hostile:
    def read(self, path, name):
        verb = path.read_bytes().removeprefix(b"%!PS-").decode()
        yield Notice("process", str(os.getpid()))
        if verb == "hang":
            time.sleep(1000)
        if verb == "spin":
            while True: pass
        if verb == "bomb":
            hoard = []
            while True: hoard.append(bytearray(1 << 24))
        if verb == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if verb == "exit":
            os._exit(3)
        if verb == "bug":
            1 / 0
        if verb == "flood":
            while True: yield Block("paragraph", "x" * 10000, Anchor("lines", 1, 1))
        if verb == "print":
            print("[[[ this is no answer")
            sys.stdout.flush()
        if verb == "environment":
            yield Notice("environment", " ".join(os.environ))
        if verb == "spawn":
            import subprocess
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
            for _ in range(600): yield Notice("grandchild", str(child.pid))
            time.sleep(1000)
        yield Block("paragraph", "survived " + verb, Anchor("page", 1, 1))
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a parser for PostScript that does what the file says, the way another package would."""
    site = tmp_path / "site"
    information = site / "hostile-1.0.dist-info"
    information.mkdir(parents=True)
    (site / "hostile_parser.py").write_text(HOSTILE_PARSER)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[wenyuan.parsers]\napplication/postscript = hostile_parser:Hostile\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    return tmp_path


STAGE = """
import os, time

def stage(events, arguments):
    kind = arguments["do"]
    if kind == "touch":
        open(arguments["path"], "x").close()
    for event in events:
        yield type(event).__name__
    if kind == "bug":
        1 / 0
    if kind == "spin":
        while True: pass
    if kind == "work":
        for _ in range(arguments["pieces"]):
            until = time.process_time() + 0.4
            while time.process_time() < until: pass
            yield "x" * arguments["bytes"]
    if kind == "name":
        yield [os.getpid(), chr(0xD800)]
"""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Request]:
    """Ask for what a stage in a module of ours makes of a small file."""
    (tmp_path / "staging.py").write_text(STAGE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = file(tmp_path, "a.md", "# 手册\n\n年假十天。")

    def request(do: str, **more: object) -> Request:
        return Request(str(path), "a.md", "", "staging:stage", {"do": do, **more})

    return request


def unchecked(value: Any) -> Any:
    return value


@pytest.fixture
def reader() -> Iterator[SandboxedReader]:
    with SandboxedReader(ReadLimits(parse_seconds=20)) as opened:
        yield opened


def file(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts(events: list[ReadEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Block)]


def is_running(process_id: int) -> bool:
    try:
        return psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until_gone(process_id: int) -> None:
    until(lambda: not is_running(process_id), 30)


def test_reads_a_file_with_its_facts(tmp_path: Path, reader: SandboxedReader) -> None:
    path = file(tmp_path, "stored-bytes", "# 手册\n\n年假十天。\n")
    events = list(reader.read(path, "手册.md"))
    assert texts(events) == ["# 手册", "年假十天。"]
    assert Facts("text/markdown", "utf-8", "手册") in events


def test_read_document_needs_no_reader(tmp_path: Path) -> None:
    assert texts(list(read_document(file(tmp_path, "a.txt", "hello"), "a.txt", ReadLimits()))) == ["hello"]


def test_one_child_reads_many_files(tmp_path: Path, reader: SandboxedReader, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [file(tmp_path, f"{number}.txt", f"text {number}") for number in range(5)]
    monkeypatch.setattr(sandbox, "FILES_PER_CHILD", 3)
    children = []
    for path in paths:
        assert texts(list(reader.read(path, path.name))) == [f"text {path.stem}"]
        children.append(reader.process_id)
    assert children[0] == children[2] != children[3] == children[4]


@pytest.mark.parametrize(
    ("verb", "limits", "error", "message"),
    [
        ("hang", ReadLimits(parse_seconds=0.7), errors.ParserTimeout, "longer than 0.7 s"),
        ("spin", ReadLimits(parse_seconds=0.7), errors.ParserTimeout, "longer than 0.7 s"),
        ("bomb", ReadLimits(), errors.ParserMemory, "more than 1024 MB"),
        ("crash", ReadLimits(), errors.ParserCrashed, "SIGSEGV"),
        ("exit", ReadLimits(), errors.ParserCrashed, "exit code 3"),
        ("bug", ReadLimits(), errors.ParserCrashed, "ZeroDivisionError"),
        ("flood", ReadLimits(parse_output_bytes=1 << 21), errors.ParserOutputTooLarge, "more than 2 MB"),
    ],
)
def test_a_hostile_file_costs_only_itself(
    hostile: Path, verb: str, limits: ReadLimits, error: type[errors.DocumentError], message: str
) -> None:
    path = file(hostile, "bad.ps", f"%!PS-{verb}")
    good = file(hostile, "good.txt", "good")
    with SandboxedReader(limits) as reader:
        with pytest.raises(error, match=message):
            list(reader.read(path, "bad.ps"))
        assert texts(list(reader.read(good, "good.txt"))) == ["good"]


def test_the_kernel_limits_processor_time(hostile: Path) -> None:
    """Even where nobody waits for it: the parent is not listening while this child spins."""
    path = file(hostile, "bad.ps", "%!PS-spin")
    request = f'["read", "{path}", "bad.ps", ""]\n'.encode()
    lifeline, held = os.pipe()
    command = [sys.executable, "-P", "-m", "wenyuan.parsers.child", str(lifeline), str(1 << 30), "1", "off", "0"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=(lifeline,))
    assert child.stdin is not None
    child.stdin.write(request)
    child.stdin.flush()
    assert child.wait(timeout=20) == -signal.SIGXCPU
    child.stdin.close()
    os.close(lifeline)
    os.close(held)


def test_what_a_library_prints_is_no_answer(hostile: Path, reader: SandboxedReader) -> None:
    path = file(hostile, "loud.ps", "%!PS-print")
    assert texts(list(reader.read(path, "loud.ps"))) == ["survived print"]


def test_the_child_does_not_see_the_environment(
    hostile: Path, reader: SandboxedReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAMPLE_API_KEY", "secret")
    path = file(hostile, "curious.ps", "%!PS-environment")
    (seen,) = [
        event.message
        for event in reader.read(path, "curious.ps")
        if isinstance(event, Notice) and event.code == "environment"
    ]
    assert "PATH" in seen.split()
    assert "EXAMPLE_API_KEY" not in seen


def test_closing_the_iterator_kills_everything_the_child_started(hostile: Path, reader: SandboxedReader) -> None:
    path = file(hostile, "bad.ps", "%!PS-spawn")
    events = iter(reader.read(path, "bad.ps"))
    named = {event.code: int(event.message) for event in (next(events), next(events)) if isinstance(event, Notice)}
    assert all(map(is_running, named.values()))
    events.close()  # type: ignore[attr-defined]
    for process_id in named.values():
        wait_until_gone(process_id)
    assert texts(list(reader.read(file(hostile, "a.txt", "next"), "a.txt"))) == ["next"]


def test_the_child_dies_with_its_parent(hostile: Path) -> None:
    path = file(hostile, "bad.ps", "%!PS-hang")
    program = (
        "import sys, threading, time\n"
        "from pathlib import Path\n"
        "from wenyuan.parsers.sandbox import *\n"
        "reader = SandboxedReader(ReadLimits())\n"
        f"threading.Thread(target=lambda: list(reader.read(Path({str(path)!r}), 'bad.ps')), daemon=True).start()\n"
        "while reader.process_id is None: time.sleep(0.01)\n"
        "print(reader.process_id, flush=True)\n"
        "time.sleep(1000)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert is_running(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until_gone(child)


def test_time_the_caller_takes_does_not_count(tmp_path: Path) -> None:
    path = file(tmp_path, "long.txt", "一段文字。\n\n" * 60_000)
    with SandboxedReader(ReadLimits(parse_seconds=2)) as reader:
        events = reader.read(path, "long.txt")
        first = next(events)
        time.sleep(2.5)
        assert len([first, *events]) == 60_001


def test_every_thread_has_its_own_reader(tmp_path: Path) -> None:
    results: dict[int, list[str]] = {}

    def work(number: int) -> None:
        with SandboxedReader(ReadLimits()) as reader:
            path = file(tmp_path, f"{number}.txt", f"thread {number}\n\n" * 2000)
            results[number] = texts(list(reader.read(path, path.name)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [f"thread {number}"] * 2000 for number in range(4)}


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("empty.txt", b"", errors.FileEmpty),
        ("blank.txt", b" \n\t\n", errors.NoText),
        ("noise.dat", bytes(range(256)) * 50, errors.FileBinary),
        ("drawing.ps", b"%!PS-Adobe-3.0", errors.UnsupportedType),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100), errors.FileMalformed),
        ("bad.json", b'{"a": }', errors.FileMalformed),
        ("cyrillic.txt", "Съешь ещё этих мягких французских булок".encode("koi8-r"), errors.EncodingUnknown),
        ("deep.json", b"[" * 200_000, errors.FileMalformed),
    ],
)
def test_files_that_cannot_be_read_say_why(
    tmp_path: Path, reader: SandboxedReader, name: str, content: bytes, error: type[errors.DocumentError]
) -> None:
    with pytest.raises(error, match=name):
        list(reader.read(file(tmp_path, name, content), name))
    child = reader.process_id
    assert texts(list(reader.read(file(tmp_path, "good.txt", "good"), "good.txt"))) == ["good"]
    assert child in (None, reader.process_id), "an error that was understood does not cost the child"


def test_a_file_that_vanished(tmp_path: Path, reader: SandboxedReader) -> None:
    with pytest.raises(errors.FileVanished):
        list(reader.read(tmp_path / "gone.txt", "gone.txt"))


def test_folders_and_pipes_are_not_opened(tmp_path: Path, reader: SandboxedReader) -> None:
    with pytest.raises(errors.FileUnreadable, match="not a regular file"):
        list(reader.read(tmp_path, "folder"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(errors.FileUnreadable, match="not a regular file"):
        list(reader.read(tmp_path / "pipe", "pipe"))


def test_a_path_that_leads_through_a_file(tmp_path: Path, reader: SandboxedReader) -> None:
    path = file(tmp_path, "file", "x") / "below"
    with pytest.raises(errors.FileUnreadable, match="Not a directory"):
        list(reader.read(path, "below"))


def test_a_file_over_the_limit_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(errors.FileTooLarge, match="has 11 bytes; the limit is 10"):
        list(read_document(file(tmp_path, "a.txt", "x" * 11), "a.txt", ReadLimits(file_bytes=10)))


def test_names_that_are_not_unicode(tmp_path: Path, reader: SandboxedReader) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.txt"))
    path.write_text("readable all the same")
    assert texts(list(reader.read(path, "odd.txt"))) == ["readable all the same"]


def test_a_very_deep_page_is_read(tmp_path: Path, reader: SandboxedReader) -> None:
    path = file(tmp_path, "deep.html", "<html>" + "<div>" * 200_000 + "<p>down here</p>" + "</div>" * 200_000)
    assert texts(list(reader.read(path, "deep.html"))) == ["down here"]


@pytest.mark.parametrize("newline", ["\n\n", ""], ids=["paragraphs", "one line"])
def test_a_large_text_streams_in_little_memory(tmp_path: Path, reader: SandboxedReader, newline: str) -> None:
    """30 MB here; both processes need the same for any size, since neither ever holds the text."""
    path = tmp_path / "large.txt"
    paragraph = "这是一段普通的文字，长度和平常的段落差不多，不算太短。" * 4 + newline
    size = 30_000_000
    with path.open("w", encoding="utf-8") as output:
        for _ in range(size // len(paragraph.encode()) // 1000):
            output.write(paragraph * 1000)
    own = psutil.Process()
    before = own.memory_info().rss
    highest = highest_of_child = characters = 0
    for number, event in enumerate(reader.read(path, "large.txt")):
        characters += len(event.text) if isinstance(event, Block) else 0
        if number % 500 == 1:
            highest = max(highest, own.memory_info().rss)
            highest_of_child = max(highest_of_child, psutil.Process(reader.process_id).memory_info().rss)
    assert characters > size // 3.2
    assert highest - before < 50_000_000
    assert highest_of_child < 100_000_000


# --- Stages --------------------------------------------------------------------------------------


def test_a_stage_makes_something_of_the_events(reader: SandboxedReader, stage: Callable[..., Request]) -> None:
    *events, (process, text) = reader.make(stage("name"), unchecked)
    assert events == ["Block", "Block", "Facts"]
    assert (process, text) == (reader.process_id, "\ufffd")


def test_what_a_stage_made_is_checked_and_a_child_that_lies_is_replaced(
    reader: SandboxedReader, stage: Callable[..., Request]
) -> None:
    def refuse(value: Any) -> Any:
        raise WireError(f"not {value}")

    with pytest.raises(errors.ParserCrashed, match="not Block"):
        list(reader.make(stage("name"), refuse))
    assert reader.process_id is None
    assert len(list(reader.make(stage("name"), unchecked))) == 4


def test_a_mistake_in_a_stage_fails_the_file_alone(reader: SandboxedReader, stage: Callable[..., Request]) -> None:
    with pytest.raises(errors.ParserCrashed, match="ZeroDivisionError"):
        list(reader.make(stage("bug"), unchecked))
    assert len(list(reader.make(stage("name"), unchecked))) == 4


def test_a_stage_gets_more_time_for_what_it_makes(stage: Callable[..., Request]) -> None:
    with SandboxedReader(ReadLimits(parse_seconds=2)) as impatient:
        list(impatient.make(stage("name"), unchecked))
        made = list(impatient.make(stage("work", pieces=10, bytes=200_000), unchecked))
        assert len(made) == 13
        with pytest.raises(errors.ParserTimeout):
            list(impatient.make(stage("work", pieces=100, bytes=1), unchecked))


def test_a_stage_may_hand_over_more_than_a_parser(stage: Callable[..., Request]) -> None:
    with SandboxedReader(ReadLimits(parse_output_bytes=100_000)) as reader:
        assert len(list(reader.make(stage("work", pieces=2, bytes=300_000), unchecked))) == 5
        with pytest.raises(errors.ParserOutputTooLarge):
            list(reader.make(stage("work", pieces=1, bytes=1_100_000), unchecked))


def test_an_answer_without_an_end_is_not_waited_for(
    stage: Callable[..., Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_LONGEST_LINE", 1 << 20)
    with SandboxedReader(ReadLimits()) as reader, pytest.raises(errors.ParserCrashed, match="without an end"):
        list(reader.make(stage("work", pieces=1, bytes=2 << 20), unchecked))


def test_giving_up_in_the_middle_ends_the_child(reader: SandboxedReader, stage: Callable[..., Request]) -> None:
    made = reader.make(stage("work", pieces=100, bytes=1), unchecked)
    next(made)
    process = reader.process_id
    assert process is not None
    made.close()  # type: ignore[attr-defined]
    wait_until_gone(process)


def test_who_stops_listening_to_one_file_goes_on_with_the_next(tmp_path: Path, reader: SandboxedReader) -> None:
    long, short = tmp_path / "long.txt", tmp_path / "short.txt"
    long.write_text("一行字。\n\n" * 200_000, "utf-8")
    short.write_text("short", "utf-8")
    # Held on to, as it is by the traceback of what its listener met with.
    unfinished = reader.read(long, long.name)
    next(unfinished)
    first = reader.process_id
    assert first is not None
    for _ in range(2):
        assert [event.text for event in reader.read(short, short.name) if isinstance(event, Block)] == ["short"]
        wait_until_gone(first)
        unfinished.close()  # type: ignore[attr-defined]


# --- Asking ahead --------------------------------------------------------------------------------


def test_a_child_begins_with_the_file_that_follows_and_is_not_asked_twice(
    reader: SandboxedReader, stage: Callable[..., Request], tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    following = stage("touch", path=str(begun))
    made = list(reader.make(stage("name"), unchecked, following))
    assert len(made) == 4
    until(begun.exists)
    begun.unlink()
    process = reader.process_id
    assert len(list(reader.make(following, unchecked))) == 3
    assert (reader.process_id, begun.exists()) == (process, False)


def test_a_file_that_was_begun_in_vain_is_not_answered_for_another(
    reader: SandboxedReader, stage: Callable[..., Request]
) -> None:
    list(reader.make(stage("name"), unchecked, stage("work", pieces=3, bytes=1)))
    in_vain = reader.process_id
    assert in_vain is not None
    *_, (process, _) = reader.make(stage("name"), unchecked)
    assert process == reader.process_id != in_vain
    wait_until_gone(in_vain)


def test_a_child_that_dies_of_the_file_that_follows_has_read_the_one_before(
    reader: SandboxedReader, stage: Callable[..., Request]
) -> None:
    following = stage("bug")
    assert len(list(reader.make(stage("name"), unchecked, following))) == 4
    with pytest.raises(errors.ParserCrashed, match="ZeroDivisionError"):
        list(reader.make(following, unchecked))
    assert len(list(reader.make(stage("name"), unchecked))) == 4


def test_a_file_ahead_that_takes_too_long_is_said_to_when_its_turn_comes(stage: Callable[..., Request]) -> None:
    with SandboxedReader(ReadLimits(parse_seconds=1)) as impatient:
        following = stage("spin")
        assert len(list(impatient.make(stage("name"), unchecked, following))) == 4
        process = impatient.process_id
        assert process is not None
        wait_until_gone(process)
        with pytest.raises(errors.ParserTimeout):
            list(impatient.make(following, unchecked, stage("name")))
        assert len(list(impatient.make(stage("name"), unchecked))) == 4


def test_who_stops_listening_to_one_file_hears_nothing_of_it_when_the_next_is_read(
    reader: SandboxedReader, stage: Callable[..., Request]
) -> None:
    following = stage("name")
    # Held on to, as it is by the traceback of what its listener met with.
    unfinished = reader.make(stage("work", pieces=100, bytes=1), unchecked, following)
    next(unfinished)
    first = reader.process_id
    assert first is not None
    *_, (process, _) = reader.make(following, unchecked)
    assert process != first
    wait_until_gone(first)
    unfinished.close()  # type: ignore[attr-defined]


def test_a_long_request_that_follows_is_not_asked_ahead(reader: SandboxedReader, stage: Callable[..., Request]) -> None:
    # Each would wait for the other to take something out of its pipe.
    following = stage("name", of="x" * 200_000)
    assert len(list(reader.make(stage("work", pieces=2, bytes=300_000), unchecked, following))) == 5
    process = reader.process_id
    assert len(list(reader.make(following, unchecked))) == 4
    assert reader.process_id == process


def test_who_asked_ahead_leaves_no_busy_child_to_others(stage: Callable[..., Request]) -> None:
    idle = IdleChildren[Child]()
    with idle.held():
        with SandboxedReader(ReadLimits(), idle=idle) as reader:
            list(reader.make(stage("name"), unchecked, stage("work", pieces=1, bytes=1)))
            process = reader.process_id
        assert process is not None
        wait_until_gone(process)
        with SandboxedReader(ReadLimits(), idle=idle) as other:
            assert len(list(other.make(stage("name"), unchecked))) == 4
