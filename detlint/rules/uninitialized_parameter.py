"""DET402 uninitialized-parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.dataflow.parameters import ModuleClass
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.parameters import Parameter

# ``Parameter(torch.empty(``, ``register_buffer("x", torch.FloatTensor(``, ``Parameter(weight)``.
_PLACE = re.compile(
    r"(?:Parameter|Buffer)\(\s*(?:data\s*=\s*)?"
    r"(?:[\w.]*(?:empty|Tensor)\w*\(|\w+\s*[,)])"
    r"|register_(?:parameter|buffer)\(\s*[^,()]*,[\s\w.(=]*?(?:empty|Tensor)\w*\("
)
# Elsewhere in the file, something goes over parameters and fills them.
_LOOP = re.compile(r"for\b[^\n]*\bin\b[^\n]*?\b(\w+)\.(?:named_)?(?:parameters|buffers)\(")
_APPLIED = re.compile(r"\b([a-z_]\w*)(?:\(\))?\.apply\(")
_FILLING = re.compile(
    r"init|fill|copy|load|zero|normal|uniform|const|\w_\(|\.data\b|setattr|getattr"
)
_TRAINED = re.compile(r"\.backward\(|\boptim\.\w+\(")
_STORED = re.compile(r"(?:\.\w+)*(?:\[[^\n]*?\])?[ \t]*[-+*/]?=(?!=)")
_EXPORTS = re.compile(r"^__all__\b[^=]*=[ \t]*[\[(][^\])]*", re.MULTILINE)
_OWN = re.compile(r"\bself[\w.\[\]]*$")
_NEARBY = 400
_ABOVE = 80  # characters: the line above, where a call may begin


class UninitializedParameter(Rule):
    """Why runs differ: A parameter made of `torch.empty` starts as the memory's earlier owner left
    it, and training goes on from there. Each run starts from other weights. Often
    `reset_parameters` fills the other parameters, and forgets one.

    Reported:
    - a parameter that nothing in the file fills, of a class whose bases up to `torch.nn.Module` are
      there
    - this only if the class fills its other parameters, or is trained in the same file
    - in any case one made by `torch.Tensor(n)` or `torch.FloatTensor(n)`, the older way

    Not reported:
    - a class that fills none of its parameters: it may wait for a checkpoint, or for whoever builds
      it
    - a file that loads a checkpoint, or that initialises modules from outside, as `_init_weights`
      does

    What to do: Fill it where the class is built: `torch.nn.init.zeros_(self.bias)`, or
    `nn.Parameter(torch.zeros(size))`.
    """

    code = "DET402"
    summary = "a parameter that nothing fills"
    triggers = ("Parameter(", "Buffer(", "register_parameter(", "register_buffer(")
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
        "ModelMixin",
        "PreTrainedModel",
    )
    source = "https://docs.pytorch.org/docs/stable/generated/torch.empty.html"
    shown = "CPU"
    confidence = Confidence.LIKELY
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

    def examine(self, offsets: Sequence[int]) -> None:
        functions = self.unit.functions_at(offsets)
        for name in dict.fromkeys(each.class_name for each in functions):
            if name in self.unit.classes:
                self._judge(ModuleClass(self.unit, name))

    def _judge(self, owner: ModuleClass) -> None:
        unfilled = list(owner.unfilled())
        if not unfilled or owner.reaches_every_parameter():
            return
        if not (owner.initialises() or _TRAINED.search(self.unit.text)):
            unfilled = [each for each in unfilled if owner.is_legacy(each)]
        elsewhere = _Elsewhere("\n".join(self._outside(owner)), owner.name)
        if elsewhere.goes_over_all():
            return
        for parameter in unfilled:
            # A buffer may be there for its device, or not be used at all.
            used = parameter.by.code == "store_attr" or owner.reads(parameter)
            if used and not elsewhere.may_fill(parameter.name):
                self._tell(parameter)

    def _outside(self, owner: ModuleClass) -> Iterator[str]:
        """The file's text without the class and its bases."""
        for piece in self.unit.pieces:
            if piece.owner not in owner.family:
                yield self.unit.text[piece.start : piece.end]

    def _tell(self, parameter: Parameter) -> None:
        made = self.unit.text_of(parameter.call.func)
        self.report(
            parameter.call,
            f"self.{parameter.name} is made by {made}() and nothing fills it",
            advice="fill it where the class is built, for example with torch.nn.init",
        )


class _Elsewhere:
    """The rest of the file around a class: who may fill the class's parameters."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text = _EXPORTS.sub("", text)
        # If nothing here names the class, nobody here builds it or inherits from it, and
        # what other classes do to what they own doesn't reach it.
        self._named = re.search(rf"\b{name}\b", text) is not None
        derived = rf"^[ \t]*class\b[^:]*\b{name}\b|=[ \t]*{name}[ \t]*$"
        self._inherited = self._named and re.search(derived, text, re.MULTILINE) is not None

    def goes_over_all(self) -> bool:
        """Whether code goes over the parameters of a model that may hold the class."""
        loops = (
            loop
            for loop in _LOOP.finditer(self._text)
            if _FILLING.search(self._text, loop.end(), loop.end() + _NEARBY)
        )
        applied = _APPLIED.finditer(self._text)
        return any(self._named or found[1] != "self" for found in (*loops, *applied))

    def may_fill(self, name: str) -> bool:
        """Whether code stores to an attribute of the name, or passes it to what may fill it."""
        return any(
            self._is_filling(mention)
            for mention in re.finditer(rf"(?:\.|[\"']){re.escape(name)}\b", self._text)
            if not self._is_anothers(mention)
        )

    def _is_anothers(self, mention: re.Match[str]) -> bool:
        """Whether it is an attribute of another class, or of what that one holds."""
        owner = _OWN.search(self._text, max(mention.start() - _ABOVE, 0), mention.start())
        if owner is None:
            return False
        return not (self._inherited if owner[0] == "self" else self._named)

    def _is_filling(self, mention: re.Match[str]) -> bool:
        start = self._text.rfind("\n", 0, mention.start()) + 1
        end = self._text.find("\n", mention.end())
        line = self._text[max(start - _ABOVE, 0) : len(self._text) if end < 0 else end]
        return bool(_STORED.match(self._text, mention.end()) or _FILLING.search(line))
