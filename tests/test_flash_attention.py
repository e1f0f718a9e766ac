"""DET601: what elsewhere in a file makes FlashAttention deterministic, or its backward unused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from notebook_files import notebook

from detlint.finding import Confidence
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.engine import Engine
    from detlint.finding import Finding


@pytest.fixture
def engine(engine: Callable[..., Engine]) -> Callable[..., Engine]:
    """An engine that shows what is at least likely: what names alone speak against is possible."""

    def make(*codes: str, narrowed: bool = True) -> Engine:
        return engine(*codes, narrowed=narrowed, least=Confidence.LIKELY)

    return make


HUGGING_FACE = """
import os
{line}
model = AutoModel.from_pretrained("m", attn_implementation="flash_attention_2")
"""
SWITCH = """
import os
{line}
model = build(use_flash_attn=True)
"""
CALL = """
import os
from flash_attn import flash_attn_func
{line}
def attend(q, k, v):
    return flash_attn_func(q, k, v)
"""
SET = 'os.environ["FLASH_ATTENTION_DETERMINISTIC"] = "1"'
NVTE = 'os.environ["NVTE_ALLOW_NONDETERMINISTIC_ALGO"] = "0"'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(HUGGING_FACE, SET, id="set-in-environ"),
        pytest.param(
            HUGGING_FACE,
            'os.environ.setdefault("FLASH_ATTENTION_DETERMINISTIC", "1")',
            id="setdefault",
        ),
        pytest.param(
            HUGGING_FACE,
            'os.environ.update({"FLASH_ATTENTION_DETERMINISTIC": "1"})',
            id="in-a-mapping",
        ),
        pytest.param(
            HUGGING_FACE, 'os.environ.update(FLASH_ATTENTION_DETERMINISTIC="1")', id="as-a-keyword"
        ),
        pytest.param(HUGGING_FACE, "enable_full_determinism(0)", id="by-enable-full-determinism"),
        pytest.param(
            HUGGING_FACE, "TrainingArguments(full_determinism=True)", id="by-training-arguments"
        ),
        pytest.param(HUGGING_FACE, "model.generate(x)", id="a-file-that-only-generates"),
        pytest.param(
            HUGGING_FACE, "def _flash_attention_forward(): ...", id="the-integration-itself"
        ),
        pytest.param(HUGGING_FACE, "from vllm import LLM", id="a-model-of-an-engine"),
        pytest.param(CALL, "import sglang.srt.utils", id="a-call-in-an-engine"),
        pytest.param(SWITCH, SET, id="a-switch-that-hugging-face-may-read"),
        pytest.param(SWITCH, NVTE, id="a-switch-that-transformer-engine-may-read"),
        pytest.param(SWITCH, "args.deterministic_mode=True", id="megatron-in-deterministic-mode"),
        pytest.param(
            CALL,
            "def flash_attn_varlen_func(q, k, v, deterministic=False): ...",
            id="the-library-itself",
        ),
    ],
)
def test_silent_where_the_file_makes_it_deterministic_or_does_not_train(
    text: str, line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert findings(text.format(line=line), "DET601") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(HUGGING_FACE, "", id="nothing-is-set"),
        pytest.param(HUGGING_FACE, f"# {SET}", id="only-in-a-comment"),
        pytest.param(HUGGING_FACE, SET.replace("1", "0"), id="set-to-0"),
        pytest.param(
            HUGGING_FACE, 'os.getenv("FLASH_ATTENTION_DETERMINISTIC", "1")', id="only-read"
        ),
        pytest.param(
            HUGGING_FACE,
            'flag = os.environ["FLASH_ATTENTION_DETERMINISTIC"] == "1"',
            id="only-compared",
        ),
        pytest.param(HUGGING_FACE, NVTE, id="a-variable-that-hugging-face-does-not-read"),
        pytest.param(HUGGING_FACE, "model.generate(x)\nloss.backward()", id="generates-and-trains"),
        pytest.param(CALL, "import vllm\nTrainer(model)", id="an-engine-asked-while-training"),
        pytest.param(CALL, SET, id="a-variable-that-flash-attn-does-not-read"),
    ],
)
def test_found_where_nothing_that_its_reader_reads_is_set(
    text: str, line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert [each.code for each in findings(text.format(line=line), "DET601")] == ["DET601"]


def test_the_message_names_the_function_or_the_setting(
    findings: Callable[..., list[Finding]],
) -> None:
    (called,) = findings(CALL.format(line=""), "DET601")
    assert called.message == (
        "flash_attn_func() without deterministic=True "
        "adds up gradients in varying order in its backward"
    )
    assert called.advice == "pass deterministic=True (flash-attn 2.4 and later)"
    (called,) = findings(CALL.format(line="").replace("attn_f", "attn_unpadded_f"), "DET601")
    assert called.advice == (
        "pass deterministic=True, which late releases of flash-attn 1 take "
        "(2 has no flash_attn_unpadded_func())"
    )
    text = "from flash_attn.modules.mha import FlashSelfAttention as A\nA()"
    assert [each.advice for each in findings(text, "DET601")] == [
        "pass deterministic=True, which newer releases of flash-attn 2 take"
    ]
    (asked,) = findings(HUGGING_FACE.format(line=""), "DET601")
    assert asked.message == (
        'attn_implementation="flash_attention_2" asks for FlashAttention, '
        "whose backward adds up gradients in varying order"
    )
    assert asked.advice == (
        "use sdpa, or set FLASH_ATTENTION_DETERMINISTIC=1 if the model's code reads it, as "
        "transformers does"
    )
    (asked,) = findings(HUGGING_FACE.format(line="import transformers"), "DET601")
    assert asked.advice == (
        "set FLASH_ATTENTION_DETERMINISTIC=1 (Hugging Face), call guard.enable(seed=0), which sets "
        "it, or use sdpa"
    )
    (asked,) = findings("model = load(use_flash_attention_2=True)", "DET601")
    assert asked.advice == (
        'use attn_implementation="sdpa", or set FLASH_ATTENTION_DETERMINISTIC=1, which newer '
        "releases of transformers read"
    )
    (asked,) = findings('subprocess.run(["python", "train.py", "--use-flash-attn"])', "DET601")
    assert asked.advice == (
        "leave it out or turn it off, or make the backward deterministic: "
        "FLASH_ATTENTION_DETERMINISTIC=1 for Hugging Face's models, "
        "NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 for Transformer Engine, deterministic=True in calls "
        "of the program's own"
    )


LOADS = 'model = AutoModel.from_pretrained("m", attn_implementation="flash_attention_2")'


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        pytest.param(("model.generate(x)",), 0, id="generates"),
        pytest.param(("model.load_adapter(p)", "print(answer(model, x))"), 0, id="by a function"),
        pytest.param(
            ("def generate(model, x):\n    return model.generate(x)", "generate(model, x)"),
            0,
            id="a parameter of its name",
        ),
        pytest.param(
            ("model.generate(x)", "model = load()", "Trainer(model=model).train()"),
            0,
            id="bound anew before it is trained",
        ),
        pytest.param(
            ("if lora:\n    model = PeftModel.from_pretrained(model, p)", "infer(model)"),
            0,
            id="wrapped",
        ),
        pytest.param(("model.generate(x)", "Trainer(model=model).train()"), 1, id="both"),
        pytest.param(
            ("model.generate(x)", "model = get_peft_model(model, c)", "Trainer(model).train()"),
            1,
            id="wrapped and trained",
        ),
        pytest.param(("generate(model)", "def f():\n    fit(model)"), 1, id="in a function"),
        pytest.param(("optim.SGD(model.parameters())",), 1, id="its parameters"),
        pytest.param(("use(model)", "Trainer()"), 1, id="not known"),
        pytest.param(("Trainer()",), 1, id="not used"),
    ],
)
def test_a_model_of_a_notebook_that_only_answers(
    cells: tuple[str, ...], found: int, engine: Callable[..., Engine]
) -> None:
    text = notebook("from transformers import AutoModel, Trainer", LOADS, *cells, "trainer = 1")
    for narrowed in (True, False):
        told = engine("DET601", narrowed=narrowed).lint_bytes("nb.ipynb", text.encode())
        assert len(told) == found


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("web_demo_chat.py", SWITCH, []),
        ("eval_distributed.py", SWITCH, []),
        ("eval_distributed.py", SWITCH + "loss.backward()\n", ["DET601"]),
        ("train_eval.py", SWITCH + "Trainer(model).train()\n", ["DET601"]),
        ("model.py", SWITCH, ["DET601"]),
        ("flash_decoding_benchmark.py", CALL, []),
        ("test_speedup.py", CALL + "torch.autograd.backward(o, g)\n", []),
        ("attention_perf.py", CALL + "o.backward(g)\n", []),
        ("attention_perf.py", CALL + "o.backward(g)\noptimizer.step()\n", ["DET601"]),
        ("train_speed.py", CALL + "Trainer(model).train()\n", ["DET601"]),
        ("kernels.py", CALL.replace("attend", "bench_attention"), []),
        ("kernels.py", CALL.replace("attend", "attend_with_perfect_memory"), ["DET601"]),
        ("inference/models/modeling.py", SWITCH, []),
        ("deploy.py", SWITCH, []),
        ("finetune/models/modeling.py", SWITCH, ["DET601"]),
        ("model.py", "def f(inference_mode: bool = False): ...\n" + SWITCH, ["DET601"]),
        ("model.py", "with torch.inference_mode():\n    pass\n" + SWITCH, []),
        ("merge_lora/modeling.py", SWITCH, []),
        ("hf_to_megatron.py", SWITCH, []),
        ("tools/extract_features.py", SWITCH, []),
        ("feature_pyramid.py", SWITCH, ["DET601"]),
        ("tools/checkpoint_saver_megatron.py", SWITCH, []),
        ("decode.py", SWITCH + "model = get_peft_model(model, LoraConfig(r=8))\n", []),
        ("decode.py", SWITCH + "optimizer.step()\n", ["DET601"]),
        ("merged_attention.py", SWITCH, ["DET601"]),
        ("model.py", "import jax\n" + SWITCH, []),
        ("model.py", "import jax\n" + HUGGING_FACE, ["DET601"]),
        ("load_model.py", SWITCH + "model.train()\nfor text in stream_generate(model): ...\n", []),
    ],
)
def test_files_that_run_a_model_are_told_by_their_names(
    name: str, text: str, codes: list[str], engine: Callable[..., Engine]
) -> None:
    found = engine("DET601").lint(Source(name, text.format(line="")))
    assert [each.code for each in found] == codes


@pytest.mark.parametrize(
    ("call", "codes"),
    [
        ("choose(config, attn_implementation='flash_attention_2')", []),
        ("load_model(name, attn_implementation='flash_attention_2')", ["DET601"]),
        ("Model.from_pretrained(name, attn_implementation='flash_attention_2')", ["DET601"]),
    ],
)
def test_what_a_test_only_looks_at_makes_no_model(
    call: str, codes: list[str], engine: Callable[..., Engine]
) -> None:
    text = f"def test_it():\n    assert {call}\n\ndef test_step():\n    loss.backward()\n"
    found = engine("DET601").lint(Source("test_choice.py", text))
    assert [each.code for each in found] == codes


COMPARES = """
def test_{name}():
    model = Model.from_config(config, attn_implementation="flash_attention_2")
    torch.testing.assert_close(model(x).logits, reference(x).logits)
    {line}
"""


@pytest.mark.parametrize(
    ("file", "lines", "rows"),
    [
        ("test_model.py", ("", ""), []),
        ("conftest.py", ("", ""), []),
        ("test_model.py", ("", "model(x).sum().backward()"), []),
        ("test_model.py", ("", "loss.backward(), optimizer.step()"), [8]),
        ("test_model.py", ("torch.autograd.grad(model(x), x)", ""), []),
        ("test_model.py", ("Trainer(model).train()", ""), [3]),
        ("model.py", ("", ""), []),
        ("model.py", ("", "Trainer(model).train()"), [8]),
    ],
)
def test_a_test_that_compares_what_models_give_takes_no_step(
    file: str, lines: tuple[str, str], rows: list[int], engine: Callable[..., Engine]
) -> None:
    functions = [
        COMPARES.format(name=name, line=line) for name, line in zip("ab", lines, strict=True)
    ]
    found = engine("DET601").lint(Source(file, "".join(functions)))
    assert [each.row for each in found] == rows


ASIDE = """
import torch

class Worker:
    def build(self, path):
        {name} = AutoModel.from_pretrained(path, attn_implementation="flash_attention_2")
        {then}
        return {name}

    def score(self, batch):
        with torch.no_grad():
            return self.model(batch)
"""
LEARNS = """
class Learner:
    def step(self, loss):
        loss.backward()
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(
            ASIDE.format(name="reward_module", then="pass") + LEARNS, 0, id="records no gradient"
        ),
        pytest.param(
            ASIDE.format(name="reward_module", then="pass") + LEARNS[LEARNS.index("    def") :],
            1,
            id="learns",
        ),
        pytest.param(ASIDE.format(name="actor", then="pass") + LEARNS, 1, id="another name"),
        pytest.param(
            ASIDE.format(name="ref_model", then="ref_model.requires_grad_(False)")
            + "        loss.backward()\n",
            0,
            id="frozen",
        ),
        pytest.param(
            ASIDE.format(
                name="teacher",
                then="for p in teacher.parameters():\n            p.requires_grad = False",
            )
            + "        loss.backward()\n",
            0,
            id="frozen in a loop",
        ),
        pytest.param(
            ASIDE.format(name="model", then="model.requires_grad_(False)") + LEARNS,
            1,
            id="one through which a gradient may go",
        ),
        pytest.param(
            "reward_model = AutoModel.from_pretrained(p, attn_implementation='flash_attention_2')",
            1,
            id="of a script",
        ),
    ],
)
def test_a_model_aside_of_the_one_that_is_trained(
    text: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    assert len(findings(text, "DET601")) == found


REFERENCE = """
import torch

def main():
    model = AutoModel.from_pretrained(p)
    {name} = AutoModel.from_pretrained(p, attn_implementation="flash_attention_2")
    {then}

    # a step
    loss = model(x).loss
    loss.backward()
"""


@pytest.mark.parametrize(
    ("name", "then", "found"),
    [
        ("other", "DPOTrainer(model, other, args=args)", 0),
        (
            "other",
            "DPOTrainer(  # TRL's\n        model,  # one\n        other,  # two\n    )",
            0,
        ),
        ("other", "trl.KTOTrainer(model=model, ref_model=other)", 0),
        ("other", "PPOTrainer(config, model, ref_model=other)", 0),
        ("other", "OwnDPOTrainer(model, other)", 0),
        ("other", "Own(model, other)", 1),
        ("other", "PPOTrainer(config, other, ref_model=None)", 1),
        ("other", "DPOTrainer(other, model)", 1),
        ("other", "DPOTrainer(other, ref_model=other)", 1),
        ("other", "DPOTrainer(model=other, ref_model=model)", 1),
        ("other", "# DPOTrainer(model, other)", 1),
        ("other", "other.eval()", 1),
        ("ref_model", "ref_model.eval()", 0),
        (
            "reference",
            "reference, *_ = wrap(model=reference)\n    reference.module.eval()",
            0,
        ),
        ("teacher", "with torch.no_grad():\n        y = teacher(x)", 0),
        ("teacher", "with torch.no_grad():\n        y = model(x)\n    y = teacher(x)", 1),
        ("teacher", "# teacher.eval()", 1),
        ("teacher", "teacher.eval(), teacher.train()", 1),
        ("teacher", "teacher.eval(), optimizer(teacher.parameters())", 1),
        ("teacher", "teacher.eval(), sum(p.numel() for p in teacher.parameters())", 0),
        ("teacher", "teacher.eval(), get_peft_model(teacher, config)", 1),
        ("teacher", "teacher.eval(), Trainer(model=teacher)", 1),
        ("teacher", "teacher.eval(), Trainer(model, teacher)", 0),
        ("preference", "preference.eval()", 1),
    ],
)
def test_a_reference_that_no_optimizer_changes(
    name: str, then: str, found: int, engine: Callable[..., Engine]
) -> None:
    text = REFERENCE.format(name=name, then=then)
    for narrowed in (True, False):
        told = engine("DET601", narrowed=narrowed).lint(Source("run.py", text))
        assert len(told) == found


def test_a_reference_of_a_trainer_that_the_file_derives(
    findings: Callable[..., list[Finding]],
) -> None:
    text = REFERENCE.format(name="other", then="Own_Trainer(model, other)")
    assert findings(text + "\nclass Own_Trainer(trl.DPOTrainer):\n    pass\n", "DET601") == []
    assert len(findings(text + "\nclass Own_Trainer(Trainer):\n    pass\n", "DET601")) == 1


def test_a_reference_that_is_made_where_a_trainer_takes_it(
    findings: Callable[..., list[Finding]],
) -> None:
    made = 'AutoModel.from_pretrained(p, attn_implementation="flash_attention_2")'
    assert findings(f"DPOTrainer(model, {made})", "DET601") == []
    assert findings(f"OwnTrainer(model=model, ref_model={made})", "DET601") == []
    assert len(findings(f"DPOTrainer({made}, model)", "DET601")) == 1
    assert len(findings(f"OwnTrainer(args, {made})", "DET601")) == 1


def test_a_reference_in_the_cells_of_a_notebook(engine: Callable[..., Engine]) -> None:
    load = LOADS.replace("model =", "ref_model =")
    cells = "ref_model.eval()", "with torch.no_grad():\n    y = ref_model(x)", "loss.backward()"
    for narrowed in (True, False):
        lint = engine("DET601", narrowed=narrowed).lint_bytes
        assert lint("nb.ipynb", notebook(load, *cells).encode()) == []
        assert len(lint("nb.ipynb", notebook(load, cells[2]).encode())) == 1


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("test_configs/word-task/bi.json", 0),
        ("configs/eval/model.json", 0),
        ("configs/model-inference.json", 0),
        ("configs/model.json", 1),
        ("recipes/filtering/python.json", 0),
        ("recipes/filtered_data/python.json", 1),
        ("test_configs/train_bi.json", 1),
        ("evaluation_of_sft/sft.json", 1),
    ],
)
def test_a_configuration_of_a_test_or_an_evaluation(
    path: str, found: int, engine: Callable[..., Engine]
) -> None:
    text = b'{"model_name_or_path": "m", "attn_implementation": "flash_attention_2"}'
    assert len(engine("DET601").lint_bytes(path, text)) == found
    trains = text.replace(b"{", b'{"optimizer": {"lr": 0.1}, ')
    assert len(engine("DET601").lint_bytes(path, trains)) == 1


@pytest.mark.parametrize(
    ("path", "found"),
    [("configs/stage1_generate/m1.py", 0), ("configs/stage1_train/m1.py", 1), ("m1.py", 1)],
)
def test_a_configuration_in_python(path: str, found: int, engine: Callable[..., Engine]) -> None:
    assert len(engine("DET601").lint_bytes(path, LOADS.encode())) == found


def test_the_setting_of_a_teacher_is_none_of_what_is_trained(
    engine: Callable[..., Engine],
) -> None:
    text = (
        "{}:\n  kwargs:\n    attn_implementation: flash_attention_2\ntraining_args:\n"
        "  learning_rate: 1e-5\n  gradient_accumulation_steps: 8\n  num_train_epochs: 1\n"
    )
    for key, found in (("teacher", 0), ("reference_model", 0), ("model", 1), ("prefer", 1)):
        told = engine("DET601").lint_bytes("a.yaml", text.format(key).encode())
        assert len(told) == found


def test_what_an_option_defaults_to_is_said_so(findings: Callable[..., list[Finding]]) -> None:
    text = """
        class Arguments:
            use_flash_attention: bool = Field(default=True)
            use_flash_attn: bool = True

        def train(attn_implementation=None): ...
        train("flash_attention_2")
    """
    assert [each.message.partition(" asks ")[0] for each in findings(text, "DET601")] == [
        "use_flash_attention (default: True)",
        "use_flash_attn=True",
        'train("flash_attention_2")',
    ]


def test_a_wrapper_by_the_name_of_the_library_s_function_hides_no_call(
    findings: Callable[..., list[Finding]],
) -> None:
    text = """
        from flash_attn import flash_attn_func as attend_v2

        def flash_attn_func(q, k, v):
            return attend_v2(q, k, v)
    """
    (found,) = findings(text, "DET601")
    assert found.message.startswith("flash_attn_func() without deterministic=True")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("print(y.shape)", 0),
        ("# y.sum().backward()", 0),
        ("y.sum().backward()", 1),
        ("torch.autograd.grad(y, x)", 1),
        ("main(attend)", 1),
        ("Trainer(attend).train()", 1),
    ],
)
def test_a_main_block_that_tries_a_module_has_no_backward(
    line: str, found: int, engine: Callable[..., Engine]
) -> None:
    text = """
from flash_attn import flash_attn_func

def attend(x, mask): ...

if __name__ == "__main__":
    y = flash_attn_func(q, k, v)

    {}
"""
    for narrowed in (True, False):
        lint = engine("DET601", narrowed=narrowed).lint
        assert len(lint(Source("layers.py", text.format(line)))) == found


KEEPS = """
from functools import partial
from flash_attn import flash_attn_func, flash_attn_varlen_func
from flash_attn import flash_attn_func as attention_v2
from torch.utils.checkpoint import checkpoint
{}
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param(
            "class Engine:\n    def __init__(self):\n        self.attend = attention_v2\n"
            "    def get(self):\n        return self.attend\n",
            [8],
            id="get",
        ),
        pytest.param(
            "class Engine:\n    def __init__(self, flash):\n"
            "        self.attend = flash_attn_func if flash else attend\n"
            "    def forward(self, q, k, v):\n        return self.attend(q, k, v)\n",
            [8],
            id="called on self",
        ),
        pytest.param(
            "class Engine:\n    def __init__(self, flash):\n        self.attend = flash_attn_func\n"
            "    def forward(self, q):\n        return self.attend(q, q, q, deterministic=True)\n",
            [],
            id="told on self",
        ),
        pytest.param(
            "class Engine:\n    def __init__(self, flash):\n        self.attend = flash_attn_func\n"
            "    def forward(self, q, kwargs):\n        return self.attend(q, q, q, **kwargs)\n",
            [],
            id="may be told",
        ),
        pytest.param(
            "import torch\nclass Engine:\n    def __init__(self):\n"
            "        self.attend = flash_attn_func\n"
            "    @torch.no_grad()\n    def forward(self, q):\n        self.attend(q, q, q)\n",
            [],
            id="without gradients",
        ),
        pytest.param("TABLE = {'flash': flash_attn_func, 'eager': attend}\n", [6], id="table"),
        pytest.param(
            "TABLE = {'flash': flash_attn_func}\n"
            "def f(n, q, deterministic): return TABLE[n](q, q, q, deterministic=deterministic)\n",
            [],
            id="told in a table",
        ),
        pytest.param(
            "def pick(flash):\n    if flash:\n        return flash_attn_varlen_func\n"
            "    return attend\n",
            [8],
            id="returned",
        ),
        pytest.param(
            "def pick_for_decoding():\n    return flash_attn_varlen_func\n", [], id="to decode"
        ),
        pytest.param(
            "def f(q, flash):\n    if flash:\n        attend = flash_attn_func\n    else:\n"
            "        attend = other\n    return attend(q, q, q)\n",
            [8],
            id="in a branch",
        ),
        pytest.param("attend = partial(flash_attn_func, causal=True)\n", [6], id="partial"),
        pytest.param("attend = partial(flash_attn_func, deterministic=True)\n", [], id="told"),
        pytest.param("y = checkpoint(flash_attn_func, q, k, v)\n", [6], id="checkpoint"),
        pytest.param("attend = DistributedAttention(flash_attn_func, group)\n", [6], id="shared"),
        pytest.param(
            "import torch\nclass Engine:\n    def __init__(self):\n"
            "        self.attend = UlyssesAttention(attn_func=flash_attn_func)\n"
            "    def forward(self, q):\n        with torch.no_grad():\n"
            "            return self.attend(q, q, q)\n",
            [],
            id="shared without gradients",
        ),
        pytest.param(
            "class Engine:\n    def __init__(self):\n        self.attend = flash_attn_func\n",
            [],
            id="not read",
        ),
        pytest.param("y = inspect.signature(flash_attn_func)\n", [], id="looked at"),
        pytest.param("has_flash = flash_attn_func is not None\n", [], id="tested"),
        pytest.param("attend = flash_attn_func\ny = attend(q, k, v)\n", [7], id="one name"),
    ],
)
def test_a_function_that_is_kept_to_be_called_elsewhere(
    text: str, rows: list[int], engine: Callable[..., Engine]
) -> None:
    for narrowed in (True, False):
        found = engine("DET601", narrowed=narrowed).lint(Source("a.py", KEEPS.format(text)))
        assert [each.row for each in found] == rows


def test_how_a_function_is_kept_is_said(findings: Callable[..., list[Finding]]) -> None:
    text = KEEPS.format(
        "class A:\n    def f(self):\n        self.f = attention_v2\n        return self.f\n"
    )
    (found,) = findings(text, "DET601")
    assert found.message == (
        "flash_attn_func(), kept as self.f without deterministic=True, "
        "adds up gradients in varying order in its backward"
    )
    assert found.advice == (
        "pass deterministic=True in its calls, or keep partial(flash_attn_func, deterministic=True)"
    )


EIGHT_BITS = """
from flash_attn_interface import flash_attn_func

def attend(q, k, v, {0}):
    if {1}:
        return flash_attn_func(q, k, v)
"""


@pytest.mark.parametrize(
    ("test", "found"),
    [("use_fp8", 0), ("q.dtype == torch.float8_e4m3fn", 0), ("not use_fp8", 1), ("fast", 1)],
)
def test_numbers_of_eight_bits_have_no_backward(
    test: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    assert len(findings(EIGHT_BITS.format("fast, use_fp8", test), "DET601")) == found


THIRD = (
    "pass deterministic=True (FlashAttention 3; ignored from January to September 2025, and "
    "refused for heads larger than 192)"
)


@pytest.mark.parametrize(
    ("imports", "call", "advice"),
    [
        pytest.param(
            "from flash_attn import flash_attn_func",
            "flash_attn_func(q, k, v)",
            "pass deterministic=True (flash-attn 2.4 and later)",
            id="2",
        ),
        pytest.param(
            "from flash_attn_interface import flash_attn_func",
            "flash_attn_func(q, k, v)",
            THIRD,
            id="3",
        ),
        pytest.param(
            "import flash_attn_3.flash_attn_interface as fa3",
            "fa3.flash_attn_func(q, k, v)",
            THIRD,
            id="3, installed as a package",
        ),
        pytest.param(
            'from kernels import get_kernel\nhub = get_kernel("kernels-community/flash-attn3")',
            "hub.flash_attn_func(q, k, v)",
            THIRD,
            id="3, of the hub",
        ),
        pytest.param(
            "from flash_attn.cute import flash_attn_func",
            "flash_attn_func(q, k, v)",
            "pass deterministic=True (FlashAttention 4; refused where it has no such kernel, as on "
            "compute capability 12)",
            id="4",
        ),
        pytest.param(
            "if NEW:\n    from flash_attn_interface import flash_attn_func\n"
            "else:\n    from flash_attn import flash_attn_func",
            "flash_attn_func(q, k, v)",
            "pass deterministic=True (flash-attn 2.4 and later)",
            id="3 or 2",
        ),
    ],
)
def test_the_advice_says_which_generation_takes_the_argument(
    imports: str, call: str, advice: str, findings: Callable[..., list[Finding]]
) -> None:
    text = f"{imports}\n\ndef attend(q, k, v):\n    return {call}\n"
    (found,) = findings(text, "DET601")
    assert found.advice == advice
    (edit,) = found.edits
    assert edit.replacement == ", deterministic=True"
    told = text.replace("(q, k, v)\n", "(q, k, v, deterministic=True)\n")
    assert findings(told, "DET601") == []


TOWER = """
import torch
class Tower(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.model = AutoModel.from_pretrained(name, attn_implementation="flash_attention_2")

    {}
    def {}(self, x):
        return self.model(x)
"""


@pytest.mark.parametrize(
    ("decorator", "method", "found"),
    [
        ("@torch.no_grad()", "forward", 0),
        ("@torch.inference_mode()", "forward", 0),
        ("@torch.no_grad()", "describe", 1),
        ("@torch.compile()", "forward", 1),
    ],
)
def test_a_model_in_a_class_that_records_no_gradient(
    decorator: str, method: str, found: int, engine: Callable[..., Engine]
) -> None:
    for narrowed in (True, False):
        lint = engine("DET601", narrowed=narrowed).lint
        assert len(lint(Source("tower.py", TOWER.format(decorator, method)))) == found


def test_an_option_of_a_call_that_records_no_gradient(
    findings: Callable[..., list[Finding]],
) -> None:
    text = """
        import torch

        @torch.no_grad()
        def sample(model, x):
            def step(x):
                return model(x, **{"use_flash_attn": True})
            return step(step(x))
    """
    assert findings(text, "DET601") == []
    assert len(findings(text.replace("no_grad", "compile"), "DET601")) == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("attn_implementation: flash_attention_2\ntemperature: 0.7\nmax_new_tokens: 9\n", 0),
        ("attn_implementation: flash_attention_2\ntemperature: 0.7\nlearning_rate: 1e-5\n", 1),
        ("attn_implementation: flash_attention_2\ntop_k: 50\nmodel_type: llama\n", 1),
        ("attn_implementation: flash_attention_2\nname: m\n", 1),
    ],
)
def test_a_configuration_that_only_asks_for_text(
    text: str, found: int, engine: Callable[..., Engine]
) -> None:
    assert (
        len(engine("DET601").lint_bytes("a.yaml", b"model_name_or_path: m\n" + text.encode()))
        == found
    )


@pytest.mark.parametrize(
    ("mark", "found"), [("README.md", 0), ("pyproject.toml", 0), (".git/HEAD", 0), ("notes.md", 1)]
)
def test_a_configuration_is_told_by_the_folders_of_its_project(
    mark: str,
    found: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: Callable[..., Engine],
) -> None:
    (tmp_path / "eval" / "project" / "configs" / "eval" / "small" / "a").mkdir(parents=True)
    root = tmp_path / "eval" / "project"
    (root / mark).parent.mkdir(exist_ok=True)
    (root / mark).touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    text = b'{"model_name_or_path": "m", "attn_implementation": "flash_attention_2"}'
    told = root / "configs" / "eval" / "small" / "a" / "m.json"
    assert len(engine("DET601").lint_bytes(str(told), text)) == found
    # What holds the project says nothing of it.
    assert len(engine("DET601").lint_bytes(str(root / "configs" / "a" / "m.json"), text)) == 1


@pytest.mark.parametrize(
    ("test", "found"),
    [("False", 0), ("debug", 0), ("fast", 1), ("not debug", 1), ("debug or fast", 1)],
)
def test_what_never_runs_asks_for_nothing(
    test: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    text = f"""
        from flash_attn import flash_attn_func

        def attend(config, q, k, v, fast):
            debug = False
            if {test}:
                config._attn_implementation = "flash_attention_2"
            return q

        def other(q, k, v, fast):
            debug = False
            if {test}:
                return flash_attn_func(q, k, v)
    """
    assert len(findings(text, "DET601")) == 2 * found


@pytest.mark.parametrize(
    ("test", "first", "second"),
    [
        ("q_len == 1", 0, 1),
        ("q.shape[1] == 1", 0, 1),
        ("query_length != 1", 1, 0),
        ("self.seq_len > 1", 1, 0),
        ("q_len == 2", 1, 1),
        ("heads == 1", 1, 1),
    ],
)
def test_one_query_at_a_time_is_decoding(
    test: str, first: int, second: int, findings: Callable[..., list[Finding]]
) -> None:
    text = f"""
        from flash_attn import flash_attn_func, flash_attn_varlen_func

        def attend(self, q, k, v, q_len, query_length, heads):
            if {test}:
                return flash_attn_func(q, k, v)
            else:
                return flash_attn_varlen_func(q, k, v, a, b, c, d)
    """
    rows = [each.row for each in findings(text, "DET601")]
    assert rows == [5] * first + [7] * second


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("class Config(PretrainedConfig):", 0),
        ("class VisionConfig(transformers.SiglipVisionConfig):", 0),
        ("class Tower(nn.Module):", 1),
        ("class Config:", 1),
    ],
)
def test_the_default_of_a_checkpoint_s_configuration_asks_for_nothing(
    head: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    text = f"{head}\n    def __init__(self, width=8, use_flash_attn=True):\n        pass\n"
    assert len(findings(text, "DET601")) == found


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("def load_ref_model(name):", 0),
        ("class TeacherModel:", 0),
        ("def get_reference(name):", 0),
        ("def preferred(name):", 1),
        ("class RewardModel:", 1),
    ],
)
def test_what_makes_a_reference_is_not_trained(
    head: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    text = f'{head}\n    model = get("m", attn_implementation="flash_attention_2")\n'
    assert len(findings(text, "DET601")) == found
    learns = text.replace("    model", "    optimizer.step()\n    model")
    assert len(findings(learns, "DET601")) == 1


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ('"python", "pretrain.py", "--use-flash-attn"', 1),
        ('"python", "tools/eval.py", "--use-flash-attn"', 0),
        ('"python", "-m", "pkg.generate", "--use-flash-attn"', 0),
        ('"python", "-m", "pkg.pretrain", "--use-flash-attn"', 1),
        ('"--batch-size", "8", "--use-flash-attn"', 1),
    ],
)
def test_a_command_of_a_program_that_only_answers(
    words: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    assert len(findings(f"command = [{words}]", "DET601")) == found
    text = words.replace('"', "").replace(",", "")
    assert len(findings(f'os.system("{text}")', "DET601")) == found


@pytest.mark.parametrize(
    ("last", "found"),
    [
        ("config.use_flash_attn = False", 0),
        ("config.use_flash_attn = True", 2),
        ("config.use_flash_attn = fast", 1),
        ("other.use_flash_attn = False", 1),
        ("if old: config.use_flash_attn = False", 1),
    ],
)
def test_a_switch_that_is_set_again(
    last: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    text = f"""
        def prepare(config, other, fast, old):
            if config.bf16:
                config.use_flash_attn = True
            {last}
    """
    assert len(findings(text, "DET601")) == found
