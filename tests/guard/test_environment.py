"""The environment: what is set, respected, refused, put back, and said when it is too late."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from programs import clean_environment, python, write

import guard
from guard.errors import LateWarning, SettingsError
from guard.settings import Settings
from guard.setup import environment
from guard.setup.environment import VARIABLES, applied, check, verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ROWS = {row.name: row for row in VARIABLES}
RANKS = {"WORLD_SIZE": "2"}
JUDGED = [
    ("PYTHONHASHSEED", "0", True),
    ("PYTHONHASHSEED", "4294967295", True),
    ("PYTHONHASHSEED", "random", False),
    ("CUBLAS_WORKSPACE_CONFIG", ":16:8", True),
    ("CUBLAS_WORKSPACE_CONFIG", ":4096:2", False),
    ("TORCHINDUCTOR_DETERMINISTIC", "1", True),
    ("TORCHINDUCTOR_DETERMINISTIC", "true", False),
    ("NCCL_ALGO", "ring", True),
    ("NCCL_ALGO", "Tree,CollnetDirect", True),
    ("NCCL_ALGO", "^NVLS", True),
    ("NCCL_ALGO", "^NVLS,NVLSTree", True),
    ("NCCL_ALGO", "ring,collnetdirect;allreduce:tree;broadcast:^tree", True),
    ("NCCL_ALGO", "NVLS", False),
    ("NCCL_ALGO", "Ring,NVLSTree", False),
    ("NCCL_ALGO", "ring;allreduce:nvls", False),
    ("NCCL_ALGO", "Rings", False),
    ("NCCL_NVLS_ENABLE", "0", True),
    ("NCCL_NVLS_ENABLE", "2", False),
    ("HCCL_DETERMINISTIC", "TRUE", True),
    ("HCCL_DETERMINISTIC", "strict", True),
    ("HCCL_DETERMINISTIC", "1", False),
    ("FLASH_ATTENTION_DETERMINISTIC", "1", True),
    ("FLASH_ATTENTION_DETERMINISTIC", "True", False),
    ("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0", True),
    ("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "1", False),
    ("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "no", False),
    ("MAMBA_DETERMINISTIC", "1", True),
    ("MAMBA_DETERMINISTIC", "true", False),
    ("CAUSAL_CONV1D_DETERMINISTIC", "1", True),
    ("CAUSAL_CONV1D_DETERMINISTIC", "true", True),
    ("CAUSAL_CONV1D_DETERMINISTIC", "0", False),
    ("XLA_FLAGS", "--xla_gpu_deterministic_ops=true", True),
    ("XLA_FLAGS", "--xla_dump_to=/tmp/x --xla_gpu_deterministic_ops", True),
    ("XLA_FLAGS", "--xla_gpu_deterministic_ops=true --xla_gpu_deterministic_ops=false", False),
    ("XLA_FLAGS", "--xla_gpu_deterministic_ops_level=2", None),
    ("XLA_FLAGS", "flags.txt", False),
]


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """None of the variables is set, and no file of the project is near."""
    for name in [*ROWS, "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def ours() -> dict[str, str]:
    """The variables of the table that are set."""
    return {name: os.environ[name] for name in ROWS if name in os.environ}


def states(environ: Mapping[str, str]) -> dict[str, str]:
    return {verdict.name: verdict.state for verdict in verdicts(environ)}


@pytest.mark.parametrize("row", VARIABLES, ids=lambda row: row.name)
def test_each_row_says_all_and_its_own_value_is_legal(row: environment.Variable) -> None:
    assert all((row.legal, row.why, row.since, row.cost, row.when, row.late))
    assert row.source.startswith("https://")
    assert row.judge(row.wanted) is True


def test_no_variable_has_two_rows() -> None:
    assert len(ROWS) == len(VARIABLES)


@pytest.mark.parametrize(("name", "value", "legal"), JUDGED, ids=repr)
def test_values_are_judged(name: str, value: str, legal: bool | None) -> None:
    assert ROWS[name].judge(value) is legal


def test_unset_is_set_and_all_is_put_back() -> None:
    before = dict(os.environ)
    with applied(Settings()):
        assert ours()["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
        assert ours()["TORCHINDUCTOR_DETERMINISTIC"] == "1"
        said = subprocess.run(
            [sys.executable, "-c", "import os; print(os.environ['CUBLAS_WORKSPACE_CONFIG'])"],
            capture_output=True,
            check=True,
        )
        assert said.stdout.strip() == b":4096:8"
    assert dict(os.environ) == before


def test_all_is_put_back_when_the_block_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    before = dict(os.environ)
    with pytest.raises(KeyError, match=":4096:8"), applied(Settings()):
        raise KeyError(ours()["CUBLAS_WORKSPACE_CONFIG"])
    assert dict(os.environ) == before


def test_a_legal_value_of_the_user_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    monkeypatch.setenv("NCCL_ALGO", "Tree")
    monkeypatch.setenv("WORLD_SIZE", "8")
    with applied(Settings()):
        assert ours()["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
        assert ours()["NCCL_ALGO"] == "Tree"
        assert ours()["NCCL_NVLS_ENABLE"] == "0"


def test_values_that_are_not_legal_are_named_with_those_that_are_and_nothing_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2")
    monkeypatch.setenv("TORCHINDUCTOR_DETERMINISTIC", "0")
    before = dict(os.environ)
    with pytest.raises(SettingsError) as raised, applied(Settings()):
        pass
    assert str(raised.value) == (
        "CUBLAS_WORKSPACE_CONFIG is ':4096:2', with which runs may differ. "
        "Legal: :4096:8 or :16:8. Left out, guard sets it to :4096:8; "
        "TORCHINDUCTOR_DETERMINISTIC is '0', with which runs may differ. "
        "Legal: 1. Left out, guard sets it to 1"
    )
    assert dict(os.environ) == before


@pytest.mark.parametrize("size", ["", "1", "one"])
def test_one_rank_needs_nothing_of_nccl(monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.setenv("WORLD_SIZE", size)
    monkeypatch.setenv("NCCL_ALGO", "NVLS")  # nobody will read it
    with applied(Settings()):
        assert ours()["NCCL_ALGO"] == "NVLS"
        assert "NCCL_NVLS_ENABLE" not in ours()
    assert states(os.environ)["NCCL_ALGO"] == "not applicable"


@pytest.mark.parametrize("name", ["WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"])
def test_several_ranks_are_summed_in_rings(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "2")
    with applied(Settings()):
        assert (ours()["NCCL_ALGO"], ours()["NCCL_NVLS_ENABLE"]) == ("Ring", "0")


def test_variables_of_libraries_that_are_not_installed_are_left_alone(tmp_path: Path) -> None:
    code = "import os; from guard.setup.environment import *; from guard.settings import Settings\n"
    code += "with applied(Settings()): print(*(v.name for v in VARIABLES if v.name in os.environ))"
    libraries = ("jax", "jax_plugins", "torch_npu", "transformers", "mamba_ssm", "causal_conv1d")
    for name in (*libraries, "transformer_engine"):
        write(tmp_path / "with" / name / "__init__.py", "")
    fixed = {"PYTHONHASHSEED": "0"}
    bare = python("-S", "-c", code, cwd=tmp_path, environ=fixed | {"PYTHONPATH": _root()})
    path = os.pathsep.join([str(tmp_path / "with"), _root()])
    full = python("-S", "-c", code, cwd=tmp_path, environ=fixed | RANKS | {"PYTHONPATH": path})
    few = {"PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG", "TORCHINDUCTOR_DETERMINISTIC"}
    assert (set(bare.stdout.split()), bare.stderr) == (few, "")
    assert (set(full.stdout.split()), full.stderr) == (set(ROWS), "")


def _root() -> str:
    return os.path.dirname(os.path.dirname(guard.__file__))


def test_the_flag_of_xla_is_added_to_those_that_are_there(tmp_path: Path) -> None:
    code = """
        import os
        from guard.setup.environment import applied, verdicts
        from guard.settings import Settings
        with applied(Settings()):
            print(os.environ["XLA_FLAGS"])
            print(*(each.state for each in verdicts() if each.name == "XLA_FLAGS"))
        print(os.environ["XLA_FLAGS"])
        """
    for name in ("jax", "jax_plugins"):
        write(tmp_path / name / "__init__.py", "")
    script = write(tmp_path / "script.py", code)
    variables = {"XLA_FLAGS": "--xla_dump_to=x", "PYTHONHASHSEED": "0"}
    done = python(script, cwd=tmp_path, environ=variables)
    assert (done.stdout.splitlines(), done.stderr) == (
        [
            "--xla_dump_to=x --xla_gpu_deterministic_ops=true",
            "set by guard",
            "--xla_dump_to=x",
        ],
        "",
    )
    done = python(script, cwd=tmp_path, environ=variables | {"JAX_PLATFORMS": "cpu"})
    assert done.stdout.splitlines() == ["--xla_dump_to=x", "not applicable", "--xla_dump_to=x"]


def test_a_file_of_xla_flags_has_to_hold_the_flag(tmp_path: Path) -> None:
    flags = write(tmp_path / "flags", "--xla_dump_to=x --xla_gpu_deterministic_ops=true\n")
    assert ROWS["XLA_FLAGS"].judge(str(flags)) is True
    write(flags, "--xla_dump_to=x\n")
    assert ROWS["XLA_FLAGS"].judge(str(flags)) is False


HASHES = """
    import os, sys
    os.environ.update(arg.split("=") for arg in sys.argv[1:])
    from guard.setup.environment import applied, verdicts
    from guard.setup.variables import hash_seed
    from guard.settings import Settings
    print(hash_seed())
    for _ in range(2):
        with applied(Settings()):
            print(verdicts()[0].state, os.environ["PYTHONHASHSEED"])
    """


@pytest.mark.parametrize("seed", ["0", "1", "42", "4294967295"])
def test_a_hash_seed_given_at_the_start_is_respected(tmp_path: Path, seed: str) -> None:
    script = write(tmp_path / "script.py", HASHES)
    done = python(script, cwd=tmp_path, environ={"PYTHONHASHSEED": seed})
    assert done.stdout.splitlines() == [seed, *[f"set by user {seed}"] * 2]
    assert done.stderr == ""


@pytest.mark.parametrize("given", [[], ["PYTHONHASHSEED=42"], ["PYTHONHASHSEED=0"]], ids=str)
def test_a_hash_seed_given_after_the_start_comes_too_late_and_is_not_warned_of(
    tmp_path: Path, given: list[str]
) -> None:
    script = write(tmp_path / "script.py", HASHES)
    done = python(script, *given, cwd=tmp_path)
    value = given[0].partition("=")[2] if given else "0"
    assert done.stdout.splitlines() == ["None", *[f"too late {value}"] * 2]
    assert done.stderr == ""  # the doctor says it


def test_a_hash_seed_that_python_was_told_to_ignore_is_not_believed(tmp_path: Path) -> None:
    script = write(tmp_path / "script.py", HASHES)
    done = python("-E", script, cwd=tmp_path, environ={"PYTHONHASHSEED": "42"})
    assert done.stdout.splitlines()[:2] == ["None", "too late 42"]


def test_processes_started_later_have_the_hash_seed(tmp_path: Path) -> None:
    code = "import subprocess, sys, warnings; warnings.simplefilter('ignore')\n"
    code += "from guard.setup.environment import applied; from guard.settings import Settings\n"
    code += "with applied(Settings()):\n    for _ in range(2):\n"
    code += "        subprocess.run([sys.executable, '-c', 'print(hash(str()), hash(chr(97)))'])"
    done = python("-c", code, cwd=tmp_path)
    first, second = done.stdout.splitlines()
    assert first == second


def test_neither_torch_nor_cuda_is_started(tmp_path: Path) -> None:
    code = (
        "import sys; from guard.setup.environment import *; from guard.settings import Settings\n"
    )
    code += "with applied(Settings()): verdicts()\nassert 'torch' not in sys.modules\n"
    code += "import torch\nwith applied(Settings()): verdicts()\n"
    code += "print(torch.cuda.is_initialized(), 'torch._inductor.config' in sys.modules)"
    done = python("-c", code, cwd=tmp_path, environ={"PYTHONHASHSEED": "0"} | RANKS)
    assert (done.stdout.strip(), done.stderr) == ("False False", "")


def test_it_takes_less_than_a_millisecond(tmp_path: Path) -> None:
    code = "import time; from guard.setup.environment import applied\n"
    code += "from guard.settings import Settings\n"
    code += "from time import perf_counter as now\ntimes = []\nfor _ in range(50):\n    t = now()\n"
    code += "    with applied(Settings()): pass\n    times.append(now() - t)\nprint(min(times))"
    done = python("-c", code, cwd=tmp_path, environ={"PYTHONHASHSEED": "0"} | RANKS)
    assert float(done.stdout) < 1e-3


READERS = [
    (
        "transformers/modeling_flash_attention_utils.py",
        "deterministic_g = False\n",
        "transformers.modeling_flash_attention_utils",
        "call guard.enable before transformers is imported",
    ),
    (
        "jax/_src/xla_bridge.py",
        "def backends_are_initialized():\n    return True\n",
        "jax._src.xla_bridge",
        "call guard.enable before JAX computes anything",
    ),
]


@pytest.mark.parametrize(("file", "text", "module", "advice"), READERS, ids=["hf", "jax"])
def test_a_library_that_has_read_its_variable_is_told_of(
    tmp_path: Path, file: str, text: str, module: str, advice: str
) -> None:
    write(tmp_path / file, text)
    for folder in (tmp_path / file).relative_to(tmp_path).parents[:-1]:
        write(tmp_path / folder / "__init__.py", "")
    code = f"import {module}; from guard.setup.environment import *\n"
    code += "from guard.settings import Settings\nwith applied(Settings()):\n"
    code += "    print([each.name for each in verdicts() if each.state == 'too late'])"
    script = write(tmp_path / "script.py", code)
    variables = {"PYTHONHASHSEED": "0", "JAX_PLATFORMS": "cuda"}
    done = python(script, cwd=tmp_path, environ=variables)
    name = "XLA_FLAGS" if "jax" in file else "FLASH_ATTENTION_DETERMINISTIC"
    assert done.stdout.strip() == f"['{name}']"
    assert advice in done.stderr
    flags = {"XLA_FLAGS": "--xla_gpu_deterministic_ops=true", "FLASH_ATTENTION_DETERMINISTIC": "1"}
    done = python(script, cwd=tmp_path, environ=variables | flags)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


CONNECTED = """
    import torch, torch.distributed as dist
    from guard.setup.environment import applied, verdicts
    from guard.settings import Settings
    store = dist.HashStore()
    dist.init_process_group("{backend}", store=store, rank=0, world_size=1)
    try:
        with applied(Settings()):
            print({{each.name: each.state for each in verdicts()}}["NCCL_ALGO"])
    finally:
        dist.destroy_process_group()
    """


def test_gloo_reads_nothing_of_nccl(tmp_path: Path) -> None:
    script = write(tmp_path / "script.py", CONNECTED.format(backend="gloo"))
    done = python(script, cwd=tmp_path, environ={"PYTHONHASHSEED": "0"} | RANKS)
    assert (done.stdout.strip(), done.stderr) == ("set by guard", "")


@pytest.mark.cuda
def test_nccl_that_is_connected_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("NCCL needs a CUDA device")
    script = write(tmp_path / "script.py", CONNECTED.format(backend="nccl"))
    variables = {"PYTHONHASHSEED": "0"} | RANKS
    last = python(script, cwd=tmp_path, environ=variables).stderr.strip().splitlines()[-1]
    last = last.removeprefix("[rank0]: ")  # torch's, since 2.4
    assert last.startswith("guard.errors.TooLateError: torch.distributed has connected the ranks")
    assert "call guard.enable before init_process_group" in last
    assert "export NCCL_ALGO=Ring and NCCL_NVLS_ENABLE=0" in last
    variables |= {"NCCL_ALGO": "Tree", "NCCL_NVLS_ENABLE": "0"}
    assert python(script, cwd=tmp_path, environ=variables).stdout.strip() == "set by user"


@pytest.mark.cuda
def test_cuda_that_has_started_is_told_of_unless_the_user_had_set_the_variable(
    tmp_path: Path,
) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    code = "import torch; torch.zeros(1, device='cuda'); from guard.setup.environment import *\n"
    code += "from guard.settings import Settings\nwith applied(Settings()):\n"
    code += "    print({each.name: each.state for each in verdicts()}['CUBLAS_WORKSPACE_CONFIG'])"
    script = write(tmp_path / "script.py", code)
    done = python(script, cwd=tmp_path, environ={"PYTHONHASHSEED": "0"})
    assert done.stdout.strip() == "too late"
    assert "CUDA had started before CUBLAS_WORKSPACE_CONFIG was set" in done.stderr
    variables = {"PYTHONHASHSEED": "0", "CUBLAS_WORKSPACE_CONFIG": ":16:8"}
    done = python(script, cwd=tmp_path, environ=variables)
    assert (done.stdout.strip(), done.stderr) == ("set by user", "")


def test_verdicts_say_how_each_variable_stands_and_what_that_means() -> None:
    given = RANKS | {"CUBLAS_WORKSPACE_CONFIG": ":16:8", "NCCL_NVLS_ENABLE": "1"}
    found = {verdict.name: verdict for verdict in verdicts(given)}
    user = found["CUBLAS_WORKSPACE_CONFIG"]
    assert (user.value, user.wanted, user.state) == (":16:8", ":4096:8", "set by user")
    assert user.meaning == ROWS[user.name].why
    missing = found["NCCL_ALGO"]
    assert (missing.value, missing.state) == (None, "missing")
    assert missing.meaning.startswith("guard.enable sets it to Ring: ranks are summed in an order")
    wrong = found["NCCL_NVLS_ENABLE"]
    assert wrong.state == "invalid"
    assert wrong.meaning.startswith("NCCL_NVLS_ENABLE is '1', with which runs may differ")
    absent = found["HCCL_DETERMINISTIC"]
    assert (absent.state, absent.meaning) == ("not applicable", "matters with torch_npu only")
    assert [verdict.name for verdict in found.values()] == [row.name for row in VARIABLES]


def test_verdicts_tell_what_guard_set_from_what_the_user_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_DETERMINISTIC", "1")
    with applied(Settings()), applied(Settings()):
        found = states(os.environ)
        assert found["CUBLAS_WORKSPACE_CONFIG"] == "set by guard"
        assert found["TORCHINDUCTOR_DETERMINISTIC"] == "set by user"
    assert states(os.environ)["CUBLAS_WORKSPACE_CONFIG"] == "missing"


def test_checking_sets_nothing() -> None:
    check(clean_environment())
    with pytest.raises(SettingsError, match="PYTHONHASHSEED is 'random', with which runs may"):
        check({"PYTHONHASHSEED": "random"})
    assert ours() == {}


def test_a_warning_that_became_an_error_leaves_nothing_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = [row._replace(warns=True, is_late=lambda _: True) for row in environment.VARIABLES[:1]]
    monkeypatch.setattr(environment, "VARIABLES", late)
    for _ in range(2):  # an error is no telling: it comes again
        with pytest.raises(LateWarning), applied(Settings()):
            pass
        assert ours() == {}
