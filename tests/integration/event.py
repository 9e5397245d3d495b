"""The means of one timed event: acts, pauses, and what must become of the objects."""

import random
import time
from dataclasses import dataclass, field

import scenes
from kube import KubeError
from pg import PgError
from scenes import GONE, NAMESPACE, UNTOUCHED


class TooLate(Exception):
    """A pause that had to be short was not."""


class Damaged(Exception):
    """An object is not as the event left it."""


@dataclass
class Event:
    """The means of one event; it collects what must become of each object it made."""

    kube: object
    pg: object
    rng: random.Random
    grace: float
    slug: str
    pods: dict = field(default_factory=dict)  # uid -> [pod, after]
    rows: dict = field(default_factory=dict)  # id -> [row, after]
    columns: dict = field(default_factory=dict)  # of every row that it makes
    _since: float = 0.0

    @property
    def pod_name(self):
        return f"wrapper-{self.slug}"

    # ---------------------------------------------------------------- time
    def looks_wrong(self):
        """From here until looks_right() must be less than the grace."""
        self._since = time.monotonic()

    def looks_right(self):
        took = time.monotonic() - self._since
        if took > 0.8 * self.grace:
            raise TooLate(f"{took:.1f} s, allowed are {0.8 * self.grace:.1f} s")

    def pause(self, low=0.05, high=0.5):
        """Waits a random part of the grace."""
        time.sleep(self.grace * self.rng.uniform(low, high))

    def settle(self):
        """Gives the engine time to see what is there; nothing depends on its length."""
        time.sleep(self.rng.uniform(0.5, 1.5))

    # ---------------------------------------------------------------- acts
    def pod(self, after=UNTOUCHED, name=None, phase="Running", finalizers=()):
        name = name or self.pod_name
        labels = {"app": self.rng.choice(scenes.APPS), "slug": self.slug}

        def create():
            try:
                return self.kube.create_pod(NAMESPACE, name, labels, phase, finalizers)
            except KubeError as error:
                if error.reason != "AlreadyExists":
                    raise
                return self.kube.set_phase(NAMESPACE, name, phase)  # an answer got lost

        return self._keep_pod(insist(create), after)

    def delete_pod(self, name=None):
        """Deletes the pod for good."""
        name = name or self.pod_name
        pod = insist(lambda: self.kube.delete_pod(NAMESPACE, name))
        if pod and not pod["metadata"].get("finalizers"):
            uid = pod["metadata"]["uid"]
            insist(lambda: self.kube.wait_gone(NAMESPACE, name, uid))
        for entry in self.pods.values():
            if entry[0]["metadata"]["name"] == name:
                entry[1] = GONE

    def terminate_pod(self):
        """Deletes a pod that a finalizer keeps."""
        self._keep_same(insist(lambda: self.kube.delete_pod(NAMESPACE, self.pod_name)))

    def relabel(self, app):
        self.label(app=app)

    def label(self, **labels):
        self._keep_same(insist(lambda: self.kube.set_labels(NAMESPACE, self.pod_name, labels)))

    def set_phase(self, phase):
        self._keep_same(insist(lambda: self.kube.set_phase(NAMESPACE, self.pod_name, phase)))

    def row(self, status="running", tracked=True, after=UNTOUCHED, **extra):
        row = self.new_row(status, tracked, **extra)

        def insert():
            there = self.pg.rows(f"url_slug = '{self.slug}'")  # an answer may have got lost
            return there[0] if there else self.pg.insert(row)

        return self._keep_row(insist(insert), after)

    def new_row(self, status="running", tracked=True, **extra):
        pod_name = self.pod_name if tracked else None
        return scenes.make_row(self.rng, self.slug, status, pod_name, self.columns | extra)

    def update(self, row, **changes):
        """Changes a row that nobody else may have changed since."""
        before = self.rows[row["id"]][0]
        now = insist(lambda: self.pg.update(row["id"], changes))
        foreign = [n for n in before if n not in changes and (now or {}).get(n) != before[n]]
        if foreign:
            raise Damaged(f"row {row['id']} was changed by another: {', '.join(foreign)}")
        self._keep_row(now, UNTOUCHED)

    def expect_row(self, row, after):
        self.rows[row["id"]][1] = after

    def _keep_same(self, pod):
        """The pod after a change by us; it must be the one that we know."""
        if pod is None or pod["metadata"]["uid"] not in self.pods:
            raise Damaged(f"pod {self.pod_name} is not the one that was made")
        self._keep_pod(pod, UNTOUCHED)

    def _keep_pod(self, pod, after):
        self.pods[pod["metadata"]["uid"]] = [pod, after]
        return pod

    def _keep_row(self, row, after):
        self.rows[row["id"]] = [row, after]
        return row


def insist(act, seconds=90):
    """Does it again until it works: tests crash the servers meanwhile."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return act()
        except (OSError, PgError, KubeError) as error:
            refused = isinstance(error, KubeError) and 400 <= error.code < 500
            if (refused and error.code != 429) or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
