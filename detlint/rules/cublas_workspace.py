"""DET306 cublas-workspace."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.callgraph.start import setting
from detlint.dataflow.arguments.settings import options_at
from detlint.documents.variables import export, replaced, unseen_by
from detlint.models.model import words
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.arguments.settings import Setting
    from detlint.dataflow.ir import Function, Op
    from detlint.documents.document import Variable
    from detlint.finding import Finding
    from detlint.settings import Settings

_VARIABLE = "CUBLAS_WORKSPACE_CONFIG"
_VALUES = (":4096:8", ":16:8")
_WANTED = ":4096:8"
_ADVICE = f"set it to {_VALUES[0]}, or to {_VALUES[1]}, which takes less memory"
# Calls of torch.cuda that compute nothing.
_IDLE = words(
    """is_available device_count is_initialized is_bf16_supported init manual_seed manual_seed_all
    init_seed seed seed_all set_device current_device device get_device_name get_arch_list
    get_device_capability get_device_properties can_device_access_peer empty_cache synchronize
    mem_get_info memory_allocated memory_reserved max_memory_allocated reset_peak_memory_stats
    set_per_process_memory_fraction Event Stream current_stream default_stream ipc_collect"""
)


class CublasWorkspace(Rule):
    """Why runs differ: cuBLAS may add up in varying order when several streams share its workspace.
    `CUBLAS_WORKSPACE_CONFIG` gives it a fixed one, if it is set before the first work on the GPU.
    NVIDIA documents two values as deterministic: `:4096:8`, and `:16:8`, which is smaller and can
    be slower. Older releases of torch raise without it under deterministic algorithms; torch 2.13
    does not check.

    Reported:
    - a value that is neither of the two, such as `:4096:2`
    - a value that a script does not export
    - a value set after the first CUDA work of its function or module
    - a program that turns deterministic algorithms on, while nothing that it imports sets the
      variable

    Lowers the confidence:
    - work on the GPU comes before it, which may not have started cuBLAS yet

    Not reported:
    - a program in which `guard.enable` or a trainer sets it
    - a program that names no CUDA device, or does not train

    What to do: Set it before torch is imported:
    `os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")`. Or export it in the script that
    starts the run, or call `guard.enable(seed=0)`.

    Fix safety: safe. It is set before torch is imported, unless it has a value already.
    """

    code = "DET306"
    summary = "CUBLAS_WORKSPACE_CONFIG is not set to a deterministic value in time"
    triggers = (_VARIABLE,)
    mentions = (_VARIABLE,)
    source = "https://docs.nvidia.com/cuda/cublas/index.html#results-reproducibility"
    examples = (
        Example(
            bad="""
                import os

                os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:2"  # DET306
            """,
            fixed="""
                import os

                os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
            """,
        ),
        Example(
            bad="""
                import torch

                torch.use_deterministic_algorithms(True)  # DET306
                model = torch.nn.Linear(4, 1).to("cuda")
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(2, 4, device="cuda")).sum().backward()
                optimizer.step()
            """,
            fixed="""
                import os

                os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

                import torch

                torch.use_deterministic_algorithms(True)
                model = torch.nn.Linear(4, 1).to("cuda")
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(2, 4, device="cuda")).sum().backward()
                optimizer.step()
            """,
        ),
    )

    @cached_property
    def _started(self) -> dict[Function, Op | None]:
        """What starts cuBLAS in each function."""
        return {}

    def examine(self, offsets: Sequence[int]) -> None:
        for each in options_at(self.unit, offsets, (_VARIABLE,)):
            given = each.constant
            if each.form not in ("environment", "child") or not isinstance(given, str):
                continue
            if given and given not in _VALUES:  # "" takes it away again
                edits = each.replaced(f'"{_WANTED}"')
                self.report(each.node, _told(given), advice=_ADVICE, edits=edits)
            elif given and each.form == "environment":
                self._check_place(each)

    def _check_place(self, setting: Setting) -> None:
        """Whether what starts cuBLAS comes before it."""
        work = self._first_work(setting.op.function)
        if work is not None and work.place < setting.op.place:
            line = self.unit.source.spoken_place(self.unit.span(work.node)[0])
            self.report(
                setting.op.node,
                f"{_VARIABLE} is set after work on the GPU in {line}: cuBLAS reads it once, when "
                "it starts, and may have started",
                advice="set it before torch is imported, or in the script that starts the run",
            )

    def visit_Variable(self, node: Variable) -> None:
        if node.name != _VARIABLE or not node.value:
            return
        if node.value not in _VALUES:
            edits = replaced(self.document, node, _WANTED)
            self.report(node, _told(node.value), advice=_ADVICE, edits=edits)
        elif name := unseen_by(self.document, node):
            message = f"{_VARIABLE} is set here and not exported: {name} does not see it"
            edits = export(self.document, node)
            self.report(node, message, advice="export it", edits=edits)

    def _first_work(self, function: Function) -> Op | None:
        if function not in self._started:
            self._started[function] = next(filter(self._is_work, function.ops), None)
        return self._started[function]

    def _is_work(self, op: Op) -> bool:
        """``model.cuda()``, ``x.to("cuda")``, ``torch.ones(2, device="cuda")``."""
        if op.code != "call":
            return False
        method = op.args[0].name if op.args[0].code == "attr" else ""
        called = self.unit.values.called(op)
        if any(each.startswith("torch.cuda.") for each in called):
            return any(each.rpartition(".")[2] not in _IDLE for each in called)
        if method == "cuda" and len(op.args) == 1:
            return True
        device = op.given("device", 0 if method == "to" else None)
        value = self.unit.values.constant(device) if device is not None else None
        moves = method == "to" or any(each.startswith("torch.") for each in called)
        return moves and isinstance(value, str) and value.startswith("cuda")

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        # What runs takes longest to tell, so what settles the matter anywhere comes first.
        if (
            not all(_is_bare(each.fact.text) for each in program.facts("enables", "torch"))
            or program.has("sets", _VARIABLE)
            or not (switches := list(program.facts("enables", "torch", runs=True)))
            or not program.has("trains", "torch")
            or not program.has("places", "cuda")
        ):
            return
        yield program.finding(
            cls,
            switches[0],
            f"{program.title} turns deterministic algorithms on{program.where(switches[0])} and "
            f"sets no {_VARIABLE}, which cuBLAS needs to add up in a fixed order",
            f"set {_VARIABLE}={_WANTED} before torch is imported, in the script that starts the run"
            f"{'' if program.has_own_guard else ', or by guard.enable(seed=0)'}",
            setting(program.source, _VARIABLE, _WANTED, "torch"),
            safe=True,
        )


def _told(value: str) -> str:
    return f"{_VARIABLE}={value} is not a value with which cuBLAS is deterministic"


def _is_bare(text: str) -> bool:
    """Whether a call is torch's own switch, which leaves the variable alone."""
    return "use_deterministic_algorithms(" in text and "False" not in text
