"""Where an expression takes a value that differs from run to run: clock, process, system."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.reseeding import reseeds_torch
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module
    from detlint.scope import Scope

    # What has been found of a local, or of an attribute of one; nothing while it is looked for.
    _Known = dict[tuple[Scope, str, str], list["Origin"]]

_CLOCK = "the clock"
_PROCESS = "the process"
_SYSTEM = "the operating system"
_CLOCKS = frozenset(
    [
        "time.time",
        "time.time_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.monotonic",
        "time.monotonic_ns",
        "time.process_time",
        "time.process_time_ns",
        "time.clock",
        "timeit.default_timer",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
        "pandas.Timestamp.now",
    ]
)
_PROCESSES = frozenset(
    [
        "os.getpid",
        "os.getppid",
        "threading.get_ident",
        "threading.get_native_id",
        "multiprocessing.current_process",
    ]
)
_SYSTEMS = frozenset(
    [
        "os.urandom",
        "os.getrandom",
        "uuid.uuid1",
        "uuid.uuid4",
        "torch.seed",
        "torch.random.seed",
        "random.SystemRandom",
    ]
)
_GENERATORS = {
    "random": "Python's global generator",
    "numpy": "NumPy's global generator",
    "torch": "torch's global generator",
}
_DRAWS = {
    "random": frozenset(
        [
            "random",
            "randint",
            "randrange",
            "getrandbits",
            "choice",
            "choices",
            "sample",
            "uniform",
            "randbytes",
            "triangular",
            "gauss",
            "betavariate",
        ]
    ),
    "numpy.random": frozenset(
        [
            "rand",
            "randn",
            "randint",
            "random",
            "random_integers",
            "random_sample",
            "ranf",
            "sample",
            "choice",
            "uniform",
            "permutation",
            "bytes",
            "normal",
        ]
    ),
    "torch": frozenset(["rand", "randn", "randint", "randperm"]),
}
_TEXT_NAME = re.compile(r"(?:^|_)(?:name|filename|path|text|string|word|prompt|sentence|url)$")
_TEXT_FUNCTIONS = frozenset({"builtins.str", "builtins.repr", "builtins.bytes", "json.dumps"})
_TEXT_METHODS = frozenset(
    ["join", "encode", "format", "hexdigest", "lower", "upper", "strip", "replace"]
)


class Origin(NamedTuple):
    """A value of entropy.

    node     where the expression takes it: the call, or the local that holds it
    call     the call that makes it
    what     where it comes from, in words
    library  the library of a global generator that made it, which something may have seeded
    """

    node: cst.CSTNode
    call: cst.CSTNode
    what: str
    library: str = ""


def origin(module: Module, expression: cst.CSTNode) -> Origin | None:
    """The first entropy in an expression, however wrapped, also through one local variable."""
    return next(_origins(module, expression, {}), None)


def _origins(module: Module, node: cst.CSTNode, known: _Known) -> Iterator[Origin]:
    if isinstance(node, cst.Call):
        what, library = _called(module, node)
        if what:
            yield Origin(node, node, what, library)
            return
    if isinstance(node, cst.Name):
        yield from _of_local(module, node, known)
    if isinstance(node, cst.Attribute) and (given := _given(module, node)) is not None:
        yield from _of_given(module, node, given, known)
        return
    for part in _parts(node):
        yield from _origins(module, part, known)


def _given(module: Module, node: cst.Attribute) -> list[cst.BaseExpression] | None:
    """What an attribute of something made by another call is known to take of it: the argument
    of its name alone. ``load(path_with_the_time).seed`` is no clock's; None for other owners."""
    above = module.parent(node)
    if isinstance(above, cst.Call) and above.func is node:
        return None  # a method may hand on anything: sha256(text).hexdigest()
    made: list[cst.CSTNode] = [node.value]
    if isinstance(node.value, cst.Name):
        bindings = module.bindings.scope_of(node.value).bindings.get(node.value.value, ())
        made = [each.node for each in bindings if each.kind == "value" and each.node is not None]
    calls = [each for each in made if isinstance(each, cst.Call) and not _called(module, each)[0]]
    if not calls or len(calls) < len(made):
        return None
    return [
        each.value
        for call in calls
        for each in call.args
        if each.keyword is not None and each.keyword.value == node.attr.value
    ]


def _parts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What the value of an expression is made of: conditions and comparisons only decide."""
    if isinstance(node, cst.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        yield node.elt
    elif isinstance(node, (cst.Attribute, cst.Arg)):
        yield node.value
    elif not isinstance(node, (cst.Comparison, cst.Lambda, cst.DictComp, cst.Dict, cst.Name)):
        from detlint.tree import children

        yield from children(node)


def _of_given(
    module: Module, node: cst.Attribute, given: list[cst.BaseExpression], known: _Known
) -> Iterator[Origin]:
    """Of what is given for an attribute: ``x = M(seed=x.seed)`` gives its own again."""
    if isinstance(node.value, cst.Name):
        key = module.bindings.scope_of(node.value), node.value.value, node.attr.value
        if key not in known:
            known[key] = []
            known[key] = [each for it in given for each in _origins(module, it, known)][:1]
        yield from known[key]
        return
    for each in given:
        yield from _origins(module, each, known)


def _of_local(module: Module, name: cst.Name, known: _Known) -> Iterator[Origin]:
    """Of a local of the same function, all of whose values are entropy."""
    scope = module.bindings.scope_of(name)
    key = scope, name.value, ""
    if key not in known:
        known[key] = []
        known[key] = _of_bindings(module, scope, name.value, known)
    for each in known[key]:
        yield each._replace(node=name)


def _of_bindings(module: Module, scope: Scope, name: str, known: _Known) -> list[Origin]:
    found: list[Origin] = []
    for binding in scope.bindings.get(name, ()):
        if binding.kind != "value" or binding.node is None:
            return []
        if _mentions(module, binding.node, name):
            continue  # t = int(t)
        inner = next(_origins(module, binding.node, known), None)
        if inner is None:
            return []
        found.append(inner)
    return found[:1]


def _mentions(module: Module, expression: cst.CSTNode, name: str) -> bool:
    below = module.tree.descendants(expression)
    return any(isinstance(node, cst.Name) and node.value == name for node in below)


def _called(module: Module, call: cst.Call) -> tuple[str, str]:
    """What a call draws from, and from which library's global generator."""
    if reseeds_torch(module, call):
        return _SYSTEM, ""
    name = module.called(call)
    if name is None:
        return "", ""
    return source(name) or _builtin(module, call, name) or _global_draw(module, call, name)


def source(name: str) -> tuple[str, str] | None:
    """What a function of this qualified name draws from, if that is certain."""
    if name in _CLOCKS:
        return _CLOCK, ""
    if name in _PROCESSES:
        return _PROCESS, ""
    known = name in _SYSTEMS or name.startswith("secrets.")
    return (_SYSTEM, "") if known else None


def _builtin(module: Module, call: cst.Call, name: str) -> tuple[str, str] | None:
    if name == "builtins.id":
        return "the address of an object", ""
    if name == "builtins.hash" and call.args and _is_text(module, call.args[0].value):
        return "a string's hash, which Python salts in each process", ""
    return None


def _global_draw(module: Module, call: cst.Call, name: str) -> tuple[str, str]:
    owner, _, function = name.rpartition(".")
    if function not in _DRAWS.get(owner, ()) or module.argument(call, "generator") is not None:
        return "", ""
    library = owner.partition(".")[0]
    return _GENERATORS[library], library


def _is_text(module: Module, node: cst.BaseExpression) -> bool:
    """Whether a value is a string or bytes, or holds one, where that is visible."""
    resolved = module.names.value_of(node)
    if isinstance(resolved, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)):
        return True
    if isinstance(resolved, cst.Tuple):
        return any(_is_text(module, element.value) for element in resolved.elements)
    if isinstance(resolved, cst.BinaryOperation):
        return _is_text(module, resolved.left) or _is_text(module, resolved.right)
    if isinstance(resolved, cst.Call):
        method = resolved.func.attr.value if isinstance(resolved.func, cst.Attribute) else ""
        return method in _TEXT_METHODS or module.called(resolved) in _TEXT_FUNCTIONS
    if isinstance(resolved, (cst.Name, cst.Attribute)) and _TEXT_NAME.search(_last(resolved)):
        return module.instance_of(resolved) in {None, "builtins.str"}
    return module.instance_of(resolved) in {"builtins.str", "builtins.bytes"}


def _last(node: cst.Name | cst.Attribute) -> str:
    return node.value if isinstance(node, cst.Name) else node.attr.value


def conversion(module: Module, found: Origin, value: cst.CSTNode) -> tuple[cst.CSTNode, str] | None:
    """The part of ``value`` that only converts the entropy, and the constant to put there."""
    place, text = found.node, "0"
    while place is not value:
        parent = module.parent(place)
        if parent is None or not _only_converts(module, parent, place):
            break
        if module.called(parent) == "builtins.str":
            text = '"0"'
        place = parent
    if isinstance(module.parent(place), cst.FormattedStringExpression):
        return None
    return (place.value if isinstance(place, cst.Arg) else place), text


def _only_converts(module: Module, parent: cst.CSTNode, child: cst.CSTNode) -> bool:
    if isinstance(parent, cst.BinaryOperation):
        return _is_constant(module, parent.right if child is parent.left else parent.left)
    if isinstance(parent, cst.Call):
        return all(each is child or _is_constant(module, each.value) for each in parent.args)
    return isinstance(parent, (cst.Arg, cst.Attribute, cst.Subscript, cst.UnaryOperation))


def _is_constant(module: Module, node: cst.BaseExpression) -> bool:
    kinds = (cst.Integer, cst.Float, cst.SimpleString, cst.BinaryOperation, cst.UnaryOperation)
    return all(isinstance(each, kinds) for each in module.tree.descendants(node))
