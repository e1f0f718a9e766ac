"""Find what makes two runs of the same training code differ.

PYTEST_DONT_REWRITE: pytest rewrites assertions of packages that bring a plugin, and warns if
they are there already, as under ``python -m guard run -m pytest``.
"""

__version__ = "0.1.0"
