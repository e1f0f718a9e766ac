"""What guard takes, from where, and what it says to what it does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from guard.errors import SettingsError
from guard.settings import Settings, load

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = [0, 2**32 - 1, np.int64(7), np.uint32(7)]
WRONG_SEEDS = [
    (-1, "not -1; write 4294967295, which is the same modulo 2**32"),
    (2**32, "not 4294967296; write 0, which is the same modulo 2**32"),
    (1.0, "not 1.0; write 1"),
    (1.5, "not 1.5"),
    ("1", "not '1'"),
    (True, "not True"),
    (None, "not None"),
]
WRONG = [
    ({"fill": "yes"}, "fill is True or False, not 'yes'"),
    ({"rng": "cuda"}, 'rng is "device" or "cpu", not \'cuda\''),
    ({"allow": 3}, "allow is a list of names of operators, not 3"),
    ({"allow": [3]}, r"allow is a list of names of operators, not \[3\]"),
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the project that the tests run in."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_a_seed_becomes_an_int(seed: object) -> None:
    assert type(Settings(seed=seed).seed) is int
    assert Settings(seed=seed).seed == seed


@pytest.mark.parametrize(("seed", "message"), WRONG_SEEDS)
def test_a_wrong_seed_is_refused_and_the_message_says_what_is_legal(
    seed: object, message: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        Settings(seed=seed)
    assert str(raised.value) == f"a seed is an integer from 0 to 4294967295, {message}"


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_a_wrong_value_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings(**given)


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"no setting 'sed'; it knows seed, fill, strict"):
        load(sed=1)


def test_a_seed_of_none_is_one_that_was_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(seed=None).seed == 0
    monkeypatch.setenv("GUARD_SEED", "5")
    assert load(seed=None).seed == 5


def test_arguments_go_over_variables_and_variables_over_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = '[tool.guard]\nseed = 1\nfill = false\nrank-offset = true\nallow = ["a"]\n'
    (tmp_path / "pyproject.toml").write_text(table)
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert load() == Settings(seed=1, fill=False, rank_offset=True, allow=("a",))
    monkeypatch.setenv("GUARD_FILL", "1")
    monkeypatch.setenv("GUARD_ALLOW", "b, c")
    assert load() == Settings(seed=1, fill=True, rank_offset=True, allow=("b", "c"))
    assert load(seed=2, allow="d").allow == ("d",)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("GUARD_SEED", "one", "GUARD_SEED is an integer, not 'one'"),
        ("GUARD_FILL", "maybe", "GUARD_FILL is 1 or 0, not 'maybe'"),
    ],
)
def test_a_wrong_variable_is_named(
    variable: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=message):
        load()


def test_a_misspelt_variable_is_told_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARD_TOKEN", "of another program")
    monkeypatch.setenv("GUARD_SED", "1")
    with pytest.raises(SettingsError, match="GUARD_SED is no variable of guard's; GUARD_SEED is"):
        load()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.guard]\nsed = 1\n", r"\[tool.guard\] in .*pyproject.toml knows no setting 'sed'"),
        ("[tool.guard\n", r"pyproject.toml cannot be read"),
        ("[tool]\nguard = 1\n", r"\[tool.guard\] is a table, not 1"),
        ("tool = 1\nguard = 1\n", r"pyproject.toml cannot be read"),
    ],
)
def test_a_broken_table_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(SettingsError, match=message):
        load()


def test_other_projects_tables_are_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other\n")
    assert load() == Settings()
