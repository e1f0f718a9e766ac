"""Of which files code expects one in a folder: it takes the first of a kind and looks no further.

``next(folder.glob("*.json"))`` and ``[f for f in os.listdir(d) if f.endswith(".xlsx")][0]`` read
the one description, or any sample. Of checkpoints there are several, and which is taken counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_MATCHING = ("glob", "iglob", "rglob")
# What is saved again and again while a model trains.
_SAVED = re.compile(
    r"best|ckpt|checkpoint|epoch|iter|last|model|param|run|snapshot|step|weight"
    r"|(?:^|\.|_)(?:bin|gguf|h5|hdf5|index|keras|meta|msgpack|npz|onnx|pickle|pkl|pth?|safetensors"
    r"|tar|zip)$",
    re.IGNORECASE,
)
_KINDS = ("os.path.isdir", "os.path.isfile")
_KIND_METHODS = ("endswith", "is_dir", "is_file")
_OPENING = re.compile(r"(?:^|_)(?:im)?(?:open|load|read)", re.IGNORECASE)
_SIZES = ("dtype", "height", "mode", "ndim", "shape", "size", "width")
_PATHS = ("os.path.join", "pathlib.Path", "builtins.str")
_LIBRARY = re.compile(r"\.(?:so|pyd|dll|dylib)\*?$")
# `tmp_dir`, `temp_dir_path`, `tmpdir`: made by the code itself.
_TEMPORARY = re.compile(r"(?:^|_)te?mp(?:orary)?_?(?:dir|folder|path|root)", re.IGNORECASE)


def expects_one(module: Module, listing: cst.CSTNode | None) -> bool:
    """Whether a listing finds files of a kind of which a folder is to hold one."""
    if listing is None:
        return False
    clause = module.parent(listing)
    tests = [each.test for each in clause.ifs] if isinstance(clause, cst.CompFor) else []
    if any(is_of_a_kind(module, each, clause.target) for each in tests):  # type: ignore[union-attr]
        return True
    if not isinstance(listing, cst.Call):
        return False
    below = (name for each in listing.args for name in module.tree.descendants(each.value))
    if any(isinstance(each, cst.Name) and _TEMPORARY.search(each.value) for each in below):
        return True  # what was unpacked or written there is known to the code around
    word = (module.called(listing) or call_word(listing)).rpartition(".")[2]
    if word not in _MATCHING or not listing.args:
        return False
    tail = _tail(module, listing.args[0].value)
    found = re.fullmatch(r"(?:.*/)?\*+((?:\.\w+)+)(?<!\.gz)", tail or "")
    library = _LIBRARY.search(tail or "") is not None
    return library or (found is not None and not _SAVED.search(found[1]))


def asks_kind(module: Module, node: cst.CSTNode) -> bool:
    """``isdir(join(root, names[0]))``, ``Path(names[0]).suffix``, ``imread(names[0]).shape``: all
    are taken to be like it."""
    above = module.parent(node)
    call = module.parent(above) if isinstance(above, cst.Arg) else None
    if isinstance(call, cst.Call):
        return _is_asked_by(module, call)
    if not isinstance(above, cst.Attribute):
        return isinstance(above, cst.BinaryOperation) and asks_kind(module, above)
    outer = module.parent(above)
    if above.attr.value == "stat" and isinstance(outer, cst.Call):
        return asks_kind(module, outer)
    asks = above.attr.value in _KIND_METHODS and isinstance(outer, cst.Call)
    return asks or above.attr.value in ("suffix", "st_size")


def _is_asked_by(module: Module, call: cst.Call) -> bool:
    name = module.called(call) or ""
    if name == "os.path.splitext":
        part = module.parent(call)
        index = part.slice[0].slice if isinstance(part, cst.Subscript) else None
        return isinstance(index, cst.Index) and module.literal(index.value) in (1, -1)
    if name in _KINDS or _asks_size(module, call):
        return True
    return name in _PATHS and asks_kind(module, call)


def _asks_size(module: Module, call: cst.Call) -> bool:
    """``Image.open(name).size``, ``cv2.imread(name).shape[:2]``."""
    above = module.parent(call)
    opens = _OPENING.search(call_word(call)) is not None
    return opens and isinstance(above, cst.Attribute) and above.attr.value in _SIZES


def is_of_a_kind(module: Module, test: cst.BaseExpression, target: cst.CSTNode | None) -> bool:
    """``f.endswith(".json")``, ``path.suffix == ".json"``, ``"single" in f``."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        sides = (test.left, test.right)
        kinds = [is_of_a_kind(module, each, target) for each in sides]
        return any(kinds) and not any(_speaks_of_saved(module, each) for each in sides)
    if not isinstance(target, cst.Name) or _speaks_of_saved(module, test):
        return False
    about = re.compile(rf"{target.value}(?:\.name|\.suffix|\.stem)?")
    named = (dotted(each) for each in _compared(test))
    return any(each is not None and about.fullmatch(each) for each in named)


def _compared(test: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """What a test compares with one literal text."""
    if isinstance(test, cst.Call) and isinstance(test.func, cst.Attribute) and len(test.args) == 1:
        fixed = isinstance(test.args[0].value, cst.SimpleString)
        if fixed and test.func.attr.value in ("endswith", "startswith"):
            yield test.func.value
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return
    first, left = test.comparisons[0], test.left
    if isinstance(first.operator, cst.In) and _is_text(left):
        yield first.comparator
    elif isinstance(first.operator, cst.Equal) and _is_suffix(first.comparator):
        yield _whole(left)


def _is_text(node: cst.CSTNode) -> bool:
    """``"a"``, ``f"{x}_"``, ``"{}_".format(x)``."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return node.func.attr.value == "format" and _is_text(node.func.value)
    return isinstance(node, (cst.SimpleString, cst.FormattedString))


def _is_suffix(node: cst.CSTNode) -> bool:
    text = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return isinstance(text, str) and text.startswith(".")


def _whole(node: cst.CSTNode) -> cst.CSTNode:
    """``os.path.splitext(name)[1].lower()`` → ``name``."""
    while True:
        if isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Call) and len(node.args) == 1:
            node = node.args[0].value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
            node = node.func.value
        else:
            return node


def _speaks_of_saved(module: Module, test: cst.CSTNode) -> bool:
    below = module.tree.descendants(test)
    texts = (each.evaluated_value for each in below if isinstance(each, cst.SimpleString))
    return any(isinstance(text, str) and _SAVED.search(text) for text in texts)


def _tail(module: Module, pattern: cst.CSTNode) -> str | None:
    """The end of a pattern, from the last part of the path on: ``"/*.json"``."""
    if isinstance(pattern, cst.SimpleString):
        text = module.literal(pattern)
        return text if isinstance(text, str) else None
    if isinstance(pattern, cst.Call) and module.called(pattern) == "os.path.join" and pattern.args:
        return _tail(module, pattern.args[-1].value)
    if isinstance(pattern, cst.BinaryOperation):
        tail = _tail(module, pattern.right)
    elif isinstance(pattern, cst.FormattedString) and pattern.parts:
        last = pattern.parts[-1]
        tail = last.value if isinstance(last, cst.FormattedStringText) else None
    else:
        return None
    return tail if tail is not None and "/" in tail else None
