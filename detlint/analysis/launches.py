"""What the launches of a script are for, and what they ask for."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.analysis.command_options import Option, options
from detlint.documents.launches import Launch, launched
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.documents.document import Command, Document, Variable
    from detlint.finding import Edit

_TRAINS = re.compile(r"train|finetun|fine_?tun|(?:^|_)(?:sft|dpo|ppo|grpo|rlhf|lora|fit)(?:_|$)")
# Of checkpoints, as the names of programs that convert these have them.
_FORMATS = r"(?:hf|huggingface|mcore|megatron|mg|meg|nemo|ckpt|deepspeed|ds|zero|fsdp|safetensors)"
_OTHER = re.compile(
    r"infer|generat|(?:^|_)serv|eval|predict|quanti|tokeni|preprocess|process_data|convert|export"
    r"|(?:^|_)(?:test|tests|pytest|unittest|sampl\w*|chat|demo|merge|score|perplexity|ppl|mmlu|vllm|sglang|download"
    r"|prepare|gradio|webui|api|pip|http|venv|benchmarks?|visuali[sz]e|plot|setup|build"
    r"|embed|encode|rerank|extract)(?:_|$)"
    # hf2mcore, megatron_to_hf
    rf"|(?:^|_){_FORMATS}(?:2|_to_|_2_){_FORMATS}(?:_|$)"
)
# Folders of programs that train nothing.
_OTHER_FOLDER = re.compile(
    r"(?:^|/)(?:eval|evals|evaluation|inference|infer|serve|serving|deploy|demos?|benchmarks?)/"
)
_TESTS = re.compile(
    r"(?:^|[/.])(?:py\.?test|unittest|nose2?|tox|nox|runtests?|run_tests?|test_[^/]*|[^/]*_tests?"
    r"|[^/]*(?:server|serving|benchmark)[^/]*)(?:\.py)?$"
)
_CONVERTS = re.compile(r"--convert[-_]checkpoint")
# Command lines of libraries, and whether they have subcommands.
_TOOLS = {
    "swift": True,
    "megatron": True,  # ms-swift's
    "llamafactory-cli": True,
    "axolotl": True,
    "tune": True,
    "yolo": True,
    "fairseq-train": False,
    "fairseq-hydra-train": False,
    "ns-train": False,
}
_ASCEND = re.compile(
    r"(?<![a-z])npus?(?![a-z])|ascend|mindspeed|torch_npu|HCCL_|TASK_QUEUE_ENABLE", re.IGNORECASE
)
# What a line says in front of the names of variables that it takes away.
_UNSETS = re.compile(r"(?:^|[;&|({]|\b(?:then|else|do))[ \t]*unset[ \t][^;&|\n]*$")
_DETERMINISTIC = words(
    """deterministic deterministic_mode full_determinism enable_full_determinism
    use_deterministic_algorithms deterministic_algorithms torch_deterministic
    use_deterministic cudnn_deterministic"""
)
# Variables that are set for nothing else, with the values that ask for determinism.
_VARIABLES = {
    "CUBLAS_WORKSPACE_CONFIG": frozenset({":4096:8", ":16:8"}),
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO": frozenset({"0"}),
    "FLASH_ATTENTION_DETERMINISTIC": frozenset({"1"}),
    "TORCHINDUCTOR_DETERMINISTIC": frozenset({"1"}),
}


def started(command: Command) -> Launch | None:
    """What a command launches: a program of Python, or a library's own command line, of which
    the subcommand counts as the program."""
    launch = launched(command)
    if launch is not None or not command.words:
        return launch
    name = (command.words[0].text or "").rpartition("/")[2]
    if name in _TOOLS:
        program, *arguments = command.words[1:] if _TOOLS[name] else command.words
    else:
        return None
    environment = command.environment
    return Launch(name, program, None, tuple(arguments), None, None, environment)


@lru_cache(maxsize=1)  # of a document, for each of its commands
def for_ascend(document: Document) -> bool:
    """Whether a script is for Ascend devices, with other kernels and another NCCL."""
    text = document.source.text
    comments = sorted((each.start, each.end) for each in document.comments)
    return any(
        not _is_within(comments, found.start())
        and not _UNSETS.search(text[text.rfind("\n", 0, found.start()) + 1 : found.start()])
        for found in _ASCEND.finditer(text)
    )


def _is_within(ranges: list[tuple[int, int]], place: int) -> bool:
    """Whether a place is in one of some ranges, which are sorted and apart."""
    index = bisect_right(ranges, (place, math.inf)) - 1
    return index >= 0 and place < ranges[index][1]


@lru_cache(maxsize=1)
def launches(document: Document) -> Sequence[tuple[Command, Launch]]:
    """The commands of a document that start a program of Python."""
    found = ((each, started(each)) for each in document.commands)
    return [(each, launch) for each, launch in found if launch is not None]


def program(launch: Launch) -> str:
    """The path or module of what is started: ``tools/train.py``; "" if it is not known."""
    word = launch.script or launch.module
    return (word.text or "") if word is not None else ""


def may_train(launch: Launch) -> bool:
    """Whether the program is none that only serves, evaluates, generates or converts."""
    path = program(launch)
    if any(_CONVERTS.match(each.text or "") for each in launch.arguments):
        return _TRAINS.search(_plain(path).rpartition("/")[2]) is not None
    return may_be_trained_by(path)


def switched(document: Document, command: Command) -> Iterator[Option]:
    """The options of the program that a command starts, if that may train."""
    launch = started(command)
    if launch is not None and may_train(launch):
        yield from options(document.source, launch.arguments)


def may_be_trained_by(program: str) -> bool:
    """The same of a program by its path or module: ``tools/eval.py``."""
    path = _plain(program)
    name = path.rpartition("/")[2]
    other = _OTHER.search(name.replace(".", "_")) or _OTHER_FOLDER.search(path)
    return _TRAINS.search(name) is not None or other is None


def _plain(program: str) -> str:
    return program.lower().removesuffix(".py").replace("-", "_")


def runs_tests(launch: Launch) -> bool:
    """Whether the program is a test, a benchmark or a server, whose seed may be another one
    each time."""
    return _TESTS.search(program(launch)) is not None


@lru_cache(maxsize=1)
def only_infers(document: Document) -> bool:
    """Whether a document starts programs, none of which may train."""
    started = [launch for _, launch in launches(document)]
    return bool(started) and not any(may_train(launch) for launch in started)


def asks_for_determinism(document: Document, launch: Launch) -> str:
    """How a launch says that its results must not vary: a flag, or a variable; "" if not."""
    for option in options(document.source, launch.arguments):
        if option.name in _DETERMINISTIC and option.is_set:
            return option.shown if option.on else option.shown.partition(" ")[0]
    for name, values in _VARIABLES.items():
        if (value := launch.environment.get(name)) in values:
            return f"{name}={value}"
    return ""


def replaced(document: Document, variable: Variable, value: str) -> tuple[Edit, ...]:
    """The edit that gives a variable another value, where the old one is spelled out."""
    from detlint.finding import Edit

    place = variable.value_start, variable.value_end
    if document.source.text[slice(*place)] != variable.value:
        return ()
    return (Edit(*place, value),)
