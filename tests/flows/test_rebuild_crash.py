"""kill -9 at random moments of a rebuild: it goes on, nothing is embedded twice, and there is never a gap."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import wenyuan as wy
from tests.embedding_server import serving
from tests.two_models import configure, indexed_with
from wenyuan.rules.embedding_input import input_hash
from wenyuan.runtime.library import Library
from wenyuan.types import ChunkingConfig

# A worker killed before it got anywhere has had its attempt, and on a busy machine many are.
_ENVIRONMENT = {"WENYUAN_WORKER_MAX_ATTEMPTS": "1000"}
_DRAIN = f"""
import sys, wenyuan as wy
with wy.open(sys.argv[1], create=False, environment={_ENVIRONMENT!r}) as library:
    print("ready", flush=True)
    library.drain()
"""
_FEWEST_KILLS, _MOST_KILLS = 3, 60
_PATIENCE_SECONDS = 120.0


def test_killed_again_and_again_while_everything_is_made_anew(tmp_path: Path) -> None:
    randomness = random.Random(20261130)
    home = tmp_path / "library"
    with serving() as first, serving(dimensions=96) as second:
        configure(home, {"a": first, "b": second}, "a")
        with wy.open(home, environment=_ENVIRONMENT) as library:
            library.add_texts(wy.TextToAdd(_text(n, randomness), f"{n:02d}") for n in range(24))
            library.rebuilds.begin("default", embedding_model="b", chunking=ChunkingConfig(100, 0))
            kills = 0
            while library.jobs.list(only_live=True, limit=1) and kills < _MOST_KILLS:
                with library._database.read() as tx:
                    stored = {bytes(row[0]) for row in tx.all("SELECT input_hash FROM vectors WHERE model_key = 2")}
                before = len(second.inputs)
                # The first come early, so that there is work left for them however quick the machine is.
                longest = 0.1 if kills < _FEWEST_KILLS else 0.8
                kills += _work_and_kill(home, randomness.uniform(0.1 * longest, longest))
                again = {input_hash(text) for text in second.inputs[before:]} & stored
                assert again == set(), "what was committed before the kill was embedded again"
                _all_of_it_is_found(library, randomness.sample(range(24), 4))
            library.drain()
            assert kills >= _FEWEST_KILLS, "the work was done too soon: give it more to do"
            assert (indexed_with(library), library.search("entry00x00？").degraded) == ("b", ())
            _all_of_it_is_found(library, range(24))
            assert library.check(deep=True) == []
            assert library.rebuilds.roll_back("default").rebuild.state == "active"
            assert library.check(deep=True) == []


def _text(number: int, randomness: random.Random) -> str:
    """A document of some passages unlike any other's: of passages that say the same, a search shows one."""
    filler = ("".join(chr(randomness.randrange(0x4E00, 0x9000)) for _ in range(40)) for _ in range(20))
    return "\n\n".join(f"entry{number:02d}x{part:02d} {words}" for part, words in enumerate(filler))


def _all_of_it_is_found(library: Library, numbers: Iterable[int]) -> None:
    for number in numbers:
        first, last = f"entry{number:02d}x00", f"entry{number:02d}x19"
        text = "".join(hit.passage.chunk.text for hit in library.search(f"{first} {last}", top_k=20).hits)
        assert first in text
        assert last in text


def _work_and_kill(home: Path, after: float) -> bool:
    """Let a process work for a while and kill it; False when it had ended by itself."""
    worker = subprocess.Popen([sys.executable, "-c", _DRAIN, str(home)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert worker.stdout is not None
    worker.stdout.readline()
    try:
        _, errors = worker.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        worker.send_signal(signal.SIGKILL)
        worker.communicate(timeout=_PATIENCE_SECONDS)
        return True
    assert worker.returncode == 0, errors.decode()
    return False
