"""The findings of the last run, which hold for as long as nothing changes that it looked at.

Linking depends on what files and folders hold, besides what the cache's key says. Kept are a
digest of all that, the names of what lies outside of the linted files, and the findings.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from detlint.cache import content_digest, dump, load
from detlint.project.folders import entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from detlint.cache import Cache
    from detlint.finding import Finding


def recall(cache: Cache, paths: Sequence[str]) -> list[Finding] | None:
    """What linking found last time, if it would find that again."""
    kept = cache.linked
    try:
        listings = {folder: entries(folder) for folder in kept["folders"]}
        if kept["state"] != _state(cache, paths, kept["outside"], listings):
            return None
        return [each for place, found in kept["found"] for each in load(paths[place], found)]
    except (TypeError, ValueError, LookupError, AttributeError):
        return None  # nothing is kept, or it is not ours


def remember(
    cache: Cache,
    paths: Sequence[str],
    outside: Sequence[str],
    listings: Mapping[str, Mapping[str, str]],
    findings: Iterable[Finding],
) -> None:
    """Keep what linking found, given the other files and the folders that it looked at."""
    places = {path: place for place, path in enumerate(paths)}
    found: dict[int, list[Finding]] = {}
    for each in findings:
        found.setdefault(places[each.path], []).append(each)
    with suppress(LookupError):
        cache.linked = {
            "state": _state(cache, paths, outside, listings),
            "outside": list(outside),
            "folders": list(listings),
            "found": [[place, dump(each)] for place, each in found.items()],
        }


def _state(
    cache: Cache,
    paths: Sequence[str],
    outside: Sequence[str],
    listings: Mapping[str, Mapping[str, str]],
) -> str:
    """A digest of all that linking depends on. Raises LookupError where a file is unreadable."""
    folders = {os.path.dirname(path) for path in paths}
    tops = sorted(each for each in folders if os.path.dirname(each) not in folders)
    lines = [
        *map(os.path.realpath, tops),  # no link is followed below them
        *map(cache.content, paths),
        *map(cache.content, outside),
        *(f"{folder}\0{sorted(held.items())}" for folder, held in listings.items()),
    ]
    return content_digest("\0\0".join(lines).encode(errors="surrogatepass"))
