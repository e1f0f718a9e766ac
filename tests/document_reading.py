"""Reading one text as a document of some kind, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from detlint.documents import read
from detlint.engine import Engine
from detlint.fixes.applying import fix
from detlint.rules import every_rule
from detlint.settings import Settings
from detlint.sources.decoding import decode

if TYPE_CHECKING:
    from detlint.documents import Document
    from detlint.finding import Finding
    from detlint.sources.source import Source

# Recognised as one of Hugging Face's, in each of the kinds.
ARGUMENTS = {
    "yaml": "num_train_epochs: 3\nlearning_rate: 1.0e-5\noutput_dir: out\n",
    "toml": 'num_train_epochs = 3\nlearning_rate = 1e-5\noutput_dir = "out"\n',
    "json": '"num_train_epochs": 3, "learning_rate": 1e-5, "output_dir": "out"',
}
_RULES = every_rule()
T = TypeVar("T")


def engine() -> Engine:
    return Engine(_RULES, Settings(), known={rule.code for rule in _RULES})


def source(name: str, text: str) -> Source:
    return decode(name, text.encode())


def document(name: str, text: str) -> Document:
    return read(source(name, text))


def of_kind(name: str, text: str, kind: type[T]) -> list[T]:
    """The nodes of one class."""
    return [each for each in document(name, text).nodes if isinstance(each, kind)]


def lint(name: str, text: str) -> list[Finding]:
    return engine().lint_bytes(name, text.encode())


def codes(name: str, text: str) -> list[str]:
    return [each.code for each in lint(name, text)]


def fixed(name: str, text: str) -> str:
    return fix(source(name, text), engine().lint, unsafe=True).source.text


def settings(name: str, text: str) -> dict[str, object]:
    """Dotted keys and values, with the text of each that is not known."""
    found = {}
    for entry in document(name, text).entries():
        written = f"? {text[entry.start : entry.end]}"
        found[".".join(entry.keys)] = entry.value if entry.known else written
    return found
