"""What compare prints, and the page that it writes."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded_runs import altered, digest, event, place, summary, write
from written_events import EventWriter

from guard.__main__ import main
from guard.diff import (
    Comparison,
    Confidence,
    Explanation,
    Link,
    Operator,
    Source,
    Suspect,
    as_json,
    examine,
    page,
    text,
)
from guard.trace import Header, open_trace

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "</script><script>document.title='run'</script>\x1b[31m"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    edits = [
        altered("output", "head", 3, held, summary=summary(1.0, held)) for held in (2.0, 2.000001)
    ]
    first, second = (write(tmp_path / f"{at}.trace", edit=each) for at, each in enumerate(edits))
    found = examine([first], [second], ("first", f"runs/{EVIL}"))
    operator = Operator("aten.index_put_.default", "backward", place(9), "head", "use where")
    suspect = Suspect("DET204", f"os.listdir {EVIL}", "data.py", 12, "an order of files")
    return replace(found, operators=(operator,), suspects=(suspect,), notes=("It came back.",))


def test_the_text_says_where_why_and_what_next(comparison: Comparison) -> None:
    lines = text(comparison, io.StringIO()).splitlines()
    assert lines[0] == "The runs part at step 3: the output of head."
    told = {line[:10].strip(): line[10:] for line in lines[1:] if line[:10].strip()}
    assert told["cause"] == "kernel"
    assert told["where"] == "/srv/train.py:31, in main"
    assert told["operator"].startswith(
        "aten.index_put_.default (backward) in head: /srv/train.py:9"
    )
    assert told["operator"].endswith("; to do: use where")
    assert told["suspect"].startswith("DET204 data.py:12: os.listdir ")
    assert told["then"] == "3 steps differ from there on: 2 of 18 module outputs"
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize(
    ("since", "told"),
    [
        (0, "1 step differs from there on: 1 of 1 parameter"),
        (1, "no step differs, only the state in which the runs end: 1 of 2 parameters"),
    ],
)
def test_the_state_at_the_end_is_no_step_that_differs(
    tmp_path: Path, since: int, told: str
) -> None:
    traces = []
    for run in ("a", "b"):
        with_loss = [event("loss", "loss", run if since == 0 else 1, value=1.0)]
        held = [event("parameter", name, run) for name in ("weight", "bias")[: since + 1]]
        writer = EventWriter(tmp_path / run, Header())
        writer.step("training", with_loss, digest(run if since == 0 else 1, size=16))
        writer.step("end", held, digest(run, size=16))
        writer.end("finished")
        traces.append(open_trace(tmp_path / run))
    found = text(examine(traces[:1], traces[1:]), io.StringIO())
    assert told in " ".join(found.split())


def test_the_text_of_identical_runs_says_what_was_compared(tmp_path: Path) -> None:
    trace = write(tmp_path / "a.trace")
    lines = text(examine([trace], [trace]), io.StringIO()).splitlines()
    assert lines[0] == "Identical, bit for bit, 6 steps."
    assert lines[1].startswith("compared  6 steps: batches, module outputs, losses, gradients")
    assert "No buffers and optimizer states were compared" in lines[2]


def test_json_is_json_and_has_no_numbers_that_are_none(comparison: Comparison) -> None:
    found = json.loads(json.dumps(as_json(comparison), allow_nan=False))
    assert found["identical"] is False
    assert found["difference"]["cause"] == "KERNEL"
    assert found["difference"]["place"] == {"file": "/srv/train.py", "line": 31, "function": "main"}
    assert found["operators"][0]["place"]["line"] == 9
    assert len(found["growth"]) == 3


@pytest.mark.parametrize(("edit", "status"), [(None, 0), (altered("loss", None, 1), 1)])
def test_the_status_says_whether_they_differ(
    edit: object, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, each in (("a", None), ("b", edit)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "rank0.trace", edit=each)  # type: ignore[arg-type]
    paths = [str(tmp_path / name) for name in "ab"]
    assert main(["compare", *paths, "--html", str(tmp_path / "page.html")]) == status
    assert capsys.readouterr().out.startswith("Identical" if not status else "The runs part")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert main(["compare", *paths, "--json"]) == status
    assert json.loads(capsys.readouterr().out)["identical"] is not bool(status)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot open"),
        (b"", "is no trace of guard's"),
        (b"something else", "is no trace of guard's"),
        (b"\x89gtrace\n\x10\0", "header is damaged or cut off"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    content: bytes | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "good.trace")
    if content is not None:
        (tmp_path / "bad.trace").write_bytes(content)
    assert main(["compare", str(tmp_path / "good.trace"), str(tmp_path / "bad.trace")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("guard compare: ")
    assert words in error
    assert error.count("\n") == 1


def test_a_trace_without_steps_is_no_identical_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "good.trace")
    write(tmp_path / "empty.trace", steps=0)
    assert main(["compare", str(tmp_path / "good.trace"), str(tmp_path / "empty.trace")]) == 2
    assert "holds no step" in capsys.readouterr().err


def test_a_torn_trace_is_compared_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = write(tmp_path / "whole.trace").path.read_bytes()
    (tmp_path / "torn.trace").write_bytes(whole[:-400])
    assert main(["compare", str(tmp_path / "whole.trace"), str(tmp_path / "torn.trace")]) == 1
    assert "as if it had been killed" in capsys.readouterr().out


def test_the_page_escapes_what_traces_hold_and_fetches_nothing(comparison: Comparison) -> None:
    written = page(comparison)
    assert "<script>document.title" not in written
    assert "\x1b" not in written
    assert "default-src 'none'" in written
    assert "http://" not in written
    assert "https://" not in written


def test_the_page_says_all_that_the_text_says(comparison: Comparison) -> None:
    links = (Link("train.py", 3, "a = time.time()"),)
    cause = Explanation(Source.CLOCK, Confidence.CERTAIN, "time.time()", links)
    found = replace(comparison, explanation=cause)
    written, told = page(found), text(found, io.StringIO())
    for words in ("a clock: time.time() (certain)", "train.py:3  a = time.time()", "It came back."):
        assert words in written
        assert words in told


def test_a_page_of_many_steps_is_binned(tmp_path: Path) -> None:
    traces = [
        write(tmp_path / f"{at}.trace", 1000, altered("output", "head", at or 2000), Header())
        for at in (0, 500)
    ]
    found = examine(traces[:1], traces[1:])
    assert found.timeline is not None
    assert len(found.timeline.columns) == 200
    assert found.timeline.width == 5
    assert found.timeline.entered == (100, [row.name for row in found.timeline.rows].index("head"))
    assert len(page(found)) < 60_000


def test_a_browser_shows_the_page(comparison: Comparison, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)} is installed")
    target = tmp_path / "page.html"
    target.write_text(
        page(comparison)
        + "<script>document.getElementById('timeline').focus();"
        + "document.title = document.querySelectorAll('svg path').length + ' paths'</script>",
        encoding="utf-8",
    )
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'u'}",
    ]
    done = subprocess.run(
        [browser, *options, "--dump-dom", target.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert " paths</title>" in done.stdout
    assert "head, step 3: 1 of 2 differ" in done.stdout  # what the script says of the first cell
