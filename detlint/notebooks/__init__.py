"""Jupyter notebooks, read as one Python program: their cells in order, magics masked."""
