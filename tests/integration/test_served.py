"""Proves G7 on real servers: an instance that is ended loses its pod, then the service and the ingress
of its name, and only then its row says that it stops. Nobody else's are touched.
"""

import scenario
import scenes
from audit import engine_writes
from kube import KubeError

CORE = f"/api/v1/namespaces/{scenes.NAMESPACE}"
NETWORK = f"/apis/networking.k8s.io/v1/namespaces/{scenes.NAMESPACE}"
SOURCES = """\
  {plural}:
    kubernetes:
      kubeconfig: {kubeconfig}
      namespace: {namespace}
      resource: {resource}
      selector: "app in ({apps})"
"""


class Served(scenario.Scenario):
    def test_an_instance_is_ended_whole_G7(self):
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.write_config()
        self.add_sources()
        ended, lives = self.pair(), self.pair()
        uids = [self.serve(event.pod_name) for event in (ended, lives)]
        engine = self.engine = self.make_engine()
        engine.start()
        subject = f"graph-instances/{ended.pod_name}"
        engine.until("both are known", lambda: engine.metric("trueup_subjects") is not None, 20)
        for entry in ended.pods.values():
            entry[1] = scenes.DELETED
        ended.expect_row(ended.first_row, {"status": "stopping"})
        code, said = self.trueup("terminate", subject, "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)
        self.keep(ended, lives)
        self.prove(engine)
        self.assertEqual(self.served(ended.pod_name), [None, None])
        self.assertEqual(self.served(lives.pod_name), uids[1])
        self.check_order(uids[0], subject)

    def check_order(self, uids, subject):
        """Pod, service, ingress, row; each deletion by its very uid."""
        commands = self.engine.seen(kind="command", subject=subject)
        actions = list(dict.fromkeys((c["action"], c["target"]) for c in commands))
        self.assertEqual(
            [action for action, _ in actions],
            ["delete_pod", "delete_object", "delete_object", "update_row"],
        )
        self.assertEqual([target for _, target in actions[1:3]], uids)
        writes = engine_writes(
            self.up.env["KUBE_AUDIT_LOG"], "engine", self.table.meta["audit_from"]
        )
        deleted = [
            (w["objectRef"]["resource"], w["requestObject"]["preconditions"]["uid"])
            for w in writes
            if w["objectRef"]["resource"] != "pods"
        ]
        self.assertEqual(deleted, [("services", uids[0]), ("ingresses", uids[1])])

    # ---------------------------------------------------------------- making
    def add_sources(self):
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        sources = "".join(
            SOURCES.format(
                plural=plural,
                resource=resource,
                kubeconfig=self.up.env["KUBE_ENGINE_CONFIG"],
                namespace=scenes.NAMESPACE,
                apps=", ".join(scenes.APPS),
            )
            for plural, resource in (
                ("services", "v1/services"),
                ("ingresses", "networking.k8s.io/v1/ingresses"),
            )
        )
        changes = {
            "sources:\n": "sources:\n" + sources,
            "    rows: rows\n": "    rows: rows\n    services: services\n    ingresses: ingresses\n",
            "executors:\n": "executors:\n  delete_object: {sources: [services, ingresses]}\n",
            "status_drift: {mode: enforce}": "status_drift: {mode: enforce}\n"
            "      termination_requested: {mode: enforce}",
        }
        for old, new in changes.items():
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def serve(self, name):
        """A service and an ingress for the pod of that name; their uids."""
        metadata = {"name": name, "labels": {"app": scenes.APPS[0]}}
        service = {"metadata": metadata, "spec": {"ports": [{"port": 80}]}}
        backend = {"service": {"name": name, "port": {"number": 80}}}
        ingress = {"metadata": metadata, "spec": {"defaultBackend": backend}}
        made = [
            self.kube.call("POST", f"{CORE}/services", service),
            self.kube.call("POST", f"{NETWORK}/ingresses", ingress),
        ]
        for path in (f"{CORE}/services/{name}", f"{NETWORK}/ingresses/{name}"):
            self.addCleanup(self.forget, path)
        return [each["metadata"]["uid"] for each in made]

    def served(self, name):
        """The uids of what serves that pod; None where there is nothing."""
        return [
            self.uid(f"{CORE}/services/{name}"),
            self.uid(f"{NETWORK}/ingresses/{name}"),
        ]

    def uid(self, path):
        try:
            return self.kube.call("GET", path)["metadata"]["uid"]
        except KubeError as error:
            if error.code == 404:
                return None
            raise

    def forget(self, path):
        if self.uid(path):
            self.kube.call("DELETE", path)


if __name__ == "__main__":
    scenario.main()
