"""FlashAttention in a file: where its functions are called, kept or handed on, and whether that is
told to be deterministic."""

from __future__ import annotations

import ast
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.arguments.settings import keywords
from detlint.dataflow.calls import written
from detlint.dataflow.learning import inference
from detlint.models import attention as rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_MOST = 60  # meanings of a name
# Of which no meaning is seen.
_SILENT = frozenset(("call", "comprehension", "dict", "function", "iter", "list", "text", "tuple"))
_JOINS = frozenset(("phi", "choice", "free", "boolean", "declared"))


class Meaning(NamedTuple):
    """A function of FlashAttention, and which generation that is of."""

    function: str
    generation: int


class Call(NamedTuple):
    """A call of such a function that is not told to be deterministic: ``off`` is the argument
    that says so, if it is there."""

    op: Op
    meaning: Meaning
    off: ast.expr | None


class Kept(NamedTuple):
    """A function that is kept or handed on, to be called by another name."""

    op: Op
    node: ast.AST
    function: str
    how: str


class Flash:
    """Answers about one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._values: Values = unit.values
        self._known: dict[Op, Meaning | None] = {}
        self._calls: dict[Function, dict[tuple[str, bool], list[Op]]] = {}
        self._read: dict[Function, set[str]] = {}
        self._bound = cache(self._find_bound)

    def meaning(self, op: Op) -> Meaning | None:
        """The function of FlashAttention that a value is, in whichever branch; of several, the
        earliest, which takes the fewest arguments before ``deterministic``."""
        if op not in self._known:
            self._known[op] = self._meaning(op)
        return self._known[op]

    def _meaning(self, op: Op) -> Meaning | None:
        names = self._names(op)
        found = [(rows.function(each) or _of_hub(each), each) for each in names or ()]
        if not found or not all(function for function, _ in found):
            return None
        function = min((each for each, _ in found), key=lambda each: rows.FUNCTIONS.get(each, 0))
        return Meaning(function, min(rows.generation(each) for _, each in found))

    def _names(self, op: Op) -> list[str] | None:
        """The qualified names of what a value may be; None if some of it is not seen. A function
        of a kernel of the hub is ``hub:name/of-kernel.function``."""
        names: list[str] = []
        pending, seen = [op], {op}
        for each in pending:  # grows
            if len(pending) > _MOST:
                return None
            behind = self._behind(each)
            if isinstance(behind, str):
                names.append(behind)
            elif behind is None:
                return None
            else:
                pending += [x for x in behind if x not in seen]
                seen.update(behind)
        return names

    def _behind(self, op: Op) -> Sequence[Op] | str | None:
        """The name of a value, or the values that it may be; None if it is not seen."""
        if op.is_none:
            return ()  # until a function imports it
        if op.code in _JOINS and op.args:
            return op.args[1:] if op.code == "choice" else op.args
        known = self._values.qualified(op)
        if known and op.code != "global":
            return known[0] if len(known) == 1 else None
        if op.code == "global":
            return self._of_global(op, known)
        return self._of_attribute(op) if op.code == "attr" else None

    def _of_global(self, op: Op, known: list[str]) -> Sequence[Op] | str | None:
        bound = self._bound(str(op.name))
        if bound is None or bound:
            return bound
        return known[0] if known else None

    def _find_bound(self, name: str) -> list[Op] | None:
        """What a name of the module is bound to; None if that may be anything."""
        bound = list(self._unit.module.bindings.get(name, ()))
        if not bound:
            return []
        if self._unit.defines(name) or any(each.code in _SILENT for each in bound):
            return None
        for function in self._unit.functions_naming(name):
            stored = function.coded("store_global")
            bound += (each.args[0] for each in stored if each.name == name)
        return bound if len(bound) <= _MOST else None

    def _of_attribute(self, op: Op) -> Sequence[Op] | str | None:
        owner = self._values.owner(op.args[0])
        if owner and op.name in rows.TAKEN:
            return self._unit.held(owner, str(op.name)) or None
        hub = self._hub(op.args[0]) if op.name in rows.TAKEN else ""
        return f"hub:{hub}.{op.name}" if hub else None

    def _hub(self, op: Op, depth: int = 0) -> str:
        """The repository of ``get_kernel("kernels-community/flash-attn3")``, or of a module in it:
        also where a function of the file gives it."""
        op = self._values.bound_to(op)
        while op.code in ("attr", "declared") and op.args:
            op = self._values.bound_to(op.args[0])
        if op.code != "call" or depth > 2:
            return ""
        if rows.HUB in self._values.called(op):
            repository = op.given("repo_id", 0)
            name = self._values.constant(repository) if repository is not None else None
            return name if isinstance(name, str) and rows.is_hub_kernel(name) else ""
        function = self._values.callee(op)
        given = function.returned if function is not None else ()
        return next(filter(None, (self._hub(each, depth + 1) for each in given)), "")

    # Calls

    def calls(self, functions: Sequence[Function]) -> Iterator[Call]:
        """The calls in some functions that are not told to be deterministic."""
        for function in functions:
            for op in function.ops:
                meaning = self.meaning(op.args[0]) if op.code == "call" else None
                if meaning is not None:
                    yield from self._untold(op, meaning)

    def _untold(self, op: Op, meaning: Meaning) -> Iterator[Call]:
        given = self.told(op, meaning.function)
        if given is None:
            if self._leaves_it_out(op, meaning.function):
                yield Call(op, meaning, None)
        elif self._values.constant(given) is False:
            yield Call(op, meaning, given.node if isinstance(given.node, ast.expr) else None)

    def told(self, op: Op, function: str) -> Op | None:
        """What a call gives for ``deterministic``; by its place, only a backward's ``False``.

        That follows the window, a tuple, in a place that differs between releases.
        """
        named = (each.value for each in keywords(self._values, op) if each.name == "deterministic")
        found = next(named, None)
        if found is not None or function not in rows.BACKWARDS or op.unpacks:
            return found
        given = [value for name, value in op.arguments() if name is None]
        windows = [index for index, each in enumerate(given) if each.code == "tuple"]
        after = given[windows[-1] :] if windows else []
        return next((each for each in after if self._values.constant(each) is False), None)

    def _leaves_it_out(self, op: Op, function: str) -> bool:
        if any(name == "**" and not self._is_seen(value) for name, value in op.arguments()):
            return False
        placed = [name for name, _ in op.arguments() if name in (None, "*")]
        return "*" not in placed and len(placed) <= rows.FUNCTIONS.get(function, -1)

    def _is_seen(self, op: Op) -> bool:
        """Whether all that a dict holds is written out."""
        if op.code == "dict":
            return len(op.entries) == len(op.args)
        return "builtins.dict" in self._values.called(op) and None not in op.name

    # Kept

    def kept(self, functions: Sequence[Function]) -> Iterator[Kept]:
        """The functions that some functions keep or hand on, of which no call is told."""
        for function in functions:
            targets: set[str] = set()
            for each in _keeps(function):
                for value, place in _chosen(each.value, each.node):
                    meaning = self.meaning(value) if value.code != "call" else None
                    name = meaning.function if meaning is not None else "_"
                    if name not in rows.FUNCTIONS or not name[0].islower():
                        continue
                    if ast.unparse(place) not in targets and not self._is_told(each):
                        yield Kept(each.op, place, name, each.how)
                    targets.add(each.target)  # what it is bound to is told once

    def _is_told(self, keeps: _Keeps) -> bool:
        """Whether calls of what keeps it are told to be deterministic, may be, or are reported
        themselves."""
        if keeps.op.code == "call" and self.told(keeps.op, "") is not None:
            return True
        if keeps.target:
            calls = list(self._calls_of(keeps.target))
            if calls:
                return self._are_settled(calls)
            own = "." in keeps.target
            if keeps.op.code != "call" and not (own and self._is_read(keeps.target)):
                return True  # a name that it never calls may be for anything
        return self._tells_any

    @cached_property
    def _tells_any(self) -> bool:
        """Whether a call in the file gives ``deterministic``."""
        return any(
            self.told(each, "") is not None for each in self._unit.ops_naming("deterministic")
        )

    def _are_settled(self, calls: Sequence[Op]) -> bool:
        return any(
            self.meaning(each.args[0]) is not None
            or each.unpacks
            or self.told(each, "") is not None
            for each in calls
        ) or all(inference.has_no_backward(each) or inference.only_answers(each) for each in calls)

    def _calls_of(self, target: str) -> Iterator[Op]:
        """The calls in the file of an attribute or a variable."""
        name, own = target.rpartition(".")[2], "." in target
        for outer in self._unit.functions_naming(name):
            yield from self._called(outer).get((name, own), ())

    def _called(self, outer: Function) -> dict[tuple[str, bool], list[Op]]:
        """The calls in a function, by the name of what is called, and whether that is an
        attribute."""
        if outer not in self._calls:
            found = self._calls[outer] = {}
            for op in outer.all_coded("call"):
                called = op.node.func if isinstance(op.node, ast.Call) else None
                key = written(op), isinstance(called, ast.Attribute)
                found.setdefault(key, []).append(op)
        return self._calls[outer]

    def _is_read(self, target: str) -> bool:
        name = target.rpartition(".")[2]
        return any(name in self._attributes(x) for x in self._unit.functions_naming(name))

    def _attributes(self, outer: Function) -> set[str]:
        """The attributes that a function reads."""
        if outer not in self._read:
            nodes = ast.walk(outer.node) if outer.node is not None else ()
            loads = (x for x in nodes if isinstance(x, ast.Attribute))
            self._read[outer] = {x.attr for x in loads if isinstance(x.ctx, ast.Load)}
        return self._read[outer]


class _Keeps(NamedTuple):
    op: Op
    value: Op
    node: ast.expr
    target: str  # what it is assigned to
    how: str


def _of_hub(name: str) -> str:
    return name.rpartition(".")[2] if name.startswith("hub:") else ""


def _keeps(function: Function) -> Iterator[_Keeps]:
    """The values that a function keeps or hands on."""
    for op in function.ops:
        node = op.node
        if op.code in ("store_attr", "store_global") and isinstance(node, ast.Assign):
            if op.args[-1].code != "dict":
                target = ast.unparse(node.targets[0])
                yield _Keeps(op, op.args[-1], node.value, target, f"kept as {target}")
        elif op.code == "entry" and isinstance(node, ast.expr):
            yield _Keeps(op, op.args[1], node, "", "kept in a table")
        elif op.code == "return" and isinstance(node, ast.Return) and node.value is not None:
            yield _Keeps(op, op.args[0], node.value, "", "returned")
        elif op.code == "call" and _hands_on(op):
            yield _Keeps(op, op.args[1], op.given_nodes[0], _assigned_to(op), "handed on")
    yield from _variables(function)


def _hands_on(op: Op) -> bool:
    if not op.args[1:] or op.name[0] == "*":
        return False
    if not rows.APPLIES.isdisjoint(op.called):
        return True
    word = inference.last_word(op)
    return word[:1].isupper() and word.endswith(rows.SHARES)


def _assigned_to(call: Op) -> str:
    for use in call.uses:
        if use.code in ("store_attr", "store_global") and isinstance(use.node, ast.Assign):
            return ast.unparse(use.node.targets[0])
    return ""


def _variables(function: Function) -> Iterator[_Keeps]:
    """What the variables of a function are bound to."""
    if function.node is None or isinstance(function.node, ast.ClassDef):
        return
    for node in ast.walk(function.node):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name):
            continue
        for each in function.bindings.get(target.id, ()):
            if each.code != "phi" and _is_of(each, node.value):
                yield _Keeps(each, each, node.value, target.id, f"kept as {target.id}")


def _is_of(op: Op, node: ast.expr) -> bool:
    """Whether an expression stands for a value: a name has one for all its places."""
    if isinstance(node, ast.Name):
        return node.id == op.name or node.id in op.function.names_of(op)
    return op.node is node


def _chosen(value: Op, node: ast.expr) -> Iterator[tuple[Op, ast.expr]]:
    """Both sides of a choice, each with where it stands."""
    if value.code == "choice" and isinstance(node, ast.IfExp):
        yield from _chosen(value.args[1], node.body)
        yield from _chosen(value.args[2], node.orelse)
    elif value.code == "boolean" and isinstance(node, ast.BoolOp):
        yield from _chosen(value.args[-1], node.values[-1])
    else:
        yield value, node
