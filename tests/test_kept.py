"""What is kept of programs: after a change, a run finds what one without a cache finds, and asks
nothing again that does not depend on the change."""

from __future__ import annotations

import json
import os
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from detlint import runner
from detlint.callgraph import project as callgraph
from detlint.callgraph.graph import Graph
from detlint.callgraph.program import Program
from detlint.cli import main
from detlint.index.index import Index
from detlint.index.modules import Modules
from detlint.link import Linker
from detlint.sources.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from detlint.rule import Rule

    Project = Callable[[dict[str, str]], Path]
    Found = list[dict[str, object]]

TRAINS = """
    import sys

    import numpy as np
    import torch

    from lib import data, model
    from lib.options import options


    def main():
        args = options()
        net = model.Net().to("cuda")
        for batch in data.batches("images"):
            loss = net(batch).sum() + np.random.rand()
            loss.backward()
            torch.optim.SGD(net.parameters(), lr=args.rate).step()
        torch.save(net, "net.pt")


    if __name__ == "__main__":
        main()
    """
FILES = {
    "train.py": TRAINS,
    "train_small.py": TRAINS.replace("net.pt", "small.pt"),
    "plot.py": """
        import os

        import matplotlib.pyplot as plt

        from lib.names import names


        def main():
            for name in names("images"):
                plt.plot(len(name))
            plt.savefig("names.png")


        if __name__ == "__main__":
            main()
        """,
    "make_labels.py": """
        import sys

        from lib.writing import write


        def main():
            write("labels.txt", list(set(sys.argv[1].split())))


        if __name__ == "__main__":
            main()
        """,
    "lib/__init__.py": "",
    "lib/names.py": """
        import os


        def names(folder):
            return os.listdir(folder)
        """,
    "lib/writing.py": """
        def write(path, words):
            with open(path, "w") as file:
                for place, word in enumerate(words):
                    file.write(f"{place} {word}")
        """,
    "lib/data.py": """
        import torch

        from lib.names import names


        def batches(folder):
            loader = torch.utils.data.DataLoader(names(folder), shuffle=True, num_workers=2)
            yield from loader
        """,
    "lib/model.py": """
        import torch
        from torch import nn


        class Net(nn.Module):
            def forward(self, x):
                x = nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
                return torch.zeros(3).scatter_add(0, x.long(), x)
        """,
    "lib/options.py": """
        import argparse


        def options():
            parser = argparse.ArgumentParser()
            parser.add_argument("--rate", type=float, default=0.1)
            parser.add_argument("--seed", type=int)
            return parser.parse_args()
        """,
    "lib/seeds.py": """
        import random

        import numpy as np
        import torch


        def seed_all(seed):
            random.seed(seed)
            np.random.seed(seed)
            torch.manual_seed(seed)
        """,
    "build.py": """
        import numpy as np
        from hydra.utils import instantiate
        from omegaconf import OmegaConf

        import lib.seeds


        def main():
            instantiate(OmegaConf.load("config.yaml"))
            np.save("built.npy", np.random.rand(3))


        if __name__ == "__main__":
            main()
        """,
    "run.sh": "export PYTHONHASHSEED=0\npython make_labels.py words\n",
    "launch.sh": "source env.sh\npython train.py --rate 0.2\n",
    "env.sh": "export CUBLAS_WORKSPACE_CONFIG=:16:8\n",
    "config.yaml": "rate: 0.1\n",
}
PROGRAMS = {"train.py", "train_small.py", "plot.py", "make_labels.py", "build.py"}
ENABLED = "torch.use_deterministic_algorithms(True)\n"


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Found]:
    """What the command line finds, with what is only possible."""

    def run(*paths: str, cache: bool = True) -> Found:
        kept = ["--cache-dir", str(tmp_path / ".cache")] if cache else ["--no-cache"]
        asked = ["--select", "DET", "--min-confidence", "possible", "--output-format", "json"]
        main([*kept, *asked, *(paths or (".",))])
        found: Found = json.loads(capsys.readouterr().out)
        return found

    return run


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with the name of each program that a rule judges."""
    asked: list[str] = []
    real = Program.known

    def noting(self: Program, question: str, answer: Callable[[], object]) -> object:
        def noted() -> object:
            if question.startswith("judges "):
                asked.append(os.path.basename(self.path))
            return answer()

        return real(self, question, noted)

    monkeypatch.setattr(Program, "known", noting)
    return asked


def _replaced(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


CHANGES: list[tuple[str, Callable[[str], str] | None]] = [
    ("train.py", _replaced("import sys", "import sys\n")),
    ("lib/names.py", _replaced("os.listdir(folder)", "sorted(os.listdir(folder))")),
    ("lib/names.py", _replaced("sorted(os.listdir(folder))", "os.listdir(folder)")),
    ("lib/writing.py", _replaced("enumerate(words)", "enumerate(sorted(words))")),
    ("lib/writing.py", _replaced("enumerate(sorted(words))", "enumerate(words)")),
    ("run.sh", _replaced("export PYTHONHASHSEED=0", "export NOTHING=0")),
    ("run.sh", _replaced("export NOTHING=0", "export PYTHONHASHSEED=0")),
    ("lib/__init__.py", lambda _: f"import torch\n{ENABLED}"),
    ("env.sh", _replaced("CUBLAS_WORKSPACE_CONFIG=:16:8", "NOTHING=0")),
    ("env.sh", _replaced("NOTHING=0", "CUBLAS_WORKSPACE_CONFIG=:4096:8")),
    ("launch.sh", _replaced("source env.sh", "")),
    ("lib/__init__.py", lambda _: ""),
    ("train_small.py", _replaced("import sys", "import sys\nfrom lib.seeds import seed_all")),
    ("train_small.py", _replaced("args = options()", "args = options(); seed_all(0)")),
    ("lib/seeds.py", _replaced("torch.manual_seed(seed)", "pass")),
    ("lib/seeds.py", _replaced("np.random.seed(seed)", "if seed: np.random.seed(seed)")),
    ("lib/model.py", _replaced('mode="bilinear"', 'mode="nearest"')),
    ("lib/data.py", _replaced("shuffle=True", "shuffle=False")),
    ("config.yaml", lambda text: f"{text}_target_: lib.seeds.seed_all\n"),
    ("config.yaml", _replaced("_target_: lib.seeds.seed_all", "")),
    ("lib/late.py", lambda _: "import numpy as np\n\nnp.random.seed(0)\n"),
    ("train.py", _replaced("from lib import data", "from lib import late, data")),
    ("lib/late.py", None),
    ("lib/seeds.py", _replaced("def seed_all", "def seed_everything")),
    ("train_small.py", _replaced("from lib.seeds import seed_all", "")),
    ("pyproject.toml", lambda _: '[project]\nname = "a"\n[project.scripts]\na = "build:main"\n'),
    ("pyproject.toml", lambda text: f'{text}[tool.detlint]\nignore = ["DET501"]\n'),
    ("build.py", _replaced("if __name__", "def unused():\n    pass\n\n\nif __name__")),
    ("pyproject.toml", None),
    ("plot.py", None),
    ("lib/names.py", lambda text: text + "\ndef broken(:\n"),
    ("lib/names.py", _replaced("def broken(:", "")),
]


def test_what_is_found_after_each_change_is_what_is_found_without_a_cache(
    project: Project, lint: Callable[..., Found]
) -> None:
    root = project(FILES)
    answers = [lint(cache=False)]
    assert lint() == answers[0]
    for name, change in CHANGES:
        file = root / name
        if change is None:
            file.unlink()
        else:
            file.write_text(change(file.read_text() if file.exists() else ""))
        answers.append(lint(cache=False))
        # A file by itself is told the same, and leaves to the others what they have.
        alone = [each for each in answers[-1] if each["filename"] == answers[-1][0]["filename"]]
        assert lint(str(answers[-1][0]["filename"])) == alone, name
        assert lint() == answers[-1], name
    # Most changes show, or this would tell nothing.
    assert sum(one != other for one, other in pairwise(answers)) > len(CHANGES) // 2


@pytest.mark.parametrize(
    ("name", "programs"),
    [
        ("train.py", {"train.py"}),
        ("lib/model.py", {"train.py", "train_small.py"}),
        ("lib/names.py", {"train.py", "train_small.py", "plot.py"}),
        ("lib/writing.py", {"make_labels.py"}),
        ("plot.py", {"plot.py"}),
        ("lib/seeds.py", {"build.py"}),
        ("launch.sh", set()),  # what it sets is the same
        ("config.yaml", set()),
        ("notes.md", set()),
    ],
)
def test_only_programs_that_depend_on_a_change_are_judged_again(
    project: Project,
    lint: Callable[..., Found],
    judged: list[str],
    name: str,
    programs: set[str],
) -> None:
    root = project({**FILES, "notes.md": "", "run.sh": "python make_labels.py words\n"})
    lint()
    assert set(judged) == PROGRAMS
    judged.clear()
    file = root / name
    file.write_text(file.read_text() + "\n# changed\n")
    lint()
    assert set(judged) == programs
    judged.clear()
    lint("plot.py")
    lint()
    assert judged == []


def test_of_files_that_did_not_change_nothing_is_asked_that_was_not_asked_before(
    project: Project, lint: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever programs were judged together before: here they share what they use, and import it
    in another order."""
    uses = "from lib.seeds import seed_all\n\n\ndef setup():\n    seed_all(0)\n"
    both = "from lib import one, two\n\n\ndef setup():\n    one.setup()\n    two.setup()\n"
    starts = """
        import numpy as np
        from lib import both, {0}

        if __name__ == "__main__":
            {0}.setup()
            both.setup()
            np.save("a.npy", np.random.rand(3))
        """
    files = {"__init__": "", "seeds": FILES["lib/seeds.py"], "one": uses, "two": uses, "both": both}
    programs = {f"{name}.py": starts.format(used) for name, used in (("a", "one"), ("b", "two"))}
    root = project({**{f"lib/{name}.py": text for name, text in files.items()}, **programs})
    lint()
    asked: set[str] = set()
    real = Index._learn

    def noting(self: Index, path: str, question: str, answer: object) -> None:
        if question.startswith("uses "):
            asked.add(os.path.basename(path))
        real(self, path, question, answer)

    monkeypatch.setattr(Index, "_learn", noting)
    (root / "b.py").write_text(f"{(root / 'b.py').read_text()}\n# changed\n")
    lint("b.py")
    assert asked == {"b.py"}


def test_of_files_that_did_not_change_no_imports_are_looked_up_again(
    project: Project, lint: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is asked again whether their statements make programs of them."""
    root = project(FILES)
    lint()
    asked: set[tuple[str, str]] = set()

    def noting(real: Callable[..., object], self: object, path: str, *how: object) -> object:
        asked.add((real.__name__, os.path.basename(path)))
        return real(self, path, *how)

    for of, name in ((Modules, "imported"), (Linker, "_may_be_flat")):
        noted = partial(noting, getattr(of, name))
        monkeypatch.setattr(of, name, lambda *told, noted=noted: noted(*told))
    (root / "train.py").write_text(f"{(root / 'train.py').read_text()}\n# changed\n")
    lint("train.py")
    assert asked == {
        ("_may_be_flat", "train.py"),
        ("imported", "train.py"),
        ("imported", "build.py"),  # it makes what configurations name
    }


def test_programs_of_which_is_asked_later_are_entered_in_the_graphs_that_are_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(FILES)
    programs = [str(root / name) for name in ("train.py", "build.py")]
    files = sorted(map(str, root.rglob("*.py")))
    entered: list[tuple[int, str]] = []
    real = Graph.take_in

    def noting(self: Graph, paths: Sequence[str]) -> Iterator[str]:
        for path in real(self, paths):
            entered.append((id(self), path))
            yield path

    def told(*asked: str) -> list[tuple[bool, bool]]:
        whole = callgraph.Project(str(root), files, programs, Index(Cache.disabled()))
        for each in asked:
            whole.expect(each)
            reach = whole.reach_of(each)
            parts = [(path, part) for path in files for part in whole.index.outline(path).uses]
            found = [(reach.runs(each, *x), reach.may_run(each, *x)) for x in parts]
        return found

    alone = told(programs[1])
    monkeypatch.setattr(Graph, "take_in", noting)
    assert told(*programs) == alone
    assert len(entered) == len(set(entered))
    assert len({graph for graph, _ in entered}) == len(("calls", "names"))


def test_a_program_that_asks_what_configurations_set_depends_on_these(
    project: Project, lint: Callable[..., Found], judged: list[str]
) -> None:
    asks = """
        import argparse

        import numpy as np

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)

        if __name__ == "__main__":
            args = parser.parse_args()
            if args.seed is not None:
                np.random.seed(args.seed)
            np.save("a.npy", np.random.rand(3))
        """
    root = project({**FILES, "draw.py": asks})
    before = lint()
    judged.clear()
    (root / "config.yaml").write_text("seed: 3\n")
    after = lint()
    assert set(judged) == {"draw.py"}
    drawn = [each for each in before if str(each["filename"]).endswith("draw.py")]
    assert drawn
    assert [each for each in before if each not in after] == drawn


def test_what_other_processes_found_that_configurations_set_is_kept(
    project: Project, lint: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = """
        import argparse

        import numpy as np

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed_{0}", type=int)

        if __name__ == "__main__":
            args = parser.parse_args()
            if args.seed_{0} is not None:
                np.random.seed(args.seed_{0})
            np.save("a.npy", np.random.rand(3))
        """
    root = project({f"draw_{each}.py": draws.format(each) for each in range(8)})
    monkeypatch.setattr(runner, "_WORTH_A_POOL", 0)
    monkeypatch.setattr(runner.Feed, "is_at_work", lambda _: False)
    lint(".", "--jobs", "2")
    asked: list[str] = []

    def noting(_: object, *names: str) -> list[str]:
        asked.extend(names)
        return []

    monkeypatch.setattr(callgraph.Project, "_configurations_naming", noting)
    for file in sorted(root.glob("draw_*.py")):
        file.write_text(f"{file.read_text()}\n# changed\n")
        lint(str(file))
    assert asked == []


def test_judging_a_program_reads_no_file_that_it_does_not_import(
    project: Project, lint: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what is kept of it would outlast a change of that file."""
    project(FILES)
    read: set[str] = set()
    for name in ("_of", "source", "imports", "libraries", "outline"):
        real = getattr(Index, name)

        def noting(
            self: Index, path: str, real: Callable[..., object] = real, **how: bool
        ) -> object:
            read.add(path)
            return real(self, path, **how)

        monkeypatch.setattr(Index, name, noting)
    outside: set[str] = set()
    judge = Linker._judgement

    def apart(self: Linker, rule: type[Rule], program: Program) -> object:
        read.clear()
        found = judge(self, rule, program)
        outside.update(each for each in read if each not in program)
        return found

    def programs(self: Linker, *asked: Any) -> list[Program]:
        told = every(self, *asked)
        for program in told[1:]:  # the call graph is made of one program alone
            program._project._open.pop(program.path, None)
        return told[:1]

    every = Linker._programs
    monkeypatch.setattr(Linker, "_judgement", apart)
    monkeypatch.setattr(Linker, "_programs", programs)
    assert lint()
    assert {each for each in outside if each.endswith(".py")} == set()


def test_what_was_kept_of_other_files_is_not_believed(
    project: Project, lint: Callable[..., Found], judged: list[str]
) -> None:
    root = project(FILES)
    lint()
    judged.clear()
    (root / "torch.py").write_text("")  # from now on, `import torch` means this
    lint()
    assert set(judged) >= PROGRAMS
    assert lint() == lint(cache=False)
