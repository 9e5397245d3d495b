"""Proves the main job on real servers: everything wrong is put right, nothing else is touched, and
metrics and log say so in the words that dashboards know (G18, G19).

The table says for each object what it was and what must become of it; the engine never sees it.
"""

import os
import subprocess
import types

import scenario
import world
from table import Table


class MainJob(scenario.Scenario):
    def test_repairs_what_is_wrong_and_touches_nothing_else_G1_G2_G3_G17(self):
        self.make_world(seed=1)
        self.assertGreaterEqual(len(self.table.pods), 100)
        self.assertGreaterEqual(len(self.table.rows), 100)
        tricky = [e for e in self.table.pods + self.table.rows if e["kind"] == "tricky"]
        self.assertGreaterEqual(len(tricky), 50)
        self.write_config()
        engine = self.make_engine()
        engine.start()
        during = {"table": self.table.path, "seconds": 20, "seed": 2, "events": 40}
        options = types.SimpleNamespace(**during, grace=scenario.GRACE, without=())
        self.assertEqual(world.during(options, self.up), 0, "an event of the world failed")
        self.table = Table.load(self.table.path)
        self.prove(engine, stable=5)
        self.show()
        self.check_metrics(engine)
        self.check_log(engine)
        code, _ = engine.end()
        self.assertEqual(code, 0)
        self.check_modes()

    def check_modes(self):
        """Nobody else on this machine reads the journal or a key."""
        for folder, folders, files in os.walk(self.state_dir):
            for name in folders + files:
                path = os.path.join(folder, name)
                self.assertEqual(os.stat(path).st_mode & 0o077, 0, path)
        self.assertEqual(os.stat(self.state_dir).st_mode & 0o077, 0)

    def check_metrics(self, engine):
        """promtool reads the page, and complains of one name only, which dashboards know (G18)."""
        status, page = engine.get("/metrics")
        self.assertEqual(status, 200)
        self.assertIn("wrapper_pods_total{", page)
        where = [os.path.join(scenario.SERVICES, "promtool"), "path"]
        promtool = subprocess.run(where, capture_output=True, text=True, timeout=300, check=True)
        command = [promtool.stdout.strip(), "check", "metrics"]
        result = subprocess.run(command, input=page, capture_output=True, text=True, timeout=30)
        known = 'wrapper_pods_total non-counter metrics should not have "_total" suffix\n'
        self.assertEqual((result.returncode, result.stdout + result.stderr), (3, known))
        self.assertIn("# TYPE wrapper_pods_total gauge\n", page)

    def check_log(self, engine):
        """The log has the events that are searched for, with their fields (G19)."""
        found = engine.logged("orphaned_pod_detected")
        self.assertLessEqual({"pod_name", "namespace", "age_hours"}, found[0].keys())
        deleted = engine.logged("orphaned_pod_deleted")
        self.assertLessEqual({"pod_name", "namespace", "duration_ms"}, deleted[0].keys())
        names = {event["pod_name"] for event in deleted}
        self.assertLessEqual(names, {event["pod_name"] for event in found})
        started = engine.logged("started")[0]
        self.assertEqual(started["rules"]["graph-instances"]["orphaned_pod"], "enforce")
        self.assertRegex(started["configuration_hash"], "^[0-9a-f]{32}$")
        ended = engine.logged("command_ended")
        self.assertLessEqual({"command_id", "rule", "subject", "outcome"}, ended[0].keys())
        done = [event for event in ended if event["outcome"] == "done"]
        self.assertGreaterEqual(len(done), len(deleted) + 1, "updates of rows, too")

    def show(self):
        """Prints the table, a line for each object of a wrong scene, the others counted."""
        for entry in self.table.pods + self.table.rows:
            if entry["kind"] == "wrong":
                before, after = entry["before"], entry["after"]
                name = f"pod {entry['name']}" if "name" in entry else f"row {entry['id']}"
                now = before["phase"] if "phase" in before else before["status"]
                then = after if isinstance(after, str) else after["status"]
                print(f"{name} ({entry['scene']}): {now} -> {then}")


if __name__ == "__main__":
    scenario.main()
