"""Make a training run deterministic, and say what stands in the way.

A placeholder until the runtime module lands: it exports nothing yet.
"""
