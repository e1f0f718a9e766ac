"""Random numbers that no result depends on: pauses, ports, names of things, what is only shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import names_read, names_tested
from detlint.dataflow.calls import word_of
from detlint.dataflow.control import are_sides, is_beside
from detlint.dataflow.ends import NOWHERE, End, ends_of
from detlint.dataflow.path_conditions import Paths
from detlint.dataflow.randomness.generators import names_given, nearest_names
from detlint.dataflow.randomness.seeding import drawn_from
from detlint.dataflow.slices import LEAVING, SAME, ahead, behind, closure
from detlint.index.facts import CHOSEN, HANDLES, IDLE, ON_CPU, TESTED, TRAINS
from detlint.models import names, randomness
from detlint.models.model import words
from detlint.models.roles import TRAINING_STEPS
from detlint.models.training import says_training
from detlint.syntax.layout import says_in_code

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Function, Op, Region

_PICKS = words("choice choices permutation randint randperm randrange sample")
_KEEPS = ("savefig",)  # which is a result, but for where something is trained
_MOST = 60  # what a test is made of
_KEEPING = LEAVING - {"return"} | {"drop"}


def doubt(op: Op, alike: Collection[Op]) -> int:
    """Why an operation may not count where its function runs; 0 where nothing speaks against it.
    ``alike``: those of the function that do the same, of which one may run in its place."""
    library = drawn_from(op)
    if library and is_idle(op):
        return IDLE
    if _seeds_beside_gpu(op):
        return ON_CPU
    if _picks_seed(op):
        return CHOSEN
    kinds = {each.kind for each in _conditional(op) if not _is_beside_any(each, alike)}
    if kinds:
        return HANDLES if "except" in kinds else TESTED
    return TRAINS if library and is_for_training(op) else 0


def _seeds_beside_gpu(op: Op) -> bool:
    """Whether the other branch seeds the generators of GPUs, which are not those of the CPU:
    ``torch.cuda.manual_seed(1) if cuda else torch.manual_seed(1)``."""
    if op.code != "call" or randomness.SEEDING_TORCH.isdisjoint(op.called):
        return False
    others = [each for each in op.function.coded("call") if are_sides(op, each)]
    called = [name for each in others for name in each.called]
    return not randomness.SEEDING_GPU.isdisjoint(called) and not any(
        "torch" in randomness.BY_NAME.get(name, ()) for name in called
    )


def _picks_seed(op: Op) -> bool:
    """Whether a call is of one of several functions that seed other libraries each:
    ``SEEDERS[name](seed)``, but for a loop over the whole table."""
    if op.code != "call" or op.args[0].code != "item":
        return False
    table, key = op.args[0].args
    keys = op.values.bound_to(key.args[0]) if key.code == "iter" else None
    seeded = {randomness.BY_NAME.get(each) for each in op.called} - {None}
    return len(seeded) > 1 and keys is not op.values.bound_to(table)


def is_for_training(op: Op) -> bool:
    """``if training`` around, or ``if p == 0 or not training: return x`` above."""
    above = [each for each in op.function.coded("return") if each.place < op.place]
    own = [each for each in op.region.around() if _answers(each) is not True]
    left = (x for each in above for x in each.region.around() if _answers(x) is not False)
    heads = [each.head for each in (*own, *left) if each.kind in ("if", "else")]
    asked = {name for head in heads if head for test in head.args for name in names_read(test)}
    return any(map(says_training, asked))


def _is_beside_any(region: Region, alike: Collection[Op]) -> bool:
    """Whether the other branch of a statement does one of some things, whatever that finds."""
    others = (each for each in alike if is_beside(region, each))
    return any(next(_conditional(each)).node is region.node for each in others)


def may_not_run(op: Op) -> bool:
    """Whether an operation stands behind a test that may be false, or handles an error."""
    return any(True for _ in _conditional(op))


def _answers(region: Region) -> bool | None:
    """Whether a module gets to a branch where it answers, or where it is trained: ``else`` of
    ``if self.training``; None for a branch of another test."""
    if region.kind not in ("if", "else") or region.head is None or not region.head.args:
        return None
    test, holds = region.head.args[0], region.kind == "if"
    while test.code == "not":
        test, holds = test.args[0], not holds
    of_mode = test.code == "attr" and test.name == "training" and test.args[0].is_self
    return not holds if of_mode else None


def tries_again(draw: Op) -> bool:
    """Whether something is drawn only after a failure: in what handles an error, or in a loop that
    returns before what it was after."""
    around = list(draw.region.around())
    loops = {each for each in around if each.loops}
    returns = (each for each in draw.function.coded("return") if each.place < draw.place)
    handles = any(each.kind == "except" for each in around)
    return handles or any(not loops.isdisjoint(each.region.around()) for each in returns)


def is_idle(draw: Op) -> bool:
    """``time.sleep(random.uniform(0, 5))``, ``port = random.randint(1024, 65535)``."""
    name = draw.function.word
    if names.only_traces(name, [], "") or any(map(names.is_aside, (name, *_given(draw)))):
        return True
    asked = _is_asked_for(draw) or _is_commanded(draw)
    pictured = names.says_picture(name) and word_of(draw) in _PICKS and _is_no_result(draw)
    picks = word_of(draw) in _PICKS
    shown = ends_of(draw, picks=picks) not in (NOWHERE, End.ELSE)
    return asked or pictured or shown or _picks_any(draw)


def is_unused(draw: Op, *, alone: bool) -> bool:
    """Whether nothing takes what is drawn; ``alone``: nor would another file, of the variables of
    this one. What is drawn in place is there all the same."""
    if word_of(draw) == "shuffle" or draw.given("out") is not None:
        return False
    reads = draw.function.unit.reads
    return _leaves_nothing(draw.function) or all(
        use.code == "drop"
        or (alone and use.code == "store_global" and not any(reads("global", str(use.name))))
        for use in draw.uses
    )


def _leaves_nothing(function: Function) -> bool:
    """Whether a function only works something out and asserts what that is."""
    return function.is_defined and not any(
        op.code in _KEEPING or (op.code == "return" and op.args) for op in function.ops
    )


def takes_rows(draw: Op) -> bool:
    """Whether an item is taken out of a list by a place that is drawn, as to shuffle that by hand:
    ``rows.pop(random.randrange(len(rows)))``."""
    taken = (use for each in ahead([draw], SAME) for use in each.uses if use.code == "call")
    return any(word_of(use) == "pop" and use.args[0].code == "attr" for use in taken)


def decides(draw: Op) -> bool:
    """Whether a number that is drawn is only compared, as to share rows out by hand:
    ``if random.random() < 0.8``."""
    uses = [use for each in ahead([draw], SAME) for use in each.uses if use.code not in SAME]
    return bool(uses) and all(use.code == "compare" for use in uses)


def _given(draw: Op) -> Iterator[str]:
    """What a draw is called, or what is made of it."""
    yield from nearest_names(draw)
    for each in draw.uses:
        if each.code in ("choice", "comprehension", "list"):
            yield from names_given(each)


def _is_asked_for(draw: Op) -> bool:
    """Whether a seed is drawn where whoever runs the program wants another one each time:
    ``seed = random.randint(0, limit) if randomize_seed else seed``."""
    if not any(map(names.means_seed, _given(draw))):
        return False
    asked = " ".join(names_tested(draw)).lower()
    return "seed" in asked or "random" in asked


def _is_commanded(draw: Op) -> bool:
    """Whether a person decides while the program runs: ``if input("> ") == "shuffle"``."""
    heads = [each.head for each in _conditional(draw) if each.head is not None]
    return any("builtins.input" in each.called for each in behind(*heads, most=_MOST))


def _is_no_result(draw: Op) -> bool:
    """Whether what a function shows that draws pictures is no result of its program: neither it
    nor what calls it, or is of the same class, keeps figures."""
    unit, owner = draw.function.unit, draw.function.class_name
    calls = closure([draw], lambda way: way.function.outermost.known_calls.calls, _MOST)
    users = {each.function.outermost for each in calls}
    keeping = unit.functions_holding(*_KEEPS)
    kept = any(x in users or (owner and x.class_name == owner) for x in keeping)
    return not kept or says_in_code(unit.text, TRAINING_STEPS)


def _picks_any(draw: Op) -> bool:
    """Whether an item is chosen from what gives the same whatever index it is asked for:
    ``random.choice(texts)``, where ``__getitem__`` draws a place by itself."""
    if word_of(draw) != "choice" or len(draw.args) != 2:
        return False
    values, given = draw.values, draw.args[1]
    method = values.unit.method(values.owner(given), "__getitem__")
    if given.code == "call" and given.args[0].code == "class":
        name = f"{given.args[0].name}.__getitem__"
        method = next((each for each in given.function.nested if each.name == name), None)
    return method is not None and not any(each.uses for each in [*method.params.values()][1:2])


def _conditional(op: Op) -> Iterator[Region]:
    """The branches around an operation, inner ones first, but for what constants decide."""
    paths = Paths(op.function)
    for region in op.region.around():
        tests = region.head.args if region.head is not None else ()
        usual = any(names.says_usual(name) for test in tests for name in names_read(test))
        if region.kind in ("if", "else", "except") and not (usual or paths.enters(region)):
            yield region
