import functools
import random
import random as rnd
import secrets
from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from random import Random as R

import cupy
import keras
import numpy as np
import numpy.random as npr
import tensorflow as tf
import torch
from numpy.random import MT19937, PCG64, SFC64, Generator, Philox, RandomState, SeedSequence
from numpy.random import PCG64DXSM as Bits
from pytensor import shared
from torch.utils.data import DataLoader

default_rng = np.random.default_rng

# Every constructor, bare and with an explicit None.
a1 = np.random.default_rng()  # DET101
a2 = npr.default_rng(None)  # DET101
a3 = np.random.default_rng(seed=None)  # DET101
a4 = default_rng()  # DET101
a5 = RandomState()  # DET101
a6 = RandomState(seed=None)  # DET101
a7 = SeedSequence()  # DET101
a8 = SeedSequence(spawn_key=(1,))  # DET101
a9 = Generator(PCG64())  # DET101
b1 = np.random.Generator(
    np.random.MT19937(None)  # DET101
)
b2 = Bits()  # DET101
b3 = MT19937()  # DET101
b4 = Philox()  # DET101
b5 = SFC64()  # DET101
b6 = random.Random()  # DET101
b7 = Random(None)  # DET101
b8 = R()  # DET101
b9 = rnd.Random()  # DET101
c1 = random.SystemRandom()  # DET101
c2 = random.SystemRandom(3)  # DET101
c3 = secrets.SystemRandom()  # DET101
c4 = cupy.random.default_rng()  # DET101
c5 = cupy.random.RandomState()  # DET101
c6 = cupy.random.XORWOW()  # DET101
c7 = tf.random.Generator.from_non_deterministic_state()  # DET101
c8 = tf.random.experimental.Generator.from_non_deterministic_state(alg="philox")  # DET101
c9 = keras.random.SeedGenerator()  # DET101
d1 = tf.keras.random.SeedGenerator(name="noise")  # DET101
d2 = getattr(np.random, "default_rng")()  # DET101
d3 = random.Random().random()  # DET101
d4 = np.random.default_rng().normal(size=(3, 2))  # DET101
d5 = [np.random.default_rng() for _ in range(4)]  # DET101
d6 = lambda: RandomState()  # DET101


@dataclass
class Noise:
    seeded: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))
    rng: np.random.Generator = field(default_factory=np.random.default_rng)  # DET101
    order: random.Random = field(default_factory=random.Random)  # DET101


streams = defaultdict(np.random.default_rng)  # DET101
seeded_streams = defaultdict(lambda: np.random.default_rng(3), {1: random.Random})


# Seeded, or with a seed that is not known.
SEED = 3


def seeded(seed, config, *args, **kwargs):
    np.random.default_rng(seed)
    np.random.default_rng(SEED)
    np.random.default_rng(config.seed)
    np.random.default_rng([seed, 1])
    np.random.default_rng(seed if seed else None)
    np.random.default_rng(*args)
    RandomState(**kwargs)
    RandomState(MT19937(3))
    Philox(key=7)
    Philox(None, None, 7)
    SeedSequence(seed, spawn_key=(2,))
    SeedSequence(entropy=seed)
    random.Random(f"{seed}")
    keras.random.SeedGenerator(1337)
    tf.random.Generator.from_seed(1)
    isinstance(config, np.random.RandomState)
    return functools.partial(np.random.default_rng, seed)


def explicit_none_in_a_local():
    seed = None
    return np.random.default_rng(seed)  # DET101


def shadowed(np, Random):
    return np.random.default_rng(), Random()


class Random2(Random):
    pass


def annotated(rng: np.random.RandomState, other: "torch.Generator" = None) -> random.Random:
    generator: torch.Generator
    rngs: dict[str, np.random.Generator] = {}
    return rngs


# Seeded on the same path.
def seeded_later(seed, state):
    one = random.Random()
    one.seed(seed)
    two = RandomState()
    two.set_state(state)
    three = random.Random()
    three.setstate(state)
    four = np.random.default_rng()
    four.bit_generator.state = state
    five = PCG64()
    five.state = state
    six = np.random.Generator(PCG64())
    six.bit_generator.state = state
    return one, two, three, four, five, six


def reseeded_from_entropy():
    rng = random.Random()  # DET101
    rng.seed()
    other = RandomState()  # DET101
    other.seed(None)
    # other.seed(3)
    return rng, other


def compared_only(state):
    rng = np.random.default_rng()  # DET101
    return rng.bit_generator.state == state, rng


class Sampler:
    shared = RandomState()  # DET101

    def __init__(self, seed):
        self.seeded_below = random.Random()
        self.rng = random.Random()  # DET101
        self.restored = np.random.default_rng()
        self.fresh = np.random.default_rng()  # DET101

    def set_epoch(self, epoch):
        self.seeded_below.seed(epoch)

    def load_state_dict(self, state):
        self.restored.bit_generator.state = state["rng"]


# A fallback for a caller who passes nothing.
def fall_back(x, rng=None, random_state=None, options=None):
    if rng is None:
        rng = np.random.default_rng()  # DET101
    first = rng or random.Random()  # DET101
    second = rng if rng is not None else np.random.default_rng()  # DET101
    third = np.random.default_rng() if random_state is None else random_state  # DET101
    fourth = options.get("rng", RandomState())  # DET101
    if not random_state:
        random_state = RandomState()  # DET101
    elif isinstance(random_state, int):
        random_state = RandomState(random_state)
    return first, second, third, fourth, random_state


def default_argument(rng=np.random.default_rng()):  # DET101
    return rng.normal()


# A number that only names a run, a file or a port.
def labels(data):
    for port in random.SystemRandom().sample(range(10_000, 32_768), 10):
        data.append(port)
    run_id = round(random.Random().random() * 1e15)
    return {"session_id": random.Random().getrandbits(32), "noise": random.Random().random()}, run_id  # DET101


# A label of data is what a model learns.
def noisy_labels(points, labels, shares):
    for point in points:
        new_label = np.random.default_rng().choice(labels, p=shares)  # DET101
        point.set_label(new_label)


# Bits of identifiers have to differ; noise has not.
class SpanIdGenerator:
    def __init__(self):
        self._bits = random.Random()
        LIVE.add(self._bits)

    def __del__(self):
        LIVE.remove(self._bits)

    def generate_span(self):
        span = self._bits.getrandbits(64)
        while span == 0:
            span = self._bits.getrandbits(64)
        return span


fingerprint_bits = random.Random()
run_bits = random.SystemRandom()
shared_bits = random.Random()  # DET101
mask_bits = random.Random()  # DET101
passed_bits = random.Random()  # DET101


def fingerprint(size=64):
    return f"{fingerprint_bits.getrandbits(size):0{size // 4}x}", run_bits.randbytes(8).hex()


def trace_id():
    local = random.Random()
    mixed = random.Random()  # DET101
    token = local.getrandbits(64)
    nonce = mixed.getrandbits(64), mixed.random()
    return token, nonce, shared_bits.getrandbits(64), passed_bits.getrandbits(64)


def augment(x):
    random.shuffle(x, passed_bits.random)
    return x ^ mask_bits.getrandbits(8) ^ shared_bits.getrandbits(8)


# torch: a fixed default seed, unless something seeds it.
plain = torch.Generator()  # DET101
order = torch.randperm(8, generator=plain)
chained = torch.Generator(device="cuda").manual_seed(3)
walrus = (walrus_generator := torch.Generator()).manual_seed(3)
seeded_global = torch.Generator()
seeded_global.manual_seed(7)
entropy = torch.Generator()
entropy.seed()
many = [torch.Generator() for _ in range(4)]
loader = DataLoader(many, shuffle=True, generator=torch.Generator())  # DET101
seeded_far_away = torch.Generator()


def seed_everything(seed):
    seeded_far_away.manual_seed(seed)


def torch_locals(x, state, seed=None, generator=None):
    unseeded = torch.Generator(device=x.device)  # DET101
    x.normal_(generator=unseeded)
    commented = torch.Generator()  # DET101
    # commented.manual_seed(3)
    y = torch.randn(3, generator=commented)
    restored = torch.Generator()
    restored.set_state(state)
    cloned = torch.Generator()
    copy = cloned.clone_state()
    conditional = torch.Generator()
    if seed is not None:
        conditional.manual_seed(seed)
    if generator is None:
        generator = torch.Generator(device=x.device)  # DET101
    return torch.rand(2, generator=generator) + y, copy, conditional


# Whoever runs the graph seeds the generators in it.
def shared_variables():
    local = np.random.default_rng()
    return shared(np.random.default_rng()), shared(local, borrow=True)


def torch_returned():
    return torch.Generator()


def torch_returned_by_name(device):
    generator = torch.Generator(device)
    return generator


def torch_passed_on(synchronize, sampler_class, source):
    generator = torch.Generator()
    synchronize(["generator"], generator=generator)
    other = torch.Generator()
    seed_it(other)
    kept = {"generator": torch.Generator()}
    third = torch.Generator()
    kept["third"] = third
    return sampler_class(source, generator=torch.Generator())


def torch_default(sampler, sampler_class, source):
    return sampler_class(source, generator=getattr(sampler, "generator", torch.Generator()))


def torch_default_that_is_drawn_from(options):
    generator = getattr(options, "generator", torch.Generator())  # DET101
    return torch.rand(3, generator=generator)


class TorchSampler:
    def __init__(self, source):
        self.source = source
        self.generator = torch.Generator()
        self.forgotten = torch.Generator()  # DET101
        self.handed_over = torch.Generator()
        reseed(self.handed_over)

    def __iter__(self):
        self.generator.manual_seed(self.epoch)
        return iter(torch.randperm(len(self.source), generator=self.forgotten))


def attribute_of_another(sampler, seed):
    if sampler.generator is None:
        sampler.generator = torch.Generator()
        sampler.generator.manual_seed(seed)


def seed_all(seed):
    random.seed(seed)
    random.SystemRandom().seed(seed)  # without effect


def draw_of_system(seed):
    system = random.SystemRandom()  # DET101
    system.seed(seed)
    return system.random()


class Logger:
    def __init__(self, letters):
        self.run_id = "".join(random.SystemRandom().choice(letters) for _ in range(8))


class Sampler:
    def __init__(self, letters):
        self.drawn = [random.SystemRandom().choice(letters) for _ in range(8)]  # DET101
