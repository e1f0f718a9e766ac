"""Which names each part of a file uses: a call graph by name, good enough to tell what runs."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from detlint.layout import Layout, layout_of
from detlint.project.entrypoints import MAIN_BLOCK
from detlint.project.imports import bindings, bound_modules, bound_names, without_imports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.layout import Block

MAIN = "__main__"  # what runs under `if __name__ == "__main__"`
LOCAL = "="  # before a name of the file's own
ATTRIBUTE = "."  # before a name that is looked up in something
FROM = ":"  # between a module and what is looked up in it; alone, before any name of some module
WHOLE = "*"  # before a module that is handed on as a value; alone, of the file itself
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_LOOKED_UP = re.compile(r"\.\s*([^\W\d]\w*)")
_HANDED = re.compile(r"(?<![\w.])([^\W\d]\w*)\s*(?:[,)\]}]|\.__dict__\b)")
_SEARCHED = re.compile(r"\b(?:getattr|vars|getmembers)\(\s*([^\W\d]\w*)(?:\.\w+)*?\.(\w+)\s*[,)]")
_OWN = re.compile(
    # Not `globals()["__file__"]`, nor what only adds to a module.
    r"\bglobals\(\)\s*(?:\[|\.get\()(?!\s*[\"']__)"
    r"|(?<!setattr\()\bsys\.modules\[\s*__name__\s*\](?!\s*=(?!=))"
    # `Model = eval(name)`, `eval(name)(…)`
    r"|(?<![\w.])eval\([^()\n]*\)\s*\("
    r"|\b(?:[A-Z]\w*|\w*(?:model|net|cls|class)\w*)\s*=\s*eval\([^()\n]*\)"
)
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
# A collection that is written out, of which nothing is called to make it, or a name for types.
_COLLECTION = re.compile(
    r"([^\W\d]\w*)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?"
    r"(?=[\[({]|(?:Union|Optional|Callable|Literal|Type|Dict|List|Tuple|Sequence|Iterable)\[)"
)
# What a function takes, in brackets up to two deep, and the types that it says of that.
_SIGNATURE = re.compile(r"\bdef\s+\w+\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:\s*->[^:\n]*)?")
_TYPES = re.compile(r"(?::|->)\s*(?:[^,=()\[\]]|\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\])*")
_CALL = re.compile(r"[\w\])]\s*\(")
_METHOD = re.compile(r"^([ \t]+)(?:async[ \t]+def|def)[ \t]", re.MULTILINE)
# Without arguments these offer all functions and classes of the file that calls them.
_COMMAND_LINE = re.compile(r"\b(?:Fire|(?:auto_)?(?:CLI|cli))\(\s*\)")
# Without one, TensorFlow's calls the file's `main`.
_APP = re.compile(
    r"(?<![\w.])(?:tf\w*|(?:tf|tensorflow)\.compat\.v1|tensorflow)\.app\.run\(\s*(?:argv\b|\))"
)
_EXPORTS = re.compile(r"__all__\b")
_DECORATOR = re.compile(r"^[ \t]*@[ \t]*([\w.]+)", re.MULTILINE)
_HEAD = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)\b", re.MULTILINE)
# Decorators that hand a function on to nobody.
_WRAPS = re.compile(
    r"(?:functools|contextlib|torch|tf|jax|numba|np|typing|hydra|click)\.|(?:jit|njit|partial|wraps"
    r"|lru_cache|cache|contextmanager|dataclass|no_grad|inference_mode|deprecated|total_ordering"
    r"|rank_zero_only|overload|script|compile|record|property|cached_property|staticmethod"
    r"|classmethod|override|abstractmethod|abc\.abstract\w*|\w+\.(?:setter|getter|deleter))\b"
)
# Methods that something else calls: Python, or a framework that the class plugs into.
CALLED = re.compile(
    r"__\w+__|_?forward\w*|call|build|setup|run|on_\w+|configure_\w+|\w*_dataloader|prepare_data"
    r"|(?:training|validation|test|predict|optimizer)_step|compute_loss|lr_scheduler_step"
)
# Of these, what the workers of a loader call.
IN_WORKERS = frozenset({"__getitem__", "__call__", "__iter__"})
_DRIVEN = re.compile(r"train_\w+|\w+_step")
_DRIVES = re.compile(r"(?:Model|Module|Trainer|Runner)\s*(?:,|$)")


def outline(text: str) -> dict[str, list[str]]:
    """For each function, class and method of a file, and for "" and MAIN, the names that its
    code uses: ``=name`` of the file itself, ``name`` of what it imports, also with where it comes
    from, as in ``a.b:name.other``, ``.name``, and ``*name`` of a module in which it may look up
    any name.

    A method ``Class.name`` that its class is made for, such as ``__init__`` or ``forward``, is
    part of the class, unless the workers of a loader call it. A collection that is written out
    is a part by its name: what it holds is in use where it is. Strings and comments do not count.
    What is decorated counts as used: it may be registered.
    """
    layout = layout_of(text)
    blocks = [(block, _part(layout, block)) for block in layout.top]
    codes = [_code(layout, block.start, block.end) for block, _ in blocks]
    known = frozenset(part for _, part in blocks if part not in {"", MAIN})
    names = _Names.of("\n".join(codes), known)
    found: dict[str, set[str]] = {"": set(), MAIN: set()}
    for (block, part), code in zip(blocks, codes, strict=True):
        if block.kind == "class":
            for piece, start, end in _members(layout, block):
                found.setdefault(piece, set()).update(names.used(_code(layout, start, end)))
                found[piece].discard(LOCAL + block.name)
        else:
            found.setdefault(part, set()).update(names.used(code))
            found[part].discard(LOCAL + part)
        if block.kind and _is_registered(layout, block):
            found[""].add(LOCAL + block.name)
    found[""].update(names.only_offered(codes))
    for part in ("", MAIN):
        code = "\n".join(
            each for each, (_, other) in zip(codes, blocks, strict=True) if other == part
        )
        if _COMMAND_LINE.search(code):
            found[part].update(LOCAL + name for name in known if not name.startswith("_"))
        elif "main" in known and _APP.search(code):
            found[part].add(f"{LOCAL}main")
    return {part: sorted(names) for part, names in found.items()}


class _Names(NamedTuple):
    """What the names in a file's code stand for.

    known    those that it defines at its top
    aliases  those that it imports, and by which name; ``modules`` are the ones of modules
    bound    where they come from
    """

    known: frozenset[str]
    aliases: dict[str, str]
    modules: set[str]
    bound: dict[str, list[str]]

    @classmethod
    def of(cls, code: str, known: frozenset[str]) -> _Names:
        return cls(known, bound_names(code), bound_modules(code), bindings(code))

    def only_offered(self, codes: list[str]) -> Iterator[str]:
        """What a file only imports to offer it by another name."""
        aliases = self.aliases
        renamed = {bound for bound, name in aliases.items() if bound != name} - self.modules
        if renamed:
            used = set(re.findall(r"\w+", "\n".join(map(without_imports, codes))))
            yield from (aliases[bound] for bound in sorted(renamed - used))

    def used(self, code: str) -> Iterator[str]:
        """The names that some of the code uses."""
        if _EXPORTS.match(code):
            return
        code = without_imports(code)
        found = set(_DOTTED.findall(code))
        made = set(_DOTTED.findall(_without_types(code))) if "def" in found else found
        for dotted in sorted(found):
            first, *looked_up = dotted.split(".")
            if first in self.known:
                yield LOCAL + first
            elif "*" in self.aliases:
                yield first
                yield from (FROM + first,) if dotted in made else ()
            if first in self.aliases:
                yield from () if first in self.modules else (self.aliases[first],)
                yield from looked_up  # in a module, or in its modules
                yield from self._origins(first, looked_up) if dotted in made else ()
        for name in sorted(set(_LOOKED_UP.findall(code))):
            yield ATTRIBUTE + name
        yield from (WHOLE + name for name in _handed(code, self.aliases))

    def _origins(self, bound: str, looked_up: list[str]) -> Iterator[str]:
        for each in self.bound[bound]:
            module, _, name = each.partition(FROM)
            chain = ".".join([name, *looked_up] if name else looked_up)
            yield from (module + FROM + chain,) if chain else ()


def searches_itself(text: str) -> bool:
    """Whether a text may look up names in itself."""
    return _OWN.search(text) is not None


def searched(text: str) -> frozenset[str]:
    """The last names of modules ``a.name`` in which a text may look up names; "" for itself."""
    own = [""] if searches_itself(text) else []
    return frozenset([*own, *(name for _, name in _SEARCHED.findall(text))])


def handed(text: str) -> frozenset[str]:
    """The names of imported modules that a text may hand on; "" where it looks up in itself."""
    return frozenset(_handed(without_imports(text), bound_names(text)))


def definitions(text: str) -> list[str]:
    """The functions and classes at the top of a file, with any that stand so in a string: told
    soon, and of the outline's all."""
    return sorted(set(_DEFINITION.findall(text)))


def parts(text: str) -> list[tuple[str, int, int]]:
    """Where each part of the outline lies: its name, start and end; some lie in pieces."""
    layout = layout_of(text)
    found: list[tuple[str, int, int]] = []
    for block in layout.top:
        if block.kind == "class":
            found += _members(layout, block)
        else:
            found.append((_part(layout, block), block.start, block.end))
    return found


def _part(layout: Layout, block: Block) -> str:
    if block.kind:
        return block.name
    if MAIN_BLOCK.match(layout.text, block.start):
        return MAIN
    named = _COLLECTION.match(layout.text, block.start)
    if named is None or named[1].startswith("__"):
        return ""
    code = _code(layout, named.end() - 1, block.end)
    return named[1] if _DOTTED.search(code) and not _CALL.search(code) else ""


def _members(layout: Layout, block: Block) -> Iterator[tuple[str, int, int]]:
    """The pieces of a class: its methods that only run where something names them, and the rest."""
    indents = [
        match[1]
        for match in _METHOD.finditer(layout.text, block.start, block.end)
        if not layout.inside(match.start())
    ]
    start = block.start
    if indents:
        drives = _DRIVES.search(block.bases) is not None
        for each in layout.blocks(block.start, block.end, min(indents, key=len)):
            called = CALLED.fullmatch(each.name) or (drives and _DRIVEN.fullmatch(each.name))
            merged = called and each.name not in IN_WORKERS
            if each.kind == "def" and not merged and not _is_registered(layout, each):
                if each.start > start:
                    yield block.name, start, each.start
                yield f"{block.name}.{each.name}", each.start, each.end
                start = each.end
    if block.end > start:
        yield block.name, start, block.end


def _is_registered(layout: Layout, block: Block) -> bool:
    """Whether one of the decorators above a definition may hand it on."""
    text = layout.text
    if not text.startswith("@", block.start + len(block.indent)):
        return False
    head = _HEAD.search(text, block.start, block.end)
    end = head.start() if head else block.end
    return any(not _WRAPS.match(name) for name in _DECORATOR.findall(text, block.start, end))


def _code(layout: Layout, start: int, end: int) -> str:
    """A block without its strings and comments."""
    pieces = []
    for span in layout.spans[bisect_left(layout.starts, start) :]:
        if span.start >= end:
            break
        pieces.append(layout.text[start : span.start])
        start = span.end
    return " ".join([*pieces, layout.text[start:end]])


def _without_types(code: str) -> str:
    """Code whose functions do not say of which types their arguments are."""
    return _SIGNATURE.sub(lambda signature: _TYPES.sub("", signature[0]), code)


def _handed(code: str, aliases: dict[str, str]) -> Iterator[str]:
    """The modules that code hands on, as far as names tell: they are in lower case."""
    if searches_itself(code):
        yield ""
    names = [aliases[name] for name in sorted(set(_HANDED.findall(code)) & aliases.keys())]
    names += [last for first, last in _SEARCHED.findall(code) if first in aliases]
    yield from (name for name in names if name.islower())
