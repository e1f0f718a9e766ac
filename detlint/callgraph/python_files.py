"""The Python files of a project, which may settle findings also where none is a program, and what
no program trains."""

from __future__ import annotations

import os
import re
from functools import cached_property, partial
from typing import TYPE_CHECKING

from detlint.callgraph.roles import is_below_tests
from detlint.dataflow.arguments.need import Need
from detlint.dataflow.learning.outputs import writes_rows
from detlint.dataflow.slices import closure
from detlint.documents.bindings import Bindings
from detlint.grouping import grouped
from detlint.index.facts import HANDED_ON, HIDING, UNKNOWN, is_never_met, seed_needed
from detlint.index.scan import MAIN, registered
from detlint.models.attention import ANSWERING, LIBRARIES, OF_TORCH, SWITCHING
from detlint.models.purposes import trains as says_training
from detlint.sources.kinds import CUDA, NOTEBOOK, PYTHON, kind_of_name
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.index.index import Index

# What makes the files below its folder a package that others install, by what it says.
_BUILDS = {
    "setup.py": ("",),
    "setup.cfg": ("[metadata]", "[options]"),
    "pyproject.toml": ("[build-system]", "[project]", "[tool.poetry]"),
}
# Folders that setuptools leaves out where nothing says what the packages are (its "automatic
# discovery", since 61), of those that hold programs.
_LEFT_OUT = frozenset(
    (
        *("benchmark", "benchmarks", "bin", "ci", "doc", "docs", "example", "examples", "exercise"),
        *("exercises", "scripts", "tasks", "tools", "util", "utils"),
    )
)
_WHOLE = re.MULTILINE | re.DOTALL
_ABSTRACT = re.compile(
    r"^[ \t]+@(?:abc\.)?abstract\w+\n[ \t]+(?:async[ \t]+)?def[^\n]*:\s*"
    r'(?:"""[^"]*"""\s*)?(?:pass\b|\.\.\.|raise\b)',
    re.MULTILINE,
)
# What it calls that, of which people import a module or a package.
_NAME = re.compile(
    r"^\s*(?:\w+\()?name[ \t]*=[ \t]*(?:[\"']([^\"'\n]+)[\"']|([\w.-]+)[ \t]*$)", re.MULTILINE
)
# The attribute that a line gives a value.
_STORED = re.compile(r"\w+(?:\.\w+)*\.(\w+)[ \t]*=(?!=)")


class PythonFiles:
    """The Python files of a context, of which there are ``len``."""

    def __init__(self, paths: Sequence[str], index: Index) -> None:
        self._paths = [each for each in paths if kind_of_name(each) in (PYTHON, NOTEBOOK)]
        self._index = index
        self._all = paths
        self._declared: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def is_left_out(self, path: str, row: int, column: int, programs: Sequence[Program]) -> bool:
        """Whether programs of the context train, and none that may do so reaches a place, or gives
        what that needs, in a file which others do not install either: models that were copied
        whole, or only answer here, and what stands behind a switch that is off."""
        if self.is_installed(path):
            return False
        within = [each for each in programs if path in each and each.purpose.may_train]
        if within:
            within = [each for each in within if each.may_reach(path, row)]
            needs = self._index.needs(path, row, column) if within else []
            return not any(each.may_give(needs) for each in within)
        return any(each.purpose.learns for each in programs) and not any(
            each.looks_up_modules for each in programs
        )

    def is_for_answers(self, path: str, row: int, programs: Sequence[Program]) -> bool:
        """Whether programs run a line, and all of them only ask a model for answers; in a file that
        writes no rows, which others do not install."""
        if self.is_installed(path) or writes_rows(self._index.source(path).text):
            return False
        run_by = [each for each in programs if path in each and each.may_reach(path, row)]
        return bool(run_by) and all(each.purpose.only_asks() for each in run_by)

    def is_untrained(self, path: str, row: int, programs: Sequence[Program]) -> bool:
        """Whether none of the programs that have a file is shown to train what stands in a line,
        where no loss goes back; in a file which others do not install, and which no decorator hands
        on. One that takes steps, or is called so, and may train something unseen counts where no
        other shows what it trains."""
        within = [each for each in programs if path in each]
        if not within or self.is_installed(path) or self._is_registered(path, row):
            return False
        if self._index.part_at(path, row) in self._index.parts_with(path, "trains"):
            return False
        steps = [x for x in within if x.has("trains") or says_training(os.path.basename(x.path))]
        may = [each for each in steps if each.may_reach(path, row)]
        shown = [each for each in may if each.shows_training()]
        return bool(shown or not may) and not any(each.trains_part(path, row) for each in shown)

    def never_runs(
        self, path: str, row: int, column: int, programs: Sequence[Program], *, unused: bool = True
    ) -> bool:
        """Whether a place stands in what no program runs that has its file, or gives what it needs
        to run, unless others may use it; or in a class that waits for others to derive from it, and
        none of the project does. ``unused``: or where no program has its file, and nothing but
        tests names it; a test, always."""
        within = [each for each in programs if path in each]
        if within and not any(each.may_reach(path, row) for each in within):
            naming = self._naming(path, row)
            if not (self.is_installed(path) or any(self._offers(each, within) for each in naming)):
                return True
            # What others may install, and only tests name.
            if (
                naming
                and any(each.purpose.may_train for each in within)
                and all(map(self._tests, naming))
            ):
                return True
        left = bool(programs) and not (within or self.is_installed(path))
        unnamed = left and (unused or self._tests(path)) and self._is_unnamed(path, row)
        return unnamed or self._lacks_heirs(path, row) or self._is_spared(path, row, column)

    def _is_spared(self, path: str, row: int, column: int) -> bool:
        """Whether all calls pass something for what a place stands in for."""
        needs = self._index.needs(path, row, column)
        return bool(needs) and not (self.is_installed(path) or all(map(self._may_get, needs)))

    def _may_get(self, need: str) -> bool:
        """Whether a call may pass an argument, or what is handed on as such; what is passed, and
        not known to be None, is something."""
        if is_never_met(need):
            return False
        start: list[bool | str] = [need]
        told = list(closure(start, self._answers))
        return True in told or not (False in told or UNKNOWN in told)

    def _answers(self, need: bool | str) -> Iterator[bool | str]:
        """What files say of their calls, and the needs of functions that hand it on."""
        known = isinstance(need, str) and need not in (UNKNOWN, HANDED_ON)
        function, parameter = seed_needed(str(need)) if known else ("", "")
        keyed = known and Need.parse(str(need)).key  # a dict that is not seen may hold anything
        for each in self._paths if function else ():
            if self._index.holds(each, [function, f".{parameter}"]):
                told = (answer for _, answer, _ in self._index.gives(each, str(need)))
                yield from (True if keyed and x == UNKNOWN else x for x in told)

    def is_left_to_others(self, path: str, row: int, programs: Sequence[Program]) -> bool:
        """Whether a line stands in what no program runs, nothing here but tests names, and no
        decorator hands on: if it is used at all, then by programs of others. Tests run alone."""
        reached = any(path in each and each.may_reach(path, row) for each in programs)
        if reached or not programs or self._tests(path) or not self._is_unnamed(path, row):
            return False
        return not self._is_registered(path, row)

    def _is_registered(self, path: str, row: int) -> bool:
        """Whether a line stands in what a decorator hands on."""
        name = self._index.part_at(path, row).partition(".")[0]
        return name in registered(self._index.source(path).text)

    @staticmethod
    def _offers(path: str, programs: Sequence[Program]) -> bool:
        """Whether a file is a package's own, of which none of some programs takes anything."""
        package = os.path.basename(path) == "__init__.py"
        return package and not any(path in each for each in programs)

    def _is_unnamed(self, path: str, row: int) -> bool:
        """Whether a line stands in a function or class that nothing but tests names, or means
        another of the name by; to hand it on in a package names nothing."""
        name = self._index.part_at(path, row).partition(".")[0]
        if name in ("", MAIN):
            return False
        module = os.path.splitext(os.path.basename(path))[0]
        return not any(
            self._looks_into(each, module) or self._names(each, name)
            for each in self._paths
            if not self._tests(each) and self._index.holds(each, [name, module])
            if each == path or not self._means_another(each, path, name)
        )

    def _means_another(self, path: str, named: str, name: str) -> bool:
        """Whether a file that names a function or class defines that itself, or another copy of the
        file that does is nearer."""
        namesakes = self._by_file_name.get(os.path.basename(named), [])
        copies = [each for each in namesakes if self._index.defines(each, name)]
        nearest = max((len(os.path.commonpath((path, each))) for each in copies), default=0)
        module = os.path.splitext(os.path.basename(named))[0]
        own = self._index.defines(path, name) and not self._index.holds(path, [module])
        return own or len(os.path.commonpath((path, named))) < nearest

    @cached_property
    def _by_file_name(self) -> dict[str, list[str]]:
        return grouped((os.path.basename(each), each) for each in self._paths)

    def _names(self, path: str, name: str) -> bool:
        """Whether a part of a file names a function or class, but for what bears the name."""
        outline = self._index.outline(path)
        return name in outline.quoted or any(
            name in each.own or name in each.names or name in each.attributes
            for part, each in outline.uses.items()
            if part.partition(".")[0] != name
        )

    def _looks_into(self, path: str, module: str) -> bool:
        """Whether a file may look up in a module what it does not name."""
        return self._index.holds(path, [module]) and not HIDING.isdisjoint(self._index.kinds(path))

    def _naming(self, path: str, row: int) -> list[str]:
        """The other files that name the function or class of a line, or all of its module."""
        words = [self._index.part_at(path, row).partition(".")[0]]
        words.append(f"{os.path.splitext(os.path.basename(path))[0]} import *")
        return [each for each in self._paths if each != path and self._index.holds(each, words)]

    def _tests(self, path: str) -> bool:
        return path in self._below_tests

    @cached_property
    def _below_tests(self) -> frozenset[str]:
        return frozenset(x for x in self._all if is_below_tests(os.path.relpath(x, self._folder)))

    @cached_property
    def _folder(self) -> str:
        """The one that holds all files, told once: that takes a look at each of them."""
        return os.path.commonpath(self._all)

    def _lacks_heirs(self, path: str, row: int) -> bool:
        owner, _, method = self._index.part_at(path, row).partition(".")
        if not method or not is_abstract(owner, self._index.source(path).text):
            return False
        bases = (
            base.rpartition(".")[2]
            for each in self._paths
            if self._index.holds(each, [owner])
            for told in self._index.outline(each).classes.values()
            for base in told
        )
        return owner not in bases

    def is_installed(self, path: str) -> bool:
        """Whether a file is one of a package that others install."""
        return self._unpacked or any(self._takes(each, path) for each in self._packages)

    def _takes(self, build: str, path: str) -> bool:
        """Whether a file that makes a package takes another: one beside it, or in a folder that is
        a package, that it names, or that is found where it names none. Tests are run by whoever has
        them."""
        folder = os.path.join(os.path.dirname(build), "")
        if not path.startswith(folder):
            return False
        text = self._index.source(build).text
        top, _, below = path.removeprefix(folder).partition(os.sep)
        return (
            not below
            or top == "src"
            or self._tests(path)
            or os.path.join(folder, top, "__init__.py") in self._paths
            or any(f"{quote}{top}" in text for quote in "\"'")
            or ("packages" not in text and top not in _LEFT_OUT)
        )

    def never_calls(self, path: str, row: int) -> bool:
        """Whether Python gets to a line of C++ or CUDA by names that none of the files holds."""
        source = self._index.source(path)
        names = self._bindings.names_of(source.text, source.line_starts[row - 1])
        return bool(names) and not any(
            self._index.holds(each, sorted(names)) for each in self._paths
        )

    @cached_property
    def _bindings(self) -> Bindings:
        sources = (each for each in self._all if kind_of_name(each) == CUDA)
        return Bindings([self._index.source(each).text for each in sources])

    @cached_property
    def _unpacked(self) -> bool:
        """Whether the files are those of packages as they are installed."""
        return bool(self._all) and self._index.folders.is_installed(self._folder)

    @cached_property
    def _packages(self) -> list[str]:
        """What makes packages that others install."""
        return [each for each in self._all if self._builds(each)]

    def _builds(self, path: str) -> bool:
        """Whether a file makes what lies beside it a package, and that has a module or a package of
        the name: else it only says what the programs there need."""
        words = _BUILDS.get(os.path.basename(path), ())
        text = self._index.source(path).text if words else ""
        told = [text.find(each) for each in words if each in text]
        named = _NAME.search(text, min(told)) if told else None
        return bool(told) and (named is None or self._has_module(path, named[1] or named[2]))

    def _has_module(self, path: str, name: str) -> bool:
        """Whether a module or package beside a file or below bears a name, but for its case and
        dashes."""
        start = os.path.join(os.path.dirname(path), "")
        own = (each.removeprefix(start) for each in self._paths if each.startswith(start))
        return any(
            _plain(name) in map(_plain, each.removesuffix(".py").split(os.sep)) for each in own
        )

    @cached_property
    def only_answer(self) -> bool:
        """Whether some of them run a model, and none of them trains one."""
        runs = any(self._index.holds(each, ANSWERING) for each in self._paths)
        return runs and not any("trains" in self._index.kinds(each) for each in self._paths)

    @cached_property
    def train(self) -> bool:
        """Whether one of them that is no test takes steps of training."""
        return any(
            "trains" in self._index.kinds(each) and "steps" in self._index.kinds(each)
            for each in self._paths
            if not self._tests(each)
        )

    @cached_property
    def attend_by_torch(self) -> bool:
        """Whether those that read a switch for FlashAttention call torch's own attention, and no
        library's."""
        reading = [each for each in self._paths if self._index.holds(each, (SWITCHING,))]
        imported = {
            wanted.module.partition(".")[0]
            for each in reading
            for wanted in self._index.imports(each, typed=True)
        }
        own = any(self._index.holds(each, (OF_TORCH,)) for each in reading)
        return own and imported.isdisjoint(LIBRARIES)

    def only_declare(self, option: str) -> bool:
        """Whether some of them declare an option of a command line, ``attn_implementation``, or a
        setting, ``_C.CUDNN.BENCHMARK``, and none reads it."""
        if option not in self._declared:
            spelled = (option, option.replace("_", "-"))
            lines = [
                line
                for path in self._paths
                if self._index.holds(path, spelled)
                for line in self._index.source(path).text.splitlines()
                if any(each in line and mentions(line.partition("#")[0], each) for each in spelled)
            ]
            told = bool(lines) and all(map(partial(_declares, spelled), lines))
            self._declared[option] = told
        return self._declared[option]


def is_abstract(name: str, text: str) -> bool:
    """Whether a class has methods that do nothing until others define them."""
    found = re.search(rf"^class {re.escape(name)}\b.*?(?=^[^\s#)]|\Z)", text, _WHOLE)
    return found is not None and _ABSTRACT.search(found[0]) is not None


def _plain(name: str) -> str:
    return re.sub(r"[-_.]", "", name).lower()


def _declares(spelled: tuple[str, str], line: str) -> bool:
    """``attn_implementation: str``, ``parser.add_argument(…)``, ``"--attn-implementation",``, and
    ``_C.CUDNN.BENCHMARK = True``."""
    bare = line.strip()
    stored = _STORED.match(bare)
    if stored is not None and stored[1] in spelled:
        return True
    if "add_argument(" in bare:
        return True
    for each in spelled:
        after = bare.removeprefix(each)
        if after != bare and after.lstrip().startswith(":"):
            return True
        quoted = bare[:1] in ("'", '"')
        if quoted and bare[1:].lstrip("-").startswith(f"{each}{bare[:1]}"):
            return True
    return False
