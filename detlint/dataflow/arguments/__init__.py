"""Options, defaults, flags and settings: what values a program is given."""
