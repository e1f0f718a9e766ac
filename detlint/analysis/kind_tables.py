"""What calls of Python and its libraries make, as far as the order of a set goes: plain tables."""

from __future__ import annotations

from detlint.analysis.kinds import Kind
from detlint.analysis.uses import words


def _named(text: str, prefix: str = "") -> frozenset[str]:
    return frozenset(prefix + word for word in words(text))


# Functions, by what they return.
_TEXT_FUNCTIONS = (
    _named("str repr chr ascii format input bin hex oct", "builtins.")
    | _named("abspath basename commonpath dirname expanduser join normpath realpath", "os.path.")
    | _named("fspath getcwd getenv readlink", "os.")
    | _named("json.dumps re.sub time.strftime inspect.getsource textwrap.dedent re.escape")
)
_STABLE_FUNCTIONS = _named("abs bool complex float int len ord pow round sum", "builtins.")
_OBJECT_FUNCTIONS = (
    _named("object type", "builtins.")
    | _named("Path PurePath PosixPath PurePosixPath Path.cwd Path.home", "pathlib.")
    | _named("date datetime datetime.now timedelta time", "datetime.")
)
FUNCTIONS = (
    dict.fromkeys(_TEXT_FUNCTIONS, Kind.TEXT)
    | dict.fromkeys(_STABLE_FUNCTIONS, Kind.STABLE)
    | dict.fromkeys(_OBJECT_FUNCTIONS, Kind.OBJECT)
    | {"builtins.bytes": Kind.BYTES, "pickle.dumps": Kind.BYTES}
)
TUPLES = _named("frozenset tuple", "builtins.")
# Methods that only text has, and those that others have too.
METHODS = (
    dict.fromkeys(
        words(
            """as_posix capitalize casefold center decode expandtabs hexdigest join ljust lower
            lstrip read_text removeprefix removesuffix rjust rstrip strftime strip swapcase upper
            zfill"""
        ),
        Kind.TEXT,
    )
    | dict.fromkeys(words("format get_name replace title translate"), Kind.LIKELY)
    | dict.fromkeys(words("bit_length count find index item numel rfind rindex"), Kind.STABLE)
    | {"encode": Kind.UNKNOWN}
)
ATTRIBUTES = dict.fromkeys(
    words("__doc__ __file__ __module__ __name__ __qualname__ stem suffix"), Kind.TEXT
) | dict.fromkeys(words("parent parents"), Kind.UNKNOWN)

# Functions and methods, by what iterating over their result gives.
ELEMENTS = dict.fromkeys(
    _named("dir globals locals vars", "builtins.")
    | _named("listdir", "os.")
    | _named("glob.glob glob.iglob json.load json.loads os.environ re.split shlex.split")
    | _named(
        "ascii_letters ascii_lowercase ascii_uppercase digits punctuation printable", "string."
    )
    | _named("keyword.kwlist"),
    Kind.TEXT,
) | {"builtins.range": Kind.STABLE, "re.findall": Kind.TEXT}
ELEMENT_METHODS = dict.fromkeys(
    words("get_vocab groupdict readlines rsplit split splitlines state_dict"), Kind.TEXT
)
NAMESPACES = words("__all__ __annotations__ __dataclass_fields__ __dict__")
# What gives pairs: the kinds of their parts.
PAIRS = dict.fromkeys(
    words("named_buffers named_children named_modules named_parameters"),
    (Kind.TEXT, Kind.OBJECT),
)
VIEWS = words("items values")
# What gives the elements of all its arguments, and what changes or nests them.
MERGING = _named("builtins.set.intersection builtins.set.union itertools.chain")
COMBINING = _named("enumerate filter map zip", "builtins.") | _named(
    "collections.defaultdict itertools.chain.from_iterable"
)
# What hands on the elements of its first argument.
PASSING = _named(
    """dict frozenset iter list reversed set sorted tuple dict.fromkeys""",
    "builtins.",
) | _named(
    """collections.Counter collections.OrderedDict collections.deque copy.copy copy.deepcopy
    itertools.filterfalse itertools.islice
    natsort.natsorted numpy.unique pandas.unique tqdm.tqdm tqdm.auto.tqdm"""
)
# Methods of a set, or a copy, with the elements of what they are called on.
PASSING_METHODS = words("copy difference intersection keys symmetric_difference union")
STABLE_BASES = _named("IntEnum IntFlag", "enum.")
OBJECT_BASES = _named("Enum Flag StrEnum ReprEnum", "enum.") | _named("torch.nn.Module object")

# Attributes that an element has only if it is text.
TEXT_USES = words(
    """capitalize casefold encode endswith isalpha isdigit isidentifier isupper islower ljust lower
    lstrip removeprefix removesuffix rjust rpartition rsplit rstrip split splitlines startswith
    strip swapcase upper zfill"""
)
# Functions whose first argument is text.
TEXT_TAKERS = (
    _named("basename dirname exists isdir isfile join splitext", "os.path.")
    | _named("listdir makedirs", "os.")
    | _named("builtins.open importlib.import_module")
)
