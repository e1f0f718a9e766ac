"""Values of a shell that differ from run to run: ``$RANDOM``, ``$(date +%s)``, ``$$``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.shell_tree import Tree, preorder
from detlint.models import shell as rows

if TYPE_CHECKING:
    from tree_sitter import Node

# In front of a value, so that a shell takes it for one: a command that does nothing.
_COLON = ": "
_SUBSTITUTIONS = frozenset(("command_substitution", "arithmetic_expansion"))
_EXPANSIONS = frozenset(("simple_expansion", "expansion"))
_NAMES = frozenset(("variable_name", "special_variable_name"))
_DEFAULTS = frozenset((":-", "-", ":=", "="))


class Entropy(NamedTuple):
    """An expansion that differs from run to run, and what it comes from."""

    start: int
    end: int
    what: str
    optional: bool  # only where nothing else is given: ${SEED:-$RANDOM}


def entropy(raw: str, *, seeded: bool) -> Entropy | None:
    """The first such expansion in a value as a script spells it; ``seeded``: bash's generator
    starts from a value that the script gives it."""
    if "$" not in raw and "`" not in raw:
        return None
    tree = Tree(_COLON + raw, -len(_COLON))
    unknown = rows.UNKNOWN.keys() - ({"RANDOM"} if seeded else set())
    for node in preorder(tree.root):
        what = ""
        if node.type in _SUBSTITUTIONS:
            what = _told(tree, node, unknown)
        elif node.type in _EXPANSIONS:
            what = _meant(tree, node.children[1:2], unknown)
        elif node.type == "$" and tree.text(node) == "$$":  # behind other letters
            what = rows.UNKNOWN["$"]
        if what:
            return Entropy(tree.start(node), tree.end(node), what, _is_default(node))
    return None


def variable_of(raw: str) -> str:
    """The variable that a value consists of: ``$SEED``, ``${SEED:-1}``; "" for another value."""
    if not raw.startswith("$") or raw.count("$") > 1:
        return ""
    tree = Tree(_COLON + raw)
    command = tree.root.named_children[0]
    value = command.named_children[-1] if command.named_child_count == 2 else command
    if value.type not in _EXPANSIONS:
        return ""
    plain = all(each.type != "subscript" for each in value.children)
    return tree.text(value.children[1]) if plain and value.children[1].type in _NAMES else ""


def _told(tree: Tree, node: Node, unknown: set[str]) -> str:
    """What a substitution takes its value from: names stand in arithmetic without a mark."""
    inside = list(preorder(node))
    if node.type == "arithmetic_expansion" and (found := _meant(tree, inside, unknown)):
        return found
    commands = (
        [tree.text(each) for each in command.children]
        for command in inside
        if command.type == "command"
    )
    return next(filter(None, (rows.drawn_by(words) for words in commands)), "")


def _meant(tree: Tree, nodes: list[Node], unknown: set[str]) -> str:
    names = (tree.text(each) for each in nodes if each.type in _NAMES)
    return next((rows.UNKNOWN[name] for name in names if name in unknown), "")


def _is_default(node: Node) -> bool:
    above = node.parent
    while above is not None:
        if above.type == "expansion" and any(each.type in _DEFAULTS for each in above.children):
            return True
        above = above.parent
    return False
