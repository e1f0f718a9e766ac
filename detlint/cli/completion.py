"""``detlint completion SHELL``: a script by which a shell completes what we take.

The scripts are made from the parsers of all commands. The first word may be a command or a path,
which generators for argparse have no form for.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from detlint.cli.status import CLEAN
from detlint.cli.streams import write
from detlint.finding import Confidence
from detlint.plugins import all_rules
from detlint.reporters import FORMATS, STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.cli.arguments import Parser

_EPILOG = """\
bash:  detlint completion bash > ~/.local/share/bash-completion/completions/detlint
zsh:   detlint completion zsh > ~/.zfunc/_detlint     (with `fpath+=~/.zfunc` above `compinit`)
fish:  detlint completion fish > ~/.config/fish/completions/detlint.fish
"""


def parser() -> Parser:
    """Its options."""
    from detlint.cli.arguments import Parser

    made = Parser(
        prog="detlint completion",
        description="Print a script by which a shell completes commands, options and codes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("shell", choices=tuple(_SCRIPTS), metavar="SHELL", help=", ".join(_SCRIPTS))
    return made


def run(arguments: list[str]) -> int:
    """Print the script."""
    options = parser().parse_args(arguments)
    write(sys.stdout, [f"{line}\n" for line in _SCRIPTS[options.shell](_commands())])
    return CLEAN


class _Option(NamedTuple):
    """``takes``: None for nothing, else a word for what its value is, or the values."""

    flags: tuple[str, ...]
    says: str
    takes: str | tuple[str, ...] | None


class _Command(NamedTuple):
    """``name`` is "" for linting; ``words`` are what may stand beside options, "" for a path."""

    name: str
    says: str
    options: list[_Option]
    words: tuple[str, ...]


def _commands() -> list[_Command]:
    from detlint.cli import COMMANDS, arguments

    made = [_command("", arguments.parser())]
    for name in COMMANDS:
        options = getattr(import_module(f"detlint.cli.{name}"), "parser", argparse.ArgumentParser)
        made.append(_command(name, options()))
    return made


def _command(name: str, made: argparse.ArgumentParser) -> _Command:
    # argparse tells of its options in no other way.
    shown = [each for each in made._actions if each.help != argparse.SUPPRESS]  # noqa: SLF001
    options = [
        _Option(tuple(each.option_strings), each.help or "", _taken(each))
        for each in shown
        if each.option_strings
    ]
    words: tuple[str, ...] = ()
    for each in shown:
        if not each.option_strings:
            taken = _taken(each)
            words += taken if isinstance(taken, tuple) else ("",)
    says = (made.description or name).partition(". ")[0].partition(": ")[0].rstrip(".")
    return _Command(name, says, options, words)


def _taken(action: argparse.Action) -> str | tuple[str, ...] | None:
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return None
    if action.choices:
        return tuple(map(str, action.choices))
    if action.metavar in {"CODES", "CODE"}:
        return tuple(rule.code for rule in all_rules())
    if action.metavar == "LEVEL":
        return tuple(map(str, Confidence))
    if action.metavar == "FORMAT[=FILE]":
        return (*STYLES, *FORMATS)
    places = {"FILE": "file", "PATH": "file", "FOLDER": "folder"}
    return places.get(str(action.metavar), "anything")


def _bash(commands: list[_Command]) -> Iterator[str]:
    yield "_detlint() {"
    yield "  local IFS=$'\\n' current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}"
    yield "  local command='' given='' words=''"
    yield "  [[ $current == = ]] && current=''"  # bash takes --option=value for three words
    yield "  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}"
    names = "|".join(each.name for each in commands if each.name)
    yield "  ((COMP_CWORD > 1)) && case ${COMP_WORDS[1]} in"
    yield f"    {names}) command=${{COMP_WORDS[1]}};;"
    yield "  esac"
    yield "  COMPREPLY=()"
    yield "  case $command:$before in"
    for each in commands:
        for option in each.options:
            if option.takes is not None:
                names = "|".join(f"{each.name}:{flag}" for flag in option.flags)
                yield f"    {names}) given='{_bash_value(option.takes)}';;"
    yield "  esac"
    yield "  case $given in"
    yield "    anything) return;;"
    for kind, which in (("file", "-f"), ("folder", "-d")):
        yield f"    {kind}) compopt -o filenames 2>/dev/null"
        yield f'      COMPREPLY=($(compgen {which} -- "$current")); return;;'
    yield '    ?*) COMPREPLY=($(compgen -W "${given// /$IFS}" -- "$current")); return;;'
    yield "  esac"
    yield "  case $command in"
    for each in commands:
        flags = " ".join(flag for option in each.options for flag in option.flags)
        words = " ".join(filter(None, each.words))
        yield f"    {each.name or chr(39) * 2}) given={quote(flags)} words={quote(words)};;"
    yield "  esac"
    first = " ".join(each.name for each in commands if each.name)
    yield f"  ((COMP_CWORD == 1)) && words={quote(first)}"
    yield "  if [[ $current == -* ]]; then"
    yield '    COMPREPLY=($(compgen -W "${given// /$IFS}" -- "$current"))'
    yield "    return"
    yield "  fi"
    yield '  [[ $words ]] && COMPREPLY=($(compgen -W "${words// /$IFS}" -- "$current"))'
    paths = "|".join(each.name or "''" for each in commands if "" in each.words)
    yield f"  case $command in {paths})"
    yield "    compopt -o filenames 2>/dev/null"
    yield '    COMPREPLY+=($(compgen -f -- "$current"));;'
    yield "  esac"
    yield "}"
    yield "complete -F _detlint detlint"


def _bash_value(takes: str | tuple[str, ...]) -> str:
    return takes if isinstance(takes, str) else " ".join(takes)


def _zsh(commands: list[_Command]) -> Iterator[str]:
    yield "#compdef detlint"
    yield "_detlint_first() {"
    yield "  local -a commands=("
    for each in commands[1:]:
        yield f"    {quote(f'{each.name}:{each.says}')}"
    yield "  )"
    yield "  (( CURRENT == 2 )) && _describe command commands"
    yield "  _files"
    yield "}"
    yield "_detlint() {"
    yield "  local command="
    names = "|".join(each.name for each in commands[1:])
    yield f"  if (( CURRENT > 2 )) && [[ $words[2] == ({names}) ]]; then"
    yield "    command=$words[2]"
    yield "    shift words"
    yield "    (( CURRENT-- ))"
    yield "  fi"
    yield "  case $command in"
    for each in commands:
        yield f"    {each.name or chr(39) * 2}) _arguments -s \\"
        for option in each.options:
            for flag in option.flags:
                yield f"      {quote(_zsh_option(flag, option))} \\"
        yield f"      {quote(_zsh_words(each))} ;;"
    yield "  esac"
    yield "}"
    yield "if [[ $zsh_eval_context[-1] == eval || $zsh_eval_context[-1] == file ]]; then"
    yield "  compdef _detlint detlint"
    yield "else"
    yield '  _detlint "$@"'
    yield "fi"


def _zsh_option(flag: str, option: _Option) -> str:
    says = "".join(f"\\{each}" if each in "[]:\\" else each for each in option.says)
    if option.takes is None:
        return f"{flag}[{says}]"
    joined = "=" if flag.startswith("--") else ""
    return f"*{flag}{joined}[{says}]:value:{_zsh_value(option.takes)}"


def _zsh_value(takes: str | tuple[str, ...]) -> str:
    if isinstance(takes, tuple):
        return f"({' '.join(takes)})"
    return {"file": "_files", "folder": "_files -/"}.get(takes, "")


def _zsh_words(command: _Command) -> str:
    if not command.name:
        return "*:path:_detlint_first"
    words = tuple(filter(None, command.words))
    return f"*:value:{_zsh_value(words or 'file')}" if command.words else "*:value:"


def _fish(commands: list[_Command]) -> Iterator[str]:
    names = " ".join(each.name for each in commands[1:])
    for each in commands[1:]:
        says = _fish_text(each.says)
        yield f"complete -c detlint -n __fish_use_subcommand -a {each.name} -d {says}"
    for each in commands:
        when = f"__fish_seen_subcommand_from {each.name or names}"
        when = quote(when if each.name else f"not {when}")
        for option in each.options:
            parts = [
                *map(_fish_flag, option.flags),
                _fish_value(option.takes),
                f"-d {_fish_text(option.says)}",
            ]
            yield f"complete -c detlint -n {when} {' '.join(filter(None, parts))}"
        words = " ".join(filter(None, each.words))
        if words or not each.words:
            yield f"complete -c detlint -n {when} -f {f'-a {_fish_text(words)}' if words else ''}"


def _fish_flag(flag: str) -> str:
    return f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"


def _fish_value(takes: str | tuple[str, ...] | None) -> str:
    if isinstance(takes, tuple):
        return f"-x -a {_fish_text(' '.join(takes))}"
    kinds = {"file": "-r -F", "folder": "-x -a '(__fish_complete_directories)'", "anything": "-x"}
    return kinds[takes] if takes else ""


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
