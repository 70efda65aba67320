"""What a question asks for, read before anything is looked up."""
