"""What a finding of DET104 says of the generator that is drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.finding import Finding

IMPORTS = """
import guard
import numpy
import numpy as np
from datasets import load_dataset
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split
"""
GLOBAL = "it draws from NumPy's global generator, which this file does not seed"
SYSTEM = "it is seeded by the operating system, whatever else is seeded"
MESSAGES = {
    "KMeans(3)": f"KMeans() has no random_state: {GLOBAL}; pass random_state=seed",
    "train_test_split(x, random_state=None)": (
        f"train_test_split() gets None as its random_state: {GLOBAL}; pass random_state=seed"
    ),
    "x.sample(frac=1)": f"sample(frac=…) has no random_state: {GLOBAL}; pass random_state=seed",
    "load_dataset('imdb').shuffle()": f"shuffle() has no seed: {GLOBAL}; pass seed=seed",
    "load_dataset('c4', streaming=True).shuffle()": (
        f"shuffle() has no seed: {SYSTEM}; pass seed=seed"
    ),
}
SEEDING = [
    "np.random.seed(0)",
    "numpy.random.seed(args.seed)",
    "seed_everything(42)",
    "L.seed_everything()",
    "set_seed(seed)",
    "seed_torch(42)",
    "guard.enable()",
    "np.random.set_state(state)",
    "from numpy.random import seed; seed(1)",
]
NOT_SEEDING = [
    "torch.manual_seed(0)",
    "random.seed(0)",
    "np.random.seed()",
    "rng = np.random.default_rng(seed)",
    "seed = get_seed(args)",
    "sequence = SeedSequence(1)",
    "# np.random.seed(0)",
]
LATER = [
    "model.set_params(random_state=0)",
    "model.random_state = 0",
    "setattr(model, 'random_state', 0)",
    "search = Search(model, {'kmeans__random_state': [0]})",
]


@pytest.mark.parametrize(("call", "message"), MESSAGES.items(), ids=MESSAGES)
def test_the_message_says_where_the_numbers_come_from(
    call: str, message: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(f"{IMPORTS}y = {call}\n", "DET104")
    assert found.message == message
    assert not found.safe


@pytest.mark.parametrize("line", SEEDING)
def test_a_file_that_seeds_numpy_is_silent(
    line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert findings(f"{IMPORTS}{line}\ny = KMeans(3), x.sample(frac=1)\n", "DET104") == []


@pytest.mark.parametrize("line", NOT_SEEDING)
def test_what_seeds_another_generator_is_not_enough(
    line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert len(findings(f"{IMPORTS}{line}\ny = KMeans(3), x.sample(frac=1)\n", "DET104")) == 2


@pytest.mark.parametrize("line", LATER)
def test_an_estimator_that_gets_its_seed_later_is_silent(
    line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert findings(f"{IMPORTS}model = KMeans(3)\n{line}\n", "DET104") == []


def test_seeding_numpy_does_not_seed_a_stream(findings: Callable[..., list[Finding]]) -> None:
    text = f"{IMPORTS}np.random.seed(0)\ny = load_dataset('c4', streaming=True).shuffle()\n"
    (found,) = findings(text, "DET104")
    assert found.message == f"shuffle() has no seed: {SYSTEM}; pass seed=seed"


HELPER = "\n\ndef split(x):\n    return train_test_split(x)\n\ndef fix():\n    np.random.seed(0)\n"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("a = train_test_split(x)\nnp.random.seed(0)", 1),
        ("a = KMeans(3).fit_predict(x)\nnp.random.seed(0)", 1),
        ("a = KMeans(3)\nnp.random.seed(0)\na.fit(x)", 0),
        ("if x:\n    a = train_test_split(x)\nelse:\n    np.random.seed(0)", 0),
        ("def main():\n    a = train_test_split(x)\n    np.random.seed(0)\n    return a", 1),
        (f"{HELPER}\na = split(x)\nfix()", 1),
        (f"{HELPER}\nfix()\na = split(x)", 0),
        (f"{HELPER}\na = split(x)\nstart(fix)\nfix()", 0),
        (f"{HELPER}\nfix()\na = train_test_split(x)\nfix()", 0),
        ("for i in range(3):\n    a = train_test_split(x)\n    np.random.seed(0)", 1),
        ("np.random.seed(0)\na = train_test_split(x)\nnp.random.seed(0)", 0),
    ],
)
def test_what_is_drawn_before_its_file_seeds_is_told(
    lines: str, found: int, findings: Callable[..., list[Finding]]
) -> None:
    told = findings(f"{IMPORTS}\nx = np.load('x.npy')\n{lines}\n", "DET104")
    assert len(told) == found
    assert all("which this file seeds only later" in each.message for each in told)


@pytest.mark.parametrize(("first", "sure"), [("", "likely"), ("np.random.seed(1); ", "possible")])
def test_what_another_file_seeds_before_is_only_possible(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    first: str,
    sure: str,
) -> None:
    own = "def load(x):\n    y = train_test_split(x)\n    np.random.seed(0)\n    return y\n"
    main_part = f"if __name__ == '__main__':\n    {first}np.save('y.npy', load(np.ones(9)))\n"
    files = {"train.py": f"import numpy as np\nfrom data import load\n\n{main_part}"}
    project({"data.py": f"{IMPORTS}\n{own}", **files})
    kept = ["--isolated", "--no-cache", "--select", "DET104", "--min-confidence", "possible"]
    main([".", *kept, "--output-format", "concise"])
    lines = [each for each in capsys.readouterr().out.splitlines() if "DET104" in each]
    assert [each.rpartition("[")[2].rstrip("]") for each in lines] == [sure]


ASIDE = """
import numpy as np
from sklearn.model_selection import KFold

class Data(BASE):
    def balance(self, rows, seed=42):
        np.random.seed(seed)
        np.random.shuffle(rows)

    def folds(self):
        CALL
        return KFold(n_splits=5, shuffle=True)
"""


@pytest.mark.parametrize(
    ("says", "more", "found"),
    [
        (("object", "pass"), "data.folds()", ["likely"]),
        (("object", "self.balance([])"), "data.folds()", []),
        (("object", "np.random.seed(1)"), "data.folds()", []),
        (("Base", "pass"), "data.folds()", []),
        (("object", "pass"), "data.balance([])\n    data.folds()", ["possible"]),
        (("object", "pass"), None, ["possible"]),
    ],
)
def test_a_function_that_nothing_calls_seeds_nothing(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    says: tuple[str, str],
    more: str | None,
    found: list[str],
) -> None:
    files = {"data.py": ASIDE.replace("BASE", says[0]).replace("CALL", says[1])}
    if more is not None:
        head = "from data import Data\n\nif __name__ == '__main__':\n    data = Data()\n"
        files["train.py"] = f"{head}    {more}\n"
    project(files)
    kept = ["--isolated", "--no-cache", "--select", "DET104", "--min-confidence", "possible"]
    main([".", *kept, "--output-format", "concise"])
    lines = [each for each in capsys.readouterr().out.splitlines() if "DET104" in each]
    assert [each.rpartition("[")[2].rstrip("]") for each in lines] == found
    assert all("which only balance() seeds in this file" in each for each in lines)


@pytest.mark.parametrize(
    ("imports", "line", "found"),
    [
        ("import pandas", 'db.execute("SELECT x FROM rows ORDER BY RANDOM() LIMIT 5")', "likely"),
        ("import torch", 'pd.read_sql(f"select x from {table} order by rand()", db)', "likely"),
        ("import json", 'db.execute("SELECT x FROM rows ORDER BY RANDOM()")', "possible"),
        (
            "import torch",
            'text = "SELECT x"; text += " ORDER BY NEWID()"; db.query(text)',
            "likely",
        ),
        ("import torch", 'db.execute("SELECT x FROM rows ORDER BY RAND(5)")', ""),
        ("import torch", 'db.execute("INSERT INTO rows VALUES (RANDOM())")', ""),
        ("import torch", 'db.execute("SELECT setseed(0.5), x FROM rows ORDER BY RANDOM()")', ""),
        ("import torch", 'print("SELECT x FROM rows ORDER BY RANDOM()")', ""),
    ],
)
def test_a_query_whose_database_draws_is_found(
    findings: Callable[..., list[Finding]], imports: str, line: str, found: str
) -> None:
    told = findings(f"{imports}\n{line}\n", "DET104")
    assert [each.confidence.name.lower() for each in told] == [found] * bool(found)


def test_a_table_to_which_a_column_was_assigned_is_still_one(
    findings: Callable[..., list[Finding]],
) -> None:
    draws = "rows['count'] = 1\ny = rows[rows['label'] == 0].sample(n)\n"
    (found,) = findings(f"rows = table.groupby('patient').mean()\n{draws}", "DET104")
    assert found.message.startswith("sample(…) has no random_state")
    assert findings(f"rows = load()\n{draws}", "DET104") == []


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("if True:", "pass random_state=seed"),
        ("def split(rows):", "take a seed and pass random_state=seed"),
        ("def split(rows, data_seed):", "pass random_state=seed"),
        ("def split(rows):\n    seed = rows.seed", "pass random_state=seed"),
        ("SEED = 3\ndef split(rows):", "pass random_state=seed"),
        ("class Data:\n  def split(self):", "take a seed and pass random_state=seed"),
        (
            "class Data:\n  def __init__(self, x):\n    self.seed = x\n  def split(self):",
            "pass random_state=seed",
        ),
    ],
)
def test_where_no_seed_is_at_hand_the_advice_is_to_take_one(
    findings: Callable[..., list[Finding]], start: str, found: str
) -> None:
    text = f"from sklearn.model_selection import KFold\n{start}\n    KFold(5, shuffle=True)\n"
    (told,) = findings(text, "DET104")
    assert told.message.rpartition("; ")[2] == found
    assert told.advice == found.replace("pass", "pass the seed of the run:")


@pytest.mark.parametrize(
    ("score", "function"),
    [
        ("mutual_info_classif", "mutual_info_classif"),
        ("k=2, score_func=mutual_info_regression", "mutual_info_regression"),
        ("partial(mutual_info_classif, random_state=0)", ""),
        ("f_classif", ""),
        ("k=2", ""),
    ],
)
def test_a_score_that_draws_is_told_where_scikit_learn_is_given_it(
    findings: Callable[..., list[Finding]], score: str, function: str
) -> None:
    names = "SelectKBest, f_classif, mutual_info_classif, mutual_info_regression"
    text = f"from functools import partial\nfrom sklearn.feature_selection import {names}\n"
    told = findings(f"{text}best = SelectKBest({score}).fit(x, y)\n", "DET104")
    seeded = f"pass functools.partial({function}, random_state=seed)"
    messages = [f"{function}() has no random_state: {GLOBAL}; {seeded}"] if function else []
    assert [(each.row, each.message) for each in told] == [(3, each) for each in messages]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "eigsh(x, k=8)",
            f"eigsh() has no rng: {SYSTEM} (since scipy 1.17); pass rng=seed",
        ),
        ("svds(x, 8)", f"svds() has no random_state: {SYSTEM}; pass random_state=seed"),
        ("svds(x, 8, rng=None)", f"svds() gets None as its rng: {SYSTEM}; pass rng=seed"),
        ("random(9, 9)", f"random() has no random_state: {GLOBAL}; pass random_state=seed"),
        ("random(9, 9, rng=None)", f"random() gets None as its rng: {SYSTEM}; pass rng=seed"),
    ],
)
def test_scipy_makes_a_generator_of_entropy_or_draws_from_numpys(
    findings: Callable[..., list[Finding]], line: str, says: str
) -> None:
    imports = "from scipy.sparse import random\nfrom scipy.sparse.linalg import eigsh, svds\n"
    (found,) = findings(f"{imports}y = {line}\n", "DET104")
    assert found.message == says


@pytest.mark.parametrize(
    ("library", "line", "found"),
    [
        ("from pyspark.sql import SparkSession", "rows.randomSplit([0.8, 0.2])", "seed"),
        ("from pyspark.sql import SparkSession", "rows.randomSplit([0.8, 0.2], 7)", ""),
        ("from pyspark.sql import SparkSession", "rows.sample(fraction=0.1)", "seed"),
        ("import polars as pl", "pl.read_csv(path).sample(fraction=1.0, shuffle=True)", "seed"),
        ("import polars as pl", "pl.read_csv(path).sample(fraction=1.0, seed=seed)", ""),
        ("import dask.dataframe as dd", "dd.read_csv(p).random_split([0.8, 0.2])", "random_state"),
        ("import dask.dataframe as dd", "dd.read_csv(p).random_split([1], random_state=0)", ""),
        ("import polars as pl", "buffer.sample(fraction=0.5)", ""),
        ("import mine", "rows.sample(fraction=0.1)", ""),
        ("import mine", "rows.randomSplit([0.8, 0.2])", ""),
        ("from torch.utils.data import random_split", "random_split(data, [0.8, 0.2])", ""),
    ],
)
def test_rows_that_libraries_of_tables_pick(
    findings: Callable[..., list[Finding]], library: str, line: str, found: str
) -> None:
    told = findings(f"{library}\n\nout = {line}\nprint(out)\n", "DET104")
    assert [each.row for each in told] == [3] * bool(found)
    assert all(f"has no {found}: {SYSTEM}" in each.message for each in told)


@pytest.mark.parametrize(
    ("library", "line", "found"),
    [
        ("import pickle", "pickle.load(file).sample(n=9, replace=False)", 1),
        ("import pickle", "pickle.load(file).sample(n=9, replace=False, random_state=0)", 0),
        ("import pickle", "pickle.load(file).sample(n=9)", 0),
        ("import pickle", "buffer.sample(n=9, replace=False)", 0),
        ("import pandas as pd", "pd.json_normalize(rows).sample(9)", 1),
        ("import pandas as pd", "pd.read_fwf(path).sample(9, random_state=0)", 0),
    ],
)
def test_rows_of_a_table_of_pandas_by_what_made_it(
    findings: Callable[..., list[Finding]], library: str, line: str, found: int
) -> None:
    assert len(findings(f"{library}\n\nout = {line}\nprint(out)\n", "DET104")) == found


@pytest.mark.parametrize(
    ("start", "line", "found"),
    [
        ("np.random.seed(0)", "algorithms.leiden(g)", 1),
        ("np.random.seed(0)", "algorithms.rb_pots(g, weights='w')", 1),
        ("np.random.seed(0)", "algorithms.leiden(g, seed=0)", 0),
        ("np.random.seed(0)", "algorithms.walktrap(g)", 0),
        ("cdlib.seed(0)", "algorithms.leiden(g)", 0),
    ],
)
def test_communities_of_cdlib_have_a_generator_of_their_own(
    findings: Callable[..., list[Finding]], start: str, line: str, found: int
) -> None:
    imports = "import cdlib\nimport numpy as np\nfrom cdlib import algorithms\n"
    told = findings(f"{imports}{start}\nprint({line}.communities)\n", "DET104")
    assert ["draws from cdlib's generator" in each.message for each in told] == [True] * found


DRAWN_BY = """
import networkx as nx

def make(sizes, shares, block=None):
    if block is not None:
        return nx.stochastic_block_model(sizes, shares, block)
    return nx.stochastic_block_model(sizes, shares)
"""


@pytest.mark.parametrize(
    ("before", "sure"),
    [
        ("make(sizes, shares, [0, 1])", ["likely", "possible"]),
        ("make(sizes, shares, block=list(sizes))", ["likely", "possible"]),
        ("make(sizes, shares)", ["possible", "likely"]),
        ("make(sizes, shares, load())", ["likely", "likely"]),
        ("0", ["possible", "possible"]),
    ],
)
def test_of_two_branches_each_is_judged_by_the_calls_that_lead_to_it(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    before: str,
    sure: list[str],
) -> None:
    start = f"    first = {before}\n    random.seed(0)\n    second = make(sizes, shares)\n"
    main_part = f"if __name__ == '__main__':\n{start}    print(first, second)\n"
    imports = "import random\nfrom graphs import make\nfrom sizes import load, shares, sizes\n\n"
    project({"graphs.py": DRAWN_BY, "train.py": f"{imports}{main_part}"})
    kept = ["--isolated", "--no-cache", "--select", "DET104", "--min-confidence", "possible"]
    main([".", *kept, "--output-format", "concise"])
    lines = [each for each in capsys.readouterr().out.splitlines() if "DET104" in each]
    assert [each.rpartition("[")[2].rstrip("]") for each in lines] == sure
