"""What programs, files, folders and configurations are for, by the words of their names.

One table for all that is judged by a name. A name proves nothing: what it says lowers confidence.
"""

from __future__ import annotations

from enum import Flag, auto
from itertools import pairwise

from detlint.models.model import words
from detlint.models.names import words_of


class Purpose(Flag):
    """What something is for, besides training.

    INFERS    asks a model for answers, or has it play
    SERVES    answers requests, or is an interface for a person
    EVALUATES measures how good a model is
    TESTS     tests code
    MEASURES  takes times
    CONVERTS  writes a model in another form
    PREPARES  makes data, or installs
    SHOWS     draws for a person
    """

    INFERS = auto()
    SERVES = auto()
    EVALUATES = auto()
    TESTS = auto()
    MEASURES = auto()
    CONVERTS = auto()
    PREPARES = auto()
    SHOWS = auto()


NOTHING = Purpose(0)
# Of a file that takes no step, what says that its models only answer.
ANSWERS = Purpose.INFERS | Purpose.SERVES | Purpose.EVALUATES | Purpose.MEASURES | Purpose.CONVERTS
# Words as they stand, and beginnings of words.
_WORDS = {
    Purpose.INFERS: words(
        """chat decode decoding demo demos sample samples sampling enjoy play interactive score
        scores scoring rerank embed encode extract caption annotate rollout teleop replay gen"""
    ),
    Purpose.SERVES: words(
        """api gradio hubconf http mcp sglang streamlit vllm webui deploy controller"""
    ),
    Purpose.EVALUATES: words("ppl perplexity mmlu"),
    Purpose.TESTS: words("pytest unittest nose nose2 tox nox runtests smoke"),
    Purpose.MEASURES: words("perf latency throughput roofline speed speedup speedtest speedtests"),
    Purpose.CONVERTS: words("export exports merge onnx"),
    Purpose.PREPARES: words(
        """build download dump filter filtering install lint linter manifest pip prep readme setup
        upload venv"""
    ),
    Purpose.SHOWS: words("plot plots show texture view vis record"),
}
_STEMS = {
    Purpose.INFERS: (
        "infer",
        "generat",
        "predict",
        "translat",
        "render",
        "synthesi",
        "resynthesi",
        "teleop",
    ),
    Purpose.SERVES: ("serv",),
    Purpose.EVALUATES: ("analy", "eval", "validat"),
    Purpose.TESTS: ("test", "check", "verif"),
    Purpose.MEASURES: ("bench", "microbench", "profil"),
    Purpose.CONVERTS: ("convert", "conversion", "quanti"),
    Purpose.PREPARES: ("preprocess", "prepar", "tokeni", "averag", "summar", "refactor"),
    Purpose.SHOWS: ("visuali", "view"),
}
# What begins like one and is a part of a model, or what many programs have.
_OTHERS = words(
    """generator generators predictor predictors renderer tokenizer tokenizers checkpoint
    checkpoints checkpointing"""
)
# Two words that say more than each of them.
_ANSWERS = frozenset(
    (
        *(("checkpoint", "saver"), ("checkpoint", "loader"), ("pseudo", "label")),
        *(("pseudo", "labels"), ("get", "features"), ("compute", "features")),
        *(("get", "embeddings"), ("compute", "embeddings")),
    )
)
_TRAINING = words("sft dpo ppo grpo rlhf lora fit fitting tune tuning")
_LEARNING = ("learn", "distill")
# Of checkpoints, as the names of programs that convert these have them: hf2mcore, megatron_to_hf.
_FORMATS = words(
    """hf huggingface mcore megatron mg meg nemo ckpt deepspeed ds zero fsdp safetensors meta"""
)


def trains(name: str) -> bool:
    """Whether a name says that something is trained: ``pretrain_gpt``, ``sft``; not
    ``pretrained_model``."""
    return any(map(_trains, words_of(name)))


def _trains(word: str) -> bool:
    if word in _TRAINING or "finetun" in word:
        return True
    if word.endswith("ed"):  # pretrained, distilled: by then it has been
        return False
    return ("train" in word and "strain" not in word) or any(each in word for each in _LEARNING)


def purpose(name: str) -> Purpose:
    """What a name says that something is for, besides training."""
    parts = words_of(name)
    found = Purpose.CONVERTS if _converts(parts) else NOTHING
    if not _ANSWERS.isdisjoint(pairwise(parts)):
        found |= Purpose.INFERS
    for each, known in _WORDS.items():
        begins = _STEMS[each]
        if any(x in known or (x.startswith(begins) and x not in _OTHERS) for x in parts):
            found |= each
    return found


def _converts(parts: list[str]) -> bool:
    """``hf2mcore``, ``megatron_to_hf``."""
    triples = zip(parts, parts[1:], parts[2:], strict=False)
    return any(
        before in _FORMATS and between in ("2", "to") and after in _FORMATS
        for before, between, after in triples
    )
