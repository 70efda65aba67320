"""The journeys, each readable on one screen: ingest, embed, purge, retrieve, answer, preview."""
