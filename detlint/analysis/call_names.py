"""What the name of a function that cannot be seen says of calling it once for each element."""

from __future__ import annotations

from detlint.analysis.uses import words
from detlint.models.names import words_of

# Each call leaves something to those that follow. What other verbs do, to upload, to save or to
# check, is done to each element by itself as far as anyone can tell.
_ORDERED = words(
    """add append concat emit enqueue extend feed fit ingest insert learn load merge pprint print
    push put read register step train update write writelines writer writerow writerows writestr
    yield"""
)
# What these are for is what they return, unless that is dropped.
_GIVING_BACK = frozenset(("load", "read"))
# What is in the order of all that these take at once: data, numbers of words, random draws.
_TAKING_ORDER = words(
    """append array asarray batch batches choice choices collate concat concatenate dataframe
    dataset datasets dataloader dump dumps embed embedding embeddings encode extend feed fit fold
    folds frame from generate hash images index ingest insert kfold learn loader md5 permutation
    prompt sample sampler samples sequential series sha1 sha256 shuffle shuffled split stack step
    subset tensor token tokens train vocab vocabulary write writelines writer writerow writestr"""
)
WRITING = frozenset(each for each in _ORDERED if each.startswith("writ"))


def ordered_words(name: str, *, dropped: bool) -> frozenset[str]:
    """The words of a name that say that the order of the calls shows: ``train_on`` → ``train``."""
    found = _ORDERED.intersection(words_of(name))
    return found if dropped else found - _GIVING_BACK


def takes_order(name: str) -> bool:
    """Whether a function's name says that the order of a list that it is given matters."""
    return not _TAKING_ORDER.isdisjoint(words_of(name))
