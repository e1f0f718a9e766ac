"""Results that outlive an interruption: a file for each run that gave a value."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from guard.spread.runs import Outcome
from guard.verification.program_files import digest_of, program_files

if TYPE_CHECKING:
    from guard.spread.plans import Plan


class Kept:
    """The results of a folder. One holds for the same program, as its files now are."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load(self, plan: Plan, index: int, seed: int) -> Outcome | None:
        """The result of that run, if it is there."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            with open(self._path(index, seed), encoding="utf-8") as file:
                read = json.load(file)
            if read["key"] == _key(plan, seed):
                return Outcome(**read["outcome"])
        return None

    def save(self, plan: Plan, index: int, seed: int, outcome: Outcome) -> None:
        """Keep a result; a run without one is to be made again."""
        if outcome.value is None:
            return
        path = self._path(index, seed)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump({"key": _key(plan, seed), "outcome": outcome._asdict()}, file, indent=2)
        os.replace(f"{path}.new", path)

    def _path(self, index: int, seed: int) -> str:
        return os.path.join(self._folder, "ab"[index], f"seed{seed}.json")


def _key(plan: Plan, seed: int) -> str:
    """A digest of what a result depends on, as far as it is known."""
    is_module = plan.program[0] == "-m"
    told: list[object] = [plan.command(seed), plan.metric, plan.source, plan.seeding]
    told.append(sorted(each for each in os.environ.items() if each[0].startswith("GUARD_")))
    files = digest_of(program_files(plan.program[is_module], module=is_module))
    return hashlib.sha256(json.dumps(told).encode() + files).hexdigest()
