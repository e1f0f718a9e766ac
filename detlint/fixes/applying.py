"""Findings' edits become text, files and patches."""

from __future__ import annotations

import os
from bisect import bisect_left, insort
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from detlint.sources.decoding import decode
from detlint.sources.kinds import NOTEBOOK, PYTHON
from detlint.sources.paths import common, slashed
from detlint.sources.source import DecodeError, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.finding import Edit, Finding

    Lint = Callable[[Source], list[Finding]]

# A fix that makes room for the next one is one pass; real files need two or three.
_PASSES = 100
# A fix that feeds on itself would double the file in each of them.
_GROWTH = 100_000
_CONTEXT = 3


class Fixed(NamedTuple):
    """A source after its fixes, the findings that they removed, and those still there."""

    source: Source
    fixed: list[Finding]
    remaining: list[Finding]


def choose_edits(
    size: int, findings: Sequence[Finding], *, unsafe: bool
) -> tuple[list[Edit], list[Finding]]:
    """The edits that one pass can make in a text, in order, and the findings that they fix.

    A finding's edits apply together or not at all. Where two findings overlap, the one that
    starts first wins, then the longer one, and the other waits for the next pass. An edit that
    two findings share is made once; different insertions at one offset all apply, in order.
    """
    offered = [each for each in findings if each.edits and (each.safe or unsafe)]
    accepted: dict[Edit, int] = {}
    taken: list[tuple[int, int]] = []
    applied = []
    for finding in sorted(offered, key=_extent):
        fresh = [edit for edit in dict.fromkeys(finding.edits) if edit not in accepted]
        if _fits(fresh, taken, size):
            accepted.update((edit, len(accepted)) for edit in fresh)
            applied.append(finding)
    return sorted(accepted, key=lambda each: (each.start, each.end, accepted[each])), applied


def fix(source: Source, lint: Lint, *, unsafe: bool) -> Fixed:
    """Fix and lint again until nothing changes. A fix is left out if the file would no longer
    compile, have another docstring, or not hold the same text once encoded and read again."""
    findings = lint(source)
    fixed: list[Finding] = []
    if edited(source, ()) is None:
        return Fixed(source, fixed, findings)
    seen = {source.text}
    limit = 2 * len(source.text) + _GROWTH
    refused: set[tuple[object, ...]] = set()
    for _ in range(_PASSES):
        offered = [each for each in findings if _identity(source, each) not in refused]
        edits, applied = choose_edits(len(source.text), offered, unsafe=unsafe)
        changed = edited(source, edits) if applied else source
        if changed is None:
            changed, good = _one_by_one(source, applied)
            refused.update(_identity(source, each) for each in applied if each not in good)
            applied = good
            if not applied:
                continue  # what overlapped with a bad fix gets its turn
        if not applied or changed.text in seen or len(changed.text) > limit:
            break
        seen.add(changed.text)
        fixed += applied
        source = changed
        findings = lint(source)
    return Fixed(source, fixed, findings)


def write(path: str, data: bytes) -> None:
    """Replace a file's content at once, or leave it whole and raise OSError.

    Mode and, where permitted, owner stay; a link stays a link and its target is written.
    """
    target = os.path.realpath(path)
    status = os.stat(target)
    # A file nobody may write is meant to stay as it is, even where this process is root.
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        import errno

        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    # Named before it exists, so that an interrupt at any moment knows what to remove.
    temporary = os.path.join(os.path.dirname(target), f".detlint-{os.urandom(8).hex()}.tmp")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            _copy_owner_and_mode(file.fileno(), temporary, status)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def diff(path: str, old: Source, new: Source) -> bytes:
    """A patch for ``git apply``; empty if nothing changed. Bytes, because the encodings differ."""
    before, after = _lines(old.encode()), _lines(new.encode())
    if before == after:
        return b""
    name = _patch_path(path)
    patch = [b"--- " + _quoted(b"a/" + name), b"+++ " + _quoted(b"b/" + name)]
    for hunk in _hunks(_changes(before, after)):
        start = at = max(hunk[0].start - _CONTEXT, 0)
        end = min(hunk[-1].end + _CONTEXT, len(before))
        new_start = hunk[0].new_start - (hunk[0].start - start)
        new_end = hunk[-1].new_end + (end - hunk[-1].end)
        patch.append(b"@@ -%b +%b @@\n" % (_span(start, end), _span(new_start, new_end)))
        for change in hunk:
            patch += [_marked(b" ", line) for line in before[at : change.start]]
            patch += [_marked(b"-", line) for line in before[change.start : change.end]]
            patch += [_marked(b"+", line) for line in after[change.new_start : change.new_end]]
            at = change.end
        patch += [_marked(b" ", line) for line in before[at:end]]
    return b"".join(patch)


class _Change(NamedTuple):
    """Lines ``start:end`` become lines ``new_start:new_end``."""

    start: int
    end: int
    new_start: int
    new_end: int


def _changes(before: list[bytes], after: list[bytes]) -> list[_Change]:
    from difflib import SequenceMatcher

    # Given all lines, difflib takes those that occur often for noise, and rewrites long runs.
    shortest = min(len(before), len(after))
    skip = cut = 0
    while skip < shortest and before[skip] == after[skip]:
        skip += 1
    while cut < shortest - skip and before[-1 - cut] == after[-1 - cut]:
        cut += 1
    middle = before[skip : len(before) - cut], after[skip : len(after) - cut]
    return [
        _Change(skip + start, skip + end, skip + new_start, skip + new_end)
        for tag, start, end, new_start, new_end in SequenceMatcher(None, *middle).get_opcodes()
        if tag != "equal"
    ]


def _hunks(changes: list[_Change]) -> list[list[_Change]]:
    """Changes so near each other that their context would touch, together."""
    hunks: list[list[_Change]] = []
    for change in changes:
        if hunks and change.start - hunks[-1][-1].end <= 2 * _CONTEXT:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    return hunks


def _extent(finding: Finding) -> tuple[int, int]:
    # An import that a fix needs lies far from what the fix is about.
    edits = [each for each in finding.edits if each.end > each.start] or finding.edits
    return min(each.start for each in edits), -max(each.end for each in edits)


def _fits(edits: list[Edit], taken: list[tuple[int, int]], size: int) -> bool:
    """Claim the edits' ranges in ``taken`` (sorted, disjoint), or leave it as it was."""
    claimed: list[tuple[int, int]] = []
    for start, end, _ in edits:
        at = bisect_left(taken, (start, end))
        if (
            not 0 <= start <= end <= size
            or (at and taken[at - 1][1] > start)
            or (at < len(taken) and taken[at][0] < end)
        ):
            for each in claimed:
                taken.remove(each)
            return False
        insort(taken, (start, end))
        claimed.append((start, end))
    return True


def edited(source: Source, edits: Sequence[Edit]) -> Source | None:
    """The source after edits; None if these broke it, or it cannot be written and read."""
    try:
        changed = source.rewritten(edits)
        again = decode(source.path, changed.encode())
    except (UnicodeEncodeError, DecodeError):
        return None
    return changed if again.text == changed.text and _is_sound(changed, source) else None


def _is_sound(source: Source, before: Source) -> bool:
    """Whether a source parses, and still compiles with the docstring that it had."""
    if source.kind == PYTHON:
        from detlint.syntax.parsing import problem

        return problem(source) is None and _runs_as(before.text, source.text)
    if source.kind == NOTEBOOK:
        from detlint.notebooks.notebook import keeps_cells

        return keeps_cells(before, source) and _runs_as(before.text, source.text)
    from detlint.documents import Unreadable, read

    try:
        read(source)
    except Unreadable:
        return False
    return True


def _runs_as(before: str, after: str) -> bool:
    """Whether a text still compiles, if it did, and has the same docstring."""
    from detlint.syntax.parsing import compiles, docstring

    if not compiles(before):  # it may be for a newer Python
        return True
    return compiles(after) and docstring(after) == docstring(before)


def _one_by_one(source: Source, findings: list[Finding]) -> tuple[Source, list[Finding]]:
    """The source with those findings fixed that leave it sound."""
    best = source
    good: list[Finding] = []
    for finding in findings:
        edits, _ = choose_edits(len(source.text), [*good, finding], unsafe=True)
        trial = edited(source, edits)
        if trial is not None:
            best, good = trial, [*good, finding]
    return best, good


def _identity(source: Source, finding: Finding) -> tuple[object, ...]:
    """What stays the same of a finding while fixes elsewhere move it."""
    changes = tuple((source.text[e.start : e.end], e.replacement) for e in finding.edits)
    return finding.code, finding.message, source.line(finding.row), changes


def _copy_owner_and_mode(descriptor: int, path: str, status: os.stat_result) -> None:
    # chown first, because it clears the set-user-id bits.
    if hasattr(os, "fchown"):
        with suppress(PermissionError):  # only root may give a file away
            os.fchown(descriptor, status.st_uid, status.st_gid)
    mode = status.st_mode & 0o7777
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)
    else:
        os.chmod(path, mode)


def _lines(data: bytes) -> list[bytes]:
    # bytes.splitlines breaks at a lone \r as well; git does not.
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _marked(mark: bytes, line: bytes) -> bytes:
    return mark + line + (b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n")


def _span(start: int, end: int) -> bytes:
    length = end - start
    # An empty span names the line before it, and any other its first line, counted from 1.
    return b"%d,%d" % (start + 1 if length else start, length)


def _patch_path(path: str) -> bytes:
    here = os.getcwd()
    if os.path.isabs(path) and common([path, here]) == here:
        path = os.path.relpath(path)
    return os.fsencode(slashed(os.path.normpath(path)).lstrip("/"))


def _quoted(name: bytes) -> bytes:
    """A path as git writes it in a header: escaped in quotes if it holds odd bytes."""
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in name):
        # The tab ends a name that has spaces, as in GNU diff.
        return name + (b"\t\n" if b" " in name else b"\n")
    escapes = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"'}
    escapes[92] = b"\\"
    quoted = b"".join(
        b"\\" + escapes[byte]
        if byte in escapes
        else (bytes([byte]) if 32 <= byte < 127 else b"\\%03o" % byte)
        for byte in name
    )
    return b'"' + quoted + b'"\n'


# Many files: which need a fix, what they become, what could not be written


class FixedFiles(NamedTuple):
    """How many findings were fixed; ``failures`` says which files stay as they were, ``importing``
    which import guard since."""

    fixed: int
    patches: list[bytes]
    failures: list[str]
    importing: list[str]


def fix_files(
    findings: Sequence[Finding], lint: Lint, *, unsafe: bool, dry_run: bool
) -> FixedFiles:
    """Fix every file that has a finding to fix; with ``dry_run`` only make the patches."""
    done = FixedFiles(0, [], [], [])
    offered = (each.path for each in findings if each.fixable and (each.safe or unsafe))
    for path in dict.fromkeys(offered):
        try:
            source, result = _fix_file(path, lint, unsafe=unsafe, dry_run=dry_run)
        except OSError as error:  # noqa: PERF203 - a file takes longer than the block
            done.failures.append(f"{path}: not fixed, and left as it was: {error.strerror}")
        else:
            done.patches.append(diff(path, source, result.source) if dry_run else b"")
            done = done._replace(fixed=done.fixed + len(result.fixed))
            if _imports_guard(result.source) and not _imports_guard(source):
                done.importing.append(path)
    return done


def _fix_file(path: str, lint: Lint, *, unsafe: bool, dry_run: bool) -> tuple[Source, Fixed]:
    """What a file holds, and its fixes, which are written unless it is a dry run."""
    with open(path, "rb") as file:
        source = decode(path, file.read())
    result = fix(source, lint, unsafe=unsafe)
    if result.fixed and not dry_run:
        write(path, result.source.encode())
    return source, result


def _imports_guard(source: Source) -> bool:
    from detlint.fixes.insertions import imports_of

    return source.kind in (PYTHON, NOTEBOOK) and any(imports_of(source, "guard"))
