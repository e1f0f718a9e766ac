"""From paths to texts: which files there are, of what kind, what they hold, and what is kept."""
