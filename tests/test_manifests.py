"""Manifests: the variables that they set and the command lines that they run."""

from __future__ import annotations

import textwrap

import pytest
from document_reading import document

from detlint.documents.document import Command, Variable

RUN = "on: x\njobs:\n  a:\n    steps:\n      - run: {}\n"


def nodes(text: str) -> tuple[dict[str, str | None], list[list[str | None]]]:
    """The variables by name, and the words of the commands, each checked for its place."""
    text = textwrap.dedent(text).lstrip("\n")
    found = document("x.yaml", text)
    assert found.entries() == []
    variables = [each for each in found.nodes if isinstance(each, Variable)]
    commands = [each for each in found.nodes if isinstance(each, Command)]
    for each in variables:
        assert each.name in text[each.start : each.end], each
        written = text[each.value_start : each.value_end]
        assert each.value is None or each.value in written, each
    return (
        {each.name: each.value for each in variables},
        [[word.text for word in each.words] for each in commands],
    )


COMPOSE = """
    services:
      train:
        image: torch
        environment:
          CUBLAS_WORKSPACE_CONFIG: ":4096:8"
          NCCL_ALGO: Ring
          PYTHONHASHSEED: 0
          TF32: ${TF32}
          EMPTY:
        command: python train.py --seed 1
      other:
        build: .
        environment:
          - NCCL_ALGO=Tree
          - "PYTHONHASHSEED=1"
          - PASSED
        entrypoint: ["torchrun", "--nproc-per-node", "8"]
        command: ["train.py"]
"""
WORKFLOW = """
    name: train
    on: [push]
    env:
      NCCL_ALGO: Ring
    jobs:
      one:
        runs-on: gpu
        env: {PYTHONHASHSEED: 0}
        steps:
          - uses: actions/checkout@v4
          - name: train
            env:
              SEED: ${{ matrix.seed }}
            run: |
              pip install torch

              python train.py \\
                --seed ${{ matrix.seed }} --benchmark
          - run: python eval.py  # last
          - shell: python
            run: import torch
"""
KUBERNETES = """
    apiVersion: kubeflow.org/v1
    kind: PyTorchJob
    spec:
      pytorchReplicaSpecs:
        Worker:
          template:
            spec:
              containers:
                - name: pytorch
                  image: x
                  env:
                    - name: NCCL_ALGO
                      value: "Ring"
                    - name: RANK
                      valueFrom: {fieldRef: {fieldPath: x}}
                  command: [torchrun, "--nnodes=2"]
                  args: ["train.py", "--rank", "$(RANK)"]
                - name: shell
                  command: ["/bin/bash", "-lc"]
                  args:
                    - |
                      export SEED=1
                      python train.py
"""
SKYPILOT = """
    resources:
      accelerators: H100:8
    num_nodes: 2
    envs:
      NCCL_ALGO: Ring
    setup: pip install torch
    run: |
      # comment
      torchrun train.py --seed 1
"""


def test_compose_files_set_variables_and_run_commands() -> None:
    variables, commands = nodes(COMPOSE)
    assert variables == {
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "NCCL_ALGO": "Tree",
        "PYTHONHASHSEED": "1",
        "TF32": None,
        "EMPTY": None,
    }
    assert commands == [
        ["python", "train.py", "--seed", "1"],
        ["torchrun", "--nproc-per-node", "8", "train.py"],
    ]


def test_github_workflows_set_variables_at_three_levels() -> None:
    variables, commands = nodes(WORKFLOW)
    assert variables == {"NCCL_ALGO": "Ring", "PYTHONHASHSEED": "0", "SEED": None}
    assert ["python", "train.py", "--seed", None, "--benchmark"] in commands
    assert ["python", "eval.py"] in commands
    assert not any("import" in words for words in commands)


def test_commands_know_what_is_set_around_them() -> None:
    found = document("x.yaml", textwrap.dedent(WORKFLOW))
    command = next(
        each
        for each in found.nodes
        if isinstance(each, Command) and each.words[1].text == "train.py"
    )
    assert command.environment["NCCL_ALGO"] == "Ring"
    assert command.environment["PYTHONHASHSEED"] == "0"
    assert command.environment["SEED"] is None


def test_kubernetes_containers_set_variables_and_run_commands() -> None:
    variables, commands = nodes(KUBERNETES)
    assert variables == {"NCCL_ALGO": "Ring", "RANK": None, "SEED": "1"}
    assert commands == [
        ["torchrun", "--nnodes=2", "train.py", "--rank", None],
        ["python", "train.py"],
    ]


def test_arguments_alone_are_those_of_a_program_that_is_not_known() -> None:
    text = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - args: [train.py, --fast]\n"
    assert nodes(text) == ({}, [[None, "train.py", "--fast"]])


def test_each_command_of_a_folded_script_is_there() -> None:
    text = RUN.format(">\n          python a.py &&\n          python b.py\n")
    assert nodes(text)[1] == [["python", "a.py"], ["python", "b.py"]]


def test_skypilot_tasks_set_variables_and_run_scripts() -> None:
    variables, commands = nodes(SKYPILOT)
    assert variables == {"NCCL_ALGO": "Ring"}
    assert commands == [
        ["pip", "install", "torch"],
        ["torchrun", "train.py", "--seed", "1"],
    ]


@pytest.mark.parametrize(
    "written",
    [
        "python train.py --seed 1",
        "'python train.py --seed 1'",
        '"python train.py --seed 1"',
        "|\n          python train.py --seed 1\n",
        "|-  # why\n          cd é\n            python train.py --seed 1\n",
        "|2\n          python train.py --seed 1\n",
        "|\r\n          x=1\r\n          python train.py --seed 1\r\n",
        ">\n          cd x &&\n          python train.py\n\n          python train.py --seed 1\n",
        "python train.py\n          --seed\n          1\n",
        '"python \\ttrain.py \\x2d-seed\\\n          \\ 1"',
        "'python '''' train.py --seed\n          1'",
    ],
)
def test_words_of_scripts_have_places(written: str) -> None:
    text = RUN.format(written)
    found = document("x.yaml", text)
    commands = [each for each in found.nodes if isinstance(each, Command)]
    word = commands[-1].words[-1]
    assert word.text == "1"
    assert text[word.start : word.end] == "1"


def test_what_an_alias_repeats_is_there_once() -> None:
    text = "services:\n  a: &a\n    image: x\n    environment: {NCCL_ALGO: Ring}\n  b: *a\n"
    found = document("x.yaml", text)
    assert len([each for each in found.nodes if isinstance(each, Variable)]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "services: [a, b]\n",
        "services: {a: {port: 1}}\n",
        "jobs: {a: {name: x}}\non: push\n",
        "run: python x.py\nname: x\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {env: {A: 1}}\n",
    ],
)
def test_files_like_them_are_none(text: str) -> None:
    assert document("x.yaml", text).nodes[1:] == []


def test_variables_beside_the_arguments_of_megatron_are_some() -> None:
    text = "ENV_VARS:\n  NCCL_ALGO: Ring\nMODEL_ARGS:\n  --num-layers: 2\n  --hidden-size: 8\n"
    text += "  --tensor-model-parallel-size: 2\n"
    found = document("x.yaml", text)
    assert [each.name for each in found.nodes if isinstance(each, Variable)] == ["NCCL_ALGO"]


@pytest.mark.parametrize(
    "text",
    [
        "kind: Workflow\nspec:\n  templates:\n    - name: a\n      container:\n        {}\n",
        "kind: TrainJob\nspec:\n  trainer:\n    {}\n",
    ],
)
def test_templates_of_argo_and_jobs_of_kubeflow_have_one_container(text: str) -> None:
    given = "apiVersion: argoproj.io/v1alpha1\n" + text.replace(
        "{}", '{command: [python, train.py], env: [{name: A, value: "1"}]}'
    )
    assert nodes(given) == ({"A": "1"}, [["python", "train.py"]])
