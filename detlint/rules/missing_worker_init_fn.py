"""DET201 missing-worker-init-fn."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.insertions import with_import
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.finding import Edit

_TORCH = frozenset(
    (
        "torch.utils.data.DataLoader",
        "torch.utils.data.dataloader.DataLoader",
        "torchdata.stateful_dataloader.StatefulDataLoader",
        "torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader",
    )
)
# Loaders of other libraries that hand their keywords on to torch's.
_DERIVED = re.compile(
    r"""(?: torch_geometric\.(?:loader|data)(?:\.\w+)?\.(?:
            (?:Data|DataList|DenseData|TemporalData)Loader
          | (?:Neighbor|LinkNeighbor|HGT|Cluster|RandomNode|Node|Link|Zip|IBMBBatch|IBMBNode)Loader
          | (?:GraphSAINT(?:Node|Edge|RandomWalk)?Sampler|ShaDowKHopSampler)
        )
      | (?:litdata|lightning\.data|lightning\.pytorch\.data)(?:\.streaming)?(?:\.dataloader)?
        \.StreamingDataLoader
    )""",
    re.VERBOSE,
)
# Their places in the signature of torch's DataLoader.
_NUM_WORKERS, _WORKER_INIT_FN = 5, 10


class MissingWorkerInitFn(Rule):
    """Why runs differ: Each worker of a `DataLoader` is a process with its own copy of the dataset.
    In it, torch seeds `random`, torch and, since 1.9, NumPy's global generator. It seeds no
    generator object that the dataset holds: each worker draws the same numbers from its copy. It
    seeds no other library either.

    Reported:
    - *certain*: the dataset's class is seen, and draws in a worker from a generator object that it
      holds
    - *certain*: the class is seen, and draws in a worker from a library that torch does not seed
    - *likely*: the class is not seen, and the loader shuffles

    Lowers the confidence:
    - the class is not seen, and the loader does not shuffle: reported as *possible*

    Not reported:
    - a dataset that draws nothing
    - one that draws only from `random`, torch and NumPy's global generator
    - a loader with a `worker_init_fn`, or without workers

    What to do: Ask for the generator in the worker: `guard.generator("augmentation")` in
    `__getitem__`. If the dataset holds such a generator, pass `worker_init_fn=guard.seed_worker`,
    which starts it anew in a forked worker. For other generators, pass a function that seeds them
    from `torch.utils.data.get_worker_info().seed`.

    Fix safety: unsafe. `guard.seed_worker` changes the numbers that the workers draw. It does not
    reach generator objects of another kind.
    """

    code = "DET201"
    summary = "a DataLoader with workers and no worker_init_fn"
    # The last three lie where a subclass is defined; the first is at the calls themselves.
    triggers = ("num_workers", "worker_init_fn", "DataLoader", "StatefulDataLoader")
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader"
    shown = "CPU"
    confidence = Confidence.LIKELY
    examples = (
        Example(
            bad="""
                from torch.utils.data import DataLoader

                loader = DataLoader(dataset, batch_size=32, num_workers=4)  # DET201
            """,
            fixed="""
                from torch.utils.data import DataLoader
                import guard

                loader = DataLoader(dataset, batch_size=32, num_workers=4, worker_init_fn=guard.seed_worker)
            """,  # noqa: E501
        ),
    )

    def visit_Call(self, node: cst.Call) -> None:
        loader = self._loader(node)
        if loader is None or self.module.has_unpacking(node):
            return
        name, plain = loader
        workers = self.module.argument(node, "num_workers", _NUM_WORKERS if plain else None)
        given = self.module.argument(node, "worker_init_fn", _WORKER_INIT_FN if plain else None)
        if workers is None or not self._may_be_positive(workers):
            return
        if (given is not None and self.module.literal(given) is not None) or self._set_later(node):
            return
        written = self.module.tree.text(workers).split("\n")[0]
        self.report(
            node,
            f"{name} with num_workers={written} has no worker_init_fn: {self._seeded()}",
            advice="pass worker_init_fn=guard.seed_worker, or a function that seeds the rest",
            edits=self._fix(node, given),
            safe=False,
        )

    def _seeded(self) -> str:
        """What torch does for a worker, and what it leaves to the user."""
        if self.settings.target_torch < (1, 9):
            return "before 1.9 torch seeds random and torch in a worker, but not NumPy"
        return (
            "in a worker torch seeds random, torch and (since 1.9) NumPy's global generator, "
            "but not generator objects held by the dataset, nor other libraries"
        )

    def _may_be_positive(self, workers: cst.BaseExpression) -> bool:
        value = self.module.literal(workers)
        if isinstance(value, (int, float)):
            return value > 0
        return value is not None and not isinstance(value, str)

    def _loader(self, call: cst.Call) -> tuple[str, bool] | None:
        """The name of the loader class that a call builds, and if its signature is torch's."""
        if _is_super_init(call):
            owner = self.module.enclosing_class(call)
            base = self._loader_base(owner) if owner is not None else None
            return base and (f"{base[0]}.__init__()", base[1])
        name = self.module.called(call)
        if name is None:
            return self._subclass(call)
        if name in _TORCH or _DERIVED.fullmatch(name):
            return f"{name.rpartition('.')[2]}()", name in _TORCH
        return None

    def _loader_base(self, owner: cst.ClassDef) -> tuple[str, bool] | None:
        for base in owner.bases:
            name = self.module.qualified_name(base.value) or ""
            if name in _TORCH or _DERIVED.fullmatch(name):
                return name.rpartition(".")[2], name in _TORCH
        return None

    def _subclass(self, call: cst.Call) -> tuple[str, bool] | None:
        """The class of this file that a call builds, if it hands a worker_init_fn on."""
        owner = self.module.names.definition(call.func)
        if not isinstance(owner, cst.ClassDef):
            return None
        base = self._loader_base(owner)
        if base is None:
            return None
        name = owner.name.value
        # Read as text: what a region leaves out of the class has to count as well.
        text = self.module.source.text
        pattern = rf"^([ \t]*)class {name}\b.*?(?=^\1[^\s)]|\Z)"
        match = re.search(pattern, text, re.MULTILINE | re.DOTALL)
        body = match[0] if match else text
        init = re.search(r"def __init__\((.*?)\)\s*(?:->[^:]*)?:", body, re.DOTALL)
        if "worker_init_fn" in body or (init and "**" not in init[1]):
            return None
        return f"{name}()", base[1] and init is None

    def _set_later(self, call: cst.Call) -> bool:
        """Whether the function assigns ``loader.worker_init_fn``."""
        around = self.module.enclosing_function(call) or self.module.tree.module
        return id(around) in self._setting

    @cached_property
    def _setting(self) -> set[int]:
        """What holds an assignment to ``worker_init_fn``, by identity."""
        found: set[int] = set()
        for name in self.module.tree.occurrences.get("worker_init_fn", ()):
            attribute = self.module.parent(name)
            target = self.module.parent(attribute) if attribute is not None else None
            if isinstance(attribute, cst.Attribute) and isinstance(target, cst.AssignTarget):
                found.update(map(id, self.module.ancestors(target)))
        return found

    def _fix(self, call: cst.Call, given: cst.BaseExpression | None) -> tuple[Edit, ...]:
        if given is not None:
            edit = self.module.replace(given, "guard.seed_worker")
        else:
            edit = self.module.add_argument(call, "worker_init_fn=guard.seed_worker")
        return with_import(self.module.source, "guard", edit)


def _is_super_init(call: cst.Call) -> bool:
    return (
        isinstance(call.func, cst.Attribute)
        and call.func.attr.value == "__init__"
        and isinstance(call.func.value, cst.Call)
        and isinstance(call.func.value.func, cst.Name)
        and call.func.value.func.value == "super"
    )
