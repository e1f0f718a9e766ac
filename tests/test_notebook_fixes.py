"""A fix of a notebook changes the strings that it is about, and no other byte of the file."""

from __future__ import annotations

import difflib
import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from notebook_files import code, markdown, notebook
from test_cli import detlint

from detlint.finding import Edit
from detlint.notebooks.notebook import Notebook
from detlint.sources.decoding import decode
from detlint.sources.source import DecodeError

if TYPE_CHECKING:
    from pathlib import Path

IMPORT = "import torch\n"
LEAK = "torch.backends.cudnn.benchmark = True"
MENDED = "torch.backends.cudnn.benchmark = False"
TRAIN = "model = torch.nn.Linear(2, 2)\nmodel(torch.ones(2, 2)).sum().backward(); sgd.step()"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "nb.ipynb"


def fixed(file: Path, document: str | bytes, *options: str) -> bytes:
    file.write_bytes(document if isinstance(document, bytes) else document.encode())
    detlint(file.name, "--fix", *options, cwd=file.parent)
    return file.read_bytes()


FORMS = [
    pytest.param(notebook(markdown("x"), IMPORT + LEAK), id="as Jupyter writes it"),
    pytest.param(notebook(IMPORT + LEAK).rstrip("\n"), id="no newline at the end"),
    pytest.param(notebook(IMPORT + LEAK).replace("\n", "\r\n"), id="carriage returns"),
    pytest.param("\ufeff" + notebook(IMPORT + LEAK), id="byte order mark"),
    pytest.param(json.dumps(json.loads(notebook(IMPORT + LEAK))), id="one line"),
    pytest.param(
        json.dumps(json.loads(notebook(IMPORT + LEAK)), indent="\t", sort_keys=True), id="tabs"
    ),
    pytest.param(
        json.dumps(json.loads(notebook(IMPORT + LEAK)), separators=(",", ":")), id="no spaces"
    ),
    pytest.param(notebook(code("") | {"source": IMPORT + LEAK}), id="one string"),
    pytest.param(notebook(code("") | {"source": [IMPORT + LEAK]}), id="a string of two lines"),
    pytest.param(notebook(code("s = 'é \\u00e9 🎲'\n" + IMPORT + LEAK)), id="letters beyond ASCII"),
    pytest.param(
        json.dumps(json.loads(notebook(code("s = 'é 🎲'\n" + IMPORT + LEAK))), indent=1),
        id="letters that are escaped",
    ),
    pytest.param(
        notebook(code(IMPORT + LEAK, 7) | {"outputs": [{"text": ["é\n", 1.10, 1e3, None]}]}),
        id="outputs and counts",
    ),
]


@pytest.mark.parametrize("document", FORMS)
def test_a_fix_changes_one_word(file: Path, document: str) -> None:
    assert document.count("True") == 1
    done = fixed(file, document, "--min-confidence", "possible")
    assert done == document.replace("True", "False").encode()


def test_what_json_escapes_stays_escaped_in_the_line_that_changes(file: Path) -> None:
    document = notebook(IMPORT, f'{LEAK}  # "\\n" and é').replace("=", "\\u003d")
    assert "benchmark \\u003d True" in document
    done = fixed(file, document, "--min-confidence", "possible")
    assert done == document.replace("True", "False").encode()


def test_imports_and_calls_go_below_the_imports_of_the_first_cell(file: Path) -> None:
    document = notebook(f"%load_ext autoreload\n{IMPORT}import os", "!pip install x", TRAIN)
    after = fixed(file, document, "--unsafe-fixes", "--select=DET102,DET304")
    inserted = (
        '    "import os\\n",\n    "import guard\\n",\n    "\\n",\n    "guard.enable(seed=0)"\n'
    )
    assert after == document.replace('    "import os"\n', inserted).encode()
    assert fixed(file, after, "--unsafe-fixes", "--select=DET102,DET304") == after


def test_two_cells_and_two_places_of_a_line(file: Path) -> None:
    twice = "import os\na = list(os.listdir('.')), list(os.listdir('..'))\nload(a)"
    document = notebook(twice, markdown("x"), f"{IMPORT}{LEAK}; {LEAK}")
    after = fixed(file, document)
    wanted = document.replace("True", "False")
    wanted = wanted.replace("os.listdir('.')", "sorted(os.listdir('.'))")
    wanted = wanted.replace("os.listdir('..')", "sorted(os.listdir('..'))")
    assert after == wanted.encode()


def test_a_comment_line_goes_with_its_string(file: Path) -> None:
    first = "# detlint: ignore[DET301]\nx = 1"
    middle = "x = 1\n  # detlint: ignore[DET301]\ny = 1"
    last = "x = 1\n# detlint: ignore[DET301]"
    only = "# detlint: ignore[DET301]"
    document = notebook(first, middle, last, only)
    content = json.loads(fixed(file, document))
    sources = [cell["source"] for cell in content["cells"]]
    assert sources == [["x = 1"], ["x = 1\n", "y = 1"], ["x = 1"], []]


def test_cells_that_do_not_parse_stay_and_the_others_are_fixed(file: Path) -> None:
    document = notebook("print 'x'", IMPORT + LEAK, "def f(:")
    done = fixed(file, document, "--min-confidence", "possible")
    assert done == document.replace("True", "False").encode()


def test_a_patch_of_the_json_that_git_applies(file: Path) -> None:
    document = notebook(markdown("é"), IMPORT, LEAK)
    file.write_text(document, encoding="utf-8")
    patch = detlint("nb.ipynb", "--diff", cwd=file.parent).stdout
    assert file.read_text(encoding="utf-8") == document
    assert f'-    "{LEAK}"\n+    "{MENDED}"\n' in patch
    subprocess.run(["git", "apply", "-"], cwd=file.parent, input=patch.encode(), check=True)
    assert file.read_text(encoding="utf-8") == document.replace("True", "False")


def test_standard_input_comes_back_fixed(file: Path) -> None:
    document = notebook(markdown("é"), IMPORT, LEAK)
    arguments = ("-", "--fix", "--stdin-filename=nb.ipynb")
    done = detlint(*arguments, cwd=file.parent, stdin=document.encode())
    assert done.stdout == document.replace("True", "False")
    assert "Fixed 1 finding" in done.stderr


def test_a_script_with_cells_keeps_its_magics(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    text = f"# %%\n%env A=1\n{IMPORT}# %%\n!ls 'x\n{LEAK}\n"
    assert fixed(file, text) == text.replace("True", "False").encode()


# Edits


def edited(document: str, *edits: Edit) -> str:
    return Notebook("nb.ipynb", document).rewritten(edits).document


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line[0] + line[2:] for line in lines if line.startswith(("-", "+"))]


@pytest.mark.parametrize(
    ("found", "replacement", "lines"),
    [
        pytest.param("b", "B", ['-    "b\\n",', '+    "B\\n",'], id="in a line"),
        pytest.param("b\n", "", ['-    "b\\n",'], id="a line that goes"),
        pytest.param("a\nb\n", "", ['-    "a\\n",', '-    "b\\n",'], id="two lines that go"),
        pytest.param("", "z\n", ['+    "z\\n",'], id="a line that comes"),
        pytest.param(
            "\nc",
            "",
            ['-    "b\\n",', '-    "c"', '+    "b"'],
            id="the last line that goes",
        ),
        pytest.param(
            "a\nb",
            "x",
            ['-    "a\\n",', '-    "b\\n",', '+    "x\\n",'],
            id="two lines that become one",
        ),
        pytest.param(
            "b",
            'é"\n\t\\',
            ['-    "b\\n",', '+    "é\\"\\n",', '+    "\\t\\\\\\n",'],
            id="what JSON escapes",
        ),
    ],
)
def test_an_edit_of_lines(found: str, replacement: str, lines: list[str]) -> None:
    document = notebook("first", "a\nb\nc", "last")
    start = decode("nb.ipynb", document.encode()).text.index(found or "a")
    after = edited(document, Edit(start, start + len(found), replacement))
    assert sorted(changed_lines(document, after)) == sorted(lines)
    json.loads(after)


def test_a_cell_may_lose_all_of_its_text() -> None:
    document = notebook("a\nb", "c")
    after = edited(document, Edit(5, 8, ""))
    assert [cell["source"] for cell in json.loads(after)["cells"]] == [[], ["c"]]


@pytest.mark.parametrize("edit", [Edit(0, 0, "x"), Edit(5, 9, "x"), Edit(2, 6, "")])
def test_an_edit_beyond_a_cell_is_refused(edit: Edit) -> None:
    with pytest.raises(DecodeError, match="an edit reaches beyond its cell"):
        edited(notebook("a", "b"), edit)


def test_an_edit_of_an_empty_cell_is_refused() -> None:
    with pytest.raises(DecodeError, match="an edit in an empty cell"):
        edited(notebook(""), Edit(5, 5, "x"))
