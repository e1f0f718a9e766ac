"""Under which conditions a statement runs: in teardown, as one side of an ``if``, by a setting."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.module import Module

# Functions that put back what others changed. "reset" is missing: reset_seeds() is set-up.
_TEARDOWN = re.compile(
    r"_*(?:async)?tear_?down|__a?exit__$|_*(?:unset|undo|restore|clean_?up|disable_)", re.IGNORECASE
)
_CLEANUPS = frozenset({"addCleanup", "addClassCleanup", "addfinalizer", "callback", "register"})
_GENERATORS = re.compile(r"(?:fixture|contextmanager)$", re.IGNORECASE)

# Words of a condition that asks about the machine or the process, not about a preference.
_MACHINE = re.compile(
    r"cuda|gpu|device|rank|distributed|\bddp\b|world_size|platform|version|available|installed"
    r"|has_|^has|__name__|^os\.name|accelerator|^torch\.|^builtins\.",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(r"benchmark|determin|seed|repro|fast|speed|environ|getenv", re.IGNORECASE)


def in_teardown(module: Module, node: cst.CSTNode) -> bool:
    """Whether a node runs in ``finally``, ``__exit__``, teardown, or after a fixture's yield."""
    for above in module.ancestors(node):
        if isinstance(above, cst.Finally):
            return True
        if isinstance(above, cst.FunctionDef):
            if _TEARDOWN.match(above.name.value) or _after_yield(module, above, node):
                return True
        elif isinstance(above, cst.Lambda) and _is_cleanup(module, above):
            return True
    return False


def _is_cleanup(module: Module, function: cst.Lambda) -> bool:
    argument = module.parent(function)
    call = module.parent(argument) if isinstance(argument, cst.Arg) else None
    return isinstance(call, cst.Call) and _last_name(call.func) in _CLEANUPS


def _after_yield(module: Module, function: cst.FunctionDef, node: cst.CSTNode) -> bool:
    names = (_last_name(decorator.decorator) for decorator in function.decorators)
    if not any(_GENERATORS.search(name) for name in names):
        return False
    for each in module.tree.descendants(function.body):
        if each is node:
            return False
        if isinstance(each, cst.Yield):
            return True
    return False


def _last_name(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Call):
        node = node.func
    if isinstance(node, cst.Attribute):
        node = node.attr
    return node.value if isinstance(node, cst.Name) else ""


def other_side(module: Module, node: cst.CSTNode, wanted: Callable[[cst.CSTNode], bool]) -> bool:
    """Whether the other branch of an ``if`` around a node holds a node that is wanted.

    What follows ``if …: …; return`` is the other branch of that ``if``.
    """
    return any(
        wanted(each)
        for branch in _other_branches(module, node)
        for each in module.tree.descendants(branch)
    )


def _other_branches(module: Module, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    below = node
    for above in module.ancestors(node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            other = above.orelse if below is above.body else above.body
            if other is not None:
                yield other
        elif isinstance(above, (cst.IndentedBlock, cst.Module)):
            yield from _split_byjumps(above.body, below)
        below = above


def _split_byjumps(statements: Sequence[cst.CSTNode], node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What ``if …: …; return`` before a node ran instead, or what follows if the node is one."""
    index = next(index for index, each in enumerate(statements) if each is node)
    for statement in statements[:index]:
        if isinstance(statement, cst.If) and jumps(statement):
            yield statement.body
    if isinstance(node, cst.If) and jumps(node):
        yield from statements[index + 1 :]


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
