"""Everything that is installed with Wenyuan may be used under terms that go with Apache-2.0."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from tests.lock_files import RUNTIME_LOCK, applies_here, pinned

# SPDX names and the spellings that older metadata uses. MPL-2.0 binds changes to its own files only. The dependencies
# that pypdfium2 speaks of are those of PDFium, which all allow what BSD does (FreeType by its own licence).
PERMISSIVE = re.compile(
    r"Apache([ -](Software )?Licen[sc]e)?([, -]+(Version )?2\.0)?|BSD-[23]-Clause|(3-Clause )?BSD( License)?"
    r"|BSD-3-Clause, Apache-2\.0, dependency licenses|MIT(-CMU| License)?"
    r"|MPL-2\.0|Mozilla Public License 2\.0 \(MPL 2\.0\)|0BSD|CC0-1\.0|ISC|PSF-2\.0|Zlib|any-OSI"
)


def _is_permissive(terms: str) -> bool:
    """Whether an SPDX expression, or one free-form name, can be satisfied by permissive licences."""
    if PERMISSIVE.fullmatch(terms.strip()):
        return True
    binding = re.sub(r"[()]", " ", terms).split(" AND ")
    return all(any(PERMISSIVE.fullmatch(choice.strip()) for choice in each.split(" OR ")) for each in binding)


def _terms(package: str) -> list[str]:
    """What a package says about its licence, the most formal statement that it makes."""
    about = metadata.metadata(package)
    classifiers = [line for line in about.get_all("Classifier") or [] if line.startswith("License :: OSI Approved :: ")]
    if expression := about.get_all("License-Expression"):
        return expression
    if classifiers:
        return [line.rpartition(" :: ")[2] for line in classifiers]
    return about.get_all("License") or ["none stated"]


def test_the_locked_packages_are_permissive() -> None:
    packages = [name for name, pin in pinned(RUNTIME_LOCK).items() if applies_here(pin)]
    assert len(packages) > 20
    refused = {name: terms for name in packages if not all(map(_is_permissive, terms := _terms(name)))}
    assert refused == {}


@pytest.mark.parametrize(
    "terms", ["MIT", "Apache Software License", "MPL-2.0 AND (MIT OR GPL-2.0-only)", "BSD-3-Clause"]
)
def test_permissive_terms_are_accepted(terms: str) -> None:
    assert _is_permissive(terms)


@pytest.mark.parametrize(
    "terms",
    [
        "GPL-3.0-or-later",
        "AGPL-3.0-only",
        "MIT AND AGPL-3.0-only",
        "GNU General Public License v3 (GPLv3)",
        "GNU Affero General Public License v3",
        "none stated",
        "",
    ],
)
def test_other_terms_are_refused(terms: str) -> None:
    assert not _is_permissive(terms)
