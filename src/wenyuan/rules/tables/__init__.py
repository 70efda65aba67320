"""Tables as rows of text, and what is worked out from them."""
