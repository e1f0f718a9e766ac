"""Where the nodes of libcst's own tree stand in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from libcst.metadata.span_provider import ByteSpanPositionProvider, SpanProvidingCodegenState

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst
    from libcst.metadata import CodeSpan


class Spans:
    """Offsets ``(start, end)`` of nodes in characters, without the whitespace around them.

    libcst's trees hold no positions: its code is generated to learn them, one top-level statement
    at a time, as far as needed.
    """

    def __init__(self, module: cst.Module) -> None:
        provider = ByteSpanPositionProvider()
        self._known = provider._computed  # noqa: SLF001
        self._rest = _generate(module, provider)

    def find(self, node: cst.CSTNode) -> tuple[int, int]:
        """The span of a node of the module."""
        while node not in self._known:
            next(self._rest)
        span = cast("CodeSpan", self._known[node])
        return span.start, span.start + span.length


def _generate(module: cst.Module, provider: ByteSpanPositionProvider) -> Iterator[None]:
    """Generate code, and by it the spans, up to the next top-level statement each time."""
    state = SpanProvidingCodegenState(
        module.default_indent, module.default_newline, provider=provider, get_length=len
    )
    state.before_codegen(module)
    for node in (*module.header, *module.body, *module.footer):
        node._codegen(state)  # noqa: SLF001
        yield
    state.after_codegen(module)
    yield
