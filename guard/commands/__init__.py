"""The commands of ``python -m guard``, a module for each, and what they share."""
