"""Which assignments a read sees: what sorted lists answer, beside the definition in words."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import libcst as cst
import pytest

from detlint.analysis.reads import Reads
from detlint.module import Module
from detlint.narrowing import whole
from detlint.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.reaching import Store

LEAVING = (cst.Continue, cst.Break, cst.Return, cst.Raise)
SIMPLE = ("x = y", "y = z", "g(x)", "g(y)", "x, y = y, x", "g(x := y)", "x += 1", "return")
HEADS = ("if y:", "for x in z:", "with z as y:", "while x:", "try:")


class Definition:
    """What ``Reads`` says, told for each pair of an assignment and a read."""

    def __init__(self, module: Module) -> None:
        self.module, self.reads = module, Reads(module)

    def reaching(self, load: cst.Name) -> list[cst.CSTNode]:
        """The statements whose value the read sees."""
        stores = self.reads.stores(load)
        return [each.statement for each in stores if self.sees(load, each, stores)]

    def sees(self, load: cst.Name, store: Store, stores: list[Store]) -> bool:
        place = self.reads.place(load)
        if place <= store.end or self.exclusive(store.statement, load):
            return False
        hiding = [each.statement for each in stores if store.end < each.end < place]
        return not any(
            self.reads.dominates(each, load)
            or self.follows(each, store.statement, load)
            or self.decides(each, hiding, load)
            for each in hiding
        )

    def follows(self, statement: cst.CSTNode, earlier: cst.CSTNode, load: cst.Name) -> bool:
        block = self.block(statement)
        if block is None or block is not self.block(earlier):
            return False
        above = self.module.parent(block)
        handlers = above.handlers if isinstance(above, cst.Try) else ()
        return not any(each in self.module.ancestors(load) for each in handlers)

    def decides(self, statement: cst.CSTNode, hiding: list[cst.CSTNode], load: cst.Name) -> bool:
        top = self.module.parent(self.block(statement) or statement)
        while isinstance(above := self.module.parent(top) if top else None, (cst.If, cst.Else)):
            top = above
        if not isinstance(top, cst.If) or not self.reads.dominates(top, load):
            return False
        blocks = [self.block(each) for each in hiding]
        branches = list(_branches(top))
        written = (any(each is it.body for each in blocks) or _leaves(it.body) for it in branches)
        return isinstance(branches[-1], cst.Else) and all(written)

    def exclusive(self, first: cst.CSTNode, second: cst.CSTNode) -> bool:
        above = [second, *self.module.ancestors(second)]
        below = first
        for parent in self.module.ancestors(first):
            if parent in above:
                other = above[above.index(parent) - 1]
                branches = (parent.body, parent.orelse) if isinstance(parent, cst.If) else ()
                return below is not other and all(
                    any(each is it for each in branches) for it in (below, other)
                )
            below = parent
        return False

    def block(self, statement: cst.CSTNode) -> cst.CSTNode | None:
        line = self.module.parent(statement)
        return self.module.parent(line) if isinstance(line, cst.SimpleStatementLine) else None


def _branches(top: cst.If) -> Iterator[cst.If | cst.Else]:
    branch: cst.If | cst.Else | None = top
    while branch is not None:
        yield branch
        branch = branch.orelse if isinstance(branch, cst.If) else None


def _leaves(block: cst.BaseSuite) -> bool:
    last = block.body[-1]
    return isinstance(last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last, LEAVING)


def block(draw: random.Random, depth: int) -> Iterator[str]:
    """Some statements that assign and read x and y."""
    margin = "    " * depth
    for _ in range(draw.randint(1, 3)):
        if depth > 3 or draw.random() < 0.6:
            yield margin + draw.choice(SIMPLE)
            continue
        head = draw.choice(HEADS)
        yield from (margin + head, *block(draw, depth + 1))
        if head == "try:":
            yield from (f"{margin}    x = 1", f"{margin}except E:", f"{margin}    g(x)")
            yield from block(draw, depth + 1)
        elif head.startswith("if"):
            if draw.random() < 0.4:
                yield from (f"{margin}elif x:", *block(draw, depth + 1))
            if draw.random() < 0.7:
                yield from (f"{margin}else:", *block(draw, depth + 1))


@pytest.mark.parametrize("seed", range(60))
def test_reads_see_what_the_definition_says(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same programs each time
    text = "\n".join(["def f(z):", *(line for _ in range(3) for line in block(draw, 1))]) + "\n"
    module = Module(Source("a.py", text), whole(text))
    reads, definition = Reads(module), Definition(module)
    names = [each for each in module.nodes if isinstance(each, cst.Name) and each.value in "xy"]
    loads = [each for each in names if any(each is it for it in reads.loads(each))]
    seen = {id(load): definition.reaching(load) for load in loads}
    for load in loads:
        assert reads.reaching(load) == seen[id(load)], text
    for name in names:
        for statement in [each.statement for each in reads.stores(name)]:
            expected = [
                load
                for load in reads.loads(name)
                if any(each is statement for each in seen[id(load)])
            ]
            assert list(reads.reached(name, statement)) == expected, text
