"""Proves what happens when the world changes between a decision and its write (S1, S2, S6, S10, S24).

The pause file holds the window open: with it there, commands are issued and checked and their
writes are held. After a hold of more than 2 s an executor looks at the other side again.
"""

import os
import time

import scenario
import scenes

LOOKS_AGAIN = 2.0  # seconds after its checks, at most, an executor still writes on them


class Window(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.start_with_nothing_wrong("--pause-file", self.pause_file)

    def hold(self):
        open(self.pause_file, "w", encoding="utf-8").close()

    def release(self):
        os.remove(self.pause_file)

    def command_for(self, event):
        subject = f"graph-instances/{event.pod_name}"
        return self.engine.wait_event(kind="command", subject=subject)

    def wait_held(self, count):
        """Until so many commands were checked and wait only for the pause file to go."""
        held = "trueup_executor_blocked_commands"
        self.engine.until(f"{count} held", lambda: self.engine.metric(held) == count, 20)

    def refusal_of(self, command):
        outcome = self.engine.wait_event(kind="outcome", command_id=command["id"])
        self.assertEqual(outcome["outcome"], "refused", outcome)
        print(f"{command['text']}: refused: {outcome['text']}")
        return outcome

    def test_pod_recreated_before_the_delete_lives_S1_S2(self):
        orphan, owned, plain = self.event(), self.event(), self.event()
        self.hold()
        pods = [event.pod(after=scenes.DELETED) for event in (orphan, owned, plain)]
        commands = [self.command_for(event) for event in (orphan, owned, plain)]
        self.assertEqual([c["target"] for c in commands], [p["metadata"]["uid"] for p in pods])
        self.wait_held(3)
        since = self.engine.mark()
        for event in (orphan, owned):
            event.delete_pod()
        successor = orphan.pod(after=scenes.DELETED)
        owned.pod()
        owned.row()
        self.release()
        self.assertIn("recreated", self.refusal_of(commands[0])["text"])
        self.refusal_of(commands[1])
        self.engine.wait_event(kind="outcome", command_id=commands[2]["id"], outcome="done")
        self.check_new_grace(since, commands[0], successor["metadata"]["uid"])
        self.keep(orphan, owned, plain)
        self.prove(self.engine)

    def check_new_grace(self, since, old, uid):
        """The successor of a refused command's target has a finding, grace and command of its
        own."""
        command = self.engine.wait_event(since=since, kind="command", target=uid)
        finding = self.engine.wait_event(since=since, kind="finding", object_id=uid)
        self.assertNotEqual(command["id"], old["id"])
        first = self.engine.seen(kind="finding", object_id=old["target"])[0]
        self.assertNotEqual(finding["id"], first["id"])
        waited = command["time_ms"] - finding["time_ms"]
        self.assertGreaterEqual(waited, scenario.GRACE * 1000, "the successor got no grace")
        self.engine.wait_event(kind="outcome", command_id=command["id"], outcome="done")

    def test_row_inserted_before_the_delete_saves_the_pod_S6(self):
        events = [self.event() for _ in range(3)]
        self.hold()
        for event in events:
            event.pod()
        commands = [self.command_for(event) for event in events]
        events[0].row()
        events[1].row("starting", tracked=False)
        events[2].row("hibernated")
        time.sleep(LOOKS_AGAIN + 0.5)
        self.release()
        for command in commands:
            self.assertIn("row", self.refusal_of(command)["text"])
        self.keep(*events)
        self.prove(self.engine)

    def test_row_or_pod_changed_before_the_update_saves_the_row_S10_S38(self):
        returns, stops, heals, leaves = [self.event() for _ in range(4)]
        self.hold()
        returns.row()
        stopping, leaving = stops.row(), leaves.row()
        heals.pod(phase="Failed")
        heals.row()
        commands = [self.command_for(event) for event in (returns, stops, heals, leaves)]
        returns.pod()
        stops.update(stopping, status="stopping")
        heals.set_phase("Running")
        leaves.expect_row(leaving, scenes.ABSENT)
        self.pg.delete(leaving["id"])
        time.sleep(LOOKS_AGAIN + 0.5)
        self.release()
        for command in commands[:3]:
            self.refusal_of(command)
        outcome = self.engine.wait_event(kind="outcome", command_id=commands[3]["id"])
        self.assertIn(outcome["outcome"], ("refused", "already_done"))
        self.keep(returns, stops, heals, leaves)
        self.prove(self.engine)

    def test_hold_set_on_the_pod_before_the_delete_is_honoured_S24(self):
        event = self.event()
        self.hold()
        event.pod()
        command = self.command_for(event)
        pod = self.kube.set_labels(scenes.NAMESPACE, event.pod_name, {"trueup.io/hold": "yes"})
        event.pods[pod["metadata"]["uid"]] = [pod, scenes.UNTOUCHED]
        self.release()
        self.assertIn("veto", self.refusal_of(command)["text"])
        self.keep(event)
        self.prove(self.engine)


if __name__ == "__main__":
    scenario.main()
