"""What the text of a program speaks for: read, never executed.

What threads do in no fixed order: what they put where others take it from, what they add to, and
what they draw. What is saved and loaded, and what is kept and not saved: Python values beside the
model and the optimizer, such as a history of norms, the best loss so far, a count. A program that
is resumed begins with them anew.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Source
from guard.diff.sources import LISTING, source_of, takes_any
from guard.verification.circumstances import ADDRESSES, HASHES, LISTINGS, MEMORY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Calls by name, as the text has it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            yield node, ast.unparse(node.func)


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


_GIVEN_TO_THREADS = ("Thread", "Timer", "submit", "run_in_executor", "apply_async")
_POOLS = ("ThreadPoolExecutor", "ThreadPool")
_PROCESSES = ("Process", "spawn", "start_new_thread")
_PUTS = ("put", "put_nowait", "append", "appendleft", "extend", "add", "send")
_TAKES = ("get", "get_nowait", "recv")
_QUEUES = ("Queue", "SimpleQueue", "LifoQueue", "PriorityQueue", "JoinableQueue")
_UNORDERED = ("as_completed", "imap_unordered")
# How a draw from a generator of the whole process begins, by the first letters of the name that a
# trace has for it.
_DRAWN_BY = {
    "pytho": ("random.",),
    "numpy": ("numpy.random.",),
    "torch": ("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial"),
}
_NO_DRAWS = (
    *("seed", "getstate", "setstate", "get_state", "set_state", "Random", "SystemRandom"),
    *("default_rng", "Generator", "RandomState", "SeedSequence", "PCG64"),
)


class Line(NamedTuple):
    """A line of a file; the lower the rank, the likelier."""

    rank: int
    line: int
    what: str


class Threads:
    """Functions of a program that run in threads or processes of its own, by name.

    threaded  in threads
    handing   in processes as well
    queues    whether it makes queues
    others    whether it takes what is ready first in another way
    """

    def __init__(self, trees: Collection[ast.AST]) -> None:
        self.threaded = _handed(trees)
        self.handing = _handed(trees, _PROCESSES)
        named = [(call, name.rpartition(".")[2]) for tree in trees for call, name in calls(tree)]
        self.queues = any(name in _QUEUES for _, name in named)
        self.others = any(name in _UNORDERED or _is_off(call, "in_order") for call, name in named)
        self.others |= any(takes_any(each, name) for tree in trees for each, name in calls(tree))

    def __bool__(self) -> bool:
        """Whether something can come first or last."""
        return bool(self.threaded or self.queues or self.others)

    def handed_over(self, tree: ast.AST) -> Iterator[Line]:
        """Where threads hand over what they have made, in the order in which they come to it; then
        where it is taken."""
        for function in _functions(tree, self.handing):
            own = _own(function)
            for call, name in calls(function):
                holder, _, method = name.rpartition(".")
                if method in _PUTS and holder and holder not in own:
                    yield Line(
                        0, call.lineno, f"{name}() in a thread: whichever comes first is first"
                    )
        for call, name in calls(tree) if self.queues and self.handing else ():
            if name.rpartition(".")[2] in _TAKES and not call.args:
                yield Line(1, call.lineno, f"{name}() gives what a thread has put there first")

    def added_up(self, tree: ast.AST) -> Iterator[Line]:
        """Where threads add to what they share: sums are rounded by their order."""
        for function in _functions(tree, self.threaded):
            own = _own(function)
            for node in ast.walk(function):
                target = _grown(node)
                if target and target not in own:
                    what = f"{target} grows in threads, in the order they come to it"
                    yield Line(0, getattr(node, "lineno", 0), what)

    def draws(self, tree: ast.AST, generators: Iterable[str] = ()) -> Iterator[Line]:
        """Draws of threads from a generator of the whole process.

        generators  names of those that it can be, as a trace has them; none where it can be any
        """
        held = list(generators)
        groups = [_DRAWN_BY.get(each[:5], ()) for each in held] if held else _DRAWN_BY.values()
        wanted = tuple(start for group in groups for start in group)
        names = imported(tree)
        for function in _functions(tree, self.threaded) if wanted else ():
            for call, name in calls(function):
                full = dotted(call, names)
                own = any(each.arg == "generator" for each in call.keywords)
                if full.startswith(wanted) and not own and last_name(call.func) not in _NO_DRAWS:
                    what = "draws from the generator of the whole process, in a thread"
                    yield Line(0, call.lineno, f"{name}() {what}")


def _is_off(call: ast.Call, name: str) -> bool:
    given = [each.value for each in call.keywords if each.arg == name]
    return any(isinstance(each, ast.Constant) and not each.value for each in given)


def _handed(trees: Collection[ast.AST], others: tuple[str, ...] = ()) -> set[str]:
    """Names of functions that are handed to threads, ``Class.run`` for classes that are one.

    others  names of what else they are handed to, such as processes
    """
    found: set[str] = set()
    takers = [*_GIVEN_TO_THREADS, *others]
    if any(name.endswith(_POOLS) for tree in trees for _, name in calls(tree)):
        takers.append("map")  # data sets have one as well
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases = (ast.unparse(each) for each in node.bases)
                if any(each.endswith(("Thread", "Timer", *others)) for each in bases):
                    found.add(f"{node.name}.run")
        for call, name in calls(tree):
            if name != "map" and name.rpartition(".")[2] in takers:
                given = [*call.args, *(each.value for each in call.keywords)]
                found |= {last_name(each) for each in given} - {""}
    return found


def _functions(tree: ast.AST, names: Collection[str]) -> Iterator[ast.FunctionDef]:
    """Those of a file with these names; ``Class.run`` is the one of that class alone."""
    for node in ast.walk(tree):
        inside = node.name if isinstance(node, ast.ClassDef) else ""
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef) and (
                each.name in names or f"{inside}.{each.name}" in names
            ):
                yield each


def _grown(node: ast.AST) -> str:
    """What an assignment adds to: "self.total"."""
    target = ""
    if isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(
        stored(node)[0], (ast.Name, ast.Attribute)
    ):
        target = ast.unparse(stored(node)[0])
    if isinstance(node, ast.Assign):
        read = (ast.unparse(each) for each in ast.walk(node.value) if isinstance(each, ast.expr))
        return target if isinstance(node.value, ast.BinOp) and target in read else ""
    return target


def _own(function: ast.FunctionDef) -> set[str]:
    """The names of a function's own."""
    nodes = list(ast.walk(function))
    shared = {
        name
        for node in nodes
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    own = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in own} - shared


_SAVES = {"save", "dump", "save_checkpoint", "save_state", "save_state_dict", "dumps"}
_SAVERS = {"torch", "pickle", "joblib", "json", "dcp", "accelerator", "fabric", "trainer"}
_STATES = {
    *("state_dict", "get_state", "__getstate__", "__reduce__", "on_save_checkpoint"),
    *("get_extra_state", "save", "save_checkpoint"),
}
_EMPTY = {"list", "dict", "set", "deque", "defaultdict", "Counter", "float", "int"}
_GROWS = {"append", "appendleft", "extend", "add", "update", "insert", "pop", "popleft", "clear"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_CLIPS = ("clip_grad_norm", "clip_grad_value", "clip_gradients", "clip_grads_with_norm")
_DEEP = 3  # dictionaries, one in the other
_IN_PLACE = {"mul_", "div_", "add_", "sub_", "copy_", "clamp_", "zero_", "fill_", "clip_"}
# What receives ``state_dict()`` of a state that was lost, and the functions that read or set it.
_HOLDERS = {
    "optimizer": ("opt",),
    "hyperparameter": ("sched", "scaler"),
    "parameter": ("model", "net", "module"),
    "buffer": ("model", "net", "module"),
    "batch": ("sampler", "loader", "data"),
    "generator": ("rng", "generator"),
}
_RNG = ("get_rng_state", "set_rng_state", "getstate", "setstate", "get_state", "set_state")


class Kept(NamedTuple):
    """A value that changes as the program runs.

    line   where it changes
    begun  where it is made
    """

    name: str
    line: int
    begun: int


def states(tree: ast.AST, lost: Iterable[str]) -> Iterator[Line]:
    """What saves and loads a state of a kind that was lost; else what saves a checkpoint, for what
    is not in it cannot be loaded; then what loads it."""
    kinds = tuple(lost)
    holders = tuple(word for kind in kinds for word in _HOLDERS.get(kind, ()))
    in_part = {
        id(value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is None
    }
    for call, name in calls(tree):
        holder, _, method = name.rpartition(".")
        is_rng = "generator" in kinds and method.startswith(_RNG)
        if is_rng or any(word in holder.lower() for word in holders):
            if method == "state_dict" or (is_rng and "get" in method):
                changed = id(call) in in_part
                more = ", and something is put in the place of a part of it" if changed else ""
                yield Line(0 if changed else 1, call.lineno, f"{name}() is saved here{more}")
            elif method == "load_state_dict" or is_rng:
                yield Line(2, call.lineno, f"{name}() puts it back here")
        elif name in ("torch.save", "torch.load", "pickle.dump", "pickle.load"):
            rank, does = (5, "read") if name.endswith("load") else (3, "written")
            yield Line(rank, call.lineno, f"{name}(): the checkpoint is {does} here")


def unsaved(tree: ast.Module, saved: Collection[str]) -> list[Kept]:
    """What a file keeps and none of what is saved has the name of; attributes first.

    saved  names that stand where the program saves
    """
    found = [*_attributes(tree, saved), *_variables(tree, saved)]
    return list({(each.name, each.begun): each for each in reversed(found)}.values())[::-1]


def saved_names(trees: Collection[ast.Module]) -> set[str] | None:
    """Names of what a program saves: in the calls that save, and in what these are given.

    None where it saves nothing by itself, but for what a library does.
    """
    found: set[str] = set()
    saves = False
    own = {each.name for tree in trees for each in _all_functions(tree)}
    for tree in trees:
        for function in (tree, *_all_functions(tree)):
            given = [each for each in _calls(function) if _is_save(each, own)]
            saves = saves or bool(given)
            names = {name for each in given for name in _names([*each.args, *_values(each)])}
            for _ in range(_DEEP):
                names |= {name for value in _stored(function, names) for name in _names([value])}
            found |= names
        for function in _all_functions(tree):
            if function.name in _STATES - {"save", "save_checkpoint"}:
                found |= set(_names([function]))
    return found if saves else None


def changes_gradients(trees: Collection[ast.Module]) -> bool:
    """Whether a program changes gradients in place, between backward and the optimizer's step."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                method = name.rpartition(".")[2]
                if method.startswith(_CLIPS) or (method in _IN_PLACE and ".grad." in name):
                    return True
            elif isinstance(node, (ast.Assign, ast.AugAssign)):
                for each in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if last_name(each) == "grad":
                        return True
    return False


def _attributes(tree: ast.Module, saved: Collection[str]) -> Iterator[Kept]:
    """Attributes that a class makes of Python values, changes and reads in other methods."""
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef):
            continue
        made = _made(owner)
        for method in owner.body:
            if not isinstance(method, _FUNCTIONS) or method.name == "__init__":
                continue
            for name, line in _changes(method):
                key = name.removeprefix("self.")
                held = key in saved or _instances(tree, owner.name) & set(saved)
                if name.startswith("self.") and key in made and not held:
                    yield Kept(name, line, made[key])


def _made(owner: ast.ClassDef) -> dict[str, int]:
    found: dict[str, int] = {}
    for method in owner.body:
        if isinstance(method, _FUNCTIONS) and method.name == "__init__":
            for target, value in _assigned(method):
                if isinstance(target, ast.Attribute) and _is_plain(value):
                    found[target.attr] = target.lineno
    return found


def _variables(tree: ast.Module, saved: Collection[str]) -> Iterator[Kept]:
    """Variables that a loop changes, and that are made before it and read in it."""
    for function in (tree, *_all_functions(tree)):
        before = {
            target.id: target.lineno
            for target, value in _assigned(function)
            if isinstance(target, ast.Name) and _is_plain(value)
        }
        for loop in (each for each in ast.walk(function) if isinstance(each, _LOOPS)):
            for name, line in _changes(loop):
                begun = before.get(name, line)
                if begun < loop.lineno and name not in saved and _decides(loop, name):
                    yield Kept(name, line, begun)


def _decides(loop: ast.AST, name: str) -> bool:
    """Whether what a loop changes is read there by a condition, or goes into something else."""
    for node in ast.walk(loop):
        read = node.test if isinstance(node, (ast.If, ast.While, ast.IfExp)) else None
        if isinstance(node, (ast.Assign, ast.AugAssign)) and not any(
            _dotted(each) == name
            for each in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ):
            read = node.value
        if read is not None and any(_dotted(each) == name for each in ast.walk(read)):
            return True
    return False


def _changes(part: ast.AST) -> Iterator[tuple[str, int]]:
    """Names and attributes that grow or are stored anew."""
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = _dotted(node.func.value)
            if node.func.attr in _GROWS and name:
                yield name, node.lineno
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            for each in node.targets if isinstance(node, ast.Assign) else [node.target]:
                parts = each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each]
                for target in parts:
                    inner = target.value if isinstance(target, ast.Subscript) else target
                    if name := _dotted(inner):
                        yield name, node.lineno


def _is_plain(value: ast.expr) -> bool:
    """Whether it is a number, a text, None or an empty collection."""
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    if isinstance(value, ast.Call):
        return last_name(value.func) in _EMPTY
    if isinstance(value, ast.Attribute):
        return value.attr == "inf"
    return isinstance(value, (ast.Constant, ast.List, ast.Dict, ast.Set))


def _instances(tree: ast.AST, owner: str) -> set[str]:
    """Names that hold what a class makes."""
    return {
        last_name(target)
        for target, value in _assigned(tree)
        if isinstance(value, ast.Call) and last_name(value.func) == owner
    }


def _assigned(part: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(part):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(target.elts, node.value.elts, strict=False)
                else:
                    yield target, node.value


def _stored(part: ast.AST, names: Collection[str]) -> Iterator[ast.expr]:
    """Dictionaries that are stored under names, and what is put into them."""
    for target, value in _assigned(part):
        if isinstance(target, ast.Subscript):
            if last_name(target.value) in names:
                yield value
        elif last_name(target) in names and _is_dict(value):
            yield value


def _is_dict(value: ast.expr) -> bool:
    return isinstance(value, ast.Dict) or (
        isinstance(value, ast.Call) and last_name(value.func) == "dict"
    )


def _is_save(call: ast.Call, own: Collection[str]) -> bool:
    """Whether a call saves; functions of the program's own are looked at themselves."""
    name = last_name(call.func)
    if not isinstance(call.func, ast.Attribute):
        return name in _SAVES and name not in own
    return name in _SAVES and (last_name(call.func.value) in _SAVERS or name not in {"save", *own})


def _names(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Names of what is held whole: of ``clip.norms`` norms, of ``model.state_dict()`` none."""
    for part in parts:
        inner: Iterable[ast.AST] = ast.iter_child_nodes(part)
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            holder = part.func.value
            inner = [*([] if isinstance(holder, ast.Name) else [holder]), *part.args]
            inner += _values(part)
        elif isinstance(part, ast.Attribute):
            yield part.attr
            inner = [] if isinstance(part.value, ast.Name) else [part.value]
            if part.attr == "__dict__" and isinstance(part.value, ast.Name):
                yield part.value.id
        yield from _names(inner)


def _values(call: ast.Call) -> list[ast.expr]:
    return [each.value for each in call.keywords]


def _all_functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS)]


def _calls(part: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(part) if isinstance(each, ast.Call))


def _dotted(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


_OF_SETS = {
    "set",
    "frozenset",
    "hash",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
}
_TENSORS = {"torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor"}
_TIMED = {Source.CLOCK, Source.LOAD, Source.READINESS}
# Words of an item of the environment, and what sets it from within a program.
_SETTERS = {
    "thread": (
        *("set_num_threads", "set_num_interop_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
        *("OPENBLAS_NUM_THREADS", "threadpool_limits"),
    ),
    "dtype": ("set_default_dtype", "set_default_tensor_type"),
    "device": ("set_default_device", "set_device", "CUDA_VISIBLE_DEVICES"),
    "matmul": ("set_float32_matmul_precision", "allow_tf32", "fp32_precision"),
    "tf32": ("set_float32_matmul_precision", "allow_tf32", "fp32_precision"),
    "deterministic": ("use_deterministic_algorithms", "deterministic"),
    "benchmark": ("benchmark",),
    "mkldnn": ("mkldnn",),
    "denormal": ("set_flush_denormal",),
}


class Text:
    """The program's own files, read once; those that cannot be read are left out."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = tuple(files)
        self.trees: dict[str, ast.Module] = {}
        for path in self.files:
            with suppress(OSError, SyntaxError, ValueError), open(path, "rb") as file:
                self.trees[path] = ast.parse(file.read())

    @property
    def _all(self) -> Collection[ast.Module]:
        return self.trees.values()

    @cached_property
    def threads(self) -> Threads:
        """Its threads and processes, which can come first or last."""
        return Threads(self._all)

    @cached_property
    def kept(self) -> dict[str, list[Kept]]:
        """Of each file, what it keeps from step to step and is not saved, if the program saves."""
        saved = saved_names(self._all)
        if saved is None:
            return {}
        return {path: unsaved(tree, saved) for path, tree in self.trees.items()}

    @cached_property
    def allocates(self) -> bool:
        """Whether it has memory that nothing has written."""
        return any(
            name in _TENSORS and call.args and not isinstance(call.args[0], (ast.List, ast.Tuple))
            for tree in self._all
            for call, name in calls(tree)
        ) or any(source is Source.UNWRITTEN_MEMORY for source in self._sources)

    @cached_property
    def _sources(self) -> set[Source | None]:
        """What is called, of what gives something else in each run."""
        return {
            source_of(dotted(call, names))
            for tree in self._all
            for names in (imported(tree),)
            for call, _ in calls(tree)
        }

    @cached_property
    def shares(self) -> bool:
        """Whether its threads add to what they share, or hand over what they have made."""
        ways = (self.threads.added_up, self.threads.handed_over)
        return any(True for tree in self._all for way in ways for _ in way(tree))

    @cached_property
    def draws_in_threads(self) -> bool:
        """Whether its threads draw from torch's generator of the whole process."""
        return any(True for tree in self._all for _ in self.threads.draws(tree, ("torch.cpu",)))

    @cached_property
    def changes_gradients(self) -> bool:
        """Whether it changes gradients in place, as clipping does."""
        return changes_gradients(self._all)

    def speaks_for(self, circumstance: str) -> bool:
        """Whether there is something on which the circumstance acts."""
        if circumstance == HASHES.name:
            return any(map(_hashes, self._all))
        if circumstance == ADDRESSES.name:
            return any(_asks_address(tree) or _hashes(tree) for tree in self._all)
        if circumstance == LISTINGS.name:
            return any(map(_lists, self._all))
        return self.allocates if circumstance == MEMORY.name else True

    @cached_property
    def timed(self) -> bool:
        """Whether something may depend on who or what is first."""
        limits = (
            each.arg for tree in self._all for call, _ in calls(tree) for each in call.keywords
        )
        return bool(self.threads) or not _TIMED.isdisjoint(self._sources) or "max_time" in limits


def _hashes(tree: ast.AST) -> bool:
    """Whether it has sets, or asks for hashes."""
    return any(
        isinstance(node, (ast.Set, ast.SetComp))
        or (isinstance(node, ast.BinOp) and _is_keys(node.left, node.right))
        or (isinstance(node, ast.Call) and last_name(node.func) in _OF_SETS)
        for node in ast.walk(tree)
    )


def _lists(tree: ast.AST) -> bool:
    """Whether it lists folders, and does not sort what it gets at once."""
    ordered = (arg for call, name in calls(tree) if name == "sorted" for arg in call.args)
    in_order = {id(each) for argument in ordered for each in ast.walk(argument)}
    return any(
        last_name(call.func) in LISTING and id(call) not in in_order for call, _ in calls(tree)
    )


def setters(tree: ast.AST, items: Iterable[str]) -> Iterator[Line]:
    """What sets an item of the environment; a value that is computed before one that is written
    there, which is the same in each run."""
    words = {
        each
        for item in items
        for part, names in _SETTERS.items()
        if part in item.lower()
        for each in (*names, item.rpartition(": ")[2])
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name, values = last_name(node.func), node.args
            if name in ("setdefault", "putenv") and node.args:  # of os.environ
                name, values = _word(node.args[0]), node.args[1:]
        elif isinstance(node, ast.Assign):
            name, values = _word(node.targets[0]), [node.value]
        else:
            continue
        if name in words:
            fixed = all(isinstance(each, ast.Constant) for each in values)
            yield Line(1 if fixed else 0, node.lineno, f"{name} is set here")


def _word(node: ast.expr) -> str:
    """What stands in the brackets, or after the dot."""
    if isinstance(node, ast.Subscript):
        node = node.slice
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.attr if isinstance(node, ast.Attribute) else ""


def _asks_address(tree: ast.AST) -> bool:
    names = (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))
    return any(each in ("id", "WeakSet", "WeakKeyDictionary") for each in names)


def _is_keys(*nodes: ast.expr) -> bool:
    """Whether each is ``d.keys()``, of which operators make sets."""
    return all(isinstance(n, ast.Call) and last_name(n.func) in ("keys", "items") for n in nodes)
