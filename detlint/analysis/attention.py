"""What decides whether a use of FlashAttention matters: its functions and its surroundings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import gradients, phases
from detlint.lexer import spans
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_PACKAGES = frozenset({"flash_attn", "flash_attn_interface", "flash_attn_3"})
_THIRD = re.compile(r"flash_attn_(?:interface|3)\.|.*flash[-_]?attn[-_]?3", re.IGNORECASE)
_FOURTH = re.compile(r"flash_attn\.cute\.|.*flash[-_]?attn[-_]?4", re.IGNORECASE)
# How many arguments each function takes before `deterministic`, in releases without softcap.
# flash-attn 1 called the varlen functions unpadded, with four or five arguments fewer.
FUNCTIONS = {
    "flash_attn_func": 8,
    "flash_attn_qkvpacked_func": 6,
    "flash_attn_kvpacked_func": 7,
    "flash_attn_varlen_func": 12,
    "flash_attn_varlen_qkvpacked_func": 8,
    "flash_attn_varlen_kvpacked_func": 11,
    "flash_attn_unpadded_func": 11,
    "flash_attn_unpadded_qkvpacked_func": 7,
    "flash_attn_unpadded_kvpacked_func": 10,
    # Modules around them, in flash_attn.modules.mha.
    "FlashSelfAttention": 5,
    "FlashCrossAttention": 5,
}
BACKWARDS = frozenset({"_flash_attn_backward", "_flash_attn_varlen_backward"})
_TAKEN = BACKWARDS | FUNCTIONS.keys()

_CACHE = re.compile(r"cache|block_table|page_table|past_key", re.IGNORECASE)

# At the top level: models copied out of a library call a method of theirs the same. What cannot
# be told to be deterministic is a wrapper that a program calls so.
_LIBRARY = re.compile(
    r"^def (?:_?flash_attn_(?:varlen_|unpadded_)?(?:qkvpacked_|kvpacked_)?func\b"
    r"\((?:[^()]|\([^()]*\))*?\bdeterministic\b|_flash_attention_forward\b)",
    re.MULTILINE,
)
_ALIASES = 4  # names that stand for one another
_HUB = "kernels.get_kernel"
_HUB_KERNEL = re.compile(r"flash[-_]?att", re.IGNORECASE)
_HUB_NAME = re.compile(r"[\"'][\w.-]+/[\w.-]*flash[-_]?att[\w-]*", re.IGNORECASE)


def library_function(module: Module, node: cst.BaseExpression) -> str | None:
    """The function of the flash-attn package that an expression names, if it is one.

    Also where branches import it from different releases of the package, where
    it is None until a function imports it, and where the class keeps it on ``self``.
    Of several, the one that takes the fewest arguments before ``deterministic``.
    """
    # Of the same name alone: no trigger stands at the calls of another.
    if (
        isinstance(node, cst.Attribute)
        and node.attr.value in _TAKEN
        and _hub_name(module, node.value) is not None
    ):
        return node.attr.value
    found = {name: _function(name) for name in _names(module, node)}
    known = sorted(each for each in found.values() if each is not None)
    if not known or None in found.values():
        return None
    return min(known, key=lambda each: FUNCTIONS.get(each, 0))


def generation(module: Module, node: cst.BaseExpression) -> int:
    """Which FlashAttention the function is of that an expression names: 2, 3 or 4; of several,
    the earliest."""
    hub = _hub_name(module, node.value) if isinstance(node, cst.Attribute) else None
    names = {hub} if hub is not None else _names(module, node)
    return min((_generation(each) for each in names if each is not None), default=2)


def _generation(name: str) -> int:
    if _FOURTH.match(name):
        return 4
    return 3 if _THIRD.match(name) else 2


def _names(module: Module, node: cst.BaseExpression) -> set[str | None]:
    """The qualified names of what a function's name may stand for."""
    names = {module.qualified_name(node)}
    if isinstance(node, cst.Attribute) and node.attr.value in _TAKEN:
        return _kept(module, node) if module.names.is_self(node.value) else names
    if None in names and isinstance(node, cst.Name):
        return _meanings(module, node) - {"None"}
    return names


def _hub_name(module: Module, node: cst.BaseExpression) -> str | None:
    """The repository of ``get_kernel("kernels-community/flash-attn3")``, or of a module in it:
    also where a function of the file gives it, which may have been narrowed away."""
    made = module.names.value_of(node)
    while isinstance(made, cst.Attribute):
        made = module.names.value_of(made.value)
    if not isinstance(made, cst.Call):
        return None
    if isinstance(made.func, cst.Name) and module.qualified_name(made.func) is None:
        text = module.source.text
        found = _HUB_NAME.search(text) if "get_kernel(" in text else None
        return found[0] if found is not None else None
    if module.called(made) != _HUB:
        return None
    name = module.literal(module.argument(made, "repo_id", 0))
    return name if isinstance(name, str) and _HUB_KERNEL.search(name) else None


def _kept(module: Module, node: cst.Attribute) -> set[str | None]:
    """What a class assigns to an attribute of itself, None left out: ``self.f = flash_attn_func``.

    From the text, since the method that assigns may have been narrowed away.
    """
    owner = module.enclosing_class(node)
    pattern = rf"\bself\.{node.attr.value}\b(?=\s*(?::[^=\n]*)?=[^=])"
    places = [each.start() for each in re.finditer(pattern, module.source.text)]
    around = module.around(places) if owner is not None and places else None
    if owner is None or around is None:
        return set()
    found: set[str | None] = set()
    for inside, attributes in around.bindings.attributes.items():
        if inside.name.value == owner.name.value:
            for value in attributes.get(node.attr.value, []):
                found |= _meanings(around, value)
    return found - {"None"}


def _is_none(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _meanings(module: Module, node: cst.CSTNode | None, depth: int = _ALIASES) -> set[str | None]:
    """The qualified names of all that a name is bound to, in whichever branch."""
    if _is_none(node):
        return {"None"}
    known = module.qualified_name(node)
    if known is not None or not isinstance(node, cst.Name) or not depth:
        return {known}
    found: set[str | None] = set()
    for each in module.names.visible(node):
        if each.kind == "import":
            found.add(each.name)
        else:
            value = each.node if each.kind == "value" else None
            found |= _meanings(module, value, depth - 1)
    return found or {None}


def _function(name: str | None) -> str | None:
    parts = (name or "").split(".")
    known = parts[0] in _PACKAGES and "flash_attn_triton" not in parts
    known = known or parts[0] == "transformers"  # whose modules import it for themselves
    return parts[-1] if known and (parts[-1] in FUNCTIONS or parts[-1] in BACKWARDS) else None


def told(module: Module, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """What a call gives for ``deterministic``; by its place, only a backward's ``False``.

    That follows the window, a tuple, in a place that differs between releases.
    """
    given = module.argument(call, "deterministic")
    if given is not None or name not in BACKWARDS or module.has_unpacking(call):
        return given
    values = [each.value for each in call.args if each.keyword is None]
    windows = [index for index, each in enumerate(values) if isinstance(each, cst.Tuple)]
    after = values[windows[-1] :] if windows else []
    return next((each for each in after if module.literal(each) is False), None)


def has_no_backward(module: Module, call: cst.Call, *, forward: bool = False) -> bool:
    """Whether a call is inference: without gradients, or with a cache of keys and values.

    ``forward`` as for ``phases.answers``.
    """
    for argument in call.args:
        words = [argument.keyword.value] if argument.keyword is not None else []
        words += _words(module, argument.value)
        if any(_CACHE.search(word) for word in words):
            return True
    if phases.answers(module, call, forward=forward):
        return True
    if not forward and phases.asserts_no_gradient(module, call):
        return True
    return records_none(module, call)


def records_none(module: Module, node: cst.CSTNode) -> bool:
    """Whether a node lies where no gradients are recorded."""
    return any(_stops_gradients(module, above) for above in module.ancestors(node))


def _stops_gradients(module: Module, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.With):
        return any(gradients.stops(module, item.item) for item in node.items)
    if isinstance(node, cst.FunctionDef):
        return any(gradients.stops(module, each.decorator) for each in node.decorators)
    return False


def registers_backend(module: Module, node: cst.CSTNode) -> bool:
    """Whether a node lies in a function that a decorator registers: choosing it is up to others."""
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            for each in above.decorators:
                if any("regist" in name for name in _words(module, each)):
                    return True
    return False


def _words(module: Module, node: cst.CSTNode) -> list[str]:
    return [each.value for each in module.tree.descendants(node) if isinstance(each, cst.Name)]


# The text, not the tree: the functions concerned may have been narrowed away.


def defines_library(module: Module) -> bool:
    """Whether the file defines FlashAttention's own functions, or Hugging Face's around them."""
    return _LIBRARY.search(module.source.text) is not None


def sets(module: Module, variable: str, value: str) -> bool:
    """Whether the file sets an environment variable, in any of the ways that show both texts."""
    pattern = (
        rf"(?<!get\([\"'])(?<!getenv\([\"']){variable}[\"']?(?!\W*==)[\s\]),:=]*[\"']?{value}\b"
    )
    return _in_code(module, pattern)


def says(module: Module, pattern: str) -> bool:
    """Whether the pattern occurs in the file, outside comments and docstrings."""
    return _in_code(module, pattern)


def _in_code(module: Module, pattern: str) -> bool:
    text = module.source.text
    found = [match.start() for match in re.finditer(pattern, text)]
    if not found:
        return False
    hidden = [
        (start, end)
        for start, end, kind in spans(text)
        if kind == "comment"
        or (kind == "triple" and not text[text.rfind("\n", 0, start) + 1 : start].strip())
    ]
    return any(not any(start <= place < end for start, end in hidden) for place in found)
