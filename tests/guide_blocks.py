"""The code blocks of a guide, which are run in order, in a folder of their own.

A block says by its first line what it is, where readers see it:

    # train.py              a file: it is written, and a later block runs it
    # needs: Slurm          only its syntax is checked

What else stands there is run: Python by itself, the commands of a shell in a folder that holds
``examples/``. A command ends with status 0, or with the one that the comment behind it says
(``# exit status 1``). A block of text behind such a block is what it prints; ``…`` stands for
anything. A diff is applied. Data (YAML, TOML, JSON) is parsed. Python, scripts and images are
linted: what is found has its code in a comment on its line (``# DET301``).
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml
from programs import clean_environment

import detlint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forks import Forks

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"\W*needs: ?(.+?)\W*$")
_FILE = re.compile(r"(?:#|//) ([\w./-]+\.\w+|Dockerfile|Makefile)$")
_STATUS = re.compile(r"^(.*?)  +# exit status (\d+).*$", re.MULTILINE)
SHELL = ("sh", "bash")
DATA = ("yaml", "toml", "json")


class Block(NamedTuple):
    """A block of code; ``line`` is where it begins on its page, from 1."""

    language: str
    text: str
    line: int

    @property
    def head(self) -> str:
        return self.text.partition("\n")[0]

    @property
    def needs(self) -> str:
        """What this machine need not have, such as Slurm; "" where the block can be run."""
        found = _NEEDS.match(self.head)
        return found[1] if found else ""

    @property
    def cell(self) -> bool:
        """Whether it is the cell of a notebook, which begins with a magic."""
        return self.language == "python" and self.text.startswith("%")

    @property
    def file(self) -> str:
        """The name of the file that it is, "" for none; behind what it needs, too."""
        for line in self.text.splitlines()[:3]:
            if found := _FILE.match(line):
                return found[1]
        return ""


def blocks(page: str) -> list[Block]:
    return [
        Block(
            found[2],
            re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE),
            page.count("\n", 0, found.start()) + 1,
        )
        for found in _BLOCK.finditer(page)
    ]


def missing(found: list[Block]) -> list[str]:
    """The packages that some block to be run imports, and that are not installed."""
    started = "".join(each.text for each in found if each.language in SHELL and not each.needs)
    names = {
        name.partition(".")[0]
        for block in found
        if block.language == "python" and not block.needs and not block.cell
        if not block.file or re.search(rf"(python|run|launch)\b.*\b{block.file}", started)
        for name in _imported(block.text)
    }
    local = {Path(each.file).stem for each in found if each.file}
    return sorted(name for name in names - local if find_spec(name) is None)


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


class Reader:
    """Does what a page says, from its top to its end."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder = folder / "clone"
        self._forks = forks
        self._commands = folder / "bin"
        shutil.copytree(ROOT / "examples", self.folder / "examples", ignore=_MADE)
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("add", ".")
        self._git("commit", "--quiet", "--message=As it is")
        self._commands.mkdir()
        for name, module in _MODULES.items():
            self._command(name, f'exec "{sys.executable}" {module} "$@"')
        self._environ = clean_environment(
            PATH=f"{self._commands}{os.pathsep}{os.environ['PATH']}",
            HOME=str(folder),
            PYTHONPATH=str(ROOT),
            PYTHONWARNINGS="ignore",
            DETLINT_CACHE_DIR=str(folder / "cache"),
            COLUMNS="100",
        )

    def _git(self, *arguments: str) -> None:
        who = ("-c", "user.name=A reader", "-c", "user.email=reader@example.org")
        subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True)

    def _command(self, name: str, line: str) -> None:
        file = self._commands / name
        file.write_text(f"#!/bin/sh\n{line}\n")
        file.chmod(0o755)

    def follow(self, block: Block) -> str | None:
        """What a block prints, None where it prints nothing that can be known."""
        check_syntax(block)
        if block.file:
            self._write(block)
        elif block.needs or block.language in (*DATA, "dockerfile"):
            return None
        elif block.cell:
            return self._python(_CELL.format(block.text))
        elif block.language == "python":
            return self._python(block.text)
        elif block.language in SHELL:
            return self._shell(block.text)
        elif block.language == "diff":
            self._patch(block.text)
        else:
            raise AssertionError(f"what is a block of {block.language!r}?")
        return None

    def _write(self, block: Block) -> None:
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _patch(self, text: str) -> None:
        command = ["git", "apply", "-p0", "--unidiff-zero", "-"]
        done = subprocess.run(command, cwd=self.folder, input=text, text=True, check=False)
        assert done.returncode == 0

    def _python(self, text: str) -> str:
        program = self.folder / "block.py"
        program.write_text(text, encoding="utf-8")
        done = self._forks.python(program, cwd=self.folder)
        program.unlink()
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def _shell(self, text: str) -> str:
        script = "set -e\n" + _STATUS.sub(_EXPECT, text)
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"exit status {done.returncode} of\n{text}\n{done.stdout}"
        return done.stdout


_CELL = """
from IPython.core.interactiveshell import InteractiveShell

done = InteractiveShell.instance().run_cell({!r})
done.raise_error()
"""
_MADE = shutil.ignore_patterns("shards", "__pycache__")
_MODULES = {
    "python": "",
    "detlint": "-m detlint",
    "torchrun": "-m torch.distributed.run",
    "pytest": "-m pytest -p no:cacheprovider",
    "pre-commit": "-m pre_commit",
    "accelerate": "-m accelerate.commands.accelerate_cli",
}
_EXPECT = r'status=0; \1 || status=$?; [ "$status" -eq \2 ] || { echo "status $status"; exit 99; }'


def says(expected: str, printed: str) -> bool:
    """Whether that was printed, where ``…`` stands for anything."""
    wanted = "\n".join(line.rstrip() for line in expected.strip().splitlines())
    given = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    pattern = re.escape(wanted).replace("…", ".*?")
    return re.fullmatch(pattern, given, re.DOTALL) is not None


def check_syntax(block: Block) -> None:
    """That a block is what it says it is, and that the linter finds in it what its comments say."""
    if block.cell:
        return
    if block.language == "python":
        compile(block.text, "block", "exec")
    elif block.language in SHELL:
        done = subprocess.run(["bash", "-n"], input=block.text, text=True, check=False)
        assert done.returncode == 0
    elif block.language == "yaml":
        list(yaml.safe_load_all(block.text))
    elif block.language == "json":
        lines = block.text.splitlines()
        json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))
    elif block.language == "toml":
        _TOML.loads(block.text)
        check_settings(block.text)
    path = block.file or _PATHS.get(block.language, "")
    if path:
        check_findings(block.text, path)


_TOML = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
_PATHS = {"python": "block.py", "sh": "block.sh", "bash": "block.sh", "dockerfile": "Dockerfile"}
# A block is seldom a program from its first line to its last: its seeds, its switch and its
# variables may be set elsewhere.
_OF_PROGRAMS = ("DET102", "DET304", "DET306")


def check_settings(text: str) -> None:
    """That detlint takes the configuration, if it is one of its own."""
    if "[tool.detlint" in text:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "pyproject.toml")
            file.write_text(text, encoding="utf-8")
            assert detlint.lint_paths([folder], config=file, baseline=False) == []


def check_findings(text: str, path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = detlint.lint_source(text, Path(folder, path))
    said = {
        (row, code)
        for row, line in enumerate(text.splitlines(), 1)
        for code in re.findall(r"DET\d{3}", line.rpartition("# DET")[1] and line)
    }
    shown = {(each.row, each.code) for each in found}
    shown = {each for each in shown if each in said or each[1] not in _OF_PROGRAMS}
    assert shown == said, f"found {sorted(shown)}, said {sorted(said)}"
