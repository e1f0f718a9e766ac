"""``python -m guard verify``: what it answers, over programs that give their events themselves.

``recording_stand_in`` takes the place of ``guard record``, so that a process starts in a tenth of
a second; ``test_verification_programs.py`` has real ones.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from programs import clean_environment, write

from guard.__main__ import main
from guard.commands import verify as command
from guard.diff import Source
from guard.verification import inquiry, sessions
from guard.verification.attribution import Attribution
from guard.verification.explaining import Shown
from guard.verification.resumption import steps_done
from guard.verification.runs import Watch
from guard.verification.statements import Entry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Verify = Callable[..., tuple[int, dict[str, Any]]]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
TESTS = os.path.dirname(os.path.dirname(__file__))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a user, with nothing of these tests in it."""
    monkeypatch.setattr(sessions, "_SUBJECT", "recording_stand_in")
    monkeypatch.setenv("PYTHONPATH", TESTS)
    for name in ("PYTHONHASHSEED", "MALLOC_PERTURB_"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def verify(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Verify:
    """Verifies a program's text: the status, and the JSON."""

    def run(text: str, *options: str, asks: bool = False) -> tuple[int, Any]:
        if not asks:
            monkeypatch.setattr(inquiry, "suspects", lambda *_, **__: ())
            monkeypatch.setattr(inquiry, "not_shown", lambda *_: ())
        write(folder / "train.py", "from recording_stand_in import step\n" + text)
        status = command.main(["--json", *options, "train.py"])
        return status, json.loads(capsys.readouterr().out)

    return run


SAME = "for n in range(5): step(batch=n, output=('fc', n))"
SETS = "for n in range(3): step(batch=list({'a','b','c','d','e','f'}) if n == 1 else n)"
LISTED = """
import os
for name in ("a", "b", "c"):
    open(name, "w").close()
for name in os.listdir():
    step(batch=name)
"""
RANDOM = "import random\nfor n in range(3): step(batch=n, output=('fc', random.random()))"


def test_runs_that_agree(verify: Verify, folder: Path) -> None:
    status, found = verify(SAME, "--runs", "3")
    assert status == 0
    assert found["verify"] | {"notes": []} == {
        "identical": True,
        "status": 0,
        "runs": 3,
        "steps": 5,
        "reruns": 0,
        "reproduced": None,
        "circumstance": None,
        "notes": [],
        "isolation": "copies",
        "failure": None,
        "resume": None,
        "interrupted": False,
    }
    assert os.listdir(folder) == ["train.py"]


EXPORTED = """
import random
draws = random.Random()
with open("weights.txt", "w") as file:
    file.write(str(draws.random()))
"""


def test_what_no_comparison_shows_is_named_where_runs_agree(verify: Verify) -> None:
    status, found = verify(f"{SAME}\n{EXPORTED}", "--runs", "2", asks=True)
    assert (status, found["identical"]) == (0, True)
    (told,) = (each for each in found["verify"]["notes"] if "DET" in each)
    assert told.startswith("DET101 train.py:5 showed in nothing that was compared, or came out the")
    assert told.endswith(": its seed comes from the operating system")


@pytest.mark.parametrize("text", [SAME, f"{SAME}\n{EXPORTED}".replace("Random()", "Random(3)")])
def test_a_clean_program_has_no_such_note(verify: Verify, text: str) -> None:
    status, found = verify(text, "--runs", "2", asks=True)
    assert (status, [x for x in found["verify"]["notes"] if "DET" in x]) == (0, [])


def test_only_the_surest_places_are_named(verify: Verify) -> None:
    status, found = verify(f"{SAME}\n{EXPORTED * 5}", "--runs", "2", asks=True)
    told = [each for each in found["verify"]["notes"] if "DET101" in each or "more" in each]
    assert (status, len(told)) == (0, 4)
    assert told[-1] == "the linter has 2 more like these: detlint --min-confidence possible"


def test_the_order_of_a_set_is_named(verify: Verify, folder: Path) -> None:
    status, found = verify(SETS, asks=True)
    assert status == 1
    assert found["difference"]["step"] == 1
    assert found["verify"]["circumstance"] == "hashes"
    assert found["difference"]["advice"].startswith("Sort what comes out of a set")
    suspect = found["suspects"][0]
    assert (suspect["code"], suspect["line"]) == ("DET204", 2)
    assert os.path.samefile(suspect["file"], folder / "train.py")


def test_the_order_of_a_listing_is_named(verify: Verify, folder: Path) -> None:
    status, found = verify(LISTED, asks=True)
    assert status == 1
    assert found["difference"]["cause"] == "BATCH_ORDER"
    assert found["verify"]["circumstance"] == "listings"
    assert found["suspects"][0]["code"] == "DET203"
    assert os.listdir(folder) == ["train.py"]  # what it wrote lay in the copies


ENTERED = """
import os, threading, time
class Data:
    def __init__(self):
        self.began = time.time()
        self.scale = self.draw()
    def draw(self):
        {draw}
    def batch(self, n):
        return n * self.scale
data = Data()
for n in range(3):
    rows = data.batch(n + 1)
    print("epoch", data.began, os.getpid())
    step(batch=rows)
"""


@pytest.mark.parametrize(
    "draw",
    ["return os.getpid() % 100_000", "return int.from_bytes(os.urandom(6), 'big') / 256"],
)
def test_the_line_is_found_by_running(verify: Verify, folder: Path, draw: str) -> None:
    """A time that is kept and printed differs as well, and flows to nothing that is computed."""
    status, found = verify(ENTERED.format(draw=draw), "--budget", "2")
    assert status == 1
    assert found["verify"]["reruns"] == 2
    suspect = found["suspects"][0]
    assert suspect["line"] == 9
    assert os.path.samefile(suspect["file"], folder / "train.py")


def test_what_decides_is_found_by_running(verify: Verify) -> None:
    code = """
import os
chosen = hash("a") % 1000
for n in range(4):
    if chosen > 500 or os.urandom(1)[0] > -1:
        rows = n
    if n == 2:
        rows = chosen
    step(batch=rows)
"""
    _, found = verify(code, "--budget", "2")
    assert found["suspects"][0]["line"] == 4


def test_nothing_is_run_for_the_line_without_a_budget(verify: Verify) -> None:
    draw = "return os.getpid() % 100_000"
    _, found = verify(ENTERED.format(draw=draw), "--budget", "1")
    assert found["verify"]["reruns"] <= 1
    assert all("given" not in each["message"] for each in found["suspects"])


def test_a_circumstance_can_be_kept_the_same(verify: Verify) -> None:
    assert verify(SETS, "--same", "hashes")[0] == 0
    assert verify(LISTED, "--same", "listings")[0] == 0


@pytest.mark.parametrize("same", [(), ("--same", "clock")])
def test_a_program_that_depends_on_the_day_differs(verify: Verify, same: tuple[str, ...]) -> None:
    text = (
        "import datetime\nday = datetime.date.today().day\nfor n in range(3): step(batch=day + n)"
    )
    status, found = verify(text, "--budget", "6", *same)
    assert status == (0 if same else 1)
    if not same:
        assert (found["cause"]["source"], found["cause"]["slice"][0]["line"]) == ("CLOCK", 3)
        assert any("--same clock" in each for each in found["verify"]["notes"])


def test_what_differs_by_itself_needs_no_circumstance(verify: Verify) -> None:
    status, found = verify(RANDOM)
    assert (status, found["verify"]["circumstance"]) == (1, "none")


OPERATORS = """
import os
for n in range(4):
    r = os.urandom(8) if n == {step} else n
    step(
        batch=n,
        operator_1=("aten.empty.memory_format", os.urandom(8), ()),
        operator_2=("aten.zero_.default", 0, os.urandom(8)),
        operator_3=("aten.mm.default", n, n),
        operator_4=("aten._index_put_impl_.default", {result}),
        operator_5=("aten.add.Tensor", r, r),
        output=("fc", r),
    )
"""


def test_the_operator_is_named(verify: Verify) -> None:
    status, found = verify(OPERATORS.format(step=2, result="r, n"))
    assert status == 1
    operator = found["operators"][0]
    assert operator["name"] == "aten._index_put_impl_.default"
    assert "use_deterministic_algorithms" in operator["alternative"]
    assert operator["row"] == "torch.index_put"
    assert (found["verify"]["reproduced"], found["verify"]["reruns"]) == (True, 2)


@pytest.mark.parametrize(
    ("text", "cause", "alternative"),
    [("", "OUTSIDE", ""), ("\nif 0: torch.empty(3)\n", "UNWRITTEN_MEMORY", "torch.zeros")],
    ids=["nothing allocates", "the text allocates"],
)
def test_what_comes_from_nowhere_is_told_from_a_kernel(
    verify: Verify, text: str, cause: str, alternative: str
) -> None:
    # What the line draws is hidden from its text, as the content of memory is.
    program = OPERATORS.replace("os.urandom(8) if", "vars(__import__('posix'))['urandom'](8) if")
    _, found = verify(program.format(step=2, result="r, r") + text)
    assert found["difference"]["cause"] == cause
    assert alternative in found["operators"][0]["alternative"]


ONCE = """
import os
step(batch=0)
number = os.environ["TMPDIR"].split("/")[-2]
step(batch=1, output=("fc", os.urandom(8) if number < "{few}" else 1))
"""


@pytest.mark.parametrize(("few", "reproduced"), [("2", False), ("4", True)])
def test_a_difference_that_does_not_come_again_is_told(
    verify: Verify, few: str, *, reproduced: bool
) -> None:
    """By the number of the process: the first ones differ, those after do not."""
    status, found = verify(ONCE.format(few=few), "--budget", "4")
    assert status == 1
    assert found["verify"]["reproduced"] is reproduced
    told = any("the operator is not known" in each for each in found["verify"]["notes"])
    assert told is not reproduced


def test_a_program_that_fails_is_told_with_its_output(verify: Verify) -> None:
    status, found = verify(SAME + "\nprint('here')\nraise ValueError('no data')")
    assert status == 2
    failure = found["verify"]["failure"]
    assert failure["run"] == 1
    assert failure["why"] == "ended with status 1 after 5 steps"
    assert failure["output"][0] == "here"
    assert failure["output"][-1] == "ValueError: no data"
    assert found["verify"]["identical"] is False


def test_a_program_that_reads_its_input_is_told_that_there_is_none(verify: Verify) -> None:
    status, found = verify("input()\n" + SAME)
    assert status == 2
    assert "verify gives no run a standard input" in found["verify"]["failure"]["why"]


def test_steps_are_counted_in_one_way_where_a_run_fails(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
        from recording_stand_in import step, state_at_the_end
        for n in range({}): step(batch=n)
        state_at_the_end()
        raise ValueError
    """
    for count, told in ((2, "As far as they went, the runs are identical: 2 steps.\n"), (0, "")):
        write(folder / "train.py", text.format(count))
        assert command.main(["train.py"]) == 2
        out = capsys.readouterr().out
        assert out.startswith(f"run 1 ended with status 1 after {count} steps\n")
        assert out.partition("  | ValueError\n")[2] == told


def test_steps_that_were_not_recorded_are_not_passed_as_identical(verify: Verify) -> None:
    text = "from recording_stand_in import fail\nstep(batch=1)\nfail()\nstep(batch=2)\n"
    status, found = verify(text)
    assert status == 2
    assert found["verify"]["failure"]["why"] == (
        "was recorded up to 1 step only: no space left on device"
    )
    assert not found["verify"]["identical"]


def test_a_program_without_steps_is_told(verify: Verify) -> None:
    status, found = verify("print('nothing')")
    assert status == 2
    assert found["verify"]["failure"]["why"].startswith("did no step")


HANDLES = """
import signal
signal.signal(signal.{}, lambda *_: None)
for n in range(3): step(batch=n)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGCHLD"), reason="no such signals")
@pytest.mark.parametrize(("name", "is_told"), [("SIGCHLD", True), ("SIGTERM", False)])
def test_runs_that_agree_may_owe_it_to_when_a_signal_came(
    name: str, is_told: bool, verify: Verify
) -> None:
    status, found = verify(HANDLES.replace("{}", name))
    assert (status, found["verify"]["steps"]) == (0, 3)
    notes = [each for each in found["verify"]["notes"] if "when a signal comes" in each]
    assert bool(notes) is is_told
    assert all("train.py:4, `signal.signal(SIGCHLD)`" in each for each in notes)


REPLACED = """
import os
import recording_stand_in
with open(os.path.join(recording_stand_in._options.out, "replaced.txt"), "w") as file:
    file.write(__file__ + ":7")
"""


def test_a_program_that_begins_anew_is_said_to_be_recorded_no_more(verify: Verify) -> None:
    status, found = verify(REPLACED)
    told = found["verify"]["failure"]["why"]
    assert status == 2
    assert told.startswith("was recorded up to 0 steps only: at ")
    assert "train.py:7 os.exec begins a program in its place" in told
    assert "set that outside" in told


def test_one_run_that_fails_is_a_difference(verify: Verify) -> None:
    code = "import os\nfor n in range(4):\n    step(batch=n)\n"
    code += "    assert n < 2 or '/0/' in os.environ['TMPDIR'], 'only one'\n"
    status, found = verify(code, "--budget", "0")
    assert status == 1
    assert found["difference"]["cause"] == "LENGTH"
    assert found["verify"]["failure"]["output"][-1] == "AssertionError: only one"


HANGS = """
import subprocess, sys, time
step(batch=1)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("{pids}", "a").write(f"{{child.pid}} ")
print("waiting", flush=True)
time.sleep(600)
"""


def gone(pids: Path) -> bool:
    """Whether no process of these numbers runs any more, soon."""
    for _ in range(50):
        if not any(os.path.exists(f"/proc/{each}/exe") for each in pids.read_text().split()):
            return True
        time.sleep(0.1)
    return False


def test_a_program_that_hangs_is_ended_with_all_it_started(verify: Verify, tmp_path: Path) -> None:
    status, found = verify(HANGS.format(pids=tmp_path / "pids"), "--seconds", "1")
    assert status == 2
    assert "did nothing for too long after 1 step" in found["verify"]["failure"]["why"]
    assert found["verify"]["failure"]["output"] == ["waiting"]
    assert gone(tmp_path / "pids")


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_no_process(folder: Path, tmp_path: Path, which: int) -> None:
    pids = tmp_path / "pids"
    program = "from recording_stand_in import step\n" + HANGS.format(pids=pids)
    write(folder / "train.py", program)
    code = "import sys; from guard.commands import verify; "
    code += "from guard.verification import sessions; "
    code += "sessions._SUBJECT = 'recording_stand_in'; sys.exit(verify.main(['train.py']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        while not pids.exists() or len(pids.read_text().split()) < 1:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(which)
        assert process.wait(20) == 130
        assert process.stderr is not None
        assert b"interrupted" in process.stderr.read()
    assert gone(pids)


def test_an_interruption_tells_how_far_the_runs_agree(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(steps: int) -> None:
        if steps > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "_progress", lambda: tell)
    endless = "import time\nfor n in range(600): step(batch=n); time.sleep(0.1)"
    status, found = verify(endless)
    assert status == found["verify"]["status"] == 130
    assert (found["verify"]["identical"], found["difference"]) == (False, None)
    assert found["verify"]["steps"] > 1


def test_a_difference_is_told_though_its_cause_could_not_be_asked_for(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inquiry, "entry", interrupted)
    status, found = verify(SETS)
    assert status == found["verify"]["status"] == 130
    assert found["verify"]["interrupted"] is True
    assert found["difference"]["step"] == 1
    assert found["verify"]["notes"][-1].startswith("verify was interrupted")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="-P came with Python 3.11")
def test_modules_that_a_safe_path_hides_are_told(folder: Path) -> None:
    write(folder / "beside.py", "")
    write(folder / "train.py", "import beside")
    command = [sys.executable, "-P", "-m", "guard", "verify", "train.py"]
    done = subprocess.run(
        command, env=clean_environment(PYTHONPATH=str(ROOT)), capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"with -P or PYTHONSAFEPATH" in done.stdout


def test_a_difference_ends_programs_that_would_go_on(verify: Verify) -> None:
    code = "import itertools, os, time\nfor n in itertools.count():\n    time.sleep(0.01)\n"
    status, found = verify(code + "    step(batch=os.urandom(8) if n == 20 else n)")
    assert status == 1
    assert found["difference"]["step"] == 20


WRITES = """
import os
found = os.path.exists("log.txt")
for n in range(3): step(batch=n)
with open("log.txt", "a") as log:
    log.write("x")
for n in range(3): step(batch=n, output=("fc", found))
"""


def test_runs_in_one_folder_write_one_after_the_other(verify: Verify, folder: Path) -> None:
    program = WRITES.replace("found = ", "found = 1 or ")
    status, found = verify(program, "--no-isolate", "--budget", "0")
    assert (status, found["verify"]["isolation"]) == (0, "in place")
    assert (folder / "log.txt").read_text() == "xx"


def test_what_lies_in_the_folder_is_there_and_stays(verify: Verify, folder: Path) -> None:
    (folder / "log.txt").write_text("mine")
    assert verify(WRITES)[0] == 0
    assert (folder / "log.txt").read_text() == "mine"


def test_one_by_one_reads_what_the_one_before_left(verify: Verify) -> None:
    status, found = verify(WRITES, "--no-isolate", "--one-by-one", "--budget", "0")
    assert status == 1
    assert any("--isolate" in each for each in found["verify"]["notes"])


def test_only_so_many_steps_are_compared(verify: Verify) -> None:
    status, found = verify(SETS, "--until", "0")
    assert (status, found["verify"]["steps"]) == (0, 1)


BUDGET = """
import time
class Limit:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
    @property
    def reached(self):
        return time.monotonic() > self.end
limit = Limit(600)
for n in range(3 + is_longer()):
    step(batch=n)
    if limit.reached: break
"""


def test_runs_of_equal_length_may_owe_it_to_the_clock(verify: Verify) -> None:
    status, found = verify(BUDGET.replace(" + is_longer()", ""))
    assert (status, found["verify"]["steps"]) == (0, 3)
    told = found["verify"]["notes"][0]
    assert "possibly the number of steps depends on the clock" in told
    assert "train.py:9, `time.monotonic() > self.end`" in told


TRIES = """
import time
fast, width = 9.0, 1
for each in (2, 3):
    begun = time.perf_counter()
    spent = time.perf_counter() - begun + each
    if spent < fast: fast, {} = spent, each
for n in range(3): step(batch=n, output=("fc", width))
"""


@pytest.mark.parametrize(("kept", "is_told"), [("width", True), ("shown", False)])
def test_runs_that_chose_the_same_may_owe_it_to_the_clock(
    kept: str, is_told: bool, verify: Verify
) -> None:
    status, found = verify(TRIES.replace("{}", kept))
    assert (status, found["verify"]["steps"]) == (0, 3)
    notes = [each for each in found["verify"]["notes"] if "depends on the clock" in each]
    assert bool(notes) is is_told
    assert all("possibly what is done" in e and "train.py:8, `spent < fast`" in e for e in notes)


DATED = """
def now():
    import numpy as np
    return np.datetime64({}, "D")
for n in range(3): step(batch=n, output=("fc", 1))
"""


@pytest.mark.parametrize(("given", "is_told"), [("'today'", True), ("'2026-01-01'", False)])
def test_a_clock_that_is_not_varied_is_named(given: str, is_told: bool, verify: Verify) -> None:
    status, found = verify(DATED.format(given))
    assert status == 0
    notes = [each for each in found["verify"]["notes"] if "that verify does not vary" in each]
    assert bool(notes) is is_told
    assert all("train.py:5, `np.datetime64('today', 'D')`" in each for each in notes)


ROOM = """
import resource
def room(width):
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return min(8, max(2, ((1 << 40) - used) // width))
size = room(4)
{}
for n in range(3): step(batch=n, output=("fc", 1))
"""


@pytest.mark.parametrize(
    ("does", "is_told"), [("for at in range(0, 64, size): pass", True), ("print(size)", False)]
)
def test_runs_may_owe_it_to_a_measure_that_came_to_the_same(
    does: str, is_told: bool, verify: Verify
) -> None:
    status, found = verify(ROOM.replace("{}", does))
    assert (status, found["verify"]["steps"]) == (0, 3)
    notes = [each for each in found["verify"]["notes"] if "what is measured" in each]
    assert bool(notes) is is_told
    assert all("train.py:5, `resource.getrusage(resource.RUSAGE_SELF)`" in each for each in notes)


def test_a_way_that_is_too_long_to_be_gone_again_is_told(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiry, "LONGEST", 0.0)
    status, found = verify(SETS)
    assert (status, found["verify"]["reruns"]) == (1, 0)
    assert any(each.startswith("not looked at are the line") for each in found["verify"]["notes"])


def test_a_run_that_the_clock_ends_earlier_has_the_clock_for_a_possible_cause(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiry, "entry", lambda *_: Entry(runs=2, note="it did not come again"))
    longer = "import os\nis_longer = lambda: '/1/' in os.getcwd()\n"
    status, found = verify(longer + BUDGET, "--isolate", "--budget", "2")
    assert status == 1
    assert (found["cause"]["source"], found["cause"]["confidence"]) == ("CLOCK", "possible")
    assert found["suspects"][0]["line"] == 11


@pytest.mark.parametrize(
    ("source", "name", "told"),
    [
        (Source.UNWRITTEN_MEMORY, "hashes", None),
        (Source.OBJECT_ADDRESS, "listings", None),
        (Source.UNWRITTEN_MEMORY, "memory", "memory"),
        (Source.STRING_HASH, "hashes", "hashes"),
    ],
)
def test_what_another_process_has_otherwise_is_no_circumstance(
    source: Source, name: str, told: str | None, verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiry, "attribute", lambda *_: Attribution(name, 1))
    monkeypatch.setattr(inquiry, "entry", lambda *_: Entry(runs=2))
    monkeypatch.setattr(inquiry, "_shown", lambda *_: Shown(source, "np.empty()", (), False))
    differs = "import os\nis_other = '/1/' in os.getcwd()\n"
    status, found = verify(differs + "step(batch=is_other, output=('fc', 1))", "--isolate")
    assert (status, found["verify"]["circumstance"]) == (1, told)
    assert found["cause"]["source"] == source.name


RESUMES = """
import json, sys
state = {"n": 0, "momentum": 0}
if "--resume" in sys.argv:
    state = json.load(open("checkpoint.json"))
    if "--lose" in sys.argv: state["momentum"] = 0
last = 4 if "--half" in sys.argv else 8
while state["n"] < last:
    n = state["n"]
    step(batch=n, output=("fc", n + state["momentum"]))
    state = {"n": n + 1, "momentum": state["momentum"] + n}
    if n % {every} == {every} - 1: json.dump(state, open("checkpoint.json", "w"))
"""


def resumes(every: int = 1) -> str:
    return RESUMES.replace("{every}", str(every))


@pytest.mark.parametrize(
    ("every", "options", "start"),
    [(1, (), 4), (3, (), 3), (1, ("--stop-args=--half",), 4)],
    ids=["killed", "older checkpoint", "stops by itself"],
)
def test_a_run_that_resumes_exactly(
    verify: Verify, every: int, options: tuple[str, ...], start: int
) -> None:
    resume = ("--resume-at", "4", "--resume-args", "--resume")
    status, found = verify(resumes(every), *resume, *options)
    assert status == 0
    assert found["verify"]["steps"] == 8 - start
    assert found["verify"]["resume"]["resumed_at"] == start


def test_steps_of_evaluation_are_told_apart_where_a_run_was_interrupted() -> None:
    assert steps_done(12, 11) == "11 training steps and 1 of evaluation"
    assert steps_done(12, 12) == "12 training steps"


def test_state_that_is_lost_on_resume(verify: Verify) -> None:
    status, found = verify(resumes(), "--resume-at", "4", "--resume-args", "--resume --lose")
    assert status == 1
    assert found["difference"]["step"] == 4
    assert found["difference"]["cause"] == "STATE"


@pytest.mark.parametrize(
    ("runs", "resumed_at", "said"),
    [(1, None, "no run had been resumed by then"), (2, 4, "verify was interrupted")],
)
def test_an_interruption_of_a_resumption_tells_what_is_known(
    verify: Verify, monkeypatch: pytest.MonkeyPatch, runs: int, resumed_at: int | None, said: str
) -> None:
    run, made = Watch.run, []

    def interrupted(self: Watch) -> object:
        made.append(run(self))
        if len(made) == runs:
            raise KeyboardInterrupt
        return made[-1]

    monkeypatch.setattr(Watch, "run", interrupted)
    status, found = verify(resumes(), "--resume-at", "4", "--resume-args", "--resume")
    assert status == found["verify"]["status"] == 130
    assert found["verify"]["interrupted"] is True
    assert found["difference"] is None
    assert (found["verify"]["resume"] or {}).get("resumed_at") == resumed_at
    assert found["verify"]["steps"] == 4
    assert any(said in each for each in found["verify"]["notes"])


@pytest.mark.parametrize(
    ("options", "text", "why"),
    [
        (("--resume-at", "9"), resumes(), "before it could be interrupted at 9"),
        (("--resume-at", "2"), SAME, "began anew at step 0"),
    ],
    ids=["too late", "begins anew"],
)
def test_what_is_no_resumption(
    verify: Verify, options: tuple[str, ...], text: str, why: str
) -> None:
    status, found = verify(text, *options, "--resume-args=--resume")
    assert status == 2
    assert why in found["verify"]["failure"]["why"]


def test_a_page_and_traces_are_kept(verify: Verify, tmp_path: Path) -> None:
    page, kept = tmp_path / "report.html", tmp_path / "kept"
    assert verify(SAME, "--html", str(page), "--keep", str(kept))[0] == 0
    assert "<html" in page.read_text()
    assert (kept / "1" / "trace" / "rank0.trace").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--runs", "1", "train.py"], "'1' is not a whole number from 2 on"),
        (["--resume-at", "3", "train.py"], "--resume-at needs --resume-args"),
        (["--resume-args", "x", "train.py"], "belong to --resume-at"),
        (["--same", "luck", "train.py"], "invalid choice: 'luck'"),
        ([], "required: script.py"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_program_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "nothing.py"]) == 2
    told = "guard verify: cannot open 'nothing.py': No such file or directory\n"
    assert capsys.readouterr().err == told
