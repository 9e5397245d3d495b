"""Proves that what an installation holds does not grow with its age: slots, walsenders, connections,
files and memory.

A round is what a day brings: the API server's authority, certificates and tokens are replaced, and
both sides drift. Their number is TRUEUP_ROTATIONS. In the first ones the engine is stopped and killed.

What it gets wrong: a day has minutes; what grows with the time alone is tried in virtual time
(engine_runtime_days_test).
"""

import os
import signal

import scenario
import scenes
import world

ROUNDS = int(os.environ.get("TRUEUP_ROTATIONS", "5"))
STOPPED, KILLED = 1, 2  # on these days; from then on it is one process that gets older
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: trueup
contexts: [{{name: trueup, context: {{cluster: trueup, user: engine}}}}]
clusters: [{{name: trueup, cluster: {{server: "{server}", certificate-authority: "{ca}"}}}}]
users: [{{name: engine, user: {{tokenFile: "{token}"}}}}]
"""
# What its sanitizer keeps is not held by the engine.
SANITIZER = {"ASAN_OPTIONS": "quarantine_size_mb=4"}


class Rotations(scenario.Scenario):
    def test_what_is_held_is_the_same_each_day(self):
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.write_config()
        self.edit_config({self.up.env["KUBE_ENGINE_CONFIG"]: self.kubeconfig_of_files()})
        self.engine = self.make_engine()
        self.engine.start(**SANITIZER)
        self.days = []
        self.held()
        for day in range(ROUNDS):
            scenario.service("kube", "renew")
            self.begin_anew(day)
            self.drift_and_heal()
            self.held()
        self.nothing_grew()

    def kubeconfig_of_files(self):
        ca = self.up.env["KUBE_CA"]
        path = os.path.join(self.folder, "kubeconfig")
        token = os.path.join(os.path.dirname(ca), "engine.token")
        with open(path, "w", encoding="utf-8", opener=world.private) as file:
            file.write(KUBECONFIG.format(server=self.up.env["KUBE_SERVER"], ca=ca, token=token))
        return path

    def begin_anew(self, day):
        if day == STOPPED:
            self.assertEqual(self.engine.end(signal.SIGTERM)[0], 0)
        elif day == KILLED:
            self.engine.kill()
        if day in (STOPPED, KILLED):
            self.engine.start(ready_within=0, **SANITIZER)
        self.engine.until("ready again", lambda: self.engine.readiness()[0] == 200, 90)

    def drift_and_heal(self):
        no_pod, no_row = self.pair(), self.pair()
        self.lose_pod(no_pod)
        self.lose_row(no_row)
        self.keep(no_pod, no_row)
        self.prove(self.engine, seconds=90)

    def held(self):
        count = {
            "slots": "pg_replication_slots",
            "walsenders": "pg_stat_replication",
            "connections": "pg_stat_activity WHERE usename = 'repl'",
        }
        held = {name: int(self.pg.sql(f"SELECT count(*) FROM {of}")) for name, of in count.items()}
        # How many tables the log and the rows have just now is their compaction's matter.
        files = [path for path in self.engine.files() if not path.startswith(self.state_dir)]
        held["files"] = len(files)
        held["MiB"] = self.engine.rss() >> 20
        print(f"day {len(self.days)}: {held}", flush=True)
        self.days.append(held)

    def nothing_grew(self):
        """Since the day after the last start."""
        self.assertGreater(ROUNDS, KILLED + 2)
        first, last = self.days[KILLED + 2], self.days[-1]
        self.assertEqual(last["slots"], 1)
        self.assertEqual(last["walsenders"], 1)
        for name in ("connections", "files"):
            self.assertLessEqual(last[name], first[name] + 2, name)
        self.assertLessEqual(last["MiB"], 1.5 * first["MiB"] + 32)


if __name__ == "__main__":
    scenario.main()
