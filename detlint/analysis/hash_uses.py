"""What code does with a hash: a number that means something, or a key for this process alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.conditions import Conditions, call_word
from detlint.analysis.reads import Reads
from detlint.analysis.seeding import means_seed, means_seeding
from detlint.analysis.told_seeds import is_told
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.module import Module

# What leaves the number as it is, or nearly so.
_PASSING = ("builtins.abs", "builtins.int", "numpy.abs", "numpy.uint32", "numpy.uint64")
_TEXT = ("builtins.str", "builtins.hex", "builtins.repr", "builtins.format")
_FILES = re.compile(r"(?:^|_)(?:file|filename|path|dir|directory|folder|cache_name|ckpt)(?:_|$)")
_FILE_CALLS = re.compile(
    r"os\.path\.join|os\.(?:makedirs|mkdir)|builtins\.open|pathlib\.Path|(?:torch|numpy)\.(?:save|load)"
)
_MIXING = ("__hash__", "__eq__", "_hash", "hash", "cache_key", "key")


class HashUse(NamedTuple):
    """A use of a hash that differs from run to run; ``how`` is a participle."""

    node: cst.CSTNode
    how: str


class HashUses:
    """Follows hashes in one module, also through one local."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._reads = Reads(module)
        self._conditions = Conditions(module, self._reads)

    def of(self, call: cst.Call) -> HashUse | None:
        """The first use of a hash that shows its value, seeds aside that DET103 tells of."""
        if self._makes_hash(call) or is_told(self._module, call, call):
            return None
        return self._use(call) or self._use_of_local(call)

    def _makes_hash(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in a ``__hash__``, also one given as a lambda."""
        for each in self._module.ancestors(node):
            if isinstance(each, cst.FunctionDef):
                return each.name.value in _MIXING
            if isinstance(each, cst.Assign):
                names = [dotted(target.target) or "" for target in each.targets]
                if any(name.endswith("__hash__") for name in names):
                    return True
        return False

    def _use_of_local(self, call: cst.Call) -> HashUse | None:
        statement = self._module.parent(self._passed(call))
        if not isinstance(statement, cst.Assign):
            return None
        target = statement.targets[0].target
        if not isinstance(target, cst.Name):
            return None
        reads = (
            read
            for read in self._reads.reached(target, statement)
            if not is_told(self._module, read, call)
        )
        return next((use for use in map(self._use, reads) if use is not None), None)

    def _passed(self, node: cst.CSTNode) -> cst.CSTNode:
        """The expression around a hash that is still the same number: ``abs(hash(x))``."""
        while True:
            parent = self._module.parent(node)
            above = self._module.parent(parent) if isinstance(parent, cst.Arg) else None
            if isinstance(parent, cst.UnaryOperation):
                node = parent
            elif isinstance(above, cst.Call) and self._module.called(above) in _PASSING:
                node = above
            else:
                return node

    def _use(self, node: cst.CSTNode) -> HashUse | None:
        """What the expression around a hash does with it."""
        node = self._passed(node)
        parent = self._module.parent(node)
        if self._is_diagnostic(node):
            return None
        if isinstance(parent, cst.BinaryOperation):
            return self._in_arithmetic(parent)
        if isinstance(parent, (cst.Assign, cst.AnnAssign)):
            target = parent.targets[0].target if isinstance(parent, cst.Assign) else parent.target
            name = (dotted(target) or "").rpartition(".")[2]
            return HashUse(parent, f"the seed `{name}`") if means_seed(name) else None
        if isinstance(parent, cst.FormattedStringExpression):
            text = self._module.parent(parent)
            return self._in_file_name(text) if text is not None else None
        return self._as_argument(parent) if isinstance(parent, cst.Arg) else None

    def _is_diagnostic(self, node: cst.CSTNode) -> bool:
        return self._conditions.is_diagnostic(node)

    def _in_arithmetic(self, operation: cst.BinaryOperation) -> HashUse | None:
        """``hash(x) % 10``; adding hashes up may be for a key of this process."""
        operator = operation.operator
        if isinstance(operator, (cst.Modulo, cst.BitAnd)) and not isinstance(
            operation.left, cst.BaseString
        ):
            return HashUse(operation, "cut down to a few numbers")
        if isinstance(operator, (cst.RightShift, cst.Divide, cst.FloorDivide)):
            return HashUse(operation, "cut down to a few numbers")
        if isinstance(operator, cst.Modulo):
            return self._in_file_name(operation)
        return self._use(operation)

    def _as_argument(self, argument: cst.Arg) -> HashUse | None:
        call = self._module.parent(argument)
        if not isinstance(call, cst.Call):
            return None
        name, word = self._module.called(call), call_word(call)
        if name in _TEXT:
            return self._in_file_name(call)
        keyword = argument.keyword.value if argument.keyword is not None else ""
        if means_seed(keyword) or (not keyword and means_seeding(word)):
            return HashUse(call, f"the seed of {word}()")
        return None

    def _in_file_name(self, text: cst.CSTNode) -> HashUse | None:
        """Whether a text names a file: by the local that holds it, or the call that takes it."""
        for each in self._module.ancestors(text):
            if isinstance(each, cst.Call) and _FILE_CALLS.fullmatch(
                self._module.called(each) or ""
            ):
                return HashUse(each, "in the name of a file")
            if isinstance(each, cst.BinaryOperation) and isinstance(each.operator, cst.Divide):
                return HashUse(each, "in the name of a file")
            if isinstance(each, cst.Assign):
                names = [(dotted(t.target) or "").rpartition(".")[2] for t in each.targets]
                return HashUse(each, "in the name of a file") if _names_file(names) else None
            if isinstance(each, cst.FunctionDef):
                break
            if isinstance(each, cst.Return):
                function = self._module.enclosing_function(each)
                named = isinstance(function, cst.FunctionDef) and _names_file([function.name.value])
                return HashUse(each, "in the name of a file") if named else None
            if isinstance(each, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                break
        return None


def _names_file(names: list[str]) -> bool:
    return any(_FILES.search(name.lower()) for name in names)
