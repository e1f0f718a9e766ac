"""Programs in forks of a process that has imported torch, where starting is not the point.

Importing torch takes a second, its compiler, which every optimizer imports, another, and
Lightning or TensorFlow five. A fork has them. It does not have what is decided when Python
starts: flags, the hash seed, how many threads torch takes. Where those count,
``programs.python`` starts a process, or each run has a process to fork of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from programs import clean_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TORCH = ("torch", "torch._dynamo", "torch._inductor.config")
PARENT = """
import atexit, gc, importlib, json, os, random, runpy, signal, sys, threading, warnings
import numpy

gc.disable()  # a fifth of the time that importing takes
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        importlib.import_module(name)
gc.freeze()  # or each fork's collections would copy all that was imported: a second
gc.enable()
for line in iter(sys.stdin.readline, ""):
    random.random(), numpy.random.rand()  # no two forks begin alike
    if "torch" in sys.modules:
        sys.modules["torch"].rand(1)
    given = json.loads(line)
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
for descriptor, name in enumerate((os.devnull, *given["files"])):
    os.dup2(os.open(name, os.O_RDWR), descriptor)
signal.alarm(given["seconds"])
os.environ.update(given["environ"])
os.chdir(given["cwd"])
program, *sys.argv[1:] = given["arguments"]
status = 0
try:
    if program == "-m":
        sys.path[0] = given["cwd"]
        runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(program)
        sys.argv[0] = program
        runpy.run_path(program, run_name="__main__")
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else int(end.code is not None)
    if isinstance(end.code, str):
        print(end.code, file=sys.stderr)
except BaseException:
    status = 1
    sys.excepthook(*sys.exc_info())
# As Python ends, but that it frees nothing: that, too, would copy what was imported.
threading._shutdown()
atexit._run_exitfuncs()
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)
"""


class Forks:
    """The process that forks, until it is closed. Without a hash seed it draws one."""

    def __init__(
        self, folder: Path, *modules: str, hash_seed: str | None = "0", flags: Sequence[str] = ()
    ) -> None:
        self.files = [folder / name for name in ("out", "err")]
        self.parent = subprocess.Popen(
            [sys.executable, *flags, "-c", PARENT, *(modules or TORCH)],
            env=clean_environment(**({"PYTHONHASHSEED": hash_seed} if hash_seed else {})),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def python(
        self, *arguments: str | Path, cwd: Path, environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a script, or a module after ``-m``, in a folder, with variables of its own."""
        for file in self.files:
            file.write_text("")
        given = {
            "arguments": [str(each) for each in arguments],
            "cwd": str(cwd),
            "environ": dict(environ or {}),
            "files": [str(file) for file in self.files],
            "seconds": 240,
        }
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        self.parent.stdin.write(json.dumps(given) + "\n")
        self.parent.stdin.flush()
        status = int(self.parent.stdout.readline())
        out, err = (file.read_text() for file in self.files)
        return subprocess.CompletedProcess(given["arguments"], status, out, err)

    def close(self) -> None:
        self.parent.communicate()


def result_of(
    forks: Forks,
    folder: Path,
    text: str,
    environ: Mapping[str, str] | None = None,
    **options: Any,
) -> Any:  # noqa: ANN401 - whatever it gives
    """What a program that is given some options leaves in `result`."""
    program = folder / "program.py"
    program.write_text(text + "\nprint('result:' + json.dumps(result))\n")
    done = forks.python(program, json.dumps(options), cwd=folder, environ=environ)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("result:")]
    return json.loads(lines[-1].rpartition("result:")[2])  # two ranks may share a line
