"""What to do about FlashAttention, by what is known of the code that calls it."""

from __future__ import annotations

EFFECT = "FlashAttention, whose backward adds up gradients in varying order"

# Transformers' models read the variable; those of another program may do so or not.
READS = (
    "set FLASH_ATTENTION_DETERMINISTIC=1 (Hugging Face), call guard.enable(seed=0), which sets it, "
    "or use sdpa"
)
MAY_READ = (
    "use sdpa, or set FLASH_ATTENTION_DETERMINISTIC=1 if the model's code reads it, as "
    "transformers does"
)
ANY_FLASH = (
    "make its backward deterministic (deterministic=True, NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 "
    "or FLASH_ATTENTION_DETERMINISTIC=1, whichever the program reads; guard.enable(seed=0) sets "
    "the variables, and torch's switch, for the kernel that torch itself has), or use sdpa"
)
# Of transformers before it had attn_implementation, and before it read the variable.
OLD_KEYWORD = (
    'use attn_implementation="sdpa", or set FLASH_ATTENTION_DETERMINISTIC=1, which newer releases '
    "of transformers read"
)
FLAG = (
    "leave it out or turn it off, or make the backward deterministic: "
    "FLASH_ATTENTION_DETERMINISTIC=1 for Hugging Face's models, NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 "
    "for Transformer Engine, deterministic=True in calls of the program's own"
)
HUGGING_FACE = frozenset({READS, MAY_READ, OLD_KEYWORD})
ANY = frozenset({ANY_FLASH, FLAG})

# Of calls of flash-attn's functions, and of its modules.
CALL = "pass deterministic=True (flash-attn 2.4 and later)"
# https://github.com/Dao-AILab/flash-attention/pull/1893: in between, its kernels were built
# without, and where one is missing since, it raises.
THIRD_CALL = (
    "pass deterministic=True (FlashAttention 3; ignored from January to September 2025, and "
    "refused for heads larger than 192)"
)
# https://github.com/Dao-AILab/flash-attention/blob/main/flash_attn/cute/interface.py
FOURTH_CALL = (
    "pass deterministic=True (FlashAttention 4; refused where it has no such kernel, as on "
    "compute capability 12)"
)
OLD_CALL = "pass deterministic=True, which late releases of flash-attn 1 take (2 has no {}())"
MODULE = "pass deterministic=True, which newer releases of flash-attn 2 take"
CALLS = frozenset({CALL, THIRD_CALL, FOURTH_CALL, MODULE})
KEPT = "pass deterministic=True in its calls"


def of_call(name: str, generation: int) -> str:
    """What to do about a call of a function or a module of FlashAttention 2, 3 or 4."""
    if "unpadded" in name:
        return OLD_CALL.format(name)
    if name[0].isupper():
        return MODULE
    return {2: CALL, 3: THIRD_CALL, 4: FOURTH_CALL}[generation]


def of_kept(name: str) -> str:
    """What to do about a function of flash-attn that is kept, to be called elsewhere."""
    return f"{KEPT}, or keep partial({name}, deterministic=True)"
