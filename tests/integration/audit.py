"""What the servers' own logs prove about the engine's writes: the apiserver's audit log, and the
table in which a trigger writes down each update of a row.

The log must hold deletions of pods at level Request, so that their bodies are in it
(KUBE_AUDIT=1 tools/services/kube up).
"""

import json
import os

from scenes import ANY, DELETED, TERMINATING

MAY_DELETE = {"pods": "pod", "services": "service", "ingresses": "ingress"}
MAY_SET = {"status", "error_code", "error_message"}
QUESTIONS = ("selfsubjectaccessreviews",)  # are posted, and change nothing
WRITES = ("create", "update", "patch", "delete", "deletecollection")


def engine_writes(path, user, start=0):
    """The finished writes of that user from byte `start` of the log on. A torn line is left out."""
    with open(path, "rb") as file:
        if start <= os.path.getsize(path):
            file.seek(start)
        for line in file:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("stage") != "ResponseComplete" or event.get("verb") not in WRITES:
                continue
            if event.get("objectRef", {}).get("resource") in QUESTIONS:
                continue
            if event.get("user", {}).get("username") == user:
                yield event


def problems_of(event):
    """Why a write of the engine is not a careful deletion of one object."""
    target = event.get("objectRef", {})
    kind = MAY_DELETE.get(target.get("resource"))
    if event["verb"] != "delete" or kind is None or target.get("subresource"):
        yield f"{event['verb']} of {target.get('resource')} {target.get('name', '')}"
        return
    body = event.get("requestObject")
    if body is None:
        yield f"delete of {kind} {target.get('name')} has no body"
        return
    preconditions = body.get("preconditions", {})
    for name in ("uid", "resourceVersion"):
        if not preconditions.get(name):
            yield f"delete of {kind} {target.get('name')} has no precondition {name}"


def deletions(events):
    """(name, uid, code, grace period) of each deletion with a body."""
    for event in events:
        body = event.get("requestObject") or {}
        yield (
            event.get("objectRef", {}).get("name"),
            body.get("preconditions", {}).get("uid"),
            event.get("responseStatus", {}).get("code"),
            body.get("gracePeriodSeconds"),
        )


def against_table(done, table):
    """Why accepted deletions are not ones that the table wants."""
    pods = {entry["before"]["uid"]: entry for entry in table.pods}
    accepted = [uid for _, uid, code, _ in done if code is not None and 200 <= code < 300]
    for uid in set(accepted):
        entry = pods.get(uid)
        about = f"{entry['name']} ({entry['scene']}: {entry['why']})" if entry else uid
        if entry and entry["after"] not in (DELETED, TERMINATING, ANY):
            yield f"deleted a pod that must stay: {about}"
        if accepted.count(uid) > 1:
            yield f"deleted {accepted.count(uid)} times: {about}"


def not_seen(done, table):
    """Pods that had to be deleted and whose deletion is not in the log. The log of an apiserver
    that was killed may lack one that took effect."""
    accepted = {uid for _, uid, code, _ in done if code is not None and 200 <= code < 300}
    for entry in table.pods:
        if entry["after"] in (DELETED, TERMINATING) and entry["before"]["uid"] not in accepted:
            yield f"{entry['name']} ({entry['scene']})"


def report(path, user, table):
    """Prints what the log holds; returns whether it is as it must be."""
    events = list(engine_writes(path, user, table.meta["audit_from"] if table else 0))
    problems = [text for event in events for text in problems_of(event)]
    done = list(deletions(events))
    if table:
        problems += against_table(done, table)
    codes = {}
    for _, _, code, _ in done:
        codes[code] = codes.get(code, 0) + 1
    answers = ", ".join(f"{count} answered {code}" for code, count in sorted(codes.items()))
    periods = sorted({str(period) for _, _, _, period in done})
    print(f"{user}: {len(events)} writes; {answers or 'none'}; gracePeriodSeconds {periods}")
    for text in problems:
        print(f"  WRONG {text}")
    for text in not_seen(done, table) if table else ():
        print(f"  note: no deletion in the log of {text}")
    return not problems


# ------------------------------------------------------------------ rows
def row_problems(writes, table):
    """Why updates of rows are not ones that the table wants."""
    rows = {entry["id"]: entry for entry in table.rows} if table else {}
    seen = set()
    for write in writes:
        entry = rows.get(write["id"])
        about = f"row {write['id']}" + (f" ({entry['scene']}: {entry['why']})" if entry else "")
        before, after = write["before"], write["after"]
        changed = {name for name in after if after[name] != before.get(name)}
        if not changed <= MAY_SET:
            yield f"changed {', '.join(sorted(changed - MAY_SET))} of {about}"
        if entry and entry["after"] != ANY and not isinstance(entry["after"], dict):
            yield f"changed a row that must stay: {about}"
        if write["id"] in seen:
            yield f"changed more than once: {about}"
        seen.add(write["id"])


def report_rows(pg, table):
    """Prints what was written to rows; returns whether it is as it must be."""
    writes = pg.foreign_writes()
    problems = list(row_problems(writes, table))
    print(f"{len(writes)} updates of rows, {len({w['id'] for w in writes})} rows")
    for text in problems:
        print(f"  WRONG {text}")
    return not problems
