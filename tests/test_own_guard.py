"""Projects that have a `guard` of their own run their tests as if detlint were not installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from detlint.integrations import presence

installed = pytest.mark.skipif(
    not any(each.name == "detlint" for each in entry_points(group="pytest11")),
    reason="installed before the plugin was: pip install -e . again",
)

HOW = {
    "python -m pytest": [sys.executable, "-m", "pytest"],
    "pytest": [shutil.which("pytest", path=os.path.dirname(sys.executable)) or "pytest"],
}
GUARD = {
    "a package": ("guard/__init__.py", "OURS = 1\n"),
    "a module": ("guard.py", "OURS = 1\n"),
    "a package below src": ("src/guard/__init__.py", "OURS = 1\n"),
}
TEST = """
    import sys

    import guard

    def test_guard_is_the_projects_own():
        assert guard.OURS
        assert not {"detlint.engine", "guard.setup.activation"} & sys.modules.keys()
"""


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One whose tests find what stands beside them, and what stands below src."""
    write(tmp_path, "pytest.ini", "[pytest]\npythonpath = . src\naddopts = --strict-markers\n")
    write(tmp_path, "tests/test_own.py", TEST)
    return tmp_path


def run(how: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HOW[how], "-p", "no:cacheprovider", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@installed
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", GUARD)
def test_a_guard_of_its_own_is_what_tests_import(project: Path, how: str, kind: str) -> None:
    write(project, *GUARD[kind])
    done = run(how, project)
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("detlint: ")]
    place = os.path.join(project, GUARD[kind][0]).removesuffix("/__init__.py")
    assert told == [f"detlint: `guard` is {place} here, so its own --guard is off"]


@installed
@pytest.mark.parametrize("how", HOW)
def test_its_own_option_of_that_name_is_its_own(project: Path, how: str) -> None:
    write(project, "guard/__init__.py", "OURS = 1\n")
    conftest = "def pytest_addoption(parser):\n    parser.addoption('--guard', type=int)\n"
    write(project, "conftest.py", conftest)
    write(
        project,
        "tests/test_own.py",
        "def test_option(pytestconfig):\n    assert pytestconfig.getoption('--guard') == 3\n",
    )
    done = run(how, project, "--guard=3")
    assert done.returncode == 0, done.stdout + done.stderr


@installed
def test_a_guard_that_is_found_late_is_told_to_who_asks_for_ours(tmp_path: Path) -> None:
    write(tmp_path, "conftest.py", "import sys\n\nsys.path.insert(0, 'code')\n")
    write(tmp_path, "code/guard.py", "OURS = 1\n")
    write(tmp_path, "test_own.py", TEST)
    assert run("pytest", tmp_path).returncode == 0
    done = run("pytest", tmp_path, "--guard")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    place = os.path.join(tmp_path, "code", "guard.py")
    assert f"--guard is detlint's, and `guard` is {place} here" in done.stderr


@installed
def test_a_marker_of_that_name_is_the_projects_own(tmp_path: Path) -> None:
    write(tmp_path, "pytest.ini", "[pytest]\nmarkers =\n    guard(name): tests of guards\n")
    write(
        tmp_path,
        "test_own.py",
        """
        import sys

        import pytest

        @pytest.mark.guard("gate")
        def test_marked():
            assert "guard" not in sys.modules
        """,
    )
    done = run("pytest", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the marker `guard` is this project's own" in done.stdout


# How tools for packaging install a project in place: behind what lies in site-packages.
IN_PLACE = {
    "a folder at the end of the path": "import sys\n\nsys.path.append({folder!r})\n",
    "a finder behind the others": """
        import sys
        from importlib.util import spec_from_file_location

        class Finder:
            @classmethod
            def find_spec(cls, name, path=None, target=None):
                if name == "guard":
                    return spec_from_file_location(name, {folder!r} + "/guard/__init__.py")

        sys.meta_path.append(Finder)
        """,
}


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with detlint's plugin and `guard`, as pip installs them."""
    folder = tmp_path_factory.mktemp("environment") / "site-packages"
    integrations = Path(presence.__file__).parent
    shutil.copytree(integrations, folder / "detlint" / "integrations")
    write(folder, "detlint/__init__.py", "")
    write(folder, "guard/__init__.py", "")
    about = "detlint-0.1.0.dist-info"
    write(folder, f"{about}/METADATA", "Metadata-Version: 2.1\nName: detlint\nVersion: 0.1.0\n")
    plugin = "[pytest11]\ndetlint = detlint.integrations.pytest_plugin\n"
    write(folder, f"{about}/entry_points.txt", plugin)
    return folder


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("way", IN_PLACE)
def test_a_project_that_is_installed_in_place_gets_its_own(
    way: str, how: str, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "code/guard/__init__.py", "from guard.more import OURS\n")
    write(tmp_path, "code/guard/more.py", "OURS = 1\n")
    write(tmp_path, "tests/test_own.py", TEST)
    write(
        site, "sitecustomize.py", textwrap.dedent(IN_PLACE[way]).format(folder=f"{tmp_path}/code")
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    done = run(how, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = f"detlint: `guard` is {tmp_path}/code/guard here, so its own --guard is off"
    assert told in done.stdout.splitlines()


def test_what_is_installed_over_ours_is_told(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(site, "gatekit-1.dist-info/RECORD", "guard/__init__.py,,\n")
    write(tmp_path, "test_any.py", "def test_any():\n    pass\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    clash = (
        "`guard` of gatekit and of detlint overwrite each other here (uninstall detlint, "
        "install gatekit again, and detlint in an environment of its own)"
    )
    done = run("pytest", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"detlint: {clash}, so its own --guard is off" in done.stdout.splitlines()
    done = run("pytest", tmp_path, "--guard")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--guard is detlint's, and {clash}" in done.stderr
