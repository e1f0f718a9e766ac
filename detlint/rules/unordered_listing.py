"""DET203 unordered-listing."""

from __future__ import annotations

import ast
import os
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from detlint.dataflow.learning.roles import are_shards, are_sources
from detlint.dataflow.orders.expected import is_installed
from detlint.dataflow.orders.imported_orders import rests_on_others, says_so
from detlint.dataflow.orders.listings import Listings, Walk
from detlint.dataflow.orders.use import RETURNED, only_returned, shown_at
from detlint.dataflow.randomness.fallbacks import fallback
from detlint.models.listings import DATA_SET_WORDS
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.dataflow.ir import Op
    from detlint.dataflow.orders.listings import Found
    from detlint.dataflow.orders.use import Use
    from detlint.finding import Edit, Finding
    from detlint.models.listings import Listing

_SORT = "sort it: sorted(…)"
_SORT_SAMPLES = "sort its samples: Subset(data, sorted(range(len(data)), key=data.{}.__getitem__))"
_NUMBERED = "its labels number what it lists: use a class of your own that sorts its folders"
_SORT_WALK = "sort dirs in place, and files where they are used"
_SORT_UP = "sort the whole walk, sorted(os.walk(…)), and files where they are used"
_STANDS_IN = ", where callers pass no `"


class UnorderedListing(Rule):
    """Why runs differ: Python lists a folder in the order in which the file system keeps its
    entries. That order differs between machines, file systems and copies of the same data. So
    sample 17 of a dataset, or the first checkpoint found, differs whatever the seed.

    Reported:
    - `os.listdir`, `os.scandir`, `glob.glob`, `Path.iterdir`, `Path.glob` and similar calls, where
      the order reaches a result
    - the lists and walks of `tf.io.gfile`, by their old names too
    - data sets of torchvision whose samples stand as the folder lists them: `Cityscapes`,
      `INaturalist`, `Kitti`, `Omniglot`, `SUN397`, `Sintel` (0.28). A shuffle keeps that difference
    - `os.walk` and `Path.walk`, for the folders and for the files of each
    - a dict that is filled in that order, where it is gone through, also in another file
    - one file that each round of a loop writes anew: what the last one wrote stays
    - `max` and `min` of a listing by a key that has likely ties, such as `key=len`

    Lowers the confidence:
    - `max` or `min` by another key than a number in the name: reported as *possible*. So is the
      file with a number in its name, and where Python looks for modules (`sys.path`)
    - sources to compile, archives of code, shards with an index, `glob("*.json")[0]` and
      `rglob("best.pt")[0]`: reported as *possible*. So is the first checkpoint of a folder, if the
      file writes one name there. So is what stands in for an argument that all calls of the project
      pass. So are sums of floats that are only printed, and tables that are
      sorted later or averaged by groups. So are lines of a log, and digests that are only compared.
      So is a file that other rounds may write, too, and a number that only picks a GPU. So is code
      that asks a model for answers, in a file that trains none, and code that no program runs which
      has its file. So is what only programs run that ask a model for answers and measure none, in
      a file that writes no rows
    - rows or lines that name the file each is of, beside other things: *possible*. They are
      *likely* where the project goes by their order: it cuts them, picks by place or numbers them.
      So they are where code that trains or splits names the table, or a script or configuration
      does. Rows of nothing but names are *likely*

    Not reported:
    - the order provably does not matter: sorted, counted, tested for membership, only printed, or
      kept in an attribute that nothing of the project reads
    - what a function returns or is given, where its callers in the project, or the function in
      another file, sort it or ignore the order
    What to do: Sort the listing: `sorted(os.listdir(folder))`. In `os.walk`, write `dirs.sort()`
    and use `sorted(files)`. With `topdown=False`, the folders are read before: write
    `sorted(os.walk(folder, topdown=False))`.

    Fix safety: safe. `sorted` reads the whole listing before its first element is used.
    """

    code = "DET203"
    summary = "files are listed in the file system's order"
    triggers = (
        "listdir",
        "scandir",
        "iterdir",
        "glob(",
        "iglob(",
        "rglob(",
        "glob as",
        "walk(",
        "get_all_files(",
        "gfile",
        "walk as",
        ".ls(",
        *DATA_SET_WORDS,
    )
    source = "https://docs.python.org/3/library/os.html#os.listdir"
    shown = "CPU"
    crosses_files = True
    lowered_where_dead = True
    lowered_by = (*Rule.lowered_by, "test", "inference")
    examples = (
        Example(
            bad="""
                import os

                def load_all(folder):
                    return [load(folder, name) for name in os.listdir(folder)]  # DET203
            """,
            fixed="""
                import os

                def load_all(folder):
                    return [load(folder, name) for name in sorted(os.listdir(folder))]
            """,
        ),
        Example(
            bad="""
                import os

                def images(folder):
                    found = []
                    for root, dirs, files in os.walk(folder):  # DET203
                        for name in files:
                            found.append(os.path.join(root, name))
                    return found
            """,
            fixed="""
                import os

                def images(folder):
                    found = []
                    for root, dirs, files in os.walk(folder):
                        dirs.sort()
                        for name in sorted(files):
                            found.append(os.path.join(root, name))
                    return found
            """,
        ),
        Example(
            bad="""
                from pathlib import Path

                def some_model(folder):
                    return next(Path(folder).glob("*.pt"))  # DET203
            """,
            fixed="""
                from pathlib import Path

                def some_model(folder):
                    return next(iter(sorted(Path(folder).glob("*.pt"))))
            """,
        ),
    )

    @cached_property
    def _listings(self) -> Listings:
        return Listings(self.unit, self.others)

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:
        """What it is passed to may be of another file, and who passes what it stands in for."""
        return says_so(finding) or _STANDS_IN in finding.message

    @classmethod
    def doubted_by_all(
        cls, finding: Finding, programs: Sequence[Program], linted: PythonFiles
    ) -> bool:
        """What a file lists that is no program itself is for those that run it."""
        if super().doubted_by_all(finding, programs, linted):
            return True
        path = os.path.realpath(finding.path)
        is_program = path in (each.path for each in programs)
        return not is_program and linted.is_for_answers(path, finding.row, programs)

    def examine(self, offsets: Sequence[int]) -> None:
        told: set[tuple[int, int]] = set()
        groups: dict[tuple[object, ...], list[tuple[Found, Confidence]]] = {}
        for found in self._listings.near(offsets):
            place = self.unit.span(found.op.node)
            sure = self._confidence(found)
            may_rise = self.others is None and rests_on_others(_uses_of(found))
            if place not in told and (may_rise or self.wants(sure)):
                told.add(place)
                groups.setdefault(_shown_by(found), []).append((found, sure))
        for group in groups.values():
            self._tell([found for found, _ in group], max(sure for _, sure in group))
        for op in self._listings.left:
            if self.unit.span(op.node) not in told:
                self.leave(op.node)

    def _confidence(self, found: Found) -> Confidence:
        assumed = all(use.assumed for use in _uses_of(found))
        if assumed or is_installed(self.unit.values, found.op):
            return Confidence.POSSIBLE
        if are_sources(found.op) or are_shards(found.op):
            return Confidence.POSSIBLE
        return self.lowered(found.op.node)

    def _tell(self, group: Sequence[Found], sure: Confidence) -> None:
        """One finding of listings in one line that show together: ``list(a) + list(b)``."""
        found, fixes = group[0], [self._fix(each) for each in group]
        if found.listing.walk:
            self._tell_walk(found, sure)
            return
        use = _most_telling(found.uses)
        self.report(
            found.op.node,
            f"{found.listing.name}() lists in the file system's order, and "
            f"{self._said(found.op, use)}{_if_missing(found.op)}",
            advice=_advice(found.uses, _sorting(found.listing)),
            edits=tuple(chain.from_iterable(fixes)) if all(fixes) else (),
            confidence=sure,
            way=self._way(found.op, use),
        )

    def _said(self, op: Op, use: Use) -> str:
        """What happens to the names, or to what a comprehension calls something for to get."""
        clauses = [each for each in op.uses if each.code == "iter" and each.name == "comprehension"]
        made = (x for each in clauses for x in each.uses if x.code == "comprehension")
        jobs = (each.args[0] for each in made)
        submits = any(
            job.code == "call" and job.args[0].name in ("apply_async", "submit") for job in jobs
        )
        if submits and use.how.startswith("passed to"):
            return f"here results in that order are {use.how}"
        return shown_at(self.unit, op.node, use)

    def _tell_walk(self, found: Found, sure: Confidence) -> None:
        walk = Walk(self._listings, found.op)
        name = found.listing.name
        if found.uses:
            use = found.uses[0]
            visits = f"{name}() visits folders in the file system's order"
            shown = shown_at(self.unit, found.op.node, use)
            message = f"{visits}, and {shown.replace('it is', 'they are', 1)}"
        else:
            use = next(iter(found.entries.values()))[0]
            lists = f"{name}() lists each folder in the file system's order"
            message = f"{lists}, and {shown_at(self.unit, found.op.node, use)}"
        uses = [*found.uses, *(each[0] for each in found.entries.values())]
        advice = _advice(uses, _SORT_UP if walk.goes_up() else _SORT_WALK)
        self.report(
            found.op.node,
            message,
            advice=advice,
            edits=self._fix_walk(walk, found),
            confidence=sure,
            way=self._way(found.op, use),
        )

    def _way(self, op: Op, use: Use) -> Sequence[tuple[ast.AST, str]]:
        """Where it is listed, and where the order shows, if that is elsewhere in the file."""
        near = use.op.node is op.node or use.op.function.unit is not self.unit
        return () if near else ((op.node, "listed here"), use.step)

    def _fix(self, found: Found) -> tuple[Edit, ...]:
        key, op = found.listing.key, found.op
        # ``async for``, or ``await``: the listing is not a plain iterable.
        if key is None or any(each.code == "await" or _is_async_loop(each) for each in op.uses):
            return ()
        before, after = "sorted(", f", key={key})" if key else ")"
        targets = [op.node]
        if any(use.code == "enter" for use in op.uses):
            targets = self._reads_in_block(op)  # the iterator itself has to be closed
        elif any(each.code == "attr" and each.name in ("close", "__next__") for each in op.uses):
            return ()  # the local that holds the listing is closed, as a list cannot be
        if found.listing.iterator and any("next()" in use.how for use in found.uses):
            before, after = f"iter({before}", f"{after})"
        return self._around(targets, before, after)

    def _around(
        self, nodes: Sequence[ast.AST], before: str = "sorted(", after: str = ")"
    ) -> tuple[Edit, ...]:
        unit = self.unit
        return tuple(
            edit
            for node in nodes
            for edit in (unit.insert_before(node, before), unit.insert_after(node, after))
        )

    def _reads_in_block(self, op: Op) -> list[ast.AST]:
        entered = [use for use in op.uses if use.code == "enter"]
        return [node for each in entered for node in self._listings.reads(each) or ()]

    def _fix_walk(self, walk: Walk, found: Found) -> tuple[Edit, ...]:
        """Sort the folders, and the names where they are used; nothing if one cannot be done."""
        edits: list[Edit] = []
        dirs: Op | None = None
        if found.uses:
            dirs = walk.named_dirs()
            edits += self._sorting(walk, dirs)
            if not edits:
                return ()
        for each in found.entries:
            if each is not dirs:
                reads = self._listings.reads(each)
                if not reads:
                    return ()
                edits += self._around(reads)
        return tuple(edits)

    def _sorting(self, walk: Walk, dirs: Op | None) -> tuple[Edit, ...]:
        loop = walk.loop()
        if loop is None:
            return ()  # bottom up, or already in another order
        if dirs is None:
            return () if walk.reads() else self._around([walk.call.node])
        assert isinstance(dirs.node, ast.Name)  # noqa: S101 - what `named_dirs` gives
        assert isinstance(loop, (ast.For, ast.AsyncFor))  # noqa: S101 - nor names of a clause
        first = loop.body[0]
        if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return ()  # decorators may stand above
        source = self.unit.source
        row, column = source.location(self.unit.span(first)[0])
        indent = source.line(row)[: column - 1]
        if indent.strip():
            return ()
        text = f"{dirs.node.id}.sort()"
        return (self.unit.insert_before(first, f"{text}{source.newline}{indent}"),)


def _if_missing(op: Op) -> str:
    missing = fallback(op)
    return f"{_STANDS_IN}{missing.subject}`" if missing is not None and missing.optional else ""


def _shown_by(found: Found) -> tuple[object, ...]:
    """What tells listings apart: their lines, and where their orders show."""
    if found.listing.walk:
        return (found.op,)
    return found.listing.name, found.op.row, *(x.op for x in found.uses)


def _uses_of(found: Found) -> list[Use]:
    return [*found.uses, *(use for each in found.entries.values() for use in each)]


def _most_telling(uses: Sequence[Use]) -> Use:
    """The use to name: the first that is seen, but rather one of the elements than one of what they
    are handed to as a whole, where it may be another branch that does so. A draw says the most."""
    vague = ("asked for", "passed to")
    draws = ("shuffle()", "sample()", "choice()")

    def says_little(use: Use) -> tuple[bool, bool]:
        return use.assumed, use.how.startswith(vague) and not use.how.endswith(draws)

    return min(uses, key=says_little)


def _advice(uses: Sequence[Use], advice: str) -> str:
    return f"{advice}{RETURNED}" if only_returned(uses) else advice


def _sorting(listing: Listing) -> str:
    if listing.numbered:
        return _NUMBERED
    return _SORT_SAMPLES.format(listing.samples) if listing.samples else _SORT


def _is_async_loop(head: Op) -> bool:
    made = (each.node for each in head.uses if each.code == "comprehension")
    clauses = [clause for node in made for clause in getattr(node, "generators", ())]
    return isinstance(head.node, ast.AsyncFor) or any(
        clause.is_async for clause in clauses if clause.iter is head.node
    )
