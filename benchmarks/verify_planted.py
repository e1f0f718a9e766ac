"""What ``guard verify`` says of programs with a planted cause, as a table.

    python benchmarks/verify_planted.py [FOLDER or FILE ...] [--steady] [--keep FILE.json]

Without a folder: those of tests/verify_programs. ``--steady``: exit status 0 is the right answer.
A verdict is right if it names a planted line, as the operator's place, the place where the
difference entered or the first suspect, and a cause that is true of it. Each takes 10 to 60 s.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from planted_programs import FOLDER, Answer, Planted, programs, read, verify


def main() -> None:
    """Verify each and print its row as it comes."""
    options = _options()
    folders = options.folders or [FOLDER / ("steady" if options.steady else "planted")]
    chosen = [each for path in folders for each in _found(path)]
    answers: list[tuple[Planted, Answer]] = []
    print("| program | planted | verdict | line | |\n|---|---|---|---|---|")
    for program in chosen:
        answer = verify(program)
        answers.append((program, answer))
        print(_row(program, answer, steady=options.steady), flush=True)
        if options.keep:
            kept = {program.name: asdict(answer) for program, answer in answers}
            options.keep.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    _summary(answers, steady=options.steady)


def _found(path: Path) -> list[Planted]:
    whole = path.resolve()  # it is verified in another folder
    return programs(whole) if whole.is_dir() else [read(whole)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--keep", type=Path, help="write all of what was said there")
    return parser.parse_args()


def _row(program: Planted, answer: Answer, *, steady: bool) -> str:
    planted = " or ".join(sorted(program.causes)) or "nothing"
    lines = ", ".join(f"{Path(file).name}:{line}" for file, line in program.lines)
    said = answer.cause or {0: "identical", 2: f"failed: {answer.error[-200:]}"}.get(
        answer.status, "?"
    )
    if program.lost:
        where = "what was lost is named" if answer.is_line else "what was lost is not named"
    elif answer.by:
        where = answer.by
    else:
        named = [f"{how} {Path(file).name}:{line}" for how, file, line in answer.named[:3]]
        where = "not named; " + (", ".join(named) or "no line at all")
    right = answer.status == 0 if steady else answer.is_right
    judged = "right" if right else "**wrong**"
    cells = (program.name, f"{planted} {lines}", said.replace("\n", " "), where, judged)
    return f"| {' | '.join(cells)} | {answer.seconds:.0f} s"


def _summary(answers: list[tuple[Planted, Answer]], *, steady: bool) -> None:
    if steady:
        right = sum(answer.status == 0 for _, answer in answers)
        print(f"\n{right} of {len(answers)} identical")
        return
    right = sum(answer.is_right for _, answer in answers)
    causes = sum(answer.is_cause for _, answer in answers)
    lines = sum(answer.is_line for _, answer in answers)
    found = sum(answer.status == 1 for _, answer in answers)
    print(f"\n{right} of {len(answers)} right; differ {found}, cause {causes}, line {lines}")


if __name__ == "__main__":
    main()
