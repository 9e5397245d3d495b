"""Proves on real servers that one may ask before anything runs: `trueup config check` asks the
sources what a configuration would meet, and `trueup plan` says what every rule would do. Neither
writes anything, and a wrong question is told in one sentence (G22).
"""

import json
import os
import re
import subprocess

import audit
import scenario
import scenes
from engine import binary

FOUND, WRONG = 3, 2


class Plan(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.logged = os.path.getsize(self.up.env["KUBE_AUDIT_LOG"])

    def ask(self, *words):
        """(exit code, what it said on stdout, on stderr)."""
        command = [binary(), *words, "-c", self.config]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return result.returncode, result.stdout, result.stderr

    def plan(self):
        code, said, complaint = self.ask("plan", "-o", "json")
        slow = [line for line in complaint.splitlines() if not line.startswith("reading ")]
        self.assertEqual(slow, [])
        return code, json.loads(said)

    def checked(self, code):
        """What `config check` says, a line each, after it ended with this code."""
        ended, said, complaint = self.ask("config", "check")
        self.assertEqual(ended, code, said + complaint)
        return said + complaint

    def tearDown(self):
        """Whatever was asked: no folder, no slot, no write."""
        self.assertFalse(os.path.exists(self.state_dir))
        slots = self.pg.sql("SELECT count(*) FROM pg_replication_slots").strip()
        self.assertEqual(slots, "0", "a slot was left")
        self.assertEqual(self.pg.foreign_writes(), [])
        log, user = self.up.env["KUBE_AUDIT_LOG"], "engine"
        self.assertEqual(list(audit.engine_writes(log, user, self.logged)), [])

    def make_pairs(self, count=3):
        every = scenes.PLAIN + scenes.TRICKY + scenes.WRONG
        self.make_world(without=[scene.name for scene in every])
        self.keep(*(self.pair() for _ in range(count)))

    # ---------------------------------------------------------------- what would be done
    def test_a_plan_is_what_an_engine_would_do_and_nothing_else_G1_G2_G3_G22(self):
        self.make_world(seed=3)
        self.write_config()
        code, plan = self.plan()
        self.assertEqual(code, FOUND)
        acts = [f for f in plan["findings"] if f.get("command") and not f["held"]]
        pods = {f["object"] for f in acts if f["rule"] == "orphaned_pod"}
        rows = {f["object"] for f in acts if f["rule"] in ("missing_pod", "status_drift")}
        self.assertEqual(len(acts), len(pods) + len(rows), "of no other rule")
        gone = (scenes.DELETED, scenes.TERMINATING)
        self.assertEqual(pods, {e["before"]["uid"] for e in self.table.pods if e["after"] in gone})
        changed = [e for e in self.table.rows if not isinstance(e["after"], str)]
        self.assertEqual(rows, {f"public.instances/{e['id']}" for e in changed})
        for entry in changed:
            [act] = [f for f in acts if f["object"] == f"public.instances/{entry['id']}"]
            self.assertEqual(act["command"]["sets"], entry["after"])
        code, text, _ = self.ask("plan")
        self.assertEqual(code, FOUND)
        self.assertIn("nothing was written", text)
        said = self.checked(0)
        self.assertIn(f"orphaned_pod {len(pods)}, ", said)
        self.assertIn("`trueup plan` says what", said)

    def test_a_world_that_is_right_has_an_empty_plan(self):
        self.make_pairs()
        self.write_config()
        code, plan = self.plan()
        self.assertEqual((code, plan["findings"], plan["subjects"]), (0, [], 3))
        said = self.checked(0)
        self.assertIn("pods: 3 pods", said)
        self.assertIn("rows: 3 rows, 3 live (running 3)", said)
        self.assertIn("finds     nothing", said)

    # ---------------------------------------------------------------- the wrong question
    def test_a_namespace_or_a_selector_that_finds_nothing_is_told_G22(self):
        self.make_pairs()
        namespace = {f"namespace: {scenes.NAMESPACE}\n": "namespace: no-such-namespace\n"}
        for changes, name in (
            (namespace, "namespace no-such-namespace"),
            ({"app in (": "app notin ("}, '"app notin ('),
        ):
            self.write_config()
            self.edit_config(changes)
            said = self.checked(WRONG)
            self.assertIn("source pods: no pod in namespace", said)
            self.assertIn(name, said)
            self.assertIn("and rows has 3 rows, 3 live", said)
            code, plan = self.plan()
            self.assertEqual((code, plan["quarantined"]), (FOUND, True))
            self.assertEqual({tuple(f["held"]) for f in plan["findings"]}, {("quarantine",)})
            self.assertIn("`trueup unquarantine pods`", self.ask("plan")[1])

    def test_who_may_see_namespaces_is_told_that_there_is_none(self):
        self.make_pairs()
        self.up.env["KUBE_ENGINE_CONFIG"] = self.up.env["KUBE_ADMIN_CONFIG"]
        self.write_config()
        self.edit_config({f"namespace: {scenes.NAMESPACE}\n": "namespace: no-such-namespace\n"})
        self.assertIn("there is no namespace 'no-such-namespace'", self.checked(WRONG))

    def test_a_table_or_a_database_that_is_not_there_is_told(self):
        self.make_pairs()
        for changes, sentence in (
            ({"public.instances": "public.instance"}, "table public.instance does not exist"),
            ({"dbname=trueup": "dbname=elsewhere"}, 'database "elsewhere" does not exist'),
        ):
            self.write_config()
            self.edit_config(changes)
            self.assertIn(sentence, self.checked(WRONG))
            code, said, complaint = self.ask("plan")
            self.assertEqual((code, said), (WRONG, ""))
            self.assertIn(sentence, complaint)

    # Each deletion of a pod read the whole table twice, until its limit of time was over.
    def test_a_look_that_reads_a_large_table_whole_is_warned_of_with_its_index(self):
        self.make_pairs()
        self.pg.sql("INSERT INTO public.instances (status, pod_name) "
                    "SELECT 'failed', 'wrapper-x' || i FROM generate_series(1, 12000) i")
        self.write_config()
        warned = re.findall(r"rows of public.instances are read.*create an index: (CREATE INDEX .*;)", self.checked(0))
        self.assertEqual(len(warned), 2)
        for statement in warned:
            self.pg.sql(statement)
        self.assertNotIn("CREATE INDEX", self.checked(0))

    # ---------------------------------------------------------------- rights
    def test_a_right_that_is_missing_is_named_with_what_grants_it(self):
        self.make_pairs()
        self.write_config()
        role = self.pg.sql("SELECT grantee FROM information_schema.role_table_grants "
                           "WHERE table_name = 'instances' AND privilege_type = 'UPDATE' "
                           "AND grantee <> current_user").strip()
        self.pg.sql(f"REVOKE UPDATE ON public.instances FROM {role}")
        try:
            self.pg.sql(f"GRANT UPDATE (status) ON public.instances TO {role}")
            said = self.checked(WRONG)
        finally:
            self.pg.sql(f"GRANT UPDATE ON public.instances TO {role}")
        missing = "error_code, error_message"
        self.assertIn(f"no right to update {missing}, which missing_pod sets", said)
        self.assertIn(f'GRANT UPDATE ({missing}) ON "public"."instances"', said)
        self.assertIn("finds     nothing", self.checked(0))

    def test_who_may_not_list_or_delete_pods_is_told_which_verbs_are_missing(self):
        self.make_pairs()
        path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/trueup-engine"
        role = self.kube.call("GET", path)
        lesser = [
            rule | {"verbs": [verb for verb in rule["verbs"] if verb != "delete"]}
            for rule in role["rules"]
        ]
        self.write_config()
        self.kube.call("PUT", path, role | {"rules": lesser})
        try:
            said = self.checked(WRONG)
        finally:
            self.kube.call("PUT", path, self.kube.call("GET", path) | {"rules": role["rules"]})
        self.assertIn("no right to delete pods", said)
        self.up.env["KUBE_ENGINE_CONFIG"] = self.up.env["KUBE_NOBODY_CONFIG"]
        self.write_config()
        said = self.checked(WRONG)
        self.assertIn("no right to list pods", said)
        self.assertIn("grant the verbs get, list and watch", said)


if __name__ == "__main__":
    scenario.main()
