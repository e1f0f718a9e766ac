"""What the text at the name of an operator tells of its arguments, before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from detlint.analysis.gradients import is_apart
from detlint.mentions import calls

if TYPE_CHECKING:
    from detlint.operations import Operation
    from detlint.switched_operations import Switched

_WORD = re.compile(r"\w+")
# What is bound, or asked for something of its own, is no function of torch: ``nll_loss.sum()``.
_OTHER = re.compile(r"\.|[ \t]*=(?!=)")
_UNUSED = re.compile(r"[ \t]*(?:def|class|from|import)\b")
_BASES = re.compile(r"class[ \t]+\w+[ \t]*\(")
_CLASS = re.compile(r"class[ \t]+(\w+)")
_TOP = re.compile(r"\n(?=[^\s#)\]}])")  # before a statement that is not indented
# What has operators of its own by these names.
_LONGEST = 8  # characters of these names and a dot, at most
_ELSEWHERE = re.compile(r"(?<![\w.])(?:np|numpy|jnp|tf|cv2|pd)\.$")
_RENAMED = re.compile(r"[ \t]+as\b")
# Functions of which only the backward is concerned, and that much of preprocessing calls.
_OF_DATA = frozenset({"interpolate", "upsample", "grid_sample", "grid_sampler", "pad"})
# An adaptive average down to 1 is a mean.
_TO_ONE = re.compile(r"\((?:output_size=)?[(\[]?(?:1,? ?){1,3}[)\]]?\)")
# Each begins with plain text, or with one of few letters: sre finds them nine times as fast as
# a pattern of all.
_DEEP = (
    re.compile(
        r"permute\(|transpose\(|rearrange\(|move(?:dim|axis)\(|swap(?:axes|dims)\(|unsqueeze\("
        r"|interpolate\(|upsample\("
    ),
    re.compile(r"(?:view|reshape|randn?|zeros|ones)\((?:[^(),]*,){2}"),
    re.compile(r"\[:,[ \t]*:,[^\[\]]*:"),
    re.compile(r"\.(?:shape\[|size\()[2-9]"),
    re.compile(  # from the first comma: ``n, c, size = x.shape``
        r",(?<=[\w \t],)[ \t]*\w+[ \t]*,[ \t]*\w+[ \t]*[\])]?[ \t]*=[^=\n]*\.(?:shape|size\(\))"
    ),
)
# What is seen to have two dimensions: ``(logits.view(-1, size), …``.
_FLAT = re.compile(
    r"\(\s*(?:input\s*=\s*)?[\w.]+(?:\[[^\[\]()]*\])?(?:\.\w+\(\))*\.(?:view|reshape)"
    r"\(\s*-1\s*,\s*[\w.]+(?:\([^()]*\))?\s*\)(?:\.\w+\(\))*\s*[,)]"
)
_BOUND = re.compile(r"([ \t]*)(self\.\w+|\w+)[ \t]*=[ \t]*[\w.]*$")
_BEFORE, _BEHIND = 1000, 300  # characters around a loss where its input may be made


def _is_deep(text: str, start: int, end: int) -> bool:
    """Whether a range of a text speaks of more than two dimensions."""
    return any(each.search(text, start, end) for each in _DEEP)


# For names that have many other uses: what must stand near (characters before, and behind).
Near = dict[str, tuple[int, int, Callable[[str, int, int], object]]]
_FLOATS = re.compile(r"float|softmax|double\(|half\(|rand|sigmoid|\b(?:exp|log)\(")
_FLOATING: Near = dict.fromkeys(("cumsum", "cumsum_", "histc"), (300, 150, _FLOATS.search))
# A queue's is given one thing, a tensor's where and what.
_PUTS = re.compile(r"\.put\((?:[^(),]|\((?:[^()]|\([^()]*\))*\))+,(?!\s*(?:block|timeout))")
NEAR: Near = {
    **dict.fromkeys(
        ("interpolate", "upsample", "Upsample"),
        (500, 500, re.compile(r"[\"'](?:linear|bicubic|area)[\"']|antialias").search),
    ),
    "pad": (300, 300, re.compile("[\"']reflect[\"']").search),
    **dict.fromkeys(
        ("Conv1d", "Conv3d"), (0, 500, re.compile(r"padding_mode=[\"']reflect").search)
    ),
    **dict.fromkeys(("scatter", "scatter_"), (0, 300, re.compile("multiply|[\"']mul").search)),
    **dict.fromkeys(("scatter_reduce", "scatter_reduce_"), (300, 300, re.compile("prod").search)),
    **dict.fromkeys(("EmbeddingBag", "embedding_bag"), (300, 500, re.compile(r"max|\b2\b").search)),
    **dict.fromkeys(("cross_entropy", "nll_loss"), (_BEFORE, _BEHIND, _is_deep)),
    **dict.fromkeys(("CrossEntropyLoss", "NLLLoss"), (_BEFORE, 2000, _is_deep)),
    **dict.fromkeys(("take", "bincount"), (2000, 0, re.compile(r"\btorch\b|\bTensor\b").search)),
    "put": (1, 500, _PUTS.search),
    **_FLOATING,
}
# The same for operators that are deterministic only under the switch.
NEAR_SWITCHED: Near = {
    **dict.fromkeys(
        ("interpolate", "upsample", "Upsample"),
        (500, 500, re.compile("[\"'](?:bi|tri)linear").search),
    ),
    "pad": (300, 300, re.compile("[\"'](?:reflect|replicate)[\"']").search),
    **dict.fromkeys(
        ("scatter", "spmm"),
        (100_000, 0, re.compile(r"\btorch_(?:geometric|scatter|sparse)\b").search),
    ),
    "gather": (2000, 100, re.compile(r"\btorch\b|\bTensor\b|dim=|gather\(-?\d").search),
    **_FLOATING,
}


def leads(text: str, offset: int, near: Near) -> bool:
    """Whether a name at an offset may be an operator called as a row of the table says."""
    word = _WORD.match(text, offset)
    if word is None or not _may_be_torch(text, word):
        return False
    line = text.rfind("\n", 0, offset) + 1
    if _UNUSED.match(text, line, offset) and not _BASES.match(text, line, offset):
        return bool(_RENAMED.match(text, word.end()))
    if word[0].lower().startswith(("adaptiveavg", "adaptive_avg")):
        return not _TO_ONE.match(text, word.end())
    before, behind, stands = near.get(word[0], (0, 0, _WORD.search))
    bound = _BOUND.match(text[line:offset]) if word[0].endswith("Loss") else None
    if stands is _is_deep and bound is not None:
        return _is_fed(text, offset, bound[2], len(bound[1]))
    if stands is _is_deep and _FLAT.match(text, word.end()):  # two dimensions
        return False
    near_it = stands(text, max(offset - before, 0), word.end() + behind)
    return bool(near_it) and not (word[0] in _OF_DATA and _is_apart(text, offset))


def _may_be_torch(text: str, word: re.Match[str]) -> bool:
    """Not a longer name, what documentation quotes, a variable, or a function of NumPy."""
    if word[0] not in _names() or (word[0].islower() and _OTHER.match(text, word.end())):
        return False
    quoted = text.startswith("`", word.end())
    return not (quoted or _ELSEWHERE.search(text, max(word.start() - _LONGEST, 0), word.start()))


@cache
def _names() -> frozenset[str]:
    """The last words of all forms in the tables: longer ones are other names."""
    from detlint import extension_operations as extensions
    from detlint.operations import OPERATIONS
    from detlint.switched_operations import SWITCHED

    rows: tuple[Operation | Switched, ...]
    rows = (*OPERATIONS, *SWITCHED, *extensions.REFUSED, *extensions.SWITCHED)
    forms = (form for row in rows for usage in row.usages for form in usage.forms)
    return frozenset(form.rpartition(".")[2] for form in forms)


def _is_apart(text: str, offset: int) -> bool:
    """Whether the name of the class at the top of the file says that nothing is trained there."""
    above = max(text.rfind(f"\n{word}", 0, offset) for word in ("class ", "def ", "async ", "@"))
    found = _CLASS.match(text, above + 1)
    if found is None or not is_apart(found[1]):
        return False
    return _TOP.search(text, found.end(), offset) is None


def _is_fed(text: str, offset: int, name: str, indent: int) -> bool:
    """Whether a loss that is bound to a name is called with what may have many dimensions: in the
    function that makes it, or anywhere if it is kept."""
    start, end = 0, len(text)
    if indent and not name.startswith("self."):
        following = re.compile(rf"^[ \t]{{0,{indent - 1}}}(?:async|class|def|@)", re.MULTILINE)
        found = following.search(text, offset)
        start, end = offset, found.start() if found is not None else end
    for place, bracket in calls(text, name, start, end):
        if text[place - 1 : place] == "." or _FLAT.match(text, bracket):
            continue
        if _is_deep(text, max(place - _BEFORE, 0), bracket + _BEHIND):
            return True
    return False
