"""What no run of one process shows, as the linter reads it in the program's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.errors import GuardError
from guard.rehearsal.findings import OtherSource, Report, Where
from guard.setup.hash_seed import hash_seed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Seeds from the clock, samplers with seeds of their own, hashes, and orders.
_CODES = ("DET101", "DET103", "DET105", "DET203", "DET204", "DET205", "DET207")
_OF_HASHES = ("DET105", "DET204")
_HASHED = ", or start the program with `python -m guard run`, which fixes the hashes of strings"
_UNREAD = "sets, listings of folders and what comes in the order in which it is done"


def sources(program: str, *, module: bool) -> tuple[OtherSource, ...]:
    """What the linter finds in the program's own files. Raises GuardError if it cannot be asked."""
    from guard.verification.program_files import program_files
    from guard.verification.suspects import findings

    files = program_files(program, module=module)
    return tuple(_sources(findings(files, _CODES))) if files else ()


def _sources(found: Iterable[dict[str, object]]) -> Iterator[OtherSource]:
    for each in found:
        code, location = str(each["code"]), each["location"]
        if not isinstance(location, dict):
            continue
        is_of_hashes = code in _OF_HASHES
        yield OtherSource(
            code,
            str(each["message"]),
            f"see `detlint explain {code}`{_HASHED if is_of_hashes else ''}",
            Where(str(each["filename"]), int(location["row"])),
            counts=not is_of_hashes or hash_seed() is None,
        )


def joined(report: Report, read: tuple[OtherSource, ...] | GuardError) -> Report:
    """The report with what the linter found at other lines than the run did."""
    if isinstance(read, GuardError):
        return report._replace(unjudged=(f"{_UNREAD}: {read}", *report.unjudged))
    seen = {_line(each) for each in report.sources}
    more = tuple(each for each in read if _line(each) not in seen)
    return report._replace(sources=(*report.sources, *more))


def _line(source: OtherSource) -> tuple[str, int]:
    return ("", 0) if source.where is None else (source.where.filename, source.where.line)
