"""DET204 set-order."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.kinds import Annotation, Kind
from detlint.analysis.set_text import may_matter
from detlint.rule import Example, Rule, cst

# Half of all files have a brace that may be a set: what looks further is imported when it is asked.
if TYPE_CHECKING:
    from detlint.analysis.distinct import Distinct
    from detlint.analysis.order import Use
    from detlint.analysis.set_reads import SetReads
    from detlint.analysis.sets import Sets
    from detlint.analysis.shared_sets import SharedSets
    from detlint.finding import Edit

_LONGEST = 50


class SetOrder(Rule):
    """Python salts the hashes of strings and bytes anew in every process, and hashes most
    other objects by their address. A set is kept by hash, so what it gives first differs
    from run to run: the classes of a data set get other numbers, and a shuffle of
    `list(set(names))` ends differently whatever its seed. Sort the set where it is read.

    Silent on sets of numbers, whose hashes do not change, and where the elements cannot be
    told; on `sorted(set(x))`, `len`, membership, unions; on loops whose order does not show; on
    what is only printed, or named as something to look up, such as `stop_words`.

    Fix safety: safe where the elements are known to be strings. Others may not compare with
    each other, and then `sorted` raises.
    """

    code = "DET204"
    summary = "the order of a set differs from run to run"
    triggers = (
        "set(",
        "frozenset(",
        "set[",
        "frozenset[",
        "Set[",
        "FrozenSet[",
        "in {",
        "= {",
        "({",
        "[*{",
        ".keys() -",
        ".keys() &",
        ".keys() |",
        ".keys() ^",
    )
    source = "https://docs.python.org/3/reference/datamodel.html#object.__hash__"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                def number_classes(rows):
                    names = list({row["name"].strip() for row in rows})  # DET204
                    return {name: index for index, name in enumerate(names)}
            """,
            fixed="""
                def number_classes(rows):
                    names = sorted({row["name"].strip() for row in rows})
                    return {name: index for index, name in enumerate(names)}
            """,
        ),
        Example(
            bad="""
                import random

                def split(paths: list[str], seed):
                    unique = list(set(paths))  # DET204
                    random.Random(seed).shuffle(unique)
                    return unique[:100], unique[100:]
            """,
            fixed="""
                import random

                def split(paths: list[str], seed):
                    unique = sorted(set(paths))
                    random.Random(seed).shuffle(unique)
                    return unique[:100], unique[100:]
            """,
        ),
        Example(
            bad="""
                def common(left: set[str], right: set[str]):
                    return max(left & right, key=len)  # DET204
            """,
            fixed="""
                def common(left: set[str], right: set[str]):
                    return max(sorted(left & right), key=len)
            """,
        ),
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Whether the token may begin a set that is gone through."""
        return may_matter(text, offset)

    @cached_property
    def _consumption(self) -> Distinct:
        from detlint.analysis.distinct import Distinct

        return Distinct(self.module)

    @property
    def sets(self) -> Sets:
        """The sets of what the rule sees of the file."""
        return self._consumption.sets

    @cached_property
    def _reads(self) -> SetReads:
        from detlint.analysis.set_reads import SetReads

        return SetReads(self.module, self.sets)

    @cached_property
    def _shared(self) -> SharedSets:
        from detlint.analysis.shared_sets import SharedSets

        return SharedSets(self.module)

    # Everything that may go through a set

    def visit_For(self, node: cst.For) -> None:
        self.check(node.iter)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self.check(node.iter)

    def visit_Call(self, node: cst.Call) -> None:
        for argument in node.args:
            self.check(argument.value)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "pop":
            self.check(node.func.value)

    def visit_StarredElement(self, node: cst.StarredElement) -> None:
        self.check(node.value)

    def visit_Assign(self, node: cst.Assign) -> None:
        self.check(node.value)
        if len(node.targets) == 1 and self.sets.is_set(node.value):
            self._judge_shared(node.targets[0].target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        declared = Annotation(node.annotation.annotation).is_set()
        if declared or (node.value is not None and self.sets.is_set(node.value)):
            self._judge_shared(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self.check(node.value)

    def visit_From(self, node: cst.From) -> None:
        self.check(node.item)

    def _judge_shared(self, target: cst.CSTNode) -> None:
        """Judge what all functions of the file do with a set that they share."""
        shared = self._shared.made_by(target)
        if shared is None or shared.kind is None or not shared.kind.varies:
            return
        other = type(self)(shared.module, self.settings)
        other.sets.shared.update(dict.fromkeys(shared.mentions, shared.kind))
        for mention in shared.mentions:
            for each in other.sets.around(mention):
                other.check(each)
        self.findings += [each for each in other.findings if not self._is_told(each[1:3])]

    def _is_told(self, place: tuple[int, int]) -> bool:
        return any(each[1:3] == place for each in self.findings)

    def check(self, node: cst.BaseExpression) -> None:
        """Report an expression if it is a set whose order shows."""
        if not _may_be_set(node) or not self._reads.reads(node):
            return
        kind = self.sets.kind(node) if self.sets.is_set(node) else Kind.UNKNOWN
        use = self._use(node) if kind.varies else None
        if use is None:
            return
        if self._is_told(self.module.source.location(self.module.span(node)[0])):
            return  # functions share it, and it was judged with what fills it
        self.report(
            node,
            f"{self._told(node, kind)} in an order that differs from run to run,"
            f" and here it is {use.how}",
            advice="sort it: sorted(…)",
            edits=self._fix(node),
            safe=kind.sorts,
        )

    def _use(self, node: cst.BaseExpression) -> Use | None:
        """The first place where the order shows, also through a sort that leaves ties."""
        call = self._reads.sorted_with_ties(node)
        if call is None:
            return next(self._consumption.uses(node), None)
        use = next(self._consumption.uses(call), None)
        how = "sorted by a key, which leaves equals as they come"
        return use._replace(how=how) if use is not None else None

    def _told(self, node: cst.BaseExpression, kind: Kind) -> str:
        text = " ".join(self.module.tree.text(node).split())
        shown = f"`{text}`" if len(text) <= _LONGEST else "the set"
        return (
            f"{shown} gives what seem to be strings"
            if kind is Kind.LIKELY
            else f"{shown} gives its {kind.value}"
        )

    def _fix(self, node: cst.BaseExpression) -> tuple[Edit, ...]:
        argument = self.module.parent(node)
        if isinstance(argument, cst.Attribute):
            return ()  # x.pop()
        call = self.module.parent(argument) if isinstance(argument, cst.Arg) else None
        if isinstance(call, cst.Call) and self.module.called(call) == "builtins.list":
            return (self.module.replace(call.func, "sorted"),)
        return (
            self.module.insert_before(node, "sorted("),
            self.module.insert_after(node, ")"),
        )


def _may_be_set(node: cst.BaseExpression) -> bool:
    kinds = (
        cst.Name,
        cst.Call,
        cst.Set,
        cst.SetComp,
        cst.BinaryOperation,
        cst.IfExp,
        cst.NamedExpr,
        cst.Attribute,
    )
    return isinstance(node, kinds)
