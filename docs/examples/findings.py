#!/usr/bin/env python3
"""Prints Trueup's findings as they arrive, one per line: an example consumer.

Install once (from the repository's root):

    python3 -m venv venv && venv/bin/pip install -r docs/examples/requirements.txt
    protoc -I schemas --python_out venv schemas/trueup/v1/finding.proto

Then:

    PYTHONPATH=venv venv/bin/python docs/examples/findings.py --bootstrap localhost:9092
    2026-11-22T08:15:30.120Z orphaned_pod graph-instances/wrapper-7f3a suspected: grace

Several of them with the same --group share the partitions. Offsets of printed records are committed at
the end and every 5 s, so the group continues there; after a crash some lines come again.
docs/formats/README.md says what consumers can rely on.
"""

import argparse
import collections
import json
import os
import signal
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaError, KafkaException
from google.protobuf.message import DecodeError

try:
    from trueup.v1 import finding_pb2
except ImportError:
    sys.exit("findings.py: the generated code is missing; run protoc as --help says, and name its "
             "folder in PYTHONPATH")  # fmt: skip

TYPE = "trueup.finding.v1"
REMEMBERED = 100_000  # events; a repetition comes within seconds or minutes


class Seen:
    """The last events by their identity, so that one that is published again is printed once."""

    def __init__(self, most=REMEMBERED):
        self._events = collections.OrderedDict()
        self._most = most

    def again(self, event):
        """True if this event was asked about before."""
        if event in self._events:
            self._events.move_to_end(event)
            return True
        self._events[event] = None
        if len(self._events) > self._most:
            self._events.popitem(last=False)
        return False


def word(enum, number, prefix):
    """`confirmed` of FINDING_STATE_CONFIRMED; a value that this program does not know is its number."""
    try:
        return enum.Name(number).removeprefix(prefix).lower()
    except ValueError:
        return str(number)


def moment(finding):
    """When its journal record was appended; empty where that is not said: absent is not zero."""
    if not finding.HasField("append_time_ms"):
        return ""
    seconds, ms = divmod(finding.append_time_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{ms:03}Z"


def described(finding):
    """What is printed of a finding, by name. All of it is in the value; headers are for routers."""
    at = finding.position
    return {
        "time": moment(finding),
        "rule": finding.rule,
        "subject": finding.subject,
        "object_id": finding.object_id,
        "state": word(finding_pb2.FindingState, finding.state, "FINDING_STATE_"),
        # Absent is not zero: a finding under a command has no reason but its state.
        "reason": (
            word(finding_pb2.Reason, finding.reason, "REASON_")
            if finding.HasField("reason")
            else None
        ),
        "sentence": finding.sentence,
        "finding": finding.id,
        "command": finding.command_id or None,
        "source": f"/journals/{at.journal_id}/shards/{at.shard}",
        "event": f"{finding.id}.{at.offset}.{at.index}",
    }


def line_of(told):
    reason = f": {told['reason']}" if told["reason"] else ""
    return f"{told['time']} {told['rule']} {told['subject']} {told['state']}{reason}"


class Printer:
    """Turns records into lines. What it cannot read it says so of, and goes on."""

    def __init__(self, as_json):
        self._as_json = as_json
        self._seen = Seen()
        self._strangers = set()
        self.duplicates = 0

    def take(self, record):
        where = f"{record.topic()}[{record.partition()}]@{record.offset()}"
        headers = dict(record.headers() or [])
        kind = (headers.get("ce_type") or TYPE.encode()).decode(errors="replace")
        if kind != TYPE:  # another version: what it means is not for us to guess
            if kind not in self._strangers:
                self._strangers.add(kind)
                say(f"{where} is of the type {kind}, this program knows {TYPE}; skipped")
            return None
        try:
            finding = finding_pb2.Finding.FromString(record.value() or b"")
        except DecodeError as error:
            return say(f"{where} cannot be read ({error}); skipped")
        if not finding.id or not finding.position.journal_id:
            return say(f"{where} is not a finding; skipped")
        told = described(finding)
        if self._seen.again((told["source"], told["event"])):
            self.duplicates += 1
            return None
        print(json.dumps(told) if self._as_json else line_of(told), flush=True)
        return None


def say(sentence):
    print(f"findings.py: {sentence}", file=sys.stderr, flush=True)


def trouble(error):
    """A connection that breaks is not worth a word while another broker answers."""
    if error.code() != KafkaError._TRANSPORT:
        say(f"{error.str()}; retrying")


def settings(options):
    """librdkafka's settings."""
    found = {
        "bootstrap.servers": options.bootstrap,
        "group.id": options.group,
        "auto.offset.reset": options.start,
        # Committed is what was printed, not what was fetched: `follow` says which.
        "enable.auto.offset.store": False,
        "client.id": "findings.py",
        "error_cb": trouble,
        "log_level": 2,  # what matters comes as an error
    }
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            sys.exit(f"findings.py: write --set {name}=VALUE")
        found[name] = value
    return found


def follow(consumer, topic, printer, stopping):
    """Prints until it is told to stop."""
    consumer.subscribe([topic])
    while not stopping.is_set():
        record = consumer.poll(0.5)
        if record is None:
            continue
        error = record.error()
        if not error:
            printer.take(record)
            consumer.store_offsets(message=record)
        elif error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            sys.exit(f"findings.py: there is no topic {topic}; set --prefix to the one in "
                     "Trueup's configuration")  # fmt: skip
        elif error.fatal():
            sys.exit(f"findings.py: {error.str()}")
        else:
            say(f"{error.str()}; retrying")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--bootstrap", required=True, metavar="HOST:PORT", help="one or more brokers")
    add("--prefix", default="trueup", help="prefix of the topic names (default %(default)s)")
    add("--policy", default="graph-instances", help="whose findings (default %(default)s)")
    add("--group", default="findings-py", help="consumer group (default %(default)s)")
    add("--from", dest="start", choices=["earliest", "latest"], default="latest",
        help="where a new group begins (default %(default)s)")  # fmt: skip
    add("--json", action="store_true", help="one JSON object per line, with ids and the sentence")
    add("--set", action="append", default=[], metavar="NAME=VALUE",
        help="a librdkafka setting, for example security.protocol=SSL; repeatable")  # fmt: skip
    return parser.parse_args()


def main():
    options = arguments()
    stopping = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stopping.set())
    try:
        consumer = Consumer(settings(options))
    except KafkaException as error:
        sys.exit(f"findings.py: {error.args[0].str()}")
    printer = Printer(options.json)
    try:
        follow(consumer, f"{options.prefix}.{options.policy}.findings", printer, stopping)
        say(f"stopped; {printer.duplicates} duplicates were skipped")
    except BrokenPipeError:  # whoever read the lines has gone; nothing is left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        consumer.close()  # commits, and leaves the group


if __name__ == "__main__":
    main()
