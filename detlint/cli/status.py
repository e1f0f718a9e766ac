"""What the exit status says."""

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130
