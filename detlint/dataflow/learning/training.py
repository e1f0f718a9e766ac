"""Which calls train, and with which library; which make what has weights."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.calls import last_word, owner_written, word_of
from detlint.index.facts import TRAINER, UNSEEN_NAMES
from detlint.index.imports import imports
from detlint.models import training as rows
from detlint.models.loading import hands_on
from detlint.models.names import is_network
from detlint.models.roles import TRAINING_CALLS
from detlint.models.settings import is_trainer, is_trainer_cli
from detlint.models.tf_data import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Made
    from detlint.dataflow.unit import Unit

_OBJECTS = ("self", "cls", "ctx")
_GROUPS = ("list", "tuple")
_DEEPEST = 4  # estimators that are given one another
_SIZES = 2  # arguments that a layer with weights takes at least


class Training:
    """Answers for the calls of one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._origins = unit.origins

    # What trains

    def library(self, call: Op) -> str | None:
        """The library that a call trains with; "keras" where only the program's imports tell."""
        for name in self.called(call):
            known = rows.STEPS.get(name)
            if known is not None:
                around = call.function.around() if known == "tensorflow" else ()
                return None if any(map(_works_out_gradient, around)) else known
            if rows.FITTING(name):
                return self._fitted_by(call.given("estimator", 0))
        if self.makes_command_line(call):
            run = call.given("run")
            return None if run is not None and run.name is False else "torch"
        method = str(call.args[0].name) if call.args[0].code == "attr" else ""
        return self._library_of_method(call, method) if method else None

    def handed_to_training(self, call: Op) -> list[str]:
        """Of ``train(loader, model)``, a function that is imported, its name and the classes of
        what it is given, with a mark behind those that seem to be models."""
        named = [each for each in self.called(call) if rows.may_train(each)]
        if word_of(call) not in TRAINING_CALLS or len(named) != 1:
            return []
        for each in (x for _, value in call.arguments() for x in self.made(value)):
            is_model = each.op.code == "call" and self.built(each.op)
            named += [f"{name}{UNSEEN_NAMES if is_model else ''}" for name in each.names]
        return named if len(named) > 1 else []

    def makes_command_line(self, call: Op) -> bool:
        """Whether it is Lightning's, or one derived from it in the file, which trains at once."""
        return any(map(is_trainer_cli, self._with_bases(self.called(call))))

    def _with_bases(self, names: list[str]) -> list[str]:
        """Qualified names, and those of the bases of what is a class of the file."""
        own = (each.removeprefix(".") for each in names)
        return [*names, *(base for each in own for base in self._unit.qualified_bases(each))]

    def _library_of_method(self, call: Op, method: str) -> str | None:
        if method in rows.BACKWARDS:
            return None if self._is_other_backward(call) else "torch"
        if method in TRAINING_CALLS and self._is_trainer(call, method):
            return self._library_of_trainers
        if method in ("fit", "train") and self._is_given_optimizer(call):
            return "torch"
        if self._is_told_to_fit(call) or self._fits_learner(call, method):
            return "torch"
        minimizes = method == "minimize" and len(call.args) > 1
        if minimizes or (method == "apply_gradients" and self._applies_gradients(call)):
            return "tensorflow"
        return self._fitted_with(call, method) if method in rows.FITS else None

    def called(self, call: Op) -> list[str]:
        """The qualified names of what a call calls, those of TensorFlow 2 as it has them itself."""
        names = self._unit.values.called(call) or self._by_star(call)
        return [each.replace("tensorflow.compat.v2.", "tensorflow.", 1) for each in names]

    def _by_star(self, call: Op) -> list[str]:
        """The same of a name of unknown origin, where all of a library that is used so are
        imported: ``from fastai.vision.all import *``."""
        function = call.args[0] if call.code == "call" else call
        stars = (each.removesuffix("*") for each in self._unit.imported.get("*", ()))
        found = list(filter(rows.BY_STAR, stars)) if function.code == "global" else []
        named = found and function.name not in self._unit.bound_names
        return [f"{found[-1]}{function.name}"] if named else []

    def _is_other_backward(self, call: Op) -> bool:
        """Whether it is a wrapper's, a function's or a kernel's own, or that of a tensor that was
        only just made: these train nothing."""
        function = call.function
        own = function.word == "backward"
        if own and next(iter(function.params), "") in _OBJECTS:
            return True
        made = self._unit.values.called(call.args[0].args[0])
        return not rows.MADE.isdisjoint(made) or any(
            each.startswith("torch.ops.") for each in self.called(call)
        )

    def _is_trainer(self, call: Op, method: str) -> bool:
        """Whether a method is that of a torch library's loop, by its class or else by its name."""
        made = (*self.classes(call.args[0].args[0]), *self.called(call))
        apart = any(each.partition(".")[0] in rows.APART for each in made)
        if apart or call.given("mode") is not None:  # `self.train(mode=True)`, of whatever class
            return False
        word = owner_written(call).lower()
        if self._is_of_rllib(call, word):
            return True
        if any(name.endswith("Trainer") or is_trainer(name) for name in made):
            return True
        if method == "fit":
            return word.endswith("trainer") and self._all_imported.isdisjoint(rows.OF_KERAS)
        if method != "train":
            return False
        given = call.args[1] if len(call.args) > 1 else None  # `.train(False)` is a mode
        mode = given is not None and (
            isinstance(self._unit.values.constant(given), bool)
            or (given.code == "param" and given.name[1] == "mode")
        )
        return word.endswith(("trainer", "runner")) and not mode

    def _is_given_optimizer(self, call: Op) -> bool:
        """``Container(torch_model=net, optimizer="Adam").train(x, y)``, of some library."""
        if not call.args[2:] or "torch" not in self._all_imported:
            return False
        return any(
            not rows.GIVEN_TO_TRAINERS.isdisjoint(keyword for keyword, _ in made.op.arguments())
            for made in self.made(call.args[0].args[0])
            if made.op.code == "call" and any(map(rows.may_train, made.names))
        )

    def _is_told_to_fit(self, call: Op) -> bool:
        """``Pipeline(model=net).run(rows, task="fit")``, of some library, which may also be given a
        trainer of Lightning."""
        if not any(value.text == rows.FITS_BY_TEXT for _, value in call.arguments()):
            return False
        made = (each for each in self.made(call.args[0].args[0]) if each.op.code == "call")
        return not rows.OF_TORCH.isdisjoint(self._all_imported) and any(
            keyword == "model" or any(map(is_trainer, self.classes(given)))
            for each in made
            if any(map(rows.may_train, each.names))
            for keyword, given in each.op.arguments()
        )

    def _fits_learner(self, call: Op, method: str) -> bool:
        """``vision_learner(loaders, resnet34).fine_tune(1)`` of fastai, ``BC(…).train()``."""
        if rows.OF_LEARNERS.isdisjoint(self._all_imported):
            return False
        trains = rows.LEARNERS.get(method)
        made = self.classes(call.args[0].args[0]) if trains is not None else ()
        return method in rows.FITS_LEARNERS or (trains is not None and any(map(trains, made)))

    def _is_of_rllib(self, call: Op, word: str) -> bool:
        """``Tuner(APPO, …).fit()``, ``algo.train()``."""
        if not self._imports_rllib:
            return False
        classes = self.classes(call.args[0].args[0])
        tunes = any(name.startswith("ray.tune.") and name.endswith("Tuner") for name in classes)
        return tunes or (word.startswith("algo") and not call.args[1:])

    @cached_property
    def _imports_rllib(self) -> bool:
        names = (name for bound in self._unit.imported.values() for name in bound)
        return any(name.startswith("ray.rllib") for name in names)

    def classes(self, owner: Op) -> Iterator[str]:
        """The names of the classes of which an object may be."""
        for made in self.made(owner):
            yield from made.names

    def methods(self, call: Op) -> Iterator[str]:
        """The qualified names of a method, by the classes of its object."""
        function = call.args[0]
        if function.code == "attr":
            for each in self.classes(function.args[0]):
                yield f"{each}.{function.name}"

    def made(self, value: Op) -> list[Made]:
        """What may have made a value, as far as that is seen."""
        return [each for each in self._origins.of(value) if each is not None]

    def _fitted_with(self, call: Op, method: str) -> str | None:
        """Torch of ``model.fit(DataLoader(rows))``, in whatever library, and skorch's; of what
        another file makes, names tell: ``model.fit(train_loader=loader)``."""
        if method != "fit":
            return "keras"
        made = self._origins.of(call.args[1]) if len(call.args) > 1 else []
        loads = any(hands_on(name) for each in made if each is not None for name in each.names)
        named = "torch" in self._all_imported and any(map(_is_loader, call.arguments()))
        classes = self._fitted(call)
        if loads or named or any(each.startswith("skorch.") for each in classes):
            return "torch"
        foreign = [each for each in classes if not each.startswith(".")]
        if foreign and all(each.partition(".")[0] in rows.APART for each in foreign):
            return self._fitted_by(call.args[0].args[0])
        if not classes and self._fits_estimators and not self._is_fit_of_keras(call):
            return None
        words = (owner_written(call), *(each.rpartition(".")[2] for each in classes))
        return None if any(map(rows.is_no_network, words)) else "keras"

    def _fitted_by(self, estimator: Op | None) -> str | None:
        """The library of a network that scikit-learn fits: what a search or a pipeline is given."""
        return "keras" if estimator is not None and self._wraps_network(estimator) else None

    def _wraps_network(self, value: Op, depth: int = _DEEPEST) -> bool:
        if value.code in _GROUPS:
            return any(self._wraps_network(each, depth) for each in value.args)
        for made in self.made(value):
            if any(map(rows.WRAPS_KERAS, made.names)):
                return True
            apart = any(each.partition(".")[0] in rows.APART for each in made.names)
            given = made.op.arguments() if depth and apart and made.op.code == "call" else ()
            if any(self._wraps_network(each, depth - 1) for _, each in given):
                return True
        return False

    @cached_property
    def _fits_estimators(self) -> bool:
        """Whether the file imports classes of which objects are fitted and are no networks."""
        found = [each for each in imports(self._unit.text) if not (each.typed or each.level)]
        names = (f"{each.module}.{name}" for each in found for name in each.names or ("",))
        return any(map(rows.is_estimator, names))

    def _is_fit_of_keras(self, call: Op) -> bool:
        """Whether a call is given what Keras's ``fit`` takes, or on what the file compiles."""
        if any(keyword in rows.OF_KERAS_FIT for keyword, _ in call.arguments()):
            return True
        word = owner_written(call)
        compiled = (each for read in self._unit.reads("attr", "compile") for each in read.calls)
        return any(owner_written(each) == word for each in compiled)

    def _fitted(self, call: Op) -> list[str]:
        """The classes of what is fitted, of the file's own also the bases."""
        owner = call.args[0].args[0]
        above = "builtins.super" in self.called(owner)
        found = [f".{call.function.class_name}"] if above else [*self.classes(owner)]
        return self._with_bases(found)

    def _applies_gradients(self, call: Op) -> bool:
        """``optimizer.apply_gradients(pairs)``, which of a state in JAX takes ``grads=``; not in
        an optimizer's own method."""
        if next((name for name, _ in call.arguments()), "") is not None:
            return False
        own = call.function.word in ("apply_gradients", "minimize")
        used = self._all_imported
        return not own and not used.isdisjoint(rows.OF_KERAS) and used.isdisjoint(rows.OF_JAX)

    @cached_property
    def _library_of_trainers(self) -> str:
        """The library whose loop a trainer is, by what its file imports."""
        named = (name for bound in self._unit.imported.values() for name in bound)
        top, text = {each.partition(".")[0] for each in named}, self._unit.text
        if not top.isdisjoint(rows.OF_TORCH):
            return "torch"
        if not self._all_imported.isdisjoint(rows.OF_JAX):
            return "jax"
        if "torch" in text or "transformers" in text or self._imports_rllib:
            return "torch"
        return TRAINER if self._all_imported.isdisjoint(rows.OF_KERAS) else "keras"

    @cached_property
    def _all_imported(self) -> frozenset[str]:
        """The libraries that the file imports, within functions, too."""
        found = [each for each in imports(self._unit.text) if not each.typed]
        return frozenset(each.module.partition(".")[0] for each in found if not each.level)

    # What has weights

    def built(self, call: Op) -> str | None:
        """The library whose layers a call makes, or whose weights it draws."""
        names = self.called(call)
        if any(map(rows.BUILDS_KERAS, names)):
            return "keras" if self._is_new(call) else None
        known = (self._made_by(call, each) for each in names)
        found = next((each for each in known if each is not None), None)
        if found is not None:
            return found or None
        if not names and call.args[0].code == "attr" and word_of(call) in rows.FILLS:
            return "torch" if call.given("generator") is None else None
        if not names and self._is_picked(call):
            return "torch"
        return rows.UNSEEN if self._may_have_weights(call, names) else None

    def _made_by(self, call: Op, name: str) -> str | None:
        """The same of what is called by a name; "" for what draws nothing, None where one does not
        know."""
        owner, _, last = name.rpartition(".")
        if rows.GRAPH_WEIGHTS(plain_name(name)):
            given = [keyword for keyword, _ in call.arguments()]
            return "" if not rows.INITIALIZERS.isdisjoint(given) else "tensorflow"
        if rows.MODEL_MAKERS(name):
            return "" if self._is_trained(call) else "torch"
        if rows.NEW_HEADS(name):
            return "torch" if _has_new_head(call, name) else None
        if owner == "torch.nn.init":
            return "" if last in rows.FIXED else "torch"
        if owner.startswith("torch.nn"):
            return "torch" if last in rows.LAYERS and not self._is_filled(call) else ""
        graph = owner.startswith("torch_geometric.nn") and last in rows.GRAPH_LAYERS
        new = rows.NEW_WEIGHTS(name) and not _is_filled_later(call)
        return "torch" if graph or new or _is_configured(call, name) else None

    def _is_picked(self, call: Op) -> bool:
        """Whether a name picks what has weights out of a module: ``models.__dict__[arch]()``, and
        of torch, where activations are picked as well, ``getattr(nn, kind)(size, size)``."""
        made = call.args[0]
        if made.code == "item" and made.args[0].code == "attr" and made.args[0].name == "__dict__":
            owner = made.args[0].args[0]
        elif made.code == "call" and len(made.args) > 2 and word_of(made) == "getattr":
            owner = made.args[1]
        else:
            return False
        modules = self._unit.values.qualified(owner)
        if rows.MODULE_OF_MODELS in modules:
            return not self._is_trained(call)
        sizes = [name for name, _ in call.arguments() if name in (None, "*")]
        return "torch.nn" in modules and len(sizes) >= _SIZES

    def _is_new(self, call: Op) -> bool:
        """Whether a model of Keras is made of new layers, ``Model(inputs, outputs)``, and not of
        another one's, ``Model(net.input, net.layers[3].output)``, nor gets weights of a file."""
        given = call.given("inputs", 0), call.given("outputs", 1)
        made = all(each is not None and each.code != "attr" for each in given)
        return made and rows.FILLS_KERAS not in self._unit.text

    def _is_trained(self, call: Op) -> bool:
        """Whether a model comes with weights: ``resnet18(weights="DEFAULT")``."""
        named = word_of(call) in rows.BY_THEIR_NAME
        placed = [value for name, value in call.arguments() if name is None][named:]
        given = [*placed, *filter(None, map(call.given, rows.TRAINED))]
        return call.unpacks or not all(
            each.is_none or self._unit.values.constant(each) is False for each in given
        )

    def _may_have_weights(self, call: Op, names: list[str]) -> bool:
        """Whether it makes a layer of some library, as a part of a module, or a model that is
        trained."""
        if rows.OF_TORCH.isdisjoint(self._all_imported):
            return False
        if self._is_trained_model(call, names):
            return True
        if not (any(map(rows.may_have_weights, names)) if names else self._is_from_star(call)):
            return False
        kept = any(use.code == "store_attr" and use.args[0].is_self for use in call.uses)
        within = call.function.class_name if kept else ""
        return any(each.endswith("Module") for each in self._unit.qualified_bases(within)) or any(
            use.code == "attr" and use.name == "parameters" for use in call.uses
        )

    @staticmethod
    def _is_trained_model(call: Op, names: list[str]) -> bool:
        """Whether it makes an object of some library that is given to what trains, under the name
        of a model."""
        handed = any(
            use.code == "call" and use.args[0] is not call and word_of(use) in TRAINING_CALLS
            for use in call.uses
        )
        return (
            handed
            and any(map(rows.may_be_model, names))
            and any(is_network(each.rpartition(".")[2]) for each in call.function.names_of(call))
        )

    def _is_from_star(self, call: Op) -> bool:
        """Whether something of unknown origin, called as a layer of torch is, may be one of a
        library of which all names are imported."""
        function = call.args[0]
        return function.code == "global" and str(function.name) in rows.LAYERS

    def _is_filled(self, layer: Op) -> bool:
        """Whether constants overwrite all of a layer: ``nn.init.zeros_(self.out.weight)``."""
        filled = {
            each.name
            for each in layer.uses
            if each.code == "attr" and any(map(self._fills, each.uses))
        }
        return filled.issuperset(rows.TENSORS)

    def _fills(self, use: Op) -> bool:
        named = (name.rpartition(".") for name in self._unit.values.called(use))
        return any(owner == "torch.nn.init" and last in rows.FIXED for owner, _, last in named)


def _is_loader(argument: tuple[str | None, Op]) -> bool:
    """Whether an argument, or the variable that it is given, is called a loader."""
    keyword, value = argument
    said = (keyword or "", last_word(value), *value.function.names_of(value))
    return any("loader" in each.lower() for each in said)


def _says_classes(call: Op) -> bool:
    """Whether what loads a model is given its classes, or a configuration that is."""
    config = call.given("config")
    made = [config, *config.args] if config is not None else []
    given = [call, *(each for each in made if each.code == "call")]
    return any(each.given(name) is not None for each in given for name in rows.CLASSES)


def _has_new_head(call: Op, name: str) -> bool:
    """Whether a model is loaded of which the checkpoint lacks the head, by what the call says of
    its classes, which model it is, or of which kind."""
    given = call.args[1] if call.args[1:] else None
    model = given.constant if given is not None else ...
    if not isinstance(model, str):
        rare = model is ... and any(each in name for each in rows.RARE_HEADS)
        return rare or _says_classes(call)
    named = any(each in model.lower() for each in rows.TRAINED_HEADS)
    return rows.has_no_head(model) or (_says_classes(call) and not named)


def _is_filled_later(call: Op) -> bool:
    """``dense.linear.weight = Parameter(components)``."""
    kept = (use for use in call.uses if use.code == "attr" and use.name == rows.KEEPS_WEIGHTS)
    return any(use.code == "store_attr" for each in kept for use in each.uses)


def _is_configured(call: Op, name: str) -> bool:
    """``BertModel(BertConfig())``, whose weights are new."""
    return rows.OF_CONFIGURATION(name) and call.given("config", 0) is not None


def _works_out_gradient(function: Function) -> bool:
    """Whether a tape in a function only works out the gradient of an operator."""
    decorators = function.decorators
    custom = any(ast.unparse(each).endswith("custom_gradient") for each in decorators)
    return custom or (isinstance(function.node, ast.FunctionDef) and "grad" in function.node.name)
