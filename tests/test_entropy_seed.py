"""Seeds drawn from a global generator: what else the file does with it decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import levels, places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.finding import Finding

FALLBACKS = [
    pytest.param("seed = seed or random.randint(0, 9)", id="or"),
    pytest.param("seed = args.seed if args.seed else randint(0, 9)", id="conditional expression"),
    pytest.param("seed = int(np.random.randint(9)) if seed is None else seed", id="is None"),
    pytest.param("if seed is None:\n    seed = torch.randint(0, 9, ()).item()", id="if is None"),
    pytest.param("if not seed:\n    seed = random.getrandbits(32)", id="if not"),
    pytest.param("if seed < 0:\n    seed = random.randrange(9)", id="negative"),
    pytest.param("if args.seed == -1:\n    args.seed = random.random()", id="minus one"),
    pytest.param("if seed is not None:\n    pass\nelse:\n    seed = randint(0, 9)", id="else"),
    pytest.param("seed = options.get('seed', random.randint(0, 9))", id="default of get"),
    pytest.param("seed = seed or randint(0, 9)\nrandom.seed(seed)", id="seeded with itself"),
    pytest.param("args.seed = args.seed or randint(0, 9)\nset_seed(args.seed)", id="by a helper"),
]
IMPORTS = """
import random
from random import randint

import guard
import numpy as np
import torch

"""


def function(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{IMPORTS}def prepare(args, options, seed=None):\n{lines}    return seed\n"


@pytest.mark.parametrize("body", FALLBACKS)
def test_a_draw_in_place_of_a_missing_seed_is_found(
    body: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(function(body), "DET103")
    assert "global generator, which nothing here seeds first" in found.message


@pytest.mark.parametrize(
    "line",
    [
        "random.seed(3)",
        "set_seed(3)",
        "seed_everything(config.run)",
        "enable_full_determinism(7)",
        "guard.enable(seed=1)",
    ],
)
def test_a_draw_from_a_generator_seeded_in_the_file_is_silent(
    line: str, findings: Callable[..., list[Finding]]
) -> None:
    text = function("seed = seed or random.randint(0, 9)") + f"\n{line}\n"
    assert findings(text, "DET103") == []


def test_seeding_in_a_comment_is_no_seeding(findings: Callable[..., list[Finding]]) -> None:
    text = function("seed = seed or random.randint(0, 9)") + "\n# random.seed(3)\n"
    assert len(findings(text, "DET103")) == 1


def test_a_library_may_derive_a_seed_from_the_generator_its_user_seeds(
    findings: Callable[..., list[Finding]],
) -> None:
    assert findings(function("seed = random.randint(0, 9)"), "DET103") == []


def test_a_program_that_seeds_nothing_may_not(findings: Callable[..., list[Finding]]) -> None:
    text = function("seed = random.randint(0, 9)") + '\nif __name__ == "__main__":\n    main()\n'
    (found,) = findings(text, "DET103")
    assert found.message == (
        "`seed` comes from Python's global generator, which nothing here seeds first "
        "(`random.randint(0, 9)`), so it differs from run to run"
    )
    assert "fixed default" in found.advice


def test_a_program_that_seeds_from_its_settings_may(
    findings: Callable[..., list[Finding]],
) -> None:
    main = '\nif __name__ == "__main__":\n    random.seed(config.seed)\n    main()\n'
    assert findings(function("seed = random.randint(0, 9)") + main, "DET103") == []


@pytest.mark.parametrize(("first", "count"), [("", 1), ("np.random.seed(3)\n", 0)])
def test_statements_of_a_file_seed_whoever_imports_it(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    first: str,
    count: int,
) -> None:
    text = "import numpy as np\nfrom own import set_seed, fit\n{}set_seed(np.random.randint(9))\n"
    own = "import numpy as np\n\ndef set_seed(seed):\n    np.random.seed(seed)\n"
    project({"go.py": text.format(first) + "fit()\n", "own.py": own})
    assert len(places(capsys, "DET103")) == count


def test_a_draw_from_a_generator_object_is_no_global_draw(
    findings: Callable[..., list[Finding]],
) -> None:
    body = "seed = seed or torch.randint(9, (1,), generator=args.generator)"
    assert findings(function(body), "DET103") == []


def test_a_fallback_in_a_library_differs_unless_its_caller_seeds(
    findings: Callable[..., list[Finding]],
) -> None:
    (found,) = findings(function("seed = seed or int(np.random.randint(9))"), "DET103")
    assert found.message.endswith(", so it changes unless the caller has seeded `numpy`")
    assert "run to run" not in found.message


@pytest.mark.parametrize(
    ("draw", "count"),
    [
        ("random.choice(list(args.nodes()))", 0),
        ("random.sample(args.nodes, 2)", 0),
        ("torch.randn(3, 4)", 0),
        ("random.choice(range(1000))", 1),
        ("random.choice([1, 2, 3])", 1),
        ("random.sample(list(range(100)), 5)", 1),
        ("np.random.choice(10_000)", 1),
        ("random.getrandbits(32)", 1),
    ],
)
def test_only_numbers_are_taken_for_seeds_by_the_name_alone(
    draw: str, count: int, findings: Callable[..., list[Finding]]
) -> None:
    text = function(f"seed = {draw}") + '\nif __name__ == "__main__":\n    main()\n'
    assert len(findings(text, "DET103")) == count


FOLDS = """
import random

import numpy as np

def shuffled(rows, start):
    stream = np.random.default_rng(start)
    return stream.permutation(rows)

def picked(rows, start, count=3):
    return shuffled(rows, start)[:count]

def padded(rows, width):
    return rows + [0] * width

class Folds:
    def __init__(self, rows, key=0):
        self.rows = rows
        random.seed(key + 1)
"""
USES = """
import random
import time
import numpy as np
from lib import folds
from lib.folds import Folds, padded, picked as take, shuffled
rows = [1, 2]

if __name__ == "__main__":
    {}
"""


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("shuffled(rows, np.random.randint(10))", 1),
        ("shuffled(rows, start=random.randrange(10))", 1),
        ("take(rows, 7 * np.random.randint(10))", 1),
        ("folds.picked(rows, random.getrandbits(8))", 1),
        ("Folds(rows, random.randint(0, 9))", 1),
        ("Folds(rows, key=3)", 0),
        ("shuffled(np.random.randint(10, size=9), 0)", 0),
        ("take(rows, 0, np.random.randint(10))", 0),
        ("padded(rows, random.randint(0, 9))", 0),
        ("folds.absent(rows, random.randint(0, 9))", 0),
        ("np.random.seed(0)\n    shuffled(rows, np.random.randint(10))", 0),
    ],
)
def test_functions_of_other_files_seed_with_what_they_are_given(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    line: str,
    count: int,
) -> None:
    project({"lib/__init__.py": "", "lib/folds.py": FOLDS, "use.py": USES.format(line)})
    assert len(places(capsys, "DET103")) == count
    assert len(places(capsys, "DET103", "use.py")) == count


FILLED = """
import random
import time

{}

def fill(client):
    seed_table(client, "source", f"run {{int(time.time())}}")
"""


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("random.seed(run)", 1),
        ("set_seed(run)", 1),  # which is not seen
        ('client.insert(table, [{"run": run}])', 0),
    ],
)
@pytest.mark.parametrize("apart", [True, False])
def test_a_body_that_is_seen_says_whether_a_function_named_for_seeds_seeds(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    body: str,
    count: int,
    *,
    apart: bool,
) -> None:
    seen = f"import random\n\ndef seed_table(client, table, run):\n    {body}\n"
    files = {"use.py": FILLED.format("from tables import seed_table"), "tables.py": seen}
    project(files if apart else {"use.py": FILLED.format(seen)})
    assert len(places(capsys, "DET103", "use.py")) == count


def test_a_function_that_is_not_seen_seeds_if_it_is_named_so(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    project({"use.py": FILLED.format("from tables import seed_table")})
    assert len(places(capsys, "DET103", "use.py")) == 1


NAMED = """
import hashlib
import time
import zlib
from datetime import datetime

import torch

name = {}
torch.manual_seed(zlib.crc32(name.encode()))
"""


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ('f"run-{datetime.now():%Y%m%d-%H%M}"', 1),
        ('datetime.now().strftime("%H%M")', 1),
        ('time.strftime("%H%M")', 1),
        ('"run-" + time.strftime("%H%M", time.localtime())', 1),
        ('time.ctime().replace(" ", "")', 1),
        ("str(time.gmtime().tm_hour)", 1),
        ('time.strftime("%H%M", time.gmtime(0))', 0),
        ("time.ctime(0)", 0),
        ('f"run-{datetime(2020, 1, 1):%Y%m%d}"', 0),
    ],
)
def test_a_time_as_text_that_a_seed_is_made_of_is_one_of_the_clock(
    name: str, count: int, findings: Callable[..., list[Finding]]
) -> None:
    found = findings(NAMED.format(name), "DET103")
    assert [each.message.count("comes from the clock") for each in found] == [1] * count


def test_a_time_as_text_that_only_names_is_no_seed(findings: Callable[..., list[Finding]]) -> None:
    text = NAMED.format('time.strftime("%H%M")').replace("zlib.crc32(name.encode())", "0")
    assert findings(text + "open(name)\n", "DET103") == []


RUN = """
from datetime import datetime

def name_of_run(prefix="run"):
    return f"{prefix}-{datetime.now():%Y%m%d-%H%M}"
"""
TRAIN = """
import zlib
import torch
from run import name_of_run

def start(number):
    torch.manual_seed(number)

def main():
    name = name_of_run()
    open(name, "w").close()
    {}

main()
"""


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("torch.manual_seed(zlib.crc32(name.encode()))", 1),
        ("start(zlib.crc32(name.encode()))", 1),
        ("seed = int(name[-4:]); start(seed)", 1),
        ("torch.manual_seed(0)", 0),
        ('print(name); start(zlib.crc32(b"run"))', 0),
    ],
)
def test_another_file_seeds_with_what_a_function_takes_from_the_clock(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    line: str,
    count: int,
) -> None:
    project({"run.py": RUN, "train.py": TRAIN.format(line)})
    assert len(places(capsys, "DET103")) == count
    assert len(places(capsys, "DET103", "run.py")) == count
    assert places(capsys, "DET103", "train.py") == []


PARSED = """
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int{default})
args = parser.parse_args()
"""
DRAWN = """
def choose(args):
    if {test}:
        args.seed = random.randint(0, 9999)
    torch.manual_seed(args.seed)
"""
CHOSEN = "import argparse\nimport random\nimport torch\n"


@pytest.mark.parametrize(
    ("default", "test", "sure"),
    [
        (", default=42", "args.seed == -1", False),
        (", default=42", "args.seed < 0", False),
        (", default=42", "not args.seed", False),
        ("", "args.seed is not None and args.seed < 0", False),
        ("", "args.seed is None", True),
        (", default=None", "not args.seed", True),
        (", default=-1", "args.seed == -1", True),
        (", default=settings.SEED", "args.seed == -1", True),
        (", required=True", "args.seed == -1", True),
    ],
)
@pytest.mark.parametrize("apart", [True, False])
def test_a_seed_that_only_an_option_has_drawn_is_possible(  # noqa: PLR0913 - two fixtures
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    default: str,
    test: str,
    sure: bool,
    *,
    apart: bool,
) -> None:
    parsed, drawn = PARSED.format(default=default), DRAWN.format(test=test)
    files = {"run.py": f"{CHOSEN}{parsed}{drawn}\nchoose(args)\n"}
    if apart:
        run = f"import argparse\nfrom drawing import choose\n{parsed}\nchoose(args)\n"
        files = {"run.py": run, "drawing.py": f"{CHOSEN}{drawn}"}
    project(files)
    assert levels(capsys, "DET103") == ["likely" if sure else "possible"]


def test_a_seed_that_a_later_round_may_draw_stays_likely(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = DRAWN.format(test="args.seed == -1").replace("\n    ", "\n        ")
    rounds = (
        drawn.replace("(args):", "(args):\n    for _ in range(2):") + "        args.seed = -1\n"
    )
    project({"run.py": f"{CHOSEN}{PARSED.format(default=', default=42')}{rounds}\nchoose(args)\n"})
    assert levels(capsys, "DET103") == ["likely"]


def test_a_seed_behind_an_option_about_something_else_stays_likely(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    parsed = PARSED.format(default=", default=42").replace("--seed", "--mixed")
    drawn = "if args.mixed == 7:\n    random.seed(time.time())\n"
    project({"run.py": f"import time\n{CHOSEN}{parsed}{drawn}"})
    assert levels(capsys, "DET103") == ["likely"]


@pytest.mark.parametrize(
    ("given", "is_now"),
    [
        ('np.datetime64("now")', True),
        ("np.datetime64('today', 'D')", True),
        ('pd.Timestamp("now").value', True),
        ('np.datetime64("2026-01-01")', False),
        ("np.datetime64(when)", False),
    ],
)
def test_the_time_of_now_by_its_word_is_a_clock(
    given: str, is_now: bool, findings: Callable[..., list[Finding]]
) -> None:
    text = f"import numpy as np, pandas as pd\n\nnp.random.seed(int({given}))\n"
    found = findings(text, "DET103")
    assert len(found) == is_now
    assert all("comes from the clock" in each.message for each in found)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("row.get('name', '')", 1),
        ("row.get('row', 0)", 0),
        ("row.get('row')", 0),
    ],
)
def test_a_hash_of_what_is_a_string_where_it_is_missing(
    given: str, told: int, findings: Callable[..., list[Finding]]
) -> None:
    text = f"import random\n\ndef draw(row):\n    return random.Random(hash({given})).random()\n"
    assert len(findings(text, "DET103")) == told
