"""Errors as HTTP says them: one mapping from error to status, and one body (RFC 9457)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from wenyuan import errors
from wenyuan.errors import WenyuanError
from wenyuan.types import Problem

PROBLEM_JSON = "application/problem+json"

Worded = Callable[[Problem], Problem]
"""Puts a problem into Chinese."""

_STATUS: Mapping[type[WenyuanError], int] = {
    WenyuanError: 500,
    # The request must change.
    errors.RequestError: 400,
    errors.InvalidValue: 422,
    errors.EmptyQuestion: 422,
    errors.InvalidFilter: 422,
    errors.AddressInvalid: 422,
    errors.RequestInvalid: 422,
    errors.ToolArgumentsInvalid: 422,
    errors.RepeatDiffers: 422,
    errors.PlaceHasNoPicture: 422,
    errors.PathNotFound: 404,
    errors.KnowledgeBaseNotFound: 404,
    errors.DocumentNotFound: 404,
    errors.PassageNotFound: 404,
    errors.CitationNotFound: 404,
    errors.JobNotFound: 404,
    errors.SessionNotFound: 404,
    errors.TurnNotFound: 404,
    errors.AttachmentNotFound: 404,
    errors.TraceNotFound: 404,
    errors.SourceNotFound: 404,
    errors.EvaluationRunNotFound: 404,
    errors.EvaluationSetNotFound: 404,
    errors.AccessKeyNotFound: 404,
    errors.RouteNotFound: 404,
    errors.OpenAIModelNotFound: 404,
    errors.BotNotFound: 404,
    errors.BotDeliveryRefused: 403,
    errors.KnowledgeBaseExists: 409,
    errors.KnowledgeBaseProtected: 409,
    errors.KnowledgeBaseArchived: 409,
    errors.DocumentAmbiguous: 409,
    errors.SourceTaken: 409,
    errors.SourceExists: 409,
    errors.AlreadyRunning: 409,
    errors.NothingToRetry: 409,
    errors.NothingToCancel: 409,
    errors.RebuildRunning: 409,
    errors.RebuildNotRunning: 409,
    errors.NothingToRollBack: 409,
    errors.AccessKeyExists: 409,
    errors.ModelExists: 409,
    errors.ModelInUse: 409,
    errors.RepeatTooEarly: 409,
    errors.KeyRequired: 401,
    errors.KeyRefused: 401,
    errors.PermissionMissing: 403,
    errors.CsrfRefused: 403,
    errors.FolderRefused: 403,
    errors.OriginRefused: 403,
    errors.HostRefused: 421,
    errors.MethodNotAllowed: 405,
    errors.BodyTooSlow: 408,
    errors.BodyTooLarge: 413,
    errors.RangeInvalid: 416,
    errors.TooManyRequests: 429,
    errors.TooManyAnswers: 429,
    # The configuration must change.
    errors.ConfigurationError: 503,
    # While it serves, settings are what a request gives.
    errors.ConfigurationInvalid: 422,
    errors.ModelNotConfigured: 422,
    errors.ModelUnsuitable: 422,
    errors.IndexMissing: 409,
    errors.IndexIncompatible: 409,
    # A file is at fault.
    errors.DocumentError: 422,
    errors.FileVanished: 410,
    errors.FileTooLarge: 413,
    errors.TypeBlocked: 409,
    errors.SizeBlocked: 409,
    errors.KnowledgeBaseFull: 409,
    # A model's provider failed.
    errors.ProviderError: 502,
    errors.ProviderUnavailable: 503,
    errors.ProviderTimeout: 504,
    # The machine must change.
    errors.StorageError: 503,
    errors.DiskFull: 507,
    errors.LibraryDamaged: 500,
    errors.NotALibrary: 500,
    errors.LibraryNewer: 500,
}
_RETRY_SECONDS = 1
_LONGEST_REASON = 300
_LANGUAGE = re.compile(r"\s*([a-zA-Z*-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")


def status_of(kind: type[WenyuanError]) -> int:
    """The status of an error: its own, or that of the nearest class above it."""
    return next(_STATUS[one] for one in kind.__mro__ if one in _STATUS)


def is_chinese(accepted: str) -> bool:
    """Whether an Accept-Language (RFC 9110, 12.5.4) prefers Chinese to English."""
    wanted = {"zh": 0.0, "en": 0.0}
    for part in accepted.split(","):
        match = _LANGUAGE.fullmatch(part)
        language = match[1].lower().partition("-")[0] if match is not None else ""
        if match is not None and language in wanted:
            wanted[language] = max(wanted[language], float(match[2] or 1))
    return wanted["zh"] > wanted["en"]


def problem_body(error: WenyuanError, worded: Worded, accepted: str) -> dict[str, object]:
    """The members of a problem, in the language that is preferred."""
    problem, status = error.problem(), status_of(type(error))
    if is_chinese(accepted):
        problem = worded(problem)
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": problem.message,
        "code": problem.code,
        "hint": problem.hint,
    }


def problem_response(error: WenyuanError, worded: Worded, accepted: str) -> Response:
    body = problem_body(error, worded, accepted)
    return Response(to_json(body), status_of(type(error)), _headers(error), PROBLEM_JSON)


def _headers(error: WenyuanError) -> dict[str, str]:
    headers = {"Vary": "Accept-Language"}
    status = status_of(type(error))
    if status in (429, 503):
        after = error.details.get("retry_after")
        headers["Retry-After"] = str(max(1, round(after))) if after is not None else str(_RETRY_SECONDS)
    match error:
        case errors.KeyRequired() | errors.KeyRefused():
            headers["WWW-Authenticate"] = 'Bearer realm="wenyuan"'
        case errors.MethodNotAllowed():
            headers["Allow"] = str(error.details.get("allowed", ""))
        case errors.RangeInvalid():
            headers["Content-Range"] = f"bytes */{error.details['size']}"
        case errors.BodyTooLarge() | errors.BodyTooSlow():
            headers["Connection"] = "close"
    return headers


def of_validation(error: RequestValidationError) -> WenyuanError:
    """What is wrong with a request, told by its first fault."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "body"
    return errors.RequestInvalid(where=where, reason=str(first["msg"])[:_LONGEST_REASON])


def of_http(error: HTTPException, request: Request) -> WenyuanError:
    """What the framework itself refuses, as one of our errors."""
    path = request.url.path
    match error.status_code:
        case 404:
            return errors.RouteNotFound(path=path)
        case 405:
            allowed = (error.headers or {}).get("Allow", "")
            return errors.MethodNotAllowed(path=path, method=request.method, allowed=allowed)
        case status if status < 500:
            return errors.RequestInvalid(where="body", reason=str(error.detail)[:_LONGEST_REASON])
        case _:
            return WenyuanError(reason=str(error.detail))
