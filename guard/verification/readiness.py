"""Where a program asks whether another thread or process is done by then: read, never executed."""

from __future__ import annotations

import ast

from guard.verification.names import last_name

# Without an argument: ``torch.empty(3)`` and ``np.full(3, 1)`` are others.
_BARE = {
    *("done", "is_set", "is_alive", "running", "ready", "qsize", "empty", "full", "locked"),
    *("poll", "successful"),
}
_LIMITED = {"wait", "acquire", "poll"}
ASKING = (_BARE | _LIMITED) - {"empty", "full", "ready"}  # names that mean little else
_LIMITS = {"timeout", "blocking", "block", "return_when"}
_LATE = {
    *("Empty", "Full", "TimeoutError", "Timeout", "BlockingIOError", "TimeoutExpired"),
    *("InvalidStateError", "WouldBlock", "QueueEmpty", "QueueFull"),
}
_PACKAGES = {
    *("threading", "concurrent", "multiprocessing", "queue", "asyncio", "subprocess", "_thread"),
    *("joblib", "ray", "trio", "anyio"),
}


def asks(node: ast.AST) -> str:
    """What asks whether another thread or process is done, for a person; "" where nothing does."""
    if isinstance(node, ast.ExceptHandler):
        names = () if node.type is None else map(last_name, ast.walk(node.type))
        is_late = not _LATE.isdisjoint(names)
        return f"except {ast.unparse(node.type)}" if is_late and node.type else ""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    method, is_bare = node.func.attr, not node.args and not node.keywords
    is_limited = bool(node.args) or any(each.arg in _LIMITS for each in node.keywords)
    found = (is_bare and method in _BARE) or (is_limited and method in _LIMITED)
    return f"{ast.unparse(node.func)}()" if found else ""


def has_others(tree: ast.AST) -> bool:
    """Whether a file imports what starts threads or processes, or waits for them."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.update((node.module or "").split("."))
            names |= {each.name for each in node.names}
    return not _PACKAGES.isdisjoint(names)
