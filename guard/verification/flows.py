"""Where a value that is another one in each run goes in a program's text: read, never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from guard.verification.readiness import asks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

CLOCKS = {
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter",
    "time.perf_counter_ns", "time.process_time", "perf_counter", "monotonic", "datetime.now",
    "datetime.utcnow", "datetime.today", "date.today",
}  # fmt: skip
LOAD = {
    "os.getloadavg", "psutil.cpu_percent", "psutil.virtual_memory", "psutil.getloadavg",
    "cuda.mem_get_info", "shutil.disk_usage",
}  # fmt: skip
OWN = {
    "os.getpid", "getpid", "uuid.uuid1", "uuid.uuid4", "uuid1", "uuid4", "os.urandom", "urandom",
    "SystemRandom", "random.SystemRandom", "secrets.randbits", "secrets.token_bytes",
    "secrets.token_hex", "id", "tempfile.mkdtemp",
}  # fmt: skip
_UNSEEDED = ("default_rng", "Random", "RandomState")  # with nothing between the brackets
_ENDS = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CHOOSING = {"argmin", "argmax", "argsort", "argpartition", "nsmallest", "nlargest"}
_DEEP = 4  # names, one made from the other


class Read(NamedTuple):
    """A call that gives another value in each run, and what it gives.

    is_stored  it is the whole of what an assignment stores, as the start of a clock is
    """

    line: int
    name: str
    what: str
    is_stored: bool = False


class Use(NamedTuple):
    """What such a value goes into, and in which function. ``ends`` says that it ends a loop."""

    line: int
    value: ast.expr
    what: str
    ends: bool = False
    function: str = ""


def last_two(name: str) -> str:
    """The last two parts of a dotted name: datetime.now of datetime.datetime.now."""
    return ".".join(name.split(".")[-2:])


def told(name: str) -> str:
    """What such a call gives, for a person; "" where it is none."""
    end = last_two(name)
    if end in CLOCKS:
        return f"{name}() reads the clock"
    if end in LOAD:
        return f"{name}() measures the machine"
    if end in OWN:
        return f"{name}() is another value in each run"
    if name == "hash":
        return "hash() gives another value in each process for strings"
    return ""


def is_ready(name: str) -> str:
    """What is told of that which asks others."""
    return f"{name} depends on how far another thread or process has come"


def is_drawn(call: ast.Call, name: str) -> bool:
    """Whether it is, or gives, random numbers that no seed fixes."""
    if last_two(name) in OWN - {"id"}:
        return True
    given = (*call.args, *call.keywords)
    return name.rpartition(".")[2] in _UNSEEDED and not given


class Flow:
    """Of one file: names and attributes that hold such values, and what they go into.

    A local is one of its function, an attribute and what a function returns are one of the file.

    others  whether the program has threads or processes, which it can ask how far they are
    """

    def __init__(self, tree: ast.Module, *, others: bool = False) -> None:
        self._others = others
        self._nodes = list(_scoped(tree, "", in_loop=False))
        self._held: dict[str, set[Read]] = {}
        for _ in range(_DEEP):
            for node, scope, _in_loop in self._nodes:
                self._hold(node, scope)

    def into_conditions(self) -> Iterator[tuple[Use, list[Read]]]:
        """Conditions that decide what is done next."""
        for node, scope, in_loop in self._nodes:
            ends = isinstance(node, ast.While)
            if isinstance(node, ast.If):
                ends = in_loop and any(isinstance(each, _ENDS) for each in ast.walk(node))
            if isinstance(node, (ast.If, ast.While, ast.IfExp)):
                what = "whether the loop goes on" if ends else "what is done"
                use = Use(node.test.lineno, node.test, f"decides in line {{}} {what}", ends)
                yield from self._of(use, scope)
            elif isinstance(node, ast.ExceptHandler) and node.type and (found := self._asked(node)):
                use = Use(node.lineno, node.type, "decides in line {} what is done", in_loop)
                yield use._replace(function=_named(scope)), [found]

    def into_choices(self, setters: Collection[str]) -> Iterator[tuple[Use, list[Read]]]:
        """What chooses the best of several, or sets the environment of kernels.

        setters  names of the calls that do
        """
        for node, scope, _ in self._nodes:
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            keyed = name in ("min", "max", "sorted") and any(e.arg == "key" for e in node.keywords)
            if keyed or name in _CHOOSING or name in setters:
                for value in (*node.args, *(each.value for each in node.keywords)):
                    yield from self._of(Use(node.lineno, value, "chooses in line {}"), scope)

    def into_item(self, name: str) -> Iterator[tuple[Use, list[Read]]]:
        """What sets ``x["name"]``, ``x.name`` or an argument ``name=``."""
        for node, scope, _ in self._nodes:
            targets = _targets(node)
            value = getattr(node, "value", None)
            if isinstance(node, ast.keyword):
                is_set = node.arg == name
            else:
                is_set = any(_item(each) == name for each in targets)
            if is_set and isinstance(value, ast.expr):
                yield from self._of(Use(value.lineno, value, f"sets {name} in line {{}}"), scope)

    def into_line(self, line: int) -> Iterator[tuple[Use, list[Read]]]:
        """What the statement of a line is computed from."""
        for node, scope, _ in self._nodes:
            value = getattr(node, "value", None)
            if not isinstance(node, ast.stmt) or not isinstance(value, ast.expr):
                continue
            if node.lineno <= line <= (node.end_lineno or 0):
                yield from self._of(Use(line, value, "goes into line {}"), scope)

    def _of(self, use: Use, scope: str) -> Iterator[tuple[Use, list[Read]]]:
        """With what goes into it; what was read last before it first."""
        found = self._reads(use.value, scope)
        if found:
            use = use._replace(function=_named(scope))
            yield use, sorted(found, key=lambda each: (each.line > use.line, -each.line))

    def _hold(self, node: ast.AST, scope: str) -> None:
        value = getattr(node, "value", None)
        if not isinstance(value, ast.expr):
            return
        if isinstance(node, ast.Return):
            keys = [f"{scope.rpartition('/')[2]}()"]
        else:
            keys = list(filter(None, (_key(each, scope) for each in _targets(node))))
        if not keys:
            return
        found = self._reads(value, scope)
        if isinstance(value, ast.Call) and len(found) == 1:
            (read,) = found
            if read.line == value.lineno and ast.unparse(value.func) == read.name:
                found = {read._replace(is_stored=True)}
        for key in keys:
            self._held.setdefault(key, set()).update(found)

    def _reads(self, value: ast.expr, scope: str) -> set[Read]:
        found: set[Read] = set()
        for node in ast.walk(value):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if what := told(name):
                    found.add(Read(node.lineno, name, what))
                elif asked := self._asked(node):
                    found.add(asked)
                found |= self._held.get(f"{name.rpartition('.')[2]}()", set())
            elif isinstance(node, ast.Name):
                found |= self._held.get(f"{scope}:{node.id}", set())
                found |= self._held.get(f":{node.id}", set())
            elif isinstance(node, ast.Attribute):
                found |= self._held.get(f".{node.attr}", set())
        return found

    def _asked(self, node: ast.Call | ast.ExceptHandler) -> Read | None:
        name = asks(node) if self._others else ""
        return Read(node.lineno, name, is_ready(name)) if name else None


def _named(scope: str) -> str:
    return scope.rpartition("/")[2] or "<module>"


def _scoped(node: ast.AST, scope: str, *, in_loop: bool) -> Iterator[tuple[ast.AST, str, bool]]:
    """All nodes, with the function that they are in and whether a loop of it is around them."""
    for each in ast.iter_child_nodes(node):
        yield each, scope, in_loop
        if isinstance(each, _FUNCTIONS):
            inner = f"{scope}/{each.lineno}/{each.name}"
            yield from _scoped(each, inner, in_loop=False)
        else:
            yield from _scoped(each, scope, in_loop=in_loop or isinstance(each, _LOOPS))


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        tuples = [t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t] for t in node.targets]
        return [each for group in tuples for each in group]
    if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        return [node.target]
    return []


def _key(target: ast.expr, scope: str) -> str:
    if isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, ast.Name):
        return f"{scope}:{target.id}"
    return f".{target.attr}" if isinstance(target, ast.Attribute) else ""


def _item(target: ast.expr) -> object:
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return target.slice.value
    return target.attr if isinstance(target, ast.Attribute) else None
