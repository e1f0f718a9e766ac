"""The stage that explains torch's refusals, and lets the allowed operators through."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from guard.observe import places
from guard.refusals import interception
from guard.refusals.explanations import explained
from guard.refusals.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.settings import Settings

_watchers: list[Watcher] = []  # of the blocks that are open, outermost first
_installed = ExitStack()


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Explain refusals, and let the allowed operators through."""
    with watching(Watcher(settings)):
        yield


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Hand every watched call to a watcher, until an inner one takes over."""
    if not _watchers:
        interception.install(_installed, _innermost)
    _watchers.append(watcher)
    try:
        yield
    except Exception as error:
        ours = explained(error, places.of_error(error))
        if ours is None:
            raise
        raise ours from error
    finally:
        _watchers.remove(watcher)
        if not _watchers:
            _installed.close()


def current() -> Watcher | None:
    """The watcher that is at work."""
    return _watchers[-1] if _watchers else None


def _innermost() -> Watcher:
    return _watchers[-1]
