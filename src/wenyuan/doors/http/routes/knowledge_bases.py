"""Knowledge bases, and the rebuilding of their indexes."""

from __future__ import annotations

from fastapi import APIRouter, Response

from wenyuan.doors.http.answers import KnowledgeBaseList, RebuildAnswer, VocabularyAnswer
from wenyuan.doors.http.bodies import ChangedKnowledgeBase, NewKnowledgeBase, NewRebuild, NewVocabulary
from wenyuan.doors.http.call import KNOWN, Caller
from wenyuan.runtime.granted import GrantedLibrary
from wenyuan.runtime.knowledge_bases import KnowledgeBaseView
from wenyuan.runtime.overview import KnowledgeBaseStatistics

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge bases"])


@router.get("", response_model=KnowledgeBaseList)
async def list_knowledge_bases(call: Caller) -> Response:
    """List the knowledge bases that the key is granted."""
    return await call.reply(lambda library: KnowledgeBaseList(library.knowledge_bases()))


@router.post("", status_code=201, response_model=KnowledgeBaseView)
async def create_knowledge_base(call: Caller, body: NewKnowledgeBase) -> Response:
    """Make a knowledge base. Needs the scope admin, for all knowledge bases."""

    def make(library: GrantedLibrary) -> tuple[int, str, KnowledgeBaseView]:
        made = library.create_knowledge_base(
            body.name,
            description=body.description,
            embedding_model=body.embedding_model,
            chunking=body.chunking.config() if body.chunking is not None else None,
            tags=body.tags,
            persona=body.persona,
            scenario=body.scenario,
            policy=body.policy.policy() if body.policy is not None else None,
        )
        return 201, f"/api/v1/knowledge-bases/{made.knowledge_base.id}", made

    return await call.create(body, make)


@router.get("/{kb}", response_model=KnowledgeBaseView, responses=KNOWN)
async def get_knowledge_base(call: Caller, kb: str) -> Response:
    """Show a knowledge base, by name or id: its settings, and how its documents stand."""
    return await call.reply_tagged(lambda library: library.knowledge_base(kb))


@router.patch("/{kb}", response_model=KnowledgeBaseView)
async def change_knowledge_base(call: Caller, kb: str, body: ChangedKnowledgeBase) -> Response:
    """Change what is said of a knowledge base, which files it takes, and when documents are ready. Needs admin."""
    return await call.reply(
        lambda library: library.change_knowledge_base(
            kb,
            description=body.description,
            tags=body.tags,
            persona=body.persona,
            scenario=body.scenario,
            policy=body.policy.policy() if body.policy is not None else None,
            ready_when=body.ready_when,
        )
    )


@router.delete("/{kb}", status_code=204)
async def delete_knowledge_base(call: Caller, kb: str) -> Response:
    """Delete a knowledge base with its documents: out of sight at once, purged by jobs. Needs admin."""
    await call.ask(lambda library: library.delete_knowledge_base(kb))
    return Response(status_code=204)


@router.get("/{kb}/statistics", response_model=KnowledgeBaseStatistics)
async def get_statistics(call: Caller, kb: str) -> Response:
    """Show what a knowledge base holds, by type, and when something last happened there."""
    return await call.reply(lambda library: library.upkeep.statistics(kb))


@router.get("/{kb}/vocabulary", response_model=VocabularyAnswer)
async def get_vocabulary(call: Caller, kb: str) -> Response:
    """Show the terms and synonyms of a knowledge base, and how many documents are still to be read by them."""

    def shown(library: GrantedLibrary) -> VocabularyAnswer:
        view = library.knowledge_base(kb)
        return VocabularyAnswer(view.vocabulary.terms, view.vocabulary.synonyms, view.behind)

    return await call.reply(shown)


@router.put("/{kb}/vocabulary", response_model=VocabularyAnswer)
async def set_vocabulary(call: Caller, kb: str, body: NewVocabulary) -> Response:
    """Let these be all the terms and synonyms; documents are read again where terms changed. Needs admin."""

    def changed(library: GrantedLibrary) -> VocabularyAnswer:
        behind = library.set_vocabulary(kb, body.terms, body.synonyms)
        words = library.knowledge_base(kb).vocabulary
        return VocabularyAnswer(words.terms, words.synonyms, behind)

    return await call.reply(changed)


@router.post("/{kb}/archive", response_model=KnowledgeBaseView)
async def archive_knowledge_base(call: Caller, kb: str) -> Response:
    """Take a knowledge base out of every search, and refuse changes to it. Needs admin."""
    return await call.reply(lambda library: library.archive_knowledge_base(kb, undo=False))


@router.post("/{kb}/activate", response_model=KnowledgeBaseView)
async def activate_knowledge_base(call: Caller, kb: str) -> Response:
    """Bring an archived knowledge base back. Needs admin."""
    return await call.reply(lambda library: library.archive_knowledge_base(kb, undo=True))


@router.post("/{kb}/rebuild", status_code=202, response_model=RebuildAnswer)
async def rebuild_knowledge_base(call: Caller, kb: str, body: NewRebuild) -> Response:
    """Build new indexes aside, while the others answer; null where they agree with what is configured. Needs admin."""
    chunking = body.chunking.config() if body.chunking is not None else None
    return await call.reply(
        lambda library: RebuildAnswer(
            library.rebuild(kb, embedding_model=body.embedding_model, chunking=chunking, rereads=body.rereads)
        ),
        status=202,
    )


@router.get("/{kb}/rebuild", response_model=RebuildAnswer)
async def get_rebuild(call: Caller, kb: str) -> Response:
    """Show the rebuild that is being done, has failed, or whose replaced indexes are kept."""
    return await call.reply(lambda library: RebuildAnswer(library.rebuild_status(kb)))


@router.post("/{kb}/rebuild/cancel", response_model=RebuildAnswer)
async def cancel_rebuild(call: Caller, kb: str) -> Response:
    """Give up what is being built; what answers never changed. Needs admin."""
    return await call.reply(lambda library: RebuildAnswer(library.cancel_rebuild(kb)))


@router.post("/{kb}/rebuild/rollback", response_model=RebuildAnswer)
async def roll_back_rebuild(call: Caller, kb: str) -> Response:
    """Let the indexes answer again that the last rebuild replaced. Needs admin."""
    return await call.reply(lambda library: RebuildAnswer(library.roll_back(kb)))
