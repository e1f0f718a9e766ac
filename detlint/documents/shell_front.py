"""Programs that start another one, named behind them: ``nohup``, ``env``, ``srun -n 4``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.documents.document import Word


class Starter(NamedTuple):
    """How the command line of such a program is read.

    valued       options that take the next word for a value, unless it is glued to them
    flags        options that take none; where there are some, all others do
    skipped      words between the options and the program: an image, a duration
    subcommands  what must follow its name, ``run`` of ``docker run``; ("",): nothing must
    sets         options that set a variable: ``-x A=b``
    fresh        whether the program sees nothing of the environment outside
    """

    valued: frozenset[str] = frozenset()
    flags: frozenset[str] | None = None
    skipped: int = 0
    subcommands: tuple[str, ...] = ("",)
    sets: frozenset[str] = frozenset()
    fresh: bool = False
    pairs: frozenset[str] = frozenset()


class Started(NamedTuple):
    """A command line told apart: what is in front, the program, and variables set on the way.

    ``sets`` are the words ``A=b``; ``passes`` names variables that are handed on.
    """

    front: tuple[Word, ...]
    words: tuple[Word, ...]
    sets: tuple[Word, ...] = ()
    passes: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    fresh: bool = False


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MPI = Starter(
    _options(
        """-np -n -N -c -H -host --host -hosts -hostfile --hostfile -machinefile --machinefile -f
        -bind-to --bind-to -map-by --map-by -rank-by --rank-by -ppn -npernode --npernode -x
        -wdir --wdir -wd -env -envlist --output-filename -output-filename --timeout -p --prefix
        --rankfile -rf -genvlist -launcher -bootstrap -iface -o -outfile-pattern --num-proc
        --network-interfaces --start-timeout --ssh-port -prepend-rank --cpu-list --cpu-set
        --personality --runtime --tune --app"""
    ),
    sets=_options("-x"),
    pairs=_options("-mca --mca -gmca --gmca -genv -env --omca --prtemca"),
)
_CONTAINER_FLAGS = _options(
    """-d -i -t -it -ti -dit -itd -id -di -td --detach --interactive --tty --rm --init -P
    --privileged --publish-all --read-only --no-healthcheck --oom-kill-disable --sig-proxy -q
    --quiet --disable-content-trust --replace --help"""
)
_CONTAINER = Starter(
    flags=_CONTAINER_FLAGS,
    skipped=1,
    subcommands=("run", "exec"),
    sets=_options("-e --env"),
    fresh=True,
)
_IMAGE = Starter(
    _options(
        """-B --bind -H --home --pwd --env --env-file -S --scratch --overlay -o --network --app
        --hostname --security -W --workdir -D --dns --mount --apply-cgroups --add-caps"""
    ),
    skipped=1,
    subcommands=("exec", "run"),
    sets=_options("--env"),
)
_CONDA = Starter(_options("-n --name -p --prefix --cwd -e --environment"), subcommands=("run",))
_PROFILER = _options(
    """-o --output -t --trace -s --sample -c --capture-range -w --show-output -x --stop-on-exit -f
    --force-overwrite -d --duration -y --delay -e --env-var --python-sampling --cudabacktrace
    --backtrace --stats --kill --capture-range-end --gpu-metrics-device --cuda-memory-usage
    --pytorch --cuda-graph-trace -p --nvtx-capture --export --wait --session-new"""
)
STARTERS = {
    "env": Starter(_options("-u --unset -C --chdir")),
    "nohup": Starter(),
    "time": Starter(_options("-f -o --format --output")),
    "exec": Starter(_options("-a")),
    "command": Starter(),
    "builtin": Starter(),
    "nice": Starter(_options("-n --adjustment")),
    "ionice": Starter(_options("-c -n --class --classdata")),
    "stdbuf": Starter(_options("-i -o -e --input --output --error")),
    "setsid": Starter(),
    "unbuffer": Starter(),
    "caffeinate": Starter(_options("-t -w")),
    "sudo": Starter(_options("-u -g -h -p -C -U -D -R -T --user --group --host --chdir")),
    "timeout": Starter(_options("-k -s --kill-after --signal"), skipped=1),
    "numactl": Starter(
        _options(
            """-i -p -P -m -N -C --interleave --preferred --membind --cpunodebind --physcpubind
            --preferred-many"""
        )
    ),
    "taskset": Starter(skipped=1),
    "srun": Starter(
        flags=_options(
            """-u --unbuffered -l --label -O --overcommit -s --oversubscribe --pty -v --verbose -Q
            --quiet -E --preserve-env --overlap --exact -X --disable-status -Z --no-allocate -H
            --hold --contiguous --spread-job --use-min-nodes --multi-prog -k --no-kill --exclusive
            --kill-on-bad-exit --wait-all-nodes --reboot --container-mount-home
            --no-container-mount-home --container-writable --container-remap-root
            --no-container-remap-root -I --immediate -vv -vvv"""
        )
    ),
    **dict.fromkeys(
        ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "mpirun_rsh"), _MPI
    ),
    "horovodrun": _MPI,
    **dict.fromkeys(("docker", "podman", "nvidia-docker"), _CONTAINER),
    **dict.fromkeys(("singularity", "apptainer"), _IMAGE),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _CONDA),
    "poetry": Starter(subcommands=("run",)),
    "pipenv": Starter(subcommands=("run",)),
    "hatch": Starter(subcommands=("run",)),
    "pdm": Starter(_options("-p --project"), subcommands=("run",)),
    "rye": Starter(subcommands=("run",)),
    "pixi": Starter(_options("-e --environment --manifest-path"), subcommands=("run",)),
    "uv": Starter(
        _options(
            """--with --with-editable --with-requirements --extra --no-extra --group --no-group
            --only-group -p --python --project --directory --env-file --index --index-url
            --extra-index-url --default-index -i -f --find-links --package --no-package
            --refresh-package --link-mode --index-strategy --color --config-file"""
        ),
        subcommands=("run",),
    ),
    "ray": Starter(
        _options(
            """--address --runtime-env --runtime-env-json --working-dir --submission-id --job-id
            --entrypoint-num-cpus --entrypoint-num-gpus --metadata-json --headers --verify"""
        ),
        subcommands=("submit",),  # of `ray job submit`
        fresh=True,
    ),
    "xvfb-run": Starter(_options("-s --server-args -n --server-num -e --error-file -f -p -w")),
    "nsys": Starter(_PROFILER, subcommands=("profile", "launch")),
    "ncu": Starter(
        _options(
            """-o --export -k --kernel-name -c --launch-count -s --launch-skip --set --section
            --metrics --nvtx-include --target-processes --replay-mode"""
        )
    ),
    "compute-sanitizer": Starter(_options("--tool --log-file")),
    "strace": Starter(_options("-e -o -p -s")),
    **dict.fromkeys(("tini", "dumb-init", "catchsegv"), Starter(_options("-p -e -w --rewrite"))),
    **dict.fromkeys(("gosu", "su-exec", "setpriv"), Starter(skipped=1)),
}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_NAME = re.compile(r"[A-Za-z_]\w*")
_KNOWN = re.compile(r"(?:python|pypy|torchrun|accelerate|deepspeed)[\d.]*$")
# Of these, `sudo` without `-E` and `env -i` hand on nothing.
_KEEPING = _options("-E --preserve-env")


def started(words: Sequence[Word]) -> Started:
    """What a command line starts; itself, unless it begins with a program that starts others."""
    found = Started((), tuple(words))
    for _ in range(len(words)):
        one = _one(found.words)
        if one is None:
            break
        found = Started(
            found.front + one.front,
            one.words,
            (() if one.fresh else found.sets) + one.sets,
            found.passes + one.passes,
            found.unset + one.unset,
            found.fresh or one.fresh,
        )
    return found


def _one(words: tuple[Word, ...]) -> Started | None:
    """The words without the first program, if that starts another one."""
    if not words:
        return None
    name = (words[0].text or "").rpartition("/")[2]
    if words[0].text is None:
        return _past_unknown(words)
    starter = STARTERS.get(name)
    if starter is None:
        return None
    reading = _Reading(starter, words)
    if starter.subcommands == ("",):
        place = 1
    else:
        place = next((i + 1 for i, each in enumerate(words) if each.text in starter.subcommands), 0)
        if not place or any(
            not (each.text or "-").startswith("-") for each in words[1 : place - 1]
        ):
            return None
    return reading.read(name, place)


def _may_lead(word: Word) -> bool:
    """Whether a word may stand between a program and its subcommand."""
    return word.text is None or word.text.startswith("-") or word.text == "job"


def _past_unknown(words: tuple[Word, ...]) -> Started | None:
    """``$LAUNCHER python train.py``: whatever it stands for starts the program behind it."""
    for index, each in enumerate(words[:4]):
        if each.text is not None:
            known = _KNOWN.match(each.text.rpartition("/")[2])
            return Started(words[:index], words[index:]) if known else None
    return None


class _Reading:
    """One command line of a starter, read from left to right."""

    def __init__(self, starter: Starter, words: tuple[Word, ...]) -> None:
        self._starter = starter
        self._words = words
        self._sets: list[Word] = []
        self._passes: list[str] = []
        self._unset: list[str] = []
        self._fresh = starter.fresh

    def read(self, name: str, place: int) -> Started | None:
        keeps = name != "sudo"
        while place < len(self._words):
            text = self._words[place].text
            if text == "--":
                place += 1
                break
            if text is not None and text.startswith("-") and text != "-":
                keeps = keeps or text in _KEEPING
                place = self._option(name, place, text)
            elif name in ("env", "sudo") and text is not None and _ASSIGNMENT.match(text):
                self._sets.append(self._words[place])
                place += 1
            elif text is None and self._words[place + 1 :] and not self._starter.skipped:
                place += 1  # some options, if a program stands behind them
            else:
                break
        place += self._starter.skipped
        front, words = self._words[:place], self._words[place:]
        fresh = self._fresh or not keeps
        found = (tuple(self._sets), tuple(self._passes), tuple(self._unset), fresh)
        return Started(front, words, *found) if words else None

    def _option(self, name: str, place: int, text: str) -> int:
        """The place behind an option and its value."""
        option, glued, value = text.partition("=")
        following = self._words[place + 1] if place + 1 < len(self._words) else None
        if option in self._starter.pairs and not glued:
            return place + 3
        if option in self._starter.sets:
            word = following if not glued else self._part(self._words[place], value)
            self._setting(word)
        elif name == "env" and option in ("-u", "--unset"):
            given = value if glued else (following.text if following else None)
            self._unset.append(given or "")
        elif name == "env" and text in ("-i", "--ignore-environment", "-"):
            self._fresh = True
        return place + (1 if glued or not self._takes_value(text) else 2)

    def _takes_value(self, text: str) -> bool:
        flags = self._starter.flags
        if flags is None:
            return text in self._starter.valued
        short = not text.startswith("--")
        return text not in flags and not (short and len(text) > 2)

    def _setting(self, word: Word | None) -> None:
        if word is None or word.text is None:
            return
        for text in word.text.split(",") if word.text.count("=") > 1 else [word.text]:
            if _ASSIGNMENT.match(text):
                self._sets.append(word._replace(text=text))
            elif _NAME.fullmatch(text):
                self._passes.append(text)

    def _part(self, word: Word, value: str) -> Word:
        return word._replace(start=max(word.start, word.end - len(value)), text=value)
