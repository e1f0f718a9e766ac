"""DET307: how many configurations a tuner has, and tuners and options of other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

KERNEL = """
import torch
import triton
import triton.language as tl
from project.tuning import cached_autotune

{before}

@{tuner}
@triton.jit
def total(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))
"""
BRANCHES = """
def configs():
    if torch.version.hip:
        sizes = [64, 128]
    else:
        sizes = [64, 128, 256]
    return [triton.Config({"BLOCK": size}) for size in sizes]
"""
FILLED = """
def configs():
    found = []
    for size in [64, 128]:
        for warps in [4, 8] + ([] if torch.version.hip else [16]):
            found.append(triton.Config({"BLOCK": size}, num_warps=warps))
    return found
"""
PERHAPS = """
def configs(wide=False):
    found = [triton.Config({"BLOCK": 64})]
    if wide:
        found.append(triton.Config({"BLOCK": 128}))
    return found
"""
ITSELF = """
configs = triton.tools.configs()
configs = [each for each in configs if each.num_warps == 4]
"""


@pytest.mark.parametrize(
    ("before", "tuner", "number"),
    [
        pytest.param(BRANCHES, "triton.autotune(configs(), [])", "at least 2", id="branches"),
        pytest.param(FILLED, "triton.autotune(configs(), [])", "at least 4", id="filled"),
        pytest.param(
            FILLED,
            "triton.autotune(configs(), [], prune_configs_by={})",
            "up to 6",
            id="pruned",
        ),
        pytest.param(
            "",
            "triton.autotune([triton.Config({'BLOCK': b}) for b in (32, 64)], [])",
            "2",
            id="certain",
        ),
        pytest.param(
            "",
            "cached_autotune(configs=[triton.Config({'BLOCK': b}) for b in (32, 64)])",
            "2",
            id="a-tuner-of-the-project",
        ),
        pytest.param(FILLED, "cached_autotune(configs=configs())", "at least 4", id="both"),
    ],
)
def test_says_how_many_configurations_there_are(
    before: str, tuner: str, number: str, findings: Callable[..., list[Finding]]
) -> None:
    text = KERNEL.format(before=before, tuner=tuner)
    for narrowed in (True, False):
        (found,) = findings(text, "DET307", narrowed=narrowed)
        assert f"() picks among {number} configurations by timing them" in found.message


@pytest.mark.parametrize(
    ("before", "tuner"),
    [
        pytest.param(PERHAPS, "triton.autotune(configs(), [])", id="perhaps-one"),
        pytest.param(ITSELF, "triton.autotune(configs, [])", id="made-of-itself"),
        pytest.param("", "cached_autotune(configs=[32, 64])", id="other-configurations"),
        pytest.param(
            "", "cached([triton.Config({'BLOCK': b}) for b in (32, 64)])", id="no-tuner-by-name"
        ),
    ],
)
def test_silent_where_it_may_be_one_or_is_no_tuner(
    before: str, tuner: str, findings: Callable[..., list[Finding]]
) -> None:
    assert findings(KERNEL.format(before=before, tuner=tuner), "DET307") == []
