"""Comparing runs: dropout taken out, and random tensors drawn on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from programs import python, write

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.overrides import get_testing_overrides, resolve_name  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from guard.cpu_draws import DrawnOnCpu, Twins, draws, unfused_attention  # noqa: E402
from guard.draws import applied  # noqa: E402
from guard.dropout import FUNCTIONS  # noqa: E402
from guard.settings import Settings  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


def test_a_training_step_repeats_without_drawing() -> None:
    net, x = model(), torch.randn(2, 3, 8)
    state = torch.get_rng_state()

    def step() -> list[torch.Tensor]:
        net.zero_grad()
        checkpoint(net, x, use_reentrant=False).sum().backward()
        return [each.grad.clone() for each in net.parameters() if each.grad is not None]

    with applied(WITHOUT):
        first, second = step(), step()
    assert all(torch.equal(*pair) for pair in zip(first, second, strict=True))
    assert torch.equal(torch.get_rng_state(), state)
    assert not all(torch.equal(*pair) for pair in zip(first, step(), strict=True))


def test_dropout_is_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), applied(WITHOUT):
        raise ZeroDivisionError
    assert torch._C._len_torch_function_stack() == 0


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
    scripted = torch.jit.script(nn.Dropout())  # compiled before, in a language of its own
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

TAGGED = (
    [
        getattr(getattr(torch.ops.aten, name), overload)
        for name in sorted({each.name[6:] for each in torch._C._jit_get_all_schemas()})
        if hasattr(torch.ops.aten, name)
        for overload in getattr(torch.ops.aten, name).overloads()
        if torch.Tag.nondeterministic_seeded
        in getattr(torch.ops.aten, name)._overload_tags(overload)
    ]
    if hasattr(torch._ops.OpOverloadPacket, "_overload_tags")
    else []
)
