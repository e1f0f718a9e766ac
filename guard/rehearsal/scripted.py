"""What a script expects of torch that a step alone does not: loading, saving, seeds, ranks, GPUs by
their numbers, and an end when enough optimizer steps are done."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils import _device as contexts

from guard.observe import places
from guard.observe.modes import follow_making, follow_steps
from guard.observe.patching import around, replace
from guard.rehearsal import absent, ranks, values

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.rehearsal.fake_cuda import FakeCuda
    from guard.rehearsal.recorder import Recorder

    Function = Callable[..., Any]
    Optimizer = torch.optim.Optimizer

_FACTORIES = (
    "zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "tensor", "as_tensor",
    "arange", "linspace", "eye", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like",
    "randn_like", "empty_strided",
)  # fmt: skip


def install(
    stack: ExitStack,
    recorder: Recorder,
    mode: FakeCuda,
    enough: Callable[[int], bool],
    world: int,
) -> None:
    """Patch this process, which ends with the script."""
    _parameters(stack, mode)
    _numbers(stack, recorder)
    _files(stack)
    _loaders(stack)
    _seeds(stack, recorder)
    install_optimizers(stack, recorder, enough)
    ranks.install(stack, world)
    ranks.install_sharding(stack, recorder)
    install_numbers(stack)
    absent.install(stack, recorder)
    absent.install_vision(stack, recorder)


def _parameters(stack: ExitStack, mode: FakeCuda) -> None:
    """Parameters have no memory from the start, so that models of any size can be made."""
    original = torch.nn.Parameter.__new__

    def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:  # noqa: ANN401
        if type(data) is torch.Tensor and data.device.type == "cpu":
            is_plain = data.layout is torch.strided and not data.is_quantized
            data = _faked(data, mode) if is_plain else data
        return original(cls, data, requires_grad)

    replace(stack, torch.nn.Parameter, "__new__", staticmethod(new))


def _faked(data: torch.Tensor, mode: FakeCuda) -> torch.Tensor:
    with unset_fake_temporarily():
        shape = torch.empty_strided(data.shape, data.stride(), dtype=data.dtype, device="meta")
        fake = FakeTensor(mode.mode, shape, torch.device("cpu"))
        values.give(fake, data.detach().clone() if data.numel() <= values.LIMIT else data)
    return fake


def _numbers(stack: ExitStack, recorder: Recorder) -> None:
    @around(stack, torch.Tensor, "numpy")
    def numpy(original: Function, self: torch.Tensor, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if not isinstance(self, FakeTensor):
            return original(self, *args, **options)
        known = values.of(self)
        with unset_fake_temporarily():
            if known is not None:
                return original(known.detach().clone(), *args, **options)
            recorder.guessed("an array read from the device is taken to hold ones")
            return original(torch.ones(tuple(self.shape), dtype=self.dtype), *args, **options)

    def array(self: torch.Tensor, dtype: Any = None, **_: Any) -> Any:  # noqa: ANN401
        found = numpy(self.detach())
        return found if dtype is None else found.astype(dtype, copy=False)

    @around(stack, torch.Tensor, "share_memory_")
    def _(original: Function, self: torch.Tensor) -> Any:  # noqa: ANN401
        return self if isinstance(self, FakeTensor) else original(self)

    replace(stack, FakeTensor, "__array__", array)
    replace(stack, FakeTensor, "data_ptr", lambda _: 0)
    replace(stack, torch.Tensor, "pin_memory", lambda self, *_, **__: self)
    replace(stack, torch.Tensor, "is_pinned", lambda *_, **__: False)


def _files(stack: ExitStack) -> None:
    @around(stack, torch, "load")
    def _(
        original: Function, file: object, map_location: object = None, *args: Any, **given: Any
    ) -> Any:  # noqa: ANN401
        del map_location  # what is loaded is put where a fake tensor is
        return original(file, "cpu", *args, **given)

    replace(stack, torch, "save", lambda *_, **__: None)


_OF_LOADERS = (
    "dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn",
    "pin_memory", "drop_last", "timeout", "worker_init_fn",
)  # fmt: skip
_OF_WORKERS = {
    "num_workers", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context",
    "prefetch_factor", "persistent_workers", "pin_memory_device", "in_order",
}  # fmt: skip


def _loaders(stack: ExitStack) -> None:
    """Without workers, which would have to be started only to be stopped."""

    @around(stack, torch.utils.data.DataLoader, "__init__")
    def _(original: Function, self: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401
        given = dict(zip(_OF_LOADERS, args, strict=False)) | options
        original(self, **{name: each for name, each in given.items() if name not in _OF_WORKERS})


def _seeds(stack: ExitStack, recorder: Recorder) -> None:
    """Note that the program seeds torch."""

    def seeding(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        recorder.draws.seeded["torch"] = True
        with unset_fake_temporarily():
            return original(*args, **options)

    @around(stack, torch, "seed")
    def _(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        with unset_fake_temporarily():
            seed = original(*args, **options)
        recorder.draws.seeded["torch"] = False  # after it: it seeds the GPUs with what it drew
        return seed

    def on_gpus(seed: int) -> None:
        del seed
        recorder.draws.seeded["torch"] = True

    around(stack, torch, "manual_seed")(seeding)
    around(stack, torch, "set_rng_state")(seeding)
    for name in ("seed", "manual_seed"):
        replace(stack, torch.random, name, getattr(torch, name))
    for name in ("manual_seed", "manual_seed_all"):
        replace(stack, torch.cuda, name, on_gpus)


def install_numbers(stack: ExitStack) -> None:
    """Understand such numbers, until the stack is closed."""
    # torch asks once which functions ``torch.device`` as a context gives its device to.
    contexts._device_constructors()  # noqa: SLF001 - a cache, to be filled with its own
    tensor, module = torch.Tensor, torch.nn.Module
    for name in _FACTORIES:
        around(stack, torch, name)(_named)
    around(stack, tensor, "to")(_moving)
    around(stack, module, "to")(_moving)
    replace(stack, tensor, "cuda", _cuda)
    replace(stack, module, "cuda", lambda self, device=None: self.to(_device(device)))


def _named(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
    if type(options.get("device")) is int:
        options["device"] = _device(options["device"])
    return original(*args, **options)


def _moving(original: Function, self: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
    if args and type(args[0]) is int:
        args = (_device(args[0]), *args[1:])
    return _named(original, self, *args, **options)


def _cuda(self: torch.Tensor, device: Any = None, *_: Any, **__: Any) -> torch.Tensor:  # noqa: ANN401
    return self.to(_device(device))


def _device(device: Any) -> torch.device:  # noqa: ANN401 - a number, a name, a device, or None
    if device is None:
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cuda", device) if isinstance(device, int) else torch.device(device)


def install_optimizers(stack: ExitStack, recorder: Recorder, enough: Callable[[int], bool]) -> None:
    """Call the recorder's end when all optimizers have done their steps.

    With several, as in a GAN, those that never step would be waited for in vain: one that begins
    a step more than was asked for ends it as well. Where there is none, because the program
    updates by hand, a step ends where a line begins its next backward.
    """
    known: weakref.WeakSet[Any] = weakref.WeakSet()
    steps: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def before(optimizer: Optimizer, *_: object) -> None:
        if enough(steps.get(optimizer, 0)):
            recorder.finish()

    def after(optimizer: Optimizer, *_: object) -> None:
        steps[optimizer] = steps.get(optimizer, 0) + 1
        recorder.steps = max(recorder.steps, steps[optimizer])
        if all(enough(steps.get(each, 0)) for each in known):
            recorder.finish()

    begun: Counter[places.Place | None] = Counter()

    def starts() -> None:
        trail = places.here()
        place = None if trail is None else trail.place
        if not known and begun[place] and enough(begun[place]):
            recorder.steps = begun[place]
            recorder.notes.append(
                "no optimizer of torch was made: a step was taken to end where the same line, "
                f"{place}, began its next backward"
            )
            recorder.finish()
        begun[place] += 1

    recorder.starts = starts
    follow_making(stack, known.add)
    follow_steps(stack, before, after)
