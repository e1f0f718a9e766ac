"""Whether a file, a test or a function runs a model that it does not train."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.analysis.file_names import names as file_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detlint.source import Source

_TRAINS = re.compile(
    r"\.backward\(|[Tt]rainer|TrainingArg|[Oo]ptimizer|\boptim\b|\.fit\(|\.train\(|training_step"
    r"|LoraConfig|get_peft_model|\btrain_|\bloss\b|fine.?tun",
)
# Engines that only answer. What trains and asks one for answers has a word of the above.
_ENGINE = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:vllm|sglang|lmdeploy|tensorrt_llm)\b", re.MULTILINE
)
INFERS = re.compile(
    r"\.generate\(|with torch\.no_grad|torch\.inference_mode\b|(?:with |@)inference_mode\b"
    r"|\.eval\(\)|\b[Pp]ipeline\("
)
# A file that loads a model to generate may leave it in either mode.
_GENERATES = re.compile(r"\b(?:\w+_)?generate\(")
_MODE = re.compile(r"\bmodel\.train\(\)")
# A file that runs or measures a model, by name; its own text may speak of losses and of training.
_ANSWERS_FILE = re.compile(
    r"(?:^|_)(?:web_?demo|demo|eval|evaluate|evaluation|infer|inference|predict|serve|serving"
    r"|gradio|streamlit|api_server|deploy|decode|decoding|sample|sampling|bench|benchmarks?|speedup"
    r"|merge|convert|converter|conversion|export|quantize|checkpoint_(?:saver|loader)"
    r"|annotate|rerank|teachers?|pseudo_labels?|(?:extract|get|compute)_(?:features?|embeddings?))"
    r"(?:_|$)|^chat(?:_|$)"
    r"|(?:^|_)(?:hf|huggingface|megatron|mcore|nemo|meta|deepspeed|zero)(?:2|_to_|_2_)\w"
)
_ANSWERS_CONFIG = re.compile(
    r"(?:^|_)(?:tests?|eval|evaluate|evaluation|infer|inference|predict|serve|serving|demo"
    r"|benchmarks?|generate|generation|pseudo_labels?|filter|filtering|annotate|sampling|rerank"
    r"|caption|export|merge|quantize)(?:_|$)"
)
_TRAINS_NAME = re.compile(r"train|tun(?:e|ing)|(?:^|_)(?:sft|dpo|grpo|ppo|lora)(?:_|$)")
# Models that others are trained by, or beside, and code that takes no gradient of them.
_ASIDE = re.compile(r"(?:^|_)(?:ref|reference|teacher|reward|judge)(?:_|$)")
# Of functions and classes, by the words of their names.
_STEPS = (
    r"\.backward\(|Trainer\(|TrainingArg\w*\(|\.step\(|\.fit\(|[tT]rainer\.train\(|training_step"
    r"|\boptim\."
)
TAKES_STEPS = re.compile(_STEPS)
_OPTIMIZES = re.compile(rf"{_STEPS}|LoraConfig\(|get_peft_model\(")
# A file or function that takes the time of a model: it may run a backward as well.
_MEASURES = re.compile(
    r"(?:^|_)(?:bench|benchmark(?:s|ing)?|speed(?:up|_?tests?)?|perf|profil(?:e|er|ing)|latency"
    r"|throughput)(?:_|$)"
)
_LEARNS = re.compile(_OPTIMIZES.pattern.removeprefix(r"\.backward\(|"))
_BACKWARD = re.compile(r"\btrain\w*\(|autograd\.grad\b|backward|\.grad\b")
_COMPARES = re.compile(r"\b(?:assert_(?:all)?close|allclose)\(")
_CHECKS_FILE = re.compile(r"^test_|_test$|^conftest$")
_CHECK = re.compile(r"test(?:_|$)")


def serves(source: Source) -> bool:
    """Whether the file is about an engine that serves models, and nothing in it trains one."""
    text = source.text
    return _ENGINE.search(text) is not None and _TRAINS.search(text) is None


def is_for_answers(source: Source) -> bool:
    """Whether the file runs or measures a model, by its name or that of a folder above it, or
    loads one to generate with."""
    text, names = source.text, file_names(source.path)
    # Those that decode may wrap a model in what was trained.
    if any(map(_ANSWERS_FILE.search, names)) and not TAKES_STEPS.search(text):
        return True
    if "configs" in names and configures_answers(source.path):
        return True
    if _MEASURES.search(names[-1]) and not _LEARNS.search(text):
        return True
    return bool(_GENERATES.search(text)) and _TRAINS.search(_MODE.sub("", text)) is None


def configures_answers(path: str) -> bool:
    """Whether a configuration is for a test or an evaluation, by its name or that of a folder."""
    names = [each.replace("-", "_") for each in file_names(path)]
    return any(map(_ANSWERS_CONFIG.search, names)) and not any(map(_TRAINS_NAME.search, names))


def is_key_aside(keys: Sequence[str]) -> bool:
    """Whether a setting is that of another's reference, teacher or reward: ``teacher.kwargs.x``."""
    return any(map(_ASIDE.search, keys[:-1]))


def compares_answers(source: Source, functions: Iterable[str]) -> bool:
    """Whether a test around some code, or all of its file, asks models for answers without a
    backward, or compares what they give, gradients too, as far as rounding goes; ``functions``:
    the texts of those around the code, of a file of no tests only of tests."""
    if not is_of_tests(source):
        return any(map(_compares, functions))
    return not _may_learn(source.text) or _compares(source.text) or any(map(_compares, functions))


@lru_cache(maxsize=16)  # each finding in a file asks
def _compares(text: str) -> bool:
    return _COMPARES.search(text) is not None and _LEARNS.search(text) is None


def is_of_tests(source: Source) -> bool:
    """Whether a file holds tests, by its name."""
    name = os.path.splitext(os.path.basename(source.path))[0]
    return _CHECKS_FILE.search(name) is not None


def is_test(function: str) -> bool:
    """Whether a function is a test, by its name."""
    return _CHECK.match(function) is not None


@lru_cache(maxsize=4)  # each finding in a file asks
def _may_learn(text: str) -> bool:
    return bool(_TRAINS.search(text) or _BACKWARD.search(text))


def only_infers(source: Source) -> bool:
    """Whether the file runs a model and nothing in it trains one."""
    text = source.text
    infers = INFERS.search(text) or _ENGINE.search(text)
    return infers is not None and _TRAINS.search(text) is None
