"""What the parts of a file name: one pass over its code, without a syntax tree.

A part is a function, a class, a method that only runs where something names it, or a collection
that is written out, at the top of a file; and "" for the rest of the file, and MAIN for what runs
under ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import re
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.index.imports import bound, without_imports
from detlint.index.named import named_classes
from detlint.models.launching import RUNNING
from detlint.syntax.layout import layout_of
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from detlint.syntax.layout import Block, Layout

MAIN = "__main__"
MAIN_BLOCK = re.compile(r"if[ \t(]+(?:__name__[ \t]*==|['\"]__main__['\"][ \t]*==)")
# All but names, and the dots in them.
_BETWEEN = {
    code: " " for code in range(128) if chr(code) != "." and not f"a{chr(code)}".isidentifier()
}
_BROKEN = re.compile(r"(?<!\.)\.\s+")
_HANDS_ON = re.compile(r"\s*[,)\]}]")
_SEARCHED = re.compile(r"\b(?:getattr|vars|getmembers)\(\s*([^\W\d]\w*)(?:\.\w+)*?\.(\w+)\s*[,)]")
_SEARCHING = ("getattr(", "vars(", "getmembers(")
_OWN = re.compile(
    # Not `globals()["__file__"]`, nor what only adds to a module.
    r"\bglobals\(\)\s*(?:\[|\.get\()(?!\s*[\"']__)"
    # `known = globals().copy()`, which is looked into later.
    r"|=\s*(?:dict\(\s*)?globals\(\)(?:\.copy\(\)|\s*\))?[ \t]*(?:;|\n|$)"
    r"|(?<!setattr\()\bsys\.modules\[\s*__name__\s*\](?!\s*=(?!=))"
    # `Model = eval(name)`, `eval(name)(…)`
    r"|(?<![\w.])eval\([^()\n]*\)\s*\("
    r"|\b(?:[A-Z]\w*|\w*(?:model|net|cls|class)\w*)\s*=\s*eval\([^()\n]*\)"
)
_KEPT = re.compile(r"self\.\w+(?=[ \t]*=(?!=))")
_OWN_WORDS = ("globals()", "sys.modules[")
# A collection that is written out, of which nothing is called to make it, or a name for types.
_COLLECTION = re.compile(
    r"([^\W\d]\w*)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?"
    r"(?=[\[({]|(?:Union|Optional|Callable|Literal|Type|Dict|List|Tuple|Sequence|Iterable)\[)"
)
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_OPTION = re.compile(r"\w+\s*=[^,]*|\[[^\]]*\]")  # ``metaclass=Registry``, ``Base[Tensor]``
# What a function takes, in brackets up to two deep, and the types that it says of that.
_SIGNATURE = re.compile(
    r"def\s+\w+\s*\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)(?:\s*->[^:\n]*)?"
)
_HELD = r"\[[^\[\]]*(?:\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\][^\[\]]*)*\]"
_TYPES = re.compile(rf"(?::|->)\s*[^,=()\[\]]*(?:{_HELD}[^,=()\[\]]*)*")
_CALL = re.compile(r"[\w\])]\s*\(")
# Without arguments these offer all functions and classes of the file that calls them.
_COMMAND_LINE = re.compile(r"\b(?:Fire|(?:auto_)?(?:CLI|cli))\(\s*\)")
# Without one, TensorFlow's calls the file's `main`.
_APP = re.compile(
    r"(?<![\w.])(?:tf\w*|(?:tf|tensorflow)\.compat\.v1|tensorflow)\.app\.run\(\s*(?:argv\b|\))"
)
_COMMANDS = ("Fire(", "CLI(", "cli(", ".app.run(")
_EXPORTED = re.compile(r"\n__all__[ \t]*\+?=[ \t]*[\[(][^\])]*[\])]")
# A class that a setting or a registry may name: `"Flip"`, `"data.transforms.Flip"`.
_QUOTED = re.compile(r"[\"'.]([A-Z]\w*)[\"']")
_NEAR = 20
_COMPARED = re.compile(r"(?:[=!]=|\bcase|\bprint\()\s*[\"']$")  # which makes nothing
_DECORATOR = re.compile(r"^[ \t]*@[ \t]*([\w.]+)", re.MULTILINE)
# Decorators that hand a function on to nobody.
_WRAPS = re.compile(
    r"(?:functools|contextlib|torch|tf|jax|numba|np|typing|hydra|click)\.|(?:jit|njit|partial|wraps"
    r"|lru_cache|cache|contextmanager|dataclass|no_grad|inference_mode|deprecated|total_ordering"
    r"|rank_zero_only|overload|script|compile|record|property|cached_property|staticmethod"
    r"|classmethod|override|abstractmethod|abc\.abstract\w*|\w+\.(?:setter|getter|deleter))\b"
)
# Methods that something else calls: Python, or a framework that the class plugs into.
CALLED = re.compile(
    r"__\w+__|_?forward\w*|call|build|set[uU]p|run|configure_\w+|\w*_dataloader|prepare_data"
    r"|(?:on|before|after|begin)_\w+"
    r"|(?:training|validation|test|predict|optimizer)_step|compute_loss|lr_scheduler_step"
)
# Of these, what the workers of a loader call.
IN_WORKERS = frozenset({"__getitem__", "__call__", "__iter__"})
# What runs in a process that an object stands for, and not where that is made.
RUN = "run"
_PROCESS = re.compile(r"\bProcess\s*(?:,|$)")
# Methods that are parts of their own, and run for whoever makes an object.
ALWAYS_CALLED = IN_WORKERS | {RUN}
# Those of classes that derive from what has such a name: of trainers, of Flower's clients and
# strategies, and of data sets of Chainer.
_DRIVEN = (
    (
        re.compile(r"(?:Learner|(?<!keras\.)Model|Module|Trainer|Runner)\s*(?:,|$)"),
        re.compile(r"train_\w+|(?:\w+_)?step"),
    ),
    (re.compile(r"DatasetMixin\s*(?:,|$)"), re.compile(r"get_example")),
    (re.compile(r"Client\s*(?:,|$)"), re.compile(r"fit|evaluate|[gs]et_(?:parameters|properties)")),
    (re.compile(r"(?:Fed\w+|Strategy)\s*(?:,|$)"), re.compile(r"aggregate_\w+|evaluate")),
)
# What calls the steps of a model of Keras, which nothing else does.
FITTED, STEPS_BY_FITTING = (
    "keras.Model",
    {
        "train_step": ("fit", "train_on_batch"),
        "test_step": ("fit", "evaluate", "test_on_batch"),
        "predict_step": ("predict", "predict_on_batch"),
    },
)


class Uses(NamedTuple):
    """What the code of a part names.

    own        parts of the same file
    names      what it imports, by its own name and not by an alias, and what it looks up in that
    origins    the same with where it comes from, as in ``a.b:name.other``, where it is more than
               a type; ``:name`` of what any module may give that is imported with a star
    attributes names that are looked up in anything
    modules    what it hands on, by the last name of the module: any name may be looked up in
               that; "" for the file itself
    """

    own: Sequence[str]
    names: Sequence[str]
    origins: Sequence[str]
    attributes: Sequence[str]
    modules: Sequence[str]


class Outline(NamedTuple):
    """The parts of a file.

    uses     what each names
    classes  which of them are classes, each with the dotted names of its bases
    starts   (first row, part), in order: some parts lie in pieces
    quoted   names of classes that stand in strings
    bound    what each name that imports bind may stand for, as ``imports.bindings`` has it
    """

    uses: dict[str, Uses]
    classes: Mapping[str, Sequence[str]]
    starts: list[tuple[int, str]]
    quoted: Sequence[str]
    bound: Mapping[str, Sequence[str]]

    def dump(self) -> list[object]:
        """As JSON gives it back."""
        return [
            {part: list(uses) for part, uses in self.uses.items()},
            self.classes,
            [list(each) for each in self.starts],
            self.quoted,
            self.bound,
        ]

    @classmethod
    def load(cls, kept: Sequence[Any]) -> Outline:
        """It itself, of which each word is held once, as files use the same. Raises TypeError or
        ValueError if it has another shape."""
        uses, classes, starts, quoted, bound = kept
        return cls(
            {intern(part): Uses(*map(_interned, each)) for part, each in uses.items()},
            {intern(name): _interned(bases) for name, bases in classes.items()},
            [(row, intern(part)) for row, part in starts],
            _interned(quoted),
            {intern(name): _interned(each) for name, each in bound.items()},
        )


def outline(text: str) -> Outline:
    """The parts of a text.

    A method ``Class.name`` that its class is made for, such as ``__init__`` or ``forward``, is
    part of the class, unless the workers of a loader call it. What a collection holds is in use
    where its name is. Strings and comments do not count. What is decorated counts as used: it
    may be registered.
    """
    text = _plain(text)
    layout = layout_of(text)
    pieces = [piece for block in layout.top for piece in _pieces(layout, block)]
    codes = [_code(layout, start, end) for _, start, end in pieces]
    known = frozenset(part for part, *_ in pieces if "." not in part and part not in {"", MAIN})
    reader = _Reader(codes, known)
    kept = _kept_in_objects([part for part, *_ in pieces], codes)
    found: dict[str, _Found] = {"": _Found(), MAIN: _Found()}
    several = {"", MAIN, *(each.name for each in layout.top if each.kind == "class")}
    for (part, _, _), code in zip(pieces, codes, strict=True):
        uses = found.setdefault(part, _Found())
        reader.enter("" if part in several else code)
        reader.read(code, uses, kept.get(part.partition(".")[0], ()))
    for place, name in named_classes(text):
        part = next((part for part, start, end in pieces if start <= place < end), "")
        if not layout.hides(place):
            found[part].origins.add(name)
            found[part].names.add(name.rpartition(":")[2])
    for part, uses in found.items():
        uses.own.discard(part.partition(".")[0])
    run_here = _run_here(layout)
    found[MAIN].own.update(run_here)
    found[""].own.update(_registered(layout) - run_here)
    found[""].names.update(reader.only_offered(each.attributes for each in found.values()))
    for part in ("", MAIN) if any(map(text.__contains__, _COMMANDS)) else ():
        code = "\n".join(
            code for code, piece in zip(codes, pieces, strict=True) if piece[0] == part
        )
        if _COMMAND_LINE.search(code):
            found[part].own.update(name for name in known if not name.startswith("_"))
        elif "main" in known and _APP.search(code):
            found[part].own.add("main")
    return Outline(
        {part: uses.told() for part, uses in found.items()},
        {
            each.name: _DOTTED.findall(_OPTION.sub("", each.bases))
            for each in layout.top
            if each.kind == "class"
        },
        list(_starts(text, pieces)),
        sorted(_quoted(layout)),
        reader.targets,
    )


def registered(text: str) -> set[str]:
    """The functions and classes of a text that decorators may hand on."""
    return _registered(layout_of(_plain(text))) if "@" in text else set()


def _registered(layout: Layout) -> set[str]:
    return {each.name for each in layout.top if each.kind and _is_registered(layout, each)}


def _run_here(layout: Layout) -> set[str]:
    """Those that a decorator runs where the file is the program."""
    if not any(f".{each}" in layout.text for each in RUNNING):
        return set()
    return {each.name for each in layout.top if each.kind and _runs_here(layout, each)}


def _runs_here(layout: Layout, block: Block) -> bool:
    return any(each.rpartition(".")[2] in RUNNING for each in _decorators(layout, block))


def _quoted(layout: Layout) -> set[str]:
    """The names of classes in the strings of code, but for what it exports and what is compared."""
    text = _EXPORTED.sub(lambda exports: " " * len(exports[0]), f"\n{layout.text}")[1:]
    found = _QUOTED.finditer(text)
    return {
        match[1]
        for match in found
        if not layout.hides(match.start(1)) and not _is_compared(text, match.start(1))
    }


def _is_compared(text: str, at: int) -> bool:
    return _COMPARED.search(text, max(0, at - _NEAR), at) is not None


def _plain(text: str) -> str:
    """A text as long, whose lines end with line feeds alone."""
    if "\r" not in text:
        return text
    # A backslash goes on standing before the end of its line.
    text = text.replace("\\\r\n", " \\\n")
    return text.replace("\r\n", " \n").replace("\r", "\n")


def _interned(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(intern, words))


class _Found:
    """Uses of a part, while its code is read."""

    def __init__(self) -> None:
        self.own: set[str] = set()
        self.names: set[str] = set()
        self.origins: set[str] = set()
        self.attributes: set[str] = set()
        self.modules: set[str] = set()

    def told(self) -> Uses:
        return Uses(
            *map(sorted, (self.own, self.names, self.origins, self.attributes, self.modules))
        )


class _Reader:
    """What the names in a file's code stand for.

    known    those that it defines at its top
    aliases  those that it imports, and by which name; ``modules`` are the ones of modules
    targets  where they come from
    """

    def __init__(self, codes: Sequence[str], known: frozenset[str]) -> None:
        self._known = known
        self._aliases, self._modules, self.targets = bound(
            "\n".join(code for code in codes if "import" in code)
        )
        self._origins: dict[str, list[str]] = {}
        self._several = any(len(each) > 1 for each in self.targets.values())
        self._inside: dict[str, list[str]] = {}  # the same of a function that imports them itself
        self._used: set[str] = set()

    def only_offered(self, attributes: Iterable[set[str]]) -> list[str]:
        """What a file only imports to offer it by another name; ``attributes``: those that it
        looks up in anything."""
        renamed = {bound for bound, name in self._aliases.items() if bound != name}
        unused = renamed.difference(self._modules, self._used, *attributes)
        return [self._aliases[each] for each in sorted(unused)]

    def enter(self, function: str) -> None:
        """Go on with the code of a function; "" for what is none."""
        imports = self._several and "import" in function
        self._inside = bound(function).targets if imports else {}

    def read(self, code: str, found: _Found, kept: Iterable[str] = ()) -> None:
        """Add what some code names, but for values ``kept`` in attributes of its own objects."""
        if code.startswith("__all__"):
            return
        code = without_imports(code)
        types: list[str] = []
        if "def " in code:
            code = _SIGNATURE.sub(lambda signature: _kept(signature[0], types), code)
        words = _words(code).difference(kept)
        self._classify(words, code, found, made=True)
        if types:
            code_of_types = " ".join(types)
            self._classify(_words(code_of_types) - words, code_of_types, found, made=False)
        evaluates = code.count("eval(") > code.count(".eval(")  # no `model.eval()`
        if (evaluates or any(map(code.__contains__, _OWN_WORDS))) and _OWN.search(code):
            found.modules.add("")
        if any(map(code.__contains__, _SEARCHING)):
            searched = (last for first, last in _SEARCHED.findall(code) if first in self._aliases)
            found.modules.update(name for name in searched if name.islower())

    def _classify(self, words: set[str], code: str, found: _Found, *, made: bool) -> None:
        """``made``: they are more than types."""
        known, aliases, star = self._known, self._aliases, "*" in self._aliases
        for word in words:
            first, dot, rest = word.partition(".")
            others: Sequence[str] = ()
            if dot and not "0" <= first[:1] <= "9":  # it is no number
                others = [each for each in rest.split(".") if each[:1] > "9"]
                # What a module has is no method.
                found.attributes.update(others[1:] if first in self._modules else others)
            if first in known:
                found.own.add(first)
            elif star and first[:1] > "9":
                found.names.add(first)
                if made:
                    found.origins.add(f":{first}")
            if first not in aliases:
                continue
            self._used.add(first)
            name = aliases[first]
            if first not in self._modules:
                found.names.add(name)
            found.names.update(others)
            if made:
                found.origins.update(self._from(word, first, rest))
            if name not in found.modules and _is_handed_on(word, code):
                found.modules.add(name)

    def _from(self, dotted: str, first: str, rest: str) -> list[str]:
        if first in self._inside:
            return list(_chains(self._inside[first], rest))
        if dotted not in self._origins:
            self._origins[dotted] = list(_chains(self.targets[first], rest))
        return self._origins[dotted]


def _chains(targets: Iterable[str], rest: str) -> Iterator[str]:
    for each in targets:
        module, _, name = each.partition(":")
        chain = f"{name}.{rest}" if name and rest else name or rest
        if chain:
            yield f"{module}:{chain}"


def _kept_in_objects(parts: Sequence[str], codes: Sequence[str]) -> dict[str, set[str]]:
    """Of classes the attributes, such as ``self.train``, that hold what they are given, and that
    are no methods."""
    found: dict[str, set[str]] = {}
    for part, code in zip(parts, codes, strict=True):
        if "self." in code:
            found.setdefault(part.partition(".")[0], set()).update(_KEPT.findall(code))
    for part in parts:
        owner, _, method = part.partition(".")
        found.get(owner, set()).discard(f"self.{method}")
    return found


def _words(code: str) -> set[str]:
    """The dotted names in some code; what is looked up in anything begins with a dot."""
    if ". " in code or ".\n" in code:
        code = _BROKEN.sub(".", code)
    return set(code.translate(_BETWEEN).split())


def _is_handed_on(word: str, code: str) -> bool:
    """Whether code does more with a name than to call it, or look something up in it."""
    if "." in word:
        return word.split(".")[1] == "__dict__"
    return any(
        _HANDS_ON.match(code, place + len(word)) and code[place - 1 : place] != "."
        for place in mentions(code, word)
    )


def _kept(signature: str, types: list[str]) -> str:
    """A signature without its types, which are put aside."""
    types += _TYPES.findall(signature)
    return _TYPES.sub("", signature)


def _starts(text: str, pieces: Sequence[tuple[str, int, int]]) -> Iterator[tuple[int, str]]:
    row, place, last = 1, 0, None
    for part, start, _ in pieces:
        row += text.count("\n", place, start)
        place = start
        if part != last:
            last = part
            yield row, part


def _pieces(layout: Layout, block: Block) -> Iterator[tuple[str, int, int]]:
    """The parts that a statement at the top of a file holds, and where they lie."""
    if block.kind == "class":
        yield from _members(layout, block)
    else:
        yield _part(layout, block), block.start, block.end


def _part(layout: Layout, block: Block) -> str:
    if block.kind:
        return block.name
    if MAIN_BLOCK.match(layout.text, block.start):
        return MAIN
    named = _COLLECTION.match(layout.text, block.start)
    if named is None or named[1] == "__all__":
        return ""
    code = _code(layout, named.end() - 1, block.end)
    holds = _DOTTED.search(code) or named_classes(layout.text[named.end() : block.end])
    return named[1] if holds and not _CALL.search(code) else ""


def _members(layout: Layout, block: Block) -> Iterator[tuple[str, int, int]]:
    """The pieces of a class: its methods that only run where something names them, and the rest."""
    start, driven = block.start, [names for bases, names in _DRIVEN if bases.search(block.bases)]
    for each in layout.members(block):
        called = any(names.fullmatch(each.name) for names in (CALLED, *driven))
        apart = each.name in IN_WORKERS or (each.name == RUN and _PROCESS.search(block.bases))
        merged = called and not apart
        if each.kind == "def" and not merged and not _is_registered(layout, each):
            if each.start > start:
                yield block.name, start, each.start
            yield f"{block.name}.{each.name}", each.start, each.end
            start = each.end
    if block.end > start:
        yield block.name, start, block.end


def _is_registered(layout: Layout, block: Block) -> bool:
    """Whether one of the decorators above a definition may hand it on."""
    return any(not _WRAPS.match(name) for name in _decorators(layout, block))


def _decorators(layout: Layout, block: Block) -> list[str]:
    """What stands above a definition."""
    return _DECORATOR.findall(layout.text, block.start, block.head)


def _code(layout: Layout, start: int, end: int) -> str:
    """A block without its strings and comments."""
    return " ".join(layout.text[first:last] for first, last in layout.plain(start, end))
