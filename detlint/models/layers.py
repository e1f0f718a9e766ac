"""Layers and models: which have weights, what they give, and names that say so where nothing else
does."""

from __future__ import annotations

from detlint.models.model import words
from detlint.models.names import says, words_of

# Classes of torch.nn that have weights of their own, by how their names begin.
_WEIGHTED = (
    *("Conv", "LazyConv", "Linear", "LazyLinear", "Bilinear", "Embedding", "LSTM", "GRU", "RNN"),
    *("BatchNorm", "SyncBatchNorm", "LayerNorm", "GroupNorm", "RMSNorm", "PReLU", "Transformer"),
    *("MultiheadAttention", "ParameterList", "ParameterDict"),
)
CONTAINERS = words("Sequential ModuleList ModuleDict")
ADDS = words("add_module append register_module")  # methods of containers and modules
# Members of a module that hand out every parameter at once.
EVERY_PARAMETER = words(
    """__dict__ _apply _buffers _parameters apply buffers children get_buffer get_parameter
    load_state_dict modules named_buffers named_children named_modules named_parameters parameters
    state_dict"""
)
PARAMETERS = words("torch.nn.Parameter torch.nn.parameter.Parameter")
FUNCTIONS = words("torch.autograd.Function torch.autograd.function.Function")
# They give the layer itself, or what stands for it.
MOVES = words(
    """
    to cuda cpu eval train float half double bfloat16 apply requires_grad_ type compile share_memory
    """
)
_LAYERS = words(
    """
    actor attention attn backbone block blocks conv convs critic decoder decoders discriminator
    embed embedder embedding embeddings encoder encoders fc features generator head heads layer
    layers linear lstm mlp model net network norm policy proj projection rnn stem student
    transformer unet vae
    """
)
# Methods of models that compute as a call of it does.
_RUNS = words("forward encode decode extract")
# Base classes by whose names a class is no module: it has no parameters to train.
_NO_MODULE = words(
    """
    abc augment augmentation callback config dataset enum evaluator exception hook loader logger
    metric metrics object protocol sampler transform typeddict visualizer
    """
)


def has_weights(name: str) -> bool | None:
    """Whether a class of a library makes layers with weights; None where its name tells nothing."""
    owner, _, word = name.rpartition(".")
    if owner == "torch.nn" or owner.startswith("torch.nn.modules"):
        return word.startswith(_WEIGHTED)
    return False if is_weightless(word) else None


def may_have_weights(name: str) -> bool:
    """Whether what makes an object that a module keeps and calls may make layers with weights: a
    class (``xLSTMStack``, ``Tower.from_file``) that its name says nothing else of."""
    named = [each for each in name.split(".")[1:] if each != each.lower()]
    return bool(named) and not is_weightless(named[-1]) and not is_no_module(named[-1])


# Whether a name is that of a layer or function without weights: ``MaxPool``.
is_weightless = says(
    """act activation aug augment augmentation dct denormalize drop dropout flatten gelu identity
    interpolate interpolation loss mel normalise normalize normalizer pad padding pool pooling
    preprocess preprocessor processor quantile relu rescale resize resizer scale shift sigmoid
    silu softmax spec spectrogram stft tanh tokenizer transform transforms up upsample
    upsampling warp"""
)


def is_layer(name: str) -> bool:
    """Whether a name is that of a layer or model with weights: ``decoder2``."""
    return not is_weightless(name) and not _LAYERS.isdisjoint(words_of(name))


def runs(method: str) -> bool:
    """Whether a method of a model computes as a call of it does: ``forward_features``."""
    return not _RUNS.isdisjoint(words_of(method)[:1])


def keeps(member: str) -> bool:
    """Whether a member of a model computes nothing with an input."""
    return member in MOVES or member in EVERY_PARAMETER


def is_no_module(base: str) -> bool:
    """Whether a class is no module, by the name of a base."""
    parts = words_of(base)
    case = base.endswith("TestCase") or base == "NamedTuple"
    return case or "data" in parts[:1] or not _NO_MODULE.isdisjoint(parts)
