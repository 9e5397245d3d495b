"""Proves G17 on real servers: in a world where everything is right and much happens, nothing is harmed.

500 legitimate subjects; beside them pods and rows come, go and come again, in every order, TTLs are
extended and instances kept busy, for as long as TRUEUP_CHURN_SECONDS says. Every rule that could take
something away is enforced; what would name a pod observes, since some rows are left unnamed.
"""

import os
import random
from concurrent.futures import ThreadPoolExecutor

import scenario
import scenes
import timeline

SUBJECTS = 500
SECONDS = float(os.environ.get("TRUEUP_CHURN_SECONDS", "90"))
DEADLINES = "ttl_expired: {mode: enforce}\n      inactive: {mode: enforce}"


class Churn(scenario.Scenario):
    def test_harms_nothing_that_is_right(self):
        every = scenes.PLAIN + scenes.TRICKY + scenes.WRONG
        self.make_world(without=[scene.name for scene in every])
        now = self.pg.sql("SELECT now()").strip()
        columns = {"created_at": now, "ttl": "24:00:00"}
        columns |= {"last_activity_at": now, "inactivity_timeout": "04:00:00"}
        self.make_subjects(columns)
        self.write_config()
        self.enforce_everything()
        engine = self.make_engine()
        engine.start()
        seed = random.SystemRandom().randrange(1 << 32)
        print(f"seed {seed}, {SECONDS:g} s", flush=True)
        played = timeline.play(
            self.table,
            self.kube,
            self.pg,
            SECONDS,
            seed,
            count=int(2 * SECONDS),
            grace=scenario.GRACE,
            columns=columns,
            kinds=timeline.TRICKY + timeline.DEADLINES,
        )
        self.assertFalse([note for note in self.table.notes if note.startswith("FAILED")])
        self.prove(engine, stable=5)
        passes = engine.metric("reconciliation_passes_total")
        print(f"{played} events, {passes:g} passes, nothing harmed")
        self.assertEqual(self.done(engine), [])
        for note in self.table.notes:
            print(note)
        code, _ = engine.end()
        self.assertEqual(code, 0)

    def done(self, engine):
        """(rule, subject) of what was done, but about what a pause that got too long made wrong."""
        ordered = {c["id"]: (c["rule"], c["subject"]) for c in engine.seen(kind="command")}
        done = [ordered[o["command_id"]] for o in engine.seen(kind="outcome", outcome="done")]
        return [one for one in done if not any(slug in one[1] for slug in self.table.void)]

    def make_subjects(self, columns):
        slugs = [scenes.make_slug(self.rng) for _ in range(SUBJECTS)]
        made = [
            scenes.make_row(self.rng, slug, "running", f"wrapper-{slug}", columns) for slug in slugs
        ]
        for row in self.pg.insert_all(made):
            self.table.add_row("subject", "plain", "as it should be", row, scenes.UNTOUCHED)

        def create(slug):
            labels = {"app": scenes.APPS[len(slug) % 2]}
            return self.kube.create_pod(scenes.NAMESPACE, f"wrapper-{slug}", labels, "Running")

        with ThreadPoolExecutor(8) as pool:
            for pod in pool.map(create, slugs):
                self.table.add_pod("subject", "plain", "as it should be", pod, scenes.UNTOUCHED)

    def enforce_everything(self):
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        line = "status_drift: {mode: enforce}"
        self.assertIn(line, text)
        times = f"grace: {scenario.GRACE:g}s, create_window: 2s"
        rules = f"{line}\n      {DEADLINES}\n      untracked_record: {{mode: observe, {times}}}"
        text = text.replace(line, rules).replace("stale_after:", "reconcile_every: 15s\n    stale_after:")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    scenario.main()
