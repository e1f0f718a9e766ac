"""DET401: the marked allocations are read before anything has written to them."""

import contextlib

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch import empty, empty_like
from torch.nn.functional import softmax


# Read where it is made.


def straight_into_a_function_that_reads(x, mask):
    a = F.relu(torch.empty(4, 4))  # DET401
    b = torch.sum(torch.empty(len(x), 3))  # DET401
    c = softmax(torch.empty_like(x), dim=-1)  # DET401
    d = torch.matmul(x, other=torch.empty(3, 3))  # DET401
    e = torch.linalg.norm(x.new_empty(3, 4))  # DET401
    f = F.linear(x, torch.empty(3, 4), None)  # DET401
    return a, b, c, d, e, f


def straight_into_a_model(model, net, x):
    first = model(torch.empty(2, 3))  # DET401
    second = net.forward(torch.empty(2, 3))  # forward of what is not known
    third = model(x, mask=torch.empty(2, 3, dtype=torch.bool))  # DET401
    return first, second, third


def straight_into_a_layer(x):
    layer = nn.Linear(3, 3)
    return layer(torch.empty(x.shape[0], 3))  # DET401


def mask(x):
    nothing = torch.empty(x.shape[:2], dtype=torch.bool)  # DET401
    return x.masked_fill(nothing.unsqueeze(-1), 0.0)


def operand(x, n):
    a = x + torch.empty(n)  # DET401
    b = torch.empty_like(x) * 0  # DET401
    c = -torch.empty(n, n)  # DET401
    d = x @ torch.empty(3, n, device=x.device)  # DET401
    x += torch.empty(n)  # DET401
    e = torch.empty(n) > 0.5  # DET401
    f = 0.5 < torch.empty(n)  # DET401
    return a, b, c, d, e, f


def reduced(n):
    a = torch.empty(n, 2).sum().item()  # DET401
    b = torch.empty(n).to("cuda").float().mean()  # DET401
    c = float(torch.empty(n)[0])  # DET401
    d = torch.empty(n, n).t().max(dim=0)  # DET401
    return a, b, c, d


def printed(n):
    print(torch.empty(5, 3))  # DET401
    print("values", torch.empty(n))  # DET401
    return f"{torch.empty(n)}"  # DET401


def decides(n):
    if torch.empty(n).any():  # DET401
        return 1
    assert torch.equal(torch.empty(n), torch.zeros(n))  # DET401
    while torch.empty(n, 1) > 0:  # DET401
        pass
    return None


def table_lookup(table, n):
    return table[torch.empty(n, dtype=torch.long)]  # DET401


def legacy(x, n: int):
    a = torch.Tensor(2, 3) + x  # DET401
    b = torch.FloatTensor(n, 3).sum()  # DET401
    c = torch.cuda.LongTensor(4, n).max()  # DET401
    d = torch.Tensor(5).norm()  # DET401
    e = torch.Tensor(n) * 2  # DET401
    f = torch.Tensor(x.size(0)) * 2  # DET401
    g = torch.Tensor(x.size()) * 2  # DET401
    h = torch.Tensor(x.shape[0] * 2) + 1  # DET401
    i = torch.Tensor(len(x), device="cpu") + 1  # DET401
    return a, b, c, d, e, f, g, h, i


def imported_by_name(x):
    return empty(3, 4) + x, empty_like(x) - x  # DET401 DET401


def strided(x):
    return torch.empty_strided((2, 3), (3, 1)).sum()  # DET401


def grown():
    a = torch.empty(0).resize_(4, 4).sum()  # DET401
    b = torch.Tensor().resize_(8) + 1  # DET401
    c = torch.zeros(2)
    c.resize_(10)  # DET401
    return a, b, c.sum()


def shrunk_or_unknown(x, n):
    a = torch.zeros(10)
    a.resize_(2)
    b = torch.zeros(4)
    b.resize_(n)
    x.resize_(10)
    d = torch.zeros(10)
    d.resize_(2, 5)
    return a.sum(), b.sum(), x.sum(), d.sum()


# Bound to a name, and read later.


def bound(x):
    out = torch.empty_like(x)  # DET401
    return out + x


def annotated(n):
    out: torch.Tensor = torch.empty(n, n)  # DET401
    return out.mean()


def pairs(x, y):
    a, b = torch.empty_like(x), torch.empty_like(y)  # DET401
    b.copy_(y)
    return a * b


def moved(n, device, model):
    x = torch.empty(n, 3)  # DET401
    x = x.to(device)
    x = x.view(-1)
    y = model(x)
    return y


def properties_first(x):
    out = torch.empty_like(x)  # DET401
    shape = out.shape
    rows, device = out.size(0), out.device
    assert out.dtype == x.dtype
    assert isinstance(out, torch.Tensor)
    assert out is not None
    return out.reshape(shape) - rows, device


def accumulated(batches, n):
    total = torch.empty(n)  # DET401
    for batch in batches:
        total += batch
    return total


def accumulated_rows(batches, n):
    total = torch.empty(n, 2)  # DET401
    for index, batch in enumerate(batches):
        total[index] += batch
    return total


def recurrence(n, xs):
    out = torch.empty(n)  # DET401
    for i, x in enumerate(xs):
        out[i] = out[i - 1] * 0.9 + x
    return out


def summed(n, xs):
    total = torch.empty(n)  # DET401
    for x in xs:
        total = total + x
    return total


def one_branch_reads(x, flag):
    out = torch.empty_like(x)  # DET401
    if flag:
        return out + 1
    out.zero_()
    return out


def every_branch_forgets(x, flag):
    out = torch.empty_like(x)  # DET401
    if flag:
        x = x + 1
    else:
        x = x - 1
    return out * x


def unwritten_either_way(x, flag):
    if flag:
        out = torch.empty(3)  # DET401
    else:
        out = torch.empty(4)  # DET401
    return out + x


def other_branch_leaves(x, flag):
    if flag:
        out = torch.empty(3)  # DET401
    else:
        return None
    return out + x


def after_a_with(x):
    with torch.no_grad():
        out = torch.empty_like(x)  # DET401
        y = x * 2
    return out + y


def in_a_try(x):
    try:
        out = torch.empty_like(x)  # DET401
        return out.sum()
    finally:
        x.zero_()


def in_a_match(x, kind):
    out = torch.empty_like(x)  # DET401
    match kind:
        case "sum":
            return out.sum()
        case _:
            out.zero_()
    return out


def first_round(n, xs):
    state = torch.empty(n)  # DET401
    for x in xs:
        y = state * x
        state = y
    return state


def endless(n):
    out = torch.empty(n)  # DET401
    while True:
        n += 1
        if n > 10:
            break
    return out.sum()


def read_in_a_comprehension(n, xs):
    out = torch.empty(n)  # DET401
    return [out + x for x in xs]


class Method:
    def call(self, x):
        out = torch.empty_like(x)  # DET401
        return self.scale * out


async def awaited(x):
    out = torch.empty_like(x)  # DET401
    async with x.lock:
        return out + 1


module_level = torch.empty(3, 3)  # DET401
print(module_level)


# Nothing is left to read, or one element stands in for something else.


def no_elements(x, y):
    a = torch.cat([torch.empty(0), x])
    b = torch.empty(0, 4) + torch.empty((2, 0))
    c = torch.empty([0]).sum()
    d = torch.empty(size=(0,)).sum() + torch.Tensor().sum()
    e = x.new_empty(0, 3) + 1
    f = torch.empty((x.shape[0], 4, 0)).sum()
    nothing = 0
    return a, b, c, d, e, f, torch.empty(nothing).sum()


def one_element(model, x):
    a = model(torch.empty(1))
    b = torch.empty(()) + 1
    c = torch.empty(1, 1) * x
    d = torch.empty((1, 1)).sum()
    return a, b, c, d, torch.Tensor(1) + x


# No values at all.


def on_meta(model, n):
    a = model(torch.empty(2, 3, device="meta"))
    b = torch.empty(2, 3, device=torch.device("meta")) + 1
    meta = torch.device("meta")
    c = torch.empty(2, 3, device=meta) + 1
    d = torch.empty(n).to("meta") + 1
    e = torch.empty(n).to(device="meta").sum()
    with torch.device("meta"):
        f = torch.empty(2, 3) + 1
        g = torch.empty(2, 3)
        h = g * 2
    return a, b, c, d, e, f, h


def in_a_fake_mode(model, x):
    with FakeTensorMode() as mode:
        return model(torch.empty(3, 4))


def in_a_given_mode(model, fake_mode):
    with fake_mode:
        x = torch.empty(3, 4)
        return model(x)


@torch.library.register_fake("mylib::gemm")
def _(a, b):
    return torch.empty_like(a) + b


@gemm.register_fake
def gemm_shape(a, b):
    out = torch.empty_like(a)
    return out @ b


@torch.library.impl(library, "gemm", "Meta")
def gemm_impl(a, b):
    return torch.empty_like(a) * 2


@torch.library.impl_abstract("mylib::gemm")
def gemm_abstract(a, b):
    return torch.empty_like(a) * 2


def gemm_meta(a):
    return torch.empty_like(a) * 2


# Only its shape, dtype or device is used.


def only_properties(x, y, conv):
    a = torch.empty(3, 4).shape
    b = torch.empty(2, device=x.device).dtype
    c = x.view_as(torch.empty(3, 4)) + y.expand_as(torch.empty_like(x))
    d = y.to(torch.empty_like(x))
    e = torch.zeros_like(torch.empty(3, 4)) + torch.rand_like(torch.empty(2, 2))
    f = torch.empty(3, 4).new_zeros(3).sum() + torch.empty(3, 4).numel()
    g = torch.empty(3, 4).stride(), len(torch.empty(4, 4)), torch.is_tensor(torch.empty(3, 3))
    return a, b, c, d, e, f, g


def shape_of_the_result(model, n):
    features = model(torch.empty(2, 3, n, n)).shape[1]
    flat = model(torch.empty(2, 3, n, n)).view(2, -1).size(1)
    dtype = (torch.empty(2, dtype=torch.half) + torch.empty(2)).dtype
    y = model(torch.empty(2, 3, n, n))
    channels = y.shape[1]
    return features, flat, dtype, channels


# Written first.


def written(x, n, rows):
    a = torch.empty(n)
    a.fill_(1)
    b = torch.empty(n)
    b[:] = 0
    c = torch.empty(n, 2)
    for i in range(n):
        c[i] = rows[i]
    d = torch.empty(n)
    torch.add(x, x, out=d)
    e = torch.empty(n).uniform_()
    f = torch.empty(n)
    f.data = x
    g = torch.empty(n)
    g.data.normal_()
    h = torch.empty(n, 2)
    h[:, 0], h[:, 1] = x, x
    i = torch.empty(n)
    i.copy_(x)
    j = torch.empty_like(x).copy_(x)
    k = torch.empty(n).exponential_().log()
    l = torch.empty(n)
    l[0].fill_(0)
    m = torch.empty(n)
    torch.nn.init.normal_(m)
    o = nn.init.xavier_uniform_(torch.empty(n, n))
    return a + b + c + d + e + f + g + h + i + j + k + l + m + o


def written_through_a_view(n, x):
    out = torch.empty(n, 4)
    flat = out.view(-1)
    flat.copy_(x)
    first = torch.empty(n, 4)
    row = first[0]
    row.zero_()
    for row in torch.empty(n, 4):
        row.zero_()
    array = torch.empty(n)
    array.numpy()[:] = 0
    left, right = torch.empty(2, n)
    return out.sum() + first.sum() + array.sum() + left + right


def written_by_a_collective(x, world, n):
    parts = [torch.empty_like(x) for _ in range(world)]
    dist.all_gather(parts, x)
    whole = torch.empty(n)
    dist.all_gather_into_tensor(whole, x)
    received = torch.empty(n)
    dist.recv(received, src=0)
    token = torch.empty(n)
    dist.broadcast(token, 0)
    return torch.cat(parts) + whole + received + token


def padded_for_a_collective(x, n, group):
    padding = torch.empty(n, x.shape[1])
    padded = torch.cat([x, padding])
    x = torch.cat((x, torch.empty(n, 2, device=x.device)), dim=0)
    return gather(padded, group), gather(x, group)


def written_by_a_kernel(x, n):
    out = torch.empty_like(x)
    kernel[(n,)](x, out, n, BLOCK=128)
    other = torch.empty(n)
    ext.forward(x, other)
    pointer = torch.empty(n)
    launch(pointer.data_ptr(), n)
    torch.ops.mylib.gemm(x, pointer)
    return out + other


def in_a_graph_capture(model, data):
    static = torch.empty(8, 3)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(static)
    static.copy_(data)
    graph.replay()
    return y


def loaded(model, state):
    weight = torch.empty(3, 3)
    model.load_state_dict({"weight": weight})
    return weight.sum()


def ignored_by_beta(q, k, scale):
    scores = torch.empty(q.shape[0], q.shape[1], k.shape[1])
    scores = torch.baddbmm(scores, q, k.transpose(1, 2), beta=0, alpha=scale)
    return scores + torch.baddbmm(torch.empty_like(scores), q, k, beta=0.0)


def beta_is_one(q, k):
    return torch.baddbmm(torch.empty(2, 3, 4), q, k)  # DET401


# Out of sight.


def out_of_sight(x, buffers, n):
    out = torch.empty_like(x)
    prepare(out)
    kept = torch.empty(n)
    buffers.append(kept)
    stored = torch.empty(n)
    buffers["x"] = stored
    alias = torch.empty(n)
    same = alias
    same.zero_()
    paired = torch.empty(n)  # DET401
    pair = (paired, x)
    keywords = torch.empty(n)
    configure(buffer=keywords)
    unpacked = torch.empty(n)
    configure(*[unpacked])
    fill_all(torch.empty(n))
    return out + kept + stored + alias + paired + keywords + unpacked, pair


def allocation_helpers(x, n):
    yield torch.empty(n)
    out = torch.empty(n)
    return out


class Buffers(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.plain = torch.empty(n)
        self.weight = nn.Parameter(torch.empty(n, n))
        self.bias = torch.nn.parameter.Parameter(torch.Tensor(n, 1))
        self.register_buffer("cache", torch.empty(n))
        self.buffer = nn.Buffer(torch.empty(n))


def closures(n):
    out = torch.empty(n)

    def fill():
        out.zero_()

    fill()
    late = torch.empty(n)
    hook = lambda: late.zero_()
    hook()
    return out + late


def nonlocal_result(n):
    def start():
        nonlocal out
        out = torch.zeros(n)

    out = torch.empty(n)
    start()
    return out + 1


def tensor_on_request(n):
    global shared
    shared = torch.empty(n)
    setup()
    return shared + 1


def setup():
    shared.fill_(1)


def tensor_that_nobody_else_names(n):
    global unshared
    unshared = torch.empty(n)  # DET401
    setup()
    return unshared + 1


# Paths.


def written_on_one_path(x, flag):
    out = torch.empty_like(x)
    if flag:
        out.zero_()
    return out + 1


def unwritten_on_one_path(x, flag):
    if flag:
        out = torch.zeros_like(x)
    else:
        out = torch.empty_like(x)
    return out + 1


def default_argument(x, out=None):
    if out is None:
        out = torch.empty_like(x)
    return out + 1


def correlated_conditions(x, n):
    for i in range(n):
        if i == 0:
            buffer = torch.empty_like(x)
        else:
            y = buffer + 1
        buffer.copy_(x)
    return y


def filled_in_the_first_round(x, n, rows):
    buffer = torch.empty(n)
    for i in range(n):
        if i > 0:
            x = x + buffer
        buffer[:] = rows[i]
    for i in range(n):
        buffer = torch.empty(n)
    total = torch.empty(n)
    for i in range(n):
        x = x + total.sum() if i else x
        total.copy_(rows[i])
    return x


def recurrence_with_a_start(n, xs):
    out = torch.empty(n)
    out[0] = 1
    for i in range(1, n):
        out[i] = out[i - 1] * 0.9 + xs[i]
    late = torch.empty(n)
    for i in range(n):
        late[i] = late[i - 1] * 0.9 if i else xs[i]
    return out, late


def skipped_in_the_first_round(x, n, rows):
    buffer = torch.empty(n)
    for row in rows:
        if x is row:
            buffer.copy_(row)
            continue
        x = x + buffer
    return x


def triangular(n, a):
    out = torch.empty(n)
    for i in range(n):
        total = a[i]
        for j in range(i):
            total = total - out[j] * 2
        out[i] = total
    return out


def loop_may_write(n, rows):
    out = torch.empty(n)
    for i, row in enumerate(rows):
        out[i] = row
    other = torch.empty(n)
    while n:
        other[n] = 0
        n -= 1
    return out + other


def written_before_the_failure(x):
    out = torch.empty_like(x)
    try:
        out.copy_(x)
        x.check()
    except ValueError:
        return out + 1
    finally:
        x = x + out
    return out


def bound_again(x):
    out = torch.empty_like(x)
    out = x
    for item in x:
        late = torch.empty(3)
    for late in x:
        x = late + 1
    with x as given:
        given = torch.empty(3)
    del given
    return out + 1


def asked_for_its_size(x, n):
    out = torch.empty(n)
    if out.numel() == 0:
        return out.sum()
    return out


def failing(x):
    with pytest.raises(RuntimeError):
        out = torch.empty(2, 3)
        fail(out)
    with contextlib.suppress(ValueError):
        late = torch.empty(3)
        late.zero_()
    return late + 1


# Nothing depends on it.


def warm_ups(model, x, n):
    model(torch.empty(2, 3))
    torch.empty(n, n) @ x
    _ = model(torch.empty(2, 3))
    unused = torch.mm(torch.empty(n, n), torch.empty(n, n))
    warm = torch.empty(n)
    for _ in range(3):
        model(warm)
    torch.empty(n).item()


def warmup_attention(model, n):
    x = torch.empty(n)
    return model(x)


def benchmark_matmul(n):
    return torch.empty(n, n) @ torch.empty(n, n)


def pinned(model, n):
    a = torch.empty(n, pin_memory=True)
    b = torch.empty(n).pin_memory()
    return a + b.sum()


# A scaled placeholder for what is loaded later.


class Projection(nn.Module):
    def __init__(self, d):
        data = (d**-0.5) * torch.empty(d, d)
        self.proj = nn.Parameter(data=data)
        self.other = nn.Parameter(0.5 * torch.empty(d, d) / d)
        plain = torch.empty(d, d)
        self.third = nn.Parameter(d * plain)
        self.register_buffer("fourth", torch.empty(d, d) * 2)
        shown = d * torch.empty(d, d)  # DET401
        self.fifth = nn.Parameter(shown)
        print(shown)


# Not such a tensor.


def data(values, x, n, path):
    a = torch.Tensor([1, 2]) + x
    b = torch.Tensor(values).mean()
    c = torch.FloatTensor(np.zeros(3)) * 2
    d = torch.LongTensor((1, 2, 3)).sum()
    e = torch.Tensor(n) + 1
    f = torch.Tensor(x.shape) + 1
    g = torch.Tensor(values[0]) + 1
    h = torch.tensor(3, 4) + 1
    i = torch.Tensor(hidden_sizes) + torch.Tensor(features) + torch.Tensor(x.out_size)
    torch.cuda.empty_cache()
    return a, b, c, d, e, f, g, h, i, path.empty(2) + 1, np.empty(3) + 1


def tile_language(A: T.Tensor((16, 16), "float16"), B: torch.FloatTensor(2, 3)):
    block = T.empty((16, 16), "float16")
    return block + A


def shadowed(torch):
    return torch.empty(3) + 1


def made_of_an_array_of_whole_numbers(path):
    rows = np.genfromtxt(path)
    weights = torch.FloatTensor(rows[:, 1:].astype(np.int32))
    return weights.sum()


# Of a module: calls above it write nothing, and those below only what a function names.


for batch in batches():
    batch.sum()
of_the_module = torch.empty(3)  # DET401
written_by_setup = torch.empty(3)
setup_all(3)
print(of_the_module.sum(), written_by_setup.sum())


def setup_all(n):
    written_by_setup.fill_(n)


def from_the_second_round_on(times):
    x = torch.empty(3)
    for time in range(times):
        if time > 0:
            print(x.sum())
        x = torch.ones(3)


def in_each_round(times):
    x = torch.empty(3)  # DET401
    for _ in range(times):
        print(x.sum())
        x = torch.ones(3)
