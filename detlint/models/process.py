"""What sets what holds for a whole process, and how what has a state is called."""

from __future__ import annotations

_TF32 = ("set_float32_matmul_precision", "allow_tf32", "fp32_precision")
# By a word of an item of the environment, as reports of it name that.
SETTERS = {
    "thread": (
        *("set_num_threads", "set_num_interop_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
        *("OPENBLAS_NUM_THREADS", "threadpool_limits"),
    ),
    "dtype": ("set_default_dtype", "set_default_tensor_type"),
    "device": ("set_default_device", "set_device", "CUDA_VISIBLE_DEVICES"),
    "matmul": _TF32,
    "tf32": _TF32,
    "deterministic": ("use_deterministic_algorithms", "deterministic"),
    "benchmark": ("benchmark",),
    "mkldnn": ("mkldnn",),
    "denormal": ("set_flush_denormal",),
}
# Parts of the names of what is asked for a state, by what the state is of.
HOLDERS = {
    "optimizer": ("opt",),
    "hyperparameter": ("sched", "scaler"),
    "parameter": ("model", "net", "module"),
    "buffer": ("model", "net", "module"),
    "batch": ("sampler", "loader", "data"),
    "generator": ("rng", "generator"),
}
# How functions begin that read or set the state of a generator.
OF_GENERATORS = (
    *("get_rng_state", "set_rng_state", "getstate", "setstate", "get_state", "set_state"),
)
CHECKPOINTS = {
    **dict.fromkeys(("torch.save", "pickle.dump"), "writes"),
    **dict.fromkeys(("torch.load", "pickle.load"), "reads"),
}


def setters_of(item: str) -> set[str]:
    """The names of what sets an item: ``torch: threads``."""
    parts = [names for part, names in SETTERS.items() if part in item.lower()]
    return (
        {*(each for names in parts for each in names), item.rpartition(": ")[2]} if parts else set()
    )
