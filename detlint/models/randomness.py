"""What draws random numbers, what seeds that, and what starts programs with seeds of their own."""

from __future__ import annotations

# Functions that draw from the global generator of a library, by its name in findings.
_DRAWING = {
    "random": """betavariate binomialvariate choice choices expovariate gammavariate gauss
        getrandbits lognormvariate normalvariate paretovariate randbytes randint random randrange
        sample shuffle triangular uniform vonmisesvariate weibullvariate""",
    "numpy.random": """beta binomial bytes chisquare choice dirichlet exponential f gamma geometric
        gumbel hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal
        negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power
        rand randint randn random random_integers random_sample ranf rayleigh sample shuffle
        standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular
        uniform vonmises wald weibull zipf""",
    "torch": """bernoulli multinomial normal poisson rand rand_like randint randint_like randn
        randn_like randperm""",
}
DRAWS = {
    f"{module}.{name}": module.partition(".")[0]
    for module, names in _DRAWING.items()
    for name in names.split()
}
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
