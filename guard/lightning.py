"""The public place of the callback for Lightning."""

from guard.integrations.lightning import GuardCallback

__all__ = ["GuardCallback"]
