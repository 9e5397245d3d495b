"""A small client of the Kubernetes API, for tests: JSON over https, one connection per call."""

import http.client
import json
import re
import ssl
import time
import urllib.parse


class KubeError(Exception):
    """An answer that is not 2xx; `code` and `reason` are those of the Status."""

    def __init__(self, method, path, code, body):
        try:
            status = json.loads(body)
        except ValueError:
            status = {}
        self.code = code
        self.reason = status.get("reason", "")
        message = status.get("message") or body[:200]
        super().__init__(f"{method} {path}: {code} {self.reason}: {message}")


class Kube:
    """The API as the user admin, who may do everything. Safe to use from several threads."""

    def __init__(self, env):
        server = urllib.parse.urlsplit(env["KUBE_SERVER"])
        self._host, self._port = server.hostname, server.port
        self._env = env

    def _tls(self):
        """Read anew each time: `kube renew` replaces what is in the files."""
        context = ssl.create_default_context(cafile=self._env["KUBE_CA"])
        context.load_cert_chain(self._env["KUBE_ADMIN_CERT"], self._env["KUBE_ADMIN_KEY"])
        return context

    def call(self, method, path, body=None, content_type="application/json"):
        """One request; returns the parsed answer or raises KubeError or OSError. A body that is a text
        is sent as it is."""
        connection = http.client.HTTPSConnection(
            self._host, self._port, context=self._tls(), timeout=20
        )
        try:
            data = body if body is None or isinstance(body, str) else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": content_type})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 300:
            raise KubeError(method, path, answer.status, text)
        return json.loads(text)

    def make_namespace(self, name):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        try:
            self.call("POST", "/api/v1/namespaces", body)
        except KubeError as error:
            if error.reason != "AlreadyExists":
                raise

    # ---------------------------------------------------------------- pods
    def pods(self, namespace):
        """All pods of the namespace, whatever their labels."""
        return self.call("GET", f"/api/v1/namespaces/{namespace}/pods")["items"]

    def pod(self, namespace, name):
        """The pod, or None."""
        try:
            return self.call("GET", _pod_path(namespace, name))
        except KubeError as error:
            if error.code == 404:
                return None
            raise

    def create_pod(
        self, namespace, name, labels, phase="Running", finalizers=(), annotations=None, spec=None
    ):
        """Creates a pod without a node (so that a deletion needs no kubelet), in that phase. `spec`
        adds to what is in its own."""
        metadata = {"name": name, "labels": labels}
        if annotations:
            metadata["annotations"] = annotations
        if finalizers:
            metadata["finalizers"] = list(finalizers)
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"containers": [{"name": "wrapper", "image": "example.invalid/wrapper:1"}]}
            | (spec or {}),
        }
        pod = self.call("POST", f"/api/v1/namespaces/{namespace}/pods", body)
        return pod if phase == "Pending" else self.set_phase(namespace, name, phase)

    def set_phase(self, namespace, name, phase):
        status = {"phase": phase, "podIP": pod_ip(name)}
        if phase == "Pending":
            status["podIP"] = None
        return self._patch(_pod_path(namespace, name) + "/status", {"status": status})

    def set_labels(self, namespace, name, labels):
        """Sets labels; a value of None takes the label away."""
        return self._patch(_pod_path(namespace, name), {"metadata": {"labels": labels}})

    def release_pod(self, namespace, name):
        """Takes all finalizers away."""
        return self._patch(_pod_path(namespace, name), {"metadata": {"finalizers": None}})

    def delete_pod(self, namespace, name):
        """Deletes the pod; no error if there is none. A finalizer keeps it terminating."""
        try:
            return self.call("DELETE", _pod_path(namespace, name))
        except KubeError as error:
            if error.code != 404:
                raise
            return None

    def kill_pod(self, namespace, name):
        """Deletes the pod, and no kubelet is waited for; no error if there is none."""
        try:
            self.call("DELETE", _pod_path(namespace, name), {"gracePeriodSeconds": 0})
        except KubeError as error:
            if error.code != 404:
                raise

    def wait_gone(self, namespace, name, uid, seconds=10):
        """Waits until no pod of that uid is there."""
        deadline = time.monotonic() + seconds
        while True:
            pod = self.pod(namespace, name)
            if pod is None or pod["metadata"]["uid"] != uid:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"pod {namespace}/{name} uid {uid} is still there")
            time.sleep(0.05)

    def clear_pods(self, namespace):
        """Deletes every pod of the namespace, finalizers or not."""
        for pod in self.pods(namespace):
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            self.delete_pod(namespace, name)
            if pod["metadata"].get("finalizers"):
                self.release_pod(namespace, name)
            self.wait_gone(namespace, name, uid)

    def _patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")


def pod_ip(name):
    """An address in 10/8 that depends on the name only."""
    number = sum(ord(c) * 31**i for i, c in enumerate(name)) % (1 << 24)
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


def describe_pod(pod):
    """What tests compare: identity, phase, labels, and whether it is terminating."""
    if pod is None:
        return None
    metadata = pod["metadata"]
    return {
        "uid": metadata["uid"],
        "phase": pod["status"].get("phase", "Pending"),
        "labels": metadata.get("labels", {}),
        "terminating": "deletionTimestamp" in metadata,
    }


def _pod_path(namespace, name):
    if not re.fullmatch(r"[a-z0-9.-]+", name):
        raise ValueError(f"not a pod name: {name}")
    return f"/api/v1/namespaces/{namespace}/pods/{name}"
