"""Under which conditions a statement runs, for rules that see trees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# Words of a condition that asks about the machine or the process, not about a preference.
_MACHINE = re.compile(
    r"cuda|gpu|device|rank|distributed|\bddp\b|world_size|platform|version|available|installed"
    r"|has_|^has|__name__|^os\.name|accelerator|^torch\.|^builtins\.",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(r"benchmark|determin|seed|repro|fast|speed|environ|getenv", re.IGNORECASE)


def jumps(statement: cst.If) -> bool:
    """Whether what follows an ``if`` runs only where its condition does not hold."""
    last = statement.body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return statement.orelse is None and isinstance(
        last, (cst.Return, cst.Raise, cst.Continue, cst.Break)
    )


def behind_setting(module: Module, node: cst.CSTNode) -> bool:
    """Whether an ``if`` around a node leaves it to a setting whether the node runs.

    ``if cfg.fast: flag = True`` says ``flag = cfg.fast``. A condition that only asks
    about the machine or the process (``torch.cuda.is_available()``, ``rank == 0``) does not.
    """
    below = node
    for above in module.ancestors(node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return False
        if (
            isinstance(above, (cst.If, cst.IfExp))
            and below is not above.test
            and _is_setting(module, above.test)
        ):
            return True
        below = above
    return False


def _is_setting(module: Module, test: cst.BaseExpression) -> bool:
    return any(
        _PREFERENCE.search(leaf) or not _MACHINE.search(leaf) for leaf in _leaves(module, test)
    )


def _leaves(module: Module, test: cst.CSTNode) -> Iterator[str]:
    """The dotted names that a condition reads; constants of the file are no names."""
    if isinstance(test, (cst.Name, cst.Attribute)):
        known = isinstance(module.literal(test), (bool, int, str, float, type(None)))
        if not known:
            yield module.qualified_name(test) or _spelled(test)
    elif isinstance(test, cst.Call):
        yield from _called(module, test)
    elif isinstance(test, cst.Subscript):
        yield _spelled(test.value) + "." + ".".join(_strings(module, test))
    else:
        from detlint.tree import children

        for child in children(test):
            yield from _leaves(module, child)


def _called(module: Module, call: cst.Call) -> Iterator[str]:
    name = module.qualified_name(call.func)
    if name is not None and name.startswith("builtins."):
        for argument in call.args:
            yield from _leaves(module, argument.value)
    else:
        yield ".".join([name or _spelled(call.func), *_strings(module, call)])


def _strings(module: Module, node: cst.CSTNode) -> Iterator[str]:
    for each in module.tree.descendants(node):
        if isinstance(each, cst.SimpleString):
            yield str(each.evaluated_value)


def _spelled(node: cst.CSTNode) -> str:
    names: list[str] = []
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        if isinstance(node, cst.Attribute):
            names.append(node.attr.value)
        node = node.func if isinstance(node, cst.Call) else node.value
    names.append(node.value if isinstance(node, cst.Name) else "")
    return ".".join(reversed(names))
