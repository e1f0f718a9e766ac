"""``python -m detlint``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # The current folder is what is linted: a library's optional `import x` must not run its x.py.
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        del sys.path[0]

    from detlint.cli import run

    run()
