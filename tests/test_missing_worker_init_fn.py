"""What DET201 says, and where its fix puts the import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.engine import Engine
from detlint.fixes import fix
from detlint.rules.missing_worker_init_fn import MissingWorkerInitFn
from detlint.settings import Settings
from detlint.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

CODE = "from torch.utils.data import DataLoader\nloader = DataLoader(data, num_workers=n)\n"


def test_the_message_says_what_torch_seeds_and_what_it_does_not(
    findings: Callable[..., list[Finding]],
) -> None:
    (found,) = findings(CODE, "DET201")
    assert found.message == (
        "DataLoader() with num_workers=n has no worker_init_fn: in a worker torch seeds random, "
        "torch and (since 1.9) NumPy's global generator, but not generator objects held by the "
        "dataset, nor other libraries"
    )
    assert not found.safe


def test_before_torch_1_9_numpy_is_not_seeded() -> None:
    engine = Engine([MissingWorkerInitFn], Settings(target_torch=(1, 8)), known=())
    (found,) = engine.lint(Source("example.py", CODE))
    assert "before 1.9 torch seeds random and torch in a worker, but not NumPy" in found.message


def test_the_fix_is_unsafe_and_adds_the_import(engine: Callable[..., Engine]) -> None:
    lint = engine("DET201").lint
    source = Source("example.py", CODE)
    assert fix(source, lint, unsafe=False).source.text == CODE
    assert fix(source, lint, unsafe=True).source.text == (
        "from torch.utils.data import DataLoader\n"
        "import guard\n"
        "loader = DataLoader(data, num_workers=n, worker_init_fn=guard.seed_worker)\n"
    )


def test_a_file_with_another_guard_gets_no_fix(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings(CODE + "guard = None\n", "DET201")
    assert found.edits == ()
