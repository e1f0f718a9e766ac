"""DQN with a target network on a cart and pole of our own."""

import argparse
import collections
import logging
import math
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

log = logging.getLogger("dqn")


class Transition:
    """One step. Compared by identity: two equal ones are still two."""

    __slots__ = ("state", "action", "reward", "following", "done", "episode")

    def __init__(self, state, action, reward, following, done, episode):
        self.state, self.action, self.reward = state, action, reward
        self.following, self.done, self.episode = following, done, episode


class CartPole:
    def __init__(self, rng: np.random.Generator, horizon: int = 200):
        self.rng, self.horizon = rng, horizon

    def reset(self) -> np.ndarray:
        self.state = self.rng.uniform(-0.05, 0.05, size=4)
        self.time = 0
        return self.state.astype(np.float32)

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        x, v, angle, spin = self.state
        force = 10.0 if action else -10.0
        push = (force + 0.05 * spin**2 * math.sin(angle)) / 1.1
        turn = (9.8 * math.sin(angle) - math.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        run = push - 0.05 * turn * math.cos(angle) / 1.1
        self.state = self.state + 0.02 * np.array([v, run, spin, turn])
        self.time += 1
        fell = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state.astype(np.float32), 0.0 if fell else 1.0, bool(fell or self.time >= self.horizon)


class Replay:
    """Transitions by episode, so that those of bad episodes can be given up at once."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self.live: set[Transition] = set()  # planted: batch_content or batch_order
        self.by_episode: dict[int, list[Transition]] = collections.defaultdict(list)

    def __len__(self) -> int:
        return len(self.live)

    def add(self, transition: Transition) -> None:
        self.live.add(transition)
        self.by_episode[transition.episode].append(transition)
        while len(self.live) > self.capacity:
            oldest = next(iter(self.by_episode))
            self.live.difference_update(self.by_episode.pop(oldest))

    def sample(self, count: int, rng: random.Random) -> list[Transition]:
        return rng.sample(tuple(self.live), count)  # planted: batch_content or batch_order


def collate(batch: list[Transition]) -> tuple[torch.Tensor, ...]:
    return (
        torch.from_numpy(np.stack([t.state for t in batch])),
        torch.tensor([t.action for t in batch]),
        torch.tensor([t.reward for t in batch]),
        torch.from_numpy(np.stack([t.following for t in batch])),
        torch.tensor([float(t.done) for t in batch]),
    )


def make_network(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))


def td_loss(network, target, batch, gamma: float) -> torch.Tensor:
    state, action, reward, following, done = batch
    value = network(state).gather(1, action[:, None]).squeeze(1)
    with torch.no_grad():
        best = network(following).argmax(1, keepdim=True)
        ahead = target(following).gather(1, best).squeeze(1)
        goal = reward + gamma * (1 - done) * ahead
    return F.smooth_l1_loss(value, goal)


def act(network, state: np.ndarray, epsilon: float, rng: random.Random) -> int:
    if rng.random() < epsilon:
        return rng.randrange(2)
    with torch.no_grad():
        return int(network(torch.from_numpy(state)[None]).argmax())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=4000)
    parser.add_argument("--warmup", type=int, default=800)
    parser.add_argument("--capacity", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--sync", type=int, default=400)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--seed", type=int, default=23)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    world = CartPole(np.random.default_rng(args.seed))
    network, target = make_network(args.width), make_network(args.width)
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=args.lr)
    replay = Replay(args.capacity)
    returns = collections.deque([0.0], maxlen=20)

    state, episode, total = world.reset(), 0, 0.0
    for frame in range(args.frames):
        epsilon = max(0.05, 1.0 - frame / (0.6 * args.frames))
        action = act(network, state, epsilon, rng)
        following, reward, done = world.step(action)
        replay.add(Transition(state, action, reward, following, done, episode))
        state, total = following, total + reward
        if done:
            returns.append(total)
            state, episode, total = world.reset(), episode + 1, 0.0
        if len(replay) >= args.warmup and frame % args.every == 0:
            batch = collate(replay.sample(args.batch_size, rng))
            loss = td_loss(network, target, batch, args.gamma)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 10.0)
            optimizer.step()
            if frame % args.sync == 0:
                target.load_state_dict(network.state_dict())
                log.info("frame %d  loss %.4f  return %.1f", frame, loss.item(), np.mean(returns))
    torch.save({"network": network.state_dict(), "frames": args.frames}, "dqn.pt")
    print(f"loss {loss.item():.17g}")
    print(f"checksum {sum(p.double().abs().sum().item() for p in network.parameters()):.17g}")


if __name__ == "__main__":
    main()
