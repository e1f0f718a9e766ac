"""A function's syntax in, its operations out, in one pass."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from detlint.dataflow.calls import last_of
from detlint.dataflow.changes import change_by, changed_in, path_of
from detlint.dataflow.ir import DECORATORS, Function, Op, Region
from detlint.journal import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from detlint.dataflow.unit import Unit

# What is longer was generated. The rest of it is not looked at, and the function says so.
BUDGET = 60_000
_FEW = 64  # names, of which others than the one that is changed may stand for the same object
_DEEPEST = 16  # operands of a condition that are known to depend on all before them

_Env = dict[str, Op]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class _OverBudget(Exception):  # noqa: N818 - control flow within this module
    pass


def lower(name: str, body: Sequence[ast.stmt], unit: Unit, node: ast.AST | None = None) -> Function:
    """The operations of some statements: those of a function if ``node`` is its definition."""
    lowering = _Lowering(Function(name, node, unit, None))
    lowering.run(body)
    return lowering.function


class _Loop:
    """What leaves a loop from inside."""

    def __init__(self) -> None:
        self.breaks: list[_Env] = []
        self.continues: list[_Env] = []


class _Lowering:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.region = function.region
        self.env: _Env | None = {}
        self._loops: list[_Loop] = []
        self._globals: set[str] = set()
        self._followed: set[str] = set()  # the last names of paths that the state has had
        self._changes: dict[ast.stmt, set[str]] = {}  # by loop
        self._is_module = function.node is None and function.outer is None

    def run(self, body: Sequence[ast.stmt]) -> None:
        node = self.function.node
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            self._decorated(decorators)
        try:
            if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
                self._parameters(node.args)
            if isinstance(node, ast.Lambda):
                self._return(self._expr(node.body), node.body)
            else:
                self._block(body)
        except _OverBudget:
            ended(f"function {self.function.name}", f"{BUDGET:,} operations of a function")
        if self.function.outer is None:
            for each in self.function.everything():
                _settle(each)

    def _decorated(self, decorators: Sequence[ast.expr]) -> None:
        """What decorators call, which is no part of what the function does."""
        function = self.function
        inner = Function(DECORATORS, None, function.unit, function.outer)
        inner.decorated = function
        function.nested.append(inner)
        _Lowering(inner).run([ast.copy_location(ast.Expr(each), each) for each in decorators])

    # Making operations

    def _op(
        self,
        code: str,
        args: Iterable[Op],
        name: object,
        node: ast.AST,
        region: Region | None = None,
    ) -> Op:
        taken = args if type(args) is list else list(args)  # which may make operations
        ops = self.function.ops
        place = len(ops)
        if place > BUDGET:
            raise _OverBudget
        made = Op(code, taken, name, node, region or self.region, place)
        for each in taken:
            each.uses.append(made)
        ops.append(made)
        return made

    def _bind(self, name: str, value: Op, node: ast.AST) -> None:
        if self.env is None:
            return
        if name in self._globals:
            self._op("store_global", [value], name, node)
        self.env[name] = value
        self.function.bindings.setdefault(name, []).append(value)
        self.function.assigned.append((name, value, node))

    def _parameters(self, arguments: ast.arguments) -> None:
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
        pairs = list(zip(plain, [*defaults, *arguments.defaults], strict=True))
        pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for each, default in pairs:
            self._parameter(each, "", default)
        if arguments.vararg is not None:
            self._parameter(arguments.vararg, "*", None)
        if arguments.kwarg is not None:
            self._parameter(arguments.kwarg, "**", None)

    def _parameter(self, each: ast.arg, stars: str, default: ast.expr | None) -> None:
        given = [self._expr(default)] if default is not None else []
        made = self._op("param", given, (stars, each.arg), each)
        self.function.params[each.arg] = made
        self._bind(each.arg, made, each)

    # Joining

    def _merge(self, envs: Sequence[_Env | None], node: ast.AST) -> _Env | None:
        live = [each for each in envs if each is not None]
        if len(live) <= 1:
            return live[0] if live else None
        first, *rest = live
        merged = dict(first)
        differ: dict[str, None] = {}
        for other in rest:
            for name, value in other.items():
                if merged.setdefault(name, value) is not value:
                    differ[name] = None
        for name in filter(differ.__contains__, first):  # in the order of the first
            given = (each[name] for each in live if name in each)
            merged[name] = self._join(list(dict.fromkeys(given)), name, node)
        return merged

    def _join(self, values: list[Op], name: str, node: ast.AST) -> Op:
        if len(values) == 1:
            return values[0]
        made = self._op("phi", values, name, node)
        self.function.bindings.setdefault(name, []).append(made)
        return made

    # Statements

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for each in body:
            if self.env is None:
                return
            handler = _STATEMENT.get(type(each))
            if handler is not None:
                handler(self, each)

    def _branch(
        self, kind: str, body: Sequence[ast.stmt], head: Op | None, node: ast.AST
    ) -> _Env | None:
        """Lower a branch from here; the state after it. The state here stays."""
        before, outer = self.env, self.region
        self.env = dict(before) if before is not None else None
        self.region = Region(kind, outer, self.function, node)
        self.region.head = head
        self._block(body)
        self.region.end = len(self.function.ops)
        after, self.env, self.region = self.env, before, outer
        return after

    def _assign_statement(self, node: ast.Assign) -> None:
        value = self._expr(node.value)
        if value.code == "binary" and self._counts(value, node.targets[0]):
            value.code = "augment"
        for target in node.targets:
            self._assign(target, value, node)

    def _counts(self, value: Op, target: ast.expr) -> bool:
        """``i = i + 1``, which is ``i += 1``, as far as ``i`` is a number."""
        place = target.id if isinstance(target, ast.Name) else path_of(target)
        old, step = value.args
        own = bool(place) and self.env is not None and self.env.get(place) is old
        return own and value.name in ("Add", "Sub") and type(step.name) is int

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            value = self._op("declared", [self._expr(node.value)], node.annotation, node)
        else:
            value = self._op("declared", [], node.annotation, node)
        self._assign(node.target, value, node)

    def _augmented(self, node: ast.AugAssign) -> None:
        old = self._expr(node.target)
        value = self._expr(node.value)
        made = self._op("augment", [old, value], type(node.op).__name__, node)
        self._rebind(node.target, old, made)
        if not isinstance(node.target, ast.Name):
            self._assign(node.target, made, node)
        else:
            self._bind(node.target.id, made, node)

    def _assign(self, target: ast.expr, value: Op, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            if self._is_module and self.region.kind != "comprehension":
                self._op("store_global", [value], target.id, node)
            self._bind(target.id, value, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Attribute):
            owner = self._expr(target.value)
            made = self._op("store_attr", [owner, value], target.attr, node)
            self.function.stores.setdefault(target.attr, []).append(made)
            path = path_of(target)
            if path and self.env is not None:
                self._followed.add(target.attr)
                self.env[path] = value
        elif isinstance(target, ast.Subscript):
            container, key = self._expr(target.value), self._key(target.slice)
            made = self._op("store_item", [container, key, value], "", node)
            self._rebind(target.value, container, made)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, value, node)

    def _unpack(self, target: ast.Tuple | ast.List, value: Op, node: ast.AST) -> None:
        sides = target.elts
        plain = not any(isinstance(each, ast.Starred) for each in sides)
        written = value.code in ("tuple", "list") and len(value.args) == len(sides) and plain
        if written and not any(each.code == "star" for each in value.args):
            for side, each in zip(sides, value.args, strict=True):
                self._assign(side, each, node)
            return
        for index, side in enumerate(sides):
            starred = isinstance(side, ast.Starred)
            part = self._op("unpack", [value], (index, len(sides), plain, starred), side)
            self._assign(side, part, node)

    def _rebind(self, place: ast.expr, old: Op, new: Op) -> None:
        """Let all names of an object that is changed stand for its next state."""
        if self.env is None:
            return
        path = place.id if isinstance(place, ast.Name) else path_of(place)
        if path:
            self._followed.add(path.rpartition(".")[2])
            self.env[path] = new
            if old.code != "global":  # which is bound elsewhere
                self.function.bindings.setdefault(path, []).append(new)
            if path in self._globals:
                self._op("store_global", [new], path, place)
        if len(self.env) <= _FEW and old.code not in ("const", "global"):
            for name in [name for name, value in self.env.items() if value is old]:
                self.env[name] = new

    def _if(self, node: ast.If) -> None:
        head = self._op("test", [self._expr(node.test)], "", node.test)
        if last_of(node.test) == "TYPE_CHECKING":
            self.env = self._branch("else", node.orelse, head, node)
            return
        then = self._branch("if", node.body, head, node)
        self.env = self._merge([then, self._branch("else", node.orelse, head, node)], node)

    def _while(self, node: ast.While) -> None:
        self._loop("while", node, None)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self._loop("for", node, self._expr(node.iter))

    def _loop(self, kind: str, node: ast.For | ast.AsyncFor | ast.While, over: Op | None) -> None:
        outer = self.region
        region = self.region = Region(kind, outer, self.function, node)
        entry = self.env or {}
        joints = self._enter(node, region)
        if over is not None:
            region.head = self._op("iter", [over], kind, node)
            self._assign(node.target, region.head, node)  # type: ignore[union-attr]
        else:
            region.head = self._op("test", [self._expr(node.test)], kind, node)  # type: ignore[union-attr]
        self._loops.append(_Loop())
        self._block(node.body)
        loop = self._loops.pop()
        ends = [each for each in (self.env, *loop.continues) if each is not None]
        self._close(joints, ends)
        region.end = len(self.function.ops)
        self.region = outer
        fresh = (env for env in ends if not env.keys() <= entry.keys())
        inside = {name: value for env in fresh for name, value in env.items() if name not in entry}
        self.env = {**inside, **entry, **joints}
        if node.orelse:
            self.env = self._branch("else", node.orelse, None, node)
        self.env = self._merge([self.env, *loop.breaks], node)

    def _enter(self, node: ast.stmt, region: Region) -> _Env:
        """The joints of all that a loop changes, of what held before and after a round."""
        env = self.env if self.env is not None else {}
        joints: _Env = {}
        for name in sorted(changed_in(node, self._changes)):
            if name in env:
                joints[name] = self._op("phi", [env[name]], name, node, region)
                self.function.bindings.setdefault(name, []).append(joints[name])
        self.env = {**env, **joints}
        region.joints.update(joints.values())
        return joints

    def _close(self, joints: _Env, ends: Sequence[_Env]) -> None:
        for name, phi in joints.items():
            for env in ends:
                value = env.get(name)
                if value is not None and value is not phi and value not in phi.args:
                    phi.args.append(value)
                    value.uses.append(phi)

    def _try(self, node: ast.Try) -> None:
        before = dict(self.env or {})
        start = len(self.function.ops)
        body = self._branch("try", node.body, None, node)
        # What the body bound may be there or not when something is raised.
        entry = self._merge([before, body], node) if body is not None else before
        entry = self._with_all_bound(entry, start, node)
        after = [body]
        if node.orelse and body is not None:
            self.env = body
            after = [self._branch("else", node.orelse, None, node)]
        for handler in node.handlers:
            self.env = dict(entry or {})
            if handler.type is not None:
                self._expr(handler.type)
            if handler.name:
                self._bind(handler.name, self._op("caught", [], handler.name, handler), handler)
            after.append(self._branch("except", handler.body, None, handler))
        self.env = self._merge(after, node)
        if node.finalbody:
            alive = self.env is not None
            self.env = self.env if alive else dict(entry or {})
            after_all = self._branch("finally", node.finalbody, None, node)
            self.env = after_all if alive else None

    def _with_all_bound(self, env: _Env | None, start: int, node: ast.AST) -> _Env | None:
        """A state in which a name stands for all that was bound to it from some place on."""
        if env is None:
            return None
        for name, value in list(env.items()):
            bound = self.function.bindings.get(name, ())
            given = [each for each in bound if each.place >= start and each.code != "phi"]
            if len(given) > 1 and value.place >= start:
                env[name] = self._join(list(dict.fromkeys([value, *given])), name, node)
        return env

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            entered = self._op("enter", [self._expr(item.context_expr)], node, item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, entered, node)
        self._block(node.body)

    def _match(self, node: ast.Match) -> None:
        subject = self._expr(node.subject)
        after = []
        before = self.env
        for case in node.cases:
            self.env = dict(before or {})
            for each in ast.walk(case.pattern):
                name = getattr(each, "name", None) or getattr(each, "rest", None)
                if isinstance(name, str):
                    whole = each is case.pattern and getattr(each, "pattern", None) is None
                    part = self._op("other", [subject], "match", node.subject)
                    self._bind(name, subject if whole else part, node)
            if case.guard is not None:
                self._expr(case.guard)
            head = self._op("test", [subject], "match", node.subject)
            after.append(self._branch("if", case.body, head, node))
        self.env = self._merge([*after, before], node)

    def _return_statement(self, node: ast.Return) -> None:
        if node.value is not None:
            self._return(self._expr(node.value), node)
        else:
            self._op("leave", [], "return", node)
        self.env = None

    def _return(self, value: Op, node: ast.AST) -> None:
        self.function.returns.append(self._op("return", [value], "", node))

    def _raise(self, node: ast.Raise) -> None:
        given = [self._expr(each) for each in (node.exc, node.cause) if each is not None]
        self._op("raise", given, "", node)
        self.env = None

    def _assert(self, node: ast.Assert) -> None:
        self._op("test", [self._expr(node.test)], "assert", node.test)
        if node.msg is not None:
            self._op("raise", [self._expr(node.msg)], "assert", node)

    def _expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._op("drop", [self._expr(node.value)], "", node)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                container, key = self._expr(target.value), self._key(target.slice)
                made = self._op("delete", [container, key], "", node)
                self._rebind(target.value, container, made)
            elif isinstance(target, ast.Name) and self.env is not None:
                self.env.pop(target.id, None)

    def _global(self, node: ast.Global) -> None:
        self._globals.update(node.names)

    def _nonlocal(self, node: ast.Nonlocal) -> None:
        self.function.nonlocals.update(node.names)

    def _import(self, node: ast.Import) -> None:
        for each in node.names:
            bound = each.asname or each.name.partition(".")[0]
            self._bind(
                bound, self._op("import", [], each.name if each.asname else bound, node), node
            )

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for each in node.names:
            made = self._op("import", [], f"{module}.{each.name}", node)
            self._bind(each.asname or each.name, made, node)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name, self._function(node, node.name, node.body), node)

    def _function(self, node: ast.AST, name: str, body: Sequence[ast.stmt]) -> Op:
        inner = Function(name, node, self.function.unit, self.function)
        self.function.nested.append(inner)
        made = self._op("function", [], inner, node)
        _Lowering(inner).run(body)
        return made

    def _class(self, node: ast.ClassDef) -> None:
        self._bind(
            node.name, self._op("class", [self._expr(b) for b in node.bases], node.name, node), node
        )
        for each in node.body:
            if isinstance(each, _FUNCTIONS):
                self._function(each, f"{node.name}.{each.name}", each.body)
        rest = [each for each in node.body if not isinstance(each, _FUNCTIONS)]
        if any(not isinstance(each, (ast.Expr, ast.Pass)) for each in rest):
            self._function(node, node.name, rest)

    def _leave(self, node: ast.Break | ast.Continue) -> None:
        if self._loops and self.env is not None:
            loop = self._loops[-1]
            kept = loop.breaks if isinstance(node, ast.Break) else loop.continues
            kept.append(self.env)
        self._op("leave", [], "break" if isinstance(node, ast.Break) else "continue", node)
        self.env = None

    # Expressions

    def _expr(self, node: ast.expr) -> Op:
        handler = _EXPRESSION.get(type(node))
        if handler is None:
            below = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
            return self._op("other", map(self._expr, below), type(node).__name__, node)
        return handler(self, node)

    def _constant(self, node: ast.Constant) -> Op:
        return self._op("const", [], node.value, node)

    def _name(self, node: ast.Name) -> Op:
        found = self.env.get(node.id) if self.env is not None else None
        return found if found is not None else self._free(node.id, node)

    def _free(self, name: str, node: ast.AST) -> Op:
        """A name of an outer function, of the module, or of Python's own; one op for each."""
        known = self.function.globals
        if name not in known:
            known[name] = self._op("global", [], name, node, self.function.region)
        return known[name]

    def _attribute(self, node: ast.Attribute) -> Op:
        if node.attr in self._followed:
            path = path_of(node)
            if path and self.env is not None and path in self.env:
                return self.env[path]
        return self._op("attr", [self._expr(node.value)], node.attr, node)

    def _subscript(self, node: ast.Subscript) -> Op:
        owner = self._expr(node.value)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            given = tuple(each is not None for each in parts)
            ends = [self._expr(each) for each in parts if each is not None]
            return self._op("slice", [owner, *ends], given, node)
        return self._op("item", [owner, self._key(node.slice)], "", node)

    def _key(self, node: ast.expr) -> Op:
        if isinstance(node, ast.Slice):
            parts = [each for each in (node.lower, node.upper, node.step) if each is not None]
            return self._op("range", map(self._expr, parts), "", node)
        return self._expr(node)

    def _call(self, node: ast.Call) -> Op:
        function = self._expr(node.func)
        args, names = [function], []
        for each in node.args:
            starred = isinstance(each, ast.Starred)
            args.append(self._expr(each.value if isinstance(each, ast.Starred) else each))
            names.append("*" if starred else None)
        for keyword in node.keywords:
            args.append(self._expr(keyword.value))
            names.append(keyword.arg or "**")
        made = self._op("call", args, tuple(names), node)
        change = change_by(node)
        if change and isinstance(node.func, ast.Attribute) and function.code == "attr":
            owner = function.args[0]
            if not (self._is_module_name(owner) or self._is_own_method(function)):
                state = self._op("change", [owner, made], change, node)
                self._rebind(node.func.value, owner, state)
        return made

    def _is_module_name(self, op: Op) -> bool:
        """``os`` in ``os.remove(path)``."""
        imported = self.function.unit.imported if op.code == "global" else {}
        names = [str(op.name)] if op.code == "import" else imported.get(str(op.name), ())
        return any("." not in each for each in names)

    def _is_own_method(self, member: Op) -> bool:
        """Whether a class of the file has a method of its own that a container has as well:
        ``self.add(path)``."""
        unit, owner = self.function.unit, self.function.class_name
        return member.args[0].is_self and bool(owner) and unit.has_method(owner, str(member.name))

    def _binary(self, node: ast.BinOp) -> Op:
        parts = [self._expr(node.left), self._expr(node.right)]
        return self._op("binary", parts, type(node.op).__name__, node)

    def _unary(self, node: ast.UnaryOp) -> Op:
        code = "not" if isinstance(node.op, ast.Not) else "unary"
        return self._op(code, [self._expr(node.operand)], type(node.op).__name__, node)

    def _boolean(self, node: ast.BoolOp) -> Op:
        kind = "if" if isinstance(node.op, ast.And) else "else"
        values, outer = [self._expr(node.values[0])], self.region
        entered: list[Region] = []  # each operand is evaluated only if all before it say so
        for before, each in pairwise(node.values):
            head = self._op("test", [values[-1]], type(node.op).__name__, before)
            deep = len(entered) > _DEEPEST
            self.region = Region(
                kind, self.region.parent if deep else self.region, self.function, node
            )
            self.region.head = head
            entered.append(self.region)
            values.append(self._expr(each))
        for region in entered:
            region.end = len(self.function.ops)
        self.region = outer
        return self._op("boolean", values, type(node.op).__name__, node)

    def _compare(self, node: ast.Compare) -> Op:
        sides = map(self._expr, [node.left, *node.comparators])
        return self._op("compare", sides, tuple(type(each).__name__ for each in node.ops), node)

    def _choice(self, node: ast.IfExp) -> Op:
        test = self._expr(node.test)
        head = self._op("test", [test], "", node.test)
        body = self._under("if", node.body, head)
        return self._op("choice", [test, body, self._under("else", node.orelse, head)], "", node)

    def _under(self, kind: str, node: ast.expr, head: Op) -> Op:
        """An expression that is only evaluated if a test says so."""
        outer = self.region
        region = self.region = Region(kind, outer, self.function, node)
        region.head = head
        made = self._expr(node)
        region.end = len(self.function.ops)
        self.region = outer
        return made

    def _collection(self, node: ast.List | ast.Tuple | ast.Set) -> Op:
        return self._op(type(node).__name__.lower(), map(self._expr, node.elts), "", node)

    def _starred(self, node: ast.Starred) -> Op:
        return self._op("star", [self._expr(node.value)], "", node)

    def _dict(self, node: ast.Dict) -> Op:
        args = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                args.append(self._op("star", [self._expr(value)], "**", value))
            else:
                entry = [self._expr(key), self._expr(value)]
                args.append(self._op("entry", entry, "", value))
        return self._op("dict", args, "", node)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Op:
        before, outer = self.env, self.region
        heads: list[Op] = []
        for clause in node.generators:
            over = self._expr(clause.iter)
            self.region = Region("comprehension", self.region, self.function, node)
            self.env = dict(self.env or {})
            head = self.region.head = self._op("iter", [over], "comprehension", clause.iter)
            heads.append(head)
            self._assign(clause.target, head, clause.target)
            for test in clause.ifs:
                self._op("test", [self._expr(test)], "comprehension", test)
        if isinstance(node, ast.DictComp):
            made = [self._expr(node.key), self._expr(node.value)]
        else:
            made = [self._expr(node.elt)]
        for head in heads:
            head.region.end = len(self.function.ops)
        self.env, self.region = before, outer
        kind = _COMPREHENSIONS[type(node)]
        return self._op("comprehension", [*made, *heads], kind, node)

    def _named(self, node: ast.NamedExpr) -> Op:
        value = self._expr(node.value)
        self._bind(node.target.id, value, node)
        return value

    def _text(self, node: ast.JoinedStr) -> Op:
        return self._op("text", map(self._expr, node.values), "", node)

    def _formatted(self, node: ast.FormattedValue) -> Op:
        return self._op("format", [self._expr(node.value)], node.conversion, node)

    def _await(self, node: ast.Await) -> Op:
        return self._op("await", [self._expr(node.value)], "", node)

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Op:
        code = "yield" if isinstance(node, ast.Yield) else "yield_from"
        given = [self._expr(node.value)] if node.value is not None else []
        made = self._op(code, given, "", node)
        self.function.returns.append(made)
        return made

    def _lambda(self, node: ast.Lambda) -> Op:
        return self._function(node, "<lambda>", [])


def _settle(function: Function) -> None:
    """Join what a name of an outer function, or one that a round before bound, may stand for."""
    for name, read in function.globals.items():
        owner: Function | None = function
        while owner is not None and name not in owner.bindings:
            owner = owner.outer
        if owner is not None:
            read.code = "free"
            read.args = [each for each in owner.bindings[name] if each is not read]
            for each in read.args:
                each.uses.append(read)


_COMPREHENSIONS = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.GeneratorExp: "iterator",
    ast.DictComp: "dict",
}
_STATEMENTS: dict[type, str] = {
    ast.Assign: "_assign_statement",
    ast.AnnAssign: "_annotated",
    ast.AugAssign: "_augmented",
    ast.If: "_if",
    ast.While: "_while",
    ast.For: "_for",
    ast.AsyncFor: "_for",
    ast.Try: "_try",
    ast.With: "_with",
    ast.AsyncWith: "_with",
    ast.Match: "_match",
    ast.Return: "_return_statement",
    ast.Raise: "_raise",
    ast.Assert: "_assert",
    ast.Expr: "_expression",
    ast.Delete: "_delete",
    ast.Global: "_global",
    ast.Nonlocal: "_nonlocal",
    ast.Import: "_import",
    ast.ImportFrom: "_import_from",
    ast.FunctionDef: "_define",
    ast.AsyncFunctionDef: "_define",
    ast.ClassDef: "_class",
    ast.Break: "_leave",
    ast.Continue: "_leave",
}
if hasattr(ast, "TryStar"):  # since Python 3.11
    _STATEMENTS[ast.TryStar] = "_try"
_EXPRESSIONS: dict[type, str] = {
    ast.Constant: "_constant",
    ast.Name: "_name",
    ast.Attribute: "_attribute",
    ast.Subscript: "_subscript",
    ast.Call: "_call",
    ast.BinOp: "_binary",
    ast.UnaryOp: "_unary",
    ast.BoolOp: "_boolean",
    ast.Compare: "_compare",
    ast.IfExp: "_choice",
    ast.List: "_collection",
    ast.Tuple: "_collection",
    ast.Set: "_collection",
    ast.Starred: "_starred",
    ast.Dict: "_dict",
    ast.ListComp: "_comprehension",
    ast.SetComp: "_comprehension",
    ast.GeneratorExp: "_comprehension",
    ast.DictComp: "_comprehension",
    ast.NamedExpr: "_named",
    ast.JoinedStr: "_text",
    ast.FormattedValue: "_formatted",
    ast.Await: "_await",
    ast.Yield: "_yield",
    ast.YieldFrom: "_yield",
    ast.Lambda: "_lambda",
}
# Looked up once, and not for each of a million expressions.
_STATEMENT: dict[type, Callable[[_Lowering, Any], None]] = {
    kind: getattr(_Lowering, name) for kind, name in _STATEMENTS.items()
}
_EXPRESSION: dict[type, Callable[[_Lowering, Any], Op]] = {
    kind: getattr(_Lowering, name) for kind, name in _EXPRESSIONS.items()
}
