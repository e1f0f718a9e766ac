"""What a file's statements read, bind, and may change in place: read from its text, once.

A path is how a value is named: ``("self", "norms")``, ``("group", "[lr]")``. Only such paths are
looked at while the program runs; what is computed on the way has no name and is seen by what it
goes into. A part has other names: ``for part in self.parts: part += x`` changes ``self.parts``.
"""

from __future__ import annotations

import ast
import sys
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard.trace.statements import Call

Path = tuple[str, ...]

_LIBRARIES = sys.stdlib_module_names | {"torch", "psutil"}
_LONGEST = 4  # parts of a path: what follows is seen by what the path leads to


def path_of(node: ast.AST | None) -> Path | None:
    """The path that an expression is, or None."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            parts.append(f"[{node.slice.value!s}]")
            node = node.value
        elif isinstance(node, ast.Name):
            found = (node.id, *reversed(parts))
            return found[:_LONGEST]
        else:
            return None


def imported(tree: ast.AST) -> dict[str, str]:
    """Dotted names of what a file imports, by the names it has there."""
    found = {"np": "numpy"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


def in_full(name: str, names: dict[str, str]) -> str:
    """A dotted name, with what is imported in the place of its first part."""
    start, dot, rest = name.partition(".")
    return f"{names.get(start, start)}{dot}{rest}"


def _of_libraries(tree: ast.AST) -> dict[str, str]:
    """The same of Python's own modules: what others hold may be objects of the program's."""
    named = imported(tree).items()
    return {name: full for name, full in named if full.partition(".")[0] in _LIBRARIES}


def _whole(node: ast.expr) -> ast.expr:
    """What a subscript is taken of, through further subscripts."""
    while isinstance(node, ast.Subscript) and path_of(node) is None:
        node = node.value
    return node


def inner_path(node: ast.expr) -> Path | None:
    """The path of what a subscript is taken of, through further subscripts."""
    return path_of(_whole(node))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SAME_ITEMS = {"list", "tuple", "reversed", "sorted", "iter"}
_CHANGING = {
    *("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "put"),
    *("pop", "popleft", "popitem", "clear", "remove", "discard", "sort", "reverse", "put_nowait"),
}
CHANGING_FIRST = {  # functions that change what they are given first
    *("heappush", "heappop", "heapify", "heapreplace", "heappushpop", "shuffle"),
    *("insort", "insort_left", "insort_right"),
}


def changed(tree: ast.Module) -> dict[ast.AST, tuple[Path, ...]]:
    """By statement, the paths of which it changes a part under another name of that part.

    Only what surely changes something in place counts: to look at a path each time that a part of
    it is read would cost more than it tells.
    """
    found: dict[ast.AST, tuple[Path, ...]] = {}
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.Module, *_FUNCTIONS)):
            continue
        own = list(_own(scope))
        held: dict[str, dict[Path, None]] = {}
        for node in own:
            for name, path in _named(node):
                held.setdefault(name, {})[path] = None
        for node in own if held else ():
            paths = [path for name in _changes(node) for path in held.get(name, ())]
            if paths:
                found[node] = tuple(dict.fromkeys(paths))
    return found


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The statements of a function, without those of functions within it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.expr)):
            yield from _own(node)


def _named(node: ast.AST) -> Iterator[tuple[str, Path]]:
    """Names that a statement gives to parts, and the paths of what these are parts of."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield from _items(node.target, node.iter)
    elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Attribute, ast.Subscript)):
        path = inner_path(node.value)
        names = (each.id for each in node.targets if isinstance(each, ast.Name))
        yield from ((name, path) for name in names if path is not None)


def _items(target: ast.expr, source: ast.expr) -> Iterator[tuple[str, Path]]:
    """Names of the items that a loop takes."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if not isinstance(source, ast.Call):
        path = path_of(source)
        names = (each.id for each in (target, *parts) if isinstance(each, ast.Name))
        yield from ((name, path) for name in names if path is not None)
        return
    name, called = _dotted(source.func).rpartition(".")[2], source.func
    held = called.value if isinstance(called, ast.Attribute) else None
    if name == "zip":
        for part, each in zip(parts, source.args, strict=False):
            yield from _items(part, each)
    elif name in _SAME_ITEMS and source.args:
        yield from _items(target, source.args[0])
    elif name == "values" and held is not None:
        yield from _items(target, held)
    elif len(parts) > 1 and name == "enumerate" and source.args:
        yield from _items(parts[1], source.args[0])
    elif len(parts) > 1 and name == "items" and held is not None:
        yield from _items(parts[1], held)


def _changes(node: ast.AST) -> Iterator[str]:
    """Names of what a statement surely changes in place."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.AugAssign):
        parts = [node.target]
    elif isinstance(node, ast.Assign):
        parts = [each for each in node.targets if isinstance(each, (ast.Attribute, ast.Subscript))]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and is_changing(called.attr):
            parts = [called.value]
        elif _dotted(called).rpartition(".")[2] in CHANGING_FIRST:
            parts = node.value.args[:1]
    paths = map(inner_path, parts)
    yield from (path[0] for path in paths if path is not None)


def is_changing(method: str) -> bool:
    """Whether a method changes its object: torch's in place end with an underscore."""
    return method in _CHANGING or (method.endswith("_") and not method.endswith("__"))


_BLOCKS = (
    ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match,
)  # fmt: skip
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))  # try: … except*, from Python 3.11 on
_INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_RESTORING = {"load_state_dict", "load_weights", "vector_to_parameters"}
_NAMING = {"register_buffer", "register_parameter", "setattr", "add_module"}


@dataclass(frozen=True, eq=False)
class Statement:
    """A simple statement, or the head of a block."""

    line: int  # its first
    kind: str  # the name of its class in ``ast``
    reads: tuple[Path, ...] = ()  # paths whose values it takes
    writes: tuple[Path, ...] = ()  # paths that it binds
    # paths of what it may change in place: what it calls methods of, what it passes on
    touches: tuple[Path, ...] = ()
    calls: tuple[str, ...] = ()  # dotted names of what it calls, in full for Python's own modules
    text: str = ""
    last: int = 0  # its last line; of a block, that of its head
    known: tuple[int, ...] = ()  # of each path that it touches, its place among those that it reads
    loops: tuple[int, ...] = ()  # first lines of the loops around it, the outermost first
    lines: tuple[int, ...] = ()  # of each call
    hands: tuple[str, ...] = ()  # the same names of what it hands on, or asks for by ``getattr``
    goes_through: int = 0  # the line of what its first comprehension goes through, or 0

    @property
    def gives(self) -> tuple[Path, ...]:
        """Paths whose values are looked at when it has run."""
        return self.writes + self.touches

    @property
    def restores(self) -> bool:
        """Whether it puts parameters into a module, which stays the same object."""
        return any(each.rpartition(".")[2] in _RESTORING for each in self.calls)


def statements(text: str | bytes) -> dict[int, Statement]:
    """Statements by each of their lines; of a block, by those of its head. Raises SyntaxError."""
    return _statements(ast.parse(text))


def _lambdas(tree: ast.Module) -> dict[tuple[int, tuple[str, ...]], Statement]:
    """Of lambdas, what each does, by its line and its arguments: the first of those that have both
    in common."""
    found: dict[tuple[int, tuple[str, ...]], Statement] = {}
    names = _of_libraries(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            each = _of_heads(node, [node.body], names)
            last = node.end_lineno or node.lineno
            given = tuple(argument.arg for argument in _arguments(node.args))
            found.setdefault((node.lineno, given), replace(each, line=node.lineno, last=last))
    return found


def _arguments(given: ast.arguments) -> list[ast.arg]:
    """In the order in which a frame has them."""
    rest = filter(None, (given.vararg, given.kwarg))
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]


def _statements(tree: ast.Module) -> dict[int, Statement]:
    found: dict[int, Statement] = {}
    parts, loops, names = changed(tree), _loops(tree), _of_libraries(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or isinstance(node, _TRIES):
            continue
        if isinstance(node, ast.Match):
            for case in node.cases:  # it compares what is matched, and binds names
                heads = [node.subject, case.pattern, *filter(None, [case.guard])]
                line, last = case.pattern.lineno, case.body[0].lineno - 1
                each = replace(_of_heads(case, heads, names), loops=loops.get(node, ()))
                _add(found, replace(each, line=line, last=max(line, last)))
        last = node.end_lineno or node.lineno
        if isinstance(node, _BLOCKS):
            body = node.cases[0].pattern if isinstance(node, ast.Match) else node.body[0]
            last = max(node.lineno, body.lineno - 1)
        each = _of_heads(node, list(_heads(node)), names, parts.get(node, ()))
        _add(found, replace(each, line=node.lineno, last=last, loops=loops.get(node, ())))
    return found


def _loops(tree: ast.Module) -> dict[ast.AST, tuple[int, ...]]:
    """By statement, the lines of the loops whose rounds it is part of."""
    found: dict[ast.AST, tuple[int, ...]] = {}
    for loop in ast.walk(tree):
        if isinstance(loop, LOOPS):
            around = (*found.get(loop, ()), loop.lineno)
            inner = (each for statement in loop.body for each in ast.walk(statement))
            found |= dict.fromkeys((e for e in inner if isinstance(e, ast.stmt)), around)
    return found


def _add(found: dict[int, Statement], each: Statement) -> None:
    found.update(dict.fromkeys(range(each.line, each.last + 1), each))


class Files:
    """The statements of files, by their lines; none of a file that cannot be read.

    called  by file, the names of functions that are called under others, by the line and that name
    """

    def __init__(self, called: Mapping[str, Mapping[tuple[int, str], str]] | None = None) -> None:
        self._called = called or {}
        self._known: dict[str, dict[int, Statement]] = {}
        self._lambdas: dict[str, dict[tuple[int, tuple[str, ...]], Statement]] = {}

    def of(self, file: str) -> dict[int, Statement]:
        """All of a file, but for its lambdas."""
        if file not in self._known:
            self._known[file], self._lambdas[file] = {}, {}
            with suppress(OSError, SyntaxError, ValueError), open(file, "rb") as opened:
                tree = ast.parse(opened.read())
                self._known[file], self._lambdas[file] = _statements(tree), _lambdas(tree)
            if called := self._called.get(file):
                pairs = self._known[file].items()
                self._known[file] = {line: _calling(each, called) for line, each in pairs}
        return self._known[file]

    def of_lambda(self, file: str, line: int, given: tuple[str, ...]) -> dict[int, Statement]:
        """What the lambda of a line does that has these arguments, by its lines."""
        self.of(file)
        found = self._lambdas[file].get((line, given))
        lines = range(found.line, found.last + 1) if found is not None else ()
        return {each: found for each in lines if found is not None}

    def statement(self, call: Call, line: int) -> Statement | None:
        """The one that a line of a call is of."""
        if call.is_lambda:
            return self.of_lambda(call.file, call.first_line, call.names).get(line)
        return self.of(call.file).get(line)


def _calling(statement: Statement, called: Mapping[tuple[int, str], str]) -> Statement:
    """A statement with the names of the functions that it calls under others."""
    pairs = list(zip(statement.lines, statement.calls, strict=True))
    if called.keys().isdisjoint(pairs):
        return statement
    return replace(statement, calls=tuple(called.get(each, each[1]) for each in pairs))


def _of_heads(
    node: ast.stmt | ast.match_case | ast.Lambda,
    heads: list[ast.AST],
    names: dict[str, str],
    parts: tuple[Path, ...] = (),
) -> Statement:
    """What it does; ``parts``: of what it changes a part, under another name of that."""
    found = _Gathered(names)
    for each in heads:
        found.gather(each, frozenset())
    if isinstance(node, ast.AugAssign):
        found.reads |= dict.fromkeys(found.writes)
    found.touches |= dict.fromkeys(parts)
    touched = tuple(path for path in found.touches if path not in found.writes)
    found.reads |= dict.fromkeys(touched)
    order = list(found.reads)
    return Statement(
        0,
        type(node).__name__,
        tuple(order),
        tuple(found.writes),
        touched,
        tuple(found.calls),
        _text(node),
        known=tuple(order.index(each) for each in touched),
        lines=tuple(found.lines),
        hands=tuple(found.hands),
        goes_through=found.goes_through,
    )


def _text(node: ast.stmt | ast.match_case | ast.Lambda) -> str:
    """Its first line; of a block, its head."""
    short = copy(node)
    if isinstance(short, ast.Lambda):
        return ast.unparse(short).partition("\n")[0]
    for name in ("body", "orelse", "decorator_list"):
        if hasattr(short, name):
            setattr(short, name, [ast.Pass()] if name == "body" else [])
    if isinstance(short, ast.Match):
        short.cases = []
    return ast.unparse(short).strip().partition("\n")[0]


# The parts of a block, and of what binds names alone, that run when it does.
_HEADS: dict[type[ast.AST], tuple[str, ...]] = {
    **dict.fromkeys((ast.For, ast.AsyncFor), ("target", "iter")),
    **dict.fromkeys((ast.While, ast.If), ("test",)),
    **dict.fromkeys((ast.With, ast.AsyncWith), ("items",)),
    **dict.fromkeys(_FUNCTIONS, ("decorator_list", "args.defaults", "args.kw_defaults")),
    ast.Match: ("subject",),
    ast.ClassDef: ("decorator_list",),
    **dict.fromkeys((ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal), ()),
}


def _heads(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that run when it does."""
    names = _HEADS.get(type(node))
    for name in names or ():
        held = attrgetter(name)(node)
        yield from filter(None, held if isinstance(held, list) else [held])
    if names is None:
        yield node


class _Gathered:
    """What the expressions of a statement do; dictionaries for their order."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self.reads: dict[Path, None] = {}
        self.writes: dict[Path, None] = {}
        self.touches: dict[Path, None] = {}
        self.calls: list[str] = []
        self.lines: list[int] = []
        self.hands: list[str] = []
        self.goes_through = 0

    def gather(self, node: ast.AST, bound: frozenset[str]) -> None:
        """Take in an expression or a simple statement.

        bound  names of comprehensions and lambdas around, which mean nothing outside
        """
        path = path_of(node)
        if path is not None:
            if path[0] not in bound:
                stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
                (self.writes if stored else self.reads)[path] = None
            return
        if isinstance(node, ast.Call):
            self._gather_call(node, bound)
            return
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            inner = inner_path(node.value)
            if inner is not None and inner[0] not in bound:
                self.writes[inner] = None
                self.reads[inner] = None
                self.gather(node.slice, bound)
                return
        if isinstance(node, ast.pattern):
            name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
            self.writes |= {(name,): None} if name else {}
        if isinstance(node, _INNER):
            bound |= _bound_in(node)
            if not isinstance(node, ast.Lambda):
                self.goes_through = self.goes_through or node.generators[0].iter.lineno
        for child in ast.iter_child_nodes(node):
            self.gather(child, bound)

    def _gather_call(self, node: ast.Call, bound: frozenset[str]) -> None:
        name = _dotted(node.func)
        self.calls.append(in_full(name, self._names))
        self.lines.append(node.func.end_lineno or node.lineno)
        if isinstance(node.func, ast.Attribute):
            held = node.func.value
            if path_of(held) is None and is_changing(node.func.attr):  # of a part: rows[at].add(x)
                held = _whole(held)
            self._touch(held, bound)
            self.gather(node.func.value, bound)
        else:
            self.gather(node.func, bound)
        given = [*node.args, *(each.value for each in node.keywords)]
        named = given if asked_of(node) is None else [node]
        hands = filter(None, map(_dotted, named))
        self.hands += [in_full(each, self._names) for each in hands]
        if name.rpartition(".")[2] in CHANGING_FIRST and node.args:
            self._touch(_whole(node.args[0]), bound)
        for each in given:
            self._touch(each.value if isinstance(each, ast.Starred) else each, bound)
            self.gather(each, bound)
        self._gather_named(node, name)

    def _touch(self, node: ast.AST, bound: frozenset[str]) -> None:
        path = path_of(node)
        if path is not None and path[0] not in bound:
            self.touches[path] = None

    def _gather_named(self, node: ast.Call, name: str) -> None:
        """What is bound by a name in quotes: self.register_buffer("centre", …)."""
        last = name.rpartition(".")[2]
        if last not in _NAMING:
            return
        owner = node.args[0] if last == "setattr" and node.args else None
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
        named = node.args[1 if last == "setattr" else 0 :][:1]
        path = path_of(owner)
        if path and named and isinstance(named[0], ast.Constant):
            whole = (*path, str(named[0].value))
            self.writes[whole] = None


def _bound_in(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.Lambda):
        return frozenset(each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))
    found = [each.target for each in getattr(node, "generators", ())]
    names = (n for each in found for n in ast.walk(each))
    return frozenset(each.id for each in names if isinstance(each, ast.Name))


def asked_of(node: ast.AST) -> tuple[ast.expr, str] | None:
    """What an attribute is asked of, and its name; also by ``getattr(a, "b")``."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
            return value, name
    return None


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while (asked := asked_of(node)) is not None:
        node, name = asked
        parts.append(name)
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))
