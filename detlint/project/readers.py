"""How each kind of fact is told from syntax."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from detlint.analysis.environment import variables
from detlint.analysis.seeding import means_seeding
from detlint.analysis.uses import last_name
from detlint.project.facts import EVERY, MAIN, Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.module import Module

    Reader = Callable[[Module], list[Fact]]

_TENSORFLOW = ("random", "numpy", "tensorflow")
_SEEDS = {
    "random.seed": ("random",),
    "random.setstate": ("random",),
    "numpy.random.seed": ("numpy",),
    "numpy.random.set_state": ("numpy",),
    "torch.manual_seed": ("torch",),
    "torch.random.manual_seed": ("torch",),
    "torch.set_rng_state": ("torch",),
    "torch.random.set_rng_state": ("torch",),
    "tensorflow.random.set_seed": ("tensorflow",),
    "tensorflow.set_random_seed": ("tensorflow",),
    "tensorflow.compat.v1.set_random_seed": ("tensorflow",),
    "tensorflow.compat.v1.random.set_random_seed": ("tensorflow",),
    "tensorflow.keras.utils.set_random_seed": _TENSORFLOW,
    "keras.utils.set_random_seed": (*_TENSORFLOW, "torch"),
}
# Of libraries and of projects: what they seed cannot be seen here, so it counts for all.
_HELPERS = frozenset(
    "seed_everything seed_all set_seed set_seeds set_random_seed set_random_seeds fix_seed "
    "fix_random_seed enable_full_determinism set_determinism setup_seed init_seed init_seeds "
    "seed_everywhere set_global_seed set_global_seeds reset_seed".split()
)
_GENERATOR_METHODS = frozenset({"seed", "manual_seed", "manual_seed_all"})
# Their trainers seed `random`, NumPy and torch from an argument with a fixed default.
_SEEDING_TRAINERS = ("transformers.", "trl.", "ultralytics.")
_RANDOM = frozenset(
    "random uniform randint randrange choice choices sample shuffle gauss normalvariate "
    "betavariate expovariate triangular getrandbits randbytes lognormvariate".split()
)
_NUMPY = frozenset(
    "rand randn randint random random_sample ranf sample choice shuffle permutation normal "
    "uniform standard_normal beta binomial exponential gamma poisson multinomial dirichlet "
    "multivariate_normal laplace lognormal bytes random_integers permuted".split()
)
_TORCH = frozenset(
    "rand randn randint randperm bernoulli multinomial normal rand_like randn_like "
    "randint_like poisson".split()
)
_IN_PLACE = frozenset("normal_ uniform_ bernoulli_ random_ exponential_ log_normal_".split())
_FIXED_INITS = frozenset("zeros_ ones_ constant_ eye_ dirac_ calculate_gain".split())
_LAYERS = frozenset(
    "Linear LazyLinear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d Embedding EmbeddingBag LSTM GRU RNN LSTMCell GRUCell RNNCell Transformer "
    "TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention".split()
)
_LIGHTNING = ("lightning.", "pytorch_lightning.", "lightning_fabric.")
_SWITCHES = frozenset(
    {"use_deterministic_algorithms", "set_deterministic", "set_deterministic_debug_mode"}
)
_GUARD = frozenset({"guard.enable", "guard.deterministic"})


def _seeds(module: Module) -> list[Fact]:
    return [fact for node in module.tree.nodes for fact in _seeds_at(module, node)]


def _seeds_at(module: Module, node: cst.CSTNode) -> Iterator[Fact]:
    if _is_guard(module, node):
        yield _fact(module, node, EVERY)
    if not isinstance(node, cst.Call):
        return
    name, last = module.called(node), last_name(node.func)
    if name in _SEEDS:
        given = node.args[0].value if node.args else None
        if given is not None and not _is_none(given):
            for library in _SEEDS[name]:
                yield _fact(module, node, library)
    elif last in _HELPERS or (name and _is_seeding_helper(name, last)):
        yield _fact(module, node, f"{last}()")
    elif name and name.endswith("Trainer") and name.startswith(_SEEDING_TRAINERS):
        yield _fact(module, node, EVERY)


def _is_seeding_helper(name: str, last: str) -> bool:
    """Whether a function of some module is named as one that seeds, and not a generator's."""
    library = name.partition(".")[0]
    return library not in {"random", "numpy", "builtins"} and (
        means_seeding(last) and last not in _GENERATOR_METHODS
    )


def _is_guard(module: Module, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Import):
        return any(_dotted(each.name) == "guard.auto" for each in node.names)
    return isinstance(node, cst.Call) and module.called(node) in _GUARD


def _draws(module: Module) -> list[Fact]:
    found = []
    for node in module.tree.nodes:
        if isinstance(node, cst.Call) and (library := _drawn_from(module, node)):
            found.append(_fact(module, node, library))
    return found


def _drawn_from(module: Module, call: cst.Call) -> str | None:
    """The library whose global generator a call draws from."""
    name = module.called(call) or ""
    owner, _, last = name.rpartition(".")
    if owner == "random" and last in _RANDOM:
        return "random"
    if owner in {"numpy.random", "numpy.random.mtrand"} and last in _NUMPY:
        return "numpy"
    if any(each.keyword is not None and each.keyword.value == "generator" for each in call.args):
        return None
    if (owner == "torch" and last in _TORCH) or (
        owner == "torch.nn.init" and last not in _FIXED_INITS
    ):
        return "torch"
    return None


def _builds(module: Module) -> list[Fact]:
    return [
        _fact(module, node, "torch")
        for node in module.tree.nodes
        if isinstance(node, cst.Call)
        and (name := module.called(node) or "").startswith("torch.nn.")
        and name.rpartition(".")[2] in _LAYERS
    ]


def _trains(module: Module) -> list[Fact]:
    found = []
    for node in module.tree.nodes:
        if isinstance(node, cst.Call) and (library := _trained(module, node)):
            found.append(_fact(module, node, library))
    return found


def _trained(module: Module, call: cst.Call) -> str | None:
    """The library that a call trains with, "" where only the file's imports can tell."""
    name = module.called(call) or ""
    if name == "tensorflow.GradientTape":
        return "tensorflow"
    if name in {"jax.grad", "jax.value_and_grad"}:
        return "jax"
    if not isinstance(call.func, cst.Attribute):
        return None
    method = call.func.attr.value
    if method == "backward":
        return "torch"
    if method not in {"fit", "train", "minimize"}:
        return None
    kind = module.instance_of(call.func.value) or module.called(call.func.value) or ""
    if kind.endswith("Trainer") and method != "minimize":
        return "torch"
    if kind.startswith(("tensorflow.", "keras.")) or (method == "minimize" and call.args):
        return "tensorflow"
    return "keras" if method == "fit" else None


def _enables(module: Module) -> list[Fact]:
    found = []
    for node in module.tree.nodes:
        if _is_guard(module, node):
            found.append(_fact(module, node, EVERY))
        elif isinstance(node, cst.Call) and (library := _enabled(module, node)):
            found.append(_fact(module, node, library))
    return found


def _enabled(module: Module, call: cst.Call) -> str | None:
    """The library that a call makes deterministic, also where a setting decides."""
    name, last = module.called(call) or "", last_name(call.func)
    if last == "enable_op_determinism":
        return "tensorflow"
    if last in _SWITCHES:  # turned off is a decision too, and DET303's to report
        return "torch"
    for keyword in ("deterministic", "full_determinism", "use_deterministic_algorithms"):
        given = module.argument(call, keyword)
        if given is not None and module.literal(given) is not False:
            is_trainer = name.startswith((*_LIGHTNING, *_SEEDING_TRAINERS)) or not name
            return "torch" if is_trainer or keyword != "deterministic" else None
    return EVERY if "determin" in last.lower() and "non" not in last.lower() else None


def _sets(module: Module) -> list[Fact]:
    return [
        _fact(module, node, _text(module, name), _text(module, value))
        for node in module.tree.nodes
        for name, value in variables(module, node)
    ]


def _places(module: Module) -> list[Fact]:
    """Literals that name a CUDA device, and calls of ``.cuda()``."""
    found = []
    for node in module.tree.nodes:
        if isinstance(node, cst.SimpleString):
            value = module.literal(node)
            named = isinstance(value, str) and re.fullmatch(r"cuda(?::\d+)?", value)
        else:
            named = (
                isinstance(node, cst.Call)
                and isinstance(node.func, cst.Attribute)
                and node.func.attr.value == "cuda"
            )
        if named:
            found.append(_fact(module, node, "cuda"))
    return found


def _text(module: Module, node: cst.BaseExpression) -> str:
    value = module.literal(node)
    return value if isinstance(value, str) else ""


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _is_main(node: cst.CSTNode) -> bool:
    test = node.test if isinstance(node, cst.If) else None
    named = isinstance(test, cst.Comparison) and [test.left, *(c.comparator for c in test.comparisons)]
    return any(isinstance(each, cst.Name) and each.value == "__name__" for each in named or ())


def _fact(module: Module, node: cst.CSTNode, what: str, text: str | None = None) -> Fact:
    around = [
        each
        for each in module.ancestors(node)
        if isinstance(each, (cst.FunctionDef, cst.ClassDef))
    ]
    if around:
        # A decorator may register what no code names.
        function = "" if around[-1].decorators else around[-1].name.value
    else:
        function = MAIN if any(map(_is_main, module.ancestors(node))) else ""
    start, end = module.tree.span(node)
    place = (*module.source.location(start), *module.source.location(end))
    shown = " ".join(module.tree.text(node).split()) if text is None else text
    return Fact(what, shown, function, *place)


READERS: dict[str, Reader] = {
    "seeds": _seeds,
    "draws": _draws,
    "builds": _builds,
    "trains": _trains,
    "enables": _enables,
    "sets": _sets,
    "places": _places,
}
