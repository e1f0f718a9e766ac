"""Recording the training loops of libraries, and compiled and replicated models."""

# ruff: noqa: ANN401 - models take and give anything

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

import guard  # noqa: E402
from guard.trace import Step, Trace, open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        return self.head(self.body(x).relu())


def data() -> TensorDataset:
    torch.manual_seed(1)
    return TensorDataset(torch.randn(16, 4), torch.randint(2, (16,)))


def twice(folder: Path, program: Callable[[], nn.Module]) -> Trace:
    """Twice under recording and once without: the same parameters, the same traces."""
    outcomes = [program()]
    for name in ("a", "b"):
        with guard.record(folder / name):
            outcomes.append(program())
    plain, *others = [[each.tolist() for each in found.parameters()] for found in outcomes]
    assert others == [plain, plain]
    (first,), (second,) = open_run(folder / "a"), open_run(folder / "b")
    assert len(first) == len(second)
    for index in range(len(first)):
        assert first.raw(index) == second.raw(index), index
    return first


def kinds(trace: Trace) -> list[str]:
    return [each.kind for each in trace.steps()]


def names(step: Step, kind: str) -> list[str]:
    return [each.name for each in step.events if each.kind == kind]


def test_compiled_models_are_seen_from_outside(tmp_path: Path) -> None:
    import torch._dynamo

    def program() -> nn.Module:
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = Net()
        compiled: Any = torch.compile(model, backend="aot_eager")
        optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
        for x, y in DataLoader(data(), batch_size=8):
            optimizer.zero_grad()
            nn.functional.cross_entropy(compiled(x), y).backward()
            optimizer.step()
        return model

    trace = twice(tmp_path, program)
    assert kinds(trace)[:2] == ["training", "training"]
    assert names(trace.step(1), "output")[-1] == "OptimizedModule"
    assert "body" not in names(trace.step(1), "output")
    assert names(trace.step(1), "gradient") == [
        *("head.bias", "head.weight", "body.bias", "body.weight")
    ]


def test_data_parallel_models_have_the_names_of_their_own(tmp_path: Path) -> None:
    def program() -> nn.Module:
        torch.manual_seed(0)
        model = nn.DataParallel(Net())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in DataLoader(data(), batch_size=8):
            optimizer.zero_grad()
            logits = model(x)  # on a GPU where there is one
            nn.functional.cross_entropy(logits, y.to(logits.device)).backward()
            optimizer.step()
        return model

    trace = twice(tmp_path, program)
    assert names(trace.step(1), "output") == ["body", "head", "Net", "DataParallel"]
    assert names(trace.step(0), "parameter")[0] == "body.weight"


@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning.pytorch")

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net, self.loss = Net(), nn.CrossEntropyLoss()

        def training_step(self, batch: Any) -> Any:
            return self.loss(self.net(batch[0]), batch[1])

        def validation_step(self, batch: Any) -> None:
            self.log("val", self.training_step(batch))

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters())

    def program() -> nn.Module:
        lightning.seed_everything(0, verbose=False)
        module = Module()
        trainer = lightning.Trainer(
            max_epochs=1,
            accelerator="cpu",
            accumulate_grad_batches=2,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=1,
        )
        trainer.fit(module, DataLoader(data(), batch_size=4), DataLoader(data(), batch_size=8))
        return module

    trace = twice(tmp_path, program)
    assert kinds(trace) == ["evaluation", *["training"] * 2, *["evaluation"] * 2, "end"]
    assert names(trace.step(0), "output") == ["net.body", "net.head", "net", "loss"]
    assert names(trace.step(1), "gradient") == [
        *("net.head.bias", "net.head.weight", "net.body.bias", "net.body.weight")
    ]
    assert len(names(trace.step(1), "loss")) == 2


@pytest.mark.filterwarnings("ignore")
def test_hugging_face_trainer(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    def program() -> nn.Module:
        transformers.set_seed(0)
        config = transformers.GPT2Config(
            vocab_size=16,
            n_positions=8,
            n_embd=8,
            n_layer=1,
            n_head=2,
            bos_token_id=0,
            eos_token_id=0,
        )
        model: nn.Module = transformers.GPT2LMHeadModel(config)
        rows = [{"input_ids": [each % 16] * 4, "labels": [each % 16] * 4} for each in range(8)]
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path / "out"),
            max_steps=2,
            per_device_train_batch_size=2,
            gradient_accumulation_steps=2,
            report_to=[],
            save_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
        )
        transformers.Trainer(model=model, args=arguments, train_dataset=rows).train()
        return model

    trace = twice(tmp_path, program)
    assert kinds(trace) == ["training", "training", "end"]
    assert "transformer.h.0.attn" in names(trace.step(0), "output")
    assert sum(names(step, "batch").count("list") for step in trace.steps()) == 4  # one ahead
    assert len(names(trace.step(0), "loss")) == 2
    batch = next(each for each in trace.step(0).events if each.kind == "batch")
    assert batch.place is not None
    assert batch.place.filename == __file__


def test_accelerate(tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate")

    def program() -> nn.Module:
        accelerate.utils.set_seed(0)
        accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
        model = Net()
        wrapped, optimizer, loader = accelerator.prepare(
            model, torch.optim.SGD(model.parameters(), lr=0.1), DataLoader(data(), batch_size=4)
        )
        for x, y in loader:
            with accelerator.accumulate(wrapped):
                accelerator.backward(nn.functional.cross_entropy(wrapped(x), y))
                optimizer.step()
                optimizer.zero_grad()
        return model

    trace = twice(tmp_path, program)
    assert kinds(trace) == ["training", "training", "end"]
    assert names(trace.step(0), "batch").count("TensorDataset") == 3  # one ahead


def test_the_number_of_threads_is_that_of_training(tmp_path: Path) -> None:
    model, before = Net(), torch.get_num_threads()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    try:
        with guard.record(tmp_path / "run"):
            with torch.no_grad():
                for _ in range(2):
                    model.eval()(torch.ones(2, 4))
            torch.set_num_threads(before + 1)
            model.train()(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    finally:
        torch.set_num_threads(before)
    (trace,) = open_run(tmp_path / "run")
    assert kinds(trace)[:3] == ["evaluation", "evaluation", "training"]
    held = trace.header.environment
    assert held["items"]["torch: threads"] == before
    assert held["later"]["torch: threads"] == before + 1
