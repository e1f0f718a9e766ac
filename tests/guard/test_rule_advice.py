"""What detlint's pages and advice say of guard, and of torch's workers and defaults, is so."""

from __future__ import annotations

import ast
import inspect
import os
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, RandomSampler

import detlint
import guard
from guard.__main__ import _COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = ("rules", "analysis", "callgraph")
NAMED = re.compile(r"\bguard\.[a-z_]+\b(?:\([^()]*\))?(?!\.)")
COMMAND = re.compile(r"python -m guard ([a-z]+)")


def texts() -> Iterator[str]:
    """Every string of the rules but patterns: pages, advice, examples, what a fix inserts."""
    for folder in FOLDERS:
        for path in (Path(detlint.__file__).parent / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield "" if "\\" in node.value else node.value


NAMES = sorted({found for text in texts() for found in NAMED.findall(text)})


def test_the_pages_and_the_advice_name_the_calls_of_guard() -> None:
    assert {"guard.enable(seed=0)", "guard.generator(seed)", "guard.seed_worker"} <= set(NAMES)


@pytest.mark.parametrize("text", NAMES)
def test_guard_has_what_they_name(text: str) -> None:
    node = ast.parse(text, mode="eval").body
    name = ast.unparse(node.func if isinstance(node, ast.Call) else node).removeprefix("guard.")
    assert name in guard.__all__
    if isinstance(node, ast.Call):
        given = {each.arg for each in node.keywords if each.arg}
        inspect.signature(getattr(guard, name)).bind(*node.args, **dict.fromkeys(given))
        assert name != "enable" or given <= set(inspect.signature(guard.Settings).parameters)


def test_guard_has_the_commands_that_they_name() -> None:
    found = {name for text in texts() for name in COMMAND.findall(text)}
    assert "run" in found
    assert found <= set(_COMMANDS)


class Drawing(Dataset[torch.Tensor]):
    """Each item is what its worker draws: from global generators, from those that it holds,
    and from guard's."""

    # detlint: off[DET207] that is the test

    def __init__(self) -> None:
        self.python = random.Random(0)
        self.numpy = np.random.default_rng(0)
        self.torch = torch.Generator().manual_seed(0)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> torch.Tensor:
        seeded = random.random(), float(torch.rand(())), float(np.random.rand())
        held = (
            self.python.random(),
            float(self.numpy.random()),
            float(torch.rand((), generator=self.torch)),
        )
        own = float(torch.rand((), generator=guard.generator("augmentation")))
        return torch.tensor([*seeded, *held, own], dtype=torch.float64)


def drawn(seed: int) -> list[list[list[float]]]:
    """The first draws of each of two workers in two epochs, without a ``worker_init_fn``."""
    loader = DataLoader(Drawing(), num_workers=2, generator=torch.Generator().manual_seed(seed))
    return [[batch[0].tolist() for batch in loader] for _ in range(2)]


def test_torch_seeds_the_global_generators_of_a_worker_and_none_that_a_dataset_holds() -> None:
    first, again, other = drawn(0), drawn(0), drawn(1)
    assert first == again
    (one, two), (later, _) = first
    for drawn_elsewhere in (two, later, other[0][0]):
        differ = [left != right for left, right in zip(one, drawn_elsewhere, strict=True)]
        assert differ == [True, True, True, False, False, False, True]


def test_a_generator_of_torch_starts_from_one_seed_whatever_was_seeded() -> None:
    torch.manual_seed(3)
    first = torch.Generator()  # detlint: ignore[DET101] that is the test
    torch.manual_seed(4)
    second = torch.Generator()  # detlint: ignore[DET101] that is the test
    assert first.initial_seed() == second.initial_seed()


def test_flags_of_cudnn_leave_it_disabled_unless_told() -> None:
    parameters = inspect.signature(torch.backends.cudnn.flags).parameters
    assert parameters["enabled"].default is False


def test_a_distributed_sampler_repeats_one_order_until_it_is_told_the_epoch() -> None:
    sampler = DistributedSampler(range(50), num_replicas=2, rank=0)  # detlint: ignore[DET206]
    first, second = list(sampler), list(sampler)
    sampler.set_epoch(1)
    assert first == second != list(sampler)


def test_the_order_of_a_sampler_without_a_generator_depends_on_what_was_drawn_before() -> None:
    def order(before: int) -> list[int]:
        torch.manual_seed(0)
        torch.rand(before)
        return list(RandomSampler(range(50)))

    assert order(0) == order(0) != order(1)


@pytest.mark.parametrize(("mode", "warns"), [("default", None), ("warn", True), ("error", False)])
def test_the_debug_mode_of_torch_is_the_switch_by_another_name(
    mode: str, warns: bool | None
) -> None:
    before = torch.get_deterministic_debug_mode()
    try:
        torch.set_deterministic_debug_mode(mode)
        assert torch.are_deterministic_algorithms_enabled() == (warns is not None)
        assert torch.is_deterministic_algorithms_warn_only_enabled() == bool(warns)
    finally:
        torch.set_deterministic_debug_mode(before)


def test_an_empty_array_of_objects_holds_none() -> None:
    assert np.empty(3, dtype=object).tolist() == [None, None, None]


def test_the_switch_tells_inductor() -> None:
    before = torch.get_deterministic_debug_mode()
    try:
        torch.use_deterministic_algorithms(False)  # detlint: ignore[DET303] put back below
        assert not torch._inductor.config.deterministic
        torch.use_deterministic_algorithms(True)
        assert torch._inductor.config.deterministic
    finally:
        torch.set_deterministic_debug_mode(before)


def test_guard_sets_the_variables_that_installed_libraries_read() -> None:
    pytest.importorskip("transformers", reason="reads FLASH_ATTENTION_DETERMINISTIC")
    with guard.deterministic(seed=0):
        assert os.environ["FLASH_ATTENTION_DETERMINISTIC"] == "1"
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
