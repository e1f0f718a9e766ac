"""Options and arguments that ask for FlashAttention by its name."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.arguments.defaults import defaults
from detlint.dataflow.arguments.settings import Setting, options
from detlint.dataflow.learning import inference
from detlint.dataflow.learning.answering import is_test
from detlint.dataflow.learning.made_models import Fate
from detlint.dataflow.slices import closure
from detlint.documents.flash import asked
from detlint.documents.training import may_be_trained_by
from detlint.models import attention as rows
from detlint.models.attention import IMPLEMENTATIONS, SWITCHES
from detlint.models.flash_advice import ANY_FLASH, FLAG, MAY_READ, OLD_KEYWORD, READS
from detlint.sources.kinds import NOTEBOOK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.finding import Edit

_HUGGING_FACE = rows.CHOICES | rows.OLD
_NAMES = _HUGGING_FACE | SWITCHES
# Whose classes have models that read the variable.
_READERS = frozenset(("transformers", "trl", "peft", "unsloth", "builtins", "functools"))
_OTHERS = frozenset(("jax", "flax", "haliax", "equinox"))  # which have another
_OFF = (False, "sdpa", "eager")
# What makes its backward deterministic: of Hugging Face's models, and of others besides.
_VARIABLES = {"FLASH_ATTENTION_DETERMINISTIC": "1"}
_OTHER_VARIABLES = {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0"}
_MEGATRON = "--deterministic-mode"


class Request(NamedTuple):
    """What asks for it; ``doubtful``: what is around it says that no gradient is taken."""

    node: ast.AST
    shown: str
    advice: str
    edits: tuple[Edit, ...]
    doubtful: bool


def calls_for_answers(op: Op) -> bool:
    """Whether names say that a call of FlashAttention has no backward, or is not chosen here."""
    # A class that Hugging Face's models take by its name is told where that is asked for.
    named = op.function.class_name.endswith("FlashAttention2")
    return named or inference.takes_cache(op) or inference.is_tried(op) or kept_for_answers(op)


def kept_for_answers(op: Op) -> bool:
    """The same of what keeps a function of it, for calls elsewhere."""
    functions = list(op.function.around())
    return (
        inference.only_answers(op)
        or any(map(inference.registers, functions))
        or _compares_answers(op)
    )


def _compares_answers(op: Op) -> bool:
    return op.function.unit.answering.compares(op.function.around())


class Requests:
    """Answers about one file. What is told of all of it is found once there is something to
    report."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._values = unit.values

    def at(self, offsets: Sequence[int]) -> Iterator[Request]:
        """What asks for it in the functions at some offsets. Raises UnparsedError."""
        for outer in self._unit.functions_at(offsets):
            for function in outer.everything():
                for each in (*options(function, _NAMES), *defaults(function, _NAMES)):
                    yield from self._of_option(each)
                for op in function.ops:
                    yield from self._of_op(op)

    # The file

    @cached_property
    def is_library(self) -> bool:
        """Whether it defines FlashAttention's own functions, or Hugging Face's around them."""
        defined = (
            self._unit.defined(f"{mark}{each}") for each in rows.FUNCTIONS for mark in ("", "_")
        )
        told = any(each is not None and "deterministic" in each.params for each in defined)
        return told or self._unit.defined(rows.WRAPPER) is not None

    @cached_property
    def serves(self) -> bool:
        """Whether it runs or measures a model, and trains none, as far as its text tells."""
        answering = self._unit.answering
        return answering.serves or answering.is_for_answers

    @cached_property
    def _only_infers(self) -> bool:
        return self._unit.answering.only_infers

    def _sets(self, variables: dict[str, str]) -> bool:
        return any(
            variables.get(each.name) == each.known_text
            for name in variables
            for function in self._unit.all_naming(name)
            for each in options(function, variables)
        )

    def _says(self, option: str) -> bool:
        """Whether an option is on, or a function of its name is called."""
        functions = self._unit.all_naming(option)
        said = (each for function in functions for each in options(function, (option,)))
        return any(each.constant is True for each in said)

    def _calls(self, word: str) -> bool:
        return any(inference.last_word(each) == word for each in self._unit.ops_naming(word))

    @cached_property
    def _settles_hugging_face(self) -> bool:
        """Whether nothing that it asks Hugging Face for makes runs differ."""
        return (
            self.is_library
            or self._sets(_VARIABLES)
            or self._calls("enable_full_determinism")
            or self._says("full_determinism")
        )

    @cached_property
    def _settles(self) -> bool:
        """Whether nothing that it asks any library for does."""
        imported = {name.partition(".")[0] for x in self._unit.imported.values() for name in x}
        return (
            self._settles_hugging_face
            or not _OTHERS.isdisjoint(imported)
            or self._sets(_OTHER_VARIABLES)
            or _MEGATRON in self._unit.text
            or self._says("deterministic_mode")
        )

    def _advice(self, op: Op) -> str:
        """What to do about an implementation that some code asks for: whose models it makes."""
        called = self._values.called(op) if op.code == "call" else []
        foreign = bool(called) and called[0].partition(".")[0] not in _READERS
        imported = {name.partition(".")[0] for x in self._unit.imported.values() for name in x}
        reads = not imported.isdisjoint(("transformers", "trl", "peft"))
        return READS if reads and not foreign else MAY_READ

    # Options

    def _of_option(self, option: Setting) -> Iterator[Request]:
        if option.value is None:
            return
        if option.name in rows.CHOICES:
            yield from self._chosen(option)
        elif option.constant is True and not self._is_told(option) and not self._is_settled(option):
            advice = OLD_KEYWORD if option.name in _HUGGING_FACE else ANY_FLASH
            yield self._request(option, _shown(option, "True"), advice, ())

    def _chosen(self, option: Setting) -> Iterator[Request]:
        """The first of the values of an option that is an implementation by FlashAttention."""
        for value in _possible(self._values, option.value) if option.value is not None else ():
            found = self._values.constant(value)
            if found in IMPLEMENTATIONS:
                if not self._is_settled(option):
                    written = self._values.bound_to(value).node
                    edits = (self._unit.replace(written, '"sdpa"'),)
                    advice = self._advice(option.op)
                    yield self._request(option, _shown(option, f'"{found}"'), advice, edits)
                return

    def _request(
        self, option: Setting, shown: str, advice: str, edits: tuple[Edit, ...]
    ) -> Request:
        doubtful = self.serves_or_infers or self._only_answers(option)
        return Request(option.node, shown, advice, edits, doubtful)

    @cached_property
    def serves_or_infers(self) -> bool:
        """Whether the text of the file says that it trains nothing."""
        return self._only_infers or self._unit.answering.is_for_answers

    def _is_told(self, option: Setting) -> bool:
        given = option.op.given("deterministic") if option.op.code == "call" else None
        return given is not None and self._values.constant(given) is not False

    def _is_settled(self, option: Setting) -> bool:
        """Whether what is around an option makes it deterministic, or it asks for nothing."""
        if inference.has_no_backward(option.op) or self._is_overwritten(option):
            return True
        owner = option.op.function.class_name if option.form == "parameter" else ""
        # The default of a model's configuration, for which a checkpoint has its own.
        if owner in self._unit.classes and any(
            each.endswith("Config") for each in self._unit.bases(owner)
        ):
            return True
        hugging_face = option.name in _HUGGING_FACE
        return self._settles_hugging_face if hugging_face else self._settles

    @staticmethod
    def _is_overwritten(option: Setting) -> bool:
        """Whether what its function sets last, on no condition, is another value."""
        op = option.op
        if op.code != "store_attr":
            return False
        target = _target(op)
        return any(
            each.place > op.place
            and each.region.kind == "function"
            and _target(each) == target
            and op.values.constant(each.args[1]) in _OFF
            for each in op.function.stores.get(str(op.name), ())
        )

    # Doubts

    def _only_answers(self, option: Setting) -> bool:
        """Whether names around an option say that the model only answers."""
        op = option.op
        function = op.function
        return (
            inference.only_answers(op)
            or inference.makes_cache(function)
            or _compares_answers(op)
            or self._is_checked(op)
            or self._makes_reference(function)
            or self._is_frozen_tower(function)
            or (op.code == "call" and self._is_aside(op))
        )

    def _is_checked(self, op: Op) -> bool:
        """Whether a test gives an argument to a function that makes no model, to look at what it
        returns."""
        tested = self._unit.answering.is_of_tests and is_test(op.function)
        return tested and op.code == "call" and not rows.builds(inference.last_word(op))

    def _makes_reference(self, function: Function) -> bool:
        """``def build_ref_model(…)``, ``class TeacherArguments``, which learn nothing."""
        around = list(function.around())
        names = [each.word for each in around]
        if not any(map(rows.is_reference, [*names, function.class_name])):
            return False
        return not any(map(inference.steps, self._siblings(around[-1])))

    def _siblings(self, function: Function) -> Iterator[Function]:
        """A function, or all that its class holds."""
        owner = function.class_name
        return self._unit.functions_of(owner) if owner in self._unit.classes else iter((function,))

    def _is_frozen_tower(self, function: Function) -> bool:
        """Whether a class records no gradient in its forward."""
        owner = function.class_name
        forward = self._unit.method(owner, "forward") if owner in self._unit.classes else None
        return forward is not None and bool(forward.ops) and inference.records_none(forward.ops[-1])

    def _is_aside(self, call: Op) -> bool:
        """Whether the model that a call makes is another's reference, teacher or reward, or only
        asked for answers."""
        if _is_given_as_reference(call):
            return True
        fate = Fate(call)
        function = call.function
        cell = self._unit.source.kind == NOTEBOOK and not function.name
        if cell and _asked_in_notebook(fate):
            return True
        if "trained" in fate.facts:
            return False
        return self._is_beside(fate, function) or (
            any(use.name == "eval" for use in _moved(call))
            or (
                "evaluated" in fate.facts and bool(function.name) and not inference.trains(function)
            )
        )

    def _is_beside(self, fate: Fate, function: Function) -> bool:
        """Whether a model is a reference, teacher or reward, and no optimizer changes it."""
        named = any(map(rows.is_reference, fate.names))
        if named and not fate.facts.isdisjoint(("evaluated", "asked")):
            return True
        aside = any(map(rows.is_aside, fate.names))
        return "reference" in fate.facts or (
            aside and ("frozen" in fate.facts or self._learns_not(function))
        )

    def _learns_not(self, function: Function) -> bool:
        """Whether the class of a method records no gradient somewhere, and learns nothing."""
        if function.class_name not in self._unit.classes:
            return False
        methods = list(self._unit.everything_of(function.class_name))
        entered = (op for each in methods for op in each.ops if op.code == "enter")
        stops = any(inference.stops(op.args[0]) for op in entered)
        return stops and not any(inference.trains(each) or _backs(each) for each in methods)

    # Command lines

    def _of_op(self, op: Op) -> Iterator[Request]:
        if op.code in ("list", "tuple") and (op.code == "list" or len(op.args) > 1):
            yield from self._of_elements(op)
        elif op.code == "call":
            yield from self._by_place(op)
            for value in self._commands(op):
                yield from self._of_text(value)

    def _of_elements(self, op: Op) -> Iterator[Request]:
        texts = [each.name if each.code == "const" else "" for each in op.args]
        words = [each if isinstance(each, str) else "" for each in texts]
        if not any(each.startswith("--") for each in words) or not _may_train(words):
            return
        for value, word, following in zip(op.args, words, [*words[1:], ""], strict=True):
            if said := asked(word, following):
                yield from self._flagged(value, said)

    def _commands(self, op: Op) -> Iterator[Op]:
        """The texts of commands that a call is given, or works on: ``"…".split()``."""
        function = op.args[0]
        if inference.last_word(op) in rows.COMMANDS:
            yield from op.args[1:]
            yield from function.args if function.code == "attr" else ()

    def _of_text(self, op: Op) -> Iterator[Request]:
        if op.code != "const" or not isinstance(op.name, str) or "--" not in op.name:
            return
        words = op.name.split()
        if not _may_train(words):
            return
        pairs = zip(words, [*words[1:], ""], strict=True)
        said = next(filter(None, (asked(*each) for each in pairs)), "")
        if said:
            yield from self._flagged(op, said)

    def _flagged(self, op: Op, said: str) -> Iterator[Request]:
        if not self._settles:
            yield Request(op.node, said, FLAG, (), self.serves_or_infers)

    def _by_place(self, op: Op) -> Iterator[Request]:
        """``train("flash_attention_2")``, of a function of the file that takes it for its
        ``attn_implementation``, and ``model.set_attn_implementation("flash_attention_2")``."""
        given = [value for name, value in op.arguments() if name is None]
        if not any(self._values.constant(each) in IMPLEMENTATIONS for each in given):
            return
        if inference.last_word(op) == rows.SETTER:
            taken = {"attn_implementation": given[0]}
        else:
            callee = self._values.callee(op)
            names = (
                [each for each in callee.params if each not in ("self", "cls")] if callee else []
            )
            taken = dict(zip(names, given, strict=False))
        for name in rows.CHOICES & taken.keys():
            setting = Setting(name, "place", taken[name], op, taken[name].node)
            yield from self._chosen(setting)


def _target(op: Op) -> str:
    node = op.node
    return ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""


def _possible(values: object, op: Op) -> Iterator[Op]:
    """What a value may be: both sides of a choice, the values of a mapping."""
    if op.code in ("choice", "boolean"):
        for each in op.args[1:]:
            yield from _possible(values, each)
    elif op.code == "dict":
        for _, each in op.entries:
            yield from _possible(values, each)
    elif op.code == "declared" and op.args:
        yield from _possible(values, op.args[0])
    else:
        yield op


def _is_given_as_reference(call: Op) -> bool:
    """``DPOTrainer(model, AutoModel.from_pretrained(…))``."""
    facts = Fate(call).facts
    return "reference" in facts and "trained" not in facts


def _moved(call: Op) -> Iterator[Op]:
    """What is asked of a model as it is made: ``load(…).cuda().eval()``."""
    for each in closure([call], lambda op: (x for use in _moves(op) for x in use.uses)):
        yield from _moves(each)


def _moves(made: Op) -> Iterator[Op]:
    for use in made.uses:
        moves = use.code == "attr" and use.name in rows.MOVES
        if moves and _end(made.node) == _end(getattr(use.node, "value", None)):
            yield use


def _end(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _asked_in_notebook(fate: Fate) -> bool:
    """Whether a cell's model, until its name is bound anew, is asked for answers and given to
    nothing that may train it."""
    uses = ["answers" if each == "answers" else rows.use_in_notebook(each) for each in fate.handled]
    return "answers" in uses and "" not in uses


def _backs(function: Function) -> bool:
    return any(op.code == "call" and inference.last_word(op) == "backward" for op in function.ops)


def _may_train(words: Sequence[str]) -> bool:
    """Whether the programs that a command names, if it does, are none that only answer."""
    pairs = zip(["", *words], words, strict=False)
    programs = [each for before, each in pairs if each.endswith(".py") or before == "-m"]
    return all(map(may_be_trained_by, programs))


def _shown(option: Setting, value: str) -> str:
    """An option and its value as a message says them, near to what the source does."""
    if option.form == "place":
        return f"{inference.last_word(option.op)}({value})"
    makes = option.form == "field" and option.value is not option.op
    if makes or option.form in ("flag", "default"):
        return f"{option.name} (default: {value})"
    return f"{option.name}={value}"
