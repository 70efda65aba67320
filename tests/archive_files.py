"""Archives and messages with files in them, made for tests."""

from __future__ import annotations

import base64
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

PASSWORD = "开门 open"
# `zip -P` encrypts by the method of PKWARE, which Python reads and does not write. It holds `secret.md`.
_LOCKED = (
    "UEsDBAoACQAAAEZYfl3FF2AJOwAAAC8AAAAJAAAAc2VjcmV0Lm1kVXTOm1nQa4WuLoaIdEpIkIvXoq2uh4rrIXjDKdC+YctfBo6vxdKlX+p1cz"
    "wwLuDZH0BFOy4Amf7soLdQSwcIxRdgCTsAAAAvAAAAUEsBAh4DCgAJAAAARlh+XcUXYAk7AAAALwAAAAkAAAAAAAAAAQAAAKSBAAAAAHNlY3Jl"
    "dC5tZFBLBQYAAAAAAQABADcAAAByAAAAAAA="
)
# The same with the password in GBK, as programs in Chinese Windows take it.
_LOCKED_IN_GBK = (
    "UEsDBAoACQAAAIuQfl2ZZllhMAAAACQAAAAJAAAAc2VjcmV0Lm1kPbwOfz+64FUysseDNXSnjSTJpMZMdkjAmrQBt5Cf3jTB8sXYxyEMLhgU91PZqZ"
    "p3UEsHCJlmWWEwAAAAJAAAAFBLAQIeAwoACQAAAIuQfl2ZZllhMAAAACQAAAAJAAAAAAAAAAEAAACkgQAAAABzZWNyZXQubWRQSwUGAAAAAAEAAQA3"
    "AAAAZwAAAAAA"
)


def zip_of(files: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of these files, by their paths."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


def tar_of(files: Mapping[str, bytes], mode: str = "w") -> bytes:
    """A tar archive, compressed with a mode such as `w:gz`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def locked_zip(encoding: str = "utf-8") -> bytes:
    """An archive that `PASSWORD` opens, typed in UTF-8 or "gbk"; in it, 琥珀项目的密钥在三号柜。"""
    return base64.b64decode(_LOCKED_IN_GBK if encoding == "gbk" else _LOCKED)


def written(path: Path, files: Mapping[str, str | bytes]) -> Path:
    path.write_bytes(zip_of(files))
    return path
