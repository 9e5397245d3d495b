"""The independent checker: compares the real servers with the table of a world.

It reads kube-apiserver and PostgreSQL directly and knows nothing of the engine.
"""

import time

from kube import KubeError, describe_pod
from pg import PgError
from scenes import ABSENT, ANY, DELETED, GONE, TERMINATING, UNTOUCHED


def differences(table, kube, pg):
    """One line for each object that is not as the table wants it."""
    namespaces = {entry["namespace"] for entry in table.pods}
    pods = {}
    for namespace in namespaces:
        for pod in kube.pods(namespace):
            pods[namespace, pod["metadata"]["name"]] = describe_pod(pod)
    rows = {row["id"]: row for row in pg.rows()}
    found = [note for note in table.notes if note.startswith("FAILED")]
    for entry in table.pods:
        problem = _pod_problem(entry, pods.get((entry["namespace"], entry["name"])))
        if problem:
            found.append(f"pod {entry['namespace']}/{entry['name']} {_about(entry)}: {problem}")
    for entry in table.rows:
        problem = _row_problem(entry, rows.get(entry["id"]))
        if problem:
            found.append(f"row {entry['id']} {_about(entry)}: {problem}")
    return found


def unknown(table, kube, pg):
    """Objects that the table does not know, which tests may have made by hand."""
    known = {(e["namespace"], e["name"]) for e in table.pods}
    for namespace in {e["namespace"] for e in table.pods}:
        for pod in kube.pods(namespace):
            name = pod["metadata"]["name"]
            if (namespace, name) not in known:
                yield f"pod {namespace}/{name}"
    ids = {e["id"] for e in table.rows}
    yield from (f"row {row['id']}" for row in pg.rows() if row["id"] not in ids)


def wait_until_right(table, kube, pg, seconds, stable):
    """Polls until nothing differs, and still nothing after `stable` seconds more. Returns the
    differences of the last look. A server that does not answer counts as a difference."""
    deadline = time.monotonic() + seconds
    while True:
        found = _look(table, kube, pg)
        if not found:
            if stable:
                time.sleep(stable)
                found = _look(table, kube, pg)
            if not found:
                return []
        if time.monotonic() >= deadline:
            return found
        time.sleep(min(0.5, max(0.05, deadline - time.monotonic())))


def _look(table, kube, pg):
    try:
        return differences(table, kube, pg)
    except (OSError, KubeError, PgError) as error:
        return [f"cannot look: {error}"]


def _about(entry):
    return f"({entry['scene']}: {entry['why']})"


def _pod_problem(entry, now):
    before, after = entry["before"], entry["after"]
    same = now is not None and now["uid"] == before["uid"]
    if after == ANY:
        return None
    if after in (DELETED, GONE):
        return f"expected {after}, but it is there, {_brief(now)}" if same else None
    if not same:
        return f"expected {after}, but it is gone" + (f"; now {_brief(now)}" if now else "")
    wanted = before if after == UNTOUCHED else before | {"terminating": after == TERMINATING}
    return _columns_differing(wanted, now)


def _row_problem(entry, now):
    before, after = entry["before"], entry["after"]
    if after == ANY:
        return None
    if after == ABSENT:
        return None if now is None else "expected no such row, but it is there"
    if now is None:
        return "expected to be there, but it is gone"
    return _columns_differing(before if after == UNTOUCHED else before | after, now)


def _brief(pod):
    return f"uid {pod['uid']}, {pod['phase']}" + (", terminating" if pod["terminating"] else "")


def _columns_differing(wanted, now):
    """What differs, column by column, or None."""
    parts = [
        f"{name}: expected {_short(wanted.get(name))}, is {_short(now.get(name))}"
        for name in {**wanted, **now}
        if wanted.get(name) != now.get(name)
    ]
    return "; ".join(parts) or None


def _short(value):
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"
