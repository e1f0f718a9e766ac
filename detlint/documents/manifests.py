"""Manifests that start programs: compose files, GitHub workflows, Kubernetes and SkyPilot.

They give the variables that they set, and the command lines that they run with those. An
expression of the manifest's own (``${{ matrix.seed }}``, ``$(POD_NAME)``) is not known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.documents.document import Command, Variable, Word
from detlint.documents.scalars import places
from detlint.documents.shell_scripts import takes_text
from detlint.documents.tree import Branch, Item, Leaf, is_known
from detlint.sources.kinds import interpreted_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from detlint.documents.tree import Tree
    from detlint.sources.source import Source

    _Fits = Callable[[Branch], bool]
    _Reads = Callable[["_Manifest", Branch], Iterator[Variable | Command]]

_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
_SHELLS = ("", "bash", "sh")
_WORKLOADS = frozenset(
    (
        *("Pod", "Job", "CronJob", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"),
        *("PyTorchJob", "TFJob", "MPIJob", "JAXJob", "PaddleJob", "XGBoostJob", "TrainJob"),
        *("JobSet", "RayJob", "RayCluster", "LeaderWorkerSet", "VolcanoJob", "Workflow"),
        *("ClusterTrainingRuntime", "TrainingRuntime", "PodTemplate"),
    )
)
# A manifest's containers lie at most so deep.
_DEPTH = 16


def launches(source: Source, root: Branch) -> list[Variable | Command] | None:
    """The variables and commands of a manifest; None for another document."""
    for fits, read in _KINDS:
        if fits(root):
            # What an alias repeats is there once.
            return list({repr(each): each for each in read(_Manifest(source), root)}.values())
    return None


def variables(source: Source, node: Tree | None) -> list[Variable]:
    """A mapping of variables, in whatever document."""
    return _Manifest(source).variables(node)


class _Manifest:
    """What all of them have: mappings of variables, scripts, and command lines in lists."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def variables(self, node: Tree | None) -> list[Variable]:
        """``NAME: value``, ``- NAME=value`` or ``- {name: NAME, value: value}``."""
        if not isinstance(node, Branch):
            return []
        found = [self._variable(item, is_list=node.is_list) for item in node.items.values()]
        return [each for each in found if each is not None]

    def _variable(self, item: Item, *, is_list: bool) -> Variable | None:
        node = item.node
        if isinstance(node, Branch):
            return self._named(node) if is_list else None
        if not is_list:
            return self._set(item.key, item.key_start, node)
        name, equals, value = node.text.partition("=")
        where = places(self._source.text, node)
        if not equals or not name.isidentifier() or where is None:
            return None
        start = where[len(name) + 1]
        return Variable(node.start, node.end, name, _told(value), start, where[-1])

    def _named(self, node: Branch) -> Variable | None:
        name, value = node.get("name"), node.get("value")
        if not isinstance(name, Leaf):
            return None
        if not isinstance(value, Leaf):  # valueFrom
            return Variable(name.start, name.end, name.text, None, name.end, name.end)
        return self._set(name.text, name.start, value)

    def _set(self, name: str, start: int, leaf: Leaf) -> Variable:
        # Text as it is written: true for a boolean, 1_000 for a number.
        known = leaf.known and not (leaf.value is None and not leaf.style)
        value = _told(leaf.text) if known else None
        return Variable(min(start, leaf.start), leaf.end, name, value, leaf.start, leaf.end)

    def script(
        self, node: Tree | None, environment: Mapping[str, str | None]
    ) -> list[Variable | Command]:
        """Shell text."""
        if not isinstance(node, Leaf) or not isinstance(node.value, str):
            return []
        from detlint.documents.shell import parse

        # As long as it was, so that every place stays.
        text = _EXPRESSION.sub(lambda match: "$" + "_" * (len(match[0]) - 1), node.text)
        where = places(self._source.text, node)
        return parse(text, environment=environment, places=where) if where else []

    def arguments(
        self, nodes: list[Tree | None], environment: Mapping[str, str | None]
    ) -> list[Variable | Command]:
        """A command line in lists of arguments; the text behind ``sh -c`` is a script."""
        leaves = [leaf for node in nodes for leaf in _leaves(node)]
        texts = [leaf.text for leaf in leaves]
        if not leaves:
            return []
        if interpreted_by(texts[0].partition(" ")[0]) == "shell":
            for index, text in enumerate(texts[1:-1], start=1):
                if takes_text(text):
                    return self.script(leaves[index + 1], environment)
        words = tuple(Word(leaf.start, leaf.end, _told(leaf.text)) for leaf in leaves)
        return [Command(words[0].start, words[-1].end, words, environment)]

    def line(
        self, nodes: list[Tree | None], environment: Mapping[str, str | None]
    ) -> list[Variable | Command]:
        """A command line in lists, or in one text."""
        given = [node for node in nodes if node is not None]
        if len(given) == 1 and isinstance(given[0], Leaf):
            return self.script(given[0], environment)
        return self.arguments(nodes, environment)


def _told(text: str) -> str | None:
    return text if is_known(text) and not text.startswith("$") else None


def _leaves(node: Tree | None) -> list[Leaf]:
    if isinstance(node, Leaf):
        return [node]
    items = node.items.values() if isinstance(node, Branch) and node.is_list else ()
    return [item.node for item in items if isinstance(item.node, Leaf)]


def _values(variables: list[Variable]) -> dict[str, str | None]:
    return {each.name: each.value for each in variables}


# compose


def _is_compose(root: Branch) -> bool:
    """``services`` whose members have an image, or say how to build one."""
    services = list(root.branch("services").branches())
    own = {"image", "build", "environment", "command", "entrypoint", "extends"}
    return bool(services) and all(own & set(service.items) for service in services)


def _compose(manifest: _Manifest, root: Branch) -> Iterator[Variable | Command]:
    for service in root.branch("services").branches():
        variables = manifest.variables(service.get("environment"))
        yield from variables
        parts = [service.get("entrypoint"), service.get("command")]
        yield from manifest.line(parts, _values(variables))


# GitHub workflows


def _is_workflow(root: Branch) -> bool:
    """``jobs`` with steps, or an action's ``runs`` with steps."""
    jobs = list(root.branch("jobs").branches())
    # YAML 1.1 reads the key `on` as text all the same.
    called = any("steps" in job.items or "uses" in job.items for job in jobs)
    return ("on" in root.items and called) or bool(root.branch("runs", "steps").items)


def _workflow(manifest: _Manifest, root: Branch) -> Iterator[Variable | Command]:
    everywhere = manifest.variables(root.get("env"))
    yield from everywhere
    yield from _steps(manifest, root.branch("runs"), root, _values(everywhere))
    for job in root.branch("jobs").branches():
        variables = manifest.variables(job.get("env"))
        yield from variables
        yield from _steps(manifest, job, root, _values(everywhere + variables))


def _steps(
    manifest: _Manifest, job: Branch, root: Branch, environment: dict[str, str | None]
) -> Iterator[Variable | Command]:
    usual = job.text("defaults", "run", "shell") or root.text("defaults", "run", "shell")
    for step in job.branch("steps").branches():
        variables = manifest.variables(step.get("env"))
        yield from variables
        shell = step.text("shell") or usual
        if shell.partition(" ")[0] in _SHELLS:
            yield from manifest.script(step.get("run"), {**environment, **_values(variables)})


# Kubernetes


def _is_kubernetes(root: Branch) -> bool:
    """``apiVersion`` and a ``kind`` that runs containers."""
    return "apiVersion" in root.items and root.text("kind") in _WORKLOADS


def _kubernetes(manifest: _Manifest, root: Branch) -> Iterator[Variable | Command]:
    for container in _containers(root):
        variables = manifest.variables(container.get("env"))
        yield from variables
        command, arguments = container.get("command"), container.get("args")
        if command is None and arguments is not None:  # the program is the image's
            command = Leaf(arguments.start, arguments.start, None, "$", known=False)
        yield from manifest.arguments([command, arguments], _values(variables))


def _containers(root: Branch) -> Iterator[Branch]:
    seen: set[int] = set()
    stack = [(root, 0)]
    while stack:
        branch, depth = stack.pop()
        if id(branch) in seen or depth > _DEPTH:
            continue
        seen.add(id(branch))
        for key, item in branch.items.items():
            if not isinstance(item.node, Branch):
                continue
            if key in ("containers", "initContainers"):
                yield from item.node.branches()
            elif key in ("trainer", "container"):  # of a TrainJob, of an Argo template
                yield item.node
            else:
                stack.append((item.node, depth + 1))


# SkyPilot


def _is_skypilot(root: Branch) -> bool:
    """A ``run`` script beside ``resources``, ``setup``, ``envs`` or ``num_nodes``."""
    own = {"resources", "setup", "envs", "num_nodes", "file_mounts"}
    return isinstance(root.get("run"), Leaf) and len(own & set(root.items)) >= 2


def _skypilot(manifest: _Manifest, root: Branch) -> Iterator[Variable | Command]:
    variables = manifest.variables(root.get("envs"))
    yield from variables
    for name in ("setup", "run"):
        yield from manifest.script(root.get(name), _values(variables))


_KINDS: tuple[tuple[_Fits, _Reads], ...] = (
    (_is_kubernetes, _kubernetes),
    (_is_workflow, _workflow),
    (_is_compose, _compose),
    (_is_skypilot, _skypilot),
)
