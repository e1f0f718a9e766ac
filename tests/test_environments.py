"""Environments of reinforcement learning, and searches that draw from generators of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = """\
import argparse
import gymnasium as gym
import numpy as np
import torch
import envs

torch.manual_seed(0)
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
args = parser.parse_args()
env = {}
{}
state, reward, *_ = env.step(action)
loss.backward(); optimizer.step()
"""
ENVS = """\
import gym

def make():
    return gym.make("CartPole-v1")

def make_seeded(seed):
    env = gym.make("CartPole-v1")
    env.seed(seed)
    return env

def random(env):
    return env.action_space.sample()

def seed_space(env, seed):
    env.action_space.seed(seed)

class Wrapper(gym.Wrapper):
    def reset(self, *, seed=None):
        return self.env.reset(seed=seed)
"""
MAKE = 'gym.make("CartPole-v1")'


def found(capsys: pytest.CaptureFixture[str], code: str) -> list[str]:
    main(["--no-cache", "--output-format", "json", "--select", code, "."])
    return [place_of(each) for each in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize(
    ("made", "line", "is_found"),
    [
        (MAKE, "state, _ = env.reset()", True),
        (MAKE, "state, _ = env.reset(seed=None)", True),
        (MAKE, "state, _ = env.reset(seed=0)", False),
        (MAKE, "env.seed(0)", False),
        (MAKE, "env.action_space.seed(3)", True),
        (MAKE, "if args.seed is not None: env.reset(seed=args.seed)", True),
        (MAKE, "np.random.seed(0); torch.utils.data.RandomSampler(d, seed=0)", True),
        (MAKE, "run(env, seed=0)", False),
        ('gym.vector.make("CartPole-v1", 8)', "envs.reset()", True),
        ("envs.make()", "env.reset()", True),
        ("envs.make_seeded(1)", "env.reset()", False),
        ("None", "pass", False),
        ("envs.Wrapper(envs.make())", "env.reset()", True),
        ("envs.Wrapper(envs.make())", "env.reset(seed=3)", False),
    ],
)
def test_an_environment_that_nothing_seeds_differs(
    project: Project, capsys: pytest.CaptureFixture[str], made: str, line: str, *, is_found: bool
) -> None:
    project({"train.py": TRAIN.format(made, line), "envs.py": ENVS})
    place = "train.py:11" if made.startswith("gym") else "train.py:1"
    assert found(capsys, "DET102") == [place] * is_found


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("env.reset(seed=0); action = env.action_space.sample()", True),
        ("env.seed(0); actions = [env.single_action_space.sample() for _ in rows]", True),
        ("env.reset(seed=0); action = envs.random(env)", True),
        ("env.reset(seed=0); action = space.sample()", False),
        ("env.action_space.seed(0); env.reset(seed=0); env.action_space.sample()", False),
        ("env = stable.make_vec_env('A', seed=0); env.action_space.sample()", False),
        ("env.reset(seed=0); env.action_space.sample(); envs.seed_space(env, seed=0)", False),
    ],
)
def test_a_space_draws_from_a_generator_that_no_reset_seeds(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"train.py": TRAIN.format(MAKE, line), "envs.py": ENVS})
    place = "train.py:1" if "random(" in line else "train.py:12"
    assert found(capsys, "DET102") == [place] * is_found


def test_an_environment_and_its_space_that_nothing_seeds_are_told_at_once(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "env.reset(); action = env.action_space.sample()"
    project({"train.py": TRAIN.format(MAKE, line), "envs.py": ENVS})
    assert found(capsys, "DET102") == ["train.py:11", "train.py:12"]


@pytest.mark.parametrize("space", ["env.action_space", "env.observation_space"])
def test_the_message_says_which_space_to_seed(
    project: Project, capsys: pytest.CaptureFixture[str], space: str
) -> None:
    line = f"env.reset(seed=0); action = {space}.sample()"
    project({"train.py": TRAIN.format(MAKE, line), "envs.py": ENVS})
    main(["--no-cache", "--output-format", "full", "--select", "DET102", "."])
    assert f"seed the space as well: {space}.seed(seed)" in capsys.readouterr().out


def test_the_message_says_what_to_pass(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"train.py": TRAIN.format(MAKE, "env.reset()"), "envs.py": ENVS})
    main(["--no-cache", "--output-format", "full", "--select", "DET102", "."])
    told = capsys.readouterr().out
    assert (
        'train.py:11:7: DET102 `gym.make("CartPole-v1")` makes an environment that draws from a '
        "generator of its own, and neither train.py nor what it imports seeds it"
    ) in told
    assert "help: pass the seed to the first reset: env.reset(seed=seed), or before gym" in told


def test_what_plays_and_does_not_train_is_no_finding(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TRAIN.format(MAKE, "env.reset()").rpartition("loss.")[0]
    project({"play.py": text, "envs.py": ENVS})
    assert found(capsys, "DET102") == []


def test_an_environment_in_which_nothing_is_done_is_no_finding(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TRAIN.format(MAKE, "scheduler.step(loss)").replace("env.step(action)", "other")
    project({"train.py": text, "envs.py": ENVS})
    assert found(capsys, "DET102") == []


OWN = """\
import random
import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding

class Field({base}):
    def reset(self, *, seed=None, options=None):
        {reset}
        self.state = {draw}
        return self.state, {{}}

class Noise:
    def __init__(self, seed=None):
        self.seed = seed

    def reset(self):
        self.level = 0


if __name__ == "__main__":
    Field().reset(seed=3)
"""
TRAIN_OWN = """\
import torch
from field import Field, Noise

torch.manual_seed(0)
env = Field()
noise = Noise()
{}
state, reward, *_ = env.step(action)
loss.backward(); optimizer.step()
"""
BASE, RESET = "gym.Env", "super().reset(seed=seed)"
OWN_DRAW = "self.np_random.uniform(0, 1, 4)"


@pytest.mark.parametrize(
    ("base", "reset", "draw", "line", "is_found"),
    [
        (BASE, RESET, OWN_DRAW, "env.reset()", True),
        (BASE, RESET, OWN_DRAW, "env.reset(seed=0)", False),
        (BASE, "self.np_random, _ = seeding.np_random(seed)", OWN_DRAW, "env.reset()", True),
        (BASE, "self.np_random = np.random.RandomState(1)", OWN_DRAW, "env.reset()", False),
        ("object", "pass", OWN_DRAW, "env.reset()", False),
        (BASE, RESET, "np.zeros(4)", "env.reset()", False),
    ],
)
def test_an_environment_of_the_program_draws_from_the_generator_that_it_has(  # noqa: PLR0913, PLR0917
    project: Project,
    capsys: pytest.CaptureFixture[str],
    base: str,
    reset: str,
    draw: str,
    line: str,
    *,
    is_found: bool,
) -> None:
    own = OWN.format(base=base, reset=reset, draw=draw)
    project({"train.py": TRAIN_OWN.format(line), "field.py": own})
    assert found(capsys, "DET102") == ["train.py:1"] * is_found


PLAIN = """\
import random
import gym

class Field(gym.Env):
    def reset(self):
        return random.random()
"""
REGISTERED = """\
from gym.envs.registration import register

register(id="field-v0", entry_point="{}")
"""


@pytest.mark.parametrize(
    ("made", "point", "told"),
    [
        ("fields:field-v0", "fields.field:Field", "Python's global generator"),
        ("fields:field-v0", "gym.envs.classic_control:CartPoleEnv", "a generator of its own"),
        ("CartPole-v1", "fields.field:Field", "a generator of its own"),
    ],
)
def test_an_environment_that_the_project_registers_draws_as_its_class_says(
    project: Project, capsys: pytest.CaptureFixture[str], made: str, point: str, told: str
) -> None:
    """The name says which package is imported, and that which class it is."""
    train = TRAIN.replace("import envs\n", "").format(f'gym.make("{made}")', "env.reset()")
    package = {"__init__.py": REGISTERED.format(point), "field.py": PLAIN}
    project({"train.py": train, **{f"fields/{name}": text for name, text in package.items()}})
    main(["--no-cache", "--output-format", "full", "--select", "DET102", "."])
    found = capsys.readouterr().out
    assert found.count(": DET102 ") == 1
    assert told in found


LEARNER = """\
import torch

class Learner:
    def __init__(self):
        self.net = torch.nn.Linear(3, 1)

    def act(self, state):
        return self.net(state)

    def update(self, state, reward):
        loss = (self.net(state) - reward).mean()
        loss.backward()
        self.optimizer.step()
"""
DEMO = """\
import gymnasium as gym
import torch
from learner import Learner

def play(learner):
    env = gym.make("Pendulum-v1")
    state, _ = env.reset()
    for _ in range(100):
        state, reward, *_ = env.step(learner.act(state))
        {}

def main():
    torch.manual_seed(0)
    play(Learner())

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("name", ["short_demo.py", "short/__init__.py"])
def test_what_calls_a_step_of_training_trains_whatever_it_is_called(
    project: Project, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = "short/" if "/" in name else ""
    files = {name: "", f"{folder}learner.py": LEARNER}
    called = f"{folder}short_demo.py"
    project({**files, called: DEMO.format("learner.update(state, reward)")})
    assert found(capsys, "DET102") == [f"{called}:6"]
    project({**files, called: DEMO.format("print(state)")})
    assert found(capsys, "DET102") == []


EVALUATE = """\
import gymnasium as gym
import numpy as np
import torch

net = torch.load("net.pt")
env = gym.make("CartPole-v1"{made})
{lines}
{keeps}
if __name__ == "__main__":
    print(env)
"""
PLAYED = "state, _ = env.reset()\nstate, reward, *_ = env.step(net(state))"
MEASURED = """\
returns = []
for _ in range(9):
    state, _ = env.reset()
    total, done = 0.0, False
    while not done:
        state, reward, done, *_ = env.step(net(state))
        total += reward
    returns.append(total)
"""
RETURNED = """\
def play():
    state, total = env.reset()[0], 0.0
    for _ in range(9):
        state, reward, *_ = env.step(net(state))
        total += reward
    return total
"""
GIVEN = """\
from stable_baselines3.common.evaluation import evaluate_policy
mean, deviation = evaluate_policy(net, env, n_eval_episodes=9)
"""
SAMPLED = "reward = net(env.observation_space.sample())"
KEEPS = "np.save('scores.npy', reward)"


@pytest.mark.parametrize(
    ("made", "lines", "keeps", "least", "rows"),
    [
        ("", PLAYED, KEEPS, "likely", [6]),
        ("", PLAYED.replace("()", "(seed=0)"), KEEPS, "possible", []),
        ("", PLAYED, "print(reward)", "likely", []),
        ("", PLAYED, "print(reward)", "possible", [6]),
        (", render_mode='rgb_array'", PLAYED, KEEPS, "likely", []),
        (", render_mode='rgb_array'", PLAYED, KEEPS, "possible", [6]),
        ("", SAMPLED, KEEPS, "likely", [7]),
        ("", f"env.observation_space.seed(0)\n{SAMPLED}", KEEPS, "possible", []),
        ("", "shape = env.observation_space.shape", KEEPS, "possible", []),
        ("", MEASURED, "print(np.mean(returns))", "likely", [6]),
        ("", MEASURED, "print(sum(returns) / 9)", "likely", [6]),
        ("", MEASURED, "print(np.array(returns).mean())", "likely", [6]),
        ("", MEASURED, "print(returns, np.mean(state))", "likely", []),
        (
            "",
            MEASURED.replace("env.step", "env.render(); env.step"),
            "np.mean(returns)",
            "likely",
            [],
        ),
        ("", RETURNED, "print(np.mean([play() for _ in range(9)]))", "likely", [6]),
        ("", RETURNED, "print(play())", "likely", []),
        ("", GIVEN, "print(mean)", "likely", [6]),
        ("", f"env.reset(seed=0)\n{GIVEN}", "print(mean)", "possible", []),
        (
            "",
            GIVEN.replace("stable_baselines3.common.evaluation", "own"),
            "print(mean)",
            "possible",
            [],
        ),
    ],
)
def test_what_evaluates_and_writes_draws_from_environments_as_well(  # noqa: PLR0913, PLR0917
    project: Project,
    capsys: pytest.CaptureFixture[str],
    made: str,
    lines: str,
    keeps: str,
    least: str,
    rows: list[int],
) -> None:
    project({"evaluate.py": EVALUATE.format(made=made, lines=lines, keeps=keeps)})
    options = ["--no-cache", "--output-format", "json", "--min-confidence", least]
    main([*options, "--select", "DET102", "."])
    told = [place_of(each) for each in json.loads(capsys.readouterr().out)]
    assert told == [f"evaluate.py:{row}" for row in rows]


@pytest.mark.parametrize(
    ("made", "line", "least", "is_found"),
    [
        ("CityEnv('s')", "env.reset()", "possible", True),
        ("CityEnv('s')", "env.reset()", "likely", False),
        ("CityEnv('s')", "env.reset(seed=3)", "possible", False),
        ("CityEnv('s', rand_seed=3)", "env.reset()", "possible", False),
        ("Wrapper(own.OwnEnv('s'))", "env.reset()", "possible", False),
        ("Wrapper(CityEnv('s'))", "env.reset()", "possible", True),
        ("Wrapper(JobEnvironment('s'))", "env.reset()", "possible", True),
        ("VectorEnv(gymnasium.make('CartPole-v1'))", "env.reset()", "possible", False),
    ],
)
def test_what_seems_to_be_an_environment_of_another_library_may_draw(  # noqa: PLR0913
    project: Project,
    capsys: pytest.CaptureFixture[str],
    made: str,
    line: str,
    least: str,
    *,
    is_found: bool,
) -> None:
    text = EVALUATE.replace('gym.make("CartPole-v1"{made})', made).replace("{lines}", line)
    step = "state, reward, *_ = env.step(net(state))"
    imports = (
        "from town import CityEnv, JobEnvironment, VectorEnv, Wrapper; import gymnasium, own\n"
    )
    files = {"evaluate.py": f"{imports}{text}".replace("{keeps}", f"{step}\n{KEEPS}")}
    project({**files, "own.py": "class OwnEnv:\n    def reset(self):\n        return 0\n"})
    options = ["--no-cache", "--output-format", "json", "--min-confidence", least]
    main([*options, "--select", "DET102", "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    assert sum("makes an environment, which may draw" in each for each in told) == is_found


SPACE = "from ray import tune\nspace = {{'rate': tune.{}}}\n{}"


@pytest.mark.parametrize(
    ("drawn", "run", "is_found"),
    [
        ("uniform(0, 1)", "tune.run(f, config=space, num_samples=9)", True),
        ("choice([1, 2])", "tune.Tuner(f, tune_config=tune.TuneConfig(num_samples=9))", True),
        ("grid_search([1, 2])", "tune.run(f, config=space)", False),
        ("uniform(0, 1)", "tune.run(f, config=space, search_alg=search)", False),
        ("uniform(0, 1)", "import numpy; numpy.random.seed(0); tune.run(f, config=space)", False),
    ],
)
def test_a_search_draws_what_its_space_leaves_open(
    project: Project, capsys: pytest.CaptureFixture[str], drawn: str, run: str, *, is_found: bool
) -> None:
    project({"tune.py": SPACE.format(drawn, run)})
    assert found(capsys, "DET104") == ["tune.py:3"] * is_found


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("optuna.create_study(direction='maximize')", True),
        ("optuna.create_study(sampler=sampler)", False),
        ("optuna.create_study(**options)", False),
        ("optuna.samplers.TPESampler()", True),
        ("optuna.samplers.TPESampler(n_startup_trials=3, seed=None)", True),
        ("optuna.samplers.TPESampler(seed=args.seed)", False),
        ("optuna.samplers.RandomSampler(7)", False),
        ("hyperopt.fmin(f, space, algo=hyperopt.tpe.suggest)", True),
        ("hyperopt.fmin(f, space, rstate=np.random.default_rng(0))", False),
        ("HyperOptSearch(metric='loss')", True),
        ("HyperOptSearch(metric='loss', random_state_seed=7)", False),
        ("PPO('MlpPolicy', env)", True),
        ("PPO('MlpPolicy', env, seed=1)", False),
        ("PPO('MlpPolicy', make_vec_env('CartPole-v1'))", True),
        ("PPO('MlpPolicy', make_vec_env('CartPole-v1', seed=1))", False),
        ("SAC.load('model.zip')", False),
        ("ProcgenGym3Env(num=8, env_name='coinrun')", True),
        ("ProcgenGym3Env(num=8, env_name='coinrun', rand_seed=seed)", False),
        ("pm.sample(1000, chains=4)", True),
        ("pm.sample(1000, chains=4, random_seed=seed)", False),
    ],
)
def test_searches_and_agents_take_a_seed(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    imports = (
        "import hyperopt, optuna\nimport pymc as pm\nfrom procgen import ProcgenGym3Env\n"
        "from stable_baselines3 import PPO, SAC; from stable_baselines3.common.env_util import *\n"
        "from ray.tune.search.hyperopt import HyperOptSearch\n"
    )
    project({"tune.py": f"{imports}study = {line}\n"})
    assert found(capsys, "DET104") == ["tune.py:6"] * is_found
