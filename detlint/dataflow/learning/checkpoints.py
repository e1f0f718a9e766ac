"""What checkpoints hold of a training, and how it goes on from one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import owner_written, word_of
from detlint.dataflow.loops.epochs import names_in
from detlint.dataflow.numerics.layers import moved
from detlint.dataflow.slices import ahead, alternatives, behind, closure
from detlint.models import layers
from detlint.models import training as rows
from detlint.models.model import words
from detlint.models.names import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Op, Region

_SAVING, _SAVES = frozenset(("torch.save",)), "save"
_READING = frozenset(("get", "pop"))
_HOLDING = frozenset(("binary", "change", "dict", "entry", "phi", "star", "store_item"))
_CARRYING = frozenset(("binary", "boolean", "call", "choice", "free", "phi", "tuple", "unpack"))
_NAMED = frozenset(("attr", "free", "global", "import", "param"))
_PARTS = frozenset(("dict", "entry", "list", "tuple"))
ANY = "*"  # whatever name
ALONE = "="  # beside the names of weights without the state of an optimizer
OWN = "own"  # in the place of these: the program has saved the weights
TRAINER, ASKED = "trainer", "trainer asked"  # what goes on: by itself, or where a caller says so
_LOADING = frozenset(("load_state_dict", "load_weights"))
_READ = frozenset(("load", "load_weights"))
_FOUND = frozenset(("exists", "isfile", "is_file"))
_RANGES = frozenset(("range", "trange"))
# What takes the name of a file apart.
PARTS_OF_TEXT = words("basename findall fullmatch group match rsplit search split splitext stem")
_OBJECTS = frozenset(("self", "cls"))  # which hold places, and are none
_MOST = 200
_FEW = 50  # operations between the name of a file and the number in it


def saving(call: Op) -> Op | None:
    """What writes the state of an optimizer that a call takes; the call itself, if that is done
    elsewhere; None where it takes none."""
    if word_of(call) != "state_dict" or not rows.is_optimizer(owner_written(call)):
        return None
    held = ahead([call], _HOLDING, _MOST)
    writers = (use for each in held for use in each.uses if use.code == "call")
    return next((each for each in writers if not _SAVING.isdisjoint(each.called)), call)


def resumed(call: Op) -> set[str] | None:
    """The names that the place in training gets, of a call that gives an optimizer the state that
    a checkpoint holds beside it, if any; ANY of a place that is returned; of one that gives a model
    weights those by which their file is called, OWN of what the program saves itself, and ALONE.
    None of any other call."""
    if word_of(call) not in _LOADING:
        return None
    if not rows.is_optimizer(owner_written(call)):
        places = {OWN} if _are_own(call) else set(_places_read(call))
        return {ALONE, *places} if places else None
    checkpoints = {each for value in call.args[1:2] for each in _held_in(value)}
    found = [
        _names_given(op)
        for op in call.function.ops
        if not checkpoints.isdisjoint(_held_in(op)) and _is_place(op)
    ]
    return set().union(*found)


def numbered(call: Op) -> set[str]:
    """The names that a place in training gets which is read out of the name of a file:
    ``first = int(path.stem.split("_")[-1])``, also by a function that gives it back."""
    if word_of(call) != "int" or not any(map(_is_part_of_text, behind(*call.args[1:2], most=_FEW))):
        return set()
    names = _names_given(call)
    if ANY in names:
        calls = call.function.outermost.known_calls.calls
        names = set().union(*(_names_given(each) for each in calls)) - {ANY}
    return names


def _is_part_of_text(value: Op) -> bool:
    called = word_of(value) if value.code == "call" else str(value.name)
    return value.code in ("attr", "call") and called in PARTS_OF_TEXT


def replaced(call: Op) -> Iterator[Op]:
    """What made the modules of which a call always replaces all weights, once they are made."""
    word, strict = word_of(call), call.given("strict")
    if word == "load_state_dict" and call.args[0].code == "attr":
        strict = call.given("strict", 1)
        made = closure([call.args[0].args[0]], _parts, _MOST)
    else:
        made = iter([call] if word == "load_from_checkpoint" else ())
    if strict is None or strict.constant is True:
        yield from (each for each in made if each.code == "call" and _always_leads(each, call))


def taken_before(made: Op, load: Op) -> Iterator[Op]:
    """The calls that a module, or what is made of it, takes part in until a checkpoint replaces its
    weights; of one that an object keeps, all that call the object's methods."""

    def then(value: Op) -> Iterator[Op]:
        yield from (each for each in value.uses if made.place < each.place < load.place)
        if value.code == "store_attr" and value.args[0].is_self:
            calls = value.function.coded("call")
            own = (each for each in calls if value.place < each.place < load.place)
            yield from (each for each in own if _is_of_self(each))

    taking = (each for each in closure([made], then, _MOST) if each is not made)
    yield from (each for each in taking if each.code == "call")


def _is_of_self(call: Op) -> bool:
    method = call.args[0]
    return method.code == "attr" and method.args[0].is_self


def _parts(module: Op) -> Sequence[Op]:
    """What a module is, or holds as parts."""
    if module.code == "attr":
        function, name = module.function, str(module.name)
        if name == "module":  # of a wrapper
            return module.args
        if module.args[0].code == "call" and module.args[0].uses == [module]:
            return module.args  # `resnet50().backbone`, of which the rest is dropped
        unit, owner = function.unit, function.class_name
        kept = unit.stored(owner, name) if module.args[0].is_self and owner in unit.classes else []
        return kept[0].args[1:] if [each.function for each in kept] == [function] else ()
    if module.code == "call":
        if held := moved(module):
            return held
        holds = word_of(module) in (*layers.CONTAINERS, *rows.PARALLEL)
        return module.args[1:] if holds else ()
    return module.args if module.code in _PARTS else alternatives(module)


def _always_leads(earlier: Op, later: Op) -> bool:
    """Whether one operation runs whenever another one has, failures aside."""
    returns = (each.place for each in earlier.function.coded("return"))
    left = any(earlier.place < each < later.place for each in returns)
    return not left and earlier.within(later.region) and earlier.place <= later.place


def fitted(call: Op) -> str:
    """How a Trainer of Lightning goes on from a checkpoint that its ``fit`` is given; "" of any
    other call."""
    given = call.given("ckpt_path") if word_of(call) == "fit" else None
    if given is None or given.is_none:
        return ""
    return ASKED if given.code == "param" else TRAINER


def started(loop: Region) -> set[str]:
    """The names of the round from which on a loop trains, if that may be a later one than the
    first and the loop does not seed in each round."""
    calls = [op for op in loop.ops() if op.code == "call"]
    trains = any(rows.steps(word_of(each)) for each in calls)
    if not trains or any("seed" in word_of(each) and each.args[1:] for each in calls):
        return set()
    return {name for each in _starts(loop) for name in names_in(each)} | _counted(loop)


def _counted(loop: Region) -> set[str]:
    """The attributes that say how many rounds there were, also in runs before: ``self.epoch += 1``
    in ``for _ in range(more)``, where nothing starts them anew."""
    head = loop.head
    over = behind(*head.args, most=_MOST) if head is not None else ()
    if not any(op.code == "call" and word_of(op) in _RANGES for op in over):
        return set()
    stores = loop.function.coded("store_attr")
    anew = {op.name for op in stores if op.place < loop.start and op.args[1].code == "const"}
    counting = (op for op in stores if op.loop is loop and _adds_one(op))
    return {str(op.name) for op in counting} - anew


def _adds_one(store: Op) -> bool:
    """``self.epoch += 1``, ``self.epoch = self.epoch + 1``."""
    made = store.args[1]
    if made.code not in ("augment", "binary") or made.name != "Add":
        return False
    old = made.node.target if isinstance(made.node, ast.AugAssign) else made.args[0].node
    return made.args[1].constant == 1 and isinstance(old, ast.Attribute) and old.attr == store.name


def _starts(loop: Region) -> Iterator[ast.AST]:
    """What the first round of a loop depends on: ``first`` of ``for epoch in range(first, last)``
    and of ``if epoch < first: continue``, the test of ``while step < last``, and of ``break``."""
    head = loop.head
    if isinstance(loop.node, ast.While):
        yield loop.node.test
        ends = (op.region.head for op in loop.ops() if (op.code, op.name) == ("leave", "break"))
        yield from (each.node for each in ends if each is not None and each is not head)
        return
    for op in behind(*head.args, most=_MOST) if head is not None else ():
        ranges = op.code == "call" and word_of(op) in _RANGES
        if ranges and op.given("", 1) is not None:
            yield op.given_nodes[0]
    for op in loop.ops():
        test = op.region.head if (op.code, op.name) == ("leave", "continue") else None
        compared = test.args[0] if test is not None and test.code == "test" else None
        if compared is not None and compared.code == "compare" and compared.args[0] is head:
            yield compared.args[1].node


def _held_in(value: Op) -> Iterator[str]:
    """What a value is read out of by keys, as it is written: ``state`` of ``state["optimizer"]``
    and of ``state.get("epoch")``."""
    read: Op | None = value
    while read is not None and (owner := _owner(read)) is not None:
        node = read.node.func if isinstance(read.node, ast.Call) else read.node
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            yield ast.unparse(node.value)
        read = owner


def _owner(read: Op) -> Op | None:
    if read.code == "item":
        return read.args[0]
    method = read.args[0] if word_of(read) in _READING else read
    return method.args[0] if method is not read and method.code == "attr" else None


def _are_own(load: Op) -> bool:
    """Whether weights are loaded where their file is there, to go on, and the file saves them under
    that name as well: ``if os.path.exists(path): model.load_weights(path)``, or in a ``try``."""
    paths = {_said(each) for each in _looked_for(load) if isinstance(each, ast.expr)}
    leaves = any(each.code == "return" for each in load.region.ops())
    return not (leaves or paths.isdisjoint(_written(load))) and any(
        not paths.isdisjoint(_written(each))
        for outer in load.function.unit.functions_holding(_SAVES)
        for each in outer.all_coded("call")
        if _saves_weights(each)
    )


def _looked_for(load: Op) -> Iterator[ast.AST]:
    """The paths of which a load needs one to be there, else training begins anew."""
    branch = load.region
    node = branch.node
    if isinstance(node, ast.If) and branch.kind == "if" and not _trains(node.orelse):
        tests = behind(*(branch.head.args if branch.head else ()), most=_FEW)
        for each in (op for op in tests if op.code == "call" and word_of(op) in _FOUND):
            yield from each.given_nodes
            if each.args[0].code == "attr":
                yield each.args[0].args[0].node
    elif isinstance(node, ast.Try) and branch.kind == "try":
        otherwise = [each for handler in node.handlers for each in handler.body]
        stops = any(isinstance(each, (ast.Raise, ast.Return)) for each in otherwise)
        if not (stops or _trains(otherwise)):
            calls = (op for op in behind(load, *load.args[1:], most=_FEW) if op.within(branch))
            reads = (op for op in calls if op.code == "call" and word_of(op) in _READ)
            yield from (x.given_nodes[0] for x in reads if x.given_nodes)


def _trains(statements: Sequence[ast.stmt]) -> bool:
    """Whether a branch trains what another one has loaded: ``else: train(net)``."""
    calls = (x for each in statements for x in ast.walk(each) if isinstance(x, ast.Call))
    functions = (each.func for each in calls)
    return any(
        rows.steps(each.attr if isinstance(each, ast.Attribute) else ast.unparse(each))
        for each in functions
    )


def _saves_weights(call: Op) -> bool:
    """``torch.save(net.state_dict(), path)``, ``save_checkpoint({"net": net.state_dict()})``."""
    word = word_of(call)
    if word == "save_weights" or not _SAVING.isdisjoint(call.called):
        return True
    held = behind(*call.args[1:], most=_FEW) if word.startswith(_SAVES) else ()
    return any(each.code == "call" and word_of(each) == "state_dict" for each in held)


def _written(call: Op) -> set[str]:
    """What a call is given, as it is written, and what calls behind that are given."""
    calls = [x for x in behind(*call.args[1:], most=_FEW) if x.code == "call"]
    return {_said(node) for each in (call, *calls) for node in each.given_nodes}


def _said(node: ast.expr) -> str:
    """How a path is written: ``path`` of ``self.path`` as well, which an object keeps."""
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def _places_read(load: Op) -> Iterator[str]:
    """The places in training that a file is called by: ``load(f"net_{first_epoch}.pt")``."""
    for each in behind(*load.args[1:2], most=_MOST):
        name = each.word if each.code in _NAMED else ""
        if name and not rows.PLACES.isdisjoint(words_of(name)):
            yield name


def _is_place(read: Op) -> bool:
    key = read.args[1].constant if read.args[1:] else None
    return isinstance(key, str) and not rows.PLACES.isdisjoint(words_of(key))


def _names_given(place: Op) -> set[str]:
    """The names by which a place in training is known where it goes."""
    found: set[str] = set()
    for each in ahead([place], _CARRYING, _MOST):
        found.update(each.function.names_of(each))
        for use in each.uses:
            if use.code == "return":
                return {ANY}
            if use.code in ("store_attr", "store_global"):
                found.add(str(use.name))
            elif use.code in ("entry", "store_item"):
                found.update(name for arg in use.args[:-1] for name in names_in(arg.node))
    return {each.rpartition(".")[2] for each in found} - _OBJECTS
