"""How each kind of fact is told from syntax."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import libcst as cst

from detlint.analysis.environments import assignments
from detlint.analysis.random_orders import drawing
from detlint.analysis.unreachable import never_runs
from detlint.analysis.uses import last_name
from detlint.documents.notebook import variables
from detlint.facts import epochs
from detlint.facts.draws import built_with, called, drawn_from
from detlint.facts.facts import EVERY, Fact
from detlint.facts.needs import need_of
from detlint.facts.ranks import several_ranks, worker_seeds
from detlint.facts.states import is_set_apart, puts_back, takes_from
from detlint.facts.training import trained_with, unversioned
from detlint.facts.vocabulary import (
    GENERATOR_METHODS,
    GUARD,
    HELPERS,
    LIGHTNING,
    SEEDED_APART,
    SEEDING_TRAINERS,
    SEEDS,
    SWITCHES,
)
from detlint.kinds import NOTEBOOK
from detlint.models.names import means_seeding
from detlint.module import read
from detlint.narrowing import narrow
from detlint.scope import dotted
from detlint.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.module import Module
    from detlint.notebooks.notebook import Notebook
    from detlint.source import Source

    Found = Iterator[tuple[cst.CSTNode, str, str | None]]  # where, what, and how it is shown
    Reader = Callable[[Module], Found]

# Helpers that turn determinism on, by their names: not `is_deterministic`, not `determine_size`.
_ENABLES = re.compile(
    r"_?(?:set|enable|use|make|turn|ensure|force|seed|setup|init|config|full|activate)\w*"
    r"(?<!non)(?<!non_)determinis",
    re.IGNORECASE,
)
_SEED = frozenset({"seed", "random_seed", "manual_seed"})
# What draws by itself with the seed that it is given.
_KEEPS_SEED = re.compile(
    r"sampl|data|load|split|shuffle|generat|config|param|request|random|noise|initializer|normal"
    r"|uniform|augment|transform|fold|choice|dropout|permut|iter|rng|hash|key|env|make"
    r"|classif|regress|search|completion|client",
    re.IGNORECASE,
)
_CONDITIONAL = frozenset({"seeds", "draws", "orders", "builds"})  # what an argument may turn on
_CONFIGURES = re.compile(r"(?:Trainer|Fabric|Config|Args|Arguments)$")


def read_facts(source: Source, kind: str, places: list[int]) -> list[Fact] | None:
    """The facts of one kind in the functions and classes around some places; None where the
    file cannot be parsed."""
    told: list[Fact] = []
    if source.kind == NOTEBOOK:
        source = cast("Notebook", source).readable[0]
        told = list(_set_by_magics(source)) if kind == "sets" else []
    region = narrow(source.text, [(place, "function") for place in places])
    if region is None:
        return told
    try:
        return told + in_deep_stack(lambda: _facts(read(source, region), kind))
    except (cst.ParserSyntaxError, RecursionError):
        return told or None


def _set_by_magics(source: Source) -> Iterator[Fact]:
    """What ``%env`` sets in a notebook."""
    for each in variables(cast("Notebook", source)):
        place = (*source.location(each.start), *source.location(each.end))
        yield Fact(each.name, each.value or "", *place)


def _facts(module: Module, kind: str) -> list[Fact]:
    """The facts of one kind: not those that visibly never run."""
    return [
        _fact(module, *found)._replace(needs=_needs(module, found[0], kind))
        for found in READERS[kind](module)
        if not never_runs(module, found[0])
    ]


def _needs(module: Module, node: cst.CSTNode, kind: str) -> str:
    need = need_of(module, node) if kind in _CONDITIONAL else None
    return "" if need is None else need.dump()


def _seeds(module: Module) -> Found:
    for node in module.tree.nodes:
        for what in _seeded_at(module, node):
            yield node.name if isinstance(node, cst.ClassDef) else node, what, None


def _seeded_at(module: Module, node: cst.CSTNode) -> Iterator[str]:
    if _is_guard(module, node):
        yield EVERY
    if isinstance(node, cst.ClassDef):
        # Making one calls the library's constructor, which seeds.
        bases = (module.qualified_name(each.value) for each in node.bases)
        if any(map(_is_seeding_trainer, bases)):
            yield EVERY
    if not isinstance(node, cst.Call):
        return
    name = unversioned(called(module, node))
    last = name.rpartition(".")[2] or last_name(node.func)
    if name in SEEDS:
        given = node.args[0].value if node.args else None
        if given is not None and not _is_none(given) and not puts_back(module, node):
            yield from (each for each in SEEDS[name] if not _says_nothing(module, node, each))
    elif (
        last in HELPERS
        or (last == "random_seed" and node.args)
        or (name and _is_seeding_helper(name, last))
    ):
        yield f"{last}()"
    elif _is_seeding_trainer(name) or _is_seeding_command_line(module, node, last):
        yield EVERY
    elif _hands_seed_on(node, name):
        yield f"{last}()"


def _says_nothing(module: Module, seed: cst.Call, library: str) -> bool:
    """Whether a seed holds for a few lines only, or is what the same generator has drawn."""
    value = module.names.value_of(seed.args[0].value)
    inside = module.tree.descendants(value)
    if is_set_apart(module, seed, library):
        return True
    chosen = any(isinstance(each, (cst.IfExp, cst.BooleanOperation)) for each in inside)
    calls = (each for each in inside if isinstance(each, cst.Call))
    return not chosen and any(takes_from(module, each) == library for each in calls)


def _hands_seed_on(call: cst.Call, name: str) -> bool:
    """Whether a function of some library takes a seed, with which it may seed everything."""
    library, _, last = name.rpartition(".")
    first, owner = library.partition(".")[0], library.rpartition(".")[2]
    if not first or first in SEEDED_APART or owner[:1].isupper() or _KEEPS_SEED.search(last):
        return False
    if last == "seed" and call.args:
        return not _is_none(call.args[0].value)
    if last.startswith("set_deterministic") and call.args:  # ESPnet's, which is given the options
        given = call.args[0].value
        return isinstance(given, cst.Name) and given.value not in ("True", "False")
    return any(
        each.keyword is not None and each.keyword.value in _SEED and not _is_none(each.value)
        for each in call.args
    )


def _is_seeding_command_line(module: Module, call: cst.Call, last: str) -> bool:
    """Lightning's, which seeds all with a number that it is given; with True, it draws one."""
    given = module.argument(call, "seed_everything_default")
    return (
        last == "LightningCLI"
        and given is not None
        and not _is_none(given)
        and (not isinstance(module.literal(given), bool))
    )


def _is_seeding_trainer(name: str | None) -> bool:
    ends = ("Trainer", "Runner") if (name or "").startswith("catalyst.") else "Trainer"
    return name is not None and name.endswith(ends) and name.startswith(SEEDING_TRAINERS)


def _is_seeding_helper(name: str, last: str) -> bool:
    """Whether a function of some module is named as one that seeds, and not a generator's."""
    library = name.partition(".")[0]
    return library not in {"random", "numpy", "builtins"} and (
        means_seeding(last) and last not in GENERATOR_METHODS
    )


def _is_guard(module: Module, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Import):
        return any(dotted(each.name) == "guard.auto" for each in node.names)
    return isinstance(node, cst.Call) and module.called(node) in GUARD


def _calls(module: Module, judge: Callable[[Module, cst.Call], str | None]) -> Found:
    """Each call that something judges to be about a library."""
    for node in module.tree.nodes:
        if isinstance(node, cst.Call) and (library := judge(module, node)):
            yield node, library, None


def _draws(module: Module) -> Found:
    return _calls(module, _drawn_from)


def _drawn_from(module: Module, call: cst.Call) -> str | None:
    library = drawn_from(module, call)
    seeded = library is not None and is_set_apart(module, call, library, draws=True)
    return None if seeded else library


def _builds(module: Module) -> Found:
    return _calls(module, built_with)


def _orders(module: Module) -> Found:
    for node in module.tree.nodes:
        found = drawing(module, node) if isinstance(node, cst.Call) else None
        if found is not None:
            yield node, "torch", found.name


def _trains(module: Module) -> Found:
    return _calls(module, trained_with)


def _enables(module: Module) -> Found:
    for node in module.tree.nodes:
        if _is_guard(module, node):
            yield node, EVERY, None
        elif isinstance(node, cst.Call) and (library := _enabled(module, node)):
            yield node, library, None


def _enabled(module: Module, call: cst.Call) -> str | None:
    """The library that a call makes deterministic, also where a setting decides."""
    name = module.called(call) or ""
    last = name.rpartition(".")[2] or last_name(call.func)
    if last == "enable_op_determinism":
        return "tensorflow"
    if (
        name in SWITCHES or last == "use_deterministic_algorithms"
    ):  # turned off is a decision too, and DET303's to report
        return "torch"
    for keyword in ("deterministic", "full_determinism", "use_deterministic_algorithms"):
        given = module.argument(call, keyword)
        if given is not None and module.literal(given) is not False:
            takes = name.startswith((*LIGHTNING, *SEEDING_TRAINERS)) or _CONFIGURES.search(last)
            return "torch" if takes or keyword != "deterministic" else None
    if last == "enable_full_determinism":
        return EVERY
    return f"{last}()" if _ENABLES.match(last) else None


def _sets(module: Module) -> Found:
    for node in module.tree.nodes:
        for name, value in assignments(module, node):
            yield node, _text(module, name), _text(module, value)


def _places(module: Module) -> Found:
    """Literals that name a CUDA device, and calls of ``.cuda()``."""
    for node in module.tree.nodes:
        if isinstance(node, cst.SimpleString):
            value = module.literal(node)
            named = isinstance(value, str) and bool(re.fullmatch(r"cuda(?::\d+)?", value))
        else:
            named = (
                isinstance(node, cst.Call)
                and isinstance(node.func, cst.Attribute)
                and node.func.attr.value == "cuda"
            )
        if named:
            yield node, "cuda", None


def _samplers(module: Module) -> Found:
    return ((call, kind, None) for call, kind in epochs.samplers(module))


def _rounds(module: Module) -> Found:
    """Of a loop, its first line."""
    return ((loop.target, "", _header(module, loop)) for loop in epochs.rounds(module))


def _header(module: Module, loop: cst.For) -> str:
    parts = (" ".join(module.tree.text(each).split()) for each in (loop.target, loop.iter))
    return f"for {' in '.join(parts)}"


def _tells(module: Module) -> Found:
    return ((node, "", None) for node in epochs.tells(module))


def _text(module: Module, node: cst.BaseExpression) -> str:
    value = module.literal(node)
    return value if isinstance(value, str) else ""


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _fact(module: Module, node: cst.CSTNode, what: str, text: str | None) -> Fact:
    start, end = module.tree.span(node)
    place = (*module.source.location(start), *module.source.location(end))
    shown = " ".join(module.tree.text(node).split()) if text is None else text
    return Fact(what, shown, *place)


READERS: dict[str, Reader] = {
    "seeds": _seeds,
    "draws": _draws,
    "builds": _builds,
    "orders": _orders,
    "trains": _trains,
    "enables": _enables,
    "sets": _sets,
    "places": _places,
    "samplers": _samplers,
    "rounds": _rounds,
    "tells": _tells,
    "worker_seeds": lambda module: _calls(module, worker_seeds),
    "ranks": lambda module: _calls(module, several_ranks),
}
