"""What each output format says, to the letter."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from detlint.finding import Confidence, Edit, Finding
from detlint.reporters import FORMATS, Report, documentation, load
from detlint.rule import Rule
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = """\
import torch

def train():
    torch.backends.cudnn.benchmark = True
"""
PATH = "src/train.py"


class CudnnBenchmark(Rule):
    """Why runs differ: cuDNN times several kernels
    and keeps the fastest.
    """

    code = "DET301"
    summary = "cuDNN picks its kernels by timing them"
    source = "https://example.org/notes"


def at(  # noqa: PLR0913  each test names what it is about
    text: str,
    marked: str,
    *,
    path: str = PATH,
    code: str = "DET301",
    name: str = "cudnn-benchmark",
    message: str = "cuDNN picks its kernels by timing them",
    advice: str = "",
    replacement: str | None = None,
    safe: bool = True,
    nth: int = 0,
) -> Finding:
    """A finding on the ``nth`` occurrence of ``marked``, with a fix if a replacement is given."""
    start = -1
    for _ in range(nth + 1):
        start = text.index(marked, start + 1)
    source, end = Source(path, text), start + len(marked)
    edits = () if replacement is None else (Edit(start, end, replacement),)
    return Finding(
        path,
        *source.location(start),
        *source.location(end),
        code=code,
        name=name,
        message=message,
        advice=advice,
        edits=edits,
        safe=safe,
    )


BENCHMARK = at(TEXT, "True", advice="set it to False", replacement="False")
SEED = at(
    TEXT,
    "train()",
    code="DET101",
    name="missing-seed",
    message="nothing seeds this",
    replacement="t()",
    safe=False,
)
BARE = at(TEXT, "torch", path="b.py", code="DET401", name="empty-read", message="read unwritten")
CELL = BARE._replace(path="nb.ipynb", cell=3, row=2, end_row=2)


def report(*findings: Finding, text: str | None = TEXT, **options: Any) -> Report:
    def read(path: str) -> Source | None:
        return None if text is None else Source(path, text)

    return Report(findings, sources=read, files=120)._replace(**options)


def rendered(name: str, shown: Report) -> str:
    return "".join(load(name)(shown))


def unindented(text: str) -> str:
    """A snapshot without the margin of the test it stands in: that of its closing quotes."""
    lines = text.strip("\n").split("\n")
    margin = len(lines[-1])
    return "\n".join(line[margin:] for line in lines[:-1]) + "\n"


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_unknown_format_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(
        ValueError,
        match=r"'xml': expected one of text, json, github, sarif, gitlab, junit, rdjson, html$",
    ):
        load("xml")


def test_a_format_is_imported_only_when_it_is_asked_for() -> None:
    code = (
        "import sys; from detlint.reporters import load; load('text')\n"
        "watched = ('detlint.reporters.', 'rich', 'json', 'libcst')\n"
        "print(*sorted(name for name in sys.modules if name.startswith(watched)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        run.stdout
        == "detlint.reporters.excerpt detlint.reporters.terminal detlint.reporters.text\n"
    )


HOSTILE = "\x1b]0;x\x07\u202e\u200b\x9b\u2028\udcff\n##[error]x"
INERT = r"␛]0;x␇\u202e\u200b\x9b\u2028\udcff␊##\[error]x"


@pytest.mark.parametrize("name", ["text", "github"])
def test_nothing_of_a_name_or_a_message_is_a_command(name: str) -> None:
    finding = BARE._replace(path=HOSTILE, message=HOSTILE, advice=HOSTILE)
    shown = rendered(name, report(finding, text=HOSTILE, show_source=True))
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "##[error]" not in shown
    inert = INERT if name == "text" else INERT.replace("␊", "%0A")
    assert shown.count(inert) == {"text": 3, "github": 3}[name]


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_has_what_is_hidden_or_turns_the_direction_of_writing(name: str) -> None:
    text = f"{HOSTILE}\ufffe"
    finding = BARE._replace(path=text, message=text, advice=text)
    shown = rendered(name, report(finding, text=text, show_source=True))
    assert all(line.isprintable() for line in shown.split("\n"))
    assert r"\u202e" in shown
    assert r"\ufffe" in shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("::error file=x::pwn.py", "./::error file=x::pwn.py"),
        (" \t::error::x.py", "./     ::error::x.py"),
        ("a::error::x.py", "a::error::x.py"),
        ("##[error]x.py", r"##\[error]x.py"),
        ("a/##[add-mask token]x.py", r"a/##\[add-mask token]x.py"),
        ("####[ a ].py", "####[ a ].py"),
    ],
)
def test_no_line_of_text_begins_as_a_workflow_command(path: str, shown: str) -> None:
    line = rendered("text", report(BARE._replace(path=path))).splitlines()[0]
    assert line == f"{shown}:1:8: DET401 read unwritten"


@pytest.mark.parametrize("name", ["json", "sarif"])
def test_formats_that_escape_keep_true_names(name: str) -> None:
    text = rendered(name, report(BARE._replace(message=HOSTILE)))
    assert all(line.isprintable() for line in text.split("\n"))
    log = json.loads(text)
    message = log["runs"][0]["results"][0]["message"]["text"] if name == "sarif" else None
    assert (message or log[0]["message"]) == HOSTILE


@pytest.mark.parametrize("name", FORMATS)
def test_rendering_twice_gives_the_same_text(name: str) -> None:
    shown = report(BENCHMARK, SEED, BARE, show_source=True)
    assert rendered(name, shown) == rendered(name, shown)


# text


def test_text_is_a_line_a_finding_and_a_summary() -> None:
    assert rendered("text", report(SEED, BENCHMARK, BARE)) == unindented("""
        src/train.py:3:5: DET101 nothing seeds this
        src/train.py:4:38: DET301 [*] cuDNN picks its kernels by timing them
        b.py:1:8: DET401 read unwritten
        Found 3 findings in 2 files (120 files checked). 1 fixable with --fix, 1 more with --unsafe-fixes.
        """)  # noqa: E501


@pytest.mark.parametrize(
    ("confidence", "mark"),
    list(zip(Confidence, (" [possible]", " [likely]", ""), strict=True)),
    ids=str,
)
def test_text_shows_a_confidence_that_is_not_certain(confidence: Confidence, mark: str) -> None:
    line = rendered("text", report(BENCHMARK._replace(confidence=confidence))).split("\n")[0]
    assert line == (f"src/train.py:4:38: DET301 [*] cuDNN picks its kernels by timing them{mark}")


def test_text_names_the_cell_of_a_notebook() -> None:
    first = rendered("text", report(CELL, show_source=True)).splitlines()[0]
    assert first == "nb.ipynb:cell 3:2:8: DET401 read unwritten"


@pytest.mark.parametrize(
    ("shown", "summary"),
    [
        pytest.param(report(), "All checks passed (120 files checked).", id="nothing found"),
        pytest.param(report(files=1), "All checks passed (1 file checked).", id="one clean file"),
        pytest.param(report(files=0), "No files to check.", id="no file is not called clean"),
        pytest.param(
            report(fixed=2),
            "Fixed 2 findings. All checks passed (120 files checked).",
            id="all were fixed",
        ),
        pytest.param(
            report(BARE, fixed=1),
            "Fixed 1 finding. Found 1 finding in 1 file (120 files checked).",
            id="some were fixed",
        ),
        pytest.param(
            report(BENCHMARK),
            "Found 1 finding in 1 file (120 files checked). 1 fixable with --fix.",
            id="a safe fix",
        ),
        pytest.param(
            report(SEED),
            "Found 1 finding in 1 file (120 files checked). 1 fixable with --unsafe-fixes.",
            id="an unsafe fix",
        ),
    ],
)
def test_the_summary_says(shown: Report, summary: str) -> None:
    assert rendered("text", shown).splitlines()[-1] == summary


def test_text_shows_the_source_with_carets_below_the_range() -> None:
    assert rendered("text", report(BENCHMARK, show_source=True)) == unindented("""
        src/train.py:4:38: DET301 [*] cuDNN picks its kernels by timing them
          |
        3 | def train():
        4 |     torch.backends.cudnn.benchmark = True
          |                                      ^^^^
          |
        help: set it to False
        fix:
        4 -     torch.backends.cudnn.benchmark = True
        4 +     torch.backends.cudnn.benchmark = False

        Found 1 finding in 1 file (120 files checked). 1 fixable with --fix.
        """)


def excerpt_of(finding: Finding, text: str) -> str:
    shown = rendered("text", report(finding, text=text, show_source=True))
    return shown.partition("\n")[2].rpartition("\nFound")[0]


def test_carets_stand_below_wide_characters_and_tabs() -> None:
    text = '\tseed("日本語 🎲 e\u0301", x)\n'
    assert excerpt_of(at(text, "日本語"), text) == unindented("""
          |
        1 |     seed("日本語 🎲 e\u0301", x)
          |           ^^^^^^
          |
        """)
    assert excerpt_of(at(text, "x)"), text) == unindented("""
          |
        1 |     seed("日本語 🎲 e\u0301", x)
          |                         ^^
          |
        """)


def test_a_range_of_several_lines_is_marked_on_each() -> None:
    text = "\n" * 8 + "x = f(\n    1,\n)\n"
    assert excerpt_of(at(text, "f(\n    1,\n)"), text) == unindented("""
           |
         9 | x = f(
           |     ^^
        10 |     1,
           |     ^^
        11 | )
           | ^
           |
        """)


def test_a_long_range_is_cut_after_five_lines() -> None:
    text = "f(\n" + "    1,\n" * 9 + ")\n"
    lines = excerpt_of(at(text, text.rstrip()), text).splitlines()
    assert lines[-4:] == ["5 |     1,", "  |     ^^", "  | ...", "  |"]


def test_a_range_that_ends_before_a_line_leaves_that_line_out() -> None:
    assert excerpt_of(at("a = 1\nb = 2\n", "a = 1\n"), "a = 1\nb = 2\n") == unindented("""
          |
        1 | a = 1
          | ^^^^^
        2 | b = 2
          |
        """)


def test_a_line_of_megabytes_is_cut_around_the_range() -> None:
    text = "x" * 1_000_000 + " seed() " + "y" * 1_000_000
    assert excerpt_of(at(text, "seed()"), text) == unindented(f"""
          |
        1 | ...{"x" * 39} seed() {"y" * 73}...
          |    {" " * 40}^^^^^^
          |
        """)


def test_a_range_without_characters_has_one_caret() -> None:
    finding = BARE._replace(row=4, column=1, end_row=4, end_column=1)
    assert excerpt_of(finding, TEXT).splitlines()[-2:] == ["  | ^", "  |"]


def test_two_lines_around_are_shown_but_no_blank_ones_at_the_ends() -> None:
    text = "one\n\n\ntwo\nseed()\n\nthree\nfour\n"
    assert excerpt_of(at(text, "seed()"), text) == unindented("""
          |
        4 | two
        5 | seed()
          | ^^^^^^
        6 |
        7 | three
          |
        """)


CHANGED = "import os\nimport torch\n\nfor each in os.listdir(\n    folder\n):\n    print(each)\n"


def changed(*edits: tuple[str, ...], text: str = CHANGED, safe: bool = True) -> str:
    """What is shown of a fix that replaces each marked text by another; "" is the start."""
    finding = at(text, edits[0][0] or "import", safe=safe)
    made = tuple(
        Edit(start := text.index(marked), start + len(marked), new) for marked, new in edits
    )
    shown = rendered("text", report(finding._replace(edits=made), text=text, show_source=True))
    return shown.partition("fix:\n")[2].rpartition("\n\nFound")[0]


@pytest.mark.parametrize(
    ("edits", "shown"),
    [
        ([("torch", "numpy")], "2 - import torch\n2 + import numpy"),
        ([("", "import a\n")], "1 + import a"),
        (
            [("", "import guard\n"), ("", "guard.enable()\n")],
            "1 + import guard\n2 + guard.enable()",
        ),
        ([("import os\n", "")], "1 - import os"),
        (
            [("os.listdir(", "sorted(os.listdir("), ("):\n", ")):\n")],
            "4 - for each in os.listdir(\n4 + for each in sorted(os.listdir(\n6 - ):\n6 + )):",
        ),
        (
            [("os.listdir(\n    folder\n)", "sorted(folder)"), ("import os", "import io")],
            (
                "1 - import os\n1 + import io\n4 - for each in os.listdir(\n5 -     folder\n"
                "6 - ):\n4 + for each in sorted(folder):"
            ),
        ),
        ([("print(each)", "print(each)")], ""),
    ],
)
def test_a_fix_is_shown_as_the_lines_that_it_changes(
    edits: list[tuple[str, str]], shown: str
) -> None:
    assert changed(*edits) == shown
    windows = [tuple(text.replace("\n", "\r\n") for text in each) for each in edits]
    assert changed(*windows, text=CHANGED.replace("\n", "\r\n")) == shown


def test_a_long_fix_is_cut() -> None:
    lines = changed(("torch", "torch\n" + "x\n" * 50)).splitlines()
    assert len(lines) == 13
    assert lines[-1].strip() == "..."


def test_what_a_fix_holds_reaches_no_terminal() -> None:
    assert "\x1b" not in changed(("torch", "\x1b[2J"))


def test_full_and_concise_are_text_with_and_without_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from detlint.cli import main

    (tmp_path / "a.py").write_text(TEXT)
    lines = {}
    for name in ("full", "concise", "text"):
        main(["--no-cache", "--isolated", "--output-format", name, str(tmp_path)])
        lines[name] = capsys.readouterr().out.splitlines()
    assert lines["concise"] == lines["text"]
    assert set(lines["concise"]) < set(lines["full"])
    assert "fix:" in lines["full"]


LONG = "torch.empty() gives memory as it is, whatever was there before, and nothing fills it"


def test_on_a_terminal_lines_are_broken_between_words() -> None:
    finding = at(TEXT, "torch", message=LONG, advice=LONG)
    finding = finding._replace(confidence=Confidence.LIKELY)
    shown = rendered("text", report(finding, show_source=True, width=60))
    assert shown.splitlines()[:3] == [
        "src/train.py:1:8: DET301 torch.empty() gives memory as it",
        "    is, whatever was there before, and nothing fills it",
        "    [likely]",
    ]
    assert "help: torch.empty() gives memory as it is, whatever was\n    there before," in shown
    joined = " ".join(shown.split())
    assert joined == " ".join(rendered("text", report(finding, show_source=True)).split())


def test_a_word_that_is_wider_than_the_terminal_is_left_whole() -> None:
    finding = at(TEXT, "torch", message="x" * 90, path="p" * 90)
    shown = rendered("text", report(finding, width=40))
    assert f"{'p' * 90}:1:8: DET301" in shown
    assert "x" * 90 in shown


def test_a_code_is_a_link_to_its_page_where_the_terminal_opens_links() -> None:
    shown = rendered("text", report(BENCHMARK, links=True))
    page = documentation(BENCHMARK)
    assert page.endswith("/rules.md#det301-cudnn-benchmark")
    link = f"\x1b]8;;{page}\x1b\\DET301\x1b]8;;\x1b\\"
    assert shown.startswith(f"src/train.py:4:38: {link} [*] cuDNN")


def test_control_characters_reach_no_terminal() -> None:
    text = 'f("\x1b[2J\x0c\u202e")\n'
    finding = at(text, "f", path="a\nb.py", message="m\x1b")
    shown = rendered("text", report(finding, text=text, show_source=True))
    assert shown.splitlines()[:3] == [
        "a␊b.py:1:1: DET301 m␛",
        "  |",
        '1 | f("␛[2J␌\\u202e")',
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="the file has gone"),
        pytest.param("x\n", id="the file has grown shorter"),
    ],
)
def test_a_finding_is_told_without_its_source_when(text: str | None) -> None:
    assert rendered("text", report(BENCHMARK, text=text, show_source=True)) == unindented("""
        src/train.py:4:38: DET301 [*] cuDNN picks its kernels by timing them
        help: set it to False

        Found 1 finding in 1 file (120 files checked). 1 fixable with --fix.
        """)


def test_colour_changes_nothing_but_the_escapes() -> None:
    plain = report(BENCHMARK, SEED, show_source=True)
    coloured = rendered("text", plain._replace(colour=True))
    assert "\x1b[1msrc/train.py\x1b[0m:4:38: \x1b[1;31mDET301\x1b[0m \x1b[36m[*]\x1b[0m" in coloured
    bare = coloured
    for style in ("0", "1", "1;31", "1;36", "36", "34", "31", "32"):
        bare = bare.replace(f"\x1b[{style}m", "")
    assert bare == rendered("text", plain)


def test_statistics_count_by_rule_the_most_frequent_first() -> None:
    mixed = (BENCHMARK, BENCHMARK._replace(safe=False))
    shown = report(SEED, BARE, *mixed * 5, BENCHMARK._replace(code="DET303"), statistics=True)
    assert rendered("text", shown) == unindented("""
        10  DET301  [-]  cudnn-benchmark
         1  DET101  [ ]  missing-seed
         1  DET303  [*]  cudnn-benchmark
         1  DET401  [ ]  empty-read
        Found 13 findings in 2 files (120 files checked). 6 fixable with --fix, 6 more with --unsafe-fixes.
        """)  # noqa: E501


def test_statistics_of_nothing_are_the_summary() -> None:
    shown = rendered("text", report(statistics=True))
    assert shown == "All checks passed (120 files checked).\n"


# json


def entries(*findings: Finding, text: str | None = TEXT) -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = json.loads(rendered("json", report(*findings, text=text)))
    return parsed


def test_json_of_nothing_is_an_empty_list() -> None:
    assert rendered("json", report()) == "[]\n"


@pytest.mark.usefixtures("_here")
def test_json_tells_all_of_a_finding(tmp_path: Path) -> None:
    assert entries(BENCHMARK) == [
        {
            "cell": None,
            "code": "DET301",
            "confidence": "certain",
            "end_location": {"column": 42, "row": 4},
            "filename": str(tmp_path / "src" / "train.py"),
            "fix": {
                "applicability": "safe",
                "edits": [
                    {
                        "content": "False",
                        "end_location": {"column": 42, "row": 4},
                        "location": {"column": 38, "row": 4},
                    }
                ],
                "message": "set it to False",
            },
            "help": "set it to False",
            "location": {"column": 38, "row": 4},
            "message": "cuDNN picks its kernels by timing them",
            "name": "cudnn-benchmark",
            "noqa_row": 4,
            "severity": "error",
            "url": documentation(BENCHMARK),
        }
    ]


@pytest.mark.parametrize("confidence", Confidence, ids=str)
def test_json_tells_the_confidence_as_a_word(confidence: Confidence) -> None:
    (entry,) = entries(BENCHMARK._replace(confidence=confidence))
    assert entry["confidence"] == confidence.name.lower()


def test_json_says_which_fixes_are_unsafe_and_which_findings_have_none() -> None:
    fixes = [entry["fix"] for entry in entries(SEED, BARE, CELL)]
    assert fixes[0]["applicability"] == "unsafe"
    assert fixes[0]["message"] is None
    assert fixes[1:] == [None, None]


def test_json_has_no_fix_where_the_file_has_gone() -> None:
    assert entries(BENCHMARK, text=None)[0]["fix"] is None


def test_json_keeps_the_name_of_standard_input_and_the_cell() -> None:
    stdin, cell = entries(BARE._replace(path="-"), CELL)
    assert (stdin["filename"], cell["cell"]) == ("-", 3)


def test_json_columns_count_characters_beyond_the_basic_plane() -> None:
    text = 's = "🎲🎲"; seed()\n'
    (entry,) = entries(at(text, "seed()", replacement="seed(0)"), text=text)
    assert entry["location"] == entry["fix"]["edits"][0]["location"] == {"column": 11, "row": 1}


def keys(value: object) -> object:
    """The keys of nested objects; of a list, those of its first item."""
    if isinstance(value, dict):
        return {key: keys(inner) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [keys(item) for item in value[:1]]
    return type(value).__name__


def test_json_has_the_keys_and_types_of_ruffs(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text("import os\n", encoding="utf-8")
    options = ["--isolated", "--no-cache", "--select=F", "--output-format=json"]
    command = [sys.executable, "-m", "ruff", "check", *options, str(sample)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    (ours,) = entries(BENCHMARK)
    # Which ruff does not tell.
    assert (ours.pop("confidence"), ours.pop("help")) == ("certain", "set it to False")
    assert keys([ours]) == keys(json.loads(run.stdout))


# github


@pytest.mark.usefixtures("_here")
def test_github_gets_a_command_a_finding(tmp_path: Path) -> None:
    where = os.path.join(str(tmp_path), "src", "train.py")
    assert rendered("github", report(BENCHMARK)) == (
        f"::error title=detlint (DET301),file={where},line=4,endLine=4,col=38,endColumn=42"
        "::DET301 cuDNN picks its kernels by timing them%0Ahelp: set it to False\n"
    )


@pytest.mark.parametrize(
    ("confidence", "command"),
    list(zip(Confidence, ("notice", "warning", "error"), strict=True)),
    ids=str,
)
def test_github_is_told_the_confidence_by_the_command(confidence: Confidence, command: str) -> None:
    shown = rendered("github", report(BENCHMARK._replace(confidence=confidence)))
    assert shown.startswith(f"::{command} title=detlint (DET301),file=")


def test_github_gets_nothing_where_nothing_was_found() -> None:
    assert rendered("github", report()) == ""


def test_github_properties_and_messages_are_escaped() -> None:
    finding = BARE._replace(path="/a,b:%/\n", message="50%: a, b\r\nc")
    assert rendered("github", report(finding)) == (
        "::error title=detlint (DET401),file=/a%2Cb%3A%25/%0A,line=1,endLine=1,col=8,endColumn=13"
        "::DET401 50%25: a, b%0D%0Ac\n"
    )


def test_github_gets_no_columns_of_a_range_of_several_lines() -> None:
    shown = rendered("github", report(BARE._replace(path="/b.py", end_row=2)))
    assert shown.startswith("::error title=detlint (DET401),file=/b.py,line=1,endLine=2::")


def test_github_is_told_the_cell_in_words() -> None:
    shown = rendered("github", report(CELL._replace(path="/nb.ipynb")))
    assert shown == (
        "::error title=detlint (DET401),file=/nb.ipynb,line=1"
        "::DET401 (cell 3, line 2) read unwritten\n"
    )


# sarif


@pytest.fixture(scope="module")
def validate() -> Callable[[object], None]:
    """Check against the schema that OASIS publishes (2.1.0 with errata 01)."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    package = importlib.util.find_spec("linceo")
    if package is None or not package.submodule_search_locations:
        pytest.skip("linceo, which carries the SARIF schema, is not installed (Python 3.11+ only)")
    path = os.path.join(package.submodule_search_locations[0], "data", "sarif-schema-2.1.0.json")
    with open(path, "rb") as file:
        data = file.read()
    # What OASIS published, so that an update of the package cannot loosen this test.
    digest = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
    assert hashlib.sha256(data).hexdigest() == digest
    # The formats of all drafts: draft 4, which the schema names, had no relative addresses.
    checker = jsonschema.Draft4Validator(
        json.loads(data), format_checker=jsonschema.FormatChecker()
    )

    def check(log: object) -> None:
        assert [error.message for error in checker.iter_errors(log)] == []

    return check


def sarif(*findings: Finding, text: str | None = TEXT) -> dict[str, Any]:
    shown = report(*findings, text=text, rules={"DET301": CudnnBenchmark}.get)
    parsed: dict[str, Any] = json.loads(rendered("sarif", shown))
    return parsed


def results(*findings: Finding, text: str | None = TEXT) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sarif(*findings, text=text)["runs"][0]["results"]
    return found


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        pytest.param("region", {"startLine": 0}, "less than the minimum of 1", id="a line 0"),
        pytest.param("region", {"row": 1}, "'row' was unexpected", id="an unknown key"),
        pytest.param("artifactLocation", {"uri": "a b"}, "not a 'uri-reference'", id="a space"),
    ],
)
def test_the_schema_refuses(
    key: str, value: object, message: str, validate: Callable[[object], None]
) -> None:
    pytest.importorskip("rfc3986_validator", reason="nothing checks addresses")
    log = sarif(BENCHMARK)
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"][key] = value
    with pytest.raises(AssertionError, match=message):
        validate(log)


ASTRAL = 's = "🎲🎲"; seed()\n'


@pytest.mark.parametrize(
    ("findings", "text"),
    [
        pytest.param((), TEXT, id="nothing found"),
        pytest.param((SEED, BENCHMARK, BARE), TEXT, id="fixes of both kinds and none"),
        pytest.param((CELL,), TEXT, id="a cell of a notebook"),
        pytest.param((BENCHMARK,), None, id="a file that has gone"),
        pytest.param(
            (at(ASTRAL, "seed()", path="a dir/日本 🎲%.py", replacement="seed(0)"),),
            ASTRAL,
            id="a path and a text beyond ASCII",
        ),
        pytest.param((BARE._replace(path="/else where/é.py"),), TEXT, id="a file elsewhere"),
        pytest.param((BARE._replace(path="-"),), TEXT, id="standard input"),
    ],
)
def test_sarif_fits_the_schema_with(
    findings: tuple[Finding, ...], text: str | None, validate: Callable[[object], None]
) -> None:
    validate(sarif(*findings, text=text))


@pytest.mark.parametrize(
    ("confidence", "level", "rank"),
    [
        (Confidence.POSSIBLE, "note", 30.0),
        (Confidence.LIKELY, "warning", 60.0),
        (Confidence.CERTAIN, "error", 90.0),
    ],
    ids=str,
)
def test_sarif_tells_the_confidence_by_level_and_rank(
    confidence: Confidence, level: str, rank: float, validate: Callable[[object], None]
) -> None:
    log = sarif(BENCHMARK._replace(confidence=confidence))
    validate(log)
    (result,) = log["runs"][0]["results"]
    assert (result["level"], result["rank"]) == (level, rank)


def test_sarif_lists_only_the_rules_that_fired() -> None:
    log = sarif(BENCHMARK, SEED, BENCHMARK)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["DET101", "DET301"]
    assert [result["ruleIndex"] for result in log["runs"][0]["results"]] == [1, 0, 1]


def test_sarif_describes_a_rule_by_its_documentation() -> None:
    assert sarif(BENCHMARK)["runs"][0]["tool"]["driver"]["rules"] == [
        {
            "id": "DET301",
            "name": "cudnn-benchmark",
            "shortDescription": {"text": "cuDNN picks its kernels by timing them"},
            "helpUri": documentation(BENCHMARK),
            "defaultConfiguration": {"level": "warning"},
            "properties": {"problem.severity": "warning"},
            "fullDescription": {"text": "cuDNN times several kernels\nand keeps the fastest."},
            "help": {
                "text": "Why runs differ: cuDNN times several kernels\nand keeps the fastest.\n\n"
                "Source: https://example.org/notes",
                "markdown": "**Why runs differ:** cuDNN times several kernels\n"
                "and keeps the fastest.\n\nSource: https://example.org/notes",
            },
        }
    ]


def test_sarif_tells_where_and_how_to_fix() -> None:
    text = ASTRAL
    (result,) = results(
        at(text, "seed()", path="a b/é.py", replacement="seed(0)", advice="seed it"), text=text
    )
    artifact = {"uri": "a%20b/%C3%A9.py", "uriBaseId": "%SRCROOT%"}
    region = {"startLine": 1, "startColumn": 11, "endLine": 1, "endColumn": 17}
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    ]
    assert result["fixes"] == [
        {
            "description": {"text": "seed it"},
            "artifactChanges": [
                {
                    "artifactLocation": artifact,
                    "replacements": [
                        {"deletedRegion": region, "insertedContent": {"text": "seed(0)"}}
                    ],
                }
            ],
            "properties": {"applicability": "safe"},
        }
    ]


def uri(path: str) -> dict[str, str]:
    (result,) = results(BARE._replace(path=path))
    artifact: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
    return artifact


@pytest.mark.usefixtures("_here")
def test_sarif_addresses_are_relative_below_the_folder_and_absolute_elsewhere(
    tmp_path: Path,
) -> None:
    assert uri(str(tmp_path / "a:b.py")) == {"uri": "a%3Ab.py", "uriBaseId": "%SRCROOT%"}
    assert uri("./x/../y.py") == {"uri": "y.py", "uriBaseId": "%SRCROOT%"}
    assert uri("../y z.py") == {"uri": (tmp_path.parent / "y z.py").as_uri()}


@pytest.mark.usefixtures("_here")
def test_sarif_addresses_are_relative_to_the_root_of_the_project(
    tmp_path: Path, validate: Callable[[object], None]
) -> None:
    (tmp_path / "a b" / "sub").mkdir(parents=True)
    os.chdir(tmp_path / "a b" / "sub")
    shown = report(BARE, BARE._replace(path="../c.py"), BARE._replace(path="../../d.py"))
    log = json.loads(rendered("sarif", shown._replace(root=lambda: str(tmp_path / "a b"))))
    validate(log)
    (run,) = log["runs"]
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert [each["artifactLocation"] for each in places] == [
        {"uri": "sub/b.py", "uriBaseId": "%SRCROOT%"},
        {"uri": "c.py", "uriBaseId": "%SRCROOT%"},
        {"uri": (tmp_path / "d.py").as_uri()},
    ]
    assert run["originalUriBaseIds"] == {
        "%SRCROOT%": {
            "uri": (tmp_path / "a b").as_uri() + "/",
            "description": {"text": "The root of the project"},
        }
    }


@pytest.mark.skipif(sys.platform == "win32", reason="names of files are text on Windows")
def test_sarif_addresses_spell_a_name_that_is_not_text_by_its_bytes() -> None:
    assert uri(os.fsdecode(b"\xff.py"))["uri"] == "%FF.py"


def fingerprints(*findings: Finding, text: str | None) -> list[str]:
    return [entry["partialFingerprints"]["detlint/v1"] for entry in results(*findings, text=text)]


def test_fingerprints_survive_a_move_and_an_indent() -> None:
    moved = "\n\n# more\n" + TEXT.replace("    torch", "        torch")
    before = fingerprints(BENCHMARK, text=TEXT)
    assert fingerprints(at(moved, "True"), text=moved) == before


def test_fingerprints_tell_apart_lines_files_rules_and_repeats() -> None:
    text = "seed()\nseed()\nseed( 1)\n"
    found = [
        at(text, "seed()"),
        at(text, "seed()", nth=1),
        at(text, "seed( 1)"),
        at(text, "seed()", code="DET101"),
        at(text, "seed()", path="other.py"),
    ]
    assert len(set(fingerprints(*found, text=text))) == len(found)


def test_fingerprints_take_the_beginning_of_a_line_of_megabytes() -> None:
    text = "seed(); " + "x" * 2000
    finding = at(text, "seed()")
    assert fingerprints(finding, text=text) == fingerprints(finding, text=text + "y")


def test_fingerprints_do_not_need_the_file() -> None:
    gone = BENCHMARK._replace(row=99)
    assert fingerprints(BENCHMARK, text=None) == fingerprints(gone, text=TEXT)


def test_sarif_counts_columns_and_lines_as_python_does() -> None:
    run = sarif()["runs"][0]
    assert (run["columnKind"], run["newlineSequences"]) == (
        "unicodeCodePoints",
        ["\r\n", "\n", "\r"],
    )
    assert run["results"] == []
