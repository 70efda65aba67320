"""A knowledge base leaves as one file, and comes into another library whole or not at all."""
