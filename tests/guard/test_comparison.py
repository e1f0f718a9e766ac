"""Where two runs part first, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pytest
from recorded_runs import (
    CALLING,
    LOADING,
    altered,
    chained,
    digest,
    event,
    generator,
    place,
    step,
    summary,
    write,
)
from written_events import EventWriter

from guard.diff import Cause, Comparer, Comparison, Difference, compare, examine
from guard.diff.report import what
from guard.trace import Event, Header, TraceError, open_trace

if TYPE_CHECKING:
    from pathlib import Path

    from guard.trace import Trace

Edit = Callable[[list[Event], int], list[Event]]
SAME = {"torch: version": "2.13.0"}


def parted(folder: Path, first: dict[str, Any], second: dict[str, Any]) -> Difference:
    found = compared(folder, first, second).difference
    assert found is not None
    return found


def compared(folder: Path, first: dict[str, Any], second: dict[str, Any]) -> Comparison:
    runs = [write(folder / name, **how) for name, how in (("a", first), ("b", second))]
    return examine([runs[0]], [runs[1]])


def test_the_same_run_is_identical(tmp_path: Path) -> None:
    found = compared(tmp_path, {}, {})
    assert found.difference is None
    assert (found.steps, found.trainings, found.differing) == (6, 6, 0)


@pytest.mark.parametrize(
    ("edit", "cause", "named"),
    [
        (altered("output", "block.1", 3), Cause.KERNEL, ("output", "block.1", 3)),
        (altered("loss", None, 2), Cause.KERNEL, ("loss", "loss", 2)),
        (altered("gradient", None, 3), Cause.KERNEL, ("gradient", "head.weight", 3)),
        (
            altered("parameter", "head.weight"),
            Cause.INITIALISATION,
            ("parameter", "head.weight", 0),
        ),
        (altered("batch", "0", 2), Cause.BATCH_CONTENT, ("batch", "0", 2)),
        (
            altered("hyperparameter", "lr", 4, value=0.2),
            Cause.HYPERPARAMETER,
            ("hyperparameter", "lr", 4),
        ),
        (altered("generator", "torch.cpu", 2), Cause.GENERATOR, ("generator", "torch.cpu", 2)),
    ],
    ids=lambda value: value.name if isinstance(value, Cause) else "",
)
def test_what_still_agreed_tells_the_cause(
    edit: Edit, cause: Cause, named: tuple[str, str, int], tmp_path: Path
) -> None:
    found = parted(tmp_path, {}, {"edit": edit})
    assert found.cause is cause
    assert found.first is not None
    assert (found.first.kind, found.first.name, found.step) == named


def test_the_first_difference_decides_and_the_others_are_summed_up(tmp_path: Path) -> None:
    edit = chained(altered("output", "head", 3), altered("loss", None, 3), altered("output", "", 3))
    found = parted(tmp_path, {}, {"edit": edit})
    assert found.first is not None
    assert found.first.name == "head"
    assert found.place == place(CALLING)
    assert found.consequences == {"output": 5, "loss": 3}
    assert found.agreed[0] == "steps 0 to 2"


def test_a_gradient_is_named_where_backward_came_first(tmp_path: Path) -> None:
    edit = chained(altered("gradient", "stem.weight", 1), altered("gradient", "block.1.weight", 1))
    found = parted(tmp_path, {}, {"edit": edit})
    assert found.first is not None
    assert found.first.name == "block.1.weight"
    assert what(found) == "the gradient of block.1.weight"  # which need not be as backward gave it
    assert "where the program changes gradients afterwards" in found.why
    assert found.place == place(CALLING)
    assert "entered in the backward of block.1" in found.why


def test_the_same_batches_in_another_order_are_told_as_order(tmp_path: Path) -> None:
    def swap(events: list[Event], number: int) -> list[Event]:
        other = {2: 4, 4: 2, 3: 5, 5: 3}.get(number, number)
        return [
            replace(each, digest=digest(each.kind, each.name, other))
            if each.kind == "batch"
            else each
            for each in events
        ]

    found = parted(tmp_path, {}, {"edit": swap})
    assert found.cause is Cause.BATCH_ORDER
    assert found.place == place(LOADING)
    assert "Every recorded generator agrees" in found.why


def test_a_generator_that_was_drawn_from_otherwise_explains_a_batch(tmp_path: Path) -> None:
    edit = chained(altered("batch", None, 2), altered("generator", "torch.cpu", 2))
    found = parted(tmp_path, {}, {"edit": edit})
    assert found.cause is Cause.GENERATOR
    assert found.since == "the end of step 1"
    assert found.place == place(LOADING)
    assert "torch's generator of the CPU, which agreed until then" in found.why


def test_a_generator_that_never_agreed_explains_a_batch(tmp_path: Path) -> None:
    edit = chained(altered("batch", "0"), altered("generator", "torch.cpu"))
    found = parted(tmp_path, {}, {"edit": edit})
    assert found.cause is Cause.GENERATOR
    assert found.since == "the beginning of the recording"


def test_a_generator_that_nobody_draws_from_explains_nothing(tmp_path: Path) -> None:
    unseeded = altered("generator", "python")
    assert compared(tmp_path, {}, {"edit": unseeded}).difference is None
    found = parted(tmp_path, {}, {"edit": chained(unseeded, altered("batch", None, 2))})
    assert found.cause is Cause.BATCH_CONTENT


def test_an_unseeded_generator_on_which_nothing_depends_is_told_and_no_difference(
    tmp_path: Path,
) -> None:
    found = compared(tmp_path, {}, {"edit": altered("generator", "torch.cpu")})
    assert found.difference is None
    assert found.limits[-1].startswith(
        "Torch's generator of the CPU did not begin in the same state"
    )


@pytest.mark.parametrize("of_both", [False, True])
@pytest.mark.parametrize(
    ("kind", "cause"), [("batch", "GENERATOR"), ("parameter", "INITIALISATION")]
)
def test_that_a_generator_is_seeded_on_another_rank_is_told(
    kind: str, cause: str, tmp_path: Path, *, of_both: bool
) -> None:
    unseeded = altered("generator", "torch.cpu")
    other = unseeded if of_both else altered("batch", since=9)
    edits = {"a": [None, None], "b": [other, chained(unseeded, altered(kind))]}
    runs = [
        [
            write(tmp_path / f"{name}{rank}", edit=edit, header=Header(rank=rank, world_size=2))
            for rank, edit in enumerate(some)
        ]
        for name, some in edits.items()
    ]
    found = compare(*runs)
    assert found is not None
    assert (found.rank, found.cause.name) == (1, cause)
    told = "On rank 0 the generator agrees: it is seeded there." in found.why
    assert told is found.advice.endswith("Do so on each rank.") is not of_both


@pytest.mark.parametrize("by", ["workers", ""])
def test_workers_of_a_loader_are_named_where_there_are_any(
    tmp_path: Path, by: Literal["workers", ""]
) -> None:
    def seen(events: list[Event], _: int) -> list[Event]:
        return [replace(each, phase=by) if each.kind == "batch" else each for each in events]

    found = parted(tmp_path, {"edit": seen}, {"edit": chained(altered("batch", None, 3), seen)})
    assert "Every recorded generator agrees" in found.why
    assert ("; those of the loader's workers are not recorded" in found.why) is bool(by)


def test_generators_that_did_not_move_since_were_recorded(tmp_path: Path) -> None:
    def moved(events: list[Event], number: int) -> list[Event]:
        return [each for each in events if each.kind != "generator" or not number]

    def none(events: list[Event], _: int) -> list[Event]:
        return [each for each in events if each.kind != "generator"]

    for edit, says in ((moved, "Every recorded generator agrees"), (none, "No generator was")):
        folder = tmp_path / edit.__name__
        folder.mkdir()
        other = chained(altered("batch", None, 3), edit)
        assert says in parted(folder, {"edit": edit}, {"edit": other}).why


def test_another_environment_is_the_cause_only_of_what_nothing_else_explains(
    tmp_path: Path,
) -> None:
    header = Header(environment={"items": {"torch: version": "2.12.0"}})
    kernel = {"edit": altered("output", "stem", 1), "header": header}
    found = compared(tmp_path, {}, kernel)
    assert found.difference is not None
    assert found.difference.cause is Cause.ENVIRONMENT
    assert "torch: version (2.13.0 and 2.12.0)" in found.difference.why
    batch = compared(tmp_path, {}, {"edit": altered("batch", None, 1), "header": header})
    assert batch.difference is not None
    assert batch.difference.cause is Cause.BATCH_CONTENT
    assert [change.name for change in batch.changes] == ["torch: version"]


@pytest.mark.parametrize(
    ("first", "second", "cause"),
    [
        ({"later": {"torch: threads": 2}}, {"later": {"torch: threads": 3}}, Cause.ENVIRONMENT),
        ({"later": {"torch: threads": 2}}, {"later": {"torch: threads": 2}}, Cause.KERNEL),
        ({"later": {"torch: threads": 2}}, {}, Cause.KERNEL),
    ],
)
def test_the_environment_is_that_in_which_both_trained(
    first: dict[str, Any], second: dict[str, Any], cause: Cause, tmp_path: Path
) -> None:
    one, other = (
        Header(environment={"items": {"torch: threads": 4}, **each}) for each in (first, second)
    )
    edited = {"edit": altered("gradient", None, 1), "header": other}
    assert parted(tmp_path, {"header": one}, edited).cause is cause


def test_hash_seeds_explain_no_kernel(tmp_path: Path) -> None:
    headers = [
        Header(environment={"items": {**SAME, "interpreter: hash_seed": seed}}) for seed in "01"
    ]
    edited = {"edit": altered("output", "stem", 1), "header": headers[1]}
    found = parted(tmp_path, {"header": headers[0]}, edited)
    assert found.cause is Cause.KERNEL


def test_other_calls_are_control_flow_with_what_is_new_and_where(tmp_path: Path) -> None:
    def insert(events: list[Event], number: int) -> list[Event]:
        extra = event("output", "extra", number, place=place(77))
        return [*events[:3], extra, *events[3:]] if number == 3 else events

    found = parted(tmp_path, {}, {"edit": insert})
    assert found.cause is Cause.CONTROL_FLOW
    assert found.parted == ("+ the output of extra",)
    assert found.why == (
        "After the output of stem, which agrees, only the second run has the output of extra."
    )
    assert found.place == place(77)


@pytest.mark.parametrize("draws", [True, False])
def test_an_evaluation_of_one_run_is_told_by_what_it_draws(tmp_path: Path, draws: bool) -> None:
    first = write(tmp_path / "a")
    writer = EventWriter(tmp_path / "b", first.header)
    for number in range(6):
        events = step(number, first=number == 0)
        if number == 3:
            probe = [event("output", "stem", "probe"), generator("torch.cpu", "probe")]
            writer.step("evaluation", probe, digest("probe", size=16))
        if number >= 3 and draws:
            for kind, name in (("output", "block.1"), ("generator", "torch.cpu")):
                events = altered(kind, name)(events, number)
        held = [each.digest for each in events if each.kind != "generator"]
        writer.step("training", events, digest(held, size=16))
    writer.close()
    found = examine([first], [open_trace(tmp_path / "b")]).difference

    assert found is not None
    assert found.step == 3
    assert found.cause is (Cause.GENERATOR if draws else Cause.CONTROL_FLOW)
    assert found.generators == (("torch.cpu",) if draws else ())


def test_another_order_of_the_same_calls_is_control_flow(tmp_path: Path) -> None:
    def swap(events: list[Event], number: int) -> list[Event]:
        return [*events[:2], events[3], events[2], *events[4:]] if number == 2 else events

    found = parted(tmp_path, {}, {"edit": swap})
    assert found.cause is Cause.CONTROL_FLOW
    assert "in another order" in found.why


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (None, "the second run breaks off without an end, as if it had been killed"),
        ("raised", "the second run ends with an error (ValueError: NaN in the loss)"),
        ("finished", "the second run ends, and the first goes on for 2 steps."),
    ],
)
def test_a_shorter_run_is_compared_as_far_as_it_goes(
    end: str | None, words: str, tmp_path: Path
) -> None:
    found = parted(tmp_path, {}, {"steps": 4, "end": end})
    assert (found.cause, found.step) == (Cause.LENGTH, 4)
    assert found.why.startswith("The first 4 steps agree.")
    assert words in found.why


def test_a_recording_that_was_stopped_is_no_shorter_run(tmp_path: Path) -> None:
    found = compared(tmp_path, {}, {"steps": 4, "end": "stopped"})
    assert found.difference is None
    assert found.limits[0] == "The recording of run 2 was stopped after 4 steps."


def test_the_first_of_several_ranks_decides(tmp_path: Path) -> None:
    def run(name: str, *edits: Any) -> list[Trace]:
        return [
            write(tmp_path / f"{name}{rank}", edit=edit, header=Header(rank=rank, world_size=2))
            for rank, edit in enumerate(edits)
        ]

    late, early = altered("gradient", None, 3), altered("batch", None, 3)
    found = compare(run("a", None, None), run("b", late, early))
    assert found is not None
    assert (found.rank, found.cause) == (1, Cause.BATCH_CONTENT)


def test_a_rank_may_have_fewer_steps_than_that_which_parts(tmp_path: Path) -> None:
    def run(name: str, edit: Edit | None) -> list[Trace]:
        headers = [Header(rank=rank, world_size=2) for rank in (0, 1)]
        longer = write(tmp_path / f"{name}0", steps=6, edit=edit, header=headers[0])
        return [longer, write(tmp_path / f"{name}1", steps=2, header=headers[1])]

    found = examine(run("a", None), run("b", altered("gradient", None, 4)))
    assert found.difference is not None
    assert (found.difference.rank, found.difference.step, found.steps) == (0, 4, 2)
    assert found.totals["gradient"] == sum(e.kind == "gradient" for e in step(4) + step(5))


def test_a_rank_without_a_trace_is_a_difference(tmp_path: Path) -> None:
    first = [write(tmp_path / f"a{rank}", header=Header(rank=rank)) for rank in (0, 1)]
    found = compare(first, [write(tmp_path / "b0", header=Header())])
    assert found is not None
    assert "Only the first run has a trace of rank 1" in found.why


def test_a_hidden_difference_is_told_as_such(tmp_path: Path) -> None:
    def write_twice(name: str, whole: bytes) -> Trace:
        from guard.trace import open_trace

        writer = EventWriter(tmp_path / name, Header())
        writer.step("training", [event("loss", "loss", 1, value=1.0)], whole)
        writer.end("finished")
        return open_trace(tmp_path / name)

    found = compare([write_twice("a", bytes(16))], [write_twice("b", b"\1" * 16)])
    assert found is not None
    assert "has the same fingerprint of 32 bits in both runs" in found.why
    assert (found.first, found.second) == (None, None)


def test_nan_in_one_run_alone_looks_like_unwritten_memory(tmp_path: Path) -> None:
    edits = [
        altered("output", "head", 0, held, summary=summary(1.0, held))
        for held in (2.0, float("nan"))
    ]
    found = parted(tmp_path, {"edit": edits[0]}, {"edit": edits[1]})
    assert found.cause is Cause.UNWRITTEN_MEMORY


def test_values_tell_how_far_apart(tmp_path: Path) -> None:
    edits = [
        altered("output", "head", 2, held, summary=summary(1.0, held)) for held in (2.0, 2 + 2**-21)
    ]
    found = compared(tmp_path, {"edit": edits[0]}, {"edit": edits[1]})
    assert found.difference is not None
    assert found.difference.size == (2**-21, 2.0)
    assert [each.step for each in found.growth] == [2, 3, 4, 5]


def test_an_operator_with_equal_inputs_is_the_kernel(tmp_path: Path) -> None:
    def add(held: str, name: str, inputs: str = "same") -> Edit:
        ran = event(
            "operator",
            name,
            held,
            phase="backward",
            module="block.0",
            inputs=digest(inputs),
            place=place(9),
        )
        return lambda events, number: [*events, ran] if number == 1 else events

    name = "aten.index_put_.default"
    found = parted(tmp_path, {"edit": add("a", name)}, {"edit": add("b", name)})
    assert (found.cause, found.place) == (Cause.KERNEL, place(9))
    assert found.why.startswith("The inputs of aten.index_put_.default (backward) in block.0 agree")
    name = "aten.native_dropout.default"
    found = parted(tmp_path, {"edit": add("a", name)}, {"edit": add("b", name)})
    assert found.cause is Cause.GENERATOR


@pytest.mark.parametrize(
    ("before", "values", "cause"),
    [
        ((), (0.5, 0.25), Cause.OUTSIDE),
        (("aten.empty.memory_format",), (0.5, 0.25), Cause.OUTSIDE),
        ((), (None, None), Cause.OUTSIDE),
        (("aten.empty.memory_format",), (None, None), Cause.UNWRITTEN_MEMORY),
    ],
    ids=["number", "number, and memory", "tensor", "memory"],
)
def test_what_an_operator_was_given_from_outside(
    before: tuple[str, ...], values: tuple[float | None, float | None], cause: Cause, tmp_path: Path
) -> None:
    def add(value: float | None, held: str) -> Edit:
        ran = [event("operator", name, 0) for name in before]
        given = digest(held)
        last = event("operator", "aten.mul.Tensor", held, inputs=given, value=value, place=place(9))
        return lambda events, number: [*events, *ran, last] if number == 1 else events

    first, second = (add(value, held) for value, held in zip(values, "ab", strict=True))
    found = parted(tmp_path, {"edit": first}, {"edit": second})
    assert (found.cause, found.place) == (cause, place(9))
    if values[0] is not None:
        assert found.why == "aten.mul.Tensor was given another number: 0.5 and 0.25."


def test_layers_made_in_another_order_are_their_initialisation(tmp_path: Path) -> None:
    def made(*names: str) -> Edit:
        held = [event("parameter", each, at) for at, each in enumerate(names)]
        return lambda events, number: [*held, *events] if number == 0 else events

    found = parted(
        tmp_path, {"edit": made("heads.a", "heads.b")}, {"edit": made("heads.b", "heads.a")}
    )
    assert found.cause is Cause.INITIALISATION
    assert "its layers were made, and their values drawn, in another order" in found.why
    found = parted(tmp_path, {"edit": made("heads.a", "heads.b")}, {"edit": made("heads.a")})
    assert found.cause is Cause.CONTROL_FLOW


def test_fingerprints_of_different_hashes_are_not_compared(tmp_path: Path) -> None:
    headers = [Header(options={"hash": name}) for name in ("xxh3", "sha256")]
    runs = [write(tmp_path / str(at), header=header) for at, header in enumerate(headers)]
    with pytest.raises(TraceError, match="which cannot be compared"):
        compare(runs[:1], runs[1:])


def test_a_comparer_follows_runs_that_are_being_written(tmp_path: Path) -> None:
    from recorded_runs import step

    from guard.trace import open_trace

    writers = [EventWriter(tmp_path / name, Header()) for name in "ab"]
    comparer = Comparer(*([open_trace(tmp_path / name)] for name in "ab"))
    assert comparer.advance() is None
    for number in range(3):
        events = step(number, first=not number)
        writers[0].step("training", events, bytes(16))
        assert comparer.advance() is None
        if number == 2:
            events = altered("output", "head")(events, number)
        writers[1].step("training", events, bytes(16))
        found = comparer.advance()
        assert (found is not None) == (number == 2)
    assert found is not None
    assert found.step == 2


def test_a_rank_that_has_written_nothing_so_far_may_have_parted_first(tmp_path: Path) -> None:
    from recorded_runs import step

    headers = [Header(rank=rank, world_size=2) for rank in (0, 1)]
    runs: tuple[list[Trace], list[Trace]] = ([], [])

    def begin(rank: int) -> list[EventWriter]:
        names = [tmp_path / f"{run}{rank}" for run in "ab"]
        writers = [EventWriter(each, headers[rank]) for each in names]
        for run, each in zip(runs, names, strict=True):
            run.append(open_trace(each))
        return writers

    def write_step(writers: list[EventWriter], kind: str, name: str) -> None:
        events = step(0, first=True)
        for writer, each in zip(writers, (events, altered(kind, name)(events, 0)), strict=True):
            writer.step("training", each, bytes(16))

    first = begin(0)
    comparer = Comparer(*runs)
    write_step(first, "output", "head")
    assert comparer.advance() is None
    write_step(begin(1), "batch", "0")
    found = comparer.advance()
    assert found is not None
    assert found.rank == 1


def test_a_generator_drawn_from_in_one_run_alone_parts_them(tmp_path: Path) -> None:
    def draw(events: list[Event], number: int) -> list[Event]:
        return [*events, generator("torch.cpu", "more", call=1)] if number == 2 else events

    found = parted(tmp_path, {}, {"edit": draw})
    assert (found.cause, found.step) == (Cause.GENERATOR, 2)


def test_an_object_that_a_thread_may_draw_from_parts_nothing_by_itself(tmp_path: Path) -> None:
    def drawn(name: str) -> Edit:
        def more(events: list[Event], number: int) -> list[Event]:
            return [*events, generator(name, f"{name} {number}")]

        return chained(more, altered("generator", name, 2))

    def same(name: str) -> Edit:
        return lambda events, number: [*events, generator(name, f"{name} {number}")]

    own = "made at train.py:3"
    assert compared(tmp_path, {"edit": same(own)}, {"edit": drawn(own)}).difference is None
    found = parted(tmp_path, {"edit": same("Data.generator")}, {"edit": drawn("Data.generator")})
    assert found.cause is Cause.GENERATOR
    batch = chained(drawn(own), altered("batch", None, 3))
    found = parted(tmp_path, {"edit": same(own)}, {"edit": batch})
    assert (found.step, found.cause) == (3, Cause.GENERATOR)


def test_a_generator_that_agrees_again_at_the_end_of_the_step_parts_them(tmp_path: Path) -> None:
    def drawing(between: str) -> Edit:
        def edit(events: list[Event], number: int) -> list[Event]:
            more = [
                generator("torch.cpu", each, call=at) for at, each in ((1, between), (2, "end"))
            ]
            return [*events, *more] if number == 2 else events

        return edit

    found = parted(tmp_path, {"edit": drawing("one")}, {"edit": drawing("other")})
    assert (found.cause, found.step) == (Cause.GENERATOR, 2)
    assert "the same again at the end of the step" in found.why
    assert found.first is not None
    assert found.second is not None
    assert found.first.digest != found.second.digest


def test_one_batch_that_holds_something_else_is_no_other_order(tmp_path: Path) -> None:
    def once(events: list[Event], number: int) -> list[Event]:
        return altered("batch", "0")(events, number) if number == 1 else events

    assert parted(tmp_path, {}, {"edit": once}).cause is Cause.BATCH_CONTENT


def test_an_input_that_one_run_leaves_out_was_decided(tmp_path: Path) -> None:
    def entering(detail: str) -> Edit:
        def edit(events: list[Event], number: int) -> list[Event]:
            shown = detail if number == 2 else "float32[2]"
            given = event("batch", "Net input", (number, shown), detail=shown)
            return [given, *(each for each in events if each.kind != "batch")]

        return edit

    found = parted(tmp_path, {"edit": entering("NoneType")}, {"edit": entering("float32[2]")})
    assert (found.cause, found.step) == (Cause.CONTROL_FLOW, 2)
    assert "The input of Net has None in one run" in found.why


def test_a_hyperparameter_that_is_recorded_where_it_changed_is_compared_with_the_last(
    tmp_path: Path,
) -> None:
    def changed(events: list[Event], number: int) -> list[Event]:
        events = [each for each in events if number == 0 or each.kind != "hyperparameter"]
        late = event("hyperparameter", "lr", 0.5, value=0.5, detail="")
        whole = event("hyperparameter", "SGD", also and number >= 3)
        return [*events[:9], *([late] if number == 3 and also else []), whole, *events[9:]]

    also = False
    first = write(tmp_path / "a", edit=changed)
    also = True
    found = compare([first], [write(tmp_path / "b", edit=changed)])
    assert found is not None
    assert found.cause is Cause.HYPERPARAMETER
    assert found.first is None
    assert found.second is not None
    assert found.second.name == "lr"
    assert "The hyperparameter lr is 0.1 in the first run, 0.5 in the second." in found.why


def test_an_optimizer_that_steps_in_one_run_alone_is_no_hyperparameter(tmp_path: Path) -> None:
    def stepping(events: list[Event], number: int) -> list[Event]:
        return [event("hyperparameter", "critic", "all")] if number == 3 else events

    found = parted(tmp_path, {}, {"edit": stepping})
    assert (found.cause, found.step) == (Cause.CONTROL_FLOW, 3)
    assert "- the batch (0)" in found.parted


def test_parameters_that_an_optimizer_left_otherwise_are_its_doing(tmp_path: Path) -> None:
    def finish(held: str) -> Edit:
        names = (("hyperparameter", ""), ("parameter", held))
        return lambda events, _: [*events, *(event(kind, "AdamW", of) for kind, of in names)]

    found = parted(tmp_path, {"edit": finish("a")}, {"edit": finish("b")})
    assert (found.cause, found.step) == (Cause.KERNEL, 0)
    assert found.why.startswith("All gradients agree, and the parameters as AdamW left them do not")


def test_same_input_is_said_only_where_it_was_recorded(tmp_path: Path) -> None:
    def entering(events: list[Event], number: int) -> list[Event]:
        given = event("batch", "head input", number)
        at = next(at for at, each in enumerate(events) if each.kind == "output")
        return [*events[:at], given, *events[at:]]

    inner = parted(tmp_path, {}, {"edit": altered("output", "head", 3)})
    assert "head gave another result, or was given something else" in inner.why
    edit = chained(entering, altered("output", "head", 3))
    whole = parted(tmp_path, {"edit": entering}, {"edit": edit})
    assert "head gave another result for the same input" in whole.why
    loss = parted(tmp_path, {}, {"edit": altered("loss", None, 2)})
    assert "the same input" not in loss.why


@pytest.mark.parametrize("loaded", ["0", "head input"])
def test_a_loader_is_said_to_agree_only_where_it_gave_a_batch(loaded: str, tmp_path: Path) -> None:
    def entering(value: str) -> Edit:
        def edit(events: list[Event], number: int) -> list[Event]:
            others = (each for each in events if each.kind != "batch")
            given = (event("batch", loaded, number), event("batch", "head input", value, call=1))
            return [*given, *others]

        return edit

    found = parted(tmp_path, {"edit": entering("a")}, {"edit": entering("b")})
    assert found.cause is Cause.BATCH_CONTENT
    assert ("the loader gave" in found.why) == (loaded == "0")


@pytest.mark.parametrize("since", [1, 3])
def test_a_buffer_that_is_recorded_late_was_made_so(since: int, tmp_path: Path) -> None:
    def held(number: int, run: int) -> list[Event]:
        value = run if number >= 3 else 0
        return [event("buffer", "Loss:weight", str(value))] if number >= since else []

    def edit(run: int) -> Edit:
        return lambda events, number: [*events, *held(number, run)]

    found = parted(tmp_path, {"edit": edit(0)}, {"edit": edit(1)})
    assert (found.step, found.first and found.first.name) == (3, "Loss:weight")
    is_new = since == 3
    assert (found.cause is Cause.INITIALISATION) is is_new
    assert ("it was made or given so" in found.why) is is_new
    assert ("also what the buffer's module was given" in found.why) is not is_new


def test_parameters_made_before_the_seed_are_told_as_such(tmp_path: Path) -> None:
    edit = altered("parameter", "head.weight", place=place(12))
    found = parted(tmp_path, {"edit": edit}, {"edit": altered("parameter", "head.weight", 0, 3)})
    assert (found.cause, found.place) == (Cause.INITIALISATION, place(12))
    assert "seeded only after the model was made, or" in found.why
    assert "Seed before the model is made" in found.advice


def test_the_state_at_the_end_is_no_step(tmp_path: Path) -> None:
    runs = []
    for name in ("a", "b"):
        writer = EventWriter(tmp_path / name, Header())
        writer.step("training", [event("loss", "loss", 1, value=1.0)], bytes(16))
        writer.step("end", [event("parameter", "weight", 1)], bytes(16))
        runs.append(open_trace(tmp_path / name))  # the frame that ends the file is still to come
    found = examine(runs[:1], runs[1:])
    assert (found.steps, found.trainings) == (1, 1)
