"""What a shell, and the programs that scripts ask, make up anew in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Variables, and where their values come from.
UNKNOWN = {
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
_DEVICES = ("/dev/urandom", "/dev/random")
_DRAWS = ("random", "time", "secrets", "urandom")  # in a program of Python


def drawn_by(words: Sequence[str]) -> str:
    """What the output of a command comes from, if it differs from run to run; else ""."""
    name, *arguments = words
    name = name.rpartition("/")[2]
    if any(device in word for word in words for device in _DEVICES):
        return "the operating system"
    if name == "uuidgen" or (name == "openssl" and "rand" in arguments[:1]):
        return "the operating system"
    if name == "date":
        given = any(each.startswith(("-d", "--date", "-r", "--reference")) for each in arguments)
        return "" if given else "the clock"
    if name == "shuf":
        told = any(each.startswith("--random-source") for each in arguments)
        return "" if told else "a draw of shuf"
    if name.startswith("python") and "-c" in arguments:
        code = arguments[arguments.index("-c") + 1 :][:1]
        return "a draw" if any(each in text for text in code for each in _DRAWS) else ""
    return ""
