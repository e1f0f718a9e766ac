"""What calls do with the order of a collection that they are given: plain tables."""

from __future__ import annotations

import re

# The order of the argument does not show in the result.
ORDER_FREE = frozenset(
    f"builtins.{name}"
    for name in "set frozenset len any all bool isinstance id type".split()
) | frozenset(
    ("collections.Counter", "numpy.in1d", "numpy.isin", "numpy.unique", "sys.getsizeof")
)
# The result has the order of the (first or second) argument.
CARRYING = frozenset(
    (
        *(f"builtins.{name}" for name in "list tuple iter reversed map filter enumerate zip".split()),
        "collections.deque",
        "copy.copy",
        "copy.deepcopy",
        "fnmatch.filter",
        "itertools.chain",
        "itertools.chain.from_iterable",
        "itertools.filterfalse",
        "itertools.starmap",
        "numpy.array",
        "numpy.asarray",
        "typing.cast",
    )
)
# Progress bars hand on what they get: tqdm, tqdm.auto.tqdm, rich.progress.track.
CARRYING_WORDS = frozenset(("tqdm", "track", "tqdm_notebook"))
KEYED = frozenset(
    ("builtins.dict", "builtins.dict.fromkeys", "collections.OrderedDict", "collections.defaultdict")
)
# Methods that take a collection and do not look at its order.
ORDER_FREE_METHODS = frozenset(
    """assertCountEqual assertIn assertNotIn assertTrue assertFalse assertSetEqual assertItemsEqual
    difference difference_update discard intersection intersection_update isdisjoint isin issubset
    issuperset symmetric_difference symmetric_difference_update union""".split()
)
# Methods that a collection has, and that do not read its order.
UNORDERED_READS = frozenset(
    """__contains__ __len__ add append appendleft clear close count discard extend extendleft insert
    remove reverse setdefault sort update""".split()
)
KEYED_READS = frozenset(("get", "pop", "setdefault", "update", "clear", "__contains__"))
# Keywords whose value is only looked up in.
LOOKED_UP = frozenset(("choices", "allowed", "valid", "exclude", "ignore", "skip"))

SORTING = re.compile(r"sort", re.IGNORECASE)

_LOGGED = re.compile(r"(?:^|_)(?:log|logger|logging|LOG|LOGGER)$|^rank_zero|^logger", re.IGNORECASE)
_LOG_METHODS = frozenset(
    """critical debug error exception fatal info log trace warn warning warning_once info_once
    warning_advice""".split()
)
_LOG_FUNCTIONS = re.compile(
    r"(?:warnings\.warn|logging\.\w+|sys\.exit|builtins\.exit|pytest\.(?:fail|skip)"
    r"|.*\brank_zero_(?:info|warn|debug)|click\.(?:ClickException|BadParameter))"
)


def is_log(name: str | None, receiver: str | None, method: str) -> bool:
    """Whether a call writes to a log: by its qualified name, or ``logger.info``."""
    if name is not None and _LOG_FUNCTIONS.fullmatch(name):
        return True
    if receiver is None:
        return method.startswith("rank_zero_")
    return method in _LOG_METHODS and bool(_LOGGED.search(receiver.rpartition(".")[2]))


# What a loop may do with each element, whatever the order.
FILE_OPERATIONS = frozenset(
    (
        *(
            f"os.{name}"
            for name in """chmod chown lchmod lchown link makedirs mkdir remove removedirs rename
            renames replace rmdir symlink unlink utime""".split()
        ),
        *(
            f"shutil.{name}"
            for name in "chown copy copy2 copyfile copymode copystat copytree move rmtree".split()
        ),
    )
)
# Methods of the element itself, or of a file opened for it.
ELEMENT_METHODS = frozenset(
    """chmod clear close copy copy_into flush hardlink_to imsave lchmod link_to mkdir move move_into
    remove rename replace reverse rmdir rmtree save savefig seek sort symlink_to touch unlink write
    write_bytes write_text writelines""".split()
)
# Writes to a file that is named by an argument: in a loop, each element has its own.
FILE_WRITERS = frozenset(
    """cv2.imwrite json.dump matplotlib.pyplot.imsave numpy.save numpy.savetxt numpy.savez
    numpy.savez_compressed pickle.dump safetensors.torch.save_file torch.save yaml.dump
    yaml.safe_dump""".split()
)
# Functions of a project that say so in their name: `remove_file`, `self._cleanup`.
FILE_WORDS = re.compile(
    r"(?:^|_)(?:chmod|chown|clean|cleanup|copy|copyfile|copytree|delete|extractall|extract_archive|makedirs?|mkdir|move|remove|rename|rm"
    r"|rmdir|rmtree|symlink|touch|unlink|unpack_archive|untar|unzip)(?:_|$)"
)
# A whole number whatever its arguments: adding such does not depend on the order.
INTEGERS = frozenset(
    ("builtins.int", "builtins.len", "builtins.ord", "os.path.getsize", "builtins.bool")
)
