"""FlashAttention's functions, the options that ask for them, and the words of code that only asks
a model for answers."""

from __future__ import annotations

from detlint.models.names import holds, says
from detlint.models.training import BACKWARDS as GOES_BACK
from detlint.models.training import says_training

_PACKAGES = frozenset(("flash_attn", "flash_attn_interface", "flash_attn_3"))
# How many arguments each function takes before `deterministic`, in releases without softcap.
# flash-attn 1 called the varlen functions unpadded, with four or five arguments fewer.
FUNCTIONS = {
    "flash_attn_func": 8,
    "flash_attn_qkvpacked_func": 6,
    "flash_attn_kvpacked_func": 7,
    "flash_attn_varlen_func": 12,
    "flash_attn_varlen_qkvpacked_func": 8,
    "flash_attn_varlen_kvpacked_func": 11,
    "flash_attn_unpadded_func": 11,
    "flash_attn_unpadded_qkvpacked_func": 7,
    "flash_attn_unpadded_kvpacked_func": 10,
    # Modules around them, in flash_attn.modules.mha.
    "FlashSelfAttention": 5,
    "FlashCrossAttention": 5,
}
BACKWARDS = frozenset(("_flash_attn_backward", "_flash_attn_varlen_backward"))
TAKEN = BACKWARDS | FUNCTIONS.keys()
HUB = "kernels.get_kernel"
# Libraries whose attention a switch may choose.
LIBRARIES = (
    *("flash_attn", "transformer_engine", "transformers", "megatron", "nemo", "xformers"),
    *("deepspeed", "kernels"),
)
# What a file holds that reads a switch, and how it calls torch's own attention, which that chooses.
SWITCHING, OF_TORCH = "use_flash_att", "scaled_dot_product_attention"
# Hugging Face's functions around them.
WRAPPER = "_flash_attention_forward"

# What calls a function with the arguments that follow it …
APPLIES = frozenset(("functools.partial", "torch.utils.checkpoint.checkpoint"))
# … or shares it out, by the end of a class' name: ``DistributedAttention(flash_attn_func, group)``.
SHARES = "Attention"

IMPLEMENTATIONS = frozenset({"flash_attention_2", "flash_attention_3"})
SWITCHES = frozenset({"use_flash_attention_2", "use_flash_attn", "use_flash_attention"})
# Flags of command lines, as they are written, …
FLAGS = frozenset(f"--{name.replace('_', sep)}" for name in SWITCHES for sep in "-_")
# … and those that take a value, with the values that ask for FlashAttention.
VALUED_FLAGS = {
    "--attn-implementation": IMPLEMENTATIONS,
    "--attn_implementation": IMPLEMENTATIONS,
    "--attention-backend": frozenset({"flash"}),
}
# The same by the name of the option, in launches of programs.
IMPLEMENTED_BY = {
    "attn_implementation": IMPLEMENTATIONS,
    "_attn_implementation": IMPLEMENTATIONS,
    "attn_impl": IMPLEMENTATIONS | {"flash_attn"},  # ms-swift
    "flash_attn": frozenset({"fa2", "fa3"}),  # LLaMA-Factory
}
BACKENDS = {"attention_backend": frozenset({"flash"})}
BARE = SWITCHES | {"flash_attn", "use_flash_attn_2", "use_flash_attn_v2", "flash_attention"}
DETERMINISTIC_FLAGS = frozenset(
    ("deterministic_mode", "full_determinism", "enable_full_determinism")
)
# Variables that make its backward deterministic: in Hugging Face's models, and in Transformer
# Engine.
VARIABLES = {"FLASH_ATTENTION_DETERMINISTIC": "1", "NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0"}

# Hugging Face's option for the name of an implementation …
CHOICES = frozenset(("attn_implementation", "_attn_implementation"))
SETTER = "set_attn_implementation"
# … and those that are on or off; the second is what the first set before there was a choice.
OLD = frozenset(("use_flash_attention_2", "_flash_attn_2_enabled"))
# The text of a command is given to these.
COMMANDS = frozenset(
    ("append", "split", "system", "run", "Popen", "call", "check_call", "check_output")
)

NO_GRADIENT = frozenset(
    (
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
    )
)
GRADIENT_SWITCH = frozenset(("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"))
RECORDS = frozenset(("requires_grad", "is_grad_enabled"))

# Words of the names of functions, classes and conditions under which a model only answers. Not a
# decoder: that is half of what is trained.
_FUNCTION = """decode decoding prefill generate generation generating infer inference predict
    prediction"""
_CLASS = "decode decoding inference prefill prefilling"
function_answers = says(_FUNCTION)  # ``flash_decode``, ``load_for_inference``
class_answers = says(_CLASS)  # ``DecodingBenchmark``
evaluates = says(f"{_FUNCTION} eval evaluate evaluation")  # ``enable_attention_eval``
_answers = says(f"{_CLASS} generating infer inferring")
# How many tokens are asked about at once: one, where a model decodes.
_LENGTHS = frozenset(
    f"{of}{seq}{length}"
    for of in ("q", "query", "tgt", "seq")
    for seq in ("", "seq")
    for length in ("len", "length")
) | {"seqlenq", "maxseqlenq"}
_QUERIES = frozenset(("q", "query", "queries", "querystates", "hiddenstates", "x"))
# Whether what has this name is of a cache of keys and values: ``k_cache``, ``block_table``.
holds_cache = holds("cache block_table page_table past_key")
# A cache of keys and values by its name; not `use_cache`, `cache_position` or `rope_cache`.
_CACHES = frozenset(
    f"{of}cache{s}"
    for of in ("", "kv", "k", "v", "key", "keys", "value", "values", "keyvalue", "keyvalues")
    for s in ("", "s")
) | {"pastkey", "pastkv", "pastkeyvalue", "pastkeyvalues", "layerpast"}

# TRL's trainers whose second argument is the reference or the teacher, under no_grad there.
_PAIRS = ("DPO", "KTO", "BCO", "XPO", "NashMD", "GKD")
REFERENCE_KEYWORDS = frozenset(("ref_model", "reference_model", "teacher_model"))
# They give the model itself, …
MOVES = frozenset(("to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "compile"))
# … or a model around it.
WRAPS = frozenset(("get_peft_model", "prepare_model_for_kbit_training", "from_pretrained"))
_TRAINING_WRAPS = WRAPS - {"from_pretrained"} | {"LoraConfig"}
_TRAINING = GOES_BACK | {"fit", "zero_grad", "step", "training_step"}
_TRAINERS = ("Trainer", "TrainingArg", "ptim")  # parts of words
# Engines that only answer. What trains and asks one for answers calls more.
ENGINES = frozenset(("vllm", "sglang", "lmdeploy", "tensorrt_llm"))
# What a model is asked, …
ASKS_MODEL = frozenset(("generate", "eval", "pipeline", "Pipeline"))
# … what takes a gradient, …
GRADIENTS = frozenset(("grad", "backward"))
# … and what compares results as far as rounding goes.
COMPARES = frozenset(("assert_close", "assert_allclose", "allclose"))
# How text says that a model is run.
ANSWERING = (
    *("with torch.no_grad", "torch.inference_mode", "with inference_mode", "@inference_mode"),
    *(".generate(", ".eval()", "pipeline(", "Pipeline("),
)
# Parts of the words by which functions are found that train or answer.
HINTS = (
    *("backward", "fit", "step", "train", "Train", "zero_grad", "ptim", "loss", "LoraConfig"),
    *("get_peft_model", "prepare_model_for_kbit_training", "generate", "no_grad", "grad("),
    *("inference_mode", "eval", "ipeline", "assert_close", "allclose"),
)
# What is done with parameters that no optimizer has: counted, looked at, averaged.
LOOKS = frozenset(("numel", "requires_grad", "device", "dtype", "copy_", "shape"))
# What a model is asked in a notebook, and what neither trains it nor asks it.
_ASKS = (
    *("generat", "infer", "predict", "pipeline", "decod", "evaluat", "answer", "caption"),
    *("transcrib", "describe"),
)
_NEITHER = frozenset(
    (
        *("device", "dtype", "config", "generation_config", "to", "cuda", "half", "bfloat16"),
        *("hf_device_map", "get_memory_footprint", "num_parameters", "load_adapter", "tie_weights"),
        *("set_adapter", "save_pretrained", "push_to_hub", "merge_and_unload", "name_or_path"),
        *("print", "type", "display", "from_pretrained"),
    )
)
# What makes a model, by its name.
_BUILDERS = ("load", "build", "create", "make", "get", "init", "setup", "prepare")
_PROGRAMS = frozenset(("main", "run", "cli", "app", "Fire", "fit", "grad"))


def function(name: str) -> str:
    """The function of the flash-attn package that a qualified name is of; "" for none."""
    parts = name.split(".")
    known = parts[0] in _PACKAGES and "flash_attn_triton" not in parts
    known = known or parts[0] == "transformers"  # whose modules import it for themselves
    return parts[-1] if known and parts[-1] in TAKEN else ""


def is_hub_kernel(name: str) -> bool:
    """``kernels-community/flash-attn3``."""
    return "flashatt" in name.lower().replace("-", "").replace("_", "")


def generation(name: str) -> int:
    """Which FlashAttention a qualified name, or a kernel of the hub, is of: 2, 3 or 4."""
    plain = name.lower().replace("-", "").replace("_", "")
    if name.startswith("flash_attn.cute.") or _ends_in(plain, "4"):
        return 4
    third = name.startswith(("flash_attn_interface.", "flash_attn_3.")) or _ends_in(plain, "3")
    return 3 if third else 2


def _ends_in(plain: str, number: str) -> bool:
    return f"flashattn{number}" in plain or f"flashattention{number}" in plain


# ``bench_attention``.
measures = says(
    """bench benchmark benchmarks benchmarking speed speedup perf profile profiler profiling
    latency throughput"""
)


# Whether a model of this name is there to train another by, or beside it.
is_aside = says("ref reference teacher reward judge")


# ``ref_model``, ``TeacherArguments``.
is_reference = says("ref reference teacher")


def condition_answers(name: str, *, holds: bool) -> bool:
    """Whether a condition of this name that holds, or does not, says that a model only answers."""
    return _answers(name) if holds else says_training(name)


def is_length_of_queries(name: str) -> bool:
    """``q_len``."""
    return name.replace("_", "").lower() in _LENGTHS


def are_queries(name: str) -> bool:
    """``query_states``."""
    return name.replace("_", "").lower() in _QUERIES


def is_cache(name: str) -> bool:
    """Whether what has this name is such a cache."""
    return name.replace("_", "").lower() in _CACHES


def takes_reference(trainer: str) -> bool:
    """``DPOTrainer(model, reference)``."""
    return "Trainer" in trainer and any(each in trainer for each in _PAIRS)


def takes_step(word: str) -> bool:
    """Whether calling a function of this name takes a step of training, or sets up what does."""
    return word in _TRAINING or any(each in word for each in _TRAINERS)


def trains(word: str) -> bool:
    """Whether a function of this name trains what it is given, or called on."""
    return takes_step(word) or word in _TRAINING_WRAPS


def generates(word: str) -> bool:
    """``generate``, ``stream_generate``."""
    return word == "generate" or word.endswith("_generate")


def learns(word: str) -> bool:
    """Whether calling this does more than try what a module defines."""
    return trains(word) or "train" in word.lower() or word in _PROGRAMS or word.startswith("parse_")


def use_in_notebook(word: str) -> str:
    """What a notebook does with a model: "answers", "neither", or "" where it may train it."""
    if word in ("eval", "chat") or any(part in word.lower() for part in _ASKS):
        return "answers"
    return "neither" if word in _NEITHER else ""


def builds(word: str) -> bool:
    """``from_pretrained``, ``AutoModel``, ``load_model``."""
    plain = word.lstrip("_")
    first = plain.partition("_")[0]
    return first == "from" or plain[:1].isupper() or first in _BUILDERS
