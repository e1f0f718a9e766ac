"""What command lines launch."""

from __future__ import annotations

import pytest

from detlint.documents import shell
from detlint.documents.document import Command
from detlint.documents.launches import Launch, launched

TRAIN = "train.py --lr 1"


def launch(text: str) -> Launch | None:
    found = [each for each in shell.parse(text) if isinstance(each, Command)]
    return launched(found[-1])


@pytest.mark.parametrize(
    ("text", "launcher", "processes", "nodes"),
    [
        (f"python {TRAIN}", "python", 1, 1),
        (f"python3.11 -u -W ignore -X faulthandler {TRAIN}", "python", 1, 1),
        (f"/opt/conda/bin/python -OO {TRAIN}", "python", 1, 1),
        (f"ipython {TRAIN}", "python", 1, 1),
        (f"$LAUNCHER python {TRAIN}", "python", None, None),
        (f"python $OPTIONS {TRAIN}", "python", 1, 1),
        (f"srun $OPTIONS python {TRAIN}", "srun", None, None),
        (f"coverage run -p {TRAIN}", "python", 1, 1),
        (f"python -m coverage run --source x {TRAIN}", "python", 1, 1),
        (f"python -m cProfile -o out {TRAIN}", "python", 1, 1),
        (f"python -m pdb -c continue {TRAIN}", "python", 1, 1),
        (f"uv run {TRAIN}", "python", 1, 1),
        (f"torchrun {TRAIN}", "torchrun", 1, 1),
        (f"torchrun --nproc-per-node 8 --nnodes 2 {TRAIN}", "torchrun", 16, 2),
        (f"torchrun --standalone --nproc_per_node=4 {TRAIN}", "torchrun", 4, 1),
        (f"torchrun --nproc_per_node 4 --standalone -- {TRAIN}", "torchrun", 4, 1),
        (f"torchrun --nproc_per_node=gpu {TRAIN}", "torchrun", None, 1),
        (f"torchrun --nnodes=1:4 --nproc_per_node=8 {TRAIN}", "torchrun", None, None),
        (f"torchrun --nproc_per_node $N {TRAIN}", "torchrun", None, 1),
        (f"torchrun $ARGS --nproc_per_node 2 {TRAIN}", "torchrun", 2, 1),
        (f"python -m torch.distributed.run --nproc_per_node 2 {TRAIN}", "torchrun", 2, 1),
        (f"python -m torch.distributed.launch --use_env {TRAIN}", "torchrun", 1, 1),
        (f"torchrun --nproc_per_node 2 --no_python python {TRAIN}", "torchrun", 2, 1),
        (f"srun -n 4 torchrun --nproc_per_node 2 --nnodes 4 {TRAIN}", "torchrun", 8, 4),
        (f"accelerate launch --multi_gpu --num_processes 8 {TRAIN}", "accelerate", 8, None),
        (f"accelerate launch --config_file a.yaml {TRAIN}", "accelerate", None, None),
        (f"python -m accelerate.commands.launch --use_fsdp {TRAIN}", "accelerate", None, None),
        (f"deepspeed --num_gpus 8 {TRAIN}", "deepspeed", 8, 1),
        (f"deepspeed --hostfile h --num_gpus 8 {TRAIN}", "deepspeed", None, None),
        (f"deepspeed {TRAIN}", "deepspeed", None, 1),
        (f"colossalai run --nproc_per_node 4 {TRAIN}", "colossalai", 4, 1),
        (f"fabric run --devices 2 {TRAIN}", "fabric", 2, 1),
        (f"lightning run model --devices 2 {TRAIN}", "fabric", 2, 1),
        (f"horovodrun -np 4 python {TRAIN}", "horovodrun", 4, None),
        (f"mpirun -np 8 --bind-to none -x A=b python {TRAIN}", "mpirun", 8, None),
        (f"mpiexec -n $N python {TRAIN}", "mpirun", None, None),
        (f"srun -n4 python {TRAIN}", "srun", 4, None),
        (f"srun --nodes=2 --ntasks-per-node=8 python {TRAIN}", "srun", 16, 2),
        (f"srun python {TRAIN}", "srun", None, None),
    ],
)
def test_a_script_is_launched(
    text: str, launcher: str, processes: int | None, nodes: int | None
) -> None:
    found = launch(text)
    assert found is not None
    assert (found.launcher, found.processes, found.nodes) == (launcher, processes, nodes)
    assert found.script is not None
    assert found.script.text == "train.py"
    assert [each.text for each in found.arguments] == ["--lr", "1"]


@pytest.mark.parametrize(
    "text",
    [
        *("python -m pkg.mod --lr 1", "python -um pkg.mod --lr 1", "python -mpkg.mod --lr 1"),
        "torchrun --nproc_per_node 2 -m pkg.mod --lr 1",
        "accelerate launch --module pkg.mod --lr 1",
        "deepspeed --module pkg.mod --lr 1",
        "python -m torch.distributed.run -m pkg.mod --lr 1",
    ],
)
def test_a_module_is_launched(text: str) -> None:
    found = launch(text)
    assert found is not None
    assert found.script is None
    assert found.module is not None
    assert found.module.text == "pkg.mod"
    assert [each.text for each in found.arguments] == ["--lr", "1"]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("python $SCRIPT --lr 1", ["--lr", "1"]),
        ("python -u $HERE/train.py --lr 1", ["--lr", "1"]),
        ("torchrun --nproc_per_node 2 $SCRIPT --lr 1", ["--lr", "1"]),
    ],
)
def test_a_script_may_not_be_known(text: str, arguments: list[str]) -> None:
    found = launch(text)
    assert found is not None
    assert found.script is not None
    assert found.script.text is None
    assert [each.text for each in found.arguments] == arguments


def test_code_in_the_command_has_neither() -> None:
    found = launch("python -c 'import torch' a")
    assert found is not None
    assert (found.script, found.module, [each.text for each in found.arguments]) == (
        None,
        None,
        ["a"],
    )


@pytest.mark.parametrize(
    "text",
    [
        "ls train.py",
        "python",
        "python -",
        "accelerate config",
        "pip install a",
        "coverage html",
        "python -m",
    ],
)
def test_nothing_is_launched(text: str) -> None:
    assert launch(text) is None


def test_what_the_job_asks_for_counts() -> None:
    command = Command(0, 0, *_parts("srun python train.py"))
    environment = {"SLURM_NTASKS_PER_NODE": "4", "SLURM_NNODES": "2"}
    found = launched(command._replace(environment=environment))
    assert found is not None
    assert (found.processes, found.nodes) == (8, 2)


def _parts(text: str) -> tuple[object, ...]:
    (command,) = (each for each in shell.parse(text) if isinstance(each, Command))
    return command[2:]


def test_the_environment_is_handed_on() -> None:
    found = launch("export A=b\nC=d torchrun train.py")
    assert found is not None
    assert found.environment == {"A": "b", "C": "d"}
