"""What verify asks the linter, and how it names an operator: without running a program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from programs import write

from guard.diff import Cause, Difference, Link, Source
from guard.observe import places
from guard.observe.places import Place
from guard.observe.statements import Files
from guard.trace import Event, Header, Step
from guard.verification import program_files, suspects
from guard.verification.operators import Bisection, culprit, row_of, written_at
from guard.verification.statements import drawn_in_threads, never_written, settled
from guard.verification.texts import Text

if TYPE_CHECKING:
    from pathlib import Path


def finding(code: str, filename: str, row: int) -> dict[str, Any]:
    return {"code": code, "filename": filename, "location": {"row": row}, "message": "m"}


def at(place: Place, generators: tuple[str, ...] = ()) -> Difference:
    cause = Cause.BATCH_ORDER
    return Difference(0, 0, "training", None, None, cause, "", place=place, generators=generators)


MONOTONIC = "time.monotonic"
CODES = ("DET204", "DET10")


def test_suspects_are_ranked_by_line_then_fit_and_nearness() -> None:
    place = Place("/p/train.py", 50, "f")
    found = [
        finding("DET301", "/p/train.py", 50),
        finding("DET101", "/p/other.py", 1),
        finding("DET204", "/p/other.py", 1),
        finding("DET102", "/p/train.py", 40),
        finding("DET204", "/p/train.py", 9),
        finding("DET101", "/p/train.py", 50),
    ]
    ranked = suspects.rank(found, CODES, at(place), ["/p/train.py", "/p/other.py"])
    assert [(each.code, each.file[3:], each.line) for each in ranked] == [
        ("DET101", "train.py", 50),
        ("DET204", "train.py", 9),
        ("DET102", "train.py", 40),
        ("DET204", "other.py", 1),
        ("DET101", "other.py", 1),
    ]
    assert ranked[0].fits == "a generator without a fixed seed"


def test_what_lies_in_the_slice_comes_first_and_what_is_possible_later() -> None:
    found = [
        finding("DET204", "/p/train.py", 50) | {"confidence": "possible"},
        finding("DET101", "/p/train.py", 8),
        finding("DET101", "/p/other.py", 3) | {"confidence": "possible"},
    ]
    given = (found, CODES, at(Place("/p/train.py", 40, "f")), ["/p/train.py", "/p/other.py"])
    assert [each.line for each in suspects.rank(*given)] == [8, 50, 3]
    links = [Link("/p/other.py", 3, "x = y")]
    assert [each.line for each in suspects.rank(*given, links)] == [3, 8, 50]


def test_what_is_said_of_a_whole_program_comes_last() -> None:
    place = Place("/p/train.py", 50, "f")
    found = [finding("DET304", "/p/train.py", 50), finding("DET502", "/p/train.py", 18)]
    ranked = suspects.rank(found, ("DET304", "DET502"), at(place), ["/p/train.py"])
    assert [each.code for each in ranked] == ["DET502", "DET304"]


def test_every_cause_has_codes_that_exist() -> None:
    from detlint.rules import every_rule

    codes = [rule.code for rule in every_rule()]
    for cause in Cause:
        if cause is not Cause.ENVIRONMENT:
            for each in suspects._CODES[cause].split():
                assert any(code.startswith(f"DET{each}") for code in codes), cause
                assert suspects.meaning(f"DET{each}")[1]


def test_the_linter_is_asked_of_the_programs_own_files(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", "import data\nfrom pkg import model\n")
    data = write(tmp_path / "data.py", "names = [x for x in {'a', 'b'}]\n")
    write(tmp_path / "pkg" / "__init__.py", "")
    write(tmp_path / "pkg" / "model.py", "from . import layers\nimport torch\n")
    write(tmp_path / "pkg" / "layers.py", "def broken(:\n")
    write(tmp_path / "unrelated.py", "names = [x for x in {'a', 'b'}]\n")
    files = program_files.program_files(str(script), module=False)
    names = {each[len(str(tmp_path)) + 1 :] for each in files}
    assert names == {"train.py", "data.py", "pkg/__init__.py", "pkg/model.py", "pkg/layers.py"}
    difference = Difference(0, 0, "training", None, None, Cause.BATCH_ORDER, "")
    first, *_ = suspects.suspects(difference, files)
    assert (first.code, first.file, first.line) == ("DET204", str(data), 1)


def test_a_module_is_found_with_its_main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "pkg" / "__init__.py", "")
    main = write(tmp_path / "pkg" / "__main__.py", "from pkg.work import f\n")
    work = write(tmp_path / "pkg" / "work.py", "")
    assert program_files.program_files("pkg", module=True)[0] == str(main)
    assert str(work) in program_files.program_files("pkg", module=True)
    assert program_files.program_files("nothing", module=True) == ()


@pytest.mark.parametrize(
    ("name", "device", "row"),
    [
        ("aten._index_put_impl_.default", "cpu", "torch.index_put"),
        ("aten.index_add_.default", "cuda", "torch.index_add"),
        ("aten.index_add_.default", "cpu", None),
        ("aten.upsample_bicubic2d_backward.grad_input", "cuda", "bicubic"),
        ("aten.add.Tensor", "cuda", None),
    ],
)
def test_an_operator_is_found_in_the_tables(name: str, device: str, row: str | None) -> None:
    found = row_of(name, device)
    assert (found is None) is (row is None)
    assert found is None or (row or "") in found.name


def test_a_backward_of_indexing_adds() -> None:
    found = row_of("aten._index_put_impl_.default", "cpu", backward=True)
    assert found is not None
    assert found.name == "torch.index_put(accumulate=True)"
    assert row_of("aten.index_put.default", "cuda", backward=True) is None  # it sorts there


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("grid.index_put_(\n    (at,),\n    one,\n    accumulate=True,\n)", "(accumulate=True)"),
        ("grid.index_put_((at,), one)", ""),
    ],
)
def test_what_is_written_decides_which_row_of_an_operator_is_meant(
    line: str, name: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "train.py", f"import torch\n{line}\n")
    said = written_at(Place(str(path), 2, "f"))
    found = row_of("aten.index_put_.default", "cpu", said)
    assert found is not None
    assert found.name == f"torch.index_put{name}"
    assert written_at(None) == written_at(Place(str(tmp_path / "none.py"), 1, "")) == ""


def step(*results: tuple[str, bytes, bytes]) -> Step:
    events = (
        Event("operator", name, 0, "", None, digest, inputs=inputs)
        for name, inputs, digest in results
    )
    return Step(0, "training", tuple(events), b"")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([("aten.mm.default", b"a", b"b")], [("aten.mm.default", b"a", b"c")], Cause.KERNEL),
        ([("aten.sum.default", b"a", b"b")], [("aten.sum.default", b"x", b"c")],
         Cause.OUTSIDE),
        ([("aten.zero_.default", b"a", b"b")], [("aten.zero_.default", b"x", b"b")], None),
        ([("aten.empty.default", b"a", b"b")], [("aten.empty.default", b"a", b"c")], None),
        ([("aten.bernoulli_.float", b"a", b"b")], [("aten.bernoulli_.float", b"a", b"c")],
         Cause.GENERATOR),
        ([("aten.bernoulli_.float", b"a", b"b")], [("aten.bernoulli_.float", b"x", b"c")],
         Cause.GENERATOR),
        ([("aten.bernoulli_.Tensor", b"a", b"b")], [("aten.bernoulli_.Tensor", b"x", b"c")],
         Cause.OUTSIDE),
        ([("aten.mm.default", b"a", b"b")], [("aten.bmm.default", b"a", b"c")],
         Cause.CONTROL_FLOW),
        ([("c10d.allreduce_.default", b"a", b"b"), ("aten.div_.Tensor", b"b", b"d")],
         [("c10d.allreduce_.default", b"a", b"c"), ("aten.div_.Tensor", b"c", b"e")],
         Cause.OUTSIDE),
        ([("aten.neg.default", b"d", b"e"), ("aten.mm.default", b"a", b"b")],
         [("aten.mm.default", b"a", b"c")], Cause.KERNEL),
    ],
    ids=["result", "input", "overwritten", "allocated", "drawn", "drawn over other", "drawn by",
         "other operators", "from another rank",
         "a result after others"],
)  # fmt: skip
def test_what_an_operator_shows(
    first: list[tuple[str, bytes, bytes]],
    second: list[tuple[str, bytes, bytes]],
    expected: Cause | None,
) -> None:
    found = culprit(step(*first), step(*second), "cpu")
    assert (found.cause if found else None) is expected


def test_another_number_is_told() -> None:
    runs = [
        Step(0, "training", (Event("operator", "aten.mul.Tensor", 0, "", None, digest, number,
                                   inputs=digest),), b"")
        for digest, number in ((b"a", 1.5), (b"b", 2.5))
    ]  # fmt: skip
    found = culprit(*runs, "cpu")
    assert found is not None
    assert (found.cause, found.is_number) == (Cause.OUTSIDE, True)
    assert found.why == "aten.mul.Tensor was given another number: 1.5 and 2.5."


SUM = ("aten.sum.default", b"a", b"b")
OTHER_SUM = ("aten.sum.default", b"x", b"c")


@pytest.mark.parametrize(
    ("before", "said", "cause", "expected"),
    [
        ((), ("none", ""), Cause.KERNEL, Cause.OUTSIDE),
        ((), ("memory", ""), Cause.KERNEL, Cause.UNWRITTEN_MEMORY),
        ((), ("hashes", "torch.empty(3)"), Cause.KERNEL, Cause.OUTSIDE),
        ((), ("", "torch.empty(3)"), Cause.KERNEL, Cause.UNWRITTEN_MEMORY),
        ((), ("", "torch.Tensor(3)"), Cause.KERNEL, Cause.UNWRITTEN_MEMORY),
        ((), ("", "torch.Tensor([3])"), Cause.KERNEL, Cause.OUTSIDE),
        (("aten.empty.memory_format",), ("", ""), Cause.KERNEL, Cause.UNWRITTEN_MEMORY),
        (("aten.empty.memory_format",), ("none", ""), Cause.KERNEL, Cause.OUTSIDE),
        (("aten.empty_like.default", "aten.zero_.default"), ("", ""), Cause.KERNEL, Cause.OUTSIDE),
        (("aten.empty.memory_format", "aten.mm.default", "c10d.recv_.default"), ("", ""),
         Cause.KERNEL, Cause.OUTSIDE),
        (("aten.empty.memory_format", "aten.mm.default", "c10d.send.default"), ("", ""),
         Cause.KERNEL, Cause.UNWRITTEN_MEMORY),
        ((), ("", "torch.empty(3)"), Cause.GENERATOR, Cause.GENERATOR),
    ],
    ids=["nothing", "circumstance", "another", "text", "Tensor", "list", "operator", "same",
         "filled", "received", "sent", "generator"],
)  # fmt: skip
def test_unwritten_memory_is_told_where_something_speaks_for_it(
    before: tuple[str, ...], said: tuple[str, str], cause: Cause, expected: Cause, tmp_path: Path
) -> None:
    ran = [(name, b"", b"") for name in before]
    shown = Bisection(culprit(step(*ran, SUM), step(*ran, OTHER_SUM), "cpu"))
    text = Text([str(write(tmp_path / "train.py", said[1]))])
    difference = Difference(0, 0, "training", None, None, cause, "")
    found = settled(shown, difference, said[0], text)
    assert found is not None
    assert found.cause is expected
    found = settled(shown, difference, said[0], text, Source.OBJECT_ADDRESS)
    assert found is not None
    assert (found.cause is Cause.UNWRITTEN_MEMORY) == (said[0] == "memory")


def test_operators_in_another_order_read_no_unwritten_memory() -> None:
    allocated, added = ("aten.empty.memory_format", b"", b""), ("aten.add.Tensor", b"b", b"d")
    for orders, is_read in (((SUM, OTHER_SUM), False), ((SUM, SUM), True)):
        ran = step(allocated, *orders), step(allocated, OTHER_SUM, SUM if not is_read else added)
        found = culprit(*ran, "cpu")
        assert found is not None
        assert (found.cause, found.allocates) == (Cause.OUTSIDE, is_read)


def test_a_loader_that_shuffles_is_no_suspect_where_torch_is_seeded(tmp_path: Path) -> None:
    loader = "import torch\ntorch.utils.data.DataLoader(data, shuffle=True)\n"
    difference = Difference(0, 0, "training", None, None, Cause.BATCH_ORDER, "")
    codes = []
    for seeding in ("", "torch.manual_seed(1)\n"):
        path = str(write(tmp_path / "train.py", loader + seeding))
        codes.append([each.code for each in suspects.suspects(difference, [path])])
    assert "DET202" in codes[0]
    assert "DET202" not in codes[1]


def test_what_happens_on_a_gpu_alone_is_no_suspect_without_one(tmp_path: Path) -> None:
    text = "import torch\nnet = torch.nn.LSTM(2, 2).cuda()\ntorch.backends.cudnn.benchmark = True\n"
    path = str(write(tmp_path / "train.py", text + "net(torch.ones(1, 2)).backward()\n"))
    difference = Difference(0, 0, "training", None, None, Cause.KERNEL, "")
    for has_gpu in (True, False):
        found = suspects.suspects(difference, [path], has_gpu=has_gpu)
        assert ("DET301" in {each.code for each in found}) == has_gpu


def test_what_an_operator_does_on_a_gpu_alone_is_no_suspect_without_one(tmp_path: Path) -> None:
    text = "import torch\nx = torch.rand(2**20, requires_grad=True)\nx.cumsum(0).sum().backward()\n"
    path = str(write(tmp_path / "train.py", text))
    difference = Difference(0, 0, "training", None, None, Cause.KERNEL, "")
    for has_gpu in (True, False):
        found = suspects.suspects(difference, [path], has_gpu=has_gpu)
        assert ("DET502" in {each.code for each in found}) == has_gpu


@pytest.mark.parametrize(
    ("items", "has_gpu"),
    [
        ({}, True),
        ({"torch: torch": "2.13"}, False),
        ({"torch: torch": "2.13", "gpu: cuda": "12.8"}, False),
        ({"gpu: cuda": "12.8", "gpu: devices": "1 x H100"}, True),
        ({"gpu: cuda": "rocm 7.1"}, True),
    ],
)
def test_a_gpu_is_one_that_is_there_or_not_known(items: dict[str, str], *, has_gpu: bool) -> None:
    assert Header(environment={"items": items}).has_gpu == has_gpu


ADDED = """\
def add(rows):
    global total
    total += rows
for _ in range(2): threading.Thread(target=add)
"""


def test_what_threads_made_is_no_unwritten_memory(tmp_path: Path) -> None:
    allocated = ("aten.empty.memory_format", b"", b"")
    shown = Bisection(culprit(step(allocated, SUM), step(allocated, OTHER_SUM), "cpu"))
    text = Text([str(write(tmp_path / "train.py", ADDED))])
    difference = Difference(0, 0, "training", None, None, Cause.KERNEL, "")
    assert settled(shown, difference, "none", text) is None
    found = settled(shown, difference, "memory", text)
    assert found is not None
    assert found.cause is Cause.UNWRITTEN_MEMORY


@pytest.mark.parametrize(
    ("generators", "codes"),
    [
        ((), ["DET202", "DET101", "DET102", "DET102"]),
        (("numpy",), ["DET102", "DET202", "DET101", "DET102"]),
        (("torch.cpu",), ["DET202", "DET101", "DET102", "DET102"]),
        (("python", "made at train.py:4"), ["DET202", "DET101", "DET102", "DET102"]),
    ],
)
def test_a_generator_that_is_known_goes_before_others(
    generators: tuple[str, ...], codes: list[str]
) -> None:
    place = Place("/p/train.py", 50, "f")
    numpy, python = finding("DET102", "/p/train.py", 40), finding("DET102", "/p/train.py", 49)
    numpy["message"] = "`np.random.rand()` draws from NumPy's global generator"
    python["message"] = "`random.random()` draws from Python's global generator"
    found = [
        numpy,
        finding("DET202", "/p/train.py", 50),
        finding("DET101", "/p/train.py", 49),
        python,
    ]
    codes_of = ("DET101", "DET102", "DET202")
    ranked = suspects.rank(found, codes_of, at(place, generators), ["/p/train.py"])
    assert [each.code for each in ranked] == codes
    assert "numpy" not in generators or ranked[0].line == 40


def test_a_result_that_differs_while_a_thread_draws_is_of_a_generator(tmp_path: Path) -> None:
    imports = "import random, threading, torch\n"
    thread = f"{imports}def f():\n    x = torch.randn(3)\nthreading.Thread(target=f)\n"
    event = Event("output", "2", 0, "", None, b"")
    difference = Difference(0, 0, "training", event, None, Cause.KERNEL, "It differs.")
    jitter = thread.replace("torch.randn(3)", "random.random()")
    told = ((jitter, Cause.KERNEL), (ADDED, Cause.KERNEL), (thread, Cause.GENERATOR))
    for text, cause in told:
        read = Text([str(write(tmp_path / "train.py", text))])
        assert drawn_in_threads(difference, read).cause is cause
    gradient = replace(difference, first=Event("gradient", "2", 0, "", None, b""))
    for other in (replace(difference, cause=Cause.OUTSIDE), gradient):
        assert drawn_in_threads(other, read) is other


@pytest.mark.parametrize(
    ("cause", "circumstance", "text", "told"),
    [
        (Cause.BATCH_CONTENT, "memory", "x = np.empty(3)\n", Cause.UNWRITTEN_MEMORY),
        (Cause.INITIALISATION, "memory", "x = torch.empty(3)\n", Cause.UNWRITTEN_MEMORY),
        (Cause.BATCH_CONTENT, "memory", "x = np.zeros(3)\n", Cause.BATCH_CONTENT),
        (Cause.BATCH_CONTENT, "none", "x = np.empty(3)\n", Cause.BATCH_CONTENT),
        (Cause.BATCH_ORDER, "memory", "x = np.empty(3)\n", Cause.BATCH_ORDER),
    ],
)
def test_what_unwritten_memory_alone_makes_differ_is_told_as_such(
    cause: Cause, circumstance: str, text: str, told: Cause, tmp_path: Path
) -> None:
    read = Text([str(write(tmp_path / "train.py", text))])
    difference = Difference(0, 1, "training", None, None, cause, "It differs.")
    found = never_written(difference, circumstance, read)
    assert found.cause is told
    assert found.why.startswith("It differs.")
    assert ("allocates" in found.why) == (found.cause is not cause)


def test_what_begins_alike_in_each_run_is_no_finding_by_which_runs_part(tmp_path: Path) -> None:
    text = "import random, torch\nalike = torch.Generator()\nother = random.Random()\n"
    text += "print(torch.rand(3, generator=alike), other.random())\n"
    path = str(write(tmp_path / "train.py", text))
    assert [each["location"]["row"] for each in suspects.findings([path], ["DET101"])] == [3]


BY_DEFAULT = """\
import random, time
class Memo:
    def __init__(self, room, now=time.monotonic, make=random.Random):
        self.now = now
        self.source = make()
        self.made = make(room)
        self.rows = list
    def old(self, born, keep=len):
        a = self.now() - born
        return a, keep(self.rows()), self.source.random()
"""


def test_a_function_that_a_field_of_a_class_holds_is_known_by_its_own_name(tmp_path: Path) -> None:
    """Not where the class has a method of that name, or the field is only declared."""
    program = tmp_path / "pace.py"
    program.write_text(
        """\
import time
from typing import Callable
class Pace:
    clock: Callable[[], float] = time.monotonic
    plain = time.monotonic
    given: Callable[[], float]
    own = time.monotonic
    def own(self): return 1
    def lap(self):
        return [
            self.clock(),
            self.plain(),
            self.given(),
            self.own(),
        ]
""",
        encoding="utf-8",
    )
    known = {(11, "self.clock"): MONOTONIC, (12, "self.plain"): MONOTONIC}
    assert Text([str(program)]).called == {str(program): known}


def test_a_function_that_is_called_by_default_is_known_by_its_own_name(tmp_path: Path) -> None:
    """Not where it is given something: of a generator that may be its seed."""
    program = tmp_path / "memo.py"
    program.write_text(BY_DEFAULT, encoding="utf-8")
    text = Text([str(program)])
    kept = {(9, "self.now"): MONOTONIC, (10, "self.rows"): "list"}
    assert text.called == {str(program): {(5, "make"): "random.Random", **kept}}
    calls = {line: each.calls for line, each in Files(text.called).of(str(program)).items()}
    assert calls[5] == ("random.Random",)
    assert calls[6] == ("make",)
    assert calls[9] == (MONOTONIC,)
    assert Files().of(str(program))[9].calls == ("self.now",)


def test_what_is_installed_beside_the_program_is_a_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by ``pip install --target``, also into the program's own folder."""
    script = write(tmp_path / "train.py", "import lib, single, own")
    write(tmp_path / "lib" / "__init__.py", "")
    write(tmp_path / "single.py", "")
    own = write(tmp_path / "own.py", "")
    record = "lib/__init__.py,sha256=a,0\nsingle.py,,\nlib-1.dist-info/RECORD,,\n"
    write(tmp_path / "lib-1.dist-info" / "RECORD", record)
    monkeypatch.syspath_prepend(tmp_path)
    files = program_files.program_files(str(script), module=False)
    assert files == (str(script), str(own))
    named = {each: places.is_own(str(tmp_path / each)) for each in ("lib/a.py", "single.py")}
    assert named == {"lib/a.py": False, "single.py": False}
    assert places.is_own(str(script))
    assert places.is_own(str(own))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (Source.LISTING, "files that share it, as of one name in two folders"),
        (Source.THREAD_ORDER, "one that is drawn as it comes is another one in each run"),
        (Source.KERNEL, "raises where torch has no such kernel"),
    ],
)
def test_what_to_do_holds_also_where_it_has_been_tried(source: Source, says: str) -> None:
    assert says in suspects.REMEDIES[source]
