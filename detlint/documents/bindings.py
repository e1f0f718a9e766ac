"""By which names Python calls what C++ and CUDA sources hold, as far as their text shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.cuda import blanked, functions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A block that tells Python names, and a line of it: `m.def("roi_pool", &roi_pool, "…")`,
# `m.impl("roi_pool", TORCH_FN(roi_pool))`, `m.def("ops::roi_pool(Tensor x) -> Tensor", …)`.
_BLOCKS = ("PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL")
_BOUND = re.compile(
    r"\.(?:def|impl)\(\s*\"(?:\w+::)*(\w+)[^\"\n]*\"\s*,\s*(?:TORCH_FN\()?\s*&?\s*(?:\w+::)*(\w+)"
)
_WORD = re.compile(r"(\w+)\s*\Z")
_MOST = 60  # functions that lead to one


class _Function(NamedTuple):
    """A function of a source, and the text of its body without strings and comments."""

    name: str
    body: str
    start: int
    end: int


class Bindings:
    """Answers for the C++ and CUDA sources of a project."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._functions: dict[str, list[_Function]] = {}
        self._bound = [
            (match[1], match[2])
            for text in texts
            if any(map(text.__contains__, _BLOCKS))
            for match in _BOUND.finditer(text)
        ]

    def names_of(self, text: str, offset: int) -> frozenset[str]:
        """The names by which Python gets to what stands at an offset of a source; none where the
        text does not show them all."""
        around = [x for x in self._functions_of(text) if x.start <= offset < x.end and x.name]
        met = dict.fromkeys(each.name for each in around)
        pending = list(met)
        for name in pending:  # grows
            for caller in self._naming(name):
                if caller.name in _BLOCKS and not self._shows(name, caller):
                    return frozenset()
                if caller.name not in met and caller.name not in _BLOCKS:
                    met[caller.name] = None
                    pending.append(caller.name)
            if len(met) > _MOST:
                return frozenset()
        found = frozenset(known for known, function in self._bound if function in met)
        # A header, which is not read, may choose between `roi_pool_cuda` and `roi_pool_cpu`.
        return found or frozenset(
            known
            for known, function in self._bound
            if any(each.startswith(f"{function}_") for each in met)
        )

    def _naming(self, name: str) -> Iterator[_Function]:
        word = re.compile(rf"\b{name}\b")
        for text in self._texts:
            if name in text:
                yield from (each for each in self._functions_of(text) if word.search(each.body))

    def _functions_of(self, text: str) -> list[_Function]:
        if text not in self._functions:
            source = blanked(text)
            self._functions[text] = [
                _Function(_name(source[start:end].partition("{")[0]), source[start:end], start, end)
                for start, end in functions(source)
            ]
        return self._functions[text]

    def _shows(self, name: str, block: _Function) -> bool:
        """Whether a block does no more with a function than to tell its name."""
        told = [known for known, function in self._bound if function == name]
        return len(re.findall(rf"\b{name}\b", block.body)) <= len(told)


def _name(head: str) -> str:
    """The name before the parameters, which a head ends with but for what qualifies them."""
    end, depth = head.rfind(")"), 0
    for offset in range(end, -1, -1):
        depth += (head[offset] == ")") - (head[offset] == "(")
        if not depth:
            found = _WORD.search(head[:offset])
            return found[1] if found else ""
    return ""
