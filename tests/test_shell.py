"""Shell scripts as documents: what variables hold, what commands see, where it stands."""

from __future__ import annotations

import pytest
from document_reading import of_kind, source

from detlint.documents import read, shell
from detlint.documents.document import Command, Variable
from detlint.sources.source import Source


def commands(text: str) -> list[Command]:
    return of_kind("run.sh", text, Command)


def variables(text: str) -> list[Variable]:
    return of_kind("run.sh", text, Variable)


def seen(text: str) -> dict[str, str | None]:
    """The environment of the last ``p``."""
    found = [each for each in commands(text) if each.words[0].text == "p"]
    return dict(found[-1].environment)


def words(text: str) -> list[str | None]:
    """The words of the last ``p`` behind it."""
    found = [each for each in commands(text) if each.words[0].text == "p"]
    return [each.text for each in found[-1].words[1:]]


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        pytest.param("export A=b C=d\np", {"A": "b", "C": "d"}, id="what is exported is seen"),
        pytest.param("A=b\np", {}, id="what is only set is not"),
        pytest.param("A=b\nexport A\np", {"A": "b"}, id="unless it is exported later"),
        pytest.param("export A\nA=b\np", {"A": "b"}, id="or before"),
        pytest.param("export A=a\nA=b\np", {"A": "b"}, id="what was exported stays so"),
        pytest.param("set -a\nA=b\nset +a\nB=c\np", {"A": "b"}, id="set -a exports all"),
        pytest.param("set -o allexport\nA=b\np", {"A": "b"}, id="by its long name, too"),
        pytest.param("declare -x A=b\ntypeset B=c\np", {"A": "b"}, id="declare -x exports"),
        pytest.param("export A=b\nexport -n A\np", {}, id="export -n takes it back"),
        pytest.param("A=b p", {"A": "b"}, id="a prefix is for its command"),
        pytest.param("A=b q\np", {}, id="and for that alone"),
        pytest.param("export A=a\nA=b q\np", {"A": "a"}, id="what it hid comes back"),
        pytest.param("env A=b C=d p", {"A": "b", "C": "d"}, id="env sets"),
        pytest.param("export A=b\nenv -u A p", {}, id="env unsets"),
        pytest.param("export A=b\nenv -i C=d p", {"C": "d"}, id="env -i clears"),
        pytest.param("export A=b\nunset A\np", {}, id="unset removes"),
        pytest.param('export A="${A:-d}"\np', {"A": "d"}, id="a default counts"),
        pytest.param("A=b\nexport A=${A:-d}\np", {"A": "b"}, id="unless the script sets it"),
        pytest.param("A=$1\nexport A=${A:-d}\np", {"A": None}, id="to what is not known"),
        pytest.param(": ${A:=d}\nexport A\np", {"A": "d"}, id="a default is assigned"),
        pytest.param("export A=${A:?told}\np", {"A": None}, id="what must be set is not known"),
        pytest.param("export A=$(date)\np", {"A": None}, id="what a command prints is not known"),
        pytest.param("export A=$B\np", {"A": None}, id="nor what nothing sets"),
        pytest.param("export A=b$$\np", {"A": None}, id="nor a part of it"),
        pytest.param("export A=:4096:8 # yes\np", {"A": ":4096:8"}, id="a comment ends it"),
        pytest.param("export A=\np", {"A": ""}, id="nothing is known"),
        pytest.param("export A=b\nexport A+=c\np", {"A": "bc"}, id="text is appended"),
        pytest.param("sudo A=b p", {"A": "b"}, id="sudo sets"),
        pytest.param("export A=b\nsudo p", {}, id="and hands on nothing"),
        pytest.param("export A=b\nsudo -E p", {"A": "b"}, id="but with -E"),
        pytest.param("mpirun -np 8 -x A=b -x C p", {"A": "b"}, id="mpirun sets"),
        pytest.param(
            "export A=b\ndocker run -e B=c -e A img p", {"A": "b", "B": "c"}, id="docker sets"
        ),
        pytest.param("export A=b\ndocker run --rm -v a:b img p", {}, id="and hands on nothing"),
        pytest.param("export A=b\nssh host p", {}, id="nor does ssh"),
        pytest.param("export A=b\nssh host 'C=d p'", {"C": "d"}, id="ssh runs shell text"),
        pytest.param("#SBATCH --export=ALL,A=b\np", {"A": "b"}, id="Slurm sets"),
        pytest.param(
            "#SBATCH --nodes=2 --ntasks-per-node 4\np",
            {"SLURM_JOB_NUM_NODES": "2", "SLURM_NNODES": "2", "SLURM_NTASKS_PER_NODE": "4"},
            id="Slurm tells of the job",
        ),
    ],
)
def test_programs_see(text: str, environment: dict[str, str | None]) -> None:
    assert seen(text) == environment


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        pytest.param("if x; then export A=b; fi\np", {"A": None}, id="set in one branch"),
        pytest.param("if x; then export A=b; else export A=c; fi\np", {"A": None}, id="or in two"),
        pytest.param("if x; then export A=b; else export A=b; fi\np", {"A": "b"}, id="to the same"),
        pytest.param("if x; then export A=b; p; fi", {"A": "b"}, id="within the branch"),
        pytest.param(
            "export A=b\nif x; then A=c; exit 1; fi\np", {"A": "b"}, id="a branch that ends"
        ),
        pytest.param(
            "if a; then export A=b; elif c; then export A=b; fi\np", {"A": None}, id="no else"
        ),
        pytest.param('[ -z "$A" ] && export A=b\np', {"A": None}, id="behind a test"),
        pytest.param("cd x && export A=b && p", {"A": "b"}, id="behind a step"),
        pytest.param("x || export A=b\np", {"A": None}, id="behind a failure"),
        pytest.param("x || exit 1\nexport A=b\np", {"A": "b"}, id="where a failure ends it"),
        pytest.param("for i in 1 2; do export A=b; done\np", {"A": None}, id="in a loop"),
        pytest.param("for i in 1 2; do export A=b; p; done", {"A": "b"}, id="within a loop"),
        pytest.param("export A=0\nwhile x; do p; A=1; done", {"A": None}, id="a round later"),
        pytest.param("case $1 in a) export A=b;; esac\np", {"A": None}, id="in a case"),
        pytest.param(
            "case $1 in a) export A=b;; *) export A=b;; esac\np", {"A": "b"}, id="in every case"
        ),
        pytest.param("(export A=b)\np", {}, id="a subshell keeps it"),
        pytest.param("(export A=b; p)", {"A": "b"}, id="for itself"),
        pytest.param("{ export A=b; }\np", {"A": "b"}, id="a group does not"),
        pytest.param("export A=b | tee\np", {}, id="a pipe does"),
        pytest.param("f() { export A=b; }\nf\np", {"A": "b"}, id="a function sets"),
        pytest.param("f() { export A=b; }\np", {}, id="where it is called"),
        pytest.param("f() { p; }\nexport A=b\nf", {"A": "b"}, id="and sees what is set by then"),
        pytest.param("f() { p; }\nf\nexport A=b\nf", {"A": None}, id="which may vary"),
        pytest.param("f() { return; }\nf\nexport A=b\np", {"A": "b"}, id="a return ends only it"),
        pytest.param("f() { f; f; }\nf\nexport A=b\np", {"A": "b"}, id="it may call itself"),
        pytest.param("read A\nexport A\np", {"A": None}, id="read asks"),
        pytest.param(
            "q() { p; }\nexit 0\nexport A=b", {}, id="nothing follows an exit but functions"
        ),
    ],
)
def test_what_may_not_run_is_not_known(text: str, environment: dict[str, str | None]) -> None:
    assert seen(text) == environment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("p a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"], id="quotes"),
        pytest.param("p $'a\\nb' \"a\\\"b\" 'a\\b'", ["a\nb", 'a"b', "a\\b"], id="escapes"),
        pytest.param("p --a=\"b\"'c'd", ["--a=bcd"], id="glued"),
        pytest.param("p a \\\n  --b \\\n  c", ["a", "--b", "c"], id="continued"),
        pytest.param("p a \\\r\n  --b\r\n", ["a", "--b"], id="continued in Windows' way"),
        pytest.param("X=b\np $X ${X} \"$X\" '$X' a$X", ["b", "b", "b", "$X", "ab"], id="values"),
        pytest.param('X="b  c"\np "$X" $X', ["b  c", "b", "c"], id="split where not quoted"),
        pytest.param('X=\np $X "$X"', [""], id="nothing is no word"),
        pytest.param('p $X "$X" a$X', [None, None, None], id="unknown words"),
        pytest.param("p $1 $@ $(a) `a` $((1+1)) <(a)", [None] * 6, id="never known"),
        pytest.param("p a{b,c} {1..3} {} '{a,b}'", [None, None, "{}", "{a,b}"], id="braces"),
        pytest.param('A=(--a "b c" d)\np "${A[@]}" e', ["--a", "b c", "d", "e"], id="an array"),
        pytest.param("A=(--a)\nA+=(--b $X)\np ${A[*]}", ["--a", "--b", None], id="appended to"),
        pytest.param('A=()\np "${A[@]}" a', ["a"], id="an empty one"),
        pytest.param("A=(a b)\np ${A[1]} $A", [None, "a"], id="one of an array"),
        pytest.param(
            'A=(--a)\nif x; then A+=(--b); fi\np "${A[@]}"', ["--a", None], id="maybe appended to"
        ),
        pytest.param(
            'O="\n  --a 1 \\\n  --b $X\n"\np $O', ["--a", "1", "--b", None], id="Megatron's way"
        ),
        pytest.param(
            'O="--a"\nif x; then O="$O --b"; fi\np $O --c', ["--a", None, "--c"], id="maybe more"
        ),
        pytest.param('O="--a ${X}\t\t${Y:-1}"\np $O', ["--a", None, "1"], id="blanks in quotes"),
        pytest.param('p ${X:-a b} "${X:-a b}" ${X-c}', ["a", "b", "a b", "c"], id="defaults"),
        pytest.param('X=1\np ${X:+--x} "${X%.py}"', ["--x", None], id="operators"),
        pytest.param('f() { p "$@" $1; }\nf a b', ["a", "b", "a"], id="arguments"),
        pytest.param("set -- a b\np $2 $#", ["b", None], id="arguments that are set"),
        pytest.param("f() { p $1; }\nf a\nf b", [None], id="arguments that differ"),
        pytest.param(
            "A=a B=b\nX=$A/$B/\np $A/$B/$A-$B.py $X", ["a/b/a-b.py", "a/b/"], id="names in a path"
        ),
        pytest.param("p a # b", ["a"], id="a comment"),
        pytest.param("p a > b 2>&1 < c &", ["a"], id="redirections"),
        pytest.param("for i in 1 2; do p $i; done", [None], id="what a loop counts"),
        pytest.param(
            "A=(\n --a 1 # why\n # no\n --b\n)\np ${A[@]}", ["--a", "1", "--b"], id="notes"
        ),
        pytest.param(". ./env.sh\np ${X:-a}", [None], id="another script may set it"),
    ],
)
def test_words_are(text: str, expected: list[str | None]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "front",
    [
        *("nohup", "env", "env A=b", "exec", "time", "time -p", "nice -n 5", "stdbuf -oL"),
        *("timeout 10", "timeout -k 5 1h", "sudo -E", "sudo -u me -E", "numactl -N 0 -m 0"),
        *(
            "numactl --cpunodebind=0 --membind=0",
            "taskset -c 0-3",
            "srun",
            "srun -n 4 --gres gpu:8",
        ),
        *("mpirun -n 4 -env A=1 -env B=0", "mpiexec -env A 1 -genv B 2 -n 4"),
        *("srun --export=ALL,A=b", "srun --export NONE -n 2"),
        *("srun --ntasks=4 -l --container-image=x", "mpirun -np 8 --bind-to none -x A=b"),
        *("mpiexec -n 4 -mca a b", "horovodrun -np 4 -H a:4", "singularity exec --nv -B /a x.sif"),
        *("docker run --gpus all -it --rm -v a:b -e A=b img", "docker exec -it box", "poetry run"),
        *("uv run", "uv run --with a --frozen", "conda run -n x --no-capture-output", "pipenv run"),
        *("xvfb-run -a", "xvfb-run -s '-screen 0'", "nsys profile -o out -t cuda --stats=true"),
        *("nohup srun -n 1 env A=b", "ray job submit --address=x --", "/usr/bin/time -v"),
        *("$LAUNCHER", "${DISTRIBUTED} $MORE"),
    ],
)
def test_what_starts_a_program_stands_in_front(front: str) -> None:
    (command,) = commands(f"{front} python train.py --lr 1")
    assert [each.text for each in command.words] == ["python", "train.py", "--lr", "1"]
    assert len(command.front) == len(commands(f"x {front}")[0].words) - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("bash -c 'p a'", ["a"], id="in single quotes"),
        pytest.param('X=1\nbash -c "p $X \\"a b\\" \\$Y"', ["1", "a b", None], id="in double ones"),
        pytest.param("bash -c \"bash -c 'p a'\"", ["a"], id="in another"),
        pytest.param("srun -n 4 bash -lc 'cd x; p a'", ["a"], id="under srun"),
        pytest.param("srun --output=$X/log sh -c 'p a'", ["a"], id="behind an unknown option"),
        pytest.param("bash <<EOF\np a\nEOF", ["a"], id="in a here-document"),
        pytest.param("cat <<'EOF' | bash\np a $X\nEOF", ["a", None], id="that is piped"),
        pytest.param("bash <<< 'p a'", ["a"], id="in a here-string"),
        pytest.param("ssh -p 22 host 'p a'", ["a"], id="over ssh"),
        pytest.param("ssh host <<EOF\np a\nEOF", ["a"], id="over ssh, from a here-document"),
        pytest.param("C='p a'\neval $C\n", ["a"], id="evaluated"),
        pytest.param('C="p a"\nC="$C b"\neval "$C"', ["a", "b"], id="put together"),
        pytest.param("X=$(p a)", ["a"], id="for what it prints"),
        pytest.param("cat > x <<EOF && p a\nb\nEOF", ["a"], id="behind a here-document"),
        pytest.param("set -- a b\nshift\np $1", [None], id="shifted"),
    ],
)
def test_shell_text_within_shell_text_is_read(text: str, expected: list[str | None]) -> None:
    assert words(text) == expected


def test_a_here_document_that_is_written_to_a_file_is_data() -> None:
    assert [each.words[0].text for each in commands("cat > run.sh <<EOF\np a\nEOF\nq")] == [
        "cat",
        "q",
    ]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        pytest.param('export A="b c"', "b c", id="inside of quotes"),
        pytest.param("export A=b", "b", id="all of a word"),
        pytest.param("export A=b'c'", "b'c'", id="all of what is glued"),
        pytest.param("é=1; export A=é", "é", id="behind letters of two bytes"),
        pytest.param('bash -c "x && A=b p"', "b", id="in a script in a script"),
        pytest.param('bash -c "x \\"y\\" && A=b p"', "b", id="behind escapes"),
        pytest.param("env A=b p", "b", id="of env"),
        pytest.param("docker run -e A=b i p", "b", id="of docker"),
        pytest.param("#SBATCH --export=ALL,A=b", "b", id="of Slurm"),
    ],
)
def test_a_value_has_its_place(text: str, at: str) -> None:
    (found,) = (each for each in variables(text) if each.name == "A")
    assert text[found.value_start : found.value_end] == at
    assert text[found.start : found.end].lstrip("\"'").startswith("A=")


def test_words_have_the_place_of_their_definition() -> None:
    text = "A=(--a 'b c')\nO='--d e'\nX=1\npython \"${A[@]}\" $O $X 'f'"
    (command,) = commands(text)
    assert [text[each.start : each.end] for each in command.words] == [
        "python",
        *("--a", "'b c'", "--d", "e", "$X", "'f'"),
    ]


def test_a_name_in_a_path_keeps_its_place() -> None:
    text = "A=a B=b\nX=$A/$B/\np $A/$B/ c"
    assert [text[each.start : each.end] for each in variables(text)] == ["A=a", "B=b", "X=$A/$B/"]
    (command,) = commands(text)
    assert [text[each.start : each.end] for each in command.words] == ["p", "$A/$B/", "c"]


def test_an_export_tells_of_the_assignment_before() -> None:
    (found,) = variables("A=b\nexport A")
    assert found.exported


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        pytest.param("p", "", id="where it started"),
        pytest.param("cd a/b && p", "a/b", id="below"),
        pytest.param("cd a\ncd ../c\np", "c", id="beside"),
        pytest.param("cd /a\np", "/a", id="anywhere"),
        pytest.param('cd "$(dirname $0)"\np', None, id="unknown"),
        pytest.param("(cd a)\np", "", id="a subshell goes alone"),
    ],
)
def test_cd_leads(text: str, folder: str | None) -> None:
    assert commands(text)[-1].folder == folder


@pytest.mark.parametrize(
    ("text", "sourced"),
    [
        pytest.param("source env.sh\np", ("env.sh",), id="by its name"),
        pytest.param(". $(dirname $0)/env.sh\np", ("./env.sh",), id="beside the script"),
        pytest.param("source ~/venv/bin/activate\n. ~/.bashrc\np", (), id="none of ours"),
        pytest.param("if x; then . a.sh; fi\np", ("a.sh",), id="maybe"),
    ],
)
def test_sourced_scripts_are_told(text: str, sourced: tuple[str, ...]) -> None:
    assert commands(text)[-1].sourced == sourced


@pytest.mark.parametrize(
    "text",
    [
        *("(" * 3000, "$(" * 3000, "if a; then " * 2000, "a && " * 3000, '"$(' * 2000),
        *("A=$A$A\n" * 100, 'A=("${A[@]}" "${A[@]}")\n' * 60, "<<EOF\n" * 300, '"', "${A[", "\\"),
        "f() { g; g; g; }\ng() { h; h; h; }\nh() { f; f; f; }\nf",
    ],
    ids=str.strip,
)
def test_broken_and_endless_scripts_are_read(text: str) -> None:
    nodes = read(Source("run.sh", text, kind="shell")).nodes
    assert all(0 <= each.start <= each.end <= len(text) for each in nodes)


def test_what_is_broken_is_left_out_and_the_rest_is_read() -> None:
    text = "export A=b\nq --x ) 1\nB=2\nexport C=d\np"
    assert seen(text)["A"] == "b"
    assert seen(text)["C"] == "d"


def test_text_in_another_source_has_its_places() -> None:
    (variable, command) = shell.parse("A=b p 'c d'", 100, {"E": "f"})
    assert variable[:2] == (100, 103)
    assert isinstance(command, Command)
    assert command.environment == {"E": "f", "A": "b"}
    assert [(each.start, each.end) for each in command.words] == [(104, 105), (106, 111)]


def test_words_of_a_list_become_shell_text() -> None:
    text, places = shell.quoted([("it's", range(10, 15)), ("b", range(20, 22))])
    (command,) = shell.parse(text, places=places)
    assert isinstance(command, Command)
    assert [each.text for each in command.words] == ["it's", "b"]
    assert [(each.start, each.end) for each in command.words] == [(9, 15), (19, 22)]


@pytest.mark.parametrize(
    ("front", "environment"),
    [
        ("mpirun -env A=1 -env B=0", {"A": "1", "B": "0", "C": "c"}),
        ("mpiexec -genv A 1 -env B $X", {"A": "1", "C": "c"}),
        ("srun --export=ALL,A=1,B=2", {"A": "1", "B": "2", "C": "c"}),
        ("srun --export ALL", {"C": "c"}),
        ("srun --export=A=1", {"A": "1"}),
        ("srun --export=NONE", {}),
        ("srun --export=C,A=1", {"A": "1", "C": "c"}),
    ],
)
def test_launchers_set_variables(front: str, environment: dict[str, str | None]) -> None:
    (command,) = commands(f"export C=c\n{front} python train.py")
    assert command.environment == environment


def test_what_is_sourced_sets_what_is_not_set_here() -> None:
    script = source("run.sh", 'source "$HERE/a.sh"\n. missing.sh\npython t.py "${ARGS[@]}" $LR')
    texts = {"./a.sh": "ARGS=(--a 1)\nLR=2\npython other.py\nexit 0"}
    script.beside = texts.get
    (command,) = (each for each in read(script).nodes if isinstance(each, Command))
    assert [each.text for each in command.words] == ["python", "t.py", "--a", "1", "2"]
    assert command.sourced == ("./a.sh", "missing.sh")
