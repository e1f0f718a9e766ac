"""What a program keeps from step to step and does not save."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.diff import Cause, Difference
from guard.trace import Event
from guard.verification.settling import kept_outside
from guard.verification.suspects import Asked, advised, with_possibilities
from guard.verification.texts import Text, saved_names, unsaved

if TYPE_CHECKING:
    from pathlib import Path

    from guard.trace.model import Kind

CLIP = """\
class Clip:
    def __init__(self):
        self.share = 0.5
        self.norms = []
    def __call__(self, parameters):
        self.norms.append(norm(parameters))
        torch.nn.utils.clip_grad_norm_(parameters, quantile(self.norms, self.share))
"""
SAVED = """\
import helper
def save(path, step, model, clip):
    state = {"step": step, "model": model.state_dict()}
    torch.save(state, path)
clip = helper.Clip()
save("last.pt", step, model, clip)
"""
BEST = """\
def train(loader):
    best, seen, rate = float("inf"), 0, 0.1
    for batch in loader:
        loss = step(batch)
        seen += 1
        if loss < best:
            best = loss
        print(seen)
        torch.save({"model": model.state_dict()}, "last.pt")
"""
DRAWS = """\
class Cutout:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
    def __call__(self, image):
        top = self.rng.integers(0, 8)
        return image[top:]
"""


@pytest.mark.parametrize(
    "begun",
    [
        *("[0.0] * classes", "[floor for _ in range(classes)]", "np.zeros(classes)"),
        *("torch.ones(classes).tolist()", "[floor, *others]", "-floor * np.ones(3)"),
    ],
)
def test_counts_are_kept_however_they_begin(begun: str) -> None:
    text = CLIP.replace("[]", begun).replace("norms.append(norm(parameters))", "norms[0] += 1")
    assert [each.name for each in unsaved(ast.parse(text), ())] == ["self.norms"]


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        ((SAVED, CLIP), [("self.norms", 6, 4)]),
        ((SAVED.replace("}", ', "clip": clip.norms}'), CLIP), []),
        ((SAVED.replace("    torch", '    state["norms"] = clip.norms[:]\n    torch'), CLIP), []),
        ((SAVED, DRAWS), [("self.rng", 5, 3)]),
        ((SAVED.replace("}", ', "rng": cutout.rng}'), DRAWS), []),
        ((SAVED, DRAWS + "    def begin(self):\n        self.rng = np.random.default_rng(1)"), []),
        ((BEST,), [("best", 7, 2)]),
        ((BEST.replace("}", ', "best": best}'),), []),
        ((BEST.replace("best = loss", "best = 0.9 * best + 0.1 * loss"),), [("best", 7, 2)]),
        ((SAVED.replace("torch.save(state, path)", "print(state)"), CLIP), None),
    ],
)
def test_what_is_kept_and_not_saved(
    texts: tuple[str, ...], kept: list[tuple[str, int, int]] | None, tmp_path: Path
) -> None:
    paths = [str(write(tmp_path / f"{n}.py", text)) for n, text in enumerate(texts)]
    found = Text(paths).kept
    assert (kept is None) is (not found)
    assert [each[:3] for each in found.get(paths[-1], [])] == (kept or [])


def test_what_is_pickled_whole_is_saved() -> None:
    text = CLIP + 'clip = Clip()\ntorch.save({"clip": clip}, "last.pt")\n'
    tree = ast.parse(text)
    assert unsaved(tree, saved_names([tree]) or ()) == []
    own = ast.parse(text.replace('"clip": clip', '"clip": clip.state_dict()'))
    assert [each.name for each in unsaved(own, saved_names([own]) or ())] == ["self.norms"]


def difference_of(kind: Kind, cause: Cause = Cause.KERNEL) -> Difference:
    event = Event(kind, "head.bias", 0, "", None, b"")
    return Difference(0, 30, "training", event, None, cause, "Forward agrees. More.", advice="?")


def test_a_gradient_changed_by_what_is_kept_is_a_state_that_was_lost(tmp_path: Path) -> None:
    paths = [write(tmp_path / "train.py", SAVED), write(tmp_path / "helper.py", CLIP)]
    text = Text(map(str, paths))
    found = kept_outside(difference_of("gradient"), text, is_first=False)
    assert found.cause is Cause.STATE
    assert "self.norms" in found.why
    (first, *others) = with_possibilities((), Asked(found, "", text))
    assert (first.file, first.line) == (str(paths[1]), 6)
    assert [each.line for each in others] == [4]
    assert "in no state_dict()" in advised(found, "", [first])


def test_a_loss_made_with_what_is_kept_is_a_state_that_was_lost(tmp_path: Path) -> None:
    paths = [write(tmp_path / "train.py", SAVED), write(tmp_path / "helper.py", CLIP)]
    text = Text(map(str, paths))
    found = kept_outside(difference_of("loss"), text, is_first=True)
    assert found.cause is Cause.STATE
    assert "The outputs agree" in found.why
    assert "self.norms" in found.why
    later = difference_of("loss")
    assert kept_outside(later, text, is_first=False) is later


CLIPPED = "torch.nn.utils.clip_grad_norm_(p, 1.0)\n"


@pytest.mark.parametrize(
    ("difference", "text", "when"),
    [
        (difference_of("gradient"), CLIPPED, (True,)),
        (difference_of("gradient"), "p.grad.mul_(scale)\n", (True,)),
        (difference_of("gradient"), "p.grad *= scale\n", (True,)),
        (difference_of("gradient"), "loss.backward()\n", ()),
        (difference_of("output"), CLIPPED, ()),
        (difference_of("gradient", Cause.STATE), CLIPPED, ()),
    ],
)
def test_where_nothing_is_known_of_it_the_first_step_alone_tells(
    difference: Difference, text: str, when: tuple[bool, ...], tmp_path: Path
) -> None:
    read = Text([str(write(tmp_path / "train.py", text))])
    for is_first in (True, False):
        found = kept_outside(difference, read, is_first=is_first)
        assert (found is not difference) is (is_first in when)
