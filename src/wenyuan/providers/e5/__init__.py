"""The built-in embedding model: multilingual-e5-small, offline and without a key.

Wang et al., "Multilingual E5 Text Embeddings: A Technical Report", arXiv:2402.05672 (MIT licence).
`weights` reads the 4-bit weights, `convert` turns them once into the files that `model` runs.
"""
