"""DET203, DET204 and DET205: what is found in one file is found where its code lies in several.

The finding stands in the file in which the order arises, at the lines that are marked, and the
same number of findings, as sure, is told of the same code in one file.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest

from detlint import lint_paths
from detlint.testing import expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from detlint import Finding

    Project = Callable[[dict[str, str]], Path]

_IMPORT = re.compile(
    r"^[ \t]*(?:from \.?(?:data|work)\b.*|import (?:data|work)\b.*)\n", re.MULTILINE
)
_MODULE = re.compile(r"\b(?:data|work)\.(?=\w)")

# Functions and classes that are given an order.
WRITE = """
    def write(path, words):
        with open(path, "w") as file:
            for place, word in enumerate(words):
                file.write(f"{place} {word}")
"""
THROUGH = """
    def write(path, words):
        inner(path, words)

    def inner(path, words):
        with open(path, "w") as file:
            for place, word in enumerate(words):
                file.write(f"{place} {word}")
"""
WRITER = """
    class Writer:
        def __init__(self, words=()):
            self.words = words

        def write_own(self, path):
            self.write(path, self.words)

        def write(self, path, words):
            with open(path, "w") as file:
                for place, word in enumerate(words):
                    file.write(f"{place} {word}")
"""
NUMBER = """
    def number(words):
        return {word: place for place, word in enumerate(words)}
"""
LISTED = """
    def listed(words):
        return list(words)
"""
SORTED = """
    def write(path, words):
        with open(path, "w") as file:
            for place, word in enumerate(sorted(words)):
                file.write(f"{place} {word}")
"""


def loop(given: str, imported: str, mark: str = "") -> str:
    """A program that numbers what it goes through."""
    return f"""
import sys
{imported}

with open("list.txt", "w") as file:
    for place, name in enumerate({given}):{mark}
        file.write(f"{{place}} {{name}}")
"""


class Case(NamedTuple):
    """The files of a program, by their names without the ending."""

    name: str
    files: dict[str, str]


def case(name: str, data: str, make: str, **others: str) -> Case:
    return Case(name, {"data": data, **others, "make": make})


def passed() -> Iterator[Case]:
    """What a function of another file is given."""
    sets = "set(sys.argv[1].split())"
    start = "import os, sys\nfrom multiprocessing import Pool\n"
    for what, given, code in (
        ("a set", sets, "DET204"),
        ("a list of a set", f"list({sets})", "DET204"),
        ("a dict by a set", f"{{each: len(each) for each in {sets}}}", "DET204"),
        ("a listing", "os.listdir(sys.argv[1])", "DET203"),
        ("a dict by a listing", "{x: os.stat(x) for x in os.listdir('.')}", "DET203"),
        ("results", "Pool(4).imap_unordered(len, sys.argv)", "DET205"),
        ("a dict of results", "dict(Pool(4).imap_unordered(len, sys.argv))", "DET205"),
    ):
        mark = f"  # {code}\n"
        for how, work, make in (
            ("", WRITE, f"from data import write\n\nwrite('x', {given})"),
            ("by keyword", WRITE, f"from data import write\n\nwrite('x', words={given})"),
            ("of a module", WRITE, f"import data\n\ndata.write('x', {given})"),
            ("through a function", THROUGH, f"from data import write\n\nwrite('x', {given})"),
            ("a method", WRITER, f"from data import Writer\n\nWriter().write('x', {given})"),
            (
                "a constructor",
                WRITER,
                f"from data import Writer\n\nWriter({given}).write_own('x')",
            ),
            ("numbered", NUMBER, f"import json\nfrom data import number\n\nnumber({given})"),
        ):
            yield case(f"{what} is passed {how}", work, f"{start}{make}{mark}")
        yield case(
            f"{what} is passed and sorted there",
            SORTED,
            f"{start}from data import write\n\nwrite('x', {given})\n",
        )
    given = loop("listed(set(sys.argv[1].split()))", "from data import listed", "  # DET204")
    yield case("a set is passed and given back as a list", LISTED, given)


LABELS = """
    def labels(text: str):
        return set(text.split())  # DET204
"""
TABLE = """
    class Table:
        def __init__(self, text: str):
            self.names = set(text.split())  # DET204
"""
GROUPS = """
    from collections import defaultdict

    def groups(text: str):
        found = defaultdict(set)  # DET204
        for each in text.split():
            found[each[0]].add(each)
        return found
"""
ASKED = "labels(sys.argv[1])"
OF_TABLE = "from data import Table\ntable = Table(sys.argv[1])"


def sets() -> Iterator[Case]:
    """Sets that another file gives."""
    own = "from data import labels"
    yield case("a function", LABELS, loop(ASKED, own))
    yield case("a function of a module", LABELS, loop(f"data.{ASKED}", "import data"))
    annotated = LABELS.replace("(text: str)", "(text: str) -> set[str]")
    yield case("an annotated function", annotated, loop(ASKED, own))
    comprehension = LABELS.replace("set(text.split())", "{each.lower() for each in text.split()}")
    yield case("a comprehension", comprehension, loop(ASKED, own))
    yield case(
        "a list of it",
        LABELS,
        f"""
{own}

def numbered(text):
    names = list(labels(text))
    return {{name: place for place, name in enumerate(names)}}
""",
    )
    yield case("pop", LABELS, f"{own}\n\ndef some(text):\n    return labels(text).pop()\n")
    yield case("join", LABELS, f"{own}\n\ndef told(text):\n    return ','.join(labels(text))\n")
    yield case(
        "passed on in the file",
        LABELS,
        f"""
import sys
{own}
{textwrap.dedent(WRITE)}
write("x", labels(sys.argv[1]))
""",
    )
    yield case(
        "passed on to a third file",
        LABELS,
        f"""
import sys
{own}
from work import write

write("x", labels(sys.argv[1]))
""",
        work=WRITE,
    )
    third = "from data import labels\n\ndef chosen(text):\n    return labels(text)\n"
    yield case(
        "returned by a third file",
        LABELS,
        loop("chosen(sys.argv[1])", "from work import chosen"),
        work=third,
    )
    yield case(
        "a constant", "NAMES = {'a', 'b'}  # DET204\n", loop("NAMES", "from data import NAMES")
    )
    yield case(
        "one of a module",
        "NAMES = frozenset(('a', 'b'))  # DET204\n",
        loop("data.NAMES", "import data"),
    )
    yield case("an attribute", TABLE, loop("table.names", OF_TABLE))
    yield case(
        "an attribute of a parameter",
        TABLE,
        """
from data import Table

def write(table: Table, file):
    for place, name in enumerate(table.names):
        file.write(f"{place} {name}")
""",
    )
    yield case(
        "an attribute of a class",
        "class Table:\n    names = {'a', 'b'}  # DET204\n",
        loop("Table.names", "from data import Table"),
    )
    yield case(
        "a field",
        """
    from dataclasses import dataclass, field

    @dataclass
    class Table:
        names: set[str] = field(default_factory=set)  # DET204
""",
        """
from data import Table

def write(table: Table, file):
    for place, name in enumerate(table.names):
        file.write(f"{place} {name}")
""",
    )
    yield case(
        "an object that a function gives",
        f"{TABLE}\n    def table_of(text):\n        return Table(text)\n",
        loop("table_of(sys.argv[1]).names", "from data import table_of"),
    )
    yield case(
        "a base class",
        TABLE,
        """
from data import Table

class Own(Table):
    def write(self, file):
        for place, name in enumerate(self.names):
            file.write(f"{place} {name}")
""",
    )
    yield case(
        "a class between",
        TABLE,
        loop("Own(sys.argv[1]).names", "from work import Own"),
        work="from data import Table\n\nclass Own(Table):\n    pass\n",
    )
    yield case(
        "a property",
        """
    class Table:
        def __init__(self, text: str):
            self._names = set(text.split())  # DET204

        @property
        def names(self):
            return self._names
""",
        loop("table.names", OF_TABLE),
    )
    yield case(
        "a method",
        """
    class Table:
        def names(self, text: str):
            return set(text.split())  # DET204
""",
        loop("Table().names(sys.argv[1])", "from data import Table"),
    )
    yield case(
        "a method of a base class",
        """
    class Table:
        def names(self, text: str):
            return set(text.split())  # DET204
""",
        """
from data import Table

class Own(Table):
    def write(self, file):
        for place, name in enumerate(self.names("a b")):
            file.write(f"{place} {name}")
""",
    )
    yield case(
        "a dict of sets", GROUPS, loop("groups(sys.argv[1])['a']", "from data import groups")
    )
    yield case(
        "a dict of sets that is gone through",
        GROUPS,
        """
import sys
from data import groups

with open("x", "w") as file:
    for names in groups(sys.argv[1]).values():
        for place, name in enumerate(names):
            file.write(f"{place} {name}")
""",
    )
    yield case(
        "one of a tuple",
        LABELS.replace("set(text.split())", "set(text.split()), len(text)"),
        """
import sys
from data import labels

names, count = labels(sys.argv[1])
with open("x", "w") as file:
    for place, name in enumerate(names):
        file.write(f"{place} {name}")
""",
    )
    yield case(
        "a generator",
        "    def labels(text: str):\n        yield from set(text.split())  # DET204\n",
        loop(ASKED, own),
    )
    yield case(
        "a loop that yields",
        "    def labels(text: str):\n        for each in set(text.split()):  # DET204\n            yield each\n",
        loop(ASKED, own),
    )
    quiet = LABELS.replace("  # DET204", "")
    yield case("sorted", quiet, loop(f"sorted({ASKED})", own))
    yield case(
        "asked for membership",
        quiet,
        f"import sys\n{own}\n\nif 'a' in {ASKED}:\n    print('yes')\n",
    )
    yield case(
        "numbers",
        quiet.replace("set(text.split())", "{len(each) for each in text.split()}"),
        loop(ASKED, own),
    )


def insertions() -> Iterator[Case]:
    """Dicts that were filled in an order, and lists, that another file gives."""
    made = {
        "DET203": ("os.listdir(text)", "import os"),
        "DET204": ("set(text.split())", "import sys"),
        "DET205": ("Pool(4).imap_unordered(len, text)", "from multiprocessing import Pool"),
    }
    for code, (order, imported) in made.items():
        mark = f"  # {code}"
        given = {
            "returned": f"{imported}\ndef sizes(text: str):\n    return {{x: 1 for x in {order}}}{mark}\n",
            "filled": f"{imported}\ndef sizes(text: str):\n    found = {{}}\n    for x in {order}:{mark}\n        found[x] = 1\n    return found\n",
            "yielded": f"{imported}\ndef sizes(text: str):\n    for x in {order}:{mark}\n        yield x\n",
            "a list": f"{imported}\ndef sizes(text: str):\n    return list({order}){mark}\n",
        }
        for how, data in given.items():
            yield case(f"{code} {how}", data, loop("sizes(sys.argv[1])", "from data import sizes"))
        field = f"{imported}\nclass Table:\n    def __init__(self, text: str):\n        self.sizes = {{x: 1 for x in {order}}}{mark}\n"
        yield case(f"{code} an attribute", field, loop("table.sizes", OF_TABLE))
        yield case(
            f"{code} a base class",
            field,
            """
from data import Table

class Own(Table):
    def write(self, file):
        for place, name in enumerate(self.sizes):
            file.write(f"{place} {name}")
""",
        )
        constant = order.replace("text.split()", "sys.argv").replace("text", "'data'")
        yield case(
            f"{code} a constant",
            f"{imported}\nSIZES = {{x: 1 for x in {constant}}}{mark}\n",
            loop("SIZES", "from data import SIZES"),
        )
        quiet = given["filled"].replace(mark, "")
        yield case(
            f"{code} sorted", quiet, loop("sorted(sizes(sys.argv[1]))", "from data import sizes")
        )
        yield case(f"{code} looked up", quiet, "from data import sizes\n\nprint(sizes('a')['b'])\n")
    yield case(
        "DET203 an attribute of a base class",
        """
    import os

    class Table:
        def __init__(self, folder):
            self._names = os.listdir(folder)  # DET203
""",
        """
from data import Table

class Own(Table):
    def __getitem__(self, place):
        return self._names[place]
""",
    )
    yield case(
        "DET203 a walk",
        "    import os\n\n    def walked(text):\n        return os.walk(text)  # DET203\n",
        """
import sys
from data import walked

with open("x", "w") as file:
    for root, dirs, files in walked(sys.argv[1]):
        for place, name in enumerate(files):
            file.write(f"{place} {name}")
""",
    )


CASES = [*passed(), *sets(), *insertions()]


def found_in(files: dict[str, str], project: Project) -> list[Finding]:
    folder = project({f"{name}.py": textwrap.dedent(text) for name, text in files.items()})
    return lint_paths([folder], isolated=True, select=["DET2"], min_confidence="possible")


@pytest.mark.parametrize("each", CASES, ids=lambda each: each.name)
def test_code_in_several_files_is_found_as_in_one(each: Case, project: Project) -> None:
    files = {name: textwrap.dedent(text) for name, text in each.files.items()}
    whole = "\n".join(_MODULE.sub("", _IMPORT.sub("", text)) for text in files.values())
    several = found_in(files, project)
    told = sorted((each.path.rpartition("/")[2], each.row, each.code) for each in several)
    assert told == sorted((f"{x}.py", *row) for x, text in files.items() for row in expected(text))
    for name in files:
        (project({}) / f"{name}.py").unlink()
    alone = found_in({"whole": whole}, project)
    assert Counter(x[5:6] + x[12:13] for x in alone) == Counter(x[5:6] + x[12:13] for x in several)
