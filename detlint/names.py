"""What an expression is: its qualified name, its literal value, the class it is an instance of.

Every answer is certain or absent. A name that different branches bind to
different things has no qualified name, and a value that is not a literal, or a
local bound once to one, is ``UNKNOWN``.
"""

from __future__ import annotations

import builtins
from enum import Enum
from typing import TYPE_CHECKING, Final

import libcst as cst

if TYPE_CHECKING:
    from detlint.bindings import Bindings
    from detlint.scope import Binding

# A chain of aliases longer than this is a cycle: a = b; b = a.
_ALIASES = 20


class Unknown(Enum):
    """The type of ``UNKNOWN``, so that type checkers can tell it from a value."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


class Names:
    """Answers about the expressions of one tree."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._qualified: dict[int, str | None] = {}  # by id: libcst hashes nodes in Python code
        self._visible: dict[int, list[Binding]] = {}

    def qualified_name(self, node: cst.CSTNode | None) -> str | None:
        """``np.random.rand`` → ``numpy.random.rand``; builtins as ``builtins.sorted``.

        Follows imports, aliases (``cudnn = torch.backends.cudnn``) and
        ``getattr(torch, "empty")``. None for what the file itself defines, for
        attributes of objects, and for names that have several meanings.
        """
        if node is None:
            return None
        key = id(node)
        if key not in self._qualified:
            self._qualified[key] = None  # a name defined by itself has no answer
            self._qualified[key] = self._resolve(node)
        return self._qualified[key]

    def _resolve(self, node: cst.CSTNode) -> str | None:
        names: list[str] = []
        while isinstance(node, cst.Attribute):
            names.append(node.attr.value)
            node = node.value
        if isinstance(node, cst.Name):
            root = self._resolve_name(node)
        elif isinstance(node, cst.Call):
            root = self._resolve_getattr(node)
        else:
            root = None
        return None if root is None else ".".join([root, *reversed(names)])

    def _resolve_name(self, node: cst.Name) -> str | None:
        bindings = self.visible(node)
        if not bindings:
            return f"builtins.{node.value}" if hasattr(builtins, node.value) else None
        meanings = {self._meaning(binding) for binding in bindings}
        return meanings.pop() if len(meanings) == 1 else None

    def _meaning(self, binding: Binding) -> str | None:
        if binding.kind == "import":
            return binding.name
        named = isinstance(binding.node, (cst.Name, cst.Attribute, cst.Call))
        return self.qualified_name(binding.node) if binding.kind == "value" and named else None

    def _resolve_getattr(self, call: cst.Call) -> str | None:
        if len(call.args) < 2 or self.qualified_name(call.func) != "builtins.getattr":
            return None
        owner, attribute = self.qualified_name(call.args[0].value), self.literal(call.args[1].value)
        return f"{owner}.{attribute}" if owner and isinstance(attribute, str) else None

    def visible(self, node: cst.Name) -> list[Binding]:
        """What the name may be bound to, stand-ins for failed imports left out."""
        bindings = self._bindings.scope_of(node).lookup(node.value)
        if not bindings:
            return bindings
        if id(bindings) not in self._visible:
            self._visible[id(bindings)] = self._without_stand_ins(bindings)
        return self._visible[id(bindings)]

    def _without_stand_ins(self, bindings: list[Binding]) -> list[Binding]:
        if any(binding.kind == "import" for binding in bindings):
            real = [each for each in bindings if not (each.fallback or self._is_none(each))]
            return real or bindings
        return bindings

    @staticmethod
    def _is_none(binding: Binding) -> bool:
        return isinstance(binding.node, cst.Name) and binding.node.value == "None"

    def value_of(self, node: cst.CSTNode) -> cst.CSTNode:
        """The expression that a local is bound to, if it is bound once; else the node itself."""
        for _ in range(_ALIASES):
            if not isinstance(node, cst.Name):
                break
            bindings = self.visible(node)
            if len(bindings) != 1 or bindings[0].kind != "value" or bindings[0].node is None:
                break
            node = bindings[0].node
        return node

    def definition(self, node: cst.CSTNode) -> cst.ClassDef | cst.FunctionDef | None:
        """The class or function of this file that a name stands for."""
        target = self.value_of(node)
        if not isinstance(target, cst.Name):
            return None
        bindings = self.visible(target)
        if len(bindings) != 1 or bindings[0].kind != "definition":
            return None
        found = bindings[0].node
        return found if isinstance(found, (cst.ClassDef, cst.FunctionDef)) else None

    def literal(self, node: cst.CSTNode | None) -> object:
        """The Python value of a literal, or of a local bound once to one; else UNKNOWN.

        Strings, bytes, numbers, ``True``, ``False``, ``None``, their negations,
        and tuples, lists and sets of them (as tuples, lists and frozensets).
        """
        if node is None:
            return UNKNOWN
        node = self.value_of(node)
        if isinstance(node, cst.Name):
            constants = {"True": True, "False": False, "None": None}
            return constants.get(node.value, UNKNOWN)
        if isinstance(node, (cst.SimpleString, cst.ConcatenatedString, cst.Integer, cst.Float)):
            value = node.evaluated_value
            # A concatenation that holds an f-string evaluates to None.
            return UNKNOWN if value is None else value
        if isinstance(node, cst.UnaryOperation):
            return _negated(node.operator, self.literal(node.expression))
        if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
            return self._collection(node)
        return UNKNOWN

    def _collection(self, node: cst.Tuple | cst.List | cst.Set) -> object:
        values = [self.literal(element.value) for element in node.elements]
        starred = any(isinstance(element, cst.StarredElement) for element in node.elements)
        if starred or UNKNOWN in values:
            return UNKNOWN
        if isinstance(node, cst.List):
            return values
        return tuple(values) if isinstance(node, cst.Tuple) else frozenset(map(repr, values))

    def instance_of(self, node: cst.CSTNode | None) -> str | None:
        """The qualified name of the class or factory that made an object, if it is certain.

        Follows calls, locals bound once, ``with … as``, parameter annotations
        and attributes that a class assigns once to ``self``.
        """
        for _ in range(_ALIASES):
            if isinstance(node, cst.Call):
                return self.qualified_name(node.func)
            if isinstance(node, cst.Attribute):
                node = self._attribute_value(node)
            elif isinstance(node, cst.Name):
                bindings = self.visible(node)
                if len(bindings) != 1:
                    return None
                if bindings[0].annotation is not None:
                    return self.qualified_name(bindings[0].annotation)
                node = bindings[0].node if bindings[0].kind in ("value", "with") else None
            else:
                return None
        return None

    @staticmethod
    def is_self(node: cst.CSTNode) -> bool:
        """Whether an expression is the name ``self``."""
        return isinstance(node, cst.Name) and node.value == "self"

    def _attribute_value(self, node: cst.Attribute) -> cst.CSTNode | None:
        owner = self._bindings.enclosing_class(node)
        if owner is None or not self.is_self(node.value):
            return None
        values = self._bindings.attributes.get(owner, {}).get(node.attr.value, [])
        return values[0] if len(values) == 1 else None


def _negated(operator: cst.BaseUnaryOp, value: object) -> object:
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(operator, cst.Not):
        return not value
    if isinstance(value, (int, float)):
        return -value if isinstance(operator, cst.Minus) else UNKNOWN
    return UNKNOWN
