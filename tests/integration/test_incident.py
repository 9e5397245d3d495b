"""Proves G21 on real servers: the incident that started it ends with one approval by an operator.

Six wrapper pods that no row names, nine rows without a pod_name, none of them the other's by name.
They may be each other's all the same (G25), so nothing destructive happens before somebody looked.
"""

import scenario
import scenes

BACKFILL = {
    "status": "failed",
    "error_code": "UNEXPECTED_TERMINATION",
    "error_message": "Pod not found during backfill",
}


def closed(slug):
    text = f"Row was stopping for too long after pod wrapper-{slug} ended"
    return {"status": "failed", "error_code": "STUCK_TRANSITION", "error_message": text}


class Incident(scenario.Scenario):
    def test_ends_with_one_approval_G21_S7(self):
        every = scenes.PLAIN + scenes.TRICKY + scenes.WRONG
        self.make_world(without=[scene.name for scene in every])
        self.make_incident()
        self.write_config()
        self.add_rules()
        engine = self.make_engine()
        self.start_vouched(engine)
        self.look_until(engine, 9)
        self.assertEqual(len(self.kube.pods(scenes.NAMESPACE)), 6, "before anybody approved")
        self.assertEqual(self.running_rows(), 3)

        code, said = self.trueup("pause", "--comment", "a look first", "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)
        engine.until("paused findings", lambda: len(self.findings("paused")) >= 9, 20)
        seen = self.page("paused")["seen"]
        approve = ("findings", "approve", "--reason", "uncorrelated_rows", "--seen", str(seen))
        self.trueup("resume", "-o", "json")
        self.look_until(engine, 9)
        self.assertEqual(len(self.kube.pods(scenes.NAMESPACE)), 6, "a resume is no approval")
        code, said = self.trueup(*approve, "-o", "json")
        self.assertEqual(code, 0, said)
        self.assertEqual(len(self.kube.pods(scenes.NAMESPACE)), 6, "they changed since that look")

        seen = self.page("uncorrelated_rows")["seen"]
        code, said = self.trueup(*approve[:-1], str(seen), "-o", "json")
        self.assertEqual((code, said["by"]), (0, "local"), said)
        self.prove(engine, stable=3)
        self.show()
        self.assertEqual(engine.metric("orphaned_pods_detected_total"), 6)
        self.assertEqual(engine.metric("instances_without_pod_name"), 9)
        code, _ = engine.end()
        self.assertEqual(code, 0)

    def test_what_nobody_may_ask_is_refused_and_a_pass_may_be_asked_for_G15_G19(self):
        self.start_with_nothing_wrong()
        code, said = self.trueup("hold", "elsewhere/no-such")
        self.assertEqual(code, 2, said)
        self.assertIn("there is no policy 'elsewhere'", said)
        code, said = self.trueup("unquarantine", "pods", "-o", "json")
        self.assertEqual((code, said["sentence"]), (1, "pods is not in quarantine"))
        status, _ = self.engine.get("/v1/findings", known=False)
        self.assertEqual(status, 401)
        passes = self.engine.metric("reconciliation_passes_total")
        code, said = self.trueup("reconcile", "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)
        self.engine.until(
            "a complete pass",
            lambda: self.engine.metric("reconciliation_passes_total") > passes,
            60,
        )
        self.engine.until("its event", self.pass_events, 10)
        wanted = {"orphaned_pods_cleaned", "missing_pods_handled", "status_drift_fixed"}
        wanted |= {"ttl_expired", "inactive_terminated", "duration_seconds"}
        self.assertLessEqual(wanted, self.pass_events()[0].keys())

    def test_a_cleanup_asks_first_G16(self):
        every = scenes.PLAIN + scenes.TRICKY + scenes.WRONG
        self.make_world(without=[scene.name for scene in every])
        self.make_incident()
        for entry in self.table.rows:
            entry["after"] = scenes.UNTOUCHED  # no rule is on that would touch them
        self.write_config()
        engine = self.make_engine()
        self.start_vouched(engine)
        self.look_until(engine, 6)
        for answer in ("no", "y", ""):
            code, said = self.trueup("cleanup", answer=answer)
            self.assertEqual(code, 1, said)
            self.assertIn("nothing was deleted", said)
        self.assertEqual(len(self.kube.pods(scenes.NAMESPACE)), 6)
        code, said = self.trueup("cleanup", answer="yes")
        self.assertEqual(code, 0, said)
        for entry in self.table.pods:
            self.assertIn(entry["name"], said)
        self.prove(engine, stable=3)

    def pass_events(self):
        return self.engine.logged("reconciliation_pass_completed")

    # ---------------------------------------------------------------- making
    def start_vouched(self, engine):
        """Starts it in a world of which most is wrong, which somebody has to vouch for."""
        self.engine = engine
        engine.start(ready_within=0)
        self.not_believed("pods")
        self.vouch("pods")
        engine.until("ready", lambda: engine.readiness()[0] == 200, 60)

    def make_incident(self):
        for number in range(6):
            slug, phase = scenes.make_slug(self.rng), "Running" if number < 3 else "Failed"
            labels = {"app": scenes.APPS[number % 2]}
            pod = self.kube.create_pod(scenes.NAMESPACE, f"wrapper-{slug}", labels, phase)
            self.table.add_pod("incident", "wrong", "nobody names it", pod, scenes.DELETED)
        for number in range(9):
            slug, status = scenes.make_slug(self.rng), "running" if number < 3 else "stopping"
            row = self.pg.insert(scenes.make_row(self.rng, slug, status))
            after = BACKFILL if number < 3 else closed(slug)
            self.table.add_row("incident", "wrong", "it names no pod", row, after)

    def add_rules(self):
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        times = f"grace: {scenario.GRACE:g}s, create_window: 2s"
        rules = f"\n      untracked_record: {{mode: enforce, {times}}}"
        rules += f"\n      stuck_transition: {{mode: enforce, {times}}}"
        line = "status_drift: {mode: enforce}"
        self.assertIn(line, text)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text.replace(line, line + rules))

    # ---------------------------------------------------------------- looking
    def page(self, because):
        code, page = self.trueup("findings", "list", "--reason", because, "-o", "json")
        self.assertEqual(code, 0, page)
        return page

    def findings(self, because):
        return self.page(because)["findings"]

    def look_until(self, engine, count):
        what = f"{count} findings that wait for an approval"
        engine.until(what, lambda: len(self.findings("uncorrelated_rows")) == count, 40)

    def running_rows(self):
        return len(self.pg.rows("status = 'running'"))

    def show(self):
        """Before and after, a line for each pod and row."""
        for entry in self.table.pods:
            print(f"pod {entry['name']}: {entry['before']['phase']} -> {entry['after']}")
        for entry in self.table.rows:
            after = entry["after"]
            what = f"{after['status']} ({after['error_code']})"
            print(f"row {entry['id']}: {entry['before']['status']} -> {what}")


if __name__ == "__main__":
    scenario.main()
