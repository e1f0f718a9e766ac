"""DET601 flash-attention."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from detlint.analysis import answering, flash_programs
from detlint.analysis.attention import BACKWARDS
from detlint.analysis.attention_text import asks
from detlint.analysis.config_findings import report_setting
from detlint.analysis.config_keys import generates, is_deterministic, is_told, trains
from detlint.analysis.flash_advice import EFFECT, FLAG, MAY_READ
from detlint.analysis.flash_bindings import kept
from detlint.analysis.flash_calls import called
from detlint.analysis.flash_flags import requests
from detlint.analysis.flash_options import is_chosen_by_name
from detlint.analysis.flash_requests import Requests
from detlint.analysis.flash_surroundings import Surroundings
from detlint.analysis.launches import for_ascend, may_train, started
from detlint.analysis.wrappers import handed_on
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detlint.analysis.flash_calls import Found
    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.documents import Document
    from detlint.documents.document import Command, Entry
    from detlint.finding import Finding
    from detlint.settings import Settings


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
    little slower and takes more memory. FlashAttention 3 (`flash_attn_interface`) takes it, too.
    Its builds from January to September 2025 ignore it; later ones raise for heads larger than
    192. FlashAttention 4 (`flash_attn.cute`) raises where it has no such kernel.

    Hugging Face's models pass it on when
    `FLASH_ATTENTION_DETERMINISTIC=1` is set (`enable_full_determinism` sets it),
    Transformer Engine when `NVTE_ALLOW_NONDETERMINISTIC_ALGO=0` is.
    `attn_implementation="sdpa"` leaves it to PyTorch, which can be told.

    By default, code is told where a gradient is shown to come to it: where a program among the
    files that are linted is there to train, takes steps, and runs the code. A file alone, or among
    others of which none is a program, is told unless these only answer; a configuration in Python
    where some program trains; a launch, a configuration file, and a backward that is called by its
    name, always, but for an option that the files declare and nothing reads. A class that
    `attn_implementation` chooses (`…FlashAttention2`) is told where that asks for it.
    `strict = true` asks for none of this.

    Silent on inference: under `no_grad` or `inference_mode`, with a cache of keys and values, for
    one query at a time, in functions, classes and branches by the name of decoding, prefilling or
    inference, and in functions that only such put in place; in files that run, measure, serve,
    convert or merge a model, and in configurations of tests, evaluations and generation, by their
    names or by what they call or ask for, if they train none; in files that only programs without
    a training step import, and in functions and methods that only such run; in tests that have
    no backward, or compare gradients as far as rounding goes; on a model that is frozen, or
    gives rewards, beside the one that is trained, or that a trainer takes for its reference or
    teacher, in what makes such by its name, or whose class records no gradient in its forward; on
    one that cells of a notebook only ask for answers, until its name is bound anew; in launches of
    programs that by their names convert checkpoints, embed, encode or rerank; in a main block that
    only tries FlashAttention; and in a branch for numbers of eight bits, which have no backward.
    Silent, too, on a switch in a file for JAX, or by which a program chooses PyTorch's own
    attention, and on the default of a checkpoint's configuration class.

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
        """What only programs without a training step import has no backward, unless it writes one
        by hand.
        """
        path = os.path.realpath(finding.path)
        if program.only_answers() and path != program.path:
            return "def backward(" not in program.source_of(path).text  # which is to train
        return flash_programs.settles(program, finding.advice)

    @classmethod
    def cleared_by_all(
        cls,
        finding: Finding,
        programs: Sequence[Program],
        settings: Settings,
        linted: PythonFiles,
    ) -> bool:
        """What no program is shown to train, or, of a file alone or among others that are no
        programs, where these only answer; and an option that the files declare and never read.
        A backward that is called by its name, and another launch, need no evidence."""
        path = os.path.realpath(finding.path)
        launch = finding.advice == FLAG or not path.endswith((".py", ".ipynb"))
        if settings.strict or finding.message.startswith(tuple(BACKWARDS)):
            return False
        if launch:
            return flash_programs.is_never_read(finding.message, linted.texts)
        if flash_programs.train(programs, path, finding.row):
            return False
        apart = bool(programs) and len(linted) > 1
        return apart or flash_programs.only_answer(linted.texts)

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings(self.module)

    @cached_property
    def _requests(self) -> Requests:
        return Requests(self.module, self._around)

    def visit_Entry(self, node: Entry) -> None:
        if not answering.is_key_aside(node.keys):
            report_setting(self, node, _is_settled)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._tell(self._requests.of(node), kept(self.module, node, self._around))

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._tell(self._requests.of(node))

    def visit_DictElement(self, node: cst.DictElement) -> None:
        self._tell(self._requests.of(node), kept(self.module, node, self._around))

    def visit_Return(self, node: cst.Return) -> None:
        self._tell(kept(self.module, node, self._around))

    def visit_Param(self, node: cst.Param) -> None:
        self._tell(self._requests.of(node))

    def visit_Call(self, node: cst.Call) -> None:
        around = self._around
        chosen = not self.settings.strict and is_chosen_by_name(self.module, node)
        self._tell(
            self._requests.of(node),
            () if chosen else called(self.module, node, around),
            kept(self.module, node, around),
        )

    def visit_List(self, node: cst.List) -> None:
        self._tell(self._requests.of_elements(node.elements))

    def visit_Tuple(self, node: cst.Tuple) -> None:
        if len(node.elements) > 1:  # ("--name",) declares a flag of that name
            self._tell(self._requests.of_elements(node.elements))

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self._tell(self._requests.of_text(node))

    def visit_Command(self, node: Command) -> None:
        launch = started(node) or handed_on(self.document, node)
        if launch is None or not may_train(launch) or for_ascend(self.document):
            return
        for request in requests(self.document.source, launch):
            advice = MAY_READ if request.choice else FLAG
            said = f"{request.shown} asks for {EFFECT}"
            self.report(request.word, said, advice=advice, safe=False)

    def _tell(self, *kinds: Iterable[Found]) -> None:
        for node, message, advice, edits in chain(*kinds):
            self.report(node, message, advice=advice, edits=edits, safe=False)
