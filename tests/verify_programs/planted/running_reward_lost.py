# verify: --resume-at 5 --resume-args resume
# lost: (?i)baseline
"""REINFORCE: the running baseline lives in a Python object and is not saved."""
import os
import sys

import torch
from torch import nn


class Agent:
    def __init__(self):
        self.policy = nn.Linear(4, 3)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=0.01)
        self.baseline = 0.0
        self.step = 0

    def learn(self, observations):
        generator = torch.Generator().manual_seed(self.step)
        logits = self.policy(observations)
        actions = torch.multinomial(logits.softmax(1), 1, generator=generator)
        reward = (actions == 1).float().mean().item() + observations.mean().item()
        chosen = logits.log_softmax(1).gather(1, actions).mean()
        loss = -(reward - self.baseline) * chosen
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.baseline = 0.9 * self.baseline + 0.1 * reward  # planted: state
        self.step += 1

    def save(self, path):
        torch.save({"p": self.policy.state_dict(), "o": self.optimizer.state_dict(), "s": self.step}, path)

    def load(self, path):
        state = torch.load(path)
        self.policy.load_state_dict(state["p"])
        self.optimizer.load_state_dict(state["o"])
        self.step = state["s"]


torch.manual_seed(0)
agent = Agent()
world = torch.randn(10, 16, 4)
if sys.argv[1:] == ["resume"] and os.path.exists("agent.pt"):
    agent.load("agent.pt")
while agent.step < 10:
    agent.learn(world[agent.step])
    agent.save("agent.pt")
