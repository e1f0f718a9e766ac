"""What calls do with the order of a collection that they are given: plain tables."""

from __future__ import annotations

import re


def _words(text: str, prefix: str = "") -> frozenset[str]:
    return frozenset(prefix + word for word in text.split())


# The order of the argument does not show in the result, which may have another.
ORDER_FREE = _words("set frozenset len any all bool isinstance id type", "builtins.") | _words(
    """collections.Counter numpy.all numpy.any numpy.count_nonzero numpy.in1d numpy.isin
    numpy.unique asyncio.as_completed asyncio.wait concurrent.futures.as_completed
    concurrent.futures.wait os.path.commonpath os.path.commonprefix sys.getsizeof"""
)
# The result is in the order of the argument.
CARRYING = _words("list tuple iter reversed map filter enumerate zip", "builtins.") | _words(
    """collections.deque copy.copy copy.deepcopy fnmatch.filter itertools.chain
    itertools.chain.from_iterable itertools.filterfalse itertools.product itertools.starmap
    numpy.array numpy.asarray typing.cast"""
)
COPYING = _words("copy.copy copy.deepcopy typing.cast")
# Progress bars hand on what they get: tqdm, tqdm.auto.tqdm, rich.progress.track.
CARRYING_WORDS = _words("tqdm tqdm_notebook track")
# The result is a dict in the order of the argument.
KEYED = _words(
    "builtins.dict builtins.dict.fromkeys collections.OrderedDict collections.defaultdict"
)
# Whatever sorts, by this word in its name: `sorted`, `np.sort`, `natsorted`, `sort_by_number`.
SORTING = re.compile(r"sort", re.IGNORECASE)
# Methods that take a collection and do not look at its order.
ORDER_FREE_METHODS = _words(
    """assertCountEqual assertFalse assertIn assertItemsEqual assertNotIn assertSetEqual assertTrue
    difference difference_update discard endswith intersection intersection_update isdisjoint isin
    issubset issuperset startswith symmetric_difference symmetric_difference_update union"""
)
# Whatever takes things away by name: `dataset.remove_columns(x)`, `remove_ignored_hparams(x)`.
REMOVING = re.compile(r"(?:^|_)(?:delete|drop|exclude|ignore|remove)(?:_|$)")
# What gives one number for an array, without an axis: the largest, or where it is.
EXTREMES = _words("amax amin argmax argmin max min nanargmax nanargmin nanmax nanmin ptp")
# Methods that a collection has, and that do not read its order.
UNORDERED_READS = _words(
    """__contains__ __len__ add append appendleft clear close count discard extend extendleft insert
    remove reverse set_description set_postfix set_postfix_str setdefault sort update"""
)
# What was made of the elements is an array, or a tensor.
OF_ARRAYS = _words(
    "T astype flatten float numpy permute reshape shape size squeeze to transpose view"
)
KEYED_READS = _words("__contains__ clear get index pop setdefault update")
# Keywords whose value is only looked up in, or copied file by file.
LOOKED_UP = _words(
    """allow_patterns allowed choices exclude ignore ignore_patterns remove_columns scripts_to_save
    skip valid"""
)

# What a loop may do with each element, whatever the order.
FILE_OPERATIONS = _words(
    """chmod chown lchmod lchown link makedirs mkdir remove removedirs rename renames replace rmdir
    symlink unlink utime""",
    "os.",
) | _words("chown copy copy2 copyfile copymode copystat copytree move rmtree", "shutil.")
# Methods of the element itself, or of a file opened for it.
ELEMENT_METHODS = _words(
    """add_done_callback chmod clear close copy copy_into flush hardlink_to imsave lchmod link_to
    mkdir move move_into remove rename replace reverse rmdir rmtree save savefig seek sort
    symlink_to touch unlink write write_bytes write_text writelines"""
)
# The same, to a file that an argument names: `clip.write_videofile(path)`, `mesh.export(path)`.
ELEMENT_WRITERS = re.compile(r"(?:export|save|write)(?:_|$)")
# Writes to a file that the argument at this place names, or has open: each element its own.
FILE_WRITERS = dict.fromkeys(
    _words(
        """cv2.imwrite cv2.imwritemulti matplotlib.pyplot.imsave numpy.save numpy.savetxt
        numpy.savez numpy.savez_compressed"""
    ),
    0,
) | dict.fromkeys(
    _words(
        """json.dump pickle.dump safetensors.torch.save_file shutil.copyfileobj torch.save yaml.dump
        yaml.safe_dump"""
    ),
    1,
)
FILE_KEYWORDS = ("f", "fdst", "file", "filename", "fname", "fp", "stream")
# A whole number whatever its arguments: adding such does not depend on the order.
INTEGERS = _words("builtins.int builtins.len builtins.ord builtins.bool os.path.getsize")
# Random numbers: which element gets which depends on the order.
DRAWS = re.compile(
    r"(?:random|numpy\.random|secrets)"
    r"\.(?!(?:seed|default_rng|[gs]et_?state)$)[a-z]\w*$|torch\.(?:rand|bernoulli|normal)"
)
GENERATORS = _words(
    "random.Random random.SystemRandom numpy.random.default_rng numpy.random.RandomState"
)

_LOGGERS = re.compile(r"(?:^|_)(?:log|logger|logging)$", re.IGNORECASE)
_LOG_METHODS = _words(
    "critical debug error exception fatal info log success trace verbose warn warning"
)
_LOG_FUNCTIONS = re.compile(
    r"warnings\.warn|logging\.\w+|sys\.exit|builtins\.exit|pytest\.(?:fail|skip)|.*\brank_zero_\w+"
)


def is_log(name: str | None, receiver: str | None, method: str) -> bool:
    """Whether a call writes to a log: by its qualified name, or as ``logger.info``."""
    if name is not None and _LOG_FUNCTIONS.fullmatch(name):
        return True
    if receiver is None:
        return method.startswith("rank_zero_")
    level = re.sub(r"_(?:rank_?0|rank_zero|once|advice|main_process)+$", "", method)
    return level in _LOG_METHODS and bool(_LOGGERS.search(receiver.rpartition(".")[2]))
