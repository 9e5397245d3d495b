"""Proves what a real broker can hold that Trueup must refuse: topics that would not keep what
happened, a journal or an input that lost records, records that are not ours, the record of a newer
build. Whoever refuses says what to do and writes nothing; what cannot harm is passed over.

The sentences are those of docs/operations/kafka.md.
"""

import os
import signal
import time
import unittest

import brokered

TICK = bytes([0x08, 0x01])  # a JournalRecord that has its format and nothing else
MARKER = {"kind": "CHANGE_KIND_MARKER", "source": "pods", "incarnation": "0", "subject_key": "pods"}
TOPICS = ("changes.pods", "changes.rows", "changes.resources", "changes.ec2")
TOPICS += ("journal", "findings", "commands", "requests", "outcomes")
WRITTEN = ("journal", "findings", "commands", "requests")
LARGE = (300 << 10, 3 << 20, 5 << 20, 9437184 - 200)  # more than a change may have


class KafkaRefusals(brokered.Brokered):
    # ---------------------------------------------------------------- looking
    def ends(self):
        """Behind the last record of each topic that an engine writes."""
        return {name: self.do("extent", name)[1] for name in WRITTEN}

    def does_not_start(self, *words, wanted=1):
        """The engine ends by itself with these words, and has written nothing."""
        before = self.ends()
        engine = self.launch_engine()
        code, log = engine.stopped_by_itself(60)
        self.says(code, log, *words, wanted=wanted)
        self.assertEqual(engine.events, [])
        self.assertEqual(self.ends(), before, "an engine that did not start wrote")

    def says(self, code, said, *words, wanted=2):
        self.assertEqual(code, wanted, said)
        for word in words:
            self.assertIn(word, said)
        print(next(line for line in said.splitlines() if words[0] in line))

    def refused(self, *words):
        """Neither `topics check` nor `topics create` nor an engine goes on with these topics."""
        for verb in ("check", "create"):
            self.says(*self.run_trueup("topics", verb, "-c", self.config), *words)
        self.does_not_start(*words, wanted=2)

    def gives_up(self, engine, *words):
        """A shard stops emitting and says why, and the process runs on."""
        engine.until("it gives up", lambda: engine.metric("trueup_emitting") == 0, 60)
        code, text = engine.readiness()
        print(text.strip())
        self.assertEqual(code, 503)
        for word in words:
            self.assertIn(word, text)
        for word in ("stops emitting", *words):  # is logged a moment after it can be asked
            engine.until(f"the log says '{word}'", lambda word=word: word in engine.log(), 10)

    def gives_up_at_once(self, *words):
        """An engine that starts gives up before it has written anything, and ends with 1."""
        before = self.ends()
        engine = self.serve_engine()
        self.gives_up(engine, *words)
        self.end_engine(engine, wanted=1)
        self.assertEqual(engine.events, [])
        after = self.ends()
        # Executors are told which rules only observe before anything is read: it takes nothing away.
        before["requests"] = after["requests"]
        self.assertEqual(after, before, "a shard that gave up wrote")

    # ---------------------------------------------------------------- topics
    def test_another_number_of_partitions(self):
        self.new_bus(2)
        self.write_partitions(1)
        self.refused("partitions and not 1", "write bus.kafka.partitions: 2")

    def test_partitions_that_somebody_added_are_not_used(self):
        # Partitions that somebody had added to one topic kept everything from starting, for ever,
        # though nobody writes there: only another prefix helped.
        self.new_bus(1)
        for topic in ("changes.pods", "journal"):
            self.do("grow", topic, partitions=3)
        for verb in ("check", "create"):
            code, said = self.run_trueup("topics", verb, "-c", self.config)
            self.assertEqual(code, 0, said)
            self.assertIn("changes.pods has 3 partitions and not 1", said)
            self.assertNotIn("made the journal", said)
        self.append("changes.pods", MARKER, partition=2)
        engine = self.start_engine()
        self.fold(engine, "changes.pods", MARKER)
        self.end_engine(engine)
        self.assertEqual(self.journal_end(1), 0)

    def test_partitions_that_somebody_added_and_wrote_down(self):
        # Where their number was written into the configuration too, subjects were looked for in
        # other shards than those that know them.
        self.new_bus(1)
        for topic in TOPICS:
            self.do("grow", topic, partitions=2)
        self.write_partitions(2)
        before = self.ends()
        self.says(
            *self.run_trueup("topics", "check", "-c", self.config),
            "journal has 1 journals that have begun and not 2",
            "write bus.kafka.partitions: 1",
        )
        self.says(
            *self.run_trueup("topics", "create", "-c", self.config),
            "the journal of shard 0 is one of 1",
        )
        self.assertEqual(self.ends(), before)
        self.assertEqual(self.journal_end(1), 0)
        self.does_not_start("journals that have begun and not 2", wanted=2)

    def test_times_of_clients(self):
        self.new_bus(1)
        self.do("alter", "changes.pods", settings={"message.timestamp.type": "CreateTime"})
        self.refused(
            "changes.pods has message.timestamp.type=CreateTime; set message.timestamp.type"
        )

    def test_a_compacted_journal(self):
        self.new_bus(1)
        self.do("alter", "journal", settings={"cleanup.policy": "compact"})
        self.refused("journal has cleanup.policy=compact; set cleanup.policy=delete")

    def test_a_compacted_source(self):
        self.new_bus(1)
        self.do("alter", "changes.pods", settings={"cleanup.policy": "compact"})
        self.refused("changes.pods has cleanup.policy=compact; set cleanup.policy=delete")

    def test_a_topic_that_is_missing(self):
        self.new_bus(1)
        self.do("remove", "changes.pods")
        self.says(*self.run_trueup("topics", "check", "-c", self.config), "changes.pods is missing")
        self.does_not_start("changes.pods is missing", wanted=2)

    # ---------------------------------------------------------------- the journal
    def with_rows(self):
        """An engine that has folded some records and was stopped; returns the journal's end."""
        self.new_bus(1)
        engine = self.start_engine()
        for _ in range(3):
            self.fold(engine, "changes.pods", MARKER)
        self.end_engine(engine)
        end = self.journal_end()
        self.assertGreater(end, 3)
        return end

    def test_a_journal_that_was_made_anew(self):
        self.with_rows()
        self.do("remove", "journal")
        code, said = self.run_trueup("topics", "create", "-c", self.config)
        self.assertEqual(code, 0, said)
        self.does_not_start("the journal ends before offset", "lost its tail")
        self.does_not_start("the journal ends before offset", "lost its tail")  # nor the next time

    def test_an_empty_journal_in_place_of_one(self):
        self.with_rows()
        self.do("remove", "journal")
        self.make_journal()
        self.does_not_start("the journal ends before offset", "lost its tail")

    def test_a_journal_that_lost_its_tail_and_grew_again(self):
        end = self.with_rows()
        kept = self.do("read", "journal", message="JournalRecord")[: end - 2]
        self.do("remove", "journal")
        self.make_journal()
        records = [{"message": "JournalRecord", "fields": one["record"]} for one in kept]
        self.do("append", "journal", records=records + [{"hex": TICK.hex()}] * 4)
        self.does_not_start("is not the one that the rows were made from")

    def make_journal(self):
        settings = {"message.timestamp.type": "LogAppendTime", "max.message.bytes": "9437184"}
        settings |= {"unclean.leader.election.enable": "false", "retention.ms": "-1"}
        self.do("make", "journal", partitions=1, settings=settings)

    def test_a_journal_whose_start_is_deleted_behind_the_rows(self):
        self.with_rows()
        self.do("append", "journal", records=[{"hex": TICK.hex()}] * 3)
        self.do("delete_records", "journal", before=-1)
        first = self.journal_end()
        self.does_not_start(
            f"the journal starts at offset {first}", "retention deleted what lies between"
        )

    def test_a_journal_whose_start_is_deleted_before_the_rows_is_good(self):
        end = self.with_rows()
        self.do("delete_records", "journal", before=end - 1)
        engine = self.start_engine()
        self.fold(engine, "changes.pods", MARKER)
        self.end_engine(engine)

    def test_rows_that_end_where_the_journal_starts_are_good(self):
        self.with_rows()
        self.do("delete_records", "journal", before=-1)
        engine = self.start_engine()
        self.fold(engine, "changes.pods", MARKER)
        self.end_engine(engine)

    # ---------------------------------------------------------------- what comes in
    def test_an_input_that_lost_records_before_they_were_journaled(self):
        self.with_rows()
        self.append("changes.pods", MARKER, MARKER)
        self.do("delete_records", "changes.pods", before=-1)
        self.append("changes.pods", MARKER)
        self.gives_up_at_once("changes.pods/0: offset 3 was truncated; the first one is 5")

    def test_an_input_that_was_made_anew(self):
        self.with_rows()
        self.do("remove", "changes.pods")
        code, said = self.run_trueup("topics", "create", "-c", self.config)
        self.assertEqual(code, 0, said)
        self.gives_up_at_once("changes.pods/0: offset 3 is beyond the end 0")

    def test_one_shard_that_lost_its_input_leaves_the_others_running(self):
        self.new_bus(2)
        self.append("changes.pods", MARKER, partition=1)
        self.do("delete_records", "changes.pods", before=-1, partition=1)
        engine = self.serve_engine()
        self.gives_up(engine, "changes.pods/1: offset 0 was truncated")
        end = self.journal_end(1)
        self.append("changes.pods", MARKER, partition=1)
        for _ in range(3):
            self.fold(engine, "changes.pods", MARKER)  # of shard 0
        self.assertEqual(self.journal_end(1), end)
        self.end_engine(engine, wanted=1)
        self.assertIn("shard graph-instances/1 stops emitting", engine.log())
        self.assertNotIn("shard graph-instances/0 stops emitting", engine.log())

    def lose_what_is_unread(self, engine, topic, *records):
        """Records come and go while the engine stands still."""
        engine.signal(signal.SIGSTOP)
        time.sleep(3)  # the broker answers what it was asked before, within 50 ms
        self.append(topic, *records)
        self.do("delete_records", topic, before=-1)
        engine.signal(signal.SIGCONT)

    def test_an_input_that_is_truncated_under_a_running_engine(self):
        self.new_bus(1)
        engine = self.start_engine()
        self.fold(engine, "changes.pods", MARKER)
        self.lose_what_is_unread(engine, "changes.pods", MARKER, MARKER)
        words = "changes.pods/0: offset 1 was truncated; the first one is 3"
        self.gives_up(engine, words)
        self.end_engine(engine, wanted=1)
        self.gives_up_at_once(words)

    def test_a_journal_that_is_truncated_under_a_running_engine(self):
        self.new_bus(1)
        engine = self.start_engine()
        self.fold(engine, "changes.pods", MARKER)
        self.lose_what_is_unread(engine, "journal", TICK, TICK)
        self.gives_up(engine, "journal/0: offset", "was truncated; the first one is")
        self.end_engine(engine, wanted=1)
        self.does_not_start("the journal starts at offset", "retention deleted what lies between")

    def test_a_journal_that_grew_another_tail_under_a_running_engine(self):
        # An engine that had not looked while a journal lost its tail and grew beyond it folded on.
        self.new_bus(1)
        engine = self.start_engine()
        self.fold(engine, "changes.pods", MARKER)
        self.end_engine(engine)  # or it may have no rows yet that the last start would judge by
        engine = self.start_engine()
        for _ in range(3):
            self.fold(engine, "changes.pods", MARKER)
        records = [one["record"] for one in self.do("read", "journal", message="JournalRecord")]
        self.assertTrue(all("folded_digest" in record for record in records[1:]))
        engine.signal(signal.SIGSTOP)
        self.do("remove", "journal")
        self.make_journal()
        whole = [{"message": "JournalRecord", "fields": record} for record in records]
        other = {"format": 1, "folded_offset": "2", "folded_digest": "1"}  # of the new tail
        whole += [{"message": "JournalRecord", "fields": other}] * 20
        self.do("append", "journal", records=whole)
        engine.signal(signal.SIGCONT)
        self.gives_up(engine, "is not the one that the rows were made from")
        self.end_engine(engine, wanted=1)
        self.does_not_start("is not the one that the rows were made from")

    def test_a_journal_that_is_made_anew_under_a_running_engine(self):
        self.new_bus(1)
        engine = self.start_engine()
        for _ in range(40):  # or what the engine goes on to write is soon as long
            self.fold(engine, "changes.pods", MARKER)
        self.do("remove", "journal")
        code, said = self.run_trueup("topics", "create", "-c", self.config)
        self.assertEqual(code, 0, said)
        self.gives_up(engine, "is beyond the end", "the topic was recreated or lost its tail")
        self.end_engine(engine, wanted=1)
        self.does_not_start("the journal ends before offset", "lost its tail")

    # ---------------------------------------------------------------- foreign records
    def listed(self, source, topic):
        """What a connector writes that owns a source without objects."""
        start = {"kind": "CHANGE_KIND_INCARNATION_START", "source": source, "nonce": "AAAA"}
        token = self.append(topic, start)[0]
        made = {"source": source, "incarnation": f"{token}"}
        kinds = ["OWNER", "SNAPSHOT_BEGIN", "SNAPSHOT_END"]
        for seq, kind in enumerate(kinds, start=1):
            epoch = {"epoch": "1"} if kind.startswith("SNAPSHOT") else {}
            self.append(topic, made | epoch | {"kind": f"CHANGE_KIND_{kind}", "seq": f"{seq}"})
        proof = {"kind": "CHANGE_KIND_PROGRESS", "seq": f"{len(kinds) + 1}"}
        proof["complete_as_of_ms"] = f"{self.do('time', topic)}"
        self.append(topic, made | proof)

    def start_ready(self):
        self.new_bus(1, expect=0)
        engine = self.start_engine()
        self.listed("pods", "changes.pods")
        self.listed("rows", "changes.rows")
        engine.until("ready", lambda: engine.readiness()[0] == 200, 60)
        return engine

    def test_records_that_nobody_can_read_are_parked(self):
        engine = self.start_ready()
        before = self.met(engine, "parked")
        self.fold(engine, "changes.pods", b"\xff\xfe garbage", bytes(1000), b"\x08\x63")
        self.assertEqual(self.met(engine, "parked"), before + 3)
        self.goes_on(engine)

    def test_records_larger_than_any_of_ours_are_parked(self):
        engine = self.start_ready()
        before = self.met(engine, "parked")
        self.fold(engine, "changes.pods", *(b"\xff" * size for size in LARGE))
        self.assertEqual(self.met(engine, "parked"), before + len(LARGE))
        self.goes_on(engine)

    def test_requests_that_nobody_signed_are_parked(self):
        engine = self.start_ready()
        pause = {
            "id": "ab" * 16,
            "kind": "REQUEST_KIND_PAUSE",
            "issued_by": "mallory",
            "role": "admin",
        }
        pause["issued_ms"] = f"{self.do('time', 'changes.pods')}"
        with open(os.path.join(self.state_dir, "keys", "requests"), encoding="utf-8") as file:
            signed = pause | {"key_id": file.read().split()[0], "mac": "A" * 43 + "="}
        records = [{"message": "Request", "fields": fields} for fields in (pause, signed)]
        before = self.met(engine, "unauthenticated_requests")
        self.do("append", "requests", records=records)
        engine.until(
            "both are counted",
            lambda: self.met(engine, "unauthenticated_requests") == before + 2,
            30,
        )
        self.fold(engine, "requests", b"\xff\xfe garbage")
        self.assertEqual(engine.metric("trueup_pauses"), 0)
        self.goes_on(engine)

    def goes_on(self, engine):
        self.assertEqual(engine.readiness()[0], 200)
        self.assertEqual(engine.metric("trueup_emitting"), 1)
        self.fold(engine, "changes.pods", MARKER)
        self.assertEqual(engine.readiness()[0], 200)
        self.end_engine(engine)

    # ---------------------------------------------------------------- upgrade
    def test_a_newer_build_put_its_logic_in_force(self):
        self.new_bus(1)
        engine = self.start_engine()
        newer = self.newer()
        [offset] = self.do("append", "journal", records=[newer])
        words = (
            f"journal offset {offset} puts logic version",
            "in force, and this build has version",
        )
        self.gives_up(engine, *words)
        self.end_engine(engine, wanted=1)
        self.gives_up_at_once(*words)
        self.gives_up_at_once(*words)

    def newer(self):
        """A record that puts this journal's settings in force as a build would with the next logic."""
        [(ours, at)] = [
            (one["record"]["settings"], one["offset"])
            for one in self.do("read", "journal", message="JournalRecord")
            if "settings" in one["record"]
        ]
        settings = ours | {"logic": ours["logic"] + 1}
        fields = {"format": 1, "settings": settings, "settings_after": at}
        return {"message": "JournalRecord", "fields": fields}


if __name__ == "__main__":
    unittest.main(verbosity=2)
