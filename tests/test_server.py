"""``detlint server`` with a real client over pipes: what is shown, and what can be done."""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from lsp_client import Editor, edited, run
from lsprotocol import types as lsp

LEAK = "import torch\n\ntorch.use_deterministic_algorithms(False)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "detlint.toml").write_text("")
    return tmp_path


def test_findings_are_shown_as_one_types(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start()
        editor.open("train.py", "import torch\n\n")
        await editor.version("train.py", 1)
        assert editor.codes("train.py") == []
        editor.type("train.py", 2, "torch.use_deterministic_algorithms(False)\n", 1, 0)
        await editor.version("train.py", 2)
        (found,) = editor.now(editor.uri("train.py"))
        assert found.range == lsp.Range(lsp.Position(1, 0), lsp.Position(1, 41))
        assert (found.code, found.source) == ("DET303", "detlint")
        assert found.severity == lsp.DiagnosticSeverity.Warning
        assert found.code_description
        assert found.code_description.href.endswith("#det303-deterministic-algorithms-off")
        assert found.message.startswith("torch.use_deterministic_algorithms(False)")
        editor.type("train.py", 3, "True", 1, 35, 1, 40)
        await editor.version("train.py", 3)
        assert editor.codes("train.py") == []
        editor.type("train.py", 4, LEAK)
        await editor.version("train.py", 4)
        editor.close("train.py")
        await editor.until(lambda: editor.codes("train.py") == [])
        assert editor.told == []

    run(test, folder)


def test_positions_count_in_units_of_utf16(folder: Path) -> None:
    text = 'import torch\nx = "𝔘é\f\u2028"; torch.use_deterministic_algorithms(False)  # 𝔘\n'

    async def test(editor: Editor) -> None:
        result = await editor.start()
        assert result.capabilities.position_encoding in (None, "utf-16")
        editor.open("train.py", text)
        await editor.version("train.py", 1)
        (found,) = editor.now(editor.uri("train.py"))
        assert found.range == lsp.Range(lsp.Position(1, 13), lsp.Position(1, 54))
        # Typed behind the letter that is two of them.
        editor.type("train.py", 2, "xx", 1, 7)
        await editor.version("train.py", 2)
        (found,) = editor.now(editor.uri("train.py"))
        assert found.range.start == lsp.Position(1, 15)
        fix, ignore = await editor.actions("train.py", 1, "quickfix")
        assert fix.edit
        (edit,) = (fix.edit.changes or {})[editor.uri("train.py")]
        assert edit.range.end == lsp.Position(1, 55)
        assert ignore.edit
        (edit,) = (ignore.edit.changes or {})[editor.uri("train.py")]
        assert edit.range.start == lsp.Position(1, 62)

    run(test, folder)


@pytest.mark.parametrize(("unit", "column"), [("utf-8", 18), ("utf-32", 12), ("utf-16", 13)])
def test_a_client_may_count_otherwise(folder: Path, unit: str, column: int) -> None:
    text = 'import torch\nx = "𝔘é\f\u2028"; torch.use_deterministic_algorithms(False)\n'

    async def test(editor: Editor) -> None:
        result = await editor.start(units=[unit])
        assert result.capabilities.position_encoding == unit
        editor.open("train.py", text)
        await editor.version("train.py", 1)
        (found,) = editor.now(editor.uri("train.py"))
        assert found.range.start == lsp.Position(1, column)

    run(test, folder)


def test_fixes_and_comments_are_offered(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start()
        uri = editor.uri("train.py")
        editor.open("train.py", LEAK)
        await editor.version("train.py", 1)
        assert await editor.actions("train.py", 0, "quickfix") == []
        fix, ignore = await editor.actions("train.py", 2, "quickfix")
        assert (fix.title, fix.is_preferred) == ("Fix DET303 deterministic-algorithms-off", True)
        assert [each.code for each in fix.diagnostics or ()] == ["DET303"]
        assert edited(LEAK, fix, uri).endswith("algorithms(True)\n")
        assert ignore.title == "Ignore DET303 here"
        assert edited(LEAK, ignore, uri).endswith("False)  # detlint: ignore[DET303]\n")
        (every,) = await editor.actions("train.py", 0, "source.fixAll")
        assert every.kind == "source.fixAll.detlint"
        assert edited(LEAK, every, uri) == edited(LEAK, fix, uri)
        editor.type("train.py", 2, edited(LEAK, ignore, uri))
        await editor.version("train.py", 2)
        assert editor.codes("train.py") == []
        editor.type("train.py", 3, "x = 1  # detlint: ignore[DET303]\n")
        await editor.version("train.py", 3)
        (unused,) = editor.now(uri)
        assert unused.code == "DET001"
        assert list(unused.tags or ()) == [lsp.DiagnosticTag.Unnecessary]

    run(test, folder)


def test_an_unsafe_fix_says_so(folder: Path) -> None:
    text = "import numpy as np\n\nrng = np.random.default_rng()\nprint(rng.random())\n"

    async def test(editor: Editor) -> None:
        await editor.start()
        editor.open("train.py", text)
        await editor.until(lambda: editor.codes("train.py") == [(2, "DET101")])
        fix, _ = await editor.actions("train.py", 2, "quickfix")
        assert fix.title == "Fix DET101 unseeded-generator (changes more than that runs agree)"
        assert fix.is_preferred is None
        assert await editor.actions("train.py", 2, "source.fixAll") == []

    run(test, folder)


def test_the_page_of_a_rule_is_shown_above_a_finding_and_a_comment(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start()
        editor.open("train.py", f"{LEAK}x = 1  # detlint: ignore[DET203]\n")
        await editor.version("train.py", 1)
        page = await editor.hover("train.py", 2, 20)
        assert page.startswith("## DET303 deterministic-algorithms-off\n")
        assert "**What to do:**" in page
        assert (await editor.hover("train.py", 3, 27)).startswith("## DET203 ")
        assert await editor.hover("train.py", 0, 3) == ""

    run(test, folder)


def test_the_way_of_a_value_is_shown_as_related_places(folder: Path) -> None:
    text = """\
def number(rows):
    words = {word for row in rows for word in row.split()}
    found = list(words)
    print(len(found))
    index = {}
    for word in found:
        index[word] = len(index)
    return index
"""

    async def test(editor: Editor) -> None:
        await editor.start()
        editor.open("train.py", text)
        await editor.until(lambda: bool(editor.codes("train.py")))
        (found,) = editor.now(editor.uri("train.py"))
        assert found.code == "DET204"
        uri = editor.uri("train.py")
        assert [
            (each.location.uri, each.location.range.start.line, each.message)
            for each in found.related_information or ()
        ] == [
            (uri, 1, "the set is made here"),
            (uri, 2, "gone through here"),
            (uri, 6, "here its order shows: numbered"),
        ]

    run(test, folder)


PROGRAM = """\
import torch
from data import batches

model = torch.nn.Conv1d(4, 2, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
if __name__ == "__main__":
    for batch in batches():
        loss = model(batch.cuda()).sum()
        loss.backward()
        optimizer.step()
"""
DATA = "import torch\n\n\ndef batches():\n    return [torch.randn(4, 2) for _ in range(3)]\n"


def linted(folder: Path, name: str) -> list[tuple[int, str]]:
    """What the command line finds in a file, as the editor shows it."""
    command = [sys.executable, "-m", "detlint", "--output-format=json", "--no-cache", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return sorted(
        (each["location"]["row"] - 1, each["code"])
        for each in json.loads(done.stdout)
        if each["filename"].endswith(name)
    )


def test_what_other_files_say_is_shown_when_the_typing_rests(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start()
        (folder / "data.py").write_text(DATA)
        editor.open("train.py", PROGRAM)
        await editor.until(lambda: {code for _, code in editor.codes("train.py")} >= {"DET304"})
        shown = editor.codes("train.py")
        assert sorted(shown) == linted(folder, "train.py")
        # What was said stays, and moves with its line, while one types.
        editor.type("train.py", 2, "# a comment\n", 0, 0)
        await editor.version("train.py", 2)
        assert editor.published[editor.uri("train.py")][-1][1].version == 2
        assert editor.codes("train.py") == [(row + 1, code) for row, code in shown]
        # In another document that is open, and not saved, the program is seeded and set.
        editor.open("data.py", DATA)
        enabled = "torch.manual_seed(0)\ntorch.use_deterministic_algorithms(True)\n"
        editor.type("data.py", 2, enabled, 1, 0)
        await editor.until(
            lambda: not {code for _, code in editor.codes("train.py")} & {"DET102", "DET304"}
        )
        editor.close("data.py")
        await editor.until(lambda: {code for _, code in editor.codes("train.py")} >= {"DET304"})

    run(test, folder)


def test_a_line_that_is_being_typed_hides_nothing_else(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start()
        editor.open("train.py", f"{LEAK}x = 1\n")
        await editor.version("train.py", 1)
        editor.type("train.py", 2, "print((", 1, 0)
        await editor.version("train.py", 2)
        assert "DET000" in [code for _, code in editor.codes("train.py")]
        assert (2, "DET303") in editor.codes("train.py")
        editor.type("train.py", 3, "1))", 1, 7)
        await editor.version("train.py", 3)
        assert editor.codes("train.py") == [(2, "DET303")]

    run(test, folder)


def test_configurations_are_read_again_when_they_change(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start()
        editor.open("train.py", LEAK)
        await editor.version("train.py", 1)
        assert editor.codes("train.py") == [(2, "DET303")]
        assert editor.registered == ["workspace/didChangeWatchedFiles"]
        editor.change_on_disk("detlint.toml", 'ignore = ["DET3"]\n')
        await editor.until(lambda: editor.codes("train.py") == [])
        # Also where the editor does not say so.
        (folder / "detlint.toml").write_text("")
        await editor.until(lambda: editor.codes("train.py") == [(2, "DET303")])
        (folder / "detlint.toml").write_text('ignore = ["DET9"]\n')
        await editor.until(lambda: bool(editor.told))
        assert "detlint.toml: ignore: no such code: 'DET9'" in editor.told[0]
        await editor.until(lambda: editor.codes("train.py") == [])
        (folder / "detlint.toml").write_text('exclude = ["train.py"]\n')
        editor.open("other.py", LEAK)
        await editor.until(lambda: editor.codes("other.py") == [(2, "DET303")])
        assert editor.codes("train.py") == []

    run(test, folder)


def test_what_the_baseline_knows_is_not_shown(folder: Path) -> None:
    (folder / "train.py").write_text(LEAK)
    command = [sys.executable, "-m", "detlint", "baseline", "."]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)

    async def test(editor: Editor) -> None:
        await editor.start()
        editor.open("train.py", LEAK)
        await editor.version("train.py", 1)
        assert editor.codes("train.py") == []
        editor.type(
            "train.py", 2, "torch.utils.deterministic.fill_uninitialized_memory = False\n", 3, 0
        )
        await editor.version("train.py", 2)
        assert editor.codes("train.py") == [(3, "DET305")]

    run(test, folder)


def test_options_of_the_command_line_hold(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start("--select=DET302", "--stdio")
        editor.open("train.py", LEAK)
        await editor.version("train.py", 1)
        assert editor.codes("train.py") == []

    run(test, folder)


def test_scripts_and_documents_without_a_file_are_read(folder: Path) -> None:
    async def test(editor: Editor) -> None:
        await editor.start()
        script = "export CUBLAS_WORKSPACE_CONFIG=:4096:2\npython train.py\n"
        editor.open("a folder é/run.sh", script, "shellscript")
        await editor.until(lambda: editor.codes("a folder é/run.sh") == [(0, "DET306")])
        item = lsp.TextDocumentItem("untitled:Untitled-1", "python", 1, LEAK)
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        await editor.until(lambda: bool(editor.now("untitled:Untitled-1")))
        editor.open("notes.md", LEAK, "markdown")
        editor.open("other.py", "x = '\0'\n")
        await editor.until(lambda: editor.codes("other.py") == [(0, "DET000")])
        assert editor.codes("notes.md") == []
        assert editor.told == []

    run(test, folder)


def test_cells_of_a_notebook_have_their_own_findings_and_fixes(folder: Path) -> None:
    texts = ["# Train\n", "import torch\n%matplotlib inline\n", LEAK.partition("\n\n")[2]]
    kinds = [lsp.NotebookCellKind.Markup, lsp.NotebookCellKind.Code, lsp.NotebookCellKind.Code]
    cells = [f"vscode-notebook-cell:/train.ipynb#{number}" for number in range(3)]

    async def test(editor: Editor) -> None:
        await editor.start()
        uri = editor.uri("train.ipynb")
        pairs = [lsp.NotebookCell(*each) for each in zip(kinds, cells, strict=True)]
        documents = [
            lsp.TextDocumentItem(cell, "python", 1, text)
            for cell, text in zip(cells, texts, strict=True)
        ]
        notebook = lsp.NotebookDocument(uri, "jupyter-notebook", 1, pairs)
        opened = lsp.DidOpenNotebookDocumentParams(notebook, documents)
        editor.client.notebook_document_did_open(opened)
        await editor.until(lambda: len(editor.now(cells[2])) == 1)
        (found,) = editor.now(cells[2])
        assert found.range == lsp.Range(lsp.Position(0, 0), lsp.Position(0, 41))
        fix, ignore = await editor.actions("", 0, "quickfix", uri=cells[2])
        assert edited(texts[2], fix, cells[2]).endswith("(True)\n")
        assert edited(texts[2], ignore, cells[2]).endswith("False)  # detlint: ignore[DET303]\n")
        content = lsp.NotebookDocumentCellContentChanges(
            lsp.VersionedTextDocumentIdentifier(uri=cells[2], version=2),
            [lsp.TextDocumentContentChangeWholeDocument(f"x = 1\n{texts[2]}")],
        )
        event = lsp.NotebookDocumentChangeEvent(
            cells=lsp.NotebookDocumentCellChanges(text_content=[content])
        )
        versioned = lsp.VersionedNotebookDocumentIdentifier(uri=uri, version=2)
        changed = lsp.DidChangeNotebookDocumentParams(versioned, event)
        editor.client.notebook_document_did_change(changed)
        await editor.until(lambda: [x.range.start.line for x in editor.now(cells[2])] == [1])
        added = f"{cells[2]}added"
        structure = lsp.NotebookDocumentCellChangeStructure(
            lsp.NotebookCellArrayChange(1, 1, [lsp.NotebookCell(kinds[1], added)]),
            did_open=[lsp.TextDocumentItem(added, "python", 1, f"import torch\n{texts[2]}")],
        )
        event = lsp.NotebookDocumentChangeEvent(
            cells=lsp.NotebookDocumentCellChanges(structure=structure)
        )
        changed = lsp.DidChangeNotebookDocumentParams(versioned, event)
        editor.client.notebook_document_did_change(changed)
        await editor.until(lambda: [x.range.start.line for x in editor.now(added)] == [1])

    run(test, folder)


def in_editor(folder: Path, command: list[str]) -> list[str]:
    """What an editor says whose PATH has the detlint that is tested."""
    (folder / "bin").mkdir()
    script = folder / "bin" / "detlint"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m detlint "$@"\n')
    script.chmod(0o755)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.stderr.replace("\r", "").splitlines()


PROBE = """
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50)
for _, each in ipairs(vim.diagnostic.get(0)) do print(each.lnum, each.code) end
local place = { line = 2, character = 0 }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", {
  textDocument = vim.lsp.util.make_text_document_params(),
  range = { start = place, ["end"] = place },
  context = { diagnostics = {} },
}, 30000)
for _, answer in pairs(answers) do
  for _, each in ipairs(answer.result) do print(each.title) end
end
vim.cmd("qa!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim here")
def test_the_lines_for_neovim_work_in_it(folder: Path) -> None:
    guide = (Path(__file__).parent.parent / "docs" / "editors.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```lua\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    (folder / "init.lua").write_text(lines)
    (folder / "probe.lua").write_text(PROBE)
    (folder / "train.py").write_text(LEAK)
    command = ["nvim", "--headless", "-u", "init.lua", "train.py", "-c", "luafile probe.lua"]
    assert in_editor(folder, command) == [
        "2 DET303",
        "Fix DET303 deterministic-algorithms-off",
        "Ignore DET303 here",
        "Fix all that is safe to fix (detlint)",
    ]


# Emacs' two clients; each says the line, from 0, and the code of the first finding.
EMACS = {
    "eglot": """
(require 'flymake)
(setq eglot-sync-connect 60)
(find-file "train.py")
(apply #'eglot (eglot--guess-contact))
(let ((end (+ (float-time) 60)))
  (while (and (< (float-time) end) (null (flymake-diagnostics)))
    (accept-process-output nil 0.2)
    (flymake-start nil)))
(let ((found (car (flymake-diagnostics))))
  (message "found %d %s" (1- (line-number-at-pos (flymake-diagnostic-beg found)))
           (flymake-diagnostic-text found)))
""",
    "lsp-mode": """
(setq lsp-enabled-clients '(detlint) lsp-diagnostics-provider :none
      lsp-session-file (expand-file-name "session") lsp-enable-file-watchers nil
      lsp-enable-snippet nil)
(lsp-workspace-folders-add default-directory)
(find-file "train.py")
(lsp)
(let ((end (+ (float-time) 60)))
  (while (and (< (float-time) end) (= 0 (hash-table-count (lsp-diagnostics))))
    (accept-process-output nil 0.2)))
(maphash (lambda (_ each)
           (message "found %d [%s]" (lsp-get (lsp-get (lsp-get (car each) :range) :start) :line)
                    (lsp-get (car each) :code)))
         (lsp-diagnostics))
""",
}


@pytest.mark.skipif(shutil.which("emacs") is None, reason="no Emacs here")
@pytest.mark.parametrize("client", EMACS)
def test_the_lines_for_emacs_work_in_it(folder: Path, client: str) -> None:
    guide = (Path(__file__).parent.parent / "docs" / "editors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```lisp\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    (lines,) = (each for each in blocks if f"'{client}\n" in each)
    needs = f"(package-initialize)(unless (require '{client} nil t) (kill-emacs))"
    probe = f'{needs}(require \'python){lines}{EMACS[client]}(message "done")(kill-emacs)'
    (folder / "probe.el").write_text(probe)
    (folder / "train.py").write_text(LEAK)
    (folder / ".git").mkdir()
    said = in_editor(folder, ["emacs", "--batch", "-l", "probe.el"])
    if "absent" in said:
        pytest.skip(f"no {client} here")
    (found,) = (each for each in said if each.startswith("found "))
    assert found.startswith("found 2 ")
    assert "[DET303]" in found


def test_paths_are_no_arguments(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "detlint", "server"]
    done = subprocess.run([*command, "src"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "detlint: detlint server takes no paths: it lints what the editor opens\n"
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("usage: detlint server ")
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError(name='pygls')\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("detlint: detlint server needs pygls beside detlint: `pip")


def test_nothing_is_said_after_the_client_has_left() -> None:
    """Once its output is closed, pygls tells without end of what it could not tell."""
    from pygls.io_ import StdoutWriter
    from pygls.lsp.server import LanguageServer

    from detlint.server.protocol import _Client

    async def said(*, left: bool) -> bytes:
        written = io.BytesIO()
        server = LanguageServer("detlint", "0")
        server.protocol.set_writer(StdoutWriter(written))
        client = _Client(server, argparse.Namespace())
        client._loop = asyncio.get_running_loop()
        client._tell("the process that links has died")
        if left:
            client._end(None)
        await asyncio.sleep(0)
        return written.getvalue()

    assert b"has died" in asyncio.run(said(left=False))
    assert asyncio.run(said(left=True)) == b""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be halted here")
@pytest.mark.parametrize("begun", [False, True])
def test_a_question_that_is_open_at_the_end_is_no_failure(folder: Path, begun: bool) -> None:
    from detlint.cli.server import parser
    from detlint.server.linking import Linking, Question

    options = parser().parse_args(["--cache-dir", str(folder / ".cache")])
    linking = Linking(options, [str(folder)])
    question = Question(str(folder / "train.py"), LEAK, {}, False, False)
    if begun:
        assert linking.ask(question) is not None
        os.kill(linking._process.pid, signal.SIGSTOP)
        threading.Timer(0.2, linking.stop).start()
    else:
        linking.stop()
    assert linking.ask(question) is None
