"""Proves on real servers that a source can be retired: `trueup source drop` says what it has left at
its server, removes that and nothing else, and leaves alone what somebody still reads or did not
come from the source.
"""

import json
import re
import subprocess

import scenario
from engine import binary
from pg import SLOT

DONE, STAYS, NOT_ASKED = 0, 1, 2


class SourceDrop(scenario.Scenario):
    def setUp(self):
        super().setUp()
        self.pg.make_schema()
        self.write_config()
        self.secrets = re.findall(r"password=(\w+)", self.up.env["PG_REPL"])

    def drop(self, *words, name="rows", answer=""):
        """(exit code, what it said); no password is in it."""
        result = subprocess.run(
            [binary(), "source", "drop", name, "-c", self.config, *words],
            input=answer,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        said = result.stdout + result.stderr
        print(said)
        for secret in self.secrets:
            self.assertNotIn(secret, said)
        return result.returncode, said

    def slots(self):
        return self.pg.sql("SELECT slot_name FROM pg_replication_slots WHERE NOT temporary").split()

    def make_slot(self, kind, rest=""):
        self.pg.sql(f"SELECT pg_create_{kind}_replication_slot('{SLOT}'{rest})")

    # Without it a retired source's slot kept WAL until the server's disk was full.
    def test_a_retired_source_leaves_nothing_and_one_that_runs_is_left_alone(self):
        self.start_with_nothing_wrong()
        code, said = self.drop("--yes")
        self.assertEqual((code, self.slots()), (STAYS, [SLOT]))
        self.assertIn(f"slot {SLOT} is being read, by trueup (repl)", said)
        self.assertIn("stop what runs the source", said)
        self.engine.alive()
        self.prove(self.engine)  # it was not disturbed
        self.engine.end()

        code, said = self.drop("--dry-run")
        self.assertEqual((code, self.slots()), (DONE, [SLOT]))
        self.assertRegex(said, rf"slot {SLOT} of database trueup, server \d+, keeps \d+ bytes of WAL")
        self.assertIn('DROP PUBLICATION "trueup";', said)
        for answer in ("", "no\n", "y\n"):
            code, said = self.drop(answer=answer)
            self.assertEqual((code, self.slots()), (STAYS, [SLOT]))
            self.assertIn("nothing was dropped", said)
        code, said = self.drop(answer="yes\n")
        self.assertEqual((code, self.slots()), (DONE, []))
        self.assertIn(f"dropped slot {SLOT}", said)
        code, said = self.drop()
        self.assertEqual(code, DONE, "a second time there is nothing to do")
        self.assertIn(f"has no slot {SLOT}", said)

        self.engine.start()  # a source that is taken up again reads its table anew
        self.prove(self.engine)

    def test_for_scripts_nothing_is_asked(self):
        self.make_slot("logical", ", 'pgoutput'")
        code, said = self.drop("-o", "json")
        self.assertEqual((code, self.slots()), (STAYS, [SLOT]))
        self.assertEqual(json.loads(said)["refused"], "--yes was not given")
        code, said = self.drop("-o", "json", "--dry-run")
        self.assertEqual((code, json.loads(said)["slot"]), (DONE, SLOT))
        code, said = self.drop("-o", "json", "--yes")
        self.assertEqual((code, json.loads(said)["dropped"]), (DONE, True))
        self.assertEqual(self.slots(), [])

    def test_a_slot_of_that_name_that_is_not_the_sources_stays(self):
        self.make_slot("physical")
        code, said = self.drop("--yes")
        self.assertEqual((code, self.slots()), (STAYS, [SLOT]))
        self.assertIn("does not belong to this source: it is a physical one", said)
        self.pg.drop_slot()
        self.pg.sql("DROP DATABASE IF EXISTS elsewhere")
        self.pg.sql("CREATE DATABASE elsewhere")
        self.addCleanup(self.pg.sql, "DROP DATABASE elsewhere")
        self.make_slot("logical", ", 'pgoutput'")
        self.edit_config({"dbname=trueup": "dbname=elsewhere"})
        code, said = self.drop("--yes")
        self.assertEqual((code, self.slots()), (STAYS, [SLOT]))
        self.assertIn("a pgoutput slot of database trueup", said)
        self.pg.drop_slot()

    def test_a_foreign_name_takes_the_same_word_as_to_read_it(self):
        self.pg.drop_slot("standby_1")
        self.addCleanup(self.pg.drop_slot, "standby_1")
        self.pg.sql("SELECT pg_create_logical_replication_slot('standby_1', 'pgoutput')")
        self.edit_config({f"slot: {SLOT}": "slot: standby_1"})
        code, said = self.drop("--yes")
        self.assertEqual((code, self.slots()), (NOT_ASKED, ["standby_1"]))
        self.assertIn("acknowledge: [slot]", said)
        self.edit_config({"slot: standby_1": "slot: standby_1\n      acknowledge: [slot]"})
        self.assertEqual((self.drop("--yes")[0], self.slots()), (DONE, []))

    def test_what_has_nothing_or_is_not_there_is_told(self):
        code, said = self.drop(name="pods")
        self.assertEqual(code, DONE)
        self.assertIn("leaves nothing on its API server", said)
        code, said = self.drop(name="row")
        self.assertEqual(code, NOT_ASKED)
        self.assertIn("there is no source row in", said)
        self.edit_config({"dbname=trueup": "dbname=nowhere"})
        code, said = self.drop()
        self.assertEqual(code, NOT_ASKED)
        self.assertIn('database "nowhere" does not exist', said)


if __name__ == "__main__":
    scenario.main()
