"""Environment variables: guard's own table, and others that decide numbers where they are set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from guard.inventory.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, Entry, Level

if TYPE_CHECKING:
    from guard.inventory.situation import Situation
    from guard.setup.environment import Verdict

_LEVELS: dict[str, Level] = {
    "set by guard": OK,
    "set by user": OK,
    "missing": MAY_DIFFER,
    "too late": MAY_DIFFER,
    "invalid": DIFFERS,
    "not applicable": NOT_APPLICABLE,
}
_OF_GPUS = {"CUBLAS_WORKSPACE_CONFIG"}  # matter always, says the table, and are read by CUDA only

_SPLITS = "decides how NCCL splits sums: keep it the same"
_KERNELS = "decides which kernels the CPU takes: keep it the same"
_TIMED = ("1", "kernels are chosen by timing them, so that another run can take others: unset it")
# Shown where they are set; a pair is a value with which runs may differ, and why.
_OTHERS: dict[str, str | tuple[str, str]] = {
    "OMP_NUM_THREADS": "decides the number of threads, where the program does not",
    "MKL_NUM_THREADS": "decides the number of threads of MKL, where the program does not",
    "OMP_DYNAMIC": ("true", "the number of threads changes with the load: set it to false"),
    "MKL_DYNAMIC": ("true", "MKL may take fewer threads than it has: set it to false"),
    "MKL_CBWR": "MKL keeps to one kind of kernel, so that different CPUs agree more often",
    "ATEN_CPU_CAPABILITY": _KERNELS,
    "ONEDNN_MAX_CPU_ISA": _KERNELS,
    "DNNL_MAX_CPU_ISA": _KERNELS,
    "ONEDNN_DEFAULT_FPMATH_MODE": _KERNELS,
    "DNNL_DEFAULT_FPMATH_MODE": _KERNELS,
    "NVIDIA_TF32_OVERRIDE": "0 turns TF32 off in NVIDIA's libraries, whatever torch asks for",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1 turns TF32 on in matrix products",
    "TORCH_BLAS_PREFER_CUBLASLT": "decides which library multiplies matrices: keep it the same",
    "CUBLASLT_WORKSPACE_SIZE": "decides which kernels cuBLASLt can take: keep it the same",
    "PYTORCH_TUNABLEOP_ENABLED": _TIMED,
    "TORCHINDUCTOR_MAX_AUTOTUNE": _TIMED,
    "NCCL_PROTO": _SPLITS,
    "NCCL_MIN_NCHANNELS": _SPLITS,
    "NCCL_MAX_NCHANNELS": _SPLITS,
    "NCCL_NTHREADS": _SPLITS,
    "NCCL_COLLNET_ENABLE": _SPLITS,
}


def entries(situation: Situation) -> list[Entry]:
    """Each variable of the table, and the others that are set."""
    return [_entry(each, situation) for each in situation.variables] + _others()


def _entry(verdict: Verdict, situation: Situation) -> Entry:
    name, value = verdict.name, verdict.value
    if name in _OF_GPUS and not situation.has_gpu and verdict.state != "invalid":
        return Entry(name, value, NOT_APPLICABLE, "matters with a GPU only", decides=True)
    level = _LEVELS[verdict.state]
    if name == "PYTHONHASHSEED" and verdict.state == "too late":
        level = DIFFERS
    decides = level != NOT_APPLICABLE
    return Entry(name, value, level, f"{_origin(verdict)}{verdict.meaning}", decides)


def _origin(verdict: Verdict) -> str:
    return f"{verdict.state}: " if verdict.state.startswith("set by") else ""


def _others() -> list[Entry]:
    return [_other(name, value) for name in _OTHERS if (value := os.environ.get(name))]


def _other(name: str, value: str) -> Entry:
    told = _OTHERS[name]
    if isinstance(told, str):
        return Entry(name, value, OK, told, decides=True)
    differing, meaning = told
    if value.lower() == differing:
        return Entry(name, value, MAY_DIFFER, meaning, decides=True)
    return Entry(name, value, OK, "set by user", decides=True)
