"""Which settings of which program make runs differ: one table for all rules.

Each row says which key, below which other, with which value; of which programs' configurations
(``detlint.documents.flavours``), and what was read to know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.flash_advice import ANY_FLASH, MAY_READ, OLD_KEYWORD, READS
from detlint.documents.flavour_words import TRAINER

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.analysis.config_text import Value
    from detlint.documents.document import Scalar


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


# The programs that hand all of ``trainer`` to Lightning's Trainer, and where it stands.
LIGHTNING = ("lightning", "nemo")
TRAINER_PATH = r"trainer\.(?:init_args\.)?"


def is_in_trainer(beside: dict[str, Scalar]) -> bool:
    return len(TRAINER & beside.keys() - {"benchmark", "deterministic"}) >= 2


def _of_trainer(row: Row) -> tuple[Row, Row]:
    """An argument of the Trainer: in ``trainer`` where that is Lightning's, else beside others."""
    sure = row._replace(path=TRAINER_PATH + row.path, flavours=LIGHTNING)
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
    Row("DET301", r"(?:torch_|use_|enable_)?cudnn_benchmark", (True,), _TIMES, _SET, good=False),
    Row("DET301", r"(?:torch_)?cudnn\.benchmark", (True,), _TIMES, _SET, good=False),
    # lightning.pytorch.trainer.connectors.accelerator_connector sets the flag.
    *_of_trainer(Row("DET301", "benchmark", (True,), _TIMES, _SET, good=False)),
    # main.py of latent diffusion hands it to Lightning's Trainer.
    Row(
        "DET301",
        r"^lightning\.trainer\.benchmark",
        (True,),
        _TIMES,
        _SET,
        good=False,
        flavours=("latent-diffusion",),
    ),
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
    *_of_trainer(Row("DET302", "deterministic", (False,), _SWITCHES_OFF, _SET, good=True)),
    *_of_trainer(Row("DET303", "deterministic", ("warn",), _WARNS, _RAISE, good=True)),
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
        MAY_READ,
        good="sdpa",
        safe=False,
    ),
    Row("DET601", "use_flash_attention_2", (True,), _FLASH, OLD_KEYWORD, beside=_has_backward),
    Row(
        "DET601",
        r"use_flash_attn|use_flash_attention",
        (True,),
        _FLASH,
        ANY_FLASH,
        beside=_has_backward,
    ),
    # axolotl's older name for attn_implementation.
    Row("DET601", "flash_attention", (True,), _FLASH, READS, flavours=("axolotl",)),
    # olmo.model calls flash_attn_func without `deterministic`.
    Row(
        "DET601",
        r"^model\.flash_attention",
        (True,),
        _FLASH,
        "set it to {}, for PyTorch's attention, which can be told",
        good=False,
        safe=False,
        flavours=("olmo",),
    ),
    # llamafactory.extras.constants.AttentionFunction.
    Row(
        "DET601",
        "flash_attn",
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
        "attn_impl",
        (*_FLASH_2, "flash_attn"),
        _FLASH,
        READS,
        good="sdpa",
        safe=False,
        flavours=_HUGGING_FACES,
    ),
    # llmfoundry.models.layers.attention calls flash_attn_varlen_func without `deterministic`.
    Row("DET601", r"attn_config\.attn_impl", ("flash",), _FLASH, ANY_FLASH, flavours=("composer",)),
    # megatron.training.arguments: --attention-backend.
    Row("DET601", "attention_backend", ("flash",), _FLASH, ANY_FLASH, flavours=("megatron",)),
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
