"""Engines over a real Kafka and nothing else: what sources would say is published by the test, and
nobody carries out a command.

  KAFKA_BOOTSTRAP      a broker (tools/services/kafka)
  TRUEUP_BIN           the binary under test
  TRUEUP_VERIFY_STATE  folds a journal anew and holds the rows against it
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import uuid

import consumer
from changes import Source
from engine import Engine, binary

# Nobody is here to carry out a command; an engine that is stopped leaves its last wish of a source.
EXPECTED = re.compile(r"commands have no outcome|requests@\d+ was never accepted")

CONFIG = """\
version: 1
bus:
  kafka: {{bootstrap: '{bootstrap}', prefix: {prefix}, partitions: {partitions}, replicas: 1}}
  max_clock_step: 1s
  max_broker_skew: 200ms
state_dir: {state_dir}
keys: {keys}
memory: 64MiB
checkpoints: {{path: {checkpoints}, every: 1h, keep: 3}}
sources:
  pods:
    kubernetes: {{kubeconfig: {folder}/nobody-reads-it, namespace: graphs, selector: app=x}}
  rows:
    postgres: {{conninfo: "host=127.0.0.1 port=1", table: public.instances}}
policies:
  - name: graph-instances
    use: graph-instances
    roles: {{pods: pods, rows: rows}}
    keys: {{rows: pod_name}}
    rules:
      orphaned_pod: {{mode: observe, grace: 2s}}
      missing_pod: {{mode: observe, grace: 2s}}
      status_drift: {{mode: enforce}}
    stale_after: 10m
executors:
  delete_pod: {{source: pods}}
  update_row: {{source: rows}}
http: {{listen: "127.0.0.1:0"}}
"""


class KafkaOnly(unittest.TestCase):
    """Base of a file's tests. Each has a prefix, so topics, and a folder of its own."""

    partitions = 2

    def setUp(self):
        consumer.bootstrap()
        self.folder = tempfile.mkdtemp(prefix="trueup-integration-")
        self.addCleanup(self._leave)
        self.new_prefix()

    def _leave(self):
        if os.environ.get("TRUEUP_TEST_KEEP"):
            print(f"kept: {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---------------------------------------------------------------- making
    def new_prefix(self):
        """Topics that nobody used, and sources that said nothing yet."""
        self.prefix = f"test-{uuid.uuid4().hex[:12]}"
        self.sources = {name: Source(name, self.partitions) for name in ("pods", "rows")}
        code, said = self.trueup("topics", "create", "-c", self.config("create"))
        self.assertEqual(code, 0, said)

    def state_dir(self, name):
        return os.path.join(self.folder, self.prefix, name)

    def checkpoints(self, name):
        """Of the one policy that there is."""
        return os.path.join(self.folder, self.prefix, f"{name}-checkpoints", "graph-instances")

    def topic(self, name):
        return f"{self.prefix}.graph-instances.{name}"

    def config(self, name, **values):
        """The file of the process of that name, with a state folder and checkpoints of its own."""
        checkpoints = os.path.dirname(self.checkpoints(name))
        values = {"checkpoints": checkpoints, "state_dir": self.state_dir(name)} | values
        values |= {"bootstrap": consumer.bootstrap(), "prefix": self.prefix}
        values |= {"partitions": self.partitions, "folder": self.folder}
        values["keys"] = os.path.join(self.folder, self.prefix, "keys")
        path = os.path.join(self.folder, self.prefix, f"{name}.yaml")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(**values))
        os.chmod(path, 0o600)
        return path

    def engine(self, name, *flags, **values):
        """An engine of that name on all shards; not started."""
        config = self.config(name, **values)
        made = Engine(config, self.state_dir(name), *flags, part="engine", name=name)
        self.addCleanup(made.close)
        return made

    def trueup(self, *words):
        """(exit code, everything it said)."""
        command = [binary(), *words]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return result.returncode, result.stdout + result.stderr

    # ---------------------------------------------------------------- acting
    def publish(self, source, records):
        consumer.publish(self.topic(source.topic), records, self.partitions)

    def stop(self, engine):
        code, _ = engine.end(signal.SIGTERM, 30)
        self.assertEqual(code, 0, engine.trace())

    # ---------------------------------------------------------------- looking
    def ends(self, *topics):
        """{topic: where each of its partitions ends}."""
        script = os.path.join(os.path.dirname(__file__), "offsets.py")
        names = [self.topic(topic) for topic in topics]
        command = [consumer.python(), "-B", script, consumer.bootstrap(), *names]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return json.loads(result.stdout)

    def verify(self, name):
        """Holds the rows of a stopped engine against the fold of the whole journal. What it counted,
        for each shard."""
        counts = []
        for shard in range(self.partitions):
            command = [os.environ["TRUEUP_VERIFY_STATE"], "--config", self.config(name)]
            command += ["--shard", str(shard)]
            result = subprocess.run(
                command, capture_output=True, text=True, timeout=120, check=False
            )
            self.assertTrue(result.stdout, result.stderr)
            found = json.loads(result.stdout)
            problems = [p for p in found["problems"] if not EXPECTED.fullmatch(p)]
            self.assertEqual(problems, [], f"{name}, shard {shard}")
            counts.append(found["counts"])
        return counts
