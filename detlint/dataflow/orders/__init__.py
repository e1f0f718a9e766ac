"""Orders that differ from run to run: where they come from, and where they show."""
