"""experimental"""

from __future__ import annotations

from typing import NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.order import Orders, Use, word_of
from detlint.dataflow.values import Values

_LIST = {"os.listdir", "os.scandir", "glob.glob", "glob.iglob", "fsspec.ls"}
_DONE = {"concurrent.futures.as_completed", "asyncio.as_completed"}


class Found(NamedTuple):
    op: object
    use: Use
    confidence: str

    @property
    def how(self):
        return self.use.how


def find(unit, code):
    values = Values(unit)
    orders = Orders(values)
    for piece in unit.pieces:
        f = unit.function(piece) if piece.kind else None
        if f is not None:
            yield from of(f, values, orders, code)
    yield from of(unit.module, values, orders, code)


def of(function, values, orders, code):
    for each in function.everything():
        for op in each.ops:
            if op.code != "call":
                continue
            called = set(values.called(op))
            w = word_of(op)
            src = False
            if code == "DET203":
                src = bool(called & _LIST)
                if op.args[0].code == "attr" and w in ("iterdir", "glob", "rglob") and not called:
                    t = values.types(op.args[0].args[0])
                    src = lattice.may_be(t, "path") or (
                        w in ("iterdir", "rglob") and not values.owner(op.args[0].args[0])
                    )
                if (
                    op.args[0].code == "attr"
                    and any(c.startswith("pathlib.Path.") for c in called)
                    and w in ("iterdir", "glob", "rglob")
                ):
                    src = True
            else:
                src = (
                    bool(called & _DONE)
                    or (
                        w in ("imap_unordered", "map_unordered")
                        and not values.owner(op.args[0].args[0])
                        if op.args[0].code == "attr"
                        else False
                    )
                    or (w == "as_completed" and op.args[0].code == "attr")
                )
            if not src:
                continue
            uses = list(orders.uses(op))
            if uses:
                u = uses[0]
                yield Found(op, u, "possible" if all(x.assumed for x in uses) else "certain")
