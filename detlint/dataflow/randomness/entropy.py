"""Where a value takes something that differs from run to run: clock, process, system."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.calls import bound, last_of, word_of
from detlint.dataflow.origins import chosen, member_of
from detlint.dataflow.randomness.seeding import drawn_from
from detlint.dataflow.slices import ahead
from detlint.models import files, listings, names, randomness
from detlint.models.differing import CALLS, DRAWN_FILES
from detlint.models.model import words
from detlint.models.tables import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detlint.dataflow.ir import Op

    # A value, the calls in which it is computed, inner ones first, and which member of it is asked
    # for, of that which, the last first; None where that is not known.
    Step = tuple["Op", tuple["Op", ...], tuple[object, ...]]

_CLOCK = "the clock"
_HASH = "a string's hash, which Python salts in each process"
_SYSTEM = "the operating system"
_MOST = 400  # operations behind a value that are asked
_FEW = 30  # what is made of one value of entropy
_DEEPEST = 4  # calls in calls
# Of these, all operands are a part of the value; of the others, as ``_parts`` says. The first stand
# for the same object, or for one of several.
_SAME = words("await declared enter free phi")
_MEMBERS = words("item iter list tuple unpack")
_WHOLE = _SAME | _MEMBERS | words("augment binary boolean format set slice star text unary")
_HANDING = ("submit", "apply_async", "result")  # what a task returns, as it is
# What gives what lies in a file or a folder, of whose name that is no part; or a temporary one.
_LOOKING = files.CONTENTS | listings.METHODS.keys() | DRAWN_FILES | CALLS["DRAWN_NAME"]
_LOOKED_IN = files.READERS.keys() | listings.FUNCTIONS.keys()


class Entropy(NamedTuple):
    """A value of entropy.

    call     the call that makes it
    what     where it comes from, in words
    library  the library of a global generator that made it, which something may have seeded
    members  of a tuple, the places of those that it is in; empty: the value itself
    """

    call: Op
    what: str
    library: str = ""
    members: frozenset[object] = frozenset()

    def is_at(self, keys: tuple[object, ...]) -> bool:
        """Whether it may be in the member of a value that is asked for."""
        return not (self.members and keys) or keys[-1] in (None, *self.members)


class Entropies:
    """Answers for the values of one file; ``given``: calls that give entropy of another file."""

    def __init__(self, given: Mapping[Op, Entropy] | None = None) -> None:
        self._given = given or {}
        self._without: set[Step] = set()
        self._known: dict[Step, Entropy] = {}

    def of(self, value: Op) -> Entropy | None:
        """The first entropy in a value, however wrapped, also through locals, attributes and what
        functions of the file return."""
        seen: set[Step] = set()
        pending: list[Step] = [(value, (), ())]
        while pending and len(seen) < _MOST:
            step = pending.pop()
            if step in seen or step in self._without:
                continue
            seen.add(step)
            found = self._known.get(step) or self._given.get(step[0])
            found = found or source(step[0])
            if found is not None and found.is_at(step[2]):
                self._known[value, (), ()] = found
                return found
            pending += reversed(list(_parts(*step)))
        if not pending:
            self._without |= seen
        return None


def source(op: Op) -> Entropy | None:
    """What a call draws from, if it makes something that differs in each run; also what a
    function draws from that is handed on to be called."""
    if op.code in ("attr", "global", "import"):
        handed = map(randomness.ENTROPY.get, op.values.qualified(op))
        what = next(filter(None, handed), None)
        return Entropy(op, what) if what is not None else None
    if op.code != "call":
        return None
    if reseeds_torch(op):
        return Entropy(op, _SYSTEM)
    called = op.called
    what = next(filter(None, map(randomness.ENTROPY.get, called)), None)
    if what is not None or _reads_clock(op):
        return Entropy(op, what or _CLOCK)
    if "builtins.hash" in called and len(op.args) > 1 and _is_text(op):
        return Entropy(op, _HASH)
    library = drawn_from(op)
    return Entropy(op, randomness.GENERATORS[library], library) if library else None


def _reads_clock(call: Op) -> bool:
    """Whether a call writes or takes apart the time of now, as it is given no other one, or is
    given the word for it: ``np.datetime64("now")``."""
    if not randomness.CLOCKS_BY_WORD.isdisjoint(call.called):
        given = [call.values.constant(each) for each in call.args[1:2]]
        return any(each in randomness.NOW for each in given if isinstance(each, str))
    places = map(randomness.CLOCKS_BY_DEFAULT.get, call.called)
    known = [each for each in places if each is not None]
    return bool(known) and len(list(call.arguments())) <= max(known)


def reseeds_torch(call: Op) -> bool:
    """Whether a call is ``torch.seed()`` or its kin, or ``.seed()`` of a torch generator."""
    values, function = call.values, call.args[0]
    if len(call.args) > 1:
        return False
    if not randomness.TORCH_RESEEDING.isdisjoint(values.called(call)):
        return True
    if function.code != "attr" or function.name != "seed":
        return False
    owner = function.args[0]
    if owner.code == "item":
        return "torch.cuda.default_generators" in values.qualified(owner.args[0])
    return is_generator(owner, "torch.Generator")


def reseeds(call: Op) -> bool:
    """Whether a call without a seed, or with None, seeds ``random``, NumPy or CuPy."""
    given = [value for _, value in call.arguments()]
    if len(given) > 1 or call.unpacks:
        return False
    if given and not (given[0].is_none):
        return False
    if not randomness.RESEEDING.isdisjoint(call.called):
        return True
    function = call.args[0]
    return (
        function.code == "attr"
        and function.name == "seed"
        and is_generator(function.args[0], "random.Random", "numpy.random.RandomState")
    )


def replaces_seeding(store: Op) -> bool:
    """``np.random.seed = 0``: a number in the place of the function that seeds."""
    values, (owner, given) = store.values, store.args
    named = {f"{each}.{store.name}" for each in values.qualified(owner)}
    if randomness.SEEDING.isdisjoint(named):
        return False
    written = getattr(store.node, "value", None)
    if isinstance(written, (ast.Name, ast.Attribute)):
        return ast.unparse(written).lower().endswith("seed")
    return isinstance(values.constant(given), int)


def is_generator(op: Op, *classes: str) -> bool:
    """Whether a value is seen to be an object of one of some classes."""
    return any(
        made is not None and made.called and not set(classes).isdisjoint(made.names)
        for made in op.origins
    )


def _is_text(call: Op) -> bool:
    """Whether what is hashed is a string or bytes, or holds one: its hash is salted."""
    types = call.values.types(call.args[1])
    salted = lattice.holds(types, lambda one: one.name in ("str", "bytes"))
    return (bool(lattice.hash_varies(types)) and salted) or names_text(call)


def names_text(call: Op) -> bool:
    """Whether what a call is given first, or a part of it, is a text by its name alone."""
    values, given = call.values, call.args[1]
    node = next(iter(call.call_node.args), None)
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    ops = given.args if given.code == "tuple" else [given]
    pairs = zip(parts, ops, strict=False)
    return any(not lattice.is_known(values.types(op)) and _names_text(node) for node, op in pairs)


def _names_text(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Subscript):  # `row["text"]`
        key = node.slice
        return isinstance(key, ast.Constant) and names.is_text(str(key.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        # Of what has such a method and can be hashed, texts.
        return "str" in METHODS.get(node.func.attr, ()) and _names_text(node.func.value)
    return names.is_text(last_of(node))


# What a value is made of: tests and comparisons only decide


def _parts(op: Op, calls: tuple[Op, ...], keys: tuple[object, ...]) -> Iterator[Step]:
    if op.code in _MEMBERS:
        yield from ((each, calls, inner) for each, inner in _members(op, keys))
    elif op.code in _WHOLE:
        yield from ((each, calls, keys if op.code in _SAME else ()) for each in op.args)
    elif op.code == "choice":
        yield from ((each, calls, keys) for each in op.args[1:])
    elif op.code == "comprehension" and op.name != "dict":
        yield op.args[0], calls, keys[:-1]
    elif op.code == "attr":
        yield from ((each, calls, inner) for each, inner in _of_attribute(op, keys))
    elif op.code == "call":
        yield from _of_call(op, calls, keys)
    elif op.code == "global":
        unit = op.function.unit
        named = str(op.name) in unit.bound_names
        yield from ((each, (), keys) for each in (unit.values.bound(op) if named else ()))
    elif op.code == "param" and calls:
        given = bound(op.function, calls[0]).get(op)
        if given is not None:
            yield given, calls[1:], keys


def _members(op: Op, keys: tuple[object, ...]) -> Iterator[tuple[Op, tuple[object, ...]]]:
    """Of a member the whole, and the other way round: ``error, seconds = run()``."""
    if op.code in ("list", "tuple"):
        yield from ((each, keys[:-1]) for each in chosen(op, keys))
        return
    yield op.args[0], (*keys, member_of(op))
    yield from ((each, ()) for each in op.args[1:])


def _of_call(op: Op, calls: tuple[Op, ...], keys: tuple[object, ...]) -> Iterator[Step]:
    callee = op.values.callee(op)
    if callee is not None and len(calls) < _DEEPEST:
        yield from ((each, (op, *calls), keys) for each in callee.returned)
        return
    if word_of(op) in _LOOKING or not _LOOKED_IN.isdisjoint(op.called):
        return
    function = op.args[0]
    keys = keys if word_of(op) in _HANDING else ()
    if function.code == "attr":  # a method may hand on anything: sha256(text).hexdigest()
        yield function.args[0], calls, keys
    yield from ((each, calls, keys) for _, each in op.arguments())


def _of_attribute(op: Op, keys: tuple[object, ...]) -> Iterator[tuple[Op, tuple[object, ...]]]:
    """Of something made by another call, what it is given under the attribute's name alone:
    ``load(path_with_the_time).seed`` is no clock's."""
    owners = op.args[0].args if op.args[0].code == "phi" else [op.args[0]]
    unit = op.function.unit
    for owner in owners:
        if owner.code == "call" and source(owner) is None:
            given = owner.given(str(op.name))
            yield from [(given, keys)] if given is not None else []
        elif unit.values.owner(owner):
            held = unit.held(unit.values.owner(owner), str(op.name))
            yield from ((each, keys) for each in held)
        else:
            yield owner, ()


def _made_of(value: Op) -> Iterator[Op]:
    return ahead([value], _WHOLE | {"attr", "call", "choice"}, _FEW)


def is_returned(value: Op) -> bool:
    """Whether the function around a value gives it to those who call that, however wrapped."""
    return any(use.code == "return" for each in _made_of(value) for use in each.uses)


def kept_as(value: Op) -> set[str]:
    """The attributes, variables of the module and functions that hand a value to other code."""
    found: set[str] = set()
    for each in _made_of(value):
        for use in each.uses:
            if use.code in ("store_attr", "store_global") and use.args[-1] is each:
                found.add(str(use.name))
            elif use.code == "return":
                found.add(use.function.word)
    return found
