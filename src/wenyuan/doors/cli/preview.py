"""`wenyuan preview`: how a file would be read and cut."""

from __future__ import annotations

from pathlib import Path

from wenyuan.doors.cli.places import anchor_label, heading_label
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.types import Chunk, ChunkingConfig, Facts, Notice


def preview(file: Path, /, *, columns: int | None = None, overlap: int | None = None, session: Given) -> int:
    """Show how a file would be read and cut into passages; nothing is stored.

    Parameters
    ----------
    file
        The file to read.
    columns
        Size of a passage in display columns; a Chinese character counts two.
    overlap
        Columns that a passage repeats of the one before.
    """
    with session.open() as library:
        defaults = library.settings.defaults
        chunking = ChunkingConfig(
            defaults.chunk_columns if columns is None else columns,
            defaults.chunk_overlap_columns if overlap is None else overlap,
        )
        shown = library.preview(file, chunking)

    def render() -> None:
        _show_facts(session, shown.name, shown.facts, shown.notices)
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
