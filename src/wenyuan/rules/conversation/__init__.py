"""What a message wants, what a model is shown for it, and how what it says begins."""
