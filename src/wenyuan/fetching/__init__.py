"""Fetching pages over HTTP, from where it is allowed to."""
