"""How the text of a source is changed at a node, whatever tree the node is of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from detlint.finding import Edit
from detlint.syntax.lexer import beginning, comments

if TYPE_CHECKING:
    import libcst as cst

    from detlint.sources.source import Source


Node = TypeVar("Node")


class Editable(Generic[Node]):
    """A source whose nodes have places in its text."""

    source: Source

    def span(self, node: Node) -> tuple[int, int]:
        """Start and end of a node, as offsets in the source's text."""
        raise NotImplementedError

    def text_of(self, node: Node) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.source.text[start:end]

    def replace(self, node: Node, text: str) -> Edit:
        """Replace a node (its parentheses stay)."""
        return Edit(*self.span(node), text)

    def insert_before(self, node: Node, text: str) -> Edit:
        """Insert text right before a node."""
        start, _ = self.span(node)
        return Edit(start, start, text)

    def insert_after(self, node: Node, text: str) -> Edit:
        """Insert text right after a node."""
        _, end = self.span(node)
        return Edit(end, end, text)

    def _after_last(self, call: Node, last: Node | None, argument: str) -> Edit:
        """Add an argument behind the last one of a call, laid out as that is."""
        start, end = self.span(call)
        if last is None:
            return Edit(end - 1, end - 1, argument)
        closed, (place, end) = end, self.span(last)
        if any(beginning(self._comments, end, closed)):
            edit = _beside_comments(self.source.text, start, closed, argument)
            if edit is not None:
                return edit
        row, column = self.source.location(place)
        indent = self.source.line(row)[: column - 1]
        own_line = not indent.strip() and row > self.source.location(start)[0]
        separator = f",{self.source.newline}{indent}" if own_line else ", "
        return Edit(end, end, f"{separator}{argument}")

    def drops_comment(self, edit: Edit) -> bool:
        """Whether an edit's range holds a comment that its replacement does not."""
        return any(
            self.source.text[start:end] not in edit.replacement
            for start, end in beginning(self._comments, edit.start, edit.end)
        )

    @cached_property
    def _comments(self) -> list[tuple[int, int]]:
        return comments(self.source.text)


def _beside_comments(text: str, start: int, end: int, argument: str) -> Edit | None:
    """Add an argument to a call with comments behind its last one, which stay beside that: libcst
    keeps them as parts of the call. Imported here alone, since importing it takes as long as
    linting a hundred files. None for a layout that is not known."""
    import libcst as cst

    old = text[start:end]
    try:
        call = cst.ensure_type(cst.parse_expression(old), cst.Call)
    except cst.ParserSyntaxError:  # of a Python newer than libcst knows
        return None
    *before, last = call.args
    closing = _behind(last)
    parting = _behind(before[-1]) if before else call.whitespace_before_args
    indent = parting.last_line if isinstance(parting, cst.ParenthesizedWhitespace) else None
    if not isinstance(closing, cst.ParenthesizedWhitespace):
        return None
    between = closing.with_changes(last_line=indent or closing.last_line, empty_lines=())
    plain = cst.SimpleWhitespace("")
    newline = closing.first_line.newline
    rest = closing.with_changes(first_line=cst.TrailingWhitespace(plain, None, newline))
    has_comma = isinstance(last.comma, cst.Comma)
    added = cst.ensure_type(cst.parse_expression(f"f({argument})"), cst.Call).args[0]
    added = (
        added.with_changes(comma=cst.Comma(whitespace_after=rest))
        if has_comma
        else added.with_changes(whitespace_after_arg=rest)
    )
    comma = last.comma if isinstance(last.comma, cst.Comma) else cst.Comma()
    kept = last.with_changes(
        whitespace_after_arg=last.whitespace_after_arg if has_comma else plain,
        comma=comma.with_changes(whitespace_after=between),
    )
    written = cst.Module([], default_newline="\r\n" if "\r\n" in old else "\n")
    new = written.code_for_node(call.with_changes(args=[*before, kept, added]))
    same = next(at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other)
    return Edit(start + same, end, new[same:])


def _behind(argument: cst.Arg) -> cst.BaseParenthesizableWhitespace:
    """What stands behind an argument and its comma."""
    import libcst as cst

    comma = argument.comma
    return comma.whitespace_after if isinstance(comma, cst.Comma) else argument.whitespace_after_arg
