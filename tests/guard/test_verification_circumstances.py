"""What verify varies between runs, without processes where that can be."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING

import pytest
from programs import python, write

from guard.verification import perturbations, plan, sessions, subject
from guard.verification.left_files import Journal

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["a", "b", "c", "d"]


def alike(run: int) -> dict[str, int]:
    return dict.fromkeys(plan.NAMES, run)


@pytest.mark.parametrize("run", range(4))
def test_a_listing_keeps_its_entries(run: int) -> None:
    assert sorted(perturbations.permuted(NAMES, run, "/data")) == NAMES


def test_listings_of_runs_differ() -> None:
    first, second = (perturbations.permuted(NAMES, run, "/data") for run in (0, 1))
    assert first == NAMES
    assert second == NAMES[::-1]
    assert perturbations.permuted(NAMES, 1, "/proc/self") == NAMES


def test_what_the_user_set_stays() -> None:
    environ = {"PYTHONHASHSEED": "7", "MALLOC_PERTURB_": "1"}
    found = plan.variables_of(alike(1), environ)
    assert set(found) == {plan.VARIABLE}
    assert json.loads(found[plan.VARIABLE])["runs"] == {
        "timing": 1,
        "listings": 1,
        "addresses": 1,
        "clock": 1,
    }


def test_each_run_has_another_hash_seed_and_another_filling() -> None:
    found = [plan.variables_of(alike(run), {}) for run in range(5)]
    for name in ("PYTHONHASHSEED", "MALLOC_PERTURB_"):
        assert len({each[name] for each in found}) == 5


def test_random_is_no_number_of_the_users() -> None:
    assert plan.given({"PYTHONHASHSEED": "random"}) == ()


LISTS = """
    import glob, multiprocessing, os, pathlib, threading
    from guard.verification.plan import vary

    def listed():
        with os.scandir("data") as entries:
            scanned = [each.name for each in entries]
        return [
            os.listdir("data"),
            scanned,
            [each.name for each in pathlib.Path("data").iterdir()],
            [os.path.basename(each) for each in glob.glob("data/*")],
            [each.name for each in pathlib.Path("data").glob("*")],
            next(os.walk("data"))[2],
        ]

    if __name__ == "__main__":
        before = listed()
        vary()
        assert listed() == [each[::-1] for each in before], (before, listed())
        assert threading.active_count() == 1
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                assert pool.apply(listed) == listed(), method
        print(len(before), "PYTHONHASHSEED" in os.environ, hash("a") != hash("b"))
    """


def test_every_way_of_listing_is_permuted_also_in_workers(tmp_path: Path) -> None:
    for name in NAMES:
        write(tmp_path / "data" / name, "")
    script = write(tmp_path / "lists.py", LISTS)
    done = python(script, cwd=tmp_path, environ=plan.variables_of(alike(1), {}))
    assert (done.stdout, done.stderr) == ("6 False True\n", "")


def test_a_process_that_was_not_told_stays_as_it_is(tmp_path: Path) -> None:
    code = "import os; found = os.listdir; from guard.verification.plan import vary; "
    done = python("-c", code + "vary(); print(os.listdir is found)", cwd=tmp_path)
    assert done.stdout == "True\n"


EMPTY = """
    import torch

    for size in (3, 1000, 100_000):
        del_me = torch.rand(size)
        del del_me
        print(set(torch.empty(size).view(torch.uint8).tolist()), end=" ")
    """


@pytest.mark.skipif(not hasattr(os, "confstr"), reason="glibc's malloc fills memory")
def test_unwritten_memory_is_another_in_each_run(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = write(tmp_path / "empty.py", EMPTY)
    found = plan.variables_of({"memory": 1}, {})
    done = python(script, cwd=tmp_path, environ=found)
    assert done.stdout.split() == ["{62}"] * 3  # 0x3e


LATE = """
    import queue, threading, time
    from guard.verification.perturbations import disturb

    disturb(1)
    began = []
    class Own(threading.Thread):
        def run(self):
            began.append(self.number)
    threads = [Own() for _ in range(12)]
    for number, thread in enumerate(threads):
        thread.number = number
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(began) == list(range(12)), began != sorted(began), "run" in vars(threads[0]))
    begun = time.monotonic()
    ready = queue.Queue()
    for number in range(1000):
        ready.put(number)
    print([ready.get() for _ in range(1000)] == list(range(1000)), time.monotonic() - begun > 0.5)
    """


def test_threads_begin_in_another_order(tmp_path: Path) -> None:
    done = python(write(tmp_path / "late.py", LATE), cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("True True False\nTrue True\n", "")


ENDED = """
    import atexit, _thread, os, sys
    from guard.verification.perturbations import disturb

    atexit.register(lambda: print(_thread._count(), flush=True))  # called after what disturbs ends
    disturb(1)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    """


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_what_disturbs_has_ended_before_python_does(tmp_path: Path) -> None:
    """A thread that runs on then may end the process by a signal."""
    done = python(write(tmp_path / "ended.py", ENDED), cwd=tmp_path)
    assert (done.stdout.split(), done.returncode) == (["0", "0"], 0)


SCATTERED = """
    class Item:
        def __init__(self):
            self.held = [self]

    items = [Item() for _ in range(1000)]
    places = [id(each) for each in items]
    print(sum(one < other for one, other in zip(places, places[1:])))
    """


def test_objects_of_a_program_lie_scattered(tmp_path: Path) -> None:
    script = write(tmp_path / "items.py", SCATTERED)
    command = ("-m", subject.__name__, "--out")
    found = [
        python(
            *command,
            tmp_path / f"out-{run}",
            script,
            cwd=tmp_path,
            environ=plan.variables_of({"addresses": run}, {}),
        )
        for run in (0, 1)
    ]
    in_order, scattered = (int(each.stdout) for each in found)
    assert in_order > 750  # the first ones fill what has been freed since Python began
    assert 400 < scattered < 600


def test_a_copy_has_the_files_and_leads_where_the_folder_did(tmp_path: Path) -> None:
    work = tmp_path / "home" / "project"
    write(work / "config" / "a.yaml", "a: 1")
    write(work / ".git" / "HEAD", "main")
    write(work / "__pycache__" / "a.pyc", "")
    write(tmp_path / "home" / "data" / "x.txt", "x")
    (work / "latest").symlink_to(work / "config")
    (work / "elsewhere").symlink_to(tmp_path / "home" / "data")
    scratch = work / "kept"  # as with --keep kept, in the working folder itself
    made = sessions.copy_folder(str(work), str(scratch / "0" / "files"), str(scratch))
    assert sorted(os.listdir(made)) == [".git", "config", "elsewhere", "latest"]
    assert os.path.basename(made) == "project"
    write(work / "config" / "a.yaml", "a: 2")
    with open(os.path.join(made, "latest", "a.yaml"), encoding="utf-8") as file:
        assert file.read() == "a: 1"
    assert os.listdir(os.path.join(made, "..", "data")) == ["x.txt"]
    assert os.path.islink(os.path.join(made, ".git"))
    assert os.path.realpath(os.path.join(made, "elsewhere")) == str(tmp_path / "home" / "data")


def test_a_large_folder_is_not_copied(tmp_path: Path) -> None:
    assert sessions.is_small(str(tmp_path))
    with open(tmp_path / "data.bin", "wb") as file:
        file.truncate(sessions.LARGEST + 1)
    assert not sessions.is_small(str(tmp_path))


WRITES = """
    import os, sys, threading, time
    from guard.verification.subject import take_turns

    turn, waiting, own, way = sys.argv[1:]
    take_turns(turn, waiting, [own], os.path.join(own, "journal"))
    open(os.path.join(own, "log"), "w").close()
    print(open(__file__).read(1) + open(os.devnull, "w").name)

    def give():
        while not os.path.exists(waiting):
            time.sleep(0.01)
        print(os.path.basename(open(waiting).read()), os.path.exists("shared"))
        os.mkdir(turn) if os.path.isdir(own) else None

    class Giver(threading.Thread):
        run = lambda self: give()

    if way == "open":
        Giver().start()
        open("shared", "w").close()
    elif way == "mkdir":
        Giver().start()
        os.makedirs("shared", exist_ok=True)
    elif way == "save":
        import torch
        open(__file__).close()
        Giver().start()
        torch.save({}, "shared")
    print(os.path.exists("shared"), os.path.exists(waiting))
    """


@pytest.mark.parametrize("way", ["open", "mkdir", "save"])
def test_a_run_waits_for_its_turn_to_write(tmp_path: Path, way: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    script = write(tmp_path / "writes.py", WRITES)
    turn, waiting = own / "turn", own / "waiting"
    done = python(script, turn, waiting, own, way, cwd=tmp_path)
    assert done.stdout.splitlines() == ["i/dev/null", "shared False", "True False"], done.stderr


def test_what_is_read_is_not_waited_for(tmp_path: Path) -> None:
    gate = subject._Gate("/nowhere", "/nowhere", [], Journal(str(tmp_path / "journal")))
    gate.opening(__file__, "r", 0)
    gate.opening(__file__, None, os.O_RDONLY)
    gate.change("/dev/shm/x")  # noqa: S108 - not made
    gate.change(7)


DATES = """
    import pickle, sys, time
    from datetime import date, datetime, timezone
    before = datetime.now()
    from guard.verification.plan import vary
    vary()
    import logging
    from time import strftime as told

    class Own(datetime): pass

    def seconds(found):
        return found.replace(tzinfo=None).timestamp()

    asked = [time.time(), time.time_ns() / 1e9, time.mktime(time.localtime()), seconds(Own.now())]
    asked += [seconds(each) for each in (datetime.now(), datetime.today(), datetime.now(None))]
    record = logging.LogRecord("a", 1, "", 1, "", (), None)
    print({round(each - record.created) for each in asked}, told("%Y"), date.today().year)
    assert type(datetime.now()) is type(before) is datetime
    assert type(Own.now()) is Own
    assert pickle.loads(pickle.dumps(datetime.now(timezone.utc))).year == date.today().year
    assert time.gmtime(0).tm_year == 1970 and told("%Y", time.gmtime(0)) == "1970"
    assert abs(time.monotonic() - time.monotonic()) < 60
    """


def test_the_programs_own_files_read_another_date(tmp_path: Path) -> None:
    script = write(tmp_path / "dates.py", DATES)
    years = []
    for run in (0, 1):
        environ = plan.variables_of({"clock": run}, {})
        done = python(script, cwd=tmp_path, environ={**environ, "TZ": "UTC"})
        assert done.returncode == 0, done.stderr
        apart, _, rest = done.stdout.partition("} ")
        assert {int(each) for each in apart[1:].split(",")} <= {
            run * perturbations._SHIFT + each for each in (-1, 0, 1)
        }
        years.append(rest.split())
    assert all(int(later) > int(now) for later, now in zip(years[1], years[0], strict=True))


STARTED = """
    from guard.verification import plan
    plan.vary()
    import threading, time
    began = []
    def work(): began.append(time.monotonic())
    for goes_on in {rounds}:
        thread = threading.Thread(target=work)
        started = time.monotonic()
        thread.start()
        while goes_on and time.monotonic() - started < 0.8: pass
        thread.join()
        print(began.pop() - started)
    """


@pytest.mark.parametrize(
    ("run", "rounds", "late"),
    [(0, (True,), [False]), (1, (True, True), [True, False]), (1, (False,), [False])],
)
def test_the_first_thread_of_a_kind_waits_until_the_others_have_gone_on(
    run: int, rounds: tuple[bool, ...], late: list[bool], tmp_path: Path
) -> None:
    """But not longer than they go on: who waits for it is not kept waiting."""
    script = write(tmp_path / "started.py", STARTED.format(rounds=rounds))
    done = python(script, cwd=tmp_path, environ=plan.variables_of({"timing": run}, {}))
    assert done.returncode == 0, done.stderr
    assert [float(each) > 0.8 for each in done.stdout.split()] == late


MEASURED = """
    from guard.verification import plan
    plan.vary()
    from time import perf_counter
    from time import sleep
    perf_counter()
    first, _, second = perf_counter(), sleep(0.02), perf_counter()
    print(second - first)
    """


def test_what_a_program_measures_takes_longer_or_less(tmp_path: Path) -> None:
    script = write(tmp_path / "measured.py", MEASURED)
    measured = []
    for run in (0, 1):
        environ = plan.variables_of({"clock": run}, {})
        done = python(script, cwd=tmp_path, environ=environ)
        assert done.returncode == 0, done.stderr
        measured.append(float(done.stdout))
    assert 0 < measured[0] < 0.02 < measured[1]


@pytest.mark.parametrize(("run", "fastest"), [(0, 0), (1, 8), (2, 0)])
def test_the_fastest_is_the_first_in_one_run_and_the_last_in_the_next(
    run: int, fastest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = itertools.count(0, 0.0001)
    monkeypatch.setattr(perturbations, "_monotonic", lambda: next(now))
    pace = perturbations.Pace(run)
    read = [n / 10_000 + pace.ahead() for n in range(18)]
    measured = [ended - begun for begun, ended in zip(read[::2], read[1::2], strict=True)]
    assert measured.index(min(measured)) == fastest


@pytest.mark.parametrize(("run", "least"), [(0, -1.0), (1, 0.0)])
def test_clocks_are_behind_by_a_second_and_ahead_by_some_at_most(
    run: int, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(perturbations, "_monotonic", lambda: now[0])
    pace = perturbations.Pace(run)
    told = []
    for _ in range(5000):
        now[0] += 0.03
        told.append(now[0] + pace.ahead())
    assert sorted(told) == told
    ahead = [each - (n + 1) * 0.03 for n, each in enumerate(told)]
    assert min(ahead) >= least
    assert max(ahead) == pytest.approx(perturbations._LONGEST)
    assert (min(ahead) < 0) is (run == 0)


def test_a_time_that_is_over_at_each_step_of_one_run_is_not_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(perturbations, "_monotonic", lambda: now[0])
    over = []
    for run in (0, 1):
        pace, found = perturbations.Pace(run), []
        last = now[0] + pace.ahead()
        for _ in range(10):
            now[0] += 0.01
            told = now[0] + pace.ahead()
            found.append(told - last > 0.004)
            last = told
        over.append(found)
    assert over == [[False] * 10, [True] * 10]
