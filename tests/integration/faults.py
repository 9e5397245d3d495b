"""What the tests of a server's faults share: an engine over a world with nothing wrong, which
reaches that server through a relay, so that its connections can be cut or silenced; the proof that
an outage is no absence, and that what went wrong meanwhile is repaired afterwards.
"""

import time

import scenario

OUTAGE = scenario.GRACE + 5  # seconds: beyond grace and create window


class Faults(scenario.Scenario):
    server = None  # tools/services/NAME
    source = None  # what is read from it
    blind_rule = None  # the rule that acts when that source lacks something

    def make_proxy(self):
        """The relay in front of the server."""
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        self.addCleanup(scenario.service, self.server, "up")
        self.proxy = self.make_proxy()
        self.start_with_nothing_wrong()

    def answering(self):
        return self.engine.metric(f'trueup_source_up{{source="{self.source}"}}') == 1

    def epochs(self):
        return self.engine.metric(f'trueup_source_snapshots_total{{source="{self.source}"}}')

    def until_ready(self):
        self.engine.until("ready", lambda: self.engine.readiness()[0] == 200, 60)

    def fail_for(self, seconds):
        """Lets an outage last; the engine must notice it and take nothing for gone meanwhile."""
        since = self.engine.mark()
        started = time.monotonic()
        self.engine.until("the outage is noticed", lambda: not self.answering(), 45)
        self.assertEqual(self.engine.readiness()[0], 503)
        print(f"readyz: {self.engine.readiness()[1].strip()}")
        time.sleep(max(0.0, seconds - (time.monotonic() - started)))
        blind = self.engine.seen(since, kind="command", rule=self.blind_rule)
        self.assertEqual(blind, [], f"took {self.source} for gone that it could not see")

    def vouch_for_the_past(self, act=lambda: None):
        """A source that is known to have gone back takes nothing away before somebody vouches."""
        self.not_believed(self.source)
        since = self.engine.mark()
        act()
        time.sleep(OUTAGE)
        took = [
            one for one in self.engine.seen(since, kind="command") if one["rule"] != "status_drift"
        ]
        self.assertEqual(took, [], f"took something away on the word of {self.source}")
        self.vouch(self.source)

    def heal(self, *events, seconds=90):
        self.engine.until("the source answers", self.answering, 60)
        self.keep(*events)
        self.prove(self.engine, seconds=seconds)
        self.until_ready()
