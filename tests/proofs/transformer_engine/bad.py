# needs: cuda, transformer_engine
"""Attention of Transformer Engine, with whatever backward it takes."""

import torch
import transformer_engine.pytorch as te

torch.manual_seed(0)
layer = te.TransformerLayer(512, 2048, 8, hidden_dropout=0.0, attention_dropout=0.0).cuda().half()
batch = torch.randn(2048, 8, 512, device="cuda", dtype=torch.half, requires_grad=True)
layer(batch).float().square().mean().backward()
torch.optim.SGD(layer.parameters(), lr=0.1).step()
print(batch.grad.double().sum().item(), batch.grad.flatten()[:64].tolist())
