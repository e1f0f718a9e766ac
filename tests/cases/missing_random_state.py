"""DET104: the marked calls draw, and nothing here gives them a seed."""

import glob
import random

import albumentations as A
import datasets
import ffcv
import keras_tuner
import leidenalg
import networkx as nx
import numpy as np
import openTSNE
import pacmap
import pandas as pd
import pygad
import scipy.sparse.linalg
import scipy.stats
import skopt
import surprise
import sklearn.cluster
import sklearn.utils
import tensorflow as tf
import torch
import trimesh
import umap
import webdataset as wds
from albumentations.core.composition import Compose
from cmaes import CMA
from datasets import Dataset, IterableDataset, load_dataset
from bayes_opt import BayesianOptimization
from imblearn.over_sampling import SMOTE
from implicit.als import AlternatingLeastSquares
from lightfm import LightFM
from pymoo.optimize import minimize as evolve
from scipy.cluster import vq
from scipy.optimize import differential_evolution, minimize
from scipy.sparse.linalg import eigsh
from scipy.stats import qmc
from skimage.util import random_noise
from sklearn import model_selection as ms
from sklearn.cluster import KMeans, MiniBatchKMeans, k_means
from sklearn.datasets import fetch_covtype, load_iris, make_blobs, make_classification, make_moons
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier as Forest,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, RANSACRegressor, Ridge
from sklearn.linear_model import SGDClassifier
from sklearn.manifold import MDS, TSNE
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, ShuffleSplit
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.model_selection._split import RepeatedKFold
from sklearn.multioutput import ClassifierChain
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import resample, shuffle

SEED = 7
UNSET = None


def splits(x, y, groups):
    a = train_test_split(x, y)  # DET104
    b = train_test_split(x, y, test_size=0.2, random_state=None)  # DET104
    c = ms.train_test_split(x, y, stratify=y, shuffle=True)  # DET104
    d, e = shuffle(x, y)  # DET104
    f = sklearn.utils.shuffle(x)  # DET104
    g = resample(x, n_samples=10, replace=True)  # DET104
    for train, test in ShuffleSplit(10, test_size=0.1).split(x):  # DET104
        fit(train, test)
    return a, b, c, d, e, f, g


def folds(x, y):
    a = KFold(5, shuffle=True)  # DET104
    b = StratifiedKFold(n_splits=5, shuffle=True, random_state=None)  # DET104
    c = RepeatedKFold(n_splits=5)  # DET104
    return cross_val_score(LinearRegression(), x, y, cv=KFold(3, shuffle=True)), a, b, c  # DET104


def makers():
    x, y = make_classification(n_samples=100)  # DET104
    z, _ = make_blobs(100, 2, centers=3)  # DET104
    return x, y, z, make_moons(100)  # DET104


def estimators(x, k):
    a = KMeans(n_clusters=k).fit(x)  # DET104
    b = KMeans(k, init="random", n_init=10).fit_predict(x)  # DET104
    c = sklearn.cluster.MiniBatchKMeans(8)  # DET104
    d = Forest()  # DET104
    e = MLPClassifier((100,), max_iter=300)  # DET104
    f = TSNE(n_components=2).fit_transform(x)  # DET104
    g = DecisionTreeClassifier(max_depth=3)  # DET104
    h = SGDClassifier(loss="log_loss")  # DET104
    i = TruncatedSVD(50)  # DET104
    j = AdaBoostClassifier(n_estimators=10)  # DET104
    _, labels, _ = k_means(x, k)  # DET104
    l = NMF(3, init="nndsvd")  # DET104
    m = SMOTE().fit_resample(x, labels)  # DET104
    n = GaussianMixture(n_components=k)  # DET104
    return a, b, c, d, e, f, g, h, i, j, l, m, n


def unset():
    state = None
    return KMeans(3, random_state=state)  # DET104


def search(x, y, grid):
    return RandomizedSearchCV(  # DET104
        LogisticRegression(), grid, n_iter=20
    ).fit(x, y)


def seeded_search_of_an_unseeded_forest(x, y, grid):
    return RandomizedSearchCV(Forest(), grid, random_state=0).fit(x, y)  # DET104


def in_a_pipeline():
    return make_pipeline(PCA(2), KMeans(3))  # DET104


class Model:
    def __init__(self, forest=Forest()):  # DET104
        self.forest = forest


def only_by_an_option():
    a = LogisticRegression(solver="saga")  # DET104
    b = Ridge(solver="sag")  # DET104
    c = PCA(2, svd_solver="randomized")  # DET104
    d = SVC(probability=True)  # DET104
    e = LinearSVC(dual=True)  # DET104
    f = HistGradientBoostingClassifier(early_stopping=True)  # DET104
    g = fetch_covtype(shuffle=True)  # DET104
    return a, b, c, d, e, f, g


# A seed, or none needed.


def given(x, y, seed, random_state, options):
    a = train_test_split(x, y, random_state=0)
    b = KMeans(3, random_state=seed)
    c = KFold(5, shuffle=True, random_state=SEED)
    d = Forest(random_state=random_state)
    e = Forest(random_state=np.random.RandomState(0))
    f = Forest(**options)
    g = train_test_split(*options)
    h = shuffle(x, y, random_state=UNSET)
    return a, b, c, d, e, f, g, h


def in_order(x, y, keep):
    a = train_test_split(x, y, shuffle=False)
    b = train_test_split(x, y, shuffle=keep)
    c = KFold(5), StratifiedKFold(5, shuffle=False), KFold(5, shuffle=keep)
    d = make_moons(100, shuffle=False)
    e = SGDClassifier(shuffle=False)
    return a, b, c, d, e, load_iris(), fetch_covtype()


def deterministic(x, solver, centers):
    a = LogisticRegression(), LogisticRegression(solver="lbfgs"), LogisticRegression(solver=solver)
    b = PCA(2), PCA(0.9, svd_solver="full"), Ridge(), Ridge(solver="cholesky")
    c = SVC(), SVC(probability=False), LinearSVC(), LinearSVC(dual="auto")
    d = HistGradientBoostingClassifier(), HistGradientBoostingClassifier(early_stopping="auto")
    e = KMeans(3, init=centers, n_init=1), NMF(3, init="custom"), MDS(2, init="classical_mds")
    f = GaussianMixture(), GaussianMixture(1), AdaBoostClassifier(LinearRegression())
    g = GridSearchCV(LogisticRegression(), {"C": [1, 10]})
    return a, b, c, d, e, f, g


def seeded_from_outside(x, y, seed):
    a = BaggingClassifier(DecisionTreeClassifier(), random_state=0)
    b = AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=2), random_state=seed)
    c = RANSACRegressor(DecisionTreeClassifier(), random_state=seed)
    d = clone_with(Forest(), seed)
    e = Forest().get_params()
    return a, b, c, d, e


def seeded_by_what_has_no_seed(options):
    a = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1))  # DET104
    tree = DecisionTreeClassifier(random_state=0)
    b = AdaBoostClassifier(estimator=tree)  # DET104
    c = BaggingClassifier(DecisionTreeClassifier())  # DET104
    d = AdaBoostClassifier(DecisionTreeClassifier(), **options)
    e = ClassifierChain(DecisionTreeClassifier(), random_state=0)  # DET104
    return a, b, c, d, e


def shuffled_and_split(x, y, seed):
    y = shuffle(y)  # DET104
    return clone_with(y, seed), train_test_split(x, y, random_state=seed)


class Clones:
    def __init__(self, random_state=0):
        self.base = DecisionTreeClassifier()
        self.random_state = random_state

    def grow(self):
        return clone_with(self.base, self.random_state)


class Trees:
    kind = DecisionTreeClassifier()


def not_called(kind):
    return {"forest": Forest, "kmeans": KMeans}[kind]


def shadowed(train_test_split, x):
    return train_test_split(x)


class KMedians(KMeans):
    pass


def other_shuffles(x, order, net):
    random.shuffle(order)
    np.random.shuffle(order)
    np.random.default_rng(0).shuffle(order)
    net.shuffle()
    deck.shuffle()
    return tf.data.Dataset.range(3).shuffle(10), torch.randperm(3)


# Hugging Face's data sets.


def loaded():
    texts = load_dataset("imdb", split="train")
    a = texts.shuffle()  # DET104
    b = texts.train_test_split(test_size=0.1)  # DET104
    c = texts.map(tokenize).filter(len).train_test_split(0.1)  # DET104
    d = load_dataset("imdb")["train"].shuffle(seed=None).select(range(10))  # DET104
    e = datasets.load_from_disk("data").shuffle(load_from_cache_file=False)  # DET104
    return a, b, c, d, e


def annotated(texts: Dataset, stream: "IterableDataset", more: datasets.IterableDataset):
    more = more.shuffle(buffer_size=1000)  # DET104
    return texts.train_test_split(), more  # DET104


def by_name(train_dataset, dataset, val_size):
    train_dataset = train_dataset.shuffle()  # DET104
    return dataset.train_test_split(test_size=val_size)["train"]  # DET104


def streamed():
    texts = load_dataset("c4", "en", streaming=True)
    return texts.shuffle(), Dataset.from_dict({}).to_iterable_dataset().shuffle()  # DET104 DET104


def seeded_data_sets(texts: Dataset, seed, generator):
    a = texts.shuffle(seed=42), texts.shuffle(seed), texts.shuffle(generator=generator)
    b = texts.train_test_split(0.1, seed=seed), texts.train_test_split(0.1, shuffle=False)
    c = texts.train_test_split(0.1, None, False), texts.train_test_split(0.1, **options)
    d = texts.train_test_split(test_size=0.1, shuffle=seed)
    texts.shuffle()
    return a, b, c, d


def not_hugging_face(pipe, splitter, dataset, tf_dataset, loader):
    a = pipe.shuffle(), pipe.shuffle(1000), loader.shuffle()
    b = splitter.train_test_split(dataset), splitter.train_test_split(dataset, frac_train=0.8)
    c = tf_dataset.shuffle(buffer_size=1000), dataset.shuffle(1000)
    d = tf_dataset.shuffle(1000, reshuffle_each_iteration=True), dataset.batch(3)
    return a, b, c, d


class Splits:
    def split(self):
        return self.train_test_split(test_size=0.1), self.shuffle()


# Tables.


def tables(frame, groups, n):
    a = frame.sample(frac=1)  # DET104
    b = frame.sample(frac=1.0, random_state=None).reset_index(drop=True)  # DET104
    c = frame[frame.label == 1].sample(n=n)  # DET104
    d = frame.groupby("label").sample(replace=True, n=10)  # DET104
    e = pd.read_csv("train.csv").sample(n=5, weights=frame.weight)  # DET104
    f = frame.sample(  # DET104
        frac=len(groups) / 10,  # of all
        replace=True,
    )
    return a, b, c, d, e, f


def not_tables(frame, dist, space, replay_buffer, rng, n, policy):
    a = frame.sample(frac=1, random_state=0), frame.sample(n=5, random_state=SEED)
    b = frame.sample(5), frame.sample(), frame.sample(n=3, **options)
    c = dist.sample((3,)), dist.sample(n=3), torch.distributions.Normal(0, 1).sample()
    d = space.sample(), replay_buffer.sample(n=32), rng.sample(n=3), policy.sample(n=1)
    e = random.sample(range(10), k=3), frame.sample(n=3, seed=1), frame.sample(fraction=0.5)
    f = frame.sample(n=3, with_replacement=True), frame.sample(model=1, frac=2)
    frame.sample(n=5)
    return a, b, c, d, e, f


class Sampler:
    def draw(self):
        return self.sample(n=3)


def counted(frame: pd.DataFrame, other, n):
    a = frame.sample(3), frame.loc[frame.x > 0].sample(n // 2)  # DET104 DET104
    b = frame.groupby("label").apply(lambda group: group.sample(n))  # DET104
    c = pd.read_csv("train.csv").sample(n, random_state=0), other.sample(n)
    return a, b, c


# Of what nobody says what it is, but only tables have it


def counted_by_its_accessors(rows, groups, n):
    a = rows.loc[lambda row: row.label == 1].sample(n // 2, replace=True)  # DET104
    b = rows.label.drop_duplicates().sample(n)  # DET104
    c = groups.groupby("label").apply(lambda group: group.sample(n).drop("label", axis=1))  # DET104
    d = rows.loc[rows.x > 0].sample(n, random_state=0), rows.where(n).sample(n), rows[0].sample(n)
    return a, b, c, d


class Table:
    def __init__(self, one, other):
        self.rows = pd.concat([one, other])

    def some(self, n):
        return self.rows.sample(n)  # DET104


# Orders that only messages show


def shown_in_any_order(folder):
    for file in sklearn.utils.shuffle(sorted(glob.glob(f"{folder}/*.npy"))):  # possible DET104
        print(file, np.load(file).mean())


def kept_in_any_order(folder):
    means = []
    for file in sklearn.utils.shuffle(sorted(glob.glob(f"{folder}/*.npy"))):  # DET104
        means.append(np.load(file).mean())
    return means


class Tuner(keras_tuner.BayesianOptimization):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Seeded(keras_tuner.RandomSearch):
    def __init__(self, build):
        super().__init__(build, seed=1)


def tune(build, seed):
    yield keras_tuner.RandomSearch(build, max_trials=3)  # DET104
    yield keras_tuner.RandomSearch(build, seed=seed)
    yield keras_tuner.GridSearch(build)
    yield keras_tuner.tuners.Hyperband(build, seed=None)  # DET104
    yield Tuner(build)  # DET104
    yield Tuner(build, seed=seed)
    yield Seeded(build)


def embed(x, state):
    yield umap.UMAP(n_neighbors=5).fit_transform(x)  # DET104
    yield umap.umap_.UMAP(random_state=None).fit_transform(x)  # DET104
    yield umap.UMAP(n_neighbors=5, random_state=state).fit_transform(x)
    yield openTSNE.TSNE().fit(x)  # DET104
    yield openTSNE.TSNE(random_state=3).fit(x)
    yield pacmap.PaCMAP().fit_transform(x)  # DET104


def points(mesh, seed):
    yield trimesh.sample.sample_surface(mesh, 2048)  # DET104
    yield trimesh.sample.sample_surface_even(mesh, 2048, 0.1, None)  # DET104
    yield trimesh.sample.sample_surface(mesh, 2048, seed=seed)
    yield trimesh.sample.sample_surface(mesh, 2048, None, False, seed)


def load(path, seed):
    order = ffcv.loader.OrderOption
    yield ffcv.Loader(path, batch_size=8, order=order.QUASI_RANDOM)  # DET104
    yield ffcv.loader.Loader(path, 8, 2, 0, order.RANDOM)  # DET104
    yield ffcv.Loader(path, batch_size=8, order=order.RANDOM, seed=seed)
    yield ffcv.Loader(path, batch_size=8, order=order.RANDOM, distributed=True)
    yield ffcv.Loader(path, batch_size=8, order=order.SEQUENTIAL)
    yield ffcv.Loader(path, batch_size=8)


# Optimizers, graphs, noise and factors of other libraries


def by_chance(f, x, ratings):
    differential_evolution(f, [(0, 1)])  # DET104
    minimize(f, x), differential_evolution(f, [(0, 1)], seed=0)
    differential_evolution(f, [(0, 1)], rng=0)
    scipy.stats.bootstrap((x,), np.mean)  # DET104
    scipy.stats.bootstrap((x,), np.mean, random_state=0), scipy.stats.ttest_1samp(x, 0)
    skopt.gp_minimize(f, [(0.0, 1.0)])  # DET104
    skopt.gbrt_minimize(f, [(0.0, 1.0)])  # DET104
    skopt.Optimizer([(0.0, 1.0)])  # DET104
    skopt.gp_minimize(f, [(0.0, 1.0)], random_state=0)
    BayesianOptimization(f=f, pbounds={"x": (0, 1)})  # DET104
    random_noise(x)  # DET104
    random_noise(x, rng=0), random_noise(x, "gaussian", 0), random_noise(x, seed=0)
    AlternatingLeastSquares(factors=8).fit(ratings)  # DET104
    surprise.SVD().fit(ratings)  # DET104
    surprise.SVD(random_state=0).fit(ratings)


def graphs(n):
    made = nx.erdos_renyi_graph(n, 0.1)  # DET104
    nx.erdos_renyi_graph(n, 0.1, 0), nx.barabasi_albert_graph(n, 2, seed=0), nx.path_graph(n)
    return nx.community.louvain_communities(made)  # DET104


def of_scipy(x, y, matrix, n, start, seed):
    a = qmc.LatinHypercube(d=2), scipy.stats.qmc.Sobol(2), qmc.Halton(2, rng=None)  # DET104 DET104 DET104
    b = qmc.Sobol(2, scramble=False), qmc.Halton(2, seed=0), qmc.LatinHypercube(d=2, rng=seed)
    c = qmc.MultivariateNormalQMC([0, 0]), qmc.MultinomialQMC([0.5, 0.5], n)  # DET104 DET104
    d = qmc.MultivariateNormalQMC([0, 0], engine=qmc.Sobol(2, seed=0))
    e = eigsh(matrix, k=8), scipy.sparse.linalg.svds(matrix, 5)  # DET104 DET104
    f = eigsh(matrix, k=8, v0=start), scipy.sparse.linalg.svds(matrix, 5, random_state=0)
    g = eigsh(matrix, 1, None, None, "LM", start), eigsh(matrix, 1, return_eigenvectors=False)
    h = scipy.sparse.random(n, n, 0.1)  # DET104
    i = scipy.sparse.random(n, n, 0.1, "csr", None, 0), scipy.sparse.random(n, n, rng=0)
    j = scipy.stats.permutation_test((x, y), np.mean)  # DET104
    k = vq.kmeans(x, 8), vq.kmeans(x, start)  # DET104
    return a, b, c, d, e, f, g, h, i, j, k


def streamed(urls, n, seed, rng):
    a = wds.WebDataset(urls).shuffle(1000).decode("pil")  # DET104
    data = wds.WebDataset(urls, shardshuffle=False).decode()
    b = data.to_tuple("jpg", "cls").shuffle(n, initial=10)  # DET104
    c = wds.DataPipeline(wds.SimpleShardList(urls), wds.shuffle(100))  # DET104
    d = wds.WebDataset(urls).shuffle(1000, seed=seed), wds.shuffle(100, rng=rng)
    e = wds.WebDataset(urls).shuffle(0), wds.WebDataset(urls).decode(), wds.detshuffle(100)
    return a, b, c, d, e


def grown(n):
    a = nx.planted_partition_graph(2, n, 0.5, 0.1), nx.random_labeled_tree(n)  # DET104 DET104
    b = nx.planted_partition_graph(2, n, 0.5, 0.1, 0), nx.random_labeled_tree(n, seed=0)
    return a, b


def searches(problem, algorithm, mean, fitness, seed):
    a = CMA(mean=mean, sigma=1.3)  # DET104
    b = evolve(problem, algorithm, ("n_gen", 10))  # DET104
    c = pygad.GA(num_generations=10, num_parents_mating=2, fitness_func=fitness)  # DET104
    d = CMA(mean=mean, sigma=1.3, seed=seed), evolve(problem, algorithm, seed=1)
    e = pygad.GA(num_generations=10, num_parents_mating=2, fitness_func=fitness, random_seed=3)
    return a, b, c, d, e


def communities(graph, seed):
    a = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition)  # DET104
    b = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, seed=seed)
    return a, b, LightFM(), LightFM(random_state=0)  # DET104


FLIPS = [A.HorizontalFlip()]


def pipelines(size, train, seed):
    steps = [A.Resize(size, size)]
    if train:
        steps += [A.RandomCrop(8, 8)]
    yield A.Compose(steps)  # DET104
    yield A.Compose(FLIPS)  # DET104
    yield Compose(transforms=[A.OneOf([A.Blur(p=1), A.MotionBlur(p=1)])])  # DET104
    yield A.Compose([A.Resize(8, 8), A.Compose([A.HorizontalFlip()])])  # DET104
    yield A.Compose([A.Resize(8, 8), A.Compose([A.HorizontalFlip()])], seed=seed)
    yield A.Compose([A.Resize(8, 8), A.Normalize(), A.HorizontalFlip(p=1), A.Blur(p=0)])
    told = A.Compose([A.HorizontalFlip()])
    told.set_random_seed(seed)
    yield told
