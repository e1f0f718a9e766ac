"""``python -m guard preflight`` on a machine without the packages that need a GPU."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from preflight_reports import found, preflight
from programs import write

pytest.importorskip("torch")

from guard.rehearsal import gate

if TYPE_CHECKING:
    from forks import Forks

pytestmark = pytest.mark.skipif(
    bool(gate.missing()), reason="this torch lacks what a rehearsal needs"
)

STEP = """\
import torch
from torch import nn
{imports}
torch.manual_seed(0)
width = torch.nn.Parameter(torch.ones(2, 5, 4, 8)).cuda()
inner = nn.Linear(8, 8).cuda()
x = inner(width)
{uses}
optimizer = torch.optim.SGD(inner.parameters(), lr=0.1)
y.sum().backward()
optimizer.step()
"""
# What is imported, what it gives, its shape, and the verdicts on its forward and backward.
KERNELS = {
    "flash_attn": (
        "from flash_attn import flash_attn_func as f",
        "f(x, x, x)", (2, 5, 4, 8), [("backward", "silent")],
    ),
    "flash_attn with deterministic=True": (
        "from flash_attn import flash_attn_func as f",
        "f(x, x, x, deterministic=True)", (2, 5, 4, 8), [],
    ),
    "flash_attn, packed": (
        "from flash_attn.flash_attn_interface import flash_attn_qkvpacked_func as f",
        "f(torch.stack([x, x, x], 2))", (2, 5, 4, 8), [("backward", "silent")],
    ),
    "apex": (
        "from apex.normalization import FusedLayerNorm",
        "FusedLayerNorm(8).cuda()(x)", (2, 5, 4, 8),
        [("backward", "unknown"), ("forward", "unknown")],
    ),
    "transformer_engine": (
        "import transformer_engine.pytorch as te",
        "te.Linear(8, 16).cuda()(x)", (2, 5, 4, 16),
        [
            ("backward", "deterministic if enabled"),
            ("forward", "deterministic if enabled"),
        ],
    ),
    "xformers": (
        "import xformers.ops as xops",
        "xops.memory_efficient_attention(x, x, x)", (2, 5, 4, 8),
        [
            ("backward", "deterministic if enabled"),
            ("forward", "deterministic if enabled"),
        ],
    ),
    "torch_scatter": (
        "from torch_scatter import scatter",
        "scatter(x, torch.zeros(2, dtype=torch.long).cuda(), dim=0, dim_size=3)", (3, 5, 4, 8),
        [("backward", "silent"), ("forward", "silent")],
    ),
    "torchvision.ops": (
        "from torchvision.ops import roi_align",
        "roi_align(x.permute(0, 3, 1, 2), torch.zeros(3, 5).cuda(), 7)", (3, 8, 7, 7),
        [("backward", "unknown"), ("forward", "unknown")],
    ),
    "mamba_ssm": (
        "from mamba_ssm import Mamba",
        "Mamba(8).cuda()(x.flatten(1, 2))", (2, 20, 8),
        [
            ("backward", "deterministic if enabled"),
            ("forward", "deterministic if enabled"),
        ],
    ),
    "what is not known": (
        "from causal_conv1d.somewhere import something",
        "something(x)", (2, 5, 4, 8), [("backward", "unknown"), ("forward", "unknown")],
    ),
}  # fmt: skip


def of_libraries(report: dict[str, Any]) -> list[tuple[str, str]]:
    given = [each for each in report["findings"] if not each["operator"].startswith("aten::")]
    return sorted((each["direction"], each["verdict"]) for each in given if each["where"])


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_library_that_is_not_here_has_a_stand_in(
    tmp_path: Path, forks: Forks, kernel: str
) -> None:
    imports, call, shape, verdicts = KERNELS[kernel]
    library = imports.split()[1].partition(".")[0]
    if importlib.util.find_spec(library) is not None:
        pytest.skip(f"{library} is installed")
    uses = f"y = {call}\nassert y.shape == {shape}, y.shape"
    report = found(forks, tmp_path, STEP.format(imports=imports, uses=uses))
    assert report["steps"] == 1, report["limits"]
    assert report["complete"]
    assert of_libraries(report) == verdicts
    assert {each["where"]["line"] for each in report["findings"] if "::" in each["name"]} <= {8}
    assert (
        f"{library} is not installed here: a stand-in gives what has its shapes"
        in (report["limits"])
    )


OPTIMIZERS = (
    "from apex.optimizers import FusedAdam as O",
    "from deepspeed.ops.adam import FusedAdam as O",
    "from bitsandbytes.optim import Adam8bit as O",
)


@pytest.mark.parametrize("imports", OPTIMIZERS)
def test_an_optimizer_that_is_not_here_does_its_step(
    tmp_path: Path, forks: Forks, imports: str
) -> None:
    text = STEP.replace("torch.optim.SGD", "O").format(imports=imports, uses="y = x")
    report = found(forks, tmp_path, text, status=2)
    assert report["steps"] == 1, report["limits"]
    assert of_libraries(report) == [("forward", "unknown")]


def test_kernels_of_triton_are_launched_and_unknown(tmp_path: Path, forks: Forks) -> None:
    if importlib.util.find_spec("triton") is not None:
        pytest.skip("triton is installed")
    imports = """
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    tl.store(x, 2 * tl.load(x))
"""
    uses = "y = torch.empty_like(x)\ndouble[(triton.cdiv(9, 4),)](y, 9)\ny = x + y"
    report = found(forks, tmp_path, STEP.format(imports=imports, uses=uses), status=2)
    assert report["steps"] == 1, report["limits"]
    assert {each["operator"] for each in report["findings"] if each["verdict"] == "unknown"} == {
        "triton::double"
    }
    assert report["sources"] == []  # a kernel may have written to what it was given


def test_a_library_that_asks_for_another_goes_without_it(tmp_path: Path, forks: Forks) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "asking.py").write_text(
        "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n"
    )
    imports = "import sys; sys.path.insert(0, 'site-packages')\nimport asking"
    uses = "assert asking.flash_attn is None\ny = x"
    report = found(forks, tmp_path, STEP.format(imports=imports, uses=uses), status=0)
    assert report["steps"] == 1, report["limits"]


def test_the_rest_of_torchvision_has_no_stand_in(tmp_path: Path, forks: Forks) -> None:
    if importlib.util.find_spec("torchvision") is not None:
        pytest.skip("torchvision is installed")
    report = found(forks, tmp_path, "import torch\nfrom torchvision import datasets\n", status=2)
    assert "cannot import name 'datasets' from 'torchvision'" in report["limits"][0]


def test_a_model_is_shared_on_the_cpu(tmp_path: Path, forks: Forks) -> None:
    uses = "y = x\nnn.Linear(2, 2).share_memory()\ntorch.zeros(2).share_memory_()"
    report = found(forks, tmp_path, STEP.format(imports="", uses=uses), status=0)
    assert report["steps"] == 1, report["limits"]


def test_the_example_of_the_readme_is_seen_to_its_end(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "leaky"
    shutil.copytree(example, tmp_path, dirs_exist_ok=True, ignore=lambda *_: ["shards"])
    done = preflight("train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("preflight: 1 step on CUDA")
    for expected in (
        "flash_attn.flash_attn_func (flash_attn::flash_attn_func)  model.py:13",
        "the seed that torch.manual_seed gets comes from time.time()",
        "a generator of NumPy is given no seed",
        "DET203            os.listdir() lists in the file system's order",
    ):
        assert expected in done.stdout
    assert sorted(each.name for each in tmp_path.iterdir() if each.suffix) == [
        "data.py", "model.py", "train.py",
    ]  # fmt: skip


# What a program wrote


def test_a_program_finds_the_files_that_it_wrote(tmp_path: Path, forks: Forks) -> None:
    uses = """
import glob, os, pathlib
os.makedirs("out", exist_ok=True)
for name in "ab":
    with open(f"out/{name}.txt", "w") as file:
        file.write(name)
assert sorted(os.listdir("out")) == ["a.txt", "b.txt"]
assert sorted(glob.glob("out/*.txt")) == ["out/a.txt", "out/b.txt"]
assert sorted(each.name for each in pathlib.Path("out").iterdir()) == ["a.txt", "b.txt"]
assert [each for _, _, names in os.walk("out") for each in sorted(names)] == ["a.txt", "b.txt"]
assert os.path.exists("out/a.txt") and os.path.getsize("out/a.txt") == 1
y = x
"""
    report = found(forks, tmp_path, STEP.format(imports="", uses=uses))
    assert report["steps"] == 1, report["limits"]
    assert [each.name for each in tmp_path.iterdir()] == ["train.py"]


# What to pass


PARSER = "import argparse; p = argparse.ArgumentParser(); p.add_argument({0}); a = p.parse_args()\n"
COUNTS = "import torch\nif torch.{0}.device_count() < 2: {1}\n"


def test_what_to_pass_is_said(tmp_path: Path, forks: Forks) -> None:
    data = PARSER.format("'--data-root', default='data/imagenet'")
    nothing = PARSER.format("'--train-file'")
    cases = {
        PARSER.format("'--data', required=True"): (
            ": run python -m guard preflight train.py --data PATH"
        ),
        data + "import os; os.listdir(a.data_root + '/train')": (
            "'data/imagenet/train'; it takes its data from --data-root, which is 'data/imagenet': "
            "run python -m guard preflight train.py --data-root PATH"
        ),
        nothing + "open(a.train_file)": (
            "not NoneType; it takes its data from --train-file, which is None: "
            "run python -m guard preflight train.py --train-file PATH"
        ),
        data + "print('no images')": "a step; it takes its data from --data-root, which is",
        data + "open('/nowhere/vocabulary')": "; if that is its data: run python -m guard",
        "open('/nowhere/imagenet/train.txt')": "run preflight where it is found",
        "import os; os.environ['LOCAL_RANK']": "--ranks 2 sets what torchrun sets",
    }
    for text, said in cases.items():
        report = found(forks, tmp_path, text + "\n", status=2)
        assert said in report["limits"][0], report["limits"]


@pytest.mark.parametrize("owner", ["cuda", "accelerator"])
def test_a_program_that_needs_more_gpus_is_told_how_to_have_them(
    owner: str, tmp_path: Path, forks: Forks
) -> None:
    for end in ("raise SystemExit", "raise SystemExit(1)", "raise AssertionError", "print('two')"):
        report = found(forks, tmp_path, COUNTS.format(owner, end), status=2)
        assert "--ranks 2 has it see two" in report["limits"][0], report["limits"]
    text = "raise ValueError('it requires at least 2 GPUs')\n"
    report = found(forks, tmp_path, text, status=2)
    assert "--ranks 2 has it see two" in report["limits"][0], report["limits"]


def test_processes_that_train_together_are_the_first_of_them(tmp_path: Path, forks: Forks) -> None:
    text = """
        import torch
        import torch.distributed as dist
        import torch.multiprocessing as mp
        from torch.nn.parallel import DistributedDataParallel

        def train(rank, world):
            assert dist.is_nccl_available()
            dist.init_process_group("nccl", rank=rank, world_size=world)
            assert dist.get_world_size() == world
            torch.manual_seed(0)
            model = DistributedDataParallel(torch.nn.Linear(3, 3).to(rank), device_ids=[rank])
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            while True:
                model(torch.ones(2, 3).to(rank)).sum().backward()
                optimizer.step()

        if __name__ == "__main__":
            mp.spawn(train, args=(2,), nprocs=2, join=True)
    """
    report = found(forks, tmp_path, text, status=0)
    assert report["steps"] == 1, report["limits"]


VISION = {
    "extension.py": "def _has_ops():\n    return False\n",
    "__init__.py": """
        import torch
        from torchvision import extension
        lib = torch.library.Library("torchvision", "IMPL", "Meta")
        def pooled(x, rois, scale, height, width, ratio, aligned):
            return x.new_empty((rois.shape[0], x.shape[1], height, width))
        def back(grad, rois, scale, height, width, n, c, h, w, ratio, aligned):
            return grad.new_empty((n, c, h, w))
        lib.impl("roi_align", pooled)
        lib.impl("_roi_align_backward", back)
        def setup(ctx, inputs, output):
            ctx.given = inputs
        def backward(ctx, grad):
            x, *rest = ctx.given
            back = torch.ops.torchvision._roi_align_backward
            return back(grad, *rest[:4], *x.shape, *rest[4:]), *[None] * 6
        torch.library.register_autograd("torchvision::roi_align", backward, setup_context=setup)
        """,
}
SEEN = """
    import torch, torchvision
    assert torchvision.extension._has_ops()
    layer = torch.nn.Conv2d(3, 8, 3).cuda()
    kept = torch.ops.torchvision.nms(torch.zeros(6, 4).cuda(), torch.rand(6).cuda(), 0.5)
    rois, x = torch.zeros(len(kept), 5).cuda(), torch.zeros(1, 3, 9, 9).cuda()
    out = torch.ops.torchvision.roi_align(layer(x), rois, 1.0, 7, 7, 2, True)
    assert out.shape == (len(kept), 8, 7, 7)
    out.sum().backward()
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    """


def test_a_torchvision_that_cannot_load_its_operators(tmp_path: Path, forks: Forks) -> None:
    for name, text in VISION.items():
        write(tmp_path / "torchvision" / name, text)

    report = found(forks, tmp_path, SEEN)

    told = {each["operator"]: each["verdict"] for each in report["findings"]}
    assert told["torchvision::_roi_align_backward"] == "raises"
    assert told["torchvision::nms"] == told["torchvision::roi_align"] == "deterministic"
    assert any("cannot be loaded beside this torch" in each for each in report["limits"])
