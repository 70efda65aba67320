"""Everything that must not be lost, and every SQL statement."""
