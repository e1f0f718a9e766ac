"""DET804 theano-flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import (
    entries,
    flags_at,
    is_left_open,
    keywords,
    options_at,
)
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from detlint.dataflow.ir import Op
    from detlint.documents.document import Variable

_VARIABLE = "THEANO_FLAGS"
_BACKWARD = frozenset(f"dnn.conv.algo_bwd{part}" for part in ("", "_data", "_filter"))
_CHOICES = {
    "time_once": "by timing them",
    "time_on_shape_change": "by timing them",
    "guess_once": "by a guess, which may be one that adds up with atomics",
    "guess_on_shape_change": "by a guess, which may be one that adds up with atomics",
}
_CONFIGS = ("theano.config.", "theano.configdefaults.config.")
_CHANGES = frozenset(f"theano.{place}change_flags" for place in ("", "config.", "configparser."))


class TheanoFlags(Rule):
    """Why runs differ: Theano can have cuDNN choose the kernels of a convolution's backward by
    timing them, and timings differ. A choice by guess goes by speed and free memory, and may take a
    kernel that adds up with atomics. Theano's own GPU kernels add up with atomics as well, unless
    `deterministic` is `more`.

    Reported:
    - `dnn.conv.algo_bwd_filter` and `dnn.conv.algo_bwd_data` that time (`time_once`) or guess
      (`guess_once`)
    - `deterministic=default`
    - both in `THEANO_FLAGS` and in `theano.config`

    Not reported:
    - flags that are not given
    - values that are not literals

    What to do: Set `deterministic=more`, `dnn.conv.algo_bwd_filter=deterministic` and
    `dnn.conv.algo_bwd_data=deterministic`. Older releases name the last two together:
    `dnn.conv.algo_bwd`.
    """

    code = "DET804"
    summary = "Theano's flags let the GPU choose how to add up gradients"
    triggers = ("THEANO_FLAGS", "algo_bwd", "conv.algo_bwd", "dnn__conv__algo_bwd", "deterministic")
    mentions = ("THEANO_FLAGS",)
    needs = ("theano", "THEANO")
    source = "https://github.com/Theano/Theano/blob/master/theano/configdefaults.py"
    examples = (
        Example(
            bad="""
                import os

                os.environ["THEANO_FLAGS"] = "device=cuda,dnn.conv.algo_bwd_filter=time_once"  # DET804
            """,  # noqa: E501
            good="""
                import os

                os.environ["THEANO_FLAGS"] = (
                    "device=cuda,deterministic=more,"
                    "dnn.conv.algo_bwd_filter=deterministic,"
                    "dnn.conv.algo_bwd_data=deterministic"
                )
            """,
        ),
        Example(
            bad="""
                import theano

                theano.config.dnn.conv.algo_bwd_data = "guess_once"  # DET804
            """,
            good="""
                import theano

                theano.config.dnn.conv.algo_bwd_data = "deterministic"
            """,
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        for each in options_at(self.unit, offsets, (_VARIABLE,)):
            if not is_left_open(each.op):
                self._check(each.node, each.known_text)
        for each in flags_at(self.unit, offsets):
            for config in _CONFIGS:
                if each.name.startswith(config) and not is_left_open(each.op):
                    self._tell(each.node, each.name.removeprefix(config), each.constant)
        for op in self.unit.ops_at(offsets):
            if not _CHANGES.isdisjoint(self.unit.values.called(op)) and not is_left_open(op):
                self._changed(op)

    def _changed(self, call: Op) -> None:
        """What ``change_flags`` is given: ``dnn__conv__algo_bwd_data="…"``, or a dict."""
        values = self.unit.values
        dicts = [value for name, value in call.arguments() if name is None]
        for each in (*keywords(values, call), *(x for y in dicts for x in entries(values, y))):
            flag = each.name.replace("__", ".")
            self._tell(call.node, flag, values.constant(each.value))

    def visit_Variable(self, node: Variable) -> None:
        if node.name == _VARIABLE:
            raw = self.document.source.text[node.value_start : node.value_end]
            self._check(node, node.value or raw)

    def _check(self, node: ast.AST | Variable, text: str) -> None:
        """Tell the first of several flags."""
        for part in text.split(","):
            flag, _, value = part.partition("=")
            if self._tell(node, flag.split()[-1] if flag.split() else "", value.strip()):
                return

    def _tell(self, node: ast.AST | Variable, flag: str, value: object) -> bool:
        if flag in _BACKWARD and value in _CHOICES:
            what = f"has cuDNN choose the kernels of the backward pass {_CHOICES[str(value)]}"
            self.report(node, f"{flag}={value} {what}", advice=f"set {flag}=deterministic")
            return True
        if flag == "deterministic" and value == "default":
            what = "lets Theano add up with atomics on the GPU"
            self.report(node, f"deterministic={value} {what}", advice="set deterministic=more")
            return True
        return False
