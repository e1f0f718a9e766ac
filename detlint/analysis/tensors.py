"""What torch's functions and methods do with the values of a tensor."""

from __future__ import annotations

from detlint.analysis.uses import Vocabulary
from detlint.models import memory, names

_ROWS = memory.TORCH

TORCH = Vocabulary(
    reads=lambda function: _ROWS.reads(function) > 0,
    is_module=names.is_network,
    module_prefix="torch.nn.",
    readers=_ROWS.readers,
    operand_readers=_ROWS.operand_readers,
    scaled_by_beta=_ROWS.scaled_by_beta,
    views=_ROWS.views,
    properties=_ROWS.properties,
    property_functions=_ROWS.property_functions,
    shape_arguments=_ROWS.shape_arguments,
)
