"""What the models say of libraries is there in the libraries."""

from __future__ import annotations

import builtins
import importlib
import inspect
import io
import os
import pathlib
import re
from typing import TYPE_CHECKING

import pytest

from detlint.dataflow import lattice
from detlint.models import (
    libraries,
    loading,
    memory,
    python,
    randomness,
    settings,
    tables,
    training,
)
from detlint.models.model import Names, Order
from detlint.models.names import ends_in, holds, says

if TYPE_CHECKING:
    from detlint.models.model import Model

_OWNERS = {
    "str": str,
    "bytes": bytes,
    "file": io.TextIOWrapper,
    "path": pathlib.Path,
    "dict": dict,
    "set": set,
    "list": list,
    "int": int,
    "match": re.Match,
    "stat": os.stat_result,
    "type": type,
}


def _found(name: str) -> object:
    """What a qualified name stands for. Raises ImportError or AttributeError."""
    if name.startswith("builtins."):
        found: object = builtins
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        return found
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError as error:
            if error.name is not None and not name.startswith(error.name):
                raise
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize(
    "row", [*python.FUNCTIONS, *python.ATTRIBUTES], ids=lambda row: f"{row.name}"
)
def test_what_python_has_is_there(row: Model) -> None:
    _found(row.name)


@pytest.mark.parametrize("row", libraries.FUNCTIONS, ids=lambda row: f"{row.name}")
def test_what_a_library_has_is_there_if_the_library_is(row: Model) -> None:
    pytest.importorskip(row.name.partition(".")[0])
    _found(row.name)


@pytest.mark.parametrize("row", python.METHODS, ids=lambda row: f"{row.name}")
def test_methods_are_there(row: Model) -> None:
    owner, _, method = row.name.rpartition(".")
    if owner in _OWNERS and (owner, method) != ("list", "tolist"):
        assert callable(getattr(_OWNERS[owner], method))


@pytest.mark.parametrize("row", python.MEMBERS, ids=lambda row: f"{row.name}")
def test_attributes_are_there(row: Model) -> None:
    owner, _, name = row.name.rpartition(".")
    if owner in _OWNERS and owner != "type":  # some types have them
        assert hasattr(_OWNERS[owner], name)


@pytest.mark.parametrize(
    "row",
    [*python.FUNCTIONS, *libraries.FUNCTIONS, *python.METHODS, *libraries.METHODS, *python.MEMBERS],
    ids=lambda row: f"{row.name}",
)
def test_what_a_row_returns_can_be_read(row: Model) -> None:
    if row.returns:
        tables.type_expression(row.returns)


def test_a_row_stands_once() -> None:
    names = [row.name for row in (*python.FUNCTIONS, *libraries.FUNCTIONS)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    "row",
    [row for row in python.FUNCTIONS if row.order in (Order.SORTS, Order.EXTREME)],
    ids=lambda row: f"{row.name}",
)
def test_what_sorts_or_searches_takes_a_key(row: Model) -> None:
    function = _found(row.name)
    assert "key" in (function.__doc__ or "") or "key" in inspect.signature(function).parameters  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("types", "varies"),
    [
        (lattice.TEXT, True),
        (lattice.INTEGER, False),
        (lattice.ANY, None),
        (lattice.joined(lattice.TEXT, lattice.ANY), True),
        (lattice.joined(lattice.INTEGER, lattice.ANY), None),
        (lattice.container("tuple", lattice.INTEGER, lattice.TEXT), True),
        (lattice.container("tuple", lattice.INTEGER, lattice.INTEGER), False),
        (lattice.NOTHING, None),
    ],
)
def test_whether_the_order_of_a_set_varies_follows_from_what_it_holds(
    types: lattice.Types, varies: bool | None
) -> None:
    assert lattice.hash_varies(types) is varies


def _functions_of(library: memory.Library) -> set[str]:
    named = {*library.allocations, *library.functions, *library.factories, *library.unread}
    return {name for name in named | library.property_functions if not name.startswith("cupy.")}


_ON_MEMORY = sorted(_functions_of(memory.TORCH) | _functions_of(memory.NUMPY))


@pytest.mark.parametrize("name", _ON_MEMORY)
def test_functions_that_work_on_memory_are_there(name: str) -> None:
    pytest.importorskip(name.partition(".")[0])
    _found(name)


def test_methods_that_work_on_memory_are_there() -> None:
    torch, numpy = pytest.importorskip("torch"), pytest.importorskip("numpy")
    for owner, library in ((torch.Tensor, memory.TORCH), (numpy.ndarray, memory.NUMPY)):
        named = {*library.allocating, *library.in_place, *library.views, *library.properties}
        named |= library.operand_readers | library.scaled_by_beta | library.shape_arguments
        missing = {name for name in named if not hasattr(owner, name)}
        assert missing <= {"get", "newbyteorder"}  # CuPy's, and NumPy 1's


@pytest.mark.parametrize("name", ["add_", "clamp_", "exp_", "mul_", "sqrt_", "tril_"])
def test_what_works_in_place_keeps_what_was_there(name: str) -> None:
    torch = pytest.importorskip("torch")
    given = {"add_": (1,), "clamp_": (-9, 9), "mul_": (2,)}.get(name, ())
    one, other = torch.ones(3, 3), torch.full((3, 3), 4.0)
    assert not torch.equal(getattr(one, name)(*given), getattr(other, name)(*given))


# Of other releases of Python, NumPy and TensorFlow.
_GONE = {
    *(f"numpy.random.{name}" for name in ("random_integers", "ranf", "sample")),
    *("random.binomialvariate", "tensorflow.set_random_seed", "time.clock"),
    # Of Keras 2, and in TensorFlow of Keras 3.
    "keras.preprocessing.sequence.skipgrams",
    *(each for each in randomness.DRAWS if each.startswith("keras.backend.")),
    "tensorflow.keras.backend.random_binomial",
}
_ON_RANDOMNESS = {
    *(row.name for row in randomness.FUNCTIONS),
    *(*randomness.DRAWS, *randomness.SEED_PARAMETER, *randomness.ENTROPY, *randomness.CHOICES),
    *(*randomness.KEYS, *randomness.SYSTEM, *randomness.STATE_OF_SYSTEM, *randomness.WRAPPING),
    *(*randomness.RESEEDING, *randomness.TORCH_RESEEDING, *randomness.STARTING),
    *(name for names in randomness.STATES.values() for name in names),
}


@pytest.mark.parametrize("name", sorted(_ON_RANDOMNESS - _GONE))
def test_what_draws_seeds_or_starts_programs_is_there(name: str) -> None:
    pytest.importorskip(name.partition(".")[0])
    _found(name)


@pytest.mark.parametrize(("name", "parameter"), sorted(randomness.SEED_PARAMETER.items()))
def test_what_makes_a_generator_has_the_parameter_for_its_seed(name: str, parameter: str) -> None:
    pytest.importorskip(name.partition(".")[0])
    if name.startswith(("numpy.random.", "keras.")):
        assert parameter in (_found(name).__doc__ or "")


@pytest.mark.parametrize("name", ["RandomSampler", "SubsetRandomSampler", "random_split"])
def test_what_draws_an_order_takes_its_generator_at_that_place(name: str) -> None:
    data = pytest.importorskip("torch.utils.data")
    drawing = loading.drawing(f"torch.utils.data.{name}")
    assert drawing is not None
    assert list(inspect.signature(getattr(data, name)).parameters)[drawing.position] == "generator"  # type: ignore[index]


def test_the_parameters_of_a_loader_stand_at_their_places() -> None:
    data = pytest.importorskip("torch.utils.data")
    names = list(inspect.signature(data.DataLoader).parameters)
    assert {each: names.index(each) for each in loading.PLACES} == loading.PLACES


@pytest.mark.parametrize("function", sorted(settings.PARAMETERS))
def test_parameters_that_set_a_flag_stand_at_their_places(function: str) -> None:
    if function in {"torch.set_deterministic", "msprobe.seed_all"}:
        pytest.skip("of an old release, or of another platform")
    pytest.importorskip(function.partition(".")[0])
    found = _found(function)
    rows = settings.PARAMETERS[function]
    if "" in rows:
        assert callable(found)  # it is compiled, and names nothing
        return
    parameters = list(inspect.signature(found).parameters)  # type: ignore[arg-type]
    for name, row in rows.items():
        assert name in parameters
        assert row.place is None or parameters[row.place] == name


def test_layers_of_graphs_are_there() -> None:
    layers = pytest.importorskip("torch_geometric").nn
    assert not [each for each in training.GRAPH_LAYERS if not hasattr(layers, each)]


@pytest.mark.parametrize(
    ("pattern", "names", "others"),
    [
        ("a.{b,c}", ("a.b", "a.c"), ("a.bc", "a", "xa.b", "aXb")),
        ("a.**.B", ("a.B", "a.b.c.B"), ("a.bB", "aB")),
        ("a.[A-Z]*", ("a.B", "a.Bcd"), ("a.b", "a.B.c")),
        ("a.{,b.}C d.*", ("a.C", "a.b.C", "d.e"), ("a.b", "a.b.b.C", "d.e.f")),
    ],
)
def test_patterns_stand_for_whole_names(
    pattern: str, names: tuple[str, ...], others: tuple[str, ...]
) -> None:
    assert [name for name in (*names, *others) if Names(pattern)(name)] == list(names)


def test_words_of_names_are_told_in_snake_and_camel_case() -> None:
    assert [says("train fit")(each) for each in ("trainStep", "re_fit", "retrain")] == [1, 1, 0]
    assert [ends_in("path dir")(each) for each in ("data_DIR", "dir_of", "xdir")] == [1, 0, 0]
    assert [holds("gpu")(each) for each in ("num_GPUs", "cpu")] == [1, 0]
