"""What kind of file it is: by its first bytes, then by what its text looks like, then by its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from wenyuan.errors import EncodingUnknown, FileBinary, FileEmpty
from wenyuan.parsers.decoding import recognise_encoding
from wenyuan.parsers.signatures import refined_format, signature_format
from wenyuan.parsers.source_file import head
from wenyuan.types import Notice

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Detected:
    """A media type, how to call it in a sentence, and a notice if the file's name says otherwise."""

    media_type: str
    description: str
    notices: tuple[Notice, ...] = ()


_BY_EXTENSION = {
    "txt": "text/plain",
    "text": "text/plain",
    "log": "text/plain",
    "srt": "text/plain",
    "vtt": "text/plain",
    "rst": "text/plain",
    "org": "text/plain",
    "adoc": "text/plain",
    "asciidoc": "text/plain",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "mdown": "text/markdown",
    "mkd": "text/markdown",
    "mdx": "text/markdown",
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "text/html",
    "shtml": "text/html",
    "json": "application/json",
    "geojson": "application/json",
    "ipynb": "application/json",
    "webmanifest": "application/json",
    "jsonl": "application/x-ndjson",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "tab": "text/tab-separated-values",
    "eml": "message/rfc822",
    "mht": "message/rfc822",
    "mhtml": "message/rfc822",
}
_SOURCE_CODE = {
    "python": "py pyi pyw",
    "shell": "sh bash zsh fish ksh",
    "powershell": "ps1 psm1",
    "batch": "bat cmd",
    "c": "c h",
    "c++": "cc cpp cxx hpp hh hxx",
    "c#": "cs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala sbt",
    "groovy": "groovy gradle",
    "go": "go",
    "rust": "rs",
    "swift": "swift",
    "objective-c": "m mm",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts tsx",
    "vue": "vue svelte",
    "css": "css scss sass less",
    "php": "php",
    "ruby": "rb rake gemspec",
    "perl": "pl pm",
    "lua": "lua",
    "r": "r",
    "julia": "jl",
    "haskell": "hs",
    "ocaml": "ml mli",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "clojure": "clj cljs edn",
    "lisp": "el lisp scm",
    "dart": "dart",
    "zig": "zig",
    "nim": "nim",
    "sql": "sql",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "terraform": "tf tfvars hcl",
    "cmake": "cmake",
    "assembly": "s asm",
    "tex": "tex sty cls bib",
    "diff": "diff patch",
    "yaml": "yaml yml",
    "toml": "toml lock",
    "ini": "ini cfg conf properties env editorconfig",
    "xml": "xml xsd xsl xslt svg rss atom plist csproj",
}
_BY_EXTENSION |= {
    extension: f"text/x-{language}" for language, extensions in _SOURCE_CODE.items() for extension in extensions.split()
}
_BY_NAME = {
    "makefile": "text/x-makefile",
    "gnumakefile": "text/x-makefile",
    "dockerfile": "text/x-dockerfile",
    "containerfile": "text/x-dockerfile",
    "jenkinsfile": "text/x-groovy",
    "gemfile": "text/x-ruby",
    "rakefile": "text/x-ruby",
    "vagrantfile": "text/x-ruby",
    "cmakelists.txt": "text/x-cmake",
    ".gitignore": "text/x-ini",
    ".gitattributes": "text/x-ini",
    ".editorconfig": "text/x-ini",
    ".bashrc": "text/x-shell",
    ".profile": "text/x-shell",
    ".env": "text/x-ini",
}
_NAMES = {
    "text/plain": "plain text",
    "text/markdown": "Markdown",
    "text/html": "an HTML page",
    "application/json": "JSON",
    "application/x-ndjson": "JSON Lines",
    "text/csv": "a CSV table",
    "text/tab-separated-values": "a tab-separated table",
    "message/rfc822": "an e-mail message",
}
# These are taken at their word unless the text is plainly an HTML page; the other types always are.
_SOFT_TYPES = frozenset({"", "text/plain", "text/csv", "text/tab-separated-values", "application/json"})
_BINARY_EXTENSIONS = frozenset(
    "pdf doc docx xls xlsx ppt pptx odt ods odp epub rtf msg png jpg jpeg gif tif tiff webp zip gz exe".split()
)

_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_JSON = re.compile(r'\s*(?:\[\s*){0,4}\{\s*"(?:[^"\\\n]|\\.){0,200}"\s*:')
_JSON_LINES = re.compile(r"\s*\{[^\n]*\}[ \t]*\n\s*\{|\s*\[[^\n]*\][ \t]*\n\s*\[")
_MAIL = re.compile(
    r"(?:(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID):[^\n]*\n(?:[ \t][^\n]*\n)*){2}", re.I
)
_SHEBANG = re.compile(r"#![^\n]{0,100}?\b(python|bash|zsh|sh|node|perl|ruby|php)[\d.]*[ \t]*(?:\n|-)")
_INTERPRETERS = {"bash": "shell", "zsh": "shell", "sh": "shell", "node": "javascript"}

_CONTROL_BYTES = bytes(byte for byte in range(0x20) if byte not in b"\b\t\n\r\f\x1b")
_MOST_CONTROL_BYTES = 0.02


def detect(path: Path, name: str) -> Detected:
    """Return the type of the file at `path`, whose own name is `name`.

    A file whose content contradicts its extension is what its content says, with a notice.
    Raises `FileEmpty`, `FileBinary` for what is neither text nor a known format, `FileVanished`
    and `FileUnreadable`.
    """
    start = head(path, _HEAD_BYTES)
    if not start:
        raise FileEmpty(name=name)
    is_binary = _looks_binary(start) and not _is_odd_text(path, name)
    found = signature_format(start, is_binary)
    if found is not None:
        media_type, words = refined_format(found, path, start)
        return Detected(media_type, f"{words} ({media_type})")
    if is_binary:
        raise FileBinary(name=name)
    named = type_by_name(name)
    media_type = _type_of_text(_markup(start), named)
    description = _NAMES.get(media_type, "source code")
    promised = named or _extension(name) in _BINARY_EXTENSIONS
    if promised and media_type not in (named, "application/x-ndjson"):
        return Detected(media_type, description, (_named_otherwise(name, description),))
    return Detected(media_type, description)


def type_by_name(name: str) -> str:
    """Return the media type of text that a file's name promises, or "" if it promises none."""
    return _BY_NAME.get(name.lower()) or _BY_EXTENSION.get(_extension(name), "")


def _extension(name: str) -> str:
    return PurePath(name).suffix[1:].lower()


def _named_otherwise(name: str, description: str) -> Notice:
    return Notice("type-contradicts-name", f"{name} holds {description} and was read as that, whatever its name says.")


def _type_of_text(text: str, named: str) -> str:
    if named in _SOFT_TYPES and _HTML.match(text):
        return "text/html"
    if named == "application/json" and _JSON_LINES.match(text):
        return "application/x-ndjson"
    if named:
        return named
    if _JSON.match(text):
        return "application/x-ndjson" if _JSON_LINES.match(text) else "application/json"
    if _MAIL.match(text):
        return "message/rfc822"
    shebang = _SHEBANG.match(text)
    if shebang:
        return f"text/x-{_INTERPRETERS.get(shebang[1], shebang[1])}"
    return "text/plain"


def _markup(start: bytes) -> str:
    """Return the ASCII of a text's beginning, which is all that its markup consists of."""
    return start.replace(b"\0", b"").decode("ascii", "ignore")


def _looks_binary(start: bytes) -> bool:
    controls = len(start) - len(start.translate(None, _CONTROL_BYTES))
    return b"\0" in start or controls > _MOST_CONTROL_BYTES * len(start)


def _is_odd_text(path: Path, name: str) -> bool:
    """Say whether what looks binary is text all the same: UTF-16, or with a stray control character."""
    try:
        recognise_encoding(path, name)
    except EncodingUnknown:
        return False
    return True
