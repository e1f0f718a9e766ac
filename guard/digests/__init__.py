"""Digests of what a program holds: of tensors, of structures, of any value, of generators."""
