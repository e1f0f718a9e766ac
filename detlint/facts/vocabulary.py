"""The functions of libraries that seed, draw, build and turn determinism on."""

from __future__ import annotations

import sys

from detlint.analysis.uses import words

TENSORFLOW = ("random", "numpy", "tensorflow")
SEEDS = {
    "random.seed": ("random",),
    "random.setstate": ("random",),
    "numpy.random.seed": ("numpy",),
    "numpy.random.set_state": ("numpy",),
    "torch.manual_seed": ("torch",),
    "torch.random.manual_seed": ("torch",),
    "torch.set_rng_state": ("torch",),
    "torch.random.set_rng_state": ("torch",),
    "tensorflow.random.set_seed": ("tensorflow",),
    "tensorflow.set_random_seed": ("tensorflow",),
    "tensorflow.compat.v1.set_random_seed": ("tensorflow",),
    "tensorflow.compat.v1.random.set_random_seed": ("tensorflow",),
    "tensorflow.keras.utils.set_random_seed": TENSORFLOW,
    "keras.utils.set_random_seed": (*TENSORFLOW, "torch"),
}
# Of libraries and of projects: what they seed cannot be seen here, so it counts for all.
HELPERS = words(
    """seed_everything seed_all set_seed set_seeds set_random_seed set_random_seeds fix_seed
    fix_random_seed enable_full_determinism set_determinism setup_seed init_seed init_seeds
    seed_everywhere set_global_seed set_global_seeds reset_seed improve_reproducibility
    prepare_environment load_hyperpyyaml"""
)
GENERATOR_METHODS = frozenset({"seed", "manual_seed", "manual_seed_all"})
# Their trainers seed `random`, NumPy and torch from an argument with a fixed default.
SEEDING_TRAINERS = (
    *("transformers.", "trl.", "ultralytics.", "sentence_transformers.", "setfit.", "unsloth."),
    "catalyst.",
)
# Libraries of which nothing else takes a seed for the global generators.
SEEDED_APART = sys.stdlib_module_names | words(
    """numpy torch torchvision torchaudio torchdata torch_geometric tensorflow keras jax jaxlib flax
    tensorflow_probability tensorflow_datasets haiku optax scipy pandas polars sklearn datasets
    skimage cv2 cupy dask networkx xgboost lightgbm catboost optuna hyperopt skopt gym gymnasium
    albumentations imgaug kornia openai litellm vllm sglang diffusers sentencepiece faiss umap
    pyspark ray grain seqio tfds numba triton nltk gensim annoy wandb timm metaworld dm_control
    procgen minigrid pettingzoo robosuite mani_skill crafter"""
)
RANDOM = words(
    """random uniform randint randrange choice choices sample shuffle gauss normalvariate
    betavariate expovariate triangular getrandbits randbytes lognormvariate"""
)
NUMPY = words(
    """rand randn randint random random_sample ranf sample choice shuffle permutation normal
    uniform standard_normal beta binomial exponential gamma poisson multinomial dirichlet
    multivariate_normal laplace lognormal bytes random_integers permuted"""
)
TORCH = words(
    """rand randn randint randperm bernoulli multinomial normal rand_like randn_like
    randint_like poisson"""
)
IN_PLACE = words("""normal_ uniform_ bernoulli_ random_ exponential_ log_normal_""")
FIXED_INITS = words("""zeros_ ones_ constant_ eye_ dirac_ calculate_gain""")
LAYERS = words(
    """Linear LazyLinear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
    ConvTranspose3d Embedding EmbeddingBag LSTM GRU RNN LSTMCell GRUCell RNNCell Transformer
    TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention"""
)
MADE = words("empty ones rand randn tensor zeros")  # tensors that nothing was computed from
TRAINING = {
    "tensorflow.GradientTape": "tensorflow",
    "jax.grad": "jax",
    "jax.value_and_grad": "jax",
    "ignite.engine.create_supervised_trainer": "torch",
}
LIGHTNING = ("lightning.", "pytorch_lightning.", "lightning_fabric.")
SWITCHES = frozenset({"torch.set_deterministic", "torch.set_deterministic_debug_mode"})
GUARD = frozenset({"guard.enable", "guard.deterministic"})
