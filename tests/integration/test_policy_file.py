"""Proves that a policy which the binary does not carry runs by its file alone: a stranger's table and
pods are put right, and what is wrong with the file, or with the table that it names, is said.
"""

import os
import shutil

import scenario

SPACE = "workers"
SLOT = "trueup_workers"
POLICIES = os.path.join(os.path.dirname(__file__), "..", "..", "policies", "examples")

CONFIG = """\
version: 1
bus: {{embedded: {{}}, max_clock_step: 1s, max_broker_skew: 0s}}
state_dir: {state_dir}
sources:
  workers:
    kubernetes:
      kubeconfig: {kubeconfig}
      namespace: {space}
      selector: role=worker
    heartbeat: {{idle: 4s, active: 2s}}
  table:
    postgres:
      conninfo: "{conninfo}"
      table: public.workers
      publication: trueup_workers
      slot: {slot}
    heartbeat: {{idle: 4s, active: 2s}}
policies:
  - name: workers
    file: workers.yaml
    roles: {{pods: workers, rows: table}}
    rules:
      orphaned_pod: {{mode: enforce, grace: 3s, create_window: 2s}}
      dead_worker: {{mode: enforce, grace: 3s, create_window: 2s}}
      failed_worker: {{mode: enforce}}
      leftover_pod: {{mode: enforce, grace: 3s}}
    stale_after: 8s
executors:
  delete_pod: {{source: workers}}
  update_row: {{source: table}}
http: {{listen: "127.0.0.1:0"}}
"""


# Whose rows say by a boolean, and a number, what is to become of their pods.
TYPED = """\
policy: typed
language: 1
subject: the name of a pod
roles:
  pods: {kind: pod, key: name}
  rows:
    kind: row
    key: k8s_pod
    live: {deleted: false}
    fields: {deleted: boolean, drained: boolean, jobs: number, k8s_pod: text}
rules:
  orphan:
    finds: pod of no row that is there
    when: {pods: one, rows: {none: {deleted: false}}}
    do: {delete: pods}
  idle:
    finds: row without jobs that is not drained
    when: {rows: {one: {deleted: false, drained: false, jobs: 0}}, pods: one}
    do: {update: rows, set: {drained: true}}
"""


# Pods that somebody started by hand get their row.
RECORDED = """\
policy: recorded
language: 1
subject: the name of a pod
roles:
  pods: {kind: pod, key: name, fields: {phase: text}}
  rows:
    kind: row
    key: k8s_pod
    live: {state: [ACTIVE, DRAINING]}
    fields: {state: [ACTIVE, DRAINING, DEAD], k8s_pod: text, host: text, updated_at: timestamp}
rules:
  unrecorded:
    finds: pod runs, and no row says so
    when: {pods: {one: {phase: Running, deleting: false}}, rows: none}
    do: {insert: rows, set: {k8s_pod: "{subject}", state: ACTIVE, host: "in {pods.namespace}", updated_at: "{now}"}}
"""


class PolicyFile(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.drop_workers()
        self.addCleanup(self.drop_workers)
        self.kube.make_namespace(SPACE)
        self.kube.clear_pods(SPACE)
        self.pg.sql(
            """
            CREATE TABLE public.workers (id bigserial PRIMARY KEY, host text, state text NOT NULL,
              k8s_pod text, updated_at timestamptz NOT NULL DEFAULT now());
            ALTER TABLE public.workers REPLICA IDENTITY FULL;
            CREATE PUBLICATION trueup_workers FOR TABLE public.workers;
            GRANT SELECT, UPDATE (state, updated_at) ON public.workers TO repl;
            """
        )
        self.policy = os.path.join(self.folder, "workers.yaml")
        shutil.copy(os.path.join(POLICIES, "workers.yaml"), self.policy)
        env = self.up.env
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                CONFIG.format(
                    state_dir=self.state_dir, kubeconfig=env["KUBE_ENGINE_CONFIG"], space=SPACE,
                    conninfo=env["PG_REPL"], slot=SLOT,
                )  # fmt: skip
            )

    def drop_workers(self):
        self.pg.drop_slot(SLOT)
        self.pg.sql(
            "DROP PUBLICATION IF EXISTS trueup_workers; DROP TABLE IF EXISTS public.workers;"
        )

    # ---------------------------------------------------------------- making and looking
    def pod(self, name, phase="Running"):
        self.kube.create_pod(SPACE, name, {"role": "worker"}, phase)

    def row(self, name, state):
        self.pg.sql(f"INSERT INTO public.workers (state, k8s_pod) VALUES ('{state}', '{name}')")

    def state(self, name):
        return self.pg.sql(f"SELECT state FROM public.workers WHERE k8s_pod = '{name}'")

    def gone(self, name):
        pod = self.kube.pod(SPACE, name)
        return pod is None or "deletionTimestamp" in pod["metadata"]

    def edit_policy(self, before, after):
        with open(self.policy, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(before, text)
        with open(self.policy, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after))

    # ---------------------------------------------------------------- tests
    def test_a_strangers_table_and_pods_are_put_right(self):
        for name in ("well", "draining", "lost", "failed"):
            self.row(name, "DRAINING" if name == "draining" else "ACTIVE")
        for name in ("well", "draining", "leftover", "stray"):
            self.pod(name)
        self.pod("failed", "Failed")
        self.row("leftover", "DEAD")
        self.pg.sql("UPDATE public.workers SET updated_at = '2020-01-01' WHERE k8s_pod = 'lost'")
        code, said = self.run_trueup("plan", "-c", self.config)
        self.assertEqual(code, 3, said)
        for finding in ("dead_worker", "failed_worker", "orphaned_pod", "leftover_pod"):
            self.assertIn(finding, said)
        engine = self.make_engine()
        engine.start()
        for name in ("lost", "failed"):
            engine.until(f"{name} is dead", lambda n=name: self.state(n) == "DEAD", 60)
        age = "SELECT now() - updated_at < '1 hour' FROM public.workers WHERE k8s_pod = 'lost'"
        self.assertEqual(self.pg.sql(age), "t", "the time of issue is written beside it")
        for name in ("leftover", "stray", "failed"):
            engine.until(f"the pod {name} goes", lambda n=name: self.gone(n), 60)
        # Symptom (had it been taken): a half-edited file changed what a running engine goes by.
        self.edit_policy("language: 1", "language: 7")
        said = "this process goes on with the policies that are in its journals"

        def ready_and_says_so():
            code, text = engine.readiness()
            return code == 200 and said in text

        engine.until("it is ready and says so", ready_and_says_so, 60)
        self.pod("late")
        engine.until("the pod late goes", lambda: self.gone("late"), 60)
        self.assertEqual((self.state("well"), self.state("draining")), ("ACTIVE", "DRAINING"))
        self.assertFalse(self.gone("well") or self.gone("draining"))
        self.assertEqual(engine.end()[0], 0)

    def test_what_is_wrong_is_said_before_anything_runs(self):
        self.pod("well")
        self.row("well", "ACTIVE")
        self.assertEqual(self.check()[0], 0, self.check()[1])
        self.pg.sql("REVOKE UPDATE (state) ON public.workers FROM repl")
        self.assertIn("no right to update state, which dead_worker sets", self.refused())
        self.pg.sql("GRANT UPDATE (state) ON public.workers TO repl")
        # Symptom (had it been taken): a column that is gone is unknown for ever, and nothing is found.
        self.pg.sql("ALTER TABLE public.workers DROP COLUMN updated_at")
        self.assertIn("updated_at", self.refused())
        code, said = self.run_trueup("up", "-c", self.config)
        self.assertEqual(code, 2, said)
        self.edit_policy("past: rows.updated_at + 1h", "past: rows.changed + 1h")
        self.assertIn("workers.yaml:", self.refused())

    # Symptom: PostgreSQL says f where a policy says false, and the pods of living rows were deleted.
    def test_booleans_and_numbers_are_what_the_server_means(self):
        self.pg.sql(
            """
            ALTER TABLE public.workers ADD deleted boolean NOT NULL DEFAULT false,
              ADD drained boolean NOT NULL DEFAULT false, ADD jobs integer NOT NULL DEFAULT 1;
            GRANT UPDATE (drained) ON public.workers TO repl;
            """
        )
        for name in ("well", "idle", "over"):
            self.pod(name)
            self.row(name, "ACTIVE")
        self.pg.sql("UPDATE public.workers SET jobs = 0 WHERE k8s_pod = 'idle'")
        self.pg.sql("UPDATE public.workers SET deleted = true WHERE k8s_pod = 'over'")
        with open(self.policy, "w", encoding="utf-8") as file:
            file.write(TYPED)
        rules = CONFIG[CONFIG.index("      orphaned_pod:") : CONFIG.index("    stale_after:")]
        typed = "      orphan: {mode: enforce, grace: 3s, create_window: 2s}\n      idle: {mode: enforce}\n"
        self.edit_config({rules.replace("{{", "{").replace("}}", "}"): typed})
        self.assertEqual(self.check()[0], 0, self.check()[1])
        engine = self.make_engine()
        engine.start()
        engine.until("the pod over goes", lambda: self.gone("over"), 60)
        engine.until("idle is drained", lambda: self.drained("idle") == "t", 60)
        self.assertEqual(engine.end()[0], 0)
        self.assertEqual((self.drained("well"), self.drained("over")), ("f", "f"))
        self.assertFalse(self.gone("well") or self.gone("idle"))
        done = [one["subject"] for one in engine.logged("command_ended")]
        self.assertEqual(sorted(done), ["workers/idle", "workers/over"], "each once")
        self.pg.sql(
            "ALTER TABLE public.workers ALTER drained DROP DEFAULT,"
            " ALTER drained TYPE char(5) USING drained::text"
        )
        self.assertIn("drained of public.workers is character and is read as", self.refused())

    def drained(self, name):
        return self.pg.sql(f"SELECT drained FROM public.workers WHERE k8s_pod = '{name}'")

    def check(self):
        return self.run_trueup("config", "check", "-c", self.config)

    def refused(self):
        code, said = self.check()
        self.assertEqual(code, 2, said)
        return said

    def test_a_pod_without_a_row_gets_one(self):
        with open(self.policy, "w", encoding="utf-8") as file:
            file.write(RECORDED)
        rules = CONFIG[CONFIG.index("      orphaned_pod:") : CONFIG.index("    stale_after:")]
        records = "      unrecorded: {mode: enforce, grace: 3s, create_window: 2s}\n"
        self.edit_config({
            rules.replace("{{", "{").replace("}}", "}"): records,
            "  update_row: {source: table}\n": "  insert_row: {source: table}\n",
            "  delete_pod: {source: workers}\n": "",
        })  # fmt: skip
        # What nobody could insert, and what two could at once, is said before anything runs.
        said = self.refused()
        self.assertIn("GRANT INSERT (host, k8s_pod, state, updated_at) ON", said)
        self.assertIn("GRANT USAGE ON SEQUENCE public.workers_id_seq TO the role", said)
        index = 'CREATE UNIQUE INDEX CONCURRENTLY ON "public"."workers" ("k8s_pod")'
        self.assertIn(index, said)
        self.pg.sql("ALTER TABLE public.workers ADD jobs integer NOT NULL")
        self.assertIn("unrecorded inserts rows without jobs, which cannot be NULL", self.refused())
        self.pg.sql(
            """
            ALTER TABLE public.workers DROP COLUMN jobs;
            GRANT INSERT (k8s_pod, state, host, updated_at) ON public.workers TO repl;
            GRANT USAGE ON SEQUENCE public.workers_id_seq TO repl;
            """
        )
        self.pg.sql(index)
        self.row("well", "DRAINING")
        for name in ("well", "by-hand"):
            self.pod(name)
        self.pod("not-yet", "Pending")
        self.assertEqual(self.check()[0], 0, self.check()[1])
        engine = self.make_engine()
        engine.start()
        engine.until("the pod by-hand has a row", lambda: self.state("by-hand") == "ACTIVE", 60)
        # One whose owner is a moment later than its pod stays the owner's.
        self.pod("owned")
        self.row("owned", "DRAINING")
        self.pod("later")
        engine.until("the pod later has a row", lambda: self.state("later") == "ACTIVE", 60)
        rows = "SELECT string_agg(concat_ws(' ', k8s_pod, state, host), ', ' ORDER BY k8s_pod) FROM public.workers"
        self.assertEqual(
            self.pg.sql(rows),
            f"by-hand ACTIVE in {SPACE}, later ACTIVE in {SPACE}, owned DRAINING, well DRAINING",
        )
        fresh = "SELECT bool_and(now() - updated_at < '1 hour') FROM public.workers"
        self.assertEqual(self.pg.sql(fresh), "t")
        self.assertEqual(engine.end()[0], 0)
        ended = [(one["action"], one["outcome"]) for one in engine.logged("command_ended")]
        self.assertEqual(ended, [("insert_row", "done")] * 2)


if __name__ == "__main__":
    scenario.main()
