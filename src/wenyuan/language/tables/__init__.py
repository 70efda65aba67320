"""What cells of tables hold, and what is asked of tables."""
