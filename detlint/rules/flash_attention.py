"""DET601 flash-attention."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis import answering, attention, flash_advice, flash_arguments
from detlint.analysis.attention_text import asks
from detlint.analysis.config_findings import report_setting
from detlint.analysis.config_keys import generates, is_deterministic, is_told, trains
from detlint.analysis.flash_advice import ANY_FLASH, FLAG, MAY_READ, OLD_KEYWORD
from detlint.analysis.flash_bindings import kept
from detlint.analysis.flash_flags import IMPLEMENTATIONS, SWITCHES, requests
from detlint.analysis.flash_options import (
    CHOICES,
    by_place,
    calls_for_answers,
    chosen,
    for_answers,
    shown,
)
from detlint.analysis.flash_surroundings import Surroundings
from detlint.analysis.launches import for_ascend, may_train, started
from detlint.analysis.options import Option, options
from detlint.analysis.wrappers import handed_on
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.documents import Document
    from detlint.documents.document import Command, Entry, Word
    from detlint.finding import Edit, Finding
    from detlint.project.program import Program
    from detlint.settings import Settings

# Hugging Face reads this one as well.
_HUGGING_FACE = CHOICES | {"use_flash_attention_2"}
_NAMES = CHOICES | SWITCHES
_EFFECT = "FlashAttention, whose backward adds up gradients in varying order"


def _is_settled(document: Document) -> bool:
    """Whether a configuration makes it deterministic, or is for no training."""
    if is_deterministic(document) or is_told(document) or generates(document):
        return True
    return answering.configures_answers(document.source.path) and not trains(document)


class FlashAttention(Rule):
    """FlashAttention's forward pass is deterministic. Its backward pass is not:
    thread blocks add their share of the gradient of the queries with atomics, in
    the order in which they finish. Neither seeds nor
    `torch.use_deterministic_algorithms(True)` reach it, since it is no part of PyTorch.

    Since release 2.4, flash-attn's functions take `deterministic=True`, which is a
    little slower and takes more memory. Hugging Face's models pass it on when
    `FLASH_ATTENTION_DETERMINISTIC=1` is set (`enable_full_determinism` sets it),
    Transformer Engine when `NVTE_ALLOW_NONDETERMINISTIC_ALGO=0` is.
    `attn_implementation="sdpa"` leaves it to PyTorch, which can be told.

    Silent on inference: under `no_grad` or `inference_mode`, with a cache of keys and
    values, in functions, classes and branches by the name of decoding, prefilling or
    inference, and in functions that only such put in place; in files that run, measure or
    serve a model, and in configurations of tests and evaluations, by their names or by what
    they call, if they train none; in files that only programs without a training step
    import; in tests that compare what models answer, or look at what a function makes of the
    option; on a model that is frozen, or gives rewards, beside the one that is trained, or that a
    trainer takes for its reference or teacher; on one that cells of a notebook only ask for
    answers, until its name is bound anew; in launches of programs that by their names convert
    checkpoints, embed, encode or rerank; and in a main block that only tries FlashAttention.

    Fix safety: unsafe. The deterministic backward costs time and memory, and sdpa
    rounds differently.
    """

    code = "DET601"
    summary = "FlashAttention's backward differs from run to run"
    triggers = (
        "flash_attn",
        "_flash_attn",
        "flash_attention_2",
        "flash_attention_3",
        "attn_implementation",
        "_attn_implementation=",
        "use_flash_att",
        "use-flash-att",
        "attn-implementation",
        "--attention-backend",
        "FlashSelfAttention",
        "FlashCrossAttention",
    )
    mentions = ("attention-backend", "attn", "flash")
    source = "https://github.com/Dao-AILab/flash-attention#how-to-use-flashattention"
    judged_where_it_runs = True
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
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where a name is only read, compared, or talked about."""
        return asks(text, offset)

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:  # noqa: ARG003
        """FlashAttention itself reads no variable: only what calls it for the program does.

        What only programs without a training step import has no backward, unless it writes one
        by hand.
        """
        path = os.path.realpath(finding.path)
        if program.only_answers() and path != program.path:
            return "def backward(" not in program.source_of(path).text  # which is to train
        if finding.advice not in flash_advice.HUGGING_FACE | flash_advice.ANY:
            return False
        return (
            program.has("sets", "FLASH_ATTENTION_DETERMINISTIC=1")
            or program.is_guarded()
            or (
                finding.advice in flash_advice.ANY
                and program.has("sets", "NVTE_ALLOW_NONDETERMINISTIC_ALGO=0")
            )
        )

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings(self.module)

    def visit_Entry(self, node: Entry) -> None:
        if not answering.is_key_aside(node.keys):
            report_setting(self, node, _is_settled)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._check_options(node)
        self._check_kept(node)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._check_options(node)

    def visit_DictElement(self, node: cst.DictElement) -> None:
        self._check_options(node)
        self._check_kept(node)

    def visit_Return(self, node: cst.Return) -> None:
        self._check_kept(node)

    def visit_Param(self, node: cst.Param) -> None:
        self._check_options(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._check_options(node)
        for option in by_place(self.module, node):
            self._check_choice(option)
        self._check_call(node)
        self._check_kept(node)

    def visit_List(self, node: cst.List) -> None:
        self._check_elements(node.elements)

    def visit_Tuple(self, node: cst.Tuple) -> None:
        if len(node.elements) > 1:  # ("--name",) declares a flag of that name
            self._check_elements(node.elements)

    # FlashAttention called

    def _check_call(self, call: cst.Call) -> None:
        name = attention.library_function(self.module, call.func)
        if name is None or self._around.is_library:
            return
        given = attention.told(self.module, call, name)
        off = given is not None and self.module.literal(given) is False
        if not off and (given is not None or not self._leaves_it_out(call, name)):
            return
        if self._around.serves or attention.registers_backend(self.module, call):
            return
        if calls_for_answers(self.module, call):
            return
        if given is not None:
            edit = self.module.replace(given, "True")
        else:
            edit = self.module.add_argument(call, "deterministic=True")
        how = "with deterministic=False" if off else "without deterministic=True"
        message = f"{name}() {how} adds up gradients in varying order in its backward"
        self.report(call, message, advice=flash_advice.of_call(name), edits=(edit,), safe=False)

    def _check_kept(self, node: cst.CSTNode) -> None:
        for each in kept(self.module, node):
            if not self._around.is_library and not self._around.serves:
                message = (
                    f"{each.name}(), {each.shown} without deterministic=True, "
                    "adds up gradients in varying order in its backward"
                )
                self.report(each.node, message, advice=flash_advice.of_kept(each.name))

    def _leaves_it_out(self, call: cst.Call, name: str) -> bool:
        positional = sum(each.keyword is None for each in call.args)
        known = name in attention.FUNCTIONS and positional <= attention.FUNCTIONS[name]
        return known and not self.module.has_unpacking(call)

    # FlashAttention asked for by name

    def _check_options(self, node: cst.CSTNode) -> None:
        for option in options(self.module, node, _NAMES):
            if option.name in CHOICES:
                self._check_choice(option)
            elif self.module.literal(option.value) is True and not self._is_deterministic(option):
                advice = OLD_KEYWORD if option.name in _HUGGING_FACE else ANY_FLASH
                if not self._is_quiet_about(option):
                    self._report(option.node, shown(self.module, option, "True"), advice)

    def _is_quiet_about(self, option: Option) -> bool:
        if for_answers(self.module, option.node):
            return True
        hugging_face = option.name in _HUGGING_FACE
        around = self._around
        return around.settles_hugging_face if hugging_face else around.settles

    def _is_deterministic(self, option: Option) -> bool:
        call = self.module.parent(option.node)
        given = self.module.argument(call, "deterministic") if isinstance(call, cst.Call) else None
        return given is not None and self.module.literal(given) is not False

    def _check_choice(self, option: Option) -> None:
        # No trigger stands where config._attn_implementation is set to a constant's name: it
        # occurs in nearly every model of a library, to be read.
        direct = option.name.startswith("_") and option.form != "keyword"
        for value in chosen(self.module.names.value_of(option.value)):
            if direct and not isinstance(value, cst.SimpleString):
                continue
            found = self.module.literal(value)
            if found in IMPLEMENTATIONS:
                if self._is_quiet_about(option):
                    return
                edit = self.module.replace(value, '"sdpa"')
                said = shown(self.module, option, f'"{found}"')
                self._report(option.node, said, self._around.advice, (edit,))
                return

    # Argument lists and command lines in Python

    def _check_elements(self, elements: Sequence[cst.BaseElement]) -> None:
        for value, said in flash_arguments.of_elements(self.module, elements):
            if not self._around.settles:
                self._report(value, said, FLAG)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        said = flash_arguments.of_text(self.module, node)
        if said and not self._around.settles:
            self._report(node, said, FLAG)

    # Command lines in scripts

    def visit_Command(self, node: Command) -> None:
        launch = started(node) or handed_on(self.document, node)
        if launch is None or not may_train(launch) or for_ascend(self.document):
            return
        for request in requests(self.document.source, launch):
            self._report(request.word, request.shown, MAY_READ if request.choice else FLAG)

    def _report(
        self,
        node: cst.CSTNode | Word,
        said: str,
        advice: str = ANY_FLASH,
        edits: tuple[Edit, ...] = (),
    ) -> None:
        self.report(node, f"{said} asks for {_EFFECT}", advice=advice, edits=edits, safe=False)
