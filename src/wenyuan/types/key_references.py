"""How a key is referred to, which itself stands in no settings, library, log or error."""

from __future__ import annotations

KEY_KINDS = ("env:", "file:", "keyring:")
"""What a reference begins with: a variable of the environment, a file, an entry of the system's keyring."""
