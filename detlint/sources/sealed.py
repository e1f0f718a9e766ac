"""Files of a cache that tell whether they are whole: JSON with a checksum, and rows behind it.

Each is replaced at once, so that runs beside each other read a whole one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from json import dumps, loads
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder holds results of detlint, and may be deleted at any time.\n"
)
_SEAL = b'"crc32": "%08x",\n'
_SEALED = len(_SEAL % 0)


class Row(NamedTuple):
    """Bytes that hold for a digest of what they tell of, and a checksum of these."""

    digest: str
    data: bytes | memoryview
    checksum: int

    def read(self, digest: str) -> bytes | None:
        """What it holds for a digest; None if it is for another, or damaged."""
        whole = self.digest == digest and self.checksum == crc32(self.data)
        return bytes(self.data) if whole else None


def read_rows(file: str, header: bytes) -> dict[str, Row]:
    """The rows by their names that ``write_rows`` wrote below this header, each as it lies there;
    none if the file is another, or the table of them is damaged."""
    found: dict[str, Row] = {}
    with suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
        with open(file, "rb") as stream:
            data = stream.read()
        end = data.index(b"\n", len(header) + _SEALED) + 1
        table, rows = _unsealed(data[:end], header), memoryview(data)
        for name, digest, size, checksum in table["rows"]:
            found[name] = Row(digest, rows[end : end + size], checksum)
            end += size
    return found


def write_rows(file: str, header: bytes, rows: Mapping[str, Row]) -> None:
    """Replace a file by rows, behind a table of them."""
    table = [(name, row.digest, len(row.data), row.checksum) for name, row in rows.items()]
    body = b'"rows": %b}\n' % dumps(table, separators=(",", ":")).encode()
    write_sealed(file, header, body, [row.data for row in rows.values()])


def read_sealed(file: str, header: bytes) -> Any:  # noqa: ANN401 - JSON, of unknown shape
    """What ``write_sealed`` wrote below this header; None if the file is another or damaged."""
    try:
        with open(file, "rb") as stream:
            return _unsealed(stream.read(), header)
    except (OSError, ValueError, RecursionError):
        return None


def write_sealed(
    file: str, header: bytes, body: bytes, rows: Iterable[bytes | memoryview] = ()
) -> None:
    """Replace a file, at once, by a header and a body, which make one JSON object, and a checksum;
    with what stands behind it."""
    temporary = f"{file}.{os.urandom(8).hex()}.tmp"
    try:
        with open(temporary, "wb") as stream:
            stream.writelines([header, _SEAL % crc32(body), body, *rows])
        os.replace(temporary, file)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _unsealed(data: bytes, header: bytes) -> Any:  # noqa: ANN401 - JSON, of unknown shape
    """Raises ValueError where it is another's, or damaged."""
    if not data.startswith(header + _SEAL % crc32(data[len(header) + _SEALED :])):
        raise ValueError(data[: len(header)])
    return loads(data)


def make_folder(folder: str) -> None:
    """Create the folder with the marks that keep it out of backups and commits.

    Only a new one is marked: ``--cache-dir .`` must not make git ignore the project.
    """
    with suppress(FileExistsError):
        os.makedirs(folder)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
