"""Flags, options and variables that code gives a value, each where it does.

A setting is an assignment to an attribute, an argument, an entry of a dict, a parameter's default,
a field of a class: whatever the name of the flag says it in.
"""

from __future__ import annotations

import ast
import shlex
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import folding
from detlint.dataflow.arguments.environment import Environment
from detlint.dataflow.calls import said, word_of
from detlint.dataflow.control import conditions, exclude
from detlint.dataflow.path_conditions import deciding_branches
from detlint.dataflow.randomness.seeding import is_guard
from detlint.dataflow.slices import closure
from detlint.models import settings as rows
from detlint.models import tf_data
from detlint.models.configurations import is_in_trainer
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values
    from detlint.finding import Edit

# Methods that take a name and a value: ``config.patch("max_autotune", True)``.
_NAMING = frozenset(("__setitem__", "patch", "setdefault"))
_MOST_DICTS = 40  # of which another is made
_JOINING = frozenset(("binary", "boolean", "choice", "declared", "free", "phi"))
_DEEPEST = 50  # stores into a dict before it is handed on


class Setting(NamedTuple):
    """A flag, an option or a variable that is given a value.

    name     the qualified name of a flag; of an option or a variable, its own
    form     "flag" · "keyword" (of a call) · "key" (of a mapping) · "attribute" · "variable" (at
             the top of a file that never reads it, as in a configuration) · "environment" (of the
             process) · "child" (of a program that is started) · "namespace" (a flag of what seems
             to be made of these options)
    value    what it is given; None if that is a part of a text
    op       what gives it
    node     where it is said
    written  the expression of the value, if that stands there and is for nothing else
    text     how the source says it, up to the value: ``cudnn.benchmark = ``; of a part of a text,
             its value
    """

    name: str
    form: str
    value: Op | None
    op: Op
    node: ast.AST
    written: ast.expr | None = None
    text: str = ""

    def shown(self, value: str) -> str:
        """The whole statement, with the value that it turned out to have."""
        return f"{self.text}{value}{')' * self.text.count('(')}"

    @property
    def constant(self) -> object:
        """The value, if it is a literal; else ``...``."""
        if self.value is None:
            return self.text
        return self.op.values.constant(self.value)

    def replaced(self, value: str) -> tuple[Edit, ...]:
        """The edit that gives it another value, where that is written out for it alone."""
        if self.written is None:
            return ()
        return (self.op.function.unit.replace(self.written, value),)

    @property
    def known_text(self) -> str:
        """The text that it is given, with ``folding.HOLE`` for each part that is not known."""
        if self.value is None:
            return self.text
        return folding.text(self.op.values, self.value)


class Item(NamedTuple):
    """What a call or a dict gives under a name."""

    name: str
    value: Op
    node: ast.AST
    written: ast.expr


def is_left_open(op: Op) -> bool:
    """Whether a condition around an operation leaves it to a setting whether it runs.

    ``if cfg.fast: flag = True`` says ``flag = cfg.fast``. A condition that only asks about the
    machine or the process (``torch.cuda.is_available()``, ``rank == 0``) does not.
    """
    return any(map(rows.leaves_open, names_tested(op)))


def is_turned_on(setting: Setting) -> bool:
    """Whether a setting is True, and no other setting decides about that; so is
    ``True if torch.cuda.is_available() else False``."""
    value, choices = setting.value, []
    if value is not None and value.code == "choice":
        choices = [each for each in value.args[1:] if each.constant is True]
    if not (setting.constant is True or choices) or is_left_open(setting.op):
        return False
    return not choices or value is None or not any(map(rows.leaves_open, names_read(value.args[0])))


def names_tested(op: Op) -> Iterator[str]:
    """The dotted names that the conditions around an operation read."""
    return (name for test in conditions(op) for name in names_read(test))


# What turns deterministic algorithms on, and inductor's timing off, by flag.
_ENABLING: dict[str, tuple[object, ...]] = {
    rows.ALGORITHMS: (True,),
    rows.DEBUG_MODE: (1, 2, "warn", "error"),
    "torch._inductor.config.deterministic": (True,),
    f"{rows.TRAINER}.deterministic": (True,),
}
_STRICT: dict[str, tuple[object, ...]] = {
    rows.ALGORITHMS: (True,),
    rows.DEBUG_MODE: (2, "error"),
    f"{rows.TRAINER}.deterministic": (True,),
}
_ENABLING_VARIABLE = "TORCHINDUCTOR_DETERMINISTIC"
_ENABLING_WORDS = (
    *("use_deterministic_algorithms", "set_deterministic_debug_mode", "deterministic"),
    *(_ENABLING_VARIABLE, "enable_full_determinism", "guard"),
)


def enables(unit: Unit) -> bool:
    """Whether a file turns deterministic algorithms on, or inductor's timing off."""
    return _any_does(unit, _enables)


def enables_strictly(unit: Unit) -> bool:
    """Whether a file has torch refuse what has no deterministic kernel: a warning is not
    enough."""
    return _any_does(unit, _enables_strictly)


def _any_does(unit: Unit, enabling: Callable[[Function], bool]) -> bool:
    if "guard.auto" in unit.imported.get("guard", ()) or "import guard.auto" in unit.text:
        return True
    near = dict.fromkeys(x for word in _ENABLING_WORDS for x in unit.functions_naming(word))
    return any(enabling(each) for outer in near for each in outer.everything())


def _enables_strictly(function: Function) -> bool:
    values = function.unit.values
    warns = {
        op
        for op in function.coded("call")
        if (told := op.given("warn_only")) is not None and values.constant(told) is True
    }
    set_ = (each for each in flags(function) if each.op not in warns)
    if any(each.constant in _STRICT.get(each.name, ()) for each in set_):
        return True
    called = (
        (op, name) for op in function.coded("call") for name in (*values.called(op), word_of(op))
    )
    return any(op not in warns and rows.enables(name) for op, name in called)


def _enables(function: Function) -> bool:
    values = function.unit.values
    if any(each.constant in _ENABLING.get(each.name, ()) for each in flags(function)):
        return True
    if any(each.known_text == "1" for each in options(function, (_ENABLING_VARIABLE,))):
        return True
    called = (name for op in function.ops for name in (*values.called(op), word_of(op)))
    return any(map(rows.enables, called))


def keeps_order(unit: Unit) -> bool:
    """Whether a file has TensorFlow keep every order, and refuse to shuffle without a seed."""
    return any(
        is_guard(op) or (op.code == "call" and word_of(op) == tf_data.ORDERS)
        for outer in unit.functions_holding(tf_data.ORDERS, "guard")
        for function in outer.everything()
        for op in function.ops
    )


def switched_off(found: Iterable[Setting], names: Collection[str]) -> Iterator[Setting]:
    """Those among some settings that set flags to False for good: not in teardown, and not where
    another branch sets True."""
    named = [each for each in found if each.name in names]
    on = [each.op for each in named if each.constant is True]
    for each in named:
        if each.constant is False and not is_reset(each.op, on):
            yield each


def is_reset(op: Op, on: Iterable[Op]) -> bool:
    """Whether an operation that switches something off puts it back, or is the other side of one
    that switches it on."""
    others = [each for each in on if each.function is op.function]
    return is_teardown(op) or any(exclude(op, each) for each in others)


def is_teardown(op: Op) -> bool:
    """Whether an operation runs in ``finally``, in ``__exit__``, in what is named like teardown, or
    after the ``yield`` of a fixture."""
    if any(region.kind == "finally" for region in op.region.around()):
        return True
    function: Function | None = op.function
    if _pauses_before(op):
        return True
    while function is not None:
        if rows.puts_back(function.word) or _is_cleanup(function):
            return True
        function = function.outer
    return False


def _pauses_before(op: Op) -> bool:
    """Whether it follows the ``yield`` of a fixture or a context manager."""
    decorators = op.function.decorators
    if not any(rows.pauses(ast.unparse(each).partition("(")[0]) for each in decorators):
        return False
    return any(each.place < op.place for each in op.function.coded("yield"))


def _is_cleanup(function: Function) -> bool:
    """``self.addCleanup(lambda: …)``."""
    around = function.outer.ops if function.outer is not None else ()
    made = (each for each in around if each.code == "function" and each.name is function)
    return any(
        use.code == "call" and use.args[0].code == "attr" and use.args[0].name in rows.CLEANUPS
        for each in made
        for use in each.uses
    )


def names_read(op: Op, seen: set[Op] | None = None) -> Iterator[str]:
    """The dotted names that a condition reads, past those ``seen``; constants are no names."""
    values, seen = op.values, set() if seen is None else seen
    if op in seen or values.constant(op) is not ...:
        return
    seen.add(op)
    if op.code in ("attr", "global", "import", "param", "item"):
        named = values.qualified(op)
        yield named[0] if named else _spelled(values, op)
    elif op.code == "call":
        called = values.called(op)
        if called and called[0].startswith("builtins."):
            yield from (name for each in op.args[1:] for name in names_read(each, seen))
        else:
            said = called[0] if called else _spelled(values, op.args[0])
            given = (values.constant(each) for each in op.args[1:])
            yield ".".join([said, *(each for each in given if isinstance(each, str))])
    else:
        joined = (*op.args, *deciding_branches(op))  # `if cfg.fast: flag = True` is `cfg.fast`
        yield from (name for each in joined for name in names_read(each, seen))


def _spelled(values: Values, op: Op) -> str:
    """``cfg["train"].fast`` as ``cfg.train.fast``."""
    words: list[str] = []
    while op.code in ("attr", "item", "call"):
        if op.code == "attr":
            words.append(str(op.name))
        elif op.code == "item":
            words.append(str(values.constant(op.args[1])))
        op = op.args[0]
    words.append(op.name[1] if op.code == "param" else str(op.name or ""))
    return ".".join(reversed(words))


# Flags


def flags_at(unit: Unit, offsets: Sequence[int]) -> Iterator[Setting]:
    """The flags that are set in the functions at some offsets. Raises UnparsedError."""
    for outer in unit.functions_at(offsets):
        for function in outer.everything():
            yield from flags(function)


def flags(function: Function) -> Iterator[Setting]:
    """The flags that a function sets."""
    values = function.unit.values
    for op, target, written in _assigned(function):
        if op.code == "store_attr":
            for owner in values.qualified(op.args[0]):
                text = f"{ast.unparse(target)} = "
                yield Setting(f"{owner}.{op.name}", "flag", op.args[1], op, op.node, written, text)
    for op in function.ops:
        if op.code == "call":
            yield from _of_call(values, op)


def _of_call(values: Values, op: Op) -> Iterator[Setting]:
    if _is_setattr(op):
        yield from _of_setattr(values, op)
        return
    for called in values.called(op):
        for keyword, row in rows.parameters(called).items():
            found = argument(op, keyword, row.place)
            if found is not None and not _is_without_cudnn(values, op, called):
                text = f"{said(op)}(" + (f"{keyword}=" if row.place != 0 else "")
                yield Setting(row.flag, "flag", found.value, op, found.node, found.written, text)
        yield from _of_trainer(values, op, called)


def _is_without_cudnn(values: Values, op: Op, called: str) -> bool:
    """Whether a ``cudnn.flags`` block says that it runs without cuDNN."""
    given = op.given("enabled", 0)
    return called == f"{rows.CUDNN}.flags" and given is not None and not values.constant(given)


def _of_trainer(values: Values, op: Op, called: str) -> Iterator[Setting]:
    """``Trainer(benchmark=True)``, ``LightningCLI(trainer_defaults={"benchmark": True})``, and
    ``Namespace(benchmark=True, max_epochs=3, precision=16)``, by what else that holds."""
    found: Iterator[Item] = iter(())
    if rows.is_trainer(called) or (called in rows.NAMESPACES and _is_for_trainer(op)):
        found = keywords(values, op)
    elif rows.is_trainer_cli(called):
        defaults = op.given("trainer_defaults")
        found = entries(values, defaults) if defaults is not None else found
    for each in found:
        text = f"{said(op)}({each.name}="
        name = f"{rows.TRAINER}.{each.name}"
        form = "namespace" if called in rows.NAMESPACES else "flag"
        yield Setting(name, form, each.value, op, each.node, each.written, text)


def _is_for_trainer(op: Op) -> bool:
    return is_in_trainer({str(name): None for name, _ in op.arguments()})


def _is_setattr(op: Op) -> bool:
    """``setattr(owner, "name", value)``; ``monkeypatch.setattr`` has the same arguments."""
    named = op.args[0].code in ("attr", "global") and op.args[0].name == "setattr"
    return named and len(op.args) > 3


def _of_setattr(values: Values, op: Op) -> Iterator[Setting]:
    owner, attribute, value = op.args[1:4]
    name = values.constant(attribute)
    written, call = op.given_nodes[2], op.node
    for place in values.qualified(owner):
        text = f"{ast.unparse(op.given_nodes[0])}.{name} = "
        yield Setting(f"{place}.{name}", "flag", value, op, call, written, text)


# Options and variables


def options_at(unit: Unit, offsets: Sequence[int], names: Collection[str]) -> Iterator[Setting]:
    """The options and variables of some names that are set in the functions at some offsets.
    Raises UnparsedError."""
    for outer in unit.functions_at(offsets):
        for function in outer.everything():
            yield from options(function, names)


def options(function: Function, names: Collection[str]) -> Iterator[Setting]:
    """The options and variables of some names that a function sets, whoever reads them."""
    return _Options(function, names).all()


class _Options:
    def __init__(self, function: Function, names: Collection[str]) -> None:
        self._function = function
        self._names = names
        self._values = function.unit.values
        self._environment = Environment(function)

    def all(self) -> Iterator[Setting]:
        return (each for each in self._found() if not _only_repeats(each))

    def _found(self) -> Iterator[Setting]:
        for op, _, written in _assigned(self._function):
            yield from self._stored(op, written)
        for op in self._function.ops:
            if op.code == "call":
                yield from self._given(op)
            elif op.code == "dict":
                yield from self._held(op)

    def _stored(self, op: Op, written: ast.expr | None) -> Iterator[Setting]:
        name, form = op.name, "attribute"
        if op.code == "store_item":
            name = self._name(op.args[1])
            form = "environment" if self._environment.holds(op.args[0]) else "key"
            for each, value in _listed(op.args[1]) if name is ... else ():
                if self._is_asked(each):
                    yield Setting(str(each), form, value or op.args[-1], op, op.node, written)
        elif op.code == "store_global":
            form = "variable"
        if self._is_asked(name) and not (form == "variable" and not self._is_unread(str(name))):
            yield Setting(str(name), form, op.args[-1], op, op.node, written)

    def _name(self, op: Op) -> object:
        name = self._values.constant(op)
        return name.decode(errors="replace") if isinstance(name, bytes) else name  # os.environb

    def _is_asked(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def _is_unread(self, name: str) -> bool:
        return len(mentions(self._function.unit.text, name)) == 1

    def _given(self, op: Op) -> Iterator[Setting]:
        form = self._form(op)
        for each in _own_keywords(op):
            if each.name in self._names:
                yield Setting(each.name, form, each.value, op, each.node, each.written)
        method = op.args[0].name
        given = [value for name, value in op.arguments() if name is None]
        if _is_setattr(op):
            yield from self._positional(op, 1, "attribute")
        elif len(given) == 2 and method in _NAMING:
            own = self._environment.holds(op.args[0].args[0]) if op.args[0].args else False
            yield from self._positional(op, 0, "environment" if own else "key")
        elif len(given) == 2 and "os.putenv" in self._values.called(op):
            yield from self._positional(op, 0, "environment")
        elif given and not rows.SHELLS.isdisjoint(self._values.called(op)):
            yield from self._started(op, given[0])

    def _positional(self, op: Op, place: int, form: str) -> Iterator[Setting]:
        name = self._name(op.args[place + 1])
        if self._is_asked(name):
            written = op.given_nodes[place + 1]
            yield Setting(str(name), form, op.args[place + 2], op, op.node, written)

    def _started(self, op: Op, command: Op) -> Iterator[Setting]:
        """``os.system("X=1 python train.py")``."""
        text = folding.text(self._values, command)
        if not any(f"{name}=" in text for name in self._names):
            return
        try:
            words = shlex.split(text)
        except ValueError:
            return
        for word in words:
            name, assigns, value = word.partition("=")
            if assigns and name in self._names:
                yield Setting(name, "child", None, op, op.node, None, value)

    def _held(self, op: Op) -> Iterator[Setting]:
        form = ""
        for each in own_entries(self._values, op):
            if each.name in self._names:
                form = form or self._form(op)
                yield Setting(each.name, form, each.value, op, each.node, each.written)

    def _form(self, op: Op) -> str:
        """What holds what a dict, or a call that makes one, is given."""
        if self._environment.takes(op):
            return "environment"
        for use in op.uses:
            if use.code == "call" and use.given("env") is op:
                return "child"
            if self._environment.takes(use):
                return "environment"
        return "keyword" if op.code == "call" else "key"


def _only_repeats(setting: Setting) -> bool:
    """``{"cudnn_benchmark": torch.backends.cudnn.benchmark}``: it is told where that is set."""
    said = setting.written
    return isinstance(said, ast.Attribute) and setting.name.endswith(said.attr)


# Arguments and entries


def argument(op: Op, keyword: str, place: int | None = None) -> Item | None:
    """The argument of a call for a parameter, by keyword or 0-based position."""
    value = op.given(keyword, place)
    if value is None:
        return None
    index = next(at for at, each in enumerate(op.args[1:]) if each is value)
    return Item(keyword, value, _places(op)[index], op.given_nodes[index])


def _places(op: Op) -> list[ast.AST]:
    """The nodes of a call's arguments, with their keywords."""
    return [*op.call_node.args, *op.call_node.keywords]


def keywords(values: Values, op: Op) -> Iterator[Item]:
    """What a call is given by keyword, ``**options`` included where they can be seen."""
    yield from _own_keywords(op)
    for name, value in op.arguments():
        if name == "**":
            yield from entries(values, value)


def _own_keywords(op: Op) -> Iterator[Item]:
    if not any(op.name):
        return
    places, written = _places(op), op.given_nodes
    for index, (name, value) in enumerate(op.arguments()):
        if name not in (None, "*", "**"):
            yield Item(str(name), value, places[index], written[index])


def entries(values: Values, op: Op) -> Iterator[Item]:
    """The entries of a dict that can be seen: a literal, ``dict(…)``, and what is stored later."""
    op = values.bound_to(op)
    for _ in range(_DEEPEST):
        if op.code != "store_item":
            break
        name, target = values.constant(op.args[1]), op.node
        written = getattr(target, "value", None)
        if isinstance(name, str) and written is not None:
            yield Item(name, op.args[2], target, written)
        op = op.args[0]
    if op.code == "dict":
        yield from own_entries(values, op)
    elif op.code == "call" and "builtins.dict" in values.called(op):
        yield from keywords(values, op)


_WRITTEN_OUT = ("dict", "list", "tuple")


def _listed(key: Op) -> Iterator[tuple[object, Op | None]]:
    """What a key is in the rounds of a loop over what is written out, and the value beside it:
    ``for key, value in {"A": 0}.items(): …``."""
    each = key.args[0] if key.code == "unpack" and key.name[0] == 0 else key
    if each.code != "iter":
        return
    held, _ = each.values.gone_through(each.args[0])
    for part in held.args if held.code in _WRITTEN_OUT else ():
        if part.code in ("entry", "tuple") and len(part.args) > 1:
            yield part.args[0].constant, part.args[1]
        elif held.code != "dict":
            yield part.constant, None


def merged_entries(values: Values, op: Op) -> list[Item]:
    """The entries of all dicts of which one may be made: ``{**DEFAULTS, **options}``,
    ``self.options = merged(self.DEFAULTS, options)``."""
    dicts = closure([op], lambda each: _merged(values, each), _MOST_DICTS)
    return [entry for each in dicts for entry in entries(values, each)]


def _merged(values: Values, op: Op) -> Iterator[Op]:
    """What a dict may be, or is made of."""
    yield from values.bound(op)
    if op.code == "call":
        yield from (value for _, value in op.arguments())
    elif op.code == "change":
        yield from (op.args[0], *(value for _, value in op.args[1].arguments()))
    elif op.code in _JOINING:
        yield from op.args
    elif op.code == "dict":
        yield from (each.args[0] for each in op.args if each.code == "star")


def own_entries(values: Values, op: Op) -> Iterator[Item]:
    """The entries of a dict's literal."""
    for each in op.args:
        name = values.constant(each.args[0]) if each.code == "entry" else None
        if isinstance(name, str):
            yield Item(name, each.args[1], each.args[0].node, each.node)  # type: ignore[arg-type]


def _assigned(function: Function) -> Iterator[tuple[Op, ast.expr, ast.expr | None]]:
    """The assignments to attributes, entries and names of the module, each with its target and,
    if nothing else takes the same value, the expression of that."""
    statement: ast.AST | None = None
    pairs: list[tuple[ast.expr, ast.expr | None]] = []
    for op in function.ops:
        kinds = _TARGETS.get(op.code)
        if kinds is None:
            continue
        if op.node is not statement:
            statement, pairs = op.node, list(_pairs(op.node))
            pairs.reverse()
        while pairs:
            target, written = pairs.pop()
            if isinstance(target, kinds):
                yield op, target, written
                break


_TARGETS: dict[str, type[ast.expr]] = {
    "store_attr": ast.Attribute,
    "store_item": ast.Subscript,
    "store_global": ast.Name,
}


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets of an assignment in order, each with what it is given."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            for one, value in _sides(target, node.value):
                yield one, value if len(node.targets) == 1 else None
    elif isinstance(node, ast.AnnAssign):
        yield node.target, node.value


def _sides(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    given = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    whole = len(given) == len(target.elts)
    for index, each in enumerate(target.elts):
        if whole:
            yield from _sides(each, given[index])
        else:
            yield each, None
