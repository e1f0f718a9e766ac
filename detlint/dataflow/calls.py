"""How calls and values are written, and which arguments parameters are given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.models.completions import MAPPING
from detlint.models.containers import MAKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from detlint.dataflow.ir import Function, Op


class Named(NamedTuple):
    """An operation, and how the source names what it is about."""

    op: Op
    named: str

    @property
    def place(self) -> tuple[str, int]:
        """Its file and line."""
        return self.op.function.unit.source.path, self.op.row


def word_of(call: Op) -> str:
    """The last word of what is called; "" of what is no call."""
    if call.code != "call":
        return ""
    function = call.args[0]
    if function.code in ("attr", "free", "global"):
        return str(function.name)
    return spoken(function).rpartition(".")[2] or written(call)


def whole_function(value: Op) -> tuple[Op, list[Op]]:
    """A function that is handed over, and what ``functools.partial`` binds of its places."""
    if value.code != "call" or not value.args[1:] or "functools.partial" not in value.called:
        return value, []
    bound_, plain = value.args[1], [each for name, each in value.arguments() if name is None]
    return bound_, plain[1:]


def given_on(call: Op, place: int) -> list[Op]:
    """What a function gets that is the argument of a call at a place: ``submit(work, x)``,
    ``Thread(target=work, args=(x,))``; of what a pool calls with each of many values, what is bound
    before."""
    _, before = whole_function(call.args[place])
    if word_of(call) in MAPPING:
        return before
    listed = call.given("args", place)
    if listed is not None and listed.code in ("list", "tuple"):
        return [*before, *listed.args]
    return [*before, *(each for name, each in [*call.arguments()][place:] if name is None)]


def looked_up_in(op: Op, methods: Collection[str] = ("get",)) -> tuple[Op, Op] | tuple[None, None]:
    """What a value is looked up in, and by which key: ``held[key]``, ``held.get(key)``."""
    if op.code == "item":
        return op.args[0], op.args[1]
    method = op.args[0] if op.code == "call" and op.args[1:] else op
    found = method is not op and method.code == "attr" and method.name in methods
    return (method.args[0], op.args[1]) if found else (None, None)


def is_empty(made: Op) -> bool:
    """Whether what makes a container puts nothing into it: ``[]``, ``dict()``,
    ``defaultdict(list)``, ``deque(maxlen=9)``."""
    word = word_of(made)
    if word in MAKING:
        given = [name for name, _ in made.arguments() if name != "maxlen"]
        return len(given) <= (word == "defaultdict")
    return made.code in ("dict", "list") and not made.args


def last_of(node: ast.AST | None) -> str:
    """The last word of a dotted name; "" of anything else."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def written(call: Op) -> str:
    """The last word by which a call names what it calls."""
    function = call.node.func if isinstance(call.node, ast.Call) else call.node
    return last_of(function)


def said(call: Op) -> str:
    """What a call calls, as the source says it."""
    return ast.unparse(call.call_node.func)


def owner_word(call: Op) -> str:
    """The last word of what a method is called on; "" of a function."""
    function = call.args[0]
    if function.code != "attr":
        return ""
    return spoken(function.args[0]).rpartition(".")[2] or "?"


def owner_written(call: Op) -> str:
    """The last word of what a method is called on, as it is written: of a call, what that calls."""
    node = call.node.func if isinstance(call.node, ast.Call) else None
    owner = node.value if isinstance(node, ast.Attribute) else None
    while isinstance(owner, (ast.Call, ast.Subscript)):
        owner = owner.func if isinstance(owner, ast.Call) else owner.value
    return last_of(owner)


def described(call: Op) -> str:
    """What is called, as a message names it."""
    return _described(call.args[0]) or written(call) or "a function"


def _described(op: Op) -> str:
    """What is called, as a message names it: ``Parallel(…)``, ``readers[…]``, ``load``."""
    if op.code == "call":
        return f"{_described(op.args[0]) or 'a function'}(…)"
    if op.code == "item":
        return f"{_described(op.args[0]) or 'a list'}[…]"
    return last_word(op)


def last_word(op: Op) -> str:
    """The last of the words by which a message names a value, however many there are."""
    node = _written_as(op)
    return node.attr if isinstance(node, ast.Attribute) else spoken(op).rpartition(".")[2]


def _written_as(op: Op) -> ast.AST | None:
    node = op.node
    return node.func if isinstance(node, ast.Call) and op.code != "call" else node


def spoken(op: Op) -> str:
    """A value as a message names it."""
    node = _written_as(op)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node)
    if op.code == "param":
        return str(op.name[1])
    if isinstance(op.name, str) and op.code in ("global", "free", "phi", "import"):
        return op.name
    return ""


def path_of(op: Op) -> str:
    """How a variable or attribute is written: ``self.names``; "" of anything else."""
    codes = ("attr", "global", "free", "param", "phi", "call", "change")
    return spoken(op) if op.code in codes and not isinstance(op.node, ast.Call) else ""


def bound(function: Function, call: Op) -> dict[Op, Op]:
    """What the parameters of a function get in a call, as far as it is written out."""
    plain = [op for op in function.params.values() if not op.name[0]]
    found = {}
    owner = call.args[0]
    if "." in function.name and owner.code == "attr" and plain and _is_bound(function):
        found[plain.pop(0)] = owner.args[0]
    elif plain and function.name.endswith(".__init__"):
        plain.pop(0)  # what is made
    rest = next((op for op in function.params.values() if op.name[0] == "*"), None)
    for name, value in call.arguments():
        if name == "*":
            if rest is not None and not plain:
                found[rest] = value
            break
        if name is None and plain:
            found[plain.pop(0)] = value
        elif name in function.params:
            found[function.params[name]] = value
    return found


def parameter_of(function: Function | None, call: Op, value: Op) -> Op | None:
    """The parameter by which a function takes a value in a call."""
    if function is None:
        return None
    given = bound(function, call)
    return next((taken for taken, each in given.items() if each is value), None)


def _is_bound(function: Function) -> bool:
    """Whether a method gets its object as its first argument."""
    decorators = function.decorators
    return not any(isinstance(x, ast.Name) and x.id == "staticmethod" for x in decorators)
