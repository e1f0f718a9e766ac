"""An anytime planner: as many rollouts as the budget of a move allows."""

import random
import time


class Planner:
    def __init__(self, budget=0.004, depth=20, seed=11):
        self.budget = budget
        self.depth = depth
        self.random = random.Random(seed)

    def rollout(self, env, action):
        world = env.copy()
        reward, done = world.step(action)
        total = reward
        for _ in range(self.depth):
            if done:
                break
            reward, done = world.step(self.random.random() < 0.6)
            total += reward
        return total

    def values(self, env):
        sums, counts = [0.0, 0.0], [0, 0]
        deadline = time.perf_counter() + self.budget
        while time.perf_counter() < deadline or min(counts) == 0:  # planted: clock
            action = sum(counts) % 2
            sums[action] += self.rollout(env, action)
            counts[action] += 1
        return [total / count for total, count in zip(sums, counts)]
