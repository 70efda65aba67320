"""What stands on a PDF page beside its text: links, filled-in form fields and the notes of its readers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from wenyuan.parsers.pdf.frame import PageFrame, Rectangle

_MOST_ANNOTATIONS = 1000
_LONGEST_ADDRESS = 500
_LONGEST_VALUE = 100_000
_SCHEMES = ("http://", "https://", "mailto:", "ftp://")
_NOTES = frozenset(
    {
        pdfium.FPDF_ANNOT_TEXT,
        pdfium.FPDF_ANNOT_FREETEXT,
        pdfium.FPDF_ANNOT_HIGHLIGHT,
        pdfium.FPDF_ANNOT_UNDERLINE,
        pdfium.FPDF_ANNOT_SQUIGGLY,
        pdfium.FPDF_ANNOT_STRIKEOUT,
        pdfium.FPDF_ANNOT_STAMP,
        pdfium.FPDF_ANNOT_CARET,
        pdfium.FPDF_ANNOT_SQUARE,
        pdfium.FPDF_ANNOT_CIRCLE,
        pdfium.FPDF_ANNOT_LINE,
        pdfium.FPDF_ANNOT_INK,
    }
)
_WITH_TEXT = frozenset({pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX})
_TICKED = frozenset({pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON})


class Link(NamedTuple):
    """An address outside of the document, and where on the page as shown it is followed."""

    address: str
    rectangle: Rectangle


class Remark(NamedTuple):
    """A form field, as `name: value`, or what somebody noted on the page."""

    text: str
    rectangle: Rectangle
    is_field: bool


@dataclass(frozen=True, slots=True)
class Annotations:
    """What is attached to one page."""

    links: tuple[Link, ...]
    remarks: tuple[Remark, ...]


def page_annotations(document: Any, page: Any, form: Any, frame: PageFrame) -> Annotations:
    """Read the annotations of an open page; the three are PDFium's handles, `form` None where there is none."""
    links: list[Link] = []
    remarks: list[Remark] = []
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_LINK:
                links += _links(document, annotation, frame)
            elif kind == pdfium.FPDF_ANNOT_WIDGET and form is not None:
                remarks += _field(form, annotation, frame)
            elif kind in _NOTES:
                text = _text(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents").strip()
                if text:
                    remarks.append(Remark(text, _rectangle(annotation, frame), is_field=False))
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return Annotations(tuple(links), tuple(remarks))


def _links(document: Any, annotation: Any, frame: PageFrame) -> Iterator[Link]:
    action = pdfium.FPDFLink_GetAction(pdfium.FPDFAnnot_GetLink(annotation))
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return
    size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= _LONGEST_ADDRESS:
        return
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, size)
    address = buffer.value.decode("utf-8", "replace").strip()
    if address.lower().startswith(_SCHEMES) and not any(map(str.isspace, address)):
        yield Link(address, _rectangle(annotation, frame))


def _field(form: Any, annotation: Any, frame: PageFrame) -> Iterator[Remark]:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    name = _form_text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = name or _form_text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
    if kind in _WITH_TEXT:
        value = _form_text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    elif kind == pdfium.FPDF_FORMFIELD_LISTBOX:
        value = ", ".join(_selected(form, annotation))
    elif kind in _TICKED and pdfium.FPDFAnnot_IsChecked(form, annotation):
        value = _form_text(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation) or "Yes"
    else:
        return
    if value.strip():
        text = f"{name.strip()}: {value.strip()}" if name.strip() else value.strip()
        yield Remark(text.replace("\r\n", "\n").replace("\r", "\n"), _rectangle(annotation, frame), is_field=True)


def _selected(form: Any, annotation: Any) -> Iterator[str]:
    count = max(0, pdfium.FPDFAnnot_GetOptionCount(form, annotation))
    for option in range(min(count, _MOST_ANNOTATIONS)):
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, option):
            yield _form_text(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, option)


def _form_text(call: Callable[..., int], form: Any, annotation: Any, *arguments: Any) -> str:
    return _text(lambda *rest: call(form, *rest), annotation, *arguments)


def _text(call: Callable[..., int], annotation: Any, *arguments: Any) -> str:
    """What a PDFium function writes as UTF-16, asked first for its size in bytes."""
    size = call(annotation, *arguments, None, 0)
    if not 2 < size <= _LONGEST_VALUE:
        return ""
    units = (pdfium.FPDF_WCHAR * (size // 2))()
    call(annotation, *arguments, units, size)
    return bytes(memoryview(units).cast("B")).decode("utf-16-le", "replace").rstrip("\0")


def _rectangle(annotation: Any, frame: PageFrame) -> Rectangle:
    bounds = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, bounds)
    left, right = sorted((bounds.left, bounds.right))
    bottom, top = sorted((bounds.bottom, bounds.top))
    return frame.shown(left, bottom, right, top)
