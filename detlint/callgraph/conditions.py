"""Whether what a line of a program needs is there: the arguments that calls pass, and options."""

from __future__ import annotations

from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.need import Need
from detlint.dataflow.learning.inference import decorators
from detlint.dataflow.slices import closure
from detlint.index.facts import (
    HANDED_ON,
    IN_FILE,
    NEVER,
    OF_EXPERIMENT,
    ONCE,
    UNKNOWN,
    UNSET,
    is_by_default,
    is_met_once,
    is_never_met,
    is_of_field,
    is_of_module,
    option_needed,
    runs_with,
)
from detlint.index.modules import Symbol
from detlint.index.scan import ALWAYS_CALLED, MAIN
from detlint.models.experiments import SEED
from detlint.models.roles import FILLS
from detlint.syntax.mentions import words

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from detlint.callgraph.closure import Closure
    from detlint.dataflow.ir import Function, Op
    from detlint.index.facts import Fact, Receiver

_DEEPEST = 30  # functions that call each other, between a program and what it does
_MANY = 60  # parts that name a method: some object of its class is among them
_CONSTRUCTOR = "__init__"
_MAY_BE = (True, UNKNOWN, HANDED_ON)  # what a call may pass, as far as it is seen
_EITHER = "BooleanOptional"  # of argparse: it has a flag `--no-shuffle`, too
_BY_CALLING = ("forward", "__call__")  # methods that run where an object is called


class Conditions:
    """Answers for one program."""

    def __init__(self, closure: Closure) -> None:
        self._closure = closure
        self._path = closure.path
        self._paths = closure.paths
        self._project = closure.project
        self._index = closure.index
        self._passed: dict[tuple[str, bool], bool] = {}
        self._used: dict[tuple[str, str, bool], int] = {}
        self._called: dict[tuple[str, str], bool] = {}
        self._asked: dict[bool, dict[tuple[str, str], bool]] = {True: {}, False: {}}
        self._objects: dict[tuple[Symbol, tuple[str, ...]], bool] = {}

    def doubt(self, needs: Sequence[str], *, surely: bool) -> int:
        """0 where all that something needs may be passed, UNSET where no option of the program, or
        constant of another module, is set so, ONCE where a file is not there yet, NEVER where no
        call passes it."""
        unmet = self._unmet(needs, surely=surely)
        if not unmet:
            return 0
        if all(map(is_met_once, unmet)):
            return ONCE
        # What settles a matter asks about a field as an option as well.
        as_option = any(is_by_default(each) for each in unmet)
        optional = all(
            option_needed(x)
            or is_by_default(x)
            or is_of_module(x)
            or (as_option and is_of_field(x))
            for x in unmet
        )
        return UNSET if optional else NEVER

    def option_unset(self, needs: Sequence[str]) -> tuple[str, str]:
        """The first option that something needs and nothing sets, of what settles a matter, as
        messages say when that takes place, and what has it do so; "" where it is not known."""
        need = self._need_unset(needs)
        if not need:
            return "", ""
        option, runs = option_needed(need), partial(runs_with, need)
        value = "0" if runs(0) else next(iter(Need.parse(need).compared), "1")
        if not (flag := self._flag(option)):
            value = "True" if "seed" not in option.lower() and runs(True) else value
            shown = f"the setting {option}"
            return f"with {shown}, which is off by default", f"set {option} to {value} by default"
        action, shown = self._flags[flag], f"--{flag}"
        if action and not runs(gives := action != "store_false"):
            if action != _EITHER:  # the default is what it gives, too
                word, now, other = ("without", "on", "off") if gives else ("with", "off", "on")
                said = f"{word} {shown}, which is {now} by default, and no option turns it {other}"
                return said, f"let {shown} be {not gives} by default"
            shown = f"--no-{flag}"
        given = shown if action else f"{shown} {value}".replace("'", "")
        return f"with {shown}, which is off by default", f"pass {given}, or make that the default"

    def is_left_to_files(self, needs: Sequence[str]) -> bool:
        """Whether code shows no such option, and configurations hold one of that name that is not
        simply left out, ``seed: null``: it may be another."""
        need = self._need_unset(needs)
        if not need or self._flag(option := option_needed(need)):
            return False
        if self._is_off_in_code(need) or self._is_off_in_fields(need):
            return False
        return not self._project.leaves_unset(option)

    def _need_unset(self, needs: Sequence[str]) -> str:
        unmet = (x for x in self._unmet(needs, surely=False) if not is_met_once(x))
        return next(filter(option_needed, unmet), "")

    def _unmet(self, needs: Sequence[str], *, surely: bool) -> list[str]:
        return [each for each in needs if not self._may_pass(each, surely=surely)]

    def doubt_of_uses(self, path: str, part: str, depth: int = 0, *, default: bool) -> int:
        """The same of what a function or class needs to be used, by the places where that is."""
        key = path, part, default
        if part in ("", MAIN) or depth > _DEEPEST:
            return 0
        if key not in self._used:
            self._used[key] = 0  # one that uses itself settles nothing
            owner = part.rpartition(".")[0]
            around = self.doubt_of_uses(path, owner, depth + 1, default=default)
            least = self._least_doubt(path, part, depth + 1, default=default)
            self._used[key] = max(around, least)
        return self._used[key]

    def is_unused(self, path: str, part: str) -> bool:
        """Whether nothing gives what a function or class needs, wherever it is named."""
        return self._least_doubt(path, part, _DEEPEST + 1, default=False) == NEVER

    def _least_doubt(self, path: str, part: str, depth: int, *, default: bool) -> int:
        name, found = part.rpartition(".")[2], []
        reach = self._closure.reach
        users = [each for each in reach.users(path, part) if each[0] in self._closure]
        for file, user in users:
            if reach.runs(self._path, file, user):
                uses = self._index.uses(file, name, default=default)
                here = [x for row, x in uses if not row or self._index.part_at(file, row) == user]
                if not here and "." not in part:
                    continue  # who only says of which type something is makes none
                told = min((self.doubt(needs, surely=not default) for needs in here), default=0)
                found.append(max(told, self.doubt_of_uses(file, user, depth, default=default)))
                if not found[-1]:
                    break
        return min(found, default=0)

    def may_be_called(self, path: str, part: str) -> bool:
        """Whether a function, or something that one does not see, leads to a method, as far as
        methods are called on what may be objects of their classes."""
        start = path, part
        if start not in self._called:
            self._called[start] = self._is_led_to(start)
        return self._called[start]

    def _is_led_to(self, start: tuple[str, str]) -> bool:
        met, pending = {start}, [start]
        for path, part in pending:  # grows
            method = Symbol(path, part)
            by_name = "." in part and part.rpartition(".")[2] not in ALWAYS_CALLED
            users = self._running_users(path, part) if by_name else []
            if not 0 < len(users) <= _MANY or self._project.is_called_unseen(method):
                return True
            fresh = [each for each in dict.fromkeys(users) if each not in met]
            fresh = [each for each in fresh if self._calls_on(*each, method)]
            met.update(fresh)
            pending += fresh
        return False

    def is_asked_for(self, path: str, fact: Fact, often: Container[str], *, chosen: bool) -> bool:
        """Whether the program's own file leads to a fact of another one, and what leads there
        is not of training alone. An object is taken to be asked for what it gives ``often``;
        ``chosen``: and what uses a table for any function that this holds."""
        part = self._index.part_at(path, fact.row)
        # What a model draws at first, a checkpoint replaces.
        drawn_once = fact.what == "torch" and fact.method == _CONSTRUCTOR
        if drawn_once and any(self._closure.holding(*FILLS)):
            return False
        start = path, _called_for(part, fact.place, often)
        if not self.may_be_asked(path, fact.place):
            return False
        asked = self._asked[chosen]
        if start not in asked:
            asked[start] = self._is_called_from_start(start, often, chosen=chosen)
        return asked[start]

    def _is_called_from_start(
        self, start: tuple[str, str], often: Container[str], *, chosen: bool
    ) -> bool:
        met, pending, asked = {start}, [start], self._asked[chosen]
        for each in pending:  # grows
            tables = self._users_of_tables(*each) if chosen else ()
            for user in (*self._sure_callers(*each, often), *tables):
                if user[0] == self._path or asked.get(user) or self._is_named(*user):
                    return True
                if user not in met and user not in asked:
                    met.add(user)
                    pending.append(user)
        asked.update(dict.fromkeys(met, False))
        return False

    def _users_of_tables(self, path: str, part: str) -> Iterator[tuple[str, str]]:
        """What uses a table that is written out and holds a function, or that its decorator puts
        it into."""
        unit = self._index.units.of(path)
        if part in ("", MAIN) or not unit.defines(part):
            return
        function = unit.defined(part)
        for each in decorators(function) if function is not None else ():
            for home, maker in self._meant_by(each):
                yield from _users_of_registry(home, maker)
        for file, user in self._running_users(path, part):
            if self._is_table(file, user):
                yield from self._running_users(file, user)

    def _meant_by(self, decorator: Op) -> Iterator[tuple[str, Function]]:
        """The functions of the project that a decorator is, or calls, with their files."""
        unit = decorator.function.unit
        name = decorator.args[0] if decorator.code == "call" else decorator
        for each in unit.values.qualified(name):
            for symbol in self._project.defined(unit.source.path, each):
                maker = self._index.units.of(symbol.path).defined(symbol.part)
                if maker is not None:
                    yield symbol.path, maker

    def _is_table(self, path: str, part: str) -> bool:
        apart = part not in ("", MAIN, *self._index.outline(path).classes) and "." not in part
        return apart and not self._index.units.of(path).defines(part)

    def _is_named(self, path: str, part: str) -> bool:
        """Whether the program's own file names a method and its class."""
        owner, _, method = part.partition(".")
        own = words(self._closure.source.text) if method else ()
        return method in own and owner in own and owner in self._index.outline(path).classes

    def _sure_callers(
        self, path: str, part: str, often: Container[str]
    ) -> Iterator[tuple[str, str]]:
        owner, _, word = part.rpartition(".")
        if owner and word in ALWAYS_CALLED:
            if word in often:
                yield path, owner
            return
        for file, user in self._running_users(path, part) if part not in ("", MAIN) else ():
            calls = self._index.calls(file, word)
            here = [place for row, place in calls if self._index.part_at(file, row) == user]
            ways = [each for each in here if self.may_be_asked(file, each)]
            if ways and (not owner or self._calls_on(file, user, Symbol(path, part), surely=True)):
                yield from ((file, _called_for(user, each, often)) for each in ways)

    def may_be_asked(self, path: str, place: str) -> bool:
        """Whether a place, if it stands in the forward of a class, may run: an object of that is
        called, or gets to where one does not see what becomes of it."""
        owner, _, method = place.rpartition(".")
        if not owner or method not in _BY_CALLING:
            return True
        symbol = Symbol(path, owner)
        methods = {
            part.rpartition(".")[2]
            for each in self._project.lineage(symbol)
            for part in self._index.outline(each.path).uses
            if part.startswith(f"{each.part}.")
        }
        return self._may_call_objects(symbol, *sorted(methods))

    def gets_about(self, method: Symbol) -> bool:
        """Whether objects may get to where one does not see that a method of theirs is called, or
        where one sees it."""
        owner, _, word = method.part.partition(".")
        return not word or self._may_call_objects(Symbol(method.path, owner), word)

    def _may_call_objects(self, symbol: Symbol, *methods: str) -> bool:
        """Whether objects of a class may be called, or by some methods, or get to where one does
        not see what becomes of them."""
        asked = symbol, methods
        if asked not in self._objects:
            users = self._closure.reach.users(*symbol)
            files = sorted({x for x, part in users if x in self._closure and part != symbol.part})
            files = [each for each in files if self._index.holds(each, [symbol.part])]
            ways = (self._index.may_call(each, symbol.part, methods) for each in files)
            self._objects[asked] = not files or any(ways)
        return self._objects[asked]

    def _running_users(self, path: str, part: str) -> list[tuple[str, str]]:
        reach = self._closure.reach
        found = (each for each in reach.users(path, part) if each[0] in self._closure)
        return [each for each in found if reach.runs(self._path, *each)]

    def _calls_on(self, file: str, user: str, method: Symbol, *, surely: bool = False) -> bool:
        """Whether a part of a file looks a method up in what may be an object of its class;
        ``surely``: one whose class is known."""
        told = self._index.receivers(file, method.part.rpartition(".")[2])
        here = [each for each in told if self._index.part_at(file, each.row) == user]
        asked = [each for each in here if each.owners] if surely else here
        return not (here or surely) or any(self._may_be_of(file, x, method) for x in asked)

    def _may_be_of(self, file: str, receiver: Receiver, method: Symbol) -> bool:
        # What derives from a class may keep another object in an attribute.
        if self._is_derived(receiver.keeper):
            return True
        if not receiver.owners:  # an attribute is not given what stays elsewhere
            return not receiver.keeper or self.gets_about(method)
        return any(self._project.may_mean(file, each, method) for each in receiver.owners)

    def _is_derived(self, name: str) -> bool:
        found = self._closure.reach.deriving.get(name, ())
        return not self._closure.members.isdisjoint(found)

    def _may_pass(self, need: str, *, surely: bool) -> bool:
        """Whether a call may pass an argument: one does, or none is to be seen. ``surely``: one
        of which the text shows that it runs, if there is any. Of an option, whether something
        that runs, or a configuration of the project, may set it."""
        asked = need, surely
        if is_never_met(need) or is_met_once(need):
            return False
        if need == OF_EXPERIMENT:
            return self._seeds_experiment
        if asked not in self._passed:
            self._passed[asked] = False  # a call of itself that hands it on settles nothing
            option = option_needed(need)
            self._passed[asked] = (
                bool(option) and self._may_be_set(option, need, surely=surely)
            ) or self._is_given(need, surely=surely)
        return self._passed[asked]

    @cached_property
    def _seeds_experiment(self) -> bool:
        """Whether the configuration of its experiment may have a seed."""
        told = [
            fact.what
            for path in self._paths
            if "experiment_seeds" in self._index.kinds(path)
            for _, fact in self._index.facts(path, "experiment_seeds")
        ]
        self._closure.configured |= IN_FILE in told
        in_files = IN_FILE in told and self._project.configures(SEED, OF_EXPERIMENT)
        return in_files or any(each != IN_FILE for each in told)

    def is_unseen(self, need: str) -> bool:
        """Whether no call is sure to pass something, and one may: a dict that is not seen, or what
        is None on one branch."""
        needs = set(closure([need], self._handed_on))
        told = {given for each in needs for given in self._given(each, surely=True)}
        return UNKNOWN in told and told <= {False, UNKNOWN, *needs}

    def _handed_on(self, need: str) -> Iterator[str]:
        """What functions that run need to hand on what something needs."""
        reach = self._closure.reach
        for *at, each, _ in self._project.given(need, self._paths):
            if isinstance(each, str) and each not in _MAY_BE and reach.runs(self._path, *at):
                yield each

    def _given(self, need: str, *, surely: bool = False) -> list[bool | str]:
        """What calls pass that may run."""
        reach = self._closure.reach
        calls = self._project.given(need, self._paths)
        running = [each for each in calls if reach.may_run(self._path, *each[:2])]
        if surely:
            sure = [each for each in running if reach.runs(self._path, *each[:2])]
            running = sure or running
        return [
            given is not False and not self._unmet(needs, surely=surely) and given
            for *_, given, needs in running
        ]

    def _is_given(self, need: str, *, surely: bool) -> bool:
        calls = self._given(need, surely=surely)
        unseen = not calls and not (option_needed(need) and Need.parse(need).unset)
        return unseen or any(self._gives(each, surely=surely) for each in calls)

    def _gives(self, given: bool | str, *, surely: bool) -> bool:
        """Whether what a call passes may be what something needs."""
        return given in _MAY_BE or (isinstance(given, str) and self._may_pass(given, surely=surely))

    def _may_be_set(self, option: str, need: str, *, surely: bool) -> bool:
        """Whether an option may be set out of sight of the program's code."""
        self._closure.configured = True
        if is_by_default(need) and not is_of_field(need) and not self._flag(option):
            if not surely and self._is_off_in_code(need):
                return self._project.configures(option, need)
            # What raises a matter is off where all that is seen says so.
            off = self._is_off_in_fields(need) or (surely and self._is_off(self._given(need)))
            return not off and not self._project.leaves_out(option, need)
        return self._project.configures(option, need)

    def _is_off_in_code(self, need: str) -> bool:
        """Whether code sets an option that is no field of a class by default, and to nothing with
        which what needs it runs."""
        return not any(self._fields(need)) and self._is_off(self._given(need))

    def _is_off_in_fields(self, need: str) -> bool:
        """Whether an option is a field of classes, of which the program makes objects, and gives
        none of these what something needs."""
        return self._is_off(chain.from_iterable(map(self._given, self._fields(need))))

    def _is_off(self, given: Iterable[bool | str]) -> bool:
        some = False
        for each in given:  # each of which may be asked for when its turn comes
            some = True
            if self._gives(each, surely=False):
                return False
        return some

    def _fields(self, need: str) -> Iterator[str]:
        """What calls have to give the classes of a program that have a field, or inherit it."""
        for name, told in self._project.fields(need, self._paths):
            own = next((asked for path, asked in told if path in self._closure), None)
            if own is not None:
                yield Need.parse(own)._replace(function=name).dump()

    def _flag(self, option: str) -> str:
        """How the program writes an option that it gives its parser of the command line; "" if it
        gives that none."""
        names = dict.fromkeys((option, option.replace("_", "-")))
        return next(filter(self._flags.__contains__, names), "")

    @cached_property
    def _flags(self) -> dict[str, str]:
        """How each is given; where several are called so, the one that takes no value."""
        return dict(sorted(chain.from_iterable(map(self._project.index.flags, self._paths))))


def _called_for(part: str, place: str, often: Container[str]) -> str:
    """What is called for a line of a part to run: of a class not itself for what hooks do, which
    it holds too."""
    method = place.rpartition(".")[2]
    return part if "." not in place or method == _CONSTRUCTOR or method in often else place


def _users_of_registry(path: str, maker: Function) -> Iterator[tuple[str, str]]:
    """The functions that look something up in the variables which a decorator fills."""
    unit = maker.unit
    filled = {op.args[0].word for each in maker.everything() for op in each.coded("store_item")}
    for name in sorted(filled & unit.bound_names):
        for read in unit.reads("global", name):
            outer = read.function.outermost
            if outer is not maker and any(use.code in ("item", "attr") for use in read.uses):
                yield path, outer.name
