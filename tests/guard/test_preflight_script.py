"""``python -m guard preflight``: unmodified scripts, what they must not do, and what comes out."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import jsonschema
import pytest
from preflight_reports import found, names, preflight
from programs import clean_environment, write

pytest.importorskip("torch")

from guard.rehearsal import gate, reports

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

pytestmark = pytest.mark.skipif(
    bool(gate.missing()), reason="this torch lacks what a rehearsal needs"
)

TRAINING = """
    import sys

    import torch
    from torch import nn

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print("on", device)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(72, 10)
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    data = torch.utils.data.TensorDataset(torch.randn(64, 3, 8, 8), torch.randint(0, 10, (64,)))
    loader = torch.utils.data.DataLoader(
        data, batch_size=16, shuffle=True, num_workers=4, pin_memory=True, persistent_workers=True
    )
    for epoch in range(100):
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.cuda()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            if torch.isnan(loss):
                sys.exit("not a number")
            print(f"loss {loss.item():.3f} {loss:.2f}")
        torch.save(model.state_dict(), "model.pt")
"""
CLEAN = """
    import torch

    torch.manual_seed(0)
    model = torch.nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range({steps}):
        model(torch.randn(2, 3, device="cuda")).sum().backward()
        optimizer.step()
"""


def test_an_unmodified_script_is_told_what_will_fail(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", TRAINING)
    done = preflight(script.name, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "raises" in done.stdout
    assert "torch.nn.functional.adaptive_avg_pool2d (_adaptive_avg_pool2d_backward)" in done.stdout
    assert "train.py:22  1 (AdaptiveAvgPool2d)  instead: " in done.stdout
    assert done.stdout.startswith("preflight: 1 step on CUDA, torch ")
    assert done.stdout.endswith("Found 1 call of operators that refuse or differ.\n")
    assert "on cuda" in done.stderr
    assert list(tmp_path.iterdir()) == [script]


ENABLED = "import guard\n\n    guard.enable(repair={})\n    import sys\n"


@pytest.mark.parametrize(
    ("options", "enabled", "status"),
    [
        (("--repair",), "", 0),
        ((), "True", 0),
        ((), '["adaptive_avg_pool2d"]', 0),
        ((), '["grid_sample"]', 1),
    ],
)
def test_a_script_whose_operators_are_replaced_is_status_0(
    options: tuple[str, ...], enabled: str, status: int, tmp_path: Path
) -> None:
    text = TRAINING.replace("import sys\n", ENABLED.format(enabled), 1) if enabled else TRAINING
    done = preflight(*options, write(tmp_path / "train.py", text).name, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("repaired" in done.stdout) == (status == 0)
    assert ("raises" in done.stdout) == (status == 1)


def test_nothing_found_is_status_0(tmp_path: Path) -> None:
    write(tmp_path / "train.py", CLEAN.format(steps=5))
    done = preflight("--json", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["steps"] == 1
    assert report["complete"]
    assert report["counts"]["raises"] == 0


def test_as_many_steps_as_asked_for(tmp_path: Path, forks: Forks) -> None:
    assert found(forks, tmp_path, CLEAN.format(steps=5), "--steps", "3", status=0)["steps"] == 3
    report = found(forks, tmp_path, CLEAN.format(steps=2), "--steps", "3", status=0)
    assert report["steps"] == 2


def test_a_program_that_ends_before_a_step_is_not_passed_as_fine(
    tmp_path: Path, forks: Forks
) -> None:
    report = found(forks, tmp_path, "import torch\ntorch.zeros(2, device='cuda') + 1\n", status=2)
    assert not report["complete"]
    assert report["limits"] == ["the program ended before any optimizer had done a step"]


def test_what_was_found_before_an_error_is_told_with_it(tmp_path: Path, forks: Forks) -> None:
    text = """
        import torch

        torch.zeros(3, 3, device="cuda").median(0)
        raise ValueError("its own")
    """
    report = found(forks, tmp_path, text, status=1)
    assert names(report) == {"torch.median"}
    assert report["limits"] == [
        f"{tmp_path / 'train.py'}, line 4: the program ended with ValueError: its own"
    ]


def test_its_time_is_limited(tmp_path: Path, forks: Forks) -> None:
    text = """
        import time
        import torch

        torch.zeros(3, 3, device="cuda").median(0)
        time.sleep(200)
    """
    report = found(forks, tmp_path, text, "--seconds", "12", status=1)
    assert names(report) == {"torch.median"}
    assert "12 seconds were over after 0 optimizer steps" in report["limits"][0]


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_tells_what_was_seen(tmp_path: Path, which: int) -> None:
    text = """
        import time
        import torch

        torch.zeros(3, 3, device="cuda").median(0)
        print("ready", flush=True)
        time.sleep(200)
    """
    script = write(tmp_path / "train.py", text)
    command = [sys.executable, "-m", "guard", "preflight", script.name]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, cwd=tmp_path, env=clean_environment(), text=True, **pipes
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        process.send_signal(which)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "torch.median" in out
    assert "it was interrupted after 0 optimizer steps" in out
    assert err == "guard preflight: interrupted; this is what was seen until then\n"


def test_what_the_linter_cannot_read_is_no_finding(tmp_path: Path) -> None:
    write(tmp_path / "train.py", "import other")
    broken = write(tmp_path / "other.py", "def f(:")
    (source,) = reports.read_sources(str(tmp_path / "train.py"), module=False)
    assert (source.name, source.where and source.where.filename) == ("DET000", str(broken))
    assert not source.counts


def test_arguments_go_to_the_program(tmp_path: Path) -> None:
    text = "import sys, torch\nassert sys.argv[1:] == ['--steps', '7']\n" + CLEAN.format(steps=1)
    write(tmp_path / "train.py", text.replace("\n    ", "\n"))
    done = preflight("train.py", "--steps", "7", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_files_are_as_they_were(tmp_path: Path, forks: Forks) -> None:
    text = """
        import os
        import pathlib
        import shutil

        import torch

        os.makedirs("out/deep")
        pathlib.Path("kept.txt").write_text("changed")
        assert pathlib.Path("kept.txt").read_text() == "changed"
        with open("log.txt", "a") as file:
            file.write("a line")
        os.remove("gone.txt")
        shutil.rmtree("folder")
        os.rename("kept.txt", "other.txt")
        torch.save({}, "model.pt")
    """
    for name in ("kept.txt", "gone.txt", "folder/inside.txt"):
        write(tmp_path / name, "as it was\n")
    report = found(forks, tmp_path, text, status=2)
    assert report["limits"] == ["the program ended before any optimizer had done a step"]
    for name in ("kept.txt", "gone.txt", "folder/inside.txt"):
        assert (tmp_path / name).read_text() == "as it was\n"
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["folder", "gone.txt", "kept.txt", "train.py"]


def test_what_runs_when_a_program_ends_does_not(tmp_path: Path) -> None:
    text = """
        import atexit

        import torch

        atexit.register(print, "at exit")
        model = torch.nn.Linear(3, 3, device="cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        try:
            model(torch.randn(2, 3, device="cuda")).sum().backward()
            optimizer.step()
        finally:
            print("finally")
    """
    script = write(tmp_path / "train.py", text)
    done = preflight(script.name, cwd=tmp_path)
    assert "at exit" not in done.stderr
    assert "finally" not in done.stderr


SEVERAL = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    one, two = nn.Linear(3, 3).cuda(), nn.Linear(3, 3).cuda()
    first, second = torch.optim.Adam(one.parameters()), torch.optim.Adam(two.parameters())
    while True:
        one(torch.randn(2, 3, device="cuda")).sum().backward()
        first.step()
        two(torch.randn(2, 3, device="cuda")).median(0)[0].sum().backward()
        {step}
"""


@pytest.mark.parametrize("step", ["second.step()", "pass"])
def test_every_optimizer_has_its_step(tmp_path: Path, forks: Forks, step: str) -> None:
    report = found(forks, tmp_path, SEVERAL.format(step=step), status=1)
    assert names(report) == {"torch.median"}
    assert report["steps"] == 1


# Other sources


def test_traps_that_are_no_operators(tmp_path: Path, forks: Forks) -> None:
    text = """
        import torch

        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision("high")
        model = torch.nn.Linear(3, 3).cuda()
        generator = torch.Generator("cuda")
        torch.randn(3, device="cuda", generator=generator)
        generator.seed()
        torch.randn(3, device="cuda", generator=generator)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.empty(2, 3, device="cuda")).sum().backward()
        optimizer.step()
    """
    report = found(forks, tmp_path, text, status=1)
    sources = [
        (each["name"], (each["where"] or {}).get("line"), each["counts"])
        for each in report["sources"]
    ]
    assert sources == [
        ("unwritten memory", 11, True),
        ("unseeded draw", 5, True),
        ("unseeded draw", 9, True),
        ("benchmark", None, True),
        ("TF32", None, False),
    ]
    assert "a generator that was seeded by the system" in report["sources"][2]["text"]


def test_a_script_may_set_the_switch_itself(tmp_path: Path, forks: Forks) -> None:
    text = """
        import torch

        torch.use_deterministic_algorithms(True)
        torch.zeros(3, 3, device="cuda").median(0)
        torch.use_deterministic_algorithms(False)
        torch.nn.functional.interpolate(
            torch.zeros(1, 3, 4, 4, device="cuda", requires_grad=True), size=7, mode="bilinear"
        ).sum().backward()
    """
    assert names(found(forks, tmp_path, text, status=1)) == {"torch.median"}


# What scripts do


LOOP = """\
import torch
from torch import nn

torch.manual_seed(0)
{before}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
{step}
    optimizer.step()
"""
DOINGS = {
    "a number for a device": (
        """
            model = nn.Linear(3, 3).to(0)
        """,
        """
            model(torch.randn(2, 3, device=0).cuda(0).to(0)).sum().backward()
        """,
    ),
    "an optimizer before .cuda()": (
        """
            model = nn.Linear(3, 3)
            o = torch.optim.Adam(model.parameters())
            model.cuda()
        """,
        """
            model(torch.randn(2, 3).cuda()).sum().backward()
            o.step()
        """,
    ),
    "compile": (
        """
            model = torch.compile(nn.Linear(3, 3).cuda(), mode='max-autotune')
        """,
        """
            model(torch.randn(2, 3).cuda()).sum().backward()
        """,
    ),
    "numbers read back": (
        """
            model = nn.Linear(3, 3).cuda()
        """,
        """
            loss = model(torch.randn(2, 3).cuda()).sum()
            loss.backward()
            float(loss), int(loss), f'{loss:.3f}', str(loss), loss.tolist()
            loss.detach().cpu().numpy().mean()
            assert loss < 3
        """,
    ),
    "masks and counts": (
        """
            model = nn.Linear(3, 3).cuda()
        """,
        """
            y = model(torch.randn(9, 3).cuda())
            y[y > 0].sum().backward()
            torch.bincount(torch.arange(3).cuda())
            torch.nonzero(y)
            torch.unique(y)
            y[torch.tensor([True] * 9).cuda()]
        """,
    ),
    "streams and events": (
        """
            model = nn.Linear(3, 3).cuda()
            s = torch.cuda.Stream()
            e = torch.cuda.Event()
        """,
        """
            e.record()
            torch.cuda.synchronize()
            s.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(s), torch.cuda.device(0):
                model(torch.randn(2, 3).cuda()).sum().backward()
        """,
    ),
    "copies and averages": (
        """
            import copy
            model = nn.Linear(3, 3).cuda()
            ema = copy.deepcopy(model)
        """,
        """
            model(torch.randn(2, 3).cuda()).sum().backward()
            for a, b in zip(ema.parameters(), model.parameters()):
                a.data.lerp_(b, 0.1)
            ema.load_state_dict(model.state_dict())
        """,
    ),
    "checkpoints of both kinds": (
        """
            model = nn.Linear(3, 3).cuda()
            from torch.utils.checkpoint import checkpoint
        """,
        """
            x = torch.randn(2, 3).cuda().requires_grad_()
            checkpoint(model, x, use_reentrant=True).sum().backward()
            checkpoint(model, x, use_reentrant=False).sum().backward()
        """,
    ),
    "loading": (
        """
            model = nn.Linear(3, 3).cuda()
            model.load_state_dict(torch.load('model.pt', map_location='cuda:0'))
        """,
        """
            model(torch.randn(2, 3).cuda()).sum().backward()
        """,
    ),
    "a wrapper for several GPUs": (
        """
            model = nn.DataParallel(nn.Linear(3, 3).cuda())
        """,
        """
            model(torch.randn(2, 3).cuda()).sum().backward()
        """,
    ),
    "double backward": (
        """
            model = nn.Linear(3, 3).cuda()
        """,
        """
            x = torch.randn(2, 3, device='cuda', requires_grad=True)
            g, = torch.autograd.grad(model(x).square().sum(), x, create_graph=True)
            g.norm(2, dim=1).sub(1).square().mean().backward()
        """,
    ),
    "a fused optimizer and schedules": (
        """
            model = nn.Linear(3, 3).cuda()
            o = torch.optim.AdamW(model.parameters(), fused=True)
            s = torch.optim.lr_scheduler.CosineAnnealingLR(o, 10)
        """,
        """
            model(torch.randn(2, 3).cuda()).sum().backward()
            o.step()
            s.step()
            o.zero_grad(set_to_none=True)
        """,
    ),
}


@pytest.mark.parametrize(("before", "step"), DOINGS.values(), ids=DOINGS)
def test_what_scripts_do(tmp_path: Path, forks: Forks, before: str, step: str) -> None:
    import torch

    torch.save(torch.nn.Linear(3, 3).state_dict(), tmp_path / "model.pt")
    lines = textwrap.dedent(step).strip("\n")
    text = LOOP.format(before=textwrap.dedent(before), step=textwrap.indent(lines, "    "))
    report = found(forks, tmp_path, text)
    assert report["steps"] == 1, report["limits"]
    assert names(report) == set()
    assert report["complete"]


def test_what_is_drawn_until_it_fits_comes_to_an_end(tmp_path: Path, forks: Forks) -> None:
    text = """
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(300, 300).cuda()
        torch.nn.init.trunc_normal_(model.weight, std=0.02)
        x = torch.randn(300, 300, device="cuda")
        while (x > 2).any():
            x = torch.randn(300, 300, device="cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(x).sum().backward()
        optimizer.step()
    """
    report = found(forks, tmp_path, text, "--seconds", "60", status=0)
    assert report["steps"] == 1, report["limits"]


CHECKS = {
    "a distribution": """
        for _ in range(40):
            chosen = torch.distributions.Categorical(logits=x)
            chosen.log_prob(chosen.sample())
    """,
    "what is not there": """
        if (x < -9).any() or (x > 9).any():
            raise ValueError("out of bounds")
    """,
    "what is not all there": """
        for _ in range(40):
            if not (x > -9).all():
                raise ValueError("out of bounds")
    """,
    "the other branch": """
        if (x < -9).any():
            x = x.clamp(-9, 9)
        else:
            raise ValueError("nothing to do")
    """,
    "an assertion over lines": """
        assert not (
            (x > 9).any()
        )
    """,
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_check_that_nobody_can_judge_goes_well(tmp_path: Path, forks: Forks, check: str) -> None:
    lines = f"{textwrap.dedent(check)}\nmodel(x).sum().backward()"
    before = "model = nn.Linear(300, 300).cuda()\nx = torch.randn(300, 300).cuda()"
    text = LOOP.format(before=before, step=textwrap.indent(lines, "    "))
    report = found(forks, tmp_path, text)
    assert report["steps"] == 1, report["limits"]
    assert report["complete"]
    assert any("is a guess" in each for each in report["limits"])


def test_a_line_that_refuses_nothing_gets_the_other_answer_at_times(
    tmp_path: Path, forks: Forks
) -> None:
    lines = """
    seen = [bool((x > 9).any()) for _ in range(64)]
    if (x > 9).any():
        x = x.clamp(-9, 9)
    assert seen.count(False) == 2
    model(x).sum().backward()
    """
    before = "model = nn.Linear(300, 300).cuda()\nx = torch.randn(300, 300).cuda()"
    report = found(forks, tmp_path, LOOP.format(before=before, step=lines))
    assert report["steps"] == 1, report["limits"]


ENDS = {
    "import numpy as np; np.linalg.inv(np.zeros((2, 2)))": "LinAlgError: Singular matrix",
    "assert torch.__version__ == '0.3.2'  # as it was written for": (
        "AssertionError: assert torch.__version__ == '0.3.2'  # as it was written for"
    ),
}


@pytest.mark.parametrize(("line", "said"), ENDS.items())
def test_a_program_that_fails_is_told_at_its_own_line(
    tmp_path: Path, forks: Forks, line: str, said: str
) -> None:
    report = found(forks, tmp_path, f"import torch\n{line}\n", status=2)
    assert report["limits"][0] == (
        f"{tmp_path / 'train.py'}, line 2: the program ended with {said}"
    )


def test_one_rank_of_several(tmp_path: Path, forks: Forks) -> None:
    text = """
        import os

        import torch
        import torch.distributed as dist
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data.distributed import DistributedSampler

        dist.init_process_group("nccl")
        rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(rank)
        torch.manual_seed(0)
        model = DistributedDataParallel(nn.Linear(3, 3).cuda(rank), device_ids=[rank])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        sampler = DistributedSampler(range(8))
        assert len(sampler) == 2, len(sampler)
        with model.no_sync():
            loss = model(torch.randn(2, 3, device=rank)).sum()
        loss.backward()
        dist.all_reduce(loss.detach())
        dist.barrier()
        optimizer.step()
    """
    report = found(forks, tmp_path, text, "--ranks", "4", status=0)
    assert report["steps"] == 1


def test_a_model_of_billions_of_parameters_is_made_without_memory(
    tmp_path: Path, forks: Forks
) -> None:
    text = """
        import resource

        import torch
        from torch import nn

        torch.manual_seed(0)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model = nn.Sequential(*(nn.Linear(20000, 20000) for _ in range(10))).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        model(torch.randn(1, 20000, device="cuda")).sum().backward()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000
        optimizer.step()
    """
    assert found(forks, tmp_path, text, status=0)["steps"] == 1


# Trainers


def test_lightning(tmp_path: Path, forks: Forks) -> None:
    pytest.importorskip("lightning")
    text = """
        import lightning
        import torch
        from torch import nn

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(
                    nn.Upsample(scale_factor=2, mode="bicubic"), nn.Flatten(), nn.Linear(768, 5)
                )

            def training_step(self, batch, _):
                loss = nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
                self.log("loss", loss, prog_bar=True)
                return loss

            def configure_optimizers(self):
                return torch.optim.AdamW(self.parameters())

        lightning.seed_everything(0)
        data = torch.utils.data.TensorDataset(
            torch.randn(64, 3, 8, 8).requires_grad_(), torch.randint(0, 5, (64,))
        )
        loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2)
        trainer = lightning.Trainer(max_epochs=1, accelerator="gpu", precision="16-mixed")
        trainer.fit(Model(), loader)
    """
    report = found(forks, tmp_path, text, status=1)
    assert report["steps"] == 1
    assert names(report) == {'torch.nn.functional.interpolate(mode="bicubic")'}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["train.py"]


def test_hugging_face(tmp_path: Path, forks: Forks) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    text = """
        import torch
        from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

        set_seed(0)
        tokens = torch.arange(16)
        data = [{"input_ids": tokens, "labels": tokens} for _ in range(32)]
        config = GPT2Config(
            n_layer=2, n_head=2, n_embd=64, vocab_size=100, bos_token_id=0, eos_token_id=0
        )
        arguments = TrainingArguments(
            "out", max_steps=5, save_steps=1, bf16=True, gradient_checkpointing=True
        )
        Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=data).train()
    """
    report = found(forks, tmp_path, text, status=0)
    assert report["steps"] == 1
    assert {each["backend"] for each in report["attention"]} == {"flash"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["train.py"]


# The command line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--gpu", "h1000", "train.py"), "'h1000' is not known; legal: p100, "),
        (("--steps", "0", "train.py"), "'0' is not a whole number from 1 on"),
        ((), "a script is needed: python -m guard preflight train.py"),
        (("nowhere.py",), "guard preflight: cannot open 'nowhere.py'"),
        (("--explain", "medan"), "no operator of the tables is called 'medan'; near ones: "),
    ],
)
def test_wrong_usage_is_status_2(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = preflight(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_operator_is_explained(tmp_path: Path) -> None:
    done = preflight("--explain", "median", cwd=tmp_path)
    assert done.returncode == 0
    assert "torch.median has no deterministic implementation on CUDA" in done.stdout
    assert "source:" in done.stdout
    done = preflight("--explain", "index_add", cwd=tmp_path)
    assert "is deterministic under torch.use_deterministic_algorithms(True)" in done.stdout
    done = preflight("--explain", "torch.bmm", cwd=tmp_path)
    assert "nothing is known against torch.bmm; preflight counts it as" in done.stdout


def test_what_holds_for_this_torch_is_explained_first(tmp_path: Path) -> None:
    import torch

    text = preflight("--explain", "cumsum", cwd=tmp_path).stdout
    assert text.startswith(
        f"torch {torch.__version__}: torch.cumsum is deterministic under "
        "torch.use_deterministic_algorithms(True).\n"
    )
    assert text.index("torch.cumsum under torch.compile") < text.index("Not of this torch (before")


def test_sarif_fits_its_schema_and_names_lines(tmp_path: Path) -> None:
    package = importlib.util.find_spec("linceo")
    if package is None or not package.submodule_search_locations:
        pytest.skip("linceo, which carries the SARIF schema, is not installed (Python 3.11+ only)")
    path = os.path.join(package.submodule_search_locations[0], "data", "sarif-schema-2.1.0.json")
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    write(tmp_path / "train.py", TRAINING)
    done = preflight("--sarif", "train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    log = json.loads(done.stdout)
    jsonschema.validate(log, schema)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "preflight/raises"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "train.py", "uriBaseId": "%SRCROOT%"}
    assert location["region"] == {"startLine": 22}
    assert (
        "backward of torch.nn.functional.adaptive_avg_pool2d in module 1"
        in result["message"]["text"]
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ('parser.add_argument("--accel"); parser.add_argument("--no-cuda")', "it takes --accel,"),
        ('parser.add_argument("--epochs")', "nothing. python -m guard verify looks at"),
    ],
)
def test_a_program_on_the_cpu_is_told_what_to_pass(
    tmp_path: Path, forks: Forks, options: str, told: str
) -> None:
    code = f"""
        import argparse, torch
        parser = argparse.ArgumentParser()
        {options}
        parser.parse_args()
        model = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.randn(2, 3)).sum().backward()
        optimizer.step()
        """

    (limit,) = found(forks, tmp_path, code)["limits"]

    assert "computed on the CPU alone" in limit
    assert told in limit
