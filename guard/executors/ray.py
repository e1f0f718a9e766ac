"""Runs as tasks of Ray: on the cluster that it is told of, or on one of this machine alone."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.errors import GuardError
from guard.executors import remote, values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.executors import Task


class RayJob:
    """A task of Ray's."""

    def __init__(self, reference: Any, task: Task, note: str) -> None:  # noqa: ANN401
        self._reference = reference
        self._task = task
        self._note = note
        self._status: int | None = None

    @property
    def place(self) -> str:
        """The machine and the process."""
        return remote.read(self._note)

    def poll(self) -> int | None:
        """Its status, once it has ended; 1 where Ray lost it, which its output then says."""
        if self._status is None and _ray().wait([self._reference], timeout=0)[0]:
            self._status = self._ended()
        return self._status

    def _ended(self) -> int:
        try:
            status: int = _ray().get(self._reference)
        except Exception as error:  # noqa: BLE001 - Ray's, and those of the worker
            remote.append(self._task.output, f"Ray: {str(error).strip()}")
            return 1
        return status

    def end(self, which: int) -> None:
        """Call it off, if it has not ended."""
        if self._status is None:
            self._status = -which
            _ray().cancel(self._reference)


class RayExecutor:
    """Hands each run to Ray."""

    is_local = False

    def __init__(self, options: Mapping[str, str]) -> None:
        given = values(options)
        address = given.pop("address", None)
        self._own = not _ray().is_initialized()
        import_module("ray.cloudpickle").register_pickle_by_value(remote)
        try:
            if self._own:
                _ray().init(address=address, log_to_driver=False, logging_level="ERROR")
            # A run that is lost is told, and not made again without a word.
            self._run = _ray().remote(max_retries=0, **given)(remote.run)
        except Exception as error:  # noqa: BLE001 - of several kinds: no cluster, no such option
            raise GuardError(f"--executor ray: {error}") from None

    def start(self, task: Task) -> RayJob:
        """Hand it over."""
        note = remote.note_of(task.output)
        given = (list(task.command), dict(task.environ), task.folder, task.output, note)
        return RayJob(self._run.remote(*given), task, note)

    def close(self) -> None:
        """Leave the cluster, if it was entered here."""
        if self._own:
            _ray().shutdown()


def start(options: Mapping[str, str], _: str) -> RayExecutor:
    """With options of ``ray.remote``, and ``address``."""
    return RayExecutor(options)


def _ray() -> Any:  # noqa: ANN401 - typed only where it is installed
    return import_module("ray")
