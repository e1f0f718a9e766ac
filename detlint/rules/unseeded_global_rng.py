"""DET102 unseeded-global-rng."""

from __future__ import annotations

import re
from functools import partial
from itertools import chain, filterfalse, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from detlint.callgraph.start import advice, enabling
from detlint.callgraph.tensorflow import needs_sessions, only_builds, only_restores, training
from detlint.dataflow.calls import word_of
from detlint.dataflow.learning.outputs import makes_data, writes_rows
from detlint.dataflow.randomness.idle_draws import decides, takes_rows
from detlint.index.facts import (
    CHOSEN,
    EVERY,
    HANDLES,
    IDLE,
    MEASURED,
    ON_CPU,
    ONCE,
    RENEWED,
    TESTED,
    UNSET,
    is_of_experiment,
)
from detlint.models.randomness import GENERATORS, OF_OWN, SAID
from detlint.models.roles import FILLS, RENDERS
from detlint.models.settings import SEEDS_NUMPY
from detlint.models.training import PER_BATCH, UNSEEN
from detlint.rule import Confidence, Example, Rule
from detlint.syntax.layout import code_of, says_in_code

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from detlint.callgraph.fact_base import Located
    from detlint.callgraph.program import Program
    from detlint.finding import Finding
    from detlint.settings import Settings

_SEEDED_BY = {
    "random": "random.seed(seed)",
    "numpy": "np.random.seed(seed)",
    "torch": "torch.manual_seed(seed)",
    "tensorflow": "tf.random.set_seed(seed)",
    "langdetect": "DetectorFactory.seed = 0",
    "graph_tool": "graph_tool.seed_rng(seed)",
    "tinygrad": "Tensor.manual_seed(seed)",
    "cupy": "cupy.random.seed(seed)",
}
_OF_TASKS = {
    "random": "random.Random(seed + number)",
    "numpy": "np.random.default_rng([seed, number])",
    "torch": "torch.Generator().manual_seed(seed + number)",
    "tensorflow": "tf.random.Generator.from_seed(seed + number)",
}
_TASKS_OWN = f"give each task a generator of its own, as {_OF_TASKS['numpy']}"
# Where none of these is at work, a random port or file name is all that a program draws, unless
# it writes data and picks of that.
_NUMERIC = (
    *("torch", "torchaudio", "torchvision", "transformers", "datasets", "lightning"),
    *("pytorch_lightning", "numpy", "scipy", "pandas", "sklearn", "librosa", "cv2", "PIL"),
    *("tensorflow", "keras", "jax", "polars", "pyarrow", "awswrangler", "spacy", "nltk", "gensim"),
    *("tokenizers", "sentencepiece", "networkx", "rdkit", "h5py", "skimage", "soundfile", "deap"),
    *("fastai", "gym", "gymnasium", "stable_baselines3", *OF_OWN),
)
# An input on which a model is tried, of fixed size, `torch.rand(1, 3, 224, 224)`, or of that of the
# model's inputs, `torch.rand(1, *input_shape)`; no latents, `torch.randn(64, 100, 1, 1)`.
_SIZES = r"(?:\d+\s*,\s*){2,}(?!1\b)\d+"
_OF_INPUTS = r"""(?:\d+\s*,\s*)*\*?(?:\w+\.|\w+\[["'])*in(?:put)?_(?:shape|size|dims?)(?:["']\])?"""
_EXAMPLE = re.compile(
    rf"torch\.\w+\([(\[]?(?:{_SIZES}|{_OF_INPUTS})[\d\s,)\]]*"
    r"(?:(?:device|dtype|requires_grad)\s*=\s*[\w.\"':]+,?\s*)*\)"
    rf"|(?:np|numpy)\.random\.(?:randn?\({_SIZES}|(?:normal|uniform|random|randint|standard_normal"
    rf"|random_sample|sample)\([^()]*\({_SIZES}\s*,?\s*\))\s*\)"
)
_PICKS = re.compile(r"\b(?:shuffle|sample|choices?)\(")
_REORDERS = re.compile(r"\b(?:shuffle|sample)\(")
# A file of models that are made for checkpoints to fill.
_FILLED = re.compile(r"\bclass\s[^:]*PreTrainedModel\s*[,)]")
# What is not there may seed, if it is called so.
_MAY_SEED = re.compile(
    r"seed|random|determin|runner|train|launch|setup|util|helper|common|init|experiment|engine",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(r"\)\.\w+_\(")  # of a tensor that was only just made
# Facts of environments: what has a generator, what a seed is given to, and what messages say.
_UNSEEN = "unseen_environments"
_RESET = "pass the seed to the first reset: env.reset(seed=seed), or before gym 0.26 env.seed(seed)"
_OF_ENVIRONMENTS = (
    (
        "environments",
        "environment",
        "makes an environment that draws from a generator of its own",
        _RESET,
    ),
    (_UNSEEN, "environment", "makes an environment, which may draw", _RESET),
    (
        "spaces",
        "space",
        "draws from the space's own generator, which no seed of the environment reaches",
        "seed the space as well: {}.seed(seed)",
    ),
)
_MODE = (".train()",)
_OF_OWN = "draws from the generator of the environment"
_TRAINING = ("torch", "tensorflow", "jax", "theano")
_DRAWING = ("draws", "orders", "builds")  # facts, of which all are torch's but the first
# Doubts about seeds, and how a message says where they seed.
_SEEDED_WHERE = {
    ON_CPU: "the other branch does not run, which seeds the generator of GPUs alone",
    CHOSEN: "it is picked from a table for that",
    ONCE: "a file is not there yet",
}
_PARTIAL = (UNSET, *_SEEDED_WHERE)
# What is shared out, by the kind of fact, and how a message says why what it draws varies.
_IN_TASKS = {
    "tasks": "tasks of {}: which worker runs a task, and whether it is seeded, decides the draws",
    "threads": "threads that {} makes: in which order these draw depends on time",
}
_FEW = 8  # draws among which the one is chosen that a message names
_MANY = 50  # first weights among which one is chosen that is more than a checkpoint's, and tasks


class _Task(NamedTuple):
    """What is shared out to workers, a draw in it, and the parts of files that run there."""

    shared: Located
    draw: Located
    within: Callable[[Located], bool]
    told: str

    def holds(self, drawn: tuple[Located, str]) -> bool:
        """Whether something is drawn there; first weights may be drawn before."""
        return drawn[1] == "draws" and self.within(drawn[0])


class UnseededGlobalRng(Rule):
    """Why runs differ: The global generators of Python, NumPy and torch start from the operating
    system's entropy in each process. torch takes initial weights, dropout and the order of a
    shuffling loader from it. A program that draws, and seeds nowhere, computes something else in
    each run.

    Reported:
    - a program that trains, and draws from a generator that nothing in its imports seeds
    - the same where only an option seeds that is off by default: `--seed` without a default, or
      `seed: null` in a configuration. So is a field `fixed: bool = False`
    - the same of an experiment of sacred whose configuration has no seed: it draws one in each run
    - the same where one branch seeds by `torch.manual_seed`, and the other, which is for CUDA, by
      `torch.cuda.manual_seed`: that seeds no draw on the CPU
    - the same where a seed only runs as a file is made that is not there yet
    - what a program draws in one branch, or in a method of one class, where another one alone seeds
    - a program that trains in an environment of Gymnasium or Gym to which nothing gives a seed
    - the same of an environment of its own that draws from `self.np_random`
    - the same of the spaces of an environment, such as `env.action_space`, that it draws from
    - both of a program that only evaluates, and writes something. Such an environment also if it
      takes a mean of the rewards, or calls `evaluate_policy` of Stable-Baselines3
    - what such a program gives a model by random transforms of torchvision, or in another order
      where that trains its statistics: `net.train()`
    - a model of Keras that is built before the seed
    - a `fit` of Keras that is given a `Sequence`, a `PyDataset` or batches of an
      `ImageDataGenerator`: it shuffles them by `random`
    - draws of `tf.random` and `tf.image` that are given no seed, unless DET801 asks for it
    - weights, dropout and shuffling queues of a program that trains with TensorFlow 1
    - `rvs`, `gaussian_kde.resample` and `Rotation.random` of SciPy, bounds of Prophet's `predict`,
      samples of distributions of torch and Pyro
    - schedulers of Syne Tune: `random_seed` fixes only a part of what they propose
    - langdetect, graph-tool and tinygrad, whose generators no other seed reaches
    - what models of sound mask by NumPy in training, as Wav2Vec2 of transformers does
    - models of torchvision and timm without trained weights, and what seems to be a layer of
      another library in a program that trains with torch
    - processes that start afresh, as by `torch.multiprocessing.spawn` or after
      `set_start_method("spawn")`, if only the program itself is seeded. A class of
      `mp.Process` draws in its `run`, and a function of Modal in its container
    - a draw that the program certainly gets to before it seeds, also one of a file that it imports;
      not one that nothing uses
    - tasks of a pool, joblib, Ray, Dask or Flower, or several threads, that draw unseeded, of a
      program that seeds or trains. So do those that share a generator which their file keeps
    - another program that writes something, such as a file, if its own file draws. First weights
      count there if nothing loads others
    - the same if that calls what draws in another file, or names a data set or model of another
      file that draws for each sample
    - the same of what such a data set or model always calls, also in another file
    - one finding for each program and library. It names a draw that runs under no test, if there
      is one, and rather one of the program's own file

    Lowers the confidence:
    - the program neither trains nor writes anything but plots, is a test or a benchmark, or only
      tries code: reported as *possible*. So is a module that others import, if it keeps nothing,
      and what only builds a graph of TensorFlow 1. So is an environment of one that trains nothing,
      and draws pictures of it. So is what seems to be one of another library: `CityEnv()`
    - nothing seems to depend on what is drawn: pauses, ports, names, what is only printed, or
      drawn in a figure. Or an option turns it on that nothing sets, or a constant of another module
      that is off: `settings.MIXUP = 0`. Or a person does, by `input()`. Or configurations alone
      turn the seed off: `flag: false`. Or a name picks what is seeded from a table of functions:
      `SEEDERS[name](seed)`

    Not reported:
    - programs without a numeric library that write no rows, or only pick numbers. Draws that no
      call turns on: `Rows({"mixup": 0})`. Weights that constants or a whole checkpoint overwrite
    - a seed handed to an unknown call, such as `init(seed=1)`: it may seed everything
    - `random` and NumPy in what only a loader's workers call: torch seeds them there, but not NumPy
      where requirements ask for one before 1.9. Where torch is not seeded, its finding names them

    What to do: Call `guard.enable(seed=0)` at the start of the program. Or seed what it draws from:
    `random.seed(0)`, `np.random.seed(0)`, `torch.manual_seed(0)`. A seed counts wherever the
    program runs it, also in a helper that it imports. One in a loader's `worker_init_fn` does not:
    it seeds the workers alone. Neither does putting back a saved state. To an
    environment, pass the seed at its first reset: `env.reset(seed=seed)`. Seed its space, too, if
    you draw from that: `env.action_space.seed(seed)`.

    Fix safety: unsafe. `guard.enable(seed=0)` seeds every generator, and turns deterministic
    algorithms on as well.
    """

    code = "DET102"
    summary = "a program draws from a global generator that nothing seeds"
    triggers = ()
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#controlling-sources-of-randomness"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import numpy as np


                def main():
                    rows = np.random.permutation(100)  # DET102
                    np.save("validation.npy", rows[:10])


                if __name__ == "__main__":
                    main()
            """,
            fixed="""
                import numpy as np
                import guard


                def main():
                    rows = np.random.permutation(100)
                    np.save("validation.npy", rows[:10])


                if __name__ == "__main__":
                    guard.enable(seed=0)
                    main()
            """,
        ),
    )

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:
        if not (program.imports(*_NUMERIC) or writes_rows(program.source.text)):
            return
        trains = cls._trains(program)
        sure = cls._sure(program, trains=trains)
        if sure >= settings.bar(cls.code):
            yield from cls._of_libraries(program, settings, sure, trains=trains)
        yield from cls._unseeded_environment(program, settings, sure, trains=trains)

    @classmethod
    def _of_libraries(
        cls, program: Program, settings: Settings, sure: Confidence, *, trains: bool
    ) -> Iterator[Finding]:
        """What draws from global generators, and from those that tasks share."""
        of_torch = list(cls._of_library(program, "torch", settings, trains=trains))
        told = trains and any(each.confidence >= cls.confidence for each in of_torch)
        for library in GENERATORS:
            if library == "torch":
                yield from of_torch
            elif library == "tensorflow" and not _asks_of_tensorflow(program):
                yield from cls._built_too_soon(program) if trains else ()
            else:
                yield from cls._of_library(program, library, settings, trains=trains, follows=told)
        yield from cls._kept_for_tasks(program, sure)

    @classmethod
    def _of_library(
        cls,
        program: Program,
        library: str,
        settings: Settings,
        *,
        trains: bool,
        follows: bool = False,
    ) -> Iterator[Finding]:
        """What draws from one; ``follows``: what torch seeds in workers is told of torch."""
        # Of a program that trains, all files count, and what seeds is found sooner.
        seeds = partial(_seeds, program, library, settings, trains=trains)
        shared = library in _OF_TASKS and any(map(program.has, _IN_TASKS))
        shares = shared and (trains or seeds())
        task = cls._drawn_in_tasks(program, library) if shares else None
        if trains and seeds():
            yield from cls._unseeded_process(program, library, cls.confidence, trains=True)
            yield from cls._drawn_too_soon(program, library, cls.confidence)
            yield from cls._drawn_beside(program, library, cls.confidence)
        else:
            draws = cls._draws(program, library, trains=trains, follows=follows)
            if task is not None:
                draws = filterfalse(task.holds, draws)
            yield from cls._unseeded(program, library, settings, draws, trains=trains)
        if task is not None:
            remedy = f"give each task a generator of its own, as {_OF_TASKS[library]}"
            said = f"{program.shown(task.draw)} draws from {GENERATORS[library]} in "
            said += task.told.format(program.shown(task.shared))
            sure, usual = cls._sure(program, trains=trains), task.shared.fact.doubt < IDLE
            yield cls._advised(program, task.shared, said, remedy, sure, usual=usual)

    @classmethod
    def _drawn_in_workers(cls, program: Program) -> str:
        """What other generators draw in the workers of a loader, which torch seeds by its own."""
        if not cls._trains(program):
            return ""
        firsts = []
        for library in _seeded(program):
            draws = cls._draws(program, library, trains=True)
            first = cls._surest(program, (x for x in draws if program.is_in_workers(x[0])))
            firsts += [program.shown(first[0])] if first is not None else []
        return " and ".join(firsts)

    @classmethod
    def _sure(cls, program: Program, *, trains: bool) -> Confidence:
        if trains and (only_builds(program) or program.purpose.is_self_test):
            return Confidence.POSSIBLE  # steps in a graph that nothing runs, or on made-up numbers
        return cls.confidence if trains or program.purpose.keeps() else Confidence.POSSIBLE

    @classmethod
    def _unseeded(
        cls,
        program: Program,
        library: str,
        settings: Settings,
        draws: Iterator[tuple[Located, str]],
        *,
        trains: bool,
    ) -> Iterator[Finding]:
        """A draw of a program that does not seed, or does with an option alone."""
        sure = cls._sure(program, trains=trains)
        all_asked = settings.bar(cls.code) == Confidence.POSSIBLE
        if not trains and program.purpose.only_checks():
            sure = Confidence.POSSIBLE
        if seeds := list(program.facts("seeds", library)):
            first = {(each.path, each.fact.place) for each in seeds if each.fact.doubt == ONCE}
            beside = {(each.path, each.fact.place) for each in seeds}
            draws = (
                each
                for each in draws
                if (place := (each[0].path, each[0].fact.place)) not in first
                and (place not in beside or program.happens_by_default(each[0]))
            )
        found = cls._surest(program, draws)
        if found is None and all_asked:
            found = (cls._unset if trains else cls._any_draw)(program, library)
            sure = Confidence.POSSIBLE
        if found is None:
            return
        unset = program.facts("seeds", library) if trains else ()
        chosen = any(each.fact.doubt == CHOSEN for each in seeds)
        if chosen or program.lacks(_MAY_SEED) or any(map(program.is_left_to_files, unset)):
            sure = Confidence.POSSIBLE
        if trains or not _seeds(program, library, settings, trains=False):
            yield cls._told(program, library, *found, sure)
        else:
            yield from cls._unseeded_process(program, library, sure, trains=False)
            own = list(cls._draws_of_tool(program, library))
            yield from cls._drawn_too_soon(program, library, sure, own)
            yield from cls._drawn_beside(program, library, sure)

    @classmethod
    def _unseeded_environment(
        cls, program: Program, settings: Settings, sure: Confidence, *, trains: bool
    ) -> Iterator[Finding]:
        """Environments of reinforcement learning, each with a generator of its own."""
        for kind, what, draws, remedy in _OF_ENVIRONMENTS:
            played = cls._sure_of_played(program, kind, sure, trains=trains)
            if played < settings.bar(cls.code):
                continue
            made = cls._first_of_environments(program, kind, trains=trains)
            if made is None:
                continue
            seeds = list(program.facts("environment_seeds", what))
            if any(each.fact.doubt not in _PARTIAL for each in seeds):
                continue
            unseeded = f"neither {program.title} nor what it imports seeds it"
            own, space = made.fact.what == "draw", made.fact.text.partition(".sample(")[0]
            advised = remedy.format(space if "(" not in space else "env.action_space")
            said = f"{program.shown(made)} {_OF_OWN if own else draws}, and "
            said += _only(program, seeds[0]) if seeds else unseeded
            yield cls._advised(program, made, said, advised, played)

    @classmethod
    def _sure_of_played(
        cls, program: Program, kind: str, sure: Confidence, *, trains: bool
    ) -> Confidence:
        """Of a program that trains nothing: what it draws by a space may be a sample of a size."""
        if kind == _UNSEEN:
            return Confidence.POSSIBLE
        if trains:
            return sure
        if program.purpose.only_checks() or says_in_code(program.source.text, RENDERS):
            return Confidence.POSSIBLE
        steps = program.facts("environment_steps") if kind == "environments" else ()
        measured = any(each.fact.what == MEASURED for each in steps)
        return cls.confidence if measured else sure

    @staticmethod
    def _first_of_environments(program: Program, kind: str, *, trains: bool) -> Located | None:
        """The first that draws. Of a program that trains nothing, its own or what it asks for: a
        space may be all that it draws from."""
        steps = trains or kind != "spaces"
        if steps and not program.has("environment_steps"):
            return None
        if kind == _UNSEEN:
            unseen = () if program.has("environments") else program.facts(kind)
            return next(filterfalse(program.is_of_project, unseen), None)
        own = program.said("registered_environments") if kind == "environments" else set()
        if trains:
            made = next((x for x in program.facts(kind) if not _is_registered(x, own)), None)
            return None if made is None or made.fact.doubt == UNSET else made
        found = chain(
            program.facts(kind, own=True), program.entry_calls.asked_for(kind, "", PER_BATCH)
        )
        others = (each for each in found if not _is_registered(each, own))
        return next((each for each in others if each.fact.doubt < IDLE), None)

    @classmethod
    def _unseeded_process(
        cls, program: Program, library: str, sure: Confidence, *, trains: bool
    ) -> Iterator[Finding]:
        """Processes that draw, of a program that seeds its own alone."""
        told: set[Located] = set()
        for spawn, parts in chain(program.processes(), program.processes(handed=True)):
            if spawn in told:
                continue
            holds = partial(program.is_within, parts=parts)
            draws = (x for x in cls._draws(program, library, trains=trains) if holds(x[0]))
            first = cls._surest(program, draws)
            if first is None or any(map(holds, program.facts("seeds", library))):
                continue
            own, _, named = spawn.fact.what.rpartition(".")
            worker = f"{own.removeprefix('.')}.{named}" if own.startswith(".") else named
            start = f"{_SEEDED_BY[library]} at the start of {worker}"
            told.add(spawn)
            yield program.finding(
                cls,
                spawn,
                f"{program.shown(first[0])} {first[1]} from {GENERATORS[library]} in processes "
                f"that {program.shown(spawn)} starts, and {worker} seeds it nowhere: they do not "
                f"inherit the seed of the program; call {start}",
                f"call guard.enable(seed=0), or {start}",
                confidence=sure,
            )

    @classmethod
    def _drawn_in_tasks(cls, program: Program, library: str) -> _Task | None:
        """A task that draws from the generator of whatever worker runs it, rather one that no
        option turns on."""
        found = None
        for kind, told in _IN_TASKS.items():
            for task, parts in islice(program.processes(kind), _MANY):
                holds = partial(_is_of_task, program, parts)
                draws = filter(holds, program.facts("draws", library, within=parts))
                first = cls._surest(program, ((each, "draws") for each in draws))
                if first is not None and not any(map(holds, program.facts("seeds", library))):
                    found = _Task(task, first[0], holds, told)
                    if task.fact.doubt < IDLE:
                        return found
        return found

    @classmethod
    def _kept_for_tasks(cls, program: Program, sure: Confidence) -> Iterator[Finding]:
        """A generator that a file keeps, and that tasks draw from one after the other."""
        if not program.has("kept_generators"):
            return
        made = [(x, x.fact.what.removeprefix(RENEWED)) for x in program.facts("kept_generators")]
        anew = [each for each, drawing in made if drawing != each.fact.what]
        for kind, told in _IN_TASKS.items():
            for task, parts in islice(program.processes(kind), _MANY):
                renewed = {x.path for x in anew if _is_of_task(program, parts, x)}
                for each, drawing in made:
                    drawn = any(map(parts.get(each.path, ()).__contains__, drawing.split()))
                    if drawn and each.path not in renewed:
                        where = told.format(program.shown(task))
                        said = f"{program.shown(each)} is drawn from in {where}"
                        usual = task.fact.doubt < IDLE
                        yield cls._advised(program, task, said, _TASKS_OWN, sure, usual=usual)
                        return

    @classmethod
    def _advised(  # noqa: PLR0913
        cls,
        program: Program,
        at: Located,
        said: str,
        remedy: str,
        sure: Confidence,
        *,
        usual: bool = True,
    ) -> Finding:
        sure = sure if usual else Confidence.POSSIBLE
        return program.finding(cls, at, f"{said}; {remedy}", remedy, confidence=sure)

    @classmethod
    def _drawn_too_soon(
        cls,
        program: Program,
        library: str,
        sure: Confidence,
        among: Iterable[Located] | None = None,
    ) -> Iterator[Finding]:
        """What a program draws before it seeds; ``among`` what counts in one that trains
        nothing."""
        all_count = library == "torch" and among is None
        kinds = _DRAWING if all_count else _DRAWING[:1]
        found = program.seed_order.drawn_before(library, kinds, among)
        if found is not None:
            draw, kind, seed = found
            verb = "draws first weights" if kind == "builds" else "draws"
            said = f"{program.shown(draw)} {verb} from {GENERATORS[library]} before "
            said += f"{program.shown(seed)} seeds it"
            remedy = f"seed at the start of {program.title}"
            usual = program.happens_by_default(draw)
            yield cls._advised(program, draw, said, remedy, sure, usual=usual)

    @classmethod
    def _built_too_soon(cls, program: Program) -> Iterator[Finding]:
        """A model of Keras that a program builds before it seeds."""
        built = program.facts("builds", "keras")
        found = program.seed_order.drawn_before("tensorflow", ("builds",), built)
        if found is not None:
            draw, _, seed = found
            said = f"{program.shown(draw)} is made of layers that have drawn first weights before "
            said += f"{program.shown(seed)} seeds Keras"
            remedy = f"seed at the start of {program.title}"
            yield cls._advised(program, draw, said, remedy, cls.confidence)

    @classmethod
    def _drawn_beside(cls, program: Program, library: str, sure: Confidence) -> Iterator[Finding]:
        """What a program draws in one of its branches, where another one alone seeds."""
        for seed, holds in program.seed_order.unseeded_branches(library):
            trains = any(map(holds, program.facts("trains")))
            drawn = cls._draws(program, library, trains=trains)
            found = cls._surest(program, (each for each in drawn if holds(each[0])))
            if found is not None:
                draw, verb = found
                usual = program.happens_by_default(draw)
                call = _SEEDED_BY[library].replace("(seed)", "(0)")
                remedy = f"call {call} at the start of {program.title}"
                said = f"{program.shown(draw)} {verb} from {GENERATORS[library]}, which "
                said += f"{program.shown(seed)} seeds in another branch alone"
                yield cls._advised(program, draw, said, remedy, sure, usual=usual)
                return

    @classmethod
    def _told(
        cls, program: Program, library: str, first: Located, verb: str, sure: Confidence
    ) -> Finding:
        draws = f"{program.shown(first)} {verb} from {GENERATORS[library]}, and"
        unseeded = f"{draws} neither {program.title} nor what it imports seeds it"
        if library == "torch" and (given := cls._drawn_in_workers(program)):
            unseeded += f"; the workers of its loader seed {given} from it"
        seeds = (x for x in program.facts("seeds", library) if x.fact.doubt in _PARTIAL)
        optional = iter(sorted(seeds, key=lambda each: not each.fact.text.startswith("@")))
        call = _SEEDED_BY[library]
        verb = "set" if "=" in call else "call"
        advised, edits = advice(program, call), enabling(program)
        if library in OF_OWN:
            advised, edits = f"{verb} {call} at the start of {program.title}", ()
        if library == "tensorflow" and needs_sessions(program, first):
            call = "tf.set_random_seed(seed)"  # before anything is put into the graph
            advised, edits = f"call {call} at the start of {program.title}", ()
        remedy = f"{verb} {call.replace('(seed)', '(0)')} at the start of {program.title}"
        if seed := next(optional, None):
            unseeded = f"{draws} {_only(program, seed)}"
            if is_of_experiment(seed.fact.needs):
                decorator = seed.fact.text if seed.fact.text.startswith("@") else "@ex.main"
                experiment = decorator.removeprefix("@").rpartition(".")[0]
                remedy, edits = f"give the experiment one: {experiment}.add_config(seed=0)", ()
                advised = remedy
            else:
                remedy = program.option_unset(seed)[1] or remedy
        return program.finding(cls, first, f"{unseeded}; {remedy}", advised, edits, confidence=sure)

    @classmethod
    def _any_draw(cls, program: Program, library: str) -> tuple[Located, str] | None:
        """The first draw of a program, whatever that is for, but rather one that is of use, and
        rather its own than one that it asks others for."""
        own = list(program.facts("draws", library, own=True))
        of_use = (each for each in own if each.fact.doubt < IDLE)
        elsewhere = cls._drawn_elsewhere(program, library)
        others = cls._drawn_elsewhere(program, library, every=True)
        first = next(chain(of_use, own, elsewhere, others), None)
        return None if first is None else (first, "draws")

    @classmethod
    def _unset(cls, program: Program, library: str) -> tuple[Located, str] | None:
        """The first draw that an option would turn on which the program does not have, or on which
        nothing seems to depend."""
        draws = islice(cls._draws(program, library, trains=True), _MANY)
        return next((each for each in draws if each[0].fact.doubt >= IDLE), None)

    @staticmethod
    def _surest(
        program: Program, draws: Iterator[tuple[Located, str]]
    ) -> tuple[Located, str] | None:
        """Of the first draws one that runs for sure, or else the first of those that may."""
        best, least = None, IDLE
        for each in islice((each for each in draws if each[0].fact.doubt < IDLE), _FEW):
            at = each[0]
            # Of the branches of the program's own file, one is taken.
            own = at.path == program.path and at.fact.doubt <= TESTED
            found = 0 if own else at.fact.doubt
            sure = each[1] != "draws" or program.surely_draws(at, PER_BATCH)
            if not found and not (sure and program.happens_by_default(at)):
                found = TESTED
            if program.leaves_uncalled(at) or _EXAMPLE.fullmatch(at.fact.text):
                found = HANDLES
            if found < least:
                best, least = each, found
            if not found:
                break
        return best

    @staticmethod
    def _trains(program: Program) -> bool:
        """Whether it trains a network: ``.fit(`` of scikit-learn draws by itself."""
        if any(program.has("trains", library) for library in _TRAINING):
            return True
        keras = program.imports("tensorflow", "keras") and program.has("trains", "keras")
        return keras or program.variation.hands_model_on is not None

    @classmethod
    def _draws(
        cls, program: Program, library: str, *, trains: bool, follows: bool = False
    ) -> Iterator[tuple[Located, str]]:
        """What draws, and how a message says so: last the weights, which a checkpoint may fill.
        ``follows``: what torch seeds in workers is told of torch."""
        if not trains:
            yield from ((each, "draws") for each in cls._draws_of_tool(program, library))
            return
        # torch seeds the others in the workers of its loaders.
        seeded = library in _seeded(program) and (follows or program.has("seeds", "torch"))
        kinds = ("draws", "orders") if library == "torch" else ("draws",)
        for own in (True, False):  # what the program says itself is sooner understood
            for kind in (*kinds, "perturbs") if own else kinds:
                for each in program.facts(kind, library, own=own):
                    if not (seeded and program.is_in_workers(each)):
                        yield each, "draws"
        if library == "random":
            fed = program.variation.fed_by_number()
            yield from ((each, "draws the order of batches") for each in fed)
        kept = filterfalse(program.seed_order.is_replaced, cls._weights(program, library))
        yield from ((each, "draws first weights") for each in kept)
        for each in program.facts("perturbs", library):
            if not (seeded and program.is_in_workers(each)):
                yield each, "draws"
        if library == "torch":
            seem = filterfalse(program.is_of_project, program.facts("builds", UNSEEN))
            yield from ((each, "seems to draw first weights") for each in seem)

    @classmethod
    def _draws_of_tool(cls, program: Program, library: str) -> Iterator[Located]:
        """The same of a program that trains nothing."""
        # A tool's imports hold much that it never calls, and the main block of a package's module
        # often only tries it on random numbers, as tests do.
        kinds: tuple[str, ...] = ("draws", "drops")
        in_mode = says_in_code(program.source.text, _MODE)
        if library == "torch" and in_mode:
            kinds += ("orders", "perturbs")  # statistics of batches follow, and layers drop
        kinds += _of_untrained(program)
        draws = [x for kind in kinds for x in program.facts(kind, library, own=True)]
        draws = [each for each in draws if in_mode or not each.fact.in_mode]
        some = [each for each in draws if not _EXAMPLE.fullmatch(each.fact.text)]
        if not program.imports(*_NUMERIC):
            moves = partial(_moves_rows, program, makes_data=makes_data(program.source.text))
            some = list(filter(moves, some))
        if len(some) == len(draws) or not program.purpose.tries_itself():
            yield from (each for each in some if not program.purpose.only_tries(each))
        yield from cls._drawn_elsewhere(program, library)

    @staticmethod
    def _drawn_elsewhere(
        program: Program, library: str, *, every: bool = False
    ) -> Iterator[Located]:
        """What functions of other files draw that it calls, and data sets and models that its own
        file names, each time that they are asked; ``every``: also for nothing, or behind a test
        that it may not pass."""
        for kind in ("draws", "drops", *_of_untrained(program)):
            asked = program.entry_calls.asked_for(kind, library, PER_BATCH, every=every)
            yield from (each for each in asked if _EXAMPLE.fullmatch(each.fact.text) is None)

    @staticmethod
    def _weights(program: Program, library: str) -> Iterator[Located]:
        """What draws initial weights: first what no checkpoint is made for."""
        if library == "tensorflow" and only_restores(program):
            return
        later: list[tuple[bool, bool, Located]] = []
        for each in islice(program.facts("builds", library), _MANY):
            filled = _FILLED.search(code_of(program.source_of(each.path).text)) is not None
            in_place = _IN_PLACE.search(each.fact.text) is not None
            if filled or in_place:
                later.append((filled, in_place, each))
            else:
                yield each
        yield from (each for *_, each in sorted(later, key=itemgetter(0, 1)))


def _of_untrained(program: Program) -> tuple[str, ...]:
    """First weights count in a program that trains nothing if it keeps what they give, and no
    checkpoint may replace them."""
    keeps = program.purpose.keeps() and not program.purpose.tries_itself()
    return ("builds",) if keeps and not any(program.holding(*FILLS)) else ()


def _is_registered(made: Located, own: set[str]) -> bool:
    """Whether an environment may be of a class of the program's, which draws as that says."""
    named = made.fact.what
    return named in own or (bool(own) and named != "draw" and "" in {named, *own})


def _is_of_task(program: Program, parts: Mapping[str, Container[str]], located: Located) -> bool:
    """Whether a task does what a fact says: not what runs as a file is imported."""
    return bool(located.fact.place) and program.is_within(located, parts)


def _moves_rows(program: Program, located: Located, *, makes_data: bool) -> bool:
    """Whether a draw changes the order of rows, or in a program that ``makes_data``, which rows go
    where."""
    fact = located.fact
    if (_PICKS if makes_data else _REORDERS).search(fact.text):
        return True
    word = fact.text.partition("(")[0].rpartition(".")[2]
    calls = program.unit(located.path).ops_naming(word)
    drawn = [each for each in calls if each.row == fact.row and word_of(each) == word]
    return any(map(takes_rows, drawn)) or (makes_data and any(map(decides, drawn)))


def _only(program: Program, seed: Located) -> str:
    """How a message says that something seeds in some runs alone, or with a number of each."""
    if is_of_experiment(seed.fact.needs):
        return f"{program.shown(seed)} seeds it with another number in each run"
    if where := _SEEDED_WHERE.get(seed.fact.doubt):
        return f"{program.shown(seed)} seeds it only where {where}"
    when = program.option_unset(seed)[0] or "with an option that is off by default"
    return f"{program.shown(seed)} seeds it only {when}"


def _asks_of_tensorflow(program: Program) -> bool:
    """Not where DET801 asks for the seed, nor, as that takes long, where nothing names it."""
    return any(program.holding("tensorflow")) and training(program) is None


def _seeded(program: Program) -> Sequence[str]:
    """What torch seeds in the workers of its loaders."""
    return ("random", "numpy")[: 2 - program.asks_for_older("torch", SEEDS_NUMPY)]


def _seeds(program: Program, library: str, settings: Settings, *, trains: bool) -> bool:
    """Whether a program seeds a library where nobody gives it options, also by what the settings
    say of its functions. A trainer of which one does not see that it is made does so only in a
    program that trains."""
    for path, fact in program.facts("seeds", library):
        made = trains or fact.what != EVERY or program.runs(path, fact.row)
        if made and fact.doubt not in _PARTIAL:
            return True
    named = [name.rpartition(".")[2] for name, says in settings.models if says in SAID]
    paths = program.holding(*named) if named else ()
    return any(program.unit(each).seeding.seeds_by_models(library) for each in paths)
