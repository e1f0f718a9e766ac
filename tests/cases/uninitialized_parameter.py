"""DET402: the marked parameters start as whatever the memory held."""

import abc
import math
from typing import Generic, TypeVar

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Module, Parameter, init

from elsewhere import Mixin, fill_missing

T = TypeVar("T")


# One is forgotten.


class ForgetsTheBias(nn.Module):
    def __init__(self, inputs: int, outputs: int, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        if bias:
            self.bias = nn.Parameter(torch.empty(outputs))  # DET402
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Attention(Module):
    def __init__(self, size, heads):
        super(Attention, self).__init__()
        self.query = Parameter(torch.FloatTensor(size, size))
        self.key = Parameter(torch.FloatTensor(size, size))  # DET402
        self.scale = Parameter(torch.Tensor(1))  # DET402
        self.register_parameter("value", Parameter(torch.empty(size, size)))  # DET402
        self.gate: Parameter = Parameter(
            torch.empty(heads, size, device="cuda", dtype=torch.float32)  # DET402
        )
        init.xavier_uniform_(self.query)

    def forward(self, x):
        key = self.key
        scores = torch.matmul(x @ self.query, (x @ key).transpose(1, 2)) * self.scale
        mixed = torch.cat([x @ self.value, fused_gate(x, self.gate)])
        return torch.softmax(scores, dim=-1) @ mixed


class LegacyBias(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.Tensor(out_features, in_features))
        self.bias = nn.Parameter(torch.Tensor(out_features))  # DET402
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x):
        return x.matmul(self.weight.t()) + self.bias


class ThroughAMethod(nn.Module):
    def __init__(self, size, soft):
        super().__init__()
        self.logits = nn.Parameter(torch.Tensor(size, size), requires_grad=True)  # DET402
        self.soft = soft

    def draw(self, index):
        return self.sample(self.logits[index, :].detach() if self.soft else self.logits[index, :])

    def sample(self, logits):
        return (logits + torch.rand_like(logits)).sigmoid()


class DroppedFull(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size, size))
        self.temperature = nn.Parameter(torch.empty(size))  # DET402
        self.weight.data.normal_(0, 0.02)
        torch.full(self.temperature.shape, 0.07)
        torch.full_like(self.temperature, 0.07)

    def forward(self, x):
        return (x @ self.weight) / self.temperature


class NeverCalled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size, size))
        self.bias = nn.Parameter(torch.empty(size))  # DET402
        nn.init.ones_(self.weight)

    def _reset_bias_of_never_called(self):
        nn.init.zeros_(self.bias)

    def forward(self, x):
        return x * self.weight + self.bias


class ThroughALocal(nn.Module):
    def __init__(self, size):
        super().__init__()
        weight = torch.empty(size, size)  # DET402
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(torch.zeros(size))
        self.bias.data.uniform_(-1, 1)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Base(nn.Module, abc.ABC):
    def __init__(self, size):
        super().__init__()
        self.shared = nn.Parameter(torch.empty(size))
        nn.init.ones_(self.shared)


class Derived(Base, Generic[T]):
    def __init__(self, size):
        super().__init__(size)
        self.own = nn.Parameter(torch.empty(size))  # DET402

    def forward(self, x):
        device = next(self.parameters()).device
        return x.to(device) * self.shared + self.own


class TransientBuffer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.register_buffer("offset", torch.empty(size), persistent=False)  # DET402
        self.register_buffer("anchor", torch.empty(size), persistent=False)
        self.register_buffer("table", torch.empty(size))
        nn.init.normal_(self.weight)

    def forward(self, x):
        return (x.to(self.anchor.device) + self.offset) * self.weight + self.table


# Filled.


class Filled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.a = nn.Parameter(torch.empty(size).uniform_(-1, 1))
        self.b = nn.Parameter(torch.empty(size))
        self.b.data.fill_(0)
        self.c = nn.Parameter(torch.empty(size))
        self.c.data = torch.zeros(size)
        self.d = nn.Parameter(torch.empty(size))
        self.e = nn.Parameter(torch.Tensor(size, size))
        for weight in (self.d, self.e):
            weight.data.normal_()
        self.f = nn.Parameter(torch.empty(size))
        torch.full((size,), 0.07, out=self.f)
        self.g = nn.Parameter(torch.empty(size))
        fill_missing(self.g)
        self.h = nn.Parameter(torch.empty(size, size))
        flat = self.h.view(-1)
        flat[:] = 0
        self.i = nn.Parameter(torch.empty(size))
        with torch.no_grad():
            self.i[:] = 1
            self.i += 0
        self.j = nn.Parameter(torch.empty(size))
        self.j = nn.Parameter(torch.zeros(size))
        self.k = nn.Parameter(nn.init.normal_(torch.empty(size)))
        self.l = nn.Parameter(data=torch.empty(size).normal_(std=0.1), requires_grad=True)
        local = torch.empty(size)
        nn.init.normal_(local)
        self.m = nn.Parameter(local)
        self.n = nn.Parameter(torch.empty(0))
        self.o = nn.Parameter(torch.Tensor([1.0, 2.0]))
        self.p = nn.Parameter(torch.empty(size, device="meta"))
        self.q = nn.Parameter(torch.empty(size))
        setup_one(self.q)
        self.r = nn.Parameter(torch.empty(size))
        nn.init.uniform_(tensor=self.r)


class FilledInAnotherMethod(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.bias = nn.Parameter(torch.empty(size))
        self._fill()

    def _fill(self):
        nn.init.ones_(self.weight)
        self._fill_bias()

    def _fill_bias(self):
        self.bias.data.zero_()


class FilledOnDemand(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.loc = nn.Parameter(torch.empty(size))
        self.scale = nn.Parameter(torch.empty(size))
        nn.init.ones_(self.scale)

    def forward(self, x):
        if self.training:
            self.loc.data.copy_(-x.mean(0))
        return x + self.loc


class FilledByTheBase(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.build(size)
        nn.init.ones_(self.kernel)


class Builds(FilledByTheBase):
    def build(self, size):
        self.kernel = nn.Parameter(torch.empty(size))


# Filled all at once.


class OverParameters(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        for parameter in self.parameters():
            nn.init.normal_(parameter)


class OverNames(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.u = nn.Parameter(torch.empty(size))
        self.v = nn.Parameter(torch.empty(size))
        for name in ("u", "v"):
            nn.init.normal_(getattr(self, name))


class HandsItselfOut(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        fill_missing(self)


class AppliesAFunction(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.linear = nn.Linear(size, size)
        self.apply(self.fill)
        nn.init.zeros_(self.linear.bias)

    def fill(self, module):
        pass


# Filled, or loaded, from outside.


class FilledByItsOwner(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.position_bias = nn.Parameter(torch.empty(size))
        self.other = nn.Parameter(torch.empty(size))
        nn.init.zeros_(self.other)


class Owner(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.child = FilledByItsOwner(size)
        nn.init.normal_(self.child.position_bias, std=0.02)


class WaitsForACheckpoint(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))

    def forward(self, x):
        return x * self.weight


class Frozen(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(size), requires_grad=False)
        self.packed = nn.Parameter(torch.empty(size, dtype=torch.uint8), False)
        self.weight = nn.Parameter(torch.empty(size))
        nn.init.ones_(self.weight)


# Out of sight.


class UnknownBase(Mixin, nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.bias = nn.Parameter(torch.empty(size))
        nn.init.zeros_(self.bias)


class UnknownMetaclass(nn.Module, metaclass=Mixin):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.bias = nn.Parameter(torch.empty(size))
        nn.init.zeros_(self.bias)


class NotAModule:
    def __init__(self, size):
        self.weight = nn.Parameter(torch.empty(size))
        self.bias = nn.Parameter(torch.empty(size))
        nn.init.zeros_(self.bias)


class CacheBuffers(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        nn.init.normal_(self.weight)
        self.register_buffer("cache", torch.empty(size), persistent=False)

    def forward(self, x):
        self.cache[: len(x)] = x
        return self.cache * self.weight


# The older constructors: code that only loads does not take them. What a class of the same
# shape does to its own is no help.

__all__ = ["Pooling", "StatisticsPooling"]


class Pooling(nn.Module):
    def __init__(self, input_size):
        super().__init__()
        self.linear = nn.Linear(input_size, input_size)
        self.mixing = nn.Parameter(torch.FloatTensor(input_size, 1))  # DET402

    def forward(self, x):
        return F.softmax(torch.matmul(torch.tanh(self.linear(x)), self.mixing), dim=1)


class StatisticsPooling(nn.Module):
    def __init__(self, input_size):
        super().__init__()
        self.linear = nn.Linear(input_size, input_size)
        self.mixing = nn.Parameter(torch.Tensor(input_size, 1))  # DET402

    def forward(self, x):
        return torch.matmul(self.linear(x), self.mixing)


class FrozenTensor(nn.Module):
    def __init__(self, input_size):
        super().__init__()
        self.mixture = nn.Parameter(torch.Tensor(input_size, 1), requires_grad=False)


class BasePooling(nn.Module):
    def __init__(self, input_size):
        super().__init__()
        self.blend = nn.Parameter(torch.Tensor(input_size, 1))


class DerivedPooling(BasePooling):
    def __init__(self, input_size):
        super().__init__(input_size)
        self.blend.data.normal_()


class HeldPooling(nn.Module):
    def __init__(self, input_size):
        super().__init__()
        self.melange = nn.Parameter(torch.Tensor(input_size, 1))


class HoldsPooling(nn.Module):
    def __init__(self, input_size):
        super().__init__()
        self.pooling = HeldPooling(input_size)
        self.pooling.melange.data.zero_()


# Layers of torch fill what is theirs, and nothing that a class adds


class Mixed(nn.BatchNorm2d):
    def __init__(self, num_features):
        super().__init__(num_features)
        self.share = nn.Parameter(torch.Tensor(num_features, 1))  # DET402

    def forward(self, x):
        return self.share * x


class Adapted(nn.Linear):
    def __init__(self, n, m):
        super().__init__(n, m)
        self.down = nn.Parameter(torch.Tensor(n, 4))
        self.up = nn.Parameter(torch.Tensor(4, m))
        self.reset_parameters()

    def reset_parameters(self):
        nn.Linear.reset_parameters(self)
        if hasattr(self, "down"):
            init.kaiming_uniform_(self.down)
            init.zeros_(self.up)


class Whole(nn.Transformer):
    def __init__(self, n):
        super().__init__(n)
        self.scale = nn.Parameter(torch.Tensor(n, 2))
        self._reset_parameters()


class Sized(nn.Module):
    def __init__(self, n_neurons, bias):
        super().__init__()
        self.out_features = n_neurons
        if bias:
            self.bias = nn.Parameter(torch.Tensor(2 * self.out_features))  # DET402
        self.scale = nn.Parameter(torch.Tensor(self.out_features, 2))  # DET402

    def forward(self, x):
        return x * self.scale + self.bias
