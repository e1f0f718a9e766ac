"""Ranks that train together: the same parameters, bit for bit, and different data."""
