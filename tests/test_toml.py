"""TOML: values and their places, comments, and what cannot be read."""

from __future__ import annotations

import pytest
from document_reading import ARGUMENTS, codes, fixed, lint, settings

HEAD = ARGUMENTS["toml"]


def values(text: str) -> dict[str, object]:
    found = settings("a.toml", HEAD + text)
    return {key: value for key, value in found.items() if key not in settings("a.toml", HEAD)}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True),
        ("-1", -1),
        ("1_000", 1000),
        ("0x1F", 31),
        ("1e-3", 0.001),
        ('"a\\tb\\u00e9"', "a\tbé"),
        ("'a\\tb'", "a\\tb"),
        ('"""\na\n  b"""', "a\n  b"),
        ("'''a'''", "a"),
        ("1979-05-27", "1979-05-27"),
        ('"${x}"', '? "${x}"'),
    ],
)
def test_values_are_what_they_mean(written: str, meant: object) -> None:
    assert values(f"x = {written}\n") == {"x": meant}


def test_tables_dotted_keys_and_lists_have_paths() -> None:
    text = 'a.b."c d" = 1\n[t.u]\nx = [1, # one\n  {y = 2}]\n'
    text += "[[q]]\nr = 3\n[[q]]\nr = 4\n[q.s]\nz = 5\n"
    assert values(text) == {
        "a.b.c d": 1,
        "t.u.x.0": 1,
        "t.u.x.1.y": 2,
        "q.0.r": 3,
        "q.1.r": 4,
        "q.1.s.z": 5,
    }


def test_a_fix_changes_its_value_alone() -> None:
    text = HEAD + "'é' = 'ü'  # ß\r\n[env]\r\ncudnn_benchmark = true # fast\r\n"
    assert fixed("a.toml", text) == text.replace("true", "false")


def test_messages_name_the_setting_as_it_is_written() -> None:
    (found,) = lint("a.toml", HEAD + "[env]\ncudnn_benchmark = true\n")
    assert (found.row, found.column) == (5, 19)
    assert found.message.startswith("cudnn_benchmark = true has cuDNN")


def test_comments_suppress_and_strings_do_not() -> None:
    assert codes("a.toml", HEAD + "cudnn_benchmark = true # detlint: ignore[DET301] why\n") == []
    text = HEAD + "x = '# detlint: ignore[DET301]'\ncudnn_benchmark = true\n"
    assert codes("a.toml", text) == ["DET301"]


def test_what_does_not_parse_is_told_with_its_place() -> None:
    (found,) = lint("a.toml", HEAD + "cudnn_benchmark = true\nx = = 1\n")
    assert (found.code, found.row, found.message) == ("DET000", 5, "cannot be read as TOML")


def test_a_template_need_not_parse() -> None:
    assert codes("a.toml", "cudnn_benchmark = true\n{% if x %}\n") == []


def test_depth_is_not_limited_by_the_stack() -> None:
    text = f"{HEAD}cudnn_benchmark = true\nx = {'[' * 3000}{']' * 3000}\n"
    assert codes("a.toml", text) == ["DET301"]
