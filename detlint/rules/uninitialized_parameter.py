"""DET402 uninitialized-parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.memory.parameters import Elsewhere, ModuleClass
from detlint.rule import Confidence, Example, Rule
from detlint.syntax.layout import says_in_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.memory.parameters import Parameter
    from detlint.finding import Finding

# ``Parameter(torch.empty(``, ``register_buffer("x", torch.FloatTensor(``, ``Parameter(weight)``.
# What says that the file trains it.
_TRAINED = (".backward(", "optim.")


class UninitializedParameter(Rule):
    """Why runs differ: A parameter made of `torch.empty` starts as the memory's earlier owner left
    it, and training goes on from there. Each run starts from other weights. Often
    `reset_parameters` fills the other parameters, and forgets one.

    Reported:
    - a parameter that nothing in the file fills, of a class whose bases up to `torch.nn.Module` are
      there
    - this only if the class fills its other parameters, or is trained in the same file
    - in any case one made by `torch.Tensor(n)` or `torch.FloatTensor(n)`, the older way

    Lowers the confidence:
    - another file goes over `model.parameters()` and fills them, or fills this one
      (`model.centres.data = found`)

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
        *("_init_weights", "init_weights", "post_init", "from_pretrained", "load_state_dict"),
        *("load_weights", "weight_loader", "inference_mode", "ModelMixin", "PreTrainedModel"),
    )
    source = "https://docs.pytorch.org/docs/stable/generated/torch.empty.html"
    shown = "CPU"
    crosses_files = True
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

    def examine(self, offsets: Sequence[int]) -> None:
        functions = self.unit.functions_at(offsets)
        elsewhere = Elsewhere(self.unit)
        for name in dict.fromkeys(each.class_name for each in functions):
            if name in self.unit.classes:
                self._judge(ModuleClass(self.unit, name), elsewhere)

    def _judge(self, owner: ModuleClass, elsewhere: Elsewhere) -> None:
        unfilled = list(owner.unfilled())
        if not unfilled or owner.reaches_every_parameter():
            return
        if not (owner.initialises() or says_in_code(self.unit.text, _TRAINED)):
            unfilled = [each for each in unfilled if owner.is_legacy(each)]
        if elsewhere.goes_over_all(owner):
            return
        for parameter in unfilled:
            # A buffer may be there for its device, or not be used at all.
            used = parameter.by.code == "store_attr" or owner.reads(parameter)
            if used and not elsewhere.may_fill(owner, parameter.name):
                self._tell(parameter)

    def _tell(self, parameter: Parameter) -> None:
        made, others = self.unit.text_of(parameter.memory.call_node.func), self.others
        filled = others is not None and others.fill_parameters(self.unit, parameter.name)
        self.report(
            parameter.memory.call_node,
            f"self.{parameter.name} is made by {made}() and nothing fills it",
            advice="fill it where the class is built, for example with torch.nn.init",
            confidence=Confidence.POSSIBLE if filled else self.confidence,
        )

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:
        return finding.confidence > Confidence.POSSIBLE
