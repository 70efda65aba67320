"""The parts of a conversation: what is told of it, what a model is told, what it may look up, and what is kept."""
