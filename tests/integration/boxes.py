"""The frame of tests about a custom resource of a stranger, boxes, and a table that says what they should
be: the definition, the rights, policy and configuration.
"""

import contextlib
import os
import time

import scenario
from kube import KubeError

SPACE = "boxes"
SLOT = "trueup_boxes"
GROUP = "trueup.example.org"
CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes.{GROUP}"
BOXES = f"/apis/{GROUP}/v1/namespaces/{SPACE}/boxes"
RBAC = "/apis/rbac.authorization.k8s.io/v1"

POLICY = """\
policy: boxes
language: 1
subject: the name of a box
roles:
  boxes:
    kind: object
    key: name
    fields:
      plan: {words: [free, gold], text: spec.plan, required: true}
      ready: {words: ["True", "False"], text: "status.conditions[type=Ready].status"}
      suspended: {boolean: spec.suspended}
      note: {text: annotation.example.org/note}
      told: {words: [busy, paused], text: status.told}
  rows:
    kind: row
    key: box
    live: {state: [active, paused]}
    fields: {state: [active, paused, lost], plan: [free, gold], box: text}
rules:
  unwanted_box:
    finds: free box that nobody's row claims, and that is not ready
    when: {boxes: {one: {plan: free, ready: "False"}}, rows: none}
    grace: 3s
    create_window: 2s
    do: {delete: boxes}
  lost_box:
    finds: row lives, its box is gone
    when: {rows: {one: {state: [active, paused]}}, boxes: none}
    grace: 3s
    create_window: 2s
    do: {update: rows, set: {state: lost}}
  plan_drift:
    finds: the row says another plan than its box
    when: {rows: {one: {state: active}}, boxes: {one: {plan: {not: {same_as: rows.plan}}}}}
    grace: 3s
    do: {update: rows, set: {plan: "{boxes.plan}"}}
  running_box:
    finds: row is paused, its box is not
    when: {rows: {one: {state: paused}}, boxes: {one: {suspended: {not: true}}}}
    grace: 3s
    do: {update: boxes, set: {suspended: true, note: "the row of {rows.box} is paused"}}
  untold_box:
    finds: box is suspended, and its status does not say so
    when: {rows: {one: {state: paused}}, boxes: {one: {suspended: true, told: {not: paused}}}}
    grace: 3s
    do: {update: boxes, subresource: status, set: {told: paused}}
"""
# Of which a row has its box made, and made again when somebody deletes it.
CREATING = """
  missing_box:
    finds: row lives, there is no box
    when: {rows: {one: {state: active}}, boxes: none}
    grace: 3s
    create_window: 2s
    do:
      create: boxes
      name: "{subject}"
      object:
        kind: Box
        metadata: {labels: {of: tests}, annotations: {example.org/why: 'the row of "{rows.box}"'}}
        spec: {plan: "{rows.plan}", size: 3, sizes: [1, "2"], conditions: [{type: Ready, id: "{rows.id}"}]}
"""
# Of which a box that a command made is taken back when nobody wants it any more, and no other box.
RETRACTING = """
  left_box:
    finds: box of no row
    when: {boxes: {one: {plan: gold}}, rows: {none: {state: [active, paused]}}}
    grace: 3s
    create_window: 2s
    do: {retract: boxes}
"""

CONFIG = """\
version: 1
bus: {{embedded: {{}}, max_clock_step: 1s, max_broker_skew: 0s}}
state_dir: {state_dir}
sources:
  boxes:
    kubernetes:
      kubeconfig: {kubeconfig}
      namespace: {space}
      resource: {group}/v1/boxes
      selector: of=tests
    heartbeat: {{idle: 4s, active: 2s}}
  table:
    postgres:
      conninfo: "{conninfo}"
      table: public.boxes
      publication: trueup_boxes
      slot: {slot}
    heartbeat: {{idle: 4s, active: 2s}}
policies:
  - name: boxes
    file: boxes.yaml
    roles: {{boxes: boxes, rows: table}}
    rules:
      unwanted_box: {{mode: enforce, grace: 3s, create_window: 2s}}
      lost_box: {{mode: enforce, grace: 3s, create_window: 2s}}
      plan_drift: {{mode: enforce, grace: 3s}}
      running_box: {{mode: enforce, grace: 3s}}
      untold_box: {{mode: enforce, grace: 3s}}
    stale_after: 8s
executors:
  delete_object: {{sources: [boxes]}}
  update_object: {{sources: [boxes]}}
  update_row: {{source: table}}
http: {{listen: "127.0.0.1:0"}}
"""


class Boxes(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.clear)
        self.clear()
        self.define()
        self.pg.sql(
            """
            CREATE TABLE public.boxes (id bigserial PRIMARY KEY, box text, plan text NOT NULL,
              state text NOT NULL DEFAULT 'active');
            ALTER TABLE public.boxes REPLICA IDENTITY FULL;
            CREATE PUBLICATION trueup_boxes FOR TABLE public.boxes;
            GRANT SELECT, UPDATE (state, plan) ON public.boxes TO repl;
            """
        )
        self.kube.make_namespace(SPACE)
        with open(os.path.join(self.folder, "boxes.yaml"), "w", encoding="utf-8") as file:
            file.write(POLICY)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                CONFIG.format(
                    state_dir=self.state_dir, kubeconfig=self.up.env["KUBE_ENGINE_CONFIG"],
                    space=SPACE, group=GROUP, conninfo=self.up.env["PG_REPL"], slot=SLOT,
                )  # fmt: skip
            )

    def clear(self):
        with contextlib.suppress(KubeError):  # nobody here finishes a deletion
            for box in self.kube.call("GET", BOXES)["items"]:
                self.let_go(box["metadata"]["name"])
        self.pg.drop_slot(SLOT)
        self.pg.sql("DROP PUBLICATION IF EXISTS trueup_boxes; DROP TABLE IF EXISTS public.boxes;")
        for path in (f"{RBAC}/clusterrolebindings/boxes", f"{RBAC}/clusterroles/boxes", CRD):
            with contextlib.suppress(KubeError):
                self.kube.call("DELETE", path)
        self.wait("the definition goes", lambda: not self.there(CRD))

    def wait(self, what, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.1)

    def there(self, path):
        try:
            self.kube.call("GET", path)
        except KubeError as error:
            if error.code in (404, 429):  # 429: a resource that was just defined
                return False
            raise
        return True

    def define(self):
        """The resource, whose objects may say anything, and the engine's rights on it."""
        names = {"plural": "boxes", "singular": "box", "kind": "Box", "listKind": "BoxList"}
        anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
        version["subresources"] = {"status": {}}
        spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
        self.create(CRD, "apiextensions.k8s.io/v1", "CustomResourceDefinition", spec=spec)
        verbs = ["get", "list", "watch", "delete", "patch", "create"]
        self.grant(verbs)
        self.wait("the resource is served", lambda: self.there(f"/apis/{GROUP}/v1/boxes"))

    def grant(self, verbs):
        rights = {"apiGroups": [GROUP], "resources": ["boxes", "boxes/status"], "verbs": verbs}
        group = "rbac.authorization.k8s.io"
        with contextlib.suppress(KubeError):
            self.kube.call("DELETE", f"{RBAC}/clusterroles/boxes")
        self.create(f"{RBAC}/clusterroles/boxes", f"{group}/v1", "ClusterRole", rules=[rights])
        self.create(
            f"{RBAC}/clusterrolebindings/boxes", f"{group}/v1", "ClusterRoleBinding",
            roleRef={"apiGroup": group, "kind": "ClusterRole", "name": "boxes"},
            subjects=[{"apiGroup": group, "kind": "User", "name": "engine"}],
        )  # fmt: skip

    def create(self, path, version, kind, **more):
        folder, name = path.rsplit("/", 1)
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}} | more
        self.kube.call("POST", folder, body)

    # ---------------------------------------------------------------- making and looking
    def edit_policy(self, before, after):
        path = os.path.join(self.folder, "boxes.yaml")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after))

    def box(self, name, ready="True", **spec):
        conditions = [{"type": "Seen", "status": "True"}, {"type": "Ready", "status": ready}]
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Box", "spec": spec}
        self.kube.call("POST", BOXES, body | {"metadata": {"name": name, "labels": {"of": "tests"}}})
        self.tell(name, conditions)

    def tell(self, name, conditions):
        self.kube.call(
            "PATCH", f"{BOXES}/{name}/status", {"status": {"conditions": conditions}},
            "application/merge-patch+json",
        )  # fmt: skip

    def row(self, name, plan, state="active"):
        self.pg.sql(f"INSERT INTO public.boxes (box, plan, state) VALUES ('{name}', '{plan}', '{state}')")

    def said(self, name):
        return self.pg.sql(f"SELECT state || ' ' || plan FROM public.boxes WHERE box = '{name}'")

    def has(self, name):
        return self.there(f"{BOXES}/{name}")

    def let_go(self, name):
        self.kube.call(
            "PATCH", f"{BOXES}/{name}", {"metadata": {"finalizers": None}}, "application/merge-patch+json"
        )

    def create_boxes(self, beside=""):
        """The policy and the configuration of a rule that creates, and nothing else but `beside`."""
        self.edit_policy(POLICY[POLICY.index("rules:\n") :], "rules:" + CREATING + beside)
        self.edit_policy("box: text}", "box: text, id: number}")
        rules = CONFIG[CONFIG.index("      unwanted_box:") : CONFIG.index("    stale_after:")]
        executors = CONFIG[CONFIG.index("  delete_object:") : CONFIG.index("http:")]
        self.edit_config({
            rules.replace("{{", "{").replace("}}", "}"):
                "      missing_box: {mode: enforce, grace: 3s, create_window: 2s}\n",
            executors.replace("{{", "{").replace("}}", "}"): "  create_object: {sources: [boxes]}\n",
        })  # fmt: skip

    def saw(self, name):
        return self.kube.call("GET", f"{BOXES}/{name}")
