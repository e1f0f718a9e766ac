"""Rules and models of another package, which pip installs beside detlint."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

import detlint
from detlint.plugins import Plugin
from detlint.plugins import installed as installed_plugins
from detlint.rules import every_rule
from detlint.testing import check_clean, check_example, check_fix, check_found

PLUGIN = Path(__file__).parent / "plugin"
TRAIN = """\
import acme

train, test = acme.split(rows)
first = acme.list_shards({str(each) for each in rows})[0]
"""
PROJECT = '[tool.detlint]\nselect = ["ACME", "DET2"]\n'


class Installed(NamedTuple):
    """A virtual environment with the plugin, which is imported from ``source``."""

    python: str
    source: Path

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, "-m", *arguments],
            cwd=folder,
            # Compiled, a plugin that is written twice in a second is taken for what it was.
            env={
                **os.environ,
                "DETLINT_CACHE_DIR": str(folder / ".cache"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def lint(self, folder: Path, *options: str) -> list[tuple[int, str]]:
        done = self.run(folder, "detlint", "--output-format=json", *options, ".")
        assert done.returncode in (0, 1), done.stderr
        return [(each["location"]["row"], each["code"]) for each in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Made by venv and pip, as a user does, but from what is here and not from the network."""
    pytest.importorskip("setuptools", reason="it builds the plugin, and nothing is downloaded")
    folder = tmp_path_factory.mktemp("environment")
    # What the tests run on is found there, too; detlint itself may be installed in place.
    venv.create(folder / "venv")
    scheme = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    packages = Path(sysconfig.get_path("purelib", "venv" if os.name != "nt" else "nt", scheme))
    ours = (sysconfig.get_path("purelib"), os.path.dirname(os.path.dirname(detlint.__file__)))
    (packages / "ours.pth").write_text("\n".join(ours) + "\n")
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    source = Path(shutil.copytree(PLUGIN, folder / "plugin"))
    options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--editable")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(source)],
        check=True,
        capture_output=True,
    )
    return Installed(str(python), source)


@pytest.fixture
def installed(environment: Installed, tmp_path: Path) -> Installed:
    """With the plugin as it stands in the repository."""
    for each in (PLUGIN / "detlint_acme").glob("*.py"):
        shutil.copy(each, environment.source / "detlint_acme")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    return environment


def write(installed: Installed, text: str, name: str = "__init__.py") -> None:
    file = installed.source / "detlint_acme" / name
    file.write_text(textwrap.dedent(text))
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))


@pytest.mark.parametrize("kind", ["acme-1.dist-info", "acme.egg-info", "acme-1.egg/EGG-INFO"])
@pytest.mark.parametrize("group", ["detlint.plugins", "console_scripts"])
def test_what_packages_say_is_read_where_one_may_bring_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, group: str
) -> None:
    said = tmp_path / kind
    said.mkdir(parents=True)
    (said / "entry_points.txt").write_text(f"[{group}]\nacme = acme.rules\n")
    for name in ("METADATA", "PKG-INFO"):
        (said / name).write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    within = tmp_path / "acme-1.egg" if "egg/" in kind else tmp_path
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none"), str(within)])
    if group == "detlint.plugins":
        assert installed_plugins() == (Plugin("acme", "acme.rules", "acme", "1"),)
    else:
        monkeypatch.setitem(sys.modules, "importlib.metadata", None)  # to import it fails
        assert installed_plugins() == ()


def test_its_rules_and_models_hold_as_ours_do(installed: Installed, tmp_path: Path) -> None:
    assert installed.lint(tmp_path) == [(3, "ACME101")]
    assert installed.lint(tmp_path) == [(3, "ACME101")]  # from the cache
    assert installed.lint(tmp_path, "--ignore=ACME1") == []
    assert installed.lint(tmp_path, "--select=ACME101") == [(3, "ACME101")]
    done = installed.run(tmp_path, "detlint", "--fix", "--unsafe-fixes", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "acme.split(rows, seed=0)" in (tmp_path / "train.py").read_text()


def test_comments_and_settings_name_its_codes(installed: Installed, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(TRAIN.replace("(rows)\n", "(rows)  # detlint: ignore[ACME101] a demo\n"))
    assert installed.lint(tmp_path) == []
    file.write_text(TRAIN.replace("(rows)\n", "(rows)  # noqa: ACME101\n"))
    assert installed.lint(tmp_path) == []
    (tmp_path / "pyproject.toml").write_text(PROJECT.replace("ACME", "ACNE"))
    done = installed.run(tmp_path, "detlint", ".")
    assert done.returncode == 2
    assert "no such code: 'ACNE'" in done.stderr
    assert "their beginnings from ACME or DET on" in done.stderr


def test_its_rules_are_listed_and_explained(installed: Installed, tmp_path: Path) -> None:
    listed = installed.run(tmp_path, "detlint", "rules").stdout.splitlines()
    assert listed[0].split()[:4] == ["ACME101", "on", "certain", "unseeded-split"]
    page = installed.run(tmp_path, "detlint", "explain", "ACME101").stdout
    assert page.startswith("## ACME101 unseeded-split\n\n*acme.split without a seed*.")
    assert (
        "Use instead:\n\n```python\nimport acme\n\ntrain, test = acme.split(rows, seed=0)" in page
    )
    sarif = installed.run(tmp_path, "detlint", "--output-format=sarif", ".").stdout
    (rule,) = json.loads(sarif)["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["helpUri"]) == ("ACME101", "https://acme.example/docs/split")


def test_results_of_earlier_runs_depend_on_it(installed: Installed, tmp_path: Path) -> None:
    assert installed.lint(tmp_path) == [(3, "ACME101")]
    write(installed, 'MODELS = {"acme.list_shards": "keeps"}\n')
    done = installed.run(tmp_path, "detlint", ".")
    assert "no such code: 'ACME'" in done.stderr
    (tmp_path / "pyproject.toml").write_text('[tool.detlint]\nselect = ["DET2"]\n')
    assert installed.lint(tmp_path) == [(4, "DET204")]
    write(installed, 'MODELS = {"acme.list_shards": "sorts"}\n')
    assert installed.lint(tmp_path) == []
    table = '[tool.detlint.models]\n"acme.list_shards" = "keeps"\n'
    (tmp_path / "pyproject.toml").write_text(f'[tool.detlint]\nselect = ["DET2"]\n{table}')
    assert installed.lint(tmp_path) == [(4, "DET204")]  # the project's word counts


def test_it_is_imported_once_and_not_in_each_run(installed: Installed, tmp_path: Path) -> None:
    write(installed, 'print("imported")\nMODELS = {"acme.list_shards": "sorts"}\n')
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\n")
    assert "imported" in installed.run(tmp_path, "detlint", ".").stdout
    assert "imported" not in installed.run(tmp_path, "detlint", ".").stdout


RULE = """
from detlint.rule import Rule
class Odd(Rule):
    summary = "odd"
    triggers = ("odd",)
    source = "https://acme.example"
    examples = ()
    code = {code!r}
"""
BROKEN = [
    ("import acme_that_is_not_there", "cannot import detlint_acme: ModuleNotFoundError: No module"),
    ("1 / 0", "cannot import detlint_acme: ZeroDivisionError: division by zero"),
    ("x = 1", "detlint_acme holds neither a Rule nor MODELS"),
    (
        'MODELS = {"acme.list_shards": "sort"}',
        "MODELS.\"acme.list_shards\": must be 'sorts', 'keeps'",
    ),
    (RULE.format(code="DET999"), "detlint_acme.Odd: its code is 'DET999', and must be capital"),
    (RULE.format(code="odd1"), "detlint_acme.Odd: its code is 'odd1', and must be capital letters"),
    (
        f"{RULE.format(code='ACME1')}class Even(Rule):\n    code = 'ACME102'\n",
        "its code is 'ACME1', and must be",
    ),
    (
        "from detlint.rule import Rule\nclass Even(Rule):\n    code = 'ACME102'\n",
        "detlint_acme.Even: lacks summary, triggers, source, examples",
    ),
    (
        f"{RULE.format(code='ACME102')}class Even(Odd):\n    pass\n",
        "ACME102 is the code of detlint_acme.Odd, too",
    ),
]


@pytest.mark.parametrize(("text", "said"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_one_is_named(installed: Installed, tmp_path: Path, text: str, said: str) -> None:
    write(installed, text)
    for arguments in (["."], ["rules"]):
        done = installed.run(tmp_path, "detlint", *arguments)
        if said.startswith("MODELS") and arguments == ["rules"]:
            continue  # which shows no models
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("detlint: plugin acme (detlint-acme 1.0): ")
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        if not said.startswith("MODELS"):
            assert "mend it, or remove it with `pip uninstall detlint-acme`" in done.stderr


def test_its_own_tests_pass(installed: Installed) -> None:
    done = installed.run(installed.source, "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_guide_shows_the_plugin_that_is_tested() -> None:
    guide = (PLUGIN.parent.parent / "docs" / "plugins.md").read_text()
    blocks = re.findall(r"^```(?:toml|python)\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    names = ("pyproject.toml", "detlint_acme/__init__.py", "detlint_acme/unseeded_split.py")
    files = [(PLUGIN / each).read_text() for each in (*names, "tests/test_unseeded_split.py")]
    assert blocks == files


def test_checks_say_what_is_wrong() -> None:
    rule = next(each for each in every_rule() if each.code == "DET301")
    example = next(each for each in rule.examples if each.fixed)
    check_example(rule, example)
    bad = "import torch\ntorch.backends.cudnn.benchmark = True\n"
    with pytest.raises(AssertionError, match="an example that expects nothing shows nothing"):
        check_found(rule, bad)
    with pytest.raises(AssertionError, match=r"found \[\(2, 'DET301'\)\], marked \[\(1, 'DET301'"):
        check_found(rule, bad.replace("torch\n", "torch  # DET301\n", 1))
    with pytest.raises(AssertionError, match=r"DET301: found .* in what should be clean"):
        check_clean(rule, bad)
    with pytest.raises(AssertionError, match="DET301: the fix gives"):
        check_fix(rule, example._replace(fixed="import torch\n"))
