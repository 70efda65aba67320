"""The application: routes, errors and limits around one library."""

from __future__ import annotations

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from wenyuan.doors.http.call import refuse_unknown_parameters
from wenyuan.doors.http.description import describe
from wenyuan.doors.http.house import House
from wenyuan.doors.http.pool import ClientLeft
from wenyuan.doors.http.problems import of_http, of_validation, problem_response
from wenyuan.doors.http.routes import (
    asking,
    document_changes,
    documents,
    jobs,
    knowledge_bases,
    operations,
    sessions,
)
from wenyuan.errors import WenyuanError

PREFIX = "/api/v1"
# Nobody is there to read it; the number is that of nginx.
_CLIENT_LEFT = 499


def create_application(house: House) -> FastAPI:
    """The ASGI application for a library. Whoever runs it closes the house afterwards."""
    app = described_routes()
    app.state.house = house
    _speak_of_errors(app, house)
    return app


def described_routes() -> FastAPI:
    """The routes alone, with their description; they answer only in an application."""
    app = FastAPI(
        title="Wenyuan",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for module in (knowledge_bases, documents, document_changes, jobs, asking, sessions, operations):
        app.include_router(module.router, prefix=PREFIX, dependencies=[Depends(refuse_unknown_parameters)])
    describe(app, f"{PREFIX}/openapi.json")
    return app


def _speak_of_errors(app: FastAPI, house: House) -> None:
    def answered(request: Request, error: WenyuanError) -> Response:
        return problem_response(error, house.worded, request.headers.get("accept-language", ""))

    @app.exception_handler(WenyuanError)
    async def ours(request: Request, error: WenyuanError) -> Response:
        return answered(request, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return answered(request, of_validation(error))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        return answered(request, of_http(error, request))

    @app.exception_handler(ClientDisconnect)
    @app.exception_handler(ClientLeft)
    async def left(request: Request, error: ClientLeft) -> Response:
        del request, error
        return Response(status_code=_CLIENT_LEFT)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> Response:
        # The framework raises it again when this is sent, and the server logs it.
        return answered(request, WenyuanError(reason=type(error).__name__))
