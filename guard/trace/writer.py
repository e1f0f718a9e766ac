"""Writing a trace: each step is appended at once, so that a killed run leaves all but the last."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from guard.trace import encoding
from guard.trace.model import End

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.trace.model import Header, Label, Status, StepKind

_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)


class TraceWriter:
    """Appends steps to a file, which is there from the start with its header whole.

    Raises OSError where it cannot be written; what is there by then can be read.
    """

    def __init__(self, path: str | os.PathLike[str], header: Header) -> None:
        self.path = os.path.abspath(path)
        self.header = header
        self._number = header.first_step
        self._count = 0
        self._bases: dict[int, tuple[int, bytes]] = {}  # by the number of labels
        self._descriptor = _begin(self.path, header)

    def schema(self, labels: Sequence[Label]) -> int:
        """Append a schema; the number by which ``packed`` knows it."""
        packed, signature = encoding.pack_labels(labels)
        base, like = self._bases.get(len(labels), (encoding.NO_BASE, b""))
        if not like:
            self._bases[len(labels)] = (self._count, packed)
        self._write(
            encoding.frame(encoding.SCHEMA, encoding.pack_schema(packed, signature, base, like))
        )
        self._count += 1
        return self._count - 1

    def packed(self, kind: StepKind, schema: int, body: bytes, digest: bytes) -> None:
        """Append a step, flushed.

        body    its digests one after the other, then those of inputs, values and summaries
        digest  16 bytes over the full fingerprints
        """
        head = encoding.step_head(self._number, schema, kind, digest)
        self._write(encoding.frame(encoding.STEP, head + body))
        self._number += 1

    def environment(self, items: dict[str, Any]) -> None:
        """Append the items of the environment as they are now, where steps came before."""
        self._write(encoding.frame(encoding.ENVIRONMENT, _json(items)))

    def end(self, status: Status, message: str = "") -> None:
        """Append how it ended, and close the file. Nothing is written after the first call."""
        if self._descriptor is None:
            return
        try:
            self._write(encoding.frame(encoding.END, _json(asdict(End(status, message)))))
        finally:
            self.close()

    def close(self) -> None:
        """Close the file without an end, as a killed run leaves it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.close()

    def _write(self, framed: bytes) -> None:
        if self._descriptor is None:
            raise ValueError(f"{self.path} has been closed")
        written = os.write(self._descriptor, framed)
        while written < len(framed):  # a full disk takes a part, and raises at the next
            written += os.write(self._descriptor, framed[written:])


def _begin(path: str, header: Header) -> int | None:
    """The file with its header, under its name only when that is whole."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = f"{path}.{os.getpid()}.new"
    with open(new, "wb") as file:
        file.write(encoding.MAGIC + encoding.frame(encoding.HEADER, _json(header.as_dict())))
    os.replace(new, path)
    return os.open(path, _APPEND)


def _json(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON takes
    return json.dumps(value, separators=(",", ":"), default=str).encode()
