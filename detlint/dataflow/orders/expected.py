"""Of which files code expects one in a folder, as the pattern of a listing says."""

from __future__ import annotations

import re
from itertools import islice, permutations
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.slices import behind, closure
from detlint.models import files, listings
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.values import Values

_MATCHING = ("glob", "iglob", "rglob")
_WILD = re.compile("[*?\\[\1]")
_WHOLE = frozenset(("re.fullmatch", "re.match"))
_CASES = frozenset(["basename", "casefold", "lower", "str", "strip", "upper"])
_KINDS = ("os.path.isdir", "os.path.isfile")
_SIZES = ("dtype", "height", "mode", "ndim", "shape", "size", "width")
_HOLE = "\0"  # what a variable gives, in a text that is put together
_SIGNS = frozenset("\\*+?[{(|\1")  # of a pattern that more than one text fits
_MOST = 50  # operations behind a text
_ANY = "\1"  # the same, where it may be a wildcard
ANYTHING = f"{_HOLE}{_ANY}"


def texts(values: Values, op: Op, depth: int = 6) -> list[str]:
    """What a text may be that is put together: one for each branch."""
    if depth < 0:
        return [_ANY]
    if op.code == "const":
        return [op.name] if isinstance(op.name, str) else [_HOLE]
    if op.code in ("phi", "choice", "declared", "format", "free"):
        parts = op.args[1:] if op.code == "choice" else op.args
        found = [text for each in parts for text in texts(values, each, depth - 1)][:8]
        return found or [_ANY]
    if op.code == "text" or (op.code == "binary" and op.name in ("Add", "Div")):
        return _joined(values, op.args, "/" if op.name == "Div" else "", depth)
    return _of_call(values, op, depth) if op.code == "call" else [_named(values, op)]


def _joined(values: Values, parts: list[Op], by: str, depth: int) -> list[str]:
    return [by.join(texts(values, each, depth - 1)[0] for each in parts)]


def _of_call(values: Values, call: Op, depth: int) -> list[str]:
    called = values.called(call)
    if {"os.path.join", "pathlib.Path", "builtins.str"} & set(called):
        return _joined(values, call.args[1:], "/", depth)
    function = call.args[0]
    if function.code == "attr" and function.name == "format":
        template = texts(values, function.args[0], depth - 1)[0]
        given = [texts(values, each, depth - 1)[0] for each in call.args[1:]]
        wild = any(_WILD.search(each) for each in given)
        return [re.sub(r"\{[^{}]*\}", _ANY if wild else _HOLE, template)]
    if "os.path.basename" in called:
        return [f"{_HOLE}"]
    return [_HOLE if function.code == "attr" and function.name in ("lower", "strip") else _ANY]


def _named(values: Values, op: Op) -> str:
    """A variable is taken for a folder, or for a name, unless it is called otherwise."""
    found = [str(op.name)] if op.code in ("attr", "global") else op.function.names_of(op)
    if op.code == "param":
        found = [str(op.name[1])]
    if op.code == "item":
        return _named(values, op.args[0])
    return _ANY if not found or any(map(listings.may_be_pattern, found)) else _HOLE


def matches(values: Values, call: Op) -> bool:
    """Whether a call lists what fits a pattern."""
    called = [name.rpartition(".")[2] for name in values.called(call)]
    return any(each in _MATCHING for each in called or [word_of(call)]) and len(call.args) > 1


def lists_one(values: Values, call: Op) -> bool:
    """``glob.glob(os.path.join(folder, "model.yaml"))``: it lists that file, or nothing."""
    if not matches(values, call) or word_of(call) == "rglob":
        return False
    found = texts(values, call.args[1])
    return bool(found) and all(
        not _WILD.search(text) and re.search(r"(?:^[^/\0\1]*|/[^/]*)[\w.][^/]*$", text)
        for text in found
    )


def seeks_one(values: Values, call: Op) -> bool:
    """``rglob("model.pth")``: a file by its whole name, of which code expects one."""
    if call.code != "call" or not matches(values, call):
        return False
    pattern = call.args[1]
    found = texts(values, pattern)
    of_path = not any(name.startswith("glob.") for name in values.called(call))
    if of_path and _is_file_name(pattern):
        return True
    plain = [text for text in found if not _WILD.search(text.replace(_ANY, ""))]
    return (
        len(plain) == len(found)
        and all(re.search(r"\w", text) or (of_path and text == _HOLE) for text in found)
        and not all(text == _HOLE for text in found)
    )


def fits_one(values: Values, call: Op) -> bool:
    """``re.match(f"^{name}.npy$", found)``: by a whole name, where a dot is its ending's."""
    called = values.called(call) if call.code == "call" and len(call.args) == 3 else ()
    if _WHOLE.isdisjoint(called):
        return False
    found = [each.replace("\\.", "") for each in texts(values, call.args[1])]
    ends = "re.fullmatch" in called or all(each.endswith("$") for each in found)
    parts = [part for each in found for part in each.rstrip("$").split(".")[1:]]
    return ends and all(map(_SIGNS.isdisjoint, found)) and all(map(str.isalpha, parts))


def is_name_of(op: Op, head: Op) -> bool:
    """Whether a value is an element of a listing, or its name: ``path.name.lower()``."""
    if op is head:
        return True
    if op.code == "attr":
        return op.name in ("name", "stem") and op.args[0] is head
    if op.code == "call" and word_of(op) in _CASES:
        return any(is_name_of(each, head) for each in (*op.args[1:], *op.args[0].args))
    return op.code == "unpack" and op.args[0] is head


def equals(values: Values, test: Op) -> Iterator[tuple[Op, Op]]:
    """What a condition has to be equal, both ways round; a text, and a pattern of it alone."""
    if test.code == "boolean" and test.name == "And":
        for each in test.args:
            yield from equals(values, each)
    elif test.code == "compare" and test.name == ("Eq",):
        yield from permutations(test.args)
    elif fits_one(values, test):
        yield test.args[2], test.args[1]


def is_named(values: Values, test: Op, element: Op) -> bool:
    """Whether a condition asks for one whole name of an element of a listing."""
    told = equals(values, test)
    return any(is_name_of(one, element) > is_name_of(other, element) for one, other in told)


def _is_file_name(op: Op) -> bool:
    """Whether a text is the last part of a path: ``path.name``, ``os.path.basename(x)``."""
    if op.code == "item":
        by = op.args[0].args[1:]
        return word_of(op.args[0]) == "split" and len(by) == 1 and by[0].name in ("sep", "/")
    return word_of(op) == "basename" or (op.code == "attr" and op.name in ("name", "stem"))


def expects_one(values: Values, call: Op) -> bool:
    """Whether a listing finds files of a kind of which a folder is to hold one."""
    heads = (x for x in call.uses if x.code == "iter" and x.name == "comprehension")
    if any(_is_of_a_kind(values, test, x) for x in heads for test in x.region.conditions()):
        return True
    if call.code != "call":
        return False
    below = _below(call)
    if any(listings.is_temporary(name) for each in below for name in each.function.names_of(each)):
        return True  # what was unpacked or written there is known to the code around
    if not matches(values, call):
        return False
    tail = texts(values, call.args[1])[0]
    found = re.fullmatch(r"(?:.*/)?\*+((?:\.\w+)+)(?<!\.gz)", tail)
    if listings.is_library(tail):
        return True
    return found is not None and (
        not listings.is_saved(found[1]) or _writes_one(values, call, found[1])
    )


def _writes_one(values: Values, listed: Op, ending: str) -> bool:
    """Whether the file writes under one name what ends so, into what is called as what is listed:
    ``torch.save(x, os.path.join(folder, "checkpoint.pt"))``."""

    def names(op: Op) -> set[str]:
        own = (each for each in islice(behind(op), _MOST) if not values.qualified(each))
        return {name.rpartition(".")[2] for each in own for name in each.function.names_of(each)}

    places = [
        call.args[1 + place]
        for writer, place in files.WRITERS.items()
        for call in values.unit.ops_naming(writer.rpartition(".")[2])
        if writer in values.called(call) and len(call.args) > 1 + place
    ]
    near = (each for each in places if names(each) & names(listed.args[1]))
    written = {text.rpartition("/")[2] for each in near for text in texts(values, each)}
    whole = [each for each in written if each.endswith(ending) and not {*each} & {*ANYTHING}]
    return len(whole) == len(written) == 1


def is_installed(values: Values, call: Op) -> bool:
    """``glob("/sys/devices/*/cpu*")``: what a machine has, or has installed, and not data."""
    written = [text for each in call.args[1:] for text in texts(values, each)]
    below = [each.name for each in _below(call) if each.code == "const"]
    return any(listings.is_installed(text) for text in [*written, *below] if isinstance(text, str))


def finds_code(values: Values, op: Op) -> bool:
    """``sys.path.append(glob.glob("dist/*.egg")[0])``: where modules are looked for by their names,
    of which code expects one place."""
    taken = [use for use in op.uses if use.code == "call"] if op.code == "item" else [op]
    calls = [each.args[1] if each.code == "change" else each for each in taken]
    return bool(calls) and all(
        not listings.FINDING_CODE.isdisjoint(values.called(each)) for each in calls
    )


def _below(op: Op) -> Iterator[Op]:
    return islice(behind(*op.args[1:]), _MOST)


def _is_of_a_kind(values: Values, test: Op, element: Op) -> bool:
    """``f.endswith(".json")``, ``path.suffix == ".json"``, ``"single" in f``, ``f == name``."""
    if is_named(values, test, element):
        return True
    if test.code == "boolean" and test.name == "And":
        kinds = [_is_of_a_kind(values, each, element) for each in test.args]
        return any(kinds) and not any(_speaks_of_saved(each) for each in test.args)
    if _speaks_of_saved(test):
        return False
    return any(_is_about(each, element) for each in _compared(test))


def _is_about(op: Op, element: Op) -> bool:
    suffix = op.code == "attr" and op.name == "suffix" and op.args[0] is element
    return suffix or is_name_of(op, element)


def _compared(test: Op) -> Iterator[Op]:
    """What a test compares with one text."""
    if test.code == "call" and len(test.args) == 2:
        function, text = test.args
        asks = function.code == "attr" and function.name in ("endswith", "startswith")
        if asks and (text.text or text.code == "text"):
            yield function.args[0]
    if test.code != "compare" or len(test.args) != 2:
        return
    left, right = test.args
    if test.name == ("In",) and left.code in ("const", "text", "call"):
        yield right
    elif test.name == ("Eq",) and right.text.startswith("."):
        yield _whole(left)


def _whole(op: Op) -> Op:
    """``os.path.splitext(name)[1].lower()`` → ``name``."""
    while True:
        if op.code == "item":
            op = op.args[0]
        elif op.code == "call" and len(op.args) == 2:
            op = op.args[1]
        elif op.code == "call" and op.args[0].code == "attr" and len(op.args) == 1:
            op = op.args[0].args[0]
        else:
            return op


def _speaks_of_saved(op: Op) -> bool:
    return any(listings.is_saved(each.text) for each in closure([op], _parts_that_say_little))


def _parts_that_say_little(op: Op) -> list[Op]:
    """What it is made of, unless that says which: ``f"epoch={best}"``."""
    given = op.code in ("iter", "global", "param")
    return [] if given or (op.code == "text" and op.args[-1].code != "const") else op.args


# Of a path, of an array or table, and of a record.
_KIND = words("endswith is_dir is_file suffix st_size columns dtype dtypes keys ndim shape")


def asks_kind(values: Values, op: Op) -> bool:
    """``isdir(join(root, names[0]))``, ``Path(names[0]).suffix``, ``imread(names[0]).shape``: all
    are taken to be like it."""
    return bool(op.uses) and all(_asks(values, use) for use in op.uses)


def _asks(values: Values, use: Op) -> bool:
    if use.code == "attr":
        stat = use.name == "stat" and all(asks_kind(values, call) for call in use.uses)
        return stat or use.name in _KIND
    if use.code == "binary":
        return asks_kind(values, use)
    return use.code == "call" and _call_asks(values, use)


def _takes_suffix(use: Op) -> bool:
    """``os.path.splitext(name)[1]``."""
    if use.code == "item":
        key = use.args[1]
        return key.code == "unary" or key.literal == 1
    return use.code == "unpack" and (use.name[0] == 1 or not use.uses)


def _call_asks(values: Values, use: Op) -> bool:
    called = set(values.called(use))
    if called & set(_KINDS):
        return True
    if "os.path.splitext" in called:
        return all(map(_takes_suffix, use.uses))
    if listings.opens(word_of(use)) and use.uses:
        return all(x.code == "attr" and x.name in _SIZES for x in use.uses)
    joins = {"os.path.join", "pathlib.Path", "builtins.str"}
    return bool(called & joins) and asks_kind(values, use)
