"""Which calls list files, and where the order in which they do shows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.calls import word_of
from detlint.dataflow.loops.rounds import is_same
from detlint.dataflow.orders import expected
from detlint.dataflow.orders.order import Orders
from detlint.dataflow.orders.use import PLAIN, Flow, Use
from detlint.dataflow.slices import ahead, closure, readers
from detlint.models import listings as models
from detlint.models import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.models.listings import Listing

_TOP, _DIRS, _FILES = 0, 1, 2
_LISTS = ("call", "comprehension")
_NAMED = frozenset(("binary", "change", "format", "item", "iter", "phi", "slice", "text"))
_MOST = 100  # what is made of a data set


class Found(NamedTuple):
    """A listing whose order shows.

    uses     where that of the elements does; of a walk, of the folders
    entries  of a walk: the lists of names in a folder whose order shows, and where
    """

    op: Op
    listing: Listing
    uses: list[Use]
    entries: dict[Op, list[Use]]


class Listings:
    """Looks for them in the functions of one file; ``others`` opens more.

    left  listings that are handed to other files, of which none is open
    """

    def __init__(self, unit: Unit, others: OtherFiles | None = None) -> None:
        self.unit = unit
        self.values = unit.across
        self.orders = Orders(self.values, others=others)
        self.left: list[Op] = []
        self._leaves = False

    def near(self, offsets: Iterable[int]) -> Iterator[Found]:
        """Those of the functions that some offsets lie in."""
        for function in dict.fromkeys(filter(None, map(self.unit.at, offsets))):
            yield from self.of_function(function)

    def of_function(self, function: Function) -> Iterator[Found]:
        """Those of a function, and of the functions in it."""
        for call in function.all_coded("call"):
            listing = self.listing(call)
            if listing is not None:
                yield from self._judged(call, listing)

    def _judged(self, op: Op, listing: Listing) -> Iterator[Found]:
        self._leaves = False
        entries: dict[Op, list[Use]] = {}
        if listing.walk:
            walk = Walk(self, op)
            uses, entries = walk.folders(), walk.entries()
        else:
            settled = expected.lists_one(self.values, op) or (listing.samples and _is_sorted(op))
            uses = [] if settled else self.uses(op)
        if uses or entries:
            yield Found(op, listing, uses, entries)
        elif self._leaves:
            self.left.append(op)

    def uses(self, op: Op, flow: Flow = PLAIN) -> list[Use]:
        """Where the order of a value shows, and not only seems to where it does elsewhere."""
        found = list(self.orders.uses(op, flow))
        self._leaves |= self.orders.leaves
        return [use for use in found if not use.assumed] or found

    def reads(self, value: Op) -> list[ast.AST] | None:
        """The expressions that read the name of a value where its order shows; None where one
        cannot be told."""
        found: list[ast.AST] = []
        for by in dict.fromkeys(value.uses):
            if not list(self.orders.uses_at(value, by)):
                continue
            nodes = _named_in(by.node, value)
            if len(nodes) != 1:
                return None
            found += nodes
        return found

    # What lists

    def listing(self, call: Op) -> Listing | None:
        """The listing that a call makes, if it is one."""
        for name in self.values.called(call):
            if name in models.FUNCTIONS:
                return models.FUNCTIONS[name]
            kind, _, word = name.rpartition(".")
            if kind in models.PATH_CLASSES:
                return models.METHODS.get(word)
        function = call.args[0]
        if function.code != "attr" or self.values.called(call):
            return None
        method, owner = str(function.name), function.args[0]
        return self._of_ls(call, owner) if method == "ls" else self._of_path(method, owner, call)

    def _of_path(self, method: str, owner: Op, call: Op) -> Listing | None:
        """What a method lists, if it is one of a path."""
        if method not in models.METHODS or not _may_list(method, call):
            return None
        is_path = self._is_path(owner) or self._seems_path(method, owner, call)
        return models.METHODS[method] if is_path else None

    def _is_path(self, owner: Op) -> bool:
        return lattice.may_be(self.values.types(owner), "path")

    def _seems_path(self, method: str, owner: Op, call: Op) -> bool:
        """Whether a method of what is not known to be a path lists a folder all the same."""
        types = self.values.types(owner)
        if lattice.is_known(types) or self.values.owner(owner) or self._is_other(owner):
            return False
        if method in ("iterdir", "rglob"):
            return True  # no other class of wide use has these two, and all that do give no order
        # The glob of fsspec, which sorts, takes a whole path.
        given = call.args[1].code in ("const", "text") and len(call.args) == 2
        return method == "glob" and given and self._is_named_so(owner)

    def _is_other(self, owner: Op) -> bool:
        """Whether a value is made by a class that is no path: ``zipfile.Path(x)``."""
        made = [owner, *owner.args] if owner.code in ("phi", "enter", "free") else [owner]
        called = [name for each in made if each.code == "call" for name in self.values.called(each)]
        return any(
            name.startswith("zipfile.") or models.is_file_system(name) or "super" in name
            for name in called
        )

    def _is_named_so(self, owner: Op) -> bool:
        named = [owner.name] if owner.code == "attr" else owner.function.names_of(owner)

        if owner.code == "call" and not word_of(owner)[:1].islower():
            return False
        plain = owner.code in ("param", "attr", "iter", "unpack", "call")
        declared = getattr(owner.node, "annotation", None) if owner.code == "param" else None
        return plain and declared is None and any(names.is_folder(str(each)) for each in named)

    def _of_ls(self, call: Op, owner: Op) -> Listing | None:
        made = owner.args[0] if owner.code in ("unpack", "phi", "free") and owner.args else owner
        declared = getattr(owner.node, "annotation", None) if owner.code == "param" else None
        known = self.values.called(made) if made.code == "call" else []
        if declared is not None:
            known = [self._declared_name(declared)]
        if not any(map(models.is_file_system, known)):
            return None
        detail = call.given("detail", 1)
        keys: dict[object, str] = {False: "", True: 'lambda e: e["name"]'}
        told = detail is not None and detail.code == "const" and isinstance(detail.name, bool)
        return models.Listing("fsspec's ls", keys[detail.name] if told and detail else None)

    def _declared_name(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        first, _, rest = text.partition(".")
        found = self.unit.imported.get(first, [first])
        return f"{found[0]}.{rest}" if rest else found[0]


class Walk:
    """``for root, dirs, files in os.walk(top)``."""

    def __init__(self, listings: Listings, call: Op) -> None:
        self._listings = listings
        self._values = listings.values
        self.call = call
        self._sorted = False
        self._elements = list(self._of(call))

    def _of(self, value: Op) -> Iterator[Op]:
        """The elements of a walk, through what hands them on."""
        for use in dict.fromkeys(value.uses):
            if use.code == "iter":
                yield from self._rows(use)
                yield from self._listed(use)
            elif use.code == "call" and value in use.args[1:]:
                yield from self._given_to(use)
            elif use.code == "item" and value.code in _LISTS and value is not self.call:
                if use.args[1].literal == 0:
                    yield from self._first(use)
            elif use.code == "attr" and use.name in ("next", "__next__"):
                for call in use.uses:
                    yield from self._first(call)

    def _given_to(self, call: Op) -> Iterator[Op]:
        word = word_of(call)
        if names.sorts(word):
            self._sorted = True
            yield from self._of(call)
        elif word in ("list", "tuple", "iter", "enumerate") or names.is_bar(word):
            yield from self._of(call)
        elif word == "next":
            yield from self._first(call)

    def _listed(self, head: Op) -> Iterator[Op]:
        """``[each for each in os.walk(top)]``."""
        for made in head.uses:
            if made.code == "comprehension" and made.args[0] is head and made.name == "list":
                yield from self._of(made)

    def _first(self, op: Op) -> Iterator[Op]:
        """The top folder, of which only the names have no order."""
        self._sorted = True
        yield op

    def _rows(self, head: Op) -> Iterator[Op]:
        numbered = head.args[0].code == "call" and word_of(head.args[0]) == "enumerate"
        rows = (x for x in head.uses if x.code == "unpack" and x.name[0] == 1)
        yield from rows if numbered else [head]

    def _lists(self) -> Iterator[tuple[int, Op]]:
        for element in self._elements:
            for use in element.uses:
                if use.code == "unpack" and use.name[1] == 3 and use.name[0] < 3:
                    yield use.name[0], use
                elif use.code == "item" and use.args[1].name in (_TOP, _DIRS, _FILES):
                    yield use.args[1].name, use

    def goes_up(self) -> bool:
        """``os.walk(top, topdown=False)``, which has read all folders before the loop sees one."""
        return any(
            name in ("topdown", "top_down") and value.literal is False
            for name, value in self.call.arguments()
        )

    def sorts_dirs(self) -> bool:
        """``dirs.sort()`` or ``dirs[:] = sorted(…)`` in the loop: the walk follows that order."""
        dirs = (x for place, op in self._lists() if place == _DIRS for x in op.uses)
        return not self.goes_up() and any(map(_sorts_in_place, dirs))

    def _stops_at_first(self) -> bool:
        """A body that always ends with ``break`` or ``return`` sees only the top folder."""
        for element in self._elements:
            loop = element.region.node
            if isinstance(loop, ast.For) and any(
                isinstance(each, (ast.Break, ast.Return)) for each in loop.body
            ):
                return True
        return False

    def loop(self) -> ast.AST | None:
        """The loop or clause that goes through the walk as it is, from the top down."""
        given = self.call.args[1:]
        head = next((each for each in self.call.uses if each.code == "iter"), None)
        return head.node if head is not None and len(given) <= 1 else None

    def named_dirs(self) -> Op | None:
        """The folders in a folder, where a loop gives them a name."""
        if not isinstance(self.loop(), (ast.For, ast.AsyncFor)):
            return None
        for place, op in self._lists():
            named = op.code == "unpack" and isinstance(op.node, ast.Name)
            if place == _DIRS and named and not op.node.id.startswith("_"):  # type: ignore[attr-defined]
                return op
        return None

    def reads(self, part: int = _DIRS) -> bool:
        """Whether something reads the folders in a folder, or another part of what a walk gives."""
        read = (x for place, op in self._lists() if place == part for x in readers(op))
        return any(use.code != "store_global" for use in read)

    def _is_flat(self) -> bool:
        """Whether the names are looked up in the top folder, whichever folder has them, so that no
        other one has any: ``for _, _, files in os.walk(top)``, and ``open(top + files[0])``."""
        if self.reads(_TOP) or len(self.call.args) < 2:
            return False
        files = [op for place, op in self._lists() if place == _FILES]
        return any(
            is_same(part.args[0] if part.code == "format" else part, self.call.args[1])
            and self._listings.orders.effects.is_read(use)
            for use in closure(files, _named, _MOST)
            if use.code in ("binary", "text") or word_of(use) == "join"
            for part in use.args
        )

    def folders(self) -> list[Use]:
        """Where the order of the folders themselves shows."""
        if self.sorts_dirs() or self._stops_at_first() or self._is_flat():
            return []
        if self._sorted and any(each.code != "iter" for each in self._elements):
            return []
        return [use for use in self._listings.uses(self.call) if not self._takes_top(use.op)]

    def _takes_top(self, op: Op) -> bool:
        """``[names for _, _, names in os.walk(top)][0]``: what is made of the top folder itself."""
        if op.code not in ("item", "call"):
            return False
        made = op.args[0 if op.code == "item" else -1]
        first = op.args[1].name == 0 if op.code == "item" else word_of(op) == "next"
        if not first or made.code != "comprehension":
            return False
        heads = [each for each in made.args if each.code == "iter"]
        own = len(heads) == 1 and heads[0].args[0] is self.call
        return own and not any(heads[0].region.conditions())

    def entries(self) -> dict[Op, list[Use]]:
        """The lists of names whose order shows, with where."""
        first = _FILES if self.sorts_dirs() else _DIRS
        found = {op: self._listings.uses(op) for place, op in self._lists() if place >= first}
        return {op: uses for op, uses in found.items() if uses}


def _named(op: Op) -> Iterator[Op]:
    """What is made of lists of names, of a name, and of a path with that."""
    told = ((use, word_of(use)) for use in op.uses)
    return (use for use, word in told if use.code in _NAMED or word == "join" or names.sorts(word))


def _named_in(node: ast.AST, value: Op) -> list[ast.AST]:
    """Where an operation's syntax reads a name of a value."""
    inside = node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else node
    names = set(value.function.names_of(value))
    return [
        each
        for each in ast.walk(inside)
        if isinstance(each, ast.Name) and each.id in names and isinstance(each.ctx, ast.Load)
    ]


def _is_sorted(data_set: Op) -> bool:
    """``sorted(range(len(data)), key=data.images.__getitem__)``: an order of its own is made for
    the samples of a data set."""
    made = ahead([data_set], ("attr", "call", "free", "item", "phi"), _MOST)
    return any(names.sorts(word_of(each)) for each in made if each is not data_set)


def _sorts_in_place(use: Op) -> bool:
    if use.code == "change":
        return str(use.name) == "sort"
    if use.code == "store_item":
        made = use.args[2]
        return use.args[1].code == "range" and names.sorts(word_of(made))
    return names.sorts(word_of(use)) and any(each.code == "drop" for each in use.uses)


def _may_list(method: str, call: Op) -> bool:
    return len(call.args) == 1 if method == "iterdir" else method == "walk" or len(call.args) > 1
