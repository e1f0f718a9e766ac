"""Switching guard on and off: the stages, in order, and undone in reverse."""

from __future__ import annotations

import atexit
import importlib
import multiprocessing
import threading
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch, loaded
from guard.errors import GuardError, LateWarning, SettingsError, TooLateError
from guard.observe.patching import send_along
from guard.settings import Settings, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What runs first is undone last. The environment is read when CUDA starts, so it comes first.
_STAGES = (
    "guard.setup.environment",
    "guard.setup.seeding",
    "guard.setup.flags",
    "guard.repairs",
    "guard.refusals.watch",
    "guard.setup.draws",
)

_lock = threading.RLock()
_blocks: list[Settings] = []  # of the blocks that are open, outermost first
_enabled: tuple[Settings, ExitStack] | None = None


def enable(seed: int | None = None, **options: Any) -> None:
    """Make the process deterministic from here on; call it first at the entrypoint.

    ``seed`` defaults to ``GUARD_SEED``, then to ``[tool.guard]``, then to 0; ``options`` are
    those of ``guard.Settings``. A second call does nothing, unless it gives other settings. Raises
    SettingsError for a value that is not legal, or for other settings than those in force;
    TooLateError where something has to be set earlier.
    """
    global _enabled  # noqa: PLW0603 - it is about the process
    given = options if seed is None else {"seed": seed, **options}
    settings = load(**given)
    with _lock:
        if _enabled is not None:
            _check_same(given, settings, _enabled[0])
            return
        if _blocks:
            raise GuardError(
                "guard.enable inside `with guard.deterministic` would be undone by its end: "
                "call it before the block (a test leaves --guard by @pytest.mark.guard(False))"
            )
        with ExitStack() as stack:
            _enter(settings, stack)
            _enabled = (settings, stack.pop_all())
        # Else the stages end while the interpreter takes modules apart.
        atexit.register(disable)


def _check_same(given: Iterable[str], asked: Settings, current: Settings) -> None:
    """Refuse settings that are given here and others there; what is left out is in force."""
    for name in given:
        now, then = getattr(asked, name), getattr(current, name)
        if now != then:
            raise SettingsError(
                f"guard is enabled with {name}={then!r} already, and asked for {name}={now!r}: "
                "call guard.disable() first, or use `with guard.deterministic(...)` for a block"
            )


def disable() -> None:
    """Undo ``guard.enable``: everything is as it was found. Does nothing if it is off."""
    global _enabled  # noqa: PLW0603
    with _lock:
        if _blocks:
            raise GuardError(
                "guard.disable inside `with guard.deterministic`: leave the block first"
            )
        if _enabled is None:
            return
        _, stack = _enabled
        _enabled = None
        atexit.unregister(disable)
        stack.close()


def active() -> Settings | None:
    """The settings in force here: of the innermost block, or of ``guard.enable``; else None."""
    if _blocks:
        return _blocks[-1]
    return _enabled[0] if _enabled is not None else None


@contextmanager
def deterministic(seed: int | None = None, **options: Any) -> Iterator[Settings]:
    """Make a block deterministic, and put back everything that it found, also on an error.

    Takes what ``guard.enable`` takes. Blocks may be nested, and stand under
    ``guard.enable``: the innermost settings hold. torch's refusals that leave the block
    are explained, as in NondeterministicOperationError.
    """
    settings = load(seed=seed, **options)
    with ExitStack() as stack:
        with _lock:
            _enter(settings, stack)
            _blocks.append(settings)
            stack.callback(_leave, settings)
        yield settings


def _leave(settings: Settings) -> None:
    """Forget a block: itself, should an inner one have been left open."""
    _blocks[:] = [each for each in _blocks if each is not settings]


def _enter(settings: Settings, stack: ExitStack) -> None:
    torch = import_torch("guard")
    if not hasattr(torch.utils, "deterministic"):  # came with 2.2
        raise GuardError(
            f"guard needs torch 2.2 or newer, and this is {torch.__version__}: "
            'pip install --upgrade "torch>=2.2"'
        )
    _check_moment()
    for name in _STAGES:
        stage = importlib.import_module(name)
        stack.enter_context(stage.applied(settings))
    # What multiprocessing spawns begins under guard; the program may enable it there once more.
    send_along(stack, "guard", partial(enable, **asdict(settings)))


def _check_moment() -> None:
    """Say what this process can no longer have."""
    torch: Any = loaded("torch")
    if torch.cuda._is_in_bad_fork():  # noqa: SLF001 - the only place that knows
        raise TooLateError(
            "this process was forked after CUDA had started, and cannot use CUDA: enable guard "
            'before the fork, or start processes with multiprocessing.set_start_method("spawn")'
        )
    children = [each.name for each in multiprocessing.active_children()]
    if children:
        count = "1 process was" if len(children) == 1 else f"{len(children)} processes were"
        names = ", ".join(children[:3]) + (", …" if len(children) > 3 else "")
        warnings.warn(
            f"{count} started before guard was enabled ({names}) and will run without it: enable "
            "guard before DataLoaders and pools are iterated",
            LateWarning,
            stacklevel=4,
        )
