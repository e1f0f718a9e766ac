"""What the name of a function or variable says of it, asked only where nothing else does."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Callable

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: ``manualSeed``, ``manual_seed``."""
    return [word.lower() for word in _WORD.findall(name)]


def _says(name: str, known: frozenset[str]) -> bool:
    """Whether one of the words of a name in snake case is known. A class of such a name does
    something else: ``DropPath``, ``LogSoftmax``."""
    return not known.isdisjoint(name.split("_"))


def _ends(name: str, known: frozenset[str]) -> bool:
    """Whether the last word of a name is, in any case: ``IDs``, ``userId``."""
    return name.lower().rpartition("_")[2] in known or not known.isdisjoint(words_of(name)[-1:])


def _holds(name: str, parts: tuple[str, ...]) -> bool:
    """Whether a name holds one of some parts, in any case."""
    lower = name.lower()
    return any(each in lower for each in parts)


def says(text: str) -> Callable[[str], bool]:
    """Whether one of some words is in a name, in snake or camel case."""
    known = words(text)
    return lambda name: not known.isdisjoint(words_of(name))


def ends_in(text: str) -> Callable[[str], bool]:
    """Whether a name ends in one of some words."""
    known = words(text)
    return lambda name: _ends(name, known)


def holds(text: str) -> Callable[[str], bool]:
    """Whether a name holds one of some parts."""
    parts = tuple(text.split())
    return lambda name: _holds(name, parts)


# Calls whose output is for people to read.
_LOG_METHODS = words(
    """critical debug error exception fatal info log success trace verbose warn warning"""
)
_LOGGERS = words("log logger logging console msg parser")
_LOG_FUNCTIONS = words(
    """warnings.warn sys.exit sys.stderr.write builtins.exit builtins.print icecream.ic pytest.fail
    pytest.skip"""
)
_LOG_MODULES = ("logging.", "traceback.")
# What is added to a level of logging, for one process or one time.
_LOG_ONCE = ("_rank_0", "_rank0", "_rank_zero", "_once", "_advice", "_main_process")
_PROGRESS = ("progress", "pbar", "tqdm", "spinner", "callback")
_PROGRESS_ENDS = words("bar bars echo console status hook")
_FAILURES = ("fail", "error", "exception", "skipped")
_TELLING = frozenset(("display", "echo", "pprint", "print"))
_TOLD = words(
    """addItems add_argument add_parser debug error fail info insertItems secho set_description
    set_description_str set_postfix set_postfix_str warn warning"""
)
_TOLD_BY_FUNCTIONS = frozenset(("debug", "info", "warn", "warning"))
# Parts of a window, in which a person picks.
_WIDGETS = ("dropdown", "combobox", "listbox", "selectbox", "populatebox", "listwidget")
# Methods that describe an object to people.
DESCRIBING = words("__format__ __repr__ __rich_repr__ __str__ _repr_html_ extra_repr")
_DESCRIPTIONS = words("describe description dump dumps format join message pformat summary")
_REMOVING = words("delete discard drop exclude ignore remove select")
_BARS = words("tqdm tqdm_notebook trange track progress_bar progressbar progbar")
# What is listed under such a name goes into a message: `missing_keys`, `self.unexpected`.
_FAULTS = words(
    """complaints conflicting illegal incompatible invalid mismatch mismatched mismatching missing
    orphan orphans problems undefined unexpected unmatched unparsed unreadable unrecognized
    unresolved unsupported unused violations"""
)
# And what is listed under these, names that are looked up among: `stop_words`, `target_modules`.
_LOOKED_UP = words(
    """allow allowed allowlist banned blacklist blocked denylist exclude excluded excludes
    forbidden ignore ignored leaf skip skipped supported whitelist stop stopping stopword
    stopwords"""
)
_LOOKED_UP_ENDS = words("extensions suffixes module modules")
_OF_MODULES = words("name names classes types")
_DONE_TO = words("copy delete remove save")  # columns_to_remove
_VALID_DATA = ("data", "dir", "file", "image", "label", "path", "set")  # of valid_files
_INEXACT = (
    *("grad", "loss", "weight", "param", "delta", "mean", "avg", "average", "error", "score"),
    *("reward", "logit", "feature", "energy"),
)
_APPLYING = words("map imap starmap")
_DRAWS = words(
    """choice choices integers normal permutation randint random randrange sample shuffle
    standard_normal uniform"""
)
# Functions that change or move the file that they are told, and no other.
_ON_FILES = words(
    """chmod chown clean cleanup copy copyfile copytree delete extractall makedir makedirs mkdir
    move remove rename rm rmdir rmtree symlink touch unlink untar unzip"""
)
_ON_ARCHIVES = words("extract unpack")
# What is called like this is a neural network.
_NETWORKS = words("actor backbone critic discriminator generator model net network policy_net unet")
# Code under these only traces, compiles or times: values do not matter there.
_UNREAL = words("meta fake abstract warmup bench benchmark profile dryrun")
_UNREAL_PAIRS = (("warm", "up"), ("dry", "run"))
_CAPTURES = ("CUDAGraph", "cuda.graph", "make_graphed_callables", "FakeTensorMode")
# out_features, num_classes, hidden_size: one number, by all conventions.
_COUNT = words("in out num n")
# A function of one of these names may fill what it gets; another one in forward() computes.
_FILLING = (
    *("init", "fill", "reset", "normal", "uniform", "xavier", "kaiming", "glorot", "zero", "ones"),
    *("const", "ortho", "copy", "load", "set", "update", "ema", "observe", "quant"),
)
# What fills one's own weights: nn.init.zeros_(self.bias), self.weight.data.uniform_(-1, 1).
_INITIALISING = (
    *("normal_", "uniform_", "zero_", "zeros_", "ones_", "constant_", "fill_", "copy_", "eye_"),
    *("orthogonal_", "dirac_", "sparse_"),
)

_SIZE = ("size", "ratio", "frac", "split", "percent", "test", "num")
# What may follow the word in the name of a seed: `seed_value`, but not `seed_file`.
_TAILS = words("""base int np num number numpy python seq sequence torch used val value""")
_LABELS = words(
    """address dir directory file filename folder host id ids key name names path port ports
    prefix session suffix tag token uid url uuid"""
)
_FILES = words("ckpt dir directory file filename folder path")
_MADE_UP = frozenset(("id", "name", "path", "port", "tag", "uuid"))
_ASIDE_FIRST = words("backoff delay dummy example sleep wait")
_ASIDE_LAST = words(
    """address backoff color colors colour colours delay endpoint endpoints host nonce port ports
    proxies proxy retry sleep timeout uid url uuid wait"""
)
_TURNING_ON = frozenset(
    ["activate", "config", "configure", "enable", "ensure", "force", "full", "init", "make"]
) | {"seed", "set", "setup", "turn", "use"}
_GENERATORS = frozenset(("gen", "generator", "prng", "rng", "rs"))


# Whether what has this name holds the options of a program: ``train_args``, ``cfg``.
holds_options = ends_in(
    """arg args arguments cfg cfgs conf config configs configuration flags hparams opt options opts
    params"""
)


def is_class_of_options(name: str) -> bool:
    """The same of the objects of a class: ``TrainArgs``."""
    said = words_of(name)
    return bool(said) and bool(holds_options(said[-1]))


def is_log(qualified: list[str], owner: str, word: str) -> bool:
    """Whether a call tells people something; ``owner`` is the name of what it is a method of."""
    if any(map(_is_log_function, qualified)):
        return True
    if not owner:
        told = word in _TOLD_BY_FUNCTIONS or word.startswith("rank_zero_")
        return told or not _TELLING.isdisjoint(words_of(word))
    level = word
    for each in _LOG_ONCE:
        level = level.removesuffix(each)
    if level in _LOG_METHODS and _ends(owner, _LOGGERS):
        return True
    shown = word in _TOLD or not _TELLING.isdisjoint(words_of(word))
    return shown or any(_holds(each.replace("_", ""), _WIDGETS) for each in (word, owner))


# A file in which people look up what happened.
_LOG_FILE = re.compile(
    r"(?:\w*_)?log(?:f|s|w|_?(?:f|fh|file|fp|handle|out|path|w|writer))?", re.IGNORECASE
)


def is_log_file(name: str) -> bool:
    """``failure_log``, ``log_path``, ``self.logf``."""
    return _LOG_FILE.fullmatch(name.rpartition(".")[2]) is not None


def _is_log_function(name: str) -> bool:
    last = name.rpartition(".")[2]
    return (
        name in _LOG_FUNCTIONS
        or name.startswith(_LOG_MODULES)
        or last.startswith("rank_zero_")
        or (name.startswith("click.") and last.endswith("echo"))
    )


def is_progress(owner: str, word: str) -> bool:
    """Whether a call says how far work has come: ``bar.update()``, ``on_done_callback(…)``."""
    if any(_holds(each, _PROGRESS) or _ends(each, _PROGRESS_ENDS) for each in (word, owner)):
        return True
    return "log" in word.split("_")


def notes_failure(word: str) -> bool:
    """Whether what has this name lists what went wrong: ``failed``, ``errors``."""
    return any(each.startswith(_FAILURES) for each in word.lower().split("_"))


# Whether calling a function once for each element shows their order: ``write_row``.
# Each call leaves something to those that follow. What other verbs do, to upload, to save or to
# check, is done to each element by itself as far as anyone can tell.
leaves_something = says(
    """add append concat emit enqueue extend feed fit ingest insert learn merge plugin push put
    register step train update write writelines writer writerow writerows writestr yield"""
)


# Whether what is called like this puts rows where those of the same key are: ``upsert_rows``.
finds_rows = says("upsert upserts")


def writes(word: str) -> bool:
    """``write_thumbnail``."""
    return words_of(word)[:1] in (["write"], ["save"])


def applies(word: str) -> bool:
    """``map``, ``imap_unordered``, ``track_parallel_progress``."""
    return "parallel" in word or _says(word, _APPLYING)


takes_rows = holds("starmap")


def filters(word: str) -> bool:
    """``keep_images``."""
    return words_of(word)[:1] in (["keep"], ["filter"], ["only"])


# Whether a function makes one list of several: ``flatten``, ``chain_all``.
joins = says("chain chained concat concatenate flat flatten flattened")


def describes(word: str) -> bool:
    """Whether a function makes a text or a number for people: ``format_names``, an error."""
    words = words_of(word)
    return not _DESCRIPTIONS.isdisjoint(words) or word.endswith(("Error", "Exception", "Warning"))


# ``train_step``, ``partial_fit``.
trains = says("fit ingest learn step train")


# Whether the order of a list that a function is given matters: ``train_on``.
# It is in the order of all that these take at once: data, numbers of words, random draws.
takes_order = says(
    """append array asarray batch batches choice choices collate concat concatenate dataframe
    dataset datasets dataloader dump dumps embed embedding embeddings encode extend feed fit
    fold folds frame from generate hash images index ingest insert kfold learn loader md5
    permutation prompt reindex sample sampler samples sequential series sha1 sha256 shuffle
    shuffled split stack step subset tensor token tokens train vocab vocabulary write writelines
    writer writerow writestr"""
)


def removes(word: str) -> bool:
    """``remove_columns``."""
    return _says(word, _REMOVING)


sorts = holds("sort")  # ``sort_by_number``


def is_bar(word: str) -> bool:
    """A progress bar hands on what it gets."""
    return word.lower() in _BARS


def says_little(word: str) -> bool:
    """Whether what has this name is for people to read, or to look up among."""
    parts = word.lower().split("_")
    if not (_FAULTS | _LOOKED_UP).isdisjoint(parts) or _ends(word, _LOOKED_UP_ENDS):
        return True
    if "valid" in parts:
        after = "_".join(parts[parts.index("valid") + 1 :])
        return not _holds(after, _VALID_DATA)
    above, last = parts[-2:-1], parts[-1] if parts else ""
    named = above in (["module"], ["modules"]) and last in _OF_MODULES
    return named or (len(parts) > 2 and above == ["to"] and last in _DONE_TO)


# Whether a table of this name holds the same for many keys.
# `freq[x]` is the same for many, `order[x]` is not.
weighs = holds("count freq score size length weight cnt total num")


# Whether what has this name is a number, or holds some.
is_number = ends_in(
    """id ids idx idxs index indexes indices ind inds num number numbers nums count counts size
    sizes len lens length lengths rank ranks step steps epoch epochs year years dim dims axis
    axes offset offsets position positions label labels target targets y ys int ints bit bits
    gpu gpus seed seeds port ports degree degrees channel channels shape shapes width widths
    height heights scale scales t i j k n"""
)

# Whether what has this name is a node of a graph, most of which are numbers.
is_node = words("u v").__contains__


# Whether what has this name is a text.
is_text = ends_in("name filename path filepath text string word sentence url dirname key")


# Whether what has this name holds texts.
are_texts = ends_in(
    """names filenames paths filepaths texts strings words sentences urls dirnames chars characters
    files columns extensions suffixes prefixes modules imports vocab vocabulary alphabet
    phonemes graphemes tags keywords keys fields attrs attributes tokens"""
)


def seems_inexact(name: str) -> bool:
    """Whether what has this name is a float, or holds some: ``total_loss``."""
    return any(word.startswith(_INEXACT) for word in words_of(name.rpartition(".")[2]))


# ``data_dir``.
is_folder = ends_in("dir directory folder path root")


def draws(word: str) -> bool:
    """Whether a method of a generator of random numbers draws some."""
    return word in _DRAWS


def works_on_file(word: str) -> bool:
    """``remove_file``."""
    parts = word.split("_")
    archive = "archive" in parts and not _ON_ARCHIVES.isdisjoint(parts)
    return archive or not _ON_FILES.isdisjoint(parts)


def is_network(word: str) -> bool:
    """``text_model``."""
    return word in _NETWORKS or word.endswith(("_model", "_net"))


def only_traces(function: str, decorators: list[str], body: str) -> bool:
    """Whether a function runs on values that do not matter: it traces, compiles or times."""
    return (
        _is_unreal(function)
        or any(map(_marks_unreal, decorators))
        or any(each in body for each in _CAPTURES)
    )


def _is_unreal(function: str) -> bool:
    parts = function.lower().split("_")
    return not _UNREAL.isdisjoint(parts) or any(each in pairwise(parts) for each in _UNREAL_PAIRS)


def _marks_unreal(decorator: str) -> bool:
    meta = any(each.endswith("meta") for each in words_of(decorator))
    return meta or _holds(decorator, ("fake", "abstract"))


# The same of a block, by what it enters: ``torch.device("meta")``.
enters_tracing = holds(
    """"meta" 'meta' fake meta_ init_empty no_init cuda.graph( cudagraph cuda.stream( profile"""
)


def counts(word: str) -> bool:
    """Whether what has this name is one number: ``out_features``."""
    first, several, _ = word.partition("_")
    if several and first in _COUNT:
        return word[-1:].isalpha() and word[-1:].islower()
    return word.rpartition("_")[2] in ("size", "dim")


def fills(word: str) -> bool:
    """Whether a function may fill what it gets: ``reset_weight``."""
    return word.endswith("_") or _holds(word, _FILLING)


def initialises(word: str) -> bool:
    """Whether a function fills weights at the start: ``xavier_uniform_``."""
    return word.endswith(_INITIALISING) or ("init" in word and not word.startswith("__"))


# Whether a name says that something is evaluated on: ``val_loader``.
evaluates = says("dev eval evaluation infer inference predict test testing val valid validation")


def is_size(name: str) -> bool:
    """Whether a name is that of a share or a number of samples."""
    return name == "k" or name.startswith("n_") or any(each in name for each in _SIZE)


def means_seed(name: str) -> bool:
    """Whether a name is that of a seed: ``data_seed``, ``manualSeed``, ``random_state``."""
    parts = words_of(name)
    while len(parts) > 1 and (parts[-1] in _TAILS or parts[-1].isdigit() or len(parts[-1]) == 1):
        parts.pop()
    if parts[-2:] == ["random", "state"] or parts[-1:] == ["randomstate"]:
        return True
    seeds = bool(parts) and parts[-1].removesuffix("s").endswith("seed")
    return seeds and not _hashes(parts)


def means_seeding(name: str) -> bool:
    """Whether a function of this name takes a seed: ``set_seed``, ``seed_everything``."""
    parts = words_of(name)
    seeds = not {"seed", "seeds", "reseed"}.isdisjoint(parts) and _LABELS.isdisjoint(parts)
    return seeds and not _hashes(parts)


def _hashes(parts: list[str]) -> bool:
    """``hash_seed``: of a hash function, not of a generator."""
    return any(
        word.startswith(("hash", "salt", "crypt")) and after.startswith("seed")
        for word, after in pairwise(parts)
    )


def means_label(name: str) -> bool:
    """Whether a name is that of a run, a file or a port."""
    parts = words_of(name)
    return bool(parts) and parts[-1] in _LABELS


def makes_label(function: str) -> bool:
    """Whether a function of this name makes up one. Not ``key``: JAX seeds with keys."""
    parts = words_of(function)
    return bool(parts) and parts[-1] in _MADE_UP


def names_file(name: str) -> bool:
    """Whether a name is that of a file or a folder, or of what makes its name."""
    return not _FILES.isdisjoint(words_of(name)) or "cache_name" in name


# Whether a name is that of what identifies something, and so has to differ.
identifies = says("fingerprint fingerprints id ids name names nonce token tokens uuid uuids")


# Whether what has this name says which of several something is: ``index``, ``worker_id``.
numbers = ends_in("i id idx index j k key name number position rank uid")


def is_generator(name: str) -> bool:
    """Whether a name is that of a seed or of a generator of random numbers."""
    parts = words_of(name)
    return means_seed(name) or (bool(parts) and parts[-1] in _GENERATORS)


def is_aside(name: str) -> bool:
    """Whether no result seems to depend on what has a name: pauses, ports, colours, examples."""
    parts = words_of(name)
    run = parts[-2:] in (["run", "id"], ["run", "name"])
    return run or (bool(parts) and (parts[0] in _ASIDE_FIRST or parts[-1] in _ASIDE_LAST))


# Whether a function of this name draws a picture.
says_picture = says("plot visualise visualize visualisation visualization viz")


_is_of_picture = says("image images img imgs picture pictures")


def keeps_picture(word: str) -> bool:
    """``save_image``, ``imwrite``."""
    return word in ("imsave", "imwrite") or (writes(word) and _is_of_picture(word))


# Whether what is asked holds for most calls, or whenever something is trained.
says_usual = says("name prob rand random rank shuffle train training")


def turns_determinism_on(function: str) -> bool:
    """``set_deterministic``, ``enable_full_determinism``; not ``is_deterministic``."""
    parts = words_of(function)
    if not parts or parts[0] not in _TURNING_ON or "non" in parts:
        return False
    return any(each.startswith("determinis") for each in parts)
