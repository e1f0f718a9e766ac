"""Whether a file, or a test in it, runs a model that it does not train: by what it imports and
calls, and by its name. Each answer is a doubt and no proof."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.learning import inference
from detlint.documents.training import configures_answers
from detlint.models import attention as rows
from detlint.models.names import words_of
from detlint.models.purposes import ANSWERS, Purpose, purpose
from detlint.sources.paths import names_in_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit


class Answering:
    """What is told of one file, once there is something to report."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._name = os.path.splitext(os.path.basename(unit.source.path))[0]

    # The file

    @cached_property
    def serves(self) -> bool:
        """Whether it is about an engine that serves models, and nothing in it trains one."""
        return self._has_engine and not self._learns

    @cached_property
    def only_infers(self) -> bool:
        """Whether it runs a model and nothing in it trains one."""
        if self._learns:
            return False
        return self._has_engine or any(map(_asks, self._functions))

    @cached_property
    def is_for_answers(self) -> bool:
        """Whether it runs or measures a model, by its name or that of a folder above it, or loads
        one to generate with."""
        path = self._unit.source.path
        names = names_in_project(path)
        # Those that decode may wrap a model in what was trained.
        if any(ANSWERS & purpose(each) for each in names) and not self._takes_steps:
            return True
        if "configs" in names and configures_answers(path):
            return True
        steps = any(map(inference.steps, self._functions))
        if Purpose.MEASURES & purpose(self._name) and not steps:
            return True
        generates = any(rows.generates(word) for word in self._calls_and_names)
        return generates and not self._learns_but_for_modes

    @cached_property
    def _functions(self) -> list[Function]:
        """The functions whose text holds a word of training or of answering."""
        held = self._unit.functions_holding(*rows.HINTS)
        return [inner for outer in held for inner in outer.everything()]

    @cached_property
    def _calls_and_names(self) -> list[str]:
        names = [each.word for each in self._functions]
        return names + [inference.last_word(op) for op in _calls(self._functions)]

    @cached_property
    def _imported(self) -> list[str]:
        return [name for names in self._unit.imported.values() for name in names]

    @cached_property
    def _has_engine(self) -> bool:
        return any(each.partition(".")[0] in rows.ENGINES for each in self._imported)

    @cached_property
    def _takes_steps(self) -> bool:
        return any(
            rows.takes_step(word) for each in self._functions for word in _words_called(each)
        )

    @cached_property
    def _learns(self) -> bool:
        return self._learns_but_for_modes or any(map(_changes_mode, self._functions))

    @cached_property
    def _learns_but_for_modes(self) -> bool:
        parts = (part for each in self._imported for part in each.split("."))
        return any(map(rows.trains, parts)) or any(map(_learns, self._functions))

    # Tests

    @property
    def is_of_tests(self) -> bool:
        """Whether it holds tests, by its name."""
        name = self._name
        return name == "conftest" or name.startswith("test_") or name.endswith("_test")

    def compares(self, functions: Iterable[Function]) -> bool:
        """Whether a test around some code, or all of its file, asks models for answers without a
        backward, or compares what they give, gradients too, as far as rounding goes;
        ``functions``: those around the code."""
        around = list(functions)
        if not self.is_of_tests:
            return any(_compares([each]) for each in around if is_test(each))
        if not self._learns and not any(map(_takes_gradients, self._functions)):
            return True
        return _compares(self._functions) or any(_compares([each]) for each in around)


def is_test(function: Function) -> bool:
    """Whether a function is a test, by its name."""
    return words_of(function.word)[:1] == ["test"]


def _calls(functions: Iterable[Function]) -> Iterator[Op]:
    return (op for each in functions for op in each.coded("call"))


def _words_called(function: Function) -> Iterator[str]:
    return (inference.last_word(op) for op in function.coded("call"))


def _asks(function: Function) -> bool:
    """``model.generate(…)``, ``model.eval()``, ``with torch.no_grad():``."""
    if any(word in rows.ASKS_MODEL for word in _words_called(function)):
        return True
    return any(inference.stops(op.args[0]) for op in function.coded("enter"))


def _learns(function: Function) -> bool:
    """``loss.backward()``, ``train_epoch(…)``, and all that has a loss."""
    words = {inference.last_word(op) for op in function.coded("call")}
    if any(rows.trains(word) or word.startswith("train_") for word in words):
        return True
    names = (each for name in function.bindings for each in name.split("."))
    return "loss" in function.globals or "loss" in names


def _changes_mode(function: Function) -> bool:
    """``model.train()``."""
    return "train" in _words_called(function)


def _takes_gradients(function: Function) -> bool:
    words = list(_words_called(function))
    return any(word in rows.GRADIENTS or word.startswith("train") for word in words)


def _compares(functions: list[Function]) -> bool:
    """``torch.testing.assert_close(x, y)``, and no step."""
    compares = any(word in rows.COMPARES for each in functions for word in _words_called(each))
    return compares and not any(map(inference.steps, functions))
