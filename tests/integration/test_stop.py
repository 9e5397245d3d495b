"""Proves that Ctrl-C ends `trueup up` within 5 s and with exit code 0, whatever its servers do, that
the next start continues, and that a write which went out before ends in its outcome first.
"""

import contextlib
import signal

import scenario
import scenes


# Whoever but the tests updates a row waits while public.locks has one.
HOLD = """
    CREATE TABLE IF NOT EXISTS public.locks (held int);
    INSERT INTO public.locks VALUES (1);
    CREATE OR REPLACE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        WHILE EXISTS (SELECT FROM public.locks) LOOP PERFORM pg_sleep(0.02); END LOOP;
        RETURN NEW;
      END $$;
    CREATE TRIGGER hold BEFORE UPDATE ON public.instances FOR EACH ROW
      WHEN (session_user <> 'owner') EXECUTE FUNCTION public.hold();"""


class Stop(scenario.Scenario):
    def test_ctrl_c_ends_it_and_the_next_start_continues(self):
        pods, rows = self.kube_proxy(), self.pg_proxy()
        self.make_world(seed=4)
        self.write_config()
        engine = self.make_engine()
        engine.start(ready_within=0)
        engine.wait_event(kind="command")
        self.stop(engine, "in the middle of work")
        lost_pod, lost_row, orphan = self.pair(), self.pair(), self.event()
        engine.start()
        offset = engine.metric("trueup_journal_offset")
        self.stop(engine, "at rest", signal.SIGTERM)

        self.lose_pod(lost_pod)
        self.lose_row(lost_row)
        orphan.pod(after=scenes.DELETED)
        engine.start()
        self.assertGreaterEqual(engine.metric("trueup_journal_offset"), offset)
        self.keep(lost_pod, lost_row, orphan)
        self.collect_pods()
        self.prove(engine)

        pods.silence()
        rows.silence()
        later = self.event()
        later.pod(after=scenes.DELETED)
        self.stop(engine, "while both servers are silent")
        pods.open()
        rows.open()
        engine.start()
        pods.refuse()
        rows.refuse()
        self.stop(engine, "while both servers refuse")
        pods.open()
        rows.open()
        engine.start()
        self.keep(later)
        self.prove(engine)
        self.stop(engine, "at the end")

    def test_a_write_that_went_out_ends_in_its_outcome_unless_a_second_signal_cuts_it(self):
        self.start_with_nothing_wrong()
        waited_for, cut = self.pair(), self.pair()
        with self.write_under_way(waited_for) as command:
            self.engine.signal(signal.SIGTERM)
            self.until_it_waits(1)
        self.assertEqual(self.engine.ended()[0], 0, self.engine.trace())
        outcomes = self.engine.seen(kind="outcome", command_id=command["id"])
        self.assertEqual([o["outcome"] for o in outcomes], ["done"])

        self.engine.start()
        with self.write_under_way(cut) as command:
            self.engine.signal(signal.SIGTERM)
            self.until_it_waits(2)
            self.engine.signal(signal.SIGTERM)
            code, took = self.engine.ended(within=2)
            print(f"a second SIGTERM while a write waits: exit code {code} after {took:.1f} s")
            self.assertEqual(code, 0, self.engine.trace())
            self.assertEqual(self.engine.seen(kind="outcome", command_id=command["id"]), [])
        self.engine.start()
        self.engine.wait_event(kind="outcome", command_id=command["id"])
        self.keep(waited_for, cut)
        self.prove(self.engine)

    @contextlib.contextmanager
    def write_under_way(self, event):
        """The engine's UPDATE of the pair's row has been sent, and waits until the block ends; gives
        the command. It waits in a trigger: for a lock it would wait a second at most."""
        self.pg.sql(HOLD)
        try:
            self.lose_pod(event)
            subject = f"graph-instances/{event.pod_name}"
            command = self.engine.wait_event(kind="command", subject=subject)
            self.until_one_waits("PgSleep")
            yield command
        finally:
            self.pg.sql("DELETE FROM public.locks; DROP TRIGGER hold ON public.instances")

    def until_one_waits(self, what):
        query = f"SELECT count(*) FROM pg_stat_activity WHERE wait_event = '{what}'"
        self.engine.until(what, lambda: self.pg.sql(query) == "1", 20)

    def until_it_waits(self, times):
        words = "for the outcome of writes in flight: 1"
        self.engine.until("the stop", lambda: self.engine.log().count(words) == times, 3)

    def stop(self, engine, when, how=signal.SIGINT):
        code, took = engine.end(how, within=5)
        print(f"{signal.Signals(how).name} {when}: exit code {code} after {took:.1f} s")
        self.assertEqual(code, 0, when + engine.trace())


if __name__ == "__main__":
    scenario.main()
