"""TOML files and option values, read and checked: what comes out has the right types.

Whatever is wrong is told with its place, its key and what would be right.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.errors import SettingsError
from detlint.finding import Confidence
from detlint.sources.gitignore import is_pattern
from detlint.sources.paths import ancestors, relative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# The releases whose behaviour the rules know: from the first with use_deterministic_algorithms
# to the last that was read.
_RELEASES = (*((1, minor) for minor in range(8, 14)), *((2, minor) for minor in range(14)))
# `detlint` as a part of a table's name, also of one that is not closed, or as a key, and not as a
# mere dependency.
_OUR_NAME = re.compile(rb"tool\.['\"]?detlint\b|detlint['\"]?\s*[\].=]")
# Files that are ours alone, the first of them before the others; and the one that tools share.
_OURS = ("detlint.toml", ".detlint.toml")
_SHARED = "pyproject.toml"
# What TOML calls the types that it has.
_KINDS = {
    "str": "a string",
    "bool": "a boolean",
    "int": "an integer",
    "float": "a float",
    "list": "an array",
    "dict": "a table",
}


class Document(NamedTuple):
    """A TOML file that was read."""

    path: str
    content: dict[str, Any]

    @property
    def table(self) -> object:
        """What stands at ``tool.detlint``, None if nothing does."""
        tool = self.content.get("tool")
        return tool.get("detlint") if isinstance(tool, dict) else None


def nearest(path: str) -> Document | None:
    """The first file of ours at or above a path: a detlint.toml, or a pyproject.toml that has our
    table. Raises SettingsError."""
    folder = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path) or os.curdir)
    return next(filter(None, map(in_folder, ancestors(folder))), None)


def in_folder(folder: str) -> Document | None:
    """The file of ours in a folder. Raises SettingsError."""
    for name in _OURS:
        file = os.path.join(folder, name)
        if os.path.isfile(file):
            return read(file)
    file = os.path.join(folder, _SHARED)
    if not os.path.isfile(file):
        return None
    data = _read_bytes(file)
    # Looked at as bytes first: the TOML parser costs 30 ms to import.
    document = parse(data, file) if _OUR_NAME.search(data) else None
    return document if document is not None and document.table is not None else None


def read(file: str) -> Document:
    """A file that the user named. Raises SettingsError."""
    return parse(_read_bytes(file), file)


def values(document: Document, codes: Callable[[], Iterable[str]]) -> dict[str, Any]:
    """The checked values of a file, by the fields of Settings, over those of the one that it
    extends. What adds to something is added, and all else replaces.

    A pyproject.toml has the table ``[tool.detlint]``; the keys of another file may also
    stand at its top.
    """
    found: dict[str, Any] = {}
    for each in reversed(list(_lineage(document))):
        own = checked(each.table, partial("{}: {}".format, each.name), codes)
        for key, value in own.items():
            found[key] = _ADDED[key](found.get(key, ()), value) if key in _ADDED else value
    return found


class _Table(NamedTuple):
    """The keys of one file, without `extend`."""

    name: str
    table: dict[str, object]


def _lineage(document: Document) -> Iterator[_Table]:
    """The table of a file, of the one that it extends, and so on."""
    seen: list[str] = []
    while True:
        name = shown(document.path)
        table = dict(_table(document, name))
        extended = table.pop("extend", None)
        yield _Table(name, table)
        if extended is None:
            return
        if not isinstance(extended, str) or not extended:
            raise SettingsError(
                f"{name}: extend: must be the path of another file, from this one's folder, "
                f"not {_kind(extended)}"
            )
        seen.append(os.path.realpath(document.path))
        path = os.path.join(os.path.dirname(document.path), os.path.expanduser(extended))
        if os.path.realpath(path) in seen:
            raise SettingsError(f"{name}: extend: {extended} extends this file in turn")
        document = read(path)


def _table(document: Document, name: str) -> dict[str, object]:
    table = document.table
    if table is None:
        if os.path.basename(name) == _SHARED:
            raise SettingsError(f"{name}: has no table [tool.detlint]")
        table = document.content
    if not isinstance(table, dict):
        raise SettingsError(f"{name}: tool.detlint must be a table, not {_kind(table)}")
    return table


def _after(before: tuple[Any, ...], own: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*before, *own)


def _by_name(
    before: tuple[tuple[str, Any], ...], own: tuple[tuple[str, Any], ...]
) -> tuple[tuple[str, Any], ...]:
    return tuple((dict(before) | dict(own)).items())


# What a file says beside the one that it extends.
_ADDED: dict[str, Callable[[Any, Any], Any]] = {
    "extend_select": _after,
    "ignore": _after,
    "extend_exclude": _after,
    "per_file_ignores": _after,
    "confidence": _by_name,
    "models": _by_name,
}


def checked(
    table: Mapping[str, object], place: Callable[[str], str], codes: Callable[[], Iterable[str]]
) -> dict[str, Any]:
    """The values of a table, each checked, by the fields of Settings. Raises SettingsError.

    ``place`` is how a message names a key; ``codes`` is called if there are codes to check.
    """
    for key in table:
        if key == "strict":
            raise SettingsError(_without_strict(place))
        if key not in _CHECKS:
            hint = _suggestion(key, _CHECKS)
            legal = ", ".join((*_CHECKS, "extend"))
            raise SettingsError(f"{place(key)}: no such setting{hint}; the settings are {legal}")
    found = {key: _CHECKS[key](value, place(key)) for key, value in table.items()}
    _check_codes(found, place, codes)
    return {key.replace("-", "_"): value for key, value in found.items()}


def _check_codes(
    found: Mapping[str, Any], place: Callable[[str], str], codes: Callable[[], Iterable[str]]
) -> None:
    given = [(key, code) for key in _CODES for code in found.get(key, ())]
    given += [
        ("per-file-ignores", code) for _, each in found.get("per-file-ignores", ()) for code in each
    ]
    given += [("confidence", code) for code, _ in found.get("confidence", ())]
    if not given:
        return
    known = sorted(set(codes()))

    def names(code: str) -> bool:
        return any(each.startswith(code) and code.startswith(_letters(each)) for each in known)

    for key, code in given:
        if not names(code):
            meant = code.upper()
            hint = _suggestion(meant, [meant] if names(meant) else known)
            legal = ", ".join(known)
            letters = " or ".join(sorted(set(map(_letters, known))))
            raise SettingsError(
                f"{place(key)}: no such code: {code!r}{hint}; "
                f"the codes are {legal}, and their beginnings from {letters} on"
            )


def _letters(code: str) -> str:
    return code.rstrip("0123456789")


def _selection(value: object, place: str) -> tuple[str, ...]:
    codes = _strings(value, place)
    if not codes:
        raise SettingsError(
            f"{place}: holds no code; leave it out for the rules that are on anyway"
        )
    return codes


def _strings(value: object, place: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise SettingsError(f"{place}: must be an array of strings, not {_kind(value)}")
    for each in value:
        if not isinstance(each, str):
            raise SettingsError(f"{place}: must hold strings, not {_kind(each)}")
        if not each.strip():
            raise SettingsError(f"{place}: holds an empty string")
    return tuple(value)


def _patterns(value: object, place: str) -> tuple[str, ...]:
    return tuple(_pattern(each, place) for each in _strings(value, place))


def _pattern(text: str, place: str) -> str:
    if not is_pattern(text):
        raise SettingsError(
            f"{place}: not a pattern of files: {text!r}; a [ must be closed by a ], and a "
            "backslash must have a character behind it"
        )
    return text


def _ignores(value: object, place: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"{place}: must be a table of patterns and their codes, "
            f'such as {{"tests/*" = ["DET2"]}}, not {_kind(value)}'
        )
    return tuple(
        (_pattern(pattern, place), _strings(codes, f'{place}."{pattern}"'))
        for pattern, codes in value.items()
    )


def _boolean(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{place}: must be true or false, not {_kind(value)}")
    return value


def _release(value: object, place: str) -> tuple[int, int]:
    if not isinstance(value, str):
        raise SettingsError(f'{place}: must be a string such as "2.13", not {_kind(value)}')
    match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(?:\.\d+)?", value)
    release = (int(match[1]), int(match[2])) if match else (0, 0)
    if release not in _RELEASES:
        legal = ", ".join(f"{major}.{minor}" for major, minor in _RELEASES)
        raise SettingsError(
            f"{place}: no release of torch that detlint knows: {value!r}; it knows {legal}"
        )
    return release


def _confidence(value: object, place: str) -> Confidence:
    legal = {str(each): each for each in reversed(Confidence)}
    if not isinstance(value, str) or value not in legal:
        hint = _suggestion(value, legal) if isinstance(value, str) else ""
        raise SettingsError(
            f"{place}: must be {', '.join(map(repr, [*legal][:-1]))} or {[*legal][-1]!r}, "
            f"not {_kind(value)}{hint}"
        )
    return legal[value]


def _confidences(value: object, place: str) -> tuple[tuple[str, Confidence], ...]:
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"{place}: must be a table of codes and the least confidence of their findings, "
            f'such as {{DET201 = "certain"}}, not {_kind(value)}'
        )
    return tuple((code, _confidence(each, f"{place}.{code}")) for code, each in value.items())


# What a function of a project does, as people say it: with the order of what it is given, or to
# the global generators of libraries.
_DOES = (
    *("sorts", "keeps", "ignores", "reads"),
    *("seeds random", "seeds numpy", "seeds torch", "seeds tensorflow", "seeds all"),
)
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")


def models_of(value: object, place: str) -> tuple[tuple[str, str], ...]:
    """What functions do, as ``[tool.detlint.models]`` and plugins say it. Raises SettingsError."""
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"{place}: must be a table of functions and what they do, "
            f'such as {{"mylib.list_shards" = "sorts"}}, not {_kind(value)}'
        )
    return tuple((_function(name, place), _deed(each, place, name)) for name, each in value.items())


def _function(name: str, place: str) -> str:
    if not _DOTTED.fullmatch(name):
        raise SettingsError(
            f'{place}: not the full name of a function: {name!r}; write "module.function"'
        )
    return name


def _deed(value: object, place: str, name: str) -> str:
    if not isinstance(value, str) or value not in _DOES:
        hint = _suggestion(value, _DOES) if isinstance(value, str) else ""
        raise SettingsError(
            f'{place}."{name}": must be {", ".join(map(repr, _DOES[:-1]))} or {_DOES[-1]!r}, '
            f"not {_kind(value)}{hint}"
        )
    return value


def _without_strict(place: Callable[[str], str]) -> str:
    name = place("strict")
    instead = "--min-confidence possible" if name == "--strict" else 'min-confidence = "possible"'
    return f"{name}: no such setting any more; for all that is found, write {instead}"


_CODES = ("select", "extend-select", "ignore")
_CHECKS: dict[str, Callable[[object, str], object]] = {
    "select": _selection,
    "extend-select": _strings,
    "ignore": _strings,
    "per-file-ignores": _ignores,
    "exclude": _patterns,
    "extend-exclude": _patterns,
    "force-exclude": _boolean,
    "respect-gitignore": _boolean,
    "target-torch": _release,
    "min-confidence": _confidence,
    "confidence": _confidences,
    "models": models_of,
}


def shown(file: str) -> str:
    """A file's path as a message gives it: relative if it lies below."""
    seen = relative(file) if file else "''"
    return file if seen.startswith(os.pardir) else seen


def _read_bytes(file: str) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SettingsError(f"{shown(file)}: cannot be read: {reason}") from error


def parse(data: bytes, file: str) -> Document:
    """What the bytes of a TOML file hold. Raises SettingsError."""
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return Document(file, tomllib.loads(data.decode()))
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{shown(file)}: not UTF-8 (at line {row})") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{shown(file)}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise SettingsError(f"{shown(file)}: nested too deeply to be read") from error


def _kind(value: object) -> str:
    name = _KINDS.get(type(value).__name__, f"a {type(value).__name__}")
    return f"{name} ({value!r})" if isinstance(value, (str, int, float)) else name


def _suggestion(word: str, legal: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, list(legal), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
