"""What is picked at random to show it to a person, and for nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from detlint.analysis.uses import last_name, words
from detlint.layout import layout_of
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_TELLS = re.compile(r"(?:print|display)$|(?:\w+\.)*_?log(?:ger|ging)?\.\w+$", re.IGNORECASE)
_PLOTS = re.compile(r"(?:\w*plt|axe?s?\d*|fig)\.\w+$|(?:\w+\.)?imshow$")
_KEEPS = "savefig"
_PICKS = words("randint randrange choice choices sample permutation randperm")
_MOST = 12  # names that are followed


def is_only_shown(module: Module, draw: cst.Call) -> bool:
    """``row = random.randint(0, 9); print(rows[row])``."""
    told = 0
    first = _statement(module, draw) if last_name(draw.func) in _PICKS else None
    statements: list[tuple[cst.CSTNode, cst.CSTNode]] = [] if first is None else [(first, draw)]
    known: set[str] = set()
    for statement, use in statements:
        if isinstance(statement, cst.Expr):
            if not _is_told(module, use, statement):
                return False
            told += 1
            continue
        names = _bound(statement)
        if names is None or len(known) > _MOST:
            return False
        for name in names - known:
            known.add(name)
            uses = list(_uses(module, name, draw))
            if not uses:
                return False
            statements += uses
    return told > 0


def _statement(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    kinds = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
    return next((each for each in module.ancestors(node) if isinstance(each, kinds)), None)


def _is_told(module: Module, use: cst.CSTNode, statement: cst.Expr) -> bool:
    """Whether what is used goes to something that shows it."""
    plots = _KEEPS not in module.source.text
    for each in module.ancestors(use):
        if each is statement:
            return False
        if isinstance(each, cst.Call):
            name = _chain(module, each)
            if _TELLS.match(name) or (plots and _PLOTS.match(name)):
                return True
    return False


def _chain(module: Module, call: cst.Call) -> str:
    """``ax.imshow`` of ``ax[0, 1].imshow(x)``."""
    return dotted(call.func) or re.sub(r"\[[^\]]*\]", "", module.tree.text(call.func))


def _bound(statement: cst.CSTNode) -> set[str] | None:
    """The names that are bound to something made of what is used."""
    if isinstance(statement, cst.Assign):
        targets = [each.target for each in statement.targets]
    elif isinstance(statement, cst.For):
        targets = [statement.target]
    else:
        return None
    names = [each for target in targets for each in _names(target)]
    return None if None in names else {each for each in names if each}


def _names(target: cst.BaseExpression) -> list[str | None]:
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for each in target.elements for name in _names(each.value)]
    return [None]


def _uses(module: Module, name: str, draw: cst.Call) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """The statements that use a name; the draw itself where not all of them were read."""
    text, layout = module.source.text, layout_of(module.source.text)
    places = (each.start() for each in re.finditer(rf"(?<![\w.]){name}\b", text))
    written = sum(layout.at(place) is None for place in places)
    for each in module.tree.occurrences.get(name, ()):
        above = module.parent(each)
        if isinstance(above, cst.Attribute) and above.attr is each:
            continue
        written -= 1
        if not _is_target(module, each):
            yield _statement(module, each) or draw, each
    if written:
        yield draw, draw


def _is_target(module: Module, name: cst.Name) -> bool:
    """Whether a name is bound where it stands."""
    below: cst.CSTNode = name
    for above in module.ancestors(name):
        if isinstance(above, (cst.AssignTarget, cst.Arg)):
            return isinstance(above, cst.AssignTarget) or above.keyword is below
        if isinstance(above, (cst.For, cst.CompFor)):
            return above.target is below
        if not isinstance(above, (cst.Tuple, cst.List, cst.Element)):
            return False
        below = above
    return False
