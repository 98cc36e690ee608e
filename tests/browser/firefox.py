"""Firefox without a window, spoken to by its own protocol (WebDriver BiDi): it needs no driver beside the browser."""

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager

from websockets.sync.client import connect

SECONDS = 120


class Tab:
    """One page, and what it complained about or asked for."""

    def __init__(self, socket):
        self.socket, self.numbers, self.events = socket, itertools.count(1), []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method, **params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self.socket.recv(SECONDS))
            if said.get("type") == "event":
                self.events.append((said["method"], said["params"]))
            elif said.get("id") == number:
                assert said["type"] == "success", said
                return said["result"]

    def open(self, address, width=1280, height=900):
        self.events.clear()
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})
        self.ask("browsingContext.navigate", context=self.context, url="about:blank", wait="complete")
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def run(self, expression):
        """The value of JavaScript that is run in the page; a promise is waited for."""
        target = {"context": self.context}
        text = f"Promise.resolve({expression}).then((value) => JSON.stringify(value === undefined ? null : value))"
        said = self.ask("script.evaluate", expression=text, target=target, awaitPromise=True)
        assert said["type"] == "success", said
        return json.loads(said["result"]["value"])

    def wait_for(self, expression):
        """Until it is true; Firefox draws when it has time."""
        end = time.monotonic() + SECONDS
        while not self.run(expression):
            assert time.monotonic() < end, f"still not: {expression}"
            time.sleep(0.05)

    def press(self, text):
        keys = [{"type": kind, "value": each} for each in text for kind in ("keyDown", "keyUp")]
        actions = [{"type": "key", "id": "keys", "actions": keys}]
        self.ask("input.performActions", context=self.context, actions=actions)

    def picture(self):
        return base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self.context)["data"])

    def complaints(self):
        return [params["text"] for method, params in self.events if method == "log.entryAdded"]

    def requests(self):
        return [params["request"]["url"] for method, params in self.events if method == "network.beforeRequestSent"]


@contextmanager
def firefox(path, folder):
    """A browser with an empty profile, and one tab of it."""
    profile = folder / "profile"
    profile.mkdir()
    (profile / "user.js").write_text(
        'user_pref("app.update.auto", false);\nuser_pref("network.captive-portal-service.enabled", false);\n'
    )
    command = [path, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(folder)})
    try:
        address = next(
            found[1] for line in started.stderr if (found := re.search(r"BiDi listening on (ws://\S+)", line))
        )
        with connect(f"{address}/session", max_size=None) as socket:
            yield Tab(socket)
    finally:
        started.terminate()
        started.wait(SECONDS)
        started.stderr.close()


def find_firefox():
    """The program; None where there is none."""
    return os.environ.get("IREVAL_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
