"""Proves on real servers that a start beside one that does not answer is no end: the process lives,
says that it is not ready and why, touches nothing of a source that it could not check, and does its
work once the server is there. What turns out to be wrong only then ends nothing either.
"""

import os
import signal

import audit
import scenario
import scenes


class Starting(scenario.Scenario):
    # ---------------------------------------------------------------- looking
    def launch(self):
        """An engine whose HTTP side answers, whoever else does."""
        self.write_config()
        self.logged = os.path.getsize(self.up.env["KUBE_AUDIT_LOG"])
        self.engine = self.make_engine()
        self.engine.start(ready_within=0)

    def waits(self, source, *words):
        """It lives, is not ready, and says what of the source it waits for, to those it knows."""
        for word in (f"source {source}: ", *words):
            self.engine.until(
                f"/readyz says '{word}'", lambda word=word: word in self.engine.readiness()[1], 30
            )
        print(self.engine.readiness()[1].strip(), flush=True)
        self.assertEqual(self.engine.readiness()[0], 503)
        self.assertEqual(self.engine.get("/healthz")[0], 200)
        code, stranger = self.engine.get("/readyz", known=False)
        self.assertEqual(code, 503)
        self.assertNotIn(source, stranger)
        self.assertEqual(self.engine.metric(f'trueup_source_up{{source="{source}"}}'), 0)

    def nothing_was_done(self):
        slots = self.pg.sql("SELECT count(*) FROM pg_replication_slots").strip()
        self.assertEqual(slots, "0", "a source was read that was not checked")
        self.assertEqual(self.pg.foreign_writes(), [])
        log = self.up.env["KUBE_AUDIT_LOG"]
        self.assertEqual(list(audit.engine_writes(log, "engine", self.logged)), [])

    def works(self):
        """All that is wrong is put right, and nothing else is done."""
        self.engine.until("ready", lambda: self.engine.readiness()[0] == 200, 90)
        self.prove(self.engine)
        code, _ = self.engine.end(signal.SIGTERM, 10)
        self.assertEqual(code, 0)

    # ---------------------------------------------------------------- away at the start
    def test_postgres_is_away_at_the_start(self):
        self.make_world(seed=5)
        proxy = self.pg_proxy()
        proxy.refuse()
        self.launch()
        self.waits("rows", "nothing is read or written there until it answers")
        self.engine.until("pods are listed", lambda: self.objects("pods") > 0, 30)
        self.nothing_was_done()
        proxy.open()
        self.works()
        self.assertIn("source rows: it answers, and matches the configuration", self.engine.log())

    def test_kubernetes_is_away_at_the_start(self):
        self.make_world(seed=6)
        proxy = self.kube_proxy()
        proxy.refuse()
        self.launch()
        self.waits("pods", "API server does not answer")
        self.assertEqual(self.pg.foreign_writes(), [])
        proxy.open()
        self.works()

    def test_a_postgres_that_is_really_started_later(self):
        self.make_world(seed=7)
        scenario.service("postgres", "crash")
        try:
            self.launch()
            self.waits("rows", "refused")
        finally:
            scenario.service("postgres", "restart")
        self.works()

    def objects(self, source):
        return self.engine.metric(f'trueup_source_objects{{source="{source}"}}') or 0

    # ---------------------------------------------------------------- what is asked for meanwhile
    def test_a_stop_is_followed_while_nobody_answers(self):
        self.make_world(seed=9)
        for proxy in (self.kube_proxy(), self.pg_proxy()):
            proxy.silence()
        self.launch()
        self.waits("pods")
        code, took = self.engine.end(signal.SIGTERM, 12)
        self.assertEqual(code, 0, self.engine.trace())
        print(f"stopped within {took:.1f} s")
        self.nothing_was_done()

    # ---------------------------------------------------------------- found to be wrong late
    def test_what_is_wrong_with_a_server_that_came_late_ends_nothing_and_is_not_read(self):
        self.make_world(seed=8)
        self.pg.sql("DROP PUBLICATION trueup")
        proxy = self.pg_proxy()
        proxy.refuse()
        self.launch()
        self.waits("rows")
        proxy.open()
        self.waits("rows", "until this is fixed: publication trueup does not exist: CREATE PUBLICATION")
        self.nothing_was_done()
        self.pg.sql("CREATE PUBLICATION trueup FOR TABLE public.instances")
        self.works()


if __name__ == "__main__":
    scenario.main()
