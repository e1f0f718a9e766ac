"""``guard.preflight``: one training step on a GPU that is not there."""

from __future__ import annotations

import warnings
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from guard.errors import SettingsError
from guard.refusals.translation import WARNED
from guard.rehearsal import gate
from guard.rehearsal.recorder import report_of
from guard.setup.flags import held
from guard.setup.rng_states import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.rehearsal.findings import Report

    Loss = Callable[[Any], torch.Tensor]
    Optimizers = Callable[[Any], torch.optim.Optimizer]


def preflight(  # noqa: PLR0913
    step_or_model: Callable[..., Any],
    *example_inputs: Any,
    device: str = "cuda",
    loss: Loss | None = None,
    optimizer: Optimizers | None = torch.optim.AdamW,
    gpu: str = "h100",
    repair: bool | tuple[str, ...] = False,
) -> Report:
    """Which operators of a training step would refuse on a GPU, or differ from run to run.

    The step runs here on tensors that have a shape and no memory, so that no GPU is needed, and
    billions of parameters take seconds::

        print(guard.preflight(model, torch.randn(8, 3, 224, 224)))

    step_or_model   a module, which is trained for one step; or a function that does a whole step
                    with what it holds: forward, loss, backward, optimizer step
    example_inputs  what it is called with, as tensors anywhere; what the small ones hold is known
    device          what stands in for the GPU: "cuda", with or without an index
    loss            makes the loss of what a module gives; else its ``loss``, or the sum of all
    optimizer       makes an optimizer of a module's parameters; None for none
    repair          as in ``guard.enable``: what is replaced there is not found
    gpu             whose kernels attention is taken to have: one of guard.rehearsal.kernels's

    Tensors, optimizers, schedulers, generators and flags are as before when it returns; what else
    the step changes in Python objects stays. Raises SettingsError for a device that is no CUDA
    device or an unknown GPU, and what the step itself raises.
    """
    if torch.device(device).type != "cuda":
        raise SettingsError(f"device: {device!r} is not a CUDA device; legal: 'cuda', 'cuda:0', …")
    from guard.rehearsal import kernels, verdicts

    kernels.check(gpu)
    step, roots = _step(step_or_model, loss, optimizer)
    with verdicts.repairing(repair), _as_found():
        if gate.missing():
            return gate.traced(step_or_model, example_inputs, gate.missing())
        return _rehearse(step, [*roots, example_inputs], example_inputs, device, gpu)


def _step(
    given: Callable[..., Any], loss: Loss | None, optimizer: Optimizers | None
) -> tuple[Callable[..., Any], list[Any]]:
    if not isinstance(given, torch.nn.Module):
        return given, [given]

    def step(*inputs: Any) -> None:
        result = given(*inputs)
        total = loss(result) if loss is not None else total_of(result)
        total.backward()  # type: ignore[no-untyped-call]  # torch's
        parameters = [each for each in given.parameters() if each.requires_grad]
        if optimizer is not None and parameters:
            optimizer(parameters).step()

    return step, [given, loss]


def total_of(result: Any) -> torch.Tensor:  # noqa: ANN401 - what a model gives
    """A loss: the one that a model gives, or the sum of all that has a gradient."""
    own = getattr(result, "loss", None)
    if isinstance(own, torch.Tensor):
        return own
    found = [each for each in tensors_of(result) if each.requires_grad]
    if not found:
        raise SettingsError(
            "preflight: nothing that the model gives has a gradient, so there is no backward to "
            "look at; give `loss`, a function that makes the loss of what the model gives"
        )
    return torch.stack([each.float().sum() for each in found]).sum()


def tensors_of(value: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        yield value
        return
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(parts, (list, tuple, dict)) or hasattr(value, "values"):
        for each in parts:
            yield from tensors_of(each)


def _rehearse(
    step: Callable[..., Any], roots: list[Any], inputs: tuple[Any, ...], device: str, gpu: str
) -> Report:
    from guard.rehearsal import kernels
    from guard.rehearsal.fake_cuda import UnseenError
    from guard.rehearsal.rehearsal import rehearsing
    from guard.rehearsal.swapping import on_fake_device

    with ExitStack() as stack:
        recorder, mode = stack.enter_context(rehearsing(gpu))
        stack.enter_context(on_fake_device(roots, mode.mode, device))
        try:
            step(*inputs)
            recorder.steps = 1
        except UnseenError as error:
            recorder.stopped = str(error)
        return report_of(recorder, kernels.sources(gpu), _UNJUDGED)


# The command looks at these; a function is called in a process that has begun already.
_UNJUDGED = (
    "whether the global generators were seeded",
    "sets, listings of folders and other orders",
)


@contextmanager
def _as_found() -> Iterator[None]:
    """The state of generators and of the switch, put back at the end."""
    with ExitStack() as stack:
        stack.enter_context(held())
        stack.enter_context(kept())
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message=WARNED)
        yield
