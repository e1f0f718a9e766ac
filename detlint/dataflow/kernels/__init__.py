"""Kernels: those that are timed, those of attention, those written in Python."""
