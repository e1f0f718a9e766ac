"""Calls in a program's text that give another value in each run, and what these decide.

Read, never executed, and without what running shows: where a value goes is followed by names.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Source
from guard.statements.sources import ASKING, DOES, FILES, UNSEEDED, VALUES, source_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_LIMITED = {"wait", "acquire", "poll"}  # they ask if they are given a limit
_BARE = ASKING - {"wait", "acquire"} | {"ready", "empty", "full"}  # and these without an argument
_LIMITS = {"timeout", "blocking", "block", "return_when"}
_LATE = {
    *("Empty", "Full", "TimeoutError", "Timeout", "BlockingIOError", "TimeoutExpired"),
    *("InvalidStateError", "WouldBlock", "QueueEmpty", "QueueFull"),
}
_PACKAGES = {
    *("threading", "concurrent", "multiprocessing", "queue", "asyncio", "subprocess", "_thread"),
    *("joblib", "ray", "trio", "anyio"),
}
# Samplers that take their seed from the operating system where they are given none.
_SAMPLERS = {
    *("Sobol", "Halton", "LatinHypercube", "PoissonDisk", "MultinomialQMC"),
    *("MultivariateNormalQMC", "TPESampler", "RandomSampler", "CmaEsSampler", "NSGAIISampler"),
    *("NSGAIIISampler", "QMCSampler", "GPSampler"),
}
_SAMPLING = ("scipy.stats.qmc.", "optuna.samplers.")
_SEEDS = ("seed", "rng", "random_state", "engine")
_TIME_LIMITS = {"max_time": "", "duration": "Timer"}  # arguments, and of what alone
_CHOOSING = {"argmin", "argmax", "argsort", "argpartition", "nsmallest", "nlargest"}
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEEP = 4  # names, one made from the other


class Mention(NamedTuple):
    """A call that gives another value in each run."""

    line: int
    name: str
    source: Source

    @property
    def what(self) -> str:
        """For a person: "time.time() reads the clock"."""
        return f"{self.name} {DOES[self.source]}"


class Decided(NamedTuple):
    """A condition on a mention. ``ends``: it decides whether something goes on."""

    line: int
    mention: Mention
    ends: bool = False

    @property
    def what(self) -> str:
        """For a person."""
        does = "whether it goes on" if self.ends else "what is done"
        return f"{self.mention.what}, and decides in line {self.line} {does}"


class Mentions:
    """Of one file. A variable holds what goes into it in its function, an attribute in the file.

    others  whether the program has threads or processes, which it can ask how far they are
    """

    def __init__(self, tree: ast.Module, *, others: bool = False) -> None:
        self._others = others
        self._imported = imported(tree)
        self._nodes = list(_scoped(tree, ""))
        self._held: dict[str, set[Mention]] = {}
        for _ in range(_DEEP):
            for node, scope in self._nodes:
                self._hold(node, scope)

    def of(self, sources: Collection[Source]) -> Iterator[Mention]:
        """Those of some sources, by line."""
        found = {self._mentioned(node) for node, _ in self._nodes}
        yield from sorted(
            (each for each in found if each is not None and each.source in sources),
            key=lambda each: each.line,
        )

    def files(self) -> Iterator[Mention]:
        """Those that draw the name of a file."""
        names = self.of({Source.DRAWN_NAME})
        return (each for each in names if each.name[:-2].rpartition(".")[2] in FILES)

    def deciding(self) -> Iterator[Decided]:
        """What decides what is done next; of what goes into one condition, the last before it."""
        for node, scope in self._nodes:
            if isinstance(node, (ast.If, ast.While, ast.IfExp)):
                found = self.reaching(node.test, scope)
                line, ends = node.test.lineno, isinstance(node, ast.While) or _leaves(node)
            elif isinstance(node, ast.ExceptHandler) and (late := self._mentioned(node)):
                found, line, ends = {late}, node.lineno, True
            else:
                continue
            found = {each for each in found if each.source in VALUES | {Source.READINESS}}
            for each in sorted(found, key=lambda each: (each.line > line, -each.line)):
                yield Decided(line, each, ends)

    def setting(self, name: str) -> Iterator[Mention]:
        """What goes into ``x["name"]``, ``x.name`` or an argument ``name=``; the last first."""
        for node, scope in self._nodes:
            value = getattr(node, "value", None)
            is_set = getattr(node, "arg", "") == name or name in map(_item, stored(node))
            if is_set and isinstance(value, ast.expr):
                found = (each for each in self.reaching(value, scope) if each.source in VALUES)
                yield from sorted(found, key=lambda each: -each.line)

    def choosing(self, setters: Collection[str]) -> Iterator[int]:
        """Lines that choose the best of several by such a value, or call a setter with it."""
        for node, scope in self._nodes:
            if not isinstance(node, ast.Call):
                continue
            name = last_name(node.func)
            keyed = name in ("min", "max", "sorted") and any(e.arg == "key" for e in node.keywords)
            if keyed or name in _CHOOSING or name in setters:
                given = (*node.args, *(each.value for each in node.keywords))
                if any(
                    each.source in VALUES for part in given for each in self.reaching(part, scope)
                ):
                    yield node.lineno

    def limits(self) -> Iterator[int]:
        """Lines that give a limit in seconds to what ends a training."""
        for node, _ in self._nodes:
            if isinstance(node, ast.Call):
                called = last_name(node.func)
                for each in node.keywords:
                    if _TIME_LIMITS.get(each.arg or "") in ("", called) and not _is_none(
                        each.value
                    ):
                        yield each.value.lineno
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "max_time":
                        yield from () if _is_none(value) else (value.lineno,)

    def reaching(self, value: ast.expr, scope: str) -> set[Mention]:
        """Those that go into a value."""
        found: set[Mention] = set()
        for node in ast.walk(value):
            if (mentioned := self._mentioned(node)) is not None:
                found.add(mentioned)
            if isinstance(node, ast.Call):
                found |= self._held.get(f"{last_name(node.func)}()", set())
            elif isinstance(node, ast.Name):
                found |= self._held.get(f"{scope}:{node.id}", set())
                found |= self._held.get(f":{node.id}", set())
            elif isinstance(node, ast.Attribute):
                found |= self._held.get(f".{node.attr}", set())
        return found

    def _hold(self, node: ast.AST, scope: str) -> None:
        value = getattr(node, "value", None)
        if not isinstance(value, ast.expr):
            return
        keys = [f"{scope.rpartition('/')[2]}()"] if isinstance(node, ast.Return) else []
        keys += (_key(each, scope) for each in stored(node))
        found = self.reaching(value, scope) if any(keys) else set()
        for key in filter(None, keys):
            self._held.setdefault(key, set()).update(found)

    def _mentioned(self, node: ast.AST) -> Mention | None:
        if isinstance(node, ast.Call):
            name = dotted(node, self._imported)
            source = _source(node, name)
            if source is not None and (source is not Source.READINESS or self._asks(node)):
                return Mention(node.lineno, f"{name}()", source)
        elif isinstance(node, ast.keyword) and node.arg == "key":  # sorted(rows, key=id)
            name = last_name(node.value)
            source = source_of(name) if isinstance(node.value, ast.Name) else None
            return Mention(node.value.lineno, f"{name}()", source) if source else None
        elif isinstance(node, ast.ExceptHandler) and self._asks(node):
            shown = "" if node.type is None else ast.unparse(node.type)
            return Mention(node.lineno, f"except {shown}", Source.READINESS)
        return None

    def _asks(self, node: ast.AST) -> bool:
        return self._others and asks(node)


def asks(node: ast.AST) -> bool:
    """Whether it asks if another thread or process is done."""
    if isinstance(node, ast.ExceptHandler):
        names = () if node.type is None else map(last_name, ast.walk(node.type))
        return not _LATE.isdisjoint(names)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    method, is_bare = node.func.attr, not node.args and not node.keywords
    is_limited = bool(node.args) or any(each.arg in _LIMITS for each in node.keywords)
    return (is_bare and method in _BARE) or (is_limited and method in _LIMITED)


def has_others(tree: ast.AST) -> bool:
    """Whether a file imports what starts threads or processes, or waits for them."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.update((node.module or "").split("."))
            names |= {each.name for each in node.names}
    return not _PACKAGES.isdisjoint(names)


def imported(tree: ast.AST) -> dict[str, str]:
    """Dotted names of what a file imports, by the names it has there."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return {"np": "numpy", **found}


def dotted(call: ast.Call, names: dict[str, str]) -> str:
    """What is called, with what is imported in the place of the first name; "" of no name."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return ""
    start, dot, rest = ast.unparse(call.func).partition(".")
    return f"{names.get(start, start)}{dot}{rest}"


def last_name(node: ast.AST) -> str:
    """The last word of a dotted name: ``save`` of ``torch.save``; "" for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def stored(node: ast.AST) -> list[ast.expr]:
    """What an assignment stores into, one by one."""
    if isinstance(node, ast.Assign):
        tuples = [t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t] for t in node.targets]
        return [each for group in tuples for each in group]
    if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        return [node.target]
    return []


def _source(call: ast.Call, name: str) -> Source | None:
    last = name.rpartition(".")[2]
    if last == "TemporaryDirectory":  # of which the name is seldom read
        return None
    if last in UNSEEDED:
        return None if call.args or call.keywords else Source.ENTROPY
    if last in _SAMPLERS and name.startswith(_SAMPLING):
        return None if _is_fixed(call) else Source.ENTROPY
    return Source.READINESS if not source_of(name) and last in _BARE else source_of(name)


def _is_fixed(call: ast.Call) -> bool:
    """Whether a sampler is given a seed or a generator, or draws nothing."""
    for each in call.keywords:
        if each.arg is None or (each.arg in _SEEDS and not _is_none(each.value)):
            return True
        if each.arg == "scramble" and getattr(each.value, "value", None) is False:
            return True
    return False


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _leaves(node: ast.AST) -> bool:
    """Whether what comes after is not done then."""
    return isinstance(node, ast.If) and any(isinstance(each, _LEAVES) for each in ast.walk(node))


def _scoped(node: ast.AST, scope: str) -> Iterator[tuple[ast.AST, str]]:
    """All nodes, with the function that they are in."""
    for each in ast.iter_child_nodes(node):
        yield each, scope
        inner = f"{scope}/{each.lineno}/{each.name}" if isinstance(each, _FUNCTIONS) else scope
        yield from _scoped(each, inner)


def _item(target: ast.expr) -> object:
    if isinstance(target, ast.Subscript):
        return getattr(target.slice, "value", None)
    return getattr(target, "attr", None)


def _key(target: ast.expr, scope: str) -> str:
    if isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, ast.Name):
        return f"{scope}:{target.id}"
    return f".{target.attr}" if isinstance(target, ast.Attribute) else ""
