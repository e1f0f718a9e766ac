"""Where ``guard spread`` finds a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.errors import GuardError
from guard.spread.runs import in_file, in_output, names_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("val_loss: 0.25", "val_loss", 0.25),
        ("epoch 3 | val_loss=2.5e-1, lr=0.1", "val_loss", 0.25),
        ("wandb:  val/loss 0.25", "val/loss", 0.25),
        ("step 250: train loss 2.1, val loss 0.25", "val loss", 0.25),
        ("Test set: Average loss: 0.25, Accuracy: 9913/10000 (99%)", "Average loss", 0.25),
        ("Test set: Average loss: 0.25, Accuracy: 9913/10000 (99%)", "accuracy", 9913),
        ("│         test_loss         │    0.25          │", "test_loss", 0.25),
        ("{'eval_loss': 0.25, 'epoch': 1.0}", "eval_loss", 0.25),
        ("{'eval_loss': '0.25', 'epoch': '1'}", "eval_loss", 0.25),
        ("{'loss': np.float64(0.25)}", "loss", 0.25),
        ("loss = tensor([0.25], device='cuda:0')", "loss", 0.25),
        ('{"step": 3, "val": {"loss": 0.25}}', "val.loss", 0.25),
        ('{"step": 3, "val": {"loss": 0.25}}', "loss", 0.25),
        ('    "val_loss": 0.25,', "val_loss", 0.25),
        ("loss: 1 loss: 0.25", "loss", 0.25),
        ("\x1b[32mloss\x1b[0m: \x1b[1m0.25\x1b[0m", "loss", 0.25),
        ("loss: 9\rloss: 0.25\r", "loss", 0.25),
        ("perplexity: 12,345.5", "perplexity", 12345.5),
        ("reward -.25", "reward", -0.25),
        ("acc: 91.25%", "acc", 91.25),
        ("loss: 1.", "loss", 1.0),
        ("loss: inf", "loss", float("inf")),
    ],
)
def test_what_programs_print(line: str, name: str, value: float) -> None:
    match = in_output(f"start\n{line}\nend", name)
    assert match is not None
    assert match.value == value


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("val_loss: 0.25", "loss"),
        ("val/loss: 0.25", "loss"),
        ("losses: 0.25", "loss"),
        ("loss improved from 0.5 to 0.25", "loss"),
        ("loss: none", "loss"),
        ("loss: 1.2.3", "loss"),
        ('{"loss": true}', "loss"),
    ],
)
def test_what_is_another_thing(line: str, name: str) -> None:
    assert in_output(line, name) is None


def test_the_last_one_counts_and_is_shown() -> None:
    match = in_output("loss: 3\nloss: 2\nbest loss: 1 \x07\nbye", "loss")
    assert match is not None
    assert match == (1.0, "best loss: 1")


def test_names_of_numbers_help_where_none_fits() -> None:
    assert names_in("lr=0.1\nval loss: 3.5\n{'eval_acc': 0.5}") == ["lr", "val loss", "eval_acc"]


def test_a_key_that_stands_for_several_is_refused() -> None:
    with pytest.raises(GuardError, match=r"'loss' could be each of train\.loss, val\.loss"):
        in_output('{"train": {"loss": 1}, "val": {"loss": 2}}', "loss")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("m.csv", "epoch, val_loss\n0,0.5\n1,0.25\n2,\n", (0.25, "line 3, column val_loss: 0.25")),
        ("m.tsv", "epoch\tval_loss\n0\t0.25\n", (0.25, "line 2, column val_loss: 0.25")),
        ("m.json", '{"final": {"val_loss": 0.25}}', (0.25, "final.val_loss: 0.25")),
        ("m.jsonl", '{"val_loss": 1}\n{"val_loss": 0.25}\n', (0.25, "val_loss: 0.25")),
        ("state.json", '{"log": [{"val_loss": 1}, {"val_loss": 0.25}, {}]}', (0.25, None)),
        ("log.txt", "val_loss: 0.25\n", (0.25, "val_loss: 0.25")),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, found: tuple[float, str | None]) -> None:
    (tmp_path / name).write_text(text)
    match = in_file(str(tmp_path / name), "val_loss")
    assert match is not None
    assert match.value == found[0]
    assert found[1] in (None, match.text)


def test_a_column_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("epoch,loss\n0,1\n")
    with pytest.raises(GuardError, match="no column 'val_loss'; it has epoch, loss"):
        in_file(str(tmp_path / "m.csv"), "val_loss")
