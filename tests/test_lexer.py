"""The lexer finds strings and comments as Python does, also where the text is broken."""

from __future__ import annotations

import io
import re
import sysconfig
import time
import tokenize
from pathlib import Path

import pytest

from detlint.syntax.layout import Layout
from detlint.syntax.lexer import Span, comments, spans

SPLIT = [
    pytest.param("x = 'a'", ["'a'"], id="a string"),
    pytest.param("x  # c", ["# c"], id="a comment"),
    pytest.param("'#' # '", ["'#'", "# '"], id="a hash in a string, a quote in a comment"),
    pytest.param(r"'a\'#' #c", [r"'a\'#'", "#c"], id="an escaped quote"),
    pytest.param(r"'a\\' #c", [r"'a\\'", "#c"], id="an escaped backslash"),
    pytest.param(r"rb'\'#' #c", [r"rb'\'#'", "#c"], id="a raw string keeps its quote"),
    pytest.param("of'abc'", ["'abc'"], id="a letter of a name is no prefix"),
    pytest.param("xbr'abc'", ["'abc'"], id="two letters of a name are no prefix"),
    pytest.param("éf'abc'", ["'abc'"], id="a letter of a foreign name is no prefix"),
    pytest.param("(Rb'a', uR'b')", ["Rb'a'", "'b'"], id="prefixes in capitals, and a wrong one"),
    pytest.param("'' \"\" '#'", ["''", '""', "'#'"], id="empty strings"),
    pytest.param("'''a''''' #", ["'''a'''", "''", "#"], id="a string right after another"),
    pytest.param("'''a\\''' '''#", ["'''a\\''' '''", "#"], id="an escaped triple quote"),
    pytest.param("'''a\n#b\n''' #c", ["'''a\n#b\n'''", "#c"], id="a hash in a docstring"),
    pytest.param("'abc\n# c", ["'abc", "# c"], id="an unterminated string ends at its line"),
    pytest.param("'a\\\n#b' #c", ["'a\\\n#b'", "#c"], id="a continued string"),
    pytest.param("'a\\\r\n#b' #c", ["'a\\\r\n#b'", "#c"], id="a continued string with CRLF"),
    pytest.param("#a\r#b\r\n#c\f#d", ["#a", "#b", "#c\f#d"], id="line ends, and a form feed"),
    pytest.param("'''a", ["'''a"], id="an unterminated docstring goes to the end"),
    pytest.param("'''a\\", ["'''a\\"], id="an unterminated docstring ends in a backslash"),
    pytest.param("'a\\", ["'a"], id="an unterminated string ends in a backslash"),
    pytest.param("f'{x!r:#x}' #c", ["f'{x!r:#x}'", "#c"], id="a hash in a format spec"),
    pytest.param("f'{{#' #c", ["f'{{#'", "#c"], id="a doubled brace"),
    pytest.param("f'{d[\"k\"]}' #c", ["f'{d[\"k\"]}'", "#c"], id="the other quote in a field"),
    pytest.param('f"{d["#"]}" #c', ['f"{d["#"]}"', "#c"], id="the same quote in a field"),
    pytest.param('f"{f"{f"{1}#"}"}#" #c', ['f"{f"{f"{1}#"}"}#"', "#c"], id="fields three deep"),
    pytest.param('f"{x:{w["#"]}}" #c', ['f"{x:{w["#"]}}"', "#c"], id="a quote in a nested spec"),
    pytest.param('f"{d["""#"""]}" #', ['f"{d["""#"""]}"', "#"], id="a docstring in a field"),
    pytest.param('f"{g(["#"], "\\"")}" #', ['f"{g(["#"], "\\"")}"', "#"], id="brackets in a field"),
    pytest.param('f"\\N{DASH}{d["#"]}" #', ['f"\\N{DASH}{d["#"]}"', "#"], id="a named character"),
    pytest.param('rf"\\{d["#"]}" #', ['rf"\\{d["#"]}"', "#"], id="a backslash before a field"),
    pytest.param('f"{", #c', ['f"{"', "#c"], id="a field that never ends"),
    pytest.param(
        'f"""{\n"#" #c"""\n}""" #', ['f"""{\n"#" #c"""\n}"""', "#"], id="code in a docstring"
    ),
]


@pytest.mark.parametrize(("text", "expected"), SPLIT)
def test_spans_are_the_strings_and_comments(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in spans(text)] == expected


def test_a_span_says_what_it_is() -> None:
    assert spans("'a' f'''b''' # c") == [
        Span(0, 3, "string"),
        Span(4, 12, "triple"),
        Span(13, 16, "comment"),
    ]


def test_comments_are_offsets_up_to_the_line_end() -> None:
    assert comments("x  # a\r\n'#'\n# b") == [(3, 6), (12, 15)]


def test_text_without_either_has_no_spans() -> None:
    assert spans("") == []
    assert spans("x = 1\n") == []


def reference(text: str) -> list[tuple[int, int]]:
    """Strings and comments by the standard library's tokenizer."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":
            opened.append(start)
        elif name == "FSTRING_END":
            first = opened.pop()
            if not opened:
                found.append((first, end))
        elif not opened and name in ("COMMENT", "STRING"):
            found.append((start, end))
    return found


def test_the_standard_library_splits_as_its_own_tokenizer_does() -> None:
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::3]
    for path in files:
        text = path.read_bytes().decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        if text.isascii():  # some versions of tokenize count columns wrongly elsewhere
            assert [span[:2] for span in spans(text)] == reference(text), path.name
    assert len(files) > 40


HEAVY = [
    pytest.param('"' + r"\x00" * 500_000 + '"', id="two megabytes of escapes"),
    pytest.param('"""' + '\\"' * 500_000 + '"""', id="a megabyte of escaped quotes"),
    pytest.param("'" * 300_000, id="quotes only"),
    pytest.param('f"{\n' * 50_000, id="fields that never end"),
    pytest.param('f"{' * 50_000, id="fields nested without end"),
    pytest.param("rb" * 500_000, id="prefix letters only"),
    pytest.param('"""\\', id="a lone backslash"),
]


@pytest.mark.parametrize("text", HEAVY)
def test_odd_text_takes_time_in_proportion(text: str) -> None:
    began = time.perf_counter()
    spans(text)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("text", "word", "code"),
    [
        ("print(f'{len(set(names))} names')", "set(", True),
        ("print(f'a ({size})')", "({size", False),
        ("print(f'{size:{width(2)}}')", "width(", True),
        ("print('set(names)')", "set(", False),
        ("print(f'{{set(names)}}')", "set(", False),
        ("print(f'''{'a'}\n set({a})''')", "set(", False),
        ("names = set(rows)  # set of a name", "set(", True),
        ("names = 1  # set(rows)", "set(", False),
    ],
)
def test_what_a_string_says_is_no_code(text: str, word: str, code: bool) -> None:
    assert Layout(text).says(text.index(word)) is not code


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def a(x,\ny=0.1):\n    pass\nb = 2\n", ["def a", ""]),
        ("a = [\n'(', # [\n2]\ndef b(): pass\n", ["", "def b"]),
        ("a = f(\ndef b(): pass\ndef c(): pass\n", ["", "def b", "def c"]),
        ("a = f(1))\nb = 2\ndef c(\nx): pass\n", ["", "", "def c"]),
    ],
    ids=["a header", "brackets in strings and comments", "left open", "closed twice"],
)
def test_a_statement_goes_on_while_a_bracket_is_open(text: str, names: list[str]) -> None:
    assert [f"{each.kind} {each.name}".strip() for each in Layout(text).top] == names
