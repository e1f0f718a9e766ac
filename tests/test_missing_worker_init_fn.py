"""What DET201 says of what workers draw, and where its fix puts things."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main
from detlint.engine import Engine
from detlint.finding import Confidence
from detlint.fixes.applying import fix
from detlint.rules.missing_worker_init_fn import MissingWorkerInitFn
from detlint.settings import Settings
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.finding import Finding

SEEDED = "in a worker torch seeds random, torch and NumPy's global generator"
NOISE = """
    import numpy as np

    class Noise:
        def __init__(self, seed):
            self.rng = np.random.default_rng(seed)

        def __call__(self, image):
            return image + self.rng.normal()
"""
IMAGES = """
    from torch.utils.data import DataLoader, Dataset

    class Images(Dataset):
        def __init__(self, images, transform=None):
            self.images = images
            self.transform = transform

        def __getitem__(self, index):
            return self.transform(self.images[index])
"""
LOADS = "\nloader = DataLoader(Images(images, {transform}), num_workers=n)\n"
DRAWS_FROM_NUMPY = """
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __getitem__(self, index):
            return np.random.rand()

    loader = DataLoader(Noisy(), num_workers=2)
"""
UNSEEN = "from torch.utils.data import DataLoader\nloader = DataLoader(data, num_workers=n)\n"


def code(*parts: str, transform: str = "") -> str:
    return "".join(map(textwrap.dedent, parts)) + LOADS.format(transform=transform)


def test_the_message_names_the_draw_and_its_place(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings(code(NOISE, IMAGES, transform="Noise(0)"), "DET201")
    assert found.message == (
        "DataLoader() has no worker_init_fn, and its workers draw by `self.rng.normal()` "
        f"(line 8): {SEEDED}, but not this generator of NumPy"
    )
    assert found.advice == (
        'draw from guard.generator("name") and pass worker_init_fn=guard.seed_worker, or pass a '
        "worker_init_fn that seeds it from torch.utils.data.get_worker_info().seed"
    )
    assert found.confidence == Confidence.CERTAIN
    assert found.edits == ()


def test_a_library_with_generators_of_its_own_is_named(
    findings: Callable[..., list[Finding]],
) -> None:
    head = "import albumentations as A\n"
    (found,) = findings(head + code(IMAGES, transform="A.Compose([A.HorizontalFlip()])"), "DET201")
    assert "draw by `A.HorizontalFlip()` (line 13)" in found.message
    left = "but not the generators of albumentations (since 1.4.21)"
    assert found.message.endswith(f"{SEEDED}, {left}")
    assert found.confidence == Confidence.LIKELY


def test_a_data_set_that_is_not_seen_is_only_possible(
    findings: Callable[..., list[Finding]], engine: Callable[..., Engine]
) -> None:
    (found,) = findings(UNSEEN, "DET201")
    assert found.message == (
        "DataLoader() has no worker_init_fn, and what its workers draw is not to be seen: "
        f"{SEEDED}, but no generator object and no other library"
    )
    assert found.confidence == Confidence.POSSIBLE
    assert engine("DET201", least=Confidence.LIKELY).lint(Source("example.py", UNSEEN)) == []


def test_before_torch_1_9_numpy_is_not_seeded() -> None:
    source = Source("example.py", textwrap.dedent(DRAWS_FROM_NUMPY))

    def lint(target: tuple[int, int]) -> list[Finding]:
        return Engine([MissingWorkerInitFn], Settings(target_torch=target), known=()).lint(source)

    assert lint((1, 9)) == []
    (found,) = lint((1, 8))
    assert found.message.endswith(
        "draw by `np.random.rand()` (line 7): before 1.9 torch seeds random and torch in a worker, "
        "but not NumPy"
    )


# Over files

PROJECT = {
    "lib/__init__.py": "",
    "lib/noise.py": NOISE,
    "lib/data.py": "from .noise import Noise\n"
    + textwrap.dedent(IMAGES)
    + textwrap.dedent(
        """
        class Noisy(Images):
            def __init__(self, images):
                super().__init__(images, transform=Noise(0))
        """
    ),
    "train.py": """
        from lib import data
        from lib.data import Images, Noisy
        from torch.utils.data import DataLoader

        first = DataLoader(Noisy(images), num_workers=2)
        second = DataLoader(data.Noisy(images), num_workers=2)
        third = DataLoader(Images(images), num_workers=2)
    """,
}


@pytest.fixture
def told(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[tuple[int, str]]]:
    def run(files: dict[str, str], *arguments: str) -> list[tuple[int, str]]:
        project(files)
        main(["--no-cache", "--select", "DET201", "--output-format", "json", *arguments])
        found = json.loads(capsys.readouterr().out)
        return [(each["location"]["row"], each["message"]) for each in found]

    return run


def test_a_draw_in_another_file_is_found_whatever_is_named(
    told: Callable[..., list[tuple[int, str]]],
) -> None:
    found = told(PROJECT, ".")
    assert [row for row, _ in found] == [6, 7]
    assert all("draw by `self.rng.normal()` (lib/noise.py:9)" in message for _, message in found)
    assert told(PROJECT, "train.py") == found
    assert told(PROJECT, "lib") == []


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        ("loaders.both(Images(images, Noise(0)), Images(images), 4)", [5]),
        ("loaders.both(Images(images), valid=Images(images, Noise(0)), n=4)", [6]),
        ("loaders.both(*build(Noise(0)), 4)", []),
        ("kept, noisy = build(Noise(0))\nloaders.both(kept, noisy, 4)", [6]),
        ("loaders.Loads(Images(images, Noise(0)))", [11]),
        ("loaders.Loads(Images(images))", []),
    ],
)
def test_what_other_files_pass_a_helper_is_looked_at(
    told: Callable[..., list[tuple[int, str]]], call: str, rows: list[int]
) -> None:
    loaders = """
        from torch.utils.data import DataLoader

        def both(train, valid, n):
            first = DataLoader(train, 8, num_workers=n)
            return first, DataLoader(valid, 8, num_workers=n)

        class Loads:
            def __init__(self, data):
                self.data = data
                self.loader = DataLoader(data, num_workers=2)
    """
    build = "def build(last):\n    return Images([]), Images([], last)\n"
    main = (
        f"import loaders\nfrom lib.data import Images\nfrom lib.noise import Noise\n{build}{call}\n"
    )
    files = {**PROJECT, "loaders.py": loaders, "train.py": main}
    assert [row for row, _ in told(files, ".")] == rows
    assert [row for row, _ in told(files, "loaders.py")] == rows


def test_a_notebook_s_draw_is_told_by_its_cell(told: Callable[..., list[tuple[int, str]]]) -> None:
    cells = (textwrap.dedent(NOISE), textwrap.dedent(IMAGES), LOADS.format(transform="Noise(0)"))
    book = {
        "cells": [{"cell_type": "code", "source": each.strip(), "outputs": []} for each in cells],
        "metadata": {"kernelspec": {"language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    ((_, message),) = told({"a.ipynb": json.dumps(book)}, ".")
    assert "draw by `self.rng.normal()` (line 8 of cell 1)" in message


def test_a_suppressed_finding_stays_suppressed(
    told: Callable[..., list[tuple[int, str]]],
) -> None:
    text = PROJECT["train.py"].replace(
        "num_workers=2)", "num_workers=2)  # detlint: ignore[DET201]"
    )
    assert told(PROJECT | {"train.py": text}, "--select", "DET001", ".") == []


# The fix


def test_the_fix_is_unsafe_and_adds_the_import(engine: Callable[..., Engine]) -> None:
    lint = engine("DET201").lint
    source = Source("example.py", UNSEEN)
    assert fix(source, lint, unsafe=False).source.text == UNSEEN
    assert fix(source, lint, unsafe=True).source.text == (
        "from torch.utils.data import DataLoader\n"
        "import guard\n"
        "loader = DataLoader(data, num_workers=n, worker_init_fn=guard.seed_worker)\n"
    )


def test_an_argument_of_its_own_line_gets_a_line(engine: Callable[..., Engine]) -> None:
    text = "import guard\n" + UNSEEN.replace(
        "(data, num_workers=n)", "(\n    data,\n    num_workers=n,\n)"
    )
    fixed = fix(Source("example.py", text), engine("DET201").lint, unsafe=True).source.text
    assert fixed.endswith(
        "(\n    data,\n    num_workers=n,\n    worker_init_fn=guard.seed_worker,\n)\n"
    )


def test_a_written_none_is_replaced(engine: Callable[..., Engine]) -> None:
    text = "import guard\n" + UNSEEN.replace("=n)", "=n, worker_init_fn=None)")
    fixed = fix(Source("example.py", text), engine("DET201").lint, unsafe=True).source.text
    assert fixed.endswith("num_workers=n, worker_init_fn=guard.seed_worker)\n")


def test_a_file_with_another_guard_gets_no_fix(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings(UNSEEN + "guard = None\n", "DET201")
    assert found.edits == ()


@pytest.mark.parametrize(
    ("required", "found"), [("torch==1.8.1", 1), ("torch==1.13", 0), ("torch>=1.8", 0), ("", 0)]
)
def test_numpy_is_told_where_the_project_asks_for_torch_before_1_9(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    required: str,
    found: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "requirements.txt").write_text(required)
    (tmp_path / "train.py").write_text(textwrap.dedent(DRAWS_FROM_NUMPY))
    main(["--no-cache", "--select", "DET201", "--min-confidence", "possible", "."])
    assert capsys.readouterr().out.count("DET201") == found
