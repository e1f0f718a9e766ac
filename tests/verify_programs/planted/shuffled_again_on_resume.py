# verify: --resume-at 7 --resume-args "--ckpt state.pt"
# lost: (?i)place in the data|batch|order
"""A resumed run begins the epoch anew with another permutation."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
model = nn.Linear(5, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
dataset = TensorDataset(torch.randn(40, 5), torch.randint(0, 2, (40,)))
loader = DataLoader(dataset, batch_size=8, shuffle=True)
done = 0
if "--ckpt" in sys.argv:
    state = torch.load(sys.argv[sys.argv.index("--ckpt") + 1])
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    done = state["done"]

while done < 15:
    for x, y in loader:  # planted: state
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += 1
        torch.save(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "done": done},
            "state.pt",
        )
        if done == 15:
            break
