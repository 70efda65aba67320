"""Bots on chat platforms, each bound to knowledge bases: a message is a question, and the answer goes back."""
