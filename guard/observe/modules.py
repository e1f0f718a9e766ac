"""Seeing every call of a module.

``torch.nn.Module.__call__`` is replaced, and no global hook is registered: those take modules off
their short path, make torch.compile warn, and fire again within compiled code.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import TYPE_CHECKING, Any

import torch

from guard.observe.modes import is_traced, modes, state
from guard.observe.patching import replace

if TYPE_CHECKING:
    from contextlib import ExitStack

    from guard.recording.session import Session


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of each call, until the stack is closed."""
    original: Any = torch.nn.Module.__call__
    # torch 2.2 has none; there, compiled code breaks off at each module.
    is_compiling = getattr(torch.compiler, "is_compiling", bool)
    thread, frame = threading.get_ident, sys._getframe  # noqa: SLF001

    # Some 100 times a step: to give what it is given to the original takes half the time where the
    # module is part of it, and the commonest case does without other calls.
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        __tracebackhide__ = True
        if is_compiling():  # a compiler traces the call itself
            return original(*args, **kwargs)
        recorder = session.recorder
        if (
            recorder is None
            or recorder.muted
            or (thread() != recorder.thread and not recorder.backwards)
            or ((state() is not None or modes()) and is_traced())
        ):
            return original(*args, **kwargs)
        calls = recorder.calls
        places = calls.places
        depth = len(places)
        known, caller = calls.known.get(id(args[0])), frame(1)
        if (
            depth
            and known is not None
            and known.instruction == caller.f_lasti
            and known.code is caller.f_code
        ):
            places.append(known.place or places[-1])
        else:
            known = calls.enter(caller, args, kwargs)
        try:
            result = original(*args, **kwargs)
        except BaseException:
            calls.drop(depth)
            raise
        # Meanwhile the recorder may have begun to follow another thread, which trains.
        if known is not None and recorder.calls is calls:
            calls.leave(known, result)
        return result

    replace(stack, torch.nn.Module, "__call__", call)
