"""One HTML page that needs nothing from elsewhere: findings by rule, file or program, with filters.

All text is escaped, and the page may run nothing but its own script.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from detlint import __version__
from detlint.finding import Confidence
from detlint.reporters import documentation, excerpted, reader
from detlint.reporters.changes import changes
from detlint.reporters.excerpt import rows
from detlint.reporters.places import below
from detlint.reporters.terminal import visible
from detlint.reporters.text import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.finding import Finding
    from detlint.reporters import Report
    from detlint.rule import Rule
    from detlint.sources.source import Source

_LINES = 200  # of a fix


def render(report: Report) -> Iterator[str]:
    """The page. Without its script it shows everything, by rule."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<link rel="icon" href="data:,">\n'
    yield f"<title>detlint: {_text(summary(report))}</title>\n<style>{style}</style></head>\n"
    yield f"<body><header><h1>detlint</h1><p>{_text(summary(report))}</p>"
    yield f'<p class="soft">detlint {_text(__version__)}</p></header>\n<main>\n'
    if report.findings:
        places = _Places(report)
        yield from _form(report, places)
        yield '<div id="findings">\n'
        yield from _sections(report, places)
        yield "</div>\n"
        yield from _rules(report)
    yield f"</main>\n<script>{script if report.findings else ''}</script></body></html>\n"


class _Places:
    """Paths and programs as the page names them: from the root of the project."""

    def __init__(self, report: Report) -> None:
        self._root = report.root()
        self._report = report

    def file(self, finding: Finding) -> str:
        return visible(below(finding.path, self._root))

    def programs(self, finding: Finding) -> list[str]:
        """The programs that have the file, by name."""
        return sorted(visible(below(each, self._root)) for each in self._report.programs(finding))


def _form(report: Report, places: _Places) -> Iterator[str]:
    names = sorted({_rule_name(each) for each in report.findings})
    files = sorted({places.file(each) for each in report.findings})
    programs = sorted({name for each in report.findings for name in places.programs(each)})
    yield '<form class="scripted" aria-label="Filters">\n'
    yield '<label>Text <input type="search" name="text" autocomplete="off"></label>\n'
    for name, choices in (("rule", names), ("file", files), ("program", programs)):
        options = "".join(f"<option>{_text(each)}</option>" for each in choices)
        head = f"<label>{name.capitalize()} <select name={name}>"
        yield f'{head}<option value="">all</option>{options}</select></label>\n'
    yield "<fieldset><legend>Confidence</legend>\n"
    for each in reversed(Confidence):
        box = f'<input type="checkbox" name="confidence" value="{each}" checked>'
        yield f"<label>{box} {each}</label>\n"
    yield "</fieldset>\n<fieldset><legend>Sorted by</legend>\n"
    for name in ("rule", "file", "program"):
        box = f'<input type="radio" name="group" value="{name}"{" checked" * (name == "rule")}>'
        yield f"<label>{box} {name}</label>\n"
    yield '</fieldset>\n<button type="reset">Show all</button>\n</form>\n'
    yield '<output id="told" aria-live="polite"></output>\n'


def _sections(report: Report, places: _Places) -> Iterator[str]:
    read = reader(report)
    # A stable sort: within a rule they come as before, by file, so that each is read once a rule.
    findings = sorted(report.findings, key=_rule_name)
    for name, group in groupby(findings, _rule_name):
        yield f"<section><h2>{_text(name)}</h2>\n"
        for finding in group:
            yield "".join(_article(finding, read(finding), places))
        yield "</section>\n"


def _article(finding: Finding, source: Source | None, places: _Places) -> Iterator[str]:
    file, programs = places.file(finding), places.programs(finding)
    data = {
        "rule": _rule_name(finding),
        "file": file,
        "confidence": str(finding.confidence),
        "programs": json.dumps(programs),
    }
    kept = " ".join(f'data-{key}="{_text(value)}"' for key, value in data.items())
    yield f'<article class="{finding.confidence}" {kept}>\n'
    yield f"<h3>{_spans(finding.message)}</h3>\n"
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    place = f'<span class="place">{_text(f"{file}:{cell}{finding.row}:{finding.column}")}</span>'
    code = f'<a href="#{finding.code}">{finding.code}</a>'
    yield f'<p>{place} · {code} · <span class="tag">{finding.confidence}</span></p>\n'
    if programs:
        yield f'<p class="soft">Part of {_text(", ".join(programs))}</p>\n'
    shown = excerpted(finding, source)
    if shown is not None:
        yield from _excerpt(finding, shown)
        yield from _way(finding, shown)
    if finding.advice:
        yield f"<p><strong>What to do:</strong> {_spans(finding.advice)}</p>\n"
    if source is not None and finding.edits:
        yield from _fix(finding, source)
    yield "</article>\n"


def _excerpt(finding: Finding, source: Source) -> Iterator[str]:
    lines = list(rows(finding, source))
    if lines:
        body = "\n".join(
            f'<span class="n">{row.number}</span>{_text(row.before)}'
            f"{_marked(row.marked) if row.is_marked else ''}{_text(row.after)}"
            if row.number
            else '<span class="n"></span>...'
            for row in lines
        )
        yield f'<pre tabindex="0" aria-label="Source">{body}</pre>\n'


def _marked(text: str) -> str:
    return f"<mark>{_text(text) or '&nbsp;'}</mark>"


def _way(finding: Finding, source: Source) -> Iterator[str]:
    if not finding.way:
        return
    yield "<p><strong>The way of the value:</strong></p>\n<ol>\n"
    for step in finding.way:
        known = not step.path and step.row <= len(source.line_starts)
        line = source.line(step.row).strip()[:120] if known else ""
        code = f" <code>{_text(line)}</code>" if line else ""
        file = f"{_text(finding.file_of(step))}, " if step.path else ""
        yield f"<li>{file}line {step.row}: {_text(step.text)}{code}</li>\n"
    yield "</ol>\n"


def _fix(finding: Finding, source: Source) -> Iterator[str]:
    found = list(changes(finding, source))
    if not found:
        return
    flag = "--fix" if finding.safe else "--fix --unsafe-fixes"
    look = "" if finding.safe else ", which a person must look over"
    yield f"<p><strong>Fix</strong> (<code>detlint {flag}</code>{look}):</p>\n"
    body = []
    for change in found:
        for tag, sign, lines in (("del", "-", change.before), ("ins", "+", change.after)):
            numbered = enumerate(lines[:_LINES], change.row)
            body += [f"<{tag}>{row:>4} {sign} {_text(line)}</{tag}>" for row, line in numbered]
    yield f'<pre tabindex="0" aria-label="Fix">{"".join(body)}</pre>\n'


def _rules(report: Report) -> Iterator[str]:
    """What the rules that found something are about."""
    yield "<section><h2>The rules</h2>\n"
    fired = {each.code: each for each in reversed(report.findings)}
    for code in sorted(fired):
        rule, page = report.rules(code), documentation(fired[code])
        yield f'<div class="rule" id="{_text(code)}"><h3>{_text(_rule_name(fired[code]))}</h3>\n'
        yield from _about(rule) if rule else ()
        if page:
            yield f'<p><a href="{_text(page)}" rel="noreferrer">More of {_text(code)}</a></p>\n'
        yield "</div>\n"
    yield "</section>\n"


def _about(rule: type[Rule]) -> Iterator[str]:
    for heading, text in rule.parts().items():
        yield f"<p><strong>{_text(heading)}:</strong></p>\n"
        yield from _prose(text)


def _prose(text: str) -> Iterator[str]:
    """Paragraphs and lists of a docstring, with `code` in them."""
    for block in text.split("\n\n"):
        if block.startswith("- "):
            items = (" ".join(each.split()) for each in block[2:].split("\n- "))
            yield f"<ul>{''.join(f'<li>{_spans(each)}</li>' for each in items)}</ul>\n"
        else:
            yield f"<p>{_spans(' '.join(block.split()))}</p>\n"


def _spans(text: str) -> str:
    parts = text.replace("``", "`").split("`")
    return "".join(
        f"<code>{_text(part)}</code>" if place % 2 else _text(part)
        for place, part in enumerate(parts)
    )


def _rule_name(finding: Finding) -> str:
    return visible(f"{finding.code} {finding.name}")


def _text(text: str) -> str:
    return escape(visible(text))


def _asset(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _digest(text: str) -> str:
    """What a content security policy lets a page hold."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
