"""Which calls train, and with which library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from detlint.analysis.uses import last_name
from detlint.facts.facts import TRAINER
from detlint.facts.vocabulary import MADE, TRAINING
from detlint.models.loading import hands_on

if TYPE_CHECKING:
    from detlint.module import Module

_IMPORTS = r"(?:import|from)[ \t]+"
_KERAS = re.compile(rf"^[ \t]*{_IMPORTS}(?:tensorflow|keras|tf_keras)\b", re.MULTILINE)
# At the top: a program in JAX may import torch in the function that reads its checkpoints.
_TORCH = re.compile(
    rf"^{_IMPORTS}(?:torch|lightning|pytorch_lightning|trl|accelerate)\b",
    re.MULTILINE,
)
_JAX = re.compile(rf"^[ \t]*{_IMPORTS}(?:jax|flax|haliax|optax|equinox)\b", re.MULTILINE)

_FITS = frozenset({"fit", "train_on_batch", "fit_generator"})
# What is fitted and is no network.
_OTHER_FITS = re.compile(
    r"scaler|encoder|vectori[sz]er|tokenizer|tuner|imputer|binarizer|selector|reducer|regressor"
    r"|^le$|^ohe$|(?:^|_)(?:ridge|lasso|linreg|logreg|pca|k_?means|clf|svc|svm|knn|umap|tsne|lda|nmf|gmm)(?:$|_)",
    re.IGNORECASE,
)


def trained_with(module: Module, call: cst.Call) -> str | None:
    """The library that a call trains with; "keras" where only the program's imports can tell."""
    known = TRAINING.get(unversioned(module.called(call)))
    if known == "tensorflow" and _is_in_custom_gradient(module, call):
        return None
    if known is not None or not isinstance(call.func, cst.Attribute):
        return known
    method, owner = call.func.attr.value, call.func.value
    if method == "backward":
        return None if _is_other_backward(module, call) else "torch"
    if method in {"fit", "train"} and _is_trainer(module, owner, call):
        return _trainers_library(module.source.text)
    if (method == "minimize" and call.args) or _applies_gradients(module, call, method):
        return "tensorflow"
    return _fitted_with(module, owner, call) if method in _FITS else None


def _fitted_with(module: Module, owner: cst.BaseExpression, call: cst.Call) -> str | None:
    """Torch of ``model.fit(DataLoader(rows))``, in whatever library, and skorch's ``fit(x, y)``."""
    if last_name(call.func) != "fit":
        return "keras"
    made = module.names.value_of(call.args[0].value) if call.args else None
    loaded = isinstance(made, cst.Call) and hands_on(module.called(made))
    if loaded or (module.instance_of(owner) or "").startswith("skorch."):
        return "torch"
    fitted = last_name(owner.func if isinstance(owner, cst.Call) else owner)  # UMAP(…).fit(x)
    return None if _OTHER_FITS.search(fitted) else "keras"


def _applies_gradients(module: Module, call: cst.Call, method: str) -> bool:
    """``optimizer.apply_gradients(pairs)``, which of a state in JAX takes ``grads=``; not in an
    optimizer's own method."""
    if method != "apply_gradients" or not call.args or call.args[0].keyword is not None:
        return False
    around, text = module.enclosing_function(call), module.source.text
    own = isinstance(around, cst.FunctionDef) and around.name.value in {method, "minimize"}
    return not own and bool(_KERAS.search(text)) and not _JAX.search(text)


def _is_other_backward(module: Module, call: cst.Call) -> bool:
    """Whether a call is a wrapper's, a function's or a kernel's own backward, or one of a tensor
    that was only just made: these train nothing."""
    around = module.enclosing_function(call)
    if isinstance(around, cst.FunctionDef) and around.name.value == "backward":
        first = next(iter(around.params.params), None)
        if first is not None and first.name.value in {"self", "cls", "ctx"}:
            return True
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    made = (module.called(owner) or "").removeprefix("torch.") in MADE
    return made or (module.called(call) or "").startswith("torch.ops.")


def _trainers_library(text: str) -> str:
    """The library whose loop a trainer is, by what its file imports."""
    if _TORCH.search(text):
        return "torch"
    if _JAX.search(text):
        return "jax"
    if "torch" in text or "transformers" in text:
        return "torch"
    return "keras" if _KERAS.search(text) else TRAINER


def _is_trainer(module: Module, owner: cst.BaseExpression, call: cst.Call) -> bool:
    """Whether something is a torch library's loop, by its class or else by its name."""
    kind = module.instance_of(owner) or module.called(owner) or ""
    if kind.endswith("Trainer"):
        return True
    named = last_name(owner).lower()
    if last_name(call.func) == "train":  # `.train(False)` is a mode
        return named.endswith(("trainer", "runner")) and not _is_mode(call)
    return named.endswith("trainer") and not _KERAS.search(module.source.text)


def _is_mode(call: cst.Call) -> bool:
    given = call.args[0] if call.args else None
    return given is not None and (
        isinstance(given.value, cst.Name) and given.value.value in {"True", "False", "mode"}
    )


def unversioned(name: str | None) -> str:
    """A name of TensorFlow without the version that it is imported of."""
    return (name or "").replace("tensorflow.compat.v2.", "tensorflow.", 1)


def _is_in_custom_gradient(module: Module, call: cst.Call) -> bool:
    """Whether a tape only works out the gradient of an operator."""
    return any(
        isinstance(each, cst.FunctionDef)
        and ("grad" in each.name.value or any(map(_is_custom_gradient, each.decorators)))
        for each in module.ancestors(call)
    )


def _is_custom_gradient(decorator: cst.Decorator) -> bool:
    return last_name(decorator.decorator) == "custom_gradient"
