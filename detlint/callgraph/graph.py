"""The call graph of a project: what each part of its files names, as numbers.

Nodes are symbols, and names by which something may be looked up. An edge leads from what names
something to what that may be. A method runs where its class is in use *and* something looks its
name up: it hangs on two nodes at once.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import cache, cached_property
from itertools import chain
from operator import xor
from typing import TYPE_CHECKING

from detlint.index.imports import EVERY_MODULE
from detlint.index.modules import Symbol, module_of
from detlint.index.scan import ALWAYS_CALLED, FITTED, MAIN, STEPS_BY_FITTING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from detlint.index.index import Index
    from detlint.index.modules import Definitions, Modules
    from detlint.index.scan import Uses

_PACKAGE = "__init__.py"
_ALL = "*"


# Some nodes of a graph: of each, in their order, whether it is one of them. Sets of as many
# thousands take twenty times as much memory.
Nodes = bytes


def are_among(nodes: Nodes, some: Iterable[int | None]) -> bool:
    """Whether one of some nodes, if there are such, is among others."""
    known = (each for each in some if each is not None and each < len(nodes))
    return any(map(nodes.__getitem__, known))


class Graph:
    """Nodes with their edges.

    targets  of each node, those that it leads to
    joints   of each node, pairs of another node and a third that both together lead to
    homes    of each node, the file that it lies in, "" for none
    """

    def __init__(self) -> None:
        self.targets: list[list[int]] = []
        self.joints: dict[int, list[tuple[int, int]]] = {}
        self.homes: list[str] = []
        self._files: set[str] = set()
        self._numbers: dict[tuple[str, str], int] = {}

    def take_in(self, paths: Iterable[str]) -> Iterator[str]:
        """Those of some files that are not in it yet, each of which is entered now."""
        for path in paths:
            if path not in self._files:
                yield path
                self._files.add(path)
                for told in ("_symbols", "_sources", "_all_sources"):
                    vars(self).pop(told, None)

    def node(self, path: str, name: str) -> int:
        """The node of a symbol, made when it is first asked for; without a path, of a name."""
        key = path, name
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.targets)
            self.targets.append([])
            self.homes.append(path)
        return number

    def known(self, path: str, name: str) -> int | None:
        """The node of a symbol, if there is one."""
        return self._numbers.get((path, name))

    def named(self, prefix: str) -> Iterator[int]:
        """The nodes of names that begin in some way."""
        for (path, name), number in self._numbers.items():
            if not path and name.startswith(prefix):
                yield number

    def users(self, node: int) -> list[tuple[str, str]]:
        """The symbols from which an edge leads to a node, past names."""
        symbols, found, pending = self._symbols, [], [node]
        for each in pending:  # grows
            for before in self._sources[each]:
                if symbols[before][0]:
                    found.append(symbols[before])
                elif before not in pending:
                    pending.append(before)
        return found

    def leading_to(self, nodes: Iterable[int], files: Container[str]) -> Nodes:
        """All nodes from which one of some may be reached within some files, with these."""
        homes, found = self.homes, set(nodes)
        fresh = found
        while fresh:
            before = set(chain.from_iterable(map(self._all_sources.__getitem__, fresh)))
            left = before.difference(found)
            fresh = {each for each in left if not homes[each] or homes[each] in files}
            found |= fresh
        return self.marked(found)

    def marked(self, nodes: Iterable[int]) -> Nodes:
        """Some nodes, as ``Nodes``."""
        marks = bytearray(len(self.targets))
        for node in nodes:
            marks[node] = True
        return Nodes(marks)

    def reached_from(
        self, nodes: Iterable[int], files: Container[str], reached: Nodes = b""
    ) -> Nodes:
        """All nodes that some lead to within some files, and with what is reached already."""
        targets, joints, homes = self.targets, self.joints, self.homes
        found = bytearray(reached).ljust(len(targets), b"\0")
        pending = [each for each in nodes if not found[each]]
        if not pending and reached:
            return reached
        for node in pending:
            found[node] = True
        for node in pending:  # grows
            for target in targets[node]:
                if not found[target] and (not homes[target] or homes[target] in files):
                    found[target] = True
                    pending.append(target)
            for other, target in joints.get(node, ()):
                if found[other] and not found[target] and homes[target] in files:
                    found[target] = True
                    pending.append(target)
        return Nodes(found)

    @cached_property
    def _all_sources(self) -> list[list[int]]:
        """Those of joints, too."""
        found = [list(each) for each in self._sources]
        for one, pairs in self.joints.items():
            for other, target in pairs:
                found[target] += (one, other)
        return found

    @cached_property
    def _symbols(self) -> list[tuple[str, str]]:
        return list(self._numbers)

    @cached_property
    def _sources(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.targets]
        for node, targets in enumerate(self.targets):
            for each in targets:
                found[each].append(node)
        return found

    def join(self, one: int, other: int, target: int) -> None:
        """Lead from two nodes together to a third."""
        self.joints.setdefault(one, []).append((other, target))
        self.joints.setdefault(other, []).append((one, target))


# Names of nodes that are no symbols begin with one of these.
LOOKED_UP = "."  # anything of that name
METHOD = "()"  # methods of that name of classes in use
OFFERED = "*"  # anything that a module offers that is handed on
_HANDED = "="  # what a module that is handed on offers, where something looks its name up
_CHOSEN = "&"  # anything in the modules that a file imports by a name that it puts together
_IMPORTS = frozenset({"import_module", "__import__"})
# What makes what a configuration names: Hydra's, pydoc's, Lightning's, and by its module.
_INSTANTIATE = _IMPORTS | {"instantiate", "locate", "LightningCLI"}


def enter_calls(  # noqa: PLR0913 - what names mean
    graph: Graph,
    paths: Iterable[str],
    index: Index,
    definitions: Definitions,
    offers: Offers,
    *,
    targets: Sequence[str],
) -> None:
    """Which parts the text shows to be used by which: names are followed to where they are
    defined, and only those of unknown origin stand for all of that name. What configurations have
    made, the ``targets``, is used where something instantiates it."""
    made = [":".join(each.rpartition(".")[::2]) for each in targets]
    method = cache(lambda word: graph.node("", METHOD + word))  # many look up the same
    for path in graph.take_in(paths):
        outline = index.outline(path)
        for part, uses in outline.uses.items():
            _enter(graph, path, part, outline.classes)
            here = graph.node(path, part)
            leads = graph.targets[here]
            leads += [graph.node(path, each) for each in uses.own]
            leads += map(method, uses.attributes)
            makes = not _INSTANTIATE.isdisjoint((*uses.names, *uses.attributes))
            for each in chain(uses.origins, made if makes else ()):
                found = definitions.of(path, each)
                if found is None:
                    names = each.partition(":")[2].split(".")
                    leads += [graph.node("", LOOKED_UP + name) for name in names]
                else:
                    leads += [graph.node(*symbol) for symbol in found]
            _offer(graph, path, part, uses, offers)
            _hand_on(graph, path, part, uses, offers)


def _hand_on(graph: Graph, path: str, part: str, uses: Uses, offers: Offers) -> None:
    """``{"a": a, "b": b}[name].Model()``: what modules offer that a part hands on runs where
    something looks its name up, as methods do."""
    for module in filter(None, uses.modules):
        handed, is_new = _over(graph, path, part, f"{_HANDED}{path} {module}")
        for symbol in offers.of(path, module) if is_new else ():
            graph.join(handed, graph.node("", METHOD + symbol.part), graph.node(*symbol))


def _over(graph: Graph, path: str, part: str, name: str) -> tuple[int, bool]:
    """A node that several parts lead over, to which this one does as well; and whether it is
    new."""
    is_new = graph.known("", name) is None
    between = graph.node("", name)
    graph.targets[graph.node(path, part)].append(between)
    return between, is_new


def _enter(graph: Graph, path: str, part: str, classes: Mapping[str, Sequence[str]]) -> None:
    """Hang a part on what leads to it whoever names it."""
    here = graph.node(path, part)
    owner, dot, name = part.partition(".")
    bases = classes.get(owner, ())
    if not dot:
        if part and part != MAIN:
            graph.targets[graph.node("", LOOKED_UP + part)].append(here)
    elif name in ALWAYS_CALLED:
        graph.targets[graph.node(path, owner)].append(here)
    else:
        fitted = any(each.endswith(FITTED) for each in bases)
        for word in (name, *(STEPS_BY_FITTING.get(name, ()) if fitted else ())):
            graph.join(graph.node(path, owner), graph.node("", METHOD + word), here)


def enter_names(graph: Graph, paths: Iterable[str], index: Index, offers: Offers) -> None:
    """Which functions and classes may be used by which, for all that one can see: a name stands
    for all that bear it. Methods count for their classes."""
    any_of = cache(lambda word: graph.node("", LOOKED_UP + word))  # many look up the same
    for path in graph.take_in(paths):
        for part, uses in index.outline(path).uses.items():
            owner = part.partition(".")[0]
            here = graph.node(path, owner)
            if owner and part == owner != MAIN:
                graph.targets[graph.node("", LOOKED_UP + owner)].append(here)
            targets = graph.targets[here]
            targets += [graph.node(path, each) for each in uses.own]
            targets += map(any_of, {*uses.names, *uses.attributes})
            _offer(graph, path, owner, uses, offers)


def _offer(graph: Graph, path: str, part: str, uses: Uses, offers: Offers) -> None:
    """Lead to what the modules offer that a part hands on or chooses, over a node for each."""
    between = [(f"{OFFERED}{path} {module}", module) for module in uses.modules]
    if not (_IMPORTS.isdisjoint(uses.names) and _IMPORTS.isdisjoint(uses.attributes)):
        between.append((f"{_CHOSEN}{path}", _CHOSEN))
    for name, module in between:
        offered, is_new = _over(graph, path, part, name)
        if is_new:
            graph.targets[offered] += [graph.node(*each) for each in offers.of(path, module)]


class Offers:
    """What code may look up by a name that it does not tell: ``getattr(models, cfg.model)``."""

    def __init__(self, index: Index, modules: Modules) -> None:
        self._index = index
        self._modules = modules
        self._told: dict[tuple[str, str], list[Symbol]] = {}  # which both graphs ask

    def of(self, path: str, module: str) -> list[Symbol]:
        """All that a module offers which a file hands on by its last name, "" for the file."""
        if (path, module) not in self._told:
            self._told[path, module] = list(self._offered(path, module))
        return self._told[path, module]

    def _offered(self, path: str, module: str) -> Iterator[Symbol]:
        if not module:
            met = {path}
            yield from self._defined(path)
            yield from self._imported(path, met)
            return
        found = [*(self._chosen(path) if module == _CHOSEN else self._files(path, module))]
        met = set()
        offered: Iterator[Symbol] = chain.from_iterable(self._public(each, met) for each in found)
        if module == _CHOSEN and "keeps_modules" not in self._index.kinds(path):
            # To import a module runs its statements, and none of its functions but by these.
            yield from (Symbol(each, "") for each in found)
            uses = self._index.outline(path).uses.values()
            named = frozenset(chain.from_iterable(each.attributes for each in uses))
            offered = (each for each in offered if each.part in named)
        yield from offered

    def _chosen(self, path: str) -> Iterator[str]:
        """The modules that a file imports by a name that it puts together, or all of."""
        for each in self._index.imports(path):
            if _ALL in each.names:
                yield from self._modules.files(path, each)[-1:]
            elif EVERY_MODULE in each.names:
                yield from self._modules.files(path, each)

    def _files(self, path: str, name: str) -> Iterator[str]:
        for each in self._index.imports(path):
            if name in each.names:
                wanted = each._replace(names=(name,))
            elif each.names or each.module.rpartition(".")[2] != name:
                continue
            else:
                wanted = each
            found = self._modules.files(path, wanted)
            yield from (file for file in found if module_of(file) == name)

    def _public(self, path: str, met: set[str]) -> Iterator[Symbol]:
        """What a file defines, and what a package's own file imports to offer it; nothing of files
        that were met before."""
        if path in met:
            return
        met.add(path)
        yield from self._defined(path)
        if os.path.basename(path) == _PACKAGE:
            yield from self._imported(path, met)

    def _defined(self, path: str) -> Iterator[Symbol]:
        for part in self._index.outline(path).uses:
            if part != MAIN and part and "." not in part and not part.startswith("_"):
                yield Symbol(path, part)

    def _imported(self, path: str, met: set[str]) -> Iterator[Symbol]:
        """What a file imports by name, or with all that another one offers."""
        for each in self._index.imports(path):
            for file in self._modules.files(path, each)[-1:]:
                if _ALL in each.names:
                    yield from self._public(file, met)
                named = (name for name in each.names if self._index.defines(file, name))
                yield from (Symbol(file, name) for name in named)


def flood(graph: Graph, starts: dict[int, int], limits: Sequence[int]) -> list[int]:
    """What each of many programs reaches, told for all at once: of each node, the set of those
    that reach it, as bits. ``starts`` holds the bits of nodes at which programs start, and
    ``limits`` those that each node lets in."""
    left = list(limits)  # of each node, the programs that it may let in yet
    waiting = OrderedDict.fromkeys(starts)  # in order, each once
    for node, bits in starts.items():
        left[node] &= ~bits
    targets, joints = graph.targets, graph.joints
    while waiting:
        node, _ = waiting.popitem(last=False)
        bits = limits[node] ^ left[node]
        for target in targets[node]:
            if fresh := bits & left[target]:
                left[target] ^= fresh
                waiting[target] = None
        for other, target in joints.get(node, ()):
            if fresh := bits & left[target] & (limits[other] ^ left[other]):
                left[target] ^= fresh
                waiting[target] = None
    known: dict[int, int] = {}  # most are alike, of as many bits as there are programs
    return [known.setdefault(each, each) for each in map(xor, limits, left)]
