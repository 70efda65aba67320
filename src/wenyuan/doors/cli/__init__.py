"""The command line: `wenyuan`."""
