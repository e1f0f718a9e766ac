"""Generators of which code takes nothing but the bits of identifiers, which have to differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.analysis.seeding import target_name
from detlint.analysis.uses import words
from detlint.mentions import mentions
from detlint.models.names import words_of
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.analysis.generators import Holder
    from detlint.module import Module

_BITS = frozenset(("getrandbits", "randbytes"))
# What draws nothing.
_STATE = frozenset(("getstate", "seed", "setstate"))
_KEEPING = frozenset(("add", "discard", "remove"))
_IDENTIFIERS = words("fingerprint fingerprints id ids name names nonce token tokens uuid uuids")
_FORMATTING = ("builtins.format", "builtins.hex", "builtins.str")


def makes_identifiers(module: Module, held: Holder) -> bool:
    """Whether every visible draw from a generator makes an identifier, and there is one."""
    if held.method or len(held.names) != 1:
        return False
    name = held.names[0].rpartition(".")[2]
    if held.function is not None:
        return _draw_identifiers(module, module.tree.descendants(held.function), name)
    text = module.source.text
    if not any(f".{bits}(" in text for bits in _BITS):
        return False
    around = module.around(mentions(text, name))
    return around is not None and _draw_identifiers(around, around.tree.nodes, name)


def _draw_identifiers(module: Module, nodes: Iterable[cst.CSTNode], name: str) -> bool:
    """Whether the mentions of a name or an attribute among some nodes do nothing else."""
    found = [_outer(module, each) for each in nodes if _is_name(each, name)]
    methods = {each: _method(module, each) for each in found}
    draws = [each for each, method in methods.items() if method not in {"", *_STATE}]
    others = [each for each, method in methods.items() if not method]
    return (
        bool(draws)
        and all(methods[each] in _BITS and _is_identifier(module, each) for each in draws)
        and all(_is_kept(module, each) for each in others)
    )


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _outer(module: Module, name: cst.CSTNode) -> cst.CSTNode:
    """``self.rng`` for its ``rng``."""
    parent = module.parent(name)
    return parent if isinstance(parent, cst.Attribute) and parent.attr is name else name


def _method(module: Module, generator: cst.CSTNode) -> str:
    """The method that is called on a generator; empty for any other mention."""
    attribute = module.parent(generator)
    call = module.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    called = isinstance(call, cst.Call) and call.func is attribute
    return call_word(call) if called and isinstance(call, cst.Call) else ""


def _is_kept(module: Module, generator: cst.CSTNode) -> bool:
    """Whether a mention assigns the generator, or puts it where it is seeded anew: ``all.add``."""
    parent = module.parent(generator)
    if isinstance(parent, (cst.AnnAssign, cst.AssignTarget, cst.Global, cst.NameItem)):
        return True
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and call_word(call) in _KEEPING


def _is_identifier(module: Module, generator: cst.CSTNode) -> bool:
    """Whether a draw is formatted into a text, or stands where a name says what it makes."""
    for each in module.ancestors(generator):
        if isinstance(each, cst.FormattedStringExpression) or _formats(module, each):
            return True
        targets = [target.target for target in getattr(each, "targets", ())]
        names = [target_name(module, target) for target in targets]
        if isinstance(each, (cst.FunctionDef, cst.ClassDef)):
            names.append(each.name.value)
        if any(not _IDENTIFIERS.isdisjoint(words_of(name)) for name in names):
            return True
    return False


def _formats(module: Module, node: cst.CSTNode) -> bool:
    """``hex(x)``, ``"{:x}".format(x)``, ``"%x" % x``, ``x.hex()``."""
    if isinstance(node, cst.Call):
        return module.called(node) in _FORMATTING or call_word(node) in ("format", "hex")
    text = isinstance(node, cst.BinaryOperation) and isinstance(node.left, cst.BaseString)
    return text and isinstance(getattr(node, "operator", None), cst.Modulo)
