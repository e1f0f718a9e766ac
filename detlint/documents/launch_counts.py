"""In how many processes and on how many nodes a launcher starts a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detlint.documents.document import Word

_MPI = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "mpirun_rsh"})


class Count(NamedTuple):
    """The launcher with the processes and nodes, None where they are not known."""

    launcher: str
    processes: int | None
    nodes: int | None


def started_by(front: Sequence[Word], environment: Mapping[str, str | None]) -> Count:
    """What the words in front of a program make of it; one process, if nothing."""
    texts = [each.text for each in front]
    for index, text in enumerate(texts):
        name = (text or "").rpartition("/")[2]
        if name in _MPI or name == "horovodrun":
            given = _value(texts[index + 1 :], "-np", "-n", "--np", "-c", "--num-proc")
            shown = "mpirun" if name in _MPI else name
            return Count(shown, _number(given), None)
        if name == "srun":
            return _of_srun(texts[index + 1 :], environment)
    if any(text is None for text in texts):
        return Count("python", None, None)
    return Count("python", 1, 1)


def _of_srun(texts: Sequence[str | None], environment: Mapping[str, str | None]) -> Count:
    """By its options, or those of the job that it runs in."""
    slurm = environment.get
    nodes = _number(_value(texts, "-N", "--nodes") or slurm("SLURM_NNODES"))
    tasks = _number(_value(texts, "-n", "--ntasks"))
    each = _number(_value(texts, "--ntasks-per-node"))
    if tasks is None and each is None:
        tasks = _number(slurm("SLURM_NTASKS"))
        each = _number(slurm("SLURM_NTASKS_PER_NODE"))
    if tasks is None and nodes is not None:
        tasks = nodes * (1 if each is None else each)
    return Count("srun", tasks, nodes)


def counted(launcher: str, given: Mapping[str, str | None], outer: Count) -> Count:
    """What a launcher starts, by its options; their names have dashes."""
    if launcher == "torchrun":
        nodes = _number(given.get("--nnodes", "1"))
        each = _number(given.get("--nproc-per-node", "1"))
        return Count(launcher, _product(nodes, each), nodes)
    if launcher == "accelerate":
        nodes = _number(given.get("--num-machines"))
        return Count(launcher, _number(given.get("--num-processes")), nodes)
    if launcher == "deepspeed":
        alone = "--hostfile" not in given and "-H" not in given
        nodes = _number(given.get("--num-nodes", "1" if alone else None))
        return Count(launcher, _product(nodes, _number(given.get("--num-gpus"))), nodes)
    if launcher == "colossalai":
        alone = "--hostfile" not in given and "--host" not in given
        nodes = _number(given.get("--num-nodes", "1" if alone else None))
        return Count(launcher, _product(nodes, _number(given.get("--nproc-per-node"))), nodes)
    if launcher == "fabric":
        nodes = _number(given.get("--num-nodes", "1"))
        return Count(launcher, _product(nodes, _number(given.get("--devices"))), nodes)
    return outer._replace(launcher=launcher)


def _value(texts: Sequence[str | None], *options: str) -> str | None:
    """The value of an option, glued to it or not."""
    for index, text in enumerate(texts):
        if text in options:
            return texts[index + 1] if index + 1 < len(texts) else None
        for option in options:
            if text is not None and text.startswith(option):
                glued = text[len(option) :]
                if glued.startswith("=") or (len(option) == 2 and glued.isdigit()):
                    return glued.lstrip("=")
    return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _product(one: int | None, two: int | None) -> int | None:
    return one * two if one is not None and two is not None else None
