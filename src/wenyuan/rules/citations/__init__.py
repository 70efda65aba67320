"""What an answer cites, and whether its sources say what it says."""
