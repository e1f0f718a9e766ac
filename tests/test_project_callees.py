"""DET203 and DET204: what functions of other files do with an order that they are given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

WORK = """
    import os

    def sizes(paths):
        return {path: os.path.getsize(path) for path in sorted(paths)}

    def convert(paths, target):
        for path in paths:
            with open(os.path.join(target, os.path.basename(path)), "w") as file:
                file.write(path)

    def first(paths):
        return read(paths[0])

    def absolute(paths):
        return [os.path.abspath(path) for path in paths]

    def other(paths):
        return first(absolute(paths))

    class Converter:
        def __init__(self, paths=()):
            self._paths = sorted(paths)

        def convert(self, paths, target="out"):
            convert(paths, target)

        def number(self, paths):
            return {path: place for place, path in enumerate(paths)}

    class Rows:
        def __init__(self, paths):
            self.paths = paths

        def __getitem__(self, place):
            return self.paths[place]
"""


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], project: Project) -> Callable[..., list[int]]:
    """The rows of a program in which something is found, beside a module `work`."""

    def run(text: str, code: str = "DET203") -> list[int]:
        project({"work.py": WORK, "main.py": text})
        main(["--no-cache", "--output-format", "json", "--select", code, "main.py"])
        return [each["location"]["row"] for each in json.loads(capsys.readouterr().out)]

    return run


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("work.sizes(paths)", False),
        ("work.convert(paths, 'out')", False),
        ("work.first(paths)", True),
        ("work.other(paths)", True),
        ("read(work.absolute(paths)[:9])", True),
        ("print(len(work.absolute(paths)))", False),
        ("work.Converter(paths)", False),
        ("work.Converter().convert(paths)", False),
        ("print(work.Converter().number(paths))", True),
        ("work.Rows(paths)", True),
        ("work.unseen(paths)", True),
        ("unseen(paths)", True),
    ],
)
def test_a_function_of_another_file_settles_what_becomes_of_the_order(
    lint: Callable[..., list[int]], call: str, found: bool
) -> None:
    text = f"import glob\nimport work\n\npaths = glob.glob('*.txt')\n{call}\n"
    assert lint(text) == [4] * found


def test_an_object_is_followed_through_a_name_and_an_attribute(
    lint: Callable[..., list[int]],
) -> None:
    text = """
        import os
        from work import Converter

        class Job:
            def __init__(self):
                self._converter = Converter()

            def run(self, folder):
                self._converter.convert(os.listdir(folder))
                self._converter.number(os.listdir(folder))
    """
    assert lint(text) == [11]


@pytest.mark.parametrize(("name", "found"), [("sizes", False), ("first", True)])
def test_the_same_of_a_set(lint: Callable[..., list[int]], name: str, found: bool) -> None:
    text = f"import work\n\ndef run(words: list[str]):\n    work.{name}(list(set(words)))\n"
    assert lint(text, "DET204") == [4] * found


LOADERS = """
    import threading
    from queue import Queue

    class Reader(threading.Thread):
        def __init__(self, rows, queue):
            super().__init__()
            self.rows, self.queue = rows, queue

        def run(self):
            for row in self.rows:
                self.queue.put(row)

    class Readers:
        def __init__(self, parts, queue):
            self.queue = queue
            self.readers = [Reader(part, self.queue) for part in parts]

    class One:
        def __init__(self, parts, queue):
            self.reader = Reader(parts, queue)
"""
TRAINS = """
    import queue
    from loaders import One, Readers

    class Trainer:
        def train(self, parts):
            rows = queue.Queue(9)
            readers = {}(parts, rows)
            self._epoch(rows=rows)

        def _epoch(self, rows):
            while True:
                row = rows.get()
                if row is None:
                    break
                self.loss(row).backward()
                self.optimizer.step()
"""


@pytest.mark.parametrize(("made", "found"), [("Readers", [13]), ("One", []), ("Unseen", [])])
def test_workers_of_another_file_fill_a_queue(
    project: Project, capsys: pytest.CaptureFixture[str], made: str, found: list[int]
) -> None:
    project({"loaders.py": LOADERS, "train.py": TRAINS.format(made)})
    main(["--no-cache", "--output-format", "json", "--select", "DET205", "."])
    assert [each["location"]["row"] for each in json.loads(capsys.readouterr().out)] == found
