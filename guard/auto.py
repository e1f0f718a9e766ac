"""``import guard.auto`` switches guard on, as ``[tool.guard]`` and ``GUARD_*`` variables say.

Import it first: what is imported before may have read what guard sets.
"""

from guard.setup.activation import enable

enable()
