"""A file's functions, each parsed and lowered when it is asked for."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import deque
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from detlint.dataflow.lowering import lower
from detlint.dataflow.slices import closure
from detlint.fixes.edits import Editable
from detlint.grouping import grouped
from detlint.models.containers import CHANGING
from detlint.models.python import PLAIN_BASES
from detlint.models.randomness import SAID
from detlint.syntax.layout import layout_of
from detlint.syntax.mentions import mentions, places
from detlint.syntax.parsing import REFUSALS, UnparsedError, parsed, parsed_at
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.dataflow.callers import Callers
    from detlint.dataflow.facts.reading import FactReader
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.learning.answering import Answering
    from detlint.dataflow.learning.roles import Roles
    from detlint.dataflow.origins import Find, Origins
    from detlint.dataflow.randomness.rng_states import States
    from detlint.dataflow.randomness.seeding import Seeding
    from detlint.dataflow.values import Values
    from detlint.finding import Edit
    from detlint.sources.source import Source
    from detlint.syntax.layout import Block

# A word before an assignment, a comma, an annotation, or that a loop or `with` binds.
_BINDING = re.compile(r"\b([^\W\d]\w*)\b\s*(?=[=,:)\]|+&^-]|in\b|$)", re.MULTILINE)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PLACED = (ast.expr, ast.keyword, ast.stmt, ast.arg, ast.ExceptHandler)
_GOES_ON = re.compile(r"(?:elif|else|except|finally)\b")
_IMPORTS = re.compile(r"(?:^|[;:])[ \t]*(?:from|import)[ \t]", re.MULTILINE)
# What follows an attribute that is assigned to or changed by a method, and one of several targets.
_STORED = re.compile(
    rf"""[ \t]*(?:(?:\*\*|//|>>|<<|[-+*/%@&|^])?=(?!=)
    |\.\s*(?:{"|".join((*sorted(CHANGING), "sort_values", "sort_index"))})\b)""",
    re.VERBOSE,
)
_AMONG = re.compile(r"[ \t]*(?:[],:)[\\]|in\b|(?:#.*)?[\r\n]\s*[],)#])")
# What stands before it in its line.
_OWN = re.compile(r".*\b(?:self|cls)\s*\.\s*")
_TARGETS = re.compile(
    r"\s*(?:.*(?:[;:]|\b(?:for|as))[ \t]*)?[([*\s]*(?:[\w.]+(?:\[[^]]*\])*\s*,[\s([*]*)*\w+\.",
)
_FARTHEST = 200  # characters before it
_FEW = 40  # words, each of which is looked for in the text
# Characters of functions that are kept as operations, each of which takes about ten.
_ROOM = 2_500_000
# What is known of ten thousand files takes more than all operations: of these are fewer then.
_MANY, _A_FILE = 2_500, 250

F = TypeVar("F")
T = TypeVar("T")


class Piece(NamedTuple):
    """A function, a method, a class's body without its methods, or a statement of the module.

    owner  the class of a method or body, or ""
    kind   "function", "class" or "" for a statement
    """

    start: int
    end: int
    kind: str
    name: str
    owner: str
    bases: str = ""
    indent: str = ""  # of the statements of a class


class Unit(Editable[ast.AST]):
    """One file, as the engine sees it; ``whole``: parsed as a whole, not piece by piece.

    ``models``: what functions of the project do, as the settings say it; ``path``: where the file
    stands in its project, of which names may tell what it is for; ``find`` opens other files.
    """

    def __init__(
        self,
        source: Source,
        *,
        whole: bool = False,
        models: Sequence[tuple[str, str]] = (),
        path: str = "",
        find: Find | None = None,
    ) -> None:
        self.source = source
        self.find = find
        self.path = path or source.path
        self._models = models
        self._tree = parsed(source.text) if whole else None
        self.text = source.text
        self._layout = layout_of(self.text)
        self._functions: dict[int, Function | None] = {}
        self._read: dict[tuple[str, str], list[Op]] = {}
        self._naming: dict[str, list[Function]] = {}
        self._mentioned: dict[str, list[int]] = {}
        self._naming_within: dict[str, dict[str, dict[Piece, list[int]]]] = {}
        self._stored: dict[tuple[str, str], list[Op]] = {}
        self._nodes: dict[int, list[ast.stmt]] = {}  # of pieces, where it is parsed as a whole
        self._looked_for: set[str] = set()  # names, in the files that import them from each other
        self.options: dict[Op, str] = {}  # which its values are, as ``option_of`` has told it
        self.namespaces: frozenset[Op] | None = None  # of its values, those that a parser gave
        self.weight = len(source.text) // 10  # and the characters of what was made operations

    def close(self) -> None:
        """Let go of all operations, of which none is asked for any more. They hold each other, and
        to find such garbage costs a quarter of the time in which they are made."""
        for function in filter(None, [*self._functions.values(), vars(self).get("module")]):
            for each in list(function.everything()):
                for op in each.ops:
                    op.args.clear()
                    op.uses.clear()
                    del op.region
                vars(each).clear()
        if (whole := vars(self).get("as_whole")) is not None:
            whole.close()
        for each in [*filter(None, [vars(self).get("values")]), self]:
            vars(each).clear()

    @cached_property
    def as_whole(self) -> Unit | None:
        """The same parsed at once, where it does not parse piece by piece; None if not then."""
        self.weight += len(self.text)
        models, find = self._models, self.find
        with suppress(*REFUSALS):
            return Unit(self.source, whole=True, models=models, path=self.path, find=find)
        return None

    @cached_property
    def values(self) -> Values:
        """What the values of the file may be, as far as the file shows it by itself."""
        from detlint.dataflow.values import Values

        return Values(self, self._models)

    @cached_property
    def across(self) -> Values:
        """The same with what other files say, where they are open."""
        from detlint.dataflow.values import Values

        return self.values if self.find is None else Values(self, self._models, self.find)

    @cached_property
    def callers(self) -> Callers:
        """Who calls what of the file in it."""
        from detlint.dataflow.callers import Callers

        return Callers(self)

    @cached_property
    def origins(self) -> Origins:
        """What made the values of the file, as far as the file shows it by itself."""
        from detlint.dataflow.origins import Origins

        return Origins()

    @cached_property
    def rng_states(self) -> States:
        """Which states of global generators the file keeps and puts back."""
        from detlint.dataflow.randomness.rng_states import States

        return States(self)

    @cached_property
    def roles(self) -> Roles:
        """What the file's parts are for."""
        from detlint.dataflow.learning.roles import Roles

        return Roles(self)

    @cached_property
    def answering(self) -> Answering:
        """Whether the file runs a model that it does not train."""
        from detlint.dataflow.learning.answering import Answering

        return Answering(self)

    @cached_property
    def facts(self) -> FactReader:
        """What the file does by itself, for those who judge programs."""
        from detlint.dataflow.facts.reading import FactReader

        return FactReader(self)

    @cached_property
    def seeding(self) -> Seeding:
        """What the file seeds."""
        from detlint.dataflow.randomness.seeding import Seeding

        return Seeding(self)

    @property
    def own_seeding(self) -> list[str]:
        """By which words the file may call functions of the project that seed, as the settings
        say it."""
        full = [name for name, says in self._models if says in SAID]
        words = [name.rpartition(".")[2] for name in full]
        bound = (
            each
            for each, names in self.imported.items()
            if any(name.rpartition(".")[2] in words for name in names)
        )
        return [*words, *bound] if full else []

    @cached_property
    def pieces(self) -> list[Piece]:
        """What the file is made of, in order."""
        if self._tree is not None:
            return [piece for node in self._tree.body for piece in self._of_node(node)]
        return [piece for block in self._blocks for piece in self._split(block)]

    @cached_property
    def own(self) -> list[Piece]:
        """The module's own statements."""
        if self._tree is not None:
            return [each for each in self.pieces if not each.kind]
        return [piece for each in self._blocks if not each.kind for piece in self._split(each)]

    @cached_property
    def _blocks(self) -> list[Block]:
        found: list[Block] = []
        for block in self._layout.top:
            if found and _GOES_ON.match(self.text, block.start):
                found[-1] = found[-1]._replace(end=block.end)  # `else:` of the one above
            else:
                found.append(block)
        return found

    def _split(self, block: Block) -> Iterator[Piece]:
        if block.kind != "class":
            kind = "function" if block.kind else ""
            yield Piece(block.start, block.end, kind, block.name, "")
            return
        start, members = block.start, self._layout.members(block)
        own = (block.name, block.name, block.bases, members[0].indent if members else "")
        for each in members:
            if each.kind == "def":
                if each.start > start:
                    yield Piece(start, each.start, "class", *own)
                yield Piece(each.start, each.end, "function", each.name, block.name)
                start = each.end
        if block.end > start:
            yield Piece(start, block.end, "class", *own)

    def _of_node(self, node: ast.stmt) -> Iterator[Piece]:
        start, end = self._place(node)
        if isinstance(node, _FUNCTIONS):
            yield self._kept(Piece(start, end, "function", node.name, ""), [node])
        elif isinstance(node, ast.ClassDef):
            bases = ", ".join(map(ast.unparse, node.bases))
            methods = [each for each in node.body if isinstance(each, _FUNCTIONS)]
            rest = copy(node)  # the tree is not ours alone
            rest.body = [each for each in node.body if each not in methods]
            yield self._kept(Piece(start, end, "class", node.name, node.name, bases), [rest])
            for each in methods:
                place = self._place(each)
                yield self._kept(Piece(*place, "function", each.name, node.name), [each])
        else:
            start, end = self.span(node)  # others may stand before it in its line
            yield self._kept(Piece(start, end, "", "", ""), [node])

    def _kept(self, piece: Piece, nodes: list[ast.stmt]) -> Piece:
        self._nodes[piece.start] = nodes
        return piece

    def _place(self, node: ast.stmt) -> tuple[int, int]:
        first = min([node, *getattr(node, "decorator_list", ())], key=lambda each: each.lineno)
        return self.source.line_starts[first.lineno - 1], self.span(node)[1]

    @cached_property
    def _starts(self) -> list[int]:
        return [each.start for each in self.pieces]

    def piece_at(self, offset: int) -> Piece | None:
        """The piece that an offset lies in."""
        index = bisect_right(self._starts, offset) - 1
        while index > 0 and offset >= self.pieces[index].end:
            index -= 1  # what lies around it
        return self.pieces[index] if index >= 0 and offset < self.pieces[index].end else None

    # Functions

    def function(self, piece: Piece) -> Function | None:
        """The operations of a function or method; None if it does not parse."""
        if piece.start not in self._functions:
            self._functions[piece.start] = self._lowered(piece)
        return self._functions[piece.start]

    def function_of(self, piece: Piece) -> Function | None:
        """The same, with the module's for its own statements."""
        return self.function(piece) if piece.kind else self.module

    def functions_of(self, owner: str) -> Iterator[Function]:
        """The methods of a class, and its body, as far as they parse; of no class of the file,
        none."""
        return filter(None, map(self.function, self.classes.get(owner, ())))

    def definition(self, owner: str) -> ast.ClassDef | None:
        """The statement that makes a class, without its methods."""
        found = (each.node for each in self.functions_of(owner))
        return next((each for each in found if isinstance(each, ast.ClassDef)), None)

    def everything_of(self, owner: str) -> Iterator[Function]:
        """The same with the functions that these define."""
        for function in self.functions_of(owner):
            yield from function.everything()

    def at(self, offset: int) -> Function | None:
        """What an offset lies in: a function or method, a class's body, or the module's. Raises
        UnparsedError."""
        piece = self.piece_at(offset)
        if piece is None:
            return None
        found = self.function_of(piece)
        own = piece.kind or self._own_body is not None  # together, most statements parse
        if found is None or not (own or self._parsed(piece) is not None):
            raise UnparsedError
        return found

    def may_hold(self, offset: int, parts: Iterable[str]) -> bool:
        """Whether the text of the function that an offset lies in holds any of some parts of words;
        the module's is not read."""
        piece = self.piece_at(offset)
        if piece is None or not piece.kind:
            return True
        return any(self.text.find(each, piece.start, piece.end) >= 0 for each in parts)

    def functions_at(self, offsets: Iterable[int]) -> list[Function]:
        """What some offsets lie in, once each, in their order. Raises UnparsedError."""
        return list(dict.fromkeys(filter(None, map(self.at, offsets))))

    def ops_at(self, offsets: Iterable[int]) -> Iterator[Op]:
        """The calls in the functions that some offsets lie in, and in those that these define.
        Raises UnparsedError."""
        for function in self.functions_at(offsets):
            yield from function.all_coded("call")

    def _lowered(self, piece: Piece) -> Function | None:
        body = self._parsed(piece)
        if body is None:
            return None
        self.weight += piece.end - piece.start
        if piece.kind == "class":
            inner = getattr(body[0], "body", []) if body else []
            return lower(piece.name, inner, self, body[0] if body else None)
        node = next((each for each in body if isinstance(each, _FUNCTIONS)), None)
        if node is None:
            return None
        name = f"{piece.owner}.{piece.name}" if piece.owner else piece.name
        return lower(name, node.body, self, node)

    def _parsed(self, piece: Piece) -> list[ast.stmt] | None:
        """The statements of a piece, with the rows of the file."""
        if self._tree is not None:
            return self._nodes[piece.start]
        text = self.text[piece.start : piece.end]
        row, _ = self.source.location(piece.start)
        indented = text[:1] in (" ", "\t")
        if piece.indent:
            text = f"{text}\n{piece.indent}..."  # what is left of a class needs a body
        if indented:
            head = "class _:" if piece.kind == "class" else "if 1:"
            text = f"{head}\n{text}"
        try:
            body: list[ast.stmt] = parsed_at(row - indented, text).body
        except REFUSALS:
            return None
        return body if piece.kind == "class" or not indented else body[0].body  # type: ignore[attr-defined]

    @cached_property
    def module(self) -> Function:
        """What the statements of the module do, its functions and classes left out."""
        body = self._own_body
        if body is None:  # what does not parse is left out
            body = [each for piece in self.own for each in self._parsed(piece) or []]
        self.weight += sum(piece.end - piece.start for piece in self.own)
        return lower("", body, self)

    @cached_property
    def _own_body(self) -> list[ast.stmt] | None:
        """The module's own statements; None if one of them does not parse."""
        if self._tree is not None:
            return None
        parts, row = [], 1
        for piece in self.own:
            start, _ = self.source.location(piece.start)
            text = self.text[piece.start : piece.end]
            parts += ["\n" * (start - row), text]
            row = start + text.count("\n")
        try:
            body: list[ast.stmt] = parsed("".join(parts)).body
        except REFUSALS:
            return None
        return body

    def functions_naming(self, word: str) -> list[Function]:
        """The functions, methods and class bodies whose text holds a word, and the module."""
        if word not in self._naming:
            self._naming[word] = list(self._find_naming(word))
        return self._naming[word]

    def all_naming(self, word: str) -> Iterator[Function]:
        """The same with the functions that these define."""
        for function in self.functions_naming(word):
            yield from function.everything()

    def ops_naming(self, word: str) -> Iterator[Op]:
        """The calls in all these."""
        for function in self.functions_naming(word):
            yield from function.all_coded("call")

    def reads(self, code: str, name: str) -> list[Op]:
        """Where the file reads an attribute ("attr"), or a variable of the module ("global")."""
        if (code, name) not in self._read:
            reads = (each.reads(code, name) for each in self.all_naming(name))
            self._read[code, name] = [*chain.from_iterable(reads)]
        return self._read[code, name]

    def stores(self, name: str) -> Iterator[Op]:
        """What the file assigns to an attribute of a name, of whichever object."""
        for function in self.all_naming(name):
            yield from function.stores.get(name, ())

    def naming(self, word: str) -> list[str]:
        """The names of the functions at the top whose text holds a word."""
        pieces = dict.fromkeys(map(self.piece_at, self._mentions(word)))
        return [x.name for x in pieces if x is not None and x.kind == "function" and not x.owner]

    def functions_holding(self, *parts: str, beside: Sequence[str] = ()) -> Iterator[Function]:
        """The same of those whose text holds any of some parts of words; and any of others
        ``beside``, if there are some."""
        module = False

        def holds(piece: Piece, some: Sequence[str]) -> bool:
            return any(self.text.find(each, piece.start, piece.end) >= 0 for each in some)

        for piece in self.pieces:
            if holds(piece, parts) and (not beside or holds(piece, beside)):
                found = self.function_of(piece)
                if found is not None and (piece.kind or not module):
                    yield found
                module |= not piece.kind

    def _find_naming(self, word: str) -> Iterator[Function]:
        seen: set[int] = set()
        for place in self._mentions(word):
            piece = self.piece_at(place)
            if piece is None or self._layout.hides(place):
                continue
            key = piece.start if piece.kind else -1
            if key not in seen:
                seen.add(key)
                found = self.function_of(piece)
                if found is not None:
                    yield found

    def _mentions(self, word: str) -> list[int]:
        """Where a word stands alone. Of many words, all of the text's are found at once."""
        if word not in self._mentioned:
            many = len(self._mentioned) > _FEW and word.isidentifier()
            found = places(self.text).get(word, []) if many else mentions(self.text, word)
            self._mentioned[word] = found
        return self._mentioned[word]

    def _pieces_naming(self, owner: str, name: str) -> dict[Piece, list[int]]:
        """The methods of a class, and its body, or what is in no class, whose text holds a name,
        and where."""
        if name not in self._naming_within:
            found: dict[str, dict[Piece, list[int]]] = {}
            for place in self._mentions(name):
                piece = self.piece_at(place)
                if piece is not None:
                    found.setdefault(piece.owner, {}).setdefault(piece, []).append(place)
            self._naming_within[name] = found
        return self._naming_within[name].get(owner, {})

    def defined(self, name: str, owner: str = "") -> Function | None:
        """The function of a name at the top of the file, or of a class."""
        piece = self._by_name.get((owner, name))
        return self.function(piece) if piece is not None else None

    def defines(self, name: str, owner: str = "") -> bool:
        """Whether there is a function of a name at the top of the file, or in a class."""
        return (owner, name) in self._by_name

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Piece]:
        # The last definition holds.
        return {(each.owner, each.name): each for each in self.pieces if each.kind == "function"}

    @cached_property
    def classes(self) -> dict[str, list[Piece]]:
        """The pieces of each class at the top of the file."""
        return grouped((each.owner, each) for each in self.pieces if each.owner)

    def method(self, owner: str, name: str) -> Function | None:
        """A method of a class of the file, or of a base of it."""
        for each in self._with_bases(owner):
            found = self.defined(name, each)
            if found is not None:
                return found
        return None

    def has_method(self, owner: str, name: str) -> bool:
        """Whether a class of the file, or a base of it there, defines a method."""
        return any(self.defines(name, each) for each in self._with_bases(owner))

    def _with_bases(self, owner: str) -> Iterator[str]:
        known = closure([owner], lambda each: self.bases(each) if each in self.classes else ())
        return (each for each in known if each in self.classes)

    def bases(self, owner: str) -> list[str]:
        """The last words of the names of a class's bases."""
        text = self._heads.get(owner, "")
        return [each.split("=")[0].strip().rpartition(".")[2] for each in text.split(",") if each]

    def written_bases(self, owner: str) -> list[ast.expr]:
        """A class's bases, as they are written."""
        try:
            tree = ast.parse(f"_({self._heads.get(owner, '')})", mode="eval").body
        except SyntaxError:
            return []
        return tree.args if isinstance(tree, ast.Call) else []

    def qualified_bases(self, owner: str) -> list[str]:
        """The qualified names of a class's bases."""
        given = self.written_bases(owner)
        plain = (each.value if isinstance(each, ast.Subscript) else each for each in given)
        return [name for each in plain for name in self.meant_by(ast.unparse(each))]

    def meant_by(self, dotted: str) -> list[str]:
        """What a dotted name of the module means, if that is imported, or a class of the file."""
        first, dot, rest = dotted.partition(".")
        if first in self.imported:
            return [f"{each}{dot}{rest}" for each in self.imported[first]]
        return [f".{dotted}"] if first in self.classes else []

    @cached_property
    def _heads(self) -> dict[str, str]:
        """What stands between the brackets behind the name of each class that has such."""
        found: dict[str, str] = {}
        for each in self.pieces:
            if each.bases:
                found.setdefault(each.owner, each.bases)
        return found

    def derived(self, owner: str) -> list[str]:
        """The classes of the file that derive from a class of it, over others as well."""
        found = closure([owner], self.deriving)
        return list(islice(found, 1, None))

    def deriving(self, base: str) -> list[str]:
        """The classes of the file that name something as a base."""
        return self._derived.get(base, [])

    @cached_property
    def _derived(self) -> dict[str, list[str]]:
        return grouped((base, name) for name in self.classes for base in self.bases(name))

    def related(self, owner: str) -> list[str]:
        """A class with those of the file whose methods its objects, or those of a class that
        derives from it, have."""
        return [*self._with_bases(owner), *self.derived(owner)]

    def has_unseen_base(self, owner: str) -> bool:
        """Whether a class has a base that is of no library, and not in the file."""
        return not set(self.bases(owner)) <= PLAIN_BASES | set(self.classes)

    def hashes_by_value(self, owner: str) -> bool:
        """Whether objects of a class may be hashed by what they hold, and not by their address."""
        names = {each.name for each in self.classes[owner] if each.kind == "function"}
        if "__hash__" in names or "__eq__" in names:
            return True
        if self.has_unseen_base(owner):
            return True  # it may say so
        head = self.text[self.classes[owner][0].start :][:200]
        return head.lstrip().startswith("@")  # `@dataclass(frozen=True)`

    def stored(self, owner: str, name: str) -> list[Op]:
        """What a class and its bases assign to an attribute of its objects, or to its own."""
        key = owner, name
        if key not in self._stored:
            classes = self._with_bases(owner)
            self._stored[key] = [op for each in classes for op in self.stored_by(each, name)]
        return self._stored[key]

    def held(self, owner: str, name: str) -> list[Op]:
        """What a class and its bases give an attribute; of no class of the file, nothing."""
        stored = self.stored(owner, name) if owner in self.classes else []
        return [each.args[1] if each.code == "store_attr" else each for each in stored]

    def methods_naming(self, owner: str, name: str) -> Iterator[Function]:
        """The methods of a class, and its body, whose text holds a name. With no class, the
        functions at the top of the file, and the module."""
        pieces = self._pieces_naming(owner, name)
        found = map(self.function_of, pieces)
        return iter(dict.fromkeys(filter(None, found)))

    def stored_by(self, owner: str, name: str) -> Iterator[Op]:
        """The same of a class alone."""
        for piece, found in self._pieces_naming(owner, name).items() if owner else ():
            if piece.kind == "class":
                body = self.function(piece)
                yield from body.bindings.get(name, ()) if body is not None else ()
            elif any(self._may_store(each, len(name)) for each in found):
                yield from self._stores(self.function(piece), name)

    def _may_store(self, place: int, length: int) -> bool:
        """Whether the attribute at a place may be assigned to, or changed: parsing takes a hundred
        times as long as a look."""
        line = max(self.text.rfind("\n", 0, place) + 1, place - _FARTHEST)
        if _OWN.fullmatch(self.text, line, place) is None:
            return False
        if _STORED.match(self.text, place + length):
            return True
        among = _AMONG.match(self.text, place + length)
        return among is not None and _TARGETS.fullmatch(self.text, line, place) is not None

    def storing(self, owner: str, name: str) -> str:
        """The class, of a class and its bases, that assigns something to an attribute."""
        return next((each.function.class_name for each in self.stored(owner, name)), owner)

    @staticmethod
    def _stores(function: Function | None, name: str) -> Iterator[Op]:
        if function is None:
            return
        for each in function.stores.get(name, ()):
            if each.args[0].is_self:
                yield each
        for owner in ("self", "cls"):
            for each in function.bindings.get(f"{owner}.{name}", ()):
                if each.code in ("change", "store_item", "augment"):
                    yield each

    def add_argument(self, call: ast.Call, argument: str) -> Edit:
        """Add ``keyword=value`` as the last argument, laid out as the others are."""
        given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        last = max(given, key=lambda each: (each.lineno, each.col_offset), default=None)
        return self._after_last(call, last, argument)

    # Names

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """The names that statements of the module may bind."""
        found: set[str] = set()
        for piece in self.own:
            found.update(_BINDING.findall(self.text, piece.start, piece.end))
        return frozenset(found)

    def variable(self, name: str, find: Find) -> list[tuple[Unit, str]]:
        """What the module has by a name that is no function or class of it, by way of others."""
        if name in self.bound_names and name not in self.imported:
            return [(self, name)]
        if name in self._looked_for:
            return []  # files that import a name from each other
        self._looked_for.add(name)
        found = [place for each in self.imported.get(name, ()) for place in find(self, each)]
        self._looked_for.discard(name)
        return found

    @cached_property
    def rebound(self) -> frozenset[str]:
        """The names of the module that functions may bind anew: ``global x``."""
        found: set[str] = set()
        for place in mentions(self.text, "global"):
            line = self.text[place : self.text.find("\n", place)]
            found.update(each.strip(" ,") for each in line.split()[1:])
        return frozenset(found)

    @cached_property
    def imported(self) -> dict[str, list[str]]:
        """What each name that the module imports may stand for: ``{"np": ["numpy"]}``. An import
        that runs in any case takes the place of those before it."""
        found: dict[str, list[str]] = {}
        pieces = [x for x in self.own if _IMPORTS.search(self.text, x.start, x.end)]
        for statement in self._parsed_at_once(pieces):
            for bound, _ in _imports(statement):
                if bound != "*":
                    found.pop(bound, None)
            for node in _statements(statement):
                for bound, name in _imports(node):
                    names = found.setdefault(bound, [])
                    if name not in names:
                        names.append(name)
        return found

    def by_star(self, name: str) -> list[str]:
        """The qualified names that a name may have that comes with ``from net import *``."""
        modules = self.imported.get("*", ()) if name not in self.bound_names else ()
        return [f"{each.removesuffix('*')}{name}" for each in modules]

    def _parsed_at_once(self, pieces: Sequence[Piece]) -> list[ast.stmt]:
        """Statements of the module that parse, without their rows: in a third of the time that
        it takes to parse each by itself."""
        if self._tree is None:
            with suppress(*REFUSALS):
                return parsed("".join(self.text[each.start : each.end] for each in pieces)).body
        return [each for piece in pieces for each in self._parsed(piece) or ()]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Start and end of a node, as offsets in the source's text."""
        assert isinstance(node, _PLACED)  # noqa: S101 - what operations are made of
        start = self._offset(node.lineno, node.col_offset)
        return start, self._offset(node.end_lineno or 1, node.end_col_offset or 0)

    def _offset(self, row: int, column: int) -> int:
        start = self.source.line_starts[row - 1]
        line = self.source.line(row)
        if line.isascii():
            return start + column
        return start + len(line.encode()[:column].decode(errors="replace"))


def _statements(statement: ast.AST) -> list[ast.AST]:
    """A statement with those in it, outer ones first."""
    found = [statement]
    for each in found:  # grows
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            found += getattr(each, name, ())
    return found


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import binds, and what each stands for."""
    if isinstance(node, ast.Import):
        for each in node.names:
            bound = each.asname or each.name.partition(".")[0]
            yield bound, each.name if each.asname else bound
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        for each in node.names:
            yield each.asname or each.name, f"{module}.{each.name}"


def asked(unit: Unit, ask: Callable[[Unit], T], failed: F) -> T | F:
    """What a question to a file gives, or ``failed`` where parts of it do not parse."""
    try:
        return in_deep_stack(lambda: ask(unit))
    except (UnparsedError, *REFUSALS):
        return failed


class Units:
    """The files of a project, by their real paths: each is opened once for all that is asked of
    it. What one does by itself lets it go when there is no room; what others ask of it does not.
    """

    def __init__(self, open_file: Callable[[str], Unit]) -> None:
        self._open_file = open_file
        self._held: dict[str, Unit] = {}
        self._alone: dict[str, Unit] = {}  # the newest last
        self._weights: dict[str, int] = {}  # of these, but for the newest
        self._total = 0
        self._reserved = 0  # room for what is known of files

    def of(self, path: str) -> Unit:
        """A file, for one question at a time."""
        if path in self._held:
            return self._held[path]
        newest = next(reversed(self._alone), path)
        if newest != path:
            self._weights[newest] = self._alone[newest].weight
            self._total += self._weights[newest]
        unit = self._alone[path] = self._taken(path) or self._open_file(path)
        while self._total > _ROOM - self._reserved:
            oldest = self._taken(next(iter(self._alone)))
            if oldest is not None:
                oldest.close()
        return unit

    def held(self, path: str) -> Unit:
        """A file that stays open: what others learn of it refers to its operations."""
        if path not in self._held:
            self._held[path] = self._taken(path) or self._open_file(path)
        return self._held[path]

    def make_room(self, files: int) -> bool:
        """Close all, to which nothing may refer then, where those that stay open take more room
        than what is known of some ``files`` leaves; whether they do."""
        self._reserved = min(max(files - _MANY, 0) * _A_FILE, _ROOM * 3 // 4)
        is_crowded = sum(each.weight for each in self._held.values()) > _ROOM - self._reserved
        if is_crowded:
            self.close([*self._held, *self._alone])
        return is_crowded

    def close(self, paths: Iterable[str]) -> None:
        """Close some files, of which no more is asked."""
        for path in paths:
            for unit in filter(None, (self._held.pop(path, None), self._taken(path))):
                unit.close()

    def forget(self, path: str) -> None:
        """Open a file anew when it is asked for again."""
        self._held.pop(path, None)
        self._taken(path)

    def _taken(self, path: str) -> Unit | None:
        self._total -= self._weights.pop(path, 0)
        return self._alone.pop(path, None)


class Left:
    """Files of which no more is asked. To take one apart costs more than to leave it to the end of
    a process that ends soon."""

    def __init__(self) -> None:
        self.room = 0  # characters of theirs that may be left
        self._units: deque[Unit] = deque()

    @contextmanager
    def leaving(self, unit: Unit) -> Iterator[Unit]:
        """Ask a file, and leave it afterwards; the oldest are closed for which is no room."""
        try:
            yield unit
        finally:
            self.room -= unit.weight
            self._units.append(unit)
            while self._units and self.room < 0:
                self.room += self._units[0].weight
                self._units.popleft().close()

    def end_soon(self) -> None:
        """Make room: this process ends when its files are linted."""
        self.room = _ROOM


_LEFT = Left()
leaving, end_soon = _LEFT.leaving, _LEFT.end_soon
