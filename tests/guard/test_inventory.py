"""``guard.report``: what each section sees, and what the digest depends on."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from programs import python, write

import guard
from guard.inventory.libraries import LIBRARIES
from guard.inventory.reports import LEVELS, NOT_APPLICABLE, Entry, Report, Section
from guard.setup.variables import VARIABLES

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

DIGEST = "import guard; print(guard.report().digest)"


def verdict(section: str, name: str) -> tuple[object, str, str]:
    """An entry of the report as things stand, without its name."""
    entry = guard.report().find(section, name)
    assert entry is not None
    return entry[1:4]


# The report


def test_the_report_is_plain_data() -> None:
    found = guard.report()
    assert isinstance(found, tuple)
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()
    assert str(found) == found.digest
    for section in found.sections:
        names = [entry.name for entry in section.entries]
        assert len(set(names)) == len(names)
        for entry in section.entries:
            assert entry.verdict in LEVELS
            assert entry.meaning
            assert not entry.decides or entry.verdict != NOT_APPLICABLE


def test_an_entry_that_is_not_there_is_none() -> None:
    found = guard.report()
    assert found.find("torch", "torch") is not None
    assert found.find("torch", "tensorflow") is None
    assert found.find("tensorflow", "torch") is None


def numbers(state: object) -> list[object]:
    """All that a state holds, on a CPU and on GPUs."""
    leaves = torch.utils._pytree.tree_leaves(state)
    return [each.tolist() if isinstance(each, torch.Tensor) else each for each in leaves]


def test_reporting_changes_nothing() -> None:
    before = guard.rng_state()
    guard.report()
    after = guard.rng_state()
    assert numbers(before) == numbers(after)
    assert guard.active() is None


def test_reporting_asks_nothing_that_starts_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    def start() -> None:
        raise AssertionError("it asks the GPU what it can do")

    monkeypatch.setattr(torch.backends.cudnn, "version", start)
    monkeypatch.setattr(torch.cuda, "_lazy_init", start)
    guard.report()


def test_reporting_takes_less_than_a_tenth_of_a_second() -> None:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        guard.report().as_dict()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.1


# The digest


def test_the_digest_changes_with_the_environment_and_only_with_it(tmp_path: Path) -> None:
    variants: dict[str, tuple[list[str], dict[str, str]]] = {
        "first": ([], {}),
        "second": ([], {"EDITOR": "ed", "GUARD_SEED": "5"}),
        "threads": ([], {"OMP_NUM_THREADS": "1"}),
        "kernels": ([], {"ATEN_CPU_CAPABILITY": "default"}),
        "hashes": ([], {"PYTHONHASHSEED": "5"}),
        "asserts": (["-O"], {}),
    }

    def digest(variant: tuple[list[str], dict[str, str]]) -> str:
        options, environ = variant
        done = python(*options, "-c", DIGEST, cwd=tmp_path, environ=environ)
        assert done.stderr == ""
        return done.stdout.strip()

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(variants, pool.map(digest, variants.values()), strict=True))
    same = found.pop("first")
    assert found.pop("second") == same
    assert len({same, *found.values()}) == 1 + len(found)
    assert " threads=1 " in found["threads"]
    assert " cpu=DEFAULT " in found["kernels"]


def test_the_fingerprint_follows_variables_that_decide_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = [guard.report().fingerprint]
    for name, value in (("NVIDIA_TF32_OVERRIDE", "0"), ("WORLD_SIZE", "2"), ("NCCL_ALGO", "Tree")):
        monkeypatch.setenv(name, value)
        seen.append(guard.report().fingerprint)
    monkeypatch.undo()
    assert len(set(seen)) == 4
    assert guard.report().fingerprint == seen[0]


def test_the_fingerprint_follows_what_the_program_sets() -> None:
    before = guard.report().fingerprint
    seen = {before}
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        seen.add(guard.report().fingerprint)
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float64)
        seen.add(guard.report().fingerprint)
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(True, warn_only=True)
        seen.add(guard.report().fingerprint)
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)
    assert len(seen) == 4
    assert guard.report().fingerprint == before


def test_the_seed_stands_beside_the_fingerprint_and_not_in_it() -> None:
    with guard.deterministic(seed=1):
        first = guard.report()
    with guard.deterministic(seed=2):
        second = guard.report()
    with guard.deterministic(seed=1, fill=False):
        third = guard.report()
    assert first.fingerprint == second.fingerprint != third.fingerprint
    assert " guard=on seed=1 " in first.digest
    assert second.digest == first.digest.replace("seed=1", "seed=2")


def test_values_with_spaces_stay_one_word_of_the_digest() -> None:
    devices = Entry("devices", "2 x NVIDIA H100 80GB HBM3", "ok", "")
    report = Report((Section("gpu", (devices,)),))
    assert "gpu=2-x-NVIDIA-H100-80GB-HBM3" in report.digest.split()


# guard and torch's switches


def test_settings_that_are_not_the_default_are_judged() -> None:
    with guard.deterministic(seed=3, fill=False, allow=["put_"], dropout=False):
        assert verdict("guard", "active") == (True, "ok", "guard is on, with the settings below")
        assert verdict("guard", "seed") == (
            3,
            "ok",
            "every generator that guard knows began with it",
        )
        assert verdict("guard", "fill") == (
            False,
            "may differ",
            "memory that nothing has written holds what lay there, so what reads it differs",
        )
        assert verdict("guard", "allow") == (
            "put_",
            "may differ",
            "these operators run as they are, and differ from run to run",
        )
        assert verdict("guard", "dropout") == (False, "ok", "dropout is taken out")
        assert verdict("guard", "strict") == (True, "ok", "the default")


def test_operators_that_were_let_through_are_counted() -> None:
    with guard.deterministic(allow=["put_"]):
        for _ in range(3):
            torch.zeros(4).put_(torch.tensor([0, 1]), torch.ones(2))
        counted = {
            entry.name: entry[1:4]
            for section in guard.report().sections
            for entry in section.entries
            if entry.name.startswith("let through")
        }
    assert counted == {
        "let through: torch.Tensor.put_": (
            3,
            "may differ",
            "times it ran although it has no deterministic implementation: it was allowed",
        )
    }


def test_a_switch_that_was_set_back_under_guard_differs() -> None:
    name = "torch.use_deterministic_algorithms"
    why = (
        "operators take their deterministic kernel, and those that have none refuse; not "
        "warn_only, which leaves the backward of fused attention free"
    )
    with guard.deterministic():
        assert verdict("flags", name) == (True, "ok", why)
        torch.use_deterministic_algorithms(True, warn_only=True)
        assert verdict("flags", name) == (
            "warn_only",
            "differs",
            f"guard had set it to True, and something has set it back: {why}",
        )


def test_a_switch_with_two_rows_is_judged_by_the_one_asked_for() -> None:
    name = "torch.utils.deterministic.fill_uninitialized_memory"
    with guard.deterministic(fill=False):
        value, level, _ = verdict("flags", name)
        assert (value, level) == (False, "ok")
    names = [each.name for part in guard.report().sections for each in part.entries]
    assert names.count(name) == 1


def test_newer_and_older_names_of_a_switch_can_be_mixed(tmp_path: Path, forks: Forks) -> None:
    if not hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        pytest.skip("this torch has only one name for it")
    script = write(
        tmp_path / "mixed.py",
        """
        import guard, torch

        torch.backends.cuda.matmul.fp32_precision = "tf32"
        found = guard.report()
        print(found.find("flags", "torch.backends.cuda.matmul.allow_tf32").value)
        print(found.find("flags", "float32_matmul_precision").value)
        print(found.find("flags", "float32_products").value.partition(",")[0])
        """,
    )
    done = forks.python(script, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "tf32",
        "mixed",
        "cuda.matmul tf32",
    ]


# Generators


def test_generators_are_told_as_far_as_they_can_be_seen(tmp_path: Path) -> None:
    script = write(
        tmp_path / "seeds.py",
        """
        import json, warnings
        import guard, torch

        def told():
            entries = {each.name: each for each in guard.report().sections[7].entries}
            names = ("random", "numpy.random", "torch cpu")
            print(json.dumps([entries[name][1:4] for name in names]))

        told()
        import numpy
        numpy.random.rand()
        told()
        numpy.random.seed(0)
        torch.manual_seed(5)
        told()
        warnings.simplefilter("ignore")
        guard.enable(seed=9)
        told()
        torch.manual_seed(5)
        told()
        """,
    )
    done = python(script, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    bare, drawn, seeded, guarded, again = map(json.loads, done.stdout.splitlines())
    silent = [None, "unknown", "Python does not tell whether it was seeded; guard.enable seeds it"]
    assert bare[0] == drawn[0] == seeded[0] == silent
    assert bare[1] == [None, "not applicable", "not imported; then it begins anywhere"]
    assert drawn[1] == [
        None,
        "differs",
        "begins anywhere: numpy.random.seed was never called; guard.enable does",
    ]
    assert seeded[1] == [
        None,
        "unknown",
        "numpy.random.seed was called, NumPy does not tell with what; guard.enable calls it",
    ]
    assert bare[2][1:] == [
        "differs",
        (
            "this seed looks like one that torch took from the system, as it does where nobody "
            "seeds it; guard.enable does"
        ),
    ]
    meaning = "seeded by the program: the same in each run if it is a constant there"
    assert seeded[2] == [5, "ok", meaning]
    assert guarded == [[9, "ok", "seeded by guard"]] * 3
    meaning = "seeded by the program, after guard: the same in each run if it is a constant there"
    assert again[2] == [5, "ok", meaning]


# Libraries


def test_each_library_is_one_row_with_a_source_and_a_known_variable() -> None:
    assert len({row.module for row in LIBRARIES}) == len(LIBRARIES)
    variables = {row.name for row in VARIABLES}
    for row in LIBRARIES:
        assert row.source.startswith("https://"), row.module
        assert row.verdict in LEVELS
        assert row.packages
        assert not row.meaning.endswith(".")
        assert row.variable in variables | {""}


def install(folder: Path, module: str, distribution: str, version: str) -> None:
    """Put a package where Python finds it, with the metadata that pip leaves."""
    write(folder / module / "__init__.py", f'__version__ = "{version}"\n')
    metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    name = f"{distribution.replace('-', '_')}-{version}.dist-info"
    write(folder / name / "METADATA", metadata)


def test_libraries_are_told_whether_they_are_imported_or_only_installed(
    tmp_path: Path, forks: Forks
) -> None:
    install(tmp_path, "flash_attn", "flash-attn", "2.8.3")
    install(tmp_path, "webdataset", "webdataset", "1.0.2")
    install(tmp_path, "transformer_engine", "transformer-engine", "2.9.0")
    install(tmp_path, "jax", "jax", "0.8.0")
    install(tmp_path, "xformers", "xformers", "0.0.35")
    write(tmp_path / "dgl" / "__init__.py", '__version__ = "2.4.0"\n')  # from a source folder
    script = write(
        tmp_path / "look.py",
        """
        import json, warnings
        import dgl, guard, webdataset

        def told():
            section = guard.report().sections[8]
            print(json.dumps({each.name: each[1:4] for each in section.entries}))

        told()
        warnings.simplefilter("ignore")
        guard.enable()
        told()
        """,
    )
    environ = {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0", "JAX_PLATFORMS": "cpu"}
    done = forks.python(script, cwd=tmp_path, environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    found, guarded = map(json.loads, done.stdout.splitlines())
    assert found["flash_attn"] == [
        "2.8.3",
        "may differ",
        (
            "installed, not imported: its backward adds up in any order: pass deterministic=True "
            "where you call it (2.4.1 and newer); its forward repeats. "
            "FLASH_ATTENTION_DETERMINISTIC is for calls by transformers"
        ),
    ]
    assert found["webdataset"][:2] == ["1.0.2", "may differ"]
    assert found["webdataset"][2].startswith("imported: shuffle() takes its seed from the clock")
    assert found["transformer_engine"][:2] == ["2.9.0", "ok"]
    assert found["jax"][:2] == ["0.8.0", "not applicable"]
    assert found["dgl"][:2] == ["2.4.0", "may differ"]
    assert found["xformers"][:2] == ["0.0.35", "may differ"]  # it asks torch, which says no
    assert guarded["xformers"][:2] == ["0.0.35", "ok"]
    del found["xformers"], guarded["xformers"]
    assert guarded == found


def test_ranks_are_told_with_what_their_sums_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    same = "sums over ranks are the same for the same number of ranks on the same topology"
    assert verdict("machine", "ranks") == (1, "not applicable", "one process trains")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.delenv("NCCL_ALGO", raising=False)
    meaning = f"{same}, if NCCL keeps to one algorithm: see NCCL_ALGO below"
    assert verdict("machine", "ranks") == (4, "may differ", meaning)
    monkeypatch.setenv("NCCL_ALGO", "Ring")
    assert verdict("machine", "ranks") == (4, "ok", same)


@pytest.mark.parametrize(
    ("name", "value", "level", "meaning"),
    [
        (
            "OMP_DYNAMIC",
            "TRUE",
            "may differ",
            "the number of threads changes with the load: set it to false",
        ),
        ("OMP_DYNAMIC", "false", "ok", "set by user"),
        (
            "PYTORCH_TUNABLEOP_ENABLED",
            "1",
            "may differ",
            "kernels are chosen by timing them, so that another run can take others: unset it",
        ),
        ("NCCL_PROTO", "Simple", "ok", "decides how NCCL splits sums: keep it the same"),
    ],
)
def test_other_variables_are_told_where_they_are_set(
    name: str, value: str, level: str, meaning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name, raising=False)
    assert guard.report().find("environment", name) is None
    monkeypatch.setenv(name, value)
    assert verdict("environment", name) == (value, level, meaning)
