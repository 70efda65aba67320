"""The reference pages that are made from the program: `python -m tests.docs.reference_pages` writes them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from tests.docs.formats_page import formats_page
from tests.docs.program_files_page import program_files_page
from wenyuan import errors
from wenyuan.config import Settings
from wenyuan.doors.http.reference import reference
from wenyuan.providers.readers.settings import ReaderSettings
from wenyuan.providers.settings import ModelSettings
from wenyuan.types.bots import BotSettings

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"

_SETTINGS_HEAD = """# Settings

Settings are read once, from `wenyuan.toml` in the library's folder. An environment variable named
`WENYUAN_SECTION_SETTING`, such as `WENYUAN_SEARCH_TOP_K`, outranks the file. Unknown sections and settings are refused.
Made from the program: `python -m tests.docs.reference_pages`.
"""

_MODELS_HEAD = """
## [models."NAME"]

One table for each model: [how to configure models](../how-to-models.md). `key` is a reference, `env:NAME`,
`file:PATH` or `keyring:SERVICE/NAME`: keys themselves are refused here and stored nowhere. A `preset` fills `protocol`,
`base_url`, `key`, `types`, `tools`, `json_schema` and `context_tokens` where they are not said.

```toml
[models."openai/text-embedding-3-small"]
preset = "openai"
types = ["embedding"]
model = "text-embedding-3-small"
dimensions = 1536
```
"""

_READERS_HEAD = """
## [readers.NAME]

One table for each remote reader: [how to use one](../how-to-use-a-remote-reader.md). `key` is a reference, as above.

```toml
[readers.scans]
kind = "mineru"
base_url = "http://127.0.0.1:8000"
types = ["application/pdf", "image/*"]
```
"""

_BOTS_HEAD = """
## [bots.NAME]

One table for each bot: [how to let people ask from chat platforms](../how-to-bots.md). Keys (`token`, `aes_key`,
`app_secret`) are references, as above.

```toml
[bots.helper]
platform = "wecom"
knowledge_bases = ["handbooks"]
token = "env:WECOM_TOKEN"
aes_key = "env:WECOM_AES_KEY"
```
"""

_ERRORS_HEAD = """# Errors

Every error has a code that never changes, a sentence, a hint and an exit code of the command line. They form one tree,
sorted by what you can do about them. Made from the program: `python -m tests.docs.reference_pages`.
"""


def settings_page() -> str:
    lines = [_SETTINGS_HEAD]
    for section in dataclasses.fields(Settings):
        value = getattr(Settings(), section.name)
        if not dataclasses.is_dataclass(value):
            continue
        lines += [f"\n## [{section.name}]\n", _first_paragraph(type(value)), "\n| setting | default |\n|---|---|"]
        lines += [f"| `{item.name}` | `{getattr(value, item.name)!r}` |" for item in dataclasses.fields(value)]
    for head, kind in ((_MODELS_HEAD, ModelSettings), (_READERS_HEAD, ReaderSettings), (_BOTS_HEAD, BotSettings)):
        lines += [head, "| setting | default |\n|---|---|"]
        lines += [f"| `{item.name}` | {_default(item)} |" for item in dataclasses.fields(kind) if item.name != "name"]
    return "\n".join(lines) + "\n"


def _default(item: dataclasses.Field[object]) -> str:
    if not isinstance(item.default_factory, dataclasses._MISSING_TYPE):
        return f"`{dict(item.default_factory())!r}`"  # type: ignore[call-overload]  # a table is the one that is made
    return "required" if item.default is dataclasses.MISSING else f"`{item.default!r}`"


def errors_page() -> str:
    lines = [_ERRORS_HEAD]
    for group in errors.WenyuanError.__subclasses__():
        lines += [f"\n## {group.__name__}, exit code {group.exit_code}\n", _first_paragraph(group)]
        lines.append("\n| code | sentence | hint |\n|---|---|---|")
        lines += [f"| `{kind.code}` | {_shown(kind.sentence)} | {_shown(kind.hint)} |" for kind in _leaves(group)]
    return "\n".join(lines) + "\n"


def _leaves(kind: type[errors.WenyuanError]) -> Iterator[type[errors.WenyuanError]]:
    if "code" in vars(kind):
        yield kind
    for child in kind.__subclasses__():
        yield from _leaves(child)


def _shown(template: str) -> str:
    parts = Formatter().parse(template)
    return "".join(text + (f"*{name}*" if name else "") for text, name, _, _ in parts).replace("|", "\\|")


def _first_paragraph(kind: type) -> str:
    text = inspect.getdoc(kind) or ""
    return "" if text.startswith(f"{kind.__name__}(") else " ".join(text.split())


PAGES = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "http-api.md": reference,
    "../formats.md": formats_page,
    "../../tests/files/README.md": program_files_page,
}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), "utf-8")
