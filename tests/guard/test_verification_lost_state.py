"""What a resumed run did not get back: what both held, where it is made, and how to save it."""

from __future__ import annotations

import random
import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from programs import write

from detlint.dataflow.def_use import Variable
from guard.diff import Cause, Difference
from guard.recording import snapshots as recording
from guard.trace import Event, statements
from guard.trace.statements import Held, Snapshots
from guard.verification.lost_state import LOST, forgotten, left_apart, losses, lost, with_losses
from guard.verification.suspects import Asked, advised, with_possibilities
from guard.verification.texts import Text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from guard.trace.model import Kind
    from guard.verification.lost_state import Loss, Thing


@pytest.fixture(autouse=True)
def _own(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are the program."""
    monkeypatch.setattr(recording, "is_own", lambda name: name == __file__)


class Clip:
    limit = 3

    def __init__(self) -> None:
        self.norms = [1.0]
        self.rng = np.random.default_rng(3)


class Warmup:
    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer
        self.count = 4


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.25))
        self.seen = 7


def held_here() -> dict[str, Held]:
    return {each.path + each.below: each for each in recording.held()}


def test_everything_that_a_program_holds_is_told() -> None:
    model, clip = Net(), Clip()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    model.body(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    warmup, stream = Warmup(optimizer), random.Random(1)
    state: dict[str, Any] = {"best": 0.5, "clip": clip, "nothing": {}}
    count = 0

    def counting() -> int:
        nonlocal count
        count += 1
        return count

    found = held_here()
    assert found["model.seen"].text == "7"
    assert found["model.seen"][4:] == ("Net", __file__, "seen", True, "", "module", None, "")
    assert found["model.body.1.p"].text == "0.25"
    assert found["model.body.0.weight"].shape == [2, 2]
    assert found["model.body.0.weight.requires_grad"].text == "True"
    assert found["model.body.0.weight.hooks"].text == "0"
    assert found["scheduler.last_epoch"].kind == "StepLR"
    assert found["scheduler.last_epoch"].role == found["warmup.count"].role == "scheduler"
    assert found["optimizer.param_groups[0]['lr']"].text == "0.5"
    assert found["optimizer.state[0]['exp_avg']"].role == "optimizer"
    assert found["state['best']"].name == "state"
    assert found["clip.rng"].kind == "numpy.Generator"
    assert found["stream"].role == "generator"
    assert found["state['nothing']"].kind == ""
    assert (found["count"].text, found["count"].owner) == ("0", "counting")
    before = found["clip.norms"].digest
    clip.norms.append(2.0)
    assert held_here()["clip.norms"].digest != before
    assert counting() == 1
    assert [warmup.count, stream is None, scheduler.last_epoch, state["best"]] == [4, False, 0, 0.5]


def test_holding_is_told_without_drawing_or_changing_anything() -> None:
    torch.manual_seed(1)
    stream, generator = np.random.default_rng(1), torch.Generator().manual_seed(4)
    before = (torch.get_rng_state(), stream.bit_generator.state, generator.get_state())
    held_here()
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == stream.bit_generator.state
    assert torch.equal(before[2], generator.get_state())


def of(*values: tuple[str, Any], **more: Any) -> list[Held]:
    """Values, 0 for none that can be told apart."""
    return [
        Held(name, digest=hash(value) * 4 + 1, text=repr(value), name=name, **more)
        for name, value in values
    ]


@pytest.mark.parametrize(
    ("first", "later", "resumed", "again", "names"),
    [
        ([("n", 0)], [("n", 6)], [("n", 0)], [("n", 6)], ["n"]),
        ([("n", 0)], [("n", 6)], [("n", 6)], [("n", 6)], []),
        ([("run", 1)], [("run", 1)], [("run", 2)], [("run", 3)], []),
        ([("time", 1)], [("time", 5)], [("time", 2)], [("time", 6)], []),
        ([], [("loss", 3)], [], [("loss", 3)], []),
        ([("n", 0)], [("n", 6)], [("n", 2)], None, ["n"]),
    ],
    ids=["lost", "came back", "of the run", "moves by itself", "unbound", "not asked again"],
)
def test_what_moves_and_does_not_come_back_is_lost(
    first: list[tuple[str, Any]],
    later: list[tuple[str, Any]],
    resumed: list[tuple[str, Any]],
    again: list[tuple[str, Any]] | None,
    names: list[str],
) -> None:
    whole, other = Snapshots(of(*first), of(*later)), Snapshots((), of(*resumed))
    third = None if again is None else Snapshots((), of(*again))
    found = lost(whole, other, third)
    assert [each.name for each in found] == names
    assert all(each.is_anew is (each.parts[0].found == "0") for each in found)


@pytest.mark.parametrize(
    ("saved", "loaded", "names"),
    [([6], [6, 7], []), ([6], [2, 3], ["n"]), ([], [6], ["n"]), ([6], [], ["n"])],
    ids=["drawn from later", "never right", "nothing was saved", "nothing was loaded"],
)
def test_a_generator_that_was_right_before_the_first_draw_is_not_lost(
    saved: list[int], loaded: list[int], names: list[str]
) -> None:
    role: Any = {"role": "generator"}
    whole = Snapshots(of(("n", 0), **role), of(("n", 9), **role), [], of(*numbered(saved), **role))
    loads = of(*numbered(loaded), **role)
    resumed = Snapshots([], of(("n", 8), **role), [], [], loads)
    assert [each.name for each in lost(whole, resumed, None)] == names


def numbered(values: list[int]) -> list[tuple[str, Any]]:
    return [("n", each) for each in values]


def test_generators_are_looked_at_as_checkpoints_are_written_and_read(tmp_path: Path) -> None:
    trace, path = str(tmp_path / "rank0.trace"), str(tmp_path / "last.pt")
    stream, kept = random.Random(1), [0.5]

    def step(taken: recording.Snapshot, number: int) -> None:
        drawn = [stream.random() for _ in range(number + 1)]
        taken.take(number, trace)
        assert drawn

    with ExitStack() as stack:
        taken = recording.Snapshot(1)
        taken.follow(stack)
        step(taken, 0)
        right = stream.getstate()
        torch.save({"stream": right}, path)
        step(taken, 1)
    whole = statements.held_in(trace)
    stream.seed(2)
    before = sys.gettrace()
    with ExitStack() as stack:
        taken = recording.Snapshot(0)
        taken.follow(stack)
        sys.settrace(None)
        state = torch.load(path, weights_only=False)["stream"]
        stream.setstate(state)
        step(taken, 0)
        assert sys.gettrace() is None
        sys.settrace(before)
    resumed = statements.held_in(trace)
    assert whole is not None
    assert resumed is not None
    (saved,) = (each.digest for each in whole.saved if each.name == "stream")
    loaded = [each.digest for each in resumed.loaded if each.name == "stream"]
    assert saved in loaded
    assert not [each for each in whole.later if each.name == "drawn"]
    assert [each.name for each in resumed.later if each.name in ("drawn", "kept")] == [
        "drawn",
        "kept",
    ]
    assert kept == [0.5]
    assert not [each for each in lost(whole, resumed, None) if each.name == "stream"]


def test_an_entry_that_did_not_come_back_is_lost() -> None:
    like = Held("opt", "['lr']", 5, "0.1", "main", "a.py", "opt")
    entry = like._replace(below=".state[0]", digest=9, text="")
    (found,) = lost(Snapshots([like], [like, entry]), Snapshots([], [like]), None)
    assert found.words == "opt.state[0] did not come back"
    assert found.is_anew
    parts = [entry._replace(below=f".state[{n}]", kind="SGD") for n in range(4)]
    (found,) = lost(Snapshots([like], [like, *parts]), Snapshots([], [like]), None)
    assert found.words == "opt (SGD): state[0], state[1] and 2 more did not come back"
    rng = held("rng", 4, kind="random.Random")._replace(text="")
    (found,) = lost(Snapshots([], [rng]), Snapshots([], [rng._replace(digest=9)]), None)
    assert found.words == "rng (random.Random) did not come back"


CLIP = """\
class Clip:
    def __init__(self):
        self.norms = []
        self.scheduler = StepLR(opt, 2)
    def __call__(self, parameters):
        self.norms.append(norm(parameters))
        clip_grad_norm_(parameters, quantile(self.norms, 0.5))
"""
TRAIN = """\
import helper
def main(model):
    clip, shown = helper.Clip(), []
    for step in range(9):
        if step == 6:
            model.thaw()
        shown.append(step)
        clip(model.parameters())
        print(shown)
"""
NET = """\
class Net(Module):
    def thaw(self):
        for p in self.body.parameters():
            p.requires_grad = True
    def mask(self, kept):
        for p in self.body.parameters():
            p.register_hook(kept.mul)
"""


def held(name: str, value: int, **more: Any) -> Held:
    return Held(f"clip.{name}", digest=4 * value + 1, text=str(value), name=name, **more)


def told(
    folder: Path, difference: Difference, *held_by: tuple[Sequence[Held], Sequence[Held]]
) -> tuple[Any, ...]:
    """What was lost, of a whole run and of a resumed one."""
    paths = [
        write(folder / name, text)
        for name, text in (("train.py", TRAIN), ("helper.py", CLIP), ("net.py", NET))
    ]
    traces = [str(folder / f"{number}.trace") for number in range(len(held_by))]
    for trace, (first, later) in zip(traces, held_by, strict=True):
        statements.write(trace, Snapshots(first, later))
    text = Text(map(str, paths))
    return losses(traces, text, difference), text


def difference_of(kind: Kind, cause: Cause = Cause.KERNEL, **more: Any) -> Difference:
    event = Event(kind, "head.bias", 0, "", None, b"")
    return Difference(0, 30, "training", event, None, cause, "It differs. More.", **more)


@pytest.mark.parametrize(
    ("kind", "agreed"),
    [
        ("gradient", "The inputs, the parameters and the loss"),
        ("loss", "The outputs"),
        ("output", "The inputs of the model"),  # parameters are recorded now and then
    ],
)
def test_a_value_that_is_kept_in_python(kind: Kind, agreed: str, tmp_path: Path) -> None:
    of_class = {"owner": "Clip", "file": str(tmp_path / "helper.py"), "is_field": True}
    begun, moved = ([held("norms", n, **of_class)] for n in (0, 5))
    difference = difference_of(kind)
    found, text = told(tmp_path, difference, (begun, moved), (begun, begun))
    refined = with_losses(difference, found)
    assert refined.cause is Cause.STATE
    assert refined.why.startswith(f"It differs. {agreed} agree")
    assert with_losses(replace(difference, why="It differs."), found).why == refined.why
    assert "Clip.norms was 5 and is 0 in the resumed run" in refined.why
    lines = with_possibilities((), Asked(refined, "", text, losses=found))
    assert (lines[0].file, lines[0].line) == (str(tmp_path / "helper.py"), 6)
    assert lines[0].message.endswith("it changes here, and line 3 begins it anew")
    assert lines[0].fits == LOST
    assert '`checkpoint["norms"] = clip.norms`' in advised(refined, lines)
    twice = [*found, *found]  # closures that share a variable hold it once each
    assert with_losses(difference, twice) == refined
    assert with_possibilities((), Asked(refined, "", text, losses=twice)) == lines


@pytest.mark.parametrize("role", ["", "module"])  # one that a module holds
def test_all_that_an_object_keeps_and_lost_is_saved_and_nothing_of_others(
    role: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "helper.py")
    of_class = {"owner": "Clip", "file": file, "is_field": True, "role": role}
    begun, moved = (
        [
            held("norms", n, **of_class),
            held("counts", n, **of_class),
            held("counts", n, **of_class)._replace(path="other.counts"),
        ]
        for n in (0, 5)
    )
    found, _ = told(tmp_path, difference_of("loss"), (begun, moved), (begun, begun))
    assert found[0].advice == (
        "Save all of it with the checkpoint, and load it before the first step: "
        '`checkpoint["norms"] = clip.norms` and `clip.norms = checkpoint["norms"]`; '
        '`checkpoint["counts"] = clip.counts` and `clip.counts = checkpoint["counts"]`.'
    )


def test_a_scheduler_is_named_for_a_hyperparameter_and_with_its_state_dict(tmp_path: Path) -> None:
    of_class = {"owner": "Clip", "file": str(tmp_path / "helper.py"), "is_field": True}
    object_ = {"below": ".last_epoch", "kind": "StepLR", "role": "scheduler"}
    object_["saved_in"] = "clip.scheduler"
    begun, moved = (
        [held("norms", n, **of_class), held("scheduler", n, **of_class, **object_)] for n in (0, 5)
    )
    difference = difference_of("hyperparameter", Cause.STATE, lost=("hyperparameter",))
    found, _ = told(tmp_path, difference, (begun, moved), (begun, begun))
    assert [each.counts for each in found] == [False, False]  # nothing reads it
    write(tmp_path / "helper.py", CLIP + "        self.scheduler.step()\n")
    text = Text([str(tmp_path / "helper.py")])
    traces = [str(tmp_path / f"{number}.trace") for number in (0, 1)]
    first, second = losses(traces, text, difference)
    assert (first.counts, second.counts) == (True, False)
    assert first.suspect.line == 4
    assert "Clip.scheduler (StepLR): last_epoch was 5 and is 0" in first.suspect.message
    assert "clip.scheduler.state_dict()" in first.advice
    assert 'clip.scheduler.load_state_dict(checkpoint["scheduler"])' in first.advice


class Memory(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(3), persistent=False)
        self.register_buffer("values", torch.zeros(3))
        self.plain = torch.zeros(3)


class Average:
    def __init__(self, model: torch.nn.Module) -> None:
        self.weights = [each.detach().clone() for each in model.parameters()]


ADVISED = {
    "memory.keys": "Register the buffer `memory.keys` without persistent=False: ",
    "memory.values": '`checkpoint["model"] = memory.state_dict()` and `memory.load_state_dict(',
    "memory.plain": '`checkpoint["plain"] = memory.plain` and `memory.plain = ',
    "memory.average.weights[0]": '`checkpoint["weights"] = memory.average.weights` and',
}


@pytest.mark.parametrize("name", ADVISED)
def test_no_call_is_advised_that_the_object_does_not_have(name: str, tmp_path: Path) -> None:
    memory = Memory()
    memory.average = Average(torch.nn.Linear(2, 1))  # type: ignore[assignment]
    begun = held_here()[name]

    moved = begun._replace(digest=begun.digest + 4)
    found, _ = told(tmp_path, difference_of("output"), ([begun], [moved]), ([begun], [begun]))
    (loss,) = found
    assert loss.fits
    assert ADVISED[name] in loss.advice


def test_a_variable_of_a_generator_is_not_said_to_be_saved_as_it_is(tmp_path: Path) -> None:
    def counted() -> Iterator[float]:
        warmth = 2.0
        while True:
            yield warmth
            warmth *= 0.5

    paused = counted()
    next(paused)
    (begun,) = (each for each in recording.held() if each.name == "warmth")
    assert (begun.path, begun.owner) == ("", "counted")

    moved = begun._replace(digest=begun.digest + 4, text="1.0")
    other = [each._replace(name="taken") for each in (begun, moved)]
    held_by = ([begun, other[0]], [moved, other[1]]), ([begun, other[0]], [begun, other[0]])
    found, _ = told(tmp_path, difference_of("output"), *held_by)
    assert found[0].advice.startswith(
        "No checkpoint holds what the generator `counted()` keeps in variables: `warmth` and "
        "`taken`. After loading, draw from it as often as before; or write a class"
    )


CLOSURE = """\
def make(parameters):
    usual, seen = None, []
    def clip():
        {}
        usual = norm(parameters)
        seen.append(usual)
    def other():
        return usual
    return {}
"""


@pytest.mark.parametrize(
    ("first", "name", "given", "is_out_of_reach", "line"),
    [
        ("nonlocal usual", "usual", "clip", True, 5),
        ("nonlocal usual", "seen", "clip", True, 6),
        ("nonlocal usual", "seen", "[norm, clip]", True, 6),
        ("insort(seen, 1)", "seen", "clip", True, 6),
        ("pass", "usual", "clip", False, 5),
        ("nonlocal usual", "seen", "partial(clip)", True, 6),
        ("nonlocal usual", "seen", "clip(seen)", False, 6),
        ("nonlocal usual", "seen", "clip, seen", False, 6),
    ],
)
def test_a_variable_of_the_function_around_is_not_said_to_be_saved_as_it_is(  # noqa: PLR0913
    first: str, name: str, given: str, line: int, tmp_path: Path, *, is_out_of_reach: bool
) -> None:
    text = CLOSURE.format(first, given)
    path = write(tmp_path / "clipping.py", text)
    begun = Held(name, digest=1, text="None", owner="clip", file=str(path), name=name)
    moved = begun._replace(digest=5, text="0.5")
    traces = [str(tmp_path / f"{number}.trace") for number in (0, 1)]
    for trace, later in zip(traces, (moved, begun), strict=True):
        statements.write(trace, Snapshots([begun], [later]))
    (loss,) = losses(traces, Text([str(path)]), difference_of("gradient"))
    told = f"No checkpoint reaches the variable `{name}` of the function around `clip()`"
    assert loss.advice.startswith(told if is_out_of_reach else "Save it with the checkpoint")
    assert loss.suspect.line == line


def test_what_fits_comes_first_and_all_that_was_lost_is_named(tmp_path: Path) -> None:
    of_class = {"owner": "Clip", "file": str(tmp_path / "helper.py"), "is_field": True}
    names = (("norms", "data"), ("0.5", ""), ("model", ""))
    begun, moved = (
        [held(name, n, role=role, **of_class) for name, role in reversed(names)] for n in (0, 5)
    )
    difference = difference_of("batch", Cause.STATE, lost=("batch",))
    found, _ = told(tmp_path, difference, (begun, moved), (begun, begun))
    refined = with_losses(difference, found)
    assert refined.advice == found[0].advice
    assert "Clip.norms was 5 and is 0 in the resumed run and Clip.model was 5" in refined.why


def test_what_is_only_printed_explains_nothing(tmp_path: Path) -> None:
    of_main = {"owner": "main", "file": str(tmp_path / "train.py")}
    begun, moved = ([held("shown", n, **of_main)] for n in (0, 5))
    difference = difference_of("loss")
    found, _ = told(tmp_path, difference, (begun, moved), (begun, begun))
    assert [each.counts for each in found] == [False]
    assert with_losses(difference, found) is difference


@pytest.mark.parametrize(
    ("name", "owner", "again", "is_told"),
    [
        ("norms", "Clip", 0, True),
        ("norms", "Clip", 3, False),  # it has come back, though not as it was
        ("shown", "main", 0, False),  # is only printed
    ],
)
def test_what_was_forgotten_and_shows_in_no_step(
    name: str, owner: str, again: int, is_told: bool, tmp_path: Path
) -> None:
    file = str(tmp_path / ("helper.py" if owner == "Clip" else "train.py"))
    begun, moved, after = (
        [held(name, n, owner=owner, file=file, is_field=owner == "Clip")] for n in (0, 5, again)
    )
    difference = difference_of("loss")
    _, text = told(tmp_path, difference, (begun, moved), (begun, after))
    found = forgotten([str(tmp_path / "0.trace"), str(tmp_path / "1.trace")], text)
    words = [each.suspect.message for each in found]
    assert [each.startswith("Clip.norms was 5 and is 0") for each in words] == [True] * is_told


PLACES = """\
import torch
seen = 0
def count():
    global seen
    seen += 1
    return seen
class Net(torch.nn.Module):
    rate: float = 0.5
    def __init__(self):
        self.register_buffer("scale", ones)
    def forward(self, x):
        self.scale.mul_(self.rate)
        self.rate -= 0.1
        return x * self.scale
def main(best):
    for epoch in range(3):
        mean = 0
        for x in loader:
            y = net(x)
            mean += y
            best = min(best, mean)
        if mean < best + seen:
            print(y)
"""


@pytest.mark.parametrize(
    ("like", "made", "changed", "is_read"),
    [
        (Held("", owner="<module>", name="seen"), 2, 5, True),
        (Held("", owner="Net", name="rate", is_field=True), 8, 13, True),
        (Held("", owner="Net", name="scale", is_field=True), 10, None, True),
        (Held("", owner="main", name="best"), 15, 21, True),
        (Held("", owner="main", name="mean"), 17, 20, True),
        (Held("", owner="main", name="y"), 19, None, False),
    ],
)
def test_where_something_is_made_and_changed(
    like: Held, made: int, changed: int | None, is_read: object, tmp_path: Path
) -> None:
    path = str(write(tmp_path / "train.py", PLACES))
    text, named = Text([path]), like._replace(file=path)
    variable = Variable(named.name, named.owner, named.file, named.is_field)
    found = [each and each[1] for each in text.def_use.made_and_changed(variable)]
    assert found == [made, changed]
    assert text.def_use.is_read(variable) is is_read


def test_what_is_trained_is_set_by_a_line_of_the_loop(tmp_path: Path) -> None:
    of_net = {"owner": "Net", "file": str(tmp_path / "net.py"), "is_field": True}
    part = {"below": ".0.weight.requires_grad", "kind": "Sequential", "role": "module"}
    begun, moved = ([held("body", n, **of_net, **part)] for n in (0, 5))
    difference = difference_of("gradient", Cause.STATE, lost=("requires_grad",))
    ((found,), _) = told(tmp_path, difference, (begun, moved), (begun, begun))
    assert (found.suspect.file, found.suspect.line) == (str(tmp_path / "train.py"), 6)
    assert "Set `clip.body.0.weight.requires_grad` again" in found.advice


def test_hooks_that_change_gradients_are_state_as_well(tmp_path: Path) -> None:
    of_net = {"owner": "Net", "file": str(tmp_path / "net.py"), "is_field": True}
    part = {"below": ".0.weight.hooks", "kind": "Sequential", "role": "module"}
    begun, moved = ([held("body", n, **of_net, **part)] for n in (0, 1))
    difference = difference_of("gradient")
    ((found,), _) = told(tmp_path, difference, (begun, moved), (begun, begun))
    assert (found.suspect.file, found.suspect.line) == (str(tmp_path / "net.py"), 7)
    assert found.advice.startswith("Call register_hook() of `clip.body.0.weight` again before")


def test_a_generator_that_was_lost_is_not_explained_by_other_state(tmp_path: Path) -> None:
    of_class = {"owner": "Clip", "file": str(tmp_path / "helper.py"), "is_field": True}
    begun, moved = ([held("norms", n, **of_class)] for n in (0, 5))
    difference = difference_of("batch", Cause.STATE, lost=("generator",), advice="Restore it.")
    found, _ = told(tmp_path, difference, (begun, moved), (begun, begun))
    assert with_losses(difference, found).advice == "Restore it."


def weights(value: int, shape: Sequence[int] | None, name: str = "mean") -> Held:
    return held(name, value)._replace(shape=shape)


@pytest.mark.parametrize(
    ("whole", "resumed", "is_told"),
    [
        (weights(5, [2, 3]), weights(4, [2, 3]), True),
        (weights(5, [2, 3]), weights(5, [2, 3]), False),
        (weights(5, [2, 3]), weights(4, [3, 3]), False),
        (weights(5, [2, 3]), weights(4, [2, 3], "other"), False),
        (weights(5, []), weights(4, []), False),
        (weights(5, None), weights(4, None), False),
    ],
    ids=["differs", "agrees", "of another shape", "not there", "a number", "no tensor"],
)
def test_what_differs_as_the_runs_end(
    whole: Held, resumed: Held, is_told: object, tmp_path: Path
) -> None:
    traces = [str(tmp_path / f"{number}.trace") for number in (0, 1)]
    for trace, each in zip(traces, (whole, resumed), strict=True):
        statements.write(trace, Snapshots([], [], [each]))
    found = left_apart(*traces)
    assert list(found.values()) == [whole] * bool(is_told)
    only = losses_of(tmp_path, found)
    assert [each.suspect.message for each in only] == (
        ["mean was 5 and is 0 in the resumed run; it is made here"] * bool(is_told)
    )


def losses_of(folder: Path, things: Collection[Thing]) -> tuple[Loss, ...]:
    """What was lost of some things, where a count was lost as well."""
    begun, moved = ([weights(n, [2, 3]), held("norms", n)] for n in (0, 5))
    text = Text([str(write(folder / "train.py", "mean = 0\nfit(mean)"))])
    of_file = {"owner": "<module>", "file": text.files[0]}
    traces = [str(folder / f"{name}.trace") for name in ("whole", "resumed")]
    for trace, later in zip(traces, (moved, begun), strict=True):
        statements.write(
            trace, Snapshots(*([e._replace(**of_file) for e in x] for x in (begun, later)))
        )
    named = [(text.files[0], "<module>", name) for _, _, name in things]
    return losses(traces, text, difference_of("held", Cause.STATE, lost=("held",)), named)


def test_what_a_function_has_held_is_told_when_it_has_returned(tmp_path: Path) -> None:
    taken, trace = recording.Snapshot(1), str(tmp_path / "rank0.trace")

    def train() -> None:
        mean = torch.zeros(2)
        for step in range(3):
            taken.take(step, trace)
            mean = mean + step

    train()
    taken.end()
    found = statements.held_in(trace)
    assert found is not None
    first, later, last = ([e for e in held if e.name == "mean"] for held in found[:3])
    assert [each[0].shape for each in (first, later, last)] == [[2]] * 3
    digests = [each[0].digest for each in (first, later, last)]
    assert digests[0] == digests[1] != digests[2]


def test_a_process_that_ends_before_the_step_tells_nothing(tmp_path: Path) -> None:
    taken, trace = recording.Snapshot(5), str(tmp_path / "rank0.trace")
    taken.take(0, trace)
    taken.end()
    assert statements.held_in(trace) is None


@pytest.mark.parametrize(
    ("code", "is_read"),
    [
        ("held[n] = x\nprint(held)", False),
        ("held[n][m] = x", False),
        ("held[n] = x\nsave(held)", True),
        ("held[n] = held[n] * x", True),
        ("held[n] += x", True),
        ("x[held] = n", True),
        ("x[n] = held", True),
    ],
)
def test_what_is_put_into_an_item_reads_nothing_of_the_rest(
    code: str, is_read: object, tmp_path: Path
) -> None:
    text = Text([str(write(tmp_path / "train.py", code))])
    assert text.def_use.is_read(Variable("held", "main", "", is_field=False)) is is_read
