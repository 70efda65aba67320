"""The values of the HTTP interface as TypeScript: `python -m tests.page.client_types` writes web/src/api/schema.ts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from wenyuan.doors.http.application import described_routes

WEB = Path(__file__).parents[2] / "web"
SCHEMA = WEB / "src" / "api" / "schema.ts"


def generated() -> str:
    """The types of every value that is asked or answered. Needs `npm ci` in web/."""
    described = described_routes().openapi()
    # The routes themselves would be ten times as long: each of them repeats how it may fail.
    values = {"openapi": described["openapi"], "info": described["info"], "paths": {}}
    values["components"] = {"schemas": described["components"]["schemas"]}
    with tempfile.TemporaryDirectory() as folder:
        description, types = Path(folder, "openapi.json"), Path(folder, "schema.ts")
        description.write_text(json.dumps(values), encoding="utf-8")
        command = [str(WEB / "node_modules" / ".bin" / "openapi-typescript"), str(description), "--output", str(types)]
        subprocess.run(command, check=True, capture_output=True, cwd=WEB)
        return types.read_text(encoding="utf-8")


if __name__ == "__main__":
    SCHEMA.write_text(generated(), encoding="utf-8")
    sys.stdout.write(f"{SCHEMA.relative_to(WEB.parent)} was written.\n")
