"""Proves G17 and G7 on real servers: instances that expire at once end as `stopping`, each with its
pod, its service and its ingress gone, whatever comes in between; nobody calls any a failure.

Budgets, paces and staleness are those that nobody has to set. One half of the rows names its pod,
of the other half only the slug does. Pods take their time to stop, and some of them stop with an
error. TRUEUP_ENDINGS says how many there are, in as many rounds, as in "3 10 30".
"""

import os
import random
import time

import audit
import scenario
import scenes
import serving
from event import Event
from kubelet import Kubelet

ROUNDS = [int(count) for count in os.environ.get("TRUEUP_ENDINGS", "3 10").split()]
DEFAULTS = {"idle": "15s", "stale_after": "45s", "grace": "20s", "create_window": "10s"}
RULES = (
    "ttl_expired: {mode: enforce}",
    "inactive: {mode: enforce}",
    "stuck_transition: {mode: enforce, create_window: 10s}",
    "untracked_record: {mode: enforce, grace: 45s, create_window: 10s}",
)
LIFE = 3  # seconds that are left to all of them, once it is said
SILENCE = 40  # seconds; beyond every grace and window of a row whose pod is gone
PAUSE = 10  # seconds; in which the services are heard again
BUDGET, WINDOW = 10, 300  # what a rule may begin in so many seconds
LIVES = 2  # instances beside them that nothing may happen to


class Endings(serving.Serving):
    def test_each_ends_whole_and_none_is_called_a_failure_G7_G17(self):
        for count in ROUNDS:
            self.end_all(count, disturbed=count > 3)

    def end_all(self, count, disturbed):
        seed = random.SystemRandom().randrange(1 << 32)
        print(f"{count} at once, seed {seed}", flush=True)
        self.rng = random.Random(seed)
        every = scenes.PLAIN + scenes.TRICKY + scenes.WRONG
        self.make_world(without=[scene.name for scene in every])
        self.state_dir = os.path.join(self.folder, f"state-{count}")
        relay = self.configure()
        kubelet = Kubelet(self.kube, seed)
        self.addCleanup(kubelet.close)
        self.make_instances(count)
        engine = self.engine = self.make_engine()
        engine.start()
        if disturbed:
            relay.silence()
        self.expire()
        began = time.monotonic()
        if disturbed:
            self.disturb(relay)
        windows = (count - 1) // BUDGET
        engine.until("all have ended", self.all_ended, 120 + windows * WINDOW)
        print(f"all have ended after {time.monotonic() - began:.0f} s", flush=True)
        self.told_the_names()
        self.keep(*self.ended, *self.lives)
        self.prove(engine, stable=5)
        self.prove_nothing_is_left()
        self.prove_no_failure()
        code, _ = engine.end()
        self.assertEqual(code, 0)
        kubelet.close()

    def configure(self):
        """The services are read through a relay of their own; returns it."""
        direct = self.up.env["KUBE_ENGINE_CONFIG"]
        relay = self.kube_proxy()
        relayed, self.up.env["KUBE_ENGINE_CONFIG"] = self.up.env["KUBE_ENGINE_CONFIG"], direct
        self.configs.append(relayed)
        self.write_config(**DEFAULTS)
        self.add_sources(*RULES, services=relayed)
        return relay

    # ---------------------------------------------------------------- the world
    def make_instances(self, count):
        self.ended = [self.instance(tracked=number % 2 == 0) for number in range(count)]
        self.lives = [self.instance(tracked=True) for _ in range(LIVES)]
        self.uids = {event.slug: self.serve(event.pod_name) for event in self.lives + self.ended}
        now = self.pg.sql("SELECT now()").strip()
        for event in self.ended + self.lives:
            event.row(tracked=event.tracked, created_at=now, ttl="24:00:00")

    def expire(self):
        """In one transaction, so that it happens to all of them at once."""
        ids = ", ".join(str(i) for event in self.ended for i in event.rows)
        changes = f"created_at = now(), ttl = '00:00:{LIFE:02}'"
        self.pg.sql(f"UPDATE public.instances SET {changes} WHERE id IN ({ids})")
        for event in self.ended:
            for entry in event.rows.values():
                entry[:] = [self.pg.row(entry[0]["id"]), {"status": "stopping"}]

    def instance(self, tracked):
        columns = {"inactivity_timeout": ""}
        slug = scenes.make_slug(self.rng)
        event = Event(self.kube, self.pg, self.rng, scenario.GRACE, slug, columns=columns)
        event.tracked = tracked
        event.pod(finalizers=(scenes.FINALIZER,))
        return event

    # ---------------------------------------------------------------- in between
    def disturb(self, relay):
        """The services are silent until long after the pods are gone, everything is paused and goes
        on, and the engine is killed while it removes what served them."""
        engine = self.engine
        stay = LIVES + max(0, len(self.ended) - BUDGET)
        engine.until("pods are gone", lambda: self.pods() <= stay, 90)
        time.sleep(SILENCE)
        self.ask("pause")
        relay.open()
        time.sleep(PAUSE)
        closed = self.pg.rows("status <> 'running'")
        self.assertEqual(closed, [], "their services are there")
        since = engine.mark()
        self.ask("resume")
        engine.wait_event(60, since, kind="command", action="delete_object")
        engine.kill()
        engine.start()

    def ask(self, word):
        code, said = self.trueup(word, "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)

    # ---------------------------------------------------------------- the end
    def all_ended(self):
        return self.pods() == LIVES and len(self.pg.rows("status = 'running'")) == LIVES

    def pods(self):
        return len(self.kube.pods(scenes.NAMESPACE))

    def told_the_names(self):
        """A row that had to wait for its turn may have been told the name of its pod meanwhile."""
        for event in self.ended:
            for row, after in event.rows.values():
                if self.pg.row(row["id"])["pod_name"] == event.pod_name:
                    after["pod_name"] = event.pod_name
            for entry in event.pods.values():
                entry[1] = scenes.DELETED

    def prove_nothing_is_left(self):
        for event in self.ended:
            self.assertEqual(self.served(event.pod_name), [None, None], event.slug)
        for event in self.lives:
            self.assertEqual(self.served(event.pod_name), self.uids[event.slug], event.slug)

    def prove_writes(self):
        """Each row was closed once, and told the name of its pod at most; nothing else."""
        sound = audit.report(self.up.env["KUBE_AUDIT_LOG"], "engine", self.table)
        self.assertTrue(sound, "the apiserver's audit log holds a wrong write, printed above")
        names = {i: event.pod_name for event in self.ended for i in event.rows}
        done = set()
        for write in self.pg.foreign_writes():
            before, after = write["before"], write["after"]
            changed = {name: after[name] for name in after if after[name] != before[name]}
            allowed = ({"status": "stopping"}, {"pod_name": names.get(write["id"])})
            self.assertIn(changed, allowed, f"row {write['id']}")
            self.assertNotIn((write["id"], *changed), done, "written twice")
            done.add((write["id"], *changed))

    def prove_no_failure(self):
        """By its own words, too: no other rule acted, and nothing is left to do."""
        names = {f"graph-instances/{event.pod_name}" for event in self.ended}
        acted = {
            (command["rule"], command["action"])
            for command in self.engine.seen(kind="command")
            if command["subject"] in names and command["rule"] != "untracked_record"
        }
        kinds = {"delete_pod", "delete_object", "update_row"}
        self.assertEqual(acted, {("ttl_expired", kind) for kind in kinds})
        failed = {"kind": "outcome", "outcome": "failed", "retryable": False}
        self.assertEqual(self.engine.seen(**failed), [])
        code, page = self.trueup("findings", "list", "-o", "json")
        self.assertEqual(code, 0, page)
        # A row that says stopping is watched, and closed if nobody else does it for a long time.
        left = [f for f in page["findings"] if f["rule"] != "stuck_transition"]
        self.assertEqual(left, [])


if __name__ == "__main__":
    scenario.main()
