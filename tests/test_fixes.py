"""Edits apply whole or not at all, files stay whole, and patches are what git takes."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from detlint.finding import Edit, Finding
from detlint.fixes import applying
from detlint.fixes.applying import choose_edits, diff, fix, write
from detlint.sources.decoding import decode
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def finding(*edits: tuple[int, int, str], code: str = "DET301", safe: bool = True) -> Finding:
    changes = tuple(Edit(*each) for each in edits)
    return Finding("a.py", 1, 1, 1, 2, code, "some-rule", "message", "", changes, safe)


def apply_edits(text: str, found: list[Finding], *, unsafe: bool) -> tuple[str, list[Finding]]:
    """The text after one pass, and what that fixed."""
    edits, applied = choose_edits(len(text), found, unsafe=unsafe)
    return Source("", text).rewritten(edits).text, applied


A = finding((0, 1, "A"), code="A")

APPLIED = [
    pytest.param([A], "Abcdef", "A", id="one"),
    pytest.param([finding((5, 6, "F"), code="F"), A], "AbcdeF", "AF", id="in order of position"),
    pytest.param([finding((0, 1, "x"), (4, 5, "y"), code="B")], "xbcdyf", "B", id="two edits"),
    pytest.param([A, finding((1, 2, "B"), code="B")], "ABcdef", "AB", id="touching"),
    pytest.param([A, finding((1, 1, "+"), code="B")], "A+bcdef", "AB", id="insertion behind"),
    pytest.param([A, finding((0, 0, "+"), code="B")], "+Abcdef", "AB", id="insertion in front"),
    pytest.param(
        [finding((0, 3, "X"), code="X"), finding((1, 1, "+"), code="B")],
        *("Xdef", "X"),
        id="insertion inside waits",
    ),
    pytest.param(
        [finding((1, 1, "+"), code="B"), finding((0, 3, "X"), code="X")],
        *("Xdef", "X"),
        id="insertion inside waits, whatever the order",
    ),
    pytest.param(
        [finding((1, 2, "in"), code="I"), finding((1, 4, "OUT"), code="O")],
        *("aOUTef", "O"),
        id="the outer of two that start together",
    ),
    pytest.param(
        [finding((0, 2, "X"), code="X"), finding((1, 3, "Y"), code="Y")],
        *("Xcdef", "X"),
        id="the first of two that cross",
    ),
    pytest.param(
        [A, finding((0, 1, "A"), code="B")], "Abcdef", "AB", id="the same edit is made once"
    ),
    pytest.param(
        [A, finding((0, 1, "other"), code="B")], "Abcdef", "A", id="another edit of one place"
    ),
    pytest.param(
        [
            finding((0, 0, "i\n"), (1, 2, "x"), code="B"),
            finding((0, 0, "i\n"), (3, 4, "y"), code="C"),
        ],
        *("i\naxcyef", "BC"),
        id="a shared import",
    ),
    pytest.param(
        [finding((2, 2, "1"), code="B"), finding((2, 2, "2"), code="C")],
        *("ab12cdef", "BC"),
        id="two insertions in one place",
    ),
    pytest.param(
        [finding((0, 1, "X"), code="X"), finding((0, 1, "q"), (4, 5, "q"), code="B")],
        *("abcdqf".replace("a", "q"), "B"),
        id="one that reaches further goes first",
    ),
    pytest.param(
        [finding((0, 2, "X"), code="X"), finding((1, 2, "q"), (4, 5, "q"), code="B")],
        *("Xcdef", "X"),
        id="all of a finding's edits or none",
    ),
    pytest.param(
        [finding((0, 0, "i\n"), (2, 3, "x"), code="I"), finding((1, 4, "O"), code="O")],
        *("aOef", "O"),
        id="an import does not make the inner one outer",
    ),
    pytest.param([finding((0, 3, "x"), (2, 4, "y"), code="B")], "abcdef", "", id="against itself"),
    pytest.param([finding((5, 9, "x"), code="B")], "abcdef", "", id="beyond the end"),
    pytest.param([finding((0, 6, ""), code="B")], "", "B", id="everything"),
    pytest.param([finding(code="B")], "abcdef", "", id="nothing to do"),
]


@pytest.mark.parametrize(("found", "text", "codes"), APPLIED)
def test_a_pass_applies_what_fits_together(found: list[Finding], text: str, codes: str) -> None:
    result, applied = apply_edits("abcdef", found, unsafe=False)
    assert (result, "".join(each.code for each in applied)) == (text, codes)


def test_unsafe_fixes_are_asked_for() -> None:
    risky = finding((0, 1, "x"), safe=False)
    assert apply_edits("abc", [risky], unsafe=False) == ("abc", [])
    assert apply_edits("abc", [risky], unsafe=True) == ("xbc", [risky])


def words(*pairs: tuple[str, str]) -> Callable[[Source], list[Finding]]:
    """A linter that wants each word replaced, and names the word in the message."""

    def lint(source: Source) -> list[Finding]:
        found = []
        for old, new in pairs:
            for match in re.finditer(rf"\b{old}\b", source.text):
                place = (*source.location(match.start()), *source.location(match.end()))
                edits = (Edit(*match.span(), new),)
                found.append(Finding("a.py", *place, "DET301", "word", old, "", edits))
        return found

    return lint


def outcome(text: str, *pairs: tuple[str, str]) -> tuple[str, list[str], list[str]]:
    result = fix(Source("a.py", text), words(*pairs), unsafe=False)
    fixed, remaining = ([each.message for each in group] for group in result[1:])
    return result.source.text, fixed, remaining


def test_fixing_goes_on_until_nothing_changes() -> None:
    assert outcome("a = a\n", ("a", "b"), ("b", "c")) == ("c = c\n", ["a", "a", "b", "b"], [])


def test_nothing_to_fix_changes_nothing() -> None:
    source = Source("a.py", "x = 1\n")
    assert fix(source, words(("y", "z")), unsafe=False) == (source, [], [])


def test_a_fix_that_breaks_the_file_is_left_out_and_the_others_stay() -> None:
    text = "good = 1\nbad = 2\ngood = 3\n"
    assert outcome(text, ("good", "fine"), ("bad", "1 +")) == (
        "fine = 1\nbad = 2\nfine = 3\n",
        ["good", "good"],
        ["bad"],
    )


BREAKING = [
    pytest.param("from __future__ import annotations\n", id="above the future"),
    pytest.param("import guard\n", id="above the docstring"),
    pytest.param('"More" ', id="in the docstring"),
    pytest.param("return\n", id="what parses and does not compile"),
]


@pytest.mark.parametrize("inserted", BREAKING)
def test_a_fix_after_which_the_file_is_not_what_it_was_is_left_out(inserted: str) -> None:
    text = 'r"""Doc."""\nfrom __future__ import division\ngood = 1\n'

    def lint(source: Source) -> list[Finding]:
        bad = [] if inserted in source.text else [finding((0, 0, inserted), code="bad")]
        return [*bad, *words(("good", "fine"))(source)]

    result = fix(Source("a.py", text), lint, unsafe=False)
    assert result.source.text == text.replace("good", "fine")
    assert [each.message for each in result.fixed] == ["good"]
    assert [each.code for each in result.remaining] == ["bad"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("return a\n", id="does not compile"),
        pytest.param("await a\n", id="a notebook's"),
        pytest.param('x = 1\n"""No docstring."""\na\n', id="no docstring"),
    ],
)
def test_a_file_that_python_refuses_for_what_it_does_is_fixed(text: str) -> None:
    assert outcome(text, ("a", "b"))[0] == text.replace("a\n", "b\n")


def test_what_waited_for_a_broken_fix_gets_its_turn() -> None:
    def lint(source: Source) -> list[Finding]:
        if source.text != "one = one\n":
            return []
        return [finding((0, 9, "("), code="bad"), finding((0, 3, "two"), code="good")]

    result = fix(Source("a.py", "one = one\n"), lint, unsafe=False)
    assert result.source.text == "two = one\n"
    assert [each.code for each in result.fixed] == ["good"]


def test_fixes_that_undo_each_other_end() -> None:
    text, fixed, remaining = outcome("a = 1\n", ("a", "b"), ("b", "a"))
    assert (text, fixed, remaining) == ("b = 1\n", ["a"], ["b"])


def test_a_fix_that_always_finds_more_ends() -> None:
    text, fixed, remaining = outcome("a = 1\n", ("a", "b = a"))
    assert (text, len(fixed), len(remaining)) == ("b = " * 100 + "a = 1\n", 100, 1)


def test_a_fix_that_doubles_its_findings_ends() -> None:
    text, fixed, remaining = outcome("a = 1\n", ("a", "a = a"))
    assert len(text) < 110_000
    assert len(fixed) == len(remaining) - 1


def test_a_fix_that_changes_nothing_ends() -> None:
    assert outcome("a = 1\n", ("a", "a")) == ("a = 1\n", [], ["a"])


def test_a_file_that_does_not_parse_is_not_fixed() -> None:
    assert outcome("a = (\n", ("a", "b")) == ("a = (\n", [], ["a"])


def test_invalid_escapes_are_no_reason_to_refuse_or_to_warn() -> None:
    assert outcome("a = '\\d'\n", ("a", "b"))[0] == "b = '\\d'\n"


def test_a_character_that_the_encoding_lacks_is_not_written() -> None:
    source = decode("a.py", b"# coding: latin-1\na = '\xe9'; c = 1\n")
    result = fix(source, words(("a", "жы"), ("c", "d")), unsafe=False)
    assert result.source.encode() == b"# coding: latin-1\na = '\xe9'; d = 1\n"
    assert [each.message for each in result.remaining] == ["a"]


def test_a_fix_that_moves_the_encoding_line_away_is_not_written() -> None:
    source = decode("a.py", b"# coding: latin-1\na = '\xe9'\n")

    def lint(source: Source) -> list[Finding]:
        return [finding((0, 0, "import random\nimport os\n"))] if "os" not in source.text else []

    assert fix(source, lint, unsafe=False).fixed == []


KEPT = [
    pytest.param(b"a = 1\r\n\r\nb = 'a'\r\n", id="CRLF"),
    pytest.param(b"a = 1\rb = 2\r", id="CR"),
    pytest.param(b"a = 1\r\nb = 2\n\x0cc = 3\r", id="mixed ends and a form feed"),
    pytest.param(b"\xef\xbb\xbfa = '\xc3\xa9'\n", id="a byte order mark"),
    pytest.param(b"# coding: latin-1\na = '\xe9'", id="latin-1, no final newline"),
    pytest.param(b"# -*- coding: shift_jis -*-\na = '\x83\x5c'\n", id="shift_jis"),
]


@pytest.mark.parametrize("data", KEPT)
def test_all_bytes_but_the_edits_stay(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    old = decode(str(path), data)
    write(str(path), fix(old, words(("b", "x"), ("a", "y")), unsafe=False).source.encode())
    swapped = re.sub(rb"\ba\b", b"y", re.sub(rb"\bb\b", b"x", data))
    assert path.read_bytes() == swapped


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o4755])
def test_writing_keeps_the_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_writing_keeps_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    write(str(path), b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "a.py"
    target.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to(Path("folder") / "a.py")
    write(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path / "folder") == ["a.py"]


def test_a_read_only_file_is_not_written_even_by_root(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError) as caught:
        write(str(path), b"new")
    assert str(caught.value) == f"[Errno 13] Permission denied: '{path}'"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write(str(tmp_path / "gone.py"), b"new")
    assert os.listdir(tmp_path) == []


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder that nobody owns, and nobody to work in it: root may write anywhere."""
    folder = Path(tempfile.mkdtemp(dir="/tmp")).resolve()
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    yield folder
    if root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="modes of folders are POSIX")
def test_a_read_only_folder_leaves_the_file_whole(as_nobody: Path) -> None:
    path = as_nobody / "a.py"
    path.write_bytes(b"old")
    as_nobody.chmod(0o555)
    with pytest.raises(OSError, match="Permission denied") as caught:
        write(str(path), b"new")
    assert caught.value.errno == errno.EACCES
    assert path.read_bytes() == b"old"
    assert os.listdir(as_nobody) == ["a.py"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if not shutil.which("mount"):
        pytest.skip("no mount command")
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"mount is not permitted: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_leaves_the_file_whole(tiny_disk: Path) -> None:
    path = tiny_disk / "a.py"
    path.write_bytes(b"old" * 10_000)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write(str(path), b"new" * 20_000)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"old" * 10_000
    assert os.listdir(tiny_disk) == ["a.py"]


def test_a_read_only_disk_leaves_the_file_whole(tiny_disk: Path) -> None:
    path = tiny_disk / "a.py"
    path.write_bytes(b"old")
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(OSError, match=r"Read-only file system|Permission denied") as caught:
        write(str(path), b"new")
    assert caught.value.errno in (errno.EROFS, errno.EACCES)
    assert path.read_bytes() == b"old"
    assert os.listdir(tiny_disk) == ["a.py"]


STEPS = ["open", "_copy_owner_and_mode", "replace"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
def test_a_failure_at_any_step_leaves_no_litter(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise error

    if step == "_copy_owner_and_mode":
        monkeypatch.setattr(applying, step, fail)
    else:
        monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write(str(path), b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.skipif(os.name == "nt", reason="interrupts are POSIX signals")
def test_an_interrupt_while_writing_leaves_whole_files(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import signal, sys
        from detlint.fixes.applying import write
        # A job in the background is started with interrupts ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("ready", flush=True)
        try:
            while True:
                for letter in b"ab":
                    write(sys.argv[1], bytes([letter]) * 300_000)
        except KeyboardInterrupt:
            pass
        """)
    path = tmp_path / "a.py"
    path.write_bytes(b"a" * 300_000)
    for delay in (0.01, 0.03, 0.05, 0.0701, 0.0913):
        command = [sys.executable, "-c", script, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
        assert path.read_bytes() in (b"a" * 300_000, b"b" * 300_000)
        assert os.listdir(tmp_path) == ["a.py"]


def git(folder: Path, *arguments: str, patch: bytes = b"") -> None:
    command = ["git", "-c", "core.autocrlf=false", *arguments]
    done = subprocess.run(command, cwd=folder, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + patch.decode("utf-8", "replace")


LONG = [b"line %d\n" % number for number in range(60)]

PATCHES = [
    pytest.param(b"a\nb\nc\n", b"a\nB\nc\n", id="a line"),
    pytest.param(b"a\nb", b"a\nB", id="no newline at the end"),
    pytest.param(b"a\nb", b"a\nb\n", id="a newline added"),
    pytest.param(b"a\nb\n", b"a\nb", id="a newline removed"),
    pytest.param(b"a\nb", b"x\nb", id="a change before a line without a newline"),
    pytest.param(b"a\r\nb\r\n", b"a\r\nB\r\n", id="CRLF"),
    pytest.param(b"a\rb\nc\n", b"a\rB\nc\n", id="a lone CR"),
    pytest.param(b"a\x0cb\x0bc\x1cd\n", b"a\x0cb\x0bC\x1cd\n", id="form feeds and separators"),
    pytest.param("a\u2028b\n\x85c".encode(), "a\u2028B\n\x85c".encode(), id="unicode separators"),
    pytest.param(b"# coding: latin-1\n'\xe9'\n", b"# coding: latin-1\n'\xe8'\n", id="latin-1"),
    pytest.param(b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfA\nb\n", id="a byte order mark"),
    pytest.param(b"a\n", b"import x\na\n", id="an insertion at the top"),
    pytest.param(b"a\n\nb\n", b"a\nb\n", id="a removal"),
    pytest.param(b"a\n", b"", id="everything removed"),
    pytest.param(b"", b"a\n", id="an empty file"),
    pytest.param(b"".join(LONG), b"".join(LONG).replace(b" 3", b"!"), id="several hunks"),
    pytest.param(b"x\n" * 4, b"x\n" * 5, id="one more of the same line"),
    pytest.param(b"x\n" * 5, b"x\n" * 3, id="fewer of the same line"),
]


@pytest.mark.parametrize(("before", "after"), PATCHES)
def test_git_applies_the_patch(before: bytes, after: bytes, tmp_path: Path) -> None:
    check_patch(tmp_path, "a.py", before, after)


NAMES = [
    pytest.param("plain.py", id="plain"),
    pytest.param("src/deep/a.py", id="in a folder"),
    pytest.param("with space.py", id="a space"),
    pytest.param("my folder/with space.py", id="two spaces"),
    pytest.param("café.py", id="not ASCII"),
    pytest.param("日 本.py", id="not ASCII, and a space"),
    pytest.param('quo"te.py', id="a quote"),
    pytest.param("back\\slash.py", id="a backslash"),
    pytest.param("tab\tand\nnewline.py", id="a tab and a newline"),
    pytest.param("\udcff.py", id="not text"),
    pytest.param("bell\x07\x01.py", id="control characters"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems forbid some of these names")
@pytest.mark.parametrize("name", NAMES)
def test_git_finds_the_file_of_the_patch(name: str, tmp_path: Path) -> None:
    check_patch(tmp_path, name, b"a\nb\n", b"a\nB\n")


def check_patch(folder: Path, name: str, before: bytes, after: bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    old, new = decode(name, before), decode(name, after)
    git(folder, "init", "--quiet")
    git(folder, "apply", "--whitespace=nowarn", patch=diff(name, old, new))
    assert path.read_bytes() == after


def test_the_patch_reads_like_one_of_git() -> None:
    old = Source("a.py", "1\n2\n3\n4\n5\n")
    assert diff("./src/a.py", old, old.with_text("1\n2\n3\n4\nfive\n")) == (
        b"--- a/src/a.py\n+++ b/src/a.py\n@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n"
    )


def test_the_patch_is_short_where_lines_repeat() -> None:
    old = Source("a.py", "pass\n" * 5_000)
    patch = diff("a.py", old, old.with_text("import x\n" + old.text))
    assert patch.split(b"\n", 2)[2] == b"@@ -1,3 +1,4 @@\n+import x\n pass\n pass\n pass\n"


def test_an_absolute_path_below_here_becomes_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    old = Source("a.py", "1\n")
    patch = diff(str(tmp_path / "src" / "a.py"), old, old.with_text("2\n"))
    assert patch.startswith(b"--- a/src/a.py\n+++ b/src/a.py\n")


def test_no_change_is_no_patch() -> None:
    assert diff("a.py", Source("a.py", "x"), Source("a.py", "x")) == b""
