"""Trace files: written step by step, and read whatever became of them."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
from written_events import EventWriter, body_of, label_of

from guard.observe.places import Place
from guard.trace import (
    Event,
    Header,
    Summary,
    TraceError,
    encoding,
    open_run,
    open_trace,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PLACE = Place("train.py", 12, "main")
STEP = b"s" * 16


def output(name: str, digest: bytes = b"\1\2\3\4", detail: str = "float32[2, 3]") -> Event:
    return Event("output", name, 0, detail, PLACE, digest, phase="forward")


EVENTS = (
    Event("batch", "loader", 0, "float32[2, 3]", PLACE, b"abcd"),
    output("encoder.ä\udc80", b"\0\0\0\0"),
    Event("loss", "loss", 0, "float32[]", None, b"efgh", value=float("inf")),
    Event(
        "operator",
        "aten.sum.default",
        3,
        "float32[]",
        PLACE,
        b"ijkl",
        summary=Summary(-1.0, 2.0, 0.5, 2.0, (1.0, -0.0)),
        phase="backward",
        module="encoder",
        inputs=b"mnop",
    ),
)


def write(path: Path, steps: int = 3, events: Sequence[Event] = EVENTS, **header: object) -> Path:
    writer = EventWriter(path, Header(**header))  # type: ignore[arg-type]
    for _ in range(steps):
        writer.step("training", events, STEP)
    writer.end("finished")
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "run" / "rank0.trace", rank=2, command=("train.py", "--fast"), seed=7)
    trace = open_trace(path)
    assert len(trace) == 3
    assert trace.complete
    assert trace.end is not None
    assert (trace.end.status, trace.end.message) == ("finished", "")
    assert trace.header.command == ("train.py", "--fast")
    assert (trace.header.rank, trace.header.seed, trace.unread) == (2, 7, 0)
    assert [each.number for each in trace.steps()] == [0, 1, 2]
    assert trace.step(-1).events == EVENTS
    assert (trace.step(1).kind, trace.step(1).digest) == ("training", STEP)
    with pytest.raises(IndexError):
        trace.step(3)


def test_the_state_at_the_end_is_no_step_that_was_done(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path / "rank0.trace", Header())
    for kind, done in (("training", 1), ("evaluation", 2), ("end", 2)):
        writer.step(kind, EVENTS, STEP)  # type: ignore[arg-type]
        trace = open_trace(writer.path)
        assert (trace.done, trace.has_end()) == (done, kind == "end")
    writer.end("raised")


def test_digests_are_cut_to_the_size_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.trace", events=(output("a", b"0123456789"),), digest_size=8)
    assert open_trace(path).step(0).events[0].digest == b"01234567"


def test_a_resumed_run_counts_on(tmp_path: Path) -> None:
    trace = open_trace(write(tmp_path / "a.trace", first_step=40))
    assert [each.number for each in trace.steps(1)] == [41, 42]


def test_equal_steps_have_equal_bytes_in_any_file(tmp_path: Path) -> None:
    first = EventWriter(tmp_path / "a.trace", Header())
    first.step("evaluation", (output("other"),), STEP)
    first.step("training", EVENTS, STEP)
    first.end("finished")
    moved = [Event(*_fields(each, place=Place("/elsewhere/t.py", 99, "f"))) for each in EVENTS]
    second = open_trace(write(tmp_path / "b.trace", 1, moved))
    assert open_trace(first.path).raw(1) == second.raw(0)
    for name, value in (("digest", b"abce"), ("name", "other"), ("detail", "int64[2, 3]")):
        changed = [Event(*_fields(EVENTS[0], **{name: value})), *EVENTS[1:]]
        assert open_trace(write(tmp_path / "c.trace", 1, changed)).raw(0) != second.raw(0)


def _fields(event: Event, **changed: object) -> list[object]:
    names = Event.__dataclass_fields__
    return [changed.get(name, getattr(event, name)) for name in names]


def test_a_tail_torn_at_any_byte_leaves_what_is_whole(tmp_path: Path) -> None:
    content = write(tmp_path / "whole.trace").read_bytes()
    torn = tmp_path / "torn.trace"
    lengths = set()
    for size in range(len(content)):
        torn.write_bytes(content[:size])
        try:
            trace = open_trace(torn)
        except TraceError as error:
            assert "no trace" in str(error) or "cut off" in str(error)  # noqa: PT017
            assert not lengths
            continue
        assert not trace.complete
        assert [each.events for each in trace.steps()] == [EVENTS] * len(trace)
        lengths.add(len(trace))
    assert lengths == {0, 1, 2, 3}


def test_damage_ends_what_is_read(tmp_path: Path) -> None:
    content = bytearray(write(tmp_path / "whole.trace").read_bytes())
    content[content.rindex(b"abcd")] ^= 1  # in the last step
    damaged = tmp_path / "damaged.trace"
    damaged.write_bytes(content)
    trace = open_trace(damaged)
    assert len(trace) == 2
    assert not trace.complete
    assert trace.unread > 0


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    with pytest.raises(TraceError, match=r"cannot open .*a\.trace"):
        open_trace(path)
    path.write_bytes(b"")
    with pytest.raises(TraceError, match="no trace of guard's"):
        open_trace(path)
    path.write_bytes(b"PK\3\4 and so on")
    with pytest.raises(TraceError, match="no trace of guard's"):
        open_trace(path)
    with pytest.raises(TraceError, match="holds no trace"):
        open_run(tmp_path / "..")


def test_another_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    content = json.dumps({"version": 9, "rank": 0}).encode()
    path.write_bytes(encoding.MAGIC + encoding.frame(encoding.HEADER, content))
    with pytest.raises(TraceError, match="version 9, and this guard reads version 1"):
        open_trace(path)


def test_frames_of_a_later_release_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    content = json.dumps({**Header().as_dict(), "unheard of": 1}).encode()
    path.write_bytes(
        encoding.MAGIC
        + encoding.frame(encoding.HEADER, content)
        + encoding.frame(200, b"unheard of")
        + encoding.frame(encoding.END, b'{"status": "stopped", "message": "full"}')
    )
    trace = open_trace(path)
    assert trace.end is not None
    assert (len(trace), trace.end.message) == (0, "full")


def test_a_growing_file_is_read_on(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path / "a.trace", Header())
    trace = open_trace(writer.path)
    assert len(trace) == 0
    for count in range(1, 4):
        writer.step("training", (output(f"layer{count}"),), STEP)
        assert len(trace) == count - 1
        trace.refresh()
        assert trace.step(-1).events == (output(f"layer{count}"),)
    writer.end("raised", "ValueError: no")
    trace.refresh()
    assert trace.end is not None
    assert trace.end.status == "raised"


def test_a_step_larger_than_a_block_is_read(tmp_path: Path) -> None:
    many = [output(f"layer{index}") for index in range(4000)]
    writer = EventWriter(tmp_path / "a.trace", Header())
    for _ in range(150):
        writer.step("training", many, STEP)
    assert os.path.getsize(writer.path) > 2 << 20
    assert len(open_trace(writer.path)) == 150
    huge = (Event("output", "a", 0, os.urandom(2 << 20).hex(), None, b"abcd"),)
    assert open_trace(write(tmp_path / "b.trace", 2, huge)).step(1).events == huge


def test_a_run_is_sorted_by_rank(tmp_path: Path) -> None:
    for rank in (10, 2, 0):
        write(tmp_path / f"rank{rank}.trace", rank=rank)
    (tmp_path / "rank1.trace.123.new").write_bytes(b"left over")
    assert [each.header.rank for each in open_run(tmp_path)] == [0, 2, 10]
    assert len(open_run(tmp_path / "rank2.trace")) == 1


def test_ten_thousand_steps_are_small_and_quickly_read(tmp_path: Path) -> None:
    """A model of 100 modules with 100 parameters, one in fifty steps of another shape."""
    events = [output(f"encoder.layers.{index}") for index in range(200)]
    varied = [output(f"encoder.layers.{index}", detail="float32[2, 9]") for index in range(200)]
    writer = EventWriter(tmp_path / "a.trace", Header())
    schema, body = writer.schema(list(map(label_of, events))), body_of(events, 4)
    for index in range(10_000):
        if index % 50 == 7:
            changed = [Event(*_fields(varied[0], name=str(index))), *varied[1:]]
            writer.step("training", changed, STEP)
        else:
            writer.packed("training", schema, body, STEP)
    writer.end("finished")
    assert os.path.getsize(writer.path) < 10 << 20
    start = time.process_time()
    trace = open_trace(writer.path)
    equal = sum(trace.raw(index) == trace.raw(0) for index in range(len(trace)))
    assert time.process_time() - start < 1.5
    assert equal == 9800


def test_the_environment_can_come_again_before_a_step(tmp_path: Path) -> None:
    path = tmp_path / "rank0.trace"
    writer = EventWriter(path, Header(environment={"items": {"torch: threads": 2}}))
    writer.step("evaluation", EVENTS, STEP)
    found = open_trace(path)
    assert "later" not in found.header.environment
    writer.environment({"torch: threads": 3})
    writer.step("training", EVENTS, STEP)
    writer.end("finished")
    found.refresh()
    assert len(found) == 2
    assert found.header.environment == {
        "items": {"torch: threads": 2},
        "later": {"torch: threads": 3},
    }
