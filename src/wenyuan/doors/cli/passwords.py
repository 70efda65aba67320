"""Passwords of files: from a file, a pipe or a prompt, never from the command line, where others could read them."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path

from wenyuan.errors import InvalidValue, PathNotFound

STANDARD_INPUT = ("-", "/dev/stdin")
LONGEST = 1000


def read_password(place: str | None, prompt: str) -> str:
    """The password in the first line of a file, or of standard input for `-`, where a terminal is asked for it.

    Empty where no place is given. Raises `PathNotFound`, or `InvalidValue` for one that is empty, too long or no
    UTF-8.
    """
    if place is None:
        return ""
    try:
        if place not in STANDARD_INPUT:
            with Path(place).open(encoding="utf-8-sig") as file:
                password = file.readline(LONGEST + 2)
        elif sys.stdin.isatty():
            password = getpass.getpass(prompt)
        else:
            password = sys.stdin.readline(LONGEST + 2)
    except FileNotFoundError as error:
        raise PathNotFound(path=place) from error
    except UnicodeDecodeError as error:
        raise InvalidValue(what="The password file", value=place, reason="it is not UTF-8") from error
    except OSError as error:
        reason = error.strerror or "it is unreadable"
        raise InvalidValue(what="The password file", value=place, reason=reason) from error
    password = password.rstrip("\r\n")
    if not password or len(password) > LONGEST:
        reason = f"its first line must be a password of 1 to {LONGEST} characters"
        raise InvalidValue(what="The password file", value=place, reason=reason)
    return password
