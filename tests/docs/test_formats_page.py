from __future__ import annotations

import ast

from tests.docs.formats_page import CLAIMS, FORMATS, _proofs_of, proofs


def test_every_proof_is_of_a_format_and_a_claim_that_the_page_knows() -> None:
    unknown = [proof for proof in proofs() if proof.format not in FORMATS or proof.claim not in CLAIMS]
    assert unknown == []


def test_what_a_mark_says_is_found() -> None:
    tree = ast.parse('@pytest.mark.proves("docx", "text", "tables", file="a.docx")\ndef test_it() -> None: ...\n')
    assert [(one.format, one.claim, one.file, one.name) for one in _proofs_of(tree, "t.py")] == [
        ("docx", "text", "a.docx", "test_it"),
        ("docx", "tables", "a.docx", "test_it"),
    ]
