"""What is found in a file depends on its project, and not on the files that are named."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    Found = set[tuple[str, int, int, str, str]]
    Lint = Callable[..., Found]

TRAIN = """\
import torch.cuda
from lib.data import batch
from lib.loop import fit


def main():
    fit(batch())


if __name__ == "__main__":
    main()
"""
FILES = {
    "run_training.py": TRAIN,
    "tools/again.py": TRAIN,
    "lib/__init__.py": "",
    "lib/data.py": "import numpy as np\n\n\ndef batch():\n    return np.random.rand(3)\n",
    "lib/loop.py": "def fit(x):\n    x.loss.backward()\n    x.optimizer.step()\n",
    "lib/names.py": "import os\n\n\ndef listed(p):\n    return [f for f in os.listdir(p)]\n",
    "use.py": "from lib.names import listed\n\nprint(sorted(listed('.')))\n",
    "run.sh": "export CUBLAS_WORKSPACE_CONFIG=:4096:8\npython run_training.py\n",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "repository")
    subprocess.run(["git", "init", "--quiet"], check=True)
    return tmp_path / "repository"


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Lint:
    """All that the findings of some paths say, by real path."""

    def run(*paths: str, cache: bool = False) -> Found:
        kept = ["--cache-dir", str(tmp_path / "cache")] if cache else ["--no-cache"]
        main([*kept, "--output-format", "json", *paths])
        found = json.loads(capsys.readouterr().out)
        return set(map(_told, found))

    return run


def _told(finding: dict[str, Any]) -> tuple[str, int, int, str, str]:
    place = finding["location"]
    path = os.path.realpath(finding["filename"])
    return path, place["row"], place["column"], finding["code"], finding["message"]


def _in(found: Found, *paths: Path) -> Found:
    return {each for each in found if each[0] in map(str, paths)}


@pytest.mark.parametrize("cache", [False, True])
def test_a_file_alone_has_the_findings_that_it_has_among_all(
    repository: Path, lint: Lint, *, cache: bool
) -> None:
    whole = lint(".", cache=cache)
    assert {each[3] for each in whole} >= {"DET102", "DET304"}
    for name in FILES:
        assert lint(name, cache=cache) == _in(whole, repository / name), name
    assert lint(".", cache=cache) == whole


def test_some_staged_files_have_the_findings_that_they_have_among_all(
    repository: Path, lint: Lint
) -> None:
    whole = lint(".")
    for names in (("lib/data.py", "run_training.py"), ("lib/data.py", "tools/again.py")):
        assert lint(*names) == _in(whole, *(repository / each for each in names))
    assert lint("lib") == _in(whole, *repository.glob("lib/*.py"))


def test_where_detlint_starts_changes_nothing(
    repository: Path, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = lint(".")
    monkeypatch.chdir(repository / "lib")
    assert lint("..") == whole
    assert lint("../run_training.py") == _in(whole, repository / "run_training.py")
    monkeypatch.chdir("/")
    assert lint(str(repository)) == whole


def test_a_program_has_its_findings_in_its_own_file(repository: Path, lint: Lint) -> None:
    found = {each for each in lint(".") if each[3] == "DET102"}
    assert {(os.path.relpath(each[0], repository), each[1]) for each in found} == {
        ("run_training.py", 10),
        ("tools/again.py", 10),
    }
    assert all("(lib/data.py:5)" in each[4] for each in found)


def test_a_suppression_holds_whatever_is_named(repository: Path, lint: Lint) -> None:
    text = TRAIN.replace('"__main__":', '"__main__":  # detlint: ignore[DET102, DET304, DET306]')
    (repository / "run_training.py").write_text(text, encoding="utf-8")
    whole = lint(".")
    assert not _in(whole, repository / "run_training.py")
    assert lint("run_training.py") == set()
    assert lint("run_training.py", "lib/data.py") == set()


def test_a_change_elsewhere_counts_for_what_is_named_and_was_kept(
    repository: Path, lint: Lint
) -> None:
    before = lint("run_training.py", cache=True)
    assert "DET102" in {each[3] for each in before}
    seeds = (
        "import numpy as np\n\nnp.random.seed(0)\n\n\ndef batch():\n    return np.random.rand(3)\n"
    )
    (repository / "lib" / "data.py").write_text(seeds, encoding="utf-8")
    after = lint("run_training.py", cache=True)
    assert "DET102" not in {each[3] for each in after}


def test_a_script_that_is_added_counts(repository: Path, lint: Lint) -> None:
    switch = "import torch\n\ntorch.use_deterministic_algorithms(True)\ntorch.ones(1).cuda()\n\n\n"
    loop = repository / "lib" / "loop.py"
    loop.write_text(switch + FILES["lib/loop.py"], encoding="utf-8")
    codes = {each[3] for each in lint("tools/again.py", cache=True)}
    assert "DET306" in codes
    (repository / "again.sh").write_text(
        "export CUBLAS_WORKSPACE_CONFIG=:4096:8\npython tools/again.py\n", encoding="utf-8"
    )
    codes = {each[3] for each in lint("tools/again.py", cache=True)}
    assert "DET306" not in codes


def test_each_repository_below_a_folder_is_a_project_of_its_own(
    repository: Path, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = lint(".")
    other = repository.parent / "other"
    (other / "lib").mkdir(parents=True)
    (other / "lib" / "data.py").write_text("def batch():\n    return 3\n", encoding="utf-8")
    (other / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.chdir(other)
    subprocess.run(["git", "init", "--quiet"], check=True)
    apart = lint(".")
    monkeypatch.chdir(repository.parent)
    assert lint(".") == alone | apart


def test_a_file_outside_of_any_project_is_read_with_what_it_imports(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loose = tmp_path / "loose"
    (loose / "lib").mkdir(parents=True)
    for name in ("lib/data.py", "lib/loop.py"):
        (loose / name).write_text(FILES[name], encoding="utf-8")
    (loose / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.chdir(loose)
    assert "DET102" in {each[3] for each in lint("train.py")}
    # Nothing is searched for beside it.
    (loose / "run.sh").write_text("PYTHONHASHSEED=0 python train.py\n", encoding="utf-8")
    assert lint("train.py") == _in(lint("."), loose / "train.py")


def test_a_program_that_draws_from_two_generators_elsewhere_has_two_findings(
    repository: Path, lint: Lint
) -> None:
    draws = "import random\nimport numpy as np\n\n\ndef batch():\n"
    draws += "    return np.random.rand(3), random.random()\n"
    (repository / "lib" / "data.py").write_text(draws, encoding="utf-8")
    found = [each for each in lint("run_training.py") if each[3] == "DET102"]
    assert [each[1] for each in found] == [10, 10]
    main(["--no-cache", "--fix", "--unsafe-fixes", "run_training.py"])
    fixed = (repository / "run_training.py").read_text(encoding="utf-8")
    assert fixed.count("import guard") == fixed.count("guard.enable(seed=0)") == 1


@pytest.mark.parametrize(
    "name", ["run_training.py", "lib/data.py", "lib/names.py", "tools/again.py"]
)
def test_standard_input_under_a_name_has_the_findings_of_that_file(
    repository: Path,
    lint: Lint,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = io.BytesIO((repository / name).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    main(["--no-cache", "--output-format", "json", "--stdin-filename", name, "-"])
    found = set(map(_told, json.loads(capsys.readouterr().out)))
    assert found == _in(lint("."), repository / name)


MAKE = """\
import numpy as np


def main():
    np.save("v.npy", np.random.permutation(100))


if __name__ == "__main__":
    main()
"""


def _write(files: dict[str, str]) -> None:
    for name, text in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)


@pytest.mark.usefixtures("repository")
def test_a_name_that_two_folders_share_is_kept_for_each(
    lint: Lint, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    _write({"a/x.py": MAKE, "b/x.py": MAKE.replace("np.random.permutation(100)", "[1]")})
    monkeypatch.chdir(repository / "a")
    assert {each[3] for each in lint("x.py", cache=True)} == {"DET102"}
    monkeypatch.chdir(repository / "b")
    assert lint("x.py", cache=True) == set()


@pytest.mark.usefixtures("repository")
def test_what_becomes_a_package_is_judged_anew(lint: Lint) -> None:
    rows = "import numpy as np\n\ndef rows(n):\n    return np.random.permutation(n)\n\n"
    _write({"pkg/x.py": f"{rows}first = rows(100)\nnp.save('v.npy', first)\n"})
    assert {each[3] for each in lint("pkg", cache=True)} == {"DET102"}
    _write({"pkg/__init__.py": ""})
    assert lint("pkg", cache=True) == lint("pkg") == set()
    os.unlink("pkg/__init__.py")
    assert lint("pkg", cache=True) == lint("pkg") != set()


@pytest.mark.usefixtures("repository")
def test_a_repository_that_appears_within_another_is_noticed(lint: Lint) -> None:
    seed = "import numpy as np\n\n\ndef seed():\n    np.random.seed(0)\n"
    uses = MAKE.replace("def main", "from common import seed\n\nseed()\n\n\ndef main")
    _write({"common.py": seed, "sub/t.py": uses})
    assert _in(lint(".", cache=True), Path("sub/t.py").resolve()) == set()
    os.mkdir("sub/.git")
    assert _in(lint(".", cache=True), Path("sub/t.py").resolve()) != set()


@pytest.mark.usefixtures("repository")
def test_a_program_is_judged_by_what_a_link_leads_to(lint: Lint) -> None:
    _write({"t.py": MAKE})
    os.symlink("t.py", "l.py")
    assert {each[3] for each in lint("l.py")} == {"DET102"}
    assert lint("l.py") == lint("t.py") == lint("l.py", "t.py")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("name", ["Makefile", "Dockerfile", "go.sh", "go"])
def test_a_script_alone_has_the_findings_of_what_it_starts(lint: Lint, name: str) -> None:
    line = {
        "Makefile": "train:\n\tXLA_FLAGS=--xla_gpu_deterministic_ops=0 python jx.py\n",
        "Dockerfile": "FROM x\nENV XLA_FLAGS=--xla_gpu_deterministic_ops=0\nCMD python jx.py\n",
    }.get(name, "#!/bin/sh\nXLA_FLAGS=--xla_gpu_deterministic_ops=0 python jx.py\n")
    train = "import jax\nimport os\n\nos.environ['TF_DETERMINISTIC_OPS'] = '1'\n"
    train += "grads = jax.grad(f)(x)\n"
    _write({"jx.py": f"{train}if __name__ == '__main__':\n    main()\n", name: line})
    os.chmod(name, 0o700)
    whole = lint(".")
    assert lint(name) == _in(whole, Path(name).resolve())


@pytest.mark.usefixtures("repository")
def test_programs_that_one_script_starts_are_told_in_one_order(lint: Lint) -> None:
    train = "import jax\n\ngrads = jax.grad(f)(x)\nif __name__ == '__main__':\n    main()\n"
    run = (
        "#!/bin/sh\nexport XLA_FLAGS=--xla_gpu_deterministic_ops=false\npython b.py\npython a.py\n"
    )
    _write({"a.py": train, "b.py": train, "run.sh": run})
    assert lint("run.sh", "b.py") <= lint(".")


def test_a_project_may_lie_deep(lint: Lint, tmp_path: Path) -> None:
    here, depth = os.getcwd(), 1_200
    os.chdir(tmp_path)
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        _write({"t.py": "import torch\n\ntorch.backends.cudnn.benchmark = True\n"})
        assert {each[3] for each in lint("t.py")} == {"DET301"}
        os.unlink("t.py")
        for _ in range(depth):  # what pytest removes folders with recurses
            os.chdir("..")
            os.rmdir("d")
    finally:
        os.chdir(here)


def test_packages_beside_each_other_are_judged_as_they_are_alone(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = "def lonely(names: set[str]):\n    return list(names)\n"
    package = {"pyproject.toml": "[project]\nname = 'names'\n", "names/__init__.py": listed}
    unpacked = {"names/__init__.py": listed, "names-1.0.dist-info/METADATA": ""}
    train = "import torch\n\nloss(net(x)).backward()\noptimizer.step()\n"
    for project, files in (("a", package), ("b", unpacked), ("c", {"train.py": train})):
        for name, text in {".git/HEAD": "", **files}.items():
            path = tmp_path / project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    alone = [lint(each) for each in "abc"]
    assert "DET204" in {each[3] for each in alone[0]}
    assert "DET204" in {each[3] for each in alone[1]}
    assert lint(".") == set().union(*alone)


def test_who_reads_a_table_is_of_the_project_that_writes_it(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "[{'path': p, 'size': size_of(p)} for p in glob.glob('a/*')]"
    listing = f"import glob\nimport pandas as pd\n\npd.DataFrame({rows}).to_csv('sizes.csv')\n"
    read = "import pandas as pd\n\nx, y = train_test_split(pd.read_csv('sizes.csv'))\n"
    for project, text in (("a", listing), ("b", read), ("a/inner", read)):
        (tmp_path / project / ".git").mkdir(parents=True)
        (tmp_path / project / "t.py").write_text(text, encoding="utf-8")
    assert {each for each in lint("a", "b") if each[0].endswith("a/t.py")} == lint("a/t.py")
    assert "DET203" not in {each[3] for each in lint("a/t.py")}
