"""Who makes a request to `/v1`."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from wenyuan.doors.http.call import Call
from wenyuan.doors.http.key_calls import key_call


async def _openai_call(request: Request) -> Call:
    return key_call(request)


OpenAICaller = Annotated[Call, Depends(_openai_call)]
"""What every route takes to answer its request."""
