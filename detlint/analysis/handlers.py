"""Methods chosen by the class of a syntax node: ``in_aug_assign`` for ``AugAssign``."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import libcst as cst


def handler(owner: object, prefix: str, node: cst.CSTNode | None) -> Callable[..., Any] | None:
    """The owner's method for a node; None if it has none."""
    return getattr(owner, prefix + _snake_case(type(node).__name__), None)


@functools.cache
def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
