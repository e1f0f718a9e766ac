"""The findings of earlier runs, which hold for as long as nothing changes that they looked at.

Linking depends on what files and folders hold, besides what the cache's key says. Kept are, for
each set of linted files, a digest of all that, the names of what lies outside of the context, and
the findings.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from detlint.index.folders import entries
from detlint.kept import where_imports_lead
from detlint.sources.cache import digest_of, dump, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from detlint.finding import Finding
    from detlint.sources.cache import Cache
    from detlint.sources.context import Context

_SECTION = "whole"
_MOST = 4  # sets of files, such as the whole project and what the last commits changed


def recall(cache: Cache, context: Context) -> list[Finding] | None:
    """What linking found last time, if it would find that again."""
    try:
        paths = context.paths
        known = cache.kept(_SECTION)
        kept = known[_key(context)] if known else {}
        listings = {folder: entries(folder) for folder in kept["folders"]}
        if kept["state"] != _state(cache, context, kept["outside"], listings):
            return None
        return [each for place, found in kept["found"] for each in load(paths[place], found)]
    except (TypeError, ValueError, LookupError, AttributeError):
        return None  # nothing is kept, or it is not ours


def remember(
    cache: Cache,
    context: Context,
    looked_at: tuple[Sequence[str], Mapping[str, Mapping[str, str]]],
    findings: Iterable[Finding],
) -> None:
    """Keep what linking found, given the other files and the folders that it looked at."""
    paths, (outside, listings) = context.paths, looked_at
    places = {path: place for place, path in enumerate(paths)}
    found: dict[int, list[Finding]] = {}
    for each in findings:
        found.setdefault(places[each.path], []).append(each)
    known = cache.kept(_SECTION)
    known = known if isinstance(known, dict) else {}
    others = [each for each in known.items() if each[0] != _key(context)]
    with suppress(LookupError):
        fresh = {
            "state": _state(cache, context, outside, listings),
            "outside": list(outside),
            "folders": list(listings),
            "found": [[place, dump(each)] for place, each in found.items()],
        }
        cache.keep(_SECTION, dict([*others[1 - _MOST :], (_key(context), fresh)]))


def _key(context: Context) -> str:
    return digest_of(context.names)


def _state(
    cache: Cache,
    context: Context,
    outside: Sequence[str],
    listings: Mapping[str, Mapping[str, str]],
) -> str:
    """A digest of all that linking depends on. Raises LookupError where a file is unreadable."""
    contents = map(cache.content, (*context.files, *outside))
    return digest_of([*contents, *where_imports_lead(context, listings)])
