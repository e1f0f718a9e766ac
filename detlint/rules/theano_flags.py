"""DET804 theano-flags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.branches import behind_setting
from detlint.analysis.environments import variables
from detlint.analysis.switches import switches
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Variable

_BACKWARD = re.compile(r"dnn\.conv\.algo_bwd(?:_data|_filter)?$")
_CHOICES = {
    "time_once": "by timing them",
    "time_on_shape_change": "by timing them",
    "guess_once": "by a guess, which may be one that adds up with atomics",
    "guess_on_shape_change": "by a guess, which may be one that adds up with atomics",
}
_CONFIGS = ("theano.config.", "theano.configdefaults.config.")
_CHANGES = frozenset(f"theano.{place}change_flags" for place in ("", "config.", "configparser."))
_FLAG = re.compile(r"([\w.]+)\s*=\s*([\w.-]*)")


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

    def visit_Assign(self, node: cst.Assign) -> None:
        self._check(node)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._check(node)

    def visit_DictElement(self, node: cst.DictElement) -> None:
        self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._check(node)
        name = self.module.called(node)
        if name in _CHANGES:
            for flag, value in self._changed(node):
                self._judge(node, flag, self.module.literal(value))

    def _changed(self, call: cst.Call) -> Iterator[tuple[str, cst.BaseExpression]]:
        """The flags that ``change_flags`` is given: ``dnn__conv__algo_bwd_data="…"``."""
        for argument in call.args:
            if argument.keyword is not None:
                yield argument.keyword.value.replace("__", "."), argument.value
            elif isinstance(argument.value, cst.Dict):
                for element in argument.value.elements:
                    key = self.module.literal(getattr(element, "key", None))
                    if isinstance(key, str):
                        yield key, element.value

    def _check(self, node: cst.CSTNode) -> None:
        for variable in variables(self.module, node, "THEANO_FLAGS"):
            for flag, value in _FLAG.findall(variable.text):
                if self._judge(variable.node, flag, value):
                    break
        for switch in switches(self.module, node):
            place = next((each for each in _CONFIGS if switch.flag.startswith(each)), None)
            if place is not None:
                flag = switch.flag.removeprefix(place)
                self._judge(switch.node, flag, self.module.literal(switch.value))

    def visit_Variable(self, node: Variable) -> None:
        if node.name == "THEANO_FLAGS":
            raw = self.document.source.text[node.value_start : node.value_end]
            for flag, value in _FLAG.findall(node.value or raw):
                if self._tell(node, flag, value):
                    break

    def _judge(self, node: cst.CSTNode, flag: str, value: object) -> bool:
        if not isinstance(value, str) or behind_setting(self.module, node):
            return False
        return self._tell(node, flag, value)

    def _tell(self, node: cst.CSTNode | Variable, flag: str, value: str) -> bool:
        if _BACKWARD.match(flag) and value in _CHOICES:
            what = f"has cuDNN choose the kernels of the backward pass {_CHOICES[value]}"
            self.report(node, f"{flag}={value} {what}", advice=f"set {flag}=deterministic")
            return True
        if flag == "deterministic" and value == "default":
            what = "lets Theano add up with atomics on the GPU"
            self.report(node, f"deterministic={value} {what}", advice="set deterministic=more")
            return True
        return False
