"""Plays the kubelet, which a bare API lacks: a pod that is being deleted stops after a while, some
with an error, and only then it goes."""

import contextlib
import random
import threading
import time

import scenes
from event import insist
from kube import KubeError

ENDS = ("Failed", "Succeeded")


class Kubelet:
    """Ends the pods of the namespace that carry the finalizer of scenes, until it is closed."""

    def __init__(self, kube, seed):
        self._kube = kube
        self._rng = random.Random(seed)
        self._plans = {}  # uid -> when it stops, how, and when it goes
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self):
        self._closed.set()
        self._thread.join()

    def _run(self):
        while not self._closed.wait(0.2):
            for pod in insist(lambda: self._kube.pods(scenes.NAMESPACE)):
                metadata = pod["metadata"]
                if "deletionTimestamp" in metadata and metadata.get("finalizers"):
                    with contextlib.suppress(KubeError):  # somebody else was faster
                        self._tend(pod)

    def _tend(self, pod):
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        if uid not in self._plans:
            stops = time.monotonic() + self._rng.uniform(0.2, 3)
            phase = self._rng.choice(ENDS)
            self._plans[uid] = (stops, phase, stops + self._rng.uniform(0.2, 3))
        stops, phase, goes = self._plans[uid]
        if time.monotonic() >= goes:
            self._kube.release_pod(scenes.NAMESPACE, name)
        elif time.monotonic() >= stops and pod["status"].get("phase") != phase:
            self._kube.set_phase(scenes.NAMESPACE, name, phase)
