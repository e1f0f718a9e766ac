"""Through which functions, methods and attributes of torch gradients flow, and what names say of
them where nothing else does."""

from __future__ import annotations

from detlint.models.model import Names, words
from detlint.models.names import says, words_of

# What these give has no gradient, whatever they are given.
MEASURES = words(
    """
    data device dim dtype element_size get_device grad is_contiguous is_cuda is_floating_point
    is_sparse layout ndim ndimension nelement numel requires_grad shape size stride
    """
)
CUTS = words(
    """
    argmax argmin argsort bool byte char data detach generate inference int item long nonzero numpy
    short sample tolist
    """
)
MAKERS = frozenset(
    f"torch.{name}"
    for name in words(
        """
        arange as_tensor empty empty_like eye from_numpy full full_like linspace load logspace
        meshgrid ones ones_like rand rand_like randint randint_like randn randn_like randperm tensor
        zeros zeros_like autograd.Variable Tensor DoubleTensor FloatTensor HalfTensor IntTensor
        LongTensor ByteTensor BoolTensor Generator device no_grad
        """
    )
)
NEW = words("new_empty new_full new_ones new_tensor new_zeros")  # methods that do the same
NUMBERS = frozenset(
    f"builtins.{name}"
    for name in words("bool dict float hasattr int isinstance len max min open print range str")
) - {"builtins.max", "builtins.min", "builtins.dict"}
# They give what they are given, or its elements.
HANDS_ON = frozenset(
    (
        *(f"builtins.{name}" for name in words("enumerate iter list max min next reversed tuple")),
        *("builtins.zip", "builtins.dict", "builtins.sum", "builtins.map", "builtins.sorted"),
        *("copy.copy", "copy.deepcopy", "tqdm.tqdm", "tqdm.auto.tqdm", "einops.rearrange"),
        *("einops.repeat", "einops.reduce", "einops.einsum"),
    )
)
FUNCTIONS = ("torch.", "torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.")
# Their arguments say of what shape, type or place the result is.
SHAPING = words(
    """
    bfloat16 chunk clone contiguous cpu cuda double expand flatten flip float half narrow permute
    repeat reshape roll split squeeze t to transpose tril triu type type_as unbind unflatten
    unsqueeze view view_as
    """
)
OWN = words("H T mH mT values")  # attributes through which it flows
SHOWS = words("torchvision.utils")  # it makes pictures
# Types of parameters that have none, by qualified name.
PLAIN = frozenset(
    (
        *(f"builtins.{name}" for name in words("bool bytes dict float int str")),
        *("torch.LongTensor", "torch.IntTensor", "torch.BoolTensor", "torch.ByteTensor"),
        *("numpy.ndarray", "torch.device", "torch.dtype", "torch.Size"),
    )
)

# Names. What a loss compares with, what a loader gives, and what layers give.
_TARGETS = words("gt groundtruth label labels target targets teacher tgt")
_PICTURES = words("frame frames image images img imgs")
_SOURCES = words("orig original raw ref src source")
_BATCH = words("batch batches data example examples sample samples")
_COMPUTED = words(
    """
    embedding embeddings fake fakes feat feats feature features fmap fmaps fts hidden hiddens
    latent latents logit logits pred prediction predictions preds
    """
)
_TRAINS = words("train trainer training")
# Of functions, classes, files and folders: data or weights are got ready, or a model answers.
_APART = words(
    """
    checkpoint ckpt collate collect dataset eval evaluate evaluation evaluator export
    extract infer inference load loads marching metric pipeline plot postprocess postprocessing
    postprocessor predict prediction predictor preprocess preprocessing preprocessor processing
    processor process reorder search visualise visualize
    """
)
_POSITIONS = frozenset(("pos", "position", "positional", "positions"))
_RESIZED = words(
    """
    abs absolute bias emb embed embedding embeddings embeds enc encoding interpolate rel relative
    resample resize
    """
)


def is_target(word: str) -> bool:
    """Whether a parameter is what a loss compares with, by its name: ``gt_mask``, ``ref_img``."""
    parts = words_of(word)
    pictured = parts[:1] and parts[0] in _SOURCES and parts[-1] in _PICTURES
    return bool(pictured) or not _TARGETS.isdisjoint((*parts[:1], *parts[-1:]))


def is_teacher(word: str, others: object) -> bool:
    """``f_t`` beside ``f_s``: the teacher's features and the student's."""
    beside = others if isinstance(others, dict) else {}
    return word.endswith("_t") and f"{word[:-1]}s" in beside


# Whether what has this name gives data: ``train_loader``.
is_loader = says("dataloader dataloaders loader loaders")


def is_loaded(owner: str, key: object) -> bool:
    """``batch["image"]``: what a loader gives."""
    if not isinstance(key, str) or _BATCH.isdisjoint(words_of(owner)[-1:]):
        return False
    return is_target(key) or not (_PICTURES | {"mask", "masks", "video"}).isdisjoint(words_of(key))


def is_computed(word: str) -> bool:
    """Whether a parameter is what layers give, by its name: ``hidden_states``."""
    parts = words_of(word)
    return not _COMPUTED.isdisjoint((*parts[:1], *parts[-1:])) and not is_target(word)


# Whether a function, class or file judges what a model computed: a loss.
judges = says("criterion discriminator loss losses penalty")


# Whether a layer has no weights and is fed what was recorded, to which no gradient comes but in a
# loss, or where something is trained to sound.
takes_recordings = Names("torchaudio.transforms.{,Mel}Spectrogram")
# Whether what has this name is of whole numbers: ``input_ids``.
is_whole = says(
    """count counts id ids idx index indices ind inds label labels len length lengths lens mask
    masks position positions seq seqs tag tags target targets token tokens valid"""
)


# Whether an index of this name chooses one of each row: ``actions``.
is_choice = says("action actions label labels target targets")


# Whether a variable or an option says that there is a GPU: ``use_gpu``, ``is_cuda``.
says_cuda = Names("{use,on,has,is,with}_{cuda,gpu}", "cuda")


# Whether it reaches no place twice.
is_permutation = says("perm permutation")


# Whether a function takes a step of training, or runs a model, by its name.
steps = says("call epoch fit forward main run step train training")


def is_tried(name: str) -> bool:
    """Whether a function, class or file only tries something, even a training, by its name."""
    parts = words_of(name)
    return "test" in parts and _TRAINS.isdisjoint(parts) and not judges(name)


def is_apart(name: str) -> bool:
    """Whether nothing is trained in a function, class or file, by its name."""
    parts = words_of(name)
    return not _APART.isdisjoint(parts) and _TRAINS.isdisjoint(parts) and not judges(name)


def is_of_positions(name: str) -> bool:
    """Whether a name is about embeddings of positions, which are mostly resized once, as weights
    are loaded."""
    parts = words_of(name)
    return not _POSITIONS.isdisjoint(parts) and not _RESIZED.isdisjoint(parts)
