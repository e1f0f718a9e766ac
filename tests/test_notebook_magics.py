"""What is no Python in a cell is masked at its length, and what it says is known."""

from __future__ import annotations

import ast
import time

import pytest
from notebook_files import notebook

from detlint.documents import read
from detlint.documents.document import Variable
from detlint.notebooks.magics import find_magics, mask
from detlint.notebooks.notebook import Notebook
from detlint.sources.decoding import decode

# (cell, what is parsed of it)
MASKED = [
    pytest.param("%matplotlib inline\nx = 1", "#matplotlib inline\nx = 1", id="line magic"),
    pytest.param("!pip install 'x", "#pip install 'x", id="command with an open quote"),
    pytest.param("!!ls", "#!ls", id="command with output"),
    pytest.param("if x:\n    !ls (\ny", "if x:\n    0#s (\ny", id="command in a block"),
    pytest.param("!a \\\n  b \\\n  c\nx", "#a \\\n# b \\\n# c\nx", id="command of three lines"),
    pytest.param("%a \\\r\n b\r\nx", "#a \\\r\n#b\r\nx", id="two lines with carriage returns"),
    pytest.param("files = !ls *.py", "files = _#s *.py", id="what a command prints"),
    pytest.param("a, b = !ls", "a, b = _#s", id="two names"),
    pytest.param("x['a'][0].b = !ls", "x['a'][0].b = _#s", id="an item"),
    pytest.param("x = %env HOME", "x = _#nv HOME", id="what a magic gives"),
    pytest.param("?x\nx?\nx.y[0]??\nnp.*load*?", "#x\n#?\n#.y[0]??\n#p.*load*?", id="help"),
    pytest.param("help = x?", "#elp = x?", id="help behind an assignment"),
    pytest.param("/f 1\n,f a\n;f a", "#f 1\n#f a\n#f a", id="calls without brackets"),
    pytest.param("if x:\n ;\n/ ", "if x:\n 0\n# ", id="calls of nothing"),
    pytest.param("pip install x\nls\ncd ..", "#ip install x\n#s\n#d ..", id="automatic magics"),
    pytest.param("%time f()", "0;    f()", id="statement that is timed"),
    pytest.param("  %time x = 1\n  y", "  0;    x = 1\n  y", id="assignment in a block"),
    pytest.param("%timeit -n 10 -r3 f()", f"0;{' ' * 16}f()", id="options of timeit"),
    pytest.param("r = %timeit -o f()", f"r = {' ' * 11}f()", id="what timeit gives"),
    pytest.param("%time", "#time", id="timing nothing"),
    pytest.param("%time for", "#time for", id="timing no statement"),
    pytest.param("%%time\nf()\n!ls", "#%time\nf()\n#ls", id="cell that is timed"),
    pytest.param("\n\n%%capture out\nf()", "\n\n#%capture out\nf()", id="cell with blank lines"),
    pytest.param("%%bash\na (\n\n  b", "#%bash\n# (\n\n# b", id="cell of a shell"),
    pytest.param("%%writefile a.py\nx = '", "#%writefile a.py\n# = '", id="cell of a file"),
    pytest.param("%%javascript\nx => 1", "#%javascript\n# => 1", id="cell of another language"),
    pytest.param("x\n%%bash\ny", "x\n#%bash\ny", id="cell magic further down"),
    pytest.param("%%time?", "#%time?", id="help of a magic"),
]
# Cells that hold marks of magics, and none.
PLAIN = [
    pytest.param("x = (a\n% b)", id="operator in brackets"),
    pytest.param("x = a \\\n% b", id="operator in a continued line"),
    pytest.param('x = """\n%env A=1\n!ls\nx?\n"""', id="text"),
    pytest.param("x = 'a\\\n%b'", id="text of two lines"),
    pytest.param('f"""{x!r}\n%s"""', id="formatted text"),
    pytest.param("# what is this?\nx = 1  # and this?", id="questions in comments"),
    pytest.param("x = {\n  'a':\n  [1, # (\n%b]}", id="bracket in a comment"),
    pytest.param("ls = 3\ncd = ls\ncat(x)\nmv[0]", id="names of commands"),
    pytest.param("a != b", id="unequal"),
    pytest.param("f(x, 'y = %0.2f' % y)\nf('a =!b')", id="marks in a call's text"),
    pytest.param("x = [a\n,\nb]", id="comma on a line of its own"),
    pytest.param("x %= 2\ny = x % 2", id="modulo"),
]


@pytest.mark.parametrize(("cell", "masked"), MASKED)
def test_what_is_no_python_is_masked(cell: str, masked: str) -> None:
    assert mask(cell, find_magics(cell)) == masked
    assert len(masked) == len(cell)


@pytest.mark.parametrize("cell", PLAIN)
def test_python_is_left_as_it_is(cell: str) -> None:
    assert find_magics(cell) == []


def test_a_string_that_a_command_opens_ends_with_it() -> None:
    cell = '!echo "it\'s\nx = """\n!no\n"""\n!yes'
    assert mask(cell, find_magics(cell)) == '#echo "it\'s\nx = """\n!no\n"""\n#yes'


@pytest.mark.parametrize("cell", [each.values[0] for each in (*MASKED, *PLAIN)])
def test_ipython_takes_for_magics_what_is_masked(cell: object) -> None:
    """Where IPython leaves all lines as they are, nothing is masked, and where it does not,
    something is."""
    transformer = pytest.importorskip("IPython.core.inputtransformer2")
    text = str(cell)
    if text.startswith("pip "):
        pytest.skip("IPython asks which names are defined")
    changed = transformer.TransformerManager().transform_cell(text)
    assert (changed.strip() != text.strip()) == bool(find_magics(text))


@pytest.mark.parametrize("line", ["!ls", "%env A=1", "x", "  ", "% (x)", ",a", "'''", "x = ("])
def test_long_cells_take_no_time(line: str) -> None:
    start = time.perf_counter()
    find_magics("\n".join([line] * 10_000))
    find_magics(line * 20_000)
    assert time.perf_counter() - start < 10


# What magics say


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%env A=1", ("A", "1")),
        ("%env A 1", ("A", "1")),
        ("%env A = a b ", ("A", "a b")),
        ("%set_env A=:4096:8", ("A", ":4096:8")),
        ('%env A="x"', ("A", '"x"')),
        ("%env A=$x", ("A", None)),
        ("%env A={x}", ("A", None)),
        ("if x:\n    %env A=1", ("A", "1")),
    ],
)
def test_a_variable_that_a_magic_sets(line: str, expected: tuple[str, str | None]) -> None:
    source = Notebook("nb.ipynb", notebook("x = 1", line))
    (found,) = (each for each in read(source).nodes if isinstance(each, Variable))
    assert (found.name, found.value) == expected
    assert source.written[found.start : found.end] == line.rpartition("\n")[2].lstrip()
    value = source.written[found.value_start : found.value_end]
    assert expected[1] in (None, value)


@pytest.mark.parametrize("line", ["%env", "%env A", "x = %env A", "# %env A=1", "%envy A=1"])
def test_a_variable_that_is_only_asked_for(line: str) -> None:
    source = Notebook("nb.ipynb", notebook(line))
    assert not any(isinstance(each, Variable) for each in read(source).nodes)


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("!torchrun a.py \\\n  --x 1\ny", ["torchrun a.py \\\n  --x 1"]),
        ("x = !ls\n%sx pwd\n%system id", ["ls", "pwd", "id"]),
        ("%%bash --bg\nA=1\ntorchrun a.py", ["A=1\ntorchrun a.py"]),
        ("%%script bash\nls", ["ls"]),
        ("%%script /usr/bin/env bash\nls", ["ls"]),
        ("%%script perl\nls", []),
        ("%%shell\nls", ["ls"]),
        ("%%bash", [""]),
        ("%%time\n!ls", ["ls"]),
        ("%%capture\n%%bash\nls -l", ["ls -l"]),
        ("%%time\n%%capture out\n\n%%bash --bg\nls (", ["ls ("]),
        ("%%capture\n%%writefile a.sh\nls (", []),
        ("%%writefile a.sh\nls", []),
        ("%ls", []),
    ],
)
def test_what_a_shell_runs(cell: str, parts: list[str]) -> None:
    source = Notebook("nb.ipynb", notebook("x = 1", cell))
    found = source.shell_parts()
    assert [text for _, text in found] == parts
    assert all(source.written.startswith(text, offset) for offset, text in found)


# Scripts with cells


def test_magics_in_a_script_with_cells_are_masked_and_written_back() -> None:
    text = (
        "# %% [markdown]\n# Title\n# %%\n%env A=1\nimport torch\n#%%\n%%bash\nls (\n# %%\nx = 1\n"
    )
    source = decode("train.py", text.encode())
    ast.parse(source.text)
    assert len(source.text) == len(text)
    assert source.encode() == text.encode()


def test_a_script_without_cells_may_hold_no_magics() -> None:
    source = decode("train.py", b"x = 1  # 50 %%\n%env A=1\n")
    assert source.text == source.written


# Whatever is in a cell


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize(
    "line",
    ["# text", "  # text", "\t#", "", " ", "\f# text", "%%time", "!ls", "a = ", "x[a]", "a, ", '"'],
)
def test_a_notebook_of_such_lines_is_read_at_once(line: str, end: str) -> None:
    start = time.perf_counter()
    Notebook("nb.ipynb", notebook((line + end) * 3_000, line * 3_000, "x = 1"))
    assert time.perf_counter() - start < 10
