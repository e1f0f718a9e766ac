"""Which settings of which program make runs differ: one table for all rules.

Each row says which key, below which other, with which value; of which programs' configurations
(``detlint.documents.flavours``), and what was read to know it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.config_text import replacement, shown
from detlint.documents.flavour_words import TRAINER
from detlint.documents.flavours import spelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.analysis.config_text import Value
    from detlint.documents import Document
    from detlint.documents.document import Entry, Scalar
    from detlint.finding import Edit


class Row(NamedTuple):
    """A setting that matters.

    path      a pattern for its last keys, joined by dots and spelled alike
    values    those that are bad
    effect    what the message says behind the setting
    good      the value to set instead, or None if there is none to propose
    flavours  the programs that have it; any that is recognised if there are none
    beside    what else has to hold of the settings beside it
    """

    code: str
    path: str
    values: tuple[Scalar, ...]
    effect: str
    advice: str
    good: Value | None = None
    safe: bool = True
    flavours: tuple[str, ...] = ()
    beside: Callable[[dict[str, Scalar]], bool] = lambda _: True


def _in_trainer(beside: dict[str, Scalar]) -> bool:
    return len(TRAINER & beside.keys() - {"benchmark", "deterministic"}) >= 2


def _in_deterministic(beside: dict[str, Scalar]) -> bool:
    return beside.get("deterministic") is True


def _compiles(beside: dict[str, Scalar]) -> bool:
    given = [beside.get(key, True) for key in ("torch_compile", "compile", "enable", "enabled")]
    return all(each not in (False, "none", "no") for each in given)


def _has_backward(beside: dict[str, Scalar]) -> bool:
    return beside.get("deterministic") is not True


_TIMES = "has cuDNN pick its kernels by timing them"
_ALLOWS = "lets cuDNN use kernels whose results differ from run to run"
_SWITCHES_OFF = "switches deterministic algorithms off"
_WARNS = "only warns where an operation has no deterministic kernel"
_COMPILES = "has torch.compile pick its kernels by timing them"
_FLASH = "asks for FlashAttention, whose backward adds up gradients in varying order"
_UNSEEDED = "takes a seed from the system, another one in every run"
_UNTOUCHED = "leaves the generators with seeds from the system, others in every run"
_SET = "set it to {}"
_RAISE = "leave it on, and let nondeterministic operations raise"
_DEFAULT_MODE = "leave it out, or have the program call torch.use_deterministic_algorithms(True)"
_HUGGING_FACE = "set FLASH_ATTENTION_DETERMINISTIC=1 (Hugging Face), or use sdpa"
_ANY_FLASH = (
    "make its backward deterministic (deterministic=True, NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 "
    "or FLASH_ATTENTION_DETERMINISTIC=1, whichever the program reads), or use sdpa"
)
_FIXED = "write down a number"
_TUNED = ("max-autotune", "max-autotune-no-cudagraphs")
_FLASH_2 = ("flash_attention_2", "flash_attention_3")
_HUGGING_FACES = ("training-arguments", "axolotl", "llama-factory")

ROWS = (
    # torch.backends.cudnn.benchmark under the names that programs give it: mmengine's env_cfg,
    # espnet2's tasks, detectron2's CUDNN_BENCHMARK, HRNet's CUDNN.BENCHMARK.
    Row("DET301", r"(?:torch_|use_|enable_)?cudnn_benchmark", (True,), _TIMES, _SET, good=False),
    Row("DET301", r"(?:torch_)?cudnn\.benchmark", (True,), _TIMES, _SET, good=False),
    # lightning.pytorch.trainer.connectors.accelerator_connector sets the flag.
    Row("DET301", "benchmark", (True,), _TIMES, _SET, good=False, beside=_in_trainer),
    # torchtune.training.set_seed: "default" turns benchmark on.
    Row(
        "DET301",
        "cudnn_deterministic_mode",
        (0, "default"),
        _TIMES,
        'set it to 2 ("error")',
        good=2,
        flavours=("torchtune",),
    ),
    # recbole.utils.init_seed: benchmark is on unless it is to be reproducible.
    Row("DET301", "reproducibility", (False,), _TIMES, _SET, good=True, flavours=("recbole",)),
    Row("DET302", r"(?:torch_|use_)?cudnn_deterministic", (False,), _ALLOWS, _SET, good=True),
    Row("DET302", r"(?:torch_)?cudnn\.deterministic", (False,), _ALLOWS, _SET, good=True),
    # As in Python: Trainer(deterministic=False).
    Row("DET302", "deterministic", (False,), _SWITCHES_OFF, _SET, good=True, beside=_in_trainer),
    Row("DET303", "deterministic", ("warn",), _WARNS, _RAISE, good=True, beside=_in_trainer),
    # ultralytics.utils.torch_utils.init_seeds; on is the default, with warn_only.
    Row(
        "DET303",
        "deterministic",
        (False,),
        _SWITCHES_OFF,
        _SET,
        good=True,
        flavours=("ultralytics",),
    ),
    Row("DET303", "use_deterministic_algorithms", (False,), _SWITCHES_OFF, _SET, good=True),
    # torchtitan.distributed.utils.set_determinism.
    Row(
        "DET303",
        "deterministic_warn_only",
        (True,),
        _WARNS,
        _RAISE,
        good=False,
        flavours=("torchtitan",),
        beside=_in_deterministic,
    ),
    Row(
        "DET303",
        "cudnn_deterministic_mode",
        (1, "warn"),
        _WARNS,
        _RAISE,
        good=2,
        flavours=("torchtune",),
    ),
    # transformers' TrainingArguments, accelerate's dynamo_config, and programs' own.
    Row(
        "DET307",
        r"(?:torch_compile|compile|dynamo)_mode|\w*compile\w*\.mode",
        _TUNED,
        _COMPILES,
        _DEFAULT_MODE,
        beside=_compiles,
    ),
    Row(
        "DET307",
        r"max_autotune(?:_gemm|_pointwise)?|coordinate_descent_tuning",
        (True,),
        _COMPILES,
        _DEFAULT_MODE,
        beside=_compiles,
    ),
    Row(
        "DET601",
        r"_?attn_implementation",
        _FLASH_2,
        _FLASH,
        _HUGGING_FACE,
        good="sdpa",
        safe=False,
    ),
    Row("DET601", "use_flash_attention_2", (True,), _FLASH, _HUGGING_FACE, beside=_has_backward),
    Row(
        "DET601",
        r"use_flash_attn|use_flash_attention",
        (True,),
        _FLASH,
        _ANY_FLASH,
        beside=_has_backward,
    ),
    # axolotl's older name for attn_implementation.
    Row("DET601", "flash_attention", (True,), _FLASH, _HUGGING_FACE, flavours=("axolotl",)),
    # llamafactory.extras.constants.AttentionFunction.
    Row(
        "DET601",
        "flash_attn",
        ("fa2", *_FLASH_2),
        _FLASH,
        _HUGGING_FACE,
        good="sdpa",
        safe=False,
        flavours=("llama-factory",),
    ),
    # swift.arguments: attn_impl becomes attn_implementation.
    Row(
        "DET601",
        "attn_impl",
        (*_FLASH_2, "flash_attn"),
        _FLASH,
        _HUGGING_FACE,
        good="sdpa",
        safe=False,
        flavours=_HUGGING_FACES,
    ),
    # llmfoundry.models.layers.attention calls flash_attn_varlen_func without `deterministic`.
    Row(
        "DET601", r"attn_config\.attn_impl", ("flash",), _FLASH, _ANY_FLASH, flavours=("composer",)
    ),
    # megatron.training.arguments: --attention-backend.
    Row("DET601", "attention_backend", ("flash",), _FLASH, _ANY_FLASH, flavours=("megatron",)),
    # torchtune.training.set_seed draws a seed where it is None.
    Row(
        "DET103",
        r"^seed",
        (None,),
        _UNSEEDED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("torchtune",),
    ),
    # lightning.pytorch.cli.LightningCLI._set_seed; since release 2.5 null and true mean 0.
    Row(
        "DET103",
        r"^(?:\w+\.)?seed_everything",
        (False,),
        _UNTOUCHED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("lightning",),
    ),
    # lightning-hydra-template's train.py: `if cfg.get("seed"): L.seed_everything(cfg.seed)`.
    Row(
        "DET103",
        r"^seed",
        (None,),
        _UNTOUCHED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("lightning-hydra",),
    ),
    # mmengine.runner.utils.set_random_seed: sync_random_seed() draws one.
    Row(
        "DET103",
        r"randomness\.seed",
        (None,),
        _UNSEEDED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("mmengine",),
    ),
    # detectron2.config.defaults: negative means random; so does every other number below 0.
    Row(
        "DET103",
        r"^seed",
        (-1,),
        _UNSEEDED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("detectron2",),
    ),
)
# Settings that turn deterministic algorithms, and a deterministic FlashAttention, on.
_DETERMINISM = ("full_determinism", "deterministic_mode", "use_deterministic_algorithms")
_VARIABLES = {"FLASH_ATTENTION_DETERMINISTIC": "1", "NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0"}


@cache
def _patterns(code: str) -> list[tuple[Row, re.Pattern[str]]]:
    return [(row, re.compile(rf"(?:^|\.)(?:{row.path})\Z")) for row in ROWS if row.code == code]


class Setting(NamedTuple):
    """A setting that makes runs differ, as a finding says it."""

    message: str
    advice: str
    edits: tuple[Edit, ...]
    safe: bool


def setting(document: Document, entry: Entry, code: str) -> Setting | None:
    """What a rule finds in a setting."""
    if not entry.known or not entry.keys:
        return None
    path = ".".join(spelled(key) for key in entry.keys)
    for row, pattern in _patterns(code):
        if (
            (not row.flavours or document.flavour in row.flavours)
            and _is_one_of(entry.value, row.values)
            and pattern.search(path)
            and row.beside(beside(document, entry))
        ):
            edits = () if row.good is None else replacement(document, entry, row.good)
            good = edits[0].replacement if edits else str(row.good).lower()
            message = f"{shown(document, entry)} {row.effect}"
            return Setting(message, row.advice.format(good), edits, row.safe)
    return None


def beside(document: Document, entry: Entry) -> dict[str, Scalar]:
    """The settings of the mapping that an entry is in; of what is nested there, the key alone."""
    above = entry.keys[:-1]
    found: dict[str, Scalar] = {}
    for node in document.entries():
        if node.keys[: len(above)] == above and len(node.keys) > len(above):
            deeper = len(node.keys) > len(above) + 1 or not node.known
            found.setdefault(spelled(node.keys[len(above)]), "" if deeper else node.value)
    return found


def is_deterministic(document: Document) -> bool:
    """Whether the configuration turns deterministic algorithms on, under any name."""
    return any(
        entry.value is True
        and (spelled(entry.keys[-1]) in _DETERMINISM or _is_switch(document, entry))
        for entry in document.entries()
        if entry.keys
    )


def is_told(document: Document) -> bool:
    """Whether the configuration sets a variable that makes FlashAttention's backward
    deterministic."""
    return any(
        entry.keys and str(entry.value) == _VARIABLES.get(entry.keys[-1])
        for entry in document.entries()
    )


def _is_switch(document: Document, entry: Entry) -> bool:
    if spelled(entry.keys[-1]) != "deterministic":
        return False
    return document.flavour in ("torchtitan", "ultralytics", "mmengine") or _in_trainer(
        beside(document, entry)
    )


def _is_one_of(value: Scalar, values: tuple[Scalar, ...]) -> bool:
    """Equality that tells 1 from true."""
    return any(type(value) is type(each) and value == each for each in values)
