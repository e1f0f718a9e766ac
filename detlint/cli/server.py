"""``detlint server``: what editors start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.cli.status import CLEAN
from detlint.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from detlint.cli.arguments import Parser


def parser() -> Parser:
    """Takes what linting takes."""
    from detlint.cli import arguments

    made = arguments.parser()
    made.prog = "detlint server"
    made.description = "Show findings in an editor, by the language server protocol."
    made.epilog = "docs/editors.md has the lines for each editor."
    made.add_argument("--stdio", action="store_true", help="the only way there is")
    return made


def run(arguments: list[str]) -> int:
    """Answer an editor until it leaves."""
    options = parser().parse_args(arguments)
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
