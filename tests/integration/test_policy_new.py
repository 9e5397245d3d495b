"""Proves the walk of docs/policies/your-own.md: from a table and pods that nobody has told Trueup of
to rows and pods that are put right, by the commands of that page alone. Whoever looks first is a
person; what runs then has only the rights that `trueup policy new` printed.
"""

import contextlib
import json
import os
import pty
import re
import subprocess
import time

import scenario
from engine import binary
from kube import KubeError

SPACE = "walk"
HOME = "walk-trueup"
ROLE = "walker"
SLOT = "trueup_workers"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
LABELS = {"role": "worker"}


class PolicyNew(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.drop()
        self.addCleanup(self.drop)
        for space in (SPACE, HOME):
            self.kube.make_namespace(space)
        self.kube.clear_pods(SPACE)
        self.pg.sql(
            f"""
            CREATE TABLE public.workers (id bigserial PRIMARY KEY, host text, state text NOT NULL,
              k8s_pod text, updated_at timestamptz NOT NULL DEFAULT now());
            CREATE ROLE {ROLE} LOGIN PASSWORD 'walks';
            GRANT SELECT ON public.workers TO {ROLE};
            """
        )
        as_role = re.sub(r"user=\S+ password=\S+", f"user={ROLE} password=walks", self.up.env["PG_OWNER"])
        self.env("TRUEUP_DATABASE", as_role)
        self.env("KUBECONFIG", self.up.env["KUBE_ADMIN_CONFIG"])
        for name, state in (("w-1", "ACTIVE"), ("w-2", "ACTIVE"), ("w-3", "DRAINING"), ("left", "DEAD")):
            self.row(name, state)
            self.kube.create_pod(SPACE, name, LABELS, "Running")

    def drop(self):
        self.pg.drop_slot(SLOT)
        self.pg.sql(
            f"""
            DROP PUBLICATION IF EXISTS trueup_workers; DROP TABLE IF EXISTS public.workers;
            DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
              DROP OWNED BY {ROLE}; DROP ROLE {ROLE}; END IF; END $$;
            ALTER SYSTEM RESET max_slot_wal_keep_size; SELECT pg_reload_conf();
            """
        )
        for kind in ("rolebindings", "roles"):
            with contextlib.suppress(KubeError):
                for name in (f"{HOME}-trueup-workers", f"{HOME}-trueup-workers-writer"):
                    self.kube.call("DELETE", f"{RBAC}/namespaces/{SPACE}/{kind}/{name}")

    def env(self, name, value):
        before = os.environ.get(name)
        os.environ[name] = value
        if before is None:
            self.addCleanup(os.environ.pop, name)
        else:
            self.addCleanup(os.environ.__setitem__, name, before)

    # ---------------------------------------------------------------- the commands of the page
    def new(self, *more, name="workers"):
        """Options in `more` stand in the place of the usual ones."""
        usual = {"--table": "public.workers", "--namespace": SPACE, "--selector": "role=worker"}
        usual |= {"--into": self.folder} | dict(zip(more[::2], more[1::2], strict=True))
        words = [word for pair in usual.items() for word in pair]
        return self.run_trueup("policy", "new", name, *words)

    def file(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def apply(self, name):
        """`kubectl apply -f`, which is not here."""
        for text in self.file(name).split("---\n"):
            kind = "rolebindings" if "kind: RoleBinding" in text else "roles"
            path = f"{RBAC}/namespaces/{SPACE}/{kind}"
            self.kube.call("POST", path, text, "application/yaml")

    def service_account(self):
        """A kubeconfig of walk-trueup/trueup, which has only what was applied."""
        accounts = f"/api/v1/namespaces/{HOME}/serviceaccounts"
        with contextlib.suppress(KubeError):
            self.kube.call("POST", accounts, {"metadata": {"name": "trueup"}})
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = self.kube.call("POST", f"{accounts}/trueup/token", asked)["status"]["token"]
        with open(self.up.env["KUBE_ENGINE_CONFIG"], encoding="utf-8") as file:
            text = re.sub(r'token: ".*"', f'token: "{token}"', file.read())
        path = os.path.join(self.folder, "kubeconfig")
        with open(path, "w", encoding="utf-8", opener=scenario.world.private) as file:
            file.write(text)
        return path

    def row(self, name, state):
        self.pg.sql(f"INSERT INTO public.workers (host, state, k8s_pod) VALUES ('h', '{state}', '{name}')")

    def state(self, name):
        return self.pg.sql(f"SELECT state FROM public.workers WHERE k8s_pod = '{name}'")

    def gone(self, name):
        pod = self.kube.pod(SPACE, name)
        return pod is None or "deletionTimestamp" in pod["metadata"]

    # ---------------------------------------------------------------- tests
    def test_the_walk_from_nothing_to_a_repair(self):
        self.row("lost", "ACTIVE")
        self.kube.create_pod(SPACE, "stray", LABELS, "Running")
        began = time.monotonic()
        code, said = self.new("--live", "ACTIVE,DRAINING", "--dead", "DEAD", "--service-account", f"{HOME}/trueup")
        self.assertEqual(code, 0, said)
        self.assertIn("k8s_pod: rows name 4 of 5 pods", said)
        self.assertIn("GRANT UPDATE", self.file("workers.sql"))
        for words in (["policy", "check"], ["policy", "test"]):
            code, said = self.run_trueup(*words, os.path.join(self.folder, "workers.yaml"))
            self.assertEqual(code, 0, said)
            self.assertNotIn("warning", said)
        self.pg.sql(self.file("workers.sql"))
        self.apply("workers.rbac.yaml")
        self.edit_config({self.up.env["KUBE_ADMIN_CONFIG"]: self.service_account()})
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        for warning in ("no right", "needs get"):
            self.assertNotIn(warning, said, "what was printed is all that it takes")
        code, said = self.run_trueup("plan", "-c", self.config)
        self.assertEqual(code, 3, said)
        for rule in ("lost_pod", "unknown_pod"):
            self.assertIn(rule, said)
        print(f"first finding after {time.monotonic() - began:.0f} s")
        self.edit_config(
            {
                "{fsync: true}}": "{fsync: true}, max_clock_step: 1s, max_broker_skew: 0s}",
                "lost_pod: {mode: observe}": "lost_pod: {mode: enforce, grace: 2s, create_window: 1s}",
                'leftover_pod: {mode: "off"}': "leftover_pod: {mode: enforce, grace: 2s}",
                "state_dir: ./state": f"state_dir: {self.state_dir}\nhttp: {{listen: '127.0.0.1:0'}}",
            }
        )
        engine = self.make_engine(enabled=False)
        engine.start()
        code, said = self.enable()
        self.assertEqual(code, 0, said)
        engine.until("the row without a pod is dead", lambda: self.state("lost") == "DEAD", 60)
        engine.until("the dead row's pod goes", lambda: self.gone("left"), 60)
        print(f"both repaired after {time.monotonic() - began:.0f} s")
        self.assertEqual([self.state(f"w-{n}") for n in (1, 2, 3)], ["ACTIVE", "ACTIVE", "DRAINING"])
        for name in ("w-1", "w-2", "w-3", "stray"):
            self.assertFalse(self.gone(name), name)
        self.assertEqual(engine.end()[0], 0)

    def enable(self):
        """Looks until a reconcile has shown each rule's findings, and enables what it saw, as a script does."""
        look = ["policy", "enable", "workers", "--dry-run", "-o", "json"]
        deadline = time.monotonic() + 60
        while True:
            code, seen = self.trueup(*look)
            shown = code == 0 and isinstance(seen, dict) and all(rule["shown"] for rule in seen["rules"])
            if shown or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        self.assertEqual(code, 0, seen)
        return self.trueup("policy", "enable", "workers", "--seen", str(seen["seen"]), "--yes")

    def test_a_terminal_is_asked_for_what_is_missing(self):
        answers = [SPACE, "role=worker", "public.workers", "ACTIVE,DRAINING", "DEAD"]
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        command = [binary(), "policy", "new", "workers", "--into", self.folder]
        with subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            os.close(theirs)
            os.write(ours, ("\n".join(answers) + "\n").encode())
            said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0, said)
        for question in ("Namespace of the pods: ", "Label selector", "Table", "Words of rows", "Word that a row gets"):
            self.assertIn(question, said)
        self.assertIn("{update: rows, set: {state: DEAD}}", self.file("workers.yaml"))
        self.assertIn("live: {state: [ACTIVE, DRAINING]}", self.file("workers.yaml"))

    def test_what_it_cannot_tell_it_says_and_writes_nothing(self):
        def refused(sentence, *more, name="workers"):
            code, said = self.new(*more, name=name)
            self.assertEqual(code, 2, said)
            self.assertIn(sentence, said)
            self.assertFalse(os.listdir(self.folder), "nothing was written")

        refused("table public.nowhere does not exist", "--table", "public.nowhere")
        refused("no pod in namespace walk matches 'role=nobody'", "--selector", "role=nobody")
        refused("--key: ", "--key", "a ||")
        refused('column "nothing" does not exist', "--key", "nothing")
        refused("'ACTIVE' cannot be both", "--live", "ACTIVE,DRAINING", "--dead", "ACTIVE")
        refused("--resource 'pod/s' is none", "--resource", "pod/s")
        refused("--service-account 'x' is none", "--service-account", "x")
        refused("which namespace?", "--namespace", "")
        refused("write --live ACTIVE,DRAINING", "--dead", "DEAD")
        refused("no row of public.workers says 'DAED' in state; did you mean 'DEAD'?",
                "--live", "ACTIVE", "--dead", "DAED")  # fmt: skip
        refused("has no column nothing of text", "--state", "nothing")
        refused("by the key 'x-' || k8s_pod no row of public.workers names any of", "--key", "'x-' || k8s_pod")
        refused("cannot be called 'trueup'", name="trueup")
        self.pg.sql("UPDATE public.workers SET k8s_pod = NULL")
        refused("no column of public.workers has the name of any of the 4 pods")
        self.pg.sql(f"REVOKE SELECT ON public.workers FROM {ROLE}")
        refused("permission denied")
        self.pg.sql("ALTER TABLE public.workers DROP CONSTRAINT workers_pkey")
        refused("has no primary key")

    def test_without_a_word_for_the_dead_it_only_reports_and_writes_over_nothing(self):
        code, said = self.new("-o", "json")
        self.assertEqual(code, 0, said)
        told = json.loads(said)
        self.assertEqual((told["key"], told["state"], told["named"]), ("k8s_pod", "state", 4))
        words = {one["word"]: (one["rows"], one["named"], one["meaning"]) for one in told["words"]}
        self.assertEqual(words["ACTIVE"], (2, 2, "live"))
        self.assertEqual(words["DEAD"], (1, 1, "live"), "its pod is still there: that is to be looked at")
        self.assertNotIn("GRANT UPDATE", "".join(told["sql"]))
        self.assertNotIn("delete", told["rbac"])
        before = self.file("workers.yaml")
        self.assertNotIn("update:", before)
        code, said = self.new()
        self.assertEqual(code, 2, said)
        self.assertIn("workers.yaml is there already", said)
        self.assertEqual(self.file("workers.yaml"), before)


if __name__ == "__main__":
    scenario.main()
