"""Which functions and classes of scikit-learn, and of libraries like it, draw random numbers when
they get no seed.

Measured on scikit-learn 1.9.1, imbalanced-learn 0.14.2, umap-learn 0.5.12, openTSNE 1.0.4, PaCMAP
0.9.1 and PHATE 2.0.0, each with NumPy's global generator seeded in three ways: what is here gave
different results. Left out is what draws for many samples only (``QuantileTransformer``,
``TheilSenRegressor``), to settle exact ties (``AffinityPropagation``), where a value runs out of
others (``DictionaryLearning``), or without an effect on the results (``SparsePCA``, ``Lasso``).
Where it is given none, a loader of ffcv takes a seed from ``np.random.randint``
(``loader/loader.py``), and KerasTuner 1.4.8 from ``random.randint`` (``engine/oracle.py``).
The rows of SciPy 1.17, networkx 3.6, scikit-image 0.26, scikit-optimize 0.10, bayesian-optimization
3.4, implicit 0.7, surprise 1.1, python-louvain 0.16, LIME 0.2, cdlib 0.4, cmaes 0.13, leidenalg
0.12, lightfm 1.19, pygad 3.9 and pymoo 0.6 were measured likewise.
trimesh 5.2 has a generator of its own, which the operating system seeds (``util.py``); until 5.0,
it took NumPy's. Optuna 5.0, hyperopt 0.3 and HyperOptSearch of Ray 2.9 have such a one as well, and
so have PyMC 5.28 (``util.py``) and Procgen (``env.py``). Without a seed, Stable Baselines3 2.9
seeds neither the environment nor the space of actions (``common/base_class.py``). webdataset 1.0
makes its seed of the clock and the process (``filters.py``). Without a search algorithm, Ray 2.60
draws from NumPy's global generator (``tune/search/sample.py``). Since 1.4.21, albumentations draws
from a generator of the outermost ``Compose`` (measured on 1.4.21, 2.0.8 and AlbumentationsX 2.5.1).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from detlint.models.model import words

# One row for each name: package and name, the release that brought it or its ``random_state``
# (as far as its page says), and what else it takes:
#   if key=value|value      it draws only if one of these is given; ``some``: not None, 0 or False,
#                           ``several``: not None or 1; ``@0``: it may be passed at that place;
#                           of an enumeration, the name of a member; ``drawing``: an estimator of
#                           this table that draws, whatever seed that one has; ``transform``: what
#                           has a transform that draws by a generator of its library
#   while key=value|value   it draws unless the key is given another value
#   beside domains          it draws only in a file that calls one of these, of the same package
#   at 3                    ``random_state`` may be passed at that place, without its name
#   by seed|rng             the parameter has that name, or in other releases another
#   from random             it draws from Python's global generator and not from NumPy's; from
#                           ``system``: the operating system seeds it; from ``cdlib``: so it does
#                           unless ``cdlib.seed`` is called; from ``threads``: it differs whatever
#                           is seeded, as threads decide as well
#                           from ``environment``: the operating system seeds its environment and
#                           the space of its actions, unless these were made with a seed
_TABLE = """
sklearn.cluster.BisectingKMeans 1.1 while init=k-means++|random
sklearn.cluster.KMeans while init=k-means++|random
sklearn.cluster.MiniBatchKMeans
sklearn.cluster.SpectralBiclustering
sklearn.cluster.SpectralClustering while assign_labels=kmeans|discretize
sklearn.cluster.SpectralCoclustering
sklearn.cluster.k_means while init=k-means++|random
sklearn.cluster.kmeans_plusplus 0.24
sklearn.cluster.spectral_clustering while assign_labels=kmeans|discretize
sklearn.covariance.EllipticEnvelope
sklearn.covariance.MinCovDet
sklearn.covariance.fast_mcd at 3
sklearn.datasets.fetch_covtype if shuffle=True
sklearn.datasets.fetch_kddcup99 0.18 if shuffle=True
sklearn.datasets.fetch_rcv1 0.17 if shuffle=True
sklearn.datasets.make_biclusters
sklearn.datasets.make_blobs
sklearn.datasets.make_checkerboard
sklearn.datasets.make_circles while shuffle=True
sklearn.datasets.make_classification
sklearn.datasets.make_friedman1
sklearn.datasets.make_friedman2
sklearn.datasets.make_friedman3
sklearn.datasets.make_gaussian_quantiles
sklearn.datasets.make_hastie_10_2
sklearn.datasets.make_low_rank_matrix
sklearn.datasets.make_moons while shuffle=True
sklearn.datasets.make_multilabel_classification
sklearn.datasets.make_regression
sklearn.datasets.make_s_curve
sklearn.datasets.make_sparse_coded_signal
sklearn.datasets.make_sparse_spd_matrix
sklearn.datasets.make_sparse_uncorrelated
sklearn.datasets.make_spd_matrix
sklearn.datasets.make_swiss_roll
sklearn.decomposition.FastICA while w_init=None
sklearn.decomposition.KernelPCA 0.18 if eigen_solver=randomized
sklearn.decomposition.LatentDirichletAllocation 0.17
sklearn.decomposition.MiniBatchDictionaryLearning while dict_init=None
sklearn.decomposition.MiniBatchNMF 1.1 while init=None|nndsvd|nndsvda|nndsvdar|random
sklearn.decomposition.MiniBatchSparsePCA
sklearn.decomposition.NMF while init=None|nndsvd|nndsvda|nndsvdar|random
sklearn.decomposition.PCA 0.18 if svd_solver=randomized
sklearn.decomposition.TruncatedSVD while algorithm=randomized
sklearn.decomposition.dict_learning_online while dict_init=None
sklearn.decomposition.fastica while w_init=None
sklearn.decomposition.non_negative_factorization while init=None|nndsvd|nndsvda|nndsvdar|random
sklearn.decomposition.randomized_svd
sklearn.dummy.DummyClassifier 0.13 if strategy=stratified|uniform
sklearn.ensemble.AdaBoostClassifier 0.14 while estimator@0=None|drawing base_estimator=None|drawing
sklearn.ensemble.AdaBoostRegressor 0.14
sklearn.ensemble.BaggingClassifier 0.15
sklearn.ensemble.BaggingRegressor 0.15
sklearn.ensemble.ExtraTreesClassifier
sklearn.ensemble.ExtraTreesRegressor
sklearn.ensemble.GradientBoostingClassifier
sklearn.ensemble.GradientBoostingRegressor
sklearn.ensemble.HistGradientBoostingClassifier 0.21 if early_stopping=True
sklearn.ensemble.HistGradientBoostingRegressor 0.21 if early_stopping=True
sklearn.ensemble.IsolationForest 0.18
sklearn.ensemble.RandomForestClassifier
sklearn.ensemble.RandomForestRegressor
sklearn.ensemble.RandomTreesEmbedding
sklearn.feature_extraction.PatchExtractor 0.9 if max_patches=some
sklearn.feature_extraction.extract_patches_2d if max_patches=some
sklearn.feature_selection.mutual_info_classif
sklearn.feature_selection.mutual_info_regression
sklearn.gaussian_process.GaussianProcessClassifier 0.18 if n_restarts_optimizer=some
sklearn.gaussian_process.GaussianProcessRegressor 0.18 if n_restarts_optimizer=some
sklearn.impute.IterativeImputer 0.21 if imputation_order=random sample_posterior=True
sklearn.inspection.permutation_importance
sklearn.kernel_approximation.Nystroem 0.13
sklearn.kernel_approximation.PolynomialCountSketch 0.24
sklearn.kernel_approximation.RBFSampler
sklearn.kernel_approximation.SkewedChi2Sampler
sklearn.linear_model.ElasticNet if selection=random
sklearn.linear_model.ElasticNetCV if selection=random
sklearn.linear_model.Lars 0.23 if jitter=some
sklearn.linear_model.Lasso if selection=random
sklearn.linear_model.LassoCV if selection=random
sklearn.linear_model.LassoLars 0.23 if jitter=some
sklearn.linear_model.LogisticRegression if solver=sag|saga
sklearn.linear_model.LogisticRegressionCV if solver=sag|saga
sklearn.linear_model.MultiTaskElasticNet if selection=random
sklearn.linear_model.MultiTaskElasticNetCV 0.15 if selection=random
sklearn.linear_model.MultiTaskLasso if selection=random
sklearn.linear_model.MultiTaskLassoCV 0.15 if selection=random
sklearn.linear_model.PassiveAggressiveClassifier while shuffle=True
sklearn.linear_model.PassiveAggressiveRegressor while shuffle=True
sklearn.linear_model.RANSACRegressor
sklearn.linear_model.Ridge 0.17 if solver=sag|saga
sklearn.linear_model.RidgeClassifier if solver=sag|saga
sklearn.linear_model.SGDClassifier while shuffle=True
sklearn.linear_model.SGDOneClassSVM 1.0 while shuffle=True at 6
sklearn.linear_model.SGDRegressor while shuffle=True
sklearn.linear_model.ridge_regression if solver=sag|saga
sklearn.manifold.MDS while init=random
sklearn.manifold.SpectralEmbedding
sklearn.manifold.TSNE
sklearn.manifold.smacof while init=None
sklearn.manifold.spectral_embedding
sklearn.metrics.silhouette_score if sample_size=some
sklearn.mixture.BayesianGaussianMixture 0.18 if n_components@0=several
sklearn.mixture.GaussianMixture 0.18 if n_components@0=several
sklearn.model_selection.GroupKFold 1.6 if shuffle=True
sklearn.model_selection.GroupShuffleSplit
sklearn.model_selection.HalvingGridSearchCV
sklearn.model_selection.HalvingRandomSearchCV
sklearn.model_selection.KFold if shuffle=True
sklearn.model_selection.ParameterSampler
sklearn.model_selection.RandomizedSearchCV 0.14
sklearn.model_selection.RepeatedKFold
sklearn.model_selection.RepeatedStratifiedKFold
sklearn.model_selection.ShuffleSplit
sklearn.model_selection.StratifiedGroupKFold if shuffle=True at 2
sklearn.model_selection.StratifiedKFold if shuffle=True
sklearn.model_selection.StratifiedShuffleSplit
sklearn.model_selection.learning_curve if shuffle=True
sklearn.model_selection.train_test_split while shuffle=True
sklearn.multiclass.OutputCodeClassifier
sklearn.multioutput.ClassifierChain 0.19 if order=random
sklearn.multioutput.RegressorChain 0.20 if order=random
sklearn.neighbors.NeighborhoodComponentsAnalysis if init=random
sklearn.neural_network.BernoulliRBM
sklearn.neural_network.MLPClassifier 0.18
sklearn.neural_network.MLPRegressor 0.18
sklearn.random_projection.GaussianRandomProjection 0.13
sklearn.random_projection.SparseRandomProjection 0.13
sklearn.svm.LinearSVC if dual=True
sklearn.svm.LinearSVR 0.16 while loss=epsilon_insensitive
sklearn.svm.NuSVC if probability=True
sklearn.svm.SVC if probability=True
sklearn.tree.DecisionTreeClassifier
sklearn.tree.DecisionTreeRegressor
sklearn.tree.ExtraTreeClassifier
sklearn.tree.ExtraTreeRegressor
sklearn.utils.randomized_range_finder
sklearn.utils.randomized_svd
sklearn.utils.resample
sklearn.utils.sample_without_replacement at 3
sklearn.utils.shuffle
imblearn.combine.SMOTEENN
imblearn.combine.SMOTETomek
imblearn.ensemble.BalancedBaggingClassifier
imblearn.ensemble.BalancedRandomForestClassifier 0.4
imblearn.ensemble.EasyEnsembleClassifier 0.4
imblearn.over_sampling.ADASYN
imblearn.over_sampling.BorderlineSMOTE 0.4
imblearn.over_sampling.RandomOverSampler
imblearn.over_sampling.SMOTE
imblearn.over_sampling.SMOTEN 0.8
imblearn.over_sampling.SMOTENC 0.4
imblearn.over_sampling.SVMSMOTE 0.4
imblearn.under_sampling.ClusterCentroids
imblearn.under_sampling.CondensedNearestNeighbour
imblearn.under_sampling.InstanceHardnessThreshold
imblearn.under_sampling.OneSidedSelection
imblearn.under_sampling.RandomUnderSampler
albumentations.Compose 1.4.21 by seed from system if transforms@0=transform
bayes_opt.BayesianOptimization from system
cdlib.algorithms.cpm by seed from cdlib
cdlib.algorithms.leiden by seed from cdlib
cdlib.algorithms.rb_pots by seed from cdlib
cdlib.algorithms.rber_pots by seed from cdlib
cdlib.algorithms.significance_communities by seed from cdlib
cdlib.algorithms.surprise_communities by seed from cdlib
cmaes.CMA by seed from system
cmaes.CMAwM by seed from system
cmaes.SepCMA by seed from system
community.best_partition
implicit.als.AlternatingLeastSquares from system
implicit.bpr.BayesianPersonalizedRanking from system
leidenalg.find_partition by seed from system at 6
leidenalg.find_partition_multiplex by seed from system
lightfm.LightFM from system
lime.lime_tabular.LimeTabularExplainer
lime.lime_text.LimeTextExplainer
networkx.barabasi_albert_graph by seed from random at 2
networkx.binomial_graph by seed from random at 2
networkx.configuration_model by seed from random at 2
networkx.connected_watts_strogatz_graph by seed from random at 4
networkx.double_edge_swap by seed from random at 3
networkx.erdos_renyi_graph by seed from random at 2
networkx.expected_degree_graph by seed from random at 1
networkx.fast_gnp_random_graph by seed from random at 2
networkx.gnm_random_graph by seed from random at 2
networkx.gnp_random_graph by seed from random at 2
networkx.louvain_communities by seed from random at 5
networkx.newman_watts_strogatz_graph by seed from random at 3
networkx.planted_partition_graph by seed from random at 4
networkx.powerlaw_cluster_graph by seed from random at 3
networkx.random_geometric_graph by seed from random at 5
networkx.random_labeled_tree 3.2 by seed from random
networkx.random_partition_graph by seed from random at 3
networkx.random_regular_graph by seed from random at 2
networkx.relaxed_caveman_graph by seed from random at 3
networkx.scale_free_graph by seed from random at 6
networkx.stochastic_block_model by seed from random at 3
networkx.waxman_graph by seed from random at 6
networkx.watts_strogatz_graph by seed from random at 3
scipy.cluster.kmeans by seed|rng if k_or_guess@1=some
scipy.cluster.kmeans2 by seed|rng while minit=random|points|++
scipy.linalg.clarkson_woodruff_transform by seed|rng at 2
scipy.optimize.basinhopping by seed|rng at 12
scipy.optimize.differential_evolution by seed|rng at 9
scipy.optimize.dual_annealing by seed|rng at 10
scipy.sparse.eigs 1.17 by rng from system while v0@5=None return_eigenvectors@9=True
scipy.sparse.eigsh 1.17 by rng from system while v0@5=None return_eigenvectors@9=True
scipy.sparse.rand by random_state|rng at 5
scipy.sparse.random by random_state|rng at 5
scipy.sparse.random_array 1.12 by random_state|rng
scipy.sparse.svds by random_state|rng from system at 9 while v0@5=None
scipy.stats.Halton by seed|rng from system while scramble=True
scipy.stats.LatinHypercube by seed|rng from system
scipy.stats.MultinomialQMC by seed|rng from system while engine=None
scipy.stats.MultivariateNormalQMC by seed|rng from system while engine=None
scipy.stats.PoissonDisk by seed|rng from system
scipy.stats.Sobol by seed|rng from system while scramble=True
scipy.stats.bootstrap by random_state|rng
scipy.stats.dunnett by random_state|rng from system
scipy.stats.goodness_of_fit by random_state|rng
scipy.stats.multiscale_graphcorr at 6
scipy.stats.permutation_test by random_state|rng
scipy.stats.sobol_indices by random_state|rng from system
skimage.measure.ransac by rng|random_state|seed from system at 10
skimage.util.random_noise by rng|seed from system at 2
skopt.BayesSearchCV
skopt.Optimizer
skopt.dummy_minimize
skopt.forest_minimize
skopt.gbrt_minimize
skopt.gp_minimize
surprise.KFold while shuffle=True
surprise.NMF
surprise.SVD
surprise.SVDpp
surprise.train_test_split while shuffle=True
ffcv.Loader by seed at 6 if order@4=RANDOM|QUASI_RANDOM while distributed=False
keras_tuner.BayesianOptimization by seed from random
keras_tuner.BayesianOptimizationOracle by seed from random
keras_tuner.Hyperband by seed from random
keras_tuner.HyperbandOracle by seed from random
keras_tuner.RandomSearch by seed from random
keras_tuner.RandomSearchOracle by seed from random
pygad.GA 3.8 by random_seed from system
pymoo.minimize 0.6.1.6 by seed from system
openTSNE.TSNE
pacmap.PaCMAP from threads
phate.PHATE from threads
trimesh.sample.sample_surface by seed from system at 4
trimesh.sample.sample_surface_even by seed from system at 3
umap.UMAP from threads
procgen.ProcgenEnv by rand_seed from system
procgen.ProcgenGym3Env by rand_seed from system
pymc.sample by random_seed from system
pymc.sample_posterior_predictive by random_seed from system
pymc.sample_prior_predictive by random_seed from system
optuna.create_study by sampler from system
optuna.BruteForceSampler by seed from system at 0
optuna.CmaEsSampler by seed from system
optuna.GPSampler by seed from system
optuna.NSGAIIISampler by seed from system
optuna.NSGAIISampler by seed from system
optuna.QMCSampler by seed from system
optuna.RandomSampler by seed from system at 0
optuna.TPESampler by seed from system
webdataset.shuffle by seed|rng from system
hyperopt.fmin by rstate from system
ray.HyperOptSearch by random_state_seed from system
ray.tune.TuneConfig by search_alg beside domains
ray.tune.run by search_alg beside domains
sb3_contrib.ARS by seed from system
sb3_contrib.CrossQ by seed from system
sb3_contrib.MaskablePPO by seed from system
sb3_contrib.QRDQN by seed from system
sb3_contrib.RecurrentPPO by seed from system
sb3_contrib.TQC by seed from system
sb3_contrib.TRPO by seed from system
stable_baselines3.A2C by seed from environment
stable_baselines3.DDPG by seed from environment
stable_baselines3.DQN by seed from environment
stable_baselines3.PPO by seed from environment
stable_baselines3.SAC by seed from environment
stable_baselines3.TD3 by seed from environment
"""

# What calls a function that it is given first, or by this name.
SCORED_BY = "score_func"
_SCORING = frozenset(
    f"sklearn.feature_selection.{each}"
    for each in (
        *("GenericUnivariateSelect", "SelectFdr", "SelectFpr", "SelectFwe", "SelectKBest"),
        "SelectPercentile",
    )
)

# They seed the estimators that they are given, or the transforms of albumentations, also one that
# has a seed, and also where they have none.
_SEEDING = frozenset(
    [
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "BalancedBaggingClassifier",
        "Compose",
        "EasyEnsembleClassifier",
        "InstanceHardnessThreshold",
        "OneOf",
        "OneOrOther",
        "RANSACRegressor",
        "RUSBoostClassifier",
        "RandomOrder",
        "ReplayCompose",
        "Sequential",
        "SomeOf",
    ]
)

SEEDS_TRANSFORMS = "set_random_seed"  # a method of those of albumentations
_OF_MANY = ("run",)
_BESIDE = {
    "": frozenset[str](),
    "domains": words(
        """choice lograndint loguniform qlograndint qloguniform qrandint qrandn quniform randint
        randn uniform"""
    ),
}


class Drawing(NamedTuple):
    """What makes one function or class draw: a row of the table."""

    since: str
    needs: dict[str, frozenset[str]]
    keeps: dict[str, frozenset[str]]
    position: int | None
    parameters: tuple[str, ...]  # its name, and those of other releases
    source: str  # "numpy", "random", "cdlib", "system", "threads"
    beside: frozenset[str]  # qualified names

    @property
    def parameter(self) -> str:
        """The name of what seeds it."""
        return self.parameters[0]


@functools.cache
def drawings() -> dict[str, Drawing]:
    """The rows by their names: ``sklearn.cluster.KMeans``."""
    return dict(_row(line.split()) for line in _TABLE.strip().splitlines())


def drawing(name: str) -> Drawing | None:
    """The row of a qualified name, also of a private or an older module of the same package."""
    library, _, rest = name.partition(".")
    package, _, inner = rest.partition(".")
    found = drawings().get(f"{library}.{package}.{inner.rpartition('.')[2]}")
    return found or drawings().get(f"{library}.{rest.rpartition('.')[2]}")


@functools.cache
def libraries() -> frozenset[str]:
    """The libraries of the table."""
    return frozenset(name.partition(".")[0] for name in drawings())


def written(word: str) -> str:
    """How code has what is called by a last word, that stands for many other things as well."""
    packages = (name.split(".")[-2] for name in drawings() if name.endswith(f".{word}"))
    return f"{next(packages)}.{word}(" if word in _OF_MANY else word


@functools.cache
def short_names() -> dict[str, frozenset[str]]:
    """The last words of all names, each with the libraries that have it."""
    found: dict[str, set[str]] = {}
    for name in drawings():
        found.setdefault(name.rpartition(".")[2], set()).add(name.partition(".")[0])
    return {word: frozenset(found[word]) for word in sorted(found)}


def is_known(name: str) -> bool:
    """Whether a function is of these libraries."""
    return name.partition(".")[0] in libraries()


def calls_score(name: str) -> bool:
    """Whether a class calls the function by which it scores."""
    return name in _SCORING


def seeds_arguments(name: str) -> bool:
    """Whether a class seeds the estimators that it is given."""
    return is_known(name) and name.rpartition(".")[2] in _SEEDING


def _row(given: list[str]) -> tuple[str, Drawing]:
    name, since = given.pop(0), ""
    needs: dict[str, frozenset[str]] = {}
    keeps: dict[str, frozenset[str]] = {}
    said = {"at": "", "by": "random_state", "from": "numpy", "beside": ""}
    conditions, key = needs, ""
    for word in given:
        if "=" in word:
            condition, _, values = word.partition("=")
            conditions[condition] = frozenset(values.split("|"))
        elif word in ("if", "while"):
            conditions = needs if word == "if" else keeps
        elif key:
            said[key], key = word, ""
        elif word in said:
            key = word
        else:
            since = word
    position = int(said["at"]) if said["at"] else None
    named = tuple(said["by"].split("|"))
    package = name.rpartition(".")[0]
    beside = frozenset(f"{package}.{each}" for each in _BESIDE[said["beside"]])
    return name, Drawing(since, needs, keeps, position, named, said["from"], beside)
