"""Which expressions are sets, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.element_kinds import Kinds
from detlint.analysis.fixpoint import Fixpoint
from detlint.analysis.handlers import handler
from detlint.analysis.kinds import Annotation, Kind
from detlint.analysis.set_uses import elements_by_use
from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.reads import Reads
    from detlint.module import Module
    from detlint.scope import Binding, Scope

_MAKERS = frozenset(f"builtins.{name}" for name in ("set", "frozenset"))
_CLASS_METHODS = frozenset(
    f"{maker}.{name}" for maker in _MAKERS for name in ("union", "intersection", "difference")
)
METHODS = words("copy difference intersection symmetric_difference union")


class Sets:
    """Recognizes sets in one module.

    shared  the kinds of the elements of sets that functions share, by their mentions
    """

    def __init__(self, module: Module, reads: Reads) -> None:
        self._module = module
        self.reads = reads
        self._are_sets = Fixpoint(self._is_set)
        self.kinds = Kinds(module)
        self.shared = self.kinds.shared
        self._parameters: dict[tuple[Scope, str], Binding | None] = {}

    # What is a set

    def is_set(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression is a set, for certain."""
        return node is not None and self._are_sets.holds(node)

    def _is_set(self, node: cst.CSTNode) -> bool:
        if node in self.shared or isinstance(node, cst.Set):
            return True
        judge = handler(self, "is_", node)
        return judge is not None and bool(judge(node))

    def is_set_comp(self, _: cst.CSTNode) -> bool:
        """``{x for x in y}``."""
        return True

    def is_if_exp(self, node: cst.IfExp) -> bool:
        """``a if x else b``."""
        return self.is_set(node.body) and self.is_set(node.orelse)

    def is_named_expr(self, node: cst.NamedExpr) -> bool:
        """``(a := b)``."""
        return self.is_set(node.value)

    def is_call(self, call: cst.Call) -> bool:
        """``set(x)``, ``a.union(b)``."""
        name, func = self._module.called(call), call.func
        if name in _MAKERS or name in _CLASS_METHODS:
            return True
        return (
            isinstance(func, cst.Attribute)
            and func.attr.value in METHODS
            and self.is_set(func.value)
        )

    def is_binary_operation(self, node: cst.BinaryOperation) -> bool:
        """``a - b`` of two sets, or of the keys of a dict."""
        operators = (cst.BitAnd, cst.BitOr, cst.BitXor, cst.Subtract)
        if not isinstance(node.operator, operators):
            return False
        left, right = self.is_set(node.left), self.is_set(node.right)
        return left or right or self._is_view(node.left) or self._is_view(node.right)

    @staticmethod
    def _is_view(node: cst.CSTNode) -> bool:
        """``x.keys()``."""
        if not isinstance(node, cst.Call) or node.args:
            return False
        return isinstance(node.func, cst.Attribute) and node.func.attr.value == "keys"

    def is_name(self, name: cst.Name) -> bool:
        """Whether every value that a read of a local can see is a set."""
        scope = self.reads.home(name)
        if scope is None or not isinstance(scope.node, (cst.FunctionDef, cst.Module)):
            return False
        if not any(map(self._may_be_set, scope.bindings[name.value])):
            return False
        seen = list(self.reads.reaching(name))
        parameter = self._parameter(scope, name.value)
        declared = parameter is not None and _says_set(parameter)
        if parameter is not None and not declared and not self.reads.hides_parameter(name):
            return False
        if not seen:
            return declared
        return all(self._gives_set(statement) for statement in seen)

    def _parameter(self, scope: Scope, name: str) -> Binding | None:
        key = scope, name
        if key not in self._parameters:
            bindings = scope.bindings[name]
            found = (each for each in bindings if each.kind == "parameter")
            self._parameters[key] = next(found, None)
        return self._parameters[key]

    def _may_be_set(self, binding: Binding) -> bool:
        return _says_set(binding) or (binding.kind == "value" and self.is_set(binding.node))

    def _gives_set(self, statement: cst.CSTNode) -> bool:
        if isinstance(statement, cst.Assign):
            targets: list[cst.CSTNode] = [each.target for each in statement.targets]
        elif isinstance(statement, (cst.AnnAssign, cst.NamedExpr)):
            targets = [statement.target]
        else:
            return False
        declared = getattr(statement, "annotation", None)
        if declared is not None and Annotation(declared.annotation).is_set():
            return True
        none = isinstance(statement.value, cst.Name) and statement.value.value == "None"
        plain = all(isinstance(each, cst.Name) for each in targets)
        return plain and (none or self.is_set(statement.value))

    def around(self, node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        """A set, and the sets that an expression around it makes of it."""
        inner: cst.CSTNode | None = node
        while isinstance(inner, cst.BaseExpression) and self.is_set(inner):
            yield inner
            parent = self._module.parent(inner)
            if isinstance(parent, (cst.Attribute, cst.Arg)):
                parent = self._module.parent(parent)
            inner = parent

    def kind(self, node: cst.CSTNode) -> Kind:
        """The kind of a set's elements, by what they are, or by what is done with them."""
        found = self.kinds.elements(node)
        if found in (None, Kind.UNKNOWN):
            found = elements_by_use(self._module, node)
        return found or Kind.UNKNOWN


def _says_set(binding: Binding) -> bool:
    return binding.annotation is not None and Annotation(binding.annotation).is_set()
