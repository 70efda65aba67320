"""What kind of file it is: by its first bytes, then by what its text looks like, then by its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from wenyuan.errors import EncodingUnknown, FileBinary, FileEmpty
from wenyuan.parsers.signatures import OLE, PDF, ZIP, Format, has_pdf_mark, refined_format, signature_format
from wenyuan.parsers.source_file import head
from wenyuan.parsers.text.decoding import recognise_encoding
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
    "srt": "application/x-subrip",
    "vtt": "text/vtt",
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
    "ipynb": "application/x-ipynb+json",
    "webmanifest": "application/json",
    "jsonl": "application/x-ndjson",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "tab": "text/tab-separated-values",
    "eml": "message/rfc822",
    "mbox": "application/mbox",
    "mbx": "application/mbox",
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
    "mbox": "application/mbox",
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
    "application/mbox": "a mailbox",
    "application/x-ipynb+json": "a Jupyter notebook",
    "application/x-subrip": "subtitles",
    "text/vtt": "subtitles",
}
# These are taken at their word unless the text is plainly something else; the other types always are.
_SOFT_TYPES = frozenset({"", "text/plain", "text/csv", "text/tab-separated-values", "application/json"})
_SUBTITLES = ("application/x-subrip", "text/vtt")
_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
_BINARY_TYPES = {
    "application/pdf": "pdf",
    f"{_OPEN_XML}.wordprocessingml.document": "docx docm dotx dotm",
    f"{_OPEN_XML}.spreadsheetml.sheet": "xlsx xlsm xltx xltm",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "xlsb",
    f"{_OPEN_XML}.presentationml.presentation": "pptx pptm potx potm ppsx ppsm",
    "application/msword": "doc dot wps",
    "application/vnd.ms-excel": "xls xlt et",
    "application/vnd.ms-powerpoint": "ppt pps pot dps",
    f"{_OPEN_DOCUMENT}.text": "odt ott",
    f"{_OPEN_DOCUMENT}.spreadsheet": "ods ots",
    f"{_OPEN_DOCUMENT}.presentation": "odp otp",
    "application/epub+zip": "epub",
    "application/rtf": "rtf",
    "application/vnd.ms-outlook": "msg",
    "image/png": "png",
    "image/jpeg": "jpg jpeg jpe jfif",
    "image/gif": "gif",
    "image/tiff": "tif tiff",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "application/zip": "zip",
    "application/gzip": "gz tgz",
    "application/vnd.microsoft.portable-executable": "exe",
}
_TYPE_OF_BINARY = {extension: kind for kind, extensions in _BINARY_TYPES.items() for extension in extensions.split()}
# Which of their formats an older program or a password has wrapped is not for the name to say.
_WRAPPED = ("application/x-ole-encrypted", "application/x-ole-storage")

_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_JSON = re.compile(r'\s*(?:\[\s*){0,4}\{\s*"(?:[^"\\\n]|\\.){0,200}"\s*:')
_JSON_LINES = re.compile(r"\s*\{[^\n]*\}[ \t]*\n\s*\{|\s*\[[^\n]*\][ \t]*\n\s*\[")
_MAIL = re.compile(
    r"(?:(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID):[^\n]*\n(?:[ \t][^\n]*\n)*){2}", re.I
)
_MAIL_OF_NO_NAME = re.compile(
    r"(?:(?:From|To|Cc|Subject|Date|Reply-To|Content-Type|X-[\w-]+|Return-Path|Received|MIME-Version|Message-ID):"
    r"[^\n]*\n(?:[ \t][^\n]*\n)*){3}",
    re.I,
)
_MAILBOX = re.compile(r"From \S[^\n]{0,200}\d\d:\d\d[^\n]{0,50}\n(?:>?From [^\n]*\n)?[A-Za-z][\w-]*:")
_NOTEBOOK = re.compile(r'"(?:cell_type|nbformat)"\s*:')
_SUBRIP = re.compile(r"\s*\d+[ \t]*\r?\n\s*\d{1,4}:\d\d:\d\d[,.]\d{1,3}[ \t]*-->")
_WEBVTT = re.compile(r"WEBVTT(?:[ \t][^\n]*)?\r?\n")
_TIMES = re.compile(r"\d\d:\d\d[,.]\d{1,3}[ \t]*-->")
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
    # What bears an unmistakable signature need not be read as a whole to see whether it might be text.
    found = signature_format(start, is_binary=False)
    if found is None and _extension(name) == "pdf" and has_pdf_mark(start):
        found = PDF
    is_binary = found is None and _looks_binary(start) and not _is_odd_text(path, name)
    if is_binary:
        found = signature_format(start, is_binary)
    if found is not None:
        return _detected_by_signature(refined_format(found, path, start), name)
    if is_binary:
        raise FileBinary(name=name)
    named = type_by_name(name)
    media_type = _type_of_text(_markup(start), named)
    description = _NAMES.get(media_type, "source code")
    promised = named or _extension(name) in _TYPE_OF_BINARY
    if promised and media_type not in (named, "application/x-ndjson"):
        return Detected(media_type, description, (_named_otherwise(name, description),))
    return Detected(media_type, description)


def _detected_by_signature(found: Format, name: str) -> Detected:
    media_type, words = found
    description = f"{words} ({media_type})"
    promised = _TYPE_OF_BINARY.get(_extension(name), "") or type_by_name(name)
    is_package = promised.startswith((_OPEN_XML, _OPEN_DOCUMENT, "application/epub"))
    is_storage = promised.startswith(("application/msword", "application/vnd.ms-"))
    if (found is ZIP and is_package) or (found is OLE and is_storage):
        # A container in which nothing of a document is found: its reader says best what is wrong with it.
        return Detected(promised, description)
    if promised and media_type != promised and media_type not in _WRAPPED:
        return Detected(media_type, description, (_named_otherwise(name, words),))
    return Detected(media_type, description)


def type_by_name(name: str) -> str:
    """Return the media type of text that a file's name promises, or "" if it promises none."""
    return _BY_NAME.get(name.lower()) or _BY_EXTENSION.get(_extension(name), "")


def _extension(name: str) -> str:
    return PurePath(name).suffix[1:].lower()


def _named_otherwise(name: str, description: str) -> Notice:
    return Notice("type-contradicts-name", f"{name} holds {description} and was read as that, whatever its name says.")


def _type_of_text(text: str, named: str) -> str:
    if named in _SOFT_TYPES and (plainly := _plainly(text)):
        return plainly
    if named == "application/json" and _JSON_LINES.match(text):
        return "application/x-ndjson"
    if named in _SUBTITLES and not _TIMES.search(text):
        return "text/plain"
    if named == "message/rfc822" and _MAILBOX.match(text) and len(_MAILBOX.findall(text)) > 1:
        return "application/mbox"
    if named == "application/x-ipynb+json" and not _NOTEBOOK.search(text) and not text.lstrip().startswith("{"):
        return "text/plain"
    if named:
        return named
    if _JSON.match(text):
        if _NOTEBOOK.search(text):
            return "application/x-ipynb+json"
        return "application/x-ndjson" if _JSON_LINES.match(text) else "application/json"
    if _MAIL_OF_NO_NAME.match(text):
        return "message/rfc822"
    shebang = _SHEBANG.match(text)
    if shebang:
        return f"text/x-{_INTERPRETERS.get(shebang[1], shebang[1])}"
    return "text/plain"


def _plainly(text: str) -> str:
    """What a text under the name of another one is beyond doubt, or ""."""
    if _HTML.match(text):
        return "text/html"
    if _WEBVTT.match(text):
        return "text/vtt"
    if _SUBRIP.match(text):
        return "application/x-subrip"
    if _MAILBOX.match(text):
        return "application/mbox"
    return "message/rfc822" if _MAIL.match(text) else ""


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
