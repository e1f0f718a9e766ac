"""DET107 unsaved-random-state."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from detlint.callgraph.tensorflow import training
from detlint.dataflow.learning.checkpoints import ALONE, ANY, ASKED, OWN, TRAINER
from detlint.index.facts import TESTED, UNSET
from detlint.models.loading import AT_ONCE
from detlint.models.names import words_of
from detlint.models.training import KEEPING_STATES, PER_BATCH, PLACES, UNSEEN
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.fact_base import Located
    from detlint.callgraph.program import Program
    from detlint.finding import Finding
    from detlint.index.facts import Fact
    from detlint.settings import Settings

_LIBRARIES = ("torch", "numpy", "random", "tensorflow")
_ADVICE = (
    "save guard.rng_state() in the checkpoint, and give it to guard.restore where the loop goes on"
)
_OWN_ADVICE = (
    "save the states of torch, NumPy and random in the checkpoint, and put them back where the "
    "loop goes on"
)
_OF_TENSORFLOW = "seed in each epoch, by how far training is: tf.random.set_seed(seed + epoch)"
_CALLBACK_ADVICE = (
    "give the Trainer guard.lightning.GuardCallback(seed=0), which saves them in each checkpoint"
)
_OF_WEIGHTS = (
    "load them only where an option asks for that, with the epoch, the state of the optimizer and "
    "those of the generators"
)


class UnsavedRandomState(Rule):
    """Why runs differ: A run that is interrupted and resumed should equal one that was not. A
    program that seeds at its start draws the numbers of the first epochs again after it resumes. So
    the order of the data, dropout and augmentation are those of other epochs. The checkpoint has
    to hold the states of the generators.

    Reported:
    - a program that saves the state of an optimizer, and loads it with the epoch or step that was
      reached
    - its loop goes on from there, or counts more rounds, and something in it draws: a loader that
      shuffles, a transform, dropout, a data set
    - the same if the `forward` of a model draws, or a function that the loop calls
    - the same where that is read from the name of a file: `first = int(path.stem.split("_")[1])`
    - the same of weights alone, if the epoch names their file: `load(f"net_{first_epoch}.pt")`
    - weights that a program of torch or TensorFlow saves itself, and loads at its start where they
      are there: `if os.path.exists(path): model.load_weights(path)`. So are they in a `try`
    - the same of Lightning's `fit(…, ckpt_path=path)`, whose checkpoints hold no such states
    - one finding for each program, at the place where it saves

    Lowers the confidence:
    - nothing seeds torch, or only an option that is off by default: then other runs differ as well
      (DET102), reported as *possible*. Not weights of an earlier run
    - several files train, as those of several models do, or `ckpt_path` is a parameter, or only
      dropout draws, whose share is not a literal: *possible*

    Not reported:
    - a program that somewhere reads the states of generators, or has `save_state` of Accelerate or
      a `StatefulDataLoader` do it
    - loops that seed in each epoch, as by `torch.manual_seed(seed + epoch)`. Nor weights that are
      put back once all is trained, nor trainers of other libraries, which save by themselves

    What to do: Save `guard.rng_state()` with the rest. Call `guard.restore(state["rng"])` right
    before the loop goes on. It covers `random`, NumPy's global generator and torch's of all
    devices. The page on resuming has a whole program.
    """

    code = "DET107"
    summary = "a checkpoint holds no states of generators, and a resumed run draws other numbers"
    triggers = ()
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import os

                import torch
                from torch.utils.data import DataLoader

                torch.manual_seed(0)
                loader = DataLoader(rows, batch_size=8, shuffle=True)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                first = 0
                if os.path.exists("last.pt"):
                    state = torch.load("last.pt")
                    model.load_state_dict(state["model"])
                    optimizer.load_state_dict(state["optimizer"])
                    first = state["epoch"] + 1
                for epoch in range(first, 10):
                    for batch in loader:
                        optimizer.zero_grad()
                        model(batch).sum().backward()
                        optimizer.step()
                    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                    torch.save({**state, "epoch": epoch}, "last.pt")  # DET107
            """,
            good="""
                import os

                import guard
                import torch
                from torch.utils.data import DataLoader

                torch.manual_seed(0)
                loader = DataLoader(rows, batch_size=8, shuffle=True)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                first = 0
                if os.path.exists("last.pt"):
                    state = torch.load("last.pt")
                    model.load_state_dict(state["model"])
                    optimizer.load_state_dict(state["optimizer"])
                    first = state["epoch"] + 1
                    guard.restore(state["rng"])
                for epoch in range(first, 10):
                    for batch in loader:
                        optimizer.zero_grad()
                        model(batch).sum().backward()
                        optimizer.step()
                    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                    torch.save({**state, "epoch": epoch, "rng": guard.rng_state()}, "last.pt")
            """,
        ),
    )

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        # What the text tells is asked first, and what takes long to tell last.
        if any(program.holding(*KEEPING_STATES)) or not program.said("resumes"):
            return
        library = "torch" if program.has("trains", "torch") else "tensorflow"
        if library == "tensorflow" and training(program) is None:
            return
        fitted = next(program.facts("resumes", counts=_is_by_trainer), None)
        resumed = fitted or next(_resumed(program), None)
        # What seeds by how far training has come needs no state.
        if resumed is None or next(program.facts("seeds", counts=_names_place), None) is not None:
            return
        saved = fitted or program.first("saves")
        if saved is None and ALONE not in resumed.fact.what.split():
            return  # what another program saves
        drawn = _drawn(program, own=OWN in resumed.fact.what.split())
        if drawn is None:
            return
        if drawn.fact.what == "torch":
            library = "torch"  # of a program that holds both
        seeds = program.facts("seeds", library, runs=True)
        # What starts elsewhere differs, seeded or not.
        seeded = _is_of_own(resumed.fact) or any(x.fact.doubt != UNSET for x in seeds)
        sure = seeded and _has_one_loop(program, resumed)
        advice = _ADVICE if fitted is None else _CALLBACK_ADVICE
        advice = _OF_TENSORFLOW if library == "tensorflow" else advice
        sure = sure and drawn.fact.what != UNSEEN and resumed.fact.what != ASKED
        own = saved is not None and (saved.path == program.path or resumed.path != program.path)
        lacks = "generators" if saved is not None else "generators or of an optimizer"
        said = (
            f"{program.title} goes on from a checkpoint ({program.shown(resumed)}) that holds no "
            f"states of {lacks}: {program.shown(drawn)} then draws other numbers than in a run "
            "that was not interrupted"
        )
        if program.has_own_guard and library == "torch":
            advice = _OWN_ADVICE
        if _is_of_own(resumed.fact):
            anew = "" if program.has("continues") else ", and from the first epoch"
            said = (
                f"{program.title} starts from weights that an earlier run of it left "
                f"({program.shown(resumed)}){anew}: the same command trains another model each time"
            )
            advice = _OF_WEIGHTS
        yield program.finding(
            cls,
            saved if own and saved is not None else resumed,
            said,
            advice,
            confidence=cls.confidence if sure else Confidence.POSSIBLE,
        )


def _resumed(program: Program) -> Iterator[Located]:
    """Where it gets the state of an optimizer and a place in training at which a loop begins, or
    the weights that it saved itself."""
    starts = _names(program, "continues")
    in_names = cache(lambda: not starts.isdisjoint(_names(program, "numbered")))

    def goes_on(fact: Fact) -> bool:
        places = fact.what.split()
        if not starts.isdisjoint(places) or (starts and ANY in places):
            return True
        return bool(starts) and ALONE not in places and in_names()

    ways = (goes_on, _is_of_own)
    found = (each for counts in ways for each in program.facts("resumes", counts=counts))
    for each in found:
        # Weights that are put back once all is trained are the best ones, for what is to come.
        best = _is_of_own(each.fact) and program.seed_order.trains_before(each)
        if each.fact.doubt < UNSET and not best:
            yield each


def _names(program: Program, kind: str) -> set[str]:
    """The names of places in training that facts of a kind tell."""
    return {name for what in program.said(kind) for name in what.split()}


def _is_by_trainer(fact: Fact) -> bool:
    return fact.what in (TRAINER, ASKED)


def _is_of_own(fact: Fact) -> bool:
    """Whether it loads weights that the program saved."""
    return OWN in fact.what.split()


def _names_place(fact: Fact) -> bool:
    return not PLACES.isdisjoint(words_of(fact.text))


def _has_one_loop(program: Program, resumed: Located) -> bool:
    """Whether what trains stands beside the loop that goes on, or else in one file: of several
    models, each with its own loop, another one may be trained."""
    loops = {each.path for each in program.facts("continues")} | {program.path, resumed.path}
    return len({each.path for each in program.facts("trains", "torch")} - loops) <= 1


def _drawn(program: Program, *, own: bool) -> Located | None:
    """Something that the loop draws; ``own``: or what trains, as weights alone say of no loop."""
    found = chain(
        # What is drawn at once is drawn before the loop.
        (each for each in program.facts("orders", "torch") if each.fact.text not in AT_ONCE),
        (each for library in _LIBRARIES for each in program.facts("perturbs", library)),
    )
    first = next((each for each in found if each.fact.doubt <= TESTED), None)
    if first is not None:
        return first
    drawn = (each for library in _LIBRARIES for each in program.facts("draws", library))
    sure = (each for each in drawn if each.fact.doubt <= TESTED)
    loops = list(program.facts("continues"))
    called = (word for each in loops for word in each.fact.text.split())
    often = {*PER_BATCH, *called}
    trains = {(each.path, each.fact.place) for each in program.facts("trains") if own}
    first = next(
        (
            each
            for each in sure
            if program.is_in_workers(each)
            or each.fact.method in often
            or any(_stands_below(each, loop) for loop in loops)
            or (each.path, each.fact.place) in trains
        ),
        None,
    )
    # Dropout of which one does not see how much it drops.
    return first or program.first("perturbs", UNSEEN)


def _stands_below(drawn: Located, loop: Located) -> bool:
    """Whether something is drawn in the function of a loop once that has begun."""
    same = (drawn.path, drawn.fact.place) == (loop.path, loop.fact.place)
    return same and drawn.fact.row > loop.fact.row
