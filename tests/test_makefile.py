"""Makefiles as documents: what recipes run, and what they see."""

from __future__ import annotations

import pytest
from document_reading import of_kind

from detlint.documents import read
from detlint.documents.document import Command, Variable
from detlint.sources.source import Source


def commands(text: str) -> list[Command]:
    return of_kind("Makefile", text, Command)


def variables(text: str) -> list[Variable]:
    return of_kind("Makefile", text, Variable)


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        pytest.param("export A = b\nt:\n\tp", {"A": "b"}, id="exported"),
        pytest.param("A = b\nt:\n\tp", {}, id="or not"),
        pytest.param("A = b\nexport A\nt:\n\tp", {"A": "b"}, id="exported by its name"),
        pytest.param("A = b\nC = d\nexport\nt:\n\tp", {"A": "b", "C": "d"}, id="all of them"),
        pytest.param("export A = b\nunexport A\nt:\n\tp", {}, id="or none"),
        pytest.param("t:\n\tp\nexport A = b", {"A": "b"}, id="also below"),
        pytest.param("export A ?= b\nt:\n\tp", {"A": "b"}, id="a default"),
        pytest.param("A = a\nexport A ?= b\nt:\n\tp", {"A": "a"}, id="a default too late"),
        pytest.param("export A := b # c\nt:\n\tp", {"A": "b"}, id="a comment ends it"),
        pytest.param("A = b\nA += c\nexport A\nt:\n\tp", {"A": "b c"}, id="appended"),
        pytest.param("B = c\nexport A = $(B)/d\nt:\n\tp", {"A": "c/d"}, id="of another"),
        pytest.param("export A = $(shell date)\nt:\n\tp", {"A": None}, id="of a function"),
        pytest.param("export A = $(A) b\nt:\n\tp", {"A": None}, id="of itself"),
        pytest.param("t: export A = b\nt: d\n\tp", {"A": "b"}, id="for one target"),
        pytest.param("s: export A = b\nt:\n\tp", {}, id="for another"),
        pytest.param("t:\n\tA=b p", {"A": "b"}, id="in front of the command"),
        pytest.param("t:\n\texport A=b\n\tp", {}, id="each line by itself"),
        pytest.param("t:\n\texport A=b; \\\n\tp", {"A": "b"}, id="unless it goes on"),
        pytest.param(".ONESHELL:\nt:\n\texport A=b\n\tp", {"A": "b"}, id="or all are one"),
        pytest.param("ifdef X\nexport A = b\nendif\nt:\n\tp", {"A": None}, id="under a condition"),
        pytest.param("ifndef A\nexport A = b\nendif\nt:\n\tp", {"A": "b"}, id="unless it is set"),
        pytest.param(
            "export A = a\nifndef A\nelse\nexport A = b\nendif\nt:\n\tp", {"A": None}, id="or else"
        ),
        pytest.param("export A != date\nt:\n\tp", {"A": None}, id="what a command prints"),
        pytest.param("define A\nexport B = c\nendef\nt:\n\tp", {}, id="in a text"),
    ],
)
def test_recipes_see(text: str, environment: dict[str, str | None]) -> None:
    assert commands(text)[-1].environment == environment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("t:\n\tp a b", ["a", "b"], id="as it is"),
        pytest.param("t:\n\t@-p a", ["a"], id="quiet and careless"),
        pytest.param("t: ; p a", ["a"], id="behind the rule"),
        pytest.param(".ONESHELL:\nt:\n\tp a\ns: t", ["a"], id="before another rule"),
        pytest.param("t:\n\tp a \\\n\t\t--b \\\n\t  c", ["a", "--b", "c"], id="over lines"),
        pytest.param("X = 1 2\nt:\n\tp $(X) ${X}", ["1", "2", "1", "2"], id="variables of make"),
        pytest.param("t:\n\tX=1; p $$X $${X}", ["1", "1"], id="variables of the shell"),
        pytest.param("t:\n\tp $(X) $@ $(wildcard *.c)", [None] * 3, id="unknown"),
        pytest.param("P = p -u\nt:\n\t$(P) a", ["-u", "a"], id="the program"),
        pytest.param("X = 1 \\\n  2\nt:\n\tp $(X)", ["1", "2"], id="a long variable"),
        pytest.param("t:\n\tp a # b", ["a"], id="a comment"),
        pytest.param("t:\n\tcd x && p a", ["a"], id="elsewhere"),
    ],
)
def test_words_are(text: str, expected: list[str | None]) -> None:
    found = commands(text)[-1]
    assert found.words[0].text == "p"
    assert [each.text for each in found.words[1:]] == expected


def test_nodes_have_their_places() -> None:
    text = "X = --a\nexport B = c\nt: export D = e\nt:\n\t@F=g p $(X) \\\n\t\th\n"
    found = variables(text)
    shown = ["X = --a", "export B = c", "export D = e", "F=g"]
    assert [text[each.start : each.end] for each in found] == shown
    assert [text[each.value_start : each.value_end] for each in found] == ["--a", "c", "e", "g"]
    (command,) = commands(text)
    assert [text[each.start : each.end] for each in command.words] == ["p", "--a", "h"]


def test_included_files_may_set_more() -> None:
    (command,) = commands("include common.mk\n-include $(X)\nt:\n\tp")
    assert command.sourced == ("common.mk",)


def test_comments_are_told() -> None:
    text = "# a\nX = 1 # b\nt:\n\tp # c\n\tp '# d'\n"
    document = read(Source("Makefile", text, kind="makefile"))
    assert [text[each.start : each.end] for each in document.comments] == ["# a", "# b", "# c"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "A=$A$A\n" * 100,
            "a:\n\t" + "$(" * 3000,
            "\\",
            "endif",
            "endef",
            "a:\n\t\\",
            ":\n\tp",
            "a:;",
        ),
        *("a:\n\t" + "(" * 3000, "export", "\tp", "a:\n\t$", "ifeq (", "a: b = ", "define A"),
        "".join(f"A{n} = $(A{n + 1})$(A{n + 1})\n" for n in range(40)) + "t:\n\tp $(A0)",
    ],
    ids=lambda text: text[:12].strip(),
)
def test_broken_and_endless_files_are_read(text: str) -> None:
    nodes = read(Source("Makefile", text, kind="makefile")).nodes
    assert all(0 <= each.start <= each.end <= len(text) for each in nodes)
