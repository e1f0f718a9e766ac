"""What the calls of a round leave behind, in files and in objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import bound, written
from detlint.dataflow.loops.rounds import Judge, is_same, looped, numbered
from detlint.dataflow.path_conditions import inputs
from detlint.dataflow.slices import closure
from detlint.models import files, names
from detlint.models.containers import ADDING, COMMUTING
from detlint.models.training import BACKWARDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.loops.round_containers import Containers
    from detlint.dataflow.loops.rounds import Round
    from detlint.dataflow.orders.use import Use

_CHANGES = COMMUTING | ADDING | {"update", "setdefault", "pop", "sort"}


class Calls(Judge):
    """Judges what a round calls for its effect."""

    def __init__(self, round_: Round, containers: Containers) -> None:
        super().__init__(round_)
        self._containers = containers

    def on_drop(self, op: Op) -> Iterator[Use]:
        call = op.args[0]
        if call.code == "await":
            call = call.args[0]
        if call.code != "call" or self._orders.messages.is_log(call):
            return
        noted = self._orders.messages.notes(call)
        if "builtins.print" in self._values.called(call):
            yield from looped(call, assumed=noted)
        elif (
            call in self._round.own or self._is_closure(call)
        ) and not self._round.is_unique_match(op):
            for use in self._dropped(call):
                written = self._written_row(call)
                yield written or use._replace(assumed=use.assumed or noted)

    def _written_row(self, call: Op) -> Use | None:
        """``table.writerow([path, size])``."""
        row = call.args[1:] if written(call) in ("write", "writerow") else ()
        named = self._round.names_files(*row[:1])
        return self._orders.tables.written(call, call) if named else None

    def _dropped(self, call: Op) -> Iterator[Use]:
        changes = any(each.code == "change" for each in call.uses)  # which is judged by itself
        stops = self._round.stops and not (changes and written(call) in ADDING)
        if stops or (written(call) in BACKWARDS and self._steps()):
            yield from looped(call)
        elif self._works_alone(call):
            if self._is_of_place(call):
                yield from numbered(call)
            else:
                yield from self._overwritten(call)
        elif self._writes_shared(call) or self._containers.keeps_first(call):
            yield from looped(call)
        else:
            yield from self._unknown(call)

    def _steps(self) -> bool:
        """Whether each round takes a step of an optimizer that was there before."""
        return any(
            op.code == "call"
            and op.args[0].code == "attr"
            and op.args[0].name == "step"
            and op.args[0].args[0] not in self._round.own
            and self._round.outlives(op.args[0].args[0])
            for op in self._round.ops
        )

    def on_function(self, op: Op) -> Iterator[Use]:
        """A function that a decorator hands on, with the element in it."""
        decorated = bool(getattr(op.node, "decorator_list", ()))
        if decorated and self._free(op.name):
            yield from looped(op)

    def on_call(self, call: Op) -> Iterator[Use]:
        """A call whose result is used, and that trains a model or the like on the way."""
        if call not in self._round.own or all(use.code in ("drop", "await") for use in call.uses):
            return
        function = self._values.callee(call)
        if function is not None:
            yield from self._entered(function, call)
        elif call.args[0].code == "attr" and not self._values.called(call):
            owner = call.args[0].args[0]
            if (
                owner not in self._round.own
                and self._round.outlives(owner)
                and names.trains(written(call))
            ):
                yield from looped(call.args[0])

    def _is_closure(self, call: Op) -> bool:
        """Whether a function that is called reads what is computed of the element around it."""
        function = self._values.callee(call)
        return function is not None and bool(self._free(function))

    def _free(self, function: Function) -> set[Op]:
        return {
            op
            for op in function.ops
            if op.code == "free" and any(each in self._round.own for each in op.args)
        }

    def _works_alone(self, call: Op) -> bool:
        """Whether a call changes or writes only a file that the element names."""
        called = self._values.called(call)
        for name in called:
            if name in files.WRITERS:
                place = files.WRITERS[name]
                return len(call.args) > place + 1 and call.args[place + 1] in self._round.own
        function = call.args[0]
        if function.code == "attr" and function.args[0] in self._round.own:
            owner = function.args[0]
            return not (
                self._gives_shared(call)
                or self._appends(call)
                or self._is_group_file(owner)
                or self._round.is_shared(owner)
            )
        return names.works_on_file(written(call))

    def _overwritten(self, call: Op) -> Iterator[Use]:
        """``read(element).to_csv("a.csv")``: the file of the last round stays; assumed where other
        files may be of the same name, or the round reads what it wrote."""
        place = self._place_written(call)
        if place is None or self._round.tells_element(place) or self._grows(call):
            return
        read = any(
            is_same(place, each)
            for other in self._round.ops
            if other.place > call.place
            and other.code == "call"
            and not self._orders.messages.is_log(other)
            for each in other.args[1:]
        )
        yield from looped(call, assumed=read or place in self._round.own)

    def _place_written(self, call: Op) -> Op | None:
        """Where a call writes what it is a method of, or what it is given."""
        for name in self._values.called(call):
            if name in files.WRITERS:
                return call.args[files.WRITERS[name] + 1]
        plain = [each for name, each in call.arguments() if name is None]
        word = written(call)
        writes = word in files.OF_TABLES or (names.writes(word) and word not in files.INTO_FILES)
        method = call.args[0].code == "attr" and call.args[0].args[0] in self._round.own
        return plain[0] if method and writes and plain and self._round.is_place(plain[0]) else None

    def _grows(self, call: Op) -> bool:
        """Whether what is written holds what the rounds before left, too."""
        made = closure(call.args, lambda op: op.args if op.within(self._round.region) else ())
        return any(map(self._round.is_joint, made))

    def _gives_shared(self, call: Op) -> bool:
        """``clip.write_frames(log)``, where ``log`` was there before."""
        return names.writes(written(call)) and any(
            each not in self._round.own and each.code in ("param", "attr") for each in call.args[1:]
        )

    def _appends(self, call: Op) -> bool:
        """``frame.to_csv("all.csv", mode="a")``, to one file for all elements."""
        place = call.args[1] if call.args[1:] else None
        return place not in self._round.own and any(
            given is not None and self._values.constant(given) == value
            for option, value in files.APPENDING.items()
            for given in (call.given(option),)
        )

    def _inserts(self, call: Op) -> bool:
        """``db.execute("INSERT INTO rows VALUES (?)", (element,))``."""
        return any(files.inserts(self._values.constant(each)) for each in call.args[1:2])

    def _is_group_file(self, op: Op) -> bool:
        """``open(name[0] + ".txt", "a")``: several elements may have it."""
        opened = op.args[0] if op.code == "enter" else op
        if "builtins.open" not in self._values.called(opened) or len(opened.args) < 3:
            return False
        place, mode = opened.args[1], opened.args[2].text
        return (mode.startswith("a") and self._round.is_cut(place)) or place not in self._round.own

    def _writes_shared(self, call: Op) -> bool:
        """``json.dump(element, file)`` into one file."""
        function = call.args[0]
        leaves = function.code == "attr" and names.leaves_something(written(call))
        if self._appends(call) or (leaves and self._is_group_file(function.args[0])):
            return True
        return any(name in files.WRITERS for name in self._values.called(call))

    def _unknown(self, call: Op) -> Iterator[Use]:
        function = self._values.callee(call)
        if function is not None:
            yield from self._entered(function, call)
            return
        owner = call.args[0]
        if owner.code == "attr":
            made = owner.args[0]
            if written(call) in _CHANGES:
                return  # judged as such
            if not (self._round.outlives(made) or self._gives_shared(call)):
                return
            own_file = self._is_imported(made) and self._has_own_file(call)
            if own_file or lattice.are(self._values.types(made), "set") or self._is_zip(call, made):
                return
            named = len(call.args) > 2 and call.args[1] in self._round.own
            if written(call) == "register" and named and self._round.is_place(call.args[1]):
                return  # under a name of its own
        elif names.writes(written(call)) and self._tells_only(call):
            if self._is_of_place(call):
                yield from numbered(call)
            return  # a file of its own
        if names.leaves_something(written(call)) or self._inserts(call):
            yield from (numbered if self._is_of_place(call) else looped)(call)

    def _is_of_place(self, call: Op) -> bool:
        """``shutil.copy(name, "train" if i < count else "test")``, in a round of that number."""
        return bool(self._round.of_place(inputs(call))) or self._round.is_chosen(call)

    def _is_imported(self, owner: Op) -> bool:
        """``wavfile``, of ``from scipy.io import wavfile``; ``scipy.io.wavfile``."""
        while owner.code == "attr":
            owner = owner.args[0]
        imported = self._values.unit.imported if owner.code == "global" else {}
        return owner.code == "import" or str(owner.name) in imported

    def _has_own_file(self, call: Op) -> bool:
        """``wavfile.write(path, rate, wave)``, with a path that is made of the element."""
        own = (each for each in call.args[1:] if each in self._round.own)
        placed = any(x not in self._round.elements and self._round.is_place(x) for x in own)
        several = len(call.args) > 2
        return several and placed and names.writes(written(call)) and self._tells_only(call)

    def _is_zip(self, call: Op, owner: Op) -> bool:
        """``archive.write(path, name)``: what an archive holds is found by its name."""
        made = self._effects.made(owner.args[0] if owner.code == "enter" else owner)
        named = written(call) == "writestr" or len(call.args) > 2
        return named and "zipfile.ZipFile" in self._values.called(made)

    def _tells_only(self, call: Op) -> bool:
        """Whether a function is told of the element, and of nothing that was there before."""
        return all(
            each in self._round.own or each.code == "const" or not self._round.outlives(each)
            for each in call.args[1:]
        )

    def _entered(self, function: Function, call: Op) -> Iterator[Use]:
        """What a function of the file leaves behind that the next call meets."""
        given = bound(function, call)
        own = {name for name, value in given.items() if value in self._round.own}
        own |= self._free(function)
        kept = {
            name for name, value in given.items() if name not in own and self._round.outlives(value)
        }
        told = self._round.of_place(given.values())
        placed = {name for name, value in given.items() if value in told}
        placed |= own if self._round.is_chosen(call) else set()
        found = self._effects.of_calls(function, own, kept, self._round, placed)
        if found is not None:
            yield from looped(call, assumed=found.assumed)
