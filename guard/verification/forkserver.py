"""Runs that are forked from a process which has imported what the program imports.

Most of a short run is the import of torch. So each set of circumstances that take hold when a
process starts (the hash seed, the filling of memory, the order of listings) gets one process that
imports the program's libraries once, and forks a run each time it is asked.

Nothing is imported ahead where that could be seen: a program that writes to ``os.environ`` may do
so before it imports torch, and a library that has opened a GPU cannot be forked.

The ranks of a run are forked from it as well, in the place of those that torchrun would start."""

from __future__ import annotations

import ast
import gc
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from guard.program import flags, text_of, write_whole
from guard.verification import perturbations, program_files, subject
from guard.verification.plan import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from guard.verification.texts import Text

_PAUSE = 0.02  # seconds between two looks at whether a run has ended
_GRACE = 3.0  # seconds in which a run that was asked for is begun
_GONE = -9
# Libraries whose import takes time and starts no thread of Python's.
_LIBRARIES = {
    *("torch", "torchvision", "torchaudio", "numpy", "scipy", "sklearn", "pandas", "PIL"),
    *("lightning", "pytorch_lightning", "transformers", "accelerate", "datasets"),
}
# Not by `-m`: ranks would import what they run in again, and know nothing of what was noted here.
_MAIN = f"import sys; from {__name__} import main; sys.exit(main())"
_SAME_IN_RANKS = {"torch", "numpy"}  # the others may ask for their rank when they are imported
_STEP = "torch._dynamo"  # an optimizer imports it, which takes as long as torch itself
# Generators that libraries made without a seed while they were imported, as sympy does.
_unseeded: WeakSet[random.Random] = WeakSet()


class Imported(NamedTuple):
    """A module, and a name in it that the program takes; "" for none."""

    module: str
    name: str = ""


def imported_ahead(text: Text, *, ranks: int = 1) -> tuple[Imported, ...]:
    """What a program's files import of libraries; nothing where they write to the environment."""
    if text.changes_environment:
        return ()
    wanted = _SAME_IN_RANKS if ranks > 1 else _LIBRARIES
    roots = [os.getcwd(), *(os.path.dirname(path) for path in text.files[:1])]
    nodes = (node for tree in text.trees.values() for node in tree.body)
    found = [each for node in nodes for each in _imported(node)]
    kept = [
        each
        for each in dict.fromkeys(found)
        if (package := each.module.partition(".")[0]) in wanted
        and not program_files.is_beside(package, roots)
    ]
    has_torch = any(each.module.partition(".")[0] != "numpy" for each in kept)
    return (*kept, Imported(_STEP)) if has_torch else tuple(kept)


def _imported(node: ast.stmt) -> Iterator[Imported]:
    if isinstance(node, ast.Import):
        yield from (Imported(each.name) for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (Imported(node.module, each.name) for each in node.names)


class ForkServer:
    """A process that forks runs, as the one that asks for them sees it."""

    def __init__(
        self, folder: str, environ: Mapping[str, str], flags: Sequence[str], told: Mapping[str, Any]
    ) -> None:
        os.makedirs(folder, exist_ok=True)
        self._ready = os.path.join(folder, "ready")
        with open(os.path.join(folder, "output.txt"), "wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - this Python
                [sys.executable, *flags, "-c", _MAIN],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environ),
                start_new_session=True,
            )
        self._requests: Any = self._process.stdin
        self._send({**told, "ready": self._ready, "parent": os.getpid()})

    @property
    def status(self) -> int | None:
        """What it has ended with, or None while it serves."""
        return self._process.poll()

    @property
    def is_ready(self) -> bool:
        """Whether it has imported all, so that it forks at once."""
        return os.path.exists(self._ready)

    def fork(self, environ: Mapping[str, str], arguments: Sequence[str], output: str) -> Forked:
        """Ask for a run; its output goes to a file, and how it ends into the same folder."""
        folder = os.path.dirname(output)
        request = {"folder": folder, "arguments": list(arguments), "environ": dict(environ)}
        self._send({**request, "output": output})
        return Forked(self, folder)

    def _send(self, told: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError):  # its status tells
            self._requests.write(json.dumps(told).encode() + b"\n")
            self._requests.flush()

    def end(self, which: int = signal.SIGKILL) -> None:
        """End it, and with it what it has forked."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, which)
        self._process.wait()
        with suppress(BrokenPipeError):
            self._requests.close()


class Forked:
    """A run that was asked for: a job, as an executor gives one."""

    def __init__(self, server: ForkServer, folder: str) -> None:
        self._server = server
        self._folder = folder

    def poll(self) -> int | None:
        """The status that it has ended with, or None while it runs."""
        ended = self._server.status
        found = _number(os.path.join(self._folder, "status"))
        return _GONE if found is None and ended is not None else found

    @property
    def place(self) -> str:
        """The number of the process."""
        pid = _number(os.path.join(self._folder, "pid"))
        return "" if pid is None else f"process {pid}"

    def end(self, which: int) -> None:
        """Send a signal to its group; to the server, where that has not begun to fork."""
        until = time.monotonic() + _GRACE
        while (pid := _number(os.path.join(self._folder, "pid"))) is None:
            if not self._server.is_ready or time.monotonic() > until:
                self._server.end()
                return
            time.sleep(_PAUSE)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, which)


def _number(path: str) -> int | None:
    return int(text) if (text := text_of(path)) else None


# In the process itself


def main() -> int:
    """Serve; in each process that is forked, be the run."""
    requests = _requests()
    told = next(requests)
    subject.end_with(told["parent"])
    if told["permutes"]:
        perturbations.permute(told["permutes"])
    gc.disable()  # a fifth of the time that importing takes
    with _noting_unseeded():
        is_fit = _import([Imported(*each) for each in told["imports"]]) and not _opened_device()
    gc.freeze()  # or each run's collections would copy all that was imported: half a second
    gc.enable()
    write_whole(told["ready"], str(os.getpid()))
    return _serve(requests, is_fit=is_fit)


def _import(imports: Sequence[Imported]) -> bool:
    """Whether all could be imported; what cannot is left for the program to say."""
    try:
        for each in imports:
            module = import_module(each.module)
            if each.name and each.name != "*":
                getattr(module, each.name, None)
        if "torch" in sys.modules:  # what each run would import when it begins to record
            import_module("guard.recording.recorder")
            import_module("guard.inventory").prepare()
    except Exception:  # noqa: BLE001 - of whatever kind: the program meets it itself
        return False
    return True


@contextmanager
def _noting_unseeded() -> Iterator[None]:
    """Note each of Python's generators that takes its seed from the operating system."""
    original = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:  # noqa: ANN401
        original(self, a, version)
        (_unseeded.discard if a is not None else _unseeded.add)(self)

    random.Random.seed = seed  # type: ignore[method-assign]
    try:
        yield
    finally:
        random.Random.seed = original  # type: ignore[method-assign]


def _opened_device() -> bool:
    """Whether a driver is in use, which does not survive a fork."""
    with suppress(OSError):
        for each in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/self/fd/{each}").startswith(("/dev/nvidia", "/dev/kfd")):
                    return True
    return False


def _requests() -> Iterator[dict[str, Any]]:
    """What is asked for, one by one; while nothing is, an empty one now and then."""
    held = b""
    while True:
        while b"\n" not in held:
            if not select.select([0], [], [], _PAUSE)[0]:
                yield {}
            elif piece := os.read(0, 1 << 16):
                held += piece
            else:
                return
        line, _, held = held.partition(b"\n")
        yield json.loads(line)


def _serve(requests: Iterator[dict[str, Any]], *, is_fit: bool) -> int:
    running: dict[int, str] = {}
    for asked in requests:
        _reap(running)
        if not asked:
            continue
        parent = os.getpid()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # OpenBLAS has threads, and hooks
            pid = os.fork()
        if not pid:
            _become(asked, parent)
            if not is_fit:
                command = [sys.executable, *flags(), "-m", subject.__name__, *asked["arguments"]]
                os.execve(sys.executable, command, os.environ)  # noqa: S606 - this Python
            return subject.main(asked["arguments"])
        running[pid] = asked["folder"]
        write_whole(os.path.join(asked["folder"], "pid"), str(pid))
    os._exit(0)


def _reap(running: dict[int, str]) -> None:
    for pid, folder in list(running.items()):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            write_whole(os.path.join(folder, "status"), str(os.waitstatus_to_exitcode(status)))
            del running[pid]


def _become(asked: Mapping[str, Any], parent: int) -> None:
    """As a process that was started for this run: its group, its output, its environment."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for source, number in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, number)
    os.close(nothing)
    os.close(output)
    os.environ.clear()
    os.environ.update(asked["environ"])
    told = json.loads(os.environ[VARIABLE])
    os.environ[VARIABLE] = json.dumps({**told, "parent": parent})
    afresh()


def afresh() -> None:
    """Draw anew what a process draws when it starts, and a fork inherits."""
    for name, attribute in (("tempfile", "tempdir"), ("tempfile", "_name_sequence")):
        if name in sys.modules:
            setattr(sys.modules[name], attribute, None)
    for each in list(_unseeded):
        each.seed()
    if (numpy := sys.modules.get("numpy.random")) is not None:  # Python's does so by itself
        numpy.seed()
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.seed()


_HERE = "127.0.0.1"
# Seconds after one has failed, and what is sent to the others then.
_ENDING = ((2.0, signal.SIGTERM), (7.0, signal.SIGKILL))


def fork_ranks(count: int) -> int | None:
    """Be the ranks: None in each of them, and the status to end with in what has started them.

    The store by which they meet is held here, as torchrun holds it, so that it outlives each rank.
    It has threads, and is made when all are forked.
    """
    gates, pids = [], []
    for rank in range(count):
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(write)
            os.environ.update(_variables(rank, count, os.read(read, 16).decode()))
            os.close(read)
            afresh()
            return None
        os.close(read)
        gates.append(write)
        pids.append(pid)
    from torch._C._distributed_c10d import TCPStore

    store = TCPStore(_HERE, 0, is_master=True, wait_for_workers=False)
    for gate in gates:
        os.write(gate, str(store.port).encode())
        os.close(gate)
    return _status(set(pids))


def _variables(rank: int, count: int, port: str) -> dict[str, str]:
    """What torchrun gives a rank, on one machine."""
    ranks = {"RANK", "LOCAL_RANK", "ROLE_RANK"}
    sizes = {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "ROLE_WORLD_SIZE"}
    return {
        **dict.fromkeys(ranks, str(rank)),
        **dict.fromkeys(sizes, str(count)),
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
        "ROLE_NAME": "default",
        "MASTER_ADDR": _HERE,
        "MASTER_PORT": port,
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_RUN_ID": str(os.getppid()),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }


def _status(running: set[int]) -> int:
    """When all have ended: 0, or that of the first that failed, after which the others end.

    They have time to end by themselves: what they meet without it is the same in each run.
    """
    failed, since, signals = 0, 0.0, dict(_ENDING)
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            running.discard(pid)
            if status and not failed:
                failed, since = max(1, os.waitstatus_to_exitcode(status)), time.monotonic()
            continue
        for seconds in [each for each in signals if failed and time.monotonic() - since > each]:
            _send(running, signals.pop(seconds))
        time.sleep(_PAUSE)
    return failed


def _send(pids: Iterable[int], which: int) -> None:
    for each in pids:
        os.kill(each, which)
