"""Runs as jobs of Slurm, by submitit, which writes the batch script and reads the job's end."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.errors import GuardError
from guard.executors import remote, values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.executors import Task

# submitit would end a job after five minutes, which nobody expects.
_LIMIT = "timeout_min"


class SlurmJob:
    """A job of submitit's."""

    def __init__(self, job: Any, task: Task, note: str) -> None:  # noqa: ANN401
        self._job = job
        self._task = task
        self._note = note
        self._status: int | None = None

    @property
    def place(self) -> str:
        """The job, the machine and the process."""
        begun = remote.read(self._note)
        return f"job {self._job.job_id}, {begun}" if begun else ""

    def poll(self) -> int | None:
        """Its status, once it has ended; 1 where Slurm ended it, which its output then says."""
        if self._status is None and self._job.done():
            self._status = self._ended()
        return self._status

    def _ended(self) -> int:
        try:
            status: int = self._job.result()
        except Exception as error:  # noqa: BLE001 - of several libraries, and told below
            told = f"job {self._job.job_id} of Slurm: {self._job.state}: {error}"
            remote.append(self._task.output, told)
            return 1
        return status

    def end(self, which: int) -> None:
        """Call it off, if it has not ended."""
        if self._status is None:
            self._status = -which
            self._job.cancel(check=False)


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

    def start(self, task: Task) -> SlurmJob:
        """Submit it. Raises GuardError where Slurm refuses."""
        note = remote.note_of(task.output)
        given = (list(task.command), dict(task.environ), task.folder, task.output, note)
        try:
            job = self._executor.submit(remote.run, *given)
        except Exception as error:  # noqa: BLE001 - sbatch's own words
            raise GuardError(f"Slurm takes no job: {error}") from None
        return SlurmJob(job, task, note)

    def close(self) -> None:
        """Jobs end by themselves."""


def start(options: Mapping[str, str], folder: str) -> SlurmExecutor:
    """With options of ``submitit.AutoExecutor.update_parameters``."""
    return SlurmExecutor(options, folder)
