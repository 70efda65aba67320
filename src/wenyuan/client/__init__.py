"""A library that is served elsewhere, with the methods and results of one that is opened here."""
