"""What a program is for, by its name, its folders and the words of its text."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from detlint.index.entrypoints import main_line

if TYPE_CHECKING:
    from collections.abc import Iterable

# Programs that use a model or make its data, by the words of their names, unless they say more.
_OTHER_TOOL = re.compile(
    r"(?:^|[\W_\d])(?:infer|predict(?!or)|export|convert|eval|quantiz|visuali|vis[\W_]|demo|serve"
    r"|enjoy|play(?!er)|render(?!er)|texture|view|generat(?!or)|gen[\W_]|synthesi|resynthesi"
    r"|sample(?!r)|score|scoring|rerank|dump|extract|prep[\W_]|prepar|preprocess|manifest|averag"
    r"|summar|interactive|translat|validat|test|profil|benchmark|bench[\W_]|upload|download|merge"
    r"|install|setup|mcp[\W_]|refactor|readme|check(?!point)|verify|lint|server|hubconf"
    r"|detect(?!ion|or)"
    r"|plot|show|chat|record[\W_]|rollout[\W_]|teleop|replay[\W_])|infer(?:ence)?\.py$|(?:evaluat\w*|eval|predict|demo|export|convert)\.py$",
    re.IGNORECASE,
)
_MEASURES = re.compile(
    r"(?:^|[\W_])(?:bench(?:mark(?:ing)?)?s?|roofline|microbench\w*|speed_?tests?)(?:[\W_]|$)"
)
_TRIES = re.compile(
    r"\btorch\.utils\.benchmark\b|\btriton\.testing\b|\bperf_report\b|\b(?:assert_close|allclose)\("
    r"|\bonnx\.(?:utils\.)?_?export\(|\bjit\.trace\(|\bgradcheck\("
)
# What a person looks at, and nothing keeps.
_SHOWS = re.compile(
    r"\bmlab\.|\braw_input\(\)|\bset_trace\(\)|\bcv2?\.(?:imshow|waitKey)\(|\b(?:plt|pyplot)\.show\("
)
# What draws windows or pages for a person who uses it, or answers requests.
_INTERFACE = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:gradio|streamlit|tkinter|Tkinter|PyQt\d|PySide\d|nicegui"
    r"|fastapi|uvicorn|flask)\b",
    re.MULTILINE,
)
_KEEPS = re.compile(r"\bsave|\bdump|_dump|(?:\b|im)write|to_csv")
_KEPT = re.compile(
    r"save|dump|write|\bto_(?:csv|hdf|json|parquet|pickle)\(|\bshutil\.\w+\("
    r"|push_to_hub|[\"'][wax]b?\+?[\"']"
)
# Programs whose random numbers are inputs on which something is tried, or are no result.
_CHECKS = re.compile(r"(?:^|_)(?:verify|check|compare|profile|serve|server|controller)(?:_|\.)")
_MAKES = re.compile(r"prep|split|generat|make|creat|build|sampl|process|collect|mine|mining")
# What a main block calls that is more than a try of what the file defines.
_PROGRAM = re.compile(r"\b(?:main|run|cli|app|parse_\w+|Fire)\w*\(|\bargv\b")
_TRIAL = re.compile(r"(?<![\w.])_?(?:test|demo|debug)\w*\(")
_TRAINER = re.compile(r"train(?!ed)|tun(?:e|ing)|(?:^|[\W_])fit|learn|distill", re.IGNORECASE)
_STARTS = re.compile(r"(?<![a-z])(?:train|fit|learn|launch|run_exp)\w*\(", re.IGNORECASE)
# What trains in the text of a program that its name says is for something else.
_TRAINS_HERE = re.compile(
    r"(?<![\w])(?:train|fit|finetune|fine_tune)(?:_(?:model|net|network|epoch|one_epoch|loop|step"
    r"|batch))?\(\s*(?!False\b|True\b|mode\b|self\b|\))|\.optimize_parameters\("
)
_DEFINED = re.compile(r"\bdef[ \t]+\w+\(")
_FITTED = re.compile(r"\.(?:fit|train)\(\s*(?!False\b|True\b|mode\b|\))")
_STARTER = re.compile(r"(?:__main__|cli|exp\w*|launch\w*|main\w*|run\w*)\.py", re.IGNORECASE)
_WORKERS = re.compile(
    r"[\"']num_workers[\"'][ \t]*:[ \t]*[1-9]"
    r"|\bDataLoader\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?\bnum_workers[ \t]*=[ \t]*(?!0\b|None\b)"
)
_NO_WORKERS = re.compile(r"workers[\"'][^()]*\bdefault[ \t]*=[ \t]*0\b")
_CHANGES = re.compile(
    r"transform|augment|preproc|dataset|data_?load|crop|flip|jitter|rotat|scale|blur|colou?r",
    re.IGNORECASE,
)
# What a file uses that changes pictures.
_PICTURES = re.compile(
    r"\b(?:ImageEnhance|ImageOps|ImageFilter|albumentations)\b|\btransforms\.functional\b"
)
_COLLATES = re.compile(r"collat", re.IGNORECASE)
_TESTS = re.compile(r"(?:^|/)tests?/")
_TEST = re.compile(r"(?:^|/)(?:tests?/|(?:test|check|verify)_[^/]*$)|_test\.py$")
_APART = re.compile(r"(?:^|/)(?:tests?|bench|benchmarks?|benchmarking|speed_?tests?)/")


def trains(name: str) -> bool:
    """Whether a file's name says that it trains."""
    return _TRAINER.search(name) is not None


def starts(name: str, text: str) -> bool:
    """Whether a program may start training: by its name, or by what its text calls."""
    return _STARTER.fullmatch(name) is not None or calls_training(text)


def calls_training(text: str) -> bool:
    """Whether something is called that may train: ``launch(…)``, ``fit_model(…)``."""
    if "gradio" in text:
        text = text.replace(".launch(", "(")  # shows a page
    return _STARTS.search(text) is not None


def trains_here(text: str) -> bool:
    """Whether a program's own text calls what trains, and not only a mode: ``net.train(False)``."""
    return _TRAINS_HERE.search(_DEFINED.sub("", text)) is not None


def have_workers(texts: Iterable[str]) -> bool:
    """Whether a loader of torch has workers, as far as the texts of a program tell."""
    known = list(texts)
    return any(map(_WORKERS.search, known)) and not any(map(_NO_WORKERS.search, known))


def changes_items(name: str, text: str) -> bool:
    """Whether the name of a file or a class says that it changes items of a data set, or the
    file's text that it changes pictures."""
    return _CHANGES.search(name) is not None or _PICTURES.search(text) is not None


def collates(name: str) -> bool:
    """Whether a name is of what makes batches of items."""
    return _COLLATES.search(name) is not None


def is_other_tool(name: str, shown: str) -> bool:
    """Whether it uses a model, makes its data, or is a test; ``shown`` is its path."""
    return bool(_OTHER_TOOL.search(name) or _TESTS.search(shown))


def is_test(shown: str) -> bool:
    """Whether the path of a program says that it is a test, which may have a backward of its
    own."""
    return _TEST.search(shown) is not None


def measures(name: str) -> bool:
    """Whether it is a benchmark."""
    return _MEASURES.search(name) is not None


def checks(shown: str, text: str) -> bool:
    """Whether it is a test, a benchmark or a server, compares two of a thing, or only shows
    something: its random numbers are no result."""
    name = os.path.basename(shown)
    block = text[main_line(text) or 0 :]
    if _SHOWS.search(block) and not _KEEPS.search(block):
        return True
    if _INTERFACE.search(text):
        return True
    patterns = (_MEASURES, name), (_APART, shown), (_CHECKS, name), (_TRIES, text)
    return any(pattern.search(where) for pattern, where in patterns)


def keeps(text: str) -> bool:
    """Whether a program writes something."""
    return _KEPT.search(text) is not None


def tries(name: str, main_block: str) -> bool:
    """Whether the main block of a module only tries what that defines: it calls no program, and
    the file's name does not say that it makes something."""
    if _MAKES.search(name):
        return False
    if _FITTED.search(main_block):
        return False
    return _TRIAL.search(main_block) is not None or not _PROGRAM.search(main_block)
