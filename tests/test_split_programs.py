"""DET102: how a program is shared out to files does not change what is told of it.

Each program has three pieces: what draws, what calls that, and what is run. It lies in one file, in
two, with the middle piece in either, and in three. All four get the same findings, as sure.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from linted_places import levels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

WAYS = (
    ("train", "train", "train"),
    ("inner", "train", "train"),
    ("inner", "inner", "train"),
    ("inner", "middle", "train"),
)
HEADER = "import pickle, sys\nimport numpy as np\nimport torch\nfrom torch import nn\n"

DRAW = """
def pick(image, k):
    {}
    return image[:k]
"""
FEATURES = """
def features(image, method="none"):
    {}
    return image.mean(0)
"""
FITS = """
from sklearn.svm import SVC
rows = np.array([features({}) for image in np.load("x.npy")])
model = SVC(random_state=42)
model.fit(rows, np.load("y.npy"))
pickle.dump(model, open("m.pkl", "wb"))
"""
DRAWN = "return image[np.random.choice(len(image), k)]"
PICKED = "return pick(image, 3).mean(0)"
# What leads to the draw, by what is passed as ``method``: "kmeans", "mean", a word of the command
# line, the default.
PASSED = ('image, "kmeans"', 'image, method="mean"', "image, sys.argv[1]", "image")
ALWAYS = ("likely",) * 4
LEADS = {
    PICKED: ALWAYS,
    f"if True: {PICKED}": ALWAYS,
    f"if len(image) > 9: {PICKED}": ALWAYS,
    f'if method == "kmeans": {PICKED}': ("likely", "", "likely", ""),
    f'if method != "kmeans": return image\n    {PICKED}': ("likely", "", "likely", ""),
    f'if method == "mean": {PICKED}': ("", "likely", "likely", ""),
    f"if False: {PICKED}": ("",) * 4,
}
DRAWS = {
    f"if True: {DRAWN}": "likely",
    f"if k > len(image): {DRAWN}": "likely",
    f"if k < 3: pass\n    else: {DRAWN}": "likely",
    f"if False: {DRAWN}": "",
    f"if k == 3: {DRAWN}": "likely",
    f"if k == 4: {DRAWN}": "",
}

NET = """
class Net(nn.Module):
    def __init__(self, wide=False):
        super().__init__()
        {}
    def forward(self, x):
        {}
"""
MAKE = """
def make(wide=False):
    return Net(wide)
"""
TRAINS = """
if __name__ == "__main__":
    net = make({})
    optimizer = torch.optim.Adam(net.parameters())
    torch.manual_seed(0)
    for x in torch.rand(9, 3):
        optimizer.zero_grad(); net(x).sum().backward(); optimizer.step()
    torch.save(net.state_dict(), "m.pt")
"""
ANSWERS = """
net = make({})
net.load_state_dict(torch.load("m.pt")); net.eval()
torch.save(net(torch.load("x.pt")), "y.pt")
"""
LAYER = "self.f = nn.Linear(3, 8)"
BUILDS = (
    LAYER,
    f"if wide: {LAYER}\n        else: self.f = nn.Linear(3, 1)",
    f"if wide > 3: {LAYER}\n        else:\n            if wide: {LAYER}\n            else: {LAYER}",
    f"if True: {LAYER}\n        else: self.f = nn.Linear(3, 1)",
    f"self.f = nn.Identity()\n        if wide: {LAYER}",
)


def _all_told(project: Project, capsys: Capture, *pieces: str) -> list[list[str]]:
    """The confidences of what is found in a program, for each way to share it out to files."""
    found = []
    for way in WAYS:
        files = {"inner.py": "", "middle.py": "", "train.py": ""}
        for name, piece in zip(way, pieces, strict=True):
            above = [each for each in dict.fromkeys(way) if each != name][: way.index(name)]
            lines = [f"from {each} import *\n" for each in above[-1:] if each != "train"]
            files[f"{name}.py"] += HEADER + "".join(lines) + piece
        project(files)
        found.append(levels(capsys, "DET102"))
    return found


@pytest.mark.parametrize(
    ("lead", "given", "expected"),
    [
        (lead, given, expected)
        for lead, each in LEADS.items()
        for given, expected in zip(PASSED, each, strict=True)
    ],
)
def test_what_leads_to_a_draw(
    project: Project, capsys: Capture, lead: str, given: str, expected: str
) -> None:
    pieces = DRAW.format(DRAWN), FEATURES.format(lead), FITS.format(given)
    assert _all_told(project, capsys, *pieces) == [[expected] if expected else []] * len(WAYS)


@pytest.mark.parametrize(("drawn", "expected"), [*DRAWS.items()])
def test_the_draw_itself(project: Project, capsys: Capture, drawn: str, expected: str) -> None:
    pieces = DRAW.format(drawn), FEATURES.format(PICKED), FITS.format("image")
    assert _all_told(project, capsys, *pieces) == [[expected] if expected else []] * len(WAYS)


@pytest.mark.parametrize(("built", "wide"), [*product(BUILDS, ("", "True", "len(sys.argv)"))])
def test_weights_before_the_seed(project: Project, capsys: Capture, built: str, wide: str) -> None:
    net = NET.format(built, "return self.f(x)")
    expected = [] if "Identity" in built and not wide else ["likely"]
    assert _all_told(project, capsys, net, MAKE, TRAINS.format(wide)) == [expected] * len(WAYS)


@pytest.mark.parametrize("test", ["self.training", "train"])
def test_what_only_an_object_that_trains_draws(
    project: Project, capsys: Capture, test: str
) -> None:
    drawn = f"return x + torch.randn_like(x) if {test} else x"
    told = _all_told(project, capsys, NET.format("pass", drawn), MAKE, ANSWERS.format(""))
    assert told == [["possible"]] * len(WAYS)


@pytest.mark.parametrize(("wide", "expected"), [("", []), ("False", []), ("True", ["likely"])])
def test_an_attribute_that_is_one_thing_and_another(
    project: Project, capsys: Capture, wide: str, expected: list[str]
) -> None:
    net = NET.format(
        "self.mixed = wide and len(sys.argv) < 9",
        "return x + torch.randn_like(x) if self.mixed else x",
    )
    assert _all_told(project, capsys, net, MAKE, ANSWERS.format(wide)) == [expected] * len(WAYS)
