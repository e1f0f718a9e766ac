"""Findings that are not shown: silenced by a comment, or known to a baseline or a commit."""
