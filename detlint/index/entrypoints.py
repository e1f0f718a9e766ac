"""Which files a person runs."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.index.scan import MAIN_BLOCK
from detlint.models.launching import RUNNING
from detlint.models.purposes import trains
from detlint.models.roles import TESTS
from detlint.sources.kinds import NOTEBOOK, PYTHON, kind_of
from detlint.syntax.layout import HEAD, layout_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.sources.source import Source
    from detlint.syntax.layout import Block

# Without one of these a file is no program, whatever its name.
STARTS = frozenset(
    {
        *(
            "__main__",
            ".backward(",
            ".fit(",
            ".train(",
            ".train_",
            ".apply_gradients(",
            "sess.run(",
        ),
        *("session.run(", "_args(", "\nmain(", "\nrun", "\ntrain", "\nfit", "\nfor epoch"),
        *("= train(", "= fit(", ".fit_generator(", "autograd.grad(", "import grad", "jax.grad("),
        *("value_and_grad", "grad_and_value", "torch.func", "functorch", ".step("),
        *("random.shuffle(", "random.rand", "random.choice", "random.sample(", "random.uniform("),
        *("random.normal(", "random.permutation(", "torch.rand"),
        *(f".{each}" for each in sorted(RUNNING)),
    }
)
# These begin with a plain character, which sre finds ten times as fast as the start of a line;
# the first line has one before it, too.
_MAIN_LINE = re.compile(rf"\n{MAIN_BLOCK.pattern}")
# Also `sess.run([model.opt_op, model.loss], feeds)`, `sess.run(train_step)`.
_TRAINS = re.compile(
    r"\.(?:(?:backward|fit|fit_generator|train|apply_gradients|optimize_parameters)\("
    r"|(?:(?<=\bsess\.)|(?<=\bsession\.))run\([\[\s(]*[\w.]*(?:opt|train)"
    r"|(?:(?<=opt\.)|(?<=optim\.)|(?<=optimizer\.))step\(|grad\()"
)
# Also what is imported by its name: `grad(loss)(weights)`.
_TRAINS_BY_NAME = re.compile(
    rf"{_TRAINS.pattern}|grad(?:(?<=(?<![a-z]_)grad)|(?<=(?<![a-z]_)value_and_grad))(?:_and_value)?\("
)
_NAMED = ("import grad", ", grad", "value_and_grad", "grad_and_value")

# Outside of functions: `args = parser.parse_args()`, `train(model, loader)`, `ppo.train_on(env)`.
_STARTS = re.compile(
    r"\n(?:\w[\w, ]*=[ \t]*)?"
    r"(?:[\w.]+(?:\([^()\n]*\))?\.parse(?:_known)?_args\(|(?:main|run|train|fit)(?:_\w+)?\("
    r"|\w+\.train_\w+\()"
)
_FITS = re.compile(r"\n(?:\w[\w, ]*=[ \t]*)?(?:train|fit)(?:_\w+)?\(")
# A call that is a statement of its own, and what may hold one outside of functions.
_OWN_LINE = re.compile(r"\n(\w+)\(")
_BLOCK = re.compile(r"\n(?:for|while|if|with)\b[^\n]*(?:\n(?:[ \t][^\n]*)?)+")
_IN_BLOCK = re.compile(r"\n[ \t]+(\w+)\(")
_DEFINED = re.compile(r"\n(?:async[ \t]+)?def[ \t]+(\w+)")
# What a plain script draws: patterns that begin with plain text, which sre finds fast.
_DRAWS = (
    re.compile(
        r"random\.(?:(?<=(?<![\w.])random\.)|(?<=(?<![\w.])np\.random\.)"
        r"|(?<=(?<![\w.])numpy\.random\.))"
        r"(?:shuffle|rand\w*|choices?|sample|uniform|normal|permutation)\("
    ),
    re.compile(r"torch\.rand(?<=(?<![\w.])torch\.rand)\w*\("),
)
# A call outside of functions, or what may hold one: far from all of them run a program.
_MAY_CALL = re.compile(
    r"\n(?!(?:async|class|def|from|import)\b)(?:(?:for|if|try|while|with)\b|[A-Za-z_](?:[^\n#]*?[\w\])])?\()"
)
_RUNNING = re.compile(rf"\n@\w+\.(?:{'|'.join(sorted(RUNNING))})\b")
_EPOCHS = re.compile(r"\nfor[ \t]+epoch\w*[ \t]+in\b")
_ROUND = re.compile(r"(?<![\w.])(?<!def )(?:train|fit|run)(?:_\w+)?\(")
_PARTIAL = re.compile(r"^(\w+)[ \t]*=[ \t]*(?:\w+\.)?partial\([ \t]*(\w+)", re.MULTILINE)
_CALLED = re.compile(r"(?<![\w.])(\w+)[ \t]*\(")
_DEFINES = re.compile(r"\n(?:async[ \t]+def|def|class)\b")
_IMPORTS = re.compile(r"\n(?:import\b|from[ \t]+(\.?))")
_QUOTES = ('"""', "'''")
_TEST = re.compile(r"(?:test_\w*|\w*_tests?|conftest|setup)\.py")
_RUNS_ITSELF = ("pytest.main(", "unittest.main(")  # by which a file has its own tests run
_PLUGS = ("conftest.py", "setup.py")
# What pytest looks for in such a file: without it, `train_test.py` trains and tests a model.
_TESTS = re.compile(
    r"\n[ \t]*(?:async[ \t]+)?(?:def[ \t]+test|class[ \t]+\w*Test)|\b(?:pytest|unittest)"
)
# What it could run there; `test_model(path)` has to be given something.
_RUN = re.compile(
    r"\n[ \t]*(?:async[ \t]+)?(?:def[ \t]+test\w*\([ \t]*(?:self[ \t]*)?\)|class[ \t]+\w*Test)"
)
# What tests something, and what a person runs: it takes the command line, or has a `main`.
_TESTING = re.compile(r"\b(?:pytest|unittest|assert\w*)\b")
_BY_HAND = re.compile(r"\bparse(?:_known)?_args\(|\bsys\.argv\b|\ndef[ \t]+main\(")


def is_program(source: Source) -> bool:
    """Whether a source is a program."""
    if source.kind not in (PYTHON, NOTEBOOK):
        return False
    path, text = source.path, source.text
    return may_start(path, text) and (  # most files are none, whatever words they hold
        any(map(text.__contains__, STARTS)) or may_start(path, text, told=False)
    )


@lru_cache(maxsize=2_000)  # a look at each file, and one at what may be told by its statements
def may_start(path: str, text: str, *, told: bool = True) -> bool:
    """The same of a text, and whether it holds a word of ``STARTS``.

    What only starts at the top of a package's file is told by what it does.
    """
    name = os.path.basename(path)
    if name == "__main__.py":
        return True
    if told and kind_of(name) == NOTEBOOK:
        return True
    if kind_of(name) != PYTHON or _tests_code(path, text):
        return False
    started = told and (says_so(name, text) or _starts_at_the_top(text))
    return started or _calls_its_own(text)


def _tests_code(path: str, text: str) -> bool:
    """Whether pytest runs a file, by its name, or since it says so itself."""
    named = _TEST.fullmatch(os.path.basename(path)) is not None
    return (named or any(map(text.__contains__, _RUNS_ITSELF))) and not _tests_models(path, text)


def _tests_models(path: str, text: str) -> bool:
    """Whether a file whose name is that of a test is a program that trains a model and tests it, or
    one that starts something and has nothing that pytest could run. Where a person runs it, and
    it asserts nothing and lies in no folder of tests, its `test_forward()` are its own."""
    folder, name = os.path.split(path)
    if not name.startswith("test_") and trains(name) and not _TESTS.search(f"\n{text}"):
        return True
    starts = name not in _PLUGS and (says_so(name, text) or _is_at_the_top(_FITS, text))
    if not starts or _TESTING.search(text):
        return False
    if not _RUN.search(f"\n{text}"):
        return True
    apart = os.path.basename(folder) not in TESTS and main_line(text) is not None
    return apart and _BY_HAND.search(text) is not None


def is_entrypoint(path: str, text: str) -> bool:
    """Whether a file is a program: it says so, or trains as it is loaded. Tests are not:
    pytest runs them, and shares what it seeds."""
    return may_start(path, text) and (
        kind_of(path) == NOTEBOOK or not is_packaged(path) or says_so(path, text)
    )


def may_be_flat(path: str, text: str) -> bool:
    """Whether a file that says nothing of a start may be a program all the same, by what its
    statements call: ``agent.learn(1000)``. What that runs tells."""
    return not _tests_code(path, text) and _MAY_CALL.search(f"\n{text}") is not None


def may_be_flat_in_package(path: str, text: str) -> bool:
    """The same of a file of a package: one that takes the command line, say, or that defines
    nothing which others may import. A script can't import relatively, and without imports it
    does nothing that varies."""
    lines = f"\n{text}"
    if os.path.basename(path) == "__init__.py" or set(_IMPORTS.findall(lines)) != {""}:
        return False
    return may_start(path, text) or (_DEFINES.search(lines) is None and may_be_flat(path, text))


def are_flat(paths: Iterable[str]) -> bool:
    """Whether one of some files of packages may be such a program."""
    for path in paths:
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            if may_be_flat_in_package(path, file.read()):
                return True
    return False


def is_packaged(path: str) -> bool:
    """Whether a file lies in a package."""
    return os.path.exists(os.path.join(os.path.dirname(path), "__init__.py"))


@lru_cache(maxsize=2_000)
def says_so(path: str, text: str) -> bool:
    """Whether a file has a main block, or trains as it is loaded."""
    if os.path.basename(path) == "__main__.py" or main_line(text) is not None:
        return True
    if any(map(text.__contains__, RUNNING)) and _RUNNING.search(f"\n{text}"):
        return True
    return bool(_training(text).search(text)) and _trains_at_the_top(text)


def _training(text: str) -> re.Pattern[str]:
    """What trains, by the names that a file may give it."""
    return _TRAINS_BY_NAME if any(each in text for each in _NAMED) else _TRAINS


def _starts_at_the_top(text: str) -> bool:
    """Whether code outside of functions takes the command line, draws random numbers, or calls
    what may train in another file."""
    lines = f"\n{text}"  # offsets of line breaks here are those of lines in the text
    found = [each.start() for each in _STARTS.finditer(lines)]
    if _draws_at_the_top(text):
        return True
    rounds = _EPOCHS.search(lines)
    called = _ROUND.search(text, rounds.start()) if rounds is not None else None
    if not found and called is None:
        return False
    layout = layout_of(text)
    if any(layout.at(each) is None for each in found):
        return True
    if rounds is None or called is None or layout.at(called.start()) is not None:
        return False
    return any(block.start <= rounds.start() <= called.start() < block.end for block in layout.top)


def _is_at_the_top(wanted: re.Pattern[str], text: str) -> bool:
    """Whether a line outside of functions begins with what is wanted, and no text does."""
    found = [each.start() for each in wanted.finditer(f"\n{text}")]
    if not found:
        return False
    return any(layout_of(text).at(each) is None for each in found)


def _calls_its_own(text: str) -> bool:
    """Whether a statement outside of functions calls a function that the file defines, and
    keeps nothing of it: ``for k in range(9): experiment(k)``."""
    lines = f"\n{text}"
    defined = set(_DEFINED.findall(lines))
    if not defined:
        return False
    # Statements and the calls in them; an offset in ``lines`` is one more than in the text.
    found = [(each.start(), each.start(1) - 1, each[1]) for each in _OWN_LINE.finditer(lines)]
    for block in _BLOCK.finditer(lines):
        calls = _IN_BLOCK.finditer(lines, block.start(), block.end())
        found += [(block.start(), each.start(1) - 1, each[1]) for each in calls]
    found = [each for each in found if each[2] in defined]
    if not found:
        return False
    layout = layout_of(text)
    return any(
        layout.at(place) is None and not _is_in_function(text, start, place)
        for start, place, _ in found
    )


def _draws_at_the_top(text: str) -> bool:
    """Whether code outside of functions draws random numbers."""
    drawn = sorted(each.start() for draws in _DRAWS for each in draws.finditer(text))
    if not drawn:
        return False
    layout = layout_of(text)
    blocks = [each for each in layout.top if not each.kind]
    return any(
        layout.at(place) is None and not _is_in_function(text, block.start, place)
        for block in blocks
        for place in drawn[bisect_left(drawn, block.start) : bisect_left(drawn, block.end)]
    )


def _trains_at_the_top(text: str) -> bool:
    """Whether code outside of functions trains, or calls a function of the file that does."""
    layout, training = layout_of(text), _training(text)

    def is_code(match: re.Match[str], block: Block) -> bool:
        outside = block.kind or not _is_in_function(text, block.start, match.start())
        return bool(outside) and layout.at(match.start()) is None

    def trains(block: Block) -> bool:
        found = training.finditer(text, block.start, block.end)
        return any(is_code(each, block) for each in found)

    def calls(block: Block) -> Iterator[re.Match[str]]:
        return _CALLED.finditer(text, block.start, block.end)

    functions = {each.name: each for each in layout.top if each.kind == "def"}
    reached = [name for name, block in functions.items() if trains(block)]
    partial = {match[1]: match[2] for match in _PARTIAL.finditer(text)} if reached else {}
    callers: dict[str, list[str]] = {}
    for name, block in functions.items() if reached else ():
        for called in {each[1] for each in calls(block) if is_code(each, block)}:
            callers.setdefault(partial.get(called, called), []).append(name)
    known = set(reached)
    for name in reached:  # grows
        fresh = [each for each in callers.get(name, ()) if each not in known]
        known.update(fresh)
        reached += fresh

    def starts(block: Block) -> bool:
        named = (each for each in calls(block) if partial.get(each[1], each[1]) in known)
        return trains(block) or (bool(known) and any(is_code(each, block) for each in named))

    return any(starts(block) for block in layout.top if not block.kind)


def _is_in_function(text: str, start: int, place: int) -> bool:
    """Whether a place in a statement, such as an ``if``, lies in a function that it defines."""
    above = text[start:place].splitlines()
    depth = _indent(above.pop()) if above else 0
    for line in reversed(above):
        indent = _indent(line)
        if line.strip() and indent < depth:
            head = HEAD.match(line)
            if head is not None and head[2] == "def":
                return True
            depth = indent
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def main_line(text: str) -> int | None:
    """The offset of ``if __name__ == "__main__":`` outside of strings."""
    if "__name__" not in text:
        return None
    for match in _MAIN_LINE.finditer(f"\n{text}"):
        if all(text.count(quotes, 0, match.start()) % 2 == 0 for quotes in _QUOTES):
            return match.start()
        if layout_of(text).at(match.start()) is None:
            return match.start()
    return None
