"""Proves that a role may have several sources, as of two namespaces or clusters, or two tables: what is in
none of them is proven by all, what is too much is deleted where it is, and a name in both is left alone. That
one policy reads three tables. And that what lies in no namespace, as a namespace itself, is found and deleted.
"""

import contextlib

import maps
import scenario
from kube import KubeError

SPACES = ("clusters-east", "clusters-west")
PREVIEWS = ("preview-closed", "preview-open")

POLICY = """\
policy: clusters
language: 1
subject: the name of a map, or of a preview's namespace
roles:
  maps: {kind: object, key: name, live: {deleting: false}}
  spaces: {kind: object, key: name, live: {deleting: false}}
  rows:
    kind: row
    key: name
    live: {state: [active, open]}
    fields: {name: text, state: [active, lost, open, closed]}
  kept: {kind: row, key: name, live: {state: kept}, fields: {name: text, state: [kept, free]}}
rules:
  unwanted_map:
    finds: map without a row
    when: {maps: one, rows: none, kept: none}
    grace: 3s
    create_window: 2s
    do: {delete: maps}
  lost_map:
    finds: row whose map is in neither namespace
    when: {rows: {one: {state: active}}, maps: none}
    grace: 3s
    create_window: 2s
    do: {update: rows, set: {state: lost}}
  closed_preview:
    finds: namespace of a preview that is closed
    acknowledge: [irreversible]
    when: {spaces: one, rows: {one: {state: closed}}}
    grace: 3s
    do: {delete: spaces}
  duplicates:
    finds: two maps of a name
    when: duplicates
    do: report
"""

CONFIG = """\
version: 1
bus: {{embedded: {{}}, max_clock_step: 1s, max_broker_skew: 0s}}
state_dir: {state_dir}
sources:
  east:
    kubernetes: {{kubeconfig: {kubeconfig}, namespace: {east}, resource: v1/configmaps, selector: of=tests}}
    heartbeat: {{idle: 4s, active: 2s}}
  west:
    kubernetes: {{kubeconfig: {kubeconfig}, namespace: {west}, resource: v1/configmaps, selector: of=tests}}
    heartbeat: {{idle: 4s, active: 2s}}
  spaces:
    kubernetes: {{kubeconfig: {kubeconfig}, resource: v1/namespaces, selector: preview}}
    heartbeat: {{idle: 4s, active: 2s}}
  table:
    postgres: {{conninfo: "{conninfo}", table: public.clusters, publication: {slot}, slot: {slot}}}
    heartbeat: {{idle: 4s, active: 2s}}
  later:
    postgres: {{conninfo: "{conninfo}", table: public.clusters_later, publication: {slot}_later, slot: {slot}_later}}
    heartbeat: {{idle: 4s, active: 2s}}
    expect: {{at_least: 0}}
  kept:
    postgres: {{conninfo: "{conninfo}", table: public.clusters_kept, publication: {slot}_kept, slot: {slot}_kept}}
    heartbeat: {{idle: 4s, active: 2s}}
policies:
  - name: clusters
    file: clusters.yaml
    roles: {{maps: [east, west], spaces: spaces, rows: [table, later], kept: kept}}
    rules:
      unwanted_map: {{mode: enforce, grace: 3s, create_window: 2s}}
      lost_map: {{mode: enforce, grace: 3s, create_window: 2s}}
      closed_preview: {{mode: enforce, grace: 3s}}
      duplicates: {{mode: observe}}
    stale_after: 8s
executors:
  delete_object: {{sources: [east, west, spaces]}}
  update_row: [{{source: table}}, {{source: later}}]
http: {{listen: "127.0.0.1:0"}}
"""


VERBS = ["get", "list", "watch", "delete"]


class Clusters(maps.MapsAndRows):
    NAME = "clusters"
    SPACES = SPACES
    MORE = ("_later", "_kept")
    RULES = (
        {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": VERBS},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": VERBS},
    )

    def setUp(self):
        super().setUp()
        text = CONFIG.format(
            state_dir=self.state_dir, kubeconfig=self.up.env["KUBE_ENGINE_CONFIG"],
            east=SPACES[0], west=SPACES[1], conninfo=self.up.env["PG_REPL"], slot=self.rows_slot(),
        )  # fmt: skip
        self.write_files(("clusters.yaml", POLICY), text)

    def clear(self):
        super().clear()
        for name in PREVIEWS:  # nobody here finishes the deletion of a namespace
            path = f"/api/v1/namespaces/{name}"
            with contextlib.suppress(KubeError):
                self.kube.call("DELETE", path)
            with contextlib.suppress(KubeError):
                space = self.kube.call("GET", path)
                self.kube.call("PUT", f"{path}/finalize", space | {"spec": {"finalizers": []}})

    # ---------------------------------------------------------------- making and looking
    def is_going(self, name):
        space = self.kube.call("GET", f"/api/v1/namespaces/{name}")
        return "deletionTimestamp" in space["metadata"]

    # ---------------------------------------------------------------- tests
    def test_each_source_of_a_role_counts(self):
        for space, name in ((0, "in-east"), (1, "in-west"), (0, "stray-east"), (1, "stray-west")):
            self.map(SPACES[space], name)
        for space in (0, 1):
            self.map(SPACES[space], "in-both")
        for name in ("in-east", "in-neither"):
            self.row(name)
        for name in ("in-west", "later-in-neither"):
            self.row(name, more="_later")
        self.map(SPACES[0], "is-kept")
        self.row("is-kept", "kept", more="_kept")
        for name in PREVIEWS:
            self.create("/api/v1/namespaces", "v1", "Namespace", name, {"preview": "yes"})
            self.row(name, name.removeprefix("preview-"))
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        engine = self.make_engine()
        engine.start()
        engine.until("the strays go", lambda: "stray-east" not in self.maps(SPACES[0]), 60)
        engine.until("the strays go", lambda: "stray-west" not in self.maps(SPACES[1]), 60)
        engine.until("the lost row is told", lambda: self.state_of("in-neither") == "lost", 60)
        lost = "later-in-neither"
        engine.until("that of the other table, too", lambda: self.state_of(lost, "_later") == "lost", 60)
        engine.until("the preview goes", lambda: self.is_going("preview-closed"), 60)
        # It is made anew in the other namespace: at no time it is in neither for long.
        self.map(SPACES[0], "in-west")
        self.kube.call("DELETE", f"/api/v1/namespaces/{SPACES[1]}/configmaps/in-west")
        # What comes later goes after the grace and the window of whatever was wrong before it.
        self.map(SPACES[0], "stray-later")
        engine.until("the last stray goes", lambda: "stray-later" not in self.maps(SPACES[0]), 60)
        self.assertEqual(engine.end()[0], 0)
        self.assertEqual(self.maps(SPACES[0]), ["in-both", "in-east", "in-west", "is-kept"])
        self.assertEqual(self.maps(SPACES[1]), ["in-both"])
        self.assertEqual({self.state_of("in-east"), self.state_of("in-west", "_later")}, {"active"})
        self.assertFalse(self.is_going("preview-open"))
        done = sorted(one["subject"] for one in engine.logged("command_ended"))
        names = ("in-neither", "later-in-neither", "preview-closed", "stray-east", "stray-later", "stray-west")
        self.assertEqual(done, [f"clusters/{name}" for name in names])

    def test_what_lies_in_namespaces_is_not_cluster_scoped(self):
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        before = f"namespace: {SPACES[1]}, resource: v1/configmaps"
        self.assertIn(before, text)
        text = text.replace(before, "cluster_scoped: true, resource: coordination.k8s.io/v1/leases")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text.replace("[east, west]", "west").replace("[east, west,", "[west,"))
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertNotEqual(code, 0, said)
        self.assertIn("leases (/apis/coordination.k8s.io/v1) lie in namespaces; write namespace: NAME", said)


if __name__ == "__main__":
    scenario.main()
