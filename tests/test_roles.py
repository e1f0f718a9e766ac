"""Code that is a test, packs something or draws a plot is told by its imports and its place."""

from __future__ import annotations

import pytest

from detlint.dataflow.unit import Unit
from detlint.sources.source import Source

PLOT = "import matplotlib.pyplot as plt\nplt.plot(x)\nplt.savefig('a.png')\n"


SHOWN = "from PIL import Image\n\npicture = Image.open(path)\ndisplay(picture)\n"
WINDOWS = "import cv2\n\ncv2.imshow('x', cv2.imread(path))\ncv2.waitKey(0)\n"
ROLES = ("test", "packaging", "showing", "inference")


def roles(text: str) -> list[str]:
    unit = Unit(Source("a.py", text))
    offset = max(text.find("HERE"), 0)
    return [each for each in ROLES if unit.roles.doubt(offset, [each])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("import pytest\nHERE\n", ["test"], id="pytest"),
        pytest.param("from unittest import TestCase\nHERE\n", ["test"], id="unittest"),
        pytest.param("from unittest import mock\nHERE\n", [], id="a mock stands for objects"),
        pytest.param("import pytest_lazy\nHERE\n", [], id="another library"),
        pytest.param("def test_loss():\n    HERE\n", ["test"], id="a test"),
        pytest.param("def test_model(loader):\n    HERE\n", [], id="on a test set"),
        pytest.param("def test_model(tmp_path):\n    HERE\n", ["test"], id="with a fixture"),
        pytest.param("class A:\n    def test_it(self):\n        HERE\n", ["test"], id="a method"),
        pytest.param("class A(TestCase):\n    def run(self):\n        HERE\n", ["test"], id="base"),
        pytest.param("def test_a(): pass\ndef run():\n    HERE\n", [], id="beside a test"),
        pytest.param("from setuptools import setup\nsetup(HERE)\n", ["packaging"], id="package"),
        pytest.param("import setuptools\nHERE\n", [], id="sets nothing up"),
        pytest.param(SHOWN, ["showing"], id="pictures that are displayed"),
        pytest.param(f"{SHOWN}picture.save(path)\n", [], id="pictures that are kept"),
        pytest.param(f"import torch\n{SHOWN}", [], id="pictures beside a model"),
        pytest.param(WINDOWS, ["showing"], id="pictures in windows"),
        pytest.param(f"{WINDOWS}cv2.imwrite('a.png', x)\n", [], id="windows, and a file"),
        pytest.param(PLOT, ["showing"], id="plot"),
        pytest.param(f"import torch\n{PLOT}", [], id="plot while training"),
        pytest.param(f"{PLOT}rows.to_csv('a.csv')\n", [], id="plot, and a table"),
        pytest.param(f"{PLOT}# rows.to_csv('a.csv')\n", ["showing"], id="a comment on a table"),
        pytest.param("# model.predict(x)\nHERE\n", [], id="a comment on predictions"),
        pytest.param("rows = model.predict(x)\nHERE\n", ["inference"], id="predictions"),
        pytest.param(
            "HERE\nx = model.generate(y)\nwith open(d + '/metadata.jsonl', 'w') as f: f.write(x)\n",
            [],
            id="data for a training",
        ),
        pytest.param(
            "HERE\nx = model.generate(y)\nwith open('train.jsonl') as f: f.read()\n",
            ["inference"],
            id="data that is read",
        ),
        pytest.param("import onnxruntime\nHERE\n", ["inference"], id="a runtime"),
        pytest.param(
            "def main():\n    load()\n    net.eval()\ndef load():\n    HERE\n",
            ["inference"],
            id="called by what asks",
        ),
        pytest.param(
            "def main():\n    HERE\n    ask(1)\ndef ask(x):\n    net.predict(x)\n",
            ["inference"],
            id="calls what asks",
        ),
        pytest.param(
            "@torch.inference_mode()\ndef features(x): ...\nclass Audio:\n"
            "    def __init__(self):\n        HERE\n"
            "    def __getitem__(self, i):\n        return features(self.x[i])\n",
            [],
            id="a data set that calls what asks",
        ),
        pytest.param(
            "class Audio:\n    def __init__(self):\n        HERE\n"
            "    def __getitem__(self, i): ...\n"
            "def main():\n    net.eval()\n    Audio()\n",
            ["inference"],
            id="a data set for what asks",
        ),
        pytest.param(
            "import cv2\ndef look(x):\n    cv2.imshow('x', read(x))\ndef read():\n    HERE\n",
            ["showing"],
            id="what shows a picture calls it",
        ),
        pytest.param(
            "import cv2\ndef look(x):\n    cv2.imshow('x', x)\ndef change():\n    HERE\n",
            [],
            id="beside what shows a picture",
        ),
        pytest.param(
            "def ask(x):\n    net.predict(x)\ndef load():\n    HERE\n", [], id="beside what asks"
        ),
        pytest.param(
            "import torch\nfound = []\nnet.eval()\nHERE\ntorch.save(found, 'a.pt')\n",
            [],
            id="a gallery of what a model answers",
        ),
        pytest.param(
            "import numpy as np\nfound = []\nnet.eval()\nHERE\nnp.save('a', np.stack(found))\n",
            [],
            id="an array of what a model answers",
        ),
        pytest.param(
            "import torch\nnet.eval()\nHERE\ntorch.save(net(x), path)\n",
            ["inference"],
            id="each answer in a file",
        ),
        pytest.param("model.eval()\nloss.backward()\nHERE\n", [], id="training and evaluation"),
        pytest.param(
            "model.train(rows, labels)\nHERE\nmodel.predict(x)\n", [], id="training by own means"
        ),
        pytest.param(
            "model.train(was)\nHERE\nmodel.predict(x)\n", ["inference"], id="a mode put back"
        ),
    ],
)
def test_what_code_is_for(text: str, expected: list[str]) -> None:
    assert roles(text) == expected
