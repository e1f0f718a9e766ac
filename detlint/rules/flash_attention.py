"""DET601 flash-attention."""

from __future__ import annotations

import ast
import os
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.kernels.flash import Flash
from detlint.dataflow.kernels.flash_requests import Requests, calls_for_answers, kept_for_answers
from detlint.dataflow.learning.inference import has_no_backward
from detlint.documents.flash import handed_on, requests
from detlint.documents.launches import started
from detlint.documents.settings import generates, is_deterministic, is_told, report_setting, trains
from detlint.documents.training import configures_answers, for_ascend, sureness
from detlint.models import attention as rows
from detlint.models.flash_advice import (
    ANY,
    ANY_FLASH,
    CALLS,
    EFFECT,
    FLAG,
    HUGGING_FACE,
    KEPT,
    MAY_READ,
    of_call,
    of_kept,
)
from detlint.models.names import words_of
from detlint.rule import Confidence, Example, Rule
from detlint.sources.paths import names_in_project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.dataflow.ir import Function
    from detlint.dataflow.kernels.flash import Call
    from detlint.documents import Document
    from detlint.documents.document import Command, Entry
    from detlint.finding import Edit, Finding
    from detlint.settings import Settings


def _is_settled(document: Document) -> bool:
    """Whether a configuration makes it deterministic."""
    return is_deterministic(document) or is_told(document)


def _is_for_answers(document: Document) -> bool:
    """Whether a configuration is for no training, by its keys, its name or those of folders."""
    named = configures_answers(document.source.path) and not trains(document)
    return named or generates(document)


def _settles(program: Program, advice: str) -> bool:
    """Whether a program makes deterministic what some advice is about.

    FlashAttention itself reads no variable: only what calls it for the program does.
    """
    if advice not in HUGGING_FACE | ANY:
        return False
    if program.has("sets", "FLASH_ATTENTION_DETERMINISTIC=1") or program.is_guarded():
        return True
    return advice in ANY and program.has("sets", "NVTE_ALLOW_NONDETERMINISTIC_ALGO=0")


def _is_replaced(finding: Finding, program: Program) -> bool:
    """Whether guard's repair reaches the call: not that of a backward itself, nor of another copy
    of the package."""
    from detlint.operations.extensions import FLASH

    if finding.advice not in CALLS and not finding.advice.startswith(KEPT):
        return False
    if program.imports("kernels") or any(each in finding.message for each in rows.BACKWARDS):
        return False
    return program.replaces(FLASH[0].names())


def _may_settle(program: Program, advice: str) -> bool:
    """Whether a program may make deterministic what some advice is about, or mean another thing:
    a function that it keeps is told where it is called, a switch chooses PyTorch's own
    attention."""
    if advice.startswith(KEPT):
        return any(program.holding("deterministic="))
    if advice != ANY_FLASH or program.imports(*rows.LIBRARIES):
        return False
    own = set(program.holding(rows.OF_TORCH))
    return any(each in own for each in program.holding(rows.SWITCHING))


def _train(programs: Sequence[Program], path: str, row: int) -> bool:
    """Whether programs show that a gradient comes to the code at a row of a file: one that is
    there to train runs the code, or may be given the file for its configuration."""
    if programs and _is_configuration(programs[0], path):
        return any(each.purpose.learns for each in programs)
    return any(each.purpose.learns and each.runs(path, row) for each in programs if path in each)


def _is_configuration(program: Program, path: str) -> bool:
    words = {word for name in names_in_project(path) for word in words_of(name)}
    return not words.isdisjoint(_CONFIGURATIONS) and program.defines_nothing(path)


_CONFIGURATIONS = frozenset(("config", "configs", "cfg", "cfgs", "conf"))


class FlashAttention(Rule):
    """Why runs differ: FlashAttention's forward pass is deterministic, its backward is not. Thread
    blocks add their share of the gradient of the queries with atomics, in the order in which they
    finish. Neither seeds nor `torch.use_deterministic_algorithms(True)` reach the package
    flash-attn. The switch reaches the kernel that torch itself has (DET602).

    Reported:
    - a call of flash-attn's functions or modules without `deterministic=True`, where a gradient
      comes to it
    - Hugging Face's `attn_implementation="flash_attention_2"` or `_3`, and options such as
      `use_flash_attn=True`
    - launches and configurations that ask for it by such an option

    Lowers the confidence:
    - no program among the linted files is seen to train the code
    - names say that the code only answers, as in decoding, serving, evaluation and tests
    - a model in evaluation mode, or another's reference, teacher or reward; an option that chooses
      `scaled_dot_product_attention`, which obeys torch's switch

    Not reported:
    - code that never runs or records no gradient, options that nothing reads, and JAX
    - a program that sets a variable which makes its attention deterministic, or calls
      `guard.enable`, with `repair=True` for calls of flash-attn's functions

    What to do: Pass `deterministic=True`, which flash-attn takes since 2.4. FlashAttention 3
    (`flash_attn_interface`) ignores it in builds from January to September 2025. Later ones raise
    for heads larger than 192. FlashAttention 4 (`flash_attn.cute`) raises where it has no such
    kernel. For Hugging Face's
    models, set `FLASH_ATTENTION_DETERMINISTIC=1`; for Transformer Engine,
    `NVTE_ALLOW_NONDETERMINISTIC_ALGO=0`. `guard.enable(seed=0)` sets the variables that the
    installed libraries read. `attn_implementation="sdpa"` leaves attention to torch, which obeys
    its switch.

    Fix safety: unsafe. The deterministic backward costs time and memory, and sdpa rounds
    differently.
    """

    code = "DET601"
    summary = "FlashAttention's backward differs from run to run"
    triggers = (
        *("flash_attn", "_flash_attn", "flash_attention_2", "flash_attention_3"),
        *("attn_implementation", "_attn_implementation=", "use_flash_att", "use-flash-att"),
        *("attn-implementation", "--attention-backend", "FlashSelfAttention"),
        "FlashCrossAttention",
    )
    mentions = ("attention-backend", "attn", "flash")
    source = "https://github.com/Dao-AILab/flash-attention#how-to-use-flashattention"
    judged_where_it_runs = True
    # A test that takes a step trains: the rule looks for the step itself.
    lowered_by = ()
    examples = (
        Example(
            bad="""
                from flash_attn import flash_attn_func

                def attend(q, k, v):
                    return flash_attn_func(q, k, v, causal=True)  # DET601
            """,
            fixed="""
                from flash_attn import flash_attn_func

                def attend(q, k, v):
                    return flash_attn_func(q, k, v, causal=True, deterministic=True)
            """,
        ),
        Example(
            bad="""
                from transformers import AutoModelForCausalLM

                model = AutoModelForCausalLM.from_pretrained(
                    "model",
                    attn_implementation="flash_attention_2",  # DET601
                )
            """,
            fixed="""
                from transformers import AutoModelForCausalLM

                model = AutoModelForCausalLM.from_pretrained(
                    "model",
                    attn_implementation="sdpa",
                )
            """,
            good="""
                import os

                from transformers import AutoModelForCausalLM

                os.environ["FLASH_ATTENTION_DETERMINISTIC"] = "1"
                model = AutoModelForCausalLM.from_pretrained(
                    "model",
                    attn_implementation="flash_attention_2",
                )
            """,
        ),
        Example(
            bad="""
                command = ["torchrun", "pretrain_gpt.py", "--use-flash-attn"]  # DET601
            """,
        ),
    )

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:  # noqa: ARG003
        return _settles(program, finding.advice) or _is_replaced(finding, program)

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:
        return _may_settle(program, finding.advice)

    @classmethod
    def doubted_by_all(
        cls, finding: Finding, programs: Sequence[Program], linted: PythonFiles
    ) -> bool:
        """What no program is shown to train, or, of a file alone or among others that are no
        programs, where these only answer; and an option that the files declare and never read.
        A backward that is called by its name, and another launch, need no evidence."""
        path = os.path.realpath(finding.path)
        launch = finding.advice == FLAG or not path.endswith((".py", ".ipynb"))
        if finding.message.startswith(tuple(rows.BACKWARDS)):
            return False
        if launch:
            option = finding.message.split()[0].strip("-:").partition("=")[0]
            dashed = finding.message.startswith("-")
            if dashed and linted.only_declare(option.replace("-", "_")):
                return True
            return finding.advice in ANY and linted.attend_by_torch
        if _train(programs, path, finding.row):
            return False
        return (bool(programs) and len(linted) > 1) or linted.only_answer

    def visit_Entry(self, node: Entry) -> None:
        aside = any(map(rows.is_aside, node.keys[:-1]))  # of a teacher: teacher.kwargs.x
        report_setting(self, node, _is_settled, lambda told: aside or _is_for_answers(told))

    def visit_Command(self, node: Command) -> None:
        launch = started(node) or handed_on(self.document, node)
        if launch is None or for_ascend(self.document):
            return
        sure = sureness(launch)
        for request in requests(self.document.source, launch):
            advice = MAY_READ if request.choice else FLAG
            said = f"{request.shown} asks for {EFFECT}"
            self.report(request.word, said, advice=advice, safe=False, confidence=sure)

    # Python

    @cached_property
    def _flash(self) -> Flash:
        return Flash(self.unit)

    @cached_property
    def _requests(self) -> Requests:
        return Requests(self.unit)

    def examine(self, offsets: Sequence[int]) -> None:
        outer = self.unit.functions_at(offsets)
        functions = [inner for each in outer for inner in each.everything()]
        self._check_calls(functions)
        for each in self._requests.at(offsets):
            said = f"{each.shown} asks for {EFFECT}"
            self._tell(each.node, said, each.advice, each.edits, each.doubtful)

    def _check_calls(self, functions: Sequence[Function]) -> None:
        if self._requests.is_library:
            return
        for each in self._flash.calls(functions):
            if not has_no_backward(each.op):
                self._tell_call(each)
        for kept in self._flash.kept(functions):
            if not has_no_backward(kept.op):
                message = (
                    f"{kept.function}(), {kept.how} without deterministic=True, adds up gradients "
                    "in varying order in its backward"
                )
                doubtful = self._requests.serves or kept_for_answers(kept.op)
                self._tell(kept.node, message, of_kept(kept.function), (), doubtful)

    def _tell_call(self, call: Call) -> None:
        name, node = call.meaning.function, call.op.node
        how = "without deterministic=True" if call.off is None else "with deterministic=False"
        message = f"{name}() {how} adds up gradients in varying order in its backward"
        edit = (
            self.unit.add_argument(node, "deterministic=True")
            if call.off is None and isinstance(node, ast.Call)
            else self.unit.replace(call.off or node, "True")
        )
        advice = of_call(name, call.meaning.generation)
        doubtful = self._requests.serves or calls_for_answers(call.op)
        self._tell(node, message, advice, (edit,), doubtful)

    def _tell(
        self, node: ast.AST, message: str, advice: str, edits: tuple[Edit, ...], doubtful: bool
    ) -> None:
        sure = Confidence.POSSIBLE if doubtful else self.confidence
        if self.wants(sure):
            self.report(node, message, advice=advice, edits=edits, safe=False, confidence=sure)
