"""The page of findings: what it holds, and what a browser makes of it."""

from __future__ import annotations

import html.parser
import re
from typing import TYPE_CHECKING

import pytest
from browser import browser

from detlint.cli import main
from detlint.finding import Edit, Finding, Step
from detlint.reporters import Report, load
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser import Browser

EVIL = "</script><img src=x onerror=document.title='run'>\x1b[2J\u202e&quot;\"'"
PROJECT = {
    "pyproject.toml": "[tool.detlint]\nmin-confidence = 'possible'\nignore = ['DET1', 'DET304']\n",
    "train.py": """\
        import torch
        import data

        def main():
            torch.backends.cudnn.benchmark = True
            data.number(open("words.txt"))

        if __name__ == "__main__":
            main()
        """,
    "data.py": """\
        def number(rows):
            words = set()
            for row in rows:
                words.update(row.split())
            found = list(words)
            index = {}
            for word in found:
                index[word] = len(index)
            return index
        """,
    "alone.py": "import torch\n\ntorch.backends.cudnn.benchmark = True  # <b>&amp;\n",
}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of a project with a program of two files, and a file that is in none."""
    import textwrap

    root = tmp_path / "project"
    root.mkdir()
    for name, text in PROJECT.items():
        (root / name).write_text(textwrap.dedent(text), encoding="utf-8")
    monkeypatch.chdir(root)
    assert main(["--no-cache", "-q", "--output-format", "html=page.html", "."]) == 1
    return root / "page.html"


@pytest.fixture
def opened(page: Path, tmp_path: Path) -> Iterator[Browser]:
    with browser(tmp_path) as found:
        found.open(page.as_uri())
        yield found


def rendered(*findings: Finding, text: str = "x = 1\n") -> str:
    return "".join(load("html")(Report(findings, sources=lambda path: Source(path, text))))


def test_all_text_is_escaped_and_may_run_nothing() -> None:
    finding = Finding(
        f"{EVIL}.py",
        *(1, 1, 1, 5),
        code="DET301",
        name=EVIL,
        message=EVIL,
        advice=EVIL,
        edits=(Edit(0, 1, EVIL),),
        way=(Step(1, 1, 1, 2, EVIL),),
    )
    written = rendered(finding, text=f"{EVIL}\n")
    assert "<img" not in written
    assert "\x1b" not in written
    assert "\u202e" not in written
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', written)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


class _Attributes(html.parser.HTMLParser):
    """What a page asks for, and what has a name."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in {"src", "srcset", "data"}]
        self.fetched += [value or "" for name, value in attrs if tag == "link" and name == "href"]
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]


def test_nothing_is_fetched_and_landmarks_are_there(page: Path) -> None:
    parser = _Attributes()
    parser.feed(page.read_text(encoding="utf-8"))
    assert parser.fetched == ["data:,"]
    assert {"header", "main", "form", "h1", "h2", "h3"} <= set(parser.tags)


def test_the_page_holds_source_way_advice_fix_and_rule(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    assert "torch.backends.cudnn.benchmark = <mark>True</mark>" in written or (
        "<mark>torch.backends.cudnn.benchmark = True</mark>" in written
    )
    assert "  # &lt;b&gt;&amp;amp;" in written
    assert "<li>line 2: the set is made here <code>words = set()</code></li>" in written
    assert "<strong>What to do:</strong>" in written
    assert "<ins>   3 + torch.backends.cudnn.benchmark = False" in written
    assert '<div class="rule" id="DET301"><h3>DET301 cudnn-benchmark</h3>' in written
    assert '<p class="soft">Part of train.py</p>' in written


def test_nothing_found_is_a_page_that_says_so() -> None:
    assert "<p>All checks passed (3 files checked).</p>" in "".join(
        load("html")(Report((), files=3))
    )


def test_a_file_that_has_gone_is_told_without_its_source() -> None:
    finding = Finding(
        "a.py", 9, 1, 9, 2, "DET301", "cudnn-benchmark", "m", edits=(Edit(90, 91, ""),)
    )
    assert "<pre" not in rendered(finding)
    assert "a.py:9:1" in rendered(finding)


def test_the_colours_can_be_read_in_light_and_dark(page: Path) -> None:
    for values in re.findall(r":root\{([^}]*)\}", page.read_text(encoding="utf-8")):
        colours = dict(re.findall(r"--(\w+):(#\w+)", values))
        text = ("ink", "soft", "certain", "likely", "possible", "link")
        pairs = [(name, paper) for name in text for paper in ("paper", "panel")]
        pairs += [("ink", below) for below in ("mark", "gone", "come")]
        for name, below in pairs:
            assert _contrast(colours[name], colours[below]) >= 4.5, (name, below)


def _contrast(first: str, second: str) -> float:
    """By https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [
            each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
        ]
        return sum(
            weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_a_browser_shows_all_findings_by_rule(opened: Browser) -> None:
    assert opened.said == []
    assert opened.run("document.title").startswith("detlint: Found 3 findings in 3 files")
    assert opened.shown("h2") == ["DET204 set-order", "DET301 cudnn-benchmark", "The rules"]
    assert opened.shown("output") == ["All 3 findings are shown."]
    assert len(opened.shown("article")) == 3


def test_a_browser_filters_by_each_and_sorts_by_each(opened: Browser) -> None:
    def places() -> list[str]:
        return [each.partition(":")[0] for each in opened.shown("article .place")]

    opened.choose("rule", "DET301 cudnn-benchmark")
    assert places() == ["alone.py", "train.py"]
    assert opened.shown("output") == ["2 of 3 findings are shown."]
    opened.choose("program", "train.py")
    assert places() == ["train.py"]
    opened.choose("rule", "")
    assert places() == ["data.py", "train.py"]
    opened.choose("file", "data.py")
    assert places() == ["data.py"]
    opened.click("button[type=reset]")
    opened.run("new Promise(done => setTimeout(done, 50))")
    assert opened.shown("output") == ["All 3 findings are shown."]
    opened.click("input[value=certain]")
    confidences = set(opened.shown("article .tag"))
    assert "certain" not in confidences
    opened.click("input[value=certain]")
    opened.click("input[value=program]")
    assert opened.shown("#findings h2") == ["no program", "train.py"]
    opened.click("input[value=file]")
    assert opened.shown("#findings h2") == ["alone.py", "data.py", "train.py"]


def test_a_browser_finds_text_and_keeps_the_choice_in_the_address(
    opened: Browser, page: Path
) -> None:
    opened.click("input[type=search]")
    opened.type("the set INDEX")
    assert opened.shown("output") == ["1 of 3 findings are shown."]
    address = opened.run("location.href")
    assert address.endswith("#text=the+set+INDEX")
    opened.open("about:blank?")
    opened.open(address)
    assert opened.shown("output") == ["1 of 3 findings are shown."]
    opened.open("about:blank?")
    opened.open(f"{page.as_uri()}#rule=DET301+cudnn-benchmark&group=file&confidence=certain")
    assert opened.shown("#findings h2") == ["alone.py", "train.py"]


def test_a_browser_tells_those_who_cannot_see(opened: Browser) -> None:
    assert [each.strip() for each in opened.names("combobox")] == ["Rule", "File", "Program"]
    assert [each.strip() for each in opened.names("searchbox")] == ["Text"]
    assert [each.strip() for each in opened.names("group")][:2] == ["Confidence", "Sorted by"]
    assert opened.names("form") == ["Filters"]


def test_a_browser_shows_it_dark_where_a_person_likes_that(opened: Browser) -> None:
    papers = []
    for dark in (False, True):
        opened.is_dark(dark)
        papers.append(opened.run("getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(253, 253, 252)", "rgb(21, 23, 26)"]


def test_paper_has_whole_lines_and_no_filters(opened: Browser) -> None:
    opened.is_printed()
    assert opened.shown("form") == []
    assert opened.run("getComputedStyle(document.querySelector('pre')).whiteSpace") == "pre-wrap"
