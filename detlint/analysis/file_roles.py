"""What code is for, where that says that it trains nothing: tests, packages, a look at devices.

A role is told from what surrounds the code, which is never a proof: it lowers the confidence of
the rules that name it (``Rule.lowered_by``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import Confidence, cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.module import Module
    from detlint.rule import Rule

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
# Where programs are installed, that is.
_INSTALLED = re.compile(
    r"[\\/](?:dev|proc|sys)[\\/]"
    r"|(?:[A-Z]:)?[\\/](?:Program Files|usr[\\/](?:lib|local[\\/](?:cuda|lib)))"
)


def is_tested(module: Module, node: cst.CSTNode) -> bool:
    """Whether code is that of a test, which passes or fails, and keeps nothing."""
    if imports_testing(module.source.text):
        return True
    owner = module.enclosing_class(node)
    bases = [dotted(each.value) or "" for each in owner.bases] if owner is not None else []
    if any(each.endswith("TestCase") for each in bases):
        return True
    above = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return any(each.name.value.startswith("test_") and not each.params.params for each in above)


@lru_cache(maxsize=1)  # of a file, for each of its listings; so are those below
def imports_testing(text: str) -> bool:
    return ("pytest" in text or "unittest" in text) and _TESTING.search(text) is not None


def builds_package(module: Module, _node: cst.CSTNode) -> bool:
    """Whether a file is a ``setup.py``: it lists what to compile and to ship."""
    return packs(module.source.text)


@lru_cache(maxsize=1)
def packs(text: str) -> bool:
    packs = "setup(" in text and ("setuptools" in text or "distutils" in text)
    return packs and bool(_PACKAGING.search(text) and _SETUP.search(text))


def lists_machine(module: Module, listing: cst.Call) -> bool:
    """``glob("/sys/devices/*/cpu*")``: what a machine has, or has installed, and not data."""
    below = map(module.names.value_of, module.tree.descendants(listing))
    texts = (each.evaluated_value for each in below if isinstance(each, cst.SimpleString))
    return any(_INSTALLED.match(str(each)) for each in texts)


def lists_sources(module: Module, listing: cst.Call) -> bool:
    """``glob(os.path.join(folder, "*.cu"))``: files that a compiler is given."""
    clause = module.parent(listing)
    tests = [each.test for each in clause.ifs] if isinstance(clause, cst.CompFor) else []
    parts = [*(each.value for each in listing.args), *tests]
    values = map(module.names.value_of, _below(module, parts))
    texts = [
        str(x.evaluated_value) for x in _below(module, values) if isinstance(x, cst.SimpleString)
    ]
    if any(map(_COMPILED.search, texts)):
        return True
    named = any(map(_PERHAPS_COMPILED.search, texts))
    return named and _compiles(module.source.text)


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


def renumbers_shards(module: Module, listing: cst.Call) -> bool:
    """``glob("pytorch_model-*.bin")``, where an index says which shard holds which tensor."""
    values = map(module.names.value_of, _below(module, [each.value for each in listing.args]))
    texts = [x.evaluated_value for x in _below(module, values) if isinstance(x, cst.SimpleString)]
    shards = any(isinstance(each, str) and _SHARDS.search(each) for each in texts)
    return shards and "weight_map" in module.source.text


def only_draws(module: Module, _node: cst.CSTNode) -> bool:
    """Whether all that comes out of a file is pictures for people to look at."""
    return draws(module.source.text)


@lru_cache(maxsize=1)
def draws(text: str) -> bool:
    if _DRAWING.search(text) is None or _LEARNING.search(text) is not None:
        return False
    return _PICTURES.search(text) is not None and _SAVING.search(text) is None


def _below(module: Module, nodes: Iterable[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    for each in nodes:
        yield from module.tree.descendants(each)


class Role(NamedTuple):
    """What code is for. ``told_by``: a list of the signs, the surest first."""

    told_by: str
    holds: Callable[[Module, cst.Call], bool]


ROLES = {
    "test": Role("an import of pytest or unittest, a base class, a function's name", is_tested),
    "packaging": Role("an import of setuptools and a call of setup()", builds_package),
    "machine": Role("a literal path of the system", lists_machine),
    "compiling": Role("a literal suffix of source files", lists_sources),
    "resharding": Role(
        "a literal pattern of checkpoints, and the key of their index", renumbers_shards
    ),
    "plotting": Role("imports of libraries that draw, and of none that learn", only_draws),
}


def weighed(rule: Rule, node: cst.Call) -> Confidence:
    """How sure a rule is of a finding at a call: only possible in a role that it names."""
    doubted = any(ROLES[each].holds(rule.module, node) for each in rule.lowered_by)
    return Confidence.POSSIBLE if doubted else rule.confidence
