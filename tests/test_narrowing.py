"""Narrowing keeps what a rule needs, in place, and nothing else."""

from __future__ import annotations

import textwrap

import pytest

from detlint.narrowing import narrow, whole


def kept(text: str, token: str, scope: str = "function") -> tuple[str, str]:
    """The dedented text, and what is left of it around each occurrence of a token."""
    text = textwrap.dedent(text).lstrip("\n")
    hits = [(i, scope) for i in range(len(text)) if text.startswith(token, i)]
    region = narrow(text, hits)
    return text, "" if region is None else region.text


def test_a_function_without_a_trigger_becomes_a_stub_if_it_is_named_and_goes_if_not() -> None:
    _, region = kept(
        """
        import os

        def a():
            return 1

        def b():
            return TOKEN, a

        def c():
            return 3
        """,
        "TOKEN",
    )
    assert region == "def a(): ...\ndef b():\n    return TOKEN, a\n\n"


def test_imports_and_constants_are_kept_if_what_is_kept_names_them() -> None:
    _, region = kept(
        """
        import os
        import sys
        A = os.name
        B = 2

        def b():
            return TOKEN, A
        """,
        "TOKEN",
    )
    assert region.startswith("import os\nA = os.name\ndef b()")


def test_what_uses_the_result_of_a_triggered_statement_is_kept() -> None:
    _, region = kept("names = TOKEN()\nfirst = names[0]\nother = 1\n", "TOKEN")
    assert region == "names = TOKEN()\nfirst = names[0]\n"


def test_methods_without_a_trigger_go_with_their_decorators() -> None:
    _, region = kept(
        '''
        class A(B):
            """Doc."""

            x = 1

            @property
            def a(self):
                return 1

            def b(self):
                return TOKEN
        ''',
        "TOKEN",
    )
    assert "x = 1" in region
    assert "    def b(self):\n        return TOKEN" in region
    assert "def a" not in region
    assert "property" not in region


def test_class_scope_keeps_the_class_and_its_bases() -> None:
    _, region = kept(
        """
        class Base:
            def a(self):
                return 1

        class Other:
            def c(self):
                return 3

        class A(Base):
            def b(self):
                return TOKEN, Other
        """,
        "TOKEN",
        "class",
    )
    assert "return 1" in region
    assert "return 3" not in region
    assert "class Other(): ..." in region


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = 1  # TOKEN\n", id="comment"),
        pytest.param('def f():\n    """TOKEN"""\n', id="docstring"),
    ],
)
def test_tokens_in_comments_and_docstrings_are_not_worth_parsing(text: str) -> None:
    assert kept(text, "TOKEN")[1] == ""


def test_a_class_of_which_only_the_head_holds_a_trigger_still_has_a_body() -> None:
    _, region = kept("class A(TOKEN):\n    def f(self):\n        return 1\n", "TOKEN")
    assert region == "class A(TOKEN):\n    def f(): ...\n"


def test_a_def_inside_a_string_is_not_a_definition() -> None:
    _, region = kept(
        '''
        CODE = """
        def f():
            pass
        """

        def g():
            TOKEN(CODE)
        ''',
        "TOKEN",
    )
    assert 'CODE = """\ndef f():\n    pass\n"""' in region


def test_offsets_in_the_region_point_back_into_the_source() -> None:
    text, region = kept("def a():\n    return 1\n\ndef b():\n    TOKEN\n", "TOKEN")
    full = narrow(text, [(text.index("TOKEN"), "function")])
    assert full is not None
    assert full.offset(region.index("TOKEN")) == text.index("TOKEN")
    assert whole(text).offset(7) == 7


def test_uses_of_an_alias_are_triggers() -> None:
    _, region = kept(
        "from a import TOKEN as t\n\ndef f():\n    t()\n\ndef g():\n    u()\n", "TOKEN"
    )
    assert "    t()" in region
    assert "    u()" not in region


def test_comments_and_what_docstrings_say_are_not_parsed() -> None:
    text, region = kept(
        '''
        def f(  # a
            x,
        ):
            """TOKEN, and
            why."""
            # b

            return TOKEN(x, "# c")  # d


        async def g(): # e
            r"""So."""
            return TOKEN("""# f""")
        # TOKEN''',
        "TOKEN",
    )
    assert region == textwrap.dedent(
        '''\
        def f(  \n\
            x,
        ):
            """"""

            return TOKEN(x, "# c")  \n\


        async def g(): \n\
            r""""""
            return TOKEN("""# f""")
        '''
    )
    full = narrow(text, [(text.index("TOKEN(x"), "function")])
    assert full is not None
    assert full.offset(full.text.index("(x, ")) == text.index("(x, ")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('x = {\n    "a":\n    """b"""\n}; TOKEN\n', id="a value of a dict"),
        pytest.param('f = lambda:\\\n    """b"""; TOKEN\n', id="of a lambda"),
        pytest.param('def f():\n    """b""" + TOKEN\n', id="begins an expression"),
        pytest.param('def f():\n    TOKEN(\n        """b"""\n    )\n', id="an argument"),
        pytest.param('x = """\nclass A:\n    # b\n"""; TOKEN\n', id="in a string"),
    ],
)
def test_strings_that_are_no_docstrings_stay(text: str) -> None:
    assert kept(text, "TOKEN")[1] == text
