#!/usr/bin/env python3
"""Proves on a real broker that engines are replaced one by one by a build with another logic: the one
that is still old stops and says so, the new one goes on, and nothing diverges (C10).

The next build is the binary under test with TRUEUP_NEXT_BUILD set, which a test build obeys: it has
this build's rules under the next version of the logic.
"""

import os
import shutil
import unittest

from kafka_only import KafkaOnly

NEXT = {"TRUEUP_NEXT_BUILD": "1"}


class KafkaUpgrade(KafkaOnly):
    partitions = 1

    def setUp(self):
        super().setUp()
        self.pods = self.rows = 0

    # ---------------------------------------------------------------- acting
    def begin(self):
        for source in self.sources.values():
            self.publish(source, source.opening([]))

    def add(self, count):
        """So many pods with their rows, and one without."""
        names = [f"wrapper-{self.pods + i}" for i in range(count + 1)]
        pods, rows = self.sources["pods"], self.sources["rows"]
        fields = {"namespace": "graphs", "phase": "Running"}
        self.publish(pods, [pods.upsert(n, f"uid-{n}", {"name": n} | fields) for n in names])
        self.publish(
            rows,
            [
                rows.upsert(n, f"public.instances/{n}", {"pod_name": n, "status": "running"})
                for n in names[:-1]
            ],
        )
        self.pods += count + 1
        self.rows += count

    def until_folded(self, *engines):
        for engine in engines:
            engine.until(
                "everything is folded",
                lambda e=engine: (self.objects(e, "pods"), self.objects(e, "rows"))
                == (self.pods, self.rows),
                60,
            )

    # ---------------------------------------------------------------- looking
    def objects(self, engine, source):
        return engine.metric(f'trueup_source_objects{{source="{source}"}}')

    def gives_up(self, engine, *words):
        engine.until("it gives up", lambda: engine.metric("trueup_emitting") == 0, 60)
        code, text = engine.readiness()
        self.assertEqual(code, 503)
        for word in words:
            self.assertIn(word, text)

    def end_refused(self, engine):
        code, _ = engine.end(within=30)
        self.assertEqual(code, 1, engine.trace())

    def image(self, name):
        """What the rows of a stopped engine are called: journal, offset, digest."""
        folder = os.path.join(self.folder, "images")
        shutil.rmtree(folder, ignore_errors=True)
        engine = self.engine(name, "--follow", checkpoints=folder)
        engine.start(ready_within=0, **NEXT)
        self.until_folded(engine)
        [end] = self.ends("journal")[self.topic("journal")]
        engine.until("the end", lambda: engine.metric("trueup_journal_offset") == end - 1, 60)
        self.stop(engine)
        shutil.rmtree(folder, ignore_errors=True)
        engine.start(ready_within=0, **NEXT)
        shard = os.path.join(folder, "graph-instances", "shard-0")

        def there():
            names = os.listdir(shard) if os.path.isdir(shard) else []
            return [n for n in names if n.count("-") == 2]

        engine.until("an image", there, 60)
        self.stop(engine)
        return max(there())

    # ---------------------------------------------------------------- tests
    def test_engines_are_replaced_one_by_one_C10(self):
        one, other = self.engine("one"), self.engine("other")
        one.start(ready_within=0)
        other.start(ready_within=0)
        self.begin()
        self.add(20)
        self.until_folded(one, other)

        self.stop(other)
        other.start(ready_within=0, **NEXT)
        self.gives_up(one, "puts logic version ", " in force, and this build has version ")
        self.add(20)
        self.until_folded(other)
        self.assertEqual(other.metric("trueup_emitting"), 1)
        self.end_refused(one)

        one.start(ready_within=0)
        self.gives_up(one, "puts logic version ", " in force, and this build has version ")
        self.end_refused(one)
        one.start(ready_within=0, **NEXT)
        self.until_folded(one)
        self.add(5)
        self.until_folded(one, other)
        self.stop(one)
        self.add(5)
        self.until_folded(other)
        self.stop(other)
        images = {self.image("one"), self.image("other")}
        self.assertEqual(len(images), 1, images)

        one.launch()  # the old build over rows of the new one
        code, said = one.stopped_by_itself()
        self.assertEqual(code, 1, said)
        self.assertIn("the journal of these rows puts logic version ", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
