"""Which files a run reads: on real trees, with real links, pipes and repositories."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from detlint.errors import UsageError
from detlint.settings import Settings
from detlint.sources.discovery import discover
from detlint.sources.kinds import NAMES, SUFFIXES, kind_of


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def make(*paths: str, text: str = "") -> None:
    for path in paths:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def found(*paths: str, settings: Settings | None = None) -> list[str]:
    """Files, where no warning is expected."""
    files, warnings = found_and_told(*paths, settings=settings)
    assert warnings == []
    return files


def found_and_told(*paths: str, settings: Settings | None = None) -> tuple[list[str], list[str]]:
    warnings: list[str] = []
    return discover(paths or ["."], settings or Settings(), warnings.append), warnings


def refused(*paths: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        found(*paths)
    return str(caught.value).splitlines()


# -- walking ------------------------------------------------------------------------------


def test_files_are_sorted_and_only_those_of_a_known_kind() -> None:
    make("b.py", "a/z.pyw", "a.py", "c.txt", "script", "a/y.pyi", ".hidden/x.py")
    assert found() == [".hidden/x.py", "a.py", "a/z.pyw", "b.py"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        pytest.param(".", "src/a.py", id="here"),
        pytest.param("./", "src/a.py", id="here, with a slash"),
        pytest.param("src", "src/a.py", id="a folder"),
        pytest.param("src/", "src/a.py", id="a folder with a slash"),
        pytest.param("./src", "src/a.py", id="a folder after a dot"),
        pytest.param("src/a.py", "src/a.py", id="a file"),
        pytest.param("./src/a.py", "src/a.py", id="a file after a dot"),
        pytest.param("../tree/src", "../tree/src/a.py", id="a folder from above"),
    ],
)
def test_files_are_shown_as_they_were_asked_for(given: str, shown: str) -> None:
    make("src/a.py")
    assert found(given) == [shown]


def test_an_absolute_path_stays_absolute(tree: Path) -> None:
    make("src/a.py")
    assert found(str(tree)) == [f"{tree}/src/a.py"]


def test_each_file_comes_once_under_its_first_name(tree: Path) -> None:
    make("src/a.py", "b.py")
    assert found("src/a.py", "src", "./src/../src", str(tree), "src") == [
        f"{tree}/b.py",
        "src/a.py",
    ]


def test_a_folder_without_sources_gives_nothing() -> None:
    make("src/notes.txt")
    assert found("src") == []


def test_attributes_that_a_mac_keeps_beside_a_file_are_no_source() -> None:
    make("train.py", "._train.py", "models/._net.py", "._Dockerfile")
    assert found() == ["train.py"]


def test_folders_of_tools_and_environments_are_left_out() -> None:
    make("a.py", ".git/hooks/x.py", "build/x.py", "pkg/__pycache__/x.py", "node_modules/x.py")
    make("lib/site-packages/x.py", ".venv/x.py", "my-env/pyvenv.cfg", "my-env/x.py")
    make("builder/y.py", "build.py")
    assert found() == ["a.py", "build.py", "builder/y.py"]


def test_a_folder_that_is_left_out_is_read_when_it_is_named() -> None:
    make(".gitignore", text="env/\ngenerated\n")
    make("build/x.py", "env/pyvenv.cfg", "env/y.py", "generated/sub/z.py")
    assert found("build", "env", "generated/sub", "generated") == [
        "build/x.py",
        "env/y.py",
        "generated/sub/z.py",
    ]


def test_a_deep_tree_is_walked_to_its_end() -> None:
    deep = "/".join(["d"] * 1200)
    # Python's own makedirs and rmtree recurse, and give up before we may.
    subprocess.run(["mkdir", "-p", deep], check=True)
    try:
        make(f"{deep}/a.py")
        assert found() == [f"{deep}/a.py"]
    finally:
        subprocess.run(["rm", "-rf", "d"], check=True)


# -- excludes -----------------------------------------------------------------------------


def test_exclude_replaces_the_defaults_and_extend_exclude_adds() -> None:
    make("a.py", "build/b.py", "gen/c.py", "x_pb2.py")
    assert found(settings=Settings(exclude=("gen",))) == ["a.py", "build/b.py", "x_pb2.py"]
    assert found(settings=Settings(extend_exclude=("gen/", "*_pb2.py"))) == ["a.py"]


def test_exclude_patterns_are_relative_to_the_root_of_the_settings(tree: Path) -> None:
    make("src/gen/a.py", "src/b.py", "gen/c.py")
    settings = Settings(extend_exclude=("src/gen",), root=str(tree))
    assert found("src", "gen", settings=settings) == ["gen/c.py", "src/b.py"]
    os.chdir("src")
    assert found(settings=settings) == ["b.py"]


def test_a_later_pattern_takes_back_an_earlier_one() -> None:
    make("gen/a.py", "gen/keep.py")
    assert found(settings=Settings(extend_exclude=("gen/*", "!keep.py"))) == ["gen/keep.py"]


def test_named_files_are_filtered_only_by_force_exclude(tree: Path) -> None:
    make(".gitignore", text="ignored.py\n")
    make("build/a.py", "gen/deep/b.py", "c_pb2.py", "ignored.py", "d.py")
    named = ("build/a.py", "gen/deep/b.py", "c_pb2.py", "ignored.py", "d.py")
    settings = Settings(extend_exclude=("gen", "*_pb2.py"), root=str(tree))
    assert found(*named, settings=settings) == sorted(named)
    # git's opinion does not matter for a file that it handed over to be checked.
    forced = settings._replace(force_exclude=True)
    assert found(*named, settings=forced) == ["d.py", "ignored.py"]
    assert found("build", settings=forced) == []


# -- git ----------------------------------------------------------------------------------


def test_ignore_files_hold_from_the_repository_down_and_the_deeper_wins() -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    make(".git/info/exclude", text="private.py\n")
    make(".gitignore", text="# comment\n\n*_gen.py\n/out/\nlogs/*\n!logs/keep.py\n")
    make("pkg/.gitignore", text="!good_gen.py\nlocal.py\n")
    make("a.py", "a_gen.py", "out/b.py", "pkg/out/c.py", "logs/d.py", "logs/keep.py")
    make("pkg/good_gen.py", "pkg/bad_gen.py", "pkg/local.py", "local.py", "private.py")
    inside_pkg = ["pkg/good_gen.py", "pkg/out/c.py"]
    assert found() == ["a.py", "local.py", "logs/keep.py", *inside_pkg]
    assert found("pkg") == inside_pkg
    os.chdir("pkg")
    assert found() == ["good_gen.py", "out/c.py"]


def test_ignore_files_hold_without_a_repository_too(tree: Path) -> None:
    make(".gitignore", text="gen/\n")
    make("gen/a.py", "src/gen/b.py", "src/c.py")
    assert found() == ["src/c.py"]
    assert found("src", settings=Settings(root=str(tree))) == ["src/c.py"]


def test_ignore_files_can_be_disregarded() -> None:
    make(".gitignore", text="a.py\n")
    make("a.py")
    assert found(settings=Settings(respect_gitignore=False)) == ["a.py"]


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_what_git_tracks_is_not_ignored(version: str) -> None:
    make("data/a.py", "data/deep/b.py", "data/deep/of/c.py", "run.py", "src/data/d.py")
    make("data/e.py", "data/json/f.py", "runs.py", "src/run.py", "logs/g.py", "xdata/h.py")
    tracked = ["data/a.py", "data/deep/b.py", "data/deep/of/c.py", "run.py", "xdata/h.py"]
    git("init", "-q", ".")
    git("add", *tracked)
    if version == "3":  # which it writes where an entry has a flag of that version
        git("add", "--intent-to-add", "src/data/d.py")
    else:
        git("add", "src/data/d.py")
        git("update-index", "--index-version", version)
    make(".gitignore", text="data/\nrun*\nlogs\n")
    known = [*tracked, "src/data/d.py"] if version != "4" else ["xdata/h.py"]
    assert found() == sorted(known)
    excluded = Settings(extend_exclude=("data",))
    assert found(settings=excluded) == [each for each in ("run.py", "xdata/h.py") if each in known]


def test_what_a_linked_worktree_tracks_is_not_ignored() -> None:
    make("main/run.py", "main/.gitignore")
    git("-C", "main", "init", "-q", ".")
    git("-C", "main", "add", ".")
    git("-C", "main", "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "first")
    git("-C", "main", "worktree", "add", "-q", "../linked")
    make("linked/.gitignore", text="run*\n")
    make("linked/run_other.py")
    assert found("linked") == ["linked/run.py"]


def git(*args: str) -> None:
    subprocess.run(["git", *args], check=True, capture_output=True)


def test_ignore_files_of_another_repository_above_do_not_hold() -> None:
    make(".gitignore", text="*.py\n")
    make("inner/.git/HEAD", "inner/a.py")
    assert found("inner") == ["inner/a.py"]


def test_lines_that_git_does_not_understand_match_nothing() -> None:
    with open(".gitignore", "wb") as file:
        file.write(b"\xef\xbb\xbfa.py\r\n[\n\\\n!\n[z-a].py\n\xff.py\nb.py   \n")
    make("a.py", "b.py", "c.py")
    assert found() == ["c.py"]


IGNORE_FILES = {
    "allow-list": "*\n!*/\n!*.py\nskip.py\n",
    "allow-list of a folder": "/*\n!/a/\n/a/*\n!/a/b/\n",
    "a file in a folder kept, by its own name": "foo*\n!foo1/\nkeep.py\n!foo1/keep.py\n",
    "everything below a folder, but for some": "a/**\n!a/**/\n!a/**/keep.py\n",
    "stars between slashes": "a/**/b\n**/foo1\n",
    "names that need a backslash": "\\#x.py\n\\!x.py\n",
    "a negated name with an exclamation mark": "!*.py\n!!x.py\n!#x.py\n",
    "classes and question marks": "[!k]eep.py\nsk?p.py\n",
    "wildcards that mean the whole name": "k*p\nee*.py\noo?\nsk**.py\n?oo2\n",
}


@pytest.mark.parametrize("lines", IGNORE_FILES.values(), ids=IGNORE_FILES)
def test_ignored_is_what_git_ignores(lines: str) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    for folder in (".", "a", "a/b", "a/b/b", "a/c", "foo1", "foo1/a", "foo2"):
        make(*(f"{folder}/{name}.py" for name in ("keep", "skip", "#x", "!x")))
    make(".gitignore", text=lines)
    make("a/b/.gitignore", text="!skip.py\nc*\n")
    listing = ["git", "ls-files", "-o", "--exclude-standard", "-z", "*.py"]
    done = subprocess.run(listing, capture_output=True, text=True, check=True)
    assert found() == sorted(filter(None, done.stdout.split("\0")))


# -- links --------------------------------------------------------------------------------


def test_links_in_a_walk_never_lead_out_of_the_tree() -> None:
    make("../outside/secret.py", "a.py", "pkg/b.py")
    os.symlink("../outside/secret.py", "link.py")
    os.symlink("../outside", "folder")
    os.symlink("../outside", "build")
    assert found_and_told() == (
        ["a.py", "pkg/b.py"],
        [
            "folder: a link out of the tree (-> ../outside); not followed",
            "link.py: a link out of the tree (-> ../outside/secret.py); not followed",
        ],
    )


def test_links_within_the_tree_are_met_as_their_targets() -> None:
    make("src/a.py", "src/pkg/b.py", "lib/c.py")
    os.symlink("a.py", "src/again.py")
    os.symlink("pkg", "src/same")
    os.symlink("..", "src/pkg/up")
    os.symlink("../lib/c.py", "src/c.py")
    assert found() == ["lib/c.py", "src/a.py", "src/pkg/b.py"]
    # What lies outside of one given folder may lie in another.
    assert found("src", "lib") == ["lib/c.py", "src/a.py", "src/pkg/b.py"]
    assert found_and_told("src")[1] == [
        "src/c.py: a link out of the tree (-> ../lib/c.py); not followed"
    ]


def test_a_link_that_alone_says_that_its_target_is_python_is_read() -> None:
    make("bin/tool", "gen/x.py")
    os.symlink("bin/tool", "tool.py")
    os.symlink("gen/x.py", "left_out.py")
    assert found(settings=Settings(extend_exclude=("gen",))) == ["tool.py"]


def test_links_that_lead_nowhere_are_told_if_they_may_be_code() -> None:
    os.symlink("loop.py", "loop.py")
    os.symlink("gone.py", "broken.py")
    os.symlink("gone", "folder")
    os.symlink("/store/7f3a", "weights.bin")
    os.symlink("gone.py", "ignored.py")
    make(".gitignore", text="ignored.py\n")
    assert found_and_told() == (
        [],
        [
            "broken.py: a broken link (-> gone.py); not followed",
            "folder: a broken link (-> gone); not followed",
            "loop.py: a link that leads back to itself; not followed",
        ],
    )


def test_a_named_link_is_followed_within_the_tree_only() -> None:
    make("../outside/secret.py", "real/a.py")
    os.symlink("real/a.py", "link.py")
    os.symlink("real", "folder")
    os.symlink("../outside/secret.py", "out.py")
    os.symlink("../outside", "out")
    os.symlink("loop.py", "loop.py")
    os.symlink("gone.py", "broken.py")
    assert found("link.py") == ["link.py"]
    assert found("folder", "real") == ["folder/a.py"]
    assert refused("out.py", "out", "out/", "loop.py", "broken.py") == [
        "out.py: a link out of the tree (-> ../outside/secret.py); name the file itself",
        "out: a link out of the tree (-> ../outside); name the file itself",
        "out/: a link out of the tree (-> ../outside); name the file itself",
        "loop.py: a link that leads back to itself",
        "broken.py: a broken link (-> gone.py)",
    ]


def test_a_tree_behind_a_link_to_its_folder_is_no_other_tree() -> None:
    make("real/a.py")
    os.symlink("a.py", "real/b.py")
    os.symlink("real", "folder")
    assert found("folder/b.py", "folder/a.py") == ["folder/b.py"]


# -- what is no regular file --------------------------------------------------------------


def test_pipes_and_sockets_are_never_opened() -> None:
    make("a.py")
    os.mkfifo("pipe.py")
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert found_and_told() == (
            ["a.py"],
            [
                "pipe.py: a pipe, not a regular file; skipped",
                "socket.py: a socket, not a regular file; skipped",
            ],
        )
        assert refused("pipe.py", "socket.py", "pipe", "/dev/null") == [
            "pipe.py: not a regular file, but a pipe",
            "socket.py: not a regular file, but a socket",
            "pipe: not a regular file, but a pipe",
            "/dev/null: not a regular file, but a device",
        ]


def test_an_ignore_file_that_is_a_pipe_is_not_opened() -> None:
    os.mkfifo(".gitignore")
    make("a.py")
    assert found() == ["a.py"]


def test_a_folder_named_like_a_source_is_walked() -> None:
    make("odd.py/a.py")
    assert found("odd.py") == found() == ["odd.py/a.py"]


# -- named paths --------------------------------------------------------------------------


def test_all_that_is_wrong_with_the_paths_is_told_at_once() -> None:
    make("a.py", "notes.txt", "LICENSE")
    legal = (
        f"not a kind of file that detlint reads: {', '.join((*SUFFIXES, *NAMES))}, "
        "or a script whose first line names python or a shell"
    )
    assert refused("src/nope", "a.py", "notes.txt", "LICENSE", "a.py/b", "", "x\0y") == [
        "src/nope: no such file or directory",
        f"notes.txt: {legal}",
        f"LICENSE: {legal}",
        "a.py/b: not a directory",
        "'': no such file or directory",
        "x\0y: embedded null byte",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "#!/usr/bin/python",
        "#!/usr/bin/env python3.11",
        "#! /usr/bin/env -S python3 -u",
        "#!/opt/pypy3",
        "#!/usr/bin/env -S uv run --script",
    ],
)
def test_a_named_script_is_known_by_its_first_line(line: str) -> None:
    make("train", "train.in", text=f"{line}\nimport torch\n")
    assert found("train", "train.in") == ["train", "train.in"]
    assert found() == []  # a walk does not open files to see what they are
    Path("train").chmod(0o755)
    Path("train.in").chmod(0o755)
    assert found() == ["train"]  # but for programs that have no suffix


@pytest.mark.parametrize("line", ["#!/bin/sh", "#!/usr/bin/env bash", "#!/home/python/bin/zsh -e"])
def test_a_script_for_a_shell_is_known_by_its_first_line(line: str) -> None:
    make("train", text=f"{line}\npython train.py\n")
    assert found("train") == ["train"]
    assert kind_of("train", line.encode()) == "shell"


@pytest.mark.parametrize(
    "line", ["#!/usr/bin/perl", "#!/opt/my-python-bin/ruby", "# /usr/bin/python", "import python"]
)
def test_another_first_line_is_no_script(line: str) -> None:
    make("train", text=line)
    assert len(refused("train")) == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.py", "python"),
        ("a.sbatch", "shell"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.gpu", "dockerfile"),
        ("Dockerfile_2025_9a48ba0.rocm", "dockerfile"),
        ("Dockerfile-dev", "dockerfile"),
        ("gpu.dockerfile", "dockerfile"),
        ("Makefile", "makefile"),
        ("a.yml", "yaml"),
        ("a.cu", "cuda"),
        ("Makefile.py", "python"),
    ],
)
def test_a_walk_finds_all_kinds_by_their_names(name: str, kind: str) -> None:
    make(name, "README.md", "a.py.bak")
    assert found() == [name]
    assert kind_of(name) == kind


def test_notes_on_an_image_are_none() -> None:
    make("Dockerfile-notes.md", "Dockerfiles", "Dockerfile_x.py", "Dockerfile.patch")
    assert found() == ["Dockerfile_x.py"]


def test_an_ignored_file_of_any_kind_is_left_out() -> None:
    make("Dockerfile.gpu", "a.yaml", "b.yaml", ".gitignore", text="*.gpu\na.*\n")
    assert found() == ["b.yaml"]


def test_a_file_name_that_is_not_utf8_is_kept() -> None:
    name = os.fsdecode(b"caf\xe9.py")
    make(name)
    assert found() == [name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_an_unreadable_folder_is_told() -> None:
    make("a.py", "shut/b.py")
    os.chmod("shut", 0)
    try:
        assert found_and_told() == (["a.py"], ["shut: permission denied; not searched"])
        assert refused("shut", "shut/b.py") == [
            "shut: permission denied",
            "shut/b.py: permission denied",
        ]
    finally:
        os.chmod("shut", 0o700)


def test_a_folder_that_cannot_be_listed_is_told_and_the_rest_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make("a.py", "shut/b.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("shut"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert found_and_told() == (["a.py"], ["shut: permission denied; not searched"])
