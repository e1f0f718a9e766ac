"""Which settings of which program make runs differ: one table for all rules.

Each row says which key, below which other, with which value; of which programs' configurations
(``detlint.documents.flavours``), and what was read to know it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from detlint.models.flash_advice import ANY_FLASH, MAY_READ, OLD_KEYWORD, READS
from detlint.models.flavours import TRAINER
from detlint.models.model import words
from detlint.models.names import words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Value: TypeAlias = bool | int | str
    Scalar: TypeAlias = str | int | float | bool | None


class Row(NamedTuple):
    """A setting that matters.

    paths     its last keys, joined by dots and spelled alike; ``*`` is any part of a key
    values    those that are bad
    effect    what the message says behind the setting
    good      the value to set instead, or None if there is none to propose
    flavours  the programs that have it; any that is recognised if there are none
    beside    what else has to hold of the settings beside it
    deepest   how many keys there may be in all
    """

    code: str
    paths: tuple[str, ...]
    values: tuple[Scalar, ...]
    effect: str
    advice: str
    good: Value | None = None
    safe: bool = True
    flavours: tuple[str, ...] = ()
    beside: Callable[[dict[str, Scalar]], bool] = lambda _: True
    deepest: int = 99


# The programs that hand all of ``trainer`` to Lightning's Trainer, and where it stands.
LIGHTNING = ("lightning", "nemo")
_TRAINER_PATHS = ("trainer", "trainer.init_args")


def is_trainers(keys: tuple[str, ...]) -> bool:
    """Whether a path of keys is one of an argument in ``trainer``."""
    return keys[-2:-1] == ("trainer",) or keys[-3:-1] == ("trainer", "init_args")


def is_in_trainer(beside: dict[str, Scalar]) -> bool:
    return len(TRAINER & beside.keys() - {"benchmark", "deterministic"}) >= 2


def _either(path: str, *prefixes: str) -> tuple[str, ...]:
    return (path, *(f"{each}{path}" for each in prefixes))


def _of_trainer(row: Row) -> tuple[Row, Row]:
    """An argument of the Trainer: in ``trainer`` where that is Lightning's, else beside others."""
    paths = tuple(f"{above}.{path}" for above in _TRAINER_PATHS for path in row.paths)
    sure = row._replace(paths=paths, flavours=LIGHTNING)
    return sure, row._replace(beside=is_in_trainer)


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
_FIXED = "write down a number"
_TUNED = ("max-autotune", "max-autotune-no-cudagraphs")
_FLASH_2 = ("flash_attention_2", "flash_attention_3")
_HUGGING_FACES = ("training-arguments", "axolotl", "llama-factory")

ROWS = (
    # torch.backends.cudnn.benchmark under the names that programs give it: mmengine's env_cfg,
    # espnet2's tasks, detectron2's CUDNN_BENCHMARK, HRNet's CUDNN.BENCHMARK.
    Row(
        "DET301",
        _either("cudnn_benchmark", "torch_", "use_", "enable_"),
        (True,),
        _TIMES,
        _SET,
        good=False,
    ),
    Row("DET301", _either("cudnn.benchmark", "torch_"), (True,), _TIMES, _SET, good=False),
    # lightning.pytorch.trainer.connectors.accelerator_connector sets the flag.
    *_of_trainer(Row("DET301", ("benchmark",), (True,), _TIMES, _SET, good=False)),
    # main.py of latent diffusion hands it to Lightning's Trainer.
    Row(
        "DET301",
        ("lightning.trainer.benchmark",),
        (True,),
        _TIMES,
        _SET,
        good=False,
        flavours=("latent-diffusion",),
        deepest=3,
    ),
    # torchtune.training.set_seed: "default" turns benchmark on.
    Row(
        "DET301",
        ("cudnn_deterministic_mode",),
        (0, "default"),
        _TIMES,
        'set it to 2 ("error")',
        good=2,
        flavours=("torchtune",),
    ),
    # recbole.utils.init_seed: benchmark is on unless it is to be reproducible.
    Row("DET301", ("reproducibility",), (False,), _TIMES, _SET, good=True, flavours=("recbole",)),
    Row(
        "DET302",
        _either("cudnn_deterministic", "torch_", "use_"),
        (False,),
        _ALLOWS,
        _SET,
        good=True,
    ),
    Row("DET302", _either("cudnn.deterministic", "torch_"), (False,), _ALLOWS, _SET, good=True),
    # As in Python: Trainer(deterministic=False).
    *_of_trainer(Row("DET302", ("deterministic",), (False,), _SWITCHES_OFF, _SET, good=True)),
    *_of_trainer(Row("DET303", ("deterministic",), ("warn",), _WARNS, _RAISE, good=True)),
    # ultralytics.utils.torch_utils.init_seeds; on is the default, with warn_only.
    Row(
        "DET303",
        ("deterministic",),
        (False,),
        _SWITCHES_OFF,
        _SET,
        good=True,
        flavours=("ultralytics",),
    ),
    Row("DET303", ("use_deterministic_algorithms",), (False,), _SWITCHES_OFF, _SET, good=True),
    # torchtitan.distributed.utils.set_determinism.
    Row(
        "DET303",
        ("deterministic_warn_only",),
        (True,),
        _WARNS,
        _RAISE,
        good=False,
        flavours=("torchtitan",),
        beside=_in_deterministic,
    ),
    Row(
        "DET303",
        ("cudnn_deterministic_mode",),
        (1, "warn"),
        _WARNS,
        _RAISE,
        good=2,
        flavours=("torchtune",),
    ),
    # transformers' TrainingArguments, accelerate's dynamo_config, and programs' own.
    Row(
        "DET307",
        ("torch_compile_mode", "compile_mode", "dynamo_mode", "*compile*.mode"),
        _TUNED,
        _COMPILES,
        _DEFAULT_MODE,
        beside=_compiles,
    ),
    Row(
        "DET307",
        (
            "max_autotune",
            "max_autotune_gemm",
            "max_autotune_pointwise",
            "coordinate_descent_tuning",
        ),
        (True,),
        _COMPILES,
        _DEFAULT_MODE,
        beside=_compiles,
    ),
    Row(
        "DET601",
        ("attn_implementation", "_attn_implementation"),
        _FLASH_2,
        _FLASH,
        MAY_READ,
        good="sdpa",
        safe=False,
    ),
    Row("DET601", ("use_flash_attention_2",), (True,), _FLASH, OLD_KEYWORD, beside=_has_backward),
    Row(
        "DET601",
        ("use_flash_attn", "use_flash_attention"),
        (True,),
        _FLASH,
        ANY_FLASH,
        beside=_has_backward,
    ),
    # axolotl's older name for attn_implementation.
    Row("DET601", ("flash_attention",), (True,), _FLASH, READS, flavours=("axolotl",)),
    # olmo.model calls flash_attn_func without `deterministic`.
    Row(
        "DET601",
        ("model.flash_attention",),
        (True,),
        _FLASH,
        "set it to {}, for PyTorch's attention, which can be told",
        good=False,
        safe=False,
        flavours=("olmo",),
        deepest=2,
    ),
    # llamafactory.extras.constants.AttentionFunction.
    Row(
        "DET601",
        ("flash_attn",),
        ("fa2", *_FLASH_2),
        _FLASH,
        READS,
        good="sdpa",
        safe=False,
        flavours=("llama-factory",),
    ),
    # swift.arguments: attn_impl becomes attn_implementation.
    Row(
        "DET601",
        ("attn_impl",),
        (*_FLASH_2, "flash_attn"),
        _FLASH,
        READS,
        good="sdpa",
        safe=False,
        flavours=_HUGGING_FACES,
    ),
    # llmfoundry.models.layers.attention calls flash_attn_varlen_func without `deterministic`.
    Row(
        "DET601", ("attn_config.attn_impl",), ("flash",), _FLASH, ANY_FLASH, flavours=("composer",)
    ),
    # megatron.training.arguments: --attention-backend.
    Row("DET601", ("attention_backend",), ("flash",), _FLASH, ANY_FLASH, flavours=("megatron",)),
    # torchtune.training.set_seed draws a seed where it is None.
    Row(
        "DET103",
        ("seed",),
        (None,),
        _UNSEEDED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("torchtune",),
        deepest=1,
    ),
    # lightning.pytorch.cli.LightningCLI._set_seed; since release 2.5 null and true mean 0.
    Row(
        "DET103",
        ("seed_everything",),
        (False,),
        _UNTOUCHED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("lightning",),
        deepest=2,
    ),
    # lightning-hydra-template's train.py: `if cfg.get("seed"): L.seed_everything(cfg.seed)`.
    Row(
        "DET103",
        ("seed",),
        (None,),
        _UNTOUCHED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("lightning-hydra",),
        deepest=1,
    ),
    # mmengine.runner.utils.set_random_seed: sync_random_seed() draws one.
    Row(
        "DET103",
        ("randomness.seed",),
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
        ("seed",),
        (-1,),
        _UNSEEDED,
        _FIXED,
        good=0,
        safe=False,
        flavours=("detectron2",),
        deepest=1,
    ),
)

# Settings that turn deterministic algorithms, and a deterministic FlashAttention, on.
DETERMINISM = frozenset(("full_determinism", "deterministic_mode", "use_deterministic_algorithms"))
# Whose `deterministic` does.
DETERMINISTIC = frozenset(("torchtitan", "ultralytics", "mmengine"))
# What only a configuration that trains something holds, as words of keys.
_TRAINS = words(
    """train training trainer lr optim optimizer epoch epochs loss losses grad gradient warmup
    finetuning"""
)
_TRAINS_PAIRS = frozenset((("learning", "rate"), ("max", "steps")))
# What one that asks a model for text holds, unless it is the model's own.
_GENERATES = (
    *("max_new_tokens", "max_completion_length", "temperature", "top_p", "top_k", "do_sample"),
    *("num_beams", "num_generations", "repetition_penalty", "sampling_params"),
    *("generation_kwargs",),
)
OF_MODEL = frozenset(("architectures", "model_type", "auto_map"))


def trains(key: str) -> bool:
    """Whether a key of a configuration is one of training: ``warmup_ratio``."""
    parts = words_of(key)
    return not _TRAINS.isdisjoint(parts) or not _TRAINS_PAIRS.isdisjoint(pairwise(parts))


def generates(key: str) -> bool:
    """Whether a key says how a model is asked for text: ``student_temperature``."""
    return any(key == each or key.endswith(f"_{each}") for each in _GENERATES)


def is_in(path: str, keys: tuple[str, ...]) -> bool:
    """Whether the last of some keys are those of a path of a row."""
    wanted = path.split(".")
    return len(keys) >= len(wanted) and all(
        given == each or (each[:1] == "*" and each.strip("*") in given)
        for each, given in zip(wanted, keys[-len(wanted) :], strict=True)
    )
