"""Random choices of data sets: Hugging Face's ``datasets``, and pandas' by method name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import owner_written
from detlint.dataflow.slices import alternatives, before, closure
from detlint.models import loading
from detlint.models.names import is_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Op

_MOST = 30  # calls and branches behind a data set


def sampled(call: Op) -> str:
    """``frac=…``, ``n=…`` or ``…`` for a call of pandas' ``sample``, else ""."""
    function, keywords = call.args[0], {name for name in call.name if name}
    unit = call.function.unit
    if function.name != loading.SAMPLE or not keywords <= loading.OF_SAMPLE:
        return ""
    if (
        unit.values.qualified(function)
        or loading.is_no_table(owner_written(call))
        or _is_alone(call)
    ):
        return ""
    if "frac" in keywords:
        return "frac=…"
    if "n" in keywords:  # other libraries have such a parameter, too, but not beside ``replace``
        return "n=…" if "replace" in keywords or "pandas" in unit.text else ""
    plain = [value for name, value in call.arguments() if name is None]
    one = len(plain) <= 1 and all(each.code != "star" for each in plain)
    return ("…" if plain else "") if one and is_frame(function.args[0]) else ""


def picks_rows(call: Op) -> loading.RowMethod | None:
    """The row of a method of tables of Spark, Dask or Polars that a call without a seed calls."""
    function = call.args[0]
    row = loading.ROW_METHODS.get(str(function.name))
    unit = call.function.unit
    if row is None or unit.values.qualified(function) or _is_alone(call):
        return None
    if loading.is_no_table(owner_written(call)):
        return None
    if row.needs and call.given(row.needs) is None:
        return None
    imported = {name.partition(".")[0] for names in unit.imported.values() for name in names}
    given = call.given(row.seed, row.place)
    missing = given is None or given.literal is None
    return row if missing and not imported.isdisjoint(row.libraries) else None


def is_frame(op: Op) -> bool:
    """Whether a value is a table of pandas, or is made of one by its methods and by choosing, some
    of which nothing else has."""
    for each in closure([op], made_of):
        if lattice.may_be_of(each.values.types(each), loading.FRAME):
            return True
        looked_up = each.args[0] if each.code == "call" else each
        if looked_up.code == "attr" and looked_up.name in loading.OF_FRAMES:
            return True
        if each.code == "param" and any(
            made is not None and loading.FRAME in made.names for made in each.origins
        ):
            return True
    return False


def made_of(op: Op) -> Iterable[Op]:
    """What a table is made of by methods and by choosing, and what it may be before."""
    if op.code in ("attr", "item", "slice"):
        return op.args[:1]
    if op.code == "call":
        return op.args[0].args[:1] if op.args[0].code == "attr" else ()
    return _applied_by(op) if op.code == "param" else before(op)


def _applied_by(parameter: Op) -> Iterator[Op]:
    """Whose method is given the function of a parameter: ``groups.apply(lambda group: …)``."""
    inner = parameter.function
    first = next(iter(inner.params.values()), None)
    if first is not parameter or inner.outer is None:
        return
    for made in inner.outer.ops:
        if made.code == "function" and made.name is inner:
            for use in made.uses:
                applied = use.code == "call" and use.args[0].code == "attr"
                if applied and use.args[0].name in loading.APPLYING:
                    yield use.args[0].args[0]


def _is_alone(call: Op) -> bool:
    """The last line of a notebook's cell only shows it."""
    return any(each.code == "drop" for each in call.uses)


def shuffled(call: Op) -> bool:
    """Whether a call is ``shuffle`` or ``train_test_split`` of a data set, by a seed not given."""
    method = str(call.args[0].name)
    known = loading.SHUFFLES.get(method)
    if known is None or _is_alone(call):  # they return what they make
        return False
    keywords = {name for name in call.name if name}
    places = [value for name, value in call.arguments() if name is None]
    most = 0 if method == "shuffle" else 2
    if not keywords <= known or len(places) > most or not all(map(_is_size, places)):
        return False
    if _is_data_set(call.args[0].args[0]):
        return True
    return keywords.isdisjoint(loading.STREAMED) and _looks_like_one(call)


def is_of_webdataset(call: Op) -> bool:
    """Whether a call shuffles a stream of webdataset, which takes its seed from clock and process:
    ``WebDataset(urls).decode().shuffle(1000)``."""
    size = call.given("size", 0)
    if call.args[0].name != "shuffle" or size is None or size.literal == 0:
        return False
    return any(
        any(map(loading.makes_stream, each.called))
        for each in closure([call.args[0].args[0]], made_of, _MOST)
        if each.code == "call"
    )


def _is_size(op: Op) -> bool:
    if op.code == "const":
        return isinstance(op.name, (int, float))
    name = op.name[1] if op.code == "param" else op.name
    return op.code in ("binary", "unary") or (isinstance(name, str) and is_size(name))


def draws_from_system(call: Op) -> bool:
    """Whether a shuffled data set is a stream, which takes its seed from nothing that is seeded."""
    if not loading.STREAMED.isdisjoint(call.name):
        return True
    for each in _chain(call):
        if each.code == "attr" and each.name == "to_iterable_dataset":
            return True
        streams = each.given("streaming") if each.code == "call" else None
        if streams is not None and streams.literal is True:
            return True
    return False


def _is_data_set(op: Op) -> bool:
    """Whether a value certainly is, or once was, a data set of Hugging Face."""
    return any(
        made is not None and any(map(loading.makes_data_set, made.names))
        for each in _chain(op)
        if each.code not in ("attr", "item")
        for made in each.origins
    )


def _chain(op: Op) -> Iterator[Op]:
    """What a value is made of by methods of data sets, and by choosing a part."""
    return closure([op], _chained, _MOST)


def _chained(op: Op) -> Sequence[Op]:
    if op.code == "call":
        return op.args[:1] if _is_chained(op.args[0]) else ()
    return op.args[:1] if op.code == "item" or _is_chained(op) else alternatives(op)


def _is_chained(op: Op) -> bool:
    return op.code == "attr" and op.name in loading.CHAINED


def _looks_like_one(call: Op) -> bool:
    """Whether a name says so, in a file that imports the library."""
    name, unit = owner_written(call), call.function.unit
    if name in ("self", "cls") or unit.values.qualified(call.args[0].args[0]):
        return False
    return loading.names_data_set(name) and any(
        each == "datasets" or loading.makes_data_set(each)
        for names in unit.imported.values()
        for each in names
    )
