"""What turns determinism on, sets variables of the environment, and says where tensors lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments import settings
from detlint.dataflow.arguments.choices import Choices
from detlint.dataflow.calls import word_of
from detlint.dataflow.facts.found import FileFacts, Found
from detlint.dataflow.numerics import tensors
from detlint.dataflow.randomness.seeding import is_guard
from detlint.index.facts import EVERY, REPAIRED, VARIABLES
from detlint.models import names
from detlint.models import settings as rows
from detlint.models import training as trainers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.learning.training import Training
    from detlint.dataflow.unit import Unit


_OPTIONS = ("deterministic", "full_determinism", "use_deterministic_algorithms")
_CONFIGURING = ("Args", "Arguments", "Config", "Fabric", "Trainer")
_SWITCHED_ON = {f"{rows.TRAINER}.deterministic": "torch", rows.DETERMINISTIC: "cudnn"}


class SwitchFacts(FileFacts):
    """Answers for the functions of one file."""

    def __init__(self, unit: Unit, training: Training) -> None:
        super().__init__(unit, training)
        self._choices = _Devices()
        self._tensors = tensors.Tensors(unit)

    def enables(self, function: Function) -> Iterator[Found]:
        """Calls that turn determinism on, also where a setting decides."""
        for op in function.ops:
            if is_guard(op):
                yield Found(op, EVERY)
                if repaired := self._repaired(op):
                    yield Found(op, REPAIRED, repaired)
            elif op.code == "call":
                library = self._enabled(op)
                if library:
                    yield Found(op, library)
        for each in settings.flags(function):
            if each.name in _SWITCHED_ON and each.constant is not False:
                yield Found(each.op, _SWITCHED_ON[each.name])

    @staticmethod
    def times(function: Function) -> Iterator[Found]:
        """Where cuDNN is told to pick its kernels by their time."""
        for each in settings.flags(function):
            if each.name == rows.BENCHMARK and each.constant is True:
                yield Found(each.op, "cudnn")

    def _repaired(self, op: Op) -> str:
        """Of which operators guard runs replacements: names, or EVERY."""
        given = op.given("repair") if op.code == "call" else None
        if given is None:
            return ""
        value = self._values.constant(given)
        if isinstance(value, (bool, str)):
            return EVERY if value is True else value or ""
        names_ = [self._values.constant(each) for each in given.args]
        return " ".join(each for each in names_ if isinstance(each, str))

    def _enabled(self, call: Op) -> str:
        called, word = self._training.called(call), word_of(call)
        if word == "enable_op_determinism":
            return "tensorflow"
        # Turned off is a decision too, and DET303's to report.
        if word == "use_deterministic_algorithms" or not rows.SWITCHES.isdisjoint(called):
            return "torch"
        for keyword in _OPTIONS:
            given = call.given(keyword)
            if given is not None and self._values.constant(given) is not False:
                own = any(each.startswith(trainers.CONFIGURED) for each in called)
                takes = own or word.endswith(_CONFIGURING) or keyword != "deterministic"
                return "torch" if takes else ""
        if word == "enable_full_determinism":
            return EVERY
        if not rows.FOR_CUDNN.isdisjoint(called):
            return "cudnn"
        return f"{word}()" if names.turns_determinism_on(word) else ""

    @staticmethod
    def sets(function: Function) -> Iterator[Found]:
        """Variables of the environment that are set."""
        for each in settings.options(function, VARIABLES):
            if each.form == "environment":
                value = each.constant
                yield Found(each.op, each.name, value if isinstance(value, str) else "", each.node)

    @staticmethod
    def places(function: Function) -> Iterator[Found]:
        """Literals that name a CUDA device, and calls of ``.cuda()``."""
        for op in function.ops:
            if op.text:
                device, _, index = op.text.partition(":")
                named = device == "cuda" and (op.text == device or index.isdigit())
            else:
                method = op.args[0] if op.code == "call" else op
                named = op.code == "call" and (method.code, method.name) == ("attr", "cuda")
            if named:
                yield Found(op, "cuda")

    def of_devices(self, call: Op) -> str | None:
        """Calls that say where tensors lie: "cpu" where none that has CUDA is meant."""
        word = word_of(call)
        told = call.given("device", 0 if word == "to" else None)
        if told is None:
            led = word == "to" and call.unpacks
            return "" if led or word == "cuda" or word.startswith("set_default_") else None
        if self._is_beside(told) or (word == "to" and tensors.is_type(told)):
            return None
        chosen = self._choices.of(told)
        return "cpu" if chosen and chosen <= trainers.WITHOUT_CUDA else ""

    def _is_beside(self, device: Op) -> bool:
        """``labels.device``, where a tensor is: it leads nothing elsewhere."""
        owner = device.args[0] if (device.code, device.name) == ("attr", "device") else None
        return owner is not None and (
            self._tensors.is_tensor(owner)
            or any(x.code == "binary" for x in owner.uses)
            or any(x.code == "item" and owner is x.args[1] for x in owner.uses)
        )


class _Devices(Choices):
    """By which names of devices tensors may be moved."""

    def _of_call(self, op: Op) -> frozenset[object]:
        """``torch.device("cpu")``."""
        made = "torch.device" in op.called and len(op.args) > 1
        return self.of(op.args[1]) if made else self.anything
