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
    """Whether settings stand beside others that only Lightning's Trainer has."""
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

# What rows have in common.
_TIMED = Row("DET301", (), (True,), _TIMES, _SET, good=False)
_ALLOWED = Row("DET302", (), (False,), _ALLOWS, _SET, good=True)
_OFF = Row("DET303", (), (False,), _SWITCHES_OFF, _SET, good=True)
_ONLY_WARNS = Row("DET303", ("deterministic",), ("warn",), _WARNS, _RAISE, good=True)
_COMPILED = Row("DET307", (), (True,), _COMPILES, _DEFAULT_MODE, beside=_compiles)
_ASKED = Row("DET601", (), (True,), _FLASH, READS)
_NULL = Row("DET103", ("seed",), (None,), _UNSEEDED, _FIXED, good=0, safe=False, deepest=1)

ROWS = (
    # torch.backends.cudnn.benchmark under the names that programs give it: mmengine's env_cfg,
    # espnet2's tasks, detectron2's CUDNN_BENCHMARK, HRNet's CUDNN.BENCHMARK.
    _TIMED._replace(paths=_either("cudnn_benchmark", "torch_", "use_", "enable_")),
    _TIMED._replace(paths=_either("cudnn.benchmark", "torch_")),
    # lightning.pytorch.trainer.connectors.accelerator_connector sets the flag.
    *_of_trainer(_TIMED._replace(paths=("benchmark",))),
    # main.py of latent diffusion hands it to Lightning's Trainer.
    _TIMED._replace(
        paths=("lightning.trainer.benchmark",), flavours=("latent-diffusion",), deepest=3
    ),
    # torchtune.training.set_seed: "default" turns benchmark on.
    _TIMED._replace(
        paths=("cudnn_deterministic_mode",),
        values=(0, "default"),
        advice='set it to 2 ("error")',
        good=2,
        flavours=("torchtune",),
    ),
    # recbole.utils.init_seed: benchmark is on unless it is to be reproducible.
    _TIMED._replace(paths=("reproducibility",), values=(False,), good=True, flavours=("recbole",)),
    _ALLOWED._replace(paths=_either("cudnn_deterministic", "torch_", "use_")),
    _ALLOWED._replace(paths=_either("cudnn.deterministic", "torch_")),
    # As in Python: Trainer(deterministic=False).
    *_of_trainer(_OFF._replace(code="DET302", paths=("deterministic",))),
    *_of_trainer(_ONLY_WARNS),
    # ultralytics.utils.torch_utils.init_seeds; on is the default, with warn_only.
    _OFF._replace(paths=("deterministic",), flavours=("ultralytics",)),
    _OFF._replace(paths=("use_deterministic_algorithms",)),
    # torchtitan.distributed.utils.set_determinism.
    _ONLY_WARNS._replace(
        paths=("deterministic_warn_only",),
        values=(True,),
        good=False,
        flavours=("torchtitan",),
        beside=_in_deterministic,
    ),
    _ONLY_WARNS._replace(
        paths=("cudnn_deterministic_mode",), values=(1, "warn"), good=2, flavours=("torchtune",)
    ),
    # transformers' TrainingArguments, accelerate's dynamo_config, and programs' own.
    _COMPILED._replace(
        paths=("torch_compile_mode", "compile_mode", "dynamo_mode", "*compile*.mode"),
        values=_TUNED,
    ),
    _COMPILED._replace(paths=tuple(f"max_autotune{what}" for what in ("", "_gemm", "_pointwise"))),
    _COMPILED._replace(paths=("coordinate_descent_tuning",)),
    _ASKED._replace(
        paths=("attn_implementation", "_attn_implementation"),
        values=_FLASH_2,
        advice=MAY_READ,
        good="sdpa",
        safe=False,
    ),
    _ASKED._replace(paths=("use_flash_attention_2",), advice=OLD_KEYWORD, beside=_has_backward),
    _ASKED._replace(
        paths=("use_flash_attn", "use_flash_attention"), advice=ANY_FLASH, beside=_has_backward
    ),
    # axolotl's older name for attn_implementation.
    _ASKED._replace(paths=("flash_attention",), flavours=("axolotl",)),
    # olmo.model calls flash_attn_func without `deterministic`.
    _ASKED._replace(
        paths=("model.flash_attention",),
        advice="set it to {}, for PyTorch's attention, which can be told",
        good=False,
        safe=False,
        flavours=("olmo",),
        deepest=2,
    ),
    # llamafactory.extras.constants.AttentionFunction.
    _ASKED._replace(
        paths=("flash_attn",),
        values=("fa2", *_FLASH_2),
        good="sdpa",
        safe=False,
        flavours=("llama-factory",),
    ),
    # swift.arguments: attn_impl becomes attn_implementation.
    _ASKED._replace(
        paths=("attn_impl",),
        values=(*_FLASH_2, "flash_attn"),
        good="sdpa",
        safe=False,
        flavours=_HUGGING_FACES,
    ),
    # llmfoundry.models.layers.attention calls flash_attn_varlen_func without `deterministic`.
    _ASKED._replace(
        paths=("attn_config.attn_impl",),
        values=("flash",),
        advice=ANY_FLASH,
        flavours=("composer",),
    ),
    # megatron.training.arguments: --attention-backend.
    _ASKED._replace(
        paths=("attention_backend",), values=("flash",), advice=ANY_FLASH, flavours=("megatron",)
    ),
    # torchtune.training.set_seed draws a seed where it is None.
    _NULL._replace(flavours=("torchtune",)),
    # lightning.pytorch.cli.LightningCLI._set_seed; since release 2.5 null and true mean 0.
    _NULL._replace(
        paths=("seed_everything",),
        values=(False,),
        effect=_UNTOUCHED,
        flavours=("lightning",),
        deepest=2,
    ),
    # lightning-hydra-template's train.py: `if cfg.get("seed"): L.seed_everything(cfg.seed)`.
    _NULL._replace(effect=_UNTOUCHED, flavours=("lightning-hydra",)),
    # mmengine.runner.utils.set_random_seed: sync_random_seed() draws one.
    _NULL._replace(paths=("randomness.seed",), flavours=("mmengine",), deepest=99),
    # detectron2.config.defaults: negative means random; so does every other number below 0.
    _NULL._replace(values=(-1,), flavours=("detectron2",)),
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
