"""``guard.enable(repair=True)``: what is replaced, how it is reached, undone and told."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.distributed.fsdp
import torch.nn.functional as F  # noqa: N812
from repair_cases import CASES, NO_VISION
from torch.utils.checkpoint import checkpoint

import guard
from detlint.operations import OPERATIONS
from detlint.operations.extensions import REPLACED
from guard.refusals import translation
from guard.refusals.watch import current
from guard.repairs import accounts, installation
from guard.repairs.installation import installed, overload_of, present, unfit, variants
from guard.repairs.table import LEFT, REPAIRS, Repair, wanted
from guard.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forks import Forks

EVERY = (*OPERATIONS, *REPLACED)
with_vision = pytest.mark.skipif(bool(NO_VISION), reason=NO_VISION)
by_repair = pytest.mark.parametrize("repair", REPAIRS, ids=lambda each: each.operation)
THERE = [each for each in REPAIRS if each.kernels and present(each)]
by_repair_that_is_there = pytest.mark.parametrize("repair", THERE, ids=lambda each: each.operation)
by_repair_that_fits = pytest.mark.parametrize(
    "repair", [each for each in THERE if not unfit(each)], ids=lambda each: each.operation
)
PREFIX = "torch_scatter::"  # its rows name no overloads
HANDS_OUT = hasattr(torch.library, "get_kernel")  # older releases keep some of their kernels

pytestmark = [] if HANDS_OUT else [pytest.mark.filterwarnings("ignore:guard leaves")]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    accounts.forget()
    yield
    accounts.forget()


def named(*names: str) -> tuple[Repair, ...]:
    """The rows, where this torch can have their replacements."""
    rows = wanted(tuple(names))
    if reason := next(filter(None, map(unfit, rows)), ""):
        pytest.skip(reason)
    return rows


def calls() -> int:
    return sum(each.calls for each in accounts.accounts())


def upsampled(x: torch.Tensor) -> torch.Tensor:
    return F.interpolate(x, scale_factor=2, mode="bilinear").pow(2).sum()


def gradient(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(f(x), x)[0]


IMAGE = torch.randn(2, 3, 6, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()
BILINEAR = wanted(("upsample_bilinear2d_backward",))


# The table


def test_each_operation_has_a_replacement_or_a_reason() -> None:
    assert {each.operation for each in REPAIRS} | LEFT.keys() == {each.name for each in EVERY}
    assert not {each.operation for each in REPAIRS} & LEFT.keys()


@by_repair
def test_what_it_replaces_stands_in_the_operations_row(repair: Repair) -> None:
    row = next(each for each in EVERY if each.name == repair.operation)
    known = {each.removeprefix("aten::").replace("_.", ".") for each in row.overloads}
    known |= {"put_", "_logcumsumexp", "addmm"}  # what these come to
    kernels = {name for name, _ in repair.kernels}
    assert kernels <= known or kernels == {each for each in kernels if each.startswith(PREFIX)}
    assert repair.until == row.until


@by_repair_that_is_there
def test_its_arguments_are_torchs(repair: Repair) -> None:
    assert unfit(repair) == "" or ("hand out" in unfit(repair) and not HANDS_OUT)


@by_repair_that_fits
def test_it_is_a_kernel_of_a_backend_and_of_cuda(repair: Repair) -> None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    names = [overload_of(name).name() for name, _ in repair.kernels]
    before = [has(each, "CUDA") for each in names]
    composite = any(has(each, "CompositeImplicitAutograd") for each in names)
    assert composite == ("AutogradCUDA" in repair.keys)
    with installed((repair,), keys=("CUDA",)):
        for name, _ in repair.kernels:
            for each in variants(name):
                assert has(each.overload.name(), "CUDA")
    assert [has(each, "CUDA") for each in names] == before


def test_variants_write_elsewhere() -> None:
    found = {each.overload.name(): each.outputs for each in variants("cumprod")}
    assert found == {
        "aten::cumprod": (),
        "aten::cumprod.out": ("out",),
        "aten::cumprod_": ("self",),
    }
    assert [each.outputs for each in variants("median.dim")] == [(), ("values", "indices")]


# How it is reached


def test_the_backward_of_an_unchanged_program_reaches_it() -> None:
    own = gradient(upsampled, IMAGE)
    with installed(BILINEAR, keys=("CPU",)):
        found = gradient(upsampled, IMAGE)
        assert calls() == 1
    torch.testing.assert_close(found, own)


def test_afterwards_torchs_own_kernel_is_back() -> None:
    own = torch._C._dispatch_dump("aten::upsample_bilinear2d_backward")
    with installed(BILINEAR, keys=("CPU",)):
        assert torch._C._dispatch_dump("aten::upsample_bilinear2d_backward") != own
        with installed((), keys=("CPU",)):
            assert torch._C._dispatch_dump("aten::upsample_bilinear2d_backward") == own
        gradient(upsampled, IMAGE)
        assert calls() == 1
    assert torch._C._dispatch_dump("aten::upsample_bilinear2d_backward") == own
    gradient(upsampled, IMAGE)
    assert calls() == 1


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_reach_it(reentrant: bool) -> None:
    with installed(BILINEAR, keys=("CPU",)):
        found = gradient(upsampled, IMAGE) if not reentrant else None
        x = IMAGE.detach().clone().requires_grad_()
        checkpoint(upsampled, x, use_reentrant=reentrant).backward()
        assert calls() == (1 if reentrant else 2)
    own = gradient(upsampled, IMAGE) if found is None else found
    torch.testing.assert_close(x.grad, own)


def test_transforms_of_functions_reach_it() -> None:
    own = gradient(upsampled, IMAGE)
    with installed(BILINEAR, keys=("CPU",)):
        found = torch.func.vmap(torch.func.grad(upsampled))(IMAGE.detach()[:, None])
        assert calls() == 1
    torch.testing.assert_close(found[:, 0], own)


def test_autocast_does_not_reach_into_it() -> None:
    rows = named("torch.median")
    with installed(rows, keys=("CPU",)), torch.autocast("cpu", torch.bfloat16):
        assert torch.median(IMAGE, 0)[0].dtype == torch.float32
        gradient(upsampled, IMAGE)


def test_results_are_written_where_the_caller_wants_them() -> None:
    x = torch.tensor([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]])
    with installed(named("torch.median", "torch.cumprod", "torch.cumsum"), keys=("CPU",)):
        values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
        torch.median(x, 1, out=(values, indices))
        assert (values.tolist(), indices.tolist()) == ([2, 5], [2, 0])
        row = x[0].clone()
        assert row.cumprod_(0) is row
        assert row.tolist() == [3, 3, 6]
        assert torch.cumprod(x[0], 0, out=torch.empty(3)).tolist() == [3, 3, 6]
        assert x.clone().cumsum_(1).tolist() == [[3, 4, 6], [5, 11, 15]]
        assert calls() == 4


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_a_sparse_product_reaches_it() -> None:
    dense = torch.randn(5, 4, dtype=torch.float64).requires_grad_()
    matrix = (torch.randn(6, 5, dtype=torch.float64) > 0.3).double()
    for sparse in (matrix.to_sparse_coo(), matrix.to_sparse_csr()):
        own = sparse @ dense, gradient(lambda x, sparse=sparse: (sparse @ x).pow(2).sum(), dense)
        with installed(named("torch.sparse.mm"), keys=("SparseCPU", "SparseCsrCPU")):
            product = torch.sparse.mm(sparse, dense)
            slope = gradient(lambda x, sparse=sparse: (sparse @ x).pow(2).sum(), dense)
            added = torch.sparse.addmm(torch.ones(6, 4).double(), sparse, dense, beta=2, alpha=3)
            assert calls() >= 4
            accounts.forget()
        torch.testing.assert_close(product, own[0])
        torch.testing.assert_close(slope, own[1])
        torch.testing.assert_close(added, 2 + 3 * own[0])


def first(result: Any) -> torch.Tensor:  # noqa: ANN401
    found: torch.Tensor = result[0] if isinstance(result, tuple) else result
    return found


def differentiated(call: Callable[..., Any], tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    given = [each.clone().requires_grad_() for each in tensors]
    result = first(call(*given))
    if not result.requires_grad:
        return [result]
    found = torch.autograd.grad(result.sum(), given, allow_unused=True)
    return [result.detach(), *(each for each in found if each is not None)]


def with_autocast(call: Callable[..., Any], tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    with torch.autocast("cpu", torch.bfloat16):
        return differentiated(call, tensors)


def with_checkpoint(call: Callable[..., Any], tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return differentiated(lambda *given: checkpoint(call, *given, use_reentrant=False), tensors)


def with_grad(call: Callable[..., Any], tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    every = tuple(range(len(tensors)))
    return list(torch.func.grad(lambda *given: first(call(*given)).sum(), every)(*tensors))


def with_vmap(call: Callable[..., Any], tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    pairs = [torch.stack([each, each.flip(0) if each.dim() else each]) for each in tensors]
    return [first(torch.func.vmap(call)(*pairs))]


def with_vmap_of_grad(call: Callable[..., Any], tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    pairs = [torch.stack([each, each.flip(0) if each.dim() else each]) for each in tensors]
    slope = torch.func.grad(lambda *given: first(call(*given)).sum(), tuple(range(len(tensors))))
    return list(torch.func.vmap(slope)(*pairs))


BY_KERNEL = {case.kernel: case for case in reversed(CASES)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kernel", BY_KERNEL)
@pytest.mark.parametrize(
    "way", [with_autocast, with_checkpoint, with_grad, with_vmap, with_vmap_of_grad]
)
def test_each_gives_what_torchs_gives_in_whatever_calls_it(
    way: Callable[..., list[torch.Tensor]], kernel: str
) -> None:
    case = BY_KERNEL[kernel]
    rows = named(case.operation)
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(each, generator=generator) for each in case.shapes]
    try:
        own = way(case.call, tensors)
    except (RuntimeError, NotImplementedError) as error:
        pytest.skip(f"torch's own cannot: {str(error)[:80]}")
    with installed(rows, keys=("CPU",)):
        found = way(case.call, tensors)
    assert calls() or way in (with_vmap, with_vmap_of_grad)  # some is taken apart for them
    assert [each.dtype for each in found] == [each.dtype for each in own]
    torch.testing.assert_close(found, own, rtol=1e-4, atol=1e-5, equal_nan=True)


# Values that are no numbers, and equal ones


def test_infinity_stays_where_it_comes_from() -> None:
    def run() -> torch.Tensor:
        x = torch.zeros(1, 1, 4, 4, requires_grad=True)
        y = F.interpolate(x, (7, 7), mode="bicubic")
        grad = torch.zeros_like(y)
        grad[..., 0, 0] = float("inf")
        return torch.autograd.grad(y, x, grad)[0]

    own = run()
    with installed(named("upsample_bicubic2d_backward"), keys=("CPU",)):
        found = run()
    assert torch.equal(found.isfinite(), own.isfinite())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e30])
def test_points_that_are_nowhere_give_nothing(value: float) -> None:
    x = torch.randn(1, 2, 3, 3, requires_grad=True)
    grid = torch.zeros(1, 2, 2, 2)
    grid[0, 0, 0] = value
    grid.requires_grad_()
    with installed(named("grid_sample"), keys=("CPU",)):
        y = F.grid_sample(x, grid, align_corners=False)
        first, second = torch.autograd.grad(y, (x, grid), torch.ones_like(y))
    assert first.isfinite().all()
    assert second[0, 0, 0].tolist() == [0, 0]


def test_a_median_of_what_is_no_number_is_none() -> None:
    x = torch.tensor([1.0, float("nan"), 0.0, float("nan")])
    own = torch.median(x, 0), torch.nanmedian(x, 0)
    with installed(named("torch.median"), keys=("CPU",)):
        found = torch.median(x, 0), torch.nanmedian(x, 0)
    torch.testing.assert_close(found, own, equal_nan=True)


def test_of_equal_values_the_first() -> None:
    x = torch.tensor([[1.0, 2.0, 2.0, 0.0, 2.0]] * 3)
    with installed(named("torch.topk", "torch.kthvalue"), keys=("CPU",)):
        assert x.topk(2)[1].tolist() == [[1, 2]] * 3
        assert x.topk(2, largest=False)[1].tolist() == [[3, 0]] * 3
        assert x.kthvalue(3)[1].tolist() == [[1]] * 3 or x.kthvalue(3)[1].tolist() == [1] * 3


def test_of_equal_indices_the_last_is_put() -> None:
    x = torch.zeros(40_000)
    index = torch.arange(200_000) % 40_000
    with guard.deterministic(repair=["put_"]):
        x.put_(index, torch.arange(200_000.0))
    assert torch.equal(x, torch.arange(160_000.0, 200_000.0))


# Failure and settings


def test_a_replacement_that_fails_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(grad_output: torch.Tensor, self: torch.Tensor) -> torch.Tensor:  # noqa: ARG001
        raise ValueError("no such size")

    monkeypatch.setattr(installation, "function_at", lambda _: broken)
    rows = named("adaptive_avg_pool2d")
    with installed(rows, keys=("CPU",)), pytest.raises(RuntimeError) as caught:
        gradient(lambda x: F.adaptive_avg_pool2d(x, 3).sum(), IMAGE)
    installation._misfit.cache_clear()
    assert str(caught.value).startswith(
        "adaptive_avg_pool2d_backward_cuda does not have a deterministic implementation"
    )
    assert "ValueError: no such size" in str(caught.value)
    explanation = translation.explain(str(caught.value))
    assert explanation is not None
    shown = translation.render(explanation, None, said=str(caught.value))
    assert "repair:      its replacement failed: ValueError: no such size" in shown
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_refusal_says_how_to_repair_it() -> None:
    said = "put_ does not have a deterministic implementation, but you set"
    explanation = translation.explain(said)
    assert explanation is not None
    shown = translation.render(explanation, None, said=said)
    assert 'or repair it: repair=["put_"] where guard is switched on' in shown
    failed = translation.render(
        explanation, None, said=f"{said}{translation.FAILED_REPAIR}ValueError: x"
    )
    assert "or repair it" not in failed


def test_an_index_that_is_not_there_is_torchs_own_error() -> None:
    with installed(named("put_"), keys=("CPU",)), pytest.raises(IndexError):
        torch.zeros(3).put_(torch.tensor([7]), torch.ones(1))


def test_another_schema_leaves_the_operator_alone_and_says_so_once() -> None:
    odd = Repair("torch.histc", (("histc", "selection:median"),), "not")
    installation._tell.cache_clear()
    with pytest.warns(UserWarning, match="guard leaves torch.histc as it is: .* other arguments"):  # noqa: PT031, SIM117
        with installed((odd,), keys=("CPU",)):
            assert torch.histc(torch.ones(3), 2).tolist() == [0, 3]
            assert calls() == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with installed((odd,), keys=("CPU",)):
            pass


def test_a_name_that_is_none_lists_near_ones() -> None:
    with pytest.raises(
        guard.SettingsError, match=r"repair: no operator .* 'grid_sampel'; near ones: .*grid_sample"
    ):
        guard.enable(repair=["grid_sampel"])
    assert guard.active() is None


def test_what_has_no_replacement_says_why() -> None:
    with pytest.raises(guard.SettingsError, match="torch.nn.LSTM has no replacement: its dropout"):  # noqa: RUF043
        guard.enable(repair=["torch.nn.LSTM"])


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("off", False), ("put_, histc", ("histc", "put_"))]
)
def test_a_variable_takes_a_switch_or_names(
    text: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARD_REPAIR", text)
    assert load().repair == value


def test_what_is_allowed_runs_as_it_is() -> None:
    assert "torch.Tensor.put_" not in {each.operation for each in wanted(True, ("put_",))}


def test_a_setting_is_true_or_names() -> None:
    with pytest.raises(guard.SettingsError, match="repair is True, False, or a list of names"):
        guard.Settings(repair=3)  # type: ignore[arg-type]


# torchvision


IMPORTED = """
import guard, torch
{before}
guard.enable(repair=True)
{after}
during = torch._C._dispatch_dump("torchvision::_roi_align_backward")
guard.disable()
after = torch._C._dispatch_dump("torchvision::_roi_align_backward")
print(during != after, "guard" in after, "load_library" in vars(torch.ops))
"""


@with_vision
@pytest.mark.parametrize("when", ["before", "after"])
def test_torchvisions_operators_are_replaced_when_it_is_imported(when: str) -> None:
    lines = {"before": "", "after": "", when: "import torchvision"}
    command = [sys.executable, "-W", "ignore", "-c", IMPORTED.format(**lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False", "False"], done.stderr


def test_a_package_that_is_not_there_is_passed_over_without_a_word() -> None:
    absent = Repair("torchvision.ops.roi_pool", (("nowhere::nothing", "selection:median"),), "not")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with installed((absent,), keys=("CPU",)):
            assert installation.in_force() == frozenset()


def test_a_refusal_of_torchvision_is_explained_and_cannot_be_allowed() -> None:
    said = (
        "roi_pool_backward_kernel does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'"
    )
    explanation = translation.explain(said)
    assert explanation is not None
    shown = translation.render(explanation, None, said=said)
    assert "The backward of torchvision.ops.roi_pool has no deterministic implementation" in shown
    assert "guard.enable(repair=True), which replaces the backward of roi_pool" in shown
    assert "allow" not in shown
    with pytest.raises(guard.SettingsError, match=r"allow: no operator .* 'roi_pool'"):
        guard.enable(allow=["roi_pool"])
    assert [each.operation for each in named("roi_pool")] == ["torchvision.ops.roi_pool"]


# Compiled and distributed programs

# interpolate is traced as gathers in newer releases, max_unpool refuses while it is traced.
TRACED = ("upsample_",)
UNTRACED = ("max_unpool",)
# torch_scatter's own operators cannot be traced.
FIRST = {
    case.kernel: case for case in reversed(CASES) if not case.kernel.startswith("torch_scatter")
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kernel", FIRST)
def test_what_a_compiled_program_leaves_to_torch_reaches_it(kernel: str) -> None:
    case = FIRST[kernel]
    rows = named(case.operation)
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(each, generator=generator).requires_grad_() for each in case.shapes]

    def run(call: Callable[..., Any]) -> list[torch.Tensor]:
        given = call(*tensors)
        result = given[0] if isinstance(given, tuple) else given
        if not result.requires_grad:
            return [result]
        return [result, *torch.autograd.grad(result.sum(), tensors, allow_unused=True)]

    own = run(case.call)
    torch.compiler.reset()
    compiled = torch.compile(case.call, backend="aot_eager")
    torch.use_deterministic_algorithms(mode=True)
    try:
        with installed(rows, keys=("CPU",)):
            if kernel.startswith(UNTRACED):
                with pytest.raises(RuntimeError, match="does not have a deterministic"):
                    run(compiled)
                return
            found = run(compiled)
    finally:
        torch.use_deterministic_algorithms(mode=False)
    assert calls() or kernel.startswith(TRACED)
    for ours, torchs in zip(found, own, strict=True):
        if torchs is not None:
            torch.testing.assert_close(ours, torchs, rtol=1e-4, atol=1e-5, equal_nan=True)


def sampled(x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
    best = F.grid_sample(x * 2, grid, align_corners=False).flatten(1).topk(5)
    return (best[0] * (best[1] % 3)).sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")
def test_what_inductor_leaves_to_torch_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import config

    monkeypatch.setattr(config, "compile_threads", 1)  # else old releases fork, and guard warns
    # Or all vector units are tried and torch's headers compiled ahead: ten seconds.
    monkeypatch.setattr(config.cpp, "vec_isa_ok", False, raising=False)
    monkeypatch.setattr(config, "cpp_cache_precompile_headers", False, raising=False)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 3, 5, 6, generator=generator).requires_grad_()
    grid = torch.rand(2, 4, 3, 2, generator=generator).requires_grad_()
    own = torch.autograd.grad(sampled(x, grid), (x, grid))
    torch.compiler.reset()
    compiled = torch.compile(sampled, backend="inductor", fullgraph=True)
    with installed(named("grid_sample", "torch.topk"), keys=("CPU",)):
        found = torch.autograd.grad(compiled(x, grid), (x, grid))
    reached = {each.operation for each in accounts.accounts()}
    assert reached == {"torch.nn.functional.grid_sample", "torch.topk"}
    torch.testing.assert_close(found, own)


HAS_FSDP = hasattr(torch.distributed.fsdp, "fully_shard")
with_fsdp = pytest.mark.skipif(not HAS_FSDP, reason="this torch has no fully_shard")


@pytest.mark.parametrize("wrapper", ["ddp", pytest.param("fsdp", marks=with_fsdp)])
def test_two_ranks_reach_it_and_agree(wrapper: str, forks: Forks, tmp_path: Path) -> None:
    script = Path(__file__).parent.parent / "repairs_ranks.py"
    done = forks.python(script, tmp_path, wrapper, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = [(tmp_path / f"rank{each}").read_text().split() for each in range(2)]
    assert first == second
    assert int(first[1]) > 0


# On the CPU, as a user has it


def unpooled() -> torch.Tensor:
    x, index = F.max_pool2d(IMAGE.detach()[..., :4], 2, return_indices=True)
    return F.max_unpool2d(x, index, 2)


def test_what_refuses_on_the_cpu_runs_and_is_reported() -> None:
    with guard.deterministic(), pytest.raises(guard.NondeterministicOperationError):
        unpooled()
    with guard.deterministic(repair=True):
        first = unpooled()
        with guard.deterministic(), pytest.raises(guard.NondeterministicOperationError):
            unpooled()
        assert torch.equal(first, unpooled())
        entry = guard.report().find("guard", "repaired: torch.nn.functional.max_unpool2d")
        watcher: Any = current()
        assert not watcher.let_through
    assert entry is not None
    assert entry.value == 2
    assert "test_repairs.py, line" in entry.meaning
    with guard.deterministic(), pytest.raises(guard.NondeterministicOperationError):
        unpooled()


def test_an_operator_at_two_places_is_one_entry_that_names_both() -> None:
    with guard.deterministic(repair=["max_unpool2d"]):
        unpooled()
        unpooled()
        F.max_unpool2d(*F.max_pool2d(IMAGE.detach()[..., :4], 2, return_indices=True), 2)
        section = next(each for each in guard.report().sections if each.name == "guard")
    (entry,) = [each for each in section.entries if each.name.startswith("repaired: ")]
    assert entry.value == 3
    assert "2 times, " in entry.meaning
    assert "once, " in entry.meaning
    assert entry.meaning.count("test_repairs.py, line ") == 2


def test_doctor_says_what_would_be_replaced_here() -> None:
    entry = guard.report().find("guard", "repairable")
    assert entry is not None
    if torch.cuda.is_available():
        assert str(entry.value).endswith(" operators on this GPU")
    else:
        assert "torch.Tensor.put_ on this CPU" in str(entry.value)
    fit = [each for each in REPAIRS if installation.needed(each) and not unfit(each)]
    assert accounts.would_replace(gpu=True).startswith(f"{len(fit)} operators on this GPU")


def test_a_survey_finds_nothing_that_is_repaired() -> None:
    with guard.deterministic(repair=True), guard.survey() as found:
        unpooled()
    assert len(found) == 0


PROGRAM = """
import torch, torch.nn.functional as F
torch.manual_seed(0)
x, index = F.max_pool2d(torch.randn(1, 1, 4, 4), 2, return_indices=True)
print(F.max_unpool2d(x, index, 2).sum())
"""


def test_a_program_is_repaired_and_told_so(forks: Forks, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM, encoding="utf-8")

    def launched(*options: str) -> subprocess.CompletedProcess[str]:
        return forks.python("-m", "guard", "run", *options, script, cwd=tmp_path)

    assert launched().returncode == 1
    done = launched("--repair")
    assert done.returncode == 0, done.stderr
    assert "guard: 1 place runs a deterministic replacement of torch's operator" in done.stderr
    assert "torch.nn.functional.max_unpool2d, once, " in done.stderr
    assert "train.py, line 5" in done.stderr
    assert launched("--repair-only", "max_unpool2d").returncode == 0
    wrong = launched("--repair-only", "max_unpol2d")
    assert (wrong.returncode, "near ones: max_unpool2d" in wrong.stderr) == (2, True)


# Without a GPU


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.adaptive_avg_pool2d(self.layer(x), 3)


def test_preflight_ends_clean_where_all_is_repaired() -> None:
    image = torch.randn(2, 3, 8, 8)
    plain = guard.preflight(Net(), image)
    assert [each.verdict for each in plain.found] == ["raises"]
    report = guard.preflight(Net(), image, repair=True)
    assert report.found == ()
    found = [each for each in report.findings if each.verdict == "repaired"]
    assert [each.name for each in found] == ["torch.nn.functional.adaptive_avg_pool2d"]
    assert "instead: the transposed map along each axis" in str(report).replace("\n", " ")
    with guard.deterministic(repair=["adaptive_avg_pool2d"]):
        assert guard.preflight(Net(), image).found == ()
