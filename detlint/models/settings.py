"""Flags, options and variables: what sets them, and by which parameters."""

from __future__ import annotations

from typing import NamedTuple

# Flags by their qualified names; those that only calls set have a name of their own here.
CUDNN = "torch.backends.cudnn"
BENCHMARK = f"{CUDNN}.benchmark"
DETERMINISTIC = f"{CUDNN}.deterministic"
CUBLAS_TF32 = "torch.backends.cuda.matmul.allow_tf32"
CUDNN_TF32 = f"{CUDNN}.allow_tf32"
FILL = "torch.utils.deterministic.fill_uninitialized_memory"
ALGORITHMS = "torch.use_deterministic_algorithms"
WARN_ONLY = f"{ALGORITHMS}(warn_only)"
DEBUG_MODE = "torch.set_deterministic_debug_mode"
MATMUL_PRECISION = "torch.set_float32_matmul_precision"
TENSORFLOW_TF32 = "tensorflow.config.experimental.enable_tensor_float_32_execution"
TRAINING_TF32 = "transformers.TrainingArguments(tf32)"
# Functions that turn deterministic algorithms on or off.
SWITCHES = frozenset((DEBUG_MODE, "torch.set_deterministic"))
# The first releases that can be told to be deterministic.
SWITCHED_SINCE = {"tensorflow": "2.8", "torch": "1.8"}
# The first releases with Keras 3, which takes seeds from `random` (3.12), and what stays with 2.
KERAS_3_SINCE = (("tensorflow", "2.16"), ("keras", "3.0"))
KERAS_2 = ("TF_USE_LEGACY_KERAS", "tf_keras")
SEEDS_NUMPY = "1.9"  # since which torch seeds NumPy in the workers of its loaders
# The keywords of Lightning's trainers: "lightning.Trainer.benchmark".
TRAINER = "lightning.Trainer"


class Parameter(NamedTuple):
    """The place of a parameter, None for a keyword alone, and the flag that it sets."""

    flag: str
    place: int | None = None


# Names and places in torch 2.13. Releases before benchmark_limit (1.13) had deterministic at
# place 2; what stands there is read as today's torch reads it. "" has no name.
PARAMETERS: dict[str, dict[str, Parameter]] = {
    f"{CUDNN}.flags": {
        "benchmark": Parameter(BENCHMARK, 1),
        "deterministic": Parameter(DETERMINISTIC, 3),
        "allow_tf32": Parameter(CUDNN_TF32, 4),
    },
    f"{CUDNN}.set_flags": {
        "_benchmark": Parameter(BENCHMARK, 1),
        "_deterministic": Parameter(DETERMINISTIC, 3),
        "_allow_tf32": Parameter(CUDNN_TF32, 4),
    },
    "torch._C._set_cublas_allow_tf32": {"": Parameter(CUBLAS_TF32, 0)},
    "torch._C._set_cudnn_allow_tf32": {"": Parameter(CUDNN_TF32, 0)},
    "torch._C._set_cudnn_benchmark": {"": Parameter(BENCHMARK, 0)},
    "torch._C._set_cudnn_deterministic": {"": Parameter(DETERMINISTIC, 0)},
    "torch._C._set_deterministic_fill_uninitialized_memory": {"": Parameter(FILL, 0)},
    "torch.use_deterministic_algorithms": {
        "mode": Parameter(ALGORITHMS, 0),
        "warn_only": Parameter(WARN_ONLY),
    },
    # Its name until torch 1.8.
    "torch.set_deterministic": {"d": Parameter(ALGORITHMS, 0)},
    "torch._C._set_deterministic_algorithms": {"": Parameter(ALGORITHMS, 0)},
    "torch.set_deterministic_debug_mode": {"debug_mode": Parameter(DEBUG_MODE, 0)},
    "torch.set_float32_matmul_precision": {"precision": Parameter(MATMUL_PRECISION, 0)},
    "torch._C._set_float32_matmul_precision": {"": Parameter(MATMUL_PRECISION, 0)},
    TENSORFLOW_TF32: {"enabled": Parameter(TENSORFLOW_TF32, 0)},
    "transformers.TrainingArguments": {"tf32": Parameter(TRAINING_TF32)},
    "transformers.Seq2SeqTrainingArguments": {"tf32": Parameter(TRAINING_TF32)},
    "msprobe.seed_all": {"mode": Parameter(ALGORITHMS, 1)},
}
_MSPROBE = frozenset(("msprobe", "ptdbg_ascend"))

LIGHTNING = frozenset(("lightning", "pytorch_lightning", "lightning_fabric"))
_TRAINERS = frozenset(("Trainer", "Fabric"))

# What holds options as attributes.
NAMESPACES = frozenset(("argparse.Namespace", "types.SimpleNamespace"))
# What else holds the options of a program, whatever it is called.
NODES = frozenset(
    (
        *("yacs.config.CfgNode", "fvcore.common.config.CfgNode", "detectron2.config.CfgNode"),
        *("ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict"),
        *("easydict.EasyDict", "omegaconf.OmegaConf.create"),
    )
)
# Starts a shell with the text that it is given first.
SHELLS = frozenset(
    (
        "os.system",
        "os.popen",
        *(
            f"subprocess.{name}"
            for name in ("run", "call", "Popen", "check_call", "check_output", "getoutput")
        ),
    )
)
# Parts of the names in a condition that asks about the machine or the process.
_MACHINE = (
    *(
        "cuda",
        "gpu",
        "cpu",
        "device",
        "rank",
        "distributed",
        "ddp",
        "world_size",
        "platform",
        "version",
    ),
    *("available", "installed", "has_", "__name__", "accelerator"),
)
_MACHINE_STARTS = ("has", "torch.", "builtins.", "os.name")
# And in one that asks for a preference.
_PREFERENCE = ("benchmark", "determin", "seed", "repro", "fast", "speed", "environ", "getenv")

# Functions that put back what others changed. "reset" is missing: reset_seeds() is set-up.
_TEARDOWN = (
    *("asyncteardown", "teardown", "tear_down", "exit__", "aexit__"),
    *("unset", "undo", "restore", "cleanup", "clean_up", "disable_"),
)
# What is given to them runs last.
CLEANUPS = frozenset(("addCleanup", "addClassCleanup", "addfinalizer", "callback", "register"))
# Decorators of generators of which what follows the ``yield`` runs last.
_PAUSING = ("fixture", "contextmanager")


def parameters(called: str) -> dict[str, Parameter]:
    """The flags that a function's parameters set."""
    first, _, rest = called.partition(".")
    if first in _MSPROBE and rest.endswith("seed_all"):
        return PARAMETERS["msprobe.seed_all"]
    return PARAMETERS.get(called, {})


# They seed, and have cuDNN work deterministically; other operators go on as they do (MONAI 1.6).
FOR_CUDNN = frozenset(f"monai.utils.{module}set_determinism" for module in ("", "misc."))


def is_trainer(called: str) -> bool:
    """Whether it makes a ``Trainer`` or ``Fabric`` of Lightning."""
    parts = called.removesuffix(".from_argparse_args").split(".")
    return parts[0] in LIGHTNING and parts[-1] in _TRAINERS


def is_trainer_cli(called: str) -> bool:
    """Whether it makes one of ``trainer_defaults``."""
    return called.partition(".")[0] in LIGHTNING and called.endswith(".LightningCLI")


def enables(called: str) -> bool:
    """Whether a function turns deterministic algorithms on, whatever it is given."""
    word = called.rpartition(".")[2]
    return called in ("guard.enable", "guard.deterministic") or word == "enable_full_determinism"


def leaves_open(name: str) -> bool:
    """Whether what has this name in a condition is a preference, and no fact about the machine or
    the process."""
    word = name.lower()
    if any(part in word for part in _PREFERENCE):
        return True
    return not (word.startswith(_MACHINE_STARTS) or any(part in word for part in _MACHINE))


def puts_back(function: str) -> bool:
    """Whether a function of this name puts back what others changed."""
    return function.lstrip("_").lower().startswith(_TEARDOWN)


def pauses(decorator: str) -> bool:
    """``@pytest.fixture``, ``@contextlib.contextmanager``."""
    return decorator.lower().endswith(_PAUSING)
