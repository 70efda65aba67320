"""The application: routes, errors and limits around one library."""

from __future__ import annotations

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from wenyuan.doors.http.bots_endpoint import bots_route
from wenyuan.doors.http.call import refuse_unknown_parameters
from wenyuan.doors.http.description import describe
from wenyuan.doors.http.error_answers import error_response
from wenyuan.doors.http.house import House
from wenyuan.doors.http.mcp_endpoint import mcp_route
from wenyuan.doors.http.openai import routes as openai
from wenyuan.doors.http.pool import ClientLeft
from wenyuan.doors.http.problems import of_http, of_validation
from wenyuan.doors.http.routes import (
    asking,
    bulk,
    chatting,
    document_changes,
    documents,
    evaluation,
    jobs,
    knowledge_bases,
    models,
    operations,
    reading,
    sessions,
    signing_in,
    sources,
    traces,
    turns,
    upkeep,
)
from wenyuan.errors import WenyuanError

PREFIX = "/api/v1"
_ROUTES = (
    signing_in,
    knowledge_bases,
    documents,
    reading,
    bulk,
    document_changes,
    sources,
    jobs,
    asking,
    chatting,
    traces,
    sessions,
    turns,
    evaluation,
    models,
    upkeep,
    operations,
)
"""In the order in which the description has them."""

# Nobody is there to read it; the number is that of nginx.
_CLIENT_LEFT = 499


def create_application(house: House) -> FastAPI:
    """The ASGI application for a library. Whoever runs it closes the house afterwards."""
    app = described_routes()
    app.state.house = house
    app.router.routes += [mcp_route(house), bots_route(house)]
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
    for module in _ROUTES:
        app.include_router(module.router, prefix=PREFIX, dependencies=[Depends(refuse_unknown_parameters)])
    app.include_router(openai.router)
    describe(app, f"{PREFIX}/openapi.json")
    return app


def _speak_of_errors(app: FastAPI, house: House) -> None:
    def answered(request: Request, error: WenyuanError) -> Response:
        accepted = request.headers.get("accept-language", "")
        return error_response(request.scope["path"], error, house.worded, accepted)

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
