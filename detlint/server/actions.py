"""What can be done about a finding: mend it, or say in a comment that it may stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.finding import UNPARSED
from detlint.fixes.applying import choose_edits, edited
from detlint.rule import CODE
from detlint.suppression.adding import comment_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.finding import Edit, Finding
    from detlint.server.sheets import Place, Position, Sheet


class TextEdit(NamedTuple):
    """Text for a range of a document."""

    place: Place
    text: str


class Action(NamedTuple):
    """``finding`` is what it settles; None for all that is safe to mend."""

    title: str
    finding: Finding | None
    edits: Sequence[TextEdit]
    preferred: bool = False


def actions(sheet: Sheet, findings: Sequence[Finding], at: Place) -> Iterator[Action]:
    """What can be done about the findings that a range touches."""
    near = [each for each in findings if _touches(sheet, each, at)]
    for each in near:
        if each.edits and edited(sheet.source, sorted(each.edits)) is not None:
            made = _edits(sheet, each.edits)
            if made:
                doubt = "" if each.safe else " (changes more than that runs agree)"
                yield Action(f"Fix {each.code} {each.name}{doubt}", each, made, preferred=each.safe)
    for each in near:
        comment = comment_for(sheet.source, each) if each.code != UNPARSED else None
        made = _edits(sheet, [comment]) if comment is not None else []
        if made:
            yield Action(f"Ignore {each.code} here", each, made)


def all_safe(sheet: Sheet, findings: Sequence[Finding]) -> Action | None:
    """All fixes that change nothing but that runs agree, as far as they can be made at once."""
    edits, applied = choose_edits(len(sheet.source.text), findings, unsafe=False)
    if not applied or edited(sheet.source, edits) is None:
        return None
    made = _edits(sheet, edits)
    return Action("Fix all that is safe to fix (detlint)", None, made) if made else None


def code_at(sheet: Sheet, findings: Sequence[Finding], uri: str, at: Position) -> str:
    """The code that a place is about: of a finding there, or of a comment that names it."""
    offset = sheet.offset(uri, at)
    if offset is None:
        return ""
    source = sheet.source
    row, column = source.location(offset)
    for match in CODE.finditer(source.line(row)):
        if match.start() < column <= match.end() + 1:
            return match[0]
    for each in findings:
        if each[1:3] <= (row, column) <= each[3:5]:
            return each.code
    return ""


def _touches(sheet: Sheet, finding: Finding, at: Place) -> bool:
    place = sheet.place_of(finding)
    return (
        place is not None
        and place.uri == at.uri
        and place.start.line <= at.end.line
        and at.start.line <= place.end.line
    )


def _edits(sheet: Sheet, edits: Sequence[Edit]) -> list[TextEdit]:
    """Edits as the protocol has them; none where one is not within a document."""
    made = [(sheet.place(each.start, each.end), each.replacement) for each in edits]
    found = [TextEdit(place, text) for place, text in made if place is not None]
    return found if len(found) == len(made) else []
