"""What seeds generators of random numbers, and what starts programs that have their own."""

from __future__ import annotations

# Functions that seed a generator of this process.
SEEDING = frozenset(
    [
        "random.seed",
        "numpy.random.seed",
        "torch.manual_seed",
        "torch.random.manual_seed",
        "torch.cuda.manual_seed",
        "torch.cuda.manual_seed_all",
    ]
)
# What starts other programs, or processes that read their environment anew.
STARTING = frozenset(
    [
        *(f"subprocess.{name}" for name in ("run", "Popen", "call", "check_call", "check_output")),
        *(f"os.spawn{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *("os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp"),
        *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
        *("torch.multiprocessing.spawn", "torch.distributed.run.main", "torch.distributed.run.run"),
        *(
            f"{library}.{name}"
            for library in ("multiprocessing", "torch.multiprocessing")
            for name in ("Process", "Pool", "set_start_method", "get_context")
        ),
    ]
)
