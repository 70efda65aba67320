"""Question words: what makes a sentence a question but says nothing of what it is about.

They (`which`, 什么, 请问) are not searched for unless a question has nothing else. Other words that
say little (`of`, 的) are: they count in a name (`The Who`, 《在路上》), and being frequent weigh little.
"""

from __future__ import annotations

import re

QUESTION_WORDS = frozenset(
    "a an the what which who whom whose when where why how do does did is are was were be been please".split()
)

PARTICLES = frozenset("的了是在和与及或也都就而被把从到对于为以之其")
"""Characters that are words of their own; a pair of two of them is hardly ever a word."""

_QUESTION_PHRASES = (
    "为什么|什么时候|什么|怎么样|怎么|怎样|如何|为何|何时|哪[一几]?[个些里儿年月天位种家座条]?"
    "|请问|是谁|谁|多少|几个|是否|有没有|[吗呢么]"
)
_question_phrases = re.compile(_QUESTION_PHRASES)


def without_question_phrases(folded: str) -> str:
    """A folded text with a space in place of what a question is asked with in Chinese."""
    return _question_phrases.sub(" ", folded)
