"""The cache gives back what it was given, for the same content, and otherwise nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main
from detlint.cli.parts import _files
from detlint.finding import Edit, Finding
from detlint.sources import cache as module
from detlint.sources.cache import Cache, content_digest
from detlint.sources.sealed import write_sealed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EDITS = (Edit(0, 1, "é\udcff"), Edit(3, 3, ""))
PLACE = (1, 2, 3, 4, "DET301", "cudnn-benchmark")
LAST_WEEK = time.time() - 7 * 86_400


class Project:
    """A folder with a file and a cache, and runs over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.directory = folder / ".detlint_cache"
        self.file = folder / "a.py"
        self.write("x = 1\n")

    def write(self, text: str, when: float = LAST_WEEK) -> None:
        self.file.write_text(text)
        os.utime(self.file, (when, when))

    def findings(self) -> list[Finding]:
        return [
            Finding(str(self.file), *PLACE, "message", "advice", EDITS, safe=False, cell=3),
            Finding(str(self.file), *PLACE, "other"),
        ]

    def open(self, key: str = "key") -> Cache:
        return Cache.open(str(self.directory), str(self.folder), key)

    def run(self, *found: Finding) -> Cache:
        """Lint without a cache, and save the result."""
        cache = self.open()
        digest = content_digest(self.file.read_bytes())
        cache.store(str(self.file), self.file.stat(), digest, found)
        cache.save()
        return cache

    @property
    def saved(self) -> Path:
        (path,) = self.directory.glob("*.json")
        return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    # A test cannot set a file's ctime, so the run that stores takes place in an hour.
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3600 * 10**9)
    return Project(tmp_path)


def test_an_unchanged_file_needs_no_reading(project: Project) -> None:
    project.run(*project.findings())
    found = project.open().lookup(str(project.file), project.file.stat())
    assert found == project.findings()
    assert found is not None
    assert isinstance(found[0].edits[0], Edit)


def test_a_clean_file_has_no_findings_which_is_not_unknown(project: Project) -> None:
    project.run()
    cache = project.open()
    assert cache.lookup(str(project.file), project.file.stat()) == []
    assert cache.lookup(str(project.folder / "b.py"), project.file.stat()) is None
    assert cache.digest(str(project.folder / "b.py")) is None


def test_a_path_is_the_same_however_it_is_written(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.run(*project.findings())
    monkeypatch.chdir(project.folder)
    for path in ("a.py", "./a.py", f"../{project.folder.name}/a.py"):
        found = project.open().lookup(path, project.file.stat())
        assert found == [each._replace(path=path) for each in project.findings()]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.write_text("y = 1\n"), id="content of the same size"),
        pytest.param(lambda path: path.write_text("x = 1\n\n"), id="another size"),
        pytest.param(lambda path: os.utime(path, (1, 1)), id="another time"),
        pytest.param(lambda path: path.chmod(0o600), id="another ctime"),
    ],
)
def test_a_changed_stat_asks_for_the_content(project: Project, change: object) -> None:
    project.run(*project.findings())
    before = content_digest(project.file.read_bytes())
    time.sleep(0.02)  # the kernel's clock ticks a hundred times a second
    assert callable(change)
    change(project.file)
    cache = project.open()
    assert cache.lookup(str(project.file), project.file.stat()) is None
    assert cache.digest(str(project.file)) == before
    assert cache.findings(str(project.file)) == project.findings()


def test_a_replaced_file_with_the_same_size_and_time_is_read(project: Project) -> None:
    project.run()
    other = project.folder / "b.py"
    other.write_text("y = 1\n")
    os.utime(other, (LAST_WEEK, LAST_WEEK))
    other.replace(project.file)
    assert project.open().lookup(str(project.file), project.file.stat()) is None


def test_a_file_changed_just_before_the_run_is_read_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    project.write("x = 1\n", when=time.time())
    project.run(*project.findings())
    cache = project.open()
    assert cache.lookup(str(project.file), project.file.stat()) is None
    assert cache.digest(str(project.file)) == content_digest(b"x = 1\n")
    assert cache.findings(str(project.file)) == project.findings()


def test_another_key_finds_nothing_and_takes_over(project: Project) -> None:
    project.run()
    other = project.open("other key")
    assert other.lookup(str(project.file), project.file.stat()) is None
    other.store(str(project.file), project.file.stat(), "digest", project.findings())
    other.save()
    assert project.open().lookup(str(project.file), project.file.stat()) is None
    assert project.open("other key").digest(str(project.file)) == "digest"


def test_another_root_with_the_same_file_name_finds_nothing(project: Project) -> None:
    project.run()
    elsewhere = Cache.open(str(project.directory), str(project.folder / "other"), "key")
    elsewhere.store(str(project.file), project.file.stat(), "digest", [])
    mine = project.saved
    elsewhere.save()
    (other,) = set(project.directory.glob("*.json")) - {mine}
    mine.replace(other)
    elsewhere = Cache.open(str(project.directory), str(project.folder / "other"), "key")
    assert elsewhere.digest(str(project.file)) is None


def test_a_torn_file_is_an_empty_cache(project: Project) -> None:
    project.run(*project.findings())
    data = project.saved.read_bytes()
    assert json.loads(data)
    for length in range(len(data)):
        project.saved.write_bytes(data[:length])
        cache = project.open()
        assert cache.lookup(str(project.file), project.file.stat()) is None, length
        assert cache.digest(str(project.file)) is None, length


def test_a_damaged_file_is_an_empty_cache(project: Project) -> None:
    project.run(*project.findings())
    data = project.saved.read_bytes()
    for position in range(len(data)):
        for byte in {*b'"9'} - {data[position]}:
            project.saved.write_bytes(data[:position] + bytes([byte]) + data[position + 1 :])
            cache = project.open()
            assert cache.lookup(str(project.file), project.file.stat()) is None, position
            assert cache.digest(str(project.file)) is None, position


@pytest.mark.parametrize("name", ["findings", "rules", "facts"])
def test_findings_are_those_of_a_cold_run_whatever_byte_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DETLINT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "data.py").write_text(
        "import os\n\ndef names():\n    found = []\n    for name in os.listdir('d'):\n"
        "        found.append(name)\n    return found\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom data import names\n\ntorch.backends.cudnn.benchmark = True\n"
        "few = names()[:8]\n"
    )
    for file in tmp_path.glob("*.py"):
        os.utime(file, (LAST_WEEK, LAST_WEEK))

    def run() -> str:
        assert main([".", "--jobs", "1"]) == 1
        return capsys.readouterr().out

    cold = run()
    assert [line.split()[1] for line in cold.splitlines()[:-1]] == ["DET203", "DET301"]
    (rules,) = (tmp_path / "cache").glob("rules.json")
    (findings,) = set((tmp_path / "cache").glob("*.json")) - {rules}
    (facts,) = (tmp_path / "cache").glob("*.facts")
    damaged = {"rules": rules, "findings": findings, "facts": facts}[name]
    data = damaged.read_bytes()
    body = data.find(b"\n") + 1  # the header before it is compared as a whole
    for position in range(body, len(data), max(1, (len(data) - body) // 150)):
        for flipped in (1, 32):
            byte = bytes([data[position] ^ flipped])
            damaged.write_bytes(data[:position] + byte + data[position + 1 :])
            if damaged is not findings:
                findings.unlink(missing_ok=True)  # so that the others are asked
            assert run() == cold, (position, flipped)


GARBAGE = [
    pytest.param("null", id="null"),
    pytest.param("[]", id="a list"),
    pytest.param('{"FILE": null}', id="an entry of null"),
    pytest.param('{"FILE": 5}', id="an entry that is a number"),
    pytest.param('{"FILE": "a b"}', id="an entry without its signature"),
    pytest.param('{"FILE": []}', id="an empty entry"),
    pytest.param('{"FILE": ["a 1 b"]}', id="an entry without its findings"),
    pytest.param('{"FILE": ["a 1 b", 5]}', id="findings that are a number"),
    pytest.param('{"FILE": ["a 1 b", [[1, 2]]]}', id="a finding that is short"),
    pytest.param('{"FILE": {"a": 1}}', id="an entry that is an object"),
    pytest.param("[" * 100_000, id="brackets without end"),
]


@pytest.mark.parametrize("entries", GARBAGE)
def test_garbage_is_an_empty_cache_and_is_replaced(project: Project, entries: str) -> None:
    project.run()
    header, _, _ = project.saved.read_bytes().partition(b"\n")
    text = entries.replace("FILE", str(project.file))
    write_sealed(str(project.saved), header + b"\n", b'"files": %b}' % text.encode())
    cache = project.open()
    assert cache.lookup(str(project.file), project.file.stat()) is None
    assert cache.digest(str(project.file)) is None
    project.run(*project.findings())
    assert project.open().lookup(str(project.file), project.file.stat()) == project.findings()


@pytest.mark.parametrize("data", [b"", b"\x80\x04K\x01.", b"\xff" * 100, b"{}"])
def test_a_foreign_file_is_an_empty_cache_and_is_replaced(project: Project, data: bytes) -> None:
    project.run()
    project.saved.write_bytes(data)
    assert project.open().digest(str(project.file)) is None
    project.run()
    assert project.open().lookup(str(project.file), project.file.stat()) == []


def test_facts_of_a_content_are_kept_beside_those_of_other_files(project: Project) -> None:
    other = project.folder / "b.py"
    other.write_text("y\n")
    for file in (project.file, other):  # a run each, which asks for nothing of the other
        cache = project.open()
        cache.store_facts(str(file), file.stat(), file.name, {"imports": [file.name]})
        cache.save()
    cache = project.open()
    for file in (project.file, other):
        assert cache.facts(str(file)) == {"imports": [file.name]}
        assert cache.facts_of(str(file), "another") is None


def test_a_damaged_row_is_not_there_and_costs_no_other(project: Project) -> None:
    other = project.folder / "b.py"
    other.write_text("y\n")
    cache = project.open()
    for file in (project.file, other):
        cache.store_facts(str(file), file.stat(), file.name, {"imports": [file.name]})
    cache.save()
    (facts,) = project.directory.glob("*.facts")
    facts.write_bytes(facts.read_bytes().replace(b'["a.py"]', b'["c.py"]'))
    for _ in range(2):  # as it was written, and copied beside a row that is new
        cache = project.open()
        assert cache.facts(str(project.file)) is None
        assert cache.facts(str(other)) == {"imports": ["b.py"]}
        cache.store_facts(str(project.folder / "d.py"), other.stat(), "d", {})
        cache.save()


def test_facts_are_dropped_once_a_file_holds_something_else(project: Project) -> None:
    cache = project.open()
    cache.store_facts(str(project.file), project.file.stat(), "1", {"imports": []})
    cache.save()
    cache.store(str(project.file), project.file.stat(), "2", [])
    cache.store_facts(str(project.folder / "b.py"), project.file.stat(), "3", {})
    cache.save()
    cache = project.open()
    assert cache.facts(str(project.file)) is None
    assert cache.facts_of(str(project.file), "1") is None


def test_facts_leave_what_was_found_as_it_was(project: Project) -> None:
    project.run(*project.findings())
    cache = project.open()
    digest = cache.digest(str(project.file))
    assert digest is not None
    cache.store_facts(str(project.file), project.file.stat(), digest, {"runs": True})
    cache.save()
    assert project.open().lookup(str(project.file), project.file.stat()) == project.findings()
    assert project.open().runs(str(project.file))


def test_a_run_in_which_nothing_changed_reads_no_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DETLINT_CACHE_DIR", str(tmp_path / "cache"))
    text = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
    (tmp_path / "train.py").write_text(f"{text}print(torch.rand(3))\n")
    os.utime(tmp_path / "train.py", (LAST_WEEK, LAST_WEEK))
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3600 * 10**9)
    assert main([".", "--jobs", "1"]) == 1
    cold = capsys.readouterr().out
    read: list[str] = []
    monkeypatch.setattr(module, "read_rows", lambda file, _: read.append(file) or {})
    assert main([".", "--jobs", "1"]) == 1
    assert capsys.readouterr().out == cold
    assert not read
    (tmp_path / "train.py").write_text(f"{text}print(torch.rand(4))\n")
    assert main([".", "--jobs", "1"]) == 1
    assert read


def test_a_run_without_news_writes_nothing(project: Project) -> None:
    project.run(*project.findings())
    before = project.saved.stat()
    project.run(*project.findings())
    assert (project.saved.stat().st_ino, project.saved.stat().st_mtime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
    )


def test_two_runs_that_overlap_keep_both_results(project: Project) -> None:
    other = project.folder / "b.py"
    other.write_text("y\n")
    first, second = project.open(), project.open()
    first.store(str(project.file), project.file.stat(), "1", project.findings())
    second.store(str(other), other.stat(), "2", [])
    first.save()
    second.save()
    assert project.open().lookup(str(project.file), project.file.stat()) == project.findings()
    assert project.open().digest(str(other)) == "2"


def test_what_was_read_is_read_again_only_where_another_run_has_saved(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.run(*project.findings())
    read: list[str] = []
    first, second = project.open(), project.open()
    plain = module.read_sealed
    monkeypatch.setattr(module, "read_sealed", lambda *told: read.append(told[0]) or plain(*told))
    for each, times in ((first, 0), (second, 1)):
        each.store(str(project.folder / f"{times}.py"), project.file.stat(), "1", [])
        each.save()
        assert len(read) == times
    assert project.open().digest(str(project.folder / "0.py")) == "1"
    assert project.open().lookup(str(project.file), project.file.stat()) == project.findings()


def test_processes_that_save_at_once_leave_a_whole_file(project: Project) -> None:
    script = textwrap.dedent("""
        import os, sys
        from detlint.sources.cache import Cache
        directory, root, name = sys.argv[1:]
        for number in range(60):
            cache = Cache.open(directory, root, "key")
            for each in range(50):
                cache.store(f"/{name}/{number}/{each}", os.stat(root), "digest", [])
            cache.save()
        """)
    command = [sys.executable, "-c", script, str(project.directory), str(project.folder)]
    runs = [subprocess.Popen([*command, name]) for name in "ab"]
    seen = 0
    while any(run.poll() is None for run in runs):
        for path in project.directory.glob("*.json"):
            seen += json.loads(path.read_bytes())["files"] != {}
    assert [run.wait() for run in runs] == [0, 0]
    assert seen
    assert project.open().digest("/a/59/0") or project.open().digest("/b/59/0")
    names = {".gitignore", "CACHEDIR.TAG", project.saved.name}
    assert set(os.listdir(project.directory)) == names


def test_a_new_folder_is_marked_for_git_and_backups(project: Project) -> None:
    project.run()
    assert (project.directory / ".gitignore").read_text() == "*\n"
    tag = (project.directory / "CACHEDIR.TAG").read_text()
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_a_folder_that_exists_is_not_marked(project: Project) -> None:
    project.directory.mkdir()
    project.run()
    assert os.listdir(project.directory) == [project.saved.name]


@pytest.fixture
def sealed(project: Project) -> Iterator[None]:
    """A cache folder in which nobody but root may write, and not root."""
    project.directory.mkdir()
    project.directory.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        for folder in (project.folder, *project.folder.parents[:3]):  # a worker has one more
            folder.chmod(0o755)
        os.seteuid(65534)
    yield
    if root:
        os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="modes of folders are POSIX")
@pytest.mark.usefixtures("sealed")
def test_a_folder_that_cannot_be_written_is_no_error(project: Project) -> None:
    assert project.run().digest(str(project.file))
    assert os.listdir(project.directory) == []


def test_a_folder_that_cannot_be_made_is_no_error(project: Project) -> None:
    project.directory.write_text("a file")
    project.run()
    assert project.directory.read_text() == "a file"


def test_files_not_seen_for_a_month_are_forgotten(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project.folder / "b.py"
    other.write_text("y\n")
    project.run(*project.findings())
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 20 * 86_400 * 10**9)
    cache = project.open()
    assert cache.lookup(str(project.file), project.file.stat()) == project.findings()
    cache.store(str(other), other.stat(), "digest", [])
    cache.save()
    monkeypatch.setattr(time, "time_ns", lambda: now + 45 * 86_400 * 10**9)
    cache = project.open()
    assert cache.lookup(str(project.file), project.file.stat()) == project.findings()
    cache.save()
    monkeypatch.setattr(time, "time_ns", lambda: now + 60 * 86_400 * 10**9)
    cache = project.open()
    cache.store(str(project.folder / "c.py"), other.stat(), "digest", [])
    cache.save()
    assert sorted(
        os.path.basename(path) for path in json.loads(project.saved.read_bytes())["files"]
    ) == [
        "a.py",
        "c.py",
    ]


def test_a_disabled_cache_knows_and_keeps_nothing(project: Project) -> None:
    cache = Cache.disabled()
    cache.store(str(project.file), project.file.stat(), "digest", [])
    cache.save()
    assert cache.lookup(str(project.file), project.file.stat()) is None
    assert cache.digest(str(project.file)) is None
    assert os.listdir(project.folder) == ["a.py"]


def test_the_folder_is_the_given_one_or_the_environments_or_the_users(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(directory: Path | None) -> list[str]:
        cache = Cache.open(str(directory) if directory else None, str(project.folder), "key")
        cache.store(str(project.file), project.file.stat(), "digest", [])
        cache.save()
        return sorted(
            str(p.parent.relative_to(project.folder)) for p in project.folder.rglob("*.json")
        )

    monkeypatch.delenv("DETLINT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.folder / "user"))
    if sys.platform == "linux":
        assert made(None) == ["user/detlint"]
        shutil.rmtree(project.folder / "user")
    monkeypatch.setenv("DETLINT_CACHE_DIR", str(project.folder / "environment"))
    assert made(None) == ["environment"]
    assert made(project.folder / "given") == ["environment", "given"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs itself decides")
@pytest.mark.parametrize("base", [None, "", "/somewhere"])
def test_the_users_folder_is_what_platformdirs_says(
    base: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if base is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert module._user_folder() == platformdirs.user_cache_dir("detlint", appauthor=False)


def test_a_digest_tells_contents_apart() -> None:
    assert content_digest(b"a") == "27c35e6e9373877f29e562464e46497e"
    assert content_digest(b"a") != content_digest(b"b")


def test_a_cache_of_a_large_tree_opens_in_milliseconds(project: Project) -> None:
    cache = project.open()
    stat = project.file.stat()
    for number in range(2_900):
        cache.store(f"/home/somebody/a/project/src/package/{number}.py", stat, "0" * 32, [])
    cache.save()
    times = []
    for _ in range(5):
        began = time.perf_counter()
        project.open()
        times.append(time.perf_counter() - began)
    assert min(times) < 0.03  # 3 ms on a laptop; a shared runner may be slower


def test_a_file_of_data_is_known_by_its_stat_whether_it_was_read_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("detlint.sources.kinds._LARGEST", 10)
    data = tmp_path / "values.json"
    data.write_text('{"values": [1, 2, 3]}')
    read, unread = Cache(None, b""), Cache(None, b"")
    read.facts_of(str(data), content_digest(data.read_bytes()))
    assert read.content(str(data)) == unread.content(str(data))


def test_a_change_of_any_module_is_another_version_and_compiling_one_is_none(
    tmp_path: Path,
) -> None:
    inner = tmp_path / "dataflow" / "facts"
    inner.mkdir(parents=True)
    module = inner / "seeds.py"
    module.write_text("x = 1\n")
    before = sorted(_files(str(tmp_path)))
    (inner / "__pycache__").mkdir()
    (inner / "__pycache__" / "seeds.cpython-311.pyc").write_bytes(b"")
    assert sorted(_files(str(tmp_path))) == before
    os.utime(module, (1, 1))
    assert sorted(_files(str(tmp_path))) != before
