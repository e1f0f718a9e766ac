"""``python -m guard doctor``: for a person, for a program, on a GPU, and without torch."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from programs import clean_environment, python, write

import guard
from detlint.addresses import installation
from guard.commands.doctor import main
from guard.inventory.reports import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forks import Forks

pytest.importorskip("torch")

DOCTOR = ("-m", "guard", "doctor", "--all")
SECTIONS = [
    "guard",
    "interpreter",
    "machine",
    "torch",
    "gpu",
    "environment",
    "flags",
    "generators",
    "libraries",
]
DIGEST = (
    r"python=3\.\d+\.\d+\S* torch=\S+ cuda=\S+ gpu=\S+ cpu=\S+ threads=\d+ guard=(on|off) "
    r"seed=(none|\d+) env=[0-9a-f]{16}"
)
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["format", "digest", "fingerprint", "counts", "sections"],
    "properties": {
        "format": {"const": 1},
        "digest": {"type": "string", "pattern": f"^{DIGEST}$"},
        "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
        "counts": {
            "type": "object",
            "additionalProperties": False,
            "required": list(LEVELS),
            "properties": {level: {"type": "integer", "minimum": 0} for level in LEVELS},
        },
        "sections": {
            "type": "object",
            "additionalProperties": False,
            "required": SECTIONS,
            "properties": {
                name: {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["value", "verdict", "meaning", "decides"],
                        "properties": {
                            "value": {"type": ["string", "integer", "number", "boolean", "null"]},
                            "verdict": {"enum": list(LEVELS)},
                            "meaning": {"type": "string", "minLength": 1},
                            "decides": {"type": "boolean"},
                        },
                    },
                }
                for name in SECTIONS
            },
        },
    },
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What the doctor says of a process in which nothing is set."""
    return python(*DOCTOR, cwd=tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def as_json(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401 - JSON
    """The same for a program."""
    done = python(*DOCTOR, "--json", cwd=tmp_path_factory.mktemp("json"))
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def lines_of(text: str, section: str) -> list[str]:
    """The lines below a section's name."""
    lines = text.splitlines()
    following = lines[lines.index(section) + 1 :]
    ends = [index for index, line in enumerate(following) if line in SECTIONS]
    return following[: ends[0]] if ends else following[:-3]


def test_a_bare_process_differs_and_is_told_what_to_do(
    bare: subprocess.CompletedProcess[str],
) -> None:
    assert (bare.returncode, bare.stderr) == (0, "")
    lines = bare.stdout.splitlines()
    assert [line for line in lines if line in SECTIONS] == SECTIONS
    for expected in (
        (
            "may differ      active: off (guard is off in this process: call guard.enable(seed=0) "
            "at the entrypoint, or start the program with `python -m guard run`)"
        ),
        (
            "differs         hash_seed: random (a set of strings has another order in each run: "
            "see PYTHONHASHSEED below)"
        ),
        "not applicable  NCCL_ALGO: none (matters in runs of several ranks only)",
        (
            "may differ      torch.use_deterministic_algorithms: off (guard.enable sets it to "
            "True: operators take their deterministic kernel, and those that have none refuse; "
            "not warn_only, which leaves the backward of fused attention free)"
        ),
        (
            "unknown         random: none (Python does not tell whether it was seeded; "
            "guard.enable seeds it)"
        ),
    ):
        assert expected in lines
    assert re.fullmatch(
        r"\d+ ok, 3 differs, \d+ may differ, \d+ unknown, \d+ not applicable", lines[-2]
    )
    assert re.fullmatch(DIGEST, lines[-1])


def test_what_matters_is_shown_first_and_one_next_step(tmp_path: Path) -> None:
    done = python("-m", "guard", "doctor", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert not [line for line in lines if line.startswith(("ok", "not applicable"))]
    assert len([line for line in lines if "hash(str)" in line]) == 1
    assert (
        "may differ      torch.utils.deterministic.fill_uninitialized_memory: on (has no effect "
        "while torch.use_deterministic_algorithms is off; with it, torch.empty and its kin give "
        "NaN or the largest integer instead of what lay there)"
    ) in lines
    folded = "may differ      guard.enable sets torch.use_deterministic_algorithms"
    assert [line for line in lines if line.startswith(folded)]
    (step,) = (line for line in lines if line.startswith("next: "))
    assert step == (
        "next: guard is off in this process: call guard.enable(seed=0) at the entrypoint, or start "
        "the program with `python -m guard run`"
    )
    assert lines[-2].endswith(" not applicable (--all shows each)")
    differing = [line for line in lines if line.startswith("differs ")]
    assert f" {len(differing)} differs, " in lines[-2]
    assert len(lines) < 25


def test_under_guard_the_next_step_is_to_compare_runs(tmp_path: Path) -> None:
    done = python("-m", "guard", "run", "-m", "guard", "doctor", cwd=tmp_path)
    assert "next: compare two runs: `python -m guard verify train.py`" in done.stdout.splitlines()


def test_each_entry_is_a_line_with_a_verdict_where_there_is_no_terminal(
    bare: subprocess.CompletedProcess[str],
) -> None:
    assert "\x1b" not in bare.stdout
    entry = re.compile(rf"({'|'.join(LEVELS)}) +\S.*: .* \(.+\)")
    for section in SECTIONS[:-1]:
        lines = lines_of(bare.stdout, section)
        assert lines
        assert [line for line in lines if not entry.fullmatch(line)] == []


def test_json_has_the_documented_keys(as_json: Any) -> None:  # noqa: ANN401
    jsonschema.validate(as_json, SCHEMA)
    assert list(as_json["sections"]) == SECTIONS
    verdicts = [
        entry["verdict"] for section in as_json["sections"].values() for entry in section.values()
    ]
    assert as_json["counts"] == {level: verdicts.count(level) for level in LEVELS}
    assert as_json["digest"].endswith(as_json["fingerprint"])


def test_the_digest_is_the_same_in_another_process_and_strict_fails_where_something_differs(
    bare: subprocess.CompletedProcess[str],
    as_json: Any,  # noqa: ANN401
    tmp_path: Path,
) -> None:
    done = python(*DOCTOR, "--strict", "--digest", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert re.fullmatch(DIGEST + "\n", done.stdout)
    assert done.stdout == as_json["digest"] + "\n" == bare.stdout.splitlines()[-1] + "\n"


def test_under_guard_nothing_differs(tmp_path: Path) -> None:
    done = python("-m", "guard", "run", "--seed", "7", *DOCTOR, "--strict", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "ok              active: on (guard is on, with the settings below)" in lines
    assert "ok              seed: 7 (every generator that guard knows began with it)" in lines
    assert lines_of(done.stdout, "generators")[:3] == [
        "ok              random: 7 (seeded by guard)",
        "ok              numpy.random: 7 (seeded by guard)",
        "ok              torch cpu: 7 (seeded by guard)",
    ]
    assert "guard=on seed=7 env=" in lines[-1]
    # A library that is there and not in use may still come to be used.
    differing = [line for line in lines if line.startswith(("may differ", "differs"))]
    assert all("(installed, not imported" in line for line in differing)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jsn"], "unrecognized arguments: --jsn"),
        (["train.py"], "unrecognized arguments: train.py"),
        (["--json", "--digest"], "argument --digest: not allowed with argument --json"),
    ],
)
def test_wrong_usage_exits_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "usage: python -m guard doctor [-h] [--json | --digest] [--all] [--strict]"
    assert told[-1] == f"python -m guard doctor: error: {message}"


def test_help_says_how_to_look_under_guard_and_what_the_exit_status_means(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    told = capsys.readouterr().out
    assert "python -m guard run -m guard doctor" in told
    assert "exit status: 0; 1 with --strict if something differs; 2 for wrong usage" in told


# Terminals


def on_a_terminal(folder: Path, columns: int, **variables: str) -> str:
    """What the doctor writes to a terminal of that width."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environ = clean_environment(COLUMNS=str(columns), TERM="xterm-256color", **variables)
    for name in {"NO_COLOR", "FORCE_COLOR"} - variables.keys():
        environ.pop(name, None)
    with subprocess.Popen(
        [sys.executable, *DOCTOR], cwd=folder, env=environ, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        text = b"".join(pieces(ours)).decode()
        assert process.wait() == 0
    os.close(ours)
    return text


def pieces(descriptor: int) -> Iterator[bytes]:
    """What comes out of a terminal until it closes."""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # Linux says so of one that is closed
            return
        if not piece:
            return
        yield piece


def test_a_terminal_gets_colours_and_wrapped_lines(tmp_path: Path) -> None:
    text = on_a_terminal(tmp_path, 80)
    assert "\x1b[1;31mdiffers" in text
    assert "\x1b[32mok" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert max(len(line) for line in plain[:-1]) <= 80
    assert re.fullmatch(DIGEST, plain[-1])  # whole, to be copied
    assert any(re.match(r" {16}\S", line) for line in plain)


def test_no_color_is_honoured_on_a_terminal(tmp_path: Path) -> None:
    text = on_a_terminal(tmp_path, 80, NO_COLOR="1")
    assert re.search(r"\x1b\[([0-9;]*;)?[34][0-9]", text) is None


# Odd surroundings


def test_what_a_variable_holds_cannot_steer_the_terminal_or_break_the_encoding(
    tmp_path: Path,
) -> None:
    value = "\x1b[2J\nAVX2é"
    done = python(*DOCTOR, cwd=tmp_path, environ={"MKL_CBWR": value, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "MKL_CBWR: \\x1b[2J\\nAVX2\\xe9 (" in done.stdout


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} {' '.join(DOCTOR)} | head -n 1"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("guard\n", "")


def test_settings_that_guard_would_refuse_are_told(tmp_path: Path, forks: Forks) -> None:
    write(tmp_path / "pyproject.toml", "[tool.guard]\nseeed = 1\n")
    done = forks.python(*DOCTOR, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "differs         settings: none (guard.enable refuses: [tool.guard] in "
        f"{tmp_path / 'pyproject.toml'} knows no setting 'seeed'; it knows seed, "
    ) in done.stdout


def test_an_invalid_variable_differs(tmp_path: Path, forks: Forks) -> None:
    variables = {"TORCHINDUCTOR_DETERMINISTIC": "yes"}
    done = forks.python(*DOCTOR, cwd=tmp_path, environ=variables)
    assert (
        "differs         TORCHINDUCTOR_DETERMINISTIC: yes (TORCHINDUCTOR_DETERMINISTIC is 'yes', "
        "with which runs may differ. Legal: 1. Left out, guard sets it to 1)\n"
    ) in done.stdout


def without_torch(folder: Path) -> dict[str, str]:
    """Variables of a Python that has rich and guard, and nothing else."""
    import markdown_it
    import mdurl
    import pygments
    import rich

    import detlint

    for package in (detlint, guard, rich, pygments, markdown_it, mdurl):
        (folder / package.__name__).symlink_to(Path(package.__file__ or "").parent)
    if sys.version_info < (3, 11):
        import tomli

        (folder / "tomli").symlink_to(Path(tomli.__file__ or "").parent)
    return {"PYTHONPATH": str(folder)}


def test_without_torch_it_says_how_to_install_it(tmp_path: Path) -> None:
    environ = without_torch(tmp_path)
    done = python("-S", *DOCTOR, "--strict", cwd=tmp_path, environ=environ)
    assert (done.returncode, done.stderr) == (1, "")  # the order of sets differs even so
    lines = done.stdout.splitlines()
    how = installation("guard").partition(" of ")[0]  # what lies in a folder of its own has no URL
    assert lines_of(done.stdout, "torch")[0] == (
        f"unknown         torch: none (all that guard does needs torch: {how})"
    )
    assert lines_of(done.stdout, "flags") == ["none that guard knows of"]
    assert " torch=none cuda=none " in lines[-1]


def test_a_torch_that_cannot_be_imported_is_told_apart(tmp_path: Path) -> None:
    environ = without_torch(tmp_path)
    message = "libcudart.so.12: cannot open shared object file: No such file or directory"
    write(tmp_path / "torch" / "__init__.py", f"raise OSError({message!r})\n")
    done = python("-S", *DOCTOR, cwd=tmp_path, environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"torch is installed, and cannot be imported: {message})" in done.stdout


# GPUs

NVML = """
#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned length) {
    strncpy(text, "550.54.15", length);
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = 3;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = (void *)(0x7f0000000000 + index); /* 64 bits wide, as real ones are */
    return 0;
}
int nvmlDeviceGetName(void *device, char *text, unsigned length) {
    int is_last = (size_t)device == 0x7f0000000002;
    strncpy(text, is_last ? "NVIDIA L4" : "NVIDIA H100 80GB HBM3", length);
    return 0;
}
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *then) {
    *now = *then = (size_t)device == 0x7f0000000001;
    return 0;
}
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a library that answers as NVIDIA's driver with three GPUs does."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no C compiler to build a driver's answers with")
    folder = tmp_path_factory.mktemp("driver")
    source = write(folder / "nvml.c", NVML)
    library = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return str(folder)


@pytest.mark.parametrize(
    ("visible", "count"),
    [
        (None, 3),
        ("", 0),
        ("-1", 0),
        ("1", 1),
        ("2,0", 2),
        ("0,7,1", 1),
        ("GPU-8932f937,GPU-1", 2),
        ("MIG-41b35b9d", 1),
    ],
)
def test_the_driver_tells_its_gpus(
    driver: str, visible: str | None, count: int, tmp_path: Path
) -> None:
    environ = {"LD_LIBRARY_PATH": driver}
    if visible is not None:
        environ["CUDA_VISIBLE_DEVICES"] = visible
    code = "from guard.inventory.situation import driver; found = driver(); "
    code += "print(*found, found.visible, sep='|')"
    done = python("-c", code, cwd=tmp_path, environ=environ)
    gpus = "('NVIDIA H100 80GB HBM3', 'NVIDIA H100 80GB HBM3 (MIG)', 'NVIDIA L4')"
    assert (done.stdout, done.stderr) == (f"550.54.15|{gpus}|{count}\n", "")


def test_gpus_of_several_kinds_may_differ(driver: str, tmp_path: Path) -> None:
    done = python(*DOCTOR, cwd=tmp_path, environ={"LD_LIBRARY_PATH": driver})
    assert (done.returncode, done.stderr) == (0, "")
    assert lines_of(done.stdout, "gpu")[:2] == [
        "ok              driver: 550.54.15 (compare runs on the same release)",
        (
            "may differ      devices: 3 x NVIDIA H100 80GB HBM3 or NVIDIA H100 80GB HBM3 (MIG) or "
            "NVIDIA L4 (GPUs of different kinds round differently, and which one a run gets is "
            "not seen from here: choose with CUDA_VISIBLE_DEVICES)"
        ),
    ]
    assert "gpu=3-x-NVIDIA-H100" in done.stdout.splitlines()[-1]


@pytest.mark.cuda
def test_a_gpu_is_named_and_cuda_is_not_started(tmp_path: Path) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    script = write(
        tmp_path / "look.py",
        """
        import json
        import guard, torch

        before = guard.report()
        assert not torch.cuda.is_initialized()
        names = [torch.cuda.get_device_name(each) for each in range(torch.cuda.device_count())]
        after = guard.report()
        assert torch.cuda.is_initialized()
        values = [before.find("gpu", name).value for name in ("devices", "driver", "cuda", "cudnn")]
        started = [each.find("gpu", "started").value for each in (before, after)]
        seeds = after.find("generators", "torch cuda:0").verdict
        same = before.fingerprint == after.fingerprint
        print(json.dumps([names, values, started, seeds, same]))
        """,
    )
    done = python(script, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    names, (devices, release, cuda, cudnn), started, seeds, same = json.loads(done.stdout)
    assert devices.startswith(f"{len(names)} x ")
    assert names[0].partition(" MIG")[0] in devices
    assert re.fullmatch(r"[\d.]+", release)
    assert (cuda, cudnn) == (torch.version.cuda, torch.backends.cudnn.version())
    assert (started, seeds, same) == ([False, True], "differs", True)
