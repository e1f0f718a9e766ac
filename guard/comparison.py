"""The former name of ``guard.diff``."""

from guard.diff import *  # noqa: F403 - all that it names as public
