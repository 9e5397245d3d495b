"""A world in which pods have services and ingresses of their name, and an engine that removes them
where an instance is ended."""

import scenario
import scenes
from kube import KubeError

CORE = f"/api/v1/namespaces/{scenes.NAMESPACE}"
NETWORK = f"/apis/networking.k8s.io/v1/namespaces/{scenes.NAMESPACE}"
SOURCE = """\
  {plural}:
    kubernetes:
      kubeconfig: {kubeconfig}
      namespace: {namespace}
      resource: {resource}
      selector: "app in ({apps})"
    heartbeat: {{idle: {idle}, active: 2s}}
"""
ROLES = ("rows", "services", "ingresses")
LAST_RULE = "status_drift: {mode: enforce}"


class Serving(scenario.Scenario):
    """Base of such tests."""

    # ---------------------------------------------------------------- making
    def add_sources(self, *rules, idle="15s", services=None):
        """Adds both sources and these rules to the configuration. `services` is the kubeconfig of
        that source, if it is one of its own."""
        direct = self.up.env["KUBE_ENGINE_CONFIG"]
        sources = "".join(
            SOURCE.format(
                plural=plural,
                resource=resource,
                kubeconfig=kubeconfig,
                namespace=scenes.NAMESPACE,
                apps=", ".join(scenes.APPS),
                idle=idle,
            )
            for plural, resource, kubeconfig in (
                ("services", "v1/services", services or direct),
                ("ingresses", "networking.k8s.io/v1/ingresses", direct),
            )
        )
        self.edit_config(
            {
                "sources:\n": "sources:\n" + sources,
                ", rows: rows}\n": "".join(f", {s}: {s}" for s in ROLES) + "}\n",
                "executors:\n": "executors:\n  delete_object: {sources: [services, ingresses]}\n",
                LAST_RULE: "\n      ".join((LAST_RULE, *rules)),
            }
        )

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
        for path in _paths(name):
            self.addCleanup(self.forget, path)
        return [each["metadata"]["uid"] for each in made]

    def forget(self, path):
        if self.uid(path):
            self.kube.call("DELETE", path)

    # ---------------------------------------------------------------- looking
    def served(self, name):
        """The uids of what serves that pod; None where there is nothing."""
        return [self.uid(path) for path in _paths(name)]

    def uid(self, path):
        try:
            return self.kube.call("GET", path)["metadata"]["uid"]
        except KubeError as error:
            if error.code == 404:
                return None
            raise


def _paths(name):
    return f"{CORE}/services/{name}", f"{NETWORK}/ingresses/{name}"
