"""Whether a gradient may flow where a function is called: in a model, or in a loss."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.layout import layout_of
from detlint.mentions import calls, mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.layout import Block
    from detlint.module import Module

# What a class derives from that is no module: it has no parameters to train.
_NO_MODULE = re.compile(
    r"^(?:object|ABC|abc\.ABC|Protocol|NamedTuple|TypedDict|\w*Enum)$"
    r"|Data[Ss]et|Loader|Sampler|Transform\b|Augment|Metric|Evaluat|Visuali|Callback|Hook|Logger"
    r"|TestCase|Config"
)
_CLASS = re.compile(r"class[ \t]+")
_NO_BASE = re.compile(r"[ \t]*(?:\([ \t]*(?:object)?[ \t]*\))?[ \t]*:")
_LOSS = re.compile(r"loss|criterion|forward|backward|objective|penalty", re.IGNORECASE)

_JUDGES = re.compile(r"loss(?!less)|criterion|discriminator|penalty", re.IGNORECASE)
_MODELS = re.compile(
    r"(?:^|_)(?:arch|architecture|backbone|layer|loss|losse|model|modeling|module|net|network|warp)s?"
    r"(?:_|$)"
)
_LOSSES = re.compile(r"^(?:\w+_)?loss(?:es)?(?:_\w+)?$")
# Of models and trainers, which are given images as well.
_STEPS = re.compile(r"(?:^|_)(?:call|epoch|fit|forward|main|run|step|train|training)(?:_|$)")
_ABOVE = 2  # folders
# Embeddings of a checkpoint, which are made to fit another size as they are loaded.
_RESIZES = re.compile(r"^_?(?:resize|resample|interpolate|adapt)\w*(?:pos|bias)")


def is_of_a_loss(module: Module, node: cst.CSTNode) -> bool:
    """Whether code is that of a loss or a discriminator, what is compared or judged in which was
    computed by a model; or of a function that a loss of the file calls."""
    path = module.source.path.replace(os.sep, "/")
    if _JUDGES.search(os.path.splitext(path.rpartition("/")[2])[0]):
        return True
    functions = [each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef)]
    owner = module.enclosing_class(node)
    names = [each.name.value for each in functions] + ([owner.name.value] if owner else [])
    if any(_JUDGES.search(each) for each in names):
        return True
    if functions and _gives_a_loss(module, functions[-1]):
        return True
    return owner is None and bool(functions) and _serves_a_loss(module.source.text, names[-1])


def _gives_a_loss(module: Module, function: cst.FunctionDef) -> bool:
    """Whether a function adds up a loss and returns it, whatever its own name."""
    return _STEPS.search(function.name.value) is None and any(
        type(each) is cst.Return  # isinstance asks an abstract base class
        and isinstance(each.value, cst.Name)
        and _LOSSES.search(each.value.value)
        for each in module.tree.descendants(function.body)
    )


def _serves_a_loss(text: str, name: str) -> bool:
    """Whether a loss at the top of the file calls a function, or one that calls it in turn."""
    names, asked = {name}, set[str]()
    while names - asked:
        one = (names - asked).pop()
        asked.add(one)
        callers = {each.name for each in _calling(text, one)}
        if any(map(_JUDGES.search, callers)):
            return True
        names |= callers
    return False


def _calling(text: str, name: str) -> list[Block]:
    """The definitions at the top of a file in which a function is called."""
    layout = layout_of(text)
    return [
        block
        for block in layout.top
        if block.kind and block.name != name
        if any(not layout.hides(place) for place, _ in calls(text, name, block.start, block.end))
    ]


def may_be_trained(module: Module, node: cst.CSTNode) -> bool:
    """Whether a call stands in a class that derives from something like ``nn.Module``, in a
    function by the name of a loss, in one that such a class of the file uses, or beside a
    ``loss.backward()``.

    Elsewhere, what a gradient is asked of is mostly data: images of a loader, ground truth, what
    is drawn or measured.
    """
    functions = [each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef)]
    if goes_back(module, functions[-1] if functions else None):
        return True
    owner = module.enclosing_class(node)
    if owner is not None:
        bases = [module.tree.text(each.value) for each in owner.bases]
        return _is_module([each for each in bases if not _is_plain(module.source.text, each)])
    if any(_LOSS.search(each.name.value) for each in functions):
        return True
    if not functions:
        return False
    if _gives_a_loss(module, functions[-1]):
        return True
    name = functions[-1].name.value
    beside = _is_of_models(module.source.path) and not _RESIZES.search(name)
    return beside or _is_used_in_a_module(module.source.text, name)


def _is_of_models(path: str) -> bool:
    """Whether models, or their parts and losses, are what a file is for, by its name or folders."""
    *folders, name = path.replace(os.sep, "/").split("/")
    return any(_MODELS.search(each) for each in (*folders[-_ABOVE:], os.path.splitext(name)[0]))


def goes_back(module: Module, function: cst.FunctionDef | None) -> bool:
    """Whether a function, or the code of a script, has a ``loss.backward()``."""
    for each in module.tree.occurrences.get("backward", ()):
        if isinstance(above := module.parent(each), cst.Attribute) and above.attr is each:
            inside = module.enclosing_function(each)
            if inside is function or (function and function in list(module.ancestors(each))):
                return True
    return False


def _is_module(bases: list[str]) -> bool:
    return any(not _NO_MODULE.search(each) for each in bases)


def _is_plain(text: str, name: str) -> bool:
    """Whether a class at the top of the file derives from nothing."""
    return any(
        _CLASS.fullmatch(text, text.rfind("\n", 0, place) + 1, place)
        and _NO_BASE.match(text, place + len(name))
        for place in mentions(text, name)
    )


@lru_cache(maxsize=64)
def _is_used_in_a_module(text: str, name: str) -> bool:
    """Whether a class that is a module names a function, or one that names it in turn."""
    blocks = [each for each in layout_of(text).top if each.kind]
    names, asked = {name}, set[str]()
    while names - asked:
        one = (names - asked).pop()
        asked.add(one)
        for block in blocks:
            if block.name != one and mentions(text, one, block.start, block.end):
                if block.kind != "class":
                    names.add(block.name)
                    if _LOSS.search(block.name):
                        return True
                elif _is_module([each.strip() for each in block.bases.split(",") if each.strip()]):
                    return True
    return False
