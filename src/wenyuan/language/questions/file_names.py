"""File names: what in a question may be the name of a file (打开体检通知.txt, what is in docker-compose.yml?)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST_NAME = 120

# What goes on behind a dot is a dotted name (`os.path.join`), not an extension.
_extension = re.compile(r"\.[a-z][a-z0-9]{1,4}(?![a-z0-9_-]|\.\w)")
_in_ascii = re.compile(r"[a-z0-9][\w.-]*$", re.ASCII)
_unspaced = re.compile(r"""[^\s"'`“”‘’「」『』《》〈〉【】<>,;:?!|*/\\。、…]+$""")
# Where words are not spaced, a name begins behind what is to be done with the file, or said of it.
_before_name = re.compile(
    "(?:请(?![假示求愿柬帖客教])|帮我|麻烦|我[想要]|能否|可以|打开|查[看找阅]|看看?|阅?读|找[到出]?|下载|显示|总结|概括|翻译|解释|分析|介绍|列出"
    "|比较|对比|引用|导出|告诉我|根据|按照?|参[考照]|关于|[对对]于|[在从自把将和与跟及对]|一下|下|到|文[件档]|附件|这[个份]|那[个份])"
)


def file_names(folded: str) -> Iterator[str]:
    """Every name with an extension in a folded question, and where its beginning is not clear each it may be."""
    read_to = 0
    for extension in _extension.finditer(folded):
        before = folded[read_to : extension.start()]
        read_to = extension.end()
        if name := _in_ascii.search(before[-_LONGEST_NAME:]):
            yield name[0] + extension[0]
        if (name := _unspaced.search(before[-_LONGEST_NAME:])) and not name[0].isascii():
            yield from (rest + extension[0] for rest in _beginnings(name[0]))


def _beginnings(run: str) -> Iterator[str]:
    """A run of characters, and what is left of it without the words that stand before a name."""
    yield run
    while word := _before_name.match(run):
        run = run[word.end() :]
        if run:
            yield run
