"""A storage for objects that speaks S3, on this machine."""

from __future__ import annotations

import logging
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from unittest import mock

from moto.server import ThreadedMotoServer

_SERIAL = count(1)


@contextmanager
def object_server() -> Iterator[str]:
    """The address of a new bucket; the environment says where it is, and with which keys."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    bucket = f"bucket-{os.getpid()}-{next(_SERIAL)}"
    environment = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
    }
    try:
        with mock.patch.dict(os.environ, environment):
            urllib.request.urlopen(urllib.request.Request(f"http://{host}:{port}/{bucket}", method="PUT")).close()
            yield f"s3://{bucket}/files"
    finally:
        server.stop()
