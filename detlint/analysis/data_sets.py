"""Random choices of data sets: Hugging Face's ``datasets``, and pandas' by method name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.uses import last_name, words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

SAMPLES = ("sample(",)
SHUFFLES = ("shuffle(", "train_test_split(")

# What pandas' ``sample`` takes; another keyword tells of another ``sample``.
_OF_SAMPLE = words("n frac replace weights random_state axis ignore_index")
# Distributions, replay buffers, generators: not tables.
_NOT_TABLES = re.compile(
    r"(?:^|_)(?:buffer|chain|dist|distribution|env|generator|gmm|kde|kernel|memory|model|pipe"
    r"|policy|pop|population|posterior|prior|process|random|replay|rng|sampler|space|study|trial"
    r"|self|cls|p|q|rv|pi)s?\d*$|(?i:dist|distribution|space|sampler|buffer)$"
)
_OF_SPLIT = words(
    """test_size train_size shuffle stratify_by_column seed generator keep_in_memory
    load_from_cache_file train_indices_cache_file_name test_indices_cache_file_name
    writer_batch_size train_new_fingerprint test_new_fingerprint test_shuffle"""
)
_OF_SHUFFLE = words(
    """seed seeds generator buffer_size max_buffer_input_shards keep_in_memory load_from_cache_file
    indices_cache_file_name writer_batch_size new_fingerprint"""
)
_STREAMED = words("buffer_size max_buffer_input_shards")

_MAKERS = re.compile(
    r"datasets\.(?:\w+\.)*(?:load_dataset|load_from_disk|concatenate_datasets|interleave_datasets"
    r"|(?:Dataset|DatasetDict|IterableDataset|IterableDatasetDict)(?:\.from_\w+)?)"
)
_CLASSES = re.compile(r"datasets\.(?:\w+\.)*(?:Iterable)?Dataset(?:Dict)?")
_CHAINED = words(
    """add_column cast cast_column class_encode_column filter flatten map remove_columns
    rename_column rename_columns select select_columns shard shuffle skip sort take
    to_iterable_dataset train_test_split with_format with_transform repeat"""
)
_DEEPEST = 12
_IMPORTS = re.compile(
    r"^[ \t]*(?:import datasets\b|from datasets(?:\.\w+)*[ \t]+import\b[^\n]*"
    r"(?:\([^)]*)?\b(?:load_dataset|load_from_disk|DatasetDict|IterableDataset|Dataset"
    r"|concatenate_datasets|interleave_datasets)\b)",
    re.MULTILINE,
)
_NAMES = re.compile(r"(?:^|_)(?:data|dataset|datasets|ds|train|test|eval|val|valid|split)\d*$")
_SIZE = re.compile(r"size|ratio|frac|split|percent|test|num|^n_|^k$")


def sampled(module: Module, call: cst.Call) -> str | None:
    """``frac`` or ``n`` for a call of pandas' ``sample`` by that keyword."""
    if last_name(call.func) != "sample" or not isinstance(call.func, cst.Attribute):
        return None
    keywords = _keywords(call)
    if keywords is None or not keywords <= _OF_SAMPLE:
        return None
    owner = call.func.value
    if module.qualified_name(owner) is not None or _NOT_TABLES.search(last_name(_root(owner))):
        return None
    if "frac" in keywords:
        return "frac"
    # Other libraries have such a parameter, too.
    return "n" if "n" in keywords and re.search(r"\bpandas\b", module.source.text) else None


def _root(owner: cst.BaseExpression) -> cst.BaseExpression:
    """``frames`` of ``frames["x"]``, ``groupby`` of ``frame.groupby("x")``."""
    while isinstance(owner, (cst.Subscript, cst.Call)):
        owner = owner.value if isinstance(owner, cst.Subscript) else owner.func
    return owner


def shuffled(module: Module, call: cst.Call) -> bool:
    """Whether a call is ``shuffle`` or ``train_test_split`` of a data set, by a seed not given."""
    if not isinstance(call.func, cst.Attribute) or isinstance(module.parent(call), cst.Expr):
        return False  # they return what they make
    keywords, method = _keywords(call), call.func.attr.value
    known = {"shuffle": _OF_SHUFFLE, "train_test_split": _OF_SPLIT}.get(method)
    if known is None or keywords is None or not keywords <= known:
        return False
    places = [each.value for each in call.args if each.keyword is None]
    if len(places) > (0 if method == "shuffle" else 2) or not all(map(_is_size, places)):
        return False
    if is_data_set(module, call.func.value):
        return True
    return not keywords & _STREAMED and _looks_like_one(module, call.func.value)


def _is_size(node: cst.BaseExpression) -> bool:
    numbers = (cst.Integer, cst.Float, cst.BinaryOperation)
    return isinstance(node, numbers) or _SIZE.search(last_name(node)) is not None


def draws_from_system(module: Module, call: cst.Call) -> bool:
    """Whether a shuffled data set is a stream, which takes its seed from nothing that is seeded."""
    keywords = _keywords(call) or set()
    return bool(keywords & _STREAMED) or _is_streamed(module, call.func)


def _is_streamed(module: Module, node: cst.CSTNode) -> bool:
    for _ in range(_DEEPEST):
        if isinstance(node, cst.Attribute):
            if node.attr.value == "to_iterable_dataset":
                return True
            node = node.value
        elif isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Call):
            if module.literal(module.argument(node, "streaming")) is True:
                return True
            node = node.func
        else:
            bound = module.names.value_of(node)
            if bound is node:
                break
            node = bound
    return False


def is_data_set(module: Module, node: cst.CSTNode, depth: int = _DEEPEST) -> bool:
    """Whether an expression certainly is, or once was, a data set of Hugging Face."""
    if depth == 0:
        return False
    if isinstance(node, cst.Subscript):
        return is_data_set(module, node.value, depth - 1)
    if isinstance(node, cst.Call):
        if _MAKERS.fullmatch(module.called(node) or ""):
            return True
        chained = isinstance(node.func, cst.Attribute) and node.func.attr.value in _CHAINED
        return chained and is_data_set(module, node.func.value, depth - 1)  # type: ignore[attr-defined]
    if not isinstance(node, cst.Name):
        return False
    return any(
        (binding.annotation is not None and _names_class(module, binding.annotation))
        or (
            binding.kind == "value"
            and binding.node is not None
            and is_data_set(module, binding.node, depth - 1)
        )
        for binding in module.names.visible(node)
    )


def _names_class(module: Module, annotation: cst.CSTNode) -> bool:
    return any(
        _CLASSES.fullmatch(module.qualified_name(each) or "")
        for each in (annotation, *module.tree.descendants(annotation))
        if isinstance(each, (cst.Name, cst.Attribute))
    )


def _looks_like_one(module: Module, owner: cst.BaseExpression) -> bool:
    """Whether a name says so, in a file that imports the library."""
    name = last_name(_root(owner))
    if name in ("self", "cls") or module.qualified_name(owner) is not None:
        return False
    named = bool(_NAMES.search(name) or name in _CHAINED)
    return named and _IMPORTS.search(module.source.text) is not None


def _keywords(call: cst.Call) -> set[str] | None:
    """The keywords of a call; None if it unpacks others."""
    if any(each.star for each in call.args):
        return None
    return {each.keyword.value for each in call.args if each.keyword is not None}
