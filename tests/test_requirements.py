"""The releases of libraries that a project asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main
from detlint.index.requirements import is_older, requirements

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "requirements.txt",
            "torch==2.1  # for us\nAlbumentations[imgaug]==1.0.3; python_version>'3'",
        ),
        ("requirements-dev.txt", "-r requirements.txt\nalbumentations==1.0.3"),
        ("requirements/base.txt", "albumentations ~= 1.3.0"),
        ("setup.cfg", "[options]\ninstall_requires =\n  torch\n  albumentations<1.4.21"),
        ("pyproject.toml", '[project]\ndependencies = ["torch", "albumentations >=1.0,<1.4"]'),
        ("pyproject.toml", '[project.optional-dependencies]\nall = ["albumentations<=1.4.20"]'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nalbumentations = "1.3.1"'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nalbumentations = "^0.5"'),
        ("requirements.txt", "albumentations==1.3.*"),
        ("environment.yml", "dependencies:\n  - pip:\n    - albumentations==1.3.1"),
        ("gpu-environment.yaml", "name: a\ndependencies:\n- albumentations=1.0.3=pyhd8ed1ab_0"),
        ("environment.yml", "dependencies: # ours\n  - conda-forge::albumentations<1.4"),
    ],
)
def test_all_releases_come_before_one(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert is_older(requirements(str(tmp_path)), "albumentations", "1.4.21")


def test_conda_names_torch_otherwise(tmp_path: Path) -> None:
    text = "channels:\n  - pytorch\ndependencies:\n  - python=3.8\n  - pytorch=1.7.1=py3.8_cuda11\n"
    (tmp_path / "environment.yml").write_text(text)
    assert is_older(requirements(str(tmp_path)), "torch", "1.9")
    (tmp_path / "environment.yml").write_text(text.partition("dependencies")[0])
    assert is_older(requirements(str(tmp_path)), "torch", "1.9") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("albumentations", False),
        ("albumentations>=1.0", False),
        ("albumentations==1.4.21", False),
        ("albumentations==1.4.*", False),
        ("albumentations~=1.3", False),
        ("albumentations<2", False),
        ("albumentations-extra==1.0\ntorch==1.0", None),
        ("", None),
    ],
)
def test_a_later_one_may_be_meant(tmp_path: Path, text: str, told: object) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    assert is_older(requirements(str(tmp_path)), "albumentations", "1.4.21") is told


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "project = 3"),
        ("pyproject.toml", "[project]\ndependencies = 3"),
        ("pyproject.toml", "[project"),
        ("setup.cfg", "install_requires"),
        ("requirements.txt", "\x00==\n???\n== 1\n"),
    ],
)
def test_what_says_nothing_asks_for_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert is_older(str(tmp_path), "torch", "2.0") is None
    assert [each for each in requirements(str(tmp_path)) if "torch" in each] == []


TRAIN = """\
import albumentations as A
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __init__(self, images):
        self.change = A.Compose([A.HorizontalFlip()])
        self.images = images

    def __getitem__(self, index):
        return self.change(image=self.images[index])

    def __len__(self):
        return len(self.images)

loader = DataLoader(Images(images), num_workers=4)
"""


@pytest.mark.parametrize(
    ("files", "is_found"),
    [
        ({}, True),
        ({"requirements.txt": "albumentations==1.0.3"}, False),
        ({"requirements.txt": "albumentations==2.0.8"}, True),
        ({"lib/requirements.txt": "albumentations<1.4", "requirements.txt": "torch"}, False),
        ({"other/requirements.txt": "albumentations<1.4"}, True),
    ],
)
def test_a_library_draws_as_the_release_that_is_asked_for(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str], *, is_found: bool
) -> None:
    project({"lib/train.py": TRAIN, **files})
    main(["--no-cache", "--output-format", "json", "--select", "DET104,DET201", "."])
    found = json.loads(capsys.readouterr().out)
    assert [each["code"] for each in found] == ["DET104", "DET201"][: 1 + is_found]
    assert ("since albumentations 1.4.21" in found[0]["message"]) is is_found


TRAINS_TF = "import tensorflow as tf\nnet = tf.keras.Sequential()\nnet.fit(x, y)\n"
TRAINS_TORCH = """
import torch
net = torch.nn.Conv2d(3, 4, 3).cuda()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in rows:
    net(x.cuda()).sum().backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("code", "text", "old", "new"),
    [
        ("DET801", TRAINS_TF, "tensorflow==2.4.1", "tensorflow>=2.8"),
        ("DET304", TRAINS_TORCH, "torch>=1.4,<1.7", "torch==1.8.1"),
    ],
)
def test_what_a_pinned_release_lacks_is_not_advised(  # noqa: PLR0913, PLR0917
    project: Project, capsys: pytest.CaptureFixture[str], code: str, text: str, old: str, new: str
) -> None:
    def told() -> str:
        main(["--output-format", "full", "--select", code, "."])
        return capsys.readouterr().out.partition("help: ")[2]

    project({"lib/train.py": text, "requirements.txt": old})
    assert told().startswith("move to")
    project({"requirements.txt": new})
    assert told().startswith("call")


@pytest.mark.parametrize(
    ("change", "is_found"),
    [
        (("num_workers=4", "num_workers=0"), True),
        (("num_workers=4", "num_workers=4"), False),
        (("num_workers=4)", "num_workers=0); random.seed(0)"), False),
        (("import albumentations", "import seeding, albumentations"), False),
    ],
)
def test_before_that_release_albumentations_draws_from_pythons_generator(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    change: tuple[str, str],
    *,
    is_found: bool,
) -> None:
    start = "if __name__ == '__main__':\n    print(*loader)\n"
    text = f"import random\n{TRAIN.replace(*change)}\n{start}"
    seeding = "import random\nrandom.seed(0)"
    files = {"requirements.txt": "albumentations==1.3.1", "seeding.py": seeding}
    project({"train.py": text, **files})
    main(["--no-cache", "--output-format", "json", "--select", "DET104", "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    older = "Compose() of albumentations before 1.4.21 draws from Python's global generator"
    assert told == [f"{older}, which this file does not seed; call random.seed(seed)"] * is_found


@pytest.mark.parametrize(("asked", "is_found"), [("scipy==1.3.1", False), ("scipy>=1.17", True)])
def test_before_that_release_eigsh_starts_alike(
    project: Project, capsys: pytest.CaptureFixture[str], asked: str, *, is_found: bool
) -> None:
    text = "from scipy.sparse.linalg import eigsh\n\nfound = eigsh(a, 1)\nprint(found)\n"
    project({"train.py": text, "requirements.txt": asked})
    main(["--no-cache", "--output-format", "json", "--select", "DET104", "."])
    assert bool(json.loads(capsys.readouterr().out)) is is_found
