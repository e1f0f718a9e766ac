"""GPUs: the driver, the libraries, and whether CUDA has started. It is not started for this."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from guard.inventory.reports import MAY_DIFFER, NOT_APPLICABLE, OK, UNKNOWN, Entry
from guard.inventory.situation import version_of

if TYPE_CHECKING:
    from guard.inventory.situation import Situation

_SAME = "compare runs on the same release"
# Wheels that torch's own do not contain, and that can be replaced one by one.
_WHEELS = ("cublas", "cufft", "curand", "cusolver", "cusparse")


def entries(situation: Situation) -> list[Entry]:
    """What there is for a GPU."""
    torch = situation.torch
    found = [_driver(situation), _devices(situation), _cuda(torch)]
    if torch is not None and (torch.version.cuda or getattr(torch.version, "hip", None)):
        found += [_cudnn(torch), _nccl(torch), *_wheels(torch), _started(torch)]
    return found + _others(torch)


def _driver(situation: Situation) -> Entry:
    if situation.driver is None:
        return Entry("driver", None, NOT_APPLICABLE, "no NVIDIA driver answers", decides=True)
    return Entry("driver", situation.driver.version, OK, _SAME, decides=True)


def _devices(situation: Situation) -> Entry:
    driver = situation.driver
    if driver is None or not driver.visible:
        hidden = driver is not None and driver.gpus
        meaning = "CUDA_VISIBLE_DEVICES hides them all" if hidden else "no NVIDIA GPU"
        return Entry("devices", None, NOT_APPLICABLE, meaning, decides=True)
    kinds = sorted(set(driver.gpus))
    value = f"{driver.visible} x {' or '.join(kinds)}"
    if len(kinds) > 1:
        meaning = (
            "GPUs of different kinds round differently, and which one a run gets is not seen from "
            "here: choose with CUDA_VISIBLE_DEVICES"
        )
        return Entry("devices", value, MAY_DIFFER, meaning, decides=True)
    meaning = "the same kind of GPU gives the same numbers, another kind other ones"
    return Entry("devices", value, OK, meaning, decides=True)


def _cuda(torch: Any) -> Entry:  # noqa: ANN401 - the module, or None
    if torch is None:
        return Entry("cuda", None, NOT_APPLICABLE, "there is no torch", decides=True)
    if torch.version.cuda:
        return Entry("cuda", torch.version.cuda, OK, _SAME, decides=True)
    if hip := getattr(torch.version, "hip", None):
        meaning = f"{_SAME}; guard's table of operators is of CUDA and the CPU"
        return Entry("cuda", f"rocm {hip}", UNKNOWN, meaning, decides=True)
    meaning = "this torch is built without CUDA: everything runs on the CPU"
    return Entry("cuda", None, NOT_APPLICABLE, meaning, decides=True)


def _cudnn(torch: Any) -> Entry:  # noqa: ANN401 - the module
    library = getattr(torch._C, "_cudnn", None)  # noqa: SLF001 - cudnn.version() starts CUDA
    if library is None:
        meaning = "this torch is built without cuDNN"
        return Entry("cudnn", None, NOT_APPLICABLE, meaning, decides=True)
    return Entry("cudnn", library.getVersionInt(), OK, _SAME, decides=True)


def _nccl(torch: Any) -> Entry:  # noqa: ANN401
    try:
        version = ".".join(map(str, torch.cuda.nccl.version()))
    except (AttributeError, RuntimeError, TypeError):
        meaning = "this torch is built without NCCL"
        return Entry("nccl", None, NOT_APPLICABLE, meaning, decides=True)
    return Entry("nccl", version, OK, "of runs with several ranks; " + _SAME, decides=True)


def _wheels(torch: Any) -> list[Entry]:  # noqa: ANN401
    major = (torch.version.cuda or "").partition(".")[0]
    found = {
        name: version_of(f"nvidia.{name}", f"nvidia-{name}-cu{major}", f"nvidia-{name}")
        for name in (_WHEELS if major else ())
    }
    return [Entry(name, each, OK, _SAME, decides=True) for name, each in found.items() if each]


def _started(torch: Any) -> Entry:  # noqa: ANN401
    if torch.cuda.is_initialized():
        return Entry("started", True, OK, "CUDA has started, and has read its variables")
    return Entry("started", False, OK, "CUDA has not started, so its variables can still be set")


def _others(torch: Any) -> list[Entry]:  # noqa: ANN401
    """Devices of other makers, whose kernels guard has no table of."""
    if torch is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of machines that lack a driver for them
        mps = torch.backends.mps.is_available()
        xpu = getattr(torch.version, "xpu", None)
    meaning = "guard seeds it and sets torch's flags; its kernels are not in guard's table"
    return [
        Entry(name, value, UNKNOWN, meaning, decides=True)
        for name, value in (("mps", mps), ("xpu", xpu))
        if value
    ]
