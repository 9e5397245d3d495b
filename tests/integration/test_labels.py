"""Proves that rules act on objects whose key is a label: before a write who has the label is listed, also
whom the source does not select.
"""

import contextlib

import maps
import scenario
from kube import KubeError

SPACE = "labels"

POLICY = """\
policy: labels
language: 1
subject: the name of a claim
roles:
  maps: {kind: object, key: label.claim, live: {deleting: false}}
  rows:
    kind: row
    key: name
    live: {state: active}
    fields: {name: text, state: [active, lost]}
rules:
  unwanted_map:
    finds: map without a row
    when: {maps: one, rows: none}
    grace: 3s
    create_window: 2s
    do: {delete: maps}
  lost_map:
    finds: row without a map
    when: {rows: {one: {state: active}}, maps: none}
    grace: 3s
    create_window: 2s
    do: {update: rows, set: {state: lost}}
  duplicates: {finds: two maps of a claim, when: duplicates, do: report}
"""

CONFIG = """\
version: 1
bus: {{embedded: {{}}, max_clock_step: 1s, max_broker_skew: 0s}}
state_dir: {state_dir}
sources:
  maps:
    kubernetes: {{kubeconfig: {kubeconfig}, namespace: {space}, resource: v1/configmaps, selector: of=tests}}
    heartbeat: {{idle: 4s, active: 2s}}
  table:
    postgres: {{conninfo: "{conninfo}", table: public.labels, publication: trueup_labels, slot: {slot}}}
    heartbeat: {{idle: 4s, active: 2s}}
policies:
  - name: labels
    file: labels.yaml
    roles: {{maps: maps, rows: table}}
    rules:
      unwanted_map: {{mode: enforce, grace: 3s, create_window: 2s}}
      lost_map: {{mode: enforce, grace: 3s, create_window: 2s}}
      duplicates: {{mode: observe}}
    stale_after: 8s
executors:
  delete_object: {{sources: [maps]}}
  update_row: {{source: table}}
http: {{listen: "127.0.0.1:0"}}
"""


class Labels(maps.MapsAndRows):
    NAME = "labels"
    SPACES = (SPACE,)

    def setUp(self):
        super().setUp()
        text = CONFIG.format(
            state_dir=self.state_dir, kubeconfig=self.up.env["KUBE_ENGINE_CONFIG"], space=SPACE,
            conninfo=self.up.env["PG_REPL"], slot=self.rows_slot(),
        )  # fmt: skip
        self.write_files(("labels.yaml", POLICY), text)

    def clear(self):
        super().clear()
        with contextlib.suppress(KubeError):
            self.kube.call("DELETE", f"{self.folder_of(SPACE)}?labelSelector=claim")

    def test_who_has_the_label_is_listed_before_a_write(self):
        self.map(SPACE, "cfg-1", claim="wanted")
        self.map(SPACE, "cfg-2", claim="stray")
        self.map(SPACE, "twice-1", claim="twice")
        self.map(SPACE, "twice-2", claim="twice")
        # The source does not select it, and it has the claim all the same.
        self.create(self.folder_of(SPACE), "v1", "ConfigMap", "hidden", {"claim": "hidden"})
        for name in ("wanted", "lost", "hidden"):
            self.row(name)
        # A row and a map whose name is the other one's label are nothing to each other.
        self.map(SPACE, "lost", claim="wanted-by-nobody")
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        engine = self.make_engine()
        engine.start()
        engine.until("the stray map goes", lambda: "cfg-2" not in self.maps(SPACE), 60)
        engine.until("the other one goes", lambda: "lost" not in self.maps(SPACE), 60)
        engine.until("the row without a map is told", lambda: self.state_of("lost") == "lost", 60)
        refused = {}

        def told():
            refused.update({one["subject"]: one for one in engine.logged("command_ended")
                            if one["outcome"] == "refused"})  # fmt: skip
            return refused

        engine.until("the hidden one is found", told, 60)
        self.assertEqual(engine.end()[0], 0)
        self.assertEqual(list(refused), ["labels/hidden"])
        self.assertIn("none(maps, label.claim = hidden): uid ", refused["labels/hidden"]["detail"])
        self.assertEqual([self.state_of(name) for name in ("wanted", "hidden")], ["active", "active"])
        self.assertEqual(self.maps(SPACE), ["cfg-1", "twice-1", "twice-2"])


if __name__ == "__main__":
    scenario.main()
