"""Reading files in a child process, so that a hostile one costs nothing but itself.

The child's memory and processor time are limited by the kernel, its time and output by the parent,
which kills it when it breaks a limit, crashes, or is no longer listened to. A child that behaves
reads many files, of one reader or of several: starting one costs more than reading a small file.
"""

from __future__ import annotations

import fcntl
import math
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar

from wenyuan.errors import (
    DocumentError,
    FileEmpty,
    FileTooLarge,
    FileUnreadable,
    FileVanished,
    ParserCrashed,
    ParserMemory,
    ParserOutputTooLarge,
    ParserTimeout,
)
from wenyuan.parsers.idle_children import IdleChildren
from wenyuan.parsers.pictures.recognition import SECONDS_PER_PAGE, ReadingSettings
from wenyuan.parsers.wire import (
    SECONDS_PER_BYTE_MADE,
    Done,
    Made,
    Message,
    PageBegun,
    Request,
    WireError,
    decode_message,
    encode_request,
)
from wenyuan.types import ReadEvent

Result = TypeVar("Result")

FILES_PER_CHILD = 2000
"""A child is replaced after this many files, so that what its libraries leak stays small."""

_READ_BYTES = 1 << 18
# By POSIX a pipe holds no less than 512 bytes; those of systems that do not tell hold 16 KB.
_LEAST_PIPE_BYTES = 1 << 14
_LONGEST_LINE = 1 << 26
# The words by which a text is found take several times the room of the text.
_MADE_PER_BYTE = 10
_SECONDS_TO_DIE = 5.0
_FULL_SHARE = 0.5
_PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "TMPDIR", "TZ")
"""The child's whole environment: keys and tokens of the parent are none of its business."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What reading one file may cost. Sizes are bytes; the output is what the parser hands over."""

    file_bytes: int = 1 << 30
    parse_seconds: float = 120.0
    parse_memory_bytes: int = 1 << 30
    parse_output_bytes: int = 1 << 30


def read_document(path: Path, name: str, limits: ReadLimits) -> Iterator[ReadEvent]:
    """Yield what is in one file, read in a child process of its own. See `SandboxedReader.read`."""
    with SandboxedReader(limits) as reader:
        yield from reader.read(path, name)


class SandboxedReader:
    """Reads files one after the other in a child process. For one thread at a time; close it.

    The child comes from those that are `idle`, and goes back to them, if they are given.
    """

    def __init__(
        self, limits: ReadLimits, settings: ReadingSettings | None = None, idle: IdleChildren[Child] | None = None
    ) -> None:
        self._limits = limits
        self._settings = settings or ReadingSettings()
        self._idle = idle
        self._child: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def limits(self) -> ReadLimits:
        return self._limits

    @property
    def process_id(self) -> int | None:
        """The child's process id, or None while there is none."""
        return self._child.process_id if self._child is not None else None

    def close(self) -> None:
        """End the child process, or leave it to the next reader."""
        child, self._child = self._child, None
        if child is None:
            return
        if self._idle is not None:
            self._idle.give(child.kind, child)
        else:
            child.close()

    def read(self, path: Path, name: str, media_type: str = "", password: str = "") -> Iterator[ReadEvent]:
        """Yield the blocks, facts and notices of the file at `path`, whose own name is `name`.

        With a `media_type` it is read as that, whatever it looks like; a `password` opens it. Time the
        caller takes between two of them does not count; meanwhile the child waits. Closing the iterator
        early kills the child. Raises `DocumentError`: what the parser raises, and `FileVanished`, `FileUnreadable`,
        `FileEmpty`, `FileTooLarge`, `ParserTimeout`, `ParserMemory`, `ParserOutputTooLarge`,
        `ParserCrashed`.
        """
        for message in self._messages(Request(str(path.absolute()), name, media_type, password=password)):
            if isinstance(message, Made):
                raise ParserCrashed(name=name, reason="it made what was not asked for")
            yield from message

    def make(
        self, request: Request, checked: Callable[[Any], Result], following: Request | None = None
    ) -> Iterator[Result]:
        """Yield what a stage makes of a file in the child process, each as `checked` returns it.

        The limits are those of `read`, but the time grows with what is made. `checked` trusts
        nothing and raises `WireError`, which means that the child has lost its mind. With the request
        that is `following`, if it is known, the child begins while the caller is busy with this one.
        """
        for message in self._messages(request, following):
            try:
                if not isinstance(message, Made):
                    raise WireError("events where something made of them was asked for")
                made = checked(message.value)
            except WireError as error:
                raise ParserCrashed(name=request.name, reason=f"unreadable answer: {error}") from error
            yield made

    def _messages(self, request: Request, following: Request | None = None) -> Iterator[list[ReadEvent] | Made]:
        _check_file(Path(request.path), request.name, self._limits)
        child = self._ready_child(request)
        healthy = False
        try:
            child.request(request, following)
            while True:
                message = child.answer(request.name)
                if isinstance(message, Done):
                    healthy = True
                    return
                if isinstance(message, DocumentError):
                    healthy = not isinstance(message, ParserMemory)
                    raise message
                yield message
        finally:
            if healthy:
                child.is_busy = False
            else:
                child.close()
                self._child = None if self._child is child else self._child

    def _ready_child(self, request: Request) -> Child:
        if self._child is not None and not self._child.is_ready_for(request):
            self.close()
        if self._child is None and self._idle is not None:
            self._child = self._idle.take(_kind_of_child(self._limits, self._settings))
        if self._child is None:
            self._child = Child(self._limits, self._settings)
        return self._child


def _kind_of_child(limits: ReadLimits, settings: ReadingSettings) -> Hashable:
    """All that one child may differ in from another. A process does not share children with those it forked."""
    return limits, settings, tuple(_environment_of_child().items()), os.getpid()


def _environment_of_child() -> dict[str, str]:
    return {key: os.environ[key] for key in _PASSED_ON if key in os.environ}


def _check_file(path: Path, name: str, limits: ReadLimits) -> None:
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise FileVanished(path=str(path)) from error
    except OSError as error:
        raise FileUnreadable(path=str(path), reason=error.strerror or str(error)) from error
    if not stat.S_ISREG(status.st_mode):
        raise FileUnreadable(path=str(path), reason="it is not a regular file")
    if status.st_size == 0:
        raise FileEmpty(name=name)
    if status.st_size > limits.file_bytes:
        raise FileTooLarge(name=name, size=status.st_size, limit=limits.file_bytes)


def _write_all(stream: IO[bytes], data: bytes) -> None:
    """A pipe without a buffer may take a part at a time."""
    view = memoryview(data)
    while view:
        view = view[stream.write(view) :]


def _sure_to_fit(pipe: IO[bytes]) -> int:
    """How many bytes a pipe takes whatever was written before: half of it is for a request that still lies there."""
    size = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) if hasattr(fcntl, "F_GETPIPE_SZ") else _LEAST_PIPE_BYTES
    return size // 2


class Child:
    """A process that reads files, the two pipes to it, and one whose end tells it that we are gone."""

    def __init__(self, limits: ReadLimits, settings: ReadingSettings) -> None:
        self._limits = limits
        self._settings = settings
        self.kind = _kind_of_child(limits, settings)
        self._files = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the child lives
        lifeline, held = os.pipe()
        self._lifeline = open(held, "wb", buffering=0)  # noqa: SIM115 - open as long as the child may live
        try:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-X", "utf8", "-m", "wenyuan.parsers.child", str(lifeline)),
                    *(str(limits.parse_memory_bytes), str(math.ceil(limits.parse_seconds))),
                    *(settings.ocr, str(settings.ocr_pages)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                env=_environment_of_child(),
                start_new_session=True,
                pass_fds=(lifeline,),
            )
        finally:
            os.close(lifeline)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._answers = self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._pending = b""
        self.is_busy = False
        """Whether it was asked for a file that nobody has heard the end of."""
        self.ahead: Request | None = None
        """What it was asked for already, behind the file it is asked for now."""
        self._peak_bytes = 0
        self._seconds_left = 0.0
        self._bytes_left = 0
        self._pages_left = 0

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        is_idle = not self.is_busy and self.ahead is None
        return is_idle and self._files < FILES_PER_CHILD and self._is_alive()

    def is_ready_for(self, request: Request) -> bool:
        """Whether it can be asked for a file: it is idle, or has been asked for this very one as the next."""
        return self.is_usable or (not self.is_busy and self.ahead == request)

    def request(self, request: Request, following: Request | None = None) -> None:
        """Ask for a file, unless that was done ahead, and ahead for the one that follows."""
        self._files += 1
        self.is_busy = True
        self._seconds_left = self._limits.parse_seconds
        self._pages_left = self._settings.ocr_pages
        self._bytes_left = self._limits.parse_output_bytes * (_MADE_PER_BYTE if request.stage else 1)
        is_asked, self.ahead = self.ahead == request, None
        line = b"" if is_asked else encode_request(request)
        if following is not None:
            more = encode_request(following)
            # While the child waits for its answers to be taken, nobody may have to wait for its pipe.
            if len(line) + len(more) <= _sure_to_fit(self._requests):
                self.ahead, line = following, line + more
        try:
            _write_all(self._requests, line)
        except BrokenPipeError as error:
            if is_asked:
                # It has died of this file already, and left what it had to say of it.
                self.ahead = None
                return
            raise ParserCrashed(name=request.name, reason=self._cause_of_death()) from error

    def answer(self, name: str) -> list[ReadEvent] | Made | Done | DocumentError:
        """Return the next message, waiting for it as long as the limits allow.

        They allow more for each page that is recognised, of which there are so many at most.
        """
        while isinstance(message := self._message(name), PageBegun):
            if self._pages_left <= 0:
                raise ParserCrashed(name=name, reason="it recognised more pages than it may")
            self._pages_left -= 1
            self._seconds_left += SECONDS_PER_PAGE
        return message

    def _message(self, name: str) -> Message:
        line = self._line(name)
        try:
            message = decode_message(line)
        except WireError as error:
            raise ParserCrashed(name=name, reason=f"unreadable answer: {error}") from error
        if isinstance(message, Made):
            self._seconds_left += len(line) * SECONDS_PER_BYTE_MADE
        return message

    def _line(self, name: str) -> bytes:
        parts: list[bytes] = []
        size = 0
        data = self._pending
        while b"\n" not in data:
            parts.append(data)
            size += len(data)
            if size > _LONGEST_LINE:
                raise ParserCrashed(name=name, reason="an answer without an end")
            data = self._received(name)
        end, _, self._pending = data.partition(b"\n")
        return b"".join([*parts, end])

    def _received(self, name: str) -> bytes:
        began = time.monotonic()
        ready = self._poll.poll(max(0.0, self._seconds_left) * 1000)
        data = os.read(self._answers.fileno(), _READ_BYTES) if ready else b""
        self._seconds_left -= time.monotonic() - began
        if not ready:
            raise ParserTimeout(name=name, seconds=f"{self._limits.parse_seconds:g}")
        if not data:
            raise self._obituary(name)
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise ParserOutputTooLarge(name=name, limit=f"{self._limits.parse_output_bytes >> 20} MB")
        return data

    def _obituary(self, name: str) -> DocumentError:
        cause = self._cause_of_death()
        if cause == "SIGXCPU":
            return ParserTimeout(name=name, seconds=f"{self._limits.parse_seconds:g}")
        # Libraries in C end their process where they are given no more memory.
        if cause == "SIGABRT" and self._peak_bytes > _FULL_SHARE * self._limits.parse_memory_bytes:
            return ParserMemory(name=name, limit=f"{self._limits.parse_memory_bytes >> 20} MB")
        return ParserCrashed(name=name, reason=cause)

    def _cause_of_death(self) -> str:
        """Say in a few words what the process died of, once it has closed its end of the pipe."""
        self._requests.close()
        deadline = time.monotonic() + _SECONDS_TO_DIE
        while self._is_alive() and time.monotonic() < deadline:
            time.sleep(0.005)
        code = self._end()
        if code < 0:
            return signal.Signals(-code).name
        self._errors.seek(0)
        last_line = self._errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        return last_line[:200] or f"exit code {code}"

    def _is_alive(self) -> bool:
        # Without reaping it: its number must stay taken until its group is killed.
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def _end(self) -> int:
        """Kill the process and everything it started; return how it ended."""
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(self._process.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            self._peak_bytes = usage.ru_maxrss * 1024
        return self._process.returncode

    def close(self) -> None:
        """End the process and give back what it held."""
        self._end()
        self._requests.close()
        self._answers.close()
        self._errors.close()
        self._lifeline.close()
