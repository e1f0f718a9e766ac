"""Where fixes insert statements: whatever a file begins with, it still compiles, keeps its
docstring and imports ``guard`` once, above what calls it."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from itertools import product
from textwrap import indent
from typing import TYPE_CHECKING, cast

import pytest
from notebook_files import notebook

from detlint.finding import Edit
from detlint.fixes.applying import fix
from detlint.fixes.insertions import with_import
from detlint.notebooks.notebook import Notebook
from detlint.sources.decoding import decode
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.engine import Engine

DOCSTRINGS = {
    "none": "",
    "plain": '"""Draws."""\n',
    "one quote": "'Draws.'\n",
    "several lines": '"""Draws.\n\nimport guard\nfrom x import y\n"""\n',
    "raw": 'r"""\\d draws."""\n',
    "capital raw": "R'\\d draws.'\n",
    "unicode": "u'Draws.'\n",
    "brackets": '("Draws.")\n',
    "brackets and lines": '(\n    "Draws "\n    "é"\n)  # said\n',
    "two parts": '"Draws " r"\\d"\n',
    "on a line with the next": '"""Draws é."""; ',
    "below comments": '#!/usr/bin/env python\n# A licence.\n\n"""Draws."""\n',
    "an f-string, which is none": 'f"""Draws."""\n',
    "bytes, which are none": 'b"Draws."\n',
}
FUTURES = {
    "none": "",
    "usual": "from __future__ import annotations\n",
    "tab": "from\t__future__ import annotations\n",
    "brackets": "from __future__ import (\n    annotations,\n)\n",
    "two lines": "from __future__ \\\n    import annotations\n",
    "two on a line": "from __future__ import annotations; from __future__ import division\n",
    "semicolon": "from __future__ import annotations;  # new\n",
}
IMPORTS = {
    "lines": "import torch\nfrom torch.utils.data import DataLoader\n",
    "one line": "import torch; from torch.utils.data import DataLoader; import os\n",
    "used on its line": (
        "import torch\n"
        "from torch.utils.data import DataLoader; é = 1; DataLoader(é, num_workers=2)\n"
    ),
    "brackets": "import torch\nfrom torch.utils.data import (\n    DataLoader,  # loads\n)\n",
    "backslash": "import torch\nfrom torch.utils.data \\\n    import DataLoader \\\n\n",
    "tabs": "import\ttorch\nfrom\ttorch.utils.data\timport\tDataLoader\n",
    "comment": "import torch  # 'é'\nfrom torch.utils.data import DataLoader  # loads\n# next\n",
    "guard is there": "import torch, guard  # both\nfrom torch.utils.data import DataLoader\n",
    "guard comes late": (
        "import os\nos.environ['A'] = 'é'\nimport torch\nimport guard\n"
        "from torch.utils.data import DataLoader\n"
    ),
    "none at the top": (
        "if True:\n    import torch\ntry:\n    from torch.utils.data import DataLoader\n"
        "finally:\n    pass\n"
    ),
}
LOADS = "loader = DataLoader(rows, shuffle=True, num_workers=4)\n"
TRAINS = "torch.nn.Linear(2, 1)(torch.rand(3, 2)).sum().backward(); optimizer.step()"
BODIES = {
    "as it loads": f"rows = build()\n{LOADS}{TRAINS}\n",
    "one line": f"rows = build(); {LOADS}{TRAINS}",
    "main block": (
        f"def main():\n    rows = build()\n    {LOADS}    {TRAINS}\n\n"
        'if __name__ == "__main__":\n    # Go.\n    main()\n'
    ),
    "main block of a line": (
        f"def main():\n    rows = build()\n    {LOADS}    {TRAINS}\n\n"
        'if __name__ == "__main__": print("é"); main()'
    ),
}
FORMS = [
    (newline, bom, encoding)
    for newline, (bom, encoding) in product(
        ("\n", "\r\n", "\r"), ((b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"", "latin-1"))
    )
]
CODES = ("DET102", "DET201", "DET202", "DET304")


def corpus(docstring: str, future: str) -> Iterator[Source]:
    """Files that begin so, with a third of all ways to go on, each written in another way."""
    first = (list(DOCSTRINGS.values()).index(docstring) + list(FUTURES.values()).index(future)) % 3
    ways = [*product(IMPORTS.values(), BODIES.values())][first::3]
    for number, (imported, body) in enumerate(ways):
        newline, bom, encoding = FORMS[number % len(FORMS)]
        cookie = "# coding: latin-1\n" if encoding == "latin-1" else ""
        text = f"{cookie}{docstring}{future}{imported}{body}".replace("\n", newline)
        data = bom + text.encode(encoding)
        with suppress(SyntaxError):  # below bytes there is no future, nor a block on their line
            compile(data, "train.py", "exec", dont_inherit=True)
            yield decode("train.py", data)


@pytest.mark.parametrize("future", FUTURES.values(), ids=FUTURES)
@pytest.mark.parametrize("docstring", DOCSTRINGS.values(), ids=DOCSTRINGS)
def test_a_fixed_file_compiles_and_says_what_it_said(
    docstring: str, future: str, engine: Callable[..., Engine]
) -> None:
    lint = engine(*CODES).lint
    for source in corpus(docstring, future):
        fixed = fix(source, lint, unsafe=True)
        text = fixed.source.text
        # Little is found where lines end as they did on a Mac long ago.
        found = {each.code for each in fixed.fixed}
        assert found >= {"DET201", "DET202"} or source.newline == "\r", text
        assert fixed.remaining == [], text
        compile(fixed.source.encode(), "train.py", "exec", dont_inherit=True)
        assert said(text) == said(source.text)
        assert newlines(text) == newlines(source.text)
        assert_guard_is_imported_once_above_its_uses(text)


def said(text: str) -> str | None:
    return ast.get_docstring(ast.parse(text), clean=False)


def newlines(text: str) -> set[str]:
    return set(re.findall(r"\r\n|\r|\n", text))


def assert_guard_is_imported_once_above_its_uses(text: str) -> None:
    nodes = list(ast.walk(ast.parse(text)))
    imports = [
        (each.lineno, each.col_offset)
        for each in nodes
        if isinstance(each, ast.Import) and any(name.name == "guard" for name in each.names)
    ]
    uses = sorted(
        (each.lineno, each.col_offset)
        for each in nodes
        if isinstance(each, ast.Name) and each.id == "guard"
    )
    assert imports[:1] < uses[:1] or not uses, text
    # One that was there stays, also where it comes too late.
    assert len(imports) < 2 or imports[1] > uses[0], text


PLACES = [
    pytest.param("use()\n", "import guard\nuse()\n", id="no import"),
    pytest.param("import os\nuse()\n", "import os\nimport guard\nuse()\n", id="below imports"),
    pytest.param(
        "import os  # for paths\n\n# The end.\nuse()\n",
        "import os  # for paths\nimport guard\n\n# The end.\nuse()\n",
        id="comments stay where they are",
    ),
    pytest.param(
        '#!/bin/sh\n"""Doc."""\n\nfrom a import (\n    b,\n)\n\n\nuse()\n',
        '#!/bin/sh\n"""Doc."""\n\nfrom a import (\n    b,\n)\nimport guard\n\n\nuse()\n',
        id="below a docstring and brackets",
    ),
    pytest.param("# License\nuse()\n", "# License\nimport guard\nuse()\n", id="below a comment"),
    pytest.param(
        "@wraps(\n    f\n)\ndef g(): ...\nuse()\n",
        "import guard\n@wraps(\n    f\n)\ndef g(): ...\nuse()\n",
        id="above a decorator",
    ),
    pytest.param("import guard\nuse()\n", "import guard\nuse()\n", id="already there"),
    pytest.param(
        "import os, guard.auto  # x\nuse()\n",
        "import os, guard.auto  # x\nuse()\n",
        id="there with another",
    ),
    pytest.param(
        "x = 1\nimport guard\nuse()\n", "x = 1\nimport guard\nuse()\n", id="there, below code"
    ),
    pytest.param(
        "from guard import seed_worker\nuse()\n",
        "from guard import seed_worker\nimport guard\nuse()\n",
        id="there, by another name",
    ),
    pytest.param(
        "x = 1\nuse()\nimport guard\n",
        "import guard\nx = 1\nuse()\nimport guard\n",
        id="there, too late",
    ),
    pytest.param("import os\r\nuse()\r\n", "import os\r\nimport guard\r\nuse()\r\n", id="CRLF"),
    pytest.param("import os; use()", "import os; import guard; use()", id="on a line"),
    pytest.param("import os;\nuse()", "import os;\nimport guard\nuse()", id="a semicolon"),
    pytest.param(
        "import os; \\\nuse()\n", "import os; import guard; \\\nuse()\n", id="a line that goes on"
    ),
    pytest.param(
        "'é'; import é; use()", "'é'; import é; import guard; use()", id="letters of two bytes"
    ),
    pytest.param(
        "\x0cimport os  # \x0b\x0c\x1c\u2028\nuse()\n",
        "\x0cimport os  # \x0b\x0c\x1c\u2028\nimport guard\nuse()\n",
        id="what ends a line elsewhere",
    ),
    pytest.param(
        "import os\rfrom a import b\ruse(guard=1)",
        "import os\rfrom a import b\rimport guard\ruse(guard=1)",
        id="CR",
    ),
]
TAKEN = [
    *("guard = 1", "for guard in x: pass", "def f(*guard): pass", "class guard: pass"),
    *("import x as guard", "from x import guard", "from x import y as guard"),
    "with x as (a, guard): pass",
    "try: pass\nexcept E as guard: pass",
]


@pytest.mark.parametrize(("before", "after"), PLACES)
def test_an_import_goes_below_the_others(before: str, after: str) -> None:
    source = Source("a.py", before)
    used = before.index("use")
    edits = with_import(source, "guard", Edit(used, used, ""))
    assert source.rewritten(edits).text == after


@pytest.mark.parametrize("statement", [*TAKEN, "(", "# nothing but a comment\n#"])
def test_nothing_goes_where_the_name_is_taken_or_nothing_can_be_read(statement: str) -> None:
    assert with_import(Source("a.py", f"{statement}\n#"), "guard", Edit(0, 0, "x")) == ()


MAIN = 'if __name__ == "__main__":\n'
STARTS = [
    pytest.param(
        f"import torch\n\ndef main():\n    {TRAINS}\n\n{MAIN}    # Go.\n    main()\n",
        f"import torch\nimport guard\n\ndef main():\n    {TRAINS}\n\n"
        f"{MAIN}    # Go.\n    guard.enable(seed=0)\n    main()\n",
        id="in the main block, since others may import the file",
    ),
    pytest.param(
        f"import torch\n\n{MAIN}\t@torch.no_grad()\n\tdef f(): ...\n\t{TRAINS}\n",
        "import torch\nimport guard\n\n"
        f"{MAIN}\tguard.enable(seed=0)\n\t@torch.no_grad()\n\tdef f(): ...\n\t{TRAINS}\n",
        id="above a decorator",
    ),
    pytest.param(
        f"import torch\n\n{MAIN[:-1]} {TRAINS}\nelse: f()\n",
        f"import torch\nimport guard\n\n{MAIN[:-1]} guard.enable(seed=0); {TRAINS}\nelse: f()\n",
        id="in a main block of a line",
    ),
    pytest.param(
        f"import torch\n\n{TRAINS}\n",
        f"import torch\nimport guard\n\nguard.enable(seed=0)\n\n{TRAINS}\n",
        id="below the imports of a script without one",
    ),
    pytest.param(
        f"import torch\n\nmodel = torch.nn.Linear(2, 1)\n\n{MAIN}    {TRAINS}\n",
        "import torch\nimport guard\n\nguard.enable(seed=0)\n\n"
        f"model = torch.nn.Linear(2, 1)\n\n{MAIN}    {TRAINS}\n",
        id="below the imports of a script that has drawn weights before its main block",
    ),
    pytest.param(
        "import torch\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
        "        self.layer = layer()\n\ndef layer(): return torch.nn.Linear(2, 1)\n"
        f"net = Net()\n\n{MAIN}    {TRAINS}\n",
        "import torch\nimport guard\n\nguard.enable(seed=0)\n\n"
        "class Net(torch.nn.Module):\n    def __init__(self):\n"
        "        self.layer = layer()\n\ndef layer(): return torch.nn.Linear(2, 1)\n"
        f"net = Net()\n\n{MAIN}    {TRAINS}\n",
        id="below the imports of a script that calls what draws weights",
    ),
]


@pytest.mark.parametrize(("before", "after"), STARTS)
def test_a_program_is_seeded_where_it_starts(
    before: str, after: str, engine: Callable[..., Engine]
) -> None:
    fixed = fix(Source("train.py", before), engine("DET102", "DET304").lint, unsafe=True)
    assert (fixed.source.text, fixed.remaining) == (after, [])


def test_a_notebook_is_seeded_at_its_top(engine: Callable[..., Engine]) -> None:
    document = notebook("import torch", f"{MAIN}    {TRAINS}")
    source = Notebook("nb.ipynb", document)
    fixed = fix(source, engine("DET102", "DET304").lint, unsafe=True).source
    assert cast("Notebook", fixed).cells[0].cell.text == (
        "import torch\nimport guard\n\nguard.enable(seed=0)"
    )


FITS = 'model = tf.keras.Sequential()\nmodel.compile(loss="mse")\nmodel.fit(x, y)\n'
SETTLES = ("tf.keras.utils.set_random_seed(0)", "tf.config.experimental.enable_op_determinism()")
TENSORFLOW = [
    pytest.param(
        f"import os\nos.environ['A'] = '1'\nimport tensorflow as tf\n\n{FITS}",
        "import os\nos.environ['A'] = '1'\nimport tensorflow as tf\n\n{}\n{}\n\n" + FITS,
        id="below an import that comes late",
    ),
    pytest.param(
        f"import tensorflow as tf\n\ndef main():\n{indent(FITS, '    ')}\n{MAIN}    main()\n",
        f"import tensorflow as tf\n\ndef main():\n{indent(FITS, '    ')}\n{MAIN}"
        "    {}\n    {}\n    main()\n",
        id="in the main block",
    ),
]


@pytest.mark.parametrize(("before", "after"), TENSORFLOW)
def test_tensorflow_is_seeded_where_it_has_a_name(
    before: str, after: str, engine: Callable[..., Engine]
) -> None:
    fixed = fix(Source("train.py", before), engine("DET801").lint, unsafe=True)
    assert (fixed.source.text, fixed.remaining) == (after.format(*SETTLES), [])
