"""One process in the place of several that train together: nothing is sent, all goes on."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed
from torch.utils._pytree import tree_map_only

from guard.observe.patching import replace
from guard.observe.places import is_installed

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
    begun = _initialized(distributed.init_process_group, world)
    for owner in (distributed, distributed.distributed_c10d, distributed.device_mesh):
        replace(stack, owner, "init_process_group", begun)
    for name in _NOTHING:
        replace(stack, distributed, name, lambda *_, **__: _Work())
    replace(stack, distributed, "all_gather", _gathered)
    replace(stack, distributed, "all_gather_object", _gathered)
    replace(stack, distributed, "all_gather_into_tensor", lambda *_, **__: _Work())
    replace(stack, distributed, "reduce_scatter_tensor", lambda *_, **__: _Work())
    replace(stack, distributed, "is_nccl_available", lambda: True)
    replace(stack, torch.cuda.nccl, "version", lambda: _NCCL)
    replace(stack, torch.multiprocessing, "spawn", _spawned)
    _start_here(stack)
    _wrap(stack, torch.nn.parallel.DistributedDataParallel)
    _wrap(stack, torch.nn.DataParallel)


def _start_here(stack: ExitStack) -> None:
    """Processes that run a function of the program's own run it here, one after the other."""
    start: Any = BaseProcess.start

    def start_(process: Any) -> None:  # noqa: ANN401
        target = process._target  # noqa: SLF001 - it is not told otherwise
        code = getattr(target, "__code__", None)
        if code is None or is_installed(code.co_filename):
            start(process)
            return
        process._run_here = True  # noqa: SLF001 - ours
        target(*process._args, **process._kwargs)  # noqa: SLF001

    replace(stack, BaseProcess, "start", start_)
    for name, value in (("join", None), ("is_alive", False), ("terminate", None), ("kill", None)):
        replace(stack, BaseProcess, name, _unless_run(getattr(BaseProcess, name), value))


def _unless_run(original: Callable[..., Any], value: Any) -> Callable[..., Any]:  # noqa: ANN401
    def call(process: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        return value if "_run_here" in vars(process) else original(process, *args, **options)

    return call


def _initialized(original: Callable[..., None], world: int) -> Callable[..., None]:
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
    """A wrapper that calls the module, and neither copies nor sends anything.

    It moves what the module is given to the device where torch's does: with ``device_ids``.
    """
    moves = kind is torch.nn.DataParallel

    def init(
        self: Any,  # noqa: ANN401
        module: torch.nn.Module,
        device_ids: Any = None,  # noqa: ANN401
        *_: Any,
        **__: Any,
    ) -> None:
        torch.nn.Module.__init__(self)
        self.module = module
        self.require_backward_grad_sync = True
        self.device_ids = [0]
        self.device = torch.device("cuda", 0)
        self.find_unused_parameters = False
        self.static_graph = False
        self._moves = moves or bool(device_ids)

    def forward(self: Any, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        if self._moves:
            inputs, options = tree_map_only(torch.Tensor, torch.Tensor.cuda, (inputs, options))
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
