"""Runs the example consumer docs/examples/findings.py, in an environment of its own.

Its packages come from PyPI, once; they are kept in $TRUEUP_CACHE/venv-consumer.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "docs", "examples", "findings.py")
REQUIREMENTS = os.path.join(ROOT, "docs", "examples", "requirements.txt")


def bootstrap():
    address = os.environ.get("KAFKA_BOOTSTRAP", "")
    if not address:
        raise SystemExit("KAFKA_BOOTSTRAP must name a broker; tools/services/kafka starts one")
    return address


def python():
    """An interpreter that has what the example needs; made by the first who asks."""
    cache = os.environ.get("TRUEUP_CACHE") or os.path.expanduser("~/.cache/trueup")
    os.makedirs(cache, exist_ok=True)
    venv = os.path.join(cache, "venv-consumer")
    stamp = os.path.join(venv, "made-from.txt")
    with open(REQUIREMENTS, encoding="utf-8") as file:
        wanted = f"{sys.version}\n{file.read()}"
    with open(venv + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(stamp) or _read(stamp) != wanted:
            shutil.rmtree(venv, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            pip = [os.path.join(venv, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
            subprocess.run([*pip, "install", "--quiet", "--only-binary", ":all:", "--retries", "5",
                            "--requirement", REQUIREMENTS], check=True)  # fmt: skip
            with open(stamp, "w", encoding="utf-8") as file:  # last: what has a stamp is whole
                file.write(wanted)
    return os.path.join(venv, "bin", "python")


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def generate(folder, *formats):
    """The Python code of the public formats, as its header tells users to make it, or of others."""
    names = list(formats or ["finding"])
    if "journal" in names:
        names.append("policy")  # which it includes
    files = [f"schemas/trueup/v1/{name}.proto" for name in names]
    command = ["protoc", "-I", "schemas", "--python_out", folder, *files]
    subprocess.run(command, cwd=ROOT, check=True)


def publish(topic, records, partitions=2):
    """Appends records (as formats_records prints them; `partition` is 0 where it is not said) to a
    topic, which is made if it is not there."""
    words = [python(), "-B", os.path.join(os.path.dirname(__file__), "publish.py")]
    text = "".join(json.dumps(record) + "\n" for record in records)
    subprocess.run([*words, bootstrap(), topic, str(partitions)], input=text, text=True, check=True)


class Consumer:
    """One run of the example with --json. `folder` has the generated code."""

    def __init__(self, folder, prefix, *flags):
        command = [python(), "-B", EXAMPLE, "--bootstrap", bootstrap(), "--prefix", prefix]
        self._process = subprocess.Popen(
            [*command, *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": folder},
        )
        self._heard = threading.Condition()
        self._lines, self._said = [], []
        self._readers = [
            threading.Thread(target=self._follow, args=pair, daemon=True)
            for pair in ((self._process.stdout, self._lines), (self._process.stderr, self._said))
        ]
        for reader in self._readers:
            reader.start()

    def _follow(self, stream, lines):
        for line in stream:
            with self._heard:
                lines.append(line.rstrip("\n"))
                self._heard.notify_all()
        stream.close()

    def lines(self):
        with self._heard:
            return list(self._lines)

    def said(self):
        """What it wrote to stderr."""
        with self._heard:
            return "\n".join(self._said)

    def findings(self):
        """What it printed, of a run with --json."""
        return [json.loads(line) for line in self.lines()]

    def until(self, what, condition, seconds=60):
        """Polls until the condition holds; fails the test if it does not."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline or self._process.poll() not in (None, 0):
                raise AssertionError(f"{what} did not come; the consumer printed\n"
                                     + "\n".join(self.lines() + [self.said()]))  # fmt: skip
            with self._heard:
                self._heard.wait(0.1)

    def until_told(self, wanted, seconds=60):
        """Waits for findings: a set of (rule, subject, state), as the engine under test has them."""

        def told():
            return {(f["rule"], f["subject"], f["state"]) for f in self.findings()}

        self.until(f"{sorted(wanted)}", lambda: wanted <= told(), seconds)

    def end(self, how=signal.SIGINT, within=20):
        """Signals it and waits. Returns its exit code."""
        self._process.send_signal(how)
        return self.ended(within)

    def ended(self, within=60):
        """Waits for an end of its own. Returns its exit code."""
        code = self._process.wait(within)
        for reader in self._readers:
            reader.join()
        return code

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
        self.ended()
