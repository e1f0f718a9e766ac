"""torch's switches: those of guard's table, and others that decide numbers."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from guard.inventory.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, Entry
from guard.setup.flags import ABSENT, FLAGS, Flag, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.inventory.reports import Level
    from guard.inventory.situation import Situation
    from guard.settings import Settings

_OF_GPUS = ("torch.backends.cuda.", "torch.backends.cudnn.")
_INDUCTOR = "torch._inductor.config.deterministic"
_LEFT = "left as it is: keep it the same"
_ATTENTION = ("flash", "mem_efficient", "math", "cudnn")
# Where torch 2.9 and newer keep what a float32 product may be rounded to.
_PRECISIONS = ("cuda.matmul", "cudnn.conv", "cudnn.rnn", "mkldnn.matmul", "mkldnn.conv")


def entries(situation: Situation) -> list[Entry]:
    """Each switch, once."""
    torch = situation.torch
    if torch is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch tells of newer names for some
        chosen = _chosen(situation.settings)
        return [_entry(flag, situation, asked=asked) for flag, asked in chosen] + _others(torch)


def _chosen(settings: Settings) -> list[tuple[Flag, bool]]:
    """The row of each name, and whether the settings ask for it; a name can have two rows."""
    asked = {flag.name: flag for flag in FLAGS if flag.when(settings)}
    every = {flag.name: flag for flag in FLAGS} | asked
    return [(flag, name in asked) for name, flag in every.items()]


def _entry(flag: Flag, situation: Situation, *, asked: bool) -> Entry:
    value = flag.read(situation.torch)
    if flag.name == _INDUCTOR and value is ABSENT:
        return _unloaded(flag)
    verdict, meaning = _judged(flag, value, situation, asked=asked)
    shown = None if value is ABSENT else _plain(value)
    return Entry(flag.name, shown, verdict, meaning, decides=True)


def _judged(
    flag: Flag,
    value: Any,  # noqa: ANN401 - whatever a flag holds
    situation: Situation,
    *,
    asked: bool,
) -> tuple[Level, str]:
    if value is ABSENT:
        return NOT_APPLICABLE, "this torch has no such switch"
    if flag.name.startswith(_OF_GPUS) and not situation.has_gpu:
        return NOT_APPLICABLE, "matters with a GPU only"
    if asked and flag.under and not _is_on(flag.under, situation.torch):
        level: Level = DIFFERS if situation.is_active else MAY_DIFFER
        return level, f"has no effect while {flag.under} is off; with it, {flag.why}"
    if not asked or State(flag, value).is_set:
        return OK, flag.why if asked else _LEFT
    wanted = _plain(flag.wanted)
    if situation.is_active:
        return DIFFERS, f"guard had set it to {wanted}, and something has set it back: {flag.why}"
    return MAY_DIFFER, f"guard.enable sets it to {wanted}: {flag.why}"


def _is_on(name: str, torch: Any) -> bool:  # noqa: ANN401 - the module
    """Whether a flag is on, be it with a warning only."""
    found = next(flag.read(torch) for flag in FLAGS if flag.name == name)
    return bool(found[0] if isinstance(found, tuple) else found)


def _unloaded(flag: Flag) -> Entry:
    """Inductor's switch before anything is compiled: what it will read when it is imported."""
    value = os.environ.get("TORCHINDUCTOR_DETERMINISTIC") == "1"
    meaning = (
        "torch.compile is not in use yet, and will read TORCHINDUCTOR_DETERMINISTIC (torch 2.10 "
        "and newer)"
    )
    return Entry(flag.name, value, OK if value else MAY_DIFFER, meaning, decides=True)


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a flag holds
    """A flag's value as JSON can have it."""
    if isinstance(value, tuple) and isinstance(value[0], bool):  # use_deterministic_algorithms
        return "warn_only" if value == (True, True) else value[0]
    if isinstance(value, tuple):  # fp32_precision of several kinds of operator
        return ", ".join(map(str, value))
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _others(torch: Any) -> list[Entry]:  # noqa: ANN401 - the module
    found = {
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "float32_matmul_precision": _read(torch.get_float32_matmul_precision),
        "float32_products": _precisions(torch),
        "attention_kernels": _kernels(torch),
        "torch.backends.mkldnn.enabled": getattr(torch.backends.mkldnn, "enabled", None),
    }
    return [Entry(name, value, OK, _LEFT, decides=True) for name, value in found.items()]


def _read(read: Callable[[], str]) -> str:
    try:
        return read()
    except RuntimeError:  # its older and its newer names were both written to
        return "mixed"


def _precisions(torch: Any) -> str | None:  # noqa: ANN401
    found = []
    for path in _PRECISIONS:
        place = torch.backends
        for part in path.split("."):
            place = getattr(place, part, None)
        value = getattr(place, "fp32_precision", None)
        if value is not None:
            found.append(f"{path} {value}")
    return ", ".join(found) or None


def _kernels(torch: Any) -> str:  # noqa: ANN401
    switches = {
        name: getattr(torch.backends.cuda, f"{name}_sdp_enabled", None) for name in _ATTENTION
    }
    return ", ".join(name for name, is_on in switches.items() if is_on is not None and is_on())
