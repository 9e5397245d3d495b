#!/usr/bin/env python3
"""Proves docs/examples/findings.py on a real broker: a client that is not ours reads what is public.

TRUEUP_FORMATS names the program that prints records as the relay publishes them.
"""

import json
import os
import signal
import subprocess
import tempfile
import unittest
import uuid

from consumer import Consumer, bootstrap, generate, publish


def life():
    """The records of one finding: suspected, confirmed, commanded, resolved."""
    program = os.environ.get("TRUEUP_FORMATS", "")
    if not os.access(program, os.X_OK):
        raise SystemExit(f"TRUEUP_FORMATS must name the program formats_records; it is '{program}'")
    return json.loads(subprocess.run([program], check=True, capture_output=True).stdout)["life"]


def of_journal(record, journal):
    """The same edge of another journal."""
    own = record["fields"]["position"]["journal_id"]
    return record | {"value": record["value"].replace(own.encode().hex(), journal.encode().hex())}


class Findings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        bootstrap()
        cls.life = life()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.generated = folder.name
        generate(cls.generated)

    def setUp(self):
        self.prefix = f"consumer-{uuid.uuid4().hex[:12]}"
        self.topic = f"{self.prefix}.graph-instances.findings"

    def consumer(self, *flags):
        consumer = Consumer(self.generated, self.prefix, *flags)
        self.addCleanup(consumer.close)
        return consumer

    def test_prints_what_is_known_of_each_edge(self):
        publish(self.topic, self.life)
        consumer = self.consumer("--from", "earliest", "--json")
        consumer.until("four findings", lambda: len(consumer.lines()) == 4)
        fields = self.life[1]["fields"]
        at = fields["position"]
        self.assertEqual(
            consumer.findings()[1],
            {
                "time": "2023-11-14T22:13:22.000Z",
                "rule": "orphaned_pod",
                "subject": fields["subject"],
                "object_id": fields["object_id"],
                "state": "confirmed",
                "reason": "budget",
                "sentence": fields["sentence"],
                "finding": fields["id"],
                "command": None,
                "source": f"/journals/{at['journal_id']}/shards/{at['shard']}",
                "event": dict(self.life[1]["headers"])["ce_id"],
            },
        )
        commanded = consumer.findings()[2]
        self.assertEqual((commanded["state"], commanded["reason"]), ("commanded", None))
        self.assertEqual(commanded["command"], self.life[2]["fields"]["command_id"])
        self.assertEqual(consumer.end(), 0)

    def test_a_line_for_people(self):
        publish(self.topic, self.life)
        consumer = self.consumer("--from", "earliest")
        consumer.until("four lines", lambda: len(consumer.lines()) == 4)
        start = "2023-11-14T22:13:22.000Z orphaned_pod graph-instance/wrapper-7f3a"
        endings = ["suspected: grace", "confirmed: budget", "commanded", "resolved: done"]
        self.assertEqual(consumer.lines(), [f"{start} {ending}" for ending in endings])
        self.assertEqual(consumer.end(), 0)

    def test_an_event_that_is_published_again_is_printed_once(self):
        first, second, *rest = self.life
        # As a relay repeats after a crash; and another journal's event of the same id is another event.
        elsewhere = of_journal(second, "0" * 32)
        publish(self.topic, [first, second, first, second, elsewhere, *rest])
        consumer = self.consumer("--from", "earliest", "--json")
        consumer.until("the last one", lambda: "resolved" in str(consumer.lines()))
        states = [f["state"] for f in consumer.findings()]
        self.assertEqual(states, ["suspected", "confirmed", "confirmed", "commanded", "resolved"])
        self.assertEqual(consumer.end(signal.SIGTERM), 0)
        self.assertIn("2 duplicates were skipped", consumer.said())

    def test_what_it_does_not_understand_it_names_and_goes_on(self):
        bare = {"key": "!heartbeat", "headers": [], "value": ""}
        other = self.life[0] | {"headers": [["ce_type", "trueup.finding.v2"]]}
        broken = self.life[0] | {"value": "ff"}
        publish(self.topic, [bare, other, other, broken, *self.life])
        consumer = self.consumer("--from", "earliest", "--json")
        consumer.until("four findings", lambda: len(consumer.lines()) == 4)
        self.assertEqual(consumer.end(), 0)
        said = consumer.said()
        self.assertIn(f"{self.topic}[0]@0 is not a finding", said)
        self.assertEqual(said.count("is of the type trueup.finding.v2"), 1)
        self.assertIn(f"{self.topic}[0]@3 cannot be read", said)

    def test_a_value_that_it_does_not_know_is_its_number(self):
        # Field 7 as a varint is 38 and the number: grace is 2, and nothing is 99.
        grace = bytes.fromhex(self.life[0]["value"])
        self.assertEqual(grace.count(b"\x38\x02"), 1)
        later = self.life[0] | {"value": grace.replace(b"\x38\x02", b"\x38\x63").hex()}
        publish(self.topic, [later])
        consumer = self.consumer("--from", "earliest", "--json")
        consumer.until("a finding", consumer.lines)
        self.assertEqual(consumer.findings()[0]["reason"], "99")
        self.assertEqual(consumer.end(), 0)

    # It was printed as 1970.
    def test_a_time_that_is_not_said_is_left_out(self):
        # Field 10 as a varint is 50 and 1700000002000.
        said = "50" + "d0df95ffbc31"
        self.assertEqual(self.life[0]["value"].count(said), 1)
        silent = self.life[0] | {"value": self.life[0]["value"].replace(said, "")}
        publish(self.topic, [silent, self.life[1]])
        consumer = self.consumer("--from", "earliest", "--json")
        consumer.until("both", lambda: len(consumer.lines()) == 2)
        self.assertEqual([bool(f["time"]) for f in consumer.findings()], [False, True])
        self.assertEqual(consumer.end(), 0)

    def test_a_group_goes_on_where_it_ended(self):
        publish(self.topic, self.life[:2])
        consumer = self.consumer("--from", "earliest", "--json", "--group", self.prefix)
        consumer.until("two findings", lambda: len(consumer.lines()) == 2)
        self.assertEqual(consumer.end(), 0)
        publish(self.topic, self.life[2:])
        consumer = self.consumer("--from", "earliest", "--json", "--group", self.prefix)
        consumer.until("the last one", lambda: "resolved" in str(consumer.lines()))
        self.assertEqual([f["state"] for f in consumer.findings()], ["commanded", "resolved"])
        self.assertEqual(consumer.end(), 0)

    def test_from_latest_leaves_out_what_was_there(self):
        publish(self.topic, self.life[:1])
        consumer = self.consumer("--from", "latest", "--json")

        def comes():  # until it has its place, what is published is before it
            publish(self.topic, [self.life[1]])
            return consumer.lines()

        consumer.until("a new finding", comes)
        self.assertEqual({f["state"] for f in consumer.findings()}, {"confirmed"})
        self.assertEqual(consumer.end(), 0)

    def test_all_partitions_are_read(self):
        publish(self.topic, [self.life[0], self.life[1] | {"partition": 1}])
        consumer = self.consumer("--from", "earliest", "--json")
        consumer.until("both", lambda: len(consumer.lines()) == 2)
        self.assertEqual({f["state"] for f in consumer.findings()}, {"suspected", "confirmed"})
        self.assertEqual(consumer.end(), 0)

    def test_a_topic_that_is_not_there_is_said(self):
        consumer = self.consumer()
        self.assertEqual(consumer.ended(), 1)
        self.assertIn(f"there is no topic {self.topic}", consumer.said())


if __name__ == "__main__":
    unittest.main()
