"""What happens around a call of an operator of the table, and around its backward."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from detlint.operations import OPERATIONS, Operation
from guard.observe import engine, places
from guard.refusals import silence, translation
from guard.refusals.allowance import allowed
from guard.refusals.translation import explained, refused
from guard.repairs import in_force
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
        self._repaired = in_force()
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
        rows = [row for row in watched if not row.silent or silence.differs(row, args, kwargs)]
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
