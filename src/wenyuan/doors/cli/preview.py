"""`wenyuan preview`: how a file would be read and cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from wenyuan.doors.cli.document_pages import quality_label, show_doubts
from wenyuan.doors.cli.passwords import read_password
from wenyuan.doors.cli.places import anchor_label, heading_label
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.types import Block, Chunk, ChunkingConfig, Facts, Notice

_MOST_BLOCKS = 1000
_MEMBERS_SHOWN = 20
_FIRST_WORDS = 100


def preview(
    file: Path,
    /,
    *,
    columns: int | None = None,
    overlap: int | None = None,
    blocks: Annotated[bool, Parameter(negative="")] = False,
    password_file: str | None = None,
    session: Given,
) -> int:
    """Show how a file would be read and cut into passages; nothing is stored.

    Parameters
    ----------
    file
        The file to read.
    columns
        Size of a passage in display columns; a Chinese character counts two.
    overlap
        Columns that a passage repeats of the one before.
    blocks
        Show what the reader found too, block by block: its kind, place, headings and first words.
    password_file
        File whose first line is the password of the file; `-` reads it from standard input, or asks.
    """
    password = read_password(password_file, session.say("password.ask"))
    with session.open() as library:
        defaults = library.settings.defaults
        chunking = ChunkingConfig(
            defaults.chunk_columns if columns is None else columns,
            defaults.chunk_overlap_columns if overlap is None else overlap,
        )
        shown = library.preview(file, chunking, password=password, blocks=_MOST_BLOCKS if blocks else 0)

    def render() -> None:
        _show_facts(session, shown.name, shown.facts, shown.notices)
        session.out.line(quality_label(session, shown.facts.quality))
        show_doubts(session, [doubt for doubt in shown.doubts if doubt.details])
        if shown.members:
            session.out.line(session.say("preview.members", n=len(shown.members)))
            for path in shown.members[:_MEMBERS_SHOWN]:
                session.out.line(path, indent=2)
        if shown.first_blocks:
            _show_blocks(session, shown.first_blocks)
        session.out.line(session.say("preview.blocks"), "  ".join(f"{kind} {n}" for kind, n in shown.blocks.items()))
        session.out.line(
            session.say(
                "preview.chunks",
                n=shown.chunk_count,
                columns=shown.chunking.target_columns,
                overlap=shown.chunking.overlap_columns,
            )
        )
        lengths = {"shortest": shown.shortest, "mean": round(shown.mean), "longest": shown.longest}
        session.out.line(session.say("preview.lengths", total=shown.text_length, **lengths))
        if len(shown.samples) < shown.chunk_count:
            session.out.line(session.say("preview.samples", n=len(shown.samples)))
        for chunk in shown.samples:
            _show_sample(session, chunk)

    session.show(shown, render)
    return OK


def _show_blocks(session: Session, blocks: Sequence[Block]) -> None:
    session.out.line((session.say("preview.each-block"), "bold"))
    for block in blocks:
        where = [anchor_label(session.say, block.anchor), heading_label(block.heading_path)]
        session.out.line((block.kind, "cyan"), f"  {' · '.join(filter(None, where))}", indent=2)
        words = " ".join(block.text.split())
        session.out.line(words if len(words) <= _FIRST_WORDS else f"{words[:_FIRST_WORDS]}…", indent=4)


def _show_facts(session: Session, name: str, facts: Facts, notices: tuple[Notice, ...]) -> None:
    found = (facts.media_type, facts.encoding, facts.language, facts.title)
    session.out.line((name, "bold cyan"), f"  {' · '.join(filter(None, found))}")
    for notice in notices:
        session.out.line((session.say("note"), "bold yellow"), notice.message)


def _show_sample(session: Session, chunk: Chunk) -> None:
    where = [anchor_label(session.say, chunk.anchor), heading_label(chunk.heading_path)]
    session.out.line("")
    session.out.line((f"#{chunk.seq}", "bold"), f"  {' · '.join(filter(None, where))}")
    if chunk.context:
        session.out.line((chunk.context, "dim"), indent=2)
    session.out.line(chunk.text, indent=2)
