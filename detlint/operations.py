"""Operators of torch without a deterministic implementation: one table for linter and guard."""

from __future__ import annotations

from typing import NamedTuple


class Alternative(NamedTuple):
    """What to use instead: in words, and as code to paste."""

    text: str
    code: str = ""


class Operation(NamedTuple):
    """One operator that differs from run to run, or refuses to run deterministically.

    name          as people write it: "torch.nn.functional.grid_sample"
    alerts        texts by which torch refuses, before " does not have a deterministic…"
    overloads     operators that refuse or differ: "aten::grid_sampler_2d_backward"
    nodes         names of the autograd nodes, where it is the backward
    api           public forms that lead there: functions, methods, modules
    calls         functions of torch that all forms pass through, for guard to watch
    condition     when, in words; "" for always
    direction     "forward" or "backward"
    devices       "cuda", "cpu", "meta"
    silent        whether torch lets it pass without a word
    reason        why it is non-deterministic
    alternatives  best first
    since, until  torch releases, until exclusive; "" where unknown or still so
    source        where this is known from
    """

    name: str
    alerts: tuple[str, ...]
    overloads: tuple[str, ...]
    nodes: tuple[str, ...]
    api: tuple[str, ...]
    calls: tuple[str, ...]
    condition: str
    direction: str
    devices: tuple[str, ...]
    silent: bool
    reason: str
    alternatives: tuple[Alternative, ...]
    since: str = ""
    until: str = ""
    source: str = ""


OPERATIONS: tuple[Operation, ...] = ()
