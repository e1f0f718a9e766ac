"""Imitation of simulated actors."""
import multiprocessing as mp
import os
import time

from torch import nn
import numpy as np
import torch


def play(actor, weights, seed):
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(20, 6)).astype(np.float32)
    noise = 0.1 * rng.normal(size=20)
    return states, (states @ weights + noise > 0).astype(np.float32)


def loop(actor, inbox, outbox):
    while (job := inbox.get()) is not None:
        number, weights = job
        time.sleep(os.getpid() % 3 / 1000)  # not all at once
        outbox.put((number, actor, play(actor, weights, seed=[number, actor])))


class Actors:
    def __init__(self, count):
        context = mp.get_context("fork")
        self.outbox = context.Queue()
        self.inboxes = [context.Queue() for _ in range(count)]
        self.processes = [
            context.Process(target=loop, args=(actor, inbox, self.outbox), daemon=True)
            for actor, inbox in enumerate(self.inboxes)
        ]
        for process in self.processes:
            process.start()

    def round(self, number, weights):
        for inbox in self.inboxes:
            inbox.put((number, weights))
        answers = [self.outbox.get(timeout=60) for _ in self.inboxes]
        answers.sort(key=lambda answer: answer[1])
        return [np.concatenate(part) for part in zip(*(episode for _, _, episode in answers))]

    def stop(self):
        for inbox in self.inboxes:
            inbox.put(None)
        for process in self.processes:
            process.join()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.value = nn.Linear(16, 1)

    def forward(self, states):
        return self.value(self.hidden(states).relu()).squeeze(1)


def main(rounds=25):
    actors = Actors(3)
    try:
        torch.manual_seed(6)
        policy = Policy()
        optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
        weights = torch.linspace(-1, 1, 6).numpy()
        for number in range(rounds):
            states, actions = map(torch.from_numpy, actors.round(number, weights))
            loss = nn.functional.binary_cross_entropy_with_logits(policy(states), actions)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            weights = weights + policy.hidden.weight.detach().mean(0).numpy() * 0.01
        print(f"loss {loss.item():.8f}")
    finally:
        actors.stop()


if __name__ == "__main__":
    main()
