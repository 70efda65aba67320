"""A language model's service that says the same to everyone, a piece at a time: `python -m benchmarks.door_model`.

Its pieces come sooner and later, as those of models do. It prints its port, and serves until it is killed. It costs so
little that what is measured is not the model.
"""

from __future__ import annotations

import asyncio
import json
import random

PIECES, SECONDS_A_PIECE = 40, (0.03, 0.07)
_TEXTS = ("这台水泵", "每年检查一次，", "由值班的人", "记下水位和压力", " [1]。")


def _chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    data = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    event = f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


_FIRST, _LAST = _chunk({"role": "assistant"}), _chunk({}, "stop")
_PIECES = [_chunk({"content": text}) for text in _TEXTS]
_DONE = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
            await reader.readexactly(int(length.partition(":")[2]))
            writer.write(_HEAD + _FIRST)
            for number in range(PIECES):
                await asyncio.sleep(random.uniform(*SECONDS_A_PIECE))
                writer.write(_PIECES[number % len(_PIECES)])
                await writer.drain()
            writer.write(_LAST + _DONE)
    except (OSError, asyncio.IncompleteReadError):
        # Whoever asked has left.
        writer.close()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
