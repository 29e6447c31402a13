"""A headless Chromium, driven over its pipe of debugging messages."""
import fcntl
import json
import os
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def high(end):
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 32)
    os.close(end)
    return moved


class Browser:
    def __init__(self, folder):
        # All ends above 3 and 4, which the browser takes.
        down, up = (tuple(high(end) for end in os.pipe()) for _ in range(2))
        self.out, self.into = up[0], down[1]

        def places():
            os.dup2(down[0], 3)
            os.dup2(up[1], 4)

        command = [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--user-data-dir=" + os.path.join(folder, "profile"), "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=places, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down[0])
        os.close(up[1])
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.rest:
            piece = os.read(self.out, 1 << 16)
            if not piece:
                raise OSError("the browser has ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.into, json.dumps(asked).encode() + b"\0")
        while True:
            told = self.message()
            if told.get("id") == self.number:
                if "error" in told:
                    raise RuntimeError(told["error"])
                return told["result"]
            self.events.append(told)

    def open(self, address):
        self.call("Page.navigate", url=address)
        for _ in range(200):
            if self.value("document.readyState") == "complete" and self.value("location.href") != "about:blank":
                return
            time.sleep(0.05)
        raise RuntimeError("the page does not load")

    def value(self, expression):
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"])
        return told["result"].get("value")

    def click(self, selector):
        box = self.value("(()=>{const e=document.querySelector(%s);e.scrollIntoView({block:'center'});const r=e.getBoundingClientRect();"
                         "return [r.x+r.width/2,r.y+r.height/2]})()" % json.dumps(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def requests(self):
        """Addresses that were asked for, but for the page and blobs of its own."""
        found = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [u for u in found if not u.startswith(("file:", "blob:", "about:"))]

    def complaints(self):
        return [e["params"] for e in self.events if e.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        os.close(self.out)
        os.close(self.into)
