"""Make a training run deterministic, or say exactly what stands in the way.

    import guard

    guard.enable(seed=0)

at the entrypoint, before anything uses a GPU. ``import guard`` itself imports nothing heavy:
torch is imported by the first function that needs it.

PYTEST_DONT_REWRITE: as in detlint.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing for it would take longer than all the rest
if TYPE_CHECKING:
    from guard.activation import active, deterministic, disable, enable
    from guard.doctor import report
    from guard.errors import (
        GuardError,
        LateWarning,
        MissingDependencyError,
        NondeterministicOperationError,
        SettingsError,
        TooLateError,
    )
    from guard.recording.recording import record
    from guard.rehearsal.library import preflight
    from guard.rng_states import restore, rng_state
    from guard.sampler import EpochSampler
    from guard.seeding import seed_worker
    from guard.settings import Settings
    from guard.streams import generator, loader_options
    from guard.surveys import survey

__all__ = [
    "EpochSampler",
    "GuardError",
    "LateWarning",
    "MissingDependencyError",
    "NondeterministicOperationError",
    "Settings",
    "SettingsError",
    "TooLateError",
    "active",
    "deterministic",
    "disable",
    "enable",
    "generator",
    "loader_options",
    "preflight",
    "record",
    "report",
    "restore",
    "rng_state",
    "seed_worker",
    "survey",
]

_HOMES = {
    "activation": ("active", "deterministic", "disable", "enable"),
    "doctor": ("report",),
    "errors": (
        "GuardError",
        "LateWarning",
        "MissingDependencyError",
        "NondeterministicOperationError",
        "SettingsError",
        "TooLateError",
    ),
    "ipython": ("load_ipython_extension", "unload_ipython_extension"),
    "recording.recording": ("record",),
    "rehearsal.library": ("preflight",),
    "rng_states": ("restore", "rng_state"),
    "sampler": ("EpochSampler",),
    "seeding": ("seed_worker",),
    "settings": ("Settings",),
    "streams": ("generator", "loader_options"),
    "surveys": ("survey",),
}


def __getattr__(name: str) -> object:
    """Look a public name up in the module that defines it."""
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value = getattr(import_module(f"guard.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'guard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
