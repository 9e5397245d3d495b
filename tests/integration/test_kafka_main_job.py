"""Proves the main job over a real Kafka, each part in a process of its own: the same table of
expectations as over the log of a single process, and the same effects whatever the partitions.

The table says for each object what it was and what must become of it; no process ever sees it.
"""

import collections
import os
import signal
import types

import check
import fleet
import scenario
import scenes
import world
from changes import partition_of
from consumer import Consumer, generate
from table import Table

MOST = 48  # commands of a rule in a minute, over all shards


class KafkaMainJob(fleet.Fleet):
    def test_repairs_what_is_wrong_and_touches_nothing_else_G1_G2_G3_G17(self):
        self.make_world(seed=1)
        self.new_bus(partitions=4, budget="{max: 400, window: 1m}")
        engine = self.start_fleet()
        during = {"table": self.table.path, "seconds": 20, "seed": 2, "events": 40}
        options = types.SimpleNamespace(**during, grace=scenario.GRACE, without=())
        self.assertEqual(world.during(options, self.up), 0, "an event of the world failed")
        self.table = Table.load(self.table.path)
        self.prove(engine, stable=5)
        self.check_alive()
        self.check_consumer(engine)
        self.end_fleet()
        self.check_diff(self.effects(engine))

    def test_a_connector_stands_by_for_a_second_one_and_takes_over_when_that_is_gone_S12(self):
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.new_bus(partitions=2)
        engine = self.start_fleet()
        for source in ("rows", "pods"):
            first = self.processes[source]
            second = self.process(f"{source}-2", "connect", source)
            second.launch()
            first.until("it stands by", lambda p=first: "stands by" in p.log(), 60)
            second.kill()
            first.until("it takes over", lambda p=first: "takes over" in p.log(), 60)
            self.keep(*self.drift())
            self.prove(engine, seconds=90)
        self.end_fleet()

    def test_who_was_not_restarted_since_the_configuration_changed_is_not_believed_and_does_nothing(self):
        """A connector of before went on to file rows by the former key, and pods lost their rows."""
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.new_bus(partitions=2)
        engine = self.start_fleet()
        self.processes["engine"].end(signal.SIGTERM, 30)
        self.edit_config({"      selector:": "      labels: [more]\n      selector:"})
        engine = self.process("engine", "engine")
        engine.launch()
        said = "source pods is read by another configuration"
        engine.until(f"/readyz says: {said}", lambda: said in engine.readiness()[1], 60)
        self.assertNotIn("source rows", engine.readiness()[1])
        self.keep(*self.drift())
        former = self.processes["pods"]
        former.end(signal.SIGTERM, 30)
        self.process("pods", "connect", "pods").launch()
        engine.until("pods are believed", lambda: said not in engine.readiness()[1], 60)
        refused = "this executor has another configuration of the source than the engine"
        engine.until(
            "the executor does nothing",
            lambda: any(refused in event["text"] for event in engine.seen(kind="outcome")),
            60,
        )
        done = {event["outcome"] for event in engine.seen(kind="outcome")}
        self.assertEqual(done, {"failed"})
        self.processes["executor"].end(signal.SIGTERM, 30)
        self.process("executor", "execute", "--pause-file", self.pause_file).launch()
        self.prove(engine, seconds=150)
        self.end_fleet()

    def check_diff(self, effects):
        """The journals of all shards under two texts: equal ones order the same, and one whose rule finds
        nothing lacks what that rule did."""
        policy = self.policy_without_counts()
        with open(policy, encoding="utf-8") as file:
            text = file.read()
        mine = os.path.join(self.folder, "mine.yaml")
        with open(mine, "w", encoding="utf-8") as file:
            file.write(text)
        code, said = self.run_trueup("policy", "diff", policy, mine, "--journal", self.config)
        self.assertEqual(code, 0, said)
        orphan = "when: {pods: one, rows: none}"
        self.assertEqual(text.count(orphan), 1)
        with open(mine, "w", encoding="utf-8") as file:
            file.write(text.replace(orphan, "when: {pods: {one: {phase: Unknown}}, rows: none}\n    acknowledge: [blind_seen]"))
        code, said = self.run_trueup("policy", "diff", policy, mine, "--journal", self.config)
        self.assertEqual(code, 1, said)
        orphans = [subject for rule, subject, *_ in effects if rule == "orphaned_pod"]
        self.assertGreater(len(orphans), 5)
        for subject in orphans:
            self.assertIn(subject, said)

    def check_consumer(self, engine):
        """A client that is not ours reads from the broker what the engine's own feed told."""
        os.environ["KAFKA_BOOTSTRAP"] = self.bootstrap
        generated = os.path.join(self.folder, "generated")
        os.mkdir(generated)
        generate(generated)
        consumer = Consumer(generated, self.prefix, "--from", "earliest", "--json")
        self.addCleanup(consumer.close)
        told = {(e["rule"], e["subject"], e["state"]) for e in engine.seen(kind="finding")}
        self.assertGreater(len(told), 50)
        consumer.until_told(told)
        self.assertEqual(consumer.end(), 0)

    def test_1_4_and_16_partitions_have_the_same_effects(self):
        effects = {}
        for partitions in (1, 4, 16):
            self.make_world(seed=7)
            state = os.path.join(self.folder, f"state-{partitions}")
            budget = f"{{max: {MOST}, percent: 1%, window: 1m}}"
            self.new_bus(partitions, state_dir=state, budget=budget)
            engine = self.start_fleet()
            self.prove(engine, seconds=150)
            self.check_budget(engine)
            engine.until("all is said", lambda: engine.metric("trueup_outbox_commands") == 0, 60)
            effects[partitions] = self.effects(engine)
            self.end_fleet()
            self.pg.drop_slot()
        self.assertGreater(len(effects[1]), 20)
        self.assertEqual(effects[4], effects[1])
        self.assertEqual(effects[16], effects[1])

    def test_one_approval_for_what_waits_in_several_shards(self):
        # Each shard has a journal of its own: findings had to be approved one by one.
        self.make_world(seed=3)
        self.new_bus(partitions=2, mode="approve", budget="{max: 400, window: 1m}")
        engine = self.start_fleet()
        engine.until("findings of both shards wait", self.wait_in_both, 60)
        seen = self.waiting()["seen"]
        for offsets, why in (
            (f"{max(seen)}", "one journal offset for each shard, of which there are 2"),
            (f"{seen[0]}.{seen[1] + 1_000_000}", "of shard 1 lies beyond the journal's end"),
        ):
            code, said = self.approve(offsets)
            self.assertNotEqual(code, 0, said)
            self.assertIn(why, str(said))
        self.assertEqual(engine.seen(kind="command"), [], "refused as a whole")

        def approved():
            code, said = self.approve(".".join(str(offset) for offset in self.waiting()["seen"]))
            self.assertEqual(code, 0, said)
            return not check.wait_until_right(self.table, self.kube, self.pg, 0, 0)

        engine.until("what was seen is approved and done", approved, 120)
        self.prove(engine)
        self.end_fleet()

    def waiting(self):
        return self.trueup("findings", "list", "--reason", "approval", "-o", "json")[1]

    def wait_in_both(self):
        page = self.waiting()
        homes = {partition_of(finding["subject"], 2) for finding in page["findings"]}
        return len(homes) == 2 and min(page["seen"]) > 0

    def approve(self, offsets):
        return self.trueup("findings", "approve", "--reason", "approval", "--seen", offsets)

    def check_budget(self, engine):
        """All shards together issued at most MOST commands of a rule in any window (design 4.10)."""
        first = [e for e in engine.seen(kind="command") if e["emission"] == 1]
        windows = collections.Counter((e["rule"], e["issued_ms"] // 60_000) for e in first)
        self.assertLessEqual(max(windows.values()), MOST, windows)


if __name__ == "__main__":
    scenario.main()
