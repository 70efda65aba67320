"""The password that was given for the file being read; readers of formats that have passwords look for it here."""

from __future__ import annotations

from contextvars import ContextVar

given_password: ContextVar[str] = ContextVar("given_password", default="")
"""Empty where none was given: a reader then raises `FileEncrypted`, and `PasswordWrong` for one that does not fit.

It must not stand in an error, a notice or anything else that a reader hands over.
"""
