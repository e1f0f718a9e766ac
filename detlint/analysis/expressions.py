"""What the expressions around an unordered value do with its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.argument import Argument, has_one_order
from detlint.analysis.best_places import is_extreme_of
from detlint.analysis.expectations import asks_kind
from detlint.analysis.mappings import treats_each_alone
from detlint.analysis.order import Flow, Use
from detlint.analysis.pools import slices_only_worked_on
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption


class Expressions:
    """One handler for each class of expression that a value can stand in."""

    def __init__(self, consumption: Consumption) -> None:
        self._all = consumption
        self._module = consumption.module

    # Calls

    def in_arg(self, arg: cst.Arg, flow: Flow) -> Iterator[Use]:
        """An argument of a call, or a base of a class."""
        call = self._module.parent(arg)
        if not isinstance(call, cst.Call):
            return
        given = Argument(self._module, arg, call)
        if self._has_no_order(given):
            return
        if given.shuffles() and self._is_dropped(call):
            yield from self._shuffled(arg.value, flow, Use(call, given.how()))
        elif (
            given.carries_order()
            or treats_each_alone(self._all, arg, call, given.word)
            or (flow.filled and given.pairs_filled_lists())
            or self._all.pairings.pairs_with_itself(call)
        ):
            carried = Flow(call, given.makes_dict() or (flow.keyed and given.copies()))
            yield from self._all.follow(carried)
        elif given.joins():
            for use in self._all.follow(flow.into(call)):
                yield use._replace(how="joined")
        elif self._is_dropped(call) and self._all.functions.ignore_order(
            call, arg.value, keyed=flow.keyed
        ):
            return
        elif given.extends():
            yield from self._all.follow_container(call.func.value, call, flow)  # type: ignore[attr-defined]
        elif not (given.repeats() or self._is_checked(given, flow)):
            written = flow._replace(keyed=flow.keyed and not given.writes_dict())
            yield from written.escapes(call, given.how())

    def _has_no_order(self, given: Argument) -> bool:
        """``len(x)``, ``sorted(zip(x, y))``, ``max(x, key=size)``."""
        return given.ignores_order() or given.is_sorted_after() or self._picks_by_key(given)

    def _picks_by_key(self, given: Argument) -> bool:
        """``max(x, key=os.path.getmtime)``: as of ``sorted``, unless ties are likely."""
        key = self._module.argument(given.call, "key")
        if key is None or not given.is_extreme() or given.leaves_ties():
            return False
        return not self._all.possible or self._all.keys.tell_apart(key)

    def _shuffled(self, value: cst.BaseExpression, flow: Flow, draw: Use) -> Iterator[Use]:
        """``shuffle(x)``, where something uses the order of ``x`` after it."""
        reads = self._all.reads
        later = reads.loads(value) if isinstance(value, cst.Name) else []
        used: list[Use] = []
        for each in later:
            if reads.place(each) > reads.place(value):
                if self._all.sorts(each):
                    break
                used += self._all.follow(flow.into(each))
        if used or not isinstance(value, cst.Name):
            yield draw
        yield from used

    def _is_checked(self, given: Argument, flow: Flow) -> bool:
        """Whether the code makes sure that the call cannot show the order."""
        if given.name == "builtins.next":
            one = self._all.holds_one(flow) or self._all.expects_one(flow)
            asks = asks_kind(self._module, given.call)
            return one or asks or self._all.conditions.only_tested(given.call)
        if given.name in ("builtins.max", "builtins.min", "builtins.sum", "builtins.zip"):
            return False
        # `len(keep_images(os.listdir(d)))`: what the call returns is only reduced.
        if not isinstance(self._module.parent(given.call), (cst.Arg, cst.ComparisonTarget)):
            if given.chooses() or self._all.conditions.draws(given.call):
                return False
            if self._all.conditions.asks_truth(given.call):
                return True
            if not self._is_followed(given.call):
                return False
        return next(self._all.follow(flow.into(given.call)), None) is None

    def _is_dropped(self, call: cst.Call) -> bool:
        return isinstance(self._module.parent(call), cst.Expr)

    def _is_followed(self, call: cst.Call) -> bool:
        """Whether every use of what a call returns is seen: looped over, or read as a local."""
        parent = self._module.parent(call)
        if isinstance(parent, (cst.For, cst.CompFor)) or self._all.sorts(call):
            return True
        if not isinstance(parent, cst.Assign) or len(parent.targets) > 1:
            return False
        target = parent.targets[0].target
        if not isinstance(target, cst.Name):
            return False
        reads = self._all.reads.reached(target, parent)
        return any(not self._all.conditions.is_diagnostic(read) for read in reads)

    # Collections

    def in_element(self, element: cst.Element, flow: Flow) -> Iterator[Use]:
        """An element of a tuple, list or set."""
        outer = self._module.parent(element)
        above = self._module.parent(outer) if outer is not None else None
        if isinstance(outer, cst.Set):
            return
        if isinstance(above, cst.Assign) and isinstance(outer, (cst.Tuple, cst.List)):
            place = list(outer.elements).index(element)
            for target in above.targets:
                sides = getattr(target.target, "elements", ())
                if len(sides) == len(outer.elements):
                    yield from self._all.follow_target(sides[place].value, above, flow)
                    return
        returned = isinstance(above, (cst.Return, cst.Yield))
        yield from flow.escapes(element, "returned" if returned else "stored")

    def in_starred_element(self, element: cst.StarredElement, flow: Flow) -> Iterator[Use]:
        """``[*x]``."""
        outer = self._module.parent(element)
        if outer is not None and not isinstance(outer, cst.Set):
            yield from self._all.follow(flow.into(outer))

    def in_dict_element(self, element: cst.DictElement, flow: Flow) -> Iterator[Use]:
        """``{"files": x}``, unless ``pd.DataFrame({"files": x})`` is sorted, or reduced."""
        arg = self._module.parent(self._module.parent(element) or element)
        call = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        frame = call if self._module.called(call) == "pandas.DataFrame" else None
        followed = isinstance(frame, cst.Call) and self._is_followed(frame)
        uses = self._all.follow(flow.into(frame)) if frame is not None and followed else None
        if uses is None or next(uses, None) is not None:
            yield from flow.escapes(element, "stored")

    def in_starred_dict_element(self, element: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """``{**x}``."""
        outer = self._module.parent(element)
        if outer is not None:
            yield from self._all.follow(flow.into(outer)._replace(keyed=True))

    def in_list_comp(self, outer: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """The element that a comprehension makes is itself unordered."""
        arg = self._module.parent(outer)
        call = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        if self._joins_lists(call, flow):
            yield from self._all.follow(flow.into(call))  # type: ignore[arg-type]
        elif self._module.called(call) not in ("builtins.all", "builtins.any"):
            yield from flow.escapes(outer, "collected")

    in_generator_exp = in_dict_comp = in_list_comp

    def _joins_lists(self, call: cst.CSTNode | None, flow: Flow) -> bool:
        """``sum([glob.glob(x) for x in patterns], [])``."""
        if not isinstance(call, cst.Call) or len(call.args) != len(("parts", "start")):
            return False
        lists = isinstance(call.args[1].value, cst.List) and not flow.keyed
        return lists and self._module.called(call) == "builtins.sum"

    # Operators

    def in_comparison_target(self, target: cst.ComparisonTarget, flow: Flow) -> Iterator[Use]:
        """The right side of a comparison."""
        comparison = self._module.parent(target)
        unordered = isinstance(target.operator, (cst.In, cst.NotIn, cst.Is, cst.IsNot))
        if not unordered and isinstance(comparison, cst.Comparison):
            yield from self._compared(comparison, comparison.left, flow)

    def in_comparison(self, comparison: cst.Comparison, flow: Flow) -> Iterator[Use]:
        """The left side of a comparison."""
        first = comparison.comparisons[0]
        if not isinstance(first.operator, (cst.Is, cst.IsNot)):
            yield from self._compared(comparison, first.comparator, flow)

    def _asks_best(self, call: cst.Call, method: str, owner: cst.BaseExpression) -> bool:
        """``x.max()``, ``x.index(max(x))``."""
        if method == "index" and len(call.args) == 1:
            return is_extreme_of(self._module, call.args[0].value, owner)
        return method in reductions.EXTREMES and not call.args

    def _compared(self, comparison: cst.CSTNode, other: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        best = is_extreme_of(self._module, other, flow.node)
        if not best and not has_one_order(other):
            yield from flow.escapes(comparison, "compared")

    def in_boolean_operation(self, operation: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """``x or default``."""
        if not self._all.conditions.only_tested(operation):
            yield from self._all.follow(flow.into(operation))

    def in_if_exp(self, choice: cst.IfExp, flow: Flow) -> Iterator[Use]:
        """``x if a else b``."""
        if choice.test is not flow.node:
            yield from self._all.follow(flow.into(choice))

    def in_binary_operation(self, operation: cst.BinaryOperation, flow: Flow) -> Iterator[Use]:
        """``x + y``. What a list cannot do, a key view does as a set."""
        value = self._module.names.value_of(flow.node)
        array = (self._module.called(value) or "").startswith("numpy.")
        carries = (cst.Add, cst.Multiply, cst.Modulo)
        if isinstance(operation.operator, carries) or flow.keyed or array:
            yield from self._all.follow(flow.into(operation))

    def in_await(self, node: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """``await x``."""
        yield from self._all.follow(flow.into(node))

    in_concatenated_string = in_await

    def in_formatted_string_expression(self, part: cst.CSTNode, flow: Flow) -> Iterator[Use]:
        """``f"{x}"``."""
        text = self._module.parent(part)
        if text is not None:
            yield from self._all.follow(flow.into(text))

    def in_subscript(self, subscript: cst.Subscript, flow: Flow) -> Iterator[Use]:
        """``x[0]``, ``x[:5]``."""
        target = isinstance(self._module.parent(subscript), cst.AssignTarget)
        if subscript.value is not flow.node or flow.keyed or target:
            return
        index = subscript.slice[0].slice
        if isinstance(index, cst.Slice):
            if index.lower is index.upper is None and index.step is None:
                yield from self._all.follow(flow.into(subscript))
            elif not slices_only_worked_on(self._all, subscript):
                yield Use(subscript, "sliced")
        elif (loop := self._all.indices.parallels.counted_loop(subscript)) is not None:
            yield from self._all.follow_counted(loop)
        elif self._takes_end(subscript) and (
            self._all.expects_one(flow) or asks_kind(self._module, subscript)
        ):
            return
        elif not (self._all.holds_one(flow) or self._all.indices.picks_surely(subscript)):
            yield Use(subscript, "indexed")

    def _takes_end(self, subscript: cst.Subscript) -> bool:
        index = subscript.slice[0].slice
        return isinstance(index, cst.Index) and self._module.literal(index.value) in (0, -1)

    def in_attribute(self, attribute: cst.Attribute, flow: Flow) -> Iterator[Use]:
        """``x.copy()``, ``x.pop()``."""
        method = attribute.attr.value
        if method in reductions.UNORDERED_READS or self._all.sorts(attribute.value):
            return
        call = self._module.parent(attribute)
        if isinstance(call, cst.Call) and self._asks_best(call, method, attribute.value):
            return
        if isinstance(call, cst.Call) and method in ("copy", "keys", "values", "items", "tolist"):
            keyed = flow.keyed and method == "copy"
            yield from self._all.follow(flow.into(call)._replace(keyed=keyed))
        elif isinstance(call, cst.Call) and method in reductions.ORDER_FREE_METHODS:
            yield from self._all.follow(flow.into(call))  # a set again, or a truth value
        elif flow.keyed and method in reductions.KEYED_READS:
            return
        elif method in reductions.OF_ARRAYS:
            yield Use(attribute, "read into an array")
        elif method != "pop":
            yield Use(attribute, f"asked for .{method}")
        elif not (self._all.holds_one(flow) or self._all.conditions.is_worklist(attribute)):
            yield Use(attribute, "asked for .pop()")
