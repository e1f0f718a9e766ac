"""DET602 on the shapes that training code takes."""

import deepspeed.ops.sparse_attention as sparse
import torch
import torch.nn.functional as F
import xformers
import xformers.ops
from torch import nn
from torch.backends.cuda import sdp_kernel
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention import sdpa_kernel as choose
from xformers.ops import memory_efficient_attention

FAST = [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]


class Attention(nn.Module):
    def __init__(self, backends):
        super().__init__()
        self.backends = backends
        self.sparse = sparse.SparseSelfAttention(max_seq_length=2048)  # DET602

    def forward(self, q, k, v):
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # DET602
            a = F.scaled_dot_product_attention(q, k, v)
        with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):  # DET602
            a = F.scaled_dot_product_attention(q, k, v)
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):  # DET602
            a = F.scaled_dot_product_attention(q, k, v)
        with choose(FAST, set_priority=True):  # DET602
            a = F.scaled_dot_product_attention(q, k, v)
        with sdpa_kernel(SDPBackend.MATH), torch.autocast("cuda"):
            a = F.scaled_dot_product_attention(q, k, v)
        with sdpa_kernel(self.backends):
            a = F.scaled_dot_product_attention(q, k, v)
        with sdp_kernel(enable_flash=True), sdp_kernel(True, False):  # DET602
            a = F.scaled_dot_product_attention(q, k, v)
        with sdp_kernel(enable_flash=False, enable_math=True, enable_mem_efficient=False):
            a = F.scaled_dot_product_attention(q, k, v)
        return a + F.scaled_dot_product_attention(q, k, v)

    def fast(self, q, k, v, bias):
        a = memory_efficient_attention(q, k, v, attn_bias=bias)  # DET602
        return a + xformers.ops.memory_efficient_attention(q, k, v)  # DET602

    @torch.no_grad()
    def attend_once(self, q, k, v):
        return memory_efficient_attention(q, k, v)

    def generate(self, q, k, v):
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # DET602
            return F.scaled_dot_product_attention(q, k, v)

    def decode(self, q, kv_cache):
        return memory_efficient_attention(q, kv_cache[0], kv_cache[1])  # DET602


def is_available(q):
    try:
        _ = xformers.ops.memory_efficient_attention(q, q, q)
    except Exception as error:
        raise error


def set_up(flags, unet, pipe):
    torch.backends.cuda.enable_flash_sdp(True)
    torch.backends.cuda.enable_cudnn_sdp(True)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(flags)
    torch.backends.cuda.enable_math_sdp(True)
    torch.backends.cuda.enable_math_sdp(False)  # DET602
    unet.enable_xformers_memory_efficient_attention()  # DET602
    pipe.enable_xformers_memory_efficient_attention()  # DET602
    optimizer = torch.optim.AdamW(unet.parameters())
    return optimizer


@registry.register("flash")
def flash(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # DET602
        return F.scaled_dot_product_attention(q, k, v)


class Model:
    def enable_xformers_memory_efficient_attention(self):
        self.unet.enable_xformers_memory_efficient_attention()


class Local:
    def use(self, memory_efficient_attention, q):
        return memory_efficient_attention(q, q, q)
