"""A set of questions with known answers is asked, and what was found is measured."""
