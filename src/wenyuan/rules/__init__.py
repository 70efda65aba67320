"""Rules without I/O: how text is cut, lists are fused, evidence is chosen and every step is observed."""
