"""Random numbers that no result depends on: pauses, ports, colours, names of things."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from detlint.analysis.definitions import Definition, Definitions
from detlint.analysis.uses import last_name
from detlint.facts.shown import is_only_shown
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.module import Module

_IDLE = re.compile(
    r"(?:^|_)(?:ports?|endpoints?|api_(?:dict|key|base)s?|prox(?:y|ies)|user_?agents?|wait|delay"
    r"|back_?off|sleep|timeout|retry|run_?id|run_?name|uid|uuid|nonce)"
    r"(?:$|_)|(?:^|_)colou?rs?$|^(?:dummy|dump|example|rand)_?(?:inputs?|example|data|x)",
    re.IGNORECASE,
)
# Functions that time something or prepare it for use.
_APART = re.compile(r"_*(?:bench|warm_?up|autotune|profile)|\w*_(?:warm_?up|bench(?:mark)?)$")
_NUMBERS = frozenset({"randint", "randrange", "random", "rand", "getrandbits"})  # not of words
_TELLS = re.compile(r"(?:\w+\.)*_?log(?:ger|ging)?\.\w+$|print$", re.IGNORECASE)
_SEED = re.compile(r"(?:^|_)seed$", re.IGNORECASE)
_ASKED = re.compile(r"seed|random", re.IGNORECASE)


def is_idle(module: Module, draw: cst.Call) -> bool:
    """``time.sleep(random.uniform(0, 5))``, ``port = random.randint(1024, 65535)``,
    ``"".join(random.choice(letters) for _ in range(8))``."""
    if _picks_any(module, draw) or _is_only_told(module, draw) or is_only_shown(module, draw):
        return True
    for each in module.ancestors(draw):
        if _is_idle_call(each) or _is_in_text(each, number=last_name(draw.func) in _NUMBERS):
            return True
        if isinstance(each, (cst.Arg, cst.Assign, cst.AnnAssign, cst.Param)):
            names = _names(each)
            if any(map(_IDLE.search, names)):
                return True
            if any(map(_SEED.search, names)) and _is_asked_for(module, draw):
                return True
        elif isinstance(each, cst.FunctionDef):
            name = each.name.value
            return bool(_IDLE.search(name) or _APART.match(name))
    return False


def _is_only_told(module: Module, draw: cst.Call) -> bool:
    """``for index in random.sample(…): logger.info(…)``."""
    loop = next((each for each in module.ancestors(draw) if isinstance(each, cst.For)), None)
    if loop is None or not (draw is loop.iter or loop.iter in module.ancestors(draw)):
        return False
    lines = loop.body.body
    return all(
        isinstance(line, cst.SimpleStatementLine)
        and all(isinstance(each, cst.Expr) and _is_told(each.value) for each in line.body)
        for line in lines
    )


def _is_told(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and _TELLS.match(dotted(node.func) or "") is not None


def _picks_any(module: Module, draw: cst.Call) -> bool:
    """Whether an item is chosen from what gives the same whatever index it is asked for:
    ``random.choice(texts)``, where ``__getitem__`` draws a place by itself."""
    if last_name(draw.func) != "choice" or len(draw.args) != 1:
        return False
    made = module.names.value_of(draw.args[0].value)
    owner = module.names.definition(made.func) if isinstance(made, cst.Call) else None
    if not isinstance(owner, cst.ClassDef):
        return False
    item = _method(module, owner, "__getitem__")
    if item is None or len(item.node.params.params) != 2:
        return False
    index = item.node.params.params[1].name.value
    inside = item.module.tree.descendants(item.node.body)
    return not any(isinstance(each, cst.Name) and each.value == index for each in inside)


def _method(module: Module, owner: cst.ClassDef, name: str) -> Definition | None:
    if module.enclosing_function(owner) is None:  # what it holds may have been left out
        return Definitions(module).method(owner, name)
    found = (each for each in owner.body.body if isinstance(each, cst.FunctionDef))
    return next((Definition(module, each, 0) for each in found if each.name.value == name), None)


def _is_asked_for(module: Module, draw: cst.Call) -> bool:
    """Whether a seed is drawn where whoever runs the program wants another one each time:
    ``seed = random.randint(0, limit) if randomize_seed else seed``."""
    return any(
        isinstance(each, (cst.If, cst.IfExp)) and _ASKED.search(module.tree.text(each.test))
        for each in module.ancestors(draw)
    )


def _is_idle_call(call: cst.CSTNode) -> bool:
    if not isinstance(call, cst.Call):
        return False
    joins = isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.SimpleString)
    name = last_name(call.func)
    if name in {"seed", "manual_seed"}:
        return True  # a seed that differs each time, which DET103 tells
    return name in {"sleep", "hsv_to_rgb", "hls_to_rgb"} or (joins and name == "join")


def _is_in_text(node: cst.CSTNode, *, number: bool) -> bool:
    """``f"run_{draw}"``, and of a number ``"run_" + str(draw)``, ``"run_%d" % draw``,
    ``"run_{}".format(draw)``."""
    if not number:
        return isinstance(node, cst.FormattedString)
    if isinstance(node, cst.Call):
        return last_name(node.func) == "format" and isinstance(node.func, cst.Attribute)
    if not isinstance(node, cst.BinaryOperation):
        return isinstance(node, cst.FormattedString)
    if isinstance(node.operator, cst.Modulo):
        return isinstance(node.left, cst.BaseString)
    sides = (node.left, node.right)
    return isinstance(node.operator, cst.Add) and any(isinstance(x, cst.BaseString) for x in sides)


def _names(node: cst.Arg | cst.Assign | cst.AnnAssign | cst.Param) -> list[str]:
    """What a value is called that is assigned or passed."""
    if isinstance(node, cst.Arg):
        return [node.keyword.value] if node.keyword is not None else []
    if isinstance(node, cst.Assign):
        return [last_name(each.target) for each in node.targets]
    return [node.name.value if isinstance(node, cst.Param) else last_name(node.target)]
