"""Which program a configuration belongs to, and what rules then find in it."""

from __future__ import annotations

import json
import textwrap

import pytest
import yaml
from document_reading import codes, document, fixed, lint

TRAINER = "trainer:\n  max_epochs: 3\n  accelerator: gpu\n  devices: 8\n"
RECOGNISED = {
    "nemo": f"{TRAINER}exp_manager:\n  name: x\n",
    "lightning-hydra": "defaults: [_self_]\ntask_name: train\nckpt_path: null\nseed: 1\n",
    "torchtune": "model:\n  _component_: torchtune.models.llama3.llama3_8b\n",
    "hydra": f"defaults:\n- _self_\n- model: resnet\n{TRAINER}",
    "lightning": f"{TRAINER}model:\n  class_path: a.B\n",
    "llama-factory": "stage: sft\ntemplate: llama3\nlearning_rate: 1.0e-4\n",
    "axolotl": "base_model: a/b\nmicro_batch_size: 2\nsequence_len: 2048\n",
    "training-arguments": "num_train_epochs: 3\nlearning_rate: 1.0e-5\noutput_dir: out\n",
    "accelerate": "compute_environment: X\ndistributed_type: MULTI_GPU\nnum_processes: 8\n",
    "deepspeed": "zero_optimization:\n  stage: 2\n",
    "mmengine": "env_cfg:\n  mp_cfg: {}\ndefault_hooks:\n  timer: {}\n",
    "ultralytics": "task: detect\nmode: train\nimgsz: 640\nepochs: 100\n",
    "torchtitan": "training: {seq_len: 8, seed: 1}\njob: {}\nparallelism: {}\nmetrics: {}\n",
    "megatron": "tensor_model_parallel_size: 2\nnum-layers: 12\n--hidden-size: 512\n",
    "detectron2": "MODEL:\n  META_ARCHITECTURE: X\nSOLVER:\n  BASE_LR: 0.1\n",
    "espnet": "batch_bins: 4000\naccum_grad: 2\nmax_epoch: 100\noptim: adam\n",
    "recbole": "train_batch_size: 2\neval_args: {}\nUSER_ID_FIELD: user_id\n",
    "latent-diffusion": "model: {target: ldm.A}\nlightning: {trainer: {max_epochs: 1}}\n",
    "olmo": "save_folder: a\nmax_duration: 1ep\nmodel:\n  d_model: 64\n",
    "composer": "max_duration: 1ep\ntrain_loader: {}\neval_interval: 1ep\n",
    "hugging-face-model": "name_or_path: a/b\nattn_implementation: sdpa\n",
    "training": "epochs: 9\nlr: 0.1\nmodel: resnet\nseed: 1\n",
}


def case(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_configuration_is_recognised_by_its_keys(name: str) -> None:
    assert document("conf.yaml", RECOGNISED[name]).flavour == name


@pytest.mark.parametrize("name", RECOGNISED)
def test_it_is_in_json_as_well(name: str) -> None:
    settings = yaml.safe_load(RECOGNISED[name])
    assert document("conf.json", json.dumps(settings)).flavour == name


@pytest.mark.parametrize("name", RECOGNISED)
def test_what_is_recognised_is_asked(name: str) -> None:
    assert codes("conf.yaml", RECOGNISED[name] + "cudnn_benchmark: true\n") == ["DET301"]


@pytest.mark.parametrize(
    "text",
    [
        "benchmark: true\ndeterministic: false\ncudnn_benchmark: true\nseed: null\n",
        "trainer:\n  name: Ann\n  benchmark: true\n",
        "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: seed, default: null}]}}}\n",
        "- hosts: all\n  tasks: [{name: x, cudnn_benchmark: true}]\n",
        "model: x\nseed: null\ncudnn_benchmark: true\ndataset: y\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {lr: '1', cudnn_benchmark: true}\n",
    ],
)
def test_other_files_are_not_asked(text: str) -> None:
    assert document("conf/train.yaml", text).entries() == []
    assert codes("conf/train.yaml", text) == []


FOUND = [
    ("DET301", "lightning", "trainer: {max_epochs: 1, devices: 2, benchmark: true}\nmodel: {}\n"),
    ("DET301", "nemo", f"{TRAINER}  benchmark: True\nexp_manager: {{}}\n"),
    (
        "DET301",
        "lightning",
        "seed_everything: 7\ntrainer: {max_epochs: 10, benchmark: true}\n",
    ),
    (
        "DET301",
        "lightning",
        "model: {class_path: a.B}\ntrainer: {max_epochs: 10, benchmark: true}\n",
    ),
    (
        "DET302",
        "lightning",
        "fit: {seed_everything: 7, trainer: {init_args: {deterministic: false}}}\n",
    ),
    ("DET303", "lightning", "seed_everything: 7\ntrainer: {deterministic: warn}\n"),
    ("DET301", "hydra", "_target_: lightning.Trainer\nmax_epochs: 1\ndevices: 1\nbenchmark: on\n"),
    ("DET301", "detectron2", "MODEL: {}\nSOLVER: {}\nCUDNN_BENCHMARK: True\n"),
    ("DET301", "detectron2", "MODEL: {}\nTRAIN: {}\nCUDNN: {BENCHMARK: true}\n"),
    ("DET301", "torchtune", "a: {_component_: x.y}\ncudnn_deterministic_mode: default\n"),
    ("DET301", "recbole", "eval_args: {}\nload_col: {}\ntopk: 1\nreproducibility: False\n"),
    (
        "DET301",
        "latent-diffusion",
        "model: {target: ldm.A}\nlightning:\n  callbacks: {}\n  trainer:\n    benchmark: True\n",
    ),
    ("DET302", "espnet", RECOGNISED["espnet"] + "cudnn_deterministic: false\n"),
    ("DET302", "lightning", "fit:\n  trainer: {max_steps: 1, gpus: 2, deterministic: false}\n"),
    ("DET303", "lightning", "trainer: {max_steps: 1, gpus: 2, deterministic: warn}\n"),
    ("DET303", "ultralytics", RECOGNISED["ultralytics"] + "deterministic: False\n"),
    ("DET303", "torchtune", "a: {_component_: x.y}\ncudnn_deterministic_mode: 1\n"),
    ("DET303", "training", RECOGNISED["training"] + "use_deterministic_algorithms: false\n"),
    (
        "DET303",
        "torchtitan",
        RECOGNISED["torchtitan"] + "debug: {deterministic: true, deterministic_warn_only: true}\n",
    ),
    (
        "DET307",
        "training-arguments",
        RECOGNISED["training-arguments"] + "torch_compile_mode: max-autotune\n",
    ),
    (
        "DET307",
        "accelerate",
        RECOGNISED["accelerate"] + "dynamo_config: {dynamo_mode: max-autotune}\n",
    ),
    ("DET307", "training", RECOGNISED["training"] + "compile: {mode: max-autotune}\n"),
    ("DET307", "training", RECOGNISED["training"] + "inductor: {max_autotune: true}\n"),
    ("DET601", "megatron", RECOGNISED["megatron"] + "--use-flash-attn: true\n"),
    ("DET601", "megatron", RECOGNISED["megatron"] + "attention_backend: flash\n"),
    (
        "DET601",
        "training",
        "batch_size: 1\nnum_rollouts: 16\nseed: 1\nmodel: {use_flash_attention: true}\n",
    ),
    ("DET601", "axolotl", RECOGNISED["axolotl"] + "flash_attention: true\n"),
    ("DET601", "llama-factory", RECOGNISED["llama-factory"] + "flash_attn: fa2\n"),
    (
        "DET601",
        "llama-factory",
        "cutoff_len: 9\noutput_dir: out\nflash_attn: flash_attention_2\n",
    ),
    ("DET601", "olmo", RECOGNISED["olmo"] + "  flash_attention: true\n"),
    ("DET601", "composer", RECOGNISED["composer"] + "attn_config: {attn_impl: flash}\n"),
    (
        "DET601",
        "training-arguments",
        RECOGNISED["training-arguments"] + "attn_implementation: flash_attention_2\n",
    ),
    ("DET103", "torchtune", "a: {_component_: x.y}\nseed: null\n"),
    ("DET103", "torchtune", "a: {_component_: x.y}\nseed:\n"),
    ("DET103", "lightning", RECOGNISED["lightning"] + "seed_everything: false\n"),
    ("DET103", "lightning-hydra", RECOGNISED["lightning-hydra"].replace("1", "null")),
    ("DET103", "mmengine", RECOGNISED["mmengine"] + "randomness: {seed: null}\n"),
    ("DET103", "detectron2", RECOGNISED["detectron2"] + "SEED: -1\n"),
]


@pytest.mark.parametrize(("code", "name", "text"), FOUND)
def test_a_setting_is_found_and_its_fix_is_clean(code: str, name: str, text: str) -> None:
    assert document("a.yaml", text).flavour == name
    (found,) = lint("a.yaml", text)
    assert found.code == code
    if found.edits:
        assert codes("a.yaml", fixed("a.yaml", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{RECOGNISED['lightning']}seed_everything: true\n",
        f"{RECOGNISED['lightning']}seed_everything: null\n",
        "trainer: {max_epochs: 1, devices: 2, benchmark: null, deterministic: null}\n",
        "seed_everything: 7\ntrainer: {deterministic: true}\nmodel: {use_flash_attention: true}\n",
        "seed_everything: 7\ntrainer: {max_epochs: 1}\nmodel: {benchmark: true}\n",
        "trainer: {max_epochs: 1, devices: 2, benchmark: '${fast}', deterministic: '${exact}'}\n",
        "trainer: {max_epochs: 1, devices: 2, benchmark: false, deterministic: true}\n",
        f"{TRAINER}exp_manager: {{}}\nmodel: {{benchmark: true, deterministic: false}}\n",
        f"{RECOGNISED['axolotl']}seed: null\n",
        f"{RECOGNISED['training']}seed: null\n",
        f"{RECOGNISED['training-arguments']}seed: null\nfull_determinism: false\n",
        f"{RECOGNISED['training-arguments']}attn_implementation: sdpa\n",
        (
            f"{RECOGNISED['training-arguments']}attn_implementation: flash_attention_2\n"
            "full_determinism: true\n"
        ),
        (
            f"{RECOGNISED['training-arguments']}torch_compile_mode: max-autotune\n"
            "torch_compile: false\n"
        ),
        (
            f"{RECOGNISED['training-arguments']}torch_compile_mode: max-autotune\n"
            "full_determinism: true\n"
        ),
        f"{RECOGNISED['training']}flash_attention: true\n",
        f"{RECOGNISED['llama-factory']}flash_attn: auto\n",
        f"{RECOGNISED['megatron']}use_flash_attn: true\ndeterministic-mode: true\n",
        (
            f"{RECOGNISED['megatron']}use_flash_attn: true\n"
            "ENV_VARS: {NVTE_ALLOW_NONDETERMINISTIC_ALGO: 0}\n"
        ),
        f"{RECOGNISED['training']}attention: {{use_flash_attn: true, deterministic: true}}\n",
        f"{RECOGNISED['mmengine']}randomness: {{seed: 1}}\nseed: null\n",
        f"{RECOGNISED['detectron2']}SEED: 1\n",
        f"{RECOGNISED['training']}data: {{shuffle: true}}\n",
        "a: {_component_: x.y}\ncudnn_deterministic_mode: 2\nseed: 0\n",
        "a: {_component_: x.y}\ncudnn_deterministic_mode: null\ndataset: {seed: null}\n",
    ],
)
def test_other_settings_are_silent(text: str) -> None:
    assert document("a.yaml", text).flavour
    assert codes("a.yaml", text) == []


TITAN = """
    [job]
    dump_folder = "out"

    [training]{}
    local_batch_size = 8
    seq_len = 8192

    [parallelism]
    data_parallel_shard_degree = -1

    [metrics]
    log_freq = 10
"""


def test_a_job_of_torchtitan_without_a_seed_is_found_at_its_table() -> None:
    (found,) = lint("a.toml", case(TITAN.format("")))
    assert (found.code, found.row, found.column) == ("DET103", 4, 1)
    assert found.message == "no seed is set, so torchtitan takes another one in every run"


@pytest.mark.parametrize("text", [TITAN.format("\nseed = 1"), TITAN.format("") + "[debug]\nseed=1"])
def test_a_seed_of_torchtitan_is_in_either_table(text: str) -> None:
    assert codes("a.toml", case(text)) == []


def test_an_empty_value_is_named_and_filled_in() -> None:
    text = "a: {_component_: x.y}\nseed: ~\n"
    (found,) = lint("a.yaml", text)
    assert found.message == "seed: ~ takes a seed from the system, another one in every run"
    assert not found.safe
    assert fixed("a.yaml", text) == text.replace("~", "0")


@pytest.mark.parametrize(
    ("written", "better"),
    [("warn", "true"), ('"warn"', "true"), ("'warn'  # c", "true  # c")],
)
def test_a_word_becomes_a_boolean(written: str, better: str) -> None:
    text = f"{TRAINER}  deterministic: "
    assert fixed("a.yaml", f"{text}{written}\n") == f"{text}{better}\n"
