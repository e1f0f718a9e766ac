"""Where the rules' trigger tokens occur, found for all rules in one pass over the text."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.catalogue import class_of
from detlint.finding import Confidence
from detlint.index.entrypoints import STARTS
from detlint.syntax.layout import layout_of
from detlint.syntax.parsing import DAMAGE, QUOTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ahocorasick_rs import BytesAhoCorasick

    from detlint.engine import AnyRule
    from detlint.settings import Settings

    _Question = Callable[[str, int], bool]

# The end of a token that is code: what a string says is none.
_CALLS = "({"
# Without one of these a text holds no suppression, and what reads them is not imported.
DIRECTIVES = frozenset({"oqa", "OQA", "oQA", "etlint:", "ETLINT:"})


class Hits(NamedTuple):
    """What a text holds: the rules that have work in it, with the offsets of their tokens, and
    which of DIRECTIVES, of STARTS and of ``syntax.DAMAGE``."""

    rules: dict[AnyRule, list[int]]
    marks: set[str]


class Triggers:
    """The tokens of a set of rules."""

    def __init__(self, rules: Sequence[AnyRule], settings: Settings) -> None:
        self._settings = settings
        self._rules: dict[str, list[AnyRule]] = {}
        for rule in rules:
            settled = {token for token, release in rule.settled if settings.target_torch >= release}
            for token in rule.triggers:
                if token not in settled:
                    self._rules.setdefault(token, []).append(rule)
        self._tokens = list(self._rules)
        self._questions: dict[AnyRule, list[_Question]] = {}
        self._marks = sorted(DIRECTIVES | STARTS | DAMAGE)

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        return _automaton_of([*self._tokens, *self._marks])

    def find(self, text: str, utf8: bytes) -> Hits:
        """What a text holds, which is also given in UTF-8."""
        found: dict[AnyRule, list[int]] = {}
        marks: set[str] = set()
        calls: set[int] = set()  # offsets of tokens that mean nothing where a string says them
        tokens, questions = len(self._tokens), self._questions
        quotes, ends = tokens + self._marks.index(QUOTES), 0
        matches = self._automaton.find_matches_as_indexes(utf8, overlapping=True)
        places = _characters(utf8, matches) if len(utf8) > len(text) else None
        for index, byte, _ in matches:
            if index >= tokens:
                if index == quotes:
                    ends += 1
                else:
                    marks.add(self._marks[index - tokens])
                continue
            token = self._tokens[index]
            start = byte if places is None else places[byte]
            if _begins_word(text, start, token):
                if token[-1] in _CALLS:
                    calls.add(start)
                for rule in self._rules[token]:
                    asked = questions.get(rule)
                    if asked is None:
                        asked = questions[rule] = self._asked_of(rule)
                    if all(question(text, start) for question in asked):
                        found.setdefault(rule, []).append(start)
        if ends % 2:
            marks.add(QUOTES)
        return Hits(dict(self._with_work(text, found, calls)), marks)

    @staticmethod
    def _with_work(
        text: str, found: dict[AnyRule, list[int]], calls: set[int]
    ) -> Iterator[tuple[AnyRule, list[int]]]:
        """The rules that may find something in a text, with the offsets that are code."""
        holds = cache(text.__contains__)  # many rules need the same
        for rule, starts in found.items():
            if any(map(holds, rule.needs)) and not any(map(holds, rule.silencers)):
                code = [x for x in starts if x not in calls or not layout_of(text).says(x)]
                if code:
                    yield rule, code

    def _asked_of(self, rule: AnyRule) -> list[_Question]:
        """What a rule asks of a token, where it asks anything."""
        from detlint.rule import Rule

        kind = class_of(rule)
        asked: list[_Question] = []
        if kind.concerns.__func__ is not Rule.concerns.__func__:  # type: ignore[attr-defined]
            asked.append(kind.concerns)
        above = self._settings.bar(rule.code) > Confidence.POSSIBLE
        if above and kind.expects.__func__ is not Rule.expects.__func__:  # type: ignore[attr-defined]
            asked.append(kind.expects)
        return asked

    def occur_in(self, data: bytes) -> bool:
        """Whether any token occurs in bytes that are too many to decode."""
        matches = self._automaton.find_matches_as_indexes(data, overlapping=True)
        return any(index < len(self._tokens) for index, _, _ in matches)


def _characters(utf8: bytes, matches: Iterable[tuple[int, int, int]]) -> dict[int, int]:
    """How many characters come before the bytes at which matches start."""
    places: dict[int, int] = {}
    before = characters = 0
    for start in sorted({start for _, start, _ in matches}):
        characters += len(utf8[before:start].decode("utf-8", "surrogatepass"))
        places[start] = characters
        before = start
    return places


def _begins_word(text: str, start: int, token: str) -> bool:
    if not (token[0].isalnum() or token[0] == "_") or start == 0:
        return True
    before = text[start - 1]
    return not (before.isalnum() or before == "_")


class Mentions:
    """Which rules have work in a source that is not Python: those whose tokens it holds."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        self._rules: dict[str, list[AnyRule]] = {}
        for rule in rules:
            for token in rule.mentions:
                self._rules.setdefault(token, []).append(rule)
        self._tokens = list(self._rules)
        self._order = {rule: place for place, rule in enumerate(rules)}

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        return _automaton_of(self._tokens)

    def find(self, text: str) -> list[AnyRule]:
        """The rules that have work in a text, in their order."""
        found = self._found(text.encode("utf-8", "surrogatepass"))
        rules = {rule for token in found for rule in self._rules[token]}
        return sorted(rules, key=self._order.__getitem__)

    def occur_in(self, data: bytes) -> bool:
        """Whether any token occurs in bytes."""
        return bool(self._found(data))

    def _found(self, data: bytes) -> set[str]:
        if not self._tokens:
            return set()
        matches = self._automaton.find_matches_as_indexes(data, overlapping=True)
        return {self._tokens[index] for index, _, _ in matches}


def _automaton_of(tokens: Sequence[str]) -> BytesAhoCorasick:
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    # Three times as fast as what the library chooses for this many tokens; and half of its
    # time over text would go into making that bytes.
    made = [each.encode() for each in tokens]
    return BytesAhoCorasick(made, implementation=Implementation.DFA)
