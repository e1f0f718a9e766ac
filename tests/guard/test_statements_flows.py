"""A value that differs is traced back to the statement that was given the same in both runs."""

from __future__ import annotations

import os
import pathlib
import queue
import random
import signal
import sys
import textwrap
import threading
import time
import types
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from statement_runs import flows, origins, run

from guard.diff import Cause, Difference, Source, slices, sources
from guard.diff.flows import Flows
from guard.diff.slices import Found, compare, find, slice_of
from guard.diff.statements import Calling, Node, Pairing, calls_of
from guard.digests.generators import NONE
from guard.digests.traits import ALONE, ASKED, HANDED, TURNS, Traits, attributes, begins
from guard.observe.places import Place
from guard.observe.statements import Files, statements
from guard.recording import tracer
from guard.trace import Event
from guard.trace.statements import Call, Ran, Recording, Thread
from guard.verification.explaining import origin_of, suspect
from guard.verification.statements import _told_first

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# A program; the line that is asked; the lines that its difference comes from.
_ENTROPY = "import os\n"
CASES = {
    "a draw": ("a = os.urandom(4)\nb = a + b'x'", 3, {2}),
    "what agrees is no origin": ("a = os.urandom(4)\nb = len(a)", 3, set()),
    "one of the values that a call gives": (
        (
            "import time\ndef f(a):\n    began = time.time()\n    c = os.urandom(4)\n"
            "    return a, c, time.time() - began\na, c, took = f(1)\nb = c"
        ),
        8,
        {5},
    ),
    "one of the values that a call gives beside a clock": (
        (
            "import time\ndef f(a):\n    began = time.time()\n"
            "    return a, os.urandom(4), time.time() - began\na, c, took = f(1)\nb = took"
        ),
        7,
        {5},
    ),
    "what a call changes beside a clock that is only shown": (
        (
            "import time\nclass Crew:\n    held = ()\n    def gather(self):\n"
            "        self.held += (os.urandom(4),)\n        return len(self.held)\n"
            "crew = Crew()\nprint(f'{crew.gather()}, {time.time()}')\nb = crew.held[0]"
        ),
        10,
        {6},
    ),
    "a clock that is handed to what is changed": (
        (
            "from time import time as now\nclass Crew:\n    held = ()\n"
            "    def gather(self, at):\n        self.held += (at,)\n"
            "        return len(self.held)\n"
            "crew = Crew()\nprint(crew.gather(now()), now())\nb = crew.held[0]"
        ),
        10,
        {9},
    ),
    "one of several values that are bound together": (
        "import time\na = os.urandom(4)\nb, took = a + b'x', time.time()\nc = b",
        5,
        {3},
    ),
    "what goes nowhere": ("t = os.urandom(4)\nprint(len(t))\na = os.urandom(4)\nb = a", 5, {4}),
    "through a function": (
        "def f(v):\n    w = v * 2\n    return w\na = os.urandom(4)\nb = f(a)",
        6,
        {5},
    ),
    "through a slice": (
        (
            "n = 1 + int.from_bytes(os.urandom(4), 'big')\npart = slice(0, n)\n"
            "b = range(1 << 40)[part]"
        ),
        4,
        {2},
    ),
    "within a function": (
        "def f():\n    w = 1\n    return os.urandom(4)\na = f()",
        5,
        {4},
    ),
    "into a part of a variable of the module": (
        (
            "held = {}\ndef begin():\n    held.update(rate=os.urandom(4), size=2)\n"
            "def get():\n    return held['rate']\nbegin()\nb = get()"
        ),
        8,
        {4},
    ),
    "into a part of an attribute": (
        (
            "class A:\n    held = {}\n    def begin(self):\n"
            "        self.held |= {1: os.urandom(4)}\n"
            "    def get(self):\n        return self.held[1]\na = A()\na.begin()\nb = a.get()"
        ),
        10,
        {5},
    ),
    "no part of another function's variable of that name": (
        (
            "def begin():\n    held = {1: os.urandom(4)}\n    return len(held)\n"
            "def get(held):\n    return held[1]\nbegin()\nb = get({1: os.urandom(4)})"
        ),
        8,
        {8},
    ),
    "through an attribute": (
        (
            "class A:\n    def set(self):\n        self.x = os.urandom(4)\n"
            "    def get(self):\n        return self.x\na = A()\na.set()\nb = a.get()"
        ),
        9,
        {4},
    ),
    "only the attribute that counts": (
        (
            "class A:\n    def __init__(self):\n        self.t = os.urandom(4)\n"
            "        self.x = 1\n"
            "    def get(self):\n        return self.x\na = A()\nb = a.get()"
        ),
        9,
        set(),
    ),
    "a field that a factory makes": (
        (
            "import dataclasses, time\n@dataclasses.dataclass\nclass A:\n"
            "    at: float = dataclasses.field(default_factory=time.time)\n"
            "    def get(self):\n        return self.at\na = A()\nb = a.get()"
        ),
        9,
        {5},
    ),
    "a field that is given": (
        (
            "import dataclasses, time\n@dataclasses.dataclass\nclass A:\n"
            "    at: float = dataclasses.field(default_factory=time.time)\n"
            "    def get(self):\n        return self.at\n"
            "now = os.urandom(4)\na = A(now)\nb = a.get()"
        ),
        10,
        {8},
    ),
    "a later round of a loop over what a call gives": (
        ("def f():\n    a = os.urandom(4)\n    return [1, 2, *a]\nfor b in f():\n    c = b"),
        6,
        {3},
    ),
    "folders that are drawn where others lie": (
        (
            "import tempfile\nroot = tempfile.mkdtemp()\nfor _ in range(6):\n"
            "    tempfile.mkdtemp(dir=root)\na = sorted(os.listdir(root))"
        ),
        6,
        {5},
    ),
    "what is measured, whatever it is asked of": (
        "import resource\nn = os.urandom(4)\na = n, resource.getrusage(0)\nb = a",
        5,
        {4},
    ),
    "into a list": ("a = []\nfor _ in range(3):\n    a.append(os.urandom(4))\nb = a[1]", 5, {4}),
    "into a dictionary": ("a = {}\nk = 3\na[k] = os.urandom(4)\nb = a[k]", 5, {4}),
    "an attribute of another object": (
        (
            "import torch\nclass A:\n    def reset(self):\n        self.x.zero_()\n"
            "one, other = A(), A()\n"
            "vars(one).update(x=torch.ones(2))\nvars(other).update(x=torch.ones(3))\n"
            "s = os.urandom(4)\n"
            "for each in (one, other) if s[0] > LIMIT else (other, one):\n    each.reset()"
        ),
        5,
        {9},
    ),
    "one of several loaders that a call gives": (
        (
            "from torch.utils.data import DataLoader, Subset\ndef loaders():\n"
            "    s = list(os.urandom(4))\n"
            "    return DataLoader(Subset(range(256), s)), DataLoader(range(4))\n"
            "a, b = loaders()\nfor c in a:\n    d = c"
        ),
        8,
        {4},
    ),
    "a loader that joins by a function of the program's": (
        (
            "from torch.utils.data import DataLoader\ndef join(some):\n"
            "    return [each + 1 for each in some]\nrows = list(os.urandom(8))\n"
            "a = DataLoader(rows, batch_size=4, collate_fn=join)\nfor b in a:\n    c = b"
        ),
        8,
        {5},
    ),
    "an object of a library's that is given to a call": (
        (
            "import argparse, random\nrandom.seed(os.urandom(4))\n"
            "a = argparse.Namespace(total=random.random())\nb = str(a)"
        ),
        5,
        {3},
    ),
    "an object of a library's that holds the same": (
        "import argparse\na = argparse.Namespace(total=3)\nb = str(a) + str(os.urandom(4))",
        4,
        {4},
    ),
    "a loader that a generator gives": (
        (
            "import torch\nfrom torch.utils.data import DataLoader, Subset\n"
            "torch.manual_seed(0)\ndef loaders():\n    for n in range(2):\n"
            "        s = list(os.urandom(4))\n        yield n, DataLoader(Subset(range(256), s))\n"
            "for n, a in loaders():\n    for c in a:\n        d = c"
        ),
        11,
        {7},
    ),
    "what is drawn into a tensor": (
        (
            "import torch\na = list(os.urandom(4))\ntorch.manual_seed(a[0])\nb = torch.ones(3)\n"
            "b.normal_()\nc = b + 0"
        ),
        7,
        {3},
    ),
    "by a constant key": ("g = {'lr': 1}\ng['lr'] = os.urandom(4)\nb = g['lr']", 4, {3}),
    "a part of what is read": ("g = {'lr': 1}\ng['lr'] = os.urandom(4)\nb = dict(**g)", 4, {3}),
    "a part of what is read elsewhere": (
        (
            "class A:\n    def set(self):\n        self.held['x'] = os.urandom(4)\n"
            "    def get(self):\n        return dict(self.held)\n"
            "a = A()\na.held = {}\na.set()\nb = a.get()"
        ),
        10,
        {4},
    ),
    "only the part that is read": (
        "g = {'a': 1}\ng['t'] = os.urandom(4)\ng['a'] = os.urandom(4)\nb = g['a']",
        5,
        {4},
    ),
    "in a comprehension": ("a = [os.urandom(4) for _ in range(3)]\nb = a[0]", 3, {2}),
    "a lambda": ("f = lambda: os.urandom(4)\na = f()\nb = a", 4, {2}),
    "a lambda that is given something else": (
        "a = os.urandom(4)\nf = lambda v: v + b'x'\nb = f(a)\nc = b",
        5,
        {2},
    ),
    "a lambda that reads something else": (
        "a = os.urandom(4)\nf = lambda: a + b'x'\nb = f()\nc = b",
        5,
        {2},
    ),
    "a lambda that generated code calls": (
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass R:\n"
            "    key: str = field(default_factory=lambda: os.urandom(3).hex())\n"
            "r = R()\na = int(r.key, 16)\nb = a"
        ),
        8,
        {5},
    ),
    "a small number of a class": (
        (
            "n = os.urandom(4)\nclass A:\n    x = 7 if n[0] > LIMIT else 8\n"
            "    def get(self):\n        return self.x\na = A().get()"
        ),
        7,
        {2},
    ),
    "an attribute of a module's class": (
        (
            "import torch\nclass A(torch.nn.Module):\n"
            "    x = torch.tensor([list(os.urandom(8))])\n"
            "    def get(self):\n        return self.x.T + 1\na = A().get()"
        ),
        7,
        {4},
    ),
    "an item that a factory makes": (
        (
            "import random\nfrom collections import defaultdict\nclass R:\n"
            "    def __init__(self):\n        self.held = defaultdict(random.Random)\n"
            "    def get(self, k):\n        return self.held[k]\nr = R()\na = r.get(1).random()"
        ),
        10,
        {6},
    ),
    "what is made for a call": (
        (
            "from dataclasses import dataclass, field\nfrom functools import partial\n"
            "@dataclass\nclass R:\n    key: bytes = field(default_factory=partial(os.urandom, 3))\n"
            "    def number(self):\n        return self.key.hex()\n"
            "def f(r):\n    return r.number()\na = f(R())\nb = a"
        ),
        11,
        {6},
    ),
    "a part of a data set": (
        (
            "import torch\nfrom torch.utils.data import DataLoader, Subset, TensorDataset\n"
            "a = torch.tensor(list(os.urandom(8)))\nb = Subset(TensorDataset(a), [0, 1, 2, 3])\n"
            "c = DataLoader(b)\nfor (d,) in c:\n    e = d"
        ),
        8,
        {4},
    ),
    "what a data set of the program's own is asked for": (
        (
            "from torch.utils.data import DataLoader\nclass Numbers(list):\n"
            "    def __getitem__(self, at):\n        part = list.__getitem__(self, at)\n"
            "        return part + 0\n"
            "s = list(os.urandom(4))\nl = DataLoader(Numbers(range(256)), sampler=s)\n"
            "for a in l:\n    b = a"
        ),
        10,
        {7},
    ),
    "what a lambda calls": (
        "def f():\n    return os.urandom(4)\ng = lambda: f()\na = g()\nb = a",
        6,
        {3},
    ),
    "a part that is chosen": (
        (
            "a = os.urandom(4)\nparts = [[], []]\npart = parts[a[0] > LIMIT]\n"
            "part.append(1)\nb = repr(parts)"
        ),
        6,
        {2},
    ),
    "a part that is chosen again": (
        (
            "s = os.urandom(4)\na = [0, s[0] > LIMIT, 0]\nparts = [[], []]\nfor each in a:\n"
            "    part = parts[each]\n    part += [each * 0]\nb = repr(parts)"
        ),
        8,
        {2},
    ),
    "a name that generated code draws": (
        (
            "import uuid\nfrom dataclasses import dataclass, field\n@dataclass\nclass R:\n"
            "    key: str = field(default_factory=lambda: uuid.uuid4().hex)\n"
            "r = R()\na = int(r.key[:6], 16)\nb = a"
        ),
        9,
        {6},
    ),
    "a generator": (
        "def g():\n    yield 1\n    yield os.urandom(4)\nfor each in g():\n    b = each",
        6,
        {4},
    ),
    "a global": (
        "X = 0\ndef f():\n    global X\n    X = os.urandom(4)\nf()\nb = X",
        7,
        {5},
    ),
    "a closure": (
        (
            "def f():\n    x = 0\n    def g():\n        nonlocal x\n        x = os.urandom(4)\n"
            "    g()\n    return x\nb = f()"
        ),
        9,
        {6},
    ),
    "a condition": (
        "a = os.urandom(4)\nb = 0\nif a[0] > LIMIT:\n    b = 5\nc = b",
        6,
        {2},
    ),
    "a match": (
        "a = os.urandom(4)\nmatch [a, 1]:\n    case [b, 1]:\n        c = b",
        5,
        {2},
    ),
    "recursion": (
        "def f(n):\n    if not n:\n        return os.urandom(4)\n    return f(n - 1)\nb = f(4)",
        6,
        {4},
    ),
    "deep recursion": (
        (
            "def f(n, v):\n    if not n:\n        return v\n    return f(n - 1, v)\n"
            "a = os.urandom(4)\nb = f(700, a)"
        ),
        7,
        {6},
    ),
    "with": (
        (
            "import contextlib\n@contextlib.contextmanager\ndef c():\n    yield os.urandom(4)\n"
            "with c() as a:\n    b = a"
        ),
        7,
        {5},
    ),
    "in place": (
        "a = bytearray(4)\nwith open('/dev/urandom', 'rb') as f:\n    f.readinto(a)\nb = a",
        5,
        {4},
    ),
    "an error": (
        (
            "def f(n):\n    if n[0] > LIMIT:\n        raise ValueError\n    return 1\n"
            "a = os.urandom(4)\ntry:\n    b = f(a)\nexcept ValueError:\n    b = 2\nc = b"
        ),
        11,
        {6},
    ),
    "async": (
        (
            "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return os.urandom(4)\n"
            "b = asyncio.run(f())"
        ),
        6,
        {5},
    ),
    "what is awaited": (
        (
            "import asyncio, contextvars\nasync def f(u):\n    v = await u\n    return v\n"
            "async def g():\n    loop = asyncio.get_running_loop()\n"
            "    return await f(loop.run_in_executor(None, os.urandom, 4))\nb = asyncio.run(g())"
        ),
        9,
        {4},
    ),
    "what is sent, where it arrives": (
        (
            "def g():\n    while True:\n        x = yield\n        print(len(x))\n"
            "each = g()\nnext(each)\neach.send(os.urandom(4))"
        ),
        4,
        {4},
    ),
    "a loop of one statement": (
        "a = []\nwhile True:\n    if len(a) > 3: break\n    a.append(os.urandom(4))\nb = a",
        6,
        {5},
    ),
    "what an iterator was made of": (
        "a = os.urandom(4)\nit = (v for v in a)\nfor each in it:\n    b = each",
        5,
        {2},
    ),
    "what an iterator was made of, in a call": (
        "def f(it):\n    for each in it:\n        b = each\na = os.urandom(4)\nf(map(int, a))",
        4,
        {5},
    ),
    "a property": (
        "class A:\n    @property\n    def x(self):\n        return os.urandom(4)\na = A()\nb = a.x",
        7,
        {5},
    ),
    "a part under another name": (
        "a = [[0], [0]]\nfor b in a:\n    b += os.urandom(4)\nc = list(a)",
        5,
        {4},
    ),
    "a part under another name, in pairs": (
        "a = {1: [0]}\nfor k, b in a.items():\n    b.append(os.urandom(4))\nc = dict(a)",
        5,
        {4},
    ),
    "what a function changes that is an item of a loop": (
        (
            "import bisect\na = [[b''], [b'']]\nfor b in a:\n"
            "    bisect.insort(b, os.urandom(4))\nc = list(a)"
        ),
        6,
        {5},
    ),
    "what a function changes that is a part": (
        "import heapq\nn = 0\na = [[], []]\nheapq.heappush(a[n], os.urandom(4))\nb = list(a)",
        6,
        {5},
    ),
    "a part by its number": (
        "n = 0\na = [[0], [0]]\nb = a[n]\nb[0] = os.urandom(4)\nc = list(a)",
        6,
        {5},
    ),
    "nested calls": (
        "def f(v):\n    return v\ndef g():\n    return os.urandom(4)\nb = f(f(g()))",
        6,
        {5},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_difference_is_traced_to_its_line(name: str, tmp_path: Path) -> None:
    text, line, expected = CASES[name]
    found = flows(tmp_path, _ENTROPY + text + "\n", LIMIT=(-1, 255))

    assert origins(found, line) == expected


def test_a_clock_is_told_where_it_is_read_and_not_where_it_was_begun(tmp_path: Path) -> None:
    text = """\
    import time
    begun = time.perf_counter()
    n = 3
    rate = n / (time.perf_counter() - begun)
    scale = rate * 2
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 5) == {4}


def test_where_a_clock_was_begun_is_told_only_if_there_is_no_other(tmp_path: Path) -> None:
    text = """\
    import time
    begun = 0
    for _ in range(3):
        begun = begun or time.perf_counter()
        late = begun
        if time.perf_counter() - begun > LIMIT:
            rate = 1
            rate = 2
    """
    found = flows(tmp_path, textwrap.dedent(text), LIMIT=(-1, 99))
    nowhere = Difference(0, 3, "training", None, None, Cause.KERNEL, "")

    assert [each.statement.line for each in find(found, nowhere).origins] == [6]


def test_a_thread_that_draws_is_told_and_not_who_draws_after_it(tmp_path: Path) -> None:
    text = """\
    import random
    import threading
    random.seed(0)
    def work(times):
        for _ in range(times):
            random.random()
    thread = threading.Thread(target=work, args=(TIMES,))
    thread.start()
    thread.join()
    a = random.random()
    """
    found = flows(tmp_path, textwrap.dedent(text), TIMES=(2, 3))

    assert origins(found, 10) <= {5, 6, 7}


def test_a_generator_that_nobody_has_seeded_is_told_where_it_is_drawn_from(tmp_path: Path) -> None:
    text = """\
    import random
    a = random.random()
    random.seed(3)
    b = random.random()
    """
    import random

    random.seed()  # detlint: ignore[DET103] a run that nobody has seeded
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 2) == {2}
    assert origins(found, 4) == set()


@pytest.mark.parametrize(
    ("made", "line"),
    [("[random.random(), inner(), 3]", 4), ("[3, inner(), random.random()]", 3)],
)
def test_a_statement_that_draws_before_what_it_calls_is_the_first(
    made: str, line: int, tmp_path: Path
) -> None:
    text = f"""\
    import random
    def inner():
        return random.gauss(0, 1)
    drawn = {made}
    """
    import random

    random.seed()  # detlint: ignore[DET103] a run that nobody has seeded
    assert origins(flows(tmp_path, textwrap.dedent(text)), 4) == {line}


def test_what_draws_changes_an_object_of_a_librarys_that_it_is_given(tmp_path: Path) -> None:
    text = """\
    import random
    from collections import UserList
    def pairs(items):
        for a in items:
            b = a
    items = UserList(range(99))
    random.shuffle(items)
    pairs(items)
    """
    import random

    random.seed()  # detlint: ignore[DET103] a run that nobody has seeded
    assert origins(flows(tmp_path, textwrap.dedent(text)), 5) == {7}


def test_a_draw_that_only_one_run_makes_is_told_by_what_decides_it(tmp_path: Path) -> None:
    text = """\
    import os, random
    random.seed(0)
    a = os.urandom(4)
    if a[0] > LIMIT:
        random.random()
    b = random.random()
    """
    found = flows(tmp_path, textwrap.dedent(text), LIMIT=(-1, 255))

    assert origins(found, 6) == {3}


def test_what_only_one_run_began_may_not_have_ended(tmp_path: Path) -> None:
    text = """\
    import os, sys
    def inner(found):
        sys.settrace(None)
        return found
    def outer(found):
        found = inner(found)
        return found
    a = os.urandom(4)
    if a[0] > LIMIT:
        b = outer([a])
    """
    found = flows(tmp_path, textwrap.dedent(text), LIMIT=(-1, 255))

    assert origins(found, 10) == {8}


def test_threads_that_add_to_a_part_under_another_name_are_told(tmp_path: Path) -> None:
    text = """\
    import threading
    class Sum:
        def __init__(self):
            self.parts = [[0], [0]]
        def add(self, n):
            for part in self.parts:
                part += [n]
    total = Sum()
    threads = [threading.Thread(target=total.add, args=(n,)) for n in range(3)]
    for thread in ORDER(threads):
        thread.start()
        thread.join()
    a = list(total.parts)
    """
    found = flows(tmp_path, textwrap.dedent(text), ORDER=(list, lambda each: each[::-1]))

    assert origins(found, 13) == {7}


def test_memory_that_is_written_before_it_is_read_is_no_origin(tmp_path: Path) -> None:
    system = random.SystemRandom()  # detlint: ignore[DET101] that is the test
    torch = SimpleNamespace(empty=partial(system.sample, range(9**9)))
    dist = SimpleNamespace(recv=system.shuffle)
    text = "a = torch.empty(4)\nb = list(a)\ndist.recv(a)\nc = list(a)\n"
    found = flows(tmp_path, text, torch=(torch, torch), dist=(dist, dist))

    assert origins(found, 2) == {1}
    assert origins(found, 4) == {3}


def test_threads_that_add_in_any_order_are_told(tmp_path: Path) -> None:
    text = """\
    import threading
    total = []
    def work(n):
        total.append(n)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in ORDER(threads):
        thread.start()
        thread.join()
    a = list(total)
    """
    found = flows(tmp_path, textwrap.dedent(text), ORDER=(list, lambda each: each[::-1]))

    assert 4 in origins(found, 9) or 6 in origins(found, 9)


def test_tasks_that_a_thread_runs_in_another_order_are_told(tmp_path: Path) -> None:
    text = """\
    import threading
    from collections import deque
    class Gatherer:
        def __init__(self):
            self.rows = []
        def keep(self, row):
            self.rows.append(row)
    gatherer = Gatherer()
    thread = threading.Thread(target=deque, args=(map(gatherer.keep, ORDER), 0))
    thread.start()
    thread.join()
    a = list(gatherer.rows)
    """
    orders = ([1001, 1002, 1003], [1002, 1001, 1003])
    found = flows(tmp_path, textwrap.dedent(text), ORDER=orders)
    (origin, *_) = next(each for each in found.nodes if each.statement.line == 12).origins

    assert origin.statement.line == 7
    assert origin_of(origin, found.traits(origin)).source is Source.THREAD_ORDER


SECOND = SimpleNamespace(wait=partial(int, 1))
_SLOTS = """\
import os, threading
class Table:
    def __init__(self):
        self.found = {}
    def work(self, n):
        rows = os.urandom(8) if n == 2 else n
        begun[n].set()
        turns[n].wait()
        return rows
    def fill(self, n):
        self.found[n] = self.work(n)
        turns[NEXT[n]].set()
table = Table()
# all begin before one has ended, which they do in an order of the run's own
begun, turns = ([threading.Event() for _ in range(5)] for _ in range(2))
threads = [threading.Thread(target=table.fill, args=(n,)) for n in range(4)]
for each, went in zip(threads, begun):
    each.start()
    went.wait()
turns[NEXT[4]].set()
for each in threads:
    each.join()
a = READ
"""


@pytest.mark.parametrize(
    ("drawn", "read", "line"),
    [
        ("os.urandom(8)", "[table.found[n] for n in sorted(table.found)]", {6}),
        ("n", "[*table.found.values()]", {11}),
    ],
)
def test_the_slots_that_threads_fill_share_their_order_alone(
    drawn: str, read: str, line: set[int], tmp_path: Path
) -> None:
    text = _SLOTS.replace("os.urandom(8)", drawn).replace("READ", read)
    found = flows(tmp_path, text, NEXT=([2, 3, 1, 4, 0], [4, 2, 0, 1, 3]))

    assert origins(found, 23) == line


def test_a_thread_that_asks_how_far_the_main_one_has_come_is_told(tmp_path: Path) -> None:
    text = """\
    import queue, threading
    class Box:
        version = 1
    box, out, written, read = Box(), queue.Queue(), threading.Event(), threading.Event()
    def work():
        FIRST(written)
        seen = [box.version, 5]
        out.put(seen)
        read.set()
    threading.Thread(target=work).start()
    THEN(read)
    box.version = 2
    written.set()
    a = out.get()
    """
    wait, go_on = threading.Event.wait, str
    found = flows(tmp_path, textwrap.dedent(text), FIRST=(wait, go_on), THEN=(go_on, wait))

    assert origins(found, 14) == {7}
    (node,) = (each for each in found.nodes if each.statement.line == 7)
    assert origin_of(node, found.traits(node)).source is Source.READINESS


@pytest.mark.parametrize("first", ["lock.acquire(blocking=False)", "barrier.wait() == 0"])
def test_who_comes_first_is_told_and_not_what_is_done_then(first: str, tmp_path: Path) -> None:
    text = f"""\
    import queue, threading
    class Team:
        def __init__(self):
            self.out, self.parts = queue.Queue(), [None, None]
        def work(self, number):
            self.parts[number] = number * 1000 + 7000
            if {first}:
                self.out.put(number * 1000 + 7000)
    team, lock, barrier = Team(), threading.Lock(), threading.Barrier(1)
    for number in ORDER([0, 1]):
        thread = threading.Thread(target=team.work, args=(number,))
        thread.start()
        thread.join()
        barrier = FIRST
    a = team.out.get()
    """
    text = textwrap.dedent(text)
    found = flows(tmp_path, text, ORDER=(list, lambda each: each[::-1]), FIRST=(SECOND, SECOND))

    assert origins(found, 15) == {7}


def test_what_a_thread_makes_is_followed_through_a_queue(tmp_path: Path) -> None:
    text = """\
    import os, queue, threading
    out = queue.Queue()
    def work():
        a = os.urandom(9)
        out.put(a)
        out.put(b"the same")
    threading.Thread(target=work).start()
    b = out.get()
    c = out.get()
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert (origins(found, 8), origins(found, 9)) == ({4}, set())


_DROPS = """\
import queue, threading
class Camera:
    def __init__(self):
        self.pictures = queue.Queue(3)
    def run(self):
        for n in range(8):
            EACH(self.pictures, n)
            item = [n, 7000]
            try:
                self.pictures.put_nowait(item)
            except queue.Full:
                DROPPED
    def take(self, count):
        return [self.pictures.get() for _ in range(count)]
camera = Camera()
threading.Thread(target=camera.run).start()
START()
camera.take(3)
b = camera.take(2)
"""


@pytest.mark.parametrize("dropped", ["pass", "self.missed = n"])
def test_a_thread_that_drops_what_a_full_queue_does_not_hold_is_told(
    dropped: str, tmp_path: Path
) -> None:
    has_dropped = threading.Event()

    def take_each(pictures: Any, n: int) -> None:  # noqa: ANN401
        while n <= 5 and not pictures.empty():
            time.sleep(0.001)

    def drop_one(pictures: Any, n: int) -> None:  # noqa: ANN401
        if n == 4:
            has_dropped.set()
            take_each(pictures, n)

    text = _DROPS.replace("DROPPED", dropped)
    start = (partial(int), has_dropped.wait)
    found = flows(tmp_path, text, EACH=(take_each, drop_one), START=start)

    (origin,) = next(each for each in found.tainted if each.statement.line == 19).origins
    assert origin.statement.line == 10
    assert origin_of(origin, found.traits(origin)).source is Source.READINESS


def test_what_one_thread_has_put_is_told_where_it_is_taken_though_its_queue_is_seen_late(
    tmp_path: Path,
) -> None:
    text = """\
    import threading
    def work():
        Q.put(7003)
    thread = threading.Thread(target=work); thread.start(); thread.join()
    if IS_SEEN:
        Q.qsize()
    a = Q.get()
    """
    queues = queue.Queue[int](), queue.Queue[int]()
    for number, each in enumerate(queues):
        each.put(7001 + number)
    found = flows(tmp_path, textwrap.dedent(text), IS_SEEN=(True, False), Q=queues)

    (taken,) = next(each for each in found.tainted if each.statement.line == 7).origins
    assert taken.statement.line == 7
    assert origin_of(taken, found.traits(taken)).source is Source.READINESS


def test_what_a_call_has_changed_of_its_object_is_followed_into_the_call(tmp_path: Path) -> None:
    text = """\
    import os
    class A:
        def draw(self):
            self.x = os.urandom(9)
        def begin(self):
            self.y = os.urandom(9)
    a = A()
    a.begin()
    a.y = 0
    a.draw()
    b = a.x
    """
    assert origins(flows(tmp_path, textwrap.dedent(text)), 11) == {4}


def test_a_drawn_name_is_followed_into_what_takes_a_part_of_it(tmp_path: Path) -> None:
    text = """\
    import tempfile, zlib
    from pathlib import Path
    work = Path(tempfile.mkdtemp())
    def fold():
        return zlib.crc32(work.name.encode())
    a = fold()
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 6) == {3}


def test_names_that_are_drawn_for_files_agree_and_their_order_does_not(tmp_path: Path) -> None:
    text = """\
    import os, tempfile
    with tempfile.TemporaryDirectory() as folder:
        for number in range(6):
            handle, name = tempfile.mkstemp(dir=folder)
            os.close(handle)
        names = [each for each in os.listdir(folder)]
        names = sorted(names)
    b = names[0]
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 4) == set()
    assert origins(found, 8) <= {6, 7}


def test_an_object_of_a_library_is_the_same_where_one_run_has_called_more_before(
    tmp_path: Path,
) -> None:
    text = """\
    import queue
    def f():
        return 1
    def g():
        q = queue.Queue()
        return q
    for _ in range(TIMES):
        f()
    a = g()
    """
    found = flows(tmp_path, textwrap.dedent(text), TIMES=(2, 3))

    assert origins(found, 5) == set()
    assert origins(found, 9) == set()


def test_what_only_one_run_has_looked_at_is_not_what_only_one_has_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """\
    def f(x):
        y = x + 1
        return y
    STOP()
    for each in range(3):
        a = f(each)
    GO()
    b = 1
    """
    monkeypatch.setattr(tracer, "_MOST", tracer._MOST)  # set anew in the second run

    def most(number: int) -> Callable[[], None]:
        return lambda: setattr(tracer, "_MOST", number)

    stops = (most(1000), most(0))
    found = flows(tmp_path, textwrap.dedent(text), STOP=stops, GO=(most(1000), most(1000)))

    assert not [each for each in found.tainted if each.file != __file__]


def test_a_statement_that_gives_something_else_may_move_a_generator_as_well(tmp_path: Path) -> None:
    text = """\
    import random
    random.seed(0)
    a = [random.random() for _ in range(TIMES)]
    """
    found = flows(tmp_path, textwrap.dedent(text), TIMES=(2, 3))

    assert [each.statement.line for each in found.moves["python"]] == [3]


def test_a_thread_that_still_draws_is_told_and_not_who_draws_beside_it(tmp_path: Path) -> None:
    text = """\
    import random
    import threading
    random.seed(0)
    go, went, done = threading.Event(), threading.Event(), threading.Event()
    def work(times):
        return [go.wait(), [random.random() for _ in range(times)], went.set(), done.wait()]
    random.random()
    thread = threading.Thread(target=work, args=(TIMES,))
    thread.start()
    go.set()
    went.wait()
    a = random.random()
    done.set()
    thread.join()
    """
    found = flows(tmp_path, textwrap.dedent(text), TIMES=(2, 3))

    assert origins(found, 12) <= {6, 8}


def test_a_task_is_found_in_another_process_of_the_pool() -> None:
    ones, others = (
        [
            Thread(f"PoolWorker-{n}", [Call("a.py", "work", 1, ("n",), n, at, (2 * at + 1,), 0)])
            for n, at in enumerate(order, 1)
        ]
        for order in ((0, 1), (1, 0))
    )
    ones[0].calls.append(Call("a.py", "work", 1, ("n",), 3, 5, (99,), 0))
    others[0].calls.append(Call("a.py", "work", 1, ("n",), 3, 5, (77,), 0))
    found = [(one and one.given, other and other.given) for one, other, _ in calls_of(ones, others)]

    assert sorted(found) == [((1,), (1,)), ((3,), (3,)), ((99,), (77,))]


def test_a_task_is_found_by_the_one_argument_that_agrees() -> None:
    """The other one is shared, and holds more by the time that the later of them begins."""
    ones, others = (
        [
            Thread("thread", [Call("a.py", "work", 1, ("shared", "part"), n, n, (held, part), 0)])
            for n, (held, part) in enumerate(given, 1)
        ]
        for given in (((7, 1), (8, 2)), ((7, 2), (9, 1)))
    )
    found = [(one and one.given, other and other.given) for one, other, _ in calls_of(ones, others)]

    assert sorted(found) == [((7, 1), (9, 1)), ((8, 2), (7, 2))]


def test_what_is_left_out_because_it_runs_often_says_nothing(tmp_path: Path) -> None:
    text = """\
    import os
    a = os.urandom(4)
    for n in range(3200 if a[0] > LIMIT else 3100):
        b = n
    c = 1
    """
    found = flows(tmp_path, textwrap.dedent(text), LIMIT=(-1, 255))

    assert len([each for each in found.nodes if each.statement.line == 4]) == 3000
    assert not any(each.branches for each in found.nodes if each.statement.line == 4)


def test_when_a_coroutine_goes_on_is_no_origin(tmp_path: Path) -> None:
    text = """\
    import asyncio, time
    async def main():
        gate, done = asyncio.Semaphore(2), []
        async def one(number):
            async with gate:
                return await asyncio.to_thread(time.sleep, WAITS[number] / 100) or number + 2000
        for each in asyncio.as_completed([one(number) for number in range(6)]):
            done.append(await each)
        return done
    a = asyncio.run(main())
    """
    found = flows(tmp_path, textwrap.dedent(text), WAITS=([0, 4, 0, 1, 3, 0], [6, 0, 4, 0, 0, 2]))

    assert "a = asyncio.run(main())" in [each.statement.text for each in found.tainted]
    assert not [each for each in found.origins if each.statement.kind == "AsyncWith"]


def test_what_threads_have_counted_is_the_same_in_the_end(tmp_path: Path) -> None:
    text = """\
    import threading
    class Held:
        count, total = 1000, 0.1
    held = Held()
    def work(rows):
        held.count += len(rows) * 1000
        held.total += sum(rows)
    for rows in ORDER:
        thread = threading.Thread(target=work, args=(rows,))
        thread.start()
        thread.join()
    a = held.count
    b = held.total
    """
    parts = [[1e16], [-1e16, 0.0], [3.0] * 3]
    found = flows(tmp_path, textwrap.dedent(text), ORDER=(parts, parts[::-1]))
    alike = {n.statement.line: found.comes_to_the_same(n) for n in found.tainted}

    assert (alike[6], alike[7]) == (True, False)


def test_an_item_of_an_archive_has_the_origins_of_its_name(tmp_path: Path) -> None:
    text = """\
    import os, types, weakref
    class Handle:
        __module__ = "archive"
        def __init__(self, name):
            self.name = name
        def __getitem__(self, key):
            return self.name
    archive = types.ModuleType("archive")
    a = os.urandom(4)
    shard = Handle(a)
    b = [bytes(shard["x"])]
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 11) == {9}


PUT_INTO = {
    "a property of a drawn name": ("Sampler(Run(name).seed)", {14}),
    "a part of a drawn name": ("Sampler(int(name[:6], 16))", {14}),
    "a clock": ("Sampler(time.time_ns())", {15}),
    "an iterator over it": ("iter(Sampler(os.urandom(4)))", {15}),
    "what is the same": ("Sampler(4)", set()),
}


@pytest.mark.parametrize("made", PUT_INTO)
@pytest.mark.parametrize("loop", ["for b in shuffled:", "for b in loader():"])
def test_what_is_taken_has_the_origins_of_what_was_put_in(
    made: str, loop: str, tmp_path: Path
) -> None:
    text = """\
    import os, time, types, uuid
    class Sampler:
        __module__ = "library"
        def __init__(self, seed):
            self.seed = seed
        def __iter__(self):
            return iter([self.seed, self.seed])
    class Run:
        def __init__(self, name):
            self.name = name
        @property
        def seed(self):
            return int(self.name[:6], 16)
    name = uuid.uuid4().hex
    shuffled = MADE
    def loader():
        return shuffled
    LOOP
        c = [str(b)]
    """
    call, lines = PUT_INTO[made]
    text = textwrap.dedent(text).replace("MADE", call).replace("LOOP", loop)
    found = flows(tmp_path, text, library=(types.ModuleType("library"),) * 2)

    assert origins(found, 19) == lines


def test_what_asks_the_system_for_random_numbers_is_told_whatever_it_is(tmp_path: Path) -> None:
    text = """\
    import numpy
    draws = numpy.random.SeedSequence()
    a = draws.generate_state(2)
    """
    found = flows(tmp_path, textwrap.dedent(text))
    (node,) = {o for each in found.tainted if each.statement.line == 3 for o in each.origins}

    assert node.statement.line == 2
    assert found.traits(node).gave & ASKED


@pytest.mark.parametrize(
    "read", ["for told in file:\n        pass", "told = file.read()", "told = [*file]"]
)
def test_a_file_of_the_system_is_known_by_the_object_that_reads_it(
    read: str, tmp_path: Path
) -> None:
    text = f"with open(NAME) as file:\n    {read}\na = told"
    name = ("/proc/self/schedstat",) * 2
    found = flows(tmp_path, text, NAME=name)
    (node,) = {
        o for each in found.tainted if each.statement.text == "a = told" for o in each.origins
    }

    assert node.statement.line == 2
    assert origin_of(node, found.traits(node)).source is Source.LOAD


def test_a_file_of_the_system_is_known_by_the_path_that_names_it(tmp_path: Path) -> None:
    names = (pathlib.Path("/proc/self/schedstat"),) * 2
    found = flows(tmp_path, "told = NAME.read_text()\na = told", NAME=names)
    (node,) = {
        o for each in found.tainted if each.statement.text == "a = told" for o in each.origins
    }

    assert origin_of(node, found.traits(node)).source is Source.LOAD


def test_a_generator_that_goes_on_further_has_the_origins_of_who_takes_from_it(
    tmp_path: Path,
) -> None:
    text = """\
    import os
    def numbers():
        for number in range(100):
            yield number
    def some(source, most):
        for each in source:
            if each < most:
                continue
            yield each
    most = os.urandom(1)[0] % 50
    for at, b in zip(range(3), some(numbers(), most)):
        a = b
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 12) in ({10}, set())


@pytest.mark.parametrize("make", ["zeros", "empty"])
def test_a_thread_that_fills_a_view_is_followed(make: str, tmp_path: Path) -> None:
    text = """\
    import os, threading
    import numpy
    local = threading.local()
    def rate():
        if not hasattr(local, "rate"):
            local.rate = int.from_bytes(os.urandom(4), "big")
        return local.rate
    def fill(part):
        for at in range(len(part)):
            part[at] = rate()
    def made():
        whole = numpy.MAKE(4)
        threads = [threading.Thread(target=fill, args=(whole[at : at + 2],)) for at in (0, 2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return whole
    a = made()
    """
    text = textwrap.dedent(text).replace("MAKE", make)
    found = flows(tmp_path, text)

    assert origins(found, 19) == {6}


def test_where_a_library_ends_in_one_run_its_call_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("setup()\nfit()\nmeasure()\n", encoding="utf-8")

    def ran(line: int, ended: int) -> Ran:
        return Ran(line, line, ended, (), (), (), NONE, NONE, "", [])

    def run(*ends: int) -> Recording:
        call = Call(str(program), "<module>", 1, (), 1, 0, (), 0)
        call.statements += [ran(line, ended) for line, ended in enumerate(ends, 1)]
        return Recording([Thread("main", [call])])

    flows = Flows(Pairing(run(2, 0), run(2, 5, 9), Files().statement).nodes)
    found = find(flows, Difference(0, 3, "training", None, None, Cause.CONTROL_FLOW, ""))

    assert [each.statement.line for each in found.origins] == [2]


def test_where_a_recording_ends_is_no_origin_of_another_result(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("a = setup()\nfit()\nmeasure()\n", encoding="utf-8")

    def run(gave: int, ended: int) -> Recording:
        call = Call(str(program), "<module>", 1, (), 1, 0, (), 0)
        made = Ran(1, 1, 2, (), (), (gave,), NONE, NONE, "", [])
        call.statements += [made, Ran(2, 3, ended, (), (), (), NONE, NONE, "", [])]
        return Recording([Thread("main", [call])])

    flows = Flows(Pairing(run(3, 0), run(5, 6), Files().statement).nodes)
    place = Place(str(program), 2, "<module>")
    found = find(flows, Difference(0, 3, "training", None, None, Cause.OUTSIDE, "", place=place))

    assert [each.statement.line for each in flows.origins] == [1]
    assert 2 not in [each.statement.line for each in found.origins]


def test_a_line_that_differs_is_told_before_what_one_run_has_not_ended(tmp_path: Path) -> None:
    text = "import os\ndef main():\n    a = os.urandom(4)\n    b = a + b'x'\n    print(b)\nmain()\n"
    found = flows(tmp_path, text)
    (outer,) = (each for each in found.nodes if each.statement.line == 6)
    assert outer.second is not None
    outer.second.ended = 0
    assert outer.goes_on

    place = Place(str(tmp_path / "program.py"), 4, "main")
    told = find(
        found, Difference(0, 3, "training", None, None, Cause.CONTROL_FLOW, "", place=place)
    )

    assert [each.statement.line for each in told.origins] == [3]


def cut_at_a_step(
    tmp_path: Path, text: str, given: Callable[[int], dict[str, Callable[..., object]]]
) -> Flows:
    """What flows in a program of which the recording of the second run ends as it calls ``step``;
    ``given``: what else a run of this number calls."""
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    folders = [tmp_path / name for name in ("whole", "cut")]
    for at, folder in enumerate(folders):
        folder.mkdir()
        following = tracer.Tracer(str(folder), step=1 << 30)

        def step(follows: tracer.Tracer = following, at: int = at) -> None:
            follows.step_ends(0)
            if at:
                follows.end()

        following.begin()
        try:
            exec(compile(text, str(program), "exec"), {"step": step, **given(at)})  # noqa: S102 - a test
        finally:
            following.end()
    return compare(*map(str, folders))[0]


def test_what_a_statement_was_given_that_has_not_ended_is_told_at_a_step(tmp_path: Path) -> None:
    text = "def fit(parts):\n    step()\n\nx = draw()\nfit([x])\n"
    found = cut_at_a_step(tmp_path, text, lambda at: {"draw": lambda: 0.5 + at})
    (called,) = (each for each in found.nodes if each.statement.line == 5)
    assert called.goes_on
    assert {each.statement.line for each in found.given(called)} == {4}


@pytest.mark.parametrize("other", [["work 3", "work 1"], ["work 1"], ["work 3"]])
def test_tasks_of_a_pool_are_those_that_were_started_as_the_same(other: list[str]) -> None:
    def done(lane: str, at: int) -> Call:  # each time the same work, in another round
        return Call("a.py", "work", 1, ("n",), at, at, (7,), 0, lane)

    first = [Thread("pool", [done("work 1", 1), done("work 3", 2)])]
    second = [Thread("pool", [done(lane, at)]) for at, lane in enumerate(other)]

    found = [(one.lane, two.lane) for one, two, _ in calls_of(first, second) if one and two]

    assert sorted(found) == [(lane, lane) for lane in sorted(other)]


_POOL = """
    import os, threading
    from concurrent.futures import ThreadPoolExecutor

    def work(number):
        gates[number].wait()
        lock = threading.Lock()
        lock.acquire()
        drawn = os.urandom(4) if number else b""
        kept = drawn + b"x"
        gates[after[number]].set()

    gates = [threading.Event() for _ in range(3)]
    after = {first: 1 - first, 1 - first: 2}
    gates[first].set()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
"""


def test_what_a_task_makes_is_its_own_whichever_task_comes_first(tmp_path: Path) -> None:
    found = flows(tmp_path, textwrap.dedent(_POOL), first=(0, 1))

    made = [each for each in found.nodes if each.statement.line in (7, 8)]
    assert len(made) == 4
    assert not any(each.is_tainted for each in made)


def test_a_difference_of_a_task_is_looked_for_in_it(tmp_path: Path) -> None:
    text = textwrap.dedent(_POOL) + "a = b = os.urandom(4)\nprint(a, b)\nprint(b)\n"
    found = flows(tmp_path, text, first=(0, 0))
    place = Place(str(tmp_path / "program.py"), 11, "work")

    difference = Difference(
        0, 0, "training", None, None, Cause.KERNEL, "", place=place, lane="work 2"
    )

    assert [each.statement.line for each in find(found, difference).origins] == [9]


def test_what_a_lambda_calls_is_called_by_it_though_neither_has_ended(tmp_path: Path) -> None:
    def run_beside(task: Callable[[], None]) -> None:
        other = threading.Thread(target=task)
        other.start()
        other.join()

    text = "def fit():\n    step()\n\nrun(lambda: fit())\n"
    found = cut_at_a_step(tmp_path, text, lambda _: {"run": run_beside})

    assert any(each.statement.line == 2 for each in found.nodes)
    assert all(each.first and each.second for each in found.nodes)


def test_rounds_of_a_loop_are_compared_with_the_same_rounds(tmp_path: Path) -> None:
    text = """
        def rows():
            for row in read():
                value = row + 1
                yield value

        kept = []
        for each in rows():
            if choose(each):
                kept.append(each)
                last = each
        total = sum(kept)
    """
    read = partial(iter, range(6))
    chosen = (frozenset({1, 4}).__contains__, frozenset({2, 5}).__contains__)
    found = flows(tmp_path, textwrap.dedent(text), read=(read, read), choose=chosen)

    assert origins(found, 12) == {9}


def test_a_wait_for_a_limited_time_is_told_before_what_it_has_let_by(tmp_path: Path) -> None:
    text = """
        import threading

        class Helper:
            out = 0
            def run(self):
                for _ in range(3):
                    self.out += 1
                    turn.wait()

        helper = Helper()
        worker = threading.Thread(target=helper.run)
        worker.start()
        worker.join(LIMIT)
        value = helper.out * 2
        turn.set()
        worker.join()
    """
    limits = (0.3, 0.3)
    first, second = threading.Event(), threading.Event()
    second.set()
    found = flows(tmp_path, textwrap.dedent(text), LIMIT=limits, turn=(first, second))

    assert origins(found, 15) == {14}


def test_who_waits_no_longer_is_told_and_not_what_was_cancelled(tmp_path: Path) -> None:
    text = """
        import asyncio

        async def work():
            await asyncio.sleep(SECONDS())
            return 5

        async def limited():
            try:
                return await asyncio.wait_for(work(), 0.2)
            except asyncio.TimeoutError:
                return 0

        got = asyncio.run(limited())
    """
    seconds = (partial(float, 0.01), partial(float, 20))
    found = flows(tmp_path, textwrap.dedent(text), SECONDS=seconds)

    assert origins(found, 14) == {10}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout came with Python 3.11")
def test_a_block_with_a_limit_is_told_and_not_what_it_has_cancelled(tmp_path: Path) -> None:
    text = """
        import asyncio

        async def limited():
            rows = []
            try:
                async with asyncio.timeout(0.2):
                    for number in range(3):
                        await asyncio.sleep(SECONDS())
                        rows.append(number)
            except TimeoutError:
                rows.append(-1)
            return rows

        got = asyncio.run(limited())
    """
    seconds = (partial(float, 0.01), partial(float, 20))
    found = flows(tmp_path, textwrap.dedent(text), SECONDS=seconds)

    assert origins(found, 15) == {7}
    (node,) = found.tainted[-1].origins
    assert origin_of(node, found.traits(node)).source is Source.READINESS


def test_a_part_that_is_changed_by_a_computed_key_is_followed(tmp_path: Path) -> None:
    text = """
        table = [[] for _ in range(2)]
        for name in range(6):
            table[KEY(name) % 2].append(name)
        names = [each for part in table for each in part]
    """
    keys = (partial(pow, 3), partial(pow, 2))
    found = flows(tmp_path, textwrap.dedent(text), KEY=keys)

    assert origins(found, 5) == {4}


def test_what_a_return_within_a_block_gives_is_its_own(tmp_path: Path) -> None:
    text = """
        import contextlib, os
        def drawn():
            with contextlib.suppress(OSError):
                value = 1
                return [value, os.urandom(4)]
        got = drawn()
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 7) == {6}


def test_a_part_of_a_librarys_object_comes_from_what_made_it(tmp_path: Path) -> None:
    text = """
        import subprocess, sys
        def noise():
            done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                                  capture_output=True)
            return done.stdout + b"x"
        got = noise()
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert origins(found, 7) == {4}


def test_a_property_has_the_origins_of_its_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("program")
    module.__file__ = str(tmp_path / "program.py")
    monkeypatch.setitem(sys.modules, "program", module)
    text = """
        import os
        from dataclasses import dataclass
        @dataclass
        class Config:
            token: bytes
            @property
            def seed(self):
                return self.token * 2
        config = Config(os.urandom(4))
        got = config.seed
    """
    found = flows(tmp_path, textwrap.dedent(text), __name__=("program", "program"))

    assert origins(found, 11) == {10}


def test_a_name_that_a_library_draws_is_followed_through_its_object(tmp_path: Path) -> None:
    text = """
        from multiprocessing.shared_memory import SharedMemory
        blocks = {}
        for _ in range(2):
            block = SharedMemory(create=True, size=8)
            blocks[block.name] = 1
            block.close()
            block.unlink()
        names = sorted(blocks)
    """
    found = flows(tmp_path, textwrap.dedent(text))
    (node,) = found.tainted[-1].origins

    assert origins(found, 9) == {5}
    assert origin_of(node, found.traits(node)).source is Source.DRAWN_NAME


@pytest.mark.parametrize(("seed", "is_origin"), [("", True), ("3", False)])
def test_what_one_run_alone_makes_anew_is_an_origin_itself(
    seed: str, is_origin: object, tmp_path: Path
) -> None:
    text = f"""
        import random
        held = random.Random(4) if is_there else None
        if held is None:
            held = random.Random({seed})
        b = held.random()
    """
    found = flows(tmp_path, textwrap.dedent(text), is_there=(True, False))
    assert (5 in origins(found, 6)) is is_origin


@pytest.mark.parametrize(
    ("ask", "source"),
    [("os.mkdir(path)", Source.THREAD_ORDER), ("1 / (1 - os.path.isdir(path))", None)],
)
def test_who_comes_second_to_a_file_is_told(
    ask: str, source: Source | None, tmp_path: Path
) -> None:
    text = f"""
        import os
        path = "{tmp_path / "claimed"}"
        try:
            {ask}
            won = True
        except Exception:
            won = False
        os.makedirs(path, exist_ok=True)
    """
    found = flows(tmp_path, textwrap.dedent(text))
    (origin,) = {each for node in found.tainted for each in node.origins}
    assert origin.statement.line == 5
    assert origin_of(origin, found.traits(origin)).source is (source or Source.NOT_SHOWN)


def test_what_a_thread_makes_in_a_local_of_a_class_of_its_own_is_followed(tmp_path: Path) -> None:
    text = """
        import random, threading
        class Own(threading.local):
            def __init__(self):
                self.stream = random.Random()
        own, drawn = Own(), []
        def draw():
            drawn.append(own.stream.random())
        for _ in range(2):
            thread = threading.Thread(target=draw)
            thread.start()
            thread.join()
        b = drawn[1]
    """
    assert origins(flows(tmp_path, textwrap.dedent(text)), 13) == {5}


def test_to_look_at_a_local_makes_nothing_in_a_thread() -> None:
    made = []

    class Own(threading.local):
        def __init__(self) -> None:
            made.append(threading.current_thread())

    own = Own()
    own.x = 1  # type: ignore[attr-defined]
    plain = threading.local()
    plain.x = 2
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.extend((attributes(own), attributes(plain))))
    thread.start()
    thread.join()
    assert (found, len(made)) == ([None, {}], 1)
    assert attributes(plain) == {"x": 2}
    begins(own)
    assert attributes(own) == {"x": 1}


@pytest.mark.parametrize(
    ("ask", "is_told"),
    [
        ("a = os.path.exists(path)", True),
        ("fcntl.flock(file, fcntl.LOCK_SH)\na = file.read()", True),
        ("a = file.read()", False),
    ],
)
def test_a_file_that_processes_share_tells_how_far_they_have_come(
    ask: str, is_told: object, tmp_path: Path
) -> None:
    path = tmp_path / "written"
    start = f"import fcntl, os\npath = {str(path)!r}\nfile = open({str(tmp_path / 'read')!r}, 'a+')"
    rest = "file.write('more')\nfile.close()\nopen(path, 'a').close()"
    found = flows(tmp_path, f"{start}\nfile.seek(0)\n{ask}\n{rest}")
    (node,) = {e for each in found.tainted for e in each.origins}
    assert node.statement.text == ask.rpartition("\n")[2]
    assert origin_of(node, found.traits(node)).source is Source.NOT_SHOWN
    found.is_of_ranks = True
    told = Source.READINESS if is_told else Source.NOT_SHOWN
    assert origin_of(node, found.traits(node)).source is told


ON_A_SIGNAL = """\
import signal, time
class Alarm:
    def __init__(self):
        self.rings = False
        signal.signal(signal.SIGUSR1, self.ring)
    def ring(self, number, frame):
        self.rings = True
alarm = Alarm()
seen = []
for at in range(8):
    time.sleep(0.1)
    if alarm.rings:
        seen.append(at)
        alarm.rings = False
found = sum(seen)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no such signal")
def test_what_handles_a_signal_is_the_origin_of_what_it_sets(tmp_path: Path) -> None:
    program, before = tmp_path / "program.py", signal.getsignal(signal.SIGUSR1)
    program.write_text(ON_A_SIGNAL, encoding="utf-8")
    for number, seconds in enumerate((0.05, 0.55)):
        send = partial(os.kill, os.getpid(), signal.SIGUSR1)
        timer = threading.Timer(seconds, send)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        timer.start()
        run(program, tmp_path / str(number))
        timer.join()
    signal.signal(signal.SIGUSR1, before)
    found, _ = compare(*(str(tmp_path / str(number) / "trace") for number in (0, 1)))
    last = [each for each in found.tainted if each.statement.line == 15][-1]

    assert {each.statement.line for each in last.origins} == {7}
    (origin,) = last.origins
    assert origin.is_on_a_signal
    assert origin_of(origin, found.traits(origin)).source is Source.CLOCK
    assert suspect(origin, found.traits(origin)).fits == Source.CLOCK.value
    called = [each.call.name for node in found.nodes for each in node.below]
    assert "Alarm.ring" not in called


@pytest.mark.parametrize(
    ("role", "runs"), [("main:ring() on a signal", (False, True)), ("main", None)]
)
def test_who_comes_later_than_the_step_in_one_run_has_not_come(
    role: str, runs: tuple[bool, bool] | None
) -> None:
    call = Call("a.py", "ring", 1, (), 1, 5, (), 0)
    rans = [Ran(2, began, began + 1, (), (), (), NONE, NONE, "", []) for began in (70, 5)]
    node = Node(*rans, statements("x = 1")[1], Calling(call, call, role, None), 71)

    assert slices._is_within(node, (50, 50)) is bool(runs)
    if runs is not None:
        assert (node.first is not None, node.second is not None) == runs
        assert not slices._is_within(node, (50, 3))


@pytest.mark.parametrize(
    ("kept", "asked", "line"),
    [
        ("(folder / 'names.json').write_text(json.dumps(names))", "(folder / 'names.json')", 6),
        ("(folder / 'other.json').write_text(json.dumps(names))", "(folder / 'names.json')", None),
        ("path = folder / 'names.json'\npath.write_text(json.dumps(names))", "path", 6),
        ("(folder / f'{3}.json').write_text(json.dumps(names))", "(folder / f'{4}.json')", None),
    ],
)
def test_what_is_read_from_a_file_has_the_origins_of_what_wrote_it(
    kept: str, asked: str, line: int | None, tmp_path: Path
) -> None:
    for name in ("names.json", "4.json"):
        (tmp_path / name).write_text("[]", encoding="utf-8")
    text = f"""
import json, pathlib, time
folder = pathlib.Path({str(tmp_path)!r})
made = lambda now: [now % 1, 2]
names = [3]
names = made(time.time())
{kept}
found = json.loads({asked}.read_text())
number = found[:1]
"""
    found = flows(tmp_path, text)
    last = max(found.nodes, key=lambda each: each.statement.line)
    assert origins(found, last.statement.line) == ({line} if line else set())
    if line:  # that it is the same file, the texts alone say
        (origin,) = last.origins
        nodes, gaps = slice_of(found, origin, last)
        assert gaps
        assert {each.statement.line for each in nodes} >= {line, last.statement.line - 1}


RESTORED = """
import os, pathlib
import numpy as np, torch
class Saver:
    def __init__(self, folder):
        self.folder = folder
    @property
    def path(self):
        return self.folder / "kept.npz"
    def save(self, state):
        part = self.folder / "part.npz"
        np.savez(part, **{{name: each.numpy() for name, each in state.items()}})
        {}
    def load(self):
        with np.load(self.path) as kept:
            return {{name: torch.from_numpy(kept[name]) for name in kept.files}}
model = torch.nn.Linear(1, 1, bias=False)
with torch.no_grad():
    model.weight.fill_(3)
saver = Saver(pathlib.Path(FOLDER))
drawn = int.from_bytes(os.urandom(3), "big") + 0.5
saver.save({{"weight": torch.full((1, 1), drawn)}})
{}
found = model(torch.ones(1)).item()
"""


@pytest.mark.parametrize(
    ("moved", "restored", "line"),
    [
        ("part.replace(self.path)", "model.load_state_dict(saver.load())", 21),
        (
            "os.replace(part, self.path)",
            "def load(net):\n    net.load_state_dict(saver.load())\nload(model)",
            21,
        ),
        ("part.replace(self.path)", "saver.load()", None),
    ],
)
def test_what_a_checkpoint_holds_is_followed_into_the_model(
    moved: str, restored: str, line: int | None, tmp_path: Path
) -> None:
    text = RESTORED.format(moved, restored).replace("FOLDER", repr(str(tmp_path)))
    found = flows(tmp_path, text)
    last = max(found.nodes, key=lambda each: each.statement.line)
    assert last.statement.text.startswith("found")
    assert origins(found, last.statement.line) == ({line} if line else set())
    if line:
        (origin,) = last.origins
        lines = {each.statement.line for each in slice_of(found, origin, last).nodes}
        assert lines >= {21, 12, 16, last.statement.line}
        assert any(
            "load_state_dict" in each.statement.text for each in slice_of(found, origin, last).nodes
        )


def test_a_loader_beside_it_makes_no_race_of_a_file(tmp_path: Path) -> None:
    text = f"""
import os
path = {str(tmp_path / "kept")!r}
is_there = os.path.exists(path)
open(path, "a").close()
"""
    found = flows(tmp_path, text)
    (node,) = {e for each in found.tainted for e in each.origins}
    assert node.statement.line == 4
    assert origin_of(node, found.traits(node)).source is Source.NOT_SHOWN


def test_keys_by_which_processes_know_each_other_are_no_values(tmp_path: Path) -> None:
    text = """
from multiprocessing.connection import Client, Listener
import threading, secrets
listener = Listener(authkey=b"key")
other = threading.Thread(target=lambda: listener.accept().close())
other.start()
client = Client(listener.address, authkey=b"key")
client.close()
other.join()
listener.close()
drawn = secrets.token_bytes(3)
"""
    found = flows(tmp_path, text)
    asked = {n.statement.line for n in found.nodes if found.traits(n).gave & ASKED}
    assert asked == {11}


@pytest.mark.parametrize("seed", ["7", "None"])
def test_a_draw_of_a_task_hangs_on_which_process_was_given_it(seed: str, tmp_path: Path) -> None:
    text = f"""
import __main__, multiprocessing, random
def work(task):
    found = task + random.random()
    return found
__main__.work = work
pools = [multiprocessing.get_context("fork").Pool(1, random.seed, ({seed},)) for _ in range(2)]
for pool, task in order:
    pools[pool].apply(work, (task,))
for pool in pools:
    pool.close()
    pool.join()
del __main__.work
"""
    order = ([(0, 5), (1, 6), (1, 7), (1, 8)], [(0, 5), (1, 6), (0, 7), (1, 8)])
    found = flows(tmp_path, text, order=order)
    drawn = [each for each in found.tainted if each.statement.line == 4]
    assert drawn
    assert any(found.traits(each).read & TURNS for each in drawn) == (seed == "7")


@pytest.mark.parametrize("draw", ["torch.rand(3)", "random.random()"])
def test_what_a_loaders_worker_draws_comes_from_what_moved_its_parents_state(
    draw: str, tmp_path: Path
) -> None:
    text = f"""
import random, torch
class Rows:
    def __len__(self):
        return 4
    def __getitem__(self, at):
        row = at + {draw}
        return row
torch.manual_seed(0)
torch.seed()
for rows in torch.utils.data.DataLoader(Rows(), num_workers=1):
    a = rows + 1
"""
    found = flows(tmp_path, text)
    drawn = [each for each in found.tainted if each.statement.line == 7]
    assert drawn
    assert {each.statement.line for node in drawn for each in node.origins} == {10}


@pytest.mark.parametrize("seed", ["[7, number]", "None"])
@pytest.mark.parametrize("kept", ["Own.stream", "own['stream']"])
def test_a_draw_of_a_task_from_a_generator_of_its_process(
    seed: str, kept: str, tmp_path: Path
) -> None:
    """Where each process seeds it by its own number; not where the system does."""
    text = f"""
import __main__, multiprocessing, numpy
class Own:
    stream = None
own = {{}}
def prepare(number):
    {kept} = numpy.random.default_rng({seed})
def work(task):
    found = {kept}.random()
    return found + task
__main__.work = work
fork = multiprocessing.get_context("fork")
pools = [fork.Pool(1, prepare, (number,)) for number in range(2)]
for pool, task in order:
    pools[pool].apply(work, (task,))
for pool in pools:
    pool.close()
    pool.join()
del __main__.work
"""
    order = ([(0, 5), (1, 6), (1, 7), (1, 8)], [(0, 5), (1, 6), (0, 7), (1, 8)])
    found = flows(tmp_path, text, order=order)
    drawn = [each for each in found.tainted if each.statement.line == 9]
    assert drawn
    assert any(found.traits(each).read & TURNS for each in drawn) == (seed != "None")
    lines = {each.statement.line for node in drawn for each in node.origins}
    assert lines == ({9} if seed != "None" else {7})


def test_a_clock_is_told_where_it_is_read_before_where_it_was_begun(tmp_path: Path) -> None:
    text = """
import time
began = time.perf_counter()
taken = time.perf_counter() - began
"""
    found = flows(tmp_path, text)
    begun, read = (each for each in found.nodes if each.statement.line > 2)
    assert _told_first(found, Found((begun, read))).origins == (read, begun)
    assert _told_first(found, Found((begun,))).origins == (begun,)


@pytest.mark.parametrize(
    ("sets", "asks", "line"),
    [
        ("os.environ.setdefault('TAG', made(time.time()))", "os.environ['TAG']", 4),
        ("os.environ['TAG'] = made(time.time())", "os.getenv('TAG')", 4),
        ("os.environ['OTHER'] = made(time.time())", "os.environ['TAG']", None),
    ],
)
def test_a_variable_has_the_origins_of_what_set_it(
    sets: str, asks: str, line: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TAG", "OTHER"):
        monkeypatch.delenv(name, raising=False)
    text = f"""
import os, random, time
made = lambda now: str(now % 1)
{sets}
draws = random.Random({asks if line else "os.environ.get('TAG', time.time())"})
found = draws.random()
os.environ.pop('TAG', None)
"""
    found = flows(tmp_path, text)
    assert origins(found, 6) == {line or 5}
    (node,) = {
        origin for each in found.tainted for origin in each.origins if each.statement.line == 6
    }
    assert origin_of(node, found.traits(node)).source is Source.CLOCK


def test_a_generator_is_not_said_to_be_unseeded_where_its_seed_is_not_told(tmp_path: Path) -> None:
    found = flows(tmp_path, "\nimport os, random\ndraws = random.Random(os.environ.get('TAG'))\n")
    (node,) = (each for each in found.nodes if each.statement.line == 3)
    assert origin_of(node, Traits()).source is Source.NOT_SHOWN
    text = "\nimport random\ngiven = {}\ndraws = random.Random(given.get(1))\n"
    (tmp_path / "other").mkdir()
    found = flows(tmp_path / "other", text)
    (node,) = (each for each in found.nodes if each.statement.line == 4)
    told = origin_of(node, Traits())
    assert (told.source, told.is_sure) == (Source.ENTROPY, False)


TABLE = """\
import sqlite3, threading
def fill(number):
    with lock:
        connection.execute("insert into parts (value) values (?)", (number,))
connection = sqlite3.connect(":memory:", check_same_thread=False)
connection.execute("create table parts (value real)")
lock = threading.Lock()
threads = [threading.Thread(target=fill, args=(number,)) for number in order]
for each in threads:
    each.start()
    each.join()
found = connection.execute("select value from {table}").fetchall()
first = found[0]
connection.close()
"""


@pytest.mark.parametrize(("order", "line"), [(([1, 2], [2, 1]), 4), (([1, 2], [1, 2]), None)])
def test_a_table_that_threads_fill_has_an_order_of_theirs(
    order: tuple[list[int], list[int]], line: int | None, tmp_path: Path
) -> None:
    found = flows(tmp_path, TABLE.format(table="parts"), order=order)
    assert (line in origins(found, 12)) == bool(line)
    for node in (each for each in found.origins if each.statement.line == line):
        told = origin_of(node, found.traits(node))
        assert (told.source, told.is_sure) == (Source.THREAD_ORDER, False)


def test_a_queue_that_is_empty_or_not_tells_how_far_others_have_come() -> None:
    statement = statements("if not self.waiting.empty():\n    pass\n")[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)
    assert origin_of(node, Traits(HANDED)).source is Source.READINESS
    assert origin_of(node, Traits()).source is Source.NOT_SHOWN


@pytest.mark.parametrize(("starts", "line"), [("threading.Thread(target=save)", 5), ("", 9)])
def test_what_a_thread_writes_others_may_change_meanwhile(
    starts: str, line: int, tmp_path: Path
) -> None:
    text = f"""
import pathlib, threading
path, other = pathlib.Path({str(tmp_path / "kept")!r}), pathlib.Path({str(tmp_path / "part")!r})
def save():
    other.write_text("12")
    other.replace(path)
thread = {starts or "save"}
getattr(thread, "start", thread)(), getattr(thread, "join", int)(), changes(path)
held = path.read_text()
found = held + "1"
"""
    changes = tuple(partial(pathlib.Path.write_text, data=each) for each in ("12", "13"))
    found = flows(tmp_path, text, changes=changes)
    assert origins(found, 10) == {line}


@pytest.mark.parametrize(
    ("before", "wrote", "way", "gaps"),
    [
        ({"sink": ["inner", "part"], "inner": ["sink"], "part": ["origin"]}, {}, "part", ""),
        ({"sink": ["inner", "part"], "part": ["sink"]}, {"part": ["origin"]}, "part", "part"),
        ({"sink": ["part"], "part": ["inner"]}, {}, "inner part", "inner"),
        ({"sink": ["other"]}, {}, "", "sink"),
    ],
    ids=["a dead end", "a file", "no way", "of another origin"],
)
def test_the_way_of_a_slice(
    before: dict[str, list[str]],
    wrote: dict[str, list[str]],
    way: str,
    gaps: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named: dict[str, Any] = {e: _Named(e) for e in ("origin", "other", "sink", "inner", "part")}
    for each in ("sink", "inner", "part"):
        named[each].origins = {named["origin"]}

    def steps(given: dict[str, list[str]], node: _Named) -> list[_Named]:
        return [named[each] for each in given.get(node.name, ())]

    monkeypatch.setattr(slices, "_before", lambda _, node: steps(before, node))
    of_files = cast("Any", SimpleNamespace(wrote=partial(steps, wrote)))
    nodes, open_at = slice_of(of_files, named["origin"], named["sink"])
    assert [str(each) for each in nodes] == ["origin", *way.split(), "sink"]
    assert [str(each) for each in open_at] == gaps.split()


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name
        self.origins: set[_Named] = set()

    def __str__(self) -> str:
        return self.name


def test_what_a_thread_had_set_in_one_run_alone_is_where_it_came_from(tmp_path: Path) -> None:
    text = """\
import threading, time
group = {"lr": 1}
def cool():
    group["lr"] = 2
timer = threading.Timer(SECONDS, cool)
timer.daemon = True
timer.start()
time.sleep(0.3)
"""
    found = flows(tmp_path, text, SECONDS=(0.01, 60))
    event = Event("hyperparameter", "SGD.lr", 0, "", None, b"1")
    difference = Difference(0, 3, "training", event, None, Cause.HYPERPARAMETER, "")

    assert [each.statement.line for each in find(found, difference).origins] == [4]


@pytest.mark.parametrize(("orders", "is_alone"), [((1, 1), True), ((1, -1), False)])
def test_a_library_may_give_one_thread_its_tasks_in_another_order(
    orders: tuple[int, int], *, is_alone: bool, tmp_path: Path
) -> None:
    text = """\
from concurrent.futures import ThreadPoolExecutor
rows = []
def took(row):
    rows.append(row)
with ThreadPoolExecutor(1) as pool:
    for row in ["one row", "another row"][::ORDER]:
        pool.submit(took, row)
"""
    found = flows(tmp_path, text, ORDER=orders)
    taken = [each for each in found.nodes if each.statement.line == 4]

    assert all(bool(found.traits(each).read & ALONE) is is_alone for each in taken)


def test_a_call_is_told_after_the_line_within_it(tmp_path: Path) -> None:
    text = """
def taken():
    number = abs(-3)
    return number
found = taken()
"""
    found = flows(tmp_path, text)
    (inner,) = (each for each in found.nodes if each.statement.line == 3)
    (call,) = (each for each in inner.around() if each != inner)
    assert _told_first(found, Found((call, inner))).origins == (inner, call)
    assert _told_first(found, Found((call,))).origins == (call,)


def test_what_waits_is_looked_for_once_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
import queue
def count(texts, seen):
    counts = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return counts, seen.get(timeout=1)
seen = queue.Queue()
seen.put(1)
found = count("abab" * 5, seen)
"""
    found = flows(tmp_path, text)
    asked = []
    monkeypatch.setattr(
        "guard.diff.statements.waits", lambda each: asked.append(each) or sources.waits(each)
    )
    inside = [each.within for each in found.nodes if each.within.call.name == "count"]
    waiting = [[each.statement.line for each in call.waiting] for call in inside]
    assert waiting == [[7]] * len(inside)
    assert 40 < len(asked) == len(inside[0].nodes)
