"""The frame of the integration tests: a world in the real servers, an engine over it, and the
proof at the end, which asks the servers and never the engine.

  TRUEUP_BIN       the binary under test
  TRUEUP_INSTANCE  the set of servers (tools/services), which must be up, the API with KUBE_AUDIT=1
"""

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest

import audit
import check
import scenes
import world
from engine import Engine, binary
from event import Event
from kube import KubeError
from pg import SLOT, PgError
from proxy import Proxy
from table import Table

GRACE = 3.0
SERVICES = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "services")
START = "KUBE_AUDIT=1 tools/services/kube up && tools/services/postgres up"


def servers():
    """The servers of the instance; ends the test with one sentence if they are not up."""
    path = world.default_env_file()
    instance = os.environ.get("TRUEUP_INSTANCE", "default")
    how = f"start them with: export TRUEUP_INSTANCE={instance}; {START}"
    if not os.path.exists(path):
        raise SystemExit(f"the servers of instance {instance} are not up; {how}")
    up = world.Servers(path)
    for name in ("KUBE_SERVER", "PG_OWNER", "KUBE_AUDIT_LOG"):
        if not up.env.get(name):
            raise SystemExit(f"instance {instance} has no {name}; {how}")
    try:
        up.kube.pods("default")
        up.pg.sql("SELECT 1")
    except (OSError, KubeError, PgError) as error:
        text = f"the servers of instance {instance} do not answer ({error}); {how}"
        raise SystemExit(text) from error
    return up


def service(name, *words):
    """Runs tools/services/NAME, as in service("kube", "restart")."""
    command = [os.path.join(SERVICES, name), *words]
    env = os.environ | {"KUBE_AUDIT": "1"}
    result = subprocess.run(command, capture_output=True, text=True, timeout=180, env=env)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {result.stderr[-2000:]}")


class Scenario(unittest.TestCase):
    """Base of a file's tests: each starts with servers that are up and a folder of its own."""

    def setUp(self):
        self.up = self.find_servers()
        self.kube, self.pg = self.up.kube, self.up.pg
        self.rng = random.Random(self.id())
        self.folder = tempfile.mkdtemp(prefix="trueup-integration-")
        self.state_dir = os.path.join(self.folder, "state")
        self.config = os.path.join(self.folder, "trueup.yaml")
        self.configs = [self.config]  # which hold a password
        self.pause_file = os.path.join(self.folder, "pause")
        self.table = None
        self.addCleanup(self._leave, time.monotonic())

    def find_servers(self):
        return servers()

    def _leave(self, began):
        print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
        with contextlib.suppress(Exception):  # the next test says so if it is still there
            self.pg.drop_slot()
        if os.environ.get("TRUEUP_TEST_KEEP"):
            print(f"kept: {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---------------------------------------------------------------- making
    def make_world(self, seed=1, extra=(), without=()):
        path = os.path.join(self.folder, "table.json")
        options = {"table": path, "seed": seed, "scale": 1, "slot": SLOT}
        world.make(types.SimpleNamespace(**options, extra=extra, without=without), self.up)
        self.table = Table.load(path)

    def write_config(self, **options):
        """The configuration of world.py config; `options` are its options."""
        values = {"idle": "4s", "stale_after": "8s", "mode": "enforce", "slot": SLOT}
        values |= {"grace": f"{GRACE:g}s", "create_window": "2s", "listen": "127.0.0.1:0"}
        values |= {"bus": world.EMBEDDED, "budget": "", "policy": world.SHIPPED}
        values |= {"expect": None}
        values |= {"state_dir": self.state_dir, "out": self.config} | options
        world.config(types.SimpleNamespace(**values), self.up)

    def edit_config(self, changes):
        """Replaces texts of the configuration, each of which must be there once."""
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        for old, new in changes.items():
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def make_engine(self, *flags, enabled=True):
        engine = Engine(self.config, self.state_dir, *flags, enabled=enabled)
        self.addCleanup(engine.close)
        return engine

    def start_with_nothing_wrong(self, *flags):
        """Starts an engine over a world in which it has nothing to do."""
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.write_config()
        self.engine = self.make_engine(*flags)
        self.engine.start()

    def kube_proxy(self):
        """A relay in front of the API; write_config after it leads the engine through it."""
        port = int(self.up.env["KUBE_SERVER"].rsplit(":", 1)[1])
        proxy = self._proxy(port)
        with open(self.up.env["KUBE_ENGINE_CONFIG"], encoding="utf-8") as file:
            text = file.read()
        path = os.path.join(self.folder, "kubeconfig")
        with open(path, "w", encoding="utf-8", opener=world.private) as file:
            file.write(text.replace(self.up.env["KUBE_SERVER"], f"https://127.0.0.1:{proxy.port}"))
        self.up.env["KUBE_ENGINE_CONFIG"] = path
        return proxy

    def pg_proxy(self):
        """A relay in front of PostgreSQL; write_config after it leads the engine through it."""
        conninfo = self.up.env["PG_REPL"]
        proxy = self._proxy(int(re.search(r"\bport=(\d+)", conninfo)[1]))
        self.up.env["PG_REPL"] = re.sub(r"\bport=\d+", f"port={proxy.port}", conninfo)
        return proxy

    def _proxy(self, port):
        proxy = Proxy(port)
        self.addCleanup(proxy.close)
        return proxy

    # ---------------------------------------------------------------- acting
    def event(self):
        """Means to act on one pod and one row of a new slug."""
        return Event(self.kube, self.pg, self.rng, GRACE, scenes.make_slug(self.rng))

    def pair(self):
        """A running row and its pod; returns the event, its row in `event.first_row`."""
        event = self.event()
        event.first_row = event.row()
        event.pod()
        return event

    def trueup(self, *words, answer=""):
        """Runs the command line; (exit code, what it said: an object if it is JSON)."""
        result = subprocess.run(
            [binary(), *words, "--state-dir", self.state_dir],
            input=answer + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        try:
            return result.returncode, json.loads(result.stdout)
        except ValueError:
            return result.returncode, result.stdout + result.stderr

    def run_trueup(self, *words):
        """(exit code, everything it said)."""
        result = subprocess.run(
            [binary(), *words], capture_output=True, text=True, timeout=60, check=False
        )
        return result.returncode, result.stdout + result.stderr

    def not_believed(self, source):
        """It is not ready, and says why: the source, and what an operator may do."""
        command = f"trueup unquarantine {source}"
        self.engine.until(
            f"/readyz names {command}", lambda: command in self.engine.readiness()[1], 90
        )
        status, text = self.engine.readiness()
        self.assertEqual(status, 503)
        print(text.strip(), flush=True)

    def vouch(self, source):
        code, said = self.trueup("unquarantine", source, "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)

    def lose_pod(self, event):
        """Deletes the pod of a pair: its row must be marked failed."""
        event.expect_row(event.first_row, scenes.disappeared(event.pod_name))
        event.delete_pod()

    def lose_row(self, event):
        """Deletes the row of a pair: its pod must be deleted."""
        for entry in event.pods.values():
            entry[1] = scenes.DELETED
        event.expect_row(event.first_row, scenes.ABSENT)
        self.pg.delete(event.first_row["id"])

    def drift(self):
        """Two orphans, two rows whose pod is gone, two rows whose pod failed."""
        events = [self.event() for _ in range(6)]
        for event in events[:2]:
            event.pod(after=scenes.DELETED)
        for event in events[2:4]:
            event.row(after=scenes.disappeared(event.pod_name))
        for event in events[4:]:
            event.row(after=scenes.entered_failed())
            event.pod(phase="Failed")
        return events

    def keep(self, *events, kind="wrong"):
        """Adds what became of the events' objects to the table."""
        for event in events:
            for pod, after in event.pods.values():
                self.table.add_pod(self._testMethodName, kind, "by hand", pod, after)
            for row, after in event.rows.values():
                self.table.add_row(self._testMethodName, kind, "by hand", row, after)

    def collect_pods(self):
        """Plays the pod garbage collector, which a bare API lacks. A client that goes away in the
        middle of its DELETE can leave a pod without a node terminating, its grace at 0."""
        for pod in self.kube.pods(scenes.NAMESPACE):
            metadata = pod["metadata"]
            if "deletionTimestamp" in metadata and not metadata.get("finalizers"):
                print(f"collected: {metadata['name']}, its DELETE was cut off")
                self.kube.delete_pod(scenes.NAMESPACE, metadata["name"])

    # ---------------------------------------------------------------- proof
    def prove(self, engine, seconds=60, stable=2):
        """The servers are as the table wants them, and their own logs hold no wrong write."""
        found = check.wait_until_right(self.table, self.kube, self.pg, seconds, stable)
        if found:
            self.fail("\n".join(found) + engine.trace())
        engine.alive()
        self.prove_writes()
        self.prove_discretion(engine)
        print(f"as expected: {self.table.summary()}", flush=True)

    def prove_writes(self):
        sound = audit.report(self.up.env["KUBE_AUDIT_LOG"], "engine", self.table)
        self.assertTrue(sound, "the apiserver's audit log holds a wrong write, printed above")
        sound = audit.report_rows(self.pg, self.table)
        self.assertTrue(sound, "a row was written wrongly, printed above")

    def prove_discretion(self, engine):
        """The log is JSON, and nothing that was said or is kept holds a password or a token."""
        with open(self.up.env["KUBE_ENGINE_CONFIG"], encoding="utf-8") as file:
            secrets = re.findall(r'token: "(\w+)"', file.read())
        secrets += re.findall(r"password=(\w+)", self.up.env["PG_REPL"])
        self.assertEqual(len(secrets), 2)
        for line in engine.log().splitlines():
            self.assertTrue({"message", "event"} & json.loads(line).keys(), line)
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if path in (*self.configs, self.up.env["KUBE_ENGINE_CONFIG"]):
                    continue
                if not os.path.isfile(path):
                    continue  # the engine's socket keeps nothing
                with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                    data = file.read()
                    self.assertFalse(any(s.encode() in data for s in secrets), f"secret in {path}")


def main():
    servers()  # without them there is nothing to run: one sentence instead of a test's traceback
    unittest.main(module="__main__", verbosity=2)
