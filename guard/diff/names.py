"""What people call the things that a trace holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.trace import Event

_GENERATORS = {
    "python": "Python's random",
    "random": "Python's random",
    "numpy": "NumPy's global generator",
    "torch.cpu": "torch's generator of the CPU",
}
_WORDS = {
    "output": "module output",
    "optimizer": "optimizer state",
    "generator": "generator state",
}
_DRAWING = (
    *("bernoulli", "cauchy", "dropout", "exponential", "geometric", "log_normal", "multinomial"),
    *("normal", "poisson", "rand", "rrelu_with_noise", "uniform"),
)
MADE = "made at "  # the beginning of the name of a generator object, before its line
INPUT = " input"  # the end of the name of a batch that is what went into a model
KINDS = (  # in the order of guard.trace
    *("batch", "output", "loss", "gradient", "parameter", "buffer", "optimizer"),
    *("hyperparameter", "generator", "operator"),
)
_FORMS = {
    "output": "the output of {name}",
    "loss": "the loss",
    "gradient": "the gradient of {name}",
    "parameter": "the parameter {name}",
    "buffer": "the buffer {name}",
    "optimizer": "the optimizer's state {name}",
    "hyperparameter": "the hyperparameter {name}",
    "held": "what {name} holds",
}


def packet(operator: str) -> str:
    """An operator without its library and overload: "bernoulli_" of "aten.bernoulli_.float"."""
    return operator.partition(".")[2].partition(".")[0]


def is_random(operator: str) -> bool:
    """Whether an operator draws random numbers."""
    return any(word in packet(operator) for word in _DRAWING)


def describe(event: Event) -> str:
    """An event in a few words: "the output of encoder.layers.0"."""
    name = event.name
    if event.kind == "generator":
        return generator(name)
    if event.kind == "batch":
        told = f"the batch ({name})" if name not in ("", "batch") else "the batch"
        if name.endswith(INPUT):
            told = f"the input of {name.removesuffix(INPUT)}"
    elif event.kind == "operator":
        where = f" in {event.module}" if event.module else ""
        phase = f" ({event.phase})" if event.phase else ""
        told = f"{name}{phase}{where}"
    else:
        told = _FORMS[event.kind].format(name=name or "the model")
    return f"{told}, call {event.call + 1}" if event.call else told


def generator(name: str) -> str:
    """A generator: "NumPy's global generator"."""
    if name.startswith("torch.") and name not in _GENERATORS:
        return f"torch's generator of {name.removeprefix('torch.')}"
    return _GENERATORS.get(name, f"the generator {name}")


def count(number: int, kind: str) -> str:
    """So many of a kind: "1 batch", "12 module outputs"."""
    return f"{number:,} {_WORDS.get(kind, kind) if number == 1 else several(kind)}"


def several(kind: str) -> str:
    """The plural of a kind."""
    word = _WORDS.get(kind, kind)
    return f"{word}{'es' if kind in ('batch', 'loss') else 's'}"


def steps(number: int) -> str:
    """So many steps."""
    return count(number, "step")


def listed(words: list[str]) -> str:
    """Words as a sentence has them: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
