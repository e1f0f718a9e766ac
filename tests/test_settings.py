"""What a configuration file and the command line make of a run, and what they may not say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from detlint import configuration
from detlint.errors import SettingsError
from detlint.finding import Confidence
from detlint.settings import Settings, enabled, ignored_for, load

if TYPE_CHECKING:
    from pathlib import Path

CODES = ("DET000", "DET001", "DET201", "DET203", "DET301", "DET302")
POSSIBLE = Settings(min_confidence=Confidence.POSSIBLE)


def read(first_path: object = ".", **options: Any) -> Settings:
    given: dict[str, Any] = {
        "config": None,
        "isolated": False,
        "overrides": {},
        "codes": lambda: CODES,
    }
    return load([str(first_path)], **(given | options))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str, name: str = "pyproject.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def error(text: str, project: Path, **options: Any) -> str:
    write(project, text)
    with pytest.raises(SettingsError) as caught:
        read(**options)
    return str(caught.value)


# -- where settings come from -------------------------------------------------------------


def test_every_key_is_read(project: Path) -> None:
    write(
        project,
        """
        [tool.detlint]
        select = ["DET2"]
        extend-select = ["DET301"]
        ignore = ["DET203"]
        exclude = ["a"]
        extend-exclude = ["b/"]
        force-exclude = true
        respect-gitignore = false
        target-torch = "2.10"
        min-confidence = "possible"
        [tool.detlint.confidence]
        DET201 = "certain"
        DET3 = "likely"
        [tool.detlint.per-file-ignores]
        "tests/*" = ["DET3", "DET201"]
        """,
    )
    assert read() == Settings(
        select=("DET2",),
        extend_select=("DET301",),
        ignore=("DET203",),
        per_file_ignores=(("tests/*", ("DET3", "DET201")),),
        exclude=("a",),
        extend_exclude=("b/",),
        force_exclude=True,
        respect_gitignore=False,
        target_torch=(2, 10),
        min_confidence=Confidence.POSSIBLE,
        confidence=(("DET201", Confidence.CERTAIN), ("DET3", Confidence.LIKELY)),
        root=str(project),
        project=str(project),
    )


def test_the_nearest_table_wins_and_files_without_one_are_passed_over(project: Path) -> None:
    write(project, "[tool.detlint]\nforce-exclude = true\n")
    write(project / "sub", '[project]\ndependencies = ["detlint==1.0"]\n')
    write(project / "other", "[tool.detlint]\nignore = ['DET3']\n")
    for folder in ("sub/deep", "other/deep"):
        (project / folder).mkdir()
        (project / folder / "a.py").touch()
    here, other = str(project), str(project / "other")
    assert read("sub/deep/a.py") == Settings(force_exclude=True, root=here, project=here)
    assert read("other/deep") == Settings(ignore=("DET3",), root=other, project=other)


@pytest.mark.parametrize("name", ["detlint.toml", ".detlint.toml"])
def test_a_file_of_our_own_comes_before_the_one_that_tools_share(project: Path, name: str) -> None:
    write(project, "[tool.detlint]\nignore = ['DET2']\n")
    write(project, "ignore = ['DET3']\n", name)
    here = str(project)
    assert read() == Settings(ignore=("DET3",), root=here, project=here)
    write(project, "", name)  # also where it says nothing
    assert read() == Settings(root=here, project=here)


def test_a_file_extends_another(project: Path) -> None:
    write(
        project / "shared",
        "ignore = ['DET2']\nexclude = ['a']\nextend-exclude = ['b']\ntarget-torch = '2.5'\n"
        "[models]\n'm.f' = 'sorts'\n'm.g' = 'keeps'\n",
        "base.toml",
    )
    write(
        project / "code",
        "[tool.detlint]\nextend = '../shared/base.toml'\nignore = ['DET3']\nexclude = ['c']\n"
        "extend-exclude = ['d']\n[tool.detlint.models]\n'm.g' = 'reads'\n",
    )
    folder = str(project / "code")
    assert read("code") == Settings(
        ignore=("DET2", "DET3"),
        exclude=("c",),
        extend_exclude=("b", "d"),
        target_torch=(2, 5),
        models=(("m.f", "sorts"), ("m.g", "reads")),
        root=folder,
        project=folder,
    )


@pytest.mark.parametrize(
    ("extend", "told"),
    [
        ("3", "pyproject.toml: extend: must be the path of another file, from this one's folder, "),
        ("'pyproject.toml'", "pyproject.toml: extend: pyproject.toml extends this file in turn"),
        ("'missing.toml'", "missing.toml: cannot be read: no such file or directory"),
        ("'wrong.toml'", "wrong.toml: nonsense: no such setting"),
        ("'circle.toml'", "circle.toml: extend: pyproject.toml extends this file in turn"),
    ],
)
def test_what_a_file_cannot_extend_is_told(project: Path, extend: str, told: str) -> None:
    write(project, "nonsense = 1\n", "wrong.toml")
    write(project, "extend = 'pyproject.toml'\n", "circle.toml")
    assert error(f"[tool.detlint]\nextend = {extend}\n", project).startswith(told)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[tool]\ndetlint = {force-exclude = true}\n", id="an inline table"),
        pytest.param("[tool]\ndetlint.force-exclude = true\n", id="a dotted key in tool"),
        pytest.param(
            '[ "tool" . "detlint" ]\nforce-exclude = true\n', id="a quoted table with blanks"
        ),
        pytest.param("tool.detlint.force-exclude = true\n", id="a dotted key at the top"),
    ],
)
def test_a_table_may_be_spelled_in_every_way_of_toml(project: Path, text: str) -> None:
    write(project, text)
    assert read().force_exclude


def test_without_a_file_the_defaults_hold_and_patterns_are_relative_to_the_run(
    project: Path,
) -> None:
    assert read("nowhere/x.py") == Settings(root=str(project))


def test_a_link_to_a_folder_is_looked_through(project: Path) -> None:
    write(project / "real", "[tool.detlint]\nforce-exclude = true\n")
    (project / "link").symlink_to("real")
    assert read("link/a.py").root == str(project / "real")


def test_isolated_reads_no_file(project: Path) -> None:
    write(project, "[tool.detlint]\nnonsense = 1\n")
    assert read(isolated=True) == Settings(root=str(project))


def test_isolated_and_config_exclude_each_other(project: Path) -> None:
    assert error("", project, isolated=True, config="x.toml") == (
        "--isolated reads no configuration: it and --config exclude each other"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("force-exclude = true\n", id="keys at the top"),
        pytest.param("[tool.detlint]\nforce-exclude = true\n", id="a table"),
    ],
)
def test_a_named_file_replaces_the_nearest_and_may_be_bare(project: Path, text: str) -> None:
    write(project, "[tool.detlint]\nnonsense = 1\n")
    write(project / "ci", text, "detlint.toml")
    assert read(config="ci/detlint.toml") == Settings(force_exclude=True, root=str(project))


def test_a_named_file_that_is_missing_is_told(project: Path) -> None:
    assert error("", project, config="no.toml") == (
        "no.toml: cannot be read: no such file or directory"
    )


def test_an_empty_name_of_a_file_does_not_mean_the_nearest(project: Path) -> None:
    assert error("[tool.detlint]\n", project, config="") == (
        "'': cannot be read: no such file or directory"
    )


def test_a_named_pyproject_without_our_table_is_told(project: Path) -> None:
    assert error("[tool.ruff]\n", project, config="pyproject.toml") == (
        "pyproject.toml: has no table [tool.detlint]"
    )


# -- the command line over the file -------------------------------------------------------


def test_the_command_line_replaces_or_adds_by_key(project: Path) -> None:
    write(
        project,
        """
        [tool.detlint]
        select = ["DET2"]
        extend-select = ["DET301"]
        ignore = ["DET203"]
        exclude = ["a"]
        extend-exclude = ["b"]
        min-confidence = "certain"
        target-torch = "2.1"
        """,
    )
    overrides = {
        "select": ["DET3"],
        "extend_select": ["DET001"],
        "ignore": ["DET302"],
        "exclude": ["c"],
        "extend-exclude": ["d"],
        "min_confidence": None,
        "target_torch": "2.13.0",
    }
    assert read(overrides=overrides) == Settings(
        select=("DET3",),
        extend_select=("DET301", "DET001"),
        ignore=("DET203", "DET302"),
        exclude=("c",),
        extend_exclude=("b", "d"),
        min_confidence=Confidence.CERTAIN,
        target_torch=(2, 13),
        root=str(project),
        project=str(project),
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        pytest.param("gen/", "gen/", id="a name holds anywhere"),
        pytest.param("gen/x.py", "/sub [1]/gen/x.py".replace("[", "\\["), id="a place is below"),
        pytest.param("./gen", "gen", id="a dot before it says nothing"),
        pytest.param("!gen/x.py", "!/sub \\[1]/gen/x.py", id="a negation stays one"),
    ],
)
def test_a_pattern_typed_in_a_subfolder_is_relative_to_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, typed: str, meant: str
) -> None:
    write(project, "[tool.detlint]\n")
    (project / "sub [1]").mkdir()
    monkeypatch.chdir(project / "sub [1]")
    assert read(overrides={"extend_exclude": [typed]}).extend_exclude == (meant,)


def test_a_pattern_typed_as_an_absolute_path_is_cut_to_the_root(project: Path) -> None:
    write(project, "[tool.detlint]\n")
    given = {"exclude": [f"{project}/gen"]}
    assert read(overrides=given).exclude == ("/gen",)


def test_rules_are_not_asked_for_when_there_is_no_code_to_check(project: Path) -> None:
    write(project, "[tool.detlint]\nforce-exclude = true\n")

    def fail() -> tuple[str, ...]:
        raise AssertionError

    assert read(codes=fail, overrides={"exclude": ["x"]}).force_exclude


# -- what is refused ----------------------------------------------------------------------

KEYS = (
    "select, extend-select, ignore, per-file-ignores, exclude, extend-exclude, force-exclude, "
    "respect-gitignore, target-torch, min-confidence, confidence, models, extend"
)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(
            "slect = []",
            f"slect: no such setting (did you mean select?); the settings are {KEYS}",
            id="an unknown key",
        ),
        pytest.param(
            'select = "DET2"',
            "select: must be an array of strings, not a string ('DET2')",
            id="a string for an array",
        ),
        pytest.param(
            "ignore = [2]",
            "ignore: must hold strings, not an integer (2)",
            id="a number in an array",
        ),
        pytest.param("exclude = ['']", "exclude: holds an empty string", id="an empty pattern"),
        pytest.param(
            "select = []",
            "select: holds no code; leave it out for the rules that are on anyway",
            id="an empty selection",
        ),
        pytest.param(
            "force-exclude = 1",
            "force-exclude: must be true or false, not an integer (1)",
            id="a number for a boolean",
        ),
        pytest.param(
            "strict = true",
            "strict: no such setting any more; for all that is found, write "
            'min-confidence = "possible"',
            id="what min-confidence replaces",
        ),
        pytest.param(
            "models = ['mylib.ordered']",
            "models: must be a table of functions and what they do, such as "
            '{"mylib.list_shards" = "sorts"}, not an array',
            id="models that are no table",
        ),
        pytest.param(
            'models = {"ordered" = "sorts"}',
            "models: not the full name of a function: 'ordered'; write \"module.function\"",
            id="a model of no full name",
        ),
        pytest.param(
            'models = {"mylib.ordered" = "sort"}',
            "models.\"mylib.ordered\": must be 'sorts', 'keeps', 'ignores', 'reads', "
            "'seeds random', 'seeds numpy', 'seeds torch', 'seeds tensorflow' or 'seeds all', "
            "not a string ('sort') (did you mean sorts?)",
            id="a model that says something else",
        ),
        pytest.param(
            'min-confidence = "sure"',
            "min-confidence: must be 'certain', 'likely' or 'possible', not a string ('sure')",
            id="a confidence that is none",
        ),
        pytest.param(
            'min-confidence = "likly"',
            "min-confidence: must be 'certain', 'likely' or 'possible', not a string ('likly') "
            "(did you mean likely?)",
            id="a confidence in other letters",
        ),
        pytest.param(
            "min-confidence = 2",
            "min-confidence: must be 'certain', 'likely' or 'possible', not an integer (2)",
            id="a number for a confidence",
        ),
        pytest.param(
            'confidence = "possible"',
            "confidence: must be a table of codes and the least confidence of their findings, "
            "such as {DET201 = \"certain\"}, not a string ('possible')",
            id="a confidence for a table of them",
        ),
        pytest.param(
            "confidence = {DET201 = true}",
            "confidence.DET201: must be 'certain', 'likely' or 'possible', not a boolean (True)",
            id="a boolean for the confidence of a code",
        ),
        pytest.param(
            "target-torch = 2.10",
            'target-torch: must be a string such as "2.13", not a float (2.1)',
            id="a release without quotes",
        ),
        pytest.param(
            'target-torch = "latest"',
            "target-torch: no release of torch that detlint knows: 'latest'; it knows "
            "1.8, 1.9, 1.10, 1.11, 1.12, 1.13, 2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, "
            "2.9, 2.10, 2.11, 2.12, 2.13",
            id="a release that is none",
        ),
        pytest.param(
            "per-file-ignores = ['x']",
            'per-file-ignores: must be a table of patterns and their codes, such as {"tests/*" = '
            '["DET2"]}, not an array',
            id="an array for a table",
        ),
        pytest.param(
            "per-file-ignores = {'a.py' = 'DET2'}",
            "per-file-ignores.\"a.py\": must be an array of strings, not a string ('DET2')",
            id="one code for an array of them",
        ),
        pytest.param(
            'ignore = ["DET3001"]',
            "ignore: no such code: 'DET3001' (did you mean DET301?); the codes are DET000, DET001, "
            "DET201, DET203, DET301, DET302, and their beginnings from DET on",
            id="an unknown code",
        ),
        pytest.param(
            'extend-select = ["det301"]',
            "extend-select: no such code: 'det301' (did you mean DET301?); the codes are DET000, "
            "DET001, DET201, DET203, DET301, DET302, and their beginnings from DET on",
            id="a code in small letters",
        ),
        pytest.param(
            'select = ["det3"]',
            "select: no such code: 'det3' (did you mean DET3?); the codes are DET000, "
            "DET001, DET201, DET203, DET301, DET302, and their beginnings from DET on",
            id="a prefix in small letters",
        ),
        pytest.param(
            'per-file-ignores = {"a.py" = ["X"]}',
            "per-file-ignores: no such code: 'X'; the codes are DET000, DET001, DET201, DET203, "
            "DET301, DET302, and their beginnings from DET on",
            id="an unknown code for a file",
        ),
    ],
)
def test_a_wrong_setting_is_told_with_its_file_and_key(
    project: Path, line: str, message: str
) -> None:
    assert error(f"[tool.detlint]\n{line}\n", project) == f"pyproject.toml: {message}"


def test_a_wrong_option_is_told_as_it_was_typed(project: Path) -> None:
    text = error("", project, overrides={"extend_select": ["D"]})
    assert text.startswith("--extend-select: no such code: 'D'; the codes are DET000, ")


def test_our_name_must_be_a_table(project: Path) -> None:
    assert error("[tool]\ndetlint = 3\n", project) == (
        "pyproject.toml: tool.detlint must be a table, not an integer (3)"
    )


def test_bad_toml_is_told_with_its_place(project: Path) -> None:
    assert error("[tool.detlint]\nselect = [\n", project).startswith(
        "pyproject.toml: not valid TOML: "
    )
    assert "line 2, column 8" in error("[tool.detlint]\nstrict x\n", project)


@pytest.mark.parametrize("head", ["[tool.detlint", '[tool."detlint"', "tool.detlint"])
def test_a_broken_head_of_our_table_is_told(project: Path, head: str) -> None:
    told = error(f'{head}\nignore = ["DET3"]\n', project)
    assert told.startswith("pyproject.toml: not valid TOML: ")
    assert "line 1" in told


def test_bad_toml_that_does_not_concern_us_is_left_to_others(project: Path) -> None:
    write(project, "[tool.other\n")
    assert read() == Settings(root=str(project))


def test_bytes_that_are_not_utf8_are_told_with_their_line(project: Path) -> None:
    (project / "pyproject.toml").write_bytes(b"[tool.detlint]\n# \xff\n")
    with pytest.raises(SettingsError, match=r"^pyproject\.toml: not UTF-8 \(at line 2\)$"):
        read()


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="this TOML parser limits nesting itself")
def test_arrays_without_end_are_told(project: Path) -> None:
    text = "[tool.detlint]\nselect = " + "[" * 100_000
    assert "pyproject.toml: " in error(text, project)


def test_a_file_above_is_named_in_full(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "[tool.detlint]\nnonsense = 1\n")
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    with pytest.raises(SettingsError) as caught:
        read()
    assert str(caught.value).startswith(f"{project}/pyproject.toml: nonsense: no such setting; ")


# -- which rules run ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "on"),
    [
        pytest.param(Settings(), "DET000 DET201", id="by default, those on by default"),
        pytest.param(POSSIBLE, "DET000 DET201 DET202", id="possible: all"),
        pytest.param(Settings(select=("DET202",)), "DET000 DET202", id="one selected"),
        pytest.param(Settings(extend_select=("DET2",)), "DET000 DET201 DET202", id="more"),
        pytest.param(Settings(ignore=("DET2",)), "DET000", id="a prefix ignored"),
        pytest.param(
            Settings(select=("DET201",), ignore=("DET2",)), "DET000 DET201", id="longer beats"
        ),
        pytest.param(Settings(select=("DET2",), ignore=("DET2",)), "DET000", id="ignore ties"),
        pytest.param(POSSIBLE._replace(ignore=("DET201",)), "DET000 DET202", id="possible but one"),
        pytest.param(
            POSSIBLE._replace(select=("DET201",)), "DET000 DET201", id="possible of one selected"
        ),
        pytest.param(
            Settings(confidence=(("DET202", Confidence.POSSIBLE),)),
            "DET000 DET201 DET202",
            id="one of which all that is possible is asked for",
        ),
        pytest.param(Settings(ignore=("DET000",)), "DET201", id="even unreadable files ignored"),
    ],
)
def test_rules_that_run(settings: Settings, on: str) -> None:
    defaults = {"DET000": True, "DET201": True, "DET202": False}
    chosen = [code for code, default in defaults.items() if enabled(settings, code, default)]
    assert chosen == on.split()


def test_the_longest_beginning_of_a_code_decides_on_its_confidence() -> None:
    rows = (
        ("DET2", Confidence.CERTAIN),
        ("DET203", Confidence.POSSIBLE),
        ("DET20", Confidence.LIKELY),
    )
    settings = Settings(min_confidence=Confidence.CERTAIN, confidence=rows)
    asked = {code: str(settings.bar(code)) for code in ("DET203", "DET201", "DET211", "DET301")}
    assert asked == {
        "DET203": "possible",
        "DET201": "likely",
        "DET211": "certain",
        "DET301": "certain",
    }


def test_strict_on_the_command_line_says_what_to_write_instead(project: Path) -> None:
    assert error("[tool.detlint]\n", project, overrides={"strict": True}) == (
        "--strict: no such setting any more; for all that is found, write --min-confidence possible"
    )


def test_a_confidence_that_is_none_is_refused_on_the_command_line(project: Path) -> None:
    assert error("[tool.detlint]\n", project, overrides={"min_confidence": "high"}) == (
        "--min-confidence: must be 'certain', 'likely' or 'possible', not a string ('high')"
    )


@pytest.mark.parametrize(
    ("pattern", "path", "silent"),
    [
        pytest.param("tests/*", "tests/deep/a.py", True, id="a folder"),
        pytest.param("test_*.py", "deep/test_a.py", True, id="a name anywhere"),
        pytest.param("a.py", "b.py", False, id="another name"),
        pytest.param("src/a.py", "other/src/a.py", False, id="a place is from the root"),
        pytest.param("!src/", "tests/a.py", True, id="all but a folder"),
        pytest.param("!src/", "src/a.py", False, id="that folder"),
        pytest.param("a.py", "/elsewhere/a.py", True, id="a name outside of the root"),
    ],
)
def test_files_for_which_a_code_is_ignored(
    project: Path, pattern: str, path: str, silent: bool
) -> None:
    settings = Settings(per_file_ignores=((pattern, ("DET2",)),), root=str(project))
    assert ignored_for(settings, path, "DET201") is silent
    assert not ignored_for(settings, path, "DET301")


def test_patterns_for_files_are_relative_to_the_root_and_not_to_the_run(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(per_file_ignores=(("sub/a.py", ("DET",)),), root=str(project))
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    assert ignored_for(settings, "a.py", "DET201")
    assert not ignored_for(settings, "../a.py", "DET201")


@pytest.mark.parametrize("pattern", ["[", "!src/[", "a\\", "[z-a].py"])
@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("exclude = [{}]", "exclude"),
        ("extend-exclude = ['gen/', {}]", "extend-exclude"),
        ("per-file-ignores = {{ {} = ['DET2'] }}", "per-file-ignores"),
    ],
)
def test_a_pattern_that_is_none_is_told_with_its_place(
    project: Path, pattern: str, line: str, place: str
) -> None:
    said = error(f"[tool.detlint]\n{line.format(json.dumps(pattern))}\n", project)
    assert said == (
        f"pyproject.toml: {place}: not a pattern of files: {pattern!r}; a [ must be closed by a ], "
        "and a backslash must have a character behind it"
    )


@pytest.mark.usefixtures("project")
def test_a_pattern_on_the_command_line_that_is_none_is_told_with_its_option() -> None:
    with pytest.raises(SettingsError, match=r"^--extend-exclude: not a pattern of files: '\['; "):
        read(overrides={"extend_exclude": ("[",)})


def test_start_up_imports_nothing_heavy(project: Path) -> None:
    (project / "a.py").touch()
    write(project, '[project]\nname = "x"\ndependencies = [\n"detlint",\n]\n')
    program = (
        "import sys; from detlint.settings import load\n"
        "from detlint.sources.discovery import discover\n"
        "found = load(['a.py'], config=None, isolated=False, overrides={}, codes=tuple)\n"
        "assert 'a.py' in discover(['a.py', '.'], found, print)\n"
        "heavy = {'tomllib', 'pathspec', 'pathlib', 'dataclasses', 'inspect', 'difflib'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    package = os.path.dirname(os.path.dirname(configuration.__file__))
    done = subprocess.run(
        # -S: other packages' .pth files import what they like.
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": package},
    )
    assert done.stdout == "[]\n"
