"""Reads of memory that nothing has written, in the words of one library of arrays."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.flow import Flow, State
from detlint.analysis.uses import Event, Uses
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from detlint.analysis.uses import Vocabulary
    from detlint.finding import Edit
    from detlint.module import Module

# Code under these only traces, compiles or times: values don't matter there.
_UNREAL = re.compile(
    r"(?:^|_)(?:meta|fake|abstract|warm_?up|bench(?:mark)?|profile|dry_?run)(?:_|$)", re.IGNORECASE
)
_UNREAL_DECORATOR = re.compile(r"fake|abstract|meta\b", re.IGNORECASE)
_UNREAL_BLOCK = re.compile(
    r"[\"']meta[\"']|fake|meta_|init_empty|no_init|cuda\.graph\(|CUDAGraph|cuda\.stream\(|profile",
    re.IGNORECASE,
)
_CAPTURES = re.compile(r"CUDAGraph|cuda\.graph\b|make_graphed_callables|FakeTensorMode")
_META_BY_DEFAULT = re.compile(r"set_default_device\(\s*[\"']meta")


class Library(NamedTuple):
    """A library of arrays.

    vocabulary     what its functions and methods do with values
    is_allocation  whether a call returns unwritten memory
    is_harmless    whether a read, by the expression that does it, has no consequence
    zeroed         functions that take the same arguments and fill, by those that don't
    """

    vocabulary: Vocabulary
    is_allocation: Callable[[Module, cst.Call], bool]
    is_harmless: Callable[[Module, cst.CSTNode], bool]
    zeroed: Mapping[str, str]


class UnwrittenReads:
    """The reads in one module. What follows control flow asks it about a library."""

    def __init__(self, module: Module, library: Library) -> None:
        self._module = module
        self._library = library
        self._uses = Uses(module, library.vocabulary)
        self._followed: set[cst.CSTNode] = set()

    def found(self, call: cst.Call) -> Iterator[tuple[cst.Call, cst.Name | None]]:
        """The allocations that are read, with the name they are read by.

        At the call itself; and, at the first call of a function, those that it binds to names.
        """
        if not self._is_allocation(call):
            return
        use = self._uses.of(call)
        if not self._uses.counts(use):
            yield from self._follow(call)
        elif not self._library.is_harmless(self._module, use.node):
            yield call, None

    def _follow(self, call: cst.Call) -> Iterator[tuple[cst.Call, cst.Name | None]]:
        root: cst.CSTNode | None = self._module.enclosing_function(call)
        root = self._module.tree.module if root is None else root
        if root not in self._followed and isinstance(root, (cst.FunctionDef, cst.Module)):
            self._followed.add(root)
            yield from Flow(self._module, self, root).reads.items()

    def _is_allocation(self, call: cst.Call) -> bool:
        return self._library.is_allocation(self._module, call)

    # What the analysis of control flow asks

    def allocated(self, statement: cst.CSTNode, state: State) -> State:
        """Names that a statement binds to unwritten memory, or to a view of what they held."""
        if isinstance(statement, cst.Expr):
            return self._resized(statement.value)
        if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
            return self._bound(statement.targets[0].target, statement.value, state)
        if isinstance(statement, cst.AnnAssign) and statement.value is not None:
            return self._bound(statement.target, statement.value, state)
        return {}

    def _bound(self, target: cst.CSTNode, value: cst.CSTNode, state: State) -> State:
        if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
            pairs = zip(target.elements, value.elements, strict=False)
            bound = [self._bound(left.value, right.value, {}) for left, right in pairs]
            return {name: calls for each in bound for name, calls in each.items()}
        root = self._uses.root(value)
        if not isinstance(target, cst.Name):
            return {}
        if isinstance(root, cst.Call) and self._is_allocation(root):
            return {target.value: frozenset((root,))}
        if isinstance(root, cst.Name) and root.value == target.value and root.value in state:
            return {root.value: state[root.value]}
        return {}

    def _resized(self, value: cst.CSTNode) -> State:
        if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Attribute):
            return {}
        array = value.func.value
        if isinstance(array, cst.Name) and self._is_allocation(value):
            return {array.value: frozenset((value,))}
        return {}

    def event(self, name: cst.Name) -> Event:
        """What happens at one use; a read without consequences is none."""
        use = self._uses.of(name)
        if use.event is Event.READ and not self._uses.counts(use):
            return Event.PROPERTY
        if use.event is Event.READ and self._library.is_harmless(self._module, use.node):
            return Event.GONE
        return use.event

    def muted(self, block: cst.With) -> bool:
        """Whether a block only traces: under a meta device, in a fake mode, in a graph capture."""
        return any(_UNREAL_BLOCK.search(self._code(item.item)) for item in block.items)

    # Where values don't matter

    def is_muted(self, node: cst.CSTNode) -> bool:
        """Whether code around a node only traces, compiles or times."""
        for above in self._module.ancestors(node):
            if isinstance(above, cst.With) and self.muted(above):
                return True
            if isinstance(above, cst.FunctionDef) and self._is_unreal(above):
                return True
        return self._is_meta_by_default

    @cached_property
    def _is_meta_by_default(self) -> bool:
        return _META_BY_DEFAULT.search(self._module.source.text) is not None

    def _is_unreal(self, function: cst.FunctionDef) -> bool:
        decorators = [self._code(each.decorator) for each in function.decorators]
        return (
            bool(_UNREAL.search(function.name.value))
            or any(_UNREAL_DECORATOR.search(each) for each in decorators)
            or bool(_CAPTURES.search(self._code(function.body)))
        )

    # What to say

    def claim(self, call: cst.Call, name: cst.Name | None) -> str:
        """What is wrong with an allocation that is read by a name, or where it is made."""
        if name is None:
            return f"{self._code(call.func)}() is read before anything is written to it"
        line = self._module.source.spoken_place(self._module.tree.span(name)[0])
        read = f"{name.value} on {line}"
        return f"{self._code(call.func)}() is read as {read}, before anything is written to it"

    def advice(self, call: cst.Call) -> str:
        """What to do about it."""
        zeroed = self._zeroed(call)
        return "write every element first" + (f", or use {zeroed}()" if zeroed else "")

    def fix(self, call: cst.Call) -> tuple[Edit, ...]:
        """The edit that takes the zeroed counterpart, where there is one."""
        zeroed = self._zeroed(call)
        if not zeroed or not isinstance(call.func, cst.Attribute):
            return ()
        return (self._module.replace(call.func.attr, zeroed),)

    def _zeroed(self, call: cst.Call) -> str:
        function = call.func
        if not isinstance(function, cst.Attribute):
            return ""
        # torch.zeros has no such parameter; zeros_like and new_zeros are not asked for it.
        if function.attr.value != "empty_like" and self._module.argument(call, "memory_format"):
            return ""
        return self._library.zeroed.get(function.attr.value, "")

    def _code(self, node: cst.CSTNode) -> str:
        return self._module.tree.text(node)
