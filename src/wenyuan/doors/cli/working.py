"""`wenyuan worker`: the work of a library, done until it is stopped or nothing is left."""

from __future__ import annotations

import logging
import signal
import time

from wenyuan.doors.cli.adding import show_interrupted
from wenyuan.doors.cli.progress import Watching
from wenyuan.doors.cli.session import INTERRUPTED, OK, Given, Session

_JOBS_SHOWN = 100


def worker(*, drain: bool = False, max_jobs: int | None = None, session: Given) -> int:
    """Do the library's work: read files, embed passages, purge what was deleted.

    Runs until it is stopped by Ctrl-C or SIGTERM; the work then goes on where it was with the next worker.

    Parameters
    ----------
    drain
        End when there is nothing left to do now.
    max_jobs
        End after so many jobs, or when there is nothing left to do now.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    # A request to end takes the way of Ctrl-C, which stops the worker cleanly.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with session.open() as library:
        began = time.time_ns() // 1_000_000
        try:
            with library.telling(), Watching(session) as watch:
                if drain or max_jobs is not None:
                    taken = library.drain(max_jobs, watch)
                else:
                    session.notes.line(session.say("worker.started", library=str(library.path)), whole=True)
                    library.work(watch)
                    taken = 0
        except KeyboardInterrupt:
            show_interrupted(session, library)
            return INTERRUPTED
        left = len(library.jobs.list(only_live=True, limit=1))
        recent = library.jobs.list(limit=max(_JOBS_SHOWN, taken))
        failed = sum(job.state == "failed" and (job.finished_at or 0) >= began for job in recent)
    done = {"jobs": taken, "failed": failed}
    session.show(done, lambda: _show_drained(session, taken, left, failed))
    return OK


def _show_drained(session: Session, taken: int, left: int, failed: int) -> None:
    session.out.line(session.say("worker.bounded" if left else "worker.drained", n=taken))
    if failed:
        session.out.line((session.say("worker.failed", n=failed), "bold red"), session.command("docs list"), whole=True)
