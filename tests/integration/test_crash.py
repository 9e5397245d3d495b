"""Proves that an engine killed in the middle of its work goes on where it was: the same table at
the end, and no effect twice (C1, S37, S38).
"""

import os

import scenario


class Crash(scenario.Scenario):
    def test_killed_in_the_middle_of_work_ends_in_the_same_table(self):
        self.make_world(seed=3)
        self.write_config()
        engine = self.make_engine("--pause-file", self.pause_file)
        engine.start(ready_within=0)

        # 1: commands are out, writes under way.
        engine.wait_event(kind="command")
        engine.kill()

        # 2: some outcomes are in, others not; new drift came while it was dead.
        since = engine.mark()
        engine.start(ready_within=0)
        fresh = self.drift()
        engine.until("three outcomes", lambda: len(engine.seen(since, kind="outcome")) >= 3, 60)
        engine.kill()

        # 3: commands are checked, every write is held.
        open(self.pause_file, "w", encoding="utf-8").close()
        since = engine.mark()
        engine.start(ready_within=0)
        late = self.drift()
        engine.until("commands", lambda: len(engine.seen(since, kind="command")) >= 4, 60)
        engine.kill()
        os.remove(self.pause_file)

        engine.start()
        self.keep(*fresh, *late)
        self.collect_pods()
        self.prove(engine, stable=5)
        engine.kill()
        engine.start()
        self.prove(engine, stable=5)
        self.prove_final_words(engine)

    def prove_final_words(self, engine):
        """No command was said to be done twice."""
        done = [e["command_id"] for e in engine.seen(kind="outcome", outcome="done")]
        self.assertEqual(len(done), len(set(done)))


if __name__ == "__main__":
    scenario.main()
