"""Proves that a kill -9 at the worst moments loses nothing and does nothing twice (C1, C2, S37, S38).

The engine kills itself at a named point (engine/base/failpoint.h) and leaves a marker there; it is
started again with new drift, TRUEUP_KILL_ROUNDS times for each point. In the end the servers are as
the table wants them, which is what an undisturbed run makes of them, by their own logs no write was
done twice, and what is recorded is what was accepted: each item of each topic once, in order, and
the projection is the fold of the journal (tests/e2e/verify_state.cpp).
"""

import json
import os
import random
import subprocess
import time

import scenario

ROUNDS = int(os.environ.get("TRUEUP_KILL_ROUNDS", "3"))
LONGEST_ROUND = 120.0  # seconds; an idle PostgreSQL may leave a source unproven for 20 of them
DRIFT_AGAIN = 6.0  # seconds after which a round that is not over gets more to do


class Kills(scenario.Scenario):
    def test_between_the_append_and_the_write_behind_C1(self):
        self.kill_at("appended", most=40)

    def test_inside_the_write_behind_C2(self):
        self.kill_at("write_behind", most=4)

    def test_between_the_relay_and_the_executor_S38(self):
        self.kill_at("relayed", most=3)

    def test_between_the_effect_and_its_outcome_S37_S38(self):
        self.kill_at("done", most=6)

    def kill_at(self, point, most):
        """Rounds of one point, each in another of the first `most` passes while these last."""
        self.make_world(seed=5)
        self.write_config()
        self.raise_budgets()
        engine = self.make_engine()
        engine.start()
        engine.end(within=10)  # so that there are rows on disk
        seed = random.SystemRandom().randrange(1 << 32)
        order = random.Random(seed).sample(range(1, most + 1), most)
        passes = [order[n % most] for n in range(ROUNDS)]
        print(f"{point} in passes {passes}, seed {seed}", flush=True)
        markers = os.path.join(self.folder, "markers")
        for number in passes:
            self.keep(*self.drift())
            engine.launch(TRUEUP_FAILPOINT=f"{point}:{number}", TRUEUP_FAILPOINT_MARKERS=markers)
            self.drift_until_killed(engine)
        with open(markers, encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines(), [f"{point} {n}" for n in passes])

        engine.start()
        self.collect_pods()
        self.prove(engine, seconds=120, stable=5)
        code, _ = engine.end(within=10)
        self.assertEqual(code, 0)
        self.prove_records()

    def raise_budgets(self):
        """Many rounds of drift are more than a rule may mend in five minutes."""
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("mode: enforce"), 3)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text.replace("mode: enforce", "mode: enforce, budget: {max: 1000}"))

    def drift_until_killed(self, engine):
        deadline = time.monotonic() + LONGEST_ROUND
        while not engine.killed(within=DRIFT_AGAIN):
            self.assertLess(time.monotonic(), deadline, "the point was not passed" + engine.trace())
            self.keep(*self.drift())

    def prove_records(self):
        """Accepted items = recorded items, rows = fold of the journal, every command ended."""
        command = [os.environ["TRUEUP_VERIFY_STATE"], "--state-dir", self.state_dir]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        report = json.loads(result.stdout)
        self.assertEqual(report["problems"], [])
        self.assertGreater(report["counts"]["items"], 200)
        print(f"state: {report['counts']}", flush=True)


if __name__ == "__main__":
    scenario.main()
