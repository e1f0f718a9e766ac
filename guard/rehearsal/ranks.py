"""One process in the place of several that train together: nothing is sent, all goes on.

FSDP and tensor parallelism are left out: one process holds all of a model, and runs all of it.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed
from torch.utils._pytree import tree_map_only

from guard.observe.patching import around, replace, when_imported
from guard.observe.places import is_installed

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.rehearsal.recorder import Recorder

    Function = Callable[..., Any]

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

    @around(stack, distributed, "init_process_group")
    def begun(original: Function, *_: Any, **options: Any) -> None:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        if not distributed.is_initialized():
            size = max(world, options.get("world_size") or 1)
            original(backend="fake", rank=0, world_size=size, store=FakeStore())

    for owner in (distributed.distributed_c10d, distributed.device_mesh):
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

    @around(stack, BaseProcess, "start")
    def _(original: Function, process: Any) -> None:  # noqa: ANN401
        target = process._target  # noqa: SLF001 - it is not told otherwise
        code = getattr(target, "__code__", None)
        if code is None or is_installed(code.co_filename):
            original(process)
            return
        process._run_here = True  # noqa: SLF001 - ours
        target(*process._args, **process._kwargs)  # noqa: SLF001

    def unless_run(original: Function, process: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if "_run_here" in vars(process):
            return False if original.__name__ == "is_alive" else None
        return original(process, *args, **options)

    for name in ("join", "is_alive", "terminate", "kill"):
        around(stack, BaseProcess, name)(unless_run)


def _spawned(function: Callable[..., None], args: tuple[Any, ...] = (), *_: Any, **__: Any) -> None:
    """The first of the processes, here: others would not know of the rehearsal."""
    function(0, *args)


def _gathered(output: list[Any], value: Any, *_: Any, **__: Any) -> _Work:  # noqa: ANN401
    for place in range(len(output)):
        output[place] = value
    return _Work()


class _Alone(torch.nn.Module):
    """A wrapper that calls the module, and neither copies nor sends anything.

    It moves what the module is given to the device where torch's does: with ``device_ids``.
    """

    module: torch.nn.Module
    _moves = True

    def forward(self, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        if self._moves:
            inputs, options = tree_map_only(torch.Tensor, torch.Tensor.cuda, (inputs, options))
        return self.module(*inputs, **options)

    def no_sync(self) -> Any:  # noqa: ANN401
        return nullcontext()


def _wrap(stack: ExitStack, kind: Any) -> None:  # noqa: ANN401 - a class
    """Have a class of torch's wrap so."""

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
        self._moves = kind is torch.nn.DataParallel or bool(device_ids)

    replace(stack, kind, "__init__", init)
    replace(stack, kind, "forward", _Alone.forward)
    if hasattr(kind, "no_sync"):
        replace(stack, kind, "no_sync", _Alone.no_sync)
    for name in ("register_comm_hook", "_set_static_graph"):
        if hasattr(kind, name):
            replace(stack, kind, name, lambda *_, **__: None)


_FSDP = "torch.distributed.fsdp"
_TENSOR = "torch.distributed.tensor.parallel"
_NOTE = "{} was left out: the model was taken to be whole, and what runs between ranks was not seen"


def install_sharding(stack: ExitStack, recorder: Recorder) -> None:
    """Leave them out as soon as the program imports them, until the stack is closed."""
    stack.callback(when_imported(_FSDP, lambda: _shard(stack, recorder)))
    stack.callback(when_imported(_TENSOR, lambda: _parallelize(stack, recorder)))


def _shard(stack: ExitStack, recorder: Recorder) -> None:
    fsdp: Any = sys.modules[_FSDP]
    replace(stack, fsdp, "FullyShardedDataParallel", _sharded(recorder))
    if hasattr(fsdp, "fully_shard"):
        replace(stack, fsdp, "fully_shard", _fully_shard(fsdp.FSDPModule, recorder))
        _answer(stack)


def _sharded(recorder: Recorder) -> type[torch.nn.Module]:
    class FullyShardedDataParallel(_Alone):
        """Calls the module, on the device."""

        def __init__(self, module: torch.nn.Module, *_: Any, **__: Any) -> None:
            super().__init__()
            self.module = module.cuda()
            _left_out(recorder, "FSDP")

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("module"), name)

        def clip_grad_norm_(self, *args: Any, **options: Any) -> torch.Tensor:
            return torch.nn.utils.clip_grad_norm_(self.parameters(), *args, **options)

        @staticmethod
        def summon_full_params(*_: Any, **__: Any) -> Any:  # noqa: ANN401
            return nullcontext()

        state_dict_type = set_state_dict_type = summon_full_params

    return FullyShardedDataParallel


def _answer(stack: ExitStack) -> None:
    """Have tensors answer as their shards would."""
    from torch.distributed.tensor import Shard

    add: Any = torch.Tensor
    add.to_local = add.full_tensor = lambda self, **_: self
    add.placements = (Shard(0),)
    for name in ("to_local", "full_tensor", "placements"):
        stack.callback(delattr, add, name)


def _fully_shard(kind: type, recorder: Recorder) -> Callable[..., Any]:
    def nothing(*_: Any, **__: Any) -> None:
        """Of what such a module has beside the original one: there is nothing to gather."""

    methods = {name: nothing for name in vars(kind) if not name.startswith("_")}

    def fully_shard(module: Any, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - one, or a list
        _left_out(recorder, "FSDP")
        for each in module if isinstance(module, (list, tuple)) else (module,):
            before = type(each)
            each.__class__ = type(f"FSDP{before.__name__}", (_of(kind), before), dict(methods))
        return module

    return fully_shard


def _of(kind: type) -> type:
    """A class that is one of a kind by its instances, and has nothing of it."""
    own = {"_apply": torch.nn.Module._apply, "__new__": object.__new__}  # noqa: SLF001 - torch's
    return type(kind.__name__, (kind,), own)


def _parallelize(stack: ExitStack, recorder: Recorder) -> None:
    tensor: Any = sys.modules[_TENSOR]

    def parallelize_module(module: torch.nn.Module, *_: Any, **__: Any) -> torch.nn.Module:
        _left_out(recorder, "tensor parallelism")
        return module

    replace(stack, tensor, "parallelize_module", parallelize_module)


def _left_out(recorder: Recorder, what: str) -> None:
    note = _NOTE.format(what)
    if note not in recorder.notes:
        recorder.notes.append(note)
