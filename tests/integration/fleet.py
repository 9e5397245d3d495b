"""The same main job over a real Kafka: connectors, engines and executors in processes of their own."""

import os
import signal
import subprocess

import scenario
from engine import Engine, binary

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
START = "KUBE_AUDIT=1 tools/services/kube up && tools/services/{postgres,kafka} up"


class Fleet(scenario.Scenario):
    """Base of a file's tests over Kafka. Each test has a prefix, so topics, of its own."""

    def setUp(self):
        super().setUp()
        self.bootstrap = self.up.env.get("KAFKA_BOOTSTRAP")
        if not self.bootstrap:
            raise SystemExit(f"there is no KAFKA_BOOTSTRAP; start the servers with: {START}")
        self.count = 0
        self.processes = {}

    # ---------------------------------------------------------------- making
    def write_config(self, **options):
        """Of several shards each counts for itself, so their policy asks while nothing is counted."""
        if "partitions: 1," not in options.get("bus", "partitions: 1,"):
            options = {"policy": f"file: {self.policy_without_counts()}"} | options
        super().write_config(**options)

    def policy_without_counts(self):
        path = os.path.join(self.folder, "graph-instances.yaml")
        with open(os.path.join(ROOT, "policies", "graph-instances.yaml"), encoding="utf-8") as file:
            lines = [line for line in file if not line.lstrip().startswith("ask_while:")]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
        return path

    def new_bus(self, partitions, state_dir=None, **options):
        """A configuration over topics of a new prefix, made by `trueup topics create`."""
        self.count += 1
        self.prefix = f"test-{os.getpid()}-{self._testMethodName.lower()[:80]}-{self.count}"
        if state_dir:
            self.state_dir = state_dir
        self.partitions = partitions
        self.write_config(bus=self.bus(partitions), **options)
        code, said = self.run_trueup("topics", "create", "-c", self.config)
        self.assertEqual(code, 0, said)

    def bus(self, partitions, bootstrap=None):
        kafka = f"bootstrap: '{bootstrap or self.bootstrap}', prefix: {self.prefix}, "
        kafka += f"partitions: {partitions}, replicas: 1"
        return f"{{kafka: {{{kafka}}}, max_clock_step: 1s, max_broker_skew: 200ms}}"

    def second_config(self, name):
        """The same configuration with a state folder of its own and the same keys."""
        path = os.path.join(self.folder, f"{name}.yaml")
        state = os.path.join(self.folder, name)
        keys = os.path.join(self.state_dir, "keys")
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        text = text.replace(f"state_dir: {self.state_dir}", f"state_dir: {state}\nkeys: {keys}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o600)
        self.configs.append(path)
        return path, state

    def process(self, name, part, *flags, config=None, state_dir=None):
        """One process of the fleet; not started."""
        own = self.state_dir if part == "engine" else os.path.join(self.folder, name)
        made = Engine(config or self.config, state_dir or own, *flags, part=part, name=name)
        self.addCleanup(made.close)
        self.processes[name] = made
        return made

    def start_fleet(self, ready_within=90):
        """A connector for each source, an engine with all shards and an executor."""
        for source in ("pods", "rows"):
            self.process(source, "connect", source).launch()
        self.process("executor", "execute", "--pause-file", self.pause_file).launch()
        engine = self.process("engine", "engine")
        engine.start(ready_within)
        return engine

    def end_fleet(self):
        """Ends all of them cleanly, connectors first."""
        for name in ("pods", "rows", "executor", "engine"):
            code, _ = self.processes[name].end(signal.SIGTERM, 30)
            self.assertEqual(code, 0, f"{name}: {self.processes[name].trace()}")

    # ---------------------------------------------------------------- looking
    def check_alive(self):
        for process in self.processes.values():
            process.alive()

    def effects(self, engine):
        """(rule, subject, action, how it ended) of every command that the engine's feed told of."""
        ordered = {e["id"]: (e["rule"], e["subject"], e["action"]) for e in engine.seen(kind="command")}
        ended = {}
        for event in engine.seen(kind="outcome"):
            if event["outcome"] != "failed" or not event["retryable"]:
                ended.setdefault(event["command_id"], event["outcome"].replace("already_", ""))
        return {ordered[command] + (how,) for command, how in ended.items()}
