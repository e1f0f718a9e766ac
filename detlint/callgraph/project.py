"""The files that belong together: what their programs import, and what those reach."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from functools import cache, cached_property, partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, TypeVar, cast

from detlint.callgraph.graph import Graph
from detlint.callgraph.reachability import Reachability
from detlint.grouping import grouped
from detlint.index.facts import runs_with
from detlint.index.imports import Import
from detlint.index.misplaced import Misplaced
from detlint.index.modules import PACKAGE, Definitions, Modules, Symbol, is_module
from detlint.index.requirements import asks_for_older
from detlint.kept import known
from detlint.models.cells import MOVING
from detlint.models.settings import KERAS_3_SINCE, SEEDS_NUMPY, SWITCHED_SINCE
from detlint.sources.cache import digest_of
from detlint.sources.kinds import NOTEBOOK, is_data, kind_of_name
from detlint.sources.paths import relative, slashed
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.index.index import Index
    from detlint.kept import Answers, Kept
    from detlint.notebooks.notebook import Notebook


_Call = tuple[str, str, "bool | str", list[str]]
_Fields = tuple[str, "list[tuple[str, str]]"]
T = TypeVar("T")
_PACKAGING = "pyproject.toml"
_CONFIGURATIONS = frozenset(("json", "toml", "yaml"))
_NAMING = (".json", ".yaml", ".yml")  # which name classes
_PROSE = (".md", ".rst", ".txt")
_ANY = "any"
# What turns something off, in lower case; other values may be any.
_SCALARS: dict[str, object] = {
    **dict.fromkeys(("null", "~", "none"), None),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("0", "0.0", "0.", "0.00"), 0),
    "-1": -1,
}
_NO_LETTERS = bytes(each for each in range(128) if not chr(each).isalpha())
# The key, before which there may be others.
_DETERMINISTIC = re.compile(r"deterministic[\"']?\s*[:=]", re.IGNORECASE)


class Project:
    """Programs below one folder, by their real paths, and the files that they import.

    ``files`` are all that the project holds, as far as that is known; ``follows``: imports are
    followed, or each program is the one file.
    """

    def __init__(  # noqa: PLR0913 - what is known of it
        self,
        root: str,
        files: Sequence[str],
        entrypoints: Sequence[str],
        index: Index,
        *,
        follows: bool = True,
        kept: Kept | None = None,
    ) -> None:
        self.index = index
        self._root = root
        self._files = files
        self._places = {path: place for place, path in enumerate(files)}
        self._follows = follows
        self._kept = kept
        self._misplaced = Misplaced(index, lambda: files)
        self._modules = Modules(root, index.folders, self._misplaced)
        self._definitions = Definitions(index, self._modules)
        # Of calls and of names, by what configurations have made.
        self._graphs = cache(lambda _targets: (Graph(), Graph()))
        self._entrypoints = entrypoints
        self._closures: dict[str, list[str]] = {}
        self._open: dict[str, list[str]] = {}  # programs of which more is asked, with their files
        self._reach: Reachability | None = None
        self._told: dict[object, tuple[set[str], dict[str, Any]]] = {}  # files: asked, and told
        self._classes = cache(self._classes_in)
        self.lineage = cache(self._seen_lineage)
        self._lacking: dict[str, list[tuple[str, ...]]] = {}
        self._loaded = cache(self._load)
        # Of a file, its classes that have an option as a field themselves, with what calls pass.
        self._declared = cache(lambda path, need: dict(index.fields(path, need)))
        required: Callable[[str], list[str]] = cache(index.required)
        self._older = cache(lambda folder, *asked: asks_for_older(folder, root, required, *asked))

    @property
    def entrypoints(self) -> list[str]:
        """All programs of the project."""
        return sorted({*self._entrypoints, *self.installed})

    @cached_property
    def installed(self) -> dict[str, list[str]]:
        """The functions that commands of the project's packages start, by their files."""
        named = (each for each in self._files if os.path.basename(each) == _PACKAGING)
        return grouped(
            symbol
            for path in (named if self._follows else ())
            for entry in self.index.entry_points(path)
            for symbol in self._definitions.of(path, ":".join(entry)) or ()
        )

    @cached_property
    def _targets(self) -> list[str]:
        """The classes and functions that configurations have made."""
        named = (each for each in self._configured_by if each.endswith(_NAMING))
        return sorted({name for each in named for name in self.index.targets(each)})

    def _targets_of(self, paths: Iterable[str]) -> list[str]:
        """Those that some files may make, if one of these makes what a text names."""
        return self._targets if any(map(self._instantiates, paths)) else []

    def _instantiates(self, path: str) -> bool:
        return "instantiates" in self.index.kinds(path)

    def defined(self, path: str, name: str) -> list[Symbol]:
        """The functions and classes of the project that a file means by a qualified name."""
        return self._definitions.meant(path, name) or []

    def libraries(self, path: str, name: str) -> set[str]:
        """The libraries that may have what a file means by a qualified name."""
        return self._definitions.libraries(path, name)

    def module(self, path: str, name: str) -> str | None:
        """The file of the project that a file imports by a name."""
        return self._definitions.module(path, name)

    def may_mean(self, path: str, owner: str, method: Symbol) -> bool:
        """Whether a method of an object that a file made of a class, by its qualified name, may be
        one of the project's: not where that class has another one."""
        name, _, word = method.part.partition(".")
        asked = Symbol(method.path, name)
        found = self._definitions.meant(path, owner)
        if not found:  # a library's class, unless it is a function, or nothing is known of it
            module, _, last = owner.rpartition(".")
            return found is None or not (module == "builtins" or last[:1].isupper())
        return any(self._may_have(each, asked, word) for each in found)

    def _may_have(self, owner: Symbol, asked: Symbol, word: str) -> bool:
        if owner.part not in self.index.outline(owner.path).classes:
            return True
        lineage = self._definitions.lineage(owner)
        if asked in lineage or owner in self._definitions.lineage(asked):
            return True
        seen = [each for each in lineage if each is not None]
        return not any(self.index.defines(each.path, f"{each.part}.{word}") for each in seen)

    def is_called_unseen(self, method: Symbol) -> bool:
        """Whether a base that is out of sight may call a method."""
        owner = method.part.partition(".")[0]
        return None in self._definitions.lineage(Symbol(method.path, owner))

    def telling(
        self, members: frozenset[str], question: object, answer: Callable[[str], bool]
    ) -> set[str]:
        """Those of a program's files that answer yes: each is asked once for all programs, which
        share most of theirs."""
        return self._by_file(question, members, answer).keys() & members

    def _by_file(
        self, question: object, paths: Iterable[str], answer: Callable[[str], T]
    ) -> dict[str, T]:
        """What the files say that say something, which have been asked by now."""
        asked, known = self._told.setdefault(question, (set(), {}))
        fresh = (each for each in paths if each not in asked)
        for path in self.index.left_to_ask(f"{question}", fresh):
            if told := answer(path):
                known[path] = told
        asked.update(paths)
        return known

    def configures(self, option: str, need: str) -> bool:
        """Whether a file of the project that is no Python may set an option to a value with which
        what has a need runs."""
        values = self._settings_of(option, prose=True)
        return any(each == _ANY or runs_with(need, each) for each in values)

    def leaves_unset(self, option: str) -> bool:
        """Whether configurations have an option, and all of them as ``null``."""
        values = self._settings_of(option)
        return bool(values) and all(each is None for each in values)

    def leaves_out(self, option: str, need: str) -> bool:
        """Whether configurations have an option, and none a value with which what has a need
        runs."""
        values = self._settings_of(option)
        return bool(values) and not any(each == _ANY or runs_with(need, each) for each in values)

    def _settings_of(self, option: str, *, prose: bool = False) -> list[object]:
        """To what files that are no Python set an option; ``prose``: and texts."""
        names = (option, option.replace("_", "-"))
        told = known(
            self.options,
            option,
            lambda: [
                (path.endswith(_PROSE), value)
                for path in self._configurations_naming(*names)
                for value in _values_in(self.index.source(path).text, names)
            ],
        )
        return [each for is_prose, each in told if prose or not is_prose]

    @cached_property
    def options(self) -> Answers:
        """What is known of options, which holds for what these files hold."""
        return {} if self._kept is None else self._kept.answers(self._root, self._configured_by)

    def _configurations_naming(self, *names: str) -> Iterator[str]:
        """Those whose text holds one of some words, in order."""
        letters, starts = self._configured_letters
        word = _letters_of(names[0])
        place = letters.find(word)
        while place >= 0 and starts:
            at = bisect_right(starts, place)
            path = self._configured_by[at - 1]
            if any(map(self.index.source(path).text.__contains__, names)):
                yield path
            place = letters.find(word, starts[at]) if at < len(starts) else -1

    @cached_property
    def _configured_letters(self) -> tuple[bytes, list[int]]:
        """The letters of all of them, and where those of each begin: most of the text are numbers,
        and to look a word up in each of a thousand files takes longer."""
        texts = [_letters_of(self.index.source(each).text) for each in self._configured_by]
        starts = accumulate((len(each) + 1 for each in texts), initial=0)
        return b"\n".join(texts), list(starts)[: len(texts)]

    @cached_property
    def deterministic(self) -> list[str]:
        """The configurations by which a trainer turns deterministic algorithms on."""
        files = [each for each in self._configured_by if kind_of_name(each) in _CONFIGURATIONS]
        ask = self.index.told
        return [x for x in files if ask(x, "is deterministic", partial(self._is_deterministic, x))]

    def _is_deterministic(self, path: str, text: str) -> bool:
        if _DETERMINISTIC.search(text) is None:  # reading them takes longer than their programs do
            return False
        from detlint.documents import Unreadable, read
        from detlint.documents.settings import makes_trainer_deterministic

        try:
            return makes_trainer_deterministic(read(self.index.source(path)))
        except Unreadable:
            return False

    def given(self, need: str, paths: Sequence[str]) -> list[_Call]:
        """The calls in some files that may pass an argument, each with its file, the part that it
        stands in, what it passes, and what it needs itself."""

        def ask(path: str) -> list[_Call]:
            return [
                (path, self.index.part_at(path, row) if row else "", given, needs)
                for row, given, needs in self.index.gives(path, need)
            ]

        known = self._by_file(f"gives {need}", paths, ask)
        return [*chain.from_iterable(known[each] for each in paths if each in known)]

    def fields(self, need: str, paths: Sequence[str]) -> list[_Fields]:
        """The classes of some files that have an option as a field, or inherit it: each with the
        files of those that declare it, nearest first, and what calls have to pass for that."""
        known = self._by_file(("fields", need), paths, partial(self._fields_in, need))
        return [*chain.from_iterable(known[each] for each in paths if each in known)]

    def _fields_in(self, need: str, path: str) -> list[_Fields]:
        declared = self._declared
        found = [
            (name, [(x.path, told) for x in lines if (told := declared(x.path, need).get(x.part))])
            for name, lines in self._classes(path).items()
        ]
        return [each for each in found if each[1]]

    def _classes_in(self, path: str) -> dict[str, list[Symbol]]:
        """The classes of a file with their lineages."""
        return {each: self.lineage(Symbol(path, each)) for each in self.index.outline(path).classes}

    @cached_property
    def state_of_configurations(self) -> str:
        """A digest of what its files hold that are no Python."""
        return digest_of(map(self.index.digest, self._configured_by))

    @cached_property
    def _configured_by(self) -> list[str]:
        others = (each for each in self._files if not each.endswith((".py", ".ipynb")))
        return [each for each in others if not _is_data(each)]

    def _imports(self, path: str) -> list[Import]:
        """What a file imports, also by a string or a configuration's word."""
        if not self._follows:
            return []
        named = self.index.targets(path)
        if self._instantiates(path):
            named = [*named, *self._targets]
        modules = dict.fromkeys(each.rpartition(".")[0] for each in named)
        return [*self.index.imports(path), *(Import(each, 0, ()) for each in modules)]

    def _run_with(self, path: str, start: str) -> Iterable[str]:
        """The files that run with one, in a program of a folder: kept where no other says that."""
        told = self.about(path) if self._follows else {}
        if "imports" in told:
            return map(self._files.__getitem__, told["imports"])
        found = [*self._modules.imported(path, self._imports(path), start)]
        places = [*map(self._places.get, found)]
        rests = path in self._misplaced.torn or self._misplaced.considered(path)
        if None not in places and not (rests or self._instantiates(path)):
            told["imports"] = places
        return found

    def about(self, path: str) -> Answers:
        """What is known of a file by its content and by what folders hold, which is kept."""
        return {} if self._kept is None else self._kept.about(path)

    def closure(self, path: str) -> list[str]:
        """A file and all that it imports, in the order in which they are met."""
        if path not in self._closures:
            start = os.path.dirname(path)
            self._closures[path] = self._modules.closure([path], self._run_with, start=start)
        return self._closures[path]

    def depends_on(self, path: str) -> tuple[object, ...]:
        """What a program depends on besides its files and what folders hold."""
        targets = self._targets_of(self.closure(path))
        asked = (*SWITCHED_SINCE.items(), ("torch", SEEDS_NUMPY), *KERAS_3_SINCE)
        older = [each for each in asked if self.asks_for_older(path, *each)]
        return path in self._imported, self.installed.get(path), targets, older

    def asks_for_older(self, path: str, library: str, since: str) -> bool:
        """Whether what a program requires are releases of a library that all come before one."""
        return self._follows and self._older(os.path.dirname(path), library, since)

    def is_imported(self, path: str) -> bool:
        """Whether another program imports a file."""
        return path in self._imported

    def is_of_use(self, path: str) -> bool:
        """Whether any file of the project imports one, also one that no program does."""
        others = (each for each in self._files if each.endswith((".py", ".ipynb")) and each != path)
        return any(path in self._modules.closure([each], self._run_with, 1) for each in others)

    def unimported(self, paths: Sequence[str]) -> list[str]:
        """Those of some files that no program imports, nor another of them."""
        left = [each for each in paths if each not in self._imported]
        closures = [self.closure(each) for each in left]
        imported = {each for first, *others in closures for each in others}
        return [each for each in left if each not in imported]

    @cached_property
    def _imported(self) -> frozenset[str]:
        closures = map(self.closure, self.entrypoints)
        return frozenset(each for first, *others in closures for each in others)

    def expect(self, path: str) -> None:
        """More will be asked of a program: what several reach is told at once."""
        if path not in self._open:
            self._open[path] = self.closure(path)

    def reach_of(self, path: str) -> Reachability:
        """What programs reach, this one among them."""
        if path not in self._open:
            for each in (path, *self.entrypoints):
                self.expect(each)
        if self._reach is None or self._reach.programs < len(self._open):
            targets = self._targets_of(chain.from_iterable(self._open.values()))
            self._reach = Reachability(
                self._open,
                self.index,
                self._modules,
                self._definitions,
                started={each: self.installed.get(each, []) for each in self._open},
                targets=targets,
                graphs=self._graphs(tuple(targets)),
            )
        return self._reach

    def starts(self, path: str) -> int:
        """The row at which an installed command starts a file; 0 if none does."""
        functions = self.installed.get(path, ())
        rows = self.index.outline(path).starts if functions else ()
        return next((row for row, part in rows if part in functions), 0)

    def lacking(self, paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """What files import from the project that is not there."""
        for path in paths if self._follows else ():
            if path not in self._lacking:
                found = (self._modules.lacking(path, x) for x in self.index.imports(path))
                self._lacking[path] = list(filter(None, found))
            yield from self._lacking[path]

    def fails_to_load(self, program: str) -> bool:
        """Whether what a program surely imports asks a file of the project for a name that this
        does not have, so that nothing else of it runs."""
        met = {program: None} if self._follows and self._starts_beside(program) else {}
        for path in (queue := list(met)):  # grows
            files = self._loaded(os.path.dirname(program), path)
            if files is None:
                return True
            queue += (each for each in files if each not in met)
            met.update(files)
        return False

    def _starts_beside(self, program: str) -> bool:
        """Whether imports of a program look into its own folder, as it stands there."""
        source = self.index.source(program)
        if source.kind != NOTEBOOK:
            return program.endswith(".py")
        return MOVING.isdisjoint(each.name for each in cast("Notebook", source).magics)

    def _load(self, start: str, path: str) -> dict[str, None] | None:
        """The files that one surely imports of a program in a folder; None where that fails."""
        found: dict[str, None] = {}
        for wanted in self.index.sure_imports(path):
            files = partial(self._modules.sure_files, start, path)
            *_, home = ("", *files(wanted._replace(names=())))
            known = is_module(home, wanted.module)
            left = [x for x in wanted.names if not (known and self.index.may_give(home, x))]
            if known and not all(map(partial(self._lies_beside, home), left)):
                return None
            found.update(dict.fromkeys(files(wanted._replace(names=(*left,)))))
        return found

    def _lies_beside(self, package: str, name: str) -> bool:
        """Whether anything in a package may be a module of it that is called so."""
        folder, file = os.path.split(package)
        beside = self.index.folders.entries(folder) if file == PACKAGE else ()
        return any(each.partition(".")[0] == name for each in beside)

    def _seen_lineage(self, symbol: Symbol) -> list[Symbol]:
        """A class and its bases, as far as they are seen; of a function, itself."""
        return [each for each in self._definitions.lineage(symbol) if each is not None]

    def bases(self, symbol: Symbol) -> Iterator[str]:
        """The qualified names of the bases of a class, and of those of its bases."""
        for each in self.lineage(symbol):
            outline = self.index.outline(each.path)
            for base in outline.classes.get(each.part, ()):
                first, dot, rest = base.partition(".")
                for bound in outline.bound.get(first, ()):
                    yield f"{bound.replace(':', '.')}{dot}{rest}"

    def holds(self, importer: str, library: str) -> bool:
        """Whether what a file imports by a name is of the project."""
        return self._modules.holds(importer, library)

    def has_own_guard(self, importer: str) -> bool:
        """Whether `guard` means another's there."""
        return self._modules.has_own_guard(importer)

    def shown(self, path: str) -> str:
        """What messages call a file: its path below the project's folder."""
        return slashed(relative(path, self._root))


def _letters_of(text: str) -> bytes:
    return text.encode(errors="surrogatepass").translate(None, _NO_LETTERS)


def _is_data(path: str) -> bool:
    try:
        return is_data(path, os.stat(path).st_size)
    except OSError:
        return False


def _values_in(text: str, names: Sequence[str]) -> Iterator[object]:
    """To what the lines of a configuration or a script set an option, which may be any: None
    of ``seed: null``, nothing of one that reads it as ``${seed}``."""
    lines = text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        bare = line.partition("#")[0]
        if "${" in bare or not any(mentions(bare, each) for each in names):
            continue
        key, sign, value = bare.partition(":" if ":" in bare else "=")
        if not sign or key.strip(" -\"'{") not in names:
            yield _ANY
        elif value.strip(" ,}"):
            yield _SCALARS.get(value.strip(" ,}").lower(), _ANY)
        else:
            yield _ANY if _indent(after) > _indent(line) else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
