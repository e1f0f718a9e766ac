"""What a file imports, read from its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.syntax.layout import layout_of
from detlint.syntax.parsing import REFUSALS, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

# Also within functions. One in a docstring only adds a file to the closure, if there is such one.
_PATTERN = (
    r"(?P<indent>[ \t]*)(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    # No line of a list begins as another import does: one that is not closed ends there.
    # Each step takes all that it can, so that there is one way to fail.
    r"(?:\((?P<several>(?:[^)#\n]+(?![^)#\n])|#[^\n]*(?![^\n])"
    r"|\n(?![ \t]*(?:from|import)[ \t]))*)\)"
    r"|(?P<names>(?:[^\n#;\\]|\\\r?\n)*))"
    r"|import[ \t]+(?P<modules>(?:[^\n#;\\]|\\\r?\n)*))"
)
_STATEMENT = re.compile(rf"^{_PATTERN}", re.MULTILINE)
_HERE = re.compile(_PATTERN)
_COMMENT = re.compile(r"#[^\n]*")
_TYPES_ONLY = re.compile(r"^([ \t]*)if[ \t]+(?:typing\.)?TYPE_CHECKING[ \t]*:", re.MULTILINE)
# A module that puts another in its place gives, when asked, what it shows type checkers.
_REPLACES = re.compile(r"^[ \t]*sys\.modules\[__name__\][ \t]*=", re.MULTILINE)
_WHOLE = 20  # modules that an index of a whole library exceeds: no program uses all of it
# `import_module("a.b")`, and of a module that is chosen what its name begins with:
# `import_module(f"a.b.{name}")`, `import_module("." + name, __package__)`.
_PUT_TOGETHER = (
    r"f?[\"'](?P<dots>\.*)(?P<module>[\w.]*)"
    r"(?:(?P<chosen>\{|%s|[\"']\s*[+%])|(?P<whole>[\"']))"
)
# `import_module(f"{__name__}.{name}")`, `import_module(__package__ + "." + name)`.
_OF_PACKAGE = re.compile(
    r"\b(?:import_module|__import__)\(\s*(?:f[\"']\{)?__(?:name|package)__(?:\}|\s*\+\s*[\"'])\."
)
# `__all__ = [basename(path)[:-3] for path in glob(…)]`: all that stands beside the file.
_LISTED = re.compile(r"^__all__[ \t]*=[ \t]*\[[^\n]*[ \t]for[ \t]", re.MULTILINE)
_LISTING = ("glob(", "listdir(", "iter_modules(")
_DYNAMIC = re.compile(rf"\b(?:import_module|__import__)\(\s*{_PUT_TOGETHER}")
# `name = f"a.b.{kind}"`, and `import_module(name)`.
_BY_VARIABLE = re.compile(r"\b(?:import_module|__import__)\(\s*([^\W\d]\w*)\s*[,)]")
# `import_module(MODULES[kind])`, of a dict that is written out.
_BY_TABLE = re.compile(r"\b(?:import_module|__import__)\(\s*([^\W\d]\w*)(?:\[|\.get\()")
_TABLE = r"^{name}[ \t]*(?::[^=\n]+)?=[ \t]*\{{([^{{}}]*)\}}"
_NAMED = re.compile(r":\s*[\"'](\.*)([\w.]+)[\"']")
# What a name that begins with a dot is relative to.
_PACKAGE = re.compile(
    r"(?:[^()\n]|\([^()\n]*\))*,\s*(?:package\s*=\s*)?(?:(?P<own>__package__|__name__)"
    r"|[\"'](?P<other>[\w.]+)[\"'])\s*,?\s*\)"
)
EVERY_MODULE = "**"  # in the place of the names that are imported from a package
_INDENTED = r"(?:[ \t]*(?:#[^\n]*)?\n|{indent}[ \t]+[^\n]*\n?)*"
# By which a module may have names that its text does not bind.
_HIDES = re.compile(
    r"\b(?:__getattr__|__dict__|globals|locals|setattr|exec|vars\(\)|sys\.modules)"
    r"|\bimport[ \t]*\(?[ \t]*\*"
)
# By which names may mean other modules; what is appended comes after the program's own folder.
# Each branch begins with a bare literal: what stands before it is looked up backwards.
_REDIRECTS = re.compile(
    r"chdir\((?<=\bchdir\()|sys\.(?:path(?!\.append)|modules|meta_path|path_hooks)\b"
)
# Statements that may work for long, or end it all, before those below them run.
_WORKS = re.compile(r"(?:async|exit|for|os\._exit|quit|raise|sys\.exit|while|with)\b")


class Import(NamedTuple):
    """``from ..a.b import c, d``: module "a.b", level 2, names c and d; ``typed``: only type
    checkers read it."""

    module: str
    level: int
    names: tuple[str, ...]
    typed: bool = False


def imports(text: str) -> list[Import]:
    """What a file imports, in order; a module that gives, when it is asked, what it shows type
    checkers, imports that itself."""
    if "import" not in text:
        return []
    hidden = list(_types_only(text))
    found = [
        each._replace(typed=any(start <= match.start() < end for start, end in hidden))
        for match in _statements(text)
        for each in _read(match)
    ]
    chosen = _chosen(text)
    if _takes_all_beside(text):
        chosen.append(Import("", 1, (EVERY_MODULE,)))
    lazily = hidden and _REPLACES.search(text) is not None and len(found) <= _WHOLE
    return [*(each._replace(typed=each.typed and not lazily) for each in found), *chosen]


def _takes_all_beside(text: str) -> bool:
    """Whether a package imports what stands in it, or offers that, without its names."""
    if "import_module" in text and _OF_PACKAGE.search(text):
        return True
    listed = "__all__" in text and any(map(text.__contains__, _LISTING))
    return listed and _LISTED.search(text) is not None


def code_imports(text: str, library: str) -> bool:
    """Whether code imports a top-level module, and not what a string shows."""
    layout = layout_of(text)
    written = (x for x in _statements(text) if not layout.inside(x.end("indent") + 1))
    found = [*(each for match in written for each in _read(match)), *_chosen(text)]
    return any(x.module.partition(".")[0] == library and not x.level for x in found)


def _chosen(text: str) -> list[Import]:
    """What a file imports by a name that it puts together."""
    if "import_module" not in text and "__import__" not in text:
        return []  # sooner than a search that no letter begins
    found = []
    for match in _named_modules(text):
        module, level = match["module"], len(match["dots"])
        if match["chosen"]:
            module = module.rpartition(".")[0]  # the rest is the start of a name
        if level:
            package = _PACKAGE.match(text, match.end())
            if package is None:
                continue
            if package["other"]:
                parts = package["other"].split(".")
                above = parts[: len(parts) - level + 1]
                module, level = ".".join([*above, *filter(None, [module])]), 0
        if module or level:
            found.append(Import(module, level, (EVERY_MODULE if match["chosen"] else "*",)))
    found += (Import(module, len(dots), ("*",)) for dots, module in _in_tables(text))
    return found


def _in_tables(text: str) -> Iterator[tuple[str, str]]:
    """The modules that a table names of which a call imports one."""
    for name in dict.fromkeys(_BY_TABLE.findall(text)):
        for table in re.finditer(_TABLE.format(name=name), text, re.MULTILINE):
            yield from _NAMED.findall(table[1])


def _named_modules(text: str) -> Iterator[re.Match[str]]:
    """Where modules are named for a call that imports them."""
    yield from _DYNAMIC.finditer(text)
    for name in dict.fromkeys(_BY_VARIABLE.findall(text)):
        yield from re.finditer(rf"\b{name}[ \t]*=[ \t]*{_PUT_TOGETHER}", text)


def first_import(text: str) -> int:
    """The offset of the first statement that imports; 0 if there is none."""
    return next((match.start() for match in _statements(text)), 0)


def _statements(text: str) -> Iterator[re.Match[str]]:
    """The matches of ``_STATEMENT``: each has the word in its first line, which is found sooner."""
    end = 0
    found = text.find("import")
    while found >= 0:
        start = max(text.rfind("\n", 0, found) + 1, end)
        match = _HERE.match(text, start)
        if match is None:  # `import os; from a import b`, `try: import a`
            after = max(text.rfind(";", start, found), text.rfind(":", start, found)) + 1
            match = _HERE.match(text, after) if after else None
        if match is not None:
            end = match.end()
            yield match
        found = text.find("import", max(end, found + 1))


class Bound(NamedTuple):
    """The names that imports bind.

    names    what each stands for: of ``from a import b as c``, for c b
    modules  those that only ``import a.b as c`` binds
    targets  what each may be: of ``from ..a import b as c``, for c ``..a:b``, and of
             ``import a.b as c`` ``a.b:``; for "*" the modules that give all they hold
    """

    names: dict[str, str]
    modules: set[str]
    targets: dict[str, list[str]]


def bound(text: str) -> Bound:
    """The names that the imports of a text bind."""
    names: dict[str, str] = {}
    modules: set[str] = set()
    others: set[str] = set()
    targets: dict[str, dict[str, None]] = {}  # in order, each once
    for match in _statements(text):
        whole = match["modules"]
        home = "" if whole is not None else f"{match['dots']}{match['module']}:"
        for name, own in _bound(whole or match["several"] or match["names"] or ""):
            names[own] = name.rpartition(".")[2]
            (others if whole is None else modules).add(own)
            if whole is None:
                target = home + name
            else:
                target = f"{own if name.partition('.')[0] == own else name}:"
            targets.setdefault(own, {})[target] = None
    return Bound(names, modules - others, {own: [*each] for own, each in targets.items()})


def without_imports(code: str) -> str:
    """Code but for its imports."""
    return _STATEMENT.sub("", code) if "import" in code else code


def _bound(listed: str) -> Iterator[tuple[str, str]]:
    """What is imported, and the name that it is bound to: ``import a.b`` binds a."""
    for words in _words(listed):
        renamed = len(words) == 3 and words[1] == "as"
        yield words[0], words[2] if renamed else words[0].partition(".")[0]


def _words(listed: str) -> Iterator[list[str]]:
    """``a as b, c`` in words, each by itself."""
    for each in _COMMENT.sub("", listed).replace("\\", " ").split(","):
        if words := each.split():
            yield words


def _types_only(text: str) -> Iterator[tuple[int, int]]:
    if "TYPE_CHECKING" not in text:
        return
    for match in _TYPES_ONLY.finditer(text):
        start = text.find("\n", match.end()) + 1
        if start:
            block = re.compile(_INDENTED.format(indent=match[1])).match(text, start)
            yield start, block.end() if block else start


def _read(match: re.Match[str]) -> Iterator[Import]:
    if match["modules"] is not None:
        for module in _names(match["modules"]):
            yield Import(module, 0, ())
    elif match["dots"] or match["module"]:
        listed = match["several"] if match["several"] is not None else match["names"]
        yield Import(match["module"], len(match["dots"]), tuple(_names(listed)))


def _names(listed: str) -> Iterator[str]:
    """``a as b, c`` without the aliases."""
    yield from (words[0] for words in _words(listed))


def sure_imports(text: str) -> list[Import]:
    """What a file imports under no test as soon as it is loaded; nothing where it may change what
    the names of modules mean."""
    found: list[Import] = []
    for block in layout_of(text).top if _REDIRECTS.search(text) is None else ():
        code = text[block.start : block.end]
        if _WORKS.match(code):
            break
        if code.startswith(("from ", "import ")):
            found += imports(code)
    return found


def may_give(text: str, name: str) -> bool:
    """Whether a module may have a name: it says that outside of functions, or hides its names."""
    if not name.isidentifier() or name.startswith("__") or _HIDES.search(text):
        return True
    word = re.compile(rf"\b{name}\b")
    if re.search(rf"\bglobal\b.*\b{name}\b", text) or any(
        each.name == name or (not each.kind and word.search(text, each.start, each.end))
        for each in layout_of(text).top
    ):
        return True
    try:
        parsed(text)
    except REFUSALS:
        return True
    return False
