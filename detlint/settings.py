"""What a run is told to do, frozen before it starts."""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """The table ``[tool.detlint]`` with the command line laid over it."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    target_torch: tuple[int, int] = (2, 13)
    strict: bool = False
    root: str = ""  # folder of the pyproject.toml, to which its patterns are relative
