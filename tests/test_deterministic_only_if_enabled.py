"""DET502: the table that it reads, the words that lead to it, and releases of torch."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING

import pytest
import torch

from detlint.engine import Engine
from detlint.operations import OPERATIONS
from detlint.rules.deterministic_only_if_enabled import DeterministicOnlyIfEnabled
from detlint.settings import Settings
from detlint.sources.source import Source
from detlint.switched_operations import SWITCHED

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
