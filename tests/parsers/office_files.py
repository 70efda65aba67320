"""Makes office documents for tests out of the XML that matters in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
ODF = " ".join(
    f'xmlns:{prefix}="{_ODF}:{name}:1.0"'
    for prefix, name in {
        "office": "office",
        "text": "text",
        "table": "table",
        "style": "style",
        "draw": "drawing",
        "svg": "svg-compatible",
        "meta": "meta",
        "presentation": "presentation",
    }.items()
)


def package(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive with these parts."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def relationships(targets: Mapping[str, tuple[str, str]]) -> str:
    """The part that says what another part refers to: by id the kind and the target."""
    entries = "".join(
        f'<Relationship Id="{key}" Type="{_TYPES}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>'
    )


def word(body: str, **parts: str) -> bytes:
    """A Word document; `parts` are the insides of `styles`, `numbering`, `footnotes` and so on."""
    files = {"word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>"}
    targets = {}
    for number, (kind, content) in enumerate(parts.items()):
        files[f"word/{kind}.xml"] = f"<w:{kind} {W} {R}>{content}</w:{kind}>"
        targets[f"r{number}"] = (kind, f"{kind}.xml")
    return package({**files, "word/_rels/document.xml.rels": relationships(targets)})


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of WordprocessingML."""
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def open_document(kind: str, body: str, automatic: str = "", **parts: str) -> bytes:
    """An OpenDocument file: `text` or `presentation`, with its automatic styles and other parts by their names."""
    content = (
        f"<office:document-content {ODF}><office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    mime_type = f"application/vnd.oasis.opendocument.{kind}"
    return package(
        {"mimetype": mime_type, "content.xml": content, **{f"{name}.xml": xml for name, xml in parts.items()}}
    )
