"""Puts everything together; methods grouped by noun."""
