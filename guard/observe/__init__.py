"""Seeing what a program does: its lines, its calls of modules, the operators that torch runs."""
