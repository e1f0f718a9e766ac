"""What a file does that other files may depend on: seeds, draws, trains, turns on, sets."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.models import experiments, operators, randomness, roles, training, varying
from detlint.syntax.layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ahocorasick_rs import AhoCorasick

TRAINS = 1  # the doubt about a draw behind a test of whether something is trained
TESTED = 2  # … about what stands behind another test
HANDLES = 3  # … about what handles an error
IDLE = 4  # … about a draw on which nothing seems to depend
UNSET = 5  # … about one that an option turns on which the program does not have
ONCE = 6  # … about a seed that runs only where a file is not there yet
NEVER = 7  # … that it takes place at all
ON_CPU = 8  # … about a seed beside which another branch seeds the generators of GPUs alone
CHOSEN = 9  # … about a call of one of several functions that seed, out of a table
EVERY = "*"  # all libraries
REPAIRED = "repaired"  # operators of torch that guard replaces: the text says which
UNSEEN_NAMES = "?"  # of what is trained; before a name of it …
# … that it may be missed, that it computes a loss with it, or is asked by that for data, and so
# trained only if an optimizer gets it.
MAY_BE, COMPUTES, FIRST = "~", "+", "-"
BY_STAR = "*."  # … and before one that a file has from one of those of which it imports all
BY_DEFAULT = "@"  # … and what a call leaves to the default of a parameter, which is told beside it
THAWS = "+"  # the first of the names of models that get gradients again, or in some cases
RENEWED = "="  # the first of what is said of a generator that a function always makes anew
MEASURED = "measured"  # steps in an environment of which the rewards are the result
TRAINER = "trainer"  # the library of a trainer whose file imports none
# The need of what seeds with the seed of an experiment's configuration, as ``Need`` dumps it, and
# what facts say that a file may give that.
OF_EXPERIMENT = json.dumps(["experiment", "seed", -1, ["None"], True, True, [], "", True, False])
IN_FILE = "file"
SEEDING = frozenset(("seeds", "environment_seeds"))  # kinds of facts
HIDING = frozenset(("looks_up", "makes_unseen"))  # of what calls by names that a text hides
DRAWING = frozenset(
    (
        *("draws", "drops", "fed", "perturbs", "orders", "builds", "environments", "spaces"),
        *("unseen_environments", "resumes"),
    )
)
STARTING = frozenset(("processes", "spawns", "tasks", "threads"))  # what runs beside the rest
VARYING = frozenset(("layers", "operators"))
# Of some kinds the libraries that they are about: for others no operation has to be looked at.
ABOUT = {
    "builds": frozenset(("torch", "tensorflow", "keras", training.UNSEEN)),
    "orders": frozenset(("torch",)),
    "drops": frozenset(("torch",)),
}
OF_JAX = (  # which say that it is JAX that runs
    *("XLA_PYTHON_CLIENT_ALLOCATOR", "XLA_PYTHON_CLIENT_MEM_FRACTION"),
    *("XLA_PYTHON_CLIENT_PREALLOCATE", "JAX_PLATFORMS", "JAX_PLATFORM_NAME", "JAX_ENABLE_X64"),
)
VARIABLES = (  # of the environment, those that a rule asks about
    *("CUBLAS_WORKSPACE_CONFIG", "NVTE_ALLOW_NONDETERMINISTIC_ALGO", "XLA_FLAGS"),
    *("FLASH_ATTENTION_DETERMINISTIC", "KERAS_BACKEND", "TF_DETERMINISTIC_OPS"),
    *("CUDA_VISIBLE_DEVICES", "TF_CUDNN_DETERMINISTIC", "TF_XLA_FLAGS"),
    *OF_JAX,
)
HASH_SEED = "PYTHONHASHSEED"  # which Python reads when it starts: only scripts can set it


UNKNOWN = ""  # in the place of a need: a call passes what may be None, for all that is known
HANDED_ON = "\0"  # in that place: what is called is handed on, and others call it
OF_MODULE = ":"  # before the name of a module, in the place of a function: a need of its variable
NO_FILE = "\0file"  # in the place of an option: that a file is not there yet


class Fact(NamedTuple):
    """Something that a file does.

    what   the library, or the variable that is set
    text   how the source says it; for a variable, the value ("" if it is not a literal)
    needs  arguments and options, as ``Need`` dumps them, without each of which it does not
           happen, one a line
    doubt  why it may not count, from ``TRAINS`` to ``CHOSEN``; 0 where nothing speaks against it
    place  the function or method that it stands in: ``Class.method``
    """

    what: str
    text: str
    row: int
    column: int
    end_row: int
    end_column: int
    needs: str = ""
    doubt: int = 0
    place: str = ""

    @property
    def method(self) -> str:
        """The name of the function or method, without that of its class."""
        return self.place.rpartition(".")[2]

    @property
    def in_mode(self) -> bool:
        """Whether it takes place where an object trains: what functions are passed, calls tell."""
        return self.doubt == TRAINS and "." in self.place


class Passed(NamedTuple):
    """What calls pass a function as a parameter: what that is looked at as, which it is, and
    whether it has a default."""

    of: str
    function: str
    parameter: str
    place: int
    has_default: bool = False

    def told(self, *, sure: bool) -> str:
        """It as names of what is trained hold it."""
        parts = *self[:-1], int(self.has_default)
        return f"{'' if sure else MAY_BE}@{':'.join(map(str, parts))}"

    @classmethod
    def read(cls, told: str) -> Passed | None:
        """What was told, if it is that."""
        if not told.startswith("@"):
            return None
        of, function, parameter, place, has_default = told[1:].split(":")
        return cls(of, function, parameter, int(place), has_default == "1")

    @property
    def word(self) -> str:
        """By which name it is called."""
        owner, _, word = self.function.rpartition(".")
        return owner.rpartition(".")[2] if word == "__init__" else word


class Receiver(NamedTuple):
    """What a method is looked up in.

    owners  the qualified names of the classes that it is an object of; none where one of these is
            not known
    keeper  the class of the file that keeps it in an attribute
    """

    row: int
    owners: list[str]
    keeper: str


def seed_needed(needs: str) -> tuple[str, str]:
    """The function or class that the first of some needs is about, and its parameter."""
    function, parameter, *_ = json.loads(needs.splitlines()[0])
    return function, parameter


def is_of_experiment(needs: str) -> bool:
    """Whether something needs the seed of an experiment's configuration."""
    return OF_EXPERIMENT in needs.splitlines()


def option_needed(need: str) -> str:
    """The option of the program that a need is about; "" of an argument."""
    function, name, *_ = json.loads(need)
    return "" if function else str(name)


def is_never_met(need: str) -> bool:
    """Whether a need is that of what a constant keeps from running."""
    function, name, *_ = json.loads(need)
    return not (function or name)


def is_of_module(need: str) -> bool:
    """Whether a need is about a variable of a module, which people change there."""
    function, *_ = json.loads(need)
    return str(function).startswith(OF_MODULE)


def is_met_once(need: str) -> bool:
    """Whether a need is that a file is not there yet."""
    return option_needed(need) == NO_FILE


def is_by_default(need: str) -> bool:
    """Whether a need is about what happens where nobody gives the program options."""
    *_, default, _ = json.loads(need)
    return default is True


def is_of_field(need: str) -> bool:
    """Whether a need is about an attribute of an object."""
    *_, field = json.loads(need)
    return field is True


def runs_with(need: str, value: object) -> bool:
    """Whether what has a need runs where that is some value."""
    _, _, _, stops, others, _, runs, *_ = json.loads(need)
    return repr(value) in runs or (others and repr(value) not in stops)


def _called(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(f"{each}(" for each in names))


def _given(name: str) -> tuple[str, ...]:
    return f"{name}=", f"{name} ="


_MAKING_GENERATORS = ("default_rng(", "RandomState(", "Random(", "SeedSequence(")
_TRAINING = _called(roles.TRAINING_CALLS)
_TRANSFORMING = (
    *("Random", "AugMix(", "AutoAugment(", "ColorJitter(", "CutMix(", "ElasticTransform("),
    *("GaussianBlur(", "GaussianNoise(", "MixUp(", "RandAugment(", "ScaleJitter("),
    *("TrivialAugmentWide(", "Masking("),
    *_called(training.OF_SOUND),
)
# Tokens without which code holds no fact of a kind.
_TOKENS: dict[str, tuple[str, ...]] = {
    "seeds": (
        *("seed", "Seed", "](seed", "determinism(", "guard.", "rng_state(", "setstate("),
        *("set_state(", "Trainer(", "Trainer)", "set_deterministic", "Runner("),
        *("reproducibility(", "randomness(", "prepare_environment(", "load_hyperpyyaml(", "CLI("),
        *(f".{each}\n" for each in sorted(experiments.RUNS)),
    ),
    "experiment_seeds": (
        *(f".{experiments.ADDS}(", f".{experiments.SCOPE}\n", experiments.UPDATES),
    ),
    "draws": (
        *_called({name.rpartition(".")[2] for name in randomness.DRAWS} - {"f"}),
        ".f(",
        *randomness.OF_OBJECTS,
        randomness.SAMPLES,
        *randomness.LOADS_PIPELINE,
        *sorted(
            f".{each.rpartition('.')[2]}("
            for each in (*randomness.OF_TENSORFLOW, *randomness.QUEUES_OF_TENSORFLOW)
        ),
    ),
    "builds": (
        *_called({*training.LAYERS, *training.GRAPH_LAYERS, *training.FILLS}),
        *_called({*training.CALLED_NEW, *training.HEADS, *training.JOINING}),
        *("orthogonal_(", "sparse_("),
        *training.OF_SESSIONS,
        *training.OF_MODELS,
        *sorted(training.MAKERS_OF_MODELS),
        *training.PICKED,
        *training.LOADING_HEADS,
        *(form for name in training.CLASSES for form in _given(name)),
        *_TRAINING,
    ),
    "orders": ("Loader(", "RandomSampler(", "random_split("),
    "environments": (
        *("gym.make(", "gym.make_vec(", "gymnasium.make", ".vector.make("),
        f"self.{randomness.OF_ENVIRONMENT}.",
    ),
    "registered_environments": ("register(",),
    "unseen_environments": ("Env(", "Environment("),
    "spaces": ("_space.sample(",),
    "environment_steps": (
        ".step(",
        *_called(sorted({name.rpartition(".")[2] for name in randomness.PLAYING})),
    ),
    "environment_seeds": (".seed(", *_given("seed"), *_given("random_seed")),
    "trains": (
        *(".backward(", ".fit(", ".train(", ".minimize(", "GradientTape", "value_and_grad"),
        *(f"{quote}{training.FITS_BY_TEXT}{quote}" for quote in "\"'"),
        *("grad(", "grad_and_value", ".train_on_batch(", ".fit_generator(", ".apply_gradients("),
        *("create_supervised_trainer(", "manual_backward(", "CLI(", "optimize_loss("),
        *_called(f".{each}" for each in training.FITS_LEARNERS),
        *("cross_val", "learning_curve(", "validation_curve(", "permutation_test_score("),
        *_called(f"rainer.{each}" for each in roles.TRAINING_CALLS),
    ),
    "fed": (".fit(", ".fit_generator("),
    "graph_runs": (".run(", ".eval("),  # of TensorFlow 1
    "trainees": _TRAINING,
    "trained": (
        *("optim.", *_called(training.KNOWN_OPTIMIZERS), ".backward(", "manual_backward("),
        *(".fit(", ".train(", ".parameters(),"),
    ),
    "layers": (*varying.WORDS, *sorted(training.MAKERS_OF_MODELS)),
    # What makes objects of which all calls record no gradient.
    "idles": ("no_grad", "inference_mode", "set_grad_enabled", *_called(training.ASIDE)),
    "freezes": ("requires_grad",),
    "operators": tuple(sorted(operators.REFUSED | operators.SWITCHED)),
    "steps": (
        *(".step(", "optim.", "Optimizer(", ".optimizer", ".grad.data"),
        *(".grad.zero_(", "torch.func", "functorch", "-= ", ".sub_(", ".add_(", "_foreach_"),
        *(".data = ", ".copy_("),
    ),
    # Only looked for: without one of these, nothing is called by a name that the text hides.
    "looks_up": (
        *("getattr(", ".__dict__[", "getmembers(", "vars(", "globals()", "sys.modules[__n"),
        "eval(",
    ),
    # Likewise: how classes are made of which only a setting knows the name, or their base.
    "makes_unseen": (
        *("import_module(", "__import__(", "__subclasses__", "__init_subclass__", "metaclass="),
        *("locate(", "instantiate", "eval("),
    ),
    # Likewise: where a module that is imported by a string is more than imported.
    "keeps_modules": ("import_module(", "__import__("),
    "atomics": (
        *("unsorted_segment_", "segment_sum(", "bias_add(", "nn.conv1d(", "nn.conv2d("),
        *("nn.conv3d(", "softmax_cross_entropy", *training.OF_SESSIONS),
    ),
    # Likewise: what makes what a configuration names.
    "instantiates": (
        *("instantiate", "hydra.utils.call(", "import_module(", "__import__(", "locate("),
        "LightningCLI(",
    ),
    "enables": ("determin", "guard.", '"deterministic"', "'deterministic'"),
    "times": ("cudnn.benchmark",),
    "sets": VARIABLES,
    # Only looked for, in scripts.
    "salts": (HASH_SEED,),
    "devices": (".to(", ".cuda(", "set_default_", *_given("device"), "device("),
    "places": ('"cuda', "'cuda", ".cuda("),
    "generators": _MAKING_GENERATORS,
    "kept_generators": _MAKING_GENERATORS,
    "spawns": (
        *("spawn(", "start_processes(", ".Process(", ".Process)"),
        *_called(f".{x}" for x in randomness.CALLED_IN_CONTAINER | randomness.SUBMITTING),
    ),
    "processes": ("Process(", "Process)"),  # which start afresh where a start method says so
    "start_methods": ("set_start_method(",),
    "tasks": (
        *_called(f".{each}" for each in (*randomness.TASKS, "remote")),
        *("delayed(", "ClientApp(", "start_simulation("),
        "MultiprocessIterator(",
    ),
    "threads": ("Thread(",),
    "worker_starts": ("worker_init_fn",),
    "samplers": ("DistributedSampler(",),
    "rounds": ("epoch in ", "Epoch in ", "epoch_idx in "),
    "tells": ("set_epoch", "sampler.epoch"),
    "saves": ("state_dict()",),
    "resumes": ("load_state_dict(", ".load_weights(", *_given("ckpt_path")),
    "numbered": ("= int(", "return int("),
    "replaces": ("load_state_dict(", "load_from_checkpoint("),
    "continues": (
        *("range(", "while ", "epoch in "),
        *(f"{each} += 1" for each in sorted(training.PLACES)),
    ),
    "perturbs": (
        *("Dropout", "dropout", "NWays(", "KShots(", "Mixup(", "create_transform("),
        *_TRANSFORMING,
        *_called(training.OF_IMGAUG),
        *training.MASKING_MODELS,
    ),
    "drops": ("dropout(", *_TRANSFORMING),
    "workers": _given("num_workers"),
    "worker_seeds": ("seed_everything(",),
    "ranks": tuple(
        form
        for name in ("devices", "gpus", "num_nodes", "strategy")
        for form in (*_given(name), f"'{name}'", f'"{name}"')
    ),
}
_PLAIN = frozenset(("eval(", *_TRAINING))
_WHOLE = frozenset(("grad(", "locate(", "getattr(", "getmembers(", "vars(", "globals()"))
_WORDS = [token for tokens in _TOKENS.values() for token in tokens]
_KINDS = [kind for kind, tokens in _TOKENS.items() for _ in tokens]
# Of these nobody reads the operations, which would tell code from what texts say.
_LOOKED_FOR = ("looks_up", "makes_unseen", "instantiates", "keeps_modules")
# What makes nothing that another text names, and what makes nothing of an unknown module.
_LITERAL = re.compile(r"(?:import_module|__import__)\(\s*[a-z]?[\"']")
_WHOLE_NAME = re.compile(r"(?:import_module|__import__)\(\s*([\"'])[^\"'\n]*\1\s*[,)]")
# What must follow a token that is a common word: a call or an alias, and of options a value.
_ALIAS = r"as[ \t]+\w+"
_CALLED = re.compile(rf"\w*[ \t]*(?:=(?!=|[ \t]*(?:False|None)\b)|\((?!`)|{_ALIAS})")
# Not `getattr(self, name)`, `getattr(torch, name)`, `getattr(args, "name", 0)`, `vars(args)`,
# `eval("args." + name)`.
_KNOWN = r"(?:self|cls|args|opts?|cfg|config|params|obj|model|torch|nn|F|np|jnp|tf|logging)\b"
_ARGUMENTS = r"\((?:[^()]|\([^()]*\))*\)"
_SEARCHED = re.compile(
    rf"\s*(?!{_KNOWN})(?:(?:\w+\.)?(?:import_module|__import__){_ARGUMENTS}|sys\.modules\[[^\]]*\]|[\w.]+)"
    rf"\s*(?:,(?!\s*[\"'])|\)\s*\[)|{_ALIAS}"
)
# `import_module(name)` as a statement, and `import_module(name).run()`.
_BEFORE_IMPORT = re.compile(r"[ \t]*(?:(?:try|else):[ \t]*)?(?:\w+\.)?")
_HEAD_OF_IMPORT = re.compile(rf"\w+{_ARGUMENTS}[ \t]*(?:(?P<asks>\.)(?!__dict__)|(?=[\n;#]|$))")
_OPEN = ("(", "[", "{", ",", "=", "\\")
# ``p -= lr * p.grad``, ``p.sub_(lr * g)``.
_UPDATES = re.compile(r"[^\n]*\b(?:g|grads?|gradients?)\b")
# Layers that are no part of a call, nor of ``isinstance(each, nn.Linear):``.
_NAMED = rf"(?:{'|'.join(sorted(training.LAYERS))})\b(?!\()"
_FOLLOWED = {
    "nn.": re.compile(rf"{_NAMED}(?!\)+[ \t]*(?::|and\b|or\b))"),
    "=nn.": re.compile(_NAMED),
    "](": re.compile(r"[^\n()]*,"),
    "metaclass=": re.compile(r"\s*(?!(?:abc\.)?ABCMeta\b)"),  # which only asks for methods
    **dict.fromkeys(("seed", "Seed", "determin"), _CALLED),
    **dict.fromkeys(("getattr(", "vars("), _SEARCHED),
    ".__dict__[": re.compile(r"(?![^\]\n]*\][ \t]*=(?!=))"),  # which gives a name a value
    # What a table holds is data.
    "eval(": re.compile(rf"(?!\s*(?:[\w.]+\.i?(?:loc|at)\[|[a-z]?[\"']{_KNOWN}\.))"),
    **dict.fromkeys(("-= ", ".sub_(", ".add_(", "_foreach_", ".data = ", ".copy_("), _UPDATES),
    # ``for epoch in range(first, last)``, ``while step < last``, ``while True``.
    "range(": re.compile(r"\s*[^\W\d][\w.]*[^\n,()]*(?:\([^\n()]*\)[^\n,()]*)?,"),
    "while ": re.compile(r"(?:True|1)[ \t]*:|[^\n]*(?:epoch|step|iter)"),
    "Random": re.compile(r"\w+\("),
    **dict.fromkeys(training.MAKERS_OF_MODELS, re.compile(r"\w*\(")),
    **dict.fromkeys(training.MASKING_MODELS, re.compile(r"\w*\.from_pretrained\(")),
    **dict.fromkeys(("Dropout", "dropout"), re.compile(r"[123]?d?\(")),
    "torch.func": re.compile(r"\b"),  # and no torch.functional
    ".grad.data": re.compile(r"(?![ \t]*\*=[ \t]*0)"),  # which only resets it
}


def hints(text: str) -> dict[str, list[int]]:
    """Where facts of each kind may be that a text may hold."""
    found: dict[str, list[int]] = {kind: [] for kind in _TOKENS}
    for index, start, end in _automaton().find_matches_as_indexes(text, overlapping=True):
        word = _WORDS[index]
        followed = _FOLLOWED.get(word)
        before = text[start - 1 : start]
        # Functions, which no "model.eval(" is, nor "zero_grad(" torch's.
        if word in _PLAIN and (
            f"a{before}".replace(".", "_").isidentifier()
            or text[max(0, start - 4) : start] == "def "
        ):
            continue
        if word in _WHOLE and f"a{before}".isidentifier() and before:
            continue
        if followed is None or followed.match(text, end):
            found[_KINDS[index]].append(start)
    for kind, known in (("instantiates", _LITERAL), ("makes_unseen", _WHOLE_NAME)):
        found[kind] = [each for each in found[kind] if not known.match(text, each)]
    found["keeps_modules"] = [x for x in found["keeps_modules"] if not _only_imports(text, x)]
    for kind in _LOOKED_FOR:
        found[kind] = [each for each in found[kind] if not layout_of(text).says(each)]
    return {kind: places for kind, places in found.items() if places}


def _only_imports(text: str, at: int) -> bool:
    """Whether a call that imports a module is a statement, or asks it for something by its name."""
    call = _HEAD_OF_IMPORT.match(text, at)
    if call is None or call["asks"]:
        return call is not None
    line = text.rfind("\n", 0, at) + 1
    alone = _BEFORE_IMPORT.fullmatch(text, line, at) is not None
    return alone and "sys.modules[" not in text and not text[:line].rstrip().endswith(_OPEN)


@cache
def _automaton() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, Implementation

    return AhoCorasick(_WORDS, implementation=Implementation.DFA)
