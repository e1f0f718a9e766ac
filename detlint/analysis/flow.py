"""Which arrays are read before anything has written to them, followed through control flow.

A state says which names certainly hold memory that nothing has written yet, and
from which allocations. Where paths join, a name stays only if it is unwritten on
each of them; whatever may write to it, or keep another reference, removes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from detlint.analysis.uses import Event, loads
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.module import Module

# Names that hold unwritten memory → the calls that may have allocated it. None: unreachable.
State = dict[str, frozenset["cst.Call"]]


class Library(Protocol):
    """What the analysis has to know about the arrays that it follows."""

    def allocated(self, statement: cst.CSTNode, state: State) -> State:
        """The names that a statement binds to unwritten memory."""

    def event(self, name: cst.Name) -> Event:
        """What happens to an array at one use of a name."""

    def muted(self, block: cst.With) -> bool:
        """Whether nothing is really computed inside, as under ``torch.device("meta")``."""


class _Loop(NamedTuple):
    """A loop around the statement at hand.

    disturbed  what its body may write, of what was unwritten before it: a later
               round may find it written, so a conditional read of it is not certain
    """

    disturbed: State
    breaks: list[State]
    continues: list[State]


class Flow:
    """Follows one function, or a module's top level.

    reads   for each allocation, the first name by which it is read unwritten
    """

    def __init__(
        self, module: Module, library: Library, root: cst.FunctionDef | cst.Module
    ) -> None:
        self.reads: dict[cst.Call, cst.Name] = {}
        self._module = module
        self._library = library
        self._global = isinstance(root, cst.Module)
        self._shared = set(shared_names(module, root))
        self._loops: list[_Loop] = []
        self._handlers: dict[str, Callable[..., State | None]] = {
            "SimpleStatementLine": self._line,
            "If": self._if,
            "While": self._while,
            "For": self._for,
            "Try": self._try,
            "TryStar": self._try,
            "With": self._with,
            "Match": self._match,
        }
        body = root.body if isinstance(root, cst.Module) else root.body.body
        self._suite(body, {})

    def _suite(self, statements: Iterable[cst.CSTNode], state: State | None) -> State | None:
        for statement in statements:
            if state is None:
                break
            handler = self._handlers.get(type(statement).__name__, self._definition)
            state = handler(statement, state)
        return state

    def _block(self, suite: cst.BaseSuite, state: State) -> State | None:
        if isinstance(suite, cst.SimpleStatementSuite):
            return self._line(suite, state)
        return self._suite(suite.body, dict(state))

    # Simple statements and expressions

    def _line(
        self, line: cst.SimpleStatementLine | cst.SimpleStatementSuite, state: State
    ) -> State | None:
        for statement in line.body:
            fresh = self._library.allocated(statement, state)
            for part in _in_order(statement):
                state = self._evaluate(part, state)
            kept = {name: calls for name, calls in fresh.items() if name not in self._shared}
            state = {**state, **kept}
            if isinstance(statement, (cst.Return, cst.Raise)):
                return None
            if isinstance(statement, (cst.Break, cst.Continue)) and self._loops:
                loop = self._loops[-1]
                paths = loop.breaks if isinstance(statement, cst.Break) else loop.continues
                paths.append(state)
                return None
        return state

    def _evaluate(self, node: cst.CSTNode | None, state: State) -> State:
        """The state after an expression or a simple statement; records the reads in it."""
        if node is None or not state:
            return state
        state = dict(state)
        for name in loads(self._module, node):
            if name.value not in state:
                continue
            event = self._library.event(name)
            if event is Event.PROPERTY:
                continue
            calls = state.pop(name.value)
            certain = calls if not self._is_conditional(name, node) else self._undisturbed(calls)
            if event is Event.READ:
                for call in certain:
                    self.reads.setdefault(call, name)
        return {} if self._global and self._calls_own_code(node) else state

    def _calls_own_code(self, node: cst.CSTNode) -> bool:
        """Whether a call may run this file's functions, which may write any global."""
        return any(
            isinstance(each, cst.Call) and self._module.called(each) is None
            for each in self._module.tree.descendants(node)
        )

    def _is_conditional(self, name: cst.Name, statement: cst.CSTNode) -> bool:
        kinds = (cst.IfExp, cst.BooleanOperation, cst.BaseComp)
        for above in self._module.ancestors(name):
            if isinstance(above, kinds):
                return True
            if above is statement:
                break
        return False

    # Branches

    def _if(self, node: cst.If, state: State) -> State | None:
        state = self._branches(self._evaluate(node.test, state))
        asked = {each.value for each in loads(self._module, node.test)}
        # ``if x.numel() == 0: x.sum()`` reads nothing.
        inside = {name: calls for name, calls in state.items() if name not in asked}
        then = self._block(node.body, inside)
        if node.orelse is None:
            return _join([then, state if then is None else inside])
        if isinstance(node.orelse, cst.If):
            return _join([then, self._if(node.orelse, inside)])
        return _join([then, self._block(node.orelse.body, inside)])

    def _match(self, node: cst.Match, state: State) -> State | None:
        state = self._branches(self._evaluate(node.subject, state))
        paths: list[State | None] = [state]
        for case in node.cases:
            entry = self._evaluate(case.guard, self._evaluate(case.pattern, state))
            paths.append(self._block(case.body, entry))
        return _join(paths)

    def _branches(self, state: State) -> State:
        """The state inside a conditional statement: what later rounds may find written is gone."""
        kept = {name: self._undisturbed(calls) for name, calls in state.items()}
        return {name: calls for name, calls in kept.items() if calls == state[name]}

    def _undisturbed(self, calls: frozenset[cst.Call]) -> frozenset[cst.Call]:
        for loop in self._loops:
            calls = calls.difference(*loop.disturbed.values())
        return calls

    # Loops: the first round runs with what is before the loop

    def _while(self, node: cst.While, state: State) -> State | None:
        state = self._branches(self._evaluate(node.test, state))
        endless = self._module.literal(node.test) in (True, 1)
        return self._loop(node, state, None if endless else state)

    def _for(self, node: cst.For, state: State) -> State | None:
        state = self._branches(self._evaluate(node.target, self._evaluate(node.iter, state)))
        return self._loop(node, state, state)

    def _loop(self, node: cst.For | cst.While, state: State, skipped: State | None) -> State | None:
        loop = _Loop(self._disturbed(state, node), [], [])
        self._loops.append(loop)
        end = self._block(node.body, state)
        self._loops.pop()
        after = None if skipped is None else _join([skipped, end, *loop.continues])
        if node.orelse is not None and after is not None:
            after = self._block(node.orelse.body, after)
        return _join([after, *loop.breaks])

    def _disturbed(self, state: State, *nodes: cst.CSTNode | None) -> State:
        """What the code below some nodes may write, of what is unwritten now."""
        return {
            name.value: state[name.value]
            for node in nodes
            if node is not None
            for name in loads(self._module, node)
            if name.value in state and self._library.event(name) is Event.GONE
        }

    # Exceptions

    def _try(self, node: cst.Try | cst.TryStar, state: State) -> State | None:
        state = self._branches(state)
        failed = _without(state, self._disturbed(state, node.body))
        end = self._block(node.body, state)
        if node.orelse is not None and end is not None:
            end = self._block(node.orelse.body, end)
        handled = [
            self._block(handler.body, self._evaluate(handler.type, failed))
            for handler in node.handlers
        ]
        after = _join([end, *handled])
        if node.finalbody is None:
            return after
        anyhow = _without(state, self._disturbed(state, node.body, node.orelse, *node.handlers))
        final = self._block(node.finalbody.body, anyhow)
        return None if after is None or final is None else _join([after, final])

    def _with(self, node: cst.With, state: State) -> State | None:
        for item in node.items:
            state = self._evaluate(item, state)
        if self._library.muted(node):
            return {}
        end = self._block(node.body, state)
        if any(_swallows(item.item) for item in node.items):
            return _join([end, _without(state, self._disturbed(state, node.body))])
        return end

    # Definitions

    def _definition(self, node: cst.CSTNode, state: State) -> State:
        """A function runs at an unknown time: its names are not followed. A class runs here."""
        if isinstance(node, cst.ClassDef):
            return {}
        if isinstance(node, cst.FunctionDef):
            for outside in (*node.decorators, node.params, node.name):
                state = self._evaluate(outside, state)
        return state


def _in_order(statement: cst.CSTNode) -> tuple[cst.CSTNode | None, ...]:
    """The parts of a statement as they run: ``x[i] = x[i - 1]`` reads before it writes."""
    if isinstance(statement, cst.Assign):
        return (statement.value, *statement.targets)
    if isinstance(statement, cst.AnnAssign):
        return (statement.value, statement.target)
    return (statement,)


def _join(paths: Sequence[State | None]) -> State | None:
    """What is unwritten on every path that gets here."""
    states = [path for path in paths if path is not None]
    if not states:
        return None
    names = set(states[0]).intersection(*states[1:])
    return {name: frozenset().union(*(state[name] for state in states)) for name in names}


def _without(state: State, gone: State) -> State:
    return {name: calls for name, calls in state.items() if name not in gone}


def _swallows(context: cst.BaseExpression) -> bool:
    """Whether a context manager lets the code after it run when its body fails."""
    function = context.func if isinstance(context, cst.Call) else context
    name = function.attr if isinstance(function, cst.Attribute) else function
    words = name.value.lower() if isinstance(name, cst.Name) else ""
    return "suppress" in words or "raises" in words


def shared_names(module: Module, root: cst.FunctionDef | cst.Module) -> Iterator[str]:
    """Names that other code may write, too: a nested function, or whoever shares a global."""
    nodes: Iterable[cst.CSTNode] = module.tree.descendants(root)
    closures: tuple[type[cst.CSTNode], ...] = (cst.FunctionDef, cst.Lambda, cst.ClassDef)
    if isinstance(root, cst.Module):  # what functions hold depends on how far the file was cut
        closures = (cst.Lambda,)
        nodes = (each for each in nodes if module.enclosing_function(each) is None)
    for node in nodes:
        # isinstance asks an abstract base class
        if type(node) is cst.NameItem:
            yield from (each.value for each in loads(module, node))
        elif type(node) is cst.CompFor:
            yield from (each.value for each in loads(module, node.target))
        elif type(node) in closures and node is not root:
            yield from (each.value for each in loads(module, node))
