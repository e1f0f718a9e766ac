"""The table of what draws in scikit-learn is what the installed release does."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import random
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from detlint.models.estimators import drawing, drawings, seeds_arguments, short_names
from detlint.models.model import words
from detlint.models.randomness import DRAWING_METHODS, GIVEN_AT

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.models.estimators import Drawing

sklearn = pytest.importorskip("sklearn")
np = pytest.importorskip("numpy")

RELEASE = tuple(map(int, sklearn.__version__.split(".")[:2]))
# With random_state=None by default, and not in the table: why.
LEFT_OUT = {
    "draws for many samples only": """
        linear_model.TheilSenRegressor preprocessing.KBinsDiscretizer
        preprocessing.QuantileTransformer preprocessing.quantile_transform
        manifold.LocallyLinearEmbedding manifold.locally_linear_embedding
    """,
    "draws to settle exact ties, or for atoms that nothing uses": """
        cluster.AffinityPropagation cluster.affinity_propagation decomposition.DictionaryLearning
    """,
    "draws without effect": "decomposition.SparsePCA decomposition.dict_learning",
    "draws if cv is a fraction": "model_selection.TunedThresholdClassifierCV",
    "hands it to what it is given": """
        inspection.PartialDependenceDisplay model_selection.check_cv
        model_selection.BaseShuffleSplit
    """,
}
# What has to be given to try a row, other than the data.
ARGUMENTS = {
    "datasets.make_biclusters": {"shape": (9, 9), "n_clusters": 3},
    "datasets.make_checkerboard": {"shape": (9, 9), "n_clusters": 3},
    "datasets.make_sparse_coded_signal": {
        "n_samples": 5,
        "n_components": 8,
        "n_features": 6,
        "n_nonzero_coefs": 2,
    },
    "datasets.make_hastie_10_2": {"n_samples": 20},
    "datasets.make_spd_matrix": {"n_dim": 3},
    "datasets.make_sparse_spd_matrix": {"n_dim": 5, "alpha": 0.5},
    "linear_model.ElasticNet": {"alpha": 0.01},
    "linear_model.Lasso": {"alpha": 0.01},
    "manifold.MDS": {"init": "random"},
    "model_selection.ParameterSampler": {"param_distributions": {"a": range(99)}, "n_iter": 3},
    "utils.sample_without_replacement": {"n_population": 99, "n_samples": 5},
    "random_projection.GaussianRandomProjection": {"n_components": 2},
    "random_projection.SparseRandomProjection": {"n_components": 2},
    "neural_network.MLPClassifier": {"max_iter": 5},
    "neural_network.MLPRegressor": {"max_iter": 5},
}
# Left to the survey that the table comes from: they are slow, or take estimators.
NOT_TRIED = words(
    """SearchCV fetch_ TSNE TunedThreshold OutputCode Chain Imputer PatchExtractor patches
    LogisticRegressionCV permutation_importance learning_curve MultiTask Dictionary dict_
    TargetEncoder fastica non_negative randomized_ smacof spectral_ Spectral fast_mcd k_means
    kmeans_plusplus mutual_info ridge_regression silhouette GaussianProcess Neighborhood NMF
    PCA RANSAC"""
)
VALUES = {"True": True, "some": 2, "several": 3}


def installed() -> dict[str, Callable[..., Any]]:
    """Every public function and class of scikit-learn that takes a ``random_state``."""
    found: dict[str, Callable[..., Any]] = {}
    for package in pkgutil.iter_modules(sklearn.__path__):
        if package.name.startswith("_") or package.name in ("externals", "tests", "experimental"):
            continue
        module = importlib.import_module(f"sklearn.{package.name}")
        for name in getattr(module, "__all__", ()):
            try:
                parameters = inspect.signature(getattr(module, name)).parameters
            except (AttributeError, ImportError, TypeError, ValueError):
                continue
            if "random_state" in parameters:
                found[f"{package.name}.{name}"] = getattr(module, name)
    return found


INSTALLED = installed()
ROWS = {
    name.removeprefix("sklearn."): row
    for name, row in drawings().items()
    if name.startswith("sklearn.")
}


def test_names_and_parameters_are_those_of_the_release() -> None:
    if RELEASE < (1, 9):
        pytest.skip("describes scikit-learn 1.9")
    for name, row in ROWS.items():
        function = INSTALLED.get(name)
        if function is None:  # in a module below the package, or an experiment
            continue
        parameters = list(inspect.signature(function).parameters.values())
        names = [each.name for each in parameters]
        state = parameters[names.index("random_state")]
        assert state.default in (None, "deprecated")
        placed = state.kind is not state.KEYWORD_ONLY
        assert (names.index("random_state") if placed else None) == row.position, name
        for key in (*row.needs, *row.keeps):
            word, _, place = key.partition("@")
            assert word in names or word == "base_estimator", name
            assert not place or names.index(word) == int(place)


def test_everything_that_takes_a_random_state_is_in_the_table_or_left_out_for_a_reason() -> None:
    if RELEASE != (1, 9):
        pytest.skip("describes scikit-learn 1.9")
    quiet = set(" ".join(LEFT_OUT.values()).split())
    unseeded = {
        name
        for name, function in INSTALLED.items()
        if inspect.signature(function).parameters["random_state"].default is None
    }
    assert unseeded - set(ROWS) == quiet & unseeded
    assert not quiet & set(ROWS)


def results(name: str, options: dict[str, object]) -> set[str]:
    """What three runs give, under other seeds of NumPy's global generator."""
    states = np.random.RandomState(0)
    x = np.abs(np.round(states.randn(60, 4), 1))
    x = np.hstack([x, x[:, :2]])  # equal features: ties
    y = (x[:, 0] + states.randn(60) > 0.8).astype(int)
    if name.endswith("RBM"):
        x = x / x.max()

    def run(seed: int) -> str:
        np.random.seed(seed)
        made = INSTALLED[name](**ARGUMENTS.get(name, {}), **options) if by_itself else call(x, y)
        if hasattr(made, "split"):
            return str([test.tolist() for _, test in made.split(x, y, np.arange(60) // 4)])
        if hasattr(made, "fit"):
            made.fit(x, y)
            ways = ("transform", "predict", "predict_proba", "score_samples")
            out = [getattr(made, way)(x) for way in ways if hasattr(made, way)]
            out.append(getattr(made, "feature_importances_", 0))
            kinds = (np.ndarray, float, int)
            out += [value for key, value in vars(made).items() if _is_fitted(key, value, kinds)]
            return str([np.asarray(each).tolist() for each in out])
        return str(list(made) if hasattr(made, "__iter__") else made)

    def call(*arrays: object) -> object:
        return INSTALLED[name](*arrays, **options)

    word = name.partition(".")[2]
    if "n_estimators" in inspect.signature(INSTALLED[name]).parameters:
        options = {"n_estimators": 4, **options}
    if "HistGradientBoosting" in name:
        options = {"max_iter": 4, **options}
    by_itself = inspect.isclass(INSTALLED[name]) or word.startswith(("make_", "sample_"))
    with warnings.catch_warnings(), np.printoptions(threshold=10**6):
        warnings.simplefilter("ignore")
        return {run(seed) for seed in (1, 2, 3)}


def _is_fitted(name: str, value: object, kinds: tuple[type, ...]) -> bool:
    return name.endswith("_") and "random" not in name and isinstance(value, kinds)


def trials() -> list[object]:
    return [
        pytest.param(name, row, id=name)
        for name, row in ROWS.items()
        if name in INSTALLED and not any(word in name for word in NOT_TRIED)
    ]


@pytest.mark.parametrize(("name", "row"), trials())
def test_a_row_draws_as_it_says(name: str, row: Drawing) -> None:
    options: dict[str, object] = {}
    for key, values in list(row.needs.items())[:1]:
        value = min(values)
        if (
            "probability" in key
            and "probability" not in inspect.signature(INSTALLED[name]).parameters
        ):
            pytest.skip("gone")
        options[key.partition("@")[0]] = VALUES.get(value, value)
    assert len(results(name, options)) > 1
    if row.needs and "several" not in str(row.needs):
        assert len(results(name, {})) == 1
    if row.keeps.get("shuffle"):
        assert len(results(name, {"shuffle": False})) == 1


def _tree(name: str, **options: object) -> object:
    return INSTALLED[f"tree.{name}"](max_features=2, **options)


def _holding() -> list[tuple[str, str]]:
    """What takes an estimator that it fits, and by which name."""
    return [
        (name, word)
        for name, function in INSTALLED.items()
        if name.startswith(("ensemble.", "linear_model.", "multioutput."))
        and inspect.isclass(function)
        for word in ("estimator", "base_estimator")
        if inspect.signature(function).parameters.get(word)
    ]


@pytest.mark.parametrize(("name", "word"), _holding())
def test_what_sets_the_seed_of_an_estimator_does_so_whatever_seed_that_has(
    name: str, word: str
) -> None:
    function = INSTALLED[name]
    parameters = inspect.signature(function).parameters
    kind = "DecisionTreeClassifier" if "Classifier" in name else "DecisionTreeRegressor"
    options = {"bootstrap": False} if "bootstrap" in parameters else {}
    options |= {"min_samples": 60} if "min_samples" in parameters else {}
    options |= {"n_estimators": 4} if "n_estimators" in parameters else {}

    def runs(inner: int | None, outer: int | None) -> int:
        targets = np.random.RandomState(0).randn(60, 2)
        x = np.random.RandomState(1).rand(60, 4)
        y = targets if name.startswith("multioutput.") else targets[:, 0]
        y = (y > 0).astype(int) if "Classifier" in name else y
        found = set()
        for seed in (1, 2, 3):
            np.random.seed(seed)
            given = {word: _tree(kind, random_state=inner)}
            made = function(**given, random_state=outer, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.add(str(made.fit(x, y).predict(x[:20] + 0.05).tolist()))
        return len(found)

    sets = seeds_arguments(f"sklearn.{name}")
    assert (runs(0, None) > 1) == sets
    assert (runs(None, 0) == 1) == sets


def _squares(x: np.ndarray[Any, Any]) -> float:
    return float((x**2).sum())


def _called(name: str) -> object:
    """A function of the table that is called as rows of scikit-learn are."""
    scipy, nx = pytest.importorskip("scipy"), pytest.importorskip("networkx")
    x = np.random.RandomState(1).rand(60, 2)
    limits = [(-1, 1), (-1, 1)]
    graph = nx.gnp_random_graph(60, 0.2, seed=1)
    calls: dict[str, Callable[[], Any]] = {
        "scipy.cluster.kmeans2": lambda: scipy.cluster.vq.kmeans2(x, 3, missing="warn")[0],
        "scipy.cluster.kmeans": lambda: scipy.cluster.vq.kmeans(x, 3, iter=1)[0],
        "scipy.linalg.clarkson_woodruff_transform": lambda: (
            scipy.linalg.clarkson_woodruff_transform(x, 5)
        ),
        "scipy.optimize.basinhopping": lambda: (
            scipy.optimize.basinhopping(
                lambda y: _squares(y) + np.sin(9 * y).sum(), [1.0, 1.0], niter=2
            ).x
        ),
        "scipy.optimize.differential_evolution": lambda: (
            scipy.optimize.differential_evolution(_squares, limits, maxiter=2).x
        ),
        "scipy.optimize.dual_annealing": lambda: (
            scipy.optimize.dual_annealing(_squares, limits, maxiter=2, no_local_search=True).x
        ),
        "scipy.sparse.eigs": lambda: scipy.sparse.linalg.eigs(x @ x.T, 2)[1],
        "scipy.sparse.eigsh": lambda: scipy.sparse.linalg.eigsh(x @ x.T, 2)[1],
        "scipy.sparse.rand": lambda: scipy.sparse.rand(9, 9, 0.3).toarray(),
        "scipy.sparse.random": lambda: scipy.sparse.random(9, 9, 0.3).toarray(),
        "scipy.sparse.random_array": lambda: scipy.sparse.random_array(
            (9, 9), density=0.3
        ).toarray(),
        "scipy.sparse.svds": lambda: scipy.sparse.linalg.svds(x @ x.T, 1)[0],
        "scipy.stats.Halton": lambda: scipy.stats.qmc.Halton(2).random(4),
        "scipy.stats.LatinHypercube": lambda: scipy.stats.qmc.LatinHypercube(2).random(4),
        "scipy.stats.MultinomialQMC": lambda: scipy.stats.qmc.MultinomialQMC([0.2] * 5, 90).random(
            4
        ),
        "scipy.stats.MultivariateNormalQMC": lambda: scipy.stats.qmc.MultivariateNormalQMC(
            [0, 0]
        ).random(4),
        "scipy.stats.PoissonDisk": lambda: scipy.stats.qmc.PoissonDisk(2).random(4),
        "scipy.stats.Sobol": lambda: scipy.stats.qmc.Sobol(2).random(4),
        "scipy.stats.bootstrap": lambda: (
            scipy.stats.bootstrap((x[:, 0],), np.mean, n_resamples=50).standard_error
        ),
        "scipy.stats.dunnett": lambda: (
            scipy.stats.dunnett(x[:, 0], x[:20, 1], control=x[30:, 1]).pvalue
        ),
        "scipy.stats.goodness_of_fit": lambda: (
            scipy.stats.goodness_of_fit(scipy.stats.norm, x[:, 0], n_mc_samples=9).null_distribution
        ),
        "scipy.stats.multiscale_graphcorr": lambda: scipy.stats.multiscale_graphcorr(
            x[:20], x[20:40], reps=9
        ).mgc_dict["null_dist"],
        "scipy.stats.permutation_test": lambda: (
            scipy.stats.permutation_test(
                (x[:, 0], x[:, 1]), lambda a, b: a.mean() - b.mean(), n_resamples=9
            ).null_distribution
        ),
        "scipy.stats.sobol_indices": lambda: (
            scipy.stats.sobol_indices(func=sum, n=16, dists=[scipy.stats.uniform()] * 2).first_order
        ),
        "networkx.connected_watts_strogatz_graph": lambda: (
            nx.connected_watts_strogatz_graph(20, 4, 0.5).edges
        ),
        "networkx.newman_watts_strogatz_graph": lambda: (
            nx.newman_watts_strogatz_graph(20, 4, 0.5).edges
        ),
        "networkx.planted_partition_graph": lambda: (
            nx.planted_partition_graph(2, 9, 0.5, 0.1).edges
        ),
        "networkx.random_labeled_tree": lambda: nx.random_labeled_tree(20).edges,
        "networkx.random_partition_graph": lambda: (
            nx.random_partition_graph([9, 9], 0.5, 0.1).edges
        ),
        "networkx.scale_free_graph": lambda: nx.scale_free_graph(20).edges,
        "networkx.double_edge_swap": lambda: nx.double_edge_swap(graph.copy(), 9, 900).edges,
        "networkx.louvain_communities": lambda: [
            sorted(each) for each in nx.community.louvain_communities(graph)
        ],
        "networkx.random_geometric_graph": lambda: nx.random_geometric_graph(20, 0.3).edges,
        "networkx.configuration_model": lambda: nx.configuration_model([2] * 20).edges,
        "networkx.expected_degree_graph": lambda: nx.expected_degree_graph([3] * 20).edges,
        "networkx.relaxed_caveman_graph": lambda: nx.relaxed_caveman_graph(4, 5, 0.4).edges,
        "networkx.waxman_graph": lambda: nx.waxman_graph(20).edges,
        "networkx.random_regular_graph": lambda: nx.random_regular_graph(3, 20).edges,
        "networkx.stochastic_block_model": lambda: (
            nx.stochastic_block_model([10, 10], [[0.5, 0.1], [0.1, 0.5]]).edges
        ),
        "networkx.barabasi_albert_graph": lambda: nx.barabasi_albert_graph(20, 2).edges,
        "networkx.powerlaw_cluster_graph": lambda: nx.powerlaw_cluster_graph(20, 2, 0.3).edges,
        "networkx.watts_strogatz_graph": lambda: nx.watts_strogatz_graph(20, 4, 0.5).edges,
        "networkx.gnm_random_graph": lambda: nx.gnm_random_graph(20, 40).edges,
    }
    made = calls.get(name, lambda: getattr(nx, name.partition(".")[2])(20, 0.3).edges)()
    return (
        sorted(map(str, made)) if name.startswith("networkx.") else str(np.asarray(made).tolist())
    )


OF_BOTH = [name for name in drawings() if name.startswith(("scipy.", "networkx."))]


def _drawn(name: str, numpy_seed: int, python_seed: int) -> str:
    """What a row gives after the global generators are seeded."""
    np.random.seed(numpy_seed)
    random.seed(python_seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(_called(name))


@pytest.mark.parametrize("name", OF_BOTH)
def test_rows_of_scipy_and_networkx_draw_as_they_say(name: str) -> None:
    by_numpy = {_drawn(name, seed, 0) for seed in (1, 2, 3)}
    by_python = {_drawn(name, 0, seed) for seed in (1, 2, 3)}
    again = {_drawn(name, 0, 0) for _ in range(3)}
    differ = {
        source
        for source, found in (("numpy", by_numpy), ("random", by_python), ("system", again))
        if len(found) > 1
    }
    source = drawings()[name].source
    assert differ == ({"numpy", "random", "system"} if source == "system" else {source})


@pytest.mark.parametrize("name", [x for x in OF_BOTH if "rng" in drawings()[x].parameters])
def test_none_as_rng_asks_the_system(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scipy = pytest.importorskip("scipy")
    inner = (scipy.cluster.vq, scipy.linalg, scipy.optimize, scipy.sparse, scipy.sparse.linalg)
    word = name.rpartition(".")[2]
    module = next(x for x in (*inner, scipy.stats.qmc, scipy.stats) if hasattr(x, word))
    function = getattr(module, word)
    for seed, differs in ((None, True), (1, False)):
        monkeypatch.setattr(module, word, functools.partial(function, rng=seed))
        assert (len({_drawn(name, 0, 0) for _ in range(3)}) > 1) is differs


@pytest.mark.parametrize(
    ("call", "places"),
    [
        ("stats.norm(0, 1).rvs(3)", "rvs"),
        ("stats.gaussian_kde(np.eye(3)[:2] + 1).resample(3)", "resample"),
        ("Rotation.random(3).as_quat()", "random"),
    ],
)
def test_objects_of_scipy_draw_from_numpy(call: str, places: str) -> None:
    stats = pytest.importorskip("scipy.stats")
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    known = {"np": np, "stats": stats, "Rotation": rotation}
    assert places in DRAWING_METHODS or any(each.endswith(f".{places}") for each in GIVEN_AT)

    def run(seed: int) -> list[object]:
        np.random.seed(seed)
        return list(np.ravel(eval(call, known)))  # noqa: S307 - one of those above

    assert run(1) == run(1) != run(2)


def test_rows_are_found_by_private_names_of_their_package() -> None:
    assert drawing("sklearn.cluster._kmeans.KMeans") is drawings()["sklearn.cluster.KMeans"]
    assert drawing("sklearn.cluster.KMeans") is drawings()["sklearn.cluster.KMeans"]
    assert drawing("sklearn.KMeans") is drawing("mine.cluster.KMeans") is None
    assert {"KMeans", "train_test_split", "SMOTE"} <= set(short_names())
