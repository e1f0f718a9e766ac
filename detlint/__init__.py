"""Find what makes two runs of the same training code differ."""

__version__ = "0.1.0"
