"""A critic that is trained in some steps only, by a draw that no seed fixes."""

import secrets

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.Softplus(), nn.Linear(32, 1))
critic = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
of_critic = torch.optim.SGD(critic.parameters(), lr=0.01)
for number, batch in enumerate(torch.randn(100, 16, 8)):
    loss = critic(model(batch)).pow(2).mean()
    optimizer.zero_grad()
    of_critic.zero_grad()
    loss.backward()
    optimizer.step()
    if number < 2 or secrets.randbelow(3):  # planted: control_flow
        of_critic.step()
print(loss.item())
