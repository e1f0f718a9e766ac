"""What the linter finds in the program's own files that fits the cause of a difference."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from guard.diff import Cause, Suspect
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from guard.diff import Difference, Link

_SECONDS = 120
_MOST = 5  # suspects that are told
_FILES = 400  # of the program's, at most
_FAR = 100  # lines within a file, from which on they all count as far
_FILE_COUNTS = 2  # as much as being so many codes further down the list

GENERAL = ("DET303", "DET304", "DET306", "DET7", "DET80")  # codes about a program as a whole

_SHUFFLES = ("DET202",)  # they draw from torch's generator, and are in order where it is seeded
_SEEDING = re.compile(r"\b(manual_seed|seed_everything|set_seed|seed_all)\s*\(")

_OWNER = re.compile(r"\b(\w+)'s global")  # in what the linter says
_OWNERS = {"python", "numpy", "torch"}
_OBJECTS = "DET101"  # of generators of the program's own
_GLOBALS = ("DET102", "DET104")

# Why a code fits; a code covers those that begin with it, and the first that covers one counts.
_WHY = {
    ("DET101", "DET102", "DET103", "DET104", "DET202"): "a generator without a fixed seed",
    ("DET106", "DET203", "DET204", "DET205", "DET206", "DET802"): "an order that nothing fixes",
    ("DET201", "DET207"): "generators in the loader's workers",
    ("DET301", "DET302", "DET307"): "a kernel that is chosen anew in each run",
    (
        "DET305",
        "DET401",
        "DET402",
        "DET403",
    ): "memory that is read before anything has written to it",
    ("DET105",): "a value that is another one in each run",
    ("DET",): "a kernel that adds or writes in no fixed order",
}
# Codes by cause, the likelier first.
_CODES = {
    Cause.INITIALISATION: "102 101 103 402 401 403 104 204 105 203",
    Cause.BATCH_ORDER: "204 203 205 101 103 102 104 105 206 202 802 207 201 106",
    Cause.BATCH_CONTENT: "101 103 102 104 204 203 205 105 207 201 403 401 206 202 106",
    Cause.GENERATOR: "103 102 101 104 204 205 105 207 202",
    Cause.KERNEL: "501 502 60 401 402 205 101 103 204 105 301 302 307 303 304 306 7 80",
    Cause.UNWRITTEN_MEMORY: "401 402 403 305",
    Cause.HYPERPARAMETER: "101 103 102 104 105 204 205",
    Cause.OUTSIDE: "101 103 102 104 105 204 205",
    Cause.STATE: "101 102 206 202",
    # How data is shuffled decides nothing of what is done.
    Cause.CONTROL_FLOW: "101 103 102 104 204 203 205 105 207 201 403 401 206 106",
    Cause.LENGTH: "101 103 102 104 204 203 205 105 207 201 403 401 206 106",
}


def _fitting(cause: Cause) -> tuple[tuple[str, str], ...]:
    """The codes of a cause, each with why it fits."""
    codes = (f"DET{each}" for each in _CODES.get(cause, "").split())
    return tuple(
        (code, next(why for starts, why in _WHY.items() if code.startswith(starts)))
        for code in codes
    )


def suspects(
    difference: Difference, files: Sequence[str], links: Sequence[Link] = ()
) -> tuple[Suspect, ...]:
    """The linter's findings that fit, best first. Raises GuardError where it cannot be asked.

    files  the program's own, the one that was started first
    links  statements that running showed to lead to the difference
    """
    fitting = _fitting(difference.cause)
    if not files or not fitting:
        return ()
    if any(_SEEDING.search(_read(each)) for each in files):
        fitting = tuple(each for each in fitting if each[0] not in _SHUFFLES)
    codes = [code for code, _ in fitting]
    found = findings(files, codes)
    return rank(found, fitting, difference, files, links)


def findings(files: Sequence[str], codes: Sequence[str]) -> list[dict[str, Any]]:
    """What ``detlint`` finds, in a process of its own: guard does not import its parser."""
    command = [sys.executable, "-m", "detlint", "--output-format", "json", "--isolated"]
    command += ["--no-cache", "--min-confidence", "possible"]
    command += ["--select", ",".join(codes), "--", *files[:_FILES]]
    try:
        done = subprocess.run(  # noqa: S603 - this Python
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise GuardError(f"the linter took more than {_SECONDS} s over the program") from None
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)
    except ValueError:
        raise GuardError(f"the linter could not be asked: {done.stderr.strip()}") from None
    return found


def rank(
    found: Iterable[dict[str, Any]],
    fitting: Sequence[tuple[str, str]],
    difference: Difference,
    files: Sequence[str],
    links: Sequence[Link] = (),
) -> tuple[Suspect, ...]:
    """Best first: on the line itself, or in the slice; then what is no mere possibility; then how
    well the code fits, and how near it lies, weigh.

    What is said of other generators than the one that differs comes later, and what is said of
    the whole program last: the line it is said at is of no consequence. The file of the place is
    the nearest; then those that define a dataset, and the one that was started; then the others.
    """
    place = difference.place
    here = os.path.realpath(place.filename) if place is not None else ""
    line = place.line if place is not None else 0
    known = {(os.path.realpath(each.file), each.line) for each in links} | {(here, line)}
    near = {os.path.realpath(each) for each in files if each == files[0] or _has_data(each)}

    def key(each: dict[str, Any]) -> tuple[Any, ...]:
        name, row = os.path.realpath(each["filename"]), each["location"]["row"]
        distance = abs(row - line)
        far = min(distance / _FAR, 1) if name == here else 1 + (name not in near)
        weight = _fit(each["code"], fitting)[0] + _FILE_COUNTS * far
        is_general = each["code"].startswith(GENERAL)
        is_other = _is_of_another(each, difference.generators)
        is_possible = each.get("confidence") == "possible"
        return is_general, is_other, (name, row) not in known, is_possible, weight, name, row

    fit = sorted((each for each in found if _fit(each["code"], fitting)[1]), key=key)
    return tuple(_suspect(each, fitting) for each in fit[:_MOST])


def _is_of_another(each: dict[str, Any], generators: Sequence[str]) -> bool:
    """Whether a finding is about another generator than those that are known to differ."""
    held = {name.partition(".")[0] for name in generators}
    if not held or not held <= _OWNERS:  # generator objects as well
        return False
    code = each["code"]
    if code.startswith(_SHUFFLES):
        return "torch" not in held
    owner = _OWNER.search(each["message"]) if code.startswith(_GLOBALS) else None
    return code == _OBJECTS or (owner is not None and owner[1].lower() not in held)


def _has_data(path: str) -> bool:
    return "Dataset" in _read(path)


def _read(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def _fit(code: str, fitting: Sequence[tuple[str, str]]) -> tuple[int, str]:
    for order, (start, why) in enumerate(fitting):
        if code.startswith(start):
            return order, why
    return len(fitting), ""


def _suspect(each: dict[str, Any], fitting: Sequence[tuple[str, str]]) -> Suspect:
    return Suspect(
        code=each["code"],
        message=each["message"],
        file=each["filename"],
        line=each["location"]["row"],
        fits=_fit(each["code"], fitting)[1],
    )
