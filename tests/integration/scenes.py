"""The world as it is before the engine starts: what is there, and what must become of it.

A scene is a handful of pods and rows that belong together. `TRICKY` scenes look wrong to a hasty
reader and are right: nothing of them may be touched. `WRONG` scenes hold what the engine must
correct. Every live row has a pod_name or a pod called wrapper-<url_slug>: one without either
would make the engine hold back all deletions of orphans (world.py uncorrelated adds one).
"""

from dataclasses import dataclass, field

NAMESPACE = "graph"
ELSEWHERE = "graph-other"
APPS = ("ryugraph-wrapper", "falkordb-wrapper")
FINALIZER = "trueup.test/hold"

# What must become of an object. A row's expectation is the columns that change.
UNTOUCHED = "untouched"
DELETED = "deleted"
TERMINATING = "terminating"  # deleted, but a finalizer keeps it
GONE = "gone"  # deleted by the world itself, so not by the engine
ANY = "any"
ABSENT = "absent"


def disappeared(pod_name):
    """The correction of a live row whose pod is gone."""
    return _failed(f"Pod {pod_name} disappeared from Kubernetes")


def entered_failed():
    """The correction of a live row whose pod has failed."""
    return _failed("Pod entered Failed phase")


def _failed(message):
    return {
        "status": "failed",
        "error_code": "UNEXPECTED_TERMINATION",
        "error_message": message,
    }


@dataclass
class Pod:
    """A pod of a scene; `name` takes the slug, `app` None draws one of the selector's."""

    phase: str = "Running"
    name: str = "wrapper-{slug}"
    namespace: str = NAMESPACE
    app: str | None = None
    labelled: bool = True
    annotations: dict = field(default_factory=dict)
    finalizer: bool = False
    terminating: bool = False
    after: str = UNTOUCHED


@dataclass
class Row:
    """A row of a scene; `pod_name` takes the slug; `after` is the name of a correction."""

    status: str = "running"
    pod_name: str | None = "wrapper-{slug}"
    extra: dict = field(default_factory=dict)
    after: str = UNTOUCHED


@dataclass
class Scene:
    name: str
    count: int
    why: str
    objects: tuple


def scene(name, count, why, *objects):
    return Scene(name, count, why, objects)


BIG_TEXT = {"stack_trace": "{noise}"}
ODD_TEXT = {
    "name": "O'Brien \\ \"{slug}\"",
    "owner_username": "Zoë ☃ 例",
    "stack_trace": "line 1\nline 2\ttab | pipe\n\\N\n",
    "error_message": "",
}

PLAIN = (scene("pair", 16, "a running row and its running pod", Row(), Pod()),)

TRICKY = (
    scene("starting_pending", 4, "still starting", Row("starting"), Pod("Pending")),
    scene("starting_running", 4, "the row follows a little later", Row("starting"), Pod()),
    scene("running_pending", 3, "pending is not failed", Row(), Pod("Pending")),
    scene("untracked_running", 5, "no pod_name, owned through the slug", Row(pod_name=None), Pod()),
    scene("untracked_starting", 3, "the same", Row("starting", None), Pod("Pending")),
    scene("untracked_stopping", 2, "the same", Row("stopping", None), Pod()),
    scene("stopping_with_pod", 3, "owned by a row that stops", Row("stopping"), Pod()),
    scene("failed_with_pod", 3, "owned by a failed row", Row("failed"), Pod()),
    scene("hibernated_with_pod", 2, "owned by a hibernated row", Row("hibernated"), Pod()),
    scene("stopping_pod_failed", 2, "drift needs a live row", Row("stopping"), Pod("Failed")),
    scene("failed_pod_failed", 2, "agreed already", Row("failed"), Pod("Failed")),
    scene("stopping_without_pod", 3, "not a live row", Row("stopping")),
    scene("failed_without_pod", 2, "not a live row", Row("failed")),
    scene("failed_untracked", 2, "not a live row", Row("failed", None)),
    scene("hibernated_without_pod", 3, "not a live row", Row("hibernated")),
    scene("running_succeeded", 2, "succeeded is not failed", Row(), Pod("Succeeded")),
    scene("running_unknown", 2, "unknown is not failed", Row(), Pod("Unknown")),
    scene("foreign_label", 3, "another app's pod", Pod(app="postgres")),
    scene("no_label", 2, "nobody's pod", Pod(labelled=False)),
    scene("other_namespace", 2, "outside of the source's scope", Pod(namespace=ELSEWHERE)),
    scene("terminating_orphan", 2, "deleted already, do not again", Pod(terminating=True)),
    scene("terminating_owned", 2, "still there", Row(), Pod(terminating=True)),
    scene("reused_slug", 2, "an old row of the same pod name", Row("failed"), Row(), Pod()),
    scene("other_name", 3, "pod_name need not follow the slug",
          Row(pod_name="graph-{slug}"), Pod(name="graph-{slug}")),
    scene("expired_ttl", 3, "that rule is off", Row(extra={"ttl": "01:00:00"}), Pod()),
    scene("blank_ttl", 2, "no ttl at all", Row(extra={"ttl": ""}), Pod()),
    scene("inactive", 2, "that rule is off",
          Row(extra={"last_activity_at": "2024-01-01T00:00:00Z"}), Pod()),
    scene("odd_text", 3, "text that wants quoting", Row(extra=ODD_TEXT), Pod()),
    scene("big_text", 2, "a stored-aside column", Row(extra=BIG_TEXT), Pod()),
)

WRONG = (
    scene("orphan_running", 5, "no row", Pod(after=DELETED)),
    scene("orphan_pending", 2, "no row", Pod("Pending", after=DELETED)),
    scene("orphan_failed", 2, "no row", Pod("Failed", after=DELETED)),
    scene("orphan_succeeded", 1, "no row", Pod("Succeeded", after=DELETED)),
    scene("orphan_finalizer", 1, "no row; a finalizer keeps it",
          Pod(finalizer=True, after=TERMINATING)),
    scene("orphan_beside", 2, "its slug's row names another pod",
          Row(pod_name="graph-{slug}"), Pod(name="graph-{slug}"), Pod(after=DELETED)),
    scene("missing_running", 4, "its pod is gone", Row(after="disappeared")),
    scene("missing_starting", 3, "its pod is gone", Row("starting", after="disappeared")),
    scene("missing_big_text", 1, "its pod is gone", Row(extra=BIG_TEXT, after="disappeared")),
    scene("missing_odd_text", 1, "its pod is gone", Row(extra=ODD_TEXT, after="disappeared")),
    scene("missing_elsewhere", 1, "only a namesake in another namespace",
          Row(after="disappeared"), Pod(namespace=ELSEWHERE)),
    scene("drift_running", 4, "its pod failed", Row(after="entered_failed"), Pod("Failed")),
    scene("drift_starting", 2, "its pod failed before it ran",
          Row("starting", after="entered_failed"), Pod("Failed")),
    scene("drift_untouched_text", 1, "its pod failed; text must survive",
          Row(extra=ODD_TEXT | BIG_TEXT, after="entered_failed"), Pod("Failed")),
)

# Only made when asked for by name: what they expect is a choice of the policy.
OPTIONAL = (
    scene("label_outside", 2, "the pod exists, outside of the selector", Row(), Pod(app="moved")),
    scene("held_orphan", 2, "held by annotation", Pod(annotations={"trueup.io/hold": "test"})),
)


def chosen(without=(), extra=()):
    """The scenes to make, as (scene, kind)."""
    known = {s.name for s in PLAIN + TRICKY + WRONG + OPTIONAL}
    for name in (*without, *extra):
        if name not in known:
            raise SystemExit(f"no scene called {name}; there are {', '.join(sorted(known))}")
    for kind, scenes in (("plain", PLAIN), ("tricky", TRICKY), ("wrong", WRONG)):
        yield from ((s, kind) for s in scenes if s.name not in without)
    yield from ((s, "tricky") for s in OPTIONAL if s.name in extra)


# ------------------------------------------------------------------ making them
def make_slug(rng):
    return "".join(rng.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(8))


def make_row(rng, slug, status="running", pod_name=None, extra=()):
    """All columns of a row but its id."""
    user = rng.choice(("ada", "grace", "edsger", "barbara", "tony"))
    row = {
        "name": f"graph {slug}",
        "owner_username": user,
        "owner_email": f"{user}+graphs@example.com",
        "owner_slack_channel": rng.choice((None, f"#{user}")),
        "url_slug": slug,
        "status": status,
        "pod_name": pod_name,
        "pod_ip": rng.choice((None, "10.1.2.3")),
        "instance_url": f"https://graph.example.com/{slug}",
        "created_at": f"2025-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T08:30:00.25Z",
        "ttl": rng.choice((None, "24:00:00", "7 days")),
        "last_activity_at": rng.choice((None, "2025-10-01T12:00:00Z")),
        "inactivity_timeout": rng.choice((None, "04:00:00")),
        "memory_usage_bytes": rng.choice((None, rng.randrange(1 << 40))),
    }
    for name, value in dict(extra).items():
        if value == "{noise}":  # does not compress, so that it is stored out of line
            value = "".join(rng.choice("0123456789abcdef") for _ in range(12000))
        row[name] = value.replace("{slug}", slug)
    return row


def row_of_spec(rng, slug, spec):
    """The row of a spec and what must become of it."""
    pod_name = spec.pod_name and spec.pod_name.replace("{slug}", slug)
    after = {"disappeared": lambda: disappeared(pod_name), "entered_failed": entered_failed}
    row = make_row(rng, slug, spec.status, pod_name, spec.extra)
    return row, after[spec.after]() if spec.after in after else spec.after


def make_pod(kube, rng, slug, spec):
    """Creates the pod of a spec; returns it as the server has it."""
    name = spec.name.replace("{slug}", slug)
    labels = {"slug": slug}
    if spec.labelled:
        labels["app"] = spec.app or rng.choice(APPS)
    holds = (FINALIZER,) if spec.finalizer or spec.terminating else ()
    pod = kube.create_pod(spec.namespace, name, labels, spec.phase, holds, spec.annotations)
    return kube.delete_pod(spec.namespace, name) if spec.terminating else pod
