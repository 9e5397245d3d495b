"""Proves on real servers that reading and writing may be two accounts each: the one that reads the
log and the table cannot write, the one that writes can do nothing else, and what it writes is the
very database, and the very cluster, that was read.
"""

import re
import subprocess

import scenario
import scenes
from engine import binary

READER, WRITER = "trueup_test_reader", "trueup_test_writer"
WRITTEN = "status, error_code, error_message, pod_name"
DELETING = "/apis/rbac.authorization.k8s.io/v1/clusterroles/trueup-engine"


class Credentials(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.drop_roles()
        self.addCleanup(self.drop_roles)
        self.pg.sql(
            f"""
            CREATE ROLE {READER} LOGIN REPLICATION PASSWORD 'reads';
            GRANT SELECT ON public.instances TO {READER};
            CREATE ROLE {WRITER} LOGIN PASSWORD 'writes';
            GRANT SELECT, UPDATE ({WRITTEN}) ON public.instances TO {WRITER};
            """
        )
        self.write_config()
        conninfo = self.up.env["PG_REPL"]
        self.reads, self.writes = (
            re.sub(r"user=\w+ password=\w+", f"user={role} password={word}", conninfo)
            for role, word in ((READER, "reads"), (WRITER, "writes"))
        )
        self.edit_config({conninfo: self.reads})

    def drop_roles(self):
        for role in (READER, WRITER):
            self.pg.sql(
                f"DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN "
                f"EXECUTE 'DROP OWNED BY {role}'; EXECUTE 'DROP ROLE {role}'; END IF; END $$;"
            )

    def write_as(self, conninfo):
        self.edit_config({"{source: rows}": f'{{source: rows, conninfo: "{conninfo}"}}'})

    def checked(self, code):
        command = [binary(), "config", "check", "-c", self.config]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        for secret in ("password=reads", "password=writes"):
            self.assertNotIn(secret, said)
        return said

    # One role had to read the log, the table and write: whoever had its password had all of it.
    def test_who_reads_cannot_write_and_who_writes_does(self):
        said = self.checked(2)
        self.assertIn("no right to update error_code, error_message, status", said)
        self.write_as(self.writes)
        self.assertIn("executor  update_row: on rows, as conninfo", self.checked(0))
        self.engine = self.make_engine()
        self.engine.start()
        event = self.pair()
        self.lose_pod(event)
        self.keep(event)
        self.prove(self.engine)
        self.assertTrue(self.pg.foreign_writes())

    # A connection to write with that led to another database could write to a row of its key there.
    def test_nothing_is_written_to_another_database(self):
        self.pg.sql("DROP DATABASE IF EXISTS elsewhere")
        self.pg.sql("CREATE DATABASE elsewhere TEMPLATE template0")
        self.addCleanup(self.pg.sql, "DROP DATABASE elsewhere WITH (FORCE)")
        self.write_as(self.writes.replace("dbname=trueup", "dbname=elsewhere"))
        said = self.checked(2)
        self.assertIn("executors.update_row: its connection reaches another database", said)
        self.assertIn("/elsewhere) than source rows (", said)
        plan = [binary(), "plan", "-c", self.config]
        result = subprocess.run(plan, capture_output=True, text=True, timeout=60, check=False)
        self.assertIn("nothing was written", result.stdout, "a plan takes no account that writes")

    def test_who_reads_pods_cannot_delete_them_and_another_account_does(self):
        self.write_as(self.writes)
        role = self.kube.call("GET", DELETING)
        lesser = [
            rule | {"verbs": [verb for verb in rule["verbs"] if verb != "delete"]}
            for rule in role["rules"]
        ]
        self.kube.call("PUT", DELETING, role | {"rules": lesser})
        self.addCleanup(self.give_back, role["rules"])
        self.assertIn("no right to delete pods", self.checked(2))
        admin = self.up.env["KUBE_ADMIN_CONFIG"]
        self.edit_config({"{source: pods}": f"{{source: pods, kubeconfig: {admin}}}"})
        self.assertIn(f'executor  delete_pod: on pods, as kubeconfig "{admin}"', self.checked(0))
        self.engine = self.make_engine()
        self.engine.start()
        event = self.pair()
        self.lose_row(event)
        self.keep(event)
        self.prove(self.engine)

    def give_back(self, rules):
        self.kube.call("PUT", DELETING, self.kube.call("GET", DELETING) | {"rules": rules})

    def test_nothing_is_deleted_at_another_server(self):
        proxy = self.kube_proxy()  # another address, as another cluster has
        other = self.up.env["KUBE_ENGINE_CONFIG"]
        self.edit_config({"{source: pods}": f"{{source: pods, kubeconfig: {other}}}"})
        said = self.checked(2)
        self.assertIn(f"executors.delete_pod would write at https://127.0.0.1:{proxy.port}", said)
        self.assertIn("and source pods reads", said)


if __name__ == "__main__":
    scenario.main()
