"""The hooks of ``pytest_plugin``: options, marker, fixture, and when blocks open."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from detlint.integrations.presence import others_guard

if TYPE_CHECKING:
    from collections.abc import Generator

    from guard.integrations.pytest_blocks import Blocks
    from guard.settings import Settings

_BLOCKS = pytest.StashKey["Blocks"]()

_MARKER = (
    "guard(on=True, /, **settings): run the test under guard.deterministic(**settings); what is "
    "not given is as for --guard. guard(False) leaves a test out of --guard"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--guard`` and ``--guard-seed``."""
    group = parser.getgroup("guard", "determinism (guard)")
    group.addoption(
        "--guard",
        action="store_true",
        help="run every test inside guard.deterministic; settings come from GUARD_* variables "
        "and from [tool.guard] in pyproject.toml",
    )
    group.addoption(
        "--guard-seed",
        metavar="N",
        help="the seed of guarded tests whose marker gives none (default: GUARD_SEED, then "
        "[tool.guard], then 0); guards no test by itself",
    )


@pytest.hookimpl(trylast=True)  # what the project's own conftest.py says comes first
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; end at once where an option could not work for any test; be gone
    where the name is another's."""
    asked = config.getoption("guard") or config.getoption("guard_seed") is not None
    other = others_guard(config)
    if other and asked:
        raise pytest.UsageError(f"--guard is detlint's, and {other}")
    if other:
        config.pluginmanager.unregister(sys.modules[__name__])
        return
    config.addinivalue_line("markers", _MARKER)
    if asked:
        _blocks(config).check()


def _blocks(config: pytest.Config) -> Blocks:
    if _BLOCKS not in config.stash:
        from guard.integrations.pytest_blocks import Blocks

        config.stash[_BLOCKS] = Blocks(config)
    return config.stash[_BLOCKS]


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which tests are guarded, and by which seed."""
    if _BLOCKS not in config.stash:
        return None
    which = "every test" if config.getoption("guard") else "tests that ask for it"
    return f"guard: {which}, seed {_blocks(config).settings.seed}"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the fixture be set up first, so that it covers the others."""
    names: list[str] = getattr(item, "fixturenames", [])
    if "deterministic" in names and _is_ours(item):
        names.remove("deterministic")
        names.insert(0, "deterministic")


def _is_ours(item: pytest.Item) -> bool:
    """Whether the fixture is this one, and not the project's own of that name."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return any(each.func.__module__ == __name__ for each in known.get("deterministic", ())[-1:])


@pytest.fixture
def deterministic(request: pytest.FixtureRequest) -> Settings:
    """Run the test under guard, its other fixtures too; the settings in force."""
    blocks = _blocks(request.config)
    return blocks.current or blocks.open(request.node, blocks.settings)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Switch guard on before anything of the test is set up."""
    if item.config.getoption("guard") or item.get_closest_marker("guard"):
        with _blocks(item.config).opened_if_asked(item):
            return (yield from _explained(item.config))
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Explain what torch refused, where guard has not done so on the spot."""
    return (yield from _explained(item.config))


def _explained(config: pytest.Config) -> Generator[None]:
    if _BLOCKS not in config.stash:
        return (yield)
    with _blocks(config).explaining():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Switch guard off after everything of the test has been torn down."""
    try:
        return (yield)
    finally:
        _close(item.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Switch guard off after a session that ended within a test, as on Ctrl-C."""
    _close(config)


def _close(config: pytest.Config) -> None:
    if _BLOCKS in config.stash:
        _blocks(config).close()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Make a fixture that tests share apart from the test that happens to be the first."""
    if fixturedef.scope == "function" or _BLOCKS not in request.config.stash:
        return (yield)
    name = f"{fixturedef.argname}[{getattr(request, 'param_index', 0)}]"
    with _blocks(request.config).inner(name):
        return (yield)
