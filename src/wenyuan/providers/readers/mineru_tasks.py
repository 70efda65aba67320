"""The tasks of MinerU 4.1 and later: a manifest, an upload, a status that is asked for, a result.

https://opendatalab.github.io/MinerU/usage/tasks/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from wenyuan.errors import ProviderTimeout, ProviderUnavailable, WenyuanError
from wenyuan.providers.readers.service import Original, Reply, Service

MEDIA_TYPE = "application/vnd.wenyuan.converted.mineru-tasks"

_PATH = "/v1/tasks"
_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")
_UNFINISHED = frozenset({"waiting-file", "pending", "running"})
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 5.0
_LONGEST_FAILURE_WAIT_SECONDS = 30.0
_MOST_FAILURES = 6


def convert(service: Service, original: Original, write: Callable[[bytes], None]) -> str:
    """Have a task made of the file and wait for it. Raises as `Converter.convert`.

    A task that is not waited for any more is cancelled, so that the service is not kept busy for nobody.
    """
    manifest = {"files": [{"file_name": original.file_name, "bytes": original.size}], **service.settings.options}
    tasks = service.address(_PATH)
    task = service.message(service.ask("POST", tasks, json=manifest))
    task_id = task.get("task_id")
    if not isinstance(task_id, str) or not _ID.fullmatch(task_id):
        raise service.invalid("it gives the task no id")
    try:
        _upload(service, original, _only_file(service, task))
        finished = _finished(service, f"{tasks}/{task_id}")
    except BaseException:
        _cancel(service, f"{tasks}/{task_id}/cancel")
        raise
    service.accepted(service.ask("GET", _result_address(service, finished), write=write))
    return MEDIA_TYPE


def _only_file(service: Service, task: Mapping[str, Any]) -> Mapping[str, Any]:
    match task.get("files"):
        case [dict(file)]:
            return file
    raise service.invalid("it does not tell of the one file that it was sent")


def _upload(service: Service, original: Original, file: Mapping[str, Any]) -> None:
    """Send the bytes to where the task wants them; a service that has them already wants none."""
    upload = file.get("upload")
    if upload is None:
        return
    address = upload.get("url") if isinstance(upload, dict) else None
    if not isinstance(address, str):
        raise service.invalid("it gives no address for the upload")
    headers = {"Content-Length": str(original.size)}
    service.accepted(service.ask("PUT", service.foreign(address), headers=headers, content=original.file))


def _finished(service: Service, address: str) -> Mapping[str, Any]:
    """Ask for the status until the task has ended well. Raises `ReaderRefused` where it has not."""
    wait, failures = _FIRST_WAIT_SECONDS, 0
    while True:
        service.wait(wait)
        try:
            task = service.message(_status(service, address))
        except ProviderTimeout:
            raise
        except ProviderUnavailable as error:
            # A task goes on while its service is too busy to be asked.
            failures += 1
            if failures == _MOST_FAILURES:
                raise
            wait = min(error.retry_after or wait * 2, _LONGEST_FAILURE_WAIT_SECONDS)
            continue
        status, failures = task.get("status"), 0
        if status == "completed":
            return _only_file(service, task)
        if status not in _UNFINISHED:
            raise service.refused(_why(service, task))
        wait = min(wait * 1.5, _LONGEST_WAIT_SECONDS)


def _status(service: Service, address: str) -> Reply:
    reply = service.ask("GET", address)
    if reply.status == 404:
        # It was there a moment ago: the service was started anew, and so must the task be.
        raise ProviderUnavailable(provider=service.label, reason="it has lost the task", retry_after=1.0)
    return reply


def _why(service: Service, task: Mapping[str, Any]) -> str:
    error = _only_file(service, task).get("error")
    said = error.get("message") if isinstance(error, dict) else error
    words = " ".join(str(said).split())[:300] if said else "it gives no reason"
    return f"its task ended as {str(task.get('status'))[:40]!r}: {words}"


def _result_address(service: Service, file: Mapping[str, Any]) -> str:
    address = file.get("result_url")
    if not isinstance(address, str):
        raise service.invalid("it gives no address for the result")
    return service.foreign(address)


def _cancel(service: Service, address: str) -> None:
    """Nobody waits for the answer to this: what is raised is why the task is given up."""
    try:
        service.last_word("POST", address)
    except WenyuanError:
        return
