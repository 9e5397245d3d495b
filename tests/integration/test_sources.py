"""Proves that what the real sources say is read as it is meant, where it looks otherwise (S9, S17, S22)."""

import scenario
import scenes

SUBJECT = "graph-instances/"


class Sources(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.start_with_nothing_wrong()

    def test_a_removed_pod_whose_last_word_is_running_is_gone_S9(self):
        event = self.pair()
        event.expect_row(event.first_row, scenes.disappeared(event.pod_name))
        last = self.kube.delete_pod(scenes.NAMESPACE, event.pod_name)
        self.assertEqual(last["status"]["phase"], "Running")
        event.delete_pod()  # is gone by now
        self.keep(event)
        self.prove(self.engine)

    def test_a_primary_key_that_moves_and_one_that_is_used_again_S17(self):
        moves, ends, begins = self.pair(), self.pair(), self.event()
        self.pg.sql("ALTER SEQUENCE public.instances_id_seq RESTART WITH 5000")
        old = moves.first_row
        moved = self.pg.update(old["id"], {"id": 4000})
        self.assertEqual(moved["pod_name"], moves.pod_name)
        moves.expect_row(old, scenes.ABSENT)
        moves.rows[4000] = [moved, scenes.UNTOUCHED]

        # In one commit the row of a pod goes, and its key is that of a row whose pod never was.
        row = begins.new_row() | {"id": ends.first_row["id"]}
        self.pg.write([f"DELETE FROM public.instances WHERE id = {row['id']}"])
        begins.rows[row["id"]] = [self.pg.insert(row), scenes.disappeared(begins.pod_name)]
        for entry in ends.pods.values():
            entry[1] = scenes.DELETED
        ends.rows.clear()
        self.keep(moves, ends, begins)
        self.prove(self.engine, stable=5)

    def test_a_selector_that_leaves_most_out_is_not_believed_and_finds_nothing_missing_S22(self):
        inside = self.pair()
        self.keep(inside)
        self.prove(self.engine)
        wide = f"app in ({', '.join(scenes.APPS)})"
        narrow = f"{wide}, slug in ({inside.slug})"
        since = self.engine.mark()
        self.restart_with_selector(wide, narrow, ready_within=0)
        self.not_believed("pods")
        self.prove(self.engine, stable=scenario.GRACE + 10)
        self.restart_with_selector(narrow, wide)
        self.prove(self.engine, stable=scenario.GRACE + 5)
        self.assertEqual(self.engine.seen(since, kind="command"), [])
        self.assertEqual(self.engine.seen(since, kind="finding", rule="missing_pod"), [])

    def test_an_edited_selector_writes_no_row_and_makes_no_orphans_S22(self):
        # As many as make no suspicious drop: nothing but the executor's look keeps these rows.
        owned = [self.pair() for _ in range(8)]
        outside, inside = self.event(), self.event()
        self.keep(*owned)
        self.prove(self.engine)
        wide = f"app in ({', '.join(scenes.APPS)})"
        left_out = ", ".join(event.slug for event in [*owned, outside])
        narrow = f"{wide}, slug notin ({left_out})"
        since = self.engine.mark()
        self.restart_with_selector(wide, narrow)
        outside.pod()
        inside.pod(after=scenes.DELETED)
        self.keep(outside, inside)
        self.prove(self.engine, stable=scenario.GRACE + 5)
        self.restart_with_selector(narrow, wide)
        entry = next(e for e in self.table.pods if e["name"] == outside.pod_name)
        entry["after"] = scenes.DELETED  # nobody owns it, and now it is inside
        self.prove(self.engine, stable=scenario.GRACE + 5)
        # Of each row it was asked once, which was refused; not again and again.
        for event in owned:
            about = {"since": since, "rule": "missing_pod", "subject": SUBJECT + event.pod_name}
            ordered = {e["id"] for e in self.engine.seen(kind="command", **about)}
            outcomes = [e["outcome"] for e in self.engine.seen(kind="outcome", **about)]
            self.assertEqual((len(ordered), outcomes), (1, ["refused"]), event.pod_name)

    def restart_with_selector(self, before, after, **options):
        self.engine.end()
        self.edit_config({before: after})
        self.engine.start(**options)


if __name__ == "__main__":
    scenario.main()
