"""libcst, imported when it is first touched: a run over clean files never pays its 150 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst
else:

    class _Libcst:
        def __getattr__(self, name: str) -> object:
            import libcst

            value = getattr(libcst, name)
            setattr(self, name, value)
            return value

    cst = _Libcst()

__all__ = ["cst"]
