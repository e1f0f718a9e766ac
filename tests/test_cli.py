"""The command line from outside: what it prints, and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from detlint.cli import COMMANDS, main

if TYPE_CHECKING:
    from pathlib import Path

LEAK = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
FIXED = "import torch\n\ntorch.backends.cudnn.benchmark = False\n"


def detlint(
    *arguments: str | Path, cwd: Path, stdin: bytes = b"", prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m detlint`` in a folder, with a cache of its own."""
    environment = os.environ | {"DETLINT_CACHE_DIR": str(cwd / ".cache-of-test"), "NO_COLOR": "1"}
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "detlint", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment,
        timeout=120,
        check=False,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def detlint_in_shell(command: str, *, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DETLINT_CACHE_DIR": str(cwd / ".cache-of-test"), "NO_COLOR": "1"}
    environment.pop("PYTHONUNBUFFERED", None)  # what is buffered fails later
    return subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        capture_output=True,
        env=environment,
        timeout=120,
        check=False,
        text=True,
    )


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    """A folder with one file that has one finding."""
    (tmp_path / "train.py").write_text(LEAK)
    return tmp_path


def test_findings_exit_1_and_name_place_code_and_message(leaky: Path) -> None:
    done = detlint(".", cwd=leaky)
    assert done.returncode == 1
    assert done.stdout.startswith("train.py:3:1: DET301 [*] ")
    assert done.stdout.splitlines()[-1].startswith("Found 1 finding in 1 file")
    assert done.stderr == ""


def test_clean_exits_0(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FIXED)
    done = detlint("train.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("All checks passed")


def test_exit_zero_shows_findings_and_exits_0(leaky: Path) -> None:
    done = detlint(".", "--exit-zero", cwd=leaky)
    assert done.returncode == 0
    assert "DET301" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param([], "give at least one file or folder", id="no path"),
        pytest.param(["nope.py"], "nope.py: no such file", id="missing path"),
        pytest.param(["notes.txt"], "notes.txt", id="unsupported kind"),
        pytest.param([".", "--select", "DET999"], "DET999", id="unknown code"),
        pytest.param([".", "--output-format", "xml"], "no such format: 'xml'", id="unknown format"),
        pytest.param([".", "--jobs", "0"], "'0' is not a number of processes", id="no jobs"),
        pytest.param([".", "-", "--jobs", "1"], "`-` reads one source", id="stdin and a path"),
        pytest.param(["--nonsense"], "--nonsense", id="unknown option"),
        pytest.param([".", "--target-torch", "new"], "new", id="no release"),
        pytest.param([".", "--config", "gone.toml"], "gone.toml", id="missing configuration"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_is_wrong(
    leaky: Path, arguments: list[str], says: str
) -> None:
    (leaky / "notes.txt").write_text("x")
    done = detlint(*arguments, cwd=leaky)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize(
    ("into", "says"),
    [
        pytest.param("> /dev/full", "no space left on device", id="a full disk"),
        pytest.param(">&-", "bad file descriptor", id="closed"),
        pytest.param("| :", "", id="nobody reads"),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    [
        ".",
        ". --output-format json",
        ". --diff",
        "rules",
        "explain DET301",
        "--version",
        "--help",
        "- --fix",
    ],
)
def test_an_output_that_cannot_be_written_exits_2_with_at_most_a_line(
    leaky: Path, into: str, says: str, arguments: str
) -> None:
    command = f"{sys.executable} -m detlint {arguments} < train.py"
    waiting = f"(sleep 0.3; {command})" if into.startswith("|") else command
    done = detlint_in_shell(f"set -o pipefail; {waiting} {into}", cwd=leaky)
    said = [line for line in done.stderr.splitlines() if "would fix" not in line]
    assert done.returncode == 2
    assert said == ([f"detlint: the output cannot be written: {says}"] if says else [])


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize("into", ["2> /dev/full", "2>&-", "2> >(:)"])
def test_what_cannot_be_said_changes_no_result(leaky: Path, into: str) -> None:
    (leaky / "gone.py").symlink_to("nowhere.py")
    done = detlint_in_shell(f"{sys.executable} -m detlint . {into}", cwd=leaky)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("train.py:3:1: DET301")
    assert detlint_in_shell(f"{sys.executable} -m detlint --no {into}", cwd=leaky).returncode == 2


def test_messages_show_what_a_terminal_or_a_log_would_obey(leaky: Path) -> None:
    name = "\x1b[2J\u202e\n::error::x.py"
    shown = r"␛[2J\u202e␊::error::x.py"
    assert detlint(name, "gone.py", cwd=leaky).stderr.splitlines() == [
        f"detlint: {shown}: no such file or directory",
        "detlint: gone.py: no such file or directory",
    ]
    assert detlint(f"--{name}", cwd=leaky).stderr.splitlines()[-1].endswith(f"--{shown}")
    done = detlint(".", "--config", name, cwd=leaky)
    assert done.stderr == f"detlint: {shown}: cannot be read: no such file or directory\n"
    (leaky / name).symlink_to("nowhere.py")
    assert detlint(".", cwd=leaky).stderr.startswith(f"detlint: warning: {shown}: a broken link")


def test_a_name_is_no_workflow_command(tmp_path: Path) -> None:
    for name in ("::error file=x::pwn.py", "##[error]pwn.py"):
        (tmp_path / name).write_text(LEAK)
    lines = detlint(".", cwd=tmp_path).stdout.splitlines()
    assert [line.partition(".py:")[0] for line in lines[:2]] == [
        r"##\[error]pwn",
        "./::error file=x::pwn",
    ]


def test_an_unknown_key_in_the_configuration_lists_the_legal_ones(leaky: Path) -> None:
    (leaky / "pyproject.toml").write_text("[tool.detlint]\nselct = ['DET3']\n")
    done = detlint(".", cwd=leaky)
    assert done.returncode == 2
    assert "selct" in done.stderr
    assert "per-file-ignores" in done.stderr


def test_the_configuration_selects_and_the_command_line_lies_over_it(leaky: Path) -> None:
    (leaky / "pyproject.toml").write_text("[tool.detlint]\nignore = ['DET301']\n")
    assert detlint(".", cwd=leaky).returncode == 0
    assert detlint(".", "--isolated", cwd=leaky).returncode == 1
    (leaky / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET1']\n")
    assert detlint(".", cwd=leaky).returncode == 0
    assert detlint(".", "--select", "DET3", cwd=leaky).returncode == 1


def test_per_file_ignores_silence_a_rule_in_the_files_that_match(leaky: Path) -> None:
    (leaky / "pyproject.toml").write_text(
        "[tool.detlint.per-file-ignores]\n'train.py' = ['DET301']\n"
    )
    (leaky / "other.py").write_text(LEAK)
    done = detlint(".", cwd=leaky)
    assert "other.py:3:1" in done.stdout
    assert "train.py" not in done.stdout


def test_fix_leaves_alone_what_per_file_ignores_silences(leaky: Path) -> None:
    (leaky / "pyproject.toml").write_text(
        "[tool.detlint.per-file-ignores]\n'train.py' = ['DET301']\n"
    )
    (leaky / "train.py").write_text(LEAK + "torch.backends.cudnn.deterministic = False\n")
    assert detlint(".", "--fix", cwd=leaky).returncode == 0
    assert (leaky / "train.py").read_text() == (
        LEAK + "torch.backends.cudnn.deterministic = True\n"
    )


def test_fix_writes_what_it_promises_and_reports_it(leaky: Path) -> None:
    done = detlint(".", "--fix", cwd=leaky)
    assert (done.returncode, (leaky / "train.py").read_text()) == (0, FIXED)
    assert "Fixed 1 finding" in done.stdout
    assert detlint(".", "--fix", cwd=leaky).stdout.startswith("All checks passed")


def test_what_a_fix_of_another_file_has_mended_is_not_reported(tmp_path: Path) -> None:
    train = "from data import batch\n\nbatch().cuda().sum().backward(); optimizer.step()\n"
    train = f"import torch\n{train}"
    (tmp_path / "train.py").write_text(train)
    draws = "import torch\n\ndef batch():\n    return torch.rand(3)\n"
    (tmp_path / "data.py").write_text(draws)
    before = detlint(".", cwd=tmp_path).stdout
    assert [line.split(" ")[1] for line in before.splitlines()[:-1]] == ["DET102", "DET304"]
    done = detlint(".", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("detlint: train.py: now imports guard. Add what brings it ")
    assert done.stdout == "Fixed 2 findings. All checks passed (2 files checked).\n"
    assert (tmp_path / "data.py").read_text() == draws
    again = detlint(".", "--no-cache", cwd=tmp_path)
    assert again.stdout == "All checks passed (2 files checked).\n"


def test_a_suppressed_line_is_never_fixed(tmp_path: Path) -> None:
    text = LEAK.replace("True", "True  # detlint: ignore[DET301] measured, no effect here")
    (tmp_path / "train.py").write_text(text)
    assert detlint(".", "--fix", "--unsafe-fixes", cwd=tmp_path).returncode == 0
    assert (tmp_path / "train.py").read_text() == text


def test_diff_is_a_patch_that_git_apply_takes(leaky: Path) -> None:
    done = detlint(".", "--diff", cwd=leaky)
    assert done.returncode == 1
    assert (leaky / "train.py").read_text() == LEAK
    subprocess.run(["git", "init", "-q"], cwd=leaky, check=True)
    subprocess.run(["git", "apply", "-"], cwd=leaky, input=done.stdout.encode(), check=True)
    assert (leaky / "train.py").read_text() == FIXED


def test_standard_input_is_linted_under_the_given_name(tmp_path: Path) -> None:
    done = detlint("-", "--stdin-filename", "src/a.py", cwd=tmp_path, stdin=LEAK.encode())
    assert done.returncode == 1
    assert done.stdout.startswith("src/a.py:3:1: DET301")


def test_fixing_standard_input_prints_the_source_and_reports_beside_it(tmp_path: Path) -> None:
    done = detlint("-", "--fix", cwd=tmp_path, stdin=LEAK.encode())
    assert (done.returncode, done.stdout) == (0, FIXED)
    assert "Fixed 1 finding" in done.stderr


def test_json_has_one_object_a_finding(leaky: Path) -> None:
    done = detlint(".", "--output-format", "json", cwd=leaky)
    (finding,) = json.loads(done.stdout)
    assert finding["code"] == "DET301"
    assert finding["location"] == {"row": 3, "column": 1}
    assert finding["fix"]["edits"][0]["content"] == "False"


@pytest.mark.parametrize(
    ("marks", "root"),
    [
        pytest.param({"pyproject.toml": "[tool.detlint]\n"}, "", id="the configuration's folder"),
        pytest.param({".git/HEAD": ""}, "", id="the repository"),
        pytest.param({"pyproject.toml": "[tool.x]\n"}, "lib/sub", id="where it runs"),
        pytest.param(
            {".git/HEAD": "", "lib/pyproject.toml": "[tool.detlint]\n"},
            "lib",
            id="the configuration's before the repository",
        ),
    ],
)
def test_sarif_names_files_from_the_root_of_the_project(
    tmp_path: Path, marks: dict[str, str], root: str
) -> None:
    sub = tmp_path / "lib" / "sub"
    for name, text in {**marks, "lib/sub/train.py": LEAK}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for arguments in (["."], ["train.py"], [str(sub)], [".", "--isolated"]):
        done = detlint(*arguments, "--output-format", "sarif", cwd=sub)
        (run,) = json.loads(done.stdout)["runs"]
        assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == (tmp_path / root).as_uri() + "/"
        (result,) = run["results"]
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        there = (sub / "train.py").relative_to(tmp_path / root).as_posix()
        assert artifact == {"uri": there, "uriBaseId": "%SRCROOT%"}


def test_what_lies_in_a_repository_is_named_from_there_wherever_the_run_starts(
    tmp_path: Path,
) -> None:
    sub, above = tmp_path / "repo" / "sub", tmp_path / "elsewhere"
    for folder in (sub, above, tmp_path / "repo" / ".git"):
        folder.mkdir(parents=True)
    (sub / "train.py").write_text(LEAK)
    for start in (above, tmp_path):
        done = detlint(str(sub / "train.py"), "--output-format", "sarif", cwd=start)
        (run,) = json.loads(done.stdout)["runs"]
        (result,) = run["results"]
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifact["uri"] == "sub/train.py"
        for pattern in ("repo/sub", "sub/"):
            assert detlint(str(tmp_path / "repo"), "--exclude", pattern, cwd=start).returncode == (
                0 if start == tmp_path or pattern == "sub/" else 1
            )
    assert detlint("baseline", "repo", cwd=tmp_path).returncode == 0
    assert (tmp_path / "repo" / "detlint-baseline.json").exists()
    assert detlint(str(tmp_path / "repo"), cwd=above).returncode == 0


def test_cached_findings_are_those_of_the_first_run(leaky: Path) -> None:
    first, second = detlint(".", cwd=leaky), detlint(".", cwd=leaky)
    assert first.stdout == second.stdout
    assert detlint("train.py", cwd=leaky).stdout == first.stdout
    (leaky / "train.py").write_text(FIXED)
    assert detlint(".", cwd=leaky).returncode == 0
    (leaky / "train.py").write_text(LEAK)
    assert detlint(".", "--fix", cwd=leaky).returncode == 0


def test_order_does_not_depend_on_the_parallelism(tmp_path: Path) -> None:
    padding = "x = 1  # " + "y" * 60_000 + "\n"
    for number in range(40):
        (tmp_path / f"m{number:02}.py").write_text(LEAK * (number % 3) + padding)
    one = detlint(".", "--no-cache", "--jobs", "1", cwd=tmp_path)
    two = detlint(".", "--no-cache", "--jobs", "2", cwd=tmp_path)
    assert one.returncode == 1
    assert one.stdout == two.stdout


def test_explain_and_rules_document_each_rule(tmp_path: Path) -> None:
    assert detlint("explain", "DET301", cwd=tmp_path).stdout.startswith("## DET301 cudnn-benchmark")
    assert "DET301  on   likely   cudnn-benchmark" in detlint("rules", cwd=tmp_path).stdout
    group = detlint("explain", "det60", "DET603", cwd=tmp_path).stdout
    heads = [line[3:9] for line in group.splitlines() if line.startswith("## ")]
    assert heads == ["DET601", "DET602", "DET603", "DET604"]
    unknown = detlint("explain", "DET999", cwd=tmp_path)
    assert unknown.returncode == 2
    assert "no rule 'DET999'; there are DET000" in unknown.stderr


def test_explain_and_rules_tell_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--output-format", "json"]) == 0
    rules = {each["code"]: each for each in json.loads(capsys.readouterr().out)}
    assert main(["explain", "det301", "set-order", "--output-format=json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    example = first["examples"][0]
    assert "benchmark = True  # DET301" in example["bad"]
    assert set(example) == {"path", "bad", "fixed", "good"}
    for each in (first, second):
        del each["examples"]
        assert each == rules[each["code"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_says_what_it_does(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    usage, said, *_ = capsys.readouterr().out.split("\n\n")
    assert usage.startswith(f"usage: detlint {command}")
    assert len(said) > 40


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain"], "give the code of a rule: `detlint explain DET301`"),
        (["explain", "DET9"], "no rule 'DET9'; there are DET000"),
        (["explain", "cudnn-benchmrk"], "(did you mean cudnn-benchmark?)"),
        (["rules", "src"], "`detlint rules` takes no 'src' (to lint a folder of that name:"),
    ],
)
def test_a_command_says_what_it_does_not_understand(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_a_folder_without_sources_says_so(tmp_path: Path) -> None:
    done = detlint(".", cwd=tmp_path)
    assert done.returncode == 0
    assert "no file to lint found" in done.stderr
