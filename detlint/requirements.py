"""Which releases of libraries a project asks for, by the files that say it."""

from __future__ import annotations

import configparser
import os
import re
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from detlint import configuration
from detlint.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LISTS = ("requirements*.txt", os.path.join("requirements", "*.txt"))
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#@)]*)")
_BOUND = re.compile(r"(===?|~=|<=?|\^)\s*v?(\d+(?:\.\d+)*)(\.\*)?")


def requirements(folder: str) -> Iterator[str]:
    """What the files of a folder ask for, each as ``library==1.2``."""
    packaging = _toml(os.path.join(folder, "pyproject.toml"))
    project = _table(packaging, "project")
    optional = _table(project, "optional-dependencies")
    for listed in (project.get("dependencies"), *optional.values()):
        yield from filter(_is_text, listed if isinstance(listed, list) else ())
    for name, wanted in _table(packaging, "tool", "poetry", "dependencies").items():
        if isinstance(wanted, str):  # a bare release is that one
            yield f"{name}=={wanted}" if wanted[:1].isdigit() else f"{name}{wanted}"
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_text(os.path.join(folder, "setup.cfg")))
        yield from parser.get("options", "install_requires", fallback="").splitlines()
    except configparser.Error:
        pass
    for path in sorted(_lists(folder)):
        yield from _text(path).splitlines()


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _table(content: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        found = content.get(key)
        content = found if isinstance(found, dict) else {}
    return content


def _lists(folder: str) -> Iterator[str]:
    for each in _LISTS:
        below, pattern = os.path.split(os.path.join(folder, each))
        try:
            yield from (os.path.join(below, x) for x in os.listdir(below) if fnmatch(x, pattern))
        except OSError:
            continue


def is_older(folder: str, library: str, release: str) -> bool | None:
    """Whether a folder asks for a library in releases that all come before one; None if it does
    not ask for it."""
    asked = (_REQUIREMENT.match(each) for each in requirements(folder))
    bounds = [each[2] for each in asked if each and _plain(each[1]) == _plain(library)]
    return any(_ends_before(each, _parts(release)) for each in bounds) if bounds else None


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
    return re.sub(r"[-_.]+", "-", name).lower()


def _toml(path: str) -> dict[str, Any]:
    try:
        return configuration.parse(_text(path).encode(), "pyproject.toml").content or {}
    except SettingsError:
        return {}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""
