"""Running sums and products."""

from __future__ import annotations

from detlint.operations.rows import (
    ISSUES,
    NATIVE,
    PULLS,
    Alternative,
    Argument,
    Operation,
    spelled,
    usage,
)

_CUMPROD = '''
def cumprod(input, dim):
    """Two rows take the place of one, which would go to the scan that differs."""
    return input.expand(2, *input.shape).cumprod(dim % input.dim() + 1)[0]
'''

_LOGCUMSUMEXP = '''
def logcumsumexp(input, dim):
    """Two rows take the place of one, which would go to the scan that differs."""
    return input.expand(2, *input.shape).logcumsumexp(dim % input.dim() + 1)[0]
'''

_CUMSUM = '''
import torch
import torch.nn.functional as F

def cumsum(input, dim, block=256):
    """Sums within blocks as one product, then the sums before each block."""
    input = input.movedim(dim, -1)
    size = input.shape[-1]
    blocks = F.pad(input, (0, -size % block)).unflatten(-1, (-1, block))
    result = blocks @ torch.ones(block, block, dtype=input.dtype, device=input.device).triu()
    if size > block:
        before = cumsum(result[..., -1], -1, block)[..., :-1]
        result = result + F.pad(before, (1, 0))[..., None]
    return result.flatten(-2)[..., :size].movedim(-1, dim)
'''

_ONE_PIECE = (
    "One long row goes to a scan whose blocks take up what others have finished by then, and "
    "floating-point results depend on how far that was. "
)

SCANS = (
    Operation(
        name="torch.cumprod",
        overloads=spelled("aten::cumprod{,_}"),
        api=spelled("torch.{,Tensor.}cumprod torch.Tensor.cumprod_"),
        calls=spelled("torch.{,Tensor.}cumprod torch.Tensor.cumprod_"),
        condition="floating point, and dim holds all elements: one dimension; also within the "
        "backward of cumprod, and of prod, where the input holds a zero",
        direction="forward",
        silent=True,
        reason=_ONE_PIECE + "Of the scans, only cumsum asks whether determinism is on.",
        alternatives=(
            Alternative("compute it for two rows: rows are scanned one by one", _CUMPROD),
        ),
        source=NATIVE + "cuda/ScanUtils.cuh",
    ),
    Operation(
        name="torch.logcumsumexp",
        overloads=("aten::logcumsumexp",),
        api=spelled("torch.{,Tensor.}logcumsumexp"),
        calls=spelled("torch.{,Tensor.}logcumsumexp"),
        condition="dim holds all elements: one dimension; its backward has such scans, too",
        direction="forward",
        silent=True,
        reason=_ONE_PIECE + "Of the scans, only cumsum asks whether determinism is on.",
        alternatives=(
            Alternative("compute it for two rows: rows are scanned one by one", _LOGCUMSUMEXP),
        ),
        source=NATIVE + "cuda/ScanUtils.cuh",
    ),
    Operation(
        name="torch.cumsum",
        alerts=("cumsum_cuda_kernel",),
        overloads=spelled("aten::cumsum{,_}"),
        api=spelled("torch.{,Tensor.}cumsum torch.Tensor.cumsum_"),
        calls=spelled("torch.{,Tensor.}cumsum torch.Tensor.cumsum_"),
        condition="floating point or complex",
        direction="forward",
        reason=_ONE_PIECE + "torch refused any shape, until it got a scan in a fixed order.",
        alternatives=(
            Alternative("matrix products over blocks", _CUMSUM),
            Alternative("a newer torch: its cumsum is deterministic if enabled"),
        ),
        until="2.6",
        source=PULLS + "140887",
        usages=(usage("", Argument("input", 0, "floating")),),
    ),
    Operation(
        name="torch.cumsum under torch.compile",
        overloads=("aten::cumsum",),
        api=spelled("torch.{,Tensor.}cumsum"),
        condition="compiled by inductor for CUDA, floating point, and long enough for several "
        "blocks to share the scan; not when run without torch.compile",
        direction="forward",
        silent=True,
        reason="The code that inductor generates groups the additions by how far other blocks "
        "have come, also with determinism on.",
        alternatives=(Alternative("matrix products over blocks", _CUMSUM),),
        source=ISSUES + "190946",
    ),
)
