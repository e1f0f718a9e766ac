"""DET402 uninitialized-parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.allocations import is_allocation
from detlint.parameters import Declared, Fillers, declared, family
from detlint.rule import Example, Rule, cst
from detlint.tensors import TORCH
from detlint.uses import Uses, loads

if TYPE_CHECKING:
    from collections.abc import Iterator

# ``Parameter(torch.empty(``, ``register_buffer("x", torch.FloatTensor(``, ``Parameter(weight)``.
_PLACE = re.compile(
    r"(?:Parameter|Buffer)\(\s*(?:data\s*=\s*)?(?:[\w.]*(?:empty|Tensor)\w*\(|\w+\s*[,)])"
    r"|register_(?:parameter|buffer)\(\s*[^,()]*,[\s\w.(=]*?(?:empty|Tensor)\w*\("
)
# Elsewhere in the file, something goes over parameters and fills them.
_LOOP = re.compile(r"for\b[^\n]*\bin\b[^\n]*(?:parameters|buffers)\(")
_APPLIED = re.compile(r"\b[a-z_]\w*(?:\(\))?\.apply\(")
_FILLING = re.compile(r"init|fill|copy|load|zero|normal|uniform|const|\w_\(|\.data\b|setattr|getattr")
_NEARBY = 400


class UninitializedParameter(Rule):
    """A parameter made of ``torch.empty`` starts as the memory's earlier owner left it, and
    training goes on from there: each run starts from other weights. Often
    ``reset_parameters`` fills the others and forgets one. Fill it where the class
    is built, with ``torch.nn.init`` or from a known tensor.

    Judged for each parameter, where the class and its bases up to ``torch.nn.Module``
    are in this file and nothing in the file can fill it or load it."""

    code = "DET402"
    summary = "a parameter that nothing fills"
    triggers = ("Parameter(", "Buffer(", "register_parameter(", "register_buffer(")
    scope = "class"
    # Values from a checkpoint, or an initialiser that other code applies to each module.
    silencers = (
        "_init_weights",
        "init_weights",
        "post_init",
        "from_pretrained",
        "load_state_dict",
        "load_weights",
        "weight_loader",
        "inference_mode",
    )
    source = "https://docs.pytorch.org/docs/stable/nn.init.html"
    examples = (
        Example(
            bad="""
                import torch
                from torch import nn

                class Scale(nn.Module):
                    def __init__(self, size):
                        super().__init__()
                        self.weight = nn.Parameter(torch.empty(size))
                        self.bias = nn.Parameter(torch.empty(size))  # DET402
                        nn.init.ones_(self.weight)

                    def forward(self, x):
                        return x * self.weight + self.bias
            """,
            good="""
                import torch
                from torch import nn

                class Scale(nn.Module):
                    def __init__(self, size):
                        super().__init__()
                        self.weight = nn.Parameter(torch.empty(size))
                        self.bias = nn.Parameter(torch.empty(size))
                        nn.init.ones_(self.weight)
                        nn.init.zeros_(self.bias)

                    def forward(self, x):
                        return x * self.weight + self.bias
            """,
        ),
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Only where something unfilled, or a local, is made a parameter."""
        return _PLACE.match(text, offset, offset + _NEARBY) is not None

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        made = [(each, self._allocation(each)) for each in declared(self.module, node)]
        unfilled = [(each, call) for each, call in made if call is not None]
        classes = family(self.module, node) if unfilled else []
        if not classes:
            return
        fillers = Fillers(self.module, classes)
        outside = "\n".join(self._outside(classes))
        if fillers.reach_every_parameter() or _goes_over_all(outside):
            return
        for parameter, call in unfilled:
            if not fillers.fill(parameter) and not _may_fill(outside, parameter.name):
                if isinstance(parameter.statement, cst.Call) and not fillers.read(parameter):
                    continue  # a buffer, asked for its device or not used at all
                self._report(parameter, call)

    def _allocation(self, parameter: Declared) -> cst.Call | None:
        """The call that makes the parameter's memory, if that leaves it unfilled."""
        value = Uses(self.module, TORCH).root(parameter.value)
        if isinstance(value, cst.Name):
            function = self.module.enclosing_function(value)
            if function is None:
                return None
            used = [each for each in loads(self.module, function) if each.value == value.value]
            if len(used) != 2:  # bound, and made a parameter
                return None
            value = Uses(self.module, TORCH).root(self.module.names.value_of(value))
        if isinstance(value, cst.Call) and is_allocation(self.module, value, least=1):
            return value
        return None

    def _outside(self, classes: list[cst.ClassDef]) -> Iterator[str]:
        """The file's text without the classes."""
        text, end = self.module.source.text, 0
        for start, stop in sorted(self.module.tree.span(each) for each in classes):
            yield text[end:start]
            end = max(end, stop)
        yield text[end:]

    def _report(self, parameter: Declared, call: cst.Call) -> None:
        function = self.module.tree.module.code_for_node(call.func)
        self.report(
            call,
            f"self.{parameter.name} is made by {function}() and nothing fills it",
            advice="fill it where the class is built, for example with torch.nn.init",
        )


def _goes_over_all(outside: str) -> bool:
    if _APPLIED.search(outside):
        return True
    return any(
        _FILLING.search(outside, each.end(), each.end() + _NEARBY)
        for each in _LOOP.finditer(outside)
    )


def _may_fill(outside: str, name: str) -> bool:
    """Whether other code of the file stores to an attribute of the name, or passes it to a filler."""
    for mention in re.finditer(rf"(?:\.|[\"']){re.escape(name)}\b", outside):
        start = outside.rfind("\n", 0, mention.start()) + 1
        end = outside.find("\n", mention.end())
        line = outside[start : len(outside) if end < 0 else end]
        above = outside[max(start - 80, 0) : start]
        stored = re.match(r"(?:\.\w+)*(?:\[.*?\])?\s*[-+*/]?=(?!=)", outside[mention.end() :][:200])
        if stored or _FILLING.search(line) or _FILLING.search(above):
            return True
    return False
