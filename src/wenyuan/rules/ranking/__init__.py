"""From lists of candidates to the evidence that is shown, and how far it answers."""
