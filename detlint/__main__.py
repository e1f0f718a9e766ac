"""``python -m detlint``."""

from __future__ import annotations

import sys

from detlint.cli import main

sys.exit(main())
