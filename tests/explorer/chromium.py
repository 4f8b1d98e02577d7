"""Headless Chromium, driven over a pipe by its DevTools protocol: no driver, no port, no package."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """The browser of this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page of a browser."""

    def __init__(self, to: int, from_: int):
        self._to, self._from = to, from_
        self._number = 0
        self._rest = b""
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session: str | None = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    _session = None

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command. Raises AssertionError where the browser refuses it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def open(self, path: Path, width: int = 1400, height: int = 900) -> None:
        """Shows a file, and waits until its program is ready."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=path.as_uri())
        self.wait("document.body && document.body.dataset.ready")

    def run(self, expression: str) -> Any:
        """The value of an expression, or what its promise brings. Raises AssertionError where it throws."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]["exception"].get("description")
        return done["result"].get("value")

    def wait(self, expression: str, seconds: float = 20) -> None:
        """Until it is true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.run(f"Boolean({expression})"):
                return
            time.sleep(0.02)
        raise AssertionError(f"{expression} did not come true in {seconds} s; errors: {self.errors}")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"Enter": 13, "Escape": 27}[key])

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click_on(self, selector: str) -> None:
        """The middle of the first element that the selector finds."""
        self.wait(f"document.querySelector({selector!r})")
        self.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'nearest'}})")
        x, y = self.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({selector!r}).getBoundingClientRect())")
        self.click(x, y)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._from, 1 << 20)
            assert more, "the browser ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"].get("exception", {}).get("description", "?"))
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])


@contextlib.contextmanager
def browser(program: str, home: Path) -> Iterator[Page]:
    """A page of a fresh browser, which ends with the block."""
    (commands, to), (from_, answers) = os.pipe(), os.pipe()
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"]
    command = [program, *flags, f"--user-data-dir={home}", "--remote-debugging-pipe", "about:blank"]
    script = f'exec "$@" 3<&{commands} 4>&{answers}'
    process = subprocess.Popen(["bash", "-c", script, "bash", *command], pass_fds=(commands, answers), stderr=subprocess.DEVNULL)
    os.close(commands)
    os.close(answers)
    try:
        yield Page(to, from_)
    finally:
        os.close(to)
        os.close(from_)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
