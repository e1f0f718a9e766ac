"""Code whose output is for people to read: what it shows does not change what a run computes."""

from __future__ import annotations

import re

from detlint.analysis.conditions import Conditions, call_word
from detlint.analysis.uses import words
from detlint.models.names import words_of
from detlint.rule import cst
from detlint.scope import dotted

_TELLING = words("add_argument add_parser debug error fail info secho warn warning")
_TELLING_WORDS = words("echo pprint print")
_DESCRIBING = words("__format__ __repr__ __rich_repr__ __str__ _repr_html_ extra_repr")
_SHOWN = ("sys.stdout", "sys.stderr")
# Parts of a window, in which a person picks: `gr.Dropdown(names)`, `combo_box.addItems(names)`.
_WIDGETS = re.compile(
    r"dropdown|(?:combo|list|select|populate)_?box|list_?widget|napari", re.IGNORECASE
)
# A text that begins where the line begins.
_BAR = re.compile(r"f?[\"']{1,3}\\r")
_WINDOWS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:gradio|streamlit)\b", re.MULTILINE)


class Messages(Conditions):
    """As ``Conditions``; what is printed is a message, too, and so is what describes an object."""

    def is_diagnostic(self, node: cst.CSTNode) -> bool:
        return super().is_diagnostic(node) or self._describes(node) or self._is_raised(node)

    def is_log(self, call: cst.Call) -> bool:
        return super().is_log(call) or self._tells(call) or self._draws_bar(call)

    def is_shown(self, node: cst.Yield) -> bool:
        """``yield "".join(messages)``, which ``gradio`` shows in a window."""
        joined = isinstance(node.value, cst.Call) and call_word(node.value) == "join"
        return joined and _WINDOWS.search(self._module.source.text) is not None

    def _tells(self, call: cst.Call) -> bool:
        """``print(x)``, ``click.echo(x)``, ``msg.info(x)``; what is printed to a file is saved."""
        file = self._module.argument(call, "file")
        if file is not None and self._module.qualified_name(file) not in _SHOWN:
            return False
        word = call_word(call)
        method = isinstance(call.func, cst.Attribute)
        owner = dotted(call.func.value) or "" if isinstance(call.func, cst.Attribute) else ""
        if _WIDGETS.search(word) or _WIDGETS.search(owner.rpartition(".")[2]):
            return True
        return (method and word in _TELLING) or not _TELLING_WORDS.isdisjoint(words_of(word))

    def _draws_bar(self, call: cst.Call) -> bool:
        """Whether a line is written over the one before: it begins with a carriage return."""
        if self._module.called(call) not in ("sys.stdout.write", "sys.stderr.write"):
            return False
        start = self._module.tree.span(call.args[0])[0] if call.args else 0
        return _BAR.match(self._module.source.text, start) is not None

    def _is_raised(self, node: cst.CSTNode) -> bool:
        """``message += f"did you mean {names[0]}?"``, and then ``raise ValueError(message)``."""
        around = (x for x in self._module.ancestors(node) if isinstance(x, cst.BaseSmallStatement))
        statement = next(around, None)
        target = statement.target if isinstance(statement, cst.AugAssign) else None
        if isinstance(statement, cst.Assign) and _is_text(statement.value):
            target = statement.targets[0].target
        if statement is None or not isinstance(target, cst.Name):
            return False
        reads = list(self._reads.reached(target, statement))
        return bool(reads) and all(map(super().is_diagnostic, reads))

    def _describes(self, node: cst.CSTNode) -> bool:
        function = self._module.enclosing_function(node)
        return isinstance(function, cst.FunctionDef) and function.name.value in _DESCRIBING


def _is_text(node: cst.CSTNode) -> bool:
    """``f"{x}"``, ``"{}".format(x)``."""
    func = node.func if isinstance(node, cst.Call) else None
    owner = func.value if isinstance(func, cst.Attribute) else node
    return isinstance(owner, cst.BaseString)
