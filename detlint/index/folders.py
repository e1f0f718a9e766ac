"""What folders hold, as far as an import can tell."""

from __future__ import annotations

import os

# What an entry is; of a link there is the path that it leads to, and the same sign behind it.
FILE, OTHER = "", "/"
REQUIREMENTS = "requirements"
_ENVIRONMENT = "environment"
_PACKAGING = frozenset({"pyproject.toml", "setup.cfg"})
_INSTALLING = _PACKAGING | {"setup.py"}
_COMPILED = "__pycache__"  # comes and goes
# What pip leaves beside a package, and the folders that it takes if nobody says another.
_INSTALLS = ".dist-info"
_INSTALLED = frozenset({"site-packages", "dist-packages"})


class Folders:
    """Listings, each read once, so that whatever was concluded from them belongs together."""

    def __init__(self) -> None:
        self.listings: dict[str, dict[str, str]] = {}

    def entries(self, folder: str) -> dict[str, str]:
        """What a folder holds; nothing if there is no such folder."""
        if folder not in self.listings:
            self.listings[folder] = entries(folder)
        return self.listings[folder]

    def is_package(self, folder: str) -> bool:
        """Whether a folder says that it is a package."""
        return not self.entries(folder).get("__init__.py", OTHER).endswith(OTHER)

    def is_distribution(self, folder: str) -> bool:
        """Whether a folder is installed as a whole, as `pip install -e` does, and no package."""
        told = not _INSTALLING.isdisjoint(self.entries(folder))
        return told and not self.is_package(folder)

    def is_installed(self, folder: str) -> bool:
        """Whether packages are installed in a folder, which have nothing to do with each other."""
        if os.path.basename(folder) in _INSTALLED:
            return True
        return any(name.endswith(_INSTALLS) for name in self.entries(folder))


def entries(folder: str) -> dict[str, str]:
    """The names in a folder that an import may mean, or that say what is required, and what each
    is."""
    found = {}
    try:
        with os.scandir(folder) as scan:
            for entry in scan:
                name = entry.name
                if _counts(name, folder):
                    found[name] = _sort(entry)
    except OSError:
        return {}
    return found


def _counts(name: str, folder: str) -> bool:
    if "." not in name:
        return name != _COMPILED
    return name.endswith((".py", _INSTALLS)) or name in _PACKAGING or is_list(name, folder)


def is_list(name: str, folder: str) -> bool:
    """Whether a file lists what pip or conda installs: ``requirements-a.txt``,
    ``requirements/a.txt``, ``environment.yml``."""
    named = name.startswith(REQUIREMENTS) or os.path.basename(folder) == REQUIREMENTS
    return (named and name.endswith(".txt")) or is_environment(name)


def is_environment(name: str) -> bool:
    """Whether a file lists what conda installs, as far as its name tells."""
    return _ENVIRONMENT in name and name.endswith((".yml", ".yaml"))


def _sort(entry: os.DirEntry[str]) -> str:
    sort = FILE if entry.is_file() else OTHER
    return os.path.realpath(entry.path) + sort if entry.is_symlink() else sort
