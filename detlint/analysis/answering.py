"""Whether a file, a test or a function runs a model that it does not train."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from detlint.analysis.file_names import names as file_names
from detlint.analysis.uses import last_name, words
from detlint.layout import layout_of
from detlint.models.names import words_of
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.module import Module

_TRAINS = re.compile(
    r"\.backward\(|[Tt]rainer|TrainingArg|[Oo]ptimizer|\boptim\b|\.fit\(|\.train\(|training_step"
    r"|LoraConfig|get_peft_model|\btrain_|\bloss\b|fine.?tun",
)
# Engines that only answer. What trains and asks one for answers has a word of the above.
_ENGINE = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:vllm|sglang|lmdeploy|tensorrt_llm)\b", re.MULTILINE
)
INFERS = re.compile(
    r"\.generate\(|with torch\.no_grad|torch\.inference_mode\b|(?:with |@)inference_mode\b"
    r"|\.eval\(\)|\b[Pp]ipeline\("
)
# A file that loads a model to generate may leave it in either mode.
_GENERATES = re.compile(r"\b(?:\w+_)?generate\(")
_MODE = re.compile(r"\bmodel\.train\(\)")
# A file that runs or measures a model, by name; its own text may speak of losses and of training.
_ANSWERS_FILE = re.compile(
    r"(?:^|_)(?:web_?demo|demo|eval|evaluate|evaluation|infer|inference|predict|serve|serving"
    r"|gradio|streamlit|api_server|deploy|decode|decoding|sample|sampling|bench|benchmarks?|speedup"
    r"|merge|convert|converter|conversion|export|quantize|checkpoint_(?:saver|loader)"
    r"|annotate|rerank|teachers?|pseudo_labels?|(?:extract|get|compute)_(?:features?|embeddings?))"
    r"(?:_|$)|^chat(?:_|$)"
    r"|(?:^|_)(?:hf|huggingface|megatron|mcore|nemo|meta|deepspeed|zero)(?:2|_to_|_2_)\w"
)
_ANSWERS_CONFIG = re.compile(
    r"(?:^|_)(?:tests?|eval|evaluate|evaluation|infer|inference|predict|serve|serving|demo"
    r"|benchmarks?|generate|generation|pseudo_labels?|filter|filtering|annotate|sampling|rerank"
    r"|caption|export|merge|quantize)(?:_|$)"
)
_TRAINS_NAME = re.compile(r"train|tun(?:e|ing)|(?:^|_)(?:sft|dpo|grpo|ppo|lora)(?:_|$)")
# Models that others are trained by, or beside, and code that takes no gradient of them.
_ASIDE = re.compile(r"(?:^|_)(?:ref|reference|teacher|reward|judge)(?:_|$)")
# Of functions and classes, by the words of their names.
_REFERENCE = words("ref reference teacher")
_FROZEN_FORWARD = re.compile(r"@(?:torch\.)?(?:no_grad|inference_mode)\(\)\s+def[ \t]+forward\(")
_NO_GRADIENT = re.compile(r"\bno_grad\(|\binference_mode\(")
_STEPS = (
    r"\.backward\(|Trainer\(|TrainingArg\w*\(|\.step\(|\.fit\(|[tT]rainer\.train\(|training_step"
    r"|\boptim\."
)
TAKES_STEPS = re.compile(_STEPS)
_OPTIMIZES = re.compile(rf"{_STEPS}|LoraConfig\(|get_peft_model\(")
# A file or function that takes the time of a model: it may run a backward as well.
_MEASURES = re.compile(
    r"(?:^|_)(?:bench|benchmark(?:s|ing)?|speed(?:up|_?tests?)?|perf|profil(?:e|er|ing)|latency"
    r"|throughput)(?:_|$)"
)
_LEARNS = re.compile(_OPTIMIZES.pattern.removeprefix(r"\.backward\(|"))
_BACKWARD = re.compile(r"\btrain\w*\(|autograd\.grad\b|backward|\.grad\b")
_COMPARES = re.compile(r"\b(?:assert_(?:all)?close|allclose)\(")
_CHECKS_FILE = re.compile(r"^test_|_test$|^conftest$")
_CHECK = re.compile(r"test(?:_|$)")
_BUILDERS = re.compile(r"from_|[A-Z]|(?:load|build|create|make|get|init|setup|prepare)(?:_|$)")


def serves(module: Module) -> bool:
    """Whether the file is about an engine that serves models, and nothing in it trains one."""
    text = module.source.text
    return _ENGINE.search(text) is not None and _TRAINS.search(text) is None


def is_for_answers(module: Module) -> bool:
    """Whether the file runs or measures a model, by its name or that of a folder above it, or
    loads one to generate with."""
    text, names = module.source.text, file_names(module.source.path)
    # Those that decode may wrap a model in what was trained.
    if any(map(_ANSWERS_FILE.search, names)) and not TAKES_STEPS.search(text):
        return True
    if "configs" in names and configures_answers(module.source.path):
        return True
    if _MEASURES.search(names[-1]) and not _LEARNS.search(text):
        return True
    return bool(_GENERATES.search(text)) and _TRAINS.search(_MODE.sub("", text)) is None


def configures_answers(path: str) -> bool:
    """Whether a configuration is for a test or an evaluation, by its name or that of a folder."""
    names = [each.replace("-", "_") for each in file_names(path)]
    return any(map(_ANSWERS_CONFIG.search, names)) and not any(map(_TRAINS_NAME.search, names))


def is_key_aside(keys: Sequence[str]) -> bool:
    """Whether a setting is that of another's reference, teacher or reward: ``teacher.kwargs.x``."""
    return any(map(_ASIDE.search, keys[:-1]))


def is_evaluated(module: Module, node: cst.CSTNode) -> bool:
    """Whether the model made around a node is put in evaluation mode where it is made.

    ``model = Model.from_pretrained(…)``, then ``model.eval()`` and no ``train()`` of it.
    """
    function, made = module.enclosing_function(node), None
    for above in module.ancestors(node):
        if above is function:
            break
        if isinstance(above, cst.Attribute) and above.attr.value == "eval":
            return True
        if isinstance(above, cst.Assign) and isinstance(above.targets[0].target, cst.Name):
            made = above.targets[0].target.value
            break
    if function is None or made is None:
        return False
    modes = [
        each.attr.value
        for each in module.tree.descendants(function)
        if isinstance(each, cst.Attribute)
        and isinstance(each.value, cst.Name)
        and each.value.value == made
    ]
    return "eval" in modes and "train" not in modes and not _trains(module, function)


def measures(module: Module, node: cst.CSTNode) -> bool:
    """Whether a function around a node takes a time, by its name, and learns nothing."""
    functions = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return any(
        _MEASURES.search(each.name.value) and not _LEARNS.search(module.tree.text(each))
        for each in functions
    )


def compares_answers(module: Module, node: cst.CSTNode) -> bool:
    """Whether a test around a node, or all of its file, asks models for answers without a
    backward, or compares what they give, gradients too, as far as rounding goes."""
    file, text = os.path.splitext(os.path.basename(module.source.path))[0], module.source.text
    functions = [each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef)]
    if _CHECKS_FILE.search(file) is None:
        functions = [each for each in functions if _CHECK.match(each.name.value)]
        text = ""
    elif not _may_learn(text):
        return True
    texts = text, *map(module.code, functions)
    return any(_COMPARES.search(each) and not _LEARNS.search(each) for each in texts)


def _may_learn(text: str) -> bool:
    return bool(_TRAINS.search(text) or _BACKWARD.search(text))


def is_aside(module: Module, node: cst.CSTNode) -> bool:
    """Whether the model made around a node is another's reference, teacher or reward, frozen or
    in a class that records no gradient and learns nothing, or in what makes a reference."""
    if _makes_reference(module, node):
        return True
    made = next((each for each in module.ancestors(node) if isinstance(each, cst.Assign)), None)
    name = last_name(made.targets[0].target) if made is not None else ""
    if not _ASIDE.search(name):
        return False
    block = block_around(module, node)
    frozen = re.compile(
        rf"\b{name}\.requires_grad_\(False\)"
        rf"|\bfor (\w+) in (?:\w+\.)?{name}\.parameters\(\):\s*\1\.requires_grad(?:_\(| = )False"
    )
    if frozen.search(block):
        return True
    within = module.enclosing_class(node) is not None
    return within and _NO_GRADIENT.search(block) is not None and not _OPTIMIZES.search(block)


def _makes_reference(module: Module, node: cst.CSTNode) -> bool:
    """``def build_ref_model(…)``, ``class TeacherArguments``, which learn nothing."""
    makes = any(
        isinstance(each, (cst.FunctionDef, cst.ClassDef))
        and not _REFERENCE.isdisjoint(words_of(each.name.value))
        for each in module.ancestors(node)
    )
    return makes and not _OPTIMIZES.search(block_around(module, node))


def is_frozen_around(module: Module, node: cst.CSTNode) -> bool:
    """Whether a class around a node records no gradient in its forward."""
    if module.enclosing_class(node) is None:
        return False
    return _FROZEN_FORWARD.search(block_around(module, node)) is not None


def block_around(module: Module, node: cst.CSTNode) -> str:
    """The text of the statement at the top of the file that a node stands in: what is around it
    may have been narrowed away."""
    text, (place, _) = module.source.text, module.span(node)
    blocks = layout_of(text).top
    return next((text[each.start : each.end] for each in blocks if each.end > place), "")


def _trains(module: Module, function: cst.CSTNode) -> bool:
    return _TRAINS.search(module.code(function)) is not None


def only_infers(module: Module) -> bool:
    """Whether the file runs a model and nothing in it trains one."""
    text = module.source.text
    infers = INFERS.search(text) or _ENGINE.search(text)
    return infers is not None and _TRAINS.search(text) is None


def caches(module: Module, node: cst.CSTNode) -> bool:
    """Whether the function around a node makes a cache of keys and values, to decode with."""
    function = module.enclosing_function(node)
    return function is not None and any(
        isinstance(each, cst.Call) and last_name(each.func).endswith("KVCache")
        for each in module.tree.descendants(function)
    )


def is_checked(module: Module, node: cst.CSTNode) -> bool:
    """Whether a test gives an argument to a function that makes no model, to look at what it
    returns."""
    file = os.path.splitext(os.path.basename(module.source.path))[0]
    call, function = module.parent(node), module.enclosing_function(node)
    return (
        _CHECKS_FILE.search(file) is not None
        and isinstance(call, cst.Call)
        and isinstance(function, cst.FunctionDef)
        and _CHECK.match(function.name.value) is not None
        and not _BUILDERS.match(last_name(call.func).lstrip("_"))
    )
