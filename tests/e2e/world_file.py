"""Reads a sandbox's world file and judges every write in it by what was so at that moment.

The file (sandbox/world_file.h) has one JSON array of records per act, in order. The judge knows
nothing of the engine: it recomputes from the history who owned which pod when.
"""
import collections
import json

COLUMNS = ("id name owner_username owner_email owner_slack_channel url_slug status pod_name pod_ip "
           "instance_url error_code error_message stack_trace created_at ttl last_activity_at "
           "inactivity_timeout memory_usage_bytes").split()
LIVE = ("starting", "running")
SELECTED = ("ryugraph-wrapper", "falkordb-wrapper")


def key_of(row):
    """The pod that a row means: coalesce(pod_name, 'wrapper-' || url_slug)."""
    if row["pod_name"] is not None:
        return row["pod_name"]
    return None if row["url_slug"] is None else "wrapper-" + row["url_slug"]


class World:
    """The fold of a world file."""

    def __init__(self):
        self.pods = {}  # name -> record of the newest put
        self.rows = {}  # pk -> columns
        self.deletes = collections.Counter()  # accepted, by uid
        self.updates = collections.Counter()  # accepted, by pk
        self.refused = collections.Counter()
        self.problems = []
        self.newest_version = 0
        self.newest_lsn = 0
        self.newest_xid = 0

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number, line in enumerate(lines[:-1], 1):  # a torn last line never happened
            records = json.loads(line)
            for record in records:
                if "effect" in record:
                    self.judge(record["effect"], number)
            for record in records:
                self.apply(record)
        return self

    def apply(self, record):
        commit = record.get("commit", {})
        self.newest_xid = max(self.newest_xid, commit.get("xid", 0))
        self.newest_lsn = max(self.newest_lsn, commit.get("end", 0),
                              record.get("wal", {}).get("lsn", 0),
                              record.get("slot", {}).get("confirmed", 0))
        self.newest_version = max(self.newest_version, record.get("cluster", {}).get("newest", 0))
        if "pod" in record:
            pod = record["pod"]
            self.newest_version = max(self.newest_version, pod["rv"])
            if pod["event"] == "put":
                self.pods[pod["name"]] = pod
            else:
                self.pods.pop(pod["name"], None)
        for change in commit.get("changes", []):
            if change["kind"] == "T":
                self.rows.clear()
            if "before" in change:
                self.rows.pop(change["before"][0], None)
            if "after" in change:
                row = dict(zip(COLUMNS, change["after"]))
                self.rows[row["id"]] = row

    def healthy(self):
        """Rows that run, with their pods."""
        pairs = [(row, self.pods.get(row["pod_name"])) for row in self.rows.values()
                 if row["status"] == "running"]
        return [(row, pod) for row, pod in pairs
                if pod and pod["phase"] == "Running" and "deletion" not in pod]

    def trouble(self, kind, row, pod):
        """One more act for the file: what happened while nobody was there to see it (S15)."""
        version = self.newest_version + 1
        if kind == "vanish":
            gone = {key: pod[key] for key in ("namespace", "name", "uid")}
            return [{"pod": {"event": "deleted", "rv": version, **gone}}]
        if kind == "fail":
            return [{"pod": {**pod, "phase": "Failed", "rv": version}}]
        before = [row[column] for column in COLUMNS]
        lsn = self.newest_lsn
        change = {"kind": "D", "lsn": lsn, "before": before}
        return [{"commit": {"xid": self.newest_xid + 1, "commit": lsn + 160, "end": lsn + 208,
                            "ms": pod["created"], "changes": [change]}}]

    def owners(self, pod_name):
        return [row["id"] for row in self.rows.values() if key_of(row) == pod_name]

    def judge(self, effect, line):
        where = f"line {line}: "
        if not effect["accepted"]:
            self.refused[effect["why"]] += 1
        elif effect["kind"] == "delete":
            self.judge_delete(effect, where)
        else:
            self.judge_update(effect, where)

    def judge_delete(self, effect, where):
        pod = self.pods.get(effect["name"])
        self.deletes[effect["uid"]] += 1
        if self.deletes[effect["uid"]] > 1:
            self.problems.append(f"{where}pod {effect['uid']} was deleted twice")
        if pod is None or pod["uid"] != effect["uid"]:
            self.problems.append(f"{where}the accepted DELETE met another pod: {effect}")
        owners = self.owners(effect["name"])
        if owners:
            self.problems.append(f"{where}{effect['name']} was deleted, but row {owners} owns it")

    def judge_update(self, effect, where):
        row = self.rows.get(effect["pk"])
        sets = dict(map(tuple, effect["sets"]))
        self.updates[effect["pk"]] += 1
        if row is None or row["status"] not in LIVE:
            self.problems.append(f"{where}row {effect['pk']} was not live any more: {row}")
            return
        if sets.get("status") != "failed":
            self.problems.append(f"{where}row {effect['pk']} got {sets}")
        pod = self.pods.get(row["pod_name"])
        if pod is not None and pod["phase"] != "Failed":
            self.problems.append(f"{where}row {effect['pk']} failed, but its pod {pod['uid']} runs")

    def wrong(self):
        """What is wrong in the world as it is now, a sentence each."""
        found = []
        for pod in self.pods.values():
            ours = pod["labels"].get("app") in SELECTED and "deletion" not in pod
            if ours and not self.owners(pod["name"]):
                found.append(f"pod {pod['name']} has no row")
        for row in self.rows.values():
            pod = self.pods.get(row["pod_name"])
            if row["status"] in LIVE and pod is None:
                found.append(f"row {row['id']} is {row['status']} without a pod")
            if row["status"] == "running" and pod is not None and pod["phase"] == "Failed":
                found.append(f"row {row['id']} says running, its pod has Failed")
        terminating = [pod["name"] for pod in self.pods.values() if "deletion" in pod]
        return found + [f"pod {name} is on its way out" for name in terminating]
