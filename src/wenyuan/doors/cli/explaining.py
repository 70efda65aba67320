"""`wenyuan explain`: what happened to one question, from its reading to the final hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from wenyuan.doors.cli.asking import degradation
from wenyuan.doors.cli.output import Column, Part, one_line
from wenyuan.doors.cli.places import anchor_label
from wenyuan.doors.cli.session import OK, Given, Session
from wenyuan.types import Anchor, JsonObject

_SCORES = {"structured": "strength", "keyword": "bm25", "keyword_rewrite": "bm25", "vector": "cosine"}
_WEIGHED = ("score", "covered", "sentence", "cosine", "sentence_cosine")
_BAR_WIDTH = 24


def explain(trace_or_question: str, /, *, kb: list[str] | None = None, session: Given) -> int:
    """Show what happened to a question: its reading, every stage and list, and what was decided.

    Parameters
    ----------
    trace_or_question
        Id of a trace, as every search prints it; or a question, which is then searched now.
    kb
        Knowledge base to search where a question is given; may be given several times.
    """
    with session.open() as library:
        is_id = trace_or_question.startswith("trace_") and len(trace_or_question.split()) == 1
        wanted = trace_or_question if is_id else library.search(trace_or_question, kb=kb).trace_id
        body = library.trace(wanted)
    session.show(body, lambda: _show(session, body))
    return OK


def _show(session: Session, body: JsonObject) -> None:
    say, out = session.say, session.out
    out.line((say("explain.question"), "bold"), body["question"])
    out.line((say("explain.trace"), "bold"), f"{body['id']}  {body['at']}  {body['total_ms']:.1f} ms", whole=True)
    bases = say("list.separator").join(_base(session, base) for base in body["knowledge_bases"])
    out.line((say("explain.searched"), "bold"), bases or "-")
    if body["rewritten"] is not None:
        out.line((say("explain.rewritten"), "bold"), body["rewritten"])
    _show_reading(session, body["plan"])
    _show_stages(session, body["stages"], body["total_ms"])
    _show_frequencies(session, body["candidates"])
    for candidates in body["candidates"]:
        _show_candidates(session, candidates, body["hits"])
    _show_weighed(session, body["weighed"], body["candidates"], body["hits"])
    _show_rerank(session, body.get("rerank"))
    _show_dropped(session, body["stages"])
    _show_hits(session, body["hits"])
    _show_grounding(session, body["grounding"])
    if body["why_empty"] is not None:
        out.line((say("explain.why-empty"), "bold"), body["why_empty"]["code"])
    out.line((body["explanation"], "bold"))
    _show_making(session, body.get("answer", {}))
    for name in body["degraded"]:
        out.line((say("note"), "bold yellow"), degradation(session, name))


def _show_rerank(session: Session, record: Mapping[str, Any] | None) -> None:
    """What became of reranking, where a model is there for it; traces of before know nothing of it."""
    if record is None or record["finish_reason"] == "fallback-no-config":
        return
    say, out = session.say, session.out
    out.line("")
    if record["applied"]:
        words = say("explain.rerank.applied", n=record["reranked"], model=record["model"], ms=f"{record['ms']:.0f}")
    else:
        reason = f"{record['finish_reason']}, {record['detail']}" if record["detail"] else record["finish_reason"]
        words = say("explain.rerank.not", reason=reason)
    out.line((say("explain.rerank"), "bold"), words)


def _show_making(session: Session, made: JsonObject) -> None:
    """Which models made the answer, and what they looked up."""
    say, out = session.say, session.out
    for call in made.get("model_calls", ()):
        tokens = say("explain.tokens-used", read=call.get("input_tokens") or 0, written=call.get("output_tokens") or 0)
        facts = (
            f"{call['purpose']}: {call['name']} ({call['model']}), {call['endpoint']}, {call['ms']:.0f} ms, {tokens}"
        )
        out.line((say("explain.model"), "bold"), facts, whole=True)
    for lookup in made.get("lookups", ()):
        asked = lookup.get("query") or lookup.get("document") or lookup.get("table") or ""
        out.line((say("explain.lookup"), "bold"), f"{lookup['round']}: {lookup['name']} {one_line(str(asked))}")
    if made.get("left_out"):
        out.line((say("explain.left-out"), "bold"), "; ".join(made["left_out"]))


def _base(session: Session, base: Mapping[str, str]) -> str:
    return base["name"] if base["state"] == "active" else f"{base['name']} ({session.say('kb.state.archived')})"


def _show_reading(session: Session, plan: Mapping[str, Any]) -> None:
    """What was read from the question; only what there is."""
    say, out = session.say, session.out
    out.line("")
    out.line((say("explain.reading"), "bold"))
    for date in plan["dates"]:
        days = date["first"] if date["first"] == date["last"] else f"{date['first']} … {date['last']}"
        out.line(say("explain.date"), (date["text"], "cyan"), f" → {days} ({date['reading']})", indent=2)
    if plan["as_of"]:
        out.line(say("explain.as-of"), (plan["as_of"], "cyan"), indent=2)
    for name in ("versions", "codes", "names", "phrases", "excluded", "tokens", "aliases", "notes"):
        if plan[name]:
            out.line(say(f"explain.{name}"), ("  ".join(plan[name]), "cyan"), indent=2)
    if plan["language"]:
        out.line(say("explain.language"), (plan["language"], "cyan"), indent=2)


def _show_stages(session: Session, stages: Sequence[Mapping[str, Any]], total: float) -> None:
    say, out = session.say, session.out
    columns = [
        Column(say("explain.stage"), whole=True),
        Column(say("explain.start"), "right"),
        Column("ms", "right"),
        Column(say("explain.count"), "right"),
        Column(say("explain.status")),
    ]
    # The waterfall is drawn with block characters, which say nothing in a pipe.
    if out.is_terminal:
        columns.append(Column("", whole=True))
    rows = []
    for stage in stages:
        count = "" if stage["count"] is None else str(stage["count"])
        status = (stage["status"], "" if stage["status"] == "ok" else "bold yellow")
        row: list[Part] = [stage["name"], f"{stage['start_ms']:.1f}", f"{stage['ms']:.1f}", count, status]
        rows.append([*row, (_bar(stage, total), "cyan")] if out.is_terminal else row)
    out.line("")
    out.line((say("explain.stages"), "bold"))
    out.table(columns, rows)
    for stage in stages:
        if stage.get("reason"):
            out.line(f"{stage['name']}: {stage['reason']}", indent=2)
        if stage.get("model"):
            named = (stage[name] for name in ("provider", "model", "dimensions", "endpoint") if stage.get(name))
            identity = " · ".join(map(str, named))
            out.line(say("explain.model"), identity, indent=2)


def _bar(stage: Mapping[str, Any], total: float) -> str:
    scale = _BAR_WIDTH / max(total, 0.01)
    start: int = min(int(stage["start_ms"] * scale), _BAR_WIDTH - 1)
    length: int = max(1, min(round(stage["ms"] * scale), _BAR_WIDTH - start))
    return " " * start + "█" * length


def _show_candidates(session: Session, candidates: Mapping[str, Any], hits: Sequence[Mapping[str, Any]]) -> None:
    """The lists side by side, one line a rank; a candidate that became a hit shows its place among them."""
    say, out = session.say, session.out
    places = {hit["chunk"]: rank for rank, hit in enumerate(hits, start=1)}
    names = candidates["documents"]
    out.line("")
    out.line((say("explain.candidates", kb=candidates["knowledge_base"]), "bold"))
    arms = [arm for arm in _SCORES if candidates[arm]]
    if not arms:
        out.line(say("explain.no-candidates"), indent=2)
    else:
        columns = [Column("", "right"), *(Column(f"{say(f'arm.{arm}')} ({_SCORES[arm]})") for arm in arms)]
        rows: list[list[Part]] = []
        for rank, row in enumerate(zip_longest(*(candidates[arm] for arm in arms)), start=1):
            cells = [_candidate(session, arm, one, places, names) for arm, one in zip(arms, row, strict=True)]
            rows.append([str(rank), *cells])
        out.table(columns, rows)
    if candidates["best_similarity"] is not None:
        out.line(say("explain.best-similarity", best=f"{candidates['best_similarity']:.3f}"), indent=2)


def _candidate(
    session: Session, arm: str, one: Mapping[str, Any] | None, places: Mapping[str, int], names: Mapping[str, str]
) -> Part:
    if one is None:
        return ""
    score = f"({one[_SCORES[arm]]:.3g})"
    if one.get("sentence_cosine") is not None:
        score = f"({one['cosine']:.3g}, {session.say('explain.nearest-sentence')} {one['sentence_cosine']:.3g})"
    name = _named(session, names.get(one["chunk"], f"#{one['key']}"))
    if one["chunk"] not in places:
        return f"{name} {score}", "dim"
    return f"[{places[one['chunk']]}] {name} {score}", "bold"


def _named(session: Session, name: str) -> str:
    """A document's name, which goes from a trace with the document."""
    return name or session.say("explain.deleted")


def _show_frequencies(session: Session, lists: Sequence[Mapping[str, Any]]) -> None:
    """In how many passages each token that was searched stands: what is in none cannot have been matched."""
    for candidates in lists:
        if candidates["frequency"]:
            say, out = session.say, session.out
            out.line("")
            title = say("explain.frequencies", size=candidates["size"], kb=candidates["knowledge_base"])
            out.line((title, "bold"))
            rarest = sorted(candidates["frequency"].items(), key=lambda counted: (counted[1], counted[0]))
            out.line("  ".join(f"{token} {count}" for token, count in rarest), indent=2)


def _show_weighed(
    session: Session,
    weighed: Sequence[Mapping[str, Any]],
    lists: Sequence[Mapping[str, Any]],
    hits: Sequence[Mapping[str, Any]],
) -> None:
    """What the candidates are worth and why: the words and the meaning that ranked them."""
    if not weighed:
        return
    say, out = session.say, session.out
    places = {hit["chunk"]: str(rank) for rank, hit in enumerate(hits, start=1)}
    names = {chunk: name for candidates in lists for chunk, name in candidates["documents"].items()}
    columns = [
        Column(say("explain.hit"), "right"),
        Column(say("explain.document")),
        *(Column(say(f"explain.weighed.{name}"), "right") for name in _WEIGHED),
        Column(say("explain.weighed.exactness")),
    ]
    rows: list[list[Part]] = []
    for one in weighed:
        # Traces of earlier versions know nothing of sentences.
        cosines = [f"{one[name]:.3f}" if one.get(name) is not None else "" for name in _WEIGHED[-2:]]
        exactness = "" if one["exactness"] == "none" else say(f"exactness.{one['exactness']}")
        shares = [f"{one[name]:.0%}" for name in ("covered", "sentence")]
        document = _named(session, names.get(one["chunk"], one["chunk"]))
        rows.append([places.get(one["chunk"], ""), document, f"{one['score']:.3f}", *shares, *cosines, exactness])
    out.line("")
    out.line((say("explain.weighed"), "bold"))
    out.table(columns, rows)


def _show_grounding(session: Session, grounding: Mapping[str, Any]) -> None:
    say = session.say
    value = say(f"explain.grounding.{grounding['verdict']}", value=f"{grounding['value']:.2f}")
    missing = say("explain.missing", what=say("list.separator").join(grounding["missing"]))
    session.out.line((say("explain.grounding"), "bold"), value, f" {missing}" if grounding["missing"] else "")


def _show_dropped(session: Session, stages: Sequence[Mapping[str, Any]]) -> None:
    dropped = [one for stage in stages for one in stage.get("dropped", ())]
    if dropped:
        session.out.line("")
        session.out.line((session.say("explain.dropped"), "bold"))
    for one in dropped:
        session.out.line(f"{one['chunk']}: {one['reason']}", indent=2)


def _show_hits(session: Session, hits: Sequence[Mapping[str, Any]]) -> None:
    say, out = session.say, session.out
    out.line("")
    out.line((say("explain.hits"), "bold"))
    if not hits:
        out.line(say("explain.no-hits"), indent=2)
        return
    for rank, hit in enumerate(hits, start=1):
        place = anchor_label(say, Anchor(**hit["anchor"]))
        lists = [say("search.rank", arm=say(f"arm.{arm}"), rank=hit["ranks"][arm]) for arm in hit["ranks"]]
        facts = [say("list.separator").join(lists), say("explain.score", score=f"{hit['score']:.4f}")]
        if hit["exactness"] != "none":
            facts.append(say(f"exactness.{hit['exactness']}"))
        name = one_line(_named(session, hit["document"]))
        out.line((f"{rank}  ", "bold"), (name, "bold cyan"), f"  {place}", indent=2)
        out.line(f"{' · '.join(facts)}  ", (hit["chunk"], "dim"), indent=5)
        if hit["matched"]:
            out.line(say("explain.matched"), ("  ".join(hit["matched"]), "cyan"), indent=5)
    out.line("")
