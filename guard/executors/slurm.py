"""Runs as jobs of Slurm, by submitit, which writes the batch script and reads the job's end."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.errors import GuardError
from guard.executors import Away, remote, values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.executors import Task

# submitit would end a job after five minutes, which nobody expects.
_LIMIT = "timeout_min"


class SlurmExecutor:
    """Submits a job for each run."""

    is_local = False

    def __init__(self, options: Mapping[str, str], folder: str) -> None:
        given = values(options)
        submitit: Any = import_module("submitit")
        self._folder = os.path.join(folder, "slurm")
        cluster = given.pop("cluster", "slurm")
        if cluster == "slurm" and _LIMIT not in given:
            raise GuardError(
                "--executor slurm needs a time limit for each run, in minutes: "
                f"--executor-option {_LIMIT}=120"
            )
        cloudpickle: Any = import_module("cloudpickle")
        cloudpickle.register_pickle_by_value(remote)
        try:
            self._executor = submitit.AutoExecutor(folder=self._folder, cluster=cluster)
            self._executor.update_parameters(name="guard", **given)
        except Exception as error:  # noqa: BLE001 - of several kinds: no Slurm, no such option
            raise GuardError(f"--executor slurm: {error}") from None

    def start(self, task: Task) -> Away:
        """Submit it. Raises GuardError where Slurm refuses."""
        note, given = remote.note_of(task.output), (list(task.command), dict(task.environ))
        try:
            job = self._executor.submit(remote.run, *given, task.folder, task.output, note)
        except Exception as error:  # noqa: BLE001 - sbatch's own words
            raise GuardError(f"Slurm takes no job: {error}") from None
        name = f"job {job.job_id}"
        ask = (job.done, job.result, lambda: job.cancel(check=False))
        return Away(task, note, ask, lambda e: f"{name} of Slurm: {job.state}: {e}", f"{name}, ")

    def close(self) -> None:
        """Jobs end by themselves."""


def start(options: Mapping[str, str], folder: str) -> SlurmExecutor:
    """With options of ``submitit.AutoExecutor.update_parameters``."""
    return SlurmExecutor(options, folder)
