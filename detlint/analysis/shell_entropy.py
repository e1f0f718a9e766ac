"""Values of a shell that differ from run to run: ``$RANDOM``, ``$(date +%s)``, ``$$``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = {
    "RANDOM": "the shell's RANDOM",
    "SRANDOM": "the shell's SRANDOM",
    "EPOCHSECONDS": "the clock",
    "EPOCHREALTIME": "the clock",
    "BASHPID": "the number of the process",
    "PPID": "the number of the process",
    "$": "the number of the process",
    "SLURM_JOB_ID": "the number of the job",
    "SLURM_JOBID": "the number of the job",
    "PBS_JOBID": "the number of the job",
    "LSB_JOBID": "the number of the job",
}
_NAMED = "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True))
_PARAMETER = re.compile(rf"\$(?:({_NAMED})(?!\w)|\{{({_NAMED})(?=[}}:%#/-])[^{{}}]*\}})")
_IN_ARITHMETIC = re.compile(rf"(?<![\w$])\$?\{{?({_NAMED.replace(re.escape('$') + '|', '')})\b")
_COMMANDS = (
    (re.compile(r"(?:^|[|;&(`\s])date\b(?!.*(?:--date|-d)\b)"), "the clock"),
    (re.compile(r"/dev/u?random\b|\bopenssl\s+rand\b|\buuidgen\b"), "the operating system"),
    (re.compile(r"\bshuf\b(?!.*--random-source)"), "a draw of shuf"),
    (re.compile(r"\bpython[\d.]*\s+-c\b.*(?:\brandom\b|\btime\b|secrets|urandom)"), "a draw"),
)
# bash's generator starts from what is assigned to it.
_SEEDED = re.compile(r"^\s*RANDOM=", re.MULTILINE)


class Entropy(NamedTuple):
    """An expansion that differs from run to run, and what it comes from."""

    start: int
    end: int
    what: str
    optional: bool  # only where nothing else is given: ${SEED:-$RANDOM}


@lru_cache(maxsize=1)  # of a script, for each of its seeds
def _is_seeded(script: str) -> bool:
    return _SEEDED.search(script) is not None


def entropy(raw: str, script: str) -> Entropy | None:
    """The first such expansion in a value as a script spells it."""
    for start, end in _substitutions(raw):
        what = _told(raw[start:end], script)
        if what:
            return Entropy(start, end, what, _is_default(raw, start))
    for match in _PARAMETER.finditer(raw):
        name = match[1] or match[2]
        if name != "RANDOM" or not _is_seeded(script):
            return Entropy(*match.span(), _NAMES[name], _is_default(raw, match.start()))
    return None


def _told(text: str, script: str) -> str:
    if text.startswith("$(("):
        match = _IN_ARITHMETIC.search(text)
        if match is None:
            inner = next(_substitutions(text[3:-2]), None)
            return _told(text[3:-2][slice(*inner)], script) if inner else ""
        return "" if match[1] == "RANDOM" and _is_seeded(script) else _NAMES[match[1]]
    return next((what for pattern, what in _COMMANDS if pattern.search(text)), "")


def _substitutions(raw: str) -> Iterator[tuple[int, int]]:
    """Where ``$( … )``, ``$(( … ))`` and backticks lie."""
    place = 0
    while (match := re.compile(r"\$\(|`").search(raw, place)) is not None:
        start = match.start()
        place = raw.find("`", start + 1) + 1 if match[0] == "`" else _closing(raw, start + 1)
        if not place:
            return
        yield start, place


def _closing(raw: str, start: int) -> int:
    """The place behind the parenthesis that closes the one at ``start``; 0 if there is none."""
    depth = 0
    for place in range(start, len(raw)):
        depth += {"(": 1, ")": -1}.get(raw[place], 0)
        if not depth:
            return place + 1
    return 0


def _is_default(raw: str, start: int) -> bool:
    return re.search(r"\$\{\w+:?[-=][\"']?$", raw[:start]) is not None
