"""Proves that Ctrl-C ends `trueup up` within 5 s and with exit code 0, whatever its servers do, and
that the next start continues.
"""

import signal

import scenario
import scenes


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

    def stop(self, engine, when, how=signal.SIGINT):
        code, took = engine.end(how, within=5)
        print(f"{signal.Signals(how).name} {when}: exit code {code} after {took:.1f} s")
        self.assertEqual(code, 0, when + engine.trace())


if __name__ == "__main__":
    scenario.main()
