"""The table of operators beside the torch that is installed: names, calls, nodes, refusals."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import torch
from operation_samples import BELOW, CPU_ALERTS, CUDA_ALERTS, EARLIER_ALERTS, FORMS
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from detlint.operations import OPERATIONS, Operation
from guard.dependencies import in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    # Forms that torch deprecates, or calls beta, are forms all the same.
    pytest.mark.filterwarnings("ignore:.*deprecated:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor, torch.quantize_per_channel"),
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
]

SAID = (
    "{} does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this "
    "operation, or you can use the 'warn_only=True' option, if that's acceptable for your "
    "application. You can also file an issue at https://github.com/pytorch/pytorch/issues to help "
    "us prioritize adding deterministic support for this operation."
)

by_row = functools.partial(pytest.mark.parametrize, "row", ids=lambda row: row.name)
by_form = pytest.mark.parametrize(
    ("row", "form"),
    [pytest.param(row, form, id=f"{row.name}: {form}") for row in OPERATIONS for form in row.api],
)


class Recorder(TorchDispatchMode):
    """Notes the operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        del types
        self.ran.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(mode=True)
    yield
    torch.use_deterministic_algorithms(mode=False)


def plain(form: str) -> str:
    """A form without its arguments."""
    return form.partition("(")[0]


def resolved(path: str) -> Any:  # noqa: ANN401 - functions, methods and classes
    return functools.reduce(getattr, path.split(".")[1:], torch)


def tensors(result: object) -> list[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else list(result)  # type: ignore[call-overload]


def backward(result: object) -> None:
    grown = [each.sum() for each in tensors(result) if each.requires_grad]
    if grown:
        torch.stack(grown).sum().backward()


def refusal(call: Callable[[], object]) -> str:
    """What torch says to a call and its backward; "" if it lets them pass."""
    try:
        backward(call())
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


# The table as such


@by_row(argvalues=OPERATIONS)
def test_a_row_says_what_it_has_to(row: Operation) -> None:
    assert row.direction in {"forward", "backward"}
    assert row.devices
    assert set(row.devices) <= {"cuda", "cpu", "meta"}
    assert row.overloads
    assert row.api
    assert row.reason.endswith(".")
    assert row.source.startswith("https://")
    assert row.alternatives[0].text
    assert row.alternatives[0].code
    assert not (row.silent and row.alerts)


def test_names_alerts_and_nodes_each_stand_in_one_row() -> None:
    """But for the node of cuDNN's grid_sample, silent until torch 2.13, refused since."""
    for field in ("alerts", "nodes"):
        rows = [row for row in OPERATIONS if not (row.silent and row.until)]
        counts = Counter(each for row in rows for each in getattr(row, field))
        assert [each for each, count in counts.items() if count > 1] == []
    assert len({row.name for row in OPERATIONS}) == len(OPERATIONS)


def test_every_alert_of_the_binaries_is_in_the_table() -> None:
    assert (len(CUDA_ALERTS), len(CPU_ALERTS)) == (42, 4)
    recorded = {*CUDA_ALERTS, *CPU_ALERTS, *EARLIER_ALERTS}
    assert {alert for row in OPERATIONS for alert in row.alerts} == recorded


def test_until_is_the_release_after_the_last_that_holds_the_alert() -> None:
    past = [row for row in OPERATIONS if row.until and row.alerts]
    ends = {row.until: {EARLIER_ALERTS[alert] for alert in row.alerts} for row in past}
    assert ends == {"2.6": {"2.5.1"}, "2.7": {"2.6.0"}, "2.10": {"2.9.1"}}


def test_importing_the_table_imports_neither_torch_nor_libcst() -> None:
    code = "import sys, detlint.operations; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "numpy", "libcst", "dataclasses"} & set(done.stdout.split())


# Names


@by_row(argvalues=OPERATIONS)
def test_its_names_exist_in_torch(row: Operation) -> None:
    for overload in row.overloads:
        packet, _, name = overload.removeprefix("aten::").partition(".")
        assert getattr(getattr(torch.ops.aten, packet), name or "default").name() == overload
    for node in row.nodes:
        assert hasattr(torch._C._functions, node)
    for path in (*map(plain, row.api), *row.calls):
        assert callable(resolved(path))


@by_row(argvalues=OPERATIONS)
def test_each_public_form_has_a_sample(row: Operation) -> None:
    assert set(FORMS[row.name]) == set(row.api)


def graph(result: object) -> set[str]:
    """The names of all nodes below some tensors."""
    pending = [each.grad_fn for each in tensors(result)]
    seen: set[Any] = set()
    while pending:
        node = pending.pop()
        if node is not None and node not in seen:
            seen.add(node)
            pending.extend(below for below, _ in node.next_functions)
    return {node.name() for node in seen}


@by_row(argvalues=[row for row in OPERATIONS if row.nodes])
def test_its_nodes_are_what_its_forms_build(row: Operation) -> None:
    on_the_cpu = set(row.nodes) - {"CudnnGridSamplerBackward0"}
    built = {form: graph(call("cpu")) & on_the_cpu for form, call in FORMS[row.name].items()}
    if row.direction == "backward" and on_the_cpu:
        assert [form for form, nodes in built.items() if not nodes] == []
    with Recorder():  # sends lengths of ctc_loss to where those on a GPU go
        seen = [graph(call("cpu")) & on_the_cpu for call in FORMS[row.name].values()]
    assert set().union(*seen, *built.values()) == on_the_cpu


# Calls


def recorded(stack: ExitStack, path: str, seen: list[str]) -> None:
    """Wrap a function of torch where others look it up."""
    owner, _, name = path.rpartition(".")
    place, function = resolved(owner), resolved(path)

    def call(*args: object, **kwargs: object) -> object:
        seen.append(path)
        return function(*args, **kwargs)

    own = name in vars(place)
    stack.callback(*((setattr, place, name, function) if own else (delattr, place, name)))
    setattr(place, name, call)


@by_form
def test_a_call_of_each_form_passes_a_watched_function(row: Operation, form: str) -> None:
    seen: list[str] = []
    with ExitStack() as stack:
        for path in row.calls:
            recorded(stack, path, seen)
        FORMS[row.name][form]("cpu")
    assert bool(seen) == bool(row.calls)


def test_only_rows_whose_calls_do_not_tell_have_none() -> None:
    assert {row.name for row in OPERATIONS if not row.calls} == {
        "torch.topk",
        "torch.cumsum under torch.compile",
        "torch.sparse.mm",
        "torch.nn.LSTM",
    }


# Refusals


@pytest.mark.usefixtures("deterministic")
@by_form
def test_the_cpu_refuses_what_the_table_says_and_nothing_else(row: Operation, form: str) -> None:
    said = refusal(lambda: FORMS[row.name][form]("cpu"))
    assert said == (SAID.format(row.alerts[0]) if "cpu" in row.devices else "")


@pytest.mark.usefixtures("deterministic")
def test_the_backward_of_put_refuses_on_the_cpu() -> None:
    torch.use_deterministic_algorithms(mode=False)  # detlint: ignore[DET303] for the forward
    result = FORMS["torch.Tensor.put_"]["torch.put"]("cpu")
    torch.use_deterministic_algorithms(mode=True)
    assert refusal(lambda: result) == SAID.format("put_")


@pytest.mark.usefixtures("deterministic")
@by_row(argvalues=[row for row in OPERATIONS if "meta" in row.devices])
def test_meta_tensors_refuse(row: Operation) -> None:
    for call in FORMS[row.name].values():
        assert refusal(lambda call=call: call("meta")) == SAID.format(row.alerts[0])


@pytest.mark.usefixtures("deterministic")
def test_mode_refuses_by_the_name_of_median_on_meta_tensors() -> None:
    said = refusal(lambda: torch.randn(3, 3, device="meta").mode(0))
    assert said == SAID.format("median CUDA with indices output")


@pytest.mark.usefixtures("deterministic")
def test_max_pool3d_takes_the_kernel_that_refuses_unless_indices_are_asked_for() -> None:
    with FakeTensorMode(), torch.no_grad():
        volume = torch.empty(1, 1, 4, 4, 4, device="cuda")
        with Recorder() as recorder:
            torch.nn.functional.max_pool3d(volume, 2)
    assert recorder.ran == ["aten.max_pool3d_with_indices.default"]


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
@pytest.mark.usefixtures("deterministic")
@by_row(argvalues=[row for row in OPERATIONS if "cuda" in row.devices and in_force(row)])
def test_cuda_refuses_what_the_table_says(row: Operation) -> None:
    calls = BELOW.get(row.name, tuple(FORMS[row.name].values()))
    texts = {SAID.format(alert) for alert in row.alerts or ("put_",)}
    for call in calls:
        said = refusal(lambda call=call: call("cuda"))
        assert (said == "") if row.silent else (said in texts)
