"""How long after a keystroke an editor shows what `detlint server` finds.

    python benchmarks/server.py PROJECT [FILE ...] [--statements N]

Opens each file (by default the four whose length is nearest to 2,000 lines, and the longest), types
a statement in the middle of it, one letter at a time, and waits after each for the diagnostics of
that version. Prints a table: what it took from the keystroke to the message, over pipes, in
milliseconds, while the other process indexes the project; and how much of that the server's own
process was on a processor (Linux), which is what it takes where others leave it one. Nothing is
written into the project.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from lsp_client import Editor

LINES = 2_000
TYPED = "width = sum(sizes) + 1"


def files(project: Path) -> list[Path]:
    """The files that are typed in."""
    lengths = {path: path.read_bytes().count(b"\n") for path in sorted(project.rglob("*.py"))}
    near = sorted(lengths, key=lambda path: abs(lengths[path] - LINES))[:4]
    longest = max(lengths, key=lengths.__getitem__)
    return list(dict.fromkeys([*near, longest]))


def middle(text: str) -> tuple[int, str]:
    """The last line, from 0, of a statement near the middle of a file, and its margin."""
    half = text.count("\n") // 2
    ends = [
        (abs(each.end_lineno - half), each.end_lineno - 1, each.col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for each in node.body
        if isinstance(each, (ast.Assign, ast.Expr)) and each.end_lineno is not None
    ]
    _, row, margin = min(ends)
    return row, " " * margin


def processor(process: int) -> float:
    """Seconds that the threads of a process were on a processor; 0 where the system has no such
    count."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9


async def measured(project: Path, name: str, text: str, statements: int) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as cache:
        editor = Editor(project)
        await editor.start("--cache-dir", cache)
        began = time.perf_counter()
        editor.open(name, text, save=False)
        opened = await editor.version(name, 1) - began
        await asyncio.sleep(1)  # nobody types sooner
        (row, margin), took, busy = middle(text), [], []
        lines = text.split("\n")
        column = len(lines[row])
        for version, letter in enumerate(f"\n{margin}{TYPED}" * statements, start=2):
            at = (row, column) if letter != "\n" else (row, len(lines[row]))
            used = processor(editor.process)
            began = editor.type(name, version, letter, *at)
            if letter == "\n":
                row, column = row + 1, 0
                lines.insert(row, "")
            else:
                column += 1
                lines[row] += letter
            took.append(await editor.version(name, version) - began)
            busy.append(processor(editor.process) - used)
            await asyncio.sleep(0.05)
        await editor.stop()
    cells = (
        f"`{name}`",
        f"{len(text.splitlines()):,}",
        _ms(opened),
        *spread(took),
        *spread(busy),
    )
    return f"| {' | '.join(cells)} |"


def spread(times: list[float]) -> tuple[str, str, str]:
    """The median, what 95 % stay below, and the most."""
    ordered = sorted(times)
    return _ms(statistics.median(ordered)), _ms(ordered[int(0.95 * len(ordered))]), _ms(ordered[-1])


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--statements", type=int, default=2, help="how often it is typed (2)")
    options = parser.parse_args()
    project = options.project.resolve()
    chosen = [each.resolve() for each in options.files] or files(project)
    count = sum(1 for _ in project.rglob("*.py"))
    print(f"{count:,} Python files; milliseconds\n")
    print("| file | lines | opened | key: median | 95 % | most | processor | 95 % | most |")
    print("|---|---|---|---|---|---|---|---|---|")
    for each in chosen:
        name, text = str(each.relative_to(project)), each.read_text(encoding="utf-8")
        print(asyncio.run(measured(project, name, text, options.statements)), flush=True)


if __name__ == "__main__":
    main()
