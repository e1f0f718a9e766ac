"""Recurrent layers, which cuDNN computes on a GPU and torch composes of others here."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

from detlint.operations import OPERATIONS
from guard.observe.patching import replace
from guard.rehearsal.findings import SILENT
from guard.rehearsal.verdicts import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.rehearsal.recorder import Recorder

_NAMES = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_OVERLOAD = "aten::_cudnn_rnn"


def install(stack: ExitStack, recorder: Recorder) -> None:
    """Count calls that cuDNN would compute with dropout between the layers."""
    row = next(each for each in OPERATIONS if _OVERLOAD in each.overloads)
    # Asked by recurrent layers that move their weights together for cuDNN.
    replace(stack, torch.backends.cudnn, "is_acceptable", lambda _: False)
    module: Any = torch._VF  # noqa: SLF001
    for name in _NAMES:
        replace(stack, module, name, _counted(getattr(module, name), recorder, row))


def _counted(original: Callable[..., Any], recorder: Recorder, row: Any) -> Callable[..., Any]:  # noqa: ANN401
    @functools.wraps(original)
    def run(*args: Any) -> Any:  # noqa: ANN401 - as torch's
        # input, state, weights, biases, layers, dropout, train, …; packed, sizes come second
        start = 4 if isinstance(args[3], bool) else 5
        layers, dropout, train = args[start : start + 3]
        if args[0].device.type == "cuda" and train and dropout > 0 and layers > 1:
            recorder.count(_OVERLOAD, Judgement(SILENT, row))
        return original(*args)

    return run
