"""What makes text findable: folding, words, dates, versions, codes and identifiers.

Pure functions without input or output. One rule rules them all: the index side and the question
side call the same function, so that any two writings of one thing meet in one canonical token.
"""

RULE_SET_VERSION = "2"
"""Changes with every change to a token that any text gets; stored with every lexical index."""
