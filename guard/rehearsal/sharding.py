"""FSDP and tensor parallelism, left out: one process holds all of a model, and runs all of it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map_only

from guard.observe.arrival import when_imported
from guard.observe.patching import replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.rehearsal.recorder import Recorder

_FSDP = "torch.distributed.fsdp"
_TENSOR = "torch.distributed.tensor.parallel"
_NOTE = "{} was left out: the model was taken to be whole, and what runs between ranks was not seen"


def install(stack: ExitStack, recorder: Recorder) -> None:
    """Leave them out as soon as the program imports them, until the stack is closed."""
    stack.callback(when_imported(_FSDP, lambda: _shard(stack, recorder)))
    stack.callback(when_imported(_TENSOR, lambda: _parallelize(stack, recorder)))


def _shard(stack: ExitStack, recorder: Recorder) -> None:
    fsdp: Any = sys.modules[_FSDP]
    replace(stack, fsdp, "FullyShardedDataParallel", _wrapper(recorder))
    if hasattr(fsdp, "fully_shard"):
        replace(stack, fsdp, "fully_shard", _fully_shard(fsdp.FSDPModule, recorder))
        _answer(stack)


def _wrapper(recorder: Recorder) -> type[torch.nn.Module]:
    class FullyShardedDataParallel(torch.nn.Module):
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

        def forward(self, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
            inputs, options = tree_map_only(torch.Tensor, torch.Tensor.cuda, (inputs, options))
            return self.module(*inputs, **options)

        def clip_grad_norm_(self, *args: Any, **options: Any) -> torch.Tensor:
            return torch.nn.utils.clip_grad_norm_(self.parameters(), *args, **options)

        def no_sync(self) -> Any:  # noqa: ANN401
            return nullcontext()

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
