"""The control words of RTF that a reader cares about, by what they are for."""

from __future__ import annotations

CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "emdash": "—",
    "endash": "–",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
}
SYMBOLS = {b"~": "\xa0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}", b"\t": "\t"}
INFORMATION = {
    "title": "title",
    "author": "author",
    "subject": "subject",
    "keywords": "keywords",
    "doccomm": "description",
    "category": "category",
}
DATES = {"creatim": "created", "revtim": "modified"}
HEADERS = {
    **dict.fromkeys("header headerl headerr headerf".split(), "header"),
    **dict.fromkeys("footer footerl footerr footerf".split(), "footer"),
}
# Destinations whose text is that of the document, or of something that hangs on it.
_READ = frozenset(
    "fldrslt listtext pntext footnote annotation atnauthor shptxt dptxbxtext result mmath moMath mr shpinst shp "
    "ud field fonttbl stylesheet info listtable listoverridetable nesttableprops".split()
)
SKIPPED = frozenset(
    "colortbl pict fldinst nonshppict shprslt themedata colorschememapping datastore latentstyles filetbl revtbl "
    "rsidtbl generator xmlnstbl bkmkstart bkmkend xe tc tcn nonesttables objdata objclass objname sp "
    "listpicture pnseclvl ftnsep ftnsepc aftnsep aftnsepc ftncn aftncn atnid atnref atntime atndate atnparent atnicn "
    "userprops pn template operator company buptim printim pgdsctbl mmathPr mmathPict private".split()
)
DESTINATIONS = _READ | frozenset({"upr", "do"}).union(HEADERS, INFORMATION, DATES)
RELEVANT = DESTINATIONS.union(
    SKIPPED,
    CHARACTERS,
    "u f plain v deleted revised uc ansicpg deff mac object par sect pard s outlinelevel intbl itap".split(),
    "ls ilvl ftnalt fi".split(),
    "trowd trhdr clvmrg clmrg cellx cell nestcell row nestrow fcharset sbasedon list levelnfc listid bin".split(),
    "yr mo dy hr min".split(),
)
"""All words that change anything in what is read; most words in a document are about how it looks."""
