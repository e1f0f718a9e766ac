"""Dockerfiles as documents: what an image sets, what builds it, what it runs."""

from __future__ import annotations

import pytest
from document_reading import of_kind

from detlint.documents import read
from detlint.documents.document import Command, Variable
from detlint.sources.source import Source


def commands(text: str) -> list[Command]:
    return of_kind("Dockerfile", text, Command)


def variables(text: str) -> list[Variable]:
    return of_kind("Dockerfile", text, Variable)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("ENV A=b", {"A": "b"}, id="one"),
        pytest.param("ENV A=b C=\"d e\" F='g h'", {"A": "b", "C": "d e", "F": "g h"}, id="several"),
        pytest.param("ENV A=b \\\n  # no\n\n  C=d", {"A": "b", "C": "d"}, id="over lines"),
        pytest.param("ENV A=b `\n  C=d", {"A": "b"}, id="a backtick is none of them"),
        pytest.param("# escape=`\nENV A=b `\n  C=d", {"A": "b", "C": "d"}, id="unless it is said"),
        pytest.param("ENV A b c", {"A": "b c"}, id="the old form takes the rest"),
        pytest.param("env A=b", {"A": "b"}, id="in small letters"),
        pytest.param("ENV A=b\nENV C=$A/x D=${A:-y}", {"A": "b", "C": "b/x", "D": "b"}, id="used"),
        pytest.param("ARG V=1\nENV A=x-$V", {"V": "1", "A": "x-1"}, id="an argument's default"),
        pytest.param("ARG V\nENV A=x-$V", {"A": None}, id="an argument without one"),
        pytest.param("ENV PATH=/a:$PATH", {"PATH": None}, id="of the base image"),
        pytest.param("ENV A=a;b C=(d)", {"A": "a;b", "C": "(d)"}, id="signs of the shell"),
        pytest.param("ENV A=a\\ b", {"A": "a b"}, id="an escaped blank"),
        pytest.param("ENV A=\r\nENV C=d\r\n", {"A": "", "C": "d"}, id="lines of Windows"),
    ],
)
def test_an_image_sets(text: str, expected: dict[str, str | None]) -> None:
    found = variables(f"FROM x\n{text}" if "escape" not in text else text)
    assert {each.name: each.value for each in found} == expected


def test_arguments_are_seen_by_the_build_alone() -> None:
    text = "FROM x\nARG V=1\nENV A=b\nRUN python build.py\nCMD python train.py"
    built, run = commands(text)
    assert built.environment == {"V": "1", "A": "b"}
    assert run.environment == {"A": "b"}
    assert [each.exported for each in variables(text)] == [False, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("CMD python train.py --a", ["python", "train.py", "--a"], id="shell form"),
        pytest.param('CMD ["python", "a b.py"]', ["python", "a b.py"], id="exec form"),
        pytest.param('ENTRYPOINT ["python"]\nCMD ["a.py"]', ["python", "a.py"], id="both"),
        pytest.param('ENTRYPOINT ["tini", "--"]\nCMD python a.py', ["python", "a.py"], id="mixed"),
        pytest.param(
            "ENTRYPOINT python a.py\nCMD b", ["python", "a.py"], id="one ignores the other"
        ),
        pytest.param(
            'CMD ["bash", "-c", "cd x && python a.py"]', ["python", "a.py"], id="in a shell"
        ),
        pytest.param('CMD ["a"]\nCMD ["python", "b.py"]', ["python", "b.py"], id="the last counts"),
        pytest.param(
            "RUN --mount=type=cache,target=/x python a.py", ["python", "a.py"], id="flags"
        ),
        pytest.param("RUN a && \\\n # no\n    python a.py", ["python", "a.py"], id="over lines"),
        pytest.param("RUN <<EOF\nset -e\npython a.py\nEOF", ["python", "a.py"], id="a document"),
        pytest.param("RUN bash <<'EOF'\npython a.py\nEOF\nENV A=b", ["python", "a.py"], id="fed"),
        pytest.param(
            "RUN sh a\nRUN <<EOF\n#!/usr/bin/env python\nimport a\nEOF", ["sh", "a"], id="no shell"
        ),
        pytest.param('RUN ["python", "a\\\\b.py"]', ["python", "a\\b.py"], id="with an escape"),
        pytest.param('RUN ["python", "a.py"]', ["python", "a.py"], id="built in exec form"),
    ],
)
def test_an_image_runs(text: str, expected: list[str]) -> None:
    assert [each.text for each in commands(f"FROM x\n{text}")[-1].words] == expected


def test_what_one_step_exports_is_gone_in_the_next() -> None:
    first, second = commands("FROM x\nRUN export A=b && python a.py\nRUN python b.py")
    assert first.environment == {"A": "b"}
    assert second.environment == {}


def test_an_image_runs_in_the_environment_at_its_end() -> None:
    (command,) = commands("FROM x\nCMD python a.py\nENV A=b")
    assert command.environment == {"A": "b"}


@pytest.mark.parametrize(
    ("second", "environment"),
    [
        pytest.param("FROM y", {}, id="a stage begins anew"),
        pytest.param("FROM first", {"A": "b"}, id="or with what another set"),
        pytest.param("FROM --platform=linux/amd64 FIRST AS last", {"A": "b"}, id="by any name"),
    ],
)
def test_stages(second: str, environment: dict[str, str]) -> None:
    (command,) = commands(f"FROM x AS first\nENV A=b\n{second}\nCMD python a.py")
    assert command.environment == environment


def test_the_working_directory_is_told() -> None:
    first, second = commands("FROM x\nWORKDIR /app\nRUN cd src && python a.py\nCMD python b.py")
    assert (first.folder, second.folder) == ("/app/src", "/app")


def test_nodes_have_their_places() -> None:
    text = 'FROM x\nENV A="b" C=d\nRUN E=f \\\n  # no\n  python a.py\nCMD ["python", "b.py"]\n'
    found = variables(text)
    assert [text[each.start : each.end] for each in found] == ['A="b"', "C=d", "E=f"]
    assert [text[each.value_start : each.value_end] for each in found] == ["b", "d", "f"]
    shown = [[text[each.start : each.end] for each in one.words] for one in commands(text)]
    assert shown == [["python", "a.py"], ['"python"', '"b.py"']]


def test_comments_are_told() -> None:
    text = "# a\nFROM x\nRUN a \\\n  # b\n  c\n"
    document = read(Source("Dockerfile", text, kind="dockerfile"))
    assert [text[each.start : each.end] for each in document.comments] == ["# a", "# b"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "RUN " + "[" * 5000,
            "RUN <<EOF",
            "CMD [",
            "ENV",
            "ENV =",
            "FROM",
            "RUN \\",
            "\\",
            "CMD []",
        ),
        *(
            'CMD ["a", 1]',
            'ENV A="b',
            "SHELL",
            "RUN <<<x",
            "ONBUILD RUN python a.py",
            "RUN $(" * 500,
        ),
        'SHELL ["powershell"]\nRUN $env:A = (b',
    ],
    ids=lambda text: text[:20],
)
def test_broken_files_are_read(text: str) -> None:
    nodes = read(Source("Dockerfile", text, kind="dockerfile")).nodes
    assert all(0 <= each.start <= each.end <= len(text) for each in nodes)
