"""The Lightning callback, with both libraries, in processes of their own."""

from __future__ import annotations

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


def needing(library: str) -> Any:  # noqa: ANN401 - what pytest.param gives
    is_there = find_spec(library.partition(".")[0]) is not None
    mark = pytest.mark.skipif(not is_there, reason=f"{library} is not installed")
    return pytest.param(library, marks=mark)


LIGHTNING = needing("lightning.pytorch")
LIBRARIES = [LIGHTNING, needing("pytorch_lightning")]

PROGRAM = """
import importlib, json, logging, os, random, sys, warnings

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

warnings.simplefilter("ignore")
options = json.loads(sys.argv[1])
L = importlib.import_module(options["library"])
logging.getLogger(options["library"]).setLevel(logging.ERROR)
import guard
from guard.integrations.lightning import GuardCallback

class Augmented(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        noise = random.random() + np.random.rand()
        if options.get("streams"):
            noise += torch.rand(1, generator=guard.generator("noise")).item()
        return torch.arange(4.0) * index + noise

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(torch.rand(1000, generator=generator))
        self.index = torch.arange(20_000) % 1000
        self.drop = torch.nn.Dropout()

    def training_step(self, batch, index):
        if options.get("fails"):
            raise ZeroDivisionError
        if options.get("refuses"):
            options["put"](torch.zeros(3), torch.tensor([0, 0]), torch.ones(2))
        picked = self.drop(self.weight)[self.index] * torch.arange(20_000.0).cos()
        return picked.sum() * batch.mean() * 1e-6

    def validation_step(self, batch, index):
        torch.rand(1)

    test_step = validation_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

def loader(**more):
    return DataLoader(Augmented(), batch_size=2, num_workers=options.get("workers", 0), **more)

def trainer(*callbacks, **more):
    guarded = [GuardCallback(**options["guard"])] if "guard" in options else []
    given = dict(
        max_epochs=options.get("epochs", 2), accelerator="cpu", devices=1, logger=False,
        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
    )
    return L.Trainer(callbacks=[*guarded, *callbacks], **{**given, **more})

def saving(folder, **more):
    checkpoint = L.callbacks.ModelCheckpoint(
        dirpath=folder, filename="{epoch}-{step}", save_top_k=-1, **more
    )
    return trainer(checkpoint, enable_checkpointing=True)

def fit(trainer, **more):
    model = Model()
    trainer.fit(model, loader(shuffle=True), loader() if options.get("validates") else None, **more)
    return model.weight.tolist()
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Lightning, which takes five seconds to import."""
    if find_spec("lightning") is None:
        pytest.skip("lightning is not installed")
    parent = Forks(tmp_path_factory.mktemp("forks"), *TORCH, "lightning.pytorch")
    yield parent
    parent.close()


TWICE = """
options["epochs"] = 2
guarded = options.pop("guard")
result = {"free": fit(trainer())}
options["guard"] = {"seed": 0}
result["guarded"] = fit(trainer())
options.update(guard=guarded, epochs=3)
"""
RESUMED = """
for name, more in {
    "plain": {},
    "workers": {"workers": 2},
    "validated, with a generator by name": {"validates": True, "streams": True},
}.items():
    options.update(more)
    saved = name[:5] + "/epoch={}-step={}.ckpt"
    if options["whole"]:
        result[name] = [fit(saving(name[:5]))] * 3
        trained = trainer(max_epochs=1)
        fit(trained)
        trained.save_checkpoint(name[:5] + "/after.ckpt")
    else:
        paths = saved.format(0, 4), saved.format(1, 8), name[:5] + "/after.ckpt"
        result[name] = [fit(trainer(), ckpt_path=path) for path in paths]
"""
SEMANTICS = """
options = {}
from torch import put

def state():
    flags = torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(False)
    return [torch.get_rng_state().tolist(), random.getstate(), *flags]

class Watching(L.Callback):
    seen = {}

    def on_train_start(self, trainer, module):
        flags = (
            torch.is_deterministic_algorithms_warn_only_enabled(), torch.backends.cudnn.benchmark
        )
        self.seen["fit"] = [guard.active().seed, guard.active().fill, *flags]

    def on_validation_start(self, trainer, module):
        self.seen["validate"] = guard.active().seed

    def on_test_start(self, trainer, module):
        self.seen["test"] = guard.active().seed

    def on_predict_start(self, trainer, module):
        self.seen["predict"] = guard.active().seed

def attempt(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
            error = None
        except Exception as raised:
            error = [type(raised).__name__, str(raised), *getattr(raised, "__notes__", [])]
    return error, [str(each.message) for each in caught]

watching = Watching()
before = state()
options["guard"] = {"seed": 5}
one = trainer(watching, max_epochs=1, enable_checkpointing=True)
fit(one)
model = Model()
one.validate(model, loader(), verbose=False)
one.test(model, loader(), verbose=False)
model.forward = lambda batch: batch
one.predict(model, loader(), return_predictions=False)
result["stages"] = dict(watching.seen)
result["put back"] = state() == before and guard.active() is None

options["fails"] = True
result["error"] = attempt(lambda: fit(trainer()))[0]
result["put back after an error"] = state() == before and guard.active() is None
options.update(fails=False, refuses=True, put=put)
result["refusal"] = attempt(lambda: fit(trainer()))[0]
options["refuses"] = False

class Sizes(L.callbacks.BatchSizeFinder):
    setup = on_fit_start = lambda *given, **more: None

measuring = trainer(
    watching, Sizes(), max_time="00:01:00:00", benchmark=True, deterministic="warn"
)
result["warnings"] = attempt(lambda: fit(measuring))
result["flags within"] = watching.seen.pop("fit")[2:]
state()

guard.enable(seed=7, fill=False)
options["guard"] = {}
fit(trainer(watching, max_epochs=1))
result["inherited"] = watching.seen.pop("fit")[:2]
options["guard"] = {"fill": True}
fit(trainer(watching, max_epochs=1))
result["given"] = watching.seen.pop("fit")[:2]
result["still enabled"] = guard.active().seed
guard.disable()

one.save_checkpoint("guarded.ckpt")
del options["guard"]
two = trainer(max_epochs=1)
fit(two)
two.save_checkpoint("free.ckpt")
options["guard"] = {"seed": 0}
result["another seed"] = attempt(lambda: fit(trainer(), ckpt_path="guarded.ckpt"))[0]
result["no state"] = attempt(lambda: fit(trainer(), ckpt_path="free.ckpt"))
result["no seed"] = attempt(lambda: GuardCallback(seed=-1))[0]
"""


def resumed(forks: Forks, folder: Path, library: str, more: str = "") -> list[dict[str, Any]]:
    """What two processes found, to which importing Lightning would be most of their work.

    Both fit with the callback and without. The second goes on from checkpoints of the first.
    """
    given = {"guard": {"seed": 3}, "library": library}
    return [
        result_of(forks, folder, PROGRAM + TWICE + RESUMED, whole=True, **given),
        result_of(forks, folder, PROGRAM + TWICE + RESUMED + more, whole=False, **given),
    ]


@pytest.fixture(scope="module")
def processes(imported: Forks, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """With Lightning, of which the second tries everything else, too."""
    return resumed(imported, tmp_path_factory.mktemp("fits"), "lightning.pytorch", SEMANTICS)


@pytest.fixture
def semantics(processes: list[dict[str, Any]]) -> dict[str, Any]:
    return processes[1]


def check(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Guarded fits agree bitwise, free ones do not; the interrupted are the uninterrupted."""
    assert first["guarded"] == second["guarded"]
    assert first["free"] != second["free"]
    assert first["plain"] != first["workers"]
    for name in ("plain", "workers", "validated, with a generator by name"):
        assert second[name] == first[name]


def test_fits_agree_bitwise_with_the_callback_only_and_interrupted_is_uninterrupted(
    processes: list[dict[str, Any]],
) -> None:
    check(*processes)


@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_so_they_do_with_the_older_package(tmp_path: Path, library: str) -> None:
    forks = Forks(tmp_path, *TORCH, library)
    try:
        check(*resumed(forks, tmp_path, library))
    finally:
        forks.close()


def test_every_stage_is_guarded_and_everything_is_put_back(semantics: dict[str, Any]) -> None:
    guarded = {"fit": [5, True, False, False], "validate": 5, "test": 5, "predict": 5}
    assert semantics["stages"] == guarded
    assert semantics["put back"]


def test_an_error_passes_through_and_everything_is_put_back(semantics: dict[str, Any]) -> None:
    assert semantics["error"] == ["ZeroDivisionError", ""]
    assert semantics["put back after an error"]


def test_a_refusal_that_no_wrapper_saw_gets_a_note(semantics: dict[str, Any]) -> None:
    kind, _, *notes = semantics["refusal"]
    assert kind == "RuntimeError"
    if sys.version_info >= (3, 11):
        assert "torch.Tensor.put_ has no deterministic implementation" in notes[0]
        assert "program.py" in notes[0]
        assert "in training_step" in notes[0]


def test_what_contradicts_it_is_told_and_overruled(semantics: dict[str, Any]) -> None:
    error, told = semantics["warnings"]
    assert error is None
    for part in (
        "cuDNN is set to choose its kernels by timing them, by Trainer(benchmark=True)",
        'torch is set to warn only, by Trainer(deterministic="warn")',
        "Trainer(max_time=...), ends the training by the clock",
        "BatchSizeFinder chooses the batch size by the memory that is free",
    ):
        assert [part in each for each in told].count(True) == 1, told
    assert semantics["flags within"] == [False, False]


def test_what_is_not_given_is_as_guard_enable_has_it(semantics: dict[str, Any]) -> None:
    assert semantics["inherited"] == [7, False]
    assert semantics["given"] == [7, True]
    assert semantics["still enabled"] == 7


def test_a_checkpoint_that_cannot_be_gone_on_from_is_told(semantics: dict[str, Any]) -> None:
    kind, said = semantics["another seed"]
    assert kind == "GuardError"
    assert said.startswith("this state was saved under the seed 5, and guard's is 0 here")
    error, told = semantics["no state"]
    assert error is None
    assert any(each.startswith("the checkpoint holds the generators of none") for each in told)


def test_a_wrong_setting_is_refused_at_once(semantics: dict[str, Any]) -> None:
    kind, said = semantics["no seed"]
    assert kind == "SettingsError"
    assert said.startswith("a seed is an integer from 0 to 4294967295, not -1")


RANKS = """
os.environ["LOCAL_RANK"] = "01"[os.fork() == 0]

class Noisy(Model):
    drawn, of_all, rank = [], [None, None], 0

    def training_step(self, batch, index):
        self.drawn.append([self.current_epoch, random.random(), torch.rand(1).item()])
        return super().training_step(batch, index)

    def on_train_end(self):
        torch.distributed.all_gather_object(self.of_all, self.drawn)
        Noisy.rank = torch.distributed.get_rank()

Model = Noisy
two = dict(strategy="ddp", devices=2, accelerator="cpu", use_distributed_sampler=False)
if options["whole"]:
    plain = saving
    trainer = lambda *given, make=trainer, **more: make(*given, **{**more, **two})
    fit(saving("saved"))
else:
    fit(trainer(**two), ckpt_path="saved/epoch=0-step=4.ckpt")
if Noisy.rank:
    sys.exit()
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
result = Noisy.of_all
"""


def launched() -> dict[str, str]:
    """What a launcher of two ranks tells each; they fork when all is imported."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = str(probe.getsockname()[1])
    return {"WORLD_SIZE": "2", "NODE_RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": port}


@pytest.mark.parametrize("library", [LIGHTNING])
def test_every_rank_goes_on_where_it_was(tmp_path: Path, imported: Forks, library: str) -> None:
    given = {"guard": {"seed": 3, "rank_offset": True}, "library": library}
    first, second = result_of(
        imported, tmp_path, PROGRAM + RANKS, whole=True, environ=launched(), **given
    )
    later = result_of(imported, tmp_path, PROGRAM + RANKS, whole=False, environ=launched(), **given)
    assert not {each[1] for each in first} & {each[1] for each in second}
    assert later == [[each for each in rank if each[0] == 1] for rank in (first, second)]


def test_without_lightning_it_says_how_to_install_it(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules.update(dict.fromkeys(('lightning', 'pytorch_lightning')))"
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}; import guard.lightning"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr.endswith("guard.lightning needs Lightning: pip install lightning\n")
