"""The statements of a shell script in the order in which they run, and what commands inherit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.documents.document import Command, Variable, Word
from detlint.documents.shell_front import started
from detlint.documents.shell_scope import EMPTY, HOLE, Piece, Scope, Value, capped, merged, unknown
from detlint.documents.shell_tree import Tree
from detlint.documents.shell_values import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

_DEEPEST = 40
_MOST_CALLS = 300  # of functions, which may call each other
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_SCRIPT = re.compile(r"-[a-z]*c$")
_TESTS = frozenset({"test_command", "negated_command"})
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_REMOTE = frozenset({"ssh", "pdsh", "clush"})
_REMOTE_VALUES = frozenset("-p -i -l -o -F -J -L -R -D -b -c -E -W -w".split())
# Scripts of others, that set up a shell and none of what a run depends on.
_OTHERS = re.compile(r"(?:activate|conda\.sh|\.?bashrc|\.?bash_profile|\.?profile|modules\.sh|init/\w+)$")


class Found:
    """What was found: commands and variables by their place."""

    def __init__(self) -> None:
        self._commands: dict[tuple[int, int], list[Command]] = {}
        self._variables: dict[int, Variable] = {}

    def command(self, command: Command) -> None:
        """Add a command, which may be met several times: in a function, say."""
        met = self._commands.setdefault(command[:2], [])
        if len(met) < 8:
            met.append(command)

    def variable(self, variable: Variable) -> None:
        """Add a variable; what is known of it is unsure where it is met with other values."""
        old = self._variables.get(variable.start)
        if old is not None:
            value = variable.value if variable.value == old.value else None
            variable = variable._replace(value=value, exported=old.exported or variable.exported)
        self._variables[variable.start] = variable

    def export(self, start: int) -> None:
        """What is assigned at a place is exported later."""
        if start in self._variables:
            self._variables[start] = self._variables[start]._replace(exported=True)

    def nodes(self) -> list[Variable | Command]:
        """All of it, in order."""
        commands = [_one(met) for met in self._commands.values()]
        return sorted([*self._variables.values(), *commands], key=lambda each: each[:2])


def _one(met: list[Command]) -> Command:
    first, *others = met
    for other in others:
        names = {**first.environment, **other.environment}
        missing = object()
        environment = {
            name: value
            if first.environment.get(name, missing) == other.environment.get(name, missing)
            else None
            for name, value in names.items()
        }
        first = first._replace(
            words=merged([first.words, other.words]),
            environment=environment,
            folder=first.folder if first.folder == other.folder else None,
            sourced=tuple(dict.fromkeys(first.sourced + other.sourced)),
        )
    return first


class Statements:
    """Walks the statements of one text in a scope, which it changes."""

    def __init__(
        self,
        tree: Tree,
        scope: Scope,
        found: Found,
        front: tuple[Word, ...] = (),
        depth: int = 0,
        functions: dict[str, tuple[Tree, Node]] | None = None,
    ) -> None:
        self._tree = tree
        self.scope = scope
        self._found = found
        self._front = front
        self._depth = depth
        self._functions = {} if functions is None else functions
        self._called: set[str] = set()
        self._calls = 0

    def read(self) -> None:
        """Walk all of it, and functions that nothing called last."""
        self._walk(self._tree.root)
        for name in [*self._functions]:
            if name not in self._called and self._functions[name][0] is self._tree:
                self.scope.ended = False
                self._call(name, None, self.scope.copy())

    def _walk(self, node: Node) -> None:
        if self._depth > _DEEPEST or self.scope.ended:
            return
        if node.type == "ERROR":
            self.scope.forget(_ASSIGNED.findall(self._tree.text(node)))
            return
        handler = _HANDLERS.get(node.type)
        self._depth += 1
        if handler is not None:
            handler(self, node)
        else:
            self._each(node)
        self._depth -= 1

    def _each(self, node: Node) -> None:
        for child in node.children:
            if child.is_named or child.type == "ERROR":
                self._walk(child)

    def _in(self, scope: Scope, walk: Callable[[], None]) -> Scope:
        """Walk something in another scope, which is given back."""
        outer, self.scope = self.scope, scope
        walk()
        self.scope = outer
        return scope

    # Compound statements

    def _subshell(self, node: Node) -> None:
        self._in(self.scope.copy(), lambda: self._each(node))

    def _pipeline(self, node: Node) -> None:
        for child in node.named_children:
            self._in(self.scope.copy(), lambda child=child: self._walk(child))  # type: ignore[misc]

    def _list(self, node: Node) -> None:
        """``a && b || c``: what follows a test, or ``||``, may not run."""
        chain: list[Node] = []
        operators: list[str] = []
        while node.type == "list" and len(node.children) == 3:
            left, operator, right = node.children
            chain.append(right)
            operators.append(operator.type)
            node = left
        chain.append(node)
        self._walk(node)
        tested = node.type in _TESTS
        for operator_, each in zip(reversed(operators), reversed(chain[:-1]), strict=True):
            if operator_ == "&&" and not tested:
                self._walk(each)
                continue
            branch = self._in(self.scope.copy(), lambda each=each: self._walk(each))  # type: ignore[misc]
            self.scope.join([self.scope.copy(), branch])
            tested = tested or each.type in _TESTS

    def _if(self, node: Node) -> None:
        branches = []
        rest = self.scope.copy()
        body: list[Node] = []
        complete = False
        clauses = [(node, [each for each in node.children if not each.type.endswith("_clause")])]
        clauses += [(each, each.children) for each in node.children if each.type.endswith("_clause")]
        for clause, children in clauses:
            split = next((i for i, each in enumerate(children) if each.type == "then"), 0)
            condition, body = children[:split], children[split:]
            self._in(rest, lambda condition=condition: self._all(condition))  # type: ignore[misc]
            branch = rest.copy()
            branches.append(self._in(branch, lambda body=body: self._all(body)))  # type: ignore[misc]
            complete = clause.type == "else_clause"
        self.scope.join([*branches, *([] if complete else [rest])])

    def _all(self, nodes: Sequence[Node]) -> None:
        for each in nodes:
            if each.is_named or each.type == "ERROR":
                self._walk(each)

    def _case(self, node: Node) -> None:
        branches = []
        complete = False
        for item in node.children:
            if item.type != "case_item":
                continue
            patterns = [self._tree.text(each) for each in item.children_by_field_name("value")]
            complete = complete or "*" in patterns
            values = {each.id for each in item.children_by_field_name("value")}
            body = [each for each in item.children if each.id not in values]
            branch = self.scope.copy()
            branches.append(self._in(branch, lambda body=body: self._all(body)))  # type: ignore[misc]
        self.scope.join([*branches, *([] if complete else [self.scope.copy()])])

    def _loop(self, node: Node) -> None:
        assigned = _ASSIGNED.findall(self._tree.text(node))
        variable = node.child_by_field_name("variable")
        for value in node.children_by_field_name("value"):
            self._values().words(value)  # what it runs
        before = self.scope.copy()
        self.scope.forget(assigned, new=False)
        if variable is not None:
            self.scope.set(self._tree.text(variable), Value(unknown(self._tree.start(variable))))
        left_out = {each.id for each in node.children_by_field_name("value")}
        self._all([each for each in node.children if each.id not in left_out and each != variable])
        self.scope.join([before, self.scope.copy()])

    def _redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        fed = [each for each in node.children if each.type == "heredoc_redirect"]
        text = None
        for each in fed:
            rest = [n for n in each.named_children if not n.type.startswith(("heredoc", "file_"))]
            piped = next((n for n in rest if n.type in ("pipeline", "list", "command")), None)
            text = self._document(each)
            if piped is not None:
                self._fed(piped, text if _is_cat(self._tree, body) else None)
        if body is not None:
            self._fed(body, text)

    def _fed(self, node: Node, text: Piece | None) -> None:
        """A command that reads some text from its standard input."""
        if text is None or node.type not in ("command", "pipeline"):
            self._walk(node)
            return
        command = node if node.type == "command" else node.named_children[0]
        if node.type == "pipeline":
            self._all(node.named_children[1:])
        words = self._words(command)
        start = started([each._replace(text=_known(each.text)) for each in words])
        if start.words and _runs_input(start.words):
            self._prefixed(command, lambda: self._inner(text, start.front, self.scope.child()))
        else:
            self._walk(command)

    def _document(self, redirect: Node) -> Piece | None:
        body = next((each for each in redirect.children if each.type == "heredoc_body"), None)
        begin = next((each for each in redirect.children if each.type == "heredoc_start"), None)
        if body is None or begin is None:
            return None
        if self._tree.text(begin)[:1] in "'\"\\":
            start, end = body.start_byte, body.end_byte
            return Piece(self._tree.slice(start, end), self._tree.places(start, end))
        return self._values().body(body, body.start_byte, body.end_byte)

    # Functions

    def _function(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is not None and body is not None:
            self._functions[self._tree.text(name)] = (self._tree, body)

    def _call(self, name: str, arguments: tuple[Word, ...] | None, scope: Scope) -> None:
        """Walk a function's body where it is called; what it sets lasts."""
        self._called.add(name)
        tree, body = self._functions[name]
        self._calls += 1
        if self._calls > _MOST_CALLS or self._depth > _DEEPEST // 2:
            scope.forget(_ASSIGNED.findall(tree.text(body)))
            return
        given = {each: scope.values.pop(each, None) for each in _POSITIONS}
        _give(scope, arguments)
        outer, self._tree = self._tree, tree
        self._in(scope, lambda: self._walk(body))
        self._tree = outer
        scope.ended = scope.ended and scope.folder == _EXITED
        scope.folder = None if scope.folder == _EXITED else scope.folder
        scope.values.update({each: value for each, value in given.items() if value is not None})

    # Assignments

    def _values(self) -> Values:
        return Values(self._tree, self.scope, self._substituted)

    def _substituted(self, node: Node) -> None:
        self._subshell(node)

    def _assignment(self, node: Node, *, exported: bool = False) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None or node.has_error:
            self.scope.forget(_ASSIGNED.findall(self._tree.text(node)))
            return
        name = self._tree.text(name_node)
        start, end = self._tree.start(node), self._tree.end(node)
        if name_node.type != "variable_name":
            self.scope.forget([name.partition("[")[0]])
            return
        value_node = node.child_by_field_name("value")
        value = self._value(value_node, end)
        if any(each.type == "+=" for each in node.children):
            value = _appended(self.scope.values.get(name), value, start)
        value = self.scope.set(name, value._replace(exported=exported, start=start))
        place = self._inside(value_node) if value_node is not None else (end, end)
        known = None if value.words is not None else value.text.known
        self._found.variable(Variable(start, end, name, known, *place, value.exported))

    def _value(self, node: Node | None, end: int) -> Value:
        if node is None:
            return Value(EMPTY)
        if node.type == "array":
            return Value(unknown(end), self._values().array(node))
        return Value(self._values().text(node))

    def _inside(self, node: Node) -> tuple[int, int]:
        """Where a value stands, without its quotes."""
        start, end = self._tree.start(node), self._tree.end(node)
        return (start + 1, end - 1) if node.type in ("string", "raw_string") else (start, end)

    def _declaration(self, node: Node) -> None:
        """``export A=b C``, ``declare -x A=b``, ``local A=b``."""
        keyword = self._tree.text(node.children[0])
        options = [self._tree.text(each) for each in node.named_children if each.type == "word"]
        exported = keyword == "export" or any(re.match(r"-\w*x", each) for each in options)
        if "-n" in options and keyword == "export":
            self.scope.forget(_ASSIGNED.findall(self._tree.text(node)))
            return
        for each in node.named_children:
            if each.type == "variable_assignment":
                self._assignment(each, exported=exported)
            elif each.type == "variable_name" and exported:
                self._export(self._tree.text(each))

    def _export(self, name: str) -> None:
        value = self.scope.values.get(name)
        if value is not None:
            self.scope.values[name] = value._replace(exported=True)
            self._found.export(value.start)

    def _unset(self, node: Node) -> None:
        for each in node.named_children:
            self.scope.values.pop(self._tree.text(each), None)

    # Commands

    def _command(self, node: Node) -> None:
        if node.has_error:
            self.scope.forget(_ASSIGNED.findall(self._tree.text(node)), new=False)
            return
        self._prefixed(node, lambda: self._run(node))

    def _prefixed(self, node: Node, walk: Callable[[], None]) -> None:
        """With the variables that are set in front of a command, for it alone."""
        given = [each for each in node.children if each.type == "variable_assignment"]
        if not given:
            walk()
            return
        outer = dict(self.scope.values)
        for each in given:
            self._assignment(each, exported=True)
        names = {self._tree.text(each).partition("=")[0].rstrip("+") for each in given}
        walk()
        for name in names:
            self.scope.values.pop(name, None)
            if name in outer:
                self.scope.values[name] = outer[name]

    def _words(self, node: Node) -> list[Word]:
        values = self._values()
        return [
            word
            for child in node.named_children
            if child.type not in _NO_WORDS and not child.type.endswith("_redirect")
            for word in values.words(child)
        ]

    def _run(self, node: Node) -> None:
        words = self._words(node)
        if not words:
            return
        place = self._tree.start(node), self._tree.end(node)
        self._start(place, tuple(words))

    def _start(self, place: tuple[int, int], words: tuple[Word, ...]) -> None:
        name = words[0].text or ""
        if name in self._functions:
            self._call(name, words[1:], self.scope)
            return
        if name in _BUILTINS:
            _BUILTINS[name](self, place, words)
            return
        known = tuple(each._replace(text=_known(each.text)) for each in words)
        start = started(known)
        scope = self._inherited(start.sets, start.unset, start.passes, fresh=start.fresh)
        inner = _script(start.words)
        if inner is not None:
            text = next((each for each in words if each[:2] == inner[:2]), inner)
            front = self._front + start.front
            self._inner_word(text, front, scope, remote=_name(start.words) in _REMOTE)
            return
        command = Command(
            *place,
            start.words,
            scope.environment(),
            self._front + start.front,
            scope.folder,
            scope.sourced,
        )
        self._found.command(command)

    def _inherited(
        self,
        sets: Sequence[Word],
        unset: Sequence[str],
        passes: Sequence[str],
        *,
        fresh: bool,
    ) -> Scope:
        """What a program sees, by what stands in front of it."""
        scope = self.scope.child()
        for name in unset:
            scope.values.pop(name, None)
        if fresh:
            scope.values = {name: each for name, each in scope.values.items() if name in passes}
            scope.sourced = ()
        for word in sets:
            name, _, value = (word.text or "").partition("=")
            start = word.end - len(value)
            place = (start, word.end) if start > word.start else (word.start, word.end)
            self._found.variable(Variable(word.start, word.end, name, value, *place))
            scope.values[name] = Value(Piece(value, (start,) * len(value)), exported=True)
        return scope

    def _inner_word(
        self, word: Word, front: tuple[Word, ...], scope: Scope, *, remote: bool
    ) -> None:
        text = word.text or ""
        if remote:
            scope.values, scope.sourced = {}, ()
        # Quotes and line continuations shift the text, so letters are looked up one by one.
        self._inner(Piece(text, self._letters(word)), front, scope)

    def _letters(self, word: Word) -> tuple[int, ...]:
        """Where the letters of a word stand: in order, as far as they are found there."""
        return tuple(range(word.start, word.start + len(word.text or "")))

    def _inner(self, text: Piece, front: tuple[Word, ...], scope: Scope) -> None:
        """Shell text within shell text."""
        if self._depth > _DEEPEST or not text.text:
            return
        tree = Tree(text.text, places=[*text.places, text.places[-1] + 1])
        depth = self._depth + 8
        Statements(tree, scope, self._found, self._front + front, depth).read()

    # Builtins

    def _cd(self, _place: tuple[int, int], words: tuple[Word, ...]) -> None:
        from posixpath import isabs, join, normpath

        given = [each.text for each in words[1:] if not (each.text or "").startswith("-")]
        target = _known(given[0]) if given else None
        if target is None or target.startswith("~"):
            self.scope.folder = None
        elif isabs(target) or self.scope.folder is not None:
            self.scope.folder = normpath(join(self.scope.folder or "", target))

    def _set_builtin(self, _place: tuple[int, int], words: tuple[Word, ...]) -> None:
        for index, word in enumerate(words[1:], 1):
            if word.text == "--":
                _give(self.scope, words[index + 1 :])
                return
            if re.fullmatch(r"[-+]\w*a\w*", word.text or ""):
                self.scope.exports_all = (word.text or "").startswith("-")

    def _source(self, _place: tuple[int, int], words: tuple[Word, ...]) -> None:
        name = words[1].text if len(words) > 1 else None
        if name is None or _OTHERS.search(name):
            return
        # $(dirname $0)/env.sh and $HERE/env.sh stand beside the script, most often.
        self.scope.sourced = (*self.scope.sourced, name.replace(HOLE, "."))

    def _eval(self, _place: tuple[int, int], words: tuple[Word, ...]) -> None:
        for word in words[1:2]:
            tree_text = word.text or ""
            places = [*self._letters(word), word.end]
            if tree_text and self._depth < _DEEPEST:
                tree = Tree(tree_text, places=places)
                inner = Statements(
                    tree, self.scope, self._found, self._front, self._depth + 8, self._functions
                )
                inner._walk(tree.root)  # noqa: SLF001 - of its own class

    def _forgets(self, _place: tuple[int, int], words: tuple[Word, ...]) -> None:
        self.scope.forget(each.text for each in words[1:] if re.fullmatch(r"\w+", each.text or ""))  # type: ignore[misc]

    def _shift(self, _place: tuple[int, int], _words: tuple[Word, ...]) -> None:
        for each in _POSITIONS:
            self.scope.values.pop(each, None)

    def _exit(self, _place: tuple[int, int], words: tuple[Word, ...]) -> None:
        self.scope.ended = True
        if words[0].text == "exit":
            self.scope.folder = _EXITED

    def _nothing(self, _place: tuple[int, int], _words: tuple[Word, ...]) -> None:
        pass


_EXITED = "\0"
_POSITIONS = ("@", "*", *map(str, range(1, 10)))
_NO_WORDS = frozenset({"variable_assignment", "comment", "file_redirect"})


def _known(text: str | None) -> str | None:
    return None if text is None or HOLE in text else text


def _give(scope: Scope, arguments: tuple[Word, ...] | None) -> None:
    """Set ``$1`` and ``$@``."""
    if arguments is None:
        return
    scope.values["@"] = scope.values["*"] = Value(unknown(0), capped(arguments))
    for number, word in enumerate(arguments[:9], 1):
        text = word.text if word.text is not None else HOLE
        scope.values[str(number)] = Value(Piece(text, (word.start,) * len(text)))


def _name(words: Sequence[Word]) -> str:
    return (words[0].text or "").rpartition("/")[2] if words else ""


def _script(words: Sequence[Word]) -> Word | None:
    """The word of a command that is shell text: ``bash -c '…'``, ``ssh host '…'``."""
    name = _name(words)
    if name in _SHELLS:
        for index, word in enumerate(words[1:], 1):
            if word.text is None or not word.text.startswith("-"):
                return None
            if _SCRIPT.match(word.text):
                return words[index + 1] if index + 1 < len(words) else None
    elif name in _REMOTE:
        place = 1
        while place < len(words) and (words[place].text or "").startswith("-"):
            place += 2 if words[place].text in _REMOTE_VALUES else 1
        place += name == "ssh"
        return words[place] if place < len(words) else None
    return None


def _runs_input(words: Sequence[Word]) -> bool:
    """Whether a command runs its standard input as a script."""
    if _name(words) == "ssh":
        return _script(words) is None or words[-1].text in _SHELLS
    plain = all((each.text or "").startswith("-") and each.text != "-c" for each in words[1:])
    return _name(words) in _SHELLS and plain


def _is_cat(tree: Tree, body: Node | None) -> bool:
    return body is not None and tree.text(body) == "cat"


def _appended(old: Value | None, value: Value, start: int) -> Value:
    """``A+=b`` and ``A+=(b)``."""
    if value.words is not None:
        before: tuple[Word, ...] = (Word(start, start, HOLE),)
        if old is not None and old.words is not None:
            before = old.words
        elif old is not None:
            before = (Word(old.start, old.start, old.text.text),) if old.text.text else ()
        return value._replace(words=capped((*before, *value.words)))
    if old is not None and old.words is not None:
        return Value(unknown(start), (Word(start, start, HOLE),))
    before_text = unknown(start) if old is None else old.text
    return value._replace(text=before_text.plus(value.text))


_HANDLERS: dict[str, Callable[[Statements, Node], None]] = {
    "subshell": Statements._subshell,
    "command": Statements._command,
    "pipeline": Statements._pipeline,
    "list": Statements._list,
    "if_statement": Statements._if,
    "case_statement": Statements._case,
    "for_statement": Statements._loop,
    "c_style_for_statement": Statements._loop,
    "while_statement": Statements._loop,
    "redirected_statement": Statements._redirected,
    "function_definition": Statements._function,
    "variable_assignment": Statements._assignment,
    "declaration_command": Statements._declaration,
    "unset_command": Statements._unset,
    "comment": lambda _self, _node: None,
    "heredoc_body": lambda _self, _node: None,
}
_BUILTINS: dict[str, Callable[[Statements, tuple[int, int], tuple[Word, ...]], None]] = {
    "cd": Statements._cd,
    "pushd": Statements._cd,
    "popd": lambda self, _place, _words: setattr(self.scope, "folder", None),
    "set": Statements._set_builtin,
    "source": Statements._source,
    ".": Statements._source,
    "eval": Statements._eval,
    "read": Statements._forgets,
    "mapfile": Statements._forgets,
    "readarray": Statements._forgets,
    "getopts": Statements._forgets,
    "shift": Statements._shift,
    "exit": Statements._exit,
    "return": Statements._exit,
    **dict.fromkeys(("echo", "printf", "true", "false", ":", "test", "[", "trap", "let", "alias"), Statements._nothing),
}
