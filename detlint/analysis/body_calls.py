"""What the calls in the body of a loop, or of a function called there, do with its element."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.call_names import WRITING, ordered_words
from detlint.analysis.conditions import call_word
from detlint.analysis.groups import Groups
from detlint.analysis.later_sorts import is_sorted_later
from detlint.models.names import works_on_file
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption
    from detlint.analysis.elements import Elements

# Receivers whose `add` or `update` is not a set's.
_ORDERED_ADD = ("tarfile.", "hashlib.", "zlib.", "xxhash.", "blake3.")
# Methods of a ZIP file, in which each element has a name.
_ARCHIVING = ("write", "writestr")
# What reads a file of options, of which several may say the same.
_OPTIONS = re.compile(r"(?:yaml|toml|tomli|tomllib|omegaconf\.OmegaConf)\.(?:\w+_)?load")
_EXTENDING = ("append", "extend", "appendleft", "extendleft")
_ADDING = ("add", "discard", "remove", "update", *_EXTENDING)
_FILLING = ("add", "append", "extend", "update", "write")
SETS = ("builtins.set", "builtins.frozenset", "collections.Counter")
_DICTS = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
_QUIET_MODULES = ("os.", "builtins.", "re.", "json.", "pathlib.", "shutil.", "time.", "datetime.")


class BodyCalls:
    """The calls in one body that runs for elements in no fixed order.

    containers  lists and dicts that the body fills: (name, whether by key)
    effects     how many statements do something that is known to have no order
    stops       whether the body may run for less than all elements
    """

    def __init__(self, consumption: Consumption, elements: Elements, *, stops: bool) -> None:
        self._consumption = consumption
        self._module = consumption.module
        self._elements = elements
        self._stops = stops
        self._effects = 0
        self.containers: list[tuple[cst.Name, bool]] = []

    # What loops and functions answer differently

    def _fill(self, container: cst.Name, *, keyed: bool) -> None:
        self.containers.append((container, keyed))

    def _owns(self, node: cst.CSTNode) -> bool:
        """Whether an object belongs to the element alone."""
        return self._elements.varies(node)

    def _adds_apart(self, _: cst.CSTNode) -> bool:
        """Whether the order in which things are added to ``d[key]`` shows nowhere."""
        return False

    def _judge(self, call: cst.Call) -> bool | None:
        """Whether what a call does has an order; None if its function cannot be seen."""
        return self._consumption.functions.depend_on_order(call, self._elements)

    # Calls

    def _call(self, call: cst.Call) -> bool:
        if self._consumption.conditions.is_log(call):
            return False
        if self._works_on_file(call):
            return self._does_each_alone(call)
        if self._writes_same_file(call):
            return True
        if isinstance(call.func, cst.Attribute):
            return self._method(call, call.func.value, call.func.attr.value)
        return self._unknown(call)

    def _works_on_file(self, call: cst.Call) -> bool:
        """Whether a call changes or writes a file that the element names."""
        name = self._module.called(call)
        if name in reductions.FILE_OPERATIONS or works_on_file(call_word(call)):
            return True
        return self._elements.varies(self._written(call))

    def _written(self, call: cst.Call) -> cst.BaseExpression | None:
        """The file that a call to a known function writes."""
        place = reductions.FILE_WRITERS.get(self._module.called(call) or "")
        if place is None:
            return None
        keywords = reductions.FILE_KEYWORDS
        files = (self._module.argument(call, keyword, place) for keyword in keywords)
        return next(filter(None, files), None)

    def _writes_same_file(self, call: cst.Call) -> bool:
        """``json.dump(element, file)``, unless the file is a buffer."""
        file = self._written(call)
        if file is None or self._elements.varies(file) or not self._elements.varies(call):
            return False
        return not (self._module.instance_of(file) or "").startswith("io.")

    def _does_each_alone(self, call: cst.Call) -> bool:
        self._effects += 1
        return self._stops or self._elements.counts(call)

    def _unknown(self, call: cst.Call) -> bool:
        return self._shows_order(call) or self._does_each_alone(call)

    def _shows_order(self, call: cst.Call, *, dropped: bool = True) -> bool:
        """Whether a call depends on those before it; ``dropped`` if nobody wants its result."""
        judged = self._judge(call)
        return self._says_order(call, dropped=dropped) if judged is None else judged

    def _says_order(self, call: cst.Call, *, dropped: bool) -> bool:
        """Whether a function that cannot be seen has the word for it in its name."""
        found = ordered_words(call_word(call), dropped=dropped)
        archives = call_word(call) in _ARCHIVING and "ZipFile" in self._module.source.text
        if not found or ((archives or found == {"put"}) and self._has_place(call)):
            return False
        if found == {"register"}:
            return not self._registers_by_key(call)
        return self._has_writer(call) if found <= WRITING else True

    def _registers_by_key(self, call: cst.Call) -> bool:
        """``gym.register(id=f"{name}-v0", …)``, ``registry.register(name, made)``."""
        named = (self._module.argument(call, each) for each in ("id", "name", "key"))
        if any(map(self._elements.varies, named)):
            return not self._elements.counts(call)
        varying = [each for each in call.args if self._elements.varies(each.value)]
        if call.args[0] not in varying or len(call.args) == 1 or self._elements.counts(call):
            return False
        key = self._module.names.value_of(call.args[0].value)
        return len(varying) > 1 or isinstance(key, (cst.BaseString, cst.FormattedString))

    def _has_place(self, call: cst.Call) -> bool:
        """``sftp.put(path, name)``, ``connection.put(path, "folder/")``, ``archive.write(path,
        name)``: each to its own place."""
        given = [each.value for each in call.args if each.keyword is None]
        varying = list(map(self._elements.varies, given))
        folder = given[1] if varying == [True, False] else None
        return sum(varying) > 1 or isinstance(folder, (cst.BaseString, cst.FormattedString))

    def _has_writer(self, call: cst.Call) -> bool:
        """``log.write(x)``; where ``write_image(x)`` and ``self.write(x)`` write is unknown."""
        name = self._module.called(call)
        if not isinstance(call.func, cst.Attribute) or name is not None:
            return name == "sys.stdout.write"
        owner = call.func.value
        return not (isinstance(owner, cst.Name) and owner.value in ("self", "cls"))

    def _method(self, call: cst.Call, receiver: cst.BaseExpression, word: str) -> bool:
        if word.startswith("assert"):
            self._effects += 1
            return self._elements.counts(call)
        same = not any(self._elements.varies(arg.value) for arg in call.args)
        fresh = self._consumption.conditions.is_fresh_generator(receiver)
        if fresh or (word in _FILLING and same):
            return self._elements.counts(call)
        if word in _ADDING or (word == "setdefault" and not self._owns(receiver)):
            self._effects += 1
            return self._adds(receiver, call, word)
        if self._owns(receiver) and (
            word in reductions.ELEMENT_METHODS
            or (not same and reductions.ELEMENT_WRITERS.match(word))
        ):
            return self._does_each_alone(call)
        return self._unknown(call)

    def _adds(self, receiver: cst.BaseExpression, call: cst.Call, word: str) -> bool:
        if word == "setdefault":
            return self._sets_default(receiver, call)
        if word in _EXTENDING:
            return self._extends(receiver, call)
        return self._collects(receiver, call)

    def _is_set(self, receiver: cst.BaseExpression, word: str) -> bool:
        """Whether ``add`` and ``update`` go to a set; an unknown receiver's ``add`` does."""
        if not isinstance(receiver, cst.Name):
            return word != "update"
        value = self._module.names.value_of(receiver)
        if isinstance(value, (cst.Set, cst.SetComp)):
            return True
        made = self._module.instance_of(receiver)
        if made in SETS or self._consumption.sets.is_set(receiver):
            return True
        return word != "update" and not (made or "").startswith(_ORDERED_ADD)

    def _collects(self, receiver: cst.BaseExpression, call: cst.Call) -> bool:
        """``seen.add(x)``, ``found.update(x)``."""
        word = call_word(call)
        named = isinstance(receiver, cst.Name) and self._is_dict(receiver)
        if word == "update" and (named or self._gives_dict(call)):
            if self._overrides(call):
                return True
            if isinstance(receiver, cst.Name):
                self._fill(receiver, keyed=True)
            return self._stops or self._elements.counts(call)
        return self._stops or not self._is_set(receiver, word)

    def _overrides(self, call: cst.Call) -> bool:
        """``options.update(yaml.safe_load(file))``: of options that several set, the last holds."""
        given = call.args[0].value if call.args else None
        made = self._module.names.value_of(given) if given is not None else None
        return _OPTIONS.match(self._module.called(made) or "") is not None

    def _sets_default(self, receiver: cst.BaseExpression, call: cst.Call) -> bool:
        """``found.setdefault(name, x)``, as ``found[name] = x``."""
        if not call.args:
            return False
        key, *value = (each.value for each in call.args)
        if not self._elements.varies(key):
            return any(map(self._elements.varies, value))
        if isinstance(receiver, cst.Name):
            self._fill(receiver, keyed=True)
        return self._stops or self._elements.counts(call)

    def _gives_dict(self, call: cst.Call) -> bool:
        """``found.update({name: x})``, ``found.update(dict(zip(names, paths)))``."""
        given = call.args[0].value if len(call.args) == 1 else None
        if isinstance(given, cst.Dict):
            keys = (getattr(each, "key", None) for each in given.elements)
            return all(map(self._elements.varies, keys))
        if not isinstance(given, cst.Call) or self._module.called(given) != "builtins.dict":
            return False
        return bool(given.args) and self._module.called(given.args[0].value) == "builtins.zip"

    def _is_dict(self, receiver: cst.Name) -> bool:
        made = self._module.instance_of(receiver)
        if made in _DICTS or isinstance(self._module.names.value_of(receiver), cst.Dict):
            return True
        values = [getattr(x, "value", None) for x in self._consumption.reads.reaching(receiver)]
        return bool(values) and all(isinstance(each, cst.Dict) for each in values)

    def _extends(self, receiver: cst.BaseExpression, call: cst.Call) -> bool:
        if self._elements.counts(call) or self._stops:
            return True
        if isinstance(receiver, (cst.Subscript, cst.Call)):  # groups[key].append
            sorts = Groups(self._consumption).are_sorted(receiver)
            if sorts or is_sorted_later(self._consumption, receiver) or self._adds_apart(receiver):
                return False
            return not self._elements.varies(getattr(receiver, "value", None))
        if self._elements.varies(receiver):  # a list of its own
            return False
        if isinstance(receiver, cst.Name):
            self._fill(receiver, keyed=False)
            return False
        return not self._consumption.is_settled(receiver)

    def _is_strange(self, call: cst.Call) -> bool:
        """Whether a call may do more than compute something about the element."""
        name = self._module.called(call)
        if name is not None:
            return not name.startswith(_QUIET_MODULES)
        if not isinstance(call.func, cst.Attribute):
            return True
        owner = call.func.value
        return not (isinstance(owner, cst.BaseString) or self._elements.varies(owner))
