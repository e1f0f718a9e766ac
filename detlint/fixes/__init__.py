"""Edits: how a rule makes them, and how they become text, files and patches."""
