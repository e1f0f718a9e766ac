"""Random numbers: seeds, the states of generators, and streams of their own."""
