# SPDX-License-Identifier: MIT
"""Pages in a headless Chromium, driven by its own protocol over two pipes."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time

#: Where Chromium is looked for.
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
    *("--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"),
)

#: Chromium reads what to do from file 3 and answers into file 4.
_START = """
import fcntl, os, sys
ours, theirs = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(ours, 3)
os.dup2(theirs, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

_LIMIT = 30.0


def find():
    """Return the program, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One tab; remembers what its pages complained of and what they asked for."""

    def __init__(self, profile):
        program = find()
        ours, theirs = os.pipe(), os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _START, str(ours[0]), str(theirs[1]), program),
                *(*OPTIONS, f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._out, self._in = ours[1], theirs[0]
        self._buffer = b""
        self._numbers = itertools.count(1)
        self._session = None
        #: Errors and warnings of the console, exceptions.
        self.complaints = []
        #: Addresses that were asked for.
        self.requests = []
        self._events = []
        target = self._call("Target.getTargets")["targetInfos"]
        tab = next(one["targetId"] for one in target if one["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=tab, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)

    def open(self, path, width, settle=0.3):
        """Show a file, or an address, in a window of that width."""
        self.complaints.clear()
        self.requests.clear()
        self._events.clear()
        self.resize(width)
        url = path if isinstance(path, str) else path.resolve().as_uri()
        self._call("Page.navigate", url=url)
        end = time.monotonic() + _LIMIT
        while "Page.loadEventFired" not in self._events:
            assert time.monotonic() < end, "the page does not load"
            self._take(0.5)
        self._take(settle)  # what comes right after

    def resize(self, width):
        """Make the window so wide."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )

    def colors(self, scheme):
        """Prefer "light" or "dark" colours, and no movement."""
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        self._call("Emulation.setEmulatedMedia", features=features)

    def value(self, expression):
        """Return the value of JavaScript in the page."""
        found = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path):
        """Write a picture of the whole page."""
        taken = self._call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True
        )
        path.write_bytes(base64.b64decode(taken["data"]))

    def _call(self, method, **params):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _LIMIT
        while time.monotonic() < end:
            for answer in self._take(1.0):
                if answer.get("id") == number:
                    assert "error" not in answer, answer
                    return answer["result"]
        raise TimeoutError(f"no answer to {method} in {_LIMIT:.0f} s")

    def _take(self, seconds):
        """Return the messages that come within some seconds; note what they say."""
        ready, _, _ = select.select([self._in], [], [], seconds)
        if not ready:
            return []
        self._buffer += os.read(self._in, 1 << 20)
        *whole, self._buffer = self._buffer.split(b"\0")
        messages = [json.loads(one) for one in whole]
        for message in messages:
            self._note(message.get("method"), message.get("params", {}))
        return messages

    def _note(self, method, params):
        if method is None:
            return
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            if params["type"] in {"error", "warning", "assert"}:
                self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded":
            if params["entry"]["level"] in {"error", "warning"}:
                self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
