"""The table of a world: for each object what it was and what must become of it."""

import json
import os
import threading

from kube import describe_pod


class Table:
    """Entries for pods and rows, kept in a JSON file. Safe to add to from several threads."""

    def __init__(self, path, meta=None):
        self.path = path
        self.meta = meta or {}
        self.pods = []
        self.rows = []
        self.notes = []
        self.void = set()  # slugs of events that prove nothing; of this process
        self._lock = threading.Lock()

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        table = cls(path, data["meta"])
        table.pods, table.rows, table.notes = data["pods"], data["rows"], data["notes"]
        return table

    def save(self):
        """Replaces the file at once, so that a reader never sees half of it."""
        data = {"meta": self.meta, "notes": self.notes, "pods": self.pods, "rows": self.rows}
        with open(self.path + ".tmp", "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1, ensure_ascii=False)
            file.write("\n")
        os.replace(self.path + ".tmp", self.path)

    def add_pod(self, scene, kind, why, pod, after):
        """`pod` as the server gave it when it was last written by us."""
        metadata = pod["metadata"]
        with self._lock:
            self.pods.append(
                {
                    "namespace": metadata["namespace"],
                    "name": metadata["name"],
                    "scene": scene,
                    "kind": kind,
                    "why": why,
                    "before": describe_pod(pod),
                    "after": after,
                }
            )

    def add_row(self, scene, kind, why, row, after):
        """`row` as the server gave it when it was last written by us; `after` is a word or
        the columns that change."""
        with self._lock:
            self.rows.append(
                {"id": row["id"], "scene": scene, "kind": kind, "why": why, "before": row,
                 "after": after}
            )

    def note(self, text):
        with self._lock:
            self.notes.append(text)

    def summary(self):
        everything = self.pods + self.rows
        counts = {k: sum(e["kind"] == k for e in everything) for k in ("plain", "tricky", "wrong")}
        return (
            f"{len(self.pods)} pods and {len(self.rows)} rows: {counts['plain']} plain,"
            f" {counts['tricky']} tricky but right, {counts['wrong']} in wrong scenes"
        )
