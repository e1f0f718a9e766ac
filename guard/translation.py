"""From what torch says to what can be done about it: pure, over the table of operators."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.operations import OPERATIONS, Alternative, Operation

if TYPE_CHECKING:
    from guard.places import Place

_ALERT = re.compile(r"(?P<alert>[^\n]*?) does not have a deterministic implementation, but you set")


_MARGIN = " " * 15  # where the text of a line begins


class Explanation(NamedTuple):
    """What a refusal means.

    operation     the row of the table, or None for what is not an operator of torch's
    title         what happened, in a line
    reason        why
    alternatives  what to do, best first
    """

    operation: Operation | None
    title: str
    reason: str
    alternatives: tuple[Alternative, ...]


class Refusal(NamedTuple):
    """A message that is not an alert of an operator: a pattern and what it means."""

    pattern: re.Pattern[str]
    title: str
    reason: str
    alternatives: tuple[Alternative, ...]


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        re.compile(r"not deterministic because it uses CuBLAS"),
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
        re.compile(r"compiled backward function is being run with[\s\S]*use_deterministic_algor"),
        "a compiled backward was generated before determinism was turned on",
        "torch.compile made the backward together with the forward, under other settings.",
        (
            Alternative("call guard.enable before the model is first run"),
            Alternative("compile again", "torch.compiler.reset()"),
        ),
    ),
    Refusal(
        re.compile(
            r"GET was unable to find an engine|Unable to find a valid cuDNN algorithm"
            r"|CUDNN_STATUS_NOT_SUPPORTED"
        ),
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
        re.compile(r"No available kernel\. Aborting execution|No viable backend for scaled_dot"),
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
        re.compile(r"(?i)deterministic (?:mode|backward)[^\n]*not (?:yet )?(?:supported|implemented)"),
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
        re.compile(r"NVTE_ALLOW_NONDETERMINISTIC_ALGO|No dot product attention (?:backend|support)"),
        "Transformer Engine has no deterministic attention for this call",
        "With NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 it leaves out the backends whose backward is "
        "not deterministic for these inputs, and none is left.",
        (
            Alternative(
                "let it use its unfused attention, which is deterministic",
                "export NVTE_UNFUSED_ATTN=1",
            ),
            Alternative("update Transformer Engine and cuDNN: newer ones cover more inputs"),
        ),
    ),
)


@cache
def _rows() -> dict[str, Operation]:
    rows = {row.name: row for row in OPERATIONS}
    return rows | {alert: row for row in OPERATIONS for alert in row.alerts}


def row_named(name: str) -> Operation | None:
    """The row of a name or of an alert's text."""
    return _rows().get(name)


def find(message: str) -> Operation | None:
    """The row of the operator that a message names."""
    alert = alert_in(message)
    return row_named(alert) if alert is not None else None


def alert_in(message: str) -> str | None:
    """The text before "does not have a deterministic implementation", if a message has it."""
    match = _ALERT.search(message)
    return match["alert"].strip() if match else None


def explain(message: str) -> Explanation | None:
    """What a message of torch, cuDNN or an attention library means; None if it is about
    something else."""
    alert = alert_in(message)
    if alert is not None:
        return _explain_alert(alert)
    for refusal in REFUSALS:
        if refusal.pattern.search(message):
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


def explain_operation(row: Operation) -> Explanation:
    """What a row of the table says."""
    devices = " or ".join("the CPU" if each == "cpu" else each.upper() for each in row.devices)
    what = f"{row.name}'s backward" if row.direction == "backward" else row.name
    verb = "differs from run to run" if row.silent else "has no deterministic implementation"
    return Explanation(row, f"{what} {verb} on {devices}", row.reason, row.alternatives)


def name_to_allow(row: Operation) -> str:
    """The shortest exact name of a row, for ``guard.enable(allow=[…])``."""
    return row.overloads[0].partition("::")[2].partition(".")[0] if row.overloads else row.name


def render(
    explanation: Explanation, place: Place | None, started: Place | None = None, said: str = ""
) -> str:
    """The text of an error.

    ``place`` is the line that called the operator, in a backward the forward line that made
    the node; ``started`` is where the backward was called; ``said`` is torch's own text.
    """
    lines = [f"{explanation.title}."]
    row = explanation.operation
    if place is not None:
        lines.append(_labelled("forward" if started else "where", str(place)))
        if place.code:
            lines.append(f"{_MARGIN}  {place.code}")
        if place.kind:
            named = f"{place.module} ({place.kind})" if place.module else place.kind
            lines.append(_labelled("module", named))
    elif started is not None:
        lines.append(_labelled("forward", _unknown(row)))
    if started is not None:
        lines.append(_labelled("backward", str(started)))
    if row is not None and row.condition:
        lines.append(_labelled("when", row.condition))
    lines.append(_labelled("why", explanation.reason))
    for number, each in enumerate(explanation.alternatives, 1):
        lines.append(_labelled("instead" if number == 1 else "", f"{number}. {each.text}"))
        lines.extend(f"{_MARGIN}     {line}".rstrip() for line in each.code.strip().splitlines())
    if row is not None:
        lines.append(_labelled("or allow it", f'guard.enable(allow=["{name_to_allow(row)}"])'))
    if said:
        lines.append(_labelled("torch says", said.strip().partition("\n")[0]))
    return "\n".join(lines)


def _labelled(label: str, text: str) -> str:
    return f"  {label + ':' if label else '':12} {text}"


def _unknown(row: Operation | None) -> str:
    calls = f" (look for {', '.join(row.api[:3])})" if row is not None and row.api else ""
    return (
        f"not recorded{calls}; torch.autograd.set_detect_anomaly(True, check_nan=False) names "
        "the line, at a cost"
    )
