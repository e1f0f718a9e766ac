"""DET107: what a program that goes on from a checkpoint draws, and what it saves of that."""

from __future__ import annotations

import json
import os
import textwrap
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Lint = Callable[..., list[str]]

TRAIN = """
    import torch
    from torch.utils.data import DataLoader

    from trainer import Trainer

    if __name__ == "__main__":
        torch.manual_seed(0)
        trainer = Trainer(Net(), DataLoader(rows, shuffle=True))
        trainer.train("last.pt")
"""
TRAINER = """
    import torch

    class Trainer:
        def __init__(self, model, loader):
            self.model = model
            self.loader = loader
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            self.start_epoch = 0

        def resume(self, path):
            checkpoint = torch.load(path)
            self.model.load_state_dict(checkpoint["model"])
            self.optimizer.load_state_dict(checkpoint["optimizer"])
            self.start_epoch = checkpoint.get("epoch", 0) + 1

        def train(self, path):
            self.resume(path)
            for epoch in range(self.start_epoch, 90):
                self.train_epoch()
                state = {"model": self.model.state_dict(), "epoch": epoch}
                state["optimizer"] = self.optimizer.state_dict()
                torch.save(state, path)

        def train_epoch(self):
            for batch in self.loader:
                self.model(batch).sum().backward()
                self.optimizer.step()
"""
FOUND = ["train.py:7 likely"]


@pytest.fixture
def lint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Lint:
    """``path:row confidence`` of each finding in the files of a program."""
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(train: str = TRAIN, trainer: str = TRAINER, **others: str) -> list[str]:
        for name, text in {"train": train, "trainer": trainer, **others}.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        options = ("--min-confidence", "possible", "--output-format", "json")
        main(["--no-cache", "--select", "DET107", *options, "."])
        found = json.loads(capsys.readouterr().out)
        return [
            f"{os.path.relpath(each['filename'])}:{each['location']['row']} {each['confidence']}"
            for each in found
        ]

    return run


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_trainer_that_goes_on_without_the_states_of_generators(lint: Lint) -> None:
    assert lint() == FOUND


def test_a_program_whose_name_and_calls_do_not_say_that_it_trains(lint: Lint) -> None:
    runs = "def run(self, path):\n            self.train(path)\n\n        def train("
    agent = changed(TRAINER, ("def train(", runs), ("class Trainer", "class Agent"))
    calls = ("from trainer import Trainer", "from agent import Agent"), ("= Trainer(", "= Agent(")
    main = changed(TRAIN, *calls, ("trainer.train(", "trainer.run("))
    assert lint("", "", agent=agent, main=main) == ["main.py:7 likely"]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([("range(self.start_epoch, 90)", "range(90)")], id="it begins anew"),
        pytest.param(
            [('self.start_epoch = checkpoint.get("epoch", 0) + 1', 'print(checkpoint["epoch"])')],
            id="the epoch is only told",
        ),
        pytest.param(
            [('self.start_epoch = checkpoint["epoch"] + 1', 'self.seen = checkpoint["epoch"]')],
            id="the epoch is no start",
        ),
        pytest.param(
            [('state["optimizer"] = self.optimizer.state_dict()', "pass")], id="it saves no more"
        ),
        pytest.param(
            [('"epoch": epoch}', '"epoch": epoch, "rng": torch.get_rng_state()}')],
            id="the state is saved",
        ),
        pytest.param(
            [("self.train_epoch()", "torch.manual_seed(epoch); self.train_epoch()")],
            id="each epoch is seeded",
        ),
        pytest.param(
            [("self.resume(path)", "pass"), ("def resume", "def unused")], id="it never resumes"
        ),
    ],
)
def test_what_is_no_run_that_goes_on_with_other_numbers(
    lint: Lint, changes: list[tuple[str, str]]
) -> None:
    trainer = TRAINER.replace('checkpoint.get("epoch", 0)', 'checkpoint["epoch"]')
    changes = [(old.replace('.get("epoch", 0)', '["epoch"]'), new) for old, new in changes]
    assert lint(trainer=changed(trainer, *changes)) == []


def test_a_loop_for_so_many_more_epochs(lint: Lint) -> None:
    more = changed(
        TRAINER,
        ('self.start_epoch = checkpoint.get("epoch", 0) + 1', 'self.seen = checkpoint["epoch"]'),
        ("range(self.start_epoch, 90)", "range(90)"),
        ('"epoch": epoch}', '"epoch": self.seen}'),
        ("    torch.save(state, path)", "    torch.save(state, path)\n~self.seen += 1"),
    ).replace("~", " " * 16)
    trainer = more.replace("seen", "epoch")
    assert lint(trainer=trainer) == FOUND
    assert lint(trainer=more.replace("seen += 1", "seen = self.seen + 1")) == FOUND
    anew = trainer.replace("self.resume(path)", "self.resume(path); self.epoch = 0")
    assert lint(trainer=anew) == []
    assert lint(trainer=trainer.replace("self.epoch += 1", "self.epoch += len(path)")) == []


MAKES = """
from torch.utils.data import DataLoader

def make(rows, shuffle{}):
    return DataLoader(rows, {}shuffle=shuffle)
"""


@pytest.mark.parametrize(
    ("default", "before", "call", "found"),
    [
        ("", "", "make(rows, True)", FOUND),
        ("", "", "make(rows, False)", []),
        ("=False", "", "make(rows, shuffle=True)", FOUND),
        ("=False", "", "make(rows)", []),
        ("=True", "", "make(rows)", FOUND),
        ("=True", "", "make(rows, shuffle=False)", []),
        ("", "sampler=pick(rows), ", "make(rows, True)", []),
        ("", "generator=pick(rows), ", "make(rows, True)", []),
    ],
)
def test_a_loader_shuffles_if_callers_pass_that(
    lint: Lint, default: str, before: str, call: str, found: list[str]
) -> None:
    train = changed(TRAIN, ("DataLoader(rows, shuffle=True)", call))
    train = changed(train, ("import torch\n", "import torch\n        from data import make\n"))
    assert lint(train=train, data=MAKES.format(default, before)) == [
        each.replace(":7", ":8") for each in found
    ]


@pytest.mark.parametrize(
    ("option", "found"),
    [
        ("default=False, type=bool", []),
        ('action="store_true"', []),
        ("default=True, type=bool", FOUND),
        ("type=bool, required=True", FOUND),
    ],
)
def test_a_loader_shuffles_as_an_option_says_by_default(
    lint: Lint, option: str, found: list[str]
) -> None:
    parsed = "from argparse import ArgumentParser\n    from data import make\n"
    parsed += "    parser = ArgumentParser()\n"
    parsed += f'    parser.add_argument("--shuffle", {option})\n'
    parsed += "    args = parser.parse_args()\n"
    given = ("DataLoader(rows, shuffle=True)", "make(rows, args.shuffle)")
    train = changed(TRAIN, given, ("import torch\n", f"import torch\n    {parsed}"))
    told = lint(train=train, data=MAKES.format("", ""))
    assert told == [each.replace(":7", ":12") for each in found]


def test_it_stands_where_the_program_loads_if_another_file_saves(lint: Lint) -> None:
    """Not at its start."""
    train = """
        import torch
        from saving import save

        torch.manual_seed(0)
        loader = torch.utils.data.DataLoader(rows, shuffle=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state = torch.load("last.pt")
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"] + 1
        for epoch in range(first, 10):
            for batch in loader:
                model(batch).sum().backward()
                optimizer.step()
            save(optimizer, epoch)
    """
    saving = """
        import torch

        def save(optimizer, epoch):
            torch.save({"optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")
    """
    assert lint(train=train, trainer="", saving=saving) == ["train.py:9 likely"]


def test_dropout_of_an_unknown_share(lint: Lint) -> None:
    plain = changed(TRAIN, ("shuffle=True", "shuffle=False"))
    with_share = changed(plain, ("Net()", "torch.nn.Sequential(torch.nn.Dropout(share))"))
    assert lint(with_share) == ["train.py:7 possible"]
    assert lint(with_share.replace("(share)", "(0.0)")) == []


def test_what_draws_nothing_in_its_loop(lint: Lint) -> None:
    assert lint(changed(TRAIN, ("shuffle=True", "shuffle=False"))) == []
    split = changed(TRAIN, ("DataLoader(rows, shuffle=True)", "random_split(rows, [9, 1])[0]"))
    assert lint(changed(split, ("import DataLoader", "import random_split"))) == []


@pytest.mark.parametrize("drawn", ["torch.nn.Dropout(0.1)", "torch.nn.Dropout()"])
def test_dropout_draws_in_the_loop(lint: Lint, drawn: str) -> None:
    plain = changed(TRAIN, ("shuffle=True", "shuffle=False"))
    assert lint(changed(plain, ("Net()", f"torch.nn.Sequential({drawn})"))) == FOUND


def test_what_a_model_draws_for_each_batch(lint: Lint) -> None:
    plain = changed(
        TRAIN,
        ("shuffle=True", "shuffle=False"),
        ("import torch\n", "import torch\n    from net import Net\n"),
    )
    net = """
        import torch

        class Net(torch.nn.Module):
            def forward(self, batch):
                return batch + torch.randn_like(batch)
    """
    assert lint(plain, net=net) == ["train.py:8 likely"]
    assert lint(plain, net=changed(net, ("forward", "sample"))) == []


def test_what_a_data_set_draws_for_each_sample(lint: Lint) -> None:
    plain = changed(TRAIN, ("shuffle=True", "shuffle=False"), ("Net()", "Net(), Rows()"))
    rows = "class Rows:\n    def __getitem__(self, i):\n        return random.random()\n"
    trainer = changed(TRAINER, ("def __init__(self, model, ", "def __init__(self, model, data, "))
    assert lint(f"import random\n{rows}{textwrap.dedent(plain)}", trainer) == ["train.py:11 likely"]


def test_a_program_that_seeds_nothing_differs_anyway(lint: Lint) -> None:
    assert lint(changed(TRAIN, ("torch.manual_seed(0)", "pass"))) == ["train.py:7 possible"]


def test_a_place_that_is_returned_and_epochs_that_are_passed_over(lint: Lint) -> None:
    trainer = changed(
        TRAINER,
        ('self.start_epoch = checkpoint.get("epoch", 0) + 1', 'return checkpoint["epoch"]'),
        ("self.resume(path)", "first = self.resume(path)"),
        ("range(self.start_epoch, 90)", "range(90)"),
        ("    self.train_epoch()", "    if epoch <= first:\n    ~continue\n~self.train_epoch()"),
    ).replace("~", " " * 16)
    assert lint(trainer=trainer) == FOUND


def test_a_loop_without_an_end_and_a_function_that_it_calls(lint: Lint) -> None:
    endless = """            while True:
                if self.step > 90:
                    break
                self.step += 1
                x = self.take_batch()
"""
    trainer = changed(
        TRAINER,
        ('self.start_epoch = checkpoint.get("epoch", 0) + 1', 'self.step = checkpoint["step"]'),
        ("            for epoch in range(self.start_epoch, 90):\n", endless),
        ('"epoch": epoch}', '"step": self.step}'),
    )
    drawing = "\n        def take_batch(self):\n            return torch.randint(9, (4,))\n"
    plain = changed(TRAIN, ("shuffle=True", "shuffle=False"))
    assert lint(plain, f"{trainer.rstrip()}\n{drawing}") == FOUND
    fixed = drawing.replace("torch.randint(9, (4,))", "torch.arange(9)")
    assert lint(plain, f"{trainer.rstrip()}\n{fixed}") == []


def test_a_seed_that_only_an_option_gives(lint: Lint) -> None:
    option = """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)
        args = parser.parse_args()
        if args.seed is not None:
            torch.manual_seed(args.seed)
    """
    text = changed(textwrap.dedent(TRAIN), ("    torch.manual_seed(0)\n", ""))
    head, _, rest = text.partition("if __name__")
    assert lint(f"{head}{textwrap.dedent(option)}if __name__{rest}") == ["train.py:15 possible"]


LIGHTNING = """
    import argparse
    import lightning as L
    from torch.utils.data import DataLoader

    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    args = parser.parse_args()
    L.seed_everything(0)
    trainer = L.Trainer(max_epochs=9MORE)
    trainer.fit(Net(), DataLoader(rows, shuffle=True)GIVEN)
"""


@pytest.mark.parametrize(
    ("given", "more", "found"),
    [
        (", ckpt_path='last'", "", ["train.py:11 likely"]),
        (", ckpt_path=args.resume", "", ["train.py:11 likely"]),
        (", ckpt_path=None", "", []),
        ("", "", []),
        (", ckpt_path='last'", ", callbacks=[guard.lightning.GuardCallback(seed=0)]", []),
    ],
)
def test_a_trainer_of_lightning_that_goes_on_draws_as_at_the_start(
    lint: Lint, given: str, more: str, found: list[str]
) -> None:
    assert lint(LIGHTNING.replace("GIVEN", given).replace("MORE", more)) == found


def test_a_trainer_that_a_caller_may_tell_to_go_on(lint: Lint) -> None:
    text = textwrap.dedent(LIGHTNING).replace("GIVEN", ", ckpt_path=path").replace("MORE", "")
    head, _, rest = text.partition("L.seed")
    body = textwrap.indent(f"L.seed{rest}", "    ")
    assert lint(f"{head}def fit(path=None):\n{body}\nfit()\n") == ["train.py:12 possible"]


def test_one_that_draws_nothing_goes_on_as_it_would_have(lint: Lint) -> None:
    text = LIGHTNING.replace("GIVEN", ", ckpt_path='last'").replace("MORE", "")
    assert lint(text.replace(", shuffle=True", "")) == []


WEIGHTS = """
    import sys
    import torch

    RESUMES = bool(sys.argv[1:])
    FIRST_EPOCH = 2

    def main():
        torch.manual_seed(0)
        {}
        net = torch.nn.Linear(4, 2)
        if RESUMES:
            net.load_state_dict(torch.load(f"{}.pt"))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range({}, 9):
            {}
            optimizer.step()
            torch.save(net.state_dict(), f"net_{{epoch + 1}}.pt")

    main()
"""
FIRST = "FIRST_EPOCH if RESUMES else 0"
STEP = "net(torch.randn(3, 4)).sum().backward()"


@pytest.mark.parametrize(
    ("before", "name", "first", "step", "found"),
    [
        ("pass", "net_{FIRST_EPOCH}", FIRST, STEP, ["train.py:13 likely"]),
        ("pass", "net", FIRST, STEP, []),  # weights to begin with, as far as that is seen
        ("pass", "net_{FIRST_EPOCH}", "0", STEP, []),
        ("x = torch.randn(3, 4)", "net_{FIRST_EPOCH}", FIRST, "net(x).sum().backward()", []),
        ("pass", "net_{FIRST_EPOCH}", FIRST, f"torch.manual_seed(epoch); {STEP}", []),
    ],
)
def test_a_checkpoint_of_weights_alone_that_an_epoch_names(  # noqa: PLR0913 - parts of a program
    lint: Lint, before: str, name: str, first: str, step: str, *, found: list[str]
) -> None:
    assert lint(WEIGHTS.format(before, name, first, step), trainer="") == found


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ('int(os.path.splitext(os.path.basename(path))[0].split("_")[-1]) + 1', FOUND),
        ("epoch_of(path)", FOUND),
        ('int(PATTERN.search(path).group("epoch"))', FOUND),
        ("int(path)", []),
        ("int(os.environ.get('FIRST', 0))", []),
        ("size_of(path)", []),
    ],
)
def test_the_epoch_is_in_the_name_of_a_file(lint: Lint, first: str, *, found: list[str]) -> None:
    functions = """
    def epoch_of(path):
        return int(path.stem)

    def size_of(path):
        return int(os.path.getsize(path))

    class Trainer"""
    trainer = changed(
        TRAINER,
        ("    class Trainer", functions),
        ('checkpoint.get("epoch", 0) + 1', first),
        ("self.start_epoch = 0", "pass"),
    )
    assert lint(trainer=trainer) == found
    anew = ("range(self.start_epoch, 90)", "range(90)")
    assert lint(trainer=changed(trainer, anew)) == []


_OWN_OF_TENSORFLOW = """
    import os
    import tensorflow as tf

    class Trainer:
        def __init__(self, path):
            self.path = path
            self.net = tf.keras.Sequential([tf.keras.layers.Dense(4)])
            {loads}

        def step(self):
            {seeds}
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(self.net({drawn}))
            tape.gradient(loss, self.net.trainable_variables)

        def train(self):
            for _ in range(9):
                self.step()
            {saves}

    if __name__ == "__main__":
        {first}
        Trainer("net.weights.h5").train()
"""
_OWN_OF_TORCH = """
    import os
    from pathlib import Path
    import torch

    PATH = Path("net.pt")

    def main():
        {first}
        net = torch.nn.Linear(4, 2)
        {loads}
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(9):
            {seeds}
            net({drawn}).sum().backward()
            optimizer.step()
        {saves}

    main()
"""
_TENSORFLOW = {
    "loads": "if os.path.exists(path): self.net.load_weights(path)",
    "saves": "self.net.save_weights(self.path)",
    "seeds": "pass",
    "drawn": "tf.random.normal([8, 4])",
    "first": "tf.keras.utils.set_random_seed(0)",
}
_IN_TRY = """try: net.load_state_dict(torch.load(PATH, map_location="cpu"))
        except FileNotFoundError: """
_READ_BEFORE = "state = torch.load(PATH)\n        "
_OF_SHAPES = "try: net.load_state_dict(state)\n        except RuntimeError: pass"
_SAVES_BY_HELPER = "own.save_checkpoint({'net': net.state_dict()}, PATH)"
_TORCH = {
    "loads": "if PATH.exists(): net.load_state_dict(torch.load(PATH))",
    "saves": "torch.save(net.state_dict(), PATH)",
    "seeds": "pass",
    "drawn": "torch.randn(3, 4)",
    "first": "torch.manual_seed(0)",
}


@pytest.mark.parametrize(
    ("text", "plain", "changed", "found"),
    [
        (_OWN_OF_TENSORFLOW, _TENSORFLOW, {}, ["train.py:9 likely"]),
        (_OWN_OF_TENSORFLOW, _TENSORFLOW, {"first": "pass"}, ["train.py:9 likely"]),
        (_OWN_OF_TENSORFLOW, _TENSORFLOW, {"seeds": "tf.random.set_seed(self.epoch)"}, []),
        (_OWN_OF_TENSORFLOW, _TENSORFLOW, {"drawn": "tf.ones([8, 4])"}, []),
        (_OWN_OF_TENSORFLOW, _TENSORFLOW, {"saves": "self.net.save_weights('best.h5')"}, []),
        (_OWN_OF_TENSORFLOW, _TENSORFLOW, {"loads": "self.net.load_weights(path)"}, []),
        (_OWN_OF_TORCH, _TORCH, {}, ["train.py:11 likely"]),
        (_OWN_OF_TORCH, _TORCH, {"saves": "pass"}, []),
        # The best weights of this run, once all is trained.
        (
            _OWN_OF_TORCH,
            _TORCH,
            {"loads": "pass", "saves": f"{_TORCH['saves']}\n        {_TORCH['loads']}"},
            [],
        ),
        (_OWN_OF_TORCH, _TORCH, {"loads": _IN_TRY + "pass"}, ["train.py:11 likely"]),
        (_OWN_OF_TORCH, _TORCH, {"loads": _IN_TRY + "raise"}, []),
        (_OWN_OF_TORCH, _TORCH, {"loads": _IN_TRY + "pass", "saves": "pass"}, []),
        # The file has to be there, of whatever shapes its weights are.
        (_OWN_OF_TORCH, _TORCH, {"loads": _READ_BEFORE + _OF_SHAPES}, []),
        (_OWN_OF_TORCH, _TORCH, {"saves": _SAVES_BY_HELPER}, ["train.py:11 likely"]),
        (_OWN_OF_TORCH, _TORCH, {"saves": "own.save_plot({'net': net}, PATH)"}, []),
        # What is there already is not trained any more.
        (_OWN_OF_TORCH, _TORCH, {"loads": _TORCH["loads"] + "; return net"}, []),
        (_OWN_OF_TORCH, _TORCH, {"loads": _TORCH["loads"] + "\n        else: train(net)"}, []),
        (
            _OWN_OF_TORCH,
            _TORCH,
            {"loads": _TORCH["loads"] + "\n        else: print('new')"},
            ["train.py:11 likely"],
        ),
    ],
)
def test_a_program_that_goes_on_from_its_own_weights(
    lint: Lint, text: str, plain: dict[str, str], changed: dict[str, str], found: list[str]
) -> None:
    assert lint(text.format(**{**plain, **changed}), trainer="") == found


def test_weights_that_an_earlier_run_left_are_told_as_such(
    lint: Lint, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, plain in [(_OWN_OF_TENSORFLOW, _TENSORFLOW), (_OWN_OF_TORCH, _TORCH)]:
        assert len(lint(text.format(**plain), trainer="")) == 1
        main(["--no-cache", "--select=DET107", "--output-format=full", "."])
        said, _, helped = capsys.readouterr().out.partition("help: ")
        assert "train.py starts from weights that an earlier run of it left" in said
        assert "only where an option asks for that" in helped
