"""Runs as tasks of Ray: on the cluster that it is told of, or on one of this machine alone."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.errors import GuardError
from guard.executors import Away, remote, values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.executors import Task


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

    def start(self, task: Task) -> Away:
        """Hand it over."""
        note, given = remote.note_of(task.output), (list(task.command), dict(task.environ))
        ran, ray = self._run.remote(*given, task.folder, task.output, note), _ray()
        ask = (
            lambda: bool(ray.wait([ran], timeout=0)[0]),
            lambda: ray.get(ran),
            lambda: ray.cancel(ran),
        )
        return Away(task, note, ask, lambda error: f"Ray: {str(error).strip()}")

    def close(self) -> None:
        """Leave the cluster, if it was entered here."""
        if self._own:
            _ray().shutdown()


def start(options: Mapping[str, str], _: str) -> RayExecutor:
    """With options of ``ray.remote``, and ``address``."""
    return RayExecutor(options)


def _ray() -> Any:  # noqa: ANN401 - typed only where it is installed
    return import_module("ray")
