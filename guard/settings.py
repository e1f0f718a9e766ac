"""What guard is told: keyword arguments over ``GUARD_*`` variables over ``[tool.guard]``."""

from __future__ import annotations

import difflib
import operator
import os
import sys
from dataclasses import dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = {"1": True, "true": True, "yes": True, "on": True}
_WORDS |= {"0": False, "false": False, "no": False, "off": False}
_PLACES = ("device", "cpu")
LARGEST_SEED = 2**32 - 1  # NumPy's global generator takes 32 bits


@dataclass(frozen=True)
class Settings:
    """How to make a run deterministic. Raises SettingsError for a value that is not legal.

    seed               of every generator, 0 to 2**32 - 1
    fill               torch fills memory that nothing has written (costs time; see the docs)
    strict             operators that are known to differ silently raise as well
    allow              operators that are let through, by a name of theirs
    rank_offset        each rank draws other numbers: its rank is added to the seed
    reduced_precision  False turns TF32 and reduced-precision reductions off
    cudnn              False turns cuDNN off
    dropout            False takes dropout out, to compare runs
    repair             operators that refuse, or differ, run a deterministic replacement: all of
                       them, or those of some names
    rng                "cpu" draws random tensors on the CPU and moves them, so that two kinds
                       of device see the same numbers; "device" leaves it to torch
    """

    seed: int = 0
    fill: bool = True
    strict: bool = True
    allow: tuple[str, ...] = ()
    rank_offset: bool = False
    reduced_precision: bool = True
    cudnn: bool = True
    dropout: bool = True
    rng: str = "device"
    repair: bool | tuple[str, ...] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", checked_seed(self.seed))
        for field in fields(self):
            if field.type == "bool" and not isinstance(getattr(self, field.name), bool):
                value = getattr(self, field.name)
                raise SettingsError(f"{field.name} is True or False, not {value!r}")
        object.__setattr__(self, "allow", _names(self.allow))
        if not isinstance(self.repair, bool):
            object.__setattr__(self, "repair", _names(self.repair, "repair"))
        if self.rng not in _PLACES:
            raise SettingsError(f'rng is "device" or "cpu", not {self.rng!r}')


def checked_seed(seed: object) -> int:
    """The seed as an int. Raises SettingsError for what no generator of all would take."""
    if isinstance(seed, bool):
        raise SettingsError(f"a seed is an integer from 0 to {LARGEST_SEED}, not {seed!r}")
    try:
        number = operator.index(seed)  # type: ignore[arg-type]  # NumPy's integers have it, too
    except TypeError:
        hint = f"; write {int(seed)}" if isinstance(seed, float) and seed.is_integer() else ""
        message = f"a seed is an integer from 0 to {LARGEST_SEED}, not {seed!r}{hint}"
        raise SettingsError(message) from None
    if not 0 <= number <= LARGEST_SEED:
        raise SettingsError(
            f"a seed is an integer from 0 to {LARGEST_SEED}, not {number}; "
            f"write {number % (LARGEST_SEED + 1)}, which is the same modulo 2**32"
        )
    return number


def _names(value: object, setting: str = "allow") -> tuple[str, ...]:
    items = (value,) if isinstance(value, str) else value
    if isinstance(items, (list, tuple, set, frozenset)) and all(
        isinstance(each, str) for each in items
    ):
        return tuple(sorted(items))
    either = "True, False, or " if setting == "repair" else ""
    raise SettingsError(f"{setting} is {either}a list of names of operators, not {value!r}")


def load(**given: Any) -> Settings:
    """Settings from keyword arguments, ``GUARD_*`` variables and ``[tool.guard]``, in this order.

    A ``seed`` of None counts as not given. Raises SettingsError, which says where the
    value came from.
    """
    if given.get("seed", 0) is None:
        del given["seed"]
    unknown = sorted(given.keys() - _types().keys())
    if unknown:
        raise SettingsError(_unknown(unknown[0], "guard"))
    return Settings(**{**_from_project(), **_from_environment(os.environ), **given})


def _types() -> dict[str, str]:
    return {field.name: str(field.type) for field in fields(Settings)}


def _unknown(name: str, where: str) -> str:
    return f"{where} knows no setting {name!r}; it knows {', '.join(_types())}"


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    types = _types()
    known = [f"GUARD_{name.upper()}" for name in types]
    foreign = environ.keys() - set(known)
    for variable in sorted(name for name in foreign if name.startswith("GUARD_")):
        near = difflib.get_close_matches(variable, known, n=1, cutoff=0.8)
        if near:
            raise SettingsError(f"{variable} is no variable of guard's; {near[0]} is")
    return {
        name: _parsed(f"GUARD_{name.upper()}", text, types[name])
        for name in types
        if (text := environ.get(f"GUARD_{name.upper()}")) is not None
    }


def _parsed(variable: str, text: str, kind: str) -> object:
    if kind.startswith("bool |") and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if kind == "bool":
        if text.lower() not in _WORDS:
            raise SettingsError(f"{variable} is 1 or 0, not {text!r}")
        return _WORDS[text.lower()]
    if kind == "int":
        try:
            return int(text)
        except ValueError:
            raise SettingsError(f"{variable} is an integer, not {text!r}") from None
    if kind == "str":
        return text
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _from_project() -> dict[str, Any]:
    """The table ``[tool.guard]`` of the nearest pyproject.toml at or above the working folder."""
    folder = os.getcwd()
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            return _table(path)
        above = os.path.dirname(folder)
        if above == folder:
            return {}
        folder = above


def _table(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        data = file.read()
    if b"guard" not in data:  # most projects have no such table, and need no parser
        return {}
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = tomllib.loads(data.decode()).get("tool", {}).get("guard", {})
    except (ValueError, AttributeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: [tool.guard] is a table, not {table!r}")
    found = {name.replace("-", "_"): value for name, value in table.items()}
    unknown = sorted(found.keys() - _types().keys())
    if unknown:
        raise SettingsError(_unknown(unknown[0], f"[tool.guard] in {path}"))
    return found


def seed_given(text: str | None) -> Any:  # noqa: ANN401 - Settings refuses what is no integer
    """A seed that stands on a command line."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return text
