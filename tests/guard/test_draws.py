"""Comparing runs: dropout taken out, and random tensors drawn on the CPU."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from programs import write

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.overrides import get_testing_overrides, resolve_name  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import guard  # noqa: E402
from guard.observe.modes import Run, draws  # noqa: E402
from guard.settings import Settings  # noqa: E402
from guard.setup.draws import (  # noqa: E402
    FUNCTIONS,
    Twins,
    _copy,
    _drops,
    _refusal,
    applied,
    unfused_attention,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forks import Forks

WITHOUT = Settings(dropout=False)
ON_CPU = Settings(rng="cpu")
CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def test_by_default_nothing_is_entered() -> None:
    with applied(Settings()):
        assert torch._C._len_torch_function_stack() == 0
        assert torch._C._len_torch_dispatch_stack() == 0


# Without dropout


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (nn.Dropout(), (4, 8)),
        (nn.Dropout(inplace=True), (4, 8)),
        (nn.Dropout1d(), (4, 8, 2)),
        (nn.Dropout2d(), (4, 8, 2, 2)),
        (nn.Dropout3d(), (4, 8, 2, 2, 2)),
        (nn.AlphaDropout(), (4, 8)),
        (nn.AlphaDropout(inplace=True), (4, 8)),
        (nn.FeatureAlphaDropout(), (4, 8, 2)),
    ],
    ids=repr,
)
def test_a_module_passes_its_input_through(module: nn.Module, shape: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    with applied(WITHOUT):
        assert torch.equal(module(x.clone()), x)
    assert not torch.equal(module(x.clone()), x)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: functional.dropout(x, 0.5),
        lambda x: functional.dropout(x, p=0.5, training=True),
        lambda x: functional.dropout(input=x, p=0.5),
        lambda x: functional.alpha_dropout(x, 0.5, True),
        lambda x: torch.dropout(x, 0.5, True),
        lambda x: torch.dropout_(x, p=0.5, train=True),
        lambda x: torch.native_dropout(x, 0.5, True)[0],
        lambda x: torch.feature_dropout(x, 0.5, True),
        lambda x: torch.alpha_dropout(x, 0.5, True),
    ],
)
def test_a_function_passes_its_input_through(call: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.ones(16, 16)
    with applied(WITHOUT):
        assert torch.equal(call(x.clone()), x)
    assert not torch.equal(call(x.clone()), x)


def test_attention_drops_nothing() -> None:
    q = torch.randn(1, 2, 8, 8)
    attention = functional.scaled_dot_product_attention
    expected = attention(q, q, q)
    with applied(WITHOUT):
        assert torch.equal(attention(q, q, q, dropout_p=0.5), expected)
        assert torch.equal(attention(q, q, q, None, 0.5), expected)
    assert not torch.equal(attention(q, q, q, None, 0.5), expected)


@pytest.mark.parametrize("need_weights", [True, False])
def test_multi_head_attention_drops_nothing(need_weights: bool) -> None:
    x = torch.randn(4, 6, 8)
    layer = nn.MultiheadAttention(8, 2, dropout=0.5)
    expected = nn.MultiheadAttention(8, 2)
    expected.load_state_dict(layer.state_dict())
    with applied(WITHOUT):
        result = layer(x, x, x, need_weights=need_weights)[0]
    assert torch.equal(result, expected(x, x, x, need_weights=need_weights)[0])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("packed", [False, True])
def test_recurrent_layers_drop_nothing_between_layers(kind: Any, packed: bool) -> None:  # noqa: ANN401
    x: Any = torch.randn(3, 5, 8)
    if packed:
        x = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 4, 2]), batch_first=True)
    layer = kind(8, 8, num_layers=2, dropout=0.5, batch_first=True)
    expected = kind(8, 8, num_layers=2, batch_first=True)
    expected.load_state_dict(layer.state_dict())

    def output(of: nn.Module) -> torch.Tensor:
        result = of(x)[0]
        return result.data if packed else result

    with applied(WITHOUT):
        assert torch.equal(output(layer), output(expected))
    assert not torch.equal(output(layer), output(expected))


def model() -> nn.Module:
    """Dropout within modules within modules."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Sequential(nn.Dropout()))


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_training_step_repeats_without_drawing_also_what_it_recomputes(reentrant: bool) -> None:
    net, x = model(), torch.randn(2, 3, 8, requires_grad=True)
    state = torch.get_rng_state()

    def step() -> list[torch.Tensor]:
        net.zero_grad()
        checkpoint(net, x, use_reentrant=reentrant).sum().backward()
        return [each.grad.clone() for each in net.parameters() if each.grad is not None]

    with applied(WITHOUT):
        first, second = step(), step()
    assert all(torch.equal(*pair) for pair in zip(first, second, strict=True))
    assert torch.equal(torch.get_rng_state(), state)
    assert not all(torch.equal(*pair) for pair in zip(first, step(), strict=True))


def test_dropout_is_back_after_an_error() -> None:
    found = torch.autograd.Variable._execution_engine
    with pytest.raises(ZeroDivisionError), applied(WITHOUT):
        raise ZeroDivisionError
    assert torch._C._len_torch_function_stack() == 0
    assert torch.autograd.Variable._execution_engine is found


def test_the_innermost_block_holds() -> None:
    x = torch.ones(64)
    with applied(WITHOUT):
        with applied(Settings()):
            assert not torch.equal(functional.dropout(x), x)
            with applied(WITHOUT):
                assert torch.equal(functional.dropout(x), x)
        assert torch.equal(functional.dropout(x), x)
    assert not torch.equal(functional.dropout(x), x)


def test_a_compiled_model_drops_nothing_and_drops_again() -> None:
    x = torch.randn(4, 8)
    compiled = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.Dropout()), backend="aot_eager")
    compiled(x)
    with applied(WITHOUT):
        expected = compiled._orig_mod[0](x)
        assert torch.equal(compiled(x), expected)
    assert not torch.equal(compiled(x), expected)


def test_what_the_docs_say_is_not_reached_is_not() -> None:
    x = torch.ones(64, 64)
    with pytest.warns(DeprecationWarning, match=r"torch\.jit"):
        scripted = torch.jit.script(nn.Dropout())  # for an interpreter of its own
    with applied(WITHOUT):
        assert not torch.equal(scripted(x), x)
        assert not torch.equal(torch.empty_like(x).bernoulli_(0.5) * x, x)


def test_the_table_holds_every_function_of_torch_that_drops_out() -> None:
    import inspect

    def path(function: Callable[..., Any]) -> str:
        return str(resolve_name(function)).removeprefix("torch.")

    found = {
        path(function)
        for function, stand_in in get_testing_overrides().items()
        if "dropout" in path(function) + str(inspect.signature(stand_in))
    }
    # An operator of ROCm that torch.lstm and its like call.
    assert found - {"miopen_rnn"} <= {function.path for function in FUNCTIONS}


def test_the_table_has_the_arguments_where_torch_has_them() -> None:
    import inspect

    for function in FUNCTIONS:
        call: Any = torch
        for part in function.path.split("."):
            call = getattr(call, part)
        try:
            names = list(inspect.signature(call).parameters)
        except ValueError:  # written in C: its stand-in has the signature
            continue
        assert names[function.position] == function.argument, function.path


# Drawn on the CPU


def overloads() -> list[Any]:
    """Every overload of aten that torch tags as drawing random numbers."""
    found = []
    for full in torch._C._dispatch_get_all_op_names():
        space, _, name = full.partition("::")
        name, _, overload = name.partition(".")
        if space == "aten" and hasattr(torch.ops.aten, name):
            found.append(getattr(getattr(torch.ops.aten, name), overload or "default"))
    return [each for each in found if torch.Tag.nondeterministic_seeded in each.tags]


def test_every_tagged_overload_draws_but_the_one_that_chooses_a_kernel() -> None:
    tagged = overloads()
    assert len(tagged) > 140  # 149 in torch 2.13
    chooser = torch.ops.aten._fused_sdp_choice.default
    assert [each for each in tagged if not draws(each)] == [chooser]
    assert not draws(torch.ops.aten.add.Tensor)


def test_what_the_cpu_cannot_draw_has_dropout_of_its_own() -> None:
    has_kernel = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    rest = {
        each._schema.name
        for each in overloads()
        if not has_kernel(each.name(), "CPU")
        and not {"dropout", "dropout_p"} & {argument.name for argument in each._schema.arguments}
    }
    assert rest <= {
        "aten::_flash_attention_forward_no_dropout_inplace",  # draws nothing
        "aten::_nested_tensor_softmax_with_shape",  # neither
        "aten::_fused_dropout",  # torch.nn does not call it
    }


def test_on_the_cpu_nothing_changes() -> None:
    torch.manual_seed(0)
    expected = torch.randn(3), nn.Dropout()(torch.ones(9)), torch.randperm(5)
    torch.manual_seed(0)
    with applied(ON_CPU):
        drawn = torch.randn(3), nn.Dropout()(torch.ones(9)), torch.randperm(5)
        assert torch.rand(3, device="meta").device.type == "meta"
    assert all(torch.equal(*pair) for pair in zip(drawn, expected, strict=True))


# A device that the CPU wheel can have: tensors of a custom backend that lie in the CPU's memory.
# torch dispatches to it as to any other, and no operator that draws has a kernel for it.
AWAY = """
    import torch
    from torch import nn
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
    from guard.setup.draws import applied
    from guard.settings import Settings

    _setup_privateuseone_for_python_backend("away")

    class Away(torch.Tensor):
        @staticmethod
        def __new__(cls, host):
            made = torch._C._acc.create_empty_tensor(host.shape, host.dtype)
            made.__class__ = Away
            return made
        def __init__(self, host):
            self.host = host

    library = torch.library.Library("aten", "IMPL")
    def kernel(name):
        return lambda function: library.impl(name, function, "PrivateUse1")

    @kernel("empty.memory_format")
    def empty(size, *, dtype=None, **_):
        return Away(torch.empty(size, dtype=dtype))

    @kernel("empty_strided")
    def empty_strided(size, stride, *, dtype=None, **_):
        return Away(torch.empty_strided(size, stride, dtype=dtype))

    @kernel("resize_")
    def resize_(tensor, size, *, memory_format=None):
        assert tensor.shape == tuple(size)
        return tensor

    @kernel("_copy_from")
    def _copy_from(source, target, non_blocking=False):
        hosts = [each.host if isinstance(each, Away) else each for each in (source, target)]
        hosts[1].copy_(hosts[0])
        return target

    def same(draw):
        # Whether both kinds of device see the same numbers, and the result is where it belongs.
        results = []
        for device in ("cpu", "away"):
            torch.manual_seed(0)
            with applied(Settings(rng="cpu")):
                result = draw(torch.device(device))
            assert result.device.type == device, draw
            results.append(result.host if device == "away" else result)
        return torch.equal(*results) and results[0].dtype == results[1].dtype
    """
DRAWS = {
    "factories": "lambda d: torch.randn(5, device=d)",
    "integers": "lambda d: torch.randint(1, 9, (5,), device=d, dtype=torch.int32)",
    "permutations": "lambda d: torch.randperm(9, device=d)",
    "half precision": "lambda d: torch.rand(5, device=d, dtype=torch.bfloat16)",
    "in place": "lambda d: torch.empty(20, device=d).normal_(2, 3)",
    "bernoulli": "lambda d: torch.empty(20, device=d).bernoulli_(0.3)",
    "from a tensor": "lambda d: torch.bernoulli(torch.full((20,), 0.5).to(d))",
    "positional": "lambda d: torch.poisson(torch.full((20,), 3.0).to(d))",
    "like": "lambda d: torch.randn_like(torch.zeros(20).to(d))",
    "out": "lambda d: torch.randn(6, out=torch.empty(6, device=d))",
    "initial weights": "lambda d: nn.init.kaiming_uniform_(torch.empty(8, 3, device=d))",
    "categories": "lambda d: torch.multinomial(torch.ones(20).to(d), 5)",
}
# What the backend above cannot have: strides.
STRIDED = {"transposed": "lambda d: torch.empty_strided((3, 30), (1, 3), device=d).uniform_()"}


def test_another_device_sees_what_the_cpu_draws(tmp_path: Path, forks: Forks) -> None:
    code = write(tmp_path / "away.py", AWAY).read_text()
    code += "".join(f"print({name!r}, same({draw}))\n" for name, draw in DRAWS.items())
    done = forks.python(write(tmp_path / "run.py", code), cwd=tmp_path)
    assert done.stdout.splitlines() == [f"{name} True" for name in DRAWS]
    assert done.stderr == ""


def test_dropout_on_another_device_drops_what_the_cpu_drops(tmp_path: Path, forks: Forks) -> None:
    program = """
        x = torch.ones(40)
        for mode in (torch.no_grad, torch.inference_mode):
            kept = []
            for device in ("cpu", "away"):
                torch.manual_seed(0)
                with applied(Settings(rng="cpu")), mode():
                    result = nn.functional.dropout(x.to(device), 0.5)
                kept.append((result.host if device == "away" else result) != 0)
            print(torch.equal(*kept), kept[0].sum().item() not in (0, 40))
        """
    code = write(tmp_path / "away.py", AWAY).read_text()
    code += write(tmp_path / "rest.py", program).read_text()
    done = forks.python(write(tmp_path / "run.py", code), cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("True True\nTrue True\n", "")


def test_a_copy_has_the_strides_that_the_order_of_draws_depends_on() -> None:
    for tensor in (torch.rand(4, 6).t(), torch.rand(4, 6)[:, ::2], torch.rand(2, 3, 4)):
        copy = _copy(tensor)
        assert copy.stride() == tensor.stride()
        assert torch.equal(copy, tensor)


def test_a_generator_has_a_twin_that_starts_from_its_seed() -> None:
    # Any generator can stand in for one on a device: only its seed and its state are read.
    twins, own = Twins(), torch.Generator().manual_seed(3)

    def expected() -> torch.Generator:
        return torch.Generator().manual_seed(3)

    reference = expected()
    for _ in range(2):
        drawn = torch.rand(3, generator=twins.of(own))
        assert torch.equal(drawn, torch.rand(3, generator=reference))
    own.manual_seed(3)  # to the same seed once more: it starts again
    assert torch.equal(torch.rand(3, generator=twins.of(own)), torch.rand(3, generator=expected()))


@pytest.mark.parametrize(
    ("probability", "train", "drops"), [(0.5, True, True), (0.5, False, False), (0.0, True, False)]
)
def test_a_recurrent_kernel_draws_only_with_dropout_in_training(
    probability: float, train: bool, drops: bool
) -> None:
    cudnn = torch.ops.aten._cudnn_rnn.default
    given = Run(cudnn, (), {"dropout": probability, "train": train}).named()
    assert _drops(given) is drops
    flash = torch.ops.aten._scaled_dot_product_flash_attention.default
    q = torch.zeros(1)
    assert _drops(Run(flash, (q, q, q, probability), {}).named()) is (probability > 0)
    assert _drops(Run(torch.ops.aten.normal_.default, (), {}).named()) is None


def test_attention_is_unfused_and_its_switches_come_back() -> None:
    cuda = torch.backends.cuda
    cuda.enable_mem_efficient_sdp(False)
    try:
        with contextlib.suppress(ZeroDivisionError), unfused_attention():
            assert not cuda.flash_sdp_enabled()
            assert cuda.math_sdp_enabled()
            raise ZeroDivisionError
        assert cuda.flash_sdp_enabled()
        assert not cuda.mem_efficient_sdp_enabled()
    finally:
        cuda.enable_mem_efficient_sdp(True)


def test_a_kernel_that_draws_itself_is_refused_with_what_to_do() -> None:
    assert _refusal(torch.ops.aten._cudnn_rnn.default, torch.device("cuda:0")) == (
        'rng="cpu" draws on the CPU, and aten._cudnn_rnn.default draws for its dropout inside its '
        "kernel on cuda:0: switch cuDNN off for recurrent layers (cudnn=False), call "
        "torch.nn.functional.scaled_dot_product_attention for attention, or take dropout out "
        "(dropout=False)"
    )


@pytest.mark.cuda
@CUDA
@pytest.mark.parametrize("draw", (DRAWS | STRIDED).values(), ids=(DRAWS | STRIDED).keys())
def test_cuda_sees_what_the_cpu_draws(draw: str) -> None:
    results = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        with applied(ON_CPU):
            results.append(eval(draw)(torch.device(device)))  # noqa: S307 - of the table above
        assert results[-1].device.type == device
    assert torch.equal(results[0], results[1].cpu())


@pytest.mark.cuda
@CUDA
def test_a_generator_on_cuda_draws_what_one_on_the_cpu_does() -> None:
    drawn = []
    for device in ("cpu", "cuda"):
        generator = torch.Generator(device).manual_seed(3)
        with applied(ON_CPU):
            drawn.append([torch.rand(3, device=device, generator=generator).cpu() for _ in "ab"])
    assert all(torch.equal(*pair) for pair in zip(*drawn, strict=True))


@pytest.mark.cuda
@CUDA
def test_cuda_drops_what_the_cpu_drops_and_refuses_what_cudnn_drops() -> None:
    q = torch.ones(1, 2, 16, 16)
    results = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        with applied(ON_CPU):
            dropped = functional.dropout(q.to(device), 0.5)
            attended = functional.scaled_dot_product_attention(*[q.to(device)] * 3, dropout_p=0.5)
        results.append((dropped.cpu() != 0, attended.cpu()))
    assert torch.equal(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][1], results[1][1])
    layer = nn.LSTM(8, 8, num_layers=2, dropout=0.5).cuda()
    x = torch.randn(3, 5, 8, device="cuda")
    with applied(ON_CPU), pytest.raises(guard.GuardError, match="draws for its dropout inside"):
        layer(x)
    with applied(ON_CPU), torch.backends.cudnn.flags(enabled=False):
        layer(x)
    with applied(ON_CPU):
        layer.eval()(x)
