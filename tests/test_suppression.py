"""Comments silence what they name, and those that silence nothing are reported."""

from __future__ import annotations

import textwrap

import pytest

from detlint.finding import Edit, Finding
from detlint.fixes.applying import choose_edits
from detlint.sources.source import Source
from detlint.suppression.comments import apply

KNOWN = ("DET000", "DET001", "DET301", "DET302", "DET401", "DET402")


def finding(row: int, code: str = "DET301", end_row: int | None = None) -> Finding:
    return Finding("a.py", row, 1, end_row or row, 2, code, "some-rule", "message")


def lint(
    text: str, *found: Finding, enabled: tuple[str, ...] = KNOWN
) -> tuple[list[str], list[Finding]]:
    """``code@row`` of the given findings that stay, and the reports on suppressions."""
    source = Source("a.py", textwrap.dedent(text).lstrip("\n"))
    kept = apply(source, found, enabled=enabled, known=KNOWN)
    unused = [each for each in kept if each.code == "DET001"]
    return [f"{each.code}@{each.row}" for each in kept if each not in unused], unused


def fixed(text: str, *found: Finding) -> str:
    """The text after as many passes as its unused suppressions take."""
    for _ in range(9):
        kept = apply(Source("a.py", text), found, enabled=KNOWN, known=KNOWN)
        edits, applied = choose_edits(len(text), kept, unsafe=False)
        text = Source("", text).rewritten(edits).text
        if not applied:
            return text
    raise AssertionError(text)


SILENT = [
    pytest.param("x  # detlint: ignore[DET301] a reason", id="ignore with a code and a reason"),
    pytest.param("x  # detlint: ignore[DET3]", id="ignore with a prefix"),
    pytest.param("x  # detlint: ignore[DET]", id="ignore with the prefix of all codes"),
    pytest.param("x  # detlint: ignore[DET401, DET301]", id="ignore with two codes"),
    pytest.param("x  # detlint: ignore[DET401 DET301]", id="ignore with a space between codes"),
    pytest.param("x  # detlint: ignore", id="ignore of everything"),
    pytest.param("x  # detlint: ignore - a reason", id="ignore of everything for a reason"),
    pytest.param("x  #detlint:ignore[DET301]", id="ignore without spaces"),
    pytest.param("x  # DETLINT: Ignore [det301]", id="ignore in other case"),
    pytest.param("x  # noqa", id="noqa"),
    pytest.param("x  # NOQA", id="noqa in capitals"),
    pytest.param("x  # NoQA: a reason", id="noqa with words after the colon"),
    pytest.param("x  # noqa: DET301", id="noqa with our code"),
    pytest.param("x  # noqa:E501,det301", id="noqa with another code first"),
    pytest.param("x  # noqa: E501 DET301", id="noqa with a space between codes"),
    pytest.param("x  # noqa: E501, DET301 - reason", id="noqa with a reason"),
    pytest.param("x  # type: ignore  # noqa: DET301", id="after another tool's comment"),
    pytest.param("x  # noqa: DET301  # type: ignore", id="before another tool's comment"),
    pytest.param("x  # why: noqa is fine # noqa: DET301", id="after prose"),
    pytest.param("y()  # detlint: off", id="off on the line itself"),
    pytest.param("# detlint: ignore[DET301]\nx", id="ignore above"),
    pytest.param("# detlint: ignore[DET301]\n\n# more\nx", id="ignore above a comment"),
    pytest.param("# detlint: ignore\nx", id="ignore of everything above"),
    pytest.param("# detlint: off[DET3]\nx", id="off to the end of the file"),
    pytest.param("# detlint: off\nx\n# detlint: on", id="off and on"),
    pytest.param("# detlint: off\n# detlint: on[DET4]\nx", id="on for others"),
    pytest.param("y\n  # detlint: skip-file generated\nx", id="skip-file"),
]


@pytest.mark.parametrize("text", SILENT)
def test_a_comment_silences_a_finding(text: str) -> None:
    text += "\n"
    row = text[: text.index("x") if "x" in text else 0].count("\n") + 1
    if text.startswith("y\n"):
        row = 3
    assert lint(text, finding(row), enabled=("DET301", "DET000"))[0] == []


LOUD = [
    pytest.param("x  # noqa: E501", id="another tool's code"),
    pytest.param("x  # noqa: DET302", id="another code of ours"),
    pytest.param("x  # detlint: ignore[DET4]", id="another prefix"),
    pytest.param("x  # noqable", id="a longer word"),
    pytest.param("x  # see noqa", id="the word without its own hash"),
    pytest.param("x = '# noqa'", id="in a string"),
    pytest.param("x = '''\n# noqa\n# detlint: skip-file\n'''", id="in a docstring"),
    pytest.param("x = f'{d['# noqa']}'", id="in a nested string"),
    pytest.param("x\n# detlint: ignore", id="below"),
    pytest.param("x\ny  # detlint: ignore", id="on the next line"),
    pytest.param("x  # detlint: skip-file", id="skip-file behind code"),
    pytest.param("x  # detlint: ignore[DET301", id="without its bracket"),
    pytest.param("x  # detlint: ignore DET301", id="without brackets"),
    pytest.param("x  # detlint: ignroe[DET301]", id="misspelt"),
    pytest.param("x  # detlint: on", id="on without off"),
    pytest.param("x\n# detlint: off", id="off below"),
]


@pytest.mark.parametrize("text", LOUD)
def test_a_comment_leaves_a_finding(text: str) -> None:
    assert lint(text + "\n", finding(1))[0] == ["DET301@1"]


def test_noqa_above_is_about_its_own_line_only() -> None:
    assert lint("# noqa\nx\n", finding(2))[0] == ["DET301@2"]


def test_ignore_above_ends_with_the_statement() -> None:
    text = """
        # detlint: ignore[DET301]
        call(
            a,
        )
        x
        """
    assert lint(text, finding(2), finding(3), finding(5)) == (["DET301@5"], [])


def test_ignore_alone_in_a_list_is_about_the_next_item() -> None:
    text = """
        call(
            # detlint: ignore[DET301]
            a,
            b,
        )
        """
    assert lint(text, finding(3), finding(4)) == (["DET301@4"], [])


@pytest.mark.parametrize("row", [1, 2, 3, 4])
def test_any_line_of_a_finding_and_the_end_of_its_statement_will_do(row: int) -> None:
    lines = ["call(", "    a,", "    b,", ")"]
    lines[row - 1] += "  # noqa: DET301"
    assert lint("\n".join(lines), finding(1, end_row=3)) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('x = """\na\n"""  # noqa: DET301\n', id="a docstring"),
        pytest.param("x = {\n  ')': 1,\n}  # noqa: DET301\n", id="a bracket in a string"),
        pytest.param("x = [\n  1, # ]\n]  # noqa: DET301\n", id="a bracket in a comment"),
        pytest.param("x = 1 + \\\n  2 + \\\n  3  # noqa: DET301\n", id="backslashes"),
        pytest.param("x = 1 + \\\r\n  2 + \\\r\n  3  # noqa: DET301\r\n", id="backslashes, CRLF"),
    ],
)
def test_a_comment_behind_a_statement_covers_its_start(text: str) -> None:
    assert lint(text, finding(1)) == ([], [])


def test_a_range_ends_where_it_is_turned_on() -> None:
    text = """
        # detlint: off[DET4]
        a
        # detlint: on[DET401]
        b
        # detlint: on
        c
        """
    found = [finding(row, code) for row in (2, 4, 6) for code in ("DET301", "DET401", "DET402")]
    stay = ["DET301@2", "DET301@4", "DET401@4", "DET301@6", "DET401@6", "DET402@6"]
    assert lint(text, *found) == (stay, [])


def test_a_file_that_does_not_parse_can_only_be_skipped() -> None:
    broken = finding(1, "DET000")
    assert lint("x = (  # noqa\n", broken)[0] == ["DET000@1"]
    assert lint("x = (  # detlint: ignore[DET000]\n", broken) == (["DET000@1"], [])
    assert lint("# detlint: skip-file\nx = (\n", broken) == ([], [])


def test_a_file_that_does_not_parse_cannot_say_what_is_unused() -> None:
    assert lint("x = (  # noqa: DET301\n", finding(1, "DET000"))[1] == []


REPORTED = [
    pytest.param("x  # noqa: DET301", ["unused suppression of DET301"], id="noqa"),
    pytest.param("x  # noqa: E501, det301", ["unused suppression of DET301"], id="among others"),
    pytest.param("x  # detlint: ignore[DET4]", ["unused suppression of DET4"], id="a prefix"),
    pytest.param("# detlint: off[DET301]\nx", ["unused suppression of DET301"], id="off"),
    pytest.param("x  # noqa: DET999", ["DET999 is not a detlint code"], id="unknown in noqa"),
    pytest.param("x  # detlint: ignore[E501]", ["E501 is not a detlint code"], id="foreign"),
    pytest.param("# detlint: on[DET9]\nx", ["DET9 is not a detlint code"], id="unknown in on"),
    pytest.param(
        "x  # detlint: ignore[DET301, DET302]",
        ["unused suppression of DET301", "unused suppression of DET302"],
        id="two",
    ),
    pytest.param("x  # noqa: DET001", ["unused suppression of DET001"], id="our own code"),
    pytest.param("x  # noqa", [], id="a bare noqa is never reported"),
    pytest.param("x  # noqa: E501, X999", [], id="nor are other tools' codes"),
    pytest.param("x  # detlint: ignore", [], id="nor is a bare ignore"),
    pytest.param("x = '# noqa: DET301'", [], id="nor what stands in a string"),
    pytest.param("# detlint: on[DET301]\nx", [], id="nor what is turned on"),
    pytest.param("x  # noqa: DET301  # detlint: ignore[DET001]", [], id="nor what is ignored"),
    pytest.param(
        "# detlint: skip-file\nx  # noqa: DET301", [], id="nor anything in a skipped file"
    ),
]


@pytest.mark.parametrize(("text", "messages"), REPORTED)
def test_a_suppression_of_nothing_is_reported(text: str, messages: list[str]) -> None:
    assert [each.message for each in lint(text)[1]] == messages


MALFORMED = [
    pytest.param("x  # detlint: ignore[DET301", id="no closing bracket"),
    pytest.param("x  # detlint: ignroe[DET301]", id="misspelt"),
    pytest.param("x  # detlint: ignore[]", id="no code"),
    pytest.param("x  # detlint: ignore[DET301; DET302]", id="a semicolon"),
    pytest.param("x  # detlint: ignore DET301", id="no brackets"),
    pytest.param("x  # detlint: disable=DET301", id="another tool's verb"),
    pytest.param("# detlint: skip-file[DET301]", id="a code for the whole file"),
    pytest.param("x  # detlint: skip-file", id="skip-file behind code"),
    pytest.param("x  # detlint:", id="nothing"),
]


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_directive_is_reported_with_the_legal_forms(text: str) -> None:
    (report,) = lint(text)[1]
    assert report.message == (
        "malformed directive; the forms are `# detlint: ignore[DET301] reason`, "
        "`# detlint: off[DET4]`, `# detlint: on[DET4]`, "
        "and `# detlint: skip-file` on a line of its own"
    )
    assert not report.fixable
    assert (report.column, report.end_column) == (text.index("#") + 1, len(text) + 1)


def test_a_report_points_at_the_code() -> None:
    (report,) = lint("a\nx  # noqa: E501, DET301 - why\n")[1]
    assert report[:8] == (
        *("a.py", 2, 18, 2, 24),
        *("DET001", "unused-suppression", "unused suppression of DET301"),
    )


def test_a_rule_that_is_off_cannot_call_its_suppression_unused() -> None:
    enabled = ("DET001", "DET301")
    assert lint("x  # noqa: DET302\n", enabled=enabled)[1] == []
    assert lint("x  # detlint: ignore[DET3]\n", enabled=enabled)[1] == []
    assert len(lint("x  # noqa: DET999\n", enabled=enabled)[1]) == 1


def test_no_report_where_the_rule_for_it_is_off() -> None:
    assert lint("x  # noqa: DET999, DET301\n", enabled=("DET301",)) == ([], [])


def test_two_comments_for_one_finding_are_both_of_use() -> None:
    assert lint("x  # noqa: DET301  # detlint: ignore[DET3]\n", finding(1)) == ([], [])


def test_a_prefix_does_not_hide_that_it_is_unused() -> None:
    assert len(lint("x  # detlint: ignore[DET]\n")[1]) == 1


FIXED = [
    pytest.param("x  # noqa: DET301\n", "x\n", id="the whole comment"),
    pytest.param("x  # noqa: DET301", "x", id="without a newline"),
    pytest.param("x  # noqa: E501, DET301\n", "x  # noqa: E501\n", id="the last code"),
    pytest.param("x  # noqa: DET301,E501\n", "x  # noqa: E501\n", id="the first code"),
    pytest.param("x  # noqa: A1, DET301, B2\n", "x  # noqa: A1, B2\n", id="the middle code"),
    pytest.param("x  # noqa: DET301, DET302\n", "x\n", id="two codes in two passes"),
    pytest.param(
        "x  # detlint: ignore[DET301, DET402, DET302] why\n",
        "x\n",
        id="three codes, and the reason",
    ),
    pytest.param("x  # noqa: DET301 see #12\n", "x\n", id="a reason with a number"),
    pytest.param("x  # type: ignore  # noqa: DET301\n", "x  # type: ignore\n", id="behind"),
    pytest.param("x  # noqa: DET301  # type: ignore\n", "x  # type: ignore\n", id="in front"),
    pytest.param("a\n  # noqa: DET301\nx\n", "a\nx\n", id="the whole line"),
    pytest.param("a\r\n# noqa: DET301\r\nx\r\n", "a\r\nx\r\n", id="the whole line, CRLF"),
    pytest.param("a\n# noqa: DET301", "a\n", id="the last line"),
    pytest.param("# why # noqa: DET301\nx\n", "# why\nx\n", id="prose stays"),
    pytest.param("x  # noqa: DET999\n", "x  # noqa: DET999\n", id="not an unknown code"),
]


@pytest.mark.parametrize(("text", "expected"), FIXED)
def test_the_fix_removes_what_is_unused_and_no_more(text: str, expected: str) -> None:
    assert fixed(text) == expected


@pytest.mark.parametrize(
    ("text", "is_fixed"),
    [
        ("x  # detlint: ignore[DET999] why\n", False),
        ("x  # detlint: ignore[DET999, DET302] why\n", False),
        ("x  # detlint: ignore DET301\n", False),
        ("# detlint: ignor[DET301]\nx\n", False),
        ("x  # noqa: DET999\n", False),
        ("# detlint: off[DET999]\n\nx\n", False),
        ("# detlint: off[DET999]\n# detlint: on[DET999]\nx\n", True),
        ("x  # noqa: E501\n", True),
        ("x  # detlint: ignore[DET302] why\n", True),
        ("y  # detlint: ignore DET301\nx\n", True),
    ],
)
def test_what_a_comment_with_a_mistake_may_mean_to_keep_is_not_fixed(
    text: str, is_fixed: bool
) -> None:
    source = Source("a.py", text)
    at = text.index("x\n") if "x\n" in text else 0
    found = finding(text.count("\n", 0, at) + 1)._replace(edits=(Edit(at, at + 1, "z"),))
    kept = apply(source, [found], enabled=KNOWN, known=KNOWN)
    assert found._replace(edits=found.edits if is_fixed else ()) in kept


def test_the_fix_keeps_what_is_used() -> None:
    assert fixed("x  # noqa: DET302, DET301 why\n", finding(1)) == "x  # noqa: DET301 why\n"


def test_findings_come_in_order() -> None:
    text = "x  # noqa: DET302\ny\n"
    kept = apply(Source("a.py", text), [finding(2), finding(1)], enabled=KNOWN, known=KNOWN)
    assert [(each.row, each.code) for each in kept] == [
        (1, "DET301"),
        (1, "DET001"),
        (2, "DET301"),
    ]
