"""DET502: the table that it reads, the words that lead to it, and releases of torch."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING

import pytest
import torch

from detlint.engine import Engine
from detlint.operations import OPERATIONS
from detlint.operations.switched import SWITCHED
from detlint.rules.deterministic_only_if_enabled import DeterministicOnlyIfEnabled
from detlint.settings import Settings
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding
    from detlint.operations import Argument

FORMS = [
    pytest.param(form, usage.arguments, id=f"{row.name}: {form}")
    for row in SWITCHED
    for usage in row.usages
    for form in usage.forms
]


def resolved(path: str) -> object:
    return functools.reduce(getattr, path.split(".")[1:], torch)


@pytest.mark.parametrize(("form", "arguments"), FORMS)
def test_forms_are_torch_s_and_have_triggers(form: str, arguments: tuple[Argument, ...]) -> None:
    call = f"{form.rpartition('.')[2]}("
    assert any(call.startswith(token) for token in DeterministicOnlyIfEnabled.triggers)
    assert callable(resolved(form))
    try:
        names = list(inspect.signature(resolved(form)).parameters)  # type: ignore[arg-type]
    except ValueError:
        return  # a builtin, which does not tell
    if names[:2] != ["args", "kwargs"]:
        for argument in arguments:
            assert argument.position is not None
            assert names[argument.position] == argument.name


def test_no_call_is_refused_and_switched_in_one_release() -> None:
    refused = {
        (form, usage.arguments)
        for row in OPERATIONS
        if not row.until
        for usage in row.usages
        for form in usage.forms
    }
    switched = {
        (form, usage.arguments) for row in SWITCHED for usage in row.usages for form in usage.forms
    }
    assert not refused & switched


@pytest.mark.parametrize(("release", "count"), [((2, 6), 0), ((2, 7), 1), ((2, 13), 1)])
def test_a_kernel_that_came_later_is_not_asked_for_before(
    release: tuple[int, int], count: int
) -> None:
    engine = Engine([DeterministicOnlyIfEnabled], Settings(target_torch=release), known=())
    text = "import torch\n\ntorch.nn.ReflectionPad2d(1)\n"
    assert len(engine.lint(Source("a.py", text))) == count


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("x.index_add_(0, i, y)", "x.index_add_() on CUDA by default adds with atomics"),
        (
            "x.index_put_((i,), y, accumulate=True)",
            "x.index_put_(accumulate=True) on the CPU by default adds with atomics",
        ),
        (
            "torch.gather(x, 0, i)",
            "torch.gather()'s backward on CUDA by default adds up the gradients of an input",
        ),
        ("x.index_copy_(0, i, y)", "x.index_copy_() by default leaves open which value is"),
    ],
)
def test_the_message_says_where_and_why(
    call: str, said: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(f"import torch\n\ndef f(x, i, y):\n    {call}\n", "DET502")
    assert found.message.startswith(said)


def test_is_silent_where_the_switch_is_on(findings: Callable[..., list[Finding]]) -> None:
    text = "import torch\ntorch.use_deterministic_algorithms(True)\ntorch.index_add(x, 0, i, y)\n"
    assert findings(text, "DET502") == []
    assert len(findings(text.replace("True", "True, warn_only=True"), "DET502")) == 1


def test_is_only_possible_in_an_engine_that_serves(findings: Callable[..., list[Finding]]) -> None:
    text = "import torch\nfrom vllm import LLM\n\ndef f(x, i, y):\n    x.index_add_(0, i, y)\n"
    for more, told in (("", "possible"), ("\nloss = f\n", "likely")):
        (found,) = findings(text + more, "DET502")
        assert str(found.confidence) == told


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("x.new_zeros(9).scatter_add_(0, i, x.new_ones(3))", 0),
        ("x.new_zeros(9).scatter_add_(0, i, (x > 0).float())", 0),
        ("x.new_zeros(9).scatter_add_(0, i, x.float())", 1),
        ("_, best = y.topk(3); x.index_select(0, best)", 0),
        ("best, _ = y.topk(3); x.index_select(0, best)", 1),
        ("_, best = y.topk(3); x.index_select(0, best.view(-1))", 1),
        ("row, column = torch.where(y); x.index_select(0, column)", 1),
    ],
)
def test_counts_and_places_that_are_told_apart_are_exact(
    call: str, count: int, findings: Callable[..., list[Finding]]
) -> None:
    assert len(findings(f"import torch\n\ndef f(x, i, y):\n    {call}\n", "DET502")) == count


PLACES = """
import torch
from torch import nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        self.net = nn.Linear(4, 4)
        self.register_buffer("last", torch.tensor([[3]]))
        self.register_buffer("several", torch.tensor([[3, 3]]))

    def column(self, a):
        return torch.as_tensor(a).view(-1, 1)

    def columns(self, a):
        return torch.as_tensor(a).view(-1, 2)

    def forward(self, x, lengths, a, order, n):
        x = self.net(x)
        ids = torch.argsort(order, dim=1)[:, :n]
        perm, out = torch.randperm(9), torch.zeros(4)
        weights, chosen = torch.topk(x.softmax(-1), 2, dim=-1)
        tops, nth = torch.where(chosen == n)
        {}
"""


@pytest.mark.parametrize(
    ("once", "again"),
    [
        (
            "x.gather(1, (lengths - 1).view(-1, 1).expand(n, 64).unsqueeze(1))",
            "x.gather(1, (lengths - 1).view(-1, 1).expand(n, 64).unsqueeze(0))",
        ),
        (
            "x.gather(1, lengths.sub(1).unsqueeze(1).unsqueeze(2).expand(-1, 1, n))",
            "x.gather(1, lengths.sub(1).unsqueeze(2).expand(-1, 3, n))",
        ),
        (
            "x.gather(1, (lengths - 1)[:, None, None].repeat(1, 1, n))",
            "x.gather(1, (lengths - 1)[:, None].repeat(1, 3))",
        ),
        (
            "x.gather(1, torch.multinomial(x, 1))",
            "x.gather(1, torch.multinomial(x, 2, replacement=True))",
        ),
        (
            "x.gather(-1, x.max(-1, keepdim=True)[1])",
            "x.gather(-1, x.max(-2, keepdim=True)[1])",
        ),
        ("x.gather(1, torch.randint(0, 4, (n, 1)))", "x.gather(1, torch.randint(0, 4, (n, 5)))"),
        (
            "x.gather(1, torch.tensor([[b] for b in a]))",
            "x.gather(1, torch.tensor([[b, b] for b in a]))",
        ),
        (
            "x.gather(1, (x > 0).sum(1, keepdim=True) - 1)",
            "x.gather(1, (x > 0).sum(0, keepdim=True) - 1)",
        ),
        ("x.gather(1, self.last.expand(n, 1))", "x.gather(1, self.several.expand(n, 2))"),
        ("x.gather(1, self.column(a))", "x.gather(1, self.columns(a))"),
        ("x.gather(1, lengths[:, n : n + 1])", "x.gather(1, lengths[:, n : n + 2])"),
        ("x.gather(-1, lengths[..., 0, None])", "x.gather(-1, lengths[..., None, :])"),
        ("x.gather(1, torch.cat([a[:, :1], a[:, 1:2]], 0))", "x.gather(1, torch.cat([a, a], 0))"),
        (
            "F.mse_loss(x.gather(1, a), lengths.unsqueeze(1))",
            "F.mse_loss(x.gather(1, a), lengths.unsqueeze(0))",
        ),
        ("x.gather(1, a)[:, 0]", "x.gather(1, a)[:, 1]"),
        ("x.gather(1, ids.unsqueeze(-1).repeat(1, 1, n))", "x.gather(1, order.repeat(1, 1, n))"),
        (
            "x.index_select(0, torch.cat([order.argsort(), torch.arange(4)]))",
            "x.index_select(0, torch.cat([order.argsort(), perm, torch.arange(4)]))",
        ),
        (
            "out.index_add_(0, torch.cat([torch.arange(4), perm]), x)",
            "x.index_add_(0, torch.cat([torch.arange(4), perm]), x)",
        ),
        ("x.index_add_(0, tops, x[tops] * weights[tops, nth, None])", "x.index_add_(0, nth, x)"),
    ],
)
def test_an_index_that_reaches_no_place_often_adds_up_in_no_order(
    once: str, again: str, findings: Callable[..., list[Finding]]
) -> None:
    for call, count in ((once, 0), (again, 1)):
        found = findings(PLACES.format(call), "DET502")
        assert [str(each.confidence) for each in found] == ["likely"] * count, call


def test_a_choice_in_each_row_is_possible(findings: Callable[..., list[Finding]]) -> None:
    text = PLACES.format("x.gather(1, a)\n        x.gather(1, actions.long())")
    assert [str(each.confidence) for each in findings(text, "DET502")] == ["likely", "possible"]


def test_a_gather_of_whole_numbers_has_no_gradient(
    findings: Callable[..., list[Finding]],
) -> None:
    text = """
        import torch
        from torch import nn

        class Embedded(nn.Module):
            def __init__(self):
                self.kinds = nn.Buffer(torch.zeros(9, dtype=torch.long))
                self.register_buffer("places", torch.arange(9))

            def forward(self, x, index, given: torch.LongTensor | None = None):
                self.kinds.gather(0, index)
                self.places.expand(3, -1).gather(0, index)
                given.gather(0, index)
                return x.gather(0, index)
    """
    assert [each.row for each in findings(text, "DET502")] == [13]
