"""Proves that no fault of PostgreSQL is read as an absence of rows, and that what went wrong
meanwhile is repaired afterwards (S14, S15).

The engine reaches the server through a relay, so that its connections can be cut or silenced.
Every outage lasts longer than grace and create window.
"""

import time

import faults
import scenario
import scenes


class PostgresFaults(faults.Faults):
    server = "postgres"
    source = "rows"
    blind_rule = "orphaned_pod"

    def make_proxy(self):
        return self.pg_proxy()

    def test_restart_and_crash_of_the_server_S14(self):
        lost_row, lost_pod, orphan = self.pair(), self.pair(), self.event()
        scenario.service("postgres", "restart")
        self.lose_row(lost_row)
        self.heal(lost_row)
        scenario.service("postgres", "crash")
        self.lose_pod(lost_pod)
        orphan.pod(after=scenes.DELETED)
        self.fail_for(faults.OUTAGE)
        scenario.service("postgres", "restart")
        self.heal(lost_pod, orphan)

    def test_walsender_killed_and_connections_cut_or_silent_S14(self):
        lost = [self.pair() for _ in range(4)]
        for event in lost[:2]:
            self.assertEqual(self.pg.kill_walsender(), 1)
            self.lose_row(event)
            self.engine.until("the slot is read again", self.slot_is_active, 30)
        self.heal(*lost[:2])
        for _ in range(3):
            self.proxy.cut()
            time.sleep(0.3)
        self.lose_row(lost[2])
        self.heal(lost[2])
        self.proxy.silence()
        self.lose_row(lost[3])
        self.fail_for(faults.OUTAGE)
        self.proxy.open()
        self.heal(lost[3])

    def slot_is_active(self):
        query = "SELECT active FROM pg_replication_slots WHERE slot_name = 'trueup_rows'"
        return self.pg.sql(query) == "t"

    def test_slot_dropped_while_rows_changed_offline_S14_S15(self):
        lost_rows, lost_pod = [self.pair() for _ in range(4)], self.pair()
        stops, starts = self.pair(), self.event()
        epochs = self.epochs()
        self.proxy.refuse()
        self.pg.drop_slot()
        for event in lost_rows:
            self.lose_row(event)
        self.lose_pod(lost_pod)
        stops.update(stops.first_row, status="stopping")
        stops.delete_pod()  # right, since its row says so
        starts.pod()
        self.fail_for(faults.OUTAGE)
        starts.row()  # its pod is older than the outage, and owned after all
        self.proxy.open()
        self.heal(*lost_rows, lost_pod, stops, starts)
        self.assertGreater(self.epochs(), epochs)

    def test_another_timeline_behind_the_same_address_S14(self):
        lost_rows, lost_pod = [self.pair() for _ in range(2)], self.pair()
        orphan, epochs = self.event(), self.epochs()
        self.proxy.refuse()
        folder = self.pg.sql("SHOW data_directory")
        self.pg.sql(f"COPY (SELECT) TO '{folder}/standby.signal'")
        scenario.service("postgres", "restart")  # as its own standby, with the slot
        self.pg.sql("SELECT pg_promote()")
        for event in lost_rows:
            self.lose_row(event)
        self.lose_pod(lost_pod)
        orphan.pod(after=scenes.DELETED)
        self.fail_for(faults.OUTAGE)
        self.proxy.open()
        self.vouch_for_the_past()
        self.heal(*lost_rows, lost_pod, orphan)
        self.assertIn("another server or timeline answers", self.engine.log())
        self.assertGreater(self.epochs(), epochs)

    def test_publication_dropped_while_rows_changed_S14(self):
        lost_row, orphan = self.pair(), self.event()
        self.pg.sql("DROP PUBLICATION trueup")
        try:
            self.lose_row(lost_row)  # the walsender fails on it
            orphan.pod(after=scenes.DELETED)
            self.fail_for(faults.OUTAGE)
            self.assertIn('CREATE PUBLICATION "trueup"', self.engine.readiness()[1])
        finally:
            self.pg.sql("CREATE PUBLICATION trueup FOR TABLE public.instances")
        self.heal(lost_row, orphan)

    def test_role_locked_out_S3(self):
        lost_row, orphan = self.pair(), self.event()
        self.pg.sql("ALTER ROLE repl NOLOGIN")
        try:
            self.proxy.cut()
            self.lose_row(lost_row)
            orphan.pod(after=scenes.DELETED)
            self.fail_for(faults.OUTAGE)
            self.assertNotIn("password=", self.engine.readiness()[1])
        finally:
            self.pg.sql("ALTER ROLE repl LOGIN")
        self.heal(lost_row, orphan)


if __name__ == "__main__":
    scenario.main()
