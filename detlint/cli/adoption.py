"""What a repository needs to use detlint, as fits what is there: nothing is overwritten.

Each part is an Addition, or in a line why there is none.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint import addresses, configuration
from detlint.errors import SettingsError
from detlint.index.folders import Folders
from detlint.index.modules import Modules
from detlint.index.requirements import pinned, requirements
from detlint.sources.paths import relative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Folders that hold other people's code, by their usual names.
_COPIED = ("third_party", "third-party", "thirdparty", "vendor", "vendored", "external", "extern")
_HOOKS = ".pre-commit-config.yaml"
_WORKFLOWS = os.path.join(".github", "workflows")
_PIPELINE = ".gitlab-ci.yml"
# Where other servers keep what they run: detlint writes no such file.
_OTHERS = {
    "Jenkinsfile": "Jenkins",
    "azure-pipelines.yml": "Azure Pipelines",
    "bitbucket-pipelines.yml": "Bitbucket",
    os.path.join(".circleci", "config.yml"): "CircleCI",
    os.path.join(".buildkite", "pipeline.yml"): "Buildkite",
}
# What our own hooks are given (.pre-commit-hooks.yaml).
_TYPES = "python, jupyter, shell, dockerfile, makefile, yaml, toml, json, cuda, c++"


class Addition(NamedTuple):
    """What a file holds, None where there is none yet, and what it is to hold."""

    path: str
    before: str | None
    after: str


class Plan(NamedTuple):
    """What is to be added, and what is told of the rest."""

    additions: list[Addition]
    notes: list[str]


def plan(root: str, *, pre_commit: bool = False, server: str = "") -> Plan:
    """What a repository lacks. ``pre_commit``, ``server`` (github, gitlab): also where it does
    not use them yet."""
    made = Plan([], [])
    parts: tuple[Callable[[], Addition | str], ...] = (
        lambda: _configuration(root),
        lambda: _hook(root, wanted=pre_commit),
        lambda: _pipeline(root, server),
    )
    for part in parts:
        found = part()
        if isinstance(found, Addition):
            made.additions.append(found)
        else:
            made.notes.append(found)
    if Modules(root, Folders()).has_own_guard(os.path.join(root, _HOOKS)):
        made.notes.append(
            "`guard` is this project's own: have detlint in an environment of its own"
        )
    return made


def write(addition: Addition) -> None:
    """Write one; raises OSError, also where the file is no longer as it was."""
    data = addition.after.encode()
    if addition.before is None:
        os.makedirs(os.path.dirname(addition.path) or os.curdir, exist_ok=True)
        with open(addition.path, "xb") as file:  # never over one that came in between
            file.write(data)
        return
    with open(addition.path, "rb") as file:
        if file.read() != addition.before.encode():
            raise OSError(0, "it has changed meanwhile")
    from detlint.fixes import applying

    applying.write(addition.path, data)


def _configuration(root: str) -> Addition | str:
    """Our table, in pyproject.toml if there is one."""
    try:
        known = configuration.nearest(root)
    except SettingsError as error:
        return f"{error}: mend it first"
    if known is not None:
        return f"{_named(known.path, root)} has the configuration already"
    shared = os.path.join(root, "pyproject.toml")
    lines = [_explained(), *_settings(root)]
    before = _read(shared)
    if before is not None:
        added = _ended(before, "\n".join(["[tool.detlint]", *lines]))
        if _is_same(_toml(before), _toml(added), "tool"):
            return Addition(shared, before, added)
    return Addition(os.path.join(root, "detlint.toml"), None, "\n".join([*lines, ""]))


def _explained() -> str:
    pages = addresses.address("Documentation")
    return f"# What can be set here: {pages}/settings.md" if pages else "# See detlint's README."


def _settings(root: str) -> Iterator[str]:
    release = next(iter(_pins(root)), "")
    if release:
        yield f'target-torch = "{release}"'
    copied = [each for each in _COPIED if os.path.isdir(os.path.join(root, each))]
    if copied:
        yield f"extend-exclude = {copied}".replace("'", '"')


def _pins(root: str) -> Iterator[str]:
    """The release of torch that the project asks for, if detlint knows it."""
    for written in pinned(requirements(root), "torch"):
        release = ".".join(written.split(".")[:2])
        with suppress(SettingsError):
            configuration.checked({"target-torch": release}, str, tuple)
            yield release


def _hook(root: str, *, wanted: bool) -> Addition | str:
    """An entry of .pre-commit-config.yaml, behind the others."""
    path = os.path.join(root, _HOOKS)
    before = _read(path)
    if before is None:
        if os.path.exists(path) or not wanted:
            return f"no {_HOOKS} here: --pre-commit writes one"
        return Addition(path, None, "repos:\n" + "".join(_entry("  ", "\n")))
    if "detlint" in before:
        return f"{_HOOKS} names detlint already"
    place = _end_of_list(before, "repos")
    if place is not None:
        offset, indent = place
        newline = _newline(before)
        head = before[:offset]
        head += "" if head.endswith("\n") else newline
        after = head + "".join(_entry(indent, newline)) + before[offset:]
        if _is_same(_yaml(before), _yaml(after), "repos"):
            return Addition(path, before, after)
    return "\n".join(
        [
            f"{_HOOKS} is written in a way that detlint does not extend. Add to its `repos`:",
            *(line.rstrip("\n") for line in _entry("  ", "\n")),
        ]
    )


def _entry(indent: str, newline: str) -> Iterator[str]:
    if revision := addresses.revision():
        lines = [f"- repo: {addresses.address('Repository')}", f"  rev: {revision}", "  hooks:"]
        lines.append("    - id: detlint")
    else:
        lines = [
            *("- repo: local", "  hooks:", "    - id: detlint", "      name: detlint"),
            "      entry: detlint --force-exclude --staged",
            "      language: system  # the detlint that is installed",
            f"      types_or: [{_TYPES}]",
            "      require_serial: true",
        ]
    return (f"{indent}{line}{newline}" for line in lines)


def _pipeline(root: str, server: str) -> Addition | str:
    """A step of the repository's CI, in a file or a job of its own."""
    workflows, pipeline = os.path.join(root, _WORKFLOWS), os.path.join(root, _PIPELINE)
    if server == "github" or (not server and os.path.isdir(workflows)):
        return _workflow(workflows)
    if server == "gitlab" or (not server and os.path.isfile(pipeline)):
        return _job(pipeline)
    for file, name in _OTHERS.items():
        if os.path.isfile(os.path.join(root, file)):
            install = f'pip install "{addresses.requirement()}"'
            return f"{name} runs what {file} says: add `{install}` and `detlint .` there"
    return "no CI that detlint knows is set up here: --ci github and --ci gitlab write a step"


def _workflow(folder: str) -> Addition | str:
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith((".yml", ".yaml")) and "detlint" in (
            _read(os.path.join(folder, name)) or ""
        ):
            return f"{os.path.join(_WORKFLOWS, name)} runs detlint already"
    return Addition(
        os.path.join(folder, "detlint.yml"),
        None,
        f"""\
name: detlint
on:
  push:
  pull_request:
permissions:
  contents: read
jobs:
  detlint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {{python-version: "3.12"}}
      - run: pip install "{addresses.requirement()}"
      - run: detlint .
""",
    )


def _job(path: str) -> Addition | str:
    before = _read(path)
    if before is not None and "detlint" in before:
        return f"{_PIPELINE} runs detlint already"
    known = _yaml(before or "") or {}
    stages = known.get("stages") if isinstance(known, dict) else None
    lines = ["detlint:"]
    if isinstance(stages, list) and stages and "test" not in stages:
        lines.append(f"  stage: {stages[0]}")
    lines += [
        "  image: python:3.12",
        "  script:",
        f"    - pip install '{addresses.requirement()}'",
        "    - detlint --output-format text --output-format gitlab=detlint.json .",
        "  artifacts:",
        "    when: always",
        "    reports: {codequality: detlint.json}",
    ]
    after = _ended(before or "", "\n".join(lines))
    if before is None or _is_same(_yaml(before), _yaml(after), "detlint"):
        return Addition(path, before, after)
    return "\n".join(
        [f"{_PIPELINE} is written in a way that detlint does not extend. Add:", *lines]
    )


def _ended(before: str, added: str) -> str:
    """A text with lines at its end, a blank one between."""
    newline = _newline(before)
    text = before if not before or before.endswith("\n") else before + newline
    blank = newline if text else ""
    return text + blank + newline.join([*added.split("\n"), ""])


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _is_same(before: Any, after: Any, key: str) -> bool:  # noqa: ANN401 - whatever a file may hold
    """Whether two documents differ below one key alone, if there, by what it has more."""
    if not isinstance(after, dict) or key not in after:
        return False
    rest = {name: value for name, value in after.items() if name != key}
    old = before if isinstance(before, dict) else {}
    own, new = old.get(key), after[key]
    if {name: value for name, value in old.items() if name != key} != rest:
        return False
    if isinstance(own, list):
        return isinstance(new, list) and new[: len(own)] == own and len(new) == len(own) + 1
    return own is None or {each: new[each] for each in own} == own


def _end_of_list(text: str, key: str) -> tuple[int, str] | None:
    """The offset behind the last item of a list that stands at the top of a document, a line an
    item, and how far in the items are."""
    import yaml

    try:
        document = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    for name, items in getattr(document, "value", ()) or ():
        if name.value == key and isinstance(items, yaml.SequenceNode) and not items.flow_style:
            if not items.value:
                return None
            last = items.value[-1].end_mark.index
            # A block ends where the next thing begins: what is blank or a comment is not its.
            kept = text[:last].splitlines(keepends=True)
            while kept and (not kept[-1].strip() or kept[-1].lstrip().startswith("#")):
                kept.pop()
            return len("".join(kept)), " " * items.start_mark.column
    return None


def _toml(text: str) -> dict[str, Any] | None:
    try:
        return configuration.parse(text.encode(), "pyproject.toml").content
    except SettingsError:
        return None


def _yaml(text: str) -> Any:  # noqa: ANN401 - whatever a file may hold
    """What a document holds, None if it is none; tags of others stand for their values."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def plain(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> object:
        if isinstance(node, yaml.ScalarNode):
            return loader.construct_scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]

    Loader.add_multi_constructor("!", plain)
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a safe loader, with tags as text
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _read(path: str) -> str | None:
    """The text of a file as it stands, None where there is none, or none in UTF-8."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def _named(path: str, root: str) -> str:
    seen = relative(path, root)
    return path if seen.startswith(os.pardir) else seen
