"""One process in the place of several that train together: nothing is sent, all goes on."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

from guard.observe.patching import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack

_NOTHING = (
    "all_reduce", "broadcast", "reduce", "barrier", "monitored_barrier", "broadcast_object_list",
    "send", "recv", "destroy_process_group",
)  # fmt: skip

_NCCL = (2, 27, 5)  # some version: programs ask for the least that they need


class _Work:
    """What was asked for is done already."""

    def wait(self, *_: Any, **__: Any) -> bool:
        return True

    def is_completed(self) -> bool:
        return True


def install(stack: ExitStack, world: int) -> None:
    """Have a group of so many ranks that is none, and wrappers that add nothing."""
    if not distributed.is_available():
        return
    replace(stack, distributed, "init_process_group", _initialized(stack, world))
    for name in _NOTHING:
        replace(stack, distributed, name, lambda *_, **__: _Work())
    replace(stack, distributed, "all_gather", _gathered)
    replace(stack, distributed, "all_gather_object", _gathered)
    replace(stack, distributed, "all_gather_into_tensor", lambda *_, **__: _Work())
    replace(stack, distributed, "reduce_scatter_tensor", lambda *_, **__: _Work())
    replace(stack, distributed, "is_nccl_available", lambda: True)
    replace(stack, torch.cuda.nccl, "version", lambda: _NCCL)
    replace(stack, torch.multiprocessing, "spawn", _spawned)
    _wrap(stack, torch.nn.parallel.DistributedDataParallel)
    _wrap(stack, torch.nn.DataParallel)


def _initialized(stack: ExitStack, world: int) -> Callable[..., None]:
    original = distributed.init_process_group
    del stack

    @functools.wraps(original)
    def init_process_group(*_: Any, **options: Any) -> None:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        if not distributed.is_initialized():
            size = max(world, options.get("world_size") or 1)
            original(backend="fake", rank=0, world_size=size, store=FakeStore())

    return init_process_group


def _spawned(function: Callable[..., None], args: tuple[Any, ...] = (), *_: Any, **__: Any) -> None:
    """The first of the processes, here: others would not know of the rehearsal."""
    function(0, *args)


def _gathered(output: list[Any], value: Any, *_: Any, **__: Any) -> _Work:  # noqa: ANN401
    for place in range(len(output)):
        output[place] = value
    return _Work()


def _wrap(stack: ExitStack, kind: Any) -> None:  # noqa: ANN401 - a class
    """A wrapper that calls the module, and neither copies nor sends anything."""

    def init(self: Any, module: torch.nn.Module, *_: Any, **__: Any) -> None:  # noqa: ANN401
        torch.nn.Module.__init__(self)
        self.module = module
        self.require_backward_grad_sync = True
        self.device_ids = [0]
        self.device = torch.device("cuda", 0)
        self.find_unused_parameters = False
        self.static_graph = False

    def forward(self: Any, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        return self.module(*inputs, **options)

    @contextmanager
    def no_sync(_: Any) -> Iterator[None]:  # noqa: ANN401
        yield

    replace(stack, kind, "__init__", init)
    replace(stack, kind, "forward", forward)
    if hasattr(kind, "no_sync"):
        replace(stack, kind, "no_sync", no_sync)
    for name in ("register_comm_hook", "_set_static_graph"):
        if hasattr(kind, name):
            replace(stack, kind, name, lambda *_, **__: None)
