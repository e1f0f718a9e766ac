"""What names say that programs, files and configurations are for."""

from __future__ import annotations

import pytest

from detlint.documents.entropy import entropy, variable_of
from detlint.models.configurations import is_in
from detlint.models.launching import holds_options, is_for_ascend, is_switch
from detlint.models.purposes import NOTHING, Purpose, purpose, trains


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("train", NOTHING),
        ("run_text_generation_server", Purpose.INFERS | Purpose.SERVES),
        ("hf2mcore_vita", Purpose.CONVERTS),
        ("megatron_to_hf", Purpose.CONVERTS),
        ("wav2vec_hf2", NOTHING),
        ("test_model", Purpose.TESTS),
        ("smoke_infer", Purpose.TESTS | Purpose.INFERS),
        ("checkpoint", NOTHING),
        ("checkpoint_saver", Purpose.INFERS),
        ("generator", NOTHING),
        ("embedder", NOTHING),
        ("benchServing", Purpose.MEASURES | Purpose.SERVES),
        ("preprocess-data", Purpose.PREPARES),
    ],
)
def test_what_something_is_for_is_told_by_the_words_of_its_name(name: str, said: Purpose) -> None:
    assert purpose(name) == said


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pretrain_gpt", True),
        ("FineTuneLlama", True),
        ("sft", True),
        ("eval_pretrained", False),
        ("constraints", False),
        ("distilled", False),
        ("tuned_model", False),
        ("profit", False),
    ],
)
def test_what_trains_is_told_by_its_name(name: str, expected: bool) -> None:
    assert trains(name) is expected


@pytest.mark.parametrize(
    ("raw", "what", "optional"),
    [
        ("$RANDOM", "the shell's RANDOM", False),
        ("${1:-$RANDOM}", "the shell's RANDOM", True),
        ("$(( ($RANDOM + 1) % 9 ))", "the shell's RANDOM", False),
        ("run$$", "the number of the process", False),
        ('"$(date +%s)"', "the clock", False),
        ("$(echo $(date +%s) | cut -c1-5)", "the clock", False),
        ("$(head -c4 /dev/urandom | od -An)", "the operating system", False),
        ("$(shuf -i 0-9 -n 1)", "a draw of shuf", False),
        ("$(python3 -c 'import random; print(random.random())')", "a draw", False),
    ],
)
def test_what_a_shell_makes_up_is_told_from_its_syntax(raw: str, what: str, optional: bool) -> None:
    found = entropy(raw, seeded=False)
    assert found is not None
    assert (found.what, found.optional) == (what, optional)


@pytest.mark.parametrize(
    "raw",
    [
        *("1", "$SEED", "${SEED:-1}", "$(date -d 2024-01-01 +%s)", "$(cat date)", "random"),
        *("$(shuf --random-source=f -i 0-9)", "$(python -c 'print(3)')", "$(echo update)"),
    ],
)
def test_what_is_the_same_in_every_run_is_none(raw: str) -> None:
    assert entropy(raw, seeded=False) is None


def test_a_generator_that_the_script_seeds_is_none() -> None:
    assert entropy("$RANDOM", seeded=True) is None
    assert entropy("$(( RANDOM % 3 ))", seeded=True) is None


@pytest.mark.parametrize(
    ("raw", "name"),
    [("$SEED", "SEED"), ("${SEED:-1}", "SEED"), ("$1", "1"), ("a$SEED", ""), ("${A}${B}", "")],
)
def test_the_variable_that_a_value_consists_of(raw: str, name: str) -> None:
    assert variable_of(raw) == name


def test_deep_nesting_is_read() -> None:
    depth = 3000
    assert entropy("$((" + "(" * depth + "1" + ")" * depth + "))", seeded=False) is None


def test_words_of_command_lines() -> None:
    assert is_switch("use-flash-attn")
    assert is_switch("bf16")
    assert not is_switch("use-checkpoint-path")
    assert holds_options("EXTRA_ARGS")
    assert not holds_options("DATA")
    assert is_for_ascend("/usr/local/Ascend/set_env.sh")
    assert is_for_ascend("torch_npu")
    assert not is_for_ascend("input")


def test_paths_of_settings() -> None:
    assert is_in("cudnn.benchmark", ("env", "cudnn", "benchmark"))
    assert is_in("*compile*.mode", ("torch_compile_kwargs", "mode"))
    assert not is_in("*compile*.mode", ("mode",))
    assert not is_in("cudnn.benchmark", ("benchmark",))
