"""What a worker of Slurm or Ray does for one run. It is sent there by value, so that it needs the
standard library alone."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from typing import Any

# Variables that are the worker's and not the user's: which devices it was given, who it is.
OWN = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HOSTNAME", "TMPDIR")
_PAUSE = 0.05
OWN_PREFIXES = ("SLURM_", "SLURMD_", "SUBMITIT_", "RAY_")


def run(command: list[str], environ: dict[str, str], folder: str, output: str, note: str) -> int:
    """Run a program to its end, and give its status.

    note  the file that says where it runs, from when it does
    """
    own = {k: v for k, v in os.environ.items() if k in OWN or k.startswith(OWN_PREFIXES)}
    theirs = {k: v for k, v in environ.items() if not k.startswith(OWN_PREFIXES)}
    with open(output, "wb") as file:
        process = subprocess.Popen(  # noqa: S603 - the program that was asked for
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**theirs, **own},
            cwd=folder,
            start_new_session=True,
        )
    try:
        _hear(process)
        _write(note, f"{socket.gethostname()}, process {process.pid}")
        while process.poll() is None:
            time.sleep(_PAUSE)  # Ray's interrupt is heard between two lines of Python alone
        return process.returncode
    finally:
        _end(process)


def _hear(process: subprocess.Popen[bytes]) -> None:
    """Have what ends this worker end the run: it is in a session of its own."""

    def ended(number: int, _: Any) -> None:  # noqa: ANN401 - a frame
        _end(process)
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, ended)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the run and what it has left, first by asking."""
    for which, seconds in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        try:
            os.killpg(process.pid, which)
        except (ProcessLookupError, PermissionError):
            return
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue


def _write(path: str, text: str) -> None:
    """A file that never lies there half written."""
    beside = f"{path}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(text, file)
    os.replace(beside, path)


def note_of(output: str) -> str:
    """Where a run with that output says where it is; nothing of an earlier one is left there."""
    note = f"{output}.place"
    if os.path.exists(note):
        os.remove(note)
    return note


def read(note: str) -> str:
    """Where a run is, "" before it has begun."""
    try:
        with open(note, encoding="utf-8") as file:
            return str(json.load(file))
    except (OSError, ValueError):
        return ""


def append(output: str, text: str) -> None:
    """Have what Slurm or Ray says stand below what the program wrote."""
    with open(output, "a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")
