"""Which expressions are ``pathlib.Path`` objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.analysis.definitions import Definitions, is_plain
from detlint.analysis.handlers import handler
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module
    from detlint.scope import Binding

_CLASSES = ("Path", "PosixPath", "WindowsPath")
_MADE = frozenset(
    (
        *(f"pathlib.{name}" for name in _CLASSES),
        *(f"pathlib.{name}.{made}" for name in _CLASSES for made in ("cwd", "home")),
    )
)
# Methods of a path that return a path.
_METHODS = frozenset(
    (
        *("absolute", "expanduser", "joinpath", "readlink", "relative_to", "rename", "replace"),
        *("resolve", "with_name", "with_segments", "with_stem", "with_suffix"),
    )
)
_LISTINGS = frozenset(("iterdir", "glob", "rglob"))
_CARRYING = frozenset(("builtins.sorted", "builtins.list", "builtins.iter", "builtins.reversed"))
# An object that has a method `glob`, and is called so, is one.
_NAMED = re.compile(r"(?:^|_)(?:dir|directory|folder|path|root)$", re.IGNORECASE)
_DEPTH = 20
_CALLS = 2  # functions that return what another one does


class Paths:
    """Answers for the expressions of one module; a path for certain, or not."""

    def __init__(self, module: Module, depth: int = 0) -> None:
        self._module = module
        self._depth = depth
        self._definitions = Definitions(module)
        self._asked: set[cst.CSTNode] = set()

    def is_path(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression is a ``pathlib.Path``."""
        if node is None or node in self._asked or len(self._asked) > _DEPTH:
            return False  # a name defined by itself is left to its other definitions
        self._asked.add(node)
        judge = handler(self, "is_", node)
        try:
            return judge is not None and bool(judge(node))
        finally:
            self._asked.discard(node)

    def is_binary_operation(self, node: cst.BinaryOperation) -> bool:
        """``root / "train"``."""
        divides = isinstance(node.operator, cst.Divide)
        return divides and (self.is_path(node.left) or self.is_path(node.right))

    def is_attribute(self, node: cst.Attribute) -> bool:
        """``path.parent``, ``self.root``."""
        own = node.attr.value == "parent" and self.is_path(node.value)
        return own or self._is_path_attribute(node)

    def is_subscript(self, node: cst.Subscript) -> bool:
        """``path.parents[1]``."""
        value = node.value
        if not isinstance(value, cst.Attribute) or value.attr.value != "parents":
            return False
        return self.is_path(value.value)

    def is_named_expr(self, node: cst.NamedExpr) -> bool:
        """``(root := Path(x))``."""
        return self.is_path(node.value)

    def is_if_exp(self, node: cst.IfExp) -> bool:
        """``a if x else b``."""
        return self.is_path(node.body) and self.is_path(node.orelse)

    def is_call(self, call: cst.Call) -> bool:
        """``Path(x)``, ``path.resolve()``."""
        if self._module.called(call) in _MADE:
            return True
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value in _METHODS:
            return self.is_path(func.value)
        return self._returns_path(func)

    def _returns_path(self, function: cst.BaseExpression) -> bool:
        """``self.folder_of(x)``, whose code says ``return Path(x) / "train"``."""
        found = self._definitions.of(function) if self._depth < _CALLS else None
        if found is None or not is_plain(found.node):
            return False
        inner = Paths(found.module, self._depth + 1)
        declared = found.node.returns
        if declared is not None:
            return inner.means_path(declared.annotation)
        below = found.module.tree.descendants(found.node.body)
        own = (x for x in below if found.module.enclosing_function(x) is found.node)
        values = [each.value for each in own if isinstance(each, cst.Return)]
        return bool(values) and all(map(inner.is_path, values))

    def is_name(self, name: cst.Name) -> bool:
        """A local or parameter that only ever is one."""
        bindings = self._module.names.visible(name)
        certain = [binding for binding in bindings if self._is_path_binding(binding)]
        others = (binding for binding in bindings if binding not in certain)
        # `root = Path(root)`: what the caller gave is one no longer.
        return bool(certain) and all(
            binding.kind == "parameter" or self._is_none(binding) for binding in others
        )

    def _is_path_binding(self, binding: Binding) -> bool:
        if binding.annotation is not None and self.means_path(binding.annotation):
            return True
        if binding.kind == "value":
            return self.is_path(binding.node)
        return binding.kind == "loop" and self._lists_paths(binding.node)

    @staticmethod
    def _is_none(binding: Binding) -> bool:
        return isinstance(binding.node, cst.Name) and binding.node.value == "None"

    def means_path(self, annotation: cst.BaseExpression) -> bool:
        """``Path``, ``Path | None``, ``"Path"``; in ``str | Path`` only one has path methods."""
        for each in self._module.tree.descendants(annotation):
            if isinstance(each, cst.SimpleString):
                return bool(re.search(r"\bPath\b", each.raw_value)) and self._imports_path()
            if isinstance(each, cst.Subscript) and isinstance(each.value, cst.Name):
                container = self._module.qualified_name(each.value) or ""
                if not container.startswith("typing."):
                    return False  # list[Path]
                if container.rpartition(".")[2] not in ("Optional", "Union", "Annotated"):
                    return False
            if self._module.qualified_name(each) in _MADE:
                return True
        return False

    def _lists_paths(self, iterable: cst.CSTNode | None) -> bool:
        while isinstance(iterable, cst.Call):
            func = iterable.func
            if isinstance(func, cst.Attribute) and func.attr.value in _LISTINGS:
                return func.attr.value != "glob" or self.is_path(func.value)
            carries = self._module.called(iterable) in _CARRYING
            iterable = iterable.args[0].value if carries and iterable.args else None
        return False

    def _is_path_attribute(self, node: cst.Attribute) -> bool:
        """``self.root``, judged by the text of its assignments: its class may be cut away."""
        owner = node.value
        if not (isinstance(owner, cst.Name) and owner.value in ("self", "cls")):
            return False
        made = r"(?:pathlib\.)?Path\("
        declared = r":[^=\n,()]*\bPath\b"
        pattern = rf"\b{node.attr.value}\s*(?:{declared}|(?::[^=\n]*)?=\s*{made})"
        found = re.search(pattern, self._module.source.text)
        return found is not None and self._imports_path()

    def is_named_so(self, node: cst.BaseExpression) -> bool:
        """Whether it is a variable or attribute by the name of a path, and not known to be
        anything else: ``data_dir.glob("*.txt")``."""
        name = node.attr if isinstance(node, cst.Attribute) else node
        if not isinstance(name, cst.Name) or _NAMED.search(name.value) is None:
            return False
        if isinstance(node, cst.Name):
            bindings = self._module.names.visible(node)
            return bool(bindings) and all(map(self._may_be_path, bindings))
        return isinstance(node.value, cst.Name) if isinstance(node, cst.Attribute) else False

    def _may_be_path(self, binding: Binding) -> bool:
        """A parameter, or what a function out of sight gave; the name of a class begins large."""
        if binding.annotation is not None or binding.kind not in ("parameter", "value", "loop"):
            return False
        made = binding.node
        if binding.kind != "value":
            return True
        if not isinstance(made, cst.Call) or not call_word(made)[:1].islower():
            return False
        return self._definitions.of(made.func) is None

    def _imports_path(self) -> bool:
        pattern = re.compile(r"^\s*(?:from pathlib import|import pathlib)\b", re.MULTILINE)
        return pattern.search(self._module.source.text) is not None
