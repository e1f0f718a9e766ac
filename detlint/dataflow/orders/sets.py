"""Sets whose order differs from run to run, and where it shows."""

from __future__ import annotations

import ast
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.calls import is_empty, parameter_of, word_of
from detlint.dataflow.orders.order import Orders
from detlint.dataflow.randomness.data_sets import made_of
from detlint.dataflow.slices import (
    alternatives,
    behind,
    closure,
    states_before,
)
from detlint.models import names
from detlint.models.model import Order, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.lattice import Types
    from detlint.dataflow.orders.use import Use
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_JOINING = frozenset(("itertools.chain", "itertools.product"))
_JOINS_EACH = "itertools.chain.from_iterable"
_READING_METHODS = frozenset(["imap", "map", "starmap", "extend", "extendleft", "writelines"])


# What gives the next state of a container, or another name to it.
STATES = frozenset(("augment", "change", "declared", "delete", "free", "phi", "store_attr"))
_MADE_OF = words("augment binary boolean call change choice declared phi")


# Functions that share sets with those that a search begins with, and those that name one.
_MOST = 200
_FEW = 30


# By which a table, an array or a graph is told what it reads.
_KINDS_READ = ("dtype", "nodetype")
_COPIES = frozenset(("copy", "items", "keys", "values"))
_SAME = frozenset(("dropna", "to_list", "tolist", "unique"))  # columns, which hold no other values


class Reading(NamedTuple):
    """A place where a set is gone through."""

    op: Op  # the set
    by: Op  # what goes through it
    use: Use  # where the order shows
    elements: Types
    guessed: bool  # by names, or by what is done with them
    unknown: bool  # not even that says what the elements are
    assumed: bool  # it only seems to show, or seems to be a set whose order varies
    several: bool  # the operation is no set, but gives several

    @property
    def unit(self) -> Unit:
        """The file that it stands in."""
        return self.by.function.unit

    @property
    def node(self) -> ast.expr:
        """The expression that is read."""
        return read_at(self.by, self.op)

    @property
    def kind(self) -> str:
        """What the elements are, as a message says it; "" if that is a guess."""
        names = {one.name for one in self.elements}
        if self.guessed:
            return ""
        if "?" in names:
            return "" if names <= {"str", "?"} else "objects"
        return {"str": "strings", "bytes": "bytes"}.get("".join(names), "objects")

    @property
    def sorts(self) -> bool:
        """Whether the elements are known to compare with each other, and are those of one set."""
        return not self.several and lattice.compare(self.elements)

    @property
    def lacks_order(self) -> bool:
        """Whether the elements are known not to be all of one type that compares."""
        return bool(self.kind) and not self.sorts

    def way(self) -> list[tuple[ast.AST, str]]:
        """Where the set is made, gone through, and its order shows, in this file."""
        made = self.op
        while made.code in STATES and made.args:
            made = made.args[0]
        return [(made.node, "the set is made here"), *self.way_on()]

    def way_on(self) -> list[tuple[ast.AST, str]]:
        """Where it is gone through, and its order shows, in this file."""
        return [(self.node, "gone through here"), self.use.step]


def read_at(by: Op, value: Op) -> ast.expr:
    """The expression by which an operation takes a value."""
    node = by.node
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node.iter
    if by.code == "call" and isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and value in by.args[0].args:
            return node.func.value
        each = by.given_nodes[by.args.index(value, 1) - 1]
        return each.value if isinstance(each, ast.Starred) else each
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Starred, ast.YieldFrom)):
        return node.value
    return node  # type: ignore[return-value]


def _put(op: Op) -> list[Op]:
    """What a call of ``add``, or a comprehension, puts into a container."""
    if op.code == "comprehension":
        return [op.args[op.name == "dict"]]
    return list(op.args[1].args[1:]) if op.name in ("add", "append") else []


class Sets:
    """Looks for them in the functions of one file; ``others`` opens more.

    ``foreign``: for those that other files give this one, and not its own.
    """

    def __init__(
        self, unit: Unit, others: OtherFiles | None = None, *, foreign: bool = False
    ) -> None:
        self.unit = unit
        self.values = unit.across
        self.orders = Orders(self.values, distinct=True, others=others)
        self.left: list[ast.AST] = []  # sets of which the order is handed to files out of sight
        self._foreign = foreign

    def near(self, offsets: Iterable[int]) -> list[Function]:
        """The functions that some offsets lie in, and those that share a set with them."""
        starts = list(self.unit.functions_at(offsets))
        return list(closure(starts, self._beside, len(starts) + _MOST))

    def _beside(self, function: Function) -> Iterator[Function]:
        yield from self._sharing(function)
        yield from self._asking(function)

    def _asking(self, function: Function) -> Iterator[Function]:
        """The functions that may call one that gives a set."""
        name = function.word
        if function.is_defined and _holds_set(self.values.returned(function)):
            yield from self.naming(name)

    def naming(self, name: str) -> list[Function]:
        """The functions that name something, unless that may be anything."""
        naming = self.unit.functions_naming(name)
        return naming if len(naming) <= _FEW else []

    def _sharing(self, function: Function) -> Iterator[Function]:
        """The functions that read an attribute or a name of the module that is a set here."""
        for op in function.ops:
            if op.code == "store_attr" and self._may_be_set(op.args[1]):
                yield from self.naming(str(op.name))
            elif op.code == "store_global" and self._may_be_set(op.args[0]):
                yield from self.unit.functions_naming(str(op.name))
        of_class = isinstance(function.node, ast.ClassDef)
        for name, bound in function.bindings.items():
            if (of_class or name.startswith("self.")) and any(map(self._may_be_set, bound)):
                yield from self.naming(name.rpartition(".")[2])

    def _may_be_set(self, op: Op) -> bool:
        return _holds_set(self.values.types(op))

    def of_function(self, function: Function, rows: Collection[int] = ()) -> Iterator[Reading]:
        """Those of a function, and of the functions in it; ``rows``: only those that may stand in
        one of them."""
        for each in function.everything():
            for op in each.ops if not rows else filter(partial(_is_in, rows=rows), each.ops):
                for value in self._read_by(op):
                    yield from self._judge(value, op)
                for value in self._joined_by(op):
                    yield from self._judge(value, op, several=True)

    def _read_by(self, op: Op) -> Iterator[Op]:
        """The sets that an operation takes the elements of, one after the other."""
        if op.code in ("iter", "yield_from", "unpack"):
            if op.code != "unpack" or op.name[0] == 0:
                yield from filter(self.is_set, op.args[:1])
        elif op.code == "star":
            if op.name != "**" and not all(each.code == "set" for each in op.uses):
                yield from filter(self.is_set, op.args[:1])
        elif op.code == "augment":
            if op.name == "Add" and self.is_set(op.args[1]):
                yield op.args[1]
        elif op.code == "call":
            yield from self._read_by_call(op)

    def _read_by_call(self, call: Op) -> Iterator[Op]:
        function = call.args[0]
        pops = function.code == "attr" and function.name == "pop" and len(call.args) == 1
        if pops and self.is_set(function.args[0]):
            yield function.args[0]
        for name, value in call.arguments():
            if name != "**" and self.is_set(value) and self.goes_through(call, name, value):
                yield value

    def _joined_by(self, op: Op) -> Iterator[Op]:
        """What holds the sets that a call goes through: ``chain(*sets)``."""
        called = self.values.called(op) if op.code == "call" else ()
        starred = not _JOINING.isdisjoint(called)
        if not starred and _JOINS_EACH not in called:
            return
        for name, value in op.arguments():
            held = self.values.elements(value)
            if name == ("*" if starred else None) and lattice.are(held, "set"):
                own = lattice.are(self.unit.values.elements(value), "set")
                if own is not self._foreign:
                    yield value

    def is_set(self, op: Op) -> bool:
        """Whether a value is a set where it is read first: ``groups[key] = list(groups[key])``."""
        own = _is_set(self.unit.values, op)
        return not own and _is_set(self.values, op) if self._foreign else own

    def goes_through(self, call: Op, name: str | None, value: Op) -> bool:
        """``list(x)``, ``enumerate(x)``, ``", ".join(x)``, ``max(x, key=len)``, ``f(*x)``."""
        row = self.values.function_row(call) or self.values.method_row(call)
        order = row.order if row is not None else None
        word = word_of(call)
        if name == "*":
            joins = word in ("update", "union", "intersection")
            return not joins and order not in (Order.FREE, Order.EXTREME)
        if order is not None:
            named = {"copy.copy", "copy.deepcopy", "typing.cast"} & set(self.values.called(call))
            return order is not Order.FREE and not named
        taken = self._taken(call, value)
        if taken is not None:  # what takes a set is judged itself
            return not any(x is None or x.function.unit.across.is_set(x) for x in taken)
        method = call.args[0].code == "attr"
        return names.is_bar(word) or (method and (word == "join" or word in _READING_METHODS))

    def _taken(self, call: Op, value: Op) -> Sequence[Op | None] | None:
        """By which parameters functions of the project take what a call gives them, as far as that
        is seen; None where none is."""
        function = self.values.callee(call) or self.values.builder(call)
        if function is not None:
            return [parameter_of(function, call, value)]
        imported = self.orders.imported
        return (imported.taken(call, value) or None) if imported is not None else None

    def _judge(self, value: Op, by: Op, *, several: bool = False) -> Iterator[Reading]:
        if self.orders.effects.is_one(value):
            return
        elements = self.values.elements(value)
        if several:
            elements = lattice.elements(elements)
        varies = lattice.hash_varies(elements)
        if varies is False or stays_empty(value):
            return
        guessed = varies is None
        seems_text = guessed and self._seems_text(value, by)
        # What is known of some of the elements is taken for the others.
        numbers = lattice.may_be(elements, "float", "int")
        seems_number = guessed and not seems_text and (numbers or self._seems_number(value, by))
        use = next(self.orders.uses_at(value, by), None)
        if use is None:
            self.left += [read_at(by, value)] if self.orders.leaves else []
            return
        if use.how == "looped over" and _numbers(by):
            use = use._replace(how="numbered")
        unknown = guessed and not seems_text
        assumed = use.assumed or seems_number or (unknown and not use.tells)
        assumed = assumed or self.orders.effects.is_dead(use.op)
        yield Reading(value, by, use, elements, guessed, unknown, assumed, several)

    def _seems_text(self, value: Op, by: Op) -> bool:
        """Whether names, or what takes an element, say that a set holds texts."""
        if any(names.is_text(name) for each in _elements_of(value) for name in _names_of(each)):
            return True
        if any(map(_labels_rows, closure([value], self._held_by, _FEW))):
            return True
        named = [*_names_behind(value), *(by.function.names_of(by) if by.code == "call" else ())]
        return any(map(names.are_texts, named)) or self._taken_for_text(by)

    def _seems_number(self, value: Op, by: Op) -> bool:
        """Whether names say that a set of unknown elements holds numbers."""
        targets = [
            name
            for each in [*_elements_of(value), *([by] if by.code == "iter" else [])]
            for name in _names_of(each)
        ]
        if any(map(names.is_number, [*targets, *_names_behind(value)])):
            return True
        held = list(closure([value], self._held_by, _FEW))
        ends = [x for x in held if not (is_empty(x) or any(True for _ in self._held_by(x)))]
        return len(held) > 1 and bool(ends) and all(map(self._is_numeric, ends))

    @cached_property
    def _declares_texts(self) -> bool:
        """Whether the file reads a table or a graph of which it says that it holds texts."""
        functions = self.unit.functions_holding(*_KINDS_READ)
        calls = (call for each in functions for call in each.coded("call"))
        told = (call.given(each) for call in calls for each in _KINDS_READ)
        kinds = behind(*(each for each in told if each is not None), most=_FEW)
        return any("builtins.str" in self.values.qualified(each) for each in kinds)

    def _held_by(self, op: Op) -> Iterator[Op]:
        """What a set, or the dict of which it is made, is seen to hold, and what it is before."""
        if op.code in ("phi", "free", "declared", "choice"):
            yield from alternatives(op)
        elif op.code == "tuple":
            yield from op.args
        elif op.code == "store_item":
            yield from (op.args[0], op.args[2])
        elif op.code == "change" and op.name in ("add", "append"):
            yield from (op.args[0], *_put(op))
        elif op.code in ("augment", "binary") and self.values.is_set(op):
            yield from op.args
        elif op.code == "comprehension":
            yield from _put(op)
        elif op.code == "call" and len(op.args) == 1 and word_of(op) == "values":
            yield from op.args[0].args
        elif op.code == "call" and word_of(op) in ("set", "frozenset"):
            yield from op.args[1:]
        elif op.code == "call":
            function = self.values.callee(op)
            yield from function.returned if function is not None else ()

    def _is_numeric(self, op: Op) -> bool:
        """Whether a value is a number, for all that its types, a method of the file by that name or
        what it is put beside tell; or a node, by its name."""
        if any(map(names.is_node, _names_of(op))) and not self._declares_texts:
            return True
        types = self.values.types(op)
        if op.code == "call" and op.args[0].code == "attr" and not lattice.is_known(types):
            word = str(op.args[0].name)
            methods = [self.unit.method(each, word) for each in self.unit.classes]
            given = [self.values.returned(each) for each in methods if each is not None]
            types = lattice.joined(*given) if given else types
        counts = op.code == "binary" and any(
            lattice.are(self.values.types(x), "int") for x in op.args
        )
        return counts or lattice.hash_varies(types) is False or self._is_beside_numbers(op)

    def _is_beside_numbers(self, op: Op) -> bool:
        """Whether numbers are put into what a set is made of, or are looked for in it or in a list
        of its elements: ``if i in y_pred: y_pred[0] = i``."""
        return any(
            lattice.hash_varies(self.values.types(x)) is False
            for each in closure([op], _copies_or_states, _FEW)
            for use in each.uses[:_FEW]
            for x in _beside(use, each)
        )

    def _taken_for_text(self, by: Op) -> bool:
        if by.code != "iter":
            return False
        if any(map(names.is_text, by.function.names_of(by))):
            return True
        return any(self._is_text_use(use, by) for use in by.uses)

    def _is_text_use(self, use: Op, element: Op) -> bool:
        """``name.startswith("a")``, ``name == "a"``, ``os.path.join(folder, name)``."""
        from detlint.models.tables import METHODS

        if use.code == "attr":
            return set(METHODS.get(str(use.name), ())) == {"str"}
        if use.code in ("compare", "binary"):
            return any(
                lattice.may_be(self.values.types(x), "str") for x in use.args if x is not element
            )
        row = self.values.function_row(use) if use.code == "call" else None
        return row is not None and row.name.startswith(("os.path.", "builtins.open"))


def _copies_or_states(op: Op) -> Iterator[Op]:
    """What a container is next, and what keeps its elements by themselves."""
    for use in op.uses[:_FEW]:
        copies = use.code == "call" and word_of(use) in ("list", "set", "unique")
        if copies or op in states_before(use):
            yield use


def _beside(use: Op, held: Op) -> Iterator[Op]:
    """What an operation puts into a container, or looks for in it."""
    if use.code == "store_item" and use.args[0] is held:
        yield use.args[2]
    elif use.code == "compare" and use.name in (("In",), ("NotIn",)) and use.args[1] is held:
        yield use.args[0]


def _numbers(by: Op) -> bool:
    """``for x in names: ids[x] = len(ids)``, ``for i, x in enumerate(names): ids[x] = i``."""
    taking = closure([by], lambda op: op.uses if op.code == "call" else (), _FEW)
    for head in (each for each in taking if each.code == "iter"):
        elements = {head, *(each for each in head.uses if each.code == "unpack")}
        for op in head.region.ops():
            if op.code == "store_item" and op.args[1] in elements:
                held = op.args[2]
                if held in elements or _is_length_of(op.args[0], held) or _is_count(held, head):
                    return True
    return False


def _is_length_of(container: Op, op: Op) -> bool:
    return op.code == "call" and op.args[0].name == "len" and container in op.args[1:]


def _is_count(op: Op, head: Op) -> bool:
    """Whether a value is one more in each round of a loop."""
    return op in head.region.joints and any(each.code == "augment" for each in op.args)


def _is_in(op: Op, rows: Collection[int]) -> bool:
    first = op.row
    return any(first <= each <= (getattr(op.node, "end_lineno", None) or first) for each in rows)


def stays_empty(op: Op) -> bool:
    """``frozenset()``, to which nothing is added."""
    return word_of(op) == "frozenset" and is_empty(op)


def _is_set(values: Values, op: Op) -> bool:
    if not (op.code == "item" or _is_set_before(values, op)):
        return values.is_set(op)
    types = values.types(op)
    return lattice.may_be(types, "set") and lattice.are(types, "set", "list")


def _is_set_before(values: Values, op: Op) -> bool:
    """Whether an attribute is read that is a set until the same function makes a list of it:
    ``self.names = list(self.names)``."""
    if op.code != "attr" or not op.args[0].is_self:
        return False
    kept = op.function.unit.stored(op.function.class_name, str(op.name))
    later = [x for x in kept if x.function is op.function and x.place > op.place]
    earlier = [x for x in kept if x not in later]
    held = (x.args[1] if x.code == "store_attr" else x for x in earlier)
    return bool(later and earlier) and all(map(values.is_set, held))


def _holds_set(types: Types) -> bool:
    """Whether a value may be a set, or a container of sets."""
    return lattice.holds(types, lambda one: one.name in ("set", "keys"))


def _labels_rows(op: Op) -> bool:
    """The index of a table that takes it from a column: ``read_csv(path, index_col=0).index``."""
    if op.code != "attr" or op.name != "index":
        return False
    made = closure(op.args[:1], made_of, _FEW)
    return any(map(_takes_labels, (each for each in made if each.code == "call")))


def _takes_labels(call: Op) -> bool:
    column = call.given("index_col")
    unnamed = column is None or column.constant is None or column.constant is False
    return not unnamed or word_of(call) == "set_index"


def _elements_of(op: Op) -> Iterator[Op]:
    """What a set is written to hold: ``{name for name, _ in rows}``, ``set(x.name for x in y)``,
    ``found.add(row["name"])``."""
    taken = {"call": slice(1, None), "change": slice(1), "phi": slice(None)}
    for each in closure([op], lambda op: op.args[taken.get(op.code, slice(0))]):
        if each.code == "comprehension":
            made = each.args[0]
            yield from made.args if made.code == "tuple" else [made]
        elif each.code == "change" and each.name == "add":
            yield from each.args[1].args[1:]


def _names_of(op: Op) -> list[str]:
    bound = op.function.names_of(op)
    key = op.args[1].name if op.code == "item" else op.name if op.code == "attr" else None
    return [*bound, key] if isinstance(key, str) else bound


def _names_behind(op: Op, depth: int = 4) -> Iterator[str]:
    """The names of what a set is made of."""
    if op.code == "param":
        yield str(op.name[1])
    elif op.code in ("global", "free", "phi", "attr") and isinstance(op.name, str):
        yield op.name
    elif op.code == "item" and op.args[1].text:
        yield op.args[1].text
    called = op.args[0] if op.code == "call" and len(op.args) == 1 else None
    if called is not None and called.code == "attr":
        if called.name in _SAME and depth:
            yield from _names_behind(called.args[0], depth - 1)
        elif called.name not in _COPIES:
            yield str(called.name)
    if depth:
        below = op.args[1:] if op.code == "call" else op.args
        if op.code in _MADE_OF:
            for each in below:
                yield from _names_behind(each, depth - 1)
