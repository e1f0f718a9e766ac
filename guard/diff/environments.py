"""What is not the same around two runs: items of the environment, the seed, the command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from guard.diff.differences import Change

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.trace import Header

SEED, COMMAND = "seed", "command"
# Of these no kernel depends, whatever else does: verify sets them on purpose.
_NO_KERNELS = ("hash_seed", "PYTHONHASHSEED", "MALLOC_PERTURB_", "guard: seed")
_NONE = "not set"


def changes(first: Header, second: Header) -> tuple[Change, ...]:
    """What differs, the command and the seed first."""
    return (*_started(first, second), *_items(first, second))


def for_kernels(found: Iterable[Change]) -> tuple[Change, ...]:
    """Those by which a kernel can give other numbers."""
    return tuple(
        each
        for each in found
        if each.name not in (SEED, COMMAND) and not each.name.endswith(_NO_KERNELS)
    )


def told(found: Iterable[Change]) -> str:
    """In a sentence: "torch: version (2.12 and 2.13), machine: cpu (…)"."""
    return ", ".join(f"{each.name} ({each.first} and {each.second})" for each in found)


def _started(first: Header, second: Header) -> list[Change]:
    found = []
    if first.seed != second.seed:
        found.append(Change(SEED, _shown(first.seed), _shown(second.seed)))
    commands = [shlex.join(each.command) for each in (first, second)]
    if commands[0] != commands[1]:
        found.append(Change(COMMAND, commands[0] or "not known", commands[1] or "not known"))
    return found


def _items(first: Header, second: Header) -> list[Change]:
    held = [each.environment for each in (first, second)]
    when = "later" if all("later" in each for each in held) else "items"
    items = [each.get(when) for each in held]
    one, other = (each if isinstance(each, dict) else {} for each in items)
    if not one or not other:
        return []
    names = [*one, *(name for name in other if name not in one)]
    return [
        Change(str(name), _shown(one.get(name)), _shown(other.get(name)))
        for name in names
        if one.get(name) != other.get(name)
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return _NONE if value is None else str(value)
