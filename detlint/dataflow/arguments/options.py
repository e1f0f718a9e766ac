"""Options of a program: what reads one, and what sets it."""

from __future__ import annotations

import ast
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.arguments.defaults import defaults
from detlint.dataflow.calls import last_word, parameter_of, word_of
from detlint.dataflow.slices import SAME, ahead, alternatives, behind, closure
from detlint.models import names, settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_READS = frozenset(("get", "pop"))
_OF_OPTIONS = frozenset(("attr", "call", "item"))
_CLICK = "click.option"
_ADDS = "add_argument"
_DEFINES = "DEFINE_"  # absl's: flags.DEFINE_integer("seed", None, "the seed")
_BY_ACTION: dict[str, object] = {"store": None, "store_true": False, "store_false": True}
_SETTING = frozenset(("call", "class", "entry", "function", "import", "store_attr", "store_item"))
_SETS = frozenset(("Namespace", "parse_args", "set_defaults", "update"))
_WRITING = frozenset(("builtins.print", "json.dump", "json.dumps", "yaml.dump"))
_PARSING = frozenset(("parse_args", "parse_args_into_dataclasses", "parse_known_args"))
_ASKING = frozenset(("getattr", "hasattr"))
_AS_IT_IS = SAME | {"unpack"}
_VIEWS = frozenset(("dict", "vars"))
_MOST = 60  # operations behind a value
_DEEPEST = 8  # ``cfg.data.train.flip``


class Other(NamedTuple):
    """What another option of the program is set to: ``cfg.SEED = args.seed``."""

    option: str


def option_of(op: Op) -> str:
    """The option that a value is: ``opt["flip"]``, ``args.flip``, ``cfg.get("flip")``; "" of
    anything else, and where the reader has a value of its own for it."""
    if op.code not in _OF_OPTIONS:
        return ""
    known = op.function.unit.options
    if op not in known:
        known[op] = _option_of(op)
    return known[op]


def _option_of(op: Op) -> str:
    if op.code == "attr":
        called = any(use.code == "call" and use.args[0] is op for use in op.uses)
        return str(op.name) if not called and are_options(op.args[0]) else ""
    if op.code == "item":
        return op.args[1].text if are_options(op.args[0]) else ""
    if op.args[0].code == "attr" and op.args[0].name in _READS:
        alone = len(op.args) == 2 and are_options(op.args[0].args[0])
        return op.args[1].text if alone else ""
    return ""


def option_asked_for(test: Op) -> str:
    """The option that a test asks whether there is: ``"flip" in args``, ``hasattr(args, "flip")``;
    "" of any other test."""
    if test.code == "compare" and test.name == ("In",):
        key, held = test.args
    elif test.code == "call" and word_of(test) == "hasattr" and len(test.args) == 3:
        held, key = test.args[1:]
    else:
        return ""
    return key.text if key.text and are_options(held) else ""


def are_options(op: Op) -> bool:
    """Whether a value is an object that holds options, or all that such a one holds, as a dict."""
    for _ in range(_DEEPEST):
        if op.code == "param" and op.name[0] == "**" and op.function.decorators:
            return True  # `@click.option("--size")`
        said = (last_word(op), *op.function.names_of(op))
        if any(map(names.holds_options, said)):
            return True
        # ``vars(args)``, ``dict(args)``: what an object holds, as a dict.
        if op.code == "call" and len(op.args) == 2 and word_of(op) in _VIEWS:
            op = op.args[1]
        elif op.code in ("attr", "item"):
            op = op.args[0]
        else:
            return _is_made_of_options(op)
    return False


def _is_made_of_options(op: Op) -> bool:
    """Whether a value of whatever name may be what a parser gave, ``a = parser.parse_args()``, or
    an object of a class that is called so: ``c = Config()``, ``c or Config()``, ``c: Config``."""
    if op.code in ("call", "param"):  # most
        return _gives_options(op)
    return any(map(_gives_options, closure([op.values.bound_to(op)], _as_it_is, _DEEPEST)))


def _gives_options(op: Op) -> bool:
    if op.code == "param":
        annotation = getattr(op.node, "annotation", None)
        word = "" if annotation is None else ast.unparse(annotation).rpartition(".")[2]
    else:
        word = word_of(op)
    if word in _PARSING or (word[:1].isupper() and names.is_class_of_options(word)):
        return True
    known = op.code == "call" and not settings.NODES.isdisjoint(op.called)
    return known or op in _namespaces(op.function.unit)


def _namespaces(unit: Unit) -> frozenset[Op]:
    """What a parser gave, where functions of the file return it or are given it."""
    if unit.namespaces is None:
        unit.namespaces = frozenset()  # what is asked on the way
        held = [each for each in sorted(_PARSING) if f"{each}(" in unit.text]
        parsed = [call for each in held for call in unit.ops_naming(each) if word_of(call) == each]
        unit.namespaces = frozenset(closure(parsed, _carried, _MOST))
    return unit.namespaces


def _carried(value: Op) -> Iterator[Op]:
    """A value as parameters of functions at the top of its file, and as what calls of these
    give."""
    unit = value.function.unit
    for use in ahead([value], _AS_IT_IS):
        for each in use.uses:
            if each.code == "return" and not value.function.class_name:
                word = value.function.word
                reads = unit.reads("global", word) if unit.defined(word) is value.function else ()
                yield from (call for read in reads for call in read.calls)
            elif each.code == "call" and each.args[0].code == "global":
                taken = parameter_of(unit.defined(each.args[0].name), each, use)
                yield from () if taken is None else [taken]


def _as_it_is(op: Op) -> Sequence[Op]:
    """The values of which it is one, or a part: ``a, rest = parser.parse_known_args()``."""
    return op.args if op.code in ("boolean", "free", "unpack") else alternatives(op)


def values_set(unit: Unit, option: str) -> Iterator[tuple[int, object]]:
    """Where a file may set an option, and to what; ``...`` for any value."""
    for function in _functions_about(unit, option):
        for op in _setting(function, option):
            for value in _set_by(op, option):
                yield op.row, value
        # What makes an object or a command of what it takes, or ``locals()``.
        keeps = function.word == "__init__" or function.decorators or "locals()" in unit.text
        taken = option in function.params and keeps
        if taken or option == function.word or option in unit.rebound:
            yield getattr(function.node, "lineno", 0), ...
        yield from ((each.row, each.constant) for each in _fields(function).get(option, ()))


def _functions_about(unit: Unit, option: str) -> Iterator[Function]:
    """Those whose text holds it as a word, also as it is written on a command line."""
    words = dict.fromkeys((option, option.replace("_", "-")))
    for outer in dict.fromkeys(each for word in words for each in unit.functions_naming(word)):
        yield from outer.everything()


def _setting(function: Function, option: str) -> Iterator[Op]:
    """The operations of a function that may set an option, by their kinds and texts."""
    for op in function.ops:
        named = op.code == "const" and option in op.text.replace("-", "_")
        if named or op.code in _SETTING:
            yield op


def _set_by(op: Op, option: str) -> Iterator[object]:
    constant = op.values.constant
    if op.text:
        uses = op.uses if _names(op.name, option) else ()
        yield from chain.from_iterable(_chosen(use) for use in uses if not _only_reads(use, op))
    elif op.code == "store_attr" and op.name == option:
        yield constant(op.args[1])
    elif op.code == "call":
        yield from (constant(value) for name, value in op.arguments() if name == option)
    elif op.code in ("function", "class", "import") and option in str(op.name).split("."):
        yield ...
    else:
        yield from _item_set_by(op, option)


def _chosen(use: Op) -> list[object]:
    """What the command line may set an option to that an operation names: one of its choices."""
    choices = use.given("choices") if word_of(use) == _ADDS else None
    given = None if choices is None else choices.elements
    return [...] if given is None else [*(each.constant for each in given), _default(use)]


def _item_set_by(op: Op, option: str) -> Iterator[object]:
    if op.code == "entry" and op.args[0].text == option and not is_written_out(op):
        yield op.values.constant(op.args[1])
    elif op.code == "store_item" and op.args[1].text == option:
        yield op.values.constant(op.args[2])


def is_written_out(entry: Op) -> bool:
    """Whether the dict of an entry only becomes text."""
    uses = [use for held in entry.uses for use in held.uses]
    return bool(uses) and all(not _WRITING.isdisjoint(use.called) for use in uses)


def values_by_default(
    unit: Unit, option: str, read: Op | None = None
) -> Iterator[tuple[int, object]]:
    """The same where nobody says anything on the command line; ``read``: as far as that operation
    may find it set so."""
    for function in _functions_about(unit, option):
        for op in _setting(function, option):
            if read is not None and _comes_after(op, read):
                continue
            for value in _set_by_default(op, option):
                yield op.row, value
        if option in _fields(function):
            for each in defaults(function, (option,)):
                yield getattr(each.node, "lineno", 0), each.constant


def _comes_after(op: Op, read: Op) -> bool:
    """Whether one operation of a function only runs once another has: ``if args.seed < 0:
    args.seed = draw()``."""
    if op.function is not read.function or op.place < read.place:
        return False
    return not any(each.loops and op.within(each) for each in read.region.around())


def _set_by_default(op: Op, option: str) -> Iterator[object]:
    constant = op.values.constant
    if op.text:
        for use in op.uses if _is_passed(op.name, option) else ():
            yield from _added_by_default(use, op)
    elif op.code == "store_attr" and op.name == option and _keeps_options(op):
        if not _hands_on(op.args[1], option):
            other = option_of(op.args[1])
            yield Other(other) if other else constant(op.args[1])
    elif op.code == "call" and word_of(op) in _SETS:
        yield from (constant(value) for name, value in op.arguments() if name == option)
    elif not _takes_apart(op, option):
        yield from _item_set_by(op, option)


def _added_by_default(use: Op, text: Op) -> Iterator[object]:
    """What a call gives an option by default that it names by a text."""
    if word_of(use) == _ADDS:
        yield _default(use)
    elif _CLICK in use.called:
        yield _default_of_click(use)
    elif word_of(use).startswith(_DEFINES):
        default = use.given("default", 1)
        yield ... if default is None else default.constant
    elif not _only_reads(use, text):
        yield ...


def _default_of_click(call: Op) -> object:
    """What ``@click.option("--size", default=3)`` gives, or a flag."""
    default, flag = call.given("default"), call.given("is_flag")
    if default is not None:
        return default.constant
    return False if flag is not None and flag.constant is True else ...


def _takes_apart(stored: Op, option: str) -> bool:
    """``args["nodes"] = {"first": args["nodes"][0]}``: only of what is there already."""
    value = stored.args[2] if stored.code == "store_item" else None
    made = behind(value, most=_MOST) if value is not None else ()
    return any(x.code == "item" and option_of(x.args[0]) == option for x in made)


def _keeps_options(stored: Op) -> bool:
    """Whether an object that gets an attribute holds options, also as one of ``class Config``."""
    owner = stored.args[0]
    return are_options(owner) or (
        owner.is_self and names.holds_options(stored.function.class_name.lower())
    )


def _hands_on(value: Op, option: str) -> bool:
    """``args.seed``, ``getattr(args, "seed", 0)``: the same option, by what else holds it."""
    asked = value.code == "call" and any(_asks(value, x) for x in value.args if x.text == option)
    return asked or option_of(value) == option


def _asks(call: Op, key: Op) -> bool:
    """``getattr(args, key, 0)``, ``hasattr(args, key)``."""
    return word_of(call) in _ASKING and call.args[2:3] == [key]


def _default(call: Op) -> object:
    """The value of an option that is given to a parser, if nobody sets it."""
    constant = call.values.constant
    given = {name: value for name, value in call.arguments() if isinstance(name, str)}
    if call.unpacks or ("required" in given and constant(given["required"]) is not False):
        return ...
    if "default" in given:
        return constant(given["default"])
    if "action" in given and last_word(given["action"])[:1].isupper():
        return None  # a class, which only acts where the option is given
    action = constant(given["action"]) if "action" in given else "store"
    return _BY_ACTION.get(action, ...) if isinstance(action, str) else ...


def _is_passed(text: str, option: str) -> bool:
    """Whether a text is an option, or passes it on a command line: no text that speaks of it."""
    flags = (each.partition("=")[0] for each in text.split() if each[0] == "-" or "=" in each)
    return any(_is_flag(each, option) for each in (text, *flags))


def _names(text: str, option: str) -> bool:
    """Whether a text is an option, or its flag on a command line, or holds it as a word."""
    plain = text.lstrip("-").replace("--", " ").replace("-", "_")
    return option in plain.replace("=", " ").replace(".", " ").split()


def _is_flag(text: str, option: str) -> bool:
    return text.lstrip("-").replace("-", "_") == option


def _only_reads(use: Op, key: Op) -> bool:
    """Whether an operation does no more with the name of an option than look it up, or sets it,
    which is told by itself."""
    if use.code in ("item", "store_item"):
        return use.args[1] is key
    if use.code == "call":
        method = use.args[0].name if use.args[0].code == "attr" else ""
        return (method in _READS and len(use.args) == 2) or _asks(use, key)
    return use.code in ("entry", "compare", "drop", "change")


def _fields(function: Function) -> dict[str, list[Op]]:
    return function.bindings if function.class_name == function.name else {}
