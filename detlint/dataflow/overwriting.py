"""Loops that give each key of a dict another value: ``for key in sets: sets[key] = sorted(…)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.dataflow.ir import Op


def overwritten(container: Op, by: Op) -> Op | None:
    """What each key of a dict has been given where an operation takes that, behind such a loop."""
    region = container.region
    if container.code != "phi" or container not in region.joints or by.within(region):
        return None
    head, (before, *changed) = region.head, container.args
    store = changed[0] if len(changed) == 1 else None
    if head is None or head.code != "iter" or store is None or store.code != "store_item":
        return None
    kept, key, value = store.args
    always = store.region is region and not any(each.code == "leave" for each in region.ops())
    return value if kept is container and always and _is_key(key, head, before) else None


def _is_key(key: Op, head: Op, table: Op) -> bool:
    """Whether a value is the key, of all that a dict has, that a loop is at."""
    over, view = head.values.gone_through(head.args[0])
    if over is not table:
        return False
    if view == "items":
        return key.code == "unpack" and key.args[0] is head and key.name[0] == 0
    return view in ("", "keys") and key is head
