"""What the readers of YAML, TOML and JSON make of a file once they have its trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.document import Document
from detlint.documents.flavours import flavour
from detlint.documents.manifests import launches, variables
from detlint.documents.tree import entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detlint.documents.document import Node
    from detlint.documents.tree import Branch
    from detlint.sources.source import Source


def document(
    source: Source, roots: Sequence[Branch], comments: Iterable[tuple[int, int]]
) -> Document:
    """A manifest gives variables and commands; a configuration whose library is recognised
    gives entries; of anything else nothing is known, and no rule is asked."""
    nodes: list[Node] = []
    found = ""
    for root in roots:
        launched = launches(source, root)
        if launched is not None:
            nodes += launched
            continue
        name = flavour(root)
        if name:
            found = found or name
            nodes += entries(root)
            # Megatron-LM's tests: a script exports these, and gives MODEL_ARGS as flags.
            nodes += variables(source, root.get("ENV_VARS"))
    return Document(source, nodes, comments, found)
