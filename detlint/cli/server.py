"""``detlint server``: what editors start."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from detlint.cli.status import CLEAN
from detlint.errors import UsageError
from detlint.streams import write

if TYPE_CHECKING:
    import argparse

_USAGE = """\
usage: detlint server [--config FILE] [--isolated] [--select CODES] [--min-confidence LEVEL] …

Speaks the language server protocol on standard input and output, for editors. It takes the options
of `detlint PATH` that choose rules and settings; `docs/editors.md` has the lines for each editor.
"""


def run(arguments: list[str]) -> int:
    """Answer an editor until it leaves."""
    from detlint.arguments import parse

    if {"-h", "--help"} & set(arguments):
        write(sys.stdout, [_USAGE])
        return CLEAN
    # Many editors' libraries add it, though there is nothing else to choose.
    options = parse([each for each in arguments if each != "--stdio"])
    if options.paths:
        raise UsageError("detlint server takes no paths: it lints what the editor opens")
    options.jobs = 1
    _serve(options)
    return CLEAN


def _serve(options: argparse.Namespace) -> None:
    try:
        from detlint.server.protocol import serve
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(("pygls", "lsprotocol")):
            raise
        raise UsageError(
            'detlint server needs pygls beside detlint: `pip install "pygls>=2"`'
        ) from error
    serve(options)
