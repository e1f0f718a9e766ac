"""DET203 unordered-listing."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.analysis.consumption import Consumption
from detlint.analysis.file_roles import weighed
from detlint.analysis.listings import Listings
from detlint.analysis.order import most_telling
from detlint.analysis.patterns import lists_one
from detlint.analysis.returned_orders import RETURNED, only_returned
from detlint.analysis.uncalled import is_never_called
from detlint.analysis.walk import Walk
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.listings import Listing
    from detlint.analysis.order import Use
    from detlint.finding import Edit

_SORT = "sort it: sorted(…)"
_SORT_WALK = "sort dirs in place, and files where they are used"
_SORT_UP = "sort the whole walk, sorted(os.walk(…)), and files where they are used"


class UnorderedListing(Rule):
    """Why runs differ: Python lists a folder in the order in which the file system keeps its
    entries. That order differs between machines, file systems and copies of the same data. So
    sample 17 of a dataset, or the first checkpoint found, differs whatever the seed.

    Reported:
    - `os.listdir`, `os.scandir`, `glob.glob`, `Path.iterdir`, `Path.glob` and similar calls, where
      the order reaches a result
    - `os.walk` and `Path.walk`, for the folders and for the files of each
    - `max` and `min` of a listing by a key that has likely ties, such as `key=len`

    Lowers the confidence:
    - `max` or `min` by another key than a number in the name: reported as *possible*
    - tests, packaging, sources to compile, plots, shards with an index: reported as *possible*

    Not reported:
    - the order provably does not matter: sorted, counted, tested for membership, only printed
    - what a function returns, if each of its callers in the project sorts it or ignores the order

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
        "walk as",
        ".ls(",
    )
    source = "https://docs.python.org/3/library/os.html#os.listdir"
    shown = "CPU"
    confidence = Confidence.LIKELY
    lowered_by = ("test", "packaging", "machine", "compiling", "resharding", "plotting")
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
    def _consumption(self) -> Consumption:
        return Consumption(self.module)

    @cached_property
    def _wider(self) -> Consumption:
        return Consumption(self.module, possible=True)

    @cached_property
    def _listings(self) -> Listings:
        return Listings(self.module)

    def visit_Call(self, node: cst.Call) -> None:
        listing = self._listings.of(node)
        if listing is None:
            return
        sure = weighed(self, node)
        if not self.wants(sure) or self._judge(node, listing, self._consumption, sure):
            return
        if self.wants(Confidence.POSSIBLE):
            self._judge(node, listing, self._wider, Confidence.POSSIBLE)

    def _judge(
        self, node: cst.Call, listing: Listing, consumption: Consumption, sure: Confidence
    ) -> bool:
        """Whether the order of a listing is used, which is then reported."""
        if listing.walk:
            return self._judge_walk(node, listing, consumption, sure)
        uses = list(consumption.uses(node))
        if not uses or self._has_no_order(node):
            return False
        self.report(
            node,
            f"{listing.name}() lists in the file system's order, and here "
            f"{self._said(node, most_telling(uses))}",
            advice=self._advice(uses, _SORT),
            edits=self._fix(node, listing, uses, consumption),
            confidence=sure,
        )
        return True

    def _said(self, node: cst.Call, use: Use) -> str:
        """What happens to the names, or to what a comprehension calls something for to get."""
        clause = self.module.parent(node)
        made = self.module.parent(clause) if isinstance(clause, cst.CompFor) else None
        job = made.elt if isinstance(made, (cst.ListComp, cst.GeneratorExp)) else None
        submits = isinstance(job, cst.Call) and call_word(job) in ("apply_async", "submit")
        if submits and use.how.startswith("passed to"):
            return f"results in that order are {use.how}"
        return f"it is {use.how}"

    def _has_no_order(self, node: cst.Call) -> bool:
        """Whether a listing never happens, or finds one file at most."""
        return is_never_called(self.module, node) or lists_one(self.module, node)

    def _judge_walk(
        self, node: cst.Call, listing: Listing, consumption: Consumption, sure: Confidence
    ) -> bool:
        walk = Walk(consumption, node)
        uses = [*walk.folders, *walk.entries.values()]
        if not uses or self._has_no_order(node):
            return False
        if walk.folders:
            visits = f"{listing.name}() visits folders in the file system's order"
            message = f"{visits}, and here they are {walk.folders[0].how}"
        else:
            lists = f"{listing.name}() lists each folder in the file system's order"
            message = f"{lists}, and here it is {next(iter(walk.entries.values())).how}"
        advice = self._advice(uses, _SORT_UP if walk.goes_up() else _SORT_WALK)
        self.report(node, message, advice=advice, edits=walk.fix(), confidence=sure)
        return True

    def _advice(self, uses: list[Use], advice: str) -> str:
        return f"{advice}{RETURNED}" if only_returned(self.module, uses) else advice

    def _fix(
        self, node: cst.Call, listing: Listing, uses: list[Use], consumption: Consumption
    ) -> tuple[Edit, ...]:
        if listing.key is None or self._is_asynchronous(node):
            return ()
        after = f", key={listing.key})" if listing.key else ")"
        targets: list[cst.CSTNode] = [node]
        item = self.module.parent(node)
        if isinstance(item, cst.WithItem):
            targets = self._reads_in_block(
                item, consumption
            )  # the iterator itself has to be closed
        elif self._is_closed(node):
            return ()
        before = "sorted("
        if listing.iterator and any("next()" in use.how for use in uses):
            before, after = f"iter({before}", f"{after})"
        return tuple(
            edit
            for target in targets
            for edit in (
                self.module.insert_before(target, before),
                self.module.insert_after(target, after),
            )
        )

    def _reads_in_block(self, item: cst.WithItem, consumption: Consumption) -> list[cst.CSTNode]:
        statement = self.module.parent(item)
        name = item.asname.name if item.asname is not None else None
        if statement is None or not isinstance(name, cst.Name):
            return []
        return list(consumption.used_reads(name, statement))

    def _is_asynchronous(self, node: cst.Call) -> bool:
        """``async for``, or ``await``: the listing is not a plain iterable."""
        parent = self.module.parent(node)
        return isinstance(parent, cst.Await) or (
            isinstance(parent, (cst.For, cst.CompFor)) and parent.asynchronous is not None
        )

    def _is_closed(self, node: cst.Call) -> bool:
        """Whether the local that holds the listing is closed, as a list cannot be."""
        parent = self.module.parent(node)
        if not isinstance(parent, cst.Assign):
            return False
        target = parent.targets[0].target
        loads = self._consumption.reads.loads(target) if isinstance(target, cst.Name) else []
        above = [self.module.parent(load) for load in loads]
        return any(isinstance(each, cst.WithItem) for each in above) or any(
            isinstance(each, cst.Attribute) and each.attr.value in ("close", "__next__")
            for each in above
        )
