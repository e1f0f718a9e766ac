"""What a recording sees of a program, and that the program does not see the recording."""

# ruff: noqa: ANN401 - models take and give anything

from __future__ import annotations

import random
import threading
import warnings
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402
from written_events import label_of  # noqa: E402

import guard  # noqa: E402
from guard.digests import generators as own_generators  # noqa: E402
from guard.digests import tensors  # noqa: E402
from guard.digests.structures import fingerprint  # noqa: E402
from guard.recording import calls, generators, recorder  # noqa: E402
from guard.recording.recording import running  # noqa: E402
from guard.recording.session import Options  # noqa: E402
from guard.trace import Event, Step, Trace, open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.drop = nn.Dropout()
        self.head = nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        return self.head(self.drop(self.body(x)))


DATA = TensorDataset(torch.randn(24, 4), torch.randint(2, (24,)))


def recorded(folder: Path, program: Callable[[], object], **options: Any) -> Trace:
    with running(folder, Options(**options), ["program.py"], overwrite=True):
        program()
    (trace,) = open_run(folder)
    return trace


def names(step: Step, *kinds: str) -> list[str]:
    return [each.name for each in step.events if each.kind in kinds]


def of(step: Step, kind: str, name: str = "") -> list[Event]:
    return [each for each in step.events if each.kind == kind and name in ("", each.name)]


def kinds(trace: Trace) -> list[str]:
    return [each.kind for each in trace.steps() if each.kind != "end"]


def train(model: nn.Module, epochs: int = 1) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for _ in range(epochs):
        for x, y in DataLoader(DATA, batch_size=8, shuffle=True):
            optimizer.zero_grad()
            functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            schedule.step()


MODELS: list[nn.Module] = []  # that are there at the end


def program() -> nn.Module:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    model = Net()
    MODELS[:] = [model]
    train(model)
    return model


def test_a_step_tells_what_happened_in_order(tmp_path: Path) -> None:
    trace = recorded(tmp_path, program)
    assert [each.kind for each in trace.steps()] == ["training"] * 3 + ["end"]
    first, second = trace.step(0), trace.step(1)
    order = [each.kind for each in first.events]
    for earlier, later in (
        ("batch", "parameter"),
        ("parameter", "output"),
        ("output", "loss"),
        ("loss", "hyperparameter"),
        ("hyperparameter", "gradient"),
        ("gradient", "optimizer"),
    ):
        assert order.index(earlier) < order.index(later)
    assert names(second, "output") == ["body.0", "body.1", "body.2", "body", "drop", "head", "Net"]
    assert names(second, "gradient") == [
        *("head.bias", "head.weight", "body.1.bias", "body.1.weight", "body.0.bias"),
        "body.0.weight",
    ]
    assert names(second, "parameter", "buffer", "optimizer") == ["AdamW"]
    assert names(first, "buffer")[0] == "body.1.running_mean"
    assert "AdamW.exp_avg.head.weight" in names(first, "optimizer")
    assert len(names(trace.step(-1), "parameter", "buffer")) == 6 + 3
    (batch,) = of(second, "batch", "TensorDataset")
    assert batch.detail == "[float32[8, 4], int64[8]]"
    assert batch.place is not None
    assert batch.place.filename == __file__
    (loss,) = of(second, "loss")
    assert loss.value is not None
    assert 0 < loss.value < 5
    assert (of(second, "output", "head")[0].place or batch.place).function == "forward"


def test_what_changes_is_recorded_when_it_changes(tmp_path: Path) -> None:
    trace = recorded(tmp_path, program)
    rates = [
        [each.value for each in of(step, "hyperparameter", "AdamW.lr")] for step in trace.steps()
    ]
    assert rates == [[0.01], [], [0.005], []]
    assert [len(of(step, "hyperparameter", "AdamW")) for step in trace.steps()] == [1, 1, 1, 0]
    # The seed goes to a GPU's as well, where the tests before have begun to use one.
    moved = [set(names(step, "generator")) - {"torch.cuda:0"} for step in trace.steps()]
    assert moved == [{"torch.cpu", "python", "numpy"}, {"torch.cpu"}, {"torch.cpu"}, set()]


def test_two_runs_are_equal_and_another_seed_is_not(tmp_path: Path) -> None:
    first = recorded(tmp_path / "a", program)
    random.random()
    second = recorded(tmp_path / "b", program)
    assert [first.raw(each) for each in range(4)] == [second.raw(each) for each in range(4)]
    torch.manual_seed(1)
    other = recorded(tmp_path / "c", lambda: train(Net()))
    assert of(other.step(0), "parameter")[0].digest != of(first.step(0), "parameter")[0].digest


def test_recording_changes_nothing(tmp_path: Path) -> None:
    def outcome() -> list[Any]:
        model = program()
        states = (
            random.getstate(),
            np.random.get_state()[1].tolist(),
            torch.get_rng_state().tolist(),
        )
        values = [each.tolist() for each in model.state_dict().values()]
        grads = [each.grad.tolist() for each in model.parameters()]
        return [states, values, grads, sorted(vars(model)), len(model._forward_hooks)]

    def with_operators() -> list[Any]:
        found: list[Any] = []
        recorded(tmp_path / "o", lambda: found.append(outcome()), operators=1, values=True)
        return found[0]

    plain = outcome()
    called, stepped = nn.Module.__call__, torch.optim.Optimizer.__init__
    with guard.record(tmp_path, values=True):
        within = outcome()
    assert plain == within == with_operators() == outcome()
    assert (nn.Module.__call__, torch.optim.Optimizer.__init__) == (called, stepped)


def test_nothing_is_kept_alive(tmp_path: Path) -> None:
    import gc
    import weakref

    def use() -> list[Any]:
        model, x = Net(), torch.randn(8, 4)
        out = model(x)
        out.sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        return [weakref.ref(each) for each in (model, x, out, model.head.weight)]

    with guard.record(tmp_path):
        references = use()
        gc.collect()
        assert [each() for each in references] == [None] * 4


def test_accumulation_is_one_step(tmp_path: Path) -> None:
    def accumulate() -> None:
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for number, (x, y) in enumerate(DataLoader(DATA, batch_size=4)):
            functional.cross_entropy(model(x), y).backward()
            if number % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()

    trace = recorded(tmp_path, accumulate)
    assert kinds(trace) == ["training", "training"]
    assert [each.call for each in of(trace.step(1), "output", "head")] == [0, 1, 2]
    assert len(of(trace.step(1), "batch", "TensorDataset")) == 3
    assert len(of(trace.step(1), "gradient", "head.weight")) == 1


def test_evaluation_in_between_has_steps_of_its_own(tmp_path: Path) -> None:
    def both() -> None:
        model, criterion = Net(), nn.CrossEntropyLoss()
        for _ in range(2):
            model.train()
            train(model)
            model.eval()
            with torch.no_grad():
                for x, y in DataLoader(DATA, batch_size=12):
                    criterion(model(x), y)

    trace = recorded(tmp_path, both)
    epoch = ["training"] * 3 + ["evaluation"] * 2
    assert kinds(trace) == [*epoch, *epoch]
    assert names(trace.step(3), "batch") == ["TensorDataset", "Net input"]
    assert names(trace.step(3), "output")[-2:] == ["Net", "CrossEntropyLoss"]


def test_inference_alone(tmp_path: Path) -> None:
    def infer() -> None:
        model = Net().eval()
        with torch.inference_mode():
            for _ in range(3):
                model(torch.ones(2, 4))
        for _ in range(20):
            model(torch.ones(2, 4))  # nothing says that it is not training

    trace = recorded(tmp_path, infer)
    assert kinds(trace) == ["evaluation"] * 5
    assert [len(of(each, "output", "Net")) for each in trace.steps()][:5] == [1, 1, 1, 16, 4]


def test_a_teacher_within_a_training_step(tmp_path: Path) -> None:
    def distil() -> None:
        student, teacher = Net(), Net().eval()
        optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
        x = torch.randn(8, 4)
        found = student(x)
        with torch.no_grad():
            wanted = teacher(x)
        functional.mse_loss(found, wanted).backward()
        optimizer.step()

    trace = recorded(tmp_path, distil)
    assert kinds(trace) == ["evaluation", "training"]
    assert names(trace.step(0), "output")[-1] == "Net#2"
    assert names(trace.step(0), "output")[0] == "Net#2:body.0"
    assert names(trace.step(1), "output")[-1] == "Net"


@pytest.mark.parametrize(
    ("given", "before"), [({}, ["evaluation"]), ({"first_step": 40}, []), ({"held": 9}, [])]
)
def test_a_target_network_is_of_the_step_in_which_it_is_asked(
    tmp_path: Path, given: dict[str, int], before: list[str]
) -> None:
    def bootstrap() -> None:
        online, target = Net(), Net()
        optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
        x = torch.randn(8, 4)
        for _ in range(2):
            with torch.no_grad():
                wanted = target(x)
            functional.mse_loss(online(x), wanted).backward()
            optimizer.step()

    trace = recorded(tmp_path, bootstrap, **given)
    assert kinds(trace) == [*before, "training", "training"]
    asked = [
        len(of(each, "output", "Net")) + len(of(each, "output", "Net#2")) for each in trace.steps()
    ]
    assert asked[:3] == [1, 1, 2] if before else [2, 2, 0]


def test_two_optimizers_end_a_step_each(tmp_path: Path) -> None:
    def gan() -> None:
        maker = nn.Sequential(nn.Linear(2, 4))
        judge = nn.Sequential(nn.Linear(4, 1))
        first = torch.optim.Adam(maker.parameters())
        second = torch.optim.Adam(judge.parameters())
        for _ in range(2):
            fake = maker(torch.randn(3, 2))
            judge(fake.detach()).sum().backward()
            second.step()
            maker.zero_grad()
            judge(fake).sum().backward()
            first.step()

    trace = recorded(tmp_path, gan)
    assert kinds(trace) == ["training"] * 4
    assert [names(each, "hyperparameter")[-1] for each in trace.steps(0)][:4] == [
        *("Adam", "Adam#2"),
        *("Adam", "Adam#2"),
    ]
    assert set(names(trace.step(2), "gradient")) == {
        "Sequential#2:0.weight",
        "Sequential#2:0.bias",
    }


def test_closures_are_read_after_each_call(tmp_path: Path) -> None:
    def closures() -> None:
        model, (x, y) = nn.Linear(4, 1), (torch.randn(8, 4), torch.randn(8, 1))
        for optimizer in (
            torch.optim.LBFGS(model.parameters(), max_iter=3),
            torch.optim.SGD(model.parameters(), lr=0.1),
        ):

            def closure(optimizer: Any = optimizer) -> Any:
                optimizer.zero_grad()
                loss = functional.mse_loss(model(x), y)
                loss.backward()
                return loss

            optimizer.step(closure)

    trace = recorded(tmp_path, closures)
    assert kinds(trace) == ["training", "training"]
    called = len(of(trace.step(0), "loss"))
    assert called > 1
    assert len(of(trace.step(0), "gradient", "weight")) == called
    assert len(of(trace.step(1), "gradient", "weight")) == 1
    assert of(trace.step(1), "gradient")[0].digest != of(trace.step(0), "gradient")[-1].digest


def test_programs_without_an_optimizer_of_torchs(tmp_path: Path) -> None:
    def by_hand() -> None:
        weight = torch.zeros(4, 1, requires_grad=True)
        model = nn.Linear(1, 1)
        for _ in range(3):
            model(torch.ones(8, 4) @ weight).sum().backward()
            with torch.no_grad():
                for each in (weight, *model.parameters()):
                    assert each.grad is not None
                    each.sub_(each.grad)
                    each.grad = None

    trace = recorded(tmp_path, by_hand)
    assert kinds(trace) == ["training"] * 3
    assert set(names(trace.step(1), "gradient")) == {"weight", "bias", "tensor 1"}


def test_gradients_that_are_asked_for(tmp_path: Path) -> None:
    def penalise() -> None:
        model, x = nn.Linear(2, 1), torch.ones(1, 2, requires_grad=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        (gradient,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        gradient.norm().backward()
        optimizer.step()

    trace = recorded(tmp_path, penalise)
    assert names(trace.step(0), "gradient") == ["torch.autograd.grad", "bias", "weight"] or names(
        trace.step(0), "gradient"
    ) == ["torch.autograd.grad", "weight"]


def test_mixed_precision_with_a_step_that_is_skipped(tmp_path: Path) -> None:
    def mixed() -> None:
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu")
        for number in range(3):
            with torch.autocast("cpu", torch.bfloat16):
                loss = model(torch.randn(3, 4)).sum()
            if number == 1:
                loss = loss * float("inf")
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    trace = recorded(tmp_path, mixed)
    assert kinds(trace) == ["training"] * 3
    scales = [of(each, "hyperparameter", "GradScaler.scale")[0].value for each in trace.steps()][:3]
    assert scales == [65536.0, 65536.0, 32768.0]
    assert of(trace.step(0), "output")[0].detail == "bfloat16[3, 2]"
    assert len(of(trace.step(1), "gradient")) == 2


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints_run_their_forward_again(tmp_path: Path, reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    def save() -> None:
        model = Net()
        x = torch.randn(8, 4, requires_grad=True)
        checkpoint(model, x, use_reentrant=reentrant).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()

    trace = recorded(tmp_path, save)
    assert kinds(trace)[-1] == "training"
    found = [each for step in trace.steps() for each in of(step, "output", "body")]
    assert [each.phase for each in found] == ["forward", "backward"]
    assert found[0].digest == found[1].digest
    assert len([each for step in trace.steps() for each in of(step, "loss")]) == 1


def test_modules_called_twice_and_modules_shared(tmp_path: Path) -> None:
    shared = nn.Linear(4, 4)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    trace = recorded(tmp_path, lambda: model(torch.ones(1, 4)).sum().backward())
    assert [(each.name, each.call) for each in of(trace.step(0), "output")] == [
        *(("0", 0), ("1", 0), ("0", 1)),
        ("Sequential", 0),
    ]


def test_outputs_of_any_kind_and_modules_outside_any_model(tmp_path: Path) -> None:
    class Odd(nn.Module):
        def forward(self, x: Any, *, scale: float) -> Any:
            return {"x": x * scale, "extra": [None, "text", 3]}

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = [nn.Linear(2, 2)]

        def forward(self, x: Any) -> Any:
            return self.hidden[0](x)

    def odd() -> None:
        Odd()(torch.ones(2), scale=2.0)
        Outer()(torch.ones(2))

    trace = recorded(tmp_path, odd)
    found = of(trace.step(0), "output")
    assert [each.name for each in found] == ["Odd", "Linear", "Outer"]
    assert found[0].detail == "{x: float32[2], extra: [3 NoneType|int|str]}"


def test_a_thread_that_trains_while_a_model_runs_in_another(tmp_path: Path) -> None:
    class Outer(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            def backward() -> None:
                other(x).sum().backward()

            thread = threading.Thread(target=backward)
            thread.start()
            thread.join()
            return inner(x)

    other, inner = nn.Linear(2, 1), nn.Linear(2, 1)
    model = Outer()
    model.inner = inner
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def twice() -> None:
        for _ in range(2):
            model(torch.ones(2)).sum().backward()
            optimizer.step()

    trace = recorded(tmp_path, twice)
    assert trace.end is not None
    assert trace.end.status == "finished"


def test_a_part_that_a_method_of_its_model_calls_has_its_path(tmp_path: Path) -> None:
    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.decoder = Net(), nn.Linear(2, 1)

        def training_step(self, x: Any) -> Any:
            return self.decoder(self.encoder(x)).sum()

    trace = recorded(tmp_path, lambda: Whole().training_step(torch.ones(3, 4)).backward())
    assert names(trace.step(0), "output")[-3:] == ["encoder.head", "encoder", "decoder"]


def test_generators_of_loaders(tmp_path: Path) -> None:
    def draw() -> None:
        generator = torch.Generator().manual_seed(3)
        for _ in range(2):
            for x, _ in DataLoader(DATA, batch_size=24, shuffle=True, generator=generator):
                Net().eval()(x).sum().backward()

    trace = recorded(tmp_path, draw)
    found = [
        each.place
        for step in trace.steps()
        for each in of(step, "generator", "TensorDataset.generator")
    ]
    assert [each.function for each in found[:2] if each] == ["draw", "draw"]
    assert found[2:] in ([], [None])  # torch 2.11 lets nobody see that the generator has gone


def test_generators_of_a_torch_that_cannot_be_referred_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Weakref:
        def ref(self, generator: torch.Generator) -> None:
            raise TypeError(generator)

    monkeypatch.setattr(generators, "weakref", Weakref())
    test_generators_of_loaders(tmp_path)


def test_a_generator_that_nobody_uses_makes_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def use() -> None:
        torch.manual_seed(0)
        Net()(torch.ones(2, 4)).sum().backward()

    traces = []
    for number in range(2):
        random.seed(number)
        np.random.seed(number)
        monkeypatch.setattr(generators, "_born", {})  # as in another process
        traces.append(recorded(tmp_path / str(number), use))
    assert traces[0].raw(0) == traces[1].raw(0)


def test_transforms_within_a_loader_are_part_of_its_batch(tmp_path: Path) -> None:
    class Shifted(torch.utils.data.Dataset[Any]):
        def __init__(self) -> None:
            self.transform = nn.Sequential(nn.Identity(), nn.Dropout())

        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            return self.transform(torch.full((4,), float(index)))

    def load() -> None:
        model = Net().eval()
        with torch.no_grad():
            for batch in DataLoader(Shifted(), batch_size=2):
                model(batch)

    trace = recorded(tmp_path, load)
    assert names(trace.step(0), "batch") == ["Shifted", "Net input"]
    assert names(trace.step(0), "output")[0] == "body.0"


def test_state_is_recorded_now_and_then(tmp_path: Path) -> None:
    trace = recorded(tmp_path, lambda: train(Net(), 3), state_every=4)
    assert [bool(of(each, "parameter", "head.bias")) for each in trace.steps()] == [
        *(True, False, False, False),
        *(True, False, False, False),
        True,
    ]


def test_until_a_step_and_from_another_number(tmp_path: Path) -> None:
    trace = recorded(tmp_path, lambda: train(Net(), 3), until=41, first_step=40)
    assert [each.number for each in trace.steps()] == [40, 41, 42]
    assert trace.step(-1).kind == "end"
    assert kinds(trace) == ["training", "training"]
    assert trace.end is not None
    assert (trace.end.status, trace.end.message) == ("stopped", "step 41 was the last to record")


def test_where_a_run_is_resumed_training_steps_are_counted_alone(tmp_path: Path) -> None:
    def evaluating() -> None:
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            with torch.no_grad():
                model.eval()(torch.ones(2, 4))
            model.train()(torch.ones(2, 4)).sum().backward()
            optimizer.step()

    trace = recorded(tmp_path, evaluating, until=1, held=2)
    assert kinds(trace) == ["evaluation", "training"] * 2


def test_values_tell_what_the_numbers_were(tmp_path: Path) -> None:
    def twice() -> None:
        model = nn.Linear(100, 100)
        nn.init.eye_(model.weight)
        nn.init.zeros_(model.bias)
        with torch.no_grad():
            model.eval()(torch.arange(-50.0, 50.0))

    trace = recorded(tmp_path, twice, values=True)
    summary = of(trace.step(0), "output")[0].summary
    assert summary is not None
    assert (summary.min, summary.max, summary.mean, summary.absmax) == (-50, 49, -0.5, 50)
    assert len(summary.sample) == 64
    assert summary.sample[:3] == (-50, -49, -47)


def test_exceptions_pass_and_are_noted(tmp_path: Path) -> None:
    model = Net()

    def fail() -> None:
        model(torch.ones(8, 4)).sum().backward()
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            model(torch.ones(8, 5))
        model(torch.ones(8, 4))
        raise KeyError("lost")

    with pytest.raises(KeyError), guard.record(tmp_path):
        fail()
    (trace,) = open_run(tmp_path)
    assert trace.end is not None
    assert (trace.end.status, trace.end.message) == ("raised", "KeyError: 'lost'")
    assert len(of(trace.step(-2), "output", "Net")) >= 1


def test_a_full_disk_ends_the_recording_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import errno
    import os

    plain = program()
    write, left = os.write, [2]

    def full(descriptor: int, content: bytes) -> int:
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        return write(descriptor, content)

    with guard.record(tmp_path):
        monkeypatch.setattr(os, "write", full)
        recorded_too = program()
        monkeypatch.undo()
    assert all(
        torch.equal(left, right)
        for left, right in zip(plain.parameters(), recorded_too.parameters(), strict=True)
    )
    assert capsys.readouterr().err == (
        "guard record: the recording has stopped: No space left on device\n"
    )
    (trace,) = open_run(tmp_path)
    assert len(trace) == 1


@pytest.mark.parametrize(
    ("owner", "name"), [(recorder.Recorder, "_given"), (calls, "seen")], ids=["given", "seen"]
)
def test_an_error_of_ours_ends_the_recording_alone(
    owner: Any,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(owner, name, fail)
    with guard.record(tmp_path):
        program()
    assert capsys.readouterr().err.count("\n") == 1
    (trace,) = open_run(tmp_path)
    assert trace.end is not None
    assert (trace.end.status, trace.end.message) == ("failed", "ZeroDivisionError: ours")


def test_only_one_recording_at_a_time(tmp_path: Path) -> None:
    with guard.record(tmp_path), pytest.raises(guard.GuardError, match="runs already"):
        guard.record(tmp_path).__enter__()
    with pytest.raises(guard.GuardError, match="cannot record in"):
        guard.record(__file__).__enter__()


def test_other_threads_are_left_alone(tmp_path: Path) -> None:
    other = Net().eval()

    def beside() -> None:
        thread = threading.Thread(target=lambda: other(torch.ones(2, 4)))
        thread.start()
        thread.join()
        Net().eval()(torch.ones(2, 4))

    trace = recorded(tmp_path, beside)
    assert len(of(trace.step(0), "output", "Net")) == 1


def test_a_thread_that_runs_a_model_while_another_is_in_its_backward(tmp_path: Path) -> None:
    other = Net().eval()

    class Waits(torch.autograd.Function):
        """Its backward lasts until another thread has run a model."""

        @staticmethod
        def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(_: Any, grad: torch.Tensor) -> torch.Tensor:
            thread = threading.Thread(target=lambda: other(torch.ones(2, 4)))
            thread.start()
            thread.join()
            return grad

    def program() -> None:
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            Waits.apply(model(torch.ones(2, 4))).sum().backward()
            optimizer.step()

    for number, options in enumerate(({}, {"held": 1})):  # the second tells no tasks
        trace = recorded(tmp_path / str(number), program, **options)
        assert [each.name for each in of(trace.step(0), "output")] == ["Linear"]


def test_training_in_another_thread_is_followed(tmp_path: Path) -> None:
    def elsewhere() -> None:
        thread = threading.Thread(target=program)
        thread.start()
        thread.join()

    trace = recorded(tmp_path, elsewhere)
    assert names(trace.step(1), "gradient")[0] == "head.bias"
    assert names(trace.step(1), "output")[-1] == "Net"


def test_tracing_and_default_devices_are_left_alone(tmp_path: Path) -> None:
    def other() -> None:
        model = Net().eval()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            torch.jit.trace(model, torch.ones(2, 4))
        assert not [each for each in told if "Tracer" in each.category.__name__]
        with torch.device("cpu"), torch.no_grad():
            model(torch.ones(2, 4))
        torch.fx.symbolic_trace(model)

    trace = recorded(tmp_path, other)
    # torch.jit.trace runs the model itself once more, to check what it traced.
    assert sum(len(of(each, "output", "Net")) for each in trace.steps()) == 2


# Operators


def test_operators_of_one_step(tmp_path: Path) -> None:
    trace = recorded(tmp_path, program, operators=1)
    assert trace.header.detail == "operators"
    assert trace.header.digest_size == 8
    assert [bool(of(each, "operator")) for each in trace.steps()] == [False, True, False, False]
    found = of(trace.step(1), "operator")
    linear = [each for each in found if each.name == "aten.addmm.default"]
    assert [each.module for each in linear] == ["body.0", "head"]
    assert all(each.inputs and len(each.inputs) == 8 for each in linear)
    backward = [each for each in found if each.phase == "backward" and each.module == "head"]
    assert backward
    assert {each.place.line for each in backward if each.place} == {_line_of(Net.forward, "head")}
    assert any("foreach" in each.name or "lerp" in each.name for each in found)


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(_: Any, value: torch.Tensor) -> torch.Tensor:
        return value * 2

    @staticmethod
    def backward(_: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0].sinh()


def test_an_operator_of_a_backward_that_the_program_writes_stands_there(tmp_path: Path) -> None:
    weight = torch.ones(3, requires_grad=True)

    def program() -> None:
        _Doubled.apply(weight).sum().backward()
        torch.optim.SGD([weight], lr=0.1).step()

    trace = recorded(tmp_path, program, operators=0)

    (found,) = (e for e in of(trace.step(0), "operator") if e.name == "aten.sinh.default")
    assert found.phase == "backward"
    assert found.place
    assert found.place.function == "backward"


def _line_of(function: Any, text: str) -> int:
    import inspect

    lines, start = inspect.getsourcelines(function)
    return start + next(number for number, line in enumerate(lines) if text in line)


def test_operators_of_one_module(tmp_path: Path) -> None:
    trace = recorded(tmp_path, program, operators=0, module="body.1")
    found = of(trace.step(0), "operator")
    assert {each.module for each in found} == {"body.1"}
    assert {each.phase for each in found} == {"forward", "backward"}
    assert "aten.native_batch_norm.default" in {each.name for each in found}


def test_operators_tell_what_was_not_written(tmp_path: Path) -> None:
    def unwritten() -> None:
        with torch.no_grad():
            model = Net().eval()
            model(torch.empty(2, 4).zero_())

    trace = recorded(tmp_path, unwritten, operators=0)
    (empty,) = [
        each
        for each in of(trace.step(0), "operator")
        if "(2, 4)" in each.detail or "[2, 4] unwritten" in each.detail
    ]
    assert (empty.name, empty.digest) == ("aten.empty.memory_format", bytes(8))


def test_operators_see_inputs_agree_and_outputs_differ(tmp_path: Path) -> None:
    noise = [0.0]

    def run() -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 3)).eval()
        with torch.no_grad():
            model(torch.ones(1, 3)).add(noise[0])

    first = recorded(tmp_path / "a", run, operators=0)
    noise[0] = 1.0
    second = recorded(tmp_path / "b", run, operators=0)
    pairs = zip(of(first.step(0), "operator"), of(second.step(0), "operator"), strict=True)
    differing = [left.name for left, right in pairs if left.digest != right.digest]
    assert differing == ["aten.add.Tensor"]


class Container(nn.Module):
    """Gives what a part of it gave: as it is, written over, or another tensor in its place."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.way = way

    def forward(self, x: Any) -> Any:
        found = self.inner(x)
        if self.way == "over":
            return found.mul_(2)
        if self.way == "anew":
            found.data = found.data * 2
        return found


@pytest.mark.parametrize("way", ["as it is", "over", "anew"])
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_a_container_has_the_output_that_it_gives(tmp_path: Path, way: str, mode: Any) -> None:
    model = nn.Sequential(Container(way), nn.Linear(4, 1))
    with mode(), guard.record(tmp_path):
        model(torch.ones(2, 4))
    step = open_run(tmp_path)[0].step(0)
    outputs = {each.name: each.digest for each in step.events if each.kind == "output"}
    assert (outputs["0.inner"] == outputs["0"]) is (way == "as it is")
    assert outputs["1"] == outputs["Sequential"]


def test_parameters_that_move_are_read_where_they_are(tmp_path: Path) -> None:
    model = nn.Linear(4, 4, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    first = model.weight.data
    with guard.record(tmp_path):
        for held in (first, first.clone(), first + 1, first[:2].clone(), first.t(), first):
            model.weight.data = held
            model.weight.grad = torch.zeros_like(held)
            optimizer.step()
    digests = [
        next(each.digest for each in step.events if (each.kind, each.name) == ("parameter", "SGD"))
        for step in open_run(tmp_path)[0].steps()
        if step.kind == "training"
    ]
    assert digests[0] == digests[1] == digests[5]
    assert len(set(digests)) == 4


def test_pythons_generator_is_seen_to_move(tmp_path: Path) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    random.seed(3)
    with guard.record(tmp_path):  # the first step: another state than when tests began
        for draw in (None, random.random, None, lambda: random.gauss(0, 1), None):
            if draw is not None:
                draw()
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    steps = [each for each in open_run(tmp_path)[0].steps() if each.kind == "training"]
    names = [{each.name for each in step.events if each.kind == "generator"} for step in steps]
    assert ["python" in each for each in names] == [True, True, False, True, False]


DRAWS: tuple[Callable[[], object], ...] = (
    lambda: torch.rand(1),
    lambda: torch.randn(1),  # which keeps a second number back
    lambda: torch.randn(1),  # which gives that one, and nothing else moves
    lambda: torch.randn(1, dtype=torch.float64),
    lambda: torch.randn(1, dtype=torch.float64),
    lambda: torch.randperm(3),
    lambda: functional.dropout(torch.ones(1)),
    lambda: torch.manual_seed(11),
)


@pytest.mark.parametrize("is_found", [True, False])
def test_torchs_generator_is_seen_to_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_found: bool
) -> None:
    if not is_found:
        monkeypatch.setattr(own_generators, "of_torch", lambda: None)
    assert (own_generators.of_torch() is not None) == is_found
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(3)
    with guard.record(tmp_path):
        for draw in (int, *chain.from_iterable((each, int) for each in DRAWS)):
            draw()
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    steps = [each for each in open_run(tmp_path)[0].steps() if each.kind == "training"][1:]
    moved = ["torch.cpu" in names(step, "generator") for step in steps]
    assert moved == [True, False] * len(DRAWS)


class Giving(nn.Module):
    """Gives what it is told to, from one line or another."""

    def __init__(self, given: list[Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.inner = nn.Identity()
        self.given = given

    def forward(self, x: Any) -> Any:
        for each in self.given:
            self.inner(each)
        self.inner(self.given[0])
        return x * self.weight


def test_what_a_module_gives_after_many_of_one_kind(tmp_path: Path) -> None:
    """What it gave before decides how the next is read, and never what is found."""
    plain = torch.arange(6.0).reshape(2, 3)
    freed = torch.ones(2, 3)
    freed.untyped_storage().resize_(0)
    turned = torch._neg_view(-plain)
    kinds = [
        plain + 1,
        plain.double(),
        plain.reshape(3, 2),
        plain.reshape(3, 2).t(),
        nn.Parameter(plain.clone()),
        plain.to_sparse(),
        torch.empty(2, 3, device="meta"),
        turned,
        freed,
        (plain, plain),
    ]
    order = [plain] * 4 + [each for kind in kinds for each in (kind, plain, plain)]
    model = Giving(order)
    trace = recorded(tmp_path, lambda: model(torch.ones(1)).backward())
    found = of(trace.step(0), "output", "inner")
    expected = [fingerprint(each) for each in (*order, plain)]
    assert [each.digest for each in found] == [bytes(each.digest)[:4] for each in expected]
    assert [each.detail for each in found] == [each.detail for each in expected]
    lines = [each.place.line for each in found if each.place is not None]
    assert len(lines) == len(found)
    assert lines[0] == lines[-2] == lines[-1] - 1


class Again(nn.Module):
    """Has a library call a part of it, and calls that itself, and a part that calls itself."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Sequential(nn.Linear(3, 3))

    def forward(self, x: torch.Tensor, depth: int = 1) -> torch.Tensor:
        """Rows of three numbers."""
        x = checkpoint(self.part, x, use_reentrant=False)  # by a library
        x = self.part(x)  # by the program
        return self(x, 0) if depth else self.part[0](x)  # within itself


def test_each_call_of_a_module_has_its_own_line(tmp_path: Path) -> None:
    model = nn.Sequential(Again())
    with torch.no_grad():
        trace = recorded(tmp_path, lambda: [model(torch.ones(2, 3)) for _ in range(5)])
    steps = [step for step in trace.steps() if of(step, "output")]
    assert len(steps) == 5
    inner, own = (_line_of(Again.forward, f"# {text}") for text in ("within", "by the program"))
    outer = of(steps[0], "output", "0")[-1].place
    assert outer is not None
    for step in steps:
        found = [each.place.line for each in of(step, "output", "0.part") if each.place]
        assert found == [outer.line, own, inner, own]
        parts = [each.place.line for each in of(step, "output", "0.part.0") if each.place]
        assert parts == [outer.line, own, inner, own, inner]


def test_what_a_container_passes_on_has_its_own_shape(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    sizes = [2, 2, 2, 9000, 2, 9000, 9000, 2, 2]
    with torch.no_grad():
        trace = recorded(tmp_path, lambda: [model(torch.ones(each, 3)) for each in sizes])
    steps = [step for step in trace.steps() if of(step, "output")]
    for step, size in zip(steps, sizes, strict=True):
        assert {each.detail for each in of(step, "output")} == {f"float32[{size}, 3]"}
        assert len({each.digest for each in of(step, "output")[1:]}) == 1


def test_gradients_that_come_and_go_and_change_their_kind(tmp_path: Path) -> None:
    layers = [nn.Linear(2, 2) for _ in range(3)]
    parameters = [each for layer in layers for each in layer.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    gradients: list[list[Any]] = []
    whole = [torch.full_like(each, 0.5) for each in parameters]
    for number in range(6):
        held = [each + number for each in whole]
        if number in (2, 3):
            held[1] = None
        if number == 4:
            held[2] = held[2].t()
        gradients.append(held)

    def program() -> None:
        for held in gradients:
            for parameter, each in zip(parameters, held, strict=True):
                parameter.grad = each
            optimizer.step()

    trace = recorded(tmp_path, program)
    for step, held in zip(trace.steps(), gradients, strict=False):
        expected = [bytes(fingerprint(each).digest)[:4] for each in held if each is not None]
        assert [each.digest for each in of(step, "gradient")] == expected


class Tracing(nn.Module):
    """Has its part traced in the middle of its own forward, in each of torch's ways."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.head = nn.Linear(4, 1)
        self.traces = True

    def forward(self, x: Any) -> Any:
        result = self.part(x)
        if self.traces:
            torch.export.export(self.part, (x,), strict=False)
            torch.jit.trace(self.part, (x,), check_trace=False)
            make_fx(self.part)(x)
        return self.head(result).sum()


@pytest.mark.filterwarnings("ignore")
def test_what_is_traced_within_a_forward_is_left_out(tmp_path: Path) -> None:
    model, x = Tracing(), torch.ones(2, 4)

    def program() -> None:
        for traces in (False, False, False, True):
            model.traces = traces
            model(x).backward()

    trace = recorded(tmp_path, program)
    told = [[each.detail for each in of(step, "output")] for step in trace.steps()][:4]
    assert told == [told[0]] * 4
    assert told[0][0] == "float32[2, 4]"


# What lies on a GPU is summed there; the same operators run on the CPU here


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "_SUMMED", ("cpu",))
    monkeypatch.setattr(tensors, "_address", lambda *_: 0)


def computed(trace: Trace) -> list[Event]:
    kinds = ("output", "loss", "gradient", "parameter", "buffer", "optimizer")
    return [each for step in trace.steps() for each in step.events if each.kind in kinds]


def test_a_device_gives_the_same_events(tmp_path: Path, request: Any) -> None:
    here = computed(recorded(tmp_path / "memory", program))
    request.getfixturevalue("on_device")
    first, second = (computed(recorded(tmp_path / name, program)) for name in "ab")
    assert first == second
    assert [(label_of(each), each.value) for each in first] == [
        (label_of(each), each.value) for each in here
    ]
    torch.manual_seed(1)
    other = computed(recorded(tmp_path / "c", lambda: train(Net())))
    assert other[0].digest != first[0].digest


@pytest.mark.usefixtures("on_device")
def test_a_device_is_given_few_operators(tmp_path: Path) -> None:
    """A kernel and a view for what a module gives, two kernels for all gradients and two for all
    parameters; and a few operators where the step ends."""
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(30)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=True)

    def step() -> None:
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()

    plain = dispatched(step)
    with guard.record(tmp_path):
        step()
        step()
        counts = dispatched(step) - plain
    third = list(open_run(tmp_path)[0].steps())[2]
    assert len(of(third, "output")) + len(of(third, "gradient")) == 31 + 60
    # Outputs, input and loss; all gradients and all parameters; and where its memory is not found,
    # the generator, whose states are on no device elsewhere.
    assert counts["aten::mul"] in (30 + 1 + 1 + 2, 30 + 1 + 1 + 2 + 3)
    assert counts["aten::_foreach_copy_"] == 2
    assert counts["aten::sum"] == counts["aten::zero_"] == counts["aten::cat"] == 1
    assert counts["aten::view"] == counts["aten::mul"]
    assert sum(counts.values()) - 2 * counts["aten::mul"] < 30
    assert not {"aten::item", "aten::_local_scalar_dense"} & set(counts)  # which would wait


def dispatched(step: Callable[[], None]) -> Counter[str]:
    """The operators that a step calls, without those within them: the CPU has more there."""
    with warnings.catch_warnings(), profile(activities=[ProfilerActivity.CPU]) as found:
        warnings.simplefilter("ignore")
        step()
    return Counter(
        each.name
        for each in found.events()
        if each.name.startswith("aten::")
        and not (each.cpu_parent and each.cpu_parent.name.startswith("aten::"))
    )


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_gives_the_same_events(tmp_path: Path) -> None:
    def program() -> None:
        torch.manual_seed(0)
        model = Net().cuda()
        MODELS[:] = [model]
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(8, 4).cuda()).square().mean().backward()
            optimizer.step()

    first, second = (recorded(tmp_path / name, program) for name in "ab")
    assert computed(first) == computed(second)
    assert all(of(step, "gradient") for step in first.steps() if step.kind == "training")
