"""Where a file's imports end."""

from __future__ import annotations

from functools import lru_cache

from detlint.layout import layout_of


@lru_cache(maxsize=16)  # of a file, for each of its findings
def below_imports(text: str, statement: str = "") -> tuple[int, bool]:
    """Where code may follow the imports at the top of a file, and whether something stands
    before it: a docstring or imports. -1 if ``statement`` is among them.

    Works on the text, because narrowing drops imports that nothing kept names.
    """
    last = first = None
    for block in layout_of(text).top:
        code = _without_trailing_comments(text[block.start : block.end])
        if not code.strip():
            continue
        first = block.start if first is None else first
        if code.startswith(("import ", "from ")):
            if statement and code.strip() == statement:
                return -1, True
        elif not code.startswith(('"', "'")):  # a docstring
            break
        last = block.start + len(code)
    return (last, True) if last is not None else (first or 0, False)


def _without_trailing_comments(block: str) -> str:
    """A statement up to the end of its last line, without the blank and comment lines below."""
    lines = block.splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines).rstrip("\r\n")
