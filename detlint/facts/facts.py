"""What a file does that other files may depend on: seeds, draws, trains, turns on, sets."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

EVERY = "*"  # all libraries
TRAINER = "trainer"  # the library of a trainer whose file imports none
VARIABLES = (  # of the environment, those that a rule asks about
    *("CUBLAS_WORKSPACE_CONFIG", "NVTE_ALLOW_NONDETERMINISTIC_ALGO", "XLA_FLAGS"),
    *("FLASH_ATTENTION_DETERMINISTIC", "KERAS_BACKEND", "TF_DETERMINISTIC_OPS"),
    "TF_CUDNN_DETERMINISTIC",
)
# Tokens without which code holds no fact of a kind.
_TOKENS: dict[str, tuple[str, ...]] = {
    "seeds": (
        *("seed", "Seed", "determinism(", "guard.", "rng_state(", "setstate(", "set_state("),
        *("Trainer(", "Trainer)", "seed=", "set_deterministic"),
        *("seed_everything_default", "improve_reproducibility(", "prepare_environment("),
        *("load_hyperpyyaml(", "SupervisedRunner(", "dl.Runner"),
    ),
    "draws": tuple(
        f"{name}("
        for name in (
            *("rand", "randn", "randint", "randrange", "random", "random_sample", "ranf", "choice"),
            *("choices", "sample", "shuffle", "permutation", "permuted", "uniform", "normal"),
            *("gauss", "triangular", "variate", "getrandbits", "randbytes", "beta", "binomial"),
            *("exponential", "gamma", "poisson", "multinomial", "dirichlet", "laplace", "bytes"),
            *("lognormal", "bernoulli", "randperm", "rand_like", "randn_like", "randint_like"),
            "random_integers",
        )
    ),
    "builds": tuple(
        f"{name}("
        for name in (
            *("Linear", "Bilinear", "Conv1d", "Conv2d", "Conv3d", "Transpose1d", "Transpose2d"),
            *("Transpose3d", "Embedding", "EmbeddingBag", "LSTM", "GRU", "RNN", "Cell"),
            *("Transformer", "EncoderLayer", "DecoderLayer", "MultiheadAttention", "normal_"),
            *("uniform_", "orthogonal_", "sparse_", "bernoulli_", "random_", "exponential_"),
            *("get_peft_model", "from_config"),
        )
    ),
    "orders": ("Loader(", "RandomSampler(", "random_split("),
    "trains": (
        *(".backward(", ".fit(", ".train(", ".minimize(", "GradientTape", "value_and_grad"),
        *("jax.grad", ".train_on_batch(", ".fit_generator(", ".apply_gradients("),
        "create_supervised_trainer(",
    ),
    # Only looked for: without one of these, gradients are worked out and change nothing.
    "steps": (
        *(".step(", "zero_grad(", "optim.", "Optimizer(", ".optimizer", ".grad.data"),
        ".grad.zero_(",
    ),
    # Only looked for: without one of these, nothing is called by a name that the text hides.
    "looks_up": (
        "getattr(",
        ".__dict__[",
        "getmembers(",
        "vars(",
        "globals()",
        "sys.modules[__n",
        "eval(",
    ),
    # Likewise: how classes are made of which only a setting knows the name, or their base.
    "makes_unseen": (
        *("import_module(", "__import__(", "__subclasses__", "__init_subclass__", "metaclass="),
        *("locate(", "instantiate", "eval("),
    ),
    # Likewise: what makes what a configuration names.
    "instantiates": ("instantiate", "hydra.utils.call("),
    "enables": ("determin", "guard."),
    "sets": VARIABLES,
    "places": ('"cuda', "'cuda", ".cuda("),
    "samplers": ("DistributedSampler(",),
    "rounds": ("epoch in ", "Epoch in ", "epoch_idx in "),
    "tells": ("set_epoch", "sampler.epoch"),
    "worker_seeds": ("seed_everything(",),
    "ranks": tuple(
        form
        for name in ("devices", "gpus", "num_nodes", "strategy")
        for form in (f"{name}=", f"'{name}'", f'"{name}"')
    ),
}
_WORDS = [token for tokens in _TOKENS.values() for token in tokens]
_KINDS = [kind for kind, tokens in _TOKENS.items() for _ in tokens]
# What must follow a token that is a common word: a call or an alias, and of options a value.
_ALIAS = r"as[ \t]+(\w+)"
_CALL = r"\((?!`)"  # not "seed (`int`)" of a docstring
_CALLED = re.compile(rf"\w*[ \t]*(?:{_CALL}|{_ALIAS})")
_GIVEN = re.compile(rf"\w*[ \t]*(?:{_CALL}|=(?!=|[ \t]*False\b)|{_ALIAS})")
# Not `getattr(self, name)`, `getattr(torch, name)`, `getattr(args, "name", 0)`, `vars(args)`.
_SEARCHED = re.compile(
    r"\s*(?!(?:self|cls|args|opts?|cfg|config|params|obj|model|torch|nn|F|np|jnp|tf|logging)\b)"
    rf"[\w.]+\s*(?:,(?!\s*[\"'])|\)\s*\[)|{_ALIAS}"
)
# The start of a name, which no "_reset_state(" is, and of a builtin, which no "model.eval(" is.
_START, _BARE = re.compile(r"(?<!\w)"), re.compile(r"(?<![\w.])")
_COMMON = {
    "seed": _CALLED,
    "Seed": _CALLED,
    "determin": _GIVEN,
    "getattr(": _SEARCHED,
    "vars(": _SEARCHED,
}
_BEFORE = {
    "setstate(": _START,
    "set_state(": _START,
    "eval(": _BARE,
    ".grad.data": re.compile(r"\.grad\.data(?![ \t]*\*=[ \t]*0)"),  # which only resets it
}
# A call that hands a seed to a function that some module holds, and the start of its name.
_SEEDED = re.compile(r"(?![ \t]*None\b)[^=]")
_CALL_OF = re.compile(r"(?<![\w.)\]])(?!def\b|class\b)([^\W\d]\w*)(?:\.\w+)*\($")
_FARTHEST = 600  # characters from a call's name to its argument
_DEFINES = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]+\w*")


class Fact(NamedTuple):
    """Something that a file does.

    what  the library, or the variable that is set
    text  how the source says it; for a variable, the value ("" if it is not a literal)
    needs an argument, as ``Need`` dumps it, without which it does not happen
    """

    what: str
    text: str
    row: int
    column: int
    end_row: int
    end_column: int
    needs: str = ""


def hints(text: str) -> dict[str, list[int]]:
    """Where facts of each kind may be."""
    found: dict[str, list[int]] = {kind: [] for kind in _TOKENS}
    for index, start, end in _automaton().find_matches_as_indexes(text, overlapping=True):
        word = _WORDS[index]
        if (
            (word not in _COMMON or _is_used(text, start, _COMMON[word].match(text, end)))
            and (word not in _BEFORE or _BEFORE[word].match(text, start))
            and (word != "seed=" or _hands_seed_on(text, start, end))
        ):
            found[_KINDS[index]].append(start)
    return found


def _hands_seed_on(text: str, start: int, end: int) -> bool:
    """Whether a call of what the file imports takes a seed: ``init(seed=args.seed)``."""
    if not _SEEDED.match(text, end):
        return False
    depth = 0
    for place in range(start - 1, max(start - _FARTHEST, -1), -1):
        if text[place] == ")":
            depth += 1
        elif text[place] == "(":
            if not depth:
                line = text.rfind("\n", 0, place) + 1
                called = _CALL_OF.search(text, line, place + 1)
                return called is not None and _is_imported(text, called[1])
            depth -= 1
    return False


def _is_imported(text: str, name: str) -> bool:
    imported = rf"^[ \t]*(?:(?:from|import)\b[^\n]*\b{name}\b|{name},?[ \t]*$)"
    return name != "self" and re.search(imported, text, re.MULTILINE) is not None


def _is_used(text: str, start: int, match: re.Match[str] | None) -> bool:
    """Whether a word is more than the name of a definition, or of an import that nothing calls."""
    if match is None:
        return False
    if match[1]:
        return re.search(rf"\b{match[1]}[ \t]*\(", text) is not None
    return not _DEFINES.fullmatch(text, text.rfind("\n", 0, start) + 1, start)


@cache
def _automaton() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, Implementation

    return AhoCorasick(_WORDS, implementation=Implementation.DFA)
