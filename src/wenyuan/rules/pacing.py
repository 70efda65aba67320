"""How often a model may be called: token buckets that never let more through in a minute than they were told.

A bucket holds some, and what was taken flows back at a steady rate (https://en.wikipedia.org/wiki/Token_bucket).
What it holds and what flows back in a minute are together the limit, so that no minute, wherever it begins,
sees more. The state of a bucket is one number: how much was taken and has not flowed back yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_HELD_SHARE = 10
_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Bucket:
    """Holds `capacity`, and takes back `per_second`."""

    capacity: float
    per_second: float

    def after(self, taken: float, seconds: float) -> float:
        """What is still taken so many seconds later; time that ran backwards counts as none."""
        return max(0.0, taken - self.per_second * max(0.0, seconds))

    def wait(self, taken: float, amount: float) -> float:
        """Seconds until `amount` may be taken, 0 if it may now. One above the capacity needs a full bucket."""
        return max(0.0, taken + min(amount, self.capacity) - self.capacity) / self.per_second


UNLIMITED = Bucket(1e18, 1e18)


@dataclass(frozen=True, slots=True)
class Pace:
    """The limits of one model; 0 calls at once are as many as there are."""

    requests: Bucket = UNLIMITED
    tokens: Bucket = UNLIMITED
    at_once: int = 0

    @property
    def is_limited(self) -> bool:
        return self != Pace()


def bucket_of_requests(per_minute: int) -> Bucket:
    """A tenth of a minute's requests at once, at least one. No limit for 0."""
    if not per_minute:
        return UNLIMITED
    capacity = max(1, per_minute // _HELD_SHARE)
    # Requests are whole: of the last one only its beginning flows back within the minute.
    return Bucket(capacity, (per_minute - capacity + 1) / 60)


def bucket_of_tokens(per_minute: int) -> Bucket:
    """A tenth of a minute's tokens at once. No limit for 0."""
    capacity = per_minute / _HELD_SHARE
    return Bucket(capacity, (per_minute - capacity) / 60) if per_minute else UNLIMITED


def largest_batch(tokens_per_minute: int) -> int:
    """So many characters never cost more tokens than the bucket of a limit holds."""
    longest_character = 4
    return max(1, int(tokens_per_minute / _HELD_SHARE * _BYTES_PER_TOKEN / longest_character))


def estimated_tokens(texts: Iterable[str]) -> int:
    """About how many tokens texts are to a provider whose tokenizer is not here: a third of their UTF-8 bytes.

    One for a Chinese character, where common tokenizers need 0.6 to 1.3; more for English, where they
    need one for four letters.
    """
    return math.ceil(sum(len(text.encode("utf-8", "replace")) for text in texts) / _BYTES_PER_TOKEN)


def backoff_seconds(failures: int, chance: float, longest: float) -> float:
    """How long to leave a provider alone that failed so often in a row: doubled each time, spread by a half."""
    return min(2.0 ** min(failures - 1, 30), longest) * (0.5 + chance)
