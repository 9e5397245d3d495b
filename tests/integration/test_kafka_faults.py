"""Proves that nothing harms and nothing is lost when parts of a fleet over a real Kafka die, stand
still or lose their broker while the world goes on (C1, S37, S38).

After each round: the table is right, every accepted item is recorded once, and each engine's rows
are the fold of the journal. One broker without replicas: this proves the death of processes, not
the loss of power. TRUEUP_FAULT_ROUNDS sets how many rounds, TRUEUP_FAULT_SEED begins with another.
"""

import json
import os
import random
import signal
import subprocess
import threading
import time
import types

import fleet
import scenario
import scenes
import world
from kafka_only import EXPECTED
from table import Table

ROUNDS = int(os.environ.get("TRUEUP_FAULT_ROUNDS", "2"))
SEED = int(os.environ.get("TRUEUP_FAULT_SEED", "1"))
DOWN = int(os.environ.get("TRUEUP_BROKER_DOWN_SECONDS", "15"))
BUDGET = "{max: 400, window: 1m}"  # divided by the shards it must not be what one waits for
MOST_RSS = 900 << 20  # of any process while the broker is down; the test build's own share is large


class KafkaFaults(fleet.Fleet):
    # ---------------------------------------------------------------- the world meanwhile
    def begin_events(self, seed, seconds=25, events=30):
        """Timed events of the world, in a thread of their own; `end_events` waits for them."""
        during = {"table": self.table.path, "seconds": seconds, "seed": seed, "events": events}
        options = types.SimpleNamespace(**during, grace=scenario.GRACE, without=())
        self.failed_events = []

        def run():
            self.failed_events.append(world.during(options, self.up))

        self.events_thread = threading.Thread(target=run)
        self.events_thread.start()

    def end_events(self):
        self.events_thread.join()
        self.assertEqual(self.failed_events, [0], "an event of the world failed")
        self.table = Table.load(self.table.path)

    # ---------------------------------------------------------------- faults
    def kill(self, name):
        self.processes[name].kill()
        if name.startswith("engine"):
            self.processes[name].start(ready_within=0)
        else:
            self.processes[name].launch()

    def freeze(self, name, seconds):
        self.processes[name].signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.processes[name].signal(signal.SIGCONT)

    def crash_broker(self):
        scenario.service("kafka", "crash")
        scenario.service("kafka", "restart")

    def verify(self, config, partitions):
        """The rows of every shard are the fold of its journal, and all that came in is in there."""
        for shard in range(partitions):
            command = [os.environ["TRUEUP_VERIFY_STATE"], "--config", config, "--shard", str(shard)]
            result = subprocess.run(
                command, capture_output=True, text=True, timeout=120, check=False
            )
            self.assertTrue(result.stdout, result.stderr)
            # Every command had its outcome before the executor was stopped. The engines, stopped after
            # it, may have issued one more to somebody whose answer is always no, and left a last wish.
            problems = [p for p in json.loads(result.stdout)["problems"] if not EXPECTED.fullmatch(p)]
            self.assertEqual(problems, [], f"{config}, shard {shard}")

    def settle(self, engine, second, partitions, second_config):
        """Everything is right, and stays right; then what each engine holds is looked at."""
        self.prove(engine, seconds=300, stable=5)
        self.check_alive()
        engine.until(
            "every command has its outcome",
            lambda: all(p.metric("trueup_outbox_commands") == 0 for p in (engine, second)),
            150,
        )
        for name in ("pods", "rows", "executor", "engine", "engine-2"):
            code, _ = self.processes[name].end(signal.SIGTERM, 30)
            self.assertEqual(code, 0, f"{name}: {self.processes[name].trace()}")
        self.verify(self.config, partitions)
        self.verify(second_config, partitions)

    def start_two(self, partitions):
        """A fleet, and a second engine on the same shards."""
        engine = self.start_fleet()
        second_config, state = self.second_config("second")
        second = self.process("engine-2", "engine", config=second_config, state_dir=state)
        second.start()
        return engine, second, second_config

    # ---------------------------------------------------------------- tests
    def test_parts_die_and_stand_still_and_nothing_is_harmed_or_lost_C1_S37_S38(self):
        for number in range(ROUNDS):
            seed = SEED + number
            rng = random.Random(seed)
            print(f"round with seed {seed}", flush=True)
            partitions = rng.choice([1, 2, 4])
            self.make_world(seed=seed)
            self.new_bus(partitions, state_dir=os.path.join(self.folder, f"state-{seed}"), budget=BUDGET)
            engine, second, second_config = self.start_two(partitions)
            self.begin_events(seed + 1000)  # other names than those of the world
            faults = [
                lambda: self.kill("pods"),
                lambda: self.kill("rows"),
                lambda: self.kill("executor"),
                lambda: self.kill("engine"),
                lambda: self.freeze(rng.choice(["pods", "rows", "executor"]), rng.uniform(2, 6)),
                lambda: self.freeze(rng.choice(["engine", "engine-2"]), rng.uniform(2, 6)),
                self.crash_broker,
            ]
            rng.shuffle(faults)
            for fault in faults:
                fault()
            self.end_events()
            self.settle(engine, second, partitions, second_config)
            self.pg.drop_slot()
            self.forget_config("second")

    def test_the_broker_is_away_and_memory_stays_bounded(self):
        self.make_world(seed=31)
        self.new_bus(partitions=2, budget=BUDGET)
        engine, second, second_config = self.start_two(2)
        self.begin_events(32, seconds=DOWN + 10)
        scenario.service("kafka", "crash")
        until = time.monotonic() + DOWN
        largest = 0
        while time.monotonic() < until:
            largest = max(largest, *(p.rss() for p in self.processes.values()))
            self.check_alive()
            time.sleep(0.5)
        scenario.service("kafka", "restart")
        print(f"largest process while the broker was away: {largest >> 20} MiB", flush=True)
        self.assertLess(largest, MOST_RSS)
        self.end_events()
        self.settle(engine, second, 2, second_config)

    def test_an_executor_that_wakes_after_its_command_expired_does_nothing_C5_S38(self):
        self.start_with_nothing_wrong_over_kafka()
        engine, executor = self.processes["engine"], self.processes["executor"]
        open(self.pause_file, "w", encoding="utf-8").close()
        event = self.pair()
        engine.until("ready", lambda: engine.readiness()[0] == 200, 60)
        self.lose_row(event)
        command = engine.wait_event(kind="command", seconds=60)
        executor.signal(signal.SIGSTOP)
        os.remove(self.pause_file)
        follows = engine.wait_event(kind="command", seconds=150, since=engine.mark(), emission=1)
        executor.signal(signal.SIGCONT)
        engine.wait_event(kind="outcome", command_id=follows["id"], outcome="done", seconds=60)
        words = {e["outcome"] for e in engine.seen(kind="outcome", command_id=command["id"])}
        self.assertFalse({"done", "already_done"} & words, words)
        self.keep(event)
        self.prove(engine, seconds=180)
        self.end_fleet()

    def start_with_nothing_wrong_over_kafka(self):
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.new_bus(partitions=2, budget=BUDGET)
        self.start_fleet()

    def forget_config(self, name):
        os.rename(os.path.join(self.folder, name), os.path.join(self.folder, f"{name}-{time.time()}"))


if __name__ == "__main__":
    scenario.main()
