"""What reaches code besides calls: commands that are installed, configurations, chosen modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Lint = Callable[[], list[str]]

FLIP = "import random\n\n\nclass Flip:\n    def __init__(self):\n        self.p = random.random()\n"
TRAINS = "loss.backward(); optimizer.step()\n"


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Lint:
    """``path:row`` of what each finding of DET102 is about."""
    return lambda: places(capsys, "DET102")


def test_what_a_configuration_has_made_is_made(project: Project, lint: Lint) -> None:
    train = "import torch\nfrom hydra.utils import instantiate\n\n"
    project({"lib/__init__.py": "", "lib/flips.py": FLIP, "lib/crops.py": FLIP})
    project({"conf/data.yaml": "train:\n  _target_: lib.flips.Flip\n  p: 1\n"})
    project({"train.py": f"{train}flip = instantiate(conf.train)\n{TRAINS}"})
    assert lint() == ["lib/flips.py:6"]
    project({"train.py": f"import torch\n\n{TRAINS}"})
    assert lint() == []


def test_a_module_that_is_chosen_by_its_name_is_imported(project: Project, lint: Lint) -> None:
    project({"lib/__init__.py": "", "lib/nets/__init__.py": "", "lib/other.py": "random.random()"})
    project({"lib/nets/small.py": "import random\n\nWIDTH = random.randint(1, 9)\n"})
    train = "import torch\nfrom importlib import import_module\n\nnet = {}\n" + TRAINS
    for line, found in (
        ('import_module(f"lib.nets.{name}")', True),
        ('import_module("lib.nets." + name)', True),
        ('import_module("lib.nets.%s" % name)', True),
        ('import_module("lib.nets.small")', True),
        ('import_module(f"lib.nets.sm{name}")', True),
        ('import_module(f".nets.{name}", "lib")', True),
        ('import_module("." + name, package="lib.nets")', True),
        ('import_module("..nets." + name, "lib.other")', True),
        ('import_module("." + name, "lib")', False),
        ('import_module("." + name, package)', False),
        ('import_module("lib.nets")', False),
        ("import_module(name)", False),
    ):
        project({"train.py": train.format(line)})
        assert lint() == ["lib/nets/small.py:3"] * found, line


def test_a_command_that_is_installed_is_a_program(project: Project, lint: Lint) -> None:
    main = "import random\nimport torch\n\n\ndef other():\n    random.random()\n\n\ndef main():\n"
    main += f"    random.random()\n    {TRAINS}"
    root = project({"lib/__init__.py": "", "lib/cli.py": main})
    assert lint() == []
    packaging = root / "pyproject.toml"
    packaging.write_text('[tool.detlint]\n[project.scripts]\nlib-train = "lib.cli:main"\n')
    assert lint() == ["lib/cli.py:10"]
    packaging.write_text('[tool.detlint]\n[tool.poetry.scripts]\ntrain = "lib.cli:main"\n')
    assert lint() == ["lib/cli.py:10"]


def test_packaging_that_does_not_parse_names_no_command(project: Project, lint: Lint) -> None:
    main = "import random\n\n\ndef main():\n    random.random()\n"
    root = project({"lib/__init__.py": "", "lib/cli.py": main})
    (root / "sub").mkdir()
    (root / "sub" / "pyproject.toml").write_text('[project.scripts]\na = "lib.cli:main\n')
    assert lint() == []
