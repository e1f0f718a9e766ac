"""DET401 uninitialized-tensor-read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.allocation_text import looks_unwritten
from detlint.analysis.allocations import TOKENS, ZEROED, is_allocation
from detlint.analysis.flow import Flow, State
from detlint.analysis.placeholders import is_placeholder
from detlint.analysis.tensors import TORCH
from detlint.analysis.uses import Event, Uses
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from detlint.finding import Edit
    from detlint.module import Module
    from detlint.settings import Settings

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


class UninitializedTensorRead(Rule):
    """``torch.empty`` and its kin return memory as an earlier owner left it. What a
    program computes from that differs between runs. Write every element first, or
    allocate with ``torch.zeros``, ``torch.ones`` or ``torch.full``.

    A tensor counts as read when, on each path that leads there, nothing has written
    to it. One that is handed to unknown code counts as written.

    Fix safety: zeros make the runs equal, but may not be the values that were meant."""

    code = "DET401"
    summary = "memory is read that nothing has written"
    triggers = TOKENS
    source = "https://docs.pytorch.org/docs/stable/generated/torch.empty.html"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch

                def total(batches):
                    losses = torch.empty(len(batches))  # DET401
                    for batch in batches:
                        losses += batch
                    return losses
            """,
            fixed="""
                import torch

                def total(batches):
                    losses = torch.zeros(len(batches))
                    for batch in batches:
                        losses += batch
                    return losses
            """,
        ),
        Example(
            bad="""
                import torch
                import torch.nn.functional as F

                def noise(x):
                    return F.relu(torch.empty_like(x))  # DET401
            """,
            good="""
                import torch
                import torch.nn.functional as F

                def noise(x):
                    return F.relu(torch.empty_like(x).normal_())
            """,
            fixed="""
                import torch
                import torch.nn.functional as F

                def noise(x):
                    return F.relu(torch.zeros_like(x))
            """,
        ),
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where the text around a call shows that its memory is written, or kept."""
        return looks_unwritten(text, offset)

    def __init__(self, module: Module, settings: Settings) -> None:
        super().__init__(module, settings)
        self._uses = Uses(module, TORCH)
        self._followed: set[cst.CSTNode] = set()

    def visit_Call(self, node: cst.Call) -> None:
        if not is_allocation(self.module, node):
            return
        use = self._uses.of(node)
        if self._uses.counts(use):
            if not is_placeholder(self.module, use.node):
                self._report(node, "")
        else:
            self._follow(node)

    def _follow(self, call: cst.Call) -> None:
        root: cst.CSTNode | None = self.module.enclosing_function(call)
        root = self.module.tree.module if root is None else root
        if root in self._followed or not isinstance(root, (cst.FunctionDef, cst.Module)):
            return
        self._followed.add(root)
        for allocation, name in Flow(self.module, self, root).reads.items():
            line, _ = self.module.source.location(self.module.tree.span(name)[0])
            self._report(allocation, f"{name.value} on line {line}")

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
        if isinstance(root, cst.Call) and is_allocation(self.module, root):
            return {target.value: frozenset((root,))}
        if isinstance(root, cst.Name) and root.value == target.value and root.value in state:
            return {root.value: state[root.value]}
        return {}

    def _resized(self, value: cst.CSTNode) -> State:
        if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Attribute):
            return {}
        tensor = value.func.value
        if isinstance(tensor, cst.Name) and is_allocation(self.module, value):
            return {tensor.value: frozenset((value,))}
        return {}

    def event(self, name: cst.Name) -> Event:
        """What happens at one use; a read without consequences is none."""
        use = self._uses.of(name)
        if use.event is Event.READ and not self._uses.counts(use):
            return Event.PROPERTY
        if use.event is Event.READ and is_placeholder(self.module, use.node):
            return Event.GONE
        return use.event

    def muted(self, block: cst.With) -> bool:
        """Whether a block only traces: under a meta device, in a fake mode, in a graph capture."""
        return any(_UNREAL_BLOCK.search(self._code(item.item)) for item in block.items)

    # Where values don't matter

    def _is_muted(self, node: cst.CSTNode) -> bool:
        for above in self.module.ancestors(node):
            if isinstance(above, cst.With) and self.muted(above):
                return True
            if isinstance(above, cst.FunctionDef) and self._is_unreal(above):
                return True
        return bool(_META_BY_DEFAULT.search(self.module.source.text))

    def _is_unreal(self, function: cst.FunctionDef) -> bool:
        decorators = [self._code(each.decorator) for each in function.decorators]
        return (
            bool(_UNREAL.search(function.name.value))
            or any(_UNREAL_DECORATOR.search(each) for each in decorators)
            or bool(_CAPTURES.search(self._code(function.body)))
        )

    def _code(self, node: cst.CSTNode) -> str:
        return self.module.tree.module.code_for_node(node)

    # Reporting

    def _report(self, call: cst.Call, read: str) -> None:
        name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        start, _ = self.module.tree.span(name)
        # What narrowing leaves out is left out of whole files, too.
        if self._is_muted(call) or not self.concerns(self.module.source.text, start):
            return
        function = self._code(call.func)
        where = f" as {read}," if read else ""
        fix = self._zeros(call)
        advice = "write every element first" + (f", or use {fix[0]}" if fix else "")
        self.report(
            call,
            f"{function}() is read{where} before anything is written to it",
            advice=advice,
            edits=fix[1] if fix else (),
            safe=False,
        )

    def _zeros(self, call: cst.Call) -> tuple[str, tuple[Edit, ...]] | None:
        """The zeroed counterpart of a call and the edit that takes it, where there is one."""
        function = call.func
        if not isinstance(function, cst.Attribute) or function.attr.value not in ZEROED:
            return None
        # torch.zeros has no such parameter; zeros_like and new_zeros are not asked for it.
        if function.attr.value != "empty_like" and self.module.argument(call, "memory_format"):
            return None
        zeroed = ZEROED[function.attr.value]
        return f"{zeroed}()", (self.module.replace(function.attr, zeroed),)
