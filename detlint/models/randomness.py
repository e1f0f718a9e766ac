"""What draws random numbers, what seeds that, and what starts programs with seeds of their own."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from detlint.models.model import Model, Names, words

# Libraries with a generator of their own: the operating system seeds langdetect's (1.0.9), CuPy's
# and graph-tool's, the clock tinygrad's (0.14).
OF_OWN = {
    "langdetect": {"langdetect langdetect.detector_factory": "detect detect_langs"},
    "graph_tool": {
        "graph_tool.all graph_tool.generation graph_tool.inference": """generate_sbm random_graph
        minimize_blockmodel_dl minimize_nested_blockmodel_dl random_rewire"""
    },
    "tinygrad": {
        "tinygrad.Tensor tinygrad.tensor.Tensor": """glorot_uniform kaiming_normal kaiming_uniform
        normal rand randint randn randperm scaled_uniform uniform"""
    },
    "cupy": {
        "cupy.random": """beta choice exponential gamma normal permutation poisson rand randint
        randn random random_sample shuffle standard_normal uniform"""
    },
}
# Whose global generator functions draw from, where they are, and their names. Keras's take a seed
# from there (2, the backend of TensorFlow also 3.15, and Keras 3.15), and none from TensorFlow's.
_DRAWING = {
    "random": {
        "random": """betavariate binomialvariate choice choices expovariate gammavariate gauss
        getrandbits lognormvariate normalvariate paretovariate randbytes randint random randrange
        sample shuffle triangular uniform vonmisesvariate weibullvariate""",
        "deap.algorithms": "eaMuCommaLambda eaMuPlusLambda eaSimple varAnd varOr",  # deap 1.4
        # Pairs of words (Keras 2, and 3.15 in TensorFlow); its ``seed`` is for their order alone.
        "keras.preprocessing.sequence tensorflow.keras.preprocessing.sequence": "skipgrams",
        "tf_keras.preprocessing.sequence keras_preprocessing.sequence": "skipgrams",
        "keras.random tensorflow.keras.random": """beta binomial categorical gamma normal randint
        shuffle truncated_normal uniform""",
    },
    "numpy": {
        "numpy.random": """beta binomial bytes chisquare choice dirichlet exponential f gamma
        geometric gumbel hypergeometric laplace logistic lognormal logseries multinomial
        multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto
        permutation poisson power rand randint randn random random_integers random_sample ranf
        rayleigh sample shuffle standard_cauchy standard_exponential standard_gamma standard_normal
        standard_t triangular uniform vonmises wald weibull zipf""",
        "keras.backend tensorflow.keras.backend tf_keras.backend": """random_bernoulli
        random_binomial random_normal random_normal_variable random_uniform random_uniform_variable
        truncated_normal""",
        # Syne Tune 0.16: what `random_seed` gives fixes only some of what they propose.
        "syne_tune.optimizer.baselines": "ASHA ASHABORE ASHACQR BOHB BORE CQR REA RandomSearch TPE",
        "neurolab.net": "newelm newff",  # their first weights (0.3.5)
        "scipy.spatial.transform.Rotation": "random",
        "citylearn.citylearn": "CityLearnEnv",
    },
    "torch": {
        "torch": """bernoulli multinomial nn.functional.gumbel_softmax normal poisson rand rand_like
        randint randint_like randn randn_like randperm""",
        "pyro": "sample",  # but for what was observed
    },
    **OF_OWN,
}
DRAWS = {
    f"{owner}.{name}": library
    for library, places in _DRAWING.items()
    for owners, names in places.items()
    for owner in owners.split()
    for name in names.split()
}
# What draws from what it is given instead, and the place of that.
GIVEN = ("generator", "obs", "random_state", "rng")
GIVEN_AT = {"scipy.spatial.transform.Rotation.random": 1}
# What does so by another name (CityLearn 2: its electric cars, and the seed that it is not given).
GIVEN_BY = {each: "seed" for each in DRAWS if "keras.backend." in each or "keras.random." in each}
GIVEN_BY["citylearn.citylearn.CityLearnEnv"] = "random_seed"


class DrawingMethod(NamedTuple):
    """A method of some classes, or of what these are, that draws from a global generator.

    given    what it draws from if the method is given that, and its place
    off      what the object is made with, if it draws from a generator of its own
    many     with how many samples it is made: with 0 it draws nothing
    library  whose generator that is
    """

    owners: Names
    given: str = ""
    place: int | None = None
    off: str = ""
    many: str = ""
    library: str = "numpy"


_OF_PROPHET = DrawingMethod(Names("{prophet,fbprophet}.**.Prophet"), many="uncertainty_samples")
# Pyro's are torch's. A sample of these takes no generator (torch 2.13, Pyro 1.9).
_OF_DISTRIBUTIONS = DrawingMethod(
    Names("{torch,pyro}.distributions.**.(?!Delta)*"), library="torch"
)
# By their names (SciPy 1.17, Prophet 1.5: what draws there is the bounds, and not the forecast).
DRAWING_METHODS = {
    "rvs": DrawingMethod(Names("scipy.stats.(?!qmc)**.*"), "random_state", None, "seed"),
    "resample": DrawingMethod(Names("scipy.stats.**.gaussian_kde"), "seed", 1),
    "predict": _OF_PROPHET,
    "predictive_samples": _OF_PROPHET,
    **dict.fromkeys(("rsample", "sample", "sample_n"), _OF_DISTRIBUTIONS),
    **dict.fromkeys(
        ("mcmc_sweep", "multiflip_mcmc_sweep", "sample_graph"),
        DrawingMethod(Names("graph_tool.{all,inference}.**.*State"), library="graph_tool"),
    ),
}
# What gives numbers from 0 up to, but not, 1 where it is given no range.
OF_UNIT = frozenset(("random.random", "random.uniform", "torch.rand")) | {
    f"numpy.random.{each}" for each in words("rand random random_sample ranf sample uniform")
}
# How their calls, or what makes their objects, are written.
OF_OBJECTS = (
    *(".rvs(", "gaussian_kde(", "Prophet(", "sample(", ".sample_n(", "sample_graph("),
    "mcmc_sweep(",
)
# Where functions draw, from a global generator or one that they are given, and which there do not.
_PLACES = ("random.", "numpy.random.", "secrets.", "torch.rand", "torch.bernoulli", "torch.normal")
_KEEPING = words(
    """random.seed random.getstate random.setstate random.Random numpy.random.seed
    numpy.random.default_rng numpy.random.RandomState numpy.random.get_state
    numpy.random.set_state numpy.random.Generator numpy.random.SeedSequence"""
)
# Methods of tensors that do so, and are no functions of other libraries' arrays.
OF_TENSORS = frozenset(("bernoulli", "multinomial"))
# How transformers is told to sample, which draws from torch's global generator (transformers 5.23).
GENERATING, SAMPLES, PIPELINE = "generate", "do_sample", "transformers.pipeline"
LOADS_PIPELINE = ("Pipeline.from_", "AutoPipelineFor")  # of diffusers
# Functions of TensorFlow that draw from its global generator, unless each is given a seed.
OF_TENSORFLOW = frozenset(
    f"tensorflow.{version}{name}"
    for version in ("", "compat.v1.")
    for name in words(
        """random.categorical random.gamma random.normal random.poisson random.shuffle
        random.truncated_normal random.uniform image.random_brightness image.random_contrast
        image.random_crop image.random_flip_left_right image.random_flip_up_down image.random_hue
        image.random_jpeg_quality image.random_saturation image.sample_distorted_bounding_box
        multinomial random_crop random_gamma random_normal random_poisson random_shuffle
        random_uniform truncated_normal nn.dropout train.shuffle_batch train.shuffle_batch_join"""
    )
)
# Those that shuffle what they are given, unless they are told not to.
QUEUES_OF_TENSORFLOW = frozenset(
    f"tensorflow.{version}train.{name}_producer"
    for version in ("", "compat.v1.")
    for name in ("input", "range_input", "slice_input", "string_input")
)
# Whose global generators a function may seed.
LIBRARIES = ("random", "numpy", "torch", "tensorflow")
# What messages call them.
GENERATORS = {
    "random": "Python's global generator",
    "numpy": "NumPy's global generator",
    "torch": "torch's global generator",
    "tensorflow": "TensorFlow's global generator",
    "langdetect": "langdetect's generator",
    "graph_tool": "graph-tool's generator",
    "tinygrad": "tinygrad's generator",
    "cupy": "CuPy's generator",
}
# What the settings of a project say of its functions.
SAID = {**{f"seeds {each}": (each,) for each in LIBRARIES}, "seeds all": LIBRARIES}
# Functions that seed, with what they are given first; without a seed, or with None, some of them
# take one from the operating system.
_SEEDING = {
    **{
        name: (name.partition(".")[0],)
        for name in sorted(
            words("""random.seed numpy.random.seed torch.manual_seed torch.random.manual_seed
        torch.cuda.manual_seed torch.cuda.manual_seed_all random.setstate numpy.random.set_state
        torch.set_rng_state torch.random.set_rng_state tensorflow.random.set_seed
        tensorflow.set_random_seed tensorflow.compat.v1.set_random_seed
        tensorflow.compat.v1.random.set_random_seed""")
        )
    },
    "cupy.random.seed": ("cupy",),
    "cdlib.seed": ("random", "numpy", "cdlib"),
    "jittor.seed": ("jittor",),  # 1.3
    "jittor.set_seed": ("jittor",),
    "jittor.set_global_seed": ("random", "numpy", "cupy", "jittor"),
    "jittor.misc.set_global_seed": ("random", "numpy", "cupy", "jittor"),
    "graph_tool.seed_rng": ("graph_tool",),
    "graph_tool.all.seed_rng": ("graph_tool",),
    "tinygrad.Tensor.manual_seed": ("tinygrad",),
    "tinygrad.tensor.Tensor.manual_seed": ("tinygrad",),
    "tensorflow.keras.utils.set_random_seed": ("random", "numpy", "tensorflow"),
    "keras.utils.set_random_seed": LIBRARIES,
    "pyro.set_rng_seed": ("random", "numpy", "torch"),
}
# Attributes that seed if they are set.
SEEDING_ATTRIBUTES = {
    f"langdetect.{module}DetectorFactory.seed": "langdetect" for module in ("", "detector_factory.")
}
# The same of what draws on the CPU.
SEEDING_GPU = frozenset(name for name in _SEEDING if name.startswith("torch.cuda."))
SEEDING_TORCH = frozenset(("torch.manual_seed", "torch.random.manual_seed"))
BY_NAME = {name: seeds for name, seeds in _SEEDING.items() if name not in SEEDING_GPU}
FUNCTIONS = [Model(name, seeds=seeds) for name, seeds in _SEEDING.items()]
SEEDING = frozenset(name for name in _SEEDING if "state" not in name)
# Those that seed whatever is installed, also without a seed of their own.
HELPERS = words(
    """enable_full_determinism ensure_reproducibility fix_random_seed fix_randomness fix_seed
    improve_reproducibility init_seed init_seeds load_hyperpyyaml prepare_environment reset_seed
    seed_all seed_everything seed_everywhere set_determinism set_global_seed set_global_seeds
    set_random_seed set_random_seeds set_randomness set_reproducibility set_seed set_seeds
    setup_seed"""
)
GUARD = frozenset(("guard.auto", "guard.deterministic", "guard.enable"))
# Libraries of which nothing else takes a seed for the global generators.
_APART = sys.stdlib_module_names | words(
    """numpy torch torchvision torchaudio torchdata torch_geometric tensorflow keras jax jaxlib flax
    tensorflow_probability tensorflow_datasets haiku optax scipy pandas polars sklearn datasets
    skimage cv2 cupy dask networkx xgboost lightgbm catboost optuna hyperopt skopt gym gymnasium
    albumentations imgaug kornia openai litellm vllm sglang diffusers sentencepiece faiss umap
    pyspark ray grain seqio tfds numba triton nltk gensim annoy wandb timm metaworld dm_control
    procgen minigrid pettingzoo robosuite mani_skill crafter syne_tune"""
)
# Of these, the libraries of environments for reinforcement learning.
_OF_ENVIRONMENTS = words(
    """crafter dm_control gym gymnasium mani_skill metaworld minigrid pettingzoo procgen ray
    robosuite"""
)
# Parts of the names of what draws by itself with the seed that it is given.
_DRAWING_BY_ITSELF = (
    *("argument", "augment", "choice", "classif", "client", "completion", "config", "data"),
    *("dropout", "env"),
    *("fold", "generat", "hash", "initializer", "iter", "key", "load", "make", "noise", "normal"),
    *("param", "permut", "random", "regress", "request", "rng", "sampl", "search", "shuffle"),
    *("split", "transform", "uniform"),
)
# Functions and classes that make a generator, each with the parameter of its seed.
_BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
SEED_PARAMETER = {
    "random.Random": "x",
    **{f"{of}keras.random.SeedGenerator": "seed" for of in ("", "tensorflow.", "tf_")},
    **{
        f"{library}.random.{name}": "seed"
        for library in ("numpy", "cupy")
        for name in ("default_rng", "RandomState", *_BITS)
    },
    **{f"cupy.random.{name}": "seed" for name in ("XORWOW", "MRG32k3a", "Philox4x3210")},
    "numpy.random.SeedSequence": "entropy",
    "numpy.random.mtrand.RandomState": "seed",
}
# Those of JAX, of which the first argument is the seed.
KEYS = frozenset(("jax.random.key", "jax.random.PRNGKey", "flax.nnx.Rngs"))
# What draws from the operating system, and cannot be seeded.
SYSTEM = frozenset(("random.SystemRandom", "secrets.SystemRandom"))
# What sends a query to a database, and what of a query draws there, with a seed of the database's.
QUERYING = frozenset(("execute", "query", "read_sql", "read_sql_query", "sql"))
DRAWS_IN_QUERY = re.compile(
    r"\b(?:(?:RANDOM|RAND|NEWID|UUID|GEN_RANDOM_UUID)\s*\(\s*\)|RANDOMBLOB\s*\()", re.IGNORECASE
)
SELECTS = re.compile(r"\bSELECT\b", re.IGNORECASE)
# Methods of TensorFlow's generators that take their state from the operating system.
STATE_OF_SYSTEM = frozenset(
    f"tensorflow.{version}random.{module}Generator.from_non_deterministic_state"
    for version in ("", "compat.v1.", "compat.v2.")
    for module in ("", "experimental.")
)
# Functions that give back the generator that they are given, or one that draws from it.
WRAPPING = words("""numpy.random.Generator numpy.random.RandomState numpy.random.default_rng
    cupy.random.Generator cupy.random.RandomState cupy.random.default_rng""")
# Variables of graphs: whoever runs the graph puts a seeded generator there.
SHARED = frozenset(("aesara.shared", "pytensor.shared", "theano.shared"))
# Calls that seed from the operating system if they are given no seed, or None.
RESEEDING = frozenset(("cupy.random.seed", "numpy.random.seed", "random.seed"))
# Those that always do.
TORCH_RESEEDING = words("""torch.seed torch.random.seed torch.default_generator.seed torch.mps.seed
    torch.cuda.seed torch.cuda.seed_all torch.cuda.random.seed torch.cuda.random.seed_all
    torch.xpu.seed torch.xpu.seed_all torch.xpu.random.seed torch.xpu.random.seed_all""")
# What starts processes with generators of their own, which no seed of this one reaches.
SPAWNING = frozenset(("torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn"))
# The same of objects that run what they are given as a job of its own, and their methods.
JOBS = frozenset(f"submitit.{each}Executor" for each in ("Auto", "Local", "Slurm"))
SUBMITTING = frozenset(("map_array", "submit"))
# What makes of a function one that runs in a container where it is called by one of these methods,
# and in the same process by others (modal 1.6).
CONTAINED = frozenset(f"modal.{each}.function" for each in ("App", "app.App", "Stub"))
CALLED_IN_CONTAINER = words("remote remote_gen spawn starmap")
# The same where processes start afresh: by ``set_start_method("spawn")``, ``get_context("spawn")``.
_OF_PROCESSES = ("multiprocessing", "torch.multiprocessing")
PROCESSES = frozenset(f"{each}.Process" for each in _OF_PROCESSES)
START_METHODS = frozenset(f"{each}.set_start_method" for each in _OF_PROCESSES)
CONTEXTS = frozenset(f"{each}.get_context" for each in _OF_PROCESSES)
AFRESH = frozenset(("spawn", "forkserver"))
# What runs tasks in several processes or threads, by its class, …
POOLS = frozenset(
    (
        *(f"{x}.{y}" for x in _OF_PROCESSES for y in ("Pool", "pool.Pool")),
        *("multiprocessing.pool.ThreadPool", "multiprocessing.dummy.Pool", "multiprocess.Pool"),
        *("multiprocess.pool.ThreadPool", "pathos.multiprocessing.ProcessingPool"),
        *("ray.util.multiprocessing.Pool", "dask.distributed.Client", "distributed.Client"),
        *("loky.get_reusable_executor", "loky.ProcessPoolExecutor"),
        *(f"concurrent.futures.{x}PoolExecutor" for x in ("Process", "Thread")),
    )
)
# … and its methods that are given one.
TASKS = words("apply apply_async imap imap_unordered map map_async starmap starmap_async submit")
# Loaders of which a pool of forked processes asks a data set for each sample, one for each
# processor unless that is said (chainer 7.8).
POOLED_LOADERS = words("""chainer.iterators.MultiprocessIterator
    chainer.iterators.multiprocess_iterator.MultiprocessIterator""")
# What runs beside others in one process, and draws from the same generators.
THREADS = frozenset(("threading.Thread",))
# What Flower's simulation makes clients by, which Ray's workers run (flwr 1.42).
CLIENT_APPS = words("""flwr.client.ClientApp flwr.clientapp.ClientApp
    flwr.simulation.start_simulation""")
# What makes of a function, or a class, one that runs in such: ``f.remote(x)`` of Ray, whose methods
# are called likewise.
REMOTE = frozenset(("ray.remote",))
# What makes environments for reinforcement learning: each draws from a generator of its own, which
# starts from the operating system until a reset is given a seed (gym 0.26, gymnasium 1.4).
ENVIRONMENTS = frozenset(
    f"{library}.{name}"
    for library in ("gym", "gymnasium")
    for name in ("make", "make_vec", "vector.make")
)
# What gives an environment of the program's own the name that these make it by (gym 0.26, gymnasium
# 1.4): ``package:Name-v0``, of which the package is imported first.
REGISTERING = Names("{gym,gymnasium}.{,envs.,envs.registration.}register")
# What plays in such a one that it is given, gives the mean of the rewards and seeds nothing
# (stable_baselines3 2.9).
PLAYING = words("""stable_baselines3.common.evaluation.evaluate_policy
    sb3_contrib.common.maskable.evaluation.evaluate_policy""")
MEANS = words("average fmean mean median nanmean")
# The attribute of what derives from their classes that is this generator, what gives one with the
# seed that a method is given, and these libraries.
OF_ENVIRONMENT = "np_random"
SEEDING_OWN = frozenset(f"{each}.utils.seeding.np_random" for each in ("gym", "gymnasium"))
GYMS = ("gym.", "gymnasium.")
# Attributes of such a one, of which each draws from another generator: no reset seeds it.
SPACES = frozenset(
    f"{of}{space}" for of in ("", "single_") for space in ("action_space", "observation_space")
)
# What seeds an environment and no space of it.
SEEDING_ENVIRONMENTS = frozenset(("make", "make_vec", "reset", "seed"))
# Calls that put back the state of a generator, and those that read it.
RESTORING = {name: of for name, (of, *_) in _SEEDING.items() if "state" in name}
STATES = {
    "random": frozenset(("random.getstate",)),
    "numpy": frozenset(("numpy.random.get_state",)),
    "torch": frozenset(("torch.get_rng_state", "torch.random.get_rng_state")),
}
# Where a value that differs in each run comes from, in words.
_ENTROPY = {
    "the clock": """time.time time.time_ns time.perf_counter time.perf_counter_ns time.monotonic
        time.monotonic_ns time.process_time time.process_time_ns time.clock timeit.default_timer
        datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today
        pandas.Timestamp.now pandas.Timestamp.utcnow pandas.Timestamp.today""",
    "the process": """os.getpid os.getppid threading.get_ident threading.get_native_id
        multiprocessing.current_process""",
    "the operating system": """os.urandom os.getrandom uuid.uuid1 uuid.uuid4 random.SystemRandom
        secrets.SystemRandom secrets.choice secrets.randbelow secrets.randbits secrets.token_bytes
        secrets.token_hex secrets.token_urlsafe""",
    "the address of an object": "builtins.id",
}
ENTROPY = {name: what for what, names in _ENTROPY.items() for name in names.split()}
ENTROPY |= dict.fromkeys(TORCH_RESEEDING, "the operating system")
# What DET101 says of generators that begin alike in each run, so that no two runs part by them.
REPEATS = "starts from torch's fixed default seed"
# Functions that read the clock where they are given no time, with the place of that.
CLOCKS_BY_DEFAULT = {
    **dict.fromkeys(("time.asctime", "time.ctime", "time.gmtime", "time.localtime"), 0),
    "time.strftime": 1,
}
# Functions that read the clock where they are given one of these words first.
CLOCKS_BY_WORD = frozenset(("numpy.datetime64", "pandas.Timestamp", "pandas.to_datetime"))
NOW = frozenset(("now", "today"))
# Draws that are no seeds, and those of which what they choose from tells.
NOISE = frozenset(("betavariate", "gauss", "normal", "randn", "triangular"))
CHOICES = frozenset(("random.choice", "random.choices", "random.sample"))
CHOICES |= frozenset(("numpy.random.choice", "numpy.random.permutation"))
# Calls on which no number depends: pauses, and colours.
IDLE = frozenset(("time.sleep", "asyncio.sleep", "colorsys.hsv_to_rgb", "colorsys.hls_to_rgb"))
# What starts other programs, or processes that read their environment anew.
STARTING = frozenset(
    [
        *(f"subprocess.{name}" for name in ("run", "Popen", "call", "check_call", "check_output")),
        *(f"os.spawn{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *("os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp"),
        *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
        *("torch.distributed.run.main", "torch.distributed.run.run"),
        *(SPAWNING | PROCESSES | START_METHODS | CONTEXTS),
        *(f"{library}.Pool" for library in _OF_PROCESSES),
    ]
)


def seeds_no_environment(called: str) -> bool:
    """Whether a function is of a library that knows no environments."""
    return called.partition(".")[0] in _APART - _OF_ENVIRONMENTS


def may_be_environment(called: str) -> bool:
    """Whether what makes an object seems to be a class of environments of a library."""
    library, _, word = called.rpartition(".")
    named = word[:1].isupper() and word.endswith(("Env", "Environment"))
    return bool(library) and named and not seeds_no_environment(called)


def seeds_itself(called: str) -> bool:
    """Whether a function that is named as one that seeds does so only for its own library."""
    return seeds_no_environment(called) and not called.startswith("torch.")


def draws_latents(called: str) -> bool:
    """Whether a function makes a pipeline of diffusers, which starts from noise."""
    owner, _, word = called.rpartition(".")
    made = word in {"from_pretrained", "from_single_file", "from_pipe"}
    return called.startswith("diffusers.") and "Pipeline" in owner and made


def may_seed(called: str) -> bool:
    """Whether a function of some library may seed everything with a seed that it is given."""
    library, _, word = called.rpartition(".")
    first, owner = library.partition(".")[0], library.rpartition(".")[2]
    if not library or first in _APART or owner[:1].isupper():
        return False
    return not any(part in word.lower() for part in _DRAWING_BY_ITSELF)


def draws(name: str) -> bool:
    """Whether a function draws random numbers, from whichever generator."""
    return name.startswith(_PLACES) and name not in _KEEPING
