"""What happens around a call of an operator of the table, and around its backward."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from detlint.operations import OPERATIONS, Operation
from guard import repairs
from guard.dependencies import import_torch, in_force
from guard.observe import engine, places
from guard.refusals import translation
from guard.refusals.allowance import allowed
from guard.refusals.translation import explained, refused
from guard.setup.flags import switched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.settings import Settings

    Function = Callable[..., Any]


class Watcher:
    """Follows the table's operators under one set of settings."""

    def __init__(self, settings: Settings, *, surveys: bool = False) -> None:
        # how often each allowed operator ran, by the row's name
        self.let_through: Counter[str] = Counter()
        # how often the backward of each place began, in a survey
        self.started: Counter[tuple[str, places.Trail | None]] = Counter()
        self._allowed = allowed(settings.allow)
        self._strict = settings.strict
        self._repaired = repairs.in_force()
        self._surveys = surveys
        self._last: tuple[Operation, places.Trail | None] | None = None
        self._lifts = ExitStack()
        self._depth = 0

    @property
    def is_in_backward(self) -> bool:
        """Whether the engine runs; checkpoints start it again from within."""
        return self._depth > 0

    # Forward

    def call(
        self,
        function: Function,
        watched: Sequence[Operation],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401
        """What a watched function gives; its refusal explained."""
        __tracebackhide__ = True  # pytest shows the user's frames
        rows = [row for row in watched if not row.silent or differs(row, args, kwargs)]
        for each in rows:
            if each.silent and each.direction == "forward":
                self._begin(each, places.here())
        try:
            result = function(*args, **kwargs)
        except RuntimeError as error:
            row = translation.find(str(error))
            if row is not None and row in self._allowed:
                # It refuses before it has done anything, so that it can be called again.
                self.let_through[row.name] += 1
                with switched(on=False):
                    return function(*args, **kwargs)
            ours = explained(error, places.here())
            if ours is None:
                raise
            raise ours from error
        for each in rows:
            if each.nodes:
                self._tag(result, each)
        return result

    def _tag(self, result: Any, row: Operation) -> None:  # noqa: ANN401
        """Note on the graph's node which line made it, and what to do when it runs."""
        node = engine.made_by(result, row)
        if node is None or "guard" in node.metadata:
            return
        trail = places.here()
        node.metadata["guard"] = trail
        self._hook(node, row, trail)

    def _hook(self, node: Any, row: Operation, trail: places.Trail | None) -> None:  # noqa: ANN401
        node.register_prehook(lambda _: self._begin(row, trail))
        if row in self._allowed:
            node.register_hook(lambda *_: self._lifts.close())

    # Backward

    def backward(self, function: Function, outputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Run the engine; a refusal is explained by the line that made the node."""
        __tracebackhide__ = True
        self._depth += 1
        wanted = OPERATIONS if self._surveys else tuple(self._allowed)
        for node, each in engine.untagged(outputs, wanted) if wanted else ():
            self._hook(node, each, None)
        try:
            return function(outputs, *args, **kwargs)
        except RuntimeError as error:
            row, made = self._maker(translation.find(str(error)))
            ours = explained(error, made, started=places.here(), row=row)
            if ours is None:
                raise
            raise ours from error
        finally:
            self._lifts.close()
            self._depth -= 1

    def _maker(self, refusing: Operation | None) -> tuple[Operation | None, places.Trail | None]:
        """What made the node that refused, and where: what began last, if that can have.

        The backward of ``take`` refuses in the name of ``put_``.
        """
        row, trail = self._last or (None, None)
        if refusing is not None and (row is refusing or (row is not None and not row.alerts)):
            return row, trail
        return refusing, None

    def _begin(self, row: Operation, trail: places.Trail | None) -> None:
        """A node of the row's is about to run, or a silent function."""
        self._last = (row, trail)
        if row.name in self._repaired:
            return
        if self._surveys:
            self.started[row.name, trail] += 1
        elif row in self._allowed:
            self.let_through[row.name] += 1
            if not row.silent:
                self._lifts.enter_context(switched(on=False))
        elif row.silent and self._strict:
            started = places.here() if row.direction == "backward" else None
            explanation = translation.explain_operation(row, backward=started is not None)
            raise refused(explanation, trail, started)


def sees(row: Operation) -> bool:
    """Whether the arguments of a call tell if it differs."""
    return row.name in _TESTS


def differs(row: Operation, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """Whether a call of a silent row's function gives other bits in another run."""
    test = _TESTS.get(row.name)
    tensor = args[0] if args else kwargs.get("input", kwargs.get("self"))
    if test is None or tensor is None or tensor.device.type not in row.devices:
        return False
    if row.until and not in_force(row):
        return False
    return test(tensor, args, kwargs)


def _scans_in_one_piece(tensor: Any, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """All elements along one dimension go to a scan that hands partial results on as blocks
    finish."""
    dimension = args[1] if len(args) > 1 else kwargs.get("dim", 0)
    if not tensor.is_floating_point() or not isinstance(dimension, int) or not tensor.dim():
        return False
    return bool(tensor.numel() == tensor.size(dimension))


def _overlaps(tensor: Any, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """Windows of unequal size overlap, and add to the same place."""
    size = args[1] if len(args) > 1 else kwargs["output_size"]
    sizes = [size] * 3 if isinstance(size, int) else size
    lengths = zip(tensor.shape[-3:], sizes, strict=True)
    return any(wanted is not None and length % wanted for length, wanted in lengths)


def _goes_to_cudnn(tensor: Any, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """``torch.grid_sampler`` as aten/src/ATen/native/GridSampler.cpp sends it there."""
    torch = import_torch("guard")
    mode, padding, corners = (
        args[place] if len(args) > place else kwargs.get(name, default)
        for place, name, default in (
            (2, "interpolation_mode", _BILINEAR),
            (3, "padding_mode", _ZEROS),
            (4, "align_corners", True),  # of cudnn_grid_sampler, which takes none of them
        )
    )
    return bool(
        torch.backends.cudnn.enabled
        and (mode, padding) == (_BILINEAR, _ZEROS)
        and corners
        and tensor.dim() == 4
        and tensor.size(1) <= _MOST_CHANNELS
        and tensor.dtype in (torch.float16, torch.float32, torch.float64)
    )


_BILINEAR, _ZEROS, _MOST_CHANNELS = 0, 0, 1024
_TESTS: dict[str, Callable[..., bool]] = {
    "torch.nn.functional.adaptive_max_pool3d": _overlaps,
    "torch.nn.functional.grid_sample by cuDNN": _goes_to_cudnn,
    "torch.cumprod": _scans_in_one_piece,
    "torch.logcumsumexp": _scans_in_one_piece,
}
