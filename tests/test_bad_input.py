"""Whatever lies in a tree: a clear line, the right exit status, and the rest still linted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_cli import LEAK, detlint

from detlint.dataflow.path_conditions import Paths
from detlint.dataflow.unit import Unit
from detlint.finding import unreadable
from detlint.sources.source import Source
from detlint.syntax import parsing


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with one file that has one finding, beside which the bad input goes."""
    (tmp_path / "good.py").write_text(LEAK)
    return tmp_path


CUDNN = b"torch.backends.cudnn.benchmark = "
# (bytes of bad.py, what the line on it says)
UNREADABLE = [
    pytest.param(b"def f(:\n", "1:7: DET000 invalid syntax", id="syntax error"),
    pytest.param(
        b"import torch\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n",
        "2:1: DET000 a conflict marker of a merge is left here",
        id="merge marker",
    ),
    pytest.param(b"x = (1,\n", "1:5: DET000 '(' was never closed", id="open bracket"),
    pytest.param(
        b'import torch\nprint "x"\n',
        "2:1: DET000 Missing parentheses in call to 'print'",
        id="python 2",
    ),
    pytest.param(b"x = 1\n\0\n", "2:1: DET000 source code cannot contain null", id="null byte"),
    pytest.param(
        b"x = 1\ny = '\xff'\n", "2:6: DET000 byte 0xff is not valid utf-8", id="bad utf-8"
    ),
    pytest.param(b"# coding: klingon\n", "1:1: DET000 unknown encoding: klingon", id="cookie"),
    pytest.param(
        b"x = " + b"(" * 20_000 + b"1" + b")" * 20_000, "DET000 too many nested", id="parentheses"
    ),
    pytest.param(CUDNN + b"+".join([b"a"] * 400_000), "DET000 nested too deeply", id="many sums"),
    pytest.param(CUDNN + b"a" + b".b" * 400_000, "DET000 nested too deeply", id="many attributes"),
    pytest.param(CUDNN + b"not " * 20_000 + b"1", "DET000 nested too deeply", id="negations"),
]


@pytest.mark.parametrize(("data", "says"), UNREADABLE)
def test_what_does_not_parse_is_a_finding_and_the_rest_is_linted(
    tree: Path, data: bytes, says: str
) -> None:
    (tree / "bad.py").write_bytes(data)
    done = detlint(".", cwd=tree)
    assert done.returncode == 1
    assert "good.py:3:1: DET301" in done.stdout
    assert f"bad.py:{says}" in done.stdout or ("bad.py:1:" in done.stdout and says in done.stdout)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("chain", "depth"),
    [("+a", 2_900), ("+a", 900), (".a", 900), ("()", 900), (" and a", 900), (" if a else a", 900)],
)
def test_deep_chains_that_python_takes_do_not_kill_the_process(
    tree: Path, chain: str, depth: int
) -> None:
    (tree / "bad.py").write_text(f"{LEAK}x = a{chain * depth}\n")
    done = detlint("bad.py", cwd=tree)
    assert done.returncode == 1
    assert "DET301" in done.stdout or "DET000 nested too deeply" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory as Linux has it")
@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        pytest.param(b"x = [" + b"1, " * 17_000_000 + b"]\n", 0, "All checks passed", id="clean"),
        pytest.param(
            b"torch.backends.cudnn.benchmark = [" + b"1, " * 17_000_000 + b"]\n",
            1,
            "DET000 too large to parse: 51 MB, and the limit is 4 MB",
            id="with a trigger",
        ),
    ],
)
def test_a_50_mb_line_takes_neither_memory_nor_time(
    tmp_path: Path, line: bytes, status: int, says: str
) -> None:
    (tmp_path / "big.py").write_bytes(line)
    code = (
        "import sys; from detlint.cli import main; status = main(sys.argv[1:])\n"
        "words = open('/proc/self/status').read().split()\n"
        "print(int(words[words.index('VmHWM:') + 1]) // 1024); sys.exit(status)"
    )
    command = [sys.executable, "-c", code, "big.py", "--no-cache", "--isolated"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")
    assert says in done.stdout
    assert int(done.stdout.split()[-1]) < 200, "MB of memory"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f():\n    return (1\n", id="cut short"),
        pytest.param("<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> branch\n", id="merge conflict"),
        pytest.param("x = 1\n<<<<<<< HEAD\ny = 1\n>>>>>>> branch\n", id="merge conflict below"),
        pytest.param(f"{LEAK}\n\ndef f(x)\n    cudnn.enabled = x\n", id="colon forgotten"),
        pytest.param(f"{LEAK}x = = 1; cudnn\n", id="beside a trigger"),
    ],
)
def test_broken_files_are_noticed_where_a_rule_looks_or_where_the_damage_shows(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "bad.py").write_text(text)
    done = detlint("bad.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "DET000" in done.stdout


def test_links_out_of_the_tree_and_to_themselves_are_named_and_not_followed(tree: Path) -> None:
    outside = tree.parent / f"{tree.name}-outside"
    outside.mkdir()
    (outside / "secret.py").write_text(LEAK)
    (tree / "out.py").symlink_to(outside / "secret.py")
    (tree / "folder").symlink_to(outside)
    (tree / "loop.py").symlink_to("loop.py")
    done = detlint(".", cwd=tree)
    assert done.returncode == 1
    assert "secret" not in done.stdout
    assert "out.py" not in done.stdout
    for name in ("out.py", "folder", "loop.py"):
        assert f"warning: {name}" in done.stderr
    assert detlint("out.py", cwd=tree).returncode == 2
    assert detlint("loop.py", cwd=tree).returncode == 2


def test_fifos_and_sockets_are_not_opened(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tree / "socket.py"))
        done = detlint(".", cwd=tree)
    assert done.returncode == 1
    assert "good.py:3:1" in done.stdout
    assert "warning: pipe.py" in done.stderr
    explicit = detlint("pipe.py", cwd=tree)
    assert (explicit.returncode, "not a regular file" in explicit.stderr) == (2, True)


# Root may read and write everything, until it gives that right up.
WITHOUT_OVERRIDE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
PREFIX = WITHOUT_OVERRIDE if os.geteuid() == 0 else ()


def test_an_unreadable_file_is_a_finding(tree: Path) -> None:
    (tree / "bad.py").write_text("x = 1\n")
    (tree / "bad.py").chmod(0)
    done = detlint(".", "--no-cache", cwd=tree, prefix=PREFIX)
    assert done.returncode == 1
    assert "bad.py:1:1: DET000 cannot be read: Permission denied" in done.stdout
    assert "good.py:3:1: DET301" in done.stdout


def test_a_read_only_folder_keeps_its_files_whole_under_fix(tree: Path) -> None:
    tree.chmod(0o555)
    done = detlint(".", "--fix", "--no-cache", cwd=tree, prefix=PREFIX)
    tree.chmod(0o755)
    assert done.returncode == 2
    assert "good.py: not fixed, and left as it was: Permission denied" in done.stderr
    assert "good.py:3:1: DET301" in done.stdout
    assert (tree / "good.py").read_text() == LEAK
    assert [path.name for path in tree.iterdir()] == ["good.py"]


def test_a_file_that_vanishes_is_a_finding(tree: Path) -> None:
    code = (
        "import os, sys; from detlint import cli; from detlint.sources import discovery\n"
        "real = discovery.discover\n"
        "def discover(*arguments):\n"
        "    found = real(*arguments); os.remove('gone.py'); return found\n"
        "discovery.discover = discover; sys.exit(cli.main(['.', '--no-cache']))"
    )
    (tree / "gone.py").write_text("x = 1\n")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "gone.py:1:1: DET000 cannot be read: No such file or directory" in done.stdout
    assert "good.py:3:1: DET301" in done.stdout


def test_a_full_disk_keeps_the_file_whole(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        (disk / "good.py").write_text(LEAK)
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass
        kept = f"--cache-dir={tmp_path / 'kept'}"
        done = detlint("good.py", "--fix", kept, cwd=disk)
        assert done.returncode == 2
        assert "not fixed, and left as it was: No space left on device" in done.stderr
        assert (disk / "good.py").read_text() == LEAK
        assert sorted(path.name for path in disk.iterdir()) == ["filler", "good.py"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_ctrl_c_ends_with_130_and_leaves_files_whole(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"m{number}.py").write_text(LEAK + "def f(x):\n    return cudnn\n" * 20)
    command = [sys.executable, "-m", "detlint", ".", "--fix", "--no-cache", "--jobs", "2"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode().startswith("detlint: interrupted")
    for path in tmp_path.iterdir():
        assert path.suffix == ".py"
        assert path.read_text().count("cudnn") == 21


def _lint_and_fail(tree: Path, failing: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Lint three large files and a small one, with something else done at ``fatal.py``."""
    padding = "# " + "y" * 400_000 + "\n"
    for name in ("a.py", "fatal.py", "z.py"):
        (tree / name).write_text(LEAK + padding)
    code = (
        "import os, sys; from detlint import cli, engine; real = engine.Engine.look\n"
        "def look(self, path, data):\n"
        f"    return real(self, path, data) if path != 'fatal.py' else {failing}\n"
        "engine.Engine.look = look\n"
        "sys.exit(cli.main(['.', *sys.argv[1:]]))"
    )
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def test_a_worker_that_dies_is_named_and_the_rest_is_linted(tree: Path) -> None:
    done = _lint_and_fail(tree, "os.abort()", "--no-cache", "--jobs", "2")
    assert done.returncode == 1
    assert "fatal.py:1:1: DET000 the process that parsed it died" in done.stdout
    for name in ("a.py", "good.py", "z.py"):
        assert f"{name}:3:1: DET301" in done.stdout


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_at_which_a_rule_fails_is_named_and_the_rest_is_linted(
    tree: Path, jobs: str
) -> None:
    for _ in range(2):  # nothing of it is kept
        done = _lint_and_fail(tree, "1 / 0", "--cache-dir", "kept", "--jobs", jobs)
        assert done.returncode == 2
        assert (
            "detlint: internal error at fatal.py, of which findings may be missing: Zero"
            in done.stderr
        )
        assert "Traceback" in done.stderr
        assert "fatal.py" not in done.stdout
        for name in ("a.py", "good.py", "z.py"):
            assert f"{name}:3:1: DET301" in done.stdout


def test_a_file_of_lone_carriage_returns_is_linted(tmp_path: Path) -> None:
    text = (
        "import\ttorch\rfrom\ttorch.utils.data\timport\tDataLoader\rrows = [1]; x = rows\r"
        "torch.nn.Linear(2, 1)(torch.rand(3, 2)).sum().backward(); optimizer.step()"
    )
    (tmp_path / "train.py").write_bytes(text.encode())
    done = detlint("train.py", cwd=tmp_path)
    assert (done.returncode < 2, done.stderr) == (True, "")


def test_a_function_that_libcst_does_not_parse_is_followed_all_the_same(tree: Path) -> None:
    strings = "'a' " * 5_000
    (tree / "bad.py").write_text(
        f"{LEAK}\nimport os\nNAMES = os.listdir('.')\n\n\n"
        f"def uses(out):\n    x = {strings}\n    for name in NAMES:\n        out.append(name)\n"
    )
    done = detlint("bad.py", cwd=tree)
    assert done.returncode == 1
    assert "bad.py:3:1: DET301" in done.stdout
    assert "bad.py:6:9: DET203" in done.stdout
    assert "DET000" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "deep", ["+".join(["a"] * 20_000), "a" + ".b" * 20_000], ids=["sums", "attributes"]
)
def test_what_is_deep_and_can_be_read_hides_nothing(tree: Path, deep: str) -> None:
    (tree / "deep.py").write_text(f"{LEAK}{CUDNN.decode()}{deep}\n")
    done = detlint("deep.py", cwd=tree)
    assert (done.returncode, done.stderr) == (1, "")
    assert "deep.py:3:1: DET301" in done.stdout
    assert "DET000" not in done.stdout


def test_a_value_that_is_made_of_its_own_attribute_is_no_deep_source(tree: Path) -> None:
    (tree / "own.py").write_text(
        f"{LEAK}\n\ndef f(x):\n    ids = torch.tensor([hash((x.seed, 0))])\n"
        "    x = M(seed=x.seed, ids=ids)\n    torch.manual_seed(x.seed)\n"
    )
    done = detlint("own.py", cwd=tree)
    assert (done.returncode, done.stderr) == (1, "")
    assert "own.py:3:1: DET301" in done.stdout
    assert "DET000" not in done.stdout


def test_a_rule_that_recurses_without_end_is_an_error_of_ours(tree: Path) -> None:
    code = (
        "import sys; from detlint import cli; from detlint.rules.cudnn_benchmark import *\n"
        "def examine(self, offsets): self.examine(offsets)\n"
        "CudnnBenchmark.examine = examine\n"
        "sys.exit(cli.main(['.', '--no-cache']))"
    )
    (tree / "plain.py").write_text("import time, torch\n\ntorch.manual_seed(int(time.time()))\n")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "DET000" not in done.stdout
    assert "plain.py:3:19: DET103" in done.stdout
    told = "internal error at good.py, of which findings may be missing: RecursionError"
    assert told in done.stderr
    assert len(done.stderr) < 20_000  # a recursion makes a thousand lines


def test_an_error_of_ours_about_programs_loses_no_other_finding(tree: Path) -> None:
    code = (
        "import sys; from detlint import cli\n"
        "from detlint.rules.determinism_never_enabled import DeterminismNeverEnabled\n"
        "from detlint.rules.cudnn_benchmark import CudnnBenchmark\n"
        "def fail(*_): 1 / 0\n"
        "DeterminismNeverEnabled.judge = CudnnBenchmark.cleared = classmethod(fail)\n"
        "sys.exit(cli.main(['.', '--cache-dir', 'kept']))"
    )
    (tree / "train.py").write_text(
        "import random, torch\n\ntorch.backends.cudnn.benchmark = True\n"
        "net(x).backward(); o.step()\nsave(random.random())\n"
    )
    command = [sys.executable, "-c", code]
    for _ in range(2):  # nothing of it is kept
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "train.py:5:6: DET102" in done.stdout
        assert "train.py:3:1: DET301" in done.stdout
        assert "internal error at train.py, of which findings may be missing: Zero" in done.stderr


def test_a_return_that_asks_a_function_within_its_own_ends() -> None:
    text = (
        "def fit(rows):\n    def loss(t):\n        return 1e9\n"
        "    if loss(rows) >= loss(1.0):\n        return {}\n    return rows\n"
    )
    function = Unit(Source("a.py", text)).defined("fit")
    assert function is not None
    assert any(map(Paths(function).may_run, function.coded("return")))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the statement")
def test_what_a_newer_python_takes_is_named_and_the_rest_of_the_file_is_linted(tree: Path) -> None:
    (tree / "bad.py").write_text(
        "type Names = set[str]\n\n\ndef listed(names: set[str]):\n    return list(names)\n"
    )
    result = detlint("bad.py", "good.py", cwd=tree)
    assert "bad.py:1:6: DET000 needs a newer Python than the 3." in result.stdout
    assert "bad.py:5:17: DET204" in result.stdout
    assert "good.py" in result.stdout
    assert result.returncode == 1


_METHODS = "class Model:\n" + "    def method(self):\n        return 1\n\n" * 3


@pytest.mark.parametrize(
    ("broken", "read"),
    [
        ("def f():\n    x = (\n\n", "def f():\n    x = (\n\n"),
        ("from torch import\n", "from torch import\n"),
        (
            f"{_METHODS}    @property\n    def broken(self):\n        x = 1 +\n",
            "if 1:\n    @property\n    def broken(self):\n        x = 1 +\n",
        ),
    ],
)
def test_what_does_not_parse_is_read_alone_by_libcst_where_the_rest_does(
    broken: str, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import libcst

    texts: list[str] = []
    parse = libcst.parse_module
    monkeypatch.setattr(libcst, "parse_module", lambda text: (texts.append(text), parse(text))[1])
    source = Source("a.py", f"import torch\n{broken}{_METHODS}")
    assert parsing.problem(source) is not None
    assert texts == [read]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    x = (\n\ndef g():\n    y = )\n",  # twice broken
        'x = f"""\ndef f():\n    {1 +}\n"""\n',  # in a string
    ],
)
def test_what_does_not_stand_alone_is_read_with_the_rest(text: str) -> None:
    import libcst

    assert parsing.problem(Source("a.py", text)) is not None
    with pytest.raises(libcst.ParserSyntaxError):
        libcst.parse_module(text)


def test_modules_of_the_folder_are_not_imported(tmp_path: Path) -> None:
    for name in ("re2", "yaml", "pathspec", "rich", "tomllib", "libcst"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w').close()\n", encoding="utf-8")
    (tmp_path / "train.py").write_text("import torch\n\ntorch.rand(2)\n", encoding="utf-8")
    (tmp_path / "run.yaml").write_text("seed: 1\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("*.pt\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "detlint", ".", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert not (tmp_path / "imported").exists()


def test_what_does_not_parse_is_told_with_what_to_do() -> None:
    kept = 'leave the file out by extend-exclude = ["a.py"]'
    assert unreadable("lib/a.py", "invalid syntax", 3).advice == f"mend it there, or {kept}"
    assert unreadable("a.ipynb", "invalid syntax", 3).advice.startswith("mend the cell, or make")
    assert not unreadable("a.py", "cannot be read: Is a directory").advice


@pytest.mark.parametrize("rest", ["b" * 60, "b,  # " + "c" * 60])
def test_a_list_of_imports_that_is_cut_short_takes_no_time(tree: Path, rest: str) -> None:
    (tree / "cut.py").write_text(f"loss.backward()\noptimizer.step()\nfrom a import ({rest}")
    command = [sys.executable, "-m", "detlint", ".", "--no-cache"]
    done = subprocess.run(
        command, cwd=tree, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "cut.py:3:15: DET000 '(' was never closed" in done.stdout
    assert "good.py:3:1: DET301" in done.stdout
