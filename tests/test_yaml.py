"""YAML: values and their places, aliases, comments, and what cannot be read."""

from __future__ import annotations

import time

import pytest
from document_reading import ARGUMENTS, codes, document, fixed, lint, settings

HEAD = ARGUMENTS["yaml"]


def values(text: str) -> dict[str, object]:
    found = settings("a.yaml", HEAD + text)
    return {key: value for key, value in found.items() if key not in settings("a.yaml", HEAD)}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True),
        ("yes", True),
        ("Off", False),
        ("~", None),
        ("", None),
        ("0x1F", 31),
        ("-1", -1),
        ("1_000", 1000),
        ("2.5", 2.5),
        ("1e-3", "1e-3"),
        ("'true'", "true"),
        ("!!str true", "true"),
        ('!!bool "no"', False),
        ('"a\\tb"', "a\tb"),
        ("a#b", "a#b"),
        ("2024-01-02", "2024-01-02"),
    ],
)
def test_values_are_what_pyyaml_takes_them_for(written: str, meant: object) -> None:
    assert values(f"x: {written}\n") == {"x": meant}
    assert type(values(f"x: {written}\n")["x"]) is type(meant)


@pytest.mark.parametrize(
    "written",
    [
        "${seed}",
        "${oc.env:SEED,1}",
        "!include other.yaml",
        "!ref <seed>",
        '"{{ seed }}"',
        "!!python/name:os.system",
        "!!int " + "1" * 5000,
    ],
)
def test_what_another_program_fills_in_is_not_known(written: str) -> None:
    assert values(f"x: {written}\n") == {"x": f"? {written.partition('!')[0] or _bare(written)}"}


def _bare(written: str) -> str:
    return "" if written.startswith("!!python") else written.partition(" ")[2]


def test_nested_keys_and_lists_have_paths() -> None:
    text = "a:\n  b: [1, {c: 2}]\n  d:\n  - e: 3\n"
    assert values(text) == {"a.b.0": 1, "a.b.1.c": 2, "a.d.0.e": 3}


def test_places_count_characters() -> None:
    text = HEAD + "é: 𝒳  # ü\nlast: yes # é\n"
    entry = document("a.yaml", text).entries()[-1]
    assert text[entry.start : entry.end] == "yes"
    assert text[entry.key_start :].startswith("last")


def test_of_a_key_given_twice_the_last_counts() -> None:
    text = HEAD + "cudnn_benchmark: true\ncudnn_benchmark: false\n"
    assert codes("a.yaml", text) == []


def test_an_alias_stands_where_it_is_written() -> None:
    text = HEAD + "fast: &fast true\ncudnn_benchmark: *fast\n"
    (found,) = lint("a.yaml", text)
    assert (found.row, found.column) == (5, 18)
    assert found.edits == ()


def test_a_merged_mapping_is_found_once_where_it_is_written() -> None:
    text = HEAD + "base: &b\n  cudnn_benchmark: true\none:\n  <<: *b\ntwo:\n  <<: [*b]\n  x: *b\n"
    (found,) = lint("a.yaml", text)
    assert found.row == 5
    assert fixed("a.yaml", text) == text.replace("true", "false")


def test_keys_of_its_own_hide_merged_ones() -> None:
    text = "base: &b {z: 1, y: 2}\none: {<<: *b, z: 3}\n"
    assert values(text)["one.z"] == 3
    assert values(text)["one.y"] == 2


def test_a_value_with_an_anchor_is_left_to_a_person() -> None:
    (found,) = lint("a.yaml", HEAD + "cudnn_benchmark: &fast true\nother: *fast\n")
    assert found.edits == ()


def test_every_document_of_a_file_is_read() -> None:
    text = f"{HEAD}cudnn_benchmark: true\n---\n{HEAD}cudnn_benchmark: true\n"
    assert [each.row for each in lint("a.yaml", text)] == [4, 9]


@pytest.mark.parametrize(
    ("written", "better"),
    [
        ("cudnn_benchmark: true", "cudnn_benchmark: false"),
        ("cudnn_benchmark:   True  # fast", "cudnn_benchmark:   False  # fast"),
        ("cudnn_benchmark: yes", "cudnn_benchmark: no"),
        ("cudnn_benchmark: ON", "cudnn_benchmark: OFF"),
        ("'cudnn_benchmark': !!bool true", "'cudnn_benchmark': !!bool true"),
        ("env: {mp: fork, cudnn_benchmark: true}", "env: {mp: fork, cudnn_benchmark: false}"),
        ("env:\r\n  cudnn_benchmark: true\r\n", "env:\r\n  cudnn_benchmark: false\r\n"),
        ('attn_implementation: "flash_attention_2"', 'attn_implementation: "sdpa"'),
        ("attn_implementation: 'flash_attention_2'", "attn_implementation: 'sdpa'"),
        ("attn_implementation: flash_attention_2", "attn_implementation: sdpa"),
    ],
)
def test_a_fix_keeps_how_a_value_is_written(written: str, better: str) -> None:
    assert (
        fixed("a.yaml", f"{HEAD}{written}\nlast: 'x' # é\n") == f"{HEAD}{better}\nlast: 'x' # é\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "cudnn_benchmark: true  # detlint: ignore[DET301] timed on purpose",
        "# detlint: ignore[DET301] timed on purpose\ncudnn_benchmark: true",
        "# detlint: off[DET301]\nx: 1\ncudnn_benchmark: true",
        "x: 'a # b'  # plain\ncudnn_benchmark: true # noqa: DET301",
    ],
)
def test_comments_suppress(text: str) -> None:
    assert codes("a.yaml", HEAD + text + "\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "x: '# detlint: ignore[DET301]'\n",
        'x: "a\n  # detlint: ignore[DET301]"\n',
        "x: |\n  # detlint: ignore[DET301]\n",
        "x: a# detlint: ignore[DET301]\n",
    ],
)
def test_what_looks_like_a_comment_in_a_value_is_none(text: str) -> None:
    assert codes("a.yaml", HEAD + text) == []


def test_the_comment_behind_the_mark_of_a_block_is_one() -> None:
    text = HEAD + "x: |  # detlint: ignore[DET301]\n  text\n"
    assert codes("a.yaml", text) == ["DET001"]


def test_what_does_not_parse_is_told_with_its_place() -> None:
    (found,) = lint("a.yaml", "cudnn_benchmark: true\nx: [1, 2\ny: 3\n")
    assert (found.code, found.row) == ("DET000", 3)
    assert "cannot be read as YAML" in found.message


def test_a_merge_that_is_not_finished_is_told_as_such() -> None:
    text = "cudnn_benchmark: true\n<<<<<<< HEAD\nx: 1\n=======\nx: 2\n>>>>>>> topic\n"
    (found,) = lint("a.yaml", text)
    assert (found.row, found.message) == (2, "a conflict marker of a merge is left here")


@pytest.mark.parametrize("mark", ["{{ x }}", "{% if x %}", "<%= x %>"])
def test_a_template_need_not_parse(mark: str) -> None:
    assert codes("a.yaml", f"cudnn_benchmark: true\nx: {mark}: [\n{mark}\n") == []


@pytest.mark.parametrize(
    "text", ["", "\n", "# cudnn_benchmark\n", "--- cudnn_benchmark\n", "- 1\n"]
)
def test_files_without_settings_are_nothing(text: str) -> None:
    assert codes("a.yaml", text) == []


def test_aliases_of_aliases_do_not_grow_without_end() -> None:
    lines = ["a0: &a0 {cudnn_benchmark: true}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    start = time.monotonic()
    assert codes("a.yaml", HEAD + "\n".join(lines)) == ["DET301"]
    assert time.monotonic() - start < 5


def test_an_alias_within_what_it_names_is_not_known() -> None:
    assert values("x: &x [1, *x]\n") == {"x.0": 1, "x.1": "? *x"}


def test_depth_is_not_limited_by_the_stack() -> None:
    text = f"{HEAD}cudnn_benchmark: true\nx: {'[' * 900}{']' * 900}\n"
    assert codes("a.yaml", text) == ["DET301"]


def test_a_depth_that_the_parser_refuses_is_told() -> None:
    text = f"{HEAD}cudnn_benchmark: true\nx: {'[' * 3000}{']' * 3000}\n"
    # PyYAML refuses more than 1,000 levels since 6.0.4.
    assert codes("a.yaml", text) in (["DET301"], ["DET000"])


def test_it_reads_without_the_parser_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{HEAD}é: &a !!bool 'true'  # c\ncudnn_benchmark: true\nrun: |  # d\n  x\n# e\n"
    fast = document("a.yaml", text)
    monkeypatch.delattr("yaml.CSafeLoader")
    slow = document("a.yaml", text)
    assert slow.entries() == fast.entries()
    assert slow.comments == fast.comments
