"""What is recorded may not disturb the program."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

_functions = torch._C._len_torch_function_stack  # noqa: SLF001 - modes, such as a default device


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Past the program's modes; an error of ours ends the recording, and not the program."""

    @functools.wraps(method)
    def call(self: Any, *args: Any) -> Any:  # noqa: ANN401 - what has a sink
        try:
            if _functions():
                with torch._C.DisableTorchFunction():  # noqa: SLF001
                    return method(self, *args)
            return method(self, *args)
        except Exception as error:  # noqa: BLE001 - the one place for all that is recorded
            self.sink.fail(error)
            return None

    return call
