"""Where the clock decides how long something goes on."""

from __future__ import annotations

from textwrap import dedent

import pytest

from detlint.dataflow.randomness.clocks import timed_conditions


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
        ("trainer = Trainer(max_time='00:01')", [(1, "Trainer(max_time='00:01')", True)]),
        ("trainer = Trainer(max_time=None)", []),
        ("import time\nprint(time.time())", []),
    ],
    ids=["loop", "kept", "methods", "stored", "raised", "given", "not given", "shown"],
)
def test_what_the_clock_decides(code: str, found: list[tuple[int, str, bool]]) -> None:
    told = timed_conditions("train.py", dedent(code))
    assert [(each.line, each.text, each.ends) for each in told] == found
    assert not any(each.sets for each in told)


@pytest.mark.parametrize(
    ("body", "sets"),
    [
        ("fast, width = spent, each", True),
        ("width = 4", True),
        ("fast = spent", False),
        ("print(each)", False),
        ("save(each)", False),
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
            print(shown, seen)
            return width
    """
    (told,) = timed_conditions("train.py", dedent(code))
    assert (told.line, told.text, told.ends, told.sets) == (9, "spent < fast", False, sets)


@pytest.mark.parametrize(
    ("kept", "sets"),
    [
        ("self.value = torch.randn(8)", True),
        ("self.values[0] = torch.randn(8) * 2", True),
        ("self.value = 3", False),
        ("self.lines.append(step)", False),
    ],
)
@pytest.mark.parametrize("clock", ["time.monotonic()", "self.now()"])
def test_what_is_drawn_and_kept_when_the_clock_says_so_counts(
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
            def get(self, step):
                if self.born is None or {clock} - self.born > 0.01:
                    {kept}
                    self.born = {clock}
                return self.value
    """
    (told,) = timed_conditions("train.py", dedent(code))
    assert (told.line, told.text, told.sets) == (8, f"{clock} - self.born > 0.01", sets)
