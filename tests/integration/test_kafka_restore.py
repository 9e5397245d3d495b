#!/usr/bin/env python3
"""Proves on a real broker that an engine without rows comes to the rows of one that never lost them:
from a checkpoint and the journal's tail, from the journal alone, past checkpoints that are damaged or
of another journal, and as one that only follows (C8).

Rows are held against the fold of the whole journal once, and against those of the other engine by the
names of their checkpoints: journal, offset and digest. Nobody plays the sources but the test, and
nobody carries out a command.
"""

import os
import shutil
import time
import unittest

from kafka_only import KafkaOnly

LISTED, LATER = 100, 40  # pairs of a pod and a row: listed by both sources, and come afterwards
ORPHANS = 8
PUBLIC = ("findings", "commands")


def damage_a_byte(checkpoint):
    """In the first block of rows."""
    for name in os.listdir(checkpoint):
        if name.endswith(".sst"):
            with open(os.path.join(checkpoint, name), "r+b") as file:
                file.seek(20)
                byte = file.read(1)[0]
                file.seek(20)
                file.write(bytes([byte ^ 0x20]))


def lose_rows(checkpoint):
    for name in os.listdir(checkpoint):
        if name.endswith(".sst"):
            os.remove(os.path.join(checkpoint, name))


def lose_current(checkpoint):
    """The file without which the database looks like a new one."""
    os.remove(os.path.join(checkpoint, "CURRENT"))


def cut_manifest(checkpoint):
    for name in os.listdir(checkpoint):
        if name.startswith("MANIFEST"):
            path = os.path.join(checkpoint, name)
            os.truncate(path, os.path.getsize(path) // 2)


DAMAGES = (damage_a_byte, lose_rows, lose_current, cut_manifest)


class KafkaRestore(KafkaOnly):
    def setUp(self):
        super().setUp()
        self.go_on(self.begin("first"))

    # ---------------------------------------------------------------- making
    def begin(self, name):
        """An engine that leads, with rows and a checkpoint of each shard that holds them."""
        pods, rows = self.sources["pods"], self.sources["rows"]
        engine = self.engine(name)
        engine.start(ready_within=0)
        names = [f"wrapper-{i:04}" for i in range(LISTED)]
        orphans = [self.pod(f"wrapper-orphan-{i}") for i in range(ORPHANS)]
        self.publish(pods, pods.opening([self.pod(n) for n in names] + orphans))
        self.publish(rows, rows.opening([self.row(n) for n in names]))
        self.until_objects(engine, LISTED + ORPHANS, LISTED)
        self.stop(engine)
        shutil.rmtree(self.checkpoints(name), ignore_errors=True)  # of no rows yet
        engine.start(ready_within=0)
        self.until_checkpoints(engine, name)
        return engine

    def go_on(self, engine):
        """The journal's tail behind the checkpoints, with findings and commands; then it is stopped."""
        pods, rows = self.sources["pods"], self.sources["rows"]
        names = [f"wrapper-{i:04}" for i in range(LISTED + LATER)]
        failed = [pods.upsert(*self.pod(n, "Failed")) for n in names[60:64]]
        self.publish(pods, failed + [pods.upsert(*self.pod(n)) for n in names[LISTED:]])
        gone = [rows.remove(n, self.row(n)[1]) for n in names[:20]]
        other = [rows.upsert(*self.row(n, "stopping")) for n in names[20:50]]
        self.publish(rows, gone + other + [rows.upsert(*self.row(n)) for n in names[LISTED:]])
        self.until_objects(engine, LISTED + LATER + ORPHANS, LISTED + LATER - 20)

        def commanded():
            now = int(time.time() * 1000)
            for source in (pods, rows):
                self.publish(source, source.progress(now))
            return sum(self.ends("commands")[self.topic("commands")]) >= 4

        engine.until("four commands", commanded, 60)
        self.stop(engine)

    def pod(self, name, phase="Running"):
        return name, f"uid-{name}", {"name": name, "namespace": "graphs", "phase": phase}

    def row(self, name, status="running"):
        return name, f"public.instances/{name}", {"pod_name": name, "status": status}

    def shards(self, folder):
        return [os.path.join(folder, f"shard-{shard}") for shard in range(self.partitions)]

    def names_in(self, folder):
        """The checkpoints in the folder, a list for each shard."""
        names = []
        for shard in self.shards(folder):
            there = os.listdir(shard) if os.path.isdir(shard) else []
            names.append(sorted(name for name in there if name.count("-") == 2))
        return names

    def take_checkpoints(self, name, of="first"):
        """Copies the checkpoints of one engine for another; their paths."""
        shutil.copytree(self.checkpoints(of), self.checkpoints(name), dirs_exist_ok=True)
        names = self.names_in(self.checkpoints(of))
        folders = self.shards(self.checkpoints(name))
        return [os.path.join(f, n) for f, there in zip(folders, names) for n in there]

    # ---------------------------------------------------------------- looking
    def until_objects(self, engine, pods, rows):
        wanted = {"pods": pods, "rows": rows}

        def there():
            metric = 'trueup_source_objects{{source="{}"}}'
            return all(engine.metric(metric.format(s)) == n for s, n in wanted.items())

        engine.until(f"{wanted}", there, 60)

    def until_checkpoints(self, engine, name):
        folder = self.checkpoints(name)
        engine.until("a checkpoint of each shard", lambda: all(self.names_in(folder)), 60)

    def images(self, name):
        """What the rows of a stopped engine are called once they have come to the journal's end."""
        journal = self.ends("journal")[self.topic("journal")]
        images = os.path.join(self.folder, "images")
        engine = self.engine(name, "--follow", checkpoints=images)
        folder = os.path.join(images, "graph-instances")
        last = min(journal) - 1
        for _ in range(2):  # the first may make one on its way
            shutil.rmtree(images, ignore_errors=True)
            engine.start(ready_within=0)
            engine.until("the end", lambda: engine.metric("trueup_journal_offset") >= last, 60)
            engine.until("images", lambda: all(self.names_in(folder)), 60)
            self.stop(engine)
        names = [there[-1] for there in self.names_in(folder)]
        self.assertEqual([int(n.split("-")[1]) for n in names], [end - 1 for end in journal])
        return names

    def restored(self, name, *flags):
        """Starts an engine that has no rows, and stops it when it has them; what it said."""
        self.assertFalse(os.path.exists(self.state_dir(name)))
        engine = self.engine(name, *flags)
        engine.start(ready_within=0)
        self.until_objects(engine, LISTED + LATER + ORPHANS, LISTED + LATER - 20)
        self.stop(engine)
        return engine.log()

    # ---------------------------------------------------------------- tests
    def test_rows_that_are_lost_come_back_from_the_newest_checkpoint_and_the_tail_C8(self):
        checkpoints = self.take_checkpoints("lost")
        self.assertEqual(len(checkpoints), self.partitions)
        said = self.restored("lost")
        for checkpoint in checkpoints:
            name = os.path.basename(checkpoint)
            self.assertIn(f"the projection was rebuilt from checkpoint {name}", said)
        self.assertNotIn("passed over", said)
        self.verify("lost")
        images = self.images("lost")
        self.assertFalse({os.path.basename(c) for c in checkpoints} & {*images}, "no tail")
        self.assertEqual(images, self.images("first"))

    def test_without_a_checkpoint_the_journal_alone_makes_the_same_rows_S37_C8(self):
        said = self.restored("bare")
        self.assertNotIn("checkpoint", said)
        self.assertEqual(self.images("bare"), self.images("first"))

    def test_a_checkpoint_that_is_damaged_is_passed_over_with_a_sentence_C8(self):
        kept = self.images("first")
        for damage in DAMAGES:
            with self.subTest(damage.__name__):
                name = damage.__name__.replace("_", "-")
                checkpoints = self.take_checkpoints(name)
                for checkpoint in checkpoints:
                    damage(checkpoint)
                said = self.restored(name, "--follow")
                for checkpoint in checkpoints:
                    words = f"checkpoint {os.path.basename(checkpoint)} is skipped: "
                    self.assertIn(words, said)
                self.assertNotIn("rebuilt from checkpoint", said)
                self.assertEqual(self.images(name), kept)

    def test_a_checkpoint_of_another_journal_is_passed_over_with_a_sentence_C8(self):
        prefix, sources = self.prefix, self.sources
        self.new_prefix()
        self.stop(self.begin("other"))
        theirs = self.checkpoints("other")
        self.prefix, self.sources = prefix, sources
        shutil.copytree(theirs, self.checkpoints("mixed"))
        said = self.restored("mixed", "--follow")
        for there in self.names_in(theirs):
            for name in there:
                self.assertIn(f"checkpoint {name} is skipped: ", said)
        self.assertNotIn("rebuilt from checkpoint", said)
        self.assertEqual(self.images("mixed"), self.images("first"))

    def test_one_that_follows_comes_to_the_same_rows_and_says_nothing_in_public(self):
        before = self.ends("journal", *PUBLIC)
        engine = self.engine("follower", "--follow")
        engine.start(ready_within=0)
        self.until_objects(engine, LISTED + LATER + ORPHANS, LISTED + LATER - 20)
        last = min(before[self.topic("journal")]) - 1
        engine.until("the end", lambda: engine.metric("trueup_journal_offset") >= last, 60)
        self.assertGreater(engine.metric("trueup_outbox_commands"), 0, "nothing to be silent about")
        self.until_checkpoints(engine, "follower")
        self.stop(engine)
        self.assertEqual(self.images("follower"), self.images("first"))
        self.assertEqual(self.ends("journal", *PUBLIC), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
