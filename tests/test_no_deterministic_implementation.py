"""DET501: the table that it reads, the words that lead to it, and older releases of torch."""

from __future__ import annotations

import functools
import inspect
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from detlint.cli import main
from detlint.engine import Engine
from detlint.finding import Confidence
from detlint.operations import OPERATIONS, Argument, Operation
from detlint.rules.no_deterministic_implementation import NoDeterministicImplementation
from detlint.settings import Settings
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

USAGES = [(row, usage) for row in OPERATIONS for usage in row.usages]
FORMS = [(form, usage) for _, usage in USAGES for form in usage.forms]


def found_for(release: tuple[int, int], call: str) -> list[str]:
    text = f"import torch\nimport torch.nn.functional as F\n\n{call}\n"
    engine = Engine(
        [NoDeterministicImplementation],
        Settings(target_torch=release, min_confidence=Confidence.POSSIBLE),
        known=(),
    )
    return [each.message for each in engine.lint(Source("a.py", text))]


def resolved(path: str) -> object:
    return functools.reduce(getattr, path.split(".")[1:], torch)


@pytest.mark.parametrize(("row", "usage"), USAGES, ids=lambda each: getattr(each, "name", ""))
def test_usages_are_of_public_forms(row: Operation, usage: object) -> None:
    plain = {form.partition("(")[0] for form in row.api}
    assert set(usage.forms) <= plain  # type: ignore[attr-defined]
    assert not row.silent


def test_rows_that_torch_refuses_have_usages_unless_source_does_not_tell() -> None:
    assert {row.name for row in OPERATIONS if not (row.silent or row.usages)} == {
        # composed of other operators, or taken by another way, when called from Python
        'torch.nn.functional.interpolate(mode="bilinear")',
        'torch.nn.functional.interpolate(mode="trilinear")',
        'torch.nn.functional.pad(mode="replicate")',
        "torch.Tensor.scatter_",
        "torch.Tensor.resize_",  # of quantized tensors
    }


@pytest.mark.parametrize(("form", "usage"), FORMS, ids=[form for form, _ in FORMS])
def test_each_form_has_a_trigger(form: str, usage: object) -> None:
    del usage
    call = f"{form.rpartition('.')[2]}("
    assert any(call.startswith(token) for token in NoDeterministicImplementation.triggers)


@pytest.mark.parametrize(("form", "usage"), FORMS, ids=[form for form, _ in FORMS])
def test_arguments_stand_where_torch_has_them(form: str, usage: object) -> None:
    arguments: tuple[Argument, ...] = usage.arguments  # type: ignore[attr-defined]
    try:
        names = list(inspect.signature(resolved(form)).parameters)  # type: ignore[arg-type]
    except ValueError:
        return  # a builtin, which does not tell
    if names[:2] == ["args", "kwargs"]:
        return
    for argument in arguments:
        if argument.position is not None:
            assert names[argument.position] == argument.name


@pytest.mark.parametrize(
    ("call", "last"),
    [
        ("torch.cumsum(torch.rand(9), 0)", (2, 5)),
        ('F.pad(x, (1, 1, 1, 1), mode="reflect")', (2, 6)),
        ("torch.nn.ReflectionPad2d(1)", (2, 6)),
        ("torch.kthvalue(torch.rand(9), 2)", (2, 9)),
    ],
)
def test_what_a_release_mended_is_found_before_it(call: str, last: tuple[int, int]) -> None:
    following = (last[0], last[1] + 1)
    assert len(found_for(last, call)) == 1
    assert f"before torch {following[0]}.{following[1]}" in found_for(last, call)[0]
    assert found_for(following, call) == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            'F.interpolate(x, scale_factor=2, mode="bicubic")',
            'F.interpolate(mode="bicubic") has no deterministic backward on CUDA',
        ),
        ("x.put_(i, y)", "x.put_() has no deterministic implementation"),
        (
            "F.cross_entropy(x.permute(0, 2, 1), y)",
            "F.cross_entropy() of an input with more than two dimensions has no deterministic",
        ),
        ("torch.nn.AdaptiveAvgPool2d((7, 7))", "torch.nn.AdaptiveAvgPool2d((7, 7)) has no"),
        ("f(x).median(dim=1)", "….median(dim=1) has no deterministic implementation on CUDA"),
        ("torch.nn.AdaptiveMaxPool2d(size)", "torch.nn.AdaptiveMaxPool2d(size) has no determin"),
        ("torch.bincount(x, y)", "torch.bincount(weights=…) has no deterministic implementation"),
    ],
)
def test_the_message_names_the_call(
    call: str, said: str, findings: Callable[..., list[Finding]]
) -> None:
    text = f"import torch\nimport torch.nn.functional as F\n\ndef f(x, i, y):\n    {call}\n"
    (found,) = findings(text, "DET501")
    assert found.message.startswith(said)


def test_the_advice_is_that_of_the_table(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings("import torch\ntorch.nn.AvgPool3d(2)\n", "DET501")
    row = next(row for row in OPERATIONS if row.name == "torch.nn.functional.avg_pool3d")
    assert found.advice == f"instead: {row.alternatives[0].text}"


def test_triggers_are_settled_from_the_release_that_settled_their_operators() -> None:
    for token, release in NoDeterministicImplementation.settled:
        name = token.removesuffix("(")
        rows = [
            row
            for row in OPERATIONS
            for usage in row.usages
            if any(form.rpartition(".")[2] == name for form in usage.forms)
        ]
        assert rows
        untils = [tuple(map(int, row.until.split("."))) for row in rows if row.until]
        assert len(untils) == len(rows)
        assert max(untils) == release


@pytest.mark.parametrize(
    "call",
    [
        "torch.median(x, dim=1).values",
        "x.median(dim=-1)[0]",
        'x.index_reduce_(0, index, source, "amax")',
        "torch.histc(x.float(), 10)",
    ],
)
def test_says_so_where_torch_refuses_what_cannot_differ(
    call: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(f"import torch\ny = {call}\n", "DET501")
    assert found.message.endswith(
        " gives the same values in each run, but use_deterministic_algorithms(True) refuses it "
        "on CUDA"
    )


@pytest.mark.parametrize(
    ("call", "same"),
    [
        ("torch.nn.AvgPool3d(2)", True),
        ("torch.nn.AvgPool3d(size, stride=size)", True),
        ("torch.nn.AvgPool3d(2, 3)", True),
        ("torch.nn.AvgPool3d(7, stride=1)", True),
        ("torch.nn.AvgPool3d(7, stride=1, padding=3)", False),
        ("torch.nn.AvgPool3d(3, 2)", False),
        ("torch.nn.AvgPool3d(size, stride)", False),
        ("torch.nn.MaxPool3d(2)", True),
        ("torch.nn.MaxPool3d(3, 1)", False),
        ("torch.nn.MaxPool3d(2, dilation=2)", False),
        ("torch.nn.functional.max_pool3d(x, 2, 2)", True),
        ("torch.nn.functional.avg_pool3d(x, 3, 2)", False),
        ("torch.nn.AvgPool3d(kernel_size=[2, 7, 7], stride=(1, 1, 1))", True),
        ("torch.nn.AvgPool3d([2, 7, 7], (1, 1, 1), padding=(0, 0, 0))", True),
        ("torch.nn.AvgPool3d([2, 7, 7], (1, 1, 1), padding=(0, 1, 0))", False),
        ("torch.nn.AvgPool3d((2, 7, 7), (2, 1, 1))", False),
        ("torch.nn.AvgPool3d(1, stride=n)", True),
        ("torch.nn.MaxPool3d((2, 2, 2), stride=2)", True),
        ("torch.nn.MaxPool3d((1, 2, 2), stride=(2, 2, 2))", True),
        ("torch.nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2))", False),
        ("torch.nn.MaxPool3d((2, 2, 2), (1, 1, 1))", False),
        ("torch.nn.MaxPool3d((2, size, 2), stride=2)", False),
        ("torch.nn.MaxPool3d(2, dilation=(1, 1, 1))", True),
        ("torch.nn.AdaptiveMaxPool2d(1)", True),
        ("torch.nn.AdaptiveMaxPool2d((1, 1))", True),
        ("torch.nn.functional.adaptive_max_pool1d(x, 1)", True),
        ("torch.nn.AdaptiveMaxPool2d((1, 2))", False),
        ("torch.nn.AdaptiveMaxPool2d(size)", False),
        ("torch.nn.AdaptiveAvgPool2d((None, 1))", True),
        ("torch.nn.AdaptiveAvgPool2d((None, 3))", False),
        ("torch.nn.functional.adaptive_avg_pool3d(x, (x.shape[2], 1, 1))", True),
        ("torch.nn.functional.adaptive_avg_pool3d(x, (1, x.size(-2), 1))", True),
        ("torch.nn.functional.adaptive_avg_pool3d(x, (x.shape[3], 1, 1))", False),
        ("torch.nn.functional.adaptive_avg_pool3d(x, (z.shape[2], 1, 1))", False),
    ],
)
def test_windows_that_do_not_overlap_give_the_same_gradient(
    call: str, findings: Callable[..., list[Finding]], *, same: bool
) -> None:
    (found,) = findings(f"import torch\ny = {call}\n", "DET501")
    assert (" gives the same gradient in each run, but " in found.message) is same
    assert (" has no deterministic backward on CUDA" in found.message) is not same


@pytest.mark.parametrize(
    ("pools", "same"),
    [
        ("nn.MaxPool2d(2, stride=2, return_indices=True)", True),
        ("nn.MaxPool2d((2, 3), (2, 3), return_indices=asked)", True),
        ("nn.MaxPool1d((2,), return_indices=True)", True),
        ("nn.MaxPool3d(2, return_indices=True), nn.MaxPool2d(3, 2)", True),
        ("F.max_pool2d_with_indices(x, 2)", True),
        ("nn.MaxPool2d(2, return_indices=True), F.max_pool2d(x, 3, 2, 0, 1, False, True)", False),
        ("nn.MaxPool2d(2, return_indices=True), nn.AdaptiveMaxPool2d(3, **options)", False),
        ("nn.FractionalMaxPool2d(2, return_indices=True)", False),
        ("nn.MaxPool2d((2, 3), (2, 2), return_indices=True)", False),
        ("nn.MaxPool2d(2, dilation=2, return_indices=True)", False),
        ("nn.MaxPool2d(size, stride, return_indices=True)", False),
        ("nn.MaxPool2d(2)", False),
    ],
)
def test_places_of_maxima_come_once_where_no_windows_overlap(
    pools: str, findings: Callable[..., list[Finding]], *, same: bool
) -> None:
    text = f"from torch import nn\nfrom torch.nn import functional as F\npools = {pools}\n"
    found = findings(f"{text}up = nn.MaxUnpool2d(2)\n", "DET501")[-1]
    assert (" gives the same values in each run, but " in found.message) is same
    assert found.message.endswith(" has no deterministic implementation") is not same


@pytest.mark.parametrize(
    "call", ["torch.median(x, dim=1)", 'x.index_reduce_(0, index, source, "prod")']
)
def test_says_nothing_of_the_kind_where_it_can(
    call: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(f"import torch\ny = {call}\n", "DET501")
    assert found.message.endswith(" has no deterministic implementation on CUDA")


def test_the_message_names_what_a_class_is_made_of(
    findings: Callable[..., list[Finding]],
) -> None:
    text = """
        import torch

        class Pool(torch.nn.MaxPool3d):
            pass

        pool = Pool(3, 2), Pool(2)
    """
    overlapping, apart = (each.message for each in findings(text, "DET501"))
    assert overlapping == "Pool(), made of nn.MaxPool3d, has no deterministic backward on CUDA"
    assert apart.startswith("Pool(), made of nn.MaxPool3d, gives the same gradient in each run")


@pytest.mark.parametrize("path", ["evaluation/fid.py", "evaluation/nets/fid.py", "evaluate.py"])
def test_nothing_is_trained_in_an_evaluation(path: str, engine: Callable[..., Engine]) -> None:
    text = (
        "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.conv = nn.Conv3d(1, 1, 3)\n"
        "        self.pool = nn.MaxPool3d(3, 2)\n\n"
        "    def forward(self, x):\n        return self.pool(self.conv(x))\n"
    )

    def confidences(path: str, least: Confidence) -> list[str]:
        found = engine("DET501", least=least).lint(Source(path, text))
        return [str(each.confidence) for each in found]

    assert confidences(path, Confidence.POSSIBLE) == ["possible"]
    assert confidences(path, Confidence.LIKELY) == []
    assert confidences("train_and_evaluate.py", Confidence.POSSIBLE) == ["likely"]


def test_a_loss_of_a_script_that_nothing_reads_is_not_reported(
    findings: Callable[..., list[Finding]],
) -> None:
    text = "import torch\n\ncriterion = torch.nn.CTCLoss()\nfor x in data:\n    "
    assert not findings(f"{text}f(x)  # criterion(x)\n", "DET501")
    assert findings(f"{text}criterion(x)\n", "DET501")


def test_names_of_inference_lower_the_confidence_and_hide_nothing(
    findings: Callable[..., list[Finding]],
) -> None:
    text = """
        import torch.nn.functional as F
        from torch import nn

        class {}(nn.Module):
            def __init__(self):
                self.conv = nn.Conv2d(3, 8, 3)

            def forward(self, x, g):
                return F.grid_sample(self.conv(x), g)
    """
    for name, told in (("Net", "likely"), ("ImageProcessor", "possible"), ("Pipeline", "possible")):
        (found,) = findings(text.format(name), "DET501")
        assert str(found.confidence) == told


WARPS = """
import torch.nn.functional as F
from torch import nn

{}
"""

LAYERED = """class Warp(nn.Module):
    def __init__(self):
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x, g):
        x = {}
        return {{}}"""

HELPER = """class Warp(nn.Module):
    def __init__(self):
        self.convs = nn.ModuleList([nn.Conv2d(3, 8, 3)])

    def forward(self, x, g):
        for conv in self.convs:
            x = conv(x)
        return self._warp(x.relu(), g)

    def _warp(self, x, g):
        return {}"""

POOLED = """class Net(nn.Module):
    def __init__(self):
        self.conv = nn.Conv2d(3, 8, 3)
        self.pool = nn.AdaptiveAvgPool2d(7)

    def forward(self, x):
        return {}"""

SHIFTED = """class Shift(nn.Module):
    def forward(self, x, g):
        return {{}}

class Agent:
    def __init__(self):
        self.encoder = nn.Conv2d(3, 8, 3)
        self.shift = Shift()

    def update(self, x):
        {}"""

EMBEDDED = """class Net(nn.Module):
    def __init__(self):
        self.table = nn.Embedding(64, 8)
        {}

    def forward(self, g):
        return F.grid_sample(self.table.weight.view(1, 8, 8, 8), g)"""

SERVING = """def warp(x, g):
    return {{}}

def image(x, g):
    return warp(x, g)

def {}(x, g):
    return image(x, g).mean()"""

USED = """def warp(x, g):
    return {}

def twice(x, g):
    return warp(warp(x, g), g)

class Net(nn.Module):
    def forward(self, x, g):
        return twice(x, g)"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class Warp(nn.Module):\n    def forward(self, x, g):\n        return {}", 0),
        (LAYERED.format("self.conv(x)"), 1),
        (LAYERED.format("self.normalize_mel(x)"), 0),
        (LAYERED.format("self.model.generate(x)"), 0),
        (LAYERED.format("self.conv(x).detach()"), 0),
        (LAYERED.format("x.float()"), 0),
        (HELPER, 1),
        ("class Warp(Base):\n    def warp(self, feat, g):\n        x = feat\n        return {}", 1),
        ("class Scale:\n    pass\n\nclass Warp(Scale):\n    def f(self, x, g):\n        {}", 0),
        ("def step(x, g):\n    x = model(x)[0]\n    return {}\n\ndef loss(x):\n    step(x)", 1),
        ("def warp(x, g):\n    return {}", 0),
        ("def warp_loss(x, g):\n    return {}.mean()", 1),
        ("x = g = images\ny = {}", 0),
        ("class Warp:\n    def __call__(self, x, g):\n        return {}", 0),
        ("class Pairs(Dataset):\n    def __getitem__(self, x):\n        return {}", 0),
        (USED, 0),
        (SHIFTED.format("x = self.encoder(self.shift(x))"), 0),
        (SHIFTED.format("x = self.shift(self.encoder(x))"), 1),
        (EMBEDDED.format("self.size = 8"), 1),
        (EMBEDDED.format("self.table.weight.requires_grad = False"), 0),
        (SERVING.format("image_loss"), 1),
        (SERVING.format("image_size"), 0),
        ("def hcl(x, g):\n    loss = {}.mean()\n    return loss", 1),
        ("def train_step(x, g):\n    loss = {}.mean()\n    return loss", 0),
        ("def hcl(x, g):\n    lost = {}.mean()\n    return lost", 0),
        ("import torch\n\ndef middle(x):\n    return torch.median(x, dim=0).values", 1),
        ("import torch\n\ndef predict(x):\n    return torch.median(x, dim=0).values", 0),
        ("def pool():\n    return nn.AdaptiveAvgPool2d(7)", 0),
        ("net = nn.Sequential(nn.AdaptiveAvgPool2d(7), nn.Conv2d(3, 8, 3))", 0),
        ("net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(7))", 1),
        (POOLED.format("self.pool(self.conv(x))"), 1),
        (POOLED.format("self.conv(self.pool(x))"), 0),
        (POOLED.format("self.conv(x)  # self.pool(x)"), 0),
        ("import torch\n\ndef middle(x):\n    return torch.median(x, dim=0)", 1),
        ("def step(x, g):\n    y = {}\n    y.mean().backward()", 1),
        ("class Trainer:\n    def step(self, x, g):\n        {}.mean().backward()", 1),
        ("def step(x, g):\n    return {}\n\ndef other(x):\n    x.backward()", 0),
        ("if __name__ == '__main__':\n    y = {}\n    y.mean().backward()", 1),
    ],
)
def test_a_backward_is_reported_where_a_gradient_may_be_asked_for(
    text: str, found: int, engine: Callable[..., Engine]
) -> None:
    filled = WARPS.format(text.format("F.grid_sample(x, g, align_corners=False)"))
    for narrowed in (True, False):
        told = engine("DET501", narrowed=narrowed, least=Confidence.LIKELY).lint(
            Source("a.py", filled)
        )
        assert len(told) == found


def test_embeddings_that_are_resized_beside_models_come_from_checkpoints(
    engine: Callable[..., Engine],
) -> None:
    text = 'def {}(features, size):\n    return F.interpolate(features, size, mode="bicubic")'
    for name, found in (("resample_abs_pos_embed", 0), ("get_rel_pos", 0), ("fit", 1)):
        source = Source("layers/pos_embed.py", WARPS.format(text.format(name)))
        assert len(engine("DET501", least=Confidence.LIKELY).lint(source)) == found


@pytest.mark.parametrize(
    ("path", "name", "found"),
    [
        ("utils/flow.py", "features", 1),
        ("utils/flow.py", "images", 0),
        ("models/eval/demo/draw.py", "features", 0),
        ("train_eval.py", "features", 1),
    ],
)
def test_what_layers_give_is_told_by_its_name_where_nothing_else_tells(
    path: str, name: str, found: int, engine: Callable[..., Engine]
) -> None:
    text = WARPS.format(f"def warp({name}, g):\n    return F.grid_sample({name}, g)")
    assert len(engine("DET501", least=Confidence.LIKELY).lint(Source(path, text))) == found


@pytest.mark.parametrize(
    ("call", "same"),
    [
        ("F.grid_sample(x.detach(), g)", True),
        ("F.grid_sample(source_image, g, align_corners=False)", True),
        ('F.grid_sample(batch["image"][0], g, "nearest")', True),
        ("F.grid_sample(torch.zeros(1, 1, 8, 8), g)", True),
        ("F.grid_sample(x.detach(), g, align_corners=True)", False),  # perhaps by cuDNN
        ("F.grid_sample(x.detach(), g, align_corners=corners)", False),
        ("F.grid_sample(x, g.detach())", False),
    ],
)
def test_the_gradient_of_a_grid_is_the_same_in_each_run(
    call: str, findings: Callable[..., list[Finding]], *, same: bool
) -> None:
    head = "import torch\nimport torch.nn.functional as F\n\ndef f(x, g, source_image, batch):\n"
    text = f"{head}    {call}\n"
    (found,) = findings(text, "DET501")
    assert (" gives the same gradient in each run, but " in found.message) is same


def test_the_rules_own_examples_need_no_strictness(engine: Callable[..., Engine]) -> None:
    for example in NoDeterministicImplementation.examples:
        text = textwrap.dedent(example.bad)
        told = engine("DET501", least=Confidence.LIKELY).lint(Source("net.py", text))
        assert len(told) == text.count("# DET501")


@pytest.mark.parametrize(
    ("text", "token", "concerned"),
    [
        ("x = torch.nn.CTCLoss()", "CTCLoss", True),
        ("F.pad(x, 1, mode='reflect')", "pad", True),
        ("F.pad(x, 1)", "pad", False),
        ("F.interpolate(x, 2)", "interpolate", False),
        ("F.interpolate(x, 2, mode='bilinear', antialias=True)", "interpolate", True),
        ("MODE = 'area'\nF.interpolate(x, 2, None, MODE)", "interpolate", True),
        ("x.scatter_(0, i, y)", "scatter_", False),
        ("x.put_all(y)", "put_all", False),
    ],
)
def test_text_tells_what_need_not_be_parsed(text: str, token: str, *, concerned: bool) -> None:
    assert NoDeterministicImplementation.concerns(text, text.index(token)) is concerned


HELD = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("last", torch.zeros(8))
        self.grid = nn.Parameter(torch.rand(8)){frozen}

    def update(self):
        self.last = self.mean
        self.last.zero_()

    def forward(self, x, old):
        {line}
"""


@pytest.mark.parametrize(
    ("line", "frozen", "found"),
    [
        ('y = F.pad(self.last, (3, 3), mode="reflect")', "", 0),
        ('y = F.pad(self.grid, (3, 3), mode="reflect")', "", 1),
        ('y = F.pad(self.grid, (3, 3), mode="reflect")', ".requires_grad_(False)", 0),
        ('y = old.data; y = F.pad(y.float(), (3, 3), mode="reflect")', "", 0),
        ('y = F.pad(x, (3, 3), mode="reflect"); x.data = y', "", 0),
        ('self.y = nn.Parameter(torch.cat([x, F.pad(x, (3, 3), mode="reflect")]))', "", 0),
        ('y, _ = self.flow.inference(x); y = F.pad(y, (3, 3), mode="reflect")', "", 0),
    ],
)
def test_what_is_held_or_becomes_a_leaf_has_no_gradient(
    line: str, frozen: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    text = HELD.format(line=line, frozen=frozen)
    for narrowed in (True, False):
        assert len(findings(text, "DET501", narrowed=narrowed)) == found


PARTS = """
    import torch.nn.functional as F
    from torch import nn

    def warp(image, grid):
        return F.grid_sample(image, grid)

    class Warp(nn.Module):
        def forward(self, image, grid):
            return F.grid_sample(image, grid)

    def pool():
        return nn.AdaptiveAvgPool2d(7)
"""
MODEL = """
    from functools import partial
    from torch import nn
    import parts
    from parts import Warp, warp as sample

    class Net(nn.Module):
        def __init__(self):
            self.conv, self.warp = nn.Conv2d(3, 8, 3), Warp()
            self.other, self.pool = parts.Warp(), parts.pool()
            self.later, self.bound = partial(sample, align=True), partial(sample, self.grid)

        def forward(self, x, grid):
            {}
"""
SCRIPT = """
    from torch import nn
    from parts import pool
    from model import Net

    net = nn.Sequential({})
"""


@pytest.mark.parametrize(
    ("line", "layers", "rows"),
    [
        ("return sample(self.conv(x), grid)", "Net()", [6]),
        ("return parts.warp(self.conv(x), grid)", "Net()", [6]),
        ("return self.warp(self.conv(x), grid)", "Net()", [10]),
        ("return self.other(self.conv(x), grid)", "Net()", [10]),
        ("return self.later(self.conv(x), grid)", "Net()", [6]),
        ("return self.bound(self.conv(x))", "Net()", []),
        ("return self.pool(self.conv(x))", "Net()", [13]),
        ("return x", "nn.Conv2d(3, 8, 3), pool()", [13]),
        ("return x", "pool(), nn.Conv2d(3, 8, 3)", []),
        ("return self.conv(sample(x, grid)) + self.conv(self.warp(x, grid))", "Net()", []),
    ],
)
def test_what_other_files_give_a_function_or_layer_counts(
    line: str,
    layers: str,
    rows: list[int],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, script = MODEL.format(line), SCRIPT.format(layers)
    project({"parts.py": PARTS, "model.py": model, "script.py": script})
    main(["--no-cache", "--select", "DET501", "--output-format", "json", "."])
    told = json.loads(capsys.readouterr().out)
    assert all(each["filename"].endswith("parts.py") for each in told)
    assert [each["location"]["row"] for each in told] == rows


NET = """
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            self.conv, self.pool = nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(7)

        def forward(self, x):
            return self.pool(self.conv(x))
"""
TRAIN = """
    import torch
    from {} import Net

    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3, 8, 8)).sum().backward()
    {}
"""


ANSWER = """
    import torch
    from vendored.net import Net

    if __name__ == "__main__":
        net = Net()
        net.load_state_dict(torch.load("net.pt"))
        print(net(torch.ones(1, 3, 8, 8)))
"""


@pytest.mark.parametrize(
    ("imported", "step", "more", "told"),
    [
        ("own", "optimizer.step()", {}, ["own.py"]),
        ("vendored.net", "optimizer.step()", {}, ["vendored/net.py"]),
        ("own", "optimizer.step()", {"setup.py": "setup()"}, ["own.py", "vendored/net.py"]),
        (
            "own",
            "optimizer.step()\n    x = importlib.import_module(net)",
            {},
            ["own.py", "vendored/net.py"],
        ),
        ("own", "optimizer.step()", {"answer.py": ANSWER}, ["own.py"]),
        ("own", "optimizer.step()", {"train_vendored.py": ANSWER}, ["own.py", "vendored/net.py"]),
        (
            "own",
            "optimizer.step()",
            {"more.py": TRAIN.format("vendored.net", "optimizer.step()")},
            ["own.py", "vendored/net.py"],
        ),
    ],
)
def test_models_that_no_program_trains_are_possible(  # noqa: PLR0913, PLR0917 - a row of the table
    imported: str,
    step: str,
    more: dict[str, str],
    told: list[str],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = {"own.py": NET, "vendored/net.py": NET, "train.py": TRAIN.format(imported, step)}
    root = project({**files, **more})
    main(["--no-cache", "--select", "DET501", "--output-format", "json", "."])
    found = [Path(each["filename"]) for each in json.loads(capsys.readouterr().out)]
    assert [each.relative_to(root).as_posix() for each in found] == told


LAYERS = """
    from torch import nn

    class Pyramid(nn.Module):
        def __init__(self):
            self.conv, self.pool = nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(7)

        def forward(self, x):
            return self.pool(self.conv(x))

    class Encoder(nn.Module):
        def __init__(self, kind):
            self.net = Pyramid() if kind == "Pyramid" else nn.Conv2d(3, 8, 3)

    class Head(nn.Module):
        def __init__(self):
            self.conv, self.last = nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(5)

        def forward(self, x):
            return self.last(self.conv(x))
"""
TRAINS = """
    import torch
    import layers

    net = {}
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3, 8, 8)).sum().backward()
    optimizer.step()
"""


def found_rows(capsys: pytest.CaptureFixture[str]) -> list[int]:
    main(["--no-cache", "--select", "DET501", "--output-format", "json", "."])
    return [each["location"]["row"] for each in json.loads(capsys.readouterr().out)]


GIVEN_ITS_MODEL = """
    import torch

    class GAN:
        def __init__(self, gen_fn):
            self.g = gen_fn.cuda()
            self.optim = torch.optim.Adam(self.g.parameters())
"""
STEPS = """
    import torch
    from base import GAN
    from own import Net

    class Wide(GAN):
        def get_theta(self, angles):
            return angles * 2

        def step(self, x, angles):
            theta = {}
            self.g(x, theta).mean().backward()
            self.optim.step()

    Wide(Net()).step(torch.ones(1, 3, 8, 8), torch.ones(1))
"""


@pytest.mark.parametrize("theta", ["angles * 2", "self.get_theta(angles)"])
def test_what_works_out_what_a_model_is_given_does_not_show_the_model(
    theta: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = STEPS.format(theta)
    project({"own.py": NET, "base.py": GIVEN_ITS_MODEL, "train.py": steps})
    assert found_rows(capsys) == [6]


@pytest.mark.parametrize(
    ("made", "more", "rows"),
    [
        ("layers.Head()", {}, [17]),
        ('layers.Encoder("Pyramid")', {}, [6]),
        ("torch.nn.Linear(3, 1)", {}, []),
        ("torch.nn.Linear(3, 1); look = layers.Head()", {}, []),
        ("torch.nn.Sequential(layers.Head(), torch.nn.Linear(3, 1))", {}, [17]),
        ("torch.nn.Linear(3, 1); look = layers.Head()", {"setup.py": "setup()"}, [6, 17]),
        ("torch.nn.Linear(3, 1)", {"setup.py": "setup()"}, [6, 17]),
        ("getattr(layers, name)()", {}, [6, 17]),
    ],
)
def test_classes_that_no_program_builds_are_possible(
    made: str,
    more: dict[str, str],
    rows: list[int],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"layers.py": LAYERS, "train.py": TRAINS.format(made), **more})
    assert found_rows(capsys) == rows


VIEWER = """
    import torch
    import layers

    if __name__ == "__main__":
        print(layers.Head()(torch.ones(1, 3, 8, 8)))
"""


@pytest.mark.parametrize(
    ("name", "held", "rows"),
    [
        ("view.py", LAYERS, []),
        ("train.py", LAYERS, [17]),  # which may train in a way that is not seen
        ("view.py", LAYERS.replace("    class Head", "    @register\n    class Head"), [18]),
    ],
)
def test_what_only_answers_has_no_backward(
    name: str,
    held: str,
    rows: list[int],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"layers.py": held, name: VIEWER})
    assert found_rows(capsys) == rows


@pytest.mark.parametrize(
    ("switch", "rows"),
    [("", []), ("torch.use_deterministic_algorithms(True)", [5]), ("guard.enable(seed=0)", [5])],
)
def test_what_only_the_switch_refuses_is_possible_where_it_is_off(
    switch: str,
    rows: list[int],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    features = """
        import torch

        def smooth(x):
            return x.unfold(1, 3, 1).median(dim=-1).values
    """
    script = f"""
        import guard
        import torch
        from features import smooth

        {switch}
        net = torch.nn.Linear(4, 1).cuda()
        optimizer = torch.optim.Adam(net.parameters())
        net(smooth(torch.rand(4, 6).cuda())).mean().backward()
        optimizer.step()
    """
    project({"features.py": features, "train.py": script})
    assert found_rows(capsys) == rows


POOLS = """
    from torch import nn

    def pool_of(dims, *size):
        if dims == 2:
            return nn.AvgPool2d(*size)
        elif dims == 3:
            return nn.AvgPool3d(*size)
        raise ValueError(dims)

    class Down(nn.Module):
        def __init__(self, size=2, dims=2):
            super().__init__()
            self.op = pool_of(dims, size)

        def forward(self, x):
            return self.op(x)
"""
TRAINS_POOLS = """
    import torch
    from pools import Down, pool_of

    if __name__ == "__main__":
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 1), MADE).cuda()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in torch.load("data.pt"):
            net(x.cuda()).sum().backward()
            opt.step()
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("Down()", "possible"),
        ("Down(3)", "possible"),
        ("Down(dims=3)", "likely"),
        ("Down(), pool_of(3, 2)", "likely"),
        ("Down(dims=args.dims)", "likely"),
    ],
)
def test_a_number_of_dimensions_that_nothing_asks_for_is_possible(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    made: str,
    found: str,
) -> None:
    setup = "from setuptools import setup\nsetup(name='pools', py_modules=['pools'])\n"
    for others in ({}, {"setup.py": setup}):
        project({"pools.py": POOLS, "train.py": TRAINS_POOLS.replace("MADE", made), **others})
        kept = ["--isolated", "--no-cache", "--select", "DET501", "--min-confidence", "possible"]
        main([".", *kept, "--output-format", "concise"])
        (line,) = [each for each in capsys.readouterr().out.splitlines() if "DET501" in each]
        assert line.startswith("pools.py:8:16: DET501 nn.AvgPool3d()")
        assert line.endswith(f"[{found}]")


COMMON = """
    import abc

    from torchaudio.transforms import Spectrogram

    class Base(abc.ABC):
        def __init__(self):
            self.spec = Spectrogram(n_fft=512).cuda()

        def check(self, x):
            return self.spec(x.detach())
"""
FITTER = """
    import torch
    from common import Base

    class Fitter(Base):
        def fit(self, net, rows, optimizer):
            loss = self.spec(net(rows)).mean()
            loss.backward()
            optimizer.step()

    Fitter().fit(torch.nn.Linear(4, 4).cuda(), rows, optimizer)
"""


def test_what_a_base_keeps_is_fed_by_classes_of_its_file_that_derive_from_it(
    findings: Callable[..., list[Finding]],
) -> None:
    text = f"{COMMON}\n{FITTER.replace('from common import Base', '')}"
    (found,) = findings(text, "DET501")
    assert found.confidence is Confidence.LIKELY
