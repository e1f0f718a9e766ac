"""The table of operators beside the sources and the documentation of the torch that is
installed, so that a new release shows what changed."""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING

import torch

from detlint.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTALLED = os.path.dirname(torch.__file__)
REFUSING = [row for row in OPERATIONS if not row.until and not row.silent]


def plain(form: str) -> str:
    """A form without its arguments."""
    return form.partition("(")[0]


# What Python does on the way


def mentions(word: str) -> dict[str, str]:
    """The sources of torch that hold a word, by their path."""
    found = {}
    for folder, folders, files in os.walk(INSTALLED):
        folders[:] = [each for each in folders if each not in {"include", "lib", "testing"}]
        for name in (each for each in files if each.endswith(".py")):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                data = file.read()
            if word.encode() in data:
                found[os.path.relpath(path, INSTALLED).replace(os.sep, "/")] = data.decode()
    return found


def calls_of(function: str, source: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(function):
            yield node


def test_python_refuses_where_the_table_says() -> None:
    found = {
        (path, ast.unparse(call.args[0]))
        for path, source in mentions("alert_not_deterministic").items()
        for call in calls_of("alert_not_deterministic", source)
    }
    assert found == {
        ("_meta_registrations.py", "'median CUDA with indices output'"),
        ("_meta_registrations.py", "'_histc_cuda with floating point input'"),
        ("_decomp/decompositions.py", "f'max_unpooling{dim}d_forward_out'"),
    }
    assert mentions("alertNotDeterministic") == {}


def test_python_composes_what_the_conditions_say() -> None:
    with open(os.path.join(INSTALLED, "nn", "functional.py"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    asking = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(calls_of("are_deterministic_algorithms_enabled", ast.unparse(node)))
    }
    assert asking == {"max_pool3d_with_indices", "interpolate", "pad"}


# The documentation of torch


def documented(heading: str) -> set[str]:
    """The names under one of the two lists of use_deterministic_algorithms; with its modes where
    a bullet has a list of them."""
    text = torch.use_deterministic_algorithms.__doc__ or ""
    start = re.search(heading + r"\s+(?::class:`RuntimeError` when )?``mode=True``:", text)
    assert start is not None
    rest = text[start.end() :]
    names = set()
    for bullet in re.split(r"\n\s+\* ", rest[: re.search(r"\n    \S", rest).start()])[1:]:  # type: ignore[union-attr]
        name = re.match(r":\w+:`(.*?)`", bullet)
        assert name is not None
        modes = re.findall(r"\n\s+- ``(\w+)``", bullet)
        names |= {f'{name[1]}(mode="{mode}")' for mode in modes} or {name[1]}
    return names


def test_what_the_documentation_says_to_throw() -> None:
    throwing = documented("operations will throw a")
    forms = {form for row in REFUSING for form in (*row.api, *map(plain, row.api))}
    assert throwing - forms == {
        "torch.cumsum",  # deterministic since torch 2.6
        "torch.nn.ReflectionPad2d",  # deterministic since torch 2.7
    }
    undocumented = {row.name for row in REFUSING if not throwing & {*row.api, *map(plain, row.api)}}
    assert undocumented == {
        "torch.nn.functional.interpolate(antialias=True)",
        "torch.nn.functional.max_pool3d",  # the documentation says it acts deterministically
        'torch.nn.functional.pad(mode="replicate")',  # so it does, from Python
        "torch.take",
        "torch.Tensor.scatter_",  # so it does, with determinism on
        'torch.Tensor.scatter_(reduce="multiply")',
        "torch.Tensor.index_reduce_",
    }


def test_what_the_documentation_says_to_act_deterministically() -> None:
    acting = documented("operations will act\\s+deterministically when")
    refusing = {plain(form) for row in REFUSING for form in row.api}
    assert acting & refusing == {
        "torch.nn.Conv1d",  # but not with padding_mode="reflect"
        "torch.nn.Conv3d",
        "torch.nn.MaxPool3d",  # with return_indices=True only
        "torch.nn.ReplicationPad1d",
        "torch.nn.ReplicationPad2d",
        "torch.nn.ReplicationPad3d",
        "torch.Tensor.put_",  # on the CPU, with accumulate=True
        "torch.Tensor.scatter",  # without reduce="multiply"
        "torch.Tensor.scatter_reduce",  # sum and mean
    }
