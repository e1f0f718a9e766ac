# needs: cuda
"""The same loss, by cuDNN's deterministic kernel."""

import hashlib

import torch
import torch.nn.functional as F

torch.manual_seed(0)

STEPS, BATCH, LETTERS, LENGTH = 512, 16, 5, 200  # few letters: each is often in a text
scores = torch.randn(STEPS, BATCH, LETTERS).cuda().requires_grad_()
texts = torch.randint(1, LETTERS, (BATCH * LENGTH,), dtype=torch.int32)  # as cuDNN wants them

with torch.backends.cudnn.flags(deterministic=True, enabled=True):
    loss = F.ctc_loss(scores.log_softmax(2), texts, [STEPS] * BATCH, [LENGTH] * BATCH)
    loss.backward()
print(loss.item(), hashlib.sha256(scores.grad.cpu().numpy().tobytes()).hexdigest())
