"""How code says "seed": names that mean one, calls that take one, fallbacks for a missing one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.lexer import comments
from detlint.models.names import words_of
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# What may follow the word in the name of a seed: `seed_value`, but not `seed_file`.
_TAILS = frozenset(
    [
        "value",
        "val",
        "base",
        "int",
        "num",
        "number",
        "used",
        "torch",
        "np",
        "numpy",
        "python",
        "sequence",
        "seq",
    ]
)
_LABELS = frozenset(
    [
        "port",
        "ports",
        "name",
        "names",
        "id",
        "ids",
        "uid",
        "uuid",
        "token",
        "path",
        "file",
        "filename",
        "dir",
        "directory",
        "folder",
        "session",
        "suffix",
        "prefix",
        "tag",
        "key",
        "host",
        "address",
        "url",
    ]
)
# `hash_seed`: of a hash function, not of a generator.
_HASHING = re.compile(r"(?:hash|salt|crypt)[a-z]*_seed|(?:[Hh]ash|[Ss]alt|[Cc]rypt)[a-z]*Seed")
_GENERATOR = re.compile(
    r"(?:^|[._])(?:\w*seeds?|rng|prng|gen|generator|random_state|rs)$", re.IGNORECASE
)
# Constructors of generators, by where their name is looked up, with the parameter of their seed.
_BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
SEED_PARAMETER = {
    "random.Random": "x",
    "keras.random.SeedGenerator": "seed",
    "tensorflow.keras.random.SeedGenerator": "seed",
    "tf_keras.random.SeedGenerator": "seed",
    **{
        f"{library}.random.{name}": "seed"
        for library in ("numpy", "cupy")
        for name in ("default_rng", "RandomState", *_BITS)
    },
    **{f"cupy.random.{name}": "seed" for name in ("XORWOW", "MRG32k3a", "Philox4x3210")},
    "numpy.random.SeedSequence": "entropy",
    "numpy.random.mtrand.RandomState": "seed",
}
# Seeding anywhere in a file, other than where it defines a helper that does.
_HELPERS = (
    r"(?<!def )\b(?:(?:set|fix|setup|init|initiali[sz]e)_(?:\w+_)?seeds?|seed_everything|seed_all"
    r"|enable_full_determinism|set_determinism|guard\.enable)"
)
_LIBRARY_CALLS = {
    "random": r"(?<![\w.])random\.seed",
    "numpy": r"\b(?:np|numpy)\.random\.seed",
    "torch": r"\bmanual_seed(?:_all)?",
}


class Fallback(NamedTuple):
    """Code that stands in for a missing value. ``optional``: callers may leave it out."""

    subject: str
    optional: bool

    def __str__(self) -> str:
        """Who falls back, to begin a message with."""
        who = "callers who pass no `{}` get" if self.optional else "a missing `{}` is replaced by"
        return who.format(self.subject)


def means_seed(name: str) -> bool:
    """Whether a name is that of a seed: ``data_seed``, ``manualSeed``, ``random_state``."""
    words = words_of(name)
    while len(words) > 1 and (words[-1] in _TAILS or words[-1].isdigit() or len(words[-1]) == 1):
        words.pop()
    if words[-2:] == ["random", "state"] or words[-1:] == ["randomstate"]:
        return True
    seeds = bool(words) and words[-1].removesuffix("s").endswith("seed")
    return seeds and not _HASHING.search(name)


def means_seeding(name: str) -> bool:
    """Whether a function of this name takes a seed: ``set_seed``, ``seed_everything``."""
    words = set(words_of(name))
    seeds = bool(words & {"seed", "seeds", "reseed"}) and not words & _LABELS
    return seeds and not _HASHING.search(name)


def means_label(name: str) -> bool:
    """Whether a name is that of a run, a file or a port."""
    words = words_of(name)
    return bool(words) and words[-1] in _LABELS


def uncommented(text: str) -> str:
    """Code without its comments, for facts that may lie outside the parsed region."""
    end, parts = 0, []
    for start, stop in comments(text):
        parts.append(text[end:start])
        end = stop
    return "".join([*parts, text[end:]])


def seeds_elsewhere(text: str, library: str, own: set[str], *, dotted: bool) -> bool:
    """Whether code seeds a library's global generator with something that names none of ``own``.

    With ``dotted``, ``config.seed`` is not ``seed``.
    """
    calls = rf"(?:{_HELPERS}|{_LIBRARY_CALLS[library]})\(([^)\n]*)"
    for match in re.finditer(calls, text):
        names = set(re.findall(r"[\w.]+(?![\w.]|\s*=)", match[1]))
        if not dotted:
            names |= {name.rpartition(".")[2] for name in names}
        if names and not names & own:
            return True
    return False


def target_name(module: Module, target: cst.CSTNode) -> str:
    """``seed`` for ``seed``, ``args.seed`` and ``config["seed"]``; empty for anything else."""
    if isinstance(target, cst.Attribute):
        return target.attr.value
    if isinstance(target, cst.Subscript) and len(target.slice) == 1:
        index = target.slice[0].slice
        key = module.literal(index.value) if isinstance(index, cst.Index) else None
        return key if isinstance(key, str) else ""
    return target.value if isinstance(target, cst.Name) else ""


def uses(module: Module, function: cst.FunctionDef, name: str) -> list[cst.Name]:
    """Where a function's body reads a local."""
    return [
        node
        for node in module.tree.descendants(function.body)
        if isinstance(node, cst.Name) and node.value == name and is_read(module, node)
    ]


def is_read(module: Module, name: cst.Name) -> bool:
    """Whether a mention of a name reads a variable."""
    parent = module.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.value is name
    if isinstance(parent, cst.Arg):
        return parent.keyword is not name
    return not isinstance(parent, (cst.AssignTarget, cst.NameItem)) and not (
        isinstance(parent, (cst.AnnAssign, cst.NamedExpr)) and parent.target is name
    )


def is_only_written(module: Module, target: cst.CSTNode) -> bool:
    """Whether a local goes into texts only, as the name of a run or of a file."""
    function = module.enclosing_function(target)
    if not isinstance(target, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    found = uses(module, function, target.value)
    return bool(found) and all(_is_written(module, module.parent(use)) for use in found)


def _is_written(module: Module, parent: cst.CSTNode | None) -> bool:
    if isinstance(parent, cst.FormattedStringExpression):
        return True
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    return module.called(call) in {"builtins.str", "builtins.print", "os.path.join"}


def fallback(module: Module, node: cst.CSTNode) -> Fallback | None:
    """What is missing when this expression is used: ``x`` in ``x or node``."""
    child = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return None
        subject = _missing(module, parent, child)
        if subject is not None:
            text = subject if isinstance(subject, str) else module.tree.text(subject)
            return Fallback(text, _optional(module, subject))
        child = parent
    return None


def _missing(module: Module, parent: cst.CSTNode, child: cst.CSTNode) -> cst.CSTNode | str | None:
    if isinstance(parent, cst.BooleanOperation):
        right = isinstance(parent.operator, cst.Or) and child is parent.right
        return parent.left if right and _is_place(parent.left) else None
    if isinstance(parent, (cst.If, cst.IfExp)) and child is not parent.test:
        return _untrue(parent.test, holds=child is parent.body)
    if isinstance(parent, cst.Call):
        return _default_of(module, parent, child)
    return None


def _default_of(module: Module, call: cst.Call, child: cst.CSTNode) -> str | None:
    """``seed`` for the default in ``options.get("seed", default)``, ``getattr(o, "seed", d)``."""
    last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    if not isinstance(last, cst.Name) or last.value not in {"get", "pop", "setdefault", "getattr"}:
        return None
    if len(call.args) < 2 or child is not call.args[-1]:
        return None
    key = module.literal(call.args[-2].value)
    return key if isinstance(key, str) else None


def _untrue(test: cst.BaseExpression, *, holds: bool) -> cst.CSTNode | None:
    """What is None or empty where a test holds, or does not."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _untrue(test.expression, holds=not holds)
    if isinstance(test, cst.BooleanOperation):
        if isinstance(test.operator, cst.And) is not holds:
            return None
        return _untrue(test.left, holds=holds) or _untrue(test.right, holds=holds)
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        return test.left if _is_place(test.left) and _says_none(test, holds=holds) else None
    if not holds and _is_place(test):
        name = test.attr.value if isinstance(test, cst.Attribute) else getattr(test, "value", "")
        return test if isinstance(name, str) and _GENERATOR.search(name) else None
    return None


def _says_none(test: cst.Comparison, *, holds: bool) -> bool:
    """``x is None``; ``x == -1`` and ``x < 0``, the usual signs for "no seed"."""
    operator, value = test.comparisons[0].operator, test.comparisons[0].comparator
    none = isinstance(value, cst.Name) and value.value == "None"
    if isinstance(operator, (cst.Is, cst.Equal)):
        return holds and (none or isinstance(value, cst.UnaryOperation))
    if isinstance(operator, (cst.IsNot, cst.NotEqual)):
        return not holds and (none or isinstance(value, cst.UnaryOperation))
    zero = isinstance(value, cst.Integer) and value.value == "0"
    if isinstance(operator, (cst.LessThan, cst.LessThanEqual)):
        return holds and zero
    return isinstance(operator, (cst.GreaterThan, cst.GreaterThanEqual)) and not holds and zero


def _is_place(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call))


def _optional(module: Module, subject: cst.CSTNode | str) -> bool:
    if not isinstance(subject, cst.Name):
        return isinstance(subject, str)
    return any(each.kind == "parameter" for each in module.names.visible(subject))
