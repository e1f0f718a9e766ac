"""``python -m guard verify``: whether runs of a program agree bit for bit, and if not, why."""
