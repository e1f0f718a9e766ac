"""Atomic additions of kernels written in Python, and the names of what is only counted."""

from __future__ import annotations

from detlint.models.model import words
from detlint.models.names import holds, says, words_of

# The positions of the place that is added to, and of what is added.
ADDITIONS = {
    "triton.language.atomic_add": (0, 1),
    "tilelang.language.atomic_add": (0, 1),
    "tilelang.language.atomic_addx2": (0, 1),
    "tilelang.language.atomic_addx4": (0, 1),
    "cuda.tile.atomic_add": (0, 2),
    "numba.cuda.atomic.add": (0, 2),
    "numba.cuda.atomic.sub": (0, 2),
    "cupyx.scatter_add": (0, 2),
}
# What compiles CUDA source that it is given as text.
COMPILERS = words(
    """torch.utils.cpp_extension.load_inline cupy.RawKernel cupy.RawModule cupy.ElementwiseKernel
    cupy.ReductionKernel cupy.cuda.compile_with_cache cupy.cuda.compiler.compile_with_cache
    pycuda.compiler.SourceModule chainer.backends.cuda.elementwise chainer.cuda.elementwise"""
)
STORE = "triton.language.store"
# Functions of kernels that give whole numbers, by their last name; and those that give what they
# are given.
WHOLE = words(
    """program_id num_programs arange histogram cdiv argmax argmin xor_sum popc popcount bincount"""
)
KEEPING = frozenset(("sum", "cast"))
_INTEGERS = frozenset(f"{u}int{bits}" for u in ("u", "") for bits in (8, 16, 32, 64))
# ``n_tokens``, ``lock_ptr``: what holds whole numbers, by its name.
counts = says(
    """n num count counts cnt cnts counter counters hist histogram lock locks sema semaphore
    semaphores ticket tickets flag flags barrier barriers arrived progress done sync signal signals
    length len lens nnz per cursor cursors size sizes offset offsets idx index indices int32
    int64"""
)


def is_integer_type(name: str) -> bool:
    """``tl.int32``, ``"int64"``, ``torch.bool``."""
    last = name.rpartition(".")[2]
    return last in _INTEGERS or last in ("int1", "bool")


def is_whole(word: str) -> bool:
    """Whether a function gives whole numbers, by its name: ``popc_rows``."""
    return word in WHOLE or not WHOLE.isdisjoint(words_of(word))


is_choice = holds("determinis")  # ``DETERMINISTIC``
