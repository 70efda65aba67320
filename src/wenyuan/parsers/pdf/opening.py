"""Opening PDF files with PDFium; what is wrong with them becomes a coded error."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from wenyuan.errors import FileEncrypted, FileMalformed, PasswordWrong
from wenyuan.parsers.pdf.stand_in_font import offer_stand_in_font


def opened_pdf(path: Path, name: str, password: str) -> pypdfium2.PdfDocument:
    """The document, with its form fields if it has any; to be closed by whoever asked for it.

    A file that only restricts what may be done with it opens without a password. Raises `FileEncrypted`,
    `PasswordWrong` and `FileMalformed`.
    """
    offer_stand_in_font()
    try:
        document = pypdfium2.PdfDocument(path, password=password or None)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise (PasswordWrong if password else FileEncrypted)(name=name) from error
        reason = "it is encrypted in a way that is not known" if _is_locked(error) else "its structure cannot be read"
        raise FileMalformed(name=name, format="PDF", reason=reason) from error
    if document.get_formtype() != pdfium.FORMTYPE_NONE:
        document.init_forms()
    return document


def _is_locked(error: pypdfium2.PdfiumError) -> bool:
    return bool(error.err_code == pdfium.FPDF_ERR_SECURITY)
