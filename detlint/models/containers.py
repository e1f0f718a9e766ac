"""What methods do with a container: whether they change it, and whether its order shows."""

from __future__ import annotations

from detlint.models.model import words

# Methods that change what they are called on; of the others, none is known to.
CHANGING = words(
    """add append appendleft clear discard difference_update extend extendleft insert
    intersection_update pop popitem popleft push put remove reverse setdefault sort
    symmetric_difference_update update"""
)
# What makes one that holds nothing, where it is given nothing.
MAKING = words("Counter OrderedDict defaultdict deque dict frozenset list set")
ZEROS = words("numpy.zeros torch.zeros")  # … and of numbers, in which something is added up
# Those that also give something that was in it.
GIVING = words("pop popitem popleft setdefault")
# Changes whose result does not depend on the order of several.
COMMUTING = words("add discard remove clear difference_update intersection_update")
# Those by which elements stand in the order in which they came.
ADDING = words("append appendleft extend extendleft insert push put")
# Those that put what they are given into the container, by itself or as its elements.
HOLDING = words("add append appendleft extend insert setdefault update")
# Keys of queries by which a value is looked for among others, as MongoDB has them.
MEMBERSHIP = words("$in $nin")
# What looks a key up, with a default.
PICKING = words("get pop setdefault")
# Methods after which the order does not matter, or which only ask whether something is there.
UNORDERED = words(
    """__contains__ __len__ add append appendleft clear close count discard extend extendleft
    insert remove reverse set_description set_postfix setdefault sort update"""
)
# Methods and assertions for which what they are given is a set.
OF_SETS = words(
    """difference difference_update intersection intersection_update isdisjoint isin issubset
    issuperset symmetric_difference symmetric_difference_update union discard assertCountEqual
    assertIn assertNotIn assertSetEqual assertTrue assertFalse"""
)
# `x - np.min(x)`: what is taken away from an array of numbers.
CENTRES = frozenset(f"numpy.{each}" for each in words("amax amin max mean median min nanmean"))
EXTREMES = words("amax amin argmax argmin max min ptp any all")
POSITIONS = words("argmax argmin argsort index nanargmax nanargmin")
ASSERTING = words("assertEqual assertListEqual assertNotEqual assertSequenceEqual")
# What makes an array of a list, or asks one for its content or shape.
OF_ARRAYS = words(
    """T astype flatten float numpy permute reshape shape size squeeze to transpose view"""
)
# Methods of a table that take its columns by their names.
BY_COLUMN = words("drop get groupby pop query set_index")
# Methods of several types: alone, they say nothing of an object of unknown type.
SHARED = words(
    """__call__ count find format get group groups index read readline replace title translate
    partition most_common elements fromkeys update decode union item name parent parts path hex
    resolve popitem setdefault difference intersection symmetric_difference"""
)
