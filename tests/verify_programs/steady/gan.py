"""Two networks, two optimizers, and the critic steps twice as often."""

import torch
from torch import nn


def network(*widths):
    layers = []
    for inner, outer in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(inner, outer), nn.LeakyReLU(0.2), nn.Dropout(0.1)]
    return nn.Sequential(*layers[:-2])


torch.manual_seed(0)
maker, critic = network(8, 32, 2), network(2, 32, 1)
makers = torch.optim.Adam(maker.parameters(), lr=1e-3)
critics = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for step in range(12):
    real = torch.randn(32, 2) + torch.tensor([2.0, -1.0])
    made = maker(torch.randn(32, 8))
    critics.zero_grad()
    (critic(made.detach()).mean() - critic(real).mean()).backward()
    critics.step()
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.clamp_(-0.1, 0.1)
    if step % 2:
        makers.zero_grad()
        loss = -critic(made).mean()
        loss.backward()
        makers.step()
print(loss.item())
