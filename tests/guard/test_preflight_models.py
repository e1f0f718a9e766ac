"""``guard.preflight`` on architectures that people train: none breaks, and the lists are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch

import guard
from guard.rehearsal import gate

if TYPE_CHECKING:
    from guard.rehearsal.findings import Report

pytestmark = [
    pytest.mark.skipif(bool(gate.missing()), reason="this torch lacks what a rehearsal needs"),
    pytest.mark.filterwarnings("ignore"),  # what libraries say of themselves
]

SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 200,
}
WIDE = {"num_key_value_heads": 2}
VISION = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "image_size": 32,
    "patch_size": 8,
}
TEXT = {"input_ids", "labels"}
TOPK, NLL, CTC = "torch.topk", "torch.nn.functional.nll_loss", "torch.nn.functional.ctc_loss"
# The class, its configuration, what it is given, what is found.
ARCHITECTURES: dict[str, tuple[str, dict[str, Any], set[str], set[str]]] = {
    "Llama": ("LlamaForCausalLM", SMALL, TEXT, set()),
    "Mistral": ("MistralForCausalLM", SMALL | WIDE, TEXT, set()),
    "Mixtral": ("MixtralForCausalLM", SMALL | WIDE | {"num_local_experts": 4}, TEXT, {TOPK}),
    "Gemma2": ("Gemma2ForCausalLM", SMALL | WIDE | {"head_dim": 16}, TEXT, set()),
    "GPT2": ("GPT2LMHeadModel", {"n_layer": 2, "n_head": 4, "n_embd": 64}, TEXT, set()),
    "Bert": ("BertForMaskedLM", SMALL, TEXT, set()),
    "Roberta": ("RobertaForSequenceClassification", SMALL, {"input_ids", "classes"}, set()),
    "DebertaV2": (
        "DebertaV2ForSequenceClassification",
        SMALL | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
        {"input_ids", "classes"},
        set(),
    ),
    "T5": (
        "T5ForConditionalGeneration",
        {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4}
        | {"decoder_start_token_id": 0},
        TEXT,
        set(),
    ),
    "ViT": ("ViTForImageClassification", VISION, {"pixel_values", "classes"}, set()),
    "Segformer": ("SegformerForSemanticSegmentation", {}, {"pixel_values", "map"}, {NLL}),
    "Wav2Vec2": ("Wav2Vec2ForCTC", SMALL, {"input_values", "labels"}, {CTC}),
    "Mamba": ("MambaForCausalLM", {"hidden_size": 64, "num_hidden_layers": 2}, TEXT, set()),
}


def inputs(wanted: set[str]) -> dict[str, torch.Tensor]:
    every = {
        "input_ids": torch.randint(3, 200, (2, 16)),
        "labels": torch.randint(3, 200, (2, 16)),
        "classes": torch.tensor([0, 1]),
        "map": torch.zeros(2, 32, 32, dtype=torch.long),
        "pixel_values": torch.randn(2, 3, 32, 32),
        "input_values": torch.randn(2, 16000),
    }
    return {
        "labels" if name in ("classes", "map") else name: every[name] for name in sorted(wanted)
    }


def trained(model: torch.nn.Module, given: dict[str, torch.Tensor]) -> Report:
    optimizer = torch.optim.AdamW(model.parameters())

    def step(given: dict[str, torch.Tensor]) -> None:
        model(**given).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return guard.preflight(step, given)


@pytest.mark.parametrize(
    ("kind", "options", "given", "found"), ARCHITECTURES.values(), ids=ARCHITECTURES
)
def test_an_architecture_of_hugging_face(
    kind: str, options: dict[str, Any], given: set[str], found: set[str]
) -> None:
    transformers = pytest.importorskip("transformers")
    model_type: Any = getattr(transformers, kind)
    model = model_type(model_type.config_class(**options)).train()
    report = trained(model, inputs(given))
    assert report.complete
    assert {each.name for each in report.found} == found
    assert report.steps == 1
    assert report.sources == ()


def test_attention_is_told_as_on_a_gpu_and_not_as_for_a_compiler() -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL)).to(torch.bfloat16)
    report = trained(model.train(), inputs(TEXT))
    assert {each.backend for each in report.attention} == {"flash"}
    assert {each.where.module for each in report.attention if each.where} == {
        "model.layers.0.self_attn",
        "model.layers.1.self_attn",
    }


# One of each kind; torchvision's wheels need the build of torch for CUDA.
TIMM = {
    "resnet18": set(),
    "vit_tiny_patch16_224": set(),
    "convnext_atto": set(),
    "efficientnet_b0": set(),
    "mobilenetv3_small_050": set(),
    "swin_tiny_patch4_window7_224": set(),
    "mixer_s32_224": set(),
    "levit_128s": set(),
    "regnetx_002": set(),
}


@pytest.mark.parametrize("name", TIMM)
def test_a_model_of_timm(name: str) -> None:
    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        model = timm.create_model(name)
    report = guard.preflight(model, torch.randn(2, 3, 224, 224))
    assert report.complete
    assert {each.name for each in report.found} == TIMM[name]
