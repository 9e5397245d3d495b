"""Runs the binary under test, follows its feed, and ends just what it started."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request


def binary():
    path = os.environ.get("TRUEUP_BIN", "")
    if not os.access(path, os.X_OK):
        raise SystemExit(f"TRUEUP_BIN must name the binary trueup; it is '{path}'")
    return path


class Engine:
    """One `trueup up` (or another process), started anew as often as wished; its events are kept over
    all starts."""

    def __init__(self, config, state_dir, *flags, part="up", name="engine", enabled=True):
        self.state_dir = state_dir
        self._config = config
        self.events = []  # the feed, in order
        # Nobody is here to look at what rules would do.
        looks = ["--enable-all"] if enabled and part in ("up", "engine") else []
        self._command = [binary(), part, "-c", config, "-o", "json", *looks, *flags]
        self._log = os.path.join(os.path.dirname(config), f"{name}.log")
        self._heard = threading.Condition()
        self._process = self._reader = None

    # ---------------------------------------------------------------- process
    def launch(self, **environment):
        """Starts it, with these variables too, and does not wait for anything."""
        address = os.path.join(self.state_dir, "http.addr")
        if os.path.exists(address):
            os.remove(address)
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | environment,
            )
        self._reader = threading.Thread(target=self._follow, args=(self._process,), daemon=True)
        self._reader.start()

    def start(self, ready_within=60, **environment):
        """Starts it and waits until its HTTP side answers and the start is over; until /readyz is 200
        unless 0."""
        self.launch(**environment)
        self.until("the start is over", self.started, 60)
        if ready_within:
            self.until("ready", lambda: self.readiness()[0] == 200, ready_within)

    def started(self):
        """Its HTTP side answers, and what it asks the log and its rows for is there."""
        code, text = self.readiness()
        return code != 0 and "still starting" not in text

    def alive(self):
        """True; fails the test if it ended by itself."""
        if self._process.poll() is not None:
            raise AssertionError(f"the engine ended with {self._process.returncode}{self.trace()}")
        return True

    def stopped_by_itself(self, within=30):
        """(exit code, its log) of a process that ends without being asked to."""
        self._process.wait(within)
        self._reader.join()
        return self._process.returncode, self.log()

    def killed(self, within):
        """True once it has killed itself (engine/base/failpoint.h), False if it still runs then."""
        try:
            code = self._process.wait(within)
        except subprocess.TimeoutExpired:
            return False
        if code != -signal.SIGKILL:
            raise AssertionError(f"the engine ended with {code}{self.trace()}")
        self._reader.join()
        return True

    def end(self, how=signal.SIGINT, within=5):
        """Signals it and waits. Returns (exit code, seconds); fails the test if it takes longer."""
        self.signal(how)
        return self.ended(within)

    def rss(self):
        """Bytes of memory that the process holds; 0 once it is gone."""
        try:
            with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0

    def files(self):
        """What each file descriptor of it leads to."""
        folder = f"/proc/{self._process.pid}/fd"
        found = []
        for fd in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                found.append(os.readlink(os.path.join(folder, fd)))
        return found

    def signal(self, how):
        self._process.send_signal(how)

    def ended(self, within=5):
        """Waits for the end that a signal began, as `end`."""
        started = time.monotonic()
        try:
            code = self._process.wait(within)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"not ended within {within} s{self.trace()}") from None
        took = time.monotonic() - started
        self._reader.join()
        return code, took

    def kill(self):
        """SIGKILL: no last word."""
        self.end(signal.SIGKILL, 30)

    def close(self):
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _follow(self, process):
        for line in process.stdout:
            try:
                event = json.loads(line)
            except ValueError:  # a line that a SIGKILL cut
                continue
            with self._heard:
                self.events.append(event)
                self._heard.notify_all()
        process.stdout.close()

    # ---------------------------------------------------------------- looking
    def mark(self):
        """A place in the feed, for `since`."""
        with self._heard:
            return len(self.events)

    def seen(self, since=0, **fields):
        """The events from `since` on with these fields."""
        with self._heard:
            events = self.events[since:]
        return [e for e in events if all(e.get(k) == v for k, v in fields.items())]

    def wait_event(self, seconds=40, since=0, **fields):
        """The first event from `since` on with these fields; fails the test if none comes."""
        found = []

        def look():
            found[:] = self.seen(since, **fields)
            return found and self.alive()

        self.until(f"event {fields}", look, seconds)
        return found[0]

    def until(self, what, condition, seconds):
        """Polls until the condition holds; fails the test if it does not."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {what}{self.trace()}")
            self.alive()
            with self._heard:
                self._heard.wait(0.1)

    def get(self, path, known=True):
        """(status, text) of a GET at its HTTP side, by whom it knows or by a stranger; status 0
        while it does not answer."""
        try:
            with open(os.path.join(self.state_dir, "http.addr"), encoding="utf-8") as file:
                url = f"http://{file.read().strip()}{path}"
            request = urllib.request.Request(url, headers=self.credentials() if known else {})
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (OSError, ValueError):
            return 0, ""

    def credentials(self):
        """The header of its first token: /readyz has its sentence for nobody else."""
        with open(self._config, encoding="utf-8") as file:
            said = re.search(r"^keys: (\S+)", file.read(), re.MULTILINE)
        keys = said[1] if said else os.path.join(self.state_dir, "keys")
        with open(os.path.join(keys, "tokens"), encoding="ascii") as file:
            words = [line.split() for line in file if line.strip() and line[0] != "#"]
        return {"Authorization": f"Bearer {words[0][2]}"} if words else {}

    def readiness(self):
        return self.get("/readyz")

    def metric(self, name):
        """One sample, as in trueup_source_up{source="pods"}; None if there is none. The label of the
        policy may be left out: most tests have one."""
        own = 'policy="graph-instances"'
        for line in self.get("/metrics")[1].splitlines():
            bare = line.replace(f"{{{own}}}", "").replace(f"{own},", "")
            if name + " " in (line[: len(name) + 1], bare[: len(name) + 1]):
                return float(line.split()[-1])
        return None

    def logged(self, event):
        """The events of that name in its log, as objects."""
        lines = [json.loads(line) for line in self.log().splitlines() if line.endswith("}")]
        return [line for line in lines if line.get("event") == event]

    def log(self):
        """What it wrote to stderr, over all starts."""
        with open(self._log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def trace(self):
        """What one needs to see after a failure."""
        with self._heard:
            events = self.events[-15:]
        lines = ["", f"--- /readyz: {self.readiness()}", "--- the feed's end:"]
        lines += [json.dumps(event, ensure_ascii=False) for event in events]
        lines += ["--- the log's end:", *self.log().splitlines()[-20:]]
        return "\n".join(lines)
