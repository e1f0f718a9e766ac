"""What code is for, where that says that it trains nothing: tests, packages, a look at devices.

A role is told from what surrounds the code, which is never a proof: it lowers the confidence of
the rules that name it (``Rule.lowered_by``).
"""

from __future__ import annotations

import re
from functools import lru_cache

_TESTING = re.compile(
    r"^[ \t]*(?:import[ \t]+(?:pytest|unittest)\b(?!\.)|from[ \t]+pytest\b"
    r"|from[ \t]+unittest[ \t]+import[ \t]+(?!mock\b))",
    re.MULTILINE,
)
_PACKAGING = re.compile(r"^(?:import|from)[ \t]+(?:setuptools|distutils)\b", re.MULTILINE)
_SETUP = re.compile(r"^[ \t]*(?:setuptools\.)?setup\(", re.MULTILINE)

# What a compiler is given. Of C there are data sets, too, so those say that they build something.
_COMPILED = re.compile(r"\.(?:cuh?|pyx|proto)$")
_PERHAPS_COMPILED = re.compile(r"\.(?:c|cc|cpp|cxx|h|hpp)$")
_COMPILING = re.compile(
    r"cpp_extension|setuptools|distutils|Extension\("
    r"|(?<![a-z])(?:gcc|g\+\+|nvcc|cmake|cxx|compiler)\b",
    re.IGNORECASE,
)
_SHARDS = re.compile(r"(?:model|weights)\S*\*\S*\.(?:bin|safetensors)$")
_DRAWING = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:matplotlib|seaborn|plotly|bokeh|altair)\b", re.MULTILINE
)
_PICTURES = re.compile(r"\.(?:savefig|show|write_image|write_html)\(")
# What may come of data besides pictures, or be done with them.
_LEARNING = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:torch|tensorflow|keras|jax|flax|paddle|sklearn|transformers"
    r"|xgboost|lightgbm|mxnet|mindspore)",
    re.MULTILINE,
)
_SAVING = re.compile(
    r"\.(?:to_(?:csv|json|pickle|parquet|hdf|excel|latex|feather)|dump|savetxt|savez\w*|imwrite)\("
    r"|\bnp\.save\(|\.write(?:_text|lines|rows?)?\("
    r"|open\((?:[^()\n]|\([^()\n]*\))*,[ \t]*(?:mode[ \t]*=[ \t]*)?[\"'][wax]"
)


@lru_cache(maxsize=1)  # of a file, for each of its listings; so are those below
def imports_testing(text: str) -> bool:
    return ("pytest" in text or "unittest" in text) and _TESTING.search(text) is not None


@lru_cache(maxsize=1)
def packs(text: str) -> bool:
    packs = "setup(" in text and ("setuptools" in text or "distutils" in text)
    return packs and bool(_PACKAGING.search(text) and _SETUP.search(text))


@lru_cache(maxsize=1)
def _compiles(text: str) -> bool:
    return _COMPILING.search(text) is not None


def are_sources(texts: list[str], around: str) -> bool:
    """Whether patterns name what a compiler is given."""
    if any(map(_COMPILED.search, texts)):
        return True
    return any(map(_PERHAPS_COMPILED.search, texts)) and _compiles(around)


def are_shards(texts: list[str]) -> bool:
    """``pytorch_model-*.bin``."""
    return any(map(_SHARDS.search, texts))


@lru_cache(maxsize=1)
def draws(text: str) -> bool:
    if _DRAWING.search(text) is None or _LEARNING.search(text) is not None:
        return False
    return _PICTURES.search(text) is not None and _SAVING.search(text) is None
