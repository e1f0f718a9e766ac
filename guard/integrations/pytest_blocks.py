"""The blocks in which detlint's pytest plugin runs guarded tests."""

from __future__ import annotations

import dataclasses
import warnings
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from guard.errors import GuardError, LateWarning
from guard.settings import LARGEST_SEED, Settings, load, seed_given
from guard.setup import activation

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN: list[Settings] = []  # of the blocks that are open now, inner ones last


class Blocks:
    """The block of the test that runs now, and those within it."""

    def __init__(self, config: pytest.Config) -> None:
        # the settings of the test that runs now, None if it is not guarded
        self.current: Settings | None = None
        self._config = config
        self._item: pytest.Item | None = None
        self._stack = ExitStack()
        self._settings: Settings | None = None

    @property
    def settings(self) -> Settings:
        """The session's. Raises SettingsError for what is not legal."""
        if self._settings is None:
            self._settings = load(seed=seed_given(self._config.getoption("guard_seed")))
        return self._settings

    def check(self) -> None:
        """Raise pytest.UsageError where no test could run in a block."""
        try:
            self.settings  # noqa: B018 - it raises
        except GuardError as error:
            raise pytest.UsageError(str(error)) from None
        if find_spec("torch") is None:
            from detlint.addresses import installation

            raise pytest.UsageError(f"guard needs torch: {installation('guard')}")

    @contextmanager
    def opened_if_asked(self, item: pytest.Item) -> Iterator[None]:
        """Open a block around the set-up of a test, which `close` closes; a refusal of guard's
        fails the test at the end of its set-up, so that other plugins can do theirs."""
        refusal = ""
        try:
            self._open_if_asked(item)
        except GuardError as error:
            refusal = f"guard: {error}"
        yield
        if refusal:
            pytest.fail(refusal, pytrace=False)

    def _open_if_asked(self, item: pytest.Item) -> None:
        markers = list(item.iter_markers("guard"))  # the nearest first
        if markers and markers[0].args and not markers[0].args[0]:
            return
        given = dataclasses.asdict(self.settings)
        for marker in reversed(markers):
            given |= marker.kwargs
        self.open(item, load(**given))

    def open(self, item: pytest.Item, settings: Settings) -> Settings:
        """Open the block of a test; the settings in force."""
        with _late_told(item):
            settings = self._stack.enter_context(_deterministic(settings))
        self._stack.enter_context(_randomly_seeded(self._config, settings.seed))
        self.current, self._item = settings, item
        return settings

    @contextmanager
    def inner(self, name: str) -> Iterator[None]:
        """A block for a fixture that tests share, with a seed of its own; none in no block."""
        if self._item is None:
            yield
            return
        seed = (self.settings.seed + crc32(name.encode())) % (LARGEST_SEED + 1)
        with ExitStack() as stack:
            with _late_told(self._item):
                stack.enter_context(_deterministic(dataclasses.replace(self.settings, seed=seed)))
            yield

    def close(self) -> None:
        """Close the block, if there is one."""
        self.current = self._item = None
        self._stack.close()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Replace what torch refused by an error that explains it."""
        try:
            yield
        except RuntimeError as error:
            from guard.refusals.translation import explained_error

            ours = explained_error(error) if self.current else None
            if ours is None:
                raise
            raise ours.with_traceback(error.__traceback__) from error


@contextmanager
def _deterministic(settings: Settings) -> Iterator[Settings]:
    with activation.deterministic(**dataclasses.asdict(settings)) as given:
        OPEN.append(given)
        try:
            yield given
        finally:
            OPEN.pop()


@contextmanager
def _late_told(item: pytest.Item) -> Iterator[None]:
    """List what comes too late for the process, but fail no test by it: where warnings are
    errors, it would be whichever test happens to be the first."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LateWarning)
        yield
    for each in caught:
        _tell(each, item)


def _tell(late: warnings.WarningMessage, item: pytest.Item) -> None:
    try:
        warnings.warn_explicit(late.message, late.category, late.filename, late.lineno)
    except LateWarning:
        told = {"warning_message": late, "when": "runtest", "nodeid": item.nodeid}
        item.ihook.pytest_warning_recorded.call_historic(kwargs={**told, "location": None})


@contextmanager
def _randomly_seeded(config: pytest.Config, seed: int) -> Iterator[None]:
    """Let pytest-randomly, which seeds before each phase of a test, begin at guard's seed."""
    before = getattr(config.option, "randomly_seed", None)
    if before is None:
        yield
        return
    config.option.randomly_seed = seed
    try:
        yield
    finally:
        config.option.randomly_seed = before
