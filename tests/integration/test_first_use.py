"""Proves on real servers that a wrong question is not an absence: an engine that is started for the
first time over the wrong table, the wrong namespace or the wrong selector writes nothing, says so,
and acts once an operator has vouched for what it sees (G22, S4).

And that a row whose pod_name is blank, or no name at all, loses no pod by it (G1, G25, S7).
"""

import scenario
import scenes

COUNT = 12
TOO_SOON = scenario.GRACE + 8  # seconds beyond grace and create window


class FirstUse(scenario.Scenario):
    def setUp(self):
        super().setUp()
        every = scenes.PLAIN + scenes.TRICKY + scenes.WRONG
        self.make_world(without=[scene.name for scene in every])

    # ---------------------------------------------------------------- the wrong question
    def test_an_empty_table_is_not_believed_before_somebody_vouches_G22(self):
        events = [self.event() for _ in range(COUNT)]
        for event in events:
            event.pod()
        self.start()
        self.not_believed("rows")
        self.keep(*events)
        self.prove(self.engine, stable=TOO_SOON)
        self.vouch("rows")
        for entry in self.table.pods:
            entry["after"] = scenes.DELETED
        self.prove(self.engine)

    def test_a_namespace_that_does_not_exist_makes_no_pod_missing_G22(self):
        events = [self.pair() for _ in range(COUNT)]
        self.start({f"namespace: {scenes.NAMESPACE}\n": "namespace: no-such-namespace\n"})
        self.not_believed("pods")
        self.keep(*events)
        self.prove(self.engine, stable=TOO_SOON)

    def test_a_selector_that_finds_too_little_makes_no_pod_missing_G22(self):
        events = [self.pair() for _ in range(COUNT)]
        wide = f"app in ({', '.join(scenes.APPS)})"
        self.start({wide: f"{wide}, slug in ({events[0].slug})"})
        self.not_believed("pods")
        self.keep(*events)
        self.prove(self.engine, stable=TOO_SOON)
        self.vouch("pods")
        # Under its name each pod is there: the executor looks, and refuses each row once.
        self.engine.until("each is refused", lambda: self.refused() == COUNT - 1, 40)
        self.prove(self.engine, stable=TOO_SOON)
        self.assertEqual(self.refused(), COUNT - 1)

    def refused(self):
        return len(self.engine.seen(kind="outcome", outcome="refused"))

    def start(self, changes=()):
        # A budget that nothing waits for.
        self.write_config(budget="{max: 100}")
        self.edit_config(dict(changes))
        self.engine = self.make_engine()
        self.engine.start(ready_within=0)

    # ---------------------------------------------------------------- names that are none
    def test_a_blank_pod_name_loses_no_pod_G1_G25(self):
        empty, blank, orphan = self.event(), self.event(), self.event()
        for event, pod_name in ((empty, ""), (blank, " ")):
            event.row(pod_name=pod_name)
            event.pod()
        orphan.pod(after=scenes.DELETED)
        self.start()
        self.keep(empty, blank, orphan)
        self.prove(self.engine, stable=TOO_SOON)

    def test_a_pod_name_that_cannot_be_one_makes_every_orphan_wait_G1_G25_S7(self):
        odd, orphan = self.event(), self.event()
        odd.row(pod_name=f"{scenes.NAMESPACE}/{odd.pod_name}")
        odd.pod()
        orphan.pod()
        self.start()
        self.engine.until("both pods wait for an approval", lambda: self.waiting() == 2, 30)
        self.engine.until("the row is reported itself", lambda: self.reported() == 1, 90)
        self.keep(odd, orphan)
        self.prove(self.engine, stable=TOO_SOON)

    def waiting(self):
        return self.listed("--reason", "uncorrelated_rows")

    def reported(self):
        return self.listed("--rule", "untracked_record")

    def listed(self, *which):
        code, page = self.trueup("findings", "list", *which, "-o", "json")
        return len(page["findings"]) if code == 0 else 0


if __name__ == "__main__":
    scenario.main()
