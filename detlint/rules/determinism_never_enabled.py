"""DET304 determinism-never-enabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.callgraph.roles import is_below_tests
from detlint.callgraph.start import advice, enabling
from detlint.models.settings import SWITCHED_SINCE
from detlint.models.training import CHOOSING, DEVICES, MOVING, WITHOUT_CUDA
from detlint.models.varying import BY_SIZE, FUSED_SINCE, UNFUSED, is_model
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.fact_base import Located
    from detlint.callgraph.program import Program
    from detlint.callgraph.variation import Varying
    from detlint.finding import Finding, Step
    from detlint.index.facts import Fact
    from detlint.settings import Settings

_TORCH = (
    *("torch", "lightning", "pytorch_lightning", "transformers", "trl", "accelerate"),
    *("torchvision", "fastai", "composer", "super_gradients", "mmengine", "mmcv"),
    *("sentence_transformers", "setfit", "peft", "ultralytics", "flair", "adapters"),
)
_PLAIN = ("torch", "torchvision")
_WITHOUT_CUDA = tuple(f"{q}{each}{q}" for each in sorted(WITHOUT_CUDA) for q in "\"'")
_SHOWN_GPUS, _NO_GPU = "CUDA_VISIBLE_DEVICES", "-1"
_TRAINED = "trained here"
_UNNAMED = "?"  # the device that no text names
_ON_CPU = (
    "; no text of its files moves it to a GPU, and on the CPU little differs: of large tensors, "
    "the gradient of `x[index]`"
)
_GRADIENTS = ("torch.autograd.grad(", "autograd.grad(", "grad(")
_ARGUMENTS = "TrainingArguments"  # of Transformers' Trainer, and of what derives from it
_OF_TRAINERS = (".fit(", ".train(", "CLI(")  # which may be told by a configuration
_OF_OLDER = (
    "move to torch 1.8 or later, which has torch.use_deterministic_algorithms(True): what the "
    "project requires is older"
)


class DeterminismNeverEnabled(Rule):
    """Why runs differ: A seed fixes the numbers that a program draws, not the order in which it
    adds them up. On a GPU several operators leave that order to chance, unless torch is told
    otherwise. On the CPU the gradient of `x[index]` differs: of 32,768 numbers or more in
    float32, where threads add them up.

    Reported:
    - a program that trains with torch, where nothing that it imports turns determinism on
    - it trains if it calls `.backward()` and steps an optimizer, or fits a Trainer
    - the same for `fit(x, y)` or `train(x, y)` of a library's class that it gives an optimizer
    - the same for a model with layers that it gives to a `train(…)` of a module that is not there
    - one finding for each program, in the program's own file: it names a layer, an operator or a
      library's model that may differ. It names up to three where the first stands under a test
    - that takes part in the training: it is of what optimizers and trainers are given, also in
      other files, or computes the loss. What runs under `no_grad` or is frozen is not named
    - where one does not see which model it trains, the message says so, and names what the program
      makes
    - of programs that train by the same line, one, which names the others: rather the one that
      holds it, or a `train.py`
    - seen to differ (torch 2.11, H200, `benchmarks/ON_GPU.md`): `Conv2d` of images of one or three
      channels, `ConvTranspose1d`, fused attention, small `Embedding` tables, losses of pixels
    - also: `index_select`, `gather` and `index_add` of places that repeat, `scatter_add`, long
      `cumsum`, bilinear `interpolate`, reflected borders, `grid_sample`, `stft`
    - seen to repeat: `Linear`, norms, activations, dropout, recurrent layers, losses of classes,
      sums, `x[index]`, `linalg`, Adam. For other shapes and cards that is no promise

    Lowers the confidence:
    - all that its optimizers get is seen, and is such as repeats: a head on a frozen encoder, or
      tensors that are no layer's: *possible*. With `cudnn.deterministic = True`, and no
      `benchmark`, convolutions repeat, also torchvision's ResNets. Nothing but an `Embedding` of
      unknown size is *possible*, too: large ones repeated. So is Transformers' model of texts with
      `attn_implementation="eager"`, or of releases before 4.36. So is a model without a name that
      is seen, of a library that is not for pictures
    - the program is for something else by its name, or lies in a folder of tests: *possible*. So
      is one that only tries what its file defines, and names no device there
    - it has a trainer and reads configurations, of which one in the project turns determinism on,
      as `trainer.deterministic: true` does: *possible*
    - all devices are `cpu` or `mps`, by what calls pass, or `CUDA_VISIBLE_DEVICES` is set to `-1`:
      there little differs, or it is not known. So it is where no text leads
      tensors to a device: the message says so

    Not reported:
    - a program in which any call decides about determinism, also behind a setting or in a helper,
      or that names such a configuration

    What to do: Call `guard.enable(seed=0)` at the start of the program, or
    `torch.use_deterministic_algorithms(True)`. The Trainer of Transformers does so with
    `TrainingArguments(full_determinism=True)`, and sets `CUDA_LAUNCH_BLOCKING=1`, which is slower.

    Fix safety: unsafe. `guard.enable(seed=0)` seeds every generator as well. Operators without a
    deterministic implementation raise, and others may take longer.
    """

    code = "DET304"
    summary = "a program trains with torch, and nothing turns deterministic algorithms on"
    triggers = ()
    source = (
        "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
    )
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch

                torch.manual_seed(0)
                model = torch.nn.Conv2d(3, 8, 3).cuda()
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(2, 3, 32, 32).cuda()).sum().backward()  # DET304
                optimizer.step()
            """,
            fixed="""
                import torch
                import guard

                guard.enable(seed=0)

                torch.manual_seed(0)
                model = torch.nn.Conv2d(3, 8, 3).cuda()
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(2, 3, 32, 32).cuda()).sum().backward()
                optimizer.step()
            """,
        ),
    )

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:
        # What runs takes longest to tell, so it is asked last.
        if not program.imports(*_TORCH) or program.has("enables", "torch"):
            return
        first, sure = _training(program), cls.confidence
        if first is None and settings.bar(cls.code) == Confidence.POSSIBLE:
            first, sure = _training(program, apart=True), Confidence.POSSIBLE
        if first is None:
            return
        trainer = any(each in first.fact.text for each in _OF_TRAINERS)
        for is_named in program.deterministic_settings() if trainer else ():
            if is_named:
                return
            sure = Confidence.POSSIBLE
        tries = program.purpose.only_tries(first) and program.path not in program.holding(
            MOVING, *DEVICES
        )
        place = "" if trainer else _place(program)
        unmoved = place == _UNNAMED and not _may_be_moved(program, first)
        if tries or is_below_tests(program.title) or place == "cpu" or unmoved:
            sure = Confidence.POSSIBLE
        varying = program.variation.of_training()
        if varying.at is None and (place == _UNNAMED or not varying.foreign):
            hidden = not varying.is_trained and place != _UNNAMED
            if not (hidden and program.variation.hides_models()):
                sure = Confidence.POSSIBLE
        if varying.at is not None and (
            varying.at.fact.what == BY_SIZE or _is_unfused(program, varying.at.fact)
        ):
            sure = Confidence.POSSIBLE
        yield program.finding(
            cls,
            first,
            f"{program.title} trains with torch ({program.shown(first)}){_with(program, varying)}, "
            "and neither it nor what it imports turns deterministic algorithms on"
            f"{_ON_CPU if unmoved else ''}",
            _advice(program),
            () if program.asks_for_older("torch", SWITCHED_SINCE["torch"]) else enabling(program),
            confidence=sure,
            way=_way(program, varying.at, first),
        )

    @classmethod
    def about(cls, finding: Finding) -> tuple[str, int, int] | None:
        """What trains, which several programs may share."""
        for step in finding.way:
            if step.text == _TRAINED:
                return finding.file_of(step), step.row, step.column
        return finding.path, finding.row, finding.column


def _advice(program: Program) -> str:
    if program.asks_for_older("torch", SWITCHED_SINCE["torch"]):
        return _OF_OLDER
    told = advice(program, "torch.use_deterministic_algorithms(True)")
    if program.imports("transformers") and any(program.holding(_ARGUMENTS)):
        return f"{told}, or set full_determinism=True in {_ARGUMENTS}"
    return told


def _training(program: Program, *, apart: bool = False) -> Located | None:
    """What trains: rather a step of it than a gradient that a loss or a force is made of."""
    first = None
    for each in program.facts("trains", "torch", apart=apart):
        if not each.fact.text.startswith(_GRADIENTS):
            return each
        first = first or each
    return first or program.variation.hands_model_on


def _way(program: Program, varying: Located | None, first: Located) -> tuple[Step, ...]:
    steps = [(varying, "may differ from run to run"), (first, _TRAINED)]
    told = tuple(program.step(each, text) for each, text in steps if each is not None)
    return told if len(told) > 1 or told[0].path else ()


def _with(program: Program, varying: Varying) -> str:
    """What may differ of that which it trains, and where it is made."""
    at = varying.at
    if at is None:
        if varying.foreign:
            return f", with a model that is not seen here: `{varying.foreign}`"
        return "" if varying.is_trained else ", with a model that is not seen here"
    named = [f"`{each.fact.text}` at {program.place_of(each)}" for each in (at, *varying.others)]
    what = " or ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    if not varying.is_trained:
        differs = f"{what} may differ from run to run on a GPU"
        return f", with a model that is not seen here; of what it makes, {differs}"
    if is_model(at.fact.what):
        return f", with a model that is not seen here: {what}"
    return f", with what may differ from run to run on a GPU: {what}"


def _is_unfused(program: Program, named: Fact) -> bool:
    """Whether it is a model of texts, of releases of transformers that fuse no attention."""
    text = UNFUSED(f"transformers.{named.text.removeprefix('transformers.')}")
    return text and program.asks_for_older("transformers", FUSED_SINCE)


def _place(program: Program) -> str:
    """Where it trains: "cpu" for certain, "" where nothing says so or a library chooses, _UNNAMED
    where no text leads tensors to a device, so that they stay on the CPU."""
    choosing = (each for each in _TORCH if each not in _PLAIN)
    if {each.fact.text for each in program.facts("sets", _SHOWN_GPUS)} == {_NO_GPU}:
        return "cpu"
    if any(program.holding(*CHOOSING)) or program.imports(*choosing):
        return ""
    places = {each.fact.what for each in program.facts("devices")}
    if not (places or any(program.holding(*DEVICES))):
        return _UNNAMED
    named = any(program.holding(*_WITHOUT_CUDA)) and not any(program.holding("is_available("))
    return "cpu" if named and places == {"cpu"} else ""


def _may_be_moved(program: Program, first: Located) -> bool:
    """Whether a model that no text of a program moves may be moved by files that are not there."""
    return first == program.variation.hands_model_on or program.looks_up_modules
