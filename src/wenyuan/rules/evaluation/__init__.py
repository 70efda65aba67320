"""Evaluation sets and what comes of running them: the file formats, the figures, and what changed between two runs."""
