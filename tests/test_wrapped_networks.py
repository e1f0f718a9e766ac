"""DET801: networks of Keras that scikit-learn fits, as what a search or a pipeline is given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

_TUNES = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from {module} import KerasRegressor
from tensorflow import keras

def network(width=4):
    net = keras.Sequential([keras.layers.Dense(width), keras.layers.Dense(1)])
    net.compile(loss="mse", optimizer="sgd")
    return net

def best(x, y):
    {fits}

if __name__ == "__main__":
    print(best(np.ones((8, 2)), np.arange(8)))
"""
_MADE = "model = KerasRegressor(build_fn=network)"
_SEARCH = "return GridSearchCV({}, {{'width': [2, 4]}}).fit(x, y).best_params_"


@pytest.mark.parametrize(
    "module",
    ["keras.wrappers.scikit_learn", "tensorflow.keras.wrappers.scikit_learn", "scikeras.wrappers"],
)
@pytest.mark.parametrize(
    ("fits", "is_found"),
    [
        (f"{_MADE}; {_SEARCH.format('model')}", True),
        (f"{_MADE}; {_SEARCH.format('make_pipeline(StandardScaler(), model)')}", True),
        (f"{_MADE}; return Pipeline([('s', StandardScaler()), ('n', model)]).fit(x, y)", True),
        (f"{_MADE}; return RandomizedSearchCV(estimator=model, cv=3).fit(x, y)", True),
        (f"{_MADE}; return cross_val_score(model, x, y)", True),
        (_SEARCH.format("LogisticRegression()"), False),
        ("return cross_val_score(LogisticRegression(), x, y)", False),
        (f"{_MADE}; return StandardScaler().fit(x), model", False),
    ],
)
def test_what_scikit_learn_fits_of_keras_trains(
    project: Project, capsys: pytest.CaptureFixture[str], module: str, fits: str, *, is_found: bool
) -> None:
    project({"tune.py": _TUNES.format(module=module, fits=fits)})
    main(["--no-cache", "--output-format=json", "--select=DET801", "."])
    assert [each["code"] for each in json.loads(capsys.readouterr().out)] == ["DET801"] * is_found


@pytest.mark.parametrize(
    ("util", "main_file", "is_found"),
    [
        ("from statsmodels.api import OLS", "from util import OLS\nnet = OLS(x)", False),
        ("from statsmodels.api import OLS as Net", "from util import *\nnet = Net(x)", False),
        ("import statsmodels.api as sm", "from util import *\nnet = sm.OLS(x)", False),
        ("from deep import *", "import util\nnet = util.Fit(x)", False),
        ("from sklearn.svm import SVR", "from util import SVR as Fit\nnet = Fit(x)", False),
        ("from keras import Sequential", "from util import *\nnet = Sequential(x)", True),
        ("class Net(keras.Model): ...", "from util import Net\nnet = Net(x)", True),
        (
            "from scikeras.wrappers import KerasRegressor\nfrom sklearn.pipeline import *",
            "from util import *\nnet = make_pipeline(KerasRegressor(x))",
            True,
        ),
    ],
)
def test_what_another_file_imports_is_fitted_by_its_library(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    util: str,
    main_file: str,
    *,
    is_found: bool,
) -> None:
    root = project(
        {
            "util.py": f"import tensorflow as tf\nfrom tensorflow import keras\n{util}\n",
            "deep.py": "from xgboost import XGBRegressor as Fit\n",
            "main.py": f"import numpy as np\n\nx = np.ones(3)\n{main_file}\nnet.fit(x)\n",
        }
    )
    main(["--no-cache", "--output-format", "json", "--select", "DET801", str(root)])
    assert bool(json.loads(capsys.readouterr().out)) == is_found
