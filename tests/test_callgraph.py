"""What reaches code besides calls: commands that are installed, configurations, chosen modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import places

from detlint.index.imports import imports
from detlint.index.index import Index
from detlint.index.scan import outline

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


@pytest.mark.parametrize(
    ("files", "line", "found"),
    [
        ({"a.json": '{"flip": {"class_path": "lib.flips.Flip"}}'}, "flip = locate(path)()", True),
        ({"a.yaml": "flip:\n  target: lib.flips.Flip\n"}, "flip = locate(path)()", True),
        ({"a.yaml": "flip:\n  target: lib.flips.Flip\n"}, "module = import_module(path)", True),
        ({"a.yaml": "flip:\n  target: lib.flips.Flip\n"}, "import_module('os')", False),
        (
            {"a.yaml": "flip:\n  target: lib.flips.Flip\n"},
            "LightningCLI(seed_everything_default=False)",
            True,
        ),
        ({"a.yaml": "flip:\n  target: lib.crops.Flip\n"}, "flip = locate(path)()", False),
        ({"a.md": "flip:\n  target: lib.flips.Flip\n"}, "flip = locate(path)()", False),
        ({"a.yaml": "size: 1\n"}, 'flip = import_object("lib.flips.Flip")', True),
        ({"a.yaml": "size: 1\n"}, 'register("flip", entry_point="lib.flips:Flip")', True),
        ({"a.yaml": "size: 1\n"}, 'print("lib.flips.flip")', False),
        ({"a.yaml": "size: 1\n"}, '# "lib.flips.Flip"', False),
    ],
)
def test_a_class_that_a_text_names_by_its_module_is_made(
    project: Project, lint: Lint, files: dict[str, str], line: str, *, found: bool
) -> None:
    crop = "class Crop:\n    pass\n"
    project({"lib/__init__.py": "", "lib/flips.py": FLIP, "lib/crops.py": crop, **files})
    imports = (
        "from importlib import import_module\nfrom pydoc import locate\n"
        "from lightning.pytorch.cli import LightningCLI\n"
    )
    project({"train.py": f"{imports}import torch\n\n{line}\n{TRAINS}"})
    assert lint() == ["lib/flips.py:6"] * found


def test_a_class_that_a_text_names_runs_where_that_is_in_use(project: Project, lint: Lint) -> None:
    names = 'KINDS = {"flip": "lib.flips.Flip"}\n\ndef kinds():\n    return KINDS\n'
    project({"lib/__init__.py": "", "lib/flips.py": FLIP, "lib/names.py": names})
    for line, found in (("import lib.names", False), ("from lib.names import kinds", True)):
        use = "kinds()\n" if found else ""
        project({"train.py": f"import torch\n{line}\n{use}{TRAINS}"})
        assert lint() == ["lib/flips.py:6"] * found


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
        ('path = "lib.nets.%s" % name; __import__(path)', True),
        ('path = f"other.{name}"; import_module(path)', False),
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


def test_packages_that_star_import_each_other_end_soon(project: Project, lint: Lint) -> None:
    count = 40
    for each in range(count):
        stars = "".join(f"from q{other} import *\n" for other in range(count) if other != each)
        project({f"q{each}/__init__.py": f"{stars}def f{each}():\n    pass\n"})
    train = "import random, sys, torch\nimport q0\n\ngetattr(q0, sys.argv[1])()\nrandom.random()\n"
    project({"train.py": train + TRAINS})
    assert lint() == ["train.py:5"]


def test_a_long_chain_of_star_imports_ends(project: Project, lint: Lint) -> None:
    count = 300
    files = {f"m{each}.py": f"from m{each + 1} import *\n" for each in range(count)}
    project({**files, f"m{count}.py": "import random\n\n\ndef draw():\n    random.random()\n"})
    project({"train.py": f"import torch\nfrom m0 import draw\n\ndraw()\n{TRAINS}"})
    assert lint() == [f"m{count}.py:5"]


@pytest.mark.parametrize(
    ("says", "found"), [("seeds random", False), ("seeds all", False), ("seeds torch", True)]
)
def test_the_settings_may_say_what_seeds(
    says: str, found: bool, project: Project, lint: Lint
) -> None:
    project({"pyproject.toml": f'[tool.detlint.models]\n"mylib.boot" = "{says}"\n'})
    start = "import random\nimport torch\nfrom mylib import boot\n\nboot(3)\n"
    project({"train.py": f"{start}random.random()\n{TRAINS}"})
    assert lint() == ["train.py:6"] * found


def test_a_circle_of_imports_gives_one_answer(
    project: Project, lint: Lint, capsys: pytest.CaptureFixture[str]
) -> None:
    project(
        {
            "pk/__init__.py": "",
            "pk/x.py": "from pk.y import *\nfrom pk.real import *\n",
            "pk/y.py": "from pk.z import *\n",
            "pk/z.py": "from pk.x import *\nfrom pk.x import f as g\n\ndef zz():\n    return g()\n",
            "pk/real.py": "def f():\n    return 1\n",
            "pk/other.py": "import random\n\n\ndef f():\n    random.random()\n",
            "a.py": f"import torch\nfrom pk.z import zz\n\nzz()\n{TRAINS}",
            "b.py": f"import torch\nimport pk.other\nfrom pk.y import f\n\nf()\n{TRAINS}",
        }
    )
    assert lint() == places(capsys, "DET102", "b.py") == []


@pytest.mark.parametrize(
    "line",
    [
        "import os; from lib import seed",
        "try: from lib import seed\nexcept ImportError: pass",
        "from lib import (other,  # the (old) one\n    seed)",
    ],
)
def test_an_import_may_stand_behind_another_statement(
    project: Project, lint: Lint, line: str
) -> None:
    seeds = "import random\n\n\ndef seed():\n    random.seed(0)\n\n\ndef other():\n    pass\n"
    project(
        {
            "lib.py": seeds,
            "train.py": f"import random, torch\n{line}\nseed()\nrandom.random()\n{TRAINS}",
        }
    )
    assert lint() == []


@pytest.mark.parametrize(
    "call",
    [
        'import_module(f"pkg.{x}").draw()',
        'module = import_module("pkg." + x)\nmodule.draw()',
        'getattr(import_module("pkg.lib"), x)()',
        'import_module("pkg.lib").draw()',
    ],
)
def test_what_a_chosen_module_holds_may_be_called(project: Project, lint: Lint, call: str) -> None:
    project(
        {
            "pkg/__init__.py": "",
            "pkg/lib.py": "import random\n\n\ndef draw():\n    random.random()\n",
        }
    )
    head = "import torch\nfrom importlib import import_module\n\n"
    project({"train.py": f"{head}{call}\n{TRAINS}"})
    assert lint() == ["pkg/lib.py:5"]


SEEDED = """import random


def reproducible():
    random.seed(0)


class Config:
    @classmethod
    def fix(cls):
        random.seed(0)
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ('import_module("pkg.lib")', True),
        ('for name in names:\n    import_module(f"pkg.{name}")', True),
        ('try: __import__("pkg.lib")\nexcept ImportError: pass', True),
        ('import_module("pkg.lib").reproducible()', False),
        ('module = import_module("pkg.lib")\nmodule.reproducible()', False),
        ('[\n    import_module(f"pkg.{name}")\n    for name in names\n][0][seed]()', False),
        ("__import__(name)\nfrom pkg.lib import Config", True),
        ('from pkg.lib import Config\nNUMBER = __import__("torch").float32', True),
        ("kind = load(import_module(name), kind)\nfrom pkg.lib import Config", True),
        ("kind = load(import_module(name), kind)\nkind.fix()\nimport pkg.lib", False),
        ("kind = getattr(import_module(name), kind)\nimport pkg.lib", False),
    ],
)
def test_what_is_imported_by_a_string_is_not_called_by_that(
    project: Project, lint: Lint, lines: str, *, found: bool
) -> None:
    head = "import random, torch\nfrom importlib import import_module\n\n"
    project({"pkg/__init__.py": "", "pkg/lib.py": SEEDED})
    project({"train.py": f"{head}{lines}\nrandom.random()\n{TRAINS}"})
    assert lint() == [f"train.py:{lines.count(chr(10)) + 5}"] * found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('log.info(f"loss {fit(make()):.3f}")', True),
        ("print(f'{table[\"loss\"]} {fit(1)!r:>{width()}}')", True),
        ('print(f"""\n{net.fit(\n    1)}""")', False),
        ('print("loss {fit(make())}")', False),
        ('print(f"loss {{fit(make())}}")', False),
        ("print(f\"{open('fit(1)')}\")", False),
        ('print(f"{fit")', False),
    ],
)
def test_what_a_formatted_string_calls_runs(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    fit = "def fit(net):\n    random.random()\n    loss.backward(); optimizer.step()\n"
    project(
        {"train.py": f"import random, torch\n\n{fit}\n\nif __name__ == '__main__':\n    {line}\n"}
    )
    assert lint() == ["train.py:4"] * found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("table = {'a': A, 'b': lower}\ntable[name].draw()", ["pkg/A.py:5", "pkg/lower.py:5"]),
        ("pick([A, lower]).draw()", ["pkg/A.py:5", "pkg/lower.py:5"]),
        ("table = {'a': A}\ntable[name].draw()\nlower", ["pkg/A.py:5"]),
        ("table = {'a': A}\ntable[name].other()", []),
        ("A.other()\nrows.draw()", []),  # what has rows is no module
    ],
)
def test_what_a_module_in_a_table_holds_may_be_called(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[str]
) -> None:
    draw = "import random\n\n\ndef draw():\n    random.random()\n"
    project({"pkg/__init__.py": "", "pkg/A.py": draw, "pkg/lower.py": draw})
    project({"train.py": f"import torch\nfrom pkg import A, lower\n\n{lines}\n{TRAINS}"})
    told = places(capsys, "DET102")
    assert told == found[:1]


def test_a_command_may_start_what_a_package_offers(project: Project, lint: Lint) -> None:
    main = f"import random\nimport torch\n\n\ndef main():\n    random.random()\n    {TRAINS}"
    root = project({"pkg/__init__.py": "from .cli import main\n", "pkg/cli.py": main})
    poetry = '[tool.poetry.scripts]\ngo = {callable = "pkg:main"}'
    for line in ('[project.scripts]\ngo = "pkg:main"', poetry):
        (root / "pyproject.toml").write_text(f"[tool.detlint]\n{line}\n")
        assert lint() == ["pkg/cli.py:6"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_string_may_go_on_in_the_next_line(newline: str) -> None:
    text = 'print("abc \\\n  def", draw())\n\n\ndef draw():\n    pass\n'
    assert outline(text.replace("\n", newline)).uses[""].own == ["draw"]


def test_lists_of_imports_that_are_not_closed_take_no_time() -> None:
    assert len(imports("from aaaaaaaaaaaaaaaaaaaa import (b\n" * 20_000)) == 20_000


def test_first_weights_are_looked_for_only_where_a_library_may_draw_them(
    project: Project, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    facts = Index.facts

    def noting(index: Index, path: str, kind: str, chosen: object = None) -> object:
        asked.append(kind)
        return facts(index, path, kind, chosen)  # type: ignore[arg-type]

    monkeypatch.setattr(Index, "facts", noting)
    net = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    project({"net.py": f"{net}        self.layer = nn.Linear(2, 3)\n"})
    seeded = "import random, torch, net\n\ntorch.manual_seed(0)\nmodel = net.Net()\n"
    project({"train.py": f"{seeded}{TRAINS}"})
    assert lint() == []
    # For torch, whether something is made before its seed, and what DET304 asks about models.
    assert asked.count("builds") == 2


@pytest.mark.parametrize(
    ("raised", "call", "found"),
    [
        ("from .flip import *", "lib.flip()", True),
        ("from .flip import flip", "lib.flip()", True),
        ("from .flip import *", "lib.flip.flip()", True),
        ("", "lib.flip.flip()", True),
        # Without an import the name is the module's.
        ("", "lib.flip", False),
        ("from .flip import *", "lib.flip.crop()", True),  # either may be meant
    ],
)
def test_a_function_hides_the_module_of_its_name_that_a_package_raises_it_from(
    project: Project, lint: Lint, raised: str, call: str, *, found: bool
) -> None:
    draws = "import random\n\ndef flip():\n    return random.random()\n\ndef crop():\n    pass\n"
    project({"lib/__init__.py": f"{raised}\n", "lib/flip.py": draws})
    project({"train.py": f"import torch\nimport lib.flip\n\nx = {call}\n{TRAINS}"})
    assert lint() == ["lib/flip.py:4"] * found


@pytest.mark.parametrize("name", ["TABLE", "__table__"])
def test_what_a_table_holds_is_in_use_where_its_name_is(name: str) -> None:
    text = f"def draw():\n    pass\n\n\n{name} = [draw]\n"
    uses = outline(text).uses
    assert (uses[""].own, uses[name].own) == ([], ["draw"])
