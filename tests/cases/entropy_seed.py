import argparse
import datetime as dt
import os
import random
import secrets
import time
import time as clock
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from os import urandom
from random import randint
from time import time as now

import cupy
import jax
import lightning as L
import numpy as np
import numpy.random as npr
import torch
from torch import Generator

# The clock, the process and the system, however wrapped.
seed = time.time()  # DET103
seed = int(time.time() * 1000) % 2**32  # DET103
SEED = time.time_ns()  # DET103
random_seed = int(now())  # DET103
rng_seed: int = int(clock.perf_counter() * 1e6)  # DET103
data_seed = int(datetime.now().timestamp())  # DET103
manualSeed = dt.datetime.now().microsecond  # DET103
seed_value = int.from_bytes(os.urandom(4), "big")  # DET103
seed1 = int.from_bytes(urandom(4), byteorder="little") & 0xFFFFFFFF  # DET103
noise_seed = os.getpid()  # DET103
np_seed = uuid.uuid4().int % 2**32  # DET103
torch_seed = secrets.randbelow(2**32)  # DET103
random_state = secrets.SystemRandom().randint(0, 9)  # DET103
object_seed = id(random)  # DET103
string_seed = hash("task") % 1000  # DET103
tuple_seed = abs(hash(("task", 3)))  # DET103
formatted_seed = hash(f"{SEED}") % 1000  # DET103
base_seed = 3 + os.getpid()  # DET103
seeds = [os.getpid(), 3]  # DET103
os.environ["PYTHONHASHSEED"] = str(int(time.time()))  # DET103

# Straight into a call that seeds.
random.seed(time.time())  # DET103
np.random.seed(int(time.time()))  # DET103
npr.seed(
    int(time.time())  # DET103
)
torch.manual_seed(os.getpid())  # DET103
torch.cuda.manual_seed_all(int(time.time()))  # DET103
Generator().manual_seed(time.time_ns())  # DET103
L.seed_everything(int(time.time()))  # DET103
rng = np.random.default_rng(time.time_ns())  # DET103
rng = random.Random(os.urandom(16))  # DET103
sequence = np.random.SeedSequence([os.getpid(), 3])  # DET103
key = jax.random.key(int(time.time()))  # DET103
key = jax.random.PRNGKey(time.time_ns())  # DET103
train = dict(seed=int(time.time()), epochs=3)  # DET103
config = {"seed": os.getpid(), "lr": 0.1}  # DET103
setattr(config, "seed", int(time.time()))  # DET103


# Through one local variable.
def through_a_local():
    ticks = int(time.time())
    random.seed(ticks)  # DET103


def through_a_rebound_local():
    t = 1000 * time.time()
    t = int(t) % 2**32
    np.random.seed(t)  # DET103


def told_once():
    seed = int(time.time())  # DET103
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return seed


def many_sources():
    seed = make_seed(  # DET103
        os.getpid(),
        time.time_ns(),
    )
    return set_seed(seed=seed)


def get_seed():
    return time.time_ns() % 2**32  # DET103


def default(seed=int(time.time())):  # DET103
    return seed


@dataclass
class Config:
    seed: int = field(default_factory=time.time_ns)  # DET103
    data_seed: int = field(default_factory=lambda: int(time.time()))  # DET103
    started: float = field(default_factory=time.time)

    def __init__(self, args):
        self.seed = int(time.time())  # DET103
        args.seed = args.seed if args.seed is not None else os.getpid()  # DET103
        self.options["seed"] = uuid.uuid1().int  # DET103
        if (new_seed := time.time_ns()) > 3:  # DET103
            self.seed += os.getpid()  # DET103


def options(parser: argparse.ArgumentParser, config, name: str):
    parser.add_argument("--seed", type=int, default=int(time.time()))  # DET103
    seed = config.get("seed", time.time_ns())  # DET103
    other_seed = getattr(config, "seed", int(time.time()))  # DET103
    split_seed = hash(name) % 1000  # DET103
    for task, data_name in config.tasks:
        resample_seed = config.seed + hash((task, data_name)) % 1000  # DET103
        task_seed = hash((task, 3))
        random.seed(hash(config.images[data_name].tobytes()) % 1000)  # DET103
        random.seed(abs(hash(config.digests[task].digest())))  # DET103
        random.seed(resample_seed)
    return seed, other_seed, split_seed


# A global generator, which this file seeds elsewhere.
def fallback(seed=None):
    seed = seed or random.randint(0, 100)
    return seed


def seed_from_the_global_generator(size):
    worker_seed = torch.initial_seed() % 2**32
    seeds = np.random.randint(0, 100, size=size)
    base_seed = torch.empty((), dtype=torch.int64).random_().item()
    return worker_seed, seeds, base_seed


# Calls that mean entropy.
random.seed()  # DET103
random.seed(None)  # DET103
random.seed(a=None)  # DET103
npr.seed()  # DET103
np.random.seed(None)  # DET103
np.random.seed(seed=None)  # DET103
cupy.random.seed()  # DET103
torch.seed()  # DET103
torch.random.seed()  # DET103
torch.cuda.seed()  # DET103
torch.cuda.seed_all()  # DET103
torch.default_generator.seed()  # DET103
torch.cuda.default_generators[0].seed()  # DET103
torch.Generator("cuda").seed()  # DET103
attention_seed = int(torch.seed() % 1000)  # DET103
reseeded = random.Random(3)
reseeded.seed()  # DET103
state = np.random.RandomState(3)
state.seed(None)  # DET103


def generator_objects(
    generator: torch.Generator,
    typed: torch.Generator | None,
    unknown,
):
    generator.seed()  # DET103
    typed.seed()  # DET103
    unknown.seed()
    local = torch.Generator()
    value_seed = local.seed()  # DET103
    return value_seed


# No entropy.
def seeds_of_the_run(args, rank, name, number: int):
    random.seed(args.seed)
    np.random.seed(args.seed + rank)
    torch.manual_seed(torch.initial_seed() + rank)
    np.random.seed(np.random.get_state()[1][0] + rank)
    seed = args.seed or 3
    seed = 3 if time.time() > args.deadline else 4
    number_seed = hash(number)
    unknown_seed = hash(args)
    int_seed = hash((1, 2))
    random.seed(str(rank))
    rng = random.Random(seed)
    derived_seed = rng.randint(0, 100)
    key_seed = np.random.SeedSequence(args.seed).generate_state(1)
    return number_seed, unknown_seed, int_seed, derived_seed, key_seed


# A function that makes up a name may draw it, but not reseed the program.
def _generate_run_name(coolname):
    coolname.replace_random(random.Random(os.urandom(128)))
    return coolname.generate_slug(2)


def reseeding_run_name():
    random.seed(os.urandom(16))  # DET103
    return random.choice(["ant", "bee"])


# The state is put back.
def restored():
    state = random.getstate()
    random.seed(os.urandom(16))
    try:
        return random.random()
    finally:
        random.setstate(state)


def restored_inside():
    state = random.getstate()
    try:
        random.seed()
        return random.random()
    finally:
        random.setstate(state)


def not_restored(state):
    try:
        random.seed(os.urandom(16))  # DET103
        return random.random()
    finally:
        random.setstate(state)


# The seed of a hash function.
def resolve_none_hash_seed():
    hash_seed = int.from_bytes(os.urandom(4), "big")
    return hash_seed or random.SystemRandom().getrandbits(32)


# A value that only names a run, a file or a port, or measures time.
def labels(args):
    run_id = int(time.time())
    port = random.randint(10_000, 20_000)
    path = f"run_{os.getpid()}_{args.seed}"
    seed_file = f"seeds_{time.time()}.txt"
    seed_dir = os.path.join("out", str(uuid.uuid4()))
    start = time.time()
    torch.manual_seed(args.seed)
    seeding_time = time.time() - start
    print("seed", args.seed, time.time())
    named(seed=args.seed, run=str(uuid.uuid4()), port=randint(1, 2))
    seed = int(time.time())
    return open(f"{path}/{seed}"), run_id, port, seed_file, seed_dir, seeding_time


# A local that nothing reads seeds nothing.
def never_read(self, seed=-1, **options):
    seed = seed if seed >= 0 else int(time.time())
    noise_seed: int = time.time_ns()
    return self.sample(options)


def read_by_others(self, values):
    def by_closure():
        return random.Random(first_seed)

    first_seed = time.time_ns()  # DET103
    second_seed = time.time_ns()  # DET103
    third_seed = time.time_ns()  # DET103
    for value in values:
        if value:
            values.append(by_closure(), fourth_seed)
        fourth_seed = time.time_ns()  # DET103
    return self.sample(f"{second_seed}", second_seed), lambda: third_seed


def read_through_locals():
    data_seed = time.time_ns()  # DET103
    return "{data_seed}".format(**locals())


def not_local():
    global SEED

    class Settings:
        seed = time.time_ns()  # DET103

    SEED = time.time_ns()  # DET103
    return Settings


def shadowed(time, random):
    seed = int(time.time())
    random.seed()
    return seed


def rounds_stochastically(x, sr_seed=None):
    if sr_seed is None:
        sr_seed = torch.randint(0, 2**63 - 1, (1,), dtype=torch.int64, device=x.device)
    return sr_seed


def loads_from_a_path_that_the_clock_names():
    name = datetime.now().strftime("%Y")
    config = initialize(load_path=f"out/{name}")
    torch.manual_seed(config.seed)
    torch.manual_seed(initialize(f"out/{name}").seed)
    told = argparse.Namespace(run=name, fixed=1, first=int(time.time()))
    torch.manual_seed(told.fixed)
    torch.manual_seed(told.first)  # DET103
    moment = datetime.now()
    torch.manual_seed(moment.microsecond)  # DET103
    digest = hashlib.sha256(str(time.time()).encode())
    torch.manual_seed(int(digest.hexdigest(), 16))  # DET103


# A value that goes through functions, attributes and variables of the module.
STARTED = time.time()


def milliseconds():
    return int(time.time() * 1000)


def shifted(value, offset):
    return value + offset


def handed_on(args, flag):
    random.seed(milliseconds())  # DET103
    random.seed(shifted(3, os.getpid()))  # DET103
    random.seed(shifted(args.start, 3))
    np.random.seed(int(STARTED))  # DET103
    random.seed(f"{datetime.now()}")  # DET103
    ticks = args.ticks or time.time_ns()
    torch.manual_seed(ticks)  # DET103
    moment = 0
    if flag:
        moment = time.time_ns()
    torch.manual_seed(moment)  # DET103


def boot(value, name):
    print(name)
    torch.manual_seed(int(value))


def boots(args):
    boot(time.time_ns(), "a")  # DET103
    boot(args.number, str(uuid.uuid4()))


class Run:
    def __init__(self):
        self.started = time.time()

    def seed_all(self):
        torch.manual_seed(int(self.started))  # DET103


def started_at():
    return int(time.time())


random.seed(started_at())  # DET103


# A number in the place of the function that seeds
np.random.seed = 0  # DET103
npr.seed = seed  # DET103
torch.manual_seed = SEED  # DET103


def patched(monkeypatch, fixed, options):
    random.seed = options.seed  # DET103
    options.seed = 0
    np.random.seed = fixed
    torch.manual_seed = lambda seed: fixed(seed)


# Noise is no seed
seed = np.random.randn(257, 257)
