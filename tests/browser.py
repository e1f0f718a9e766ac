"""A page in a real browser: Chromium without a window, spoken to over a pipe by its DevTools
protocol, so that no driver is needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
    "about:blank",
)
# It reads from descriptor 3 and writes to 4.
_START = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
for number, each in enumerate(pipes, 3):
    os.dup2(each, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page. What it says in the console, errors among that, is kept in ``said``."""

    def __init__(self, to: int, of: int) -> None:
        self._to, self._of = to, of
        self._number, self._left = 0, b""
        self.said: list[str] = []
        self._session = ""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self._ask(f"{domain}.enable")

    def open(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        self._ask("Page.navigate", url=address)
        for _ in range(200):
            if (
                self.run("document.readyState") == "complete"
                and self.run("location.href") != "about:blank"
            ):
                return
            time.sleep(0.05)
        raise AssertionError(f"{address} does not load")

    def run(self, script: str) -> Any:  # noqa: ANN401 - any value of JavaScript
        """What an expression gives in the page."""
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        done = self._ask("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def choose(self, name: str, value: str) -> None:
        """Choose from a list, as a person does."""
        field = f"document.querySelector('form').elements[{json.dumps(name)}]"
        self.run(f"{field}.value = {json.dumps(value)}")
        self.run(f"{field}.dispatchEvent(new Event('input', {{bubbles: true}}))")

    def click(self, selector: str) -> None:
        """Click in the middle of an element, if it can be seen."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView()")
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = (
            self.run(f"{box}.{a} + {box}.{b} / 2") for a, b in (("x", "width"), ("y", "height"))
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self._ask("Input.insertText", text=text)

    def shown(self, selector: str) -> list[str]:
        """The texts of the elements that can be seen."""
        found: list[str] = self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".filter(each => each.checkVisibility()).map(each => each.textContent.trim())"
        )
        return found

    def names(self, role: str) -> list[str]:
        """What those who cannot see are told of the elements of a role."""
        nodes = self._ask("Accessibility.getFullAXTree")["nodes"]
        return [
            each["name"]["value"]
            for each in nodes
            if not each["ignored"] and each["role"]["value"] == role and "name" in each
        ]

    def is_dark(self, dark: bool) -> None:
        """Have the page believe that the person likes it dark, or light."""
        wanted = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[wanted])

    def is_printed(self) -> None:
        """Lay the page out as on paper."""
        self._ask("Emulation.setEmulatedMedia", media="print")

    def picture(self, path: Path) -> None:
        """Take a picture of what is seen."""
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        question: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            question["sessionId"] = self._session
        os.write(self._to, json.dumps(question).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            if answer.get("method") in {"Log.entryAdded", "Runtime.exceptionThrown"}:
                self.said.append(json.dumps(answer["params"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            part = os.read(self._of, 65536)
            assert part, "the browser has ended"
            self._left += part
        line, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """One with a profile of its own; the test is skipped where none is installed."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None or sys.platform == "win32":
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)} is installed")
    asked, ask = os.pipe()
    answer, answered = os.pipe()
    profile = f"--user-data-dir={folder / 'profile'}"
    pipes = (str(asked), str(answered))
    command = [sys.executable, "-c", _START, *pipes, program, profile, *_OPTIONS]
    process = subprocess.Popen(command, pass_fds=(asked, answered), stderr=subprocess.DEVNULL)
    os.close(asked)
    os.close(answered)
    try:
        yield Browser(ask, answer)
    finally:
        process.kill()
        process.wait()
        os.close(ask)
        os.close(answer)
