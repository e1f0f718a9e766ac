"""Classes whose objects a ``DataLoader`` copies into its workers, and the methods it runs there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_DATASETS = re.compile(
    r"(?:torch|torchvision|torchaudio|torchtext|torchdata|torch_geometric|torchgeo|monai|fairseq"
    r"|litdata|webdataset|avalanche|mmdet|mmengine|recbole)\.(?:\w+\.)*\w*(?:Dataset|Folder)"
    r"|torchvision\.datasets\.\w+|torchaudio\.datasets\.\w+"
)
# Their loaders have rules of their own.
_OTHERS = re.compile(
    r"(?:tensorflow|tf|keras|paddle|mindspore|jittor|oneflow|megengine|datasets)\."
)
_HEAD = re.compile(r"class[ \t]+\w+[ \t]*\(([^)]*)\)")
_NAME = re.compile(r"[\w.]+")
_ENTRIES = ("__getitem__", "__getitems__", "__iter__", "__next__")


def may_follow_dataset(text: str, offset: int) -> bool:
    """Whether the head of a class stands before an offset that, by its text, may be of a dataset:
    a base is called one, or is a class of the file."""
    bases = {base for head in _HEAD.finditer(text, 0, offset) for base in _NAME.findall(head[1])}
    return any(
        "Dataset" in base
        or "Folder" in base
        or "datasets" in base
        or any(f"{word}{base}" in text for word in ("class ", "as "))
        or f"{base} = " in text
        for base in bases
    )


def family(module: Module, owner: cst.ClassDef) -> list[cst.ClassDef]:
    """A class of datasets with its bases in this file; empty if it is none."""
    found: list[cst.ClassDef] = []
    pending, is_dataset = [owner], False
    while pending:
        current = pending.pop()
        if current in found:
            continue
        found.append(current)
        for base in current.bases:
            node = base.value.value if isinstance(base.value, cst.Subscript) else base.value
            definition = module.names.definition(node)
            if isinstance(definition, cst.ClassDef):
                pending.append(definition)
            else:
                is_dataset |= _is_dataset(module.qualified_name(node) or "")
    return found if is_dataset else []


def _is_dataset(name: str) -> bool:
    """Whether a class is one of torch's, or one of the project that is called a dataset."""
    if _DATASETS.fullmatch(name):
        return True
    return name.endswith("Dataset") and not _OTHERS.match(name)


def methods(classes: list[cst.ClassDef]) -> dict[str, cst.FunctionDef]:
    """The methods of a family by name, those of the class itself before those of its bases."""
    found: dict[str, cst.FunctionDef] = {}
    for each in classes:
        for statement in each.body.body:
            if isinstance(statement, cst.FunctionDef):
                found.setdefault(statement.name.value, statement)
    return found


def run_in_workers(module: Module, found: dict[str, cst.FunctionDef]) -> Iterator[cst.FunctionDef]:
    """The methods that give samples, and those that they call."""
    pending = [name for name in _ENTRIES if name in found]
    seen: set[str] = set()
    while pending:
        name = pending.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield found[name]
        below = module.tree.descendants(found[name])
        own = (each for each in below if isinstance(each, cst.Attribute) and is_self(each.value))
        pending += [each.attr.value for each in own if each.attr.value in found]


def is_self(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "self"
