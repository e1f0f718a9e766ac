"""flash-attn's functions take their deterministic backward: tested with a stand-in, which has the
autograd functions of flash-attn 2.8 with their arguments, and computes attention by torch."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest
import torch

import guard
from guard.repairs import accounts, installation
from guard.repairs.table import wanted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

NAME = "flash_attn.flash_attn_interface"
STAND_IN = """
import torch
import torch.nn.functional as F

seen = []
refuses = False

def _attention(q, k, v, causal):
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)

def _flash_attn_backward(dout, q, k, v, causal, deterministic):
    seen.append(deterministic)
    if refuses and deterministic:
        raise AssertionError("deterministic backward not supported on SM 12.0")
    with torch.enable_grad():
        given = [each.detach().requires_grad_() for each in (q, k, v)]
        return torch.autograd.grad(_attention(*given, causal), given, dout)

class FlashAttnFunc(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx, q, k, v, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes,
        deterministic, return_softmax, is_grad_enabled,
    ):
        if is_grad_enabled and any(x.requires_grad for x in [q, k, v]):
            ctx.save_for_backward(q, k, v)
            ctx.causal = causal
            ctx.deterministic = deterministic
        return _attention(q, k, v, causal)

    @staticmethod
    def backward(ctx, dout, *args):
        grads = _flash_attn_backward(dout, *ctx.saved_tensors, ctx.causal, ctx.deterministic)
        return (*grads, *[None] * 9)

class FlashAttnQKVPackedFunc(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx, qkv, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes,
        deterministic, return_softmax, is_grad_enabled,
    ):
        if is_grad_enabled and qkv.requires_grad:
            ctx.save_for_backward(qkv)
            ctx.causal = causal
            ctx.deterministic = deterministic
        return _attention(*qkv.unbind(2), causal)

    @staticmethod
    def backward(ctx, dout, *args):
        (qkv,) = ctx.saved_tensors
        grads = _flash_attn_backward(dout, *qkv.unbind(2), ctx.causal, ctx.deterministic)
        return (torch.stack(grads, 2), *[None] * 9)

def flash_attn_qkvpacked_func(
    qkv, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
    alibi_slopes=None, deterministic=False, return_attn_probs=False,
):
    return FlashAttnQKVPackedFunc.apply(
        qkv, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes, deterministic,
        return_attn_probs, torch.is_grad_enabled(),
    )

def flash_attn_func(
    q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
    alibi_slopes=None, deterministic=False, return_attn_probs=False,
):
    return FlashAttnFunc.apply(
        q, k, v, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes,
        deterministic, return_attn_probs, torch.is_grad_enabled(),
    )
"""
PACKAGE = """
__version__ = "2.8.3"
from flash_attn.flash_attn_interface import flash_attn_func, flash_attn_qkvpacked_func
"""


def put(folder: Path, text: str) -> None:
    (folder / "flash_attn").mkdir()
    (folder / "flash_attn" / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    (folder / "flash_attn" / "flash_attn_interface.py").write_text(text, encoding="utf-8")


def forget() -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "flash_attn"]:
        del sys.modules[name]


@pytest.fixture
def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    put(tmp_path, STAND_IN)
    monkeypatch.syspath_prepend(tmp_path)
    accounts.forget()
    yield
    forget()
    accounts.forget()


def interface() -> ModuleType:
    return importlib.import_module(NAME)


def gradients(package: ModuleType) -> list[torch.Tensor]:
    """Of both functions."""
    generator = torch.Generator().manual_seed(0)
    qkv = torch.randn(2, 5, 3, 4, 8, generator=generator).requires_grad_()
    packed = package.flash_attn_qkvpacked_func(qkv, causal=True).square().sum()
    plain = package.flash_attn_func(*qkv.unbind(2), causal=True).square().sum()
    return [torch.autograd.grad(each, qkv)[0] for each in (packed, plain)]


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("repair", [True, ["flash_attn_func"], ["flash_attn"]])
def test_all_calls_take_the_deterministic_backward(before: bool, repair: Any) -> None:  # noqa: ANN401
    if before:
        interface()
    finders = list(sys.meta_path)
    with guard.deterministic(repair=repair):
        package = importlib.import_module("flash_attn")
        inside = gradients(package)
        assert interface().seen == [True, True]
        entry = guard.report().find("guard", "repaired: flash_attn.flash_attn_func")
        assert entry is not None
        assert entry.value == 2
        assert "test_repairs_attention.py, line" in entry.meaning
    assert sys.meta_path == finders
    torch.testing.assert_close(gradients(package), inside)
    assert interface().seen == [True, True, False, False]


@pytest.mark.usefixtures("_stand_in")
def test_afterwards_its_own_backward_is_back() -> None:
    function = interface().FlashAttnFunc
    own = dict(vars(function))
    with guard.deterministic(repair=True):
        assert vars(function) != own
        with guard.deterministic():
            assert vars(function) == own
        assert vars(function) != own
    assert vars(function) == own


@pytest.mark.usefixtures("_stand_in")
def test_a_kernel_that_is_not_there_is_a_refusal() -> None:
    interface().refuses = True
    with guard.deterministic(repair=True), pytest.raises(RuntimeError) as caught:
        gradients(interface())
    assert "flash_attn.flash_attn_func does not have a deterministic" in str(caught.value)
    assert "AssertionError: deterministic backward not supported on SM 12.0" in str(caught.value)
    refusal = caught.value.__cause__
    assert refusal is not None
    assert isinstance(refusal.__cause__, AssertionError)


def test_a_release_without_the_argument_is_left_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, STAND_IN.replace("deterministic", "determined"))
    monkeypatch.syspath_prepend(tmp_path)
    rows = wanted(("flash_attn_func",))
    installation._tell.cache_clear()
    try:
        package = interface()
        with pytest.warns(UserWarning, match="guard leaves flash_attn.flash_attn_func as it is"):  # noqa: PT031, SIM117
            with installation.installed(rows):
                gradients(package)
                assert package.seen == [False, False]
                assert installation.in_force() == frozenset()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with installation.installed(rows):
                pass
    finally:
        forget()
