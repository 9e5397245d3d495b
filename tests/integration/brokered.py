"""The frame of tests that need a broker and nothing else: `trueup topics` and `trueup engine`, and
somebody with the tools of the cluster. No source is ever asked; the tests write what sources say.
"""

import json
import os
import signal
import subprocess
import types

import fleet
from consumer import bootstrap, generate, python

NOWHERE = {"KUBE_ENGINE_CONFIG": "/nonexistent", "PG_REPL": "host=/nonexistent"}
HOUR = "1h"  # sources that say something once count as fresh for the whole test


class Admin:
    """The process of admin.py, which does one order after the other."""

    def __init__(self, folder, address):
        generate(folder, "change", "journal", "request")
        script = os.path.join(os.path.dirname(__file__), "admin.py")
        self._process = subprocess.Popen(
            [python(), "-B", script, address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": folder},
            text=True,
        )

    def do(self, what, topic, **order):
        self._process.stdin.write(json.dumps({"do": what, "topic": topic} | order) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise AssertionError(f"admin.py could not {what} {topic}; what it said is above")
        return json.loads(answer)

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Brokered(fleet.Fleet):
    """Base of a file's tests. Each has a prefix of its own, with 1 partition unless it wants more."""

    def find_servers(self):
        env = NOWHERE | {"KAFKA_BOOTSTRAP": bootstrap()}
        return types.SimpleNamespace(env=env, kube=None, pg=None)

    def setUp(self):
        super().setUp()
        generated = os.path.join(self.folder, "generated")
        os.mkdir(generated)
        self.admin = Admin(generated, self.bootstrap)
        self.addCleanup(self.admin.close)

    # ---------------------------------------------------------------- making
    def write_config(self, **options):
        super().write_config(**{"stale_after": HOUR} | options)

    def write_partitions(self, partitions):
        """The same configuration, but for their number."""
        self.write_config(bus=self.bus(partitions))

    def topic(self, name):
        return f"{self.prefix}.graph-instances.{name}"

    def do(self, what, topic, **order):
        return self.admin.do(what, self.topic(topic), **order)

    def launch_engine(self):
        """Another run of the engine on the same rows, with a log of its own."""
        name = f"engine-{len(self.processes) + 1}"
        engine = self.process(name, "engine", state_dir=self.state_dir)
        engine.launch()
        return engine

    def serve_engine(self):
        """One whose start is over."""
        engine = self.launch_engine()
        engine.until("the start is over", engine.started, 60)
        return engine

    def start_engine(self):
        """One that has read its journal to the end; it waits for its sources."""
        engine = self.serve_engine()
        engine.until("the journal is read", lambda: "has not delivered" in engine.readiness()[1], 60)
        return engine

    def end_engine(self, engine, wanted=0):
        code, _ = engine.end(signal.SIGTERM, 30)
        self.assertEqual(code, wanted, engine.trace())

    # ---------------------------------------------------------------- acting
    def append(self, topic, *records, partition=0):
        """Each record is bytes, or the fields of a Change of `pods`; the offsets."""
        lines = [
            (
                {"hex": record.hex()}
                if isinstance(record, bytes)
                else {"message": "Change", "fields": record}
            )
            for record in records
        ]
        return self.do("append", topic, records=lines, partition=partition)

    def fold(self, engine, topic, *records):
        """Appends them and waits until the engine has folded them."""
        wanted = self.met(engine, "items") + len(records)
        offsets = self.append(topic, *records)
        engine.until("they are folded", lambda: self.met(engine, "items") >= wanted, 30)
        return offsets

    def met(self, engine, kind):
        return engine.metric(f'trueup_fold_events_total{{kind="{kind}"}}')

    def journal_end(self, partition=0):
        return self.do("extent", "journal", partition=partition)[1]
