"""What the name of a function or variable says of it, asked only where nothing else does."""

from __future__ import annotations

import re
from itertools import pairwise

from detlint.models.model import words

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Calls whose output is for people to read.
_LOG_METHODS = frozenset(
    [
        "critical",
        "debug",
        "error",
        "exception",
        "fatal",
        "info",
        "log",
        "success",
        "trace",
        "verbose",
        "warn",
        "warning",
    ]
)
_LOGGERS = re.compile(r"(?:^|_)(?:log|logger|logging|console|msg|parser)$", re.IGNORECASE)
_LOG_FUNCTIONS = re.compile(
    r"warnings\.warn|logging\.\w+|sys\.exit|builtins\.(?:exit|print)|pytest\.(?:fail|skip)"
    r"|traceback\.\w+|sys\.stderr\.write|.*\brank_zero_\w+|click\.\w*echo"
)
_PROGRESS = re.compile(
    r"progress|pbar|tqdm|spinner|callback|(?:^|_)(?:bar|bars|echo|console|status|hook)$",
    re.IGNORECASE,
)
_LOGGING = re.compile(r"(?:^|_)log(?:_|$)")
_FAILURES = re.compile(r"(?:^|_)(?:fail|error|exception|skipped)", re.IGNORECASE)
_TELLING = frozenset(("echo", "pprint", "print"))
_TOLD = frozenset(
    ["add_argument", "add_parser", "debug", "error", "fail", "info", "secho", "warn", "warning"]
)
# Parts of a window, in which a person picks.
_WIDGETS = re.compile(r"dropdown|(?:combo|list|select|populate)_?box|list_?widget", re.IGNORECASE)
# Methods that describe an object to people.
DESCRIBING = frozenset(
    ["__format__", "__repr__", "__rich_repr__", "__str__", "_repr_html_", "extra_repr"]
)
# Each call leaves something to those that follow. What other verbs do, to upload, to save or to
# check, is done to each element by itself as far as anyone can tell.
_LEAVING = frozenset(
    [
        "add",
        "append",
        "concat",
        "emit",
        "enqueue",
        "extend",
        "feed",
        "fit",
        "ingest",
        "insert",
        "learn",
        "merge",
        "plugin",
        "push",
        "put",
        "register",
        "step",
        "train",
        "update",
        "write",
        "writelines",
        "writer",
        "writerow",
        "writerows",
        "writestr",
        "yield",
    ]
)
_DESCRIPTIONS = frozenset(
    ["describe", "description", "dump", "dumps", "format", "join", "message", "pformat", "summary"]
)
_TRAINING = frozenset(["fit", "ingest", "learn", "step", "train"])
# What is in the order of all that these take at once: data, numbers of words, random draws.
_TAKING = frozenset(
    [
        "append",
        "array",
        "asarray",
        "batch",
        "batches",
        "choice",
        "choices",
        "collate",
        "concat",
        "concatenate",
        "dataframe",
        "dataset",
        "datasets",
        "dataloader",
        "dump",
        "dumps",
        "embed",
        "embedding",
        "embeddings",
        "encode",
        "extend",
        "feed",
        "fit",
        "fold",
        "folds",
        "frame",
        "from",
        "generate",
        "hash",
        "images",
        "index",
        "ingest",
        "insert",
        "kfold",
        "learn",
        "loader",
        "md5",
        "permutation",
        "prompt",
        "sample",
        "sampler",
        "samples",
        "sequential",
        "series",
        "sha1",
        "sha256",
        "shuffle",
        "shuffled",
        "split",
        "stack",
        "step",
        "subset",
        "tensor",
        "token",
        "tokens",
        "train",
        "vocab",
        "vocabulary",
        "write",
        "writelines",
        "writer",
        "writerow",
        "writestr",
    ]
)
_REMOVING = re.compile(r"(?:^|_)(?:delete|discard|drop|exclude|ignore|remove|select)(?:_|$)")
_SORTING = re.compile(r"sort", re.IGNORECASE)
_BARS = frozenset(
    ("tqdm", "tqdm_notebook", "trange", "track", "progress_bar", "progressbar", "progbar")
)
# What is listed under such a name goes into a message: `missing_keys`, `self.unexpected`.
_FAULTS = re.compile(
    r"(?:^|_)(?:conflicting|illegal|incompatible|invalid|mismatch(?:ed|ing)?|missing|undefined"
    r"|unexpected|unrecognized|unsupported|unused)(?:_|$)"
)
# And what is listed under these, names that are looked up among: `stop_words`, `target_modules`.
_LOOKED_UP = re.compile(
    r"(?:^|_)(?:allow(?:ed|list)?|banned|blacklist|blocked|denylist|exclude[ds]?|forbidden|ignored?"
    r"|leaf|skip(?:ped)?|supported|whitelist|stop(?:ping|words?)?"
    r"|valid(?!_\w*(?:data|dirs?|files?|images?|labels?|paths?|set)))(?:_|$)"
    r"|(?:^|_)(?:extensions|suffixes|modules?(?:_(?:names?|classes|types))?|columns_to_remove"
    r"|\w+_to_(?:copy|delete|remove|save))$",
    re.IGNORECASE,
)
# What the name of a dict says of its values: `freq[x]` is the same for many, `order[x]` is not.
_WEIGHTS = re.compile(r"count|freq|score|size|length|weight|cnt|total|num", re.IGNORECASE)
_TEXT = re.compile(
    r"(?:^|_)(?:name|filename|path|filepath|text|string|word|sentence|url|dirname|key|label_name)$",
    re.IGNORECASE,
)
_TEXTS = re.compile(
    r"(?:^|_)(?:names|filenames|paths|filepaths|texts|strings|words|sentences|urls|dirnames|chars"
    r"|characters|files|columns|extensions|suffixes|prefixes|modules|imports|vocab|vocabulary"
    r"|alphabet|phonemes|graphemes|tags|keywords|keys|fields|attrs|attributes|tokens)$",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?:^|_)(?:ids?|idx|idxs|index|indexes|indices|inds?|num|number|numbers|nums|counts?|sizes?"
    r"|lens?|lengths?|ranks?|steps?|epochs?|years?|dims?|axis|axes|offsets?|positions?|labels?"
    r"|targets?|ys?|ints?|bits?|gpus?|seeds?|ports?|degrees?|channels?|shapes?|widths?|heights?"
    r"|scales?|[tijkn])$",
    re.IGNORECASE,
)
_INEXACT = (
    *("grad", "loss", "weight", "param", "delta", "mean", "avg", "average", "error", "score"),
    *("reward", "logit", "feature", "energy"),
)
_FOLDER = re.compile(r"(?:^|_)(?:dir|directory|folder|path|root)$", re.IGNORECASE)
_APPLYING = re.compile(r"(?:^|_)(?:star|i)?map(?:_|$)|parallel")
_DRAWS = frozenset(
    [
        "choice",
        "choices",
        "integers",
        "normal",
        "permutation",
        "randint",
        "random",
        "randrange",
        "sample",
        "shuffle",
        "standard_normal",
        "uniform",
    ]
)
# Functions that change or move the file that they are told, and no other.
_ON_FILES = re.compile(
    r"(?:^|_)(?:chmod|chown|clean|cleanup|copy|copyfile|copytree|delete|extractall|extract_archive"
    r"|makedirs?|mkdir|move|remove|rename|rm|rmdir|rmtree|symlink|touch|unlink|unpack_archive|untar"
    r"|unzip)(?:_|$)"
)
# What is called like this is a neural network.
_NETWORKS = frozenset(
    [
        "actor",
        "backbone",
        "critic",
        "discriminator",
        "generator",
        "model",
        "net",
        "network",
        "policy_net",
        "unet",
    ]
)
# Code under these only traces, compiles or times: values do not matter there.
_UNREAL = re.compile(
    r"(?:^|_)(?:meta|fake|abstract|warm_?up|bench(?:mark)?|profile|dry_?run)(?:_|$)", re.IGNORECASE
)
_UNREAL_DECORATOR = re.compile(r"fake|abstract|meta\b", re.IGNORECASE)
_UNREAL_BLOCK = re.compile(
    r"[\"']meta[\"']|fake|meta_|init_empty|no_init|cuda\.graph\(|CUDAGraph|cuda\.stream\(|profile",
    re.IGNORECASE,
)
_CAPTURES = re.compile(r"CUDAGraph|cuda\.graph\b|make_graphed_callables|FakeTensorMode")
# out_features, num_classes, hidden_size: one number, by all conventions.
_COUNT = re.compile(r"^(?:in|out|num|n)_\w*[a-z]$|(?:^|_)(?:size|dim)$")
# A function of one of these names may fill what it gets; another one in forward() computes.
_FILLING = re.compile(
    r"init|fill|reset|normal|uniform|xavier|kaiming|glorot|zero|ones|const|ortho|copy|load|set"
    r"|update|ema|observe|quant|_$",
    re.IGNORECASE,
)
# What fills one's own weights: nn.init.zeros_(self.bias), self.weight.data.uniform_(-1, 1).
_INITIALISING = re.compile(
    r"^(?!__).*init|(?:normal|uniform|zeros?|ones|constant|fill|copy|eye|orthogonal|dirac|sparse)_$"
)

_EVALUATION = words("dev eval evaluation infer inference predict test testing val valid validation")
_SIZE = re.compile(r"size|ratio|frac|split|percent|test|num|^n_|^k$")
# What may follow the word in the name of a seed: `seed_value`, but not `seed_file`.
_TAILS = words("""base int np num number numpy python seq sequence torch used val value""")
_LABELS = words(
    """address dir directory file filename folder host id ids key name names path port ports
    prefix session suffix tag token uid url uuid"""
)
_FILES = words("ckpt dir directory file filename folder path")
_MADE_UP = frozenset(("id", "name", "path", "port", "tag", "uuid"))
_IDENTIFIERS = words("""fingerprint fingerprints id ids name names nonce token tokens uuid uuids""")
_ASIDE_FIRST = words("backoff delay dummy example sleep wait")
_ASIDE_LAST = words(
    """address backoff color colors colour colours delay endpoint endpoints host nonce port ports
    proxies proxy retry sleep timeout uid url uuid wait"""
)
_USUAL = words("name prob rand random rank shuffle train training")
_TURNING_ON = frozenset(
    ["activate", "config", "configure", "enable", "ensure", "force", "full", "init", "make"]
) | {"seed", "set", "setup", "turn", "use"}
_GENERATORS = frozenset(("gen", "generator", "prng", "rng", "rs"))


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: ``manualSeed``, ``manual_seed``."""
    return [word.lower() for word in _WORD.findall(name)]


def is_log(qualified: list[str], owner: str, word: str) -> bool:
    """Whether a call tells people something; ``owner`` is the name of what it is a method of."""
    if any(_LOG_FUNCTIONS.fullmatch(name) for name in qualified):
        return True
    if not owner:
        return word.startswith("rank_zero_") or not _TELLING.isdisjoint(words_of(word))
    level = re.sub(r"_(?:rank_?0|rank_zero|once|advice|main_process)+$", "", word)
    if level in _LOG_METHODS and _LOGGERS.search(owner):
        return True
    shown = word in _TOLD or not _TELLING.isdisjoint(words_of(word))
    return shown or bool(_WIDGETS.search(word) or _WIDGETS.search(owner))


def is_progress(owner: str, word: str) -> bool:
    """Whether a call says how far work has come: ``bar.update()``, ``on_done_callback(…)``."""
    told = _PROGRESS.search(word) or _LOGGING.search(word) or _PROGRESS.search(owner)
    return bool(told)


def notes_failure(word: str) -> bool:
    """Whether what has this name lists what went wrong: ``failed``, ``errors``."""
    return bool(_FAILURES.search(word))


def leaves_something(word: str) -> bool:
    """Whether calling a function once for each element shows their order: ``write_row``."""
    return not _LEAVING.isdisjoint(words_of(word))


def writes(word: str) -> bool:
    """``write_thumbnail``."""
    return words_of(word)[:1] in (["write"], ["save"])


def applies(word: str) -> bool:
    """``map``, ``imap_unordered``, ``track_parallel_progress``."""
    return bool(_APPLYING.search(word))


def takes_rows(word: str) -> bool:
    """``starmap``."""
    return "starmap" in word


def filters(word: str) -> bool:
    """``keep_images``."""
    return words_of(word)[:1] in (["keep"], ["filter"], ["only"])


def describes(word: str) -> bool:
    """Whether a function makes a text or a number for people: ``format_names``, an error."""
    words = words_of(word)
    return not _DESCRIPTIONS.isdisjoint(words) or word.endswith(("Error", "Exception", "Warning"))


def trains(word: str) -> bool:
    """``train_step``, ``partial_fit``."""
    return not _TRAINING.isdisjoint(words_of(word))


def takes_order(word: str) -> bool:
    """Whether the order of a list that a function is given matters: ``train_on``."""
    return not _TAKING.isdisjoint(words_of(word))


def removes(word: str) -> bool:
    """``remove_columns``."""
    return bool(_REMOVING.search(word))


def sorts(word: str) -> bool:
    """``sort_by_number``."""
    return bool(_SORTING.search(word))


def is_bar(word: str) -> bool:
    """A progress bar hands on what it gets."""
    return word.lower() in _BARS


def says_little(word: str) -> bool:
    """Whether what has this name is for people to read, or to look up among."""
    return bool(_FAULTS.search(word) or _LOOKED_UP.search(word))


def weighs(word: str) -> bool:
    """Whether a table of this name holds the same for many keys."""
    return bool(_WEIGHTS.search(word))


def is_number(word: str) -> bool:
    """Whether what has this name is a number, or holds some."""
    return bool(_NUMBER.search(word))


def is_text(word: str) -> bool:
    """Whether what has this name is a text."""
    return bool(_TEXT.search(word))


def are_texts(word: str) -> bool:
    """Whether what has this name holds texts."""
    return bool(_TEXTS.search(word))


def seems_inexact(name: str) -> bool:
    """Whether what has this name is a float, or holds some: ``total_loss``."""
    return any(word.startswith(_INEXACT) for word in words_of(name.rpartition(".")[2]))


def is_folder(word: str) -> bool:
    """``data_dir``."""
    return bool(_FOLDER.search(word))


def draws(word: str) -> bool:
    """Whether a method of a generator of random numbers draws some."""
    return word in _DRAWS


def works_on_file(word: str) -> bool:
    """``remove_file``."""
    return bool(_ON_FILES.search(word))


def is_network(word: str) -> bool:
    """``text_model``."""
    return word in _NETWORKS or word.endswith(("_model", "_net"))


def only_traces(function: str, decorators: list[str], body: str) -> bool:
    """Whether a function runs on values that do not matter: it traces, compiles or times."""
    return (
        bool(_UNREAL.search(function))
        or any(_UNREAL_DECORATOR.search(each) for each in decorators)
        or bool(_CAPTURES.search(body))
    )


def enters_tracing(context: str) -> bool:
    """The same of a block, by what it enters: ``torch.device("meta")``."""
    return bool(_UNREAL_BLOCK.search(context))


def counts(word: str) -> bool:
    """Whether what has this name is one number: ``out_features``."""
    return bool(_COUNT.search(word))


def fills(word: str) -> bool:
    """Whether a function may fill what it gets: ``reset_weight``."""
    return bool(_FILLING.search(word))


def initialises(word: str) -> bool:
    """Whether a function fills weights at the start: ``xavier_uniform_``."""
    return bool(_INITIALISING.search(word))


def evaluates(name: str) -> bool:
    """Whether a name says that something is evaluated on: ``val_loader``."""
    return not _EVALUATION.isdisjoint(words_of(name))


def is_size(name: str) -> bool:
    """Whether a name is that of a share or a number of samples."""
    return _SIZE.search(name) is not None


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


def identifies(name: str) -> bool:
    """Whether a name is that of what identifies something, and so has to differ."""
    return not _IDENTIFIERS.isdisjoint(words_of(name))


def is_generator(name: str) -> bool:
    """Whether a name is that of a seed or of a generator of random numbers."""
    parts = words_of(name)
    return means_seed(name) or (bool(parts) and parts[-1] in _GENERATORS)


def is_aside(name: str) -> bool:
    """Whether no result seems to depend on what has a name: pauses, ports, colours, examples."""
    parts = words_of(name)
    run = parts[-2:] in (["run", "id"], ["run", "name"])
    return run or (bool(parts) and (parts[0] in _ASIDE_FIRST or parts[-1] in _ASIDE_LAST))


def says_usual(name: str) -> bool:
    """Whether what is asked holds for most calls, or whenever something is trained."""
    return not _USUAL.isdisjoint(words_of(name))


def turns_determinism_on(function: str) -> bool:
    """``set_deterministic``, ``enable_full_determinism``; not ``is_deterministic``."""
    parts = words_of(function)
    if not parts or parts[0] not in _TURNING_ON or "non" in parts:
        return False
    return any(each.startswith("determinis") for each in parts)
