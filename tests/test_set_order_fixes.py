"""What DET204 offers, by what is known of the elements of a set."""

from __future__ import annotations

import itertools
import time
from datetime import date
from typing import TYPE_CHECKING

import pytest

from detlint.fixes.applying import fix
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.engine import Engine
    from detlint.finding import Finding

LOOP = """
def f({given}):
    rows = []
    for each in {made}:
        rows.append(each)
    return rows
"""
RETURNED = ", here or where it is returned to"
SORT = f"sort it: sorted(…){RETURNED}"
KEY = f"sort it: sorted(…, key=…){RETURNED}"


@pytest.mark.parametrize(
    ("given", "made"),
    [
        pytest.param("names: set[str]", "names", id="strings"),
        pytest.param("keys: set[bytes]", "keys", id="bytes"),
        pytest.param("pairs: set[tuple[str, int]]", "pairs", id="tuples of these"),
        pytest.param("paths: set[Path]", "paths", id="paths"),
    ],
)
def test_what_compares_is_sorted(
    given: str, made: str, engine: Callable[..., Engine], findings: Callable[..., list[Finding]]
) -> None:
    code = "from pathlib import Path\n\n" + LOOP.format(given=given, made=made)
    assert [(each.advice, each.safe) for each in findings(code, "DET204")] == [(SORT, True)]
    fixed = fix(Source("example.py", code), engine("DET204").lint, unsafe=False).source.text
    assert f"for each in sorted({made}):" in fixed


@pytest.mark.parametrize(
    ("given", "made"),
    [
        pytest.param("callbacks", "{type(each) for each in callbacks}", id="classes"),
        pytest.param("kinds: set[type]", "kinds", id="annotated classes"),
        pytest.param("models: set[object]", "models", id="objects"),
        pytest.param("names: set[str | None]", "names", id="strings, or None"),
        pytest.param("pairs: set[tuple[str, type]]", "pairs", id="tuples that hold classes"),
        pytest.param("days: set[date]", "days", id="what may compare, for all that is known"),
    ],
)
def test_what_may_not_compare_has_no_fix_and_is_told_of_a_key(
    given: str, made: str, findings: Callable[..., list[Finding]]
) -> None:
    code = "from datetime import date\n\n" + LOOP.format(given=given, made=made)
    assert [(each.advice, each.edits) for each in findings(code, "DET204")] == [(KEY, ())]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(
            "import itertools\n\ndef f(names):\n"
            "    return list(itertools.chain(*[set(name.split()) for name in names]))\n",
            "each set of `",
            id="several sets",
        ),
        pytest.param("def f(x: set[str]):\n    return x.pop()\n", "the set `x` gives", id="pop()"),
    ],
)
def test_what_no_sorting_in_place_makes_good_has_no_fix(
    code: str, message: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(code, "DET204")
    assert found.message.startswith(message)
    assert found.edits == ()


def test_what_only_seems_to_be_strings_has_no_fix(findings: Callable[..., list[Finding]]) -> None:
    code = LOOP.format(given="names", made="set(names)")
    (found,) = findings(code, "DET204")
    assert "gives what seem to be strings" in found.message
    assert found.advice == SORT
    assert found.edits == ()


def test_python_raises_where_there_is_no_fix_and_sorts_with_a_key() -> None:
    kinds: set[type] = {date, str}
    with pytest.raises(TypeError, match="'<' not supported between instances of 'type' and 'type'"):
        sorted(kinds)  # type: ignore[type-var]
    assert sorted(kinds, key=lambda each: each.__name__) == [date, str]


def test_a_name_that_is_bound_to_its_own_union_again_and_again(
    findings: Callable[..., list[Finding]],
) -> None:
    steps = "".join(
        f"    batch = batch.union(output{each})\n"
        for each in itertools.islice("abcdefghijklmnopqrst", 20)
    )
    code = f"def step(batch):\n{steps}    return list(batch)\n"
    begun = time.monotonic()
    assert findings(code, "DET204") == []
    assert [each.row for each in findings(f"batch = set(names)\n{code}", "DET204")] == []
    made = code.replace("(batch):", "(names):\n    batch = set(names)", 1)
    assert [each.row for each in findings(made, "DET204")] == [23]
    assert time.monotonic() - begun < 60, "each of the ways through twenty unions was followed"
