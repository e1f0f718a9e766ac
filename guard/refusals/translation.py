"""From what torch says to an error that says where, why and what to do, by the table of operators.

And by refusals that are not an operator of torch's: cuBLAS, cuDNN, compiled code, attention.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.operations import OPERATIONS, Alternative, Operation
from detlint.operations.extensions import REPLACED
from guard.errors import NondeterministicOperationError
from guard.observe import places
from guard.repairs.table import HOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.observe.places import Place


class Refusal(NamedTuple):
    """A message that is not an alert of an operator: a pattern and what it means."""

    pattern: str
    title: str
    reason: str
    alternatives: tuple[Alternative, ...]


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        r"not deterministic because it uses CuBLAS",
        "a matrix product by cuBLAS was refused: CUBLAS_WORKSPACE_CONFIG is not set",
        "Releases of torch before 2.13 ask for a fixed workspace, because cuBLAS may add up in "
        "varying order when several streams share one.",
        (
            Alternative(
                "set it before CUDA starts: in the launcher, by `python -m guard run`, or by "
                "calling guard.enable before anything uses a GPU",
                "export CUBLAS_WORKSPACE_CONFIG=:4096:8",
            ),
        ),
    ),
    Refusal(
        r"compiled backward function is being run with[\s\S]*use_deterministic_algor",
        "a compiled backward was generated before determinism was turned on",
        "torch.compile made the backward together with the forward, under other settings.",
        (
            Alternative("call guard.enable before the model is first run"),
            Alternative("compile again", "torch.compiler.reset()"),
        ),
    ),
    Refusal(
        r"GET was unable to find an engine|Unable to find a valid cuDNN algorithm"
        r"|CUDNN_STATUS_NOT_SUPPORTED",
        "cuDNN has no kernel for this call under the present settings",
        "With determinism on, cuDNN may use deterministic kernels only, and none takes these "
        "shapes, types and strides.",
        (
            Alternative("make the input contiguous, or use another dtype", "x = x.contiguous()"),
            Alternative(
                "run this layer without cuDNN",
                "with torch.backends.cudnn.flags(enabled=False):\n    y = layer(x)",
            ),
        ),
    ),
    Refusal(
        r"No available kernel\. Aborting execution|No viable backend for scaled_dot",
        "no backend of scaled_dot_product_attention is left",
        "The backends that were chosen have no deterministic form for these inputs.",
        (
            Alternative(
                "allow the math backend, which is deterministic",
                "from torch.nn.attention import SDPBackend, sdpa_kernel\n"
                "with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):\n"
                "    y = F.scaled_dot_product_attention(q, k, v)",
            ),
        ),
    ),
    Refusal(
        # flash-attn 3: "Deterministic backward not supported for hdim 256."; 4: "… on SM 12.0".
        r"[Dd]eterministic backward not (?:yet )?supported",
        "an attention library has no deterministic backward for this call",
        "Its kernel adds up gradients with atomics, and the deterministic variant does not cover "
        "this GPU, head size or option.",
        (
            Alternative(
                "let PyTorch choose the attention",
                'model = AutoModel.from_pretrained(name, attn_implementation="sdpa")',
            ),
            Alternative("leave out the option that the message names"),
        ),
    ),
    Refusal(
        r"Deterministic backward for flex_attention",
        "flex_attention has no deterministic backward on the FLASH backend for this call",
        "The order in which it adds up the gradient of the queries is fixed on newer GPUs only, "
        "and with a block mask that says so.",
        (
            Alternative(
                "use the Triton backend",
                'flex_attention(q, k, v, block_mask=mask, kernel_options={"BACKEND": "TRITON"})',
            ),
        ),
    ),
    Refusal(
        r"No dot product attention (?:backend|support)",
        "Transformer Engine has no attention backend left for this call",
        "With NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 it leaves out those whose backward is not "
        "deterministic for these inputs; NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2 shows whether that is it.",
        (
            Alternative("let it use its unfused attention", "export NVTE_UNFUSED_ATTN=1"),
            Alternative("update Transformer Engine and cuDNN: newer ones cover more inputs"),
        ),
    ),
)

# Compiled when something is refused: most runs never need it.
_SAID = "does not have a deterministic implementation, but you set"
_ALERT = rf"(?P<alert>[^\n]*?) {_SAID}"
WARNED = rf"[\s\S]* {_SAID}"  # a warning, for a filter
FAILED_REPAIR = ", and guard's replacement failed: "
_DEVICES = {"cpu": "the CPU", "cuda": "CUDA", "meta": "meta tensors"}
_MARGIN = " " * 15  # where the text of a line begins


class Explanation(NamedTuple):
    """What a refusal means."""

    # the row of the table, or None for what is not an operator of torch's
    operation: Operation | None
    title: str  # what happened, in a line
    reason: str  # why
    alternatives: tuple[Alternative, ...]  # what to do, best first


@cache
def _rows() -> dict[str, Operation]:
    every = (*OPERATIONS, *REPLACED)
    return {row.name: row for row in every} | {alert: row for row in every for alert in row.alerts}


def row_named(name: str) -> Operation | None:
    """The row of a name or of an alert's text."""
    return _rows().get(name)


def refusing(row: Operation) -> Operation:
    """The row in whose name a row refuses: itself, but for the backward of ``take``, which is a
    ``put_``."""
    if row.alerts or row.silent:
        return row
    overloads = set(row.overloads)
    return next((each for each in OPERATIONS if each.alerts and overloads & {*each.overloads}), row)


def find(message: str) -> Operation | None:
    """The row of the operator that a message names."""
    alert = alert_in(message)
    return row_named(alert) if alert is not None else None


def alert_in(message: str) -> str | None:
    """The text before "does not have a deterministic implementation", if a message has it.

    Also within another error's text: ``RuntimeError('put_ does not …')``.
    """
    match = re.search(_ALERT, message)
    if match is None:
        return None
    return re.split(r"[\"']|Error: ", match["alert"])[-1].strip()


def explain(message: str) -> Explanation | None:
    """What a message of torch, cuDNN or an attention library means; None if it is about
    something else."""
    alert = alert_in(message)
    if alert is not None:
        return _explain_alert(alert)
    for refusal in REFUSALS:
        if re.search(refusal.pattern, message):
            return Explanation(None, *refusal[1:])
    return None


def _explain_alert(alert: str) -> Explanation:
    row = _rows().get(alert)
    if row is not None:
        return explain_operation(row)
    return Explanation(
        None,
        f"{alert} has no deterministic implementation",
        "It asks torch whether determinism is on, and refuses. It is not in guard's table: an "
        "operator of another library, or of a release of torch that the table does not know.",
        (Alternative("look in the library that brings it for a deterministic variant"),),
    )


def explain_operation(row: Operation, *, backward: bool = False) -> Explanation:
    """What a row of the table says, of its backward if that is what refuses."""
    devices = " or ".join(_DEVICES.get(each, each) for each in row.devices)
    what = f"The backward of {row.name}" if backward or row.direction == "backward" else row.name
    verb = "differs from run to run" if row.silent else "has no deterministic implementation"
    return Explanation(row, f"{what} {verb} on {devices}", row.reason, row.alternatives)


def name_to_allow(row: Operation) -> str:
    """The shortest exact name of a row, for ``guard.enable(allow=[…])``."""
    return row.overloads[0].partition("::")[2].partition(".")[0] if row.overloads else row.name


def render(
    explanation: Explanation,
    place: Place | None,
    started: Place | None = None,
    said: str = "",
    rank: str = "",
) -> str:
    """The text of an error.

    ``place`` is the line that called the operator, in a backward the forward line that made
    the node; ``started`` is where the backward was called; ``said`` is torch's own text.
    """
    row = explanation.operation
    lines = [f"{explanation.title}."]
    if rank:
        lines.append(_labelled("rank", rank))
    lines.extend(_whereabouts(row, place, started))
    if row is not None and row.condition:
        lines.append(_labelled("when", row.condition))
    lines.append(_labelled("why", explanation.reason))
    lines.extend(_advice(explanation, repairs=FAILED_REPAIR not in said))
    if said:
        # Without its advice, which does not help where a backward refuses.
        alert = alert_in(said)
        shown = f"{alert} does not have a deterministic implementation" if alert else said.strip()
        lines.append(_labelled("torch says", shown.partition("\n")[0]))
        if FAILED_REPAIR in said:
            failure = said.partition(FAILED_REPAIR)[2].partition("\n")[0]
            lines.append(_labelled("repair", f"its replacement failed: {failure}"))
    return "\n".join(lines)


def _whereabouts(
    row: Operation | None, place: Place | None, started: Place | None
) -> Iterator[str]:
    if place is not None:
        yield _labelled("forward" if started else "where", str(place))
        if place.code:
            yield f"{_MARGIN}  {place.code}"
        if place.kind:
            yield _labelled("module", place.inside)
    elif started is not None:
        yield _labelled("forward", _unknown(row))
    if started is not None:
        yield _labelled("backward", str(started))


def _advice(explanation: Explanation, *, repairs: bool) -> Iterator[str]:
    """``repairs``: whether a replacement has not been tried."""
    for number, each in enumerate(explanation.alternatives, 1):
        yield _labelled("instead" if number == 1 else "", f"{number}. {each.text}")
        for line in each.code.strip().splitlines():
            yield f"{_MARGIN}     {line}".rstrip()
    if explanation.operation in OPERATIONS:  # the nodes of others are not known
        name = name_to_allow(explanation.operation)
        if repairs and explanation.operation.name in HOW:
            yield _labelled("or repair it", _REPAIRED.format(name))
        ways = f'allow=["{name}"] where guard is switched on, guard run --allow {name}'
        yield _labelled("or allow it", f"{ways}, or GUARD_ALLOW={name}")


_REPAIRED = (
    'repair=["{0}"] where guard is switched on, guard run --repair-only {0}, or GUARD_REPAIR={0}: '
    "a deterministic replacement runs in its place"
)


def _labelled(label: str, text: str) -> str:
    return f"  {label + ':' if label else '':12} {text}"


def _unknown(row: Operation | None) -> str:
    calls = f" (look for {', '.join(row.api[:3])})" if row is not None and row.api else ""
    return (
        f"not recorded{calls}; torch.autograd.set_detect_anomaly(True, check_nan=False) names "
        "the line, at a cost"
    )


def explained(
    error: BaseException,
    trail: places.Trail | None,
    started: places.Trail | None = None,
    row: Operation | None = None,
) -> NondeterministicOperationError | None:
    """Our error for one of torch's, cuDNN's or an attention library's; None for any other.

    ``trail`` is where the operator was called, ``started`` where its backward was; ``row`` is
    the operator, where that is known better than from the message.
    """
    if isinstance(error, NondeterministicOperationError):
        return None
    explanation = explain(str(error))
    if explanation is None:
        return None
    if row is not None:
        explanation = explain_operation(row, backward=started is not None)
    return refused(explanation, trail, started, str(error))


def explained_error(error: BaseException | None) -> NondeterministicOperationError | None:
    """Our error for one that came out of the program, with that as its cause; or None."""
    ours = explained(error, places.of_error(error)) if error is not None else None
    if ours is not None:
        ours.__cause__ = error
    return ours


def refused(
    explanation: Explanation,
    trail: places.Trail | None,
    started: places.Trail | None = None,
    said: str = "",
) -> NondeterministicOperationError:
    text = render(
        explanation,
        trail.resolve() if trail is not None else None,
        started.place if started is not None else None,
        said,
        os.environ.get("RANK", "") if os.environ.get("WORLD_SIZE", "1") != "1" else "",
    )
    return NondeterministicOperationError(text, explanation.operation)
