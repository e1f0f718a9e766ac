"""What a command line launches: the program, its arguments, and in how many processes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.shell_scripts import SCRIPTS
from detlint.models.launching import TOOLS
from detlint.models.model import words
from detlint.sources.kinds import PYTHON, interpreted_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detlint.documents.document import Command, Document, Word


class Launch(NamedTuple):
    """A Python program that a command starts.

    launcher   "python", or what starts it: "torchrun", "accelerate", "deepspeed", "colossalai",
               "srun", "mpirun", "horovodrun"
    script     the path of the program, or None where it is a ``module`` or is code in the command
    arguments  its own arguments
    processes  of the program, on all nodes together
    """

    launcher: str
    script: Word | None
    module: Word | None
    arguments: tuple[Word, ...]
    processes: int | None
    nodes: int | None
    environment: Mapping[str, str | None]


class _Options(NamedTuple):
    """``valued`` options take the next word; where these are not listed, all but ``flags`` do."""

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] | None = None


_PROGRAMS = (".py", ".pyw")
_LAUNCHERS = {
    "torchrun": _Options(
        words(
            """--standalone --no-python --use-env --run-path --module -m --help --use-agent-store
            --no-use-agent-store"""
        )
    ),
    "accelerate": _Options(
        words(
            """--multi-gpu --cpu --tpu --use-deepspeed --use-fsdp --use-megatron-lm --use-xpu --mps
            --quiet -q --debug --module -m --no-python --tpu-use-cluster --tpu-use-sudo
            --tpu-cluster --no-tpu-cluster --enable-cpu-affinity --use-parallelism-config
            --dynamo-use-fullgraph --dynamo-use-dynamic --dynamo-use-regional-compilation"""
        )
    ),
    "deepspeed": _Options(
        words(
            """--module -m --no-python --no-local-rank --no-ssh --no-ssh-check --force-multi
            --elastic-training --bind-cores-to-rank --enable-each-rank-log-to-console"""
        )
    ),
    "colossalai": _Options(words("--module -m --help")),
    "fabric": _Options(words("--help")),
    "horovodrun": _Options(),
}
# How else they are started: by a subcommand, or as a module.
_SUBCOMMANDS = {
    "accelerate": ("launch",),
    "colossalai": ("run",),
    "fabric": ("run",),
    "lightning": ("run",),
}
_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "torch.distributed.elastic.run": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed": "deepspeed",
}
# Modules that run a program under their eyes.
_WATCHERS = {
    "pdb": _Options(valued=words("-c")),
    "cProfile": _Options(valued=words("-o -s")),
    "profile": _Options(valued=words("-o -s")),
    "trace": _Options(valued=words("-C -f")),
    "debugpy": _Options(valued=words("--listen --connect --log-to")),
    "viztracer": _Options(valued=words("-o --output-file")),
    "coverage": _Options(valued=words("--source --rcfile --include --omit --data-file")),
    "memory_profiler": _Options(valued=words("-o")),
}
# Without one of these a text starts no program of Python and no script.
MARKS = (".py", "python", "pypy", *_LAUNCHERS, *_SUBCOMMANDS, "coverage", *SCRIPTS)


@lru_cache(maxsize=1)
def launches(document: Document) -> Sequence[tuple[Command, Launch]]:
    """The commands of a document that start a program of Python."""
    found = ((each, started(each)) for each in document.commands)
    return [(each, launch) for each, launch in found if launch is not None]


def program(launch: Launch) -> str:
    """The path or module of what is started: ``tools/train.py``; "" if it is not known."""
    word = launch.script or launch.module
    return (word.text or "") if word is not None else ""


def started(command: Command) -> Launch | None:
    """What a command launches: a program of Python, or a library's own command line, of which
    the subcommand counts as the program."""
    launch = launched(command)
    if launch is not None or not command.words:
        return launch
    name = (command.words[0].text or "").rpartition("/")[2]
    words = command.words[1 if TOOLS.get(name) else 0 :]
    if name not in TOOLS or not words:
        return None
    program, *arguments = words
    return Launch(name, program, None, tuple(arguments), None, None, command.environment)


def launched(command: Command) -> Launch | None:
    """What a command launches; None where that is no Python program, or is not told."""
    words = command.words
    if not words or words[0].text is None:
        return None
    name = words[0].text.rpartition("/")[2]
    outer = started_by(command.front, command.environment)
    if name in _LAUNCHERS or name in _SUBCOMMANDS:
        return _of_launcher(name, words[1:], command, outer)
    if name == "coverage":
        return _watched("coverage", words[1:], command, outer)
    if interpreted_by(name) == PYTHON:
        return _of_python(words[1:], command, outer)
    if name.endswith(_PROGRAMS):
        return _found(command, outer, script=words[0], arguments=words[1:])
    return None


def _of_python(words: Sequence[Word], command: Command, outer: Count) -> Launch | None:
    """``python -u train.py``, ``python -m package.module``."""
    place = 0
    while place < len(words):
        text = words[place].text
        if text is None:
            return _past_unknown(words[place:], command, outer)
        if text == "-" or not text.startswith("-"):
            break
        glued = _behind(text, "m")
        if glued is not None:
            return _of_module(glued, words[place:], command, outer)
        if _behind(text, "c") is not None:
            return _found(command, outer, arguments=words[place + 2 :])
        place += 2 if text in ("-W", "-X", "--check-hash-based-pycs") else 1
    if place >= len(words) or words[place].text == "-":
        return None
    return _found(command, outer, script=words[place], arguments=words[place + 1 :])


def _behind(text: str, letter: str) -> str | None:
    """What stands behind a letter among short options: "" of ``-um``; None without the letter."""
    before, found, after = text[1:].partition(letter)
    plain = (not before or before.isalpha()) and not text.startswith(("--", "-W", "-X"))
    return after if found and plain else None


def _of_module(glued: str, words: Sequence[Word], command: Command, outer: Count) -> Launch | None:
    module = words[0]._replace(text=glued) if glued else words[1] if len(words) > 1 else None
    if module is None:
        return None
    rest = words[1:] if glued else words[2:]
    if module.text in _MODULES:
        launcher = _MODULES[module.text]
        return _of_launcher(launcher, rest, command, outer, subcommand=False)
    if module.text == "accelerate.commands.accelerate_cli" and rest and rest[0].text == "launch":
        return _of_launcher("accelerate", rest, command, outer)
    if module.text in _WATCHERS:
        return _watched(module.text, rest, command, outer)
    return _found(command, outer, module=module, arguments=rest)


def _watched(name: str, words: Sequence[Word], command: Command, outer: Count) -> Launch | None:
    """``coverage run train.py``, ``python -m cProfile -o out train.py``."""
    if name == "coverage":
        if not words or words[0].text != "run":
            return None
        words = words[1:]
    place, module, _ = _program(words, _WATCHERS[name])
    return _at(words, place, module=module, command=command, outer=outer)


def _of_launcher(
    name: str, words: Sequence[Word], command: Command, outer: Count, *, subcommand: bool = True
) -> Launch | None:
    if subcommand and name in _SUBCOMMANDS:
        if not words or words[0].text not in _SUBCOMMANDS[name]:
            return None
        words = words[1:]
        if name in ("fabric", "lightning"):
            name, words = "fabric", words[1:] if words and words[0].text == "model" else words
    place, module, given = _program(words, _LAUNCHERS[name])
    count = counted(name, given, outer)
    if "--no-python" in given:
        inner = launched(command._replace(words=tuple(words[place:]), front=()))
        return inner and inner._replace(launcher=name, processes=count.processes, nodes=count.nodes)
    return _at(words, place, module=module, command=command, outer=count)


def _at(
    words: Sequence[Word], place: int, *, module: bool, command: Command, outer: Count
) -> Launch | None:
    """The launch of the program that stands at a place."""
    if place >= len(words):
        return None
    program, rest = words[place], words[place + 1 :]
    if module:
        return _found(command, outer, module=program, arguments=rest)
    return _found(command, outer, script=program, arguments=rest)


def _program(words: Sequence[Word], options: _Options) -> tuple[int, bool, dict[str, str | None]]:
    """Where the program stands behind the options, whether it is a module, and the options."""
    given: dict[str, str | None] = {}
    place = 0
    module = False
    while place < len(words):
        text = words[place].text
        if text is None:
            if not any((each.text or "").endswith(_PROGRAMS) for each in words[place:]):
                break  # it is the program
            place += 1
            continue
        if text == "--":
            place += 1
            break
        if not text.startswith("-"):
            break
        option, glued, value = text.partition("=")
        option = option.replace("_", "-")
        if option in ("-m", "--module"):
            module = True
        takes = option not in options.flags if options.valued is None else option in options.valued
        takes = takes and not glued
        following = words[place + 1].text if place + 1 < len(words) else None
        given[option] = value if glued else following if takes else ""
        place += 2 if takes else 1
    return place, module, given


def _past_unknown(words: Sequence[Word], command: Command, outer: Count) -> Launch | None:
    """``python $OPTIONS train.py``, and ``python $SCRIPT --lr 1``."""
    for index, each in enumerate(words):
        if (each.text or "").endswith(_PROGRAMS):
            return _found(command, outer, script=each, arguments=words[index + 1 :])
        if (each.text or "").startswith("-") and each.text != "-m":
            break
    return _found(command, outer, script=words[0], arguments=words[1:])


def _found(
    command: Command,
    count: Count,
    *,
    script: Word | None = None,
    module: Word | None = None,
    arguments: Sequence[Word] = (),
) -> Launch:
    counts = count.processes, count.nodes
    told = tuple(arguments)
    return Launch(count.launcher, script, module, told, *counts, command.environment)


# In how many processes and on how many nodes a launcher starts a program

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
