"""Which expressions are datasets of ``tf.data``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definitions
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.definitions import Definition
    from detlint.module import Module

# Libraries that import TensorFlow late hand it out from a module of their own.
_COMPATIBLE = re.compile(r"^(?:[\w.]+\.)?tensorflow\.(?:(?:compat\.v[12]|_api\.v[12]|python)\.)?")
_MAKERS = re.compile(
    r"""tensorflow\.data\.(?!experimental\.(?:\w*[a-z]_\w*|AUTOTUNE)$|Options$|\w*AUTOTUNE$)
      | tensorflow\.(?:contrib\.)?data\.experimental\.make_\w+_dataset$
      | tensorflow_datasets\.load$
      | (?:tensorflow\.)?keras\.(?:utils|preprocessing)\.[\w.]*_dataset_from_(?:directory|array)$
    """,
    re.VERBOSE,
)
_TYPES = frozenset({"tensorflow.data.Dataset", "tensorflow.data.DatasetV2"})
# What no other library's dataset has.
_METHODS = frozenset(
    {
        "as_numpy_iterator",
        "bucket_by_sequence_length",
        "cache",
        "interleave",
        "padded_batch",
        "prefetch",
        "ragged_batch",
        "sparse_batch",
        "with_options",
    }
)
_KEYWORDS = frozenset(
    {"cycle_length", "drop_remainder", "num_parallel_calls", "padded_shapes"}
    | {"reshuffle_each_iteration"}
)
# Methods that give one element for each.
_KEEPING = frozenset({"cache", "enumerate", "map", "prefetch", "shuffle"})


def plain_name(name: str | None) -> str:
    """``tensorflow.compat.v1.data.Options`` → ``tensorflow.data.Options``."""
    return _COMPATIBLE.sub("tensorflow.", name or "")


class TensorFlowDatasets:
    """Answers for one module: by what made a dataset, or by what else is done with it."""

    def __init__(self, module: Module, *, nested: bool = False) -> None:
        self._module = module
        self._definitions = None if nested else Definitions(module)

    def holds(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is certainly a dataset of ``tf.data``."""
        return self._is_made(node, set()) or self._is_treated_as_one(node)

    def _is_made(self, node: cst.CSTNode, seen: set[cst.CSTNode]) -> bool:
        while True:
            if isinstance(node, cst.Call):
                if self._makes(node):
                    return True
                if not isinstance(node.func, cst.Attribute):
                    return False
                node = node.func.value
            elif isinstance(node, cst.Subscript):
                node = node.value
            else:
                break
        if node in seen or not isinstance(node, cst.Name):
            return False
        seen.add(node)
        return any(
            self._is_type(each.annotation)
            or (
                each.kind in ("value", "with")
                and each.node is not None
                and self._is_made(each.node, seen)
            )
            for each in self._module.names.visible(node)
        )

    def _makes(self, call: cst.Call) -> bool:
        if _MAKERS.match(plain_name(self._module.called(call))):
            return True
        definition = self._definitions.of(call.func) if self._definitions is not None else None
        return definition is not None and self._returns_one(definition)

    @staticmethod
    def _returns_one(definition: Definition) -> bool:
        """Whether a function says, or shows, that it returns a dataset."""
        inner = TensorFlowDatasets(definition.module, nested=True)
        returns = definition.node.returns
        if returns is not None:
            return inner._is_type(returns.annotation)
        return any(
            isinstance(each, cst.Return)
            and each.value is not None
            and definition.module.enclosing_function(each) is definition.node
            and inner._is_made(each.value, set())
            for each in definition.module.tree.descendants(definition.node)
        )

    def _is_type(self, annotation: cst.BaseExpression | None) -> bool:
        if isinstance(annotation, cst.SimpleString):
            return str(annotation.evaluated_value).endswith("tf.data.Dataset")
        return plain_name(self._module.qualified_name(annotation)) in _TYPES

    def _is_treated_as_one(self, node: cst.BaseExpression) -> bool:
        """Whether the same chain of calls, or the same variable, is used as only they can be."""
        return any(self._speaks(call) for call in self._calls(node))

    def repeats_before(self, node: cst.Call) -> bool:
        """Whether a dataset has no end where a method is called: ``repeat()`` came before."""
        place = self._module.tree.span(node.func)[1]
        return any(
            isinstance(call.func, cst.Attribute)
            and call.func.attr.value == "repeat"
            and not self._is_number(self._module.argument(call, "count", 0))
            and self._module.tree.span(call.func)[1] < place
            for call in self._calls(node)
        )

    def size(self, node: cst.CSTNode) -> int | None:
        """How many elements a chain of calls gives, where literals tell: ``range(8).repeat(2)``."""
        return self._size(node, set())

    def _size(self, node: cst.CSTNode, seen: set[cst.CSTNode]) -> int | None:
        node = self._module.names.value_of(node)
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return None
        if node in seen:
            return None  # x = x.batch(2)
        seen.add(node)
        first = self._module.literal(node.args[0].value) if node.args else None
        name, method = plain_name(self._module.called(node)), node.func.attr.value
        if name == "tensorflow.data.Dataset.from_tensors":
            return 1
        if name == "tensorflow.data.Dataset.range":
            return first if isinstance(first, int) and len(node.args) == 1 else None
        inner = self._size(node.func.value, seen)
        if method == "repeat" and inner is not None:
            return inner * first if isinstance(first, int) and first > 0 else None
        return inner if method in _KEEPING else None

    def _calls(self, node: cst.BaseExpression) -> Iterator[cst.Call]:
        """The methods called in the same chain, or on the same variable in the function."""
        yield from self._chain(node)
        root = _root(node)
        name = dotted(root)
        if name is None or self._module.qualified_name(root) is not None:
            return
        around = self._module.enclosing_function(node) or self._module.tree.module
        for each in self._module.tree.descendants(around):
            method = isinstance(each, cst.Call) and isinstance(each.func, cst.Attribute)
            if isinstance(each, cst.Call) and method and dotted(_root(each)) == name:
                yield each

    def _is_number(self, count: cst.BaseExpression | None) -> bool:
        value = self._module.literal(count)
        return isinstance(value, int) and value >= 0

    def _chain(self, node: cst.CSTNode) -> Iterator[cst.Call]:
        """The calls of methods that lead to a node, and those that follow it."""
        below: cst.CSTNode = node
        while isinstance(below, cst.Call) and isinstance(below.func, cst.Attribute):
            yield below
            below = below.func.value
        above = self._module.parent(node)
        while isinstance(above, cst.Attribute):
            call = self._module.parent(above)
            if not isinstance(call, cst.Call) or call.func is not above:
                return
            yield call
            above = self._module.parent(call)

    def _speaks(self, call: cst.Call) -> bool:
        method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
        if method in _METHODS:
            return True
        return any(
            (each.keyword is not None and each.keyword.value in _KEYWORDS)
            or plain_name(self._module.qualified_name(each.value)).startswith("tensorflow.data.")
            for each in call.args
        )


def _root(node: cst.CSTNode) -> cst.CSTNode:
    """What a chain of method calls begins with."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return node
