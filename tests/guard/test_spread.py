"""``python -m guard spread``: from programs to an answer."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.__main__ import main as guard_main
from guard.errors import GuardError
from guard.spread.runs import Outcome, Plan
from guard.spread.text import ASCII, Arm, Marks, Row, draw, marks_for, render, verdict

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = """
    import sys
    values = dict(zip("0123", [0.52, 0.48, 0.51, 0.49]))
    seed = sys.argv[sys.argv.index("--seed") + 1]
    print("epoch 1 val_loss: 9")
    print("epoch 2 val_loss:", float(values[seed]) - ("--new" in sys.argv) * 0.2, file=sys.stderr)
    """


def main(arguments: list[str]) -> int:
    return guard_main(["spread", *arguments])


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "train.py", TRAIN)


def arm(*values: float, first: int = 0, seeding: str = "seeded by guard") -> Arm:
    outcomes = tuple(Outcome(seed, value, 1.0) for seed, value in enumerate(values, first))
    return Arm("train.py", seeding, "val_loss", outcomes)


def read(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.usefixtures("train")
def test_a_program_with_four_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--seeds", "4", "--seed-arg", "--seed", "--metric", "val_loss", "train.py"]
    assert main(given) == 0
    out, err = read(capsys)
    assert out == (
        "val_loss of train.py\n"
        "\n"
        "  seed 0  0.520  │                                  ●      │\n"
        "  seed 1  0.480  │      ●                                  │\n"
        "  seed 2  0.510  │                           ●             │\n"
        "  seed 3  0.490  │             ●                           │\n"
        "  mean    0.500  │├───────────────────◆───────────────────┤│\n"
        "                 0.471                                 0.529\n"
        "\n"
        "train.py, 4 seeds, seed given as --seed:\n"
        "  mean 0.500 ± 0.029 (0.471 to 0.529; 3 degrees of freedom)\n"
        "  standard deviation 0.018, values from 0.480 to 0.520\n"
        "\n"
        "Another program with this spread is told apart with 4 seeds, in four of five tries, where "
        "its mean differs by 0.043 or more.\n"
        "\n"
        "The intervals hold 95% and are Student's t: the runs are taken for independent, their "
        "values\nfor roughly normally distributed.\n"
    )
    assert err.startswith("[1/4] train.py, seed 0, ")
    assert " s: epoch 2 val_loss: 0.52\n" in err


def test_two_programs_their_results_and_their_logs(
    train: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--seeds", "0,2", "--seed-arg", "--seed", "--metric", "val_loss", "--logs", "logs"]
    assert main([*given, "--against", "train.py --new", "--jobs", "2", "train.py"]) == 0
    assert "B is lower by 0.2 with each seed: that lies outside the spread." in read(capsys)[0]
    assert (train.parent / "logs" / "b" / "seed2.log").read_text().endswith("val_loss: 0.31\n")

    for name, more in (("a", []), ("b", ["--new"])):
        assert main([*given, "--json", "train.py", *more]) == 0
        out = read(capsys)[0]
        (train.parent / name).write_text(out)
        result = json.loads(out)
        (program,) = result["programs"]
        assert (result["format"], program["command"]) == (1, " ".join(["train.py", *more]))
        assert [run["seed"] for run in program["runs"]] == [0, 2]
        assert program["mean"]["degrees_of_freedom"] == 1
    assert main(["compare", "--json", "a", "b"]) == 0
    compared = json.loads(read(capsys)[0])["difference"]
    assert compared["method"] == "paired"
    assert compared["paired"]["value"] == pytest.approx(-0.2)
    assert compared["welch"]["value"] == pytest.approx(-0.2)


def test_guard_seeds_a_program_that_takes_no_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    write(
        tmp_path / "train.py",
        "import os, random\nprint('draw', random.random(), 'hash', os.environ['PYTHONHASHSEED'])",
    )
    assert main(["--seeds", "3,4", "--metric", "draw", "--jobs", "2", "train.py"]) == 0
    err = read(capsys)[1]
    assert "hash 3" in err
    assert "hash 4" in err
    assert err.count("draw 0.") == 2


def test_a_run_that_fails_is_told_with_its_tail_and_the_others_count(
    train: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--seed-arg", "--seed", "--metric", "val_loss", "--seeds", "2,3,4"]
    assert main([*given, train.name]) == 2
    out, err = read(capsys)
    assert "train.py, 2 seeds" in out
    assert "seed 4 of train.py: it ended with status 1\n" in err
    assert err.endswith("KeyError: '4'\n")


@pytest.mark.usefixtures("train")
def test_a_metric_that_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--seed-arg", "--seed", "--metric", "valid_loss", "--seeds", "2"]
    assert main([*given, "train.py"]) == 2
    out, err = read(capsys)
    assert "it printed no number for 'valid_loss'; numbers that it names: val_loss\n" in err
    assert "train.py: 0 values, and two are needed for a spread" in out


def test_a_run_that_diverged_has_no_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.py", "print('loss: nan')")
    assert main(["--as-is", "--metric", "loss", "--seeds", "2", "train.py"]) == 2
    assert "seed 1 of train.py: loss is nan, with which no mean can be taken" in read(capsys)[1]


def test_files_of_this_very_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.py", "import sys; open(sys.argv[1], 'w').write(sys.argv[2])")
    (tmp_path / "out-1").mkdir()
    given = ["--as-is", "--metric", "loss", "--seeds", "2"]
    program = ["train.py", "out-{seed}.json", '{"loss": {seed}.5}']
    assert main([*given, "--jobs", "2", "--from", "out-{seed}.json", *program]) == 0
    assert "out-1.json: loss: 1.5" in read(capsys)[1]
    assert main([*given, "--from", "out-{seed}.json", "train.py", "other", "x"]) == 2
    assert "out-0.json: it is there, but this run did not write it" in read(capsys)[1]
    assert main([*given, "--from", "none", "train.py", "other", "x"]) == 2
    assert "none: there is no such file" in read(capsys)[1]
    assert main([*given, "--from", "out-*.json", *program]) == 0
    assert main([*given, "--jobs", "2", "--from", "out.json", *program]) == 2
    assert "have {seed} in its name" in read(capsys)[1]


def test_how_the_seed_is_given() -> None:
    program = ("-m", "pkg.train", "--out", "runs/{seed}")
    ran = ["-m", "pkg.train", "--out", "runs/7"]
    assert Plan(program, "x").command(7)[-8:] == ["-m", "guard", "run", "--seed", "7", *ran][-8:]
    assert Plan(program, "x", seed_arg="--seed").command(7)[-6:] == [*ran, "--seed", "7"]
    assert Plan(program, "x", seed_arg="seed=").command(7)[-5:] == [*ran, "seed=7"]
    assert Plan(program, "x", as_is=True).command(7)[0] == sys.executable
    assert Plan(program, "x", as_is=True).command(7)[-4:] == ran


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--seeds", "1", "t.py"], "two seeds or more"),
        (["--seeds", "3,3", "t.py"], "two seeds or more"),
        (["--seeds", "many", "t.py"], "neither a number nor a list"),
        (["--seeds", "0,4294967296", "t.py"], "at most 4294967295"),
        (["--jobs", "0", "t.py"], "not a whole number from 1 on"),
        (["--as-is", "--seed-arg", "--seed", "t.py"], "not allowed with"),
    ],
)
def test_usage(given: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--metric", "loss", *given])
    assert ended.value.code == 2
    assert told in read(capsys)[1]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["none.py"], "cannot open 'none.py'"),
        (["--as-is", "none.py"], "cannot open 'none.py'"),
        (["--against", "--new", "train.py"], "'--new' names no program"),
        (["--against", "'", "train.py"], "No closing quotation"),
        (["-m", "torch.distributed.run", "train.py"], "torchrun starts its ranks by itself"),
    ],
)
@pytest.mark.usefixtures("train")
def test_programs_that_cannot_run(
    given: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--metric", "loss", *given]) == 2
    assert told in read(capsys)[1]


def test_a_difference_that_is_chance() -> None:
    told = verdict([arm(1.0, 1.2, 0.9, 1.1, 1.3), arm(1.1, 1.0, 1.2, 0.8, 1.3)])
    assert told == (
        "With 5 seeds the difference -0.02 ± 0.30 (paired by seed) cannot be told from chance. "
        "Were it real, about 1,121 seeds for each would tell it, in four of five tries.\n"
        "Not paired: -0.02 ± 0.26 (Welch's t)."
    )


def test_a_difference_that_is_not() -> None:
    told = verdict([arm(1.0, 1.2, 0.9, 1.1), arm(0.2, 0.1, 0.15, first=9)])
    assert told == (
        "B is lower by 0.90 ± 0.19 (Welch's t, for runs with different seeds): with 4 and 3 seeds "
        "that lies outside the spread."
    )


def test_means_that_are_equal() -> None:
    told = verdict([arm(1.0, 2.0), arm(2.0, 1.0)])
    assert "cannot be told from chance. The means are equal.\n" in told


def test_differences_that_no_seed_moves() -> None:
    same, constant = arm(1.0, 2.0), arm(3.0, 3.0)
    assert verdict([same, same]) == "The two do not differ, with any of the seeds."
    assert verdict([constant, arm(2.5, 2.5)]) == (
        "Neither varies with the seed, so that the seeds say nothing of chance; B is lower by 0.5."
    )


def test_no_spread_at_all_is_a_seed_that_did_not_arrive() -> None:
    told = render([arm(0.3, 0.3, 0.3)], Marks())
    assert "all 3 runs gave 0.3 exactly" in told
    assert "give it the seed with --seed-arg --seed" in told
    assert "seed 0" not in told
    assert "95%" not in told
    told = render([arm(0.3, 0.3, seeding="run as it is")], Marks())
    assert "They repeat, so there is nothing to measure" in told


def test_results_that_cannot_be_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("{}")
    (tmp_path / "b").write_text('{"format": 1, "metric": "x", "programs": []}')
    for first, told in (("none", "cannot open"), ("a", "is not what"), ("b", "of one program")):
        assert main(["compare", str(tmp_path / first), str(tmp_path / "b")]) == 2
        assert told in read(capsys)[1]


def test_a_plot_where_only_ascii_can_be_shown() -> None:
    assert marks_for("ascii") is marks_for(None) is ASCII
    assert marks_for("utf-8") == Marks()
    rows = [Row("seed 0", 1.0), Row("mean", 2.0, (1.0, 3.0))]
    assert draw(rows, "{:.0f}".format, ASCII) == [
        "  seed 0  1  |o                                        |",
        "  mean    2  |[-------------------#-------------------]|",
        "             1                                         3",
    ]


def test_a_source_that_is_no_module_of_a_plan() -> None:
    with pytest.raises(GuardError, match="'-m' names no program"):
        Plan(("-m",), "loss").check()
