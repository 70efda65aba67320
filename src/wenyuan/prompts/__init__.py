"""What language models are told: text files, one for each task and language, and what reads them."""
