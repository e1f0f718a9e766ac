"""Deterministic replacements of operators that refuse, or differ: ``guard.enable(repair=True)``.

A replacement is a kernel that ``torch.library`` registers for the backend's dispatch key. What
that means was tried on torch 2.13, for the CPU's key, and is tested:

- Autograd's nodes call their backward operators through the dispatcher, so that the backward of
  an unchanged program reaches the replacement, also from checkpoints and torch.func's
  transforms. Double backward keeps the formula that torch has for it.
- A kernel is for one overload. Those that write to ``out=`` or in place are kernels of their own,
  and get one each. Composite operators have none, and come to the replaced ones.
- Autocast would work within a Python kernel, and autograd's keys be excluded only where autograd
  called it: both are turned off around the replacement.
- ``torch.library.get_kernel`` gives torch's own kernel, for calls that do not refuse. Releases
  without it leave the operators that need it as they are.
- To destroy the library brings torch's own kernel back, the same object.
- What ``torch.compile`` leaves to torch's kernels reaches the replacement; what it generates
  itself does not, and is left.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from guard.dependencies import loaded
from guard.repairs.table import wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.settings import Settings

_INSTALLATION = "guard.repairs.installation"  # imports torch, and is there once something is wanted


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """The stage: replace what the settings name, and nothing else, until the block ends."""
    repairs = wanted(settings.repair, settings.allow)
    if not repairs and loaded(_INSTALLATION) is None:
        yield
        return
    from guard.repairs.installation import installed

    with installed(repairs):
        yield


def in_force() -> frozenset[str]:
    """Names of the operations whose kernels are replaced now."""
    if loaded(_INSTALLATION) is None:
        return frozenset()
    from guard.repairs import installation

    return installation.in_force()
