"""DET501 no-deterministic-implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import gradients, tensor_facts
from detlint.analysis.operator_text import is_doubtful, leads
from detlint.rule import Example, Rule, cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.analysis.operators import Match
    from detlint.operations import Argument


class NoDeterministicImplementation(Rule):
    """Some operators of PyTorch add up with atomics on a GPU, or leave open which of several
    values is written, and have no other kernel: `torch.use_deterministic_algorithms(True)`
    refuses them with an error, and without it each run rounds differently. For many it is the
    backward alone. PyTorch's own list lags behind its releases; what counts here is what the
    release named by `target-torch` does.

    The advice names what to use instead. The error of `guard` shows it as code to paste.

    Silent on arguments for which the operator is deterministic (`AdaptiveAvgPool2d(1)` is a mean,
    bilinear and nearest interpolation are composed of other operators), on arguments that cannot
    be seen, and, where only the backward is concerned, on integers, on detached inputs and on
    code that visibly runs without gradients.
    """

    code = "DET501"
    summary = "an operator has no deterministic implementation"
    triggers = (
        "AdaptiveAvgPool",
        "adaptive_avg_pool",
        "AdaptiveMaxPool",
        "adaptive_max_pool",
        "AvgPool3d",
        "avg_pool3d",
        "LPPool3d",
        "lp_pool3d",
        "FractionalMaxPool",
        "fractional_max_pool",
        "MaxPool3d",
        "max_pool3d",
        "MaxUnpool",
        "max_unpool",
        "interpolate",
        "Upsample",
        "upsample(",
        "pad(",
        "ReflectionPad",
        "grid_sample",
        "CTCLoss",
        "ctc_loss",
        "CrossEntropyLoss",
        "cross_entropy",
        "NLLLoss",
        "nll_loss",
        "EmbeddingBag",
        "embedding_bag",
        "put_(",
        "put(",
        "take(",
        "scatter(",
        "scatter_(",
        "scatter_reduce",
        "index_reduce",
        "bincount(",
        "histc(",
        "median(",
        "nanmedian(",
        "kthvalue(",
        "cumsum(",
        "cumsum_(",
    )
    needs = ("torch",)
    source = (
        "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
    )
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch.nn.functional as F

                def warp(image, grid):
                    return F.grid_sample(image, grid, align_corners=False)  # DET501
            """,
        ),
        Example(
            bad="""
                from torch import nn

                pool = nn.AdaptiveAvgPool2d((7, 7))  # DET501
            """,
            good="""
                from torch import nn

                pool = nn.AvgPool2d(2)  # of an image of 14 x 14
            """,
        ),
        Example(
            bad="""
                import torch

                def middle(x):
                    return torch.median(x, dim=-1).values  # DET501
            """,
            good="""
                import torch

                def middle(x):
                    values = torch.sort(x, dim=-1).values
                    return values[..., (x.shape[-1] - 1) // 2]
            """,
        ),
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where no argument stands near that makes it such a call."""
        return leads(text, offset)

    def visit_Call(self, node: cst.Call) -> None:
        made = self._made(node)
        name = _name(made if made is not None else node)
        if name is None:
            return
        meaning = (self.module.qualified_name(name[1]) or "").rpartition(".")[2]
        if not (name[0].startswith(_STEMS) or meaning.startswith(_STEMS)):
            return
        # Not at the top: importing the table takes longer than scanning a file.
        from detlint.analysis.operators import match

        found = match(self.module, node, self.settings.target_torch)
        if found is None or not self._is_kept(name, found):
            return
        if found.row.direction == "forward" or not self._has_no_backward(node, found):
            self._report(node, found)

    def _made(self, call: cst.Call) -> cst.Call | None:
        """The call that made what this one calls: ``loss = nn.CrossEntropyLoss()``."""
        made = self.module.names.value_of(call.func)
        return made if isinstance(made, cst.Call) else None

    def _is_kept(self, name: tuple[str, cst.BaseExpression], found: Match) -> bool:
        """Whether a trigger led here: what narrowing leaves out is left out of whole files, too."""
        written, node = name
        own = found.form.rpartition(".")[2]
        if written != own:
            return f"{own}(" not in self.triggers and not is_doubtful(own)
        last = node.attr if isinstance(node, cst.Attribute) else node
        return leads(self.module.source.text, self.module.tree.span(last)[0])

    def _has_no_backward(self, call: cst.Call, found: Match) -> bool:
        if gradients.are_off(self.module, call):
            return True
        if found.form.rpartition(".")[2][0].isupper():
            return found.made is None and gradients.are_off_for(self.module, call)
        if gradients.are_unlikely(self.module, call):
            return True
        if found.form.startswith("torch.Tensor.") and isinstance(call.func, cst.Attribute):
            tensor: cst.BaseExpression | None = call.func.value
        else:
            tensor = self.module.argument(call, "input", 0)
        if tensor_facts.numbers(self.module, tensor) == "integer":
            return True
        # The grid of grid_sample can have a gradient of its own.
        alone = not found.form.endswith(("grid_sample", "grid_sampler", "embedding_bag"))
        return alone and gradients.is_detached(self.module, tensor)

    def _report(self, call: cst.Call, found: Match) -> None:
        row = found.row
        what = "backward" if row.direction == "backward" else "implementation"
        where = "" if "cpu" in row.devices else " on CUDA"
        when = f" before torch {row.until}" if row.until else ""
        self.report(
            call,
            f"{self._shown(call, found)} has no deterministic {what}{where}{when}",
            advice=f"instead: {row.alternatives[0].text}",
        )

    def _shown(self, call: cst.Call, found: Match) -> str:
        """The call as a person would name it: ``F.interpolate(mode="bicubic")``."""
        decisive = [self._argument(call, found, each) for each in found.usage.arguments]
        function = dotted(call.func)
        if function is None and isinstance(call.func, cst.Attribute):
            function = f"….{call.func.attr.value}"
        text = f"{function or 'it'}({', '.join(filter(None, decisive))})"
        if any(each.test == "dimensions" for each in found.usage.arguments + found.usage.called):
            text += " of an input with more than two dimensions"
        return text

    def _argument(self, call: cst.Call, found: Match, argument: Argument) -> str:
        from detlint.analysis.operators import given

        node = given(self.module, call, argument, method=found.form.startswith("torch.Tensor."))
        if node is None or argument.test not in ("in", "given", "not 1"):
            return ""
        if argument.test == "not 1":
            text = self.module.tree.text(node)
            return f"({text})" if isinstance(node, cst.Tuple) else text
        value = self.module.literal(node)
        if argument.test == "in" and (found.made is not None or value == argument.default):
            return ""
        if isinstance(value, (str, int)):
            shown = f'"{value}"' if isinstance(value, str) else repr(value)
            return f"{argument.name}={shown}"
        return f"{argument.name}=…"


def _name(call: cst.Call) -> tuple[str, cst.BaseExpression] | None:
    """The last word of what is called, and the whole of it."""
    last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return (last.value, call.func) if isinstance(last, cst.Name) else None


_STEMS = tuple(token.rstrip("(") for token in NoDeterministicImplementation.triggers)
