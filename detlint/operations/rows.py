"""What a row about an operator says, and words to write one with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ABSENT: Final = "left out"


class Argument(NamedTuple):
    """What an argument of a call must be, where source shows what it is.

    name      of the parameter
    position  its 0-based place, None for one that is given by name only; the tensor that a method
              belongs to has place 0
    test      "in": one of the values · "given": not None, nor left out · "not 1": a size, or
              sizes not all of which are 1 · "perhaps not 1": not written as such · "length": a
              sequence of as many elements · "dimensions": a tensor of that many or more ·
              "tensor": not a number · "floating": of a floating-point type · "perhaps floating",
              "perhaps whole": not of another type for sure
    values    for "in", "length" and "dimensions"
    default   the value of one that is left out; ABSENT if that cannot pass
    """

    name: str
    position: int | None
    test: Literal[
        "in",
        "given",
        "not 1",
        "perhaps not 1",
        "length",
        "dimensions",
        "tensor",
        "floating",
        "perhaps floating",
        "perhaps whole",
    ]
    values: tuple[object, ...] = ()
    default: object = ABSENT


class Usage(NamedTuple):
    """Calls that lead to an operator whatever else holds, as source shows them.

    forms      what is called: public forms of the operator, without arguments; () for all of its
               ``api``
    arguments  what all must be
    called     where a form makes a module: what the arguments of a call of that must be
    familiar   whether objects other than tensors have a method of that name, such as
               ``queue.put``, so that its object has to be known as a tensor
    on_cuda    whether they differ on CUDA alone, whatever other calls do
    """

    forms: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    called: tuple[Argument, ...] = ()
    familiar: bool = False
    on_cuda: bool = False


class Alternative(NamedTuple):
    """What to use instead: in words, and as code to paste.

    The code is complete: imports, then a function or module that takes the place of torch's,
    forward and backward, and what that needs. It is made of operators that act the same in each
    run under ``torch.use_deterministic_algorithms(True)``, and gives what torch's gives, to
    rounding.
    """

    text: str
    code: str = ""


class Operation(NamedTuple):
    """One operator that differs from run to run, or refuses to run deterministically.

    name          as people write it, unlike any other row's; where an argument decides, with it:
                  'torch.nn.functional.pad(mode="reflect")'
    alerts        texts by which torch refuses, before " does not have a deterministic…"; each
                  stands in one row, that of the operator it names
    overloads     operators that refuse or differ, as torch writes them: "aten::median.dim" is one
                  overload, without a suffix it is the default one; ``out=`` variants, which
                  refuse alike, are left out
    nodes         autograd nodes whose backward refuses or differs; each stands in one row
    api           public forms that lead there: functions, methods, modules, in the form of a name
    calls         functions of torch that a call of any form passes through, looked up as it
                  runs, for guard to watch; () where a call does not tell whether it differs
    condition     when, in words; "" for always
    direction     "forward" or "backward"
    devices       "cuda" (ROCm's, too), "cpu", "mps", "meta" (also for fake tensors, as in
                  torch.compile)
    silent        whether torch lets it pass without a word
    reason        why it is non-deterministic
    alternatives  best first
    since, until  torch releases, until exclusive; "" where unknown or still so
    source        where this is known from
    usages        calls that certainly lead there, for a linter; () where source does not tell
    """

    name: str
    api: tuple[str, ...]
    reason: str
    alternatives: tuple[Alternative, ...]
    alerts: tuple[str, ...] = ()
    overloads: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    condition: str = ""
    direction: str = "backward"
    devices: tuple[str, ...] = ("cuda",)
    silent: bool = False
    since: str = ""
    until: str = ""
    source: str = ""
    usages: tuple[Usage, ...] = ()

    def names(self) -> Iterator[str]:
        """What it may be called: the operator, with or without ``aten::``, the public function or
        module, with or without its path, the text of torch's refusal, or the autograd node."""
        for overload in self.overloads:
            bare = overload.partition("::")[2] or overload
            yield from (overload, bare, bare.partition(".")[0])
        for form in (self.name, *self.api):
            yield from (form, form.rpartition(".")[2])
        yield from self.alerts
        yield from self.nodes


def plain_name(overload: str) -> str:
    """An overload as rows name it: without what tells where the result goes."""
    packet, _, suffix = overload.partition(".")
    return packet if suffix in ("out", "grad_input", "X", "values") else overload


def spelled(text: str) -> tuple[str, ...]:
    """Names that are written one after the other; ``torch.{cumsum,cumprod}`` stands for two."""
    found: list[str] = []
    for word in text.split():
        start, _, rest = word.partition("{")
        choices, _, end = rest.partition("}")
        found += [f"{start}{each}{end}" for each in choices.split(",")]
    return tuple(found)


def usage(
    forms: str, *arguments: Argument, called: tuple[Argument, ...] = (), familiar: bool = False
) -> Usage:
    """Calls of some forms, as ``spelled`` has them, where arguments are what they must be."""
    return Usage(spelled(forms), arguments, called, familiar)


def one_of(name: str, position: int | None, *values: object, default: object = ABSENT) -> Argument:
    """An argument that must be one of some values."""
    return Argument(name, position, "in", values, default)


def interpolation(mode: str, *others: Argument) -> tuple[Usage, ...]:
    """What resizes by a mode; ``others``: what else must hold of ``interpolate``, which has more
    options than its older names."""
    given = one_of("mode", 3, mode)
    return (
        usage("torch.nn.functional.interpolate", given, *others),
        usage("torch.nn.functional.upsample", given),
        usage("torch.nn.Upsample", one_of("mode", 2, mode)),
    )


def completed(rows: Iterable[Operation]) -> tuple[Operation, ...]:
    """Rows with usages that say what is called."""
    return tuple(
        row._replace(
            usages=tuple(each._replace(forms=each.forms or row.api) for each in row.usages)
        )
        for row in rows
    )


NATIVE = "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/"
ISSUES = "https://github.com/pytorch/pytorch/issues/"
PULLS = "https://github.com/pytorch/pytorch/pull/"
