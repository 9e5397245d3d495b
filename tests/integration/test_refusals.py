"""Proves that a wrong configuration, and what a server that answers says is wrong, are refused before
anything starts: exit code 2, one sentence that names the file and the line, no state folder, no
password. A server that does not answer is none of both: commands that ask once end with 1 and the
same kind of sentence (what starts waits for it: test_starting.py).
"""

import os
import re
import socket
import subprocess

import scenario
from engine import binary
from world import private

DEADLINE = 30  # seconds


class Refusals(scenario.Scenario):
    @classmethod
    def setUpClass(cls):
        cls.world_made = False

    def setUp(self):
        super().setUp()
        if not Refusals.world_made:
            self.pg.make_schema()
            Refusals.world_made = True
        self.addCleanup(self.pg.make_schema)
        self.secrets = re.findall(r"password=(\w+)", self.up.env["PG_REPL"])
        self.write_config()
        with open(self.config, encoding="utf-8") as file:
            self.text = file.read()

    def put(self, old, new):
        """Replaces one piece of the configuration; returns the number of its line."""
        self.assertEqual(self.text.count(old), 1, f"'{old}' is not there once")
        self.text = self.text.replace(old, new)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(self.text)
        return self.text[: self.text.index(new)].count("\n") + 1

    def refused(self, line, *words):
        """All commands refuse it with one sentence that has all the words."""
        self.says(2, [["up"], ["plan"], ["config", "check"]], line, words)

    def unanswered(self, line, *words):
        """The commands that ask once say so in one sentence that has all the words."""
        self.says(1, [["plan"], ["config", "check"]], line, words)

    def says(self, code, commands, line, words):
        for command in commands:
            result = subprocess.run(
                [binary(), *command, "-c", self.config],
                capture_output=True,
                text=True,
                timeout=DEADLINE,
            )
            said = result.stderr.strip()
            both = result.stdout + result.stderr
            print(said)
            self.assertEqual(result.returncode, code, both)
            self.assertEqual(len(said.splitlines()), 1, f"not one sentence: {said}")
            for word in words:
                self.assertIn(word, said)
            for secret in (*self.secrets, "hunter2"):
                self.assertNotIn(secret, both)
            self.assertFalse(os.path.exists(self.state_dir), "something was started")
            self.assertIn(f"{self.config}:{line}:", said)
        self.assertNotIn("trueup_rows", self.pg.sql("SELECT slot_name FROM pg_replication_slots"))

    # ---------------------------------------------------------------- the file
    def test_unknown_key(self):
        self.refused(self.put("state_dir:", "stat_dir:"), "stat_dir", "state_dir")

    def test_wrong_unit(self):
        right, wrong = (f"create_window: {time}}}\n      missing" for time in ("2s", "2"))
        self.refused(self.put(right, wrong), "create_window", "2s")

    def test_empty_selector(self):
        line = self.put('selector: "app in (ryugraph-wrapper, falkordb-wrapper)"', 'selector: ""')
        self.refused(line, "selector", "empty")

    def test_no_such_file(self):
        os.remove(self.config)
        result = subprocess.run(
            [binary(), "up", "-c", self.config], capture_output=True, text=True, timeout=DEADLINE
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn(self.config, result.stderr)

    # ---------------------------------------------------------------- the servers
    def dead_port(self):
        """A port that nobody listens on."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            return server.getsockname()[1]

    def line_of(self, word):
        return self.text[: self.text.index(word)].count("\n") + 1

    def test_api_unreachable(self):
        self.kube_proxy().close()
        self.write_config()
        self.unanswered(self.line_of("  pods:\n"), "pods", "API server does not answer")

    def test_api_ends_every_connection(self):
        self.kube_proxy().refuse()
        self.write_config()
        self.unanswered(self.line_of("  pods:\n"), "pods", "API server")

    def test_api_silent(self):
        self.kube_proxy().silence()
        self.write_config()
        self.unanswered(self.line_of("  pods:\n"), "pods", "API server does not answer")

    def test_api_whose_certificate_nobody_vouches_for(self):
        """One that is being rotated is right again in a moment."""
        with open(self.up.env["KUBE_ENGINE_CONFIG"], encoding="utf-8") as file:
            text = file.read()
        # Without the authority the system's own ones are asked, and know nobody of that name.
        self.assertEqual(len(re.findall(r"certificate-authority(-data)?: ", text)), 1)
        path = os.path.join(self.folder, "kubeconfig")
        with open(path, "w", encoding="utf-8", opener=private) as file:
            file.write(re.sub(r"certificate-authority(-data)?: [^,}\n]+,?", "", text))
        self.put(self.up.env["KUBE_ENGINE_CONFIG"], path)
        self.unanswered(self.line_of("  pods:\n"), "pods", "certificate")

    def test_api_forbids(self):
        self.put(self.up.env["KUBE_ENGINE_CONFIG"], self.up.env["KUBE_NOBODY_CONFIG"])
        self.refused(self.line_of("  pods:\n"), "pods", "403")

    def test_postgres_unreachable(self):
        conninfo = self.up.env["PG_REPL"]
        self.put(conninfo, re.sub(r"port=\d+", f"port={self.dead_port()}", conninfo))
        self.unanswered(self.line_of("  rows:\n"), "rows", "refused")

    def test_postgres_password_wrong(self):
        conninfo = self.up.env["PG_REPL"]
        self.put(conninfo, re.sub(r"password=\w+", "password=hunter2", conninfo))
        self.refused(self.line_of("  rows:\n"), "rows", "password authentication failed")

    def test_publication_missing(self):
        self.pg.sql("DROP PUBLICATION trueup")
        self.refused(self.line_of("  rows:\n"), "CREATE PUBLICATION")

    def test_replica_identity_not_full(self):
        self.pg.sql("ALTER TABLE public.instances REPLICA IDENTITY DEFAULT")
        self.refused(self.line_of("  rows:\n"),
                     'ALTER TABLE "public"."instances" REPLICA IDENTITY FULL')

    def test_table_missing(self):
        self.put("table: public.instances", "table: public.instanzen")
        self.refused(self.line_of("  rows:\n"), "public.instanzen")


if __name__ == "__main__":
    scenario.main()
