"""What detlint has to know of Acme's library."""

from detlint_acme.unseeded_split import UnseededSplit

__all__ = ["MODELS", "UnseededSplit"]

# What its functions do, as in [tool.detlint.models].
MODELS = {"acme.list_shards": "sorts"}
