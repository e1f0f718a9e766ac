"""Where the clock decides how long something goes on."""

from __future__ import annotations

from textwrap import dedent

import pytest

from detlint.dataflow.randomness.clocks import Timed, timed_conditions


def conditions(code: str) -> list[Timed]:
    return timed_conditions({"train.py": code})["train.py"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (
            """\
            import time
            def train(budget):
                start = time.time()
                while time.time() - start < budget:
                    step()
            """,
            [(4, "time.time() - start < budget", True)],
        ),
        (
            """\
            import time
            def train(budget):
                start = time.time()
                for batch in loader:
                    elapsed = time.time() - start
                    if elapsed > budget and budget > 0:
                        break
            """,
            [(6, "elapsed > budget", True)],
        ),
        (
            """\
            from time import monotonic
            class Limit:
                def __init__(self):
                    self.start = monotonic()
                def elapsed(self):
                    return monotonic() - self.start
                @property
                def reached(self):
                    return monotonic() - self.start > 3
            def train():
                limit = Limit()
                for batch in loader:
                    if limit.elapsed() > 3:
                        return
            """,
            [(9, "monotonic() - self.start > 3", True), (13, "limit.elapsed() > 3", True)],
        ),
        (
            """\
            import datetime
            begun = datetime.datetime.now()
            for batch in loader:
                self.done = (datetime.datetime.now() - begun).total_seconds() > hours
            """,
            [(4, "(datetime.datetime.now() - begun).total_seconds() > hours", True)],
        ),
        (
            """\
            import time
            if time.monotonic() > end:
                raise TimeoutError
            if time.time() - built > every:
                rebuild()
            if loss < best:
                best = loss
            """,
            [(4, "time.time() - built > every", False)],
        ),
        (
            """\
            import time
            class Over(Exception): pass
            def check(end):
                if time.monotonic() > end: raise Over(end)
            try: train()
            except Over: pass
            """,
            [(4, "time.monotonic() > end", True)],
        ),
        ("trainer = Trainer(max_time='00:01')", [(1, "Trainer(max_time='00:01')", True)]),
        ("trainer = Trainer(max_time=None)", []),
        ("import time\nprint(time.time())", []),
        (
            """\
            import time
            from pathlib import Path
            def load(folder):
                rows = {}
                for path in Path(folder).glob("*.txt"):
                    rows[path.stem] = [int(word) for word in path.read_text().split()]
                return rows
            rows = load(time.strftime("%m%d"))
            for at in range(len(rows)):
                step(rows[at])
            """,
            [],
        ),
        (
            """\
            import tempfile, time
            from corpus import load
            with tempfile.TemporaryDirectory(prefix=time.strftime("%m%d")) as folder:
                rows = load(folder)
                for at in range(len(rows)):
                    step(rows[at])
            """,
            [],
        ),
    ],
    ids=[
        "loop",
        "kept",
        "methods",
        "stored",
        "raised",
        "caught",
        "given",
        "not given",
        "shown",
        "read",
        "named",
    ],
)
def test_what_the_clock_decides(code: str, found: list[tuple[int, str, bool]]) -> None:
    told = conditions(dedent(code))
    assert [(each.line, each.text, each.ends) for each in told] == found
    assert all(each.ends or each.sets for each in told)


@pytest.mark.parametrize(
    ("body", "sets"),
    [
        ("fast, width = spent, each", True),
        ("width = 4", True),
        ("fast = spent", False),
        ("print(each)", False),
        ("save(each)", True),
        ("rate = 1 / spent\n                    print(f'{rate:.1f}', loss.item())", False),
        ("os.makedirs(folder)", False),
        ("time.sleep(0.1)", False),
        ("print(evaluate(model))", True),
        ("print(rounded(spent))", False),
        ("if seen > 3: continue", True),
        ("shown = each", False),
        ("seen = 0", False),
    ],
)
def test_what_is_chosen_by_the_clock_and_counts(body: str, sets: bool) -> None:
    code = f"""\
        import time
        def quickest(widths):
            fast, width, shown, seen = 9.0, 1, 0, 0
            for each in widths:
                seen += 1
                begun = time.perf_counter()
                run(each)
                spent = time.perf_counter() - begun
                if spent < fast:
                    {body}
                train(each)
            print(shown, seen)
            return width
        def rounded(number):
            return f"{{round(number, 2)}} s"
    """
    (told,) = conditions(dedent(code))
    assert (told.line, told.text, told.ends, told.sets) == (9, "spent < fast", False, sets)


@pytest.mark.parametrize(
    ("kept", "sets"),
    [
        ("self.value = torch.randn(8)", True),
        ("self.values[0] = torch.randn(8) * 2", True),
        ("self.value = 3", True),
        ("self.lines.append(step)", True),
        ("self.model.load_state_dict(model.state_dict())", True),
        ("self.refresh(step)", True),
        ("self.note(step)", False),
        ("self.seen = 0", False),
        ("print(step)", False),
    ],
)
@pytest.mark.parametrize("clock", ["time.monotonic()", "self.now()"])
def test_what_is_done_and_kept_when_the_clock_says_so_counts(
    clock: str, kept: str, *, sets: bool
) -> None:
    """The part of the condition that asks for nothing but None is not decided by it."""
    code = f"""\
        import time
        import torch
        class Memo:
            def __init__(self, now=time.monotonic):
                self.now = now
                self.born = None
                self.seen = 0
            def get(self, step):
                if self.born is None or {clock} - self.born > 0.01:
                    {kept}
                    self.born = {clock}
                self.seen += 1
                return self.value
            def refresh(self, step):
                self.value = step
            def note(self, step):
                print(step, self.seen)
    """
    (told,) = conditions(dedent(code))
    assert (told.line, told.text, told.sets) == (9, f"{clock} - self.born > 0.01", sets)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rate = 0.1 if time.time() - begun > 3 else 0.2\nfit(rate)", "time.time() - begun > 3"),
        ("print('late' if time.time() - begun > 3 else 'early')", None),
        ("kept = [x for x in xs if time.time() - x.t < 5]\nfit(kept)", "time.time() - x.t < 5"),
        ("fit(late=time.time() > end)", "time.time() > end"),
        ("for _ in range(int(time.time() - begun)): fit()", "int(time.time() - begun)"),
        ("print(int(time.time() - begun) // 60)", None),
        ("spent = time.time() - begun\nprint(f'{int(spent // 60)} min')", None),
        ("fit(max(1, round(time.time() - begun)))", "round(time.time() - begun)"),
        ("fit(x[: time.time() - begun])", "time.time() - begun"),
        ("timed = {w: run(w, time.time()) for w in ws}\nfit(min(timed, key=timed.get))", "min("),
        ("begun = time.time()\nprint(time.time() - begun)", None),
        ("fit(min(3, 4))\nbegun = time.time()", None),
    ],
)
def test_numbers_and_choices_by_the_clock_count(text: str, found: str | None) -> None:
    told = [each.text for each in conditions(f"import time\n{text}\n") if each.ends or each.sets]
    assert bool(told) is (found is not None), told
    assert all(found in each for each in told[:1] if found)


WAITS = """\
import time
class Wait:
    def __init__(self, begun=None):
        self.begun = begun
    def passed(self):
        return time.monotonic() - self.begun
    @property
    def share(self):
        return self.passed() / 3
    def over(self, now):
        if now - self.begun > 3:
            self.refresh()
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if wait.passed() > 3: fit()", [("train.py", 3)]),
        ("if wait.share > 1: fit()", [("train.py", 3)]),
        ("if wait.passed() > 3: print()", []),
        ("import time\nwait.over(time.monotonic())", [("waits.py", 11)]),
        ("wait.over(3)", []),
    ],
)
def test_times_are_followed_into_other_files(text: str, found: list[tuple[str, int]]) -> None:
    code = f"from waits import Wait\nwait = Wait()\n{text}\n"
    told = timed_conditions({"train.py": code, "waits.py": WAITS})
    places = [(path, each.line) for path, some in told.items() for each in some if each.sets]
    assert places == [
        (path, line + text.count("import")) if path == "train.py" else (path, line)
        for path, line in found
    ]


TIMED = """\
import time
def evaluate(value):
    begun = time.monotonic()
    return value * 2, time.monotonic() - begun
class Pool:
    def _run(self, value):
        return evaluate(value)
    def start(self, value):
        self.job = self.pool.submit(self._run, value)
    def collect(self):
        error, seconds = self.job.result()
        return error
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("error, seconds = evaluate(3)\nif error < 1: fit()", 0),
        ("error, seconds = evaluate(3)\nif seconds < 1: fit()", 1),
        ("if evaluate(3)[0] < 1: fit()", 0),
        ("if evaluate(3)[-1] < 1: fit()", 1),
        ("error, seconds = zip(*[evaluate(3)])\nif error < 1: fit()", 1),
        ("error, seconds = sorted(evaluate(3))\nif error < 1: fit()", 1),
        ("if Pool().collect() < 1: fit()", 0),
    ],
)
def test_a_time_in_a_tuple_is_its_member_alone(text: str, found: int) -> None:
    assert len(conditions(TIMED + text)) == found
    code = f"from timed import *\n{text}\n"
    told = timed_conditions({"train.py": code, "timed.py": TIMED})
    assert len(told["train.py"]) == found
