import argparse
import os
import shlex
import subprocess
from dataclasses import dataclass, field
from functools import partial

import click
import flash_attn
import torch
from flash_attn import (
    flash_attn_func,
    flash_attn_kvpacked_func,
    flash_attn_qkvpacked_func,
    flash_attn_varlen_func,
    flash_attn_with_kvcache,
)
from flash_attn import flash_attn_interface
from flash_attn.flash_attn_interface import _flash_attn_backward
from flash_attn.flash_attn_interface import flash_attn_varlen_kvpacked_func as packed
from flash_attn.flash_attn_triton import flash_attn_func as triton_attention
from flash_attn.modules.mha import MHA, FlashSelfAttention
from flash_attn.modules.mha import FlashCrossAttention as CrossAttention
from kernels import get_kernel
from streaming import StartKVCache
from transformers import AutoConfig, AutoModel, Trainer

try:
    from flash_attn_interface import flash_attn_varlen_qkvpacked_func
except ImportError:
    flash_attn_varlen_qkvpacked_func = None

if torch.version.hip:
    from flash_attn import flash_attn_unpadded_func as unpadded
else:
    from flash_attn.flash_attn_interface import flash_attn_unpadded_func as unpadded

FLASH = "flash_attention_2"
late_attention, later_attention = None, None


def import_late():
    from flash_attn import flash_attn_func as _late_attention

    global late_attention, later_attention
    late_attention, later_attention = _late_attention, import_late


# FlashAttention called


class Attention(torch.nn.Module):
    def forward(self, q, k, v, cu, longest, mask, kwargs, deterministic):
        out = flash_attn_func(q, k, v, causal=True)  # DET601
        out = flash_attn_func(q, k, v, 0.0, None, True)  # DET601
        out = flash_attn_func(q, k, v, deterministic=False)  # DET601
        out = flash_attn.flash_attn_func(q, k, v)  # DET601
        out = flash_attn_interface.flash_attn_func(q, k, v)  # DET601
        out = flash_attn_qkvpacked_func(torch.stack([q, k, v], dim=2))  # DET601
        out = flash_attn_kvpacked_func(q, torch.stack([k, v], dim=2))  # DET601
        out = flash_attn_varlen_func(  # DET601
            q,
            k,
            v,
            cu_seqlens_q=cu,
            cu_seqlens_k=cu,
            max_seqlen_q=longest,
            max_seqlen_k=longest,
        )
        out = flash_attn_varlen_qkvpacked_func(q, cu, longest, 0.0)  # DET601
        out = packed(q, k, cu, cu, longest, longest)  # DET601
        out = unpadded(q, k, v, cu, cu, longest, longest, 0.1)  # DET601
        out = late_attention(q, k, v)  # DET601
        out = later_attention(q, k, v)
        _flash_attn_backward(out, q, k, v, deterministic=False)  # DET601

        # deterministic, or not known to be otherwise
        out = flash_attn_func(q, k, v, deterministic=True)
        out = flash_attn_func(q, k, v, deterministic=deterministic)
        out = flash_attn_func(q, k, v, deterministic=self.deterministic)
        out = flash_attn_func(q, k, v, **kwargs)
        out = flash_attn_func(*q)
        out = flash_attn_func(q, k, v, 0.0, None, True, (-1, -1), 0.0, None, True)
        out = flash_attn_func(q, k, v, 0.0, None, True, (-1, -1), None, True)
        out = triton_attention(q, k, v)
        _flash_attn_backward(  # DET601
            *(q, k), v, out, q, k, v, 0.0, 1.0, False, (-1, -1), None, deterministic=False
        )
        _flash_attn_backward(q, k, v, out, q, k, v, 0, 1, False, (-1, -1), None, False)  # DET601
        _flash_attn_backward(q, k, v, out, q, k, v, 0, 1, True, (-1, -1), 0, None, False)  # DET601
        _flash_attn_backward(q, k, v, out, q, k, v, 0, 1, False, (-1, -1), None, True)
        _flash_attn_backward(q, k, v, out, q, k, v, 0, 1, False, (-1, -1), None, deterministic)
        _flash_attn_backward(out, q, k, v, deterministic)
        _flash_attn_backward(out, q, k, v, deterministic=deterministic)
        return out

    def shadowed(self, flash_attn_func, q, k, v):
        return flash_attn_func(q, k, v)

    def own(self, q, k, v):
        return self.flash_attn_func(q, k, v)

    # inference

    @torch.no_grad()
    def score(self, q, k, v):
        return flash_attn_func(q, k, v, causal=True)

    @torch.inference_mode()
    def encode(self, q, k, v):
        return flash_attn_func(q, k, v, causal=True)

    def sample(self, q, k, v):
        with torch.no_grad(), torch.autocast("cuda"):
            q = flash_attn_func(q, k, v)
        with torch.inference_mode():
            q = flash_attn_func(q, k, v)
        with torch.set_grad_enabled(False):
            q = flash_attn_func(q, k, v)
        with torch.enable_grad():
            return flash_attn_func(q, k, v)  # DET601

    def flash_decode(self, q, k, v):
        return flash_attn_func(q, k, v, causal=True)  # possible DET601

    def prefill(self, q, k_cache, v_cache, cu, longest, block_table):
        out = flash_attn_with_kvcache(q, k_cache, v_cache, block_table=block_table)
        out += flash_attn_varlen_func(q, k_cache, v_cache, cu, cu, longest, longest)  # possible DET601
        return out + flash_attn_varlen_func(  # possible DET601
            q, self.k, self.v, cu, cu, longest, longest, block_table=block_table
        )


class Phases(torch.nn.Module):
    def forward(self, q, k, v, is_decoding, mode, phase, inference_params):
        if is_decoding:
            out = flash_attn_func(q, k, v, causal=True)  # possible DET601
        elif mode.is_prefill() or phase == "decode":
            out = flash_attn_func(q, k, v)  # possible DET601
        elif inference_params is not None and q.shape[1] > 1:
            out = flash_attn_func(q, k, v)  # possible DET601
        else:
            out = flash_attn_func(q, k, v)  # DET601
        if not is_decoding and phase != "decode":
            out += flash_attn_func(q, k, v)  # DET601
        elif not self.training:
            out += flash_attn_func(q, k, v)  # possible DET601
        if phase is not Phase.TRAINING:
            out += flash_attn_func(q, k, v)  # possible DET601
        out += flash_attn_func(q, k, v) if is_decoding else flash_attn_func(k, q, v)  # DET601 DET601
        if is_decoding or self.causal:
            out += flash_attn_func(q, k, v)  # DET601
        if not (is_decoding or self.causal):
            out += flash_attn_func(q, k, v)  # DET601
        if self.training:
            return flash_attn_func(q, k, v)  # DET601
        return flash_attn_func(q, k, v)  # possible DET601

    def in_turn(self, q, k, v, is_decoding, inference_params):
        if is_decoding:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)
        if inference_params is None:
            return flash_attn_func(q, k, v)  # DET601
        return flash_attn_func(q, k, v)  # possible DET601

    def decoder_layer(self, q, k, v):
        return flash_attn_func(q, k, v)  # DET601


class AttentionDecodingBenchmark:
    def fw(self):
        return flash_attn_func(self.q, self.k, self.v)  # possible DET601


class TextDecoderForConditionalGeneration:
    def fw(self):
        return flash_attn_func(self.q, self.k, self.v)  # DET601


@BACKENDS.register("flash")
def registered(q, k, v):
    return flash_attn_func(q, k, v)  # possible DET601


# Hugging Face

model = AutoModel.from_pretrained("m", attn_implementation="flash_attention_2")  # DET601
model = AutoModel.from_pretrained("m", attn_implementation="flash_attention_3")  # DET601
model = AutoModel.from_pretrained("m", attn_implementation=FLASH)  # DET601
model = AutoModel.from_pretrained("m", use_flash_attention_2=True)  # DET601
model = AutoModel.from_pretrained(
    "m",
    attn_implementation="flash_attention_2" if torch.cuda.is_available() else "sdpa",  # DET601
)
model = AutoModel.from_pretrained(
    "m",
    attn_implementation={"": "sdpa", "text_config": "flash_attention_2"},  # DET601
)
config = AutoConfig.from_pretrained("m", _attn_implementation="flash_attention_2")  # DET601
config._attn_implementation = "flash_attention_2"  # DET601
config.attn_implementation = FLASH  # DET601
setattr(config, "_attn_implementation", "flash_attention_2")  # DET601
options = {"attn_implementation": "flash_attention_2"}  # DET601
options = dict(attn_implementation="flash_attention_2")  # DET601
options["attn_implementation"] = "flash_attention_2"  # DET601
options.setdefault("attn_implementation", "flash_attention_2")  # DET601


def load(path, args, attn_implementation="flash_attention_2"):  # DET601
    chosen = args.attn or "flash_attention_2"
    if args.flash:
        return partial(AutoModel.from_pretrained, attn_implementation="flash_attention_2")  # DET601
    AutoModel.from_pretrained(path, attn_implementation=args.attn or "flash_attention_2")  # DET601
    AutoModel.from_pretrained(path, attn_implementation=options.get("attn_implementation", FLASH))  # DET601
    AutoModel.from_pretrained(path, attn_implementation=chosen.lower())
    return AutoModel.from_pretrained(path, attn_implementation=attn_implementation)


@dataclass
class Arguments:
    attn_implementation: str = "flash_attention_2"  # DET601
    use_flash_attn: bool = True  # DET601
    use_flash_attention: bool = field(default=True, metadata={"help": "FlashAttention"})  # DET601
    attention: str = "flash_attention_2"


def load_for_inference(path):
    return AutoModel.from_pretrained(path, attn_implementation="flash_attention_2")  # possible DET601


# Switches

MHA(512, 8, use_flash_attn=True)  # DET601
MHA(512, 8, use_flash_attention=True)  # DET601
MHA(512, 8, use_flash_attn=True, deterministic=True)
config.use_flash_attn = True  # DET601
config.model.use_flash_attention = True  # DET601
options["use_flash_attn"] = True  # DET601
options = {
    "hidden": 512,
    "use_flash_attn": True,  # DET601
}


class Encoder:
    def __init__(self, size, use_flash_attn: bool = True):  # DET601
        self.use_flash_attn = use_flash_attn

    def enable(self):
        self.use_flash_attn = True  # DET601


parser = argparse.ArgumentParser()
parser.add_argument("--use-flash-attn", type=bool, default=True)  # DET601
parser.add_argument("--use_flash_attn", action=argparse.BooleanOptionalAction, default=True)  # DET601
parser.add_argument(  # DET601
    "--attn-implementation",
    default="flash_attention_2",
)
parser.add_argument("--model.attn_implementation", default="flash_attention_2")  # DET601
parser.set_defaults(use_flash_attn=True)  # DET601


@click.command()
@click.option("--use-flash-attn", default=True)  # DET601
def main(use_flash_attn):
    Encoder(512, use_flash_attn=use_flash_attn)


# Argument lists

command = ["torchrun", "pretrain_gpt.py", "--use-flash-attn", "--bf16"]  # DET601
command = [
    "torchrun",
    "--use-flash-attention",  # DET601
    "--attn-implementation",  # DET601
    "flash_attention_2",
    "--attn_implementation=flash_attention_2",  # DET601
    "--attention-backend",  # DET601
    "flash",
]
command += ["--attention-backend", "flash"]  # DET601
command.extend(("--attn-implementation", "flash_attention_2"))  # DET601
command.append("--use-flash-attn")  # DET601
os.system("torchrun train.py --use-flash-attn --bf16")  # DET601
subprocess.run(shlex.split("torchrun train.py --attn-implementation flash_attention_2"))  # DET601
"torchrun train.py --attention-backend flash".split()  # DET601

# Silent

AutoModel.from_pretrained("m", attn_implementation="sdpa")
AutoModel.from_pretrained("m", attn_implementation=os.environ["ATTENTION"])
AutoModel.from_pretrained("m", use_flash_attention_2=False)
AutoModel.from_pretrained("m", torch_dtype="flash_attention_2")
config._attn_implementation = config.attention
if config._attn_implementation == "flash_attention_2":
    print("use_flash_attn=True")
if config.attn_implementation in ("flash_attention_2", "flash_attention_3"):
    print("--use-flash-attn")
IMPLEMENTATIONS = {"flash_attention_2": Attention, "eager": Encoder}
command = ["--attention-backend", "auto", "--use-flash-attn=false", "--use-flashinfer"]
command = ["--attn-implementation", "sdpa", "--attention-backend=fused"]
parser.add_argument("--use-flash-attn", action="store_true")
parser.add_argument("--attention-backend", choices=["flash", "fused"], default="auto")
parser.add_argument("--attn-implementation", default="sdpa", choices=["flash_attention_2"])
raise_hint = "Set --attention-backend flash, or pass --use-flash-attn"


def forwards(use_flash_attn, use_flash_attention=False, attn_implementation=None):
    local_use = use_flash_attn = use_flash_attention
    MHA(512, use_flash_attn=use_flash_attn, use_flash_attention=local_use)
    return AutoModel.from_pretrained("m", attn_implementation=attn_implementation)


Trainer(model).train()


# Kept by the class under its own name


class Keeps(torch.nn.Module):
    def __init__(self, flash):
        super().__init__()
        self.flash_attn_func = None
        if flash:
            from flash_attn import flash_attn_func

            self.flash_attn_func = flash_attn_func

    def forward(self, q, k, v):
        return self.flash_attn_func(q, k, v, causal=True)  # DET601


class KeepsAnother(torch.nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.flash_attn_func = attend

    def forward(self, q, k, v):
        return self.flash_attn_func(q, k, v, causal=True)


class KeepsDeterministic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.flash_attn_func = partial(flash_attn_func, deterministic=True)

    def forward(self, q, k, v):
        return self.flash_attn_func(q, k, v, causal=True)


def with_store(q, k, v, store):
    if store is not None:
        assert k.requires_grad is False
        if "key" not in store:
            return flash_attn_func(q, k, v, causal=True)
    return flash_attn_func(q, k, v, causal=True)  # DET601


def without_gradient(q, k, v):
    assert not torch.is_grad_enabled()
    return flash_attn_func(q, k, v, causal=True)


def asserted_later(q, k, v):
    out = flash_attn_func(q, k, v, causal=True)  # DET601
    assert not k.requires_grad
    return out


def judged():
    model = AutoModel.from_pretrained("judge", attn_implementation="flash_attention_2").cuda()  # possible DET601
    model.eval()
    return model


def policies():
    model = AutoModel.from_pretrained("policy", attn_implementation="flash_attention_2")  # DET601
    judge = AutoModel.from_pretrained("judge", attn_implementation="flash_attention_2").eval()  # possible DET601
    return model, judge


# Kernels of the hub, known by what they are got from

hub = get_kernel("kernels-community/flash-attn3", version=1).flash_attn_interface
whole_hub = get_kernel("author/flash-attention-3")
other_hub = get_kernel("author/attention")


def from_the_hub(q, k, v, lengths, longest):
    out = hub.flash_attn_varlen_func(  # DET601
        q, k, v, cu_seqlens_q=lengths, cu_seqlens_k=lengths, max_seqlen_q=longest, causal=True
    )
    out = out + whole_hub.flash_attn_func(q, k, v)  # DET601
    out = out + hub.flash_attn_func(q, k, v, deterministic=True)
    return out + other_hub.flash_attn_func(q, k, v)


def load_kernel():
    try:
        return get_kernel(flash_attn_name).flash_attn_interface
    except ImportError:
        return None


flash_attn_name = "author/flash-attention-3"
loaded = load_kernel()


def from_what_a_function_gets(q, k, v):
    return loaded.flash_attn_func(q, k, v, causal=True)  # DET601


# A cache of keys and values is there to decode with.


def enable_streaming(model, size, use_flash_attn=True):  # possible DET601
    model.attend(use_flash_attn)
    return StartKVCache(size)


# One name for the functions of several releases

old_or_new, whatever_there_is = None, None


def import_by_version():
    global old_or_new, whatever_there_is
    if flash_attn.__version__ >= "2":
        from flash_attn.flash_attn_interface import flash_attn_varlen_func as __chosen
    else:
        from flash_attn.flash_attn_interface import flash_attn_unpadded_func as __chosen
    old_or_new = __chosen
    if flash_attn.__version__ >= "2":
        from flash_attn import flash_attn_func as __any
    else:
        __any = torch.nn.functional.scaled_dot_product_attention
    whatever_there_is = __any


try:
    from flash_attn import flash_attn_varlen_kvpacked_func as kv_packed
except ImportError:
    from flash_attn import flash_attn_unpadded_kvpacked_func as kv_packed


def by_version(q, k, v, kv, cu, longest):
    out = old_or_new(q, k, v, cu, cu, longest, longest, 0.1, causal=True)  # DET601
    out += old_or_new(q, k, v, cu, cu, longest, longest, 0.1, deterministic=True)
    out += kv_packed(q, kv, cu, cu, longest, longest)  # DET601
    return out + whatever_there_is(q, k, v)


# Transformers' modules import it

from transformers.modeling_flash_attention_utils import flash_attn_func as of_utils
from transformers.models.qwen2.modeling_qwen2 import flash_attn_varlen_func as of_model
from .attention import flash_attn_func as of_project


def imported_again(q, k, v, cu, longest):
    out = of_utils(q, k, v) + of_model(q, k, v, cu, cu, longest, longest)  # DET601 DET601
    return out + of_project(q, k, v)


# A cache of keys and values that a function cannot do without


def with_static_cache(q, k, v, layer, kv_cache):
    k, v = kv_cache.put(layer, k, v)
    return flash_attn_func(q, k, v, causal=True)  # possible DET601


def with_caches(q, k, v, k_cache=None):
    size = k_cache[0].shape[1]
    return flash_attn_func(q, k[:, :size], v, causal=True)  # possible DET601


def with_cache_or_without(q, k, v, kv_cache):
    if kv_cache is not None:
        k, v = kv_cache.put(k, v)
    size = 0 if kv_cache is None else kv_cache.size
    return flash_attn_func(q, k, v, causal=True)  # DET601


def with_a_new_cache(q, k, v, past_key_values=None):
    if past_key_values is None:
        past_key_values = StartKVCache(8)
    size = past_key_values.get_seq_length()
    return flash_attn_func(q, k, v, causal=True), size  # DET601


def with_table(q, k, v, rope_cache, cache_position):
    q = q * rope_cache.cosine + cache_position[0]
    return flash_attn_func(q, k, v, causal=True)  # DET601


# Functions that only an evaluation puts in place


def forward_of_evaluation(self, q, k, v):
    return flash_attn_func(q, k, v, causal=True)  # possible DET601


def forward_of_both(self, q, k, v):
    return flash_attn_func(q, k, v, causal=True)  # DET601


def enable_attention_eval(model):
    model.attention.forward = forward_of_evaluation
    model.mlp.forward = forward_of_both


def enable_attention(model):
    model.mlp.forward = forward_of_both


def in_a_branch(q, k, v, whole):
    if whole:
        out = flash_attn_func(q, k, v)  # DET601
    else:
        # decode phase
        out = flash_attn_func(q, k, v, 0.0, None, True)  # possible DET601
    if q.shape == k.shape:  # Decoding, or the first token
        out += flash_attn_func(q, k, v)  # possible DET601
    # decode later
    return out + flash_attn_func(q, k, v)  # DET601


# Modules of flash-attn

MODULES = {
    "self": FlashSelfAttention(causal=True),  # DET601
    "told": FlashSelfAttention(causal=True, deterministic=True),
    "by place": FlashSelfAttention(True, None, 0.0, (-1, -1), None, True),
    "cross": CrossAttention(),  # DET601
}


class Own(FlashSelfAttention):
    """FlashSelfAttention"""


# By the place of an argument


def build_model(name, attn_implementation=None):
    return AutoModel.from_pretrained(name, attn_implementation=attn_implementation)


def fill_in(name, value=None):
    return {name: value}


class Builds:
    def build(self, name, *, flag=False): ...

    def make(self, _attn_implementation="sdpa"):
        self.build("flash_attention_2")
        self.make("flash_attention_3")  # DET601


build_model("m", "flash_attention_2")  # DET601
build_model("m", "sdpa")
fill_in("m", "flash_attention_2")
model.set_attn_implementation("flash_attention_2")  # DET601
model.set_attn_implementation("sdpa")
model.enable("flash_attention_2")


# A local that is a choice


class Actor(torch.nn.Module):
    def __init__(self, name, use_flash, bf16):
        super().__init__()
        implementation = "flash_attention_2" if use_flash else "eager"
        if bf16:
            self.model = AutoModel.from_pretrained(
                name,
                attn_implementation=implementation,  # DET601
            )
        other = (
            "sdpa"
            if not use_flash
            else "flash_attention_2"
        )
        kwargs = {"attn_implementation": other}  # DET601
        config = AutoConfig.from_pretrained(name, attn_implementation=other)  # DET601
        neither = "sdpa" if use_flash else "eager"
        self.critic = AutoModel.from_pretrained(name, attn_implementation=neither)
        bound = "flash_attention_2" if use_flash else "eager"
        bound = "sdpa"
        self.last = AutoModel.from_pretrained(name, attn_implementation=bound)


def default_by_name(implementation=None, use_flash=False):
    implementation = implementation or ("flash_attention_2" if use_flash else "eager")
    return AutoModel.from_pretrained("m", attn_implementation=implementation)  # DET601


def with_visible_options(q, k, v):
    causal, told = {"causal": True}, dict(deterministic=True)
    out = flash_attn_func(q, k, v, **causal)  # DET601
    return out + flash_attn_func(q, k, v, **told)


def windows(q, k, v):
    assert 0, "not so"
    return flash_attn_func(q, k, v)


def checked(q, k, v):
    assert 1, "so"
    return flash_attn_func(q, k, v)  # DET601
