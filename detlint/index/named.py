"""What texts name of the code beside them: functions that an installed command starts, and classes
that something makes by their names."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from detlint.syntax.layout import code_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# `name = "package.module:function"`, as in every table of scripts.
_POINT = re.compile(r"[\w.]+:[\w.]+")
# Hydra's, of which a YAML file may hold many: `_target_: package.module.Class`.
_TARGET = re.compile(r"[\"']?\b_target_[\"']?[ \t]*[:=][ \t]*[\"']?([A-Za-z_][\w.]*\.\w+)")
# A class by the name of its module, in quotes or as a whole value: `"package.module.Class"`,
# `class_path: package.module.Class`, `"package.module:Class"`; also what a package registers,
# `"package:name-v0"`.
_DOTTED = r"[A-Za-z_]\w*(?:\.\w+)*(?:[.:][A-Z]\w*|:[\w-]+-v\d+)"
_CLASS = re.compile(rf"[\"']({_DOTTED})[\"']")
_VALUE = re.compile(rf":[ \t]+({_DOTTED})[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
# Both begin with plain text, which sre finds fast.
_FLAG = re.compile(
    r"""--(?:(?<="--)([^"'\n]*)"|(?<='--)([^"'\n]*)')"""
    r"""(?:(?=[^()]*?(store_true|store_false|BooleanOptional))|)"""
)
_DEFINED = re.compile(r"""DEFINE_(?<=\bDEFINE_)\w+\(\s*["'](\w+)""")  # of absl
# The tables of a pyproject.toml that name what commands start.
_TABLES = (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"))


def entry_points(text: str) -> list[tuple[str, str]]:
    """The modules and functions that the commands of a package start, of its pyproject.toml."""
    if "scripts" not in text:
        return []
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []  # which DET000 tells
    return [point for table in _TABLES for point in _points(data, table)]


def _points(data: Any, table: tuple[str, ...]) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - TOML
    for name in table:
        data = data.get(name) if isinstance(data, dict) else None
    for given in data.values() if isinstance(data, dict) else ():
        value = given.get("callable") if isinstance(given, dict) else given
        if isinstance(value, str) and (point := _POINT.match(value)):
            module, _, function = point[0].partition(":")
            yield module, function


def targets(text: str) -> list[str]:
    """What a configuration says is to be made: ``package.module.Class``."""
    made = _TARGET.findall(text) if "_target_" in text else []
    found = {*made, *(_CLASS.findall(text)), *(_VALUE.findall(text))}
    return sorted(each.replace(":", ".") for each in found)


def named_classes(text: str) -> list[tuple[int, str]]:
    """The classes that strings name by their modules, ``package.module:Class``, each with its
    place."""
    found = ((each.start(1), re.split(r"[.:](?=\w+$)", each[1])) for each in _CLASS.finditer(text))
    return [(place, ":".join(names)) for place, names in found]


def flags(text: str) -> list[tuple[str, str]]:
    """The options, without their dashes, that a text may give a parser of the command line, and
    what those do that take no value: ``store_true``."""
    if "--" not in text and "DEFINE_" not in text:
        return []
    code = code_of(text)
    given = ((one or other, action) for one, other, action in _FLAG.findall(code))
    return sorted({*given, *((each, "") for each in _DEFINED.findall(code))})


def attributes(text: str, names: Iterable[str]) -> Iterator[str]:
    """What a text takes of something by some names, ``name.attribute``."""
    for name in names:
        yield from re.findall(rf"\b{name}\.(\w+)", text)
