"""torch: which build it is, and what it computes with on the CPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from guard.inventory.versions import version_of
from guard.reports import NOT_APPLICABLE, OK, UNKNOWN, Entry

if TYPE_CHECKING:
    from guard.inventory.situation import Situation

# As torch.__config__.show() says it.
_LIBRARIES = {
    "mkl": r"Math Kernel Library Version (\S+)",
    "onednn": r"MKL-DNN v(\S+)",
    "openmp": r"OpenMP (\d+)",
}


def entries(situation: Situation) -> list[Entry]:
    """What torch is, or how to get it."""
    torch = situation.torch
    numpy = version_of("numpy", "numpy")
    arrays = Entry("numpy", numpy, OK, "compare runs on the same release", decides=True)
    if torch is None:
        return [Entry("torch", None, UNKNOWN, situation.trouble, decides=True), arrays]
    meaning = "another release can round otherwise: compare runs on the same"
    return [
        Entry("torch", str(torch.__version__), OK, meaning, decides=True),
        Entry("commit", torch.version.git_version, OK, "the source it was built of", decides=True),
        *_processor(torch),
        *_libraries(torch),
        arrays,
    ]


def _processor(torch: Any) -> list[Entry]:  # noqa: ANN401 - the module
    threads = torch.get_num_threads()
    return [
        Entry(
            "capability",
            torch.backends.cpu.get_cpu_capability(),
            OK,
            "the instructions torch's own kernels use; ATEN_CPU_CAPABILITY lowers them, so that "
            "different CPUs agree more often",
            decides=True,
        ),
        Entry(
            "threads",
            threads,
            OK,
            "sums are split among them, so another number can round otherwise: "
            f"OMP_NUM_THREADS={threads} keeps it on machines with other cores",
            decides=True,
        ),
    ]


def _libraries(torch: Any) -> list[Entry]:  # noqa: ANN401
    config = torch.__config__.show()
    found = {name: re.search(pattern, config) for name, pattern in _LIBRARIES.items()}
    return [
        Entry(name, match[1], OK, "part of this torch", decides=True)
        if match
        else Entry(name, None, NOT_APPLICABLE, "this torch is built without it", decides=True)
        for name, match in found.items()
    ]
