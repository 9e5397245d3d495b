"""Proves that several policies run in one process, each over a table and a namespace of its own: both
are put right, one that is refused or stops leaves the other alone, and a brake without a name is for
all (ADR 39). Over the log of a single process and over Kafka.
"""

import os
import signal

import consumer
import scenario
import scenes
from pg import COLUMNS

SPACE = "graph-second"
SLOT = "trueup_second"

SOURCES = """\
  second-pods:
    kubernetes:
      kubeconfig: {kubeconfig}
      namespace: {space}
      selector: "app in ({apps})"
    heartbeat: {{idle: 4s, active: 2s}}
  second-rows:
    postgres:
      conninfo: "{conninfo}"
      table: public.second
      publication: trueup_second
      slot: {slot}
    heartbeat: {{idle: 4s, active: 2s}}
policies:
  - name: second
    use: graph-instances
    roles: {{pods: second-pods, rows: second-rows}}
    rules:
      orphaned_pod: {{mode: enforce, grace: 4s, create_window: 2s}}
      missing_pod: {{mode: enforce, grace: 4s, create_window: 2s}}
    stale_after: 8s
"""
EXECUTORS = {
    "  delete_pod: {source: pods}\n": "  delete_pod: [{source: pods}, {source: second-pods}]\n",
    "  update_row: {source: rows}\n": "  update_row: [{source: rows}, {source: second-rows}]\n",
}


class Policies(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.drop_second()
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.kube.make_namespace(SPACE)
        self.kube.clear_pods(SPACE)
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        self.pg.sql(
            f"""
            CREATE TABLE public.second ({columns});
            ALTER TABLE public.second REPLICA IDENTITY FULL;
            CREATE PUBLICATION trueup_second FOR TABLE public.second;
            GRANT SELECT, UPDATE ON public.second TO repl;
            """
        )
        self.addCleanup(self.drop_second)
        for name in ("a", "b"):
            self.pair_of_second(name)

    def drop_second(self):
        self.pg.drop_slot(SLOT)
        self.pg.sql("DROP PUBLICATION IF EXISTS trueup_second; DROP TABLE IF EXISTS public.second;")

    # ---------------------------------------------------------------- making
    def write_both(self, **options):
        self.write_config(**options)
        env = self.up.env
        sources = SOURCES.format(
            kubeconfig=env["KUBE_ENGINE_CONFIG"], space=SPACE, apps=", ".join(scenes.APPS),
            conninfo=env["PG_REPL"], slot=SLOT,
        )  # fmt: skip
        self.edit_config({"policies:\n": sources} | EXECUTORS)

    def pod_of_second(self, name):
        labels = {"app": scenes.APPS[0], "slug": name}
        return self.kube.create_pod(SPACE, f"wrapper-{name}", labels, "Running")

    def pair_of_second(self, name):
        self.pod_of_second(name)
        self.pg.sql(
            "INSERT INTO public.second (name, url_slug, status, pod_name) VALUES"
            f" ('{name}', '{name}', 'running', 'wrapper-{name}')"
        )

    # ---------------------------------------------------------------- looking
    def status_of_second(self, name):
        return self.pg.sql(f"SELECT status FROM public.second WHERE name = '{name}'")

    def orphan_goes(self, engine):
        """An orphan of the first policy: its pod is deleted."""
        orphan = self.event()
        orphan.pod(after=scenes.DELETED)
        self.keep(orphan)
        name = orphan.pod_name
        engine.until("the orphan goes", lambda: self.gone(scenes.NAMESPACE, name), 60)

    def gone(self, space, name):
        pod = self.kube.pod(space, name)
        return pod is None or bool(pod["metadata"].get("deletionTimestamp"))

    # ---------------------------------------------------------------- tests
    def test_each_is_put_right_and_a_brake_is_for_both_9_7(self):
        self.write_both()
        engine = self.make_engine()
        engine.start()
        self.second_is_put_right(engine)
        self.orphan_goes(engine)
        for policy, sources in (("graph-instances", "pods"), ("second", "second-pods")):
            name = f'trueup_source_up{{policy="{policy}",source="{sources}"}}'
            self.assertEqual(engine.metric(name), 1)
            self.assertTrue(os.path.isdir(os.path.join(self.state_dir, "policies", policy, "log")))
        code, said = self.trueup("pause", "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)
        self.pod_of_second("late")
        _, page = self.trueup("findings", "list", "-o", "json")
        self.assertEqual([p["policy"] for p in page["pauses"]], ["second", "graph-instances"])
        code, said = self.trueup("resume", "--policy", "second", "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)
        engine.until("late goes", lambda: self.gone(SPACE, "wrapper-late"), 60)
        code, said = self.trueup("why", "second/wrapper-b", "-o", "json")
        self.assertEqual((code, said["subject"]), (0, "second/wrapper-b"), said)
        code, said = self.trueup("why", "wrapper-b")
        self.assertEqual(code, 2, said)
        self.assertIn("write POLICY/wrapper-b", said)
        self.assertEqual(engine.end()[0], 0)

    def second_is_put_right(self, engine):
        """A row whose pod is gone is marked failed; the other pair stays as it is."""
        self.kube.delete_pod(SPACE, "wrapper-a")
        engine.until("failed", lambda: self.status_of_second("a") == "failed", 60)
        self.assertEqual(self.status_of_second("b"), "running")
        self.assertIsNone(self.kube.pod(SPACE, "wrapper-b")["metadata"].get("deletionTimestamp"))

    # Symptom (had one mistake refused all): a typo in a new policy stopped the one that worked.
    def test_one_whose_table_is_not_there_leaves_the_other_alone_9_7(self):
        self.write_both()
        self.edit_config({"table: public.second": "table: public.secnd"})
        engine = self.make_engine()
        engine.start(ready_within=0)
        said = "policy second: the policy does not run: "
        engine.until("it says which", lambda: said in engine.readiness()[1], 60)
        self.assertIn("public.secnd", engine.readiness()[1])
        self.assertEqual(engine.readiness()[0], 503)
        self.orphan_goes(engine)
        self.assertEqual(engine.metric('trueup_ready{policy="second"}'), 0)
        self.assertEqual(engine.metric('trueup_emitting{policy="second"}'), 0)
        code, said = self.trueup("pause")
        self.assertEqual(code, 1, said)
        self.assertIn("policy second was not asked", said)
        self.assertEqual(engine.end()[0], 0)
        self.assertIn("policy second does not run: ", engine.log())

    def test_a_mistake_in_the_file_of_one_leaves_the_other_alone_9_7(self):
        self.write_both()
        self.edit_config({"rows: second-rows": "rows: second-row"})
        engine = self.make_engine()
        engine.start(ready_within=0)
        self.orphan_goes(engine)
        self.assertIn("did you mean 'second-rows'?", engine.readiness()[1])
        self.assertEqual(engine.end()[0], 0)

    def test_over_kafka_each_has_topics_of_its_own_9_7(self):
        prefix = f"test-{os.getpid()}-policies"
        bus = f"{{kafka: {{bootstrap: '{consumer.bootstrap()}', prefix: {prefix}, partitions: 1,"
        self.write_both(bus=bus + " replicas: 1}, max_clock_step: 1s, max_broker_skew: 200ms}")
        code, said = self.run_trueup("topics", "create", "-c", self.config)
        self.assertEqual(code, 0, said)
        self.assertIn(f"made topic {prefix}.second.journal", said)
        engine = self.make_engine()
        engine.start(ready_within=90)
        self.second_is_put_right(engine)
        self.orphan_goes(engine)
        self.assertEqual(engine.end(signal.SIGTERM)[0], 0)


if __name__ == "__main__":
    scenario.main()
