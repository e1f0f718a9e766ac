"""Which releases of libraries a project asks for, by the files that say it."""

from __future__ import annotations

import configparser
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from detlint import configuration
from detlint.errors import SettingsError
from detlint.index.folders import REQUIREMENTS, entries, is_environment, is_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#@)]*)")
_BOUND = re.compile(r"(===?|~=|<=?|\^)\s*v?(\d+(?:\.\d+)*)(\.\*)?")

_OF_CONDA = {"pytorch": "torch", "pytorch-gpu": "torch", "tensorflow-gpu": "tensorflow"}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def requirements(
    folder: str,
    read: Callable[[str], str] = _text,
    listed: Callable[[str], Iterable[str]] = entries,
) -> Iterator[str]:
    """What the files of a folder ask for, each as ``library==1.2``; ``read`` gives the text of a
    file, and ``listed`` the names in a folder."""
    names = frozenset(listed(folder))
    if "pyproject.toml" in names:
        yield from _of_packaging(_toml(read(os.path.join(folder, "pyproject.toml"))))
    if "setup.cfg" in names:
        parser = configparser.ConfigParser(interpolation=None)
        with suppress(configparser.Error):
            parser.read_string(read(os.path.join(folder, "setup.cfg")))
            yield from parser.get("options", "install_requires", fallback="").splitlines()
    for below in (folder, os.path.join(folder, REQUIREMENTS))[: 1 + (REQUIREMENTS in names)]:
        for name in sorted(each for each in listed(below) if is_list(each, below)):
            text = read(os.path.join(below, name))
            yield from _of_conda(text) if is_environment(name) else text.splitlines()


def _of_conda(text: str) -> Iterator[str]:
    """Of ``- pytorch=1.7.1=py3.8_cuda11``; what stands under ``pip:`` is written as for pip."""
    for line in text.partition("dependencies:")[2].splitlines():
        entry = line.strip().removeprefix("-").strip(" \"'").rpartition("::")[2]
        name, _, release = entry.partition("=")
        is_one = name[-1:].isalnum() and release[:1].isdigit()
        yield f"{name}=={release.partition('=')[0]}" if is_one else entry


def _of_packaging(content: dict[str, Any]) -> Iterator[str]:
    project = _table(content, "project")
    optional = _table(project, "optional-dependencies")
    for wanted in (project.get("dependencies"), *optional.values()):
        yield from (x for x in (wanted if isinstance(wanted, list) else ()) if isinstance(x, str))
    for name, release in _table(content, "tool", "poetry", "dependencies").items():
        if isinstance(release, str):  # a bare release is that one
            yield f"{name}=={release}" if release[:1].isdigit() else f"{name}{release}"


def _table(content: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        found = content.get(key)
        content = found if isinstance(found, dict) else {}
    return content


def is_older(asked: Iterable[str], library: str, release: str) -> bool | None:
    """Whether requirements ask for a library in releases that all come before one; None if they do
    not ask for it."""
    found = filter(None, map(_REQUIREMENT.match, asked))
    bounds = [each[2] for each in found if _plain(each[1]) == _plain(library)]
    return any(_ends_before(each, _parts(release)) for each in bounds) if bounds else None


def asks_for_older(
    folder: str,
    root: str,
    asked: Callable[[str], Iterable[str]],
    library: str,
    release: str,
) -> bool:
    """Whether the nearest folder that asks for a library, of one and those above it up to a root,
    asks for releases that all come before one."""
    while True:
        older = is_older(asked(folder), library, release)
        if older is not None or folder in (root, os.path.dirname(folder)):
            return bool(older)
        folder = os.path.dirname(folder)


def pinned(asked: Iterable[str], library: str) -> Iterator[str]:
    """The releases that requirements pin a library to."""
    for found in filter(None, map(_REQUIREMENT.match, asked)):
        if _plain(found[1]) == library:
            yield from (each[1] for each in _BOUND.findall(found[2]) if each[0] in ("==", "~="))


def _ends_before(bounds: str, release: tuple[int, ...]) -> bool:
    for sign, written, rest in _BOUND.findall(bounds):
        last, open_ = _parts(written), bool(rest) or sign in ("<", "~=", "^")
        if rest:  # ``==1.4.*``
            last = (*last[:-1], last[-1] + 1)
        elif sign == "~=" and len(last) > 1:
            last = (*last[:-2], last[-2] + 1)
        elif sign == "^":
            last = (last[0] + 1,)
        if last < release or (open_ and last == release):
            return True
    return False


def _parts(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _plain(name: str) -> str:
    plain = re.sub(r"[-_.]+", "-", name).lower()
    return _OF_CONDA.get(plain, plain)


def _toml(text: str) -> dict[str, Any]:
    try:
        return configuration.parse(text.encode(), "pyproject.toml").content or {}
    except SettingsError:
        return {}
