"""The public place of the callback for Hugging Face's Trainer."""

from guard.integrations.transformers import GuardCallback

__all__ = ["GuardCallback"]
