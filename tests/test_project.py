"""Findings of programs: facts of several files, linked over what an entrypoint imports."""

from __future__ import annotations

import json
import os
import re
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from linted_places import place_of, place_told

from detlint.cli import main
from detlint.index.entrypoints import is_entrypoint
from detlint.index.folders import Folders
from detlint.index.imports import Import, imports
from detlint.index.modules import Modules
from detlint.index.scan import Outline, Uses, outline
from detlint.link import Linker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.engine import Engine

    Project = Callable[[dict[str, str]], Path]
    Lint = Callable[..., list[str]]

MAIN = 'if __name__ == "__main__":\n    main()\n    save()\n'
SEEDS = "import numpy as np\n\ndef seed(s):\n    np.random.seed(s)\n"
DRAWS = "import numpy as np\n\ndef main():\n    np.save('a', np.random.rand(3))\n\n" + MAIN


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., list[str]]:
    """``path:row code`` of what each finding of the command line is about."""

    def run(*arguments: str, paths: tuple[str, ...] = (".",), cache: bool = False) -> list[str]:
        kept = ["--cache-dir", str(tmp_path / ".cache")] if cache else ["--no-cache"]
        main([*kept, "--output-format", "json", *arguments, *paths])
        found = json.loads(capsys.readouterr().out)
        return [f"{place_told(each)} {each['code']}" for each in found]

    return run


def test_a_draw_that_nothing_seeds_is_found_where_it_is(project: Project, lint: Lint) -> None:
    project(
        {
            "train.py": "from data import batch\n\ndef main():\n"
            "    batch().backward(); o.step()\n\n" + MAIN,
            "data.py": "import numpy as np\n\ndef batch():\n    return np.random.rand(3)\n",
        }
    )
    assert lint("--select", "DET102") == ["data.py:4 DET102"]
    assert lint("--select", "DET102", paths=("train.py",)) == ["data.py:4 DET102"]
    assert lint("--select", "DET102", paths=("data.py",)) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("print(x)", 0),
        ("np.save('a', x)", 1),
        ("pathlib.Path('a').write_text(str(x))", 1),
        ("file = open('a', 'w')", 1),
        ("frame(x).to_csv('a')", 1),
        ("shutil.copy('a', str(x))", 1),
        ("y = x.copy()", 0),
        ("loss(x).backward(); o.step()", 1),
    ],
)
def test_a_program_that_neither_trains_nor_writes_is_only_possible(
    project: Project, lint: Lint, line: str, found: int
) -> None:
    block = MAIN.replace("    save()\n", "")
    text = f"import numpy as np\n\ndef main():\n    x = np.random.rand(3)\n    {line}\n\n{block}"
    project({"make.py": text.replace("numpy as np", "torch, numpy as np")})
    assert len(lint("--select", "DET102")) == found
    assert "make.py:4 DET102" in lint("--min-confidence", "possible")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("model.learn(10000); model.save('a')", 1),
        ("model.fit(x); model.save('a')", 1),
        ("model.train(); model.save('a')", 0),
        ("np.save('a', x)", 0),
        ("assert model.learn(10000); model.save('a')", 0),
    ],
)
def test_a_program_named_as_a_test_that_trains_by_a_method_is_none(
    project: Project, lint: Lint, line: str, found: int
) -> None:
    text = f"import torch, numpy as np\n\ndef go():\n    x = np.random.rand(3)\n    {line}\n\n"
    project({"test_rl.py": text + MAIN.replace("main()", "go()").replace("    save()\n", "")})
    assert len(lint("--select", "DET102")) == found


SHARES = "import os, random\n{}\n\nnames = sorted(os.listdir('all'))\n{}\n"


@pytest.mark.parametrize(
    ("imports", "lines", "found"),
    [
        ("from shutil import move", "for x in random.sample(names, 9): move(x, 'test/')", 1),
        ("import shutil", "random.shuffle(names)\nshutil.copy2(names[0], 'train/')", 1),
        (
            "import shutil",
            "random.seed(1); random.shuffle(names)\nshutil.move(names[0], 'val/')",
            0,
        ),
        ("import shutil", "random.shuffle(names)\nshutil.copy(names[0], 'shown/')", 0),
        ("import shutil", "port = random.random()\nshutil.copy(f'{port}', 'train/')", 0),
        ("", "random.shuffle(names)\nprint(names.copy(), 'train/')", 0),
    ],
)
def test_what_shares_files_out_at_random_makes_data(
    project: Project, lint: Lint, imports: str, lines: str, found: int
) -> None:
    project({"split.py": SHARES.format(imports, lines)})
    assert len(lint("--select", "DET102")) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Momentum(net).forward()", False),
        ("Momentum(net).step()", True),
        ("time(net)  # torch.functional.mse_loss(a, b)", False),
    ],
)
def test_a_program_takes_no_step_that_nothing_calls(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    steps = "class Momentum:\n    def forward(self):\n        return self.net\n"
    steps += "    def step(self):\n        self.rate.step()\n"
    text = f"import torch.cuda\nfrom steps import Momentum\nloss(3).backward()\n{line}\n"
    project({"steps.py": steps, "go.py": text})
    assert lint("--select", "DET304") == ["go.py:3 DET304"] * found


@pytest.mark.parametrize(
    ("where", "files"),
    [
        ("a helper", {"tools.py": SEEDS}),
        (
            "a re-export",
            {
                "tools/__init__.py": "from .deep.seeding import seed\n",
                "tools/deep/__init__.py": "",
                "tools/deep/seeding.py": SEEDS,
            },
        ),
        (
            "src",
            {
                "src/tools/__init__.py": "from tools.a import seed\n",
                "src/tools/a.py": "from tools.b import seed\n",
            }
            | {"src/tools/b.py": "import numpy.random as npr\ndef seed(s):\n    npr.seed(s)\n"},
        ),
        ("a namespace package", {"tools/a.py": "from numpy.random import seed as fix\nfix(3)\n"}),
    ],
)
def test_a_helper_that_seeds_counts_however_deep(
    project: Project, lint: Lint, where: str, files: dict[str, str]
) -> None:
    imported = "import tools.a" if where == "a namespace package" else "from tools import seed"
    called = DRAWS.replace("main():\n", "main():\n    seed(0)\n", 1)
    project({"train.py": f"{imported}\n{called}", **files})
    assert lint("--select", "DET102") == []
    if where != "a namespace package":
        project({"train.py": f"{imported}\n{DRAWS}"})
        assert lint("--select", "DET102") == ["train.py:5 DET102"]


def test_what_does_not_run_does_not_count(project: Project, lint: Lint) -> None:
    project(
        {
            "train.py": "from data import load\n\ndef main():\n    load()\n\n" + MAIN,
            "data.py": """
            import numpy as np

            def load():
                return 0

            def unused():
                return np.random.rand(3)

            if __name__ == "__main__":
                load()
        """,
        }
    )
    assert lint("--select", "DET102") == []


def test_methods_of_a_class_that_is_used_run(project: Project, lint: Lint) -> None:
    project(
        {
            "train.py": "import data as d\n\ndef main():\n    d.Data()[0].backward(); o.step()\n\n"
            + MAIN,
            "data.py": """
            import numpy as np

            class Data:
                def __getitem__(self, index):
                    return np.random.rand(3)
        """,
        }
    )
    assert lint("--select", "DET102") == ["data.py:6 DET102"]


CLOUDS = """
    import numpy as np
    import torch

    class Clouds(torch.utils.data.Dataset):
        def __getitem__(self, i):
            return self.clouds[i][np.random.choice(9, 3)]

    class Augmented(torch.utils.data.Dataset):
        def __getitem__(self, i):
            if self.augments:
                return self.clouds[i] + np.random.rand()
"""
EVALUATION = """
    import json
    import torch
    from clouds import Clouds

    def main():
        {seeds}
        right = sum(model(x) for x in torch.utils.data.DataLoader(Clouds()))
        {end}

    if __name__ == "__main__":
        main()
"""


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, ["clouds.py:7 DET102"]),
        ({"seeds": "seed_everything(0)"}, []),
        ({"end": "print(right)"}, []),
        ({"name": "Augmented"}, ["clouds.py:12 DET102"]),
    ],
)
def test_what_a_data_set_draws_where_a_model_is_evaluated(
    project: Project, lint: Lint, changes: dict[str, str], found: list[str]
) -> None:
    given = {"seeds": "pass", "end": "json.dump(right, open('a.json', 'w'))", **changes}
    name = given.pop("name", "Clouds")
    text = EVALUATION.format(**given).replace("Clouds", name)
    project({"clouds.py": CLOUDS, "evaluate.py": text})
    assert lint("--select", "DET102") == found


@pytest.mark.parametrize(
    ("transform", "found"),
    [
        ("transforms.RandomHorizontalFlip()", ["train.py:7 DET102"]),
        ("transforms.CenterCrop(224)", []),
        ("audiomentations.Compose([audiomentations.Gain()])", ["train.py:7 DET102"]),
        ("audiomentations.Compose([audiomentations.Normalize(p=1)])", []),
        ("audiomentations.AddGaussianNoise()", ["train.py:7 DET102"] * 2),
        ("imgaug.augmenters.Sequential([imgaug.augmenters.Fliplr(0.5)])", ["train.py:7 DET102"]),
        ("imgaug.augmenters.Sequential([imgaug.augmenters.Resize(8)])", []),
        ("torch_audiomentations.Compose([Shift()])", ["train.py:7 DET102"]),
        ("torch_audiomentations.Compose([torch_audiomentations.Identity()])", []),
        ("torchaudio_augmentations.PolarityInversion()", []),
        ("torchaudio_augmentations.Delay(8000)", ["train.py:7 DET102"]),
        ("torch.nn.Dropout(0.1)", ["train.py:7 DET102"]),
        ("torch.nn.Dropout(0.0)", []),
    ],
)
def test_transforms_and_dropout_draw(
    project: Project, lint: Lint, transform: str, found: list[str]
) -> None:
    text = f"""
        import audiomentations, imgaug.augmenters, torch, torchaudio_augmentations
        import torch_audiomentations; from torch_audiomentations import Shift
        from torchvision import models, transforms
        model = models.resnet18(weights="DEFAULT")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = Images({transform})
        for x in torch.utils.data.DataLoader(data):
            model(x).mean().backward()
            optimizer.step()
    """
    project({"train.py": text})
    assert lint("--select", "DET102") == found


PREPARED = """\
import numpy as np

class Rows:
    def prepare(self, noise=None):
        self.x = self.x + np.random.normal(0, 0.05, 4) if noise else self.x
"""


@pytest.mark.parametrize(
    ("given", "found"), [("noise=True", True), ("True", True), ("", False), ("noise=False", False)]
)
def test_what_a_call_turns_on_is_drawn_where_a_model_is_evaluated(
    project: Project, lint: Lint, given: str, *, found: bool
) -> None:
    text = f"""
        import torch
        from rows import Rows

        if __name__ == "__main__":
            data = Rows()
            data.prepare({given})
            with torch.no_grad():
                torch.save(net(data.x), "answers.pt")
    """
    project({"predict.py": text, "rows.py": PREPARED})
    assert lint("--select", "DET102") == ["rows.py:5 DET102"] * found


REGISTERED = """
    import random
    from registry import DATA

    @DATA.register("noisy")
    class Noisy:
        def __getitem__(self, i):
            return random.random()
"""
LISTED = "from glob import glob\n__all__ = [f[:-3] for f in glob(__path__[0])]\n"


@pytest.mark.parametrize(
    ("package", "found"),
    [
        ('for name in names: importlib.import_module(f"{__name__}.{name}")\n', True),
        ('for name in names: import_module(__package__ + "." + name)\n', True),
        ('for name in names: importlib.import_module(f"{other}.{name}")\n', False),
        (f"{LISTED}from . import *\n", True),
        ("names = ['noisy']\n", False),
    ],
)
def test_a_package_that_imports_all_that_stands_in_it(
    project: Project, lint: Lint, package: str, *, found: bool
) -> None:
    train = """
        import torch
        import data
        from registry import DATA

        def main():
            torch.manual_seed(0)
            for x in torch.utils.data.DataLoader(DATA.build(name)):
                net(x).sum().backward(); opt.step()

        if __name__ == "__main__":
            main()
    """
    texts = {"data/__init__.py": package, "data/noisy.py": REGISTERED, "train.py": train}
    project({"registry.py": "DATA = Registry()\n", **texts})
    assert lint("--select", "DET102") == ["data/noisy.py:8 DET102"] * found


def test_one_finding_an_entrypoint_and_library(project: Project, lint: Lint) -> None:
    text = """
        import random
        import numpy as np
        import torch

        def main():
            save(random.random(), random.random(), np.random.rand(), torch.rand(2))

        if __name__ == "__main__":
            main()
    """
    project({"train.py": text, "test_train.py": text})
    assert lint("--select", "DET102") == ["train.py:7 DET102"] * 3


def test_determinism_may_be_turned_on_anywhere_in_the_closure(project: Project, lint: Lint) -> None:
    step = "import torch.cuda\n\ndef step(loss):\n    loss.backward(); o.step()\n"
    project(
        {
            "on.py": "import switch\nfrom engine import step\n\nswitch.on()\nstep(1)\n\n" + MAIN,
            "off.py": "from engine import step\n\ndef main():\n    step(1)\n\n" + MAIN,
            "switch.py": "from torch import use_deterministic_algorithms as on\n\non(True)\n",
            "engine.py": step,
        }
    )
    assert lint("--select", "DET304") == ["engine.py:4 DET304"]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("  deterministic: true", "load('conf/base.yaml')", None),
        ("  deterministic: true", 'load(config_name="base")', None),
        ("  'Deterministic' : true", "load('conf/base.yaml')", None),
        ("  deterministic_mode: true", "load('conf/base.yaml')", "likely"),
        ("  deterministic: true", "load(sys.argv[1])", "possible"),
        ("  deterministic: false", "load('conf/base.yaml')", "likely"),
        ("  deterministic: warn", "load('conf/base.yaml')", "likely"),
        ("deterministic: true", "load('conf/base.yaml')", "likely"),
    ],
)
def test_a_configuration_may_turn_determinism_on(
    project: Project, capsys: pytest.CaptureFixture[str], text: str, line: str, told: str | None
) -> None:
    trainer = f"trainer:\n  max_epochs: 3\n  accelerator: gpu\n  devices: 1\n{text}\n"
    lines = "import lightning, sys, yaml\n\ndef main():\n"
    fit = f"    lightning.Trainer(**{line}['trainer']).fit(model)\n\n{MAIN}"
    project({"train.py": lines + fit, "conf/base.yaml": trainer})
    options = ("--select", "DET304", "--output-format", "json", "--min-confidence", "possible")
    main(["--no-cache", *options, "."])
    found = [each["confidence"] for each in json.loads(capsys.readouterr().out)]
    assert found == ([] if told is None else [told])


@pytest.mark.parametrize(("setting", "found"), [("benchmark", True), ("deterministic", False)])
def test_a_trainer_of_a_namespace(
    project: Project, lint: Lint, setting: str, *, found: bool
) -> None:
    made = f"Namespace(max_epochs=2, precision=16, {setting}=True)"
    lines = "import lightning as L\nfrom argparse import Namespace\n\ndef main():\n"
    fit = f"    t = L.Trainer.from_argparse_args({made})\n    t.fit(model, data)\n\n{MAIN}"
    project({"train.py": lines + fit})
    assert lint("--select", "DET304") == ["train.py:6 DET304"] * found


def test_a_step_of_a_class_that_only_answers_trains_nothing(project: Project, lint: Lint) -> None:
    step = "    def update(self, loss):\n        loss.backward(); o.step()\n"
    buffer = "class Buffer:\n    def update(self, row):\n        pass\n"
    agents = f"import torch.cuda\n\nclass Agent:\n    def act(self):\n        pass\n{step}{buffer}"
    made = "import torch.cuda\nfrom agents import Agent, Buffer\n\ndef main():\n"
    project(
        {
            "agents.py": agents,
            "plays.py": f"{made}    buffer = Buffer()\n    buffer.update(Agent().act())\n\n{MAIN}",
            "trains.py": f"{made}    agent = Agent()\n    agent.update(agent.act())\n\n{MAIN}",
        }
    )
    assert [each.split()[0] for each in lint("--select", "DET304")] == ["agents.py:7"]


def test_changing_one_file_links_again_and_reads_no_other(
    project: Project, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(
        {"train.py": f"from tools import seed\nseed(0)\n{DRAWS}"}
        | {"tools.py": "def seed(s):\n    pass\n"}
    )
    long_ago = 1_600_000_000
    for name in ("train.py", "tools.py"):
        os.utime(root / name, (long_ago, long_ago))
    assert lint("--select", "DET102", cache=True) == ["train.py:6 DET102"]
    (root / "tools.py").write_text("import numpy as np\n\ndef seed(s):\n    np.random.seed(s)\n")
    read: list[str] = []
    real = open

    def noting(path: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        read.append(os.path.basename(str(path)))
        return real(path, *arguments, **options)

    monkeypatch.setattr("builtins.open", noting)
    assert lint("--select", "DET102", cache=True) == []
    assert "tools.py" in read


def test_a_suppression_holds_and_is_not_reported_as_unused(project: Project, lint: Lint) -> None:
    line = "    np.save('a', np.random.rand(3))"
    project({"train.py": DRAWS.replace(line, f"{line}  # detlint: ignore[DET102] a demo")})
    assert lint("--select", "DET102,DET001") == []
    project({"train.py": "# detlint: skip-file\n" + DRAWS})
    assert lint("--select", "DET102,DET001") == []


def test_per_file_ignores_hold(project: Project, lint: Lint) -> None:
    root = project({"train.py": DRAWS})
    table = '[tool.detlint]\nselect = ["DET102"]\nper-file-ignores = { "train.py" = ["DET102"] }\n'
    (root / "pyproject.toml").write_text(table, encoding="utf-8")
    assert lint() == []


def test_the_fix_turns_guard_on_once_for_all_of_it(project: Project, lint: Lint) -> None:
    root = project(
        {
            "train.py": '''
            """A program."""
            import random
            import torch.cuda

            model = torch.nn.Linear(2, 1)
            random.shuffle([1, 2])
            model(torch.rand(3, 2)).sum().backward(); o.step()
        '''
        }
    )
    (root / "train.py").write_text((root / "train.py").read_text().lstrip("\n"))
    assert lint("--select", "DET102,DET304", "--fix", "--unsafe-fixes") == []
    assert (
        (root / "train.py")
        .read_text()
        .startswith(
            '"""A program."""\nimport random\nimport torch.cuda\nimport guard\n\n'
            "guard.enable(seed=0)\n"
        )
    )


OWN = ["guard/__init__.py", "guard.py", "src/guard/__init__.py"]


@pytest.mark.parametrize("own", [*OWN, "src/others/guard.py"])
def test_a_project_with_a_guard_of_its_own_is_not_told_to_use_ours(
    own: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project({"train.py": DRAWS, own: "def watch():\n    pass\n"})
    select = ["--no-cache", "--select", "DET102", str(root)]
    main([*select, "--output-format", "full"])
    told = capsys.readouterr().out
    assert "np.random.seed(seed)" in told
    assert ("guard.enable(seed=0)" in told) is (own not in OWN)
    main([*select, "--fix", "--unsafe-fixes"])
    assert ((root / "train.py").read_text() == DRAWS) is (own in OWN)


LOADER = """
import numpy as np
from torch.utils.data import DataLoader, Dataset


rng = np.random.default_rng(0)


class Noise(Dataset):
    def __getitem__(self, i):
        return rng.normal()


loader = DataLoader(Noise(), shuffle=True, num_workers=2)
"""
BOTH = "DET201,DET202"


@pytest.mark.parametrize("own", [*OWN, "src/others/guard.py"])
def test_a_loader_of_such_a_project_is_not_given_ours(
    own: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project({"data.py": LOADER, own: "def watch():\n    pass\n"})
    select = ["--no-cache", "--select", BOTH, str(root)]
    main([*select, "--output-format", "full"])
    told = capsys.readouterr().out
    assert all(code in told for code in BOTH.split(","))
    assert ("guard." in told) is (own not in OWN)
    main([*select, "--fix", "--unsafe-fixes"])
    assert ((root / "data.py").read_text() == LOADER) is (own in OWN)


def test_our_own_guard_lies_beside_detlint(project: Project) -> None:
    root = project({"train.py": DRAWS, "guard/__init__.py": "", "detlint/__init__.py": ""})
    main(["--no-cache", "--select", "DET102", "--fix", "--unsafe-fixes", str(root)])
    assert "guard.enable(seed=0)" in (root / "train.py").read_text()


def test_a_link_out_of_the_tree_is_not_followed(
    project: Project, lint: Lint, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "tools.py"
    outside.write_text("import numpy as np\n\ndef seed(s):\n    np.random.seed(s)\n")
    root = project({"train.py": f"from tools import seed\n{DRAWS}"})
    (root / "tools.py").symlink_to(outside)
    assert lint("--select", "DET102", paths=("train.py",)) == ["train.py:5 DET102"]


def test_files_that_import_each_other_end(project: Project, lint: Lint) -> None:
    project({"train.py": f"import other\n{DRAWS}", "other.py": "import train\n"})
    assert lint("--select", "DET102") == ["train.py:5 DET102"]


def test_a_file_of_the_closure_that_does_not_parse_is_left_to_its_own_finding(
    project: Project, lint: Lint
) -> None:
    project({"train.py": f"import broken\n{DRAWS}", "broken.py": "np.random.seed(0\n"})
    assert lint("--select", "DET000,DET102") == ["broken.py:1 DET000", "train.py:5 DET102"]


def test_a_file_is_told_that_holds_what_a_program_does_and_does_not_parse(
    project: Project, lint: Lint
) -> None:
    steps = "import torch.cuda\ndef step(loss, x):\n    print 'x'\n    loss.backward()\n"
    main = "from steps import step\n\nif __name__ == '__main__':\n    step(1, 2)\n"
    project({"train.py": main, "steps.py": steps})
    assert lint("--select", "DET000,DET304") == ["steps.py:3 DET000"]
    assert lint("--select", "DET000,DET304", cache=True) == ["steps.py:3 DET000"]
    assert lint("--select", "DET000,DET304", cache=True) == ["steps.py:3 DET000"]
    assert lint("--select", "DET304", "--ignore", "DET000") == []


def test_async_is_a_name_in_code_of_python_3_6(project: Project, lint: Lint) -> None:
    step = "    loss = model(x.cuda(async=True)).sum()\n    loss.backward()\n    opt.step()\n"
    text = "import torch\n\nmodel = torch.nn.Conv2d(3, 1, 2)\n"
    text += "opt = torch.optim.SGD(model.parameters())\n"
    project({"train.py": f"{text}for x in torch.load('x.pt'):\n{step}"})
    rules = ("--select", "DET000,DET102,DET304")
    assert lint(*rules) == ["train.py:3 DET102", "train.py:7 DET304"]
    project({"train.py": f"{text}for x in torch.load('x.pt'):\n{step.replace('async', 'class')}"})
    assert lint(*rules) == ["train.py:6 DET000"]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (MAIN, True),
        ("if '__main__' == __name__:\n    pass\n", True),
        ("import torch\nfor x in data:\n    loss(x).backward()\n", True),
        ("def train():\n    loss.backward()\n", False),
        ('"""Call ``loss.backward()``."""\n', False),
        ("x = 1\n", False),
        ("", False),
    ],
)
def test_what_is_an_entrypoint(text: str, *, runs: bool) -> None:
    assert is_entrypoint("train.py", text) is runs
    assert not is_entrypoint("test_train.py", f"import pytest\n{text}")
    assert not is_entrypoint("test_train.py", f"def test_it():\n    pass\n{text}")
    assert is_entrypoint("package/__main__.py", text)


def test_a_name_of_a_test_that_says_training_is_that_of_a_program_without_tests() -> None:
    text = "import torch\nfor x in data:\n    loss(x).backward()\n"
    assert is_entrypoint("train_test.py", text)
    assert not is_entrypoint("model_test.py", "import torch\nargs = parser.parse_args()\n")
    assert is_entrypoint("train_test.py", "import torch\nargs = parser.parse_args()\n")
    assert not is_entrypoint("train_test.py", f"import pytest\n{text}")
    assert not is_entrypoint("train_test.py", f"{text}\ndef test_it():\n    pass\n")


def test_a_main_block_beside_nothing_that_pytest_could_run_is_a_program() -> None:
    text = f"def test_model(path):\n    return load(path)\n\n{MAIN}"
    assert is_entrypoint("test_model.py", text)
    assert not is_entrypoint("test_model.py", text.partition("if __name__")[0])
    trains = "import torch\nfor x in loader:\n    loss.backward()\n    optimizer.step()\n"
    assert is_entrypoint("test_model.py", trains)
    assert not is_entrypoint("test_model.py", f"{trains}assert loss < 1\n")
    assert is_entrypoint("test_model.py", "from a import train\ntrain(model, loader)\n")
    assert not is_entrypoint("test_model.py", '"""\ntrain(model)\n"""\n')
    assert not is_entrypoint("test_model.py", text.replace("return", "assert"))
    helpers = "class TestMaker:\n    pass\n\n\ndef test_forward():\n    return 1\n\n\n"
    main = f"def main():\n    test_forward()\n\n\n{MAIN}"
    assert is_entrypoint("test_model.py", f"{helpers}{main}")
    assert is_entrypoint("test_model.py", f"{helpers}args = parser.parse_args()\n{MAIN}")
    assert not is_entrypoint("test_model.py", f"{helpers}{MAIN}")
    assert not is_entrypoint("tests/test_model.py", f"{helpers}{main}")
    assert not is_entrypoint("test_model.py", f"import pytest\n{helpers}{main}")
    assert not is_entrypoint("test_model.py", f"{helpers}{main}".replace("return", "assert"))
    assert not is_entrypoint("conftest.py", text)
    own = f"{helpers}{MAIN}".replace("main()", "pytest.main([__file__])")
    assert is_entrypoint("kernel.py", f"{helpers}{MAIN}")
    assert not is_entrypoint("kernel.py", f"import pytest\n{own}")
    assert not is_entrypoint("kernel.py", f"{helpers}{MAIN}".replace("main()", "unittest.main()"))


def test_imports_are_read_as_they_run() -> None:
    text = textwrap.dedent("""
        import a.b, c as d
        from . import (
            e,  # first
            f as g,
        )
        from ..h.i import j
        if TYPE_CHECKING:
            from k import l

            from m import n
        def later():
            from o import p \\
                , q
        from r import *
    """)
    assert imports(text) == [
        Import("a.b", 0, ()),
        Import("c", 0, ()),
        Import("", 1, ("e", "f")),
        Import("h.i", 2, ("j",)),
        Import("k", 0, ("l",), typed=True),
        Import("m", 0, ("n",), typed=True),
        Import("o", 0, ("p", "q")),
        Import("r", 0, ("*",)),
    ]


def test_modules_are_found_as_python_finds_them(tmp_path: Path) -> None:
    for name in ("p/__init__.py", "p/q/__init__.py", "p/q/m.py", "p/n.py", "src/s.py", "p/run.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    finder = Modules(str(tmp_path), Folders())

    def found(wanted: Import) -> list[str]:
        run = str(tmp_path / "p" / "q" / "m.py")
        return [os.path.relpath(each, tmp_path) for each in finder.files(run, wanted)]

    assert found(Import("p.q.m", 0, ())) == ["p/__init__.py", "p/q/__init__.py", "p/q/m.py"]
    assert found(Import("", 2, ("n",))) == ["p/__init__.py", "p/n.py"]
    assert found(Import("s", 0, ("x",))) == ["src/s.py"]
    assert found(Import("torch", 0, ())) == []


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["kit/setup.py", "kit/net/a.py"], "kit/net/a.py"),
        (["kit/pyproject.toml", "kit/src/net/a.py"], "kit/src/net/a.py"),
        (["net/setup.py", "net/net/a.py"], "net/net/a.py"),
        (["net/setup.py", "net/net/__init__.py", "net/net/a.py"], "net/net/a.py"),
        (["net/setup.py", "net/a.py"], "net/a.py"),  # it only has the name of the package
        (["net/__init__.py", "net/setup.py", "net/a.py", "net/net/a.py"], "net/a.py"),
        (["kit/net/a.py"], None),  # nothing installs it
        (["scripts/net/a.py", "kit/setup.py", "kit/net/a.py"], "scripts/net/a.py"),
    ],
)
def test_a_package_may_be_installed_from_a_folder_beside(
    tmp_path: Path, files: list[str], found: str | None
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "scripts").mkdir(exist_ok=True)
    finder = Modules(str(tmp_path), Folders())
    told = finder.files(str(tmp_path / "scripts" / "train.py"), Import("net.a", 0, ("fit",)))
    assert [each for each in told if each.endswith("a.py")] == (
        [] if found is None else [str(tmp_path / found)]
    )


@pytest.mark.parametrize("repository", ["repo", "self-critical.pytorch"])
@pytest.mark.parametrize("start", [".", "repository", "outside"])
def test_where_detlint_starts_changes_nothing(  # noqa: PLR0913, PLR0917
    project: Project,
    lint: Lint,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    repository: str,
    start: str,
) -> None:
    train = "from lib.data import batch\nbatch().backward(); o.step()\n"
    data = "import numpy as np\n\ndef batch():\n    return np.random.rand(3)\n"
    root = project({f"{repository}/tools/train.py": train, f"{repository}/lib/data.py": data})
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    monkeypatch.chdir({".": root, "repository": root / repository, "outside": outside}[start])
    (root / repository / ".git").mkdir()
    found = lint("--select", "DET102", "--isolated", paths=(str(root / repository),))
    assert found == ["lib/data.py:4 DET102"]


def test_a_module_of_a_packages_name_holds_no_others(tmp_path: Path) -> None:
    for name in ("p/sub/p.py", "p/sub/other.py", "run.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    finder = Modules(str(tmp_path), Folders())
    inside = str(tmp_path / "p" / "sub" / "p.py")
    found = finder.files(inside, Import("p.sub.other", 0, ("x",)))
    assert [os.path.relpath(each, tmp_path) for each in found] == ["p/sub/other.py"]
    assert finder.files(inside, Import("p", 0, ("x",))) == ()


def test_what_a_file_imports_by_its_own_name_is_another(tmp_path: Path) -> None:
    for name in ("p/sub/tools.py", "p/sub/run.py", "tools.py", "p/sub/lib.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    finder = Modules(str(tmp_path), Folders())

    def found(importer: str, module: str) -> list[str]:
        files = finder.files(str(tmp_path / importer), Import(module, 0, ("x",)))
        return [os.path.relpath(each, tmp_path) for each in files]

    assert found("p/sub/run.py", "tools") == ["p/sub/tools.py"]
    assert found("p/sub/tools.py", "tools") == ["tools.py"]
    assert found("tools.py", "tools") == []
    assert finder.holds(str(tmp_path / "p" / "sub" / "run.py"), "lib")
    assert not finder.holds(str(tmp_path / "p" / "sub" / "lib.py"), "lib")


def test_an_outline_holds_what_code_uses() -> None:
    text = textwrap.dedent('''
        import lib.tools as t
        from lib import helper as h
        __all__ = ["unused"]
        table = {"used": [used]}
        sizes = {"used": 1}
        made = [used()]

        def used():
            """unused"""
            return t.deep.call(h)

        def unused(): ...

        @register
        def registered(): ...

        used()
        if __name__ == "__main__":
            main()
        def main(): ...
    ''')
    found = outline(text)
    nothing: list[str] = []
    assert found.uses == {
        "": Uses(["registered", "used"], *[nothing] * 4),
        "__main__": Uses(["main"], *[nothing] * 4),
        "table": Uses(["used"], *[nothing] * 4),
        "used": Uses(
            [],
            ["call", "deep", "helper"],
            ["lib.tools:deep.call", "lib:helper"],
            ["call"],  # what a module has is no method
            ["helper"],
        ),
        "unused": Uses(*[nothing] * 5),
        "registered": Uses(*[nothing] * 5),
        "main": Uses(*[nothing] * 5),
    }
    assert found.bound == {"t": ["lib.tools:"], "h": ["lib:helper"]}
    assert found.starts == [
        *((1, ""), (5, "table"), (6, ""), (9, "used"), (13, "unused"), (15, "registered")),
        *((18, ""), (19, "__main__"), (21, "main")),
    ]
    told = json.dumps(found.dump())
    assert json.dumps(Outline.load(json.loads(told)).dump()) == told


def test_a_function_means_what_it_imports_itself() -> None:
    text = textwrap.dedent("""
        from plain import build

        def fit(x):
            from deep import build, fit
            return build(x) or fit(x)

        def tune(x):
            from fine import fit
            return build(x) or fit(x)

        class Search:
            def start(self):
                from far import fit
                return fit

            def __init__(self):
                from near import fit
                self.fit = fit()
    """)
    uses = outline(text).uses
    assert uses["fit"].origins == ["deep:build", "deep:fit"]
    assert uses["tune"].origins == ["deep:build", "fine:fit", "plain:build"]
    assert uses["Search.start"].origins == ["far:fit"]
    # What a class is made for is one part.
    assert set(uses["Search"].origins) >= {"near:fit", "far:fit"}


def test_a_tool_answers_for_what_it_draws_and_keeps(project: Project, lint: Lint) -> None:
    shows = MAIN.replace("    save()\n", "")
    files = {
        "tool.py": "from data import batch\n\ndef main():\n    print(batch())\n\n" + shows,
        "data.py": "import numpy as np\n\ndef batch():\n    return np.random.rand(3)\n",
        "package/__init__.py": "",
        "package/layer.py": "import numpy as np\n" + MAIN.replace("main()", "np.random.rand(3)"),
    }
    project(files)
    assert lint("--select", "DET102") == []
    project({"tool.py": DRAWS})
    assert lint("--select", "DET102") == ["tool.py:4 DET102"]


TRAINS = "import random\nimport torch\n{}\ndef train(e):\n    random.random()\n"
TRAINS += "    loss.backward()\n    optimizer.step()\n\n{}\n"


@pytest.mark.parametrize(
    ("imports", "end"),
    [
        ("import fire", "if __name__ == '__main__':\n    fire.Fire()"),
        ("from jsonargparse import CLI", "if __name__ == '__main__':\n    CLI()"),
        (
            "import tensorflow as tf",
            "def main(_):\n    train(1)\nif __name__ == '__main__':\n    tf.app.run()",
        ),
        (
            "from functools import partial",
            "epoch = partial(train, 1)\nfor _ in range(3):\n    epoch()",
        ),
    ],
)
def test_functions_run_that_a_command_line_or_a_partial_offers(
    project: Project, lint: Lint, imports: str, end: str
) -> None:
    project({"run.py": TRAINS.format(imports, end)})
    assert lint("--select", "DET102") == ["run.py:5 DET102"]
    project({"run.py": TRAINS.format(imports, "if __name__ == '__main__':\n    other()")})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("name", "imports"),
    [
        ("verify_model.py", ""),
        ("speedtest/matmul.py", ""),
        ("serve/server.py", ""),
        ("matmul.py", "import torch.utils.benchmark as benchmark\n"),
    ],
)
def test_what_only_tries_or_serves_may_draw(
    project: Project, lint: Lint, name: str, imports: str
) -> None:
    project({name: imports + DRAWS, "draws.py": DRAWS})
    assert lint("--select", "DET102") == ["draws.py:4 DET102"]


def test_the_main_block_of_a_module_tries_what_it_defines(project: Project, lint: Lint) -> None:
    tries = "import numpy as np\n\ndef item():\n    return np.random.rand(3)\n\n"
    tries += MAIN.replace("main()", "print(item())")
    project({"data.py": tries, "make_data.py": tries})
    assert lint("--select", "DET102") == ["data.py:4 DET102", "make_data.py:4 DET102"]
    project({"main.py": "import data, make_data\n\nprint(data.item)\n" + MAIN[:-11]})
    assert lint("--select", "DET102") == ["make_data.py:4 DET102"]
    takes = tries.replace("print(item())", "args = parse()\n    print(item(args))")
    project({"data.py": takes})
    assert lint("--select", "DET102") == ["data.py:4 DET102", "make_data.py:4 DET102"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from rows import size", True),
        ("import rows", True),
        ("from rows import other", False),
        ("from .rows import size", False),
        ("from pkg.rows import size", False),
        ("import logging", False),
    ],
)
def test_what_imports_its_neighbour_as_a_script_does_is_no_module_of_a_package(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    tries = f"import numpy as np\n{line}\n\ndef item():\n    return np.random.rand(3)\n\n"
    tries += MAIN.replace("main()", "print(item())")
    project({"pkg/__init__.py": "", "pkg/rows.py": "size = 3\n", "pkg/logging.py": ""})
    project({"pkg/data.py": tries})
    assert lint("--select", "DET102") == (["pkg/data.py:5 DET102"] if found else [])


def test_a_module_that_takes_options_is_no_try(project: Project, lint: Lint) -> None:
    draws = "import random\nimport numpy as np\n\n" + MAIN.replace("main()", "a = parse_args()")
    project(
        {"pick.py": f"{draws}    keep(random.choice(a.rows))\n", "use.py": f"import pick\n\n{MAIN}"}
    )
    assert lint("--select", "DET102") == ["pick.py:7 DET102"]
    project({"pick.py": f"{draws.replace('parse_args', 'f')}    keep(random.choice(a.rows))\n"})
    assert lint("--select", "DET102") == []


def test_a_trainer_that_is_not_made_seeds_nothing_that_does_not_train(
    project: Project, lint: Lint
) -> None:
    draws = "import random\nimport trainer\n\n" + MAIN.replace("main()", "a = random.choice(rows)")
    trainer = "import transformers\n\nclass Own(transformers.Trainer):\n    pass\n"
    project({"pick.py": draws, "trainer.py": trainer})
    assert lint("--select", "DET102") == ["pick.py:5 DET102"]
    made = draws.replace("a = ", "trainer.Own(rows)\n    a = ")
    project({"pick.py": f"{made}    print(a)\n"})
    assert lint("--select", "DET102") == []
    project({"pick.py": f"{draws}    trainer.Own(a)\n"})  # seeds what is drawn after it
    assert lint("--select", "DET102") == ["trainer.py:3 DET102"]


PROBE = """import torch

def probe(x, y):
    head = torch.nn.Conv2d(3, 1, 2)
    optimizer = torch.optim.Adam(head.parameters())
    for rows in torch.randperm(len(x)):
        head(x[rows].cuda()).sum().backward()
        optimizer.step()
"""


def test_an_evaluation_that_calls_a_function_that_trains_trains(
    project: Project, lint: Lint
) -> None:
    shows = MAIN.replace("    save()\n", "")
    calls = f"import torch\nfrom probe import probe\n\n{shows}"
    files = {
        "probe.py": PROBE,
        "evaluate.py": calls.replace("main()", "probe(*torch.load('rows'))"),
    }
    project(files)
    assert lint("--select", "DET102,DET304") == ["probe.py:6 DET102", "probe.py:7 DET304"]
    attacks = "".join(x for x in PROBE.splitlines(keepends=True) if "optim" not in x)
    project({**files, "probe.py": attacks})
    assert lint("--select", "DET102,DET304") == []
    project({**files, "evaluate.py": calls.replace("main()", "print(torch.load('x'))")})
    assert lint("--select", "DET102,DET304") == []
    inner = PROBE.replace("\n", "\n    ").replace("(x, y)", "(self, x, y)")
    project(
        {
            "probe.py": inner.replace("import torch\n", "import torch\n\nclass Trainer:", 1),
            "evaluate.py": f"import probe\n\n{shows}".replace("main()", "probe.Trainer().probe()"),
        }
    )
    assert lint("--select", "DET102,DET304") == ["probe.py:7 DET102", "probe.py:8 DET304"]


def test_what_writes_data_for_a_model_and_picks_of_it_needs_no_numeric_library(
    project: Project, lint: Lint
) -> None:
    writes = (
        "import json\nimport random\n\nrows = json.load(open('raw.json'))\n{}\n"
        "json.dump(rows[9:], open('{}.json', 'w'))\n"
    )
    shuffles = "random.shuffle(rows)"
    project({"prepare.py": writes.format(shuffles, "train")})
    assert lint("--select", "DET102") == ["prepare.py:5 DET102"]
    project({"prepare.py": writes.format(f"random.seed(0); {shuffles}", "train")})
    assert lint("--select", "DET102") == []
    picks = "rows = [random.choice(rows)]"
    project({"prepare.py": writes.format(picks, "train")})
    assert lint("--select", "DET102") == ["prepare.py:5 DET102"]
    project({"prepare.py": writes.format("port = random.randint(1, 9)", "train")})
    assert lint("--select", "DET102") == []


def test_what_shuffles_what_it_writes_needs_no_numeric_library(
    project: Project, lint: Lint
) -> None:
    writes = "import pickle\nfrom random import choice, seed, shuffle\n\nrows = load()\n{}\n{}\n"
    dumps = "pickle.dump(rows[:9], open('kept', 'wb'))"
    project({"take.py": writes.format("shuffle(rows)", dumps)})
    assert lint("--select", "DET102") == ["take.py:5 DET102"]
    for line in ("seed(0); shuffle(rows)", "row = choice(rows)"):
        project({"take.py": writes.format(line, dumps)})
        assert lint("--select", "DET102") == []
    project({"take.py": writes.format("shuffle(rows)", "save(rows)")})
    assert lint("--select", "DET102") == []


def test_what_only_works_on_tables_is_numeric_too(project: Project, lint: Lint) -> None:
    draws = "import random\n{}\n\n" + MAIN.replace("main()", "rows = random.sample(rows, 3)")
    project({"pick.py": draws.format("import polars as pl")})
    assert lint("--select", "DET102") == ["pick.py:5 DET102"]
    project({"pick.py": draws.format("import socket")})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("stats.gamma.rvs(a=2, size=10)", True),
        ("stats.norm(0, 1).rvs(10)", True),
        ("law = stats.rv_discrete(values=v); law.rvs(size=3)", True),
        ("stats.norm.rvs(size=3, random_state=0)", False),
        ("stats.multivariate_normal(m, seed=0).rvs(3)", False),
        ("stats.norm.pdf(3)", False),
        ("stats.gaussian_kde(x).resample(3)", True),
        ("stats.gaussian_kde(x).resample(3, 0)", False),
        ("mine.resample(3)", False),
        ("Rotation.random(3)", True),
        ("Rotation.random(3, 0)", False),
        ("Rotation.random(rng=rng)", False),
        ("Rotation.identity()", False),
        ("m = Prophet(); m.fit(x); m.predict(x).to_csv('bounds')", True),
        ("m = Prophet(uncertainty_samples=100).fit(x); m.predict(x).to_csv('bounds')", True),
        ("m = Prophet(uncertainty_samples=0); m.fit(x); m.predict(x).to_csv('bounds')", False),
        ("m = LinearRegression(); m.fit(x); m.predict(x).to_csv('bounds')", False),
    ],
)
def test_objects_of_scipy_and_prophet_draw_from_numpy(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    imports = (
        "import pandas\nfrom prophet import Prophet\nfrom scipy import stats\n"
        "from scipy.spatial.transform import Rotation\n"
    )
    project({"draw.py": imports + MAIN.replace("main()", line)})
    assert lint("--select", "DET102") == ["draw.py:6 DET102"] * found
    seeds = f"import numpy as np\n{imports}\nnp.random.seed(0)\n{MAIN}"
    project({"draw.py": seeds.replace("main()", line)})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("CQR(space, metric='loss')", True),
        ("CQR(space, metric='loss', random_seed=0)", True),
        ("ASHA(space, metric='loss', random_seed=0)", True),
        ("ASHA.__name__", False),
    ],
)
def test_schedulers_of_syne_tune_draw_from_numpy_whatever_their_seed(
    project: Project, lint: Lint, made: str, *, found: bool
) -> None:
    text = (
        "import numpy as np\nfrom syne_tune.optimizer.baselines import ASHA, CQR\n\n"
        f"scheduler = {made}\nnp.save('best.npy', run(scheduler))\n"
    )
    project({"tune.py": text})
    assert lint("--select", "DET102") == ["tune.py:4 DET102"] * found
    project({"tune.py": text.replace("\nscheduler", "np.random.seed(0)\nscheduler")})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("drawn", "seed"),
    [
        ("algorithms.eaSimple(start, toolbox, 0.5, 0.2, 40)", "random.seed(0)"),
        ("pyro.sample('z', normal)", "torch.manual_seed(0)"),
        ("pyro.sample('z', normal)", "pyro.set_rng_seed(0)"),
        ("keras.preprocessing.sequence.skipgrams(words, 99, seed=0)", "random.seed(0)"),
        ("neurolab.net.newff([[0, 1]], [10, 1])", "np.random.seed(0)"),
        ("[langdetect.detect(x) for x in texts]", "DetectorFactory.seed = 0"),
        ("gt.random_graph(100, degrees)", "gt.seed_rng(42)"),
        ("gt.BlockState(graph).sample_graph()", "gt.seed_rng(42)"),
        ("tinygrad.Tensor.glorot_uniform(8, 3).numpy()", "tinygrad.Tensor.manual_seed(0)"),
        ("citylearn.citylearn.CityLearnEnv(schema).reset()", "np.random.seed(0)"),
        ("keras.backend.random_normal([5])", "np.random.seed(0)"),
        ("keras.random.normal([5])", "random.seed(0)"),
        ("cupy.random.normal(size=5).get()", "cupy.random.seed(0)"),
        ("torch.nn.functional.gumbel_softmax(logits)", "torch.manual_seed(0)"),
    ],
)
def test_functions_of_other_libraries_draw_from_global_generators(
    project: Project, lint: Lint, drawn: str, seed: str
) -> None:
    imports = (
        "import random\nimport numpy as np\nimport cupy, keras, neurolab, pyro\nimport torch\n"
    )
    imports += "from deap import algorithms; import citylearn.citylearn, langdetect, tinygrad\n"
    imports += "import graph_tool.all as gt; from langdetect import DetectorFactory\n"
    text = imports + MAIN.replace("main()", f"np.save('out.npy', {drawn})")
    project({"draw.py": text})
    assert lint("--select", "DET102") == ["draw.py:8 DET102"]
    project({"draw.py": text.replace("np.save", f"{seed}; np.save")})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("seed", "drawn", "found"),
    [
        ("jt.misc.set_global_seed(0)", "torch.rand(5)", True),
        ("jt.set_global_seed(0)", "torch.rand(5)", True),
        ("jt.set_global_seed(0)", "np.random.rand(5)", False),
        ("jt.seed(0)", "torch.rand(5)", True),
        ("jt.set_seed(0)", "np.random.rand(5)", True),
        ("unseen.set_global_seed(0)", "torch.rand(5)", False),
    ],
)
def test_a_seed_of_another_library_reaches_what_that_seeds(
    project: Project, lint: Lint, seed: str, drawn: str, *, found: bool
) -> None:
    imports = "import jittor as jt\nimport numpy as np\nimport torch\nimport unseen\n\n"
    project({"draw.py": imports + MAIN.replace("main()", f"{seed}; np.save('o.npy', {drawn})")})
    assert lint("--select", "DET102") == ["draw.py:7 DET102"] * found


def test_no_seed_of_another_library_reaches_a_generator_of_its_own(
    project: Project, lint: Lint, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "from langdetect import detect\nimport json\nimport guard\n\n"
    text += MAIN.replace("main()", "guard.enable(seed=0); json.dump(detect(text), open(path, 'w'))")
    project({"draw.py": text})
    assert lint("--select", "DET102") == ["draw.py:6 DET102"]
    main(["--no-cache", "--select", "DET102", "--output-format", "full", "."])
    assert "help: set DetectorFactory.seed = 0 at the start of draw.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("made", "then", "found"),
    [
        ("Wav2Vec2Model.from_pretrained(name)", "", True),
        ("HubertForCTC.from_pretrained(name).to('cpu')", "", True),
        ("Wav2Vec2Model.from_pretrained(name)", "self.heard.eval()", False),
        ("Wav2Vec2FeatureExtractor.from_pretrained(name)", "", False),
        ("BertModel.from_pretrained(name)", "", False),
    ],
)
def test_models_of_sound_mask_by_numpy_where_they_train(
    project: Project, lint: Lint, made: str, then: str, *, found: bool
) -> None:
    text = f"""
        import torch
        from transformers import BertModel, HubertForCTC, Wav2Vec2FeatureExtractor, Wav2Vec2Model

        class Net(torch.nn.Module):
            def __init__(self, name):
                self.heard = {made}
                {then}

        torch.manual_seed(0)
        net = Net("base")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.load("x.pt")).sum().backward()
        optimizer.step()
    """
    project({"train.py": text})
    assert lint("--select", "DET102") == ["train.py:7 DET102"] * found
    # Alone, it is loaded to be asked.
    project({"train.py": text.replace("self.heard", "heard")})
    assert lint("--select", "DET102") == []


def test_a_mode_is_no_training(project: Project, lint: Lint) -> None:
    text = "import torch\n\nclass Trainer:\n    def step(self):\n        self.train({})\n"
    text += "        self.loss.backward()\n        self.optimizer.step()\n\n"
    project({"run.py": text.format("mode=True") + MAIN.replace("main()", "Trainer().step()")})
    assert lint("--select", "DET304") == ["run.py:6 DET304"]


@pytest.mark.parametrize(
    "line",
    [
        "seed = random.randint(0, LIMIT) if randomize_seed else seed",
        "if seed == -1:\n        seed = random.randint(0, LIMIT)",
        "if args.seed is None:\n        args.seed = random.randint(0, LIMIT)",
    ],
)
def test_a_seed_may_be_drawn_where_that_is_asked_for(
    project: Project, lint: Lint, line: str
) -> None:
    text = "import random\nimport numpy as np\n\ndef main(seed):\n    {}\n\n" + MAIN
    project({"app.py": text.format(line)})
    assert lint("--select", "DET102") == []
    project({"app.py": text.format("seed = random.randint(0, LIMIT)")})
    assert lint("--select", "DET102") == ["app.py:5 DET102"]


IMPORTED = """
    import bmtrain as bmt
    import datasets
    import ours
    from bmtrain import (
        Sampler,
        init_distributed,
    )
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("bmt.init_distributed(seed=args.seed)", False),
        ("bmt.init_distributed(size=f(2), seed=3)", False),
        ("init_distributed(random_seed=3)", False),
        ("bmt.seed(args.seed)", False),
        ("bmt.set_deterministic_bmt(args)", False),
        ("bmt.improve_reproducibility(0)", False),
        ("zero.set_randomness(args['seed'])", False),
        ("bmt.LightningCLI(seed_everything_default=42)", False),
        ("bmt.LightningCLI(seed_everything_default=True)", True),
        ("bmt.set_deterministic(True)", True),
        ("torch.set_deterministic(args)", True),
        ("bmt.seed(None)", True),
        ("bmt.seed()", True),
        ("datasets.seed(3)", True),
        ("bmt.init_distributed(seed=None)", True),
        ("bmt.init_distributed(size=3)", True),
        ("Sampler(seed=3)", True),
        ("datasets.load(seed=3)", True),
        ("rows.start(seed=3)", True),
        ("ours.start(seed=3)", True),
    ],
)
def test_a_library_that_takes_a_seed_may_seed_everything(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    head = f"{textwrap.dedent(IMPORTED)}\nimport random\nargs = 1\n{line}\nrandom.random()"
    project({"ours.py": "def start(seed):\n    print(seed)\n", "train.py": TRAIN.format(head)})
    assert (lint("--select", "DET102") != []) is found


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("LightningCLI(Net)", ["DET304"]),
        ("OwnCLI(Net)", ["DET304"]),
        ("OwnCLI(Net, seed_everything_default=args.seed)", ["DET304"]),
        ("OwnCLI(Net, seed_everything_default=False)", ["DET304", "DET102"]),
        ("LightningCLI(Net, run=False)", []),
        ("LightningCLI(Net, trainer_defaults={'deterministic': True})", []),
    ],
)
def test_a_command_line_of_lightning_seeds_and_trains(
    project: Project, lint: Lint, call: str, found: list[str]
) -> None:
    text = """
        from lightning.pytorch.cli import LightningCLI
        from net import Net

        class OwnCLI(LightningCLI):
            pass

        if __name__ == "__main__":
    """
    net = "import random\nimport torch\n\nclass Net:\n    x = torch.nn.Conv2d(3, 1, 2)\n"
    body = f"    {call}\n    print(random.random())\n"
    project({"net.py": net, "main.py": textwrap.dedent(text) + "    import random\n" + body})
    told = [each.split()[1] for each in lint("--select", "DET102,DET304")]
    assert sorted({*told}, reverse=True) == found


@pytest.mark.parametrize("made", ["eval(name)()", "Net = eval(names[0])\nNet()"])
def test_a_class_may_be_made_by_its_name(project: Project, lint: Lint, made: str) -> None:
    net = "from torch import nn\nclass Small(nn.Module):\n    def __init__(self):\n"
    project({"net.py": net + "        self.out = nn.Linear(2, 2)\n"})
    project({"train.py": TRAIN.format(f"from net import Small\n{made}")})
    assert lint("--select", "DET102") == ["net.py:4 DET102"]


@pytest.mark.parametrize(
    ("base", "found"), [("transformers.Trainer", False), ("loop.Trainer", True)]
)
def test_a_trainer_derived_from_one_that_seeds_seeds(
    project: Project, lint: Lint, base: str, *, found: bool
) -> None:
    library = base.partition(".")[0]
    project(
        {
            "own.py": f"from {library} import Trainer\n\nclass Own(Trainer):\n    pass\n",
            "train.py": "import random\nimport torch\nfrom own import Own\n\n"
            "def main():\n    Own(random.random()).train()\n\n" + MAIN,
        }
    )
    assert lint("--select", "DET102") == ["train.py:6 DET102"] * found


TRAIN = "import random\nimport torch\n{}\n\nloss.backward(); optimizer.step()\n"
NESTED = """
def load(rows, several=False):
    def pick(row):
        if several:
            return random.sample(row, 2)
        return row[:2]
    return [pick(row) for row in rows]
load({})
"""
EITHER = """
def load(rows, fixed=False):
    return rows if fixed else random.sample(rows, 2)
load({})
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("def f(x):\n    raise NotImplementedError\n    random.shuffle(x)\nf(y)", False),
        ("def f(x):\n    return x\n    random.shuffle(x)\nf(y)", False),
        ("def f(x):\n    if x:\n        return x\n    random.shuffle(x)\nf(y)", True),
        ("def f(x):\n if x:\n  return x\n else:\n  raise OSError\n random.random()\nf(y)", False),
        ("for x in y:\n    continue\n    random.shuffle(x)", False),
        ("for x in y:\n    if x:\n        break\n    random.shuffle(x)", True),
        ("def f(x):\n    sys.exit(); random.shuffle(x)\nimport sys\nf(y)", False),
        ("if False:\n    random.shuffle(y)", False),
        ("if y and False:\n    def f(x):\n        random.shuffle(x)\n    register(f)", False),
        (NESTED.format("y"), False),
        (EITHER.format("y, fixed=True"), False),
        (EITHER.format("y"), True),
        (NESTED.format("y, several=True"), True),
        ("if y and True:\n    def f(x):\n        random.shuffle(x)\n    register(f)", True),
        ("AUGMENT = 0\nif AUGMENT:\n    random.shuffle(y)", False),
        ("AUGMENT = 0\nif not AUGMENT:\n    random.shuffle(y)", True),
        ("AUGMENT = 1\nif AUGMENT and y:\n    pass\nelse:\n    random.shuffle(y)", True),
        ("AUGMENT = 0  # once AUGMENT=1\nif AUGMENT:\n    random.shuffle(y)", False),
        ('MODE = "a"\nif MODE == "b":\n    random.shuffle(y)', False),
        ('MODE = "a"\nif MODE in ("a", "b"):\n    random.shuffle(y)', True),
        ("FLAG = 0\ndef on():\n    global FLAG\n    FLAG = 1\nif FLAG:\n    random.random()", True),
        ("rows = []\nrows.append(1)\nif rows:\n    random.shuffle(rows)", True),
    ],
)
def test_what_visibly_never_runs(project: Project, lint: Lint, body: str, *, found: bool) -> None:
    project({"train.py": TRAIN.format(body)})
    assert len(lint("--select", "DET102")) == found


def test_a_seed_that_a_constant_turns_off_seeds_nothing(project: Project, lint: Lint) -> None:
    text = "seed = {}\nif seed:\n    random.seed(seed)\nrandom.shuffle(x)"
    project({"train.py": TRAIN.format(text.format("0"))})
    assert lint("--select", "DET102") == ["train.py:6 DET102"]
    project({"train.py": TRAIN.format(text.format("3"))})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("memory.sample()", False),
        ("memory.sample(**options)", True),
        ("memory.sample(64)", True),
        ("memory.sample(batch_size=64)", True),
        ("draw = memory.sample; memory.sample()", True),
        ('getattr(memory, "sample")(64); memory.sample()', True),
        ("memory.sample(); random.sample([1], 1)", True),  # this one draws by itself
        ("memory.sample(); random.Random(0).sample([1], 1)", True),  # may be a memory's
        ("other.run(memory)", False),
    ],
)
def test_a_draw_may_need_an_argument_that_no_call_passes(
    project: Project, lint: Lint, call: str, *, found: bool
) -> None:
    memory = """
        import random

        class Memory:
            def sample(self, batch_size=None):
                if batch_size is None:
                    return self.items
                else:
                    return random.sample(self.items, batch_size)

            def all(self):
                return self.sample()
    """
    project({"memory.py": memory, "other.py": "def run(memory):\n    memory.sample()\n"})
    head = "import other\nfrom memory import Memory\nmemory = Memory()\n"
    project({"train.py": TRAIN.format(head + call)})
    assert (lint("--select", "DET102") != []) is found


@pytest.mark.parametrize(
    ("head", "test", "call", "found"),
    [
        ("flip=False", "flip", "load(x)", False),
        ("flip=False", "flip", "load(x, True)", True),
        ("flip=False", "x and flip", "load(x)", False),
        ("flip=False", "x or flip", "load(x)", True),
        ("flip=True", "flip", "load(x)", True),
        ("*, flip=None", "flip is not None", "load(x)", False),
        ("*, flip=None", "flip is not None", "load(x, flip=1)", True),
        ('flip="no"', 'flip == "yes"', "load(x)", False),
        ("flip=1", "0 < flip < 1", "load(x)", False),
        ("flip=1", "0 < flip < 2", "load(x)", True),
        ("flip=1", "0 < flip < 1", "load(x, 0.5)", True),
        ("flip=limit()", "flip", "load(x)", True),
        ("flip=False", "flip", "pool.map(load, x)", True),
    ],
)
def test_a_test_of_a_default_decides_unless_a_call_passes_another(  # noqa: PLR0913
    project: Project, lint: Lint, head: str, test: str, call: str, *, found: bool
) -> None:
    load = f"import random\ndef load(x, {head}):\n    if {test}:\n        random.shuffle(x)\n"
    project({"data.py": load, "train.py": TRAIN.format(f"from data import load\n{call}")})
    assert lint("--select", "DET102") == ["data.py:4 DET102"] * found
    early = f"import random\ndef load(x, {head}):\n    if not ({test}):\n        return x\n"
    project({"data.py": early + "    random.shuffle(x)\n"})
    assert lint("--select", "DET102") == ["data.py:5 DET102"] * found


def test_a_parameter_that_is_given_a_value_decides_nothing(project: Project, lint: Lint) -> None:
    load = "import random\ndef load(flip=None):\n    flip = flip or 1\n    if flip:\n"
    project({"data.py": load + "        random.random()\n"})
    project({"train.py": TRAIN.format("from data import load\nload()")})
    assert lint("--select", "DET102") == ["data.py:5 DET102"]


def test_a_constructor_may_need_an_argument(project: Project, lint: Lint) -> None:
    data = """
        import random

        class Data:
            def __init__(self, rows, shuffle=False):
                if shuffle:
                    random.shuffle(rows)

        class Part({}):
            pass
    """
    train = "from data import Data, Part\nData({})\nPart()"
    project({"data.py": data.format("object"), "train.py": TRAIN.format(train.format("rows"))})
    assert lint("--select", "DET102") == []
    project({"train.py": TRAIN.format(train.format("rows, True"))})
    assert lint("--select", "DET102") == ["data.py:7 DET102"]
    project({"data.py": data.format("Data"), "train.py": TRAIN.format(train.format("rows"))})
    assert lint("--select", "DET102") == ["data.py:7 DET102"]


@pytest.mark.parametrize(
    ("keeps", "line", "found"),
    [
        ("self.flip = flip", "Data(x)", False),
        ("self.flip = flip", "Data(x, True)", True),
        ("self.flip = flip", "Data(x, flip=y)", True),
        ("self.flip = flip", "data = Data(x); data.flip = True", True),
        ("self.flip = flip or 1", "Data(x)", True),
        ("self.flip = flip\n        self.flip = 1", "Data(x)", True),
    ],
)
@pytest.mark.parametrize("test", ["self.flip", "self.flip and self.train", "self.flip > 0"])
def test_an_object_may_keep_the_argument(  # noqa: PLR0913
    project: Project, lint: Lint, keeps: str, line: str, test: str, *, found: bool
) -> None:
    data = f"import random\nclass Data:\n    def __init__(self, x, flip=0):\n        {keeps}\n"
    data += "    def __getitem__(self, i):\n        pass\n"
    data += f"        return random.random() if {test} else 0\n"
    project({"data.py": data, "train.py": TRAIN.format(f"from data import Data\n{line}")})
    assert bool(lint("--select", "DET102")) is found


@pytest.mark.parametrize(
    ("test", "calls", "found"),
    [
        ("seed", "load(x)", True),
        ("seed", "load(x, None)", True),
        ("seed", "load(x, seed=0)", True),
        ("seed", "load(x, seed=1)", False),
        ("seed", "load(x, seed=options.seed)", False),
        ("seed is not None", "load(x, seed=0)", False),
        ("exists(seed)", "load(x)", True),
        ("exists(seed)", "load(x, 0)", False),
        ("seed", "around(x)", True),
        ("seed", "around(x, 1)", False),
        ("seed", "around(x); Outer(x)", True),
        ("seed", "Outer(x, s=3)", False),
        ("seed", "load(x); around(x, s=options.seed)", False),
    ],
)
def test_a_seed_counts_where_a_call_may_pass_one(
    project: Project, lint: Lint, test: str, calls: str, *, found: bool
) -> None:
    data = """
        import random
        from einops_exts import exists

        def load(x, seed=None):
            if TEST:
                random.seed(seed)
            random.shuffle(x)

        def around(x, s=None):
            load(x, s)

        class Outer:
            def __init__(self, x, s=0):
                load(x, seed=s)

        def unused(x):
            load(x, 5)
    """.replace("TEST", test)
    train = TRAIN.format(f"from data import Outer, around, load\n{calls}")
    project({"data.py": data, "train.py": train})
    assert lint("--select", "DET102") == ["data.py:8 DET102"] * found


@pytest.mark.parametrize(
    ("takes", "found"),
    [("**options", False), ("seed=0, **options", True), ("seed", True), ("*rest", True)],
)
def test_a_seed_may_be_handed_on_with_other_options(
    project: Project, lint: Lint, takes: str, *, found: bool
) -> None:
    runs = f"from farm import submit\ndef start(main, {takes}):\n    submit(main)\n"
    lines = "from runs import start\nimport random\nstart(x, seed=3)\nrandom.shuffle(x)"
    project({"runs.py": runs, "train.py": TRAIN.format(lines)})
    assert bool(lint("--select", "DET102")) is found


@pytest.mark.parametrize(
    ("call", "found"),
    [("make(3)", True), ("make(3, fill=False)", False), ("make(3, fill=options.fill)", True)],
)
def test_a_call_may_turn_a_draw_off(
    project: Project, lint: Lint, call: str, *, found: bool
) -> None:
    data = """
        import random

        def make(size, fill=True):
            if fill:
                return random.random()

        class Config:
            def build(self):
                return make(**self.dump())
    """
    project({"data.py": data, "train.py": TRAIN.format(f"from data import make\n{call}")})
    assert lint("--select", "DET102") == ["data.py:6 DET102"] * found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("images.Noise(1)", False),
        ("images.make()", False),
        ("images.Plain(1)", True),
        ('Plain = images.Plain; registry["Noise"]()', False),
        ("importlib.import_module(name)", False),
        ("", True),
    ],
)
def test_a_seed_in_a_class_counts_where_something_may_make_one(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    images = """
        import random

        class Plain:
            def __init__(self, x):
                random.shuffle(x)

        class Noise(Plain):
            def __init__(self, x):
                random.seed(0)
                super().__init__(x)

        class Other:
            def get(self):
                return Noise(1)

        def make():
            return Other()
    """
    project({"images.py": images})
    project({"train.py": TRAIN.format(f"import images\n{line}\nrandom.random()")})
    assert lint("--select", "DET102") == ["train.py:5 DET102"] * found


@pytest.mark.parametrize(
    ("name", "found"), [("adam.runner", False), ("random", False), ("ops", True), ("_C", True)]
)
def test_a_file_of_the_project_that_is_not_there_may_seed(
    project: Project, lint: Lint, name: str, *, found: bool
) -> None:
    head = f"import pkg.models\nfrom pkg.{name} import start\nrandom.random()"
    project({"pkg/__init__.py": "", "pkg/models.py": "", "train.py": TRAIN.format(head)})
    assert bool(lint("--select", "DET102")) is found
    project({f"pkg/{name.replace('.', '/')}.py": "def start():\n    pass\n"})
    assert lint("--select", "DET102") == ["train.py:5 DET102"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("net.optimize_parameters()", True),
        ("train_one_epoch(net)", True),
        ('train_one_epoch(mode="finetune", net=net)', True),
        ("net.train(False)", False),
        ("net.train(mode=True)", False),
        ("net.train()", False),
        ("load_train_data(x)", False),
    ],
)
def test_a_name_does_not_outweigh_what_trains(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    net = "import torch\nclass Net:\n    def optimize_parameters(self):\n"
    net += "        loss(torch.randn(3)).backward(); self.optimizer.step()\n"
    net += "def train_one_epoch(net, mode=None):\n    net.optimize_parameters()\n"
    text = f"from net import Net, train_one_epoch\ndef main():\n    net = Net()\n    {line}\n\n"
    project({"net.py": net, "sample.py": text + MAIN, "go.py": "import net\n"})
    assert lint("--select", "DET102") == ["net.py:4 DET102"] * found


@pytest.mark.parametrize(
    "line",
    [
        "getattr(nets, args.net)()",
        "nets.__dict__[args.net]()",
        "make(nets)",
        "vars(nets)[args.net]()",
        "getattr(pack, args.net)()",
        "getattr(pack.nets, args.net)()",
    ],
)
def test_any_name_of_a_module_may_be_looked_up(project: Project, lint: Lint, line: str) -> None:
    nets = "import random\nclass Net:\n    def __init__(self):\n        random.random()\n"
    head = "import pack.nets\nimport pack\nfrom pack import nets\n"
    head += "def make(module):\n    return getattr(module, args.net)()\n"
    project({"pack/__init__.py": "from .nets import Net\n", "pack/nets.py": nets})
    project({"train.py": TRAIN.format(head + line)})
    assert lint("--select", "DET102") == ["pack/nets.py:4 DET102"]
    project({"train.py": TRAIN.format(head + "print(nets.__name__)")})
    assert lint("--select", "DET102") == []


def test_a_literal_looks_up_one_name(project: Project, lint: Lint) -> None:
    nets = "import random\ndef noise():\n    random.random()\n"
    line = 'import nets\ngetattr(nets, "plain", None)'
    project({"nets.py": nets, "train.py": TRAIN.format(line)})
    assert lint("--select", "DET102") == []


def test_a_package_may_offer_a_class_by_another_name(project: Project, lint: Lint) -> None:
    loop = "import random\nimport torch\n\nclass Loop:\n    def __init__(self):\n"
    seeds = "        random.seed(0)\n        torch.manual_seed(0)\n"
    draws = "        random.random()\n        loss.backward(); optimizer.step()\n"
    project({"loops/__init__.py": "from .loop import Loop as TrainLoop\n"})
    project({"train.py": "from loops import TrainLoop\n\nTrainLoop()\n\n" + MAIN})
    project({"loops/loop.py": loop + draws})
    assert lint("--select", "DET102") == ["loops/loop.py:6 DET102"]
    project({"loops/loop.py": loop + seeds + draws})
    assert lint("--select", "DET102") == []
    project({"loops/__init__.py": ""})
    project({"loops/loop.py": loop + draws})
    assert lint("--select", "DET102") == []


def test_a_module_is_no_function_of_its_name(project: Project, lint: Lint) -> None:
    train = "import random\nimport torch\nmode = 0\n\ndef train(x):\n    random.shuffle(x)\n"
    train += "    loss.backward(); optimizer.step()\n\n"
    project({"train.py": train + MAIN.replace("main()", "train()")})
    project({"ratio.py": f"import train\n\ntrain.mode = 1\n\n{MAIN}"})
    assert lint("--select", "DET102") == ["train.py:6 DET102"]
    project({"ratio.py": f"import train\n\ntrain.train([])\n\n{MAIN}"})
    assert len(lint("--select", "DET102")) == 2
    project({"ratio.py": f"from train import train\n\ntrain([])\n\n{MAIN}"})
    assert len(lint("--select", "DET102")) == 2


WORKED = """
    import random
    import torch
    from torch.utils.data import DataLoader

    class Data:
        def __init__(self, flip):
            self.flip = flip
            {}

        def __getitem__(self, index):
            {}
            return self.flip(index)

    class RandomFlip:
        def __call__(self, x):
            return flip(x) if random.random() < 0.5 else x

    def crop(x):
        return x[random.randint(0, 9)]

    torch.manual_seed(0)
    for x in DataLoader(Data(RandomFlip()), shuffle=True, {}):
        {}
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (("pass", "crop(index)", "num_workers=4", "pass"), False),
        (("pass", "crop(index)", "num_workers=args.workers", "pass"), False),
        (("pass", "crop(index)", "num_workers=0", "pass"), True),
        (("pass", "crop(index)", "batch_size=4", "pass"), True),
        (("random.shuffle(flip)", "crop(index)", "num_workers=4", "pass"), True),
        (("pass", "crop(index)", "num_workers=4", "crop(x)"), True),
    ],
)
def test_workers_seed_random_by_torchs_generator(
    project: Project,
    lint: Lint,
    capsys: pytest.CaptureFixture[str],
    parts: tuple[str, ...],
    *,
    found: bool,
) -> None:
    text = WORKED.format(*parts)
    project({"train.py": text})
    assert len(lint("--select", "DET102")) == found
    # Where torch is not seeded either, one cause is one finding, which names what follows from it.
    project({"train.py": text.replace("torch.manual_seed(0)", "pass")})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    assert len(told) == 1 + found
    has_workers = "num_workers=4" in text or "args.workers" in text
    named = any("the workers of its loader seed `random.r" in each for each in told)
    assert named == has_workers


@pytest.mark.parametrize(("asked", "found"), [("torch==1.8.1", 1), ("torch>=1.8", 0)])
def test_before_1_9_torch_seeds_no_numpy_in_workers(
    project: Project, lint: Lint, asked: str, found: int
) -> None:
    text = WORKED.format("pass", "crop(index)", "num_workers=4", "pass")
    text = text.replace("random.randint(0, 9)", "np.random.randint(9)")
    text = text.replace("random.random()", "np.random.rand()")
    text = text.replace("import random", "import numpy as np")
    project({"train.py": text, "requirements.txt": asked})
    assert len(lint("--select", "DET102")) == found


def test_torch_seeds_no_tensorflow_in_workers(project: Project, lint: Lint) -> None:
    text = WORKED.format("pass", "index = tf.random.uniform([2])", "num_workers=4", "pass")
    text = text.replace("import random", "import random\n    import tensorflow as tf")
    text = text.replace("torch.manual_seed(0)", "pass")
    project({"train.py": text})
    assert lint("--select", "DET102") == ["train.py:13 DET102", "train.py:24 DET102"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("class RandomFlip:", "class Mirror:", 1),
        ("import random", "import random\n    from PIL import ImageOps", 0),
        ("def __call__(self, x):", "def collate_fn(self, x):", 0),
        ("class RandomFlip:", "class Rows(IterableDataset):", 0),
        ("class RandomFlip:", "class Rows(Sampler):", 1),
    ],
)
def test_what_else_runs_in_workers(
    project: Project, lint: Lint, old: str, new: str, found: int
) -> None:
    text = WORKED.format("pass", "pass", "num_workers=4", "pass")
    named = text.replace("RandomFlip", "Mirror") if "class" not in old else text
    if "IterableDataset" in new or "Sampler" in new:
        named = named.replace("def __call__(self, x)", "def __iter__(self)")
        named = named.replace("(RandomFlip())", "(Rows())")
    elif "collate" in new:
        named = named.replace("(Mirror())", "(Mirror().collate_fn)")
    else:
        named = named.replace("(RandomFlip())", "(Mirror())")
    project({"train.py": named.replace(old, new)})
    assert len(lint("--select", "DET102")) == found


MIXED = """
    import config, torch
    from torch.utils.data import DataLoader
    from augmentation import Mix
    from engine import Trainer

    torch.manual_seed(0)
    mix = {}
    loader = DataLoader(torch.load("x.pt"), shuffle=True, num_workers=2, collate_fn={})
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
    {}
"""
ENGINE = """
    class Trainer:
        def __init__(self, net, change=None):
            self.change = change

        def fit(self, loader):
            for x in loader:
                self.change(x)
"""


@pytest.mark.parametrize(
    ("made", "collate", "ends", "found"),
    [
        ("Mix()", "None", "mix(x)", 1),
        ("Mix()", "None", "Trainer(net, mix).fit(loader)", 1),
        ("Mix()", "None", "Trainer(net, change=mix).fit(loader)", 1),
        ("Mix()", "mix", "pass", 0),
        ("Mix()", "lambda rows: mix(torch.stack(rows))", "pass", 0),
        ("Mix() if config.MIX else None", "None", "mix(x)", 0),
        ("Mix() if config.MIX or config.CUT else None", "None", "mix(x)", 0),
        ("Mix() if config.MIX or config.NOISE else None", "None", "mix(x)", 1),
    ],
)
def test_what_training_calls_itself_runs_in_no_worker(  # noqa: PLR0913, PLR0917 - of a table
    project: Project, lint: Lint, made: str, collate: str, ends: str, found: int
) -> None:
    augmentation = "import random\nclass Mix:\n    def __call__(self, x):\n"
    augmentation += "        return x + random.random() * x.flip(0)\n"
    config = "MIX = False\nCUT = False\nNOISE = True\n"
    text = MIXED.format(made, collate, ends)
    files = {"augmentation.py": augmentation, "config.py": config, "engine.py": ENGINE}
    project({**files, "train.py": text})
    assert len(lint("--select", "DET102")) == found


def test_workers_of_another_loader_seed_nothing(project: Project, lint: Lint) -> None:
    text = WORKED.format("pass", "crop(index)", "num_workers=4", "pass")
    project({"train.py": text.replace("DataLoader", "ThreadedDataLoader")})
    assert len(lint("--select", "DET102")) == 1


def test_a_default_without_workers_draws_in_the_program(project: Project, lint: Lint) -> None:
    text = WORKED.format("pass", "pass", "num_workers=args.num_workers", "pass")
    head = 'parser.add_argument("--num_workers", type=int, default={})\n'
    project({"train.py": text.replace("    torch.m", "    " + head.format(0) + "    torch.m")})
    assert len(lint("--select", "DET102")) == 1
    project({"train.py": text.replace("    torch.m", "    " + head.format(4) + "    torch.m")})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("call", "default", "found"),
    [
        ("fit()", 0, True),
        ("fit()", 4, False),
        ("fit(4)", 0, False),
        ("fit(workers=0)", 0, True),
        ("fit(args.workers)", 0, False),
    ],
)
def test_a_parameter_without_workers_draws_in_the_program(
    project: Project, lint: Lint, call: str, default: int, *, found: bool
) -> None:
    text = textwrap.dedent(WORKED.format("pass", "pass", "num_workers=workers", "pass"))
    above, seed, loop = text.partition("torch.manual_seed(0)\n")
    fits = f"def fit(workers={default}):\n" + textwrap.indent(f"{seed}{loop}", "    ")
    project({"train.py": f"{above}{fits}\n{call}\n"})
    assert len(lint("--select", "DET102")) == found


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("place = torch.randint(0, 9, (1,), generator=g)", False),
        ("place = index", True),
        ("place = self.places[index]", True),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_an_item_may_be_the_same_whichever_is_chosen(
    project: Project, lint: Lint, item: str, *, found: bool, nested: bool
) -> None:
    text = "class Texts:\n    def __getitem__(self, index):\n"
    text += f"        {item}\n        return self.data[place]\n\n"
    text += "texts = Texts(data)\nshown = random.choice(texts)\n"
    if nested:
        text = "def main():\n" + textwrap.indent(text, "    ") + "\nmain()\n"
    project({"train.py": TRAIN.format(text)})
    assert len(lint("--select", "DET102")) == found


def test_a_library_may_come_with_a_star_import(project: Project, lint: Lint) -> None:
    text = "from tools import *\n\n{}\nx = np.random.rand(3)\nloss.backward(); opt.step()\n"
    project({"tools.py": "import numpy as np\nimport torch\n"})
    project({"train.py": text.format("torch.manual_seed(0)") + MAIN})
    assert lint("--select", "DET102") == ["train.py:4 DET102"]
    project({"train.py": text.format("np.random.seed(0); torch.manual_seed(0)") + MAIN})
    assert lint("--select", "DET102") == []
    project({"train.py": text.format("np = object()") + MAIN})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("DataLoader(data, shuffle=True)", "`DataLoader(shuffle=True)` draws from"),
        ("random_split(data, [1, 2])", "`random_split()` draws from"),
        ("DataLoader(data, shuffle=True, generator=g)", "`nn.Linear(2, 1)` draws first weights"),
        ("DataLoader(data)", "`nn.Linear(2, 1)` draws first weights"),
        ("torch.rand(3)", "`torch.rand(3)` draws from"),
    ],
)
def test_an_order_is_rather_named_than_weights(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    head = "from torch import nn\nfrom torch.utils.data import DataLoader, random_split\n"
    project({"train.py": TRAIN.format(f"{head}nn.Linear(2, 1)\n{line}")})
    main(["--no-cache", "--select", "DET102", "."])
    assert said in capsys.readouterr().out


def test_weights_that_no_checkpoint_fills_are_rather_named(project: Project, lint: Lint) -> None:
    net = "from torch import nn\nfrom {0} import {1}\nclass Net({1}):\n"
    net += "    def __init__(self):\n        self.x = nn.Linear(2, 1)\n"
    files = {
        "a.py": net.format("transformers", "PreTrainedModel"),
        "b.py": net.format("torch.nn", "Module").replace("Net", "Head"),
    }
    project({**files, "train.py": TRAIN.format("import a, b\na.Net(), b.Head()")})
    assert lint("--select", "DET102") == ["b.py:5 DET102"]
    project({"train.py": TRAIN.format("import a\na.Net()")})
    assert lint("--select", "DET102") == ["a.py:5 DET102"]


def test_programs_are_told_with_their_folders(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"a/train.py": DRAWS, "run.py": DRAWS})
    main(["--no-cache", "--select", "DET102", "."])
    said = capsys.readouterr().out
    assert "neither a/train.py nor" in said
    assert "neither run.py nor" in said


FLASH = (
    'import model\n\ndef load():\n    return model.get(attn_implementation="flash_attention_2")\n'
)


@pytest.mark.parametrize(
    "line",
    [
        'import os; os.environ["FLASH_ATTENTION_DETERMINISTIC"] = "1"',
        "import guard; guard.enable(seed=0)",
        "from transformers import enable_full_determinism as full; full(0)",
    ],
)
def test_what_the_program_sets_clears_findings_in_its_files(
    project: Project, lint: Lint, line: str
) -> None:
    train = "from loading import load\n\nload()\nloss.backward(); optimizer.step()\n\n" + MAIN
    project({"train.py": train, "loading.py": FLASH})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"]
    project({"train.py": f"{line}\n{train}"})
    assert lint("--select", "DET601") == []


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("main.py", "model.load().generate(text)", False),
        ("main.py", "import gradio\ngradio.Interface(model.load()).launch(share=True)", False),
        ("main.py", "launch(model.load())", False),
        ("main.py", "Engine(model.load()).run_exp(cfg)", False),  # whatever that does
        ("main.py", "loss(model.load()).backward(); optimizer.step()", True),
        ("main.py", "from trl import SFTTrainer\nSFTTrainer(model.load()).train()", True),
        ("main.py", "loss(0).backward(); optimizer.step()", False),  # of another model
        ("train.py", "Loop(model.load()).go()", False),
        ("train.py", "steps.go(model.load())", True),
        ("main.py", "steps.go(model.load())", False),  # whose name and calls do not say so
        ("main.py", "steps.train(model.load())", True),
    ],
)
def test_code_is_told_where_a_program_that_trains_runs_it(
    project: Project, lint: Lint, name: str, line: str, *, found: bool
) -> None:
    steps = "def train(loss):\n    go(loss)\n\ndef go(loss):\n    loss.backward()\n    o.step()\n"
    project({"loading.py": FLASH, "steps.py": steps})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"]
    project({name: f"import loading as model\nimport steps\n\n{line}\n\n{MAIN}"})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"] * found
    project({"pyproject.toml": '[tool.detlint]\nmin-confidence = "possible"\n'})
    assert "loading.py:4 DET601" in lint("--select", "DET601")


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("else:\n    sys.modules[__name__] = Lazy(__name__)\n", True),
        ("else:\n    load = None\n", False),
        ("    import {}\nelse:\n    sys.modules[__name__] = Lazy(__name__)\n", False),
    ],
)
def test_a_module_that_loads_lazily_imports_what_it_shows_type_checkers(
    project: Project, lint: Lint, rest: str, *, found: bool
) -> None:
    whole = rest.format(", ".join(f"m{each}" for each in range(30)))
    lazy = f"if TYPE_CHECKING:\n    from .loading import load\n{whole}"
    train = f"from net import load\n\nloss(load()).backward()\no.step()\n\n{MAIN}"
    project({"net/__init__.py": lazy, "net/loading.py": FLASH, "train.py": train})
    assert lint("--select", "DET601") == ["net/loading.py:4 DET601"] * found


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        ("x = 1\n", True),
        ("from loading import load\n\nload().generate(text)\n", False),
        ("from loading import load\n\nwith torch.no_grad():\n    y = load()(x)\n", False),
        ("def step(loss):\n    loss.backward()\n    y.generate()\n", True),
    ],
)
def test_what_lies_around_says_whether_files_that_are_no_program_answer(
    project: Project, lint: Lint, beside: str, *, found: bool
) -> None:
    project({"loading.py": FLASH, "beside.py": beside})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"] * found


def test_a_configuration_in_python_counts_where_some_program_trains(
    project: Project, lint: Lint
) -> None:
    text = 'model = dict(type=Net, attn_implementation="flash_attention_2")\n'
    project({"configs/net.py": text, "run.py": f"import torch\n\n{MAIN}"})
    assert lint("--select", "DET601") == []
    project({"train.py": f"import torch\n\nloss.backward(); optimizer.step()\n\n{MAIN}"})
    assert lint("--select", "DET601") == ["configs/net.py:1 DET601"]
    project({"configs/net.py": f"def make():\n    {text}    return model\n"})
    assert lint("--select", "DET601") == []


def test_what_asks_for_an_attention_that_is_chosen_by_name_is_told(
    project: Project, lint: Lint
) -> None:
    model = (
        "from flash_attn import flash_attn_func\n\nclass NetFlashAttention2:\n"
        "    def forward(self, q, k, v):\n        return flash_attn_func(q, k, v)\n\n"
        "class Net:\n    def __init__(self, config):\n"
        "        if config._flash_attn_2_enabled:\n            self.a = NetFlashAttention2()\n"
    )
    train = (
        "from transformers import Trainer\nfrom model import Net\n\nconfig = load()\n"
        "config._flash_attn_2_enabled = True\nTrainer(Net(config)).train()\n"
    )
    root = project({"model.py": model, "train.py": train})
    assert lint("--select", "DET601") == ["train.py:5 DET601"]
    (root / "pyproject.toml").write_text('[tool.detlint]\nmin-confidence = "possible"\n')
    assert {"model.py:5 DET601", "train.py:5 DET601"} <= set(lint("--select", "DET601"))


@pytest.mark.parametrize("flag", ["use-flash-attn", "use_flash_attn_2", "use-flash-attn-v2"])
def test_a_launch_that_asks_by_a_flag_alone_is_told(
    flag: str, project: Project, lint: Lint
) -> None:
    project({"run.sh": f"torchrun pretrain_gpt.py --{flag} --lr 1\n"})
    assert lint("--select", "DET601") == ["run.sh:1 DET601"]


@pytest.mark.parametrize(
    ("read", "found"),
    [("if options.use_flash_attn: patch()", 1), ("# patch(options.use_flash_attn)", 0)],
)
@pytest.mark.parametrize(
    "declared",
    [
        "class Options:\n    use_flash_attn: bool = False",
        "add_argument('--use-flash-attn', type=bool)",
    ],
)
def test_an_option_that_nothing_reads_asks_for_nothing(
    declared: str, read: str, found: int, project: Project, lint: Lint
) -> None:
    script = "torchrun train.py --use_flash_attn True\n"
    project({"train.py": f"{declared}\n{read}\nloss.backward()\n", "run.sh": script})
    assert lint("--select", "DET601") == ["run.sh:1 DET601"] * found


def test_a_gradient_that_changes_nothing_is_only_possible(project: Project, lint: Lint) -> None:
    text = f"import loading as model\n\nloss(model.load()).backward()\n{{}}\n{MAIN}"
    project({"loading.py": FLASH, "main.py": text.format("")})
    assert lint("--select", "DET601") == []
    project({"main.py": text.format("optimizer.step()")})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"]


def test_a_backward_by_its_name_and_a_launch_need_no_program_that_trains(
    project: Project, lint: Lint
) -> None:
    backward = (
        "from flash_attn.flash_attn_interface import _flash_attn_backward\n\n"
        "class Ring(Function):\n    @staticmethod\n    def backward(ctx, dout):\n"
        "        return _flash_attn_backward(dout, *ctx.saved_tensors, deterministic=False)\n"
    )
    launch = 'command = ["torchrun", "pretrain_gpt.py", "--use-flash-attn"]\n'
    project({"ring.py": backward, "start.py": launch, "demo.py": f"import ring\n\n{MAIN}"})
    assert lint("--select", "DET601") == ["ring.py:6 DET601", "start.py:1 DET601"]


LOADERS = """
    class Model:
        @classmethod
        def build(cls, name):
            return get(name)

        @classmethod
        def load(cls, name):
            return get(name, attn_implementation="flash_attention_2")

    def load_model(name):
        return get(name, attn_implementation="flash_attention_2")
"""


@pytest.mark.parametrize(
    ("trains", "asks", "found"),
    [
        ("Model.build(0)", "Model.load(0), load_model(0)", []),
        ("Model.build(0), load_model(0)", "Model.load(0), load_model(0)", [12]),
        ("Model.build(0).load(0)", "Model.load(0), load_model(0)", [9]),
        ("Model.build(0)", "0", []),  # which nobody is known to call
    ],
)
def test_code_is_judged_by_the_programs_in_which_it_may_run(
    project: Project, lint: Lint, trains: str, asks: str, found: list[int]
) -> None:
    head = "import json\nfrom models import Model, load_model\n\n"
    files = {
        "models.py": LOADERS,
        "train.py": f"{head}loss = {trains}\nloss.backward()\noptimizer.step()\n{MAIN}",
        "demo.py": f"{head}show({asks})\n{MAIN}",
    }
    project(files)
    assert lint("--select", "DET601") == [f"models.py:{row} DET601" for row in found]
    project({"demo.py": "", "pyproject.toml": '[tool.detlint]\nmin-confidence = "possible"\n'})
    assert lint("--select", "DET601") == [f"models.py:{row} DET601" for row in (9, 12)]


@pytest.mark.parametrize(
    ("name", "found"), [("eval_harness.py", False), ("test_steps.py", False), ("run.py", False)]
)
def test_a_tool_answers_unless_it_runs_what_trains(
    project: Project, lint: Lint, name: str, *, found: bool
) -> None:
    steps = "def fit(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n"
    tool = f"import steps\nfrom loading import load\n\nload().generate(0)\n\n{MAIN}"
    project({"loading.py": FLASH, "steps.py": steps, name: tool})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"] * found
    project({name: tool.replace("load()", "steps.fit(0, load())")})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import other", False),
        ("import loading", False),
        ("import loading; loading.load()", True),
        ("import importlib; importlib.import_module(cfg.model)", False),
    ],
)
def test_what_none_of_the_programs_imports_is_a_relic(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    train = f"{line}\n\nloss.backward()\noptimizer.step()\n\n{MAIN}"
    project({"loading.py": FLASH, "train.py": train})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"] * found
    project({"pyproject.toml": '[tool.detlint]\nmin-confidence = "possible"\n'})
    assert lint("--select", "DET601") == ["loading.py:4 DET601"]


def test_a_function_that_one_file_keeps_may_be_told_in_another(
    project: Project, lint: Lint
) -> None:
    kept = "from flash_attn import flash_attn_func\n\ndef pick():\n    return flash_attn_func\n"
    train = (
        "from kept import pick\n\nloss = pick()(q, k, v{})\nloss.backward()\no.step()\n\n" + MAIN
    )
    project({"kept.py": kept, "train.py": train.format("")})
    assert lint("--select", "DET601") == ["kept.py:4 DET601"]
    project({"train.py": train.format(", deterministic=cfg.exact")})
    assert lint("--select", "DET601") == []


@pytest.mark.parametrize(
    ("attend", "found"),
    [
        ("torch.nn.functional.scaled_dot_product_attention(x, x, x)", False),
        ("attend(x)", True),
        ("torch.nn.functional.scaled_dot_product_attention(x, x, x)\nimport flash_attn", True),
        ("scaled_dot_product_attention(x)\nfrom transformers import AutoModel", True),
    ],
)
def test_a_switch_by_which_a_program_chooses_the_attention_of_torch(
    project: Project, lint: Lint, attend: str, *, found: bool
) -> None:
    model = f"import torch\n\ndef call(x, use_flash_attention):\n    pass\n\ny = {attend}\n"
    train = (
        "from model import call\n\ncall(0, use_flash_attention=True).backward()\no.step()\n\n"
        + MAIN
    )
    project({"model.py": model, "train.py": train})
    assert lint("--select", "DET601") == ["train.py:3 DET601"] * found


@pytest.mark.parametrize(
    ("attend", "found"),
    [
        ("F.scaled_dot_product_attention(x, x, x)", False),
        ("attend(x)", True),
        ("F.scaled_dot_product_attention(x, x, x)\n\nimport flash_attn", True),
    ],
)
def test_a_configuration_that_chooses_the_attention_of_torch_is_left_to_its_switch(
    project: Project, lint: Lint, attend: str, *, found: bool
) -> None:
    model = f"import torch.nn.functional as F\n\ndef call(x, use_flash_attn):\n    {attend}\n"
    config = "epochs: 9\nuse_flash_attn: true\nlr: 0.1\nmodel: resnet\nseed: 1\n"
    project({"model.py": model, "configs/train.yaml": config})
    assert lint("--select", "DET601") == ["configs/train.yaml:2 DET601"] * found


@pytest.mark.parametrize(
    ("uses", "matters"),
    [
        ("rows = sorted(rows); reset(rows); options.set(1)", False),
        ("names = sorted(set(rows)); names = 'a' in {'a', 'b'}", False),
        ("count = len(set(rows) - {'a'})", False),
        ("names = list({'a', 'b'})", True),
        ("names = set(rows)", True),
        ("names = {'a', 'b'}", True),
        ("names = {each for each in rows}", True),
        ("bucket = hash(name) % 8", True),
        ("table = {'a': 1}", False),
    ],
)
def test_a_hash_seed_that_comes_too_late_where_nothing_is_hashed(
    project: Project, lint: Lint, uses: str, *, matters: bool
) -> None:
    seeds = "import os\n\ndef fix(seed):\n    os.environ['PYTHONHASHSEED'] = str(seed)\n"
    train = f"from seeds import fix\n\nfix(0)\n{uses}\nloss.backward()\noptimizer.step()\n{MAIN}"
    project({"seeds.py": seeds, "train.py": train})
    assert lint("--select", "DET106") == ["seeds.py:4 DET106"] * matters
    possible = lint("--select", "DET106", "--min-confidence", "possible")
    assert possible == ["seeds.py:4 DET106"]
    project({"seeds.py": f"import names\n{seeds}", "names.py": "names = set(f(:\n"})
    assert "seeds.py:5 DET106" in lint("--select", "DET106")


def test_turning_determinism_on_clears_what_inductor_would_time(
    project: Project, lint: Lint
) -> None:
    model = 'import torch\n\ndef make(net):\n    return torch.compile(net, mode="max-autotune")\n'
    train = "import torch\nfrom model import make\n\n{}\nmake(0)\n\n" + MAIN
    project({"train.py": train.format("pass"), "model.py": model})
    assert lint("--select", "DET307") == ["model.py:4 DET307"]
    project({"train.py": train.format("torch.use_deterministic_algorithms(False)")})
    assert lint("--select", "DET307") == ["model.py:4 DET307"]
    project({"train.py": train.format("torch.use_deterministic_algorithms(True)")})
    assert lint("--select", "DET307") == []
    assert lint("--select", "DET307", "--target-torch", "2.9") == ["model.py:4 DET307"]


@pytest.mark.parametrize(
    ("summed", "device", "told"),
    [
        ("unsorted_segment_sum(z, segment_ids=ids, num_segments=3)", "/gpu:0", "likely"),
        ("math.segment_sum(z, ids)", "/gpu:0", "likely"),
        ("math.segment_sum(z, ids)", "/cpu:0", "possible"),
        ("unsorted_segment_max(z, ids, 3)", "/gpu:0", ""),
        ("reduce_sum(z)", "/gpu:0", ""),
    ],
)
def test_a_sum_over_segments_differs_in_a_session_on_a_gpu(
    summed: str, device: str, told: str, project: Project, lint: Lint
) -> None:
    net = f"import tensorflow as tf\n\ndef pool(z, ids):\n    with tf.device('{device}'):\n"
    train = "import tensorflow as tf\nfrom net import pool\n\nids = tf.placeholder(tf.int32)\n"
    train += "z = tf.get_variable('z', [8, 4])\nloss = tf.reduce_sum(pool(z, ids))\n"
    train += "step = tf.train.AdamOptimizer(0.01).minimize(loss)\ntf.Session().run(step)\n"
    project({"net.py": f"{net}        return tf.{summed}\n", "train.py": train})
    assert lint("--select", "DET801") == ["train.py:7 DET801"] * (told == "likely")
    found = lint("--select", "DET801", "--min-confidence", "possible")
    assert found == ["train.py:7 DET801"] * bool(told)


@pytest.mark.parametrize(
    ("library", "read", "call"),
    [
        ("tensorflow", "io.read_file", "tf.keras.utils.set_random_seed()"),
        ("tensorflow", "read_file", "tf.set_random_seed()"),
        ("tensorflow", "compat.v1.read_file", "tf.compat.v1.set_random_seed()"),
        ("tensorflow.compat.v1", "io.read_file", "tf.set_random_seed()"),
    ],
)
def test_a_shuffle_is_seeded_by_the_version_of_tensorflow_that_a_file_is_for(
    library: str,
    read: str,
    call: str,
    project: Project,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = f"import {library} as tf\n\ndef get(rows):\n"
    data += "    data = tf.data.Dataset.from_tensor_slices(rows).shuffle(9)\n"
    project({"data.py": f"{data}    return data.map(lambda name: tf.{read}(name))\n"})
    main(["--no-cache", "--select", "DET802", "--output-format", "json", "."])
    found = json.loads(capsys.readouterr().out)
    assert [each["help"] for each in found] == [f"seed it here, or call {call} first"]


def test_a_global_seed_clears_a_shuffle_of_tensorflow(project: Project, lint: Lint) -> None:
    data = "import tensorflow as tf\n\ndef get():\n    return tf.data.Dataset.range(9).shuffle(9)\n"
    train = "import tensorflow as tf\nfrom data import get\n\n{}\nget()\n\n" + MAIN
    project({"train.py": train.format("pass"), "data.py": data})
    assert lint("--select", "DET802") == ["data.py:4 DET802"]
    project({"train.py": train.format("tf.keras.utils.set_random_seed(0)")})
    assert lint("--select", "DET802") == []


def test_programs_that_share_a_draw_have_a_finding_each(
    project: Project, lint: Lint, capsys: pytest.CaptureFixture[str]
) -> None:
    train = "from data import batch\n\ndef main():\n    batch().backward(); o.step()\n\n" + MAIN
    files = {"data.py": "import numpy as np\n\ndef batch():\n    return np.random.rand(3)\n"}
    project({**files, "one.py": train, "two.py": train})
    assert lint("--select", "DET102") == ["data.py:4 DET102"] * 2
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["one.py:6", "two.py:6"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("determine_size(); model.is_deterministic()", True),
        ("policy(0, deterministic=True)", True),
        ("from tools import set_deterministic_mode as on; on()", False),
        ("from tools import set_determinism; set_determinism(seed=0)", False),
        ("from monai.utils import set_determinism; set_determinism(seed=0)", True),
        ("def set_deterministic(): cudnn.deterministic = True\nset_deterministic()", True),
        ("Trainer(deterministic=True)", False),
        ("TrainingArguments(full_determinism=args.full)", False),
        ("torch.are_deterministic_algorithms_enabled()", True),
    ],
)
def test_what_turns_determinism_on(project: Project, lint: Lint, line: str, *, found: bool) -> None:
    project({"train.py": f"import torch.cuda\n{line}\nloss.backward(); o.step()\n"})
    row = 3 + line.count("\n")
    assert lint("--select", "DET304") == [f"train.py:{row} DET304"] * found


def test_names_of_a_star_import_are_followed(project: Project, lint: Lint) -> None:
    project(
        {
            "train.py": "import torch.cuda\nfrom loops import *\n\nLoop().run()\n\n" + MAIN,
            "loops.py": "from steps import *\n\nclass Loop(Step):\n    pass\n",
            "steps.py": "class Step:\n    def run(self):\n        self.loss.backward(); o.step()\n",
        }
    )
    assert lint("--select", "DET304") == ["steps.py:3 DET304"]


def test_a_program_that_only_uses_a_model_does_not_train(project: Project, lint: Lint) -> None:
    files = {
        "engine.py": "import torch.cuda\n\nclass Engine:\n"
        "    def step(self):\n        x.backward(); o.step()\n"
    }
    files["engine.py"] += "\ndef make():\n    return Engine()\n"
    project({**files, "export.py": "from engine import make\n\nmake().step()\n\n" + MAIN})
    assert lint("--select", "DET304") == []
    demo = "from engine import Engine\nif __name__ == '__main__':\n    Engine().step()\n"
    project({"package/__init__.py": "", "package/data.py": demo})
    assert lint("--select", "DET304") == []
    project({"train.py": "from engine import Engine\n\nEngine().step()\n\n" + MAIN})
    assert lint("--select", "DET304") == ["engine.py:5 DET304"]


LONG_AGO = 1_600_000_000


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each run that links."""
    runs: list[int] = []
    real = Linker.link

    def noting(self: Linker, *given: Any) -> Any:  # noqa: ANN401
        runs.append(len(runs))
        return real(self, *given)

    monkeypatch.setattr(Linker, "link", noting)
    return runs


def _unset(root: Path) -> None:
    pass


def _write(name: str, text: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")

    return write


def _link(root: Path) -> None:
    (root / "lib" / "tools.py").symlink_to(root / "lib" / "seeding.py")


def _retarget(root: Path) -> None:
    (root / "lib" / "chosen.py").unlink()
    (root / "lib" / "chosen.py").symlink_to(root / "lib" / "seeding.py")


def _touch(root: Path) -> None:
    os.utime(root / "lib" / "data.py", (LONG_AGO, LONG_AGO))


SEEDED = "import numpy as np\n\nnp.random.seed(0)\n"
UNSEEDED = ["lint/train.py:8 DET102"]


@pytest.mark.parametrize(
    ("change", "found", "links"),
    [
        pytest.param(_unset, UNSEEDED, False, id="nothing"),
        pytest.param(_touch, UNSEEDED, False, id="a time alone"),
        pytest.param(_write("notes.txt", ""), UNSEEDED, False, id="a file of no concern"),
        pytest.param(_write("lint/other.py", "x = 1\n"), UNSEEDED, True, id="a new file"),
        pytest.param(
            _write("lint/train.py", f"import lib.seeding\n{DRAWS}"), [], True, id="a changed file"
        ),
        pytest.param(_write("lib/data.py", SEEDED), [], True, id="a changed file outside"),
        pytest.param(_write("lib/tools.py", SEEDED), [], True, id="a new module outside"),
        pytest.param(_write("lib/tools/__init__.py", SEEDED), [], True, id="a new package outside"),
        pytest.param(_write("src/later.py", SEEDED), [], True, id="a new root of imports"),
        pytest.param(_link, [], True, id="a new link outside"),
        pytest.param(_retarget, [], True, id="a link to another file"),
        pytest.param(
            lambda root: (root / "lib" / "data.py").unlink(), UNSEEDED, True, id="removed"
        ),
    ],
)
def test_an_unchanged_tree_is_not_linked_again(  # noqa: PLR0913
    project: Project,
    lint: Lint,
    linked: list[int],
    change: Callable[[Path], None],
    found: list[str],
    *,
    links: bool,
) -> None:
    imports = "import later\nimport lib.data\nimport lib.tools\nimport lib.chosen\n"
    root = project(
        {
            "lint/train.py": imports + DRAWS,
            "lib/data.py": "x = 1\n",
            "lib/plain.py": "x = 1\n",
            "lib/seeding.py": SEEDED,
        }
    )
    (root / "lib" / "chosen.py").symlink_to(root / "lib" / "plain.py")
    select = ("--select", "DET102")
    assert lint(*select, paths=("lint",), cache=True) == UNSEEDED
    assert lint(*select, paths=("lint",), cache=True) == UNSEEDED
    assert linked == [0]
    change(root)
    assert sorted(lint(*select, paths=("lint",), cache=True)) == found
    assert linked == ([0, 1] if links else [0])
    assert lint(*select, paths=("lint",)) == found


def test_other_rules_and_other_paths_are_linked_anew(
    project: Project, lint: Lint, linked: list[int]
) -> None:
    project({"train.py": DRAWS, "other.py": DRAWS})
    both = ["other.py:4 DET102", "train.py:4 DET102"]
    assert lint("--select", "DET102", cache=True) == both
    assert lint("--select", "DET102", paths=("other.py",), cache=True) == both[:1]
    assert lint("--select", "DET102", cache=True) == both
    assert lint("--select", "DET304", cache=True) == []
    assert linked == [0, 1, 2]  # what is known of other paths is kept
    assert lint("--select", "DET304", cache=True) == []
    assert linked == [0, 1, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"state": None},
        {"folders": None},
        {"folders": [5]},
        {"outside": [["x"]]},
        {"outside": ["nowhere.py"]},
        {"found": 5},
        {"found": [[7, []]]},
        {"found": [[0, [[1, 2]]]]},
        {"found": [["0", []]]},
    ],
)
def test_what_was_kept_in_another_shape_is_not_believed(
    project: Project, lint: Lint, linked: list[int], change: dict[str, Any]
) -> None:
    root = project({"train.py": DRAWS})
    assert lint("--select", "DET102", cache=True) == ["train.py:4 DET102"]
    (file,) = (each for each in (root / ".cache").glob("*.json") if each.name != "rules.json")
    header, rest = file.read_bytes().split(b"\n", 1)
    kept = json.loads(b"{" + rest)
    for each in kept["linked"].values():
        each.update(change)
    file.write_bytes(header + b"\n" + json.dumps(kept).encode()[1:])
    assert lint("--select", "DET102", cache=True) == ["train.py:4 DET102"]
    assert linked == [0, 1]


def test_a_method_runs_where_something_names_it(project: Project, lint: Lint) -> None:
    task = """
        import torch.cuda

        class Task:
            def load(self):
                return 0

            def train_step(self, loss):
                self._backward(loss)

            def _backward(self, loss):
                loss.backward(); o.step()
    """
    project({"task.py": task})
    project({"use.py": "from task import Task\n\ndef main():\n    Task().load()\n\n" + MAIN})
    assert lint("--select", "DET304") == []
    project({"use.py": "from task import Task\n\ndef main():\n    Task().train_step(0)\n\n" + MAIN})
    assert lint("--select", "DET304") == ["task.py:12 DET304"]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (
            "class Loop(Task):\n    def run_all(self):\n        self.step()\n\nLoop().run_all()",
            True,
        ),
        ("class Loop(Task):\n    def run_all(self):\n        self.step()\n\nLoop().other()", False),
        ("class Loop(Task):\n    def __init__(self):\n        self.step()\n\nLoop()", True),
        (
            "class Loop(Task):\n    @register\n    def act(self):\n        self.step()\n\nLoop()",
            True,
        ),
        (
            "class Loop(Task):\n    @property\n    def act(self):\n        self.step()\n\nLoop()",
            False,
        ),
        ("class Loop(Trainer):\n    def train_batch(self):\n        Task().step()\n\nLoop()", True),
        ("class Loop:\n    def train_batch(self):\n        Task().step()\n\nLoop()", False),
        ("@register\ndef act():\n    Task().step()", True),
        ("@torch.no_grad()\ndef act():\n    Task().step()", False),
        ("act = Task.step", True),
    ],
)
def test_how_a_method_comes_to_run(project: Project, lint: Lint, text: str, *, runs: bool) -> None:
    task = (
        "import torch.cuda\n\nclass Task:\n    def step(self):\n"
        "        self.loss.backward(); o.step()\n"
    )
    project({"task.py": task, "train.py": f"from task import Task\n\n{text}\n\n{MAIN}"})
    assert lint("--select", "DET304") == ["task.py:5 DET304"] * runs


def test_what_settles_must_be_able_to_run(project: Project, lint: Lint) -> None:
    other = """
        import torch.cuda

        def build():
            return torch.nn.Conv2d(3, 1, 2)

        def cli_main():
            torch.use_deterministic_algorithms(True)
            torch.manual_seed(0)

        if __name__ == "__main__":
            cli_main()
    """
    train = "import torch.cuda\nfrom other import build\n\ndef cli_main():\n"
    train += "    build().backward(); o.step()\n\n"
    project({"other.py": other, "train.py": train + MAIN.replace("main()", "cli_main()")})
    assert lint("--select", "DET304,DET102") == ["train.py:5 DET304", "other.py:5 DET102"]
    calls = "import other\nother.cli_main()\n\n"
    project({"train.py": calls + train + MAIN})
    assert lint("--select", "DET304,DET102") == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("dqn_train_eval.py", True), ("duration_predictor.py", True), ("finetune_demo.py", True)),
        *(("enjoy_atari.py", False), ("render.py", False), ("run_viewer.py", False)),
        *(
            ("bench_step.py", False),
            ("play_doom.py", False),
            ("average_checkpoints.py", False),
            ("prep_data.py", False),
        ),
        *(("eval_pretrained.py", False), ("sampler.py", True), ("texture.py", False)),
        *(("rollout.py", False), ("record.py", False), ("train_rollout.py", True)),
        *(("recorder.py", True), ("replay.py", False), ("teleoperate.py", False)),
    ],
)
def test_what_names_say_of_programs(
    project: Project, lint: Lint, name: str, *, found: bool
) -> None:
    engine = "import torch.cuda\n\nclass E:\n    def step(self):\n        x.backward(); o.step()\n"
    engine += "\ndef make(name):\n    return E()\n"
    project({"engine.py": engine, name: "from engine import make\n\nmake().step()\n\n" + MAIN})
    assert lint("--select", "DET304") == ["engine.py:5 DET304"] * found


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("benchmark_lm.py", "print(accuracy)", True),
        ("benchmark_lm.py", "print(time.perf_counter() - start)", False),
        ("benchmark_lm.py", "torch.cuda.synchronize()", False),
        ("train_lm.py", "print(time.perf_counter() - start)", True),
    ],
)
def test_a_benchmark_that_takes_no_times_trains(
    project: Project, lint: Lint, name: str, line: str, *, found: bool
) -> None:
    train = "import torch\nnet = torch.nn.Linear(3, 4)\nloss.backward(); optimizer.step()\n"
    project({name: f"{train}{line}\n"})
    assert lint("--select", "DET102") == [f"{name}:2 DET102"] * found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("runner = Runner.from_cfg(cfg)\nrunner.train()", True),
        ("trainer = Trainer.from_argparse_args(args)\ntrainer.fit(model)", True),
        ("trainer.fit()", True),
        ("trainer.train(False)", False),
        ("model.train()", False),
        ("import sklearn\nmodel.fit(x, y)", False),
        ("def _backward(ctx, grads):\n    return torch.ops.mine.backward(grads)", False),
        ("if x:\n    class F:\n        def f(self):\n            torch.ops.m.backward(1)", False),
        ("check(x).backward()\nassert_close(x.grad, y)", False),  # nothing learns from it
        ("loss.backward()\nwith torch.no_grad():\n    w -= w.grad.data", True),
        (
            "def backward(x, scaler):\n    scaler.scale(x).backward()\nbackward(x, y); o.step()",
            True,
        ),
        ("torch.empty(1, requires_grad=True).backward()\noptim.SGD(x)", False),
        ("from optax import sgd\ntrainer.train(sgd)", True),
    ],
)
def test_what_trains_with_torch(project: Project, lint: Lint, text: str, *, found: bool) -> None:
    project({"use.py": f"import torch.cuda\n\n{text}\n\n{MAIN}"})
    assert len(lint("--select", "DET304")) == found


@pytest.mark.parametrize(
    "head", ["import jax\nimport optax", "from flax import nnx\n\ndef load():\n    import torch"]
)
def test_a_trainer_in_jax_is_none_of_torchs(project: Project, lint: Lint, head: str) -> None:
    project(
        {
            "use.py": f"from convert import load\n{head}\n\ntrainer.train(load())\n\n{MAIN}",
            "convert.py": "import torch\n\ndef load():\n    return torch.load('x')\n",
        }
    )
    assert lint("--select", "DET304") == []


@pytest.mark.parametrize(("other", "found"), [("tensorflow", 0), ("numpy", 1)])
def test_a_trainer_of_several_libraries_is_no_ones(
    project: Project, lint: Lint, other: str, found: int
) -> None:
    project(
        {
            "lib.py": f"import torch\nimport {other}\n\ntrainer = object()\n",
            "use.py": f"from lib import trainer\n\ntrainer.train()\n\n{MAIN}",
        }
    )
    assert len(lint("--select", "DET304")) == found


@pytest.mark.parametrize(
    ("draw", "train", "found"),
    [
        ("tf.image.random_flip_left_right(x)", "jax.grad(f)(x)", 1),
        ("tf.image.random_flip_left_right(x, seed=3)", "jax.grad(f)(x)", 0),
        ("tf.image.random_flip_left_right(x, 3)", "jax.grad(f)(x)", 0),
        ("tf.image.stateless_random_flip_left_right(x, seed)", "jax.grad(f)(x)", 0),
        ("tf.random.uniform([], 0, 1)", "jax.grad(f)(x)", 1),
        ("tf.random.uniform([], 0, 1)", "tf.random.set_seed(0)\n    jax.grad(f)(x)", 0),
        ("tf.random.uniform([], 0, 1)", "tf.GradientTape()", 0),
    ],
)
def test_draws_of_tensorflow(
    project: Project, lint: Lint, draw: str, train: str, found: int
) -> None:
    head = "import tensorflow as tf\nimport jax\nimport optax"
    text = f"{head}\n\ndef main():\n    {train}\n    rows.map(lambda x: {draw})\n\n{MAIN}"
    project({"train.py": text})
    assert len(lint("--select", "DET102")) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tune.Tuner(APPO, param_space={}).fit()", 1),
        ("tuner = tune.Tuner('PPO')\n    tuner.fit()", 1),
        ("algo = APPOConfig().build()\n    algo.train()", 1),
        ("algo = APPOConfig().build()\n    algo.evaluate()", 0),
        ("algo = APPOConfig().build()\n    algo.train(False)", 0),
    ],
)
def test_rllib_trains(project: Project, lint: Lint, text: str, found: int) -> None:
    head = (
        "import numpy\nfrom ray import tune\nfrom ray.rllib.algorithms.appo import APPO, APPOConfig"
    )
    main = f"def main():\n    keep(rows())\n    {text}\n\n{MAIN}".replace("    save()\n", "")
    project(
        {
            "train.py": f"{head}\nfrom data import rows\n\n{main}",
            "data.py": "import random\n\ndef rows():\n    return random.random()\n",
        }
    )
    assert len(lint("--select", "DET102")) == found


@pytest.mark.parametrize(
    "line",
    [
        "for i in random.sample(range(9), 3):\n    logger.info(i)",
        "row = random.randint(0, 9)\nprint(rows[row], f(row))",
        "a = random.sample(all, 9)\nfor i, x in enumerate(a):\n    y = f(x)\n    ax[i].imshow(y)",
        "for x in rows:\n    if random.random() < 0.1:\n        print(x)\n        logger.info(x)",
        "if step and random.randint(0, 9) == 5:\n    print(f'{x}: {y}')\nelse:\n    print(z)",
        "np.random.seed(random.randint(0, 9))",
        "time.sleep(random.uniform(0, 5))",
        "port = random.randint(1024, 65535)",
        'name = "".join(random.choice(letters) for _ in range(8))',
        'group = f"{random.randint(0, 9)}"',
        "colors = [random.randint(0, 255) for _ in names]",
        "def backoff():\n    return random.random()",
        "run(run_id=random.randint(0, 9))",
        'save("run_" + str(random.randint(0, 9)))',
        'save("run_%d" % random.randint(0, 9))',
        'save("run_{}".format(random.random()))',
        'save(format(random.random()) + "_" + end)',
        "def get_endpoint():\n    return random.choice(known)",
        "def autotune_warmup():\n    return random.random()",
        "def benchmark_step():\n    return random.random()",
    ],
)
def test_draws_that_no_number_depends_on(project: Project, lint: Lint, line: str) -> None:
    project({"a.py": f"import random\nimport time\nimport numpy\n\n{line}\n\n{MAIN}"})
    assert lint("--select", "DET102") == []
    project({"a.py": f"import random\nimport time\nimport numpy\n\nx = random.random()\n\n{MAIN}"})
    assert lint("--select", "DET102") == ["a.py:5 DET102"]


@pytest.mark.parametrize(
    "line",
    [
        "ids = numpy.random.choice(9, 3)\nz = f(x[ids], y[ids]).mean()\nz.backward(f'{z}')",
        "dates = [random.choice(days) for _ in x]\nmake(dates)\nlogger.info(dates)",
    ],
)
def test_a_draw_that_is_shown_may_be_used_as_well(project: Project, lint: Lint, line: str) -> None:
    project({"a.py": f"import random\nimport numpy\n\n{line}\n\n{MAIN}"})
    assert lint("--select", "DET102") == ["a.py:4 DET102"]


@pytest.mark.parametrize(
    "line",
    [
        "row = random.randint(0, 9)\nprint(row)\nkeep(row)",
        "row = random.randint(0, 9)\nprint(row)\nif row:\n    stop()",
        "if random.random() < 0.1:\n    print(x)\n    f(x)",
        "if random.random() < 0.1:\n    print(x)\nelse:\n    y = 3",
        "if random.random() < 0.1:\n    print(x)\n    y = 3",
        "y = random.random() < 0.1\nif y:\n    print(x)\nf(y)",
        "while random.random() < 0.1:\n    print(x)",
        "y = f(x) if random.random() < 0.1 else g(x)\nprint(y)",
        "row = random.randint(0, 9)\nprint(row)\nself.row = row",
        "row = random.randint(0, 9)\nprint(row)\ndef f():\n    return row",
        "rows = random.sample(all, 9)\nprint(rows)\nfor x in rows:\n    f(x)",
        "plt.imshow(random.random())\nsave(random.random())",
        "rows = [random.random()]\nplt.imshow(rows[0])\nsave(rows)",
        "noise = f(random.random())\nplt.imshow(noise)",
    ],
)
def test_what_is_more_than_shown(project: Project, lint: Lint, line: str) -> None:
    project({"a.py": f"import random\nimport time\nimport numpy\n\n{line}\n\n{MAIN}"})
    assert len(lint("--select", "DET102")) == 1


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("pkg/check.py", "print(Step)\n\n" + MAIN, False),
        ("pkg/kernel.py", "print(constraint(Step))\n\n" + MAIN, False),
        ("pkg/kernel.py", "Step().fit_all()\n\n" + MAIN, True),
        ("pkg/run.py", "print(Step)\n\n" + MAIN, True),
        ("pkg/train.py", "print(Step)\n\n" + MAIN, True),
        ("tests/kernel.py", "print(Step)\n\n" + MAIN, False),
        ("use.py", "print(Step)\n\n" + MAIN, True),
    ],
)
def test_a_module_that_only_tries_itself_shares_what_it_imports(
    project: Project, lint: Lint, name: str, text: str, *, found: bool
) -> None:
    project(
        {
            "pkg/__init__.py": "",
            "pkg/step.py": """
                import torch.cuda

                class Step:
                    def __init__(self):
                        self.loss.backward()
                        self.optimizer.step()

                    def fit_all(self):
                        pass
            """,
            name: f"from pkg.step import Step\n\n{text}",
        }
    )
    assert len(lint("--select", "DET304")) == found


def test_a_module_that_others_import_only_tries_itself(project: Project, lint: Lint) -> None:
    model = f"import torch\n\ndef make():\n    pass\n\n{MAIN}    x = torch.rand(size)\n"
    project({"net.py": model})
    assert lint("--select", "DET102") == ["net.py:9 DET102"]
    project({"use.py": f"import net\n\n{MAIN}"})
    assert lint("--select", "DET102") == []


def test_a_loop_at_the_top_that_applies_gradients_is_a_program(
    project: Project, lint: Lint
) -> None:
    loop = "for x in data:\n    with tf.GradientTape() as tape:\n        loss = f(x)\n"
    project({"train.py": f"import tensorflow as tf\n\n{loop}    sgd.apply_gradients(tape)\n"})
    assert lint("--select", "DET801") == ["train.py:4 DET801"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def train():\n    loss.backward()\n\nfor _ in range(9):\n    train()\n", True),
        ("def step():\n    x.backward()\n\ndef train():\n    step()\n\ntrain()\n", True),
        ("def train():\n    loss.backward()\n\ndef run():\n    train()\n", False),
        ("def train():\n    loss.backward()\n\nself.attrain()\nREGISTRY = [train]\n", False),
        ('def train():\n    loss.backward()\n\n"""Call train()."""\n', False),
    ],
)
def test_a_file_whose_top_calls_what_trains_is_a_program(text: str, *, found: bool) -> None:
    assert is_entrypoint("main.py", text) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from loop import train\ntrain(model, loader)\n", True),
        ("from loop import fit\nhistory = fit(model)\n", True),
        ("args = parser.parse_args()\nmake(args)\n", True),
        ("opt, rest = argparse.ArgumentParser().parse_known_args()\n", True),
        ("for epoch in range(9):\n    for x in data:\n        train_step(x)\n", True),
        ("for epoch in range(9):\n    model.optimize_parameters(epoch)\n", True),
        ("for epoch in range(9):\n    print(epoch)\n\ndef f():\n    train()\n", False),
        ("def f():\n    args = parser.parse_args()\n    train(args)\n", False),
        ('"""\nargs = parser.parse_args()\ntrain(args)\n"""\n', False),
        ("train_rows = trained(3)\nrunner(1)\n", False),
        ("for x in rows:\n    np.random.shuffle(x)\n", True),
        ("weights = torch.randn(3)\n", True),
        ("def f():\n    random.shuffle(rows)\n", False),
        ("if True:\n    def f():\n        random.shuffle(rows)\n", False),
        ("class A:\n    x = random.random()\n", False),
        ("# random.shuffle(rows)\nrng.random.shuffle(rows)\n", False),
        ("def experiment(k):\n    ...\n\nfor k in range(9):\n    experiment(k)\n", True),
        ("def experiment():\n    ...\n\nexperiment()\n", True),
        ("rewards, losses = ppo.train_on_env(env, 9)\n", True),
        ("def f():\n    ppo.train_on_env(env, 9)\n", False),
        ("if fast:\n    print()\n\n    experiment()\ndef experiment():\n    ...\n", True),
        ("def helper():\n    ...\n\nx = helper()\n", False),
        ("def helper():\n    ...\n\nx = {\n    1: 2,\n}\nother()\n", False),
        ("def f():\n    ...\n\ndef g():\n    for x in y:\n        f()\n", False),
        ("def f():\n    ...\n\nif True:\n    def g():\n        f()\n", False),
        ('def f():\n    ...\n\nTEXT = """\nf()\n"""\n', False),
    ],
)
def test_a_file_whose_top_starts_something_is_a_program(
    text: str, engine: Callable[..., Engine], *, found: bool
) -> None:
    assert is_entrypoint("main.py", text) is found
    assert engine().look("main.py", f"import x\n{text}".encode()).runs is found


def test_a_module_of_a_package_that_another_imports_starts_nothing_as_it_is_loaded(
    project: Project, lint: Lint
) -> None:
    text = "import random\nimport torch\nargs = parser.parse_args()\nrandom.random()\nsave()\n"
    project({"make/rows.py": text})
    assert lint("--select", "DET102") == ["make/rows.py:4 DET102"]
    project({"make/__init__.py": ""})
    assert lint("--select", "DET102") == ["make/rows.py:4 DET102"]
    project({"make/api.py": "from make import rows\n"})
    assert lint("--select", "DET102") == []


def test_options_that_another_program_imports_are_no_program(project: Project, lint: Lint) -> None:
    options = "import random\nimport torch\nargs = parser.parse_args()\nrandom.shuffle(args.x)\n"
    project({"options.py": f"{options}args.save()\n"})
    assert lint("--select", "DET102") == ["options.py:4 DET102"]
    project({"train.py": f"import options\nrandom.seed(1)\n{DRAWS}"})
    assert "options.py:4 DET102" not in lint("--select", "DET102")


LEARNER = """
import torch

class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(4, 1)
        self.optim = torch.optim.Adam(self.net.parameters())

    def learn(self, steps):
        for x in range(steps):
            self._update(x)

    def _update(self, x):
        self.net(x).mean().backward()
        self.optim.step()

    def show(self):
        print(self.net)

def study(steps):
    Agent().learn(steps)

def rows():
    return torch.rand(3)
"""
WITH_AGENT = "from agent import Agent, rows, study\nagent = Agent()\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("agent.learn(9)\n", True),
        ("study(9)\n", True),
        ("for k in range(3):\n    if k:\n        best = study(k)\n", True),
        ("with open('log') as log:\n    print(agent.learn(9), file=log)\n", True),
        ("torch.save(rows(), 'rows.pt')\n", True),
        ("print(rows())\n", False),
        ("agent.show()\n", False),
        ("def main():\n    agent.learn(9)\n", False),
        ("@app.route('/')\ndef main():\n    agent.learn(9)\n", False),
    ],
)
def test_what_the_statements_of_a_plain_script_run_makes_a_program_of_it(
    project: Project, lint: Lint, text: str, *, found: bool
) -> None:
    project({"agent.py": LEARNER, "experiment.py": f"{WITH_AGENT}{text}"})
    for paths in ((".",), ("experiment.py",)):
        assert bool(lint("--select", "DET102", paths=paths)) is found


@pytest.mark.parametrize(
    ("text", "found"), [("agent.learn(9)", True), ("study(9)", True), ("agent.show()", False)]
)
def test_what_a_program_trains_counts_more_than_its_name(
    project: Project, lint: Lint, text: str, *, found: bool
) -> None:
    main = f"{WITH_AGENT}if __name__ == '__main__':\n    {text}\n"
    project({"agent.py": LEARNER, "play_demos.py": main})
    assert bool(lint("--select", "DET102")) is found


def test_what_a_notebook_has_others_draw_and_shows_is_possible(
    project: Project, lint: Lint
) -> None:
    code = "import matplotlib.pyplot as plt\nfrom maps import draw\nplt.imshow(draw())\nplt.show()"
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": code}
    maps = "import numpy as np\n\ndef draw():\n    return np.random.rand(4, 4)\n"
    project({"table.ipynb": json.dumps({"cells": [cell]}), "maps.py": maps})
    assert lint("--select", "DET102") == []
    assert lint("--select", "DET102", "--min-confidence", "possible") == ["maps.py:4 DET102"]


@pytest.mark.parametrize(
    "known", ["globals()", "globals().copy()", "dict(globals())", "eval(f'rows')()"]
)
def test_what_a_file_imports_by_a_star_may_be_looked_up_in_all_that_it_knows(
    project: Project, lint: Lint, known: str
) -> None:
    looks = f"from rows import *\n\ndef make(name):\n    known = {known}\n"
    project(
        {
            "rows.py": "import numpy as np\n\ndef getRows():\n    return np.random.rand(3)\n",
            "make.py": f"{looks}    return known.get('get' + name)()\n",
            "train.py": "import numpy as np\nfrom make import make\n\ndef main():\n"
            "    make('Rows').backward(); o.step()\n\n" + MAIN,
        }
    )
    assert lint("--select", "DET102") == ["rows.py:4 DET102"]


def test_what_a_class_keeps_in_an_attribute_is_no_method_of_others(
    project: Project, lint: Lint
) -> None:
    rows = "class Rows:\n    def __init__(self, train):\n        self.train = train\n\n"
    project(
        {
            "agent.py": LEARNER.replace("def learn", "def train"),
            "rows.py": f"{rows}    def count(self):\n        return 9 if self.train else 3\n",
            "sample.py": "from agent import Agent\nfrom rows import Rows\n\ndef main():\n"
            "    Agent().show(), Rows(True).count()\n\n" + MAIN,
        }
    )
    assert lint("--select", "DET304", "--min-confidence", "possible") == []


def test_a_plain_script_that_others_import_is_no_program(project: Project, lint: Lint) -> None:
    script, again = f"{WITH_AGENT}agent.learn(9)\n", "import experiment\nprint()\n"
    project({"agent.py": LEARNER, "experiment.py": script, "again.py": again})
    assert lint("--select", "DET102") == []


@pytest.mark.parametrize(
    ("text", "others", "found"),
    [
        ("", {}, True),
        ("", {"lib/api.py": "from lib import experiment\n"}, False),
        ("\ndef helper():\n    ...\n", {}, False),
        ("\ndef main():\n    ...\n\nmain()\n", {}, True),
    ],
)
def test_a_plain_script_of_a_package_is_a_program_if_it_is_there_for_that(
    project: Project, lint: Lint, text: str, others: dict[str, str], *, found: bool
) -> None:
    script = f"{WITH_AGENT}agent.learn(9)\n{text}"
    project({"agent.py": LEARNER, "lib/__init__.py": "", "lib/experiment.py": script, **others})
    assert lint("--select", "DET102") == ["agent.py:6 DET102"] * found


def test_what_a_package_does_as_it_is_imported_is_no_program(project: Project, lint: Lint) -> None:
    script = f"{WITH_AGENT}agent.learn(9)\n"
    project({"agent.py": LEARNER, "lib/__init__.py": script})
    assert lint("--select", "DET102") == []


def test_a_plain_script_at_the_root_of_a_project_is_in_no_package(
    project: Project, lint: Lint
) -> None:
    script = f"{WITH_AGENT}agent.learn(9)\n"
    project({"agent.py": LEARNER, "experiment.py": script, "__init__.py": "", ".git/HEAD": ""})
    assert lint("--select", "DET102") == ["agent.py:6 DET102"]


def test_what_a_script_adds_to_the_path_by_convention_is_found(
    project: Project, lint: Lint
) -> None:
    step = "import torch.cuda\n\ndef train():\n    x.backward(); o.step()\n"
    train = "import _init_paths\nfrom core.function import train\n\ntrain()\n\n" + MAIN
    project({"lib/core/function.py": step, "tools/train.py": train})
    assert lint("--select", "DET304") == ["lib/core/function.py:4 DET304"]


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("regnet.py", "print(model(torch.rand(1, 3, 224, 224)))", False),
        ("regnet.py", "x = torch.randn((2, 3, 8), device='cuda')", False),
        ("regnet.py", "dummy_input = torch.rand(1, size)", False),
        ("regnet.py", "import numpy as np; x = np.random.normal(0, 1, (3, 3, 256, 256))", False),
        ("regnet.py", "import numpy as np; x = np.random.rand(1, 224, 224)", False),
        ("regnet.py", "import numpy as np; x = np.random.uniform(0, 1, 100)", True),
        ("to_onnx.py", "x = torch.rand(1, size, size)\ntorch.onnx.export(net, x)", False),
        ("tests/serialize.py", "x = torch.rand(n)", False),
        ("benchmark.py", "x = torch.rand(n)", False),
        ("benchmark.py", "x = torch.rand(n)\nprint(accuracy(x))", True),
        ("benchmark.py", "import time; time.time()\nprint(accuracy(torch.rand(n)))", False),
        ("make.py", "x = torch.rand(n)", True),
        ("make.py", "x = torch.rand(1, *input_shape)", False),
        ("make.py", "x = torch.rand(config['input_shape'])", False),
        ("make.py", "x = torch.rand(1, *shape)", True),
        ("make.py", "k_means.fit(x)\nx = torch.rand(n)", True),
    ],
)
def test_inputs_on_which_a_model_is_tried(
    project: Project, lint: Lint, name: str, line: str, *, found: bool
) -> None:
    project({name: f"import torch\n\n{line}\n\n{MAIN}"})
    assert len(lint("--select", "DET102")) == found


def test_a_file_that_tries_its_layer_on_an_example(project: Project, lint: Lint) -> None:
    layer = "import torch\n\nclass Layer:\n    def __init__(self, n):\n"
    layer += "        self.w = torch.rand(n)\n\nif __name__ == '__main__':\n    layer = Layer(3)\n"
    project({"layer.py": f"{layer}    print(layer(torch.rand(2, 8, 3)))\n"})
    assert lint("--select", "DET102") == []
    project({"layer.py": f"{layer}    main(save(layer(torch.rand(2, 8, 3))))\n"})
    assert lint("--select", "DET102") == ["layer.py:5 DET102"]
    project({"layer.py": f"{layer}    save(layer(torch.rand(n, 8, 3)))\n"})
    assert lint("--select", "DET102") == ["layer.py:5 DET102"]


def test_a_module_of_a_package_may_call_a_test_of_itself(project: Project, lint: Lint) -> None:
    data = "import numpy as np\n\ndef {0}(x):\n    print(np.random.rand(3))\n\n"
    data += MAIN.replace("main()", "{0}(parser.parse_args())")
    project({"pkg/__init__.py": "", "pkg/data.py": data.format("test")})
    assert lint("--select", "DET102") == []
    project({"pkg/data.py": data.format("load")})
    assert lint("--select", "DET102") == ["pkg/data.py:4 DET102"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from timm.utils import *; random_seed(args.seed, 0)", False),
        ("from timm.utils import random_seed; random_seed(42)", False),
        ("from tools import *; seed = random_seed()", True),
        ("def random_seed(x): pass\nrandom_seed(3)", True),
    ],
)
def test_a_seed_of_that_name_seeds(project: Project, lint: Lint, line: str, *, found: bool) -> None:
    project({"train.py": TRAIN.format(f"{line}\nrandom.random()")})
    assert bool(lint("--select", "DET102")) is found


def test_scikit_learn_trains_no_network(project: Project, lint: Lint) -> None:
    data = "import numpy as np\n\nnoise = np.random.rand(9)\n"
    project({"data.py": data, "fit.py": f"import torch, data\nmodel.fit(x)\n\n{MAIN}"})
    assert lint("--select", "DET102") == []
    project({"data.py": data, "fit.py": f"import keras, data\nmodel.fit(x)\n\n{MAIN}"})
    assert lint("--select", "DET102") == ["data.py:3 DET102"]
    project({"fit.py": f"import keras, data\nscaler.fit(x)\n\n{MAIN}"})
    assert lint("--select", "DET102") == []


def test_a_main_block_in_a_string_or_a_loop_in_a_function_starts_nothing() -> None:
    quoted = f'TEXT = """Write:\n\n{MAIN}"""\n'
    assert not is_entrypoint("tool.py", quoted)
    assert is_entrypoint("tool.py", quoted + MAIN)
    nested = "if fast:\n    class F:\n        def backward(ctx, x):\n            op.backward(x)\n"
    assert not is_entrypoint("model.py", nested)
    assert is_entrypoint("model.py", "if fast:\n    for x in data:\n        x.backward()\n")


FITTED = """import keras
from sklearn.{}

def fit(model, x, y):
    {}
    model.fit({})

fit(make(), *data)"""
DERIVED = """import tensorflow
from {}

class Own(Net):
    def fit(self, x):
        super().fit(x)

Own().fit(x)"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import keras\n\nmodel.compile(loss='mse')\nmodel.fit(x, y)", True),
        (
            "import os, keras\n\nos.environ['JAX_PLATFORMS'] = 'x'\nmodel.fit(x)",
            False,
        ),
        ("import tensorflow.compat.v2 as tf\n\nwith tf.GradientTape() as tape:\n    pass", True),
        ("import tensorflow as tf\n\ntf.compat.v2.GradientTape()", True),
        ("import tensorflow as tf\n\ntf.Session()\noptimizer.minimize(loss)", False),
        ("import tensorflow as tf\n\ntf.compat.v1.Session()\noptimizer.minimize(loss)", False),
        ("import tensorflow as tf\n\ntf.compat.v1.logging.info('')\nmodel.fit(x, y)", True),
        ("import tensorflow.compat.v1 as tf\n\ntf.Session()\noptimizer.minimize(loss)", True),
        ("import tensorflow as tf\n\noptimizer.apply_gradients(pairs)", True),
        ("import tensorflow as tf\n\nstate.apply_gradients(grads=grads)", False),
        ("import optax, tensorflow as tf\n\nstate.apply_gradients(grads)", False),
        ("import tensorflow\nfrom sklearn.svm import SVR\n\nrf = SVR()\nrf.fit(x, y)", False),
        ("import tensorflow\nfrom ours import SVR\n\nrf = SVR()\nrf.fit(x, y)", True),
        (FITTED.format("linear_model import Ridge", "", "x, y"), False),
        (FITTED.format("svm import SVC", "", "x, y, sample_weight=w"), False),
        (FITTED.format("metrics import f1_score", "", "x, y"), True),
        (FITTED.format("linear_model import Ridge", "", "x, y, epochs=3"), True),
        (FITTED.format("linear_model import Ridge", "model.compile('adam')", "x, y"), True),
        (FITTED.format("linear_model import Ridge", "model = keras.Model(a, b)", "x, y"), True),
        (DERIVED.format("skorch import NeuralNet as Net"), False),
        (DERIVED.format("ours import Net"), True),
    ],
)
def test_versions_of_tensorflow(project: Project, lint: Lint, text: str, *, found: bool) -> None:
    project({"train.py": f"{text}\n\n{MAIN}"})
    assert len(lint("--select", "DET801")) == found


GRAPH = (
    "import tensorflow as tf\n\n{}\nstep = tf.train.AdamOptimizer(1e-3).minimize(loss)\n"
    "session = tf.Session()\nsession.run(step)\n\n"
)


MODEL = """import tensorflow as tf

class Model:
    def __init__(self):
        self.loss = tf.nn.dropout(tf.layers.dense(tf.placeholder(tf.float32), 1), 0.1)
        self.step = tf.train.AdamOptimizer(1e-3).minimize(self.loss)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())

    def fit(self, rows):
        return self.session.run([self.step, self.loss], rows)

    def save(self):
        tf.train.Saver().save(self.session, "model")

"""


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("model = Model()\n    print('done')", "possible"),
        ("model = Model()\n    model.fit(rows)", "likely"),
        ("model = Model()\n    model.session.run(model.step)", "likely"),
    ],
)
def test_a_graph_that_is_only_built_trains_nothing(
    project: Project, capsys: pytest.CaptureFixture[str], block: str, told: str
) -> None:
    project({"model.py": MODEL + MAIN.replace("main()\n    save()", block)})
    main(["--no-cache", "--select", "DET102", "--min-confidence", "possible", "."])
    assert f"[{told}]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("self.saved_rows = None", False),
        ("def use_saved(self): return self.saved_rows", False),
        ("read(self.save_dir)", False),
        ("def load(save_dir): return read(save_dir)", False),
        ("save_rows(self.rows)", True),
        ("torch.save(rows, 'a')", True),
        ("predict(rows, save_dir='a')", True),
        ("open('a', 'w')", True),
        ("self.rows.to_csv ('a')", True),
    ],
)
def test_a_program_writes_by_what_it_calls(
    project: Project, lint: Lint, line: str, *, writes: bool
) -> None:
    shows = f"import numpy as np\n\ndef main():\n    print(np.random.rand(3))\n\n{line}\n"
    project({"show.py": shows + MAIN.replace("    save()\n", "")})
    assert lint("--select", "DET102") == ["show.py:4 DET102"] * writes


SYNTHESIS = """import numpy as np

def griffin_lim(magnitude):
    phase = np.random.rand(*magnitude.shape)
    return magnitude * phase

def to_wave(magnitude):
    return griffin_lim(magnitude)

class Cloud:
    def __init__(self, augment):
        self.augment = augment
        self.start = np.random.rand()

    def __getitem__(self, index):
        points = np.load(f"{index}.npy")
        if len(points) > 99:
            chosen = np.random.choice(len(points), 99, replace=False)
        else:
            chosen = np.random.choice(len(points), 99)
        return self._turned(points[chosen]) if self.augment else points[chosen]

    def _turned(self, points):
        return points * np.random.uniform()

    def sampled(self):
        return np.random.normal()

class Decoder:
    def forward(self, x):
        return x * np.random.rand()

    def decode(self, x):
        return x * np.random.rand()

def loud(wave):
    return wave * 2

def shown(x, train=False):
    if train:
        return np.random.choice(x)
    return x[0]
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from audio import to_wave\n\nnp.save('a.npy', to_wave(np.load('m.npy')))", "griffin_lim"),
        ("import audio\n\nnp.save('a.npy', audio.to_wave(np.load('m.npy')))", "griffin_lim"),
        ("from audio import Cloud\n\nnp.save('a.npy', Cloud(False)[0])", "__getitem__"),
        ("from audio import Decoder\n\nnp.save('a.npy', Decoder().decode(x))", "decode"),
        ("from audio import Decoder\n\nnp.save('a.npy', Decoder()(x))", "forward"),
        ("from audio import shown\n\nnp.save('a.npy', shown(x))", ""),
        ("from audio import to_wave\n\nprint(to_wave(np.load('m.npy')))", ""),
        ("from numpy import save\nfrom audio import to_wave\n\nprint('saved', to_wave(x))", ""),
        ("from audio import to_wave\n\nopen('a', 'w').buffer.raw(to_wave(x))", "griffin_lim"),
        ("from audio import to_wave\n\nnp.save('a.npy', np.load('m.npy'))", ""),
        (
            "from audio import loud\nimport other\n\nnp.save('a.npy', loud(other.x()))",
            "griffin_lim",
        ),
        ("np.random.seed(0)\nfrom audio import to_wave\n\nnp.save('a.npy', to_wave(x))", ""),
    ],
)
def test_what_a_program_writes_may_be_drawn_in_another_file(
    project: Project, lint: Lint, text: str, found: str
) -> None:
    head, _, call = text.rpartition("\n")
    main = f"import numpy as np\n{head}\ndef main():\n    {call}\n\n{MAIN}"
    main = main.replace("    save()\n", "")
    other = "import audio\n\ndef x():\n    return audio.to_wave(audio.np.load('m.npy'))\n"
    project({"run.py": main, "audio.py": SYNTHESIS, "other.py": other})
    findings = lint("--select", "DET102")
    assert len(findings) == bool(found)
    rows = SYNTHESIS.splitlines()
    for each in findings:
        at = int(re.findall(r"audio\.py:(\d+)", each)[-1])
        within = next(row for row in reversed(rows[:at]) if "def " in row)
        assert f"def {found}(" in within


@pytest.mark.parametrize(
    ("guard", "found"), [("not training", 0), ("x is None", 1), ("p == 0 or not training", 0)]
)
def test_what_is_only_drawn_in_training_is_not_drawn_where_nothing_trains(
    project: Project, lint: Lint, guard: str, found: int
) -> None:
    net = (
        "import torch\n\ndef drop_path(x, p, training):\n"
        f"    if {guard}:\n        return x\n    return x * (torch.rand(len(x)) > p)\n\n"
        "class DropPath(torch.nn.Module):\n    def forward(self, x):\n"
        "        return drop_path(x, 0.1, self.training)\n"
    )
    run = (
        "import numpy as np\nimport torch\nfrom net import drop_path\n\n"
        "if __name__ == '__main__':\n"
        "    np.save('a.npy', drop_path(torch.load('m.pt'), 0.1, False))\n"
    )
    project({"net.py": net, "run.py": run})
    assert len(lint("--select", "DET102")) == found


@pytest.mark.parametrize(("call", "found"), [("Model(sess).train()", 1), ("Model(sess)", 0)])
def test_a_demo_that_trains_at_once_trains(
    project: Project, lint: Lint, call: str, found: int
) -> None:
    model = (
        "import numpy as np\nimport tensorflow as tf\n\nclass Model:\n    def train(self):\n"
        "        for i in np.random.permutation(9):\n            opt.apply_gradients(self[i])\n"
    )
    main = f"from model import Model\n\n{MAIN.replace('main()', call)}"
    project({"model.py": model, "demo_net.py": main})
    assert len(lint("--select", "DET102")) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("loss = tf.layers.dense(x, 1)", 1),
        ("loss = tf.get_variable('w', [4, 1])", 1),
        ("loss = tf.contrib.slim.conv2d(x, 8, 3)", 1),
        ("loss = tf.uniform_unit_scaling_initializer()([4, 1])", 1),
        ("loss = tf.Variable(tf.truncated_normal([4, 1]))", 1),
        ("loss = tf.train.slice_input_producer([x])", 1),
        ("loss = tf.train.slice_input_producer([x], shuffle=False)", 0),
        ("loss = tf.layers.dense(x, 1, kernel_initializer=tf.zeros_initializer())", 0),
        ("loss = tf.Variable(tf.truncated_normal([4, 1], seed=1))", 0),
        ("tf.set_random_seed(0)\nloss = tf.layers.dense(x, 1)", 0),
        ("loss = tf.Variable(tf.zeros([4, 1]))", 0),
    ],
)
def test_a_session_of_tensorflow_1_draws(
    project: Project, lint: Lint, line: str, found: int
) -> None:
    project({"train.py": GRAPH.format(line) + MAIN})
    assert len(lint("--select", "DET102")) == found


@pytest.mark.parametrize("line", ["", "session.run(tf.global_variables_initializer())\n"])
def test_what_a_session_restores_alone_is_drawn_nowhere(
    project: Project, lint: Lint, line: str
) -> None:
    graph = GRAPH.format("loss = tf.layers.dense(x, 1)")
    project({"train.py": f"{graph}{line}tf.train.Saver().restore(session, path)\n{MAIN}"})
    assert bool(lint("--select", "DET102")) == bool(line)


def test_a_loss_that_tensorflow_1_optimizes_is_trained(project: Project, lint: Lint) -> None:
    graph = "tf.contrib.layers.optimize_loss(tf.layers.dense(x, 1), None, 0.1, 'Adam')"
    project({"train.py": f"import tensorflow as tf\n\n{graph}\n\n{MAIN}"})
    assert lint("--select", "DET102")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('os.environ["TF_XLA_FLAGS"] = "--xla_gpu_deterministic_reductions"', True),
        ('os.environ["TF_CUDNN_DETERMINISTIC"] = "1"', True),
        ('os.environ["TF_XLA_FLAGS"] = "--xla_gpu_autotune_level=2"', False),
        ('os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_reductions=true"', True),
        ('os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_reductions=false"', False),
        ('os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=false"', True),
    ],
)
def test_what_xla_does_not_read_is_a_wish(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    project({"train.py": f"import os\n{line}\nimport jax\n\njax.grad(loss)(1)\n\n{MAIN}"})
    assert len(lint("--select", "DET805")) == found


def test_a_shared_file_is_cleared_where_all_its_programs_clear_it(
    project: Project, lint: Lint
) -> None:
    model = 'import torch\n\ndef make(net):\n    return torch.compile(net, mode="max-autotune")\n'
    on = "import torch\nfrom model import make\n\ntorch.use_deterministic_algorithms(True)\n" + MAIN
    off = "from model import make\n\nmake(0)\n\n" + MAIN
    project({"model.py": model, "train.py": on, "export.py": off})
    assert lint("--select", "DET307") == []
    project({"finetune.py": off})
    assert lint("--select", "DET307") == ["model.py:4 DET307"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_kind_end_lines(newline: str) -> None:
    text = "import torch as t\n\n\ndef make():\n    return t.rand(3)\n\n\nclass Net:\n    pass\n"
    assert outline(text.replace("\n", newline)) == outline(text)


@pytest.mark.parametrize("line", ["import torch x = 1", "from a import b c d", "import a as"])
def test_an_import_that_does_not_parse_is_no_crash(line: str) -> None:
    assert set(outline(f"{line}\ntorch.rand(3)\nb()\n").uses) == {"", "__main__"}


SACRED = """
    import torch
    from sacred import Experiment

    ex = Experiment()

    @ex.automain
    def main(lr):
        model = torch.nn.Conv2d(3, 1, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        model(x).sum().backward(), optimizer.step()
"""


def test_what_sacred_runs_is_a_program(project: Project, lint: Lint) -> None:
    project({"train.py": SACRED})
    assert lint("--select", "DET304") == ["train.py:11 DET304"]
    project({"train.py": SACRED.replace("automain", "capture")})
    assert lint("--select", "DET304") == []


WITH_SEED = 'ex.add_config({"seed": 42})'
WITHOUT_SEED = (
    "`@ex.automain` seeds it with another number in each run; give the experiment one: "
    "ex.add_config(seed=0)"
)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (WITH_SEED, []),
        ("ex.add_config(seed=1, lr=0.1)", []),
        ('ex.add_config("config.yaml")', []),
        ("@ex.config\ndef settings():\n    seed = 3\n", []),
        ("ex.add_config({'lr': 0.1})", ["DET102"]),
        ('ex.add_config("config.yaml", seed=None)', []),
        ("ex.add_config(seed=None)", ["DET102"]),
        ("@ex.config\ndef settings():\n    lr = 0.1\n", ["DET102"]),
    ],
)
def test_sacred_seeds_before_it_runs_what_it_is_given(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, found: list[str]
) -> None:
    made = f"from sacred import Experiment\n\nex = Experiment()\n{line}\n"
    train = SACRED.replace("from sacred import Experiment", "from made import ex")
    train = train.replace("    ex = Experiment()\n", "")
    project({"made.py": made, "train.py": train, "config.yaml": "seed: 42  # of sacred\n"})
    main(["--output-format", "json", "--no-cache", "--select", "DET102", "."])
    told = json.loads(capsys.readouterr().out)
    assert [each["code"] for each in told] == found
    assert all(WITHOUT_SEED in each["message"] for each in told)


@pytest.mark.parametrize(
    ("seed", "is_told"),
    [
        ("torch.manual_seed(_config['seed'])", True),
        ("torch.manual_seed(_seed)", True),
        ("config = dict(_config); torch.manual_seed(config['seed'] + 1)", True),
        ("torch.manual_seed(_config['number'])", False),
        ("torch.manual_seed(3)", False),
    ],
)
def test_the_seed_that_sacred_makes_up_is_none(
    project: Project, lint: Lint, seed: str, *, is_told: bool
) -> None:
    main = SACRED.replace("main(lr)", "main(_config, _seed, lr)")
    seeds = main.replace("model = torch", f"{seed}\n        model = torch", 1)
    project({"train.py": seeds})
    assert bool(lint("--select", "DET102")) is is_told
    project({"train.py": seeds.replace("@ex.automain", f"{WITH_SEED}\n    @ex.automain")})
    assert lint("--select", "DET102") == []


def test_a_file_that_gives_sacred_no_seed_seeds_nothing(project: Project, lint: Lint) -> None:
    train = SACRED.replace("Experiment()", 'Experiment()\n    ex.add_config("config.yaml")')
    project({"train.py": train, "config.yaml": "lr: 0.1\n"})
    assert lint("--select", "DET102") == ["train.py:10 DET102"]
    project({"config.yaml": "lr: 0.1\nseed: 1\n"})
    assert lint("--select", "DET102") == []


def test_what_is_drawn_before_sacred_runs_is_told(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    train = SACRED.replace("Experiment()", f"Experiment()\n    {WITH_SEED}\n    x = torch.rand(9)")
    project({"train.py": train})
    main(["--output-format", "json", "--no-cache", "--select", "DET102", "."])
    (told,) = json.loads(capsys.readouterr().out)
    assert "before `@ex.automain` seeds it" in told["message"]
    assert told["location"]["row"] == 7


def test_what_sacred_runs_in_another_file_is_not_run_by_those_that_import_it(
    project: Project, lint: Lint
) -> None:
    project({"train.py": SACRED, "show.py": f"from train import main\n\nprint(main)\n{MAIN}"})
    assert lint("--select", "DET304") == ["train.py:11 DET304"]


SPLIT = """
    from sklearn.model_selection import train_test_split

    def split(x):
        return train_test_split(x)
"""


@pytest.mark.parametrize(
    ("lines", "confidence"),
    [
        ("fix(0); split(x)", "possible"),
        ("split(x); fix(0)", "likely"),
        ("split(x)", "likely"),
        ("np.random.seed(0); split(x)", "possible"),
        ("run()", "possible"),
        ("other(); run()", "likely"),
    ],
)
def test_a_draw_after_the_seed_of_the_program(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, confidence: str
) -> None:
    train = f"""
        import numpy as np
        from data import split
        from tools import fix

        def run():
            fix(3)
            split(x)

        def other():
            split(x)

        def main():
            {lines}

        if __name__ == "__main__":
            main()
    """
    tools = "import numpy as np\ndef fix(seed):\n    np.random.seed(seed)\n"
    project({"data.py": SPLIT, "tools.py": tools, "train.py": train})
    rules = ["--select", "DET104", "--min-confidence", "possible"]
    main(["--no-cache", "--output-format", "json", *rules, "."])
    found = json.loads(capsys.readouterr().out)
    assert [each["confidence"] for each in found] == [confidence]


COMMANDS = """
    import numpy as np
    from sacred import Experiment
    from typer import Typer
    from data import split
    from tools import fix

    app = Typer()
    ex = Experiment()

    {}
"""
RUN = 'if __name__ == "__main__":\n    app()\n'


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("@ex.automain\ndef main():\n    fix(0); split(x)\n", "possible"),
        ("@ex.automain\ndef main():\n    split(x); fix(0)\n", "likely"),
        (f"@app.command()\ndef go():\n    fix(0); split(x)\n\n{RUN}", "possible"),
        (f"@app.command()\ndef go():\n    split(x)\n\n{RUN}", "likely"),
        (
            (
                "@app.command()\ndef go():\n    fix(0); split(x)\n\n"
                f"@app.command()\ndef show():\n    print(3)\n\n{RUN}"
            ),
            "possible",
        ),
        (
            (
                "@app.command()\ndef go():\n    fix(0); split(x)\n\n"
                f"@app.command()\ndef test():\n    split(x)\n\n{RUN}"
            ),
            "likely",
        ),
    ],
)
def test_a_seed_in_what_a_decorator_has_run(
    project: Project, capsys: pytest.CaptureFixture[str], text: str, confidence: str
) -> None:
    train = COMMANDS.format(text.replace("\n", "\n    "))
    tools = "import numpy as np\ndef fix(seed):\n    np.random.seed(seed)\n"
    project({"data.py": SPLIT, "tools.py": tools, "train.py": train})
    rules = ["--select", "DET104", "--min-confidence", "possible"]
    main(["--no-cache", "--output-format", "json", *rules, "."])
    found = json.loads(capsys.readouterr().out)
    assert [each["confidence"] for each in found] == [confidence]


@pytest.mark.parametrize(
    ("wanted", "found"), [("DEPTH, WIDTH", True), ("seed_all", False), ("Runner", False)]
)
def test_what_is_not_there_may_seed_unless_it_is_a_constant(
    project: Project, lint: Lint, wanted: str, *, found: bool
) -> None:
    text = f"import random\nimport torch\nfrom app.train.utils import {wanted}\n"
    draws = "loss.backward(); optimizer.step()\nrandom.random()\n"
    project({"app/__init__.py": "", "app/train/__init__.py": "", "train.py": text + draws})
    assert (lint("--select", "DET102") != []) is found


@pytest.mark.parametrize(
    ("seeding", "found"),
    [
        ("def fix(torch):\n    torch.manual_seed(0)\nfix(torch)", False),
        ("def fix(tool):\n    tool.manual_seed(0)\nfix(other)", True),
        ("def fix():\n    torch = late()\n    torch.manual_seed(0)\nfix()", False),
        ("def fix():\n    tool = late()\n    tool.manual_seed(0)\nfix()", True),
    ],
)
def test_what_is_written_as_torch_and_not_known_may_seed_torch(
    project: Project, lint: Lint, seeding: str, *, found: bool
) -> None:
    draws = "x = torch.nn.Linear(3, 3)\nx(y).backward(); optimizer.step()\n"
    project({"train.py": f"import other\nimport torch\n{seeding}\n{draws}"})
    assert (lint("--select", "DET102") != []) is found


@pytest.mark.parametrize(
    ("given", "found"),
    [("deterministic = True", False), ("deterministic =True", False), ("precision = 16", True)],
)
def test_blanks_around_an_option_of_a_trainer_change_nothing(
    project: Project, lint: Lint, given: str, *, found: bool
) -> None:
    text = "import lightning as L\nL.seed_everything(1)\nL.Trainer({}).fit(model, loader)\n"
    project({"train.py": text.format(given)})
    assert (lint("--select", "DET304") != []) is found


@pytest.mark.parametrize(
    ("lines", "confidence"),
    [
        ("self.fix(3)\n        self.rows = split(x)", "possible"),
        ("self.rows = split(x)\n        self.fix(3)", "likely"),
    ],
)
def test_a_constructor_may_seed_by_a_method_of_its_own(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, confidence: str
) -> None:
    trainer = f"""\
import numpy as np
from data import split

class Trainer:
    def __init__(self):
        {lines}

    def fix(self, seed):
        np.random.seed(seed)
"""
    train = "from trainer import Trainer\n\nif __name__ == '__main__':\n    Trainer()\n"
    project({"data.py": SPLIT, "trainer.py": trainer, "train.py": train})
    rules = ["--select", "DET104", "--min-confidence", "possible"]
    main(["--no-cache", "--output-format", "json", *rules, "."])
    found = json.loads(capsys.readouterr().out)
    assert [each["confidence"] for each in found] == [confidence]


@pytest.mark.parametrize(("quote", "found"), [("'''", False), ("", True)])
def test_what_a_text_shows_is_not_imported(
    project: Project, lint: Lint, quote: str, *, found: bool
) -> None:
    shown = f"{quote}\nimport transformer_engine.pytorch as te\nte.TransformerLayer(64, 256, 4)\n"
    train = f"import torch\nEXAMPLE = 1\n{shown}{quote}\nloss.backward(); optimizer.step()\n"
    project({"train.py": train})
    assert (lint("--select", "DET604") != []) is found


COACH = """
import torch

class Coach:
    def __init__(self):
        self.net = torch.nn.Conv2d(3, 8, 3).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def train(self, rows):
        for row in rows:
            self.net(row.cuda()).sum().backward()
            self.optimizer.step()
"""
WRITES = """
import sys
import torch
from coach import Coach

def main(path):
    coach = Coach()
    {}
    coach.net.train(False)
    torch.save(coach.net(torch.ones(1, 3, 8, 8).cuda()), path)
    {}

if __name__ == "__main__":
    main(sys.argv[1])
"""
EXPORTS = "torch.onnx.export(coach.net, torch.ones(1, 3, 8, 8), path)"


@pytest.mark.parametrize(
    ("before", "after", "trains"),
    [
        ("coach.net.load_state_dict(torch.load(path))", EXPORTS, False),
        ("coach.train(torch.load('rows.pt'))", EXPORTS, True),
    ],
)
def test_what_only_writes_a_model_in_another_form_trains_nothing(
    project: Project, capsys: pytest.CaptureFixture[str], before: str, after: str, *, trains: bool
) -> None:
    project({"coach.py": COACH, "to_other.py": WRITES.format(before, after)})
    main(["--no-cache", "--select", "DET304,DET102", "."])
    assert ("trains with torch" in capsys.readouterr().out) is trains


LISTING = """
    import os

    def names_in(folder):
        return [os.path.join(folder, name) for name in os.listdir(folder)]
"""
TRAINING = """
    import torch
    from listing import names_in
    from nets import Net

    net, optimizer = Net(), torch.optim.SGD([], lr=0.1)
    for x in names_in("d")[:{}]:
        optimizer.zero_grad()
        net(x).backward()
        optimizer.step()
    torch.save(net.state_dict(), "net.pt")
"""
NETWORK = """
    import random
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(random.randint(3, 4), 4)
"""


@pytest.mark.parametrize("cache", [False, True])
def test_as_much_is_found_in_several_processes_as_in_one(
    project: Project, lint: Lint, *, cache: bool
) -> None:
    programs = {f"train{each}.py": TRAINING.format(each + 2) for each in range(40)}
    others = {f"other{each}.py": "x = 1\n" * 10_000 for each in range(10)}
    project({"listing.py": LISTING, "nets.py": NETWORK, **programs, **others})
    found = lint("--jobs", "1")
    assert len(found) > len(programs)
    assert lint("--jobs", "3", cache=cache) == found
    assert lint("--jobs", "3", cache=cache) == found, "as it is kept"
    project({"nets.py": NETWORK.replace("random.randint(3, 4)", "3")})
    changed = lint("--jobs", "1")
    assert len(changed) < len(found)
    assert lint("--jobs", "3", cache=cache) == changed
