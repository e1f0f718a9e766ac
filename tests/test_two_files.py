"""DET203, DET204 and DET205: what is found in one file is found where its code lies in several.

The finding stands in the file in which the order arises, at the lines that are marked, and the
same number of findings, as sure, is told of the same code in one file.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest

from detlint import lint_paths
from detlint.cli import main
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
        """
    def labels(text: str):
        for each in set(text.split()):  # DET204
            yield each
""",
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


GIVEN = {
    "returned": "def sizes(text: str):\n    return {x: 1 for x in ORDER}  # CODE\n",
    "filled": """
def sizes(text: str):
    found = {}
    for x in ORDER:  # CODE
        found[x] = 1
    return found
""",
    "yielded": "def sizes(text: str):\n    for x in ORDER:  # CODE\n        yield x\n",
    "a list": "def sizes(text: str):\n    return list(ORDER)  # CODE\n",
}
FIELD = """
class Table:
    def __init__(self, text: str):
        self.sizes = {x: 1 for x in ORDER}  # CODE
"""


def insertions() -> Iterator[Case]:
    """Dicts that were filled in an order, and lists, that another file gives."""
    made = {
        "DET203": ("os.listdir(text)", "import os"),
        "DET204": ("set(text.split())", "import sys"),
        "DET205": ("Pool(4).imap_unordered(len, text)", "from multiprocessing import Pool"),
    }
    own = "from data import sizes"
    for code, (order, imported) in made.items():

        def written(text: str, code: str = code, order: str = order, start: str = imported) -> str:
            return f"{start}\n{text.replace('ORDER', order).replace('CODE', code)}"

        for how, text in GIVEN.items():
            yield case(f"{code} {how}", written(text), loop("sizes(sys.argv[1])", own))
        yield case(f"{code} an attribute", written(FIELD), loop("table.sizes", OF_TABLE))
        derived = """
from data import Table

class Own(Table):
    def write(self, file):
        for place, name in enumerate(self.sizes):
            file.write(f"{place} {name}")
"""
        yield case(f"{code} a base class", written(FIELD), derived)
        constant = order.replace("text.split()", "sys.argv").replace("text", "'data'")
        sizes = written("SIZES = {x: 1 for x in ORDER}  # CODE\n", order=constant)
        yield case(f"{code} a constant", sizes, loop("SIZES", "from data import SIZES"))
        quiet = written(GIVEN["filled"]).replace(f"  # {code}", "")
        yield case(f"{code} sorted", quiet, loop("sorted(sizes(sys.argv[1]))", own))
        yield case(f"{code} looked up", quiet, f"{own}\n\nprint(sizes('a')['b'])\n")
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


RENAMED = "from package.data import labels as told"
MAKE = "from data import labels\n\nnumbers = {x: i for i, x in enumerate(labels(input()))}\n"


def test_the_finding_is_the_same_whatever_is_named(project: Project) -> None:
    folder = project({"data.py": LABELS, "make.py": MAKE})
    for named, count in ((["data.py"], 1), (["make.py"], 0), (["data.py", "make.py"], 1)):
        found = lint_paths([folder / each for each in named], select=["DET204"])
        assert [each.row for each in found] == [3] * count


def test_a_file_alone_says_nothing_of_what_it_gives(project: Project) -> None:
    assert found_in({"data": LABELS}, project) == []


def test_the_message_and_the_way_name_the_other_file(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"data/labels.py": LABELS, "make.py": MAKE.replace("data", "data.labels")})
    main([".", "--isolated", "--no-cache", "--select", "DET204", "--show-source"])
    said = capsys.readouterr().out
    assert "and at make.py:3 it is numbered" in " ".join(said.split())
    assert "way: data/labels.py:3:12: given to other files here" in said
    assert "way: make.py:3:11: here its order shows: numbered" in said
    main([".", "--isolated", "--no-cache", "--select", "DET204", "--output-format", "sarif"])
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    files = [each["location"]["physicalLocation"] for each in flow["locations"]]
    assert [x["artifactLocation"]["uri"] for x in files] == ["data/labels.py", "make.py"]


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("from data import labels as given", "given"),
        ("import data as d", "d.labels"),
        ("from data import *", "labels"),
        ("from again import labels", "labels"),
        ("import package.data", "package.data.labels"),
        ("try:\n    from data import labels\nexcept ImportError:\n    labels = None", "labels"),
    ],
)
def test_imports_of_all_kinds_are_followed(imported: str, called: str, project: Project) -> None:
    make = f"{imported}\n\nnumbers = {{x: i for i, x in enumerate({called}(input()))}}\n"
    files = {"again": "from data import labels\n", "make": make}
    packed = "package" in imported
    files["package/data" if packed else "data"] = LABELS
    assert [each.row for each in found_in(files, project)] == [3]


# The files between one that gives a set and one that reads it, and how that calls it.
WAYS = [
    ("import package", "package.labels", {"package/__init__": "from .data import labels"}),
    ("import package", "package.labels", {"package/__init__": "from .data import *"}),
    ("from package import *", "labels", {"package/__init__": "from .data import *"}),
    ("from package import told", "told", {"package/__init__": "from .data import labels as told"}),
    ("import package", "package.data.labels", {"package/__init__": "from . import data"}),
    ("from package import data", "data.labels", {"package/__init__": ""}),
    ("import api", "api.data.labels", {"api": "import package.data as data"}),
    ("from api import d", "d.labels", {"api": "from package import data as d"}),
    ("import api", "api.told", {"api": "from again import told", "again": RENAMED}),
]


@pytest.mark.parametrize(("imported", "called", "between"), WAYS)
def test_names_are_followed_through_the_files_that_hand_them_on(
    imported: str, called: str, between: dict[str, str], project: Project
) -> None:
    files = {"package/data": LABELS, **between, "make": MAKE.replace("labels(", f"{called}(")}
    files["make"] = files["make"].replace("from data import labels", imported)
    (found,) = found_in(files, project)
    assert (found.row, found.confidence.name) == (3, "CERTAIN")


def test_files_that_import_each_other_hand_on_a_name_once(project: Project) -> None:
    """They have it by ever longer names: ``second.first.second.Words``."""
    words = """
        class Words:
            def __init__(self):
                given = self.vocabs.midi
                self._words = {given.low, given.high}
        """
    first = """
        from pkg.words import Words
        if __name__ == "__main__":
            from pkg import second
        """
    package = "from .words import *\nfrom . import first\nfrom . import second\n"
    files = {"pkg/__init__": package, "pkg/words": words, "pkg/first": first}
    assert found_in({**files, "pkg/second": "from pkg import first\n"}, project) == []


def test_more_files_than_a_few_may_import_a_name(project: Project) -> None:
    others = {f"a{n}": "from data import labels\n\nprint(len(labels('')))\n" for n in range(20)}
    (found,) = found_in({"data": LABELS, **others, "make": MAKE}, project)
    assert "make.py" in found.message


OWN = """
class Own(Base):
    def __init__(self, results):
        super().__init__()
        self.results = results

    def run(self):
        self.results.put(1)
"""
STARTS = """
import multiprocessing

def results(number):
    queue = multiprocessing.Queue()
    for _ in range(number):
        Own(queue).start()
    return [queue.get() for _ in range(number)]
"""


@pytest.mark.parametrize("base", ["Process", "Thread", "Sampler"])
@pytest.mark.parametrize("between", [False, True])
def test_a_worker_is_told_by_its_bases(base: str, between: bool, project: Project) -> None:
    files = {"work": f"from multiprocessing import {base}\n\nclass Base({base}):\n    pass\n"}
    if between:
        files |= {
            "data": f"from work import Base\n{OWN}",
            "make": f"from data import Own\n{STARTS}",
        }
    else:
        files["make"] = f"from work import Base\n{OWN}{STARTS}"
    assert [each.code for each in found_in(files, project)] == ["DET205"] * (base != "Sampler")


IMAGES = """
import numpy as np
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images, self.noise = images, Noise(0)

    def __getitem__(self, index):
        return self.noise(self.images[index])

class Noise:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, image):
        return image + self.rng.normal(size=3)
"""


@pytest.mark.parametrize("looked_up", ["KINDS[kind]", "KINDS.get(kind)", "KINDS.get(kind, Images)"])
@pytest.mark.parametrize("kinds", ["{'images': Images}", "dict(images=Images)"])
def test_a_table_of_classes_says_which_one_is_made(
    looked_up: str, kinds: str, project: Project
) -> None:
    make = f"""
from torch.utils.data import DataLoader
from kinds import KINDS, Images

def load(kind, images):
    return DataLoader({looked_up}(images), num_workers=4)
"""
    files = {"data": IMAGES, "kinds": f"from data import Images\n\nKINDS = {kinds}\n", "make": make}
    (found,) = found_in(files, project)
    assert (found.code, found.confidence.name) == ("DET201", "CERTAIN")


def test_a_queue_of_each_round_has_one_worker(project: Project) -> None:
    made = "    queue = multiprocessing.Queue()\n"
    starts = STARTS.replace(made, "").replace("        Own", f"    {made}        Own")
    files = {"data": f"from threading import Thread as Base\n{OWN}"}
    files["make"] = f"from data import Own\n{starts}"
    assert found_in(files, project) == []


def test_what_only_type_checkers_import_names_a_class(project: Project) -> None:
    imported = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from data import Table\n"
    used = """
def write(table: "Table", file):
    for place, name in enumerate(table.names):
        file.write(f"{place} {name}")
"""
    (found,) = found_in({"data": TABLE, "make": f"{imported}{used}"}, project)
    assert found.row == 4
    dotted = used.replace('"Table"', "data.Table")
    (found,) = found_in({"data": TABLE, "make": f"import data\n{dotted}"}, project)
    assert found.row == 4


@pytest.mark.parametrize("imported", ["", "from kinds import Names", "import kinds"])
@pytest.mark.parametrize(
    "said",
    ["List[Key]", "Optional[List[Key]]", "'list[Key]'", "List['Key'] | None", "list[Key]"],
)
def test_an_alias_of_types_stands_for_what_it_says(
    said: str, imported: str, project: Project
) -> None:
    for key, count in (("str", 1), ("int", 0)):
        kinds = f"from typing import List, Optional\n\nKey = {key}\nNames: TypeAlias = {said}\n"
        name = "kinds.Names" if imported.startswith("import") else "Names"
        use = f"\ndef f(names: {name}):\n    return {{x: i for i, x in enumerate(set(names))}}\n"
        files = {"kinds": kinds, "use": imported + use} if imported else {"use": kinds + use}
        found = found_in(files, project)
        assert [each.confidence.name for each in found] == ["CERTAIN"] * count


def test_what_a_set_holds_is_asked_of_other_files(project: Project) -> None:
    make = "from data import words\n\nnumbers = {x: i for i, x in enumerate(set(words(input())))}\n"
    data = "def words(text: str):\n    return [GIVEN for each in text.split()]\n"
    (found,) = found_in({"data": data.replace("GIVEN", "each"), "make": make}, project)
    assert "gives its strings" in found.message
    assert found_in({"data": data.replace("GIVEN", "len(each)"), "make": make}, project) == []


CARDS = """
def generate_card(name, tags):
    data = ModelCardData(name=name, tags=tags)
    return ModelCard.from_template(data)
"""
SAVES = """
from cards import generate_card

def save(words, folder):
    tags = set(words.split())
    tags.add("trained")
    tags = list(tags)
    card = generate_card("a", tags=tags)
    card.save(folder)
"""


def test_what_another_file_only_seems_to_do_does_not_speak_against_an_order(
    project: Project,
) -> None:
    (found,) = found_in({"cards": CARDS, "a": SAVES}, project)
    assert found.confidence.name == "LIKELY"


def test_a_comment_at_the_set_silences_what_other_files_do(project: Project) -> None:
    comment = LABELS.replace("DET204", "detlint: ignore[DET204]")
    folder = project({"data.py": comment, "make.py": MAKE})
    assert lint_paths([folder], isolated=True, select=["DET204", "DET001"]) == []


def test_a_constant_that_stays_empty_has_no_order(project: Project) -> None:
    data = "NONE = frozenset()\n"
    make = "from data import NONE\n\nwith open('x', 'w') as file:\n    file.writelines(NONE)\n"
    assert found_in({"data": data, "make": make}, project) == []
    data = data.replace("()", "(open('y').read().split())")
    assert found_in({"data": data, "make": make}, project) != []


CLEARS = """
    from pathlib import Path


    def clear(name):
        gone = list(Path(name).parent.glob("x.*"))  # DET203
        for each in gone:
            each.unlink()
        return gone
"""


@pytest.mark.parametrize(
    ("work", "count"),
    [("clear('a')", 0), ("keep(clear('a')[0])", 1), ("def later(): ...", 1)],
)
def test_what_only_tests_look_at_is_of_no_use(project: Project, work: str, count: int) -> None:
    test = "import data\n\n\ndef test_it():\n    assert data.clear('a') == data.clear('b')\n"
    files = {"data.py": CLEARS, "tests/test_data.py": test}
    root = project({**files, "work.py": f"from data import clear\n\n{work}\n"})
    found = lint_paths([root], isolated=True)
    assert [each.code for each in found if each.path.endswith("data.py")] == ["DET203"] * count
