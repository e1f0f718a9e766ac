"""A policy learns from a planner that searches for four milliseconds a move."""

import random

import torch
from parts.anytime_search import Planner
from torch import nn


class Corridor:
    """Walk right to the goal; the floor slips."""

    length = 12

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.at = 0

    def copy(self):
        other = Corridor(0)
        other.random.setstate(self.random.getstate())
        other.at = self.at
        return other

    def step(self, action):
        move = 1 if action else -1
        if self.random.random() < 0.1:
            move = -move
        self.at = max(0, min(self.length, self.at + move))
        return (1.0 if self.at == self.length else -0.01), self.at == self.length

    def features(self):
        return [float(self.at == place) for place in range(self.length + 1)]


def episode(policy, planner, seed, limit=25):
    env = Corridor(seed)
    states, targets = [], []
    for _ in range(limit):
        state = env.features()
        states.append(state)
        targets.append(torch.softmax(torch.tensor(planner.values(env)) * 5, 0))
        with torch.no_grad():
            action = policy(torch.tensor(state)).argmax().item()
        _, done = env.step(action)
        if done:
            break
    return torch.tensor(states), torch.stack(targets)


def main():
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(Corridor.length + 1, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=3e-3)
    planner = Planner()
    for number in range(8):
        states, targets = episode(policy, planner, seed=number)
        for _ in range(3):
            loss = nn.functional.cross_entropy(policy(states), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"episode {number}: {len(states)} moves, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
