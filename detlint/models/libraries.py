"""Functions of the libraries that training code is made with."""

from __future__ import annotations

from detlint.models import frames
from detlint.models.model import Model, Order, rows, words

FUNCTIONS = (
    *rows("numpy", "array asarray", "array[E0]", Order.KEEPS),
    *rows("glob2", "glob", "list[str]"),
    *rows("glob2", "iglob", "iterator[str]"),
    *rows("numpy", "unique", "array[E0]", Order.FREE),
    *rows("numpy", "mean nanmean nanstd nansum nanvar std sum var", "", Order.ADDS),
    *rows("numpy", "median nanmax nanmedian nanmin nanpercentile nanquantile", "", Order.FREE),
    *rows("numpy", "percentile quantile", "", Order.FREE),
    *rows("numpy", "amax amin max min", "E0", Order.FREE),
    Model("xarray.open_mfdataset", order=Order.FREE, unless="combine=nested"),
    *rows("numpy", "sort", "array[E0]", Order.SORTS),
    *rows("numpy", "frompyfunc vectorize", "instance[numpy.vectorize]"),
    *rows(
        "numpy.char",
        """add capitalize center decode encode ljust lower lstrip mod multiply replace rjust rstrip
        strip swapcase title translate upper zfill""",
        "array[str]",
        Order.KEEPS,
    ),
    *rows("numpy", "all any count_nonzero isin", "", Order.FREE),
    *rows("numpy", "equal greater greater_equal less less_equal not_equal", "array[bool]"),
    *rows("numpy", "logical_and logical_not logical_or logical_xor", "array[bool]"),
    *rows("numpy", "arange linspace zeros ones empty full argsort", "array[number]"),
    *rows("numpy.random", "permutation choice shuffle", "", Order.DRAWS),
    *rows("pandas", "DataFrame Series", "instance[pandas.DataFrame]", Order.KEEPS),
    *rows("pandas.DataFrame", "from_dict from_records", "instance[pandas.DataFrame]", Order.KEEPS),
    *rows(
        "pandas",
        """concat crosstab get_dummies json_normalize melt merge merge_asof merge_ordered pivot
        pivot_table read_csv read_excel read_feather read_fwf read_hdf read_json read_orc
        read_parquet read_pickle read_sas read_spss read_sql read_sql_query read_sql_table
        read_stata read_table""",
        "instance[pandas.DataFrame]",
    ),
    *rows("pandas", "unique", "array[E0]", Order.KEEPS),
    *rows(
        "polars",
        """DataFrame LazyFrame concat from_dict from_dicts from_pandas from_records read_csv
        read_database read_excel read_ipc read_json read_ndjson read_parquet scan_csv scan_ipc
        scan_ndjson scan_parquet""",
        "instance[polars.DataFrame]",
    ),
    *rows("polars", "col", "instance[polars.Expr]"),
    *rows("hnswlib", "Index", "instance[hnswlib.Index]"),
    *rows("graph_tool.all", "BlockState", "instance[graph_tool.inference.BlockState]"),
    *rows("graph_tool.inference", "BlockState", "instance[graph_tool.inference.BlockState]"),
    *rows("natsort", "natsorted", "list[E0]", Order.SORTS),
    *rows("tqdm", "tqdm", "iterator[E0]", Order.KEEPS),
    *rows("tqdm.auto", "tqdm", "iterator[E0]", Order.KEEPS),
    *rows("tqdm.notebook", "tqdm", "iterator[E0]", Order.KEEPS),
    *rows("rich.progress", "track", "iterator[E0]", Order.KEEPS),
    *rows("toolz", "unique", "iterator[E0]", Order.KEEPS),
    *rows("torch", "tensor as_tensor stack cat", "instance[torch.Tensor]", Order.READS),
    *rows(
        "torch.distributions",
        """Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet
        Distribution Exponential FisherSnedecor Gamma Geometric Gumbel HalfCauchy HalfNormal
        Independent InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal
        LowRankMultivariateNormal MixtureSameFamily Multinomial MultivariateNormal NegativeBinomial
        Normal OneHotCategorical OneHotCategoricalStraightThrough Pareto Poisson RelaxedBernoulli
        RelaxedOneHotCategorical StudentT TransformedDistribution Uniform VonMises Weibull
        Wishart""",
        "instance[torch.distributions.Distribution]",
    ),
)

# They give the same whichever letters or numbers stand for the parts of both.
DISTANCES = words(
    """Levenshtein.distance Levenshtein.ratio editdistance.distance editdistance.eval
    jellyfish.levenshtein_distance nltk.edit_distance polyleven.levenshtein
    nltk.metrics.distance.edit_distance torchaudio.functional.edit_distance
    rapidfuzz.distance.Levenshtein.distance edit_distance.SequenceMatcher"""
)
# They count the words of texts, unless they are told to count more than one at a time.
BAGS = words(
    """sklearn.feature_extraction.text.CountVectorizer
    sklearn.feature_extraction.text.HashingVectorizer
    sklearn.feature_extraction.text.TfidfVectorizer"""
)
ATTRIBUTES = ()

METHODS = (
    *rows("instance[torch.nn.Module]", "state_dict", "dict[str, instance[torch.Tensor]]"),
    *rows(
        "instance[torch.nn.Module]",
        "named_buffers named_children named_modules named_parameters",
        "iterator[tuple[str, object]]",
    ),
    *rows("instance[torch.nn.Module]", "children modules parameters buffers", "iterator[object]"),
    *rows("instance[torch.Tensor]", "item", "number"),
    *rows("instance[torch.Tensor]", "tolist", "list[number]"),
    *rows("instance[torch.Tensor]", "numel", "int"),
    *rows("instance[torch.distributions.Distribution]", "expand", "S"),
    *rows("instance[polars.DataFrame]", " ".join(sorted(frames.KEEPING - frames.COLUMN)), "S"),
    *rows("instance[polars.Expr]", " ".join(sorted((*frames.KEEPING, "sort", "unique"))), "S"),
    *rows("instance[polars.DataFrame]", "head sort unique", "S"),
    *rows("instance[numpy.vectorize]", "__call__", "array", Order.KEEPS),
    *rows("array", "tolist", "list[E]", own=Order.KEEPS),
    *rows("array", "tobytes", "bytes"),
    *rows("array", "copy flatten ravel squeeze", "S", own=Order.KEEPS),
    *rows("instance[transformers.PreTrainedTokenizer]", "get_vocab", "dict[str, int]"),
    *rows("instance[transformers.PreTrainedTokenizer]", "tokenize", "list[str]"),
)

MEMBERS = (
    *rows("array", "shape", "tuple[int, int, int, int, int, int]"),
    # AnnData makes texts of all that it is given (anndata 0.12).
    *rows("instance[anndata.AnnData]", "obs_names var_names", "array[str]"),
)
