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

from guard.interception import replace
from guard.recording.tracing import is_traced

if TYPE_CHECKING:
    from contextlib import ExitStack

    from guard.recording.session import Session


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of each call, until the stack is closed."""
    original: Any = torch.nn.Module.__call__
    # torch 2.2 has none; there, compiled code breaks off at each module.
    is_compiling = getattr(torch.compiler, "is_compiling", bool)
    thread, frame = threading.get_ident, sys._getframe  # noqa: SLF001

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        __tracebackhide__ = True
        if is_compiling():  # a compiler traces the call itself
            return original(self, *args, **kwargs)
        recorder = session.recorder
        if (
            recorder is None
            or recorder.muted
            or (thread() != recorder.thread and not recorder.backwards)
            or is_traced()
        ):
            return original(self, *args, **kwargs)
        depth = len(recorder.calls)
        known = recorder.enter(self, frame(1), args, kwargs)
        try:
            result = original(self, *args, **kwargs)
        except BaseException:
            recorder.drop(depth)
            raise
        # Meanwhile the recorder may have begun to follow another thread, which trains.
        is_followed = thread() == recorder.thread or recorder.backwards
        if known is not None and is_followed and len(recorder.calls) > depth:
            recorder.leave(known, result)
        return result

    replace(stack, torch.nn.Module, "__call__", call)
