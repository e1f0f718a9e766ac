"""Which layers of a file have weights, and what comes after them, by the text of its classes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.layout import layout_of
from detlint.mentions import calls, heads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.layout import Block
    from detlint.rule import cst

_WEIGHTS = re.compile(
    r"\w*(?:Conv(?:Transpose)?[1-3]?[dD]|Conv|Linear|Embedding|LSTM|GRU|RNN|(?:Batch|Layer|Group"
    r"|Instance|RMS)Norm\w*|MultiheadAttention|Transformer\w*|Encoder\w*)(?:[A-Z]\w*)?[ \t]*\("
    r"|\bParameter\("
)
# Attributes and classes of what only computes, or prepares data.
_WEIGHTLESS = re.compile(
    r"(?:^|_)(?:act|activation|aug|augment|drop|dropout|loss|mel|pad|pool|preprocess|normali[sz]e"
    r"|processor|resize|spec|stft|tokenizer|transforms?|up|upsample)(?:_|\d|$)|_(?:mel|spec|pad)"
    r"|(?:Aug|Drop|Flatten|Identity|Interpol|Loss|Mel|Pad|Pool|Process|Quantile|R?e?LU|Resiz|Scal"
    r"|Shift|Sigmoid|Softmax|Spec|STFT|Tanh|Tokeniz|Transform(?!er)|Upsampl)"
)
_LAYER = re.compile(
    r"(?:^|_)(?:backbone|blocks?|conv\w*|decoder|encoder|fc\d*|features|head|layers?|linear|lstm|mlp"
    r"|model|net|network|proj|rnn|stem|unet|vae)\d*(?:_|$)"
)
_BUILT = re.compile(r"(?:\w+\.)*([A-Z]\w*)[ \t]*\(")
_STATEMENT_END = re.compile(r"\n(?=[ \t]*(?:self\.\w|def\b|class\b|if\b|for\b|else\b|return\b|\n))")
_DEEPEST = 4  # classes that make one another


def come_before(text: str, offset: int, depth: int = 0) -> bool:
    """Whether a class or function makes layers with weights before a place in it, or is itself
    made after such."""
    block = _block(text, offset)
    if block is None:
        return any(_made_in(text, 0, offset))
    return any(_made_in(text, block.start, offset)) or is_made_after_others(
        text, block.name, depth + 1
    )


def is_made_after_others(text: str, name: str, depth: int = 0) -> bool:
    """Whether the file makes a class, or calls a function, after layers with weights."""
    if depth > _DEEPEST:
        return False
    layout = layout_of(text)
    for place, _ in calls(text, name):
        defined = text.endswith(("class ", "def "), 0, place)
        block = _block(text, place) if not defined else None
        if block is None or block.name == name or layout.hides(place):
            continue
        if come_before(text, place, depth):
            return True
    return False


def is_parameter(text: str, name: str) -> bool:
    """Whether ``self.name`` is a parameter that the file does not freeze."""
    if "Parameter(" not in text:
        return False
    made = re.search(rf"self\.{name}\b[^=\n]*=\s*(?:\w+\.)*Parameter\(", text)
    return made is not None and not is_frozen(text, name)


def is_frozen(text: str, name: str) -> bool:
    """Whether the file says that a parameter, or those of a layer, are not trained."""
    off = r"(?:\.weight)?\.requires_grad(?:_\(|[ \t]*=)[ \t]*(?:\w+=)?False"
    return re.search(rf"{name}(?<!\w{name}){off}", text) is not None


def has_weights(text: str, function: cst.Attribute) -> bool:
    """Whether ``self.name``, which is called, is a layer or model with weights."""
    name = function.attr.value
    if _WEIGHTLESS.search(name) or heads(text, name):
        return False
    layout = layout_of(text)
    values = [
        _statement(text, match.end())
        for match in re.finditer(rf"self\.{name}[ \t]*=(?!=)[ \t]*", text)
        if not layout.hides(match.start())
    ]
    if not values:
        return _LAYER.search(name) is not None
    return any(_is_trained(text, each) for each in values) or (
        _LAYER.search(name) is not None and not all(map(_BUILT.match, values))
    )


def _is_trained(text: str, value: str) -> bool:
    if _WEIGHTS.search(value):
        return True
    built = _BUILT.match(value)
    if built is None or _WEIGHTLESS.search(built[1]):
        return False
    block = next((each for each in layout_of(text).top if each.name == built[1]), None)
    return block is None or any(_made_in(text, block.start, block.end)) or bool(block.bases == "")


def _statement(text: str, offset: int) -> str:
    end = _STATEMENT_END.search(text, offset)
    return text[offset : end.start() if end is not None else len(text)]


def _made_in(text: str, start: int, end: int) -> Iterator[bool]:
    layout = layout_of(text)
    for match in _WEIGHTS.finditer(text, start, end):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not layout.hides(match.start()) and not line.lstrip().startswith(("class ", "def ")):
            yield True


def _block(text: str, offset: int) -> Block | None:
    blocks = (each for each in layout_of(text).top if each.start <= offset < each.end)
    return next((each for each in blocks if each.kind), None)
