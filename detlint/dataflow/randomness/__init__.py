"""What draws, what seeds, and what differs in each run by itself."""
