"""Recording fingerprints of a program: hooks that change nothing."""
