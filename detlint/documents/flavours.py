"""Which program reads a configuration, told by keys that only such a configuration has.

The table below is in order: the first that fits counts. Names of files and folders decide
nothing, since most of these files lie in a folder ``conf`` under any name.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.documents.tree import Branch
from detlint.models.flavours import (
    ARGUMENTS,
    COMPOSER,
    ESPNET,
    FITTING,
    MEGATRON,
    MMCV,
    MMENGINE,
    PARALLEL,
    RECBOLE,
    SHARED_ARGUMENTS,
    SIGNS,
    TITAN,
    TRAINER,
    TRAINING,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_DEPTH = 4
_LIBRARIES = frozenset(("torch", "lightning", "pytorch_lightning", "transformers", "nemo", "timm"))
# Vocabularies of models have every word there is for a key; a configuration has a few hundred.
_MOST_KEYS = 10_000


def may_be_recognised(keys: Collection[str]) -> bool:
    """Whether a document with these keys may be one of a known program; quick to ask."""
    return len(keys) <= _MOST_KEYS and not SIGNS.isdisjoint(map(spelled, keys))


def flavour(root: Branch) -> str:
    """The name of the program whose configuration this is, or ""."""
    shape = Shape(root)
    return next((name for name, fits in _FLAVOURS.items() if fits(shape)), "")


class Shape:
    """The keys of a document, spelled alike: ``--use-flash-attn`` is use_flash_attn."""

    def __init__(self, root: Branch) -> None:
        self.root = root
        self.top = names(root)
        self.all = {name for branch in _branches(root, _DEPTH) for name in names(branch)}
        self.below = [self.top, *(names(branch) for branch in root.branches())]

    def most(self, words: frozenset[str]) -> int:
        """How many of the words stand together, at the top or in one mapping below it."""
        return max(len(words & found) for found in self.below)

    def targets(self) -> Iterator[str]:
        """The classes that Hydra is to make: ``_target_: torch.optim.AdamW``."""
        for branch in _branches(self.root, _DEPTH):
            target = branch.text("_target_")
            if "." in target:
                yield target


@lru_cache(4096)
def spelled(key: str) -> str:
    """A key as Python's programs name it."""
    return key.lstrip("-").replace("-", "_").lower()


def names(branch: Branch) -> frozenset[str]:
    """The keys of a mapping, spelled alike."""
    return frozenset() if branch.is_list else frozenset(spelled(key) for key in branch.items)


def is_trainer(keys: frozenset[str] | set[str]) -> bool:
    """Whether keys that stand together are the arguments of Lightning's Trainer."""
    return len(TRAINER & keys) >= 3


def _branches(root: Branch, depth: int) -> Iterator[Branch]:
    """Mappings and lists to a depth, each once."""
    level, seen = [root], {id(root)}
    for _ in range(depth):
        yield from level
        following = []
        for branch in level:
            for below in branch.branches():
                if id(below) not in seen:
                    seen.add(id(below))
                    following.append(below)
        level = following


def _lightning(shape: Shape) -> bool:
    """Three of the Trainer's arguments in ``trainer``, or two beside a class of LightningCLI's, or
    ``seed_everything`` beside a model or data; below a subcommand's name too."""
    for root in (shape.root, *(shape.root.branch(name) for name in ("fit", "validate", "test"))):
        keys = names(root)
        trainer = names(root.branch("trainer"))
        given = trainer | names(root.branch("trainer", "init_args"))
        if is_trainer(given) or (len(TRAINER & given) >= 2 and _has_class(root)):
            return "_target_" not in trainer
        if "seed_everything" in keys and {"trainer", "model", "data"} & keys:
            return True
    return False


def _has_class(root: Branch) -> bool:
    """``model: {class_path: a.B}``, from which LightningCLI makes an object."""
    return any("class_path" in root.branch(part).items for part in ("model", "data"))


def _hydra(shape: Shape) -> bool:
    """A list of ``defaults``, ``hydra:`` or classes by ``_target_``, with something of training:
    a Trainer, torch, or two words of any program that trains."""
    targets = list(shape.targets())
    defaults = shape.root.get("defaults")
    composed = isinstance(defaults, Branch) and defaults.is_list
    if not (targets or composed or "hydra" in shape.top):
        return False
    return (
        any(each.partition(".")[0] in _LIBRARIES or each.endswith(".Trainer") for each in targets)
        or is_trainer(names(shape.root.branch("trainer")))
        or len(TRAINING & shape.all) >= 2
    )


def _llama_factory(shape: Shape) -> bool:
    """``finetuning_type``, ``cutoff_len``, or a ``stage`` and a ``template``, beside Hugging
    Face's arguments."""
    own = {"finetuning_type", "cutoff_len"} & shape.top or {"stage", "template"} <= shape.top
    return bool(own) and bool((ARGUMENTS | SHARED_ARGUMENTS) & shape.top)


def _axolotl(shape: Shape) -> bool:
    """``base_model`` with two of what is said of a run there."""
    words = ("micro_batch_size", "sequence_len", "val_set_size", "dataset_prepared_path", "adapter")
    others = ("num_epochs", "gradient_accumulation_steps", "datasets", "flash_attention")
    return "base_model" in shape.top and len(shape.top & {*words, *others}) >= 2


def _training_arguments(shape: Shape) -> bool:
    """Three arguments of transformers' TrainingArguments together, one of its own."""
    both = ARGUMENTS | SHARED_ARGUMENTS
    return any(ARGUMENTS & keys and len(both & keys) >= 3 for keys in shape.below)


def _accelerate(shape: Shape) -> bool:
    """Three keys of what ``accelerate config`` writes."""
    words = ("compute_environment", "distributed_type", "num_processes", "machine_rank")
    others = ("dynamo_config", "downcast_bf16", "fsdp_config", "deepspeed_config", "num_machines")
    return len(shape.top & {*words, *others}) >= 3 and "distributed_type" in shape.top


def _hugging_face_model(shape: Shape) -> bool:
    """How a model is loaded: ``attn_implementation`` beside its name, as from_pretrained takes
    it, or in a part of a larger configuration by ``defaults``."""
    named = any(each.endswith("name_or_path") for each in shape.all)
    return "attn_implementation" in shape.all and (named or "defaults" in shape.top)


def _ultralytics(shape: Shape) -> bool:
    """``imgsz`` with the epochs, or with the task that it trains for."""
    tasks = ("detect", "segment", "classify", "pose", "obb")
    return "imgsz" in shape.top and ("epochs" in shape.top or shape.root.text("task") in tasks)


def _torchtitan(shape: Shape) -> bool:
    """``[training]`` with steps or a length, and two tables of a job beside it."""
    training = names(shape.root.branch("training"))
    known = training & {"seq_len", "local_batch_size", "global_batch_size", "batch_size"}
    return bool(known) and len(TITAN & shape.top) >= 3


def _detectron2(shape: Shape) -> bool:
    """``MODEL`` with a solver, data loader or data sets, all in capitals."""
    top = frozenset(shape.root.items)
    return "MODEL" in top and bool(top & {"SOLVER", "DATALOADER", "DATASETS", "TRAIN"})


def _recbole(shape: Shape) -> bool:
    """Three settings, one of RecBole's own."""
    own = {"train_neg_sample_args", "user_id_field", "load_col", "reproducibility", "eval_args"}
    return len(RECBOLE & shape.top) >= 3 and bool(shape.top & own)


def _latent_diffusion(shape: Shape) -> bool:
    """``lightning.trainer``, or callbacks there, beside a model by its ``target``, as main.py of
    latent diffusion and its descendants reads it."""
    below = names(shape.root.branch("lightning"))
    return bool(below & {"trainer", "callbacks", "modelcheckpoint"}) and bool(
        shape.root.branch("model").text("target")
    )


def _composer(shape: Shape) -> bool:
    """``max_duration`` or a loader by its name, three of Composer's in all."""
    found = shape.most(COMPOSER)
    return found >= 3 and bool(shape.all & {"max_duration", "train_loader"})


def _generic(shape: Shape) -> bool:
    """Two words that say training, and two more that fit in."""
    strong = len(TRAINING & shape.all)
    return strong >= 2 and strong + len(FITTING & shape.all) >= 4


_FLAVOURS: dict[str, Callable[[Shape], bool]] = {
    # ``exp_manager`` beside Lightning's ``trainer``.
    "nemo": lambda shape: {"trainer", "exp_manager"} <= shape.top,
    # The main configuration of the widespread template: ``task_name`` and ``ckpt_path``.
    "lightning-hydra": lambda shape: {"defaults", "task_name", "ckpt_path", "seed"} <= shape.top,
    # A component by ``_component_``.
    "torchtune": lambda shape: "_component_" in shape.all,
    "hydra": _hydra,
    "lightning": _lightning,
    "llama-factory": _llama_factory,
    "axolotl": _axolotl,
    "training-arguments": _training_arguments,
    "accelerate": _accelerate,
    # ``zero_optimization``, or a batch size by DeepSpeed's name.
    "deepspeed": lambda shape: bool(
        shape.top & {"zero_optimization", "train_micro_batch_size_per_gpu"}
    ),
    # Two of a runner's settings, or four of its predecessor's in mmcv.
    "mmengine": lambda shape: len(MMENGINE & shape.top) >= 2 or len(MMCV & shape.top) >= 3,
    "ultralytics": _ultralytics,
    "torchtitan": _torchtitan,
    # The size of a parallel group, with two sizes of the model or the batch.
    "megatron": lambda shape: bool(PARALLEL & shape.all) and len(MEGATRON & shape.all) >= 2,
    "detectron2": _detectron2,
    # Four of a task's settings.
    "espnet": lambda shape: (
        len(ESPNET & shape.top) >= 4 and bool(shape.top & {"optim", "optim_conf", "max_epoch"})
    ),
    "recbole": _recbole,
    "latent-diffusion": _latent_diffusion,
    # ``save_folder`` and ``max_duration``, and a model with ``d_model``.
    "olmo": lambda shape: (
        {"save_folder", "max_duration"} <= shape.top
        and "d_model" in names(shape.root.branch("model"))
    ),
    "composer": _composer,
    "training": _generic,
    "hugging-face-model": _hugging_face_model,
}
