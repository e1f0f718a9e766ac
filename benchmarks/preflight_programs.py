"""What preflight says of programs as people write them: what ran, what was found, how long it took.

    python benchmarks/preflight_programs.py --work FOLDER [names ...]

The folder holds pytorch/examples (``examples``) and nanoGPT (``nanoGPT``), as checkouts or with a
file COMMIT. timm and torchvision are installed in it, without dependencies, and data that the
programs would download are made up there. Models of timm and transformers are trained for a step
by a program of ten lines.
Writes benchmarks/PREFLIGHT_PROGRAMS.md; with names, their rows of it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PINNED = ["torchvision==0.28.0", "pillow==12.0.0", "timm==1.0.31"]
LONGEST = 300  # seconds of a rehearsal
NAMED = 6  # findings in a cell


@dataclass(frozen=True)
class Case:
    """A program, where it is run, and what it is given."""

    name: str
    folder: str
    program: str
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


EXAMPLES = (
    ("mnist", "main.py"),
    ("mnist_rnn", "main.py", "--accel"),
    ("mnist_forward_forward", "main.py", "--epochs", "2"),
    ("mnist_hogwild", "main.py", "--cuda"),
    ("siamese_network", "main.py"),
    ("vae", "main.py"),
    ("gat", "main.py"),
    ("dcgan", "main.py", "--dataset", "fake", "--accel"),
    ("imagenet", "main.py", "--dummy", "-b", "16"),
    ("word_language_model", "main.py", "--accel"),
    ("word_language_model", "main.py", "--accel", "--model", "Transformer"),
    ("regression", "main.py"),
    ("distributed/ddp", "example.py"),
    ("distributed/ddp-tutorial-series", "single_gpu.py", "1", "1"),
    ("distributed/ddp-tutorial-series", "multigpu.py", "1", "1"),
    ("distributed/ddp-tutorial-series", "multigpu_torchrun.py", "1", "1"),
    ("distributed/FSDP2", "example.py"),
    ("distributed/tensor_parallelism", "tensor_parallel_example.py"),
)
OF_RANKS = ("ddp", "multigpu_torchrun.py", "FSDP2", "tensor_parallelism")
TIMM = (
    "resnet50", "vit_base_patch16_224", "convnext_tiny", "swin_tiny_patch4_window7_224",
    "efficientnet_b0", "mobilenetv3_large_100", "regnety_016", "maxvit_tiny_tf_224",
    "coatnet_0_rw_224", "beit_base_patch16_224", "deit3_small_patch16_224", "mixer_b16_224",
    "xcit_tiny_12_p16_224", "poolformer_s12", "edgenext_small", "twins_svt_small", "levit_128",
    "botnet26t_256", "nfnet_f0", "eva02_tiny_patch14_224",
)  # fmt: skip
# Each of transformers' kinds, small: its head, and what it is given.
TEXT, MASKED, LABELS, IMAGES = "causal", "masked", "labels", "images"
HF = {
    "gpt2": TEXT, "llama": TEXT, "qwen2": TEXT, "qwen3_moe": TEXT, "mixtral": TEXT, "gemma2": TEXT,
    "mamba": TEXT, "mamba2": TEXT, "opt": TEXT, "gpt_neox": TEXT, "phi3": TEXT, "falcon": TEXT,
    "bert": MASKED, "roberta": MASKED, "deberta-v2": MASKED, "modernbert": MASKED,
    "albert": MASKED, "distilbert": LABELS, "electra": LABELS,
    "vit": IMAGES, "swin": IMAGES, "beit": IMAGES, "resnet": IMAGES,
}  # fmt: skip

STEP = """
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loss = loss_of(model)
loss.backward()
optimizer.step()
"""
OF_TIMM = """
import timm, torch
torch.manual_seed(0)
model = timm.create_model("{name}", num_classes=10).cuda().train()
size = model.default_cfg["input_size"]
def loss_of(model):
    labels = torch.randint(10, (2,), device="cuda")
    images = torch.randn(2, *size, device="cuda")
    with torch.autocast("cuda"):
        return torch.nn.functional.cross_entropy(model(images), labels)
"""
OF_HF = """
import torch, transformers
torch.manual_seed(0)
config = transformers.AutoConfig.for_model("{name}")
for key, value in dict(num_hidden_layers=2, num_labels=10).items():
    if isinstance(getattr(config, key, None), int):
        setattr(config, key, value)
model = transformers.{kind}.from_config(config).cuda().train()
tokens = torch.randint(5, 900, (2, 128), device="cuda")
def loss_of(model):
    return {loss}
"""
KINDS = {
    TEXT: ("AutoModelForCausalLM", "model(input_ids=tokens, labels=tokens).loss"),
    MASKED: ("AutoModelForMaskedLM", "model(input_ids=tokens, labels=tokens).loss"),
    LABELS: (
        "AutoModelForSequenceClassification",
        "model(input_ids=tokens, labels=tokens[:, 0] % 10).loss",
    ),
    IMAGES: (
        "AutoModelForImageClassification",
        "model(torch.randn(2, 3, 224, 224, device='cuda'), labels=tokens[:, 0] % 10).loss",
    ),
}
FLASH = """
import torch
from flash_attn import {names}
torch.manual_seed(0)
model = torch.nn.Linear(64, 192).cuda().bfloat16()
x = torch.randn(96, 64, device="cuda", dtype=torch.bfloat16)
def loss_of(model):
    qkv = model(x).view(96, 3, 4, 16)
    return {call}.float().square().mean()
"""
FLASHES = {
    "flash_attn_func": "flash_attn_func(*qkv.unflatten(0, (2, 48)).unbind(2), causal=True)",
    "flash_attn_qkvpacked_func": "flash_attn_qkvpacked_func(qkv.unflatten(0, (2, 48)))",
    "flash_attn_varlen_func": (
        "flash_attn_varlen_func(*qkv.unbind(1), *[torch.tensor([0, 32, 96], dtype=torch.int32, "
        "device='cuda')] * 2, 64, 64, causal=True)"
    ),
}


def cases() -> list[Case]:
    """All of them."""
    found = []
    for folder, program, *arguments in EXAMPLES:
        ranks = any(each in (program, *folder.split("/")) for each in OF_RANKS)
        name = " ".join(("examples", folder, *([program] if "tutorial" in folder else [])))
        name += " Transformer" if "Transformer" in arguments else ""
        options = ("--ranks", "2") if ranks else ()
        found.append(Case(name, f"examples/{folder}", program, tuple(arguments), options))
    # It evaluates 400 batches before the first step, and adds up 40 for one.
    less = ("--eval_iters=2", "--gradient_accumulation_steps=2")
    found.append(Case("nanoGPT GPT-2", "nanoGPT", "train.py", less))
    small = ("config/train_shakespeare_char.py", "--eval_iters=2")
    found.append(Case("nanoGPT shakespeare", "nanoGPT", "train.py", small))
    found += [_written(f"timm {name}", OF_TIMM.format(name=name)) for name in TIMM]
    for name, kind in HF.items():
        head, loss = KINDS[kind]
        text = OF_HF.format(name=name, kind=head, loss=loss)
        found.append(_written(f"transformers {name}", text))
    found += [
        _written(f"flash_attn {name}", FLASH.format(names=name, call=call))
        for name, call in FLASHES.items()
    ]
    return found


def _written(name: str, text: str) -> Case:
    return Case(name, "written", name.replace(" ", "_") + ".py", (text + STEP,))


def prepare(work: Path) -> None:
    """Install the wheels and make up the data."""
    if not (work / "site" / "timm").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        subprocess.run([*pip, "--target", str(work / "site"), *PINNED], check=True)
    (work / "written").mkdir(exist_ok=True)
    examples = work / "examples"
    for folder in ("data", "mnist_forward_forward/data"):
        _digits(examples / folder / "MNIST" / "raw")
    _citations(examples / "gat" / "cora")
    texts = examples / "word_language_model" / "data" / "wikitext-2"
    texts.mkdir(parents=True, exist_ok=True)
    for part in ("train", "valid", "test"):
        _write(texts / f"{part}.txt", "".join(f"word{n % 97} of line {n} .\n" for n in range(900)))
    _tokens(work / "nanoGPT" / "data")


def _write(path: Path, text: str) -> None:
    if not path.exists():
        path.write_text(text, encoding="utf-8")


def _digits(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "t10k"):
        images = struct.pack(">IIII", 2051, 2000, 28, 28) + bytes(range(224)) * (
            2000 * 28 * 28 // 224
        )
        labels = struct.pack(">II", 2049, 2000) + bytes(n % 10 for n in range(2000))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(images)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(labels)


def _citations(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = (
        f"{n} " + " ".join(str(int((n * k) % 7 == 0)) for k in range(1, 1434)) + f" class{n % 7}\n"
        for n in range(2708)
    )
    _write(folder / "cora.content", "".join(rows))
    _write(folder / "cora.cites", "".join(f"{n} {(n * 7 + 1) % 2708}\n" for n in range(2708)))


def _tokens(folder: Path) -> None:
    for name, vocabulary in (("openwebtext", 50257), ("shakespeare_char", 65)):
        for part in ("train", "val"):
            tokens = [n * 31 % vocabulary for n in range(200_000)]
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / f"{part}.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))


def row(case: Case, work: Path) -> str:
    """Rehearse a program, and say what came of it."""
    folder = work / case.folder
    arguments = case.arguments
    if case.folder == "written":
        (folder / case.program).write_text(case.arguments[0], encoding="utf-8")
        arguments = ()
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "guard", "preflight", "--json", *case.options),
            *("--seconds", str(LONGEST), case.program, *arguments),
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{HERE.parent}:{work / 'site'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    try:
        report = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip()[-200:]
        return f"| {case.name} | - | {said} | | {seconds:.0f} | {processor:.0f} |"
    cells = (_ran(report), _found(report), _others(report))
    return f"| {case.name} | {' | '.join(cells)} | {seconds:.0f} | {processor:.0f} |"


def _ran(report: dict[str, Any]) -> str:
    steps, operators = report["steps"], report["operators"]
    ran = f"{steps} step{'' if steps == 1 else 's'}, {operators} operators"
    if report["complete"] and not operators:
        return f"{ran}: {report['limits'][-1]}"
    if report["complete"]:
        return ran
    why = re.sub(r"/\S*/(?=\S+\.py)", "", report["limits"][0])
    return f"{ran}; stopped: {why[:200]}"


def _found(report: dict[str, Any]) -> str:
    names: dict[str, None] = {}
    for each in report["findings"]:
        if each["verdict"] in ("raises", "silent", "unknown"):
            names[f"`{each['name'] or each['operator']}`"] = None
    return _cell(list(names))


def _others(report: dict[str, Any]) -> str:
    return _cell(list(dict.fromkeys(each["name"] for each in report["sources"] if each["counts"])))


def _cell(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "") or "nothing"


def main() -> None:
    """Print a row as it comes, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    work = options.work.resolve()
    prepare(work)
    chosen = [
        each
        for each in cases()
        if not options.names or any(name in each.name for name in options.names)
    ]
    rows = []
    for each in chosen:
        rows.append(row(each, work))
        print(rows[-1], flush=True)
    page = HERE / "PREFLIGHT_PROGRAMS.md"
    if options.names:
        before = page.read_text(encoding="utf-8").splitlines()
        written = {_name(each): each for each in [*before, *rows] if each.startswith("| ")}
        rows = [written[each.name] for each in cases() if each.name in written]
    page.write_text(_page(rows, work), encoding="utf-8")


def _name(row: str) -> str:
    return row.split(" | ", maxsplit=1)[0].removeprefix("| ")


def _page(rows: list[str], work: Path) -> str:
    def commit(name: str) -> str:
        command = ["git", "-C", str(work / name), "rev-parse", "--short", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip() or (work / name / "COMMIT").read_text(encoding="utf-8").strip()

    today = time.strftime("%Y-%m-%d", time.gmtime())
    versions = [*(f"{each}=={version(each)}" for each in ("torch", "transformers")), *PINNED]
    return "\n".join(
        (
            "# What preflight says of programs as people write them",
            "",
            "Written by `python benchmarks/preflight_programs.py`; not edited by hand.",
            "",
            f"- {today}, {', '.join(versions)}, no GPU",
            f"- pytorch/examples {commit('examples')}, nanoGPT {commit('nanoGPT')}; data made up",
            "- transformers: the default configuration of each, with two layers",
            "- seconds by the clock, beside other programs, and of the processor, with all imports",
            "",
            "| program | ran | operators found | other sources | seconds | processor |",
            "|---|---|---|---|--:|--:|",
            *rows,
            "",
        )
    )


if __name__ == "__main__":
    main()
