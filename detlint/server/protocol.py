"""The messages of the language server protocol, by pygls, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from detlint import __version__
from detlint.docs import explain
from detlint.finding import Confidence
from detlint.plugins import rule_of
from detlint.reporters import documentation
from detlint.server import actions
from detlint.server.session import Session, Shown
from detlint.server.sheets import Cell, Change, Place, Position, Sheet, Text
from detlint.sources.kinds import SUFFIXES, kind_of_name
from detlint.suppression.comments import UNUSED
from detlint.syntax.stack import RECURSION, STACK_BYTES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from detlint.finding import Finding

_SEVERITY = {
    Confidence.CERTAIN: lsp.DiagnosticSeverity.Error,
    Confidence.LIKELY: lsp.DiagnosticSeverity.Warning,
    Confidence.POSSIBLE: lsp.DiagnosticSeverity.Information,
}
_FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.detlint"
_WATCHED = "**/*.{toml,py,ipynb,sh,yaml,yml,json}"
_CONFIGURATION = ".toml"
_CELLS = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[
        lsp.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[lsp.NotebookCellLanguage(language="python")]
        )
    ]
)
_OPTIONS: dict[str, object] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions(
        code_action_kinds=[lsp.CodeActionKind.QuickFix, _FIX_ALL]
    )
}


def serve(options: argparse.Namespace) -> None:
    """Answer one client, until it leaves."""
    # For all threads from here on: what a text nests is not known before.
    sys.setrecursionlimit(RECURSION)
    threading.stack_size(STACK_BYTES)
    server = LanguageServer(
        "detlint",
        __version__,
        text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
        notebook_document_sync=_CELLS,
    )
    _Client(server, options)
    server.start_io()


class _Client:
    """One client: what it says becomes calls of a session, and what that shows becomes messages."""

    def __init__(self, server: LanguageServer, options: argparse.Namespace) -> None:
        self._server = server
        self._options = options
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: Session | None = None
        self._left = False
        for name, handler in self._handlers.items():
            server.feature(name, _OPTIONS.get(name))(_function(handler))

    @property
    def _handlers(self) -> dict[str, Callable[[Any], object]]:
        return {
            lsp.INITIALIZED: self._begin,
            lsp.SHUTDOWN: self._end,
            lsp.EXIT: self._end,  # of a client that does not ask first
            lsp.TEXT_DOCUMENT_DID_OPEN: self._open,
            lsp.TEXT_DOCUMENT_DID_CHANGE: self._change,
            lsp.TEXT_DOCUMENT_DID_SAVE: self._save,
            lsp.TEXT_DOCUMENT_DID_CLOSE: self._close,
            lsp.NOTEBOOK_DOCUMENT_DID_OPEN: self._open_notebook,
            lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: self._change_cells,
            lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: self._close_notebook,
            lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._look,
            lsp.TEXT_DOCUMENT_CODE_ACTION: self._actions,
            lsp.TEXT_DOCUMENT_HOVER: self._hover,
        }

    # Beginning and end

    def _begin(self, _params: lsp.InitializedParams) -> None:
        self._loop = asyncio.get_running_loop()
        workspace = self._server.workspace
        uris = [*workspace.folders] or [workspace.root_uri] * bool(workspace.root_uri)
        roots = [path for uri in uris if (path := to_fs_path(uri))]
        self._session = Session(self._options, roots, self._publish, self._tell)
        self._session.start()
        watched = self._server.client_capabilities.workspace
        files = watched.did_change_watched_files if watched else None
        if files and files.dynamic_registration:
            self._server.client_register_capability(
                lsp.RegistrationParams(
                    registrations=[
                        lsp.Registration(
                            id="detlint-files",
                            method=lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                            register_options=lsp.DidChangeWatchedFilesRegistrationOptions(
                                watchers=[lsp.FileSystemWatcher(glob_pattern=_WATCHED)]
                            ),
                        )
                    ]
                )
            )

    def _end(self, _params: None) -> None:
        self._left = True
        if self._session is not None:
            self._session.stop()

    # What the client says

    def _open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = self._path(document.uri, document.language_id)
        if path and self._session and not document.uri.startswith("vscode-notebook-cell:"):
            text = Text(document.text, self._unit)
            self._session.show(Sheet(document.uri, path, document.version, text))

    def _path(self, uri: str, language: str) -> str:
        """The path of a document's file, "" for one that detlint does not read."""
        path = to_fs_path(uri)
        if path is None:  # it has never been saved
            suffix = next((each for each, kind in SUFFIXES.items() if kind == language), "")
            root = self._server.workspace.root_path or os.getcwd()
            return os.path.join(root, f"untitled{suffix}") if suffix else ""
        known = kind_of_name(os.path.basename(path)) or language in ("python", "shellscript")
        return path if known else ""

    @property
    def _unit(self) -> str:
        encoding = self._server.workspace.position_encoding
        return getattr(encoding, "value", encoding) or "utf-16"

    def _change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        if self._session is not None:
            document = params.text_document
            changes = [_change(each) for each in params.content_changes]
            self._session.change(document.uri, document.version, changes)

    def _save(self, params: lsp.DidSaveTextDocumentParams) -> None:
        if self._session is not None:
            self._session.refresh(settings=params.text_document.uri.endswith(_CONFIGURATION))

    def _look(self, params: lsp.DidChangeWatchedFilesParams) -> None:
        if self._session is not None:
            changed = any(each.uri.endswith(_CONFIGURATION) for each in params.changes)
            self._session.refresh(settings=changed)

    def _close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        if self._session is not None:
            self._session.close(params.text_document.uri)

    # Notebooks

    def _open_notebook(self, params: lsp.DidOpenNotebookDocumentParams) -> None:
        notebook, path = params.notebook_document, to_fs_path(params.notebook_document.uri)
        if path is None or self._session is None:
            return
        texts = {each.uri: each.text for each in params.cell_text_documents}
        cells = [self._cell(each, texts.get(each.document, "")) for each in notebook.cells]
        self._session.show(Sheet(notebook.uri, path, None, cells))

    def _cell(self, cell: lsp.NotebookCell, text: str) -> Cell:
        return Cell(cell.document, cell.kind == lsp.NotebookCellKind.Code, Text(text, self._unit))

    def _change_cells(self, params: lsp.DidChangeNotebookDocumentParams) -> None:
        uri, change = params.notebook_document.uri, params.change.cells
        if self._session is None or change is None:
            return

        def changed(cells: Sequence[Cell]) -> Sequence[Cell]:
            made = list(cells)
            structure = change.structure
            if structure is not None:
                texts = {each.uri: each.text for each in structure.did_open or ()}
                at, spliced = structure.array.start, structure.array
                known = {each.uri: each.text.text for each in cells}
                made[at : at + spliced.delete_count] = [
                    self._cell(each, texts.get(each.document, known.get(each.document, "")))
                    for each in spliced.cells or ()
                ]
            for edit in change.text_content or ():
                for place, cell in enumerate(made):
                    if cell.uri == edit.document.uri:
                        text = cell.text
                        for each in edit.changes:
                            text = text.changed(_change(each))
                        made[place] = cell._replace(text=text)
            return made

        self._session.change_cells(uri, changed)

    def _close_notebook(self, params: lsp.DidCloseNotebookDocumentParams) -> None:
        if self._session is not None:
            self._session.close(params.notebook_document.uri)

    # What is shown

    def _publish(self, shown: Shown) -> None:
        """From any thread: the messages are written by that of the loop."""
        messages = list(_messages(shown))

        def send() -> None:
            for each in messages:
                self._server.text_document_publish_diagnostics(each)

        self._in_loop(send)

    def _tell(self, text: str) -> None:
        message = lsp.ShowMessageParams(type=lsp.MessageType.Error, message=text)
        self._in_loop(lambda: self._server.window_show_message(message))

    def _in_loop(self, send: Callable[[], None]) -> None:
        def send_unless_left() -> None:
            # Output is closed on exit, and pygls tells of what could not be told, without end.
            if not self._left:
                send()

        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(send_unless_left)

    # What is asked

    def _actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        shown = self._session.shown(uri) if self._session else None
        if shown is None:
            return []
        wanted = params.context.only
        at = Place(uri, _position(params.range.start), _position(params.range.end))
        found: list[lsp.CodeAction] = []
        if _is_wanted(lsp.CodeActionKind.QuickFix.value, wanted):
            near = actions.actions(shown.sheet, shown.findings, at)
            found += [_action(each, shown.sheet, lsp.CodeActionKind.QuickFix) for each in near]
        if _is_wanted(_FIX_ALL, wanted):
            every = actions.all_safe(shown.sheet, shown.findings)
            found += [_action(every, shown.sheet, _FIX_ALL)] if every else []
        return found

    def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        shown = self._session.shown(uri) if self._session else None
        if shown is None:
            return None
        code = actions.code_at(shown.sheet, shown.findings, uri, _position(params.position))
        rule = rule_of(code) if code else None
        if rule is None:
            return None
        return lsp.Hover(lsp.MarkupContent(kind=lsp.MarkupKind.Markdown, value=explain(rule)))


def _function(method: Callable[[Any], object]) -> Callable[[Any], object]:
    """A method as pygls can take it, which writes to what handles a message."""

    def handler(params: Any) -> object:  # noqa: ANN401 - of whichever message
        return method(params)

    return handler


def _change(change: lsp.TextDocumentContentChangeEvent) -> Change:
    if isinstance(change, lsp.TextDocumentContentChangePartial):
        return Change(change.text, _position(change.range.start), _position(change.range.end))
    return Change(change.text)


def _position(position: lsp.Position) -> Position:
    return Position(position.line, position.character)


def _range(place: Place) -> lsp.Range:
    return lsp.Range(lsp.Position(*place.start), lsp.Position(*place.end))


def _messages(shown: Shown) -> Iterator[lsp.PublishDiagnosticsParams]:
    """A message for each document; those without findings are told that they have none."""
    found: dict[str, list[lsp.Diagnostic]] = {uri: [] for uri in shown.sheet.uris}
    for each in shown.findings:
        place = shown.sheet.place_of(each)
        if place is not None:
            found[place.uri].append(_diagnostic(each, place, shown.sheet))
    for uri, diagnostics in found.items():
        yield lsp.PublishDiagnosticsParams(uri, diagnostics, shown.sheet.version)


def _diagnostic(finding: Finding, place: Place, sheet: Sheet) -> lsp.Diagnostic:
    advice = f"\n{finding.advice}" if finding.advice else ""
    page = documentation(finding)
    unused = [lsp.DiagnosticTag.Unnecessary] if finding.code == UNUSED else None
    return lsp.Diagnostic(
        range=_range(place),
        message=f"{finding.message}{advice}",
        severity=_SEVERITY[finding.confidence],
        code=finding.code,
        code_description=lsp.CodeDescription(page) if page else None,
        source="detlint",
        tags=unused,
        related_information=[
            lsp.DiagnosticRelatedInformation(lsp.Location(at.uri, _range(at)), step.text)
            for step in finding.way
            if not step.path and (at := sheet.place_between(step[:4])) is not None
        ],
    )


def _is_wanted(kind: str, wanted: Sequence[object] | None) -> bool:
    if wanted is None:
        return True
    asked = [str(getattr(each, "value", each)) for each in wanted]
    return any(kind == each or kind.startswith(f"{each}.") for each in asked)


def _action(action: actions.Action, sheet: Sheet, kind: lsp.CodeActionKind | str) -> lsp.CodeAction:
    changes: dict[str, list[lsp.TextEdit]] = {}
    for each in action.edits:
        edit = lsp.TextEdit(_range(each.place), each.text)
        changes.setdefault(each.place.uri, []).append(edit)
    place = sheet.place_of(action.finding) if action.finding else None
    return lsp.CodeAction(
        title=action.title,
        kind=kind,
        diagnostics=[_diagnostic(action.finding, place, sheet)]
        if action.finding and place
        else None,
        is_preferred=action.preferred or None,
        edit=lsp.WorkspaceEdit(changes=changes),
    )
