"""What to do about FlashAttention, by what is known of the code that calls it."""

from __future__ import annotations

# Transformers' models read the variable; those of another program may do so or not.
READS = "set FLASH_ATTENTION_DETERMINISTIC=1 (Hugging Face), or use sdpa"
MAY_READ = (
    "use sdpa, or set FLASH_ATTENTION_DETERMINISTIC=1 if the model's code reads it, as "
    "transformers does"
)
ANY_FLASH = (
    "make its backward deterministic (deterministic=True, NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 "
    "or FLASH_ATTENTION_DETERMINISTIC=1, whichever the program reads), or use sdpa"
)
