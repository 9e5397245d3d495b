"""Proves that what many subjects share is looked up by its name: a node in the cluster, and a row that says
when a table was filled. A rule acts by what they say, waits for a table that nobody filled, and a
command is refused where what it was issued by says otherwise by then.
"""

import contextlib
import os
import threading
import time

import scenario
from kube import KubeError

SPACE = "references"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
TABLES = ("jobs", "fillings", "switches")
NODES = ("references-up", "references-down")

POLICY = """\
policy: references
language: 1
subject: the name of a job
stale_after: 30s
roles:
  maps: {kind: object, key: name, live: {deleting: false}}
  jobs:
    kind: row
    key: name
    live: {state: [running, lost]}
    fields: {name: text, state: [running, lost, halted], node: text}
    as_of: {field: fillings.began, at: jobs}
  nodes: {kind: object, key: name, reference: true, fields: {cordoned: {boolean: spec.unschedulable}}}
  fillings: {kind: row, key: name, reference: true, fields: {name: text, began: timestamp}}
  switches: {kind: row, key: name, reference: true, fields: {name: text, enabled: boolean}}
rules:
  unwanted_map:
    finds: map of no job
    when: {maps: one, jobs: none}
    since: first_seen
    grace: 3s
    create_window: 2s
    do: {delete: maps}
  lost_job:
    finds: job runs on a node that is gone or cordoned
    when:
      jobs: {one: {state: running}}
      nodes: {none: {cordoned: {not: true}}, named: jobs.node}
    grace: 3s
    create_window: 0s
    acknowledge: [no_window]
    do: {update: jobs, set: {state: lost}}
  halted_job:
    finds: job runs though jobs are switched off
    when:
      jobs: {one: {state: running}}
      switches: {one: {enabled: false}, named: jobs}
    grace: 3s
    do: {update: jobs, set: {state: halted}}
  duplicates:
    finds: two rows of a name
    when: duplicates
    do: report
"""

CONFIG = """\
version: 1
bus: {{embedded: {{}}, max_clock_step: 1s, max_broker_skew: 0s}}
state_dir: {state_dir}
sources:
  maps:
    kubernetes: {{kubeconfig: {kubeconfig}, namespace: {space}, resource: v1/configmaps, selector: of=tests}}
    heartbeat: {{idle: 4s, active: 2s}}
  nodes:
    kubernetes: {{kubeconfig: {kubeconfig}, resource: v1/nodes, selector: of=tests}}
    heartbeat: {{idle: 4s, active: 2s}}
{tables}
policies:
  - name: references
    file: references.yaml
    roles: {{maps: maps, nodes: nodes, jobs: jobs, fillings: fillings, switches: switches}}
    rules:
      unwanted_map: {{mode: enforce, grace: 3s, create_window: 2s}}
      lost_job: {{mode: enforce, grace: 3s}}
      halted_job: {{mode: enforce, grace: 3s}}
      duplicates: {{mode: observe}}
    max_clock_skew: 1s
executors:
  delete_object: {{sources: [maps]}}
  update_row: {{source: jobs}}
http: {{listen: "127.0.0.1:0"}}
"""

SOURCE = """\
  {name}:
    postgres: {{conninfo: "{conninfo}", table: {table}, publication: {slot}, slot: {slot}}}
    heartbeat: {{idle: 4s, active: 2s}}
"""

# Holds whoever looks at the switch until there is one, and turns it before he sees it.
TURN_BEFORE_THE_LOOK = """
BEGIN;
LOCK TABLE public.references_switches IN ACCESS EXCLUSIVE MODE;
DO $$ BEGIN
  FOR attempt IN 1..500 LOOP
    IF EXISTS (SELECT FROM pg_locks WHERE NOT granted
               AND relation = 'public.references_switches'::regclass) THEN RETURN; END IF;
    PERFORM pg_sleep(0.1);
  END LOOP;
  RAISE EXCEPTION 'nobody looked at the switch';
END $$;
UPDATE public.references_switches SET enabled = true;
COMMIT;
"""


class References(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.clear)
        self.clear()
        self.give_rights()
        self.make_tables()
        self.kube.make_namespace(SPACE)
        for name in NODES:
            spec = {"unschedulable": name.endswith("down")}
            self.create("/api/v1/nodes", "v1", "Node", name, spec=spec)
        self.filled = 0.0
        with open(os.path.join(self.folder, "references.yaml"), "w", encoding="utf-8") as file:
            file.write(POLICY)
        tables = "".join(
            SOURCE.format(
                name=name, conninfo=self.up.env["PG_REPL"], table=f"public.references_{name}",
                slot=f"trueup_references_{name}",
            )
            for name in TABLES
        )  # fmt: skip
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                CONFIG.format(
                    state_dir=self.state_dir, kubeconfig=self.up.env["KUBE_ENGINE_CONFIG"],
                    space=SPACE, tables=tables.rstrip("\n"),
                )  # fmt: skip
            )

    def clear(self):
        for name in TABLES:
            self.pg.drop_slot(f"trueup_references_{name}")
            self.pg.sql(f"DROP PUBLICATION IF EXISTS trueup_references_{name};"
                        f"DROP TABLE IF EXISTS public.references_{name};")  # fmt: skip
        for name in self.maps():
            self.kube.call("DELETE", f"/api/v1/namespaces/{SPACE}/configmaps/{name}")
        paths = [f"/api/v1/nodes/{name}" for name in NODES]
        paths += [f"{RBAC}/clusterrolebindings/references", f"{RBAC}/clusterroles/references"]
        for path in paths:
            with contextlib.suppress(KubeError):
                self.kube.call("DELETE", path)

    def make_tables(self):
        columns = {
            "jobs": "name text, state text NOT NULL, node text",
            "fillings": "name text, began timestamptz",
            "switches": "name text, enabled boolean",
        }
        for name in TABLES:
            table = f"public.references_{name}"
            self.pg.sql(
                f"""
                CREATE TABLE {table} (id bigserial PRIMARY KEY, {columns[name]});
                ALTER TABLE {table} REPLICA IDENTITY FULL;
                CREATE PUBLICATION trueup_references_{name} FOR TABLE {table};
                GRANT SELECT ON {table} TO repl;
                """
            )
        self.pg.sql(
            """
            GRANT UPDATE (state) ON public.references_jobs TO repl;
            INSERT INTO public.references_fillings (name, began) VALUES ('jobs', now() - interval '1 hour');
            INSERT INTO public.references_switches (name, enabled) VALUES ('jobs', true), (NULL, false);
            """
        )

    def give_rights(self):
        watched = ["get", "list", "watch"]
        rights = [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": [*watched, "delete"]},
            {"apiGroups": [""], "resources": ["nodes"], "verbs": watched},
        ]
        group = "rbac.authorization.k8s.io"
        self.create(f"{RBAC}/clusterroles", f"{group}/v1", "ClusterRole", "references", rules=rights)
        self.create(
            f"{RBAC}/clusterrolebindings", f"{group}/v1", "ClusterRoleBinding", "references",
            roleRef={"apiGroup": group, "kind": "ClusterRole", "name": "references"},
            subjects=[{"apiGroup": group, "kind": "User", "name": "engine"}],
        )  # fmt: skip

    def create(self, folder, version, kind, name, **more):
        body = {"apiVersion": version, "kind": kind}
        body["metadata"] = {"name": name, "labels": {"of": "tests"}}
        self.kube.call("POST", folder, body | more)

    # ---------------------------------------------------------------- making and looking
    def map(self, name):
        self.create(f"/api/v1/namespaces/{SPACE}/configmaps", "v1", "ConfigMap", name)

    def maps(self):
        try:
            path = f"/api/v1/namespaces/{SPACE}/configmaps?labelSelector=of%3Dtests"
            return sorted(each["metadata"]["name"] for each in self.kube.call("GET", path)["items"])
        except KubeError:
            return []

    def job(self, name, node):
        node = f"'{node}'" if node else "NULL"
        self.pg.sql(
            f"INSERT INTO public.references_jobs (name, state, node) VALUES ('{name}', 'running', {node})"
        )

    def states(self):
        told = self.pg.sql("SELECT name, state FROM public.references_jobs ORDER BY name")
        return dict(line.split("|") for line in told.splitlines())

    def fill(self):
        """The job that fills the table goes on, every few seconds."""
        if time.monotonic() < self.filled + 6:
            return
        self.filled = time.monotonic()
        self.pg.sql("UPDATE public.references_fillings SET began = now()")

    def filled_until(self, engine, what, condition):
        def look():
            self.fill()
            return condition()

        engine.until(what, look, 60)

    # ---------------------------------------------------------------- tests
    def test_a_rule_acts_by_what_many_share(self):
        self.job("on-none", "references-none")
        self.job("on-cordoned", "references-down")
        self.job("nowhere", None)
        for name in ("one", "two", "three", "four"):
            self.job(name, "references-up")
            self.map(name)
        self.map("stray")
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        said = self.run_trueup("plan", "-c", self.config)[1]
        held = "on-none: job runs on a node that is gone or cordoned; nothing would be done (stale)"
        self.assertIn(held, said)
        engine = self.make_engine()
        engine.start()
        for subject in ("on-none", "on-cordoned", "stray"):
            engine.wait_event(kind="finding", subject=f"references/{subject}", reason="stale")
        code, said = self.run_trueup("why", "references/stray", "-c", self.config)
        self.assertEqual(code, 0, said)
        self.assertIn("began", said)
        self.assertIn("filled within 30s", said)
        self.assertEqual(engine.seen(kind="command"), [])
        self.filled_until(engine, "the stray goes", lambda: "stray" not in self.maps())
        lost = {"on-none", "on-cordoned"}
        self.filled_until(
            engine, "the lost jobs are told",
            lambda: {name for name, state in self.states().items() if state == "lost"} == lost,
        )  # fmt: skip
        self.assertEqual(self.maps(), ["four", "one", "three", "two"])
        self.assertEqual({s for n, s in self.states().items() if n not in lost}, {"running"})
        self.assertEqual(engine.end()[0], 0)

    def test_a_command_is_refused_whose_reference_says_otherwise_by_then(self):
        for name in ("one", "two", "three"):
            self.job(name, "references-up")
            self.map(name)
        engine = self.make_engine()
        engine.start()
        turned = threading.Thread(target=self.pg.sql, args=(TURN_BEFORE_THE_LOOK,))
        self.pg.sql("UPDATE public.references_switches SET enabled = false WHERE name = 'jobs'")
        turned.start()
        self.addCleanup(turned.join)

        def refused():
            return engine.seen(kind="outcome", outcome="refused")

        self.filled_until(engine, "a look refuses it", refused)
        self.assertIn("enabled = f): it is t now", refused()[0]["text"])
        self.assertEqual(set(self.states().values()), {"running"})
        self.assertEqual(engine.end()[0], 0)


if __name__ == "__main__":
    scenario.main()
