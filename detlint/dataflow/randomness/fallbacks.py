"""Values that stand in for one that is missing: ``rng or RandomState()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import last_of, word_of
from detlint.dataflow.path_conditions import Paths, passed
from detlint.dataflow.slices import ahead
from detlint.models.names import is_generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op, Region

_WITH_DEFAULT = frozenset(("get", "getattr", "pop", "setdefault"))
_PLACES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_CONVERTING = frozenset(("binary", "call", "unary"))
_NAMED = frozenset(("attr", "global", "import"))  # what may be a function
_MOST = 60  # conversions around a value


class Fallback(NamedTuple):
    """What is missing where a value is used. ``optional``: callers may leave it out."""

    subject: str
    optional: bool

    def __str__(self) -> str:
        """Who falls back, to begin a message with."""
        who = "callers who pass no `{}` get" if self.optional else "a missing `{}` is replaced by"
        return who.format(self.subject)


def fallback(op: Op) -> Fallback | None:
    """What is missing when a value is computed: ``x`` in ``x or value``."""
    key = next(filter(None, map(_default_of, _around(op))), "")
    if key:
        return Fallback(key, optional=True)
    param = _with_default(op)
    if param is not None:
        return Fallback(param.name[1], optional=True)
    for region in op.region.around():
        subject = _missing(region)
        if subject is not None:
            return Fallback(op.function.unit.text_of(subject), _is_left_out(subject, op))
    return None


def with_kept(functions: Iterable[Function]) -> dict[Function, None]:
    """Functions, and the methods that name what some of them keep of a parameter with a default:
    they may call that."""
    found = dict.fromkeys(functions)
    for function in list(found):
        for store in function.all_coded("store_attr"):
            owner, given = store.args
            default = given.args[0] if given.code == "param" and given.args else None
            if owner.is_self and default is not None and default.code in _NAMED:
                naming = function.unit.methods_naming(function.class_name, str(store.name))
                found |= dict.fromkeys(naming)
    return found


def _is_left_out(subject: ast.expr, op: Op) -> bool:
    """Whether callers get there who leave a parameter out, by what it is then."""
    param = op.function.params.get(subject.id) if isinstance(subject, ast.Name) else None
    if param is None or not param.args:
        return param is not None
    paths = Paths(op.function, lambda each: passed({}, param) if each is param else ...)
    return paths.may_run(op)


def _with_default(op: Op) -> Op | None:
    """The parameter of which a value is the default, or whose default a call calls."""
    found = next((each for each in op.uses if each.code == "param" and op in each.args), None)
    return found or (op.values.default_called(op) if op.code == "call" else None)


def _missing(region: Region) -> ast.expr | None:
    """What is None or empty where code runs, as the test before it says."""
    head = region.head
    if region.kind not in ("if", "else") or head is None or not isinstance(head.node, ast.expr):
        return None
    if head.name == "Or":
        return head.node if isinstance(head.node, _PLACES) else None
    return _untrue(head.node, holds=region.kind == "if") if head.name in ("", "And") else None


def _around(op: Op) -> Iterator[tuple[Op, Op]]:
    """What takes a value, and what converts it before."""
    for value in ahead([op], _CONVERTING, _MOST):
        yield from ((use, value) for use in value.uses if use.code in _CONVERTING)


def _default_of(pair: tuple[Op, Op]) -> str:
    """``seed`` for the default in ``options.get("seed", default)``, ``getattr(o, "seed", d)``."""
    call, value = pair
    if call.code != "call" or len(call.args) < 3 or call.args[-1] is not value:
        return ""
    return call.args[-2].text if word_of(call) in _WITH_DEFAULT else ""


def _untrue(test: ast.expr, *, holds: bool) -> ast.expr | None:
    """What is None or empty where a test holds, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _untrue(test.operand, holds=not holds)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is not holds:
            return None
        found = (_untrue(each, holds=holds) for each in test.values)
        return next(filter(None, found), None)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        told = isinstance(test.left, _PLACES) and _says_none(test, holds=holds)
        return test.left if told else None
    return test if not holds and is_generator(last_of(test)) else None


def _says_none(test: ast.Compare, *, holds: bool) -> bool:
    """``x is None``; ``x == -1`` and ``x < 0``, the usual signs for "no seed"."""
    operator, value = test.ops[0], test.comparators[0]
    none = isinstance(value, ast.UnaryOp) or (
        isinstance(value, ast.Constant) and value.value is None
    )
    if isinstance(operator, (ast.Is, ast.Eq)):
        return holds and none
    if isinstance(operator, (ast.IsNot, ast.NotEq)):
        return not holds and none
    zero = isinstance(value, ast.Constant) and value.value == 0
    if isinstance(operator, (ast.Lt, ast.LtE)):
        return holds and zero
    return isinstance(operator, (ast.Gt, ast.GtE)) and not holds and zero
