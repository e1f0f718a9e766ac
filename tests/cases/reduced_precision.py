import os

import tensorflow as tf
import torch
import torch.backends.cuda as backend
import torch.backends.cudnn as cudnn
from torch import set_float32_matmul_precision
from torch.backends.cuda import matmul
from transformers import Seq2SeqTrainingArguments, TrainingArguments

# Every way to say it

torch.backends.cuda.matmul.allow_tf32 = True  # DET308
torch.backends.cudnn.allow_tf32 = True  # DET308
cudnn.allow_tf32 = True  # DET308
matmul.allow_tf32 = True  # DET308
backend.matmul.allow_tf32 = True  # DET308
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True  # DET308, DET308
setattr(torch.backends.cuda.matmul, "allow_tf32", True)  # DET308
torch._C._set_cublas_allow_tf32(True)  # DET308
torch._C._set_cudnn_allow_tf32(True)  # DET308
torch.set_float32_matmul_precision("high")  # DET308
torch.set_float32_matmul_precision(precision="medium")  # DET308
set_float32_matmul_precision("high")  # DET308
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = True  # DET308
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True  # DET308
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = (True, True)  # DET308
torch.backends.cuda.matmul.allow_fp16_accumulation = True  # DET308
torch.backends.fp32_precision = "tf32"  # DET308
torch.backends.cuda.matmul.fp32_precision = "tf32"  # DET308
cudnn.conv.fp32_precision = "tf32"  # DET308
torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # DET308
tf.config.experimental.enable_tensor_float_32_execution(True)  # DET308
TrainingArguments("out", tf32=True)  # DET308
Seq2SeqTrainingArguments(
    output_dir="out",
    tf32=True,  # DET308
)
PRECISION = "high"
torch.set_float32_matmul_precision(PRECISION)  # DET308
with cudnn.flags(enabled=True, allow_tf32=True):  # DET308
    pass
if torch.cuda.is_available():
    torch.backends.cuda.matmul.allow_tf32 = True  # DET308


def main(rank):
    torch.set_float32_matmul_precision("high")  # DET308
    if rank == 0:
        torch.backends.cudnn.allow_tf32 = True  # DET308


# Silent: off, unknown, left to a setting, another library's

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.set_float32_matmul_precision("highest")
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = (False, False)
torch.backends.cuda.matmul.fp32_precision = "ieee"
torch.backends.fp32_precision = "none"
torch.backends.cuda.matmul.allow_tf32 = os.environ.get("TF32") == "1"
tf.config.experimental.enable_tensor_float_32_execution(False)
TrainingArguments("out", tf32=False)
TrainingArguments("out", tf32=None)
print(torch.backends.cuda.matmul.allow_tf32, torch.get_float32_matmul_precision() == "high")
with cudnn.flags(enabled=True, allow_tf32=False):
    pass


def by_setting(args, allow_tf32=True):
    torch.backends.cuda.matmul.allow_tf32 = allow_tf32
    torch.set_float32_matmul_precision(args.precision)
    if args.allow_tf32:
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.set_float32_matmul_precision("high")


def restored(before):
    torch.backends.cuda.matmul.allow_tf32 = before


def other(torch, config):
    torch.backends.cuda.matmul.allow_tf32 = True
    config.allow_tf32 = True
    config.set_float32_matmul_precision("high")
