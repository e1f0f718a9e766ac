"""Tables: which calls of polars leave their rows in no order, what methods do with that, and which
of pandas tell of all rows together."""

from __future__ import annotations

from detlint.models.completions import Completion
from detlint.models.model import words

FRAME = "polars.DataFrame"
COLUMN_OF = "polars.Expr"  # has no rows before a table selects it
# Groups and distinct rows are hashed with another salt in each run, by several threads.
_SAYS = "gives its rows in another order in each run"
_ADVICE = "pass maintain_order=True, or sort the rows"
UNORDERED = {
    name: Completion(f"{name}()", _SAYS, _ADVICE, "rows") for name in ("group_by", "unique")
}
GROUPING = frozenset(("group_by",))
MAINTAINED = "maintain_order"
# Methods whose tables and columns have the rows in the same order, …
KEEPING = words(
    """alias cast clone collect drop drop_nans drop_nulls explode fill_nan fill_null filter
    get_column implode join join_asof lazy rename select to_dummies unnest unpivot with_columns"""
)
COLUMN = words("alias get_column")  # of a column, or giving one
# … that give lists, arrays and tables of others of them, …
LISTING = words("iter_rows rows to_arrow to_dicts to_list to_numpy to_pandas to_series to_torch")
# … and for which it does not matter.
FREE = words(
    """all any bottom_k collect_schema count describe equals estimated_size group_by is_empty is_in
    len max mean median min n_unique null_count product quantile rows_by_key sort std sum top_k
    unique var"""
)

# What pandas tells of a column or of groups of rows, the same in any order but for the last bits.
STATISTICS = words("count max mean median min nunique sem size std sum var")
# Methods of pandas whose tables and columns have the rows in the same order.
ROW_BY_ROW = words("dropna fillna isna notna round")
# What takes rows of pandas by their places.
BY_PLACE = frozenset(("iat", "iloc"))
AGGREGATING = words("agg aggregate")
