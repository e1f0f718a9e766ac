"""Command lines: what starts programs of Python, and what their options and variables mean."""

from __future__ import annotations

from detlint.models.model import words

# Command lines of libraries, and whether they have subcommands.
TOOLS = {
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
# Decorators of the function that runs where a file is the program: sacred's, and that of a command
# that runs files (`modal run train.py`, modal 1.6).
RUNNING = words("automain local_entrypoint")
# Options by which a run asks for determinism …
DETERMINISTIC = words(
    """deterministic deterministic_mode full_determinism enable_full_determinism
    use_deterministic_algorithms deterministic_algorithms torch_deterministic
    use_deterministic cudnn_deterministic"""
)
# … and variables that are set for nothing else, with the values that do.
VARIABLES = {
    "CUBLAS_WORKSPACE_CONFIG": frozenset({":4096:8", ":16:8"}),
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO": frozenset({"0"}),
    "FLASH_ATTENTION_DETERMINISTIC": frozenset({"1"}),
    "TORCHINDUCTOR_DETERMINISTIC": frozenset({"1"}),
}
# What runs the tests of a project.
TESTERS = words("pytest py.test unittest nose nose2 tox nox")
CONVERTS = "convert_checkpoint"
# What is for Ascend devices, with other kernels and another NCCL: words of variables, options and
# paths, whole or in part.
_ASCEND = words("npu npus hccl")
_ASCEND_PARTS = ("ascend", "mindspeed")
_ASCEND_QUEUE = "task_queue_enable"
# Commands whose output is one value.
ONE_VALUE = words("seq date nproc pwd hostname wc expr")
# Options that take no value, as programs call them: by their first word, unless the last says
# that they take one, …
_SWITCHING = words("""no use disable enable overlap skip with do is reset untie calculate""")
_VALUED = words("path dir file size type dtype iter iters step steps freq interval impl")
# … and by all of their name.
_SWITCHES = words(
    """bf16 fp16 fp8 fp32 swiglu geglu squared-relu sequence-parallel group-query-attention
    recompute-activations mock-data colocate colocated finetune finetuning qk-layernorm debug
    verbose sft accumulate-allreduce-grads-in-fp32 attention-softmax-in-fp32 deterministic-mode
    distribute-saved-activations multi-latent-attention apply-layernorm-1p"""
)
# Words of variables that hold options.
_OPTIONS = ("args", "opts", "options", "flags", "params", "extra", "arguments")


def is_switch(option: str) -> bool:
    """Whether an option takes no value, by its name: ``use-flash-attn``."""
    if option in _SWITCHES:
        return True
    parts = option.replace("_", "-").split("-")
    return (
        len(parts) > 1 and parts[0] in _SWITCHING and (len(parts) == 2 or parts[-1] not in _VALUED)
    )


def holds_options(variable: str) -> bool:
    """``EXTRA_ARGS``, ``training_options``."""
    return any(each.endswith(_OPTIONS) for each in variable.lower().split("_"))


def is_for_ascend(word: str) -> bool:
    """Whether a word of a script is for Ascend devices: ``ASCEND_RT_VISIBLE_DEVICES``."""
    plain = word.lower()
    if any(each in plain for each in _ASCEND_PARTS) or plain == _ASCEND_QUEUE:
        return True
    return not _ASCEND.isdisjoint("".join(x if x.isalpha() else " " for x in plain).split())
