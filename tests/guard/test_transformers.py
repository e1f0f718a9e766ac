"""The callback for Hugging Face's Trainer, in processes of their own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from forks import TORCH, Forks, result_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = '''
import hashlib, json, logging, os, random, sys, warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
options = json.loads(sys.argv[1])
from transformers import Trainer, TrainerCallback, TrainingArguments
import guard
from guard.integrations.transformers import GuardCallback

class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        noise = 0.0
        if options.get("streams"):
            noise = torch.rand(1, generator=guard.generator("noise")).item()
        return {"x": torch.arange(4.0) * index + noise}

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(torch.rand(1000, generator=generator))
        self.index = torch.arange(200_000) % 1000
        self.drop = torch.nn.Dropout()
        self.gradients = hashlib.sha256()
        self.weight.register_hook(lambda grad: self.gradients.update(grad.numpy().tobytes()))

    def forward(self, x):
        if options.get("fails"):
            raise ZeroDivisionError
        noise = random.random() + np.random.rand()
        if options.get("streams"):
            noise += torch.rand(1, generator=guard.generator("forward")).item()
        picked = self.drop(self.weight)[self.index] * torch.arange(200_000.0).cos()
        return {"loss": picked.sum() * (x.mean() + noise) * 1e-6}

def trainer(*callbacks, **more):
    guarded = [GuardCallback(**options["guard"])] if "guard" in options else []
    given = dict(
        output_dir="out", num_train_epochs=2, per_device_train_batch_size=2, use_cpu=True,
        save_strategy="no", report_to=[], disable_tqdm=True, learning_rate=0.1, seed=11,
    )
    arguments = TrainingArguments(**{**given, **options.get("arguments", {}), **more})
    return Trainer(Model(), arguments, train_dataset=Noisy(), callbacks=[*guarded, *callbacks])

def train(trainer, **more):
    """The weights and, as Adam's steps hide how a gradient was rounded, a digest of those."""
    trainer.train(**more)
    return trainer.model.weight.tolist(), trainer.model.gradients.hexdigest()
'''


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Trainer, which takes five seconds to import."""
    if find_spec("transformers") is None or find_spec("accelerate") is None:
        pytest.skip("transformers or accelerate is not installed")
    parent = Forks(tmp_path_factory.mktemp("forks"), *TORCH, "transformers.trainer")
    yield parent
    parent.close()


TWICE = """
def unseeded(trainer):
    random.seed()  # as a library may, after Trainer has seeded when it was made
    return train(trainer)

seeded = options.pop("guard")
result = {"free": unseeded(trainer(num_train_epochs=4))}
options["guard"] = {}
result["guarded"] = unseeded(trainer(num_train_epochs=4))
options["guard"] = seeded
"""
RESUMED = """
for name, more in {
    "by epoch": dict(save_strategy="epoch"),
    "by step": dict(save_strategy="steps", save_steps=1),
    "restored": dict(save_strategy="epoch", restore_callback_states_from_checkpoint=True),
}.items():
    options["streams"] = "epoch" in name
    more |= dict(output_dir=name, num_train_epochs=3)
    if options["whole"]:
        result[name] = [train(trainer(**more))[0]] * 2
    else:
        steps = (3, 6) if name == "by step" else (4, 8)
        result[name] = [
            train(trainer(**more), resume_from_checkpoint=f"{name}/checkpoint-{step}")[0]
            for step in steps
        ]
"""
SEMANTICS = """
options["streams"] = False

class Watching(TrainerCallback):
    def on_step_begin(self, args, state, control, **more):
        self.seen = guard.active().seed, torch.are_deterministic_algorithms_enabled()

def state():
    determined = torch.are_deterministic_algorithms_enabled()
    return torch.get_rng_state().tolist(), random.getstate(), determined

class Before(TrainerCallback):  # Trainer seeds when it is made, and again for model_init
    def on_train_begin(self, args, trainer_state, control, **more):
        self.state = state()

def attempt(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
            error = None
        except Exception as raised:
            error = [type(raised).__name__, str(raised)]
    return error, [str(each.message) for each in caught]

watching, before = Watching(), Before()
options["guard"] = {}
first = trainer(watching, num_train_epochs=1)
first.callback_handler.callbacks.insert(0, before)
train(first)
result["of the arguments"] = watching.seen
result["put back"] = before.state == state() and guard.active() is None
options["guard"] = {"seed": 5}
train(trainer(watching, num_train_epochs=1))
result["given"] = watching.seen

options["fails"] = True
result["error"] = attempt(lambda: train(trainer()))[0]
result["on after an error"] = guard.active() is not None
options["fails"] = False
train(trainer(watching, num_train_epochs=1))
result["off after the next"] = watching.seen[0], guard.active() is None

class Nested(TrainerCallback):
    def on_step_end(self, args, state, control, **more):
        if state.global_step == 1:
            options["guard"] = {}
            train(trainer(num_train_epochs=1, seed=12))
            self.seen = guard.active().seed, state.epoch

nested = Nested()
train(trainer(nested, num_train_epochs=1))
result["within another"] = nested.seen, guard.active() is None

contrary = dict(
    full_determinism=True, auto_find_batch_size=True, save_only_model=True, save_strategy="epoch",
    num_train_epochs=1, output_dir="contrary",
)
result["told"] = attempt(lambda: train(trainer(**contrary)))
torch.use_deterministic_algorithms(False)
result["resumed"] = attempt(
    lambda: trainer(ignore_data_skip=True, num_train_epochs=2, output_dir="contrary").train(
        resume_from_checkpoint="contrary/checkpoint-4"
    )
)

options["fails"] = True
attempt(lambda: train(trainer()))
options["fails"] = False
guard.disable()
guard.enable(seed=7)
options["guard"] = {"seed": 5}
result["another"] = attempt(lambda: train(trainer()))[0]
options["guard"] = {}
train(trainer(watching, num_train_epochs=1))
result["enabled"] = watching.seen, guard.active().seed
guard.disable()

del options["guard"]
train(trainer(save_strategy="epoch", num_train_epochs=1, output_dir="free"))
options["guard"] = {"seed": 0}
free = dict(num_train_epochs=2, output_dir="free", save_strategy="epoch")
result["no state"] = attempt(
    lambda: trainer(**free).train(resume_from_checkpoint="free/checkpoint-4")
)
result["no seed"] = attempt(lambda: GuardCallback(seed=-1))[0]
"""


@pytest.fixture(scope="module")
def processes(imported: Forks, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What two processes found, to which importing Trainer would be most of their work.

    Both train with the callback and without. The second goes on from checkpoints of the
    first, and tries everything else.
    """
    folder, given = tmp_path_factory.mktemp("trainings"), {"guard": {"seed": 3}}
    return [
        result_of(imported, folder, PROGRAM + TWICE + RESUMED, whole=True, **given),
        result_of(imported, folder, PROGRAM + TWICE + RESUMED + SEMANTICS, whole=False, **given),
    ]


@pytest.fixture
def semantics(processes: list[dict[str, Any]]) -> dict[str, Any]:
    return processes[1]


def test_two_trainings_agree_bitwise_with_the_callback_only(
    processes: list[dict[str, Any]],
) -> None:
    first, second = processes
    assert first["guarded"] == second["guarded"]
    assert first["free"] != second["free"]


def test_interrupted_is_uninterrupted(processes: list[dict[str, Any]]) -> None:
    whole, resumed = processes
    assert whole["by epoch"] != whole["by step"]
    for name in ("by epoch", "by step", "restored"):
        assert resumed[name] == whole[name]


def test_the_training_is_guarded_and_everything_is_put_back(semantics: dict[str, Any]) -> None:
    assert semantics["of the arguments"] == [11, True]
    assert semantics["given"] == [5, True]
    assert semantics["put back"]


def test_after_an_error_guard_is_on_until_the_next_training_ends(semantics: dict[str, Any]) -> None:
    assert semantics["error"] == ["ZeroDivisionError", ""]
    assert semantics["on after an error"]
    assert semantics["off after the next"] == [5, True]
    assert semantics["within another"] == [[5, 0.25], True]


def test_a_guard_that_is_on_stays_as_it_is(semantics: dict[str, Any]) -> None:
    assert semantics["enabled"] == [[7, True], 7]
    kind, said = semantics["another"]
    assert kind == "SettingsError"
    assert said.startswith("guard is on already, with Settings(seed=7,")
    assert "asks for {'seed': 5}: give the settings to guard.enable" in said


def test_arguments_that_contradict_it_are_told(semantics: dict[str, Any]) -> None:
    error, told = semantics["told"]
    assert error is None
    for start in (
        "full_determinism=True s",
        "auto_find_batch_size=True c",
        "save_only_model=True l",
    ):
        assert [each.startswith(start) for each in told].count(True) == 1, told
    error, told = semantics["resumed"]
    assert error is None
    assert any(each.startswith("ignore_data_skip=True begins the data") for each in told)


def test_a_checkpoint_without_states_is_told(semantics: dict[str, Any]) -> None:
    error, told = semantics["no state"]
    assert error is None
    assert any(each.startswith("the checkpoint holds the generators of none") for each in told)


def test_a_wrong_setting_is_refused_at_once(semantics: dict[str, Any]) -> None:
    kind, said = semantics["no seed"]
    assert kind == "SettingsError"
    assert said.startswith("a seed is an integer from 0 to 4294967295, not -1")


RANKS = """
os.environ["RANK"] = os.environ["LOCAL_RANK"] = "01"[os.fork() == 0]

class Noting(TrainerCallback):
    drawn = []

    def on_step_begin(self, args, state, control, **more):
        by_name = torch.rand(1, generator=guard.generator("ranks")).item()
        self.drawn.append([state.global_step, random.random(), torch.rand(1).item(), by_name])

one = trainer(Noting(), save_strategy="epoch", ddp_backend="gloo", num_train_epochs=2)
one.train(resume_from_checkpoint=None if options["whole"] else "out/checkpoint-2")
with open(f"rank-{os.environ['RANK']}.json", "w") as file:
    json.dump(Noting.drawn, file)
result = []
if os.environ["RANK"] == "0":
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
"""


def launched() -> dict[str, str]:
    """What a launcher of two ranks tells each; they fork when all is imported."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = str(probe.getsockname()[1])
    address = {"MASTER_ADDR": "localhost", "MASTER_PORT": port}
    return {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", **address}


def test_every_rank_goes_on_where_it_was(tmp_path: Path, imported: Forks) -> None:
    drawn = []
    for whole in (True, False):
        options = {"guard": {"seed": 3, "rank_offset": True}, "environ": launched()}
        result_of(imported, tmp_path, PROGRAM + RANKS, whole=whole, **options)
        files = [tmp_path / f"rank-{rank}.json" for rank in range(2)]
        drawn.append([json.loads(file.read_text()) for file in files])
    (first, second), resumed = drawn
    assert not {each[3] for each in first} & {each[3] for each in second}
    assert resumed == [[each for each in rank if each[0] >= 2] for rank in (first, second)]


def test_without_transformers_it_says_how_to_install_it(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['transformers'] = None"
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}; import guard.transformers"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert 'guard.transformers needs transformers: pip install "transformers[torch]"' in done.stderr
