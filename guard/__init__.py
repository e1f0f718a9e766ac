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
    from guard.errors import (
        GuardError,
        LateWarning,
        MissingDependencyError,
        NondeterministicOperationError,
        ReplicasDifferError,
        SameBatchError,
        SettingsError,
        TooLateError,
    )
    from guard.inventory import report
    from guard.recording.recording import record
    from guard.refusals.watch import survey
    from guard.rehearsal.library import preflight
    from guard.replicas.check import check_replicas
    from guard.replicas.watch import watch_replicas
    from guard.settings import Settings
    from guard.setup.activation import active, deterministic, disable, enable
    from guard.setup.rng_states import restore, rng_state
    from guard.setup.seeding import seed_worker
    from guard.setup.streams import EpochSampler, generator, loader_options

__all__ = [
    "EpochSampler",
    "GuardError",
    "LateWarning",
    "MissingDependencyError",
    "NondeterministicOperationError",
    "ReplicasDifferError",
    "SameBatchError",
    "Settings",
    "SettingsError",
    "TooLateError",
    "active",
    "check_replicas",
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
    "watch_replicas",
]

_HOMES = {
    "setup.activation": ("active", "deterministic", "disable", "enable"),
    "inventory": ("report",),
    "errors": (
        "GuardError",
        "LateWarning",
        "MissingDependencyError",
        "NondeterministicOperationError",
        "ReplicasDifferError",
        "SameBatchError",
        "SettingsError",
        "TooLateError",
    ),
    "integrations.ipython": ("load_ipython_extension", "unload_ipython_extension"),
    "recording.recording": ("record",),
    "rehearsal.library": ("preflight",),
    "replicas.check": ("check_replicas",),
    "replicas.watch": ("watch_replicas",),
    "settings": ("Settings",),
    "setup.rng_states": ("restore", "rng_state"),
    "setup.seeding": ("seed_worker",),
    "setup.streams": ("EpochSampler", "generator", "loader_options"),
    "refusals.watch": ("survey",),
}


def __getattr__(name: str) -> object:
    """Look a public name up in the module that defines it."""
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value = getattr(import_module(f"guard.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'guard', which is detlint's, has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
