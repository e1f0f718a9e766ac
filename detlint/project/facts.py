"""What a file does that other files may depend on: seeds, draws, trains, turns on, sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from detlint.source import Source

EVERY = "*"  # all libraries
MAIN = "__main__"  # in the place of a function: under `if __name__ == "__main__"`
# Tokens without which a file holds no fact of a kind.
TOKENS: dict[str, tuple[str, ...]] = {
    "seeds": ("seed", "determin", "guard", "set_rng_state", "Trainer"),
    "draws": ("random", "torch", "dropout", "Dropout"),
    "builds": ("nn.", "torch.nn"),
    "trains": (".backward(", "fit(", "train(", "GradientTape", "minimize(", "grad("),
    "enables": ("determin", "guard"),
    "sets": ("environ", "putenv"),
    "places": ('"cuda', "'cuda", ".cuda("),
}


class Fact(NamedTuple):
    """Something that a file does.

    what      the library, or the variable that is set
    text      how the source says it; for a variable, the value ("" if it is not a literal)
    function  the outermost function or class around it, "" where it runs on import
    """

    what: str
    text: str
    function: str
    row: int
    column: int
    end_row: int
    end_column: int


def read_facts(source: Source, kind: str) -> list[Fact]:
    """The facts of one kind in a file; none where it cannot be parsed, which DET000 tells."""
    text = source.text
    places = [place for token in TOKENS[kind] for place in _places(text, token)]
    if not places:
        return []
    # libcst is slow to import, and most programs are settled by their text.
    from libcst import ParserSyntaxError

    from detlint.module import read
    from detlint.narrowing import narrow
    from detlint.project.readers import READERS
    from detlint.stack import in_deep_stack

    region = narrow(text, [(place, "function") for place in places])
    if region is None:
        return []
    try:
        return in_deep_stack(lambda: READERS[kind](read(source, region)))
    except (ParserSyntaxError, RecursionError):
        return []


def _places(text: str, token: str) -> list[int]:
    found, place = [], text.find(token)
    while place >= 0:
        found.append(place)
        place = text.find(token, place + len(token))
    return found
