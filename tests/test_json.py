"""JSON, also with comments: values and their places, and what cannot be read."""

from __future__ import annotations

import pytest
from document_reading import ARGUMENTS, codes, fixed, lint, settings

HEAD = ARGUMENTS["json"]


def given(text: str) -> str:
    return f"{{{HEAD}, {text}}}\n"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True),
        ("null", None),
        ("-1", -1),
        ("1e-3", 0.001),
        ("-1.5E+17", -1.5e17),
        ('"1e+5"', "1e+5"),
        ('"a\\tb\\u00e9"', "a\tbé"),
        ('"${x}"', '? "${x}"'),
        ('",]"', ",]"),
        ('"// x"', "// x"),
        ("Infinity", float("inf")),
    ],
)
def test_values_are_what_they_mean(written: str, meant: object) -> None:
    assert settings("a.json", given(f'"x": {written}'))["x"] == meant


def test_nested_keys_and_lists_have_paths() -> None:
    found = settings("a.json", given('"a": {"b": [1, {"c": NaN}]}, "é": 2'))
    assert found["a.b.0"] == 1
    assert "a.b.1.c" in found
    assert found["é"] == 2


@pytest.mark.parametrize(
    "text",
    [
        '"x": [1, 2,], "cudnn_benchmark": true,',
        '"x": 1, // "y": 2, ]\n "cudnn_benchmark": true, /* , } */ ',
        '"x": "é,}", "cudnn_benchmark":true',
    ],
)
def test_comments_and_trailing_commas_are_read_and_kept(text: str) -> None:
    whole = given(text)
    assert codes("a.json", whole) == ["DET301"]
    assert fixed("a.json", whole) == whole.replace("true", "false")


def test_messages_name_the_setting_as_it_is_written() -> None:
    (found,) = lint("a.json", given('\n  "cudnn_benchmark": true'))
    assert (found.row, found.column) == (2, 22)
    assert found.message.startswith('"cudnn_benchmark": true has cuDNN')


@pytest.mark.parametrize(
    "comment", ["// detlint: ignore[DET301] why", "/* detlint: ignore[DET301] why */"]
)
def test_comments_suppress(comment: str) -> None:
    assert codes("a.json", given(f'"cudnn_benchmark": true {comment}\n')) == []


def test_what_does_not_parse_is_told_with_its_place() -> None:
    (found,) = lint("a.json", given('"cudnn_benchmark": true,\n "x": : 1'))
    assert (found.code, found.message) == ("DET000", "cannot be read as JSON")


def test_data_is_not_parsed() -> None:
    assert codes("a.json", '{"cudnn_benchmark": true, "tokens": [1, 2') == []


def test_a_template_need_not_parse() -> None:
    assert codes("a.json", given('"cudnn_benchmark": true, {{ x }}')) == []


def test_depth_is_not_limited_by_the_stack() -> None:
    text = given(f'"cudnn_benchmark": true, "x": {"[" * 3000}{"]" * 3000}')
    assert codes("a.json", text) == ["DET301"]
