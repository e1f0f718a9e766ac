"""Where code says that a value is a seed: by a name, or by a call that takes one."""

from __future__ import annotations

import ast
from bisect import bisect_right, insort
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import parameter_of, said, word_of
from detlint.dataflow.slices import closure, readers
from detlint.index.entrypoints import says_so
from detlint.models import randomness
from detlint.models.loading import is_known
from detlint.models.names import makes_label, means_seed, means_seeding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Origins
    from detlint.dataflow.randomness.entropy import Entropy
    from detlint.dataflow.unit import Unit
    from detlint.finding import Edit

# Functions whose first text names the value that follows, or its default.
_NAMING = frozenset(
    ("add_argument", "get", "getattr", "getenv", "option", "pop", "setattr", "setdefault")
)
# Calls that see every local.
_READING_ALL = frozenset(f"builtins.{name}" for name in ("eval", "exec", "locals", "vars"))
_WRITING = frozenset(("builtins.print", "builtins.str", "os.path.join"))
_CONVERTING = frozenset(("augment", "binary", "declared", "phi", "unary"))
_CONVERSIONS = frozenset(("builtins.abs", "builtins.hash", "builtins.int", "builtins.str"))
# Functions of libraries to which what is given by place is a seed.
_TAKING = randomness.KEYS | randomness.SEED_PARAMETER.keys()
_MOST = 60  # what is made of one parameter
_RANGES = frozenset(("builtins.range", "numpy.arange", "torch.arange"))
_COPIES = frozenset(("builtins.list", "builtins.tuple"))
_WRITTEN = frozenset(("const", "list", "set", "tuple", "unary"))
_JOINING = frozenset(("boolean", "choice", "param", "phi"))
_HIDDEN = frozenset(("param", "function", "import", "class", "phi"))


class Place(NamedTuple):
    """A value that code takes for a seed.

    node     the expression that gives it
    subject  what messages call it
    name     the name that says so, or ""
    seeding  it is given to a call that seeds
    target   something is named by it
    """

    value: Op
    node: ast.expr
    subject: str
    name: str = ""
    seeding: bool = False
    target: bool = False

    def start(self) -> tuple[int, int, int]:
        """Where it begins; of two, the longer one first."""
        return self.node.lineno, self.node.col_offset, -(self.node.end_col_offset or 0)

    def only_labels(self) -> bool:
        """Whether a function that makes up a name uses it, other than to seed."""
        name = self.value.function.word
        return not self.seeding and makes_label(name)

    def is_for_a_kernel(self, found: Entropy) -> bool:
        """A tensor on a device, as dropout in a kernel takes it: torch's own seed decides."""
        call = found.call
        return found.library == "torch" and call is self.value and call.given("device") is not None

    def may_be_drawn(self, draw: Op) -> bool:
        """Whether a draw makes numbers such as seeds are: not noise, nor a thing out of a list."""
        if not self.target:
            return True
        for name in draw.called:
            if name in randomness.CHOICES:
                return len(draw.args) > 1 and _is_numbers(draw.args[1])
            if name.rpartition(".")[2] in randomness.NOISE:
                return False
        return True


class SeedPlaces:
    """Looks for them among the operations of one file."""

    def __init__(self) -> None:
        self._seeding: dict[Op, bool] = {}  # parameters

    def named(self, functions: Iterable[Function]) -> Iterator[Place]:
        """What is bound, kept, returned or taken by default under the name of a seed."""
        for function in functions:
            yield from _assigned(function)
            yield from _returned(function)
            for op in function.ops:
                found = _kept(op)
                if found is not None:
                    yield found

    @staticmethod
    def given(call: Op, origins: Origins | None = None) -> Iterator[Place]:
        """What a call is given as a seed, by its keyword or by what the call does; ``origins``
        open other files, as for ``handed``."""
        named, key = _is_named_seeding(call, origins), _key_of_seed(call)
        takes = named or not _TAKING.isdisjoint(call.called)
        text = said(call) if takes else ""
        for (keyword, value), node in zip(call.arguments(), call.given_nodes, strict=True):
            if keyword and means_seed(keyword):
                yield Place(value, node, f"`{keyword}`", keyword, named)
            elif takes and keyword in (None, "*"):
                yield Place(value, node, f"the seed that `{text}` gets", "", named)
            elif key and keyword in (None, "default"):
                yield Place(value, node, f"`{key}`", key)

    def handed(self, call: Op, origins: Origins | None = None) -> Iterator[Place]:
        """What a call gives a function that seeds with it, of the file, or of another one where
        ``origins`` open it."""
        for each in _entered(call, origins):
            for place, value in self._unnamed(call, origins):
                taken = parameter_of(each, call, value)
                if taken is not None and self._seeds(taken):
                    yield place

    def handed_on(self, call: Op) -> Iterator[Place]:
        """What a call gives a function of another file, which may seed with it."""
        values = call.values
        names = [each for each in values.called(call) if "." in each.strip(".")]
        if values.callee(call) is None and names and not any(map(is_known, names)):
            yield from (place for place, _ in self._unnamed(call))

    def _unnamed(self, call: Op, origins: Origins | None = None) -> Iterator[tuple[Place, Op]]:
        """What a call is given, by no name of a seed."""
        if any(True for _ in self.given(call, origins)):
            return
        text = said(call)
        for (_, value), node in zip(call.arguments(), call.given_nodes, strict=True):
            yield Place(value, node, f"the seed that `{text}` gets", seeding=True), value

    def _seeds(self, parameter: Op) -> bool:
        """Whether a function seeds with what it is given."""
        if parameter not in self._seeding:
            uses = (use for each in _followed(parameter) for use in seed_uses(each))
            self._seeding[parameter] = any(True for _ in uses)
        return self._seeding[parameter]


def _followed(start: Op) -> Iterator[Op]:
    """A value and what arithmetic, conversions and functions of the file make of it."""
    return closure([start], lambda op: filter(None, (_made(use, op) for use in op.uses)), _MOST)


def _made(use: Op, value: Op) -> Op | None:
    if use.code != "call":
        return use if use.code in _CONVERTING else None
    values = use.values
    converts = not _CONVERSIONS.isdisjoint(values.called(use))
    return use if converts else parameter_of(values.callee(use), use, value)


def seed_uses(value: Op) -> Iterator[tuple[str, Op | None]]:
    """How a value is taken for a seed, as participles, each with the call that takes it."""
    for name in value.function.names_of(value):
        if means_seed(name):
            yield f"the seed `{name}`", None
    for use in value.uses:
        if use.code == "call":
            if any(place.value is value for place in SeedPlaces.given(use)):
                yield f"the seed of {word_of(use)}()", use
        elif use.code == "return" and means_seed(use.function.word):
            yield "a seed that is returned", None
        elif use.code in ("entry", "store_attr", "store_item"):
            place = _kept(use)
            if place is not None and place.value is value:
                yield f"the seed {place.subject}", None


def _is_named_seeding(call: Op, origins: Origins | None) -> bool:
    """Whether a function whose body is not seen takes a seed by its name."""
    return means_seeding(word_of(call)) and not _entered(call, origins)


def _entered(call: Op, origins: Origins | None) -> list[Function]:
    """The functions that a call leads to, of the file, or of others where ``origins`` open them."""
    own = call.values.callee(call)
    if own is not None:
        return [own]
    return origins.entered(call) if origins is not None else []


def _key_of_seed(call: Op) -> str:
    """``--seed`` of ``add_argument("-s", "--seed", …)``."""
    if word_of(call) not in _NAMING:
        return ""
    values = [value for keyword, value in call.arguments() if keyword is None]
    texts = [str(each.name) for each in values if each.code == "const"]
    return next(filter(means_seed, texts), "")


# By name


def _assigned(function: Function) -> Iterator[Place]:
    bound = [each for each in function.assigned if means_seed(each[0])]
    local = function.is_defined and bound
    hidden = local and _reads_all(function)
    for name, value, statement in bound:
        if value.code not in _HIDDEN:
            given = _given(value, statement)
            inside = local and name not in function.nonlocals
            unread = inside and _is_unread(value, hidden=bool(hidden))
            if given is not None and not (unread or _is_left(value, name)):
                yield Place(*given, f"`{name}`", name, target=True)


def _is_left(value: Op, name: str) -> bool:
    """Whether a program keeps what nothing reads; the variables of what is no program, others may
    import."""
    unit = value.function.unit
    if value.function is not unit.module or not says_so(unit.source.path, unit.text):
        return False
    own = (each for each in readers(value) if each.code != "store_global")
    return all(map(_tells, chain(own, unit.reads("global", name))))


def _given(value: Op, statement: ast.AST) -> tuple[Op, ast.expr] | None:
    """What a name is given in a statement, and the expression."""
    node = getattr(statement, "value", None) or getattr(statement, "iter", None)
    if isinstance(node, (ast.Tuple, ast.List)) or not isinstance(node, ast.expr):
        node = value.node
    if value.code == "augment":
        value = value.args[1]
    elif value.code == "declared":
        if not value.args:
            return None
        factory = _factory(value.args[0])
        if factory is not None:
            return factory
    return (value, node) if isinstance(node, ast.expr) else None


def _factory(made: Op) -> tuple[Op, ast.expr] | None:
    """What ``field(default_factory=…)`` calls: a lambda's value, or the function itself."""
    factory = made.given("default_factory") if made.code == "call" else None
    node = made.written("default_factory") if factory is not None else None
    if factory is None or node is None:
        return None
    if factory.code == "function" and isinstance(node, ast.Lambda):
        returned = factory.name.returns
        return (returned[0].args[0], node.body) if returned else None
    return factory, node


def _returned(function: Function) -> Iterator[Place]:
    name = function.word
    if means_seed(name):
        for each in function.returns:
            value = getattr(each.node, "value", None)
            if each.code == "return" and each.args and isinstance(value, ast.expr):
                yield Place(each.args[0], value, f"what `{name}` returns")


def _kept(op: Op) -> Place | None:
    """An attribute, an item, an entry of a dict, or a parameter's default."""
    if op.code == "store_attr":
        return _stored(op, str(op.name), op.args[1])
    if op.code == "store_item":
        key = op.values.constant(op.args[1])
        return _stored(op, key, op.args[2]) if isinstance(key, str) else None
    if op.code == "entry":
        key = op.values.constant(op.args[0])
        named = isinstance(key, str) and means_seed(key) and isinstance(op.node, ast.expr)
        return Place(op.args[1], op.node, f"`{key}`", str(key)) if named else None  # type: ignore[arg-type]
    if op.code == "param" and op.args and means_seed(str(op.name[1])):
        node = _default(op)
        name = str(op.name[1])
        return Place(op.args[0], node, f"the default of `{name}`", name) if node else None
    return None


def _default(param: Op) -> ast.expr | None:
    """A parameter's default, as it is written."""
    arguments = getattr(param.function.node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return None
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(plain), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((default for each, default in pairs if each is param.node), None)


def _stored(op: Op, name: str, value: Op) -> Place | None:
    given = _given(value, op.node) if means_seed(name) else None
    if given is None:
        return None
    targets = getattr(op.node, "targets", None) or [getattr(op.node, "target", None)]
    target = next((each for each in targets if _name_of(each) == name), None)
    text = ast.unparse(target) if target is not None else name
    return Place(*given, f"`{text}`", text, target=True)


def _name_of(target: ast.AST | None) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return ""


# What becomes of it


def _reads_all(function: Function) -> bool:
    """Whether a function looks at all of its locals at once."""
    called = function.unit.values.called
    calls = (op for op in function.ops if op.code == "call")
    return any(not _READING_ALL.isdisjoint(called(op)) for op in calls)


def _is_unread(value: Op, *, hidden: bool) -> bool:
    """Whether nothing reads a local, or only texts hold it: the name of a run or of a file.
    ``hidden``: something may read it unseen."""
    uses = list(readers(value))
    return all(map(_tells, uses)) if uses else not hidden


def _tells(use: Op) -> bool:
    return use.code == "format" or not _WRITING.isdisjoint(use.called)


def _is_numbers(op: Op) -> bool:
    """Whether a population is a range, or written out."""
    if op.code == "call":
        called = op.called
        if not _COPIES.isdisjoint(called) and len(op.args) == 2:
            return _is_numbers(op.args[1])
        return not _RANGES.isdisjoint(called)
    return op.code in _WRITTEN and all(map(_is_numbers, op.args))


# Findings and edits


class Told:
    """What findings stand for already: entropy, and what stands within a seed that has it."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._calls: set[Op] = set()
        self._spans: list[tuple[int, int]] = []

    def add(self, node: ast.expr, call: Op) -> None:
        """A finding at a node, for what a call gives."""
        self._calls.add(call)
        insort(self._spans, self._unit.span(node))

    def holds(self, node: ast.AST, call: Op) -> bool:
        """Whether a finding is there already: at the entropy, or around this use of it."""
        if call in self._calls:
            return True
        start, end = self._unit.span(node)
        at = bisect_right(self._spans, (start, len(self._unit.text))) - 1
        return at >= 0 and self._spans[at][0] <= start and end <= self._spans[at][1]


def constant_for(unit: Unit, value: Op, written: ast.expr, call: Op) -> tuple[Edit, ...]:
    """The edit that puts a constant in the place of what only converts entropy in a value."""
    path = _path(written, call.node)
    if not path and _is_all_of(value, call):  # it comes through a local
        read = [each for each in ast.walk(written) if _is_local(each)]
        path = _path(written, read[0]) if len(read) == 1 else []
    if not path:
        return ()
    place, text = path[-1], "0"
    for parent in reversed(path[:-1]):
        if not _only_converts(parent, place):
            if isinstance(parent, ast.FormattedValue):
                return ()
            break
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "str":
            text = '"0"'
        place = parent
    return (unit.replace(place, text),)


def _is_all_of(value: Op, call: Op) -> bool:
    """Whether a value is made of what a call gives and of constants, whatever runs before."""
    parts = list(closure([value], lambda op: () if op is call else op.args))
    return call in parts and not any(each.code in _JOINING for each in parts)


def _is_local(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _path(root: ast.AST, node: ast.AST) -> list[ast.AST]:
    """The nodes from one to another that it holds, both among them; [] if it does not."""
    if root is node:
        return [root]
    for each in ast.iter_child_nodes(root):
        below = _path(each, node)
        if below:
            return [root, *below]
    return []


def _only_converts(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(parent, ast.BinOp):
        return _is_constant(parent.right if child is parent.left else parent.left)
    if isinstance(parent, ast.Call):
        given = [*parent.args, *(each.value for each in parent.keywords)]
        others = [each for each in given if each is not child]
        return child is parent.func or all(map(_is_constant, others))
    return isinstance(parent, (ast.keyword, ast.Attribute, ast.Subscript, ast.UnaryOp))


def _is_constant(node: ast.AST) -> bool:
    plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    return all(isinstance(each, plain) for each in ast.walk(node))
