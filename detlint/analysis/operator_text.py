"""What the text at the name of an operator tells of its arguments, before anything is parsed."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
# Longer words that begin so are other names: ``interpolate_pos_encoding``.
_WHOLE = (
    "interpolate",
    "grid_sample",
    "ctc_loss",
    "cross_entropy",
    "nll_loss",
    "embedding_bag",
    "CTCLoss",
    "CrossEntropyLoss",
    "EmbeddingBag",
    "index_select",
)
_UNUSED = re.compile(r"[ \t]*(?:def|class|from|import)\b")
_BASES = re.compile(r"class[ \t]+\w+[ \t]*\(")
_RENAMED = re.compile(r"[ \t]+as\b")
# An adaptive average down to 1 is a mean.
_TO_ONE = re.compile(r"\((?:output_size=)?[(\[]?(?:1,? ?){1,3}[)\]]?\)")
_SHAPES = r"permute\(|transpose\(|rearrange\(|move(?:dim|axis)\(|swap(?:axes|dims)\("
_THREE_SIZES = r"|(?:view|reshape|randn?|zeros|ones)\((?:[^(),]*,){2}"
# For names that have many other uses: what must stand near (characters before, and behind).
Near = dict[str, tuple[int, int, re.Pattern[str]]]
_FLOATS = re.compile(r"float|softmax|double\(|half\(|rand|sigmoid|\b(?:exp|log)\(")
_FLOATING: Near = dict.fromkeys(("cumsum", "cumsum_", "histc"), (300, 150, _FLOATS))
# A queue's is given one thing, a tensor's where and what.
_PUTS = re.compile(r"\.put\((?:[^(),]|\((?:[^()]|\([^()]*\))*\))+,(?!\s*(?:block|timeout))")
NEAR: Near = {
    **dict.fromkeys(
        ("interpolate", "upsample", "Upsample"),
        (500, 500, re.compile(r"[\"'](?:linear|bicubic|area)[\"']|antialias")),
    ),
    "pad": (300, 300, re.compile("[\"']reflect[\"']")),
    **dict.fromkeys(("Conv1d", "Conv3d"), (0, 500, re.compile(r"padding_mode=[\"']reflect"))),
    **dict.fromkeys(("scatter", "scatter_"), (0, 300, re.compile("multiply"))),
    **dict.fromkeys(("scatter_reduce", "scatter_reduce_"), (300, 300, re.compile("prod"))),
    **dict.fromkeys(("EmbeddingBag", "embedding_bag"), (300, 500, re.compile(r"max|\b2\b"))),
    **dict.fromkeys(("cross_entropy", "nll_loss"), (1000, 300, re.compile(_SHAPES + _THREE_SIZES))),
    **dict.fromkeys(
        ("CrossEntropyLoss", "NLLLoss"), (1000, 2000, re.compile(_SHAPES + _THREE_SIZES))
    ),
    **dict.fromkeys(("take", "bincount"), (2000, 0, re.compile(r"\btorch\b|\bTensor\b"))),
    "put": (1, 500, _PUTS),
    **_FLOATING,
}
# The same for operators that are deterministic only under the switch.
NEAR_SWITCHED: Near = {
    **dict.fromkeys(
        ("interpolate", "upsample", "Upsample"), (500, 500, re.compile("[\"'](?:bi|tri)linear"))
    ),
    "pad": (300, 300, re.compile("[\"'](?:reflect|replicate)[\"']")),
    "gather": (2000, 100, re.compile(r"\btorch\b|\bTensor\b|dim=|gather\(-?\d")),
    **_FLOATING,
}


def leads(text: str, offset: int, near: Near) -> bool:
    """Whether a name at an offset may be an operator called as a row of the table says."""
    word = _WORD.match(text, offset)
    if word is None or (word[0].startswith(_WHOLE) and word[0] not in (*_WHOLE, "grid_sampler")):
        return False
    line = text.rfind("\n", 0, offset) + 1
    if _UNUSED.match(text, line, offset) and not _BASES.match(text, line, offset):
        return bool(_RENAMED.match(text, word.end()))
    if word[0].lower().startswith(("adaptiveavg", "adaptive_avg")):
        return not _TO_ONE.match(text, word.end())
    before, behind, wanted = near.get(word[0], (0, 0, _WORD))
    return bool(wanted.search(text, max(offset - before, 0), word.end() + behind))
