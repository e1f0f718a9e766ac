"""Programs that start another one, named behind them, and how their options are read."""

from __future__ import annotations

from typing import NamedTuple

from detlint.models.model import words


class Starter(NamedTuple):
    """How the command line of such a program is read.

    valued       options that take the next word for a value, unless it is glued to them
    flags        options that take none; where there are some, all others do
    skipped      words between the options and the program: an image, a duration
    subcommands  what must follow its name, ``run`` of ``docker run``; ("",): nothing must
    sets         options that set a variable: ``-x A=b``
    named        options that set a variable whose name and value are two words, or one: A=b
    fresh        whether the program sees nothing of the environment outside
    """

    valued: frozenset[str] = frozenset()
    flags: frozenset[str] | None = None
    skipped: int = 0
    subcommands: tuple[str, ...] = ("",)
    sets: frozenset[str] = frozenset()
    fresh: bool = False
    pairs: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()


_MPI = Starter(
    words(
        """-np -n -N -c -H -host --host -hosts -hostfile --hostfile -machinefile --machinefile -f
        -bind-to --bind-to -map-by --map-by -rank-by --rank-by -ppn -npernode --npernode -x
        -wdir --wdir -wd -envlist --output-filename -output-filename --timeout -p --prefix
        --rankfile -rf -genvlist -launcher -bootstrap -iface -o -outfile-pattern --num-proc
        --network-interfaces --start-timeout --ssh-port -prepend-rank --cpu-list --cpu-set
        --personality --runtime --tune --app"""
    ),
    sets=words("-x"),
    pairs=words("-mca --mca -gmca --gmca --omca --prtemca"),
    named=words("-env -genv"),
)
_CONTAINER_FLAGS = words(
    """-d -i -t -it -ti -dit -itd -id -di -td --detach --interactive --tty --rm --init -P
    --privileged --publish-all --read-only --no-healthcheck --oom-kill-disable --sig-proxy -q
    --quiet --disable-content-trust --replace --help"""
)
_CONTAINER = Starter(
    flags=_CONTAINER_FLAGS,
    skipped=1,
    subcommands=("run", "exec"),
    sets=words("-e --env"),
    fresh=True,
)
_IMAGE = Starter(
    words(
        """-B --bind -H --home --pwd --env --env-file -S --scratch --overlay -o --network --app
        --hostname --security -W --workdir -D --dns --mount --apply-cgroups --add-caps"""
    ),
    skipped=1,
    subcommands=("exec", "run"),
    sets=words("--env"),
)
_CONDA = Starter(words("-n --name -p --prefix --cwd -e --environment"), subcommands=("run",))
_PROFILER = words(
    """-o --output -t --trace -s --sample -c --capture-range -w --show-output -x --stop-on-exit -f
    --force-overwrite -d --duration -y --delay -e --env-var --python-sampling --cudabacktrace
    --backtrace --stats --kill --capture-range-end --gpu-metrics-device --cuda-memory-usage
    --pytorch --cuda-graph-trace -p --nvtx-capture --export --wait --session-new"""
)
STARTERS = {
    "env": Starter(words("-u --unset -C --chdir")),
    "nohup": Starter(),
    "time": Starter(words("-f -o --format --output")),
    "exec": Starter(words("-a")),
    "command": Starter(),
    "builtin": Starter(),
    "nice": Starter(words("-n --adjustment")),
    "ionice": Starter(words("-c -n --class --classdata")),
    "stdbuf": Starter(words("-i -o -e --input --output --error")),
    "setsid": Starter(),
    "unbuffer": Starter(),
    "caffeinate": Starter(words("-t -w")),
    "sudo": Starter(words("-u -g -h -p -C -U -D -R -T --user --group --host --chdir")),
    "timeout": Starter(words("-k -s --kill-after --signal"), skipped=1),
    "numactl": Starter(
        words(
            """-i -p -P -m -N -C --interleave --preferred --membind --cpunodebind --physcpubind
            --preferred-many"""
        )
    ),
    "taskset": Starter(skipped=1),
    "srun": Starter(
        flags=words(
            """-u --unbuffered -l --label -O --overcommit -s --oversubscribe --pty -v --verbose -Q
            --quiet -E --preserve-env --overlap --exact -X --disable-status -Z --no-allocate -H
            --hold --contiguous --spread-job --use-min-nodes --multi-prog -k --no-kill --exclusive
            --kill-on-bad-exit --wait-all-nodes --reboot --container-mount-home
            --no-container-mount-home --container-writable --container-remap-root
            --no-container-remap-root -I --immediate -vv -vvv"""
        ),
        sets=words("--export"),
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
    "pdm": Starter(words("-p --project"), subcommands=("run",)),
    "rye": Starter(subcommands=("run",)),
    "pixi": Starter(words("-e --environment --manifest-path"), subcommands=("run",)),
    "uv": Starter(
        words(
            """--with --with-editable --with-requirements --extra --no-extra --group --no-group
            --only-group -p --python --project --directory --env-file --index --index-url
            --extra-index-url --default-index -i -f --find-links --package --no-package
            --refresh-package --link-mode --index-strategy --color --config-file"""
        ),
        subcommands=("run",),
    ),
    "ray": Starter(
        words(
            """--address --runtime-env --runtime-env-json --working-dir --submission-id --job-id
            --entrypoint-num-cpus --entrypoint-num-gpus --metadata-json --headers --verify"""
        ),
        subcommands=("submit",),  # of `ray job submit`
        fresh=True,
    ),
    "xvfb-run": Starter(words("-s --server-args -n --server-num -e --error-file -f -p -w")),
    "nsys": Starter(_PROFILER, subcommands=("profile", "launch")),
    "ncu": Starter(
        words(
            """-o --export -k --kernel-name -c --launch-count -s --launch-skip --set --section
            --metrics --nvtx-include --target-processes --replay-mode"""
        )
    ),
    "compute-sanitizer": Starter(words("--tool --log-file")),
    "strace": Starter(words("-e -o -p -s")),
    **dict.fromkeys(("tini", "dumb-init", "catchsegv"), Starter(words("-p -e -w --rewrite"))),
    **dict.fromkeys(("gosu", "su-exec", "setpriv"), Starter(skipped=1)),
}
