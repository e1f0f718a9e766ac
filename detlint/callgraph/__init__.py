"""Which programs a project has, what they import, and what they reach."""
