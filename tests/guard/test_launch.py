"""``python -m guard run``: an unmodified program, as plain Python would run it, but repeatable."""

from __future__ import annotations

import os
import py_compile
import signal
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from programs import clean_environment, python, write

from guard.commands.run import _wait

pytest.importorskip("torch")

if TYPE_CHECKING:
    from pathlib import Path

RUN = ("-m", "guard", "run")
WORDS = "print(*{str(number) for number in range(50)})"
FACTS = """
    import atexit, os, pickle, sys, threading

    def later():
        pickle.dumps(later)  # looked up in __main__
        print("at exit", sys.modules["__main__"].__dict__ is globals())

    atexit.register(later)
    print(sys.argv)
    print([os.path.realpath(each) for each in sys.path[:2]])
    print(__name__, __file__, __package__, __doc__, __spec__ and __spec__.name)
    print(type(__loader__).__name__, getattr(__loader__, "name", None), __builtins__)
    print(sorted(globals()))
    print(later.__code__.co_filename, later.__code__.co_flags)
    threading.Timer(0.2, lambda: print("thread", __name__, later.__module__)).start()
    """


def both(
    *program: str | Path, cwd: Path, options: tuple[str, ...] = (), **variables: str
) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str]]:
    """The program under plain Python and under guard."""
    plain = python(*options, *program, cwd=cwd, environ=variables)
    return plain, python(*options, *RUN, *program, cwd=cwd, environ=variables)


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


def test_sets_of_strings_keep_one_order(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", WORDS)
    plain = {python(script, cwd=tmp_path).stdout for _ in range(3)}
    guarded = {outcome(python(*RUN, script, cwd=tmp_path)) for _ in range(2)}
    assert len(plain) == 3
    assert len(guarded) == 1
    assert guarded.pop()[::2] == (0, "")


def test_a_hash_seed_of_the_user_is_kept(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", WORDS)
    plain, guarded = both(script, cwd=tmp_path, PYTHONHASHSEED="7")
    assert plain.stdout == guarded.stdout
    assert guarded.stderr == ""


@pytest.mark.parametrize("option", ["-E", "-I"])
def test_what_python_was_told_to_ignore_is_told(tmp_path: Path, option: str) -> None:
    script = write(tmp_path / "train.py", "import sys; print(sys.path)")
    plain, guarded = both(script, cwd=tmp_path, options=(option,))
    assert guarded.stdout == plain.stdout != ""
    assert "LateWarning: Python drew a random seed for hash(str)" in guarded.stderr
    assert "neither -E, -I nor -R" in guarded.stderr


def test_flags_of_the_interpreter_survive(tmp_path: Path) -> None:
    code = "import sys\nprint(sys.flags.optimize, sys._xoptions, sys.warnoptions, __debug__)\n"
    script = write(tmp_path / "train.py", code + "print(sys.path)")
    options = ["-O", "-X", "utf8", "-W", "error::SyntaxWarning"]
    options += ["-P"] if sys.version_info >= (3, 11) else []
    plain, guarded = both(script, cwd=tmp_path, options=tuple(options))
    assert outcome(plain) == outcome(guarded)
    assert guarded.stdout.startswith("1 {'utf8': True} ['error::SyntaxWarning'] False")


@pytest.mark.parametrize("path", ["train.py", "./sub/../train.py", "sub/link.py"])
def test_a_script_finds_what_plain_python_gives_it(tmp_path: Path, path: str) -> None:
    for name in ("train.py", "sub/train.py"):
        write(tmp_path / name, FACTS)
    (tmp_path / "sub/link.py").symlink_to(tmp_path / "train.py")
    arguments = ("--", "--seed", "3", "--", "-x", "")
    plain, guarded = both(path, *arguments, cwd=tmp_path)
    assert outcome(guarded) == outcome(plain)
    assert guarded.returncode == 0
    assert guarded.stdout.startswith(f"['{path}', '--', '--seed', '3', '--', '-x', '']")


@pytest.mark.parametrize("name", ["train", "package", "package.inner"])
def test_a_module_finds_what_plain_python_gives_it(tmp_path: Path, name: str) -> None:
    for path in ("train.py", "package/__main__.py", "package/inner.py"):
        write(tmp_path / path, FACTS)
    write(tmp_path / "package/__init__.py", "")
    plain, guarded = both("-m", name, "--seed", "3", "-m", cwd=tmp_path)
    assert outcome(guarded) == outcome(plain)
    assert guarded.returncode == 0


def test_folders_archives_and_compiled_files_run(tmp_path: Path) -> None:
    source = write(tmp_path / "folder/__main__.py", FACTS)
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.write(source, "__main__.py")
    py_compile.compile(str(source), str(tmp_path / "train.pyc"))
    for program in ("folder", "app.zip", "train.pyc"):
        plain, guarded = both(program, "1", cwd=tmp_path)
        assert outcome(guarded) == outcome(plain)
        assert guarded.returncode == 0


ENDS = {
    "sys.exit(3)": 3,
    "sys.exit('no')": 1,
    "os._exit(5)": 5,
    "os.kill(os.getpid(), 15)": -15,
    "f()": 1,
    "sys.excepthook = hook; f()": 1,
    "raise KeyboardInterrupt": -2,
    "import missing_module": 1,
}
# Each end in a fork of its own, as importing torch for each would take longer.
ENDING = """
    import os, sys, traceback

    def f():
        try:
            g()
        except ZeroDivisionError as error:
            raise ValueError("f") from error

    def g():
        1 / 0

    def hook(kind, value, found):
        names = [frame.name for frame in traceback.extract_tb(found)]
        print(kind.__name__, names, value.__traceback__ is found)

    for end in range(COUNT):
        child = os.fork()
        if not child:
            for descriptor in (1, 2):
                os.dup2(os.open(f"{end}-{descriptor}", os.O_CREAT | os.O_WRONLY), descriptor)
            break
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    else:
        end = None
    """.replace("COUNT", str(len(ENDS)))
PROGRAMS = pytest.mark.parametrize("program", [("train.py",), ("-m", "train")], ids=" ".join)


def ended(*program: str, cwd: Path) -> dict[str, tuple[int, str, str]]:
    """Each end with its status and what it wrote to standard output and error."""
    done = python(*program, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    statuses = map(int, done.stdout.split())
    found = {}
    for number, (end, status) in enumerate(zip(ENDS, statuses, strict=True)):
        files = [cwd / f"{number}-{descriptor}" for descriptor in (1, 2)]
        out, err = (file.read_text() for file in files)
        found[end] = status, out, err
        for file in files:
            file.unlink()
    return found


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@PROGRAMS
def test_the_end_is_that_of_plain_python(tmp_path: Path, program: tuple[str, ...]) -> None:
    script = write(tmp_path / "train.py", ENDING)
    with script.open("a") as file:
        file.writelines(f"if end == {number}: {end}\n" for number, end in enumerate(ENDS))
    guarded = ended(*RUN, *program, cwd=tmp_path)
    assert guarded == ended(*program, cwd=tmp_path)
    assert {end: status for end, (status, _, _) in guarded.items()} == ENDS
    out = guarded["sys.excepthook = hook; f()"][1]
    assert out.endswith("'<module>', 'f'] True\n")


@PROGRAMS
def test_what_does_not_parse_ends_as_in_plain_python(
    tmp_path: Path, program: tuple[str, ...]
) -> None:
    write(tmp_path / "train.py", "x = = 1\n")
    plain, guarded = both(*program, cwd=tmp_path)
    assert outcome(guarded) == outcome(plain)
    assert guarded.returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_an_interrupt_ends_the_program_as_it_would_end_plain_python(tmp_path: Path) -> None:
    code = "import time\ntry:\n    print('ready', flush=True)\n    time.sleep(60)\n"
    code += "finally:\n    print('cleaned')"
    script = write(tmp_path / "train.py", code)
    with subprocess.Popen(
        [sys.executable, *RUN, script],
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (-signal.SIGINT, "cleaned\n")
    lines = err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].startswith(f'  File "{script}", line ')
    assert lines[-1] == "KeyboardInterrupt"
    assert "guard" not in err.replace(str(tmp_path), "")


def test_standard_input_reaches_the_program(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", "print(input())")
    done = subprocess.run(
        [sys.executable, *RUN, script],
        env=clean_environment(),
        input=b"read me\n",
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == ([b"read", b"me"], b"")


def test_where_exec_is_none_the_status_of_the_second_python_is_passed_on() -> None:
    code = "import os, sys; sys.exit(int(os.environ['STATUS']))"
    previous = signal.getsignal(signal.SIGINT)
    try:
        status = _wait([sys.executable, "-c", code], clean_environment(STATUS="7"))
    finally:
        signal.signal(signal.SIGINT, previous)
    assert status == 7


SETTINGS = """
    import os
    import guard, torch
    from guard.setup.environment import verdicts
    settings = guard.active()
    print(*(f"{name}={getattr(settings, name)!r}" for name in settings.__dataclass_fields__))
    print(verdicts()[0].state, [name for name in os.environ if "GUARD" in name])
    """
OPTIONS = [
    *("--seed=5", "--no-fill", "--no-strict", "--rank-offset", "--no-reduced-precision"),
    *("--no-cudnn", "--no-dropout", "--rng", "cpu", "--allow", "put_", "--allow", "median"),
]
GIVEN = {
    "seed": 5,
    "fill": False,
    "strict": False,
    "rank_offset": True,
    "reduced_precision": False,
    "cudnn": False,
    "dropout": False,
    "rng": "cpu",
    "allow": ("median", "put_"),
}


def test_each_setting_has_an_option_and_what_guard_set_before_the_start_is_guards(
    tmp_path: Path,
) -> None:
    script = write(tmp_path / "train.py", SETTINGS)
    done = python(*RUN, *OPTIONS, script, "--seed", "9", cwd=tmp_path)
    assert done.stderr.startswith(f"guard run: --seed stands behind {script}, so that the program")
    assert len(done.stderr.splitlines()) == 1
    for name, value in GIVEN.items():
        assert f"{name}={value!r}" in done.stdout
    assert "seed=9" not in done.stdout
    assert done.stdout.endswith("\nset by guard []\n")


def test_options_go_before_the_environment_and_that_before_the_project(tmp_path: Path) -> None:
    table = "fill = false\nseed = 1\nstrict = false\ncudnn = false\n"
    write(tmp_path / "pyproject.toml", "[tool.guard]\n" + table)
    script = write(tmp_path / "train.py", SETTINGS)
    variables = {"GUARD_SEED": "2", "GUARD_STRICT": "1"}
    done = python(*RUN, "--seed", "3", "--fill", script, cwd=tmp_path, environ=variables)
    assert done.stdout.startswith("seed=3 fill=True strict=True")
    assert " cudnn=False " in done.stdout


BAD = [
    (["nothing.py"], {}, "guard run: cannot open 'nothing.py': No such file or directory"),
    (
        ["torchrun", "train.py"],
        {},
        "guard run: torchrun would start its ranks without guard: write",
    ),
    (["-m", "torch.distributed.run", "x.py"], {}, "guard run: torchrun would start its ranks with"),
    (["--seed", "x", "train.py"], {}, "guard run: a seed is an integer from 0 to"),
    (
        ["--seed", "-1", "train.py"],
        {},
        "guard run: a seed is an integer from 0 to 4294967295, not -1",
    ),
    (["--allow", "pool", "train.py"], {}, "guard run: "),
    (["train.py"], {"GUARD_FILL": "maybe"}, "guard run: GUARD_FILL is 1 or 0, not 'maybe'"),
    (["train.py"], {"PYTHONHASHSEED": "random"}, "guard run: PYTHONHASHSEED is 'random', with"),
    (["train.py"], {"CUBLAS_WORKSPACE_CONFIG": "1"}, "guard run: CUBLAS_WORKSPACE_CONFIG is '1'"),
]


@pytest.mark.parametrize(("arguments", "variables", "message"), BAD, ids=str)
def test_bad_input_is_one_clear_line_and_exit_2(
    tmp_path: Path, arguments: list[str], variables: dict[str, str], message: str
) -> None:
    write(tmp_path / "train.py", "print('ran')")
    done = python(*RUN, *arguments, cwd=tmp_path, environ=variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "table", ["[tool.guard\n", "[tool.guard]\nsed = 1\n", "[tool]\nguard = 1\n"]
)
def test_a_broken_project_file_is_named(tmp_path: Path, table: str) -> None:
    project = write(tmp_path / "pyproject.toml", table)
    done = python(*RUN, write(tmp_path / "train.py", "print('ran')"), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("guard run: ")
    assert str(project) in done.stderr
    assert len(done.stderr.splitlines()) == 1


USAGE = [
    ([], "the following arguments are required: command"),
    (["walk"], "invalid choice: 'walk' (choose from"),
    (["run"], "the following arguments are required: script.py"),
    (["run", "--seed", "1"], "the following arguments are required: script.py"),
    (["run", "--sed", "1", "train.py"], "unrecognized arguments: --sed"),
    (["run", "--rng", "gpu", "train.py"], "invalid choice: 'gpu'"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=str)
def test_wrong_usage_exits_2_with_a_usage_line(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = python("-m", "guard", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: python -m guard")
    assert message in done.stderr


def test_help_names_commands_and_options(tmp_path: Path) -> None:
    general = python("-m", "guard", "--help", cwd=tmp_path)
    assert (general.returncode, general.stderr) == (0, "")
    assert "run [options] script.py" in general.stdout
    assert "doctor" in general.stdout
    run = python(*RUN, "--help", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert all(f"--{name}" in run.stdout for name in ("seed", "no-fill", "allow", "rng"))


LOADER = """
    import os
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            import guard
            state = f"{guard.active() is not None} {torch.are_deterministic_algorithms_enabled()}"
            return index, hash("x"), torch.rand(1).item(), os.getpid(), state

    if __name__ == "__main__":
        loader = DataLoader(Numbers(), num_workers=1, multiprocessing_context="METHOD")
        items = [[each[0] if isinstance(each, tuple) else each.item() for each in item]
                 for item in loader]
        print(len({item[3] for item in items}), {item[4] for item in items})
        print([item[:3] for item in items])
    """


def test_workers_find_the_main_module_and_repeat(tmp_path: Path) -> None:
    methods = ["spawn"] if os.name == "nt" else ["fork", "spawn", "forkserver"]
    told = set()
    for method in methods:
        script = write(tmp_path / "train.py", LOADER.replace("METHOD", method))
        done = python(*RUN, "--seed", "3", script, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == "1 {'True True'}"
        told.add(done.stdout)
    assert len(told) == 1  # of three processes, and however workers start


RANKS = """
    import os, sys
    import torch
    import torch.distributed as dist
    import guard

    dist.init_process_group("gloo")
    total = torch.rand(1)
    dist.all_reduce(total)
    facts = [hash("x"), total.item(), guard.active().seed, os.environ["NCCL_ALGO"],
             torch.are_deterministic_algorithms_enabled(), sys.argv[1:]]
    everyone = [None, None]
    dist.all_gather_object(everyone, facts)
    if dist.get_rank() == 0:
        print(everyone, flush=True)
    dist.barrier()
    dist.destroy_process_group()
    if os.environ.get("FAILS") == os.environ["RANK"]:
        sys.exit(9)
    """


def torchrun(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    return python(*launcher, *arguments, cwd=cwd, environ={"OMP_NUM_THREADS": "1", **variables})


def test_torchrun_starts_ranks_under_guard_and_sees_one_fail(tmp_path: Path) -> None:
    write(tmp_path / "train.py", RANKS)
    run = ("-m", "guard", "run", "--seed", "4")
    first = torchrun(*run, "train.py", "--lr", "1", cwd=tmp_path)
    second = torchrun(*run, "-m", "train", "--lr", "1", cwd=tmp_path, FAILS="1")
    assert (first.returncode, second.returncode) == (0, 1), first.stderr + second.stderr
    assert first.stdout == second.stdout
    assert first.stdout.count("4, 'Ring', True, ['--lr', '1']") == 2
    assert "Traceback" not in first.stderr
    assert "exitcode  : 9 (pid:" in second.stderr.replace("exitcode : ", "exitcode  : ")
