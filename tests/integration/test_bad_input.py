"""Proves that nothing is done because of what can no longer be read: a column that becomes another type, a
table that is renamed, a definition that is taken away, an object as large as a server takes.
"""

import time

import boxes
import scenario
from boxes import CRD


class BadInput(boxes.Boxes):
    def start(self):
        for name in ("kept", "other"):
            self.box(name, plan="gold")
            self.row(name, "gold")
        engine = self.make_engine()
        engine.start()
        return engine

    def works(self, engine, name):
        """Whatever else is wrong, what is known to be wrong is put right."""
        self.row(name, "free")
        engine.until(f"the lost row {name} is told", lambda: self.said(name) == "lost free", 90)

    def complains(self, engine, word):
        """Is something of that name not as it should be, as operators are told?"""
        code, said = engine.readiness()
        return code != 200 and word in said

    def found(self, engine, name):
        code, said = self.run_trueup("why", f"boxes/{name}", "--state-dir", self.state_dir)
        return code == 0 and "lost_box" in said

    def untouched(self, engine, *but):
        self.assertEqual(engine.end()[0], 0)
        done = sorted(one["subject"] for one in engine.logged("command_ended"))
        self.assertEqual(done, [f"boxes/{name}" for name in but])
        for name in ("kept", "other"):
            self.assertEqual(self.said(name), "active gold", name)

    def test_a_table_that_is_renamed_has_not_lost_its_rows(self):
        engine = self.start()
        self.works(engine, "before")
        self.box("unwanted", "False", plan="free")  # by a row that nobody can see any more
        self.row("unwanted", "free")
        self.pg.sql("ALTER TABLE public.boxes RENAME TO crates")
        engine.until("it is said", lambda: self.complains(engine, "boxes"), 60)
        self.assertTrue(self.has("unwanted"))
        self.pg.sql("ALTER TABLE public.crates RENAME TO boxes")
        self.works(engine, "after")
        self.assertTrue(self.has("unwanted"))
        self.untouched(engine, "after", "before")

    def test_a_column_of_another_type_is_not_guessed_at(self):
        engine = self.start()
        self.works(engine, "before")
        self.row("busy", "free")
        self.box("busy", "False", plan="free")  # nobody's, if that row claimed nothing
        self.pg.sql("ALTER TABLE public.boxes ALTER COLUMN state DROP DEFAULT, "
                    "ALTER COLUMN state TYPE jsonb USING to_jsonb(state)")  # fmt: skip
        said = "a word in rows.state that the policy does not list"
        engine.until("it is said", lambda: said in engine.readiness()[1], 60)
        self.box("nobody", "False", plan="free")
        engine.until("what no row could mean goes all the same", lambda: not self.has("nobody"), 60)
        self.pg.sql("ALTER TABLE public.boxes ALTER COLUMN state TYPE text USING state #>> '{}'")
        self.works(engine, "after")
        self.assertTrue(self.has("busy"))
        self.untouched(engine, "after", "before", "nobody")

    def test_a_definition_that_is_taken_away_is_no_proof_that_objects_are_gone(self):
        # The objects go with it, and are told to be gone one by one; then nobody can tell any more.
        self.edit_config({"lost_box: {mode: enforce, grace: 3s": "lost_box: {mode: enforce, grace: 20s"})
        engine = self.start()
        self.works(engine, "before")
        self.kube.call("DELETE", CRD)
        engine.until("it is said", lambda: self.complains(engine, "boxes"), 60)
        engine.until("what is gone is found", lambda: self.found(engine, "kept"), 60)
        since = time.monotonic()
        engine.until("its grace is over", lambda: time.monotonic() - since > 25, 60)
        self.untouched(engine, "before")

    def test_an_object_as_large_as_a_server_takes_harms_nobody(self):
        engine = self.start()
        self.box("huge", "False", plan="free" + "e" * 1_000_000)
        self.box("padded", "False", plan="free", filling="x" * 1_400_000)
        engine.until("what is wrong is seen through all its filling", lambda: not self.has("padded"), 90)
        self.works(engine, "after")
        self.assertTrue(self.has("huge"))
        self.untouched(engine, "after", "padded")


if __name__ == "__main__":
    scenario.main()
