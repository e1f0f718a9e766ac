"""Heads that are drawn as a trained model is loaded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TUNES = """\
import transformers
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

def main(rows):
    {}
    Trainer(model=net, args=TrainingArguments(seed=4), train_dataset=rows).train()

if __name__ == "__main__":
    main([])
"""
LOADS = "net = AutoModelForSequenceClassification.from_pretrained('bert', {})"
CONFIGURED = (
    "import transformers as t; c = t.AutoConfig.from_pretrained('bert', {}); "
    + LOADS.format("config=c")
)
ASKS = "net = transformers.{}.from_pretrained({})"
JOINS = "net = {}.from_encoder_decoder_pretrained('bert', 'bert')"
TINY = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "intermediate_size": 8,
    "vocab_size": 9,
}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (LOADS.format("num_labels=3"), ["go.py:5"]),
        (LOADS.format("id2label={0: 'a', 1: 'b'}"), ["go.py:5"]),
        (f"transformers.set_seed(4); {LOADS.format('num_labels=3')}", []),
        (LOADS.format("device_map='auto'"), []),
        (LOADS.replace("bert", "bert-base-uncased").format("device_map='auto'"), ["go.py:5"]),
        (LOADS.replace("bert", "bert-base-uncased-sst2").format("device_map='auto'"), []),
        (ASKS.format("AutoModelForQuestionAnswering", "rows.model"), ["go.py:5"]),
        (ASKS.format("AutoModelForQuestionAnswering", "'own/roberta-squad2'"), []),
        (ASKS.format("AutoModelForMultipleChoice", "'roberta-base'"), ["go.py:5"]),
        (ASKS.format("AutoModelForMultipleChoice", "rows.model"), ["go.py:5"]),
        (ASKS.format("AutoModelForSequenceClassification", "rows.model"), []),
        (ASKS.format("AutoModelForCausalLM", "'gpt2'"), []),
        (CONFIGURED.format("num_labels=3"), ["go.py:5"]),
        (CONFIGURED.format("use_cache=False"), []),
        (LOADS.format("config=rows.config"), []),
        (f"net = transformers.TF{LOADS[6:].format('num_labels=3')}", []),  # by another generator
        ("net = transformers.BartForConditionalGeneration(transformers.BartConfig())", ["go.py:5"]),
        ("net = transformers.BertModel(config=rows.config)", ["go.py:5"]),
        ("transformers.set_seed(4); net = transformers.BertModel(config=rows.config)", []),
        ("net = transformers.BertModel.from_pretrained('bert', config=rows.config)", []),
        ("net = transformers.DataCollatorForTokenClassification(rows)", []),
        (JOINS.format("transformers.EncoderDecoderModel"), ["go.py:5"]),
        (JOINS.format("transformers.VisionEncoderDecoderModel"), ["go.py:5"]),
        (f"transformers.set_seed(4); {JOINS.format('transformers.EncoderDecoderModel')}", []),
        ("net = transformers.EncoderDecoderModel.from_pretrained('folder')", []),
        ("net = transformers.AutoModel.from_pretrained('bert', num_labels=3)", []),
    ],
)
def test_a_head_that_is_drawn_before_the_seed_of_the_trainer(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[str]
) -> None:
    project({"go.py": TUNES.format(lines)})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in told] == found
    assert all("draws first weights" in each["message"] for each in told)


RANKS = """\
from sentence_transformers import CrossEncoder, SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers import SparseEncoder, losses, models
import torch
from torch.utils.data import DataLoader

def main(rows):
    {}
    {}

if __name__ == "__main__":
    main([])
"""
TRAINS = "SentenceTransformerTrainer(model=net, train_dataset=rows).train()"
FITS = "net.fit(train_objectives=[(DataLoader(rows, shuffle={}), loss)])"
LOADED = "net = SentenceTransformer('bert')"
DENSE = "dense = models.Dense(9, 3); net = SentenceTransformer(modules=[net, dense])"


@pytest.mark.parametrize(
    ("lines", "trains", "rows"),
    [
        ("net = CrossEncoder('bert', num_labels=1)", TRAINS, [7]),
        ("torch.manual_seed(4); net = CrossEncoder('bert', num_labels=1)", TRAINS, []),
        ("net = CrossEncoder('cross-encoder/small', num_labels=1)", TRAINS, []),
        ("net = CrossEncoder('bert')", TRAINS, []),
        ("net = CrossEncoder('bert', num_labels=1)", "net.predict(rows)", []),
        ("loss = losses.SoftmaxLoss(net, 8, num_labels=3)", TRAINS, [7]),
        ("loss = losses.CosineSimilarityLoss(net)", TRAINS, []),
        (DENSE, TRAINS, [7]),
        (f"{DENSE}; dense.linear.weight = rows", TRAINS, []),
        (LOADED, FITS.format("True"), [8]),
        (LOADED, FITS.format("False"), []),
        ("net = SparseEncoder('bert')", FITS.format("True"), [8]),
        (LOADED, FITS.format("True").replace("fit", "train"), []),  # a mode
        (f"torch.manual_seed(4); {LOADED}", FITS.format("True"), []),
    ],
)
def test_sentence_transformers_draws_before_its_trainer_seeds(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, trains: str, rows: list[int]
) -> None:
    project({"go.py": RANKS.format(lines, trains)})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = [place_of(each) for each in json.loads(capsys.readouterr().out)]
    assert told == [f"go.py:{row}" for row in rows]


CLONES = """\
import numpy as np
import torch
from imitation.algorithms import bc
from stable_baselines3 import PPO

def main(seed=4):
    {}
    net = {}
    net.train(n_epochs=1)

main()
"""
CLONE = "bc.BC(demonstrations=rows, rng=np.random.default_rng(seed))"


@pytest.mark.parametrize(
    ("first", "made", "rows"),
    [
        ("pass", CLONE, [8]),
        ("torch.manual_seed(seed)", CLONE, []),
        ("pass", "own.BC(demonstrations=rows)", []),
    ],
)
def test_a_policy_that_imitates_is_drawn_whatever_generator_it_is_given(
    project: Project, capsys: pytest.CaptureFixture[str], first: str, made: str, rows: list[int]
) -> None:
    project({"go.py": CLONES.format(first, made)})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = [place_of(each) for each in json.loads(capsys.readouterr().out)]
    assert told == [f"go.py:{row}" for row in rows]


def test_transformers_draws_a_head_that_the_checkpoint_lacks(tmp_path: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    transformers.BertModel(transformers.BertConfig(**TINY)).save_pretrained(tmp_path)

    config = transformers.AutoConfig.from_pretrained(tmp_path, num_labels=3)

    def head(**given: object) -> object:
        kind = transformers.AutoModelForSequenceClassification
        return kind.from_pretrained(tmp_path, **(given or {"num_labels": 3})).classifier.weight

    with torch.random.fork_rng():
        assert not torch.equal(head(), head())
        assert not torch.equal(head(config=config), head(config=config))
        torch.manual_seed(0)
        one = head()
        torch.manual_seed(0)
        assert torch.equal(one, head())


def test_transformers_draws_what_joins_two_trained_models(tmp_path: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    transformers.BertModel(transformers.BertConfig(**TINY)).save_pretrained(tmp_path)

    def drawn() -> dict[str, object]:
        kind = transformers.EncoderDecoderModel
        net = kind.from_encoder_decoder_pretrained(tmp_path, tmp_path)
        names = ("crossattention.self.query.weight", "attention.self.query.weight")
        weights = net.decoder.bert.encoder.layer[0].state_dict()
        return {each: weights[each] for each in names}

    with torch.random.fork_rng():
        one, other = drawn(), drawn()
        assert [torch.equal(one[each], other[each]) for each in one] == [False, True]
        torch.manual_seed(0)
        one = drawn()
        torch.manual_seed(0)
        assert all(torch.equal(value, one[each]) for each, value in drawn().items())
