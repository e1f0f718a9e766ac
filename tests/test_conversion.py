"""libcst's nodes made from Python's own tree: the same nodes, at the same places."""

from __future__ import annotations

import sysconfig
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst
import pytest

from detlint.conversion import Converted, UnsupportedError
from detlint.layout import layout_of
from detlint.spans import Spans
from detlint.tree import _LAYOUT, children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
OWN = sorted((ROOT / "detlint").rglob("*.py"))[::6] + sorted((ROOT / "tests").glob("*.py"))[::9]
# Python's own tests of its grammar, where they are installed.
LIBRARY = Path(sysconfig.get_path("stdlib"), "test")
GRAMMAR = [
    LIBRARY / f"test_{name}.py"
    for name in ("grammar", "fstring", "generators", "named_expressions", "with", "raise")
]
# What a node is beside the nodes below it.
_SAID = (str, int, type(None), cst.MaybeSentinel)
_OTHER = {
    *("default_indent", "default_newline", "encoding", "has_trailing_newline", "indent"),
    "posonly_ind",
}

EVERY = r"""
from __future__ import annotations
from . import (a as b, c,)
from ..d.e import *
import f, g.h, i.j as k

class A: pass
class A(b, *c, k=1, **l):
    x: int = 0x1_0
    y: "str"
    @c
    @c.d(1)
    async def f(self, /, a, b: int = 2, *c, d=(1), e: str, **g) -> x: return a.b [1:2, ...] ; pass
    def g(*, a): ...
    def h(self): yield; yield 1; x = yield from a; await b
try:
  x = y = {**a, 'b': [*c]} if not d else lambda: (yield)
except (E, F) as e:
 raise
except: raise E from e
else: pass
finally:
    pass; pass;
while a and b and c or not d: break
else:
    continue
for a, *b in c, *d: pass
async def f():
    async for a in b:
        async with a as (b, c), d: pass
    return [a async for a in b if c if d for e in f]
with (a): pass
with (a as b, c as d,): pass
with a, b as c.d: global x, y
if a: pass
elif b:
    pass
else:
    if c: pass
if a:
    pass
elif b: pass
del a
del a,
del (a, b), c[d]
del (a, b)
assert a, b
a += 1; a @= b; a //= c; a **= d; a >>= e; a <<= f; a &= g; a ^= h; a |= i
a = - + ~ b ** c // d @ e % f << g >> h & i ^ j | k
a = b < c <= d == e != f is g is not h in i not in j > k >= l
a = (b, c), (d), (), (e,)
a = b[c], b[c,], b[(c, d)], b[(c), (d)], b[c:d:e, ::], b[()], b[(c, d),], b[(c, d), e]
a = [], [b], {c}, {}, {d: e, **f}, (g for h in i), {j for k in l}, {m: n for o in p}
a = f(b for c in d)(*e, g=h, *i, **j)
a = 1, 1.5, 2j, 0b1, 1e5, ..., None, True, False
a = 'b', r"c\"", b'''d''', u"e", "", '', "f" 'g', "h\n" "i", ("j"
     # k
     'l')
a = f'{a!r:>{b}}', f"{c:{d}.{e}}" "g", f"{h=}", rb'\''
a = (b := c), (lambda *d, e=1, **f: g), (lambda: h), not i, (j if k else l)
a = (  # b
     c, d  # e
    )
a = ( b . c ) . d ( ( e ) ) [ f ]
"""


def same(text: str) -> None:
    """Whether a text's tree is what libcst makes of it, node by node."""
    made, own = Converted(text), cst.parse_module(text)
    spans = Spans(own)
    pairs = zip(walk(made.module), walk(own), strict=True)
    for mine, theirs in pairs:
        assert type(mine) is type(theirs), own.code_for_node(theirs)
        assert dict(said(mine)) == dict(said(theirs)), own.code_for_node(theirs)
        found = made.span(mine)
        assert found in (None, spans.find(theirs)), own.code_for_node(theirs)


def said(node: cst.CSTNode) -> Iterator[tuple[str, object]]:
    """What a node says by itself, and how many are below it in each field."""
    below = {id(each) for each in children(node)}
    for field in fields(node):
        value = getattr(node, field.name)
        if field.name in ("operator", "asynchronous"):
            yield field.name, type(value)
        elif field.name.startswith("whitespace") or field.name in _LAYOUT | _OTHER:
            continue
        elif isinstance(value, _SAID):
            yield field.name, value
        elif isinstance(value, (list, tuple)) and any(id(each) in below for each in value):
            yield field.name, len(value)


@pytest.mark.parametrize(
    "text",
    [EVERY, EVERY.replace("\n", "\r\n"), EVERY.replace("'b'", "'é𝔢'").replace('"e"', '"ß"')],
    ids=["plain", "CRLF", "not ASCII"],
)
def test_every_kind_of_syntax(text: str) -> None:
    same(text)


@pytest.mark.parametrize("path", OWN, ids=lambda each: f"{each.parent.name}/{each.name}")
def test_own_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    layout = layout_of(text)
    same("".join(layout.text[start:end] for start, end in layout.code(0, len(text))))


@pytest.mark.parametrize("path", GRAMMAR, ids=lambda each: each.stem)
def test_files_about_grammar(path: Path) -> None:
    if not path.exists():
        pytest.skip("Python's own tests are not installed")
    try:
        same(path.read_text(encoding="utf-8"))
    except UnsupportedError as error:
        pytest.skip(f"left to libcst: {error}")
    except cst.ParserSyntaxError as error:
        pytest.skip(f"libcst does not read it: {error.message}")


@pytest.mark.parametrize(
    "text",
    [
        "match a:\n    case 1: pass\n",
        "if a: \\\n  b\n",
        "ª = 1\n",
        "print 'a'\n",
        "a = '\ud800'\n",
        "a = " + "(" * 300 + "b" + ")" * 300 + "\n",
    ],
    ids=["match", "continued", "name", "Python 2", "surrogate", "deep"],
)
def test_what_is_rare_or_no_python_is_left_to_libcst(text: str) -> None:
    with pytest.raises(UnsupportedError):
        Converted(text)


def test_words_of_other_nodes_have_places() -> None:
    text = textwrap.dedent("""
        async  def n(a, *, b: c = d, **e):
            return f.g(h=i)
        class \\
              J(k=l): pass
    """)
    made = Converted(text)
    names = [each for each in walk(made.module) if isinstance(each, cst.Name)]
    spans = filter(None, map(made.span, names))
    assert [text[slice(*each)] for each in spans] == [*"nabcdefghiJkl"]
