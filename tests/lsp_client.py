"""An editor, as far as a language server can tell: pygls' own client, over pipes."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

_SLOW = 30.0  # seconds that a loaded machine may take


class Editor:
    """Opens, types, and keeps what the server says. ``published``: for each document, the version
    and diagnostics of each message, with the time at which it came."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("editor", "1")
        self.published: dict[str, list[tuple[float, lsp.PublishDiagnosticsParams]]] = {}
        self.told: list[str] = []
        self.registered: list[str] = []
        self._said = asyncio.Event()
        feature = self.client.feature
        feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(self._handler(self._keep))
        feature(lsp.WINDOW_SHOW_MESSAGE)(self._handler(self._hear))
        feature(lsp.CLIENT_REGISTER_CAPABILITY)(self._handler(self._register))

    def _handler(self, method: Callable[[Any], None]) -> Callable[[Any], None]:
        def handler(params: Any) -> None:  # noqa: ANN401 - of whichever message
            method(params)
            self._said.set()

        return handler

    def _keep(self, params: lsp.PublishDiagnosticsParams) -> None:
        self.published.setdefault(params.uri, []).append((time.perf_counter(), params))

    def _hear(self, params: lsp.ShowMessageParams) -> None:
        self.told.append(params.message)

    def _register(self, params: lsp.RegistrationParams) -> None:
        self.registered += [each.method for each in params.registrations]

    async def start(self, *options: str, units: list[str] | None = None) -> lsp.InitializeResult:
        cache = str(self.folder / ".cache")
        command = (sys.executable, "-m", "detlint", "server", "--cache-dir", cache, *options)
        await self.client.start_io(*command, cwd=str(self.folder))
        uri = from_fs_path(str(self.folder))
        result = await self.client.initialize_async(
            lsp.InitializeParams(
                process_id=os.getpid(),
                root_uri=uri,
                workspace_folders=[lsp.WorkspaceFolder(uri or "", "project")],
                capabilities=lsp.ClientCapabilities(
                    general=lsp.GeneralClientCapabilities(position_encodings=units),
                    workspace=lsp.WorkspaceClientCapabilities(
                        did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(
                            dynamic_registration=True
                        )
                    ),
                ),
            )
        )
        self.client.initialized(lsp.InitializedParams())
        return result

    async def stop(self) -> int | None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        process = self.client._server
        await asyncio.wait_for(process.wait(), _SLOW)
        status: int | None = process.returncode
        await self.client.stop()
        return status

    @property
    def process(self) -> int:
        """The server's."""
        process = self.client._server
        assert process is not None
        return process.pid

    def kill(self) -> None:
        process = self.client._server
        if process is not None and process.returncode is None:
            process.kill()

    def uri(self, name: str) -> str:
        return from_fs_path(str(self.folder / name)) or ""

    def open(self, name: str, text: str, language: str = "python", *, save: bool = True) -> None:
        if save:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8", newline="")
        item = lsp.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def type(self, name: str, version: int, text: str, *place: int) -> float:
        """Put text at a place (line, character, and those of the end), or in place of all."""
        change: lsp.TextDocumentContentChangeEvent = lsp.TextDocumentContentChangeWholeDocument(
            text
        )
        if place:
            row, column, end_row, end_column = place if len(place) == 4 else (*place, *place)
            area = lsp.Range(lsp.Position(row, column), lsp.Position(end_row, end_column))
            change = lsp.TextDocumentContentChangePartial(area, text)
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(uri=self.uri(name), version=version), [change]
            )
        )
        return time.perf_counter()

    def close(self, name: str) -> None:
        document = lsp.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))

    def change_on_disk(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
        event = lsp.FileEvent(self.uri(name), lsp.FileChangeType.Changed)
        changed = lsp.DidChangeWatchedFilesParams([event])
        self.client.workspace_did_change_watched_files(changed)

    def now(self, uri: str) -> list[lsp.Diagnostic]:
        return list(self.published[uri][-1][1].diagnostics) if uri in self.published else []

    def codes(self, name: str) -> list[tuple[int, str]]:
        """The lines, from 0, and codes that are shown of a document."""
        return [(each.range.start.line, str(each.code)) for each in self.now(self.uri(name))]

    async def until(self, holds: Callable[[], bool], seconds: float = _SLOW) -> None:
        limit = time.monotonic() + seconds
        while not holds():
            left = limit - time.monotonic()
            shown = {uri.rpartition("/")[2]: self.now(uri) for uri in self.published}
            assert left > 0, f"after {seconds} s the editor shows {shown}, was told {self.told}"
            self._said.clear()
            try:
                await asyncio.wait_for(self._said.wait(), min(left, 0.2))
            except asyncio.TimeoutError:
                continue

    async def version(self, name: str, version: int) -> float:
        """Wait for the diagnostics of a version; the time at which they came."""
        uri = self.uri(name)

        def came() -> bool:
            return any(each.version == version for _, each in self.published.get(uri, ()))

        await self.until(came)
        return next(at for at, each in self.published[uri] if each.version == version)

    async def actions(
        self, name: str, row: int, *kinds: str, uri: str = ""
    ) -> list[lsp.CodeAction]:
        line = lsp.Range(lsp.Position(row, 0), lsp.Position(row, 0))
        found = await self.client.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(uri or self.uri(name)),
                line,
                lsp.CodeActionContext([], only=list(kinds) or None),
            )
        )
        return [each for each in found or () if isinstance(each, lsp.CodeAction)]

    async def hover(self, name: str, row: int, column: int) -> str:
        found = await self.client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(self.uri(name)), lsp.Position(row, column))
        )
        contents = found.contents if found else ""
        return contents.value if isinstance(contents, lsp.MarkupContent) else str(contents)


def edited(text: str, action: lsp.CodeAction, uri: str) -> str:
    """A text after an action, as an editor applies it: in UTF-16."""
    assert action.edit is not None
    changes = (action.edit.changes or {})[uri]
    lines = text.splitlines(keepends=True)
    for each in sorted(changes, key=lambda edit: edit.range.start, reverse=True):
        start, end = (_offset(lines, at) for at in (each.range.start, each.range.end))
        text = text[:start] + each.new_text + text[end:]
    return text


def _offset(lines: list[str], at: lsp.Position) -> int:
    line = lines[at.line] if at.line < len(lines) else ""
    before = line.encode("utf-16-le")[: 2 * at.character].decode("utf-16-le")
    return sum(map(len, lines[: at.line])) + len(before)


def run(test: Callable[[Editor], Coroutine[Any, Any, None]], folder: Path) -> None:
    """Run a test with an editor, and see that the server leaves as it should."""

    async def whole() -> None:
        editor = Editor(folder)
        try:
            await test(editor)
        except BaseException:
            editor.kill()  # it may not answer
            raise
        assert await editor.stop() == 0

    asyncio.run(whole())
